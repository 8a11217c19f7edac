(* The optimal window of ReLU in every dimension: its bias is near b w^(-3/2), from the facts on a kink of `attention.v`. *)

From Coq Require Import Reals Psatz Lra Lia Wf_nat ZArith.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
Open Scope R_scope.

(* What a token adds to the denominator of its own weight: for h <= 1 by Chebyshev, given q, and g <= e^-w beyond. *)
Definition own_share (d n : nat) (w : R) : R :=
  Rmax (1 / (tokens d n w * (1 - exp (- w) / (2 * mu d w)))) (exp (- w) / (INR n * mu d w)).
(* ReLU is z / 2 + |z| / 2. Jensen given z, under the weights g C and g h. *)
Definition Jensen_ramp (d : nat) (a : R) (B : nat -> R -> R) (V : R -> nat -> R -> R) (G2 : R -> R) (C1 : nat -> R -> R) : Prop :=
  forall n w, (1 <= n)%nat -> 0 < w -> exp (- w) < 2 * mu d w ->
  1 / 6 * (G2 w / (1 + own_share d n w) ^ 2 - 2 * V 1 n w * C1 n w)
  + 1 / 3 / (2 * a + 1) * (deficit d w / w / (1 + 1 / tokens d n w)) ^ 2 <= B n w.
(* Jensen for every harmonic, and their sum in the limit of many tokens; the mean of 1 - P_l falls in w. *)
Definition Jensen_ramp_left (d : nat) (a : R) (B : nat -> R -> R) (G1 G2 : R -> R) : Prop :=
  forall n w v, (1 <= n)%nat -> 0 <= w <= v -> 0 < v ->
  (1 / 6 * (G2 v - 2 * (deficit d v / v) * G1 v) + 1 / 3 / (2 * a + 1) * (deficit d v / v) ^ 2)
  / (1 + 1 / (INR n * mu d v)) ^ 2 <= B n w.

(* A loss above lines on three pieces, which are sums of powers. *)
Section Lines.
Variables (a : R) (F : R -> R) (first split low high last U loss_low c0 c1 c2 b0 b1 b2 s0 s1 s2 : R).
Hypotheses (a_pos : 0 < a) (order : 0 < first < split /\ split < low < 1 /\ 1 < high /\ 1 <= last).
Hypotheses (c_pos : 0 < c0 /\ 0 < c1 /\ 0 < c2) (b_pos : 0 < b0 /\ 0 < b1 /\ 0 < b2) (s_nonneg : 0 <= s0 /\ 0 <= s1 /\ 0 <= s2).
Definition ramp_line (k b s x : R) : R := 3 / 2 / a * k * Rpower x a + b * Rpower x (- (3 / 2)) + s * Rpower x (- (2)).
Hypothesis on_0 : forall x, first <= x <= split -> ramp_line c0 b0 s0 x <= F x.
Hypothesis on_1 : forall x, split <= x <= 1 -> ramp_line c1 b1 s1 x <= F x.
Hypothesis on_2 : forall x, 1 <= x <= last -> ramp_line c2 b2 s2 x <= F x.
Hypothesis left_of_first : forall x, 0 <= x <= first -> U < F x.
Hypothesis right_of_last : forall x, last < x -> U < F x.
Hypothesis at_1 : F 1 <= U.
Hypothesis falls_0 : c0 <= 1 /\ Rpower split (3 / 2) < b0.
Hypotheses (over_split : U < ramp_line c0 b0 s0 split) (over_low : U < ramp_line c1 b1 s1 low).
Hypothesis over_high : U < ramp_line c2 b2 s2 high.

Lemma ramp_line_is k b s x : ramp_line k b s x = exponentials (3 / 2 / a * k) b s a (- (3 / 2)) (- (2)) (ln x).
Proof. reflexivity. Qed.

Lemma outside_lines x : 0 <= x -> x <= low \/ high <= x -> U < F x.
Proof.
  intros Hx H. destruct order as [[o1 o2] [[o3 o4] [o5 o6]]]. destruct c_pos as [k0 [k1 k2]]. destruct b_pos as [p0 [p1 p2]].
  destruct s_nonneg as [q0 [q1 q2]]. assert (ia : 0 < 3 / 2 / a) by pos.
  assert (lx : forall p r, 0 < p <= r -> ln p <= ln r)
    by (intros p r [? I]; destruct (Rle_lt_or_eq_dec _ _ I) as [? | ->]; [left; apply ln_increasing; lra | lra]).
  assert (m0 : 0 <= 3 / 2 / a * c0) by (left; pos). assert (m1 : 0 <= 3 / 2 / a * c1) by (left; pos).
  assert (m2 : 0 <= 3 / 2 / a * c2) by (left; pos).
  destruct (Rle_lt_dec x first) as [L | L]; [apply left_of_first; lra |].
  destruct (Rlt_le_dec last x) as [R1 | R1]; [now apply right_of_last |].
  destruct H as [H | H].
  - destruct (Rle_lt_dec x split) as [X | X].
    + apply Rlt_le_trans with (2 := on_0 x ltac:(lra)). apply Rlt_le_trans with (1 := over_split). rewrite !ramp_line_is.
      pose proof (tangent (3 / 2 / a * c0) b0 s0 a (- (3 / 2)) (- (2)) m0 ltac:(lra) q0 (ln split) (ln x)) as G.
      assert (slope (3 / 2 / a * c0) b0 s0 a (- (3 / 2)) (- (2)) (ln split) <= 0).
      { unfold slope. fold (Rpower split a). fold (Rpower split (- (3 / 2))). fold (Rpower split (- (2))). rewrite (Rpower_Ropp split (3 / 2)).
        pose proof (power_pos split (3 / 2)) as S3. pose proof (power_pos split (- (2))) as S2.
        assert (Sa : Rpower split a <= 1).
        { replace 1 with (Rpower 1 a) by (unfold Rpower; rewrite ln_1, Rmult_0_r; apply exp_0). apply power_le; lra. }
        pose proof (power_pos split a). destruct falls_0 as [f1 f2].
        assert (c0 * Rpower split a <= 1 * 1) by (apply Rmult_le_compat; lra).
        assert (1 <= b0 * / Rpower split (3 / 2)).
        { apply Rmult_le_reg_r with (Rpower split (3 / 2)); [assumption |]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
        assert (0 <= s0 * (2 * Rpower split (- (2)))) by (apply Rmult_le_pos; lra).
        replace (3 / 2 / a * c0 * (a * Rpower split a)) with (3 / 2 * (c0 * Rpower split a)) by (field; lra). lra. }
      pose proof (lx x split ltac:(lra)).
      assert (0 <= slope (3 / 2 / a * c0) b0 s0 a (- (3 / 2)) (- (2)) (ln split) * (ln x - ln split)); [| lra].
      rewrite <- Rmult_opp_opp. apply Rmult_le_pos; lra.
    + apply Rlt_le_trans with (2 := on_1 x ltac:(lra)). pose proof (on_1 1 ltac:(lra)) as A. rewrite ramp_line_is in *.
      apply (outside (3 / 2 / a * c1) b1 s1 a (- (3 / 2)) (- (2)) m1 ltac:(lra) q1 U (ln 1) (ln low) (ln x)); [lra | exact over_low |].
      right. split; [apply lx; lra | apply ln_increasing; lra].
  - apply Rlt_le_trans with (2 := on_2 x ltac:(lra)). pose proof (on_2 1 ltac:(lra)) as A. rewrite ramp_line_is in *.
    apply (outside (3 / 2 / a * c2) b2 s2 a (- (3 / 2)) (- (2)) m2 ltac:(lra) q2 U (ln 1) (ln high) (ln x)); [lra | exact over_high |].
    left. split; [apply ln_increasing; lra | apply lx; lra].
Qed.

Lemma least_ramp_line x : 0 < x -> 1 + 3 / 2 / a <= 3 / 2 / a * Rpower x a + Rpower x (- (3 / 2)).
Proof.
  intros H. unfold Rpower. pose proof (exp_ineq1_le (a * ln x)) as A. pose proof (exp_ineq1_le (- (3 / 2) * ln x)).
  assert (ia : 0 < 3 / 2 / a) by pos. apply (Rmult_le_compat_l (3 / 2 / a)) in A; [| lra].
  replace (3 / 2 / a * (1 + a * ln x)) with (3 / 2 / a + 3 / 2 * ln x) in A by (field; lra). lra.
Qed.

Lemma inside_lines x : low < x < high -> F x <= U -> 0 <= loss_low ->
  loss_low <= c1 /\ loss_low <= c2 /\ loss_low <= b1 /\ loss_low <= b2 -> (1 + 3 / 2 / a) * loss_low <= F x.
Proof.
  intros Hx HU H0 [l1 [l2 [l3 l4]]]. destruct order as [[o1 o2] [[o3 o4] [o5 o6]]]. destruct s_nonneg as [q0 [q1 q2]].
  assert (ia : 0 < 3 / 2 / a) by pos.
  assert (X : x <= last) by (apply Rnot_lt_le; intros X; pose proof (right_of_last x X); lra).
  assert (goal : forall k b s, loss_low <= k -> loss_low <= b -> 0 <= s -> (1 + 3 / 2 / a) * loss_low <= ramp_line k b s x).
  { intros k b s Hk Hb Hs. pose proof (least_ramp_line x ltac:(lra)) as M. unfold ramp_line. pose proof (power_pos x a) as P.
    pose proof (power_pos x (- (3 / 2))) as P'. pose proof (power_pos x (- (2))).
    apply (Rmult_le_compat_r loss_low) in M; [| assumption]. apply Rle_trans with (1 := M).
    assert (0 <= s * Rpower x (- (2))) by (apply Rmult_le_pos; lra).
    assert (0 < 3 / 2 / a * Rpower x a) by pos.
    assert (3 / 2 / a * Rpower x a * loss_low <= 3 / 2 / a * Rpower x a * k) by (apply Rmult_le_compat_l; lra).
    assert (Rpower x (- (3 / 2)) * loss_low <= Rpower x (- (3 / 2)) * b) by (apply Rmult_le_compat_l; lra). lra. }
  destruct (Rle_lt_dec x 1); [apply Rle_trans with (2 := on_1 x ltac:(lra)) | apply Rle_trans with (2 := on_2 x ltac:(lra))]; now apply goal.
Qed.
End Lines.

Lemma cut_cubed_falls S T : 12 <= S <= T -> T ^ 3 * cut T <= S ^ 3 * cut S.
Proof.
  intros H.
  assert (R : T / 3 * exp (- (T / 3) / 4) <= S / 3 * exp (- (S / 3) / 4)).
  { replace (- (S / 3) / 4) with (- (T / 3) / 4 + (T - S) / 12) by field. rewrite exp_plus.
    pose proof (exp_pos (- (T / 3) / 4)) as P. pose proof (exp_ineq1_le ((T - S) / 12)) as I.
    set (e := exp (- (T / 3) / 4)) in *. set (x := exp ((T - S) / 12)) in *.
    assert (T / 3 <= S / 3 * x) by nra. replace (S / 3 * (e * x)) with (S / 3 * x * e) by ring.
    apply Rmult_le_compat_r; lra. }
  assert (F : forall x, x ^ 3 * cut x = 27 * exp (1 / 4) * (x / 3 * exp (- (x / 3) / 4)) ^ 3).
  { intros x. unfold cut. replace (- (x - 1) / 4) with (1 / 4 + (- (x / 3) / 4 + (- (x / 3) / 4 + - (x / 3) / 4))) by field.
    rewrite !exp_plus. field. }
  rewrite !F. apply Rmult_le_compat_l; [pose proof (exp_pos (1 / 4)); lra |]. apply pow_incr. split; [| exact R].
  apply Rmult_le_pos; [lra | left; apply exp_pos].
Qed.

(* Powers of w with the exponents of a kink, by roots. *)
Lemma root_of_root w : 0 < w -> Rpower w (3 / 4) * / w = sqrt (sqrt (/ w)).
Proof.
  intros H. assert (iw : 0 < / w) by pos. rewrite <- (Rpower_sqrt (sqrt (/ w))) by (now apply sqrt_lt_R0).
  rewrite <- (Rpower_sqrt (/ w)) by assumption. assert (E : / w = Rpower w (- (1))) by (rewrite Rpower_Ropp, Rpower_1; lra).
  rewrite E, !Rpower_mult, <- Rpower_plus. f_equal. field.
Qed.

(* The density of <q, x> at 0, and a lower bound of the limit of P. *)
Lemma half_gamma_fact k : half_gamma (2 * k + 2) = IZR (Z.of_nat (fact k)).
Proof.
  induction k as [| k IH]; [reflexivity |]. replace (2 * S k + 2)%nat with (S (S (2 * k + 2))) by lia.
  rewrite half_gamma_step by lia. rewrite IH. replace (Z.of_nat (fact (S k))) with (Z.of_nat (S k) * Z.of_nat (fact k))%Z.
  - rewrite mult_IZR. f_equal. replace (Z.of_nat (2 * k + 2)) with (2 * Z.of_nat (S k))%Z by lia. rewrite mult_IZR. field.
  - rewrite <- Nat2Z.inj_mul. reflexivity.
Qed.

Definition ramp_peak (d : nat) : R := 2 * half_gamma (2 * d - 2) / (2 ^ (d - 1) * half_gamma (d - 1) ^ 2).

Lemma peak_is d : (2 <= d)%nat -> peak d (limit_of d) = ramp_peak d.
Proof.
  intros H. unfold peak, ramp_peak, limit_of. rewrite <- half_gamma_fact. replace (2 * (d - 2) + 2)%nat with (2 * d - 2)%nat by lia.
  pose proof (half_gamma_pos (2 * d - 2) ltac:(lia)). pose proof (half_gamma_pos (d - 1) ltac:(lia)).
  assert (E : Rpower 2 (- a_of d) ^ 2 = / 2 ^ (d - 1)).
  { rewrite <- (Rpower_pow 2 (Rpower 2 (- a_of d))) by apply power_pos. replace (INR 2) with 2 by (simpl; ring). rewrite Rpower_mult. rewrite <- (Rpower_pow (d - 1)) by lra.
    rewrite <- Rpower_Ropp. f_equal. rewrite INR_IZR_INZ. replace (IZR (Z.of_nat (d - 1))) with (size d - 1) by (rewrite Nat2Z.inj_sub, minus_IZR by lia; reflexivity). unfold a_of. field. }
  assert (0 < 2 ^ (d - 1)) by (apply pow_lt; lra).
  replace (2 * (Rpower 2 (- a_of d) * (half_gamma (2 * d - 2) / half_gamma (d - 1))) ^ 2 / half_gamma (2 * d - 2))
    with (2 * (Rpower 2 (- a_of d) ^ 2) * half_gamma (2 * d - 2) / half_gamma (d - 1) ^ 2) by (field; lra).
  rewrite E. field. lra.
Qed.

Lemma ramp_peak_pos d : (2 <= d)%nat -> 0 < ramp_peak d.
Proof.
  intros H. unfold ramp_peak. pose proof (half_gamma_pos (2 * d - 2) ltac:(lia)). pose proof (half_gamma_pos (d - 1) ltac:(lia)).
  assert (0 < 2 ^ (d - 1)) by (apply pow_lt; lra). pos.
Qed.

(* From d to d + 2. *)
Lemma peak_next d : (2 <= d)%nat -> ramp_peak (S (S d)) = ramp_peak d * (size d / (size d - 1)).
Proof.
  intros H. unfold ramp_peak. replace (2 * S (S d) - 2)%nat with (S (S (S (S (2 * d - 2))))) by lia.
  replace (S (S d) - 1)%nat with (S (S (d - 1))) by lia. rewrite !half_gamma_step by lia. cbn [pow].
  pose proof (half_gamma_pos (2 * d - 2) ltac:(lia)). pose proof (half_gamma_pos (d - 1) ltac:(lia)).
  pose proof (size_ge d 2 H) as P. simpl in P. assert (0 < 2 ^ (d - 1)) by (apply pow_lt; lra).
  replace (IZR (Z.of_nat (S (S (2 * d - 2))))) with (2 * size d).
  2: { replace (S (S (2 * d - 2))) with (2 * d)%nat by lia. rewrite Nat2Z.inj_mul, mult_IZR. reflexivity. }
  replace (IZR (Z.of_nat (2 * d - 2))) with (2 * (size d - 1)).
  2: { rewrite Nat2Z.inj_sub, minus_IZR by lia. rewrite Nat2Z.inj_mul, mult_IZR. unfold size. simpl (IZR (Z.of_nat 2)). ring. }
  replace (IZR (Z.of_nat (d - 1))) with (size d - 1) by (rewrite Nat2Z.inj_sub, minus_IZR by lia; reflexivity).
  field. repeat split; lra.
Qed.

Lemma limit_next d : (2 <= d)%nat -> limit_of (S (S d)) = limit_of d * size d.
Proof.
  intros H. unfold limit_of. replace (2 * S (S d) - 2)%nat with (S (S (S (S (2 * d - 2))))) by lia.
  replace (S (S d) - 1)%nat with (S (S (d - 1))) by lia. rewrite !half_gamma_step by lia.
  pose proof (half_gamma_pos (2 * d - 2) ltac:(lia)). pose proof (half_gamma_pos (d - 1) ltac:(lia)).
  pose proof (size_ge d 2 H) as P. simpl in P.
  replace (IZR (Z.of_nat (S (S (2 * d - 2))))) with (2 * size d).
  2: { replace (S (S (2 * d - 2))) with (2 * d)%nat by lia. rewrite Nat2Z.inj_mul, mult_IZR. reflexivity. }
  replace (IZR (Z.of_nat (2 * d - 2))) with (2 * (size d - 1)).
  2: { rewrite Nat2Z.inj_sub, minus_IZR by lia. rewrite Nat2Z.inj_mul, mult_IZR. unfold size. simpl (IZR (Z.of_nat 2)). ring. }
  replace (IZR (Z.of_nat (d - 1))) with (size d - 1) by (rewrite Nat2Z.inj_sub, minus_IZR by lia; reflexivity).
  replace (Rpower 2 (- a_of (S (S d)))) with (Rpower 2 (- a_of d) * / 2).
  - field. lra.
  - replace (- a_of (S (S d))) with (- a_of d + - (1)) by (unfold a_of; rewrite !size_next; field).
    rewrite Rpower_plus, (Rpower_Ropp 2 1), Rpower_1 by lra. reflexivity.
Qed.

(* Induction by steps of two. *)
Lemma every_other (P : nat -> Prop) j : P j -> P (S j) -> (forall d, (j <= d)%nat -> P d -> P (S (S d))) ->
  forall d, (j <= d)%nat -> P d.
Proof.
  intros P0 P1 step. assert (both : forall i, P (j + i)%nat /\ P (S (j + i))).
  { induction i as [| i [I0 I1]]; [now rewrite Nat.add_0_r |]. rewrite Nat.add_succ_r. split; [assumption |]. apply step; [lia | assumption]. }
  intros d Hd. replace d with (j + (d - j))%nat by lia. apply both.
Qed.

Lemma peak_ge j k : (2 <= j)%nat -> 0 < k -> k * (size j - 1) <= ramp_peak j ^ 2 -> k * (size (S j) - 1) <= ramp_peak (S j) ^ 2 ->
  forall d, (j <= d)%nat -> k * (2 * a_of d) <= ramp_peak d ^ 2.
Proof.
  intros Hj Hk B0 B1 d Hd. replace (2 * a_of d) with (size d - 1) by (unfold a_of; field). revert d Hd.
  apply every_other; [assumption | assumption |]. intros d Hd I. rewrite peak_next by lia. rewrite !size_next.
  pose proof (size_ge d 2 ltac:(lia)) as P. simpl in P. set (x := size d) in *.
  replace ((ramp_peak d * (x / (x - 1))) ^ 2) with (ramp_peak d ^ 2 * (x / (x - 1)) ^ 2) by ring.
  apply Rle_trans with (k * (x - 1) * (x / (x - 1)) ^ 2); [| apply Rmult_le_compat_r; [apply pow2_ge_0 | assumption]].
  replace (k * (x - 1) * (x / (x - 1)) ^ 2) with (k * (x ^ 2 / (x - 1))) by (field; lra).
  apply Rmult_le_compat_l; [lra |]. apply Rmult_le_reg_r with (x - 1); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma peak_le j k : (3 <= j)%nat -> 0 < k -> ramp_peak j ^ 2 <= k * (size j - 2) -> ramp_peak (S j) ^ 2 <= k * (size (S j) - 2) ->
  forall d, (j <= d)%nat -> ramp_peak d ^ 2 <= k * (2 * a_of d).
Proof.
  intros Hj Hk B0 B1 d Hd. apply Rle_trans with (k * (size d - 2)); [| apply Rmult_le_compat_l; unfold a_of; lra]. revert d Hd.
  apply every_other; [assumption | assumption |]. intros d Hd I. rewrite peak_next by lia. rewrite !size_next.
  pose proof (size_ge d 3 ltac:(lia)) as P. simpl in P. set (x := size d) in *.
  replace ((ramp_peak d * (x / (x - 1))) ^ 2) with (ramp_peak d ^ 2 * (x / (x - 1)) ^ 2) by ring.
  apply Rle_trans with (k * (x - 2) * (x / (x - 1)) ^ 2); [apply Rmult_le_compat_r; [apply pow2_ge_0 | assumption] |].
  rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra |]. apply Rmult_le_reg_r with ((x - 1) ^ 2); [apply pow_lt; lra |].
  replace ((x - 2) * (x / (x - 1)) ^ 2 * (x - 1) ^ 2) with ((x - 2) * x ^ 2) by (field; lra).
  replace ((x + 1 + 1 - 2) * (x - 1) ^ 2) with (x * (x - 1) ^ 2) by ring. assert (0 < x) by lra. nra.
