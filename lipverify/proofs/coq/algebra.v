(* What is algebra whole: no hypothesis is left. Each module is exported by its claims. *)

From Coq Require Import Reals Psatz Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
Import ListNotations.
Open Scope R_scope.

(* Sums. *)
Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0 | S k => sum k f + f k end.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n as [| n IH]; intros H; simpl; [reflexivity |]. rewrite IH by (intros; apply H; lia). now rewrite H by lia. Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n as [| n IH]; simpl; [ring |]. rewrite IH. ring. Qed.

Lemma sum_scal n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n as [| n IH]; simpl; [ring |]. rewrite IH. ring. Qed.

Lemma sum_swap n m f : sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n as [| n IH]; simpl.
  - induction m as [| m IHm]; simpl; [reflexivity |]. rewrite <- IHm. ring.
  - rewrite IH. symmetry. apply sum_plus.
Qed.

(* sum_i g_i sum_l c_l X_il = sum_l c_l sum_i g_i X_il *)
Lemma through n d (g c : nat -> R) (X : nat -> nat -> R) :
  sum n (fun i => g i * sum d (fun l => c l * X i l)) = sum d (fun l => c l * sum n (fun i => g i * X i l)).
Proof.
  transitivity (sum n (fun i => sum d (fun l => c l * (g i * X i l)))).
  - apply sum_ext. intros i _. rewrite <- sum_scal. apply sum_ext. intros; ring.
  - rewrite sum_swap. apply sum_ext. intros l _. apply sum_scal.
Qed.

Lemma sum_one n i c : (i < n)%nat -> sum n (fun j => if Nat.eqb i j then c else 0) = c.
Proof.
  induction n as [| n IH]; intros H; [lia |]. simpl. destruct (Nat.eq_dec i n) as [-> | N].
  - rewrite Nat.eqb_refl. assert (Z : forall k, (k <= n)%nat -> sum k (fun j => if Nat.eqb n j then c else 0) = 0).
    { induction k as [| k IHk]; intros Hk; simpl; [reflexivity |]. rewrite IHk by lia.
      replace (Nat.eqb n k) with false by (symmetry; apply Nat.eqb_neq; lia). ring. }
    rewrite Z by lia. ring.
  - rewrite IH by lia. apply Nat.eqb_neq in N. rewrite N. ring.
Qed.

Module momentum.
(* A diagonal layer on tokens (x, t), x in R^d, any d and any number n of tokens of the context. *)
Definition layer_x (d n : nat) (xx xy : R) (key : nat -> nat -> R) (label : nat -> R) (x : nat -> R) (t : R) (k : nat) : R :=
  x k + xx * sum n (fun i => key i k * sum d (fun l => key i l * x l)) + xy * sum n (fun i => label i * key i k) * t.
Definition layer_t (d n : nat) (yx yy : R) (key : nat -> nat -> R) (label : nat -> R) (x : nat -> R) (t : R) : R :=
  t + yx * sum d (fun l => sum n (fun i => label i * key i l) * x l) + yy * sum n (fun i => label i * label i) * t.
(* What layers have made of a token (x, t): (M x + u t, a t - <w, x>). *)
Definition made_x (d : nat) (M : nat -> nat -> R) (u x : nat -> R) (t : R) (k : nat) : R := sum d (fun l => M k l * x l) + u k * t.
Definition made_t (d : nat) (a : R) (w x : nat -> R) (t : R) : R := a * t - sum d (fun l => w l * x l).

(* Lemma 4.4 for labels <v, x_i> + r_i: u' is what becomes of the token (0, 1), and -<w', z> the label of (z, 0). kappa
   stands before u v^T in Gamma and Pi; the moments in Lambda are those of the current tokens or those of the first. *)
Definition lemma_holds (kappa : R -> R) (current orthogonal : bool) : Prop :=
  forall (d n : nat) (X : nat -> nat -> R) (r v : nat -> R) (M : nat -> nat -> R) (u : nat -> R) (a : R) (w : nat -> R)
    (xx xy yx yy : R),
  let y := fun i => sum d (fun l => v l * X i l) + r i in
  let key := fun i => made_x d M u (X i) (y i) in
  let label := fun i => made_t d a w (X i) (y i) in
  let rho := sum n (fun i => r i * r i) in
  let Sigma := fun k l => sum n (fun i => X i k * X i l) in
  let moments := if current then fun k l => sum n (fun i => key i k * key i l) else Sigma in
  let descent := fun k => sum d (fun l => Sigma k l * (a * v l - w l)) in
  let mixed := fun k l => M k l + kappa a * u k * v l in
  (if orthogonal then forall k, (k < d)%nat -> sum n (fun i => r i * X i k) = 0 else True) ->
  (forall k, (k < d)%nat -> layer_x d n xx xy key label u a k
    = u k + xy * a ^ 2 * rho * u k + xx * sum d (fun l => moments k l * u l)
      + a * xy * sum d (fun l => mixed k l * descent l)) /\
  (forall z, layer_t d n yx yy key label (fun k => sum d (fun l => M k l * z l)) (- sum d (fun l => w l * z l))
    = - sum d (fun l => (w l + yy * sum n (fun i => label i * label i) * w l
        - yx * sum d (fun k => M k l * sum d (fun m => mixed k m * descent m))
        - a * rho * yx * sum d (fun k => M k l * u k)) * z l)).

Lemma pulled d n X r v M u a w : (forall k, (k < d)%nat -> sum n (fun i => r i * X i k) = 0) ->
  let y := fun i => sum d (fun l => v l * X i l) + r i in
  forall k, sum n (fun i => made_t d a w (X i) (y i) * made_x d M u (X i) (y i) k)
  = sum d (fun l => (M k l + 1 * u k * v l) * sum d (fun m => sum n (fun i => X i l * X i m) * (a * v m - w m)))
    + a * sum n (fun i => r i * r i) * u k.
Proof.
  intros H y k. set (q := fun l => a * v l - w l). set (P := fun l => M k l + 1 * u k * v l).
  assert (zero : forall c, sum n (fun i => r i * sum d (fun l => c l * X i l)) = 0).
  { intros c. rewrite through. rewrite (sum_ext d _ (fun l => 0 * c l)) by (intros l Hl; rewrite H by assumption; ring).
    rewrite sum_scal. ring. }
  rewrite (sum_ext n _ (fun i => sum d (fun l => q l * X i l) * sum d (fun l => P l * X i l)
    + (u k * (r i * sum d (fun l => q l * X i l)) + (a * (r i * sum d (fun l => P l * X i l)) + a * u k * (r i * r i))))).
  - rewrite !sum_plus, !sum_scal, !zero.
    rewrite through.
    assert (E : sum d (fun l => P l * sum n (fun i => sum d (fun m => q m * X i m) * X i l))
      = sum d (fun l => P l * sum d (fun m => sum n (fun i => X i l * X i m) * q m))).
    { apply sum_ext. intros l _. f_equal. rewrite (sum_ext n _ (fun i => X i l * sum d (fun m => q m * X i m))) by (intros; ring).
      rewrite through. apply sum_ext. intros; ring. }
    rewrite E. unfold P, q. ring.
  - intros i _. unfold made_t, made_x, y, q, P.
    assert (E1 : sum d (fun l => (a * v l - w l) * X i l) = a * sum d (fun l => v l * X i l) - sum d (fun l => w l * X i l)).
    { rewrite <- sum_scal. replace (sum d (fun l => a * (v l * X i l)) - sum d (fun l => w l * X i l))
        with (sum d (fun l => a * (v l * X i l)) + (-1) * sum d (fun l => w l * X i l)) by ring.
      rewrite <- sum_scal, <- sum_plus. apply sum_ext. intros; ring. }
    assert (E2 : sum d (fun l => (M k l + 1 * u k * v l) * X i l) = sum d (fun l => M k l * X i l) + u k * sum d (fun l => v l * X i l)).
    { rewrite <- sum_scal, <- sum_plus. apply sum_ext. intros; ring. }
    rewrite E1, E2. ring.
Qed.

