"""The cosine of Theorem 4.2 for every number of tokens and every dimension.

u is uniform on the sphere of R^n, q = (sum g^3)^2 / (sum g^2 sum g^4) for n normal numbers g, so that n E q = n E[sum
u^6 / sum u^4].
"""

from __future__ import annotations

import math

from flint import arb, fmpq, fmpq_poly

from ..kernel.form import Ball, Known, Obligations, least, most
from ..kernel.polynomials import never_negative

TOUCHING = (3, 6)
"""a and b, where the majorant of 1/y touches it; with two double contacts it is of degree 4."""


def majorant(k: Known) -> Obligations:
    """For every n: n E q <= C.

    Because y = n sum u^4 >= 1 (Cauchy), and for a, b = 3, 6 the polynomial p with y p(y) = 1 + (y-a)^2 (y-b)^2 (y-1) /
    (ab)^2 is at least 1/y there, so that n E q <= n^2 E[sum u^6 p(y)], a rational function of n: E[S_6 S_4^j] of normal
    numbers over the moments of the radius. Multiplied out, it is a polynomial for n >= 6; below, q <= 1.
    """
    C, (a, b), n = as_fraction(k["C"].lower()), TOUCHING, fmpq_poly([0, 1])
    product = fmpq_poly([-a, 1]) ** 2 * fmpq_poly([-b, 1]) ** 2 * fmpq_poly([-1, 1]) * fmpq(1, (a * b) ** 2)
    whole = radius_moment(6 + 4 * 4)
    room = C * whole
    for j, coefficient in enumerate((fmpq_poly([1]) + product).coeffs()[1:]):
        others, _ = divmod(whole, radius_moment(6 + 4 * j))  # n (n + 2) ... : the radius has one factor after another
        room -= coefficient * n ** (j + 2) * mixed_moment(j) * others
    return {}, {"n E q <= C for n >= 6": never_negative(room, 6), "C >= 5": C >= 5}


def remainder(k: Known) -> Obligations:
    """For every n: n E cos^2 <= d + offset for the best readout in d dimensions.

    Because the columns span g and a uniformly random (d-1)-dimensional subspace of its complement: cos^2 = q + (1 - q)
    B with an independent B of mean (d-1)/(n-1), n > d. That rises in q, and C/n + (1 - C/n) (d-1)/(n-1) <= (d - 1 + C)
    / n where C >= 1. For n <= d cos^2 <= 1.
    """
    return {"offset": least(k["C"] - 1)}, {"C >= 1": k["C"] >= 1}


def attained(k: Known) -> Obligations:
    """As n grows, n E cos^2 tends to at least d + low.

    Because 1/y >= (2a - y) / a^2, the tangent at a = 3: n E q >= (2/a) n^2 E sum u^6 - (1/a^2) n^3 E sum u^4 sum u^6,
    whose limit is that of the leading coefficients; n E (1 - q) B tends to d - 1.
    """
    a, once, twice = TOUCHING[0], mixed_moment(0).coeffs()[-1], mixed_moment(1).coeffs()[-1]
    return {"low": most(arb(2 * once / a - twice / a**2) - 1)}, {}


def mixed_moment(j: int) -> fmpq_poly:
    """E[S_6 S_4^j] of n normal numbers as a polynomial in n, S_k the sum of k-th powers.

    >>> mixed_moment(1)  # 945 n + 45 n (n - 1)
    45*x^2 + 900*x
    """
    powers = fmpq_poly([fmpq(_odd(4 * i), math.factorial(i)) for i in range(j + 1)])
    product = fmpq_poly([fmpq(_odd(6 + 4 * i), math.factorial(i)) for i in range(j + 1)])
    # of degree j + 1 in n, and 0 at n = 0: the values at 1..j+1 say what it is
    total = fmpq_poly([0])
    for n in range(1, j + 2):
        others = [i for i in range(j + 2) if i != n]
        basis = math.prod((fmpq_poly([fmpq(-i, n - i), fmpq(1, n - i)]) for i in others), start=fmpq_poly([1]))
        total += n * product[j] * math.factorial(j) * basis
        product = fmpq_poly((product * powers).coeffs()[: j + 1])
    return total


def _odd(k: int) -> int:
    """(k - 1)!! = E g^k, k even."""
    return math.prod(range(1, k, 2))


def radius_moment(k: int) -> fmpq_poly:
    """E R^k = n (n + 2) ... (n + k - 2), k even."""
    product = fmpq_poly([1])
    for i in range(0, k, 2):
        product *= fmpq_poly([i, 1])
    return product


def as_fraction(ball: Ball) -> fmpq:
    """A ball without a radius as a fraction."""
    mantissa, power = ball.man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(power)


LEMMAS = {"17.1": majorant, "17.2": remainder, "17.3": attained}
