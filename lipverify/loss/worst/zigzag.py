r"""Functions of one angle with slopes alternating between 1 and -1, which turn at the extrema of a harmonic.

f(x) = h(theta), cos theta = <q, x>, h' = 1 and -1 in turns, turns where P_k(cos theta) is extreme: roots of the
polynomial of degree k - 1 of the sphere of two more dimensions. Of all f with |grad f| <= 1 these have much in common
with the harmonic of degree k; 8 / pi^2 of E |grad f|^2 is in it where k is large and d = 2.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from lipverify.foundation.arrays import Floats
from lipverify.foundation.validation import chosen, whole
from lipverify.loss.exact import plain_rule
from lipverify.loss.worst.metrics import METRICS, Metric, chord_of
from lipverify.problem.own import Ridge
from lipverify.problem.problem import LARGEST_D

ORDER, TURN = 16, 12.0
"""Order of the Gauss rule on every panel, and largest phase in radians of the highest harmonic on a panel."""
REACH = 13.0
"""Distance from the equator, in units of d^{-1/2}, that contains all but e^-84 of the sphere."""


def zigzag(d: int, degree: int, metric: Metric = "chord") -> Ridge:
    """h(theta), with Lipschitz constant 1 in the metric: a law for `Problem`.

    Parameters
    ----------
    d
        Ambient dimension.
    degree
        h turns `degree` - 1 times between the poles; of degree 0 is the linear function <q, x>.
    metric
        "chord" or "arc".

    Raises
    ------
    InvalidInput
        If an argument breaks its rule.

    >>> zigzag(2, 2, "arc").link(np.array([1.0, 0.0, -1.0])).round(12).tolist()
    [0.0, 1.570796326795, 0.0]
    """
    chosen("metric", metric, METRICS)
    d, degree = whole("d", d, 2, "the ambient dimension", LARGEST_D), whole("degree", degree, least=0)
    if degree == 0:
        return Ridge(lambda z: z)
    at, steepest = turns(d, degree), steepest_slope(d, degree, metric)

    def link(z: Floats) -> Floats:
        return height(at, np.arccos(np.clip(z, -1, 1))) / steepest

    return Ridge(link, kinks=tuple(float(z) for z in np.cos(at[::-1])))


@lru_cache(maxsize=64)
def turns(d: int, degree: int) -> Floats:
    """The angles from 0 to pi, both included, between which P_degree rises or falls."""
    inner = eigvalsh_tridiagonal(np.zeros(degree - 1), _recurrence(d + 2, degree - 2)) if degree > 1 else np.empty(0)
    return np.concatenate([[0.0], np.arccos(inner[::-1]), [math.pi]])


def height(at: Floats, theta: Floats) -> Floats:
    """h(theta), h(0) = 0, for the turns `at`."""
    slope = (-1.0) ** np.arange(at.size - 1)
    start = np.concatenate([[0.0], np.cumsum(slope * np.diff(at))])
    piece = np.clip(np.searchsorted(at, theta, side="right") - 1, 0, slope.size - 1)
    return np.asarray(start[piece] + slope[piece] * (theta - at[piece]))


@lru_cache(maxsize=64)
def steepest_slope(d: int, degree: int, metric: Metric) -> float:
    """The Lipschitz constant of h in the metric: that between two turns.

    Between two pieces a difference of h is linear in both angles and the chord is concave, so that the one less a
    multiple of the other is largest at the ends of pieces.
    """
    if metric == "arc":
        return 1.0
    at, h = turns(d, degree), height(turns(d, degree), turns(d, degree))
    return max(float(np.max(np.abs(h[i + 1 :] - h[i]) / chord_of(at[i + 1 :] - at[i]))) for i in range(degree))


@lru_cache(maxsize=64)
def energies(d: int, degree: int, highest: int) -> Floats:
    """E f_k^2 for k = 1 to `highest`, where f = sum_k f_k is the zigzag of a degree and f_k a harmonic of degree k.

    As f depends on one angle, f_k = E[f p_k] p_k with p_k orthonormal, t p_k = a_{k+1} p_{k+1} + a_k p_{k-1}. Less a
    constant f is even or odd in t, as P_degree is: only the k of its parity have energy, half of the sphere says all,
    and the recurrence steps over the other k, t^2 p_k = a_{k+1} a_{k+2} p_{k+2} + (a_{k+1}^2 + a_k^2) p_k + ....
    """
    at, reach = turns(d, degree), min(math.pi / 2, REACH / math.sqrt(d))
    panels = math.ceil(reach * math.sqrt(highest * (highest + d - 2)) / TURN)
    ends = np.linspace(math.pi / 2 - reach, math.pi / 2, panels + 1)
    edges = np.unique(np.concatenate([ends, at[(at > ends[0]) & (at < ends[-1])]]))
    x, gauss = plain_rule(ORDER)
    width = np.diff(edges)[:, None]
    theta, weight = (edges[:-1, None] + width * x).ravel(), (width * gauss).ravel()
    weight *= np.sin(theta) ** (d - 2)
    weight /= np.sum(weight)
    # at the equator an odd f is 0
    weighted = weight * (height(at, theta) - height(at, np.array([math.pi / 2])) * (degree % 2))
    t, a = np.cos(theta), _recurrence(d, highest + 3)
    square = t * t
    first = 2 - degree % 2
    before, this = (0.0, t / a[0]) if first == 1 else (1.0, (square / a[0] - a[0]) / a[1])
    found = np.zeros(highest)
    for k in range(first, highest + 1, 2):
        found[k - 1] = np.einsum("i,i", weighted, this) ** 2
        last = a[k - 1] * a[k - 2] * before if k > 1 else 0.0
        before, this = this, ((square - (a[k] ** 2 + a[k - 1] ** 2)) * this - last) / (a[k] * a[k + 1])
    return found


def _recurrence(d: int, size: int) -> Floats:
    """a_1, a_2, ... a_size: a_k^2 = k (k + d - 3) / ((2k + d - 2) (2k + d - 4)), and a_1^2 = 1 / d."""
    k = np.arange(2.0, size + 1)
    later = k * (k + d - 3) / ((2 * k + d - 2) * (2 * k + d - 4))
    return np.sqrt(np.concatenate([[1 / d], later]))[:size]
