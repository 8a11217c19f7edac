"""The distance of the weights of Theorem 5.2 from ridge regression, for every number of tokens.

Sigma of n tokens has eigenvalues t_j and trace T, s = sigma^2 of the level, tau_j = t_j + s, b_j = (1 - c t_j)^2, or 1
if yy acts first, c = (1 + s_1 + s_2) / ((1 + s_1)(1 + s_2)) and v = -1 / (1 + s_1 + s_2) the weights of the theorem.
"""

from __future__ import annotations

from flint import arb, arb_poly

from ..kernel.form import Known, Obligations, least


def fluctuation(k: Known) -> Obligations:
    """For every number of tokens from n on: n E |c v (lambda/n - s) alpha|^2 <= Q.

    Because given Sigma it is (cv)^2 / n E sum_j t_j tau_j [(sum_i b_i tau_i - s d + 2 b_j tau_j)^2 + 2 s^2 (n - d) + 2
    sum_i (b_i tau_i)^2 + 4 (b_j tau_j)^2]. t_j <= T and b_j <= 1 + c^2 T^2 leave a polynomial in T with coefficients
    >= 0, and E T^k = prod_{i<k} (d + 2i/n), as n T is chi-squared with n d degrees of freedom; E sum t_j tau_j = d + d
    (d+1) / n + s d. All of it falls in n.
    """
    d, n, s, c, v = (k[name] for name in ("d", "n", "s", "c", "v"))
    T = arb_poly([0, 1])
    b = arb_poly([1]) if k["first"] == "yy" else arb_poly([1, 0, c**2])
    own, every = b * (T + s), b * (T + d * s)
    polynomial = T * (T + s) * ((every + d * s + 2 * own) ** 2 + 2 * every**2 + 4 * own**2)
    moment, rest = arb(1), arb(0)
    for i, coefficient in enumerate(polynomial.coeffs()):
        rest += coefficient * moment
        moment *= d + 2 * i / n
    return {"Q": least((c * v) ** 2 * (2 * s**2 * (d + d * (d + 1) / n + s * d) + rest / n))}, {}


def covariance(k: Known) -> Obligations:
    """For every n: n E |(I - Sigma) w_ridge|^2 / (1 + s)^2 <= R.

    Because w_ridge is a posterior mean of w* ~ N(0, I): E[w_ridge w_ridge^T | Sigma] <= I; E tr (I - Sigma)^2 = d (d +
    1) / n.
    """
    return {"R": least(k["d"] * (k["d"] + 1) / (1 + k["s"]) ** 2)}, {}


def rate(k: Known) -> Obligations:
    """For every number of tokens from n on: E |w - w_ridge|^2 / d <= K / n.

    Because w - w_ridge = c v (lambda/n - s) alpha - (I - Sigma) w_ridge / (1 + s), and Minkowski's inequality.
    """
    return {"K": least((k["Q"].sqrt() + k["R"].sqrt()) ** 2 / k["d"])}, {}


LEMMAS = {"18.1": fluctuation, "18.2": covariance, "18.3": rate}
