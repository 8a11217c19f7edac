r"""Cells that decide an asymptotic claim on the limit exponent of a growth."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import sympy

from lipverify.claims.claim import CellPlan, Reading, Task, exponent_at
from lipverify.claims.verdict import Allowed, Interval
from lipverify.scaling import Growth

Side = Literal["lower", "upper", "theta"]
SIGN = {"lower": "≥", "upper": "≤", "theta": "="}

EQUALITY_RESOLUTION = 0.02
"""Exponents may be called equal only if the measured one is known to this much, and ..."""
RATIO_RESOLUTION = 0.1
"""... the limit of the ratio to this share of itself."""


def allowed_exponents(side: Side, claimed: float) -> Allowed:
    """Omega(s^a) allows limit exponents >= a, O(s^a) those <= a, Theta(s^a) a alone."""
    return Allowed(
        low=claimed if side in ("lower", "theta") else None,
        high=claimed if side in ("upper", "theta") else None,
    )


def read_exponent(growth: Growth, allowed: Allowed) -> Reading:
    """The interval of the limit exponent.

    At equality with an edge of the allowed range the exponent cannot decide, and the ratio does: if
    Q / s^edge tends to a positive constant, Q = Theta(s^edge) and the interval is that one exponent.
    """
    interval = Interval.around(growth.exponent, growth.error)
    for edge in {end for end in (allowed.low, allowed.high) if end is not None}:
        if abs(growth.exponent - edge) <= growth.error <= EQUALITY_RESOLUTION:
            limit, error = growth.limit_of_ratio(edge)
            if error < RATIO_RESOLUTION * limit:
                note = f"at equality: the ratio to s^{edge:.6g} tends to {limit:.6g} ± {error:.1g}"
                return Reading(Interval(edge, edge), note, shown=interval)
    return Reading(interval)


def scaling_cell(
    task: Task,
    pick: Callable[[Any], Growth],
    quantity: str,
    side: Side,
    claimed: sympy.Expr,
    control: sympy.Expr,
    d: int,
    **where: str,
) -> CellPlan:
    """One dimension of an asymptotic claim; `pick` takes the growth in question out of the task's result."""
    value, twin = exponent_at(claimed, d), exponent_at(control, d)
    return CellPlan(
        where={"d": d, **where},
        task=task,
        quantity=quantity,
        read=lambda result, allowed: read_exponent(pick(result), allowed),
        claimed=f"{SIGN[side]} {_fraction(value)}",
        allowed=allowed_exponents(side, value),
        control=allowed_exponents(side, twin),
    )


def _fraction(value: float) -> str:
    """A rational exponent as a fraction."""
    exact = sympy.nsimplify(value, rational=True, tolerance=1e-12)
    return str(exact) if exact.q < 1000 and math.isfinite(value) else f"{value:.6g}"
