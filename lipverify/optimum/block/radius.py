r"""Up to which radius of the ball ||B^T M B||_2 <= C the best M = c BB^T + c' (I - BB^T) has c' = 0."""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec
import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.noted import makes
from lipverify.foundation.validation import number
from lipverify.loss.block import block_terms
from lipverify.optimum.block.minimiser import ACROSS, optimal_block
from lipverify.problem import Problem
from lipverify.problem.problem import require_problem

ROWS, ROUNDS = 12, 4
"""Each round looks at twelve radii: a bracket narrows twelvefold."""
NEXT_TO_ZERO = 2e-3
"""The smallest c', as a share of the largest: its square is far above rounding, its fourth power is not felt."""


class Radius(msgspec.Struct, frozen=True, kw_only=True):
    """The radius lies in [low, high]; `high` is infinite if c' = 0 is best in every ball looked at, up to `low`.

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
        """Whether a ball was found in which c' = 0 is not best."""
        return math.isfinite(self.high)


@dataclass(frozen=True)
class _Row:
    """The least losses of all rows up to some c, with their errors: with c' = 0, and with any c'."""

    c: float
    aligned: tuple[float, float]
    any: tuple[float, float]

    @property
    def failed(self) -> bool:
        """Whether some c' does better in the ball of radius c."""
        return self.any[0] + self.any[1] < self.aligned[0] - self.aligned[1]


@makes("bounded", "exact")
def critical_radius(problem: Problem, most: float) -> Radius:
    r"""The largest C such that the minimiser over |c| <= C, all c', has c' = 0, looked for from most / 12 to `most`.

    A ball of radius C keeps c' = 0 if the least L(c, c') of its rows c <= C is not below the least L(c, 0). Rows of
    increasing c are followed to the first at which the ball fails, which is then bracketed ever closer.

    Parameters
    ----------
    problem
        As for `lipverify.optimum.block.optimal_block`.
    most
        The largest radius to look at, finite and > 0.

    Returns
    -------
    Radius
        An interval that holds the radius.

    Raises
    ------
    InvalidInput
        If the problem has no exact reduction, or `most` breaks its rule.
    OutOfReach
        If scores spread too far.

    Validity: balls of radius below most / 12 are not looked at; on the circle without noise, c' > 0 is best in the
    smallest, because |c| <= C saves less there than a large c' does. c > 0, which has the smaller loss; a minimum in
    c' is seen if it is not much narrower than the steps of a grid of eight values, the first of them next to 0.

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
        # the best aligned c stays among the rows
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
