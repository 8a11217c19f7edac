r"""The optimal window as an experimenter would find it: the minimum of a sampled loss, with an error bar."""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.loss.montecarlo import context_samples
from lipverify.problem import Problem

Floats = NDArray[np.float64]

BATCHES = 32
FIT_POINTS, FIT_HALF_WIDTH, FIT_DEGREE = 13, math.log(2.0), 4
SEARCH = np.geomspace(2.0**-6, 2.0**14, 41)
SEARCH_SHARE = 0.1


class EmpiricalWindow(msgspec.Struct, frozen=True, kw_only=True):
    """w* found by sampling: `w_error` is the half-width of a 95 % interval."""

    problem: Problem
    w: float
    w_error: float
    contexts: int
    seed: int


def empirical_window(problem: Problem, *, contexts: int = 20_000, seed: int = 0, cell: str = "") -> EmpiricalWindow:
    """Minimise the sampled loss on common draws; jackknife over 32 batches for the error and the bias.

    A first tenth of the contexts finds the minimum on a coarse grid of windows from 2^-6 to 2^14; the others
    refine it with a polynomial in log w on a grid a factor of two to either side.

    Raises
    ------
    InvalidInput
        If there are too few contexts.
    OutOfReach
        If the minimum is at the end of the grid, or too flat to be located.
    """
    if contexts < 20 * BATCHES:
        raise InvalidInput(f"contexts = {contexts}: the empirical optimum needs at least {20 * BATCHES}.")
    coarse = _batch_losses(problem, SEARCH, int(contexts * SEARCH_SHARE), seed, f"{cell}/search").mean(axis=0)
    best = int(np.argmin(coarse))
    if best in (0, SEARCH.size - 1):
        raise OutOfReach(f"the sampled loss has its minimum at w = {SEARCH[best]:g}, the end of the grid.")
    x = math.log(SEARCH[best]) + np.linspace(-FIT_HALF_WIDTH, FIT_HALF_WIDTH, FIT_POINTS)
    batches = _batch_losses(problem, np.exp(x), contexts, seed, f"{cell}/fit")
    whole = _minimum(x, batches.mean(axis=0))
    left_out = [_minimum(x, np.delete(batches, b, axis=0).mean(axis=0)) for b in range(BATCHES)]
    value, error = _jackknife(whole, np.array(left_out))
    w = math.exp(value)
    return EmpiricalWindow(problem=problem, w=w, w_error=w * math.expm1(error), contexts=contexts, seed=seed)


def _batch_losses(problem: Problem, w: Floats, contexts: int, seed: int, cell: str) -> Floats:
    """Mean loss of each batch at every window: (batch, w)."""
    scale = problem.sigma**2, problem.law.amplitude_variance
    samples = np.concatenate(
        [scale[0] * noise + scale[1] * bias for noise, bias in context_samples(problem, w, contexts, seed, cell)]
    )
    return np.stack([batch.mean(axis=0) for batch in np.array_split(samples, BATCHES)])


def _minimum(x: Floats, loss: Floats) -> float:
    """Where a polynomial through the losses is lowest, on the interval that they span."""
    fit = np.polynomial.Polynomial.fit(x, loss / loss.min(), FIT_DEGREE)
    fine = np.linspace(x[0], x[-1], 2001)
    start = float(fine[np.argmin(fit(fine))])
    slope, curvature = fit.deriv(), fit.deriv(2)
    step = float(slope(start) / curvature(start)) if curvature(start) > 0 else 0.0
    return start - step if abs(step) < fine[1] - fine[0] else start


def _jackknife(whole: float, left_out: Floats) -> tuple[float, float]:
    """Bias-corrected value and half-width of the 95 % t interval."""
    count = len(left_out)
    value = count * whole - (count - 1) * float(left_out.mean())
    deviation = math.sqrt((count - 1) / count * float(np.sum((left_out - left_out.mean()) ** 2)))
    return value, float(stdtrit(count - 1, 0.975)) * deviation
