r"""Means over the turn beta, the difference of two tokens' azimuths around the query, in a regular coordinate.

    M = E_beta R(theta_ij),  sin^2(theta_ij / 2) = sin^2(A / 2) + (sin^2(B / 2) - sin^2(A / 2)) sin^2(beta / 2),

for tokens at angles between A and B from each other; R is V minus its linear part.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.angles import versine
from lipverify.foundation.arrays import Floats
from lipverify.foundation.gammas import half_beta
from lipverify.loss.exact.quadrature.rules import split_rule
from lipverify.loss.exact.variograms.table import Variogram
from lipverify.loss.work import spend

SHARPNESS, TAIL = 1.8, 30.0
"""Error exponent of the rule in z divided by its order, and error exponent of the truncation at its end."""
PANEL, DENSE = 0.9, 3.0
"""Panel width of a rule in z that is split at crossings: at most PANEL, and at most DENSE / sqrt(d), because the
density has singularities of order d - 2. An edge within half a panel of a crossing is moved to it, so that the
crossing is not just outside a panel."""
TANH = 1 - 1e-15
"""The largest hyperbolic tangent that is inverted: a crossing beyond z = 17.6 is outside every rule."""
BLOCK = 64
"""Number of pairs at a time, so that arrays fit in a processor's cache."""
TURN = 120.0
"""Nanoseconds per node over a turn."""


def mean_over_turns(variogram: Variogram, nearest: Floats, farthest: Floats, order: int) -> Floats:
    """M for tokens at angles between `nearest` and `farthest` <= pi from each other, flat, by a rule over beta."""
    blocks = (slice(i, i + BLOCK) for i in range(0, nearest.size, BLOCK))
    means = [_means(variogram, nearest[block], farthest[block], order) for block in blocks]
    return np.concatenate([np.empty(0), *means])


def _means(variogram: Variogram, nearest: Floats, farthest: Floats, order: int) -> Floats:
    """M for a few pairs."""
    d, rest = variogram.d, variogram.beyond_linear
    squares = versine(nearest) / 2
    lever = np.sin((farthest - nearest) / 2) * np.sin((farthest + nearest) / 2)
    ends = rest(nearest), rest(farthest)
    inside = [m for m in variogram.meetings if np.any((nearest < m) & (m < farthest))]
    crossings = [
        np.arctanh(np.clip(2 * (math.sin(m / 2) ** 2 - squares) / np.maximum(lever, 1e-300) - 1, -TANH, TANH))
        for m in inside
    ]
    if crossings:
        row, z, weight = crossed_rule(d, order, np.stack(crossings, axis=1), variogram.power)
        first, last, low, reach = ends[0][row], ends[1][row], squares[row], lever[row]
        far_square = np.cos(farthest / 2)[row] ** 2
    else:
        z, weight = plain_turns(d, order, variogram.power)
        first, last, low, reach = (part[:, None] for part in (*ends, squares, lever))
        far_square = np.cos(farthest / 2)[:, None] ** 2
    spend(z.size * (1 if crossings else nearest.size), TURN, "means over pairs of tokens")
    ratio = np.exp(-2 * z)
    share = 1 / (1 + ratio)  # sin^2(beta/2)
    rest_share = ratio * share  # cos^2(beta/2)
    angle = 2 * np.arctan2(np.sqrt(low + reach * share), np.sqrt(far_square + reach * rest_share))
    # minus an interpolation of both ends, whose mean is half of their sum
    between = rest(angle) - first * rest_share - last * share
    weight = (4 * share * rest_share) ** ((d - 2) / 2) / half_beta(d - 2) * weight
    total = np.bincount(row, between * weight, minlength=nearest.size) if crossings else between @ weight
    return np.asarray((ends[0] + ends[1]) / 2 + total)


def _end(d: int, power: int) -> float:
    """The z beyond which the integrand, with density cosh^{2-d}(z) and a factor e^{-power |z|}, is negligible."""
    return math.acosh(math.exp(TAIL / (d - 2 + power)))


@cache
def plain_turns(d: int, order: int, power: int) -> tuple[Floats, Floats]:
    """Nodes and weights in z, tan(beta/2) = e^z, where all singularities of a mean over beta are at |Im z| = pi/2."""
    end = _end(d, power)
    # the error is e^{-2 pi a / step} cos^{2-d}(a), as on the lines |Im z| = a, at the best a
    a = np.linspace(0.01, 0.99, 99) * math.pi / 2
    step = float(np.max(2 * math.pi * a / (SHARPNESS * order - (d - 2) * np.log(np.cos(a)))))
    z = step * (np.arange(2 * math.ceil(end / step)) + 0.5 - math.ceil(end / step))
    return np.asarray(z), np.full(z.size, float(step))


def crossed_rule(d: int, order: int, crossings: Floats, power: int) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Rows, nodes and weights in z, split at the crossings, (row, crossing)."""
    end = _end(d, power)
    panels = 2 * math.ceil(end / min(PANEL, DENSE / math.sqrt(d)))
    fixed = np.linspace(-end, end, panels + 1)
    crossings = np.clip(crossings, -end, end)
    edges = np.broadcast_to(fixed, (len(crossings), fixed.size))
    for crossing in crossings.T[..., None]:
        edges = np.where((np.abs(fixed - crossing) < end / panels) & (np.abs(fixed) < end), crossing, edges)
    singular = np.concatenate([edges != fixed, np.ones(crossings.shape, dtype=bool)], axis=1)
    return split_rule(np.concatenate([edges, crossings], axis=1), singular, order)
