r"""The optimal window for every number of tokens: w* of the affine law for all n >= 2.

The domain: L <= rho sigma, or W <= V, V = (n / K)^{1/(a+1)}, W = Lambda^e, e = 1/(a+2), Lambda = n L^2 / sigma^2. For
each n these are all L^2 <= v sigma^2, where v is the larger one of rho^2 and V / K, and W <= W_n = (n v)^e, V <= W_n.
With more L, w* is bounded from below alone, by that with the largest L of the domain.

In units sigma = 1, L = 1: every w* > 0 is where Lambda is n N' / (-B'), slopes in w, so that it is enough to enclose w
/ M, M = min(Lambda / 3d, k W), with that Lambda, at every w that can be best in the domain. Letters as in `tokens`; h =
1 - t, m = sum a_i h_i, p = 1 - t^2, and 3d B = E m^2 + s, s = E sum a_i^2 p_i. E_j is the average with the weights g^j:
E_1 t = A(w), E_2 t = A(2w), E_1 h^i falls in w, and r = mu_2 / mu_1^2 rises. For fixed tokens d/dw a_i = a_i (m - h_i),
and in sums over distinct tokens i, j, l:

    N'        = E sum a_i a_j (a_i - a_j) (h_j - h_i),
    -(E m^2)' = E sum a_i a_j a_l h_i (h_j - h_l)^2 + 2 E sum a_i^2 a_j h_i (h_i - h_j)^2,
    s'        = 2 E sum a_i^2 a_j h_j p_i - 2 E sum a_i^2 a_j h_i p_i.

Each sum is of terms >= 0 (g falls in h), and 1/S^3 is half the integral of lambda^2 e^{-lambda S}.

**From below** (Jensen): over S^3 the product of factors of j tokens is at least its average over (c_j + (n-j) mu_1)^3,
c_j >= the mean of the sum of their g with the product as weight: j, or for N' c_2 = (mu_3 / mu_2) (E_1 h - E_3 h) /
(E_1 h - E_2 h), and for the first sum of (E m^2)' c_3 = (mu_2 / mu_1) (E_2 h / E_1 h + (Var_1 h + Var_2 h + (E_1 h -
E_2 h)^2) / Var_1 h).

**From above**: phi <= exp(-E (1 - e^{-lambda g})), and (1 - e^{-y}) / y is convex, so that by Jensen, with the weight
g, phi^n <= exp(-T (1 - e^{-x/T})), x = n mu_1 lambda. That falls in T. Up to lambda_0 = 4 mu_1 / mu_2, where x = 4 T,
at most the product over (n mu_1)^3 times the integral of x^2/2 with phi^{n-j}, for sums over j tokens (`head`); beyond,
at most the value at n' = n/4 rounded up >= 64 tokens times phi(lambda_0)^{n-n'} <= e^{-0.73 T}, and times n/n' <= 4, n
(n-1) / (n' (n'-1)) <= 17, n (n-1) (n-2) / (n' (n'-1) (n'-2)) <= 67 for one token, two and three. There N <= 1, E m <= 1
and E m^2 <= 1.1 (both are largest at w = 0), and N' <= min(2, 8 w), as a_i - a_j is at most w |h_i - h_j| (a_i + a_j).

All these bounds close in as n grows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from itertools import accumulate, pairwise

from flint import arb, arb_poly

from ..kernel.contexts import STRIP, many_averages
from ..kernel.curves import Curve, Interval, curves, remembered
from ..kernel.form import Ball, Bounds, Known, Obligations, least, most
from ..kernel.kink import even_weights
from ..kernel.tokens import bessel_ratio

FEW = 256
"""Below this n is looked at one by one; from it on n' >= 64."""
GROWTH = 0.05
"""From one n to the next, where loss and noise are compared."""
CUT = 4
"""lambda_0 in units of mu_1 / mu_2."""
FEWEST = 6
"""T from which bounds from above are tried."""
TWO, THREE = 17, 67
"""At most n (n-1) over n' (n'-1), and with n-2 and n'-2."""
LISTED = 24
"""The largest degree of the harmonics of |z| with few tokens."""

