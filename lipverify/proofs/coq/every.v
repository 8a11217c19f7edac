(* Every dimension at once: the part of an export that is the same for each law. It follows the constants of a proof.

   It is no library: `dimensions.py` writes before it the constants, the lemmas on ratio_of law d = a/k, and, as
   notations, numbers that depend on the constants, for every d > 30:
     p_most                  1 / W_least
     excess                  what the loss over its scale is above 1 + 2 s at most, s = 1/a; excess_exp + excess_rest
     z_most                  a bound on s q, where q is the exponent of the corrections of moments
     y_most_i, b_least_i     what y is at most, and b at least, on the pieces that begin at first, split and 1
     s_low, s_high           values of s: on each side of them another estimate decides at low and at high
     y_beyond s r h p x      y of the law at x *)

(* A goal between numbers, in p at most. *)
Ltac within p := repeat split; first [apply Rminus_lt | apply Rminus_le];
  first [interval with (i_prec 90) | interval with (i_bisect p, i_depth 40, i_prec 90)].
(* A goal of the form 0 <= x, or 0 < x, by signs alone. *)
Ltac nonneg := repeat first [lra | apply Rplus_le_le_0_compat | apply Rmult_le_pos | apply Rdiv_le_0_compat
  | apply pow_le | left; apply exp_pos | apply Rlt_le, Rinv_0_lt_compat | apply Rmult_lt_0_compat].

Lemma end_2 : (5 / 4 * (1 + room)) ^ 2 <= 2.
Proof. numbers. Qed.

(* A sum with e^-10^7 would have 10^7 digits, so the products with cut T_least have bounds of their own. *)
Lemma tiny_1 : 0 <= T_least * cut T_least <= 1 / 10 ^ 50.
Proof.
  unfold cut. values. split; [left; repeat first [apply exp_pos | apply Rmult_lt_0_compat | lra] |].
  interval with (i_prec 64).
Qed.
Lemma tiny_2 : 0 <= T_least ^ 2 * cut T_least <= 1 / 10 ^ 50.
Proof.
  unfold cut. values. split; [left; repeat first [apply exp_pos | apply Rmult_lt_0_compat | lra] |].
  interval with (i_prec 64).
Qed.

(* What is asked of one dimension, by r = a/k and p = 1/W. *)
Definition window_at (d : nat) (r p : R) :=
  window_of gamma over T_least J1 J2 first split low high room tau tau_3 K loss_low loss_high law d r (r * p / a_of d).
Definition few_at (d : nat) (r p : R) := few_of gamma first room tau K law d r (r * p / a_of d) p.
Definition third_at (d : nat) (r p : R) := third_of gamma first room tau_3 K M law d r (r * p / a_of d) p.
Ltac without_tiny := unfold window_at, window_of, most_of; cbv zeta; generalize tiny_1 tiny_2;
  generalize (T_least * cut T_least) (T_least ^ 2 * cut T_least); intros tiny tiny' tiny_in tiny_in';
  revert tiny_in tiny_in'.
Ltac reduced := unfold window_at, few_at, third_at, window_of, few_of, third_of, most_of, line_of, y_of, least_b,
  least_c, far_of, fall_of, q_of, up_of, above_a, al, k_of, S0_of, S1_of, a_of, size; values;
  cbn [plane Z.of_nat Pos.of_succ_nat Pos.succ]; cbv zeta.

(* Every d > 30. *)
Lemma plane_beyond d x y : (3 <= d)%nat -> plane d x y = y.
Proof. destruct d as [| [| [| k]]]; [lia .. | reflexivity]. Qed.

