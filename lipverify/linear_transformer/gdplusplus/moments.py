r"""Exact moments of the mean Wishart eigenvalue density, over all eigenvalues or those up to a reach.

The density (see `spectrum`) is, with a = n - d, alpha = (a - 1)/2 and C = (d - 1)! / (2 (n - 2)!),

    rho(t) = Q(t) t^a e^{-t} + t^alpha e^{-t/2} L_{d-1}^a(t) F(t),
    F(t) = c - C int_0^t u^alpha e^{-u/2} L_{d-2}^a(u) du,

Q = sum_{k<d-1} k!/(k+a)! (L_k^a)^2. By parts, with G(t) = int_0^t u^alpha e^{-u/2} du, a polynomial P leaves

    int_0^t u^alpha e^{-u/2} P du = kappa G(t) - t^{alpha+1} e^{-t/2} q(t),

so that every moment of rho is made of E_i = int t^{a+i} e^{-t} dt and of A_k = int t^{alpha+k} e^{-t/2} F dt, where

    A_0 = c G - C kappa G^2 / 2 + C sum_i q_i E_i,
    A_k = 2 (alpha + k) A_{k-1} - 2 [t^{alpha+k} e^{-t/2} F] - 2 C sum_j (L_{d-2}^a)_j E_{k-1+j}.

Over all eigenvalues the brackets vanish, E_i = (a + i)!, and c G - C kappa G^2 / 2 is 0 for even d and 1/kappa of
L_{d-1}^a for odd d: all moments are whole numbers. Up to a reach they are incomplete gamma functions, in balls of Arb.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from flint import arb, fmpq, fmpq_poly

from lipverify.errors import InvalidInput
from lipverify.foundation.validation import whole

Number = Any
"""A rational number, or a ball of Arb."""


class Density(NamedTuple):
    """The polynomials of rho, with the names of the formula above."""

    a: int
    alpha: fmpq
    C: fmpq
    Q: fmpq_poly
    phi: fmpq_poly
    psi: fmpq_poly


class Pieces(NamedTuple):
    """The integrals E_i (i = 0, 1, ...) and A_0, the bracket [t^{alpha + k} e^{-t/2} F] at k = 0, its ratio in k."""

    E: Sequence[Number]
    A: Number
    edge: Number
    reach: Number


def density_moments(n: int, d: int, count: int, reach: float | None = None) -> list[Number]:
    """int t^k rho dt for k = 0, ..., count - 1: rational numbers, or balls where the eigenvalues end at `reach`.

    Balls lose some `count` log2(count / reach) bits of the working precision.

    Raises
    ------
    InvalidInput
        If n < d, or for a reach that is not positive.

    >>> [int(m) for m in density_moments(20, 10, 4)]
    [10, 200, 6200, 238800]
    """
    d, n = whole("d", d, least=1), whole("n", n, least=1)
    if n < d:
        raise InvalidInput(f"n = {n} < d = {d}: Sigma is singular; use n >= d.")
    rho = _density(n, d)
    pieces = _whole(rho, d, count + 2 * d) if reach is None else _cut(rho, d, count + 2 * d, reach)
    E, A, edge = pieces.E, [pieces.A], pieces.edge
    for k in range(1, count + d):
        edge *= pieces.reach
        A.append(2 * (rho.alpha + k) * A[-1] - 2 * edge - 2 * rho.C * _inner(rho.psi, E[k - 1 :]))
    return [_inner(rho.Q, E[k:]) + _inner(rho.phi, A[k:]) for k in range(count)]


def _density(n: int, d: int) -> Density:
    """The polynomials for these n and d."""
    a = n - d
    C = fmpq(math.factorial(d - 1), 2 * math.factorial(n - 2)) if d > 1 else fmpq(0)
    squares = (fmpq(math.factorial(k), math.factorial(k + a)) * _laguerre(k, a) ** 2 for k in range(d - 1))
    return Density(a, fmpq(a - 1, 2), C, sum(squares, fmpq_poly([])), _laguerre(d - 1, a), _laguerre(d - 2, a))


def _whole(rho: Density, d: int, count: int) -> Pieces:
    """The pieces over all eigenvalues, by factorials."""
    E = [fmpq(math.factorial(rho.a))]
    for i in range(1, count):
        E.append(E[-1] * (rho.a + i))
    rest = 1 / _by_parts(rho.phi, rho.alpha)[0] if d % 2 else fmpq(0)
    return Pieces(E, rest + rho.C * _inner(_by_parts(rho.psi, rho.alpha)[1], E), fmpq(0), fmpq(0))


def _cut(rho: Density, d: int, count: int, reach: float) -> Pieces:
    """The pieces up to the reach: incomplete gamma functions, by the first recurrence downwards, which is stable."""
    if not 0 < reach < math.inf:
        raise InvalidInput(f"reach = {reach}: an eigenvalue is positive and finite.")
    R = arb(reach)
    E = [R.gamma_lower(rho.a + count)]
    for i in range(count - 1, 0, -1):
        E.append((E[-1] + R ** (rho.a + i) * (-R).exp()) / (rho.a + i))
    E.reverse()
    order, root = arb(rho.alpha) + 1, arb(2) ** (arb(rho.alpha) + 1)
    G, whole_G = root * (R / 2).gamma_lower(order), root * order.gamma()
    kappa, q = _by_parts(rho.psi, rho.alpha)
    c = 1 / (arb(_by_parts(rho.phi, rho.alpha)[0]) * whole_G) if d % 2 else rho.C * kappa * whole_G / 2
    scale = R ** arb(rho.alpha) * (-R / 2).exp()
    F = c - rho.C * (kappa * G - R * scale * _inner(q, [R**i for i in range(d)]))
    A = c * G - rho.C * kappa * G**2 / 2 + rho.C * _inner(q, E)
    return Pieces(E, A, scale * F, R)


def _laguerre(k: int, a: int) -> fmpq_poly:
    """L_k^a, and 0 for k < 0."""
    return fmpq_poly([fmpq((-1) ** i * math.comb(k + a, k - i), math.factorial(i)) for i in range(k + 1)])


def _by_parts(P: fmpq_poly, alpha: fmpq) -> tuple[fmpq, fmpq_poly]:
    """kappa and q of the formula above: int u^{alpha+i} = 2 (alpha + i) int u^{alpha+i-1} - 2 t^{alpha+i} e^{-t/2}."""
    remainder = [*P.coeffs()] or [fmpq(0)]
    q = []
    for i in range(len(remainder) - 1, 0, -1):
        q.append(2 * remainder[i])
        remainder[i - 1] += 2 * (alpha + i) * remainder[i]
    return remainder[0], fmpq_poly(q[::-1])


def _inner(P: fmpq_poly, values: Sequence[Number]) -> Number:
    """sum_i P_i values_i."""
    return sum((coefficient * value for coefficient, value in zip(P.coeffs(), values, strict=False)), fmpq(0))