Theorem derived : lemma_holds (fun _ => 1) true true.
Proof.
  intros d n X r v M u a w xx xy yx yy y key label rho Sigma moments descent mixed H.
  pose proof (pulled d n X r v M u a w H) as A. fold y in A. cbv zeta in A. split.
  - intros k _. unfold layer_x. fold (key) (label).
    rewrite (A k : sum n (fun i => label i * key i k) = _).
    assert (E : sum n (fun i => key i k * sum d (fun l => key i l * u l)) = sum d (fun l => moments k l * u l)).
    { rewrite (sum_ext n _ (fun i => key i k * sum d (fun l => u l * key i l)))
        by (intros i _; f_equal; apply sum_ext; intros; ring).
      rewrite through. apply sum_ext. intros l _. unfold moments. ring. }
    rewrite E. unfold mixed, descent, Sigma, rho. ring.
  - intros z. unfold layer_t. set (lambda := sum n (fun i => label i * label i)).
    set (c := fun m => sum d (fun k => M k m * sum d (fun l => mixed k l * descent l)) + a * rho * sum d (fun k => M k m * u k)).
    assert (E : sum d (fun l => sum n (fun i => label i * key i l) * sum d (fun m => M l m * z m)) = sum d (fun m => c m * z m)).
    { transitivity (sum d (fun l => sum n (fun i => label i * key i l) * sum d (fun m => z m * M l m))).
      { apply sum_ext. intros l _. f_equal. apply sum_ext. intros; ring. }
      rewrite through. apply sum_ext. intros m _. rewrite Rmult_comm. f_equal. unfold c.
      rewrite <- sum_scal, <- sum_plus. apply sum_ext. intros k _.
      rewrite (A k : sum n (fun i => label i * key i k) = _). unfold mixed, descent, Sigma, rho. ring. }
    rewrite E. transitivity (- (sum d (fun l => w l * z l) + (yy * lambda * sum d (fun l => w l * z l)
      + - yx * sum d (fun m => c m * z m)))); [ring |].
    f_equal. rewrite <- !sum_scal, <- !sum_plus. apply sum_ext. intros l _. unfold c. ring.
Qed.

(* The smallest counterexample: one token x = y = 1, to which a layer with xy = yy = 1 has done M = u = 1, a = 2, w = 0. *)
Lemma state : layer_x 1 1 0 1 (fun _ _ => 1) (fun _ => 1) (fun _ => 1) 0 0 = 1 /\ layer_x 1 1 0 1 (fun _ _ => 1) (fun _ => 1) (fun _ => 0) 1 0 = 1
  /\ layer_t 1 1 0 1 (fun _ _ => 1) (fun _ => 1) (fun _ => 0) 1 = 2 /\ layer_t 1 1 0 1 (fun _ _ => 1) (fun _ => 1) (fun _ => 1) 0 = 0.
Proof. unfold layer_x, layer_t. simpl. repeat split; ring. Qed.

Ltac counterexample r v := intros H; specialize (H 1%nat 1%nat (fun _ _ => 1) (fun _ => r) (fun _ => v) (fun _ _ => 1) (fun _ => 1) 2
    (fun _ => 0) 1 1 1 0); cbv zeta in H; destruct H as [U Z]; [first [exact I | intros; simpl; lra] |];
  specialize (U 0%nat (le_n 1)); specialize (Z (fun _ => 1)); revert U Z;
  unfold layer_x, layer_t, made_x, made_t; simpl; lra.

Theorem printed : ~ lemma_holds (fun a => a) true true.
Proof. counterexample 0 1. Qed.
Theorem printed_first_moments : ~ lemma_holds (fun a => a) false true.
Proof. counterexample 0 1. Qed.
Theorem first_moments : ~ lemma_holds (fun _ => 1) false true.
Proof. counterexample 0 1. Qed.
Theorem true_weights : ~ lemma_holds (fun _ => 1) true false.
Proof. counterexample 1 0. Qed.
End momentum.

Module layers.
(* A layer of GD++ with xx takes an eigenvalue s of the tokens' moments to s (1 + xx s)^2; a last one with yx = v leaves
   of least squares the factor 1 + v s. *)
Fixpoint after (weights : list R) (s : R) : R :=
  match weights with [] => s | xx :: rest => after rest (s * (1 + xx * s) ^ 2) end.
