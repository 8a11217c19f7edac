r"""The optimal window for every number of tokens: w* of ReLU for all n >= 2, from the loss at two places.

As in `critical`, whose letters and domain these are, but for beta = 3/2: V = (n / K)^{1/(a+1/2)}, W = Lambda^e, e =
1/(a+3/2). The slope of the bias is no sum of terms >= 0. But with A_l(w) = E_1 P_l, p_l = 1 - P_l, and k_l of the law
(k_1 = `linear` / d, and those of |z|, l even),

    B = sum_l k_l (E sum_{i != j} a_i a_j p_l(t_i) p_l(t_j) + 2 E sum a_i^2 p_l(t_i)),     p_l >= 0,

so that Jensen's inequality and the cut integral bound B by two sums, beta(w) = sum k_l (1 - A_l(w))^2, which falls in
w, and kappa(w) = sum k_l (1 - A_l(2w)): about beta + 2 r kappa / n. A w at which the loss is at least more than it is
at most at some other v is not w*. Near w = 0, where all differences are small, the slope of the bias is that of its
linear part, about which `critical` has bounds, and a small one of the other.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, reduce

from flint import arb, ctx

from ..kernel.form import BITS, Ball, Known, Obligations, least, most
from ..kernel.kink import even_weights
from ..kernel.tokens import bessel_ratio
from . import critical
from .critical import At, Part, at, fewest, head, parts, ratio, unit

APART = 1.025
"""The ratio of each place w to the one before; so also of each Lambda."""
FARTHER = 1.2
"""Up to this multiple of end W_least there are places."""
LAST = 1000
"""The largest degree of all."""


@dataclass(frozen=True)
class Place:
    """What a window has at one w: averages, and beta and kappa, each at least and at most."""

    w: Ball
    at: At
    beta: tuple[Ball, Ball]
    kappa: tuple[Ball, Ball]


@lru_cache(maxsize=4)
def even(d: int, last: int) -> list[tuple[int, Ball, Ball]]:
    """Of |z|, for l = 2, 4, ...: l, k_l, and the sum of all later k."""
    weights = even_weights(arb(d), last)
    rest, weighted = 1 / arb(d) - weights.pop(0), []
    for degree, weight in weights.items():
        rest -= weight
        weighted.append((degree, weight, rest))
    return weighted


def gaps(d: Ball, w: Ball, last: int) -> list[Ball]:
    """1 - A_l for l = 0 to last, A_l = I_{nu+l} / I_nu: it falls in w and rises in l.

    I_{m+1} = I_{m-1} - (2m/w) I_m (DLMF 10.29.1) loses digits, so it begins with more; w is exact.
    """
    if w == 0:
        return [arb(0)] + [arb(1)] * last
    with ctx.workprec(BITS + math.ceil(last * math.log2(1 + 2 * last / float(w)))):
        A = [arb(1), bessel_ratio(d, w)]
        for degree in range(1, last):
            A.append(A[-2] - (d - 2 + 2 * degree) / w * A[-1])
        return [1 - mean for mean in A]


def sums(k: Known, w: Ball, power: int, last: int) -> tuple[Ball, Ball]:
    """sum k_l (1 - A_l(w))^power at least and at most: beyond `last` 1 - A_l lies between that of the last l and 1."""
    d, gap = k["d"], gaps(k["d"], w, last)
    listed = even(int(d.unique_fmpz()), LAST)[: last // 2]
    known = k["linear"] / d * gap[1] ** power + k["kinked"] * sum(x * gap[degree] ** power for degree, x, _ in listed)
    rest = k["kinked"] * listed[-1][2]
    return known + rest * gap[-1] ** power, known + rest


def places(k: Known, end: Ball) -> list[Place]:
    """From w = 0 to beyond `end`."""
    w, reached = arb(0), []
    while True:
        last = min(LAST, 12 + 8 * math.ceil(float(w) ** 0.5))
        reached.append(Place(w, at(k["d"], w), sums(k, w, 2, last), sums(k, 2 * w, 1, last)))
        if w > end:
            return reached
        w = (w * APART).mid() if w > 0 else arb(0.05)


def loss_at(k: Known, n: Ball, place: Place) -> tuple[Ball, Ball, Ball]:
    """x, y and z: n' N <= x, and B <= y + z / n', for n' = n and all that are larger."""
    r, T = place.at.r, n / place.at.r
    if not T > critical.FEWEST:
        return arb("inf"), arb("inf"), arb(0)
    E, J1, total = critical.beyond_cut(T), head(T, n, 1, 1), (k["linear"] + k["kinked"]) / k["d"]
    pairs = place.beta[1] * head(T, n, 1, 2) + (4 * critical.TWO + 16) * E * total
    return r * J1 + 4 * n * E, pairs, 2 * r * place.kappa[1] * J1


