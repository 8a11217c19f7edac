r"""The limit of the loss of c BB^T as n -> infinity: 0 on a product of spheres, a positive floor on the sphere."""

from __future__ import annotations

from typing import Any

import numpy as np

import lipverify as lv
from lipverify.checks.softmax.quantities import Floats, Value


def projected(d: int, k: int, n: int, c: float) -> dict[str, Value]:
    """The loss at c BB^T on the product of spheres in R^d, by the block reduction, and at c on the sphere of R^k."""
    from lipverify.checks.softmax.lowrank_blocks import problem as low_rank_problem
    from lipverify.loss import block_terms

    small = lv.loss_terms(lv.Problem(d=k, n=n, law=lv.laws.Linear(), sigma=0.5), c)
    whole = block_terms(low_rank_problem("product", d, k, n, 0.5), c, 0.0)
    return {
        name: (float(terms.total), float(terms.total_error)) for name, terms in (("in R^d", whole), ("in R^k", small))
    }


def tilted(d: int, size: Floats) -> Floats:
    """E u| for u on S^{d-1} with density proportional to e^<size, u>: Bessel's I_{d/2} / I_{d/2-1}.

    By Gauss' continued fraction; once its orders exceed `size`, each term is less than a quarter of the one before.
    """
    ratio = np.zeros_like(size)
    for order in reversed(range(int(d), int(max(d, np.max(size))) + 200, 2)):
        ratio = size / (order + size * ratio)
    return ratio


def share_rule(d: int, k: int, order: int) -> tuple[Floats, Floats]:
    """Nodes and weights for |B^T x|^2, x uniform on S^{d-1}: Beta(k/2, (d-k)/2).

    The Jacobi matrix of Beta(a, b) is R R^T with R bidiagonal: nodes are squares of its singular values, which keeps the
    digits of shares near 1/d, and weights the squares of the first entries of its singular vectors.
    """
    a, ab, i = k / 2, d / 2, np.arange(order)
    first = np.where(i > 0, (i + ab - 1) / np.where(i > 0, 2 * i + ab - 1, 1), 1)  # 1 at i = 0, where ab may be 1
    diagonal, j = (i + a) * first / (2 * i + ab), i[1:]
    below = j * (j + ab - a - 1) / ((2 * j + ab - 2) * (2 * j + ab - 1))
    vectors, values, _ = np.linalg.svd(np.diag(np.sqrt(diagonal)) + np.diag(np.sqrt(below), -1))
    weight = vectors[0] ** 2
    return values**2, weight / weight.sum()


def floor(d: int, k: int) -> Value:
    """lim L(c BB^T) as n -> infinity at the best c, tokens uniform on S^{d-1}.

    At a query x with r = |B^T x|, the weights e^(c <B^T t, B^T x>) give E_t B^T t = A(c r) B^T x / r. The mean square
    of a^T times the difference from B^T x is (A(c r) - r)^2 / k, where r^2 is Beta(k/2, (d - k)/2).
    """
    from scipy.optimize import minimize_scalar

    def off(log_c: float, order: int = 80) -> float:
        share, weight = share_rule(d, k, order)
        r = np.sqrt(share)
        return float(weight @ (tilted(d, np.exp(log_c) * r) - r) ** 2 / k)

    best = minimize_scalar(off, bounds=(np.log(d) - 1, np.log(d) + 1), method="bounded", options={"xatol": 1e-9}).x
    value = off(best)
    return value, abs(value - off(best, 60)) + 1e-12 * value


def in_block(d: int, k: int) -> Value:
    """The bias at n = 10^12 by the block reduction, at the best of many c; the difference between contexts is below e^k / n."""
    from scipy.optimize import minimize_scalar

    from lipverify.checks.softmax.lowrank_blocks import problem as low_rank_problem
    from lipverify.loss import block_terms

    here = low_rank_problem("sphere", d, k, 1e12, 0.0)
    found = minimize_scalar(lambda c: float(block_terms(here, c, 0.0).bias), bounds=(d, 3 * d), method="bounded")
    return found.fun, 1e-11


def learned(k: int) -> Any:
    """The exponent in n of min_c L(c BB^T) on the product of spheres, by the window theorem of linear tasks in R^k."""
    from lipverify.claims import proved_window

    return proved_window("affine", k).fact("loss exponent in n")