(* n layers bring a spectrum from low..low k^2 to one from low'..low' k'^2 *)
Definition brings (n : nat) (k k' : R) : Prop := forall low, 0 < low -> exists weights low', length weights = n /\ 0 < low' /\
  forall s, low <= s <= low * k ^ 2 -> low' <= after weights s <= low' * k' ^ 2.

Lemma brings_0 k k' : 1 <= k <= k' -> brings 0 k k'.
Proof.
  intros H low Hl. exists [], low. repeat split; simpl; try lra.
  apply Rle_trans with (1 := proj2 H0). apply Rmult_le_compat_l; [lra |]. simpl. nra.
Qed.

Lemma after_app w1 w2 s : after (w1 ++ w2) s = after w2 (after w1 s).
Proof. revert s. induction w1 as [| x w1 IH]; intros s; simpl; [reflexivity | apply IH]. Qed.

Lemma brings_more n m k k1 k2 : brings n k k1 -> brings m k1 k2 -> brings (n + m) k k2.
Proof.
  intros A B low Hl. destruct (A low Hl) as [w1 [l1 [E1 [P1 H1]]]]. destruct (B l1 P1) as [w2 [l2 [E2 [P2 H2]]]].
  exists (w1 ++ w2), l2. rewrite app_length, E1, E2. repeat split; auto; rewrite after_app; apply H2, H1; assumption.
Qed.

Lemma brings_1 k k' : 1 <= k -> 4 * (k ^ 2 + k + 1) ^ 3 <= 27 * k ^ 2 * (k + 1) ^ 2 * k' ^ 2 -> brings 1 k k'.
Proof.
  intros Hk H low Hl. set (m := k ^ 2 + k + 1) in *. assert (Hm : 3 <= m) by (unfold m; nra).
  exists [- / (low * m)], (low * (k ^ 2 + k) ^ 2 / m ^ 2). split; [reflexivity |].
  assert (p : 0 < k ^ 2 + k) by nra. assert (m2 : 0 < m ^ 2) by (apply pow_lt; lra).
  split. { apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; [lra | apply pow_lt; lra] | lra]. }
  intros s Hs. change (after [- / (low * m)] s) with (s * (1 + - / (low * m) * s) ^ 2). set (t := s / low). assert (Es : s = t * low) by (unfold t; field; lra).
  assert (t1 : 1 <= t <= k ^ 2). { split; apply Rmult_le_reg_r with low; lra. }
  replace (s * (1 + - / (low * m) * s) ^ 2) with (low * (t * (m - t) ^ 2) / m ^ 2) by (rewrite Es; field; lra).
  clearbody t. clear s Hs Es.
  assert (L : (k ^ 2 + k) ^ 2 <= t * (m - t) ^ 2).
  { set (c := sqrt t). assert (Ec : t = c ^ 2) by (unfold c; rewrite pow2_sqrt; lra).
    assert (c0 : 0 <= c) by apply sqrt_pos. assert (c1 : 1 <= c) by (apply Rnot_lt_le; intros X; nra).
    assert (ck : c <= k) by (apply Rnot_lt_le; intros X; nra). rewrite Ec.
    replace (c ^ 2 * (m - c ^ 2) ^ 2) with ((c * (m - c ^ 2)) ^ 2) by ring.
    apply pow_incr. split; [lra |].
    assert (0 <= (c - 1) * (m - (c ^ 2 + c + 1))).
    { apply Rmult_le_pos; [lra |]. unfold m. nra. }
    replace (k ^ 2 + k) with (m - 1) by (unfold m; ring). nra. }
  assert (U : t * (m - t) ^ 2 <= (k ^ 2 + k) ^ 2 * k' ^ 2).
  { assert (A : t * (m - t) ^ 2 <= 4 * m ^ 3 / 27).
    { assert (0 <= (3 * t - m) ^ 2 * (4 * m - 3 * t)).
      { apply Rmult_le_pos; [apply pow2_ge_0 |]. unfold m. nra. }
      replace (t * (m - t) ^ 2) with (4 * m ^ 3 / 27 - (3 * t - m) ^ 2 * (4 * m - 3 * t) / 27) by field. lra. }
    apply Rle_trans with (1 := A). replace ((k ^ 2 + k) ^ 2 * k' ^ 2) with (27 * k ^ 2 * (k + 1) ^ 2 * k' ^ 2 / 27) by field. lra. }
  assert (i : 0 < / m ^ 2) by (apply Rinv_0_lt_compat; lra). unfold Rdiv. split.
  - apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_l; lra.
  - replace (low * (k ^ 2 + k) ^ 2 * / m ^ 2 * k' ^ 2) with (low * ((k ^ 2 + k) ^ 2 * k' ^ 2) * / m ^ 2) by ring.
    apply Rmult_le_compat_r; [lra |]. apply Rmult_le_compat_l; lra.
Qed.

(* From large k: k' <= r (k + 1). *)
Definition F : R := 239 / 100.
Definition r : R := sqrt (4 / 27).
Definition f : R := r / (1 - r).

Lemma r_in : 384 / 1000 <= r <= 385 / 1000.
Proof. unfold r. split; interval with (i_prec 60). Qed.
Lemma r_square : r ^ 2 = 4 / 27.
Proof. unfold r. rewrite pow2_sqrt; lra. Qed.
Lemma f_in : 62 / 100 <= f <= 63 / 100.
Proof. unfold f, r. split; interval with (i_prec 60). Qed.

Lemma far m : forall k, 1 <= k -> r ^ m * (k - f) <= F - f -> exists j, (j <= m)%nat /\ brings j k F.
Proof.
  pose proof r_in as Hr. pose proof f_in as Hf.
  induction m as [| m IH]; intros k Hk H.
  - exists O. split; [lia |]. apply brings_0. simpl in H. lra.
  - destruct (Rle_lt_dec k F) as [HF | HF]; [exists O; split; [lia | apply brings_0; lra] |].
    assert (E : r * (k + 1) - f = r * (k - f)) by (unfold f; field; lra).
    destruct (IH (r * (k + 1))) as [j [J1 J2]].
    + unfold F in HF. nra.
    + rewrite E. simpl in H. lra.
    + exists (1 + j)%nat. split; [lia |]. apply brings_more with (2 := J2). apply brings_1; [assumption |].
      replace ((r * (k + 1)) ^ 2) with (r ^ 2 * (k + 1) ^ 2) by ring. rewrite r_square.
      unfold F in HF. set (p := k ^ 2 + k). assert (Hp : 81 / 10 <= p) by (unfold p; nra).
      replace (27 * k ^ 2 * (k + 1) ^ 2 * (4 / 27 * (k + 1) ^ 2)) with (4 * (p ^ 2 * (p + k + 1))) by (unfold p; field).
      apply Rmult_le_compat_l; [lra |]. 
      assert (39 / 100 * p ^ 2 <= (k - 2) * p ^ 2) by (apply Rmult_le_compat_r; [apply pow2_ge_0 | lra]). nra.
Qed.

(* Near 1: y = slope (k^2 - 1) becomes y^2. *)
Definition slope : R := 3 / 16.
Definition Y : R := 1317 / 10000.
Definition at_ (y : R) : R := sqrt (1 + y / slope).

Lemma at_square y : 0 <= y -> at_ y ^ 2 = 1 + y / slope /\ 1 <= at_ y.
Proof.
  intros H. assert (E : at_ y ^ 2 = 1 + y / slope) by (unfold at_; rewrite pow2_sqrt; unfold slope; lra).
  split; [exact E |]. assert (0 <= at_ y) by apply sqrt_pos. unfold slope in E. apply Rnot_lt_le. intros X. nra.
Qed.

Lemma near y : 0 <= y -> brings 1 (at_ y) (at_ (y ^ 2)).
Proof.
  intros H. destruct (at_square y H) as [E K]. destruct (at_square (y ^ 2) (pow2_ge_0 y)) as [E2 _].
  apply brings_1; [assumption |]. rewrite E2. set (k := at_ y) in *.
  assert (Ey : y = slope * (k ^ 2 - 1)) by (rewrite E; unfold slope; field). rewrite Ey. unfold slope.
  assert (P : (k + 2) * (2 * k + 1) <= 9 / 4 * k * (k + 1) ^ 2).
  { set (t := k - 1). assert (Et : k = 1 + t) by (unfold t; ring). assert (0 <= t) by lra. rewrite Et.
    assert (0 <= t ^ 2) by apply pow2_ge_0. assert (0 <= t ^ 3) by (apply pow_le; lra). nra. }
  assert (Q : ((k + 2) * (2 * k + 1)) ^ 2 <= (9 / 4 * k * (k + 1) ^ 2) ^ 2).
  { apply pow_incr. split; [apply Rmult_le_pos; lra | exact P]. }
  assert (G : 0 <= (k - 1) ^ 2 * ((9 / 4 * k * (k + 1) ^ 2) ^ 2 - ((k + 2) * (2 * k + 1)) ^ 2)).
  { apply Rmult_le_pos; [apply pow2_ge_0 | lra]. }
  nra.
Qed.

Lemma squares j : brings j (at_ Y) (at_ (Y ^ (2 ^ j))).
Proof.
  assert (Hy : 0 <= Y) by (unfold Y; lra). induction j as [| j IH].
  - rewrite pow_1. apply brings_0. pose proof (at_square Y Hy). lra.
  - replace (S j) with (j + 1)%nat by lia. apply brings_more with (1 := IH).
    replace (Y ^ (2 ^ (j + 1))) with ((Y ^ (2 ^ j)) ^ 2).
    + apply near, pow_le, Hy.
    + rewrite <- pow_mult. f_equal. rewrite Nat.pow_add_r. reflexivity.
Qed.

Lemma middle : brings 1 F (at_ Y).
Proof.
  apply brings_1; [unfold F; lra |]. destruct (at_square Y) as [E _]; [unfold Y; lra |]. rewrite E.
  unfold F, Y, slope. lra.
Qed.

Lemma last n k y : 0 <= y -> brings n k (at_ y) -> forall low, 0 < low -> exists weights v, length weights = n /\
  forall s, low <= s <= low * k ^ 2 -> Rabs (1 + v * after weights s) <= y / (2 * slope).
Proof.
  intros Hy H low Hl. destruct (H low Hl) as [w [l [E [P B]]]]. exists w, (- 2 / (l * (1 + at_ y ^ 2))). split; [assumption |].
  intros s Hs. specialize (B s Hs). destruct (at_square y Hy) as [K K1]. rewrite K in *.
  set (z := after w s) in *. clearbody z. unfold slope in *.
  set (D := l * (1 + (1 + y / (3 / 16)))). assert (HD : 0 < D) by (unfold D; apply Rmult_lt_0_compat; lra).
  replace (1 + - 2 / D * z) with ((D - 2 * z) / D) by (field; lra).
  apply Rabs_le. assert (ly : 0 <= l * y) by (apply Rmult_le_pos; lra).
  assert (lyy : 0 <= l * y * y) by (apply Rmult_le_pos; lra).
  split; apply Rmult_le_reg_r with D; try assumption; unfold Rdiv; rewrite ?(Rmult_assoc (D - 2 * z)), ?Rinv_l by lra;
    unfold D; lra.
Qed.

Theorem counts : forall kappa epsilon, 1 <= kappa -> 0 < epsilon <= 1 / 2 -> exists weights v,
  (forall t, 1 / kappa <= t <= 1 -> Rabs (1 + v * after weights t) <= epsilon) /\
  INR (S (length weights)) <= ln kappa / ln (27 / 4) + ln (ln (1 / epsilon)) / ln 2 + 4.
Proof.
  intros kappa e Hk He. pose proof r_in as Hr. pose proof f_in as Hf.
  set (k := sqrt kappa). assert (Ek : k ^ 2 = kappa) by (unfold k; rewrite pow2_sqrt; lra).
  assert (k0 : 0 <= k) by apply sqrt_pos. assert (k1 : 1 <= k) by (apply Rnot_lt_le; intros X; nra).
  assert (lk : ln kappa = 2 * ln k). { rewrite <- Ek. simpl. rewrite Rmult_1_r, ln_mult by lra. ring. }
  assert (lk0 : 0 <= ln k) by (rewrite <- ln_1; apply ln_le; lra).
  set (g := ln (27 / 4)). assert (Hg : 19 / 10 <= g <= 191 / 100) by (unfold g; split; interval with (i_prec 60)).
  assert (lr : ln r = - g / 2).
  { assert (X : 2 * ln r = - g); [| lra]. unfold g. rewrite <- ln_Rinv by lra. replace (/ (27 / 4)) with (r ^ 2) by (rewrite r_square; field).
    simpl. rewrite Rmult_1_r, ln_mult by lra. ring. }
  assert (M : exists m, brings m k F /\ INR m <= 2 * ln k / g + 409 / 1000).
  { set (x := ln (k / (F - f)) * 2 / g). assert (Ff : 176 / 100 <= F - f) by (unfold F; lra).
    destruct (Rle_lt_dec x 0) as [X | X].
    - destruct (far 0 k k1) as [j [J1 J2]].
      + simpl. assert (ln (k / (F - f)) <= 0).
        { apply Rnot_lt_le. intros Z. assert (0 < x) by (unfold x; apply Rdiv_lt_0_compat; lra). lra. }
        assert (k / (F - f) <= 1). { apply Rnot_lt_le. intros Z. apply ln_increasing in Z; [| lra]. rewrite ln_1 in Z. lra. }
        assert (k <= F - f); [| lra]. replace k with (k / (F - f) * (F - f)) by (field; lra). nra.
      + assert (j = 0)%nat by lia. subst j. exists O. split; [assumption |]. simpl.
        assert (0 <= 2 * ln k / g) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]). lra.
    - destruct (nfloor_ex x) as [n [N1 N2]]; [lra |].
      destruct (far (S n) k k1) as [j [J1 J2]].
      + apply Rle_trans with (r ^ S n * k). { apply Rmult_le_compat_l; [apply pow_le; lra | lra]. }
        rewrite <- Rpower_pow by lra. unfold Rpower. rewrite lr, S_INR.
        apply Rle_trans with (exp (- ln (k / (F - f))) * k).
        * apply Rmult_le_compat_r; [lra |]. left; apply exp_increasing.
          replace (ln (k / (F - f))) with (x * (g / 2)) by (unfold x; field; lra).
          assert (x * (g / 2) < (INR n + 1) * (g / 2)) by (apply Rmult_lt_compat_r; lra). lra.
        * rewrite exp_Ropp, exp_ln by (apply Rdiv_lt_0_compat; lra). right. field. lra.
      + exists j. split; [assumption |]. apply le_INR in J1. rewrite S_INR in J1.
        apply Rle_trans with (x + 1); [lra |]. unfold x. rewrite ln_div by lra.
        assert (L : 565 / 1000 <= ln (F - f)).
        { apply Rle_trans with (ln (176 / 100)); [interval with (i_prec 60) | apply ln_le; lra]. }
        replace ((ln k - ln (F - f)) * 2 / g + 1) with (2 * ln k / g + (1 - 2 * ln (F - f) / g)) by (field; lra).
        apply Rplus_le_compat_l. assert (591 / 1000 <= 2 * ln (F - f) / g); [| lra].
        apply Rmult_le_reg_r with g; [lra |]. replace (2 * ln (F - f) / g * g) with (2 * ln (F - f)) by (field; lra). nra. }
  destruct M as [m [Bm Hm]].
  set (h := ln (1 / e)). assert (l2 : 693 / 1000 <= ln 2 <= 694 / 1000) by (split; interval with (i_prec 60)).
  assert (Hh : ln 2 <= h).
  { unfold h. apply ln_le; [lra |]. apply Rmult_le_reg_r with e; [lra |]. replace (1 / e * e) with 1 by (field; lra). lra. }
  assert (lh : - (53 / 100) <= ln h / ln 2).
  { apply Rmult_le_reg_r with (ln 2); [lra |]. replace (ln h / ln 2 * ln 2) with (ln h) by (field; lra).
    apply Rle_trans with (ln (ln 2)); [interval with (i_prec 60) | apply ln_le; lra]. }
  set (q := - ln Y). assert (Hq : 2027 / 1000 <= q <= 2028 / 1000) by (unfold q, Y; split; interval with (i_prec 60)).
  set (z := ln (8 / (3 * e)) / q).
  assert (Ez : ln (8 / (3 * e)) = h + ln (8 / 3)).
  { unfold h. rewrite <- ln_mult; [f_equal; field; lra | apply Rdiv_lt_0_compat; lra | lra]. }
  assert (l83 : 98 / 100 <= ln (8 / 3) <= 981 / 1000) by (split; interval with (i_prec 60)).
  assert (Hz : z <= h * (1193 / 1000)).
  { unfold z. rewrite Ez. apply Rmult_le_reg_r with q; [lra |]. replace ((h + ln (8 / 3)) / q * q) with (h + ln (8 / 3)) by (field; lra). nra. }
  assert (z0 : 0 < z). { unfold z. rewrite Ez. apply Rdiv_lt_0_compat; lra. }
  assert (J : exists j, Y ^ (2 ^ j) / (2 * slope) <= e /\ INR j <= ln h / ln 2 + 13 / 10).
  { assert (S1 : forall j, z <= INR (2 ^ j) -> Y ^ (2 ^ j) / (2 * slope) <= e).
    { intros j Hj. assert (Yp : 0 < Y) by (unfold Y; lra). rewrite <- Rpower_pow by assumption. unfold Rpower.
      replace (INR (2 ^ j) * ln Y) with (- (INR (2 ^ j) * q)) by (unfold q; ring).
      assert (A : exp (- (INR (2 ^ j) * q)) <= exp (- ln (8 / (3 * e)))).
      { assert (ln (8 / (3 * e)) <= INR (2 ^ j) * q).
        { replace (ln (8 / (3 * e))) with (z * q) by (unfold z; field; lra). apply Rmult_le_compat_r; lra. }
        destruct (Req_dec (INR (2 ^ j) * q) (ln (8 / (3 * e)))) as [-> | N]; [lra | left; apply exp_increasing; lra]. }
      rewrite (exp_Ropp (ln (8 / (3 * e)))), exp_ln in A by (apply Rdiv_lt_0_compat; lra).
      replace (/ (8 / (3 * e))) with (3 * e / 8) in A by (field; lra). unfold slope. lra. }
    destruct (Rle_lt_dec z 1) as [Z | Z].
    - exists O. split; [apply S1; simpl; lra |]. simpl. lra.
    - set (x := ln z / ln 2). assert (x0 : 0 <= x).
      { unfold x. apply Rmult_le_pos; [rewrite <- ln_1; apply ln_le; lra | left; apply Rinv_0_lt_compat; lra]. }
      destruct (nfloor_ex x x0) as [n [N1 N2]]. exists (S n). split.
      + apply S1. rewrite pow_INR. replace (INR 2) with 2 by (simpl; ring). rewrite <- Rpower_pow by lra. unfold Rpower. rewrite S_INR.
        rewrite <- (exp_ln z) by lra. left. apply exp_increasing. replace (ln z) with (x * ln 2) by (unfold x; field; lra).
        apply Rmult_lt_compat_r; lra.
      + rewrite S_INR. apply Rle_trans with (x + 1); [lra |]. unfold x.
        assert (ln z <= ln h + ln (1193 / 1000)).
        { rewrite <- ln_mult by lra. apply ln_le; lra. }
        assert (ln (1193 / 1000) <= 177 / 1000) by interval with (i_prec 60).
        assert (ln z / ln 2 <= ln h / ln 2 + 3 / 10); [| lra].
        apply Rmult_le_reg_r with (ln 2); [lra |].
        replace ((ln h / ln 2 + 3 / 10) * ln 2) with (ln h + 3 / 10 * ln 2) by (field; lra).
        replace (ln z / ln 2 * ln 2) with (ln z) by (field; lra). lra. }
  destruct J as [j [Hj Nj]].
  assert (B : brings (m + (1 + j)) k (at_ (Y ^ (2 ^ j)))).
  { apply brings_more with (1 := Bm). apply brings_more with (1 := middle). apply squares. }
  assert (Yn : 0 <= Y ^ (2 ^ j)) by (apply pow_le; unfold Y; lra).
  assert (low : 0 < 1 / kappa) by (apply Rdiv_lt_0_compat; lra).
  destruct (last (m + (1 + j)) k (Y ^ (2 ^ j)) Yn B (1 / kappa) low) as [w [v [E H]]].
  exists w, v. split.
  - intros t Ht. apply Rle_trans with (2 := Hj). apply H. rewrite Ek. replace (1 / kappa * kappa) with 1 by (field; lra). lra.
  - rewrite E, lk. rewrite S_INR, !plus_INR. simpl (INR 1). lra.
