"""The laws that a theorem can be about, by the names under which proof files know them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from ..kernel.form import Ball, Malformed, Rule, ball, law_and_numbers, number, shown, size
from ..kernel.harmonics import WEIGHT, projected, smooth, smooth_bias, waves
from ..kernel.kink import kink, kink_bias
from ..kernel.tokens import moments, noise, scale, tilt
from .roughness import jumps, kinks, matern, read, rough
from .variogram import distances, variogram_bias

Numbers = list[Fraction]


@dataclass(frozen=True)
class Family:
    """What the checker knows of the laws of one name."""

    about: Rule | None
    """The lemma about the law itself, if there is one."""
    bias: tuple[Rule, ...]
    """The lemmas about its bias, from each u on."""
    beta: str
    """B ~ w^-beta."""
    says: str = ""
    """What the numbers after its name are, where it scales with a factor L of f."""
    rule: str = "nothing"
    """What those numbers must be,"""
    allowed: Callable[[Any], bool] = lambda numbers: not numbers
    """and whether they are."""
    own: Callable[[Any, Ball], dict[str, Any]] = lambda numbers, d: {}
    """The facts of the lemmas that these numbers, or pieces, give in dimension d."""
    rises: Callable[[Any], bool] = lambda _: False
    """Whether K(t) - K(-t) is known to rise in t, and not to be 0: then no w < 0 is best."""
    reads: Callable[[str], Any] = lambda law: law_and_numbers(law)[1]
    """What stands after the name, as numbers or as pieces."""

    @property
    def envelope(self) -> tuple[Rule, ...]:
        """All lemmas from each u on."""
        return (tilt, moments, scale, noise, *self.bias)


def weighted(weights: Mapping[int, Ball]) -> dict[str, Ball]:
    """The k_l by the names that the lemmas know."""
    return {f"{WEIGHT}{degree}": weight for degree, weight in weights.items()}


def of_powers(numbers: Numbers, _: Ball) -> dict[str, Ball]:
    """The derivatives at 1 of a kernel of powers."""
    one, two, three = (ball(sum((math.perm(j, i) * c for j, c in enumerate(numbers)), Fraction(0))) for i in (1, 2, 3))
    return {"K'": one, "K''": two, "K'''": three}


def of_gaussian(numbers: Numbers, _: Ball) -> dict[str, Ball]:
    """The derivatives at 1 of e^{(t-1)/l^2}, times the variance."""
    variance = numbers[1] if len(numbers) > 1 else Fraction(1)
    return {name: ball(variance * numbers[0] ** -power) for name, power in (("K'", 2), ("K''", 4), ("K'''", 6))}


def not_negative(numbers: Numbers) -> bool:
    """True for numbers >= 0 of which one beyond the first is not 0."""
    return any(numbers[1:]) and min(numbers) >= 0


def odd_is_linear(numbers: Numbers) -> bool:
    """True if of the degrees 1, 3, 5, ... the number of the first alone is not 0."""
    return any(numbers[1:2]) and not any(numbers[3::2])


def of_matern(nu: str) -> Family:
    return Family(
        matern,
        VARIED,
        {"0.5": "0.5", "1.5": "1.5", "2.5": "2"}[nu],
        f"of smoothness {nu} and (length, variance) = ({{}}), times L^2",
        "two positive numbers",
        lambda numbers: len(numbers) == 2 and min(numbers) > 0,
        lambda numbers, d: {"nu": arb(nu), "length": ball(numbers[0]), "variance": ball(numbers[1])},
        rises=lambda _: True,
    )


def of_rough(s: str) -> Family:
    says = f"with the variogram L^2 |x - x'|^{shown(2 * Fraction(s))}"
    return Family(rough, VARIED, s, says, rises=lambda _: True)


def of_pieces(about: Rule, beta: str) -> Family:
    return Family(
        about,
        VARIED,
        beta,
        "with L times the pieces ({})",
        allowed=lambda _: True,
        own=lambda pieces, _: {"pieces": pieces},
        reads=lambda law: read(law.partition(":")[2]),
    )


SMOOTH = (smooth, (smooth_bias,), "2")
KINKED = (None, (kink, kink_bias), "1.5")
VARIED = (distances, variogram_bias)
LAWS: dict[str, Family] = {
    "affine": Family(*SMOOTH, own=lambda numbers, d: {f"{WEIGHT}1": 1 / (3 * d)}, rises=lambda _: True),
    "quadratic": Family(*SMOOTH, own=lambda numbers, d: {f"{WEIGHT}2": 2 * (d - 1) / (d**2 * (d + 2))}),
    "cosine": Family(
        *SMOOTH,
        rule="one positive number",
        allowed=lambda numbers: len(numbers) == 1 and numbers[0] > 0,
        own=lambda numbers, d: waves(d, ball(numbers[0])),
    ),
    "zonal": Family(
        *SMOOTH,
        says="with the spectrum L^2 ({})",
        rule="numbers >= 0, one of them beyond the first > 0",
        allowed=not_negative,
        own=lambda numbers, d: weighted({degree: ball(each) for degree, each in enumerate(numbers) if degree and each}),
        rises=odd_is_linear,
    ),
    "link": Family(
        *SMOOTH,
        says="with L times the polynomial ({})",
        rule="numbers, one of them beyond the first not 0",
        allowed=lambda numbers: any(numbers[1:]),
        own=lambda numbers, d: weighted(projected(d, list(map(ball, numbers)))),
        rises=odd_is_linear,
    ),
    "powers": Family(
        *SMOOTH,
        says="with L^2 times the kernel of powers ({})",
        rule="numbers >= 0, one of them beyond the first > 0",
        allowed=not_negative,
        own=of_powers,
        rises=lambda numbers: any(numbers[1::2]),
    ),
    "rbf": Family(
        *SMOOTH,
        says="of length, or length and variance, ({}), times L^2",
        rule="a positive number, or two: a length and a variance",
        allowed=lambda numbers: len(numbers) in (1, 2) and min(numbers) > 0,
        own=of_gaussian,
        rises=lambda _: True,
    ),
    "relu": Family(
        *KINKED,
        own=lambda numbers, d: {"linear": arb(1) / 6, "kinked": arb(1) / 6},
        rises=lambda _: True,
    ),
    "kinked": Family(
        *KINKED,
        says="with L times A z + C |z|, (A, C) = ({})",
        rule="two numbers, the second not 0",
        allowed=lambda numbers: len(numbers) == 2 and numbers[1] != 0,
        own=lambda numbers, d: {"linear": ball(numbers[0] ** 2), "kinked": ball(numbers[1] ** 2)},
        rises=lambda numbers: numbers[0] != 0,
    ),
    **{f"matern-{nu}": of_matern(nu) for nu in ("0.5", "1.5", "2.5")},
    **{f"rough-{s}": of_rough(s) for s in ("0.25", "0.5", "0.75")},
    "kinks": of_pieces(kinks, "1.5"),
    "jumps": of_pieces(jumps, "0.5"),
}
"""The laws by name; numbers stand after it, after a colon.

