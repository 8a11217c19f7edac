r"""E sum_i a_i h(t_i), exactly: what one token says, averaged with the softmax weights; and biases from any h.

Sum_i a_i h_i is sum_ij a_i a_j h_i, so that the two integrals of the bias serve with h_i in place of the products
h_i h_j:

    n int E[psi_2 h] phi^{n-1} du + n (n-1) int E[psi_1 h] E[psi_1] phi^{n-2} du.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.context.averages import Averages, Points
from lipverify.loss.exact.context.contexts import DENSITY_ROUNDING, ORDERS, Contexts, powers, rounding_of
from lipverify.loss.exact.context.tokens import Places, TokenNodes, token_nodes

TWO = (28, 40)
"""Two rules that share no node; the finer is the answer, their difference its error."""
ROUNDING = 2.0**-43
"""Of a sum of a few hundred terms, in units of the largest |h|; the power of the density rounds besides."""


def weighted_mean(
    d: int, n: float, w: Floats, h: Callable[[TokenNodes], Floats], meetings: tuple[float, ...] = (), size: float = 0.0
) -> tuple[Floats, Floats]:
    """The mean and a bound on its error at each window w >= 0, n >= 2.

    Parameters
    ----------
    d, n
        Ambient dimension and context length.
    w
        Windows, shape (w,); at 0 it is the mean of h over the sphere.
    h
        A function of a token's nodes (`near` is 1 - t, `far` is 1 + t); smooth but at the `meetings`.
    meetings
        Angles from the query at which h is not smooth.
    size
        A bound on |h| if h changes sign: its rounding does not cancel. If h >= 0 the rounding is relative.

    >>> mean, error = weighted_mean(3, 10, np.array([5.0]), lambda token: (token.far - token.near) / 2, size=1.0)
    >>> round(mean.item(), 6)
    0.717049
    """
    rough, mean = (_by_rule(d, n, w, h, meetings, order) for order in TWO)
    rounding = ROUNDING + DENSITY_ROUNDING * (d - 2)
    return mean, np.abs(mean - rough) + rounding * np.maximum(size, np.abs(mean))


def _by_rule(
    d: int, n: float, w: Floats, h: Callable[[TokenNodes], Floats], meetings: tuple[float, ...], order: int
) -> Floats:
    """The mean by a rule of one order."""
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


def _over_the_sphere(d: int, h: Callable[[TokenNodes], Floats], meetings: tuple[float, ...], order: int) -> float:
    """The mean of h over a token: all weights are equal."""
    # where d is large, 1 - t is within 9 / sqrt(d) of 1 but for e^-40
    likely = 1 + np.array([-9.0, -3.5, 0.0, 3.5, 9.0]) / np.sqrt(d)
    breaks = np.sort(np.clip([0.0, 2.0, *likely, *(2 * np.sin(np.array(meetings) / 2) ** 2)], 0.0, 2.0))
    nodes = token_nodes(Places(d, np.ones(1), np.zeros(1)), breaks[None], order)
    return float(np.sum(nodes.weight * h(nodes)) / np.sum(nodes.weight))


@dataclass(frozen=True)
class TokenRule:
    """A rule over one token: `near` and `far` are 1 - t and 1 + t at its nodes, and `biases` serves functions there.

    `biases(h, v)` takes several h and v, given at the nodes, and gives for each pair

        n int E[psi_2 v] phi^{n-1} du + n (n-1) int E[psi_1 h]^2 phi^{n-2} du.
    """

    near: Floats
    far: Floats
    biases: Callable[[Sequence[Floats], Sequence[Floats]], Floats]


def token_rules(d: int, n: float, w: float) -> tuple[tuple[Callable[[], TokenRule], ...], float]:
    """Rules of rising order, each made where it is asked for, for a window w > 0 and n >= 2; the rounding they share.

    Raises
    ------
    OutOfReach
        If windows hold so few tokens that rounding would count.
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
