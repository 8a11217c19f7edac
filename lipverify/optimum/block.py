"""The best M = c BB^T + c' (I - BB^T) for f(x) = a^T B^T x, exact and sampled, and the radii for which its c' is 0.

The loss is even in c' (see `lipverify.loss.block`), so the search covers c' >= 0 only, and c' = 0 is stationary. The
sampled test of the form assumes nothing about the best M.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.polynomial import chebyshev
from scipy.optimize import minimize

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.noted import makes
from lipverify.foundation.validation import number
from lipverify.loss.block import block_terms
from lipverify.optimum.matrix import SpectralBall, optimal_matrix
from lipverify.optimum.matrix.estimate import REJECTED
from lipverify.problem import Problem
from lipverify.problem.covariates import ProductOfSpheres, axes
from lipverify.problem.problem import require_problem

ALONG = np.array([-1.0, -0.3, -0.1, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
"""Values of c, in units of the largest, of the first grid: most of them near the aligned optimum, at c > 0."""
ACROSS = np.array([0.005, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 1.0])
"""Grid of the first search, as shares of the range of c and c'."""
TINY, FAR = 0.05, 2.0 ** np.arange(1, 5)
"""In balls smaller than TINY units, c = C saves so little that a c' beyond the grid may be best, at these multiples of
its range; no more than the variance of the plain average of the labels.
"""
LOCATED = 1e-6
"""Accuracy of the minimiser as a share of its scale."""
PATCH, CLOSE, MOST_PATCHES = 0.4, 0.04, 200
"""Half-widths of the patches on which the loss is fitted by a polynomial, in units of the scale: first and last."""
NODES = np.cos(np.pi * (np.arange(7) + 0.5) / 7)
"""Chebyshev points of the patches: a polynomial of degree 6 in each variable."""
GRID = np.array(np.meshgrid(NODES, NODES, indexing="ij"))
TO_COEFFICIENTS = np.linalg.inv(chebyshev.chebvander(NODES, NODES.size - 1))  # of the polynomial through values
PROBE = 1e-2
"""Step of the second differences, as a share of the scale: squared, far above the rounding of the loss."""


class BlockOptimum(msgspec.Struct, frozen=True, kw_only=True):
    """The minimiser over |c| <= C and all c', and the best aligned matrix M = c BB^T.

    Attributes
    ----------
    problem, C
        The problem, and the radius.
    c, c_error, c_perp, c_perp_error
        c and c' of the minimiser, without units, with bounds on their errors; c' is 0 unless the gain exceeds the
        errors.
    loss, loss_error
        The loss there, in units of y squared, and a bound on its error.
    aligned_c, aligned_loss
        The best c with c' = 0, and its loss.
    slope, slope_error
        dL / d(c'^2) there, and its error: c' = 0 is a minimum in c' if it is positive, and none if it is negative.
    """

    problem: Problem
    C: float
    c: float
    c_error: float
    c_perp: float
    c_perp_error: float
    loss: float
    loss_error: float
    aligned_c: float
    aligned_loss: float
    slope: float
    slope_error: float

    @property
    def gain(self) -> float:
        """Loss of the aligned optimum minus the loss of the minimiser."""
        return self.aligned_loss - self.loss

    @property
    def ratio(self) -> tuple[float, float]:
        """(c'/c, its error)."""
        ratio = self.c_perp / self.c
        return ratio, (self.c_perp_error + abs(ratio) * self.c_error) / abs(self.c)

    @property
    def aligned(self) -> bool:
        """True if M* = c BB^T."""
        return self.c_perp == 0


@dataclass(frozen=True)
class _Surface:
    """The loss as a function of (c, c'), and the scales on which it varies."""

    problem: Problem
    C: float

    @property
    def units(self) -> tuple[float, float]:
        """Scales at which scores change by about one along and across B: d on the sphere, k / c_u^2 on the product."""
        covariates, d = self.problem.covariates, self.problem.d
        if not isinstance(covariates, ProductOfSpheres):
            return float(d), float(d)
        k = np.shape(covariates.B)[1]
        return k / covariates.c_u**2, (d - k) / covariates.c_v**2

    def losses(self, c: Any, c_perp: Any) -> tuple[Floats, Floats]:
        terms = block_terms(self.problem, c, c_perp)
        return terms.total, terms.total_error

    def at(self, point: Any) -> float:
        """The loss at one pair, c within the ball."""
        return float(self.losses(min(max(point[0], -self.C), self.C), abs(point[1]))[0])


