"""The optimal window for every number of tokens, for the affine law and ReLU.

critical   from slopes of noise and bias, for the affine law
losses     from the loss at two places, for ReLU

A proof begins with that of a window theorem, which the registry knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ..kernel.form import FALLING, Fact, Malformed, Proof, Rule, Sentence, exact, shown
from ..kernel.registry import KINDS, register
from .critical import every, far, few, monotone, near, reached
from .losses import joined, levels, near_zero

WINDOW = KINDS["window"]
LEMMAS: dict[str, tuple[Rule, ...]] = {
    "affine": (monotone, reached, far, near, few, every),
    "relu": (monotone, levels, near_zero, few, joined),
}
"""The lemmas after those about the window, by the law."""


def chain(proof: Proof) -> list[tuple[Rule, int]]:
    """Those of the window, for the affine law with one stage, where lemma 7.3 begins; and those of the law."""
    law = proof.about["law"]
    window = WINDOW.chain(replace(proof, theorem="window"))
    return [step for step in window if step[1] < 2 or law == "relu"] + [(rule, 0) for rule in LEMMAS[law]]


def about(stated: Mapping[str, Any]) -> dict[str, Any]:
    subject = WINDOW.about(stated)
    if subject["law"] not in LEMMAS:
        raise Malformed(f"law {subject['law']!r}: with few tokens w* is known for the affine law and ReLU")
    return subject


def sentence(proof: Proof) -> Sentence:
    """What the last lemma says, with M and V of the lemma that has k and rho."""
    law, d = proof.about["law"], proof.about["d"]
    affine = law == "affine"
    (window,) = (lemma.constants for lemma in proof.lemmas if lemma.name == "window")
    last, scales = proof.constants(LEMMAS[law][-1]), proof.constants(reached if affine else levels)
    whole = Fraction(d - 1, 2) + (2 if affine else Fraction(3, 2))
    words = {**scales, **last, "K": window["K"], "whole": whole, "power": whole - 1}
    signal = f"L <= {'' if scales['rho'] == 1 else shown(scales['rho']) + ' '}sigma or W <= V"
    text = (
        "{law}, d = {d}: over all real w the loss has a least value, and every w* that attains it has {least_ratio} M "
        "<= w* <= {largest_ratio} M, M = min(Lambda / {unit}, {k} W), W = Lambda^(1/{whole}), Lambda = n L^2 / "
        "sigma^2, for all n >= 2 and all L, sigma > 0 with {signal}, V = (n / {K})^(1/{power}){falls}; for all n >= 2 "
        "and all L, sigma > 0 every w* that attains a least value is at least {least} min(M, {k} V), and at least "
        "every w* for the same n and less L / sigma; at n = 1 the loss is the same at all w"
    ).format(
        **{name: shown(value) for name, value in words.items()}, law=law, d=d, signal=signal,
        unit=(3 if affine else 6) * d, falls=", where the bias falls from w = 0 to w*" * affine,
    )  # fmt: skip
    about = f"law = {law}", f"d = {d}", "L > 0", "sigma > 0", "n >= 2"
    low, high = last["least_ratio"], last["largest_ratio"]
    found = {
        "window": Fact("w^* / M", low, high, "w* lies between two multiples of M"),
        "least": exact("c_1", low, "w* is at least c_1 M"),
        "largest": exact("c_2", high, "w* is at most c_2 M"),
        "any": exact("c", last["least"], "w* is at least c min(M, k V), whatever L / sigma", about),
    }
    if affine:
        found["falling"] = exact(FALLING, 1, "the bias falls from w = 0 to w*")
    return Sentence(text, found, (*about, signal))


register(
    replace(
        WINDOW,
        chain=chain,
        about=about,
        sentence=sentence,
        chosen={**WINDOW.chosen, reached: ("rho", "k", "reach"), levels: ("rho", "k", "reach", "first")},
    ),
    "every n",
)
