r"""Gauss rules for the two distributions of the reduction: a coordinate of a point of a sphere, and its share in B."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import roots_jacobi

from lipverify.foundation.arrays import Floats

Rule = tuple[Floats, Floats]


@lru_cache(maxsize=256)
def coordinate_rule(m: int, order: int) -> Rule:
    r"""Nodes and weights for one coordinate of a uniform point of S^{m-1}, m >= 1.

    The density is proportional to (1 - t^2)^{(m-3)/2}; the sphere S^0 is two points, and its rule is exact.

    >>> coordinate_rule(1, 40)
    (array([-1.,  1.]), array([0.5, 0.5]))
    >>> t, weight = coordinate_rule(5, 8)
    >>> round(float(weight @ t**2), 15)  # 1/m
    0.2
    """
    if m == 1:
        return np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    half = (m - 3) / 2
    return _normalised(*roots_jacobi(order, half, half))


@lru_cache(maxsize=256)
def share_rule(d: int, k: int, order: int) -> Rule:
    r"""Nodes and weights for |B^T x|^2, x uniform on S^{d-1} and B with k orthonormal columns: Beta(k/2, (d-k)/2).

    The Jacobi matrix of Beta(a, b) is R R^T, R bidiagonal with squares

        A_i = (i + a)(i + a + b - 1) / ((2i + a + b - 1)(2i + a + b))        on the diagonal,
        C_i = i (i + b - 1) / ((2i + a + b - 2)(2i + a + b - 1))             below it,

    so that nodes are the squares of its singular values, and weights the squares of the first entries of its singular
    vectors. This keeps the digits of shares near 1/d, which (1 + x) / 2 with x near -1 would lose.

    >>> s, weight = share_rule(6, 2, 8)
    >>> round(float(weight @ s), 15)  # k/d
    0.333333333333333
    >>> share_rule(3, 3, 8)
    (array([1.]), array([1.]))
    """
    if k == d:
        return np.ones(1), np.ones(1)
    a, ab, i = k / 2, d / 2, np.arange(order)
    first = np.where(i > 0, (i + ab - 1) / np.where(i > 0, 2 * i + ab - 1, 1), 1)  # 1 at i = 0, where ab may be 1
    diagonal = (i + a) * first / (2 * i + ab)
    i = i[1:]
    below = i * (i + ab - a - 1) / ((2 * i + ab - 2) * (2 * i + ab - 1))
    vectors, values, _ = np.linalg.svd(np.diag(np.sqrt(diagonal)) + np.diag(np.sqrt(below), -1))
    return _normalised(values[::-1] ** 2, vectors[0, ::-1] ** 2)


def _normalised(x: Floats, weight: Floats) -> Rule:
    return x, weight / weight.sum()
