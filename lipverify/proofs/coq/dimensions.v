(* The optimal window in every dimension: what follows for each d, n and W, from the same facts of analysis and a few others. *)

From Coq Require Import Reals Psatz Lra Lia Wf_nat ZArith.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
Open Scope R_scope.

(* The facts of analysis about a law of one harmonic P of weight k, p = P'(1), S0 = k p, S1 = k p^2; phi w is the mean of
   (1 - P) / p under the weights g = e^{-w h}. *)
Definition Jensen_pair (d : nat) (N : nat -> R -> R) : Prop := forall n w, (1 <= n)%nat -> 0 <= w ->
  INR n * mu d (2 * w) / ((INR n - 1) * mu d w + mu d (3 * w) / mu d (2 * w)) ^ 2 <= N n w.
Definition Jensen_degree (d : nat) (B : nat -> R -> R) (S1 : R) (phi : R -> R) : Prop := forall n w, (1 <= n)%nat -> 0 < w ->
  S1 * (INR n * phi w / (INR n - 1 + mu d (2 * w) * phi (2 * w) / (mu d w ^ 2 * phi w))) ^ 2 <= B n w.
Definition Jensen_left (d : nat) (B : nat -> R -> R) (S1 : R) (phi : R -> R) : Prop := forall n w v, (1 <= n)%nat ->
  0 <= w <= v -> 0 < v -> S1 * (phi v / (1 + 1 / (INR n * mu d v))) ^ 2 <= B n w.
Definition Laplace_degree (d : nat) (B : nat -> R -> R) (k S0 S1 : R) (phi : R -> R) : Prop := forall n w T m,
  6 <= T -> 0 <= m <= T -> 0 < w -> T <= tokens d n w ->
  B n w <= S1 * (kernel 1 2 T m * phi w ^ 2) + 2 * S0 * (kernel 1 1 T m * phi (2 * w) / tokens d n w)
    + 28 * k * cut (tokens d n w).

(* Where the loss is larger outside, a least value is inside. *)
Lemma least_inside (f : R -> R) lo mid hi : (forall x, 0 <= x -> continuity_pt f x) -> 0 <= lo < mid -> mid < hi ->
  (forall x, 0 <= x -> x <= lo \/ hi <= x -> f mid < f x) ->
  (exists w, 0 <= w /\ forall x, 0 <= x -> f w <= f x) /\
  forall w, 0 <= w -> (forall x, 0 <= x -> f w <= f x) -> lo < w < hi.
Proof.
  intros C L H out. split.
  - destruct (continuity_ab_min f 0 hi) as [w [H1 H2]]; [lra | intros x Hx; apply C; lra |].
    exists w. split; [lra |]. intros x Hx. destruct (Rle_lt_dec x hi) as [I | I]; [apply H1; lra |].
    apply Rle_trans with (f mid); [apply H1; lra | left; apply out; [assumption | right; lra]].
  - intros w Hw Hmin. specialize (Hmin mid ltac:(lra)).
    split; apply Rnot_le_lt; intros I; [specialize (out w Hw (or_introl I)) | specialize (out w Hw (or_intror I))]; lra.
Qed.

Lemma loss_continuous N B L sigma n x : Continuous N B -> (1 <= n)%nat -> continuity_pt (loss N B L sigma n) x.
Proof.
  intros continuous Hn. destruct (continuous n x Hn) as [C1 C2]. unfold loss.
  apply (continuity_pt_plus (fun x => sigma ^ 2 * N n x) (fun x => L ^ 2 * B n x));
    apply (continuity_pt_mult (fun _ => _)); auto; apply continuity_pt_const; intros p q; reflexivity.
Qed.

Lemma cut_squared_falls S T : 8 <= S <= T -> T ^ 2 * cut T <= S ^ 2 * cut S.
Proof.
  intros H.
  assert (R : T / 2 * exp (- (T / 2) / 4) <= S / 2 * exp (- (S / 2) / 4)).
  { replace (- (S / 2) / 4) with (- (T / 2) / 4 + (T - S) / 8) by field. rewrite exp_plus.
    pose proof (exp_pos (- (T / 2) / 4)) as P. pose proof (exp_ineq1_le ((T - S) / 8)) as I.
    set (e := exp (- (T / 2) / 4)) in *. set (x := exp ((T - S) / 8)) in *.
    assert (T / 2 <= S / 2 * x) by nra. replace (S / 2 * (e * x)) with (S / 2 * x * e) by ring.
    apply Rmult_le_compat_r; lra. }
  assert (F : forall x, x ^ 2 * cut x = 4 * exp (1 / 4) * (x / 2 * exp (- (x / 2) / 4)) ^ 2).
  { intros x. unfold cut. replace (- (x - 1) / 4) with (1 / 4 + (- (x / 2) / 4 + - (x / 2) / 4)) by field. rewrite !exp_plus. field. }
  rewrite !F. apply Rmult_le_compat_l; [pose proof (exp_pos (1 / 4)); lra |]. apply pow_incr. split; [| exact R].
  apply Rmult_le_pos; [lra | left; apply exp_pos].
Qed.

(* One dimension, one n and one W. *)
Section Dimension.
Variables (d : nat) (N B : nat -> R -> R) (phi : R -> R) (a c u k S0 S1 kk T m J1 J2 g1 e1 g2 e2 : R).
Hypotheses (a_pos : 0 < a) (c_pos : 0 < c) (u_pos : 0 < u) (k_nonneg : 0 <= k) (S0_nonneg : 0 <= S0) (S1_pos : 0 < S1).
Hypotheses (kk_pos : 0 < kk) (centre : Rpower kk (a + 2) = 2 * S1 * a * c * Rpower 2 a).
Hypotheses (T_12 : 12 <= T) (m_in : 0 <= m <= T) (J1_ge : kernel 1 1 T m <= J1) (J2_ge : kernel 1 2 T m <= J2).
Hypothesis limit : Moment_limit d a c.
Hypothesis curve : forall w, u <= w -> a + g1 / w + e1 / w ^ 2 <= deficit d w <= a + g2 / w + e2 / w ^ 2.
Hypotheses (jensen : Jensen_pair d N) (jensen_b : Jensen_degree d B S1 phi) (left_b : Jensen_left d B S1 phi).
Hypotheses (laplace : Laplace_noise d N) (laplace_b : Laplace_degree d B k S0 S1 phi).
Hypotheses (rises : Chebyshev_noise N) (squares_N : Squares N) (squares_B : Squares B).
Definition C : R := Rpower 2 (- a) / c.
Definition Q : R := S1 * (a / kk) ^ 2.

(* log of c P(2w) / P(w)^2 and of c P(3w) / P(2w) P(w). *)
Definition two (w : R) : R := drift d a c (2 * w) - 2 * drift d a c w.
Definition three (w : R) : R := drift d a c (3 * w) - drift d a c (2 * w) - drift d a c w.

Lemma P_is w : mu d w = c * exp (drift d a c w) * Rpower w (- a).
Proof.
  unfold drift. pose proof (mu_pos d w). pose proof (power_pos w a). rewrite exp_ln by pos. rewrite Rpower_Ropp.
  field. repeat split; lra.
Qed.

Lemma tokens_is n w : (1 <= n)%nat -> 0 < w -> 0 < tokens d n w /\ / tokens d n w = C * Rpower w a * exp (two w) / INR n.
Proof.
  intros Hn Hw. assert (n_pos : 0 < INR n) by (apply lt_0_INR; lia). pose proof (mu_pos d w). pose proof (mu_pos d (2 * w)).
  split; [unfold tokens; pos |]. unfold tokens. rewrite !P_is, <- Rpower_mult_distr by lra.
  unfold two, C. replace (drift d a c (2 * w) - 2 * drift d a c w)
    with (drift d a c (2 * w) + (- drift d a c w + - drift d a c w)) by ring. rewrite !exp_plus, exp_Ropp, !Rpower_Ropp.
  pose proof (power_pos w a). pose proof (power_pos 2 a). pose proof (exp_pos (drift d a c w)).
  pose proof (exp_pos (drift d a c (2 * w))). field. repeat split; lra.
Qed.

Lemma three_is n w : (1 <= n)%nat -> 0 < w ->
  mu d (3 * w) / mu d (2 * w) / (INR n * mu d w) = Rpower (4 / 3) a * (C * Rpower w a * exp (three w) / INR n).
Proof.
  intros Hn Hw. assert (n_pos : 0 < INR n) by (apply lt_0_INR; lia). rewrite !P_is.
  replace (4 / 3) with (2 * (2 * / 3)) by field. rewrite <- !Rpower_mult_distr by lra.
  replace (Rpower (/ 3) a) with (Rpower 3 (- a)) by (unfold Rpower; rewrite ln_Rinv by lra; f_equal; ring).
  unfold three, C. replace (drift d a c (3 * w) - drift d a c (2 * w) - drift d a c w)
    with (drift d a c (3 * w) + (- drift d a c (2 * w) + - drift d a c w)) by ring. rewrite !exp_plus, !exp_Ropp, !Rpower_Ropp.
  pose proof (power_pos w a). pose proof (power_pos 2 a). pose proof (power_pos 3 a). pose proof (exp_pos (drift d a c w)).
  pose proof (exp_pos (drift d a c (2 * w))). field. repeat split; lra.
Qed.

Lemma one_is n w : (1 <= n)%nat -> 0 < w ->
  1 / (INR n * mu d w) = C * Rpower (2 * w) a * exp (- drift d a c w) / INR n.
Proof.
  intros Hn Hw. assert (n_pos : 0 < INR n) by (apply lt_0_INR; lia). rewrite P_is, <- Rpower_mult_distr by lra.
  unfold C. rewrite exp_Ropp, !Rpower_Ropp.
  pose proof (power_pos w a). pose proof (power_pos 2 a). pose proof (exp_pos (drift d a c w)). field. repeat split; lra.
Qed.

(* From the curves. *)
Lemma drift_between w v : u <= w <= v -> g2 / v + e2 / (2 * v ^ 2) - g2 / w - e2 / (2 * w ^ 2)
  <= drift d a c v - drift d a c w <= g1 / v + e1 / (2 * v ^ 2) - g1 / w - e1 / (2 * w ^ 2).
Proof.
  intros H. destruct (from_falls d a c c_pos limit g1 e1 u u_pos) as [F _]; [intros; now apply curve |].
  destruct (from_rises d a c c_pos limit g2 e2 u u_pos) as [G _]; [intros; now apply curve |].
  specialize (F w v H). specialize (G w v H). unfold from in F, G. lra.
Qed.

Lemma drift_in w : u <= w -> g1 / w + e1 / (2 * w ^ 2) <= drift d a c w <= g2 / w + e2 / (2 * w ^ 2).
Proof.
  intros H. destruct (from_falls d a c c_pos limit g1 e1 u u_pos) as [_ F]; [intros; now apply curve |].
  destruct (from_rises d a c c_pos limit g2 e2 u u_pos) as [_ G]; [intros; now apply curve |].
  specialize (F w H). specialize (G w H). unfold from in F, G. lra.
Qed.

Lemma two_between w : u <= w ->
  - (3 * g2 / (2 * w) + 7 * e2 / (8 * w ^ 2)) <= two w <= - (3 * g1 / (2 * w) + 7 * e1 / (8 * w ^ 2)).
Proof.
  intros H. destruct (drift_between w (2 * w)) as [U L]; [lra |]. destruct (drift_in w H). unfold two.
  replace (3 * g2 / (2 * w) + 7 * e2 / (8 * w ^ 2)) with ((g2 / w + e2 / (2 * w ^ 2)) - (g2 / (2 * w) + e2 / (2 * (2 * w) ^ 2) - g2 / w - e2 / (2 * w ^ 2)))
    by (field; lra).
  replace (3 * g1 / (2 * w) + 7 * e1 / (8 * w ^ 2)) with ((g1 / w + e1 / (2 * w ^ 2)) - (g1 / (2 * w) + e1 / (2 * (2 * w) ^ 2) - g1 / w - e1 / (2 * w ^ 2)))
    by (field; lra). lra.
Qed.

Lemma three_le w : u <= w -> three w <= - (7 * g1 / (6 * w) + 41 * e1 / (72 * w ^ 2)).
Proof.
  intros H. destruct (drift_between (2 * w) (3 * w)) as [_ L]; [lra |]. destruct (drift_in w H). unfold three.
  replace (7 * g1 / (6 * w) + 41 * e1 / (72 * w ^ 2)) with ((g1 / w + e1 / (2 * w ^ 2))
    - (g1 / (3 * w) + e1 / (2 * (3 * w) ^ 2) - g1 / (2 * w) - e1 / (2 * (2 * w) ^ 2))) by (field; lra). lra.
Qed.

Section Context.
Variables (n : nat) (W few third first split high room q far f0 f1 f2 up y0 y1 y2 tau tau3 U : R).
Hypotheses (n_1 : (1 <= n)%nat) (W_pos : 0 < W).
Hypotheses (few_ge : Rpower W a / INR n <= few) (third_ge : Rpower (4 / 3) a * (Rpower W a / INR n) <= third).
Hypotheses (first_pos : 0 < first) (order : 2 * first <= 1 /\ first < split < 1 /\ 1 < high) (room_pos : 0 < room).
Definition w1 : R := kk * W.
Definition end_ : R := Rpower ((1 + a / 2) * (1 + room)) (1 / a).
Definition F (w : R) : R := INR n * Rpower W (- a) * N n w + W ^ 2 * B n w.
Hypothesis u_le : u <= first * w1.
Hypotheses (q_ge : - (3 * g1 / (2 * w1) + 7 * e1 / (8 * w1 ^ 2)) <= q).
Hypothesis far_ge : forall z, 0 < z <= / (first * w1) -> - (3 / 2 * g1 * z + 7 / 8 * e1 * z ^ 2) <= far /\
  - (7 / 6 * g1 * z + 41 / 72 * e1 * z ^ 2) <= far /\ - (g1 * z + 1 / 2 * e1 * z ^ 2) <= far.
Hypotheses (g2_nonneg : 0 <= g2) (e2_nonneg : 0 <= e2).
Definition fallen (x : R) : R := 3 * g2 / (2 * (x * w1)) + 7 * e2 / (8 * (x * w1) ^ 2).
Hypothesis fall_ge : fallen first <= f0 /\ fallen split <= f1 /\ fallen 1 <= f2.

Lemma n_pos : 0 < INR n.
Proof. apply lt_0_INR; lia. Qed.

Lemma w1_pos : 0 < w1.
Proof. unfold w1. pos. Qed.

Lemma kk_W x : 0 < x -> C * Rpower (x * w1) a = 2 / a * Q * Rpower x a * Rpower W a.
Proof.
  intros Hx. unfold w1. rewrite <- !Rpower_mult_distr by (try apply Rmult_lt_0_compat; lra).
  assert (P2 : Rpower kk 2 = kk ^ 2) by (replace 2 with (INR 2) by (simpl; ring); now rewrite Rpower_pow).
  pose proof centre as Z. rewrite Rpower_plus, P2 in Z. pose proof (power_pos 2 a).
  replace (Rpower kk a) with (2 * S1 * a * c * Rpower 2 a / kk ^ 2) by (rewrite <- Z; field; lra).
  unfold C, Q. rewrite Rpower_Ropp. field. repeat split; lra.
