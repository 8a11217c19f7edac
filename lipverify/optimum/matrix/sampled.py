"""The mean loss on common draws as a function of M, with its gradient: the objective of the minimisers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, takewhile

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.quoting import shown
from lipverify.loss.attention import Attention, attention_named, losses, losses_and_slopes
from lipverify.loss.montecarlo.contexts import Contexts, draw_contexts
from lipverify.problem import Problem
from lipverify.problem.law import as_functions

BATCHES, NONE = 16, -1
"""Number of batches for the jackknife (context i is in batch i mod BATCHES), and the index for leaving out none."""
LARGEST_STORE = 5 * 10**7
"""Largest number of doubles stored for all contexts (400 MB)."""
BLOCK_TOKENS = 2**17
"""Tokens evaluated at a time: the arrays of one evaluation stay small."""


@dataclass(frozen=True, eq=False)
class SampledLoss:
    """The mean loss over contexts drawn once, summed block by block in a fixed order."""

    problem: Problem
    attention: Attention
    blocks: tuple[Contexts, ...]

    def __call__(self, M: Floats, without: int = NONE) -> tuple[float, Floats]:
        """The mean loss and its gradient in M, over all batches or all but one."""
        total, gradient, contexts = 0.0, np.zeros((self.problem.d, self.problem.d)), 0
        for block, loss, z in self._evaluated(M):
            kept = np.arange(len(loss)) % BATCHES != without
            total += float(np.sum(loss[kept]))
            gradient += z[kept].T @ block.query[kept]
            contexts += int(np.sum(kept))
        return total / contexts, gradient / contexts

    def mean(self, M: Floats) -> float:
        """The mean loss alone, at half the cost of the loss with its gradient."""
        return float(np.mean(self._losses(M)))

    def of_batches(self, M: Floats) -> Floats:
        """The mean loss of each batch, (BATCHES,)."""
        loss = self._losses(M)
        batch = np.arange(len(loss)) % BATCHES
        return np.asarray(np.bincount(batch, loss) / np.bincount(batch))

    def gradients_of_batches(self, M: Floats) -> Floats:
        """The gradient of each batch's mean loss, (BATCHES, d, d)."""
        sums, counts = np.zeros((BATCHES, self.problem.d, self.problem.d)), np.zeros((BATCHES, 1, 1))
        for block, _, z in self._evaluated(M):
            for batch in range(BATCHES):
                sums[batch] += z[batch::BATCHES].T @ block.query[batch::BATCHES]
                counts[batch] += len(z[batch::BATCHES])
        return np.asarray(sums / counts)

    def _evaluated(self, M: Floats) -> list[tuple[Contexts, Floats, Floats]]:
        v, noise = self._variances
        return [(block, *losses_and_slopes(self.attention, block, M, noise, v)) for block in self.blocks]

    def _losses(self, M: Floats) -> Floats:
        v, noise = self._variances
        return np.concatenate([losses(self.attention, block, M, noise, v) for block in self.blocks])

    @property
    def _variances(self) -> tuple[float, float]:
        """The variances of the amplitudes and of the label noise."""
        return as_functions(self.problem.law, "sampling").amplitude_variance, self.problem.sigma**2


def affordable_contexts(problem: Problem) -> int:
    # a token has its coordinates and at most four values of the law's components
    return int(LARGEST_STORE / (float(problem.n) * (problem.d + 4)))


def require_kept(problem: Problem, contexts: int) -> None:
    """Refuse more contexts than can be stored."""
    if contexts > affordable_contexts(problem):
        raise OutOfReach(
            f"contexts = {shown(contexts)} with n = {problem.n}, d = {problem.d}: the draws are kept, and at most "
            f"{affordable_contexts(problem)} contexts fit; take a smaller n, or no more contexts than fit."
        )


def draw_loss(problem: Problem, attention: str, contexts: int, seed: int, stream: str) -> SampledLoss:
    """The mean loss over contexts that are drawn once, as a function of the matrix M.

    Parameters
    ----------
    problem
        Any problem whose law can be drawn.
    attention
        "softmax" or "linear".
    contexts
        Their number.
    seed, stream
        The address of the random numbers; block number j of the contexts is the chunk j.

    Returns
    -------
    SampledLoss
        Called with M, it gives the mean loss and its gradient; `mean`, `of_batches` and `gradients_of_batches` give
        parts of these.

    Raises
    ------
    InvalidInput
        If there is no attention of that name, or the law cannot be drawn.
    OutOfReach
        If that many contexts do not fit.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> loss = draw_loss(Problem(d=2, n=5, law=Affine()), "softmax", 64, seed=0, stream="example")
    >>> loss(np.zeros((2, 2)))[0] == loss.mean(np.zeros((2, 2)))
    True
    """
    require_kept(problem, contexts)
    # whole batches in each block, so that a context's index in its block determines its batch
    size = BATCHES * max(1, BLOCK_TOKENS // (BATCHES * int(problem.n)))
    firsts = takewhile(lambda first: first < contexts, count(0, size))
    blocks = tuple(
        draw_contexts(problem, min(size, contexts - first), seed, stream, chunk) for chunk, first in enumerate(firsts)
    )
    return SampledLoss(problem, attention_named(attention), blocks)
