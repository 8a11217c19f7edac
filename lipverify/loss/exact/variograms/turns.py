r"""The mean product of two increments of ReLU, given both tokens' angles from the query.

With V the variogram of (z)_+ (see `closed`), v = 1 - cos theta and C(theta) = sin theta - theta cos theta,

    G(theta, theta') = E (f(x_i) - f(x)) (f(x_j) - f(x)) = (V(theta) + V(theta') - E_beta V(theta_ij)) / 2
                     = (v v' - (C(theta) + C(theta') - M) / pi) / d,  M = E_beta C(theta_ij),
    sin^2(theta_ij / 2) = sin^2(A / 2) + (sin^2(B / 2) - sin^2(A / 2)) sin^2(beta / 2),

where A = theta' - theta and B = min(theta + theta', 2 pi - theta - theta') are the smallest and largest angle between
two tokens, and the turn beta is the difference of their azimuths around the query. M does not depend on n or w, so it
is tabulated once for a dimension.

M(A, B) is analytic except where A or B is 0 or pi. There it behaves like a power of the distance; if both are near the
same end, it is a homogeneous function of both distances. In units of pi/2, with squares x^2 and y^2, a patch has

    B = x^2, A = x^2 y^2              if both are near 0,
    pi - A = x^2, pi - B = x^2 y^2    if both are near pi,
    pi - B = x^2, A = y^2             otherwise; this patch is halved at x = 1/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Floats
from lipverify.foundation.sphere import half_beta, versine
from lipverify.loss.exact.quadrature import chebyshev_points, chebyshev_values, to_coefficients
from lipverify.loss.exact.variograms.closed import sine_less_cosine
from lipverify.loss.exact.variograms.pieces import ROUNDING, SAFETY
from lipverify.loss.exact.variograms.table import CHECKS
from lipverify.loss.work import spend

FEW_PAIRS, BLOCK, FEW = 64, 2048, 192
"""Numbers of pairs at a time: arrays fit in a processor's cache, and products are too small for several threads."""
SIZES = (28, 40)
"""Numbers of coefficients of a patch in x and y."""
RANGES = ((0.0, 1.0), (0.0, 1.0), (0.0, 0.5), (0.5, 1.0))
"""The patches' x: both angles near 0, both near pi, and the halves of the other patch."""
BETWEEN = np.array([0.003, 0.03, *CHECKS, 0.93, 0.997])
"""Points of a patch at which it is compared with values by another rule."""


def mean_product(d: int, near: Floats, which: NDArray[np.intp], both: Floats, sine: Floats) -> tuple[Floats, Floats]:
    """G for tokens at angles (2, pair), the nearer one near[which], from the query, and its error without rounding."""
    # half of the difference by its `sine`; elsewhere C and M are of order theta^3, and little of it cancels
    apart, together = 2 * np.arcsin(sine), np.sum(both, axis=0)
    mean, off = turns(d)(apart, np.minimum(together, 2 * math.pi - together))
    product = versine(near)[which] * versine(both[1])
    rest = sine_less_cosine(near)[which] + sine_less_cosine(both[1]) - mean
    # angles near pi have an absolute error of eps
    return (product - rest / math.pi) / d, (off + ROUNDING * _size(both[1])) / (math.pi * d)


@dataclass(frozen=True)
class Turns:
    """M divided by the size of C at B: coefficients (x, y) of each patch, and bounds on their errors."""

    coefficients: tuple[Floats, ...]
    gaps: Floats

    def __call__(self, apart: Floats, together: Floats) -> tuple[Floats, Floats]:
        """M, and a bound on its error."""
        patch, x, y = _coordinates(apart, together)
        value = np.empty_like(apart)
        for number, (coefficients, (low, high)) in enumerate(zip(self.coefficients, RANGES, strict=True)):
            pairs = np.flatnonzero(patch == number)
            for start in range(0, pairs.size, BLOCK):
                some = pairs[start : start + BLOCK]
                across = chebyshev_values((2 * x[some] - low - high) / (high - low), coefficients.shape[0])
                along = chebyshev_values(2 * y[some] - 1, coefficients.shape[1])
                for first in range(0, some.size, FEW):
                    few = slice(first, first + FEW)
                    value[some[few]] = np.einsum("kp,kp->p", coefficients.T @ across[:, few], along[:, few])
        size = _size(together)
        return value * size, self.gaps[patch] * size


def _on_the_circle(apart: Floats, together: Floats) -> tuple[Floats, Floats]:
    """M, which is exact, because a turn is 0 or pi."""
    return (sine_less_cosine(apart) + sine_less_cosine(together)) / 2, np.zeros_like(apart)


