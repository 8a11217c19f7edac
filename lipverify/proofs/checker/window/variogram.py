r"""The bias of any law whose variogram lies between two sums of powers.

    V(r) = E (f(x) - f(x'))^2 at r = |x - x'|,    V(r) = A r^2 + sum_j c_j(r) r^j for all r <= 2,

A between A_low and A_high, c_j between cj_low and cj_high. With V_i = V(|x_i - x|) and V_ij = V(|x_i - x_j|) it is B =
E sum a_i V_i - (1/2) E sum a_i a_j V_ij, the part of A by itself A E |sum a_i (x_i - x)|^2. The least j is 2 beta: B ~
w^-beta, beta = 1/2 where f jumps, 3/2 where it has kinks, 2 with A, and s where V = r^{2s}. In units
L = 1; letters as in `tokens`.
"""

from __future__ import annotations

from flint import arb

from ..kernel.form import Ball, Bounds, Known, Obligations, least, most
from ..kernel.harmonics import spread
from ..kernel.tokens import cut, moment_limit

POWERS: tuple[float, ...] = (0.5, 1, 1.5, 2, 3, 4, 5, 6)
"""The j of which something may be known."""


def distances(k: Known) -> Obligations:
    """For w >= u, every j: w^{j/2} E[g r^j] / mu_1 lies between onej_low and onej_high, of pairs between twoj.

    Of pairs: w^{j/2} E[g_1 g_2 r_12^j] / mu_1^2, r_12 = |x_1 - x_2|. Because with p = j/2 E[g r^j] is a multiple of E
    (1-y)_+^{a-1}, y with the law Gamma(a + p) of rate 2w: one = 2^p (Gamma(a+p) / Gamma(a)) times it, over Z = P / c.
    Given x_1 and x_2, 1 - y = cos(angle / 2), r_12^2 = 8y (1 - y/2), the query's average is mu_1(2w (1-y)) e^{-2wy},
    and two = 2^p one with Z(2w (1-y)) (1-y/2)^{a+p-1} beside (1-y)^{a-1}, over Z^2. Above: the powers are 1 at most, or
    for d = 2 at most ((1-y) (1-y/2))^{-1/2} <= 1 + 4y/3 (convex), where y <= 1/2; beyond, e^{-2wy} <= e^{-w}, y^{a+p-1}
    <= 2. Below: (1-y)^m >= 1 - max(m, 1) y, Z >= Z_low while y
    <= 1/2, and the product of two such lines is at least 1 - (both slopes and 1) y, which is < 0 beyond 1/2. E y = (a +
    p) / 2w. Exponents that are left out fall for w >= 2a + p.
    """
    a, u, plane = k["a"], k["u"], arb(int(k["d"] == 2))
    Z_low, Z_high = k["Z_low"], k["Z_high"]
    bounds: Bounds = {}
    for j in known_powers(k):
        p = arb(j) / 2
        size, mean, steep = 2**p * (a + p).gamma() / a.gamma(), (a + p) / (2 * u), (a - 1).max(1)
        beyond = plane * (2 * u) ** (a + p) * (-u).exp() * 2 * arb(2).sqrt() / (a + p).gamma()
        apart = 4**p * u ** (2 * a + p) * (-u).exp() / (moment_limit(k["d"]) * Z_low) ** 2
        slopes = 1 + steep + (a + p - 1).max(1) / 2
        bounds |= {
            f"one{j}_low": most(size * (1 - steep * mean) / Z_high),
            f"one{j}_high": least(size * (1 + plane * mean * 4 / 3 + beyond) / Z_low),
            f"two{j}_low": most(2**p * size * (1 - slopes * mean) * Z_low / Z_high**2),
            f"two{j}_high": least(2**p * size * (1 + plane * mean * 4 / 3) * Z_high / Z_low**2 + apart),
        }
    return bounds, {"u >= 2a + 3": u >= 2 * a + 3}


def known_powers(k: Known) -> list[float]:
    return [j for j in POWERS if f"c{j}_low" in k]