Qed.

(* c >= (a / e)^a / 3, so that w^a / c <= 3 e^(w/8) for w >= 64 a. *)
Lemma limit_ge d : (2 <= d)%nat -> 1 / 3 * exp (a_of d * ln (a_of d) - a_of d) <= limit_of d.
Proof.
  revert d. apply (every_other (fun d => 1 / 3 * exp (a_of d * ln (a_of d) - a_of d) <= limit_of d) 2).
  - unfold limit_of, a_of, size, Rpower. cbn [Nat.mul Nat.add Nat.sub half_gamma Z.of_nat Pos.of_succ_nat Pos.succ]. interval with (i_prec 64).
  - unfold limit_of, a_of, size, Rpower. cbn [Nat.mul Nat.add Nat.sub half_gamma Z.of_nat Pos.of_succ_nat Pos.succ]. interval with (i_prec 64).
  - intros d Hd I. rewrite limit_next by assumption. pose proof (a_ge d Hd) as A.
    replace (a_of (S (S d))) with (a_of d + 1) by (unfold a_of; rewrite !size_next; field).
    replace (size d) with (2 * a_of d + 1) by (unfold a_of; field). set (a := a_of d) in *.
    apply Rle_trans with (1 / 3 * exp (a * ln a - a) * (a + 1)).
    2: { pose proof (exp_pos (a * ln a - a)). apply Rmult_le_compat; lra. }
    assert (L : ln (a + 1) - ln a <= / a).
    { rewrite <- ln_div by lra. pose proof (exp_ineq1_le (/ a)) as E. replace ((a + 1) / a) with (1 + / a) by (field; lra).
      rewrite <- (ln_exp (/ a)) at 2. apply ln_le; [assert (0 < / a) by (apply Rinv_0_lt_compat; lra); lra | assumption]. }
    rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra |]. 
    replace (exp (a * ln a - a) * (a + 1)) with (exp (a * ln a - a + ln (a + 1))) by (rewrite exp_plus, exp_ln; lra). apply exp_le.
    apply (Rmult_le_compat_l a) in L; [| lra]. rewrite Rinv_r in L by lra. lra.
Qed.

Lemma remote d w : (2 <= d)%nat -> 64 * a_of d <= w -> 60000 <= w ->
  Rpower w (a_of d) / limit_of d <= 3 * exp (w / 8) /\ Rpower w (3 / 2) <= exp (w / 8).
Proof.
  intros Hd H1 H2. pose proof (a_ge d Hd) as A. pose proof (limit_ge d Hd) as L. set (a := a_of d) in *. split.
  - apply Rmult_le_reg_r with (limit_of d); [apply limit_pos; assumption |]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r
      by (apply Rgt_not_eq, limit_pos; assumption).
    apply Rle_trans with (3 * exp (w / 8) * (1 / 3 * exp (a * ln a - a))); [| apply Rmult_le_compat_l; [pose proof (exp_pos (w / 8)); lra | assumption]].
    replace (3 * exp (w / 8) * (1 / 3 * exp (a * ln a - a))) with (exp (w / 8 + (a * ln a - a))) by (rewrite exp_plus; field).
    unfold Rpower. apply exp_le. set (y := w / a). assert (wy : w = a * y) by (unfold y; field; lra).
    assert (y64 : 64 <= y) by (apply Rmult_le_reg_l with a; lra).
    assert (ly : ln y <= y / 8 - 1).
    { assert (E : y <= exp (y / 8 - 1)).
      { pose proof (exp_ineq1_le ((y - 64) / 8)) as E. assert (E7 : 64 <= exp 7) by interval with (i_prec 64).
        replace (y / 8 - 1) with (7 + (y - 64) / 8) by field. rewrite exp_plus.
        assert (64 * (1 + (y - 64) / 8) <= exp 7 * exp ((y - 64) / 8)) by (apply Rmult_le_compat; lra). lra. }
      rewrite <- (ln_exp (y / 8 - 1)). apply ln_le; lra. }
    rewrite wy, ln_mult by lra. apply (Rmult_le_compat_l a) in ly; lra.
  - unfold Rpower. apply exp_le. assert (E : w <= exp (w / 12)).
    { pose proof (exp_ineq1_le ((w - 60000) / 12)) as E. assert (E7 : 60000 <= exp 5000).
      { pose proof (exp_ineq1_le 2500). replace 5000 with (2500 + 2500) by lra. rewrite exp_plus. nra. }
      replace (w / 12) with (5000 + (w - 60000) / 12) by field. rewrite exp_plus.
      assert (60000 * (1 + (w - 60000) / 12) <= exp 5000 * exp ((w - 60000) / 12)) by (apply Rmult_le_compat; lra). lra. }
    assert (ln w <= w / 12) by (rewrite <- (ln_exp (w / 12)); apply ln_le; lra). lra.
Qed.

(* b, k^(a + 3/2), at which both leading terms are least, and the least sum of both. *)
Definition ramp_lead (d : nat) : R := 4 / 3 * ramp_peak d * psi_0.
Definition ramp_centre (d : nat) : R := 3 / 2 * ramp_lead d / a_of d * (half_gamma (2 * d - 2) / half_gamma (d - 1)).
Definition ramp_scale (d : nat) : R := Rpower (ramp_centre d) (1 / (a_of d + 3 / 2)).
Definition ramp_ratio (d : nat) : R := a_of d / ramp_scale d.
Definition ramp_loss (d : nat) : R := ramp_lead d * Rpower (ramp_scale d) (- (3 / 2)) * (1 + 3 / 2 * / a_of d).

Section Ramp.
Variables (gamma over T m J0 J1 J2 first split low high room tau tau3 K M loss_low loss_high tiny rest : R).

(* Bounds in s = 1/a, r = a/k, p = 1/W, h = a p, and k0 <= peak^2 / 2a <= k1; at w = x w_1, rv = 1/w_1. *)
Section Forms.
Variables (d : nat) (s r p h k0 k1 : R).
Definition rv : R := r * p * s.
Definition rq1 : R := (1 - s) / 2 * r * h.
Definition rq2 : R := rq1 * rv + gamma * rv ^ 2.
Definition rq : R := 3 / 2 * rq1 + 7 / 8 * rq2.
Definition rfar : R := plane d 0 (3 / 2 * (rq1 / first) + 7 / 8 * (rq2 / first ^ 2)).
Definition rE (x : R) : R := plane d 0 (rq1 / x + rq2 / (2 * x ^ 2)).
Definition rH (x : R) : R := plane d (rv / x / 8 + over * (rv / x) ^ 2 / 2) 0.
Definition rup (x : R) : R := plane d (1 + rv / x / 4 + 2 * over * (rv / x) ^ 2) 1.
Definition rvb : R := match d with 2%nat | 3%nat => 0 | 4%nat => 2 * (r * p) | _ => 2 * r * (h - p) end.
Definition rvd : R := match d with 2%nat | 3%nat => (2 + s) * (r * p) | 4%nat => 10 / 3 * (r * p) | _ => 3 * (r * p) end.
Definition rbelow : R := rvb ^ 2 * psi_0 + 2 * rvb * (rvd * (ff 0 - fq 1) + rv * (ff 2 - fq 3)) + rvd ^ 2 * ff 0
  + 2 * rvd * rv * ff 2 + rv ^ 2 * ff 4.
Definition rlow (x : R) : R := sqrt (1 - (1 + 3 / 2 * s) * (psi_2 / psi_0) * (r * p / x)) - sqrt (rbelow / (16 * psi_0)) / x.
Definition rnext : R := sqrt (2 * (4 * qq 2 + 4 * s * fq 3 + s ^ 2 * ff 4) / psi_0) + plane d (s * sqrt (psi_plane / (18 * psi_0))) 0.
Definition rmean (x : R) : R := 4 / (3 * sqrt (2 * PI))
  + sqrt (8 * psi_0) * rnext * sqrt (sqrt (r * p / x / (2 * k0 * (2 + s) ^ 2))) + tiny.
Definition rcross (x : R) : R := (J0 * (rup x * (r * p / x)) + tiny) * (J0 * (rmean x * exp (rE x)) + tiny) / (4 * psi_0).
Definition rbias (x : R) : R := (rlow x / (exp (rH x) * (1 + tau * (1 + 3 * tiny)))) ^ 2 - rcross x.
Definition rfall (x : R) : R := plane d (3 / 16 * (rv / x) + 7 / 8 * over * (rv / x) ^ 2) 0.
Definition rc (x : R) : R := (1 - rfall x) / (1 + tau3) ^ 2.
Definition rslope (x : R) : R := (1 - (plane d 0 ((1 - s) / 2 * (r * p) / x) + s * rq2 / x ^ 2)) / (1 + tau).
Definition rflat : R := sqrt (r * p / (2 * k0)) / (4 * (2 + s) * psi_0).
Definition rtop : R := 1 + 3 / 2 * s.
Definition rmost : R := 3 / 2 * s * (exp rq * (J1 + 2 * tiny) - 1) + (J2 * ((1 + r * p * rnext + tiny) * exp (rE 1)) ^ 2 - 1)
  + 1 / 2 * (s / (2 + s)) * J1 * rup 1 * exp rq * (r * s) / K + rest.
Definition rline (g x0 x : R) : R := 3 / 2 * s * rc x0 * Rpower x (/ s) + rbias x0 * Rpower x (- (3 / 2))
  - g * (J2 * rup 1 ^ 2 - rslope x0 ^ 2 * / x ^ 2).
(* What is asked of one dimension: ranges, the window, and the number of tokens. *)
Definition ramp_ranges : Prop :=
  plane d (5 * (1 + gamma) * rv) 0 <= first /\ 64 * (r * p) <= first /\ 60000 * rv <= first /\ 1 / 10 <= k0 /\
  rE first <= 1 / 2 /\
  32 / 9 * psi_0 ^ 2 * k1 * r ^ 3 * (s ^ 2 + 32 / 9 * psi_0 ^ 2 * k1 * s) <= 1 /\ rtop * (1 + room) * exp rfar <= K.
Definition ramp_pieces (x : R) : Prop := 0 <= rlow x /\ 0 < rbias x /\ rfall x < 1 /\ 0 <= rslope x.
Definition ramp_window : Prop := forall g, 0 <= g <= rflat ->
  rtop + rmost + g * (J2 * rup 1 ^ 2) < rbias first * Rpower first (- (3 / 2)) /\
  (rc first <= 1 /\ Rpower split (3 / 2) < rbias first) /\
  (rtop + rmost < rline g first split /\ rtop + rmost < rline g split low /\ rtop + rmost < rline g 1 high) /\
  rmost + g * (J2 * rup 1 ^ 2) < rtop * ((1 + room) * rc 1 - 1) /\
  (loss_low <= rc split /\ loss_low <= rc 1 /\ loss_low <= rbias split /\ loss_low <= rbias 1) /\
  rmost + g * (J2 * rup 1 ^ 2) <= (loss_high - 1) * rtop.
Definition rlead : R := 4 / 3 * psi_0 * sqrt (2 * k1) * (r * sqrt r) * s.
Definition ramp_few : Prop := rtop * rlead * (1 + room) * exp rfar * (sqrt p / K) <= tau.
Definition ramp_third : Prop := exists third, (third = 1 / M \/ third = Rpower (4 / 3) (/ s) * (sqrt p / K)) /\
  rtop * rlead * (1 + room) * exp rfar * third <= tau3.
End Forms.

Hypotheses (gamma_ge : 1 <= gamma) (T_12 : 12 <= T) (m_in : 0 <= m <= T).
Hypotheses (J0_ge : kernel 0 1 T m <= J0) (J1_ge : kernel 1 1 T m <= J1) (J2_ge : kernel 1 2 T m <= J2) (J0_1 : 1 <= J0).
Hypothesis order : 0 < first /\ 2 * first <= 1 /\ first < split /\ split < low /\ low < 1 /\ 1 < high.
Hypotheses (room_pos : 0 < room) (K_pos : 0 < K) (M_pos : 0 < M) (T_le : tau * T <= 1) (loss_low_pos : 0 <= loss_low).
Hypothesis over_ge : 1 <= 1 / 2 + 1 / 16 + over / 4 /\ 0 < 2 * over - 1 / 4 - (1 / 64 + 3 * over) / 2 - over / 16 - over ^ 2 / 8.
Hypothesis end_2 : (4 / 3 * (1 + room)) ^ 2 <= 2.
Hypotheses (tiny_in : 0 < tiny <= 1 / 4) (tiny_T : 100 * (T ^ 3 * cut T) <= tiny) (rest_T : 16 * (T ^ 3 * cut T) <= rest).
Hypothesis tiny_w : 60 * exp (- 15000) <= tiny.

Section Dimension.
Variables (d n : nat) (N B : nat -> R -> R) (V : R -> nat -> R -> R) (G1 G2 : R -> R) (C1 C2 : nat -> R -> R) (L sigma k0 k1 : R).
Local Notation a := (a_of d).
Local Notation c := (limit_of d).
Local Notation kk := (ramp_scale d).
Hypotheses (d_2 : (2 <= d)%nat) (n_1 : (1 <= n)%nat) (L_pos : 0 < L) (sigma_pos : 0 < sigma).
Hypothesis cubic : forall z, 0 < z -> 0 < 2 * gamma + (al d ^ 2 - 3 * (al d + gamma)) * z
  + 2 * al d * (al d + gamma) * z ^ 2 + (al d + gamma) ^ 2 * z ^ 3.
Definition ramp_W : R := Rpower (INR n * L ^ 2 / sigma ^ 2) (1 / (a_of d + 3 / 2)).
Local Notation W := ramp_W.
Hypotheses (enough : K * Rpower W (a + 1 / 2) <= INR n) (more : M * (Rpower (4 / 3) a * Rpower W a) <= INR n).
Hypothesis peak_in : k0 * (2 * a) <= ramp_peak d ^ 2 <= k1 * (2 * a).
Local Notation s := (/ a).
Local Notation p := (/ W).
Local Notation r := (ramp_ratio d).
Local Notation h := (a * / W).
Hypotheses (ranges : ramp_ranges d s r p h k0 k1) (pieces : ramp_pieces d s r p h k0 first /\ ramp_pieces d s r p h k0 split /\ ramp_pieces d s r p h k0 1).
Hypotheses (window : ramp_window d s r p h k0) (few_in : ramp_few d s r p h k1) (third_in : ramp_third d s r p h k1).

Hypotheses (limit : Moment_limit d a c) (jensen : Jensen_pair d N) (laplace : Laplace_noise d N).
Hypotheses (crossed : Crossed a V C2) (spread_1 : Laplace_spread d V 1 (fun w => deficit d w / w)).
Hypotheses (laplace_c : Laplace_crossed d a G1 C1 C2) (laplace_k : Laplace_kink d a B V (1 / 6) (1 / 6) G2 C2).
Hypotheses (kink_norm : Kink_norm d a c G1 G2) (jensen_r : Jensen_ramp d a B V G2 C1) (left_r : Jensen_ramp_left d a B G1 G2).
Hypotheses (falls_1 : Chebyshev_spread V 1) (falls_2 : Chebyshev_spread V 2) (falls_3 : Chebyshev_spread V (3 / 2)).
Hypotheses (rises : Chebyshev_noise N) (squares_N : Squares N) (squares_B : Squares B) (continuous : Continuous N B).

Lemma ra_pos : 0 < a /\ 1 / 2 <= a.
Proof. pose proof (a_ge d d_2). lra. Qed.
Lemma rn_pos : 0 < INR n.
Proof. apply lt_0_INR; lia. Qed.
Lemma rW_pos : 0 < W /\ 0 < p.
Proof. assert (0 < W) by apply power_pos. split; [assumption | pos]. Qed.
Lemma rkk_pos : 0 < kk.
Proof. apply power_pos. Qed.
Lemma psi_in : 55 / 1000 <= psi_0 <= 56 / 1000.
Proof. unfold psi_0, qq, fq, ff. split; interval with (i_prec 64). Qed.
Lemma rpeak_pos : 3 / 10 <= ramp_peak d.
Proof.
  destruct peak_in as [P _]. destruct ranges as [_ [_ [_ [k _]]]]. destruct ra_pos. pose proof (ramp_peak_pos d d_2).
  apply Rnot_lt_le. intros X. assert (ramp_peak d ^ 2 < 1 / 10) by nra. nra.
Qed.
Lemma rlead_pos : 0 < ramp_lead d.
Proof. pose proof rpeak_pos. pose proof psi_in. unfold ramp_lead. apply Rmult_lt_0_compat; lra. Qed.
Lemma rc_pos : 0 < c.
Proof. now apply limit_pos. Qed.
Definition rQ : R := ramp_lead d * Rpower kk (- (3 / 2)).
Lemma rQ_pos : 0 < rQ.
Proof. pose proof rlead_pos. pose proof (power_pos kk (- (3 / 2))). unfold rQ. pos. Qed.
Definition w_1 : R := kk * W.
Lemma rw_pos : 0 < w_1.
Proof. pose proof rkk_pos. destruct rW_pos. unfold w_1. pos. Qed.

Lemma rcases : (d = 2%nat /\ forall x y, plane d x y = x) \/ ((3 <= d)%nat /\ forall x y, plane d x y = y).
Proof.
  destruct d as [| [| [| k]]]; [lia | lia | left | right]; (split; [lia || reflexivity | intros; reflexivity]).
Qed.

Lemma rv_is : rv s r p = / w_1.
Proof. unfold rv, ramp_ratio, w_1. pose proof rkk_pos. destruct rW_pos. destruct ra_pos. field. lra. Qed.
Lemma rv_at x : 0 < x -> rv s r p / x = / (x * w_1).
Proof. intros H. rewrite rv_is. pose proof rw_pos. field. lra. Qed.
Lemma rp_is : r * p = a / w_1.
Proof. unfold ramp_ratio, w_1. pose proof rkk_pos. destruct rW_pos. field. lra. Qed.
Lemma rq1_is : rq1 s r h = al d / w_1.
Proof. unfold rq1, ramp_ratio, w_1, al. pose proof rkk_pos. destruct rW_pos. destruct ra_pos. field. lra. Qed.
Lemma rq2_is : rq2 s r p h = (al d + gamma) / w_1 ^ 2.
Proof. unfold rq2. rewrite rq1_is, rv_is. pose proof rw_pos. field. lra. Qed.
Lemma al_2 : d = 2%nat -> al d = - (1 / 8) /\ a = 1 / 2.
Proof. intros ->. unfold al, a_of, size. simpl (IZR (Z.of_nat 2)). lra. Qed.
Lemma al_3 : (3 <= d)%nat -> 0 <= al d.
Proof. intros H. pose proof (size_ge d 3 H) as S. simpl in S. unfold al, a_of. nra. Qed.
Lemma al_gamma : 0 < al d + gamma.
Proof. destruct ra_pos. unfold al. nra. Qed.

Lemma first_ge : 64 * a <= first * w_1 /\ 60000 <= first * w_1 /\ (d = 2%nat -> 5 * (1 + gamma) <= first * w_1).
Proof.
  destruct ranges as [H1 [H2 [H3 _]]]. pose proof rw_pos as P. rewrite rp_is in H2. rewrite rv_is in H1, H3.
  apply (Rmult_le_compat_r w_1) in H2, H3; try lra.
  replace (64 * (a / w_1) * w_1) with (64 * a) in H2 by (field; lra). rewrite Rmult_assoc, Rinv_l in H3 by lra.
  repeat split; [assumption | lra |]. intros D. destruct rcases as [[_ E] | [? _]]; [| lia]. rewrite E in H1.
  apply (Rmult_le_compat_r w_1) in H1; [| lra]. rewrite Rmult_assoc, Rinv_l in H1 by lra. lra.
