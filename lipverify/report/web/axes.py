"""Axes of a drawing on screen: the positions of values and ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import count

import msgspec

from lipverify.report import digits
from lipverify.report.figures import FLAT, LEVEL
from lipverify.report.web.markup import Markup, element, join

_MARGIN = 0.05
"""Share of an axis that stays free beyond the first and the last value."""
_DECADES = 3
"""Least number of decades of a log axis without ticks between powers of ten."""
_TICKS = 5
"""Approximate number of ticks on an axis."""


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """One axis: `low` and `high` are its ends (of the decimal logarithm where `log`), drawn at `start` and `end`."""

    log: bool
    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """The position of a value on screen; a value beyond the axis is moved to its end."""
        known = value > 0 or not self.log
        inner = (math.log10(value) if self.log else value) if known else -math.inf
        return self.start + (min(max(inner, self.low), self.high) - self.low) * self._unit

    @property
    def _unit(self) -> float:
        """The length of one unit, or one decade, on screen."""
        return (self.end - self.start) / (self.high - self.low)

    @property
    def ticks(self) -> list[tuple[float, Markup]]:
        """The positions and labels of the ticks."""
        span = self.high - self.low
        if self.log and span >= _DECADES:
            step = max(1, math.ceil(span / _TICKS))
            decades = range(math.ceil(self.low / step) * step, math.floor(self.high) + 1, step)
            return [(self.start + (k - self.low) * self._unit, _power(k)) for k in decades]
        ends = (10.0**self.low, 10.0**self.high) if self.log else (self.low, self.high)
        values = within_decades(*ends) if self.log and span >= 1 else round_values(*ends)
        return [(self.place(value), join(digits.number(value, digits=6))) for value in values]


def axis(values: Iterable[float], *, log: bool, start: float, end: float) -> Axis:
    """An axis for given values. A level does not fill it, and values without a position on it are skipped."""
    known = [value for value in values if has_place(value, log)]
    inner = [math.log10(value) for value in known] if log else known
    low, high = min(inner, default=0.0), max(inner, default=1.0)
    least = 2 * math.log10(LEVEL) if log else 2 * FLAT * max(abs(low), abs(high))
    flat = high - low < (math.log10(1 + 4 * FLAT) if log else least)
    middle, half = (low + high) / 2, (least if flat else high - low) / 2 or 1.0
    return Axis(
        log=log, low=middle - half * (1 + 2 * _MARGIN), high=middle + half * (1 + 2 * _MARGIN), start=start, end=end
    )


def has_place(value: float, log: bool) -> bool:
    """True if an axis has a position for a value: it is finite, and positive on a log axis."""
    return math.isfinite(value) and (value > 0 or not log)


def round_values(low: float, high: float) -> list[float]:
    """About five multiples of 1, 2 or 5 times a power of ten between two values.

    >>> round_values(0.13, 0.98)
    [0.2, 0.4, 0.6, 0.8]
    """
    rough = (high - low) / _TICKS
    power = math.floor(math.log10(rough))
    factor = next(each for each in (1, 2, 5, 10) if each * 10.0**power >= rough * (1 - 1e-9))
    first = math.ceil(low / (factor * 10.0**power) - 1e-9)
    found: list[float] = []
    for k in count(first):
        value = float(f"{k * factor}e{power}")
        if value > high or len(found) > 4 * _TICKS:
            return found
        found.append(value)
    raise AssertionError("numbers do not end")


def within_decades(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten between two values, or 1 and 3 times if these are too many.

    >>> within_decades(0.3, 4), within_decades(0.3, 90)
    ([0.5, 1.0, 2.0], [0.3, 1.0, 3.0, 10.0, 30.0])
    """
    factors = (1, 2, 5) if high < 50 * low else (1, 3)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [value for power in powers for k in factors if low <= (value := float(f"{k}e{power}")) <= high]


def _power(exponent: int) -> Markup:
    """A power of ten as text; 1 and 10 are plain."""
    if exponent in (0, 1):
        return join(str(10**exponent))
    return join(("10", element("tspan", digits.number(float(exponent)), dy="-0.45em", font_size="0.75em")))
