r"""The three forms of a claim: an exponent along a ray, bounds on a value, an identity.

A form is data: the function that measures, the quantity in LaTeX, what is allowed, and how its twins differ. What is
said of it in words, what its cells allow and what its figure shows are derived from that.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, get_args

from lipverify.claims import exponents
from lipverify.claims.claim import CellPlan, Estimate, Measurement, Twin
from lipverify.claims.family import Place, filled, named_in, places
from lipverify.claims.fault import Fault
from lipverify.claims.formula import Formula
from lipverify.claims.ledger import Grade
from lipverify.claims.measured import Measured, Ray, calling, measured_by, number, remark
from lipverify.claims.plain import plain
from lipverify.claims.profile import Profile, settled
from lipverify.claims.ranges import EDGES, Edge, EdgeName, Range, edge, meant_at, plus, range_of, scaled, value_of
from lipverify.claims.verdict import Allowed, Interval, contains
from lipverify.errors import InvalidInput

METHOD_GRADES: dict[str, Grade] = {
    "exact": "bounded", "certified": "proved", "symbolic": "proved", "montecarlo": "sampled", "training": "observed",
}  # fmt: skip
"""The grade of a value by how it is measured; any other method is only observed unless its claim states a grade."""
SHARE = 0.1
"""How far the twin of a bound is from the sharp value, as a share of it, where the claim does not say."""
NEAREST = "the nearest that the evidence bears out"
GREEK = ("sigma", "kappa", "rho", "epsilon", "Lambda", "lambda")
"""Coordinates that are called by a Greek letter."""


def letter(name: str) -> str:
    r"""A coordinate in LaTeX: a letter, a Greek letter or a word.

    >>> letter("n"), letter("sigma"), letter("layers")
    ('n', '\\sigma', '\\mathrm{layers}')
    """
    if len(name) == 1:
        return name
    return rf"\{name}" if name in GREEK else rf"\mathrm{{{name}}}"


@dataclass(frozen=True, kw_only=True)
class Form:
    """What all forms share; see `exponent`, `bound` and `identity` for the meaning of the fields."""

    measure: Callable[..., Any]
    quantity: str
    range: Range
    of: str = ""
    sharp: Edge | None = None
    twin: Range | dict[str, Any] | None = None
    instead: Range | dict[str, Any] | None = None
    method: str = "exact"
    grade: Grade | None = None
    error: float | None = None
    over: Any = None
    given: Mapping[str, Any] = field(default_factory=dict)
    line: int = 0
    name: ClassVar[str] = ""

    @property
    def said(self) -> str:
        """The quantity in plain text."""
        return plain(self.quantity)

    def only(self, side: str | None) -> Form:
        """The form of one side: of a lower bound, or of an upper one."""
        if side is None or self.range.equals is not None:
            return self
        twins: dict[str, Any] = {
            name: value.only(side) if isinstance(value, Range) else value
            for name, value in (("twin", self.twin), ("instead", self.instead))
        }
        return replace(self, range=self.range.only(side), **twins)

    def cells(self, family: Place, over: Any, profile: Profile) -> list[tuple[Place, CellPlan]]:
        """A cell for each point of the family."""
        family_places = [family.joined(place) for place in places(over, profile)]
        inner = places(self.over, profile)
        every = [outer.joined(place) for outer in family_places for place in inner]
        measured = self.measured(every[0], family)
        return [(place, self.cell(place, measured, profile)) for place in every]

    def measured(self, place: Place, family: Place) -> Measured:
        """The function, refused unless it can be called at the points; what `of` names it need not take."""
        told = named_in(self.of)
        foreign = [name for name in told if name not in place.where]
        if foreign:
            raise Fault(f"of = {self.of!r}: {{{foreign[0]}}} is no coordinate of over=.", "of")
        needed = [name for name in place.where if name not in (*family.where, *told)]
        return measured_by(self.measure, needed, (*family.where, *told), tuple(self.given))

    def cell(self, place: Place, measured: Measured, profile: Profile) -> CellPlan:
        """The evidence at one point."""
        allowed = self.range.allowed(place)
        false, true = self.false_twin(place, measured, profile), self.true_twin(place, measured, profile)
        if isinstance(self.twin, Range) and contains(self.twin.allowed(place, "twin"), allowed):
            raise Fault(
                f"twin at {place} allows whatever the claim allows, {self.claimed(self.range.meaning(place))}; a twin "
                "is a statement that the truth breaks.",
                "twin",
            )
        return CellPlan(
            where=self.where(place),
            measurement=self.measurement(place, measured, profile),
            quantity=plain(self.observed(place)),
            quantity_latex=self.observed(place),
            read=self.reader(place, measured),
            claimed=self.range.meaning(place).text("").strip(),
            claimed_latex=f"${self.range.meaning(place).latex('').strip()}$",
            allowed=allowed,
            false=false,
            true=true,
            method=self.method,
            grade=self.grade_of(),
        )

    def where(self, place: Place) -> dict[str, Any]:
        """What tells the cell apart."""
        return dict(place.where)

    def grade_of(self) -> Grade:
        """What stands behind the number."""
        return self.grade or METHOD_GRADES.get(self.method, "observed")

    def observed(self, place: Place) -> str:
        """What the interval is of, as text with `$LaTeX$`."""
        return f"${self.quantity}$"

    def measurement(self, place: Place, measured: Measured, profile: Profile) -> Measurement:
        """What is measured at a point."""
        return measured.at(place, self.given, profile)

    def reader(self, place: Place, measured: Measured) -> Callable[[Any, Allowed], Estimate]:
        """How a result is read."""
        of, error, call = filled(self.of, place.where), self.error, calling(measured.found(), place)

        def read(result: Any, allowed: Allowed) -> Estimate:
            found, why = self.interval(*number(result, of, error, call)), remark(result, of)
            open_ended = why and found.interval == Interval(None, None)
            return replace(found, note=f"{found.note}: {why}") if open_ended else found

        return read

    def interval(self, value: float, error: float) -> Estimate:
        """The interval of a value."""
        if math.isinf(error):
            return Estimate(Interval(None, None), f"{value:.6g} with an infinite error")
        return Estimate(Interval.around(value, error))

    def claimed(self, allowed: Range) -> str:
        """A range of this quantity in plain text."""
        return allowed.text(self.said)

    def statement(self, allowed: Range) -> str:
        """A range of this quantity in LaTeX."""
        return allowed.latex(self.quantity)

    def false_twin(self, place: Place, measured: Measured, profile: Profile) -> Twin:
        """The near statement that is false where the claim is true."""
        if isinstance(self.twin, dict):
            return self._elsewhere(self.twin, place, measured, profile)
        moved = self.twin_range()
        if moved is None:
            raise Fault(
                "no twin: a control is a near statement that is false, and must come out refuted on the same evidence; "
                "give sharp= (the true value, from which it is derived) or twin= (its bound); a claim without it is "
                "refused.",
                "twin",
            )
        return Twin(moved.meaning(place).text("").strip(), moved.allowed(place, "twin"))

    def true_twin(self, place: Place, measured: Measured, profile: Profile) -> Twin:
        """The near statement that is true where the claim is false."""
        if isinstance(self.instead, dict):
            return self._elsewhere(self.instead, place, measured, profile)
        moved = self.instead if isinstance(self.instead, Range) else self.true_range()
        if moved is not None:
            return Twin(moved.meaning(place).text("").strip(), moved.allowed(place, "instead"))
        return Twin(NEAREST, self._nearest)

    def _elsewhere(self, changed: dict[str, Any], place: Place, measured: Measured, profile: Profile) -> Twin:
        """The same range, for what is measured with other coordinates."""
        foreign = [name for name in changed if name not in measured.takes and not measured.anything]
        if foreign:
            raise Fault(f"twin = {changed!r}: the function does not take {foreign[0]}.", "twin")
        other = place.joined(Place(dict(changed)))
        says = (
            f"{self.range.meaning(place).text('').strip()} with {', '.join(f'{k} = {v}' for k, v in changed.items())}"
        )
        return Twin(says, self.range.allowed(place), self.measurement(other, measured, profile))

    def twin_range(self) -> Range | None:
        """The false twin's range, from the twin that is given or from the sharp value."""
        if isinstance(self.twin, Range):
            return self.twin
        if self.sharp is not None and self.range.equals is None:
            moved: dict[EdgeName, Edge] = {
                name: self.beyond(self.sharp, +1 if name == "low" else -1) for name, _ in self.range.edges()
            }
            return self.range.moved(moved)
        return self.off_target()

    def true_range(self) -> Range | None:
        """The true twin's range, from the sharp value."""
        if self.sharp is None:
            return None
        if self.range.equals is not None:
            return self.range.moved({"equals": self.sharp})
        moved: dict[EdgeName, Edge] = {
            name: self.slack(self.sharp, -1 if name == "low" else +1) for name, _ in self.range.edges()
        }
        return self.range.moved(moved)

    def off_target(self) -> Range | None:
        """The false twin of an equality: another value, just outside the tolerance."""
        target, within = self.range.equals, self.range.within
        if target is None or within is None:
            return None
        return self.range.moved({"equals": plus(target, within, times=3)})

    def beyond(self, sharp: Edge, sign: int) -> Edge:
        """Just beyond the sharp value, where the bound is false."""
        return scaled(sharp, 1 + sign * SHARE * _sign(sharp))

    def slack(self, sharp: Edge, sign: int) -> Edge:
        """Just short of the sharp value, where the bound is true."""
        return scaled(sharp, 1 + sign * SHARE * _sign(sharp))

    def _nearest(self, interval: Interval) -> Allowed:
        """The range of this form that contains the interval, and as much again on either side."""
        low, high = interval.ends
        room = max((high - low) / 2, 4 * sys.float_info.epsilon * max(abs(low), abs(high), sys.float_info.min))
        if not math.isfinite(room):
            return Allowed()
        lower, upper = (self.range.low is not None), (self.range.high is not None)
        both = self.range.equals is not None or (lower and upper)
        return Allowed(low=low - room if lower or both else None, high=high + room if upper or both else None)

    def twin_in_words(self, true: bool, said: Callable[[Range], str]) -> str:
        """A twin of the claim as a whole, the false one or the true one; `said` puts a range into words."""
        given, derived = (self.instead, self.true_range) if true else (self.twin, self.twin_range)
        if isinstance(given, dict):
            return f"{said(self.range)} with {', '.join(f'{k} = {v}' for k, v in given.items())}"
        moved = given if isinstance(given, Range) else derived()
        return NEAREST if moved is None else said(moved)

    def typeset(self, allowed: Range) -> str:
        """A range of this quantity as text with `$LaTeX$`."""
        return f"${self.statement(allowed)}$"


