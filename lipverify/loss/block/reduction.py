"""The reductions to a few scalars per token, and the choice of one for a problem.

On a product of spheres a token has two scalars, and no average over queries is needed. On S^{d-1} a token has one, the
query another, and the averages are tabulated.

Both averages are of n independent tokens, n an exponent, by Gauss rules for a token's coordinate and share. A token has
a weight g = e^{-deficit} in (0, 1] and a distance `near`. With S = sum_j g_j and a_i = g_i / S, from 1/S^2 =
int_0^infty lambda e^{-lambda S} dlambda and phi(lambda) = E e^{-lambda g},

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

import msgspec
import numpy as np
from numpy.polynomial.chebyshev import chebvander
from scipy.fft import dct
from scipy.special import roots_jacobi

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.problem import Problem
from lipverify.problem.composed import LowRank
from lipverify.problem.covariates import ProductOfSpheres, Sphere
from lipverify.problem.laws import Linear

STEP = 0.28
"""Step in log lambda: the trapezoidal rule is off by 2 |Gamma(2 + 2 pi i / STEP)| = 3e-13, relative."""
DROP = 42.0
"""Integrands below e^{-42} = 6e-19 of their maximum are left out."""


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
    # doubles that fit in a processor's cache
    rows = max(1, 2**15 // (_points(tokens, n, offset).size * tokens.weight.size))
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


class OnProduct(msgspec.Struct, frozen=True):
    """Tokens on a product of spheres: point 3 of `lipverify.loss.block`."""

    d: int
    k: int
    c_u: float
    c_v: float

    def spread(self, c: Floats, c_perp: Floats) -> Floats:
        """The largest score minus the smallest."""
        return np.asarray(2 * (np.abs(c) * self.c_u**2 + np.abs(c_perp) * self.c_v**2))

    def values(self, n: float, c: Floats, c_perp: Floats, order: int, fine: bool) -> tuple[Floats, Floats]:
        """Noise over sigma^2 and bias over L^2 for each pair (c, c'), by one of two rules that share no node."""
        order, offset = (order + 1, 0.0) if fine else (order - 2, 0.5)
        (t, weight), (t_perp, weight_perp) = coordinate_rule(self.k, order), coordinate_rule(self.d - self.k, order)
        along, across = _fall(c * self.c_u**2, t), _fall(c_perp * self.c_v**2, t_perp)
        tokens = Tokens(
            deficit=(along[:, :, None] + across[:, None, :]).reshape(c.size, -1),
            near=np.repeat(1 - t, t_perp.size),
            weight=np.outer(weight, weight_perp).ravel(),
        )
        alone, alone_near, _, _, _, pairs = moments(tokens, n, offset)
        return alone, self.c_u**2 * (2 * alone_near + pairs) / self.k


def _fall(scale: Floats, t: Floats) -> Floats:
    """max(scale t) - scale t over t in [-1, 1], (pair, node)."""
    return np.where(scale[:, None] >= 0, scale[:, None] * (1 - t), -scale[:, None] * (1 + t))


LEVELS = (16, 24, 36, 54, 80, 120, 180, 270)
"""Numbers of coefficients, tried in order, each half larger than the one before."""


class Profile(msgspec.Struct, frozen=True):
    """Chebyshev coefficients (degree, 6) of the logarithms of the averages, for omega from 0 to `top`."""

    top: float
    coefficients: Floats

    @property
    def tail(self) -> float:
        """The largest of the last two coefficients: the truncation error."""
        return float(np.max(np.abs(self.coefficients[-2:])))

    def at(self, omega: Floats) -> Floats:
        """The six averages, (6, ...)."""
        # one matrix product for all six columns; Clenshaw's recurrence would run once per column
        basis = chebvander(2 * omega / self.top - 1, len(self.coefficients) - 1)
        return np.exp(np.moveaxis(basis @ self.coefficients, -1, 0))


class OnSphere(msgspec.Struct, frozen=True):
    """Tokens uniform on S^{d-1}: point 4 of `lipverify.loss.block`.

    With near = 1 - t and step = s^{1/2} - cos,

        gap = step + cos near,        square = gap^2 + (2 near - near^2) (k - cos^2) / (d - 1),

    so six averages, functions of omega alone, give the loss of every pair (c, c') and every query. Their logarithms are
    interpolated by Chebyshev polynomials in omega, which keeps relative accuracy over all their decades.
    """

    d: int
    k: int

    def spread(self, c: Floats, c_perp: Floats) -> Floats:
        """A bound on the largest score minus the smallest."""
        return np.asarray(2 * np.maximum(np.abs(c), np.abs(c_perp)))

    def values(self, n: float, c: Floats, c_perp: Floats, order: int, fine: bool) -> tuple[Floats, Floats]:
        """Noise over sigma^2 and bias over L^2 for each pair (c, c'), by one of two rules that share no node."""
        s, weight = share_rule(self.d, self.k, order + 1 if fine else order - 2)
        along, across = c[:, None] * np.sqrt(s), c_perp[:, None] * np.sqrt(1 - s)
        omega = np.hypot(along, across)
        cosine = np.divide(along, omega, out=np.zeros_like(omega), where=omega > 0)
        # up to a power of two, so that calls share tables
        rough, finer = profiles(self.d, n, 2.0 ** max(0, math.ceil(math.log2(max(float(omega.max()), 1.0)))))
        alone = (finer if fine else rough).at(omega)
        step = np.sqrt(s) - cosine
        rest = (2 * alone[1] - alone[2]) * (self.k - cosine**2) / (self.d - 1)
        gaps = sum(_square(step, cosine, part) for part in (alone[:3], alone[3:]))
        return alone[0] @ weight, (gaps + rest) @ weight / self.k


def _square(step: Floats, cosine: Floats, averages: Floats) -> Floats:
    """The average of (step + cos near)(step + cos near') from those of 1, near, near near'."""
    mass, near, square = averages
    return np.asarray(step**2 * mass + 2 * step * cosine * near + cosine**2 * square)


@lru_cache(maxsize=256)
def profiles(d: int, n: float, top: float) -> tuple[Profile, Profile]:
    """A rough and a finer profile that share no node, refined until they agree or the orders end."""
    tested = np.linspace(0, top, 101)
    # a window of width 1 / top needs at least top nodes
    for level in (level for level in LEVELS if level > top):
        rough = _profile(d, n, top, level - 2, 0.5)
        if rough.tail > 1e-9 and level < LEVELS[-1]:
            continue
        finer = _profile(d, n, top, level + 1, 0.0)
        if np.max(np.abs(np.log(rough.at(tested) / finer.at(tested)))) < 4e-12:
            break
    return rough, finer


def _profile(d: int, n: float, top: float, order: int, offset: float) -> Profile:
    """The averages at as many values of omega as there are nodes for a token."""
    omega = top * (1 + np.cos(np.pi * (np.arange(order) + 0.5) / order)) / 2
    t, weight = coordinate_rule(d, order)
    tokens = Tokens(deficit=omega[:, None] * (1 - t), near=1 - t, weight=weight)
    averages = np.maximum(moments(tokens, n, offset), 1e-300)  # a context of one token has no pairs
    coefficients = dct(np.log(averages), axis=1).T / order
    coefficients[0] /= 2
    return Profile(top, coefficients)


Reduction = OnProduct | OnSphere


def reduction_of(problem: Problem) -> tuple[Reduction, float]:
    """The reduction of a problem, and the constant L of its law f(x) = L a^T B^T x."""
    law, covariates = problem.law, problem.covariates
    if not isinstance(law, LowRank) or not isinstance(law.ridge, Linear):
        raise InvalidInput(f"law = {law.name}: the reduction needs f(x) = a^T B^T x; use lipverify.laws.LowRank(B).")
    B = np.array(law.B)
    d, k = B.shape
    if isinstance(covariates, Sphere):
        return OnSphere(d, k), law.ridge.L
    if not isinstance(covariates, ProductOfSpheres):
        raise InvalidInput(
            f"covariates = {covariates.name}: the reduction needs lipverify.covariates.Sphere() or "
            "lipverify.covariates.ProductOfSpheres(B); use method='montecarlo' with M."
        )
    columns = np.array(covariates.B)
    # bases are orthonormal to 1e-10
    if columns.shape != B.shape or float(np.max(np.abs(B @ B.T - columns @ columns.T))) > 1e-9:
        raise InvalidInput("B of the law and B of the covariates span different spaces; the reduction needs one.")
    return OnProduct(d, k, covariates.c_u, covariates.c_v), law.ridge.L
