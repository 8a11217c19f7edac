r"""Gauss rules for the two laws that the reduction meets: one coordinate of a point of a sphere, and its share in B."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_jacobi

Floats = NDArray[np.float64]
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

    >>> s, weight = share_rule(6, 2, 8)
    >>> round(float(weight @ s), 15)  # k/d
    0.333333333333333
    >>> share_rule(3, 3, 8)
    (array([1.]), array([1.]))
    """
    if k == d:
        return np.ones(1), np.ones(1)
    x, weight = _normalised(*roots_jacobi(order, (d - k) / 2 - 1, k / 2 - 1))
    return (1 + x) / 2, weight


def _normalised(x: Floats, weight: Floats) -> Rule:
    return x, weight / weight.sum()
