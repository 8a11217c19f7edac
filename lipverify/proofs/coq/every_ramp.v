(* ReLU in every dimension: the part of an export that no number of its proof changes. It follows the constants of the proof
   and `constants.v`. `ramp.py` writes before it enclosures of the normal integrals, `normal_in`, and after it the numbers of
   each dimension, or group of dimensions. *)

Lemma end_ramp : (4 / 3 * (1 + room)) ^ 2 <= 2.
Proof. numbers. Qed.
Lemma J0_1 : 1 <= J0.
Proof. numbers. Qed.
Lemma tiny_in : 0 < tiny <= 1 / 4.
Proof. numbers. Qed.
Lemma tiny_T : 100 * (T_least ^ 3 * cut T_least) <= tiny.
Proof. unfold cut. values. interval with (i_prec 64). Qed.
Lemma rest_T : 16 * (T_least ^ 3 * cut T_least) <= rest.
Proof. unfold cut. values. interval with (i_prec 64). Qed.
Lemma tiny_w : 60 * exp (- 15000) <= tiny.
Proof. values. interval with (i_prec 64). Qed.

(* What is asked of one dimension. *)
Definition window_at (d : nat) (s r p h k0 k1 : R) : Prop := ramp_ranges gamma first room K d s r p h k0 k1 /\
  (ramp_pieces gamma over J0 tau tiny d s r p h k0 first /\ ramp_pieces gamma over J0 tau tiny d s r p h k0 split /\
   ramp_pieces gamma over J0 tau tiny d s r p h k0 1) /\
  ramp_window gamma over J0 J1 J2 first split low high room tau tau_3 K loss_low loss_high tiny rest d s r p h k0.
Definition few_at (d : nat) (s r p h k1 : R) : Prop := ramp_few gamma first room tau K d s r p h k1.
Definition third_at (d : nat) (s r p h k1 : R) : Prop := ramp_third gamma first room tau_3 K M d s r p h k1.
Definition ready (d : nat) : Prop := forall p, 0 < p <= 1 / W_least -> p * (W_per_d * size d) <= 1 -> exists k0 k1,
  k0 * (2 * a_of d) <= ramp_peak d ^ 2 <= k1 * (2 * a_of d) /\ window_at d (/ a_of d) (ramp_ratio d) p (a_of d * p) k0 k1 /\
  few_at d (/ a_of d) (ramp_ratio d) p (a_of d * p) k1 /\ third_at d (/ a_of d) (ramp_ratio d) p (a_of d * p) k1.

(* The conditions on a window from bounds of the bias, the slope and the noise on the pieces that begin at first, split and 1. *)
Section Bounded.
Variables (d : nat) (s r p h k0 b0 b1 b2 e u v0 v1 v2 c0 c1 c2 flat : R).
Local Notation bias := (rbias gamma over J0 tau tiny d s r p h k0).
Local Notation slope := (rslope gamma tau d s r p h).
Local Notation noise := (rc over tau_3 d s r p).
Local Notation up := (rup over d s r p).
Local Notation most := (rmost gamma over J1 J2 K tiny rest d s r p h).
Hypotheses (s_pos : 0 < s) (bias_ge : b0 <= bias first /\ b1 <= bias split /\ b2 <= bias 1).
Hypotheses (most_le : most <= e) (up_le : J2 * up 1 ^ 2 <= u).
Hypothesis slope_ge : (0 <= v0 <= slope first) /\ (0 <= v1 <= slope split) /\ (0 <= v2 <= slope 1).
Hypothesis noise_ge : (0 <= c0 <= noise first) /\ (0 <= c1 <= noise split) /\ (0 <= c2 <= noise 1) /\ noise first <= 1.
Hypothesis flat_le : rflat s r p k0 <= flat.
Definition bounded_line (b v c g x : R) : R := 3 / 2 * s * c * Rpower x (/ s) + b * Rpower x (- (3 / 2)) - g * (u - v ^ 2 * / x ^ 2).
Hypothesis decided : forall g, 0 <= g <= flat -> 1 + 3 / 2 * s + e + g * u < b0 * Rpower first (- (3 / 2)) /\ Rpower split (3 / 2) < b0 /\
  1 + 3 / 2 * s + e < bounded_line b0 v0 c0 g split /\ 1 + 3 / 2 * s + e < bounded_line b1 v1 c1 g low /\
  1 + 3 / 2 * s + e < bounded_line b2 v2 c2 g high /\ e + g * u < (1 + 3 / 2 * s) * ((1 + room) * c2 - 1) /\
  (loss_low <= c1 /\ loss_low <= c2 /\ loss_low <= b1 /\ loss_low <= b2) /\ e + g * u <= (loss_high - 1) * (1 + 3 / 2 * s).