Qed.

Lemma rcurve w : first * w_1 <= w -> a + - al d / w + - (al d + gamma) / w ^ 2 <= deficit d w
  <= a + plane d (1 / 8) 0 / w + plane d over 0 / w ^ 2.
Proof.
  intros H. destruct first_ge as [F1 [F2 F3]]. assert (a_eq : a = (INR d - 1) / 2) by (unfold a_of, size; now rewrite INR_IZR_INZ).
  destruct ra_pos. split.
  - apply (lower_curve d a gamma d_2 a_eq gamma_ge cubic). lra.
  - destruct rcases as [[D E] | [D E]]; rewrite !E.
    + destruct (al_2 D) as [_ A]. rewrite A. destruct over_ge. replace (deficit d w) with (deficit 2 w) by now rewrite D.
      apply upper_curve_2; lra.
    + unfold Rdiv. rewrite !Rmult_0_l, !Rplus_0_r. apply (upper_curve d a d_2 a_eq); [| lra].
      pose proof (size_ge d 3 D) as S. unfold a_of. simpl in S. lra.
Qed.

Lemma ru_pos : 0 < first * w_1.
Proof. pose proof rw_pos. destruct order. pos. Qed.

(* P = w^a mu / c = e^drift, D, and their bounds from x0 w_1 on. *)
Lemma from_x0 x x0 : first <= x0 <= x -> first * w_1 <= x0 * w_1 <= x * w_1 /\ 0 < / (x * w_1) <= / (x0 * w_1) /\
  0 < / (x * w_1) ^ 2 <= / (x0 * w_1) ^ 2.
Proof.
  intros H. pose proof rw_pos. destruct order. assert (first * w_1 <= x0 * w_1) by (apply Rmult_le_compat_r; lra).
  assert (x0 * w_1 <= x * w_1) by (apply Rmult_le_compat_r; lra). pose proof ru_pos.
  repeat split; try assumption; try (apply Rinv_0_lt_compat; try apply pow_lt; lra);
    (apply Rinv_le_contravar; [try apply pow_lt; lra | try apply pow_incr; lra]).
Qed.

Lemma drift_low x x0 : first <= x0 <= x -> - rE d s r p h x0 <= drift d a c (x * w_1).
Proof.
  intros H. destruct (from_x0 x x0 H) as [[X0 X] [[I0 I] [Q0 Q]]]. pose proof ru_pos. destruct order. pose proof rw_pos.
  destruct (drift_in d a c (first * w_1) _ _ _ _ rc_pos ru_pos limit rcurve (x * w_1) ltac:(lra)) as [D _].
  apply Rle_trans with (2 := D). unfold rE. rewrite rq1_is, rq2_is. pose proof al_gamma.
  replace (- al d / (x * w_1) + - (al d + gamma) / (2 * (x * w_1) ^ 2))
    with (- (al d * / (x * w_1) + (al d + gamma) / 2 * / (x * w_1) ^ 2)) by (field; lra). apply Ropp_le_contravar.
  destruct rcases as [[D2 E] | [D2 E]]; rewrite !E.
  - destruct (al_2 D2) as [A _]. destruct first_ge as [_ [_ F]]. specialize (F D2). rewrite A in *.
    replace (/ (x * w_1) ^ 2) with (/ (x * w_1) * / (x * w_1)) by (field; lra). set (z := / (x * w_1)) in *.
    assert (5 * (1 + gamma) * z <= 1).
    { apply Rmult_le_reg_r with (x * w_1); [lra |]. rewrite Rmult_assoc. unfold z. rewrite Rinv_l by lra. lra. }
    assert ((- (1 / 8) + gamma) / 2 * (z * z) <= 1 / 8 * z); [| lra].
    replace ((- (1 / 8) + gamma) / 2 * (z * z)) with ((- (1 / 8) + gamma) / 2 * z * z) by ring. apply Rmult_le_compat_r; lra.
  - pose proof (al_3 D2). replace (al d / w_1 / x0) with (al d * / (x0 * w_1)) by (field; lra).
    replace ((al d + gamma) / w_1 ^ 2 / (2 * x0 ^ 2)) with ((al d + gamma) / 2 * / (x0 * w_1) ^ 2) by (field; lra).
    apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.

Lemma drift_high x x0 : first <= x0 <= x -> drift d a c (x * w_1) <= rH d s r p x0.
Proof.
  intros H. destruct (from_x0 x x0 H) as [[X0 X] [[I0 I] [Q0 Q]]]. pose proof ru_pos. destruct order. pose proof rw_pos.
  destruct (drift_in d a c (first * w_1) _ _ _ _ rc_pos ru_pos limit rcurve (x * w_1) ltac:(lra)) as [_ D].
  apply Rle_trans with (1 := D). unfold rH. destruct rcases as [[D2 E] | [D2 E]]; rewrite !E.
  - rewrite rv_at by lra. replace ((/ (x0 * w_1)) ^ 2) with (/ (x0 * w_1) ^ 2) by (field; lra).
    replace (over / (2 * (x * w_1) ^ 2)) with (over / 2 * / (x * w_1) ^ 2) by (field; lra).
    assert (over / 2 * / (x * w_1) ^ 2 <= over / 2 * / (x0 * w_1) ^ 2) by (apply Rmult_le_compat_l; lra). lra.
  - unfold Rdiv. rewrite !Rmult_0_l. lra.
Qed.

Lemma up_at x x0 : first <= x0 <= x -> deficit d (x * w_1) <= a * rup d s r p x0.
Proof.
  intros H. destruct (from_x0 x x0 H) as [[X0 X] [[I0 I] [Q0 Q]]]. pose proof ru_pos. destruct order. pose proof rw_pos.
  destruct (rcurve (x * w_1) ltac:(lra)) as [_ D]. apply Rle_trans with (1 := D). unfold rup. destruct rcases as [[D2 E] | [D2 E]]; rewrite !E.
  - destruct (al_2 D2) as [_ A]. rewrite rv_at by lra. rewrite A. replace ((/ (x0 * w_1)) ^ 2) with (/ (x0 * w_1) ^ 2) by (field; lra).
    assert (over * / (x * w_1) ^ 2 <= over * / (x0 * w_1) ^ 2) by (apply Rmult_le_compat_l; lra). unfold Rdiv at 2 3. lra.
  - unfold Rdiv. rewrite !Rmult_0_l. lra.
Qed.

Lemma rup_ge x : first <= x -> 1 <= rup d s r p x.
Proof.
  intros H. unfold rup. destruct rcases as [[D2 E] | [D2 E]]; rewrite !E; [| lra]. destruct order. rewrite rv_at by lra.
  pose proof rw_pos. assert (0 < / (x * w_1)) by (assert (0 < x) by lra; pos).
  assert (0 <= 2 * over * (/ (x * w_1)) ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]). lra.
Qed.


(* The lemmas of `dimensions.v` on N are about any scale kk: S is what puts the least sum of a smooth law there. *)
Definition as_smooth : R := Rpower kk (a + 2) / (2 * a * c * Rpower 2 a).
Local Notation S1 := as_smooth.
Definition last : R := Rpower ((1 + 2 / 3 * a) * (1 + room)) (1 / a).
Definition smooth_room : R := (1 + 2 / 3 * a) * (1 + room) / (1 + a / 2) - 1.
Local Notation two_w := (two d a c).
Local Notation far := (rfar d s r p h).

Lemma S_pos : 0 < S1.
Proof. destruct ra_pos. pose proof rc_pos. pose proof (power_pos kk (a + 2)). pose proof (power_pos 2 a). unfold as_smooth. apply Rdiv_lt_0_compat; [assumption |]. repeat simple apply Rmult_lt_0_compat; lra. Qed.
Lemma S_is : Rpower kk (a + 2) = 2 * S1 * a * c * Rpower 2 a.
Proof. destruct ra_pos. pose proof rc_pos. pose proof (power_pos 2 a). unfold as_smooth. field. lra. Qed.
Lemma smooth_room_pos : 0 < smooth_room.
Proof.
  destruct ra_pos. unfold smooth_room. apply Rlt_Rminus. apply Rmult_lt_reg_r with (1 + a / 2); [lra |]. rewrite Rmult_1_l.
  unfold Rdiv at 2. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. assert (0 < (1 + 2 / 3 * a) * room) by (apply Rmult_lt_0_compat; lra). lra.
Qed.
Lemma last_is : last = end_ a smooth_room.
Proof. destruct ra_pos. unfold last, end_, smooth_room. f_equal. field. lra. Qed.
Lemma centre_is_lead : Rpower kk (a + 3 / 2) = 3 / 2 * ramp_lead d * c * Rpower 2 a / a.
Proof.
  destruct ra_pos. pose proof rlead_pos as P. unfold ramp_scale. rewrite Rpower_mult. replace (1 / (a + 3 / 2) * (a + 3 / 2)) with 1 by (field; lra).
  pose proof (half_gamma_pos (2 * d - 2) ltac:(lia)). pose proof (half_gamma_pos (d - 1) ltac:(lia)).
  rewrite Rpower_1.
  - unfold ramp_centre, limit_of. rewrite Rpower_Ropp. pose proof (power_pos 2 a). field. repeat split; lra.
  - unfold ramp_centre. apply Rmult_lt_0_compat; apply Rdiv_lt_0_compat; lra.
Qed.
Lemma lead_is : 2 / a * Q a S1 kk = 3 / 2 * s * rQ.
Proof.
  destruct ra_pos. pose proof rkk_pos. pose proof rc_pos. pose proof (power_pos 2 a). unfold Q, rQ, as_smooth.
  replace (a + 2) with (a + 3 / 2 + 1 / 2) by field. rewrite Rpower_plus, centre_is_lead.
  replace (Rpower kk (- (3 / 2))) with (Rpower kk (1 / 2) * / kk ^ 2).
  - field. lra.
  - rewrite <- power_two by assumption. rewrite <- Rpower_plus. f_equal. field.
Qed.
Lemma whole_is : (1 + 2 / a) * Q a S1 kk * (1 + smooth_room) = rtop s * rQ * (1 + room).
Proof.
  destruct ra_pos. replace ((1 + 2 / a) * Q a S1 kk * (1 + smooth_room)) with (2 / a * Q a S1 kk * ((1 + a / 2) * (1 + smooth_room))) by (field; lra).
  rewrite lead_is. unfold smooth_room, rtop. field. lra.
Qed.

(* k^-3 = (r s)^3, and bounds of b and Q. *)
Lemma Q_square : rQ ^ 2 = ramp_lead d ^ 2 * (r * s) ^ 3.
Proof.
  destruct ra_pos. pose proof rkk_pos. unfold rQ. replace (r * s) with (/ kk) by (unfold ramp_ratio; field; lra).
  replace ((ramp_lead d * Rpower kk (- (3 / 2))) ^ 2) with (ramp_lead d ^ 2 * (Rpower kk (- (3 / 2)) * Rpower kk (- (3 / 2)))) by ring.
  f_equal. rewrite <- Rpower_plus. replace (- (3 / 2) + - (3 / 2)) with (- (INR 3)) by (simpl; field). rewrite Rpower_Ropp, Rpower_pow by assumption.
  field. lra.
Qed.
Lemma r_pos : 0 < r.
Proof. destruct ra_pos. pose proof rkk_pos. unfold ramp_ratio. apply Rdiv_lt_0_compat; lra. Qed.
Lemma lead_square : ramp_lead d ^ 2 <= 32 / 9 * psi_0 ^ 2 * k1 * a.
Proof.
  unfold ramp_lead. replace ((4 / 3 * ramp_peak d * psi_0) ^ 2) with (16 / 9 * psi_0 ^ 2 * ramp_peak d ^ 2) by field.
  replace (32 / 9 * psi_0 ^ 2 * k1 * a) with (16 / 9 * psi_0 ^ 2 * (k1 * (2 * a))) by field. apply Rmult_le_compat_l; [| apply peak_in].
  pose proof (pow2_ge_0 psi_0). lra.
Qed.
Lemma small : rQ ^ 2 <= 1 /\ ramp_lead d * rQ ^ 2 <= 1.
Proof.
  destruct ra_pos. pose proof r_pos. destruct ranges as [_ [_ [_ [_ [_ [Hs _]]]]]]. pose proof lead_square as Ls. pose proof rlead_pos.
  assert (rs : 0 < (r * s) ^ 3) by (apply pow_lt, Rmult_lt_0_compat; [lra | apply Rinv_0_lt_compat; lra]).
  assert (X : (1 + ramp_lead d ^ 2) * rQ ^ 2 <= 1).
  { rewrite Q_square. apply Rle_trans with (2 := Hs). set (k := 32 / 9 * psi_0 ^ 2 * k1) in *.
    apply Rle_trans with ((1 + k * a) * (k * a * (r * s) ^ 3)).
    - apply Rmult_le_compat; [pose proof (pow2_ge_0 (ramp_lead d)); lra | | lra | apply Rmult_le_compat_r; lra].
      apply Rmult_le_pos; [apply pow2_ge_0 | lra].
    - right. field. lra. }
  pose proof (pow2_ge_0 rQ). pose proof (pow2_ge_0 (ramp_lead d - 1)). pose proof (pow2_ge_0 (ramp_lead d)).
  split; [| apply Rle_trans with ((1 + ramp_lead d ^ 2) * rQ ^ 2); [apply Rmult_le_compat_r; lra | assumption]].
  assert (0 <= ramp_lead d ^ 2 * rQ ^ 2) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma Q_le : rQ <= rlead s r k1.
Proof.
  destruct ra_pos. pose proof r_pos as rp. pose proof psi_in. assert (sp : 0 < s) by (apply Rinv_0_lt_compat; lra). pose proof lead_square as Ls. pose proof rlead_pos as lp.
  assert (k1p : 0 <= k1). { apply Rnot_lt_le. intros X. assert (k1 * a < 0 * a) by (apply Rmult_lt_compat_r; lra). pose proof (pow2_ge_0 (ramp_peak d)). lra. }
  assert (0 <= sqrt (2 * k1)) by apply sqrt_pos. assert (0 <= sqrt r) by apply sqrt_pos.
  apply Rsqr_incr_0_var; [| unfold rlead; repeat simple apply Rmult_le_pos; lra]. rewrite !Rsqr_pow2, Q_square.
  unfold rlead. replace ((4 / 3 * psi_0 * sqrt (2 * k1) * (r * sqrt r) * s) ^ 2)
    with (16 / 9 * psi_0 ^ 2 * (sqrt (2 * k1) * sqrt (2 * k1)) * (r ^ 2 * (sqrt r * sqrt r)) * s ^ 2) by (field; lra).
  rewrite !sqrt_sqrt by lra. replace (16 / 9 * psi_0 ^ 2 * (2 * k1) * (r ^ 2 * r) * s ^ 2) with (32 / 9 * psi_0 ^ 2 * k1 * a * (r * s) ^ 3) by (field; lra).
  apply Rmult_le_compat_r; [left; apply pow_lt, Rmult_lt_0_compat; lra | assumption].
Qed.

Lemma far_ge z : 0 < z <= / (first * w_1) -> - (3 / 2 * - al d * z + 7 / 8 * - (al d + gamma) * z ^ 2) <= far /\
  - (7 / 6 * - al d * z + 41 / 72 * - (al d + gamma) * z ^ 2) <= far /\ - (- al d * z + 1 / 2 * - (al d + gamma) * z ^ 2) <= far.
Proof.
  intros Hz. unfold rfar. rewrite rq1_is, rq2_is. pose proof rw_pos. destruct order. pose proof al_gamma.
  assert (Z2 : z ^ 2 <= (/ (first * w_1)) ^ 2) by (apply pow_incr; lra). pose proof (pow2_ge_0 z).
  destruct rcases as [[D E] | [D E]]; rewrite E.
  - destruct (al_2 D) as [A _]. destruct first_ge as [_ [_ F]]. specialize (F D). rewrite A in *.
    assert (5 * (1 + gamma) * z <= 1).
    { apply Rle_trans with (5 * (1 + gamma) * / (first * w_1)); [apply Rmult_le_compat_l; lra |].
      apply Rmult_le_reg_r with (first * w_1); [apply Rmult_lt_0_compat; lra |]. rewrite Rmult_assoc, Rinv_l; [lra |]. apply Rgt_not_eq, Rmult_lt_0_compat; lra. }
    assert (S2 : (- (1 / 8) + gamma) * z ^ 2 <= z / 5).
    { replace ((- (1 / 8) + gamma) * z ^ 2) with ((- (1 / 8) + gamma) * z * z) by ring. replace (z / 5) with (1 / 5 * z) by field.
      apply Rmult_le_compat_r; lra. } lra.
  - pose proof (al_3 D) as A3. replace (al d / w_1 / first) with (al d * / (first * w_1)) by (field; lra).
    replace ((al d + gamma) / w_1 ^ 2 / first ^ 2) with ((al d + gamma) * (/ (first * w_1)) ^ 2) by (field; lra).
    assert (al d * z <= al d * / (first * w_1)) by (apply Rmult_le_compat_l; lra).
    assert ((al d + gamma) * z ^ 2 <= (al d + gamma) * (/ (first * w_1)) ^ 2) by (apply Rmult_le_compat_l; lra).
    assert (0 <= al d * z) by (apply Rmult_le_pos; lra). assert (0 <= (al d + gamma) * z ^ 2) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma root_p : Rpower W (1 / 2) * sqrt p = 1 /\ 0 < sqrt p.
Proof.
  destruct rW_pos as [Wp pp]. split; [| now apply sqrt_lt_R0]. rewrite <- (Rpower_sqrt p) by assumption.
  replace p with (Rpower W (- (1))) at 1 by (rewrite Rpower_Ropp, Rpower_1; lra).
  rewrite Rpower_mult, <- Rpower_plus. replace (1 / 2 + - (1) * / 2) with 0 by field. now apply Rpower_O.
Qed.
Lemma few_n : Rpower W (1 / 2) * (Rpower W a / INR n) <= 1 / K /\ Rpower W a / INR n <= sqrt p / K.
Proof.
  pose proof rn_pos as np. destruct root_p as [R1 R2]. pose proof (power_pos W a). pose proof (power_pos W (1 / 2)).
  assert (X : Rpower W (1 / 2) * (Rpower W a / INR n) <= 1 / K).
  { apply Rmult_le_reg_r with (INR n * K); [apply Rmult_lt_0_compat; lra |].
    replace (Rpower W (1 / 2) * (Rpower W a / INR n) * (INR n * K)) with (K * (Rpower W a * Rpower W (1 / 2))) by (field; lra).
    rewrite <- Rpower_plus. replace (1 / K * (INR n * K)) with (INR n) by (field; lra). assumption. }
  split; [assumption |]. replace (Rpower W a / INR n) with (Rpower W (1 / 2) * (Rpower W a / INR n) * sqrt p).
  - replace (sqrt p / K) with (1 / K * sqrt p) by (field; lra). apply Rmult_le_compat_r; lra.
  - replace (Rpower W (1 / 2) * (Rpower W a / INR n) * sqrt p) with (Rpower W (1 / 2) * sqrt p * (Rpower W a / INR n)) by ring. rewrite R1. ring.
Qed.
Lemma whole_far e t : 0 <= t -> rtop s * rlead s r k1 * (1 + room) * exp far * t <= e ->
  (1 + 2 / a) * Q a S1 kk * (1 + smooth_room) * exp far * t <= e.
Proof.
  intros Ht H. apply Rle_trans with (2 := H). rewrite whole_is. pose proof Q_le. destruct ra_pos. pose proof (exp_pos far).
  assert (0 < s) by (apply Rinv_0_lt_compat; lra). apply Rmult_le_compat_r; [assumption |]. apply Rmult_le_compat_r; [lra |].
  apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_l; [unfold rtop; lra | assumption].
Qed.
Lemma tau_ge : (1 + 2 / a) * Q a S1 kk * (1 + smooth_room) * exp far * (sqrt p / K) <= tau.
Proof. destruct root_p. apply whole_far; [apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat] | exact few_in]. Qed.
Lemma third_n : exists t, 0 <= t /\ Rpower (4 / 3) a * (Rpower W a / INR n) <= t /\
  (1 + 2 / a) * Q a S1 kk * (1 + smooth_room) * exp far * t <= tau3.
