r"""Exact moments of the mean Wishart eigenvalue density, which are whole numbers.

With a = n - d, alpha = (a - 1)/2, C = (d - 1)! / (2 (n - 2)!), Q = sum_{k<d-1} k!/(k+a)! (L_k^a)^2 (see `spectrum`)

    rho(t) = Q(t) t^a e^{-t} + t^alpha e^{-t/2} L_{d-1}^a(t) F(t),   F(t) = c - C int_0^t u^alpha e^{-u/2} L_{d-2}^a du.

By parts int_0^t u^alpha e^{-u/2} P du = kappa int_0^t u^alpha e^{-u/2} du - t^{alpha+1} e^{-t/2} q(t) for a polynomial
P, so that every moment is made of E_i = int t^{a+i} e^{-t} dt = (a + i)! and of A_k = int t^{alpha+k} e^{-t/2} F dt,

    A_0 = r + C sum_i q_i E_i,    A_k = 2 (alpha + k) A_{k-1} - 2 C sum_j (L_{d-2}^a)_j E_{k-1+j},

with q of L_{d-2}^a, and r = 0 for even d and 1/kappa of L_{d-1}^a for odd d.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from flint import fmpq, fmpq_poly

from lipverify.errors import InvalidInput
from lipverify.foundation.validation import whole


def density_moments(n: int, d: int, count: int) -> list[fmpq]:
    """int t^k rho dt for k = 0, ..., count - 1.

    >>> [int(m) for m in density_moments(20, 10, 4)]
    [10, 200, 6200, 238800]
    """
    d, n = whole("d", d, least=1), whole("n", n, least=1)
    if n < d:
        raise InvalidInput(f"n = {n} < d = {d}: Sigma is singular; use n >= d.")
    a, alpha = n - d, fmpq(n - d - 1, 2)
    C = fmpq(math.factorial(d - 1), 2 * math.factorial(n - 2)) if d > 1 else fmpq(0)
    squares = (fmpq(math.factorial(k), math.factorial(k + a)) * _laguerre(k, a) ** 2 for k in range(d - 1))
    Q, phi, psi = sum(squares, fmpq_poly([])), _laguerre(d - 1, a), _laguerre(d - 2, a)
    E = [fmpq(math.factorial(a))]
    for i in range(1, count + 2 * d):
        E.append(E[-1] * (a + i))
    A = [(1 / _by_parts(phi, alpha)[0] if d % 2 else fmpq(0)) + C * _inner(_by_parts(psi, alpha)[1], E)]
    for k in range(1, count + d):
        A.append(2 * (alpha + k) * A[-1] - 2 * C * _inner(psi, E[k - 1 :]))
    return [_inner(Q, E[k:]) + _inner(phi, A[k:]) for k in range(count)]


def _laguerre(k: int, a: int) -> fmpq_poly:
    """L_k^a, and 0 for k < 0."""
    return fmpq_poly([fmpq((-1) ** i * math.comb(k + a, k - i), math.factorial(i)) for i in range(k + 1)])


def _by_parts(P: fmpq_poly, alpha: fmpq) -> tuple[fmpq, fmpq_poly]:
    """kappa and q: int u^{alpha+i} = 2 (alpha + i) int u^{alpha+i-1} - 2 t^{alpha+i} e^{-t/2}."""
    remainder = [*P.coeffs()] or [fmpq(0)]
    q = []
    for i in range(len(remainder) - 1, 0, -1):
        q.append(2 * remainder[i])
        remainder[i - 1] += 2 * (alpha + i) * remainder[i]
    return remainder[0], fmpq_poly(q[::-1])


def _inner(P: fmpq_poly, values: Sequence[fmpq]) -> fmpq:
    return sum((coefficient * value for coefficient, value in zip(P.coeffs(), values, strict=False)), fmpq(0))
