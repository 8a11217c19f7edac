"""The averages over attention weights a_1, ..., a_n, of softmax or of a box, that determine the bias of a function.

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
from typing import Literal

import numpy as np
from scipy.special import betainc, betaincinv

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact import TokenRule, plain_rule, token_rules

Metric = Literal["chord", "arc"]
METRICS: tuple[Metric, ...] = ("chord", "arc")
LARGEST = {"chord": 2.0, "arc": math.pi}
"""The distance of opposite points."""


def distance(near: Floats, far: Floats, metric: Metric) -> Floats:
    """The distance of a token with 1 - t = `near` and 1 + t = `far` from the query, t = <x_i, x>."""
    sine, cosine = (np.sqrt(np.clip(deficit / 2, 0.0, 1.0)) for deficit in (near, far))
    return np.asarray(2 * sine if metric == "chord" else 2 * np.arctan2(sine, cosine))


def angle_of(radius: float, metric: Metric) -> float:
    """The distance along the sphere, from the distance in the metric."""
    return radius if metric == "arc" else 2 * math.asin(radius / 2)


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


CHANCES = (1e-19, 1e-12, 1e-6, 1e-3, 0.05, 0.5, 0.95, 1 - 1e-3, 1 - 1e-6, 1 - 1e-12)
"""Probabilities that the nearest token lies beyond the ends of the panels."""


def box_weights(d: int, n: float, angle: float) -> Weights:
    """The weights of tokens within an angle of the query, from 0 to pi: equal, or all on the nearest if none is within.

    The number K of tokens within the angle is binomial, so that with m[h] the mean of h over the cap

        E [ ... ] = m[h]^2 P(K >= 1) + (m[v] - m[h]^2) E[1/K; K >= 1] + E[v of the nearest; K = 0].
    """
    half = (d - 1) / 2
    share = float(betainc(half, half, math.sin(angle / 2) ** 2))
    rules = tuple(cache(partial(_rule, d, n, angle, share, order)) for order in (120, 168))
    return Weights(d, rules, 2.0**-40)  # the rounding of binomial probabilities of up to n tokens


def _rule(d: int, n: float, angle: float, share: float, order: int) -> TokenRule:
    """The rule with `order` nodes on the cap, and a third as many on every other panel."""
    empty = math.exp(n * math.log1p(-share)) if share < 1 else 0.0
    inverse = _inverse_count(n, share, order // 3)
    inside, density = _cap(d, angle, order)
    beyond, chance = _nearest(d, n, angle, empty, order // 3)
    half = np.concatenate([inside, beyond]) / 2
    near, far = 2 * np.sin(half) ** 2, 2 * np.cos(half) ** 2

    def biases(h: Sequence[Floats], v: Sequence[Floats]) -> Floats:
        first, second = (np.stack(functions) for functions in (h, v))
        squared, mean = (first[:, : inside.size] @ density) ** 2, second[:, : inside.size] @ density
        alone = second[:, inside.size :] @ chance
        return np.asarray(squared * (1 - empty) + (mean - squared) * inverse + alone)

    return TokenRule(near, far, biases)


def _cap(d: int, angle: float, order: int) -> tuple[Floats, Floats]:
    """Nodes and weights of the mean over a cap: a Gauss rule in the angle where its density is not negligible."""
    peak = min(angle, math.pi / 2)
    reach = 12 / math.sqrt(d) if d > 60 else math.pi
    slope = (d - 2) / math.tan(peak) if peak < math.pi / 2 else 0.0
    width = min(reach, 50 / slope) if slope > 0 else reach
    theta, weight = _gauss(max(0.0, peak - width), min(angle, peak + reach), order)
    density = weight * np.exp((d - 2) * (np.log(np.sin(theta)) - math.log(math.sin(peak))))
    return theta, density / np.sum(density)


def _nearest(d: int, n: float, angle: float, empty: float, order: int) -> tuple[Floats, Floats]:
    """Nodes beyond the angle, and the chance of each that the nearest token is there."""
    if empty == 0:
        return np.empty(0), np.empty(0)
    half = (d - 1) / 2
    shares = [-math.expm1(math.log(chance) / n) for chance in CHANCES]
    places = [2 * math.asin(math.sqrt(float(betaincinv(half, half, share)))) for share in shares]
    edges = sorted({angle, math.pi, *(edge for edge in places if angle < edge < math.pi)})
    theta, weight = _panels(edges, order)
    # P(nearest > theta) = (1 - share)^n, which falls by `empty` over the whole range
    share = betainc(half, half, np.sin(theta / 2) ** 2)
    with np.errstate(divide="ignore"):
        none_nearer = np.exp((n - 1) * np.log1p(-share)) if n > 1 else np.ones_like(share)
        chance = weight * none_nearer * np.exp((d - 2) * np.log(np.sin(theta)))
    return theta, empty * chance / np.sum(chance)


def _gauss(low: float, high: float, order: int) -> tuple[Floats, Floats]:
    x, weight = plain_rule(order)
    return low + (high - low) * x, (high - low) * weight


def _inverse_count(n: float, share: float, order: int) -> float:
    """E[1/K; K >= 1] for K binomial: the integral of ((1 - p v)^n - (1 - p)^n) / (1 - v) over v from 0 to 1."""
    if share >= 1:
        return 1 / n
    # the expected numbers of tokens in a box whose share of the sphere is v times as large
    edges = sorted({0.0, 1.0, *(min(1.0, count / (n * share)) for count in (0.1, 1.0, 10.0, 60.0))})
    v, weight = _panels(edges, order)
    # the difference of two powers, without cancellation near v = 1
    fall = -np.expm1(-n * np.log1p(share * (1 - v) / (1 - share)))
    return float(weight @ (np.exp(n * np.log1p(-share * v)) * fall / (1 - v)))


def _panels(edges: list[float], order: int) -> tuple[Floats, Floats]:
    panels = [_gauss(low, high, order) for low, high in pairwise(edges)]
    nodes, weights = (np.concatenate(parts) for parts in zip(*panels, strict=True))
    return nodes, weights
