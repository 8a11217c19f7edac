(* Attention over many tokens: what follows from a few facts of analysis, which are stated by name.

   Tokens x_1..x_n and the query x are uniform on the sphere of R^d, h_i = 1 - <x_i, x>, a_i the attention, proportional
   to e^{-w h_i}. N n w is E sum a_i^2, B n w the bias in units of L^2, V p n w is E sum a_i h_i^p. The angle between
   token and query has the density sin^{d-2}, so that weight k w is E h^k e^{-w h} times a constant. *)

From Coq Require Import Reals Psatz Lra Lia Wf_nat List.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
Open Scope R_scope.

Definition weight (d k : nat) (w : R) : R :=
  RInt (fun x => (1 - cos x) ^ k * exp (- (w * (1 - cos x))) * sin x ^ (d - 2)) 0 PI.
Definition mu (d : nat) (w : R) : R := weight d 0 w / weight d 0 0.
Definition deficit (d : nat) (w : R) : R := w * weight d 1 w / weight d 0 w.
Definition second (d : nat) (w : R) : R := weight d 2 w / weight d 0 w.
Definition tokens (d n : nat) (w : R) : R := INR n * mu d w ^ 2 / mu d (2 * w).
Definition half (n : nat) : nat := Nat.div2 (S n).
Definition cut (T : R) : R := exp (- (T - 1) / 4).
(* int_0^m x^p e^{-b (x - x^2 / 2T)} dx and int_m^oo x^p e^{-b x / 2} dx, b = 1 - j / T *)
Definition kernel (p j : nat) (T m : R) : R :=
  RInt (fun x => x ^ p * exp (- ((1 - INR j / T) * (x - x * x / (2 * T))))) 0 m
  + match p with
    | O => 2 / (1 - INR j / T) * exp (- ((1 - INR j / T) * m / 2))
    | _ => 2 / (1 - INR j / T) * (m + 2 / (1 - INR j / T)) * exp (- ((1 - INR j / T) * m / 2))
    end.
Definition sign_at (a g x : R) : R := (a - a ^ 2 - 2 * g) + 2 * g * x + g ^ 2 * x ^ 2.

(* Gamma(m / 2). *)
Fixpoint half_gamma (m : nat) : R :=
  match m with
  | O => 0
  | S p => match p with O => sqrt PI | S k => match k with O => 1 | _ => IZR (Z.of_nat k) / 2 * half_gamma k end end
  end.
(* E h^p e^{-w h} over E e^{-w h}; p = j / 2 and a sum over some j. *)
Definition raised (d : nat) (p w : R) : R :=
  RInt (fun x => Rpower (1 - cos x) p * exp (- (w * (1 - cos x))) * sin x ^ (d - 2)) 0 PI / weight d 0 w.
Definition half_power (j : nat) : R := IZR (Z.of_nat j) / 2.
Fixpoint summed (f : nat * (R * R) -> R) (l : list (nat * (R * R))) : R :=
  match l with nil => 0 | (t :: r)%list => f t + summed f r end.
(* Bounds of means of r^j for one token and for two, p = j / 2; with (a + p) / 2w, the mean of y. *)
Section Gamma.
Variables (d : nat) (a c : R) (j : nat) (w : R).
Definition gamma_at : R := Rpower 2 (half_power j) * (half_gamma (d - 1 + j) / half_gamma (d - 1)).
Definition mean_y : R := (a + half_power j) / (2 * w).
Definition steep : R := Rmax (a - 1) 1.
Definition plane_y : R := match (d - 2)%nat with O => 4 / 3 * mean_y | _ => 0 end.
Definition plane_rest : R := match (d - 2)%nat with
  | O => 2 * sqrt 2 * (Rpower (2 * w) (a + half_power j) * exp (- w)) / half_gamma (d - 1 + j)
  | _ => 0
  end.
Definition one_low : R := gamma_at * (1 - steep * mean_y).
Definition one_high : R := gamma_at * (1 + plane_y + plane_rest).
Definition two_low : R := Rpower 2 (half_power j) * gamma_at
  * (1 - (1 + steep + Rmax (a + half_power j - 1) 1 / 2) * mean_y).
Definition two_high : R := Rpower 2 (half_power j) * gamma_at * (1 + plane_y).
Definition two_rest : R := Rpower 4 (half_power j) * (Rpower w (2 * a + half_power j) * exp (- w)) / c ^ 2.
End Gamma.
(* The variogram of a link of pieces: its breaks z, each with what jumps there, of the value or of the slope, and with 1, or 0
   where z = 0; m bounds the slope of the pieces, or its slope. A jump and a kink by themselves; two of one or of other signs
   (`way` = 1 or -1); and the rest, at most twice the masses times m, and m^2. *)
Definition Breaks : Type := list (R * R * R).
Definition beneath (z : R) (k : nat) : R := sqrt ((1 - z ^ 2) ^ k).
Definition density (k : nat) (z : R) : R := half_gamma k / (sqrt PI * half_gamma (k - 1)) * beneath z (k - 3).
Fixpoint over_breaks (f : R * R * R -> R) (l : Breaks) : R := match l with nil => 0 | (t :: r)%list => f t + over_breaks f r end.
Fixpoint over_pairs (f : R * R * R -> R * R * R -> R) (l : Breaks) : R :=
  match l with nil => 0 | (t :: r)%list => 2 * over_breaks (f t) r + over_pairs f r end.
Definition beside (d : nat) (way : R) (t t' : R * R * R) : R := let '(z, D, _) := t in let '(z', D', _) := t' in
  Rmax (way * (D * D')) 0 * sqrt (Rmin (1 - z ^ 2) (1 - z' ^ 2) ^ d)
    / (2 * (1 - z * z' - sqrt ((1 - z ^ 2) * (1 - z' ^ 2)))).