Piece = tuple[list[Curve], list[Curve], list[list[Interval]], list[list[Interval]], list[Ball]]


@dataclass(frozen=True)
class At:
    """Averages at one w: A(w), A(2w), A(3w), mu_1, mu_3 / mu_2 and r, and E_j h^i."""

    A: Ball
    A2: Ball
    A3: Ball
    mu: Ball
    g: Ball
    r: Ball
    h: Ball
    hh: Ball
    h2: Ball
    hh2: Ball
    hhh2: Ball


def at(d: Ball, w: Ball) -> At:
    """By Bessel functions; M = E e^{wt} has M'' = M - (2a/w) M', and so E t^2 = 1 - 2aA/w, and E t^3 likewise."""
    if w == 0:
        one = arb(1)
        A = arb(0)
        return At(A, A, A, one, one, one, one, 1 + one / d, one, 1 + one / d, 1 + 3 * one / d)
    nu, a = d / 2 - 1, (d - 1) / 2

    def average(x: Ball) -> tuple[Ball, Ball]:
        scaled = x.bessel_i(nu, scaled=True)
        return (d / 2).gamma() * (2 / x) ** nu * scaled, x.bessel_i(nu + 1, scaled=True) / scaled

    def powers(x: Ball, A: Ball) -> tuple[Ball, Ball, Ball]:
        two = 1 - 2 * a * A / x
        three = A - 2 * a * two / x + 2 * a * A / x**2
        return 1 - A, 1 - 2 * A + two, 1 - 3 * A + 3 * two - three

    (mu, A), (mu2, A2), (mu3, A3) = (average(j * w) for j in (1, 2, 3))
    (h, hh, _), (h2, hh2, hhh2) = powers(w, A), powers(2 * w, A2)
    return At(A, A2, A3, mu, mu3 / mu2, mu2 / mu**2, h, hh, h2, hh2, hhh2)