Lemma bounded_line_le b v c g x0 x : 0 <= g -> 0 < x -> b <= bias x0 -> 0 <= v <= slope x0 -> c <= noise x0 ->
  bounded_line b v c g x <= rline gamma over J0 J2 tau tau_3 tiny d s r p h k0 g x0 x.
Proof.
  intros Hg Hx Hb Hv Hc. unfold bounded_line, rline. pose proof (power_pos x (/ s)). pose proof (power_pos x (- (3 / 2))).
  assert (0 < / x ^ 2) by (apply Rinv_0_lt_compat, pow_lt; assumption).
  assert (3 / 2 * s * c * Rpower x (/ s) <= 3 / 2 * s * noise x0 * Rpower x (/ s)) by (apply Rmult_le_compat_r; [lra |]; apply Rmult_le_compat_l; lra).
  assert (b * Rpower x (- (3 / 2)) <= bias x0 * Rpower x (- (3 / 2))) by (apply Rmult_le_compat_r; lra).
  assert (v ^ 2 * / x ^ 2 <= slope x0 ^ 2 * / x ^ 2) by (apply Rmult_le_compat_r; [lra | apply pow_incr; lra]).
  assert (g * (J2 * up 1 ^ 2 - slope x0 ^ 2 * / x ^ 2) <= g * (u - v ^ 2 * / x ^ 2)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma window_bounded : ramp_window gamma over J0 J1 J2 first split low high room tau tau_3 K loss_low loss_high tiny rest d s r p h k0.
Proof.
  intros g Hg. destruct bias_ge as [B0 [B1 B2]]. destruct slope_ge as [V0 [V1 V2]]. destruct noise_ge as [N0 [N1 [N2 N3]]].
  destruct (decided g ltac:(lra)) as [D0 [D1 [D2 [D3 [D4 [D5 [D6 D7]]]]]]]. unfold rtop. pose proof order as [o1 [o2 [o3 [o4 [o5 o6]]]]].
  assert (U : g * (J2 * up 1 ^ 2) <= g * u) by (apply Rmult_le_compat_l; lra). pose proof (power_pos first (- (3 / 2))).
  assert (b0 * Rpower first (- (3 / 2)) <= bias first * Rpower first (- (3 / 2))) by (apply Rmult_le_compat_r; lra).
  pose proof (bounded_line_le b0 v0 c0 g first split ltac:(lra) ltac:(lra) B0 V0 ltac:(lra)).
  pose proof (bounded_line_le b1 v1 c1 g split low ltac:(lra) ltac:(lra) B1 V1 ltac:(lra)).
  pose proof (bounded_line_le b2 v2 c2 g 1 high ltac:(lra) ltac:(lra) B2 V2 ltac:(lra)). pose proof room_pos.
  assert ((1 + 3 / 2 * s) * ((1 + room) * c2 - 1) <= (1 + 3 / 2 * s) * ((1 + room) * noise 1 - 1)).
  { apply Rmult_le_compat_l; [lra |]. assert ((1 + room) * c2 <= (1 + room) * noise 1) by (apply Rmult_le_compat_l; lra). lra. }
  repeat split; lra.
Qed.
End Bounded.

(* The conditions on a window from bounds in a group. *)
Definition decided (s b0 b1 b2 e u v0 v1 v2 c0 c1 c2 flat : R) : Prop := forall g, 0 <= g <= flat ->
  (1 + 3 / 2 * s + e + g * u < b0 * Rpower first (- (3 / 2)) /\ Rpower split (3 / 2) < b0) /\
  (1 + 3 / 2 * s + e < bounded_line s u b0 v0 c0 g split /\ 1 + 3 / 2 * s + e < bounded_line s u b1 v1 c1 g low /\
   1 + 3 / 2 * s + e < bounded_line s u b2 v2 c2 g high) /\ e + g * u < (1 + 3 / 2 * s) * ((1 + room) * c2 - 1) /\
  (loss_low <= c1 /\ loss_low <= c2 /\ loss_low <= b1 /\ loss_low <= b2) /\ e + g * u <= (loss_high - 1) * (1 + 3 / 2 * s) /\
  (0 < b0 /\ 0 < b1 /\ 0 < b2 /\ 0 <= v0 /\ 0 <= v1 /\ 0 <= v2 /\ 0 <= c0 /\ 0 <= c1 /\ 0 <= c2).
Definition bounded (d : nat) (s r p h k0 k1 b0 b1 b2 e u v0 v1 v2 c0 c1 c2 flat : R) : Prop :=
  (ramp_ranges gamma first room K d s r p h k0 k1 /\ ramp_few gamma first room tau K d s r p h k1 /\ rflat s r p k0 <= flat /\
   (0 <= rlow d s r p h first /\ 0 <= rlow d s r p h split /\ 0 <= rlow d s r p h 1)) /\
  (b0 <= rbias gamma over J0 tau tiny d s r p h k0 first /\ b1 <= rbias gamma over J0 tau tiny d s r p h k0 split /\
   b2 <= rbias gamma over J0 tau tiny d s r p h k0 1) /\
  (rmost gamma over J1 J2 K tiny rest d s r p h <= e /\ J2 * rup over d s r p 1 ^ 2 <= u) /\
  (v0 <= rslope gamma tau d s r p h first /\ v1 <= rslope gamma tau d s r p h split /\ v2 <= rslope gamma tau d s r p h 1) /\
  ((c0 <= rc over tau_3 d s r p first <= 1 /\ c1 <= rc over tau_3 d s r p split /\ c2 <= rc over tau_3 d s r p 1) /\
   (rfall over d s r p first < 1 /\ rfall over d s r p split < 1 /\ rfall over d s r p 1 < 1)).
Lemma window_from d s r p h k0 k1 b0 b1 b2 e u v0 v1 v2 c0 c1 c2 flat : 0 < s -> 0 <= flat ->
  bounded d s r p h k0 k1 b0 b1 b2 e u v0 v1 v2 c0 c1 c2 flat -> decided s b0 b1 b2 e u v0 v1 v2 c0 c1 c2 flat ->
  window_at d s r p h k0 k1 /\ few_at d s r p h k1.
Proof.
  intros Hs Hf [[R1 [R2 [R3 [L0 [L1 L2]]]]] [[B0 [B1 B2]] [[E1 E2] [[S0 [S1 S2]] [[N0 [N1 N2]] [F0 [F1 F2]]]]]]] D. split; [| exact R2].
  destruct (D 0 ltac:(lra)) as [_ [_ [_ [_ [_ [q0 [q1 [q2 [q3 [q4 [q5 [q6 [q7 q8]]]]]]]]]]]]].
  split; [assumption |]. split; [unfold ramp_pieces; repeat split; lra |].
  apply (window_bounded d s r p h k0 b0 b1 b2 e u v0 v1 v2 c0 c1 c2 flat); try assumption; repeat split; try lra.
  all: intros; destruct (D g ltac:(lra)) as [[d0 d1] [[d2 [d3 d4]] [d5 [[d6 [d7 [d8 d9]]] [d10 _]]]]]; repeat split; assumption.
Qed.

(* The ranges of a group: 1/a from s0 to s1, a/k, 1/W and a/W. *)
Definition in_group (s0 s1 r1 h1 s r p h : R) : Prop := s0 <= s <= s1 /\ 0 < s /\ 0 <= r <= r1 /\ 0 <= p <= 1 / W_least /\ 0 <= h <= h1.
Section Group.
Variables (like : nat) (s0 s1 r1 h1 k0 k1 b0 b1 b2 e u v0 v1 v2 c0 c1 c2 flat : R).
Hypothesis flat_pos : 0 <= flat.
Hypothesis bounded_in : forall s r p h, in_group s0 s1 r1 h1 s r p h -> bounded like s r p h k0 k1 b0 b1 b2 e u v0 v1 v2 c0 c1 c2 flat.
Hypothesis decided_in : forall s, s0 <= s <= s1 -> 0 < s -> decided s b0 b1 b2 e u v0 v1 v2 c0 c1 c2 flat.
Hypothesis third_in : forall s r p h, in_group s0 s1 r1 h1 s r p h -> third_at like s r p h k1.

Lemma group_ready d : (2 <= d)%nat -> d = like \/ like = 5%nat /\ (5 <= d)%nat -> ramp_ratio d <= r1 ->
  k0 * (2 * a_of d) <= ramp_peak d ^ 2 <= k1 * (2 * a_of d) -> s0 <= / a_of d <= s1 ->
  (forall p, 0 < p <= 1 / W_least -> p * (W_per_d * size d) <= 1 -> a_of d * p <= h1) -> ready d.
Proof.
  intros Hd D Hr Hk Hs Hh p Hp Hpd. exists k0, k1. split; [assumption |]. pose proof (a_ge d Hd) as A.
  assert (G : in_group s0 s1 r1 h1 (/ a_of d) (ramp_ratio d) p (a_of d * p)).
  { unfold in_group. specialize (Hh p Hp Hpd). repeat split; try lra; [apply Rinv_0_lt_compat; lra | | apply Rmult_le_pos; lra].
    unfold ramp_ratio. left. apply Rdiv_lt_0_compat; [lra | apply power_pos]. }
  destruct (window_from _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ ltac:(apply G) flat_pos (bounded_in _ _ _ _ G) (decided_in _ Hs ltac:(apply G))) as [R1 R2].
  pose proof (third_in _ _ _ _ G) as R3. clear - D R1 R2 R3. destruct D as [-> | [-> D]]; [now split |].
  destruct d as [| [| [| [| [| d]]]]]; try lia. split; [exact R1 | split; [exact R2 | exact R3]].
Qed.
End Group.

Lemma size_le d j : (d <= j)%nat -> size d <= IZR (Z.of_nat j).
Proof. intros H. apply IZR_le. lia. Qed.

(* A goal in s, r, p and h from their ranges. *)
Ltac opened := unfold in_group, bounded, ramp_few, ramp_ranges, rlead, rflat, rmost, rtop, rbias, rcross, rmean, rlow, rbelow, rnext, rslope, rc, rfall, rup,
  rH, rE, rfar, rq, rq2, rq1, rv, rvb, rvd; cbn [plane].
Ltac in_interval := first [lra | interval with (i_prec 90) | apply Rminus_le; interval with (i_prec 90)].
Ltac narrow := opened; values; intros; generalized; intros; repeat match goal with H : _ /\ _ /\ _ |- _ => destruct H end;
  repeat split; in_interval.
(* The condition on (mu_3 / mu_2) / (n mu_1), by M or by K. *)
Ltac third_by_M := unfold third_at; intros G; exists (1 / M); split; [now left |]; revert G; narrow.
Ltac third_by_K s s0 top := unfold third_at; intros G; match goal with |- ramp_third _ _ _ _ _ _ _ _ _ ?p _ _ => exists (Rpower (4 / 3) (/ s) * (sqrt p / K)) end; split; [now right |];
  let y := fresh in let y_in := fresh in assert (y_in : 0 <= Rpower (4 / 3) (/ s) <= Rpower (4 / 3) top) by
    (destruct G as [s_in [s_pos _]]; split; [left; apply power_pos | apply Rle_Rpower; [lra |];
      apply Rle_trans with (/ s0); [apply Rinv_le_contravar; lra | right; field]]);
  revert G; revert y_in; generalize (Rpower (4 / 3) (/ s)); unfold Rpower; intros y y_in; revert y_in; narrow.
Ltac decide_group s := intros s_in s_pos g g_in; unfold bounded_line, Rpower; values; repeat split;
  first [lra | interval with (i_prec 90) | apply Rminus_lt; first [interval with (i_prec 90) | interval with (i_prec 90, i_bisect s, i_depth 30)]
    | apply Rminus_le; interval with (i_prec 90, i_bisect s, i_depth 30)].

(* For s down to 0 the noise at split and at low is left out, and at high it is least at the largest s. *)
Lemma decided_last t s b0 b1 b2 e u v0 v1 v2 c0 c1 c2 flat : 0 < s <= t -> t <= ln high -> 0 <= c0 /\ 0 <= c1 /\ 0 <= c2 ->
  (forall g, 0 <= g <= flat ->
    (1 + 3 / 2 * s + e + g * u < b0 * Rpower first (- (3 / 2)) /\ Rpower split (3 / 2) < b0) /\
    (1 + 3 / 2 * s + e < b0 * Rpower split (- (3 / 2)) - g * (u - v0 ^ 2 * / split ^ 2) /\
     1 + 3 / 2 * s + e < b1 * Rpower low (- (3 / 2)) - g * (u - v1 ^ 2 * / low ^ 2) /\
     1 + 3 / 2 * s + e < 3 / 2 * c2 * (t * Rpower high (1 / t)) + b2 * Rpower high (- (3 / 2)) - g * (u - v2 ^ 2 * / high ^ 2)) /\
    e + g * u < (1 + 3 / 2 * s) * ((1 + room) * c2 - 1) /\
    (loss_low <= c1 /\ loss_low <= c2 /\ loss_low <= b1 /\ loss_low <= b2) /\ e + g * u <= (loss_high - 1) * (1 + 3 / 2 * s) /\
    (0 < b0 /\ 0 < b1 /\ 0 < b2 /\ 0 <= v0 /\ 0 <= v1 /\ 0 <= v2 /\ 0 <= c0 /\ 0 <= c1 /\ 0 <= c2)) ->
  decided s b0 b1 b2 e u v0 v1 v2 c0 c1 c2 flat.
Proof.
  intros Hs Ht Hc H g Hg. destruct (H g Hg) as [H1 [[H2 [H3 H4]] H5]]. split; [assumption |]. split; [| assumption]. unfold bounded_line.
  pose proof (spread_falls s t high Hs Ht) as F. replace (1 / s) with (/ s) in F by (field; lra).
  assert (0 <= 3 / 2 * s * c0 * Rpower split (/ s)) by (pose proof (power_pos split (/ s)); repeat simple apply Rmult_le_pos; lra).
  assert (0 <= 3 / 2 * s * c1 * Rpower low (/ s)) by (pose proof (power_pos low (/ s)); repeat simple apply Rmult_le_pos; lra).
  apply (Rmult_le_compat_l (3 / 2 * c2)) in F; [| lra]. repeat split; lra.
Qed.
Ltac decide_last t := intros s_in s_pos; apply (decided_last t); [lra | values; interval with (i_prec 64) | lra |];
  intros g g_in; unfold Rpower; values; repeat split; first [lra | apply Rminus_lt; interval with (i_prec 90) | apply Rminus_le; interval with (i_prec 90)].

(* The theorem over w >= 0 in one dimension, from the facts about that dimension. *)
Lemma ramp_in_dimension d n N B V G1 G2 C1 C2 L sigma : (2 <= d)%nat -> 0 < L -> 0 < sigma -> (1 <= n)%nat ->
  W_least <= ramp_W d n L sigma -> W_per_d * size d <= ramp_W d n L sigma -> K * Rpower (ramp_W d n L sigma) (a_of d + 1 / 2) <= INR n ->
  M * (Rpower (4 / 3) (a_of d) * Rpower (ramp_W d n L sigma) (a_of d)) <= INR n -> ready d ->
  Moment_limit d (a_of d) (limit_of d) -> Jensen_pair d N -> Laplace_noise d N -> Crossed (a_of d) V C2 ->
  Laplace_spread d V 1 (fun w => deficit d w / w) -> Laplace_crossed d (a_of d) G1 C1 C2 ->
  Laplace_kink d (a_of d) B V (1 / 6) (1 / 6) G2 C2 -> Kink_norm d (a_of d) (limit_of d) G1 G2 -> Jensen_ramp d (a_of d) B V G2 C1 ->
  Jensen_ramp_left d (a_of d) B G1 G2 -> Chebyshev_spread V 1 -> Chebyshev_spread V 2 -> Chebyshev_spread V (3 / 2) ->
  Chebyshev_noise N -> Squares N -> Squares B -> Continuous N B ->
  (exists w, 0 <= w /\ forall x, 0 <= x -> loss N B L sigma n w <= loss N B L sigma n x) /\
  forall w, 0 <= w -> (forall x, 0 <= x -> loss N B L sigma n w <= loss N B L sigma n x) ->
    low * (ramp_scale d * ramp_W d n L sigma) < w < high * (ramp_scale d * ramp_W d n L sigma) /\
    loss_low * ramp_loss d <= loss N B L sigma n w * Rpower (ramp_W d n L sigma) (3 / 2) / L ^ 2 <= loss_high * ramp_loss d.
Proof.
  intros d_ge L_pos sigma_pos n_ge W_ge W_d many many_d rd. intros. pose proof W_least_ge. set (W := ramp_W d n L sigma) in *. assert (Wp : 0 < W) by lra.
  destruct (rd (/ W)) as [k0 [k1 [k_in [[w1 [w2 w3]] [few third]]]]].
  { unfold Rdiv. rewrite Rmult_1_l. split; [apply Rinv_0_lt_compat; lra | apply Rinv_le_contravar; lra]. }
  { apply Rmult_le_reg_r with W; [assumption |]. rewrite (Rmult_comm (/ _)), Rmult_assoc, Rinv_l by lra. lra. }
  pose proof gamma_ge. pose proof tiny_in.
  apply (one_ramp gamma over T_least m J0 J1 J2 first split low high room tau tau_3 K M loss_low loss_high tiny rest) with (k0 := k0) (k1 := k1) (V := V) (G1 := G1) (G2 := G2) (C1 := C1) (C2 := C2);
    try assumption; try apply T_least_ge; try apply m_in; try apply J0_ge; try apply J1_ge; try apply J2_ge; try apply J0_1; try apply order; try apply room_pos;
    try apply K_pos; try apply M_pos; try apply T_le; try apply loss_low_pos; try apply over_ge; try apply end_ramp; try apply tiny_T; try apply rest_T; try apply tiny_w; try lra.
  now apply cubic_every.
Qed.
