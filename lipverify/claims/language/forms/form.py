r"""What all forms of a claim share.

A form is data: the function that measures, the quantity in LaTeX, what is allowed, and how its controls differ. What is
said of it in words, what its cells allow and what its figure shows are derived from that.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from lipverify.claims.language.family import Place, filled, is_number, named_in, places
from lipverify.claims.language.fault import Fault
from lipverify.claims.language.range import Edge, EdgeName, Range, edge, meant_at, plus, scaled, value_of
from lipverify.claims.ledger.plain import plain
from lipverify.claims.ledger.record import Grade, Ray
from lipverify.claims.ledger.verdict import Allowed, Interval, contains, decide
from lipverify.claims.plan.claim import CellPlan, ControlPlan, Estimate, Measurement, Spot
from lipverify.claims.plan.measured import Measured, calling, measured_by, number, remark
from lipverify.claims.plan.profile import Profile, settled
from lipverify.claims.run.ran import SOMEWHERE
from lipverify.foundation.calls import defaults

SHARE = 0.1
"""How far the control of a bound is from the sharp value, as a share of it, where the claim does not say."""
NEAREST = "the nearest that the evidence bears out"


@dataclass(frozen=True, kw_only=True)
class Form:
    """What all forms share; see `exponent`, `bound` and `identity` for the meaning of the fields."""

    measure: Callable[..., Any]
    quantity: str
    range: Range
    of: str = ""
    sharp: Edge | None = None
    control: Range | dict[str, Any] | None = None
    instead: Range | dict[str, Any] | None = None
    method: str | None = None
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
        controls: dict[str, Any] = {
            name: value.only(side) if isinstance(value, Range) else value
            for name, value in (("control", self.control), ("instead", self.instead))
        }
        return replace(self, range=self.range.only(side), **controls)

    def cells(self, family: Place, over: Any, profile: Profile) -> list[tuple[Place, CellPlan]]:
        """A cell for each point of the family."""
        every = self.places(family, over, profile)
        measured = self.measured(every[0], family)
        return [(place, self.cell(place, measured, profile)) for place in every]

    def places(self, family: Place, over: Any, profile: Profile) -> list[Place]:
        """The points of the family that this form is measured at."""
        inner = places(self.over, profile)
        return [family.joined(outer).joined(place) for outer in places(over, profile) for place in inner]

    def spots(self, family: Place, over: Any, profile: Profile) -> Iterator[Spot]:
        """The same as they are told, with what the function is given and what grows."""
        given = {name: settled(value, profile) for name, value in self.given.items()}
        numbers = {name: value for name, value in given.items() if isinstance(value, str | int | float)}
        for place in self.places(family, over, profile):
            where, observed = self.where(place), self.observed(place)
            beside = {name: value for name, value in numbers.items() if name not in where}
            yield Spot(where, beside, self.growing(place, profile), plain(observed), observed)

    def growing(self, place: Place, profile: Profile) -> Ray | None:
        """What grows, where a limit is taken; nothing does at a point."""
        return None

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
        false, true = self.false_control(place, measured, profile), self.true_control(place, measured, profile)
        if isinstance(self.control, Range) and contains(self.control.allowed(place, "control"), allowed):
            raise Fault(
                f"control at {place} allows whatever the claim allows, {self.claimed(self.range.meaning(place))}; "
                "a control is a statement that the truth breaks.",
                "control",
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
            edges=self.range.formulas(place),
            false=false,
            true=true,
            method=self.method,
            grade=self.grade,
            of=filled(self.of, place.where),
            error=self.error,
        )

    def where(self, place: Place) -> dict[str, Any]:
        """What tells the cell apart."""
        return dict(place.where)

    @property
    def drawn(self) -> bool:
        """Whether other draws would give another number."""
        return self.method in ("montecarlo", "training")

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
            if why == SOMEWHERE and decide(found.interval, allowed) == "supported":
                return Estimate(Interval(None, None), why)
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

    def false_control(self, place: Place, measured: Measured, profile: Profile) -> ControlPlan:
        """The near statement that is false where the claim is true."""
        if isinstance(self.control, dict):
            return self._elsewhere("control", self.control, place, measured, profile)
        moved = self.control_range()
        if moved is None:
            raise Fault(
                "no control: a control is a near statement that is false, and must come out refuted on the same "
                "evidence; give sharp= (the true value, from which it is derived) or control= (its bound); a claim "
                "without it is refused.",
                "control",
            )
        return ControlPlan(
            moved.meaning(place).text("").strip(), moved.allowed(place, "control"), edges=moved.formulas(place)
        )

    def true_control(self, place: Place, measured: Measured, profile: Profile) -> ControlPlan:
        """The near statement that is true where the claim is false."""
        if isinstance(self.instead, dict):
            return self._elsewhere("instead", self.instead, place, measured, profile)
        moved = self.instead if isinstance(self.instead, Range) else self.true_range()
        if moved is not None:
            return ControlPlan(
                moved.meaning(place).text("").strip(), moved.allowed(place, "instead"), edges=moved.formulas(place)
            )
        return ControlPlan(NEAREST, self._nearest)

    def _elsewhere(
        self, keyword: str, changed: dict[str, Any], place: Place, measured: Measured, profile: Profile
    ) -> ControlPlan:
        """The same range, for what is measured with other coordinates."""
        foreign = [name for name in changed if name not in measured.takes and not measured.anything]
        if foreign:
            raise Fault(f"{keyword} = {changed!r}: the function does not take {foreign[0]}.", keyword)
        values = {name: self._changed(keyword, name, value, place) for name, value in changed.items()}
        said = ", ".join(
            f"{name} = {value}" if value == values[name] else f"{name} = {value} = {values[name]:g}"
            for name, value in changed.items()
        )
        other = self.measurement(place.joined(Place(values)), measured, profile)
        says = f"{self.range.meaning(place).text('').strip()} with {said}"
        return ControlPlan(says, self.range.allowed(place), other, self.range.formulas(place))

    def _changed(self, keyword: str, name: str, value: Any, place: Place) -> Any:
        """The value of a coordinate that a control changes: of its own type, or a formula in the coordinates."""
        usual = place.where.get(name, defaults(self.measure).get(name))
        text, number = isinstance(value, str), is_number(value) and math.isfinite(value)
        if isinstance(usual, str) and not text:
            raise Fault(f"{keyword}: {name} = {value!r}: its values are texts such as {usual!r}; give a text.", keyword)
        if not is_number(usual) or number:
            if not (text or number):
                raise Fault(f"{keyword}: {name} = {value!r}: give a finite number or a text.", keyword)
            return value
        try:
            found = value_of(meant_at(edge(value, keyword), place), place, keyword)
        except Fault as fault:
            rule = f"{name} is a number such as {usual:g}; give a number, or a formula such as '{name} + 1'"
            raise Fault(f"{keyword}: {name} = {value!r}: {rule} ({str(fault).rstrip('.')}).", keyword) from None
        return int(found) if isinstance(usual, int) and found.is_integer() else found

    def control_range(self) -> Range | None:
        """The false control's range, from the control that is given or from the sharp value."""
        if isinstance(self.control, Range):
            return self.control
        if self.sharp is not None and self.range.equals is None:
            moved: dict[EdgeName, Edge] = {
                name: self.beyond(self.sharp, +1 if name == "low" else -1) for name, _ in self.range.edges()
            }
            return self.range.moved(moved)
        return self.off_target()

    def true_range(self) -> Range | None:
        """The true control's range, from the sharp value."""
        if self.sharp is None:
            return None
        if self.range.equals is not None:
            return self.range.moved({"equals": self.sharp})
        moved: dict[EdgeName, Edge] = {
            name: self.slack(self.sharp, -1 if name == "low" else +1) for name, _ in self.range.edges()
        }
        return self.range.moved(moved)

    def off_target(self) -> Range | None:
        """The false control of an equality: another value, just outside the tolerance."""
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

    def control_in_words(self, true: bool, said: Callable[[Range], str]) -> str:
        """A control of the claim as a whole, the false one or the true one; `said` puts a range into words."""
        given, derived = (self.instead, self.true_range) if true else (self.control, self.control_range)
        if isinstance(given, dict):
            return f"{said(self.range)} with {', '.join(f'{k} = {v}' for k, v in given.items())}"
        moved = given if isinstance(given, Range) else derived()
        return NEAREST if moved is None else said(moved)

    def typeset(self, allowed: Range) -> str:
        """A range of this quantity as text with `$LaTeX$`."""
        return f"${self.statement(allowed)}$"


def _sign(sharp: Edge) -> int:
    """Of a negative value more is less; one that is negative without a minus in front needs a control of its own."""
    return -1 if str(sharp).startswith("-") else 1


def sides_of(forms: tuple[Form, ...]) -> Iterator[str]:
    """The sides that an id with {side} has: lower, where a low bound is given, and upper, where a high one is."""
    one_sided = [form for form in forms if form.range.equals is None]
    for side, name in (("lower", "low"), ("upper", "high")):
        if one_sided and all(getattr(form.range, name) is not None for form in one_sided):
            yield side
