r"""How a theorem is declared: what is measured is functions, and the claims are data below them.

    claim(
        "softmax.window-printed/{law}/{side}/{reading}",
        exponent(optimum, "w^*", along="n", scale=r"\Lambda", low="1/D", high="2/D", sharp="rate"),
        over={"law": LAWS, "reading": {"ambient": {"D": "d"}, "intrinsic": {"D": "d - 1"}}, "d": DIMENSIONS},
        source=Source("S", "Theorem 2", "..."),
        kind="printed",
        expected={"affine/lower/*": "refuted", "*": "supported"},
    )

The words of a claim, its range, its control and its figure are derived from that.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, get_args

from lipverify.claims.language.agreement import Agreement
from lipverify.claims.language.drawing import Drawing, drawings_of
from lipverify.claims.language.family import RULE, Place, chosen, filled, named_in, places
from lipverify.claims.language.fault import Fault
from lipverify.claims.language.file import DECLARATIONS
from lipverify.claims.language.forms import Form, Identity, sides_of
from lipverify.claims.language.formula import formula
from lipverify.claims.language.place import caller_line
from lipverify.claims.language.range import Range, meant_at
from lipverify.claims.ledger.figure import Figure
from lipverify.claims.ledger.notation import said
from lipverify.claims.ledger.plain import plain
from lipverify.claims.ledger.record import KINDS, Kind, Source
from lipverify.claims.plan.claim import CellPlan, Claim, Evidence, Spot
from lipverify.claims.plan.profile import Profile, settled

ID = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]+(/[a-z0-9.-]+)*")
RECORDABLE = ("supported", "refuted", "inconclusive")
Plans = list[tuple[Place, CellPlan]]
SIDE_WORDS = {"lower": "lower bound", "upper": "upper bound"}


@dataclass(frozen=True)
class Sought:
    """A claim as a search for counterexamples sees it: its forms, and the coordinates that are free."""

    id: str
    forms: tuple[Form, ...]
    family: Place
    over: Mapping[Any, Any]
    assumes: tuple[str, ...]
    declaration: Declaration


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A statement with all its readings."""

    id: str
    forms: tuple[Form, ...]
    source: Any
    kind: Any
    expected: Any = None
    over: Any = None
    title: Any = ""
    statement: Any = ""
    assumes: Any = ()
    corrected: Any = ""
    proves: str = ""
    reading: Any = ""
    finding: Any = ""
    agrees: tuple[Agreement, ...] = ()
    figures: tuple[Drawing, ...] = ()
    tables: tuple[Drawing, ...] = ()
    search: Mapping[str, Any] = field(default_factory=dict)
    line: int = 0
    file: str = field(default="", compare=False)

    def claims(self, profile: Profile) -> Iterator[Claim]:
        """A claim for each reading that the id names."""
        for family, side, inner in self._readings(profile):
            yield self._claim(family, side, inner, profile)

    def sought(self, profile: Profile) -> Iterator[Sought]:
        """The same, to be searched for counterexamples."""
        for family, side, inner in self._readings(profile):
            id = filled(self.id, family.where | ({"side": side} if side else {}))
            forms = tuple(form.only(side) for form in self.forms)
            assumes = _texts(chosen(self.assumes, id.partition("/")[2], "assumes"), "assumes")
            yield Sought(id, forms, family, inner or {}, assumes, self)

    def _readings(self, profile: Profile) -> Iterator[tuple[Place, str | None, Mapping[Any, Any] | None]]:
        """What the id tells apart, and the coordinates that are left."""
        template = named_in(self.id)
        if self.over is not None and not isinstance(self.over, Mapping):
            raise Fault(f"over = {self.over!r}: {RULE}.", "over")
        outer = {name: values for name, values in (self.over or {}).items() if _names(name) & set(template)}
        inner = {name: values for name, values in (self.over or {}).items() if not _names(name) & set(template)}
        sides = list(sides_of(self.forms)) if "side" in template else [None]
        self._require(template, outer, sides)
        for family in places(outer or None, profile):
            for side in sides:
                yield family, side, inner or None

    def _require(self, template: tuple[str, ...], outer: Mapping[Any, Any], sides: Sequence[Any]) -> None:
        known = {each for name in outer for each in _names(name)} | {"side"}
        for keyword, text in (("id", self.id), ("proves", self.proves)):
            foreign = [name for name in named_in(text) if name not in known]
            if foreign:
                raise Fault(f"{keyword} = {text!r}: {{{foreign[0]}}} is no coordinate of over=.", keyword)
        families = [self.over, *(form.over for form in self.forms)]
        free = {each for over in families if isinstance(over, Mapping) for name in over for each in _names(name)}
        if strange := [name for name in self.search if name not in free]:
            raise Fault(f"search = {dict(self.search)!r}: {strange[0]} is no coordinate of over=.", "search")
        if not sides:
            raise Fault(f"id = {self.id!r}: {{side}} needs low= or high= in every form.", "id")

    def _claim(self, family: Place, side: str | None, over: Any, profile: Profile) -> Claim:
        coordinates = family.where | ({"side": side} if side else {})
        id = filled(self.id, coordinates)
        tail = id.partition("/")[2]

        def words(name: str) -> Any:
            return chosen(getattr(self, name), tail, name)

        source, expected = sourced(words("source")), settled(words("expected"), profile)
        _require_words(id, words("kind"), expected, words("title"), source)
        if not isinstance(words("reading"), str):
            raise Fault(f"reading = {words('reading')!r}: it is the name of a reading, such as 'intrinsic'.", "reading")
        forms = [form.only(side) for form in self.forms]
        here = [_in_words(form, family) for form in forms]
        label = ", ".join(filter(None, [*_named(family), SIDE_WORDS.get(side or "", "")]))
        stated = r", \quad ".join(form.statement(form.range) for form in here)
        title = words("title") or plain(stated)

        def plan() -> Evidence:
            cells = [(form, _cells(form, family, over, profile)) for form in forms]
            finding = words("finding")
            return Evidence(
                cells=tuple(cell for _, planned in cells for _, cell in planned),
                cross_checks=tuple(check for each in self.agrees for check in each.plans(family, profile)),
                figure=partial(_drawn, [(said, each) for said, (_, each) in zip(here, cells, strict=True)]),
                figures=tuple(each.shown(family, profile) for each in words("figures")),
                tables=tuple(each.shown(family, profile) for each in words("tables")),
                finding=finding.shown(family, profile) if isinstance(finding, Drawing) else finding,
            )

        return Claim(
            id=id,
            title=f"{title}: {label}" if label else title,
            statement=words("statement") or stated,
            source=source,
            kind=words("kind"),
            claimed="; ".join(dict.fromkeys(form.claimed(form.range) for form in here)),
            false_control="; ".join(dict.fromkeys(form.control_in_words(False, form.claimed) for form in here)),
            true_control="; ".join(dict.fromkeys(form.control_in_words(True, form.claimed) for form in here)),
            false_latex="; ".join(dict.fromkeys(form.control_in_words(False, form.typeset) for form in here)),
            true_latex="; ".join(dict.fromkeys(form.control_in_words(True, form.typeset) for form in here)),
            expected=expected,
            plan=plan,
            spots=lambda: tuple(spot for form in forms for spot in _spots(form, family, over, profile)),
            assumptions=(*_texts(words("assumes"), "assumes"), *_readings(family, forms)),
            corrected=words("corrected"),
            proves=filled(self.proves, coordinates),
            reading=words("reading") or str(family.where.get("reading", "")),
        )


