r"""The exact softmax-weighted mean E sum_i a_i h(t_i) of a function of one token, and biases from any h.

Since sum_i a_i h_i = sum_ij a_i a_j h_i, the two integrals of the bias apply with h_i in place of the products h_i h_j:

    n int E[psi_2 h] phi^{n-1} du + n (n-1) int E[psi_1 h] E[psi_1] phi^{n-2} du.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.context.averages import Averages, Points, TokenFunction
from lipverify.loss.exact.context.contexts import DENSITY_ROUNDING, ORDERS, Contexts, powers, rounding_of
from lipverify.loss.exact.context.tokens import Places, token_nodes

ROUNDING = 2.0**-43
"""Rounding of a sum of a few hundred terms in units of the largest |h|, in addition to that of the density's power."""


def weighted_mean(
    d: int, n: float, w: Floats, h: TokenFunction, meetings: tuple[float, ...] = (), size: float = 0.0
) -> tuple[Floats, Floats]:
    """The mean and a bound on its error at each w >= 0, (w,), n >= 2; at 0 it is the mean of h over the sphere.

    h is a function of a token's nodes (`near` is 1 - t, `far` is 1 + t), smooth except at the `meetings`, angles from
    the query. If it changes sign, rounding errors are absolute, and `size` is a bound on |h|.

    >>> mean, error = weighted_mean(3, 10, np.array([5.0]), lambda token: (token.far - token.near) / 2, size=1.0)
    >>> round(mean.item(), 6)
    0.717049
    """
    rough, mean = (_by_rule(d, n, w, h, meetings, order) for order in (28, 40))
    rounding = ROUNDING + DENSITY_ROUNDING * (d - 2)
    return mean, np.abs(mean - rough) + rounding * np.maximum(size, np.abs(mean))


def _by_rule(d: int, n: float, w: Floats, h: TokenFunction, meetings: tuple[float, ...], order: int) -> Floats:
    result, narrowed = np.full_like(w, _over_the_sphere(d, h, meetings, order)), np.flatnonzero(w > 0)
    if narrowed.size == 0:
        return result
    every = Contexts.at(d, float(n), w[narrowed])
    for group in every.alike():
        contexts = every[group]
        u, weight = contexts.nodes(order)
        of = Averages(Points.grid(d, contexts.w, u), order, meetings)
        single, double = (weight * factor for factor in powers(contexts.n, np.reshape(of.log_phi(), u.shape)))
        total = single.ravel() * of.mean(2, h) + double.ravel() * of.mean(1) * of.mean(1, h)
        result[narrowed[group]] = np.reshape(total, u.shape).sum(axis=1)
    return result


def _over_the_sphere(d: int, h: TokenFunction, meetings: tuple[float, ...], order: int) -> float:
    """The mean of h over the sphere, for equal weights."""
    # for large d, 1 - t is within 9 / sqrt(d) of 1 except with probability e^-40
    likely = 1 + np.array([-9.0, -3.5, 0.0, 3.5, 9.0]) / np.sqrt(d)
    breaks = np.sort(np.clip([0.0, 2.0, *likely, *(2 * np.sin(np.array(meetings) / 2) ** 2)], 0.0, 2.0))
    nodes = token_nodes(Places(d, np.ones(1), np.zeros(1)), breaks[None], order)
    return float(np.sum(nodes.weight * h(nodes)) / np.sum(nodes.weight))


@dataclass(frozen=True, eq=False)  # equal only to itself: the key of what was computed by it
class TokenRule:
    """A rule over one token: `near` and `far` are 1 - t and 1 + t at its nodes.

    `biases(h, v)` takes several h and v, given at the nodes, and returns for each pair

        n int E[psi_2 v] phi^{n-1} du + n (n-1) int E[psi_1 h]^2 phi^{n-2} du.
    """

    near: Floats
    far: Floats
    biases: Callable[[Sequence[Floats], Sequence[Floats]], Floats]


def token_rules(d: int, n: float, w: float) -> tuple[tuple[Callable[[], TokenRule], ...], float]:
    """Rules of rising order, each made on demand, for w > 0 and n >= 2, and their common rounding error.

    Out of reach if windows hold so few tokens that the rounding error would be large.
    """
    contexts = Contexts.at(d, n, np.array([w]))
    rules = tuple(cache(partial(_token_rule, contexts, order)) for order in ORDERS)
    return rules, float(rounding_of(contexts)[0])


def _token_rule(contexts: Contexts, order: int) -> TokenRule:
    u, weight = contexts.nodes(order)
    of = Averages(Points.grid(contexts.d, contexts.w, u), order, smooth=True)
    single, double = (np.ravel(weight * factor) for factor in powers(contexts.n, np.reshape(of.log_phi(), u.shape)))

    def biases(h: Sequence[Floats], v: Sequence[Floats]) -> Floats:
        return np.asarray(of.means(2, v) @ single + of.means(1, h) ** 2 @ double)

    return TokenRule(of.nodes.near, of.nodes.far, biases)
