r"""Reduced sampling by compiled code, on a GPU or a processor, which draws, scores and sums without an array of tokens.

The points are those of `Reduced`, from the same addresses; only the number of bundles per call differs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Array, to_device
from lipverify.foundation.streams import key_of
from lipverify.loss.montecarlo.reduced import Reduced
from lipverify.loss.montecarlo.windows import Grid
from lipverify.problem import Problem
from lipverify.problem.law import Law, by_law
from lipverify.problem.laws import Affine, Cosine, Linear, Quadratic, ReLU

MOST_BUNDLES = 2**17
MOST_RESULTS = 2**23
"""Largest number of samples of a chunk: 64 MiB, and a few times that during reduction."""


def is_compiled(problem: Problem) -> bool:
    """True if the compiled code supports the law of an isotropic problem."""
    return compiled(problem.law)


@by_law
def compiled(law: Law) -> bool:
    """True if there is compiled code for a law, registered by its class under the law's name."""
    return False


@compiled.register(Affine, Linear, ReLU, Cosine, Quadratic)
def _named(law: Law) -> bool:
    return True


@dataclass(frozen=True)
class Fused(Reduced):
    """`Reduced` by calls of the compiled code."""

    @property
    def size(self) -> int:
        """Samples in a chunk: as many as the tokens of a call allow, limited by `MOST_RESULTS`."""
        results = MOST_RESULTS // (2 * len(self.grid.at))
        return max(1, min(MOST_BUNDLES, results, self.backend.tokens // int(self.problem.n)))

    def rows(self, first: int, count: int) -> Array:
        """The samples of the bundles `first`, ..., `first + count - 1`."""
        assert self.backend.compiled is not None
        L = float(getattr(self.problem.law, "L", 1.0))
        n, key = int(self.problem.n), key_of(self.seed, self.stream)
        ladders, order = _ladders(self.grid)
        terms = self.backend.compiled(self.problem.law.name, L, self.problem.d, n, ladders, key, first, count)
        at = to_device(order, self.xp, self.backend.device)
        return self.xp.concat([self.xp.take(term, at, axis=1) for term in terms], axis=1)


def _ladders(grid: Grid) -> tuple[list[tuple[float, int]], NDArray[np.intp]]:
    """The ladders of a grid as (foot, length), and the column of each w of the grid."""
    feet = [j for j, rung in enumerate(grid.rungs) if rung == 0]
    tops = [*(j - 1 for j in feet[1:]), len(grid.rungs) - 1]
    ladders = [(float(grid.levels[foot]), top - foot) for foot, top in zip(feet, tops, strict=True)]
    tops_before = np.searchsorted(np.array(tops), grid.at)
    return ladders, grid.at - tops_before