@lru_cache(maxsize=32)
def turns(d: int) -> Callable[[Floats, Floats], tuple[Floats, Floats]]:
    """M as a function of A and B for a dimension, by a table, and a bound on its error."""
    if d == 2:
        return _on_the_circle
    x, y = ((1 + chebyshev_points(size)) / 2 for size in SIZES)
    coefficients, gaps = list[Floats](), list[float]()
    for number in range(len(RANGES)):
        values = np.reshape(_values(d, number, x, y, 22)[2], SIZES)
        fit = to_coefficients(SIZES[0]) @ values @ to_coefficients(SIZES[1]).T
        tail = float(max(np.max(np.abs(fit[-3:])), np.max(np.abs(fit[:, -3:]))))
        coefficients.append(fit)
        gaps.append(SAFETY * tail + ROUNDING * float(np.max(np.abs(fit))))
    table = Turns(tuple(coefficients), np.zeros(len(RANGES)))
    for number in range(len(RANGES)):
        apart, together, values = _values(d, number, BETWEEN, BETWEEN, 30)
        gaps[number] += SAFETY * float(np.max(np.abs(table(apart, together)[0] / _size(together) - values)))
    return Turns(table.coefficients, np.array(gaps))


def _values(d: int, number: int, x: Floats, y: Floats, order: int) -> tuple[Floats, Floats, Floats]:
    """A, B, and M over its size by a rule on the grid of x, as shares of a patch, and y, flat."""
    low, high = RANGES[number]
    first, second = np.repeat(low + (high - low) * x, y.size) ** 2, np.tile(y, x.size) ** 2
    shares = ((first * second, first), (2 - first, 2 - first * second), (second, 2 - first))[min(number, 2)]
    apart, together = (math.pi / 2 * share for share in shares)
    return apart, together, mean_over_turns(d, apart, together, order) / _size(together)


def _coordinates(apart: Floats, together: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """The number of the patch, x and y of A and B."""
    ends = np.stack([together, math.pi - apart, math.pi - together, math.pi - together]) * 2 / math.pi
    least = np.stack([apart, math.pi - together, apart, apart]) * 2 / math.pi
    patch = np.where(together <= math.pi / 2, 0, np.where(apart >= math.pi / 2, 1, 2))
    row = np.arange(apart.size)
    first, second = ends[patch, row], least[patch, row]
    same = patch < 2
    second = np.divide(second, first, out=np.where(same, 1.0, second), where=same & (first > 0))
    x, y = (np.sqrt(np.clip(part, 0, 1)) for part in (first, second))
    return np.where((patch == 2) & (x > RANGES[2][1]), 3, patch), x, y


def _size(together: Floats) -> Floats:
    """A function of which M is a bounded multiple: C is of the third order."""
    return versine(together) * together


def mean_over_turns(d: int, nearest: Floats, farthest: Floats, order: int) -> Floats:
    """M for tokens at angles between `nearest` and `farthest` <= pi from each other, flat, by a rule over beta."""
    z, weight = _rule(d, order)
    ratio = np.exp(-2 * z)
    share = 1 / (1 + ratio)  # sin^2(beta/2)
    rest_share = ratio * share  # cos^2(beta/2)
    weight = (4 * share * rest_share) ** ((d - 2) / 2) / half_beta(d - 2) * weight
    spend(z.size * nearest.size, 120.0, "means over pairs of tokens")
    means = np.empty_like(nearest)
    for start in range(0, nearest.size, FEW_PAIRS):
        some = slice(start, start + FEW_PAIRS)
        near, far = nearest[some, None], farthest[some, None]
        reach, far_square = np.sin((far - near) / 2) * np.sin((far + near) / 2), np.cos(far / 2) ** 2
        angle = 2 * np.arctan2(np.sqrt(versine(near) / 2 + reach * share), np.sqrt(far_square + reach * rest_share))
        first, last = sine_less_cosine(near), sine_less_cosine(far)
        # minus an interpolation of both ends, whose mean is half of their sum
        between = sine_less_cosine(angle) - first * rest_share - last * share
        means[some] = (first + last)[:, 0] / 2 + between @ weight
    return means


def _rule(d: int, order: int) -> tuple[Floats, Floats]:
    """Nodes and weights in z, tan(beta/2) = e^z, where all singularities of a mean over beta are at |Im z| = pi/2."""
    # the density is cosh^{2-d}(z), and what it multiplies falls like e^{-2 |z|}
    end = math.acosh(math.exp(30 / d))
    # the error is e^{-2 pi a / step} cos^{2-d}(a), as on the lines |Im z| = a, at the best a
    a = np.linspace(0.01, 0.99, 99) * math.pi / 2
    step = float(np.max(2 * math.pi * a / (1.8 * order - (d - 2) * np.log(np.cos(a)))))
    z = step * (np.arange(2 * math.ceil(end / step)) + 0.5 - math.ceil(end / step))
    return np.asarray(z), np.full(z.size, step)
