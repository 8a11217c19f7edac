"""Orthogonal polynomials of the measure mu = t rho(t) dt, and its Gauss rule, which determines the loss of a filter.

The Jacobi matrix comes from modified moments by Chebyshev's algorithm (Sack and Donovan; Gautschi, Orthogonal
Polynomials, section 2.1.7): with monic Laguerre polynomials of the weight t^{a'} e^{-t/2}, near mu, a degree costs
three bits of the working precision instead of sixteen. A precision that does not suffice shows as wide balls of Arb.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_poly, ctx, fmpq, fmpq_poly, fmpz
from scipy.linalg import eigvalsh_tridiagonal

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.validation import whole
from lipverify.linear_transformer.gdplusplus.spectrum import SpectralRule

WANTED = 192
"""Bits of accuracy of every coefficient, and the precision of later use: enough for losses of 1e-12 at d = 10."""
MOMENT_BITS, ROW_BITS, TRIES = 30, 4, 4
"""Working precision per degree in bits, for the modified moments (sums that cancel) and the rows of the algorithm, and
how often it is tried, each time with twice as many.
"""


class Recurrence(NamedTuple):
    """p_{k+1} = (t - diagonal_k) p_k - squares_k p_{k-1}, monic; squares_0 is the mass of mu."""

    diagonal: tuple[arb, ...]
    squares: tuple[arb, ...]


@lru_cache(maxsize=16)
def recurrence(n: int, d: int, nodes: int) -> Recurrence:
    """The Jacobi matrix of mu with this number of rows, in balls of at least `WANTED` bits."""
    order = n - d + 4
    for attempt in range(TRIES):
        bits = WANTED + nodes * ROW_BITS * 2**attempt
        with ctx.workprec(bits + nodes * MOMENT_BITS * 2**attempt):
            modified = _modified_moments(density_moments(n, d, 2 * nodes + 1)[1:], order)
        with ctx.workprec(bits):
            coefficients = _chebyshev([+moment for moment in modified], order, nodes)
        if all(coefficient.rel_accuracy_bits() >= WANTED for part in coefficients for coefficient in part):
            return coefficients
    raise OutOfReach(f"n = {n}, d = {d}, {nodes} nodes: {bits} bits do not suffice; use fewer layers.")


def gauss_mean(polynomials: Recurrence, nodes: int, s: Any) -> Any:
    """Gauss's rule for int 1/(t + s) dmu as a continued fraction; s is a rational number or a ball.

    It rises with the number of nodes, and stays below the integral: even derivatives of 1/(t + s) are positive.
    """
    tail = polynomials.diagonal[nodes - 1] + s
    for k in range(nodes - 1, 0, -1):
        tail = polynomials.diagonal[k - 1] + s - polynomials.squares[k] / tail
    return polynomials.squares[0] / tail


def gauss_rule(n: int, d: int, nodes: int) -> SpectralRule:
    """Gauss's rule for mu as a rule for rho: exact for t times any polynomial of degree below twice the nodes."""
    polynomials = recurrence(n, d, nodes)
    diagonal, squares = (np.asarray([float(ball.mid()) for ball in part]) for part in polynomials)
    t = eigvalsh_tridiagonal(diagonal, np.sqrt(squares[1:]))
    return SpectralRule(t, -_log_christoffel(t, diagonal, squares) - np.log(t), float(t[-1]), 0.0)


def _log_christoffel(t: Floats, diagonal: Floats, squares: Floats) -> Floats:
    """log sum_{k < nodes} p_k(t)^2 of the orthonormal polynomials: minus the logarithm of a weight."""
    before, now = np.zeros_like(t), np.full_like(t, 1 / np.sqrt(squares[0]))
    total, scaled = now**2, np.zeros_like(t)
    for k in range(len(diagonal) - 1):
        following = ((t - diagonal[k]) * now - np.sqrt(squares[k] * (k > 0)) * before) / np.sqrt(squares[k + 1])
        before, now = now, following
        total = total + now**2
        shrink = np.where(total > 1e200, 1 / np.sqrt(1e200), 1.0)  # in the tail they exceed doubles
        before, now, total, scaled = before * shrink, now * shrink, total * shrink**2, scaled - 2 * np.log(shrink)
    return np.asarray(np.log(total) + scaled)


def _modified_moments(moments: list[Any], order: int) -> list[arb]:
    """int pi_k dmu, pi_k = (-1)^k k! 2^k L_k^order(t/2) monic: one product of polynomials."""
    factorials = [fmpz(1)]
    for k in range(1, len(moments) + order):
        factorials.append(factorials[-1] * k)
    terms = [
        arb(moment) * (-1) ** j / (arb(2) ** j * factorials[j] * factorials[j + order])
        for j, moment in enumerate(moments)
    ]
    sums = arb_poly(terms) * arb_poly([1 / arb(factorials[j]) for j in range(len(moments))])
    return [sums[k] * (-1) ** k * factorials[k + order] * factorials[k] * 2**k for k in range(len(moments))]


def _chebyshev(modified: list[arb], order: int, nodes: int) -> Recurrence:
    """Chebyshev's algorithm: rows of sigma_{k,l} = int p_k pi_l dmu, each from the two before it."""
    centre = [fmpz(2 * (2 * k + order + 1)) for k in range(2 * nodes)]
    step = [fmpz(4 * k * (k + order)) for k in range(2 * nodes)]
    diagonal, squares = [centre[0] + modified[1] / modified[0]], [modified[0]]
    above, row = [arb(0)] * len(modified), modified
    for k in range(1, nodes):
        x, y = diagonal[-1], squares[-1] if k > 1 else arb(0)
        new = [
            row[j + 1] - (x - centre[j]) * row[j] - y * above[j] + step[j] * row[j - 1] for j in range(k, 2 * nodes - k)
        ]
        following = [arb(0)] * k + new
        diagonal.append(centre[k] + following[k + 1] / following[k] - row[k] / row[k - 1])
        squares.append(following[k] / row[k - 1])
        above, row = row, following
    return Recurrence(tuple(diagonal), tuple(squares))


def density_moments(n: int, d: int, count: int) -> list[fmpq]:
    r"""int t^k rho dt for k = 0, ..., count - 1: whole numbers.

    With a = n - d, alpha = (a - 1)/2, C = (d - 1)! / (2 (n - 2)!), Q = sum_{k<d-1} k!/(k+a)! (L_k^a)^2 (see `spectrum`)

        rho(t) = Q(t) t^a e^{-t} + t^alpha e^{-t/2} L_{d-1}^a(t) F(t),
        F(t) = c - C int_0^t u^alpha e^{-u/2} L_{d-2}^a(u) du.

    By parts int_0^t u^alpha e^{-u/2} P du = kappa int_0^t u^alpha e^{-u/2} du - t^{alpha+1} e^{-t/2} q(t) for a
    polynomial P: a moment is made of E_i = int t^{a+i} e^{-t} dt = (a + i)! and A_k = int t^{alpha+k} e^{-t/2} F dt,

        A_0 = r + C sum_i q_i E_i,    A_k = 2 (alpha + k) A_{k-1} - 2 C sum_j (L_{d-2}^a)_j E_{k-1+j},

    with q of L_{d-2}^a, and r = 0 for even d and 1/kappa of L_{d-1}^a for odd d.

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