def _sign(sharp: Edge) -> int:
    """Of a negative value more is less; one that is negative without a minus in front needs a twin of its own."""
    return -1 if str(sharp).startswith("-") else 1


@dataclass(frozen=True, kw_only=True)
class Bound(Form):
    """Bounds on a value."""

    name: ClassVar[str] = "bound"


@dataclass(frozen=True, kw_only=True)
class Identity(Form):
    """Two sides that are equal: their difference is zero, or no larger than its rounding."""

    name: ClassVar[str] = "identity"

    def interval(self, value: float, error: float) -> Estimate:
        """Zero where the difference is no larger than what rounding can make of zero."""
        if abs(value) <= error < math.inf:
            note = f"{value:.3g}, rounding explains {error:.3g}" if error else ""
            return Estimate(Interval(0.0, 0.0), note, shown=Interval.around(value, error) if error else None)
        return super().interval(value, error)

    def claimed(self, allowed: Range) -> str:
        """An identity is an equation by itself."""
        return f"{self.said} = 0"

    def statement(self, allowed: Range) -> str:
        """An identity is an equation by itself."""
        return f"{self.quantity} = 0"


@dataclass(frozen=True, kw_only=True)
class Along(Form):
    """What is read off the values along a ray."""

    along: str = "n"
    start: Formula
    stop: Formula
    points: Any = None
    scale: str = ""

    @property
    def symbol(self) -> str:
        """What grows, in LaTeX."""
        return self.scale or self.grows

    @property
    def grows(self) -> str:
        """What is varied, in LaTeX."""
        return letter(self.along)

    def grade_of(self) -> Grade:
        """A limit is extrapolated, whatever its values are; from values that are less it is no more than they."""
        behind = super().grade_of()
        return behind if behind in ("sampled", "observed") else "extrapolated"

    def measurement(self, place: Place, measured: Measured, profile: Profile) -> Measurement:
        """The growth along the ray."""
        of = filled(self.of, place.where)
        return measured.along(self.ray(place, profile), place, of, self.error, self.given, profile)

    def measured(self, place: Place, family: Place) -> Measured:
        """The function, refused unless it takes what grows as well."""
        return super().measured(place.joined(Place({self.along: 0.0})), family)

    def ray(self, place: Place, profile: Profile) -> Ray:
        """What grows, from where to where."""
        start, stop = (value_of(end.with_symbols(place.meaning), place, "ray") for end in (self.start, self.stop))
        ray = Ray(self.along, start, stop, settled(self.points, profile) or profile.points)
        try:
            _ = ray.ladder
        except InvalidInput as error:
            raise Fault(str(error), "ray") from None
        return ray


