r"""The largest radius C of the ball ||B^T M B||_2 <= C in which the best M = c BB^T + c' (I - BB^T) has c' = 0."""

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
