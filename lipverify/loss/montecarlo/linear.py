r"""Linear attention: the prediction is (1/n) sum_i y_i w x_i^T M x, with no softmax.

Its weights do not sum to one, so that the values themselves enter and not their differences:

    noise:  w^2 sum_i s_i^2 / n^2,    bias:  sum_k (w sum_i s_i f_k(x_i) / n - f_k(x))^2,    s_i = x_i^T M x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.loss.montecarlo.contexts import token_blocks
from lipverify.loss.montecarlo.device import to_host
from lipverify.loss.montecarlo.full import COORDINATES, largest_score, scores
from lipverify.problem import Problem
from lipverify.problem.law import FunctionLaw, as_functions

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LinearAttention:
    """Samples for one matrix M scaled by every window w; M = None for the identity."""

    problem: Problem
    w: Floats
    M: Floats | None
    seed: int
    cell: str
    xp: Any = np
    device: Any = None

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
        """(low, high): |s_i| is at most |M| times the squared radius of the covariates, and |f_k| has a bound."""
        reach = self.w * largest_score(self.problem, self.M)
        magnitudes = self.law.magnitudes(self.problem.covariates.radius)
        bias = sum((size * (1 + reach)) ** 2 for size in magnitudes)
        high = np.concatenate([reach**2 / float(self.problem.n), bias])
        return np.zeros_like(high), high

    def chunk(self, index: int) -> Floats:
        """Noise samples at every window and then bias samples, (size, 2 windows)."""
        xp, n = self.xp, float(self.problem.n)
        tokens = max(1, COORDINATES // self.problem.d)
        squares: Any = 0.0
        products: list[Any] = [0.0] * len(self.law.extents())
        for block in token_blocks(self.problem, self.size, tokens, self.seed, self.cell, index, xp, self.device):
            s = scores(block, self.M, xp, self.device)
            squares = squares + xp.sum(s * s, axis=-1)
            products = [p + xp.sum(s * f, axis=-1) for p, f in zip(products, block.values, strict=True)]
        w = xp.asarray(self.w, device=self.device)
        noise = w**2 * (squares / n**2)[:, None]
        errors = [w * (p / n)[:, None] - target[:, None] for p, target in zip(products, block.targets, strict=True)]
        return to_host(xp.concat([noise, sum(error * error for error in errors)], axis=1))
