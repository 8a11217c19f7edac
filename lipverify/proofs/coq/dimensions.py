"""Export the bounds on w* in every dimension: up to `ALONE` one by one, beyond it by sequences that fall in d."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from flint import arb, ctx

from lipverify.proofs.checker.chain import Proof
from lipverify.proofs.checker.sizes import LAWS, centre_of
from lipverify.proofs.coq.ramp import every_ramp
from lipverify.proofs.coq.text import BITS, assumed, decimal, defined, library, written
from lipverify.proofs.coq.windows import FARTHEST, kernels

ALONE = 30
"""The last dimension with a certificate of its own. Larger dimensions share certificates, in groups."""
LAST = 10**4
"""A group that contains this dimension has no upper end."""
EVERY = (
    *("mean_d", "continuous_d", "limit_d", "opposite_d", "jensen_d", "jensen_share", "jensen_left"),
    *("laplace_d", "laplace_share"),
)
"""The hypotheses, each for every dimension."""
Y_BEYOND = {
    "affine": "(1 - s) / 2 * r * p / x + s * ((1 - s) / 2 * r * h * (r * p * s) + gamma * (r * p * s) ^ 2) / x ^ 2",
    "quadratic": "r * p / x",
}
"""y of `dimensions.v` at x, for d > 2, in s = 1/a, r = a/k, h = a p and p = 1/W."""


def every_dimension(proof: Proof) -> Iterator[str]:
    """Write the Coq text of a proof for every dimension."""
    law = proof.about["law"]
    k = {name: value for lemma in proof.lemmas for name, value in lemma.constants.items()}
    constants = k | {"m": min(Fraction(FARTHEST), k["T_least"])}
    smooth = LAWS[law].beta == 2
    yield from [f"Definition law := {law}."] if smooth else []
    yield from defined(constants)
    yield f"Ltac values := unfold {'law, ' if smooth else ''}{', '.join(constants)}."
    yield "Ltac numbers := values; decide_numbers."
    yield from (lemma for lemma in kernels(k, constants["m"]) if not smooth or "J0" not in lemma)
    yield library("constants")
    if not smooth:
        yield from every_ramp(k)
        return
    groups = third_groups(law, k)
    for d in sorted(
        {*range(2, ALONE + 3), *(d + i for d, last in groups for i in (0, 1) if last != d), *(d for d, _ in groups)}
    ):
        yield ratio(law, d)
    for d, last in groups:
        if last != d:
            yield beyond(law, d)
    yield from numbers_beyond(law, k)
    yield library("every")
    for d in range(2, ALONE + 1):
        yield from alone(d, k)
    for d, last in groups:
        if last == d:
            yield from alone(d, k, ("third",))
        else:
            yield from third_from(law, k, d, last)
    yield from together(groups)
    yield from theorem(law)


def third_groups(law: str, k: Mapping[str, Fraction]) -> list[tuple[int, int]]:
    """Groups (first, last) of the dimensions beyond ALONE, such that one bound on a/k proves the condition on tau_3."""
    groups, d = list[tuple[int, int]](), ALONE + 1
    while not groups or groups[-1][1] < LAST:
        room, last = float(k["tau_3"] / bulk(law, k, d)), d
        if room * k["M"] > 1:
            last = LAST
        else:
            while (4 / 3) ** (last / 2) / float(k["K"] * k["W_least"]) < 0.99 * room:
                last += 1
        groups.append((d, max(d, last - (last < LAST))))
        d = groups[-1][1] + 1
    return groups


def bulk(law: str, k: Mapping[str, Fraction], d: int) -> Fraction:
    """A bound on (1 + 2/a) S1 (a/k)^2 (1 + room) e^far from d on, which a bound on W^a/n turns into tau or tau_3."""
    r, a = float(rho(law, d)), (d - 1) / 2
    S1 = 1 / (3 * d) if law == "affine" else 8 / ((d - 1) * d)  # as balls have it, for all 1/d
    far = 0.76 * r / (2 * float(k["W_per_d"])) / float(k["first"])
    value = (1 + 2 / a) * S1 * r**2 * (1 + float(k["room"])) * math.exp(far) * 1.001
    return Fraction(math.ceil(value * 10**9), 10**9)


def ratio_of(law: str, d: int) -> arb:
    """The ratio a/k in one dimension, as a ball."""
    return (arb(d) - 1) / 2 / centre_of(law, arb(d))


def ratio(law: str, d: int) -> str:
    """Write the lemma that encloses a/k in one dimension between two decimals."""
    with ctx.workprec(BITS):
        low, high = (decimal(ratio_of(law, d) * (1 + way * arb("1e-24")), way) for way in (-1, +1))
    return (
        f"Lemma ratio_{d} : {written(low)} <= ratio_of law {d} <= {written(high)}.\nProof. unfold law, ratio_of, "
        "scale_of, centre_of, a_of, S1_of, size, Rpower. cbn [Nat.mul Nat.add Nat.sub half_gamma Z.of_nat "
        "Pos.of_succ_nat "
        "Pos.succ]. split; interval with (i_prec 150). Qed."
    )


def rho(law: str, d: int) -> Fraction:
    """An upper bound of a/k in all dimensions from d on."""
    return Fraction(math.ceil(1e6 * float(max(ratio_of(law, d), ratio_of(law, d + 1)))) + 1, 10**6)


def beyond(law: str, d: int) -> str:
    """Write the lemma that bounds a/k in all dimensions from d on."""
    return f"""Lemma ratio_from_{d} d : ({d} <= d)%nat -> 0 < ratio_of law d <= {written(rho(law, d))}.
