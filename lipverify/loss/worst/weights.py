r"""The averages over attention weights a_1, ..., a_n that determine the bias of a function.

Where h_i and v_i are functions of the angle between token and query, all biases here are

    E [ sum_{i != j} a_i a_j h_i h_j + sum_i a_i^2 v_i ]:

of the cone at the query with h = rho and v = rho^2, and of a field with covariance P_k, the polynomial of degree k that
is 1 at 1, with h = 1 - P_k and v = 2 (1 - P_k), as P_k(<x_i, x_j>) averages to P_k(t_i) P_k(t_j) over the directions of
two tokens across the query.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact import TokenRule, token_rules
from lipverify.loss.worst.metrics import Metric, distance

TOLERANCE = 1e-11


@dataclass(frozen=True)
class Weights:
    """Rules of rising order for the weights of n tokens on S^{d-1}, and a bound on the error that all share, relative.

    A rule is made on demand.
    """

    d: int
    rules: tuple[Callable[[], TokenRule], ...]
    relative_error: float

    def settled(self, biases: Callable[[TokenRule], Floats]) -> tuple[Floats, Floats]:
        """The values of the first rule that agrees with the one before, and a bound on the error of each."""
        values = (biases(rule()) for rule in self.rules)
        for rough, value in pairwise(values):
            gap = np.abs(value - rough)
            if np.all(gap <= TOLERANCE * value):
                break
        return value, gap + self.relative_error * value

    def cone(self, metric: Metric) -> tuple[float, float]:
        """E (sum_i a_i rho_i)^2, rho_i the distance of token and query, and a bound on its error."""

        def biases(rule: TokenRule) -> Floats:
            rho = distance(rule.near, rule.far, metric)
            return rule.biases([rho], [rho * rho])

        (value,), (error,) = self.settled(biases)
        return float(value), float(error)


def softmax_weights(d: int, n: float, w: float) -> Weights:
    """The weights of scores w <x_i, x>, w > 0, for n >= 2 tokens; refused as `token_rules`."""
    return Weights(d, *token_rules(d, n, w))
