"""Means over many sampled contexts, with the half-widths of their 95 % intervals by the normal law."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NORMAL_95 = 1.96


def half_widths(values: Floats) -> Floats:
    """Half-widths for means along the first axis.

    >>> round(float(half_widths(np.array([1.0, 2.0, 3.0]))), 3)
    1.132
    """
    return np.asarray(NORMAL_95 * values.std(axis=0, ddof=1) / math.sqrt(len(values)))


def mean_with_half_width(values: Floats) -> tuple[float, float]:
    """The mean of independent values, and its half-width."""
    return float(values.mean()), float(half_widths(values))
