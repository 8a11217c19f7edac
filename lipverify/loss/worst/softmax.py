r"""Softmax weights: as in the exact method, a bias is a sum of two integrals over u.

n int E[psi_2 v] phi^{n-1} du + n (n-1) int E[psi_1 h]^2 phi^{n-2} du
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.biases.terms import ORDERS, rounding_of
from lipverify.loss.exact.context.averages import Averages, Points
from lipverify.loss.exact.context.contexts import Contexts, powers
from lipverify.loss.worst.weights import Rule, Weights


def softmax_weights(d: int, n: float, w: float) -> Weights:
    """The weights of scores w <x_i, x>, w > 0, for n >= 2 tokens.

    Raises
    ------
    OutOfReach
        If windows hold so few tokens that rounding would count.
    """
    contexts = Contexts.at(d, n, np.array([w]))
    rules = tuple(cache(partial(_rule, contexts, order)) for order in ORDERS)
    return Weights(d, rules, float(rounding_of(contexts)[0]))


def _rule(contexts: Contexts, order: int) -> Rule:
    u, weight = contexts.nodes(order)
    of = Averages(Points.grid(contexts.d, contexts.w, u), order, smooth=True)
    single, double = (np.ravel(weight * factor) for factor in powers(contexts.n, np.reshape(of.log_phi(), u.shape)))

    def biases(h: Sequence[Floats], v: Sequence[Floats]) -> Floats:
        return np.asarray(of.means(2, v) @ single + of.means(1, h) ** 2 @ double)

    return Rule(of.nodes.near, of.nodes.far, biases)
