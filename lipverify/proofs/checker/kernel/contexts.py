r"""Attention over n tokens at one w, as balls: the averages of which losses are made.

With t_i = <x_i, x>, attention a_i proportional to e^{w t_i}, and h = 1 - P_l (P_l Legendre's polynomial of the sphere,
P_l(1) = 1), what is wanted are E sum a_i^2, E sum a_i^2 h_i, E sum_{i != j} a_i a_j h_i h_j and E sum a_i h_i: each an
E F with 0 <= F <= H^2 for real tokens, H = 2. Three steps, each with its error.

**Tokens.** t has the density (1 - t^2)^{(d-3)/2}. It is exchanged for the m nodes of a Gauss rule, whose weights are
positive and add to 1, for one token after the other. A function that is at most M in the ellipse with the foci +-1 and
the half-axes (rho +- 1/rho)/2 is within 2 M rho^{-D} / (rho - 1) of a polynomial of degree D (Trefethen, Approximation
Theory and Approximation Practice, theorem 8.2), so that an exchange costs at most 4 M rho^{-D} / (rho - 1) if the rule
is exact to degree D. All other tokens are real meanwhile: where w (rho - 1/rho)/2 <= 2b < pi one weight e^{w t_i} has
an argument of at most 2b and the others add to a positive number, so that the sum is at least cos b times the sum of
the sizes (|r e^{iv} + R| >= (r + R) cos(v/2)), and F is at most H^2 / cos(b)^2, with |h| <= H = 1 + rho^l there.

**lambda.** 1/S^2 is the integral of lambda e^{-lambda S}: with u = log lambda, s = w (1 - t), A_k[h](u) = E h
e^{k(u-s)} exp(-e^{u-s}) and phi = E exp(-e^{u-s}), the averages are the integrals over u of n A_2[h] phi^{n-1}, n
(n-1) A_1[h]^2 phi^{n-2} and n A_1[h] phi^{n-1}, of which the trapezoidal rule of step q takes a sum. In the strip |Im
u| <= b |A_k[h](x + ib)| <= cos(b)^{-k} A_k[h](x + log cos b), so that the rule is off by at most eta H^2, eta = 2
cos(b)^{-2} / (e^{2 pi b / q} - 1) (Trefethen and Weideman, SIAM Review 56 (2014), theorem 5.1).

**Ends.** The nodes before u_0 <= 0 add at most n H e^{u_0} + n^2 H^2 e^{2 u_0}, integrals of e^{ku}. Those beyond u_J
= 2w + y, y >= log 2, add at most n^2 H^2 (1 + e^y) e^{-e^y}, since s is at most 2w: an integral of e^{2v} e^{-e^v}
over v = u - 2w; and at most 2 n^2 H^2 phi(u_J)^{n-2}, since phi falls and the trapezoidal sum of e^{kv} e^{-e^v}, k =
1 or 2, is 2 at most for q <= 1.

**Band.** Let x = e^{u-s} and delta = e^{-c}, c >= 5. Where x <= delta 1 - e^{-x}, x e^{-x} and x^2 e^{-x} are at most
delta, and where x >= 2c e^{-x}, x e^{-x} and x^2 e^{-x} are, as 4 c^2 <= e^c. Such tokens are left out at u, but for
the probability of the first ones in phi: so phi and A_k[h] are off by at most H delta. As much they are off where
lambda <= 1, so that x <= 1, if e^{-x} is its series before x^j / j! <= delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import accumulate, repeat
from operator import mul

from flint import arb, arb_mat, arb_poly, ctx

from .form import Ball

GOAL = 24.0
"""Averages are off by e^-GOAL or so."""
SPARE = 4.0
"""How much farther the ends are, that their error is of no weight."""
BITS, FEWER_BITS = 128, 64
"""Precision of the averages over contexts, of one n and of many at once: with less, less is proved, nothing false."""
STRIP = 1.375
"""b, of tokens and of w."""
BLOCK = 4
"""For the lambda in so many doublings the series of e^{-lambda g} has the same terms, and the band the same tokens."""
WIDEST = 2.75
"""(rho - 1/rho)/2 at most, that small windows share their nodes: rho < 6."""
SPACING = 4
"""Numbers of nodes are multiples of this: windows that are close to each other share their nodes."""
FACTORS = 32
"""F: the powers of phi that are computed one by one."""

Balls = Sequence[Ball]
Columns = Sequence[Balls]
Enough = Callable[[Ball, Ball], bool]


@dataclass(frozen=True)
class Averages:
    """E sum a_i^2, and by the degree l, h = 1 - P_l: E sum a_i^2 h_i, E sum_{i != j} a_i a_j h_i h_j, E sum a_i h_i."""

    noise: Ball
    alone: Mapping[int, Ball]
    pairs: Mapping[int, Ball]
    mean: Mapping[int, Ball]


def averages(
    d: int, n: int, w: Ball, degrees: Sequence[int], goal: float = GOAL, weights: Mapping[int, Ball] | None = None
) -> Averages:
    """The averages at one w >= 0 for n >= 2 tokens, off by e^-goal or so.

    With `weights` k_l of the degrees `alone` has one entry, of degree 0: the sum of k_l E sum a_i^2 h_i.
    """
    if not w <= 500:  # the time of a check is bounded
        raise ValueError(f"w = {w.str(6, radius=False)}: averages are computed up to 500")
    with ctx.workprec(BITS):
        m, exchanged = exchange(d, n, w, max(degrees), goal)
        t, p = gauss(d, m)
        (halves, q, eta), ends = trapezoids(goal), arb(n) ** 2 * 4
        first, wanted = -arb(math.ceil(goal + math.log(2 * n) + SPARE)), goal + 2 * math.log(2 * n) + 2 * SPARE
        h, c, end = deficits(d, m, tuple(degrees)), wanted + SPARE, 2 * w + arb(wanted + 2).log()
        sizes = [arb(1)] * len(h) if weights is None else [sum(weights.values(), arb(0))]
        singly = h if weights is None else [summed(h, [weights[degree] for degree in degrees])]
        nothing = arb(-wanted).exp()  # from where phi^{n-2} is less on; whatever is chosen here, the ends are bounded
        g, twice = [(-w * (1 - x)).exp() for x in t], [[arb(1)] * m, *singly]
        last, phi, one, two = sums(g, p, h, twice, first, halves, c, lambda u, x: u >= end or x ** (n - 2) < nothing)
        y, beyond = last - 2 * w, 2 * phi[-1].abs_upper() ** (n - 2)
        if y > arb(2).log():
            beyond = beyond.min((1 + y.exp()) * (-y.exp()).exp())
        left_out = 4 * eta + ends * beyond + 2 * n * first.exp() + ends * (2 * first).exp()
        error = arb(0, (left_out + exchanged).abs_upper())
        if not (m > d and q <= 1):
            raise ValueError(f"w = {w}: too few nodes")
        inside = [value.max(0).min(1) for value in phi]
        double = [value ** (n - 2) for value in inside]
        single = list(map(mul, double, inside))

        def total(others: list[Ball], table: Columns) -> list[Ball]:
            """The sums over u of products with the others."""
            return [n * q * entry for entry in (arb_mat([others]) * arb_mat(table)).entries()]

        alone = [x + size * error for x, size in zip(total(single, two), [arb(1), *sizes], strict=True)]
        mean = [x + error for x in total(single, one)]
        pairs = [(n - 1) * x + error for x in total(double, [[x * x for x in row] for row in one])]
    by_degree = (dict(zip(degrees, column, strict=True)) for column in (pairs, mean))
    return Averages(alone[0], dict(zip(degrees if weights is None else [0], alone[1:], strict=True)), *by_degree)


def summed(columns: Columns, factors: Sequence[Ball]) -> list[Ball]:
    return [sum(map(mul, factors, row), arb(0)) for row in zip(*columns, strict=True)]


def many_averages(d: int, most: int, w: Ball, weights: Mapping[int, Ball], goal: float = GOAL) -> list[Ball]:
    """E sum a_i^2 for n = 2 to `most`, then a bias for the same n: the sum of k_l (E m_l^2 + E sum a_i^2 (1 - P_l^2)).

    Here m_l = sum a_i h_i, h = 1 - P_l, and k_l are the `weights`. In brackets is E sum_{i != j} a_i a_j h_i h_j + 2 E
    sum a_i^2 h_i; all n at once, with the error of the largest: of E sum_{i != j} a_i a_j h_i h_j. As H >= 2, that of E
    sum a_i^2 h_i is at most half of it, and that of E sum a_i^2 a quarter. Of the nodes before u_0 there is no term in
    e^{u_0}, as no E sum a_i h_i is taken.
    """
    with ctx.workprec(FEWER_BITS):
        m, exchanged = exchange(d, most, w, max(weights), goal)
        t, p = gauss(d, m)
        (halves, q, eta), ends, all_k = trapezoids(goal), arb(most) ** 2 * 4, sum(weights.values(), arb(0))
        needed = goal + 2 * math.log(2 * most) + SPARE
        g, h = [(-w * (1 - x)).exp() for x in t], deficits(d, m, tuple(weights))
        first, end, c = -arb(math.ceil(needed / 2)), 2 * w + arb(needed).log(), needed + 2 * SPARE
        twice = [[arb(1)] * m, summed(h, list(weights.values()))]
        last, phi, one, two = sums(g, p, h, twice, first, halves, c, lambda u, _: u >= end)
        y = last - 2 * w
        left_out = 4 * eta + ends * (1 + y.exp()) * (-y.exp()).exp() + ends * (2 * first).exp()
        error = arb(0, (left_out + exchanged).abs_upper())
        if not (m > d and q <= 1 and y >= arb(2).log()):
            raise ValueError(f"w = {w}: too few nodes")
        squares = (arb_mat([[x * x for x in row] for row in one]) * arb_mat([[x] for x in weights.values()])).entries()
        columns = [[q * x, 2 * q * y, q * z] for (x, y), z in zip(two, squares, strict=True)]
        # phi^n is phi^{Fa} phi^b, F = FACTORS: a table of the few phi^b, times the columns with phi^{Fa}
        near = [list(accumulate(repeat(x, FACTORS), mul, initial=arb(1))) for x in phi]
        further = [accumulate(repeat(row[-1], (most - 1) // FACTORS), mul, initial=arb(1)) for row in near]
        far = arb_mat([[x * y for x in xs for y in row] for xs, row in zip(further, columns, strict=True)])
        products = (arb_mat([row[:-1] for row in near]).transpose() * far).tolist()
        table = [products[n % FACTORS][n // FACTORS * 3 : n // FACTORS * 3 + 3] for n in range(most)]
        ns, off, all_off = range(2, most + 1), error / 4, 2 * error * all_k
        bias = [n * ((n - 1) * table[n - 2][2] + table[n - 1][1]) + all_off for n in ns]
        return [n * table[n - 1][0] + off for n in ns] + bias


def exchange(d: int, n: int, w: Ball, degree: int, goal: float) -> tuple[int, Ball]:
    """m, and at most this it costs to exchange n tokens for the nodes."""
    half = arb(WIDEST) if w * WIDEST <= 2 * STRIP else 2 * arb(STRIP) / w
    rho = half + (1 + half**2).sqrt()
    largest = 4 * n * (1 + rho**degree) ** 2 / (arb(STRIP).cos() ** 2 * (rho - 1))
    m = math.ceil((goal + float(largest.log())) / float(rho.log()) / 2) + d
    m += -m % SPACING
    return m, largest * rho ** -(2 * m - d)


def trapezoids(goal: float) -> tuple[int, Ball, Ball]:
    """How many nodes u takes from one lambda to twice that, the step q, and eta, which is about e^-goal."""
    b = arb(1.4)  # of the strip of u: below pi / 2
    halves = math.ceil(math.log(2) * (goal + 5) / (2 * math.pi * float(b)))
    q = arb(2).log() / halves
    return halves, q, 2 / b.cos() ** 2 / (2 * arb.pi() * b / q).expm1()


def sums(
    g: Balls, p: Balls, once: Columns, twice: Columns, first: Ball, halves: int, c: float, enough: Enough
) -> tuple[Ball, list[Ball], Columns, Columns]:
    """The last u, and at u = first, first + q and so on phi, A_1[h] of some columns h, and A_2[h] of others.

    Block by block, up to where `enough` says so, of the last u and its phi.
    """
    if not c >= 5:
        raise ValueError(f"c = {c}: less than 5 leaves out too many tokens")
    pg = [x * y for x, y in zip(p, g, strict=True)]
    pgg = [x * y for x, y in zip(pg, g, strict=True)]
    columns = [[x * y for x, y in zip(weight, h, strict=True)] for weight, hs in ((pg, once), (pgg, twice)) for h in hs]
    H = reduce(arb.max, [x for h in (*once, *twice) for x in h], arb(1))
    delta, powers = (-arb(c)).exp(), [0, *[1] * len(once), *[2] * len(twice)]
    off, split, block, q = arb(0, (H * delta).abs_upper()), 1 + len(once), BLOCK * halves, arb(2).log() / halves
    rows, coefficients, table = (p, *columns), series(g, (p, *columns), powers, delta), list[list[Ball]]()
    while True:
        us = [first + j * q for j in range(len(table), len(table) + block)]
        scales = [u.exp() for u in us]
        if scales[-1] <= 1:
            end = len(terms(scales[-1], delta)) + 2
            by_column = [(arb_poly(row[:end]) + off).evaluate(scales, algorithm="iter") for row in coefficients]
            table += map(list, zip(*by_column, strict=True))
        else:
            for scale, row in zip(scales, band(g, rows, scales, halves, c), strict=True):
                factors = (arb(1), scale, scale**2)
                table.append([factors[k] * x + off for k, x in zip(powers, row, strict=True)])
        if enough(us[-1], table[-1][0]):
            return us[-1], [row[0] for row in table], [row[1:split] for row in table], [row[split:] for row in table]


def band(g: Sequence[Ball], columns: Columns, scales: Sequence[Ball], halves: int, c: float) -> list[list[Ball]]:
    """The sum of each column times e^{-x}, x = lambda g, for each lambda, without tokens beyond the band.

    The first column is p: before the band e^{-x} is 1, and p is summed.
    """
    first, last = (-arb(c)).exp() / scales[-1], 2 * arb(c) / scales[0]
    near = [i for i, x in enumerate(g) if not (x <= first or x >= last)]
    before = sum((y for x, y in zip(g, columns[0], strict=True) if x <= first), arb(0))
    exponentials = list[list[Ball]]()
    for j, scale in enumerate(scales):  # e^{-2x} is a square; afresh in each block, as its error doubles
        exponentials.append(
            [(-scale * g[i]).exp() for i in near] if j < halves else [x * x for x in exponentials[-halves]]
        )
    totals = arb_mat(exponentials) * arb_mat([[column[i] for i in near] for column in columns]).transpose()
    return [[row[0] + before, *row[1:]] for row in totals.tolist()]


def series(g: Sequence[Ball], columns: Columns, powers: Sequence[int], delta: Ball) -> Columns:
    """The coefficients in lambda of lambda^k times the sum of each column times e^{-x}, x = lambda g, for its k."""
    signs = terms(arb(1), delta)
    raised = accumulate(repeat(g, len(signs) - 1), lambda xs, ys: list(map(mul, xs, ys)), initial=[arb(1)] * len(g))
    moments = (arb_mat(columns) * arb_mat(list(raised)).transpose()).tolist()
    return [[arb(0)] * k + list(map(mul, row, signs)) for k, row in zip(powers, moments, strict=True)]


def terms(x: Ball, delta: Ball) -> list[Ball]:
    """The terms of e^{-x} before the first that is at most delta."""
    found = [arb(1)]
    while not abs(found[-1]) <= delta:
        found.append(found[-1] * -x / len(found))
    return found[:-1]


@lru_cache(maxsize=64)
def gauss(d: int, m: int) -> tuple[list[Ball], list[Ball]]:
    """Nodes and weights that integrate polynomials of degree 2m - d against the density of t exactly.

    d odd: Legendre's nodes, and (1 - t^2)^{(d-3)/2} as part of the polynomial; d even: Chebyshev's and (1 -
    t^2)^{(d-2)/2}.
    """
    with ctx.workprec(BITS):
        if d % 2:
            roots = [arb.legendre_p_root(m, k, weight=True) for k in range(m)]
            t, plain, power = [root for root, _ in roots], [weight for _, weight in roots], (d - 3) // 2
        else:
            t, plain = [(arb.pi() * (2 * k + 1) / (2 * m)).cos() for k in range(m)], [arb(1)] * m
            power = (d - 2) // 2
        p = [weight * (1 - x * x) ** power for x, weight in zip(t, plain, strict=True)]
        total = sum(p, arb(0))
        return t, [weight / total for weight in p]


@lru_cache(maxsize=64)
def deficits(d: int, m: int, degrees: tuple[int, ...]) -> list[list[Ball]]:
    """1 - P_l at the nodes of `gauss`: (l + d - 2) P_{l+1} = (2l + d - 2) t P_l - l P_{l-1}."""
    t, _ = gauss(d, m)
    with ctx.workprec(BITS):
        before, now, by_degree = [arb(1)] * m, t, {}
        for degree in range(1, max(degrees) + 1):
            by_degree[degree] = [1 - P for P in now]
            both = zip(t, now, before, strict=True)
            before, now = now, [((2 * degree + d - 2) * x * P - degree * Q) / (degree + d - 2) for x, P, Q in both]
        return [by_degree[degree] for degree in degrees]