Proof.
  destruct third_in as [t [Ht Ht3]]. pose proof rn_pos as np. destruct few_n as [_ F]. destruct root_p. destruct ra_pos.
  pose proof (power_pos (4 / 3) a). pose proof (power_pos W a). assert (0 < sqrt p / K) by (apply Rdiv_lt_0_compat; assumption).
  assert (t0 : 0 <= t). { destruct Ht as [-> | ->]; [left; apply Rdiv_lt_0_compat; lra |]. apply Rmult_le_pos; [left; apply power_pos | lra]. }
  exists t. split; [assumption |]. split; [| now apply whole_far]. destruct Ht as [-> | ->].
  - apply Rmult_le_reg_r with (INR n * M); [apply Rmult_lt_0_compat; lra |].
    replace (Rpower (4 / 3) a * (Rpower W a / INR n) * (INR n * M)) with (M * (Rpower (4 / 3) a * Rpower W a)) by (field; lra).
    replace (1 / M * (INR n * M)) with (INR n) by (field; lra). assumption.
  - replace (/ s) with a by (field; lra). apply Rmult_le_compat_l; lra.
Qed.
Lemma order' : 2 * first <= 1 /\ first < split < 1 /\ 1 < high.
Proof. destruct order as [? [? [? [? [? ?]]]]]. repeat split; lra. Qed.
Lemma rtau x : first <= x <= last -> 0 < tokens d n (x * w_1) /\ / tokens d n (x * w_1) <= tau.
Proof.
  rewrite last_is. destruct ra_pos as [ap _]. destruct rW_pos as [Wp _]. destruct order as [fp _].
  exact (tau_le d a c (first * w_1) S1 kk _ _ _ _ ap rc_pos ru_pos S_pos rkk_pos S_is limit rcurve n W (sqrt p / K) first smooth_room far tau
    n_1 Wp (proj2 few_n) fp smooth_room_pos (Rle_refl _) far_ge tau_ge x).
Qed.
Lemma last_ge : 1 <= last.
Proof. rewrite last_is. destruct ra_pos. apply end_ge; [assumption | apply smooth_room_pos]. Qed.
Lemma tau_pos' : 0 < tau.
Proof. destruct order. pose proof last_ge. destruct (rtau 1) as [T0 T1]; [lra |]. apply Rlt_le_trans with (2 := T1). now apply Rinv_0_lt_compat. Qed.
Lemma slope_at x x0 : first <= x0 <= x -> a * (rslope d s r p h x0 * (1 + tau)) <= deficit d (x * w_1).
Proof.
  intros H. destruct (from_x0 x x0 H) as [[X0 X] [[I0 I] [Q0 Q]]]. pose proof ru_pos. destruct order. pose proof rw_pos. pose proof tau_pos'.
  destruct (rcurve (x * w_1) ltac:(lra)) as [D _]. apply Rle_trans with (2 := D). unfold rslope. pose proof al_gamma. destruct ra_pos as [ap ah].
  rewrite rq2_is, rp_is. replace (- (al d + gamma) / (x * w_1) ^ 2) with (- ((al d + gamma) * / (x * w_1) ^ 2)) by (field; lra).
  assert ((al d + gamma) * / (x * w_1) ^ 2 <= (al d + gamma) * / (x0 * w_1) ^ 2) by (apply Rmult_le_compat_l; lra).
  replace (- al d / (x * w_1)) with (- (al d * / (x * w_1))) by (field; lra).
  destruct rcases as [[D2 E] | [D2 E]]; rewrite E.
  - destruct (al_2 D2) as [A _]. rewrite A in *.
    replace (a * ((1 - (0 + s * ((- (1 / 8) + gamma) / w_1 ^ 2) / x0 ^ 2)) / (1 + tau) * (1 + tau))) with (a - (- (1 / 8) + gamma) * / (x0 * w_1) ^ 2) by (field; lra). lra.
  - pose proof (al_3 D2). assert (al d * / (x * w_1) <= al d * / (x0 * w_1)) by (apply Rmult_le_compat_l; lra).
    replace (a * ((1 - ((1 - s) / 2 * (a / w_1) / x0 + s * ((al d + gamma) / w_1 ^ 2) / x0 ^ 2)) / (1 + tau) * (1 + tau)))
      with (a - al d * / (x0 * w_1) - (al d + gamma) * / (x0 * w_1) ^ 2) by (unfold al; field; lra). lra.
Qed.
Lemma rwhole : 0 <= 1 / (INR n * mu d (first * w_1)) <= tau.
Proof.
  destruct ra_pos as [ap _]. destruct rW_pos as [Wp _]. destruct order as [fp _].
  exact (whole_le d a c (first * w_1) S1 kk _ _ _ _ ap rc_pos ru_pos S_pos rkk_pos S_is limit rcurve n W (sqrt p / K) first split high smooth_room far tau
    n_1 Wp (proj2 few_n) fp order' smooth_room_pos (Rle_refl _) far_ge tau_ge).
Qed.
Lemma rfall_is x x0 : first <= x0 <= x -> 1 - rfall d s r p x0 <= exp (two_w (x * w_1)).
Proof.
  intros H. destruct ra_pos as [ap _]. destruct rW_pos as [Wp _]. destruct order as [fp _].
  assert (n1 : 0 <= plane d (1 / 8) 0) by (destruct rcases as [[_ ->] | [_ ->]]; lra).
  assert (n2 : 0 <= plane d over 0) by (destruct rcases as [[_ ->] | [_ ->]]; lra).
  pose proof (fall_le d a c (first * w_1) kk _ _ _ _ rc_pos ru_pos rkk_pos limit rcurve W first Wp fp (Rle_refl _) n1 n2 x x0 H) as G.
  apply Rle_trans with (2 := G). right. f_equal. unfold rfall, fallen. fold w_1. rewrite rv_at by lra. pose proof rw_pos.
  change (w1 kk W) with w_1. assert (0 < x0 * w_1) by (apply Rmult_lt_0_compat; lra).
  destruct rcases as [[_ E] | [_ E]]; rewrite !E; field; lra.
Qed.
Lemma noise_at x x0 : first <= x0 <= x -> x <= last -> rfall d s r p x0 < 1 ->
  3 / 2 * s * rQ * Rpower x a * rc d s r p x0 <= INR n * Rpower W (- a) * N n (x * w_1).
Proof.
  intros H Hx Hf. rewrite last_is in Hx. destruct ra_pos as [ap _]. destruct rW_pos as [Wp _]. destruct order as [fp _].
  destruct third_n as [t [_ [t1 t2]]]. rewrite <- lead_is.
  exact (noise_ge d N a c (first * w_1) S1 kk _ _ _ _ ap rc_pos ru_pos S_pos rkk_pos S_is limit rcurve jensen n W (sqrt p / K) t first split high smooth_room far tau tau3
    n_1 Wp (proj2 few_n) t1 fp order' smooth_room_pos (Rle_refl _) far_ge tau_ge t2 x (rfall d s r p x0) ltac:(lra) Hf (rfall_is x x0 H)).
Qed.

Local Notation pk := (ramp_peak d).
Lemma last_le : last <= 2.
Proof.
  destruct ra_pos as [ap ah]. assert (y1 : 0 < 1 + room <= 3 / 4 * sqrt 2).
  { split; [lra |]. assert (4 / 3 * (1 + room) <= sqrt 2); [| lra]. apply Rsqr_incr_0_var; [| apply sqrt_pos]. rewrite !Rsqr_pow2.
    replace (sqrt 2 ^ 2) with (sqrt 2 * sqrt 2) by ring. rewrite sqrt_sqrt by lra. exact end_2. }
  assert (H : (1 + 2 / 3 * a) * (1 + room) <= Rpower 2 a).
  { replace a with (/ 2 + (a - / 2)) at 2 by ring. rewrite Rpower_plus, Rpower_sqrt by lra.
    assert (E : 1 + (a - / 2) * (1 / 2) <= Rpower 2 (a - / 2)).
    { unfold Rpower. pose proof (exp_ineq1_le ((a - / 2) * ln 2)) as I. assert (1 / 2 <= ln 2) by interval with (i_prec 64).
      assert ((a - / 2) * (1 / 2) <= (a - / 2) * ln 2) by (apply Rmult_le_compat_l; lra). lra. }
    assert (S2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra). apply Rle_trans with ((1 + 2 / 3 * a) * (3 / 4 * sqrt 2)); [apply Rmult_le_compat_l; lra |].
    apply Rle_trans with (sqrt 2 * (1 + (a - / 2) * (1 / 2))); [| apply Rmult_le_compat_l; lra].
    replace ((1 + 2 / 3 * a) * (3 / 4 * sqrt 2)) with (sqrt 2 * (3 / 4 + a / 2)) by field. apply Rmult_le_compat_l; lra. }
  unfold last. replace 2 with (Rpower (Rpower 2 a) (1 / a)) at 2.
  - apply power_le; [| left; apply Rdiv_lt_0_compat; lra]. split; [apply Rmult_lt_0_compat; lra | assumption].
  - rewrite Rpower_mult. replace (a * (1 / a)) with 1 by (field; lra). apply Rpower_1. lra.
Qed.

Lemma exp_drift w : 0 < w -> Rpower w a * mu d w / c = exp (drift d a c w).
Proof. intros H. unfold drift. rewrite exp_ln; [reflexivity |]. pose proof rc_pos. apply Rdiv_lt_0_compat; [| assumption]. apply Rmult_lt_0_compat; [apply power_pos | apply mu_pos]. Qed.

Lemma far_small w : first * w_1 <= w -> Rpower w (a + 3 / 2) * exp (- w / 2) / c <= tiny / 20 /\ Rpower w (a + 3 / 4) * exp (- w / 2) / c <= tiny / 20
  /\ 1 <= w /\ 2 * a + 3 <= w.
Proof.
  intros H. destruct first_ge as [F1 [F2 _]]. destruct ra_pos as [ap ah]. destruct (remote d w d_2 ltac:(lra) ltac:(lra)) as [R1 R2].
  pose proof rc_pos as cp. assert (X : Rpower w (a + 3 / 2) * exp (- w / 2) / c <= tiny / 20).
  { rewrite Rpower_plus. replace (Rpower w a * Rpower w (3 / 2) * exp (- w / 2) / c) with (Rpower w a / c * Rpower w (3 / 2) * exp (- w / 2)) by (field; lra).
    pose proof (exp_pos (- w / 2)). pose proof (exp_pos (w / 8)). pose proof (power_pos w (3 / 2)). pose proof (power_pos w a).
    apply Rle_trans with (3 * exp (w / 8) * exp (w / 8) * exp (- w / 2)).
    - apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat; try lra. left. apply Rdiv_lt_0_compat; lra.
    - replace (3 * exp (w / 8) * exp (w / 8) * exp (- w / 2)) with (3 * exp (- w / 4)).
      + assert (exp (- w / 4) <= exp (- 15000)) by (apply exp_le; lra). lra.
      + rewrite !Rmult_assoc, <- !exp_plus. do 2 f_equal. field. }
  repeat split; try assumption; try lra. apply Rle_trans with (2 := X). apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat |].
  apply Rmult_le_compat_r; [left; apply exp_pos |]. apply Rle_Rpower; lra.
Qed.

Lemma pk_is : peak d c = pk.
Proof. now apply peak_is. Qed.
Definition main_norm : R := sqrt (8 * ramp_peak d * psi_0).
Lemma main_norm_ge : 1 / 10 <= main_norm /\ main_norm ^ 2 = 6 * ramp_lead d.
Proof.
  pose proof rpeak_pos. pose proof psi_in. assert (1 / 100 <= 8 * pk * psi_0) by nra. split.
  - unfold main_norm. apply Rsqr_incr_0_var; [| apply sqrt_pos]. rewrite Rsqr_sqrt by lra. unfold Rsqr. lra.
  - unfold main_norm. replace (sqrt (8 * pk * psi_0) ^ 2) with (sqrt (8 * pk * psi_0) * sqrt (8 * pk * psi_0)) by ring. rewrite sqrt_sqrt by lra.
    unfold ramp_lead. field.
Qed.

Lemma next_is : next_norm d a c = main_norm * (a * rnext d s).
Proof.
  pose proof rpeak_pos. pose proof psi_in. destruct ra_pos as [ap ah]. assert (M0 : 0 <= 8 * pk * psi_0) by nra. unfold next_norm, rnext, main_norm. rewrite pk_is.
  rewrite !Rmult_plus_distr_l. f_equal.
  - replace a with (sqrt (a * a)) at 2 by (apply sqrt_square; lra).
    rewrite <- sqrt_mult_alt by (apply Rle_0_sqr). rewrite <- sqrt_mult_alt by assumption. f_equal. unfold psi_above. field. lra.
  - destruct rcases as [[D E] | [D E]]; rewrite E; replace (d - 2)%nat with (Nat.pred (d - 1)) by lia.
    + replace (Nat.pred (d - 1)) with 0%nat by lia. rewrite <- (Rmult_assoc a). rewrite Rinv_r, Rmult_1_l by lra. rewrite <- sqrt_mult_alt by assumption. f_equal. field. lra.
    + destruct (Nat.pred (d - 1)) eqn:Z; [lia | ring].
Qed.
Lemma rnext_pos : 0 <= rnext d s.
Proof.
  unfold rnext. destruct ra_pos as [ap ah]. apply Rplus_le_le_0_compat; [apply sqrt_pos |].
  destruct rcases as [[_ ->] | [_ ->]]; [| lra]. apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat | apply sqrt_pos].
Qed.

Lemma squared_norm w : 0 < w -> 0 <= G2 w -> (Rpower w (3 / 4) * sqrt (G2 w)) ^ 2 = Rpower w (3 / 2) * G2 w.
Proof.
  intros H G. replace ((Rpower w (3 / 4) * sqrt (G2 w)) ^ 2) with (Rpower w (3 / 4) * Rpower w (3 / 4) * (sqrt (G2 w) * sqrt (G2 w))) by ring.
  rewrite sqrt_sqrt by assumption. rewrite <- Rpower_plus. do 2 f_equal. field.
Qed.

Lemma G2_up : 0 <= G2 w_1 /\ Rpower w_1 (3 / 2) * G2 w_1 / (6 * ramp_lead d) <= ((1 + r * p * rnext d s + tiny) * exp (rE d s r p h 1)) ^ 2.
Proof.
  pose proof rw_pos as wp. destruct order as [fp [f2 _]]. assert (F : first * w_1 <= w_1) by (rewrite <- (Rmult_1_l w_1) at 2; apply Rmult_le_compat_r; lra).
  destruct (far_small w_1 F) as [_ [S2 [w1 w3]]]. destruct (kink_norm w_1 w3) as [G0 [[_ G] _]]. split; [assumption |].
  rewrite exp_drift in G by assumption. pose proof (drift_low 1 1 ltac:(lra)) as D. rewrite Rmult_1_l in D.
  destruct main_norm_ge as [m0 m2]. pose proof rlead_pos as lp. rewrite <- squared_norm by assumption. set (X := Rpower w_1 (3 / 4) * sqrt (G2 w_1)) in *.
  assert (X0 : 0 <= X) by (apply Rmult_le_pos; [left; apply power_pos | apply sqrt_pos]).
  set (H := 1 + r * p * rnext d s + tiny). assert (Hn : norm_high d a c w_1 <= main_norm * H).
  { unfold norm_high. rewrite next_is, pk_is. fold main_norm. unfold H. rewrite rp_is.
    replace (main_norm * (a * rnext d s) / w_1) with (main_norm * (a / w_1 * rnext d s)) by (field; lra).
    assert (2 * Rpower w_1 (a + 3 / 4) * exp (- w_1 / 2) / c <= main_norm * tiny); [| lra].
    replace (2 * Rpower w_1 (a + 3 / 4) * exp (- w_1 / 2) / c) with (2 * (Rpower w_1 (a + 3 / 4) * exp (- w_1 / 2) / c)) by (field; apply Rgt_not_eq, rc_pos).
    assert (1 / 10 * tiny <= main_norm * tiny) by (apply Rmult_le_compat_r; lra). lra. }
  assert (XH : X <= main_norm * H * exp (rE d s r p h 1)).
  { apply Rmult_le_reg_l with (exp (drift d a c w_1)); [apply exp_pos |]. apply Rle_trans with (1 := G). apply Rle_trans with (1 := Hn).
    rewrite (Rmult_comm (exp _)), Rmult_assoc, <- exp_plus. pose proof (exp_ineq1_le (rE d s r p h 1 + drift d a c w_1)).
    assert (0 <= main_norm * H).
    { apply Rle_trans with (2 := Hn). unfold norm_high. pose proof (sqrt_pos (8 * peak d c * psi_0)). rewrite next_is. pose proof rnext_pos. destruct ra_pos.
      pose proof (power_pos w_1 (a + 3 / 4)). pose proof (exp_pos (- w_1 / 2)). pose proof rc_pos.
      repeat apply Rplus_le_le_0_compat; [assumption | |].
      - apply Rmult_le_pos; [| left; now apply Rinv_0_lt_compat]. apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra].
      - apply Rmult_le_pos; [| left; now apply Rinv_0_lt_compat]. apply Rmult_le_pos; lra. }
    rewrite <- (Rmult_1_r (main_norm * H)) at 1. apply Rmult_le_compat_l; lra. }
  rewrite <- m2. apply Rmult_le_reg_r with (main_norm ^ 2); [apply pow_lt; lra |].
  replace (X ^ 2 / main_norm ^ 2 * main_norm ^ 2) with (X ^ 2) by (field; lra).
  replace ((H * exp (rE d s r p h 1)) ^ 2 * main_norm ^ 2) with ((main_norm * H * exp (rE d s r p h 1)) ^ 2) by ring. apply pow_incr. lra.
Qed.