Qed.
End layers.

Module majorant.
(* S_4 and S_6 are sums of 4th and 6th powers of n independent normal numbers g, R their radius: E g^k = (k - 1)!!, and
   moments of one number more follow from those before. fourth n j is E S_4^j, mixed n j is E [S_6 S_4^j], and E R^k is
   n (n + 2) ... (n + k - 2). *)
Fixpoint fourth (n j : nat) : R :=
  match n, j with
  | O, O => 1
  | O, _ => 0
  | S n, 0%nat => 1 * fourth n 0
  | S n, 1%nat => 1 * fourth n 1 + 3 * fourth n 0
  | S n, 2%nat => 1 * fourth n 2 + 6 * fourth n 1 + 105 * fourth n 0
  | S n, 3%nat => 1 * fourth n 3 + 9 * fourth n 2 + 315 * fourth n 1 + 10395 * fourth n 0
  | S n, 4%nat => 1 * fourth n 4 + 12 * fourth n 3 + 630 * fourth n 2 + 41580 * fourth n 1 + 2027025 * fourth n 0
  | S _, _ => 0
  end.
Fixpoint mixed (n j : nat) : R :=
  match n, j with
  | O, _ => 0
  | S n, 0%nat => 15 * fourth n 0 + 1 * mixed n 0
  | S n, 1%nat => 15 * fourth n 1 + 1 * mixed n 1 + 945 * fourth n 0 + 3 * mixed n 0
  | S n, 2%nat => 15 * fourth n 2 + 1 * mixed n 2 + 1890 * fourth n 1 + 6 * mixed n 1 + 135135 * fourth n 0 + 105 * mixed n 0
  | S n, 3%nat => 15 * fourth n 3 + 1 * mixed n 3 + 2835 * fourth n 2 + 9 * mixed n 2 + 405405 * fourth n 1 + 315 * mixed n 1 + 34459425 * fourth n 0 + 10395 * mixed n 0
  | S n, 4%nat => 15 * fourth n 4 + 1 * mixed n 4 + 3780 * fourth n 3 + 12 * mixed n 3 + 810810 * fourth n 2 + 630 * mixed n 2 + 137837700 * fourth n 1 + 41580 * mixed n 1 + 13749310575 * fourth n 0 + 2027025 * mixed n 0
  | S _, _ => 0
  end.
