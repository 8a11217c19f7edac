r"""The optimal window for every n: envelopes of noise and bias, and where w* lies between multiples of Lambda^e.

The theorem. Tokens x_1..x_n and the query x are uniform on the sphere of R^d, t_i = <x_i, x>, h_i = 1 - t_i,
g_i = e^{-w h_i}, attention a_i = g_i / (g_1 + ... + g_n), the loss is noise N = sigma^2 E sum a_i^2 plus bias
B = E (sum a_i (f(x_i) - f(x)))^2. With a = (d-1)/2, beta = 2 for smooth laws, 3/2 with kinks,
1/2 with jumps, W = Lambda^{1/(a + beta)} and Lambda = n L^2 / sigma^2, every w* that minimises N + B satisfies low W <
w* < high W.

How to read it. A proof is a chain of lemmas, each a function. Its docstring is the statement, the range of w and n, and
the reason; its body certifies the rest by balls (Arb): constants of the file that must be at least, or at most, a
ball, and conditions that must hold. `tokens` is about attention; `laws` lists the lemmas about the bias that a law
needs, of `harmonics`, `kink` or `variogram`; this file derives the theorems from bounds of noise and bias.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from flint import arb

from .chain import FALLING, Ball, Fact, Facts, Kind, Known, Obligations, Proof, Rule, exact, least, most, number, shown
from .every import every, far, few, monotone, near, reached, unit
from .harmonics import smooth
from .kink import gaussian_integrals
from .laws import LAWS, about, domain, family, own_constant, start, written
from .levels import joined, levels, near_zero
from .tokens import laplace, moment_limit, moments, noise, tilt
from .variogram import POWERS, leading_bias


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


EVERY = (window, limit, monotone, reached, far, near, few, every)
THEOREMS: dict[str, tuple[Rule, ...]] = {
    "envelope": (),
    "window": (window, limit),
    "transfer": (window, limit, transfer),
    "tradeoff": (tradeoff,),
    "every n": EVERY,
}
"""The lemmas that follow the envelopes: none, where N and B between explicit functions is all that is proved."""
BY_LEVELS = (window, limit, monotone, levels, near_zero, few, joined)
"""The same of ReLU with every number of tokens."""


def chain(proof: Proof) -> list[tuple[Rule, int]]:
    """The lemmas of a proof in order, each with its stage: 0 if it holds throughout, i if from the i-th u on.

    A window rests on as many stages as there are; every other statement is about the w of one stage, and has one; so
    has that about every n for the affine law, in which `far` begins where that stage does.
    """
    kind = LAWS[family(proof.about["law"])]
    rules = THEOREMS[proof.theorem]
    if every in rules and proof.about["law"] == "relu":
        rules = BY_LEVELS
    many = window in rules and every not in rules
    stages = max(1, sum(lemma.name == "tilt" for lemma in proof.lemmas)) if many else 1
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


def statement(proof: Proof) -> str:
    law, d = proof.about["law"], proof.about["d"]
    words = {
        **{name: shown(power) for name, power in powers(proof).items()},
        "free": "n and all sigma > 0" if own_constant(law) else "n and all L, sigma > 0",
        "best": f"{domain(law)} the loss has a least value",
        **dict(zip(("signal", "tokens"), ranges(proof)[-2:], strict=True)),
    }
    return f"{written(law)}, d = {d}: {THEOREMS_SAY[proof.theorem].sentence(proof, words)}"


def facts(proof: Proof) -> dict[str, Fact]:
    return THEOREMS_SAY[proof.theorem].facts(proof)


def ranges(proof: Proof) -> tuple[str, ...]:
    """The law, d, L and sigma, and what each theorem needs besides; the last two are said at the end of a sentence."""
    law = proof.about["law"]
    L = f"L = {shown(number(own_constant(law)))}" if own_constant(law) else "L > 0"
    about = f"law = {written(law)}", f"d = {proof.about['d']}", L, "sigma > 0"
    return (*about, *THEOREMS_SAY[proof.theorem].ranges(proof))


def powers(proof: Proof) -> dict[str, Fraction]:
    """a, beta, a + max(beta, 1) - 1 and a + beta."""
    a, beta = Fraction(proof.about["d"] - 1, 2), Fraction(LAWS[family(proof.about["law"])].beta)
    return {"a": a, "beta": beta, "power": a + max(beta, Fraction(1)) - 1, "whole": a + beta}


def of(proof: Proof, rule: Rule, stage: int = 0) -> dict[str, str]:
    """The constants of one lemma as they are printed."""
    return {name: shown(value) for name, value in proof.constants(rule, stage).items()}


def window_ranges(proof: Proof, W: str = "W") -> tuple[str, ...]:
    k = of(proof, window)
    return f"{W} >= {k['W_least']}", f"n >= {k['K']} {W}^{shown(powers(proof)['power'])}"


def of_window(proof: Proof, words: Mapping[str, str]) -> str:
    k = {**words, **of(proof, window), **of(proof, limit)}
    grow = f"as W and n / W^{words['power']} grow"
    return (
        "{best}, and every w* that attains it has {low} W < w* < {high} W and {loss_low} <= loss(w*) W^{beta} / L^2 "
        "<= {loss_high}, W = (n L^2 / sigma^2)^(1/{whole}), for all {free} with {signal} and {tokens}; "
        + grow
        + ", w* / W tends to a number between {limit_low} and {limit_high}; "
    ).format(**k) + of_envelope(proof, words)


def window_facts(proof: Proof) -> dict[str, Fact]:
    """The multiples of W, what they tend to, and the exact exponents that follow from bounds by two multiples."""
    k, far, power = proof.constants(window), proof.constants(limit), powers(proof)
    e, beta = 1 / power["whole"], shown(power["beta"])
    scales = {} if own_constant(proof.about["law"]) else {"window exponent in L": exponent("w^*", "L", 2 * e)}
    w, loss = "w^*", r"\mathcal{L}(w^*)"
    return {
        "window": Fact(f"{w} / W", k["low"], k["high"], "w* lies between two multiples of W"),
        "loss": Fact(
            f"{loss} W^{{{beta}}} / L^2", k["loss_low"], k["loss_high"],
            f"the loss at w* lies between two multiples of L^2 / W^{beta}",
        ),
        "limit": Fact(rf"\lim {w} / W", far["limit_low"], far["limit_high"], "w* / W tends to a number in between"),
        "width": exact("k_2 / k_1 - 1", k["high"] / k["low"] - 1, "the quotient of the two multiples of W, less 1"),
        "window exponent": exponent(w, r"\Lambda", e),
        "window exponent in n": exponent(w, "n", e),
        "loss exponent": exponent(loss, r"\Lambda", -e * power["beta"]),
        "loss exponent in n": exponent(loss, "n", -e * power["beta"]),
        **scales,
        **envelope_facts(proof),
    }  # fmt: skip


def exponent(quantity: str, of: str, power: Fraction, ranges: tuple[str, ...] = ()) -> Fact:
    """An exponent of what two multiples of one power enclose."""
    says = f"it lies between two multiples of the power {shown(power)}"
    return exact(rf"\text{{exponent of }} {quantity} \text{{ in }} {of}", power, says, ranges)


def of_transfer(proof: Proof, words: Mapping[str, str]) -> str:
    k = {**words, **of(proof, window), **of(proof, transfer)}
    k |= dict(zip(("signal", "tokens"), window_ranges(proof), strict=True))
    return (
        "{best}, and {worse_low} <= loss'(w*(L)) / loss'(w*(L')) <= {worse_high} for all w* that attain it and the "
        "loss' of L' = {rho} L, W = (n L^2 / sigma^2)^(1/{whole}), for all {free} where {signal} and {tokens}, for L "
        "and for L' alike"
    ).format(**k)


def transfer_facts(proof: Proof) -> dict[str, Fact]:
    k = proof.constants(transfer)
    return {
        "cost": Fact(
            r"\mathcal{L}'(w^*(L)) / \mathcal{L}'(w^*(L'))", max(k["worse_low"], Fraction(1)), k["worse_high"],
            "the loss' of the w* of L over that of the w* of L', which is the least",
        )
    }  # fmt: skip


def transfer_ranges(proof: Proof) -> tuple[str, ...]:
    """Those of L and of L', whose W is W'."""
    return f"L' = {of(proof, transfer)['rho']} L", *window_ranges(proof), *window_ranges(proof, "W'")


def envelope_ranges(proof: Proof) -> tuple[str, ...]:
    tokens = proof.constants(laplace)["T_least"] * proof.constants(moments, 1)["R_high"]
    return f"w >= {of(proof, tilt, 1)['u']}", f"n >= {shown(tokens)} w^{shown(powers(proof)['a'])}"


def of_envelope(proof: Proof, words: Mapping[str, str]) -> str:
    bias = LAWS[family(proof.about["law"])].bias[-1]
    k = {**words, **of(proof, noise, 1), **of(proof, bias, 1)}
    k |= dict(zip(("signal", "tokens"), envelope_ranges(proof), strict=True))
    power = powers(proof)
    second = f" + {k['b_next']} / w^{shown(2 - power['beta'])}" if "b_next" in k else ""
    return (
        "{c_low} <= n N / (sigma^2 w^{a}) <= {c_high} and {b_low} <= w^{beta} B / L^2 <= {b_high}"
        + second
        + f" + {{s}} w^{shown(power['whole'] - 1)} / n, for all {{signal}} and all {{tokens}}"
    ).format(**k)


def envelope_facts(proof: Proof) -> dict[str, Fact]:
    """The exponents of N and of B: the last two terms of B are no more than a multiple of the first in this range."""
    about, (w, tokens), power = ranges(proof)[:4], envelope_ranges(proof), powers(proof)
    many = () if power["power"] == power["a"] else (f"n >= w^{shown(power['power'])}",)
    return {
        "noise exponent": exponent("N", "w", power["a"], (*about, w, tokens)),
        "bias exponent": exponent("B", "w", -power["beta"], (*about, w, tokens, *many)),
    }


def of_tradeoff(proof: Proof, words: Mapping[str, str]) -> str:
    return (
        "{rise_low} <= N(rho w) / N(w) <= {rise_high} and {fall_low} <= B(rho w) / B(w) <= {fall_high}, rho = {rho}, "
        "for all {signal} and all {tokens}"
    ).format(**words, **of(proof, tradeoff))


def tradeoff_facts(proof: Proof) -> dict[str, Fact]:
    k = proof.constants(tradeoff)
    rho = shown(k["rho"])
    return {
        "noise": Fact(f"N({rho} w) / N(w)", k["rise_low"], k["rise_high"], "N rises by a factor in between"),
        "bias": Fact(f"B({rho} w) / B(w)", k["fall_low"], k["fall_high"], "B falls by a factor in between"),
    }


def tradeoff_ranges(proof: Proof) -> tuple[str, ...]:
    k, power = of(proof, tradeoff), shown(powers(proof)["power"])
    return f"rho = {k['rho']}", f"w >= {of(proof, tilt, 1)['u']}", f"n >= {k['K']} (rho w)^{power}"


def ends(proof: Proof) -> tuple[Rule, Rule]:
    """The lemmas with M and with its multiples: of every number of tokens, for ReLU and for the affine law."""
    return (levels, joined) if proof.about["law"] == "relu" else (reached, every)


def of_every(proof: Proof, words: Mapping[str, str]) -> str:
    """What `every` says, of M as `reached` has it, or `joined`, of M as `levels` has it."""
    first, last = ends(proof)
    k = {**words, **of(proof, first), **of(proof, last), "K": of(proof, window)["K"]}
    k["unit"] = str(unit(start(proof.about["law"], proof.about["d"])).unique_fmpz())  # 3d or 6d
    k["falls"] = ", where the bias falls from w = 0 to w*" if last is every else ""
    return (
        "{best}, and every w* that attains it has {least_ratio} M <= w* <= {largest_ratio} M, M = min(Lambda / "
        "{unit}, {k} W), W = Lambda^(1/{whole}), Lambda = n L^2 / sigma^2, for all {signal} and all L, sigma > 0 with "
        "{tokens}, V = (n / {K})^(1/{power}){falls}; for all {signal} "
        "and all L, sigma > 0 every w* that attains a least value is at least {least} min(M, {k} V), and at least "
        "every w* for the same n and less L / sigma; at n = 1 the loss is the same at all w"
    ).format(**k)


def every_facts(proof: Proof) -> dict[str, Fact]:
    k = proof.constants(ends(proof)[1])
    all_signals = ranges(proof)[:-1]
    found = {
        "window": Fact("w^* / M", k["least_ratio"], k["largest_ratio"], "w* lies between two multiples of M"),
        "least": exact("c_1", k["least_ratio"], "w* is at least c_1 M"),
        "largest": exact("c_2", k["largest_ratio"], "w* is at most c_2 M"),
        "any": exact("c", k["least"], "w* is at least c min(M, k V), whatever L / sigma", all_signals),
    }
    if ends(proof)[1] is every:
        found["falling"] = exact(FALLING, 1, "the bias falls from w = 0 to w*")
    return found


def every_ranges(proof: Proof) -> tuple[str, ...]:
    rho = proof.constants(ends(proof)[0])["rho"]
    return "n >= 2", f"L <= {'' if rho == 1 else f'{shown(rho)} '}sigma or W <= V"


class Says(NamedTuple):
    """What a theorem says: its sentence, the numbers in it, and the conditions beside those on law, d, L and sigma."""

    sentence: Callable[[Proof, Mapping[str, str]], str]
    facts: Callable[[Proof], dict[str, Fact]]
    ranges: Callable[[Proof], tuple[str, ...]]


THEOREMS_SAY = {
    "envelope": Says(of_envelope, envelope_facts, envelope_ranges),
    "window": Says(of_window, window_facts, window_ranges),
    "transfer": Says(of_transfer, transfer_facts, transfer_ranges),
    "tradeoff": Says(of_tradeoff, tradeoff_facts, tradeoff_ranges),
    "every n": Says(of_every, every_facts, every_ranges),
}


KIND = Kind(
    chain=chain,
    about=about,
    given=lambda about: start(about["law"], about["d"]),
    statement=statement,
    facts=facts,
    ranges=ranges,
    chosen={
        laplace: ("T_least",),
        tilt: ("u", "g_low", "g_high"),
        window: ("W_least", "K", "at", "low", "high", "end"),
        transfer: ("rho",),
        tradeoff: ("rho", "K"),
        reached: ("rho", "k", "reach"),
        levels: ("rho", "k", "reach", "first"),
    },
    keys=("law", "d"),
    gathered=gathered,
    signed=(
        *("g_low", "g_high", "S2", "b_plus", "b_next", "s"),
        *(f"{name}_{side}" for name in ("A", *(f"c{j}" for j in POWERS)) for side in ("low", "high")),
    ),
)
