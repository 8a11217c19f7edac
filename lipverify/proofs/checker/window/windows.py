r"""The optimal window for every n: envelopes of noise and bias, and where w* lies between multiples of Lambda^e.

The theorem. Tokens x_1..x_n and the query x are uniform on the sphere of R^d, t_i = <x_i, x>, h_i = 1 - t_i,
g_i = e^{-w h_i}, attention a_i = g_i / (g_1 + ... + g_n), the loss is noise N = sigma^2 E sum a_i^2 plus bias
B = E (sum a_i (f(x_i) - f(x)))^2. With a = (d-1)/2, beta = 2 for smooth laws, 3/2 with kinks,
1/2 with jumps, W = Lambda^{1/(a + beta)} and Lambda = n L^2 / sigma^2, every w* that minimises N + B satisfies low W <
w* < high W.

`tokens` is about attention; `laws` lists the lemmas about the bias that a law needs, of `harmonics`, `kink` or
`variogram`; this file derives the theorems from bounds of noise and bias.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from flint import arb

from ..kernel.form import Ball, Facts, Known, Obligations, Proof, Rule, least, most
from ..kernel.harmonics import smooth
from ..kernel.kink import gaussian_integrals
from ..kernel.tokens import laplace, moment_limit
from .laws import LAWS, family
from .variogram import leading_bias


def window(k: Known) -> Obligations:
    """For W >= W_least, n >= K W^{a+max(beta,1)-1}: low W < w* < high W, and loss_low <= W^beta loss(w*) <= loss_high.

    Some w* >= 0 attains the least value, and this is about each. Because, with v = W^{beta-2}, W^beta loss(at W) <=
    above(v), and for u <= x W, x <= end: W^beta loss(x W) >= below(x, v). Both are linear in v: it is enough to compare
    them at v = 0 and W_least^{beta-2} (ReLU; v = 1 for smooth laws). below is convex in log x and at most above at
    `at`, so that it exceeds above beyond low and high once it does so there. Beyond end W, N rises in w for fixed
    tokens (its slope is 2 sum a_i^2 (t_i - sum a_j t_j) >= 0, Chebyshev); below the first u the bias alone is larger,
    and between two u as well. T >= T_least up to end W, because T falls in w (E[g h] / mu_1 does). The loss is
    continuous, and above that at W outside of [low W, high W]: it has a least value there. For w > 0 exchange of every
    token by its opposite gives B(-w) - B(w) = 2 E sum a_i (K(t_i) - K(-t_i)), and N(-w) = N(w): where K(t) - K(-t)
    rises in t, this is 0 at w = 0 and rises in w for fixed tokens (Chebyshev), so that no w < 0 is best.
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
        "1 <= W_least": W >= 1,
        "b_plus >= 0": k.get("b_plus", arb(0)) >= 0,
        "T_least <= K W_least^(max(beta,1)-1) end^-a / R_high": k["T_least"]
        <= k["K"] * W ** (beta.max(arb(1)) - 1) * k["end"] ** -a / k["R_high"],
    }


def below(k: Known, x: Ball, v: Ball) -> Ball:
    """c_low x^a + b_low x^-beta + b_plus v / x^2, b_plus >= 0: at most W^beta loss(x W)."""
    return k["c_low"] * x ** k["a"] + k["b_low"] * x ** -k["beta"] + k.get("b_plus", arb(0)) * x**-2 * v


def above(k: Known, x: Ball, v: Ball) -> Ball:
    """c_high x^a + b_high x^-beta + b_next v / x^2 + s x^{a-1} / K, at least W^beta loss(x W) for W >= 1."""
    last = k.get("b_next", arb(0)) * x**-2 * v + k["s"] * x ** (k["a"] - 1) / k["K"]
    return k["c_high"] * x ** k["a"] + k["b_high"] * x ** -k["beta"] + last


def balance(k: Known) -> Ball:
    """Where below(x, 0) is least."""
    return (k["beta"] * k["b_low"] / (k["a"] * k["c_low"])) ** (1 / (k["a"] + k["beta"]))


def transfer(k: Known) -> Obligations:
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


def tradeoff(k: Known) -> Obligations:
    """For w >= u, n >= K (rho w)^{a+max(beta,1)-1}: from w to rho w N rises and B falls by factors between these.

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
        "rho > 1 and u >= 1": rho > 1 and u >= 1,
        "T >= T_least": k["T_least"] * k["R_high"] <= k["K"] * (rho * u) ** (beta.max(arb(1)) - 1),
    }


def limit(k: Known) -> Obligations:
    """As W_least and K grow, low and high tend to one constant, which lies between limit_low and limit_high.

    Because all of c_low and c_high tend to C = 2^{-a} / c, of b_low and b_high to b = S1 a^2, or 8 kinked f_z(0)
    int psi^2 with a kink, or by the variogram its `leading_bias`; J0, J1, J2 to 1; E, s / K and 1/y to 0; and C k^a + b
    k^{-beta} is least at (beta b / a C)^{1/(a+beta)}.
    """
    d, a, beta = k["d"], k["a"], k["beta"]
    if "A_low" in k:
        b = leading_bias(k)
    elif beta == 2:
        b = smooth(k)[0]["S1_high"][1] * a**2
    else:
        at_zero = (d / 2).gamma() / (arb.pi().sqrt() * a.gamma())
        b = 8 * k["kinked"] * at_zero * gaussian_integrals(int(d.unique_fmpz()))["main"]
    constant = (beta * b * moment_limit(d) / (a * arb(2) ** -a)) ** (1 / (a + beta))
    return {"limit_low": most(constant), "limit_high": least(constant)}, {}


LEMMAS = {"6.1": window, "6.2": limit, "6.3": transfer, "6.4": tradeoff}
THEOREMS: dict[str, tuple[Rule, ...]] = {
    "envelope": (),
    "window": (window, limit),
    "transfer": (window, limit, transfer),
    "tradeoff": (tradeoff,),
}
"""The lemmas that follow the envelopes: none, where N and B between explicit functions is all that is proved."""


def chain(proof: Proof) -> list[tuple[Rule, int]]:
    """The lemmas of a proof in order, each with its stage: 0 if it holds throughout, i if from the i-th u on.

    A window rests on as many stages as there are; every other statement is about the w of one stage, and has one.
    """
    kind, rules = LAWS[family(proof.about["law"])], THEOREMS[proof.theorem]
    stages = max(1, sum(lemma.name == "tilt" for lemma in proof.lemmas)) if window in rules else 1
    head = [(rule, 0) for rule in (kind.about, laplace) if rule is not None]
    return head + [(rule, i + 1) for i in range(stages) for rule in kind.envelope] + [(rule, 0) for rule in rules]


def gathered(facts: Facts, stage: int) -> dict[str, Any]:
    """What a lemma may use; after the envelopes the last stage's, and `left`: W^beta times the loss below each u."""
    stages = [facts[i] for i in sorted(facts) if i > 0]
    if stage or not stages:
        return {**facts[0], **facts.get(stage, {})}
    known = {**facts[0], **stages[-1]}
    if "W_least" not in known:
        return known
    beta, W = known["beta"], known["W_least"]
    left = stages[0].get("far", stages[0]["b_low"] / stages[0]["u"] ** 2) * W**beta
    for before, after in pairwise(stages):
        left = left.min(before["b_low"] * (after["u"] / W) ** -beta)
    return {**known, "left": left}
