"""Sampling with whole contexts in R^d: softmax of any matrix, attention with a kernel of distance, linear attention.

It applies to any covariates and any law that can be drawn. Only the label noise and the amplitudes of the law are
averaged in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Array, Floats
from lipverify.loss.kernels import Kernel, Rational
from lipverify.loss.montecarlo.contexts import Contexts, token_blocks
from lipverify.loss.montecarlo.reduced import slope_of
from lipverify.loss.montecarlo.samples import Divisible, drawn, largest_bias, softmax_bounds, sphere_bounds
from lipverify.loss.montecarlo.windows import Grid, Sums, grid_of, joined, softmax_sums
from lipverify.problem.law import FunctionLaw, as_functions

COORDINATES = 2**18
"""Number of coordinates in a chunk (2 MiB, a processor's cache): the addresses of the random numbers depend on it."""


@dataclass(frozen=True)
class WholeContexts(Divisible):
    """Base of samplers with scores w x_i^T M x for every w of a grid; M = None for the identity."""

    w: Floats
    M: Floats | None = None

    @property
    def law(self) -> FunctionLaw:
        """The law, which can be drawn."""
        return as_functions(self.problem.law, "Monte Carlo")

    @property
    def size(self) -> int:
        """Samples in a chunk."""
        return max(1, COORDINATES // ((int(self.problem.n) + 1) * self.problem.d))

    @property
    def tokens(self) -> int:
        """Tokens of a call."""
        doubles = 4 * self.problem.d + 4 * len(self.law.bounds()) + 3 * len(self.w) + 8
        return self.backend.tokens_at_once(COORDINATES // self.problem.d, doubles)

    @property
    def at_once(self) -> int:
        """Samples of a call: a chunk, and on a device whole chunks."""
        return max(1, self.backend.room and self.tokens // (int(self.problem.n) * self.size)) * self.size

    @property
    def unit(self) -> float:
        """The factor from a bias sample to units of y squared."""
        return self.law.amplitude_variance

    @property
    def reach(self) -> Floats:
        """A bound on |w x_i^T M x| at every w."""
        norm = 1.0 if self.M is None else float(np.linalg.norm(self.M, 2))
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(self.w > 0, self.w * self.problem.covariates.radius**2 * norm, 0.0)

    def blocks(self, first: int, count: int) -> Iterator[Contexts]:
        """Some contexts, a block of tokens at a time."""
        chunks, part = self.chunks(first, count)
        return token_blocks(self.problem, self.size, self.tokens, self.seed, self.stream, chunks, self.backend, part)

    def scores(self, contexts: Contexts) -> Array:
        """x_i^T M x of every token, (C, tokens)."""
        keys = contexts.query[:, :, None]
        if self.M is not None:
            keys = self.xp.matmul(self.on_device(self.M), keys)  # context by context, see `Divisible.rows`
        return self.xp.matmul(contexts.tokens, keys)[:, :, 0]


@dataclass(frozen=True)
class Full(WholeContexts):
    """Samples of softmax attention."""

    @cached_property
    def grid(self) -> Grid:
        """The values of w in ladders."""
        return grid_of(self.w, self.problem.covariates.scale**2)

    def bounds(self, log_chance: float = math.inf) -> tuple[Floats, Floats]:
        """(low, high) of each column; the prediction lies between the extremes of each component."""
        if self.problem.isotropic and self.M is None:
            return sphere_bounds(self.problem, self.w, self.law.bounds(), log_chance, slope_of(self.law))
        return softmax_bounds(self.problem, self.reach, largest_bias(self.problem), log_chance)

    def rows(self, first: int, count: int) -> Array:
        """Samples of some contexts."""

        def sums_of(contexts: Contexts) -> Sums:
            pairs = zip(contexts.values, contexts.targets, strict=True)
            differences = [f - at_query[:, None] for f, at_query in pairs]
            return softmax_sums(self.scores(contexts), differences, self.grid, self.xp, self.workspace)

        return drawn(joined(map(sums_of, self.blocks(first, count)), self.grid, self.xp), self.grid, self.xp)


@dataclass(frozen=True)
class LinearAttention(WholeContexts):
    r"""A sampler of linear attention: the prediction is (1/n) sum_i y_i w x_i^T M x, without a softmax.

    Its weights do not sum to one, so the values of f enter and not only their differences:

        noise:  w^2 sum_i s_i^2 / n^2,    bias:  sum_k (w sum_i s_i f_k(x_i) / n - f_k(x))^2,    s_i = x_i^T M x.
    """

    def bounds(self, log_chance: float = math.inf) -> tuple[Floats, Floats]:
        """(low, high) of each column: |w s_i| has a bound, and so has |f_k|."""
        bounds = self.law.bounds(self.problem.covariates.radius)
        bias = sum((bound.magnitude * (1 + self.reach)) ** 2 for bound in bounds)
        high = np.concatenate([self.reach**2 / float(self.problem.n), bias])
        return np.zeros_like(high), high

    def rows(self, first: int, count: int) -> Array:
        """Samples of some contexts."""
        xp, n = self.xp, float(self.problem.n)
        squares: Any = 0.0
        products: list[Any] = [0.0] * len(self.law.bounds())
        for block in self.blocks(first, count):
            s = self.scores(block)
            squares = squares + xp.sum(s * s, axis=1)
            products = [p + xp.sum(s * f, axis=1) for p, f in zip(products, block.values, strict=True)]
        w = self.on_device(self.w)
        noise = w**2 * (squares / n**2)[:, None]
        errors = [w * (p / n)[:, None] - target[:, None] for p, target in zip(products, block.targets, strict=True)]
        return xp.concat([noise, sum(error * error for error in errors)], axis=1)


@dataclass(frozen=True)
class KernelAttention(WholeContexts):
    """A sampler of attention with a kernel: a_i = K(u_i) / sum_j K(u_j), u_i = w (1 - <x_i, x>).

    A window without tokens predicts 0.
    """

    kernel: Kernel = Rational(1.0)  # noqa: RUF009 (frozen)

    def bounds(self, log_chance: float = math.inf) -> tuple[Floats, Floats]:
        """(low, high) of each column: the prediction lies between the values of each component, or is 0."""
        count = len(self.w)
        bias = largest_bias(self.problem)
        low = np.zeros(2 * count)
        if math.isinf(self.kernel.support):
            low[:count] = 1 / float(self.problem.n)
        else:
            bias = max(bias, sum(f.magnitude**2 for f in self.law.bounds(self.problem.covariates.radius)))
        return low, np.concatenate([np.ones(count), np.full(count, bias)])

    def rows(self, first: int, count: int) -> Array:
        """Samples of some contexts."""
        xp = self.xp
        sums: Any = [[0.0] * (2 + len(self.law.bounds())) for _ in self.w]
        for block in self.blocks(first, count):
            h = 1 - self.scores(block)
            moved = [f - target[:, None] for f, target in zip(block.values, block.targets, strict=True)]
            for k, w in enumerate(map(float, self.w)):
                K = self.kernel.weight(w * xp.clip(h, 0.0, 2.0), w)
                block_sums = [xp.sum(summand, axis=1) for summand in (K, K * K, *(K * f for f in moved))]
                sums[k] = [total + increment for total, increment in zip(sums[k], block_sums, strict=True)]
            targets = block.targets
        noise, bias = [], []
        for S, squares, *products in sums:
            occupied = S > 0
            if math.isinf(self.kernel.support) and not bool(xp.all(occupied)):
                raise OutOfReach(
                    f"attention = {self.kernel!r}: all weights of a context are 0 in doubles; use a smaller w."
                )
            divisor = xp.where(occupied, S, xp.ones_like(S))
            noise.append(xp.where(occupied, squares / divisor**2, xp.zeros_like(S)))
            errors = [xp.where(occupied, p / divisor, -target) for p, target in zip(products, targets, strict=True)]
            bias.append(sum(error * error for error in errors))
        return xp.stack([*noise, *bias], axis=1)
