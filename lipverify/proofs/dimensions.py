r"""The window theorem in every dimension at once, with constants as functions of d.

low k W < w* < high k W,    W = (n L^2 / sigma^2)^(1/((d-1)/2 + beta)),    k as a function of d
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import scipy
from flint import arb, ctx

from lipverify.errors import OutOfReach
from lipverify.foundation.validation import number, whole
from lipverify.problem.law import Law
from lipverify.proofs.checker.every_dimension import ramp, sizes, smooth_laws
from lipverify.proofs.checker.kernel import form
from lipverify.proofs.checker.kernel.tokens import laplace
from lipverify.proofs.direct import built
from lipverify.proofs.record import Proof, below, beyond, context, named
from lipverify.proofs.search import FEWEST_TOKENS, balls, in_doubles

FREE: dict[str, dict[str, dict[str, str]]] = {
    "window": {
        "curve": {"gamma": "1.2", "over": "1.75"},
        "corrections": {"W_per_d": "10", "M": "1000", "first": "0.43", "room": "0.01"},
        "window": {"split": "0.9"},
    },
    "ramp": {
        "curve": {"gamma": "1.2", "over": "1.75"},
        "corrections": {"W_per_d": "100", "M": "1000", "first": "0.35", "room": "0.05"},
        "ramp": {"split": "0.85"},
    },
}
"""Constants that are chosen once, with slack; the lemma on w* certifies that they suffice."""
FARTHEST = 2.0
"""A lower bound on `end`."""
MARGIN = 1e-8
"""The slack of the lines."""


@dataclass(frozen=True)
class EveryDimension(Proof):
    """The window theorem for every d, n, L and sigma that it covers: low k W < w* < high k W.

    Attributes
    ----------
    data
        The proof file as decoded JSON: format, theorem, hypotheses, and the lemmas with their constants.

    Examples
    --------
    >>> from lipverify.foundation.shipped import shipped
    >>> from lipverify.proofs import load
    >>> load(shipped() / "proofs" / "dimensions-affine.json").failures()
    []
    """

    @property
    def law(self) -> str:
        """The law, with any L."""
        return str(self.data["given"]["law"])

    @property
    def beta(self) -> float:
        """The exponent beta of B ~ w^-beta."""
        return float(sizes.LAWS[self.law].beta)

    def multiples(self, d: int) -> tuple[float, float]:
        """low k and high k in one dimension: w* lies between these multiples of W.

        >>> from lipverify.foundation.shipped import shipped
        >>> from lipverify.proofs import load
        >>> low, high = load(shipped() / "proofs" / "dimensions-affine.json").multiples(3)
        >>> round(low, 4), round(high, 4)
        (0.6009, 0.6109)
        """
        d = whole("d", d, 2, "the ambient dimension", form.LARGEST)
        with ctx.workprec(form.BITS):
            k = sizes.centre_of(self.law, arb(d))
            low, high = (k * arb(text) for text in (self.stated["low"], self.stated["high"]))
            return below(float(low.lower())), beyond(float(high.upper()))

    def covers(self, d: int, n: float, L: float = 1.0, sigma: float = 1.0) -> bool:
        """True if the theorem covers these.

        >>> from lipverify.foundation.shipped import shipped
        >>> from lipverify.proofs import load
        >>> theorem = load(shipped() / "proofs" / "dimensions-affine.json")
        >>> theorem.covers(3, 1e13), theorem.covers(3, 1e13, L=100.0)
        (True, False)
        """
        d = whole("d", d, 2, "the ambient dimension", form.LARGEST)
        n, L, sigma = context(n, L, sigma)
        if not (n > 0 and L > 0 and sigma > 0):
            return False
        k, a, log_n = self.constants, (d - 1) / 2, math.log(n)
        log_W = (log_n + 2 * (math.log(L) - math.log(sigma))) / (a + self.beta)
        return (
            log_W >= math.log(max(k["W_least"], k["W_per_d"] * d))
            and log_n >= math.log(k["K"]) + (a + self.beta - 1) * log_W
            and log_n >= math.log(k["M"]) + a * (math.log(4 / 3) + log_W)
        )

    def window(self, d: int, n: float, L: float = 1.0, sigma: float = 1.0) -> tuple[float, float]:
        """Lower and upper bound of w*.

        Raises
        ------
        OutOfReach
            If the theorem does not cover d, n, L and sigma.

        >>> from lipverify.foundation.shipped import shipped
        >>> from lipverify.proofs import load
        >>> low, high = load(shipped() / "proofs" / "dimensions-affine.json").window(50, 1e113)
        >>> f"{low:.3e} {high:.3e}"
        '4.743e+05 4.822e+05'
        """
        if not self.covers(d, n, L, sigma):
            raise OutOfReach(
                f"d = {d}, n = {n:g}, L = {L:g}, sigma = {sigma:g}: not covered by {self.statement}; prove it with "
                "another least_window or least_tokens."
            )
        W = math.exp((math.log(n) + 2 * math.log(L / sigma)) / ((d - 1) / 2 + self.beta))
        low, high = self.multiples(d)
        return low * W * (1 - MARGIN), high * W * (1 + MARGIN)

    @property
    def stated(self) -> dict[str, str]:
        """All constants of the proof."""
        return {name: text for lemma in self.data["lemmas"] for name, text in lemma["constants"].items()}


def prove_every_dimension(law: Law, *, least_window: float | None = None, least_tokens: float = 1e4) -> EveryDimension:
    r"""Prove bounds of the optimal w* by multiples of k W, for every d >= 2 at once.

    Parameters
    ----------
    law
        Affine, Quadratic or ReLU: the theorem holds for every L.
    least_window
        The least W = (n L^2 / sigma^2)^{1/((d-1)/2 + beta)}, by default 10^4, or 10^6 for ReLU; where d is large, ten
        times d, or a hundred times for ReLU.
    least_tokens
        K in n >= K W^{(d-1)/2 + beta - 1}. By default the bounds are within 1 % of the limit (ReLU: 1.5 %), and with
        K = 100 within 8 %.

    Returns
    -------
    EveryDimension
        The multiples `low` and `high`, and their proof.

    Raises
    ------
    InvalidInput
        If a range is not a positive number.
    OutOfReach
        If no such theorem is known for the law, or none can be proved from ranges this small.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> theorem = prove_every_dimension(Affine())
    >>> round(theorem.constants["low"], 4), round(theorem.constants["high"], 4)
    (0.992, 1.0085)
    >>> theorem.failures()
    []
    """
    name = named(law)
    if name not in sizes.LAWS:
        raise OutOfReach(
            f"law = {law!r}: in every dimension at once theorems are proved for {', '.join(sizes.LAWS)}; use "
            "`prove_window` in one dimension."
        )
    last = smooth_laws.decides(name)[-1].__name__
    usual = 1e6 if last == "ramp" else 1e4
    W = number("least_window", usual if least_window is None else least_window, "the least W", least=1)
    K = number("least_tokens", least_tokens, "K", above=0)
    chosen = {lemma: dict(choices) for lemma, choices in FREE[last].items()}
    chosen["corrections"] |= {"W_least": f"{W:.12g}", "K": f"{K:.12g}"}
    with in_doubles(f"law = {law!r}, least_window = {W:g}, least_tokens = {K:g}"), ctx.workprec(form.BITS):
        facts: dict[str, Any] = {"law": name, "T_least": arb(FEWEST_TOKENS)}
        for choices in chosen.values():
            facts |= balls(choices)
        facts |= {"kappa": sizes.centre(facts)[0]["kappa"][1].lower()}
        tokens = float(1 / sizes.corrections(facts)[0]["tau"][1].upper()) * (1 - MARGIN)
        chosen["laplace"] = {"T_least": f"{min(tokens, 1e9):.9g}"}  # from 1e9 on J0, J1, J2 are 1 to eight digits
        facts |= balls(chosen["laplace"])
        for rule in (laplace, sizes.corrections):
            facts |= {key: ball for key, (_, ball) in rule(facts)[0].items()}
        chosen[last] |= lines(facts)
        return EveryDimension(built("every dimension", {"law": name}, chosen).data)


def lines(facts: Mapping[str, Any]) -> dict[str, str]:
    """low and high: the x around 1 at which the lower bound of the loss meets the upper one at x = 1, for the worst
    dimension; OutOfReach if they do not meet.
    """
    split, pairs = float(facts["split"]), []
    for d, excess in excesses(facts):
        if min(excess(split), excess(FARTHEST)) <= 0:
            raise OutOfReach(
                f"d = {d or f'> {sizes.LAST}'}: the envelopes are too wide to bound w*; ask for a larger least_window "
                "or least_tokens."
            )
        pairs.append([scipy.optimize.brentq(excess, *ends, xtol=MARGIN / 10) for ends in ((split, 1), (1, FARTHEST))])
    low, high = min(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
    return {"low": f"{low - MARGIN:.8f}", "high": f"{high + MARGIN:.8f}"}


def excesses(facts: Mapping[str, Any]) -> Iterator[tuple[int, Callable[[float], float]]]:
    """For each dimension, a lower bound of the loss at x k W minus that at k W."""
    for largest in sizes.sizes(facts):
        if ramp.ramp in smooth_laws.decides(facts["law"]):
            yield largest.d, partial(_ramp_excess, {**facts, "tiny": arb(sizes.FLOOR)}, largest.from_here())
        else:
            yield from ((largest.d, _excess(facts, size)) for size in (largest, largest.at_once()))


def _ramp_excess(facts: Mapping[str, Any], size: sizes.Size, x: float) -> float:
    return float(ramp.excess(facts, size, facts["split"] if x < 1 else arb(1), arb(x)).lower())


def _excess(facts: Mapping[str, Any], size: sizes.Size) -> Callable[[float], float]:
    loss = smooth_laws.above(facts, size)
    inner = smooth_laws.below(facts, size, facts["split"], arb(1))
    outer = smooth_laws.below(facts, size, arb(1), arb(FARTHEST))
    return lambda x: float((sizes.excess_over(size, *(inner if x < 1 else outer), arb(x)) - loss).lower())