(* k, S0 and S1 of the affine law, or of the quadratic one, from bounds on / x, x = d. *)
Ltac weights_beyond x :=
  match goal with
  | |- context [1 / (3 * x)] => replace (1 / (3 * x)) with (/ x / 3) by (field; lra)
  | _ =>
    replace (2 * (x - 1) / (x ^ 2 * (x + 2))) with (2 * (1 - / x) * (/ x) ^ 2 / (1 + 2 * / x)) by (field; lra);
    replace (4 / (x * (x + 2))) with (4 * (/ x) ^ 2 / (1 + 2 * / x)) by (field; lra);
    replace (8 / ((x - 1) * (x + 2))) with (8 * (/ x) ^ 2 / ((1 - / x) * (1 + 2 * / x))) by (field; lra)
  end; generalize dependent (/ x); intros y y_in; repeat split; first [interval with (i_prec 64) | nonneg].

(* A goal in r, s, p and h is left with their ranges alone. *)
Ltac by_ranges r_in s_in p_in h_in s h := clear - r_in s_in p_in h_in; clearbody s h; revert h_in; values; intros h_in.

Lemma window_beyond d p : (31 <= d)%nat -> 0 < p <= 1 / W_least -> p * (W_per_d * size d) <= 1 ->
  window_at d (ratio_of law d) p.
