r"""The leading terms as numbers, with their range of validity.

An error here is an estimate and not a bound: `SAFETY` times the sum of the sizes of the next terms in 1/w and in 1/n.
A result whose error would exceed half of its value is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.loss.asymptotic.powers import Numbers, closed_numbers, known
from lipverify.loss.terms import LossTerms
from lipverify.problem import Problem

LARGEST_RELATIVE_ERROR = 0.5
"""Largest relative error of a term; beyond it, the leading terms give not even a digit."""
LOG_W = (math.log(1e-3), math.log(1e300))
"""Range of log w in which the range of validity is searched."""


def asymptotic_terms(problem: Problem, w: Any) -> LossTerms:
    """The leading terms of noise and bias at every w; refused for windows too wide to look local or with few tokens."""
    windows = np.asarray(w, dtype=np.float64)
    _require_leading(problem, windows)
    numbers, log_n = _numbers(problem), math.log(problem.n)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.log(windows)
        noise_error = numbers.noise_error(x, log_n) + numbers.noise.rounding(x, log_n)
        bias_error = numbers.bias_error(x, log_n) + (numbers.bias or numbers.noise).rounding(x, log_n)
        bad = windows[~(np.maximum(noise_error, bias_error) <= LARGEST_RELATIVE_ERROR)]
    if bad.size:
        raise OutOfReach(_refusal(problem, float(bad.flat[0]), valid_windows(problem)))
    noise = np.asarray(problem.sigma**2 * numbers.noise(x, log_n))
    bias = np.zeros_like(windows) if numbers.bias is None else np.asarray(numbers.bias(x, log_n))
    return LossTerms(
        problem=problem,
        method="asymptotic",
        w=windows,
        noise=noise,
        bias=bias,
        noise_error=noise_error * noise,
        bias_error=bias_error * bias,
        error_kind="estimated",
    )


def valid_windows(problem: Problem) -> tuple[float, float] | None:
    """The range of w in which both errors are estimated at half of their values or less; None if there are none."""
    return _range(_numbers(problem), math.log(problem.n))


def _numbers(problem: Problem) -> Numbers:
    from lipverify.loss.asymptotic.record import numbers_of

    return numbers_of(problem.law, problem.d)


def _require_leading(problem: Problem, windows: Any) -> None:
    """Refuse by the closed forms before anything is derived; for a law without them, by the noise alone."""
    numbers, log_n = closed_numbers(problem.law, problem.d), math.log(problem.n)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.log(windows)
        # above the limit by more than rounding, so that at the limit itself SymPy's numbers decide
        surely = LARGEST_RELATIVE_ERROR * (1 + 1e-9)
        bad = windows[~(np.maximum(numbers.noise_error(x, log_n), numbers.bias_error(x, log_n)) <= surely)]
    if bad.size:
        raise OutOfReach(
            _refusal(problem, float(bad.flat[0]), _range(numbers, log_n), "" if known(problem.law) else "at most ")
        )


def _range(numbers: Numbers, log_n: float) -> tuple[float, float] | None:
    """A single interval, because terms in 1/w fall and terms in 1/n rise."""

    def excess(x: Any) -> Any:
        points = np.asarray(x, dtype=np.float64)
        worst = np.maximum(numbers.noise_error(points, log_n), numbers.bias_error(points, log_n))
        return np.log(np.clip(worst, 1e-300, 1e300)) - math.log(LARGEST_RELATIVE_ERROR)

    # ever finer grids around the best point, so that a refusal need not import a minimiser
    size = 1400
    grid = np.linspace(*LOG_W, size)
    for _ in range(3):
        best = int(np.argmin(excess(grid)))
        grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, size - 1)], size)
    middle = float(grid[np.argmin(excess(grid))])
    if excess(middle) > 0:
        return None
    low, high = (_last(lambda x: bool(excess(x) <= 0), middle, end) for end in LOG_W)
    return math.exp(low), math.exp(high)


def _last(holds: Callable[[float], bool], inside: float, end: float) -> float:
    """The last point from `inside` to an end at which a condition holds, by bisection to rounding."""
    if holds(end):
        return end
    for _ in range(64):
        middle = (inside + end) / 2
        inside, end = (middle, end) if holds(middle) else (inside, middle)
    return inside


def _refusal(problem: Problem, w: float, valid: tuple[float, float] | None, most: str = "") -> str:
    where = "no w does: n is too small" if valid is None else f"{most}w from {valid[0]:.4g} to {valid[1]:.4g} does"
    return (
        f"w = {w}: for d = {problem.d}, n = {problem.n} the leading terms do not reach "
        f"{LARGEST_RELATIVE_ERROR:.0%} of the values there ({where}); use method='exact'."
    )
