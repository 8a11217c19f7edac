"""Expand a declaration to its claims: one for each reading, with its wording and the plan of its evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

from lipverify.claims.evidence.ranges import LARGE, letters
from lipverify.claims.language.claim import Agreement, Declaration, Expected
from lipverify.claims.language.family import RULE, Point, chosen, filled, meant_at, named_in
from lipverify.claims.language.file import ClaimsFile, Fault, located
from lipverify.claims.language.form import Form, sides_of
from lipverify.claims.language.formula import formula
from lipverify.claims.ledger.record import KINDS, Kind, Source
from lipverify.claims.ledger.symbols import is_letter, said, spelled
from lipverify.claims.plan.cells import cells, grid, spots
from lipverify.claims.plan.claim import Claim, CrossPlan, Evidence, Shown, Side_by_side
from lipverify.claims.plan.figure import figures_of
from lipverify.claims.plan.measured import Measured, call_at, measured_by, number
from lipverify.claims.plan.profile import Profile, settled
from lipverify.foundation.calls import Call, names
from lipverify.foundation.latex import plain


@dataclass(frozen=True)
class Sought:
    """A claim as the search for counterexamples uses it: its forms and its free coordinates."""

    id: str
    forms: tuple[Form, ...]
    family: Point
    over: Mapping[Any, Any]
    assumes: tuple[str, ...]
    declaration: Declaration
    file: ClaimsFile | None = None
    """The file that declares it, in which another process finds it by its id."""


def claims(declared: Declaration, profile: Profile) -> Iterator[Claim]:
    """A claim for each combination of coordinates that the id names."""
    for reading in _readings(declared, profile):
        yield reading.claim()


def sought(declared: Declaration, profile: Profile) -> Iterator[Sought]:
    """The same claims, in the form that the search for counterexamples uses."""
    for reading in _readings(declared, profile):
        assumes = _texts(reading.words("assumes"), "assumes")
        yield Sought(reading.id, reading.forms, reading.family, reading.over or {}, assumes, declared)


def _readings(declared: Declaration, profile: Profile) -> Iterator[_Reading]:
    """The combinations of coordinates that the id names."""
    template = named_in(declared.id)
    if declared.over is not None and not isinstance(declared.over, Mapping):
        raise Fault(f"over = {declared.over!r}: {RULE}.", "over")
    outer = {name: values for name, values in (declared.over or {}).items() if _names(name) & set(template)}
    inner = {name: values for name, values in (declared.over or {}).items() if not _names(name) & set(template)}
    sides = list(sides_of(declared.forms)) if "side" in template else [None]
    _require(declared, template, outer, sides)
    for family in grid(outer or None, profile):
        for side in sides:
            yield _Reading(declared, family, side, inner or None, profile)


def _require(declared: Declaration, template: tuple[str, ...], outer: Mapping[Any, Any], sides: Sequence[Any]) -> None:
    known = {coordinate for name in outer for coordinate in _names(name)} | {"side"}
    for keyword, text in (("id", declared.id), ("proves", declared.proves)):
        foreign = [name for name in named_in(text) if name not in known]
        if foreign:
            raise Fault(f"{keyword} = {text!r}: {{{foreign[0]}}} is no coordinate of over=.", keyword)
    if not sides:
        raise Fault(f"id = {declared.id!r}: {{side}} needs low= or high= in every form.", "id")


@dataclass(frozen=True)
class _Reading:
    """One reading of a declaration: the coordinates that the id names, a side, and the coordinates that remain."""

    declared: Declaration
    family: Point
    side: str | None
    over: Mapping[Any, Any] | None
    profile: Profile

    @property
    def coordinates(self) -> dict[str, Any]:
        return self.family.where | ({"side": self.side} if self.side else {})

    @property
    def id(self) -> str:
        return filled(self.declared.id, self.coordinates)

    @property
    def forms(self) -> tuple[Form, ...]:
        return tuple(form.only(self.side) for form in self.declared.forms)

    @property
    def label(self) -> str:
        """The named coordinates and the side, as a report labels the reading."""
        return ", ".join(filter(None, [*_named(self.family), f"{self.side} bound" if self.side else ""]))

    def words(self, name: str) -> Any:
        """A keyword of the declaration, as this reading has it."""
        return chosen(getattr(self.declared, name), self.id.partition("/")[2], name)

    def claim(self) -> Claim:
        source, expected = sourced(self.words("source")), settled(self.words("expected"), self.profile)
        _require_words(self.id, self.words("kind"), expected, self.words("title"), source)
        if not isinstance(self.words("reading"), str):
            raise Fault(
                f"reading = {self.words('reading')!r}: it is the name of a reading, such as 'intrinsic'.", "reading"
            )
        forms, meant = self.forms, [_with_meanings(form, self.family) for form in self.forms]
        stated = r", \quad ".join(form.statement(form.range) for form in meant)
        title = self.words("title") or plain(stated)

        def of_each(text: Callable[[Form], str]) -> str:
            return "; ".join(dict.fromkeys(text(form) for form in meant))

        return Claim(
            id=self.id,
            title=f"{title}: {self.label}" if self.label else title,
            statement=self.words("statement") or stated,
            source=source,
            kind=self.words("kind"),
            claimed=of_each(lambda form: form.claimed(form.range)),
            false_control=of_each(lambda form: form.control_in_words(False, form.claimed)),
            true_control=of_each(lambda form: form.control_in_words(True, form.claimed)),
            false_latex=of_each(lambda form: form.control_in_words(False, form.typeset)),
            true_latex=of_each(lambda form: form.control_in_words(True, form.typeset)),
            expected=expected,
            plan=lambda: self.evidence(forms),
            spots=lambda: tuple(spot for form in forms for spot in spots(form, self.family, self.over, self.profile)),
            assumptions=(*_texts(self.words("assumes"), "assumes"), *_meanings(self.family, forms)),
            corrected=self.words("corrected"),
            proves=filled(self.declared.proves, self.coordinates),
            reading=self.words("reading") or str(self.family.where.get("reading", "")),
            forall=_range(self.words("forall")),
            by_hand=_document(self.words("by_hand"), self.words("forall")),
        )

    def evidence(self, forms: Sequence[Form]) -> Evidence:
        """The plan of its evidence."""
        family, profile, finding = self.family, self.profile, self.words("finding")
        planned = [cells(form, family, self.over, profile) for form in forms]
        return Evidence(
            cells=tuple(cell for plans in planned for _, cell in plans),
            cross_checks=tuple(
                check for agreement in self.declared.agrees for check in _cross_checks(agreement, family, profile)
            ),
            figure=partial(figures_of, list(zip(forms, planned, strict=True))),
            shows=tuple(_shown(word, family, profile) for word in self.words("shows")),
            finding=_shown(finding, family, profile) if isinstance(finding, Call) else finding,
        )


def _shown(call: Call, family: Point, profile: Profile) -> Shown:
    """A function that makes a figure or a table, with its measurements and the coordinates that it takes."""
    calls = {name: value for name, value in call.where.items() if isinstance(value, Call)}
    measured = {name: call_at(value, family, profile, "shows") for name, value in calls.items()}
    own = {name: settled(value, profile) for name, value in call.where.items() if name not in calls}
    coordinates = {
        key: value for key, value in family.where.items() if key in set(names(call.function)) - set(measured)
    }
    return Shown(call.function, measured, coordinates | own)


def _method(agreement: Agreement, call: Call, point: Point, here: Point) -> Measured:
    """One of the two functions of a cross-check; a fault if it cannot be called at the point."""
    told = {name for of in agreement.of for name in named_in(of)}
    needed = [name for name in point.where if name not in told]
    with located(agreement.line):
        return measured_by(call.function, needed, tuple(here.where), tuple(call.where), "")


def _cross_checks(agreement: Agreement, family: Point, profile: Profile) -> Iterator[CrossPlan]:
    for point in grid(agreement.over, profile):
        here = family.joined(point)
        both = [_method(agreement, function, point, here) for function in agreement.functions]
        plans = [method.at(here, call.where, profile) for method, call in zip(both, agreement.functions, strict=True)]
        of = (filled(agreement.of[0], here.where), filled(agreement.of[1], here.where))

        def read(first: Any, second: Any, here: Point = here, of: tuple[str, str] = of) -> Side_by_side:
            (a, spread), (b, other_spread) = (
                number(result, name, f"{agreement.quantity} at {here}")
                for result, name in zip((first, second), of, strict=True)
            )
            return (a, b), (spread, other_spread)

        quantity = f"${agreement.quantity}$"
        first, second = (call.function.__name__.replace("_", " ") for call in agreement.functions)
        yield CrossPlan(here.where, plain(quantity), (first, second), (plans[0], plans[1]), read, quantity, of)


def sourced(source: Any) -> Source:
    """A source, from a `Source` or from (paper, place, printed)."""
    if isinstance(source, list | tuple) and len(source) == 3 and all(isinstance(part, str) for part in source):
        source = Source(*source)
    parts = (source.paper, source.place, source.printed) if isinstance(source, Source) else ("",)
    if not all(part.strip() for part in parts):
        rule = "a source is (paper, place, printed text), such as ('My notes', 'Theorem 1', '$w$ grows')"
        raise Fault(f"source = {source!r}: {rule}; a claim without it is refused.", "source")
    return source


def _require_words(id: str, kind: Any, expected: Any, title: Any, source: Source) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9-]*\.[a-z0-9-]+(/[a-z0-9.-]+)*", id):
        rule = "an id is `family.name` and then parts joined by '/', in lower case, such as 'mine.window/tanh'"
        raise Fault(f"id = {id!r}: {rule}.", "id")
    if kind not in get_args(Kind):
        meanings = "; ".join(f"{name}: {meaning}" for name, meaning in KINDS.items())
        raise Fault(f"kind = {kind!r}: choose one of {', '.join(KINDS)} ({meanings}).", "kind")
    if expected is not None and expected not in (recordable := get_args(Expected)):
        raise Fault(f"expected = {expected!r}: choose one of {', '.join(recordable)}, or leave it out.", "expected")
    if not isinstance(title, str):
        raise Fault(f"title = {title!r}: it must be text.", "title")


def _texts(value: Any, keyword: str) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise Fault(f"{keyword} = {value!r}: it must be a list of texts.", keyword)
    return tuple(texts)


def _range(value: Any) -> tuple[str, ...]:
    """The range that a claim declares, as conditions."""
    conditions = _texts(value, "forall")
    if wrong := next((text for text in conditions if not letters(text) and text != LARGE), None):
        rule = 'it is coordinates and conditions, such as ("n >= 2", "L <= sigma", "d")'
        raise Fault(f"forall = {wrong!r}: {rule}.", "forall")
    return conditions


def _document(value: Any, forall: Any) -> str:
    """The document with the argument in words for a declared range."""
    if not isinstance(value, str):
        raise Fault(f"by_hand = {value!r}: it is the document with the argument in words.", "by_hand")
    if value and not value.strip():
        raise Fault("by_hand: name the document with the argument, such as 'docs/arguments.md#one'.", "by_hand")
    if value and not forall:
        raise Fault("by_hand: for which values does the argument hold? Name the range: forall=(...).", "by_hand")
    return value


def _meanings(family: Point, forms: Sequence[Form]) -> Iterator[str]:
    """The meanings of a reading as assumptions, restricted to symbols that the claim uses."""
    for name, value in family.where.items():
        if name == "reading" and family.meaning:
            continue  # the definition of a reading says more than its name
        yield said(name, value) if spelled(name, value) or not isinstance(value, str) else f"{value} {name}"
    used = {symbol for form in forms for _, edge in form.range.edges() for symbol in edge.symbols}
    for symbol, text in family.meaning.items():
        if symbol in used and is_letter(symbol):  # a word is a name within the file only
            yield f"${formula(symbol).latex} = {formula(text).latex}$"


def _named(family: Point) -> Iterator[str]:
    """The values that identify a reading, in a few words."""
    for name, value in family.where.items():
        yield value if isinstance(value, str) else f"{formula(name)} = {value:g}"


def _with_meanings(form: Form, family: Point) -> Form:
    """The form with the symbols of its reading replaced by their meanings; symbols of its cells stay."""
    point = Point(meaning=family.meaning)
    truth = None if form.truth is None else meant_at(form.truth, point)
    return replace(form.with_ranges(lambda allowed: allowed.meaning(point)), truth=truth)


def _names(name: Any) -> set[str]:
    return set(name) if isinstance(name, tuple) else {name}
