"""The text that all exports share: numbers and statements in Coq's syntax, and the hypotheses of the theorems."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from flint import arb

BITS = 200
"""Precision of the balls from which constants for Coq are taken, in bits: more than the checker's."""
HYPOTHESES = {
    "mean": ("Mean E", "a mean rises with what is averaged, and leaves a constant as it is"),
    "continuous": ("Continuous N B", "a mean of continuous functions of w is continuous"),
    "limit": ("Moment_limit d a c", "the limit of P = w^a mu as w grows"),
    "opposite": ("Opposite N B", "every token exchanged by its opposite"),
    "jensen": ("Jensen_noise d N", "Jensen: the other tokens are averaged"),
    "jensen_b": ("Jensen_bias d B S1 S2x", "Jensen for every harmonic, and Taylor of 1 - P_l"),
    "laplace": ("Laplace_noise d N", "the Laplace representation, for the noise"),
    "laplace_b": ("Laplace_bias d B V S0 S1", "the Laplace representation, for the bias"),
    "spread_1": ("Laplace_spread d V 1 (fun w => deficit d w / w)", "the Laplace representation, for the mean of h"),
    "spread_2": ("Laplace_spread d V 2 (second d)", "the Laplace representation, for the mean of h^2"),
    "crossed": ("Crossed a V C2", "the mean over q of what changes sign between token and query"),
    "spread_3": (
        "Laplace_spread d V (3 / 2) (fun w => Rpower (second d w) (3 / 4))",
        "the Laplace representation, for the mean of h^(3/2), and Jensen",
    ),
    "laplace_crossed": ("Laplace_crossed d a G1 C1 C2", "the Laplace representation, for what changes sign"),
    "jensen_kink": ("Jensen_kink d a B V linear kinked G2 C1", "Jensen given the query, with z and |z| apart"),
    "laplace_kink": ("Laplace_kink d a B V linear kinked G2 C2", "the Laplace representation, for the bias of |z|"),
    "kink_norm": ("Kink_norm d a c G1 G2", "the normal limit of E[g C | z], and bounds of what it leaves out"),
    "variogram": (
        "By_variogram B V paired square law",
        "the variogram lies between sums of powers, and B is a mean of it",
    ),
    "jensen_v": ("Jensen_variogram d B two square law", "Jensen for every harmonic, and the same sums of powers"),
    "spread": (
        "forall p, 0 < p -> Laplace_spread d V p (raised d p)",
        "the Laplace representation, for the mean of h^p",
    ),
    "spread_low": ("Jensen_spread d V", "Jensen, for the mean of h^p"),
    "moved": (
        "Laplace_bias d (fun n w => 2 * V 1 n w - paired 1 n w) V 1 1",
        "the Laplace representation, for the square of the mean of x_i - x",
    ),
    "pairs": ("Laplace_pairs d paired two", "the Laplace representation, for the distance of two tokens"),
    "pairs_low": ("Jensen_pairs d paired two", "Jensen, for the distance of two tokens"),
    "triangle": ("Triangle V paired", "the triangle inequality, and powers of sums"),
    "gamma_one": ("Gamma_one d a c", "the mean of r^j is a mean of a power of 1 - y, y of a Gamma law"),
    "gamma_two": ("Gamma_two d a c two", "the same for two tokens, with P at the y of both"),
    "mean_d": ("forall d, (2 <= d)%nat -> Mean (E d)", "the same in every dimension, as each of the next four"),
    "continuous_d": (
        "forall d, (2 <= d)%nat -> Continuous (N d) (B d)",
        "a mean of continuous functions of w is continuous",
    ),
    "limit_d": ("forall d, (2 <= d)%nat -> Moment_limit d (a_of d) (limit_of d)", "the limit of P = w^a mu as w grows"),
    "opposite_d": ("forall d, (2 <= d)%nat -> Opposite (N d) (B d)", "every token exchanged by its opposite"),
    "jensen_d": ("forall d, (2 <= d)%nat -> Jensen_pair d (N d)", "Jensen under the weights g^2"),
    "jensen_share": (
        "forall d, (2 <= d)%nat -> Jensen_degree d (B d) (S1_of law d) (gap law d)",
        "Jensen under the weights g (1 - P_l)",
    ),
    "jensen_left": (
        "forall d, (2 <= d)%nat -> Jensen_left d (B d) (S1_of law d) (gap law d)",
        "Jensen; the mean of 1 - P_l falls in w",
    ),
    "laplace_d": ("forall d, (2 <= d)%nat -> Laplace_noise d (N d)", "the Laplace representation, for the noise"),
    "laplace_share": (
        "forall d, (2 <= d)%nat -> Laplace_degree d (B d) (k_of law d) (S0_of law d) (S1_of law d) (gap law d)",
        "the Laplace representation, for the bias",
    ),
    "spread_d": (
        "forall d, (2 <= d)%nat -> Laplace_spread d (V d) 1 (fun w => deficit d w / w)",
        "the Laplace representation, for the mean of h",
    ),
    "crossed_d": (
        "forall d, (2 <= d)%nat -> Crossed (a_of d) (V d) (C2 d)",
        "the mean over q of what changes sign between token and query",
    ),
    "laplace_c_d": (
        "forall d, (2 <= d)%nat -> Laplace_crossed d (a_of d) (G1 d) (C1 d) (C2 d)",
        "the Laplace representation, for what changes sign",
    ),
    "laplace_k_d": (
        "forall d, (2 <= d)%nat -> Laplace_kink d (a_of d) (B d) (V d) (1 / 6) (1 / 6) (G2 d) (C2 d)",
        "the Laplace representation, for the bias of |z|",
    ),
    "kink_norm_d": (
        "forall d, (2 <= d)%nat -> Kink_norm d (a_of d) (limit_of d) (G1 d) (G2 d)",
        "the normal limit of E[g C | z], and bounds of what it leaves out",
    ),
    "jensen_ramp": (
        "forall d, (2 <= d)%nat -> Jensen_ramp d (a_of d) (B d) (V d) (G2 d) (C1 d)",
        "Jensen given z, under the weights g C and g h; Chebyshev for h <= 1",
    ),
    "jensen_ramp_left": (
        "forall d, (2 <= d)%nat -> Jensen_ramp_left d (a_of d) (B d) (G1 d) (G2 d)",
        "Jensen for every harmonic; the mean of 1 - P_l falls in w",
    ),
    "strip_n": ("Strip 1 2 (N n)", "Cauchy's estimate; N is at most 1 / cos(b)^2 where |Im w| <= b < pi/2"),
    "strip_listed": ("Strip (4 * V) 2 listed", "the same for the bias of the listed degrees"),
    "listed_le": ("forall w, 0 <= w -> listed w <= B n w", "the listed degrees are a part of the bias"),
    "level_at": ("risk (N n) (B n) L sigma at_ <= level", "a ball: the loss at one w"),
    "noise_at": ("noise_stop <= sigma ^ 2 * N n stop", "a ball: the noise at one w"),
    "left_known": (
        "tables 128 places left_units (risk (N n) listed L sigma) left_from left_ends left_values",
        "balls: the loss of the listed degrees at the places of each part of [0, low]",
    ),
    "right_known": (
        "tables 128 places right_units (risk (N n) listed L sigma) right_from right_ends right_values",
        "balls: the same on [high, stop]",
    ),
    "even": (
        "forall w, N n (- w) = N n w /\\ B n (- w) = B n w",
        "every token exchanged by its opposite, for an even law",
    ),
    "bent": (
        "2 * bend <= Derive_n (risk (N n) (B n) L sigma) 2 0",
        "the second derivative at w = 0, a mean over one, two and three tokens",
    ),
    "bias_at_1": ("L ^ 2 * B n w_1 <= bias_1", "a ball: the bias at one w"),
    "bias_at_2": ("bias_2 <= L ^ 2 * B n w_2", "a ball: the bias at another w"),
    "omitted_slope": (
        "forall w, 0 <= w -> ex_derive (fun x => B n x - listed x) w /\\\n"
        "  Rabs (Derive (fun x => B n x - listed x) w) <= 4 * omitted * sqrt (2 * V_1 n w)",
        "Cauchy's inequality, for the degrees that are not listed, of the variance `omitted` at most",
    ),
    "distance_at": ("V_1 n edge <= edge_mean", "a ball: the mean of h at one w"),
    "early_known": (
        "tables 128 places early_units (Derive (fun x => - L ^ 2 * listed x)) early_from early_ends early_values",
        "balls: minus the slope of the bias of the listed degrees at the places of each part of [0, edge]",
    ),
    "late_known": (
        "tables 128 places late_units (Derive (fun x => - L ^ 2 * listed x)) late_from late_ends late_values",
        "balls: the same on [edge, stop]",
    ),
    "shares": ("Shares q cosine", "a squared cosine lies between 0 and 1"),
    "independent": ("Independent q cosine", "the other columns span a uniformly random subspace"),
    "majorised": ("Majorised q", "moments on the sphere are those of normal numbers over those of their radius"),
    "tangent": ("Tangent q", "the same, with a tangent of 1 / y"),
    "minkowski": ("Minkowski fluctuating whitened apart", "Minkowski's inequality"),
    "posterior": ("Posterior d s whitened", "w_ridge is a posterior mean, E tr (I - Sigma)^2 of normal tokens"),
    "fluctuates": (
        "Fluctuates d s c v b fluctuating",
        "moments of normal numbers given Sigma, eigenvalues at most the trace",
    ),
}
"""Hypotheses by name: the Coq statement and its reason. Those on attention are first; easier ones are before harder."""