Section Breaks.
Variables (d : nat) (breaks : Breaks) (m : R).
Definition masses (k : nat) : R := over_breaks (fun t => let '(z, D, _) := t in Rabs D * density k z) breaks.
Definition jump_1 : R := over_breaks (fun t => let '(z, D, _) := t in D ^ 2 * beneath z (d - 2)) breaks / PI.
Definition jump_2 : R := (2 * masses (d + 2) * m + m ^ 2) / IZR (Z.of_nat d).
Definition jump_3_low : R := - (over_breaks (fun t => let '(z, D, own) := t in
  own * (D ^ 2 * (Rmax ((IZR (Z.of_nat d) - 2) / 2) 1 * beneath z (d - 2) / (1 - z ^ 2)) / 16)) breaks
  + over_pairs (beside (d - 2) (- (1))) breaks / 2).
Definition jump_3_high : R := jump_1 * (PI - 2) / 8 + over_pairs (beside (d - 2) 1) breaks / 2.
Definition kink_3 : R := over_breaks (fun t => let '(z, D, _) := t in D ^ 2 * beneath z d) breaks / (PI * IZR (Z.of_nat d)).
Definition kink_4 : R := (2 * masses (d + 4) * m + m ^ 2) / (IZR (Z.of_nat d) * (IZR (Z.of_nat d) + 2)).
Definition kink_5_low : R := - (kink_3 * (PI - 8 / 3) / 32 + over_pairs (beside d 1) breaks / (8 * IZR (Z.of_nat d))).
Definition kink_5_high : R := over_breaks (fun t => let '(z, D, own) := t in own * (D ^ 2 * beneath z (d - 2) / 256)) breaks
  + over_pairs (beside d (- (1))) breaks / (8 * IZR (Z.of_nat d)).
End Breaks.
(* The angle of z = sin x, and what the squared integral of a slope over x, times cos^d, becomes in R^(d+2). *)
Definition angle_of (z : R) : R := atan (z / sqrt (1 - z ^ 2)).
Definition squared_slope (d : nat) (whole : R) : R := whole * density (d + 2) 0 / IZR (Z.of_nat d).

(* Over x > 0, of the normal density f, its tail Q and psi = f - x Q: x^k f^2, x^k f Q and x^k Q^2 by parts, and from them
   psi^2, x^2 psi^2, x^2 (m Q + x f)^2, (2 f - x Q)^2 and ((x^2 + m + 1) f + 2 r ((m + 1) f - m x Q))^2, m = d - 1 = 2a. *)
Definition ff (k : nat) : R := match k with O => 1 | 2%nat => 1 / 2 | _ => 3 / 4 end / (4 * sqrt PI).
Definition fq (k : nat) : R := match k with
  | 1%nat => / (2 * sqrt (2 * PI)) - ff 0
  | 3%nat => / sqrt (2 * PI) - 5 / 2 * ff 0
  | _ => 4 / sqrt (2 * PI) - 43 / 4 * ff 0
  end.
Definition qq (k : nat) : R := match k with 2%nat => 2 / 3 * fq 3 | _ => 2 / 5 * fq 5 end.
Definition psi_0 : R := ff 0 - 2 * fq 1 + qq 2.
Definition psi_2 : R := ff 2 - 2 * fq 3 + qq 4.
Definition psi_above (m : R) : R := m ^ 2 * qq 2 + 2 * m * fq 3 + ff 4.
Definition psi_plane : R := 4 * ff 0 - 4 * fq 1 + qq 2.
Definition psi_below (m r : R) : R := ff 4 + 2 * ((m + 1) * (1 + 2 * r)) * ff 2 + ((m + 1) * (1 + 2 * r)) ^ 2 * ff 0
  - 4 * r * m * (fq 3 + (m + 1) * (1 + 2 * r) * fq 1) + 4 * r ^ 2 * m ^ 2 * qq 2.
(* The density of z at 0, and bounds of norms at x = 1 / w and at w. *)
Section Norms.
Variables (d : nat) (a c : R).
Definition peak : R := 2 * c ^ 2 / IZR (Z.of_nat (fact (d - 2))).
Definition curve : R := match (d - 3)%nat with O => 0 | _ => Rmax 2 (2 * a - 2) / 4 end.
Definition norm_low (x : R) : R :=
  sqrt (8 * peak * (psi_0 - (a + 3 / 2) * psi_2 * x)) - sqrt (peak * psi_below (2 * a) curve / 2) * x.
Definition next_norm : R := sqrt (16 * peak * psi_above (2 * a))
  + match (d - 2)%nat with O => sqrt (4 * peak * psi_plane / 9) | _ => 0 end.
Definition norm_high (w : R) : R :=
  sqrt (8 * peak * psi_0) + (next_norm / w + 2 * Rpower w (a + 3 / 4) * exp (- w / 2) / c).
Definition mean_high (w : R) : R := 4 * peak / (3 * sqrt (2 * PI))
  + Rpower w (3 / 4) * (next_norm / w + 2 * Rpower w (a + 3 / 4) * exp (- w / 2) / c) / sqrt (2 * a + 1).
End Norms.

(* The facts of analysis, each a statement about all n and w. *)
Section Facts.
Variables (d : nat) (a c : R) (N B : nat -> R -> R) (V : R -> nat -> R -> R).

(* w^a mu -> c. *)
Definition Moment_limit : Prop := is_lim (fun w => Rpower w a * mu d w) p_infty c.
(* Jensen, the other tokens averaged in the denominator. *)
Definition Jensen_noise : Prop := forall n w, (1 <= n)%nat -> 0 <= w ->
  INR n * mu d (2 * w) / (1 + INR n * mu d w) ^ 2 <= N n w.
(* The Laplace representation of 1 / S^2 and 1 / S, cut at lambda = mu_1 / mu_2. *)
Definition Laplace_noise : Prop := forall n w T m, 6 <= T -> 0 <= m <= T -> 0 < w -> T <= tokens d n w ->
  N n w <= kernel 1 1 T m / tokens d n w + 2 * cut (tokens d n w).
Definition Laplace_spread (p : R) (mean : R -> R) : Prop := forall n w T m,
  6 <= T -> 0 <= m <= T -> 0 < w -> T <= tokens d n w ->
  V p n w <= kernel 0 1 T m * mean w + 2 * cut (tokens d n w) * V p (half n) w.
(* Chebyshev: the derivatives in w are -Cov_a(h^p, h) and 2 sum a_i^2 (t_i - sum a_j t_j). *)
Definition Chebyshev_spread (p : R) : Prop := forall n w v, (1 <= n)%nat -> 0 <= w <= v ->
  V p n v <= V p n w /\ 0 <= V p n w <= Rpower 2 p.
Definition Chebyshev_noise : Prop := forall n w v, (1 <= n)%nat -> 0 <= w <= v -> N n w <= N n v.
(* Jensen for each harmonic and Taylor of 1 - P_l; what is averaged falls in w. *)
Definition Jensen_bias (S1 S2 : R) : Prop := forall n w v, (1 <= n)%nat -> 0 <= w <= v -> 0 < v ->
  (S1 * (deficit d v / v) ^ 2 - S2 * (deficit d v / v) * second d v) / (1 + 1 / (INR n * mu d v)) ^ 2 <= B n w.
(* The Laplace representation for pairs, and for one token twice. *)
Definition Laplace_bias (S0 S1 : R) : Prop := forall n w T m, 6 <= T -> 0 <= m <= T -> 0 < w -> T <= tokens d n w ->
  B n w <= S1 * (kernel 1 2 T m * (deficit d w / w) ^ 2 + 5 * cut (tokens d n w) * V 2 (half n) w)
    + S0 * (kernel 1 1 T m * (deficit d (2 * w) / w) / tokens d n w + 4 * cut (tokens d n w) * V 1 (half n) w).
(* Of a law whose f has mean squares `linear` in z and `kinked` in |z|, z = <q, x>; C_i = 2 |z_i| where z_i z < 0, else 0.
   G(z) = E[g C | z] / mu; G1 is E |z| G, G2 is E G^2, C1 n is E |z| sum a_i C_i, C2 n is E sum a_i C_i^2. *)
Variables (linear kinked : R) (G1 G2 : R -> R) (C1 C2 : nat -> R -> R).
(* The mean of C_i^2 over q is at most a multiple of h_i^(3/2). *)
Definition Crossed : Prop := forall n w, (1 <= n)%nat -> 0 <= w ->
  0 <= C2 n w <= sqrt 8 * PI ^ 2 / (3 * (2 * a + 1)) * V (3 / 2) n w.
(* Jensen given z: sum a_i (|z_i| - |z|) has the mean E[sum a_i C_i | z] - |z| E sum a_i h_i. *)
Definition Jensen_kink : Prop := forall n w, (1 <= n)%nat -> 0 < w ->
  kinked * (G2 w / (1 + 1 / (INR n * mu d w)) ^ 2 - 2 * V 1 n w * C1 n w)
  + (linear + kinked) / (2 * a + 1) * (deficit d w / w) ^ 2 / (1 + 1 / (INR n * mu d w)) ^ 2 <= B n w.
(* The Laplace representation; beyond the cut (E |z| C)^2 <= E z^2 E C^2. *)
Definition Laplace_crossed : Prop := forall n w T m, 6 <= T -> 0 <= m <= T -> 0 < w -> T <= tokens d n w ->
  C1 n w <= kernel 0 1 T m * G1 w + 2 * cut (tokens d n w) * sqrt (C2 (half n) w / (2 * a + 1)).
(* The Laplace representation: a pair is a part in C less one in h. *)
Definition Laplace_kink : Prop := forall n w T m, 6 <= T -> 0 <= m <= T -> 0 < w -> T <= tokens d n w ->
  B n w <= kinked * (kernel 1 2 T m * G2 w + 5 * cut (tokens d n w) * C2 (half n) w)
    + (linear + kinked) / (2 * a + 1) * (kernel 1 2 T m * (deficit d w / w) ^ 2 + 5 * cut (tokens d n w) * V 2 (half n) w)
    + (linear + kinked) / (2 * a + 1)
      * (kernel 1 1 T m * (deficit d (2 * w) / w) / tokens d n w + 4 * cut (tokens d n w) * V 1 (half n) w).
(* The norm of G by that of the normal limit 2 E (X - z)_+ and of what it leaves out. *)
Definition Kink_norm : Prop := forall w, 2 * a + 3 <= w -> 0 <= G2 w /\
  norm_low d a c (/ w) <= Rpower w a * mu d w / c * (Rpower w (3 / 4) * sqrt (G2 w)) <= norm_high d a c w /\
  Rpower w a * mu d w / c * (Rpower w (3 / 2) * G1 w) <= mean_high d a c w.
(* Of any law by its variogram: E (f(x) - f(x'))^2 lies between A r^2 + sum_j c_j r^j at the two ends of A, `square`, and of
   each c_j, `law`; r = |x - x'| = (2h)^(1/2). V' is the mean of (1 - <x_i, x_j>)^p over pairs of tokens, two p w that of
   two tokens, in the limit of many. *)
Variables (V' : R -> nat -> R -> R) (two : R -> R -> R) (square : R * R) (law : list (nat * (R * R))).
(* B is a mean of the variogram at the distances of tokens from the query, less half of it between tokens. *)
Definition By_variogram : Prop := forall n w, (1 <= n)%nat -> 0 <= w ->
  B n w <= Rmax (snd square) 0 * (2 * V 1 n w - V' 1 n w)
    + summed (fun t => let p := half_power (fst t) in
        Rpower 2 p * (snd (snd t) * V p n w - fst (snd t) * V' p n w / 2)) law.
(* Jensen for each harmonic; what is averaged falls in w. *)
Definition Jensen_variogram : Prop := forall n w v, (1 <= n)%nat -> 0 <= w <= v -> 0 < v ->
  (fst square * (deficit d v / v) ^ 2
    + summed (fun t => let p := half_power (fst t) in
        Rpower 2 p * (fst (snd t) * raised d p v - snd (snd t) * two p v / 2)) law)
  / (1 + 1 / (INR n * mu d v)) ^ 2 <= B n w.
(* Jensen for one token, and for two. *)
Definition Jensen_spread : Prop := forall p n w, 0 < p -> (1 <= n)%nat -> 0 < w ->
  raised d p w / (1 + 1 / (INR n * mu d w)) <= V p n w.
Definition Jensen_pairs : Prop := forall p n w, 0 < p -> (1 <= n)%nat -> 0 < w ->
  two p w * ((1 - 1 / INR n) / (1 + 2 / (INR n * mu d w)) ^ 2) <= V' p n w.
(* The Laplace representation for two tokens. *)
Definition Laplace_pairs : Prop := forall p n w T m, 0 < p -> 6 <= T -> 0 <= m <= T -> 0 < w -> T <= tokens d n w ->
  V' p n w <= kernel 1 2 T m * two p w + 5 * cut (tokens d n w) * V' p (half n) w.
(* r_12 <= r_1 + r_2, and powers of sums. *)
Definition Triangle : Prop := forall p n w, 0 < p -> (1 <= n)%nat -> 0 <= w ->
  V' p n w <= 2 * Rmax (Rpower 2 (2 * p - 1)) 1 * V p n w.
(* P = w^a mu times w^p E[g r^2p] / mu is c E (1 - y)_+^(a-1) times 2^p Gamma(a + p) / Gamma(a), y of the law Gamma(a + p)
   of the rate 2w; a power of 1 - y lies between tangents, at d = 2 up to y = 1/2. For two tokens P at 2w (1 - y) and (1 -
   y/2)^(a+p-1) enter as well. *)
Definition Gamma_one : Prop := forall j w, (1 <= j <= 6)%nat -> 2 * a + 3 <= w ->
  one_low d a j w <= Rpower w a * mu d w / c * (Rpower w (half_power j) * (Rpower 2 (half_power j) * raised d (half_power j) w))
    <= one_high d a j w.
Definition Gamma_two : Prop := forall j w z z', (1 <= j <= 6)%nat -> 2 * a + 3 <= w -> 0 <= z ->
  (forall v, w <= v -> z <= Rpower v a * mu d v / c <= z') ->
  two_low d a j w * z
    <= (Rpower w a * mu d w / c) ^ 2 * (Rpower w (half_power j) * (Rpower 2 (half_power j) * two (half_power j) w))
    <= two_high d a j w * z' + two_rest a c j w.
(* Means of squares. *)
Definition Squares (F : nat -> R -> R) : Prop := forall n w, (1 <= n)%nat -> 0 <= w -> 0 <= F n w.
Definition Continuous : Prop := forall n w, (1 <= n)%nat -> continuity_pt (N n) w /\ continuity_pt (B n) w.
(* Every token exchanged by its opposite; K(t) - K(-t) rises in t. *)
Definition Opposite : Prop := forall n w, (1 <= n)%nat -> 0 < w -> N n (- w) = N n w /\ B n w < B n (- w).
End Facts.

Ltac pos := repeat first [assumption | apply exp_pos | apply Rmult_lt_0_compat | apply Rdiv_lt_0_compat | apply pow_lt
  | apply Rinv_0_lt_compat | lra].
Ltac pos0 := repeat first [assumption | apply Rmult_le_pos | apply Rlt_le; pos; fail | lra].

(* Powers of positive numbers. *)
Lemma power_pos x y : 0 < Rpower x y.
Proof. apply exp_pos. Qed.

Lemma power_le x y r : 0 < x <= y -> 0 <= r -> Rpower x r <= Rpower y r.
Proof.
  intros [Hx Hxy] Hr. unfold Rpower. destruct (Rle_lt_or_eq_dec _ _ Hxy) as [H | ->]; [| lra].
  destruct Hr as [Hr | <-]; [| rewrite !Rmult_0_l; lra].
  left. apply exp_increasing, Rmult_lt_compat_l; auto. now apply ln_increasing.
Qed.

Lemma power_fall x y r : 0 < x <= y -> r <= 0 -> Rpower y r <= Rpower x r.
Proof.
  intros H Hr. replace r with (- - r) by ring. rewrite 2!(Rpower_Ropp _ (- r)).
  apply Rinv_le_contravar; [apply power_pos | apply power_le; lra].
Qed.

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [H | ->]; [left; now apply exp_increasing | lra]. Qed.

Lemma power_two x : 0 < x -> Rpower x (- (2)) = / x ^ 2.
Proof. intros H. rewrite Rpower_Ropp. f_equal. replace 2 with (INR 2) by (simpl; ring). now rewrite Rpower_pow. Qed.

Lemma over_le g u w : 0 < u <= w -> Rmin g 0 / u <= g / w.
Proof.
  intros [Hu Hw]. assert (/ w <= / u) by (apply Rinv_le_contravar; lra).
  assert (0 < / w) by (apply Rinv_0_lt_compat; lra).
  unfold Rdiv, Rmin. destruct (Rle_dec g 0); nra.
Qed.

Lemma over_ge g u w : 0 < u <= w -> g / w <= Rmax g 0 / u.
Proof.
  intros [Hu Hw]. assert (/ w <= / u) by (apply Rinv_le_contravar; lra).
  assert (0 < / w) by (apply Rinv_0_lt_compat; lra).
  unfold Rdiv, Rmax. destruct (Rle_dec g 0); nra.
Qed.

(* T E falls for T >= 4. *)
Lemma cut_falls S T : S <= T -> cut T <= cut S.
Proof. intros H. unfold cut. apply exp_le. lra. Qed.

Lemma cut_times_falls S T : 4 <= S <= T -> T * cut T <= S * cut S.
Proof.
  intros [H1 H2]. unfold cut.
  replace (- (S - 1) / 4) with (- (T - 1) / 4 + (T - S) / 4) by field. rewrite exp_plus.
  assert (1 + (T - S) / 4 <= exp ((T - S) / 4)) by apply exp_ineq1_le.
  assert (0 < exp (- (T - 1) / 4)) by apply exp_pos.
  assert (T <= S * exp ((T - S) / 4)) by nra.
  nra.
Qed.

Lemma half_le n : (2 <= n)%nat -> (half n < n)%nat /\ (1 <= half n)%nat.
Proof. intros H. unfold half. pose proof (Nat.div2_odd (S n)). destruct (Nat.odd (S n)); simpl Nat.b2n in *; lia. Qed.

Lemma half_ge n : INR n / 2 <= INR (half n).
Proof.
  unfold half. pose proof (Nat.div2_odd (S n)) as H. set (k := Nat.div2 (S n)) in *.
  assert (INR n <= 2 * INR k); [| lra].
  replace 2 with (INR 2) by (simpl; ring). rewrite <- mult_INR. apply le_INR.
  destruct (Nat.odd (S n)); simpl Nat.b2n in H; lia.
Qed.

Lemma weight_is d k w x y : is_RInt (fun x => (1 - cos x) ^ k * exp (- (w * (1 - cos x))) * sin x ^ (d - 2)) x y
  (RInt (fun x => (1 - cos x) ^ k * exp (- (w * (1 - cos x))) * sin x ^ (d - 2)) x y).
Proof.
  apply (RInt_correct (V := R_CompleteNormedModule)), (ex_RInt_continuous (V := R_CompleteNormedModule)). intros z _.
  apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. trivial.
Qed.

Lemma weight_pos d w : 0 < weight d 0 w.
Proof.
  apply RInt_gt_0; [apply PI_RGT_0 | |].
  - intros x Hx. rewrite pow_O, Rmult_1_l. apply Rmult_lt_0_compat; [apply exp_pos |].
    apply pow_lt, sin_gt_0; lra.
  - intros x _. apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. trivial.
Qed.

Lemma mu_pos d w : 0 < mu d w.
Proof. apply Rdiv_lt_0_compat; apply weight_pos. Qed.

Lemma half_gamma_pos m : (1 <= m)%nat -> 0 < half_gamma m.
Proof.
  induction m as [m IH] using lt_wf_ind. intros H. destruct m as [| [| [| k]]]; [lia | | |].
  - apply sqrt_lt_R0, PI_RGT_0.
  - simpl. lra.
  - change (0 < IZR (Z.of_nat (S k)) / 2 * half_gamma (S k)). apply Rmult_lt_0_compat; [| apply IH; lia].
    assert (0 < IZR (Z.of_nat (S k))) by (apply IZR_lt; lia). lra.
Qed.

(* Whole powers of h. *)
Lemma raised_is d k w : raised d (INR k) w = weight d k w / weight d 0 w.
Proof.
  unfold raised. f_equal. apply RInt_ext. intros x. rewrite Rmin_left, Rmax_right by (left; apply PI_RGT_0). intros Hx.
  assert (0 < 1 - cos x) by (pose proof (cos_decreasing_1 0 x); rewrite cos_0 in *; lra).
  now rewrite Rpower_pow.
Qed.

Lemma raised_1 d w : 0 < w -> raised d 1 w = deficit d w / w.
Proof.
  intros H. replace 1 with (INR 1) by reflexivity. rewrite raised_is. unfold deficit. pose proof (weight_pos d w). field. lra.
Qed.

Lemma raised_2 d w : raised d 2 w = second d w.
Proof. replace 2 with (INR 2) by (simpl; ring). now rewrite raised_is. Qed.

(* Cauchy and Schwarz: the mean of (g - mu)^2 is not negative. *)
Lemma cauchy d : forall w, mu d w ^ 2 <= mu d (2 * w).
Proof.
  intros w. set (m := mu d w). pose proof (weight_pos d 0) as P.
  pose proof (is_RInt_plus _ _ _ _ _ _ (weight_is d 0 (2 * w) 0 PI) (is_RInt_plus _ _ _ _ _ _
    (is_RInt_scal _ _ _ (-2 * m) _ (weight_is d 0 w 0 PI)) (is_RInt_scal _ _ _ (m ^ 2) _ (weight_is d 0 0 0 PI)))) as I.
  assert (H : 0 <= weight d 0 (2 * w) + (-2 * m * weight d 0 w + m ^ 2 * weight d 0 0)).
  { pose proof (is_RInt_unique _ _ _ _ I) as U. set (f := fun x => _) in I, U.
    change (RInt f 0 PI = weight d 0 (2 * w) + (-2 * m * weight d 0 w + m ^ 2 * weight d 0 0)) in U. rewrite <- U.
    apply RInt_ge_0; [left; apply PI_RGT_0 | eexists; exact I |]. unfold f.
    intros x Hx. unfold plus, scal; simpl; unfold mult; simpl.
    replace (- (2 * w * (1 - cos x))) with (- (w * (1 - cos x)) + - (w * (1 - cos x))) by ring. rewrite exp_plus.
    replace (- (0 * (1 - cos x))) with 0 by ring. rewrite exp_0.
    match goal with |- 0 <= ?e => replace e with ((exp (- (w * (1 - cos x))) - m) ^ 2 * sin x ^ (d - 2)) by ring end.
    apply Rmult_le_pos; [apply pow2_ge_0 |]. apply pow_le, sin_ge_0; lra. }
  assert (E : weight d 0 w = m * weight d 0 0) by (unfold m, mu; field; lra). rewrite E in H.
  unfold mu at 1. apply Rmult_le_reg_r with (weight d 0 0); [lra |].
  replace (weight d 0 (2 * w) / weight d 0 0 * weight d 0 0) with (weight d 0 (2 * w)) by (field; lra). lra.
Qed.

(* Integration by parts: of e^{-w h} sin^{d-1}, which is 0 at both ends. *)
Lemma second_moment d w : (2 <= d)%nat -> 0 < w ->
  second d w = (2 * w * (deficit d w - (INR d - 1) / 2) + (INR d - 1) * deficit d w) / w ^ 2.
Proof.
  intros Hd Hw. destruct d as [| [| e]]; [lia | lia |]. set (d := S (S e)).
  pose proof (is_RInt_plus _ _ _ _ _ _ (is_RInt_scal _ _ _ w _ (weight_is d 2 w 0 PI)) (is_RInt_plus _ _ _ _ _ _
    (is_RInt_scal _ _ _ (- 2 * w - (INR d - 1)) _ (weight_is d 1 w 0 PI)) (is_RInt_scal _ _ _ (INR d - 1) _ (weight_is d 0 w 0 PI)))) as I.
  set (g := fun x => _) in I.
  assert (D : is_RInt g 0 PI (minus (exp (- (w * (1 - cos PI))) * sin PI ^ S e) (exp (- (w * (1 - cos 0))) * sin 0 ^ S e))).
  { apply (is_RInt_derive (V := R_CompleteNormedModule) (fun x => exp (- (w * (1 - cos x))) * sin x ^ S e)).
    - intros x _. auto_derive; [trivial |]. unfold g, plus, scal; cbn -[INR pow]; unfold mult; cbn -[INR pow].
      change (match e with O => 1 | S _ => INR e + 1 end) with (INR (S e)). rewrite Nat.sub_0_r.
      change (1 + - cos x) with (1 - cos x). replace (INR d) with (INR (S e) + 1) by (unfold d; rewrite !S_INR; ring).
      pose proof (sin2_cos2 x) as Q. unfold Rsqr in Q.
      generalize (INR (S e)). intros k.
      set (E := exp _). set (S := sin x) in *. set (C := cos x) in *.
      match goal with |- ?l = ?r => transitivity (E * S ^ e * (- w * (S * S) + k * C)); [| replace (S * S) with (1 - C * C) by lra] end; ring.
    - intros x _. apply (ex_derive_continuous (V := R_NormedModule)). unfold g, plus, scal; simpl; unfold mult; simpl. auto_derive. trivial. }
  pose proof (is_RInt_unique _ _ _ _ I) as U. rewrite (is_RInt_unique _ _ _ _ D) in U.
  rewrite sin_PI, sin_0, !pow_i, !Rmult_0_r in U by lia.
  change (minus 0 0 = w * weight d 2 w + ((- 2 * w - (INR d - 1)) * weight d 1 w + (INR d - 1) * weight d 0 w)) in U.
  replace (minus 0 0) with 0 in U by (unfold minus, plus, opp; simpl; ring).
  pose proof (weight_pos d w). unfold second, deficit.
  replace (weight d 2 w) with (((2 * w + (INR d - 1)) * weight d 1 w - (INR d - 1) * weight d 0 w) / w) by (field_simplify_eq; lra).
  field. lra.
Qed.

Lemma weight_derive d k w : is_derive (weight d k) w (- weight d (S k) w).
Proof.
  assert (E : forall u t, is_derive (fun u => (1 - cos t) ^ k * exp (- (u * (1 - cos t))) * sin t ^ (d - 2)) u
    (- ((1 - cos t) ^ S k * exp (- (u * (1 - cos t))) * sin t ^ (d - 2)))).
  { intros u t. auto_derive; [trivial | simpl; ring]. }
  replace (- weight d (S k) w) with (RInt (fun t => Derive (fun u => (1 - cos t) ^ k * exp (- (u * (1 - cos t))) * sin t ^ (d - 2)) w) 0 PI).
  2: { unfold weight. rewrite <- (RInt_opp (V := R_CompleteNormedModule)) by (eexists; apply weight_is).
       apply RInt_ext. intros t _. apply is_derive_unique, E. }
  apply is_derive_RInt_param.
  - apply filter_forall. intros u t _. eexists. apply E.
  - intros t _. apply continuity_2d_pt_ext with (fun u v => - ((1 - cos v) ^ S k * exp (- (u * (1 - cos v))) * sin v ^ (d - 2))).
    { intros u v. symmetry. apply is_derive_unique, E. }
    assert (C : continuity_2d_pt (fun _ v => 1 - cos v) w t).
    { apply (continuity_1d_2d_pt_comp (fun v => 1 - cos v) (fun _ v => v)); [| apply continuity_2d_pt_id2].
      apply continuity_pt_minus; [apply continuity_pt_const; intros ? ?; reflexivity | apply continuity_cos]. }
    apply continuity_2d_pt_opp, continuity_2d_pt_mult; [apply continuity_2d_pt_mult |].
    + apply (continuity_1d_2d_pt_comp (fun x => x ^ S k) (fun _ v => 1 - cos v)); [| exact C].
      apply derivable_continuous_pt, derivable_pt_pow.
    + apply (continuity_1d_2d_pt_comp exp); [apply derivable_continuous_pt, derivable_pt_exp |].
      apply continuity_2d_pt_opp, continuity_2d_pt_mult; [apply continuity_2d_pt_id1 | exact C].
    + apply (continuity_1d_2d_pt_comp (fun x => sin x ^ (d - 2)) (fun _ v => v)); [| apply continuity_2d_pt_id2].
      apply (continuity_pt_comp sin (fun x => x ^ (d - 2))); [apply continuity_sin | apply derivable_continuous_pt, derivable_pt_pow].
  - apply filter_forall. intros u. eexists. apply (weight_is d k u).
Qed.

(* Bessel's equation. *)
Lemma deficit_derive d a w : (2 <= d)%nat -> a = (INR d - 1) / 2 -> 0 < w ->
  is_derive (deficit d) w (2 * (a - deficit d w) + deficit d w * (deficit d w + 1 - 2 * a) / w).
Proof.
  intros Hd Ha Hw. pose proof (second_moment d w Hd Hw) as M. pose proof (weight_pos d w) as P.
  assert (I : is_derive (deficit d) w ((weight d 1 w + w * (- weight d 2 w)) / weight d 0 w
    - w * weight d 1 w * (- weight d 1 w) / weight d 0 w ^ 2)).
  { unfold deficit. pose proof (weight_derive d 0 w) as D0. pose proof (weight_derive d 1 w) as D1.
    set (f := weight d 0) in *. set (g := weight d 1) in *. set (x := weight d 2 w) in *. clearbody f g x.
    assert (ex_derive f w) by (eexists; exact D0). assert (ex_derive g w) by (eexists; exact D1).
    auto_derive; [repeat split; auto; lra |].
    replace (Derive _ w) with (Derive g w) by reflexivity. rewrite (is_derive_unique g w _ D1).
    match goal with |- context [Derive ?h w] => change (Derive h w) with (Derive f w) end. rewrite (is_derive_unique f w _ D0). field. lra. }
  evar_last; [exact I |].
  replace (weight d 2 w) with (second d w * weight d 0 w) by (unfold second; field; lra). rewrite M, <- Ha.
  replace (INR d - 1) with (2 * a) by lra. unfold deficit. field. lra.
Qed.

(* A function that rises faster than another wherever they meet stays above it. *)
Lemma stays f g f' g' u w : (forall x, u <= x <= w -> is_derive f x (f' x) /\ is_derive g x (g' x)) ->
  (forall x, u <= x <= w -> f x = g x -> g' x < f' x) -> g u <= f u -> u <= w -> g w <= f w.
Proof.
  intros D C S Hw. apply Rnot_lt_le. intros N.
  set (h := fun x => f x - g x).
  assert (Dh : forall x, u <= x <= w -> is_derive h x (f' x - g' x)).
  { intros x Hx. destruct (D x Hx). now apply (is_derive_minus (V := R_NormedModule)). }
  assert (Ch : forall x, u <= x <= w -> continuity_pt h x).
  { intros x Hx. apply continuity_pt_filterlim. apply (ex_derive_continuous (V := R_NormedModule)).
    eexists. now apply Dh. }
  destruct (completeness (fun x => u <= x <= w /\ 0 <= h x)) as [t [U L]].
  { exists w. intros x [Hx _]. lra. }
  { exists u. unfold h. lra. }
  assert (tu : u <= t) by (apply U; unfold h; lra).
  assert (tw : t <= w) by (apply L; intros x [Hx _]; lra).
  assert (h0 : 0 <= h t).
  { apply Rnot_lt_le. intros B. destruct (Ch t (conj tu tw) (- h t) ltac:(lra)) as [e [He Q]].
    assert (T : t <= t - e); [| lra]. apply L. intros x [Hx Hh]. apply Rnot_lt_le. intros Bx.
    assert (x <= t) by (apply U; lra). destruct (Req_dec x t) as [-> | Nx]; [lra |].
    specialize (Q x). simpl in Q; unfold R_dist in Q.
    assert (Rabs (h x - h t) < - h t).
    { apply Q. split; [split; [exact I | lra] |]. apply Rabs_def1; lra. }
    destruct (Rabs_def2 _ _ H0). lra. }
  assert (lt : t < w) by (destruct (Req_dec t w) as [-> | ?]; [unfold h in h0; lra | lra]).
  assert (after : forall x, t < x <= w -> h x < 0).
  { intros x Hx. apply Rnot_le_lt. intros B. assert (x <= t) by (apply U; lra). lra. }
  assert (h00 : h t = 0).
  { apply Rle_antisym; [| assumption]. apply Rnot_lt_le. intros B. destruct (Ch t (conj tu tw) (h t) B) as [e [He Q]].
    set (x := Rmin w (t + e / 2)). assert (X : t < x <= w /\ x <= t + e / 2).
    { unfold x. pose proof (Rmin_l w (t + e / 2)). pose proof (Rmin_r w (t + e / 2)).
      repeat split; try assumption. apply Rmin_glb_lt; lra. }
    specialize (Q x). simpl in Q; unfold R_dist in Q. assert (Rabs (h x - h t) < h t).
    { apply Q. split; [split; [exact I | lra] |]. apply Rabs_def1; lra. }
    destruct (Rabs_def2 _ _ H). pose proof (after x ltac:(lra)). lra. }
  pose proof (C t (conj tu tw) ltac:(unfold h in h00; lra)) as P.
  pose proof (Dh t (conj tu tw)) as G. apply is_derive_Reals in G. destruct (G (f' t - g' t) ltac:(lra)) as [e He].
  set (s := Rmin (w - t) (e / 2)). pose proof (cond_pos e). pose proof (Rmin_l (w - t) (e / 2)) as m1. pose proof (Rmin_r (w - t) (e / 2)) as m2.
  assert (s0 : 0 < s) by (apply Rmin_glb_lt; lra).
  fold s in m1, m2. pose proof (after (t + s) ltac:(lra)) as A.
  specialize (He s ltac:(lra) ltac:(rewrite Rabs_pos_eq; lra)). rewrite h00, Rminus_0_r in He.
  destruct (Rabs_def2 _ _ He) as [_ Z]. assert (0 < h (t + s) / s) by lra.
  assert (h (t + s) / s < 0); [| lra]. unfold Rdiv. rewrite <- (Rmult_0_l (/ s)). apply Rmult_lt_compat_r; [now apply Rinv_0_lt_compat | assumption].
Qed.

Lemma falls_if f f' x y : x <= y -> (forall t, x <= t <= y -> is_derive f t (f' t) /\ f' t <= 0) -> f y <= f x.
Proof.
  intros H D. destruct (MVT_gen f x y f') as [t [I E]].
  - rewrite Rmin_left, Rmax_right by assumption. intros t Ht. apply D. lra.
  - rewrite Rmin_left, Rmax_right by assumption. intros t Ht. apply continuity_pt_filterlim.
    apply (ex_derive_continuous (V := R_NormedModule)). eexists. now apply D.
  - rewrite Rmin_left, Rmax_right in I by assumption. destruct (D t I) as [_ F].
    assert (f' t * (y - x) <= 0 * (y - x)) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(* a + g / w is crossed in one direction only. *)
Definition Bessel_crossing (d : nat) (a : R) : Prop := forall g u, 0 < u ->
  ((forall x, 0 <= x <= 1 / u -> 0 < sign_at a g x) -> a + g / u < deficit d u ->
    forall w, u <= w -> a + g / w <= deficit d w) /\
  ((forall x, 0 <= x <= 1 / u -> sign_at a g x < 0) -> deficit d u < a + g / u ->
    forall w, u <= w -> deficit d w <= a + g / w).

Lemma crosses_once d a : (2 <= d)%nat -> a = (INR d - 1) / 2 -> Bessel_crossing d a.
Proof.
  intros Hd Ha g u Hu.
  assert (Q : forall w, 0 < w -> is_derive (fun w => a + g / w) w (- g / w ^ 2)).
  { intros w Hw. auto_derive; [lra | field; lra]. }
  assert (M : forall w, u <= w -> 0 < w /\ 0 <= 1 / w <= 1 / u).
  { intros w Hw. unfold Rdiv. rewrite !Rmult_1_l. repeat split; [lra | left; apply Rinv_0_lt_compat; lra | apply Rinv_le_contravar; lra]. }
  assert (E : forall w, 0 < w -> 2 * (a - (a + g / w)) + (a + g / w) * (a + g / w + 1 - 2 * a) / w - - g / w ^ 2
    = / w * sign_at a g (1 / w)) by (intros w Hw; unfold sign_at; field; lra).
  split; intros S B v Hv.
  - apply (stays (deficit d) (fun w => a + g / w)
      (fun w => 2 * (a - deficit d w) + deficit d w * (deficit d w + 1 - 2 * a) / w) (fun w => - g / w ^ 2) u); [| | lra | assumption].
    + intros w Hw. destruct (M w (proj1 Hw)). split; [now apply deficit_derive | now apply Q].
    + intros w Hw F. destruct (M w (proj1 Hw)) as [P I]. rewrite F. specialize (E w P).
      pose proof (Rmult_lt_0_compat _ _ (Rinv_0_lt_compat _ P) (S _ I)). lra.
  - apply (stays (fun w => a + g / w) (deficit d) (fun w => - g / w ^ 2)
      (fun w => 2 * (a - deficit d w) + deficit d w * (deficit d w + 1 - 2 * a) / w) u); [| | lra | assumption].
    + intros w Hw. destruct (M w (proj1 Hw)). split; [now apply Q | now apply deficit_derive].
    + intros w Hw F. destruct (M w (proj1 Hw)) as [P I]. rewrite <- F. specialize (E w P). specialize (S _ I).
      pose proof (Rmult_lt_0_compat (/ w) (- sign_at a g (1 / w)) (Rinv_0_lt_compat _ P) ltac:(lra)). lra.
Qed.

(* w P' / P = a - D for P = w^a mu: log (P / c) is the integral of (D - a) / w over (w, oo). *)
Definition Moment_integral (d : nat) (a c : R) : Prop := forall g1 g2 u, 0 < u ->
  (forall w, u <= w -> a + g1 / w <= deficit d w <= a + g2 / w) ->
  forall w, u <= w -> c * exp (g1 / w) <= Rpower w a * mu d w <= c * exp (g2 / w).

Section Limit.
Variables (d : nat) (a c : R).
Hypotheses (d_2 : (2 <= d)%nat) (c_pos : 0 < c) (limit : Moment_limit d a c).
(* log (P / c), P = w^a mu *)
Definition drift (w : R) : R := ln (Rpower w a * mu d w / c).

Lemma drift_derive w : 0 < w -> is_derive drift w ((a - deficit d w) / w).
Proof.
  intros Hw. pose proof (weight_derive d 0 w) as D. pose proof (weight_pos d w) as P. pose proof (weight_pos d 0) as P0.
  unfold drift, mu, deficit, Rpower. set (f := weight d 0) in *. set (z := weight d 1 w) in *.
  assert (X : ex_derive f w) by (eexists; exact D). generalize dependent (f 0). intros y0 P0. clearbody f z.
  pose proof (exp_pos (a * ln w)) as Q. auto_derive.
  - repeat split; auto. repeat apply Rmult_lt_0_compat; auto using Rinv_0_lt_compat.
  - match goal with |- context [Derive ?h w] => change (Derive h w) with (Derive f w) end.
    rewrite (is_derive_unique f w _ D). field. repeat split; lra.
Qed.

Lemma drift_limit g e : is_lim (fun w => drift w - g / w - e / (2 * w ^ 2)) p_infty 0.
Proof.
  assert (V : is_lim (fun w => / w) p_infty 0) by (apply (is_lim_inv (fun w => w) p_infty p_infty (is_lim_id _)); discriminate).
  assert (L : is_lim drift p_infty 0).
  { apply (filterlim_comp _ _ _ (fun w => Rpower w a * mu d w / c) ln _ (locally 1)).
    - change (is_lim (fun w => Rpower w a * mu d w / c) p_infty 1).
      replace (Finite 1) with (Rbar_mult c (/ c)) by (simpl; f_equal; field; lra).
      apply (is_lim_scal_r (fun w => Rpower w a * mu d w) (/ c) p_infty c limit).
    - change (Rbar_locally 0) with (locally 0). rewrite <- ln_1.
      apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. lra. }
  apply (is_lim_ext_loc (fun w => drift w - g * / w - e / 2 * (/ w * / w))).
  { exists 0. intros w Hw. field. lra. }
  replace (Finite 0) with (Finite (0 - g * 0 - e / 2 * (0 * 0))) by (f_equal; ring).
  apply is_lim_minus'; [apply is_lim_minus' |].
  - exact L.
  - apply (is_lim_scal_l _ g p_infty 0 V).
  - apply (is_lim_scal_l _ (e / 2) p_infty (0 * 0)). apply (is_lim_mult _ _ p_infty 0 0 V V). exact I.
Qed.

(* From D >= a + g / w + e / w^2: log (P / c) - g / w - e / 2w^2 falls to 0. From D <= ... it rises to 0. *)
Definition from (g e w : R) : R := drift w - g / w - e / (2 * w ^ 2).

Lemma from_derive g e w : 0 < w -> is_derive (from g e) w ((a - deficit d w + g / w + e / w ^ 2) / w).
Proof.
  intros Hw. pose proof (drift_derive w Hw) as D. unfold from. set (f := drift) in *.
  assert (ex_derive f w) by (eexists; exact D). clearbody f. auto_derive; [repeat split; auto; try lra; apply Rgt_not_eq; pos |].
  match goal with |- context [Derive ?h w] => change (Derive h w) with (Derive f w) end.
  rewrite (is_derive_unique f w _ D). field. lra.
Qed.

Lemma from_falls g e u : 0 < u -> (forall w, u <= w -> a + g / w + e / w ^ 2 <= deficit d w) ->
  (forall w v, u <= w <= v -> from g e v <= from g e w) /\ forall w, u <= w -> 0 <= from g e w.
Proof.
  intros Hu H. assert (F : forall w v, u <= w <= v -> from g e v <= from g e w).
  { intros w v Hw. apply (falls_if _ (fun w => (a - deficit d w + g / w + e / w ^ 2) / w)); [lra |].
    intros t Ht. split; [apply from_derive; lra |]. specialize (H t ltac:(lra)).
    apply Ropp_le_cancel. rewrite Ropp_0. unfold Rdiv at 1. rewrite Ropp_mult_distr_l.
    apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]. }
  split; [exact F |]. intros w Hw.
  apply (is_lim_le_loc (from g e) (fun _ => from g e w) p_infty 0 (from g e w)); [| apply drift_limit | apply is_lim_const].
  exists w. intros v Hv. apply F. lra.
Qed.

Lemma from_rises g e u : 0 < u -> (forall w, u <= w -> deficit d w <= a + g / w + e / w ^ 2) ->
  (forall w v, u <= w <= v -> from g e w <= from g e v) /\ forall w, u <= w -> from g e w <= 0.
Proof.
  intros Hu H. assert (F : forall w v, u <= w <= v -> from g e w <= from g e v).
  { intros w v Hw. apply Ropp_le_cancel.
    apply (falls_if (fun w => - from g e w) (fun w => - ((a - deficit d w + g / w + e / w ^ 2) / w))); [lra |].
    intros t Ht. split; [apply (is_derive_opp (V := R_NormedModule)), from_derive; lra |]. specialize (H t ltac:(lra)).
    unfold Rdiv at 1. rewrite <- Ropp_0. apply Ropp_le_contravar.
    apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]. }
  split; [exact F |]. intros w Hw.
  apply (is_lim_le_loc (fun _ => from g e w) (from g e) p_infty (from g e w) 0); [| apply is_lim_const | apply drift_limit].
  exists w. intros v Hv. apply F. lra.
Qed.

Lemma moment_integral : Moment_integral d a c.
Proof.
  intros g1 g2 u Hu H w Hw.
  assert (P : 0 < Rpower w a * mu d w) by (apply Rmult_lt_0_compat; [apply power_pos | apply mu_pos]).
  assert (E : c * exp (drift w) = Rpower w a * mu d w) by (unfold drift; rewrite exp_ln; [field; lra | pos]).
  destruct (from_falls g1 0 u Hu) as [_ F]. { intros v Hv. unfold Rdiv at 2. rewrite Rmult_0_l, Rplus_0_r. now apply H. }
  destruct (from_rises g2 0 u Hu) as [_ G]. { intros v Hv. unfold Rdiv at 2. rewrite Rmult_0_l, Rplus_0_r. now apply H. }
  specialize (F w Hw). specialize (G w Hw). unfold from in F, G.
  replace (0 / (2 * w ^ 2)) with 0 in F, G by (unfold Rdiv; ring). rewrite Rminus_0_r in F, G. rewrite <- E.
  split; (apply Rmult_le_compat_l; [lra | apply exp_le; lra]).
Qed.
End Limit.

(* Sums over tokens. *)
Fixpoint total (n : nat) (f : nat -> R) : R := match n with O => 0 | S k => total k f + f k end.

Lemma total_le n f g : (forall i, f i <= g i) -> total n f <= total n g.
Proof. intros H. induction n as [| n IH]; simpl; [lra |]. specialize (H n). lra. Qed.

Lemma total_scal n c f : total n (fun i => c * f i) = c * total n f.
Proof. induction n as [| n IH]; simpl; [ring |]. rewrite IH. ring. Qed.

Lemma total_ext n f g : (forall i, f i = g i) -> total n f = total n g.
Proof. intros H. induction n as [| n IH]; simpl; [reflexivity |]. now rewrite IH, H. Qed.

Lemma total_pos n f : (1 <= n)%nat -> (forall i, 0 < f i) -> 0 < total n f.
Proof.
  intros Hn H. assert (P : forall k, 0 <= total k f).
  { induction k as [| k IH]; simpl; [lra |]. specialize (H k). lra. }
  destruct n as [| n]; [lia |]. simpl. specialize (P n). specialize (H n). lra.
Qed.

(* Chebyshev: of two families that rise and fall together. *)
Lemma chebyshev n (g p q : nat -> R) : (forall i, 0 <= g i) -> (forall i j, 0 <= (p i - p j) * (q i - q j)) ->
  total n (fun i => g i * p i) * total n (fun i => g i * q i) <= total n g * total n (fun i => g i * p i * q i).
Proof.
  intros Hg H. induction n as [| n IH]; simpl; [lra |].
  assert (M : forall k, total k (fun i => g i * ((p i - p n) * (q i - q n))) = total k (fun i => g i * p i * q i)
    - q n * total k (fun i => g i * p i) - p n * total k (fun i => g i * q i) + p n * q n * total k g).
  { induction k as [| k IHk]; simpl; [ring |]. rewrite IHk. ring. }
  assert (P : 0 <= total n (fun i => g i * ((p i - p n) * (q i - q n)))).
  { assert (Z : forall k, 0 <= total k (fun i => g i * ((p i - p n) * (q i - q n)))); [| apply Z].
    induction k as [| k IHk]; simpl; [lra |]. pose proof (Rmult_le_pos _ _ (Hg k) (H k n)). lra. }
  rewrite M in P. pose proof (Rmult_le_pos _ _ (Hg n) P) as Q. lra.
Qed.

(* Tokens: h_i, and what each is off by, f(x_i) - f(x) in units of L; |z| and C_i of laws with a kink; 1 - <x_i, x_j>.
   A context has the first n of them. *)
Record Tokens : Type := { far_by : nat -> R; error : nat -> R; height : R; across : nat -> R;
  apart : nat -> nat -> R; in_sphere : forall i, 0 <= far_by i <= 2 }.
Definition factor (w : R) (x : Tokens) (i : nat) : R := exp (- (w * far_by x i)).
Definition attends (n : nat) (w : R) (x : Tokens) (i : nat) : R := factor w x i / total n (factor w x).
Definition to_power (p h : R) : R := if Rle_dec h 0 then 0 else Rpower h p.

(* A mean over tokens rises with what is averaged, and leaves a constant as it is. *)
Definition Mean (E : (Tokens -> R) -> R) : Prop :=
  (forall f g, (forall x, f x <= g x) -> E f <= E g) /\ forall c, E (fun _ => c) = c.

Section Averages.
Variable E : (Tokens -> R) -> R.
Definition noise_of (n : nat) (w : R) : R := E (fun x => total n (fun i => attends n w x i ^ 2)).
Definition bias_of (n : nat) (w : R) : R := E (fun x => total n (fun i => attends n w x i * error x i) ^ 2).
Definition spread_of (p : R) (n : nat) (w : R) : R :=
  E (fun x => total n (fun i => attends n w x i * to_power p (far_by x i))).
(* C1, C2, G1 and G2, the last of two tokens with the same z. *)
Definition crossed_of (n : nat) (w : R) : R := E (fun x => height x * total n (fun i => attends n w x i * across x i)).
Definition squared_of (n : nat) (w : R) : R := E (fun x => total n (fun i => attends n w x i * across x i ^ 2)).
Definition inner_of (d : nat) (w : R) : R := E (fun x => height x * (factor w x 0 * across x 0)) / mu d w.
Definition norm_of (d : nat) (w : R) : R :=
  E (fun x => factor w x 0 * across x 0 * (factor w x 1 * across x 1)) / mu d w ^ 2.
(* V' and its limit of many tokens. *)
Definition paired_of (p : R) (n : nat) (w : R) : R :=
  E (fun x => total n (fun i => total n (fun j => attends n w x i * attends n w x j * to_power p (apart x i j)))).
Definition two_of (d : nat) (p w : R) : R :=
  E (fun x => factor w x 0 * factor w x 1 * to_power p (apart x 0 1)) / mu d w ^ 2.
Hypothesis mean : Mean E.

Lemma mean_nonneg f : (forall x, 0 <= f x) -> 0 <= E f.
Proof. intros H. destruct mean as [M C]. rewrite <- (C 0). now apply M. Qed.

Lemma squares_N : Squares noise_of.
Proof.
  intros n w _ _. apply mean_nonneg. intros x.
  assert (Z : forall k, 0 <= total k (fun i => attends n w x i ^ 2)); [| apply Z].
  induction k as [| k IH]; cbn [total]; [lra |]. pose proof (pow2_ge_0 (attends n w x k)). lra.
Qed.

Lemma squares_B : Squares bias_of.
Proof. intros n w _ _. apply mean_nonneg. intros x. apply pow2_ge_0. Qed.

Lemma factor_pos w x i : 0 < factor w x i.
Proof. apply exp_pos. Qed.

Lemma to_power_nonneg p h : 0 <= to_power p h.
Proof. unfold to_power. destruct (Rle_dec h 0); [lra | left; apply power_pos]. Qed.

Lemma total_nonneg n f : (forall i, 0 <= f i) -> 0 <= total n f.
Proof. intros H. induction n as [| n IH]; simpl; [lra |]. specialize (H n). lra. Qed.

Lemma attends_nonneg n w x i : 0 <= attends n w x i.
Proof.
  unfold attends, Rdiv. apply Rmult_le_pos; [left; apply factor_pos |]. destruct n as [| n]; [simpl; rewrite Rinv_0; lra |].
  left. apply Rinv_0_lt_compat, total_pos; [lia | intros; apply factor_pos].
Qed.

Lemma paired_nonneg p n w : 0 <= paired_of p n w.
Proof.
  apply mean_nonneg. intros x. apply total_nonneg. intros i. apply total_nonneg. intros j.
  apply Rmult_le_pos; [apply Rmult_le_pos; apply attends_nonneg | apply to_power_nonneg].
Qed.

Lemma two_nonneg d p w : 0 <= two_of d p w.
Proof.
  apply Rmult_le_pos; [| left; apply Rinv_0_lt_compat, pow_lt, mu_pos]. apply mean_nonneg. intros x.
  apply Rmult_le_pos; [apply Rmult_le_pos; left; apply factor_pos | apply to_power_nonneg].
Qed.

(* From w to v every factor is multiplied by one that falls in h. *)
Definition fading (w v : R) (x : Tokens) (i : nat) : R := exp (- ((v - w) * far_by x i)).

Lemma factor_fading w v x i : factor v x i = factor w x i * fading w v x i.
Proof. unfold factor, fading. rewrite <- exp_plus. f_equal. ring. Qed.

Lemma exp_falls w x i j : 0 <= w -> far_by x i <= far_by x j -> factor w x j <= factor w x i.
Proof. intros Hw H. apply exp_le, Ropp_le_contravar, Rmult_le_compat_l; assumption. Qed.

Lemma to_power_rises p h k : 0 <= p -> h <= k -> to_power p h <= to_power p k.
Proof.
  intros Hp H. unfold to_power. destruct (Rle_dec h 0), (Rle_dec k 0); try lra.
  - left. apply power_pos.
  - apply power_le; lra.
Qed.

Lemma falls p : 0 <= p -> Chebyshev_spread spread_of p.
Proof.
  intros Hp n w v Hn Hw. destruct mean as [M C]. split; [| split].
  - apply M. intros x. pose proof (total_pos n _ Hn (factor_pos w x)) as P1. pose proof (total_pos n _ Hn (factor_pos v x)) as P2.
    assert (Q : total n (fun i => factor w x i * fading w v x i) * total n (fun i => factor w x i * - to_power p (far_by x i))
      <= total n (factor w x) * total n (fun i => factor w x i * fading w v x i * - to_power p (far_by x i))).
    { apply chebyshev; [intros; left; apply factor_pos |]. intros i j.
      destruct (Rle_lt_dec (far_by x i) (far_by x j)) as [H | H].
      - pose proof (exp_falls (v - w) x i j ltac:(lra) H). pose proof (to_power_rises p _ _ Hp H).
        apply Rmult_le_pos; unfold fading; unfold factor in *; lra.
      - pose proof (exp_falls (v - w) x j i ltac:(lra) ltac:(lra)). pose proof (to_power_rises p _ _ Hp (Rlt_le _ _ H)).
        rewrite <- Rmult_opp_opp. apply Rmult_le_pos; unfold fading; unfold factor in *; lra. }
    rewrite <- (total_ext n (factor v x) (fun i => factor w x i * fading w v x i)) in Q by (intros; apply factor_fading).
    rewrite (total_ext n (fun i => factor w x i * - to_power p (far_by x i)) (fun i => -1 * (factor w x i * to_power p (far_by x i)))) in Q by (intros; ring).
    rewrite (total_ext n (fun i => factor w x i * fading w v x i * - to_power p (far_by x i)) (fun i => -1 * (factor v x i * to_power p (far_by x i)))) in Q
      by (intros; rewrite (factor_fading w v); ring).
    rewrite !total_scal in Q. unfold attends.
    rewrite (total_ext n _ (fun i => / total n (factor v x) * (factor v x i * to_power p (far_by x i)))) by (intros; field; lra).
    rewrite (total_ext n (fun i => factor w x i / _ * _) (fun i => / total n (factor w x) * (factor w x i * to_power p (far_by x i)))) by (intros; field; lra).
    rewrite !total_scal. set (A := total n (factor v x)) in *. set (B := total n (factor w x)) in *.
    apply Rmult_le_reg_l with (A * B); [apply Rmult_lt_0_compat; lra |].
    match goal with |- _ * (_ * ?s) <= _ * (_ * ?t) => replace (A * B * (/ A * s)) with (B * s) by (field; lra);
      replace (A * B * (/ B * t)) with (A * t) by (field; lra) end. lra.
  - apply mean_nonneg. intros x. pose proof (total_pos n _ Hn (factor_pos w x)) as P1.
    assert (Z : forall k, 0 <= total k (fun i => attends n w x i * to_power p (far_by x i))); [| apply Z].
    induction k as [| k IHk]; simpl; [lra |].
    assert (0 <= attends n w x k * to_power p (far_by x k)); [| lra].
    apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; [apply factor_pos | assumption] |].
    unfold to_power. destruct (Rle_dec (far_by x k) 0); [lra | left; apply power_pos].
  - rewrite <- (C (Rpower 2 p)). apply M. intros x. pose proof (total_pos n _ Hn (factor_pos w x)) as P1.
    apply Rle_trans with (total n (fun i => Rpower 2 p / total n (factor w x) * factor w x i)).
    + apply total_le. intros i. unfold attends.
      replace (Rpower 2 p / total n (factor w x) * factor w x i) with (factor w x i / total n (factor w x) * Rpower 2 p) by (field; lra).
      apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; [apply factor_pos | assumption] |].
      unfold to_power. destruct (in_sphere x i). destruct (Rle_dec (far_by x i) 0); [left; apply power_pos | apply power_le; lra].
    + rewrite total_scal. right. field. lra.
Qed.

Lemma rises : Chebyshev_noise noise_of.
Proof.
  intros n w v Hn Hw. destruct mean as [M C]. apply M. intros x.
  pose proof (total_pos n _ Hn (factor_pos w x)) as P1. pose proof (total_pos n _ Hn (factor_pos v x)) as P2.
  set (g := factor w x) in *. set (r := fading w v x).
  assert (E1 : total n (fun i => g i * r i) = total n (factor v x)) by (apply total_ext; intros; symmetry; apply factor_fading).
  assert (Q : total n (fun i => g i * g i) * total n (fun i => g i * r i) <= total n g * total n (fun i => g i * g i * r i)).
  { apply chebyshev; [intros; left; apply factor_pos |]. intros i j.
    destruct (Rle_lt_dec (far_by x i) (far_by x j)) as [H | H].
    - pose proof (exp_falls (v - w) x i j ltac:(lra) H). pose proof (exp_falls w x i j ltac:(lra) H).
      apply Rmult_le_pos; unfold r, fading, g; unfold factor in *; lra.
    - pose proof (exp_falls (v - w) x j i ltac:(lra) ltac:(lra)). pose proof (exp_falls w x j i ltac:(lra) ltac:(lra)).
      rewrite <- Rmult_opp_opp. apply Rmult_le_pos; unfold r, fading, g; unfold factor in *; lra. }
  assert (K : total n (fun i => g i * g i * r i) * total n (fun i => g i * g i * r i)
    <= total n (fun i => g i * g i) * total n (fun i => g i * g i * r i * r i)).
  { apply (chebyshev n (fun i => g i * g i) r r); [intros; apply Rle_0_sqr |]. intros i j. apply Rle_0_sqr. }
  assert (S0 : 0 < total n (fun i => g i * g i)) by (apply total_pos; [assumption | intros; apply Rmult_lt_0_compat; apply factor_pos]).
  assert (E2 : total n (fun i => attends n w x i ^ 2) = total n (fun i => g i * g i) / total n g ^ 2).
  { unfold Rdiv. rewrite Rmult_comm, <- total_scal. apply total_ext. intros i. unfold attends. fold g. field. lra. }
  assert (E3 : total n (fun i => attends n v x i ^ 2) = total n (fun i => g i * g i * r i * r i) / total n (fun i => g i * r i) ^ 2).
  { rewrite E1. unfold Rdiv. rewrite Rmult_comm, <- total_scal. apply total_ext. intros i. unfold attends.
    rewrite (factor_fading w v x i). fold g r. rewrite <- E1. rewrite <- E1 in P2. field. lra. }
  rewrite E2, E3. rewrite <- E1 in P2. clear E1 E2 E3.
  set (A := total n g) in *. set (G := total n (fun i => g i * r i)) in *. set (S2 := total n (fun i => g i * g i)) in *.
  set (X := total n (fun i => g i * g i * r i)) in *. set (Y := total n (fun i => g i * g i * r i * r i)) in *.
  clearbody A G S2 X Y. clear - P1 P2 Q K S0.
  assert (X0 : 0 <= X) by (apply Rmult_le_reg_l with A; [lra |]; assert (0 <= S2 * G) by (apply Rmult_le_pos; lra); lra).
  assert (L : (S2 * G) * (S2 * G) <= (A * X) * (A * X)).
  { apply Rmult_le_compat; try lra; apply Rmult_le_pos; lra. }
  assert (L2 : S2 * (S2 * G ^ 2) <= S2 * (Y * A ^ 2)).
  { assert (A ^ 2 * (X * X) <= A ^ 2 * (S2 * Y)) by (apply Rmult_le_compat_l; [apply pow2_ge_0 | assumption]). lra. }
  apply Rmult_le_reg_l in L2; [| assumption].
  assert (0 < A ^ 2) by (apply pow_lt; lra). assert (0 < G ^ 2) by (apply pow_lt; lra).
  apply Rmult_le_reg_r with (A ^ 2 * G ^ 2); [apply Rmult_lt_0_compat; assumption |].
  replace (S2 / A ^ 2 * (A ^ 2 * G ^ 2)) with (S2 * G ^ 2) by (field; lra).
  replace (Y / G ^ 2 * (A ^ 2 * G ^ 2)) with (Y * A ^ 2) by (field; lra). assumption.
Qed.
End Averages.

(* N and B between explicit functions of n and w. *)
Definition Between (d : nat) (N B : nat -> R -> R) (a beta u T c1 c2 b1 bp b2 bn s : R) : Prop :=
  forall n w, u <= w -> T <= tokens d n w ->
    c1 * Rpower w a / INR n <= N n w <= c2 * Rpower w a / INR n /\
    b1 * Rpower w (- beta) + bp * Rpower w (- (2)) <= B n w
      <= b2 * Rpower w (- beta) + bn * Rpower w (- (2)) + s * Rpower w (a - 1) / INR n.

(* From some u on. *)
Section Stage.
Variables (d : nat) (a c u T m : R) (N B : nat -> R -> R) (V : R -> nat -> R -> R).
Hypotheses (a_pos : 0 < a) (c_pos : 0 < c) (u_pos : 0 < u) (T_6 : 6 <= T) (m_in : 0 <= m <= T).
Variables (g1 g2 D1 D2 : R).
Hypothesis crossing : Bessel_crossing d a.
Hypothesis start : a + g1 / u < deficit d u < a + g2 / u.
Hypothesis signs : forall x, 0 <= x <= 1 / u -> 0 < sign_at a g1 x /\ sign_at a g2 x < 0.
Hypotheses (D1_le : D1 <= a + Rmin g1 0 / u) (D2_ge : a + Rmax g2 0 / u <= D2) (D1_pos : 0 < D1).

Lemma tilt w : u <= w -> a + g1 / w <= deficit d w <= a + g2 / w.
Proof.
  intros H. split.
  - apply (crossing g1 u u_pos); [intros; now apply signs | apply start | assumption].
  - apply (crossing g2 u u_pos); [intros; now apply signs | apply start | assumption].
Qed.

Lemma deficit_in w : u <= w -> D1 <= deficit d w <= D2.
Proof.
  intros H. pose proof (tilt w H). pose proof (over_le g1 u w). pose proof (over_ge g2 u w). lra.
Qed.

Definition z1 : R := exp (Rmin (g1 / u) 0).
Definition z2 : R := exp (Rmax (g2 / u) 0).
Definition r1 : R := Rpower 2 (- a) / c * exp (Rmin ((g1 / 2 - 2 * g2) / u) 0).
Definition r2 : R := Rpower 2 (- a) / c * exp (Rmax ((g2 / 2 - 2 * g1) / u) 0).
Hypothesis integral : Moment_integral d a c.

Lemma share g w : u <= w -> Rmin (g / u) 0 <= g / w <= Rmax (g / u) 0.
Proof.
  intros H. assert (/ w <= / u) by (apply Rinv_le_contravar; lra).
  assert (0 < / w) by (apply Rinv_0_lt_compat; lra).
  assert (0 < / u) by lra.
  unfold Rdiv, Rmin, Rmax. destruct (Rle_dec (g * / u) 0).
  - assert (g <= 0) by nra. split; nra.
  - assert (0 <= g) by nra. split; nra.
Qed.

Lemma moment_in w : u <= w -> c * exp (g1 / w) <= Rpower w a * mu d w <= c * exp (g2 / w).
Proof. apply (integral g1 g2 u u_pos). intros v Hv. now apply tilt. Qed.

Lemma ratio_in w : u <= w -> r1 <= Rpower w (- a) * mu d (2 * w) / mu d w ^ 2 <= r2.
Proof.
  intros H. pose proof (moment_in w H) as [L1 L2]. assert (H2 : u <= 2 * w) by lra.
  pose proof (moment_in (2 * w) H2) as [M1 M2].
  rewrite <- Rpower_mult_distr in M1, M2 by lra.
  pose proof (mu_pos d w) as P1. pose proof (mu_pos d (2 * w)) as P2.
  pose proof (power_pos w a) as Q. pose proof (power_pos 2 a) as Q2.
  unfold r1, r2. rewrite !Rpower_Ropp.
  set (x := Rpower w a) in *. set (t := Rpower 2 a) in *. set (p := mu d w) in *. set (q := mu d (2 * w)) in *.
  assert (E : / x * q / p ^ 2 = / t * (t * x * q) / (x * p) ^ 2) by (field; repeat split; lra).
  rewrite E. set (s := t * x * q) in *. set (y := x * p) in *.
  assert (0 < y) by (unfold y; pos). assert (0 < s) by (unfold s; pos).
  assert (0 < / t) by (apply Rinv_0_lt_compat; lra).
  pose proof (exp_pos (g1 / w)). pose proof (exp_pos (g2 / w)).
  assert (K : forall g h, exp ((g / 2 - 2 * h) / w) = exp (g / (2 * w)) / (exp (h / w)) ^ 2).
  { intros g h. pose proof (exp_pos (h / w)).
    replace ((g / 2 - 2 * h) / w) with (g / (2 * w) + - (h / w + h / w)) by (field; lra).
    rewrite exp_plus, exp_Ropp, exp_plus. field. lra. }
  split.
  - apply Rle_trans with (/ t / c * exp ((g1 / 2 - 2 * g2) / w)).
    + apply Rmult_le_compat_l; [apply Rlt_le, Rdiv_lt_0_compat; lra |].
      apply exp_le. apply share; assumption.
    + rewrite K. apply Rle_trans with (/ t * (c * exp (g1 / (2 * w)) * / (c * exp (g2 / w)) ^ 2)).
      { right. field. repeat split; lra. }
      unfold Rdiv at 3. rewrite (Rmult_assoc _ s). apply Rmult_le_compat_l; [lra |].
      apply Rmult_le_compat; [left; pos | | lra |].
      * left. pos.
      * apply Rinv_le_contravar; [pos | apply pow_incr; split; [left; pos | lra]].
  - apply Rle_trans with (/ t / c * exp ((g2 / 2 - 2 * g1) / w)).
    + rewrite K. apply Rle_trans with (/ t * (c * exp (g2 / (2 * w)) * / (c * exp (g1 / w)) ^ 2)).
      2: { right. field. repeat split; lra. }
      unfold Rdiv at 1. rewrite (Rmult_assoc _ s). apply Rmult_le_compat_l; [lra |].
      apply Rmult_le_compat; [lra | | lra |].
      * left. pos.
      * apply Rinv_le_contravar; [pos | apply pow_incr; split; [left; pos | lra]].
    + apply Rmult_le_compat_l; [apply Rlt_le, Rdiv_lt_0_compat; lra |].
      apply exp_le. apply share; assumption.
Qed.

Lemma r1_pos : 0 < r1.
Proof. apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; [apply power_pos | lra] | apply exp_pos]. Qed.

(* T = n w^-a / R. *)
Lemma tokens_in n w : u <= w -> (1 <= n)%nat ->
  0 < tokens d n w /\ r1 * Rpower w a / INR n <= / tokens d n w <= r2 * Rpower w a / INR n.
Proof.
  intros H Hn. pose proof (ratio_in w H) as [L1 L2]. pose proof r1_pos.
  pose proof (mu_pos d w) as P1. pose proof (mu_pos d (2 * w)) as P2. pose proof (power_pos w a) as Q.
  assert (0 < INR n) by (apply lt_0_INR; lia).
  rewrite Rpower_Ropp in L1, L2. unfold tokens.
  set (x := Rpower w a) in *. set (p := mu d w) in *. set (q := mu d (2 * w)) in *.
  split. { apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; [lra | apply pow_lt; lra] | lra]. }
  replace (/ (INR n * p ^ 2 / q)) with ((/ x * q / p ^ 2) * x / INR n) by (field; repeat split; lra).
  unfold Rdiv. split; (apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; lra | apply Rmult_le_compat_r; lra]).
Qed.

Lemma tokens_le n w : 0 <= w -> tokens d n w <= INR n.
Proof.
  intros H. unfold tokens. pose proof (mu_pos d (2 * w)). pose proof (cauchy d w). pose proof (pos_INR n).
  apply Rmult_le_reg_r with (mu d (2 * w)); [lra |].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

Lemma six n w : 0 <= w -> T <= tokens d n w -> (6 <= n)%nat.
Proof. intros H1 H2. pose proof (tokens_le n w H1). apply INR_le. simpl INR. lra. Qed.

Lemma mass n w y : u <= w -> T <= tokens d n w -> y <= T * r1 * (c * z1) -> 0 < y -> y <= INR n * mu d w.
Proof.
  intros H HT Hy Hy0. assert (Hn : (6 <= n)%nat) by (apply (six n w); lra).
  pose proof (tokens_in n w H) as [P _]; [lia |].
  pose proof (moment_in w H) as [M _]. pose proof (ratio_in w H) as [L _]. pose proof r1_pos.
  pose proof (share g1 w H) as [S _]. apply exp_le in S. fold z1 in S.
  pose proof (exp_pos (Rmin (g1 / u) 0)) as Z. fold z1 in Z.
  assert (c * z1 <= Rpower w a * mu d w) by nra.
  apply Rle_trans with (1 := Hy).
  apply Rle_trans with (tokens d n w * (Rpower w (- a) * mu d (2 * w) / mu d w ^ 2) * (Rpower w a * mu d w)).
  - apply Rmult_le_compat; [left; pos | left; pos | apply Rmult_le_compat; lra | lra].
  - right. unfold tokens. rewrite Rpower_Ropp. pose proof (mu_pos d w). pose proof (mu_pos d (2 * w)).
    pose proof (power_pos w a). field. repeat split; lra.
Qed.

(* Noise. *)
Variables (y c1 c2 : R).
Hypotheses (y_pos : 0 < y) (y_le : y <= T * r1 * (c * z1)).
Hypothesis jensen : Jensen_noise d N.
Hypothesis laplace : Laplace_noise d N.
Hypothesis c1_le : c1 <= r1 / (1 + 1 / y) ^ 2.
Variables (J0 J1 J2 : R).
Hypotheses (J0_ge : kernel 0 1 T m <= J0) (J1_ge : kernel 1 1 T m <= J1) (J2_ge : kernel 1 2 T m <= J2).
Hypothesis c2_ge : r2 * (J1 + 2 * T * cut T) <= c2.

Lemma jensen_factor n w : u <= w -> T <= tokens d n w ->
  0 < (1 + 1 / (INR n * mu d w)) ^ 2 <= (1 + 1 / y) ^ 2.
Proof.
  intros H HT. pose proof (mass n w y H HT y_le y_pos) as M. set (x := INR n * mu d w) in *.
  assert (/ x <= / y) by (apply Rinv_le_contravar; lra).
  assert (0 < / x) by (apply Rinv_0_lt_compat; lra).
  unfold Rdiv. rewrite !Rmult_1_l. split; [apply pow_lt; lra | apply pow_incr; lra].
Qed.

Lemma kernel_nonneg p j S : INR j <= 2 -> 6 <= S -> 0 <= m <= S -> 0 <= kernel p j S m.
Proof.
  intros Hj HS Hm. unfold kernel. assert (0 < 1 - INR j / S).
  { assert (INR j / S < 1); [| lra]. apply Rmult_lt_reg_r with S; [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  set (b := 1 - INR j / S) in *. apply Rplus_le_le_0_compat.
  - apply RInt_ge_0; [lra | |].
    + apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros x Hx.
      apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. trivial.
    + intros x Hx. apply Rmult_le_pos; [apply pow_le; lra | left; apply exp_pos].
  - assert (0 < 2 / b) by (apply Rdiv_lt_0_compat; lra).
    destruct p; repeat apply Rmult_le_pos; try (left; apply exp_pos); lra.
Qed.

Lemma noise_in n w : u <= w -> T <= tokens d n w ->
  c1 * Rpower w a / INR n <= N n w <= c2 * Rpower w a / INR n.
Proof.
  intros H HT. assert (Hn : (6 <= n)%nat) by (apply (six n w); lra).
  pose proof (tokens_in n w H) as [P [L1 L2]]; [lia |]. pose proof r1_pos as R1. pose proof (power_pos w a).
  assert (0 < INR n) by (apply lt_0_INR; lia). pose proof (mu_pos d w). pose proof (mu_pos d (2 * w)).
  split.
  - pose proof (jensen_factor n w H HT) as F. assert (Hj : (1 <= n)%nat) by lia.
    pose proof (jensen n w Hj) as J.
    apply Rle_trans with (2 := J ltac:(lra)).
    replace (INR n * mu d (2 * w) / (1 + INR n * mu d w) ^ 2)
      with (/ tokens d n w / (1 + 1 / (INR n * mu d w)) ^ 2)
      by (unfold tokens; assert (0 < INR n * mu d w) by pos; field; repeat split; lra).
    apply Rle_trans with ((r1 / (1 + 1 / y) ^ 2) * Rpower w a / INR n).
    { unfold Rdiv. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra |].
      apply Rmult_le_compat_r; [lra |]. apply c1_le. }
    replace (r1 / (1 + 1 / y) ^ 2 * Rpower w a / INR n)
      with ((r1 * Rpower w a / INR n) * / (1 + 1 / y) ^ 2) by (unfold Rdiv; ring).
    unfold Rdiv at 2. apply Rmult_le_compat; [| | exact L1 |].
    + left. pos.
    + apply Rlt_le, Rinv_0_lt_compat. lra.
    + apply Rinv_le_contravar; lra.
  - pose proof (laplace n w T m T_6 m_in ltac:(lra) HT) as J.
    assert (C : tokens d n w * cut (tokens d n w) <= T * cut T) by (apply cut_times_falls; lra).
    pose proof (kernel_nonneg 1 1 T) as K. simpl (INR 1) in K.
    assert (K1 : 0 <= kernel 1 1 T m) by (apply K; lra).
    apply Rle_trans with (/ tokens d n w * (kernel 1 1 T m + 2 * T * cut T)).
    { apply Rle_trans with (1 := J). apply Rmult_le_reg_l with (tokens d n w); [lra |].
      replace (tokens d n w * (kernel 1 1 T m / tokens d n w + 2 * cut (tokens d n w)))
        with (kernel 1 1 T m + 2 * (tokens d n w * cut (tokens d n w))) by (field; lra).
      replace (tokens d n w * (/ tokens d n w * (kernel 1 1 T m + 2 * T * cut T)))
        with (kernel 1 1 T m + 2 * (T * cut T)) by (field; lra). lra. }
    assert (0 < cut T) by apply exp_pos.
    apply Rle_trans with (/ tokens d n w * (J1 + 2 * T * cut T)).
    { apply Rmult_le_compat_l; [left; pos | lra]. }
    apply Rle_trans with (r2 * Rpower w a / INR n * (J1 + 2 * T * cut T)).
    { apply Rmult_le_compat_r; [assert (0 <= T * cut T) by (left; pos); lra | exact L2]. }
    unfold Rdiv. replace (r2 * Rpower w a * / INR n * (J1 + 2 * T * cut T))
      with (r2 * (J1 + 2 * T * cut T) * (Rpower w a * / INR n)) by ring.
    rewrite (Rmult_assoc c2). apply Rmult_le_compat_r; [| lra].
    left. pos.
Qed.

(* Averages over the tokens in a window, by induction on their number. *)
Section Spread.
Variables (p H mean : R) (average : R -> R).
Hypotheses (p_pos : 0 <= p) (H_pos : 0 < H) (mean_pos : 0 <= mean).
Hypothesis average_le : forall w, u <= w -> average w <= mean * Rpower w (- p).
Hypothesis spread : Laplace_spread d V p average.
Hypothesis falls : Chebyshev_spread V p.
Definition stretch : R := Rpower (2 * r2 / r1) (p / a).
Hypothesis H_ge : stretch * (mean * J0 + Rpower (2 * u) p) <= H * (1 - 2 * cut T * stretch).

Lemma r1_le_r2 : r1 <= r2.
Proof. pose proof (ratio_in u (Rle_refl u)). lra. Qed.

Lemma spread_at n w : u <= w -> T <= tokens d n w -> V p n w <= mean * Rpower w (- p) * J0
  + 2 * cut T * V p (half n) w.
Proof.
  intros Hw HT. assert (Hn : (6 <= n)%nat) by (apply (six n w); lra).
  pose proof (spread n w T m T_6 m_in ltac:(lra) HT) as S.
  pose proof (cut_falls _ _ HT) as C. destruct (half_le n) as [_ h1]; [lia |].
  destruct (falls (half n) w w h1) as [_ [v0 _]]; [lra |]. pose proof (average_le w Hw) as A.
  assert (K : 0 <= kernel 0 1 T m) by (apply kernel_nonneg; simpl; lra).
  pose proof (power_pos w (- p)).
  assert (M : 0 <= mean * Rpower w (- p)) by (apply Rmult_le_pos; lra).
  pose proof (Rmult_le_compat_l _ _ _ K A). pose proof (Rmult_le_compat_r _ _ _ M J0_ge).
  pose proof (Rmult_le_compat_r _ _ _ v0 C). lra.
Qed.

Lemma spread_half n : forall w, u <= w -> T <= tokens d n w -> V p (half n) w <= H * Rpower w (- p).
Proof.
  induction n as [n IH] using lt_wf_ind. intros w Hw HT.
  assert (Hn : (6 <= n)%nat) by (apply (six n w); lra). destruct (half_le n) as [h0 h1]; [lia |].
  pose proof r1_pos as R1. pose proof r1_le_r2 as R2.
  set (s := r1 / (2 * r2)). assert (s_pos : 0 < s) by (apply Rdiv_lt_0_compat; lra).
  assert (s_le : s <= 1). { apply Rmult_le_reg_r with (2 * r2); [lra |]. unfold s, Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  set (f := Rpower s (1 / a)). assert (f_pos : 0 < f) by apply power_pos.
  assert (ia : 0 < / a) by (apply Rinv_0_lt_compat; lra).
  assert (f_le : f <= 1).
  { unfold f. replace 1 with (Rpower 1 (1 / a)) at 2 by (unfold Rpower; rewrite ln_1, Rmult_0_r; apply exp_0).
    apply power_le; [lra |]. unfold Rdiv; lra. }
  assert (fa : Rpower f a = s). { unfold f. rewrite Rpower_mult. replace (1 / a * a) with 1 by (field; lra). now apply Rpower_1. }
  assert (fp : Rpower f (- p) = stretch).
  { unfold f, stretch. rewrite Rpower_mult. replace (2 * r2 / r1) with (/ s) by (unfold s; field; lra).
    replace (1 / a * - p) with (- (p / a)) by (field; lra).
    unfold Rpower. rewrite ln_Rinv by lra. f_equal. ring. }
  assert (SP : 0 < stretch) by (rewrite <- fp; apply power_pos).
  assert (CP : 0 < cut T) by apply exp_pos.
  set (v := f * w). assert (v_le : v <= w) by (unfold v; rewrite <- (Rmult_1_l w) at 2; apply Rmult_le_compat_r; lra).
  assert (v_pos : 0 < v) by (unfold v; apply Rmult_lt_0_compat; lra).
  destruct (falls (half n) v w h1) as [F [_ F2]]; [lra |].
  assert (vp : Rpower v (- p) = stretch * Rpower w (- p)) by (unfold v; rewrite <- Rpower_mult_distr, fp; lra).
  pose proof (power_pos w (- p)) as WP. pose proof (power_pos (2 * u) p) as UP.
  apply Rle_trans with (1 := F).
  assert (J : 0 <= J0) by (pose proof (kernel_nonneg 0 1 T); simpl INR in *; lra).
  assert (room : stretch * (mean * J0 + Rpower (2 * u) p) + 2 * cut T * stretch * H <= H) by lra.
  destruct (Rle_lt_dec u v) as [Huv | Huv].
  - assert (HT2 : T <= tokens d (half n) v).
    { pose proof (tokens_in n w Hw) as [P0 [P1 _]]; [lia |].
      pose proof (tokens_in (half n) v Huv h1) as [Q0 [_ Q2]].
      apply Rle_trans with (1 := HT). rewrite <- (Rinv_inv (tokens d n w)), <- (Rinv_inv (tokens d (half n) v)).
      apply Rinv_le_contravar; [apply Rinv_0_lt_compat; lra |].
      apply Rle_trans with (1 := Q2). apply Rle_trans with (2 := P1).
      unfold v. rewrite <- Rpower_mult_distr, fa by lra. unfold s.
      pose proof (half_ge n). assert (0 < INR n) by (apply lt_0_INR; lia).
      assert (0 < INR (half n)) by (apply lt_0_INR; lia). pose proof (power_pos w a).
      replace (r2 * (r1 / (2 * r2) * Rpower w a) / INR (half n)) with (r1 * Rpower w a * / (2 * INR (half n)))
        by (field; lra).
      apply Rmult_le_compat_l; [left; pos |]. apply Rinv_le_contravar; lra. }
    pose proof (IH (half n) h0 v Huv HT2) as I. pose proof (spread_at (half n) v Huv HT2) as S.
    rewrite vp in S, I.
    apply Rle_trans with (1 := S).
    apply Rle_trans with (stretch * (mean * J0) * Rpower w (- p) + 2 * cut T * (H * (stretch * Rpower w (- p)))).
    { pose proof (Rmult_le_compat_l (2 * cut T) _ _ ltac:(lra) I). lra. }
    pose proof (Rmult_le_compat_r _ _ _ (Rlt_le _ _ WP) room).
    assert (0 <= stretch * Rpower (2 * u) p * Rpower w (- p)) by (left; pos). lra.
  - apply Rle_trans with (1 := F2).
    apply Rle_trans with (stretch * Rpower (2 * u) p * Rpower w (- p)).
    + replace (stretch * Rpower (2 * u) p * Rpower w (- p)) with (Rpower (2 * u) p * Rpower v (- p)) by (rewrite vp; ring).
      rewrite <- Rpower_mult_distr, Rmult_assoc by lra. pose proof (power_pos 2 p).
      apply Rle_trans with (Rpower 2 p * 1); [lra |]. apply Rmult_le_compat_l; [lra |].
      replace 1 with (Rpower u p * Rpower u (- p))
        by (rewrite <- Rpower_plus, Rplus_opp_r; apply Rpower_O; lra).
      apply Rmult_le_compat_l; [left; apply power_pos | apply power_fall; lra].
    + assert (0 <= stretch * (mean * J0)) by (repeat apply Rmult_le_pos; lra).
      assert (0 <= 2 * cut T * stretch * H) by (repeat apply Rmult_le_pos; lra).
      apply Rmult_le_compat_r; lra.
Qed.
End Spread.

(* The bias of smooth laws. *)
Section Smooth.
Variables (S0 S1 S2 H1 H2 b1 b2 s : R).
Hypotheses (S0_nonneg : 0 <= S0) (S1_nonneg : 0 <= S1) (S2_nonneg : 0 <= S2) (H1_pos : 0 < H1) (H2_pos : 0 < H2).
Hypotheses (d_a : (2 <= d)%nat /\ a = (INR d - 1) / 2) (jensen_b : Jensen_bias d B S1 S2) (laplace_b : Laplace_bias d B V S0 S1).
Hypotheses (spread_1 : Laplace_spread d V 1 (fun w => deficit d w / w)) (spread_2 : Laplace_spread d V 2 (second d)).
Hypotheses (falls_1 : Chebyshev_spread V 1) (falls_2 : Chebyshev_spread V 2).
Definition x2 : R := 2 * g2 + 2 * a * D2.
Hypothesis x2_nonneg : 0 <= x2.
Hypothesis H1_ge : stretch 1 * (D2 * J0 + Rpower (2 * u) 1) <= H1 * (1 - 2 * cut T * stretch 1).
Hypothesis H2_ge : stretch 2 * (x2 * J0 + Rpower (2 * u) 2) <= H2 * (1 - 2 * cut T * stretch 2).
Hypothesis b1_le : b1 <= (S1 * D1 ^ 2 - S2 * D2 * x2 / u) / (1 + 1 / y) ^ 2.
Hypothesis b1_pos : 0 < b1.
Hypothesis b2_ge : S1 * (D2 ^ 2 * J2 + 5 * cut T * H2) <= b2.
Hypothesis s_ge : S0 * r2 * (D2 * J1 + 4 * T * cut T * H1) <= s.

Lemma second_le w : u <= w -> second d w <= x2 * / w ^ 2.
Proof.
  intros H. destruct d_a as [d2 E]. rewrite second_moment by (assumption || lra). rewrite <- E.
  replace (INR d - 1) with (2 * a) by lra. pose proof (deficit_in w H) as [_ I]. pose proof (tilt w H) as [_ I2].
  unfold Rdiv. apply Rmult_le_compat_r; [left; pos |]. unfold x2.
  assert (a * deficit d w <= a * D2) by (apply Rmult_le_compat_l; lra).
  assert (w * (deficit d w - a) <= g2); [| lra].
  apply Rle_trans with (w * (g2 / w)); [apply Rmult_le_compat_l; lra | right; field; lra].
Qed.

Lemma bias_low n w v : 0 <= w <= v -> u <= v -> T <= tokens d n v -> b1 * / v ^ 2 <= B n w.
Proof.
  intros Hw Hv HT. assert (Hn : (6 <= n)%nat) by (apply (six n v); lra).
  assert (Hj : (1 <= n)%nat) by lia. apply Rle_trans with (2 := jensen_b n w v Hj Hw ltac:(lra)).
  pose proof (deficit_in v Hv) as [I1 I2]. pose proof (second_le v Hv) as M. pose proof (jensen_factor n v Hv HT) as F.
  set (D := deficit d v) in *. clearbody D. set (Y := S1 * D1 ^ 2 - S2 * D2 * x2 / u) in *.
  assert (iv : / v <= / u) by (apply Rinv_le_contravar; lra). assert (0 < / v) by pos.
  assert (q : 0 < / v ^ 2) by pos.
  assert (A : Y * / v ^ 2 <= S1 * (D / v) ^ 2 - S2 * (D / v) * second d v).
  { assert (S1 * D1 ^ 2 <= S1 * D ^ 2) by (apply Rmult_le_compat_l; [lra | apply pow_incr; lra]).
    assert (S2 * (D / v) * second d v <= S2 * D2 * x2 / u * / v ^ 2).
    { apply Rle_trans with (S2 * (D / v) * (x2 * / v ^ 2)).
      - apply Rmult_le_compat_l; [| lra]. unfold Rdiv. repeat apply Rmult_le_pos; lra.
      - replace (S2 * D2 * x2 / u * / v ^ 2) with (S2 * (D2 * / u) * (x2 * / v ^ 2)) by (unfold Rdiv; ring).
        apply Rmult_le_compat_r; [apply Rmult_le_pos; lra |]. apply Rmult_le_compat_l; [lra |].
        unfold Rdiv. apply Rmult_le_compat; lra. }
    unfold Y. replace (S1 * (D / v) ^ 2) with (S1 * D ^ 2 * / v ^ 2) by (field; lra).
    assert (S1 * D1 ^ 2 * / v ^ 2 <= S1 * D ^ 2 * / v ^ 2) by (apply Rmult_le_compat_r; lra). lra. }
  assert (P : 0 < (1 + 1 / y) ^ 2) by lra.
  assert (YB : b1 * (1 + 1 / y) ^ 2 <= Y).
  { apply Rle_trans with (Y / (1 + 1 / y) ^ 2 * (1 + 1 / y) ^ 2); [apply Rmult_le_compat_r; lra | right; field; lra]. }
  set (G := (1 + 1 / (INR n * mu d v)) ^ 2) in *. set (X := S1 * (D / v) ^ 2 - S2 * (D / v) * second d v) in *.
  apply Rmult_le_reg_r with G; [lra |]. replace (X / G * G) with X by (field; lra).
  apply Rle_trans with (2 := A). apply Rle_trans with (b1 * / v ^ 2 * (1 + 1 / y) ^ 2).
  - apply Rmult_le_compat_l; [left; pos | lra].
  - replace (b1 * / v ^ 2 * (1 + 1 / y) ^ 2) with (b1 * (1 + 1 / y) ^ 2 * / v ^ 2) by ring.
    apply Rmult_le_compat_r; lra.
Qed.

Lemma rest_high n w : u <= w -> T <= tokens d n w ->
  S1 * (kernel 1 2 T m * (deficit d w / w) ^ 2 + 5 * cut (tokens d n w) * V 2 (half n) w)
    + S0 * (kernel 1 1 T m * (deficit d (2 * w) / w) / tokens d n w + 4 * cut (tokens d n w) * V 1 (half n) w)
  <= b2 * / w ^ 2 + s * Rpower w (a - 1) / INR n.
Proof.
  intros H HT. assert (Hn : (6 <= n)%nat) by (apply (six n w); lra).
  pose proof (tokens_in n w H) as [P [_ L]]; [lia |]. pose proof (deficit_in w H) as [I1 I2].
  assert (Hw2 : u <= 2 * w) by lra. pose proof (deficit_in (2 * w) Hw2) as [_ I3].
  assert (pw1 : Rpower w (- (1)) = / w) by (rewrite Rpower_Ropp, Rpower_1; lra).
  pose proof (power_two w ltac:(lra)) as pw2.
  assert (V1 : V 1 (half n) w <= H1 * / w).
  { rewrite <- pw1. apply (spread_half 1 H1 D2 (fun w => deficit d w / w)); auto; try lra.
    intros v Hv. replace (Rpower v (- (1))) with (/ v) by (rewrite Rpower_Ropp, Rpower_1; lra).
    apply Rmult_le_compat_r; [left; pos | apply deficit_in; assumption]. }
  assert (V2 : V 2 (half n) w <= H2 * / w ^ 2).
  { rewrite <- pw2. apply (spread_half 2 H2 x2 (second d)); auto; try lra.
    intros v Hv. rewrite power_two by lra. now apply second_le. }
  pose proof (cut_falls _ _ HT) as C. assert (C0 : 0 < cut (tokens d n w)) by apply exp_pos.
  assert (C1 : tokens d n w * cut (tokens d n w) <= T * cut T) by (apply cut_times_falls; lra).
  set (t := tokens d n w) in *. set (D := deficit d w) in *. set (E := deficit d (2 * w)) in *.
  clearbody t D E.
  assert (iw : 0 < / w) by pos. assert (q : 0 < / w ^ 2) by pos.
  assert (K1 : 0 <= kernel 1 1 T m) by (apply kernel_nonneg; simpl; lra).
  assert (K2 : 0 <= kernel 1 2 T m) by (apply kernel_nonneg; simpl; lra).
  assert (n_pos : 0 < INR n) by (apply lt_0_INR; lia). pose proof r1_pos. pose proof r1_le_r2.
  assert (A : S1 * (kernel 1 2 T m * (D / w) ^ 2 + 5 * cut t * V 2 (half n) w) <= b2 * / w ^ 2).
  { apply Rle_trans with (S1 * (D2 ^ 2 * J2 + 5 * cut T * H2) * / w ^ 2); [| apply Rmult_le_compat_r; lra].
    rewrite (Rmult_assoc S1 _ (/ w ^ 2)). apply Rmult_le_compat_l; [lra |].
    assert (kernel 1 2 T m * (D / w) ^ 2 <= D2 ^ 2 * J2 * / w ^ 2).
    { replace ((D / w) ^ 2) with (D ^ 2 * / w ^ 2) by (field; lra). rewrite <- Rmult_assoc.
      apply Rmult_le_compat_r; [lra |]. rewrite Rmult_comm.
      apply Rmult_le_compat; [apply pow_le; lra | lra | apply pow_incr; lra | lra]. }
    assert (cut t * V 2 (half n) w <= cut T * (H2 * / w ^ 2)); [| lra].
    apply Rle_trans with (cut t * (H2 * / w ^ 2)); [apply Rmult_le_compat_l; lra |].
    apply Rmult_le_compat_r; [left; pos | lra]. }
  assert (pa : Rpower w (a - 1) = Rpower w a * / w) by (unfold Rminus; rewrite Rpower_plus, pw1; lra).
  assert (G : S0 * (kernel 1 1 T m * (E / w) / t + 4 * cut t * V 1 (half n) w) <= s * Rpower w (a - 1) / INR n).
  { rewrite pa. apply Rle_trans with (S0 * r2 * (D2 * J1 + 4 * T * cut T * H1) * (Rpower w a * / w) / INR n).
    2: { unfold Rdiv. pose proof (power_pos w a). apply Rmult_le_compat_r; [left; pos |].
         apply Rmult_le_compat_r; [left; pos | lra]. }
    assert (it : 0 < / t) by pos.
    apply Rle_trans with (S0 * ((D2 * J1 + 4 * T * cut T * H1) * / w * / t)).
    - apply Rmult_le_compat_l; [lra |].
      assert (kernel 1 1 T m * (E / w) / t <= D2 * J1 * / w * / t).
      { unfold Rdiv. rewrite <- (Rmult_assoc _ E). apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_r; [lra |].
        apply Rle_trans with (kernel 1 1 T m * D2); [apply Rmult_le_compat_l; lra |].
        rewrite Rmult_comm. apply Rmult_le_compat_l; lra. }
      assert (cut t * V 1 (half n) w <= T * cut T * / t * (H1 * / w)); [| lra].
      apply Rle_trans with (cut t * (H1 * / w)); [apply Rmult_le_compat_l; lra |].
      apply Rmult_le_compat_r; [left; pos |].
      apply Rmult_le_reg_l with t; [lra |]. replace (t * (T * cut T * / t)) with (T * cut T) by (field; lra). lra.
    - replace (S0 * r2 * (D2 * J1 + 4 * T * cut T * H1) * (Rpower w a * / w) / INR n)
        with (S0 * ((D2 * J1 + 4 * T * cut T * H1) * / w * (r2 * Rpower w a / INR n))) by (unfold Rdiv; ring).
      apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat_l; [| lra].
      assert (0 < cut T) by apply exp_pos. assert (0 <= D2 * J1) by (apply Rmult_le_pos; lra).
      assert (0 < T * cut T * H1) by pos. apply Rmult_le_pos; lra. }
  lra.
Qed.

Lemma bias_high n w : u <= w -> T <= tokens d n w ->
  B n w <= b2 * / w ^ 2 + s * Rpower w (a - 1) / INR n.
Proof. intros H HT. apply Rle_trans with (1 := laplace_b n w T m T_6 m_in ltac:(lra) HT). now apply rest_high. Qed.

Lemma smooth_between : Between d N B a 2 u T c1 c2 b1 0 b2 0 s.
Proof.
  intros n w H HT. split; [now apply noise_in |]. rewrite power_two by lra. split.
  - pose proof (bias_low n w w ltac:(lra) H HT). lra.
  - pose proof (bias_high n w H HT). lra.
Qed.

Lemma smooth_left beta n W w W0 l2 : 0 <= beta -> 0 < W0 <= W -> T <= tokens d n u -> 0 <= w <= u ->
  l2 < b1 * / u ^ 2 * Rpower W0 beta -> l2 < Rpower W beta * B n w.
Proof.
  intros Hb HW HT Hw H. apply Rlt_le_trans with (1 := H). pose proof (bias_low n w u Hw (Rle_refl u) HT) as L.
  assert (P : Rpower W0 beta <= Rpower W beta) by (apply power_le; lra). pose proof (power_pos W0 beta).
  assert (0 < b1 * / u ^ 2) by pos. rewrite (Rmult_comm (Rpower W beta)). apply Rmult_le_compat; lra.
Qed.
End Smooth.

(* The bias of laws with a kink. *)
Lemma second_pos w : 0 < second d w.
Proof.
  apply Rdiv_lt_0_compat; [| apply weight_pos]. apply RInt_gt_0; [apply PI_RGT_0 | |].
  - intros x Hx. apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [apply pow_lt | apply exp_pos] |].
    + pose proof (cos_decreasing_1 0 x). rewrite cos_0 in *. lra.
    + apply pow_lt, sin_gt_0; lra.
  - intros x _. apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. trivial.
Qed.

(* w^p e^(-w/2) falls from 2p on. *)
Lemma power_exp_falls p v w : 0 < v <= w -> 0 <= p -> 2 * p <= v ->
  Rpower w p * exp (- w / 2) <= Rpower v p * exp (- v / 2).
Proof.
  intros Hv Hp Hpv. unfold Rpower. rewrite <- !exp_plus. apply exp_le.
  assert (E : ln w = ln v + ln (w / v)) by (rewrite <- ln_mult by (try lra; pos); f_equal; field; lra).
  assert (L : ln (w / v) <= (w - v) / v).
  { pose proof (exp_ineq1_le (ln (w / v))) as I. rewrite exp_ln in I by pos.
    replace ((w - v) / v) with (w / v - 1) by (field; lra). lra. }
  apply (Rmult_le_compat_l p) in L; [| assumption].
  assert (p * ((w - v) / v) <= (w - v) / 2); [| rewrite E; lra].
  replace (p * ((w - v) / v)) with ((w - v) * (p * / v)) by (field; lra).
  apply Rmult_le_compat_l; [lra |]. apply Rmult_le_reg_r with v; [lra |].
  rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Section Kinked.
Variables (linear kinked : R) (G1 G2 : R -> R) (C1 C2 : nat -> R -> R).
Variables (H1 H3 H2 M G_low G_high G_mean b1 bp b2 bn s : R).
Hypotheses (linear_nonneg : 0 <= linear) (kinked_nonneg : 0 <= kinked) (H1_pos : 0 < H1) (H3_pos : 0 < H3) (H2_pos : 0 < H2).
Hypotheses (d_a : (2 <= d)%nat /\ a = (INR d - 1) / 2) (u_ge : 2 * a + 3 <= u).
Hypotheses (crossed : Crossed a V C2) (jensen_k : Jensen_kink d a B V linear kinked G2 C1)
  (laplace_c : Laplace_crossed d a G1 C1 C2) (laplace_k : Laplace_kink d a B V linear kinked G2 C2)
  (kink_norm : Kink_norm d a c G1 G2).
Hypotheses (spread_1 : Laplace_spread d V 1 (fun w => deficit d w / w)) (spread_2 : Laplace_spread d V 2 (second d))
  (spread_3 : Laplace_spread d V (3 / 2) (fun w => Rpower (second d w) (3 / 4))).
Hypotheses (falls_1 : Chebyshev_spread V 1) (falls_2 : Chebyshev_spread V 2) (falls_3 : Chebyshev_spread V (3 / 2)).
Hypothesis x2_pos : 0 < x2.
Hypothesis H1_ge : stretch 1 * (D2 * J0 + Rpower (2 * u) 1) <= H1 * (1 - 2 * cut T * stretch 1).
Hypothesis H3_ge : stretch (3 / 2) * (Rpower x2 (3 / 4) * J0 + Rpower (2 * u) (3 / 2)) <= H3 * (1 - 2 * cut T * stretch (3 / 2)).
Hypothesis H2_ge : stretch 2 * (x2 * J0 + Rpower (2 * u) 2) <= H2 * (1 - 2 * cut T * stretch 2).
Hypothesis M_ge : D2 * J0 + 2 * cut T * (stretch 1 * (D2 * J0 + Rpower (2 * u) 1) / (1 - 2 * cut T * stretch 1)) <= M.
Hypotheses (G_low_pos : 0 < G_low) (G_low_le : G_low * z2 <= norm_low d a c (/ u)).
Hypotheses (G_high_ge : norm_high d a c u <= G_high * z1) (G_mean_ge : mean_high d a c u <= G_mean * z1).
Definition beyond : R := sqrt 8 * PI ^ 2 / (3 * (2 * a + 1)) * H3.
Hypothesis b1_le : b1 <= kinked * (G_low ^ 2 / (1 + 1 / y) ^ 2
  - 2 * M * (J0 * G_mean / u + 2 * cut T * sqrt (beyond / (2 * a + 1)) / Rpower u (1 / 4))).
Hypothesis bp_le : bp <= (linear + kinked) * D1 ^ 2 / ((2 * a + 1) * (1 + 1 / y) ^ 2).
Hypothesis b2_ge : kinked * (G_high ^ 2 * J2 + 5 * cut T * beyond) <= b2.
Hypothesis bn_ge : (linear + kinked) / (2 * a + 1) * (D2 ^ 2 * J2 + 5 * cut T * H2) <= bn.
Hypothesis s_ge : (linear + kinked) / (2 * a + 1) * r2 * (D2 * J1 + 4 * T * cut T * H1) <= s.

Lemma next_nonneg : 0 <= next_norm d a c.
Proof.
  unfold next_norm. apply Rplus_le_le_0_compat; [apply sqrt_pos |]. destruct (d - 2)%nat; [apply sqrt_pos | lra].
Qed.

(* Both parts of the remainder fall in w, w^(3/4) times them too. *)
Lemma rest_falls w p : u <= w -> 0 <= p <= 3 / 4 ->
  Rpower w p * (next_norm d a c / w + 2 * Rpower w (a + 3 / 4) * exp (- w / 2) / c)
  <= Rpower u p * (next_norm d a c / u + 2 * Rpower u (a + 3 / 4) * exp (- u / 2) / c).
Proof.
  intros Hw Hp. pose proof next_nonneg.
  assert (A : forall v, 0 < v -> Rpower v p * (next_norm d a c / v + 2 * Rpower v (a + 3 / 4) * exp (- v / 2) / c)
    = next_norm d a c * Rpower v (p - 1) + 2 / c * (Rpower v (p + (a + 3 / 4)) * exp (- v / 2))).
  { intros v Hv. unfold Rminus. rewrite (Rpower_plus p (a + 3 / 4)), (Rpower_plus p (- (1))), Rpower_Ropp, Rpower_1
      by assumption. field. lra. }
  rewrite !A by lra. apply Rplus_le_compat; apply Rmult_le_compat_l; try (left; pos; fail); try lra.
  - apply power_fall; lra.
  - apply power_exp_falls; lra.
Qed.

Lemma peak_pos : 0 < peak d c.
Proof. apply Rdiv_lt_0_compat; [pos |]. apply IZR_lt. pose proof (lt_O_fact (d - 2)). lia. Qed.

Lemma G_mean_nonneg : 0 <= G_mean /\ 0 < z1.
Proof.
  assert (z1_pos : 0 < z1) by apply exp_pos. split; [| assumption]. apply Rmult_le_reg_r with z1; [assumption |].
  rewrite Rmult_0_l. apply Rle_trans with (2 := G_mean_ge). pose proof peak_pos. pose proof next_nonneg.
  pose proof PI_RGT_0. unfold mean_high. apply Rplus_le_le_0_compat.
  - left. apply Rdiv_lt_0_compat; [lra |]. apply Rmult_lt_0_compat; [lra | apply sqrt_lt_R0; lra].
  - apply Rmult_le_pos; [| left; apply Rinv_0_lt_compat, sqrt_lt_R0; lra]. apply Rmult_le_pos; [left; apply power_pos |].
    apply Rplus_le_le_0_compat; [apply Rmult_le_pos; [assumption | left; pos] |].
    left. apply Rdiv_lt_0_compat; [| lra]. repeat apply Rmult_lt_0_compat; try lra; apply exp_pos.
Qed.

Lemma z_in w : u <= w -> 0 < z1 /\ z1 <= Rpower w a * mu d w / c <= z2.
Proof.
  intros H. pose proof (moment_in w H) as [L1 L2]. pose proof (share g1 w H) as [S1 _]. pose proof (share g2 w H) as [_ S2].
  apply exp_le in S1. apply exp_le in S2. fold z1 in S1. fold z2 in S2. split; [apply exp_pos |].
  assert (E : forall q, c * q / c = q) by (intros; field; lra).
  split; [rewrite <- (E z1) | rewrite <- (E z2)]; (apply Rmult_le_compat_r; [left; pos |]).
  - apply Rle_trans with (2 := L1). apply Rmult_le_compat_l; lra.
  - apply Rle_trans with (1 := L2). apply Rmult_le_compat_l; lra.
Qed.

Lemma kink_in w : u <= w -> 0 <= G2 w /\ G_low ^ 2 * Rpower w (- (3 / 2)) <= G2 w <= G_high ^ 2 * Rpower w (- (3 / 2))
  /\ G1 w <= G_mean * Rpower w (- (3 / 2)).
Proof.
  intros H. destruct (kink_norm w ltac:(lra)) as [N0 [[N1 N2] N3]]. destruct (z_in w H) as [Z0 [Z1 Z2]].
  set (Z := Rpower w a * mu d w / c) in *. set (g := Rpower w (3 / 4) * sqrt (G2 w)) in *.
  pose proof (power_pos w (3 / 4)) as P. pose proof (power_pos w (3 / 2)) as P3. pose proof (sqrt_pos (G2 w)) as Q.
  assert (g0 : 0 <= g) by (apply Rmult_le_pos; lra).
  assert (pp : Rpower w (3 / 4) * Rpower w (3 / 4) = Rpower w (3 / 2)) by (rewrite <- Rpower_plus; f_equal; field).
  assert (gg : g ^ 2 = Rpower w (3 / 2) * G2 w).
  { unfold g. replace ((Rpower w (3 / 4) * sqrt (G2 w)) ^ 2)
      with (Rpower w (3 / 4) * Rpower w (3 / 4) * (sqrt (G2 w) * sqrt (G2 w))) by ring. now rewrite pp, sqrt_sqrt. }
  assert (iw : 0 < / w <= / u) by (split; [apply Rinv_0_lt_compat | apply Rinv_le_contravar]; lra).
  assert (L : G_low <= g).
  { apply Rmult_le_reg_r with z2; [lra |]. apply Rle_trans with (1 := G_low_le).
    apply Rle_trans with (norm_low d a c (/ w)).
    2: { apply Rle_trans with (1 := N1). rewrite (Rmult_comm g). apply Rmult_le_compat_r; lra. }
    unfold norm_low. unfold Rminus at 1 4. apply Rplus_le_compat.
    - apply sqrt_le_1_alt. apply Rmult_le_compat_l.
      + pose proof peak_pos. lra.
      + assert (0 <= psi_2 * (/ u - / w) * (a + 3 / 2)); [| lra].
        repeat apply Rmult_le_pos; try lra. unfold psi_2, qq, fq, ff. interval with (i_prec 64).
    - apply Ropp_le_contravar, Rmult_le_compat_l; [apply sqrt_pos | lra]. }
  assert (U : g <= G_high).
  { apply Rmult_le_reg_r with z1; [lra |]. apply Rle_trans with (2 := G_high_ge).
    apply Rle_trans with (norm_high d a c w).
    { apply Rle_trans with (2 := N2). rewrite (Rmult_comm g). apply Rmult_le_compat_r; lra. }
    unfold norm_high. apply Rplus_le_compat_l. pose proof (rest_falls w 0 H ltac:(lra)) as R.
    rewrite !Rpower_O, !Rmult_1_l in R by lra. exact R. }
  assert (X : Rpower w (3 / 2) * G1 w <= G_mean).
  { pose proof G_mean_nonneg as [G0 _]. destruct (Rle_lt_dec (Rpower w (3 / 2) * G1 w) 0) as [X | X]; [lra |].
    apply Rmult_le_reg_r with z1; [lra |]. apply Rle_trans with (2 := G_mean_ge).
    apply Rle_trans with (mean_high d a c w).
    - apply Rle_trans with (2 := N3). rewrite Rmult_comm. apply Rmult_le_compat_r; lra.
    - unfold mean_high. apply Rplus_le_compat_l, Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, sqrt_lt_R0; lra |].
      apply rest_falls; lra. }
  rewrite Rpower_Ropp. assert (S : forall q, q ^ 2 * / Rpower w (3 / 2) * Rpower w (3 / 2) = q ^ 2) by (intros; field; lra).
  split; [assumption |]. split.
  - split; apply Rmult_le_reg_r with (Rpower w (3 / 2)); try assumption; rewrite S, (Rmult_comm (G2 w)), <- gg;
      apply pow_incr; lra.
  - apply Rmult_le_reg_l with (Rpower w (3 / 2)); [assumption |].
    replace (Rpower w (3 / 2) * (G_mean * / Rpower w (3 / 2))) with G_mean by (field; lra). assumption.
Qed.

Lemma kinked_rest n w : u <= w -> T <= tokens d n w ->
  0 <= V 1 n w <= M * / w /\ 0 <= C2 (half n) w <= beyond * Rpower w (- (3 / 2)) /\
  (linear + kinked) / (2 * a + 1) * (kernel 1 2 T m * (deficit d w / w) ^ 2 + 5 * cut (tokens d n w) * V 2 (half n) w)
    + (linear + kinked) / (2 * a + 1)
      * (kernel 1 1 T m * (deficit d (2 * w) / w) / tokens d n w + 4 * cut (tokens d n w) * V 1 (half n) w)
  <= bn * / w ^ 2 + s * Rpower w (a - 1) / INR n.
Proof.
  intros H HT. assert (Hn : (6 <= n)%nat) by (apply (six n w); lra). destruct (half_le n) as [_ h1]; [lia |].
  assert (d_pos : 0 < 2 * a + 1) by lra.
  assert (S_pos : 0 <= (linear + kinked) / (2 * a + 1)) by (apply Rmult_le_pos; [lra | left; pos]).
  assert (J : 0 <= J0) by (pose proof (kernel_nonneg 0 1 T); simpl INR in *; lra).
  assert (pw1 : forall v, 0 < v -> Rpower v (- (1)) = / v) by (intros; rewrite Rpower_Ropp, Rpower_1; lra).
  assert (avg1 : forall v, u <= v -> deficit d v / v <= D2 * Rpower v (- (1))).
  { intros v Hv. rewrite pw1 by lra. apply Rmult_le_compat_r; [left; pos | apply deficit_in; assumption]. }
  assert (C0 : 0 < cut T) by apply exp_pos. assert (Sp : 0 < stretch 1) by apply power_pos.
  split; [| split].
  - split; [apply (falls_1 n w w); lia || lra |].
    set (room := 1 - 2 * cut T * stretch 1) in *. set (top := stretch 1 * (D2 * J0 + Rpower (2 * u) 1)) in *.
    assert (top_pos : 0 < top).
    { unfold top. apply Rmult_lt_0_compat; [assumption |]. pose proof (power_pos (2 * u) 1).
      assert (0 <= D2 * J0) by (apply Rmult_le_pos; [pose proof (deficit_in u (Rle_refl u)) |]; lra). lra. }
    assert (room_pos : 0 < room).
    { apply Rnot_le_lt. intros R. assert (H1 * room <= H1 * 0) by (apply Rmult_le_compat_l; lra). lra. }
    assert (V1 : V 1 (half n) w <= top / room * Rpower w (- (1))).
    { apply (spread_half 1 (top / room) D2 (fun w => deficit d w / w)); auto; try lra.
      - apply Rdiv_lt_0_compat; assumption.
      - pose proof (deficit_in u (Rle_refl u)). lra.
      - fold top. fold room. right. field. lra. }
    pose proof (spread_at 1 D2 (fun w => deficit d w / w) ltac:(pose proof (deficit_in u (Rle_refl u)); lra)
      avg1 spread_1 falls_1 n w H HT) as A. rewrite pw1 in A, V1 by lra.
    apply Rle_trans with (1 := A). apply Rle_trans with ((D2 * J0 + 2 * cut T * (top / room)) * / w).
    + apply (Rmult_le_compat_l (2 * cut T)) in V1; lra.
    + apply Rmult_le_compat_r; [left; pos | assumption].
  - destruct (crossed (half n) w h1 ltac:(lra)) as [X0 X1]. split; [assumption |]. apply Rle_trans with (1 := X1).
    unfold beyond. rewrite (Rmult_assoc _ H3). apply Rmult_le_compat_l.
    + apply Rmult_le_pos; [apply Rmult_le_pos; [apply sqrt_pos | apply pow2_ge_0] | left; pos].
    + apply (spread_half (3 / 2) H3 (Rpower x2 (3 / 4)) (fun w => Rpower (second d w) (3 / 4))); auto; try lra.
      * left. apply power_pos.
      * intros v Hv. pose proof (second_le d_a v Hv) as I. pose proof (second_pos v) as P.
        apply Rle_trans with (Rpower (x2 * / v ^ 2) (3 / 4)); [apply power_le; lra |].
        rewrite <- (power_two v) by lra. rewrite <- Rpower_mult_distr by (try apply power_pos; assumption).
        rewrite Rpower_mult. right. f_equal. f_equal. field.
  - apply (rest_high ((linear + kinked) / (2 * a + 1)) ((linear + kinked) / (2 * a + 1)) H1 H2 bn s); auto; lra.
Qed.

Lemma kinked_low n w : u <= w -> T <= tokens d n w -> b1 * Rpower w (- (3 / 2)) + bp * Rpower w (- (2)) <= B n w.
Proof.
  intros H HT. assert (Hn : (6 <= n)%nat) by (apply (six n w); lra).
  destruct (kinked_rest n w H HT) as [[V0 V1] [[X0 X1] _]]. destruct (kink_in w H) as [N0 [[N1 N2] N3]].
  pose proof (jensen_k n w ltac:(lia) ltac:(lra)) as J. pose proof (jensen_factor n w H HT) as F.
  pose proof (laplace_c n w T m T_6 m_in ltac:(lra) HT) as L. pose proof (deficit_in w H) as [I1 I2].
  assert (J0p : 0 <= kernel 0 1 T m <= J0) by (split; [apply kernel_nonneg; simpl; lra | assumption]).
  pose proof (cut_falls _ _ HT) as C. assert (C0 : 0 < cut (tokens d n w)) by apply exp_pos.
  rewrite power_two by lra. set (p := Rpower w (- (3 / 2))) in *. assert (p_pos : 0 < p) by apply power_pos.
  set (F' := (1 + 1 / (INR n * mu d w)) ^ 2) in *. set (Y := (1 + 1 / y) ^ 2) in *. set (D := deficit d w) in *.
  set (t := tokens d n w) in *. clearbody t D. assert (iw : 0 < / w <= / u) by (split; [apply Rinv_0_lt_compat | apply Rinv_le_contravar]; lra).
  assert (q : 0 < / w ^ 2) by pos. assert (d_pos : 0 < 2 * a + 1) by lra.
  set (sq := sqrt (beyond / (2 * a + 1))) in *. assert (sq_pos : 0 <= sq) by apply sqrt_pos.
  assert (iF : / Y <= / F') by (apply Rinv_le_contravar; lra). assert (iY : 0 < / Y) by (apply Rinv_0_lt_compat; lra).
  set (r := Rpower w (- (3 / 4))). assert (r_pos : 0 < r) by apply power_pos.
  assert (rr : r * r = p) by (unfold r, p; rewrite <- Rpower_plus; f_equal; field).
  assert (id : 0 < / (2 * a + 1)) by (apply Rinv_0_lt_compat; lra).
  assert (B0 : 0 <= beyond) by (apply Rmult_le_reg_r with p; lra).
  assert (Bd : 0 <= beyond / (2 * a + 1)) by (apply Rmult_le_pos; lra).
  assert (Xs : sqrt (C2 (half n) w / (2 * a + 1)) <= sq * r).
  { apply Rle_trans with (sqrt (beyond / (2 * a + 1) * (r * r))).
    - apply sqrt_le_1_alt. rewrite rr. replace (beyond / (2 * a + 1) * p) with (beyond * p / (2 * a + 1)) by (field; lra).
      apply Rmult_le_compat_r; [left; pos | assumption].
    - rewrite sqrt_mult_alt, sqrt_square by (try apply Rmult_le_pos; lra). right; reflexivity. }
  pose proof G_mean_nonneg as [G0 _]. assert (Gp : 0 <= G_mean * p) by (apply Rmult_le_pos; lra).
  set (x := J0 * (G_mean * p) + 2 * cut T * (sq * r)). assert (cT : 0 < cut T) by apply exp_pos.
  assert (x0 : 0 <= x) by (unfold x; apply Rplus_le_le_0_compat; repeat apply Rmult_le_pos; lra).
  assert (C1x : C1 n w <= x).
  { apply Rle_trans with (1 := L). unfold x. apply Rplus_le_compat.
    - apply Rle_trans with (kernel 0 1 T m * (G_mean * p)); [apply Rmult_le_compat_l | apply Rmult_le_compat_r]; lra.
    - rewrite 2!Rmult_assoc. apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat; [lra | apply sqrt_pos | lra | assumption]. }
  set (X := J0 * G_mean / u + 2 * cut T * sq / Rpower u (1 / 4)) in *.
  assert (VC : V 1 n w * C1 n w <= M * X * p).
  { assert (M0 : 0 <= M) by (apply Rmult_le_reg_r with (/ w); lra).
    apply Rle_trans with (V 1 n w * x); [apply Rmult_le_compat_l; lra |].
    apply Rle_trans with (M * / w * x); [apply Rmult_le_compat_r; lra |].
    rewrite !Rmult_assoc. apply Rmult_le_compat_l; [assumption |]. unfold x, X.
    assert (rw : r * / w <= p * / Rpower u (1 / 4)).
    { replace (r * / w) with (p * / Rpower w (1 / 4)).
      - apply Rmult_le_compat_l; [lra |]. apply Rinv_le_contravar; [apply power_pos | apply power_le; lra].
      - rewrite <- (Rpower_Ropp w (1 / 4)). replace (/ w) with (Rpower w (- (1))) by (rewrite Rpower_Ropp, Rpower_1; lra).
        unfold p, r. rewrite <- !Rpower_plus. f_equal. field. }
    replace (/ w * (J0 * (G_mean * p) + 2 * cut T * (sq * r)))
      with (J0 * G_mean * p * / w + 2 * cut T * sq * (r * / w)) by ring.
    replace ((J0 * G_mean / u + 2 * cut T * sq / Rpower u (1 / 4)) * p)
      with (J0 * G_mean * p * / u + 2 * cut T * sq * (p * / Rpower u (1 / 4))) by (unfold Rdiv; ring).
    apply Rplus_le_compat; apply Rmult_le_compat_l; try lra; repeat apply Rmult_le_pos; lra. }
  apply Rle_trans with (2 := J). apply Rplus_le_compat.
  - apply Rle_trans with (kinked * (G_low ^ 2 / Y - 2 * M * X) * p); [apply Rmult_le_compat_r; lra |].
    rewrite Rmult_assoc. apply Rmult_le_compat_l; [assumption |].
    assert (G_low ^ 2 * p * / Y <= G2 w * / F').
    { apply Rmult_le_compat; try lra. apply Rmult_le_pos; [apply pow2_ge_0 | lra]. }
    replace ((G_low ^ 2 / Y - 2 * M * X) * p) with (G_low ^ 2 * p * / Y - 2 * (M * X * p)) by (unfold Rdiv; ring).
    unfold Rdiv. lra.
  - apply Rle_trans with ((linear + kinked) * D1 ^ 2 / ((2 * a + 1) * Y) * / w ^ 2); [apply Rmult_le_compat_r; lra |].
    replace ((linear + kinked) * D1 ^ 2 / ((2 * a + 1) * Y) * / w ^ 2)
      with ((linear + kinked) / (2 * a + 1) * (D1 ^ 2 * / w ^ 2) * / Y) by (field; lra).
    replace ((D / w) ^ 2) with (D ^ 2 * / w ^ 2) by (field; lra).
    assert (S_pos : 0 <= (linear + kinked) / (2 * a + 1)) by (apply Rmult_le_pos; [lra | left; pos]).
    assert (0 <= D1 ^ 2 * / w ^ 2) by (apply Rmult_le_pos; [apply pow2_ge_0 | lra]).
    apply Rmult_le_compat; [apply Rmult_le_pos; lra | lra | | assumption]. apply Rmult_le_compat_l; [assumption |].
    apply Rmult_le_compat_r; [lra | apply pow_incr; lra].
Qed.

Lemma kinked_between : Between d N B a (3 / 2) u T c1 c2 b1 bp b2 bn s.
Proof.
  intros n w H HT. split; [now apply noise_in |]. split; [now apply kinked_low |].
  destruct (kinked_rest n w H HT) as [_ [[X0 X1] R]]. destruct (kink_in w H) as [N0 [[_ N2] _]].
  pose proof (laplace_k n w T m T_6 m_in ltac:(lra) HT) as L. pose proof (cut_falls _ _ HT) as C.
  assert (C0 : 0 < cut (tokens d n w)) by apply exp_pos.
  assert (K2 : 0 <= kernel 1 2 T m) by (apply kernel_nonneg; simpl; lra).
  rewrite power_two by lra. set (p := Rpower w (- (3 / 2))) in *. assert (p_pos : 0 < p) by apply power_pos.
  assert (A : kinked * (kernel 1 2 T m * G2 w + 5 * cut (tokens d n w) * C2 (half n) w) <= b2 * p); [| lra].
  apply Rle_trans with (kinked * (G_high ^ 2 * J2 + 5 * cut T * beyond) * p); [| apply Rmult_le_compat_r; lra].
  rewrite (Rmult_assoc kinked). apply Rmult_le_compat_l; [assumption |].
  assert (kernel 1 2 T m * G2 w <= J2 * (G_high ^ 2 * p)) by (apply Rmult_le_compat; lra).
  assert (cut (tokens d n w) * C2 (half n) w <= cut T * (beyond * p)) by (apply Rmult_le_compat; lra). lra.
Qed.
End Kinked.

(* A number from bounds of its product with another. *)
Lemma quotient z za zb x l h : 0 < za -> za <= z <= zb -> 0 < l -> 0 <= h -> l * zb <= z * x -> z * x <= h * za -> l <= x <= h.
Proof.
  intros Ha Hz Hl Hh L U. split; apply Rnot_lt_le; intros X.
  - destruct (Rle_lt_dec x 0) as [X0 | X0].
    + pose proof (Rmult_le_compat_l z _ _ ltac:(lra) X0). pose proof (Rmult_lt_0_compat l zb ltac:(lra) ltac:(lra)). lra.
    + pose proof (Rmult_le_compat_r x z zb ltac:(lra) ltac:(lra)). pose proof (Rmult_lt_compat_r zb _ _ ltac:(lra) X). lra.
  - pose proof (Rmult_le_compat_r x za z ltac:(lra) ltac:(lra)). pose proof (Rmult_lt_compat_l za _ _ Ha X). lra.
Qed.

Lemma scaled_in k l x h : l <= x <= h -> Rmin (k * l) (k * h) <= k * x <= Rmax (k * l) (k * h).
Proof.
  intros H. destruct (Rle_lt_dec 0 k) as [K | K].
  - split; [apply Rle_trans with (1 := Rmin_l _ _) | apply Rle_trans with (2 := Rmax_r _ _)]; apply Rmult_le_compat_l; lra.
  - split; [apply Rle_trans with (1 := Rmin_r _ _) | apply Rle_trans with (2 := Rmax_l _ _)];
      apply Rmult_le_compat_neg_l; lra.
Qed.

Lemma summed_le f g l : (forall t, In t l -> f t <= g t) -> summed f l <= summed g l.
Proof.
  induction l as [| t r IH]; simpl; intros H; [lra |]. pose proof (H t (or_introl eq_refl)).
  specialize (IH (fun x I => H x (or_intror I))). lra.
Qed.

Lemma summed_split f g x z l : summed (fun t => f t * x + g t * z) l = summed f l * x + summed g l * z.
Proof. induction l as [| t r IH]; simpl; [ring |]. rewrite IH. ring. Qed.

(* The bias of any law by its variogram. *)
Section Variogram.
Variables (V' : R -> nat -> R -> R) (two : R -> R -> R) (square : R * R) (law : list (nat * (R * R))).
Variables (A1 A2 H1 H2 v b1 bp b2 bn s : R) (k1 k2 o1 o2 t1 t2 : nat -> R) (i : nat).
Hypotheses (d_a : (2 <= d)%nat /\ a = (INR d - 1) / 2) (H1_pos : 0 < H1) (H2_pos : 0 < H2).
Hypotheses (by_v : By_variogram B V V' square law) (jensen_v : Jensen_variogram d B two square law)
  (moved_l : Laplace_bias d (fun n w => 2 * V 1 n w - V' 1 n w) V 1 1)
  (spread : forall p, 0 < p -> Laplace_spread d V p (raised d p)) (one_l : Jensen_spread d V)
  (pairs_l : Jensen_pairs d V' two) (pairs : Laplace_pairs d V' two) (triangle : Triangle V V')
  (gamma_1 : Gamma_one d a c) (gamma_2 : Gamma_two d a c two) (falls : forall p, 0 <= p -> Chebyshev_spread V p)
  (V'_pos : forall p n w, 0 <= V' p n w) (two_pos : forall p w, 0 <= two p w).
Hypothesis square_in : A1 <= fst square /\ snd square <= A2.
Hypothesis law_in : forall t, In t law -> (i <= fst t /\ 1 <= fst t <= 6)%nat /\
  k1 (fst t) <= fst (snd t) /\ snd (snd t) <= k2 (fst t).
Hypotheses (i_in : (i <= 4)%nat) (v_in : 2 * (2 * a + 3) <= v <= u).
Definition gamma_facts (j : nat) : Prop :=
  (0 < o1 j /\ o1 j * z2 <= one_low d a j u) /\
  (0 < o2 j /\ gamma_at d j * (1 + plane_y d a j u + plane_rest d a j v) <= o2 j * z1) /\
  (0 < t1 j /\ t1 j * z2 ^ 2 <= two_low d a j u * z1) /\
  (0 < t2 j /\ two_high d a j u * z2 + two_rest a c j v <= t2 j * z1 ^ 2) /\
  2 * cut T * stretch (half_power j) < 1.
Hypothesis distances : forall t, In t law -> gamma_facts (fst t).
Hypothesis x2_pos : 0 <= x2.
Hypothesis H1_ge : stretch 1 * (D2 * J0 + Rpower (2 * u) 1) <= H1 * (1 - 2 * cut T * stretch 1).
Hypothesis H2_ge : stretch 2 * (x2 * J0 + Rpower (2 * u) 2) <= H2 * (1 - 2 * cut T * stretch 2).
(* Bounds of w^p times 2^p V p, 2^p V' p, and the two sides of a term. *)
Definition tail (j : nat) : R := stretch (half_power j)
  * (o2 j / Rpower 2 (half_power j) * J0 + Rpower (2 * u) (half_power j)) / (1 - 2 * cut T * stretch (half_power j)).
Definition single1 (j : nat) : R := o1 j / (1 + 1 / y).
Definition single2 (j : nat) : R := o2 j * J0 + 2 * cut T * (Rpower 2 (half_power j) * tail j).
Definition pair1 (j : nat) : R := t1 j * ((1 - 1 / T) / (1 + 2 / y) ^ 2).
Definition pair2 (j : nat) : R := t2 j * J2
  + 5 * cut T * (2 * Rmax (Rpower 2 (2 * half_power j - 1)) 1 * (Rpower 2 (half_power j) * tail j)).
Definition law_high (j : nat) : R :=
  Rmax (k2 j * single1 j) (k2 j * single2 j) - Rmin (k1 j * pair1 j) (k1 j * pair2 j) / 2.
Definition law_low (j : nat) : R := Rmin (k1 j * o1 j) (k1 j * o2 j) - Rmax (k2 j * t1 j) (k2 j * t2 j) / 2.
(* What a term adds to the coefficient of w^-beta, beta = i / 2, and to that of w^-2. *)
Definition to_main (best : R -> R -> R) (f : nat -> R) (t : nat * (R * R)) : R :=
  if Nat.eqb (fst t) i then f (fst t) else if Nat.eqb (fst t) 4 then 0
  else best (f (fst t)) 0 * Rpower u (half_power i - half_power (fst t)).
Definition to_next (f : nat -> R) (t : nat * (R * R)) : R :=
  if Nat.eqb (fst t) i then 0 else if Nat.eqb (fst t) 4 then f (fst t) else 0.
Definition square1 : R := Rmin (A1 * D1 ^ 2) (A1 * D2 ^ 2).
Definition square2 : R := Rmax A2 0 * (D2 ^ 2 * J2 + 5 * cut T * H2).
Hypothesis b1_le : b1 * (1 + 1 / y) ^ 2 <= (if Nat.eqb i 4 then square1 else 0) + summed (to_main Rmin law_low) law.
Hypothesis bp_le : bp * (1 + 1 / y) ^ 2 <= (if Nat.eqb i 4 then 0 else square1) + summed (to_next law_low) law.
Hypothesis b2_ge : (if Nat.eqb i 4 then square2 else 0) + summed (to_main Rmax law_high) law <= b2.
Hypothesis bn_ge : (if Nat.eqb i 4 then 0 else square2) + summed (to_next law_high) law <= bn.
Hypothesis s_ge : Rmax A2 0 * r2 * (D2 * J1 + 4 * T * cut T * H1) <= s.
Hypotheses (b1_pos : 0 < b1) (bp_pos : 0 <= bp).

Lemma half_power_le j k : (j <= k)%nat -> half_power j <= half_power k.
Proof. intros H. unfold half_power. assert (IZR (Z.of_nat j) <= IZR (Z.of_nat k)) by (apply IZR_le; lia). lra. Qed.

Lemma gamma_pos j : 0 < gamma_at d j.
Proof.
  destruct d_a as [d2 _]. apply Rmult_lt_0_compat; [apply power_pos |].
  apply Rdiv_lt_0_compat; apply half_gamma_pos; lia.
Qed.

Lemma mean_falls j w : u <= w -> 0 < mean_y a j w <= mean_y a j u.
Proof.
  intros H. assert (0 <= half_power j) by (pose proof (half_power_le 0 j ltac:(lia)) as L; unfold half_power in L at 1; simpl in L; lra).
  unfold mean_y. split; [apply Rdiv_lt_0_compat; lra |]. unfold Rdiv. apply Rmult_le_compat_l; [lra |].
  apply Rinv_le_contravar; lra.
Qed.

Lemma decay q w : u <= w -> 0 <= q <= 2 * a + 3 -> Rpower w q * exp (- w) <= Rpower v q * exp (- v).
Proof.
  intros H Hq. pose proof (power_exp_falls q v w ltac:(lra) ltac:(lra) ltac:(lra)) as F.
  replace (exp (- w)) with (exp (- w / 2) * exp (- w / 2)) by (rewrite <- exp_plus; f_equal; field).
  replace (exp (- v)) with (exp (- v / 2) * exp (- v / 2)) by (rewrite <- exp_plus; f_equal; field).
  rewrite <- !Rmult_assoc. apply Rmult_le_compat; try assumption.
  - left. apply Rmult_lt_0_compat; [apply power_pos | apply exp_pos].
  - left. apply exp_pos.
  - apply exp_le. lra.
Qed.

Lemma steep_pos : 1 <= steep a.
Proof. apply Rmax_r. Qed.

Lemma powers t : In t law -> 1 / 2 <= half_power (fst t) <= 3.
Proof.
  intros H. destruct (law_in t H) as [[_ [L U]] _]. apply half_power_le in L. apply half_power_le in U.
  unfold half_power in L at 1. unfold half_power in U at 2. simpl in L, U. lra.
Qed.

Lemma plane_falls t w : In t law -> u <= w ->
  0 <= plane_y d a (fst t) w <= plane_y d a (fst t) u /\ plane_rest d a (fst t) w <= plane_rest d a (fst t) v.
Proof.
  intros Ht H. pose proof (mean_falls (fst t) w H). pose proof (powers t Ht). pose proof (half_gamma_pos (d - 1 + fst t)) as G.
  unfold plane_y, plane_rest. destruct (d - 2)%nat; [| lra]. split; [lra |].
  specialize (G ltac:(destruct d_a; lia)). set (q := a + half_power (fst t)) in *.
  unfold Rdiv. apply Rmult_le_compat_r; [left; pos |]. apply Rmult_le_compat_l; [pose proof (sqrt_pos 2); lra |].
  rewrite <- 2!Rpower_mult_distr, 2!Rmult_assoc by lra. apply Rmult_le_compat_l; [left; apply power_pos |].
  apply decay; unfold q; lra.
Qed.

Lemma one_in t w : In t law -> u <= w -> let p := half_power (fst t) in
  o1 (fst t) * Rpower w (- p) <= Rpower 2 p * raised d p w <= o2 (fst t) * Rpower w (- p).
Proof.
  intros Ht H p. destruct (distances t Ht) as [[P1 L] [[P2 U] _]]. destruct (law_in t Ht) as [[_ J] _].
  destruct (z_in w H) as [Z0 Z]. destruct (gamma_1 (fst t) w J ltac:(lra)) as [F1 F2]. fold p in F1, F2.
  pose proof (mean_falls (fst t) w H) as M. pose proof (gamma_pos (fst t)) as G. pose proof steep_pos as S.
  destruct (plane_falls t w Ht H) as [Y1 Y2]. set (x := Rpower 2 p * raised d p w) in *.
  pose proof (power_pos w p) as W. rewrite Rpower_Ropp.
  assert (I : o1 (fst t) <= Rpower w p * x <= o2 (fst t)).
  { apply (quotient (Rpower w a * mu d w / c) z1 z2); try lra.
    - apply Rle_trans with (1 := L). apply Rle_trans with (2 := F1). unfold one_low.
      apply Rmult_le_compat_l; [lra |]. assert (steep a * mean_y a (fst t) w <= steep a * mean_y a (fst t) u); [| lra].
      apply Rmult_le_compat_l; lra.
    - apply Rle_trans with (1 := F2). apply Rle_trans with (2 := U). unfold one_high. apply Rmult_le_compat_l; lra. }
  assert (E : forall k, k * / Rpower w p * Rpower w p = k) by (intros; field; lra).
  split; apply Rmult_le_reg_r with (Rpower w p); try assumption; rewrite E; lra.
Qed.

Lemma two_in t w : In t law -> u <= w -> let p := half_power (fst t) in
  t1 (fst t) * Rpower w (- p) <= Rpower 2 p * two p w <= t2 (fst t) * Rpower w (- p).
Proof.
  intros Ht H p. destruct (distances t Ht) as [_ [_ [[P1 L] [[P2 U] _]]]]. destruct (law_in t Ht) as [[_ J] _].
  destruct (z_in w H) as [Z0 Z]. pose proof (powers t Ht) as Q.
  destruct (gamma_2 (fst t) w z1 z2 J ltac:(lra) ltac:(lra)) as [F1 F2].
  { intros x Hx. apply z_in. lra. }
  fold p in F1, F2. pose proof (mean_falls (fst t) w H) as M. pose proof (gamma_pos (fst t)) as G. pose proof steep_pos as S.
  destruct (plane_falls t w Ht H) as [Y1 _]. set (x := Rpower 2 p * two p w) in *.
  pose proof (power_pos w p) as W. pose proof (power_pos 2 p) as P2'. rewrite Rpower_Ropp.
  assert (GG : 0 < Rpower 2 p * gamma_at d (fst t)) by (apply Rmult_lt_0_compat; lra).
  pose proof (Rmax_r (a + p - 1) 1) as S'. fold p in Q.
  assert (I : t1 (fst t) <= Rpower w p * x <= t2 (fst t)).
  { apply (quotient ((Rpower w a * mu d w / c) ^ 2) (z1 ^ 2) (z2 ^ 2)); try lra.
    - apply pow_lt. lra.
    - split; apply pow_incr; lra.
    - apply Rle_trans with (1 := L). apply Rle_trans with (2 := F1). apply Rmult_le_compat_r; [lra |].
      unfold two_low. fold p. apply Rmult_le_compat_l; [lra |].
      set (k := 1 + steep a + Rmax (a + p - 1) 1 / 2).
      assert (k * mean_y a (fst t) w <= k * mean_y a (fst t) u); [| lra]. apply Rmult_le_compat_l; unfold k; lra.
    - apply Rle_trans with (1 := F2). apply Rle_trans with (2 := U). apply Rplus_le_compat.
      + apply Rmult_le_compat_r; [lra |]. unfold two_high. fold p. apply Rmult_le_compat_l; lra.
      + unfold two_rest. fold p. unfold Rdiv. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, pow_lt; lra |].
        apply Rmult_le_compat_l; [left; apply power_pos |]. apply decay; lra. }
  assert (E : forall k, k * / Rpower w p * Rpower w p = k) by (intros; field; lra).
  split; apply Rmult_le_reg_r with (Rpower w p); try assumption; rewrite E; lra.
Qed.

Lemma raised_nonneg t w : In t law -> u <= w -> 0 < raised d (half_power (fst t)) w.
Proof.
  intros Ht H. destruct (one_in t w Ht H) as [L _]. destruct (distances t Ht) as [[P1 _] _].
  pose proof (power_pos w (- half_power (fst t))). pose proof (power_pos 2 (half_power (fst t))).
  apply Rmult_lt_reg_l with (Rpower 2 (half_power (fst t))); [assumption |]. rewrite Rmult_0_r.
  apply Rlt_le_trans with (2 := L). now apply Rmult_lt_0_compat.
Qed.

Lemma J_pos : 0 <= J0 /\ 0 <= J2.
Proof.
  pose proof (kernel_nonneg 0 1 T) as A. pose proof (kernel_nonneg 1 2 T) as C. simpl INR in *.
  specialize (A ltac:(lra) T_6 m_in). specialize (C ltac:(lra) T_6 m_in). lra.
Qed.

Lemma tail_in t n w : In t law -> u <= w -> T <= tokens d n w ->
  0 < tail (fst t) /\ V (half_power (fst t)) (half n) w <= tail (fst t) * Rpower w (- half_power (fst t)).
Proof.
  intros Ht H HT. pose proof (powers t Ht) as Q. destruct (distances t Ht) as [_ [[P2 _] [_ [_ room]]]].
  set (j := fst t) in *. set (p := half_power j) in *. destruct J_pos as [J _].
  assert (S : 0 < stretch p) by apply power_pos. pose proof (power_pos 2 p) as P. pose proof (power_pos (2 * u) p) as W.
  assert (M : 0 < o2 j / Rpower 2 p) by (apply Rdiv_lt_0_compat; lra).
  assert (X : 0 < stretch p * (o2 j / Rpower 2 p * J0 + Rpower (2 * u) p)).
  { apply Rmult_lt_0_compat; [assumption |]. pose proof (Rmult_le_pos _ _ (Rlt_le _ _ M) J). lra. }
  assert (P' : 0 < tail j) by (unfold tail; fold p; apply Rdiv_lt_0_compat; lra). split; [assumption |].
  apply (spread_half p (tail j) (o2 j / Rpower 2 p) (raised d p)); auto; try lra.
  - intros x Hx. destruct (one_in t x Ht Hx) as [_ U]. fold j p in U.
    apply Rmult_le_reg_l with (Rpower 2 p); [assumption |]. apply Rle_trans with (1 := U). right. field. lra.
  - apply spread. lra.
  - apply falls. lra.
  - unfold tail. fold p. right. field. lra.
Qed.

Lemma single_in t n w : In t law -> u <= w -> T <= tokens d n w -> let p := half_power (fst t) in
  single1 (fst t) * Rpower w (- p) <= Rpower 2 p * V p n w <= single2 (fst t) * Rpower w (- p).
Proof.
  intros Ht H HT p. assert (Hn : (6 <= n)%nat) by (apply (six n w); lra). pose proof (powers t Ht) as Q. fold p in Q.
  destruct (one_in t w Ht H) as [L U]. fold p in L, U. destruct (tail_in t n w Ht H HT) as [P X]. fold p in X.
  destruct (distances t Ht) as [[P1 _] [[P2 _] _]]. pose proof (power_pos 2 p) as W2. pose proof (power_pos w (- p)) as W.
  set (j := fst t) in *. split.
  - pose proof (one_l p n w ltac:(lra) ltac:(lia) ltac:(lra)) as J. pose proof (mass n w y H HT y_le y_pos) as M.
    set (x := INR n * mu d w) in *. assert (ix : 0 < / x <= / y) by (split; [apply Rinv_0_lt_compat | apply Rinv_le_contravar]; lra).
    apply Rle_trans with (Rpower 2 p * (raised d p w / (1 + 1 / x))); [| apply Rmult_le_compat_l; lra].
    unfold single1, Rdiv. replace (Rpower 2 p * (raised d p w * / (1 + 1 * / x))) with (Rpower 2 p * raised d p w * / (1 + 1 * / x)) by ring.
    replace (o1 j * / (1 + 1 * / y) * Rpower w (- p)) with (o1 j * Rpower w (- p) * / (1 + 1 * / y)) by ring.
    apply Rmult_le_compat; [left; pos | left; apply Rinv_0_lt_compat; lra | assumption | apply Rinv_le_contravar; lra].
  - pose proof (spread_at p (o2 j / Rpower 2 p) (raised d p)) as A.
    assert (M : 0 < o2 j / Rpower 2 p) by (apply Rdiv_lt_0_compat; lra).
    specialize (A (Rlt_le _ _ M)). apply Rle_trans with (Rpower 2 p * (o2 j / Rpower 2 p * Rpower w (- p) * J0 + 2 * cut T * V p (half n) w)).
    + apply Rmult_le_compat_l; [lra |]. apply A; auto; try lra.
      * intros x Hx. destruct (one_in t x Ht Hx) as [_ U']. fold j p in U'.
        apply Rmult_le_reg_l with (Rpower 2 p); [assumption |]. apply Rle_trans with (1 := U'). right. field. lra.
      * apply spread. lra.
      * apply falls. lra.
    + assert (cT : 0 < cut T) by apply exp_pos. unfold single2. fold p.
      apply Rle_trans with (o2 j * J0 * Rpower w (- p) + 2 * cut T * Rpower 2 p * (tail j * Rpower w (- p))).
      * replace (Rpower 2 p * (o2 j / Rpower 2 p * Rpower w (- p) * J0 + 2 * cut T * V p (half n) w))
          with (o2 j * J0 * Rpower w (- p) + 2 * cut T * Rpower 2 p * V p (half n) w) by (field; lra).
        apply Rplus_le_compat_l, Rmult_le_compat_l; [left; apply Rmult_lt_0_compat; lra | assumption].
      * right. ring.
Qed.

Lemma pair_in t n w : In t law -> u <= w -> T <= tokens d n w -> let p := half_power (fst t) in
  pair1 (fst t) * Rpower w (- p) <= Rpower 2 p * V' p n w <= pair2 (fst t) * Rpower w (- p).
Proof.
  intros Ht H HT p. assert (Hn : (6 <= n)%nat) by (apply (six n w); lra). pose proof (powers t Ht) as Q. fold p in Q.
  destruct (half_le n) as [_ h1]; [lia |].
  destruct (two_in t w Ht H) as [L U]. fold p in L, U. destruct (tail_in t n w Ht H HT) as [P X]. fold p in X.
  destruct (distances t Ht) as [_ [_ [[P1 _] [[P2 _] _]]]]. pose proof (power_pos 2 p) as W2. pose proof (power_pos w (- p)) as W.
  set (j := fst t) in *. split.
  - pose proof (pairs_l p n w ltac:(lra) ltac:(lia) ltac:(lra)) as J. pose proof (mass n w y H HT y_le y_pos) as M.
    pose proof (tokens_le n w ltac:(lra)) as N1. set (x := INR n * mu d w) in *.
    assert (ix : 0 < / x <= / y) by (split; [apply Rinv_0_lt_compat | apply Rinv_le_contravar]; lra).
    assert (iT : 0 < / INR n <= / T) by (split; [apply Rinv_0_lt_compat | apply Rinv_le_contravar]; lra).
    assert (i6 : / T <= / 6) by (apply Rinv_le_contravar; lra).
    assert (K : 0 <= (1 - 1 / T) / (1 + 2 / y) ^ 2 <= (1 - 1 / INR n) / (1 + 2 / x) ^ 2).
    { unfold Rdiv. assert (0 < (1 + 2 * / x) ^ 2) by (apply pow_lt; lra). assert (0 < (1 + 2 * / y) ^ 2) by (apply pow_lt; lra).
      assert (0 < / (1 + 2 * / y) ^ 2) by (apply Rinv_0_lt_compat; lra).
      split; [apply Rmult_le_pos; lra |]. apply Rmult_le_compat; try lra.
      apply Rinv_le_contravar; [assumption | apply pow_incr; lra]. }
    apply Rle_trans with (Rpower 2 p * (two p w * ((1 - 1 / INR n) / (1 + 2 / x) ^ 2))); [| apply Rmult_le_compat_l; lra].
    unfold pair1. rewrite <- Rmult_assoc, (Rmult_comm (t1 j)), Rmult_assoc, Rmult_comm.
    apply Rmult_le_compat; [apply Rmult_le_pos; lra | lra | lra | lra].
  - pose proof (pairs p n w T m ltac:(lra) T_6 m_in ltac:(lra) HT) as A. pose proof (triangle p (half n) w ltac:(lra) h1 ltac:(lra)) as B'.
    pose proof (cut_falls _ _ HT) as C. assert (cT : 0 < cut T) by apply exp_pos. destruct J_pos as [_ J].
    set (r := Rmax (Rpower 2 (2 * p - 1)) 1) in *. assert (r1' : 1 <= r) by apply Rmax_r.
    assert (K : 0 <= kernel 1 2 T m) by (apply kernel_nonneg; simpl; lra).
    pose proof (two_pos p w) as tp. pose proof (V'_pos p (half n) w) as vp.
    apply Rle_trans with (Rpower 2 p * (J2 * two p w + 5 * cut T * (2 * r * (tail j * Rpower w (- p))))).
    + apply Rmult_le_compat_l; [lra |]. apply Rle_trans with (1 := A). apply Rplus_le_compat.
      * apply Rmult_le_compat_r; lra.
      * apply Rle_trans with (5 * cut T * V' p (half n) w); [apply Rmult_le_compat_r; lra |].
        apply Rmult_le_compat_l; [lra |]. apply Rle_trans with (1 := B'). apply Rmult_le_compat_l; lra.
    + unfold pair2. fold p. fold r. apply (Rmult_le_compat_l J2) in U; [| assumption].
      replace (Rpower 2 p * (J2 * two p w + 5 * cut T * (2 * r * (tail j * Rpower w (- p)))))
        with (J2 * (Rpower 2 p * two p w) + 5 * cut T * (2 * r * (Rpower 2 p * tail j)) * Rpower w (- p)) by ring.
      lra.
Qed.

(* w^-p against w^-beta and w^-2. *)
Lemma placed t w x best : In t law -> u <= w -> (best = Rmax \/ best = Rmin) ->
  let f := fun _ : nat => x in let p := half_power (fst t) in
  (best = Rmax -> x * Rpower w (- p) <= to_main best f t * Rpower w (- half_power i) + to_next f t * Rpower w (- (2))) /\
  (best = Rmin -> to_main best f t * Rpower w (- half_power i) + to_next f t * Rpower w (- (2)) <= x * Rpower w (- p)).
Proof.
  intros Ht H _ f p. destruct (law_in t Ht) as [[I _] _]. unfold to_main, to_next, f.
  destruct (Nat.eqb_spec (fst t) i) as [E | _]; [unfold p; rewrite E; split; intros _; lra |].
  destruct (Nat.eqb_spec (fst t) 4) as [E | _].
  { replace p with 2 by (unfold p; rewrite E; unfold half_power; simpl; lra). split; intros _; lra. }
  fold p. apply half_power_le in I. fold p in I.
  pose proof (power_pos w (- p)) as W. pose proof (power_pos w (- half_power i)) as Wi.
  assert (G : Rpower w (- p) <= Rpower u (half_power i - p) * Rpower w (- half_power i)).
  { replace (- p) with ((half_power i - p) + - half_power i) at 1 by ring. rewrite Rpower_plus.
    apply Rmult_le_compat_r; [lra |]. apply power_fall; lra. }
  split; intros ->.
  - pose proof (Rmax_l x 0). pose proof (Rmax_r x 0). apply Rle_trans with (Rmax x 0 * Rpower w (- p)); [apply Rmult_le_compat_r; lra |].
    apply (Rmult_le_compat_l (Rmax x 0)) in G; lra.
  - pose proof (Rmin_l x 0). pose proof (Rmin_r x 0). apply Rle_trans with (Rmin x 0 * Rpower w (- p)); [| apply Rmult_le_compat_r; lra].
    apply (Rmult_le_compat_neg_l (Rmin x 0)) in G; lra.
Qed.

Lemma variogram_low n w x : 0 <= w <= x -> u <= x -> T <= tokens d n x ->
  b1 * Rpower x (- half_power i) + bp * Rpower x (- (2)) <= B n w.
Proof.
  intros Hw Hx HT. assert (Hn : (6 <= n)%nat) by (apply (six n x); lra).
  pose proof (jensen_v n w x ltac:(lia) Hw ltac:(lra)) as J. pose proof (jensen_factor n x Hx HT) as F.
  apply Rle_trans with (2 := J). clear J. pose proof (deficit_in x Hx) as D.
  pose proof (power_pos x (- half_power i)) as Wi. pose proof (power_pos x (- (2))) as W2.
  set (Z := b1 * Rpower x (- half_power i) + bp * Rpower x (- (2))).
  assert (Z0 : 0 <= Z).
  { unfold Z. pose proof (Rmult_lt_0_compat _ _ b1_pos Wi). pose proof (Rmult_le_pos _ _ bp_pos (Rlt_le _ _ W2)). lra. }
  set (Y := (1 + 1 / (INR n * mu d x)) ^ 2) in *. apply Rmult_le_reg_r with Y; [lra |].
  match goal with |- _ <= ?q / Y * Y => replace (q / Y * Y) with q by (field; lra) end.
  apply Rle_trans with (Z * (1 + 1 / y) ^ 2); [apply Rmult_le_compat_l; lra |].
  assert (S : square1 * Rpower x (- (2)) <= fst square * (deficit d x / x) ^ 2).
  { replace ((deficit d x / x) ^ 2) with (deficit d x ^ 2 * / x ^ 2) by (field; lra). rewrite power_two by lra.
    rewrite <- Rmult_assoc. assert (0 < / x ^ 2) by pos. apply Rmult_le_compat_r; [lra |].
    apply Rle_trans with (A1 * deficit d x ^ 2).
    - apply (scaled_in A1 (D1 ^ 2) (deficit d x ^ 2) (D2 ^ 2)). split; apply pow_incr; lra.
    - apply Rmult_le_compat_r; [apply pow2_ge_0 | lra]. }
  assert (L : summed (to_main Rmin law_low) law * Rpower x (- half_power i) + summed (to_next law_low) law * Rpower x (- (2))
    <= summed (fun t => let p := half_power (fst t) in
        Rpower 2 p * (fst (snd t) * raised d p x - snd (snd t) * two p x / 2)) law).
  { rewrite <- summed_split. apply summed_le. intros t Ht. cbv zeta. set (p := half_power (fst t)).
    destruct (placed t x (law_low (fst t)) Rmin Ht Hx (or_intror eq_refl)) as [_ G]. specialize (G eq_refl).
    apply Rle_trans with (1 := G). fold p. destruct (one_in t x Ht Hx) as [O1 O2]. destruct (two_in t x Ht Hx) as [T1 T2].
    fold p in O1, O2, T1, T2. pose proof (raised_nonneg t x Ht Hx) as R0. fold p in R0. pose proof (two_pos p x) as R1.
    destruct (law_in t Ht) as [_ [K1 K2]]. pose proof (power_pos 2 p) as P2. pose proof (power_pos x (- p)) as W.
    assert (E : forall k, k * Rpower x (- p) * Rpower x p = k).
    { intros k. rewrite Rpower_Ropp. pose proof (power_pos x p). field. lra. }
    pose proof (power_pos x p) as W'.
    assert (O : o1 (fst t) <= Rpower 2 p * raised d p x * Rpower x p <= o2 (fst t)).
    { split; [rewrite <- (E (o1 (fst t))) | rewrite <- (E (o2 (fst t)))]; apply Rmult_le_compat_r; lra. }
    assert (O' : t1 (fst t) <= Rpower 2 p * two p x * Rpower x p <= t2 (fst t)).
    { split; [rewrite <- (E (t1 (fst t))) | rewrite <- (E (t2 (fst t)))]; apply Rmult_le_compat_r; lra. }
    destruct (scaled_in (k1 (fst t)) _ _ _ O) as [M1 _]. destruct (scaled_in (k2 (fst t)) _ _ _ O') as [_ M2].
    assert (Q1 : k1 (fst t) * (Rpower 2 p * raised d p x * Rpower x p) <= fst (snd t) * (Rpower 2 p * raised d p x * Rpower x p)).
    { apply Rmult_le_compat_r; [left; pos | lra]. }
    assert (Q2 : snd (snd t) * (Rpower 2 p * two p x * Rpower x p) <= k2 (fst t) * (Rpower 2 p * two p x * Rpower x p)).
    { apply Rmult_le_compat_r; [apply Rmult_le_pos; [apply Rmult_le_pos |]; lra | lra]. }
    apply Rmult_le_reg_r with (Rpower x p); [assumption |]. rewrite E. unfold law_low. lra. }
  apply Rle_trans with (2 := Rplus_le_compat _ _ _ _ S L). unfold Z.
  pose proof (Rmult_le_compat_r _ _ _ (Rlt_le _ _ Wi) b1_le) as X1. pose proof (Rmult_le_compat_r _ _ _ (Rlt_le _ _ W2) bp_le) as X2.
  destruct (Nat.eqb_spec i 4) as [E | E].
  - replace (Rpower x (- (2))) with (Rpower x (- half_power i)) in * by (rewrite E; unfold half_power; do 2 f_equal; simpl; lra). lra.
  - lra.
Qed.

Lemma variogram_high n w : u <= w -> T <= tokens d n w ->
  B n w <= b2 * Rpower w (- half_power i) + bn * Rpower w (- (2)) + s * Rpower w (a - 1) / INR n.
Proof.
  intros H HT. assert (Hn : (6 <= n)%nat) by (apply (six n w); lra).
  apply Rle_trans with (1 := by_v n w ltac:(lia) ltac:(lra)).
  pose proof (moved_l n w T m T_6 m_in ltac:(lra) HT) as M. cbv beta in M.
  pose proof (power_pos w (- half_power i)) as Wi. pose proof (power_pos w (- (2))) as W2.
  assert (A2_pos : 0 <= Rmax A2 0) by apply Rmax_r.
  assert (S : Rmax (snd square) 0 * (2 * V 1 n w - V' 1 n w) <= square2 * Rpower w (- (2)) + s * Rpower w (a - 1) / INR n).
  { assert (spread_1 : Laplace_spread d V 1 (fun w => deficit d w / w)).
    { intros n' w' T' m' HT' Hm' Hw' HT''. pose proof (spread 1 ltac:(lra) n' w' T' m' HT' Hm' Hw' HT'') as X.
      rewrite raised_1 in X by assumption. exact X. }
    assert (spread_2 : Laplace_spread d V 2 (second d)).
    { intros n' w' T' m' HT' Hm' Hw' HT''. pose proof (spread 2 ltac:(lra) n' w' T' m' HT' Hm' Hw' HT'') as X.
      rewrite raised_2 in X. exact X. }
    pose proof (rest_high (Rmax A2 0) (Rmax A2 0) H1 H2 square2 s A2_pos A2_pos) as X.
    rewrite power_two by lra.
    set (Q := kernel 1 2 T m * (deficit d w / w) ^ 2 + 5 * cut (tokens d n w) * V 2 (half n) w) in *.
    set (Q' := kernel 1 1 T m * (deficit d (2 * w) / w) / tokens d n w + 4 * cut (tokens d n w) * V 1 (half n) w) in *.
    assert (Y : Rmax A2 0 * Q + Rmax A2 0 * Q' <= square2 * / w ^ 2 + s * Rpower w (a - 1) / INR n).
    { apply X; auto; try lra. 1, 2: apply falls; lra. right; reflexivity. }
    apply Rle_trans with (Rmax (snd square) 0 * (Q + Q')).
    - apply Rmult_le_compat_l; [apply Rmax_r | lra].
    - apply Rle_trans with (2 := Y). rewrite <- Rmult_plus_distr_l. apply Rmult_le_compat_r.
      + destruct (half_le n) as [_ h1]; [lia |].
        destruct (falls 2 ltac:(lra) (half n) w w h1 ltac:(lra)) as [_ [v2 _]].
        destruct (falls 1 ltac:(lra) (half n) w w h1 ltac:(lra)) as [_ [v1 _]].
        assert (K1 : 0 <= kernel 1 1 T m) by (apply kernel_nonneg; simpl; lra).
        assert (K2 : 0 <= kernel 1 2 T m) by (apply kernel_nonneg; simpl; lra).
        assert (C0 : 0 < cut (tokens d n w)) by apply exp_pos.
        pose proof (deficit_in (2 * w) ltac:(lra)) as I3. unfold Q, Q'. set (D' := deficit d (2 * w)) in *. clearbody D'.
        assert (0 < / w) by pos. assert (0 < / tokens d n w) by (apply Rinv_0_lt_compat; lra).
        assert (0 <= kernel 1 2 T m * (deficit d w / w) ^ 2) by (apply Rmult_le_pos; [assumption | apply pow2_ge_0]).
        assert (0 <= kernel 1 1 T m * (D' / w) / tokens d n w).
        { unfold Rdiv. repeat apply Rmult_le_pos; lra. }
        assert (0 <= 5 * cut (tokens d n w) * V 2 (half n) w) by (repeat apply Rmult_le_pos; lra).
        assert (0 <= 4 * cut (tokens d n w) * V 1 (half n) w) by (repeat apply Rmult_le_pos; lra). lra.
      + apply Rle_max_compat_r. lra. }
  assert (L : summed (fun t => let p := half_power (fst t) in
        Rpower 2 p * (snd (snd t) * V p n w - fst (snd t) * V' p n w / 2)) law
    <= summed (to_main Rmax law_high) law * Rpower w (- half_power i) + summed (to_next law_high) law * Rpower w (- (2))).
  { rewrite <- summed_split. apply summed_le. intros t Ht. cbv zeta. set (p := half_power (fst t)).
    destruct (placed t w (law_high (fst t)) Rmax Ht H (or_introl eq_refl)) as [G _]. specialize (G eq_refl).
    apply Rle_trans with (2 := G). fold p. destruct (single_in t n w Ht H HT) as [O1 O2]. destruct (pair_in t n w Ht H HT) as [T1 T2].
    fold p in O1, O2, T1, T2. destruct (law_in t Ht) as [_ [K1 K2]]. pose proof (powers t Ht) as Q. fold p in Q.
    pose proof (power_pos 2 p) as P2. pose proof (power_pos w (- p)) as W. pose proof (power_pos w p) as W'.
    destruct (falls p ltac:(lra) n w w ltac:(lia) ltac:(lra)) as [_ [v0 _]]. pose proof (V'_pos p n w) as v1.
    assert (E : forall k, k * Rpower w (- p) * Rpower w p = k).
    { intros k. rewrite Rpower_Ropp. field. lra. }
    assert (O : single1 (fst t) <= Rpower 2 p * V p n w * Rpower w p <= single2 (fst t)).
    { split; [rewrite <- (E (single1 (fst t))) | rewrite <- (E (single2 (fst t)))]; apply Rmult_le_compat_r; lra. }
    assert (O' : pair1 (fst t) <= Rpower 2 p * V' p n w * Rpower w p <= pair2 (fst t)).
    { split; [rewrite <- (E (pair1 (fst t))) | rewrite <- (E (pair2 (fst t)))]; apply Rmult_le_compat_r; lra. }
    destruct (scaled_in (k2 (fst t)) _ _ _ O) as [_ M1]. destruct (scaled_in (k1 (fst t)) _ _ _ O') as [M2 _].
    assert (Q1 : snd (snd t) * (Rpower 2 p * V p n w * Rpower w p) <= k2 (fst t) * (Rpower 2 p * V p n w * Rpower w p)).
    { apply Rmult_le_compat_r; [apply Rmult_le_pos; [apply Rmult_le_pos |]; lra | lra]. }
    assert (Q2 : k1 (fst t) * (Rpower 2 p * V' p n w * Rpower w p) <= fst (snd t) * (Rpower 2 p * V' p n w * Rpower w p)).
    { apply Rmult_le_compat_r; [apply Rmult_le_pos; [apply Rmult_le_pos |]; lra | lra]. }
    apply Rmult_le_reg_r with (Rpower w p); [assumption |]. rewrite E. unfold law_high. lra. }
  pose proof (Rmult_le_compat_r _ _ _ (Rlt_le _ _ Wi) b2_ge) as X1. pose proof (Rmult_le_compat_r _ _ _ (Rlt_le _ _ W2) bn_ge) as X2.
  destruct (Nat.eqb_spec i 4) as [E | E].
  - replace (Rpower w (- (2))) with (Rpower w (- half_power i)) in * by (rewrite E; unfold half_power; do 2 f_equal; simpl; lra). lra.
  - lra.
Qed.

Lemma variogram_between beta : half_power i = beta -> Between d N B a beta u T c1 c2 b1 bp b2 bn s.
Proof.
  intros <- n w H HT. split; [now apply noise_in |]. split; [apply variogram_low; lra | now apply variogram_high].
Qed.

Lemma variogram_left beta n W w W0 l2 : half_power i = beta -> 0 <= beta -> 0 < W0 <= W -> T <= tokens d n u -> 0 <= w <= u ->
  l2 < (b1 * Rpower u (2 - beta) + bp) * / u ^ 2 * Rpower W0 beta -> l2 < Rpower W beta * B n w.
Proof.
  intros <- Hb HW HT Hw H. apply Rlt_le_trans with (1 := H). pose proof (variogram_low n w u Hw (Rle_refl u) HT) as L.
  set (beta := half_power i) in *.
  assert (P : Rpower W0 beta <= Rpower W beta) by (apply power_le; lra). pose proof (power_pos W0 beta).
  assert (E : (b1 * Rpower u (2 - beta) + bp) * / u ^ 2 = b1 * Rpower u (- beta) + bp * Rpower u (- (2))).
  { rewrite <- power_two by lra. rewrite Rmult_plus_distr_r, Rmult_assoc, <- Rpower_plus. do 3 f_equal. ring. }
  rewrite E. pose proof (power_pos u (- beta)) as Q1. pose proof (power_pos u (- (2))) as Q2.
  pose proof (Rmult_lt_0_compat _ _ b1_pos Q1). pose proof (Rmult_le_pos _ _ bp_pos (Rlt_le _ _ Q2)).
  rewrite (Rmult_comm (Rpower W beta)). apply Rmult_le_compat; lra.
Qed.
End Variogram.
End Stage.

(* Between the u of one stage and that of the next the bias alone is larger. *)
Lemma between_left d N B a beta u T c1 c2 b1 bp b2 bn s n w W W0 v l2 : Between d N B a beta u T c1 c2 b1 bp b2 bn s ->
  0 < u -> 0 <= beta -> 0 < b1 -> 0 <= bp -> u <= w <= v -> T <= tokens d n w -> 0 < W0 <= W ->
  l2 < b1 * Rpower v (- beta) * Rpower W0 beta -> l2 < Rpower W beta * B n w.
Proof.
  intros H Hu Hb Hb1 Hbp Hw HT HW Hl. destruct (H n w (proj1 Hw) HT) as [_ [L _]].
  assert (P : Rpower v (- beta) <= Rpower w (- beta)) by (apply power_fall; lra).
  assert (Q : Rpower W0 beta <= Rpower W beta) by (apply power_le; lra).
  assert (0 <= bp * Rpower w (- (2))) by (apply Rmult_le_pos; [assumption | left; apply power_pos]).
  pose proof (power_pos v (- beta)). pose proof (power_pos W0 beta).
  apply (Rmult_le_compat_l b1) in P; [| lra]. assert (0 < b1 * Rpower v (- beta)) by pos.
  apply Rlt_le_trans with (1 := Hl). rewrite (Rmult_comm (Rpower W beta)). apply Rmult_le_compat; lra.
Qed.

(* A sum of exponentials is convex: above its value at y0 on one side of a point that lies above, it stays above. *)
Section Convex.
Variables (k1 k2 k3 r1 r2 r3 : R).
Hypotheses (k1_pos : 0 <= k1) (k2_pos : 0 <= k2) (k3_pos : 0 <= k3).
Definition exponentials (y : R) : R := k1 * exp (r1 * y) + k2 * exp (r2 * y) + k3 * exp (r3 * y).
Definition slope (y : R) : R := k1 * (r1 * exp (r1 * y)) + k2 * (r2 * exp (r2 * y)) + k3 * (r3 * exp (r3 * y)).

Lemma tangent_one k r y z : 0 <= k -> k * exp (r * y) + k * (r * exp (r * y)) * (z - y) <= k * exp (r * z).
Proof.
  intros H. replace (r * z) with (r * y + r * (z - y)) by ring. rewrite exp_plus.
  pose proof (exp_ineq1_le (r * (z - y))). pose proof (exp_pos (r * y)).
  replace (k * exp (r * y) + k * (r * exp (r * y)) * (z - y)) with (k * exp (r * y) * (1 + r * (z - y))) by ring.
  rewrite <- Rmult_assoc. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | lra].
Qed.

Lemma tangent y z : exponentials y + slope y * (z - y) <= exponentials z.
Proof.
  unfold exponentials, slope. pose proof (tangent_one k1 r1 y z k1_pos). pose proof (tangent_one k2 r2 y z k2_pos).
  pose proof (tangent_one k3 r3 y z k3_pos). lra.
Qed.

Lemma outside A y0 y1 y : exponentials y0 <= A -> A < exponentials y1 -> y0 < y1 <= y \/ y <= y1 < y0 -> A < exponentials y.
Proof.
  intros H0 H1 H. pose proof (tangent y1 y0). pose proof (tangent y1 y).
  destruct H; destruct (Rle_lt_dec 0 (slope y1)); nra.
Qed.
End Convex.

Lemma sum_of_powers c1 b1 bp a beta v x : 0 < x ->
  c1 * Rpower x a + b1 * Rpower x (- beta) + bp * v * Rpower x (- (2))
  = exponentials c1 b1 (bp * v) a (- beta) (- (2)) (ln x).
Proof. reflexivity. Qed.

(* And it is convex: between two places it is below its chord. *)
Lemma chord k r y0 y1 t : 0 <= k -> 0 <= t <= 1 ->
  k * exp (r * (t * y0 + (1 - t) * y1)) <= t * (k * exp (r * y0)) + (1 - t) * (k * exp (r * y1)).
Proof.
  intros Hk Ht. set (y := t * y0 + (1 - t) * y1). pose proof (tangent_one k r y y0 Hk) as A.
  pose proof (tangent_one k r y y1 Hk) as B. apply (Rmult_le_compat_l t) in A; [| lra].
  apply (Rmult_le_compat_l (1 - t)) in B; [| lra]. set (P := k * exp (r * y)) in *.
  set (D := k * (r * exp (r * y))) in *. clearbody P D.
  assert (Z : t * (P + D * (y0 - y)) + (1 - t) * (P + D * (y1 - y)) = P) by (unfold y; ring). lra.
Qed.

Section Window.
Variables (d : nat) (N B : nat -> R -> R) (a beta u T c1 c2 b1 bp b2 bn s R2 : R).
Hypotheses (a_pos : 0 < a) (beta_in : 0 < beta <= 2) (u_pos : 0 < u).
Hypotheses (c1_pos : 0 < c1) (b1_pos : 0 < b1) (bp_pos : 0 <= bp) (bn_pos : 0 <= bn) (s_pos : 0 <= s) (R2_pos : 0 < R2).
Hypothesis between : Between d N B a beta u T c1 c2 b1 bp b2 bn s.
Hypothesis few : forall n w, u <= w -> (1 <= n)%nat -> 0 < tokens d n w /\ / tokens d n w <= R2 * Rpower w a / INR n.
Variables (W0 K at_ lo hi fin l1 l2 : R).
Definition below (x v : R) : R := c1 * Rpower x a + b1 * Rpower x (- beta) + bp * v * Rpower x (- (2)).
Definition above (x v : R) : R :=
  c2 * Rpower x a + b2 * Rpower x (- beta) + bn * v * Rpower x (- (2)) + s * Rpower x (a - 1) / K.
Definition excess : R := Rmax beta 1 - 1.
Definition v0 : R := Rpower W0 (beta - 2).
Definition enough (n : nat) (W : R) : Prop := W0 <= W /\ K * Rpower W (a + excess) <= INR n /\ (1 <= n)%nat.
Hypotheses (W0_ge : 1 <= W0) (K_pos : 0 < K) (order : 0 < lo < at_ /\ at_ < hi <= fin) (u_le : u <= at_ * W0).
Hypotheses (lo_0 : above at_ 0 < below lo 0) (lo_1 : above at_ v0 < below lo v0).
Hypotheses (hi_0 : above at_ 0 < below hi 0) (hi_1 : above at_ v0 < below hi v0).
Hypotheses (far : l2 < c1 * Rpower fin a) (l2_ge : above at_ v0 <= l2) (l1_le : forall x, 0 < x -> l1 <= below x 0).
Hypothesis T_le : T * R2 * Rpower fin a <= K * Rpower W0 excess.
Hypothesis left_of_u : forall n W w, enough n W -> T <= tokens d n u -> 0 <= w <= u ->
  l2 < Rpower W beta * B n w.
Hypotheses (rises : Chebyshev_noise N) (continuous : Continuous N B).
Hypotheses (nonneg : Squares N) (bias_nonneg : Squares B).

Definition scaled (n : nat) (W w : R) : R := INR n * Rpower W (- a) * N n w + Rpower W beta * B n w.

Lemma linear_in x v : 0 <= v <= v0 -> above at_ 0 < below x 0 -> above at_ v0 < below x v0 -> above at_ v < below x v.
Proof.
  unfold above, below. intros [Hv0 Hv1] H0 H1. set (p := Rpower x (- (2))) in *. set (q := Rpower at_ (- (2))) in *.
  set (A := c2 * Rpower at_ a + b2 * Rpower at_ (- beta)) in *. set (C := s * Rpower at_ (a - 1) / K) in *.
  set (E := c1 * Rpower x a + b1 * Rpower x (- beta)) in *.
  destruct (Rle_lt_dec (bn * q) (bp * p)).
  { assert (0 <= (bp * p - bn * q) * v) by (apply Rmult_le_pos; lra). lra. }
  assert ((bn * q - bp * p) * v <= (bn * q - bp * p) * v0) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma v_in W : W0 <= W -> 0 <= Rpower W (beta - 2) <= v0.
Proof. intros H. split; [left; apply power_pos | apply power_fall; lra]. Qed.

Lemma excess_ge : 0 <= excess.
Proof. unfold excess. pose proof (Rmax_r beta 1). lra. Qed.

Lemma one_le W : W0 <= W -> 0 < Rpower W a /\ 0 < Rpower W beta /\ 1 <= Rpower W excess.
Proof.
  intros H. repeat split; try apply power_pos. pose proof excess_ge as E.
  replace 1 with (Rpower 1 excess) by (unfold Rpower; rewrite ln_1, Rmult_0_r; apply exp_0). apply power_le; lra.
Qed.

Section Context.
Variables (n : nat) (W : R).
Hypothesis context : enough n W.

Lemma n_ge : 1 <= INR n /\ (1 <= n)%nat /\ W0 <= W.
Proof. destruct context as [H [_ H1]]. repeat split; auto. replace 1 with (INR 1) by reflexivity. now apply le_INR. Qed.

Lemma many w : u <= w <= fin * W -> T <= tokens d n w.
Proof.
  intros Hw. destruct n_ge as [_ [Hn HW]]. destruct (few n w) as [P Q]; [lra | assumption |].
  destruct context as [_ [H _]]. destruct (one_le W HW) as [Pa [_ Pe]]. pose proof (power_pos W0 excess).
  assert (n_pos : 0 < INR n) by (apply lt_0_INR; lia).
  rewrite <- (Rinv_inv (tokens d n w)).
  apply Rle_trans with (/ (R2 * Rpower w a / INR n)); [| apply Rinv_le_contravar; [pos | assumption]].
  pose proof (power_pos w a) as Pw. pose proof (power_pos fin a) as Pf.
  replace (/ (R2 * Rpower w a / INR n)) with (INR n / (R2 * Rpower w a)) by (field; lra).
  apply Rmult_le_reg_r with (R2 * Rpower w a); [pos |].
  replace (INR n / (R2 * Rpower w a) * (R2 * Rpower w a)) with (INR n) by (field; lra).
  assert (A : Rpower w a <= Rpower fin a * Rpower W a) by (rewrite Rpower_mult_distr by lra; apply power_le; lra).
  assert (E : Rpower W0 excess <= Rpower W excess) by (apply power_le; [lra | apply excess_ge]).
  apply Rle_trans with (2 := H). rewrite Rpower_plus.
  destruct (Rle_lt_dec T 0) as [HT | HT].
  { apply Rle_trans with (0 * (R2 * Rpower w a)); [apply Rmult_le_compat_r; [left; pos | assumption] |].
    rewrite Rmult_0_l. left; pos. }
  apply Rle_trans with (T * R2 * Rpower fin a * Rpower W a).
  - replace (T * R2 * Rpower fin a * Rpower W a) with (T * (R2 * (Rpower fin a * Rpower W a))) by ring.
    apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat_l; lra.
  - apply Rle_trans with (K * Rpower W0 excess * Rpower W a); [apply Rmult_le_compat_r; lra |].
    replace (K * (Rpower W a * Rpower W excess)) with (K * Rpower W excess * Rpower W a) by ring.
    apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_l; lra.
Qed.

Lemma factors x : 0 < x -> Rpower (x * W) a = Rpower x a * Rpower W a
  /\ Rpower W beta * Rpower (x * W) (- beta) = Rpower x (- beta)
  /\ Rpower W beta * Rpower (x * W) (- (2)) = Rpower W (beta - 2) * Rpower x (- (2))
  /\ Rpower W (- a) * Rpower W a = 1.
Proof.
  intros H. destruct n_ge as [_ [_ HW]]. rewrite <- !Rpower_mult_distr by lra. unfold Rminus.
  rewrite (Rpower_plus beta). rewrite !Rpower_Ropp.
  pose proof (power_pos W beta). pose proof (power_pos W a). pose proof (power_pos x beta).
  repeat split; field; repeat split; try lra; apply Rgt_not_eq, power_pos.
Qed.

Lemma at_least_if x : u <= x * W -> T <= tokens d n (x * W) -> 0 < x ->
  below x (Rpower W (beta - 2)) <= scaled n W (x * W).
Proof.
  intros H HT Hx. destruct n_ge as [_ [Hn HW]]. destruct (factors x Hx) as [F1 [F2 [F3 F4]]].
  destruct (between n (x * W)) as [[A _] [C _]]; [assumption | assumption |]. rewrite F1 in A.
  assert (n_pos : 0 < INR n) by (apply lt_0_INR; lia). pose proof (power_pos W (- a)). pose proof (power_pos W beta).
  unfold scaled, below.
  apply (Rmult_le_compat_l (INR n * Rpower W (- a))) in A; [| left; pos].
  apply (Rmult_le_compat_l (Rpower W beta)) in C; [| lra].
  replace (INR n * Rpower W (- a) * (c1 * (Rpower x a * Rpower W a) / INR n))
    with (c1 * Rpower x a * (Rpower W (- a) * Rpower W a)) in A by (field; lra). rewrite F4 in A.
  replace (Rpower W beta * (b1 * Rpower (x * W) (- beta) + bp * Rpower (x * W) (- (2))))
    with (b1 * (Rpower W beta * Rpower (x * W) (- beta)) + bp * (Rpower W beta * Rpower (x * W) (- (2)))) in C by ring.
  rewrite F2, F3 in C. lra.
Qed.

Lemma at_least x : u <= x * W <= fin * W -> 0 < x -> below x (Rpower W (beta - 2)) <= scaled n W (x * W).
Proof. intros H Hx. apply at_least_if; [lra | now apply many | assumption]. Qed.

Lemma at_most_if x : u <= x * W -> T <= tokens d n (x * W) -> 0 < x ->
  scaled n W (x * W) <= above x (Rpower W (beta - 2)).
Proof.
  intros H HT Hx. destruct n_ge as [_ [Hn HW]]. destruct (factors x Hx) as [F1 [F2 [F3 F4]]].
  destruct (between n (x * W)) as [[_ A] [_ C]]; [assumption | assumption |]. rewrite F1 in A.
  assert (n_pos : 0 < INR n) by (apply lt_0_INR; lia). pose proof (power_pos W (- a)). pose proof (power_pos W beta).
  unfold scaled, above.
  apply (Rmult_le_compat_l (INR n * Rpower W (- a))) in A; [| left; pos].
  apply (Rmult_le_compat_l (Rpower W beta)) in C; [| lra].
  replace (INR n * Rpower W (- a) * (c2 * (Rpower x a * Rpower W a) / INR n))
    with (c2 * Rpower x a * (Rpower W (- a) * Rpower W a)) in A by (field; lra). rewrite F4 in A.
  replace (Rpower W beta * (b2 * Rpower (x * W) (- beta) + bn * Rpower (x * W) (- (2))
      + s * Rpower (x * W) (a - 1) / INR n))
    with (b2 * (Rpower W beta * Rpower (x * W) (- beta)) + bn * (Rpower W beta * Rpower (x * W) (- (2)))
      + s * Rpower (x * W) (a - 1) * (Rpower W beta / INR n)) in C by (field; lra).
  rewrite F2, F3 in C. rewrite <- Rpower_mult_distr in C by lra.
  assert (G : s * (Rpower x (a - 1) * Rpower W (a - 1)) * (Rpower W beta / INR n) <= s * Rpower x (a - 1) / K).
  { destruct context as [_ [E _]]. pose proof (power_pos x (a - 1)).
    replace (s * (Rpower x (a - 1) * Rpower W (a - 1)) * (Rpower W beta / INR n))
      with (s * Rpower x (a - 1) * (Rpower W (a - 1) * Rpower W beta / INR n)) by (field; lra).
    unfold Rdiv at 2. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra |].
    apply Rmult_le_reg_r with (INR n * K); [pos |].
    replace (Rpower W (a - 1) * Rpower W beta / INR n * (INR n * K)) with (K * (Rpower W (a - 1) * Rpower W beta))
      by (field; lra).
    replace (/ K * (INR n * K)) with (INR n) by (field; lra).
    apply Rle_trans with (2 := E). rewrite <- Rpower_plus. apply Rmult_le_compat_l; [lra |].
    apply Rle_Rpower; [lra |]. unfold excess. pose proof (Rmax_l beta 1). lra. }
  lra.
Qed.

Lemma at_most x : u <= x * W <= fin * W -> 0 < x -> scaled n W (x * W) <= above x (Rpower W (beta - 2)).
Proof. intros H Hx. apply at_most_if; [lra | now apply many | assumption]. Qed.

Definition v : R := Rpower W (beta - 2).

Lemma u_small : u <= at_ * W.
Proof. destruct n_ge as [_ [_ HW]]. apply Rle_trans with (1 := u_le). apply Rmult_le_compat_l; lra. Qed.

Lemma above_l2 : above at_ v <= l2.
Proof.
  destruct n_ge as [_ [_ HW]]. apply Rle_trans with (2 := l2_ge). unfold above. pose proof (v_in W HW) as [_ H]. fold v in H.
  pose proof (power_pos at_ (- (2))). apply Rplus_le_compat_r, Rplus_le_compat_l.
  apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_l; lra.
Qed.

Lemma best_le : scaled n W (at_ * W) <= above at_ v.
Proof.
  destruct n_ge as [_ [_ HW]]. apply at_most; [| lra]. split; [apply u_small |]. apply Rmult_le_compat_r; lra.
Qed.

Lemma worse w : 0 <= w -> w <= lo * W \/ hi * W <= w -> above at_ v < scaled n W w.
Proof.
  intros H0 H. destruct n_ge as [_ [Hn HW]]. destruct (one_le W HW) as [Pa [Pb _]].
  assert (n_pos : 0 < INR n) by (apply lt_0_INR; lia). pose proof above_l2 as L. pose proof u_small as U.
  pose proof (power_pos W (- a)).
  destruct (Rle_lt_dec w u) as [Hu | Hu].
  { apply Rle_lt_trans with (1 := L). unfold scaled. assert (uu : u <= u <= fin * W) by (assert (at_ * W <= fin * W) by (apply Rmult_le_compat_r; lra); lra).
    pose proof (left_of_u n W w context (many u uu) (conj H0 Hu)).
    pose proof (nonneg n w Hn H0). assert (0 <= INR n * Rpower W (- a) * N n w) by (repeat apply Rmult_le_pos; lra). lra. }
  destruct (Rle_lt_dec w (fin * W)) as [Hf | Hf].
  - set (x := w / W). assert (E : w = x * W) by (unfold x; field; lra).
    assert (x_pos : 0 < x) by (unfold x; pos). rewrite E in *. clearbody x.
    apply Rlt_le_trans with (below x v); [| apply at_least; lra].
    unfold below. rewrite sum_of_powers by lra.
    assert (v_pos : 0 <= v) by (left; apply power_pos). assert (bv : 0 <= bp * v) by (apply Rmult_le_pos; lra).
    assert (S0 : exponentials c1 b1 (bp * v) a (- beta) (- (2)) (ln at_) <= above at_ v).
    { rewrite <- sum_of_powers by lra. apply Rle_trans with (2 := best_le). apply at_least; [| lra].
      split; [assumption | apply Rmult_le_compat_r; lra]. }
    assert (I : 0 <= v <= v0) by (apply v_in; assumption).
    destruct H as [H | H].
    + apply (outside c1 b1 (bp * v) a (- beta) (- (2))) with (ln at_) (ln lo); try lra.
      * rewrite <- sum_of_powers by lra. now apply linear_in.
      * right. split; [| apply ln_increasing; lra].
        assert (x <= lo) by (apply Rmult_le_reg_r with W; lra). apply ln_le; lra.
    + apply (outside c1 b1 (bp * v) a (- beta) (- (2))) with (ln at_) (ln hi); try lra.
      * rewrite <- sum_of_powers by lra. now apply linear_in.
      * left. split; [apply ln_increasing; lra |].
        assert (hi <= x) by (apply Rmult_le_reg_r with W; lra). apply ln_le; lra.
  - apply Rle_lt_trans with (1 := L). apply Rlt_le_trans with (1 := far).
    assert (fu : u <= fin * W) by (apply Rle_trans with (1 := U), Rmult_le_compat_r; lra).
    assert (fm : u <= fin * W <= fin * W) by lra.
    destruct (between n (fin * W) fu (many _ fm)) as [[A _] _].
    destruct (factors fin ltac:(lra)) as [F1 [_ [_ F4]]]. rewrite F1 in A.
    pose proof (rises n (fin * W) w Hn ltac:(split; [apply Rmult_le_pos |]; lra)) as M.
    assert (Bp : 0 <= Rpower W beta * B n w).
    { apply Rmult_le_pos; [lra |]. apply bias_nonneg; assumption. }
    unfold scaled. apply Rle_trans with (INR n * Rpower W (- a) * (c1 * (Rpower fin a * Rpower W a) / INR n)).
    + replace (INR n * Rpower W (- a) * (c1 * (Rpower fin a * Rpower W a) / INR n))
        with (c1 * Rpower fin a * (Rpower W (- a) * Rpower W a)) by (field; lra). rewrite F4. lra.
    + apply (Rmult_le_compat_l (INR n * Rpower W (- a))) in A; [| left; pos].
      apply (Rmult_le_compat_l (INR n * Rpower W (- a))) in M; [| left; pos]. lra.
Qed.
End Context.

Definition loss (L sigma : R) (n : nat) (w : R) : R := sigma ^ 2 * N n w + L ^ 2 * B n w.

(* No w < 0 is as good, where K(t) - K(-t) rises in t. *)
Lemma over_all_reals L sigma n (P : R -> Prop) : Opposite N B -> (1 <= n)%nat -> 0 < L ->
  (exists w, 0 <= w /\ forall x, 0 <= x -> loss L sigma n w <= loss L sigma n x) /\
  (forall w, 0 <= w -> (forall x, 0 <= x -> loss L sigma n w <= loss L sigma n x) -> P w) ->
  (exists w, forall x, loss L sigma n w <= loss L sigma n x) /\
  (forall w, (forall x, loss L sigma n w <= loss L sigma n x) -> P w).
Proof.
  intros opposite Hn HL [[w [Hw Hmin]] all].
  assert (worse : forall x, 0 < x -> loss L sigma n x < loss L sigma n (- x)).
  { intros x Hx. destruct (opposite n x Hn Hx) as [E G]. unfold loss. rewrite E.
    apply Rplus_lt_compat_l, Rmult_lt_compat_l; [pos | assumption]. }
  split.
  - exists w. intros x. destruct (Rle_lt_dec 0 x) as [Hx | Hx]; [now apply Hmin |].
    pose proof (worse (- x) ltac:(lra)). rewrite Ropp_involutive in *. specialize (Hmin (- x) ltac:(lra)). lra.
  - intros z Hz. apply all; [| intros; apply Hz]. destruct (Rle_lt_dec 0 z) as [H | H]; [assumption |].
    pose proof (worse (- z) ltac:(lra)). rewrite Ropp_involutive in *. specialize (Hz (- z)). lra.
Qed.

Section Loss.
Variables (n : nat) (L sigma : R).
Hypotheses (L_pos : 0 < L) (sigma_pos : 0 < sigma).
Definition scale : R := Rpower (INR n * L ^ 2 / sigma ^ 2) (1 / (a + beta)).
Hypothesis context : enough n scale.

Lemma scale_power : Rpower scale (a + beta) = INR n * L ^ 2 / sigma ^ 2.
Proof.
  destruct (n_ge n scale context) as [H _]. unfold scale. rewrite Rpower_mult.
  replace (1 / (a + beta) * (a + beta)) with 1 by (field; lra). apply Rpower_1. pos.
Qed.

Lemma loss_scaled w : loss L sigma n w * Rpower scale beta / L ^ 2 = scaled n scale w.
Proof.
  destruct (n_ge n scale context) as [H _]. pose proof scale_power as S. rewrite Rpower_plus in S.
  unfold loss, scaled. rewrite Rpower_Ropp.
  pose proof (power_pos scale a) as P. pose proof (power_pos scale beta) as Q.
  set (x := Rpower scale a) in *. set (z := Rpower scale beta) in *.
  assert (E : z = INR n * L ^ 2 / sigma ^ 2 / x) by (rewrite <- S; field; lra).
  rewrite E. field. lra.
Qed.

Lemma less w v : scaled n scale w < scaled n scale v <-> loss L sigma n w < loss L sigma n v.
Proof.
  rewrite <- !loss_scaled. pose proof (power_pos scale beta). assert (0 < L ^ 2) by pos. unfold Rdiv.
  rewrite !(Rmult_assoc (loss L sigma n _)). assert (0 < Rpower scale beta * / L ^ 2) by pos.
  split; intros; [apply Rmult_lt_reg_r with (1 := H1) | apply Rmult_lt_compat_r]; assumption.
Qed.

(* The optimal window: a least value exists, and every w that attains it lies between low W and high W. *)
Theorem window :
  (exists w, 0 <= w /\ forall x, 0 <= x -> loss L sigma n w <= loss L sigma n x) /\
  forall w, 0 <= w -> (forall x, 0 <= x -> loss L sigma n w <= loss L sigma n x) ->
    lo * scale < w < hi * scale /\ l1 <= loss L sigma n w * Rpower scale beta / L ^ 2 <= l2.
Proof.
  destruct (n_ge n scale context) as [_ [Hn HW]]. pose proof (worse n scale context) as worse.
  pose proof (best_le n scale context) as best_le. pose proof (above_l2 n scale context) as above_l2.
  pose proof (u_small n scale context) as u_small. pose proof (at_least n scale context) as at_least.
  assert (at_pos : 0 < at_ * scale) by (apply Rmult_lt_0_compat; lra).
  assert (out : forall x, 0 <= x -> x <= lo * scale \/ hi * scale <= x -> loss L sigma n (at_ * scale) < loss L sigma n x).
  { intros x Hx H. apply less. apply Rle_lt_trans with (1 := best_le). now apply worse. }
  split.
  - destruct (continuity_ab_min (loss L sigma n) 0 (hi * scale)) as [w [H1 H2]].
    + apply Rmult_le_pos; lra.
    + intros x _. destruct (continuous n x Hn) as [C1 C2]. unfold loss.
      apply (continuity_pt_plus (fun x => sigma ^ 2 * N n x) (fun x => L ^ 2 * B n x));
        apply (continuity_pt_mult (fun _ => _)); auto; apply continuity_pt_const; intros p q; reflexivity.
    + exists w. split; [lra |]. intros x Hx. destruct (Rle_lt_dec x (hi * scale)) as [H | H]; [apply H1; lra |].
      apply Rle_trans with (loss L sigma n (at_ * scale)).
      * apply H1. split; [lra |]. apply Rmult_le_compat_r; lra.
      * left. apply out; [assumption | right; lra].
  - intros w Hw Hmin. assert (I : lo * scale < w < hi * scale).
    { split; apply Rnot_le_lt; intros H;
        (assert (O : loss L sigma n (at_ * scale) < loss L sigma n w) by (apply out; auto));
        specialize (Hmin (at_ * scale) ltac:(lra)); lra. }
    split; [assumption |]. rewrite loss_scaled.
    assert (up : scaled n scale w <= above at_ (v scale)).
    { apply Rle_trans with (2 := best_le). apply Rnot_lt_le. intros H. apply less in H.
      specialize (Hmin (at_ * scale) ltac:(lra)). lra. }
    split; [| lra].
    destruct (Rle_lt_dec w u) as [Hu | Hu].
    { exfalso. assert (uu : u <= u <= fin * scale)
        by (assert (at_ * scale <= fin * scale) by (apply Rmult_le_compat_r; lra); lra).
      pose proof (left_of_u n scale w context (many n scale context u uu) (conj Hw Hu)). pose proof (nonneg n w Hn Hw).
      assert (n_pos : 0 < INR n) by (apply lt_0_INR; lia). pose proof (power_pos scale (- a)).
      assert (0 <= INR n * Rpower scale (- a) * N n w) by (repeat apply Rmult_le_pos; lra). unfold scaled in up. lra. }
    set (x := w / scale). assert (E : w = x * scale) by (unfold x; field; lra).
    assert (x_pos : 0 < x) by (unfold x; pos). rewrite E in *. clearbody x.
    assert (xf : x * scale <= fin * scale) by (apply Rle_trans with (hi * scale); [lra | apply Rmult_le_compat_r; lra]).
    apply Rle_trans with (2 := at_least x ltac:(lra) x_pos).
    apply Rle_trans with (1 := l1_le x x_pos). unfold below. rewrite Rmult_0_r, Rmult_0_l, Rplus_0_r.
    assert (0 <= bp * Rpower scale (beta - 2) * Rpower x (- (2))); [| lra].
    pose proof (power_pos scale (beta - 2)). pose proof (power_pos x (- (2))). repeat apply Rmult_le_pos; lra.
Qed.

(* The same over all real w. *)
Theorem window_real : Opposite N B ->
  (exists w, forall x, loss L sigma n w <= loss L sigma n x) /\
  forall w, (forall x, loss L sigma n w <= loss L sigma n x) ->
    lo * scale < w < hi * scale /\ l1 <= loss L sigma n w * Rpower scale beta / L ^ 2 <= l2.
Proof.
  intros opposite. destruct (n_ge n scale context) as [_ [Hn _]].
  exact (over_all_reals L sigma n _ opposite Hn L_pos window).
Qed.
End Loss.

(* Of the tasks of L' = rho L: what the w* of L costs. *)
Section Transfer.
Variables (rho worse1 worse2 : R).
Definition moved : R := Rpower rho (- (2 / (a + beta))).
Hypotheses (rho_pos : 0 < rho) (u_lo : u <= lo * W0) (l1_pos : 0 < l1) (c2_pos : 0 <= c2) (b2_pos : 0 <= b2).
Hypotheses (worse1_pos : 0 <= worse1) (worse2_pos : 0 <= worse2).
Hypothesis worse1_le : forall x, lo * moved <= x <= hi * moved -> worse1 * l2 <= below x 0.
Hypotheses (worse2_lo : above (lo * moved) v0 <= worse2 * l1) (worse2_hi : above (hi * moved) v0 <= worse2 * l1).

Lemma above_ends x e0 e1 v z : 0 < e0 -> e0 <= x <= e1 -> 0 <= v -> above e0 v <= z -> above e1 v <= z -> above x v <= z.
Proof.
  intros He Hx Hv H0 H1. destruct (Rle_lt_dec e1 e0) as [E | E]; [replace x with e0 by lra; assumption |].
  assert (L : ln e0 < ln e1) by (apply ln_increasing; lra). assert (L0 : ln e0 <= ln x) by (apply ln_le; lra).
  assert (L1 : ln x <= ln e1) by (apply ln_le; lra). set (t := (ln e1 - ln x) / (ln e1 - ln e0)).
  assert (P : 0 < / (ln e1 - ln e0)) by (apply Rinv_0_lt_compat; lra).
  assert (t0 : 0 <= t) by (apply Rmult_le_pos; lra).
  assert (t1 : t <= 1) by (apply Rmult_le_reg_r with (ln e1 - ln e0); [lra |]; unfold t; field_simplify; lra).
  assert (Y : ln x = t * ln e0 + (1 - t) * ln e1) by (unfold t; field; lra).
  assert (C : above x v <= t * above e0 v + (1 - t) * above e1 v).
  { unfold above, Rpower. rewrite Y. set (y0 := ln e0). set (y1 := ln e1).
    assert (Kp : 0 <= s / K) by (apply Rmult_le_pos; [| left; apply Rinv_0_lt_compat]; lra).
    assert (bp_v : 0 <= bn * v) by (apply Rmult_le_pos; lra).
    pose proof (chord c2 a y0 y1 t c2_pos (conj t0 t1)). pose proof (chord b2 (- beta) y0 y1 t b2_pos (conj t0 t1)).
    pose proof (chord (bn * v) (- (2)) y0 y1 t bp_v (conj t0 t1)). pose proof (chord (s / K) (a - 1) y0 y1 t Kp (conj t0 t1)).
    lra. }
  assert (t * above e0 v <= t * z) by (apply Rmult_le_compat_l; lra).
  assert ((1 - t) * above e1 v <= (1 - t) * z) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* Where below rises at e it is larger beyond, where it falls before. *)
Lemma below_beyond e x : 0 < e -> 0 < x -> 0 <= (c1 * (a * Rpower e a) + b1 * (- beta * Rpower e (- beta))) * (ln x - ln e) ->
  below e 0 <= below x 0.
Proof.
  intros He Hx H. unfold below. rewrite !sum_of_powers by assumption.
  pose proof (tangent c1 b1 (bp * 0) a (- beta) (- (2)) ltac:(lra) ltac:(lra) ltac:(lra) (ln e) (ln x)) as G.
  unfold slope in G. unfold Rpower in H. rewrite Rmult_0_r in *. lra.
Qed.

Theorem transferred n L sigma : 0 < L -> 0 < sigma -> enough n (scale n L sigma) -> enough n (scale n (rho * L) sigma) ->
  forall w w', lo * scale n L sigma < w < hi * scale n L sigma ->
  l1 <= loss (rho * L) sigma n w' * Rpower (scale n (rho * L) sigma) beta / (rho * L) ^ 2 <= l2 ->
  worse1 <= loss (rho * L) sigma n w / loss (rho * L) sigma n w' <= worse2.
Proof.
  intros HL Hs H H' w w' Hw Hl. assert (RL : 0 < rho * L) by pos.
  destruct (n_ge n _ H) as [_ [Hn HW]]. destruct (n_ge n _ H') as [_ [_ HW']].
  assert (n_pos : 0 < INR n) by (apply lt_0_INR; lia).
  assert (E : scale n L sigma = moved * scale n (rho * L) sigma).
  { unfold scale, moved. replace (INR n * (rho * L) ^ 2 / sigma ^ 2) with (Rpower rho 2 * (INR n * L ^ 2 / sigma ^ 2)).
    - rewrite <- Rpower_mult_distr by (try apply power_pos; pos). rewrite Rpower_mult, <- Rmult_assoc, <- Rpower_plus.
      replace (- (2 / (a + beta)) + 2 * (1 / (a + beta))) with 0 by (field; lra). rewrite Rpower_O by assumption. ring.
    - replace 2 with (INR 2) by (simpl; ring). rewrite Rpower_pow by assumption. field. lra. }
  rewrite (loss_scaled n (rho * L) sigma RL Hs H') in Hl. pose proof (loss_scaled n (rho * L) sigma RL Hs H' w) as F.
  pose proof (loss_scaled n (rho * L) sigma RL Hs H' w') as F'. pose proof (many n _ H w) as M.
  set (W := scale n L sigma) in *. set (W' := scale n (rho * L) sigma) in *. clearbody W W'.
  assert (A : lo * W0 <= lo * W) by (apply Rmult_le_compat_l; lra). assert (B' : hi * W <= fin * W) by (apply Rmult_le_compat_r; lra).
  specialize (M ltac:(lra)). set (x := w / W'). assert (Ex : w = x * W') by (unfold x; field; lra).
  assert (X : lo * moved <= x <= hi * moved).
  { rewrite E, Ex in Hw. split; left; apply Rmult_lt_reg_r with W'; lra. }
  assert (mv : 0 < moved) by apply power_pos. assert (x0 : 0 < lo * moved) by (apply Rmult_lt_0_compat; lra).
  rewrite Ex in M. assert (ux : u <= x * W') by lra.
  pose proof (at_least_if n W' H' x ux M ltac:(lra)) as G1. pose proof (at_most_if n W' H' x ux M ltac:(lra)) as G2.
  rewrite <- Ex in G1, G2. destruct (v_in W' HW') as [V0 V1]. specialize (worse1_le x X).
  assert (D : below x 0 <= below x (Rpower W' (beta - 2))).
  { unfold below. rewrite Rmult_0_r, Rmult_0_l, Rplus_0_r. pose proof (power_pos x (- (2))).
    assert (0 <= bp * Rpower W' (beta - 2) * Rpower x (- (2))) by (repeat apply Rmult_le_pos; lra). lra. }
  assert (U : above x (Rpower W' (beta - 2)) <= above x v0).
  { unfold above. pose proof (power_pos x (- (2))).
    assert (bn * Rpower W' (beta - 2) * Rpower x (- (2)) <= bn * v0 * Rpower x (- (2))); [| lra].
    apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_l; lra. }
  pose proof (above_ends x (lo * moved) (hi * moved) v0 (worse2 * l1) x0 X ltac:(lra) worse2_lo worse2_hi) as Z.
  set (S := scaled n W' w) in *. set (S' := scaled n W' w') in *. set (l := loss (rho * L) sigma n w) in *.
  set (l' := loss (rho * L) sigma n w') in *. set (f := Rpower W' beta / (rho * L) ^ 2).
  assert (fp : 0 < f) by (apply Rdiv_lt_0_compat; [apply power_pos | pos]).
  assert (F0 : l = S / f) by (rewrite <- F; unfold f; field; repeat split; first [lra | apply Rgt_not_eq, power_pos]).
  assert (F1 : l' = S' / f) by (rewrite <- F'; unfold f; field; repeat split; first [lra | apply Rgt_not_eq, power_pos]).
  rewrite F0, F1. replace (S / f / (S' / f)) with (S / S') by (field; lra).
  assert (worse1 * S' <= worse1 * l2) by (apply Rmult_le_compat_l; lra).
  assert (worse2 * l1 <= worse2 * S') by (apply Rmult_le_compat_l; lra).
  split; apply Rmult_le_reg_r with S'; try lra; replace (S / S' * S') with S by (field; lra); lra.
Qed.
End Transfer.
End Window.

Lemma tokens_enough n t T R R' q : (1 <= n)%nat -> 0 < t -> / t <= R * q / INR n -> R <= R' -> 0 < q -> 0 < T ->
  T * R' * q <= INR n -> T <= t.
Proof.
  intros Hn Ht H HR Hq HT E. assert (n_pos : 0 < INR n) by (apply lt_0_INR; lia).
  apply (Rmult_le_compat_r (t * INR n)) in H; [| left; pos].
  replace (/ t * (t * INR n)) with (INR n) in H by (field; lra).
  replace (R * q / INR n * (t * INR n)) with (R * q * t) in H by (field; lra).
  assert (R * q * t <= R' * q * t) by (apply Rmult_le_compat_r; [lra |]; apply Rmult_le_compat_r; lra).
  assert (0 < R' * q) by (apply Rmult_lt_reg_r with t; lra).
  apply Rmult_le_reg_r with (R' * q); lra.
Qed.

(* From w to rho w noise rises and bias falls. *)
Section Tradeoff.
Variables (d : nat) (N B : nat -> R -> R) (a beta u T c1 c2 b1 bp b2 bn s R2 : R).
Hypotheses (a_pos : 0 < a) (beta_in : 0 < beta <= 2) (u_pos : 0 < u).
Hypotheses (c1_pos : 0 < c1) (b1_pos : 0 < b1) (bp_pos : 0 <= bp) (bn_pos : 0 <= bn) (s_pos : 0 <= s) (R2_pos : 0 < R2).
Hypothesis between : Between d N B a beta u T c1 c2 b1 bp b2 bn s.
Hypothesis few : forall n w, u <= w -> (1 <= n)%nat -> 0 < tokens d n w /\ / tokens d n w <= R2 * Rpower w a / INR n.
Variables (rho K rise1 rise2 fall1 fall2 : R).
Hypotheses (rho_gt : 1 < rho) (u_ge : 1 <= u) (K_pos : 0 < K) (T_le : T * R2 <= K * Rpower (rho * u) (excess beta)).
Hypotheses (T_pos : 0 < T) (rise1_le : rise1 <= Rpower rho a * c1 / c2) (rise2_ge : Rpower rho a * c2 / c1 <= rise2).
Definition b3 : R := b2 + bn * Rpower u (beta - 2).
Hypothesis fall1_le : fall1 <= Rpower rho (- beta) * b1 / (b3 + s / K).
Hypothesis fall2_ge : Rpower rho (- beta) * (b3 + s / K) / b1 <= fall2.

Lemma both n w : u <= w -> (1 <= n)%nat -> K * Rpower (rho * w) (a + excess beta) <= INR n ->
  forall x, u <= x <= rho * w ->
  c1 * Rpower x a / INR n <= N n x <= c2 * Rpower x a / INR n /\
  b1 * Rpower x (- beta) <= B n x <= (b3 + s / K) * Rpower x (- beta).
Proof.
  intros Hw Hn HK x Hx. assert (n_pos : 0 < INR n) by (apply lt_0_INR; lia).
  assert (M : T <= tokens d n x).
  { destruct (few n x) as [P Q]; [lra | assumption |].
    apply (tokens_enough n (tokens d n x) T R2 R2 (Rpower x a)); auto using power_pos; try lra.
    apply Rle_trans with (2 := HK). rewrite Rpower_plus.
    assert (Rpower x a <= Rpower (rho * w) a) by (apply power_le; lra).
    assert (Rpower (rho * u) (excess beta) <= Rpower (rho * w) (excess beta)) 
      by (apply power_le; [split; [pos | apply Rmult_le_compat_l; lra] | apply excess_ge]).
    pose proof (power_pos x a). pose proof (power_pos (rho * u) (excess beta)).
    replace (K * (Rpower (rho * w) a * Rpower (rho * w) (excess beta)))
      with (K * Rpower (rho * w) (excess beta) * Rpower (rho * w) a) by ring.
    apply Rmult_le_compat; [left; pos | left; pos | | lra].
    apply Rle_trans with (1 := T_le). apply Rmult_le_compat_l; lra. }
  destruct (between n x) as [A [C1 C2]]; [lra | assumption |]. split; [assumption |].
  assert (0 <= bp * Rpower x (- (2))) by (apply Rmult_le_pos; [assumption | left; apply power_pos]). split; [lra |].
  assert (Z : bn * Rpower x (- (2)) <= bn * Rpower u (beta - 2) * Rpower x (- beta)).
  { rewrite Rmult_assoc. apply Rmult_le_compat_l; [assumption |].
    replace (- (2)) with (beta - 2 + - beta) by ring. rewrite Rpower_plus.
    apply Rmult_le_compat_r; [left; apply power_pos | apply power_fall; lra]. }
  assert (G : s * Rpower x (a - 1) / INR n <= s / K * Rpower x (- beta)); [| unfold b3; lra].
  replace (s * Rpower x (a - 1) / INR n) with (s * (Rpower x (a - 1) / INR n)) by (field; lra).
  replace (s / K * Rpower x (- beta)) with (s * (Rpower x (- beta) / K)) by (field; lra).
  apply Rmult_le_compat_l; [lra |]. apply Rmult_le_reg_r with (INR n * K); [pos |].
  replace (Rpower x (a - 1) / INR n * (INR n * K)) with (K * Rpower x (a - 1)) by (field; lra).
  replace (Rpower x (- beta) / K * (INR n * K)) with (INR n * Rpower x (- beta)) by (field; lra).
  apply Rle_trans with (K * Rpower (rho * w) (a + excess beta) * Rpower x (- beta)).
  2: { apply Rmult_le_compat_r; [left; apply power_pos | assumption]. }
  rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra |]. pose proof (excess_ge beta) as E.
  apply Rle_trans with (Rpower x (a + excess beta) * Rpower x (- beta)).
  - rewrite <- Rpower_plus. apply Rle_Rpower; [lra |]. unfold excess in *. pose proof (Rmax_l beta 1). lra.
  - apply Rmult_le_compat_r; [left; apply power_pos |]. apply power_le; lra.
Qed.

Lemma ratio x y l1 h1 l2 h2 p q : 0 < l1 -> 0 < l2 -> l1 <= x <= h1 -> l2 <= y <= h2 -> p * h1 <= l2 -> h2 <= q * l1 ->
  0 <= p -> p <= y / x <= q.
Proof.
  intros. assert (0 <= q) by (apply Rmult_le_reg_r with l1; lra).
  split; apply Rmult_le_reg_r with x; try lra; replace (y / x * x) with y by (field; lra).
  - assert (p * x <= p * h1) by (apply Rmult_le_compat_l; lra). lra.
  - assert (q * l1 <= q * x) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Theorem tradeoff n w : u <= w -> (1 <= n)%nat -> K * Rpower (rho * w) (a + excess beta) <= INR n ->
  rise1 <= N n (rho * w) / N n w <= rise2 /\ fall1 <= B n (rho * w) / B n w <= fall2.
Proof.
  intros Hw Hn HK. assert (n_pos : 0 < INR n) by (apply lt_0_INR; lia). assert (wr : w <= rho * w) by (rewrite <- (Rmult_1_l w) at 1; apply Rmult_le_compat_r; lra).
  destruct (both n w Hw Hn HK w ltac:(lra)) as [A1 C1]. destruct (both n w Hw Hn HK (rho * w) ltac:(lra)) as [A2 C2].
  rewrite <- !Rpower_mult_distr in A2, C2 by lra. pose proof (power_pos w a) as P. pose proof (power_pos w (- beta)) as Q.
  pose proof (power_pos rho a) as F. pose proof (power_pos rho (- beta)) as G.
  set (x := Rpower w a) in *. set (z := Rpower w (- beta)) in *. set (f := Rpower rho a) in *.
  set (g := Rpower rho (- beta)) in *. set (b := b3 + s / K) in *. clearbody x z f g b.
  assert (c2_pos : 0 < c2).
  { apply Rmult_lt_reg_r with (x / INR n); [pos |]. rewrite Rmult_0_l. apply Rlt_le_trans with (c1 * x / INR n); [pos |].
    replace (c2 * (x / INR n)) with (c2 * x / INR n) by (field; lra). lra. }
  assert (b_pos : 0 < b) by (apply Rmult_lt_reg_r with z; [lra |]; assert (0 < b1 * z) by pos; lra).
  assert (A : f * c1 / c2 <= N n (rho * w) / N n w <= f * c2 / c1).
  { apply (ratio _ _ (c1 * x / INR n) (c2 * x / INR n) (c1 * (f * x) / INR n) (c2 * (f * x) / INR n));
      try assumption; try pos; try (right; field; lra); left; pos. }
  assert (C : g * b1 / b <= B n (rho * w) / B n w <= g * b / b1).
  { apply (ratio _ _ (b1 * z) (b * z) (b1 * (g * z)) (b * (g * z)));
      try assumption; try pos; try (right; field; lra); left; pos. }
  lra.
Qed.
End Tradeoff.

(* The least value of c x^a + b x^-beta. *)
Lemma balance a beta c b x0 l : 0 < a -> 0 < beta -> 0 < c -> 0 < b ->
  x0 = Rpower (beta * b / (a * c)) (1 / (a + beta)) -> l <= c * Rpower x0 a + b * Rpower x0 (- beta) ->
  forall bp x, 0 < x -> l <= c * Rpower x a + b * Rpower x (- beta) + bp * 0 * Rpower x (- (2)).
Proof.
  intros Ha Hb Hc Hd E H bp x Hx. rewrite Rmult_0_r, Rmult_0_l, Rplus_0_r.
  assert (P : 0 < x0) by (rewrite E; apply power_pos).
  assert (S : Rpower x0 (a + beta) = beta * b / (a * c)).
  { rewrite E, Rpower_mult. replace (1 / (a + beta) * (a + beta)) with 1 by (field; lra). apply Rpower_1. pos. }
  apply Rle_trans with (1 := H).
  pose proof (tangent c b 0 a (- beta) 0 ltac:(lra) ltac:(lra) ltac:(lra) (ln x0) (ln x)) as G.
  unfold exponentials, slope in G. rewrite Rpower_plus in S.
  change (exp (a * ln x0)) with (Rpower x0 a) in G. change (exp (- beta * ln x0)) with (Rpower x0 (- beta)) in G.
  change (exp (a * ln x)) with (Rpower x a) in G. change (exp (- beta * ln x)) with (Rpower x (- beta)) in G.
  rewrite !Rpower_Ropp in *. pose proof (power_pos x0 a). pose proof (power_pos x0 beta).
  assert (Z : c * (a * Rpower x0 a) + b * (- beta * / Rpower x0 beta) = 0).
  { apply Rmult_eq_reg_r with (Rpower x0 beta); [| lra].
    replace ((c * (a * Rpower x0 a) + b * (- beta * / Rpower x0 beta)) * Rpower x0 beta)
      with (c * a * (Rpower x0 a * Rpower x0 beta) - b * beta) by (field; lra). rewrite S. field. lra. }
  rewrite !Rmult_0_l, !Rplus_0_r, Z, Rmult_0_l in G. lra.
Qed.

(* The integral of a weight up to an angle, and what is left of it. *)
Definition head (d k : nat) (w p : R) : R :=
  RInt (fun x => (1 - cos x) ^ k * exp (- (w * (1 - cos x))) * sin x ^ (d - 2)) 0 p.

Lemma weight_in d k w p low high : 0 <= w -> 0 <= p <= PI -> low <= head d k w p <= high ->
  low <= weight d k w <= high + PI * 2 ^ k * exp (- (w * (1 - cos p))).
Proof.
  intros Hw Hp H. set (f := fun x => (1 - cos x) ^ k * exp (- (w * (1 - cos x))) * sin x ^ (d - 2)).
  assert (I : forall x y, ex_RInt f x y) by (intros x y; eexists; apply weight_is).
  assert (E : weight d k w = head d k w p + RInt f p PI).
  { unfold weight, head. symmetry. apply (RInt_Chasles (V := R_CompleteNormedModule)); apply I. }
  assert (L : 0 <= RInt f p PI).
  { apply RInt_ge_0; [lra | apply I |]. intros x Hx. unfold f. pose proof (COS_bound x).
    apply Rmult_le_pos; [apply Rmult_le_pos; [apply pow_le; lra | left; apply exp_pos] |].
    apply pow_le, sin_ge_0; lra. }
  assert (U : RInt f p PI <= RInt (fun _ => 2 ^ k * exp (- (w * (1 - cos p)))) p PI).
  { apply RInt_le; [lra | apply I | apply ex_RInt_const |]. intros x Hx. unfold f. pose proof (COS_bound x).
    assert (C : cos x <= cos p). { apply cos_decr_1; lra. }
    replace (2 ^ k * exp (- (w * (1 - cos p)))) with (2 ^ k * exp (- (w * (1 - cos p))) * 1) by ring.
    assert (0 <= sin x <= 1) by (split; [apply sin_ge_0; lra | apply SIN_bound]).
    apply Rmult_le_compat; [| apply pow_le; lra | | rewrite <- (pow1 (d - 2)); apply pow_incr; lra].
    - apply Rmult_le_pos; [apply pow_le; lra | left; apply exp_pos].
    - apply Rmult_le_compat; [apply pow_le; lra | left; apply exp_pos | apply pow_incr; lra | apply exp_le; nra]. }
  rewrite RInt_const in U. unfold scal in U. simpl in U. unfold mult in U. simpl in U.
  assert (0 < 2 ^ k * exp (- (w * (1 - cos p)))) by (apply Rmult_lt_0_compat; [apply pow_lt; lra | apply exp_pos]).
  rewrite E. split; [lra |]. nra.
Qed.

(* Integrals, and inequalities between numbers. *)
Ltac enclose := first [integral with (i_prec 60, i_fuel 200, i_degree 10)
  | integral with (i_prec 90, i_fuel 200, i_degree 15)].
Ltac close_enough := first [lra | interval with (i_prec 70) | interval with (i_prec 160)].
Ltac extremes := repeat match goal with
  | |- context [Rmin ?x ?y] => first [rewrite (Rmin_left x y) by close_enough | rewrite (Rmin_right x y) by close_enough]
  | |- context [Rmax ?x ?y] => first [rewrite (Rmax_left x y) by close_enough | rewrite (Rmax_right x y) by close_enough]
  end.
Ltac decide_numbers :=
  unfold below, above, b3, moved, v0, excess, stretch, x2, r1, r2, z1, z2, cut, Rpower; extremes; repeat split; close_enough.
(* The same with the bounds of a kink; d is a number. *)
Ltac decide_kink := unfold beyond, norm_low, norm_high, mean_high, next_norm, curve, peak, psi_0, psi_2, psi_above, psi_plane,
  psi_below, qq, fq, ff; cbn [Nat.sub Nat.mul Nat.add fact Z.of_nat Pos.of_succ_nat Pos.succ]; decide_numbers.
(* The same of a law by its variogram: of each of its terms, and in sums over all. *)
Ltac each_term := let t := fresh in let H := fresh in
  intros t H; cbn [List.In] in H; repeat destruct H as [<- | H]; [.. | destruct H]; cbn [fst snd].
(* Least and largest numbers from the inside out. *)
Ltac plain x := lazymatch x with context [Rmin _ _] => fail | context [Rmax _ _] => fail | _ => idtac end.
Ltac compared := first [interval with (i_prec 70) | lra | interval with (i_prec 160)].
Ltac innermost := repeat match goal with
  | |- context [Rmin ?x ?y] => plain x; plain y; first [rewrite (Rmin_left x y) by compared | rewrite (Rmin_right x y) by compared]
  | |- context [Rmax ?x ?y] => plain x; plain y; first [rewrite (Rmax_left x y) by compared | rewrite (Rmax_right x y) by compared]
  end.
Ltac decide_variogram :=
  cbn [summed fst snd]; unfold gamma_facts, to_main, to_next, square1, square2, law_high, law_low, single1, single2, pair1, pair2,
    tail, one_low, two_low, two_high, two_rest, gamma_at, plane_y, plane_rest, mean_y, steep, half_power,
    squared_slope, jump_1, jump_2, jump_3_low, jump_3_high, kink_3, kink_4, kink_5_low, kink_5_high, masses, beside, density, beneath;
  cbn [over_breaks over_pairs half_gamma Nat.eqb Nat.sub Nat.mul Nat.add fst snd Z.of_nat Pos.of_succ_nat Pos.succ];
  unfold below, above, b3, moved, v0, excess, stretch, x2, r1, r2, z1, z2, cut, Rpower; innermost; repeat split;
  first [interval with (i_prec 90) | decide_numbers].
