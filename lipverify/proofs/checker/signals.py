"""The optimal w for every n and every L / sigma, from both sides: of the affine law in three and in five dimensions.

What is known of little noise by `every` is joined with what `largest` and `five` say of hardly any: w* < C n^p, p =
2/3 or 1/3. M = min(Lambda / 3d, k W, m n^p), W = Lambda^{1/(a+2)}, Lambda = n L^2 / sigma^2; other letters as in those
modules.
"""

from __future__ import annotations

from functools import reduce

from flint import arb

from .chain import Ball, Bounds, Conditions, Known, least, most
from .every import Piece, polynomials, ratio, shares
from .five import nearest
from .largest import LAST, SIDES, alone

FEWER, END = 40, arb(12)
"""Below this n five dimensions are looked at by polynomials, up to this w."""


def power(k: Known) -> Ball:
    """p."""
    return arb(2) / 3 if k["d"] == 3 else arb(1) / 3


def few_sides(k: Known) -> tuple[Bounds, Conditions]:
    """For n < 80 (d = 3) or 40 (d = 5): few_sides_low M <= w* <= few_sides_high M, M = min(Lambda / 3d, k W, m n^p).

    Because up to w_1 = 21 or 12 each critical w is in a part where w / min(Lambda / 3d, k W) is enclosed (`few`), and
    w* is less than C n^p. If it is w_1 or more, Lambda is more than Lambda_0: up to that n N + Lambda b / 3d is at
    some smaller w less than with N at w_1, since N rises, and b at least what `largest` or `five` says, which rises
    too.
    """
    few, last = (SIDES, LAST) if k["d"] == 3 else (FEWER, END)
    pieces, found = polynomials(int(k["d"].unique_fmpz()), float(last), few), []
    for n in range(2, few):
        top, stop = (k[name] * arb(n) ** power(k) for name in ("m", "C"))
        for w, share in shares(pieces, n, stop.min(last)):
            if share[0].is_finite():  # where B rises nothing is best
                low, high = ratio(k, w, share)
                found.append((low.max(w[0] / top), high.max(w[1] / top)))
        Lambda = least_signal(k, pieces, n, last)
        if not stop < last and Lambda.is_finite():
            M = (Lambda / (3 * k["d"])).min(k["k"] * Lambda ** (1 / (k["a"] + 2))).min(top)
            found.append((last / top, stop / M))
    return {
        "few_sides_low": most(reduce(arb.min, [low for low, _ in found])),
        "few_sides_high": least(reduce(arb.max, [high for _, high in found])),
    }, {}


def least_signal(k: Known, pieces: list[Piece], n: int, last: Ball) -> Ball:
    """Up to this Lambda no w >= last is best; infinite if that is so for all."""
    beyond, found = alone(n, last) if k["d"] == 3 else nearest(n, last), arb(0)
    noise = pieces[-1][0][n - 2].over(last, last)
    for noises, biases, _, _, edges in pieces:
        for w in edges[:-1:4]:
            gained, lost = noise - noises[n - 2].over(w, w), biases[n - 2].over(w, w) - beyond
            if gained > 0:
                found = found.max(arb("inf") if lost < 0 else (3 * k["d"] * n * gained / lost.upper()).lower())
    return found


def signals(k: Known) -> tuple[Bounds, Conditions]:
    """For d = 3, n >= 2, all L, sigma > 0: all_low M <= w* <= all_high M, m = 1; from 256 on later_low, later_high.

    Because from 80 tokens on `every` says it where L <= rho sigma or W <= V, and M is there min(Lambda / 9, k W): k W
    is at most n^{2/3}. For larger W `both_sides` does: W^2 >= n/2 if W > V, and Lambda / 9 >= k W.
    """
    low, high = k["few_sides_low"].min(k["lower"]), k["few_sides_high"].max(k["upper"])
    return {}, {
        "k <= 1 <= K, rho <= 1, m = 1": k["k"] <= 1 <= k["K"] and k["rho"] <= 1 and k["m"] == 1,
        "all_low, all_high": between(k, k["all_low"], low, high, k["all_high"]),
        "later_low, later_high": between(k, k["later_low"], k["lower_later"], k["upper_later"], k["later_high"]),
    }


def between(k: Known, lowest: Ball, low: Ball, high: Ball, highest: Ball) -> bool:
    """Whether what is stated of w* / M follows from this, and from `every`."""
    return lowest <= low.min(k["least_ratio"]) and highest >= high.max(k["largest_ratio"])


def signals_in_five(k: Known) -> tuple[Bounds, Conditions]:
    """For d = 5, n >= 2, all L, sigma > 0: all_low M <= w* <= all_high M.

    Because from 40 tokens on, with V = v n^{1/3}, v = K^{-1/3}, w* < C n^{1/3}. Where L <= rho sigma or W <= V `every`
    says it, or M is m n^{1/3}. For larger W w* is at least least min(Lambda / 15, k W, k V) (`every`), where k V = (k v
    / m) m n^{1/3}; and M is at least min(k V, m n^{1/3}), as Lambda / 15 >= V^3 V / 15 = (n / 15 K) V >= k V.
    """
    V = k["k"] * k["K"] ** (-arb(1) / 3)
    low = k["few_sides_low"].min(k["least"] * (V / k["m"]).min(1))
    high = k["few_sides_high"].max(k["C"] / V.min(k["m"]))
    return {}, {
        "15 k K <= 40": 15 * k["k"] * k["K"] <= FEWER,
        "all_low, all_high": between(k, k["all_low"], low, high, k["all_high"]),
    }