Fixpoint radius (k : nat) (n : R) : R := match k with O => 1 | S k => radius k n * (n + 2 * INR k) end. (* E R^2k *)

Definition p (y : R) : R := (2) * y ^ 0 + (- (49 / 36)) * y ^ 1 + (5 / 12) * y ^ 2 + (- (19 / 324)) * y ^ 3 + (1 / 324) * y ^ 4.

(* p is at least 1 / y for y >= 1. *)
Theorem touches : forall y, 1 <= y -> 1 <= y * p y.
Proof.
  intros y H. unfold p.
  assert (0 <= (y - 3) ^ 2 * (y - 6) ^ 2 * (y - 1)) by (apply Rmult_le_pos; [apply Rmult_le_pos; apply pow2_ge_0 | lra]).
  nra.
Qed.

Lemma fourths n : fourth n 0 = (1) * INR n ^ 0 /\ fourth n 1 = (3) * INR n ^ 1 /\ fourth n 2 = (96) * INR n ^ 1 + (9) * INR n ^ 2 /\ fourth n 3 = (9504) * INR n ^ 1 + (864) * INR n ^ 2 + (27) * INR n ^ 3 /\ fourth n 4 = (1880064) * INR n ^ 1 + (141696) * INR n ^ 2 + (5184) * INR n ^ 3 + (81) * INR n ^ 4.
Proof.
  induction n as [| n [I0 [I1 [I2 [I3 I4]]]]]; [simpl; repeat split; ring |]. rewrite S_INR.
  repeat split; cbn [fourth]; rewrite ?I0, ?I1, ?I2, ?I3, ?I4; ring.
Qed.

Lemma mixeds n : mixed n 0 = (15) * INR n ^ 1 /\ mixed n 1 = (900) * INR n ^ 1 + (45) * INR n ^ 2 /\ mixed n 2 = (128160) * INR n ^ 1 + (6840) * INR n ^ 2 + (135) * INR n ^ 3 /\ mixed n 3 = (32866560) * INR n ^ 1 + (1555200) * INR n ^ 2 + (37260) * INR n ^ 3 + (405) * INR n ^ 4 /\ mixed n 4 = (13206343680) * INR n ^ 1 + (530634240) * INR n ^ 2 + (12156480) * INR n ^ 3 + (174960) * INR n ^ 4 + (1215) * INR n ^ 5.
Proof.
  induction n as [| n [I0 [I1 [I2 [I3 I4]]]]]; [simpl; repeat split; ring |]. rewrite S_INR.
  destruct (fourths n) as [J0 [J1 [J2 [J3 J4]]]].
  repeat split; cbn [mixed]; rewrite ?I0, ?I1, ?I2, ?I3, ?I4, ?J0, ?J1, ?J2, ?J3, ?J4; ring.
Qed.

(* n^2 E [sum u^6 p(n sum u^4)], u uniform on the sphere. *)
Definition bound (n : nat) : R :=
  (2) * INR n ^ 2 * mixed n 0 / radius 3 (INR n)
  + (- (49 / 36)) * INR n ^ 3 * mixed n 1 / radius 5 (INR n)
  + (5 / 12) * INR n ^ 4 * mixed n 2 / radius 7 (INR n)
  + (- (19 / 324)) * INR n ^ 5 * mixed n 3 / radius 9 (INR n)
  + (1 / 324) * INR n ^ 6 * mixed n 4 / radius 11 (INR n).

(* That is n E q <= 5, as n E q = n^2 E [sum u^6 / (n sum u^4)]. *)
Theorem at_most_5 : forall n, (6 <= n)%nat -> bound n <= 5.
Proof.
  unfold bound.
  intros n Hn. destruct (mixeds n) as [E0 [E1 [E2 [E3 E4]]]]. rewrite E0, E1, E2, E3, E4. apply le_INR in Hn.
  set (t := INR n - 6). assert (E : INR n = t + 6) by (unfold t; ring). assert (Ht : 0 <= t) by (simpl in Hn; unfold t; lra).
  rewrite E. clearbody t. clear n Hn E E0 E1 E2 E3 E4. apply Rminus_le.
  assert (pos : 0 < radius 11 (t + 6)) by (simpl; repeat apply Rmult_lt_0_compat; lra).
  match goal with |- ?s - 5 <= 0 => replace (s - 5) with (- (((14067359424000) * t ^ 0 + (10733159024640) * t ^ 1 + (3593248392960) * t ^ 2 + (695257772160) * t ^ 3 + (85204046720) * t ^ 4 + (6712646560) * t ^ 5 + (337498000) * t ^ 6 + (12660120) * t ^ 7 + (459530) * t ^ 8 + (5270) * t ^ 9 + (40) * t ^ 10) / radius 11 (t + 6))) end.
  - apply Rge_le, Ropp_0_le_ge_contravar. unfold Rdiv. apply Rmult_le_pos; [| left; now apply Rinv_0_lt_compat].
    repeat apply Rplus_le_le_0_compat; (apply Rmult_le_pos; [lra | now apply pow_le]).
  - simpl radius. simpl INR. field. repeat split; lra.
Qed.
End majorant.

Module table_1.
(* Table 1 in thousandths, for sigma uniform up to 1, ..., 7 and drawn from {1, 3} and {1, 3, 5}; rows are 1 to 7 layers.
   Half a thousandth is rounding: two entries that differ by 1 may be equal. Without noise ridge loses nothing. *)
Open Scope Z_scope.
Definition DIAG : list (list Z) := [
  [1639; 1396; 1175; 1015; 906; 841; 806; 1007; 819];
  [214; 173; 188; 219; 242; 254; 259; 201; 246];
  [15; 48; 87; 109; 118; 121; 123; 98; 119];
  [6; 24; 41; 50; 59; 65; 73; 43; 62];
  [4; 16; 29; 41; 51; 58; 62; 26; 51];
  [3; 14; 28; 40; 48; 54; 59; 20; 47];
  [2; 14; 27; 40; 47; 52; 59; 18; 46]].
Definition FULL : list (list Z) := [
  [1640; 1397; 1176; 1016; 907; 842; 806; 1008; 820];
  [215; 173; 188; 220; 245; 259; 263; 202; 276];
  [15; 49; 75; 101; 117; 124; 127; 76; 113];
  [5; 21; 38; 52; 65; 68; 76; 32; 61];
  [2; 15; 26; 38; 48; 59; 65; 16; 48];
  [2; 14; 25; 36; 44; 52; 59; 11; 43];
  [2; 10; 25; 35; 47; 50; 57; 10; 35]].
