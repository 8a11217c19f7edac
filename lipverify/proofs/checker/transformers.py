r"""Linear transformers for every size: Theorems 4.2, 5.1 and 5.2 of the second paper, with constants.

A polynomial whose coefficients in t are all >= 0 is >= 0 for every t >= 0: that is how inequalities on whole rays are
certified here. Letters of the layers: k^2 is the condition number, and a layer of the best xx leaves k'^2 - 1 = P(k)^2
/ 27, P = (k-1)(k+2)(2k+1) / (k(k+1)) = 2k + 1 - 2/k - 2/(k+1), which rises in k. Of the cosine: u uniform on the
sphere of R^n, q = (sum g^3)^2 / (sum g^2 sum g^4) for n normal numbers g, so that n E q = n E[sum u^6 / sum u^4]. Of
ridge: Sigma of n tokens has eigenvalues t_j and trace T, s = sigma^2 of the level, tau_j = t_j + s, b_j = (1 - c
t_j)^2, or 1 if yy acts first, c = (1 + s_1 + s_2) / ((1 + s_1)(1 + s_2)) and v = -1 / (1 + s_1 + s_2) the weights of
the theorem.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flint import arb, arb_poly, fmpq, fmpq_poly

from .chain import (
    Ball,
    Fact,
    Kind,
    Known,
    Malformed,
    Obligations,
    Proof,
    ball,
    exact,
    exactly,
    least,
    most,
    number,
    shown,
    size,
)

TOUCHING = (3, 6)
"""a and b, where the majorant of 1/y touches it; with two double contacts it is of degree 4."""


def never_negative(polynomial: Any, start: Ball | int = 0) -> bool:
    """Whether the coefficients in t = x - start are all >= 0, so that the polynomial is >= 0 for x >= start.

    >>> never_negative(fmpq_poly([-1, 0, 1]), 1), never_negative(fmpq_poly([-1, 0, 1]), 0)
    (True, False)
    """
    return all(coefficient >= 0 for coefficient in polynomial(type(polynomial)([start, 1])).coeffs())


def far(k: Known) -> Obligations:
    """From any k, log(k^2) / log(27/4) + approach - 1 layers, rounded up, bring k to F or below.

    Because k' <= r (k + 1), r = (4/27)^{1/2}, for k >= F, so that with the fixed point f = r / (1 - r), k' - f <= r
    (k - f): after m layers k - f is at most r^m k, and at most F - f if m >= log(k / (F - f)) / log(1/r). k' <= r (k +
    1) is k'^2 = 1 + P^2 / 27 <= (4/27) (k + 1)^2, a polynomial in k.
    """
    x, F, r = arb_poly([0, 1]), k["F"], (arb(4) / 27).sqrt()
    room = (x * (x + 1)) ** 2 * (4 * (x + 1) ** 2 - 27) - ((x - 1) * (x + 2) * (2 * x + 1)) ** 2
    return {"approach": least(1 - 2 * (F - r / (1 - r)).log() / (arb(27) / 4).log())}, {
        "k' <= r (k + 1) for k >= F": never_negative(room, F),
        "F > f": r / (1 - r) < F,
    }


def near(k: Known) -> Obligations:
    """For every k >= 1 a layer takes y = slope (k^2 - 1) to y^2 or less; from k <= F one leaves y at most.

    Because P^2 / 27 <= slope (k^2 - 1)^2, a polynomial in k with (k - 1)^2 taken off; P rises in k.
    """
    x, F = arb_poly([0, 1]), k["F"]
    room = 27 * k["slope"] * (x * (x + 1) ** 2) ** 2 - ((x + 2) * (2 * x + 1)) ** 2
    P = (F - 1) * (F + 2) * (2 * F + 1) / (F * (F + 1))
    return {"y": least(k["slope"] * P**2 / 27)}, {"P^2 / 27 <= slope (k^2 - 1)^2 for k >= 1": never_negative(room, 1)}


def squares(k: Known) -> Obligations:
    """For every epsilon <= 1/2, log_2 log(1/epsilon) + squarings - 1 layers, rounded up, take y to epsilon slope.

    Because j layers leave y^{2^j}, and the last step (k^2 - 1) / (k^2 + 1) <= y^{2^j} / (2 slope) is epsilon at most if
    2^j >= log(1 / (2 slope epsilon)) / log(1/y), where 1 / (2 slope) = half and log(half / epsilon) <= log(1/epsilon)
    (1 + log(half) / log 2).
    """
    half, two = 1 / (2 * k["slope"]), arb(2).log()
    return {"squarings": least(((1 + half.log() / two) / -k["y"].log()).log() / two + 1)}, {
        "y < 1": k["y"] < 1,
        "half > 1": half > 1,
    }


def layers(k: Known) -> Obligations:
    """For every kappa >= 1, epsilon <= 1/2: at most log(kappa) / log(27/4) + log_2 log(1/epsilon) + C layers.

    Because layers that bring k below F, one that leaves y, those that square it and the last gradient step add up, and
    kappa = k^2. A number of layers is no less than 0: both bounds have room for that, at kappa = 1 and epsilon = 1/2.
    """
    two = arb(2).log()
    return {"C": least(k["approach"] + k["squarings"] + 2)}, {
        "approach > 0": k["approach"] > 0,
        "squarings + log_2 log 2 > 0": k["squarings"] + two.log() / two > 0,
    }


def majorant(k: Known) -> Obligations:
    """For every n: n E q <= C.

    Because y = n sum u^4 >= 1 (Cauchy), and for a, b = 3, 6 the polynomial p with y p(y) = 1 + (y-a)^2 (y-b)^2 (y-1) /
    (ab)^2 is at least 1/y there, so that n E q <= n^2 E[sum u^6 p(y)], a rational function of n: E[S_6 S_4^j] of normal
    numbers over the moments of the radius. Multiplied out, it is a polynomial for n >= 6; below, q <= 1.
    """
    C, (a, b), n = as_fraction(k["C"].lower()), TOUCHING, fmpq_poly([0, 1])
    product = fmpq_poly([-a, 1]) ** 2 * fmpq_poly([-b, 1]) ** 2 * fmpq_poly([-1, 1]) * fmpq(1, (a * b) ** 2)
    whole = radius_moment(6 + 4 * 4)
    room = C * whole
    for j, coefficient in enumerate((fmpq_poly([1]) + product).coeffs()[1:]):
        others, _ = divmod(whole, radius_moment(6 + 4 * j))  # n (n + 2) ... : the radius has one factor after another
        room -= coefficient * n ** (j + 2) * mixed_moment(j) * others
    return {}, {"n E q <= C for n >= 6": never_negative(room, 6), "C >= 5": C >= 5}


def remainder(k: Known) -> Obligations:
    """For every n: n E cos^2 <= d + offset for the best readout in d dimensions.

    Because the columns span g and a uniformly random (d-1)-dimensional subspace of its complement: cos^2 = q + (1 - q)
    B with an independent B of mean (d-1)/(n-1), n > d. That rises in q, and C/n + (1 - C/n) (d-1)/(n-1) <= (d - 1 + C)
    / n where C >= 1. For n <= d cos^2 <= 1.
    """
    return {"offset": least(k["C"] - 1)}, {"C >= 1": k["C"] >= 1}


def attained(k: Known) -> Obligations:
    """As n grows, n E cos^2 tends to at least d + low.

    Because 1/y >= (2a - y) / a^2, the tangent at a = 3: n E q >= (2/a) n^2 E sum u^6 - (1/a^2) n^3 E sum u^4 sum u^6,
    whose limit is that of the leading coefficients; n E (1 - q) B tends to d - 1.
    """
    a, once, twice = TOUCHING[0], mixed_moment(0).coeffs()[-1], mixed_moment(1).coeffs()[-1]
    return {"low": most(arb(2 * once / a - twice / a**2) - 1)}, {}


def mixed_moment(j: int) -> fmpq_poly:
    """E[S_6 S_4^j] of n normal numbers as a polynomial in n, S_k the sum of k-th powers.

    >>> mixed_moment(1)  # 945 n + 45 n (n - 1)
    45*x^2 + 900*x
    """
    powers = fmpq_poly([fmpq(_odd(4 * i), math.factorial(i)) for i in range(j + 1)])
    product = fmpq_poly([fmpq(_odd(6 + 4 * i), math.factorial(i)) for i in range(j + 1)])
    # of degree j + 1 in n, and 0 at n = 0: the values at 1..j+1 say what it is
    total = fmpq_poly([0])
    for n in range(1, j + 2):
        others = [i for i in range(j + 2) if i != n]
        basis = math.prod((fmpq_poly([fmpq(-i, n - i), fmpq(1, n - i)]) for i in others), start=fmpq_poly([1]))
        total += n * product[j] * math.factorial(j) * basis
        product = fmpq_poly((product * powers).coeffs()[: j + 1])
    return total


def _odd(k: int) -> int:
    """(k - 1)!! = E g^k, k even."""
    return math.prod(range(1, k, 2))


def radius_moment(k: int) -> fmpq_poly:
    """E R^k = n (n + 2) ... (n + k - 2), k even."""
    product = fmpq_poly([1])
    for i in range(0, k, 2):
        product *= fmpq_poly([i, 1])
    return product


def as_fraction(ball: Ball) -> fmpq:
    """A ball without a radius as a fraction."""
    mantissa, power = ball.man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(power)


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


THEOREMS = {
    "layers": (far, near, squares, layers),
    "cosine": (majorant, remainder, attained),
    "ridge": (fluctuation, covariance, rate),
}


def about(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Nothing more, or for ridge two levels of noise, the one of the prompts, d, the least n, and what acts first."""
    names = ("sigma_1", "sigma_2", "level", "d", "n", "first") if stated["theorem"] == "ridge" else ()
    k = exactly("given", stated["given"], names)
    if not k:
        return {}
    if k["first"] not in ("yx", "yy"):
        raise Malformed(f"first = {repr(k['first'])[:60]}: yx or yy")
    levels = {name: number(k[name]) for name in ("sigma_1", "sigma_2")}
    if min(levels.values()) < 0:
        raise Malformed(f"sigma = {k['sigma_1']}, {k['sigma_2']}: both are >= 0")
    whole = {"level": size("level", k["level"], 1, 2), "d": size("d", k["d"], 1), "n": size("n", k["n"], 1, 10**40)}
    return {**levels, **whole, "first": k["first"]}


