r"""How a theorem is declared: what is measured is functions, and the claims are data below them.

    claim(
        "softmax.window-printed/{law}/{side}/{reading}",
        exponent(optimum, "w^*", along="n", scale=r"\Lambda", low="1/D", high="2/D", sharp="rate"),
        over={"law": LAWS, "reading": {"ambient": {"D": "d"}, "intrinsic": {"D": "d - 1"}}, "d": DIMENSIONS},
        source=Source("S", "Theorem 2", "..."),
        kind="printed",
        expected={"affine/lower/*": "refuted", "*": "supported"},
    )

The words of a claim, its range, its twin and its figure are derived from that.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, get_args

from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Evidence, Shown, Side_by_side
from lipverify.claims.family import RULE, Place, chosen, filled, named_in, places
from lipverify.claims.fault import Fault
from lipverify.claims.figure import Figure
from lipverify.claims.file import DECLARATIONS
from lipverify.claims.forms import Bound, Exponent, Form, Identity, Limit, form_of, letter, sides_of
from lipverify.claims.formula import formula
from lipverify.claims.ledger import KINDS, Kind, Source
from lipverify.claims.measured import Measured, call_at, measured_by, number
from lipverify.claims.plain import plain
from lipverify.claims.profile import Profile
from lipverify.claims.ranges import Range, meant_at
from lipverify.foundation.calls import Call, names

ID = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]+(/[a-z0-9.-]+)*")
RECORDABLE = ("supported", "refuted", "inconclusive")
Plans = list[tuple[Place, CellPlan]]
SIDE_WORDS = {"lower": "lower bound", "upper": "upper bound"}


def exponent(
    measure: Callable[..., Any],
    quantity: str,
    *,
    along: str = "n",
    ray: tuple[Any, ...] = (1e4, 1e30),
    low: Any = None,
    high: Any = None,
    equals: Any = None,
    log: Any = None,
    strict: bool = False,
    sharp: Any = None,
    twin: Any = None,
    instead: Any = None,
    scale: str = "",
    of: str = "",
    error: float | None = 1e-12,
    method: str = "exact",
    grade: str | None = None,
    over: Any = None,
    given: Mapping[str, Any] | None = None,
) -> Form:
    r"""A positive quantity grows like a power of s: Omega(s^low), O(s^high) or Theta(s^equals) as s -> infinity.

    Parameters
    ----------
    measure
        The function, called by name with the coordinates of the cell and with what grows; it returns (value, error), a
        value alone, or a mapping of named ones. It gets `seed`, `contexts` and `backend` if it takes them.
    quantity
        What it measures, in LaTeX.
    along, ray
        What grows, and (start, stop) or (start, stop, points): numbers, or formulas in the coordinates; two decades at
        least. If it is n or d, the points are whole numbers.
    low, high, equals
        The exponent: a formula in the coordinates and in the symbols of the readings.
    log
        The power of log s beside it.
    strict
        Whether the power itself is left out: omega(s^low), o(s^high).
    sharp
        The true exponent. The twins are derived from it: the false one lies beyond it by twice the resolution of
        limits, the true one is the claim with this exponent.
    twin, instead
        The false and the true twin, where they are not derived: an exponent, `dict(low=..., high=...)`, or other
        coordinates, for which the same claim is false (true).
    scale
        What the power is of in words, in LaTeX, where it is not what grows: w* grows with Lambda, and n is varied.
    of
        Which quantity of those that the function returns; coordinates that its name holds in braces, such as
        "{trained} to {tested}", are not given to the function unless it takes them.
    error
        Relative error of values that come alone.
    method, grade
        How it measures, and what stands behind that, where the method does not say.
    over
        Coordinates of this form alone, beside those of its claim.
    given
        What else the function is called with.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.
    """
    line = caller_line()
    return form_of(
        Exponent, measure, quantity, line, **_ray(along, ray, scale, line), low=low, high=high, equals=equals, log=log,
        strict=strict, sharp=sharp, twin=twin, instead=instead, of=of, error=error, method=method, grade=grade,
        over=over, given=given or {},
    )  # fmt: skip


def bound(
    measure: Callable[..., Any],
    quantity: str,
    *,
    low: Any = None,
    high: Any = None,
    equals: Any = None,
    within: Any = None,
    strict: bool = False,
    sharp: Any = None,
    twin: Any = None,
    instead: Any = None,
    along: str = "",
    ray: tuple[Any, ...] = (1e4, 1e30),
    scale: str = "",
    of: str = "",
    error: float | None = None,
    method: str = "exact",
    grade: str | None = None,
    over: Any = None,
    given: Mapping[str, Any] | None = None,
) -> Form:
    r"""A value lies between bounds, cell by cell, or equals another one within a tolerance.

    Parameters
    ----------
    measure, quantity, of, method, grade, over, given
        As for `exponent`; the function is called with the coordinates of the cell.
    low, high, equals, within
        The bounds: formulas in the coordinates, numbers, or functions of coordinates by name. `within` is how far the
        value may be from `equals`, in its own units; the twin of an equality lies three times as far.
    strict
        Whether the value must differ from low and high.
    sharp
        The true value; the twins are a tenth of it away.
    twin, instead
        The false and the true twin: a bound in place of the one that is given, `dict(low=..., high=...)`, or other
        coordinates, for which the same bound fails (holds).
    along, ray, scale
        As for `exponent`: with them the bounds are on the limit of a positive value along a ray.
    error
        Relative error of values that the function returns alone; where none is declared these are refused.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.
    """
    line = caller_line()
    kind, limit = (Limit, _ray(along, ray, scale, line)) if along else (Bound, {})
    return form_of(
        kind, measure, quantity, line, **limit, low=low, high=high, equals=equals, within=within, strict=strict,
        sharp=sharp, twin=twin, instead=instead, of=of, error=error, method=method, grade=grade, over=over,
        given=given or {},
    )  # fmt: skip


def _ray(along: str, ray: Any, scale: str, line: int) -> dict[str, Any]:
    """What grows, from where to where, as fields of a form."""
    if not isinstance(ray, tuple | list) or len(ray) not in (2, 3):
        raise Fault(f"ray = {ray!r}: it is (start, stop) or (start, stop, points).", "ray", line=line)
    start, stop = (formula(end, name="ray") for end in ray[:2])
    return {"along": along, "start": start, "stop": stop, "points": ray[2] if len(ray) == 3 else None, "scale": scale}


def identity(
    measure: Callable[..., Any],
    quantity: str,
    *,
    twin: Mapping[str, Any],
    instead: Mapping[str, Any] | None = None,
    of: str = "",
    method: str = "symbolic",
    grade: str | None = None,
    over: Any = None,
    given: Mapping[str, Any] | None = None,
) -> Form:
    r"""Two sides are equal: their difference is zero exactly, or no larger than a bound on its rounding.

    Parameters
    ----------
    measure
        The function returns (difference, bound on its rounding); the bound is 0 for exact algebra.
    quantity
        The difference, in LaTeX.
    twin, instead
        Other coordinates, for which the identity is false (true): one letter of the formula exchanged, ...

    The rest is as for `bound`.
    """
    return form_of(
        Identity, measure, quantity, caller_line(), equals=0, twin=twin, instead=instead, of=of, method=method,
        grade=grade, over=over, given=given or {},
    )  # fmt: skip


@dataclass(frozen=True)
class Agreement:
    """The same quantity by two functions that share no method."""

    functions: tuple[Callable[..., Any], Callable[..., Any]]
    quantity: str
    of: tuple[str, str]
    methods: tuple[str, str]
    over: Any
    given: Mapping[str, Any]
    error: float | None
    line: int

    def _measured(self, function: Callable[..., Any], place: Place, here: Place) -> Measured:
        told = {name for of in self.of for name in named_in(of)}
        needed = [name for name in place.where if name not in told]
        try:
            return measured_by(function, needed, (*here.where, *self.given), (), "agrees")
        except Fault as fault:
            raise fault.within(self.line) from None

    def plans(self, family: Place, profile: Profile) -> Iterator[CrossPlan]:
        """A cross-check at each point."""
        for place in places(self.over, profile):
            here = family.joined(place)
            both = [self._measured(each, place, here) for each in self.functions]
            takes = [{k: v for k, v in self.given.items() if k in each.takes} for each in both]
            plans = [each.at(here, given, profile) for each, given in zip(both, takes, strict=True)]

            def read(one: Any, other: Any, here: Place = here) -> Side_by_side:
                (a, spread), (b, other_spread) = (
                    number(result, filled(of, here.where), self.error, f"{self.quantity} at {here}")
                    for result, of in zip((one, other), self.of, strict=True)
                )
                return (a, b), (spread, other_spread)

            quantity = f"${self.quantity}$"
            yield CrossPlan(here.where, plain(quantity), self.methods, (plans[0], plans[1]), read, quantity)


def agree(
    one: Callable[..., Any],
    other: Callable[..., Any],
    quantity: str,
    *,
    of: str | tuple[str, str] = "",
    methods: tuple[str, str] = ("exact", "montecarlo"),
    over: Any = None,
    given: Mapping[str, Any] | None = None,
    error: float | None = None,
) -> Agreement:
    """A cross-check: two functions must give the same quantity within their errors, or the claim is not decided.

    Parameters
    ----------
    one, other
        The functions, called by name with the coordinates; both return (value, error) or a mapping of such.
    quantity
        What both give, in LaTeX.
    of
        Which quantity of a mapping, as for `exponent`; a pair where the two call it differently.
    methods
        How each measures.
    over
        Where they are compared, beside the coordinates of the reading.
    """
    pair = (of, of) if isinstance(of, str) else of
    return Agreement((one, other), quantity, pair, methods, over, given or {}, error, caller_line())


def at(function: Callable[..., Any], **where: Any) -> Call:
    """A function at a point, measured to be shown; coordinates of the reading are added where it takes them."""
    return Call(function, where)


@dataclass(frozen=True)
class Drawing:
    """A function that makes a figure, a table or a sentence of measurements."""

    function: Callable[..., Any]
    measured: dict[str, Call]

    def shown(self, family: Place, profile: Profile) -> Shown:
        """With its measurements in place."""
        parameters = set(names(self.function))
        found = {name: call_at(each, family, profile, "figures") for name, each in self.measured.items()}
        given = {key: value for key, value in family.where.items() if key in parameters}
        return Shown(self.function, found, given)


def draw(function: Callable[..., Any], **measured: Call) -> Drawing:
    """A figure, a table or a sentence: the function gets the measurements by name, and the reading's coordinates."""
    return Drawing(function, measured)


