r"""Envelopes: explicit functions between which N and B lie, for all n and w in a stated range.

    c_low w^a / n <= N / sigma^2 <= c_high w^a / n,    a = (d-1)/2
    b_low / w^beta + b_plus / w^2 <= B / L^2 <= b_high / w^beta + b_next / w^2 + s w^{a-1} / n

The last term of B comes from the differences of f within one window, which act as noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lipverify.errors import OutOfReach
from lipverify.foundation.validation import number
from lipverify.problem.law import Law
from lipverify.proofs.checker.window.laws import beta
from lipverify.proofs.checker.window.windows import tradeoff
from lipverify.proofs.record import LawProof, below, beyond, context, subject
from lipverify.proofs.search import decimal, extended, find_envelope, in_doubles

Range = tuple[float, float]


@dataclass(frozen=True)
class Envelope(LawProof):
    """Lower and upper bounds of both terms for every w >= least_w that has least_tokens in a window.

    Attributes
    ----------
    data
        The proof file as decoded JSON: format, theorem, hypotheses, and the lemmas with their constants.

    Examples
    --------
    >>> from lipverify.laws import ReLU
    >>> from lipverify.proofs import prove_envelope
    >>> prove_envelope(ReLU(), d=5, least_w=1000).failures()
    []
    """

    @property
    def stages(self) -> tuple[dict[str, float], ...]:
        """The constants of each stage, with the w from which it holds."""
        constants: dict[int, dict[str, float]] = {}
        for lemma in self.lemmas:
            constants.setdefault(lemma.stage, {}).update(lemma.constants)
        return tuple(constants[stage] for stage in sorted(constants) if stage > 0)

    @property
    def least_w(self) -> float:
        """The least w."""
        return self.stages[0]["u"]

    @property
    def least_tokens(self) -> float:
        """K in n >= K w^{(d-1)/2}."""
        return self.constants["T_least"] * self.stages[0]["R_high"]

    def covers(self, n: float, w: float) -> bool:
        """True if both terms are bounded at these."""
        n, w = number("n", n, "the number of tokens"), number("w", w, "the window")
        return w >= self.least_w and n >= self.least_tokens * w**self.noise_power

    def noise(self, n: float, w: float, sigma: float = 1.0) -> Range:
        """Lower and upper bound of N, in units of y squared.

        >>> from lipverify.laws import Affine
        >>> low, high = prove_envelope(Affine(), d=3, least_w=100).noise(n=1e6, w=200.0)
        >>> f"{low:.6g} {high:.6g}"
        '0.000199202 0.000201005'
        """
        k, (n, _, sigma) = self._at(n, w), context(n, 1.0, sigma)
        scale = sigma**2 * w**self.noise_power / n
        return _outwards(k["c_low"] * scale, k["c_high"] * scale)

    def bias(self, n: float, w: float, L: float | None = None) -> Range:
        """Lower and upper bound of B, in units of y squared; L is by default 1 or that of the law.

        Raises
        ------
        InvalidInput
            If the law changes its shape with L, and this is not its own.
        OutOfReach
            If the envelope does not cover n and w.
        """
        k, (n, L, _) = self._at(n, w), context(n, self.constant(L), 1.0)
        power = w**-self.beta
        low = k["b_low"] * power + k.get("b_plus", 0.0) / w**2
        high = k["b_high"] * power + k.get("b_next", 0.0) / w**2 + k["s"] * w ** (self.noise_power - 1) / n
        return _outwards(L**2 * low, L**2 * high)

    def _at(self, n: float, w: float) -> dict[str, Any]:
        """The constants of the last stage that covers w."""
        if not self.covers(n, w):
            raise OutOfReach(
                f"n = {n:g}, w = {w:g}: the envelope holds for w >= {self.least_w:g} and n >= {self.least_tokens:g} "
                f"w^{self.noise_power:g}; prove it with a smaller least_w or least_tokens, or use loss_terms."
            )
        return [k for k in self.stages if k["u"] <= w][-1]


def _outwards(low: float, high: float) -> Range:
    """Both bounds moved outwards by more than the rounding of a dozen operations."""
    return below(low * (1 - 1e-14)), beyond(high * (1 + 1e-14))


def prove_envelope(law: Law, d: int, *, least_w: float, least_tokens: float = 1000.0) -> Envelope:
    """Prove explicit bounds of N and B for all w >= least_w and n >= least_tokens w^{(d-1)/2}.

    Parameters
    ----------
    law
        As for `prove_window`.
    d
        The ambient dimension, >= 2.
    least_w
        The least w, >= d + 2; larger values give tighter bounds.
    least_tokens
        The least number of tokens in a window; larger values give tighter bounds.

    Returns
    -------
    Envelope
        The bounds, which can be evaluated, and their proof.

    Raises
    ------
    InvalidInput
        If an argument is not a number of its kind.
    OutOfReach
        If no bounds are known for the law, or none is positive.

    Examples
    --------
    >>> from lipverify.laws import ReLU
    >>> envelope = prove_envelope(ReLU(), d=5, least_w=1000)
    >>> envelope.covers(n=1e9, w=999.0), envelope.covers(n=1e10, w=1000.0)
    (False, True)
    """
    u = number("least_w", least_w, "the least w", above=0)
    tokens = number("least_tokens", least_tokens, "the least number of tokens in a window", above=0)
    name, d = subject(law, d)
    with in_doubles(f"law = {name}, d = {d}, least_w = {u!r}, least_tokens = {tokens!r}"):
        return Envelope(find_envelope(name, d, u, tokens))


def prove_tradeoff(
    law: Law, d: int, ratio: float = 2.0, *, least_w: float = 1000.0, least_tokens: float = 100.0
) -> Envelope:
    """Prove that the noise rises and the bias falls from w to ratio w, for every w and n in a range.

    Parameters
    ----------
    law, d, least_w
        As for `prove_envelope`.
    ratio
        rho, > 1.
    least_tokens
        K in n >= K (rho w)^{(d-1)/2 + max(beta, 1) - 1}, as in a window theorem: if beta > 1 a window holds more tokens
        than K, by the factor w^{beta - 1}. With fewer tokens the differences within a window act as noise that falls
        more slowly than the bias.

    Returns
    -------
    Envelope
        The factors of both terms are its facts "noise" and "bias".

    Raises
    ------
    InvalidInput
        If an argument is not a number of its kind.
    OutOfReach
        As `prove_envelope`.

    Examples
    --------
    >>> from lipverify.laws import Affine
    >>> tradeoff = prove_tradeoff(Affine(), d=3)
    >>> tradeoff.fact("noise").low > 1.99, tradeoff.fact("bias").high < 0.26
    (True, True)
    """
    name, d = subject(law, d)
    rho, u = number("ratio", ratio, "w' / w", above=1), number("least_w", least_w, "the least w", above=0)
    K = number("least_tokens", least_tokens, "the least number of tokens in a window", above=0)
    with in_doubles(f"law = {name}, d = {d}, ratio = {rho!r}, least_w = {u!r}, least_tokens = {K!r}"):
        tokens = K * (rho * u) ** (max(beta(name), 1) - 1) * (1 - 1e-9)
        envelope = prove_envelope(law, d, least_w=u, least_tokens=tokens)
        return Envelope(extended(envelope.data, "tradeoff", {tradeoff: {"rho": decimal(rho), "K": decimal(K)}}))
