r"""Contexts drawn in R^d: for matrices, any covariates and any law that can be drawn; nothing is reduced.

What is averaged in closed form is only what the definition of the loss averages anyway: the label noise and
the amplitudes of the law.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.loss.montecarlo.contexts import Contexts, token_blocks
from lipverify.loss.montecarlo.device import to_device, to_host
from lipverify.loss.montecarlo.samples import drawn, softmax_bounds
from lipverify.loss.montecarlo.windows import Grid, Sums, Workspace, merged, softmax_sums
from lipverify.problem import Problem
from lipverify.problem.law import FunctionLaw, as_functions

Array = Any
Floats = NDArray[np.float64]

COORDINATES = 2**18
"""Coordinates drawn at a time (2 MiB)."""


@dataclass(frozen=True)
class Full:
    """Samples for one matrix M scaled by every window of a grid: scores w x_i^T M x; M = None for the identity."""

    problem: Problem
    grid: Grid
    M: Floats | None
    seed: int
    cell: str
    xp: Any = np
    device: Any = None
    workspace: Workspace = field(default_factory=Workspace, repr=False, compare=False)

    contexts_a_sample = 1

    @property
    def law(self) -> FunctionLaw:
        """The law, which can be drawn."""
        return as_functions(self.problem.law, "Monte Carlo")

    @property
    def size(self) -> int:
        """Samples in a chunk."""
        return max(1, COORDINATES // ((int(self.problem.n) + 1) * self.problem.d))

    @property
    def unit(self) -> float:
        """What a bias sample is to be multiplied by."""
        return self.law.amplitude_variance

    def bounds(self) -> tuple[Floats, Floats]:
        """(low, high) of each column; the prediction lies between the extremes of each component."""
        bias = sum(extent**2 for extent in self.law.extents(self.problem.covariates.radius))
        return softmax_bounds(self.problem, self.grid.windows * largest_score(self.problem, self.M), bias)

    def chunk(self, index: int) -> Floats:
        """Noise samples at every window and then bias samples, (size, 2 windows)."""
        tokens = max(1, COORDINATES // self.problem.d)
        blocks = token_blocks(self.problem, self.size, tokens, self.seed, self.cell, index, self.xp, self.device)
        sums = reduce(lambda one, other: merged(one, other, self.grid, self.xp), map(self._sums, blocks))
        return to_host(drawn(sums, self.grid, self.xp))

    def _sums(self, contexts: Contexts) -> Sums:
        """Sums over one stretch of tokens."""
        differences = [f - at_query[:, None] for f, at_query in zip(contexts.values, contexts.targets, strict=True)]
        return softmax_sums(
            scores(contexts, self.M, self.xp, self.device), differences, self.grid, self.xp, self.workspace
        )


def largest_score(problem: Problem, M: Floats | None) -> float:
    """A bound on |x^T M x'| over the covariates."""
    return problem.covariates.radius**2 * (1.0 if M is None else float(np.linalg.norm(M, 2)))


def scores(contexts: Contexts, M: Floats | None, xp: Any, device: Any) -> Array:
    """x_i^T M x of every token, (C, tokens)."""
    key = contexts.query if M is None else contexts.query @ to_device(M.T, xp, device)
    return xp.matmul(contexts.tokens, key[:, :, None])[:, :, 0]
