r"""Attention over many tokens, whatever the law: averages over the tokens in a window, and the noise.

Tokens x_1..x_n and the query x are uniform on the sphere of R^d, t_i = <x_i, x>, h_i = 1 - t_i, g_i = e^{-w h_i},
attention a_i = g_i / (g_1 + ... + g_n), a = (d-1)/2. Letters: mu_k = E g^k; P(w) = w^a mu_1; R(w) = w^{-a} mu_2 /
mu_1^2; T = n mu_1^2 / mu_2 = n w^{-a} / R, the tokens in a window; A = I_{d/2}(w) / I_{d/2-1}(w) = E[g t] / mu_1;
D(w) = w (1 - A) = w E[g h] / mu_1; phi(y) = E e^{-y g}; n' = n/2 rounded up. With S = sum g_i, 1/S^2 is the integral
of lambda e^{-lambda S} over lambda > 0, so

    E sum a_i^2 h_i            = n int lambda E[g^2 h e^{-lambda g}] phi^{n-1},
    E sum_{i != j} a_i a_j h_i h_j = n (n-1) int lambda E[g h e^{-lambda g}]^2 phi^{n-2},

for h >= 0 of one token, and likewise for what is >= 0 of two; given the query of a ridge law as well. Nothing is
sampled: every lemma is about whole rays w >= u, T >= T_least.
"""

from __future__ import annotations

from flint import arb

from .form import Ball, Known, Obligations, least, most


def laplace(k: Known) -> Obligations:
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
    first, rest = T / b * (1 - (-y).exp()), 2 / b * (-y).exp()
    if power == 0:
        return zeroth + rest
    return T * zeroth - first + rest * (T + 2 / b)


def tilt(k: Known) -> Obligations:
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


def moments(k: Known) -> Obligations:
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


def scale(k: Known) -> Obligations:
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


def noise(k: Known) -> Obligations:
    """For w >= u, T >= T_least: c_low w^a / n <= N / sigma^2 <= c_high w^a / n.

    Because x -> 1/(g + x)^2 is convex: N / sigma^2 >= n mu_2 / (1 + n mu_1)^2 = (1/T) / (1 + 1/(n mu_1))^2 (Jensen,
    the other tokens averaged); and by the cut N / sigma^2 <= J1 / T + 2 E, as N <= sigma^2 at n' tokens; 1/T = R w^a
    / n.
    """
    return {
        "c_low": most(k["R_low"] / (1 + 1 / k["y"]) ** 2),
        "c_high": least(k["R_high"] * (k["J1"] + 2 * k["T_least"] * cut(k))),
    }, {}


LEMMAS = {"1.1": laplace, "1.2": tilt, "1.3": moments, "1.4": scale, "1.5": noise}
