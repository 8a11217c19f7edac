"""Export the theorems on linear transformers, and list the modules of `algebra.v`, which assume nothing."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import NamedTuple

from lipverify.proofs.checker.chain import Proof
from lipverify.proofs.coq.text import assumed, defined, written


class Whole(NamedTuple):
    """A module of `algebra.v`: patterns of the claims that it proves, its subject, and the libraries that it needs."""

    claims: tuple[str, ...]
    about: str
    needs: tuple[str, ...] = ()


WHOLE = {
    "momentum": Whole(("lt.momentum/printed*", "lt.momentum/derived*"), "Lemma 4.4 in four readings, for all d and n"),
    "layers": Whole(("lt.second-order/both/proved",), "the number of layers, for every kappa and epsilon"),
    "majorant": Whole(("lt.expressive-limit/length/proved",), "the moments and the polynomial of the bound for n >= 6"),
    "table_1": Whole(("lt.match-tuned*",), "Section 6 against the printed entries, not what was trained"),
    "gaussian_window": Whole(
        ("softmax.gaussian-window/*",), "on the sphere attention is a Gaussian window of c = 1/2, and of no other c"
    ),
    "split": Whole(("softmax.split",), "the loss is bias plus noise, for noise that is centred and uncorrelated"),
    "values": Whole(
        ("softmax.values-ignore-covariates/v",),
        "Lemma B.1: what the values read of the covariates adds a square, for laws that are symmetric",
    ),
    "whitening": Whole(
        ("softmax.covariance-inversion/whitened/proved",), "scores and functions after whitening are those before it"
    ),
    "fixed_tokens": Whole(
        ("softmax.tradeoff/*/noise/every-w/proved",),
        "for any tokens the noise never falls in w, and means of h^p never rise; not that they move",
        ("attention",),
    ),
    "implicit": Whole(
        ("lt.implicit-model/every-depth",), "Theorem 4.1 after any number of layers, for all d, n, heads and weights"
    ),
}
"""Theorems that Coq proves without a hypothesis, by module."""
FACTS = {
    "cosine": ("shares", "independent", "majorised", "tangent"),
    "ridge": ("minkowski", "posterior", "fluctuates"),
}


def whole(id: str) -> str | None:
    """The module of `algebra.v` that proves a claim, or None.

    >>> whole("lt.momentum/printed"), whole("lt.momentum/kappa")
    ('momentum', None)
    """
    return next((name for name, each in WHOLE.items() if any(fnmatchcase(id, its) for its in each.claims)), None)


def cosine(proof: Proof) -> Iterator[str]:
    """Write Theorem 4.2 for every number of tokens and every dimension, with its limit."""
    k = {name: value for lemma in proof.lemmas for name, value in lemma.constants.items()}
    yield from defined(k)
    yield "Lemma C_ge : 5 <= C.\nProof. unfold C. lra. Qed."
    yield "Lemma offset_ge : C - 1 <= offset.\nProof. unfold C, offset. lra. Qed."
    yield "Lemma low_le : low <= 4.\nProof. unfold low. lra. Qed."
    yield "Section Statement.\nVariables (q : nat -> R) (cosine : nat -> nat -> R)."
    yield from assumed(FACTS["cosine"])
    yield """Theorem cosine_theorem : forall d n, (1 <= d)%nat -> (1 <= n)%nat -> INR n * cosine d n <= INR d + offset.
Proof.
  intros d n Hd Hn. pose proof (cosine_le q cosine shares majorised independent d n Hd Hn). pose proof C_ge.
  pose proof offset_ge. lra.
Qed.

Theorem cosine_limit : forall d n, (1 <= d < n)%nat -> (6 <= n)%nat ->
  INR d + low - (60 + 5 * INR d) / INR n <= INR n * cosine d n.
Proof.
  intros d n Hd Hn. pose proof (cosine_ge q cosine shares majorised tangent independent d n Hd Hn).
  pose proof low_le. lra.
Qed."""
    yield "End Statement."


def ridge(proof: Proof) -> Iterator[str]:
    """Write Theorem 5.2 with a rate, for all numbers of tokens from the proved one on."""
    k = {{"R": "R_"}.get(name, name): value for lemma in proof.lemmas for name, value in lemma.constants.items()}
    about = {name: proof.about[name] for name in ("sigma_1", "sigma_2", "d")} | {"least": proof.about["n"]}
    definitions = {name: written(Fraction(value)) for name, value in (about | k).items()} | {
        "s": f"sigma_{proof.about['level']} ^ 2",
        "c": "(1 + sigma_1 ^ 2 + sigma_2 ^ 2) / ((1 + sigma_1 ^ 2) * (1 + sigma_2 ^ 2))",
        "v": "- 1 / (1 + sigma_1 ^ 2 + sigma_2 ^ 2)",
    }
    yield from (f"Definition {name} : R := {text}." for name, text in definitions.items())
    yield f"Definition b : list R := {'[1]' if proof.about['first'] == 'yy' else '[1; 0; c ^ 2]'}."
    yield (
        "Ltac numbers := unfold fluctuation, squares, own, every, b; cbn [map plus_poly times_poly of_trace INR]; "
        f"unfold s, c, v; unfold {', '.join(about | k)}; first [lra | interval with (i_prec 90)]."
    )
    yield "Lemma d_pos : 0 < d.\nProof. numbers. Qed.\nLemma s_nonneg : 0 <= s.\nProof. numbers. Qed."
    yield "Lemma c_square : 0 <= c ^ 2.\nProof. apply pow2_ge_0. Qed."
    yield "Lemma b_nonneg : not_negative b.\nProof. pose proof c_square. unfold b. each. Qed."
    yield "Lemma least_ge : 1 <= least.\nProof. numbers. Qed."
    yield "Lemma Q_ge : fluctuation d s c v b least <= Q.\nProof. numbers. Qed."
    yield "Lemma R_ge : d * (d + 1) / (1 + s) ^ 2 <= R_.\nProof. numbers. Qed."
    yield "Lemma K_ge : (sqrt Q + sqrt R_) ^ 2 / d <= K.\nProof. numbers. Qed."
    yield "Section Statement.\nVariables fluctuating whitened apart : nat -> R."
    yield from assumed(FACTS["ridge"])
    yield """Theorem ridge_theorem : forall n, least <= INR n -> apart n / d <= K / INR n.
Proof.
  exact (ridge_rate d s c v least b fluctuating whitened apart fluctuates posterior minkowski Q R_ K d_pos s_nonneg
    b_nonneg least_ge Q_ge R_ge K_ge).
Qed."""
    yield "End Statement."