def claim(
    id: str,
    *forms: Form,
    source: Any,
    kind: Any,
    expected: Any = None,
    over: Any = None,
    title: Any = "",
    statement: Any = "",
    assumes: Any = (),
    corrected: Any = "",
    proves: str = "",
    reading: Any = "",
    finding: Any = "",
    agrees: Sequence[Agreement] | Agreement = (),
    figures: Any = (),
    tables: Any = (),
    search: Mapping[str, Any] | None = None,
) -> Declaration:
    r"""Declare a theorem: a statement, its readings, and what would decide it.

    Every field but the id and the forms may be a mapping of patterns to values; the first pattern that matches the end
    of a claim's id (what follows its first "/") gives the value: `kind={"relu/*": "printed", "*": "stronger"}`.

    Parameters
    ----------
    id
        `family.name`, then whatever tells readings of the statement apart, joined by "/"; `{law}` makes a claim for
        each value of the coordinate `law`, and `{side}` one for the lower and one for the upper bounds.
    forms
        What decides it: `exponent`, `bound`, `identity`; all of them must hold.
    source
        `Source(paper, place, printed)`, or these three as a tuple; the last is what is printed there, with `$LaTeX$`.
        Claims with the same paper and place are of one passage, which counts once.
    kind
        "printed", "convention", "stronger", "derived" or "sharp".
    expected
        The verdict that is recorded, once it has been seen; `per_profile` of two where more evidence decides.
    over
        The coordinates: names to values; see `lipverify.claims.language.family`.
    title
        The statement in words; by default its formula.
    statement
        LaTeX of the statement, where the forms do not say it all.
    assumes, corrected, finding
        What is assumed; what holds in place of a statement that fails; what the evidence shows, in sentences.
    proves
        The id of the claim that this one is a proof of, such as "mine.window/{law}": where it comes to the same verdict
        at all points of that claim, the statement has its grade.
    reading
        Where the wording of a source leaves several readings open, the name of the one that the claim belongs to;
        claims of one passage (the same paper and place) and reading must all hold. By default the coordinate `reading`,
        if `over` has it; else the claim is a reading by itself.
    agrees
        Cross-checks, from `agree`.
    figures, tables
        From `draw`; a figure is derived from the first form where none is given.
    search
        Where `lipverify falsify` looks for counterexamples, where that is not the range of the statement (for d, n, w,
        L, sigma and laws their natural one, for any other coordinate from the least to the largest declared value):
        coordinates to (low, high) or to a list of values; "law" to "lipschitz", laws as steep as 1 at most.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.
    """
    line, frame = caller_line(), sys._getframe(1).f_globals
    if not isinstance(id, str) or not id.strip():
        raise Fault("no id: an id such as 'mine.window/tanh' names a claim; a claim without it is refused.", line=line)
    if not isinstance(proves, str):
        raise Fault(f"proves = {proves!r}: it is the id of the claim that this one proves.", "proves", line=line)
    if not forms or not all(isinstance(form, Form) for form in forms):
        raise Fault(f"claim {id}: nothing would decide it; give exponent(...), bound(...) or identity(...).", line=line)
    declared = Declaration(
        id=id, forms=forms, source=source, kind=kind, expected=expected, over=over, title=title, statement=statement,
        assumes=assumes, corrected=corrected, proves=proves, reading=reading, finding=finding,
        agrees=(agrees,) if isinstance(agrees, Agreement) else tuple(agrees),
        figures=drawings_of(figures), tables=drawings_of(tables), search=_search(search, line), line=line,
    )  # fmt: skip
    frame.setdefault(DECLARATIONS, []).append(declared)
    if frame.get("__name__") == "__main__" and "__file__" in frame:
        _verify(frame["__file__"])
    return declared


