r"""Where a loss is least, for one number of tokens: all w >= 0 at once, from balls at finitely many.

A sum of e^{w t_j} with |t_j| <= 1 has no zero for |Im w| < pi/2. In the strip |Im w| <= b < pi/2, where it is at least
cos b times the sum at Re w, averages of weights are analytic in w: with V = Var f there

    |N| <= sigma^2 / cos(b)^2,    |B| <= 4 V / cos(b)^2,    |G| <= 2 V / cos b,    G = E sum a_i (f(x_i) - f(x))^2 / 2.

**Curves.** A function at most M in that strip is, on an interval, within 4 M rho^{1-m} / (rho - 1) of the polynomial
through its values at m Chebyshev points, rho = b/r + (1 + b^2/r^2)^{1/2}, r half its length (the ellipse of that rho
lies in the strip; Trefethen, Approximation Theory and Approximation Practice, theorem 8.2), and values that are off by
e move that polynomial by at most (1 + (2/pi) log m) e (chapter 15).

**Beyond.** N rises in w, because for fixed tokens the slope of sum a_i^2 is 2 sum a_i^2 (t_i - sum a_j t_j) >= 0
(Chebyshev's inequality for sums). Where N alone is above the loss at some w, no larger w is best.

**Laws.** E f(x) f(x') = L^2 sum_l k_l P_l(<x, x'>): affine k_1 = 1/(3d); quadratic k_2 = 2 (d-1) / (d^2 (d+2)); zonal
as its name says; ReLU k_1 = 1/(6d) and k_l = N_l b_l^2 / 6, l even, summing to 1/(3d), with b_0 = E|t| and b_{l+2} =
-b_l (l-1) / (l+d+1). Cosine, whose L is in its name: k_l = N_l (E cos(L t) P_l)^2, l even, summing to (1 + E cos 2Lt)
/ 2. B = sum k_l (2 E sum a_i^2 h_i + E sum_{i != j} a_i a_j h_i h_j), of which what is not listed adds between 0 and 4
times its k_l.

**The circle.** d = 2 and E f(x) f(x') = x^T S x', S and M diagonal. The query is x = (cos theta, sin theta); a token's
score is omega times t, its coordinate along e = M x / omega, omega = |M x|. With T = sum a_i t_i and R = sum a_i u_i
across e, sum a_i x_i = T e + R e', and the loss at M is the mean over theta of

    F(theta) = E T^2 e^T S e + E R^2 e'^T S e' - 2 E T e^T S x + x^T S x + sigma^2 E sum a_i^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

from flint import arb, arb_poly, ctx, fmpq

from .chain import Ball, Bounds, Conditions, Kind, Known, Proof, Rule, least, most
from .contexts import STRIP, averages
from .harmonics import harmonics, wave

SPARE_BITS = 200
"""Of precision, and 6 more for each Chebyshev point of a polynomial."""
ACCURACY = 1e-9
FINEST = 2.0**-18
"""The narrowest part of an interval that is looked at by itself, as a share of it."""
LONGEST = 4
"""The longest interval of a curve of the loss."""
LISTED = {"cosine": 20, "relu": 30}
"""The last degree of a law that has infinitely many."""
LAWS = ("affine", "quadratic", "relu", "cosine", "zonal")


@dataclass(frozen=True)
class Curve:
    """A function on [first, last] that differs from `polynomial`, in s from -1 to 1, by at most `error`."""

    first: Ball
    last: Ball
    polynomial: arb_poly
    error: Ball

    def over(self, low: Ball, high: Ball) -> Ball:
        """A ball that contains all values on a part of the interval."""
        with ctx.workprec(bits(self.polynomial.length())):
            length = self.last - self.first
            shifted = self.polynomial(arb_poly([(low + high - self.first - self.last) / length, 1]))
            within = arb(0, ((high - low) / length).abs_upper())
            return reduce(lambda total, each: total * within + each, reversed(shifted.coeffs()), arb(0)) + arb(
                0, self.error.abs_upper()
            )

    def above(self, level: Ball, low: Ball, high: Ball) -> bool:
        """Whether it is above a level on all of a part of the interval."""
        if self.over(low, high) > level:
            return True
        middle = (low + high) / 2
        if not self.over(middle, middle) > level or not high - low > FINEST * (self.last - self.first):
            return False
        return self.above(level, low, middle) and self.above(level, middle, high)

    def lowest(self) -> Ball:
        """A number that it is nowhere below, and hardly more than which it is somewhere."""
        parts, width = [(self.first, self.last)], self.last - self.first
        while True:
            found = [(self.over(*part), part) for part in parts]
            somewhere = reduce(arb.min, [ball.upper() for ball, _ in found])
            kept = [(ball, part) for ball, part in found if not ball > somewhere]
            nowhere = reduce(arb.min, [ball.lower() for ball, _ in kept])
            if somewhere - nowhere < 4 * self.error or not width > FINEST * (self.last - self.first):
                return nowhere
            parts = [half for _, (a, c) in kept for half in ((a, (a + c) / 2), ((a + c) / 2, c))]
            width /= 2


def curves(values: Callable[[Ball], Sequence[Ball]], bounds: Sequence[Ball], first: Ball, last: Ball) -> list[Curve]:
    """Functions on [first, last] from their values at one w, and bounds on them in the strip."""
    beta = arb(STRIP) / ((last - first) / 2)
    rho = beta + (1 + beta**2).sqrt()
    largest = reduce(arb.max, bounds)
    m = 2 + math.ceil(float((4 * largest / (rho - 1) / ACCURACY).log() / rho.log()))
    with ctx.workprec(bits(m)):
        points = [arb.cos_pi_fmpq(fmpq(2 * j + 1, 2 * m)) for j in range(m)]
        measured = [values(first + (s + 1) * (last - first) / 2) for s in points]
        moved, found = 1 + 2 / arb.pi() * arb(m).log(), []
        for bound, column in zip(bounds, zip(*measured, strict=True), strict=True):
            widest = reduce(arb.max, [arb(value.rad()) for value in column])
            polynomial = arb_poly.interpolate(points, [arb(value.mid()) for value in column])
            found.append(Curve(first, last, polynomial, 4 * bound * rho ** (1 - m) / (rho - 1) + moved * widest))
        return found


def bits(points: int) -> int:
    """The precision for a polynomial through so many points."""
    return SPARE_BITS + 6 * points


def spectrum(k: Known) -> tuple[dict[int, Ball], Ball]:
    """The k_l that are listed, l > 0, and the sum of all others; times L^2."""
    d, square = arb(k["d"]), k["L"] ** 2
    name, _, text = k["law"].partition(":")
    weights, total = {}, None
    if name == "affine":
        weights = {1: 1 / (3 * d)}
    elif name == "quadratic":
        weights = {2: 2 * (d - 1) / (d**2 * (d + 2))}
    elif name == "zonal":
        weights = {j: arb(each) for j, each in enumerate(text.split(",")) if arb(each) != 0}
    elif name == "cosine":
        weights = {j: harmonics(d, j) * wave(d, arb(text), j) ** 2 for j in range(0, LISTED[name] + 1, 2)}
        total = (1 + wave(d, 2 * arb(text), 0)) / 2
    else:
        b, weights, total = (d / 2).gamma() / (arb.pi().sqrt() * ((d + 1) / 2).gamma()), {1: 1 / (6 * d)}, 1 / (3 * d)
        for j in range(0, LISTED[name] + 1, 2):
            weights[j] = harmonics(d, j) * b**2 / 6
            b *= -arb(j - 1) / (j + d + 1)
    rest = arb(0) if total is None else (total - sum(weights.values(), arb(0))).max(0)
    return {j: square * weight for j, weight in weights.items() if j}, square * rest


def variance(k: Known) -> Ball:
    """V."""
    weights, rest = spectrum(k)
    return sum(weights.values(), rest)


def terms(k: Known, w: Ball) -> tuple[Ball, Ball, Ball]:
    """N, B and G at one w."""
    weights, rest = spectrum(k)
    at = averages(k["d"], k["n"], w, sorted(weights))
    bias = sum((value * (2 * at.alone[j] + at.pairs[j]) for j, value in weights.items()), arb(0))
    gap = sum((value * at.mean[j] for j, value in weights.items()), arb(0))
    noise: Ball = k["sigma"] ** 2 * at.noise
    return noise, bias + arb(0).union(4 * rest.upper()), gap + arb(0).union(2 * rest.upper())


def loss_and_gap(k: Known) -> list[list[Curve]]:
    """The loss and G for all w up to `stop`, piece by piece."""
    return _loss_and_gap(k["law"], k["d"], k["n"], *(k[name].str(60) for name in ("L", "sigma", "stop")))


@lru_cache(maxsize=16)
def _loss_and_gap(law: str, d: int, n: int, L: str, sigma: str, stop: str) -> list[list[Curve]]:
    k: Known = {"law": law, "d": d, "n": n, "L": arb(L), "sigma": arb(sigma)}
    V, c = variance(k), arb(STRIP).cos()

    def values(w: Ball) -> tuple[Ball, Ball]:
        noise, bias, gap = terms(k, w)
        return noise + bias, gap

    bounds, end = [(k["sigma"] ** 2 + 4 * V) / c**2, 2 * V / c], arb(stop)
    pieces = math.ceil(float(end) / LONGEST)
    return [curves(values, bounds, end * i / pieces, end * (i + 1) / pieces) for i in range(pieces)]


def is_above(pieces: Sequence[Sequence[Curve]], level: Ball, low: Ball, high: Ball) -> bool:
    """Whether the loss is above a level on all of an interval."""
    return all(loss.above(level, *part) for (loss, _), part in parts(pieces, low, high))


def parts(pieces: Sequence[Sequence[Curve]], low: Ball, high: Ball) -> list[tuple[Sequence[Curve], tuple[Ball, Ball]]]:
    """The pieces that an interval meets, and what of it lies in each."""
    met = [each for each in pieces if not (each[0].first >= high or each[0].last <= low)]
    return [(each, (each[0].first.max(low), each[0].last.min(high))) for each in met]


def level(k: Known) -> tuple[Bounds, Conditions]:
    """The loss at w = at is level at most.

    By the averages of `contexts` there.
    """
    noise, bias, _ = terms(k, k["at"])
    return {"level": least(noise + bias)}, {"at >= 0": k["at"] >= 0}


def beyond(k: Known) -> tuple[Bounds, Conditions]:
    """No w > stop is best.

    Because the noise at stop is noise_stop at least, which is more than the loss at another w, and N rises in w.
    """
    noise = k["sigma"] ** 2 * averages(k["d"], k["n"], k["stop"], [1]).noise
    return {"noise_stop": most(noise)}, {"noise at stop > level": noise > k["level"]}


def between(k: Known) -> tuple[Bounds, Conditions]:
    """Every w* lies between low and high.

    Because on [0, low] and on [high, stop] the loss, as a curve, is above level.
    """
    loss = loss_and_gap(k)
    return {}, {
        "0 <= low < high <= stop": 0 <= k["low"] < k["high"] <= k["stop"],
        "loss > level on [0, low]": bool(k["low"] == 0) or is_above(loss, k["level"], arb(0), k["low"]),
        "loss > level on [high, stop]": is_above(loss, k["level"], k["high"], k["stop"]),
    }


def origin(k: Known) -> tuple[Bounds, Conditions]:
    """w* = 0 alone.

    Because the law is even, so that L(-w) = L(w), with L''(0) / 2 = (1 - 1/n) ((sigma^2 + V) / (nd) - 2 (1 - 2/n) k_2
    / (d (d+2))) >= curvature. With |L| <= M = (sigma^2 + 4V) / cos(1)^2 for |w| <= 1, L = L(0) + (L''(0)/2) w^2 + r,
    |r| <= 2 M w^4 / (1 - w^2) (Cauchy's estimate of |L - L(0)| <= 2 M), which is more than L(0) for 0 < w <= high < 1.
    """
    d, n, sigma, (weights, _) = k["d"], k["n"], k["sigma"], spectrum(k)
    V, share = variance(k), k["high"] ** 2
    second = 2 * (1 - arb(2) / n) * weights.get(2, arb(0)) / (d * (d + 2))
    curvature = (1 - arb(1) / n) * ((sigma**2 + V) / (n * d) - second)
    return {"curvature": most(curvature)}, {
        "the law is even": all(degree % 2 == 0 for degree in weights),
        "low = 0": bool(k["low"] == 0),
        "high < 1": k["high"] < 1,
        "curvature > 2 M high^2 / (1 - high^2)": curvature
        > 2 * (sigma**2 + 4 * V) / arb(1).cos() ** 2 * share / (1 - share),
    }


def scale(k: Known) -> tuple[Bounds, Conditions]:
    """At every w* the best factor c* of the prediction has c_low <= c* - 1 <= c_high.

    Because for given weights the loss is a quadratic in c with c* - 1 = (G - L) / (L + E f^2 - 2G), E f^2 = L^2 / (3d)
    + the variance of the offset, for the affine law and ReLU; L and G are curves.
    """
    balls = [[curve.over(*part) for curve in piece] for piece, part in parts(loss_and_gap(k), k["low"], k["high"])]
    loss, gap = (reduce(arb.union, each) for each in zip(*balls, strict=True))
    excess = (gap - loss) / (loss + k["L"] ** 2 / (3 * k["d"]) + k["offset"] - 2 * gap)
    return {"c_low": most(excess), "c_high": least(excess)}, {
        "the law is affine or ReLU": k["law"] in ("affine", "relu")
    }


def rising(k: Known) -> tuple[Bounds, Conditions]:
    """From w_1 to w_2 > w_1 the bias rises, like a power of w between slope_low > 0 and slope_high.

    By the averages of `contexts` at both.
    """
    first, second = (terms(k, k[name])[1] for name in ("w_1", "w_2"))
    slope = (second / first).log() / (k["w_2"] / k["w_1"]).log()
    return {"slope_low": most(slope), "slope_high": least(slope)}, {"w_1 < w_2": k["w_1"] < k["w_2"]}


def circle(k: Known) -> list[Curve]:
    """E T, E T^2, E R^2 and E sum a_i^2 for all omega up to `stop`."""
    return _circle(k["n"], k["stop"].str(60))


@lru_cache(maxsize=16)
def _circle(n: int, stop: str) -> list[Curve]:
    def values(omega: Ball) -> tuple[Ball, ...]:
        # (1 - t)^2 = 2 (1 - P_1) - (1 - P_2) / 2 and 1 - t^2 = (1 - P_2) / 2
        at = averages(2, n, omega, (1, 2))
        second = 1 - 2 * at.mean[1] + at.pairs[1] + 2 * at.alone[1] - at.alone[2] / 2
        return 1 - at.mean[1], second, at.alone[2] / 2, at.noise

    c = arb(STRIP).cos()
    return curves(values, [1 / c, 1 / c**2, 2 / c**2, 1 / c**2], arb(0), arb(stop))


def matrix(k: Known) -> tuple[Bounds, Conditions]:
    """The loss at M is level at most, and level_low at least.

    Because F has the period pi and is analytic where the scores stay in the strip: |Im M x| <= sinh |y| max |M| at
    theta + i y is at most b for |y| <= delta; there |F| <= K = tr S (1 / cos b + cosh delta)^2 + sigma^2 / cos(b)^2,
    and the trapezoidal rule with N points is off by at most 2 K / (e^{2 delta N} - 1) (Trefethen and Weideman, SIAM
    Review 56 (2014), theorem 3.2). Its moments are curves in omega.
    """
    with ctx.workprec(SPARE_BITS):
        S, M, sigma = k["S"], k["M"], k["sigma"]
        delta, c = (arb(STRIP) / max(abs(M[0]), abs(M[1]))).asinh(), arb(STRIP).cos()
        K = (S[0] + S[1]) * (1 / c + delta.cosh()) ** 2 + (sigma / c) ** 2
        points = 1 + math.ceil(float((2 * K / ACCURACY).log() / (2 * delta)))
        total = sum((at_angle(k, fmpq(j, points)) for j in range(points)), arb(0))
        loss = total / points + arb(0, (2 * K / (2 * delta * points).expm1()).abs_upper())
    return {"level": least(loss), "level_low": most(loss)}, {"|M| <= stop": all(abs(each) <= k["stop"] for each in M)}


def at_angle(k: Known, angle: fmpq) -> Ball:
    """F at a multiple of pi."""
    S, M = k["S"], k["M"]
    x = arb.cos_pi_fmpq(angle), arb.sin_pi_fmpq(angle)
    y = M[0] * x[0], M[1] * x[1]
    omega = (y[0] ** 2 + y[1] ** 2).sqrt()
    e = y[0] / omega, y[1] / omega
    first, second, across, noise = (curve.over(omega, omega) for curve in circle(k))
    bias = second * (S[0] * e[0] ** 2 + S[1] * e[1] ** 2) + across * (S[0] * e[1] ** 2 + S[1] * e[0] ** 2)
    bias += S[0] * x[0] ** 2 + S[1] * x[1] ** 2 - 2 * first * (S[0] * e[0] * x[0] + S[1] * e[1] * x[1])
    return bias + k["sigma"] ** 2 * noise


def isotropic(k: Known) -> tuple[Bounds, Conditions]:
    """Of all w I, w >= 0, the least loss is between least_low and least_high.

    Because F is then tr S / 2 times E |sum a_i x_i - x|^2, and the noise, which is more than the least beyond stop.
    """
    loss, noise = isotropic_loss(k), k["sigma"] ** 2 * circle(k)[3].over(k["stop"], k["stop"])
    bounds, conditions = between_ends(k, loss)
    return bounds, conditions | {"the noise at stop is above the least": noise > bounds["least_low"][1]}


def isotropic_loss(k: Known) -> Curve:
    """The loss at w I."""
    first, second, across, noise = circle(k)
    half, square = (k["S"][0] + k["S"][1]) / 2, k["sigma"] ** 2
    return combined([(half, second), (half, across), (-2 * half, first), (square, noise)], half)


def aligned(k: Known) -> tuple[Bounds, Conditions]:
    """Of all M = diag(c, 0) with |c| <= stop, S = diag(1, 0), the least loss is between least_low and least_high.

    Because with omega = c |z|, z = cos theta, it is E_z [E T^2 - 2 |z| E T + z^2 + sigma^2 E sum a_i^2], power by power
    of omega; at -c the sign of E T >= 0 is the other one, and the loss is larger.
    """
    bounds, conditions = between_ends(k, aligned_loss(k))
    return bounds, conditions | {"S = diag(1, 0)": bool(k["S"][0] == 1 and k["S"][1] == 0)}


def aligned_loss(k: Known) -> Curve:
    """The loss at diag(c, 0)."""
    first, second, _, noise = circle(k)
    with ctx.workprec(bits(first.polynomial.length())):
        half, rest = k["stop"] / 2, combined([(arb(1), second), (k["sigma"] ** 2, noise)], arb(0))
        in_omega = [curve.polynomial(arb_poly([-1, 1 / half])).coeffs() for curve in (rest, first)]
        total = [x * absolute(j) - 2 * y * absolute(j + 1) for j, (x, y) in enumerate(zip(*in_omega, strict=True))]
        total[0] += arb(1) / 2
        error = rest.error + 2 * absolute(1) * first.error
        return Curve(first.first, first.last, arb_poly(total)(arb_poly([half, half])), error)


def between_ends(k: Known, loss: Curve) -> tuple[Bounds, Conditions]:
    """The least value of a curve: no more than that at one place."""
    return {"least_low": most(loss.lowest()), "least_high": least(loss.over(k["at"], k["at"]))}, {
        "0 <= at <= stop": 0 <= k["at"] <= k["stop"]
    }


def combined(summands: Sequence[tuple[Ball, Curve]], constant: Ball) -> Curve:
    """A sum of multiples of curves, and a constant."""
    polynomial = sum((arb_poly([factor]) * curve.polynomial for factor, curve in summands), arb_poly([constant]))
    error = sum((abs(factor) * curve.error for factor, curve in summands), arb(0))
    return Curve(summands[0][1].first, summands[0][1].last, polynomial, error)


def absolute(k: int) -> Ball:
    """E |cos theta|^k.

    >>> float(absolute(2).mid())
    0.5
    """
    return (arb(k + 1) / 2).gamma() / (arb.pi().sqrt() * (arb(k) / 2 + 1).gamma())


def gain(k: Known) -> tuple[Bounds, Conditions]:
    """The least loss of all those is more than that of M, by gain_low to gain_high.

    By subtraction.
    """
    return {"gain_low": most(k["least_low"] - k["level"]), "gain_high": least(k["least_high"] - k["level_low"])}, {}


THEOREMS: dict[str, tuple[Rule, ...]] = {
    "optimum": (level, beyond, between),
    "optimum at zero": (level, beyond, between, origin),
    "scale": (level, beyond, between, scale),
    "bias rises": (rising,),
    "not isotropic": (matrix, isotropic, gain),
    "not aligned": (matrix, aligned, gain),
}
ON_THE_CIRCLE = ("not isotropic", "not aligned")


def names(theorem: str) -> set[str]:
    """What is given in a theorem."""
    if theorem in ON_THE_CIRCLE:
        return {"n", "sigma", "S", "M", "stop"}
    return {"law", "d", "n", "L", "sigma"} | ({"offset"} if theorem == "scale" else set())


def given(proof: Proof) -> dict[str, Any]:
    """Numbers as balls or whole numbers, pairs as pairs."""
    found: dict[str, Any] = dict(proof["given"])
    for name, value in proof["given"].items():
        if name in ("d", "n"):
            found[name] = int(value)
        elif name in ("S", "M"):
            found[name] = tuple(fraction(each) for each in value)
        elif name != "law":
            found[name] = fraction(value)
    return found


def fraction(text: str) -> Ball:
    """A decimal, or a fraction of two."""
    over, _, under = text.partition("/")
    return arb(over) / arb(under or 1)


def wrong(proof: Proof) -> list[str]:
    """What makes it no theorem of these."""
    stated, theorem = proof["given"], proof["theorem"]
    if set(stated) != names(theorem):
        return [f"given are {', '.join(sorted(stated))}; they must be {', '.join(sorted(names(theorem)))}"]
    k = given(proof)
    balls = [k[name] for name in ("sigma", "offset", "stop", "L") if name in k] + [*k.get("S", ())]
    if not (k["n"] >= 2 and k.get("d", 2) >= 2 and all(ball.is_finite() and ball >= 0 for ball in balls)):
        return [f"{stated}: n >= 2, d >= 2, and what else is given >= 0"]
    if "M" in k and not (len(k["S"]) == len(k["M"]) == 2 and all(ball.is_finite() and ball != 0 for ball in k["M"])):
        return [f"{stated}: S and M are pairs, and no entry of M is 0"]
    name, colon, text = k.get("law", "affine").partition(":")
    if name not in LAWS or bool(colon) != (name in ("cosine", "zonal")):
        return [f"law {k['law']!r}: one of {', '.join(LAWS)}; after cosine stands its L, after zonal its spectrum"]
    listed = [arb(each) for each in text.split(",")] if colon else [arb(1)]
    if not (all(ball.is_finite() and ball >= 0 for ball in listed) and any(ball > 0 for ball in listed)):
        return [f"law {k['law']!r}: the numbers after its name are >= 0, and one is not 0"]
    return []


def statement(proof: Proof) -> str:
    """The theorem of a proof, from its constants."""
    k = {name: text for lemma in proof["lemmas"] for name, text in lemma["constants"].items()} | proof["given"]
    if proof["theorem"] in ON_THE_CIRCLE:
        others = "w I, w >= 0" if proof["theorem"] == "not isotropic" else f"diag(c, 0), |c| <= {k['stop']}"
        return (
            f"d = 2, n = {k['n']}, sigma = {k['sigma']}, S = diag({', '.join(k['S'])}): the loss of diag("
            f"{', '.join(k['M'])}) is less than that of every {others}, by {k['gain_low']} to {k['gain_high']}"
        )
    where = f"{k['law']}, d = {k['d']}, n = {k['n']}, L = {k['L']}, sigma = {k['sigma']}: "
    if proof["theorem"] == "optimum at zero":
        return where + "w* = 0 alone"
    if proof["theorem"] == "bias rises":
        return where + f"from w = {k['w_1']} to {k['w_2']} the bias rises like w^{k['slope_low']} at least"
    window = f"{k['low']} <= w* <= {k['high']} for every w*"
    if proof["theorem"] == "optimum":
        return where + window
    return where + f"{window}, and {k['c_low']} <= c* - 1 <= {k['c_high']} with an offset of variance {k['offset']}"


KIND = Kind(
    chain=lambda proof: [(rule, 0) for rule in THEOREMS[proof["theorem"]]],
    given=given,
    statement=statement,
    chosen={
        level: ("at",),
        beyond: ("stop",),
        between: ("low", "high"),
        rising: ("w_1", "w_2"),
        isotropic: ("at",),
        aligned: ("at",),
    },
    wrong=wrong,
    signed=("at", "low", "c_low", "c_high"),
)
