r"""Sampling with whole contexts in R^d, for matrices, any covariates and any law that can be drawn.

Only the label noise and the amplitudes of the law are averaged in closed form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np

from lipverify.foundation.arrays import Array, Floats, to_device
from lipverify.loss.montecarlo.backend import NUMPY, Backend
from lipverify.loss.montecarlo.contexts import Contexts, token_blocks
from lipverify.loss.montecarlo.samples import Divisible, drawn, largest_bias, softmax_bounds, sphere_bounds
from lipverify.loss.montecarlo.windows import Grid, Sums, Workspace, grid_of, merged, softmax_sums
from lipverify.problem import Problem
from lipverify.problem.law import FunctionLaw, as_functions

COORDINATES = 2**18
"""Number of coordinates drawn at a time (2 MiB)."""


@dataclass(frozen=True)
class WholeContexts(Divisible):
    """Base of samplers with scores w x_i^T M x for every w of a grid; M = None for the identity."""

    problem: Problem
    w: Floats
    M: Floats | None = None
    seed: int = 0
    stream: str = ""
    backend: Backend = NUMPY

    contexts_a_sample = 1

    @property
    def law(self) -> FunctionLaw:
        """The law, as functions that can be drawn."""
        return as_functions(self.problem.law, "Monte Carlo")

    @property
    def size(self) -> int:
        """Samples in a chunk."""
        return max(1, COORDINATES // ((int(self.problem.n) + 1) * self.problem.d))

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
        """The contexts `first`, ..., `first + count - 1` of one chunk, a block of tokens at a time."""
        tokens = max(1, COORDINATES // self.problem.d)
        index, start = divmod(first, self.size)
        address = self.seed, self.stream, index
        return token_blocks(self.problem, self.size, tokens, *address, self.backend, slice(start, start + count))

    def scores(self, contexts: Contexts) -> Array:
        """x_i^T M x of every token, (C, tokens)."""
        xp, device = self.backend.xp, self.backend.device
        keys = contexts.query[:, :, None]
        if self.M is not None:
            keys = xp.matmul(to_device(self.M, xp, device), keys)  # context by context, see `Divisible.rows`
        return xp.matmul(contexts.tokens, keys)[:, :, 0]


@dataclass(frozen=True)
class Full(WholeContexts):
    """Samples of softmax attention."""

    workspace: Workspace = field(default_factory=Workspace, repr=False, compare=False)

    @cached_property
    def grid(self) -> Grid:
        """The values of w in ladders."""
        return grid_of(self.w, self.problem.covariates.scale**2)

    def bounds(self) -> tuple[Floats, Floats]:
        """(low, high) of each column; the prediction lies between the extremes of each component."""
        if self.problem.isotropic and self.M is None:
            return sphere_bounds(self.problem, self.w, self.law.bounds())
        return softmax_bounds(self.problem, self.reach, largest_bias(self.problem))

    def rows(self, first: int, count: int) -> Array:
        """Samples of some contexts of one chunk."""
        grid, xp = self.grid, self.backend.xp

        def sums_of(contexts: Contexts) -> Sums:
            pairs = zip(contexts.values, contexts.targets, strict=True)
            differences = [f - at_query[:, None] for f, at_query in pairs]
            return softmax_sums(self.scores(contexts), differences, grid, xp, self.workspace)

        sums = reduce(lambda one, other: merged(one, other, grid, xp), map(sums_of, self.blocks(first, count)))
        return drawn(sums, grid, xp)
