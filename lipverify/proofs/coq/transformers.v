(* Linear transformers for every number of tokens: what follows from a few facts, which are stated by name. The moments
   of normal numbers and the majorant of 1 / y are those of the module majorant. *)

From Coq Require Import Reals Psatz Lra Lia List.
From Interval Require Import Tactic.
Import ListNotations.
Open Scope R_scope.

(* The best readout in d dimensions: q n is E (sum g^3)^2 / (sum g^2 sum g^4) for n normal numbers g, and cosine d n is
   E cos^2. *)
Section Cosine.
Variables (q : nat -> R) (cosine : nat -> nat -> R).
(* Cauchy and Schwarz. *)
Definition Shares : Prop := forall n, 0 <= q n <= 1 /\ forall d, cosine d n <= 1.
(* n E q = n E [sum u^6 / sum u^4], u uniform on the sphere; 1 / y <= p y for y = n sum u^4 >= 1. *)
Definition Majorised : Prop := forall n, (6 <= n)%nat -> INR n * q n <= majorant.bound n.
(* 1 / y >= (6 - y) / 9, the tangent at 3. *)
Definition Tangent : Prop := forall n, (1 <= n)%nat -> 2 / 3 * INR n ^ 2 * majorant.mixed n 0 / majorant.radius 3 (INR n)
  - 1 / 9 * INR n ^ 3 * majorant.mixed n 1 / majorant.radius 5 (INR n) <= INR n * q n.
(* The other d - 1 columns span a uniformly random subspace of the complement of g. *)
Definition Independent : Prop := forall d n, (1 <= d < n)%nat -> cosine d n = q n + (1 - q n) * ((INR d - 1) / (INR n - 1)).
Hypotheses (shares : Shares) (majorised : Majorised) (tangent : Tangent) (independent : Independent).

Lemma share_le n : (1 <= n)%nat -> INR n * q n <= 5.
Proof.
  intros Hn. destruct (le_lt_dec 6 n) as [H | H].
  - apply Rle_trans with (1 := majorised n H). now apply majorant.at_most_5.
  - destruct (shares n) as [[_ Q] _]. assert (N : INR n <= 5) by (replace 5 with (INR 5) by (simpl; ring); apply le_INR; lia).
    pose proof (pos_INR n). apply Rle_trans with (INR n * 1); [apply Rmult_le_compat_l; assumption | lra].
Qed.

Lemma cosine_le d n : (1 <= d)%nat -> (1 <= n)%nat -> INR n * cosine d n <= INR d + 4.
Proof.
  intros Hd Hn. destruct (shares n) as [[Q0 Q1] C]. pose proof (share_le n Hn) as S. apply le_INR in Hd. simpl in Hd.
  destruct (le_lt_dec n d) as [H | H].
  - apply le_INR in H. pose proof (pos_INR n). specialize (C d).
    apply Rle_trans with (INR n * 1); [apply Rmult_le_compat_l; assumption | lra].
  - rewrite independent by (split; [apply INR_le; simpl |]; assumption). apply lt_INR in H.
    set (N := INR n) in *. set (D := INR d) in *. set (x := q n) in *. clearbody N D x.
    apply Rmult_le_reg_r with (N - 1); [lra |].
    replace (N * (x + (1 - x) * ((D - 1) / (N - 1))) * (N - 1)) with (N * x * (N - D) + N * (D - 1)) by (field; lra).
    assert (N * x * (N - D) <= 5 * (N - D)) by (apply Rmult_le_compat_r; lra). lra.
Qed.

Lemma cosine_ge d n : (1 <= d < n)%nat -> (6 <= n)%nat -> INR d + 4 - (60 + 5 * INR d) / INR n <= INR n * cosine d n.
Proof.
  intros Hd Hn. pose proof (tangent n ltac:(lia)) as T. destruct (majorant.mixeds n) as [E0 [E1 _]]. rewrite E0, E1 in T.
  pose proof (share_le n ltac:(lia)) as S. rewrite independent by assumption. destruct (shares n) as [[Q0 _] _].
  destruct Hd as [D1 DN]. apply le_INR in D1. apply lt_INR in DN. apply le_INR in Hn. simpl in D1, Hn.
  set (N := INR n) in *. set (D := INR d) in *. set (x := q n) in *. clearbody N D x.
  assert (L : 5 - 60 / N <= N * x).
  { apply Rle_trans with (2 := T). simpl majorant.radius. simpl INR.
    apply Rminus_le. match goal with |- ?l - ?r <= 0 => replace (l - r) with
      (- ((980 * N ^ 3 + 6400 * N ^ 2 + 22080 * N + 23040) / (N * (N + 2) * (N + 4) * (N + 6) * (N + 8)))) end.
    - apply Rge_le, Ropp_0_le_ge_contravar. apply Rmult_le_pos.
      + assert (0 <= N ^ 3) by (apply pow_le; lra). assert (0 <= N ^ 2) by (apply pow_le; lra). lra.
      + left. apply Rinv_0_lt_compat. repeat apply Rmult_lt_0_compat; lra.
    - field. repeat split; lra. }
  assert (M : D - 1 - 5 * D / N <= N * ((1 - x) * ((D - 1) / (N - 1)))).
  { apply Rle_trans with ((1 - x) * (D - 1)).
    - assert (x * (D - 1) <= 5 / N * D).
      { apply Rmult_le_compat; try lra. apply Rmult_le_reg_l with N; [lra |]. replace (N * (5 / N)) with 5 by (field; lra). lra. }
      replace (5 * D / N) with (5 / N * D) by (field; lra). lra.
    - replace (N * ((1 - x) * ((D - 1) / (N - 1)))) with ((1 - x) * (D - 1) + (1 - x) * ((D - 1) / (N - 1))) by (field; lra).
      assert (x <= 1). { apply Rmult_le_reg_l with N; lra. }
      assert (0 <= (1 - x) * ((D - 1) / (N - 1))); [| lra].
      apply Rmult_le_pos; [lra |]. apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]. }
  replace ((60 + 5 * D) / N) with (60 / N + 5 * D / N) by (field; lra). lra.