Proof.
  intros Hd Hp Hs. pose proof (ratio_from_31 d Hd) as r_in. pose proof (size_ge d 31 Hd) as S.
  simpl (IZR (Z.of_nat 31)) in S.
  unfold window_at, window_of. set (r := ratio_of law d) in *. clearbody r. cbv zeta.
  (* a = 1/s, v = r p / a = r p s, and what the law is beyond d = 2. *)
  set (a := a_of d). set (s := / a). set (h := a * p). assert (A : 15 <= a) by (unfold a, a_of; lra).
  assert (s_in : 0 < s <= 1 / 15).
  { unfold s. split; [apply Rinv_0_lt_compat; lra |]. unfold Rdiv. rewrite Rmult_1_l. apply Rinv_le_contravar; lra. }
  assert (h_in : 0 < h <= 1 / (2 * W_per_d)).
  { unfold h. split; [apply Rmult_lt_0_compat; lra |]. revert Hs. values. intros Hs. unfold a, a_of. lra. }
  assert (p_in : 0 < p <= p_most) by (revert Hp; values; lra). clear Hp Hs.
  assert (v_is : r * p / a = r * p * s) by reflexivity.
  assert (al_is : al d = a ^ 2 * (1 - s) / 2) by (unfold al, s; fold a; field; lra).
  assert (a_is : a = / s) by (unfold s; now rewrite Rinv_inv).
  assert (h_is : h = a * p) by reflexivity. assert (sa : s * a = 1) by (unfold s; field; lra).
  assert (falls : forall z, fall_of over d z = 0) by (intros; apply plane_beyond; lia).
  assert (one : forall z, above_a over d z = 1) by (intros; apply plane_beyond; lia).
  assert (y_is : forall x0 x1, 0 < x0 -> y_of gamma over law d (r * p / a) x0 x1 = y_beyond s r h p x0).
  { intros x0 x1 Hx. unfold y_of, law. rewrite ?one, ?plane_beyond by lia. fold a. rewrite ?al_is. unfold h. unfold s.
    field. lra. }
  assert (gap_is : forall x0, 0 < x0 -> al d * (r * p / a) / x0 + (al d + gamma) * (r * p / a / x0) ^ 2
    = a * ((1 - s) / 2 * r * p / x0 + s * ((1 - s) / 2 * r * h * (r * p * s) + gamma * (r * p * s) ^ 2) / x0 ^ 2)).
  { intros x0 Hx. rewrite al_is. unfold h. unfold s. field. lra. }
  (* The loss at x = 1. *)
  set (U := most_of _ _ _ _ _ _ _ _ _ _). assert (U_le : U <= 1 + 2 * s + excess).
  { set (q := 3 / 2 * ((1 - s) / 2 * r * h) + 7 / 8 * ((1 - s) / 2 * r * h * (r * p * s) + gamma * (r * p * s) ^ 2)).
    assert (q_is : q_of gamma d (r * p / a) = q) by (unfold q_of, q, h; rewrite al_is; unfold s; field; lra).
    assert (q_in : 0 <= q <= 45 / 1000)
      by (unfold q; by_ranges r_in s_in p_in h_in s h; split; [nonneg | interval with (i_prec 64)]).
    set (z := 3 / 2 * ((1 - s) / 2 * r * p)
      + 7 / 8 * (s * ((1 - s) / 2 * r * h * (r * p * s) + gamma * (r * p * s) ^ 2))).
    assert (z_is : s * q = z) by (unfold q, z, h; unfold s; field; lra).
    assert (z_le : z <= z_most) by (unfold z; by_ranges r_in s_in p_in h_in s h; interval with (i_prec 64)).
    assert (e_le : exp q <= 1 + 105 / 100 * q).
    { pose proof (exp_ineq1_le (- q)) as I. rewrite exp_Ropp in I. pose proof (exp_pos q).
      apply (Rmult_le_compat_r (exp q)) in I; [| lra]. rewrite Rinv_l in I by lra. nra. }
    set (E := 2 * s * exp q). assert (E_in : 0 <= E <= 1 / 6).
    { unfold E. pose proof (exp_pos q). split; [apply Rmult_le_pos; lra |]. clear - s_in q_in. clearbody s q.
      interval with (i_prec 64). }
    assert (E_le : E <= 2 * s + excess_exp).
    { unfold E. apply Rle_trans with (2 * s * (1 + 105 / 100 * q)); [apply Rmult_le_compat_l; lra |].
      replace (2 * s * (1 + 105 / 100 * q)) with (2 * s + 21 / 10 * (s * q)) by field. rewrite z_is. lra. }
    assert (weights : 0 <= k_of law d <= 1 /\ 0 <= S0_of law d <= 1 / 90 /\ 0 <= S1_of law d <= 1).
    { unfold k_of, S0_of, S1_of, law. set (x := size d) in *. clearbody x. assert (y_in : 0 < / x <= 1 / 31).
      { split; [apply Rinv_0_lt_compat; lra |]. unfold Rdiv. rewrite Rmult_1_l. apply Rinv_le_contravar; lra. }
      weights_beyond x. }
    destruct weights as [w1 [w2 w3]]. unfold U, most_of. rewrite q_is. unfold up_of, law. rewrite ?one. fold a law.
    set (w := k_of law d) in *. set (S0 := S0_of law d) in *. set (S1 := S1_of law d) in *. clearbody w S0 S1.
    replace (2 / a * (exp q * (J1 + 2 * (T_least * cut T_least))) + J2 * 1 ^ 2
        + 2 * S0 * J1 * 1 * exp q * (1 / K) * (r / a)
        + 28 * w * (2 / a * exp q * (1 / K)) ^ 2 * (S1 * r ^ 2) * (T_least ^ 2 * cut T_least))
      with (E + (E * (J1 - 1 + 2 * (T_least * cut T_least)) + J2 + S0 * J1 * E * (1 / K) * r
        + 28 * w * (E * (1 / K)) ^ 2 * (S1 * r ^ 2) * (T_least ^ 2 * cut T_least)))
      by (unfold E, s; field; revert A; values; intros A; lra).
    clearbody E. assert (X : E * (J1 - 1 + 2 * (T_least * cut T_least)) + J2 + S0 * J1 * E * (1 / K) * r
        + 28 * w * (E * (1 / K)) ^ 2 * (S1 * r ^ 2) * (T_least ^ 2 * cut T_least) <= 1 + excess_rest).
    { pose proof tiny_1 as t1. pose proof tiny_2 as t2. revert t1 t2.
      generalize (T_least * cut T_least) (T_least ^ 2 * cut T_least). intros t t' t1 t2. values.
      interval with (i_prec 90). }
    lra. }
  (* b and c on the three pieces. *)
  clearbody U. assert (b_ge : forall y z, y <= z -> (1 - 2 * z) / (1 + tau) ^ 2 <= least_b tau y).
  { intros y z H. unfold least_b, Rdiv. apply Rmult_le_compat_r; [values; left; interval with (i_prec 64) | lra]. }
  assert (y0 : y_of gamma over law d (r * p / a) first split <= y_most_0)
    by (rewrite y_is by (values; lra); by_ranges r_in s_in p_in h_in s h; interval with (i_prec 64)).
  assert (y1 : y_of gamma over law d (r * p / a) split 1 <= y_most_1)
    by (rewrite y_is by (values; lra); by_ranges r_in s_in p_in h_in s h; interval with (i_prec 64)).
  assert (y2 : y_of gamma over law d (r * p / a) 1 2 <= y_most_2)
    by (rewrite y_is by (values; lra); by_ranges r_in s_in p_in h_in s h; interval with (i_prec 64)).
  assert (g0 : al d * (r * p / a) / first + (al d + gamma) * (r * p / a / first) ^ 2 <= a * (1 / 100)).
  { rewrite gap_is by (values; lra). apply Rmult_le_compat_l; [lra |].
    by_ranges r_in s_in p_in h_in s h. interval with (i_prec 64). }
  pose proof (b_ge _ _ y0) as b0. pose proof (b_ge _ _ y1) as b1. pose proof (b_ge _ _ y2) as b2.
  clear b_ge y_is gap_is.
  set (Y0 := y_of _ _ _ _ _ first split) in *. set (Y1 := y_of _ _ _ _ _ split 1) in *.
  set (Y2 := y_of _ _ _ _ _ 1 2) in *. clearbody Y0 Y1 Y2.
  assert (c_is : forall z, least_c over tau_3 d z = / (1 + tau_3) ^ 2)
    by (intros z; unfold least_c; rewrite falls; unfold Rdiv; ring).
  unfold line_of. rewrite !c_is, !falls, !one, !plane_beyond by lia. fold a.
  assert (two : 2 / a = 2 * s) by reflexivity. rewrite two.
  assert (pw : forall x, Rpower x a = Rpower x (1 / s)) by (intros x; f_equal; rewrite a_is; field; lra).
  set (B0 := least_b tau Y0) in *. set (B1 := least_b tau Y1) in *. set (B2 := least_b tau Y2) in *.
  clearbody B0 B1 B2.
  pose proof (power_pos split a) as P0. pose proof (power_pos low a) as P1.
  assert (c_in : 0 < / (1 + tau_3) ^ 2 <= 1) by (values; split; interval with (i_prec 64)).
  (* From first to split the bias alone exceeds U. *)
  assert (d0 : U < B0 * / first ^ 2 /\ split ^ 2 < B0 /\ U < B0 * / split ^ 2).
  { assert (bb : b_least_0 <= B0) by (apply Rle_trans with (2 := b0); values; interval with (i_prec 64)).
    assert (X : forall x, 0 < x -> 1 + 2 * s + excess < b_least_0 * / x ^ 2 -> U < B0 * / x ^ 2).
    { intros x Hx Hl. apply Rle_lt_trans with (1 := U_le). apply Rlt_le_trans with (1 := Hl).
      apply Rmult_le_compat_r; [| assumption]. left. apply Rinv_0_lt_compat, pow_lt, Hx. }
    repeat split; [ | apply Rlt_le_trans with (2 := bb); values; lra | ];
      (apply X; [values; lra | clear - s_in; values; apply Rminus_lt; interval with (i_prec 64)]). }
  (* At low: for small s by the bias alone, then with the noise. *)
  assert (d1 : U < 2 * s * / (1 + tau_3) ^ 2 * Rpower low (1 / s) + B1 * / low ^ 2).
  { assert (bb : b_least_1 <= B1) by (apply Rle_trans with (2 := b1); values; interval with (i_prec 64)).
    apply Rle_lt_trans with (1 := U_le).
    apply Rlt_le_trans with (2 * s * / (1 + tau_3) ^ 2 * Rpower low (1 / s) + b_least_1 * / low ^ 2).
    2: { apply Rplus_le_compat_l, Rmult_le_compat_r; [values; left; interval with (i_prec 64) | assumption]. }
    destruct (Rle_lt_dec s s_low) as [L | L].
    - assert (0 < 2 * s * / (1 + tau_3) ^ 2 * Rpower low (1 / s))
        by (pose proof (power_pos low (1 / s)); repeat apply Rmult_lt_0_compat; lra).
      assert (X : 1 + 2 * s + excess < b_least_1 * / low ^ 2); [| lra].
      clear - s_in L. values. apply Rminus_lt. interval with (i_prec 64).
    - clear - s_in L. values. unfold Rpower. apply Rminus_lt. interval with (i_prec 64, i_bisect s, i_depth 30). }
  (* At high: s high^(1/s) falls in s. *)
  assert (d2 : U < 2 * s * / (1 + tau_3) ^ 2 * Rpower high (1 / s) + B2 * / high ^ 2).
  { assert (bb : b_least_2 <= B2) by (apply Rle_trans with (2 := b2); values; interval with (i_prec 64)).
    apply Rle_lt_trans with (1 := U_le).
    apply Rlt_le_trans with (2 * s * / (1 + tau_3) ^ 2 * Rpower high (1 / s) + b_least_2 * / high ^ 2).
    2: { apply Rplus_le_compat_l, Rmult_le_compat_r; [values; left; interval with (i_prec 64) | assumption]. }
    destruct (Rle_lt_dec s s_high) as [L | L].
    - pose proof (spread_falls s s_high high (conj (proj1 s_in) L) ltac:(values; interval with (i_prec 64))) as F.
      apply Rlt_le_trans with (2 * (/ (1 + tau_3) ^ 2 * (s_high * Rpower high (1 / s_high)))
        + b_least_2 * / high ^ 2).
      + clear - s_in L. values. unfold Rpower. apply Rminus_lt. interval with (i_prec 64).
      + apply Rplus_le_compat_r. replace (2 * s * / (1 + tau_3) ^ 2 * Rpower high (1 / s))
          with (2 * (/ (1 + tau_3) ^ 2 * (s * Rpower high (1 / s)))) by ring.
        apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat_l; lra.
    - clear - s_in L. values. unfold Rpower. apply Rminus_lt. interval with (i_prec 64, i_bisect s, i_depth 30). }
  destruct d0 as [d3 [d4 d5]]. rewrite !(pw low), !(pw high). pose proof (power_pos split a).
  assert (0 < 2 * s * / (1 + tau_3) ^ 2 * Rpower split a) by (repeat apply Rmult_lt_0_compat; lra).
  assert (e1 : 1 + 2 * s + excess < (1 + 2 * s) * (1 + room) * / (1 + tau_3) ^ 2)
    by (clear - s_in; values; apply Rminus_lt; interval with (i_prec 64, i_bisect s)).
  assert (e2 : loss_low <= / (1 + tau_3) ^ 2) by (values; interval with (i_prec 90)).
  assert (e3 : loss_low <= B1 /\ loss_low <= B2).
  { split; [apply Rle_trans with (2 := b1) | apply Rle_trans with (2 := b2)]; values; apply Rminus_le;
    interval with (i_prec 90). }
  assert (e4 : 1 + 2 * s + excess <= loss_high * (1 + 2 * s)) by (clear - s_in; values; lra).
  assert (e5 : 0 < first) by (values; lra).
  repeat split; try assumption; try lra; first [apply e3 | idtac].