Proof.
  intros H. split.
  - apply Rdiv_lt_0_compat; [| apply power_pos]. pose proof (size_ge d {d} H). unfold a_of. simpl in H0. lra.
  - revert d H. apply (ratio_stays law {d}); [lia | lra | pose proof ratio_{d}; lra | pose proof ratio_{d + 1}; lra
    |].
    unfold rise_of, a_of, size, law. cbn [Z.of_nat Pos.of_succ_nat Pos.succ]. intros s Hs. apply Rminus_le.
    interval with (i_prec 64, i_bisect s).
Qed."""


def alone(d: int, k: Mapping[str, Fraction], names: Sequence[str] = ("window", "few", "third")) -> Iterator[str]:
    """Write the lemmas of one dimension; the sharper of two conditions on n bounds (mu_3 / mu_2) / (n mu_1)."""
    by_dimension = (4 / 3) ** ((d - 1) / 2) * float(k["M"]) > float(k["K"] * k["W_least"])
    least = ("1 / M", "left") if by_dimension else (f"Rpower (4 / 3) (a_of {d}) * (p / K)", "right")
    bound = "intros Hp. exists ({}); split; [now {} |]. revert Hp. ".format(*least)
    for name in names:
        yield (
            f"Lemma {name}_{d} p : 0 <= p <= 1 / W_least -> {name}_at {d} (ratio_of law {d}) p.\nProof. "
            f"{bound if name == 'third' else ''}generalize ratio_{d}. generalize (ratio_of law {d}). "
            f"{'without_tiny. ' if name == 'window' else ''}reduced. intros. within p. Qed."
        )


def numbers_beyond(law: str, k: Mapping[str, Fraction]) -> Iterator[str]:
    """Write the numbers of `every.v` that depend on the constants, as notations; s is 1/a."""
    r, p = rho(law, ALONE + 1), 1 / k["W_least"]
    exponent = Fraction(77, 100) * r * p
    excess = 2 * (k["loss_high"] - 1) / 3 + Fraction(1, 10**9)
    share = Fraction(1, 2) if law == "affine" else Fraction(1)
    y = [share * r * p / start * Fraction(102, 100) for start in (k["first"], k["split"], 1)]
    b = [1 - 2 * most - 3 * k["tau"] for most in y]
    s_low = (float((1 - 2 * y[1]) / k["low"] ** 2) - 1 - float(excess)) / 2 * 0.98
    s_high = min(0.99 * math.log(float(k["high"])), s_low)
    numbers = {
        "p_most": p,
        "z_most": exponent,
        "excess": excess,
        "excess_exp": Fraction(21, 10) * exponent,
        "excess_rest": excess - Fraction(21, 10) * exponent,
        **{f"y_most_{piece}": most for piece, most in enumerate(y)},
        **{f"b_least_{piece}": least for piece, least in enumerate(b)},
        "s_low": Fraction(math.floor(1e6 * s_low), 10**6),
        "s_high": Fraction(math.floor(1e6 * s_high), 10**6),
    }
    yield from (f"Local Notation {name} := ({written(value)}) (only parsing)." for name, value in numbers.items())
    yield f"Local Notation y_beyond s r h p x := ({Y_BEYOND[law]}) (only parsing)."


def third_from(law: str, k: Mapping[str, Fraction], d: int, last: int) -> Iterator[str]:
    """Write the lemmas on 1/T and (mu_3 / mu_2) / (n mu_1) in a group of dimensions, from one bound."""
    whole, end = written(bulk(law, k, d)), last == LAST
    ranges = "0 < p <= 1 / W_least -> p * (W_per_d * size d) <= 1"
    number = "unfold a_of, size; cbn [Z.of_nat Pos.of_succ_nat Pos.succ]; values; interval with (i_prec 64)"
    by = f"third_by ({whole})" if end else f"third_to {last} ({whole})"
    yield f"""Lemma bulk_from_{d} d p : ({d} <= d)%nat -> {ranges} -> 0 <= bulk d p <= {whole}.