The cosine law changes its shape with L, which is its number: "cosine:2.5". The others scale with L. Of a zonal law the
numbers are its k_0, k_1, ... at L = 1: "zonal:0,1,0.5"; of a link the coefficients of h: "link:0,1,2" is z + 2 z^2; of
powers those of a kernel; of rbf the length l and the variance of e^{-|x-x'|^2 / (2 l^2)} = e^{(t-1)/l^2}; of kinked A
and C in A z + C |z|; of Matern fields length and variance; of kinks and jumps pieces, as `roughness.read` reads them.
Rough fields have their order s in the name.
"""


def family(law: str) -> str:
    """The law without its numbers."""
    return law.partition(":")[0]


def beta(law: str) -> float:
    """B ~ w^-beta."""
    return float(LAWS[family(law)].beta)


def own_constant(law: str) -> str:
    """The L of a law that changes its shape with it; empty for all others."""
    return law.partition(":")[2] if family(law) == "cosine" else ""


def start(law: str, d: int) -> dict[str, Any]:
    """The hypotheses about a law in dimension d, as balls: d, a, beta, and the numbers of the law."""
    kind = LAWS[family(law)]
    return {"d": arb(d), "a": (arb(d) - 1) / 2, "beta": arb(kind.beta), **kind.own(kind.reads(law), arb(d))}


def about(stated: Mapping[str, Any]) -> dict[str, Any]:
    law, d = stated["law"], stated["d"]
    if type(law) is not str or family(law) not in LAWS:
        raise Malformed(f"law {repr(law)[:60]}: one of {', '.join(LAWS)}, and what belongs to it after a colon")
    kind = LAWS[family(law)]
    if not kind.allowed(kind.reads(law)):
        raise Malformed(f"law {law!r}: what stands after its name is {kind.rule}")
    if stated["theorem"] == "transfer" and own_constant(law):
        raise Malformed(f"law {law!r}: for another L it is another law")
    if type(d) is not int:
        raise Malformed(f"d = {repr(d)[:60]}: a whole number")
    return {"law": law, "d": size("d", d, 2)}


def written(law: str) -> str:
    """A law in words, from its numbers."""
    numbers = re.sub(r"[^,|]+", lambda text: shown(number(text[0])).strip("()"), law.partition(":")[2])
    says = "of L = {}" if own_constant(law) else LAWS[family(law)].says
    return f"{family(law)} {says.format(numbers)}".strip()


def domain(law: str) -> str:
    """The w among which lemma 6.1 finds the best."""
    kind = LAWS[family(law)]
    return "over all real w" if kind.rises(kind.reads(law)) else "over w >= 0"
