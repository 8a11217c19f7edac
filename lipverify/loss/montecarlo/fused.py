r"""Reduced sampling on a GPU by fused kernels: drawn, scored and summed without an array of tokens.

The points are those of `Reduced`, from the same addresses; only how many bundles are taken at a time differs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lipverify.loss.montecarlo.device import to_host
from lipverify.loss.montecarlo.kernels import launch
from lipverify.loss.montecarlo.kernels.layout import LAWS
from lipverify.loss.montecarlo.reduced import Reduced
from lipverify.loss.montecarlo.windows import Grid
from lipverify.loss.streams import key_of
from lipverify.problem import Problem

Floats = NDArray[np.float64]

TOKENS = 2**26
"""Tokens for one launch: enough to fill any device, and less than a second of it."""
MOST_BUNDLES = 2**17


def has_kernel(problem: Problem) -> bool:
    """Whether the law of an isotropic problem is one of those that the kernels know."""
    return problem.law.name in LAWS


class Fused(Reduced):
    """`Reduced`, a launch of a kernel at a time."""

    @property
    def size(self) -> int:
        """Samples in a chunk."""
        return min(MOST_BUNDLES, max(1, TOKENS // int(self.problem.n)))

    def chunk(self, index: int) -> Floats:
        """Noise samples at every window and then bias samples, (size, 2 windows)."""
        L = float(getattr(self.problem.law, "L", 1.0))
        n, key = int(self.problem.n), key_of(self.seed, self.cell)
        feet, order = _ladders(self.grid)
        law, d, first = self.problem.law.name, self.problem.d, index * self.size
        terms = launch.samples(law, L, d, n, feet, key, first, self.size)
        return np.concatenate([to_host(term)[:, order] for term in terms], axis=1)


def _ladders(grid: Grid) -> tuple[list[tuple[float, int]], NDArray[np.intp]]:
    """The ladders of a grid as (foot, windows), and where in their row each window of the grid stands."""
    feet = [j for j, rung in enumerate(grid.rungs) if rung == 0]
    tops = [*(j - 1 for j in feet[1:]), len(grid.rungs) - 1]
    ladders = [(float(grid.levels[foot]), top - foot) for foot, top in zip(feet, tops, strict=True)]
    tops_before = np.searchsorted(np.array(tops), grid.at)
    return ladders, grid.at - tops_before
