"""The laws that a theorem can be about, by the names under which proof files know them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from flint import arb

from .chain import FORMAT, Ball, Proof, Rule
from .harmonics import WEIGHT, projected, smooth, smooth_bias
from .kink import kink, kink_bias
from .roughness import jumps, kinks, matern, read, rough
from .tokens import moments, noise, scale, tilt
from .variogram import distances, variogram_bias

Numbers = list[Ball]


@dataclass(frozen=True)
class Family:
    """What the checker knows of the laws of one name.

    Attributes
    ----------
    about
        The lemma about the law itself, if there is one.
    bias
        The lemmas about its bias, from each u on.
    beta
        B ~ w^-beta.
    says
        What the numbers after its name are, where it scales with a factor L of f.
    rule
        What those numbers must be.
    allowed
        Whether they are.
    own
        What of them enters the lemmas.
    degree
        The last harmonic that is summed.
    """

    about: Rule | None
    bias: tuple[Rule, ...]
    beta: str
    says: str = ""
    rule: str = "nothing"
    allowed: Callable[[Numbers], bool] = lambda numbers: not numbers
    own: Callable[[Numbers, Ball], dict[str, Any]] = field(default=lambda numbers, d: {})
    degree: int = 0

    @property
    def envelope(self) -> tuple[Rule, ...]:
        """All lemmas from each u on."""
        return (tilt, moments, scale, noise, *self.bias)


def weighted(numbers: Numbers) -> dict[str, Ball]:
    """k_l by name, those of l > 0 that are not 0."""
    return {f"{WEIGHT}{degree}": ball for degree, ball in enumerate(numbers) if degree and ball != 0}


def of_link(numbers: Numbers, d: Ball) -> dict[str, Ball]:
    """The k_l of a polynomial link."""
    return {f"{WEIGHT}{degree}": ball for degree, ball in projected(d, numbers).items()}


def of_powers(numbers: Numbers, _: Ball) -> dict[str, Ball]:
    """The derivatives at 1 of a kernel of powers."""
    one, two, three = (sum((math.perm(j, i) * c for j, c in enumerate(numbers)), arb(0)) for i in (1, 2, 3))
    return {"K'": one, "K''": two, "K'''": three}


def of_gaussian(numbers: Numbers, _: Ball) -> dict[str, Ball]:
    """The derivatives at 1 of e^{(t-1)/l^2}, times the variance."""
    variance = numbers[1] if len(numbers) > 1 else arb(1)
    return {name: variance * numbers[0] ** -power for name, power in (("K'", 2), ("K''", 4), ("K'''", 6))}


def beyond_the_first(numbers: Numbers) -> bool:
    """Whether one of them beyond the first is not 0."""
    return any(ball != 0 for ball in numbers[1:])


def of_matern(nu: str) -> Family:
    """The fields of one smoothness."""
    return Family(
        matern,
        (distances, variogram_bias),
        {"0.5": "0.5", "1.5": "1.5", "2.5": "2"}[nu],
        f"of smoothness {nu} and (length, variance) = ({{}}), times L^2",
        "two positive numbers",
        lambda numbers: len(numbers) == 2 and all(ball > 0 for ball in numbers),
        lambda numbers, d: {"nu": arb(nu), "length": numbers[0], "variance": numbers[1]},
    )


SMOOTH = (smooth, (smooth_bias,), "2")
LAWS: dict[str, Family] = {
    "affine": Family(*SMOOTH, degree=1),
    "quadratic": Family(*SMOOTH, degree=2),
    "cosine": Family(
        *SMOOTH,
        rule="one positive number",
        allowed=lambda numbers: len(numbers) == 1 and numbers[0] > 0,
        degree=80,
    ),
    "zonal": Family(
        *SMOOTH,
        says="with the spectrum L^2 ({})",
        rule="numbers >= 0, one of them beyond the first > 0",
        allowed=lambda numbers: all(ball >= 0 for ball in numbers) and beyond_the_first(numbers),
        own=lambda numbers, d: weighted(numbers),
    ),
    "link": Family(
        *SMOOTH,
        says="with L times the polynomial ({})",
        rule="numbers, one of them beyond the first not 0",
        allowed=beyond_the_first,
        own=of_link,
    ),
    "powers": Family(
        *SMOOTH,
        says="with L^2 times the kernel of powers ({})",
        rule="numbers >= 0, one of them beyond the first > 0",
        allowed=lambda numbers: all(ball >= 0 for ball in numbers) and beyond_the_first(numbers),
        own=of_powers,
    ),
    "rbf": Family(
        *SMOOTH,
        says="of length {}, times L^2",
        rule="a positive number, or two: a length and a variance",
        allowed=lambda numbers: len(numbers) in (1, 2) and all(ball > 0 for ball in numbers),
        own=of_gaussian,
    ),
    "relu": Family(None, (kink, kink_bias), "1.5", own=lambda numbers, d: {"linear": arb(1) / 6, "kinked": arb(1) / 6}),
    "kinked": Family(
        None,
        (kink, kink_bias),
        "1.5",
        says="with L times A z + C |z|, (A, C) = ({})",
        rule="two numbers, the second not 0",
        allowed=lambda numbers: len(numbers) == 2 and numbers[1] != 0,
        own=lambda numbers, d: {"linear": numbers[0] ** 2, "kinked": numbers[1] ** 2},
    ),
    **{f"matern-{nu}": of_matern(nu) for nu in ("0.5", "1.5", "2.5")},
    **{
        f"rough-{s}": Family(rough, (distances, variogram_bias), s, f"with the variogram L^2 |x - x'|^{2 * float(s):g}")
        for s in ("0.25", "0.5", "0.75")
    },
    "kinks": Family(kinks, (distances, variogram_bias), "1.5", says="with L times the pieces ({})", rule="pieces"),
    "jumps": Family(jumps, (distances, variogram_bias), "0.5", says="with L times the pieces ({})", rule="pieces"),
}
"""The laws by name; numbers stand after it, after a colon.