Qed.

(* The conditions on 1/T and (mu_3 / mu_2) / (n mu_1) in a group of dimensions from some j on, by one bound on `bulk`. *)
Definition bulk (d : nat) (p : R) : R := (1 + 2 / a_of d) * (S1_of law d * ratio_of law d ^ 2) * (1 + room)
  * exp (far_of gamma first d (ratio_of law d * p / a_of d)).
(* The same in s = 1/a, h = a p, r = a/k, p = 1/W and y = 1/d. *)
Definition bulk_by (s h r p y : R) : R :=
  (1 + 2 * s) * (match law with affine => y / 3 | quadratic => 8 * y ^ 2 / ((1 - y) * (1 + 2 * y)) end * r ^ 2)
  * (1 + room) * exp (3 / 2 * ((1 - s) / 2 * r * h / first)
    + 7 / 8 * (((1 - s) / 2 * r * h * (r * p * s) + gamma * (r * p * s) ^ 2) / first ^ 2)).

Lemma bulk_in j whole d p : (3 <= j <= d)%nat -> 0 < p <= 1 / W_least -> p * (W_per_d * size d) <= 1 ->
  (forall s h y, 0 < s <= 2 / (size j - 1) -> 0 < h <= 1 / (2 * W_per_d) -> 0 < y <= 1 / size j ->
    0 <= bulk_by s h (ratio_of law d) p y <= whole) -> 0 <= bulk d p <= whole.
