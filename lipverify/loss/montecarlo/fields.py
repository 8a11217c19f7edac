r"""Contexts of a law that is known by its variogram: the points are drawn, and nothing of the task.

Given the points, a Gaussian field at them is n + 1 normal variables, of which only increments count:

    E (sum_i a_i f(x_i) - f(x))^2 = sum_i a_i V(|x_i - x|) - 1/2 sum_ij a_i a_j V(|x_i - x_j|).

So the task is averaged in closed form, as the label noise is, and what is sampled is bounded by the largest V.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.streams import generator, standard_normals
from lipverify.loss.montecarlo.full import WholeContexts
from lipverify.loss.montecarlo.samples import softmax_bounds
from lipverify.problem.fields import Field, Variation, variation_of

PAIRS = 2**20
"""Pairs of points at a time (8 MiB an array)."""
LARGEST_CONTEXT = 10_000
"""Tokens of a context: 10^8 pairs."""
PAIR = 4
"""What a pair costs, in numbers drawn: from 1.3 (a squared exponential) to 7 (an incomplete gamma function)."""


@dataclass(frozen=True)
class Fields(WholeContexts):
    """Samples of softmax attention for a law of which the variogram is known.

    Raises
    ------
    InvalidInput
        If the covariates leave the sphere and the law is known on it alone, or arrays are not NumPy's.
    OutOfReach
        If a context has more than 10,000 tokens.
    """

    def __post_init__(self) -> None:
        law, n = self.problem.law, self.problem.n
        if self.backend.xp is not np:
            raise InvalidInput(f"law = {law!r} is sampled by NumPy alone; leave backend and xp out.")
        if not (self.problem.isotropic or isinstance(law, Field)):
            raise InvalidInput(
                f"law = {law!r} is known on the unit sphere, and covariates = {self.problem.covariates.name} leave it; "
                "use Matern(...) or RBF(...), which are fields on R^d."
            )
        if n > LARGEST_CONTEXT:
            raise OutOfReach(
                f"n = {n:g}: sampling this law looks at every pair of tokens, for n up to {LARGEST_CONTEXT}; "
                "method='exact' has no such limit."
            )

    @property
    def variation(self) -> Variation:
        """The variogram of the law."""
        known = variation_of(self.problem.law)
        assert known is not None
        return known

    @property
    def numbers(self) -> float:
        """What a context costs, in numbers drawn: those of its points, and its pairs."""
        n = float(self.problem.n)
        return n * self.problem.d + PAIR * n**2

    @property
    def size(self) -> int:
        """Samples in a chunk."""
        return max(1, PAIRS // (int(self.problem.n) + 1) ** 2)

    @property
    def unit(self) -> float:
        """1: there is no amplitude."""
        return 1.0

    def bounds(self) -> tuple[Floats, Floats]:
        """(low, high) of each column: as the second sum is not negative, a bias sample is at most the largest V."""
        return softmax_bounds(self.problem, self.reach, self.variation.size)

    def chunk(self, index: int) -> Floats:
        """Noise samples at every window and then bias samples, (size, 2 windows)."""
        n, d = int(self.problem.n), self.problem.d
        draws = standard_normals(generator(self.seed, self.stream, index), (self.size, n + 1, d))
        x = self.problem.covariates.points(draws, np)
        scores = x[:, 1:] @ (x[:, 0] if self.M is None else x[:, 0] @ self.M.T)[:, :, None]
        below = scores - scores.max(axis=1, keepdims=True)
        a = np.exp(np.minimum(self.w, 1e300)[None, :, None] * below.transpose(0, 2, 1))
        a /= a.sum(axis=2, keepdims=True)
        squares = np.sum(x * x, axis=2)
        apart = squares[:, :, None] + squares[:, None, :] - 2 * (x @ x.transpose(0, 2, 1))
        apart[:, np.arange(n + 1), np.arange(n + 1)] = 0.0
        V = np.asarray(self.variation.of_distance(np.sqrt(np.clip(apart, 0.0, None))), dtype=float)
        bias = (a @ V[:, 1:, :1])[:, :, 0] - np.sum((a @ V[:, 1:, 1:]) * a, axis=2) / 2
        return np.concatenate([np.sum(a * a, axis=2), np.maximum(bias, 0.0)], axis=1)
