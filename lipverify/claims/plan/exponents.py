r"""How an exponent is judged: the limit along a ray against Omega, O and Theta of s^a, or of s^a (log s)^b."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lipverify.claims.language.form import EQUALITY_RESOLUTION
from lipverify.claims.ledger.verdict import Allowed, Interval
from lipverify.claims.plan.claim import Estimate

if TYPE_CHECKING:
    from lipverify.scaling import Growth

Value = tuple[float, float]
RATIO_RESOLUTION = 0.1
"""The limit of a ratio must be known to this share of itself, beside the exponent (`EQUALITY_RESOLUTION`)."""
POWER_RESOLUTION = 0.05
"""A power of log s that no claim speaks of is believed if its error is at most this, and twice that away from 0.

Of corrections as slow as s^-0.02 over four decades a power of -0.28 +- 0.21 is seen where there is none; with errors of
0.2 and more alone."""


def estimate(growth: Growth, allowed: Allowed, log: float | None = None) -> Estimate:
    r"""The interval of the limit exponent.

    At equality with an edge of the allowed range the exponent cannot decide, and the ratio does: if Q / (s^a (log s)^b)
    tends to a positive constant, Q = Theta(s^a (log s)^b) and the interval is that one exponent. If it does not, and
    the claim speaks of a power of the logarithm, or one is clearly seen (n H_n beside n), the measured power decides:
    the estimate is of that power, and what is allowed is the same range of it.
    """
    settled = math.isfinite(growth.error)
    interval = Interval.around(growth.exponent, growth.error) if settled else Interval(None, None)
    if log is None and not settled:
        return Estimate(interval, f"the local exponents do not settle; the last is {growth.local_slopes[-1]:.4g}")
    for edge in {end for end in (allowed.low, allowed.high) if end is not None}:
        if log is not None:
            power, error = growth.log_power(edge)
            if math.isfinite(error):
                return _beside_logarithm(growth, edge, log, (power, error), allowed)
        elif abs(growth.exponent - edge) <= growth.error:
            limit, error = growth.limit_of_ratio(edge)
            if growth.error <= EQUALITY_RESOLUTION and error < RATIO_RESOLUTION * limit:
                note = f"at equality: the ratio to s^{edge:.6g} tends to {limit:.6g} ± {error:.1g}"
                return Estimate(Interval(edge, edge), note, shown=interval)
            power, spread = growth.log_power(edge)
            if 2 * spread < abs(power) and spread <= POWER_RESOLUTION:
                return _beside_logarithm(growth, edge, 0.0, (power, spread), allowed)
    return Estimate(interval)


def _beside_logarithm(growth: Growth, edge: float, log: float, power: Value, allowed: Allowed) -> Estimate:
    """The power of the logarithm of a quantity of order s^edge (log s)^power: it is what is measured and judged."""
    measured, error = power
    beside = Allowed(
        low=log if allowed.low == edge else None, high=log if allowed.high == edge else None, open=allowed.open
    )
    note = f"the exponent of s is {edge:.6g}, and the power of log s decides"
    found = Interval.around(measured, error)
    if abs(measured - log) <= error:
        limit, spread = growth.limit_of_ratio(edge, log)
        if spread < RATIO_RESOLUTION * limit:
            note += f"; the ratio to s^{edge:.6g} (log s)^{log:.6g} tends to {limit:.6g} ± {spread:.1g}"
            return Estimate(Interval(log, log), note, shown=found, allowed=beside)
    return Estimate(found, note, allowed=beside)