Qed.

Lemma inverse_le x y : 0 < x <= y -> 0 < / y <= / x.
Proof. intros H. split; [apply Rinv_0_lt_compat; lra | apply Rinv_le_contravar; lra]. Qed.

Lemma parts w : first * w1 <= w -> 0 < / w <= / (first * w1) /\ 0 < / w ^ 2 <= / (first * w1) ^ 2.
Proof.
  intros H. pose proof w1_pos. assert (0 < first * w1) by pos. split; apply inverse_le; [lra |].
  split; [pos | apply pow_incr; lra].
Qed.

Lemma far_in w : first * w1 <= w -> two w <= far /\ three w <= far /\ - drift d a c w <= far.
Proof.
  intros H. pose proof w1_pos. assert (f_pos : 0 < first * w1) by pos. destruct (parts w H) as [I _].
  pose proof (two_between w ltac:(lra)) as [_ A]. pose proof (three_le w ltac:(lra)) as D. pose proof (drift_in w ltac:(lra)) as [M _].
  assert (w_pos : 0 < w) by lra. specialize (far_ge (/ w) I).
  replace (3 * g1 / (2 * w) + 7 * e1 / (8 * w ^ 2)) with (3 / 2 * g1 * / w + 7 / 8 * e1 * (/ w) ^ 2) in A by (field; lra).
  replace (7 * g1 / (6 * w) + 41 * e1 / (72 * w ^ 2)) with (7 / 6 * g1 * / w + 41 / 72 * e1 * (/ w) ^ 2) in D by (field; lra).
  replace (g1 / w + e1 / (2 * w ^ 2)) with (g1 * / w + 1 / 2 * e1 * (/ w) ^ 2) in M by (field; lra).
  lra.
Qed.

Lemma fall_le x x0 : first <= x0 <= x -> 1 - fallen x0 <= exp (two (x * w1)).
Proof.
  intros H. pose proof w1_pos as w_pos. assert (0 < x0 * w1) by (apply Rmult_lt_0_compat; lra).
  assert (L : x0 * w1 <= x * w1) by (apply Rmult_le_compat_r; lra). assert (first * w1 <= x0 * w1) by (apply Rmult_le_compat_r; lra).
  pose proof (two_between (x * w1) ltac:(lra)) as [A _]. pose proof (exp_ineq1_le (two (x * w1))). unfold fallen.
  set (v := x0 * w1) in *. set (w := x * w1) in *. assert (I : 0 < / w <= / v) by (apply inverse_le; lra).
  assert (J : 0 < / w ^ 2 <= / v ^ 2) by (apply inverse_le; split; [apply pow_lt; lra | apply pow_incr; lra]).
  replace (3 * g2 / (2 * w) + 7 * e2 / (8 * w ^ 2)) with (3 / 2 * g2 * / w + 7 / 8 * e2 * / w ^ 2) in A by (field; lra).
  replace (3 * g2 / (2 * v) + 7 * e2 / (8 * v ^ 2)) with (3 / 2 * g2 * / v + 7 / 8 * e2 * / v ^ 2) by (field; lra).
  assert (3 / 2 * g2 * / w <= 3 / 2 * g2 * / v) by (apply Rmult_le_compat_l; lra).
  assert (7 / 8 * e2 * / w ^ 2 <= 7 / 8 * e2 * / v ^ 2) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Hypothesis tau_ge : (1 + 2 / a) * Q * (1 + room) * exp far * few <= tau.
Hypothesis tau3_ge : (1 + 2 / a) * Q * (1 + room) * exp far * third <= tau3.
Hypothesis fall_lt : f0 < 1 /\ f1 < 1 /\ f2 < 1.

Lemma Q_pos : 0 < Q.
Proof. unfold Q. assert (0 < a / kk) by pos. pos. Qed.

Lemma end_power : Rpower end_ a = (1 + a / 2) * (1 + room).
Proof.
  unfold end_. rewrite Rpower_mult. replace (1 / a * a) with 1 by (field; lra). apply Rpower_1.
  apply Rmult_lt_0_compat; lra.
Qed.

Lemma few_pos : 0 < few /\ 0 < third.
Proof.
  pose proof n_pos. pose proof (power_pos W a). pose proof (power_pos (4 / 3) a). assert (0 < Rpower W a / INR n) by pos.
  assert (0 < Rpower (4 / 3) a * (Rpower W a / INR n)) by pos. lra.
Qed.

(* C w^a e^{...} / n at w = x w_1 *)
Lemma scaled_le x y z t e : 0 < x -> Rpower x a <= (1 + a / 2) * (1 + room) -> y <= far ->
  0 <= z -> z * (Rpower W a / INR n) <= t -> (1 + 2 / a) * Q * (1 + room) * exp far * t <= e ->
  z * (C * Rpower (x * w1) a * exp y / INR n) <= e.
Proof.
  intros Hx Hxa Hy Hz Ht He. rewrite kk_W by assumption. pose proof n_pos. pose proof Q_pos as HQ. pose proof (power_pos W a).
  pose proof (power_pos x a). pose proof (exp_pos y). apply exp_le in Hy. assert (ia : 0 < / a) by pos.
  apply Rle_trans with (2 := He).
  replace (z * (2 / a * Q * Rpower x a * Rpower W a * exp y / INR n))
    with (2 / a * Rpower x a * Q * exp y * (z * (Rpower W a / INR n))) by (field; lra).
  replace ((1 + 2 / a) * Q * (1 + room) * exp far * t) with (2 / a * ((1 + a / 2) * (1 + room)) * Q * exp far * t) by (field; lra).
  assert (0 < Rpower W a / INR n) by pos. assert (0 <= z * (Rpower W a / INR n)) by (apply Rmult_le_pos; lra).
  assert (0 < 2 / a) by pos.
  apply Rmult_le_compat; [| assumption | | assumption].
  - left; pos.
  - apply Rmult_le_compat; [left; pos | lra | | assumption].
    apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_l; lra.
Qed.

Lemma within x : first <= x <= end_ -> 0 < x /\ Rpower x a <= (1 + a / 2) * (1 + room) /\ first * w1 <= x * w1.
Proof.
  intros H. pose proof w1_pos. repeat split; [lra | rewrite <- end_power; apply power_le; lra | apply Rmult_le_compat_r; lra].
Qed.

Lemma tau_le x : first <= x <= end_ -> 0 < tokens d n (x * w1) /\ / tokens d n (x * w1) <= tau.
Proof.
  intros H. destruct (within x H) as [P [X Y]]. pose proof w1_pos. assert (0 < x * w1) by pos.
  destruct (tokens_is n (x * w1)) as [T0 TI]; [assumption | assumption |]. split; [assumption |]. rewrite TI.
  rewrite <- (Rmult_1_l (_ / _)). apply (scaled_le x (two (x * w1)) 1 few tau); auto; try lra. apply far_in; lra.
Qed.

Lemma tau3_le x : first <= x <= end_ -> 0 <= mu d (3 * (x * w1)) / mu d (2 * (x * w1)) / (INR n * mu d (x * w1)) <= tau3.
Proof.
  intros H. destruct (within x H) as [P [X Y]]. pose proof w1_pos. assert (0 < x * w1) by pos. pose proof n_pos. split.
  { pose proof (mu_pos d (3 * (x * w1))). pose proof (mu_pos d (2 * (x * w1))). pose proof (mu_pos d (x * w1)). left; pos. }
  rewrite three_is by assumption. apply (scaled_le x (three (x * w1)) (Rpower (4 / 3) a) third tau3); auto; try lra.
  - apply far_in; lra.
  - left; apply power_pos.
Qed.

Lemma whole_le : 0 <= 1 / (INR n * mu d (first * w1)) <= tau.
Proof.
  pose proof w1_pos. assert (0 < first * w1) by pos. pose proof n_pos. split.
  { pose proof (mu_pos d (first * w1)). left; pos. }
  rewrite one_is by assumption. rewrite <- (Rmult_1_l (_ / _)). rewrite <- Rmult_assoc.
  apply (scaled_le (2 * first) (- drift d a c (first * w1)) 1 few tau); auto; try lra.
  - apply Rle_trans with 1; [| assert (0 < a / 2 * (1 + room)) by (apply Rmult_lt_0_compat; lra); lra].
    replace 1 with (Rpower 1 a) by (unfold Rpower; rewrite ln_1, Rmult_0_r; apply exp_0). apply power_le; lra.
  - apply far_in; lra.
Qed.

Definition c_low (fl : R) : R := (1 - fl) / (1 + tau3) ^ 2.

Lemma tau_pos : 0 < tau /\ 0 < tau3.
Proof.
  pose proof Q_pos. pose proof (exp_pos far). destruct few_pos. assert (0 < 2 / a) by pos.
  assert (0 < (1 + 2 / a) * Q * (1 + room) * exp far * few) by pos.
  assert (0 < (1 + 2 / a) * Q * (1 + room) * exp far * third) by pos. lra.
Qed.

Lemma c_low_pos fl : fl < 1 -> 0 < c_low fl.
Proof. intros H. destruct tau_pos. unfold c_low. apply Rdiv_lt_0_compat; [lra | apply pow_lt; lra]. Qed.