Qed.
End Cosine.

(* Polynomials with coefficients from T^0 on. *)
Fixpoint plus_poly (p q : list R) : list R :=
  match p, q with [], _ => q | _, [] => p | x :: p, y :: q => (x + y) :: plus_poly p q end.
Fixpoint times_poly (p q : list R) : list R :=
  match p with [] => [] | x :: p => plus_poly (map (Rmult x) q) (0 :: times_poly p q) end.
Definition not_negative (p : list R) : Prop := Forall (fun x => 0 <= x) p.
Ltac each := repeat (apply Forall_cons; [first [lra | apply Rmult_le_pos; lra] |]); apply Forall_nil.

Lemma plus_not_negative p : forall q, not_negative p -> not_negative q -> not_negative (plus_poly p q).
Proof.
  induction p as [| x p IH]; intros [| y q] Hp Hq; simpl; auto. inversion Hp; inversion Hq; subst.
  constructor; [lra | now apply IH].
Qed.

Lemma times_not_negative p q : not_negative p -> not_negative q -> not_negative (times_poly p q).
Proof.
  intros Hp Hq. induction Hp as [| x p Hx Hp IH]; simpl; [constructor |]. apply plus_not_negative; [| constructor; auto; lra].
  apply Forall_map. revert Hq. apply Forall_impl. intros y Hy. now apply Rmult_le_pos.
Qed.

(* E of a polynomial in the trace T of the moments of n tokens in d dimensions: n T is chi-squared with n d degrees of
   freedom, E T^i = d (d + 2/n) ... (d + 2 (i-1) / n). *)
Fixpoint of_trace (d n : R) (i : nat) (moment : R) (p : list R) : R :=
  match p with [] => 0 | x :: p => x * moment + of_trace d n (S i) (moment * (d + 2 * INR i / n)) p end.

Lemma of_trace_falls d n m p : not_negative p -> 0 <= d -> 0 < n <= m -> forall i x y, 0 <= x <= y ->
  of_trace d m i x p <= of_trace d n i y p.
Proof.
  intros Hp Hd H. induction Hp as [| c p Hc Hp IH]; intros i x y Hx; simpl; [lra |].
  pose proof (pos_INR i). assert (/ m <= / n) by (apply Rinv_le_contravar; lra).
  assert (0 < / m) by (apply Rinv_0_lt_compat; lra). assert (c * x <= c * y) by (apply Rmult_le_compat_l; lra).
  assert (0 <= 2 * INR i / m <= 2 * INR i / n).
  { unfold Rdiv. split; [apply Rmult_le_pos; lra | apply Rmult_le_compat_l; lra]. }
  assert (of_trace d m (S i) (x * (d + 2 * INR i / m)) p <= of_trace d n (S i) (y * (d + 2 * INR i / n)) p); [| lra].
  apply IH. split; [apply Rmult_le_pos; lra | apply Rmult_le_compat; lra].
Qed.

(* Ridge regression at one of two levels of noise, s = sigma^2; c and v are the weights, b = (1 - c t)^2, or 1 if yy acts
   first. fluctuating n is E |c v (lambda/n - s) alpha|^2, whitened n is E |(I - Sigma) w_ridge|^2 / (1 + s)^2, and
   apart n is E |w - w_ridge|^2. *)
Section Ridge.
Variables (d s c v least : R) (b : list R) (fluctuating whitened apart : nat -> R).
Definition own : list R := times_poly b [s; 1].
Definition every : list R := times_poly b [d * s; 1].
Definition squares : list R :=
  let both := plus_poly (plus_poly every [d * s]) (map (Rmult 2) own) in
  times_poly (times_poly [0; 1] [s; 1]) (plus_poly (times_poly both both)
    (plus_poly (map (Rmult 2) (times_poly every every)) (map (Rmult 4) (times_poly own own)))).
Definition fluctuation (n : R) : R :=
  (c * v) ^ 2 * (2 * s ^ 2 * (d + d * (d + 1) / n + s * d) + of_trace d n 0 1 squares / n).
