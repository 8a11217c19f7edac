r"""The largest bias of a single function, averaged over the query: between sum_k b_k E f_k^2 and max b_k / k(k+d-2)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact import TokenRule, deficits
from lipverify.loss.worst.metrics import Metric
from lipverify.loss.worst.weights import Weights
from lipverify.loss.worst.zigzag import energies, steepest_slope

BLOCK = 32
"""Number of degrees averaged together."""
MOST_DEGREES = 4096
"""Largest degree computed, enough for w up to 10^6; for higher degrees only b_k <= 4 is used."""
MOST_TURNS = 2048
WAVES = 4
"""A zigzag of degree k has energy in degrees about k, 3k, 5k: (2j + 1)^-4 of the first in that of (2j + 1) k."""
ENERGY_ERROR = 2.0**-36
"""Of the energy in a degree, relative to that in all: the rounding of a recurrence in `MOST_DEGREES` steps."""


@dataclass(frozen=True)
class Bracket:
    """Bounds on the supremum over single functions of Lipschitz constant 1, and their errors.

    `low` is the part of the bias of `zigzag(d, degree, metric)` that is known: of its harmonics up to some degree.
    """

    high: float
    high_error: float
    low: float
    low_error: float
    degree: int


def single_bias(weights: Weights, metric: Metric) -> Bracket:
    """The bracket: from above by the harmonics, from below by a linear function and the zigzag of the best degree."""
    d = weights.d
    b = _biases(d, weights.rules[0]())
    best = int(np.argmax(b / _slopes(d, b.size))) + 1
    degree = min(best, MOST_TURNS)
    count = max(b.size, WAVES * degree)
    b, error = weights.settled(lambda rule: _biases(d, rule, count))
    slopes = _slopes(d, count)
    linear = np.eye(1, count)[0] / d  # E <q, x>^2 = 1 / d, of degree 1
    zigzag = energies(d, degree, count) / steepest_slope(d, degree, metric) ** 2
    degree, energy = max(((0, linear), (degree, zigzag)), key=lambda each: float(each[1] @ b))
    return Bracket(
        high=max(float(np.max(b / slopes)), _rest(d, count)),
        high_error=float(np.max(error / slopes)),
        low=float(energy @ b),
        low_error=float(energy @ error + ENERGY_ERROR * energy @ b),
        degree=degree,
    )


def _biases(d: int, rule: TokenRule, count: int = 0) -> Floats:
    """b_1, ..., b_count; or up to where no later one can be the worst, or `MOST_DEGREES`."""
    harmonics, found = deficits(d, rule.near), np.empty(0)
    while found.size < (count or MOST_DEGREES):
        h = list(islice(harmonics, BLOCK))
        found = np.concatenate([found, rule.biases(h, [2 * each for each in h])])
        if not count and _rest(d, found.size) < np.max(found / _slopes(d, found.size)):
            break
    return found[: count or found.size]


def _slopes(d: int, count: int) -> Floats:
    """E |grad f|^2 of a harmonic with E f^2 = 1, of degree 1 to count."""
    k = np.arange(1.0, count + 1)
    return k * (k + d - 2)


def _rest(d: int, count: int) -> float:
    """A bound for all later degrees: b_k <= 4, as (sum_i a_i f_i - f)^2 <= 2 sum_i a_i f_i^2 + 2 f^2 and E f^2 = 1."""
    return 4 / ((count + 1) * (count + d - 1))