@dataclass(frozen=True, kw_only=True)
class Limit(Along):
    """Bounds on what a value tends to."""

    name: ClassVar[str] = "bound"

    def observed(self, place: Place) -> str:
        """What the interval is of, as text with `$LaTeX$`."""
        return f"limit of ${self.quantity}$ in ${self.grows}$"

    def reader(self, place: Place, measured: Measured) -> Callable[[Any, Allowed], Estimate]:
        """The limit of a growth, if it has one."""

        def read(growth: Any, allowed: Allowed) -> Estimate:
            if not abs(growth.exponent) <= growth.error < math.inf:
                note = f"it tends to no positive constant: exponent {growth.exponent:.4g} ± {growth.error:.2g}"
                return Estimate(Interval(None, None), note)
            return self.interval(*growth.limit_of_ratio(0.0))

        return read

    def claimed(self, allowed: Range) -> str:
        """A range of the limit in plain text."""
        return allowed.text(f"lim {self.said}")

    def statement(self, allowed: Range) -> str:
        """A range of the limit in LaTeX."""
        return allowed.latex(rf"\lim_{{{self.symbol} \to \infty}} {self.quantity}")


@dataclass(frozen=True, kw_only=True)
class Exponent(Along):
    """A power of what grows, along a ray."""

    log: Edge | None = None
    name: ClassVar[str] = "exponent"

    def observed(self, place: Place) -> str:
        """What the interval is of, as text with `$LaTeX$`."""
        return f"limit exponent of ${self.quantity}$ in ${self.grows}$"

    def reader(self, place: Place, measured: Measured) -> Callable[[Any, Allowed], Estimate]:
        """The limit exponent of a growth."""
        log = None if self.log is None else value_of(meant_at(self.log, place), place, "log")
        return lambda growth, allowed: exponents.estimate(growth, allowed, log)

    def beyond(self, sharp: Edge, sign: int) -> Edge:
        """The least that a limit known to the resolution tells apart."""
        return plus(sharp, sign * exponents.TWIN_DISTANCE)

    def slack(self, sharp: Edge, sign: int) -> Edge:
        """At the sharp exponent itself the ratio decides."""
        return sharp

    def off_target(self) -> Range | None:
        """The false twin of an equality of exponents."""
        target = self.range.equals
        return None if target is None else self.range.moved({"equals": plus(target, exponents.TWIN_DISTANCE)})

    def true_range(self) -> Range | None:
        """The true twin's range: of a quantity with the sharp exponent O and Ω are true, and o and ω are not."""
        true = super().true_range()
        return None if true is None else replace(true, strict=False)

    def claimed(self, allowed: Range) -> str:
        """Ω, O and Θ of powers, or ω and o, in plain text."""
        letters = exponents.STRICT if allowed.strict else exponents.LETTERS
        powers = ((letters[name], plain(self.power(power))) for name, power in allowed.edges())
        return ", ".join(f"{self.said} = {letter}({power})" for letter, power in powers)

    def statement(self, allowed: Range) -> str:
        """Omega, O and Theta of powers, or omega and o, in LaTeX."""
        letters = exponents.STRICT_LATEX if allowed.strict else exponents.LATEX
        return r", \quad ".join(
            rf"{self.quantity} = {letters[name]}\left({self.power(power)}\right)" for name, power in allowed.edges()
        )

    def power(self, power: Edge) -> str:
        """s^a (log s)^b in LaTeX."""
        raised = "1" if str(power) == "0" else f"{self.symbol}^{{{power.inline_latex}}}"
        if self.log is None or str(self.log) == "0":
            return raised
        exponent = "" if str(self.log) == "1" else f"^{{{self.log.inline_latex}}}"
        logarithm = rf"(\log {self.symbol}){exponent}" if exponent else rf"\log {self.symbol}"
        return logarithm if raised == "1" else f"{raised} {logarithm}"