Lemma noise_ge x fl : first <= x <= end_ -> fl < 1 -> 1 - fl <= exp (two (x * w1)) -> 2 / a * Q * Rpower x a * c_low fl <= INR n * Rpower W (- a) * N n (x * w1).
Proof.
  intros H Hfl L. destruct (within x H) as [P [X Y]]. pose proof w1_pos. set (w := x * w1) in *. assert (w_pos : 0 < w) by (unfold w; pos).
  pose proof n_pos as np. pose proof (tau3_le x H) as [A0 A]. fold w in A0, A. pose proof (jensen n w n_1 ltac:(lra)) as J.
  destruct (tokens_is n w n_1 w_pos) as [T0 TI]. pose proof (mu_pos d w) as m1. pose proof (mu_pos d (2 * w)) as m2.
  pose proof (mu_pos d (3 * w)) as m3. set (t3 := mu d (3 * w) / mu d (2 * w) / (INR n * mu d w)) in *.
  assert (E : INR n * mu d (2 * w) / ((INR n - 1) * mu d w + mu d (3 * w) / mu d (2 * w)) ^ 2
    = / tokens d n w / ((INR n - 1) / INR n + t3) ^ 2).
  { assert (n1 : 1 <= INR n) by (replace 1 with (INR 1) by reflexivity; now apply le_INR).
    assert (0 < mu d (3 * w) / mu d (2 * w)) by pos.
    assert (0 <= (INR n - 1) * mu d w) by (apply Rmult_le_pos; lra).
    assert (0 <= (INR n - 1) * mu d w * mu d (2 * w)) by (apply Rmult_le_pos; lra).
    unfold tokens, t3. field. repeat split; lra. }
  rewrite E in J. clear E.
  assert (S : / (1 + tau3) ^ 2 <= / ((INR n - 1) / INR n + t3) ^ 2).
  { assert (n1 : 1 <= INR n) by (replace 1 with (INR 1) by reflexivity; now apply le_INR).
    assert (0 < t3) by (unfold t3; pos).
    assert (I : 0 <= (INR n - 1) / INR n <= 1).
    { split; [apply Rmult_le_pos; [lra | left; pos] |]. apply Rmult_le_reg_r with (INR n); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    apply Rinv_le_contravar; [apply pow_lt; lra | apply pow_incr; lra]. }
  apply Rle_trans with (INR n * Rpower W (- a) * (/ tokens d n w / ((INR n - 1) / INR n + t3) ^ 2));
    [| apply Rmult_le_compat_l; [left; pose proof (power_pos W (- a)); pos | assumption]].
  destruct tau_pos as [_ tp].
  assert (tt : 0 < / (1 + tau3) ^ 2) by (apply Rinv_0_lt_compat, pow_lt; lra).
  apply Rle_trans with (INR n * Rpower W (- a) * (/ tokens d n w * / (1 + tau3) ^ 2)).
  2: { apply Rmult_le_compat_l; [left; pose proof (power_pos W (- a)); pos |]. apply Rmult_le_compat_l; [left; pos | assumption]. }
  rewrite TI. unfold w at 1. rewrite kk_W by assumption. rewrite Rpower_Ropp. unfold c_low.
  pose proof (power_pos W a). pose proof (power_pos x a). pose proof Q_pos.
  replace (INR n * / Rpower W a * (2 / a * Q * Rpower x a * Rpower W a * exp (two w) / INR n * / (1 + tau3) ^ 2))
    with (2 / a * Q * Rpower x a * (exp (two w) * / (1 + tau3) ^ 2)) by (field; repeat split; lra).
  assert (0 < 2 / a) by pos. apply Rmult_le_compat_l; [left; pos |]. unfold Rdiv. apply Rmult_le_compat_r; lra.
Qed.

Hypothesis phi_pos : forall w, first * w1 <= w -> 0 < phi w /\ phi (2 * w) <= phi w.

Definition b_low (y : R) : R := (1 - 2 * y) / (1 + tau) ^ 2.

Lemma square_ge y : 1 - 2 * y <= (1 - y) ^ 2.
Proof. pose proof (pow2_ge_0 y). lra. Qed.

Lemma bias_ge x y : first <= x <= end_ -> y < 1 -> a / (x * w1) * (1 - y) <= phi (x * w1) ->
  Q * (b_low y * / x ^ 2) <= W ^ 2 * B n (x * w1).
Proof.
  intros H Hy Hphi. destruct (within x H) as [P [X Y]]. pose proof w1_pos. set (w := x * w1) in *. assert (w_pos : 0 < w) by (unfold w; pos).
  pose proof n_pos as np. destruct (tau_le x H) as [T0 TI]. fold w in T0, TI. destruct (phi_pos w Y) as [p0 p2].
  pose proof (jensen_b n w n_1 w_pos) as J. destruct tau_pos as [tp _].
  pose proof (mu_pos d w) as m1. pose proof (mu_pos d (2 * w)) as m2. apply (Rmult_le_compat_l (W ^ 2)) in J; [| left; pos].
  apply Rle_trans with (2 := J). clear J.
  assert (n1 : 1 <= INR n) by (replace 1 with (INR 1) by reflexivity; now apply le_INR).
  set (r := phi (2 * w) / phi w). assert (r1 : r <= 1) by (apply Rmult_le_reg_r with (phi w); [lra |]; unfold r, Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
  destruct (phi_pos (2 * w) ltac:(lra)) as [p3 _]. assert (r0 : 0 < r) by (unfold r; pos).
  assert (E : INR n * phi w / (INR n - 1 + mu d (2 * w) * phi (2 * w) / (mu d w ^ 2 * phi w))
    = phi w / ((INR n - 1) / INR n + / tokens d n w * r)).
  { assert (0 < mu d (2 * w) * phi (2 * w)) by pos. assert (0 < mu d w ^ 2 * phi w) by pos.
    assert (0 <= (INR n - 1) * (mu d w ^ 2 * phi w)) by (apply Rmult_le_pos; lra).
    unfold tokens, r. field. repeat split; try lra. }
  rewrite E. clear E. set (z := (INR n - 1) / INR n + / tokens d n w * r).
  assert (I : 0 <= (INR n - 1) / INR n <= 1).
  { split; [apply Rmult_le_pos; [lra | left; pos] |]. apply Rmult_le_reg_r with (INR n); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (it : 0 < / tokens d n w) by pos. assert (ir : 0 < / tokens d n w * r) by pos.
  assert (z_le : 0 < z <= 1 + tau).
  { unfold z. split; [lra |]. assert (/ tokens d n w * r <= tau * 1) by (apply Rmult_le_compat; lra). lra. }
  assert (g : a / w * (1 - y) / (1 + tau) <= phi w / z).
  { assert (0 < a / w) by pos. unfold Rdiv at 1 3. apply Rmult_le_compat; [apply Rmult_le_pos; lra | left; apply Rinv_0_lt_compat; lra | assumption |].
    apply Rinv_le_contravar; lra. }
  assert (g0 : 0 <= a / w * (1 - y) / (1 + tau)).
  { assert (0 < a / w) by pos. apply Rmult_le_pos; [apply Rmult_le_pos; lra | left; apply Rinv_0_lt_compat; lra]. }
  rewrite <- (Rmult_assoc (W ^ 2) S1). apply Rle_trans with (W ^ 2 * S1 * (a / w * (1 - y) / (1 + tau)) ^ 2).
  2: { apply Rmult_le_compat_l; [left; pos | apply pow_incr; lra]. }
  replace (W ^ 2 * S1 * (a / w * (1 - y) / (1 + tau)) ^ 2) with (Q * ((1 - y) ^ 2 / (1 + tau) ^ 2 * / x ^ 2))
    by (unfold Q, w, w1; field; repeat split; lra).
  apply Rmult_le_compat_l; [left; apply Q_pos |]. apply Rmult_le_compat_r; [left; pos |]. unfold b_low, Rdiv.
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, pow_lt; lra | apply square_ge].
Qed.

Lemma left_ge w y : 0 <= w <= first * w1 -> y < 1 -> a / (first * w1) * (1 - y) <= phi (first * w1) ->
  Q * (b_low y * / first ^ 2) <= W ^ 2 * B n w.
Proof.
  intros H Hy Hphi. pose proof w1_pos. set (v := first * w1) in *. assert (v_pos : 0 < v) by (unfold v; pos).
  pose proof (left_b n w v n_1 H v_pos) as J. pose proof whole_le as [O1 O2]. fold v in O1, O2. destruct tau_pos as [tp _].
  apply (Rmult_le_compat_l (W ^ 2)) in J; [| left; pos]. apply Rle_trans with (2 := J). clear J.
  assert (0 < a / v) by pos.
  assert (g : a / v * (1 - y) / (1 + tau) <= phi v / (1 + 1 / (INR n * mu d v))).
  { unfold Rdiv at 1 3. apply Rmult_le_compat; [apply Rmult_le_pos; lra | left; apply Rinv_0_lt_compat; lra | assumption |].
    apply Rinv_le_contravar; lra. }
  rewrite <- (Rmult_assoc (W ^ 2) S1). apply Rle_trans with (W ^ 2 * S1 * (a / v * (1 - y) / (1 + tau)) ^ 2).
  2: { apply Rmult_le_compat_l; [left; pos |]. apply pow_incr. split; [| assumption].
       apply Rmult_le_pos; [apply Rmult_le_pos; lra | left; apply Rinv_0_lt_compat; lra]. }
  replace (W ^ 2 * S1 * (a / v * (1 - y) / (1 + tau)) ^ 2) with (Q * ((1 - y) ^ 2 / (1 + tau) ^ 2 * / first ^ 2))
    by (unfold Q, v, w1; field; repeat split; lra).
  apply Rmult_le_compat_l; [left; apply Q_pos |]. apply Rmult_le_compat_r; [left; pos |]. unfold b_low, Rdiv.
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, pow_lt; lra | apply square_ge].
Qed.
Variable iK : R.
Hypotheses (few_K : W * few <= iK) (T_le : tau * T <= 1).
Hypotheses (up_pos : 0 <= up) (up_1 : phi w1 <= a / w1 * up) (up_2 : phi (2 * w1) <= a / (2 * w1) * up).
Hypothesis U_ge : 2 / a * (exp q * (J1 + 2 * (T * cut T))) + J2 * up ^ 2 + 2 * S0 * J1 * up * exp q * iK / kk
  + 28 * k * (2 / a * exp q * iK) ^ 2 * Q * (T ^ 2 * cut T) <= 1 + 2 / a + U.

Lemma end_ge : 1 <= end_.
Proof.
  unfold end_. replace 1 with (Rpower 1 (1 / a)) at 1 by (unfold Rpower; rewrite ln_1, Rmult_0_r; apply exp_0).
  assert (0 < 1 / a) by pos. assert (0 < a / 2 * (1 + room)) by (apply Rmult_lt_0_compat; lra). apply power_le; lra.
Qed.

Lemma kernels_nonneg : 0 <= kernel 1 1 T m /\ 0 <= kernel 1 2 T m.
Proof. split; apply (kernel_nonneg T m); simpl; lra. Qed.

Lemma at_one : F w1 <= Q * (1 + 2 / a + U).
Proof.
  pose proof w1_pos as w_pos. pose proof n_pos as np. pose proof Q_pos as HQ. pose proof end_ge. destruct tau_pos as [tp _].
  destruct (tau_le 1 ltac:(lra)) as [T0 TI]. rewrite Rmult_1_l in T0, TI. destruct kernels_nonneg as [K1 K2].
  set (t := tokens d n w1) in *. assert (it : 0 < / t) by pos.
  assert (Tt : T <= t). { apply Rmult_le_reg_l with (/ t); [lra |]. rewrite Rinv_l by lra. apply Rle_trans with (tau * T); [apply Rmult_le_compat_r; lra | lra]. }
  pose proof (tokens_is n w1 n_1 w_pos) as [_ TE]. fold t in TE. replace (Rpower w1 a) with (Rpower (1 * w1) a) in TE by (now rewrite Rmult_1_l).
  rewrite kk_W in TE by lra. replace (Rpower 1 a) with 1 in TE by (unfold Rpower; rewrite ln_1, Rmult_0_r; now rewrite exp_0).
  assert (eq : exp (two w1) <= exp q).
  { apply exp_le. apply Rle_trans with (2 := q_ge). apply two_between. assert (first * w1 <= 1 * w1) by (apply Rmult_le_compat_r; lra). lra. }
  pose proof (exp_pos (two w1)). pose proof (power_pos W a) as PW.
  set (e := exp (two w1)) in *. set (g := exp q) in *. assert (ia : 0 < 2 / a) by pos.
  pose proof (cut_times_falls T t ltac:(lra)) as c1. pose proof (cut_squared_falls T t ltac:(lra)) as c2.
  assert (ct : 0 < cut t) by apply exp_pos. assert (cT : 0 < cut T) by apply exp_pos. assert (TcT : 0 < T * cut T) by (apply Rmult_lt_0_compat; lra).
  assert (noise : INR n * Rpower W (- a) * N n w1 <= Q * (2 / a * (g * (J1 + 2 * (T * cut T))))).
  { pose proof (laplace n w1 T m ltac:(lra) m_in w_pos Tt) as J. fold t in J.
    apply (Rmult_le_compat_l (INR n * Rpower W (- a))) in J; [| left; pose proof (power_pos W (- a)); pos].
    apply Rle_trans with (1 := J).
    apply Rle_trans with (INR n * Rpower W (- a) * / t * (J1 + 2 * (T * cut T))).
    { replace (INR n * Rpower W (- a) * (kernel 1 1 T m / t + 2 * cut t))
        with (INR n * Rpower W (- a) * / t * (kernel 1 1 T m + 2 * (t * cut t))) by (field; lra).
      apply Rmult_le_compat_l; [left; pose proof (power_pos W (- a)); pos | lra]. }
    rewrite TE, Rpower_Ropp.
    replace (INR n * / Rpower W a * (2 / a * Q * 1 * Rpower W a * e / INR n) * (J1 + 2 * (T * cut T)))
      with (Q * (2 / a * (e * (J1 + 2 * (T * cut T))))) by (field; repeat split; lra).
    apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat_r; lra. }
  assert (tW : W * / t <= 2 / a * Q * g * iK).
  { rewrite TE. replace (W * (2 / a * Q * 1 * Rpower W a * e / INR n)) with (2 / a * Q * e * (W * (Rpower W a / INR n))) by (field; lra).
    assert (0 < Rpower W a / INR n) by pos. assert (0 < W * (Rpower W a / INR n)) by pos.
    assert (W * (Rpower W a / INR n) <= iK) by (apply Rle_trans with (2 := few_K); apply Rmult_le_compat_l; lra).
    apply Rmult_le_compat; [left; pos | lra | apply Rmult_le_compat_l; [left; pos | lra] | lra]. }
  pose proof (laplace_b n w1 T m ltac:(lra) m_in w_pos Tt) as J. fold t in J.
  assert (phi1 : 0 < phi w1 /\ 0 < phi (2 * w1)).
  { assert (first * w1 <= w1) by (rewrite <- (Rmult_1_l w1) at 2; apply Rmult_le_compat_r; lra).
    split; apply phi_pos; lra. }
  apply (Rmult_le_compat_l (W ^ 2)) in J; [| left; pos].
  assert (pairs : W ^ 2 * (S1 * (kernel 1 2 T m * phi w1 ^ 2)) <= Q * (J2 * up ^ 2)).
  { apply Rle_trans with (W ^ 2 * (S1 * (J2 * (a / w1 * up) ^ 2))).
    - apply Rmult_le_compat_l; [left; pos |]. apply Rmult_le_compat_l; [lra |].
      apply Rmult_le_compat; [lra | apply pow2_ge_0 | lra | apply pow_incr; lra].
    - right. unfold Q, w1. field. lra. }
  assert (same : W ^ 2 * (2 * S0 * (kernel 1 1 T m * phi (2 * w1) / t)) <= Q * (2 * S0 * J1 * up * g * iK / kk)).
  { apply Rle_trans with (W ^ 2 * (2 * S0 * (J1 * (a / (2 * w1) * up) / t))).
    - apply Rmult_le_compat_l; [left; pos |]. apply Rmult_le_compat_l; [lra |]. unfold Rdiv. apply Rmult_le_compat_r; [lra |].
      apply Rmult_le_compat; lra.
    - replace (W ^ 2 * (2 * S0 * (J1 * (a / (2 * w1) * up) / t))) with (S0 * J1 * up * a / kk * (W * / t)) by (unfold w1; field; lra).
      replace (Q * (2 * S0 * J1 * up * g * iK / kk)) with (S0 * J1 * up * a / kk * (2 / a * Q * g * iK)) by (field; lra).
      apply Rmult_le_compat_l; [| assumption]. unfold Rdiv.
      repeat apply Rmult_le_pos; try lra. left; pos. }
  assert (beyond : W ^ 2 * (28 * k * cut t) <= Q * (28 * k * (2 / a * g * iK) ^ 2 * Q * (T ^ 2 * cut T))).
  { replace (W ^ 2 * (28 * k * cut t)) with (28 * k * ((W * / t) ^ 2 * (t ^ 2 * cut t))) by (field; lra).
    replace (Q * (28 * k * (2 / a * g * iK) ^ 2 * Q * (T ^ 2 * cut T)))
      with (28 * k * ((2 / a * Q * g * iK) ^ 2 * (T ^ 2 * cut T))) by (field; lra).
    assert (0 < W * / t) by pos.
    apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat; [apply pow2_ge_0 | left; pos | apply pow_incr; lra | assumption]. }
  unfold F. apply (Rmult_le_compat_l Q) in U_ge; [| lra]. lra.
Qed.

Definition line (fl b x : R) : R := 2 / a * c_low fl * Rpower x a + b * / x ^ 2.

Lemma line_is fl b x : 0 < x -> line fl b x = exponentials (2 / a * c_low fl) b 0 a (- (2)) 0 (ln x).
Proof. intros H. unfold line, exponentials. rewrite <- power_two by assumption. unfold Rpower. ring. Qed.

Lemma line_le x fl y : first <= x <= end_ -> fl < 1 -> 1 - fl <= exp (two (x * w1)) -> y < 1 -> a / (x * w1) * (1 - y) <= phi (x * w1) ->
  Q * line fl (b_low y) x <= F (x * w1).
Proof.
  intros H Hfl L Hy Hphi. pose proof (noise_ge x fl H Hfl L). pose proof (bias_ge x y H Hy Hphi). unfold F, line.
  replace (Q * (2 / a * c_low fl * Rpower x a + b_low y * / x ^ 2))
    with (2 / a * Q * Rpower x a * c_low fl + Q * (b_low y * / x ^ 2)) by (field; lra). lra.
Qed.

Variable low : R.
Hypothesis low_in : split < low < 1.
Hypotheses (y0_lt : 2 * y0 < 1) (y1_lt : 2 * y1 < 1) (y2_lt : 2 * y2 < 1).
Hypothesis phi_0 : forall x, first <= x <= split -> a / (x * w1) * (1 - y0) <= phi (x * w1).
Hypothesis phi_1 : forall x, split <= x <= 1 -> a / (x * w1) * (1 - y1) <= phi (x * w1).
Hypothesis phi_2 : forall x, 1 <= x <= end_ -> a / (x * w1) * (1 - y2) <= phi (x * w1).
Hypothesis at_first : 1 + 2 / a + U < b_low y0 * / first ^ 2.
Hypothesis at_split : split ^ 2 < b_low y0 /\ c_low f0 <= 1 /\ 1 + 2 / a + U < line f0 (b_low y0) split.
Hypothesis at_low : 1 + 2 / a + U < line f1 (b_low y1) low.
Hypothesis at_high : 1 + 2 / a + U < line f2 (b_low y2) high.
Hypothesis at_end : 1 + 2 / a + U < (1 + 2 / a) * (1 + room) * c_low f2.

Lemma b_pos y : 2 * y < 1 -> 0 < b_low y.
Proof. intros H. destruct tau_pos. unfold b_low. apply Rdiv_lt_0_compat; [lra | apply pow_lt; lra]. Qed.

Lemma nonneg w : 0 <= w -> 0 <= INR n * Rpower W (- a) * N n w /\ 0 <= W ^ 2 * B n w.
Proof.
  intros H. pose proof (squares_N n w n_1 H). pose proof (squares_B n w n_1 H). pose proof n_pos. pose proof (power_pos W (- a)).
  split; repeat apply Rmult_le_pos; lra.
Qed.

Lemma outside_is_worse w : 0 <= w -> w <= low * w1 \/ high * w1 <= w -> Q * (1 + 2 / a + U) < F w.
Proof.
  intros Hw H. pose proof w1_pos as w_pos. pose proof Q_pos as HQ. pose proof end_ge as E1. pose proof (fun x => fall_le x first) as L0. pose proof (fun x => fall_le x split) as L1. pose proof (fun x => fall_le x 1) as L2. pose proof (c_low_pos f0 ltac:(lra)) as cp0. pose proof (c_low_pos f1 ltac:(lra)) as cp1. pose proof (c_low_pos f2 ltac:(lra)) as cp2. assert (ia : 0 < 2 / a) by pos.
  destruct (nonneg w Hw) as [N0 B0]. assert (ac0 : 0 < 2 / a * c_low f0) by pos. assert (ac1 : 0 < 2 / a * c_low f1) by pos. assert (ac2 : 0 < 2 / a * c_low f2) by pos.
  assert (at1 : forall fl y, fl < 1 -> 1 - fl <= exp (two (1 * w1)) -> 2 * y < 1 -> a / (1 * w1) * (1 - y) <= phi (1 * w1) -> line fl (b_low y) 1 <= 1 + 2 / a + U).
  { intros fl y Hfl Hl Hy Hphi. apply Rmult_le_reg_l with Q; [assumption |]. apply Rle_trans with (2 := at_one).
    replace w1 with (1 * w1) at 1 by ring. apply line_le; first [assumption | lra]. }
  destruct (Rle_lt_dec w (first * w1)) as [L | L].
  { pose proof (left_ge w y0 (conj Hw L) ltac:(lra) (phi_0 first ltac:(lra))) as G.
    apply (Rmult_lt_compat_l Q) in at_first; [| assumption]. unfold F. lra. }
  set (x := w / w1). assert (E : w = x * w1) by (unfold x; field; lra).
  assert (x_pos : first < x) by (apply Rmult_lt_reg_r with w1; lra).
  destruct (Rle_lt_dec x end_) as [Xe | Xe].
  2: { specialize (L2 end_ ltac:(lra)). pose proof (noise_ge end_ f2 ltac:(lra) ltac:(lra) ltac:(lra)) as G. rewrite end_power in G.
       pose proof (rises n (end_ * w1) w n_1) as R. assert (0 <= end_ * w1 <= w) by (rewrite E; split; [left; pos | apply Rmult_le_compat_r; lra]).
       specialize (R H0). apply (Rmult_lt_compat_l Q) in at_end; [| assumption]. pose proof n_pos. pose proof (power_pos W (- a)).
       apply (Rmult_le_compat_l (INR n * Rpower W (- a))) in R; [| left; pos].
       replace (2 / a * Q * ((1 + a / 2) * (1 + room)) * c_low f2) with (Q * ((1 + 2 / a) * (1 + room) * c_low f2)) in G by (field; lra).
       unfold F. lra. }
  assert (goal : forall fl y, fl < 1 -> 1 - fl <= exp (two (x * w1)) -> 2 * y < 1 -> a / (x * w1) * (1 - y) <= phi (x * w1) -> 1 + 2 / a + U < line fl (b_low y) x -> Q * (1 + 2 / a + U) < F w).
  { intros fl y Hfl Hfl2 Hy Hphi Hl. rewrite E. apply Rlt_le_trans with (Q * line fl (b_low y) x); [apply Rmult_lt_compat_l; assumption |].
    apply line_le; first [assumption | lra]. }
  assert (lx : forall p r, 0 < p < r -> ln p < ln r) by (intros; now apply ln_increasing).
  destruct H as [H | H].
  - assert (xl : x <= low) by (apply Rmult_le_reg_r with w1; lra).
    destruct (Rle_lt_dec x split) as [Xs | Xs].
    + specialize (L0 x ltac:(lra)). apply (goal f0 y0); [lra | lra | assumption | apply phi_0; lra |]. destruct at_split as [bs [c1 ls]]. apply Rlt_le_trans with (1 := ls).
      pose proof (b_pos y0 y0_lt). rewrite !line_is by lra.
      pose proof (tangent (2 / a * c_low f0) (b_low y0) 0 a (- (2)) 0 ltac:(lra) ltac:(lra) ltac:(lra) (ln split) (ln x)) as G.
      assert (slope (2 / a * c_low f0) (b_low y0) 0 a (- (2)) 0 (ln split) <= 0).
      { unfold slope. fold (Rpower split a). fold (Rpower split (- (2))). rewrite power_two by lra.
        assert (Rpower split a <= 1).
        { replace 1 with (Rpower 1 a) by (unfold Rpower; rewrite ln_1, Rmult_0_r; apply exp_0). apply power_le; lra. }
        pose proof (power_pos split a). assert (sp : 0 < / split ^ 2) by pos.
        assert (c_low f0 * Rpower split a <= 1 * 1) by (apply Rmult_le_compat; lra).
        assert (1 <= b_low y0 * / split ^ 2).
        { apply Rmult_le_reg_r with (split ^ 2); [pos |]. rewrite Rmult_assoc, Rinv_l by (apply Rgt_not_eq; pos). lra. }
        replace (2 / a * c_low f0 * (a * Rpower split a)) with (2 * (c_low f0 * Rpower split a)) by (field; lra). lra. }
      assert (ln x <= ln split) by (destruct (Rle_lt_or_eq_dec _ _ Xs) as [? | ->]; [left; apply lx; lra | lra]).
      assert (0 <= slope (2 / a * c_low f0) (b_low y0) 0 a (- (2)) 0 (ln split) * (ln x - ln split)); [| lra].
      rewrite <- Rmult_opp_opp. apply Rmult_le_pos; lra.
    + pose proof (L1 x ltac:(lra)). apply (goal f1 y1); [lra | lra | assumption | apply phi_1; lra |]. pose proof (b_pos y1 y1_lt). rewrite line_is by lra. rewrite line_is in at_low by lra.
      pose proof (L1 1 ltac:(lra)). pose proof (at1 f1 y1 ltac:(lra) ltac:(lra) y1_lt (phi_1 1 ltac:(lra))) as A. rewrite line_is in A by lra.
      apply (outside (2 / a * c_low f1) (b_low y1) 0 a (- (2)) 0 ltac:(lra) ltac:(lra) ltac:(lra) _ (ln 1) (ln low) (ln x) A at_low).
      right. split; [| apply lx; lra]. destruct (Rle_lt_or_eq_dec _ _ xl) as [? | ->]; [left; apply lx; lra | lra].
  - assert (xh : high <= x) by (apply Rmult_le_reg_r with w1; lra).
    pose proof (L2 x ltac:(lra)). apply (goal f2 y2); [lra | lra | assumption | apply phi_2; lra |]. pose proof (b_pos y2 y2_lt). rewrite line_is by lra. rewrite line_is in at_high by lra.
    pose proof (L2 1 ltac:(lra)). pose proof (at1 f2 y2 ltac:(lra) ltac:(lra) y2_lt (phi_2 1 ltac:(lra))) as A. rewrite line_is in A by lra.
    apply (outside (2 / a * c_low f2) (b_low y2) 0 a (- (2)) 0 ltac:(lra) ltac:(lra) ltac:(lra) _ (ln 1) (ln high) (ln x) A at_high).
    left. split; [apply lx; lra |]. destruct (Rle_lt_or_eq_dec _ _ xh) as [? | ->]; [left; apply lx; lra | lra].
Qed.

(* The loss at w*. *)
Variables (loss_low loss_high : R).
Hypotheses (loss_low_le : loss_low <= c_low f1 /\ loss_low <= c_low f2 /\ loss_low <= b_low y1 /\ loss_low <= b_low y2).
Hypotheses (loss_low_pos : 0 <= loss_low) (loss_high_ge : 1 + 2 / a + U <= loss_high * (1 + 2 / a)).

Lemma least_line x : 0 < x -> 1 + 2 / a <= 2 / a * Rpower x a + / x ^ 2.
Proof.
  intros H. rewrite <- power_two by assumption. unfold Rpower. pose proof (exp_ineq1_le (a * ln x)). pose proof (exp_ineq1_le (- (2) * ln x)).
  assert (0 < 2 / a) by pos. assert (2 / a * (1 + a * ln x) <= 2 / a * exp (a * ln x)) by (apply Rmult_le_compat_l; lra).
  replace (2 / a * (1 + a * ln x)) with (2 / a + 2 * ln x) in H3 by (field; lra). lra.
Qed.

Lemma inside_is_not_less w : low * w1 < w < high * w1 -> F w <= Q * (1 + 2 / a + U) -> Q * (1 + 2 / a) * loss_low <= F w.
Proof.
  intros H Hu. pose proof w1_pos as w_pos. pose proof Q_pos as HQ. pose proof end_ge as E1. pose proof (fun x => fall_le x first) as L0. pose proof (fun x => fall_le x split) as L1. pose proof (fun x => fall_le x 1) as L2. pose proof (c_low_pos f0 ltac:(lra)) as cp0. pose proof (c_low_pos f1 ltac:(lra)) as cp1. pose proof (c_low_pos f2 ltac:(lra)) as cp2. assert (ia : 0 < 2 / a) by pos.
  set (x := w / w1). assert (E : w = x * w1) by (unfold x; field; lra).
  assert (xl : low < x) by (apply Rmult_lt_reg_r with w1; lra). assert (x0 : 0 < x) by lra.
  assert (Xe : x <= end_).
  { apply Rnot_lt_le. intros Xe. assert (w0 : 0 <= w) by (rewrite E; left; pos). destruct (nonneg w w0) as [N0 B0].
    specialize (L2 end_ ltac:(lra)). pose proof (noise_ge end_ f2 ltac:(lra) ltac:(lra) ltac:(lra)) as G. rewrite end_power in G.
    pose proof (rises n (end_ * w1) w n_1) as R. assert (W0 : 0 <= end_ * w1 <= w) by (rewrite E; split; [left; pos | apply Rmult_le_compat_r; lra]).
    specialize (R W0). apply (Rmult_lt_compat_l Q) in at_end; [| assumption]. pose proof n_pos. pose proof (power_pos W (- a)).
    apply (Rmult_le_compat_l (INR n * Rpower W (- a))) in R; [| left; pos].
    replace (2 / a * Q * ((1 + a / 2) * (1 + room)) * c_low f2) with (Q * ((1 + 2 / a) * (1 + room) * c_low f2)) in G by (field; lra).
    unfold F in Hu. lra. }
  assert (goal : forall fl y, fl < 1 -> 1 - fl <= exp (two (x * w1)) -> loss_low <= c_low fl -> loss_low <= b_low y -> 2 * y < 1 -> a / (x * w1) * (1 - y) <= phi (x * w1) -> Q * (1 + 2 / a) * loss_low <= F w).
  { intros fl y Hfl Hfl2 l1 Hl Hy Hphi. rewrite E. apply Rle_trans with (Q * line fl (b_low y) x); [| apply line_le; first [assumption | lra]].
    rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra |]. pose proof (least_line x ltac:(lra)) as M. unfold line.
    pose proof (power_pos x a). assert (0 < / x ^ 2) by (apply Rinv_0_lt_compat, pow_lt; lra).
    apply (Rmult_le_compat_r loss_low) in M; [| assumption]. apply Rle_trans with (1 := M).
    assert (0 < 2 / a * Rpower x a) by pos.
    assert (2 / a * Rpower x a * loss_low <= 2 / a * Rpower x a * c_low fl) by (apply Rmult_le_compat_l; lra).
    assert (/ x ^ 2 * loss_low <= / x ^ 2 * b_low y) by (apply Rmult_le_compat_l; lra). lra. }
  destruct (Rle_lt_dec x 1); [specialize (L1 x ltac:(lra)); apply (goal f1 y1) | specialize (L2 x ltac:(lra)); apply (goal f2 y2)]; try assumption; try lra; [apply phi_1 | apply phi_2]; lra.