Proof.
  intros Hd Hp Hs H. assert (J : 3 <= size j) by exact (size_ge j 3 (proj1 Hd)).
  assert (S : size j <= size d) by (apply IZR_le; lia). assert (A : (size j - 1) / 2 <= a_of d) by (unfold a_of; lra).
  assert (E : bulk d p = bulk_by (/ a_of d) (a_of d * p) (ratio_of law d) p (/ size d)).
  { unfold bulk, bulk_by, far_of. rewrite plane_beyond by lia. f_equal; [f_equal; f_equal; f_equal |].
    - unfold S1_of, law. field. lra.
    - f_equal. unfold al. field. repeat split; first [lra | values; lra]. }
  rewrite E. apply H.
  - split; [apply Rinv_0_lt_compat; lra |]. replace (2 / (size j - 1)) with (/ ((size j - 1) / 2)) by (field; lra).
    apply Rinv_le_contravar; lra.
  - split; [apply Rmult_lt_0_compat; lra |]. revert Hs. values. intros Hs. unfold a_of. lra.
  - split; [apply Rinv_0_lt_compat; lra |]. unfold Rdiv. rewrite Rmult_1_l. apply Rinv_le_contravar; lra.
Qed.

Lemma few_by whole d p : 0 <= bulk d p <= whole -> 0 < p <= 1 / W_least -> whole * (1 / W_least / K) <= tau ->
  few_at d (ratio_of law d) p.
