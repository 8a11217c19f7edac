"""Forms of a value at a point: bounds on it, and an identity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from lipverify.claims.language.forms.form import Form
from lipverify.claims.language.range import Range
from lipverify.claims.ledger.verdict import Interval
from lipverify.claims.plan.claim import Estimate


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
