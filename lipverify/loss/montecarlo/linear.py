r"""Sampling of linear attention: the prediction is (1/n) sum_i y_i w x_i^T M x, without a softmax.

Its weights do not sum to one, so the values of f enter and not only their differences:

    noise:  w^2 sum_i s_i^2 / n^2,    bias:  sum_k (w sum_i s_i f_k(x_i) / n - f_k(x))^2,    s_i = x_i^T M x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lipverify.foundation.arrays import Array, Floats, to_device
from lipverify.loss.montecarlo.full import WholeContexts


@dataclass(frozen=True)
class LinearAttention(WholeContexts):
    """A sampler of linear attention."""

    def bounds(self) -> tuple[Floats, Floats]:
        """(low, high) of each column: |w s_i| has a bound, and so has |f_k|."""
        bounds = self.law.bounds(self.problem.covariates.radius)
        bias = sum((bound.magnitude * (1 + self.reach)) ** 2 for bound in bounds)
        high = np.concatenate([self.reach**2 / float(self.problem.n), bias])
        return np.zeros_like(high), high

    def rows(self, first: int, count: int) -> Array:
        """Samples of some contexts of one chunk."""
        xp, n = self.backend.xp, float(self.problem.n)
        squares: Any = 0.0
        products: list[Any] = [0.0] * len(self.law.bounds())
        for block in self.blocks(first, count):
            s = self.scores(block)
            squares = squares + xp.sum(s * s, axis=1)
            products = [p + xp.sum(s * f, axis=1) for p, f in zip(products, block.values, strict=True)]
        w = to_device(self.w, xp, self.backend.device)
        noise = w**2 * (squares / n**2)[:, None]
        errors = [w * (p / n)[:, None] - target[:, None] for p, target in zip(products, block.targets, strict=True)]
        return xp.concat([noise, sum(error * error for error in errors)], axis=1)
