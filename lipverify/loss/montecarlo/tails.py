r"""Bounds on sums over many tokens of the sphere that are exceeded with negligible probability.

They are much tighter than the extremes over all contexts. The g_i = e^{-w (1 - t_i)} are independent given the query.
The bounded quantities are quotients of sums over them, and exceed c only if another sum is positive:

    sum_i a_i (1 - t_i) > c    =>  sum_i g_i (1 - t_i - c) > 0,
    sum_i a_i^2 > c            =>  sum_i (g_i^2 - 2 a c g_i) + c a^2 > 0   for any a,

as S^2 >= 2 a S - a^2 for S = sum_i g_i. Chernoff's inequality bounds the probability of either by (E e^{lambda Y})^n,
where Y is the term of one token plus, in the second case, c a^2 / n. And the sum of squares is below c only if, for an
interval [a, b] that contains S,

    sum_i a_i^2 < c            =>  sum_i (c (a + b) g_i - g_i^2) - c a b > 0,

as S^2 <= (a + b) S - a b there. Bias samples follow from the first: with |f(x) - f(x')| <= L |x - x'|, by Jensen,

    (sum_i a_i f(x_i) - f(x))^2 <= L^2 sum_i a_i |x_i - x|^2 = 2 L^2 sum_i a_i (1 - t_i).

The probability is so small that its effect on the mean of samples is below rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np

from lipverify.foundation.arrays import Floats

NEVER = 37.0
"""-log of (probability times n): e^-37 is 1e-16, and a sum of squared weights is at least 1/n."""
ORDER, PANELS = 10, 64
"""Order and number of panels of the Gauss rules in the angle; panels grow by a factor sqrt(2) from 0, and are even
around the equator.
"""
ANCHORS = (0.4, 0.6, 0.8, 0.95)
"""a as shares of n E g: a context with few near tokens has the largest squares."""
INTERVALS = 8
"""Number of intervals of S for the smallest sum of squares, between its quantiles e^-`NEVER` / n on both sides."""
HUGE, TINY = 1e300, 1e-300
"""Range of w and of a sum: products with a deficit, and quotients, must be doubles."""
STEPS = 12
"""Number of bisections of log c; the result is the end further from the mean, which is safe."""


@lru_cache(maxsize=256)
def largest_spread(d: int, n: int, w: float, log_chance: float | None = None) -> float:
    """c with P(sum_i a_i (1 - t_i) > c) <= e^-log_chance, by default negligible; 2 is the largest possible value.

    >>> 0.012 < largest_spread(3, 10**5, 100.0) < 0.013  # its mean is 0.01
    True
    """
    near, mass = _tokens(d)
    g = np.exp(-min(w, HUGE) * near)
    if mass @ g * n < 1:  # w so large that a window holds no token
        return 2.0

    def chance(c: float) -> float:
        return _log_chance(g * (near - c), mass, n)

    return _beyond(chance, float(mass @ (g * near) / (mass @ g)), 2.0, _wanted(n, log_chance))


@lru_cache(maxsize=256)
def largest_noise(d: int, n: int, w: float, log_chance: float | None = None) -> float:
    """c with P(sum_i a_i^2 > c) <= e^-log_chance, by default negligible; 1 is the largest possible value.

    >>> 7.9e-4 < largest_noise(3, 10**4, 8.0) < 1.2e-3  # its mean is 8.0e-4
    True
    """
    near, mass = _tokens(d)
    g = np.exp(-min(w, HUGE) * near)
    mean = float(mass @ g)
    if mean * n < 1:
        return 1.0

    def chance(c: float) -> float:
        anchors = (share * n * mean for share in ANCHORS)
        return min(_log_chance(g * g - 2 * a * c * g + c * a * a / n, mass, n) for a in anchors)

    return _beyond(chance, float(mass @ (g * g)) / (n * mean**2), 1.0, _wanted(n, log_chance))


@lru_cache(maxsize=256)
def smallest_noise(d: int, n: int, w: float, log_chance: float | None = None) -> float:
    """c with P(sum_i a_i^2 < c) <= e^-log_chance, by default negligible; 1/n is the smallest possible value.

    >>> 6e-4 < smallest_noise(3, 10**4, 8.0) < 8e-4  # its mean is 8.0e-4
    True
    """
    near, mass = _tokens(d)
    g = np.exp(-min(w, HUGE) * near)
    mean = float(mass @ g)
    if mean * n < 1:
        return 1 / n
    allowed = _wanted(n, log_chance) - math.log(INTERVALS + 2)
    most = _beyond(lambda S: _log_chance(g - S, mass, n), mean, 1.0, allowed)
    least = _beyond(lambda S: _log_chance(S - g, mass, n), mean, max(float(g.min()), TINY), allowed)
    ends = n * np.geomspace(least, most, INTERVALS + 1)

    def chance(c: float) -> float:
        return max(_log_chance(c * ((a + b) * g - a * b / n) - g * g, mass, n) for a, b in pairwise(ends))

    return _beyond(chance, float(mass @ (g * g)) / (n * mean**2), 1 / n, allowed)


@lru_cache(maxsize=16)
def _tokens(d: int) -> tuple[Floats, Floats]:
    """Nodes 1 - t of a token on the sphere, and their shares."""
    x, gauss = np.polynomial.legendre.leggauss(ORDER)
    crowd = math.pi / 2 + np.linspace(-12, 12, 33) / math.sqrt(d)
    edges = np.unique([0.0, *(math.pi * 2.0 ** (-np.arange(PANELS) / 2)), *crowd[(crowd > 0) & (crowd < math.pi)]])
    half = np.diff(edges)[:, None] / 2
    theta = (edges[:-1, None] + half * (1 + x)).ravel()
    mass = (half * gauss).ravel() * np.sin(theta) ** (d - 2)
    return 2 * np.sin(theta / 2) ** 2, mass / np.sum(mass)


def _log_chance(Y: Floats, mass: Floats, n: int) -> float:
    """log of Chernoff's bound on P(sum of n independent Y > 0); 0 if the mean of Y is >= 0."""
    from scipy.optimize import minimize_scalar

    if mass @ Y >= 0:
        return 0.0
    Y, mass = Y[mass > 0], mass[mass > 0]  # in high dimensions the shares near the poles underflow to 0
    size = float(np.max(np.abs(Y)))

    def exponent(log_rate: float) -> float:
        power = math.exp(log_rate) * Y / size
        top = float(np.max(power))
        return n * (top + math.log(float(mass @ np.exp(power - top))))

    minimum = minimize_scalar(exponent, bounds=(-math.log(n) - 12, 12.0), method="bounded", options={"xatol": 0.02})
    return min(0.0, float(minimum.fun))


def _wanted(n: int, log_chance: float | None) -> float:
    """The logarithm of the allowed probability."""
    return -(NEVER + math.log(n) if log_chance is None else log_chance)


def _beyond(chance: Callable[[float], float], mean: float, end: float, allowed: float) -> float:
    """The c nearest to `mean`, or slightly further, at which the log of the probability bound is small enough.

    `end` is the extreme value of c.
    """
    inside, outside = math.log(mean), math.log(end)
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if chance(math.exp(middle)) <= allowed else (middle, outside)
    return math.exp(outside)
