r"""The panels of the integrals: plain floats, on which no value depends in the limit.

A Gauss-Legendre rule on each panel converges wherever the cuts are; good cuts only make it converge fast. Two scales
decide. A token contributes through exp(-lambda g) with g = e^{-tau}, tau = w (1 - t): a step of width 1 in tau around
tau = u, where u = log lambda, and a tail e^{-tau} beyond it. The outer integrand changes by 1 in u near u = 0 and u =
2w, and slowly between.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

NARROWEST = 0.3
"""No panel of u = log lambda needs to be narrower: the integrand changes on a scale of one."""


def angle(tau: float, w: float) -> float:
    """The angle theta at which w (1 - cos theta) = tau; 0 <= tau <= 2w."""
    return 2 * math.asin(math.sqrt(min(tau / (2 * w), 1.0)))


def inside(points: Iterable[float], low: float, high: float, gap: float | None = None) -> list[float]:
    """The points inside (low, high), in order and at least `gap` apart, between the two ends."""
    gap = 1e-7 * (high - low) if gap is None else gap
    chosen = [low]
    for point in sorted(points):
        if point - chosen[-1] > gap and high - point > gap:
            chosen.append(point)
    return [*chosen, high]


def geometric(start: float, ratio: float, end: float) -> list[float]:
    """start, start ratio, start ratio^2, ... as long as it is below end."""
    count = max(0, math.ceil(math.log(end / start, ratio)))
    return [start * ratio**k for k in range(count)]


def from_both_ends(w: float, ratio: float) -> list[float]:
    """Points of tau (or u) in (0, 2w) that thin out geometrically away from both ends."""
    steps = geometric(0.5, ratio, w) if w > 0.5 else []
    return [0.0, *steps, w, *(2 * w - step for step in steps), 2 * w]


def bisect(rises_above: Callable[[float], bool], low: float, high: float) -> float:
    """The point in [low, high] where the predicate becomes true, to 1e-2: only a panel edge."""
    while high - low > 1e-2:
        middle = (low + high) / 2
        low, high = (low, middle) if rises_above(middle) else (middle, high)
    return high


def outer_panels(
    w: float, exponent: Callable[[float], float], *, decades: float, pieces: int, ratio: float
) -> list[float]:
    r"""Panels of u = log lambda for an integrand that is negligible where phi^n is.

    `exponent(u)` is -n log phi(e^u), increasing. The integrand falls like e^{2u} below u = 0 and below the point where
    the exponent is 1, like e^{-exponent} above it, and is doubly exponentially small above u = 2w; it is cut where it
    has fallen by `decades` powers of ten.
    """
    nats = decades * math.log(10)
    top = 2 * w + math.log(nats) + 1
    rise = bisect(lambda u: exponent(u) > 1, -200.0, top)
    end = bisect(lambda u: exponent(u) > nats, rise, top)
    low = min(rise, 0.0) - nats / 2
    scales = [min(rise, 0.0) - 1.5 * 2**k for k in range(6)]
    fall = [rise + (end - rise) * k / pieces for k in range(pieces)]
    beyond = [2 * w + 1, 2 * w + 2.5]
    return inside((*scales, *fall, *from_both_ends(w, ratio), *beyond), low, end, gap=NARROWEST)
