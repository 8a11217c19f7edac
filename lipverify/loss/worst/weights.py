"""The averages over the attention weights a_1, ..., a_n that determine the bias of a function.

If h_i and v_i are functions of the angle between token and query, all biases here have the form

    E [ sum_{i != j} a_i a_j h_i h_j + sum_i a_i^2 v_i ].

The cone at the query has h = rho and v = rho^2. A field with covariance P_k, the polynomial of degree k with
P_k(1) = 1, has h = 1 - P_k and v = 2 (1 - P_k): P_k(<x_i, x_j>) averages to P_k(t_i) P_k(t_j) over the directions of
two tokens orthogonal to the query.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact import TokenRule, plain_rule, token_rules


@dataclass(frozen=True)
class Weights:
    """Rules of rising order, made on demand, for the weights of n tokens on S^{d-1}, and their relative error."""

    d: int
    rules: tuple[Callable[[], TokenRule], ...]
    relative_error: float

    def settled(self, biases: Callable[[TokenRule], Floats]) -> tuple[Floats, Floats]:
        """The values of the first rule that agrees with its predecessor, and a bound on the error of each value."""
        values = (biases(rule()) for rule in self.rules)
        for rough, value in pairwise(values):
            gap = np.abs(value - rough)
            if np.all(gap <= 1e-11 * value):
                break
        return value, gap + self.relative_error * value

    def cone(self) -> tuple[float, float]:
        """E (sum_i a_i rho_i)^2, rho_i the distance of token and query, and a bound on its error."""

        def biases(rule: TokenRule) -> Floats:
            rho = 2 * np.sqrt(np.clip(rule.near / 2, 0.0, 1.0))
            return rule.biases([rho], [rho * rho])

        (value,), (error,) = self.settled(biases)
        return float(value), float(error)


def softmax_weights(d: int, n: float, w: float) -> Weights:
    """The weights of scores w <x_i, x>, w > 0, for n >= 2 tokens; refused as `token_rules`."""
    return Weights(d, *token_rules(d, n, w))


def equal_weights(d: int, n: float) -> Weights:
    """The weights 1/n of all tokens, at w = 0: with m[h] the mean of h over the sphere m[h]^2 (1 - 1/n) + m[v] / n."""
    rules = tuple(cache(partial(_over_the_sphere, d, n, order)) for order in (120, 168))
    return Weights(d, rules, 2.0**-40)  # the rounding of the power d - 2 and of sums


def _over_the_sphere(d: int, n: float, order: int) -> TokenRule:
    """A Gauss rule in the angle where its density is not negligible."""
    reach = 12 / math.sqrt(d) if d > 60 else math.pi / 2
    x, weight = plain_rule(order)
    theta = math.pi / 2 - reach + 2 * reach * x
    density = weight * np.exp((d - 2) * np.log(np.sin(theta)))
    density = density / np.sum(density)

    def biases(h: Sequence[Floats], v: Sequence[Floats]) -> Floats:
        squared, mean = (np.stack(h) @ density) ** 2, np.stack(v) @ density
        return np.asarray(squared + (mean - squared) / n)

    return TokenRule(2 * np.sin(theta / 2) ** 2, 2 * np.cos(theta / 2) ** 2, biases)