Qed.

Section Loss.
Variables (L sigma : R).
Hypotheses (L_pos : 0 < L) (sigma_pos : 0 < sigma) (W_is : W = Rpower (INR n * L ^ 2 / sigma ^ 2) (1 / (a + 2))).
Hypothesis continuous : Continuous N B.

Lemma F_is w : F w = loss N B L sigma n w * (W ^ 2 / L ^ 2).
Proof.
  pose proof n_pos. assert (E : Rpower W a * W ^ 2 = INR n * L ^ 2 / sigma ^ 2).
  { replace (W ^ 2) with (Rpower W 2) by (replace 2 with (INR 2) by (simpl; ring); now rewrite Rpower_pow).
    rewrite <- Rpower_plus, W_is, Rpower_mult. replace (1 / (a + 2) * (a + 2)) with 1 by (field; lra). apply Rpower_1. pos. }
  pose proof (power_pos W a) as P. unfold F, loss. rewrite Rpower_Ropp.
  replace (/ Rpower W a) with (W ^ 2 * sigma ^ 2 / (INR n * L ^ 2)); [field; lra |].
  apply Rmult_eq_reg_r with (Rpower W a); [| lra]. rewrite Rinv_l by lra.
  replace (W ^ 2 * sigma ^ 2 / (INR n * L ^ 2) * Rpower W a) with (Rpower W a * W ^ 2 * sigma ^ 2 / (INR n * L ^ 2)) by (field; lra).
  rewrite E. field. lra.
Qed.

Lemma F_lt w v : F w < F v -> loss N B L sigma n w < loss N B L sigma n v.
Proof.
  rewrite !F_is. intros H. assert (0 < W ^ 2 / L ^ 2) by pos. apply Rmult_lt_reg_r with (1 := H0). assumption.
Qed.

Theorem one_window :
  (exists w, 0 <= w /\ forall x, 0 <= x -> loss N B L sigma n w <= loss N B L sigma n x) /\
  forall w, 0 <= w -> (forall x, 0 <= x -> loss N B L sigma n w <= loss N B L sigma n x) ->
    low * w1 < w < high * w1 /\
    Q * (1 + 2 / a) * loss_low <= loss N B L sigma n w * (W ^ 2 / L ^ 2) <= Q * (1 + 2 / a) * loss_high.
Proof.
  pose proof w1_pos as w_pos. pose proof Q_pos as HQ.
  destruct (least_inside (loss N B L sigma n) (low * w1) w1 (high * w1)) as [A M].
  - intros x Hx. now apply loss_continuous.
  - split; [apply Rmult_le_pos; lra | rewrite <- (Rmult_1_l w1) at 2; apply Rmult_lt_compat_r; lra].
  - rewrite <- (Rmult_1_l w1) at 1. apply Rmult_lt_compat_r; lra.
  - intros x Hx H. apply F_lt. apply Rle_lt_trans with (1 := at_one). now apply outside_is_worse.
  - split; [exact A |]. intros w Hw Hmin. pose proof (M w Hw Hmin) as I. split; [exact I |]. rewrite <- F_is.
    assert (Hu : F w <= Q * (1 + 2 / a + U)).
    { apply Rle_trans with (2 := at_one). apply Rnot_lt_le. intros B0. apply F_lt in B0. specialize (Hmin w1 ltac:(lra)). lra. }
    split; [now apply inside_is_not_less |]. apply Rle_trans with (1 := Hu). rewrite Rmult_assoc. apply Rmult_le_compat_l; lra.