Proof.
  intros [B0 B1] Hp H. apply Rle_trans with (2 := H). unfold few_at, few_of. fold (bulk d p). pose proof K_pos.
  apply Rmult_le_compat; [assumption | left; apply Rdiv_lt_0_compat; lra | assumption |].
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat |]; lra.
Qed.

(* Either condition on n decides: the one in M, or up to a last dimension the one in K. *)
Lemma third_by whole d p : 0 <= bulk d p <= whole -> whole * (1 / M) <= tau_3 -> third_at d (ratio_of law d) p.
Proof.
  intros [B0 B1] H. exists (1 / M). split; [now left |]. apply Rle_trans with (2 := H). fold (bulk d p).
  pose proof M_pos. apply Rmult_le_compat_r; [left; apply Rdiv_lt_0_compat |]; lra.
Qed.

Lemma third_to j whole d p : (d <= j)%nat -> 0 <= bulk d p <= whole -> 0 < p <= 1 / W_least ->
  whole * (Rpower (4 / 3) (a_of j) * (1 / W_least / K)) <= tau_3 -> third_at d (ratio_of law d) p.
Proof.
  intros Hd [B0 B1] Hp H. exists (Rpower (4 / 3) (a_of d) * (p / K)). split; [now right |].
  apply Rle_trans with (2 := H). fold (bulk d p). pose proof K_pos. pose proof (power_pos (4 / 3) (a_of d)).
  assert (P : Rpower (4 / 3) (a_of d) <= Rpower (4 / 3) (a_of j)).
  { apply Rle_Rpower; [lra |]. unfold a_of. assert (size d <= size j) by (apply IZR_le; lia). lra. }
  assert (q : 0 < p / K <= 1 / W_least / K).
  { split; [apply Rdiv_lt_0_compat; lra |]. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat |]; lra. }
  apply Rmult_le_compat; [assumption | apply Rmult_le_pos; lra | assumption | apply Rmult_le_compat; lra].
