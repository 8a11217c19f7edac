"""The bias of smooth laws, sum_l k_l P_l(<x, x'>): B ~ w^-2. In units L = 1; letters as in `tokens`."""

from __future__ import annotations

from flint import arb, arb_poly

from .form import Ball, Bounds, Known, Obligations, least, most
from .tokens import cut

WEIGHT = "k_"
"""The names of the k_l of a zonal law, l after it."""


def smooth(k: Known) -> Obligations:
    """The zonal covariance sum_l k_l P_l of the law has S0 = sum k_l p, S1 = sum k_l p^2, S2 >= sum k_l p q.

    Here p = P_l'(1), q = P_l''(1), and B = sum_l k_l E (sum a_i (1 - P_l(t_i)))^2 as to pairs of tokens, with 2 sum_l
    k_l (1 - P_l(t_i)) for i = j. Affine: k_1 = 1/(3d). Quadratic: k_2 = 2 (d-1) / (d^2 (d+2)). Zonal: as its
    name says, times L^2. A polynomial link h: k_l = N_l (E h P_l)^2, N_l the number of harmonics. Cosine, over L^2: l
    even, k_l = N_l b_l^2 / L^2, b_l = Gamma(d/2) (2/L)^{d/2-1} J_{d/2-1+l}(L), |b_l| <= (L/2)^l Gamma(d/2) /
    Gamma(d/2+l) (DLMF 10.14.4), with which the terms beyond the last more than halve from one to the next. A kernel K =
    sum c_j t^j, c_j >= 0, or e^{(t-1)/l^2}, which is such a series, is positive definite in every d (Schur). As q = p
    (p-1) (d-1)/(d+1) and P_l'''(1) = q ((d-1) p - 2d) / (d+3), S0 = K', S1 = K' + K'' (d+1)/(d-1), S2 = ((d+3) K''' +
    2d K'') / (d-1) at t = 1.
    """
    d, rest = k["d"], k.get("rest", arb(0))
    if "K'" in k:
        one, two, three = k["K'"], k["K''"], k["K'''"]
        S1, S2 = one + two * (d + 1) / (d - 1), ((d + 3) * three + 2 * d * two) / (d - 1)
        return bounds_of(one, S1, S2), {"the kernel is not constant": one > 0}
    weights = {int(name.removeprefix(WEIGHT)): ball for name, ball in k.items() if name.startswith(WEIGHT)}
    pairs = [(weight, slope(d, j)) for j, weight in weights.items()]
    return bounds_of(
        sum(weight * p for weight, p in pairs) + rest,
        sum(weight * p**2 for weight, p in pairs) + rest,
        sum(weight * p**2 * (p - 1) * (d - 1) / (d + 1) for weight, p in pairs) + rest,
    ), {"the terms left out halve": bool(k.get("halving", True))}


def bounds_of(S0: Ball, S1: Ball, S2: Ball) -> Bounds:
    return {"S0_high": least(S0), "S1_low": most(S1), "S1_high": least(S1), "S2": least(S2)}


def projected(d: Ball, link: list[Ball]) -> dict[int, Ball]:
    """k_l = N_l (E h P_l)^2, l > 0, of h(t) = sum c_j t^j, from E t^{2i} = (1/2)_i / (d/2)_i."""
    h, t, before, now, weights = arb_poly(link), arb_poly([0, 1]), arb_poly([1]), arb_poly([0, 1]), {}
    for degree in range(1, len(link)):
        moment, mean = arb(1), arb(0)
        for i, coefficient in enumerate((h * now).coeffs()[::2]):
            mean += coefficient * moment
            moment *= (arb(1) / 2 + i) / (d / 2 + i)
        weights[degree] = harmonics(d, degree) * mean**2
        before, now = now, ((2 * degree + d - 2) * t * now - degree * before) * (1 / (degree + d - 2))
    return weights


def waves(d: Ball, L: Ball, last: int = 80) -> dict[str, Ball]:
    """Of the cosine law k_l to the last, what is left over at most of any sum in lemma 2.1, and whether it halves."""
    first, second = (
        harmonics(d, j) * ((L / 2) ** j * (d / 2).gamma() / (d / 2 + j).gamma()) ** 2 * slope(d, j) ** 3 / L**2
        for j in (last + 2, last + 4)
    )
    weights = {f"{WEIGHT}{j}": harmonics(d, j) * wave(d, L, j) ** 2 / L**2 for j in range(2, last + 1, 2)}
    return {**weights, "rest": arb(0).union(2 * first), "halving": 2 * second < first}  # p, p^2 and p q are at most p^3


def slope(d: Ball, degree: int) -> Ball:
    """P_l'(1) = l (l + d - 2) / (d - 1); P_l''(1) = P_l'(1) (P_l'(1) - 1) (d - 1) / (d + 1)."""
    return degree * (degree + d - 2) / (d - 1)


def harmonics(d: Ball, degree: int) -> Ball:
    """N_l = (2l + d - 2) Gamma(l + d - 2) / (l! Gamma(d - 1)), and N_0 = 1."""
    if degree == 0:
        return arb(1)
    return (2 * degree + d - 2) * (degree + d - 2).gamma() / ((arb(degree) + 1).gamma() * (d - 1).gamma())


def wave(d: Ball, L: Ball, degree: int) -> Ball:
    """|E e^{iLt} P_l(t)| = Gamma(d/2) (2/L)^{d/2-1} J_{d/2-1+l}(L), with its sign."""
    nu = d / 2 - 1
    return (d / 2).gamma() * (2 / L) ** nu * L.bessel_j(nu + degree)


def smooth_bias(k: Known) -> Obligations:
    """For w >= u, T >= T_least: b_low / w^2 <= B <= b_high / w^2 + s w^{a-1} / n; and B >= b_low / u^2 for w <= u.

    Because p h - q h^2 / 2 <= 1 - P_l <= p h (Taylor; P_l' and P_l'' are largest at t = 1), E[g h^2] as in `scale`.
    Below: B >= sum k_l (E sum a_i (1 - P_l))^2 >= sum k_l (E[g (1 - P_l)] / mu_1)^2 / (1 + 1/(n mu_1))^2 (Jensen),
    which falls in w, because I_{nu+l} / I_nu rises. Above: the cut, with 2 S0 E sum a_i^2 h_i for i = j: E[g^2 h] /
    mu_2 = D(2w) / 2w.
    """
    return {
        "b_low": most(smooth_below(k, k["S1_low"], k["S2"]) / (1 + 1 / k["y"]) ** 2),
        "b_high": least(k["S1_high"] * (k["D_high"] ** 2 * k["J2"] + 5 * cut(k) * k["H_2"])),
        "s": least(spread(k, k["S0_high"])),
    }, {}


def smooth_below(k: Known, S1: Ball, S2: Ball) -> Ball:
    """u^2 sum k_l (E[g (1 - P_l)] / mu_1)^2 at w = u at least."""
    return S1 * k["D_low"] ** 2 - S2 * k["D_high"] * (2 * k["g_high"] + 2 * k["a"] * k["D_high"]) / k["u"]


def spread(k: Known, S0: Ball) -> Ball:
    """S0 n w^{1-a} E sum a_i^2 2 h_i at most: by the cut (1/wT) (D J1 + 4 T E H_1), and 1/(wT) = R w^{a-1} / n."""
    return S0 * k["R_high"] * (k["D_high"] * k["J1"] + 4 * k["T_least"] * cut(k) * k["H_1"])


LEMMAS = {"2.1": smooth, "2.2": smooth_bias}