Definition ConstRR : list Z := [9; 66; 161; 265; 365; 454; 530; 222; 422].
Definition AdaRR : list Z := [3; 16; 34; 53; 68; 81; 92; 51; 84].
Definition TunedRR : list Z := [2; 10; 23; 37; 49; 60; 68; 21; 54].
Definition entry (model : list (list Z)) (layers noise : nat) : Z := nth noise (nth (layers - 1) model []) 0.
Definition at_most (model : list (list Z)) (baseline : list Z) (slack : Z) (first quiet : nat) : Prop := forall layers noise,
  (first <= layers <= 7)%nat -> (quiet <= noise < 9)%nat -> entry model layers noise <= nth noise baseline 0 + slack.
(* Of the 27 entries with 5 layers and more, those above a baseline by more than rounding. *)
Definition above (model : list (list Z)) (baseline : list Z) : nat := length (filter (fun x => Z.ltb (nth (snd x) baseline 0 + 1)
  (entry model (fst x) (snd x))) (list_prod [5; 6; 7]%nat (seq 0 9))).

Ltac every_entry := let l := fresh in let k := fresh in let H1 := fresh in let H2 := fresh in intros l k H1 H2;
  do 8 (destruct l as [| l]; [try lia; do 9 (destruct k as [| k]; [try lia; vm_compute; discriminate |]); lia |]); lia.

(* 5 or more layers match or exceed TunedRR: no, even where half a thousandth is rounded. *)
Theorem diagonal_above_tuned : ~ at_most DIAG TunedRR 1 5 0.
Proof. intros H. specialize (H 5%nat 1%nat ltac:(lia) ltac:(lia)). vm_compute in H. now apply H. Qed.
Theorem full_above_tuned : ~ at_most FULL TunedRR 1 5 0.
Proof. intros H. specialize (H 5%nat 1%nat ltac:(lia) ltac:(lia)). vm_compute in H. now apply H. Qed.
Theorem how_many_above : above DIAG TunedRR = 12%nat /\ above FULL TunedRR = 5%nat.
Proof. split; reflexivity. Qed.
(* They do where the noise is large: uniform up to 5, 6, 7, and the two laws of levels. *)
Theorem full_tuned : at_most FULL TunedRR 0 5 4.
Proof. every_entry. Qed.
Theorem diagonal_tuned : at_most DIAG TunedRR 0 6 4.
Proof. every_entry. Qed.
(* 5 layers match AdaRR, 4 do not. *)
Theorem diagonal_adaptive : at_most DIAG AdaRR 1 5 0 /\ ~ at_most DIAG AdaRR 1 4 0.
Proof. split; [every_entry | intros H; specialize (H 4%nat 0%nat ltac:(lia) ltac:(lia)); vm_compute in H; now apply H]. Qed.
Theorem full_adaptive : at_most FULL AdaRR 0 5 0 /\ ~ at_most FULL AdaRR 1 4 0.
Proof. split; [every_entry | intros H; specialize (H 4%nat 0%nat ltac:(lia) ltac:(lia)); vm_compute in H; now apply H]. Qed.
End table_1.

Module gaussian_window.
Definition dot (d : nat) (x y : nat -> R) : R := sum d (fun k => x k * y k).
Definition apart (d : nat) (x y : nat -> R) : R := sum d (fun k => (x k - y k) ^ 2).
(* On the sphere the weights e^{w <x_i, x>} are those of a window e^{-c w |x_i - x|^2}. *)
Definition window (c : R) : Prop := forall d (x one other : nat -> R) w, dot d one one = 1 -> dot d other other = 1 ->
  exp (w * dot d one x) / exp (w * dot d other x) = exp (- (c * w * apart d one x)) / exp (- (c * w * apart d other x)).

Lemma apart_is d x y : apart d x y = dot d x x - 2 * dot d x y + dot d y y.
Proof. unfold apart, dot. induction d as [| d IH]; simpl in *; [ring |]. rewrite IH. ring. Qed.

Theorem one_half : window (1 / 2).
Proof.
  intros d x one other w H1 H2. rewrite !apart_is, H1, H2. set (p := dot d one x). set (q := dot d other x). set (r := dot d x x).
  unfold Rdiv. rewrite <- !exp_Ropp, <- !exp_plus. f_equal. field.
Qed.

Theorem no_other : forall c, c <> 1 / 2 -> ~ window c.
Proof.
  intros c Hc H. specialize (H 1%nat (fun _ => 1) (fun _ => 1) (fun _ => -1) 1). unfold dot, apart in H. simpl in H.
  specialize (H ltac:(lra) ltac:(lra)). unfold Rdiv in H. rewrite <- !exp_Ropp, <- !exp_plus in H. apply exp_inv in H.
  apply Hc. lra.
Qed.
End gaussian_window.

Module split.
(* Tokens and task t, noise e. A mean is linear; noise is centred, of variance sigma^2, independent of t and between
   tokens. *)
Section Split.
Variables (T : Type) (E : (T -> (nat -> R) -> R) -> R) (sigma : R).
Definition Linear : Prop := (forall F G, (forall t e, F t e = G t e) -> E F = E G) /\
  (forall F G, E (fun t e => F t e + G t e) = E F + E G) /\ (forall c F, E (fun t e => c * F t e) = c * E F).
Definition Centred : Prop := forall A i, E (fun t e => A t * e i) = 0.
Definition Uncorrelated : Prop := forall A i j,
  E (fun t e => A t * (e i * e j)) = if Nat.eqb i j then sigma ^ 2 * E (fun t _ => A t) else 0.

Lemma mean_sum n F : Linear -> E (fun t e => sum n (fun i => F i t e)) = sum n (fun i => E (F i)).
Proof.
  intros [ext [add scal]]. induction n as [| n IH]; simpl.
  - rewrite (ext _ (fun t e => 0 * 0)) by (intros; ring). rewrite (scal 0 (fun _ _ => 0)). ring.
  - rewrite <- IH. apply (add (fun t e => sum n (fun i => F i t e))).
Qed.
End Split.

(* The loss is bias plus noise: f_i = f(x_i) and f = f(x) are functions of t, a_i of the tokens in it. *)
Theorem loss_splits : forall (T : Type) (E : (T -> (nat -> R) -> R) -> R) sigma, Linear T E -> Centred T E ->
  Uncorrelated T E sigma -> forall n (a f : nat -> T -> R) (f0 : T -> R),
  E (fun t e => (sum n (fun i => a i t * (f i t + e i)) - f0 t) ^ 2)
  = E (fun t _ => (sum n (fun i => a i t * f i t) - f0 t) ^ 2) + sigma ^ 2 * E (fun t _ => sum n (fun i => a i t ^ 2)).
Proof.
  intros T E sigma L centred uncorrelated n a f f0. pose proof L as [ext [add scal]].
  set (b := fun t => sum n (fun i => a i t * f i t) - f0 t).
  rewrite (ext _ (fun t e => b t ^ 2 + (2 * sum n (fun i => b t * a i t * e i)
    + sum n (fun i => sum n (fun j => a i t * a j t * (e i * e j)))))).
  - rewrite (add (fun t _ => b t ^ 2)), (add (fun t e => 2 * _)), (scal 2), !(mean_sum T E n _ L).
    assert (Z : sum n (fun i => E (fun t e => b t * a i t * e i)) = 0).
    { rewrite (sum_ext n _ (fun _ => 0 * 0)) by (intros; rewrite (centred (fun t => b t * a i t)); ring).
      rewrite (sum_scal n 0 (fun _ => 0)). ring. }
    rewrite Z. f_equal. rewrite Rmult_0_r, Rplus_0_l, <- sum_scal. apply sum_ext. intros i Hi.
    rewrite (mean_sum T E n _ L).
    rewrite (sum_ext n _ (fun j => if Nat.eqb i j then sigma ^ 2 * E (fun t _ => a i t ^ 2) else 0)).
    + now apply sum_one.
    + intros j _. rewrite (uncorrelated (fun t => a i t * a j t)). destruct (Nat.eqb i j) eqn:Q; [| reflexivity].
      apply Nat.eqb_eq in Q. subst j. f_equal. apply ext. intros; ring.
  - intros t e. assert (S : sum n (fun i => a i t * (f i t + e i)) - f0 t = b t + sum n (fun i => a i t * e i)).
    { unfold b. rewrite (sum_ext n _ (fun i => a i t * f i t + a i t * e i)) by (intros; ring). rewrite sum_plus. ring. }
    rewrite S. set (y := sum n (fun i => a i t * e i)).
    replace (sum n (fun i => b t * a i t * e i)) with (b t * y)
      by (unfold y; rewrite <- sum_scal; apply sum_ext; intros; ring).
    replace (sum n (fun i => sum n (fun j => a i t * a j t * (e i * e j)))) with (y * y); [ring |].
    unfold y at 1. rewrite Rmult_comm, <- sum_scal. apply sum_ext. intros i _. unfold y. rewrite Rmult_comm, <- sum_scal.
    apply sum_ext. intros; ring.