def unlearned(d: int, k: int, n: float, w: Any) -> tuple[Any, Any]:
    """Balls with bounds of L(w' I) from below on the product of spheres, sigma = 1: for w' <= w, and for w' >= w > 0.

    - For w' <= w the bias is at least (1 - E <m, z>)^2 / k, m = sum_i a_i z_i. Weights along the complement are
      independent of t_i = <z_i, z>, so E <m, z> <= A = I_{k/2}(w) / I_{k/2-1}(w) by Chebyshev's inequality for t_1 and
      1 / sum_j q_j, q_i = e^{w <x_i, x>}. At w' < 0 it is minus that at -w' > 0 (exchange every
      token by its opposite), which is at least 0: the slope of a convex function of |z| that is 0 at |z| = 0.
    - For w' >= w the noise is at least that at w, n E q_1^2 / (q_1 + S)^2, S = sum_{j > 1} q_j. By Jensen's inequality
      for S, and then for q_1 under the density q_1^2, that is at least n E q^2 / (E q^3 / E q^2 + (n - 1) E q)^2.
    """
    from flint import arb

    tokens, orders = arb(n), (arb(k) / 2 - 1, arb(d - k) / 2 - 1)

    def mean(scale: Any) -> Any:
        """E e^{scale (<x_i, x> - 2)}: on S^{m-1}, E e^{s (t - 1)} = Gamma(m/2) (2/s)^{m/2-1} I_{m/2-1}(s) e^{-s}."""
        first, second = ((nu + 1).gamma() * (2 / scale) ** nu * scale.bessel_i(nu, scaled=True) for nu in orders)
        return first * second

    A = w.bessel_i(orders[0] + 1, scaled=True) / w.bessel_i(orders[0], scaled=True)
    q, square, cube = (mean(power * w) for power in (1, 2, 3))
    return (1 - A) ** 2 / k, tokens * square / (cube / square + (tokens - 1) * q) ** 2


QUARTERS = 60
"""Number of w, quarter powers of 2, among which `saved` takes the best bound: up to 2^15, beyond the w of its cells."""


def saved(d: int, k: int, n: float) -> Any:
    """A number above min_c L(c BB^T) / min_w L(w I) on the product of spheres, sigma = 1, d - k >= 2.

    The window theorem of R^k bounds the numerator; linear tasks are affine tasks with L^2 = 3. The denominator is at
    least the smaller of the bounds of `unlearned` at any single w.
    """
    from functools import reduce

    from flint import arb, fmpq

    from lipverify.claims import proved_window

    theorem, tokens = proved_window("affine", k), arb(n)
    if not theorem.covers(n, 3**0.5, 1.0) or d - k < 2:
        raise ValueError(f"d = {d}, k = {k}, n = {n:g}: the window theorem in R^k begins later, or d - k < 2")
    bounds = (unlearned(d, k, n, arb(2) ** arb(fmpq(j, 4))) for j in range(QUARTERS))
    below = reduce(arb.max, [small.min(large) for small, large in bounds])
    return theorem.fact("loss") * (3 * (3 * tokens) ** -arb(fmpq(4, k + 3))) / below


FINE, SMALLEST, LARGEST = "1.005", "0.02", 4
"""The grid of `floor_below`: the quotient of neighbours, the smallest r, and the largest c, in units of d."""


def floor_below(d: int, k: int) -> Any:
    """A ball with a number below lim inf of the minimal L(c BB^T) over c, as n -> infinity, tokens uniform on S^{d-1}.

    At c >= 0 the loss is at least E (F(c r) - r)^2 / k, r = |B^T x|. Here F, the mean of the prediction along B^T x,
    increases (it is the derivative of a convex function) and tends to A = I_{d/2} / I_{d/2-1} as n -> infinity. For c
    from c_i to c_{i+1} and r from r_j to r_{j-1}, |F(c r) - r| is at least F(c_i r_j) - r_{j-1}, and at least r_j -
    F(c_{i+1} r_{j-1}); only the second bound is used for c <= d = c_0, and only the first beyond the last c. c_i r_j =
    d q^{i - j}; r^2 is Beta(k/2, (d - k)/2). At c < 0 the prediction has the other sign, and the loss is larger than at
    c = 0.
    """
    from functools import reduce

    from flint import arb

    q = arb(FINE)
    count, last = (int(float(arb(x).log() / q.log())) for x in (1 / arb(SMALLEST), LARGEST))
    r = [q**-j for j in range(count + 1)]
    share = [(x * x).beta_lower(arb(k) / 2, arb(d - k) / 2, regularized=True) for x in r]
    A = {}
    for power in range(-count, last + 1):
        omega = d * q**power
        A[power] = omega.bessel_i(arb(d) / 2, scaled=True) / omega.bessel_i(arb(d) / 2 - 1, scaled=True)

    def least(first: int | None, after: int | None) -> Any:
        """The bound for c from d q^first to d q^after; None means no end."""
        total = arb(0)
        for j in range(1, count + 1):
            over = arb(0) if first is None else A[first - j] - r[j - 1]
            under = arb(0) if after is None else r[j] - A[after - j + 1]
            total += (share[j - 1] - share[j]) * over.max(under).max(arb(0)) ** 2
        return total / k

    ends = [(None, 0), *((i, i + 1) for i in range(last)), (last, None)]
    return reduce(arb.min, [least(*each) for each in ends])