def variogram_bias(k: Known) -> Obligations:
    """For w >= u, T >= T_least: b_low / w^beta + b_plus / w^2 <= B <= b_high / w^beta + b_next / w^2 + s w^{a-1} / n.

    Also B >= far for w <= u. Below: B = sum k_l (...)^2 >= the bias of infinitely many tokens, E[g V] / mu_1 - E[g_1
    g_2 V_12] / 2 mu_1^2, over (1 + 1/(n mu_1))^2 (Jensen), as in `smooth_bias`; both fall in w. Of it A is A D^2 / w^2.
    Above: singles and pairs >= 0 lie between Jensen's bounds, E[g r^j] / mu_1 / (1 + 1/(n mu_1)) and E[g_1 g_2 r_12^j]
    / mu_1^2 (1 - 1/n) / (1 + 2/(n mu_1))^2, and the cut, with J0 and J2; n >= T. Beyond it r^j <= 2^{j-i} r^i, r_12^i
    <= max(2^{i-1}, 1) (r_1^i + r_2^i), i = 2 beta; E sum a_i h_i^beta <= (E sum a_i h_i)^beta for beta <= 1. A power
    w^-e beyond w^-beta, e not 2, is at most u^{beta-e} w^-beta.
    """
    u, T, beta, D = k["u"], k["T_least"], k["beta"], (k["D_low"] ** 2, k["D_high"] ** 2)
    i = float(2 * beta)
    jensen, thin = 1 + 1 / k["y"], (1 - 1 / T) / (1 + 2 / k["y"]) ** 2
    lower: dict[float, Ball] = {4: least_of(k["A_low"], *D)}  # by the j of w^{-j/2}
    upper: dict[float, Ball] = {4: k["A_high"].max(0) * (D[1] * k["J2"] + 5 * cut(k) * k["H_2"])}
    sizes = arb(0)
    for j in known_powers(k):
        low, high, one, above, two, apart = (
            k[f"{name}{j}_{side}"] for name in ("c", "one", "two") for side in ("low", "high")
        )
        infinite = least_of(low, one, above) - most_of(high, two, apart) / 2
        finite = most_of(high, one / jensen, above * k["J0"]) - least_of(low, two * thin, apart * k["J2"]) / 2
        lower[j], upper[j] = lower.get(j, arb(0)) + infinite, upper.get(j, arb(0)) + finite
        sizes += abs(low).max(abs(high)) * arb(2) ** (j - i)
    b_plus, b_next = (arb(0) if i == 4 else powers[4].max(0) for powers in (lower, upper))
    b_low = lower[i] + sum((lower[j].min(0) * u ** (arb(i - j) / 2) for j in lower if j != i), arb(0))
    b_high = upper[i] + sum((upper[j].max(0) * u ** (arb(i - j) / 2) for j in upper if j not in (i, 4)), arb(0))
    tail = (k["H_1"] ** beta if i <= 2 else k["H_3/2" if i == 3 else "H_2"]) * arb(2) ** beta
    return {
        "b_low": most(b_low / jensen**2),
        "b_plus": most(b_plus / jensen**2),
        "b_high": least(b_high + cut(k) * (2 + 5 * (arb(2) ** (i - 1)).max(arb(1))) * sizes * tail),
        "b_next": least(b_next),
        "s": least(spread(k, k["A_high"].max(0))),
        "far": most((b_low * u**-beta + b_plus / u**2) / jensen**2),
    }, {"b_low > 0": b_low > 0}


def least_of(factor: Ball, low: Ball, high: Ball) -> Ball:
    """The least of factor x, low <= x <= high; the factor may have either sign."""
    return (factor * low).min(factor * high)


def most_of(factor: Ball, low: Ball, high: Ball) -> Ball:
    return (factor * low).max(factor * high)


def leading_bias(k: Known) -> Ball:
    """What B w^beta tends to, n and w large: singles less pairs of the least j, and A a^2 where beta = 2."""
    a, beta = k["a"], k["beta"]
    i = float(2 * beta)
    c = k[f"c{i:g}_low"].union(k[f"c{i:g}_high"])
    square = k["A_low"].union(k["A_high"]) * a**2 if i == 4 else arb(0)
    return square + c * 2**beta * (a + beta).gamma() / a.gamma() * (1 - 2 ** (beta - 1))


LEMMAS = {"5.1": distances, "5.2": variogram_bias}