def form_of(kind: type[Form], function: Any, quantity: Any, line: int, **given: Any) -> Form:
    """A form from what is declared, refused where it breaks a rule that needs no points."""
    if not isinstance(quantity, str) or not quantity.strip():
        raise Fault("no quantity: the quantity is what the function measures, in LaTeX such as r'w^*'; a claim without "
                    "it is refused.", "quantity", line=line)  # fmt: skip
    if not callable(function):
        raise Fault(f"{function!r} is not a function that measures {quantity}.", line=line)
    edges = {name: given.pop(name, None) for name in (*EDGES, "within")}
    strict = bool(given.pop("strict", False))
    try:
        given["range"] = range_of(**edges, strict=strict)
        for name in ("twin", "instead"):
            given[name] = _twin(given.get(name), name, given["range"])
        for name in ("sharp", "log"):
            if given.get(name) is not None:
                given[name] = edge(given[name], name)
        _refuse_words(given)
    except Fault as fault:
        raise Fault(str(fault), fault.keyword, fault.item, line) from None
    return kind(measure=function, quantity=quantity, line=line, **{k: v for k, v in given.items() if v is not None})


def _twin(value: Any, name: str, claimed: Range) -> Range | dict[str, Any] | None:
    """A twin: a bound in place of the only one, bounds by name, or other coordinates."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        if set(value) & {*EDGES, "within"}:
            strict, slack = value.get("strict", claimed.strict), value.get("within", claimed.within)
            given = {edge_name: value[edge_name] for edge_name in EDGES if edge_name in value}
            slack = slack if "equals" in given else None
            return range_of(**given, within=slack, strict=bool(strict), keyword=name)
        return dict(value)
    edges = [edge_name for edge_name, _ in claimed.edges()]
    if len(edges) != 1:
        raise Fault(f"{name} = {value!r}: which bound is it? Write dict(low=...), dict(high=...) or both.", name)
    return claimed.moved({edges[0]: edge(value, name)})


def _refuse_words(given: Mapping[str, Any]) -> None:
    method, grade, error = given.get("method"), given.get("grade"), given.get("error")
    if method is not None and (not isinstance(method, str) or not method.strip()):
        raise Fault(f"method = {method!r}: it is a word for how the function measures, such as 'exact'.", "method")
    if grade is not None and grade not in get_args(Grade):
        raise Fault(f"grade = {grade!r}: choose one of {', '.join(get_args(Grade))}.", "grade")
    if error is not None and (
        isinstance(error, bool) or not isinstance(error, int | float) or not 0 <= error < math.inf
    ):
        raise Fault(f"error = {error!r}: the relative error of a value must be finite and >= 0.", "error")


def sides_of(forms: tuple[Form, ...]) -> Iterator[str]:
    """The sides that an id with {side} has: lower, where a low bound is given, and upper, where a high one is."""
    one_sided = [form for form in forms if form.range.equals is None]
    for side, name in (("lower", "low"), ("upper", "high")):
        if one_sided and all(getattr(form.range, name) is not None for form in one_sided):
            yield side