Qed.
End Loss.
End Context.
End Dimension.

Definition size (d : nat) : R := IZR (Z.of_nat d).
Definition a_of (d : nat) : R := (size d - 1) / 2.
Definition limit_of (d : nat) : R := Rpower 2 (- a_of d) * (half_gamma (2 * d - 2) / half_gamma (d - 1)).

Lemma half_gamma_step k : (1 <= k)%nat -> half_gamma (S (S k)) = IZR (Z.of_nat k) / 2 * half_gamma k.
Proof. intros H. destruct k; [lia | reflexivity]. Qed.

Lemma size_ge d j : (j <= d)%nat -> IZR (Z.of_nat j) <= size d.
Proof. intros H. apply IZR_le. lia. Qed.

(* D between curves. *)
Section Curves.
Variables (d : nat) (a gamma : R).
Hypotheses (d_2 : (2 <= d)%nat) (a_is : a = (INR d - 1) / 2) (gamma_ge : 1 <= gamma).
Definition alpha : R := (a ^ 2 - a) / 2.

Lemma a_half : 1 / 2 <= a.
Proof. assert (INR 2 <= INR d) by (now apply le_INR). simpl in H. lra. Qed.

Lemma deficit_small w : 0 <= w -> 0 <= deficit d w <= 2 * w.
Proof.
  intros Hw. unfold deficit. pose proof (weight_pos d w) as P.
  assert (G : forall x, 0 <= x <= PI -> 0 <= (1 - cos x) ^ 1 * exp (- (w * (1 - cos x))) * sin x ^ (d - 2)
    <= 2 * ((1 - cos x) ^ 0 * exp (- (w * (1 - cos x))) * sin x ^ (d - 2))).
  { intros x Hx. pose proof (COS_bound x). assert (0 <= sin x ^ (d - 2)) by (apply pow_le, sin_ge_0; lra).
    pose proof (exp_pos (- (w * (1 - cos x)))). rewrite pow_1, pow_O.
    assert (0 <= exp (- (w * (1 - cos x))) * sin x ^ (d - 2)) by (apply Rmult_le_pos; lra). split; nra. }
  assert (I : 0 <= weight d 1 w <= 2 * weight d 0 w).
  { split.
    - apply RInt_ge_0; [left; apply PI_RGT_0 | eexists; apply weight_is | intros x Hx; apply G; lra].
    - unfold weight. rewrite <- (RInt_scal (V := R_CompleteNormedModule)) by (eexists; apply weight_is).
      apply RInt_le; [left; apply PI_RGT_0 | eexists; apply weight_is | apply (ex_RInt_scal (V := R_NormedModule)); eexists; apply weight_is |].
      intros x Hx. apply G. lra. }
  assert (0 < / weight d 0 w) by pos. split; [repeat apply Rmult_le_pos; lra |].
  apply Rmult_le_reg_r with (weight d 0 w); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  replace (2 * w * weight d 0 w) with (w * (2 * weight d 0 w)) by ring. apply Rmult_le_compat_l; lra.
Qed.

Lemma lower_curve : (forall z, 0 < z ->
  0 < 2 * gamma + (alpha ^ 2 - 3 * (alpha + gamma)) * z + 2 * alpha * (alpha + gamma) * z ^ 2 + (alpha + gamma) ^ 2 * z ^ 3) ->
  forall w, 0 < w -> a + - alpha / w + - (alpha + gamma) / w ^ 2 <= deficit d w.
Proof.
  intros H w Hw. pose proof a_half as ah. assert (al : - (1 / 8) <= alpha) by (unfold alpha; nra). set (C := alpha + gamma) in *.
  assert (cp : 1 / 2 < C) by (unfold C; lra).
  set (b := a + Rabs alpha). assert (b_pos : 1 / 2 <= b) by (unfold b; pose proof (Rabs_pos alpha); lra).
  set (u := Rmin w (Rmin 1 (C / b))).
  assert (U : 0 < u /\ u <= w /\ u <= 1 /\ u <= C / b).
  { unfold u. assert (0 < C / b) by pos. repeat split.
    - repeat apply Rmin_glb_lt; lra.
    - apply Rmin_l.
    - apply Rle_trans with (1 := Rmin_r _ _), Rmin_l.
    - apply Rle_trans with (1 := Rmin_r _ _), Rmin_r. }
  apply (stays (deficit d) (fun w => a + - alpha / w + - C / w ^ 2)
    (fun w => 2 * (a - deficit d w) + deficit d w * (deficit d w + 1 - 2 * a) / w) (fun w => alpha / w ^ 2 + 2 * C / w ^ 3) u); [| | | lra].
  - intros x Hx. split; [apply deficit_derive; try assumption; lra |]. auto_derive; [repeat split; try lra; apply Rgt_not_eq; pos | field; lra].
  - intros x Hx E. rewrite E. specialize (H (/ x) ltac:(apply Rinv_0_lt_compat; lra)).
    apply Rminus_lt_0. match goal with |- 0 < ?e => replace e with (/ x ^ 2 * (2 * gamma + (alpha ^ 2 - 3 * C) * / x
      + 2 * alpha * C * (/ x) ^ 2 + C ^ 2 * (/ x) ^ 3)) end.
    + assert (0 < / x ^ 2) by (apply Rinv_0_lt_compat, pow_lt; lra). now apply Rmult_lt_0_compat.
    + unfold C, alpha. field. lra.
  - destruct (deficit_small u ltac:(lra)) as [D0 _]. apply Rle_trans with (2 := D0). destruct U as [u0 [_ [u1 ub]]].
    apply Rmult_le_reg_r with (u ^ 2); [pos |]. rewrite Rmult_0_l.
    replace ((a + - alpha / u + - C / u ^ 2) * u ^ 2) with (a * u ^ 2 - alpha * u - C) by (field; lra).
    assert (b * u <= C). { apply Rle_trans with (b * (C / b)); [apply Rmult_le_compat_l; lra | right; field; lra]. }
    assert (- alpha <= Rabs alpha) by (rewrite <- Rabs_Ropp; apply Rle_abs). unfold b in *.
    assert (- alpha * u <= Rabs alpha * u) by (apply Rmult_le_compat_r; lra).
    assert (0 <= a * (u * (1 - u))) by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra]). lra.
Qed.

(* D <= a for d >= 3. *)
Lemma upper_curve : 1 <= a -> forall w, 0 < w -> deficit d w <= a.
Proof.
  intros a1 v Hv. apply Rnot_lt_le. intros N. set (x := Rmin 1 (deficit d v - a)).
  assert (X : 0 < x /\ x <= 1 /\ x <= deficit d v - a).
  { unfold x. repeat split; [apply Rmin_glb_lt; lra | apply Rmin_l | apply Rmin_r]. }
  set (e := x / (2 * v ^ d)). assert (vd : 0 < v ^ d) by (now apply pow_lt). assert (e_pos : 0 < e) by (unfold e; apply Rdiv_lt_0_compat; lra).
  assert (ev : e * v ^ d = x / 2) by (unfold e; field; lra).
  set (u := Rmin v (1 / 2)). assert (U : 0 < u /\ u <= v /\ u <= 1 / 2).
  { unfold u. repeat split; [apply Rmin_glb_lt; lra | apply Rmin_l | apply Rmin_r]. }
  assert (deficit d v <= a + e * v ^ d); [| lra].
  apply (stays (fun w => a + e * w ^ d) (deficit d) (fun w => e * (INR d * w ^ pred d))
    (fun w => 2 * (a - deficit d w) + deficit d w * (deficit d w + 1 - 2 * a) / w) u); [| | | lra].
  - intros w Hw. split; [| apply deficit_derive; try assumption; lra]. auto_derive; [trivial | ring].
  - intros w Hw E. rewrite <- E. set (y := e * w ^ d).
    assert (wd : 0 < w ^ d) by (apply pow_lt; lra). assert (y0 : 0 < y) by (unfold y; pos).
    assert (y1 : y <= 1 / 2). { apply Rle_trans with (e * v ^ d); [apply Rmult_le_compat_l; [lra |]; apply pow_incr; lra | lra]. }
    replace (e * (INR d * w ^ pred d)) with (INR d * y / w).
    2: { unfold y. destruct d as [| k]; [lia |]. simpl pred. rewrite <- tech_pow_Rmult. field. lra. }
    replace (INR d) with (2 * a + 1) by lra.
    assert (iw : 0 < / w) by (apply Rinv_0_lt_compat; lra).
    replace (2 * (a - (a + y)) + (a + y) * (a + y + 1 - 2 * a) / w) with (- (2 * y) + (a + y) * (y + 1 - a) * / w) by (field; lra).
    replace ((2 * a + 1) * y / w) with ((2 * a + 1) * y * / w) by (field; lra).
    assert ((a + y) * (y + 1 - a) <= (2 * a + 1) * y) by nra.
    assert ((a + y) * (y + 1 - a) * / w <= (2 * a + 1) * y * / w) by (apply Rmult_le_compat_r; lra). lra.
  - destruct (deficit_small u ltac:(lra)) as [_ D2]. assert (0 < u ^ d) by (apply pow_lt; lra).
    assert (0 < e * u ^ d) by pos. lra.
Qed.
End Curves.

Lemma circle_start : deficit 2 2 <= 1.
Proof.
  unfold deficit. pose proof (weight_pos 2 2) as P. apply Rmult_le_reg_r with (weight 2 0 2); [assumption |].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra.
  assert (P3 : 0 <= 3 <= PI) by (split; [lra | interval with (i_prec 64)]).
  assert (H1 : 0 <= head 2 1 2 3 <= 30 / 100) by (unfold head; simpl (2 - 2)%nat; integral with (i_prec 64, i_degree 10, i_fuel 100)).
  assert (H0 : 95 / 100 <= head 2 0 2 3 <= 1) by (unfold head; simpl (2 - 2)%nat; integral with (i_prec 64, i_degree 10, i_fuel 100)).
  pose proof (weight_in 2 1 2 3 _ _ ltac:(lra) P3 H1) as [_ A]. pose proof (weight_in 2 0 2 3 _ _ ltac:(lra) P3 H0) as [B _].
  assert (E : PI * 2 ^ 1 * exp (- (2 * (1 - cos 3))) <= 12 / 100) by interval with (i_prec 64). lra.
Qed.

Lemma upper_curve_2 over : 1 <= 1 / 2 + 1 / 16 + over / 4 ->
  0 < 2 * over - 1 / 4 - (1 / 64 + 3 * over) / 2 - over / 16 - over ^ 2 / 8 -> forall w, 2 <= w -> deficit 2 w <= 1 / 2 + 1 / 8 / w + over / w ^ 2.
Proof.
  intros Ho Hq w Hw.
  apply (stays (fun w => 1 / 2 + 1 / 8 / w + over / w ^ 2) (deficit 2) (fun w => - (1 / 8) / w ^ 2 - 2 * over / w ^ 3)
    (fun w => 2 * (1 / 2 - deficit 2 w) + deficit 2 w * (deficit 2 w + 1 - 2 * (1 / 2)) / w) 2); [| | | assumption].
  - intros x Hx. split; [auto_derive; [repeat split; try lra; apply Rgt_not_eq; pos | field; lra] |].
    apply deficit_derive; [lia | simpl; lra | lra].
  - intros x Hx E. rewrite <- E. apply Rminus_lt_0.
    set (z := / x). assert (Z : 0 < z <= 1 / 2). { unfold z. split; [pos | replace (1 / 2) with (/ 2) by lra; apply Rinv_le_contravar; lra]. }
    replace (- (1 / 8) / x ^ 2 - 2 * over / x ^ 3 - (2 * (1 / 2 - (1 / 2 + 1 / 8 / x + over / x ^ 2))
      + (1 / 2 + 1 / 8 / x + over / x ^ 2) * (1 / 2 + 1 / 8 / x + over / x ^ 2 + 1 - 2 * (1 / 2)) / x))
      with (z ^ 2 * (2 * over - 1 / 4 - (1 / 64 + 3 * over) * z - over * z ^ 2 / 4 - over ^ 2 * z ^ 3)) by (unfold z; field; lra).
    assert (z ^ 2 <= 1 / 4) by nra. assert (z ^ 3 <= 1 / 8) by nra. assert (0 < z ^ 2) by pos.
    apply Rmult_lt_0_compat; [assumption |].
    assert ((1 / 64 + 3 * over) * z <= (1 / 64 + 3 * over) * (1 / 2)) by (apply Rmult_le_compat_l; lra).
    assert (over * z ^ 2 <= over * (1 / 4)) by (apply Rmult_le_compat_l; lra).
    assert (over ^ 2 * z ^ 3 <= over ^ 2 * (1 / 8)) by (apply Rmult_le_compat_l; [apply pow2_ge_0 | lra]). lra.
  - pose proof circle_start. lra.
Qed.

(* Laws of one harmonic, in every dimension. *)
Inductive Law := affine | quadratic.
Definition k_of (law : Law) (d : nat) : R := match law with
  | affine => 1 / (3 * size d) | quadratic => 2 * (size d - 1) / (size d ^ 2 * (size d + 2)) end.
Definition slope_of (law : Law) (d : nat) : R := match law with affine => 1 | quadratic => 2 * size d / (size d - 1) end.
Definition S0_of (law : Law) (d : nat) : R := match law with
  | affine => 1 / (3 * size d) | quadratic => 4 / (size d * (size d + 2)) end.
Definition S1_of (law : Law) (d : nat) : R := match law with
  | affine => 1 / (3 * size d) | quadratic => 8 / ((size d - 1) * (size d + 2)) end.
Definition gap (law : Law) (d : nat) (w : R) : R := match law with
  | affine => deficit d w / w | quadratic => deficit d w / w - second d w / 2 end.

(* k^{a + 2}, so that both leading terms are least at w_1 = k dim_W. *)
Definition centre_of (law : Law) (d : nat) : R := S1_of law d * (half_gamma (2 * d) / half_gamma (d - 1)).
Definition scale_of (law : Law) (d : nat) : R := Rpower (centre_of law d) (1 / (a_of d + 2)).
Definition loss_of (law : Law) (d : nat) : R := S1_of law d * (a_of d * (a_of d + 2)) / scale_of law d ^ 2.
Definition ratio_of (law : Law) (d : nat) : R := a_of d / scale_of law d.

Section Constants.
Variables (gamma over T m J1 J2 first split low high room tau tau3 K M W_least W_per_d loss_low loss_high : R).

Definition al (d : nat) : R := (a_of d ^ 2 - a_of d) / 2.
Definition plane (d : nat) (x y : R) : R := match d with 2%nat => x | _ => y end.
Definition above_a (d : nat) (v : R) : R := plane d (1 + v / 4 + 2 * over * v ^ 2) 1.
Definition up_of (law : Law) (d : nat) (v : R) : R := match law with affine => above_a d v | quadratic => 1 end.
(* phi >= (a / w) (1 - y) for x0 <= w / w_1 <= x1 *)
Definition y_of (law : Law) (d : nat) (v x0 x1 : R) : R := match law with
  | affine => (al d * v / plane d x1 x0 + (al d + gamma) * (v / x0) ^ 2) / a_of d
  | quadratic => a_of d * (v / x0) * above_a d (v / x0) end.
