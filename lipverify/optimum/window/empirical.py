r"""The optimal w as an experimenter would estimate it: the minimum of a sampled loss, with an error bar.

Label noise and amplitudes are averaged. `lipverify.prompts.risk` draws them, and its losses vary 10 times as much.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats, Matrix
from lipverify.foundation.means.batches import jackknife, mean_interval
from lipverify.foundation.noted import makes
from lipverify.foundation.store import remembered
from lipverify.foundation.validation import a_seed, whole
from lipverify.loss.montecarlo.terms import matrix_of, numbers_of, require_affordable, require_fit, sampler
from lipverify.problem import Problem
from lipverify.problem.matrices import Rows, rows
from lipverify.problem.problem import require_problem

BATCHES = 32
"""Batches of contexts, of which each is left out once for the error of w*."""
SEARCH = np.geomspace(2.0**-6, 2.0**14, 41)
"""Values of w for the unit of length, among which the smallest loss is looked for: two in a factor of two."""


class EmpiricalWindow(msgspec.Struct, frozen=True, kw_only=True):
    """w* and the loss there, estimated by sampling; errors are half-widths of 95 % intervals.

    Attributes
    ----------
    problem
        The problem.
    w, w_error
        The optimal w and its half-width; no unit.
    loss, loss_error
        The loss there, in units of y squared, and its half-width.
    contexts, seed
        The number of contexts, and the seed of their random numbers.
    """

    problem: Problem
    w: float
    w_error: float
    loss: float
    loss_error: float
    contexts: int
    seed: int


@makes("sampled", "montecarlo")
def empirical_window(
    problem: Problem, *, M: Matrix | None = None, contexts: int = 20_000, seed: int = 0, stream: str = ""
) -> EmpiricalWindow:
    """Minimise the sampled loss on common draws; jackknife over 32 batches for the error and the bias.

    A first tenth of the contexts locates the minimum on a coarse grid of w from 2^-6 to 2^14, in units of
    1 / |M| r^2 with r the scale of the covariates. The others refine it with a polynomial in log w on a grid that
    extends by a factor of two to either side.

    Parameters
    ----------
    problem
        Any problem whose law can be drawn, with any covariates.
    M
        The matrix of the scores w x_i^T M x; the identity by default.
    contexts
        Number of contexts.
    seed, stream
        Address of the random numbers.

    Returns
    -------
    EmpiricalWindow
        w* and the loss there, with half-widths of 95 % intervals.

    Raises
    ------
    InvalidInput
        If `contexts` is not an integer or is less than 640 (20 for each batch), or M is not a d x d matrix or is zero.
    OutOfReach
        If a context does not fit, if all contexts take more than 1e12 numbers (hours; runs of minutes warn), if the
        minimum is at the end of the grid or its loss is not clearly below that at w = 0 and at the end, or if the
        minimum is so flat that leaving out one batch moves it out of the fitted range.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> found = empirical_window(Problem(d=3, n=30, law=Affine()), contexts=2000)
    >>> abs(found.w - 1.572) < 2 * found.w_error, found.w_error < 0.1
    (True, True)
    """
    require_problem(problem)
    whole("contexts", contexts, 20 * BATCHES)
    a_seed(seed)
    require_fit(problem)
    matrix = matrix_of(M, problem.d)
    if matrix is not None and not np.any(matrix):
        raise InvalidInput("M = 0: no window changes its scores; give another matrix.")
    numbers = numbers_of(sampler(problem, SEARCH, matrix), problem)
    require_affordable(contexts, numbers, "fewer take less, with a larger error")
    kept = None if matrix is None else rows("M", matrix)
    return remembered(_minimised, (problem, kept, contexts, seed, stream), EmpiricalWindow, problem=problem)


def _minimised(settings: tuple[Problem, Rows | None, int, int, str]) -> EmpiricalWindow:
    problem, kept, contexts, seed, stream = settings
    M = None if kept is None else np.array(kept)
    unit = problem.covariates.scale**2 * (1.0 if M is None else float(np.linalg.norm(M, 2)))
    search, ends = SEARCH / unit, np.array([0.0, SEARCH[-1]]) / unit

    def batch_losses(w: Floats, contexts: int, part: str) -> Floats:
        return _batch_losses(problem, w, M, contexts, seed, f"{stream}/{part}")

    coarse = batch_losses(search, int(contexts * 0.1), "search").mean(axis=0)
    best = int(np.argmin(coarse))
    if best in (0, search.size - 1):
        raise OutOfReach(f"the sampled loss has its minimum at w = {search[best]:g}, the end of the grid.")
    x = math.log(search[best]) + np.linspace(-math.log(2.0), math.log(2.0), 13)
    losses = batch_losses(np.append(np.exp(x), ends), contexts, "fit")
    batches = losses[:, : x.size]
    pooled = _minimum(x, batches.mean(axis=0))
    left_out = np.array([_minimum(x, np.delete(batches, b, axis=0).mean(axis=0)) for b in range(BATCHES)])
    if np.any((left_out[:, 0] <= x[0]) | (left_out[:, 0] >= x[-1])):
        # if the minima are at an end of the range, all batches agree and the jackknife would report an error of zero
        raise OutOfReach(f"contexts = {contexts}: too few to locate the minimum near w = {search[best]:g}; draw more.")
    _require_below_the_ends(losses, ends, int(np.argmin(np.abs(x - pooled[0]))), math.exp(pooled[0]))
    (log_w, loss), (log_w_error, loss_error) = jackknife(pooled, left_out)
    w = math.exp(log_w)
    w_error = w * math.expm1(log_w_error)
    return EmpiricalWindow(
        problem=problem,
        w=w,
        w_error=w_error,
        loss=float(loss),
        loss_error=float(loss_error),
        contexts=contexts,
        seed=seed,
    )


def _require_below_the_ends(losses: Floats, ends: Floats, column: int, w: float) -> None:
    """Refuse a minimum whose loss, in column `at`, is not clearly below that at `ends`, in the last columns."""
    for end, end_losses in zip(ends, losses[:, -ends.size :].T, strict=True):
        gain, error = mean_interval(end_losses - losses[:, column])
        if gain <= error:
            raise OutOfReach(
                f"the sampled loss near w = {w:.3g} is below that at w = {end:g} by {gain:.2g} ± {error:.2g}: the "
                "draws do not settle that the minimum is there; draw more contexts, or use optimal_window."
            )


def _batch_losses(problem: Problem, w: Floats, M: Floats | None, contexts: int, seed: int, stream: str) -> Floats:
    """Mean loss of each batch at every w: (batch, w)."""
    drawn = sampler(problem, w, M, seed=seed, stream=stream)
    samples = np.concatenate([drawn.chunk(index) for index in range(-(-contexts // drawn.size))])[:contexts]
    losses = problem.sigma**2 * samples[:, : w.size] + drawn.unit * samples[:, w.size :]
    return np.stack([batch.mean(axis=0) for batch in np.array_split(losses, BATCHES)])


def _minimum(x: Floats, loss: Floats) -> Floats:
    """(x, loss) at the minimum of a polynomial through the losses, on the interval of x."""
    fit = np.polynomial.Polynomial.fit(x, loss / loss.min(), 4)
    fine = np.linspace(x[0], x[-1], 2001)
    minimum = float(fine[np.argmin(fit(fine))])
    slope, curvature = fit.deriv(), fit.deriv(2)
    step = float(slope(minimum) / curvature(minimum)) if curvature(minimum) > 0 else 0.0
    if abs(step) < fine[1] - fine[0]:  # one step of Newton's method, unless it leaves the grid cell
        minimum = min(max(minimum - step, x[0]), x[-1])
    return np.array([minimum, loss.min() * fit(minimum)])
