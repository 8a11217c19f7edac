"""Functions of one angle with slopes alternating between 1 and -1, which turn at the extrema of a harmonic.

f(x) = h(theta), cos theta = <q, x>. The slope h' alternates between 1 and -1 and changes where P_k(cos theta) is
extreme, at the roots of the polynomial of degree k - 1 in d + 2 dimensions. Such an f is close to the harmonic of
degree k: for large k and d = 2, that harmonic has the share 8 / pi^2 of E |grad f|^2. `single_bias` bounds the largest
bias of a single function: from below by sum_k b_k E f_k^2 of these f, and from above by max b_k / (k (k + d - 2)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import islice

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from lipverify.foundation.arrays import Floats
from lipverify.foundation.validation import whole
from lipverify.loss.exact import TokenRule, deficits, plain_rule
from lipverify.loss.worst.weights import Weights
from lipverify.problem.own import Ridge
from lipverify.problem.problem import LARGEST_D


def zigzag(d: int, degree: int) -> Ridge:
    """h(theta), with Lipschitz constant 1: a law for `Problem`.

    The slope of h changes `degree` - 1 times between the poles; degree 0 is the linear function <q, x>.

    >>> zigzag(2, 2).link(np.array([1.0, 0.0, -1.0])).round(12).tolist()
    [0.0, 1.414213562373, 0.0]
    """
    d, degree = whole("d", d, 2, "the ambient dimension", LARGEST_D), whole("degree", degree, least=0)
    if degree == 0:
        return Ridge(lambda z: z)
    angles, steepest = turns(d, degree), steepest_slope(d, degree)

    def link(z: Floats) -> Floats:
        return height(angles, np.arccos(np.clip(z, -1, 1))) / steepest

    return Ridge(link, kinks=tuple(float(z) for z in np.cos(angles[::-1])))


@lru_cache(maxsize=64)
def turns(d: int, degree: int) -> Floats:
    """The angles of the extrema of P_degree, ascending, with both ends 0 and pi."""
    inner = eigvalsh_tridiagonal(np.zeros(degree - 1), _recurrence(d + 2, degree - 2)) if degree > 1 else np.empty(0)
    return np.concatenate([[0.0], np.arccos(inner[::-1]), [math.pi]])


def height(at: Floats, theta: Floats) -> Floats:
    """h(theta), h(0) = 0, for the turns `at`."""
    slope = (-1.0) ** np.arange(at.size - 1)
    start = np.concatenate([[0.0], np.cumsum(slope * np.diff(at))])
    piece = np.clip(np.searchsorted(at, theta, side="right") - 1, 0, slope.size - 1)
    return np.asarray(start[piece] + slope[piece] * (theta - at[piece]))


@lru_cache(maxsize=64)
def steepest_slope(d: int, degree: int) -> float:
    """The Lipschitz constant of h, which is attained between two turns.

    Between two pieces a difference of h is linear in both angles and the chord is concave. So the difference minus a
    multiple of the chord is largest at the ends of pieces.
    """
    angles, h = turns(d, degree), height(turns(d, degree), turns(d, degree))
    chords = (2 * np.sin((angles[i + 1 :] - angles[i]) / 2) for i in range(degree))
    return max(float(np.max(np.abs(h[i + 1 :] - h[i]) / chord)) for i, chord in enumerate(chords))


@lru_cache(maxsize=64)
def energies(d: int, degree: int, highest: int) -> Floats:
    """E f_k^2 for k = 1 to `highest`, where f = sum_k f_k is the zigzag of a degree and f_k a harmonic of degree k.

    As f depends on one angle, f_k = E[f p_k] p_k with p_k orthonormal, t p_k = a_{k+1} p_{k+1} + a_k p_{k-1}. Up to a
    constant, f is even or odd in t, as P_degree is. So only the k of its parity have energy, integrals over half of the
    sphere suffice, and the recurrence skips the other k: t^2 p_k = a_{k+1} a_{k+2} p_{k+2} + (a_{k+1}^2 + a_k^2) p_k +
    ....
    """
    angles, reach = turns(d, degree), min(math.pi / 2, 13.0 / math.sqrt(d))  # all but e^-84 of the sphere
    panels = math.ceil(reach * math.sqrt(highest * (highest + d - 2)) / 12.0)  # radians of the last harmonic on each
    ends = np.linspace(math.pi / 2 - reach, math.pi / 2, panels + 1)
    edges = np.unique(np.concatenate([ends, angles[(angles > ends[0]) & (angles < ends[-1])]]))
    x, gauss = plain_rule(16)
    width = np.diff(edges)[:, None]
    theta, weight = (edges[:-1, None] + width * x).ravel(), (width * gauss).ravel()
    weight *= np.sin(theta) ** (d - 2)
    weight /= np.sum(weight)
    # at the equator an odd f is 0
    weighted = weight * (height(angles, theta) - height(angles, np.array([math.pi / 2])) * (degree % 2))
    t, a = np.cos(theta), _recurrence(d, highest + 3)
    square = t * t
    first = 2 - degree % 2
    before, this = (0.0, t / a[0]) if first == 1 else (1.0, (square / a[0] - a[0]) / a[1])
    energy = np.zeros(highest)
    for k in range(first, highest + 1, 2):
        energy[k - 1] = np.einsum("i,i", weighted, this) ** 2
        last = a[k - 1] * a[k - 2] * before if k > 1 else 0.0
        before, this = this, ((square - (a[k] ** 2 + a[k - 1] ** 2)) * this - last) / (a[k] * a[k + 1])
    return energy


def _recurrence(d: int, size: int) -> Floats:
    """a_1, a_2, ... a_size: a_k^2 = k (k + d - 3) / ((2k + d - 2) (2k + d - 4)), and a_1^2 = 1 / d."""
    k = np.arange(2.0, size + 1)
    later = k * (k + d - 3) / ((2 * k + d - 2) * (2 * k + d - 4))
    return np.sqrt(np.concatenate([[1 / d], later]))[:size]


BLOCK = 32
"""Degrees averaged together."""
MOST_DEGREES = 4096
"""Largest degree computed, enough for w up to 10^6; for higher degrees only b_k <= 4 is used."""


@dataclass(frozen=True)
class Bracket:
    """Bounds on the supremum over single functions of Lipschitz constant 1, and their errors.

    `low` is the bias of the harmonics of `zigzag(d, degree)` up to some degree.
    """

    high: float
    high_error: float
    low: float
    low_error: float
    degree: int


def single_bias(weights: Weights) -> Bracket:
    """An upper bound from the harmonics, and a lower bound from a linear function and the zigzag of the best degree."""
    d = weights.d
    of = cache(partial(Biases, d))
    b = of(weights.rules[0]()).until_no_worse()
    best = int(np.argmax(b / _slopes(d, b.size))) + 1
    degree = min(best, MOST_DEGREES // 2)
    count = max(b.size, 4 * degree)  # a zigzag has energy in degrees about k, 3k, 5k: (2j + 1)^-4 of the first in each
    b, error = weights.settled(lambda rule: of(rule).first(count))
    slopes = _slopes(d, count)
    linear = np.eye(1, count)[0] / d  # E <q, x>^2 = 1 / d, of degree 1
    zigzag = energies(d, degree, count) / steepest_slope(d, degree) ** 2
    degree, energy = max(((0, linear), (degree, zigzag)), key=lambda candidate: float(candidate[1] @ b))
    return Bracket(
        high=max(float(np.max(b / slopes)), _rest(d, count)),
        high_error=float(np.max(error / slopes)),
        low=float(energy @ b),
        low_error=float(energy @ error + 2.0**-36 * energy @ b),  # the recurrence has up to `MOST_DEGREES` steps
        degree=degree,
    )


class Biases:
    """b_1, b_2, ... by one rule, each computed once."""

    def __init__(self, d: int, rule: TokenRule) -> None:
        self._d, self._rule = d, rule
        self._harmonics, self._values = deficits(d, rule.near), np.empty(0)

    def first(self, count: int) -> Floats:
        """b_1, ..., b_count."""
        while self._values.size < count:
            h = list(islice(self._harmonics, BLOCK))
            self._values = np.concatenate([self._values, self._rule.biases(h, [2 * increment for increment in h])])
        return self._values[:count]

    def until_no_worse(self) -> Floats:
        """All up to the k beyond which no b_k can be the worst, at most `MOST_DEGREES`."""
        for count in range(BLOCK, MOST_DEGREES + 1, BLOCK):
            values = self.first(count)
            if _rest(self._d, count) < np.max(values / _slopes(self._d, count)):
                break
        return values


def _slopes(d: int, count: int) -> Floats:
    """E |grad f|^2 of a harmonic with E f^2 = 1, of degree 1 to count."""
    k = np.arange(1.0, count + 1)
    return k * (k + d - 2)


def _rest(d: int, count: int) -> float:
    """A bound for all later degrees: b_k <= 4, as (sum_i a_i f_i - f)^2 <= 2 sum_i a_i f_i^2 + 2 f^2 and E f^2 = 1."""
    return 4 / ((count + 1) * (count + d - 1))
