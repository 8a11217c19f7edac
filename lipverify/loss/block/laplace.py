r"""Averages over contexts of n independent tokens, n an exponent, and Gauss rules for a token's coordinate and share.

A token has a weight g = e^{-deficit} in (0, 1] and a distance `near`. With S = sum_j g_j and a_i = g_i / S, from
1/S^2 = int_0^infty lambda e^{-lambda S} dlambda and phi(lambda) = E e^{-lambda g},

    E sum_i a_i^2 h_i               = n       int lambda E[g^2 h e^{-lambda g}] phi^{n-1} dlambda,
    E sum_{i != j} a_i a_j h_i h'_j = n (n-1) int lambda E[g h e^{-lambda g}] E[g h' e^{-lambda g}] phi^{n-2} dlambda.

In u = log lambda the integrands are analytic in the strip |Im u| < pi/2, where Re lambda > 0; they fall like e^{2u} to
the left and doubly exponentially to the right, so the trapezoidal rule with step h is off by about e^{-pi^2 / h}. The
typical one, lambda^2 e^{-lambda}, has the transform Gamma(2 + i x), and the error is 2 |Gamma(2 + 2 pi i / h)|.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import roots_jacobi

from lipverify.foundation.arrays import Floats

STEP = 0.28
"""Step in log lambda: the trapezoidal rule is off by 2 |Gamma(2 + 2 pi i / STEP)| = 3e-13, relative."""
DROP = 42.0
"""Integrands below e^{-42} = 6e-19 of their maximum are left out."""
BLOCK = 2**15
"""Number of doubles at a time, so that arrays fit in a processor's cache."""


@dataclass(frozen=True)
class Tokens:
    """Quadrature over one token: largest score less score (row, node), distances and weights (node,)."""

    deficit: Floats
    near: Floats
    weight: Floats

    def __getitem__(self, rows: slice) -> Tokens:
        return Tokens(self.deficit[rows], self.near, self.weight)


def moments(tokens: Tokens, n: float, offset: float) -> Floats:
    """The six averages that enter the loss, (6, row), by the trapezoidal rule at (integers + offset) STEP.

    E sum_i a_i^2 {1, near_i, near_i^2}, then E sum_{i != j} a_i a_j {1, near_i, near_i near_j}.
    """
    rows = max(1, BLOCK // (_points(tokens, n, offset).size * tokens.weight.size))
    blocks = (tokens[start : start + rows] for start in range(0, len(tokens.deficit), rows))
    return np.concatenate([_integrals(block, _points(block, n, offset), n) for block in blocks], axis=1)


def _points(tokens: Tokens, n: float, offset: float) -> Floats:
    """The range of u that is relevant to at least one of several rows.

    The part left of the range is at most n e^{2u} / 2, against a noise of at least 1/n. In the right part, phi is at
    most e^{-lambda g} at the smallest g, and phi^n <= exp(-n (1 - 1/e) lambda E g) for lambda <= 1.
    """
    mean = np.exp(-tokens.deficit) @ tokens.weight
    many = math.log(DROP / (0.63 * max(n - 2, 1.0))) - float(np.log(mean.min()))
    high = many if many <= 0 else math.log(DROP) + float(tokens.deficit.max())
    low = -math.log(n) - DROP / 2
    first, last = math.floor(low / STEP), math.ceil(high / STEP)
    return np.asarray(STEP * (np.arange(first, last + 1) + offset))


def _integrals(tokens: Tokens, u: Floats, n: float) -> Floats:
    """The averages of some rows."""
    y = np.exp(u[:, None] - tokens.deficit[:, None, :])
    survival = np.exp(-y)
    log_phi = _log_phi(y, survival, tokens.weight)
    first = y * survival
    powers = tokens.weight * np.stack([np.ones_like(tokens.near), tokens.near, tokens.near**2])
    single, double = np.moveaxis(first @ powers[:2].T, -1, 0), np.moveaxis((y * first) @ powers.T, -1, 0)
    alone = n * double * _power(log_phi, n - 1)
    pairs = n * (n - 1) * np.stack([single[0] ** 2, single[0] * single[1], single[1] ** 2]) * _power(log_phi, n - 2)
    return np.asarray(STEP * np.concatenate([alone, pairs]).sum(axis=-1))


def _log_phi(y: Floats, survival: Floats, weight: Floats) -> Floats:
    """log E e^{-y}, accurate near zero, (row, u)."""
    falling = -np.expm1(-y) @ weight
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(falling < 0.5, np.log1p(-np.minimum(falling, 0.5)), np.log(survival @ weight)))


def _power(log_base: Floats, exponent: float) -> Floats:
    """base^exponent, with 0^0 = 1."""
    return np.exp(exponent * log_base) if exponent > 0 else np.ones_like(log_base)


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
