"""Geometric ladders: the points of a ray from which a limit is extrapolated."""

from __future__ import annotations

import math

from lipverify.errors import InvalidInput
from lipverify.foundation.validation import number, whole

__all__ = ["APART", "ASSUMPTION", "BRIEFLY", "LOG_APART", "SHARE", "ladder", "require_long"]

FEWEST_POINTS, MOST_POINTS = 8, 10_000
"""Least and largest number of points of a ladder: fits with corrections need a few points more than unknowns."""
SHARE, APART = 0.9, 0.04
"""The smallest share of the leading term in the sizes of all terms, and the smallest difference of two exponents."""
LOG_APART = 1 / 3
"""The smallest difference between the power of the logarithm in the leading term and that of a claim: over 26 decades
(log s)^0.03 rises by 6 %, which can be mistaken for a constant."""
ASSUMPTION = (
    "if beyond the ladder the local exponents (ratios, powers of the logarithm) stay within the stated error of their "
    "extrapolated limit; those of sums of powers times powers of the logarithm do, unless drifts of both signs cancel "
    "at the end of the ladder"
)
"""The assumption behind every extrapolated limit, printed with its verdict. See `lipverify.scaling`."""
BRIEFLY = "extrapolated, if the trend goes on"
"""The same in one line for the screen; ledger, report and web page print the whole."""


def ladder(start: float, stop: float, points: int | None = None) -> tuple[float, ...]:
    """A geometric ladder, by default of a point a decade and at least 14; points from 1000 on are integers."""
    ends = number("start", start, "the first point"), number("stop", stop, "the last point")
    if not 0 < ends[0] < ends[1]:
        raise InvalidInput(f"start = {start!r}, stop = {stop!r}: a ladder needs 0 < start < stop, both finite.")
    if points is not None:
        whole("points", points, FEWEST_POINTS, "the number of points", MOST_POINTS)
    low, high = math.log10(start), math.log10(stop)
    count = points if points is not None else max(14, round(high - low) + 1)
    require_long(count, stop / start)
    inner = [10 ** (low + k * (high - low) / (count - 1)) for k in range(1, count - 1)]
    return tuple(float(round(s)) if s >= 1e3 else float(s) for s in (start, *inner, stop))


def require_long(points: int, ratio: float) -> None:
    """Refuse a ladder that is too short to decide anything."""
    if points < FEWEST_POINTS:
        raise InvalidInput(f"points = {points}: growth needs at least {FEWEST_POINTS} points on the ladder.")
    if math.log10(ratio) < 2:  # on a shorter one a correction looks like a change of the exponent
        raise InvalidInput(f"stop/start = {ratio:.3g}: the ladder must span 2 decades or more.")