@makes("bounded", "exact")
def optimal_block(problem: Problem, C: float) -> BlockOptimum:
    r"""Minimise the exact loss over M = c BB^T + c' (I - BB^T), |c| <= C.

    Parameters
    ----------
    problem
        As for `lipverify.loss.block.block_terms`.
    C
        Radius of the ball ||B^T M B||_2 <= C, finite and > 0.

    Returns
    -------
    BlockOptimum
        (c*, c'*), c'* >= 0, the loss there, and the best aligned M with them.

    Validity: the search uses a grid that grows until no minimum lies at its end, and then refines. It would miss a
    minimum narrower than a tenth of the grid's range. If C is less than a twentieth of the scale on which scores
    change, the search also covers c' up to sixteen times the grid's range.

    Raises
    ------
    InvalidInput
        If the problem has no such reduction, n = 1, or C breaks its rule.
    OutOfReach
        If the spread of scores is too large, for example because the loss keeps falling as c' grows.

    Source: Collins et al., slides, Theorem 4; this set is the invariant part of the theorem's set of matrices.

    Examples
    --------
    >>> from lipverify.laws import LowRank
    >>> found = optimal_block(Problem(d=2, n=9, law=LowRank([[1.0], [0.0]]), sigma=0.0), C=10.0)
    >>> round(found.c, 3), round(found.c_perp, 3), round(found.aligned_c, 3), round(1e4 * found.gain, 2)
    (4.612, 1.795, 3.847, 3.37)
    """
    require_problem(problem)
    number("C", C, "the radius of the ball", above=0)
    if problem.n == 1:
        raise InvalidInput("n = 1: the weight of a single token is 1, and the loss does not depend on M; use n >= 2.")
    surface = _Surface(problem, float(C))
    line, start = _survey(surface)
    aligned_c = _along(surface, line)
    (aligned,), (aligned_error,) = (np.atleast_1d(part) for part in surface.losses(aligned_c, 0.0))
    slope, slope_error = _slope(surface, aligned_c)
    starts = [start, *_beyond(surface, start)] + [(aligned_c, PROBE * surface.units[1])] * (slope < 0)
    ends = [_refined(surface, point) for point in starts]
    best = min(ends, key=surface.at)
    (loss,), (error,) = (np.atleast_1d(part) for part in surface.losses(*best))
    spurious = aligned - loss > aligned_error + error
    c, c_perp = best if spurious else (aligned_c, 0.0)
    return BlockOptimum(
        problem=problem, C=surface.C, c=c, c_error=_uncertainty(surface, c, c_perp, 0), c_perp=c_perp,
        c_perp_error=_uncertainty(surface, c, c_perp, 1), loss=float(loss if spurious else aligned),
        loss_error=float(error if spurious else aligned_error), aligned_c=aligned_c, aligned_loss=float(aligned),
        slope=slope, slope_error=slope_error,
    )  # fmt: skip


def _survey(surface: _Surface) -> tuple[tuple[float, float], tuple[float, float]]:
    """Bracket the best c at c' = 0 and find the best pair with c' > 0, on a grid that grows until both lie inside."""
    reach, across = min(2 * surface.units[0], surface.C), 2 * surface.units[1]
    while True:
        c, c_perp = reach * ALONG, across * np.concatenate([[0.0], ACROSS])
        table = surface.losses(c[:, None], c_perp)[0]
        row, pair = int(np.argmin(table[:, 0])), np.unravel_index(np.argmin(table[:, 1:]), table[:, 1:].shape)
        if max(row, int(pair[0])) == c.size - 1 and reach < surface.C:
            reach = min(2 * reach, surface.C)
        elif pair[1] == ACROSS.size - 1:
            across = 2 * across
        else:
            bracket = float(c[max(row - 1, 0)]), float(c[min(row + 1, c.size - 1)])
            return bracket, (float(c[pair[0]]), float(c_perp[1 + pair[1]]))


