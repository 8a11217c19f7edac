"""The optimal window in every dimension: the first by their own numbers, all beyond by what falls in d."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from flint import arb, ctx

from lipverify.errors import OutOfReach
from lipverify.proofs.checker.chain import Proof
from lipverify.proofs.checker.sizes import LAWS, centre_of
from lipverify.proofs.coq.text import BITS, assumed, decimal, defined, stated, written
from lipverify.proofs.coq.windows import FARTHEST, kernels

ALONE = 30
"""The last dimension that is certified by its own numbers."""
LAST = 10**4
"""A group that reaches so far reaches all dimensions."""
EVERY = (
    *("mean_d", "continuous_d", "limit_d", "opposite_d", "jensen_d", "jensen_share", "jensen_left"),
    *("laplace_d", "laplace_share"),
)
"""The facts that are assumed, in every dimension."""
FACTS = """
gamma_ge: 1 <= gamma <= 6
T_least_ge: 12 <= T_least
m_in: 0 <= m <= T_least
order: 0 < first /\\ 2 * first <= 1 /\\ first < split /\\ split < low /\\ low < 1 /\\ 1 < high
room_pos: 0 < room
K_pos: 0 < K
M_pos: 0 < M
W_least_ge: 1 <= W_least
T_le: tau * T_least <= 1
loss_low_pos: 0 <= loss_low
over_ge: 1 <= 1 / 2 + 1 / 16 + over / 4 /\\ 0 < 2 * over - 1 / 4 - (1 / 64 + 3 * over) / 2 - over / 16 - over ^ 2 / 8
end_2: (5 / 4 * (1 + room)) ^ 2 <= 2
"""
WEIGHTS = {
    "affine": "replace (1 / (3 * x)) with (/ x / 3) by (field; lra). set (y := / x) in *. clearbody y. "
    "repeat split; first [interval with (i_prec 64) | nonneg].",
    "quadratic": "set (y := / x) in *. replace (2 * (x - 1) / (x ^ 2 * (x + 2))) with (2 * (1 - y) * y ^ 2 / "
    "(1 + 2 * y)) by (unfold y; field; lra). replace (4 / (x * (x + 2))) with (4 * y ^ 2 / (1 + 2 * y)) by (unfold "
    "y; field; lra). "
    "replace (8 / ((x - 1) * (x + 2))) with (8 * y ^ 2 / ((1 - y) * (1 + 2 * y))) by (unfold y; field; lra). "
    "clearbody y. "
    "repeat split; first [interval with (i_prec 64) | nonneg].",
}
"""k, S0 and S1 beyond some d, by 1/d."""
NUMBERS = "gamma over T_least J1 J2 first split low high room tau tau_3 K loss_low loss_high law"


def every_dimension(proof: Proof) -> Iterator[str]:
    """The part of the file that belongs to this proof."""
    law = proof.about["law"]
    if LAWS[law].beta != 2:
        raise OutOfReach(
            f"law {law} in every dimension: it has no export to Coq; the affine and the quadratic law have one "
            "(prove softmax.window-every-dimension/affine)."
        )
    k = {name: value for lemma in proof.lemmas for name, value in lemma.constants.items()}
    constants = k | {"m": min(Fraction(FARTHEST), k["T_least"])}
    yield f"Definition law := {law}."
    yield from defined(constants)
    yield f"Ltac values := unfold law, {', '.join(constants)}."
    yield "Ltac numbers := values; decide_numbers."
    yield (
        "Ltac within p := repeat split; first [apply Rminus_lt | apply Rminus_le]; "
        "first [interval with (i_prec 90) | interval with (i_bisect p, i_depth 40, i_prec 90)]."
    )
    yield from stated(FACTS)
    yield from (kernel for kernel in kernels(k, constants["m"]) if "J0" not in kernel)
    yield (
        "Ltac nonneg := repeat first [lra | apply Rplus_le_le_0_compat | apply Rmult_le_pos | apply Rdiv_le_0_compat "
        "| apply pow_le | left; apply exp_pos | apply Rlt_le, Rinv_0_lt_compat | apply Rmult_lt_0_compat]."
    )
    for name, power in (("tiny_1", "T_least"), ("tiny_2", "T_least ^ 2")):  # a sum with e^-10^7 would have 10^7 digits
        yield (
            f"Lemma {name} : 0 <= {power} * cut T_least <= 1 / 10 ^ 50.\nProof. unfold cut. values. split; "
            "[left; repeat first [apply exp_pos | apply Rmult_lt_0_compat | lra] | interval with (i_prec 64)]. Qed."
        )
    yield f"Definition window_at (d : nat) (r p : R) := window_of {NUMBERS} d r (r * p / a_of d)."
    yield "Definition few_at (d : nat) (r p : R) := few_of gamma first room tau K law d r (r * p / a_of d) p."
    yield "Definition third_at (d : nat) (r p : R) := third_of gamma first room tau_3 K M law d r (r * p / a_of d) p."
    yield (
        "Ltac without_tiny := unfold window_at, window_of, most_of; cbv zeta; generalize tiny_1 tiny_2; generalize "
        "(T_least "
        "* cut T_least) (T_least ^ 2 * cut T_least); intros tiny tiny' tiny_in tiny_in'; revert tiny_in tiny_in'."
    )
    yield (
        "Ltac reduced := unfold window_at, few_at, third_at, window_of, few_of, third_of, most_of, line_of, y_of, "
        "least_b, least_c, far_of, fall_of, q_of, up_of, above_a, al, k_of, S0_of, S1_of, a_of, size; values; "
        "cbn [plane Z.of_nat Pos.of_succ_nat Pos.succ]; cbv zeta."
    )
    yield (
        "Lemma plane_beyond d x y : (3 <= d)%nat -> plane d x y = y.\nProof. destruct d as [| [| [| k]]]; "
        "[lia .. | reflexivity]. Qed."
    )
    groups = third_groups(law, k)
    for d in sorted(
        {*range(2, ALONE + 3), *(d + i for d, last in groups for i in (0, 1) if last != d), *(d for d, _ in groups)}
    ):
        yield ratio(law, d)
    for d in range(2, ALONE + 1):
        yield from alone(d, k)
    for d, last in groups:
        if last != d:
            yield beyond(law, d)
    yield tail(law, k)
    for d, last in groups:
        if last == d:
            yield from alone(d, k, ("third",))
        else:
            yield from third_from(law, k, d, last)
    yield from (
        f"Lemma cubic_{d} : cubic gamma {d}.\nProof. unfold cubic, al, a_of, size. cbn [Z.of_nat Pos.of_succ_nat "
        "Pos.succ]. values. intros z Hz. destruct (Rle_lt_dec z 3); [interval with (i_prec 64, i_bisect z, i_depth "
        "30) | nra]. "
        "Qed."
        for d in range(2, 9)
    )
    yield from together(groups)
    yield from theorem(law)


def third_groups(law: str, k: Mapping[str, Fraction]) -> list[tuple[int, int]]:
    """Dimensions beyond ALONE in groups in which one bound on a/k is enough for (mu_3 / mu_2) / (n mu_1) <= tau_3."""
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
    """From d on (1 + 2/a) S1 (a/k)^2 (1 + room) e^far is at most this: times what W^a/n is at most, tau or tau_3."""
    r, a = float(rho(law, d)), (d - 1) / 2
    S1 = 1 / (3 * d) if law == "affine" else 8 / ((d - 1) * d)  # as balls have it, for all 1/d
    far = 0.76 * r / (2 * float(k["W_per_d"])) / float(k["first"])
    value = (1 + 2 / a) * S1 * r**2 * (1 + float(k["room"])) * math.exp(far) * 1.001
    return Fraction(math.ceil(value * 10**9), 10**9)


def ratio_of(law: str, d: int) -> arb:
    """a/k."""
    return (arb(d) - 1) / 2 / centre_of(law, arb(d))


def ratio(law: str, d: int) -> str:
    """a/k of one dimension between decimals."""
    with ctx.workprec(BITS):
        low, high = (decimal(ratio_of(law, d) * (1 + way * arb("1e-24")), way) for way in (-1, +1))
    return (
        f"Lemma ratio_{d} : {written(low)} <= ratio_of law {d} <= {written(high)}.\nProof. unfold law, ratio_of, "
        "scale_of, centre_of, a_of, S1_of, size, Rpower. cbn [Nat.mul Nat.add Nat.sub half_gamma Z.of_nat "
        "Pos.of_succ_nat "
        "Pos.succ]. split; interval with (i_prec 150). Qed."
    )


def rho(law: str, d: int) -> Fraction:
    """A bound on a/k from d on."""
    return Fraction(math.ceil(1e6 * float(max(ratio_of(law, d), ratio_of(law, d + 1)))) + 1, 10**6)


def beyond(law: str, d: int) -> str:
    """a/k from one dimension on."""
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
    """One dimension by its own numbers; (mu_3 / mu_2) / (n mu_1) by that condition on n which says more."""
    by_dimension = (4 / 3) ** ((d - 1) / 2) * float(k["M"]) > float(k["K"] * k["W_least"])
    least = ("1 / M", "left") if by_dimension else (f"Rpower (4 / 3) (a_of {d}) * (p / K)", "right")
    bound = "intros Hp. exists ({}); split; [now {} |]. revert Hp. ".format(*least)
    for name in names:
        yield (
            f"Lemma {name}_{d} p : 0 <= p <= 1 / W_least -> {name}_at {d} (ratio_of law {d}) p.\nProof. "
            f"{bound if name == 'third' else ''}generalize ratio_{d}. generalize (ratio_of law {d}). "
            f"{'without_tiny. ' if name == 'window' else ''}reduced. intros. within p. Qed."
        )


def tail(law: str, k: Mapping[str, Fraction]) -> str:
    """All dimensions beyond those that have numbers of their own: what is compared, in s = 1/a."""
    r, W = rho(law, ALONE + 1), k["W_least"]
    share = Fraction(1, 2) if law == "affine" else Fraction(1)
    Y = {name: share * r / W / at * Fraction(102, 100) for name, at in (("0", k["first"]), ("1", k["split"]), ("2", 1))}
    delta = 2 * (k["loss_high"] - 1) / 3 + Fraction(1, 10**9)
    below = (float((1 - 2 * Y["1"]) / k["low"] ** 2) - 1 - float(delta)) / 2 * 0.98
    middle = {"low": below, "high": min(0.99 * math.log(float(k["high"])), below)}
    at = {name: written(Fraction(math.floor(1e6 * value), 10**6)) for name, value in middle.items()}
    y = {
        "affine": "(1 - s) / 2 * r * p / x0 + s * ((1 - s) / 2 * r * h * (r * p * s) + gamma * (r * p * s) ^ 2) / x0 "
        "^ 2",
        "quadratic": "r * p / x0",
    }
    first = ALONE + 1
    return rf"""Lemma window_beyond d p : ({first} <= d)%nat -> 0 < p <= 1 / W_least -> p * (W_per_d * size d) <= 1 ->
  window_at d (ratio_of law d) p.
