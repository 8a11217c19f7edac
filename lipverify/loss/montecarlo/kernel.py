r"""Sampling of attention with a kernel of the distance, on whole contexts, for every law that can be drawn.

a_i = K(u_i) / sum_j K(u_j),  u_i = w (1 - <x_i, x>);    a window without tokens predicts 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Array, Floats
from lipverify.loss.kernels import Kernel, Rational
from lipverify.loss.montecarlo.full import WholeContexts
from lipverify.loss.montecarlo.samples import largest_bias


@dataclass(frozen=True)
class KernelAttention(WholeContexts):
    """A sampler of attention with a kernel."""

    kernel: Kernel = Rational(1.0)  # noqa: RUF009 (frozen)

    def bounds(self) -> tuple[Floats, Floats]:
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
        """Samples of some contexts of one chunk."""
        xp = self.backend.xp
        sums: Any = [[0.0] * (2 + len(self.law.bounds())) for _ in self.w]
        for block in self.blocks(first, count):
            h = 1 - self.scores(block)
            moved = [f - target[:, None] for f, target in zip(block.values, block.targets, strict=True)]
            for k, w in enumerate(map(float, self.w)):
                K = self.kernel.weight(w * xp.clip(h, 0.0, 2.0), w)
                found = [xp.sum(each, axis=1) for each in (K, K * K, *(K * f for f in moved))]
                sums[k] = [one + other for one, other in zip(sums[k], found, strict=True)]
            targets = block.targets
        noise, bias = [], []
        for S, squares, *products in sums:
            held = S > 0
            if math.isinf(self.kernel.support) and not bool(xp.all(held)):
                raise OutOfReach(
                    f"attention = {self.kernel!r}: all weights of a context are 0 in doubles; use a smaller w."
                )
            one = xp.where(held, S, xp.ones_like(S))
            noise.append(xp.where(held, squares / one**2, xp.zeros_like(S)))
            errors = [xp.where(held, p / one, -target) for p, target in zip(products, targets, strict=True)]
            bias.append(sum(error * error for error in errors))
        return xp.stack([*noise, *bias], axis=1)