def _beyond(surface: _Surface, start: tuple[float, float]) -> list[tuple[float, float]]:
    """The best pair with a c' far beyond the grid, if its loss is smaller than the grid's best."""
    if TINY * surface.units[0] <= surface.C:
        return []
    c, least = surface.C * ALONG, surface.at(start)
    for c_perp in max(start[1], 2 * surface.units[1]) * FAR:
        try:
            losses = surface.losses(c, c_perp)[0]
        except OutOfReach:
            break  # the spread of scores is too large, and larger still for every larger c'
        if losses.min() < least:
            return [(float(c[np.argmin(losses)]), float(c_perp))]
    return []


def _along(surface: _Surface, bracket: tuple[float, float]) -> float:
    """The best c at c' = 0."""
    middle = sum(bracket) / 2, 0.0
    return min((_refined(surface, middle, across=False)[0], *bracket), key=lambda c: surface.at((c, 0.0)))


def _slope(surface: _Surface, c: float) -> tuple[float, float]:
    """dL / d(c'^2) at (c, 0) from two finite differences; their distance, plus rounding, is the error."""
    steps = np.array([0.0, PROBE, 2 * PROBE]) * surface.units[1]
    loss, error = surface.losses(c, steps)
    slopes = (loss[1:] - loss[0]) / steps[1:] ** 2
    # the next term is of order c'^4
    value = slopes[0] + (slopes[0] - slopes[1]) / 3
    return float(value), float(abs(slopes[0] - slopes[1]) + 4 * np.max(error) / steps[1] ** 2)


def _refined(surface: _Surface, start: tuple[float, float], across: bool = True) -> tuple[float, float]:
    """The minimum near a pair, by polynomials on ever smaller patches; c' is fixed unless `across`."""
    moved, size = np.array([1.0, float(across)]), PATCH
    pair, reach = np.array(start), surface.C / surface.units[0]
    for _ in range(MOST_PATCHES):
        half = min(size, reach) * moved * surface.units
        centre = pair.clip([half[0] - surface.C, -math.inf], [surface.C - half[0], math.inf])
        grid = centre[:, None, None] + half[:, None, None] * (GRID if across else GRID[:, :, :1])
        losses, _ = surface.losses(grid[0], np.abs(grid[1]))
        pair = centre + half * _lowest(losses / losses.mean(), moved)
        # a minimum at an end of the patch, but not of the ball, lies outside the patch
        inside = np.abs(pair - centre) < (1 - LOCATED) * half
        inside |= np.array([abs(pair[0]) >= (1 - LOCATED) * surface.C, not across])
        if inside.all():
            if size == CLOSE:
                break
            size = CLOSE
    return float(pair[0].clip(-surface.C, surface.C)), float(abs(pair[1]))


def _lowest(losses: Floats, moved: Floats) -> Floats:
    """The point of [-1, 1]^2 at which the polynomial through the losses at GRID is smallest."""
    coefficients = TO_COEFFICIENTS @ losses @ (TO_COEFFICIENTS.T if losses.shape[1] > 1 else np.ones((1, 1)))
    down, right = (chebyshev.chebder(coefficients, axis=axis) for axis in range(2))

    def loss(point: Floats) -> tuple[float, Floats]:
        x, y = point
        value, *slope = (float(chebyshev.chebval2d(x, y, polynomial)) for polynomial in (coefficients, down, right))
        return value, np.array(slope)

    i, j = np.unravel_index(np.argmin(losses), losses.shape)
    options: dict[str, Any] = {"jac": True, "bounds": [(-1, 1)] * 2, "options": {"ftol": 0.0, "gtol": 1e-14}}
    return np.asarray(minimize(loss, GRID[:, i, j] * moved, method="L-BFGS-B", **options).x)


def _uncertainty(surface: _Surface, c: float, c_perp: float, axis: int) -> float:
    """Distance along one axis within which the loss stays within its error of the minimum; 0 at the ball's edge."""
    step = PROBE * surface.units[axis]
    move = np.array([-step, 0.0, step])
    if axis == 0 and abs(c) + step > surface.C:
        move = move - np.sign(c) * step
        losses, _ = surface.losses(c + move, c_perp)
        if abs(c) >= surface.C and losses[-1 if c > 0 else 0] == losses.min():
            return 0.0
    losses, error = surface.losses(*((c + move, c_perp) if axis == 0 else (c, np.abs(c_perp + move))))
    curvature = (losses[0] - 2 * losses[1] + losses[2]) / step**2
    resolved = math.sqrt(4 * float(np.max(error)) / curvature) if curvature > 0 else math.inf
    return resolved + LOCATED * surface.units[axis]