Lemma below_cases e s' r' p' : (2 <= e)%nat -> s' * a_of e = 1 ->
  rvb e r' p' (a_of e * p') = r' * p' * s' * (4 * curve e (a_of e) * a_of e) /\
  rvd e s' r' p' = r' * p' * s' * ((2 * a_of e + 1) * (1 + 2 * curve e (a_of e)) - 4 * curve e (a_of e) * a_of e).
Proof.
  intros He Hs. assert (D : e = 2%nat \/ e = 3%nat \/ e = 4%nat \/ (5 <= e)%nat) by lia.
  assert (A2 : forall k, s' * (k * a_of e) = k) by (intros; rewrite (Rmult_comm k), <- Rmult_assoc, Hs; ring).
  assert (A3 : forall k, r' * p' * s' * (k * a_of e) = r' * p' * k) by (intros; rewrite <- (A2 k) at 2; ring).
  destruct D as [-> | [-> | [-> | D]]].
  - unfold rvb, rvd, curve. cbn [Nat.sub]. split; [ring |]. pose proof (A2 2). replace (r' * p' * s' * ((2 * a_of 2 + 1) * (1 + 2 * 0) - 4 * 0 * a_of 2))
      with (r' * p' * (s' * (2 * a_of 2) + s')) by ring. rewrite A2. ring.
  - unfold rvb, rvd, curve. cbn [Nat.sub]. split; [ring |]. replace (r' * p' * s' * ((2 * a_of 3 + 1) * (1 + 2 * 0) - 4 * 0 * a_of 3))
      with (r' * p' * (s' * (2 * a_of 3) + s')) by ring. rewrite A2. ring.
  - unfold rvb, rvd, curve, a_of, size in *. cbn [Nat.sub Z.of_nat Pos.of_succ_nat Pos.succ] in *. rewrite Rmax_left by lra.
    assert (E : s' = 2 / 3) by lra. rewrite E. split; field.
  - unfold rvb, rvd, curve. destruct e as [| [| [| [| [| e]]]]]; try lia. change (S (S (S (S (S e)))) - 3)%nat with (S (S e)).
    pose proof (size_ge (S (S (S (S (S e))))) 5 ltac:(lia)) as S5. simpl (IZR (Z.of_nat 5)) in S5. set (x := a_of (S (S (S (S (S e)))))) in *.
    assert (X : 2 <= x) by (unfold x, a_of; lra). rewrite Rmax_right by lra.
    assert (E : s' = / x) by (apply Rmult_eq_reg_r with x; [rewrite Hs, Rinv_l; lra | lra]). rewrite E. split; field; lra.
Qed.
Lemma below_is : rbelow d s r p h = (/ w_1) ^ 2 * psi_below (2 * a) (curve d a).
Proof.
  destruct ra_pos as [ap ah]. destruct (below_cases d s r p d_2 ltac:(apply Rinv_l; lra)) as [B1 B2]. change (r * p * s) with (rv s r p) in B1, B2.
  unfold rbelow. rewrite B1, B2, rv_is. unfold psi_below, psi_0. ring.
Qed.

Lemma psi_2_pos : 0 <= psi_2.
Proof. unfold psi_2, qq, fq, ff. interval with (i_prec 64). Qed.

Lemma G2_low x x0 : first <= x0 <= x -> 0 <= rlow d s r p h x0 -> 0 <= G2 (x * w_1) /\
  (rlow d s r p h x0 / exp (rH d s r p x0)) ^ 2 <= Rpower (x * w_1) (3 / 2) * G2 (x * w_1) / (6 * ramp_lead d).
Proof.
  intros Hx Hl. destruct (from_x0 x x0 Hx) as [[Y0 Y] [[I0 I] _]]. pose proof ru_pos. pose proof rw_pos. destruct order as [fp [f2 _]]. set (w := x * w_1) in *.
  destruct (far_small w ltac:(lra)) as [_ [_ [w1 w3]]]. destruct (kink_norm w w3) as [G0 [[G _] _]]. split; [assumption |].
  rewrite exp_drift in G by lra. pose proof (drift_high x x0 Hx) as D. fold w in D. destruct main_norm_ge as [m0 m2]. pose proof rlead_pos as lp.
  rewrite <- squared_norm by lra. set (X := Rpower w (3 / 4) * sqrt (G2 w)) in *. pose proof rpeak_pos. pose proof psi_in. destruct ra_pos as [ap ah].
  assert (M0 : 0 <= 8 * pk * psi_0) by nra. pose proof psi_2_pos.
  assert (Hn : main_norm * rlow d s r p h x0 <= norm_low d a c (/ w)).
  { unfold norm_low, rlow. rewrite pk_is, below_is, rp_is.
    replace ((/ w_1) ^ 2 * psi_below (2 * a) (curve d a) / (16 * psi_0)) with (/ w_1 * / w_1 * (psi_below (2 * a) (curve d a) / (16 * psi_0))) by (field; lra).
    rewrite (sqrt_mult_alt (/ w_1 * / w_1)) by apply Rle_0_sqr. rewrite sqrt_square by (left; now apply Rinv_0_lt_compat).
    replace (pk * psi_below (2 * a) (curve d a) / 2) with (8 * pk * psi_0 * (psi_below (2 * a) (curve d a) / (16 * psi_0))) by (field; lra).
    rewrite (sqrt_mult_alt (8 * pk * psi_0)) by assumption. fold main_norm.
    replace (8 * pk * (psi_0 - (a + 3 / 2) * psi_2 * / w)) with (8 * pk * psi_0 * (1 - (a + 3 / 2) * (psi_2 / psi_0) * / w)) by (field; lra).
    rewrite (sqrt_mult_alt (8 * pk * psi_0)) by assumption. fold main_norm. set (q := sqrt (psi_below (2 * a) (curve d a) / (16 * psi_0))).
    assert (q0 : 0 <= q) by apply sqrt_pos. rewrite Rmult_minus_distr_l. apply Rplus_le_compat.
    - apply Rmult_le_compat_l; [lra |]. apply sqrt_le_1_alt.
      replace ((1 + 3 / 2 * s) * (psi_2 / psi_0) * (a / w_1 / x0)) with ((a + 3 / 2) * (psi_2 / psi_0) * / (x0 * w_1)) by (field; lra).
      assert (0 <= (a + 3 / 2) * (psi_2 / psi_0)) by (apply Rmult_le_pos; [lra |]; apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
      assert ((a + 3 / 2) * (psi_2 / psi_0) * / w <= (a + 3 / 2) * (psi_2 / psi_0) * / (x0 * w_1)) by (apply Rmult_le_compat_l; lra). lra.
    - apply Ropp_le_contravar. replace (main_norm * (/ w_1 * q / x0)) with (main_norm * q * / (x0 * w_1)) by (field; lra).
      apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | lra]. }
  assert (XH : main_norm * rlow d s r p h x0 <= X * exp (rH d s r p x0)).
  { apply Rle_trans with (1 := Hn). apply Rle_trans with (1 := G). rewrite Rmult_comm.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; [left; apply power_pos | apply sqrt_pos] | now apply exp_le]. }
  pose proof (exp_pos (rH d s r p x0)) as e0. rewrite <- m2. apply Rmult_le_reg_r with ((main_norm * exp (rH d s r p x0)) ^ 2); [apply pow_lt, Rmult_lt_0_compat; lra |].
  replace ((rlow d s r p h x0 / exp (rH d s r p x0)) ^ 2 * (main_norm * exp (rH d s r p x0)) ^ 2) with ((main_norm * rlow d s r p h x0) ^ 2) by (field; lra).
  replace (X ^ 2 / main_norm ^ 2 * (main_norm * exp (rH d s r p x0)) ^ 2) with ((X * exp (rH d s r p x0)) ^ 2) by (field; lra).
  apply pow_incr. split; [apply Rmult_le_pos; lra | assumption].
Qed.

Lemma fourth_root x : 0 <= x -> sqrt (sqrt (x ^ 4)) = x.
Proof. intros H. replace (x ^ 4) with ((x ^ 2) ^ 2) by ring. rewrite sqrt_pow2 by apply pow2_ge_0. now apply sqrt_pow2. Qed.

Lemma rmean_pos x : 0 < rmean d s r p k0 x.
Proof.
  unfold rmean. pose proof rnext_pos. pose proof (sqrt_pos (8 * psi_0)). pose proof (sqrt_pos (sqrt (r * p / x / (2 * k0 * (2 + s) ^ 2)))).
  assert (0 < 4 / (3 * sqrt (2 * PI))). { pose proof PI_RGT_0. assert (0 < sqrt (2 * PI)) by (apply sqrt_lt_R0; lra). apply Rdiv_lt_0_compat; lra. }
  assert (0 <= sqrt (8 * psi_0) * rnext d s * sqrt (sqrt (r * p / x / (2 * k0 * (2 + s) ^ 2)))) by (repeat simple apply Rmult_le_pos; assumption). lra.
Qed.

Lemma G1_up x x0 : first <= x0 <= x -> Rpower (x * w_1) (3 / 2) * G1 (x * w_1) / pk <= rmean d s r p k0 x0 * exp (rE d s r p h x0).
Proof.
  intros Hx. destruct (from_x0 x x0 Hx) as [[Y0 Y] [[I0 I] _]]. pose proof ru_pos. pose proof rw_pos. destruct order as [fp [f2 _]]. set (w := x * w_1) in *.
  destruct (far_small w ltac:(lra)) as [S1' [_ [w1 w3]]]. destruct (kink_norm w w3) as [_ [_ G]]. rewrite exp_drift in G by lra.
  pose proof (drift_low x x0 Hx) as D. fold w in D. pose proof rpeak_pos as pp. pose proof psi_in. destruct ra_pos as [ap ah]. pose proof rc_pos as cp.
  pose proof (rmean_pos x0) as mp. destruct ranges as [_ [_ [_ [kp _]]]]. destruct peak_in as [k_le _].
  assert (Hm : mean_high d a c w <= pk * rmean d s r p k0 x0).
  { unfold mean_high, rmean. rewrite next_is, pk_is, rp_is. set (q := a / w_1 / x0 / (2 * k0 * (2 + s) ^ 2)).
    assert (sp : 0 < s) by (now apply Rinv_0_lt_compat).
    assert (q_is : q = a / (2 * k0 * (2 + s) ^ 2) * / (x0 * w_1)) by (unfold q; field; lra).
    assert (q0 : 0 < q). { rewrite q_is. apply Rmult_lt_0_compat; [| lra]. apply Rdiv_lt_0_compat; [lra |]. apply Rmult_lt_0_compat; [lra | apply pow_lt; lra]. }
    assert (root : sqrt (2 * a + 1) * sqrt (2 * a + 1) = 2 * a + 1) by (apply sqrt_sqrt; lra). assert (rp0 : sqrt 1 <= sqrt (2 * a + 1)) by (apply sqrt_le_1_alt; lra). rewrite sqrt_1 in rp0.
    assert (K4 : sqrt (sqrt (/ w)) * sqrt pk * a <= pk * sqrt (2 * a + 1) * sqrt (sqrt q)).
    { replace (sqrt (sqrt (/ w)) * sqrt pk * a) with (sqrt (sqrt (/ w * pk ^ 2 * a ^ 4))).
      2: { rewrite (sqrt_mult_alt (/ w * pk ^ 2)) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]). rewrite (sqrt_mult_alt (sqrt (/ w * pk ^ 2))) by apply sqrt_pos.
           rewrite fourth_root by lra. f_equal. rewrite (sqrt_mult_alt (/ w)) by lra. rewrite (sqrt_mult_alt (sqrt (/ w))) by apply sqrt_pos. f_equal. rewrite sqrt_pow2; lra. }
      replace (pk * sqrt (2 * a + 1) * sqrt (sqrt q)) with (sqrt (sqrt (pk ^ 4 * (2 * a + 1) ^ 2 * q))).
      2: { assert (0 <= pk ^ 4) by (apply pow_le; lra).
           rewrite (sqrt_mult_alt (pk ^ 4 * (2 * a + 1) ^ 2)) by (apply Rmult_le_pos; [assumption | apply pow2_ge_0]). rewrite (sqrt_mult_alt (sqrt (pk ^ 4 * (2 * a + 1) ^ 2))) by apply sqrt_pos.
           f_equal. rewrite (sqrt_mult_alt (pk ^ 4)) by assumption. rewrite (sqrt_mult_alt (sqrt (pk ^ 4))) by apply sqrt_pos. rewrite fourth_root by lra. f_equal. rewrite sqrt_pow2; lra. }
      do 2 apply sqrt_le_1_alt. rewrite q_is.
      replace (pk ^ 4 * (2 * a + 1) ^ 2 * (a / (2 * k0 * (2 + s) ^ 2) * / (x0 * w_1))) with (pk ^ 2 * (pk ^ 2 * (a ^ 3 / (2 * k0)) * / (x0 * w_1))) by (field; lra).
      replace (/ w * pk ^ 2 * a ^ 4) with (pk ^ 2 * (a ^ 4 * / w)) by ring. apply Rmult_le_compat_l; [apply pow2_ge_0 |].
      apply Rmult_le_compat; [apply pow_le; lra | lra | | lra].
      apply Rle_trans with (k0 * (2 * a) * (a ^ 3 / (2 * k0))); [right; field; lra |]. apply Rmult_le_compat_r; [| assumption].
      apply Rmult_le_pos; [apply pow_le; lra | left; apply Rinv_0_lt_compat; lra]. }
    rewrite !Rmult_plus_distr_l. rewrite Rplus_assoc. apply Rplus_le_compat.
    { right. field. apply Rgt_not_eq, sqrt_lt_R0. pose proof PI_RGT_0. lra. }
    replace (Rpower w (3 / 4) * (main_norm * (a * rnext d s) / w) + Rpower w (3 / 4) * (2 * Rpower w (a + 3 / 4) * exp (- w / 2) / c))
      with (main_norm * rnext d s * a * (Rpower w (3 / 4) * / w) + 2 * (Rpower w (3 / 4) * Rpower w (a + 3 / 4) * exp (- w / 2) / c)) by (field; lra).
    rewrite root_of_root by lra. rewrite <- Rpower_plus. replace (3 / 4 + (a + 3 / 4)) with (a + 3 / 2) by field.
    unfold Rdiv at 1. rewrite Rmult_plus_distr_r. apply Rplus_le_compat.
    - apply Rmult_le_reg_r with (sqrt (2 * a + 1)); [lra |]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
      unfold main_norm. replace (8 * pk * psi_0) with (8 * psi_0 * pk) by ring. rewrite (sqrt_mult_alt (8 * psi_0)) by lra. pose proof rnext_pos as np. pose proof (sqrt_pos (8 * psi_0)).
      apply (Rmult_le_compat_l (sqrt (8 * psi_0) * rnext d s)) in K4; [| apply Rmult_le_pos; assumption]. lra.
    - assert (i1 : 0 < / sqrt (2 * a + 1) <= 1). { pose proof (Rinv_le_contravar 1 (sqrt (2 * a + 1)) ltac:(lra) rp0) as i1. rewrite Rinv_1 in i1. split; [apply Rinv_0_lt_compat |]; lra. }
      apply Rle_trans with (2 * (tiny / 20) * 1).
      + apply Rmult_le_compat; try lra. apply Rmult_le_pos; [lra |]. apply Rmult_le_pos; [| left; now apply Rinv_0_lt_compat].
        apply Rmult_le_pos; left; [apply power_pos | apply exp_pos].
      + assert (3 / 10 * tiny <= pk * tiny) by (apply Rmult_le_compat_r; lra). lra. }
  apply Rmult_le_reg_r with pk; [lra |]. replace (Rpower w (3 / 2) * G1 w / pk * pk) with (Rpower w (3 / 2) * G1 w) by (field; lra).
  apply Rmult_le_reg_l with (exp (drift d a c w)); [apply exp_pos |]. apply Rle_trans with (1 := G). apply Rle_trans with (1 := Hm).
  replace (exp (drift d a c w) * (rmean d s r p k0 x0 * exp (rE d s r p h x0) * pk)) with (pk * rmean d s r p k0 x0 * (exp (drift d a c w) * exp (rE d s r p h x0))) by ring.
  rewrite <- exp_plus. pose proof (exp_ineq1_le (drift d a c w + rE d s r p h x0)).
  rewrite <- (Rmult_1_r (pk * rmean d s r p k0 x0)) at 1. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | lra].
Qed.

Lemma E_first : rE d s r p h first <= 1 / 2.
Proof. apply ranges. Qed.
Definition ramp_cut : R := T ^ 3 * cut T.
Lemma ramp_cut_pos : 0 < ramp_cut.
Proof. unfold ramp_cut. apply Rmult_lt_0_compat; [apply pow_lt; lra | apply exp_pos]. Qed.

Lemma root_tokens x : first <= x <= last -> T <= tokens d n (x * w_1) /\ Rpower W (1 / 2) <= rQ * tokens d n (x * w_1).
Proof.
  intros H. destruct (rtau x H) as [t0 t1]. destruct ra_pos as [ap ah]. destruct rW_pos as [Wp _]. destruct order as [fp _]. pose proof rQ_pos as qp. pose proof tau_pos'.
  set (t := tokens d n (x * w_1)) in *. assert (it : 0 < / t) by (now apply Rinv_0_lt_compat). split.
  - apply Rmult_le_reg_l with (/ t); [assumption |]. rewrite Rinv_l by lra. apply Rle_trans with (tau * T); [apply Rmult_le_compat_r |]; lra.
  - pose proof rw_pos. assert (xp : 0 < x * w_1) by (apply Rmult_lt_0_compat; lra). destruct (tokens_is d a c rc_pos n (x * w_1) n_1 xp) as [_ TE]. fold t in TE.
    destruct (within a kk ap rkk_pos W first smooth_room Wp fp smooth_room_pos x) as [_ [X1 _]]; [rewrite <- last_is; exact H |].
    assert (two_w (x * w_1) <= far).
    { apply (far_in d a c (first * w_1) kk _ _ _ _ rc_pos ru_pos rkk_pos limit rcurve W first far Wp fp (Rle_refl _) far_ge). apply Rmult_le_compat_r; lra. }
    assert (X : Rpower W (1 / 2) * / t <= rQ).
    { rewrite TE. apply (scaled_le a c S1 kk ap rc_pos S_pos rkk_pos S_is n W smooth_room far n_1 Wp x (two_w (x * w_1)) (Rpower W (1 / 2)) (1 / K) rQ); try assumption; try lra.
      - left; apply power_pos.
      - apply few_n.
      - rewrite whole_is. destruct ranges as [_ [_ [_ [_ [_ [_ Z]]]]]].
        replace (rtop s * rQ * (1 + room) * exp far * (1 / K)) with (rQ * (rtop s * (1 + room) * exp far / K)) by (field; lra).
        rewrite <- (Rmult_1_r rQ) at 2. apply Rmult_le_compat_l; [lra |]. apply Rmult_le_reg_r with K; [assumption |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    apply (Rmult_le_compat_r t) in X; [| lra]. rewrite Rmult_assoc, Rinv_l in X by lra. lra.
Qed.

Lemma cut_small x : first <= x <= last -> 0 < cut (tokens d n (x * w_1)) <= ramp_cut /\ tokens d n (x * w_1) * cut (tokens d n (x * w_1)) <= ramp_cut /\
  Rpower W (3 / 2) / rQ * cut (tokens d n (x * w_1)) <= ramp_cut /\ Rpower (x * w_1) (3 / 2) * cut (tokens d n (x * w_1)) <= 3 * ramp_cut.
Proof.
  intros H. destruct (root_tokens x H) as [HT R]. set (t := tokens d n (x * w_1)) in *. pose proof rQ_pos as qp. destruct small as [q1 q2]. pose proof ramp_cut_pos as tp.
  assert (c0 : 0 < cut t) by apply exp_pos. pose proof (cut_cubed_falls T t ltac:(lra)) as CC. fold ramp_cut in CC. pose proof rkk_pos. destruct rW_pos as [Wp _]. destruct order as [fp _].
  assert (t2 : 1 <= t ^ 2) by nra. assert (t1 : t * cut t <= t ^ 3 * cut t).
  { replace (t ^ 3 * cut t) with (t * cut t * t ^ 2) by ring. rewrite <- (Rmult_1_r (t * cut t)) at 1. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | assumption]. }
  assert (cut t <= t * cut t) by (rewrite <- (Rmult_1_l (cut t)) at 1; apply Rmult_le_compat_r; lra).
  assert (Y : Rpower W (3 / 2) * cut t <= rQ ^ 3 * ramp_cut).
  { replace (Rpower W (3 / 2)) with (Rpower W (1 / 2) ^ 3).
    - apply Rle_trans with ((rQ * t) ^ 3 * cut t); [apply Rmult_le_compat_r; [lra |]; apply pow_incr; split; [left; apply power_pos | assumption] |].
      replace ((rQ * t) ^ 3 * cut t) with (rQ ^ 3 * (t ^ 3 * cut t)) by ring. apply Rmult_le_compat_l; [apply pow_le; lra | assumption].
    - rewrite <- (Rpower_pow 3) by apply power_pos. rewrite Rpower_mult. f_equal. simpl. field. }
  repeat split; try lra.
  - apply Rle_trans with (rQ ^ 3 * ramp_cut / rQ).
    + replace (Rpower W (3 / 2) / rQ * cut t) with (Rpower W (3 / 2) * cut t / rQ) by (field; lra). apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | assumption].
    + replace (rQ ^ 3 * ramp_cut / rQ) with (rQ ^ 2 * ramp_cut) by (field; lra). rewrite <- (Rmult_1_l ramp_cut) at 2. apply Rmult_le_compat_r; lra.
  - unfold w_1. rewrite <- !Rpower_mult_distr by (try apply Rmult_lt_0_compat; lra).
    assert (x3 : 0 < Rpower x (3 / 2) <= 3).
    { split; [apply power_pos |]. apply Rle_trans with (Rpower 2 (3 / 2)); [apply power_le; pose proof last_le; lra | unfold Rpower; interval with (i_prec 64)]. }
    replace (Rpower x (3 / 2) * (Rpower kk (3 / 2) * Rpower W (3 / 2)) * cut t) with (Rpower x (3 / 2) * (Rpower kk (3 / 2) * (Rpower W (3 / 2) * cut t))) by ring.
    assert (k3 : 0 < Rpower kk (3 / 2)) by apply power_pos.
    assert (Z : Rpower kk (3 / 2) * (Rpower W (3 / 2) * cut t) <= 1 * ramp_cut).
    { apply Rle_trans with (Rpower kk (3 / 2) * (rQ ^ 3 * ramp_cut)); [apply Rmult_le_compat_l; lra |].
      replace (Rpower kk (3 / 2) * (rQ ^ 3 * ramp_cut)) with (Rpower kk (3 / 2) * rQ * rQ ^ 2 * ramp_cut) by ring. unfold rQ at 1. rewrite Rpower_Ropp.
      replace (Rpower kk (3 / 2) * (ramp_lead d * / Rpower kk (3 / 2))) with (ramp_lead d) by (field; lra). apply Rmult_le_compat_r; lra. }
    assert (0 < Rpower W (3 / 2) * cut t) by (apply Rmult_lt_0_compat; [apply power_pos | assumption]).
    apply Rmult_le_compat; try lra. left. now apply Rmult_lt_0_compat.
Qed.

Lemma scale_B x : 0 < x -> Rpower W (3 / 2) / rQ = Rpower (x * w_1) (3 / 2) * Rpower x (- (3 / 2)) / ramp_lead d.
Proof.
  intros H. pose proof rkk_pos. destruct rW_pos as [Wp _]. pose proof rlead_pos. unfold rQ, w_1. rewrite <- !Rpower_mult_distr by (try apply Rmult_lt_0_compat; lra).
  rewrite !Rpower_Ropp. pose proof (power_pos x (3 / 2)). pose proof (power_pos kk (3 / 2)). field. lra.
Qed.

Lemma half_1 : (1 <= half n)%nat.
Proof. pose proof (half_ge n). pose proof rn_pos. apply INR_lt. simpl. lra. Qed.

Lemma V_in x x0 : first <= x0 <= x -> x <= last -> 0 <= V 1 n (x * w_1) <= J0 * (rup d s r p x0 * (r * p / x0)) + tiny.
Proof.
  intros Hx Hl. destruct (from_x0 x x0 Hx) as [[Y0 Y] [[I0 I] _]]. pose proof ru_pos. pose proof rw_pos. destruct order as [fp [f2 _]].
  destruct (cut_small x ltac:(lra)) as [[c0 c1] _]. destruct (root_tokens x ltac:(lra)) as [HT _]. destruct ra_pos as [ap ah].
  pose proof (up_at x x0 Hx) as U. set (w := x * w_1) in *. pose proof (spread_1 n w T m ltac:(lra) m_in ltac:(lra) HT) as Lp. pose proof half_1 as h1.
  destruct (falls_1 (half n) w w h1 ltac:(lra)) as [_ [_ F]]. destruct (falls_1 n w w n_1 ltac:(lra)) as [_ [F0 _]]. rewrite Rpower_1 in F by lra.
  assert (k0' : 0 <= kernel 0 1 T m) by (apply (kernel_nonneg T m); simpl; lra). split; [assumption |]. apply Rle_trans with (1 := Lp). apply Rplus_le_compat.
  - destruct (deficit_small d w ltac:(lra)) as [D0 _]. pose proof (rup_ge x0 ltac:(lra)). apply Rmult_le_compat; [assumption | apply Rmult_le_pos; lra | assumption |].
    rewrite rp_is. replace (rup d s r p x0 * (a / w_1 / x0)) with (a * rup d s r p x0 * / (x0 * w_1)) by (field; lra).
    apply Rmult_le_compat; lra.
  - assert (2 * cut (tokens d n w) * V 1 (half n) w <= 2 * cut (tokens d n w) * 2) by (apply Rmult_le_compat_l; lra). fold ramp_cut in tiny_T. lra.
Qed.

Lemma C2_in w : 0 < w -> 0 <= C2 (half n) w <= 27 / (2 * a + 1).
Proof.
  intros H. destruct ra_pos as [ap ah]. destruct (crossed (half n) w half_1 ltac:(lra)) as [X0 X]. split; [assumption |]. apply Rle_trans with (1 := X).
  destruct (falls_3 (half n) w w half_1 ltac:(lra)) as [_ [_ F]].
  apply Rle_trans with (sqrt 8 * PI ^ 2 / (3 * (2 * a + 1)) * Rpower 2 (3 / 2)).
  - apply Rmult_le_compat_l; [| assumption]. apply Rmult_le_pos; [apply Rmult_le_pos; [apply sqrt_pos | apply pow2_ge_0] | left; apply Rinv_0_lt_compat; lra].
  - assert (E : sqrt 8 * PI ^ 2 / 3 * Rpower 2 (3 / 2) <= 27) by (unfold Rpower; interval with (i_prec 64)).
    replace (sqrt 8 * PI ^ 2 / (3 * (2 * a + 1)) * Rpower 2 (3 / 2)) with (sqrt 8 * PI ^ 2 / 3 * Rpower 2 (3 / 2) * / (2 * a + 1)) by (field; lra).
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra | assumption].
Qed.

Lemma C1_le x x0 : first <= x0 <= x -> x <= last ->
  Rpower (x * w_1) (3 / 2) * C1 n (x * w_1) / pk <= J0 * (rmean d s r p k0 x0 * exp (rE d s r p h x0)) + tiny.
Proof.
  intros Hx Hl. destruct (from_x0 x x0 Hx) as [[Y0 Y] _]. pose proof ru_pos. pose proof rw_pos. destruct order as [fp [f2 _]].
  destruct (cut_small x ltac:(lra)) as [[c0 c1] [_ [_ c3]]]. destruct (root_tokens x ltac:(lra)) as [HT _]. destruct ra_pos as [ap ah]. pose proof rpeak_pos as pp.
  pose proof (G1_up x x0 Hx) as G. pose proof (rmean_pos x0) as mp. pose proof (exp_pos (rE d s r p h x0)) as ep.
  set (w := x * w_1) in *. pose proof (laplace_c n w T m ltac:(lra) m_in ltac:(lra) HT) as Lp. destruct (C2_in w ltac:(lra)) as [X0 X].
  assert (k0' : 0 <= kernel 0 1 T m) by (apply (kernel_nonneg T m); simpl; lra).
  set (z := Rpower w (3 / 2)) in *. assert (z0 : 0 < z) by apply power_pos.
  assert (Sq : sqrt (C2 (half n) w / (2 * a + 1)) <= 3).
  { replace 3 with (sqrt (3 * 3)) by (apply sqrt_square; lra). apply sqrt_le_1_alt. apply Rmult_le_reg_r with ((2 * a + 1) * (2 * a + 1)); [apply Rmult_lt_0_compat; lra |].
    replace (C2 (half n) w / (2 * a + 1) * ((2 * a + 1) * (2 * a + 1))) with (C2 (half n) w * (2 * a + 1)) by (field; lra).
    apply (Rmult_le_compat_r (2 * a + 1)) in X; [| lra]. unfold Rdiv in X. rewrite Rmult_assoc, Rinv_l in X by lra. nra. }
  assert (z1 : z * C1 n w <= z * (kernel 0 1 T m * G1 w + 2 * cut (tokens d n w) * 3)).
  { apply Rmult_le_compat_l; [lra |]. apply Rle_trans with (1 := Lp). apply Rplus_le_compat_l. apply Rmult_le_compat_l; lra. }
  apply Rle_trans with (z * (kernel 0 1 T m * G1 w + 2 * cut (tokens d n w) * 3) / pk); [apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra | assumption] |].
  replace (z * (kernel 0 1 T m * G1 w + 2 * cut (tokens d n w) * 3) / pk) with (kernel 0 1 T m * (z * G1 w / pk) + 6 * (z * cut (tokens d n w)) / pk) by (field; lra).
  apply Rplus_le_compat.
  - apply Rle_trans with (kernel 0 1 T m * (rmean d s r p k0 x0 * exp (rE d s r p h x0))); [apply Rmult_le_compat_l; assumption |].
    apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | assumption].
  - apply Rmult_le_reg_r with pk; [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. fold ramp_cut in tiny_T. assert (tiny * (3 / 10) <= tiny * pk) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma rcross_pos x0 : first <= x0 -> 0 <= rup d s r p x0 * (r * p / x0) /\ 0 <= rcross d s r p h k0 x0.
Proof.
  intros H. pose proof (rup_ge x0 H). pose proof r_pos. destruct rW_pos as [_ pp]. destruct order as [fp _]. pose proof (rmean_pos x0). pose proof (exp_pos (rE d s r p h x0)). pose proof psi_in.
  assert (A : 0 <= rup d s r p x0 * (r * p / x0)) by (apply Rmult_le_pos; [lra |]; left; apply Rdiv_lt_0_compat; [now apply Rmult_lt_0_compat | lra]).
  assert (B0 : 0 <= rmean d s r p k0 x0 * exp (rE d s r p h x0)) by (apply Rmult_le_pos; lra).
  split; [assumption |]. unfold rcross. apply Rmult_le_pos; [| left; apply Rinv_0_lt_compat; lra].
  apply Rmult_le_pos; apply Rplus_le_le_0_compat; try lra; apply Rmult_le_pos; lra.
Qed.

Lemma cross_le x x0 : first <= x0 <= x -> x <= last -> Rpower (x * w_1) (3 / 2) * (V 1 n (x * w_1) * C1 n (x * w_1)) / (3 * ramp_lead d) <= rcross d s r p h k0 x0.
Proof.
  intros Hx Hl. destruct (V_in x x0 Hx Hl) as [V0 V1]. pose proof (C1_le x x0 Hx Hl) as C. pose proof rpeak_pos as pp. pose proof psi_in. destruct (rcross_pos x0 ltac:(lra)) as [U0 _].
  pose proof (rmean_pos x0). pose proof (exp_pos (rE d s r p h x0)). set (Z := Rpower (x * w_1) (3 / 2)) in *.
  replace (Z * (V 1 n (x * w_1) * C1 n (x * w_1)) / (3 * ramp_lead d)) with (V 1 n (x * w_1) * (Z * C1 n (x * w_1) / pk) / (4 * psi_0)) by (unfold ramp_lead; field; lra).
  unfold rcross. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra |].
  set (Y := J0 * (rmean d s r p k0 x0 * exp (rE d s r p h x0)) + tiny) in *.
  assert (0 <= Y) by (unfold Y; apply Rplus_le_le_0_compat; [apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra] | lra]).
  apply Rle_trans with (V 1 n (x * w_1) * Y); [apply Rmult_le_compat_l | apply Rmult_le_compat_r]; assumption.
Qed.

Lemma mu_small w : first * w_1 <= w -> exp (- w) <= tiny / 10 * mu d w.
Proof.
  intros H. pose proof rw_pos. set (x := w / w_1). assert (E : w = x * w_1) by (unfold x; field; lra). destruct order as [fp _].
  assert (Hx : first <= x) by (apply Rmult_le_reg_r with w_1; lra). pose proof (drift_low x first ltac:(lra)) as D. rewrite <- E in D. pose proof E_first.
  destruct (far_small w H) as [S0 [_ [w1 _]]]. pose proof rc_pos as cp. pose proof (exp_ineq1_le (drift d a c w)) as I. rewrite <- exp_drift in I by lra.
  assert (Wa : Rpower w a * exp (- w) / c <= tiny / 20).
  { apply Rle_trans with (2 := S0). apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat |]. apply Rmult_le_compat; [left; apply power_pos | left; apply exp_pos | apply Rle_Rpower; lra | apply exp_le; lra]. }
  pose proof (power_pos w a) as P. apply Rmult_le_reg_l with (Rpower w a / c); [now apply Rdiv_lt_0_compat |].
  replace (Rpower w a / c * exp (- w)) with (Rpower w a * exp (- w) / c) by (field; lra). replace (Rpower w a / c * (tiny / 10 * mu d w)) with (tiny / 10 * (Rpower w a * mu d w / c)) by (field; lra).
  apply Rle_trans with (1 := Wa). replace (tiny / 20) with (tiny / 10 * (1 / 2)) by field. apply Rmult_le_compat_l; lra.
Qed.

Lemma share_le x : first <= x <= last -> exp (- (x * w_1)) < 2 * mu d (x * w_1) /\ 0 <= own_share d n (x * w_1) <= tau * (1 + 3 * tiny).
Proof.
  intros H. pose proof rw_pos. assert (F : first * w_1 <= x * w_1) by (apply Rmult_le_compat_r; lra). pose proof (mu_small (x * w_1) F) as Mu.
  destruct (rtau x H) as [t0 t1]. set (w := x * w_1) in *. pose proof (mu_pos d w) as m1. pose proof (mu_pos d (2 * w)) as m2. pose proof (cauchy d w) as Ca. pose proof rn_pos as np.
  pose proof (exp_pos (- w)) as e0. assert (tm : tiny / 10 * mu d w <= 1 / 40 * mu d w) by (apply Rmult_le_compat_r; lra). split; [lra |].
  set (f := exp (- w) / (2 * mu d w)). assert (f_in : 0 < f <= tiny / 20).
  { unfold f. split; [apply Rdiv_lt_0_compat; lra |]. apply Rmult_le_reg_r with (2 * mu d w); [lra |]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  set (t := tokens d n w) in *. assert (it : 0 < / t) by (now apply Rinv_0_lt_compat). assert (i1 : 0 < / (1 - f)) by (apply Rinv_0_lt_compat; lra).
  unfold own_share. fold f. fold t. assert (A : 1 / (t * (1 - f)) = / t * / (1 - f)) by (field; lra).
  split; [apply Rle_trans with (2 := Rmax_l _ _); rewrite A; apply Rmult_le_pos; lra |]. apply Rmax_lub.
  - rewrite A. apply Rmult_le_compat; try lra. apply Rmult_le_reg_r with (1 - f); [lra |]. rewrite Rinv_l by lra. nra.
  - replace (exp (- w) / (INR n * mu d w)) with (/ t * (exp (- w) * (mu d w / mu d (2 * w)))) by (unfold t, tokens; field; lra).
    assert (Q1 : exp (- w) * (mu d w / mu d (2 * w)) <= tiny / 10).
    { apply Rle_trans with (tiny / 10 * mu d w * (mu d w / mu d (2 * w))).
      - apply Rmult_le_compat_r; [left; now apply Rdiv_lt_0_compat | assumption].
      - replace (tiny / 10 * mu d w * (mu d w / mu d (2 * w))) with (tiny / 10 * (mu d w ^ 2 / mu d (2 * w))) by (field; lra).
        rewrite <- (Rmult_1_r (tiny / 10)) at 2. apply Rmult_le_compat_l; [lra |]. apply Rmult_le_reg_r with (mu d (2 * w)); [assumption |].
        unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    assert (0 < exp (- w) * (mu d w / mu d (2 * w))) by (apply Rmult_lt_0_compat; [assumption | now apply Rdiv_lt_0_compat]).
    apply Rmult_le_compat; lra.
Qed.

(* The part of B that is z / 2, at w_1 over Q. *)
Definition flat_part : R := a ^ 2 / (3 * (2 * a + 1) * ramp_lead d) * Rpower w_1 (- (1 / 2)).
Lemma flat_in : 0 <= flat_part <= rflat s r p k0.
Proof.
  destruct ra_pos as [ap ah]. pose proof rlead_pos. pose proof rw_pos as wp. pose proof (power_pos w_1 (- (1 / 2))) as hp. pose proof rpeak_pos as pp. pose proof psi_in. destruct peak_in as [k_le _].
  destruct ranges as [_ [_ [_ [kp _]]]]. assert (sp : 0 < s) by (now apply Rinv_0_lt_compat). pose proof r_pos. destruct rW_pos as [_ pW].
  assert (0 <= flat_part). { unfold flat_part. apply Rmult_le_pos; [| lra]. apply Rmult_le_pos; [apply pow2_ge_0 |]. left. apply Rinv_0_lt_compat. apply Rmult_lt_0_compat; lra. }
  split; [assumption |]. pose proof (sqrt_pos (r * p / (2 * k0))) as sq.
  assert (dp : 0 < 4 * (2 + s) * psi_0) by (apply Rmult_lt_0_compat; lra).
  apply Rsqr_incr_0_var; [| unfold rflat; apply Rmult_le_pos; [assumption | left; now apply Rinv_0_lt_compat]]. rewrite !Rsqr_pow2.
  unfold rflat. replace ((sqrt (r * p / (2 * k0)) / (4 * (2 + s) * psi_0)) ^ 2) with (sqrt (r * p / (2 * k0)) * sqrt (r * p / (2 * k0)) / (4 * (2 + s) * psi_0) ^ 2) by (field; lra).
  rewrite sqrt_sqrt by (left; apply Rdiv_lt_0_compat; [now apply Rmult_lt_0_compat | lra]).
  unfold flat_part. replace ((a ^ 2 / (3 * (2 * a + 1) * ramp_lead d) * Rpower w_1 (- (1 / 2))) ^ 2)
    with ((a ^ 2 / (3 * (2 * a + 1) * ramp_lead d)) ^ 2 * (Rpower w_1 (- (1 / 2)) * Rpower w_1 (- (1 / 2)))) by (field; lra).
  rewrite <- Rpower_plus. replace (- (1 / 2) + - (1 / 2)) with (- (1)) by field. rewrite Rpower_Ropp, Rpower_1 by assumption. rewrite rp_is.
  replace ((a ^ 2 / (3 * (2 * a + 1) * ramp_lead d)) ^ 2 * / w_1) with (/ pk ^ 2 * (a ^ 4 / (16 * psi_0 ^ 2 * (2 * a + 1) ^ 2) * / w_1)) by (unfold ramp_lead; field; lra).
  replace (a / w_1 / (2 * k0) / (4 * (2 + s) * psi_0) ^ 2) with (/ (k0 * (2 * a)) * (a ^ 4 / (16 * psi_0 ^ 2 * (2 * a + 1) ^ 2) * / w_1)) by (field; lra).
  apply Rmult_le_compat_r.
  - apply Rmult_le_pos; [| left; now apply Rinv_0_lt_compat]. apply Rmult_le_pos; [apply pow_le; lra |]. left. apply Rinv_0_lt_compat.
    apply Rmult_lt_0_compat; [| apply pow_lt; lra]. assert (0 < psi_0 ^ 2) by (apply pow_lt; lra). lra.
  - apply Rinv_le_contravar; [apply Rmult_lt_0_compat; lra | assumption].
Qed.

Lemma bias_at x x0 : first <= x0 <= x -> x <= last -> ramp_pieces d s r p h k0 x0 ->
  rbias d s r p h k0 x0 * Rpower x (- (3 / 2)) + flat_part * rslope d s r p h x0 ^ 2 * / x ^ 2 <= Rpower W (3 / 2) / rQ * B n (x * w_1).
Proof.
  intros Hx Hl [P1 [_ [_ P4]]]. destruct (from_x0 x x0 Hx) as [[Y0 Y] _]. pose proof ru_pos. pose proof rw_pos as wp. destruct order as [fp [f2 _]]. assert (xp : 0 < x) by lra.
  destruct (share_le x ltac:(lra)) as [E1 [E2 E3]]. destruct (rtau x ltac:(lra)) as [t0 t1]. destruct (G2_low x x0 Hx P1) as [G0 G]. pose proof (cross_le x x0 Hx Hl) as C.
  pose proof (slope_at x x0 Hx) as D. pose proof rlead_pos as lp. destruct ra_pos as [ap ah]. pose proof tau_pos' as tp. destruct small as [_ _].
  pose proof (jensen_r n (x * w_1) n_1 ltac:(lra) E1) as Je. rewrite (scale_B x xp).
  assert (zy : Rpower (x * w_1) (3 / 2) * Rpower x (- (3 / 2)) = Rpower w_1 (3 / 2)).
  { rewrite <- Rpower_mult_distr by assumption. rewrite Rpower_Ropp. pose proof (power_pos x (3 / 2)). field. lra. }
  assert (w3 : Rpower w_1 (3 / 2) = Rpower w_1 (- (1 / 2)) * w_1 ^ 2).
  { rewrite <- (Rpower_pow 2) by assumption. rewrite <- Rpower_plus. f_equal. simpl. field. }
  pose proof (power_pos x (- (3 / 2))) as yp. pose proof (power_pos (x * w_1) (3 / 2)) as zp. pose proof (power_pos w_1 (- (1 / 2))) as hp.
  set (w := x * w_1) in *. set (e := own_share d n w) in *. set (t := tokens d n w) in *. set (z := Rpower w (3 / 2)) in *. set (y := Rpower x (- (3 / 2))) in *.
  set (sl := rslope d s r p h x0) in *. assert (it : 0 < / t) by (now apply Rinv_0_lt_compat).
  apply Rle_trans with (z * y / ramp_lead d * (1 / 6 * (G2 w / (1 + e) ^ 2 - 2 * V 1 n w * C1 n w) + 1 / 3 / (2 * a + 1) * (deficit d w / w / (1 + 1 / t)) ^ 2)).
  2: { apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; [now apply Rmult_lt_0_compat | assumption] | assumption]. }
  replace (z * y / ramp_lead d * (1 / 6 * (G2 w / (1 + e) ^ 2 - 2 * V 1 n w * C1 n w) + 1 / 3 / (2 * a + 1) * (deficit d w / w / (1 + 1 / t)) ^ 2))
    with ((z * G2 w / (6 * ramp_lead d) / (1 + e) ^ 2 - z * (V 1 n w * C1 n w) / (3 * ramp_lead d)) * y
      + z * y / (3 * (2 * a + 1) * ramp_lead d) * (deficit d w / w / (1 + 1 / t)) ^ 2) by (field; repeat split; lra).
  apply Rplus_le_compat.
  - apply Rmult_le_compat_r; [lra |]. unfold rbias. apply Rplus_le_compat; [| now apply Ropp_le_contravar].
    pose proof (exp_pos (rH d s r p x0)) as hx. set (q := rlow d s r p h x0) in *.
    replace ((q / (exp (rH d s r p x0) * (1 + tau * (1 + 3 * tiny)))) ^ 2) with ((q / exp (rH d s r p x0)) ^ 2 / (1 + tau * (1 + 3 * tiny)) ^ 2).
    2: { field. assert (0 < tau * (1 + 3 * tiny)) by (apply Rmult_lt_0_compat; lra). lra. }
    unfold Rdiv at 1 3. apply Rmult_le_compat; [apply pow2_ge_0 | left; apply Rinv_0_lt_compat, pow_lt; lra | assumption |].
    apply Rinv_le_contravar; [apply pow_lt; lra | apply pow_incr; lra].
  - rewrite zy, w3. assert (W2 : w ^ 2 = x ^ 2 * w_1 ^ 2) by (unfold w; ring).
    apply Rle_trans with (Rpower w_1 (- (1 / 2)) * w_1 ^ 2 / (3 * (2 * a + 1) * ramp_lead d) * (a * sl / w) ^ 2).
    + right. unfold flat_part. replace ((a * sl / w) ^ 2) with (a ^ 2 * sl ^ 2 / w ^ 2) by (field; lra). rewrite W2. field. repeat split; lra.
    + apply Rmult_le_compat_l.
      * apply Rmult_le_pos; [apply Rmult_le_pos; [lra | apply pow2_ge_0] |]. left. apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra.
      * apply pow_incr. split; [apply Rmult_le_pos; [apply Rmult_le_pos; lra | left; apply Rinv_0_lt_compat; lra] |].
        apply Rmult_le_reg_r with (w * (1 + tau)); [apply Rmult_lt_0_compat; lra |].
        replace (a * sl / w * (w * (1 + tau))) with (a * (sl * (1 + tau))) by (field; lra).
        replace (deficit d w / w / (1 + 1 / t) * (w * (1 + tau))) with (deficit d w * ((1 + tau) / (1 + 1 / t))) by (field; lra).
        apply Rle_trans with (1 := D). rewrite <- (Rmult_1_r (deficit d w)) at 1. apply Rmult_le_compat_l; [apply deficit_small; lra |].
        apply Rmult_le_reg_r with (1 + 1 / t); [lra |]. unfold Rdiv at 2. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma left_at w : 0 <= w <= first * w_1 -> rbias d s r p h k0 first * Rpower first (- (3 / 2)) <= Rpower W (3 / 2) / rQ * B n w.
Proof.
  intros Hw. destruct pieces as [[P1 _] _]. pose proof ru_pos as vp. pose proof rw_pos as wp. destruct order as [fp [f2 _]]. pose proof last_ge.
  assert (Hx : first <= first <= first) by lra. destruct (G2_low first first Hx P1) as [G0 G]. pose proof (G1_up first first Hx) as H1. pose proof (up_at first first Hx) as D.
  destruct rwhole as [o0 o1]. pose proof (left_r n w (first * w_1) n_1 Hw vp) as Je. rewrite (scale_B first fp).
  pose proof rlead_pos as lp. destruct ra_pos as [ap ah]. pose proof tau_pos' as tp. pose proof rpeak_pos as pp. pose proof psi_in.
  pose proof (power_pos first (- (3 / 2))) as yp. pose proof (power_pos (first * w_1) (3 / 2)) as zp.
  destruct (deficit_small d (first * w_1) ltac:(lra)) as [D0 _]. destruct (rcross_pos first ltac:(lra)) as [U0 _]. pose proof (rmean_pos first) as mp. pose proof (exp_pos (rE d s r p h first)) as ep.
  assert (V1 : deficit d (first * w_1) / (first * w_1) <= rup d s r p first * (r * p / first)).
  { rewrite rp_is. replace (rup d s r p first * (a / w_1 / first)) with (a * rup d s r p first * / (first * w_1)) by (field; lra).
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | assumption]. }
  set (v := first * w_1) in *. set (z := Rpower v (3 / 2)) in *. set (y := Rpower first (- (3 / 2))) in *. set (o := 1 / (INR n * mu d v)) in *.
  set (D' := deficit d v / v) in *. assert (D1 : 0 <= D') by (apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat]).
  set (A0 := rup d s r p first * (r * p / first)) in *. set (Mn := rmean d s r p k0 first * exp (rE d s r p h first)) in *. assert (M0 : 0 <= Mn) by (apply Rmult_le_pos; lra).
  assert (Yc : z * (D' * G1 v) / (3 * ramp_lead d) <= rcross d s r p h k0 first).
  { replace (z * (D' * G1 v) / (3 * ramp_lead d)) with (D' * (z * G1 v / pk) / (4 * psi_0)) by (unfold ramp_lead; field; lra).
    unfold rcross. fold A0. fold Mn. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra |].
    apply Rle_trans with (D' * Mn); [apply Rmult_le_compat_l; assumption |].
    assert (A0 <= J0 * A0) by (rewrite <- (Rmult_1_l A0) at 1; apply Rmult_le_compat_r; lra). assert (Mn <= J0 * Mn) by (rewrite <- (Rmult_1_l Mn) at 1; apply Rmult_le_compat_r; lra).
    apply Rmult_le_compat; lra. }
  destruct (rcross_pos first ltac:(lra)) as [_ R0]. assert (i1 : 0 < / (1 + o) ^ 2 <= 1).
  { split; [apply Rinv_0_lt_compat, pow_lt; lra |]. pose proof (Rinv_le_contravar 1 ((1 + o) ^ 2) ltac:(lra) ltac:(nra)) as i. rewrite Rinv_1 in i. exact i. }
  apply Rle_trans with (z * y / ramp_lead d * ((1 / 6 * (G2 v - 2 * D' * G1 v) + 1 / 3 / (2 * a + 1) * D' ^ 2) / (1 + o) ^ 2)).
  2: { apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; [now apply Rmult_lt_0_compat | assumption] | assumption]. }
  replace (z * y / ramp_lead d * ((1 / 6 * (G2 v - 2 * D' * G1 v) + 1 / 3 / (2 * a + 1) * D' ^ 2) / (1 + o) ^ 2))
    with ((z * G2 v / (6 * ramp_lead d) - z * (D' * G1 v) / (3 * ramp_lead d) + z / ramp_lead d * (1 / 3 / (2 * a + 1) * D' ^ 2)) * / (1 + o) ^ 2 * y) by (field; lra).
  apply Rmult_le_compat_r; [lra |].
  assert (Sq : 0 <= z / ramp_lead d * (1 / 3 / (2 * a + 1) * D' ^ 2)).
  { apply Rmult_le_pos; [left; now apply Rdiv_lt_0_compat |]. apply Rmult_le_pos; [| apply pow2_ge_0]. left. apply Rdiv_lt_0_compat; lra. }
  apply Rle_trans with ((z * G2 v / (6 * ramp_lead d) - rcross d s r p h k0 first) * / (1 + o) ^ 2); [| apply Rmult_le_compat_r; lra].
  assert (rcross d s r p h k0 first * / (1 + o) ^ 2 <= rcross d s r p h k0 first * 1) by (apply Rmult_le_compat_l; lra).
  assert (X : (rlow d s r p h first / (exp (rH d s r p first) * (1 + tau * (1 + 3 * tiny)))) ^ 2 <= z * G2 v / (6 * ramp_lead d) * / (1 + o) ^ 2).
  { pose proof (exp_pos (rH d s r p first)) as hx. set (q := rlow d s r p h first) in *. assert (0 < tau * (1 + 3 * tiny)) by (apply Rmult_lt_0_compat; lra).
    replace ((q / (exp (rH d s r p first) * (1 + tau * (1 + 3 * tiny)))) ^ 2) with ((q / exp (rH d s r p first)) ^ 2 * / (1 + tau * (1 + 3 * tiny)) ^ 2) by (field; lra).
    apply Rmult_le_compat; [apply pow2_ge_0 | left; apply Rinv_0_lt_compat, pow_lt; lra | assumption |].
    assert (0 <= tau * (3 * tiny)) by (apply Rmult_le_pos; lra). apply Rinv_le_contravar; [apply pow_lt; lra | apply pow_incr; lra]. }
  unfold rbias. lra.
Qed.

Lemma inverse_tokens : / tokens d n w_1 <= 3 / 2 * s * rQ * exp (rq s r p h) * (Rpower W a / INR n).
Proof.
  pose proof rw_pos as wp. destruct ra_pos as [ap ah]. destruct rW_pos as [Wp _]. pose proof rQ_pos. destruct order as [fp [f2 _]]. pose proof rn_pos as np. pose proof (power_pos W a).
  destruct (tokens_is d a c rc_pos n w_1 n_1 wp) as [_ TE]. rewrite TE. pose proof (kk_W a c S1 kk ap rc_pos rkk_pos S_is W Wp 1 ltac:(lra)) as KW.
  rewrite Rmult_1_l in KW. change (w1 kk W) with w_1 in KW. rewrite KW, lead_is. replace (Rpower 1 a) with 1 by (unfold Rpower; rewrite ln_1, Rmult_0_r; now rewrite exp_0).
  assert (F : first * w_1 <= w_1) by (rewrite <- (Rmult_1_l w_1) at 2; apply Rmult_le_compat_r; lra).
  destruct (two_between d a c (first * w_1) _ _ _ _ rc_pos ru_pos limit rcurve w_1 F) as [_ T2].
  assert (E : exp (two_w w_1) <= exp (rq s r p h)).
  { apply exp_le. apply Rle_trans with (1 := T2). right. unfold rq. rewrite rq1_is, rq2_is. field. lra. }
  assert (0 < s) by (now apply Rinv_0_lt_compat).
  replace (3 / 2 * s * rQ * 1 * Rpower W a * exp (two_w w_1) / INR n) with (3 / 2 * s * rQ * (Rpower W a / INR n) * exp (two_w w_1)) by (field; lra).
  replace (3 / 2 * s * rQ * exp (rq s r p h) * (Rpower W a / INR n)) with (3 / 2 * s * rQ * (Rpower W a / INR n) * exp (rq s r p h)) by ring.
  apply Rmult_le_compat_l; [| assumption]. apply Rmult_le_pos; [apply Rmult_le_pos; lra | left; now apply Rdiv_lt_0_compat].
Qed.

Definition scaled_loss (x : R) : R := INR n * Rpower W (- a) * N n (x * w_1) / rQ + Rpower W (3 / 2) / rQ * B n (x * w_1).
Lemma loss_at_1 : scaled_loss 1 <= rtop s + rmost d s r p h + flat_part * (J2 * rup d s r p 1 ^ 2).
Proof.
  pose proof rw_pos as wp. destruct ra_pos as [ap ah]. destruct rW_pos as [Wp pW]. pose proof rQ_pos as qp. destruct order as [fp [f2 _]]. pose proof rn_pos as np. pose proof last_ge as lg.
  destruct (root_tokens 1 ltac:(lra)) as [HT _]. destruct (cut_small 1 ltac:(lra)) as [[c0 c1] [c2 [c3 _]]]. pose proof inverse_tokens as IT. pose proof (up_at 1 1 ltac:(lra)) as U1. pose proof (up_at 2 1 ltac:(lra)) as U2.
  destruct G2_up as [G0 G]. unfold scaled_loss. rewrite !Rmult_1_l in *. pose proof (rup_ge 1 ltac:(lra)) as ug. pose proof rlead_pos as lp. pose proof rkk_pos as kp.
  set (t := tokens d n w_1) in *. set (u := rup d s r p 1) in *. assert (tp : 0 < t) by lra. assert (it : 0 < / t) by (now apply Rinv_0_lt_compat). set (e := exp (rq s r p h)) in *. assert (e0 : 0 < e) by apply exp_pos.
  assert (k1' : 0 <= kernel 1 1 T m) by (apply (kernel_nonneg T m); simpl; lra). assert (k2' : 0 <= kernel 1 2 T m) by (apply (kernel_nonneg T m); simpl; lra).
  assert (sp : 0 < s) by (now apply Rinv_0_lt_compat). pose proof (power_pos W a) as Wa. pose proof (power_pos W (- a)) as Wma. fold ramp_cut in tiny_T, rest_T. pose proof ramp_cut_pos.
  assert (noise : INR n * Rpower W (- a) * N n w_1 / rQ <= 3 / 2 * s * e * (J1 + 2 * tiny)).
  { pose proof (laplace n w_1 T m ltac:(lra) m_in wp HT) as Lp. fold t in Lp.
    apply Rle_trans with (INR n * Rpower W (- a) * (/ t * (J1 + 2 * tiny)) / rQ).
    - apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat |]. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra |]. apply Rle_trans with (1 := Lp).
      replace (kernel 1 1 T m / t + 2 * cut t) with (/ t * (kernel 1 1 T m + 2 * (t * cut t))) by (field; lra). apply Rmult_le_compat_l; lra.
    - apply Rle_trans with (INR n * Rpower W (- a) * (3 / 2 * s * rQ * e * (Rpower W a / INR n) * (J1 + 2 * tiny)) / rQ).
      + apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat |]. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra |]. apply Rmult_le_compat_r; lra.
      + right. rewrite Rpower_Ropp. field. lra. }
  pose proof (laplace_k n w_1 T m ltac:(lra) m_in wp HT) as Lp. fold t in Lp. pose proof half_1 as h1.
  destruct (falls_1 (half n) w_1 w_1 h1 ltac:(lra)) as [_ [F10 F1]]. destruct (falls_2 (half n) w_1 w_1 h1 ltac:(lra)) as [_ [F20 F2]]. destruct (C2_in w_1 wp) as [X0 X].
  rewrite Rpower_1 in F1 by lra. replace (Rpower 2 2) with 4 in F2 by (replace 2 with (INR 2) at 2 by (simpl; ring); rewrite Rpower_pow by lra; simpl; ring).
  set (Z := Rpower W (3 / 2) / rQ) in *. assert (Z0 : 0 < Z) by (apply Rdiv_lt_0_compat; [apply power_pos | assumption]).
  assert (Z_is : Z = Rpower w_1 (3 / 2) / ramp_lead d).
  { unfold Z. rewrite (scale_B 1) by lra. rewrite Rmult_1_l. replace (Rpower 1 (- (3 / 2))) with 1 by (unfold Rpower; rewrite ln_1, Rmult_0_r; now rewrite exp_0). field. lra. }
  assert (w3 : Rpower w_1 (3 / 2) = Rpower w_1 (- (1 / 2)) * w_1 ^ 2).
  { rewrite <- (Rpower_pow 2) by assumption. rewrite <- Rpower_plus. f_equal. simpl. field. }
  set (Hi := ((1 + r * p * rnext d s + tiny) * exp (rE d s r p h 1)) ^ 2) in *. assert (H0 : 0 <= Hi) by apply pow2_ge_0.
  assert (i : Z * (1 / 6 * (kernel 1 2 T m * G2 w_1)) <= J2 * Hi).
  { replace (Z * (1 / 6 * (kernel 1 2 T m * G2 w_1))) with (kernel 1 2 T m * (Rpower w_1 (3 / 2) * G2 w_1 / (6 * ramp_lead d))) by (rewrite Z_is; field; lra).
    apply Rle_trans with (kernel 1 2 T m * Hi); [apply Rmult_le_compat_l | apply Rmult_le_compat_r]; assumption. }
  destruct (deficit_small d w_1 ltac:(lra)) as [D0 _]. destruct (deficit_small d (2 * w_1) ltac:(lra)) as [D20 _].
  assert (ii : Z * ((1 / 6 + 1 / 6) / (2 * a + 1) * (kernel 1 2 T m * (deficit d w_1 / w_1) ^ 2)) <= flat_part * (J2 * u ^ 2)).
  { apply Rle_trans with (Z * ((1 / 6 + 1 / 6) / (2 * a + 1) * (J2 * (a * u / w_1) ^ 2))).
    - apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra] |].
      apply Rmult_le_compat; [assumption | apply pow2_ge_0 | assumption |]. apply pow_incr. split; [apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat] |].
      apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | assumption].
    - right. rewrite Z_is, w3. unfold flat_part. field. lra. }
  assert (iii : Z * ((1 / 6 + 1 / 6) / (2 * a + 1) * (kernel 1 1 T m * (deficit d (2 * w_1) / w_1) / t)) <= 1 / 2 * (s / (2 + s)) * J1 * u * e * (r * s) / K).
  { apply Rle_trans with (Z * ((1 / 6 + 1 / 6) / (2 * a + 1) * (J1 * (a * u / w_1) * (3 / 2 * s * rQ * e * (Rpower W a / INR n))))).
    - apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra] |].
      assert (d2 : 0 <= deficit d (2 * w_1) / w_1 <= a * u / w_1).
      { split; [apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat] |]. apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | assumption]. }
      unfold Rdiv at 1. apply Rmult_le_compat; [apply Rmult_le_pos; lra | lra | | assumption]. apply Rmult_le_compat; lra.
    - destruct few_n as [F _]. replace (Rpower W (3 / 2)) with (Rpower W (1 / 2) * W) in Z by (rewrite <- (Rpower_1 W) at 2 by assumption; rewrite <- Rpower_plus; f_equal; field).
      replace (Z * ((1 / 6 + 1 / 6) / (2 * a + 1) * (J1 * (a * u / w_1) * (3 / 2 * s * rQ * e * (Rpower W a / INR n)))))
        with (1 / 2 * (s / (2 + s)) * J1 * u * e * (r * s) * (Rpower W (1 / 2) * (Rpower W a / INR n))).
      2: { unfold Z, w_1, ramp_ratio. replace (Rpower W (3 / 2)) with (Rpower W (1 / 2) * W) by (rewrite <- (Rpower_1 W) at 2 by assumption; rewrite <- Rpower_plus; f_equal; field). field. repeat split; lra. }
      apply Rle_trans with (1 / 2 * (s / (2 + s)) * J1 * u * e * (r * s) * (1 / K)); [| right; field; lra].
      apply Rmult_le_compat_l; [| assumption]. pose proof r_pos. assert (0 < s / (2 + s)) by (apply Rdiv_lt_0_compat; lra). repeat simple apply Rmult_le_pos; lra. }
  assert (iv : Z * (1 / 6 * (5 * cut t * C2 (half n) w_1) + (1 / 6 + 1 / 6) / (2 * a + 1) * (5 * cut t * V 2 (half n) w_1) + (1 / 6 + 1 / 6) / (2 * a + 1) * (4 * cut t * V 1 (half n) w_1)) <= rest).
  { apply Rle_trans with (16 * (Z * cut t)); [| lra].
    assert (ia : 0 < / (2 * a + 1) <= 1 / 2). { split; [apply Rinv_0_lt_compat; lra |]. replace (1 / 2) with (/ 2) by lra. apply Rinv_le_contravar; lra. }
    replace (16 * (Z * cut t)) with (Z * (cut t * 16)) by ring. apply Rmult_le_compat_l; [lra |].
    replace (1 / 6 * (5 * cut t * C2 (half n) w_1) + (1 / 6 + 1 / 6) / (2 * a + 1) * (5 * cut t * V 2 (half n) w_1) + (1 / 6 + 1 / 6) / (2 * a + 1) * (4 * cut t * V 1 (half n) w_1))
      with (cut t * (5 / 6 * C2 (half n) w_1 + / (2 * a + 1) * (5 / 3 * V 2 (half n) w_1 + 4 / 3 * V 1 (half n) w_1))) by (field; lra).
    apply Rmult_le_compat_l; [lra |]. assert (C2 (half n) w_1 <= 27 * (1 / 2)) by (apply Rle_trans with (1 := X); apply Rmult_le_compat_l; lra).
    assert (/ (2 * a + 1) * (5 / 3 * V 2 (half n) w_1 + 4 / 3 * V 1 (half n) w_1) <= 1 / 2 * (5 / 3 * 4 + 4 / 3 * 2)) by (apply Rmult_le_compat; lra). lra. }
  apply (Rmult_le_compat_l Z) in Lp; [| lra]. unfold rmost, rtop. fold e u Hi. lra.
