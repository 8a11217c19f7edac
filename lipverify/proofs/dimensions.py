r"""The window theorem in every dimension at once, with constants as functions of d.

low k W < w* < high k W,    W = (n L^2 / sigma^2)^(2/(d+3)),    k as a function of d
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flint import arb, ctx
from scipy.optimize import brentq

from lipverify.errors import OutOfReach
from lipverify.foundation.validation import number, whole
from lipverify.problem.law import Law
from lipverify.proofs.checker import chain, dimensions
from lipverify.proofs.checker.tokens import laplace
from lipverify.proofs.direct import built
from lipverify.proofs.record import Proof, below, beyond, named
from lipverify.proofs.search import FEWEST_TOKENS, in_doubles

FREE = {
    "curve": {"gamma": "1.2", "over": "1.75"},
    "corrections": {"W_per_d": "10", "M": "1000", "first": "0.43", "room": "0.01"},
    "window": {"split": "0.9"},
}
"""What is chosen once: `curve` by what it allows, the others with room."""
MOST_TOKENS = 1e9
"""Of T_least: J0, J1, J2 are 1 to eight digits there."""
MARGIN = 1e-8
"""By which lines are moved outwards."""


@dataclass(frozen=True)
class EveryDimension(Proof):
    """For every d, n, L and sigma that it covers: low k W < w* < high k W."""

    @property
    def law(self) -> str:
        """The law, for every L."""
        return str(self.data["given"]["law"])

    def multiples(self, d: int) -> tuple[float, float]:
        """low k and high k in one dimension: w* lies between these multiples of W.

        >>> from lipverify.laws import Affine
        >>> low, high = prove_every_dimension(Affine()).multiples(3)
        >>> round(low, 4), round(high, 4)
        (0.6009, 0.6109)
        """
        d = whole("d", d, 2, "the ambient dimension,")
        with ctx.workprec(chain.BITS):
            k = dimensions.centre_of(self.law, arb(d))
            low, high = (k * arb(text) for text in (self.stated["low"], self.stated["high"]))
            return below(float(low.lower())), beyond(float(high.upper()))

    def covers(self, d: int, n: float, L: float = 1.0, sigma: float = 1.0) -> bool:
        """Whether the theorem speaks of these.

        >>> from lipverify.laws import Affine
        >>> theorem = prove_every_dimension(Affine())
        >>> theorem.covers(3, 1e13), theorem.covers(3, 1e13, L=100.0)
        (True, False)
        """
        d = whole("d", d, 2, "the ambient dimension,")
        if not (n > 0 and L > 0 and sigma > 0):
            return False
        k, a, log_n = self.constants, (d - 1) / 2, math.log(n)
        log_W = (log_n + 2 * math.log(L / sigma)) / (a + 2)
        return (
            log_W >= math.log(max(k["W_least"], k["W_per_d"] * d))
            and log_n >= math.log(k["K"]) + (a + 1) * log_W
            and log_n >= math.log(k["M"]) + a * (math.log(4 / 3) + log_W)
        )

    def window(self, d: int, n: float, L: float = 1.0, sigma: float = 1.0) -> tuple[float, float]:
        """Two numbers between which w* lies.

        Raises
        ------
        OutOfReach
            If the theorem does not cover d, n, L and sigma.

        >>> from lipverify.laws import Affine
        >>> low, high = prove_every_dimension(Affine()).window(50, 1e113)
        >>> f"{low:.3e} {high:.3e}"
        '4.743e+05 4.822e+05'
        """
        if not self.covers(d, n, L, sigma):
            raise OutOfReach(
                f"d = {d}, n = {n:g}, L = {L:g}, sigma = {sigma:g}: not covered by {self.statement}; prove it with "
                "another least_window or least_tokens."
            )
        W = math.exp((math.log(n) + 2 * math.log(L / sigma)) * 2 / (d + 3))
        low, high = self.multiples(d)
        return low * W * (1 - MARGIN), high * W * (1 + MARGIN)

    @property
    def stated(self) -> dict[str, str]:
        """All constants as they stand in the proof."""
        return {name: text for lemma in self.data["lemmas"] for name, text in lemma["constants"].items()}


def prove_every_dimension(law: Law, *, least_window: float = 1e4, least_tokens: float = 1e4) -> EveryDimension:
    r"""Prove between which multiples of k W the optimal w* lies, for every d >= 2 at once.

    Parameters
    ----------
    law
        Affine or Quadratic: the theorem holds for every L.
    least_window
        The least W = (n L^2 / sigma^2)^{2/(d+3)}; where d > least_window / 10, ten times d.
    least_tokens
        K in n >= K W^{(d+1)/2}. By default lines within 1 % of the limit; with K = 100, within 8 %.

    Raises
    ------
    InvalidInput
        If a range is not a positive number.
    OutOfReach
        If no such theorem is known for the law, or none can be proved from that little.

    >>> from lipverify.laws import Affine
    >>> theorem = prove_every_dimension(Affine())
    >>> round(theorem.constants["low"], 4), round(theorem.constants["high"], 4)
    (0.992, 1.0085)
    >>> theorem.failures()
    []
    """
    name = named(law)
    if name not in dimensions.LAWS:
        raise OutOfReach(
            f"law = {law!r}: in every dimension at once theorems are proved for {', '.join(dimensions.LAWS)}; use "
            "`prove_window` in one dimension."
        )
    W = number("least_window", least_window, "the least W,", least=1)
    K = number("least_tokens", least_tokens, "K", above=0)
    chosen = {lemma: dict(choices) for lemma, choices in FREE.items()}
    chosen["corrections"] |= {"W_least": f"{W:.12g}", "K": f"{K:.12g}"}
    with in_doubles(f"law = {law!r}, least_window = {W:g}, least_tokens = {K:g}"), ctx.workprec(chain.BITS):
        facts: dict[str, Any] = {"law": name, "T_least": arb(FEWEST_TOKENS)}
        facts |= {key: arb(text) for choices in chosen.values() for key, text in choices.items()}
        facts |= {"kappa": dimensions.centre(facts)[0]["kappa"][1].lower()}
        tokens = min(float(1 / dimensions.corrections(facts)[0]["tau"][1].upper()) * (1 - MARGIN), MOST_TOKENS)
        chosen["laplace"] = {"T_least": f"{tokens:.6g}"} if tokens == MOST_TOKENS else {"T_least": f"{tokens:.9g}"}
        facts["T_least"] = arb(chosen["laplace"]["T_least"])
        for rule in (laplace, dimensions.corrections):
            facts |= {key: ball for key, (_, ball) in rule(facts)[0].items()}
        chosen["window"] |= lines(facts)
        return EveryDimension(built("every dimension", {"law": name}, chosen).data)


def lines(facts: Mapping[str, Any]) -> dict[str, str]:
    """low and high: where the lower bound of the loss meets the upper one at x = 1, the farthest of all dimensions.

    Raises
    ------
    OutOfReach
        If they do not meet near 1.
    """
    split, farthest, found = facts["split"], arb(2), []
    for largest in dimensions.sizes(facts):
        for size in (largest, largest.at_once()):
            loss = dimensions.above(facts, size)
            pairs = dimensions.below(facts, size, split, arb(1)), dimensions.below(facts, size, arb(1), farthest)

            def excess(x: float, pair: Any, size: Any = size, loss: Any = loss) -> float:
                return float((dimensions.at(size, pair, arb(x)) - loss).lower())

            ends = [(float(split), 1.0, pairs[0]), (float(farthest), 1.0, pairs[1])]
            if min(excess(end, pair) for end, _, pair in ends) <= 0:
                d = size.d or f"> {dimensions.LAST}"
                raise OutOfReach(
                    f"d = {d}: the envelopes are too wide to bound w*; ask for a larger least_window or least_tokens."
                )
            found.append([brentq(excess, *ends_, args=(pair,), xtol=MARGIN / 10) for *ends_, pair in ends])
    low, high = min(each[0] for each in found), max(each[1] for each in found)
    return {"low": f"{low - MARGIN:.8f}", "high": f"{high + MARGIN:.8f}"}