ROWS = 12
"""Each round evaluates so many radii, which narrows the bracket by that factor."""


class Radius(msgspec.Struct, frozen=True, kw_only=True):
    """The radius lies in [low, high].

    Attributes
    ----------
    low, high
        Ends of the interval that holds the radius, a value of c; no unit. `high` is infinite if c' = 0 is best in every
        ball of the search, up to `low`.
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

    Examples
    --------
    >>> from lipverify.laws import LowRank
    >>> found = critical_radius(Problem(d=2, n=1000, law=LowRank([[1.0], [0.0]]), sigma=0.0), most=8.0)
    >>> round(found.low, 2), round(found.high, 2)
    (2.55, 2.55)
    """
    require_problem(problem)
    number("most", most, "the largest radius", above=0)
    best = optimal_block(problem, most)
    reach = max(most, 1.5 * best.c_perp)
    # next to 0 a minimum in c' shows as a slope along c'^2, which is far above rounding, and c'^4 negligible
    c_perp = np.concatenate([[0.0, 2e-3 * reach], reach * ACROSS[1:]])
    rows = np.unique(np.append(np.linspace(0, most, ROWS + 1)[1:], best.aligned_c))
    last = _Row(0.0, (math.inf, 0.0), (math.inf, 0.0))
    for _ in range(4):
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


class SampledBlock(msgspec.Struct, frozen=True, kw_only=True):
    """The best symmetric M in a ball, from sampled contexts: half-widths of 95 % intervals.

    `c` and `c_perp` are the averages of s^T M s over the unit vectors of col(B) and of its complement, and `relevant`
    is its least value on col(B); that is of M before any averaging, which is kept. `chance` bounds the probability of
    entries of M - c BB^T - c' (I - BB^T) as large as these if M* has this form.
    """

    c: float
    c_error: float
    c_perp: float
    c_perp_error: float
    relevant: float
    relevant_error: float
    loss: float
    loss_error: float
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
    """The best symmetric M with ||B^T M B||_2 <= C, B the first k axes, by minimising a sampled loss.

    Parameters
    ----------
    problem
        A problem whose law and covariates treat the first k axes alike, and the others.
    k, C
        The number of axes, and the radius of the ball.
    contexts, seed, stream
        As for `optimal_matrix`.

    Returns
    -------
    SampledBlock
        c and c' of the nearest c BB^T + c' (I - BB^T) with their errors, the matrix itself, and its loss.

    Raises
    ------
    InvalidInput
        If an argument breaks its rule.
    OutOfReach
        If the minimisation fails, or that many contexts do not fit.

    Examples
    --------
    >>> from lipverify.laws import LowRank
    >>> problem = Problem(d=2, n=20, law=LowRank(axes(2, 1)), sigma=0.0)
    >>> found = sampled_block(problem, 1, 2.0, contexts=640, seed=0, stream="doc")
    >>> round(found.c, 3), abs(found.c_perp) < 3 * found.c_perp_error
    (2.0, True)
    """
    ball = SpectralBall(B=axes(problem.d, k), C=C)
    optimum = optimal_matrix(problem, constraint=ball, contexts=contexts, starts=2, seed=seed, stream=stream)
    M, error = optimum.M_raw, optimum.M_raw_error
    return SampledBlock(
        c=float(optimum.M[0, 0]), c_error=float(optimum.M_error[0, 0]), c_perp=float(optimum.M[-1, -1]),
        c_perp_error=float(optimum.M_error[-1, -1]), relevant=float(np.linalg.eigvalsh(M[:k, :k])[0]),
        relevant_error=float(np.linalg.norm(error[:k, :k])), loss=optimum.loss, loss_error=optimum.loss_error,
        chance=optimum.asymmetry_chance, M=M.tolist(),
    )  # fmt: skip


__all__ = [
    "BlockOptimum",
    "Radius",
    "SampledBlock",
    "critical_radius",
    "optimal_block",
    "sampled_block",
]
