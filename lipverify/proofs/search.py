"""Find the constants of a proof. The proof does not depend on how they were found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import scipy  # its optimize is loaded when a proof is searched for: a committed one needs none
from flint import arb, ctx

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.proofs import checker
from lipverify.proofs.checker.kernel import form, harmonics, kink
from lipverify.proofs.checker.kernel.registry import KINDS
from lipverify.proofs.checker.kernel.tokens import bessel_ratio, laplace, moment_limit, tilt
from lipverify.proofs.checker.window import laws, windows

DIGITS = 12
"""Number of digits of a constant, which is rounded away from the quantity it bounds, so that its control is false."""
MARGIN = 1e-9
"""Relative margin between the constants of the search, in doubles, and those of the checker, in balls."""
FEWEST_TOKENS = 20.0
"""Fewest tokens of an attempt: for fewer the envelopes are wide."""


@dataclass
class Draft:
    """A proof under construction: the constants of every lemma so far, in the order of the chain."""

    law: str
    d: int
    facts: dict[int, dict[str, Any]] = field(default_factory=dict)
    lemmas: list[dict[str, Any]] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    """The conditions of the last lemma that fail."""

    def __post_init__(self) -> None:
        self.facts[0] = laws.start(self.law, self.d)

    def add(self, rule: form.Rule, stage: int, chosen: Mapping[str, str]) -> dict[str, Any]:
        """State a lemma with its chosen constants, and each bound as tight as `DIGITS` digits allow."""
        facts = self.facts | {stage: self.facts.get(stage, {}) | balls(chosen)}
        # loss_high is a bound of its own lemma and also one of its conditions: 0 until it is known
        bounds, conditions = rule({"loss_high": arb(0)} | windows.gathered(facts, stage))
        self.open = [f"{rule.__name__}: not certain that {what}" for what, holds in conditions.items() if not holds]
        constants = dict(chosen) | {name: rounded(ball, side) for name, (side, ball) in bounds.items()}
        self.facts.setdefault(stage, {}).update(balls(constants))
        self.lemmas.append(lemma_of(rule, stage, constants))
        return self.facts[stage]

    def proof(self, theorem: str) -> dict[str, Any]:
        """The proof so far."""
        return {"format": form.FORMAT, "theorem": theorem, "law": self.law, "d": self.d, "lemmas": self.lemmas}


def balls(constants: Mapping[str, str]) -> dict[str, Any]:
    """Constants as the checker has them, to the last bit: with other radii its curves differ by 1e-12 or so."""
    return {name: form.ball(Fraction(text)) for name, text in constants.items()}


def lemma_of(rule: form.Rule, stage: int, constants: Mapping[str, str]) -> dict[str, Any]:
    """A lemma as it stands in a proof file."""
    says, because = form.wording(rule)
    return {"name": rule.__name__, "stage": stage, "says": says, "because": because, "constants": dict(constants)}


def rounded(ball: Any, side: str) -> str:
    """A decimal on the safe side of a ball; OverflowError if it is no double.

    >>> rounded(arb(1) / 3, "at most"), rounded(arb(1) / 3, "at least")
    ('0.333333333333', '0.333333333334')
    >>> rounded((-(arb(10) ** 100)).exp(), "at least")
    '1e-300'
    """
    mantissa, power = map(int, (ball.lower() if side == "at most" else ball.upper()).man_exp())
    size = mantissa.bit_length() + power if mantissa else -1000
    if size > 1000:
        raise OverflowError(f"a constant of 2^{size}")
    if size <= -1000:  # less than 1e-300, to which it is rounded, or to 0
        away = mantissa > 0 if side == "at least" else mantissa < 0
        return f"{'-' * (mantissa < 0)}1e-300" if away else "0"
    edge = Fraction(mantissa) * Fraction(2) ** power
    places = DIGITS - 1 - math.floor(math.log10(abs(edge)))
    digits = (math.floor if side == "at most" else math.ceil)(edge * Fraction(10) ** places)
    return str(Decimal(digits).scaleb(-places))


def ranged(law: str, d: int, W: float, K: float) -> dict[str, float]:
    """a, beta, and the range of a theorem: W >= W_least, n >= K W^{a + max(beta, 1) - 1}."""
    return {"a": (d - 1) / 2, "beta": laws.beta(law), "W_least": W, "K": K}


@contextmanager
def in_doubles(what: str) -> Iterator[None]:
    """A search that leaves the range of doubles raises OutOfReach; a law that the checker has not, InvalidInput."""
    try:
        yield
    except (OutOfReach, InvalidInput):
        raise
    except form.Malformed as error:
        raise InvalidInput(f"{error}; the checker knows no other.") from None
    except (ArithmeticError, ValueError) as error:
        raise OutOfReach(
            f"{what}: constants are searched in doubles, which end at 1e308, and one is beyond ({error}); ask for a "
            "smaller d, or for ranges and ratios nearer to 1."
        ) from None


def find(law: str, d: int, W: float, K: float) -> dict[str, Any]:
    """The proof of a window theorem, checked; OutOfReach if W_least or K is too small."""
    with ctx.workprec(form.BITS):
        share = 0.97
        while share > 0.05:
            proof = attempt(law, d, ranged(law, d, W, K), share)
            if proof is not None and not checker.failures(proof):
                return proof
            share *= 0.97
    raise OutOfReach(
        f"law = {law}, d = {d}, least Lambda^e = {W:g}, K = {K:g}: the envelopes are too wide there "
        "to bound w*; ask for a larger least_lambda or least_tokens."
    )


def attempt(law: str, d: int, reach: Mapping[str, float], share: float) -> dict[str, Any] | None:
    """A proof whose stages begin at `share` of the w where the loss is certainly larger, or None if there is no
    window.
    """
    (a, beta, W, K), (most_noise, far, power, at, loss) = reach.values(), limits(law, d)
    end = (loss / most_noise) ** (1 / a)
    proof = None
    for _ in range(4):  # the reach of the lemmas and the number of tokens depend on each other, and come closer
        # if the bias falls faster than 1/w, a window must hold more than K tokens
        tokens = K * W ** (max(beta, 1.0) - 1) * (end * (1 + MARGIN)) ** -a / (most_noise * (1 + MARGIN))
        if tokens < FEWEST_TOKENS:
            return None
        draft = begun(law, d, tokens)
        first = share * (far * W**beta / loss) ** (1 / power)
        k = staged(draft, reach, first, loss / share**beta)
        if k is None:
            return None
        x = best(k, at)
        loss = windows.above(k, x, W ** (beta - 2))
        end, most_noise = (loss / k["c_low"]) ** (1 / a) * (1 + MARGIN), k["c_high"]
        proof = completed(draft, k, x, end)
    return proof


def staged(draft: Draft, reach: Mapping[str, float], u: float, loss: float) -> dict[str, float] | None:
    """The envelopes from u on and from larger w on, as long as the bias alone exceeds `loss`; what is known last."""
    known = {"b_plus": 0.0, "b_next": 0.0, **reach}
    for stage in range(1, 5):
        k = envelope(draft, stage, u)
        if k is None:
            return None
        known |= k
        next_u = reach["W_least"] * (k["b_low"] / loss) ** (1 / reach["beta"])
        if next_u < 1.3 * u:  # a further stage would gain little
            break
        u = next_u
    return known


def best(k: Mapping[str, float], about: float) -> float:
    """The `at` with the shortest bracket."""

    def length(x: float) -> float:
        low, high = bracket(k, math.exp(x))
        return math.log(high / low) if low > 0 else windows.above(k, math.exp(x), 1.0) * 1e6

    return math.exp(scipy.optimize.minimize_scalar(length, bounds=(math.log(about / 2), math.log(about * 2))).x)


def begun(law: str, d: int, tokens: float) -> Draft:
    """The lemmas that hold for all w."""
    draft = Draft(law, d)
    about = laws.LAWS[laws.family(law)].about
    if about is not None:
        draft.add(about, 0, {})
    draft.add(laplace, 0, {"T_least": decimal(tokens)})
    return draft


def find_envelope(law: str, d: int, u: float, tokens: float) -> dict[str, Any]:
    """The proof of an envelope for w >= u and n >= tokens w^a, checked; OutOfReach if u or tokens is too small."""
    with ctx.workprec(form.BITS):
        most_noise, *_ = limits(law, d)
        for _ in range(2):  # T = n w^-a / R, and R_high is known once the lemma is stated
            draft = begun(law, d, max(tokens / most_noise * (1 - MARGIN), FEWEST_TOKENS))
            k = envelope(draft, 1, u)
            most_noise = k["R_high"] if k else most_noise
        if k and tokens / most_noise >= FEWEST_TOKENS and not checker.failures(draft.proof("envelope")):
            return draft.proof("envelope")
    raise OutOfReach(
        f"law = {law}, d = {d}, w >= {u:g}, n >= {tokens:g} w^{(d - 1) / 2:g}: no lower bound comes out that "
        "is positive; ask for a larger least_w or least_tokens."
    )


def extended(proof: Mapping[str, Any], theorem: str, more: Mapping[form.Rule, dict[str, str]]) -> dict[str, Any]:
    """A proof with further lemmas, each with its chosen constants, checked; OutOfReach if one does not follow."""
    with ctx.workprec(form.BITS):
        draft = Draft(proof["law"], proof["d"], lemmas=list(proof["lemmas"]))
        for _, stage, constants, *_ in checker.steps(proof):
            draft.facts.setdefault(stage, {}).update(constants)
        for rule, chosen in more.items():
            draft.add(rule, 0, chosen)
            if draft.open:
                break
        failures = draft.open or checker.failures(draft.proof(theorem))
    if failures:
        raise OutOfReach(f"{theorem} from {checker.statement(proof)}: {failures[0]}; ask for a larger least_lambda.")
    return draft.proof(theorem)


def envelope(draft: Draft, stage: int, u: float) -> dict[str, float] | None:
    """The lemmas from one u on; their constants as doubles, or None if they give no bound."""
    if u < 2 * float(draft.facts[0]["a"]) + 2:
        return None
    draft.add(tilt, stage, barriers(draft.d, u))
    for rule in laws.LAWS[laws.family(draft.law)].envelope[1:]:
        constants = draft.add(rule, stage, {})
        if not all(ball > 0 for name, ball in constants.items() if name not in KINDS["window"].signed):
            return None
    return {name: float(ball) for name, ball in constants.items()}


def barriers(d: int, u: float) -> dict[str, str]:
    """u, g_low and g_high of `tilt`: u is beyond all three values at which its conditions change."""
    a = (d - 1) / 2
    at_zero, slope = (a - a**2) / 2, 2 - 2 / u
    at_end = 2 * (a - a**2) / (slope + math.sqrt(max(slope**2 - 4 * (a - a**2) / u**2, 0.0)))
    start = arb(decimal(u))
    reached = float(start * (start * (1 - bessel_ratio(arb(d), start)) - a))
    edges, margin = (at_zero, at_end, reached), MARGIN * max(1.0, abs(at_zero))
    return {"u": decimal(u), "g_low": decimal(min(edges) - margin), "g_high": decimal(max(edges) + margin)}


def limits(law: str, d: int) -> tuple[float, float, float, float, float]:
    """C, far, power, at, loss: N ~ C w^a / n; B > far / u^power below a first u; w* ~ at W; loss(w*) ~ loss W^-beta."""
    given = laws.start(law, d)
    about = laws.LAWS[laws.family(law)].about
    known = given | ({name: ball for name, (_, ball) in about(given)[0].items()} if about else {})
    a, beta, x = float(given["a"]), float(given["beta"]), float(windows.limit(known)[0]["limit_high"][1])
    C = 2**-a / float(moment_limit(given["d"]))
    b = x ** (a + beta) * a * C / beta
    far, least = b, beta
    if about is None:  # two lines that meet at 0: degree 1 of z and degree 2 of |z|, as in `kink_bias`
        even = kink.even_weights(given["d"], 2)[2] * harmonics.slope(given["d"], 2) ** 2
        far, least = a**2 * float(given["linear"] / d + given["kinked"] * even), 2.0
    return C, far, least, x, C * x**a + b * x**-beta


def bracket(k: Mapping[str, float], x: float) -> tuple[float, float]:
    """low and high: where the lower bound of the loss meets the upper one at `x`, at both ends of v."""
    intervals = [_meeting(k, windows.above(k, x, v), v) for v in (0.0, k["W_least"] ** (k["beta"] - 2))]
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def _meeting(k: Mapping[str, float], loss: float, v: float) -> tuple[float, float]:
    def excess(x: float) -> float:
        bias = k["b_low"] * math.exp(-k["beta"] * x)
        return k["c_low"] * math.exp(k["a"] * x) + bias + k["b_plus"] * math.exp(-2 * x) * v - loss * (1 + MARGIN)

    least = scipy.optimize.minimize_scalar(excess, bounds=(-20.0, 20.0)).x
    if excess(least) >= 0:
        return 0.0, math.inf
    low, high = (scipy.optimize.brentq(excess, least, least + side, xtol=MARGIN) for side in (-20.0, 20.0))
    return math.exp(low), math.exp(high)


def completed(draft: Draft, k: Mapping[str, float], x: float, end: float) -> dict[str, Any] | None:
    """The proof with its window, or None if there is none."""
    low, high = bracket(k, x)
    if low == 0:
        return None
    edges = {"low": low * (1 - MARGIN), "high": high * (1 + MARGIN), "end": end * (1 + MARGIN)}
    chosen = {"W_least": k["W_least"], "K": k["K"], "at": x, **edges}
    draft.add(windows.window, 0, {name: decimal(value) for name, value in chosen.items()})
    draft.add(windows.limit, 0, {})
    return draft.proof("window")


def decimal(value: float) -> str:
    """A double to `DIGITS` digits."""
    return f"{value:.{DIGITS}g}"