Qed.

Theorem one_ramp :
  (exists w, 0 <= w /\ forall x, 0 <= x -> loss N B L sigma n w <= loss N B L sigma n x) /\
  forall w, 0 <= w -> (forall x, 0 <= x -> loss N B L sigma n w <= loss N B L sigma n x) ->
    low * (ramp_scale d * ramp_W) < w < high * (ramp_scale d * ramp_W) /\
    loss_low * ramp_loss d <= loss N B L sigma n w * Rpower ramp_W (3 / 2) / L ^ 2 <= loss_high * ramp_loss d.
Proof.
  pose proof rw_pos as wp. destruct ra_pos as [ap ah]. destruct rW_pos as [Wp pW]. pose proof rQ_pos as qp. pose proof rn_pos as np. pose proof last_ge as lg. pose proof flat_in as fi.
  destruct (window flat_part fi) as [n1 [[n2 n3] [[n4 [n5 n6]] [n7 [[n8 [n9 [n10 n11]]] n12]]]]]. destruct pieces as [[p1 [p2 [p3 p4]]] [[p5 [p6 [p7 p8]]] [p9 [p10 [p11 p12]]]]].
  destruct order as [o1 [o2 [o3 [o4 [o5 o6]]]]]. assert (sp : 0 < s) by (now apply Rinv_0_lt_compat).
  set (U := rtop s + rmost d s r p h + flat_part * (J2 * rup d s r p 1 ^ 2)) in *.
  assert (ss : / s = a) by (field; lra). assert (t3 : 0 < 1 + tau3).
  { destruct third_n as [t [t0 [_ t2]]]. rewrite whole_is in t2. pose proof (exp_pos far). assert (0 <= rtop s * rQ * (1 + room) * exp far * t); [| lra].
    unfold rtop. repeat simple apply Rmult_le_pos; lra. }
  assert (cp : forall x0, rfall d s r p x0 < 1 -> 0 < rc d s r p x0) by (intros x0 Hf; unfold rc; apply Rdiv_lt_0_compat; [lra | apply pow_lt; lra]).
  assert (lines : forall x0 x, first <= x0 <= x -> x <= last -> ramp_pieces d s r p h k0 x0 ->
    ramp_line a (rc d s r p x0) (rbias d s r p h k0 x0) (flat_part * rslope d s r p h x0 ^ 2) x <= scaled_loss x).
  { intros x0 x Hx Hl Hp. pose proof (bias_at x x0 Hx Hl Hp) as Bx. destruct Hp as [_ [_ [Hf _]]]. pose proof (noise_at x x0 Hx Hl Hf) as Nx.
    unfold ramp_line, scaled_loss. rewrite power_two by lra. rewrite Rplus_assoc. apply Rplus_le_compat; [| lra].
    apply (Rmult_le_compat_r (/ rQ)) in Nx; [| left; now apply Rinv_0_lt_compat]. apply Rle_trans with (2 := Nx). right. field. lra. }
  assert (over_line : forall x0 x, 0 < x -> rtop s + rmost d s r p h < rline d s r p h k0 flat_part x0 x ->
    U < ramp_line a (rc d s r p x0) (rbias d s r p h k0 x0) (flat_part * rslope d s r p h x0 ^ 2) x).
  { intros x0 x Hx. unfold U, rline, ramp_line. rewrite ss, power_two by assumption. intros Hr. unfold Rdiv at 2. lra. }
  assert (Noise0 : forall x, 0 <= x -> 0 <= INR n * Rpower W (- a) * N n (x * w_1) / rQ).
  { intros x Hx. apply Rmult_le_pos; [| left; now apply Rinv_0_lt_compat]. apply Rmult_le_pos; [apply Rmult_le_pos; [lra | left; apply power_pos] |]. apply squares_N; [assumption | apply Rmult_le_pos; lra]. }
  assert (ord : 0 < first < split /\ split < low < 1 /\ 1 < high /\ 1 <= last) by (repeat split; assumption).
  assert (leftF : forall x, 0 <= x <= first -> U < scaled_loss x).
  { intros x Hx. apply Rlt_le_trans with (1 := n1). unfold scaled_loss. pose proof (Noise0 x ltac:(lra)).
    assert (I : 0 <= x * w_1 <= first * w_1) by (split; [apply Rmult_le_pos; lra | apply Rmult_le_compat_r; lra]). pose proof (left_at (x * w_1) I). lra. }
  assert (rightF : forall x, last < x -> U < scaled_loss x).
  { intros x Hx. pose proof (noise_at last 1 ltac:(lra) ltac:(lra) p11) as Nl.
    assert (I : 0 <= last * w_1 <= x * w_1) by (split; [apply Rmult_le_pos; lra | apply Rmult_le_compat_r; lra]). pose proof (rises n _ _ n_1 I) as R.
    assert (la : Rpower last a = (1 + 2 / 3 * a) * (1 + room)).
    { unfold last. rewrite Rpower_mult. replace (1 / a * a) with 1 by (field; lra). apply Rpower_1. apply Rmult_lt_0_compat; lra. }
    apply (Rmult_le_compat_l (INR n * Rpower W (- a))) in R; [| apply Rmult_le_pos; [lra | left; apply power_pos]].
    assert (B0 : 0 <= Rpower W (3 / 2) / rQ * B n (x * w_1)).
    { apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; [apply power_pos | assumption] |]. apply squares_B; [assumption | lra]. }
    apply Rlt_le_trans with (3 / 2 * s * Rpower last a * rc d s r p 1).
    - rewrite la. replace (3 / 2 * s * ((1 + 2 / 3 * a) * (1 + room)) * rc d s r p 1) with (rtop s * ((1 + room) * rc d s r p 1)) by (unfold rtop; field; lra). unfold U. lra.
    - unfold scaled_loss. apply Rle_trans with (INR n * Rpower W (- a) * N n (x * w_1) / rQ); [| lra].
      apply Rmult_le_reg_r with rQ; [assumption |]. replace (INR n * Rpower W (- a) * N n (x * w_1) / rQ * rQ) with (INR n * Rpower W (- a) * N n (x * w_1)) by (field; lra). lra. }
  assert (outer : forall x, 0 <= x -> x <= low \/ high <= x -> U < scaled_loss x).
  { apply (outside_lines a scaled_loss first split low high last U (rc d s r p first) (rc d s r p split) (rc d s r p 1)
      (rbias d s r p h k0 first) (rbias d s r p h k0 split) (rbias d s r p h k0 1) (flat_part * rslope d s r p h first ^ 2)
      (flat_part * rslope d s r p h split ^ 2) (flat_part * rslope d s r p h 1 ^ 2)); try assumption.
    - repeat split; now apply cp.
    - repeat split; assumption.
    - repeat split; (apply Rmult_le_pos; [apply fi | apply pow2_ge_0]).
    - intros x Hx. apply lines; [lra | lra |]. repeat split; assumption.
    - intros x Hx. apply lines; [lra | lra |]. repeat split; assumption.
    - intros x Hx. apply lines; [lra | lra |]. repeat split; assumption.
    - exact loss_at_1.
    - split; assumption.
    - apply over_line; [lra | assumption].
    - apply over_line; [lra | assumption].
    - apply over_line; [lra | assumption]. }
  assert (F_is : forall w, scaled_loss (w / w_1) * rQ = loss N B L sigma n w * (Rpower W (3 / 2) / L ^ 2)).
  { intros w. unfold scaled_loss, loss. replace (w / w_1 * w_1) with w by (field; lra).
    assert (E : Rpower W a * Rpower W (3 / 2) = INR n * L ^ 2 / sigma ^ 2).
    { rewrite <- Rpower_plus. unfold ramp_W. rewrite Rpower_mult. replace (1 / (a + 3 / 2) * (a + 3 / 2)) with 1 by (field; lra). apply Rpower_1. pos. }
    pose proof (power_pos W a) as P. rewrite Rpower_Ropp. replace (/ Rpower W a) with (Rpower W (3 / 2) * sigma ^ 2 / (INR n * L ^ 2)); [field; lra |].
    apply Rmult_eq_reg_r with (Rpower W a); [| lra]. rewrite Rinv_l by lra.
    replace (Rpower W (3 / 2) * sigma ^ 2 / (INR n * L ^ 2) * Rpower W a) with (Rpower W a * Rpower W (3 / 2) * sigma ^ 2 / (INR n * L ^ 2)) by (field; lra).
    rewrite E. field. lra. }
  assert (fact : 0 < Rpower W (3 / 2) / L ^ 2) by (apply Rdiv_lt_0_compat; [apply power_pos | now apply pow_lt]).
  assert (F_lt : forall w v, scaled_loss (w / w_1) < scaled_loss (v / w_1) -> loss N B L sigma n w < loss N B L sigma n v).
  { intros w v Hv. apply Rmult_lt_reg_r with (1 := fact). rewrite <- !F_is. apply Rmult_lt_compat_r; assumption. }
  assert (one : w_1 / w_1 = 1) by (field; lra). pose proof loss_at_1 as L1. fold U in L1. change (kk * W) with w_1.
  destruct (least_inside (loss N B L sigma n) (low * w_1) w_1 (high * w_1)) as [A Mi].
  - intros x Hx. now apply loss_continuous.
  - split; [apply Rmult_le_pos; lra | rewrite <- (Rmult_1_l w_1) at 2; apply Rmult_lt_compat_r; lra].
  - rewrite <- (Rmult_1_l w_1) at 1. apply Rmult_lt_compat_r; lra.
  - intros x Hx Ho. apply F_lt. rewrite one. apply Rle_lt_trans with (1 := L1). apply outer; [apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat] |].
    destruct Ho as [Ho | Ho]; [left | right]; apply Rmult_le_reg_r with w_1; try assumption; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
  - split; [exact A |]. intros w Hw Hmin. pose proof (Mi w Hw Hmin) as I. split; [exact I |].
    assert (Hu : scaled_loss (w / w_1) <= U).
    { apply Rle_trans with (2 := L1). apply Rnot_lt_le. intros B0. rewrite <- one in B0. apply F_lt in B0. specialize (Hmin w_1 ltac:(lra)). lra. }
    replace (loss N B L sigma n w * Rpower W (3 / 2) / L ^ 2) with (scaled_loss (w / w_1) * rQ) by (rewrite F_is; field; lra).
    assert (Rl : ramp_loss d = rQ * rtop s) by reflexivity. rewrite Rl.
    assert (xi : low < w / w_1 < high) by (split; apply Rmult_lt_reg_r with w_1; try assumption; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra).
    pose proof (inside_lines a scaled_loss first split low high last U loss_low (rc d s r p split) (rc d s r p 1) (rbias d s r p h k0 split) (rbias d s r p h k0 1)
      (flat_part * rslope d s r p h first ^ 2) (flat_part * rslope d s r p h split ^ 2) (flat_part * rslope d s r p h 1 ^ 2) ap ord) as IL.
    split.
    + replace (loss_low * (rQ * rtop s)) with (rtop s * loss_low * rQ) by ring. apply Rmult_le_compat_r; [lra |].
      replace (rtop s) with (1 + 3 / 2 / a) by (unfold rtop; field; lra). apply IL; try assumption.
      * repeat split; (apply Rmult_le_pos; [apply fi | apply pow2_ge_0]).
      * intros x Hx. apply lines; [lra | lra |]. repeat split; assumption.
      * intros x Hx. apply lines; [lra | lra |]. repeat split; assumption.
      * repeat split; assumption.
    + replace (loss_high * (rQ * rtop s)) with (loss_high * rtop s * rQ) by ring. apply Rmult_le_compat_r; [lra |]. apply Rle_trans with (1 := Hu). unfold U. lra.
