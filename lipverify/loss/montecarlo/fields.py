r"""Sampling for a law, or part of a law, given by its variogram: draw the points, average the task in closed form.

Given the points, a Gaussian field has n + 1 normal values, and only their increments enter the loss:

    E (sum_i a_i f(x_i) - f(x))^2 = sum_i a_i V(|x_i - x|) - 1/2 sum_ij a_i a_j V(|x_i - x_j|).

So the task is averaged in closed form, as the label noise is, and samples are bounded by the largest V. The other parts
of a sum are drawn at the same points; as parts are independent, their squared errors add.

For many tokens the second sum would cost n^2, more accuracy than few contexts can use. It equals
1/2 E_J sum_i a_i V(|x_i - x_J|) with J drawn from the weights, and the mean over a few J, one from each part of equal
weight, is unbiased. A sample is then at least minus half of the largest V.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.streams import generator, standard_normals
from lipverify.loss.montecarlo.full import WholeContexts
from lipverify.loss.montecarlo.samples import softmax_bounds, sphere_bounds, spread_squared
from lipverify.problem.fields import Variation, variation_of
from lipverify.problem.law import Sum, summands

LARGEST_CONTEXT = 10_000
"""Largest number of tokens of a context."""
PARTNERS = 8
"""Number of tokens J for each w."""


@dataclass(frozen=True)
class Fields(WholeContexts):
    """A sampler of softmax attention for a law with a known variogram, or with such a part."""

    def __post_init__(self) -> None:
        law, n = self.problem.law, self.problem.n
        if self.backend.xp is not np:
            raise InvalidInput(f"law = {law!r} is sampled by NumPy alone; leave backend and xp out.")
        if not (self.problem.isotropic or all(variation.everywhere for _, variation in self.variations)):
            raise InvalidInput(
                f"law = {law!r} is known on the unit sphere, and covariates = {self.problem.covariates.name} leave it; "
                "use lipverify.laws.Matern(...) or lipverify.laws.RBF(...), which are fields on R^d."
            )
        if n > LARGEST_CONTEXT:
            raise OutOfReach(
                f"n = {n:g}: sampling this law holds all tokens of a context, for n up to {LARGEST_CONTEXT}; "
                "method='exact' has no such limit."
            )

    @cached_property
    def variations(self) -> list[tuple[float, Variation]]:
        """The variograms of the parts given by them, with the parts' weights."""
        known = [(weight, variation_of(part, self.problem.d)) for weight, part in summands(self.problem.law)]
        return [(weight, variation) for weight, variation in known if variation is not None]

    @cached_property
    def others(self) -> Sum:
        """The sum of the other parts, which are drawn."""
        parts = summands(self.problem.law)
        return Sum(tuple(part for part in parts if variation_of(part[1], self.problem.d) is None))

    @property
    def largest(self) -> float:
        """A bound on the variogram of the parts given by one."""
        return sum(weight * variation.size for weight, variation in self.variations)

    @property
    def all_pairs(self) -> bool:
        """True if all pairs of tokens are used: they are few, or no more than the pairs with all J."""
        return self.problem.n <= max(64, PARTNERS * len(self.w))

    @property
    def partners(self) -> int:
        """Number of tokens with which each token is paired."""
        return int(self.problem.n) if self.all_pairs else PARTNERS * len(self.w)

    @property
    def numbers(self) -> float:
        """Cost of a context in units of a drawn number: its coordinates and its pairs."""
        # a pair costs from 1.3 (a squared exponential) to 7 (an incomplete gamma function)
        return float(self.problem.n) * (self.problem.d + 4 * self.partners)

    @property
    def size(self) -> int:
        """Samples in a chunk."""
        return max(1, 2**20 // ((int(self.problem.n) + 1) * (self.partners + 1)))  # pairs of 8 MiB an array

    @property
    def unit(self) -> float:
        """1: there is no amplitude."""
        return 1.0

    def bounds(self, log_chance: float = math.inf) -> tuple[Floats, Floats]:
        """(low, high) of each column: as the second sum is not negative, a bias sample is at most the largest V."""
        if self.problem.isotropic and self.M is None:
            low, high = sphere_bounds(self.problem, self.w, self.others.bounds(), log_chance)
            high[len(self.w) :] += self.largest
        else:
            drawn = spread_squared(self.others.bounds(self.problem.covariates.radius))
            low, high = softmax_bounds(self.problem, self.reach, self.largest + drawn, log_chance)
        if not self.all_pairs:
            low[len(self.w) :] = -self.largest / 2
        return low, high

    def rows(self, first: int, count: int) -> Floats:
        """Samples of some contexts of one chunk; the whole chunk is computed."""
        index, start = divmod(first, self.size)
        return self._whole(index)[start : start + count]

    def _whole(self, index: int) -> Floats:
        """Noise samples at every window and then bias samples, (size, 2 windows)."""
        n, d = int(self.problem.n), self.problem.d
        draws = standard_normals(generator(self.seed, self.stream, index), (self.size, n + 1, d))
        x = self.problem.covariates.points(draws, np)
        query, tokens = x[:, :1], x[:, 1:]
        scores = tokens @ (query[:, 0] if self.M is None else query[:, 0] @ self.M.T)[:, :, None]
        below = scores - scores.max(axis=1, keepdims=True)
        a = np.exp(np.minimum(self.w, 1e300)[None, :, None] * below.transpose(0, 2, 1))
        a /= a.sum(axis=2, keepdims=True)
        among = self._among(a, tokens) if self.all_pairs else self._with_partners(a, tokens, index)
        bias = (a @ self._between(squared_distances(tokens, query)))[:, :, 0] - among / 2
        bias = np.maximum(bias, 0.0) if self.all_pairs else bias
        return np.concatenate([np.sum(a * a, axis=2), bias + self._drawn(a, x, index)], axis=1)

    def _among(self, a: Floats, tokens: Floats) -> Floats:
        """sum_ij a_i a_j V(|x_i - x_j|), (size, windows)."""
        apart, i = squared_distances(tokens, tokens), np.arange(tokens.shape[1])
        apart[:, i, i] = 0.0
        return np.asarray(np.sum((a @ self._between(apart)) * a, axis=2))

    def _with_partners(self, a: Floats, tokens: Floats, index: int) -> Floats:
        """An unbiased estimate of sum_ij a_i a_j V(|x_i - x_j|) by the mean over a few J, (size, windows)."""
        size, windows, n = a.shape
        u = generator(self.seed, f"{self.stream}/partners", index).random((size * windows, PARTNERS))
        rows = np.arange(size * windows)[:, None]
        below = np.cumsum(a, axis=2).reshape(-1, n)
        places = (below / below[:, -1:] + rows).ravel()
        J = np.searchsorted(places, (rows + (np.arange(PARTNERS) + u) / PARTNERS).ravel(), side="right")
        J = np.clip(J.reshape(rows.size, -1) - n * rows, 0, n - 1).reshape(size, -1)
        apart = squared_distances(np.take_along_axis(tokens, J[:, :, None], axis=1), tokens)
        np.put_along_axis(apart, J[:, :, None], 0.0, axis=2)
        to_all = self._between(apart).reshape(size, windows, PARTNERS, n).mean(axis=2)
        return np.asarray(np.sum(a * to_all, axis=2))

    def _drawn(self, a: Floats, x: Floats, index: int) -> Floats:
        """The squared errors of the drawn parts; x has the query and then the tokens: (size, windows)."""
        if self.others.constant:
            return np.zeros(a.shape[:2])
        tasks = self.others.draw(generator(self.seed, f"{self.stream}/tasks", index), self.size, self.problem.d)
        errors = ((a @ (f[:, 1:, None] - f[:, :1, None]))[:, :, 0] for f in self.others.values(tasks, x, np))
        return np.asarray(sum(error**2 for error in errors))

    def _between(self, squared: Floats) -> Floats:
        """V at given squared distances."""
        r = np.sqrt(np.clip(squared, 0.0, None))
        return np.asarray(
            sum(weight * np.asarray(variation.of_distance(r)) for weight, variation in self.variations), dtype=float
        )


def squared_distances(first: Floats, second: Floats) -> Floats:
    """|x - y|^2 of the points of two sets in each context, (size, points, other points)."""
    squares, second_squares = (np.sum(x * x, axis=2) for x in (first, second))
    return np.asarray(squares[:, :, None] + second_squares[:, None, :] - 2 * (first @ second.transpose(0, 2, 1)))