def given(about: Mapping[str, Any]) -> dict[str, Any]:
    """The same as balls, with the weights of the theorem."""
    if not about:
        return {}
    s_1, s_2 = (ball(about[name]) ** 2 for name in ("sigma_1", "sigma_2"))
    weights = {"c": (1 + s_1 + s_2) / ((1 + s_1) * (1 + s_2)), "v": -1 / (1 + s_1 + s_2)}
    sizes = {name: arb(about[name]) for name in ("d", "n")}
    return {**sizes, **weights, "s": s_1 if about["level"] == 1 else s_2, "first": about["first"]}


def statement(proof: Proof) -> str:
    if proof.theorem == "layers":
        C = shown(proof.constants(layers)["C"])
        return (
            f"at most log(kappa) / log(27/4) + log_2 log(1/epsilon) + {C} layers reach epsilon, for all "
            + " and ".join(ranges(proof))
        )
    if proof.theorem == "cosine":
        offset, low = shown(proof.constants(remainder)["offset"]), shown(proof.constants(attained)["low"])
        return (
            f"n E cos^2 <= d + {offset} for all {' and '.join(ranges(proof))}, and as n grows its limit is at least d "
            f"+ {low} for every d"
        )
    k = {name: shown(value) for name, value in proof.about.items() if name != "first"}
    return (
        f"E |w - w_ridge|^2 / d <= {shown(proof.constants(rate)['K'])} / n at sigma_{k['level']} of ({k['sigma_1']}, "
        f"{k['sigma_2']}), d = {k['d']}, {proof.about['first']} first, for all {ranges(proof)[-1]}"
    )