Qed.

End Dimension.
End Ramp.

(* Beyond some dimension. *)
Definition ramp_rise (s : R) : R := ((2 + s) / (1 + s)) ^ 2.
Lemma ramp_centre_pos d : (2 <= d)%nat -> 0 < ramp_centre d.
Proof.
  intros H. unfold ramp_centre, ramp_lead. pose proof (ramp_peak_pos d H). pose proof (a_ge d H). pose proof psi_in.
  pose proof (half_gamma_pos (2 * d - 2) ltac:(lia)). pose proof (half_gamma_pos (d - 1) ltac:(lia)).
  apply Rmult_lt_0_compat; apply Rdiv_lt_0_compat; try lra. repeat simple apply Rmult_lt_0_compat; lra.
Qed.
Lemma ramp_centre_next d : (2 <= d)%nat -> ramp_centre (S (S d)) = ramp_centre d * ((a_of d + 1) * ramp_rise (/ a_of d)).
Proof.
  intros H. pose proof (a_ge d H) as A. assert (An : a_of (S (S d)) = a_of d + 1) by (unfold a_of; rewrite !size_next; field).
  unfold ramp_centre, ramp_lead. rewrite An, peak_next by assumption.
  replace (2 * S (S d) - 2)%nat with (S (S (S (S (2 * d - 2))))) by lia.
  replace (S (S d) - 1)%nat with (S (S (d - 1))) by lia. rewrite !half_gamma_step by lia.
  pose proof (half_gamma_pos (2 * d - 2) ltac:(lia)). pose proof (half_gamma_pos (d - 1) ltac:(lia)).
  assert (S0 : size d = 2 * a_of d + 1) by (unfold a_of; field).
  replace (IZR (Z.of_nat (S (S (2 * d - 2))))) with (2 * size d).
  2: { replace (S (S (2 * d - 2))) with (2 * d)%nat by lia. rewrite Nat2Z.inj_mul, mult_IZR. reflexivity. }
  replace (IZR (Z.of_nat (2 * d - 2))) with (2 * (size d - 1)).
  2: { rewrite Nat2Z.inj_sub, minus_IZR by lia. rewrite Nat2Z.inj_mul, mult_IZR. unfold size. simpl (IZR (Z.of_nat 2)). ring. }
  replace (IZR (Z.of_nat (d - 1))) with (size d - 1) by (rewrite Nat2Z.inj_sub, minus_IZR by lia; reflexivity).
  rewrite S0. unfold ramp_rise. field. repeat split; lra.