def library(name: str) -> str:
    """The text of a Coq library in this folder."""
    return Path(__file__).with_name(f"{name}.v").read_text(encoding="utf-8")


def assumed(names: Sequence[str]) -> Iterator[str]:
    """Write these facts as hypotheses of a theorem."""
    for name in names:
        says, why = HYPOTHESES[name]
        yield f"(* {why} *)\nHypothesis {name} : {says}."


def defined(constants: Mapping[str, Fraction]) -> Iterator[str]:
    """Write each constant as a Coq definition."""
    yield from (f"Definition {name} : R := {written(value)}." for name, value in constants.items())


def stated(facts: str, own: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    """Write each fact as a lemma. Its proof is the one in `own`, or else the tactic `numbers`."""
    for name, says in re.findall(r"^(\w+): (.*(?:\n  .*)*)", facts, flags=re.MULTILINE):
        yield f"Lemma {name} : {says}.\nProof. {own.get(name, 'numbers')}. Qed."


def written(value: Fraction) -> str:
    """A fraction in Coq's syntax.

    >>> written(Fraction(-1, 2)), written(Fraction(3))
    ('- 1 / 2', '3')
    """
    sign, over, under = "- " if value < 0 else "", abs(value.numerator), value.denominator
    return f"{sign}{over} / {under}" if under > 1 else f"{sign}{over}"


def decimal(value: arb, way: int) -> Fraction:
    """A fraction of about thirty digits: a lower bound (way = -1) or an upper bound (way = +1) of a ball."""
    mantissa, power = (value.lower() if way < 0 else value.upper()).man_exp()
    exact = Fraction(int(mantissa)) * Fraction(2) ** int(power)
    scale = Fraction(10) ** (30 - math.floor(math.log10(abs(float(exact)))))
    return Fraction(math.floor(exact * scale) if way < 0 else math.ceil(exact * scale)) / scale