Proof.
  intros Hd Hp Hs. apply (bulk_in {d}); [lia | assumption | assumption |]. pose proof (ratio_from_{d} d Hd) as r_in.
  clear Hs. revert Hp r_in. generalize (ratio_of law d). intros r Hp r_in s h y. unfold bulk_by, law, size.
  cbn [Z.of_nat Pos.of_succ_nat Pos.succ]. revert Hp. values. intros Hp s_in h_in y_in.
  split; [nonneg | interval with (i_prec 64)].
Qed.
Lemma third_from_{d} d p : ({d} <= d{"" if end else f" <= {last}"})%nat -> {ranges} -> third_at d (ratio_of law d) p.
Proof.
  intros Hd Hp Hs. apply ({by}); try lia; try assumption; [now apply bulk_from_{d} | {number}].
Qed."""
    if d == ALONE + 1:
        yield f"""Lemma few_from_{d} d p : ({d} <= d)%nat -> {ranges} -> few_at d (ratio_of law d) p.
Proof. intros Hd Hp Hs. apply (few_by ({whole})); [now apply bulk_from_{d} | assumption | {number}]. Qed."""


def together(groups: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Write the lemmas for all dimensions, each by cases over the dimensions and groups above."""
    alone_ones = range(2, ALONE + 1)
    for name in ("window", "few", "third"):
        cases = [f"d = {d}%nat" for d in alone_ones]
        uses = [f"subst d; apply {name}_{d}; lra" for d in alone_ones]
        if name == "third":
            for d, last in groups:
                single = last == d
                cases.append(f"d = {d}%nat" if single else f"({d} <= d{'' if last == LAST else f' <= {last}'})%nat")
                uses.append(f"subst d; apply third_{d}; lra" if single else f"now apply third_from_{d}")
        else:
            cases.append(f"({ALONE + 1} <= d)%nat")
            uses.append(f"now apply {'window_beyond' if name == 'window' else f'few_from_{ALONE + 1}'}")
        either = " \\/ ".join(cases)
        yield (
            f"Lemma {name}_every d p : (2 <= d)%nat -> 0 < p <= 1 / W_least -> p * (W_per_d * size d) <= 1 -> "
            f"{name}_at d "
            f"(ratio_of law d) p.\nProof.\n  intros Hd Hp Hs. assert (C : {either}) by lia.\n  destruct C as ["
            f"{' | ['.join('C' for _ in cases[1:])} | C{']' * (len(cases) - 1)}.\n"
            + "\n".join(f"  - {use}." for use in uses)
            + "\nQed."
        )


def theorem(law: str) -> Iterator[str]:
    """Write the theorem with its hypotheses."""
    real = LAWS[law].domain == "over all real w"
    where = "" if real else "0 <= {} -> "
    least = f"forall x, {where.format('x')}loss (N d) (B d) L sigma n w <= loss (N d) (B d) L sigma n x"
    exists = f"exists w, {least}" if real else f"exists w, 0 <= w /\\ ({least})"
    yield "Section Statement.\nVariable E : nat -> (Tokens -> R) -> R."
    yield "Definition N (d : nat) := noise_of (E d).\nDefinition B (d : nat) := bias_of (E d)."
    facts = [name for name in EVERY if real or name != "opposite_d"]
    yield from assumed(facts)
    end = "apply over_all_reals; [now apply opposite_d | assumption | assumption |]. " if real else ""
    uses = " | ".join(f"now apply {name}" for name in ("window_every", "few_every", "third_every", *facts))
    yield f"""Theorem every_dimension_theorem : forall d n L sigma, (2 <= d)%nat -> 0 < L -> 0 < sigma -> (1 <=
  n)%nat ->
  let a := (INR d - 1) / 2 in let W := Rpower (INR n * L ^ 2 / sigma ^ 2) (1 / (a + 2)) in let k := scale_of law d in
  W_least <= W -> W_per_d * INR d <= W -> K * Rpower W (a + 1) <= INR n ->
  M * (Rpower (4 / 3) a * Rpower W a) <= INR n ->
  ({exists}) /\\
  (forall w, {where.format("w")}({least}) ->
    low * (k * W) < w < high * (k * W) /\\
    loss_low * loss_of law d <= loss (N d) (B d) L sigma n w * W ^ 2 / L ^ 2 <= loss_high * loss_of law d).
Proof.
  intros d n L sigma Hd HL Hs Hn a W k HW Hd2 HK HM.
  assert (a_is : a = a_of d) by (unfold a, a_of, size; now rewrite INR_IZR_INZ).
  replace (INR d) with (size d) in Hd2 by (unfold size; now rewrite INR_IZR_INZ). unfold k. unfold W in *. clear W k.
  rewrite a_is in *. change (Rpower (INR n * L ^ 2 / sigma ^ 2) (1 / (a_of d + 2))) with (dim_W d n L sigma) in *.
  {end}apply in_dimension; try assumption; intros; first [{uses}].
Qed."""
    yield "End Statement."