Proof.
  intros Hd Hp Hs. pose proof (ratio_from_{first} d Hd) as r_in. pose proof (size_ge d {first} Hd) as S. simpl (IZR
    (Z.of_nat {first})) in S.
  unfold window_at, window_of. set (r := ratio_of law d) in *. clearbody r. cbv zeta.
  set (a := a_of d). set (s := / a). set (h := a * p). assert (A : {(first - 1) // 2} <= a) by (unfold a, a_of; lra).
  assert (s_in : 0 < s <= 1 / {(first - 1) // 2}).
  {{ unfold s. split; [apply Rinv_0_lt_compat; lra |]. unfold Rdiv. rewrite Rmult_1_l. apply Rinv_le_contravar; lra.
    }}
  assert (h_in : 0 < h <= 1 / (2 * W_per_d)).
  {{ unfold h. split; [apply Rmult_lt_0_compat; lra |]. revert Hs. values. intros Hs. unfold a, a_of. lra. }}
  assert (p_in : 0 < p <= {written(1 / W)}) by (revert Hp; values; lra). clear Hp Hs.
  assert (v_is : r * p / a = r * p * s) by reflexivity.
  assert (al_is : al d = a ^ 2 * (1 - s) / 2) by (unfold al, s; fold a; field; lra).
  assert (a_is : a = / s) by (unfold s; now rewrite Rinv_inv).
  assert (h_is : h = a * p) by reflexivity. assert (sa : s * a = 1) by (unfold s; field; lra).
  assert (falls : forall z, fall_of over d z = 0) by (intros; apply plane_beyond; lia).
  assert (one : forall z, above_a over d z = 1) by (intros; apply plane_beyond; lia).
  assert (y_is : forall x0 x1, 0 < x0 -> y_of gamma over law d (r * p / a) x0 x1 = {y[law]}).
  {{ intros x0 x1 Hx. unfold y_of, law. rewrite ?one, ?plane_beyond by lia. fold a. rewrite ?al_is. unfold h. unfold
    s. field. lra. }}
  assert (gap_is : forall x0, 0 < x0 -> al d * (r * p / a) / x0 + (al d + gamma) * (r * p / a / x0) ^ 2
    = a * ((1 - s) / 2 * r * p / x0 + s * ((1 - s) / 2 * r * h * (r * p * s) + gamma * (r * p * s) ^ 2) / x0 ^ 2)).
  {{ intros x0 Hx. rewrite al_is. unfold h. unfold s. field. lra. }}
  set (U := most_of _ _ _ _ _ _ _ _ _ _). assert (U_le : U <= 1 + 2 * s + {written(delta)}).
  {{ set (q := 3 / 2 * ((1 - s) / 2 * r * h) + 7 / 8 * ((1 - s) / 2 * r * h * (r * p * s) + gamma * (r * p * s) ^ 2)).
    assert (q_is : q_of gamma d (r * p / a) = q) by (unfold q_of, q, h; rewrite al_is; unfold s; field; lra).
    assert (q_in : 0 <= q <= 45 / 1000) by (unfold q; clear - r_in s_in p_in h_in; clearbody s h; revert h_in;
      values; intros h_in; split; [nonneg | interval with (i_prec 64)]).
    set (z := 3 / 2 * ((1 - s) / 2 * r * p) + 7 / 8 * (s * ((1 - s) / 2 * r * h * (r * p * s) + gamma * (r * p * s) ^
      2))).
    assert (z_is : s * q = z) by (unfold q, z, h; unfold s; field; lra).
    assert (z_le : z <= {written(Fraction(77, 100) * r / W)}) by (unfold z; clear - r_in s_in p_in h_in; clearbody s
      h; revert h_in; values; intros h_in; interval with (i_prec 64)).
    assert (e_le : exp q <= 1 + 105 / 100 * q).
    {{ pose proof (exp_ineq1_le (- q)) as I. rewrite exp_Ropp in I. pose proof (exp_pos q).
      apply (Rmult_le_compat_r (exp q)) in I; [| lra]. rewrite Rinv_l in I by lra. nra. }}
    set (E := 2 * s * exp q). assert (E_in : 0 <= E <= 1 / 6).
    {{ unfold E. pose proof (exp_pos q). split; [apply Rmult_le_pos; lra |]. clear - s_in q_in. clearbody s q.
      interval with (i_prec 64). }}
    assert (E_le : E <= 2 * s + {written(Fraction(21, 10) * Fraction(77, 100) * r / W)}).
    {{ unfold E. apply Rle_trans with (2 * s * (1 + 105 / 100 * q)); [apply Rmult_le_compat_l; lra |].
      replace (2 * s * (1 + 105 / 100 * q)) with (2 * s + 21 / 10 * (s * q)) by field. rewrite z_is. lra. }}
    assert (weights : 0 <= k_of law d <= 1 /\ 0 <= S0_of law d <= 1 / 90 /\ 0 <= S1_of law d <= 1).
    {{ unfold k_of, S0_of, S1_of, law. set (x := size d) in *. clearbody x. assert (0 < / x <= 1 / {first}).
      {{ split; [apply Rinv_0_lt_compat; lra |]. unfold Rdiv. rewrite Rmult_1_l. apply Rinv_le_contravar; lra. }}
      {WEIGHTS[law]} }}
    destruct weights as [w1 [w2 w3]]. unfold U, most_of. rewrite q_is. unfold up_of, law. rewrite ?one. fold a law.
    set (w := k_of law d) in *. set (S0 := S0_of law d) in *. set (S1 := S1_of law d) in *. clearbody w S0 S1.
    replace (2 / a * (exp q * (J1 + 2 * (T_least * cut T_least))) + J2 * 1 ^ 2 + 2 * S0 * J1 * 1 * exp q * (1 / K) *
      (r / a)
      + 28 * w * (2 / a * exp q * (1 / K)) ^ 2 * (S1 * r ^ 2) * (T_least ^ 2 * cut T_least))
      with (E + (E * (J1 - 1 + 2 * (T_least * cut T_least)) + J2 + S0 * J1 * E * (1 / K) * r
        + 28 * w * (E * (1 / K)) ^ 2 * (S1 * r ^ 2) * (T_least ^ 2 * cut T_least)))
      by (unfold E, s; field; revert A; values; intros A; lra).
    clearbody E. assert (X : E * (J1 - 1 + 2 * (T_least * cut T_least)) + J2 + S0 * J1 * E * (1 / K) * r
        + 28 * w * (E * (1 / K)) ^ 2 * (S1 * r ^ 2) * (T_least ^ 2 * cut T_least) <= 1 +
          {written(delta - Fraction(21, 10) * Fraction(77, 100) * r / W)})
      by (pose proof tiny_1 as t1; pose proof tiny_2 as t2; revert t1 t2; generalize (T_least * cut T_least) (T_least
        ^ 2 * cut T_least);
        intros t t' t1 t2; values; interval with (i_prec 90)).
    lra. }}
  clearbody U. assert (b_ge : forall y z, y <= z -> (1 - 2 * z) / (1 + tau) ^ 2 <= least_b tau y).
  {{ intros y z H. unfold least_b, Rdiv. apply Rmult_le_compat_r; [values; left; interval with (i_prec 64) | lra]. }}
  assert (y0 : y_of gamma over law d (r * p / a) first split <= {written(Y["0"])}) by (rewrite y_is by (values; lra);
    clear - r_in s_in p_in h_in; clearbody s h; revert h_in; values; intros h_in; interval with (i_prec 64)).
  assert (y1 : y_of gamma over law d (r * p / a) split 1 <= {written(Y["1"])}) by (rewrite y_is by (values; lra);
    clear - r_in s_in p_in h_in; clearbody s h; revert h_in; values; intros h_in; interval with (i_prec 64)).
  assert (y2 : y_of gamma over law d (r * p / a) 1 2 <= {written(Y["2"])}) by (rewrite y_is by (values; lra); clear -
    r_in s_in p_in h_in; clearbody s h; revert h_in; values; intros h_in; interval with (i_prec 64)).
  assert (g0 : al d * (r * p / a) / first + (al d + gamma) * (r * p / a / first) ^ 2 <= a * (1 / 100)).
  {{ rewrite gap_is by (values; lra). apply Rmult_le_compat_l; [lra |]. clear - r_in s_in p_in h_in; clearbody s h;
    revert h_in; values; intros h_in; interval with (i_prec 64). }}
  pose proof (b_ge _ _ y0) as b0. pose proof (b_ge _ _ y1) as b1. pose proof (b_ge _ _ y2) as b2. clear b_ge y_is
    gap_is.
  set (Y0 := y_of _ _ _ _ _ first split) in *. set (Y1 := y_of _ _ _ _ _ split 1) in *. set (Y2 := y_of _ _ _ _ _ 1
    2) in *. clearbody Y0 Y1 Y2.
  assert (c_is : forall z, least_c over tau_3 d z = / (1 + tau_3) ^ 2) by (intros z; unfold least_c; rewrite falls;
    unfold Rdiv; ring).
  unfold line_of. rewrite !c_is, !falls, !one, !plane_beyond by lia. fold a.
  assert (two : 2 / a = 2 * s) by reflexivity. rewrite two.
  assert (pw : forall x, Rpower x a = Rpower x (1 / s)) by (intros x; f_equal; rewrite a_is; field; lra).
  set (B0 := least_b tau Y0) in *. set (B1 := least_b tau Y1) in *. set (B2 := least_b tau Y2) in *. clearbody B0 B1
    B2.
  pose proof (power_pos split a) as P0. pose proof (power_pos low a) as P1.
  assert (c_in : 0 < / (1 + tau_3) ^ 2 <= 1) by (values; split; interval with (i_prec 64)).
  assert (d0 : U < B0 * / first ^ 2 /\ split ^ 2 < B0 /\ U < B0 * / split ^ 2).
  {{ assert (bb : {written(1 - 2 * Y["0"] - 3 * k["tau"])} <= B0) by (apply Rle_trans with (2 := b0); values;
    interval with (i_prec 64)).
    assert (X : forall x, 0 < x -> 1 + 2 * s + {written(delta)} < {written(1 - 2 * Y["0"] - 3 * k["tau"])} * / x ^ 2
      -> U < B0 * / x ^ 2).
    {{ intros x Hx Hl. apply Rle_lt_trans with (1 := U_le). apply Rlt_le_trans with (1 := Hl). apply
      Rmult_le_compat_r; [| assumption].
      left. apply Rinv_0_lt_compat, pow_lt, Hx. }}
    repeat split; [apply X; [values; lra | clear - s_in; values; apply Rminus_lt; interval with (i_prec 64)] | apply
      Rlt_le_trans with
      (2 := bb); values; lra |].
    apply X; [values; lra | clear - s_in; values; apply Rminus_lt; interval with (i_prec 64)]. }}
  assert (d1 : U < 2 * s * / (1 + tau_3) ^ 2 * Rpower low (1 / s) + B1 * / low ^ 2).
  {{ assert (bb : {written(1 - 2 * Y["1"] - 3 * k["tau"])} <= B1) by (apply Rle_trans with (2 := b1); values;
    interval with (i_prec 64)).
    destruct (Rle_lt_dec s ({at["low"]})) as [L | L].
    - assert (0 < 2 * s * / (1 + tau_3) ^ 2 * Rpower low (1 / s)) by (pose proof (power_pos low (1 / s)); repeat
      apply Rmult_lt_0_compat; lra).
      assert (X : 1 + 2 * s + {written(delta)} < B1 * / low ^ 2); [| lra]. apply Rlt_le_trans with
        ({written(1 - 2 * Y["1"] - 3 * k["tau"])} * / low ^ 2); [clear - s_in L; values; apply Rminus_lt; interval
          with (i_prec 64) |
        apply Rmult_le_compat_r; [values; left; interval with (i_prec 64) | assumption]].
    - apply Rle_lt_trans with (1 := U_le). apply Rlt_le_trans with (2 * s * / (1 + tau_3) ^ 2 * Rpower low (1 / s) +
      {written(1 - 2 * Y["1"] - 3 * k["tau"])} * / low ^ 2).
      + clear - s_in L. values. unfold Rpower. apply Rminus_lt. interval with (i_prec 64, i_bisect s, i_depth 30).
      + apply Rplus_le_compat_l, Rmult_le_compat_r; [values; left; interval with (i_prec 64) | assumption]. }}
  assert (d2 : U < 2 * s * / (1 + tau_3) ^ 2 * Rpower high (1 / s) + B2 * / high ^ 2).
  {{ assert (bb : {written(1 - 2 * Y["2"] - 3 * k["tau"])} <= B2) by (apply Rle_trans with (2 := b2); values;
    interval with (i_prec 64)).
    apply Rle_lt_trans with (1 := U_le). apply Rlt_le_trans with (2 * s * / (1 + tau_3) ^ 2 * Rpower high (1 / s) +
      {written(1 - 2 * Y["2"] - 3 * k["tau"])} * / high ^ 2).
    2: {{ apply Rplus_le_compat_l, Rmult_le_compat_r; [values; left; interval with (i_prec 64) | assumption]. }}
    destruct (Rle_lt_dec s ({at["high"]})) as [L | L].
    - pose proof (spread_falls s ({at["high"]}) high (conj (proj1 s_in) L) ltac:(values; interval with (i_prec 64)))
      as F.
      apply Rlt_le_trans with (2 * (/ (1 + tau_3) ^ 2 * ({at["high"]} * Rpower high (1 / ({at["high"]})))) +
        {written(1 - 2 * Y["2"] - 3 * k["tau"])} * / high ^ 2).
      + clear - s_in L. values. unfold Rpower. apply Rminus_lt. interval with (i_prec 64).
      + apply Rplus_le_compat_r. replace (2 * s * / (1 + tau_3) ^ 2 * Rpower high (1 / s)) with (2 * (/ (1 + tau_3) ^
        2 * (s * Rpower high (1 / s)))) by ring.
        apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat_l; lra.
    - clear - s_in L. values. unfold Rpower. apply Rminus_lt. interval with (i_prec 64, i_bisect s, i_depth 30). }}
  destruct d0 as [d3 [d4 d5]]. rewrite !(pw low), !(pw high). pose proof (power_pos split a).
  assert (0 < 2 * s * / (1 + tau_3) ^ 2 * Rpower split a) by (repeat apply Rmult_lt_0_compat; lra).
  assert (e1 : 1 + 2 * s + {written(delta)} < (1 + 2 * s) * (1 + room) * / (1 + tau_3) ^ 2) by (clear - s_in; values;
    apply Rminus_lt; interval with (i_prec 64, i_bisect s)).
  assert (e2 : loss_low <= / (1 + tau_3) ^ 2) by (values; interval with (i_prec 90)).
  assert (e3 : loss_low <= B1 /\ loss_low <= B2).
  {{ split; [apply Rle_trans with (2 := b1) | apply Rle_trans with (2 := b2)]; values; apply Rminus_le; interval with
    (i_prec 90). }}
  assert (e4 : 1 + 2 * s + {written(delta)} <= loss_high * (1 + 2 * s)) by (clear - s_in; values; lra).
  assert (e5 : 0 < first) by (values; lra).
  repeat split; try assumption; try lra; first [apply e3 | idtac].
Qed."""


def third_from(law: str, k: Mapping[str, Fraction], d: int, last: int) -> Iterator[str]:
    """1/T and (mu_3 / mu_2) / (n mu_1) in a group of dimensions."""
    whole, end = written(bulk(law, k, d)), last == LAST
    weight = {"affine": "/ x / 3", "quadratic": "8 * (/ x) ^ 2 / ((1 - / x) * (1 + 2 * / x))"}[law]
    yield f"""Lemma bulk_from_{d} d p : ({d} <= d)%nat -> 0 < p <= 1 / W_least -> p * (W_per_d * size d) <= 1 ->
  0 <= (1 + 2 / a_of d) * (S1_of law d * ratio_of law d ^ 2) * (1 + room) * exp (far_of gamma first d (ratio_of law d
    * p / a_of d)) <= {whole}.
Proof.
  intros Hd Hp Hs. pose proof (ratio_from_{d} d Hd) as r_in. pose proof (size_ge d {d} Hd) as S. simpl (IZR (Z.of_nat
    {d})) in S.
  set (r := ratio_of law d) in *. clearbody r. unfold far_of. rewrite plane_beyond by lia.
  set (a := a_of d). set (s := / a). set (h := a * p). assert (A : {d - 1} / 2 <= a) by (unfold a, a_of; lra).
  assert (s_in : 0 < s <= 2 / {d - 1}).
  {{ unfold s. split; [apply Rinv_0_lt_compat; lra |]. replace (2 / {d - 1}) with (/ ({d - 1} / 2)) by field. apply
    Rinv_le_contravar; lra. }}
  assert (h_in : 0 < h <= 1 / (2 * W_per_d)).
  {{ unfold h. split; [apply Rmult_lt_0_compat; lra |]. revert Hs. values. intros Hs. unfold a, a_of. lra. }}
  assert (p_in : 0 < p <= {written(1 / k["W_least"])}) by (revert Hp; values; lra). clear Hp Hs.
  assert (far : 3 / 2 * al d * (r * p / a / first) + 7 / 8 * (al d + gamma) * (r * p / a / first) ^ 2
    = 3 / 2 * ((1 - s) / 2 * r * h / first) + 7 / 8 * (((1 - s) / 2 * r * h * (r * p * s) + gamma * (r * p * s) ^ 2)
      / first ^ 2)).
  {{ unfold al. fold a. unfold h. unfold s. field. repeat split; first [lra | values; lra]. }}
  rewrite far. replace (2 / a) with (2 * s) by reflexivity. unfold S1_of, law. set (x := size d) in *. clearbody x a.
  assert (y_in : 0 < / x <= 1 / {d}).
  {{ split; [apply Rinv_0_lt_compat; lra |]. unfold Rdiv. rewrite Rmult_1_l. apply Rinv_le_contravar; lra. }}
  match goal with |- context [?w * r ^ 2] => replace w with ({weight}) by (field; lra) end. set (y := / x) in *.
    clearbody y s h. clear far.
  revert h_in. values. intros h_in. split; [nonneg | interval with (i_prec 64)].
Qed."""
    if end:
        group, least = f"{d} <= d", "exists (1 / M). split; [now left |]."
        rest = f"""apply Rle_trans with ({whole} * (1 / M)).
  - apply Rmult_le_compat_r; [values; interval with (i_prec 64) | assumption].
  - values; interval with (i_prec 64)."""
    else:
        group, least = f"{d} <= d <= {last}", "exists (Rpower (4 / 3) (a_of d) * (p / K)). split; [now right |]."
        rest = f"""clearbody x.
  assert (P : Rpower (4 / 3) (a_of d) <= Rpower (4 / 3) ({last - 1} / 2)).
  {{ apply Rle_Rpower; [lra |]. unfold a_of. assert (size d <= {last}) by (apply IZR_le; lia). lra. }}
  pose proof (power_pos (4 / 3) (a_of d)). assert (q : 0 < p / K <= 1 / W_least / K).
  {{ revert Hp. values. intros Hp. split; lra. }}
  apply Rle_trans with ({whole} * (Rpower (4 / 3) ({last - 1} / 2) * (1 / W_least / K))).
  - apply Rmult_le_compat; [assumption | apply Rmult_le_pos; lra | assumption | apply Rmult_le_compat; lra].
  - values. interval with (i_prec 64)."""
    yield f"""Lemma third_from_{d} d p : ({group})%nat -> 0 < p <= 1 / W_least -> p * (W_per_d * size d) <= 1 ->
  third_at d (ratio_of law d) p.
Proof.
  intros Hd Hp Hs. pose proof (bulk_from_{d} d p ltac:(lia) Hp Hs) as [B0 B1]. {least}
  set (x := _ * exp _) in *. {rest}
Qed."""
    if d == ALONE + 1:
        yield f"""Lemma few_from_{d} d p : ({d} <= d)%nat -> 0 < p <= 1 / W_least -> p * (W_per_d * size d) <= 1 ->
  few_at d (ratio_of law d) p.
Proof.
  intros Hd Hp Hs. pose proof (bulk_from_{d} d p Hd Hp Hs) as [B0 B1]. unfold few_at, few_of. set (x := _ * exp _) in
    *. clearbody x.
  assert (q : 0 < p / K <= 1 / W_least / K) by (revert Hp; values; intros Hp; split; lra).
  apply Rle_trans with ({whole} * (1 / W_least / K)); [apply Rmult_le_compat; lra | values; interval with (i_prec
    64)].
Qed."""


def together(groups: Sequence[tuple[int, int]]) -> Iterator[str]:
    """All dimensions."""
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
    yield (
        "Lemma cubic_every d : (2 <= d)%nat -> cubic gamma d.\nProof.\n  intros Hd. destruct (le_lt_dec 9 d) as [H | "
        "H]; [refine "
        "(cubic_high gamma d _ _); [pose proof gamma_ge; lra | assumption] |].\n  assert (C : "
        + " \\/ ".join(f"d = {d}%nat" for d in range(2, 9))
        + ") by lia.\n  repeat (destruct C as [C | C]; [subst d; first ["
        + " | ".join(f"exact cubic_{d}" for d in range(2, 9))
        + "] |]). subst d. exact cubic_8.\nQed."
    )


def theorem(law: str) -> Iterator[str]:
    """The theorem."""
    real = LAWS[law].domain == "over all real w"
    where = "" if real else "0 <= {} -> "
    least = f"forall x, {where.format('x')}loss (N d) (B d) L sigma n w <= loss (N d) (B d) L sigma n x"
    exists = f"exists w, {least}" if real else f"exists w, 0 <= w /\\ ({least})"
    yield "Section Statement.\nVariable E : nat -> (Tokens -> R) -> R."
    yield "Definition N (d : nat) := noise_of (E d).\nDefinition B (d : nat) := bias_of (E d)."
    yield from assumed([name for name in EVERY if real or name != "opposite_d"])
    end = "apply over_all_reals; [now apply opposite_d | assumption | assumption |]." if real else ""
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
  intros d n L sigma Hd HL Hs Hn a W k HW Hd2 HK HM. pose proof W_least_ge. assert (Wp : 0 < W) by lra.
  assert (a_is : a = a_of d) by (unfold a, a_of, size; now rewrite INR_IZR_INZ).
  replace (INR d) with (size d) in Hd2 by (unfold size; now rewrite INR_IZR_INZ). unfold k. unfold W in *. clear W k.
    rewrite a_is in *.
  change (Rpower (INR n * L ^ 2 / sigma ^ 2) (1 / (a_of d + 2))) with (dim_W d n L sigma) in *.
  set (p := / dim_W d n L sigma). assert (p_in : 0 < p <= 1 / W_least).
  {{ unfold p, Rdiv. rewrite Rmult_1_l. split; [apply Rinv_0_lt_compat; lra | apply Rinv_le_contravar; lra]. }}
  assert (p_d : p * (W_per_d * size d) <= 1).
  {{ apply Rmult_le_reg_r with (dim_W d n L sigma); [assumption |]. unfold p. rewrite (Rmult_comm (/ _)),
    Rmult_assoc, Rinv_l by lra. lra. }}
  destruct order as [o1 [o2 [o3 [o4 [o5 o6]]]]]. pose proof gamma_ge. {end}
  apply (one_dimension gamma over T_least m J1 J2 first split low high room tau tau_3 K M loss_low loss_high); try
    assumption;
    try apply T_least_ge; try apply m_in; try apply J1_ge; try apply J2_ge; try apply room_pos; try apply K_pos; try
      apply M_pos;
    try apply T_le; try apply loss_low_pos; try apply over_ge; try apply end_2; try lra.
  - now apply cubic_every.
  - now apply limit_d.
  - now apply window_every.
  - now apply few_every.
  - now apply third_every.
  - now apply jensen_d.
  - now apply jensen_share.
  - now apply jensen_left.
  - now apply laplace_d.
  - now apply laplace_share.
  - apply rises. now apply mean_d.
  - apply squares_N. now apply mean_d.
  - apply squares_B. now apply mean_d.
  - now apply continuous_d.
Qed."""
    yield "End Statement."
