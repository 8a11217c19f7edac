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
from operator import attrgetter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.context.averages import Averages, TokenFunction
from lipverify.loss.exact.context.contexts import Contexts, Factors
from lipverify.loss.exact.context.short import Short, densities_of

ROUNDING = 3e-12
"""Relative rounding of the variogram's table and of sums over it: four times the observed difference for ReLU's own
averages."""
Pair = Callable[[Averages], Floats]
NEAR: TokenFunction = attrgetter("near")
"""1 - t."""


@dataclass(frozen=True)
class Rules:
    """The quadrature rules from which the bias at a few w is computed."""

    contexts: Contexts
    order: int
    u: Floats  # nodes of the integrals over u, (w, node)
    of: Averages  # over one token at these nodes
    weights: tuple[Floats, Floats]  # of the nodes times both factors, (w, node) each
    factors: Factors
    tried: NDArray[np.bool_]  # where a sum over harmonics is tried, (w,)

    def single(self, average: Floats) -> Floats:
        """The integral over u, weighted by the first factor, of a function at the points of `of`: (w,)."""
        return np.einsum("wu,wu->w", self.weights[0], np.reshape(average, self.u.shape))

    def double(self, average: Floats) -> Floats:
        """The same by the second factor."""
        return np.einsum("wu,wu->w", self.weights[1], np.reshape(average, self.u.shape))

    @cached_property
    def densities(self) -> list[Short]:
        """The densities of angles at every w at which a series or a sum over harmonics is short."""
        return densities_of(self.contexts, self.u, self.weights, self.order, self.tried)


@dataclass(frozen=True)
class TaskAverages:
    """The averages of a law of unit amplitude variance in one dimension."""

    variance: float
    variogram: TokenFunction
    bias: Callable[[Rules], tuple[Floats, Floats]]  # at every w, and a bound on its error without that of the rules
    pair: Pair | None = None  # where it is known: a search computes it once for all n
    meetings: tuple[float, ...] = ()  # angles at which the variogram is not smooth
    tolerance: float = 1e-11  # the relative error at which the bias is accurate enough
    relative_error: float = 0.0  # a bound on that of the averages
    jumps: bool = False  # the variogram goes as the angle
    followed: bool = True  # its table, if any, resolves it
    degree: int = 0  # of the polynomials in cos(theta) that it consists of, if it does

    @classmethod
    def known(cls, variance: float, variogram: TokenFunction, pair: Pair, missed: float = 0.0, **rest: Any) -> Self:
        """The averages of a law whose `pair` serves at every w; the bias of features that they miss is `missed`."""
        return cls(variance, variogram, lambda rules: bias_by_averages(variogram, pair, rules, missed), pair, **rest)


def bias_by_averages(variogram: TokenFunction, pair: Pair, rules: Rules, missed: float = 0.0) -> tuple[Floats, Floats]:
    """The bias at every w from averages over one token, and a bound on the effect of features that they miss."""
    bias = rules.single(rules.of.mean(2, variogram)) + rules.double(pair(rules.of))
    # the root of the bias is a norm of the link
    return bias, missed + 2 * np.sqrt(missed * np.abs(bias))


def linear_averages(d: int) -> TaskAverages:
    """The link z: E <q, x>^2 = 1/d, E <q, x_i - x>^2 = 2 (1 - t) / d."""
    return TaskAverages.known(1 / d, lambda nodes: 2 / d * nodes.near, lambda of: linear_pair(d, of))


def linear_pair(d: int, of: Averages) -> Floats:
    """The `pair` of the link z: (E[psi_1 (1 - t)])^2 / d."""
    return of.mean(1, NEAR) ** 2 / d


def square_averages(d: int) -> TaskAverages:
    """The link z^2, whose increment averages to (1 - t^2) (1 - d c^2) / (d - 1) at <q, x> = c.

    With E c^2 = 1/d and E c^4 = 3 / (d (d + 2)), and E <q, x_i>^2 <q, x>^2 = (1 + 2 t^2) / (d (d + 2)).
    """
    return TaskAverages.known(
        variance=2 * (d - 1) / (d**2 * (d + 2)),
        variogram=lambda nodes: 4 / (d * (d + 2)) * nodes.near * nodes.far,
        pair=lambda of: 2 / ((d - 1) * (d + 2)) * of.mean(1, lambda nodes: nodes.near * nodes.far) ** 2,
    )
