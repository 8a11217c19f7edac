r"""Matrices that do better than a form that was claimed, on the circle, for one number of tokens.

d = 2 and E f(x) f(x') = x^T S x', S and M diagonal. The query is x = (cos theta, sin theta); a token's
score is omega times t, its coordinate along e = M x / omega, omega = |M x|. With T = sum a_i t_i and R = sum a_i u_i
across e, sum a_i x_i = T e + R e', and the loss at M is the mean over theta of

    F(theta) = E T^2 e^T S e + E R^2 e'^T S e' - 2 E T e^T S x + x^T S x + sigma^2 E sum a_i^2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flint import arb, arb_poly, ctx, fmpq

from ..kernel import form
from ..kernel.contexts import STRIP, averages
from ..kernel.curves import ACCURACY, Curve, bits, combined, curves, remembered
from ..kernel.form import Ball, Known, Obligations, ball, least, most, size


def circle(k: Known, last: str) -> list[Curve]:
    """E T, E T^2, E R^2 and E sum a_i^2 for all omega up to a number: "stop", or "size", the larger entry of |M|."""
    return moments({"n": k["n"], "last": k[last]})


@remembered("n", "last")
def moments(k: Known) -> list[Curve]:
    def values(omega: Ball) -> tuple[Ball, ...]:
        # (1 - t)^2 = 2 (1 - P_1) - (1 - P_2) / 2 and 1 - t^2 = (1 - P_2) / 2
        means = averages(2, k["n"], omega, (1, 2))
        second = 1 - 2 * means.mean[1] + means.pairs[1] + 2 * means.alone[1] - means.alone[2] / 2
        return 1 - means.mean[1], second, means.alone[2] / 2, means.noise

    c = arb(STRIP).cos()
    return curves(values, [1 / c, 1 / c**2, 2 / c**2, 1 / c**2], arb(0), k["last"])


def matrix(k: Known) -> Obligations:
    """The loss at M is level at most, and level_low at least.

    Because F has the period pi and is analytic where the scores stay in the strip: |Im M x| <= sinh |y| max |M| at
    theta + i y is at most b for |y| <= delta; there |F| <= K = tr S (1 / cos b + cosh delta)^2 + sigma^2 / cos(b)^2,
    and the trapezoidal rule with N points is off by at most 2 K / (e^{2 delta N} - 1) (Trefethen and Weideman, SIAM
    Review 56 (2014), theorem 3.2). Its moments are curves in omega.
    """
    with ctx.workprec(bits(0)):
        S, sigma = k["S"], k["sigma"]
        delta, c = (arb(STRIP) / k["size"]).asinh(), arb(STRIP).cos()
        K = (S[0] + S[1]) * (1 / c + delta.cosh()) ** 2 + (sigma / c) ** 2
        points = 1 + math.ceil(float((2 * K / ACCURACY).log() / (2 * delta)))
        total = sum((at_angle(k, fmpq(j, points)) for j in range(points)), arb(0))
        loss = total / points + arb(0, (2 * K / (2 * delta * points).expm1()).abs_upper())
    return {"level": least(loss), "level_low": most(loss)}, {}


def at_angle(k: Known, angle: fmpq) -> Ball:
    """F at a multiple of pi."""
    S, M = k["S"], k["M"]
    x = arb.cos_pi_fmpq(angle), arb.sin_pi_fmpq(angle)
    y = M[0] * x[0], M[1] * x[1]
    omega = (y[0] ** 2 + y[1] ** 2).sqrt()
    e = y[0] / omega, y[1] / omega
    first, second, across, noise = (curve.over(omega, omega) for curve in circle(k, "size"))
    bias = second * (S[0] * e[0] ** 2 + S[1] * e[1] ** 2) + across * (S[0] * e[1] ** 2 + S[1] * e[0] ** 2)
    bias += S[0] * x[0] ** 2 + S[1] * x[1] ** 2 - 2 * first * (S[0] * e[0] * x[0] + S[1] * e[1] * x[1])
    return bias + k["sigma"] ** 2 * noise


def isotropic(k: Known) -> Obligations:
    """Of all w I, w >= 0, the least loss is between least_low and least_high.

    Because F is then tr S / 2 times E |sum a_i x_i - x|^2, and the noise, which is more than the least beyond stop.
    """
    loss, noise = isotropic_loss(k), k["sigma"] ** 2 * circle(k, "stop")[3].over(k["stop"], k["stop"])
    bounds, conditions = between_ends(k, loss)
    return bounds, conditions | {"the noise at stop is above the least": noise > bounds["least_low"][1]}


def isotropic_loss(k: Known) -> Curve:
    first, second, across, noise = circle(k, "stop")
    half, square = (k["S"][0] + k["S"][1]) / 2, k["sigma"] ** 2
    return combined([(half, second), (half, across), (-2 * half, first), (square, noise)], half)


def aligned(k: Known) -> Obligations:
    """Of all M = diag(c, 0) with |c| <= stop, S = diag(1, 0), the least loss is between least_low and least_high.

    Because with omega = c |z|, z = cos theta, it is E_z [E T^2 - 2 |z| E T + z^2 + sigma^2 E sum a_i^2], power by power
    of omega; at -c the sign of E T >= 0 is the other one, and the loss is larger.
    """
    bounds, conditions = between_ends(k, aligned_loss(k))
    return bounds, conditions | {"S = diag(1, 0)": bool(k["S"][0] == 1 and k["S"][1] == 0)}


def aligned_loss(k: Known) -> Curve:
    first, second, _, noise = circle(k, "stop")
    with ctx.workprec(bits(first.polynomial.length())):
        half, rest = k["stop"] / 2, combined([(arb(1), second), (k["sigma"] ** 2, noise)], arb(0))
        in_omega = [curve.polynomial(arb_poly([-1, 1 / half])).coeffs() for curve in (rest, first)]
        total = [x * absolute(j) - 2 * y * absolute(j + 1) for j, (x, y) in enumerate(zip(*in_omega, strict=True))]
        total[0] += arb(1) / 2
        error = rest.error + 2 * absolute(1) * first.error
        return Curve(first.first, first.last, arb_poly(total)(arb_poly([half, half])), error)


def between_ends(k: Known, loss: Curve) -> Obligations:
    """The least value of a curve: no more than that at one place."""
    return {"least_low": most(loss.lowest()), "least_high": least(loss.over(k["at"], k["at"]))}, {
        "0 <= at <= stop": 0 <= k["at"] <= k["stop"]
    }


def absolute(k: int) -> Ball:
    """E |cos theta|^k.

    >>> float(absolute(2).mid())
    0.5
    """
    return (arb(k + 1) / 2).gamma() / (arb.pi().sqrt() * (arb(k) / 2 + 1).gamma())


def gain(k: Known) -> Obligations:
    """The least loss of all those is more than that of M, by gain_low to gain_high.

    By subtraction.
    """
    return {"gain_low": most(k["least_low"] - k["level"]), "gain_high": least(k["least_high"] - k["level_low"])}, {}


LEMMAS = {"13.1": matrix, "13.2": isotropic, "13.3": aligned, "13.4": gain}
THEOREMS = {
    "not isotropic": (matrix, isotropic, gain),
    "not aligned": (matrix, aligned, gain),
}


def about(stated: Mapping[str, Any]) -> dict[str, Any]:
    """n, sigma and stop, and the diagonals of S and M."""
    k = form.exactly("given", stated["given"], ("n", "sigma", "S", "M", "stop"))
    if not all(type(k[name]) is list and len(k[name]) == 2 for name in ("S", "M")):
        raise form.Malformed(f"S = {repr(k['S'])[:60]}, M = {repr(k['M'])[:60]}: each is a pair of numbers")
    pairs = {name: tuple(form.number(entry) for entry in k[name]) for name in ("S", "M")}
    sigma, stop = form.number(k["sigma"]), form.number(k["stop"])
    if min(sigma, stop, *pairs["S"]) < 0 or max(stop, *map(abs, pairs["M"])) > 100 or 0 in pairs["M"]:
        # the time of a check is bounded: farther curves need ever more places
        raise form.Malformed(f"{k}: what is given is >= 0, stop and |M| are at most 100, and no entry of M is 0")
    return {"n": size("n", k["n"], 2, 10**40), "sigma": sigma, "stop": stop, **pairs}


def given(about: Mapping[str, Any]) -> dict[str, Any]:
    """The subject as balls, with `size`, the larger entry of |M|."""
    numbers = {name: about[name] for name in ("sigma", "stop")} | {"size": max(map(abs, about["M"]))}
    pairs = {name: tuple(ball(entry) for entry in about[name]) for name in ("S", "M")}
    return {"n": about["n"]} | {name: ball(value) for name, value in numbers.items()} | pairs


def sentence(proof: form.Proof) -> form.Sentence:
    k, gained = proof.about, proof.constants(gain)
    S, M = (f"diag({', '.join(form.shown(entry).strip('()') for entry in k[name])})" for name in ("S", "M"))
    about = "d = 2", f"n = {k['n']}", f"sigma = {form.shown(k['sigma'])}", f"S = {S}"
    others, those, least = "w I", "w >= 0", r"\min_{w \geq 0} \mathcal{L}(w \mathbf{I})"
    if proof.theorem == "not aligned":
        others, those = "diag(c, 0)", f"|c| <= {form.shown(k['stop'])}"
        least = r"\min_{|c| \leq C} \mathcal{L}(c \mathbf{B} \mathbf{B}^\top)"
    low, high = gained["gain_low"], gained["gain_high"]
    says = "the least loss of the others is larger than that of M by a number in between"
    return form.Sentence(
        f"{', '.join(about)}: the loss of {M} is less than that of every {others}, {those}: than the least of them by "
        f"{form.shown(low)} to {form.shown(high)}",
        {"gain": form.Fact(rf"{least} - \mathcal{{L}}(\mathbf{{M}})", low, high, says)},
        (*about, f"M = {M}", those),
    )


KIND = form.Kind(
    chain=lambda proof: [(rule, 0) for rule in THEOREMS[proof.theorem]],
    about=about,
    given=given,
    sentence=sentence,
    chosen={isotropic: ("at",), aligned: ("at",)},
    signed=("at",),
)
