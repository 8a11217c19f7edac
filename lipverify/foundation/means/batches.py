"""t intervals from a few batches, and the delete-a-batch jackknife for the bias and error of any estimate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.noted import makes

LEVEL = 0.95
"""Level of an interval by default."""


@makes("sampled", "montecarlo")
def jackknife(whole: Any, left_out: Any) -> tuple[Floats, Floats]:
    """Bias-corrected values and half-widths of their 95 % t intervals, from estimates without one of m equal batches.

    Parameters
    ----------
    whole
        The estimate from all batches.
    left_out
        The estimates without each batch in turn, (m, ...).

    Returns
    -------
    value, error
        Arrays of the estimate's shape.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> value, error = jackknife(2.0, [2.5, 1.5, 2.0])  # the mean of 1, 2 and 3
    >>> value.item(), round(error.item(), 3)
    (2.0, 2.484)
    """
    from scipy.special import stdtrit

    whole, left_out = np.asarray(whole, dtype=np.float64), np.asarray(left_out, dtype=np.float64)
    count, centre = len(left_out), left_out.mean(axis=0)
    deviation = np.sqrt((count - 1) / count * np.sum((left_out - centre) ** 2, axis=0))
    return count * whole - (count - 1) * centre, float(stdtrit(count - 1, (1 + LEVEL) / 2)) * deviation


@makes("sampled", "montecarlo")
def mean_interval(batches: Floats, level: float = LEVEL) -> tuple[float, float]:
    """The mean of independent values of equal weight and the half-width of its t interval.

    Parameters
    ----------
    batches
        The values, such as means of batches, (m,).
    level
        The level of the interval.

    Returns
    -------
    mean, half_width
        Two numbers.

    Raises
    ------
    ZeroDivisionError
        If there are no values.

    Examples
    --------
    >>> mean, error = mean_interval(np.array([1.0, 2.0, 3.0]))
    >>> mean, round(error, 3)
    (2.0, 2.484)
    """
    from scipy.special import stdtrit

    count = len(batches)
    quantile = float(stdtrit(count - 1, (1 + level) / 2))
    return float(np.mean(batches)), quantile * float(np.std(batches, ddof=1)) / math.sqrt(count)


def largest_deviation(values: Floats, errors: Floats, count: int) -> tuple[float, float]:
    """The largest |value| / standard error, of half-widths of 95 % t intervals from `count` batches, and Bonferroni's
    p-value for the hypothesis that all values estimate zero, valid however they depend on each other.

    >>> largest, chance = largest_deviation(np.array([0.0, 2.042]), np.array([1.0, 1.0]), count=31)
    >>> round(largest, 2), round(chance, 4)
    (4.17, 0.0005)
    """
    from scipy.special import stdtr, stdtrit

    exact = values == 0
    deviations = np.where(exact, 0.0, np.abs(values) / np.where(exact, 1.0, errors))
    largest = float(np.max(deviations) * stdtrit(count - 1, (1 + LEVEL) / 2))
    return largest, min(1.0, 2 * values.size * float(stdtr(count - 1, -largest)))