def _verify(path: str) -> None:
    """A claims file that is run as a program verifies itself, in a process that starts as the command line does."""
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "lipverify", "verify", path, *sys.argv[1:]])


def sourced(source: Any) -> Source:
    """A source, from itself or from (paper, place, printed)."""
    if isinstance(source, list | tuple) and len(source) == 3 and all(isinstance(each, str) for each in source):
        source = Source(*source)
    parts = (source.paper, source.place, source.printed) if isinstance(source, Source) else ("",)
    if not all(part.strip() for part in parts):
        rule = "a source is (paper, place, what is printed there), such as ('My notes', 'Theorem 1', '$w$ grows')"
        raise Fault(f"source = {source!r}: {rule}; a claim without it is refused.", "source")
    return source


def _require_words(id: str, kind: Any, expected: Any, title: Any, source: Source) -> None:
    if not ID.fullmatch(id):
        rule = "an id is `family.name` and then parts joined by '/', in lower case, such as 'mine.window/tanh'"
        raise Fault(f"id = {id!r}: {rule}.", "id")
    if kind not in get_args(Kind):
        said = "; ".join(f"{name}: {meaning}" for name, meaning in KINDS.items())
        raise Fault(f"kind = {kind!r}: choose one of {', '.join(KINDS)} ({said}).", "kind")
    if expected is not None and expected not in RECORDABLE:
        raise Fault(f"expected = {expected!r}: choose one of {', '.join(RECORDABLE)}, or leave it out.", "expected")
    if not isinstance(title, str):
        raise Fault(f"title = {title!r}: it must be text.", "title")