Qed.
Lemma ramp_ratio_le d rho : (2 <= d)%nat -> 0 < rho -> (ramp_ratio d <= rho <-> Rpower (a_of d / rho) (a_of d + 3 / 2) <= ramp_centre d).
Proof.
  intros H Hr. pose proof (a_ge d H) as A. assert (a0 : 0 < a_of d) by lra. pose proof (ramp_centre_pos d H) as Cp.
  assert (ar : 0 < a_of d / rho) by (apply Rdiv_lt_0_compat; lra). unfold ramp_ratio. assert (S0 : 0 < ramp_scale d) by apply power_pos.
  assert (E : Rpower (ramp_scale d) (a_of d + 3 / 2) = ramp_centre d).
  { unfold ramp_scale. rewrite Rpower_mult. replace (1 / (a_of d + 3 / 2) * (a_of d + 3 / 2)) with 1 by (field; lra). now apply Rpower_1. }
  split; intros I.
  - rewrite <- E. apply power_le; [| lra]. split; [assumption |].
    apply Rmult_le_reg_r with rho; [assumption |]. apply (Rmult_le_compat_r (ramp_scale d)) in I; [| lra].
    replace (a_of d / ramp_scale d * ramp_scale d) with (a_of d) in I by (field; lra).
    replace (a_of d / rho * rho) with (a_of d) by (field; lra). lra.
  - assert (J : a_of d / rho <= ramp_scale d).
    { replace (a_of d / rho) with (Rpower (Rpower (a_of d / rho) (a_of d + 3 / 2)) (1 / (a_of d + 3 / 2))).
      - unfold ramp_scale. apply power_le; [split; [apply power_pos | assumption] | left; apply Rdiv_lt_0_compat; lra].
      - rewrite Rpower_mult. replace ((a_of d + 3 / 2) * (1 / (a_of d + 3 / 2))) with 1 by (field; lra). now apply Rpower_1. }
    apply Rmult_le_reg_r with (ramp_scale d / rho); [apply Rdiv_lt_0_compat; lra |].
    replace (a_of d / ramp_scale d * (ramp_scale d / rho)) with (a_of d / rho) by (field; lra).
    replace (rho * (ramp_scale d / rho)) with (ramp_scale d) by (field; lra). assumption.
Qed.
Lemma ramp_ratio_stays j rho : (2 <= j)%nat -> 0 < rho -> ramp_ratio j <= rho -> ramp_ratio (S j) <= rho ->
  (forall s, 0 < s <= / a_of j -> exp (1 + 3 / 2 * s) <= rho * ramp_rise s) ->
  forall d, (j <= d)%nat -> ramp_ratio d <= rho.
Proof.
  intros Hj Hr B0 B1 step. apply every_other; [assumption | assumption |]. intros d Hd I0. assert (d2 : (2 <= d)%nat) by lia.
  apply (ramp_ratio_le d rho d2 Hr) in I0. apply ramp_ratio_le; [lia | assumption |]. rewrite ramp_centre_next by assumption.
  pose proof (a_ge d d2) as A. assert (a0 : 0 < a_of d) by lra.
  assert (An : a_of (S (S d)) = a_of d + 1) by (unfold a_of; rewrite !size_next; field). rewrite An.
  assert (aj : a_of j <= a_of d). { unfold a_of. assert (size j <= size d) by (apply IZR_le; lia). lra. } pose proof (a_ge j Hj).
  set (a := a_of d) in *. set (z := / a). assert (z0 : 0 < z) by (now apply Rinv_0_lt_compat).
  assert (zj : z <= / a_of j) by (apply Rinv_le_contravar; lra). specialize (step z (conj z0 zj)).
  replace ((a + 1) / rho) with (a / rho * (1 + z)) by (unfold z; field; lra). assert (ar : 0 < a / rho) by (apply Rdiv_lt_0_compat; lra).
  rewrite <- Rpower_mult_distr by lra. replace (a + 1 + 3 / 2) with (a + 3 / 2 + 1) by ring. rewrite !Rpower_plus, !Rpower_1 by lra. rewrite <- Rpower_plus.
  assert (E : Rpower (1 + z) a * Rpower (1 + z) (3 / 2) <= exp (1 + 3 / 2 * z)).
  { rewrite <- Rpower_plus. apply exp_le. assert (ln (1 + z) <= z) by (rewrite <- (ln_exp z) at 2; apply ln_le; [lra | apply exp_ineq1_le]).
    replace (1 + 3 / 2 * z) with ((a + 3 / 2) * z) by (unfold z; field; lra). apply Rmult_le_compat_l; lra. }
  pose proof (power_pos (a / rho) (a + 3 / 2)). pose proof (power_pos (1 + z) a). pose proof (power_pos (1 + z) (3 / 2)).
  apply Rle_trans with (Rpower (a / rho) (a + 3 / 2) * (Rpower (1 + z) a * Rpower (1 + z) (3 / 2)) * (a / rho * (1 + z))); [right; ring |].
  rewrite Rmult_assoc. assert (az : 0 < a / rho * (1 + z)) by (apply Rmult_lt_0_compat; lra).
  apply Rmult_le_compat; [lra | left; apply Rmult_lt_0_compat; [now apply Rmult_lt_0_compat | assumption] | assumption |].
  apply Rle_trans with (exp (1 + 3 / 2 * z) * (a / rho * (1 + z))); [apply Rmult_le_compat_r; lra |].
  replace ((a + 1) * ramp_rise z) with (rho * ramp_rise z * (a / rho * (1 + z))) by (unfold z; field; lra). apply Rmult_le_compat_r; lra.
Qed.

(* Gamma at half integers from whole numbers. *)
Fixpoint factors_of (step : Z) (k : nat) : Z := match k with O => 1 | S i => (step * Z.of_nat (S i) - (step - 1)) * factors_of step i end%Z.
Lemma half_gamma_even k : half_gamma (2 * k + 2) = IZR (factors_of 1 k).
Proof.
  induction k as [| k IH]; [reflexivity |]. replace (2 * S k + 2)%nat with (S (S (2 * k + 2))) by lia.
  rewrite half_gamma_step, IH by lia. cbn [factors_of]. rewrite mult_IZR. f_equal.
  replace (1 * Z.of_nat (S k) - (1 - 1))%Z with (Z.of_nat (S k)) by lia. replace (Z.of_nat (2 * k + 2)) with (2 * Z.of_nat (S k))%Z by lia. rewrite mult_IZR. field.
Qed.
Lemma half_gamma_odd k : half_gamma (2 * k + 1) = IZR (factors_of 2 k) * sqrt PI / 2 ^ k.
Proof.
  induction k as [| k IH]; [simpl; field |]. replace (2 * S k + 1)%nat with (S (S (2 * k + 1))) by lia.
  rewrite half_gamma_step, IH by lia. cbn [factors_of pow]. rewrite mult_IZR. assert (0 < 2 ^ k) by (apply pow_lt; lra).
  replace (2 * Z.of_nat (S k) - (2 - 1))%Z with (Z.of_nat (2 * k + 1)) by lia. field. lra.
Qed.
(* half_gamma i for a given i, j = i / 2 - 1 or (i - 1) / 2. *)
Ltac even_gamma i j := let z := eval vm_compute in (factors_of 1 j) in
  replace (half_gamma i) with (IZR z) by (symmetry; change i with (2 * j + 2)%nat; rewrite half_gamma_even; f_equal; vm_compute; reflexivity).
Ltac odd_gamma i j := let z := eval vm_compute in (factors_of 2 j) in
  replace (half_gamma i) with (IZR z * sqrt PI / 2 ^ j) by (symmetry; change i with (2 * j + 1)%nat; rewrite half_gamma_odd; do 3 f_equal; vm_compute; reflexivity).
