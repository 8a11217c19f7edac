r"""Between what sums over many tokens on the sphere all but always are: bounds that are tighter than the extremes.

A context of many tokens is never as bad as its worst tokens allow. With g_i = e^{-w (1 - t_i)}, independent given the
query, both of what a sample is bounded by are quotients of sums, and exceed c only if a sum is positive:

    sum_i a_i (1 - t_i) > c    =>  sum_i g_i (1 - t_i - c) > 0,
    sum_i a_i^2 > c            =>  sum_i (g_i^2 - 2 a c g_i) + c a^2 > 0   for any a,

as S^2 >= 2 a S - a^2 for S = sum_i g_i. Chernoff bounds the chance of either by (E e^{lambda Y})^n, Y being the term of
one token and c a^2 / n. And the squares are few only if, in the interval [a, b] that S is in,

    sum_i a_i^2 < c            =>  sum_i (c (a + b) g_i - g_i^2) - c a b > 0,

as S^2 <= (a + b) S - a b there. Bias samples follow from the first: with |f(x) - f(x')| <= L |x - x'|, by Jensen,

    (sum_i a_i f(x_i) - f(x))^2 <= L^2 sum_i a_i |x_i - x|^2 = 2 L^2 sum_i a_i (1 - t_i).

The chance is so small that what the mean of samples loses by it is below their rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np

from lipverify.foundation.arrays import Floats

NEVER = 37.0
"""-log of the chance times n: e^-37 is 1e-16, and a sum of squared weights is 1/n at least."""
ORDER, PANELS = 10, 64
"""Gauss rules in the angle, on panels that grow by half of a doubling from 0 on, and evenly about the equator."""
ANCHORS = (0.4, 0.6, 0.8, 0.95)
"""a as shares of n E g: a context with few near tokens has the largest squares."""
INTERVALS = 8
"""Of S, for the least sum of squares: between e^-`NEVER` / n of its chances at either side."""
HUGE, TINY = 1e300, 1e-300
STEPS = 12
"""Bisections of log c; the end farther from the mean stands."""


@lru_cache(maxsize=256)
def largest_spread(d: int, n: int, w: float, log_chance: float | None = None) -> float:
    """c with P(sum_i a_i (1 - t_i) > c) <= e^-log_chance, by default never; 2 is the largest there is.

    >>> 0.012 < largest_spread(3, 10**5, 100.0) < 0.013  # its mean is 0.01
    True
    """
    near, mass = _tokens(d)
    g = np.exp(-min(w, HUGE) * near)
    if mass @ g * n < 1:  # windows without a token
        return 2.0

    def chance(c: float) -> float:
        return _log_chance(g * (near - c), mass, n)

    return _beyond(chance, float(mass @ (g * near) / (mass @ g)), 2.0, _wanted(n, log_chance))


@lru_cache(maxsize=256)
def largest_noise(d: int, n: int, w: float, log_chance: float | None = None) -> float:
    """c with P(sum_i a_i^2 > c) <= e^-log_chance, by default never; 1 is the largest there is.

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
    """c with P(sum_i a_i^2 < c) <= e^-log_chance, by default never; 1/n is the least there is.

    >>> 6e-4 < smallest_noise(3, 10**4, 8.0) < 8e-4  # its mean is 8.0e-4
    True
    """
    near, mass = _tokens(d)
    g = np.exp(-min(w, HUGE) * near)
    mean = float(mass @ g)
    if mean * n < 1:
        return 1 / n
    wanted = _wanted(n, log_chance) - math.log(INTERVALS + 2)
    most = _beyond(lambda S: _log_chance(g - S, mass, n), mean, 1.0, wanted)
    least = _beyond(lambda S: _log_chance(S - g, mass, n), mean, max(float(g.min()), TINY), wanted)
    ends = n * np.geomspace(least, most, INTERVALS + 1)

    def chance(c: float) -> float:
        return max(_log_chance(c * ((a + b) * g - a * b / n) - g * g, mass, n) for a, b in pairwise(ends))

    return _beyond(chance, float(mass @ (g * g)) / (n * mean**2), 1 / n, wanted)


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
    """log of Chernoff's bound on P(sum of n independent Y > 0); 0 where the mean of Y is no less than 0."""
    from scipy.optimize import minimize_scalar

    if mass @ Y >= 0:
        return 0.0
    Y, mass = Y[mass > 0], mass[mass > 0]  # in high dimensions the shares near the poles underflow
    size = float(np.max(np.abs(Y)))

    def exponent(log_rate: float) -> float:
        power = math.exp(log_rate) * Y / size
        top = float(np.max(power))
        return n * (top + math.log(float(mass @ np.exp(power - top))))

    found = minimize_scalar(exponent, bounds=(-math.log(n) - 12, 12.0), method="bounded", options={"xatol": 0.02})
    return min(0.0, float(found.fun))


def _wanted(n: int, log_chance: float | None) -> float:
    """The logarithm of the chance that is allowed."""
    return -(NEVER + math.log(n) if log_chance is None else log_chance)


def _beyond(chance: Callable[[float], float], mean: float, end: float, wanted: float) -> float:
    """The c nearest to `mean`, or a little farther, of which the bound on the logarithm of the chance is small enough.

    `end` is the farthest that there is.
    """
    inside, outside = math.log(mean), math.log(end)
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if chance(math.exp(middle)) <= wanted else (middle, outside)
    return math.exp(outside)