Qed.
End split.

Module values.
(* Lemma B.1: g = c sum a_i y_i - f(x) changes its sign with amplitudes, offset and noise, which are together symmetric;
   s = <v, sum a_i x_i> does not. *)
Theorem covariates_add : forall (T : Type) (E : (T -> R) -> R) (flip : T -> T) (g s : T -> R),
  (forall F G, (forall t, F t = G t) -> E F = E G) -> (forall F G, E (fun t => F t + G t) = E F + E G) ->
  (forall c F, E (fun t => c * F t) = c * E F) -> (forall F, E (fun t => F (flip t)) = E F) ->
  (forall t, g (flip t) = - g t) -> (forall t, s (flip t) = s t) ->
  E (fun t => (g t + s t) ^ 2) = E (fun t => g t ^ 2) + E (fun t => s t ^ 2).
Proof.
  intros T E flip g s ext add scal symmetric odd even.
  assert (Z : E (fun t => g t * s t) = -1 * E (fun t => g t * s t)).
  { rewrite <- (symmetric (fun t => g t * s t)) at 1. rewrite <- scal. apply ext. intros t. rewrite odd, even. ring. }
  rewrite (ext _ (fun t => (g t ^ 2 + s t ^ 2) + 2 * (g t * s t))) by (intros; ring).
  rewrite add, add, (scal 2 (fun t => g t * s t)). lra.
Qed.

(* So that v = 0 is best. *)
Theorem zero_is_best : forall (T : Type) (E : (T -> R) -> R) (flip : T -> T) (g s : T -> R),
  (forall F G, (forall t, F t = G t) -> E F = E G) -> (forall F G, E (fun t => F t + G t) = E F + E G) ->
  (forall c F, E (fun t => c * F t) = c * E F) -> (forall F, E (fun t => F (flip t)) = E F) ->
  (forall F, (forall t, 0 <= F t) -> 0 <= E F) ->
  (forall t, g (flip t) = - g t) -> (forall t, s (flip t) = s t) -> E (fun t => g t ^ 2) <= E (fun t => (g t + s t) ^ 2).
Proof.
  intros T E flip g s ext add scal symmetric positive odd even.
  rewrite (covariates_add T E flip g s ext add scal symmetric odd even).
  pose proof (positive (fun t => s t ^ 2) (fun t => pow2_ge_0 (s t))). lra.
Qed.
End values.