def facts(proof: Proof) -> dict[str, Fact]:
    if proof.theorem == "layers":
        C = proof.constants(layers)["C"]
        return {"C": exact("C", C, "log(kappa) / log(27/4) + log_2 log(1/epsilon) + C layers are enough")}
    if proof.theorem == "cosine":
        low, offset = proof.constants(attained)["low"], proof.constants(remainder)["offset"]
        says = "n E cos^2 is at most d + the larger one, and tends to d + the smaller one or more"
        return {"excess": Fact(r"\sup_n n \mathbb{E} \cos^2 - d", low, offset, says)}
    return {"K": exact("K", proof.constants(rate)["K"], "E |w - w_ridge|^2 / d is at most K / n")}


def ranges(proof: Proof) -> tuple[str, ...]:
    if proof.theorem != "ridge":
        return {"layers": ("kappa >= 1", "0 < epsilon <= 1/2"), "cosine": ("n >= 1", "d >= 1")}[proof.theorem]
    *about, (_, n) = ((name, shown(value)) for name, value in proof.about.items() if name != "first")
    return *(f"{name} = {value}" for name, value in about), f"first = {proof.about['first']}", f"n >= {n}"


KIND = Kind(
    chain=lambda proof: [(rule, 0) for rule in THEOREMS[proof.theorem]],
    about=about,
    given=given,
    statement=statement,
    facts=facts,
    ranges=ranges,
    chosen={far: ("F",), near: ("slope",), majorant: ("C",)},
)
