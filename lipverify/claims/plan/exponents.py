r"""How an exponent is judged: the limit along a ray against Omega, O and Theta of s^a."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lipverify.claims.language.form import EQUALITY_RESOLUTION
from lipverify.claims.ledger.verdict import Allowed, Interval
from lipverify.claims.plan.claim import Estimate

if TYPE_CHECKING:
    from lipverify.scaling import Growth

RATIO_RESOLUTION = 0.1
"""The limit of a ratio must be known to this share of itself, beside the exponent (`EQUALITY_RESOLUTION`)."""
POWER_RESOLUTION = 0.05
"""A power of log s is believed if its error is at most this, and twice that away from 0.

Of corrections as slow as s^-0.02 over four decades a power of -0.28 +- 0.21 is seen where there is none; with errors of
0.2 and more alone."""


def estimate(growth: Growth, allowed: Allowed) -> Estimate:
    r"""The interval of the limit exponent.

    At equality with an edge of the allowed range the exponent cannot decide, and the ratio does: if Q / s^a tends to a
    positive constant, Q = Theta(s^a) and the interval is that one exponent. If it does not, and a power of the
    logarithm is clearly seen (n H_n beside n), that power decides: the estimate is of it, and what is allowed is the
    same range of it, with 0 in place of a.
    """
    settled = math.isfinite(growth.error)
    interval = Interval.around(growth.exponent, growth.error) if settled else Interval(None, None)
    if not settled:
        return Estimate(interval, f"the local exponents do not settle; the last is {growth.local_slopes[-1]:.4g}")
    for edge in {end for end in (allowed.low, allowed.high) if end is not None}:
        if abs(growth.exponent - edge) <= growth.error:
            limit, error = growth.limit_of_ratio(edge)
            if growth.error <= EQUALITY_RESOLUTION and error < RATIO_RESOLUTION * limit:
                note = f"at equality: the ratio to s^{edge:.6g} tends to {limit:.6g} ± {error:.1g}"
                return Estimate(Interval(edge, edge), note, shown=interval)
            power, spread = growth.log_power(edge)
            if 2 * spread < abs(power) and spread <= POWER_RESOLUTION:
                note = f"the exponent of s is {edge:.6g}, and the power of log s decides"
                low, high = (0.0 if end == edge else None for end in (allowed.low, allowed.high))
                beside = Allowed(low=low, high=high, open=allowed.open)
                return Estimate(Interval.around(power, spread), note, allowed=beside)
    return Estimate(interval)
