"""What theorems about windows say: their sentences, the numbers in them, and the conditions under which they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from ..kernel.form import Fact, Proof, Rule, exact, number, shown
from ..kernel.tokens import laplace, moments, noise, tilt
from .laws import LAWS, domain, family, own_constant, written
from .windows import THEOREMS, limit, tradeoff, transfer, window


def statement(proof: Proof) -> str:
    law, d = proof.about["law"], proof.about["d"]
    words = {
        **{name: shown(power) for name, power in powers(proof).items()},
        "free": "n and all sigma > 0" if own_constant(law) else "n and all L, sigma > 0",
        "best": f"{domain(law)} the loss has a least value",
        **dict(zip(("signal", "tokens"), ranges(proof)[-2:], strict=True)),
    }
    return f"{written(law)}, d = {d}: {SENTENCES[proof.theorem].text(proof, words)}"


def facts(proof: Proof) -> dict[str, Fact]:
    return SENTENCES[proof.theorem].facts(proof)


def ranges(proof: Proof) -> tuple[str, ...]:
    """The law, d, L and sigma, where w* is sought, and what each theorem needs besides: the last two end a sentence."""
    sought = domain(proof.about["law"]).removeprefix("over ")
    where = (sought,) if window in THEOREMS[proof.theorem] and sought != "all real w" else ()
    return (*subject(proof), *where, *SENTENCES[proof.theorem].ranges(proof))


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
    about, (w, tokens), power = subject(proof), envelope_ranges(proof), powers(proof)
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


class Sentence(NamedTuple):
    """What a theorem says: its sentence, the numbers in it, and the conditions beside those on law, d, L and sigma."""

    text: Callable[[Proof, Mapping[str, str]], str]
    facts: Callable[[Proof], dict[str, Fact]]
    ranges: Callable[[Proof], tuple[str, ...]]


SENTENCES = {
    "envelope": Sentence(of_envelope, envelope_facts, envelope_ranges),
    "window": Sentence(of_window, window_facts, window_ranges),
    "transfer": Sentence(of_transfer, transfer_facts, transfer_ranges),
    "tradeoff": Sentence(of_tradeoff, tradeoff_facts, tradeoff_ranges),
}
