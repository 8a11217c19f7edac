"""What theorems about windows say: their sentences, the numbers in them, and the conditions under which they hold."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ..kernel.form import Fact, Proof, Rule, Sentence, exact, number, shown
from ..kernel.tokens import laplace, moments, noise, tilt
from .laws import LAWS, domain, family, own_constant, written
from .windows import limit, tradeoff, transfer, window


def sentence(proof: Proof) -> Sentence:
    """What a theorem says, with the law, d, L and sigma, and where w* is sought."""
    law, sought = proof.about["law"], domain(proof.about["law"])
    words = {
        **{name: shown(power) for name, power in powers(proof).items()},
        "free": "n and all sigma > 0" if own_constant(law) else "n and all L, sigma > 0",
        "best": f"{sought} the loss has a least value",
    }
    said = SENTENCES[proof.theorem](proof, words)
    where = ("w >= 0",) if proof.theorem in ("window", "transfer") and sought == "over w >= 0" else ()
    text = f"{written(law)}, d = {proof.about['d']}: {said.text}"
    return Sentence(text, said.facts, (*subject(proof), *where, *said.ranges))


def subject(proof: Proof) -> tuple[str, ...]:
    law = proof.about["law"]
    L = f"L = {shown(number(own_constant(law)))}" if own_constant(law) else "L > 0"
    return f"law = {written(law)}", f"d = {proof.about['d']}", L, "sigma > 0"


def powers(proof: Proof) -> dict[str, Fraction]:
    """a, beta, a + max(beta, 1) - 1 and a + beta."""
    a, beta = Fraction(proof.about["d"] - 1, 2), Fraction(LAWS[family(proof.about["law"])].beta)
    return {"a": a, "beta": beta, "power": a + max(beta, Fraction(1)) - 1, "whole": a + beta}


def of(proof: Proof, rule: Rule, stage: int = 0) -> dict[str, str]:
    """The constants of one lemma as they are printed."""
    return {name: shown(value) for name, value in proof.constants(rule, stage).items()}


def many(proof: Proof, W: str = "W") -> tuple[str, str]:
    """The least W, and the least n."""
    k = of(proof, window)
    return f"{W} >= {k['W_least']}", f"n >= {k['K']} {W}^{shown(powers(proof)['power'])}"


def of_window(proof: Proof, words: Mapping[str, str]) -> Sentence:
    """The multiples of W, what they tend to, and the exact exponents that follow from bounds by two multiples."""
    k, far, power, envelope = proof.constants(window), proof.constants(limit), powers(proof), of_envelope(proof, words)
    e, beta, w, loss = 1 / power["whole"], words["beta"], "w^*", r"\mathcal{L}(w^*)"
    text = (
        "{best}, and every w* that attains it has {low} W < w* < {high} W and {loss_low} <= loss(w*) W^{beta} / L^2 "
        "<= {loss_high}, W = (n L^2 / sigma^2)^(1/{whole}), for all {free} with {} and {}; as W and n / W^{power} "
        "grow, w* / W tends to a number between {limit_low} and {limit_high}; "
    ).format(*many(proof), **{**words, **of(proof, window), **of(proof, limit)})
    two = f"the loss at w* lies between two multiples of L^2 / W^{beta}"
    scales = {} if own_constant(proof.about["law"]) else {"window exponent in L": exponent(w, "L", 2 * e)}
    facts = {
        "window": Fact(f"{w} / W", k["low"], k["high"], "w* lies between two multiples of W"),
        "loss": Fact(f"{loss} W^{{{beta}}} / L^2", k["loss_low"], k["loss_high"], two),
        "limit": Fact(rf"\lim {w} / W", far["limit_low"], far["limit_high"], "w* / W tends to a number in between"),
        "width": exact("k_2 / k_1 - 1", k["high"] / k["low"] - 1, "the quotient of the two multiples of W, less 1"),
        "window exponent": exponent(w, r"\Lambda", e),
        "window exponent in n": exponent(w, "n", e),
        "loss exponent": exponent(f"{loss} / L^2", r"\Lambda", -e * power["beta"]),
        "loss exponent in n": exponent(loss, "n", -e * power["beta"]),
    }
    return Sentence(text + envelope.text, {**facts, **scales, **envelope.facts}, many(proof))


def exponent(quantity: str, of: str, power: Fraction, ranges: tuple[str, ...] = ()) -> Fact:
    """An exponent of what two multiples of one power enclose."""
    says = f"it lies between two multiples of the power {shown(power)}"
    return exact(rf"\text{{limit exponent of }} {quantity} \text{{ in }} {of}", power, says, ranges)


def of_transfer(proof: Proof, words: Mapping[str, str]) -> Sentence:
    """The ranges are those of L and of L', whose W is W'."""
    k = proof.constants(transfer)
    text = (
        "{best}, and {worse_low} <= loss'(w*(L)) / loss'(w*(L')) <= {worse_high} for all w* that attain it and the "
        "loss' of L' = {rho} L, W = (n L^2 / sigma^2)^(1/{whole}), for all {free} where {} and {}, for L and for L' "
        "alike"
    ).format(*many(proof), **{**words, **of(proof, transfer)})
    quotient = r"\mathcal{L}'(w^*(L)) / \mathcal{L}'(w^*(L'))"
    says = "the loss' of the w* of L over that of the w* of L', which is the least"
    cost = Fact(quotient, max(k["worse_low"], Fraction(1)), k["worse_high"], says)
    return Sentence(text, {"cost": cost}, (f"L' = {shown(k['rho'])} L", *many(proof), *many(proof, "W'")))


def of_envelope(proof: Proof, words: Mapping[str, str]) -> Sentence:
    """The exponents of N and of B: the last two terms of B are no more than a multiple of the first in this range."""
    least = shown(proof.constants(laplace)["T_least"] * proof.constants(moments, 1)["R_high"])
    ranges = f"w >= {of(proof, tilt, 1)['u']}", f"n >= {least} w^{words['a']}"
    k, power = of(proof, LAWS[family(proof.about["law"])].bias[-1], 1), powers(proof)
    second = f" + {k['b_next']} / w^{shown(2 - power['beta'])}" if "b_next" in k else ""
    text = (
        "{c_low} <= n N / (sigma^2 w^{a}) <= {c_high} and {b_low} <= w^{beta} B / L^2 <= {b_high}{second} + {s} "
        "w^{last} / n, for all {} and all {}"
    ).format(*ranges, **{**words, **of(proof, noise, 1), **k}, second=second, last=shown(power["whole"] - 1))
    about, more = (*subject(proof), *ranges), () if words["power"] == words["a"] else (f"n >= w^{words['power']}",)
    facts = {
        "noise exponent": exponent(r"n N / \sigma^2", "w", power["a"], about),
        "bias exponent": exponent("B / L^2", "w", -power["beta"], (*about, *more)),
    }
    return Sentence(text, facts, ranges)


def of_tradeoff(proof: Proof, words: Mapping[str, str]) -> Sentence:
    k, printed = proof.constants(tradeoff), of(proof, tradeoff)
    rho, ranges = printed["rho"], (f"w >= {of(proof, tilt, 1)['u']}", f"n >= {printed['K']} (rho w)^{words['power']}")
    text = (
        "{rise_low} <= N(rho w) / N(w) <= {rise_high} and {fall_low} <= B(rho w) / B(w) <= {fall_high}, rho = {rho}, "
        "for all {} and all {}"
    ).format(*ranges, **printed)
    facts = {
        "noise": Fact(f"N({rho} w) / N(w)", k["rise_low"], k["rise_high"], "N rises by a factor in between"),
        "bias": Fact(f"B({rho} w) / B(w)", k["fall_low"], k["fall_high"], "B falls by a factor in between"),
    }
    return Sentence(text, facts, (f"rho = {rho}", *ranges))


SENTENCES = {"envelope": of_envelope, "window": of_window, "transfer": of_transfer, "tradeoff": of_tradeoff}