def head(T: Ball, n: Ball, power: int, j: int) -> Ball:
    """At most int_0^{cT} x^power exp(-(1 - j/n) T (1 - e^{-x/T})) dx over power!, c = CUT, for these T and n and more.

    Up to c T at the least T: with x = T u and y = (1 - j/n) T it is T^{power+1} e^{-y} sum_k y^k / k! I_k, I_k the
    integral of u^power e^{-ku} over [0, c]. I_k falls, and from k = 3y/2 on each y^k / k! is at most 2/3 of the one
    before. With v = 1 - e^{-u} u^power du is sum_k c_k v^k dv, c_k >= 0, and that of v^k e^{-yv} k! / y^{k+1} at most:
    this is for large y. Beyond c T by 1 - e^{-u} >= u (1 - e^{-c}) / c for u <= c.
    """
    b, X = 1 - j / n, CUT * T
    y = b * T
    # `moments_of_decay` has 400 terms, more than the 3/2 y that it needs
    near = moments_of_rise(power)(1 / y) / y if y > 200 else (-y).exp() * moments_of_decay(power)(y)
    q, whole = b * (1 - arb(-CUT).exp()) / CUT, math.factorial(power)
    powers = [whole // math.factorial(i) * X**i / q ** (power + 1 - i) for i in range(power + 1)]
    return (T ** (power + 1) * near + (-q * X).exp() * sum(powers, arb(0))) / whole


@lru_cache(maxsize=4)
def moments_of_rise(power: int) -> arb_poly:
    """The sum of k! c_k x^k; the sum of v^k c_k from k = 20 on is v^20 times at most its share at u = c."""
    end = 20
    ones = c = arb_poly([1] * end)
    for p in range(1, power + 1):  # u^p is p times the integral of u^{p-1} / (1 - v)
        c = (p * c.integral() * ones).truncate(end)
    others = arb(CUT) ** power * arb(CUT).exp() / (1 - arb(-CUT).exp()) ** end
    return arb_poly([coefficient * math.factorial(k) for k, coefficient in enumerate([*c.coeffs(), others])])


def decay(power: int, k: int) -> Ball:
    """I_k: the integral of u^power e^{-ku} over [0, CUT]."""
    if k == 0:
        return arb(CUT) ** (power + 1) / (power + 1)
    x = arb(CUT * k)
    left = sum((x**i / math.factorial(i) for i in range(power + 1)), arb(0)) * (-x).exp()
    return math.factorial(power) * (1 - left) / arb(k) ** (power + 1)


@lru_cache(maxsize=4)
def moments_of_decay(power: int) -> arb_poly:
    """The sum of y^k / k! I_k; of all from k = 400 on it is at most three times the first."""
    terms = [decay(power, k) / math.factorial(k) for k in range(401)]
    return arb_poly([*terms[:-1], arb(0).union(3 * terms[-1])])


def beyond_cut(T: Ball) -> Ball:
    """An upper bound of phi(lambda_0)^{n-n'}."""
    return (arb(-73) / 100 * T).exp()


def loss_above(d: Ball, n: Ball, k: At) -> tuple[Ball, Ball]:
    """Upper bounds of n N and 3d B for this n and all that are larger."""
    T = n / k.r
    if not T > FEWEST:
        return arb("inf"), arb("inf")
    E, J1 = beyond_cut(T), head(T, n, 1, 1)
    return k.r * J1 + 4 * n * E, k.h**2 * head(T, n, 1, 2) + 2 * k.r / n * k.h2 * J1 + (TWO * 1.1 + 8) * E


def monotone(k: Known) -> Obligations:
    """For one n >= 2, sigma > 0 and L' > L > 0 every w* of L', if there is one, is at least every w* of L.

    Because N(w') < N(w) for 0 <= w' < w: for fixed tokens its slope is sum_ij a_i a_j (a_i - a_j) (t_i - t_j) >= 0, and
    0 only if all t_i are equal. If w is best for L, L^2 (B(w') - B(w)) >= sigma^2 (N(w) - N(w')) > 0, so that L'^2
    (B(w') - B(w)) is more than sigma^2 (N(w) - N(w')): w' is worse than w for L', and not best. No w < 0 is (`window`).
    """
    return {}, {}


def reached(k: Known) -> Obligations:
    """For n >= 256 and the largest L: every w* is at most x W_n, with x <= reach of `stops` for each n; so for all L.

    Because n N at least (Jensen: n^2 mu_2 / (mu_3 / mu_2 + (n-1) mu_1)^2) at that w, for n from n_i to n_{i+1}, is more
    than n N + n_{i+1} v B at most at another w, and N rises in w. From n = K W_least^{a+1} on `window` says it, as n =
    K W^{a+1} there. So for smaller L, by `monotone`.
    """
    table = stops(k)
    return {}, {
        "n N at w > n N + n v B at another w": all(stop is not None for _, stop in table),
        "w <= reach W_n": all(
            stop is not None and (stop < k["u"] or stop <= k["reach"] * (signal(k, n) * n) ** (1 / (k["a"] + 2)))
            for n, stop in table
        ),
        "K <= W_least / rho^2": k["K"] <= k["W_least"] / k["rho"] ** 2,
        "high <= reach": k["high"] <= k["reach"],
    }


def signal(k: Known, n: Ball) -> Ball:
    """v: the larger one of rho^2 and V / K."""
    return (k["rho"] ** 2).max(widest(k, n) / k["K"])


def widest(k: Known, n: Ball) -> Ball:
    """V: the largest W with n >= K W^{a+beta-1}; beta is 2 for the affine law."""
    return (n / k["K"]) ** (1 / (k["a"] + k["beta"] - 1))


def fewest(k: Known, Lambda: Ball) -> Ball:
    """A lower bound of n, if Lambda is in the domain."""
    power = k["a"] + k["beta"]
    return (Lambda / k["rho"] ** 2).min(k["K"] * Lambda ** ((power - 1) / power))


@remembered("d", "a", "beta", "k", "K", "rho", "W_least")
def stops(k: Known) -> list[tuple[Ball, Ball | None]]:
    """n_i from 256 to K W_least^{a+1}, and the w beyond which nothing is best for n from n_i to n_{i+1}."""
    d, a = k["d"], k["a"]
    last, n, stopped = k["K"] * k["W_least"] ** (a + 1), arb(FEW), []
    while not n > last:
        after, W = (n * (1 + arb(GROWTH))).mid(), (signal(k, n) * n) ** (1 / (a + 2))
        losses = []
        for j in (7, 8, 9, 10):  # places before w*, where the loss is known, and below places beyond it
            w = k["k"] * arb(j) / 10 * W
            noise, bias = loss_above(d, n, at(d, w))
            losses.append(noise + signal(k, after) * after * bias / (3 * d))
        least = reduce(arb.min, [loss.upper() for loss in losses])
        ws = ((k["k"] * (1 + arb(j) / 20) * W).mid() for j in range(8, 60))
        stopped.append((n, next((w for w in ws if noise_below(n, at(d, w)) > least), None)))
        n = after
    return stopped


def noise_below(n: Ball, k: At) -> Ball:
    """A lower bound of n N for this n and all that are larger."""
    return k.r / (1 + (k.g / k.mu - 1).max(0) / n) ** 2


def unit(k: Known) -> Ball:
    """1 / k_1: w* is near Lambda k_1 with little signal. 3d for the affine law."""
    return k["d"] / k["linear"] if "linear" in k else 3 * k["d"]


def ratio(k: Known, w: tuple[Ball, Ball], share: tuple[Ball, Ball]) -> tuple[Ball, Ball]:
    """w / M at least and at most, where k_1 Lambda / w lies between two numbers: it falls in Lambda, and rises in w."""
    e, per_signal = 1 / (k["a"] + k["beta"]), unit(k)

    def value(x: Ball, quotient: Ball) -> Ball:
        return (1 / quotient).max(x / (k["k"] * (per_signal * quotient * x) ** e) if x > 0 else arb(0))

    known = [quotient > 0 and quotient.is_finite() for quotient in share]
    return value(w[0], share[1]) if known[1] else arb(0), value(w[1], share[0]) if known[0] else arb("inf")


def far(k: Known) -> Obligations:
    """For n >= 256, u <= w <= reach W_n: B falls there, and far_low <= w / M <= far_high if w is critical.

    Because n >= K (w / reach)^{a+1}, which is less than (w / reach)^{a+2} / rho^2 from u on, so that T = n w^{-a} / R
    >= tau w, tau = K / (reach^{a+1} R_high). n N' is R w^{a-1} (2 D(w) - D(2w)) times what Jensen and the cut leave,
    w^2 A' = a^2 + 2 g - g^2 / w^2 with g = w (D - a) between g_low and g_high, and -w^3 (E m^2)' is 2 D w^2 A'
    likewise, beside pairs over T. w^3 s' is w / T <= 1 / tau times 2 w^2 E_2 p E_1 h - 2 w^2 E_2 (h p), with 2 w E_2 h
    = D(2w), 4 w^2 E_2 h^2 as in `scale`, and E_2 h^2 / E_2 h and E_2 h^3 / E_2 h^2, which fall in w, at most as at u.
    """
    d, a, u, D, low, high = k["d"], k["a"], k["u"], k["D_high"], k["g_low"], k["g_high"]
    tau, edge = k["K"] / (k["reach"] ** (a + 1) * k["R_high"]), at(d, u)
    T = tau * u
    n, y = T * k["R_low"] * u**a, k["y"] * T / k["T_least"]
    E, J, kept = beyond_cut(T), head(T, n, 2, 2), (1 - 1 / T) / (1 + 2 / y) ** 3
    steep, cubic = T**2 / tau * E, (T / tau) ** 3 * E
    p_low = k["R_low"] * (a + (2 * low - high / 2).min(0) / u) * kept
    p_high = k["R_high"] * ((a + (2 * high - low / 2).max(0) / u) * J + 2 * TWO * steep)
    v_low, v_high = a**2 + 2 * low - (low**2).max(high**2) / u**2, a**2 + 2 * high
    second, third = (2 * low + 2 * a * k["D_low"], 2 * high + 2 * a * D), edge.hhh2 / edge.hh2
    plus = 2 * k["D_low"] ** 2 * (1 - edge.hh2 / edge.h2 / 2) * kept, 2 * D**2 * J
    minus = second[0] * (1 - third / 2) * kept, second[1] * J
    pairs = J * (second[1] * third / (2 * tau) + D**3 / T) + 8 * TWO * cubic
    more, less = ((x[1] - y[0]).max(0) / tau + 2 * TWO * cubic for x, y in ((minus, plus), (plus, minus)))
    q_low = 2 * k["D_low"] * v_low * (1 - 1 / T) * (1 - 2 / T) / (1 + 3 / y) ** 3 - less
    q_high = 2 * D * v_high * head(T, n, 2, 3) + pairs + more + 2 * THREE * cubic
    e = 1 / (a + 2)
    return {
        "far_low": most((q_low.max(0) / (3 * d * p_high)) ** e / k["k"]),
        "far_high": least(((q_high / (3 * d * p_low)) ** e / k["k"]).max(q_high / (p_low * u ** (a + 1)))),
    }, {
        "K rho^2 <= u / reach": k["K"] * k["rho"] ** 2 <= u / k["reach"],
        "p_low, q_low > 0": p_low > 0 and q_low > 0,
        "tau u >= 20": T >= 20,
    }


def near(k: Known) -> Obligations:
    """For n >= 256, w <= u that `reached` leaves: B falls there, and near_low <= w / M <= near_high if w is critical.

    Because on each of some hundred parts of (0, u] the averages at both ends bound n N' / w and -3d B', for the fewest
    tokens with which `reached` leaves w, and so for all more; then for the fewest with Lambda in the domain. Where B
    falls with the fewest tokens with which this w or a larger one is left, it falls up to each w*. A' = Var_1 t changes
    by e^{2x} at most from one w to another at the distance x, as its slope is a third central moment of t, and lies
    with its slope A'' between bounds.
    """
    d, table = k["d"], stops(k)
    ratios: list[tuple[Ball, Ball]] = []
    falls, least_n = True, left(table, k["u"])
    for part in reversed(list(parts(d, float(k["u"])))):
        n = left(table, part.first)
        share = quotient(d, n, part)
        while (more := fewest(k, 3 * d * part.first * share[0]).lower()) > n * (1 + arb(GROWTH) / 2):
            n, share = more, quotient(d, more, part)
        ratios.append(ratio(k, (part.first, part.last), share))
        least_n = least_n.min(n)
        falls = falls and (share if n <= least_n else quotient(d, least_n, part))[1].is_finite()
    return extremes("near", ratios), {"B falls": falls}


def left(table: list[tuple[Ball, Ball | None]], w: Ball) -> Ball:
    """The first n_i with which w or more may be best."""
    return next((n for n, stop in table if stop is None or not stop < w), table[-1][0])


@dataclass(frozen=True)
class Part:
    """An interval of w: the averages at both ends, and bounds of A' and of A' at 2w."""

    first: Ball
    last: Ball
    x: At
    y: At
    slope: tuple[Ball, Ball]
    farther: tuple[Ball, Ball]


def parts(d: Ball, u: float) -> Iterator[Part]:
    """(0, u] part by part."""
    first, last = arb(0), arb(0.004)
    x = at(d, first)
    while first < u:
        y = at(d, last)
        slope, farther = variance(d, (first, last), (x.A, y.A)), variance(d, (2 * first, 2 * last), (x.A2, y.A2))
        yield Part(first, last, x, y, slope, farther)
        x, first, last = y, last, (last + (last * 0.01).min(0.125)).mid()


def extremes(name: str, ratios: list[tuple[Ball, Ball]]) -> Bounds:
    """The least and the largest of all."""
    return {
        f"{name}_low": most(reduce(arb.min, [low for low, _ in ratios])),
        f"{name}_high": least(reduce(arb.max, [high for _, high in ratios])),
    }


def quotient(d: Ball, n: Ball, part: Part) -> tuple[Ball, Ball]:
    """n N' / (w 3d (-B')) on a part, at least and at most, for this n and all that are larger."""
    noise, bias = slopes(d, n, part)
    return noise[0] / bias[1], noise[1] / bias[0] if bias[0] > 0 else arb("inf")


def slopes(d: Ball, n: Ball, part: Part) -> tuple[tuple[Ball, Ball], tuple[Ball, Ball]]:
    """n N' / w and -3d B' on a part, each at least and at most, for this n and all that are larger."""
    first, last, x, y, (low, high) = part.first, part.last, part.x, part.y, part.slope
    T = n / y.r
    if not T > FEWEST:
        return (arb(0), arb("inf")), (arb(0), arb("inf"))
    E, two, three = beyond_cut(T), head(T, n, 2, 2), head(T, n, 2, 3)
    if first > 0:
        turn = (x.A2 - y.A).max(0), y.A2 - x.A
        c2 = x.g * (y.A3 - x.A) / turn[0]
        c3 = x.r * x.mu * (x.h2 / y.h + (part.farther[1] + high + turn[1] ** 2) / low)
        turn = turn[0] / last, turn[1] / first
    else:
        turn, c2, c3 = variance(d, (first, 2 * last), (x.A, y.A2)), arb(2), arb(3)
    # from c / mu >= j on the products rise in n
    c2, c3 = (c.min(j) if c.is_finite() else arb(j) for c, j in ((c2, 2), (c3, 3)))
    jensen = n**2 * (n - 1) / (n - 2 + (c2 / y.mu).max(2)) ** 3
    jensen3 = n * (n - 1) * (n - 2) / (n - 3 + (c3 / y.mu).max(3)) ** 3
    noise = 2 * x.r * turn[0] * jensen, 2 * y.r * turn[1] * two + 8 * TWO * n * E
    # 2 E sum a_i^2 a_j h_j p_i and 2 E sum a_i^2 a_j h_i p_i, over 2 r / n; with sums of two g that are 2 at most
    below = n**2 * (n - 1) / (n - 2 + 2 / y.mu) ** 3
    plus = (2 * y.h2 - x.hh2).max(0) * y.h * below, (2 * x.h2 - y.hh2) * x.h * two
    minus = (2 * y.hh2 - x.hhh2).max(0) * below, (2 * x.hh2 - y.hhh2) * two
    more = 2 * y.r / n * (minus[1] - plus[0]).max(0) + 2 * TWO * E
    less = 2 * y.r / n * (plus[1] - minus[0]).max(0) + 2 * TWO * E
    pairs = 2 * y.r / n * (x.hhh2 - 2 * y.hh2 * y.h + x.h2 * x.hh) * two + 8 * TWO * E
    return noise, (2 * y.h * low * jensen3 - less, 2 * x.h * high * three + pairs + more + 2 * THREE * E)


def variance(d: Ball, part: Interval, ends: Interval) -> Interval:
    """A' on a part at whose ends A is known, at least and at most: A'' = -2 A A' - 2a (A' / w - A / w^2)."""
    first, last = part
    a, half = (d - 1) / 2, (last - first) / 2
    if first == 0:
        return (-2 * last).exp() / d, (2 * last).exp() / d
    middle = first + half
    A, w = bessel_ratio(d, middle), first.union(last)
    value = 1 - A**2 - 2 * a * A / middle
    low, high = value * (-2 * half).exp(), value * (2 * half).exp()
    A = ends[0].union(ends[1])
    around = low.union(high)
    curved = half * abs(-2 * A * around - 2 * a * (around / w - A / w**2)).upper()
    return low.max(value - curved), high.min(value + curved)


def few(k: Known) -> Obligations:
    """For 2 <= n < 256: few_low <= w* / M <= few_high, B falls up to w*; w* >= min(few_least, 1) min(M, k V) for all L.

    Because noise and bias are, piece by piece, polynomials through balls, with their slopes. Beyond some w the noise
    alone is more than the loss at another w with the largest L, so that no such w is best with less;
    before, each critical w with Lambda <= n v is in a part where w / M is enclosed. Near w = 0 N' / w lies between two
    values of N'', as N'(0) = 0. For all L: on every part that begins below k V w >= few_least min(M, k V) if w is
    critical, so that no w < min(few_least, 1) min(M, k V) is.
    """
    d, even = int(k["d"].unique_fmpz()), "kinked" in k
    end = (k["reach"] * (FEW * signal(k, arb(FEW))) ** (1 / (k["a"] + k["beta"]))).upper()
    pieces, (_, rest) = polynomials(d, float(end), FEW, even), relative(d, even)
    ratios, before_V, ends, falls = [], [], True, True
    for n in range(2, FEW):
        tried = list(looked_at(pieces, n))
        square = signal(k, arb(n))
        least = reduce(arb.min, [(noise + square * (bias + 4 * rest) / unit(k)).upper() for _, noise, bias in tried])
        stop = next((w for w, noise, _ in tried if noise > least), None)
        ends = ends and stop is not None
        stop, V = tried[-1][0] if stop is None else stop, k["k"] * widest(k, arb(n))
        before = True  # B falls on all parts up to this one
        for w, share in shares(pieces, n, stop.max(V), 4 * rest):
            before = before and share[1].is_finite()
            low, high = ratio(k, w, share)
            if not (w[0] >= stop or unit(k) * w[0] * share[0] > square * n):
                falls = falls and before
                ratios.append((low, high))
            if not w[0] >= V:
                before_V.append((low.max(w[0] / V), high))
    return {**extremes("few", ratios), "few_least": extremes("few", before_V)["few_low"]}, {
        "the noise exceeds the loss at another w": ends,
        "B falls up to each w*": falls,
        "k <= reach": k["k"] <= k["reach"],
    }


def looked_at(pieces: list[Piece], n: int) -> Iterator[tuple[Ball, Ball, Ball]]:
    """w, N and B / k_1 at every second end of a part, but for harmonics beyond `LISTED`."""
    for noise, bias, *_, edges in pieces:
        ws = edges[1::2]
        yield from zip(ws, noise[n - 2].at(ws), bias[n - 2].at(ws), strict=True)


def shares(
    pieces: list[Piece], n: int, stop: Ball, rest: Ball
) -> Iterator[tuple[tuple[Ball, Ball], tuple[Ball, Ball]]]:
    """Part by part up to `stop`, and k_1 Lambda / w there at least and at most; B' is off by `rest` at most."""
    for _, _, rises, falls, edges in pieces:
        for w, rise, slope in zip(pairwise(edges), rises[n - 2], falls[n - 2], strict=True):
            if w[0] >= stop:
                return
            first, last = w if edges[0] > 0 else (1, 1)  # near 0 w and rise stand for the slopes over w
            fall, most_fall = (-slope[1] - rest) * first, ((rest - slope[0]) * last).upper()
            low = arb("inf") if most_fall <= 0 else (n * rise[0] / most_fall).lower()  # where B rises nothing is best
            yield w, (low.max(0), (n * rise[1].max(0) / fall).upper() if fall > 0 else arb("inf"))


def relative(d: int, even: bool) -> tuple[dict[int, Ball], Ball]:
    """k_l / k_1 up to `LISTED`, and the sum of all others: of the affine law, or with as much of |z| as of z."""
    if not even:
        return {1: arb(1)}, arb(0)
    weights = even_weights(arb(d), LISTED)
    rest = d * (1 / arb(d) - sum(weights.values(), arb(0)))
    return {1: arb(1), **{degree: d * weight for degree, weight in weights.items() if degree}}, rest.upper()


@lru_cache(maxsize=4)
def polynomials(d: int, end: float, few: int, even: bool) -> list[Piece]:
    """On pieces of [0, end], by n from 2 to `few` - 1: N, B / k_1, and on each part both slopes; the ends of the parts.

    Of N on the first piece the second slope, from 0 to the end of each part.

    B but for harmonics beyond `LISTED`: these are between 0 and 4 times their k_l, and their slope is at most 4 times
    that, as it is 2 E (sum a_i (f_i - f)) Cov_a(f, h), E Var_a(f) is at most E f^2, and Var_a(h) at most 1.
    """
    if not end <= 100:  # ten times as far a check takes hours
        raise ValueError(f"w = {end:g}: with few tokens polynomials are computed up to 100")
    weights, _ = relative(d, even)
    number = math.ceil((end - 0.25) / 3)
    ends = [arb(0), *(0.25 + (arb(end) - 0.25) * j / number for j in range(number + 1))]
    top = 1 / arb(STRIP).cos() ** 2
    bounds = [top] * (few - 2) + [4 * sum(weights.values(), arb(0)) * top] * (few - 2)
    pieces: list[Piece] = []
    for first, last in pairwise(ends):
        # near w = 0 averages are more exact, as a second slope is taken
        values = partial(many_averages, d, few - 1, weights=weights, goal=20.0 if first > 0 else 24.0)
        both = curves(values, bounds, first, last, 4.3e-8)
        noise, bias = both[: few - 2], both[few - 2 :]
        order = 1 if first > 0 else 2
        count = math.ceil(float((last / first).log()) / 0.05) if first > 0 else 4
        edges = [first * (last / first) ** (arb(j) / count) if first > 0 else last * j / count for j in range(count)]
        edges = [edge.mid() for edge in edges] + [last]
        s = noise[0].inner(edges)
        rises, falls = ([f.slope(j).between(s) for f in each] for each, j in ((noise, order), (bias, 1)))
        if first == 0:
            rises = [list(accumulate(rise, lambda x, y: (x[0].min(y[0]), x[1].max(y[1])))) for rise in rises]
        pieces.append((noise, bias, rises, falls, edges))
    return pieces


def every(k: Known) -> Obligations:
    """For n >= 2: in the domain least_ratio M <= w* <= largest_ratio M; for all L w* >= least min(M, k V).

    Because B'(0) < 0 = N'(0), so that w* > 0 is critical, and in the domain one of `far`, `near` and `few` is about it
    and all w below, where B falls. At n = 1 the only token has all of the attention, and the loss is that of any w.
    With more L and n >= 256 w* is at least the least for the largest L of the domain (`monotone`), whose W_n is at
    least V, and Lambda / 3d at least V^{a+2} / 3d >= k V, as V^{a+1} = n / K; with fewer tokens `few` says it.
    """
    ratio_low = k["far_low"].min(k["near_low"]).min(k["few_low"])
    return {
        "least_ratio": most(ratio_low),
        "least": most(ratio_low.min(k["few_least"]).min(1)),
        "largest_ratio": least(k["far_high"].max(k["near_high"]).max(k["few_high"])),
    }, {"3 d k K <= 256": 3 * k["d"] * k["k"] * k["K"] <= FEW}


LEMMAS = {"7.1": monotone, "7.2": reached, "7.3": far, "7.4": near, "7.5": few, "7.6": every}
