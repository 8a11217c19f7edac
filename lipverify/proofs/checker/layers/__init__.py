"""Linear transformers for every size: Theorems 4.2, 5.1 and 5.2 of the second paper, with constants.

counts   the number of layers of Theorem 5.1
cosine   the cosine of Theorem 4.2
ridge    the distance from ridge regression of Theorem 5.2
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flint import arb

from ..kernel.form import Fact, Kind, Malformed, Proof, Rule, Sentence, ball, exact, exactly, number, shown, size
from ..kernel.registry import register
from .cosine import attained, majorant, remainder
from .counts import far, layers, near, squares
from .ridge import covariance, fluctuation, rate

THEOREMS: dict[str, tuple[Rule, ...]] = {
    "layers": (far, near, squares, layers),
    "cosine": (majorant, remainder, attained),
    "ridge": (fluctuation, covariance, rate),
}


def about(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Nothing more, or for ridge two levels of noise, the one of the prompts, d, the least n, and what acts first."""
    names = ("sigma_1", "sigma_2", "level", "d", "n", "first") if stated["theorem"] == "ridge" else ()
    k = exactly("given", stated["given"], names)
    if not k:
        return {}
    if k["first"] not in ("yx", "yy"):
        raise Malformed(f"first = {repr(k['first'])[:60]}: yx or yy")
    levels = {name: number(k[name]) for name in ("sigma_1", "sigma_2")}
    if min(levels.values()) < 0:
        raise Malformed(f"sigma = {k['sigma_1']}, {k['sigma_2']}: both are >= 0")
    whole = {"level": size("level", k["level"], 1, 2), "d": size("d", k["d"], 1), "n": size("n", k["n"], 1, 10**40)}
    return {**levels, **whole, "first": k["first"]}


def given(about: Mapping[str, Any]) -> dict[str, Any]:
    """The same as balls, with the weights of the theorem."""
    if not about:
        return {}
    s_1, s_2 = (ball(about[name]) ** 2 for name in ("sigma_1", "sigma_2"))
    weights = {"c": (1 + s_1 + s_2) / ((1 + s_1) * (1 + s_2)), "v": -1 / (1 + s_1 + s_2)}
    sizes = {name: arb(about[name]) for name in ("d", "n")}
    return {**sizes, **weights, "s": s_1 if about["level"] == 1 else s_2, "first": about["first"]}


def sentence(proof: Proof) -> Sentence:
    if proof.theorem == "layers":
        C, many = proof.constants(layers)["C"], "log(kappa) / log(27/4) + log_2 log(1/epsilon) +"
        text = f"at most {many} {shown(C)} layers reach epsilon, for all kappa >= 1 and 0 < epsilon <= 1/2"
        return Sentence(text, {"C": exact("C", C, f"{many} C layers are enough")}, ("kappa >= 1", "0 < epsilon <= 1/2"))
    if proof.theorem == "cosine":
        low, offset = proof.constants(attained)["low"], proof.constants(remainder)["offset"]
        says = "n E cos^2 is at most d + the larger one, and tends to d + the smaller one or more"
        return Sentence(
            f"n E cos^2 <= d + {shown(offset)} for all n >= 1 and d >= 1, and as n grows its limit is at least d + "
            f"{shown(low)} for every d",
            {"excess": Fact(r"\sup_n n \mathbb{E} \cos^2 - d", low, offset, says)},
            ("n >= 1", "d >= 1"),
        )
    K, k = proof.constants(rate)["K"], {name: shown(value) for name, value in proof.about.items() if name != "first"}
    first, (*about, n) = proof.about["first"], k.items()
    return Sentence(
        f"E |w - w_ridge|^2 / d <= {shown(K)} / n at sigma_{k['level']} of ({k['sigma_1']}, {k['sigma_2']}), "
        f"d = {k['d']}, {first} first, for all n >= {k['n']}",
        {"K": exact("K", K, "E |w - w_ridge|^2 / d is at most K / n")},
        (*(f"{name} = {value}" for name, value in about), f"first = {first}", f"n >= {n[1]}"),
    )


KIND = Kind(
    chain=lambda proof: [(rule, 0) for rule in THEOREMS[proof.theorem]],
    about=about,
    given=given,
    sentence=sentence,
    chosen={far: ("F",), near: ("slope",), majorant: ("C",)},
)
register(KIND, *THEOREMS)