Qed.

(* The theorem over w >= 0 in one dimension, from the facts about that dimension. *)
Section One.
Variables (d n : nat) (E : (Tokens -> R) -> R) (L sigma : R).
Local Notation N := (noise_of E).
Local Notation B := (bias_of E).
Local Notation W := (dim_W d n L sigma).
Hypotheses (d_ge : (2 <= d)%nat) (L_pos : 0 < L) (sigma_pos : 0 < sigma) (n_ge : (1 <= n)%nat).
Hypotheses (W_ge : W_least <= W) (W_d : W_per_d * size d <= W) (many : K * Rpower W (a_of d + 1) <= INR n).
Hypothesis many_d : M * (Rpower (4 / 3) (a_of d) * Rpower W (a_of d)) <= INR n.
Hypothesis window_p : forall p, 0 < p <= 1 / W_least -> p * (W_per_d * size d) <= 1 -> window_at d (ratio_of law d) p.
Hypothesis few_p : forall p, 0 < p <= 1 / W_least -> p * (W_per_d * size d) <= 1 -> few_at d (ratio_of law d) p.
Hypothesis third_p : forall p, 0 < p <= 1 / W_least -> p * (W_per_d * size d) <= 1 -> third_at d (ratio_of law d) p.
Hypotheses (mean_E : Mean E) (continuous_E : Continuous N B) (limit_E : Moment_limit d (a_of d) (limit_of d)).
Hypotheses (jensen_N : Jensen_pair d N) (jensen_B : Jensen_degree d B (S1_of law d) (gap law d)).
Hypotheses (left_B : Jensen_left d B (S1_of law d) (gap law d)) (laplace_N : Laplace_noise d N).
Hypothesis laplace_B : Laplace_degree d B (k_of law d) (S0_of law d) (S1_of law d) (gap law d).

Lemma in_dimension :
  (exists w, 0 <= w /\ forall x, 0 <= x -> loss N B L sigma n w <= loss N B L sigma n x) /\
  forall w, 0 <= w -> (forall x, 0 <= x -> loss N B L sigma n w <= loss N B L sigma n x) ->
    low * (scale_of law d * W) < w < high * (scale_of law d * W) /\
    loss_low * loss_of law d <= loss N B L sigma n w * W ^ 2 / L ^ 2 <= loss_high * loss_of law d.
Proof.
  pose proof W_least_ge. assert (Wp : 0 < W) by lra. set (p := / W). assert (p_in : 0 < p <= 1 / W_least).
  { unfold p, Rdiv. rewrite Rmult_1_l. split; [apply Rinv_0_lt_compat; lra | apply Rinv_le_contravar; lra]. }
  assert (p_d : p * (W_per_d * size d) <= 1).
  { apply Rmult_le_reg_r with W; [assumption |]. unfold p. rewrite (Rmult_comm (/ _)), Rmult_assoc, Rinv_l by lra. lra. }
  destruct order as [o1 [o2 [o3 [o4 [o5 o6]]]]]. pose proof gamma_ge.
  apply (one_dimension gamma over T_least m J1 J2 first split low high room tau tau_3 K M loss_low loss_high); try
    assumption; try apply T_least_ge; try apply m_in; try apply J1_ge; try apply J2_ge; try apply room_pos;
    try apply K_pos; try apply M_pos; try apply T_le; try apply loss_low_pos; try apply over_ge; try apply end_2; try lra.
  - now apply cubic_every.
  - now apply window_p.
  - now apply few_p.
  - now apply third_p.
  - now apply rises.
  - now apply squares_N.
  - now apply squares_B.
Qed.
End One.
