r"""The optimal window for every n: envelopes of noise and bias, and where w* lies between multiples of Lambda^e.

What is proved. Tokens x_1..x_n and the query x are uniform on the sphere of R^d, t_i = <x_i, x>, h_i = 1 - t_i,
g_i = e^{-w h_i}, attention a_i = g_i / (g_1 + ... + g_n), the loss is noise N = sigma^2 E sum a_i^2 plus bias
B = E (sum a_i (f(x_i) - f(x)))^2. With a = (d-1)/2, beta = 2 for smooth laws, 3/2 for ReLU, W = Lambda^{1/(a + beta)}
and Lambda = n L^2 / sigma^2, every w* that minimises N + B satisfies low W < w* < high W.

How to read it. A proof is a chain of lemmas, each a function below: its docstring is what it says, for which w and n,
and why; its body is what is left to certify by balls (Arb): constants of the file that must be at least, or at most, a
ball, and conditions that must hold. Nothing is sampled: every lemma is about whole rays w >= u, T >= T_least.
Letters: mu_k = E g^k; P(w) = w^a mu_1; R(w) = w^{-a} mu_2 / mu_1^2; T = n mu_1^2 / mu_2 = n w^{-a} / R, the tokens in a
window; A = I_{d/2}(w) / I_{d/2-1}(w) = E[g t] / mu_1; D(w) = w (1 - A) = w E[g h] / mu_1; phi(y) = E e^{-y g};
n' = n/2 rounded up. With S = sum g_i, 1/S^2 is the integral of lambda e^{-lambda S} over lambda > 0, so

    E sum a_i^2 h_i            = n int lambda E[g^2 h e^{-lambda g}] phi^{n-1},
    E sum_{i != j} a_i a_j h_i h_j = n (n-1) int lambda E[g h e^{-lambda g}]^2 phi^{n-2},

for h >= 0 of one token; given the query of a ridge law as well. In units L = 1 throughout.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

from flint import acb, arb, arb_poly

from .chain import FORMAT, Ball, Bounds, Conditions, Kind, Known, Proof, Rule, least, most

WEIGHT = "k_"
"""The names of the k_l of a zonal law, l after it."""


def smooth(k: Known) -> tuple[Bounds, Conditions]:
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
    d, L, last = k["d"], k["L"], int(k["degree"].unique_fmpz())
    named = {int(name.removeprefix(WEIGHT)): ball for name, ball in k.items() if name.startswith(WEIGHT)}
    if "K'" in k:
        one, two, three = k["K'"], k["K''"], k["K'''"]
        S1, S2 = one + two * (d + 1) / (d - 1), ((d + 3) * three + 2 * d * two) / (d - 1)
        return bounds_of(one, S1, S2), {"the kernel is not constant": one > 0}
    if named:
        weights, rest, halving = named, arb(0), True
    elif last <= 2:
        weights, rest, halving = {last: 1 / (3 * d) if last == 1 else 2 * (d - 1) / (d**2 * (d + 2))}, arb(0), True
    else:
        weights = {j: harmonics(d, j) * wave(d, L, j) ** 2 / L**2 for j in range(2, last + 1, 2)}
        first, second = (
            harmonics(d, j) * ((L / 2) ** j * (d / 2).gamma() / (d / 2 + j).gamma()) ** 2 * slope(d, j) ** 3 / L**2
            for j in (last + 2, last + 4)
        )
        rest, halving = arb(0).union(2 * first), bool(2 * second < first)  # p, p^2 and p q are at most p^3
    pairs = [(weight, slope(d, j)) for j, weight in weights.items()]
    return bounds_of(
        sum(weight * p for weight, p in pairs) + rest,
        sum(weight * p**2 for weight, p in pairs) + rest,
        sum(weight * p**2 * (p - 1) * (d - 1) / (d + 1) for weight, p in pairs) + rest,
    ), {"the terms left out halve": halving}


def bounds_of(S0: Ball, S1: Ball, S2: Ball) -> Bounds:
    """The sums as the lemmas need them."""
    return {"S0_high": least(S0), "S1_low": most(S1), "S1_high": least(S1), "S2": least(S2)}


def projected(d: Ball, link: list[Ball]) -> dict[int, Ball]:
    """k_l = N_l (E h P_l)^2, l > 0, of h(t) = sum c_j t^j, from E t^{2i} = (1/2)_i / (d/2)_i."""
    h, t, before, now, found = arb_poly(link), arb_poly([0, 1]), arb_poly([1]), arb_poly([0, 1]), {}
    for degree in range(1, len(link)):
        moment, mean = arb(1), arb(0)
        for i, coefficient in enumerate((h * now).coeffs()[::2]):
            mean += coefficient * moment
            moment *= (arb(1) / 2 + i) / (d / 2 + i)
        found[degree] = harmonics(d, degree) * mean**2
        before, now = now, ((2 * degree + d - 2) * t * now - degree * before) * (1 / (degree + d - 2))
    return found


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


def laplace(k: Known) -> tuple[Bounds, Conditions]:
    """Beyond lambda_0 = mu_1 / mu_2: at most 2 E (5 E for pairs) times the value at n' tokens, E = e^{-(T-1)/4}.

    Up to lambda_0, the integrals over lambda are at most those with E[g^j h] for E[g^j h e^{-lambda g}] and n =
    infinity, times J0 (for 1/S), J1 (for 1/S^2), J2 (for pairs). Because phi <= 1 - lambda mu_1 + lambda^2 mu_2 / 2;
    with x = n mu_1 lambda, phi^{n-j} <= exp(-(1 - j/T)(x - x^2/2T)) as T <= n. That falls in T where x <= T_least,
    and is at most exp(-(1 - j/T_least) x/2) for x between T_least and T. Beyond, phi falls: phi^{n-j} <=
    phi(lambda_0)^{n-n'} phi^{n'-j}, phi(lambda_0) <= exp(-mu_1^2 / 2 mu_2), n/n' <= 2, n (n-1) / (n' (n'-1)) <= 5 for
    n >= 6. E and T E fall for T >= 4.
    """
    T = k["T_least"]
    bounds = {"J0": least(truncated(T, 0, 1)), "J1": least(truncated(T, 1, 1)), "J2": least(truncated(T, 1, 2))}
    return bounds, {"T_least >= 6": T >= 6}


def cut(k: Known) -> Ball:
    """E = e^{-(T-1)/4} at T_least."""
    return (-(k["T_least"] - 1) / 4).exp()


def truncated(T: Ball, power: int, j: int) -> Ball:
    """int_0^T x^power exp(-b (x - x^2/2T)) dx, in terms of T - x, and int_T^oo x^power e^{-b x/2} dx; b = 1 - j/T."""
    b = 1 - j / T
    y = b * T / 2
    zeroth = (-y).exp() * (arb.pi() * T / (2 * b)).sqrt() * y.sqrt().erfi()
    if power == 0:
        return zeroth + 2 / b * (-y).exp()
    return T * zeroth - T / b * (1 - (-y).exp()) + 2 / b * (T + 2 / b) * (-y).exp()


def tilt(k: Known) -> tuple[Bounds, Conditions]:
    """For every w >= u: a + g_low / w <= D(w) <= a + g_high / w, and D_low <= D(w) <= D_high.

    Because A' = 1 - A^2 - 2 a A / w (Bessel's equation). Where A meets b(w) = 1 - a/w - g/w^2, b' - A' has the sign
    of q(1/w), q(x) = (a - a^2 - 2 g) + 2 g x + g^2 x^2: if q > 0 (q < 0) A stays below (above) b once it is there. On
    [0, 1/u] q is convex, and monotone if |g| < u, so its signs at both ends decide.
    """
    a, u = k["a"], k["u"]
    D = u * (1 - bessel_ratio(k["d"], u))

    def q(g: Ball, x: Ball) -> Ball:
        return a - a**2 - 2 * g + 2 * g * x + g**2 * x**2

    low, high = k["g_low"], k["g_high"]
    return {"D_low": most(a + low.min(0) / u), "D_high": least(a + high.max(0) / u)}, {
        "a + g_low / u < D(u) < a + g_high / u": a + low / u < D < a + high / u,
        "q > 0 at both ends for g_low": q(low, arb(0)) > 0 and q(low, 1 / u) > 0,
        "q < 0 at both ends for g_high": q(high, arb(0)) < 0 and q(high, 1 / u) < 0,
        "|g| < u": abs(low) < u and abs(high) < u,
    }


def bessel_ratio(d: Ball, w: Ball) -> Ball:
    """I_{d/2}(w) / I_{d/2-1}(w)."""
    return w.bessel_i(d / 2, scaled=True) / w.bessel_i(d / 2 - 1, scaled=True)


def moments(k: Known) -> tuple[Bounds, Conditions]:
    """For every w >= u: Z_low <= P(w) / c <= Z_high and R_low <= R(w) <= R_high; n mu_1 >= y where T >= T_least.

    Here c = P(oo) = Gamma(d/2) 2^{d/2-1} / sqrt(2 pi) (NIST DLMF 10.30.4). Because w P' / P = a - D (DLMF 10.29.2),
    so that log(P / c) is the integral of (D - a) / w over (w, oo), which lies between g_low / w and g_high / w; R =
    2^{-a} P(2w) / P(w)^2; n mu_1 = T R P.
    """
    low, high, c = k["g_low"] / k["u"], k["g_high"] / k["u"], moment_limit(k["d"])
    scale = arb(2) ** -k["a"] / c
    return {
        "Z_low": most(low.min(0).exp()),
        "Z_high": least(high.max(0).exp()),
        "R_low": most(scale * (low / 2 - 2 * high).min(0).exp()),
        "R_high": least(scale * (high / 2 - 2 * low).max(0).exp()),
        "y": most(k["T_least"] * scale * (low / 2 - 2 * high).min(0).exp() * c * low.min(0).exp()),
    }, {}


def moment_limit(d: Ball) -> Ball:
    """c = Gamma(d/2) 2^{d/2-1} / sqrt(2 pi)."""
    return (d / 2).gamma() * arb(2) ** (d / 2 - 1) / (2 * arb.pi()).sqrt()


def scale(k: Known) -> tuple[Bounds, Conditions]:
    """For w >= u, T >= T_least: E sum a_i h_i <= M / w at n tokens; E sum a_i h_i^p <= H_p / w^p, p = 1, 3/2, 2, at n'.

    Because sum a_i h_i^p falls in w for fixed tokens (Chebyshev: its slope is -Cov_a(h^p, h)). At w' = (R_low / 2
    R_high)^{1/a} w n' tokens have T >= T_least: if w' >= u, induction on n; if not, h <= 2 and w <= u (2 R_high /
    R_low)^{1/a}. At n tokens the value is at most J0 E[g h^p] / mu_1 + 2 E H_p w^{-p} by the cut, and w^2 E[g h^2] /
    mu_1 = 2 w (D - a) + 2 a D.
    """
    second = 2 * k["g_high"] + 2 * k["a"] * k["D_high"]
    means = {"1": (arb(1), k["D_high"]), "3/2": (arb(3) / 2, second ** (arb(3) / 4)), "2": (arb(2), second)}
    ratio = 2 * k["R_high"] / k["R_low"]
    bounds, room = {}, {}
    for name, (p, mean) in means.items():
        shift = ratio ** (p / k["a"])
        room[f"2 E (2 R_high / R_low)^(p/a) < 1, p = {name}"] = 2 * cut(k) * shift < 1
        bounds[f"H_{name}"] = shift * (mean * k["J0"] + (2 * k["u"]) ** p) / (1 - 2 * cut(k) * shift)
    bounds["M"] = k["D_high"] * k["J0"] + 2 * cut(k) * bounds["H_1"]
    return {name: least(ball) for name, ball in bounds.items()}, room


def noise(k: Known) -> tuple[Bounds, Conditions]:
    """For w >= u, T >= T_least: c_low w^a / n <= N / sigma^2 <= c_high w^a / n.

    Because x -> 1/(g + x)^2 is convex: N / sigma^2 >= n mu_2 / (1 + n mu_1)^2 = (1/T) / (1 + 1/(n mu_1))^2 (Jensen,
    the other tokens averaged); and by the cut N / sigma^2 <= J1 / T + 2 E, as N <= sigma^2 at n' tokens; 1/T = R w^a
    / n.
    """
    return {
        "c_low": most(k["R_low"] / (1 + 1 / k["y"]) ** 2),
        "c_high": least(k["R_high"] * (k["J1"] + 2 * k["T_least"] * cut(k))),
    }, {}


def smooth_bias(k: Known) -> tuple[Bounds, Conditions]:
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


def kink(k: Known) -> tuple[Bounds, Conditions]:
    """For w >= u: G_low <= w^{3/4} |G| <= G_high, w^{3/2} E |z| G <= G_mean, G(z) = E[g C | z] / mu_1.

    Here z = <q, x>, z_i = <q, x_i>, C = 2 |z_i| where z_i z < 0, else 0, and |.| is the L2 norm over z. Because under
    g / mu_1, s = w h is Gamma(a) with weight (1 - h/2)^{a-1} / Z on h < 2, Z = P/c, and for z > 0, -z_i = sqrt(1-z^2)
    Y sqrt(1-h/2) / sqrt(w) - z (1-h) with Y = N(0, 1), 2 s = Y^2 + chi^2_{d-2}. To first order G is G0 = 2 E
    (sqrt(1-z^2) Y / sqrt(w) - z)_+; with z = x / sqrt(w + x^2) its norm is an integral over x of (E (Y - x)_+)^2.
    Above, on h <= 1/2: (X - z + z h)_+ <= (X - z)_+ + z h 1{X > z/2}, and (d = 2) weight <= 1 + h/3; h > 1/2 has
    probability w^a e^{-w/2} / P at most, and C <= 2. Below: weight >= 1 - r h (Bernoulli), sqrt(1-h/2) >= 1 - h/2,
    and (X (1 - h/2) - z)_+ >= (X - z)_+ - X (h/2) 1{X > z}. The triangle inequality adds the norms of the
    corrections, and E |z| G is at most E |z| G0 <= 4 f_z(0) w^{-3/2} / (3 sqrt(2 pi)) and their norms times that of
    z, d^{-1/2}; f_z is the density of z.
    """
    d, a, u = k["d"], k["a"], k["u"]
    at_zero, integrals = (d / 2).gamma() / (arb.pi().sqrt() * a.gamma()), gaussian_integrals(int(d.unique_fmpz()))
    main, moment, above, plane, below = (integrals[name] for name in ("main", "moment", "above", "plane", "below"))
    far = 2 * u ** (a + arb(3) / 4) * (-u / 2).exp() / (moment_limit(d) * k["Z_low"])
    beside = ((16 * at_zero * above).sqrt() + ((4 * at_zero * plane / 9).sqrt() if d == 2 else 0)) / u
    upper = ((8 * at_zero * main).sqrt() + beside) / k["Z_low"] + far
    lower = (8 * at_zero * (main - (a + arb(3) / 2) * moment / u)).sqrt() - (at_zero * below / 2).sqrt() / u
    first = 4 * at_zero / (3 * (2 * arb.pi()).sqrt() * k["Z_low"])
    return {
        "G_low": most(lower / k["Z_high"]),
        "G_high": least(upper),
        "G_mean": least(first + u ** (arb(3) / 4) * (beside / k["Z_low"] + far) / d.sqrt()),
    }, {"u >= 2a + 3": u >= 2 * a + 3}


@lru_cache
def gaussian_integrals(d: int) -> dict[str, Ball]:
    """Over x > 0: of psi^2, x^2 psi^2, x^2 (m Q + x f)^2, (2 f - x Q)^2 and the square of what is taken off below.

    f and Q are the density and the upper tail of N(0, 1), psi = f - x Q = E (Y - x)_+, m = d - 1. Cut at 30, beyond
    which all are below 1e-300, since psi <= f and Q <= f there.
    """
    m, r = d - 1, acb(0 if d <= 3 else max(2, d - 3)) / 4

    def f(x: Ball) -> Ball:
        return (-x * x / 2).exp() / (2 * acb.pi()).sqrt()

    def tail(x: Ball) -> Ball:
        return (x / acb(2).sqrt()).erfc() / 2

    integrands: dict[str, Callable[[Ball], Ball]] = {
        "main": lambda x: (f(x) - x * tail(x)) ** 2,
        "moment": lambda x: (x * (f(x) - x * tail(x))) ** 2,
        "above": lambda x: (x * (m * tail(x) + x * f(x))) ** 2,
        "plane": lambda x: (2 * f(x) - x * tail(x)) ** 2,
        "below": lambda x: ((x * x + m + 1) * f(x) + 2 * r * ((m + 1) * f(x) - m * x * tail(x))) ** 2,
    }
    beyond = arb(0, "1e-300")
    return {name: integral(function) + beyond for name, function in integrands.items()}


def integral(function: Callable[[Ball], Ball]) -> Ball:
    """The integral over (0, 30) of a function that is analytic in the whole plane."""
    return acb.integral(lambda x, _: function(x), 0, 30).real


def kink_bias(k: Known) -> tuple[Bounds, Conditions]:
    """For w >= u, T >= T_least: b_low / w^{3/2} + b_plus / w^2 <= B <= b_high / w^{3/2} + b_next / w^2 + s w^{a-1} / n.

    Also B >= far for w <= u. Because f is a multiple of z and one of |z|, of mean squares `linear` and `kinked` (ReLU,
    z_+ = (z + |z|) / 2: 1/6 each; A z + C |z|: A^2 and C^2), and z has a symmetric law, B = linear E V^2 + kinked E
    K^2, V = sum a_i (z_i - z) as for the affine law, K = sum a_i (|z_i| - |z|) = sgn(z) V + sum a_i C_i. In pairs K is
    a C-part minus |z| times an h-part, both >= 0: its square is at most the sum of theirs. Below (Jensen given z): E
    K^2 >= E (c - |z| m)^2, c = E[sum a_i C_i | z], m = E sum a_i h_i <= M / w, and E c |z| by the cut. Beyond the cut
    sum a_i E_q C_i^2 <= r H_{3/2} w^{-3/2}, r = 2^{3/2} pi^2 / 3d; far: degree 1 of z and degree 2 of |z| alone, as in
    `smooth_bias`.
    """
    d, u, jensen, both = k["d"], k["u"], (1 + 1 / k["y"]) ** 2, k["linear"] + k["kinked"]
    square = arb(8).sqrt() * arb.pi() ** 2 / (3 * d) * k["H_3/2"]
    cross = 2 * k["M"] * (k["J0"] * k["G_mean"] / u + 2 * cut(k) * (square / d).sqrt() / u ** (arb(1) / 4))
    even = second_weight(d) * smooth_below(
        k, slope(d, 2) ** 2, slope(d, 2) ** 2 * (slope(d, 2) - 1) * (d - 1) / (d + 1)
    )
    return {
        "b_low": most(k["kinked"] * (k["G_low"] ** 2 / jensen - cross)),
        "b_plus": most(both * k["D_low"] ** 2 / (d * jensen)),
        "b_high": least(k["kinked"] * (k["G_high"] ** 2 * k["J2"] + 5 * cut(k) * square)),
        "b_next": least(both * (k["D_high"] ** 2 * k["J2"] + 5 * cut(k) * k["H_2"]) / d),
        "s": least(spread(k, both / d)),
        "far": most((k["linear"] * k["D_low"] ** 2 / d + k["kinked"] * even.max(0)) / (u**2 * jensen)),
    }, {"G_low > 0": k["G_low"] > 0}


def second_weight(d: Ball) -> Ball:
    """k_2 = N_2 (E |t| P_2)^2 of |z|, E |t| P_2 = E |t| / (d + 1)."""
    return harmonics(d, 2) * ((d / 2).gamma() / (arb.pi().sqrt() * ((d + 1) / 2).gamma()) / (d + 1)) ** 2


def window(k: Known) -> tuple[Bounds, Conditions]:
    """For W >= W_least and n >= K W^{a+beta-1}: low W < w* < high W, and loss_low < W^beta loss(w*) <= loss_high.

    Because, with v = W^{beta-2}, W^beta loss(at W) <= above(v), and for u <= x W, x <= end: W^beta loss(x W) >=
    below(x, v). Both are linear in v: it is enough to compare them at v = 0 and W_least^{beta-2} (ReLU; v = 1 for
    smooth laws). below is convex in log x and at most above at `at`, so that it exceeds above beyond low and high
    once it does so there. Beyond end W, N rises in w for fixed tokens (its slope is 2 sum a_i^2 (t_i - sum a_j t_j)
    >= 0, Chebyshev); below the first u the bias alone is larger, and between two u as well. T >= T_least up to end W,
    because T falls in w (E[g h] / mu_1 does).
    """
    a, beta, W, at = (k[name] for name in ("a", "beta", "W_least", "at"))
    ends = (arb(0), W ** (beta - 2))
    return {"loss_high": least(above(k, at, ends[1])), "loss_low": most(below(k, balance(k), arb(0)))}, {
        "low < at < high <= end": k["low"] < at < k["high"] and k["high"] <= k["end"],
        "below(low) > above": all(below(k, k["low"], v) > above(k, at, v) for v in ends),
        "below(high) > above": all(below(k, k["high"], v) > above(k, at, v) for v in ends),
        "c_low end^a > loss_high": k["c_low"] * k["end"] ** a > k["loss_high"],
        "more than loss_high below each u": k["left"] > k["loss_high"],
        "u <= at W_least": k["u"] <= at * W,
        "T_least <= K W_least^(beta-1) end^-a / R_high": k["T_least"]
        <= k["K"] * W ** (beta - 1) * k["end"] ** -a / k["R_high"],
    }


def below(k: Known, x: Ball, v: Ball) -> Ball:
    """c_low x^a + b_low x^-beta + b_plus v / x^2, at most W^beta loss(x W)."""
    return k["c_low"] * x ** k["a"] + k["b_low"] * x ** -k["beta"] + k.get("b_plus", arb(0)) * x**-2 * v


def above(k: Known, x: Ball, v: Ball) -> Ball:
    """c_high x^a + b_high x^-beta + b_next v / x^2 + s x^{a-1} / K, at least W^beta loss(x W)."""
    last = k.get("b_next", arb(0)) * x**-2 * v + k["s"] * x ** (k["a"] - 1) / k["K"]
    return k["c_high"] * x ** k["a"] + k["b_high"] * x ** -k["beta"] + last


def balance(k: Known) -> Ball:
    """Where below(x, 0) is least."""
    return (k["beta"] * k["b_low"] / (k["a"] * k["c_low"])) ** (1 / (k["a"] + k["beta"]))


def transfer(k: Known) -> tuple[Bounds, Conditions]:
    """For L' = rho L, both covered by `window`: worse_low <= loss'(w*(L)) / loss'(w*(L')) <= worse_high.

    Because, with loss' that of L' and W' = rho^{2/(a+beta)} W, w*(L) = x W' for an x between low and high times
    rho^{-2/(a+beta)}, and W'^beta loss'(x W') lies between below(x, 0) and above(x, W_least^{beta-2}) there: T depends
    on n and w alone.
    Both are convex in log x, so that above is largest at an end, below least at its balance or at the end next to it.
    Of the optimum: loss_low and loss_high.
    """
    shift, middle = k["rho"] ** (-2 / (k["a"] + k["beta"])), balance(k)
    ends = k["low"] * shift, k["high"] * shift
    nearest = middle.max(ends[0]).min(ends[1])
    largest = above(k, ends[0], k["W_least"] ** (k["beta"] - 2)).max(above(k, ends[1], k["W_least"] ** (k["beta"] - 2)))
    return {
        "worse_low": most(below(k, nearest, arb(0)) / k["loss_high"]),
        "worse_high": least(largest / k["loss_low"]),
    }, {"u <= low W_least": k["u"] <= k["low"] * k["W_least"]}


def tradeoff(k: Known) -> tuple[Bounds, Conditions]:
    """For w >= u, n >= K (rho w)^{a+beta-1}: from w to rho w N rises and B falls by factors between these.

    Because c_low w^a / n <= N / sigma^2 <= c_high w^a / n and b_low <= w^beta B / L^2 <= b_high + b_next w^{beta-2} + s
    w^{a+beta-1} / n at both, where beta <= 2 and the last is at most s / K. T >= T_least at rho w, and so at w.
    """
    a, beta, rho, u = k["a"], k["beta"], k["rho"], k["u"]
    largest = k["b_high"] + k.get("b_next", arb(0)) * u ** (beta - 2) + k["s"] / k["K"]
    return {
        "rise_low": most(rho**a * k["c_low"] / k["c_high"]),
        "rise_high": least(rho**a * k["c_high"] / k["c_low"]),
        "fall_low": most(rho**-beta * k["b_low"] / largest),
        "fall_high": least(rho**-beta * largest / k["b_low"]),
    }, {
        "rho > 1": rho > 1,
        "T >= T_least": k["T_least"] * k["R_high"] <= k["K"] * (rho * u) ** (beta - 1),
    }


def limit(k: Known) -> tuple[Bounds, Conditions]:
    """As W_least and K grow, low and high tend to one constant, which lies between limit_low and limit_high.

    Because all of c_low and c_high tend to C = 2^{-a} / c, of b_low and b_high to b = S1 a^2, or 8 kinked f_z(0)
    int psi^2 with a kink; J0, J1, J2 to 1; E, s / K and 1/y to 0; and C k^a + b k^{-beta} is least at (beta b / a
    C)^{1/(a+beta)}.
    """
    d, a, beta = k["d"], k["a"], k["beta"]
    if k["beta"] == 2:
        b = smooth(k)[0]["S1_high"][1] * a**2
    else:
        at_zero = (d / 2).gamma() / (arb.pi().sqrt() * a.gamma())
        b = 8 * k["kinked"] * at_zero * gaussian_integrals(int(d.unique_fmpz()))["main"]
    constant = (beta * b * moment_limit(d) / (a * arb(2) ** -a)) ** (1 / (a + beta))
    return {"limit_low": most(constant), "limit_high": least(constant)}, {}


CHOSEN: dict[Rule, tuple[str, ...]] = {
    laplace: ("T_least",),
    tilt: ("u", "g_low", "g_high"),
    window: ("W_least", "K", "at", "low", "high", "end"),
    transfer: ("rho",),
    tradeoff: ("rho", "K"),
}
SIGNED = ("g_low", "g_high", "S2")
"""The constants that need not be positive."""
LAWS: dict[str, tuple[int, Rule | None, tuple[Rule, ...], str]] = {
    "affine": (1, smooth, (tilt, moments, scale, noise, smooth_bias), "2"),
    "quadratic": (2, smooth, (tilt, moments, scale, noise, smooth_bias), "2"),
    "cosine": (80, smooth, (tilt, moments, scale, noise, smooth_bias), "2"),
    "zonal": (0, smooth, (tilt, moments, scale, noise, smooth_bias), "2"),
    "link": (0, smooth, (tilt, moments, scale, noise, smooth_bias), "2"),
    "powers": (0, smooth, (tilt, moments, scale, noise, smooth_bias), "2"),
    "rbf": (0, smooth, (tilt, moments, scale, noise, smooth_bias), "2"),
    "relu": (0, None, (tilt, moments, scale, noise, kink, kink_bias), "1.5"),
    "kinked": (0, None, (tilt, moments, scale, noise, kink, kink_bias), "1.5"),
}
"""For each law: the last degree that is summed, the lemma about it, the lemmas from each u on, beta.

The cosine law changes its shape with L, which stands after its name: "cosine:2.5". The others scale with L. After
the name of a zonal law stand its k_0, k_1, ... at L = 1: "zonal:0,1,0.5"; of a link the coefficients of h: "link:0,1,2"
is z + 2 z^2; of powers those of a kernel, all >= 0; of rbf the length l of e^{-|x-x'|^2 / (2 l^2)} = e^{(t-1)/l^2}; of
kinked A and C in A z + C |z|.
"""


PLAIN = ("affine", "quadratic", "relu")
"""The laws that have nothing after their name."""
THEOREMS: dict[str, tuple[Rule, ...]] = {
    "envelope": (),
    "window": (window, limit),
    "transfer": (window, limit, transfer),
    "tradeoff": (tradeoff,),
}
"""The lemmas that follow the envelopes: none, where N and B between explicit functions is all that is proved."""


def chain(theorem: str, law: str, stages: int) -> list[tuple[Rule, int]]:
    """The lemmas of a proof in order, each with its stage: 0 if it holds throughout, i if from the i-th u on."""
    _, about, envelope, _ = LAWS[family(law)]
    head = [(rule, 0) for rule in (about, laplace) if rule is not None]
    tail = [(rule, 0) for rule in THEOREMS[theorem]]
    return head + [(rule, i + 1) for i in range(stages) for rule in envelope] + tail


def family(law: str) -> str:
    """The law without its L."""
    return law.partition(":")[0]


def own_constant(law: str) -> str:
    """The L of a law that changes its shape with it; empty for all others."""
    return law.partition(":")[2] if family(law) == "cosine" else ""


def listed(law: str) -> list[Ball]:
    """The numbers after the name of a law."""
    return [arb(text) for text in law.partition(":")[2].split(",")] if ":" in law else []


def start(law: str, d: int) -> dict[str, Ball]:
    """What is given."""
    degree, *_, beta = LAWS[family(law)]
    given = {"d": arb(d), "a": (arb(d) - 1) / 2, "beta": arb(beta), "L": arb(own_constant(law) or 1)}
    return given | {"degree": arb(degree)} | own_numbers(law, arb(d))


def own_numbers(law: str, d: Ball) -> dict[str, Ball]:
    """What is given of one law only: its k_l, the derivatives of its kernel at 1, or its two parts."""
    numbers = listed(law)
    match family(law):
        case "zonal":
            weights = {degree: ball for degree, ball in enumerate(numbers) if degree and ball != 0}
        case "link":
            weights = projected(d, numbers)
        case "powers":
            one, two, three = (sum((math.perm(j, i) * c for j, c in enumerate(numbers)), arb(0)) for i in (1, 2, 3))
            return {"K'": one, "K''": two, "K'''": three}
        case "rbf":
            return {"K'": numbers[0] ** -2, "K''": numbers[0] ** -4, "K'''": numbers[0] ** -6}
        case "relu":
            return {"linear": arb(1) / 6, "kinked": arb(1) / 6}
        case "kinked":
            return {"linear": numbers[0] ** 2, "kinked": numbers[1] ** 2}
        case _:
            return {}
    return {f"{WEIGHT}{degree}": ball for degree, ball in weights.items()}


def gathered(facts: Mapping[int, Mapping[str, Any]], stage: int) -> dict[str, Any]:
    """What a lemma may use; after the envelopes the last stage's, and `left`: W^beta times the loss below each u."""
    if stage or not ("W_least" in facts[0] or "rho" in facts[0]):
        return {**facts[0], **facts.get(stage, {})}
    if "W_least" not in facts[0]:
        return {**facts[0], **facts[max(facts)]}
    stages, beta, W = [facts[i] for i in sorted(facts) if i > 0], facts[0]["beta"], facts[0]["W_least"]
    left = stages[0].get("far", stages[0]["b_low"] / stages[0]["u"] ** 2) * W**beta
    for before, after in pairwise(stages):
        left = left.min(before["b_low"] * (after["u"] / W) ** -beta)
    return {**facts[0], **stages[-1], "left": left}


def wrong(proof: Proof) -> list[str]:
    """What makes it no theorem about a law."""
    law, d = proof["law"], proof["d"]
    if family(law) not in LAWS or type(d) is not int or d < 2:
        return [f"{proof['format']!r}, {proof['theorem']!r}, {law!r}, d = {d!r}: not of the form {FORMAT!r}"]
    name, numbers = family(law), listed(law)
    if (":" in law) == (name in PLAIN):
        return [f"law {law!r}: {', '.join(PLAIN)} have nothing after their name, and all other laws have"]
    if not all(ball.is_finite() for ball in numbers):
        return [f"law {law!r}: what stands after its name are finite numbers"]
    if name in ("cosine", "rbf") and not (len(numbers) == 1 and numbers[0] > 0):
        return [f"law {law!r}: after its name stands one positive number"]
    if name == "kinked" and not (len(numbers) == 2 and numbers[1] != 0):
        return [f"law {law!r}: after its name stand two numbers, the second not 0"]
    if name in ("zonal", "powers", "link") and not any(ball != 0 for ball in numbers[1:]):
        return [f"law {law!r}: one of the numbers after its name, beyond the first, is not 0"]
    if name in ("zonal", "powers") and not all(ball >= 0 for ball in numbers):
        return [f"law {law!r}: the numbers after its name are >= 0"]
    if proof["theorem"] == "transfer" and own_constant(law):
        return [f"law {law!r}: for another L it is another law"]
    return []


def chain_of(proof: Proof) -> list[tuple[Rule, int]]:
    """The lemmas that a proof must have, with as many stages as it says."""
    return chain(proof["theorem"], proof["law"], max(1, sum(lemma["name"] == "tilt" for lemma in proof["lemmas"])))


SAYS = {
    "zonal": "with the spectrum L^2 ({})",
    "link": "with L times the polynomial ({})",
    "powers": "with L^2 times the kernel of powers ({})",
    "rbf": "of length {}, times L^2",
    "kinked": "with L times A z + C |z|, (A, C) = ({})",
}
"""What the numbers after the name of a law are."""


def statement(proof: Proof) -> str:
    """The theorem of a proof, from its constants."""
    law, d, a, beta = proof["law"], proof["d"], (proof["d"] - 1) / 2, float(LAWS[family(proof["law"])][3])
    k = {name: text for lemma in proof["lemmas"] for name, text in lemma["constants"].items()}
    u = next(lemma["constants"]["u"] for lemma in proof["lemmas"] if lemma["name"] == "tilt")
    L, stated = own_constant(law), law.partition(":")[2]
    more = f" of L = {L}" if L else f" {SAYS[family(law)]}".format(stated) if stated else ""
    which, free = f"{family(law)}{more}, d = {d}: ", "n, sigma" if L else "n, L, sigma"
    beside, power = f" + {k['b_next']} / w^0.5" if "b_next" in k else "", f"{a + beta - 1:g}"
    W = f"(n L^2 / sigma^2)^(1/{a + beta:g})"
    if proof["theorem"] == "envelope":
        return which + (
            f"{k['c_low']} <= n N / (sigma^2 w^{a:g}) <= {k['c_high']} and {k['b_low']} <= w^{beta:g} B / L^2 <= "
            f"{k['b_high']}{beside} + {k['s']} w^{power} / n, for all w >= {u} and n >= {k['T_least']} * {k['R_high']} "
            f"w^{a:g}"
        )
    if proof["theorem"] == "tradeoff":
        return which + (
            f"{k['rise_low']} <= N(rho w) / N(w) <= {k['rise_high']} and {k['fall_low']} <= B(rho w) / B(w) <= "
            f"{k['fall_high']}, rho = {k['rho']}, for all w >= {u} and n >= {k['K']} (rho w)^{power}"
        )
    if proof["theorem"] == "transfer":
        return which + (
            f"{k['worse_low']} <= loss'(w*(L)) / loss'(w*(L')) <= {k['worse_high']} with the loss' of "
            f"L' = {k['rho']} L, for all {free} with W, W' >= {k['W_least']} and n >= {k['K']} max(W, W')^{power}, "
            f"W = {W}"
        )
    return which + (
        f"{k['low']} W < w* < {k['high']} W and {k['loss_low']} < loss(w*) W^{beta:g} / L^2 <= {k['loss_high']} "
        f"with W = {W}, for all {free} with W >= {k['W_least']} and n >= {k['K']} W^{power}"
    )


KIND = Kind(
    chain=chain_of,
    given=lambda proof: start(proof["law"], proof["d"]),
    statement=statement,
    chosen=CHOSEN,
    wrong=wrong,
    gathered=gathered,
    signed=SIGNED,
)