The cosine law changes its shape with L, which is its number: "cosine:2.5". The others scale with L. Of a zonal law the
numbers are its k_0, k_1, ... at L = 1: "zonal:0,1,0.5"; of a link the coefficients of h: "link:0,1,2" is z + 2 z^2; of
powers those of a kernel; of rbf the length l and the variance of e^{-|x-x'|^2 / (2 l^2)} = e^{(t-1)/l^2}; of kinked A
and C in A z + C |z|; of Matern fields length and variance; of kinks and jumps pieces, as `roughness.read` reads them.
Rough fields have their order s in the name.
"""
PIECES = ("kinks", "jumps")


def family(law: str) -> str:
    """The law without its numbers."""
    return law.partition(":")[0]


def beta(law: str) -> float:
    """B ~ w^-beta."""
    return float(LAWS[family(law)].beta)


def own_constant(law: str) -> str:
    """The L of a law that changes its shape with it; empty for all others."""
    return law.partition(":")[2] if family(law) == "cosine" else ""


def listed(law: str) -> Numbers:
    """The numbers after the name of a law."""
    if family(law) in PIECES or ":" not in law:
        return []
    return [arb(text) for text in law.partition(":")[2].split(",")]


def start(law: str, d: int) -> dict[str, Any]:
    """What is given."""
    kind = LAWS[family(law)]
    given: dict[str, Any] = {"d": arb(d), "a": (arb(d) - 1) / 2, "beta": arb(kind.beta), "degree": arb(kind.degree)}
    own = {"pieces": read(law.partition(":")[2])} if family(law) in PIECES else kind.own(listed(law), arb(d))
    return given | {"L": arb(own_constant(law) or 1)} | own


def wrong(proof: Proof) -> list[str]:
    """What makes it no theorem about a law."""
    law, d = proof["law"], proof["d"]
    if family(law) not in LAWS or type(d) is not int or d < 2:
        return [f"{proof['format']!r}, {proof['theorem']!r}, {law!r}, d = {d!r}: not of the form {FORMAT!r}"]
    kind, numbers = LAWS[family(law)], listed(law)
    if family(law) in PIECES:
        read(law.partition(":")[2])
    elif not (all(ball.is_finite() for ball in numbers) and kind.allowed(numbers)) or (":" in law) != bool(numbers):
        return [f"law {law!r}: what stands after its name is {kind.rule}"]
    if proof["theorem"] == "transfer" and own_constant(law):
        return [f"law {law!r}: for another L it is another law"]
    return []