def loss_from(n: Ball, Lambda: Ball, first: Place, last: Place) -> tuple[Ball, Ball]:
    """x and y: x + y / n' <= n' N + Lambda B between two places, for n' = n and all that are larger."""
    x, y = first.at, last.at
    pairs = (1 - 1 / n) / (1 + 2 * (y.r - 1) / n) ** 2
    alone = 2 * x.r / (1 + (y.g / y.mu - 1).max(0) / n) ** 2
    return critical.noise_below(n, x) + Lambda * last.beta[0] * pairs, Lambda * last.kappa[0] * alone


def more(x: tuple[Ball, Ball], known: list[tuple[Ball, Ball]], n: Ball) -> bool:
    """Whether x_0 + x_1 / n' > y_0 + y_1 / n' for a known y, n' = n and all that are larger: at both ends of 1 / n'."""
    return any(x[0] > y[0] and x[0] + x[1] / n > y[0] + y[1] / n for y in known)


def scale(k: Known, Lambda: Ball) -> Ball:
    """M = min(k_1 Lambda, k Lambda^e), of which w* is a multiple."""
    return (Lambda / unit(k)).min(k["k"] * Lambda ** (1 / (k["a"] + k["beta"])))


def losses(k: Known, table: list[Place], n: Ball, Lambdas: tuple[Ball, Ball]) -> list[list[tuple[Ball, Ball]]]:
    """Upper bounds of the loss at some places near M of the last Lambda, for each Lambda."""
    ws = [float(place.w) for place in table]
    near = sorted({bisect(ws, j * float(scale(k, Lambdas[1]))) for j in (0.55, 0.7, 0.85, 1.0, 1.2)})
    terms = [loss_at(k, n, table[i]) for i in near if i < len(table)]
    return [[(x + Lambda * y, Lambda * z) for x, y, z in terms] for Lambda in Lambdas]


def reaches(k: Known, table: list[Place]) -> Iterator[tuple[Ball, Ball, Ball, Ball]]:
    """Lambda from one number to the next, and w* at least and at most, for n >= 256 in the domain.

    With the least Lambda w* is at least, with the largest at most what it is for all between (lemma 7.1), and it is no
    less than for a smaller Lambda. Beyond where noise alone is more than the loss elsewhere it is so for all w.
    """
    Lambda, low, high, end = k["first"], 0, 0, k["W_least"] ** (k["a"] + k["beta"])
    while not Lambda > end:
        n, after = fewest(k, Lambda).max(critical.FEW).lower(), (Lambda * APART).mid()
        known, known_after = losses(k, table, n, (Lambda, after))
        while low < len(table) - 1 and more(loss_from(n, Lambda, *table[low : low + 2]), known, n):
            low += 1
        noises = ((i, (critical.noise_below(n, table[i].at), arb(0))) for i in range(high, len(table)))
        high = next((i for i, noise in noises if more(noise, known_after, n)), len(table))
        if high == len(table):
            raise ValueError(f"n = {n.str(6)}: the noise is nowhere more than the loss at another w")
        while high > 1 and more(loss_from(n, after, *table[high - 1 : high + 1]), known_after, n):
            high -= 1
        yield Lambda, after, table[low].w, table[high].w
        Lambda = after


def levels(k: Known) -> Obligations:
    """For n >= 256, first <= Lambda <= W_least^{a+beta}: levels_low <= w* / M <= levels_high; at the first w* <= stop.

    Because elsewhere n N + Lambda B is at least more than it is at most at a place near M, for the fewest tokens in the
    domain and so for all more: both are x + y / n, x and y bounds for these and more. From below: n N as in `reached`,
    it rises in w; over S^2 the product of two tokens' factors is at least its average over (c + (n-2) mu_1)^2, c = 2
    E[g^2 p_l] / E[g p_l] <= 2 mu_2 / mu_1, as 1 - A_l falls, and that of one over (c + (n-1) mu_1)^2, c <= mu_3 / mu_2,
    as sum k_l p_l, half of E (f(x_i) - f(x))^2, rises in h: -d times its slope in t is linear + kinked (2/pi) asin t,
    and linear = kinked. From above: the cut, beyond which sum a_i a_j p_l p_l is at most 4 and sum a_i^2 p_l at most 2.
    """
    table = places(k, FARTHER * k["end"] * k["W_least"])
    intervals = list(reaches(k, table))
    return {
        "levels_low": most(reduce(arb.min, [low / scale(k, after) for _, after, low, _ in intervals])),
        "levels_high": least(reduce(arb.max, [high / scale(k, Lambda) for Lambda, _, _, high in intervals])),
        "stop": least(intervals[0][3]),
    }, {
        "K <= W_least / rho^2": k["K"] <= k["W_least"] / k["rho"] ** 2,
        "fewest(first) <= 256": fewest(k, k["first"]) <= critical.FEW,
    }


