r"""The variogram of a continuous link with roots |z - a|^s, s > 1, from that of its derivative.

For a continuous link in dimension d, dK/dt is 1/d of the covariance of its derivative in dimension d + 2. So

    V(theta) = (2/d) E_{d+2} h'^2 (1 - cos theta) - (1/d) int_0^theta V'(s) sin s ds,

V' the variogram of h' in dimension d + 2: nothing cancels in the rest, which the loss needs where V is nearly linear.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.polynomial import chebyshev

from lipverify.loss.exact.quadrature import (
    CONCENTRATION,
    Graded,
    chebyshev_points,
    on_panels,
    root_rule,
    to_coefficients,
)
from lipverify.loss.exact.variograms.planes import Link

NEAREST = 48
"""Panels are halved this often towards a kink, up to rounding; towards an end without a root a few times."""
FAR, NEAR, CALM, BENT = 2.0**-6, 2.0**-26, 4e-6, 1.5e-3
"""Distances from a kink, with their mean 2^-16, at which a derivative is finite if its changes fall; what rounding may
hide of it; and the share of the first change above which the second derivative is infinite."""


@lru_cache(maxsize=32)
def derivative(link: Link, kinks: tuple[float, ...], size: int) -> Link:
    """h' by polynomials with `size` coefficients on panels that halve towards every kink."""
    ends, halves = sorted({-1.0, *kinks, 1.0}), 2.0 ** -np.arange(NEAREST)
    graded = [
        end + way * halves[: NEAREST if end in kinks else 8]
        for low, high in pairwise(ends)
        for end, way in ((low, high - low), (high, low - high))
    ]
    edges = np.unique(np.concatenate([*graded, ends]))
    half = np.diff(edges)[:, None] / 2
    values = np.asarray(link(edges[:-1, None] + half * (1 + chebyshev_points(size))), dtype=float)
    slopes = chebyshev.chebder(to_coefficients(size) @ values.T) / half.T
    return Graded(edges, slopes, np.zeros(half.size)).__call__  # hashed by identity


def is_calm(link: Link, kinks: tuple[float, ...]) -> bool:
    """True if the derivative is finite on both sides of every kink, and the second one is infinite at one of them."""
    slope = derivative(link, kinks, 16)
    away = np.array([FAR, math.sqrt(FAR * NEAR), NEAR])
    inside = [kink + side * away for kink in kinks for side in (-1, 1) if abs(kink + side * FAR) < 1]
    slopes = slope(np.array(inside))
    first, second = np.abs(np.diff(slopes)).T
    hidden = CALM * np.max(np.abs(slopes))
    # of |z|^p the changes fall by 2^(-10 (p - 1)), of a link that is only steep by 2^-10 or more
    return bool(np.all(second <= 0.97 * first + hidden) and np.any(second > BENT * first + hidden))


def mean_square(d: int, link: Link, kinks: tuple[float, ...], order: int) -> float:
    """E h(z)^2 over the sphere of dimension d, for a link with roots at its kinks."""
    near = math.pi / 2 + np.outer((-1, 1), CONCENTRATION).ravel() / math.sqrt(d)
    edges = np.unique([0.0, *np.arccos(kinks), *near.clip(0, math.pi), math.pi])
    angle, weight = on_panels(edges, root_rule(order))
    weight = weight * np.sin(angle) ** (d - 2)
    return float(np.sum(weight * link(np.cos(angle)) ** 2) / np.sum(weight))
