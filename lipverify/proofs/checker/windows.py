r"""The optimal window for every n: envelopes of noise and bias, and where w* lies between multiples of Lambda^e.

What is proved. Tokens x_1..x_n and the query x are uniform on the sphere of R^d, t_i = <x_i, x>, h_i = 1 - t_i,
g_i = e^{-w h_i}, attention a_i = g_i / (g_1 + ... + g_n), the loss is noise N = sigma^2 E sum a_i^2 plus bias
B = E (sum a_i (f(x_i) - f(x)))^2. With a = (d-1)/2, beta = 2 for smooth laws, 3/2 with kinks,
1/2 with jumps, W = Lambda^{1/(a + beta)} and Lambda = n L^2 / sigma^2, every w* that minimises N + B satisfies low W <
w* < high W.

How to read it. A proof is a chain of lemmas, each a function: its docstring is what it says, for which w and n, and
why; its body is what is left to certify by balls (Arb): constants of the file that must be at least, or at most, a
ball, and conditions that must hold. `tokens` is about attention alone; `laws` says which lemmas about the bias a law
needs, those of `harmonics`, `kink` or `variogram`; here is what follows from noise and bias between explicit functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from flint import arb

from .chain import Ball, Bounds, Conditions, Kind, Known, Proof, Rule, least, most
from .harmonics import smooth
from .kink import gaussian_integrals
from .laws import LAWS, family, own_constant, start, wrong
from .tokens import laplace, moment_limit, tilt
from .variogram import POWERS, leading_bias


def window(k: Known) -> tuple[Bounds, Conditions]:
    """For W >= W_least, n >= K W^{a+max(beta,1)-1}: low W < w* < high W, and loss_low < W^beta loss(w*) <= loss_high.

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
        "T_least <= K W_least^(max(beta,1)-1) end^-a / R_high": k["T_least"]
        <= k["K"] * W ** (beta.max(arb(1)) - 1) * k["end"] ** -a / k["R_high"],
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
        "rho > 1": rho > 1,
        "T >= T_least": k["T_least"] * k["R_high"] <= k["K"] * (rho * u) ** (beta.max(arb(1)) - 1),
    }


def limit(k: Known) -> tuple[Bounds, Conditions]:
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


CHOSEN: dict[Rule, tuple[str, ...]] = {
    laplace: ("T_least",),
    tilt: ("u", "g_low", "g_high"),
    window: ("W_least", "K", "at", "low", "high", "end"),
    transfer: ("rho",),
    tradeoff: ("rho", "K"),
}
SIGNED = (
    *("g_low", "g_high", "S2", "b_plus", "b_next", "s"),
    *(f"{name}_{side}" for name in ("A", *(f"c{j}" for j in POWERS)) for side in ("low", "high")),
)
"""The constants that need not be positive."""
THEOREMS: dict[str, tuple[Rule, ...]] = {
    "envelope": (),
    "window": (window, limit),
    "transfer": (window, limit, transfer),
    "tradeoff": (tradeoff,),
}
"""The lemmas that follow the envelopes: none, where N and B between explicit functions is all that is proved."""


def chain(theorem: str, law: str, stages: int) -> list[tuple[Rule, int]]:
    """The lemmas of a proof in order, each with its stage: 0 if it holds throughout, i if from the i-th u on."""
    kind = LAWS[family(law)]
    head = [(rule, 0) for rule in (kind.about, laplace) if rule is not None]
    tail = [(rule, 0) for rule in THEOREMS[theorem]]
    return head + [(rule, i + 1) for i in range(stages) for rule in kind.envelope] + tail


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


def chain_of(proof: Proof) -> list[tuple[Rule, int]]:
    """The lemmas that a proof must have, with as many stages as it says."""
    return chain(proof["theorem"], proof["law"], max(1, sum(lemma["name"] == "tilt" for lemma in proof["lemmas"])))


def statement(proof: Proof) -> str:
    """The theorem of a proof, from its constants."""
    law, d, a, beta = proof["law"], proof["d"], (proof["d"] - 1) / 2, float(LAWS[family(proof["law"])].beta)
    k = {name: text for lemma in proof["lemmas"] for name, text in lemma["constants"].items()}
    u = next(lemma["constants"]["u"] for lemma in proof["lemmas"] if lemma["name"] == "tilt")
    L, stated, spread = own_constant(law), law.partition(":")[2], f"{a + beta - 1:g}"
    more = f" of L = {L}" if L else f" {LAWS[family(law)].says}".format(stated) if LAWS[family(law)].says else ""
    which, free = f"{family(law)}{more}, d = {d}: ", "n, sigma" if L else "n, L, sigma"
    beside, power = f" + {k['b_next']} / w^{2 - beta:g}" if "b_next" in k else "", f"{a + max(beta, 1) - 1:g}"
    W = f"(n L^2 / sigma^2)^(1/{a + beta:g})"
    if proof["theorem"] == "envelope":
        return which + (
            f"{k['c_low']} <= n N / (sigma^2 w^{a:g}) <= {k['c_high']} and {k['b_low']} <= w^{beta:g} B / L^2 <= "
            f"{k['b_high']}{beside} + {k['s']} w^{spread} / n, for all w >= {u} and n >= {k['T_least']} * "
            f"{k['R_high']} w^{a:g}"
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