(* Given Sigma it is a sum of moments of normal numbers; each eigenvalue is at most the trace. *)
Definition Fluctuates : Prop := forall n, (1 <= n)%nat -> 0 <= INR n * fluctuating n <= fluctuation (INR n).
(* w_ridge is a posterior mean of w* ~ N(0, I), and E tr (I - Sigma)^2 = d (d+1) / n. *)
Definition Posterior : Prop := forall n, (1 <= n)%nat -> 0 <= INR n * whitened n <= d * (d + 1) / (1 + s) ^ 2.
Definition Minkowski : Prop := forall n, (1 <= n)%nat -> apart n <= (sqrt (fluctuating n) + sqrt (whitened n)) ^ 2.
Hypotheses (fluctuates : Fluctuates) (posterior : Posterior) (minkowski : Minkowski).
Variables (Q R_ K : R).
Hypotheses (d_pos : 0 < d) (s_nonneg : 0 <= s) (b_nonneg : not_negative b) (least_ge : 1 <= least).
Hypotheses (Q_ge : fluctuation least <= Q) (R_ge : d * (d + 1) / (1 + s) ^ 2 <= R_) (K_ge : (sqrt Q + sqrt R_) ^ 2 / d <= K).

Lemma fluctuation_falls n : least <= n -> fluctuation n <= fluctuation least.
Proof.
  intros H. unfold fluctuation. apply Rmult_le_compat_l; [apply pow2_ge_0 |].
  assert (/ n <= / least) by (apply Rinv_le_contravar; lra). assert (0 < / n) by (apply Rinv_0_lt_compat; lra).
  assert (A : not_negative own) by (apply times_not_negative; [assumption | each]).
  assert (B : not_negative every) by (apply times_not_negative; [assumption | each]).
  assert (Z : forall x p, 0 <= x -> not_negative p -> not_negative (map (Rmult x) p)).
  { intros x p Hx Hp. apply Forall_map. revert Hp. apply Forall_impl. intros y Hy. now apply Rmult_le_pos. }
  assert (P : not_negative squares).
  { unfold squares. cbv zeta. apply times_not_negative; [apply times_not_negative; each |].
    assert (W : not_negative (plus_poly (plus_poly every [d * s]) (map (Rmult 2) own))).
    { repeat apply plus_not_negative; [assumption | each | apply Z; [lra | assumption]]. }
    repeat apply plus_not_negative; [now apply times_not_negative | |];
      (apply Z; [lra | now apply times_not_negative]). }
  pose proof (of_trace_falls d least n squares P ltac:(lra) ltac:(lra) 0 1 1 ltac:(lra)) as F.
  assert (F0 : 0 <= of_trace d n 0 1 squares).
  { assert (G : forall p, not_negative p -> forall i x, 0 <= x -> 0 <= of_trace d n i x p); [| apply G; [assumption | lra]].
    intros p Hp. induction Hp as [| y p Hy Hp IH]; intros i x Hx; simpl; [lra |]. pose proof (pos_INR i).
    apply Rplus_le_le_0_compat; [now apply Rmult_le_pos |]. apply IH. apply Rmult_le_pos; [assumption |].
    assert (0 <= 2 * INR i / n) by (apply Rmult_le_pos; lra). lra. }
  apply Rplus_le_compat.
  - apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra | apply pow2_ge_0] |].
    assert (d * (d + 1) / n <= d * (d + 1) / least); [| lra].
    apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | assumption].
  - unfold Rdiv. apply Rmult_le_compat; lra.
Qed.

Lemma ridge_rate n : least <= INR n -> apart n / d <= K / INR n.
Proof.
  intros H. assert (N : (1 <= n)%nat) by (apply INR_le; simpl; lra). assert (n_pos : 0 < INR n) by lra.
  destruct (fluctuates n N) as [F0 F]. destruct (posterior n N) as [W0 W]. pose proof (fluctuation_falls (INR n) H) as L.
  assert (scale : forall x, 0 <= INR n * x -> sqrt (INR n) * sqrt x = sqrt (INR n * x)).
  { intros x Hx. symmetry. apply sqrt_mult; [lra |]. apply Rmult_le_reg_l with (INR n); lra. }
  apply Rmult_le_reg_l with (INR n); [assumption |]. replace (INR n * (K / INR n)) with K by (field; lra).
  apply Rle_trans with (2 := K_ge). replace (INR n * (apart n / d)) with (INR n * apart n / d) by (field; lra).
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat |].
  apply Rle_trans with (INR n * (sqrt (fluctuating n) + sqrt (whitened n)) ^ 2).
  { apply Rmult_le_compat_l; [lra | now apply minkowski]. }
  rewrite <- (pow2_sqrt (INR n)) at 1 by lra. rewrite <- Rpow_mult_distr, Rmult_plus_distr_l, !scale by assumption.
  apply pow_incr. split; [apply Rplus_le_le_0_compat; apply sqrt_pos |].
  apply Rplus_le_compat; apply sqrt_le_1_alt; lra.
Qed.
End Ridge.
