"""Interpolation at Chebyshev points."""

from __future__ import annotations

import numpy as np

from lipverify.foundation.arrays import Floats


def chebyshev_points(size: int) -> Floats:
    """The zeros of T_size, descending, in (-1, 1)."""
    return np.cos(_angles(size))


def polynomials(size: int, points: int) -> Floats:
    """T_k at the zeros of T_points, (point, k < size).

    As cos(k angle), and not by the cosine of the angle: its rounding near 1 would move T_k by k^2 times as much.
    """
    return np.cos(np.outer(_angles(points), np.arange(size)))


def chebyshev_values(x: Floats, size: int) -> Floats:
    """T_k at flat x, (k < size, point): by the recurrence, along points, so that every step is one of whole rows.

    >>> chebyshev_values(np.array([0.5, 1.0]), 3)
    array([[ 1. ,  1. ],
           [ 0.5,  1. ],
           [-0.5,  1. ]])
    """
    values = np.empty((size, x.size))
    values[0] = 1
    if size > 1:
        values[1] = x
    double = 2 * x
    for k in range(2, size):
        np.multiply(double, values[k - 1], out=values[k])
        values[k] -= values[k - 2]
    return values


def to_coefficients(size: int) -> Floats:
    """The matrix that takes values at `size` Chebyshev points to the coefficients of the polynomial through them.

    >>> np.abs(to_coefficients(3) @ chebyshev_points(3) ** 2).round(12)
    array([0.5, 0. , 0.5])
    """
    matrix = 2 / size * polynomials(size, size).T
    matrix[0] /= 2
    return np.asarray(matrix)


def _angles(size: int) -> Floats:
    """Those of the zeros of T_size."""
    return np.pi * (np.arange(size) + 0.5) / size