Module whitening.
Definition applied (d : nat) (A : nat -> nat -> R) (u : nat -> R) (k : nat) : R := sum d (fun l => A k l * u l).
Definition form (d : nat) (A : nat -> nat -> R) (x y : nat -> R) : R := sum d (fun k => x k * applied d A y k).
(* C is the inverse of B = Sigma^(1/2), and x = B u: f(x) = g(C x) is g(u), and M = C^T M' C gives x the score of u. *)
Definition back (d : nat) (C M : nat -> nat -> R) (k l : nat) : R := sum d (fun p => C p k * sum d (fun q => M p q * C q l)).

Theorem functions : forall d B C u, (forall k m, (k < d)%nat -> (m < d)%nat ->
  sum d (fun l => C k l * B l m) = if Nat.eqb k m then 1 else 0) ->
  forall k, (k < d)%nat -> applied d C (applied d B u) k = u k.
Proof.
  intros d B C u H k Hk. unfold applied.
  rewrite (sum_ext d _ (fun l => C k l * sum d (fun m => u m * B l m)))
    by (intros; f_equal; apply sum_ext; intros; ring).
  rewrite (through d d (C k) u B). rewrite (sum_ext d _ (fun m => if Nat.eqb k m then u k else 0)).
  - now apply sum_one.
  - intros m Hm. rewrite (H k m Hk Hm). destruct (Nat.eqb k m) eqn:Q; [apply Nat.eqb_eq in Q; subst; ring | ring].
Qed.

Theorem scores : forall d (B C M : nat -> nat -> R) (u v : nat -> R), (forall k m, (k < d)%nat -> (m < d)%nat ->
  sum d (fun l => C k l * B l m) = if Nat.eqb k m then 1 else 0) ->
  form d (back d C M) (applied d B u) (applied d B v) = form d M u v.
Proof.
  intros d B C M u v H. set (x := applied d B u). set (y := applied d B v).
  transitivity (form d M (applied d C x) (applied d C y)).
  - unfold form, applied, back.
    assert (A : forall p, sum d (fun l => y l * sum d (fun q => M p q * C q l)) = sum d (fun q => M p q * sum d (fun l => C q l * y l))).
    { intros p. rewrite (through d d y (M p) (fun l q => C q l)). apply sum_ext. intros q _. f_equal. apply sum_ext. intros; ring. }
    transitivity (sum d (fun k => x k * sum d (fun p => sum d (fun q => M p q * sum d (fun l => C q l * y l)) * C p k))).
    + apply sum_ext. intros k _. f_equal.
      transitivity (sum d (fun l => y l * sum d (fun p => C p k * sum d (fun q => M p q * C q l)))); [apply sum_ext; intros; ring |].
      rewrite (through d d y (fun p => C p k) (fun l p => sum d (fun q => M p q * C q l))).
      apply sum_ext. intros p _. rewrite A. ring.
    + rewrite (through d d x (fun p => sum d (fun q => M p q * sum d (fun l => C q l * y l))) (fun k p => C p k)).
      apply sum_ext. intros p _. rewrite Rmult_comm. f_equal. apply sum_ext. intros; ring.
  - unfold form. apply sum_ext. intros k Hk. unfold x, y. rewrite (functions d B C u H k Hk). f_equal.
    unfold applied at 1 4. apply sum_ext. intros l Hl. f_equal. exact (functions d B C v H l Hl).
Qed.
End whitening.

Module fixed_tokens.
(* For any tokens at distances h_i of the query: attention and noise are as attention.v defines them, with this context
   in the place of the mean. *)
Lemma itself x : Mean (fun f => f x).
Proof. split; [intros f g H; apply H | reflexivity]. Qed.

Theorem noise_rises : forall x n w v, (1 <= n)%nat -> 0 <= w <= v ->
  total n (fun i => attends n w x i ^ 2) <= total n (fun i => attends n v x i ^ 2).
Proof. intros x n w v Hn Hw. exact (rises (fun f => f x) (itself x) n w v Hn Hw). Qed.

Theorem distances_fall : forall p x n w v, 0 <= p -> (1 <= n)%nat -> 0 <= w <= v ->
  total n (fun i => attends n v x i * to_power p (far_by x i)) <= total n (fun i => attends n w x i * to_power p (far_by x i)).
Proof. intros p x n w v Hp Hn Hw. exact (proj1 (falls (fun f => f x) (itself x) p Hp n w v Hn Hw)). Qed.
End fixed_tokens.
Module implicit.
(* Theorem 4.1 and Lemma 4.3. Tokens are e = (x, y): indices 0..d-1 and d. A layer with any number of heads P, Q on any keys. *)
Definition moved (d n heads : nat) (P Q : nat -> nat -> nat -> R) (key : nat -> nat -> R) (e : nat -> R) (i : nat) : R :=
  e i + sum heads (fun h => sum (S d) (fun p => P h i p * sum n (fun j => key j p
    * sum (S d) (fun q => key j q * sum (S d) (fun c => Q h q c * e c))))).
(* [[A, b], [c^T, delta]]: the attention of the layer, which no token but the keys enters. *)
Definition attention (d n heads : nat) (P Q : nat -> nat -> nat -> R) (key : nat -> nat -> R) (i c : nat) : R :=
  sum heads (fun h => sum (S d) (fun p => P h i p * sum (S d) (fun q => sum n (fun j => key j p * key j q) * Q h q c))).
Record State := { M : nat -> nat -> R; u : nat -> R; a : R; w : nat -> R }.
Definition start : State := {| M := fun i j => if Nat.eqb i j then 1 else 0; u := fun _ => 0; a := 1; w := fun _ => 0 |}.
(* (M x + u y, a y - <w, x>) *)
Definition made (d : nat) (s : State) (e : nat -> R) (i : nat) : R :=
  if Nat.ltb i d then sum d (fun l => M s i l * e l) + u s i * e d else a s * e d - sum d (fun l => w s l * e l).
Definition next (d : nat) (H : nat -> nat -> R) (s : State) : State := {|
  M := fun k l => M s k l + sum d (fun m => H k m * M s m l) - H k d * w s l;
  u := fun k => u s k + sum d (fun m => H k m * u s m) + a s * H k d;
  a := (1 + H d d) * a s + sum d (fun m => H d m * u s m);
  w := fun l => (1 + H d d) * w s l - sum d (fun m => H d m * M s m l) |}.

Lemma sum_mult n f c : sum n f * c = sum n (fun i => f i * c).
Proof. induction n as [| n IH]; simpl; [ring |]. rewrite <- IH. ring. Qed.

Lemma mult_sum n f c : c * sum n f = sum n (fun i => c * f i).
Proof. symmetry. apply sum_scal. Qed.

Lemma pulled_out n m X (e : nat -> R) : sum n (fun c => sum m (fun h => X h c) * e c) = sum m (fun h => sum n (fun c => X h c * e c)).
Proof.
  rewrite (sum_ext n (fun c => sum m (fun h => X h c) * e c) (fun c => sum m (fun h => X h c * e c))) by (intros; apply sum_mult).
  apply sum_swap.
Qed.

(* The layer is e + H e. *)
Lemma moved_is d n heads P Q key e i : moved d n heads P Q key e i = e i + sum (S d) (fun c => attention d n heads P Q key i c * e c).
Proof.
  unfold moved, attention. f_equal. set (G := fun p q => sum n (fun j => key j p * key j q)).
  rewrite (pulled_out (S d) heads (fun h c => sum (S d) (fun p => P h i p * sum (S d) (fun q => G p q * Q h q c)))).
  apply sum_ext. intros h _.
  rewrite (pulled_out (S d) (S d) (fun p c => P h i p * sum (S d) (fun q => G p q * Q h q c))).
  apply sum_ext. intros p _.
  rewrite (sum_ext (S d) (fun c => P h i p * sum (S d) (fun q => G p q * Q h q c) * e c)
    (fun c => P h i p * (sum (S d) (fun q => G p q * Q h q c) * e c))) by (intros; ring).
  rewrite sum_scal. f_equal.
  rewrite (pulled_out (S d) (S d) (fun q c => G p q * Q h q c)).
  rewrite (sum_ext (S d) (fun q => sum (S d) (fun c => G p q * Q h q c * e c)) (fun q => G p q * sum (S d) (fun c => Q h q c * e c)))
    by (intros; rewrite <- sum_scal; apply sum_ext; intros; ring).
  unfold G. rewrite (pulled_out (S d) n (fun j q => key j p * key j q)). apply sum_ext. intros j _.
  rewrite <- sum_scal. apply sum_ext. intros; ring.
Qed.

(* One layer, whatever H is. *)
Lemma one_layer d H s e i : (i <= d)%nat ->
  made d s e i + sum (S d) (fun c => H i c * made d s e c) = made d (next d H s) e i.
Proof.
  intros Hi. cbn [sum]. unfold made at 3. rewrite Nat.ltb_irrefl.
  assert (E : sum d (fun c => H i c * made d s e c)
    = sum d (fun l => sum d (fun m => H i m * M s m l) * e l) + sum d (fun m => H i m * u s m) * e d).
  { rewrite (sum_ext d _ (fun c => sum d (fun l => H i c * M s c l * e l) + H i c * u s c * e d)).
    - rewrite sum_plus. f_equal; [| symmetry; apply (sum_mult d (fun m => H i m * u s m))].
      symmetry. apply (pulled_out d d (fun m l => H i m * M s m l) e).
    - intros c Hc. unfold made. apply Nat.ltb_lt in Hc. rewrite Hc, Rmult_plus_distr_l. f_equal; [| ring].
      rewrite (mult_sum d (fun l => M s c l * e l)). apply sum_ext. intros. ring. }
  rewrite E. clear E. unfold made, next; cbn [M u a w]. destruct (Nat.ltb i d) eqn:L.
  - rewrite (sum_ext d (fun l => (M s i l + sum d (fun m => H i m * M s m l) - H i d * w s l) * e l)
      (fun l => M s i l * e l + (sum d (fun m => H i m * M s m l) * e l + - H i d * (w s l * e l)))) by (intros; ring).
    rewrite !sum_plus, sum_scal. ring.
  - apply Nat.ltb_ge in L. replace i with d by lia.
    rewrite (sum_ext d (fun l => ((1 + H d d) * w s l - sum d (fun m => H d m * M s m l)) * e l)
      (fun l => (1 + H d d) * (w s l * e l) + -1 * (sum d (fun m => H d m * M s m l) * e l))) by (intros; ring).
    rewrite !sum_plus, !sum_scal. ring.
Qed.

(* Layers one after the other: the context, and any other token, which is no key. *)
Record Layer := { heads : nat; P : nat -> nat -> nat -> R; Q : nat -> nat -> nat -> R }.
Fixpoint context (d n : nat) (layers : list Layer) (keys : nat -> nat -> R) : nat -> nat -> R := match layers with
  | nil => keys
  | l :: before => let now := context d n before keys in fun j => moved d n (heads l) (P l) (Q l) now (now j) end.
Fixpoint token (d n : nat) (layers : list Layer) (keys : nat -> nat -> R) (e : nat -> R) : nat -> R := match layers with
  | nil => e
  | l :: before => moved d n (heads l) (P l) (Q l) (context d n before keys) (token d n before keys e) end.
Fixpoint state (d n : nat) (layers : list Layer) (keys : nat -> nat -> R) : State := match layers with
  | nil => start
  | l :: before => next d (attention d n (heads l) (P l) (Q l) (context d n before keys)) (state d n before keys) end.

Theorem every_depth : forall d n layers keys,
  (forall e i, (i <= d)%nat -> token d n layers keys e i = made d (state d n layers keys) e i) /\
  forall j i, (i <= d)%nat -> context d n layers keys j i = made d (state d n layers keys) (keys j) i.
Proof.
  intros d n layers keys. induction layers as [| l before [IH IHk]]; cbn [token context state].
  - assert (E : forall e i, (i <= d)%nat -> e i = made d start e i); [| split; intros; now apply E].
    intros e i Hi. unfold made, start; cbn [M u a w]. destruct (Nat.ltb i d) eqn:L.
    + apply Nat.ltb_lt in L. rewrite (sum_ext d _ (fun l => if Nat.eqb i l then e i else 0)).
      * rewrite sum_one by assumption. ring.
      * intros l _. destruct (Nat.eqb_spec i l) as [<- | _]; ring.
    + apply Nat.ltb_ge in L. replace i with d by lia. rewrite (sum_scal d 0 e). ring.
  - set (H := attention _ _ _ _ _ _). split; intros.
    + rewrite moved_is. fold H. rewrite <- one_layer by assumption. rewrite IH by assumption. f_equal.
      apply sum_ext. intros c Hc. now rewrite IH by lia.
    + rewrite moved_is. fold H. rewrite <- one_layer by assumption. rewrite IHk by assumption. f_equal.
      apply sum_ext. intros c Hc. now rewrite IHk by lia.
Qed.

(* The query has the label 0: it meets M and w alone. *)
Theorem query : forall d n layers keys e, e d = 0 ->
  (forall i, (i < d)%nat -> token d n layers keys e i = sum d (fun l => M (state d n layers keys) i l * e l)) /\
  token d n layers keys e d = - sum d (fun l => w (state d n layers keys) l * e l).
Proof.
  intros d n layers keys e He. destruct (every_depth d n layers keys) as [T _]. split.
  - intros i Hi. rewrite T by lia. unfold made. apply Nat.ltb_lt in Hi. rewrite Hi, He. ring.
  - rewrite T by lia. unfold made. rewrite Nat.ltb_irrefl, He. ring.
Qed.
End implicit.
