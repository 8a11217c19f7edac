r"""The only place where a verdict is made.

A measurement is an interval that contains the truth; a claim allows a set of values. The interval
is inside the set (supported), outside it (refuted), or across its edge (inconclusive). Narrowing
the interval can decide an open case and can never overturn a decided one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

import msgspec

Verdict = Literal["supported", "refuted", "inconclusive", "error"]
VERDICTS: tuple[Verdict, ...] = ("supported", "refuted", "inconclusive", "error")


class Interval(msgspec.Struct, frozen=True):
    """A closed interval that contains the measured quantity; `None` is unbounded on that side.

    Attributes
    ----------
    low, high
        Ends in units of the quantity; None is unbounded.
    """

    low: float | None
    high: float | None

    @classmethod
    def around(cls, value: float, error: float) -> Interval:
        """The interval value ± error.

        >>> Interval.around(1.0, 0.5)
        Interval(low=0.5, high=1.5)
        """
        return cls(value - error, value + error)

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends as floats, infinite where unbounded."""
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return low, high


class Allowed(msgspec.Struct, frozen=True):
    """The values that a claim allows: a closed or open range; `None` is unbounded on that side.

    Attributes
    ----------
    low, high
        Ends in units of the quantity; None is unbounded.
    open
        True if the ends themselves are excluded.
    """

    low: float | None = None
    high: float | None = None
    open: bool = False

    @classmethod
    def near(cls, value: float, share: float) -> Allowed:
        """The values within a relative distance `share` of `value`.

        >>> Allowed.near(-2.0, 0.5)
        Allowed(low=-3.0, high=-1.0, open=False)
        """
        return cls(low=value - share * abs(value), high=value + share * abs(value))

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends as floats, infinite where unbounded."""
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return low, high


def contains(wide: Allowed, narrow: Allowed) -> bool:
    """True if the first range contains the second.

    >>> contains(Allowed(low=0.0), Allowed(low=1.0)), contains(Allowed(low=0.0, open=True), Allowed(low=0.0))
    (True, False)
    """
    (low, high), (least, most) = wide.ends, narrow.ends
    closed = wide.open and not narrow.open
    return (low < least or (low == least and not (closed and math.isfinite(low)))) and (
        most < high or (most == high and not (closed and math.isfinite(high)))
    )


def decide(measured: Interval, allowed: Allowed) -> Verdict:
    """The verdict on one measurement.

    An interval or a range that is not a number, or is reversed, is an `error`: it is never
    silently compared. At the edge of a closed range the interval must not cross it.

    >>> decide(Interval(0.4, 0.5), Allowed(low=0.3))
    'supported'
    >>> decide(Interval(0.1, 0.2), Allowed(low=0.3))
    'refuted'
    >>> decide(Interval(0.2, 0.4), Allowed(low=0.3))
    'inconclusive'
    >>> decide(Interval(float("nan"), 0.4), Allowed(low=0.3))
    'error'
    """
    low, high = measured.ends
    allowed_low, allowed_high = allowed.ends
    if not (low <= high and allowed_low <= allowed_high):
        return "error"
    if allowed.open:
        inside = allowed_low < low and high < allowed_high
        outside = high <= allowed_low or low >= allowed_high
    else:
        inside = allowed_low <= low and high <= allowed_high
        outside = high < allowed_low or low > allowed_high
    if inside:
        return "supported"
    return "refuted" if outside else "inconclusive"


def margin(measured: Interval, allowed: Allowed) -> float | None:
    """Signed distance from the interval to the edge of the allowed range, in the quantity's units.

    Positive: the interval is that far inside. Negative: it is that far outside. Between: the
    interval crosses the edge and the margin is 0. `None`: nothing bounds the range.

    >>> round(margin(Interval(0.4, 0.5), Allowed(low=0.3)), 9)
    0.1
    >>> round(margin(Interval(0.1, 0.2), Allowed(low=0.3)), 9)
    -0.1
    """
    low, high = measured.ends
    allowed_low, allowed_high = allowed.ends
    inside = min(low - allowed_low, allowed_high - high)
    outside = max(allowed_low - high, low - allowed_high)
    distance = inside if inside > 0 else -outside if outside > 0 else 0.0
    return distance if math.isfinite(distance) else None


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on a claim from the verdicts of its cells.

    A claim over several cells is refuted if any cell refutes it, supported only if every cell
    supports it; a broken cell is an error before all else, and no evidence supports nothing.

    >>> combine(["supported", "refuted", "inconclusive"])
    'refuted'
    >>> combine([])
    'inconclusive'
    """
    seen = set(verdicts)
    for verdict in ("error", "refuted", "inconclusive", "supported"):
        if verdict in seen:
            return verdict
    return "inconclusive"


OTHER_WAY: dict[Verdict, Verdict] = {"supported": "refuted", "refuted": "supported"}


def caught(cell: Verdict, control: Verdict) -> bool:
    """True if the control of a cell came out the other way; the control of an undecided cell must be refuted.

    >>> caught("supported", "refuted"), caught("refuted", "supported"), caught("refuted", "refuted")
    (True, True, False)
    """
    return control == OTHER_WAY.get(cell, "refuted")


def settled(cell: Verdict, control: Verdict) -> Verdict:
    """The verdict on a cell once its control is known: it decides nothing unless the control comes out the other way.

    A control that does not come out the other way has shown no power to tell true from false.

    >>> settled("supported", "refuted"), settled("supported", "supported"), settled("error", "refuted")
    ('supported', 'inconclusive', 'error')
    """
    return cell if cell == "error" or caught(cell, control) else "inconclusive"


def conclude(cells: Iterable[Verdict], agreed: Iterable[bool]) -> Verdict:
    """The verdict on a claim from its settled cells and from whether its methods agree.

    Where two methods disagree, nothing is decided.

    >>> conclude(["supported", "refuted"], []), conclude(["refuted"], [False])
    ('refuted', 'inconclusive')
    """
    verdict = combine(cells)
    return verdict if verdict == "error" or all(agreed) else "inconclusive"
