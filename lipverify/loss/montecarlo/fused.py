r"""Reduced sampling by kernels, on a GPU or a processor: drawn, scored and summed without an array of tokens.

The points are those of `Reduced`, from the same addresses; only how many bundles are taken at a time differs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Floats, to_host
from lipverify.foundation.streams import key_of
from lipverify.loss.montecarlo.reduced import Reduced
from lipverify.loss.montecarlo.windows import Grid
from lipverify.problem import Problem
from lipverify.problem.laws import Affine, Cosine, Linear, Quadratic, ReLU

KNOWN = (Affine, Linear, ReLU, Cosine, Quadratic)
"""The laws for which there are kernels."""
MOST_BUNDLES = 2**17


def has_kernel(problem: Problem) -> bool:
    """Whether the law of an isotropic problem is one of those that the kernels know."""
    return type(problem.law) in KNOWN


@dataclass(frozen=True)
class Fused(Reduced):
    """`Reduced`, a call of a kernel at a time."""

    @property
    def size(self) -> int:
        """Samples in a chunk."""
        return min(MOST_BUNDLES, max(1, self.backend.tokens // int(self.problem.n)))

    def chunk(self, index: int) -> Floats:
        """Noise samples at every window and then bias samples, (size, 2 windows)."""
        assert self.backend.kernel is not None
        L = float(getattr(self.problem.law, "L", 1.0))
        n, key = int(self.problem.n), key_of(self.seed, self.stream)
        ladders, order = _ladders(self.grid)
        law, d, first = self.problem.law.name, self.problem.d, index * self.size
        terms = self.backend.kernel(law, L, d, n, ladders, key, first, self.size)
        return np.concatenate([to_host(term)[:, order] for term in terms], axis=1)


def _ladders(grid: Grid) -> tuple[list[tuple[float, int]], NDArray[np.intp]]:
    """The ladders of a grid as (foot, windows), and where in their row each window of the grid stands."""
    feet = [j for j, rung in enumerate(grid.rungs) if rung == 0]
    tops = [*(j - 1 for j in feet[1:]), len(grid.rungs) - 1]
    ladders = [(float(grid.levels[foot]), top - foot) for foot, top in zip(feet, tops, strict=True)]
    tops_before = np.searchsorted(np.array(tops), grid.at)
    return ladders, grid.at - tops_before
