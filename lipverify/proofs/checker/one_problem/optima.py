r"""The minima of a loss for one number of tokens: all w >= 0 at once, from balls at finitely many w.

A sum of e^{w t_j} with |t_j| <= 1 has no zero for |Im w| < pi/2. In the strip |Im w| <= b < pi/2, where it is at least
cos b times the sum at Re w, averages of weights are analytic in w: with V = Var f there

    |N| <= sigma^2 / cos(b)^2,    |B| <= 4 V / cos(b)^2,    |G| <= 2 V / cos b,    G = E sum a_i (f(x_i) - f(x))^2 / 2.

**Beyond.** N rises in w, because for fixed tokens the slope of sum a_i^2 is 2 sum a_i^2 (t_i - sum a_j t_j) >= 0
(Chebyshev's inequality for sums). Where N alone is above the loss at some w, no larger w is best.

**Laws.** E f(x) f(x') = L^2 sum_l k_l P_l(<x, x'>): affine k_1 = 1/(3d); quadratic k_2 = 2 (d-1) / (d^2 (d+2)); zonal
as its name says; ReLU k_1 = 1/(6d) and k_l = N_l b_l^2 / 6, l even, summing to 1/(3d), with b_0 = E|t| and b_{l+2} =
-b_l (l-1) / (l+d+1). Cosine, whose L is in its name: k_l = N_l (E cos(L t) P_l)^2, l even, summing to (1 + E cos 2Lt)
/ 2. B = sum k_l (2 E sum a_i^2 h_i + E sum_{i != j} a_i a_j h_i h_j), of which what is not listed adds between 0 and 4
times its k_l.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

from flint import arb

from ..kernel import form
from ..kernel.contexts import STRIP, Averages, averages
from ..kernel.curves import ACCURACY, Curve, curves, remembered
from ..kernel.form import Ball, Known, Obligations, ball, least, most, size
from ..kernel.harmonics import harmonics, wave
from ..kernel.kink import even_weights

LONGEST = 4
"""The longest interval of a curve of the loss."""
LISTED = {"cosine": 20, "relu": 30}
"""The last degree of a law that has infinitely many."""


def spectrum(k: Known) -> tuple[dict[int, Ball], Ball]:
    """The k_l that are listed, l > 0, and the sum of all others; times L^2."""
    d, square = arb(k["d"]), k["L"] ** 2
    name, after = form.law_and_numbers(k["law"])
    weights, total = {}, None
    if name == "affine":
        weights = {1: 1 / (3 * d)}
    elif name == "quadratic":
        weights = {2: 2 * (d - 1) / (d**2 * (d + 2))}
    elif name == "zonal":
        weights = {j: ball(k_j) for j, k_j in enumerate(after) if k_j}
    elif name == "cosine":
        weights = {j: harmonics(d, j) * wave(d, ball(after[0]), j) ** 2 for j in range(0, LISTED[name] + 1, 2)}
        total = (1 + wave(d, 2 * ball(after[0]), 0)) / 2
    else:
        even = even_weights(d, LISTED[name])
        weights, total = {1: 1 / (6 * d), **{j: weight / 6 for j, weight in even.items()}}, 1 / (3 * d)
    rest = arb(0) if total is None else (total - sum(weights.values(), arb(0))).max(0)
    return {j: square * weight for j, weight in weights.items() if j}, square * rest


def variance(k: Known) -> Ball:
    """Var f, V."""
    weights, rest = spectrum(k)
    return sum(weights.values(), rest)


def terms(k: Known, w: Ball) -> tuple[Ball, Ball, Ball]:
    """N, B and G at one w."""
    rest, (noise, bias, gap) = spectrum(k)[1], listed(k, w)
    return k["sigma"] ** 2 * noise, bias + arb(0).union(4 * rest.upper()), gap + arb(0).union(2 * rest.upper())


def listed(k: Known, w: Ball) -> tuple[Ball, Ball, Ball]:
    """E sum a_i^2, and B and G of the degrees that are listed, at one w."""
    weights, _ = spectrum(k)
    means = averages(k["d"], k["n"], w, sorted(weights), weights=weights)
    pairs, gap = (sum((value * by[j] for j, value in weights.items()), arb(0)) for by in (means.pairs, means.mean))
    return means.noise, 2 * means.alone[0] + pairs, gap


@remembered("law", "d", "n", "L", "sigma", "stop")
def loss_and_gap(k: Known) -> list[list[Curve]]:
    """The loss and G for all w up to `stop`, piece by piece."""
    V, c = variance(k), arb(STRIP).cos()

    def values(w: Ball) -> tuple[Ball, Ball]:
        noise, bias, gap = terms(k, w)
        return noise + bias, gap

    bounds, end = [(k["sigma"] ** 2 + 4 * V) / c**2, 2 * V / c], k["stop"]
    pieces = math.ceil(float(end) / LONGEST)
    return [curves(values, bounds, end * i / pieces, end * (i + 1) / pieces) for i in range(pieces)]


def is_above(pieces: Sequence[Sequence[Curve]], level: Ball, low: Ball, high: Ball) -> bool:
    """Whether the loss is above a level on all of an interval."""
    return all(loss.above(level, *part) for (loss, _), part in parts(pieces, low, high))


def parts(pieces: Sequence[Sequence[Curve]], low: Ball, high: Ball) -> list[tuple[Sequence[Curve], tuple[Ball, Ball]]]:
    """The pieces that an interval meets, and what of it lies in each."""
    met = [piece for piece in pieces if not (piece[0].first >= high or piece[0].last <= low)]
    return [(pieces, (pieces[0].first.max(low), pieces[0].last.min(high))) for pieces in met]


def level(k: Known) -> Obligations:
    """The loss at w = at is level at most.

    By the averages of `contexts` there.
    """
    noise, bias, _ = terms(k, k["at"])
    return {"level": least(noise + bias)}, {"at >= 0": k["at"] >= 0}


def beyond(k: Known) -> Obligations:
    """No w > stop is best.

    Because the noise at stop is noise_stop at least, which is more than the loss at another w, and N rises in w.
    """
    noise = k["sigma"] ** 2 * averages(k["d"], k["n"], k["stop"], [1]).noise
    return {"noise_stop": most(noise)}, {"noise at stop > level": noise > k["level"]}


def between(k: Known) -> Obligations:
    """Every w* lies between low and high.

    Because on [0, low] and on [high, stop] the loss, as a curve, is above level.
    """
    loss = loss_and_gap(k)
    return {}, {
        "0 <= low < high <= stop": 0 <= k["low"] < k["high"] <= k["stop"],
        "loss > level on [0, low]": bool(k["low"] == 0) or is_above(loss, k["level"], arb(0), k["low"]),
        "loss > level on [high, stop]": is_above(loss, k["level"], k["high"], k["stop"]),
    }


def around(k: Known) -> Obligations:
    """Every w* lies between low and high, w* large.

    Because N rises in w, and m = E sum a_i (1 - t_i) falls, as for fixed tokens its slope is minus the variance of t
    under a. B >= k_1 m^2 (Jensen), so that from one w to a larger one the loss is at least N at the first and k_1 m^2
    at the second: more than level on every part into which [0, low] and [high, stop] are halved.
    """
    return {}, {
        "0 < low < high <= stop": 0 < k["low"] < k["high"] <= k["stop"],
        "loss > level on [0, low]": more_by_ends(k, arb(0), k["low"]),
        "loss > level on [high, stop]": more_by_ends(k, k["high"], k["stop"]),
    }


def more_by_ends(k: Known, first: Ball, last: Ball) -> bool:
    """Whether N at the first and k_1 m^2 at the last w of each of some parts of an interval exceed the level."""
    if ends(k, first)[0] + ends(k, last)[1] > k["level"]:
        return True
    middle = (first * last).sqrt().mid() if first > 0 else last.mid() / 2
    if not (sum(ends(k, middle), arb(0)) > k["level"] and last - first > 5e-3 * last):
        return False
    return more_by_ends(k, middle, last) and more_by_ends(k, first, middle)


def ends(k: Known, w: Ball) -> tuple[Ball, Ball]:
    """N, and k_1 m^2, at one w."""
    weight = spectrum(k)[0].get(1, arb(0))
    means = first_averages({"d": k["d"], "n": k["n"], "w": w})
    return k["sigma"] ** 2 * means.noise, weight * means.mean[1].max(0) ** 2


@remembered("d", "n", "w", most=4096)
def first_averages(k: Known) -> Averages:
    return averages(k["d"], k["n"], k["w"], [1])


def origin(k: Known) -> Obligations:
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


def scale(k: Known) -> Obligations:
    """At every w* the best factor c* of the prediction has c_low <= c* - 1 <= c_high.

    Because for given weights the loss is a quadratic in c with c* - 1 = (G - L) / (L + E f^2 - 2G), E f^2 = L^2 / (3d)
    + the variance of the offset, for the affine law and ReLU; L and G are curves.
    """
    values = [[curve.over(*part) for curve in piece] for piece, part in parts(loss_and_gap(k), k["low"], k["high"])]
    loss, gap = (reduce(arb.union, column) for column in zip(*values, strict=True))
    excess = (gap - loss) / (loss + k["L"] ** 2 / (3 * k["d"]) + k["offset"] - 2 * gap)
    return {"c_low": most(excess), "c_high": least(excess)}, {
        "the law is affine or ReLU": k["law"] in ("affine", "relu")
    }


def rising(k: Known) -> Obligations:
    """From w_1 to w_2 > w_1 the bias rises, like a power of w between slope_low > 0 and slope_high.

    By the averages of `contexts` at both.
    """
    first, second = (terms(k, k[name])[1] for name in ("w_1", "w_2"))
    slope = (second / first).log() / (k["w_2"] / k["w_1"]).log()
    return {"slope_low": most(slope), "slope_high": least(slope)}, {"w_1 < w_2": k["w_1"] < k["w_2"]}


def falling(k: Known) -> Obligations:
    """At every w from 0 to stop the slope of the bias is at most -fall.

    Because the slope of its part of the degrees that are listed is a curve, and what is not listed adds at most 4 r (E
    Var_a t)^{1/2}: it is the bias of an f of variance r, with e = sum a_i (f(x_i) - f(x)) and slope 2 E e Cov_a(f, t),
    where E_f e^2 <= 4r and E_f Cov_a(f, t)^2 <= E_f Var_a f Var_a t <= r Var_a t (Cauchy and Schwarz). Var_a t is at
    most 1 and sum a_i h_i^2 <= 2 sum a_i h_i, h = 1 - t, which falls in w for fixed tokens.
    """
    pieces = math.ceil(float(k["stop"]) / LONGEST)
    ends = [k["stop"] * i / pieces for i in range(pieces + 1)]
    return {
        "fall": most(
            reduce(arb.min, [minus(k, *pair).slope(1).lowest() - steepest_rest(k, pair[0]) for pair in pairwise(ends)])
        )
    }, {}


def minus(k: Known, first: Ball, last: Ball, accuracy: float = ACCURACY) -> Curve:
    """Minus the listed part of B from one w to another."""
    bound = 4 * sum(spectrum(k)[0].values(), arb(0)) / arb(STRIP).cos() ** 2
    (curve,) = curves(lambda w: [-listed(k, w)[1]], [bound], first, last, accuracy)
    return curve


def steepest_rest(k: Known, w: Ball) -> Ball:
    """A bound of the slope of what is not listed, at w and beyond."""
    rest = spectrum(k)[1].upper()
    mean = averages(k["d"], k["n"], w, [1]).mean[1] if rest > 0 else arb(0)
    return 4 * rest * (2 * mean).min(arb(1)).max(0).sqrt()


LEMMAS = {
    **{"12.1": level, "12.2": beyond, "12.3": between, "12.4": around},
    **{"12.5": origin, "12.6": scale, "12.7": rising, "12.8": falling},
}
THEOREMS = {
    "optimum": (level, beyond, between),
    "optimum far": (level, beyond, around),
    "optimum at zero": (level, beyond, between, origin),
    "scale": (level, beyond, between, scale),
    "bias rises": (rising,),
    "bias falls": (level, beyond, falling),
}
LAWS = {"affine": 0, "quadratic": 0, "relu": 0, "cosine": 1, "zonal": 100}
"""The laws, and how many numbers may stand after their names: the L of cosine, and a spectrum."""


def about(stated: Mapping[str, Any]) -> dict[str, Any]:
    numbers = ("L", "sigma", "offset") if stated["theorem"] == "scale" else ("L", "sigma")
    k = form.exactly("given", stated["given"], ("law", "d", "n", *numbers))
    name, after = form.law_and_numbers(k["law"])
    if name not in LAWS or bool(after) != (LAWS[name] > 0) or len(after) > LAWS[name]:
        raise form.Malformed(
            f"law {k['law']!r}: one of {', '.join(LAWS)}; after cosine stands its L, after zonal its k_l"
        )
    entering = after[1:] if name == "zonal" else after  # k_0 is a constant
    if after and not (min(after) >= 0 and any(entering) and max(after) <= 10**4):
        raise form.Malformed(f"law {k['law']!r}: after its name stand numbers from 0 to 10000, one beyond k_0 not 0")
    sizes = {"d": size("d", k["d"], 2, 100), "n": size("n", k["n"], 2, 10**40)}
    values = {name: form.number(k[name]) for name in numbers}
    if min(values.values()) < 0:
        raise form.Malformed(f"{k}: {', '.join(numbers)} are >= 0")
    return {"law": k["law"], **sizes, **values}


PLACED = "over w >= 0 the loss has a least value, and {low} <= w* <= {high} for every w* that attains it"
SENTENCES = {
    "optimum": PLACED,
    "optimum far": PLACED,
    "optimum at zero": "over all real w the loss is least at w* = 0 alone",
    "scale": PLACED + ", where {c_low} <= c* - 1 <= {c_high} with an offset of variance {offset}",
    "bias rises": "({w_2} / {w_1})^{slope_low} <= B({w_2}) / B({w_1}) <= ({w_2} / {w_1})^{slope_high}",
    "bias falls": "B' <= -{fall} at every w from 0 to {stop}, and over w >= 0 every w* is less than {stop}; for every "
    "smaller L / sigma as well B' < 0 there, and every w* is less than {stop}",
}
"""What each theorem says of its problem. With a smaller L / sigma the bias is a smaller multiple of the same function,
so that the noise at `stop` exceeds the loss at another w all the more (lemma 12.2).
"""


def sentence(proof: form.Proof) -> form.Sentence:
    theorem, stated = proof.theorem, {name: x for lemma in proof.lemmas for name, x in lemma.constants.items()}
    k = {name: form.shown(value) for name, value in ({**proof.about, **stated}).items() if name != "law"}
    law, after = form.law_and_numbers(proof.about["law"])
    named = ":".join((law, *([",".join(map(form.shown, after))] if after else [])))
    about = f"law = {named}", f"d = {k['d']}", f"n = {k['n']}"
    signal: tuple[str, ...] = (f"L = {k['L']}", f"sigma = {k['sigma']}")
    text = f"{', '.join((*about, *signal)).removeprefix('law = ')}: {SENTENCES[theorem].format(**k)}"
    last = tuple(
        f"{name} = {k[name]}" for name in {"scale": ("offset",), "bias rises": ("w_1", "w_2")}.get(theorem, ())
    )
    if theorem == "optimum at zero":
        found = {"window": form.exact("w^*", 0, "the loss is least at w* = 0 alone")}
        return form.Sentence(text, found, (*about, *signal))
    if theorem == "bias rises":
        says = "from w_1 to w_2 the bias rises like a power in between"
        slope = form.Fact(r"\frac{\Delta \log B}{\Delta \log w}", stated["slope_low"], stated["slope_high"], says)
        return form.Sentence(text, {"slope": slope}, (*about, *signal, *last))
    if theorem == "bias falls":
        most = proof.about["L"] / proof.about["sigma"]
        signal = "L > 0", "sigma > 0", f"L <= {'' if most == 1 else f'{form.shown(most)} '}sigma"
        found = {"falling": form.exact(form.FALLING, 1, "the bias falls at every w up to one that no w* exceeds")}
    else:
        found = {"window": form.Fact("w^*", stated["low"], stated["high"], "every w* lies in between")}
    if theorem == "scale":
        says = "at every w* the best factor c* lies in between"
        found["excess"] = form.Fact("c^* - 1", stated["c_low"], stated["c_high"], says)
    return form.Sentence(text, found, (*about, *signal, *last, "w >= 0"))


KIND = form.Kind(
    chain=lambda proof: [(rule, 0) for rule in THEOREMS[proof.theorem]],
    about=about,
    sentence=sentence,
    chosen={
        level: ("at",),
        beyond: ("stop",),
        between: ("low", "high"),
        around: ("low", "high"),
        rising: ("w_1", "w_2"),
    },
    signed=("at", "low", "c_low", "c_high"),
)
