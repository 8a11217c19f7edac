r"""Tasks that depend on a few directions, any number of tokens: C BB^T is best of all M that do not mix them.

Notation of `subspace`: F, alpha, beta, N, h and gamma; alpha_0 = beta_0 = 1 / (d n) and N_0 = 1/n are the values at
omega = 0. It is assumed that d >= 3, ||B^T M B||_2 <= C, and B^T M B' = 0, where the columns of B' span the
complement of col(B). Nothing else of M is bounded. At a query with |B^T x| = z let rho = |B^T M x| <= C z, and omega
= |M x| >= rho. As <B^T M x, B^T x> <= rho z, k times the loss is at least z^2 + l(rho, omega), with equality if B^T M
x is a multiple >= 0 of B^T x,

    l = -2 z rho h + gamma rho^2 + k beta + k sigma^2 N,

and the lemmas show that l > l(C z, C z), its value at C BB^T, unless rho = omega = C z.

**N, alpha and beta rise, and h falls, for every n >= 2.** N: see `subspace`. h = E sum a_i y_i - beta, of which the
first falls (`subspace`).

beta: with Y = lambda e^{omega t}, u = E e^{-Y}, y = (1 - t^2) / (d - 1) and W = E y (1 - (1 + Y) e^{-Y}) it is n int
u^{n-1} dW = n (n - 1) int u^{n-2} W du. At fixed u the slope of W in omega is E Y e^{-Y} times the covariance of y Y
and t under mu, the law of t with the weight Y e^{-Y}. That is the integral of (y Y)' K, K(t) = int_t^1 (s - E t) d
mu(s) >= 0, where y Y first rises and then falls. If a law is multiplied by a falling function, then so is K: the
quotient of the two slopes K' falls on both sides of the two means, and between these one K falls and the other rises;
both vanish at t = +-1. So the covariance is positive if it is without e^{-Y}, which means D(omega) = A_{d+2}(2 omega)
> A = A_d(omega), A_d = I_{d/2} / I_{d/2-1}. This is so near 0, as 2 / (d + 2) > 1/d, and where first D = A it would
be that D' - A' = A' + (d - 3) A / omega > 0, by A_d' = 1 - A_d^2 - (d - 1) A_d / omega.

alpha: alpha' = 2 E sum_{i<j} a_i a_j (t_i - t_j)^2 sum_l a_l t_l. The terms with l = i and j are >= 0 in all, as a_i
and a_j rise in t_i + t_j. The others are, up to a factor, int u^{n-3} E_mu t Var_mu(t) (E Y e^{-Y})^3 d lambda /
lambda. E_mu t and u fall in lambda, so that they are >= 0 if they are at n = 3. There a_1 a_2 a_3 = P^{-3}, P = sum
e^{omega delta_i}, t_i = m + delta_i, sum delta_i = 0, and they are P^{-3} (3 m sum delta_i^2 - 9 prod delta_i). All
t_i may be negated. If prod delta_i > 0, then P(delta) > P(-delta), and the mean of m given delta is <= 0: prod (1 -
t_i^2) less the same at -m is -4 m prod delta_i (3 + m^2 + delta_1 delta_2 + delta_1 delta_3 + delta_2 delta_3), and
sum t_i^2 <= 3.

**Series.** The coefficients of F, alpha, beta and N in powers of omega are polynomials in 1/n: those of E t^j e^{k
omega t - lambda (e^{omega t} - 1)} are polynomials in lambda, and the averages are integrals over lambda of products
of such with e^{-n lambda}. For |Im omega| <= b |sum e^{omega t_i}| >= cos(b) sum |e^{omega t_i}|: there |F| <= 1 /
cos b, and |alpha|, |beta| and |N| are at most 1 / cos(b)^2, so that the coefficients of omega^j are at most this
times b^{-j}.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import pairwise
from typing import Any

from flint import arb, arb_poly, fmpq, fmpq_poly

from ..kernel import form
from ..kernel.contexts import STRIP
from ..kernel.form import Ball, Known, Obligations, most, size

ORDER = 32
"""Powers of omega: with fewer, less would be proved, and nothing false."""
SINGLE = 16
"""Numbers of tokens below this are looked at one by one; all others are in intervals of 1/n."""

Series = list[fmpq_poly]


def product(first: Series, second: Series) -> Series:
    """The product of two power series in omega."""
    return [sum((first[i] * second[j - i] for i in range(j + 1)), fmpq_poly()) for j in range(ORDER + 1)]


def token(d: int, power: int, shift: int) -> Series:
    """e^lambda E t^shift e^{power omega t - lambda e^{omega t}} in powers of omega, with polynomials in lambda."""
    step, series, polynomial = fmpq_poly([0, 1]), [], fmpq_poly([1])
    for j in range(ORDER + 1):
        series.append(polynomial * moment(d, j + shift) / math.factorial(j))
        # e^{power v - lambda e^v} times a polynomial in L = lambda e^v: its slope in v is power - L + L d/dL
        polynomial = power * polynomial - step * polynomial + step * polynomial.derivative()
    return series


def moment(d: int, j: int) -> fmpq:
    """E t^j of one coordinate t."""
    return fmpq(0) if j % 2 else math.prod((fmpq(2 * i + 1, d + 2 * i) for i in range(j // 2)), start=fmpq(1))


def integral(series: Series, n: int, power: int) -> list[fmpq]:
    """The integrals over lambda of the coefficients, times lambda^power e^{-n lambda}."""
    return [
        sum((c[j] * fmpq(math.factorial(j + power), n ** (j + power + 1)) for j in range(c.length())), fmpq(0))
        for c in series
    ]


def through(places: list[fmpq], values: list[fmpq]) -> fmpq_poly:
    """The polynomial with these values."""
    differences = list(values)
    for j in range(1, len(places)):
        for i in range(len(places) - 1, j - 1, -1):
            differences[i] = (differences[i] - differences[i - 1]) / (places[i] - places[i - j])
    return reduce(
        lambda polynomial, i: polynomial * fmpq_poly([-places[i], 1]) + differences[i],
        range(len(places) - 2, -1, -1),
        fmpq_poly([differences[-1]]),
    )


def coefficients(d: int) -> dict[str, Series]:
    """The coefficients of F, alpha, beta and N in powers of omega, as polynomials in 1/n.

    They are of degree ORDER + 1 at most, and so follow from n = 1 to ORDER + 2.
    """
    plain, first = token(d, 0, 0), token(d, 1, 1)
    twice, squares = token(d, 2, 0), token(d, 2, 2)
    pairs, powers = product(first, first), [fmpq_poly([1]), *[fmpq_poly()] * ORDER]
    before: Series = [fmpq_poly()] * (ORDER + 1)  # the power n - 2; there are no pairs at n = 1
    rows: dict[str, list[list[fmpq]]] = {"F": [], "alpha": [], "beta": [], "N": []}
    sizes = range(1, ORDER + 3)
    for n in sizes:
        N, alone = (integral(product(series, powers), n, 1) for series in (twice, squares))
        both = integral(product(pairs, before), n, 1)
        rows["F"].append([n * c for c in integral(product(first, powers), n, 0)])
        rows["alpha"].append([n * single + n * (n - 1) * pair for single, pair in zip(alone, both, strict=True)])
        rows["beta"].append([n * (c - t) / (d - 1) for c, t in zip(N, alone, strict=True)])
        rows["N"].append([n * c for c in N])
        powers, before = product(powers, plain), powers
    places = [fmpq(1, n) for n in sizes]
    return {name: [through(places, list(column)) for column in zip(*row, strict=True)] for name, row in rows.items()}


@dataclass(frozen=True)
class Tokens:
    """The series at one n, or at all n whose inverse is in an interval."""

    F: list[Ball]
    alpha: list[Ball]
    beta: list[Ball]
    N: list[Ball]

    def sum(self, terms: Mapping[str, Ball], weight: Callable[[int], int], lowest: int, omega: Ball) -> Ball:
        """The sum over j >= lowest of weight(j) c_j omega^{j - lowest}, 0 <= weight(j) <= j, c a sum of the series."""
        x, total = omega / arb(STRIP), arb(0)
        for j in range(ORDER, lowest - 1, -1):
            c = sum((factor * getattr(self, name)[j] for name, factor in terms.items()), arb(0))
            total = total * omega + weight(j) * c
        largest = sum((abs(factor) * bound(name) for name, factor in terms.items()), arb(0)) / arb(STRIP) ** lowest
        rest = largest * x ** (ORDER + 1 - lowest) * ((ORDER + 1) / (1 - x) + x / (1 - x) ** 2)
        return total + arb(0, rest.abs_upper())


def bound(name: str) -> Ball:
    """The largest of |F|, or of the others, in the strip."""
    return 1 / arb(STRIP).cos() ** (1 if name == "F" else 2)


@lru_cache(maxsize=4)
def tokens(d: int) -> list[Tokens]:
    """All n >= 2: one by one up to SINGLE, then in intervals of 1/n."""
    edges = [arb(i) / (4 * SINGLE) for i in range(5)]
    inverses = [arb(1) / n for n in range(2, SINGLE)] + [low.union(high) for low, high in pairwise(edges)]
    series = coefficients(d)

    def at(name: str, inverse: Ball) -> list[Ball]:
        bounds = []
        for j, polynomial in enumerate(series[name]):
            size = (bound(name) / arb(STRIP) ** j).abs_upper()
            value: Ball = arb_poly(polynomial)(inverse)
            bounds.append(arb(0, size) if not abs(value) < size else value)
        return bounds

    return [Tokens(*(at(name, inverse) for name in ("F", "alpha", "beta", "N"))) for inverse in inverses]


def places(k: Known, end: Ball) -> Iterator[tuple[Tokens, Ball]]:
    """All n, and all omega from 0 to some end, in parts."""
    edges = [end * i / 24 for i in range(25)]
    return ((context, low.union(high)) for context in tokens(k["d"]) for low, high in pairwise(edges))


def smallest(values: Iterator[Ball]) -> Ball:
    """A number that none of them is below."""
    return reduce(arb.min, [value.lower() for value in values])


SIGNAL, DIFFERENCE = {"F": 1}, {"alpha": 1, "beta": -1}
"""The series of h omega and of gamma omega^2."""


def h(n: Tokens, omega: Ball) -> Ball:
    """F / omega."""
    return n.sum(SIGNAL, lambda _: 1, 1, omega)


def bend(n: Tokens, omega: Ball) -> Ball:
    """h less its value at 0."""
    return omega**2 * n.sum(SIGNAL, lambda _: 1, 3, omega)


def across(k: Known) -> Obligations:
    """Up to omega = stop l falls in rho as long as rho <= C z, and at rho = C z it rises in omega.

    Because C gamma < h, and its slope in omega is that of k beta + k sigma^2 N, which rise, plus C z^2 (-2 h' + C
    gamma'), of which the last factor is at least steep omega.
    """
    if not k["stop"] < STRIP:
        return {"steep": most(arb("nan"))}, {"stop is in the strip": False}
    C, boxes = k["C"], list(places(k, k["stop"]))
    return {
        "steep": most(
            smallest(
                C * n.sum(DIFFERENCE, lambda j: j - 2, 4, omega) - 2 * n.sum(SIGNAL, lambda j: j - 1, 3, omega)
                for n, omega in boxes
            )
        )
    }, {
        "C gamma < h": all(h(n, omega) > C * n.sum(DIFFERENCE, lambda _: 1, 2, omega) for n, omega in boxes),
        "C <= stop": bool(k["stop"] >= C),
    }


def along(k: Known) -> Obligations:
    """For every k < d, l(omega, omega) falls up to omega = C z.

    Because its slope is -2 z F' + alpha' + (k - 1) beta' + k sigma^2 N', with z >= omega / C and k <= d - 1: -omega
    fall / C at most.
    """
    C, d = k["C"], k["d"]
    noisy = {"alpha": 1, "beta": d - 2, "N": (d - 1) * k["sigma"] ** 2}
    return {
        "fall": most(
            smallest(
                2 * n.sum(SIGNAL, lambda j: j, 1, omega) - C * n.sum(noisy, lambda j: j, 2, omega)
                for n, omega in places(k, C)
            )
        )
    }, {}


def beyond(k: Known) -> Obligations:
    """For every k < d and omega >= stop, l exceeds l(C z, C z) by C z^2 more at least.

    Because there l >= -2 C z^2 h(stop) + k beta_0 + k sigma^2 N_0, as alpha, beta and N rise and h falls, and at omega
    = C z l(C z, C z) = -2 C z^2 h + C^2 z^2 gamma + k beta + k sigma^2 N, k <= d - 1.
    """
    C, d = k["C"], k["d"]
    loss = {"alpha": 1, "beta": d - 2, "N": (d - 1) * k["sigma"] ** 2}
    return {
        "more": most(
            smallest(
                2 * (bend(n, omega) - bend(n, k["stop"])) - C * n.sum(loss, lambda _: 1, 2, omega)
                for n, omega in places(k, C)
            )
        )
    }, {}


def least_loss(k: Known) -> Obligations:
    """The loss of M is more than that of C BB^T unless M = C BB^T; and so for every smaller C and sigma.

    Because the three inequalities are linear in C, with >= at C = 0, and hold with less noise too, as N rises; and l =
    l(C z, C z) at almost every query only if M = C BB^T.
    """
    return {}, {}


LEMMAS = {"15.1": across, "15.2": along, "15.3": beyond, "15.4": least_loss}
THEOREMS = {"aligned blocks": (across, along, beyond, least_loss)}


def about(stated: Mapping[str, Any]) -> dict[str, Any]:
    k = form.exactly("given", stated["given"], ("d", "sigma", "C"))
    subject: dict[str, Any] = {
        "d": size("d", k["d"], 3, 20),
        "sigma": form.number(k["sigma"]),
        "C": form.number(k["C"]),
    }
    if not 0 <= subject["sigma"] <= 4 or not 0 < subject["C"] <= 1:
        raise form.Malformed(f"{k}: sigma from 0 to 4, 0 < C <= 1")
    return subject


def sentence(proof: form.Proof) -> form.Sentence:
    sigma, C = (form.shown(proof.about[name]) for name in ("sigma", "C"))
    d, n, k, noise, radius, *M = ranges = (
        *(f"d = {proof.about['d']}", "n >= 2", f"k < {proof.about['d']}"),
        f"0 <= sigma <= {sigma}" if proof.about["sigma"] else "sigma = 0",
        *(f"0 < C <= {C}", "||B^T M B|| <= C", "B^T M B' = 0"),
    )
    these = f"{d}: for all {n}, all {k}, {noise} and {radius}, of all M with {' and '.join(M)}"
    return form.Sentence(f"{these} the loss is least at M = C BB^T alone", form.BEST, ranges)


KIND = form.Kind(
    chain=lambda proof: [(rule, 0) for rule in THEOREMS[proof.theorem]],
    about=about,
    sentence=sentence,
    chosen={across: ("stop",)},
)