def near_zero(k: Known) -> Obligations:
    """For n >= 256, Lambda <= first: zero_low <= w* / M <= zero_high.

    Because w* <= stop (`monotone`), and is critical, as B'(0) < 0 = N'(0). On each part of (0, stop] `every` bounds n
    N' / w and the slope of the linear part of B. That of the part of degree l is, to its sign, a sum of F = (p_i - p_j)
    (h_i - h_j) p_m, p = p_l, over three tokens, and of terms of two tokens, no more than 16 E sum a_i^2 p_l. E_1 F = 2
    (1 - A_l) A_l' >= 0; e^{-lambda (g_i + g_j + g_m)} is at least 1 - 3 lambda, E_1 |F| <= 2 (1 - A_l) (Var_1 t)^{1/2}
    (Cauchy), and phi >= e^{-lambda mu_1}. A_l' has a third central moment for its slope, 2 Var_1 t at most.
    """
    d, n, per_signal = k["d"], arb(critical.FEW), unit(k)
    ratios, falls = [], False
    for part in parts(d, math.nextafter(float(k["stop"].upper()), math.inf)):
        noise, linear = critical.slopes(d, n, part)
        even = even_slope(k, n, part)
        bias = [(x * k["linear"] / d + y) * per_signal for x, y in zip(linear, even, strict=True)]
        falls = falls or (bool(part.first == 0) and bias[0] > 0)
        share = noise[0] / bias[1], noise[1] / bias[0] if bias[0] > 0 else arb("inf")
        if part.first > 0:
            largest = k["first"] / (per_signal * part.first)
            if share[0] > largest:
                continue
            share = share[0], share[1].min(largest)
        ratios.append(ratio(k, (part.first, part.last), share))
    return critical.extremes("zero", ratios), {"B falls at w = 0": falls}


def even_slope(k: Known, n: Ball, part: Part) -> tuple[Ball, Ball]:
    """Minus the slope of the part of B that is due to |z|, at least and at most, for this n and all that are larger."""
    d, y = k["d"], part.y
    T, w, spread = n / y.r, ((part.first + part.last) / 2).mid(), part.slope[1].sqrt()
    degree = 40  # the largest of which the slope is computed
    first, middle, last, twice = (gaps(d, x, degree) for x in (part.first, w, part.last, 2 * part.first))
    A = [1 - mean for mean in middle]
    moved, listed = (part.last - part.first) * spread**2, even(int(d.unique_fmpz()), degree)
    low, high, rest = arb(0), arb(0), listed[-1][2]
    for j, weight, _ in listed:
        turn = A[j - 1] - (d - 2 + j) / w * A[j] - A[1] * A[j]
        low, high = low + 2 * weight * last[j] * (turn - moved).max(0), high + 2 * weight * first[j] * (turn + moved)
    high += 2 * rest * spread
    near, far = (rest + sum(weight * gap[j] for j, weight, _ in listed) for gap in (first, twice))
    total = 1 / d
    E, X = critical.beyond_cut(T), critical.CUT * T
    kept = (1 - 1 / n) * (1 - 2 / n) * (1 - (1 + X + X**2 / 2) * (-X).exp())
    off = 18 * head(T, n, 3, 3) / (n * y.mu) * near * spread + 8 * critical.THREE * E * total
    off += 16 * (y.r / n * head(T, n, 1, 1) * far + 8 * E * total)
    return k["kinked"] * (low * kept - off), k["kinked"] * (high * head(T, n, 2, 3) + off)


def joined(k: Known) -> Obligations:
    """For n >= 2: in the domain least_ratio M <= w* <= largest_ratio M; for all L w* >= least min(M, k V).

    Because one of `few`, `near_zero`, `levels` and `window` is about it. With more L and n >= 256 w* is at least the
    least for the largest L of the domain (`monotone`), where W >= V and Lambda / unit >= k V, as V^{a+1/2} = n / K.
    """
    low = k["levels_low"].min(k["zero_low"]).min(k["low"] / k["k"]).min(k["few_low"])
    high = k["levels_high"].max(k["zero_high"]).max(k["high"] / k["k"]).max(k["few_high"])
    return {"least_ratio": most(low), "least": most(low.min(k["few_least"]).min(1)), "largest_ratio": least(high)}, {
        "unit k K <= 256": unit(k) * k["k"] * k["K"] <= critical.FEW,
        "unit k <= W_least^(a+beta-1)": unit(k) * k["k"] <= k["W_least"] ** (k["a"] + k["beta"] - 1),
    }


LEMMAS = {"8.1": levels, "8.2": near_zero, "8.3": joined}
