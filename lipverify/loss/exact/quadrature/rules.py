r"""Rules on [0, 1], splits, and polynomials through values at Chebyshev points."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Floats

CONCENTRATION, LARGE = (1.5, 3.5, 9.0), 8
"""A coordinate of a point of S^{d-1} exceeds 9 / sqrt(d) with probability e^-40: for d > 8 rules split there."""
LARGEST_SQUARING = 32
"""Up to this exponent products take less time than NumPy's power."""
STRENGTH = 6
"""A root |x|^s at the end of an interval becomes x^{6 s + 5} under the rule for roots."""

legendre_rule = cache(np.polynomial.legendre.leggauss)
"""Nodes and weights on [-1, 1], cached for both rules that use them."""


@cache
def gauss_rule(order: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre on [0, 1] after x -> sin^2(pi x / 2): exact for half-integer powers at the ends.

    Averages over a kink behave like a half-integer power where a token first reaches the kink. The map turns that into
    an analytic function, so that no dimension is a special case.
    """
    x, weight = legendre_rule(order)
    angle = np.pi * (x + 1) / 4
    return np.sin(angle) ** 2, weight * np.pi / 4 * np.sin(2 * angle)


@cache
def plain_rule(order: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre on [0, 1] for integrands that are analytic at the ends: half of the nodes suffice."""
    x, weight = legendre_rule(order)
    return (x + 1) / 2, weight / 2


@cache
def smooth_rule(order: int) -> tuple[Floats, Floats]:
    """A rule for integrands that are analytic at the ends, with the density of `gauss_rule` in the middle."""
    return plain_rule(math.ceil(2 / math.pi * order))


def split_rule(
    edges: Floats, singular: NDArray[np.bool_], order: int, share: float = 1.0
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Rows, nodes and weights on every interval between edges, shape (row, edge): `gauss_rule` next to singular edges.

    On other intervals `plain_rule` with the same number of nodes, or that `share` of it, is more accurate.
    """
    ascending = np.argsort(edges, axis=1)
    edges, singular = np.take_along_axis(edges, ascending, axis=1), np.take_along_axis(singular, ascending, axis=1)
    wide = np.diff(edges, axis=1) > 0
    adjacent = singular[:, 1:] | singular[:, :-1]
    parts = []
    for chosen, (x, gauss) in (
        (wide & adjacent, gauss_rule(order)),
        (wide & ~adjacent, plain_rule(math.ceil(share * order))),
    ):
        row, interval = np.nonzero(chosen)
        low, width = edges[row, interval, None], np.diff(edges, axis=1)[row, interval, None]
        parts.append((np.repeat(row, x.size), (low + width * x).ravel(), (width * gauss).ravel()))
    (rows, nodes, weights), plain = parts
    return np.append(rows, plain[0]), np.append(nodes, plain[1]), np.append(weights, plain[2])


def integer_power(x: Floats, k: int) -> Floats:
    """x^k for an integer k >= 0 by squaring, which is several times faster than the general power for small k.

    >>> integer_power(np.array([2.0, 3.0]), 5)
    array([ 32., 243.])
    """
    if k > LARGEST_SQUARING:
        return x**k
    if k < 2:
        return x if k else np.ones_like(x)
    half = integer_power(x, k // 2)
    return half * half * x if k % 2 else half * half


@cache
def root_rule(order: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre on [0, 1] under a polynomial map that is flat to order STRENGTH at both ends, for roots there."""
    x, weight = np.polynomial.legendre.leggauss(order)
    slope = np.polynomial.Polynomial([0.5, -0.5]) ** (STRENGTH - 1) * np.polynomial.Polynomial([0.5, 0.5]) ** (
        STRENGTH - 1
    )
    primitive = slope.integ(lbnd=-1)
    return primitive(x) / primitive(1.0), weight * slope(x) / primitive(1.0)


def chebyshev_points(size: int) -> Floats:
    """The zeros of T_size, descending, in (-1, 1)."""
    return np.cos(_angles(size))


def polynomials(size: int, points: int) -> Floats:
    """T_k at the zeros of T_points, (point, k < size).

    Computed as cos(k angle); with the rounded cosine of the angle near 1, T_k would have k^2 times its rounding error.
    """
    return np.cos(np.outer(_angles(points), np.arange(size)))


def chebyshev_values(x: Floats, size: int) -> Floats:
    """T_k at flat x, (k < size, point), by the recurrence in k, vectorised over the points.

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


def clenshaw(coefficients: Floats, column: NDArray[np.intp], x: Floats) -> Floats:
    """sum_k c_k T_k(x), by Clenshaw's recurrence; every x has the column of coefficients (k, column) with its index.

    >>> clenshaw(np.array([[1.0, 0.0], [2.0, 1.0]]), np.array([0, 1]), np.array([0.5, 0.5]))
    array([2. , 0.5])
    """
    double = 2 * x
    after, later = np.zeros_like(x), np.zeros_like(x)
    for row in coefficients[:0:-1]:
        after, later = row[column] + double * after - later, after
    return np.asarray(coefficients[0][column] + x * after - later)


def to_coefficients(size: int) -> Floats:
    """The matrix from values at `size` Chebyshev points to the coefficients of the polynomial through them.

    >>> np.abs(to_coefficients(3) @ chebyshev_points(3) ** 2).round(12)
    array([0.5, 0. , 0.5])
    """
    matrix = 2 / size * polynomials(size, size).T
    matrix[0] /= 2
    return np.asarray(matrix)


def _angles(size: int) -> Floats:
    """The angles of the zeros of T_size."""
    return np.pi * (np.arange(size) + 0.5) / size