def _texts(value: Any, keyword: str) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(each, str) for each in texts):
        raise Fault(f"{keyword} = {value!r}: it must be a list of texts.", keyword)
    return tuple(texts)


def _readings(family: Place, forms: Sequence[Form]) -> Iterator[str]:
    """What the readings mean, as assumptions: the symbols that the claim itself uses."""
    for name, value in family.where.items():
        if name == "reading" and family.meaning:
            continue  # what it means says more than what it is called
        yield said(name, value) if name in ("law", "noise") or not isinstance(value, str) else f"{value} {name}"
    used = {symbol for form in forms for _, edge in form.range.edges() for symbol in edge.symbols}
    for symbol, text in family.meaning.items():
        if symbol in used:
            yield f"${formula(symbol).latex} = {formula(text).latex}$"


def _named(family: Place) -> Iterator[str]:
    """What tells readings apart, in a few words."""
    for name, value in family.where.items():
        yield value if isinstance(value, str) else f"{formula(name)} = {value:g}"


def _cells(form: Form, family: Place, over: Any, profile: Profile) -> list[tuple[Place, CellPlan]]:
    """The cells of a form, refused on its line."""
    try:
        return form.cells(family, over, profile)
    except Fault as fault:
        raise fault.within(form.line) from None


def _spots(form: Form, family: Place, over: Any, profile: Profile) -> list[Spot]:
    """Where a form is measured, refused on its line."""
    try:
        return list(form.spots(family, over, profile))
    except Fault as fault:
        raise fault.within(form.line) from None


def _in_words(form: Form, family: Place) -> Form:
    """The form with the symbols of its reading spelled out; symbols of its cells stay as they are."""
    place = Place(meaning=family.meaning)
    controls: dict[str, Any] = {
        name: value.meaning(place) if isinstance(value, Range) else value
        for name, value in (("control", form.control), ("instead", form.instead))
    }
    sharp = None if form.sharp is None else meant_at(form.sharp, place)
    return replace(form, range=form.range.meaning(place), sharp=sharp, **controls)


def _drawn(planned: list[tuple[Form, Plans]], results: dict[str, Any]) -> tuple[Figure, ...]:
    """The figure that the first form with values draws of its own evidence; of an identity there is none to see."""
    from lipverify.claims.plan.figure import figure_of

    with_values = [(form, plans) for form, plans in planned if not isinstance(form, Identity)]
    return figure_of(*with_values[0], results) if with_values else ()


def _search(value: Any, line: int) -> Mapping[str, Any]:
    """Where to look, refused unless it is ranges or lists by name."""
    if value is None:
        return {}
    rule = 'it maps coordinates to (low, high) or lists of values, such as {"n": (2, 100), "law": "lipschitz"}'
    named = isinstance(value, Mapping) and all(isinstance(name, str) for name in value)
    if not named or not all(
        each == "lipschitz" or (isinstance(each, tuple | list) and each) for each in value.values()
    ):
        raise Fault(f"search = {value!r}: {rule}.", "search", line=line)
    return dict(value)


def _names(name: Any) -> set[str]:
    return set(name) if isinstance(name, tuple) else {name}
