"""Interpolation at Chebyshev points."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev

from lipverify.foundation.arrays import Floats


def chebyshev_points(size: int) -> Floats:
    """The zeros of T_size, descending, in (-1, 1)."""
    return np.cos(np.pi * (np.arange(size) + 0.5) / size)


def to_coefficients(size: int) -> Floats:
    """The matrix that takes values at `size` Chebyshev points to the coefficients of the polynomial through them.

    >>> np.abs(to_coefficients(3) @ chebyshev_points(3) ** 2).round(12)
    array([0.5, 0. , 0.5])
    """
    matrix = 2 / size * chebyshev.chebvander(chebyshev_points(size), size - 1).T
    matrix[0] /= 2
    return np.asarray(matrix)
