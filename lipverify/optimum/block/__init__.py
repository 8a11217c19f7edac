"""The best matrix of the form c BB^T + c' (I - BB^T), exact and sampled, and the radii for which its c' is 0.

The radius is the largest C of the ball ||B^T M B||_2 <= C in which the best c' is 0. The sampled test of the form
assumes nothing about the best M.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec
import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.noted import makes
from lipverify.foundation.validation import number
from lipverify.loss.block import block_terms
from lipverify.optimum.block.minimiser import ACROSS, BlockOptimum, optimal_block
from lipverify.optimum.matrix import SpectralBall, optimal_matrix
from lipverify.optimum.matrix.estimate import REJECTED
from lipverify.problem import Problem
from lipverify.problem.covariates import axes
from lipverify.problem.problem import require_problem

ROWS, ROUNDS = 12, 4
"""Each round evaluates ROWS radii, which narrows the bracket by that factor."""
NEXT_TO_ZERO = 2e-3
"""The smallest c', as a share of the largest: its square is far above rounding and its fourth power negligible."""


class Radius(msgspec.Struct, frozen=True, kw_only=True):
    """The radius lies in [low, high]; `high` is infinite if c' = 0 is best in every ball of the search, up to `low`.

    Attributes
    ----------
    low, high
        Ends of the interval that holds the radius, a value of c; no unit.

    >>> Radius(low=2.5, high=2.6).high
    2.6
    """

    low: float
    high: float

    @property
    def finite(self) -> bool:
        """True if some ball has a best c' other than 0."""
        return math.isfinite(self.high)


@dataclass(frozen=True)
class _Row:
    """The smallest losses over all rows up to some c, with c' = 0 and with any c', and their errors."""

    c: float
    aligned: tuple[float, float]
    any: tuple[float, float]

    @property
    def failed(self) -> bool:
        """True if some c' > 0 has a smaller loss in the ball of radius c."""
        return self.any[0] + self.any[1] < self.aligned[0] - self.aligned[1]


@makes("bounded", "exact")
def critical_radius(problem: Problem, most: float) -> Radius:
    r"""The largest C such that the minimiser over |c| <= C and all c' has c' = 0, searched from most / 12 to `most`.

    A ball of radius C keeps c' = 0 if the least L(c, c') of its rows c <= C is not below the least L(c, 0). Rows of
    increasing c are evaluated up to the first at which the ball fails; that radius is then bracketed ever closer.

    Parameters
    ----------
    problem
        As for `lipverify.optimum.block.optimal_block`.
    most
        The largest radius of the search, finite and > 0.

    Returns
    -------
    Radius
        An interval that holds the radius.

    Raises
    ------
    InvalidInput
        If the problem has no exact reduction, or `most` breaks its rule.
    OutOfReach
        If the spread of scores is too large.

    Validity: the search skips balls of radius below most / 12. On the circle without noise, c' > 0 is best in the
    smallest balls, because |c| <= C saves less there than a large c' does. Only c > 0 is searched, which has the
    smaller loss. A minimum in c' is found if it is not much narrower than the steps of a grid of eight values, the
    first of which is next to 0.

    Source: Collins et al., slides, Theorem 4, "for some C = Omega(1)".

    >>> from lipverify.laws import LowRank
    >>> found = critical_radius(Problem(d=2, n=1000, law=LowRank([[1.0], [0.0]]), sigma=0.0), most=8.0)
    >>> round(found.low, 2), round(found.high, 2)
    (2.55, 2.55)
    """
    require_problem(problem)
    number("most", most, "the largest radius", above=0)
    best = optimal_block(problem, most)
    reach = max(most, 1.5 * best.c_perp)
    # next to 0 a minimum in c' shows as a slope along c'^2
    c_perp = np.concatenate([[0.0, NEXT_TO_ZERO * reach], reach * ACROSS[1:]])
    rows = np.unique(np.append(np.linspace(0, most, ROWS + 1)[1:], best.aligned_c))
    last = _Row(0.0, (math.inf, 0.0), (math.inf, 0.0))
    for _ in range(ROUNDS):
        followed = _followed(problem, rows, c_perp, last)
        failed = next((i for i, row in enumerate(followed) if row.failed), None)
        if failed is None:
            return Radius(low=float(rows[-1]), high=math.inf)
        last = followed[failed - 1] if failed else last
        # keep the best aligned c among the rows
        finer = np.linspace(last.c, rows[failed], ROWS + 1)[1:]
        inside = rows[(rows > last.c) & (rows < rows[failed])]
        rows = np.unique(np.append(finer, inside))
    return Radius(low=last.c, high=float(rows[-1]))


def _followed(problem: Problem, rows: Floats, c_perp: Floats, last: _Row) -> list[_Row]:
    """The rows after `last`, each with the least losses so far."""
    terms = block_terms(problem, rows[:, None], c_perp)
    followed = [last]
    for c, losses, errors in zip(rows, terms.total, terms.total_error, strict=True):
        pairs = list(zip(losses.tolist(), errors.tolist(), strict=True))
        before = followed[-1]
        followed.append(_Row(float(c), min(before.aligned, pairs[0]), min(before.any, *pairs)))
    return followed[1:]


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


__all__ = [
    "BlockOptimum",
    "Radius",
    "SampledBlock",
    "critical_radius",
    "optimal_block",
    "sampled_block",
]