@dataclass(frozen=True)
class Sought:
    """A claim as a search for counterexamples sees it: its forms, and the coordinates that are free."""

    id: str
    forms: tuple[Form, ...]
    family: Place
    over: Mapping[Any, Any]
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
            yield Sought(id, tuple(form.only(side) for form in self.forms), family, inner or {}, self)

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
        foreign = [name for name in template if name not in known]
        if foreign:
            raise Fault(f"id = {self.id!r}: {{{foreign[0]}}} is no coordinate of over=.", "id")
        if not sides:
            raise Fault(f"id = {self.id!r}: {{side}} needs low= or high= in every form.", "id")

    def _claim(self, family: Place, side: str | None, over: Any, profile: Profile) -> Claim:
        id = filled(self.id, family.where | ({"side": side} if side else {}))
        tail = id.partition("/")[2]

        def words(name: str) -> Any:
            return chosen(getattr(self, name), tail, name)

        source = sourced(words("source"))
        _require_words(id, words("kind"), words("expected"), words("title"), source)
        forms = [form.only(side) for form in self.forms]
        here = [_in_words(form, family) for form in forms]
        label = ", ".join(filter(None, [*_named(family), SIDE_WORDS.get(side or "", "")]))
        title = words("title") or plain(here[0].statement(here[0].range))

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
            statement=words("statement") or r", \quad ".join(form.statement(form.range) for form in here),
            source=source,
            kind=words("kind"),
            claimed="; ".join(dict.fromkeys(form.claimed(form.range) for form in here)),
            false_twin="; ".join(dict.fromkeys(form.twin_in_words(False, form.claimed) for form in here)),
            true_twin="; ".join(dict.fromkeys(form.twin_in_words(True, form.claimed) for form in here)),
            false_latex="; ".join(dict.fromkeys(form.twin_in_words(False, form.typeset) for form in here)),
            true_latex="; ".join(dict.fromkeys(form.twin_in_words(True, form.typeset) for form in here)),
            expected=words("expected"),
            plan=plan,
            assumptions=(*_texts(words("assumes"), "assumes"), *_readings(family, forms)),
            corrected=words("corrected"),
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
    kind
        "printed", "convention", "stronger", "derived" or "sharp".
    expected
        The verdict that is recorded, once it has been seen.
    over
        The coordinates: names to values; see `lipverify.claims.family`.
    title
        The statement in words; by default its formula.
    statement
        LaTeX of the statement, where the forms do not say it all.
    assumes, corrected, finding
        What is assumed; what holds in place of a statement that fails; what the evidence shows, in sentences.
    agrees
        Cross-checks, from `agree`.
    figures, tables
        From `draw`; a figure is derived from the first form where none is given.
    search
        Where `lipverify falsify` looks for counterexamples, where that is not everywhere: coordinates to (low, high) or
        to a list of values; "law" to "lipschitz", laws as steep as 1 at most.

    Raises
    ------
    InvalidInput
        If a rule is broken; `lipverify verify` shows the line.
    """
    line, frame = caller_line(), sys._getframe(1).f_globals
    if not isinstance(id, str) or not id.strip():
        raise Fault("no id: an id such as 'mine.window/tanh' names a claim; a claim without it is refused.", line=line)
    if not forms or not all(isinstance(form, Form) for form in forms):
        raise Fault(f"claim {id}: nothing would decide it; give exponent(...), bound(...) or identity(...).", line=line)
    declared = Declaration(
        id=id, forms=forms, source=source, kind=kind, expected=expected, over=over, title=title, statement=statement,
        assumes=assumes, corrected=corrected, finding=finding,
        agrees=(agrees,) if isinstance(agrees, Agreement) else tuple(agrees),
        figures=_drawings(figures), tables=_drawings(tables), search=_search(search, line), line=line,
    )  # fmt: skip
    frame.setdefault(DECLARATIONS, []).append(declared)
    if frame.get("__name__") == "__main__" and "__file__" in frame:
        _verify(frame["__file__"])
    return declared


def _verify(path: str) -> None:
    """A claims file that is run as a program verifies itself, in a process that starts as the command line does."""
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "lipverify", "verify", path, *sys.argv[1:]])


def caller_line() -> int:
    """The line on which the function that asks was called."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = frame.f_back if frame is not None else None
    return frame.f_lineno if frame is not None else 0


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
        yield f"{value} {name}" if isinstance(value, str) else f"${letter(name)} = {value:g}$"
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


def _in_words(form: Form, family: Place) -> Form:
    """The form with the symbols of its reading spelled out; symbols of its cells stay as they are."""
    place = Place(meaning=family.meaning)
    twins: dict[str, Any] = {
        name: value.meaning(place) if isinstance(value, Range) else value
        for name, value in (("twin", form.twin), ("instead", form.instead))
    }
    sharp = None if form.sharp is None else meant_at(form.sharp, place)
    return replace(form, range=form.range.meaning(place), sharp=sharp, **twins)


def _drawn(planned: list[tuple[Form, Plans]], results: dict[str, Any]) -> tuple[Figure, ...]:
    """The figure that the first form with values draws of its own evidence; of an identity there is none to see."""
    from lipverify.claims.drawings import figure_of

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


def _drawings(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {pattern: _drawings(each) for pattern, each in value.items()}
    return (value,) if isinstance(value, Drawing) else tuple(value)


def _names(name: Any) -> set[str]:
    return set(name) if isinstance(name, tuple) else {name}