Definition fall_of (d : nat) (z : R) : R := plane d (3 / 16 * z + 7 / 8 * over * z ^ 2) 0.
Definition far_of (d : nat) (v : R) : R := plane d 0 (3 / 2 * al d * (v / first) + 7 / 8 * (al d + gamma) * (v / first) ^ 2).
Definition q_of (d : nat) (v : R) : R := 3 / 2 * al d * v + 7 / 8 * (al d + gamma) * v ^ 2.
Definition least_c (d : nat) (z : R) : R := (1 - fall_of d z) / (1 + tau3) ^ 2.
Definition least_b (y : R) : R := (1 - 2 * y) / (1 + tau) ^ 2.
Definition line_of (law : Law) (d : nat) (z y x : R) : R := 2 / a_of d * least_c d z * Rpower x (a_of d) + least_b y * / x ^ 2.
Definition most_of (law : Law) (d : nat) (r v : R) : R :=
  2 / a_of d * (exp (q_of d v) * (J1 + 2 * (T * cut T))) + J2 * up_of law d v ^ 2
  + 2 * S0_of law d * J1 * up_of law d v * exp (q_of d v) * (1 / K) * (r / a_of d)
  + 28 * k_of law d * (2 / a_of d * exp (q_of d v) * (1 / K)) ^ 2 * (S1_of law d * r ^ 2) * (T ^ 2 * cut T).
Definition window_of (law : Law) (d : nat) (r v : R) : Prop :=
  let y0 := y_of law d v first split in let y1 := y_of law d v split 1 in let y2 := y_of law d v 1 2 in
  let U := most_of law d r v in
  (plane d (5 * (1 + gamma) * v) 0 <= first /\ (fall_of d (v / first) < 1 /\ fall_of d (v / split) < 1 /\ fall_of d (v / 1) < 1) /\ 4 * y0 <= 1 /\ 2 * y1 < 1 /\ 2 * y2 < 1) /\
  (above_a d (v / first) <= 3 / 2 /\ 4 * (plane d 0 (al d * v / first) + (al d + gamma) * (v / first) ^ 2) <= a_of d) /\
  (U < least_b y0 * / first ^ 2 /\ split ^ 2 < least_b y0 /\ least_c d (v / first) <= 1) /\
  (U < line_of law d (v / first) y0 split /\ U < line_of law d (v / split) y1 low /\ U < line_of law d (v / 1) y2 high) /\
  U < (1 + 2 / a_of d) * (1 + room) * least_c d (v / 1) /\
  (loss_low <= least_c d (v / split) /\ loss_low <= least_c d (v / 1) /\ loss_low <= least_b y1 /\ loss_low <= least_b y2) /\
  U <= loss_high * (1 + 2 / a_of d).
(* 1/T <= tau, and (mu_3 / mu_2) / (n mu_1) <= tau_3. *)
Definition few_of (law : Law) (d : nat) (r v p : R) : Prop :=
  (1 + 2 / a_of d) * (S1_of law d * r ^ 2) * (1 + room) * exp (far_of d v) * (p / K) <= tau.
Definition third_of (law : Law) (d : nat) (r v p : R) : Prop := exists third,
  (third = 1 / M \/ third = Rpower (4 / 3) (a_of d) * (p / K)) /\
  (1 + 2 / a_of d) * (S1_of law d * r ^ 2) * (1 + room) * exp (far_of d v) * third <= tau3.

Hypotheses (gamma_ge : 1 <= gamma) (T_12 : 12 <= T) (m_in : 0 <= m <= T).
Hypotheses (J1_ge : kernel 1 1 T m <= J1) (J2_ge : kernel 1 2 T m <= J2).
Hypothesis order : 0 < first /\ 2 * first <= 1 /\ first < split /\ split < low /\ low < 1 /\ 1 < high.
Hypotheses (room_pos : 0 < room) (K_pos : 0 < K) (M_pos : 0 < M) (T_le : tau * T <= 1) (loss_low_pos : 0 <= loss_low).
Hypothesis over_ge : 1 <= 1 / 2 + 1 / 16 + over / 4 /\ 0 < 2 * over - 1 / 4 - (1 / 64 + 3 * over) / 2 - over / 16 - over ^ 2 / 8.
Hypothesis end_2 : (5 / 4 * (1 + room)) ^ 2 <= 2.

Section Dimension.
Variables (law : Law) (d : nat) (N B : nat -> R -> R).
Hypothesis d_2 : (2 <= d)%nat.
Hypothesis cubic : forall z, 0 < z -> 0 < 2 * gamma + (al d ^ 2 - 3 * (al d + gamma)) * z
  + 2 * al d * (al d + gamma) * z ^ 2 + (al d + gamma) ^ 2 * z ^ 3.
Hypothesis limit : Moment_limit d (a_of d) (limit_of d).
Lemma laws : law = affine \/ law = quadratic.
Proof. destruct law; auto. Qed.

Lemma size_2 : 2 <= size d.
Proof. apply (size_ge d 2 d_2). Qed.

Lemma a_is : a_of d = (INR d - 1) / 2.
Proof. unfold a_of, size. now rewrite INR_IZR_INZ. Qed.

Lemma a_ge : 1 / 2 <= a_of d.
Proof. pose proof size_2. unfold a_of. lra. Qed.

Lemma law_pos : 0 < k_of law d /\ 0 < S0_of law d /\ 0 < S1_of law d.
Proof.
  pose proof size_2. destruct law; simpl; repeat split; repeat first [apply Rdiv_lt_0_compat | apply Rmult_lt_0_compat]; lra.
Qed.

Lemma gammas : 0 < half_gamma (2 * d) /\ 0 < half_gamma (2 * d - 2) /\ 0 < half_gamma (d - 1).
Proof. repeat split; apply half_gamma_pos; lia. Qed.

Lemma limit_pos : 0 < limit_of d.
Proof. destruct gammas as [_ [G H]]. unfold limit_of. apply Rmult_lt_0_compat; [apply power_pos | now apply Rdiv_lt_0_compat]. Qed.

Lemma centre_pos : 0 < centre_of law d.
Proof. destruct gammas as [G [_ H]]. destruct law_pos as [_ [_ S]]. unfold centre_of. apply Rmult_lt_0_compat; [assumption | now apply Rdiv_lt_0_compat]. Qed.

Lemma centre_is : Rpower (scale_of law d) (a_of d + 2) = 2 * S1_of law d * a_of d * limit_of d * Rpower 2 (a_of d).
Proof.
  pose proof a_ge. unfold scale_of. rewrite Rpower_mult. replace (1 / (a_of d + 2) * (a_of d + 2)) with 1 by (field; lra).
  rewrite Rpower_1 by apply centre_pos. unfold centre_of, limit_of. rewrite Rpower_Ropp. pose proof (power_pos 2 (a_of d)).
  destruct gammas as [_ [_ G]].
  replace (2 * d)%nat with (S (S (2 * d - 2))) by lia. rewrite half_gamma_step by lia. replace (S (S (2 * d - 2)) - 2)%nat with (2 * d - 2)%nat by lia.
  replace (IZR (Z.of_nat (2 * d - 2))) with (2 * (2 * a_of d)); [field; lra |].
  unfold a_of, size. rewrite Nat2Z.inj_sub by lia. rewrite minus_IZR, Nat2Z.inj_mul, mult_IZR. simpl (IZR (Z.of_nat 2)). lra.
Qed.

Lemma planes x y : plane d x y = x /\ d = 2%nat \/ plane d x y = y /\ (3 <= d)%nat.
Proof. destruct d as [| [| [| k]]]; [lia | lia | left | right]; split; try reflexivity; lia. Qed.

Lemma al_is : al d = alpha (a_of d).
Proof. reflexivity. Qed.

Section Scale.
Variables (n : nat) (L sigma : R).
Hypotheses (n_1 : (1 <= n)%nat) (L_pos : 0 < L) (sigma_pos : 0 < sigma).
Definition dim_W : R := Rpower (INR n * L ^ 2 / sigma ^ 2) (1 / (a_of d + 2)).
Definition inverse : R := ratio_of law d * / dim_W / a_of d.
Hypotheses (enough : K * Rpower dim_W (a_of d + 1) <= INR n).
Hypothesis more : M * (Rpower (4 / 3) (a_of d) * Rpower dim_W (a_of d)) <= INR n.
Hypothesis numbers : window_of law d (ratio_of law d) inverse.
Hypotheses (few : few_of law d (ratio_of law d) inverse (/ dim_W)) (third : third_of law d (ratio_of law d) inverse (/ dim_W)).

Lemma W_pos : 0 < dim_W.
Proof. apply power_pos. Qed.

Lemma scale_pos : 0 < scale_of law d.
Proof. apply power_pos. Qed.

Lemma inverse_is : inverse = / (scale_of law d * dim_W).
Proof. pose proof W_pos. pose proof scale_pos. pose proof a_ge. unfold inverse, ratio_of. field. lra. Qed.

Lemma at_x x : 0 < x -> inverse / x = / (x * (scale_of law d * dim_W)).
Proof. intros H. rewrite inverse_is. pose proof W_pos. pose proof scale_pos. field. lra. Qed.

Lemma lower w : 0 < w -> a_of d + - al d / w + - (al d + gamma) / w ^ 2 <= deficit d w.
Proof. apply (lower_curve d (a_of d) gamma d_2 a_is gamma_ge cubic). Qed.

Lemma upper w : plane d 2 0 < w \/ plane d 2 0 = w -> 0 < w -> deficit d w <= a_of d + plane d (1 / 8) 0 / w + plane d over 0 / w ^ 2.
Proof.
  intros H Hw. pose proof (planes (1 / 8) 0) as P. pose proof (planes over 0) as Q. pose proof (planes 2 0) as S.
  destruct P as [[-> E] | [-> E]], Q as [[-> E1] | [-> E1]]; try lia.
  - destruct S as [[S _] | [_ S]]; [| lia]. rewrite S in H. rewrite E. unfold a_of, size. simpl (IZR (Z.of_nat 2)).
    replace ((2 - 1) / 2) with (1 / 2) by lra. destruct over_ge. apply upper_curve_2; lra.
  - unfold Rdiv. rewrite !Rmult_0_l, !Rplus_0_r. apply (upper_curve d (a_of d) d_2 a_is); [| assumption].
    pose proof (size_ge d 3 E). unfold a_of. simpl in H0. lra.
Qed.

Let w_1 := scale_of law d * dim_W.

Lemma w1_pos' : 0 < w_1.
Proof. unfold w_1. pose proof W_pos. pose proof scale_pos. pos. Qed.

Lemma first_2 : plane d 2 0 <= first * w_1.
Proof.
  destruct numbers as [[H _] _]. pose proof w1_pos' as P. destruct (planes (5 * (1 + gamma) * inverse) 0) as [[E D] | [E D]]; rewrite E in H.
  - destruct (planes 2 0) as [[-> _] | [_ ?]]; [| lia]. rewrite inverse_is in H. fold w_1 in H.
    apply (Rmult_le_compat_r w_1) in H; [| lra]. rewrite Rmult_assoc, Rinv_l in H by lra. lra.
  - destruct (planes 2 0) as [[_ ?] | [-> _]]; [lia |]. apply Rmult_le_pos; lra.
Qed.

Lemma upper_at x : first <= x -> deficit d (x * w_1) <= a_of d * above_a d (inverse / x).
Proof.
  intros H. pose proof w1_pos' as P. assert (x_pos : 0 < x) by lra. assert (XW : 0 < x * w_1) by pos. pose proof first_2 as F.
  assert (first * w_1 <= x * w_1) by (apply Rmult_le_compat_r; lra).
  apply Rle_trans with (1 := upper (x * w_1) ltac:(lra) XW). rewrite at_x by assumption. fold w_1. unfold above_a. pose proof a_ge.
  destruct (planes (1 / 8) 0) as [[-> E] | [-> E]], (planes over 0) as [[-> E1] | [-> E1]],
    (planes (1 + / (x * w_1) / 4 + 2 * over * (/ (x * w_1)) ^ 2) 1) as [[-> E2] | [-> E2]]; try lia.
  - rewrite E. unfold a_of, size. simpl (IZR (Z.of_nat 2)). right. field. lra.
  - right. field. lra.
Qed.

Lemma above_falls x y : first <= x <= y -> above_a d (inverse / y) <= above_a d (inverse / x).
Proof.
  intros H. rewrite !at_x by lra. pose proof w1_pos' as P. fold w_1. assert (0 < / (y * w_1) <= / (x * w_1)).
  { assert (0 < x * w_1) by (apply Rmult_lt_0_compat; lra). assert (x * w_1 <= y * w_1) by (apply Rmult_le_compat_r; lra).
    split; [apply Rinv_0_lt_compat; lra | apply Rinv_le_contravar; lra]. }
  assert (O : 7 / 4 <= over) by lra. unfold above_a. set (p := / (y * w_1)) in *. set (q := / (x * w_1)) in *.
  destruct (planes (1 + p / 4 + 2 * over * p ^ 2) 1) as [[-> E] | [-> E]], (planes (1 + q / 4 + 2 * over * q ^ 2) 1) as [[-> E2] | [-> E2]]; try lia; [| lra].
  assert (p ^ 2 <= q ^ 2) by (apply pow_incr; lra). assert (2 * over * p ^ 2 <= 2 * over * q ^ 2) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* D >= a (1 - y) *)
Lemma lower_at x x0 X : first <= x0 <= x -> 0 < X -> al d * / x <= al d * / X ->
  a_of d - (al d * inverse / X + (al d + gamma) * (inverse / x0) ^ 2) <= deficit d (x * w_1).
Proof.
  intros H HX Ha. pose proof w1_pos' as P. assert (x_pos : 0 < x) by lra. assert (XW : 0 < x * w_1) by pos.
  apply Rle_trans with (2 := lower (x * w_1) XW). pose proof a_ge as ag. assert (a0 : 0 < a_of d) by lra. assert (ag8 : - (1 / 8) <= al d) by (unfold al; nra).
  rewrite (at_x x0) by lra. rewrite inverse_is. fold w_1. assert (iw : 0 < / w_1) by pos.
  assert (al d * / x * / w_1 <= al d * / X * / w_1) by (apply Rmult_le_compat_r; lra).
  replace (- al d / (x * w_1)) with (- (al d * / x * / w_1)) by (field; lra).
  replace (al d * / w_1 / X) with (al d * / X * / w_1) by (field; lra).
  assert ((al d + gamma) * (/ (x * w_1)) ^ 2 <= (al d + gamma) * (/ (x0 * w_1)) ^ 2).
  { apply Rmult_le_compat_l; [lra |]. apply pow_incr. assert (0 < x0 * w_1) by (apply Rmult_lt_0_compat; lra).
    assert (x0 * w_1 <= x * w_1) by (apply Rmult_le_compat_r; lra).
    split; [left; apply Rinv_0_lt_compat; lra | apply Rinv_le_contravar; lra]. }
  replace (- (al d + gamma) / (x * w_1) ^ 2) with (- ((al d + gamma) * (/ (x * w_1)) ^ 2)) by (field; lra). lra.
