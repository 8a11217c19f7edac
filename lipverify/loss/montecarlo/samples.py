r"""Samples of the two terms from softmax sums, with their bounds.

    noise:  sum_i a_i^2 = S(2w) / S(w)^2,
    bias:   sum_k (sum_i a_i (f_k(x_i) - f_k(x)))^2 = sum_k (T_k(w) / S(w))^2.

For f(x) = <q, x> with q uniform, the average over q and over the directions of the tokens orthogonal to the query is
|sum_i a_i x_i - x|^2 / d averaged given the t_i = <x_i, x>:

    d bias = (sum_i a_i (1 - t_i))^2 + sum_i a_i^2 (1 - t_i^2) = (T_1(w) / S(w))^2 + T_2(2w) / S(w)^2.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from lipverify.foundation.arrays import Array, Floats, to_device
from lipverify.loss.montecarlo.tails import largest_noise, largest_spread, smallest_noise
from lipverify.loss.montecarlo.windows import Grid, Sums
from lipverify.problem import Problem
from lipverify.problem.composed import LowRank, Transformed
from lipverify.problem.law import Bound, FunctionLaw, as_functions, by_law

Bounds = tuple[Floats, Floats]


class Divisible(ABC):
    """A sampler that can draw a part of a chunk, to need less memory."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Samples in a chunk."""

    @abstractmethod
    def rows(self, first: int, count: int) -> Array:
        """The samples `first`, ..., `first + count - 1` of one chunk, (count, columns).

        A sample is the same to the last bit, whichever other samples are drawn with it.
        """

    def chunk(self, index: int) -> Array:
        """Noise samples at every window and then bias samples, (size, 2 windows)."""
        return self.rows(index * self.size, self.size)


ROUNDED = 1e-12
"""An upper bound on the relative rounding of weights and of the bounds of their squares."""


def drawn(sums: Sums, grid: Grid, xp: Any) -> Array:
    """Samples for drawn tasks, noise and then bias, (C, 2 windows); the values are f_k(x_i) - f_k(x)."""
    single, twice = rungs(sums, grid, xp)
    S = single[:, :, 0]
    bias = sum((single[:, :, k] / S) ** 2 for k in range(1, single.shape[-1]))
    return xp.concat([twice[:, :, 0] / S**2, bias], axis=1)


def averaged(sums: Sums, grid: Grid, xp: Any) -> Array:
    """Samples for a linear task with averaged direction; the values are 1 - t and 1 - t^2."""
    single, twice = rungs(sums, grid, xp)
    S = single[:, :, 0]
    return xp.concat([twice[:, :, 0] / S**2, (single[:, :, 1] / S) ** 2 + twice[:, :, 2] / S**2], axis=1)


def largest_bias(problem: Problem) -> float:
    """A bound on a bias sample, since the prediction lies between the extremes of each component; infinity if none."""
    with np.errstate(invalid="ignore", over="ignore"):
        bound = spread_squared(_bounds(as_functions(problem.law, "Monte Carlo"), problem))
    return math.inf if math.isnan(bound) else bound


def spread_squared(bounds: Iterable[Bound]) -> float:
    """A bound on sum_k (max f_k - min f_k)^2."""
    return float(sum(bound.extent**2 for bound in bounds))


@by_law
def _bounds(law: FunctionLaw, problem: Problem) -> tuple[Bound, ...]:
    """The bounds of each component over the covariates."""
    return law.bounds(problem.covariates.radius)


@_bounds.register(Transformed, LowRank)
def _of_map(law: Transformed, problem: Problem) -> tuple[Bound, ...]:
    A, radius = problem.covariates.stretch(problem.d), problem.covariates.radius
    if A is None or not math.isfinite(radius):
        return law.bounds(radius)
    return law.ridge.bounds(float(np.linalg.norm(np.array(law.B).T @ A, 2)))  # |B^T A u| <= |B^T A|


def sphere_bounds(problem: Problem, w: Floats, components: Iterable[Bound]) -> Bounds:
    """The bounds for tokens on the sphere and scores w t, tightened by `tails` for many tokens."""
    distance = 2 * spreads(problem, w)  # sum_i a_i |x_i - x|^2
    bias = sum(np.minimum(f.extent**2, f.slope**2 * distance) for f in components) + np.zeros_like(w)
    low, high = softmax_bounds(problem, w, bias)
    least = np.array([smallest_noise(problem.d, problem.n, float(window)) for window in w])
    low[: w.size] = np.maximum(low[: w.size], (1 - ROUNDED) * least)
    return low, high


def spreads(problem: Problem, w: Floats) -> Floats:
    """Bounds on sum_i a_i (1 - t_i) at each w, exceeded with negligible probability (see `tails`)."""
    return np.array([largest_spread(problem.d, problem.n, float(window)) for window in w])


def softmax_bounds(problem: Problem, reach: Floats, largest_bias: float | Floats) -> Bounds:
    """(low, high) for noise samples where |score| <= reach, and for bias samples in [0, largest_bias].

    Cauchy: sum_i a_i^2 >= 1/n. Two weights differ by a factor e^{2 reach} at most, so by Kantorovich's inequality
    sum_i a_i^2 <= min(1, cosh(reach)^2 / n): at reach 0 and at n = 1 the noise is not random. On an ellipsoid scores
    are those of the sphere times at most `reach`. Since sum_i a_i^2 grows with that factor, the bound of `tails` for
    the sphere at w = reach applies.

    >>> from lipverify.laws import Affine
    >>> low, high = softmax_bounds(Problem(d=3, n=4, law=Affine()), np.array([0.0, 9.0]), 4.0)
    >>> low.tolist(), high.tolist()
    ([0.25, 0.25, 0.0, 0.0], [0.25, 1.0, 4.0, 4.0])
    """
    n = float(problem.n)
    noise = np.minimum(1.0, np.cosh(np.minimum(reach, 100.0)) ** 2 / n)  # beyond 100 it is 1 for every n that fits
    if problem.covariates.stretch(problem.d) is not None and math.isfinite(problem.covariates.radius):
        noise = np.minimum(noise, [largest_noise(problem.d, problem.n, float(score)) for score in reach])
    low = np.concatenate([np.full_like(reach, 1 / n), np.zeros_like(reach)])
    return low, np.concatenate([noise, largest_bias + np.zeros_like(reach)])


def rungs(sums: Sums, grid: Grid, xp: Any) -> tuple[Array, Array]:
    """The sums at every w of the grid, and at 2 w."""
    levels = to_device(grid.at, xp, getattr(sums.largest, "device", None))
    return xp.take(sums.at_levels, levels, axis=1), xp.take(sums.at_levels, levels + 1, axis=1)
