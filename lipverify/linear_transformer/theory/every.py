r"""Bounds for every kappa, epsilon, n and d, by exact algebra and balls: nothing is measured at points.

A polynomial whose coefficients in t are all >= 0 is >= 0 for every t >= 0: that is how inequalities on whole rays are
certified here, in fractions.

**Layers (Theorem 5.1).** With k^2 the condition number, a layer leaves k'^2 - 1 = P(k)^2 / 27, P = (k-1)(k+2)(2k+1) /
(k (k+1)) = 2k + 1 - 2/k - 2/(k+1), which rises in k.

1. Far: k' <= r (k + 1), r = (4/27)^{1/2}, for k >= F = 12/5, so that with the fixed point f = r/(1-r), k' - f <= r (k -
   f), and after m = log(k^2) / log(27/4) - 2 log(F - f) / log(27/4) + 1 layers, rounded down, k <= F.
2. Near: k'^2 - 1 <= (3/16) (k^2 - 1)^2 for every k >= 1: y = (3/16) (k^2 - 1) is squared at least. One more layer from
   k <= F leaves y <= y_1, then j layers y_1^{2^j}, and a last step (k^2 - 1) / (k^2 + 1) <= (8/3) y.
3. That is at most epsilon for j = log_2(log(8 / (3 epsilon)) / log(1/y_1)) rounded up, and for epsilon <= 1/2 log(8 /
   (3 epsilon)) <= log(1/epsilon) (1 + log(8/3) / log 2).

**Cosine (Theorem 4.2).** n E q = n E[sum u^6 / sum u^4], u uniform on the sphere (`expressive`). Let y = n sum u^4 >= 1
(Cauchy). For any a, b > 0 the polynomial p with y p(y) = 1 + (y-a)^2 (y-b)^2 (y-1) / (a b)^2 is at least 1/y for
y >= 1, and E[sum u^6 p(y)] is a rational function of n, from E[S_6 S_4^j] of normal numbers over the moments of the
radius. For n <= 5 q <= 1 is enough. The tangent (2a - y) / a^2 <= 1/y at a = 3 bounds the limit from below.

**Ridge (Theorem 5.2).** w - w_ridge = c v (lambda/n - s) alpha - (I - Sigma) w_ridge / (1 + s), and given Sigma, with
eigenvalues t_j, tau_j = t_j + s and b_j = (1 - c t_j)^2, or 1 if yy acts first,

    E |(lambda/n - s) alpha|^2 = n^{-2} E sum_j t_j tau_j [(sum_i b_i tau_i - s d + 2 b_j tau_j)^2
                                    + 2 s^2 (n - d) + 2 sum_i (b_i tau_i)^2 + 4 (b_j tau_j)^2],
    E |(I - Sigma) w_ridge|^2 <= E tr (I - Sigma)^2 = d (d + 1) / n.

t_j <= T = tr Sigma and b_j <= 1 + c^2 T^2 leave a polynomial in T, and E T^k = prod_{i<k} (d + 2i/n), as n T is
chi-squared with n d degrees of freedom. Minkowski's inequality adds the two; all of it, times n, falls in n.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq, fmpq_poly

from lipverify.linear_transformer.theory.second_order import improved

Ball = Any
BITS = 192
FAR = fmpq(12, 5)
"""F: from where on a layer takes the factor 27/4, but for a constant."""
SLOPE = fmpq(3, 16)
NODES = (3, 6)
"""a and b, where the majorant of 1/y touches it."""
DEGREE = 4
FEWEST = 6
"""Of tokens; below, q <= 1 is enough."""


def never_negative(polynomial: fmpq_poly, start: fmpq | int = 0) -> bool:
    """Whether the coefficients in t = x - start are all >= 0, so that the polynomial is >= 0 for x >= start.

    >>> never_negative(fmpq_poly([-1, 0, 1]), 1), never_negative(fmpq_poly([-1, 0, 1]), 0)
    (True, False)
    """
    return all(each >= 0 for each in polynomial(fmpq_poly([start, 1])).coeffs())


def layers_offset(slope: fmpq = SLOPE, far: fmpq = FAR) -> Ball:
    """C in L <= log(kappa) / log(27/4) + log_2 log(1/epsilon) + C for every kappa >= 1, epsilon <= 1/2, as a ball.

    Raises
    ------
    ArithmeticError
        If the inequalities do not hold for this slope or this F.

    >>> round(float(layers_offset()), 2)
    3.66
    """
    k = fmpq_poly([0, 1])
    near = 27 * slope * (k * (k + 1) ** 2) ** 2 - ((k + 2) * (2 * k + 1)) ** 2
    away = (k * (k + 1)) ** 2 * (4 * (k + 1) ** 2 - 27) - ((k - 1) * (k + 2) * (2 * k + 1)) ** 2
    if not (never_negative(near, 1) and never_negative(away, far)):
        raise ArithmeticError(f"slope = {slope}, F = {far}: a layer may leave more than is said of it.")
    with ctx.workprec(BITS):
        r, gain, F = (arb(4) / 27).sqrt(), (arb(27) / 4).log(), arb(far)
        approach = 1 - 2 * (F - r / (1 - r)).log() / gain
        y = arb(slope) * improved(F**2 - 1)
        squarings = ((1 + (arb(8) / 3).log() / arb(2).log()) / -y.log()).log() / arb(2).log() + 1
        # a number of layers is no less than 0: both bounds have room for that at kappa = 1 and epsilon = 1/2
        if not (approach > 0 and y < 1 and squarings + arb(2).log().log() / arb(2).log() > 0):
            raise ArithmeticError(f"slope = {slope}, F = {far}: the rounded numbers of layers may be negative.")
        return approach + squarings + 2


def mixed_moment(j: int) -> fmpq_poly:
    """E[S_6 S_4^j] of n normal numbers as a polynomial in n, S_k the sum of k-th powers.

    >>> mixed_moment(1)  # 945 n + 45 n (n - 1)
    45*x^2 + 900*x
    """
    weights = [fmpq(_odd(4 * i), math.factorial(i)) for i in range(j + 1)]
    powers = fmpq_poly(weights)
    last = fmpq_poly([fmpq(_odd(6 + 4 * i), math.factorial(i)) for i in range(j + 1)])
    # of degree j + 1 in n, and 0 at n = 0: the values at 1..j+1 say what it is
    values, product = [fmpq(0)], last
    for n in range(1, j + 2):
        values.append(n * product[j] * math.factorial(j))
        product = fmpq_poly((product * powers).coeffs()[: j + 1])
    return _through(values)


def _odd(k: int) -> int:
    """(k - 1)!! = E g^k, k even."""
    return math.prod(range(1, k, 2))


def _through(values: list[fmpq]) -> fmpq_poly:
    """The polynomial with these values at 0, 1, 2, ..."""
    total = fmpq_poly([0])
    for i, value in enumerate(values):
        basis = fmpq_poly([value])
        for other in range(len(values)):
            if other != i:
                basis *= fmpq_poly([fmpq(-other, i - other), fmpq(1, i - other)])
        total += basis
    return total


def radius_moment(k: int) -> fmpq_poly:
    """E R^k = n (n + 2) ... (n + k - 2), k even."""
    product = fmpq_poly([1])
    for i in range(0, k, 2):
        product *= fmpq_poly([i, 1])
    return product


def cosine_constant(claimed: int | fmpq = 5) -> tuple[fmpq, fmpq]:
    """(low, high): sup_n n E q is at most `high`, which is what is claimed, and the limit is at least `low`.

    Raises
    ------
    ArithmeticError
        If n E q <= `claimed` does not follow for every n.

    >>> cosine_constant()
    (5, 5)
    """
    a, b = NODES
    product = fmpq_poly([-a, 1]) ** 2 * fmpq_poly([-b, 1]) ** 2 * fmpq_poly([-1, 1]) * fmpq(1, (a * b) ** 2)
    majorant = (fmpq_poly([1]) + product).coeffs()[1:]
    whole, room = radius_moment(6 + 4 * DEGREE), fmpq_poly([0])
    for j, coefficient in enumerate(majorant):
        others, rest = divmod(whole, radius_moment(6 + 4 * j))
        assert rest == fmpq_poly([0]), "the radius has one moment after the other"
        room -= coefficient * fmpq_poly([0, 1]) ** (j + 2) * mixed_moment(j) * others
    room += claimed * whole
    if not (claimed >= FEWEST - 1 and never_negative(room, FEWEST)):
        raise ArithmeticError(f"n E q <= {claimed}: it does not follow for every n.")
    # 2/a sum u^6 n^2 - n^3 sum u^4 sum u^6 / a^2, by its leading powers of n
    once, twice = (mixed_moment(j).coeffs()[-1] for j in (0, 1))
    return 2 * once / a - twice / a**2, fmpq(claimed)


def ridge_constant(sigma_1: float, sigma_2: float, level: int, d: int, n: int, yy_first: bool = False) -> Ball:
    """K such that E |w - w_ridge|^2 / d <= K / n at one of two levels for every number of tokens from n on, as a ball.

    >>> from lipverify.linear_transformer.theory.noise_adaptive import TwoLevels, leading_square
    >>> bool(ridge_constant(0.5, 1.0, 2, d=2, n=10**6) > leading_square(TwoLevels(0.5, 1.0), 2, 1.0))
    True
    """
    s_1, s_2 = (Fraction(sigma) ** 2 for sigma in (sigma_1, sigma_2))
    c, v, s = (1 + s_1 + s_2) / ((1 + s_1) * (1 + s_2)), -1 / (1 + s_1 + s_2), (s_1, s_2)[level - 1]
    T, one = fmpq_poly([0, 1]), fmpq_poly([1])
    b = one if yy_first else fmpq_poly([1, 0, _exact(c) ** 2])
    own, every = b * (T + _exact(s)), b * (T + d * _exact(s))
    fluctuations = (every + d * _exact(s) + 2 * own) ** 2 + 2 * every**2 + 4 * own**2
    rest = sum(
        (each * _trace_moment(k, d, n) for k, each in enumerate((T * (T + _exact(s)) * fluctuations).coeffs())), fmpq(0)
    )
    # E tr Sigma (Sigma + s) = d + d (d + 1) / n + s d
    main = 2 * _exact(s) ** 2 * (d + fmpq(d * (d + 1), n) + _exact(s) * d)
    with ctx.workprec(BITS):
        product = _exact(c * v) ** 2
        roots = (arb(product * (main + rest / n)).sqrt(), (arb(d * (d + 1)) / arb(_exact((1 + s) ** 2))).sqrt())
        return (roots[0] + roots[1]) ** 2 / d


def _trace_moment(k: int, d: int, n: int) -> fmpq:
    """E T^k = prod_{i<k} (d + 2i/n)."""
    return math.prod((d + fmpq(2 * i, n) for i in range(k)), start=fmpq(1))


def _exact(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
