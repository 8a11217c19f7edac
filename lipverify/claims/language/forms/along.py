"""Forms of what is read off the values along a ray: a limit, and the exponent of a power."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from lipverify.claims.language.family import Place, filled
from lipverify.claims.language.fault import Fault
from lipverify.claims.language.forms.form import Form
from lipverify.claims.language.formula import Formula
from lipverify.claims.language.range import Edge, Range, meant_at, plus, value_of
from lipverify.claims.ledger.notation import letter
from lipverify.claims.ledger.plain import plain
from lipverify.claims.ledger.record import Ray
from lipverify.claims.ledger.verdict import Allowed, Interval
from lipverify.claims.plan import exponents
from lipverify.claims.plan.claim import Estimate, Measurement
from lipverify.claims.plan.measured import Measured
from lipverify.claims.plan.profile import Profile, settled
from lipverify.errors import InvalidInput


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

    def measurement(self, place: Place, measured: Measured, profile: Profile) -> Measurement:
        """The growth along the ray."""
        of = filled(self.of, place.where)
        return measured.along(self.ray(place, profile), place, of, self.error, self.given, profile)

    def growing(self, place: Place, profile: Profile) -> Ray:
        """What grows."""
        return self.ray(place, profile)

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
        power = rf"{exponents.POWER} $\log {self.grows}$ in ${self.quantity}$"

        def read(growth: Any, allowed: Allowed) -> Estimate:
            found = exponents.estimate(growth, allowed, log)
            return found if found.allowed is None else replace(found, quantity=power)

        return read

    @property
    def distance(self) -> float:
        """How far the exponent of the false control is from the true one."""
        beside = self.log is not None and str(self.log) != "0"
        return exponents.LOGARITHM_DISTANCE if beside else exponents.CONTROL_DISTANCE

    def beyond(self, sharp: Edge, sign: int) -> Edge:
        """The least that a limit known to the resolution tells apart."""
        return plus(sharp, sign * self.distance)

    def slack(self, sharp: Edge, sign: int) -> Edge:
        """At the sharp exponent itself the ratio decides."""
        return sharp

    def off_target(self) -> Range | None:
        """The false control of an equality of exponents."""
        target = self.range.equals
        return None if target is None else self.range.moved({"equals": plus(target, self.distance)})

    def true_range(self) -> Range | None:
        """The true control's range: of a quantity with the sharp exponent O and Ω are true, and o and ω are not."""
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