Qed.

Lemma al_nonneg : (3 <= d)%nat -> 0 <= al d.
Proof. intros H. pose proof (size_ge d 3 H). simpl in H0. unfold al, a_of. nra. Qed.

Lemma al_plane x0 x1 x : 0 < x0 <= x -> (d = 2%nat -> x <= x1) -> al d * / x <= al d * / plane d x1 x0.
Proof.
  intros H H1. destruct (planes x1 x0) as [[-> E] | [-> E]].
  - assert (al d <= 0) by (rewrite E; unfold al, a_of, size; simpl (IZR (Z.of_nat 2)); lra).
    assert (/ x1 <= / x) by (apply Rinv_le_contravar; [lra | now apply H1]).
    apply Ropp_le_cancel. rewrite !Ropp_mult_distr_l. apply Rmult_le_compat_l; lra.
  - pose proof (al_nonneg E). assert (/ x <= / x0) by (apply Rinv_le_contravar; lra). apply Rmult_le_compat_l; lra.
Qed.

Lemma second_is w : 0 < w -> second d w = (2 * w * (deficit d w - a_of d) + 2 * a_of d * deficit d w) / w ^ 2.
Proof. intros H. rewrite second_moment by assumption. rewrite <- a_is. replace (INR d - 1) with (2 * a_of d) by (rewrite a_is; lra). reflexivity. Qed.

Lemma gap_is w : 0 < w -> gap law d w = match law with affine => deficit d w / w | quadratic => a_of d / w * (1 - deficit d w / w) end.
Proof. intros H. unfold gap. destruct law; [reflexivity |]. rewrite second_is by assumption. field. lra. Qed.

Lemma gap_ge x x0 x1 : first <= x0 <= x -> x0 <= x1 -> (d = 2%nat -> x <= x1) -> a_of d / (x * w_1) * (1 - y_of law d inverse x0 x1) <= gap law d (x * w_1).
Proof.
  intros H H0 H1. pose proof w1_pos' as P. assert (x_pos : 0 < x) by lra. assert (XW : 0 < x * w_1) by pos. pose proof a_ge as ag. assert (a0 : 0 < a_of d) by lra.
  rewrite gap_is by assumption. unfold y_of. destruct laws as [El | El]; rewrite El.
  - pose proof (al_plane x0 x1 x ltac:(lra) H1) as A. set (X := plane d x1 x0) in *.
    assert (X_pos : 0 < X) by (unfold X; destruct (planes x1 x0) as [[-> _] | [-> _]]; lra).
    pose proof (lower_at x x0 X H X_pos A) as D. assert (0 < / (x * w_1)) by pos.
    change (deficit d (x * w_1) / (x * w_1)) with (deficit d (x * w_1) * / (x * w_1)).
    replace (a_of d / (x * w_1) * (1 - (al d * inverse / X + (al d + gamma) * (inverse / x0) ^ 2) / a_of d))
      with ((a_of d - (al d * inverse / X + (al d + gamma) * (inverse / x0) ^ 2)) * / (x * w_1)) by (field; lra).
    apply Rmult_le_compat_r; lra.
  - assert (0 < a_of d / (x * w_1)) by pos. apply Rmult_le_compat_l; [lra |].
    pose proof (upper_at x ltac:(lra)) as U. pose proof (above_falls x0 x ltac:(lra)) as F.
    assert (deficit d (x * w_1) / (x * w_1) <= a_of d * (inverse / x0) * above_a d (inverse / x0)); [| lra].
    assert (0 < above_a d (inverse / x)).
    { unfold above_a. assert (V : 0 < inverse / x) by (rewrite at_x by assumption; fold w_1; pos).
      destruct (planes (1 + inverse / x / 4 + 2 * over * (inverse / x) ^ 2) 1) as [[-> _] | [-> _]]; [| lra].
      assert (0 <= 2 * over * (inverse / x) ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]). lra. }
    apply Rle_trans with (a_of d * above_a d (inverse / x) * (inverse / x)).
    { rewrite at_x at 2 by assumption. fold w_1. unfold Rdiv at 1. apply Rmult_le_compat_r; [left; pos | assumption]. }
    replace (a_of d * (inverse / x0) * above_a d (inverse / x0)) with (a_of d * above_a d (inverse / x0) * (inverse / x0)) by ring.
    assert (inverse / x <= inverse / x0).
    { rewrite !at_x by lra. fold w_1. assert (0 < x0 * w_1) by (apply Rmult_lt_0_compat; lra). apply Rinv_le_contravar; [assumption | apply Rmult_le_compat_r; lra]. }
    assert (0 < inverse / x) by (rewrite at_x by assumption; fold w_1; pos).
    apply Rmult_le_compat; [left; pos | lra | apply Rmult_le_compat_l; lra | lra].
Qed.

Lemma gap_le x : 1 <= x -> gap law d (x * w_1) <= a_of d / (x * w_1) * up_of law d inverse.
Proof.
  intros H. pose proof w1_pos' as P. assert (x_pos : 0 < x) by lra. assert (XW : 0 < x * w_1) by pos. pose proof a_ge as ag. assert (a0 : 0 < a_of d) by lra.
  rewrite gap_is by assumption. unfold up_of. assert (0 < / (x * w_1)) by pos. destruct laws as [El | El]; rewrite El.
  - pose proof (upper_at x ltac:(lra)) as U. pose proof (above_falls 1 x ltac:(lra)) as F. replace (inverse / 1) with inverse in F by field.
    unfold Rdiv. replace (a_of d * / (x * w_1) * above_a d inverse) with (a_of d * above_a d inverse * / (x * w_1)) by ring.
    apply Rmult_le_compat_r; [lra |]. apply Rle_trans with (1 := U). apply Rmult_le_compat_l; lra.
  - destruct (deficit_small d (x * w_1) ltac:(lra)) as [D _]. assert (0 < a_of d / (x * w_1)) by pos. apply Rmult_le_compat_l; [lra |].
    assert (0 <= deficit d (x * w_1) / (x * w_1)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma gap_pos w : first * w_1 <= w -> 0 < gap law d w /\ gap law d (2 * w) <= gap law d w.
Proof.
  intros H. pose proof w1_pos' as P. assert (F0 : 0 < first * w_1) by (apply Rmult_lt_0_compat; lra). assert (w_pos : 0 < w) by lra.
  pose proof a_ge as ag. assert (a0 : 0 < a_of d) by lra. set (x := w / w_1). assert (E : w = x * w_1) by (unfold x; field; lra).
  assert (x_first : first <= x) by (apply Rmult_le_reg_r with w_1; lra).
  destruct numbers as [[_ [_ [Hy _]]] [[Hup Hd] _]].
  assert (V1 : forall z, first <= z -> above_a d (inverse / z) <= 3 / 2 -> deficit d (z * w_1) <= 3 / 2 * a_of d).
  { intros z Hz Hz2. apply Rle_trans with (1 := upper_at z Hz). rewrite Rmult_comm. apply Rmult_le_compat_r; lra. }
  rewrite !gap_is by lra. unfold y_of in Hy. destruct laws as [El | El]; rewrite El; rewrite El in Hy.
  - assert (D0 : 3 / 4 * a_of d <= deficit d w).
    { rewrite E. pose proof (lower_at x first x ltac:(lra) ltac:(lra) (Rle_refl _)) as D.
      assert (al d * inverse / x <= plane d 0 (al d * inverse / first)); [| lra].
      assert (iv : 0 < inverse) by (rewrite inverse_is; fold w_1; pos). pose proof (al_plane first x x ltac:(lra) (fun _ => Rle_refl _)) as A.
      destruct (planes x first) as [[E1 E2] | [E1 E2]]; rewrite E1 in A; destruct (planes 0 (al d * inverse / first)) as [[-> E3] | [-> E3]]; try lia.
      - assert (al d <= 0) by (rewrite E2; unfold al, a_of, size; simpl (IZR (Z.of_nat 2)); lra).
        assert (0 < inverse * / x) by pos. replace (al d * inverse / x) with (- (- al d * (inverse * / x))) by (field; lra).
        assert (0 <= - al d * (inverse * / x)) by (apply Rmult_le_pos; lra). lra.
      - apply (Rmult_le_compat_r inverse) in A; [| lra].
        replace (al d * inverse / x) with (al d * / x * inverse) by (field; lra). replace (al d * inverse / first) with (al d * / first * inverse) by (field; lra). lra. }
    assert (D2 : deficit d (2 * w) <= 3 / 2 * a_of d).
    { replace (2 * w) with (2 * x * w_1) by (rewrite E; ring). apply V1; [lra |]. apply Rle_trans with (2 := Hup). apply above_falls; lra. }
    assert (0 < / w) by (apply Rinv_0_lt_compat; lra). split; [apply Rmult_lt_0_compat; lra |].
    replace (deficit d (2 * w) / (2 * w)) with (deficit d (2 * w) / 2 * / w) by (field; lra). apply Rmult_le_compat_r; lra.
  - assert (D1 : deficit d w / w <= 1 / 4).
    { pose proof (upper_at x x_first) as U. rewrite <- E in U. pose proof (above_falls first x ltac:(lra)) as A.
      assert (iv : 0 < inverse) by (rewrite inverse_is; fold w_1; pos).
      apply Rle_trans with (a_of d * above_a d (inverse / first) * (inverse / first)); [| lra].
      replace (deficit d w / w) with (deficit d w * (inverse / x)) by (rewrite at_x by lra; fold w_1; rewrite <- E; field; lra).
      assert (0 <= deficit d w) by (apply deficit_small; lra).
      assert (0 < inverse / x) by (apply Rdiv_lt_0_compat; lra).
      assert (inverse / x <= inverse / first) by (apply Rmult_le_compat_l; [lra | apply Rinv_le_contravar; lra]).
      apply Rmult_le_compat; try lra. apply Rle_trans with (1 := U). apply Rmult_le_compat_l; lra. }
    destruct (deficit_small d (2 * w) ltac:(lra)) as [D2 _].
    assert (aw : 0 < a_of d / w) by (apply Rdiv_lt_0_compat; lra). split; [apply Rmult_lt_0_compat; lra |].
    assert (0 <= deficit d (2 * w) / (2 * w)) by (apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; lra]).
    replace (a_of d / (2 * w)) with (a_of d / w * (1 / 2)) by (field; lra). rewrite Rmult_assoc. apply Rmult_le_compat_l; lra.
Qed.

Hypotheses (jensen : Jensen_pair d N) (jensen_b : Jensen_degree d B (S1_of law d) (gap law d)).
Hypotheses (left_b : Jensen_left d B (S1_of law d) (gap law d)) (laplace : Laplace_noise d N).
Hypothesis laplace_b : Laplace_degree d B (k_of law d) (S0_of law d) (S1_of law d) (gap law d).
Hypotheses (rises : Chebyshev_noise N) (squares_N : Squares N) (squares_B : Squares B) (continuous : Continuous N B).

Theorem one_dimension :
  (exists w, 0 <= w /\ forall x, 0 <= x -> loss N B L sigma n w <= loss N B L sigma n x) /\
  forall w, 0 <= w -> (forall x, 0 <= x -> loss N B L sigma n w <= loss N B L sigma n x) ->
    low * (scale_of law d * dim_W) < w < high * (scale_of law d * dim_W) /\
    loss_low * loss_of law d <= loss N B L sigma n w * dim_W ^ 2 / L ^ 2 <= loss_high * loss_of law d.
