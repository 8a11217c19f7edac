r"""The three averages over the task through which a law enters the exact method.

For a token x_i at angle theta from the query, t = cos theta, a ridge law enters the bias through

    variance     = Var f(x) over the sphere,
    variogram(t) = E_f (f(x_i) - f(x))^2,
    pair(u)      = E_f (E[psi_1(u - S) (f(x_i) - f(x)) | f])^2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.context.averages import Averages
from lipverify.loss.exact.context.between import Harmonics, Series, densities_of
from lipverify.loss.exact.context.contexts import Contexts, Factors
from lipverify.loss.exact.context.tokens import TokenNodes

ROUNDING = 3e-12
"""Relative rounding of the variogram's table and of sums over it: four times the observed difference for ReLU's own
averages."""


@dataclass(frozen=True)
class Rules:
    """The quadrature rules from which the bias at a few w is computed.

    Attributes
    ----------
    u
        Nodes of the integrals over u, (w, node).
    of
        Averages over one token at these nodes, by rules of the same `order`.
    weights
        The weights of the nodes times the first and the second of the `factors`, (w, node) each.
    jumps
        True if the variograms go as theta.
    """

    contexts: Contexts
    order: int
    u: Floats
    of: Averages
    weights: tuple[Floats, Floats]
    factors: Factors
    jumps: bool = False

    def single(self, average: Floats) -> Floats:
        """The integral over u of a function at the points of `of`, weighted by the first factor, at every w."""
        return np.einsum("wu,wu->w", self.weights[0], np.reshape(average, self.u.shape))

    def double(self, average: Floats) -> Floats:
        """The integral over u weighted by the second factor, at every w."""
        return np.einsum("wu,wu->w", self.weights[1], np.reshape(average, self.u.shape))

    @cached_property
    def densities(self) -> list[Series | Harmonics]:
        """The densities of angles at every w at which a series or a sum over harmonics is short."""
        return densities_of(self.contexts, self.u, self.weights, self.order, self.jumps)


@dataclass(frozen=True)
class TaskAverages:
    """The averages of a law of unit amplitude variance in one dimension; shapes follow the arguments.

    `bias(rules)` is the bias at every w, with a bound on its error without that of the rules. A law whose `pair` is
    known gives it too: a search computes it once for all n. `meetings` are the angles at which the variogram is not
    smooth. `tolerance` is the relative error at which the bias need not be refined further, and `relative_error` bounds
    the relative error of the averages. `jumps` is true if the variogram goes as the angle; `followed` is true if its
    table, if any, resolves it.
    """

    variance: float
    variogram: Callable[[TokenNodes], Floats]
    bias: Callable[[Rules], tuple[Floats, Floats]]
    pair: Callable[[Averages], Floats] | None = None
    meetings: tuple[float, ...] = ()
    tolerance: float = 1e-11
    relative_error: float = 0.0
    jumps: bool = False
    followed: bool = True

    @classmethod
    def known(
        cls, variance: float, variogram: Callable[[TokenNodes], Floats], pair: Callable[[Averages], Floats], **rest: Any
    ) -> TaskAverages:
        """The averages of a law whose `pair` serves at every w."""
        return cls(variance, variogram, lambda rules: bias_by_averages(variogram, pair, rules), pair, **rest)


def bias_by_averages(
    variogram: Callable[[TokenNodes], Floats], pair: Callable[[Averages], Floats], rules: Rules
) -> tuple[Floats, Floats]:
    """The bias at every w from averages over one token, and the bound 0."""
    bias = rules.single(rules.of.mean(2, variogram)) + rules.double(pair(rules.of))
    return bias, np.zeros_like(bias)


def linear_averages(d: int) -> TaskAverages:
    """The link z: E <q, x>^2 = 1/d, E <q, x_i - x>^2 = 2 (1 - t) / d."""
    return TaskAverages.known(1 / d, lambda nodes: 2 / d * nodes.near, lambda of: linear_pair(d, of))


def linear_pair(d: int, of: Averages) -> Floats:
    """The `pair` of the link z: (E[psi_1 (1 - t)])^2 / d."""
    return of.mean(1, lambda nodes: nodes.near) ** 2 / d


def square_averages(d: int) -> TaskAverages:
    """The link z^2, whose increment averages to (1 - t^2) (1 - d c^2) / (d - 1) at <q, x> = c.

    With E c^2 = 1/d and E c^4 = 3 / (d (d + 2)), and E <q, x_i>^2 <q, x>^2 = (1 + 2 t^2) / (d (d + 2)).
    """
    return TaskAverages.known(
        variance=2 * (d - 1) / (d**2 * (d + 2)),
        variogram=lambda nodes: 4 / (d * (d + 2)) * nodes.near * nodes.far,
        pair=lambda of: 2 / ((d - 1) * (d + 2)) * of.mean(1, lambda nodes: nodes.near * nodes.far) ** 2,
    )
