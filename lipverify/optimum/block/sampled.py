"""A sampled test of the form M = c BB^T + c' (I - BB^T), which assumes nothing about the best M."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from lipverify.foundation.noted import makes
from lipverify.optimum.matrix import SpectralBall, optimal_matrix
from lipverify.optimum.matrix.estimate import REJECTED
from lipverify.problem import Problem
from lipverify.problem.covariates import axes

STARTS = 2
"""Starts of the sampled matrix: the identity and a small random matrix."""


class SampledBlock(msgspec.Struct, frozen=True, kw_only=True):
    """The best symmetric M in a ball, from sampled contexts: half-widths of 95 % intervals.

    Attributes
    ----------
    c, c_perp
        The averages of s^T M s over the unit vectors of col(B) and of its complement.
    relevant
        Its least value on col(B), from M before any averaging.
    deviation, chance
        The largest entry of M - c BB^T - c' (I - BB^T) in standard errors, and the probability of such an entry if M*
        has this form.
    M
        The matrix before any averaging.
    """

    c: float
    c_error: float
    c_perp: float
    c_perp_error: float
    relevant: float
    relevant_error: float
    loss: float
    loss_error: float
    deviation: float
    chance: float
    M: list[list[float]]

    @property
    def ratio(self) -> tuple[float, float]:
        """(|c'|/c, its error); the error is infinite if M does not have the form. The loss is even in c'."""
        ratio = abs(self.c_perp / self.c)
        error = (self.c_perp_error + ratio * self.c_error) / abs(self.c)
        return ratio, error if self.chance >= REJECTED else math.inf


@makes("sampled", "montecarlo")
def sampled_block(problem: Problem, k: int, C: float, *, contexts: int, seed: int, stream: str) -> SampledBlock:
    """The best symmetric M with ||B^T M B||_2 <= C, B the first k axes.

    Parameters
    ----------
    problem
        A problem whose law and covariates treat the first k axes alike, and the others.
    contexts, seed, stream
        As for `optimal_matrix`.

    >>> from lipverify.laws import LowRank
    >>> problem = Problem(d=2, n=20, law=LowRank(axes(2, 1)), sigma=0.0)
    >>> found = sampled_block(problem, 1, 2.0, contexts=640, seed=0, stream="doc")
    >>> round(found.c, 3), abs(found.c_perp) < 3 * found.c_perp_error
    (2.0, True)
    """
    ball = SpectralBall(B=axes(problem.d, k), C=C)
    optimum = optimal_matrix(problem, constraint=ball, contexts=contexts, starts=STARTS, seed=seed, stream=stream)
    M, error = optimum.M_raw, optimum.M_raw_error
    return SampledBlock(
        c=float(optimum.M[0, 0]),
        c_error=float(optimum.M_error[0, 0]),
        c_perp=float(optimum.M[-1, -1]),
        c_perp_error=float(optimum.M_error[-1, -1]),
        relevant=float(np.linalg.eigvalsh(M[:k, :k])[0]),
        relevant_error=float(np.linalg.norm(error[:k, :k])),
        loss=optimum.loss,
        loss_error=optimum.loss_error,
        deviation=optimum.asymmetry,
        chance=optimum.asymmetry_chance,
        M=M.tolist(),
    )