Proof.
  pose proof w1_pos' as P. pose proof a_ge as ag. assert (a0 : 0 < a_of d) by lra. pose proof W_pos as Wp. pose proof scale_pos as sp. destruct law_pos as [kp [S0p S1p]].
  assert (n_pos : 0 < INR n) by (apply lt_0_INR; lia). pose proof (power_pos dim_W (a_of d)) as Wa. pose proof (power_pos (4 / 3) (a_of d)) as Fa.
  pose proof numbers as [[Hf [Hfall [Hy0 [Hy1 Hy2]]]] [[Hup Hd] [[H1 [H2 H3]] [[H4 [H5 H6]] [H7 [H8 H9]]]]]].
  assert (iv : inverse = / w_1) by apply inverse_is.
  assert (ivp : 0 < inverse) by (rewrite iv; pos).
  assert (Qis : Q (a_of d) (S1_of law d) (scale_of law d) = S1_of law d * ratio_of law d ^ 2) by reflexivity.
  assert (fewn : Rpower dim_W (a_of d) / INR n <= / dim_W / K).
  { rewrite Rpower_plus, Rpower_1 in enough by assumption. apply Rmult_le_reg_r with (INR n * dim_W * K); [pos |].
    replace (Rpower dim_W (a_of d) / INR n * (INR n * dim_W * K)) with (K * (Rpower dim_W (a_of d) * dim_W)) by (field; lra).
    replace (/ dim_W / K * (INR n * dim_W * K)) with (INR n) by (field; lra). assumption. }
  destruct third as [t [Ht Ht3]].
  assert (thirdn : Rpower (4 / 3) (a_of d) * (Rpower dim_W (a_of d) / INR n) <= t).
  { destruct Ht as [-> | ->]; [| apply Rmult_le_compat_l; lra].
    apply Rmult_le_reg_r with (INR n * M); [pos |].
    replace (Rpower (4 / 3) (a_of d) * (Rpower dim_W (a_of d) / INR n) * (INR n * M))
      with (M * (Rpower (4 / 3) (a_of d) * Rpower dim_W (a_of d))) by (field; lra).
    replace (1 / M * (INR n * M)) with (INR n) by (field; lra). assumption. }
  assert (F0 : 0 < first * w_1) by (apply Rmult_lt_0_compat; lra). pose proof first_2 as F2.
  assert (vf : inverse / first = / (first * w_1)) by (rewrite iv; field; lra).
  assert (ag8 : - (1 / 8) <= al d) by (unfold al; nra).
  assert (planes0 : forall x y, 0 <= x -> 0 <= y -> 0 <= plane d x y) by (intros x y ? ?; destruct (planes x y) as [[-> _] | [-> _]]; lra).
  replace (low * (scale_of law d * dim_W)) with (low * w_1) by reflexivity.
  assert (Qs : Q (a_of d) (S1_of law d) (scale_of law d) * (1 + 2 / a_of d) = loss_of law d).
  { unfold Q, loss_of. field. lra. }
  assert (Et : 1 + 2 / a_of d + (most_of law d (ratio_of law d) inverse - (1 + 2 / a_of d)) = most_of law d (ratio_of law d) inverse) by ring.
  destruct (one_window d N B (gap law d) (a_of d) (limit_of d) (first * w_1) (k_of law d) (S0_of law d) (S1_of law d) (scale_of law d) T m J1 J2
    (- al d) (- (al d + gamma)) (plane d (1 / 8) 0) (plane d over 0)) with (n := n) (W := dim_W) (few := / dim_W / K) (third := t) (first := first)
    (split := split) (high := high) (room := room) (q := q_of d inverse) (far := far_of d inverse) (f0 := fall_of d (inverse / first)) (f1 := fall_of d (inverse / split)) (f2 := fall_of d (inverse / 1))
    (up := up_of law d inverse) (y0 := y_of law d inverse first split) (y1 := y_of law d inverse split 1) (y2 := y_of law d inverse 1 2)
    (tau := tau) (tau3 := tau3) (U := most_of law d (ratio_of law d) inverse - (1 + 2 / a_of d))
    (iK := 1 / K) (low := low) (loss_low := loss_low) (loss_high := loss_high) (L := L) (sigma := sigma) as [Ex All]; try assumption.
  all: try (rewrite Et; assumption).
  all: change (w1 (scale_of law d) dim_W) with w_1.
  - apply limit_pos.
  - lra.
  - lra.
  - apply centre_is.
  - intros w Hw. split; [apply lower; lra | apply upper; lra].
  - lra.
  - lra.
  - lra.
  - right. unfold q_of. rewrite iv. field. lra.
  - intros z Hz. rewrite <- vf in Hz. unfold far_of.
    destruct (planes 0 (3 / 2 * al d * (inverse / first) + 7 / 8 * (al d + gamma) * (inverse / first) ^ 2)) as [[-> E] | [-> E]].
    + assert (A8 : al d = - (1 / 8)) by (rewrite E; unfold al, a_of, size; simpl (IZR (Z.of_nat 2)); lra).
      destruct (planes (5 * (1 + gamma) * inverse) 0) as [[E1 _] | [_ ?]]; [rewrite E1 in Hf | lia]. rewrite A8.
      assert (small : 5 * (1 + gamma) * z <= 1).
      { apply Rle_trans with (5 * (1 + gamma) * (inverse / first)); [apply Rmult_le_compat_l; lra |].
        apply Rmult_le_reg_r with first; [lra |]. replace (5 * (1 + gamma) * (inverse / first) * first) with (5 * (1 + gamma) * inverse) by (field; lra). lra. }
      assert (S2 : (- (1 / 8) + gamma) * z ^ 2 <= z / 5).
      { replace ((- (1 / 8) + gamma) * z ^ 2) with ((- (1 / 8) + gamma) * z * z) by ring. replace (z / 5) with (1 / 5 * z) by field.
        apply Rmult_le_compat_r; lra. } lra.
    + pose proof (al_nonneg E) as A. assert (X : al d * z <= al d * (inverse / first)) by (apply Rmult_le_compat_l; lra).
      assert (Y : (al d + gamma) * z ^ 2 <= (al d + gamma) * (inverse / first) ^ 2) by (apply Rmult_le_compat_l; [lra | apply pow_incr; lra]).
      assert (0 <= al d * z) by (apply Rmult_le_pos; lra).
      assert (0 <= (al d + gamma) * z ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]). lra.
  - apply planes0; lra.
  - apply planes0; lra.
  - assert (Fall : forall x, first <= x -> fallen (scale_of law d) (plane d (1 / 8) 0) (plane d over 0) dim_W x <= fall_of d (inverse / x)).
    { intros x Hx. right. unfold fallen, fall_of. change (w1 (scale_of law d) dim_W) with w_1. rewrite at_x by lra. fold w_1.
      assert (0 < x * w_1) by (apply Rmult_lt_0_compat; lra).
      destruct (planes (1 / 8) 0) as [[-> E] | [-> E]], (planes over 0) as [[-> E1] | [-> E1]],
        (planes (3 / 16 * / (x * w_1) + 7 / 8 * over * (/ (x * w_1)) ^ 2) 0) as [[-> E2] | [-> E2]]; try lia; field; lra. }
    repeat split; apply Fall; lra.
  - intros w Hw. now apply gap_pos.
  - right. field. lra.
  - unfold up_of. destruct laws as [El | El]; rewrite El; [| lra]. unfold above_a.
    destruct (planes (1 + inverse / 4 + 2 * over * inverse ^ 2) 1) as [[-> E] | [-> E]]; [| lra].
    assert (0 <= 2 * over * inverse ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]). lra.
  - pose proof (gap_le 1 ltac:(lra)) as G. fold w_1 in G. now rewrite !Rmult_1_l in G.
  - apply (gap_le 2); lra.
  - rewrite Et. right. unfold most_of, ratio_of, Q. field. lra.
  - lra.
  - lra.
  - intros x Hx. apply gap_ge; intros; lra.
  - intros x Hx. apply gap_ge; intros; lra.
  - intros x Hx. apply gap_ge; [lra | lra |]. intros E. apply Rle_trans with (1 := proj2 Hx). unfold end_.
    rewrite E. unfold a_of, size. simpl (IZR (Z.of_nat 2)). replace (1 / ((2 - 1) / 2)) with (INR 2) by (simpl; field).
    rewrite Rpower_pow; [| apply Rmult_lt_0_compat; lra]. apply Rle_trans with (2 := end_2). right. field.
  - rewrite Et. repeat split; assumption.
  - reflexivity.
  - split; [exact Ex |]. intros w Hw Hm. destruct (All w Hw Hm) as [I J]. split; [exact I |].
    rewrite Qs in J. unfold Rdiv in J |- *. rewrite Rmult_assoc. rewrite !(Rmult_comm _ (loss_of law d)). exact J.
Qed.
End Scale.
End Dimension.
End Constants.

(* Beyond some dimension. *)
Definition rise_of (law : Law) (s : R) : R := (4 + 2 * s) * match law with
  | affine => (2 + s) / (2 + 3 * s) | quadratic => (2 + 3 * s) / ((1 + s) * (2 + 5 * s)) end.

Lemma size_next d : size (S d) = size d + 1.
Proof. unfold size. rewrite Nat2Z.inj_succ, succ_IZR. reflexivity. Qed.

Lemma centre_next law d : (2 <= d)%nat ->
  centre_of law (S (S d)) = centre_of law d * ((a_of d + 1) * rise_of law (/ a_of d)).
Proof.
  intros H. pose proof (size_ge d 2 H) as P. simpl in P.
  unfold centre_of. replace (2 * S (S d))%nat with (S (S (S (S (2 * d))))) by lia.
  replace (S (S d) - 1)%nat with (S (S (d - 1))) by lia. rewrite !half_gamma_step by lia.
  pose proof (half_gamma_pos (2 * d) ltac:(lia)). pose proof (half_gamma_pos (d - 1) ltac:(lia)).
  assert (E1 : IZR (Z.of_nat (S (S (2 * d)))) = 2 * size d + 2).
  { replace (S (S (2 * d))) with (2 * d + 2)%nat by lia. rewrite Nat2Z.inj_add, Nat2Z.inj_mul, plus_IZR, mult_IZR. reflexivity. }
  assert (E2 : IZR (Z.of_nat (2 * d)) = 2 * size d) by (rewrite Nat2Z.inj_mul, mult_IZR; reflexivity).
  assert (E3 : IZR (Z.of_nat (d - 1)) = size d - 1) by (rewrite Nat2Z.inj_sub, minus_IZR by lia; reflexivity).
  rewrite E1, E2, E3. unfold S1_of, rise_of, a_of. destruct law; rewrite ?size_next; field; repeat split; lra.
Qed.

Lemma ratio_le law d rho : (2 <= d)%nat -> 0 < rho ->
  (ratio_of law d <= rho <-> Rpower (a_of d / rho) (a_of d + 2) <= centre_of law d).
Proof.
  intros H Hr. pose proof (a_ge d H) as A. assert (a0 : 0 < a_of d) by lra. pose proof (centre_pos law d H) as C.
  assert (ar : 0 < a_of d / rho) by pos. unfold ratio_of. assert (S0 : 0 < scale_of law d) by apply power_pos.
  assert (E : Rpower (scale_of law d) (a_of d + 2) = centre_of law d).
  { unfold scale_of. rewrite Rpower_mult. replace (1 / (a_of d + 2) * (a_of d + 2)) with 1 by (field; lra). now apply Rpower_1. }
  split; intros I.
  - rewrite <- E. apply power_le; [| lra]. split; [assumption |].
    apply Rmult_le_reg_r with rho; [assumption |]. apply (Rmult_le_compat_r (scale_of law d)) in I; [| lra].
    replace (a_of d / scale_of law d * scale_of law d) with (a_of d) in I by (field; lra).
    replace (a_of d / rho * rho) with (a_of d) by (field; lra). lra.
  - assert (J : a_of d / rho <= scale_of law d).
    { replace (a_of d / rho) with (Rpower (Rpower (a_of d / rho) (a_of d + 2)) (1 / (a_of d + 2))).
      - unfold scale_of. apply power_le; [split; [apply power_pos | assumption] | left; pos].
      - rewrite Rpower_mult. replace ((a_of d + 2) * (1 / (a_of d + 2))) with 1 by (field; lra). now apply Rpower_1. }
    apply Rmult_le_reg_r with (scale_of law d / rho); [pos |].
    replace (a_of d / scale_of law d * (scale_of law d / rho)) with (a_of d / rho) by (field; lra).
    replace (rho * (scale_of law d / rho)) with (scale_of law d) by (field; lra). assumption.
Qed.

Lemma ratio_stays law j rho : (2 <= j)%nat -> 0 < rho -> ratio_of law j <= rho -> ratio_of law (S j) <= rho ->
  (forall s, 0 < s <= / a_of j -> exp (1 + 2 * s) <= rho * rise_of law s) ->
  forall d, (j <= d)%nat -> ratio_of law d <= rho.
Proof.
  intros Hj Hr B0 B1 step. assert (both : forall i, ratio_of law (j + i) <= rho /\ ratio_of law (S (j + i)) <= rho).
  { induction i as [| i [I0 I1]]; [now rewrite Nat.add_0_r |]. rewrite Nat.add_succ_r. split; [assumption |].
    set (d := (j + i)%nat) in *. assert (d2 : (2 <= d)%nat) by (unfold d; lia).
    apply (ratio_le law d rho d2 Hr) in I0. apply ratio_le; [lia | assumption |]. rewrite centre_next by assumption.
    pose proof (a_ge d d2) as A. assert (a0 : 0 < a_of d) by lra.
    assert (An : a_of (S (S d)) = a_of d + 1) by (unfold a_of; rewrite !size_next; field). rewrite An.
    set (a := a_of d) in *. set (z := / a). assert (z0 : 0 < z) by (unfold z; pos).
    assert (aj : a_of j <= a). { unfold a, a_of. assert (size j <= size d) by (apply IZR_le; lia). lra. }
    pose proof (a_ge j Hj). assert (zj : z <= / a_of j) by (apply Rinv_le_contravar; lra).
    specialize (step z (conj z0 zj)).
    replace ((a + 1) / rho) with (a / rho * (1 + z)) by (unfold z; field; lra).
    assert (ar : 0 < a / rho) by pos.
    rewrite <- Rpower_mult_distr by lra. replace (a + 1 + 2) with (a + 2 + 1) by ring. rewrite !Rpower_plus, !Rpower_1 by lra.
    rewrite <- Rpower_plus.
    assert (E : Rpower (1 + z) a * Rpower (1 + z) 2 <= exp (1 + 2 * z)).
    { rewrite <- Rpower_plus. apply exp_le. assert (ln (1 + z) <= z) by (rewrite <- (ln_exp z) at 2; apply ln_le; [lra | apply exp_ineq1_le]).
      replace (1 + 2 * z) with ((a + 2) * z) by (unfold z; field; lra). apply Rmult_le_compat_l; lra. }
    pose proof (power_pos (a / rho) (a + 2)). pose proof (power_pos (1 + z) a). pose proof (power_pos (1 + z) 2).
    apply Rle_trans with (Rpower (a / rho) (a + 2) * (Rpower (1 + z) a * Rpower (1 + z) 2) * (a / rho * (1 + z))); [right; ring |].
    rewrite Rmult_assoc. assert (az : 0 < a / rho * (1 + z)) by (apply Rmult_lt_0_compat; lra).
    apply Rmult_le_compat; [lra | left; pos | assumption |].
    apply Rle_trans with (exp (1 + 2 * z) * (a / rho * (1 + z))); [apply Rmult_le_compat_r; lra |].
    replace ((a + 1) * rise_of law z) with (rho * rise_of law z * (a / rho * (1 + z))) by (unfold z; field; lra).
    apply Rmult_le_compat_r; lra. }
  intros d Hd. replace d with (j + (d - j))%nat by lia. apply both.
Qed.

(* s x^{1/s} falls in s where s <= log x. *)
Lemma spread_falls s t x : 0 < s <= t -> t <= ln x -> t * Rpower x (1 / t) <= s * Rpower x (1 / s).
Proof.
  intros H Hx. unfold Rpower. set (l := ln x) in *. assert (0 < / s) by (apply Rinv_0_lt_compat; lra). assert (0 < / t) by (apply Rinv_0_lt_compat; lra).
  replace (1 / s * l) with (1 / t * l + l * (/ s - / t)) by (field; lra). rewrite exp_plus.
  pose proof (exp_pos (1 / t * l)) as P. pose proof (exp_ineq1_le (l * (/ s - / t))) as I.
  assert (/ t <= / s) by (apply Rinv_le_contravar; lra).
  assert (t * (/ s - / t) <= l * (/ s - / t)) by (apply Rmult_le_compat_r; lra).
  assert (E : t <= s * exp (l * (/ s - / t))).
  { apply Rle_trans with (s * (1 + t * (/ s - / t))); [right; field; lra | apply Rmult_le_compat_l; lra]. }
  replace (s * (exp (1 / t * l) * exp (l * (/ s - / t)))) with (s * exp (l * (/ s - / t)) * exp (1 / t * l)) by ring.
  apply Rmult_le_compat_r; lra.
Qed.

Lemma cubic_high gamma d : 0 < gamma <= 6 -> (9 <= d)%nat -> forall z, 0 < z -> 0 < 2 * gamma + (al d ^ 2 - 3 * (al d + gamma)) * z
  + 2 * al d * (al d + gamma) * z ^ 2 + (al d + gamma) ^ 2 * z ^ 3.
Proof.
  intros Hg Hd z Hz. pose proof (size_ge d 9 Hd) as S. simpl in S. assert (A : 6 <= al d) by (unfold al, a_of; nra). set (x := al d) in *. clearbody x.
  assert (0 <= (x ^ 2 - 3 * (x + gamma)) * z) by (apply Rmult_le_pos; [nra | lra]).
  assert (0 < 2 * x * (x + gamma) * z ^ 2) by (assert (0 < z ^ 2) by pos; repeat apply Rmult_lt_0_compat; lra).
  assert (0 < (x + gamma) ^ 2 * z ^ 3) by (apply Rmult_lt_0_compat; [apply pow_lt; lra | pos]). lra.
Qed.
Definition cubic (gamma : R) (d : nat) : Prop := forall z, 0 < z -> 0 < 2 * gamma + (al d ^ 2 - 3 * (al d + gamma)) * z
  + 2 * al d * (al d + gamma) * z ^ 2 + (al d + gamma) ^ 2 * z ^ 3.
