r"""The optimal w with hardly any noise in five dimensions: w* of the affine law is at most C n^{1/3}.

There t has the density 3 (1 - t^2) / 4. a_i is attention, h = 1 - t, s = w h, g = e^{-s}, m = sum a_i h_i, and b = 3d
B / L^2 = E m^2 + E sum a_i^2 h_i (2 - h_i) = D + P, D = 2 E sum a_i^2 h_i, P = E sum_{i != j} a_i a_j h_i h_j. Two
bounds of b from below rise in w, so that one w decides for all larger ones.

**By the nearest token**, of which h is h_1: m >= h_1, and a_1 rises in w for fixed tokens, so that for w' >= w b(w') >=
E h_1^2 + E a_1(w)^2 h_1 (2 - h_1). Given h_1, the others are independent, and E a_1^2 >= 1 / (1 + (n-1) mean)^2, mean =
E[e^{-w (h - h_1)} | h > h_1] (Jensen). With the density 3 h (2 - h) / 4 of h mean (1 - F(h_1)) is at most 3/4 (h_1 (2 -
h_1) / w + (2 - 2 h_1)_+ / w^2).

**By all in the window.** For lambda > 0 and x = lambda e^{-s}, let E_1 = int_0^oo (1 - e^{-x}) ds = Ein, E_2 = int s
(1 - e^{-x}) ds, E_3 = int s^2 (1 - e^{-x}) ds over s > 0: slopes in log lambda are 1 - e^{-lambda}, E_1 and 2 E_2. The
density of s is y s (1 - s / 2w), y = 3 / (2 w^2). So 1 - phi <= y E_2, phi = E e^{-lambda g}, and with K_j = int
s^{j-1} x^2 e^{-x} ds, which is the slope of E_j less that of this slope, K_3 = 2 E_2 - 2 E_1 and K_4 = 3 E_3 - 6 E_2,

    D >= (2/w) n y int (K_3 - K_4 / 2w) (1 - y E_2)_+^{n-1} dlambda / lambda,

as s^2 (1 - s / 2w) < 0 beyond 2w. With u = y E_2 n (1 - u)^{n-1} du is a law on [0, 1], and dlambda / lambda = dE_2 /
E_1:

    D >= (8/3)^{1/2} E u^{1/2} kappa - (2/3) E u K_4 / (E_1 E_2),      kappa = K_3 / (E_1 E_2^{1/2}).

K_4 <= 2 E_1 E_2, as the slope of the slope of 2 E_1 E_2 - 3 E_3 + 6 E_2 is 2 e^{-lambda} lambda E_2 + 6 (1 -
e^{-lambda} - E_1 e^{-lambda}) >= 0, E_1 <= lambda, and all of them are 0 at lambda = 0. So the last term is at most 4
/ (3 (n+1)). For kappa its infimum over all larger lambda is taken: it rises in lambda, and so for one u in w, as y
falls; and a larger n has smaller u. On a cell K_3, whose slope is 2 E_1 - 2 (1 - e^{-lambda}) >= 0, E_1 and E_2 are
taken at its ends; beyond the last one kappa >= 2^{1/2} (1 - 2 / E_1), because E_2 >= E_1^2 / 2: the slope of the
difference is E_1 e^{-lambda}.

**ReLU**, of which w* is at most C n^{2/5}. In units of k_1 let k_l be the weights of degree l, p_l = 1 - P_l, gamma =
sum k_l p_l = h + int_0^h (2/pi) asin(1 - x) dx, which rises and is concave (`levels`), and gamma(2) = 2, so that gamma
>= h. With m_l = sum a_i p_l(t_i), b = B / k_1 is sum k_l (E m_l^2 + E sum a_i^2 (1 - P_l^2)), and also 2 E sum a_i^2
gamma(h_i) and terms >= 0, so that b is at least D. By the nearest token: sum k_l m_l^2 is at least (sum a_i gamma)^2
over sum k_l (Cauchy), and so gamma(h_1)^2 over it; the other part a_1^2 q(h_1) at least, q = sum k_l (1 - P_l^2) = 2
gamma - sum k_l p_l^2. As |P_l'| is largest at t = 1, p_l is at most P_l'(1) h, and moves by that at most as h moves.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise

from flint import arb, ctx

from .chain import Ball, Bounds, Conditions, Known
from .contexts import many_averages
from .every import at, beyond_cut, head, loss_above, relative, unit
from .levels import Place, loss_at, place_at

FEW = 1024
"""Below this n is looked at one by one."""
PLACES = tuple(arb(j) / 2 for j in (4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 36, 40, 44, 48, 52))
"""Where few tokens have a small bias."""
GOAL = 16.0
"""Of these averages are off by e^-GOAL or so."""
PARTS, FINER = 60, 2400
"""Parts of h: this number, and with fewer tokens more."""
GROWTH = arb(6) / 5
"""From one n to the next, up to"""
MANY = 10**12
"""this."""
CELLS = 1000
"""Number of intervals of log lambda, from -9 to 5, on which kappa is bounded."""
SMALL = arb(1) / 20
"""Up to this lambda kappa >= lambda^{1/2} e^{-lambda} / 4 is used beyond `MANY`."""
SURE = 27
"""At least 1.1 times 17, and 8: of b beyond the cut (`every`)."""
EDGES = 500
"""Parts of h for ReLU,"""
SINGLE, CLOSE = 41, Fraction(21, 20)
"""below this n one by one, from it on for all n from one to this multiple of it, up to"""
CROWDED, LATER, LATEST = 10**5, 10**14, 10**15
"""the first; from there on all in the window are used, up to the last one by `GROWTH`, from the second one on with the
envelope of the bias."""
SMALLER, WIDER = tuple(arb(j) / 2 for j in (4, 5, 6, 8, 10, 12, 16, 20, 26, 34)), tuple(map(arb, (22, 28, 36)))
"""Where few tokens have a small bias, and where up to"""
SOME = 3 * FEW
"""this number."""
TRIED = (1.0, 1.3, 1.6)
"""Multiples of n^{2/5} at which the bias of ReLU is bounded from above with more,"""
AT = arb(13) / 10
"""and at most with that envelope."""
MODEST = arb(3) / 10
"""Up to this lambda kappa >= lambda^{1/2} e^{-lambda} / 4 is used for ReLU beyond `LATEST`."""


def nearest(n: int, w: Ball) -> Ball:
    """b at least, at this w and all that are larger, by the nearest token."""
    total, parts = arb(0), PARTS + FINER // n
    edges = [2 * (arb(j) / parts) ** 2 for j in range(parts)]
    tails = [1 - (3 * h**2 - h**3) / 4 for h in edges]
    for (h, more), (F, less) in zip(pairwise(edges), pairwise(tails), strict=True):
        mean = arb(3) / 4 * (more * (2 - h) / w + (2 - 2 * h).max(0) / w**2) / less
        total += (F**n - less**n) * (h**2 + h * (2 - more) / (1 + (n - 1) * mean) ** 2)
    return total


@lru_cache(maxsize=1)
def cells() -> list[tuple[Ball, Ball]]:
    """E_2 at the ends of cells of lambda, and kappa at least from there on."""
    with ctx.workprec(256):
        integrals = []
        for j in range(CELLS + 1):
            x = (arb(14 * j) / CELLS - 9).exp()
            integrals.append((x.expint(1) + x.log() + arb.const_euler(), second(x)))
        bounds = [arb(2).sqrt() * (1 - 2 / integrals[-1][0])]
        for (E1, E2), (less1, less2) in pairwise(reversed(integrals)):
            bounds.append(bounds[-1].min(2 * (less2 - less1) / (E1 * E2.sqrt())))
        return list(zip([E2 for _, E2 in integrals], reversed(bounds), strict=True))


def second(x: Ball) -> Ball:
    """E_2: its series, up to lambda = e^5 with enough bits."""
    with ctx.workprec(600):
        return x * (-x).hypgeom([arb(1)] * 3, [arb(2)] * 3)


def alone(most: Ball, n: Ball, w: Ball) -> Ball:
    """D at least, at this w and all that are larger, for all tokens from n to most."""
    y, total = 3 / (2 * w**2), arb(0)
    shares = [((y * value).min(1), kappa) for value, kappa in cells()]
    powers = [(1 - u) ** most for u, _ in shares] + [arb(0)]
    for (u, kappa), (before, after) in zip(shares, pairwise(powers), strict=True):
        total += kappa * u.sqrt() * (before - after)
    return (arb(8) / 3).sqrt() * total - 4 / (3 * (n + 1))


def few_in_five(k: Known) -> tuple[Bounds, Conditions]:
    """For 2 <= n < 1024 B is at every w >= C n^{1/3} more than at some smaller w.

    Because b is at some w that is looked at less than what the nearest token leaves at C n^{1/3} and all larger w.
    """
    starts = {n: k["C"] * arb(n) ** (arb(1) / 3) for n in range(2, FEW)}
    levels = dict.fromkeys(starts, arb("inf"))
    for w in PLACES:
        for n, bias in zip(levels, many_averages(5, FEW - 1, w, goal=GOAL)[FEW - 2 :], strict=True):
            if w < starts[n]:
                levels[n] = levels[n].min(bias.upper())
    return {}, {"B is more from C n^(1/3) on": all(nearest(n, starts[n]) > level for n, level in levels.items())}


def many_in_five(k: Known) -> tuple[Bounds, Conditions]:
    """For n >= 1024 B is at every w >= C n^{1/3} more than at some smaller w.

    Because for n from n_i to n_{i+1} D at C n^{1/3} is more than b by the cut (`every`) at x n_i^{1/3}. From 10^12 on
    the same times n^{2/3}: kappa >= lambda^{1/2} e^{-lambda} / 4 up to lambda = 1/20, as K_3 >= e^{-lambda} lambda^2 /
    4 and E_1, E_2 <= lambda, so that D is at least (C n^{1/3} / 3 e^{1/20}) (1 - (1 + nc) e^{-nc}) / (n+1) - 4 / 3
    (n+1), c = y E_2(1/20); and b at most what the cut leaves, with T = n^{1/3} / R_high x^2, D_high and R_high as in
    `tilt`.
    """
    C, x, n, more = k["C"], k["x"], arb(FEW), True
    while not n > MANY:
        after, third = (n * GROWTH).mid(), n ** (arb(1) / 3)
        more = more and alone(after, n, C * third) > loss_above(arb(5), n, at(arb(5), x * third))[1]
        n = after
    third = n ** (arb(1) / 3)
    within = 3 * second(SMALL) / (2 * C**2) * third
    kept = (-SMALL).exp() * (1 - (1 + within) * (-within).exp()) * n / (n + 1)
    T = third / (k["R_high"] * x**2)
    lost = k["D_high"] ** 2 / x**2 * head(T, n, 1, 2) + k["R_high"] * k["D_high"] * x * head(T, n, 1, 1)
    later = reduce(arb.max, [kappa for value, kappa in cells() if value <= second(SMALL)])
    return {}, {
        "B is more up to n = 10^12": more,
        "B is more beyond": C / 3 * kept - 4 / (3 * third) > lost + SURE * third**2 * beyond_cut(T),
        "x < C, and w >= u beyond": x < C and k["u"] <= x * third,
        "kappa is no less later": later >= SMALL.sqrt() * (-SMALL).exp() / 4,
        "T >= 6 and 0.73 T > 2": T >= 6,
    }


def variogram(h: Ball) -> Ball:
    """gamma."""
    t = 1 - h
    return 2 - t - 2 / arb.pi() * (t * t.asin() + (h * (2 - h)).sqrt())


@lru_cache(maxsize=1)
def parts_of_relu() -> list[tuple[Ball, Ball, Ball, Ball, Ball]]:
    """By parts of h: both ends, P(h_i > h) at the first one, and gamma^2 / sum k_l and q there, at least on all."""
    weights, rest = relative(5, True)
    edges = [*(2 * (arb(j) / EDGES) ** 2 for j in range(EDGES)), arb(2)]
    total, rows = sum(weights.values(), arb(0)) + rest, []
    for h, more in pairwise(edges):
        lost = 4 * rest
        for degree, weight in weights.items():
            slope, ends = arb(degree * (degree + 3)) / 4, (1 - legendre(degree, h)).max(1 - legendre(degree, more))
            lost += weight * (slope * more).min(ends + slope * (more - h) / 2).min(2) ** 2
        gamma = variogram(h)
        rows.append((h, more, 1 - (3 * h**2 - h**3) / 4, gamma**2 / total, (2 * gamma - lost).max(0)))
    return rows


def legendre(degree: int, h: Ball) -> Ball:
    """P_l in five dimensions at t = 1 - h."""
    return (1 - h).gegenbauer_c(degree, arb(3) / 2) / (arb((degree + 1) * (degree + 2)) / 2)


def nearest_of_relu(n: int | Ball, w: Ball) -> Ball:
    """b at least for 2 to n tokens, at this w and all that are larger, by the nearest token.

    With n tokens, as the infimum over all larger h_1 is taken: it rises in h_1, which is larger for fewer tokens.
    """
    parts, values = parts_of_relu(), []
    for (h, more, _, gamma, q), (_, _, less, _, _) in pairwise([*parts, (arb(2),) * 2 + (arb(0),) * 3]):
        mean = arb(3) / 4 * (more * (2 - h) / w + (2 - 2 * h).max(0) / w**2)
        values.append(gamma + q / (1 + (n - 1) * (mean / less).min(1)) ** 2 if less > 0 else gamma)
    for j in reversed(range(len(values) - 1)):
        values[j] = values[j].min(values[j + 1])
    return values[0] + sum((y - x) * part[2] ** n for (x, y), part in zip(pairwise(values), parts[1:], strict=True))


def start_of_relu(k: Known, n: int | Ball) -> Ball:
    """C n^{2/5}."""
    return k["C"] * arb(n) ** (arb(2) / 5)


def lowest_of_relu(k: Known, n: Ball) -> Ball:
    """b at most, at some w less than 2 n^{2/5}, for this n and all that are larger."""
    places = (place_at(k, (x * n ** (arb(2) / 5)).mid()) for x in TRIED)
    return unit(k) * reduce(arb.min, [total_bias(k, n, place) for place in places])


def total_bias(k: Known, n: Ball, place: Place) -> Ball:
    """B at most there."""
    _, pairs, alone = loss_at(k, n, place)
    return pairs + alone / n


def few_of_relu(k: Known) -> tuple[Bounds, Conditions]:
    """For 2 <= n < 10^5 B is at every w >= C n^{2/5} more than at some smaller w.

    Because b is at some w that is looked at, or from 3072 tokens on by the cut (`levels`) at some w <= 2 n^{2/5}, less
    than what the nearest token leaves at C n^{2/5} and all larger w; from 41 tokens on for all n from one to the next.
    """
    weights, rest = relative(5, True)
    levels = dict.fromkeys(range(2, SOME), arb("inf"))
    for most, places in ((FEW, SMALLER), (SOME, WIDER)):
        for w in places:
            for n, bias in zip(range(2, most), many_averages(5, most - 1, w, weights, GOAL)[most - 2 :], strict=True):
                if w < start_of_relu(k, n):
                    levels[n] = levels[n].min((bias + 4 * rest).upper())
    n, more = 2, True
    while n < CROWDED:
        after = n if n < SINGLE else int(n * CLOSE)
        known = [levels[j] for j in range(n, min(after + 1, SOME))]
        known += [lowest_of_relu(k, arb(max(n, SOME)))] if after >= SOME else []
        more = more and nearest_of_relu(after, start_of_relu(k, n)) > reduce(arb.max, known)
        n = after + 1
    return {}, {"B is more from C n^(2/5) on": more, "C > 2": k["C"] > 2}


def envelope_of_relu(k: Known, n: Ball) -> Ball:
    """b n^{3/5} at most, at some w <= 2 n^{2/5}, for this n and all that are larger, if they have T_least tokens."""
    fifth = n ** (arb(1) / 5)
    x = (fifth / (k["T_least"] * k["R_high"])).sqrt().min(AT)
    if not k["u"] <= x * fifth**2:
        return arb("inf")
    return unit(k) * (k["b_high"] * x ** (-arb(3) / 2) + k["b_next"] / (x**2 * fifth) + k["s"] * x)


def many_of_relu(k: Known) -> tuple[Bounds, Conditions]:
    """For n >= 10^5 B is at every w >= C n^{2/5} more than at some smaller w.

    Because for n from n_i to n_{i+1} D at C n^{2/5} is more than b at some w <= 2 n_i^{2/5}, by the cut (`levels`) or,
    from 10^14 on, by `kink_bias` at the largest x n^{2/5}, x <= 1.3, with T >= T_least. From 10^15 on the same times
    n^{3/5}, and D as in `many_in_five` with lambda up to 3/10, where now n y is 3 n^{1/5} / 2 C^2.
    """
    C, n, more = k["C"], arb(CROWDED), True
    while not n > LATEST:
        after = (n * GROWTH).mid()
        level = lowest_of_relu(k, n) if n < LATER else envelope_of_relu(k, n) / n ** (arb(3) / 5)
        more = more and alone(after, n, start_of_relu(k, n)) > level
        n = after
    fifth = n ** (arb(1) / 5)
    within = 3 * second(MODEST) / (2 * C**2) * fifth
    kept = (-MODEST).exp() * (1 - (1 + within) * (-within).exp()) * n / (n + 1)
    later = reduce(arb.max, [kappa for value, kappa in cells() if value <= second(MODEST)])
    return {}, {
        "B is more up to n = 10^15": more,
        "B is more beyond": C / 3 * kept - 4 / (3 * fifth**2) > envelope_of_relu(k, n),
        "C > 2": C > 2,
        "kappa is no less later": later >= MODEST.sqrt() * (-MODEST).exp() / 4,
    }
