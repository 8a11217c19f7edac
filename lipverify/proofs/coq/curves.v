(* Functions on intervals of w from their values at a few places: polynomials through them, and their signs, in integers.

   A function that is at most M in the strip |Im w| <= b has derivatives of at most k! M / b^k (Cauchy's estimate). So it is
   near the polynomial through its values (Rolle), and the sign of that polynomial is computed by bisection. *)

From Coq Require Import Reals Psatz Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
Import ListNotations.
Open Scope R_scope.

Module Curves.
Definition Smooth (f : R -> R) : Prop := forall k t, ex_derive_n f k t.

Lemma smooth_continuous f t : Smooth f -> continuity_pt f t.
Proof. intros H. apply continuity_pt_filterlim, (ex_derive_continuous (V := R_NormedModule)). exact (H 1%nat t). Qed.

Lemma smooth_const c : Smooth (fun _ => c).
Proof. intros k t. apply ex_derive_n_const. Qed.

Lemma smooth_plus f g : Smooth f -> Smooth g -> Smooth (fun t => f t + g t).
Proof. intros F G k t. apply ex_derive_n_plus; apply filter_forall; intros; [apply F | apply G]. Qed.

Lemma smooth_scal c f : Smooth f -> Smooth (fun t => c * f t).
Proof. intros F k t. apply ex_derive_n_scal_l, F. Qed.

Lemma derive_plus f g k t : Smooth f -> Smooth g ->
  Derive_n (fun x => f x + g x) k t = Derive_n f k t + Derive_n g k t.
Proof. intros F G. apply Derive_n_plus; apply filter_forall; intros; [apply F | apply G]. Qed.

Lemma derive_scal c f k t : Derive_n (fun x => c * f x) k t = c * Derive_n f k t.
Proof. apply Derive_n_scal_l. Qed.

Lemma derive_const k c t : Derive_n (fun _ => c) (S k) t = 0.
Proof. apply Derive_n_const. Qed.

(* Leibniz, for a factor of degree 1. *)
Lemma leibniz g y : Smooth g -> forall k t, is_derive (Derive_n (fun x => (x - y) * g x) k) t
  ((t - y) * Derive_n g (S k) t + INR (S k) * Derive_n g k t).
Proof.
  intros G k. assert (D : forall j x, is_derive (Derive_n g j) x (Derive_n g (S j) x))
    by (intros j x; apply Derive_correct; exact (G (S j) x)).
  assert (line : forall h t l, is_derive h t l -> is_derive (fun x => (x - y) * h x) t (h t + (t - y) * l)).
  { intros h t l H. replace (h t + (t - y) * l) with (1 * h t + (t - y) * l) by ring.
    apply (is_derive_mult (fun x => x - y)); [auto_derive; [exact I | ring] | exact H | intros; apply Rmult_comm]. }
  induction k as [| k IH]; intros t.
  - replace (_ + _) with (g t + (t - y) * Derive_n g 1 t) by (change (Derive_n g 0 t) with (g t); simpl; ring).
    exact (line g t _ (D O t)).
  - apply is_derive_ext with (fun x => (x - y) * Derive_n g (S k) x + INR (S k) * Derive_n g k x).
    { intros x. symmetry. exact (is_derive_unique _ _ _ (IH x)). }
    replace (_ + _) with ((Derive_n g (S k) t + (t - y) * Derive_n g (S (S k)) t) + INR (S k) * Derive_n g (S k) t)
      by (rewrite (S_INR (S k)); ring).
    apply (is_derive_plus (V := R_NormedModule)); [apply line, D | apply (is_derive_scal (Derive_n g k)), D].
Qed.

Lemma smooth_line g y : Smooth g -> Smooth (fun x => (x - y) * g x).
Proof. intros G [| k] t; [exact I |]. eexists. exact (leibniz g y G k t). Qed.

Lemma derive_line g y k t : Smooth g ->
  Derive_n (fun x => (x - y) * g x) (S k) t = (t - y) * Derive_n g (S k) t + INR (S k) * Derive_n g k t.
Proof. intros G. exact (is_derive_unique _ _ _ (leibniz g y G k t)). Qed.

(* Products over places, of which the leading coefficient is 1. *)
Fixpoint product (l : list R) (t : R) : R := match l with [] => 1 | y :: r => (t - y) * product r t end.

Lemma smooth_product l : Smooth (product l).
Proof.
  induction l as [| y l IH]; [exact (smooth_const 1) |].
  change (product (y :: l)) with (fun x => (x - y) * product l x). now apply smooth_line.
Qed.

Lemma derive_product l k t : (length l <= k)%nat ->
  Derive_n (product l) k t = if Nat.eqb k (length l) then INR (fact k) else 0.
Proof.
  revert k. induction l as [| y l IH]; intros k H.
  - destruct k as [| k]; [reflexivity | exact (derive_const k 1 t)].
  - destruct k as [| k]; [simpl in H; lia |].
    change (product (y :: l)) with (fun x => (x - y) * product l x). rewrite derive_line by apply smooth_product.
    simpl length in *. rewrite !IH by lia. replace (Nat.eqb (S k) (length l)) with false by (symmetry; apply Nat.eqb_neq; lia).
    simpl Nat.eqb. destruct (Nat.eqb k (length l)); [| ring]. rewrite fact_simpl, mult_INR. ring.
Qed.

(* Polynomials by their coefficients. *)
Fixpoint poly (p : list R) (t : R) : R := match p with [] => 0 | c :: r => c + t * poly r t end.

Lemma poly_as c r : forall t, poly (c :: r) t = c + (t - 0) * poly r t.
Proof. intros t. simpl. ring. Qed.

Lemma smooth_poly p : Smooth (poly p).
Proof.
  induction p as [| c p IH]; [exact (smooth_const 0) |]. intros k t.
  apply ex_derive_n_ext with (fun t => c + (t - 0) * poly p t); [intros; symmetry; apply poly_as |].
  apply (smooth_plus (fun _ => c)); [apply smooth_const | apply (smooth_line _ 0 IH)].
Qed.

Lemma derive_poly p : forall k t, (length p <= k)%nat -> Derive_n (poly p) k t = 0.
Proof.
  induction p as [| c p IH]; intros k t H.
  - destruct k as [| k]; [reflexivity | exact (derive_const k 0 t)].
  - destruct k as [| k]; [simpl in H; lia |]. rewrite (Derive_n_ext _ _ _ _ (poly_as c p)).
    rewrite (derive_plus (fun _ => c) (fun t => (t - 0) * poly p t) (S k) t (smooth_const c) (smooth_line _ 0 (smooth_poly p))).
    rewrite derive_const, (derive_line (poly p) 0 k t (smooth_poly p)). simpl length in H. rewrite !IH by lia. ring.
Qed.

(* Rolle: zeros a < z_1 < z_2 < ... of a function, and as many less one of its slope. *)
Fixpoint zeros (f : R -> R) (a : R) (l : list R) : Prop :=
  match l with [] => True | z :: r => a < z /\ f z = 0 /\ zeros f z r end.

Lemma rolle (f : R -> R) a z : (forall t, ex_derive f t) -> a < z -> f a = 0 -> f z = 0 -> exists c, a < c < z /\ Derive f c = 0.
Proof.
  intros D H A Z. assert (D0 : forall x, derivable_pt f x) by (intros; apply ex_derive_Reals_0, D).
  destruct (Rolle f a z (fun x _ => D0 x)) as [c [P E]]; [| assumption | congruence |].
  - intros x _. apply derivable_continuous_pt, D0.
  - exists c. split; [assumption |]. rewrite <- E. symmetry. apply (Derive_Reals f c (D0 c)).
Qed.

Lemma zeros_of_slope (f : R -> R) a z l : (forall t, ex_derive f t) -> f a = 0 -> zeros f a (z :: l) ->
  exists c r, length r = length l /\ a < c < z /\ Derive f c = 0 /\ zeros (Derive f) c r.
Proof.
  intros D. revert a z. induction l as [| y l IH]; intros a z A [H [Z O]].
  - destruct (rolle f a z D H A Z) as [c C]. exists c, []. simpl. tauto.
  - destruct (rolle f a z D H A Z) as [c [C1 C2]]. destruct (IH z y Z O) as [e [r [R1 [R2 [R3 R4]]]]].
    exists c, (e :: r). simpl. split; [now rewrite R1 |]. repeat split; try assumption; lra.
Qed.

Lemma derive_n_of_slope (f : R -> R) k t : Derive_n (Derive f) k t = Derive_n f (S k) t.
Proof. revert t. induction k as [| k IH]; intros t; [reflexivity |]. apply Derive_ext, IH. Qed.

Lemma smooth_slope f : Smooth f -> Smooth (Derive f).
Proof.
  intros F [| k] t; [exact I |]. apply ex_derive_ext with (Derive_n f (S k)); [intros; symmetry; apply derive_n_of_slope |].
  exact (F (S (S k)) t).
Qed.

Lemma many_zeros f a l : Smooth f -> f a = 0 -> zeros f a l -> exists c, Derive_n f (length l) c = 0.
Proof.
  intros F A Z. remember (length l) as k eqn:E. revert f a l F A Z E.
  induction k as [| k IH]; intros f a l F A Z E; [now exists a |].
  destruct l as [| z l]; [discriminate |]. destruct (zeros_of_slope f a z l (F 1%nat) A Z) as [c [r [R1 [R2 [R3 R4]]]]].
  simpl in E. injection E as E.
  destruct (IH (Derive f) c r (smooth_slope f F) R3 R4 ltac:(congruence)) as [x X]. exists x. now rewrite <- derive_n_of_slope.
Qed.

(* Places that rise, and one more among them. *)
Fixpoint rising (a : R) (l : list R) : Prop := match l with [] => True | z :: r => a < z /\ rising z r end.
Fixpoint insert (w : R) (l : list R) : list R :=
  match l with [] => [w] | z :: r => if Rlt_dec w z then w :: l else z :: insert w r end.

Lemma rising_insert w l : forall a, a < w -> ~ In w l -> rising a l -> rising a (insert w l).
Proof.
  induction l as [| z l IH]; intros a A N H; simpl in *; [tauto |]. destruct (Rlt_dec w z); simpl; [tauto |].
  destruct H. split; [assumption |]. apply IH; [| tauto | assumption].
  assert (z <> w) by tauto. lra.
Qed.

Lemma in_insert w l z : In z (insert w l) -> z = w \/ In z l.
Proof. induction l as [| y l IH]; simpl; [intuition |]. destruct (Rlt_dec w y); simpl; intuition. Qed.

Lemma length_insert w l : length (insert w l) = S (length l).
Proof. induction l as [| y l IH]; simpl; [reflexivity |]. destruct (Rlt_dec w y); simpl; [reflexivity | now rewrite IH]. Qed.

Lemma zeros_of f a l : rising a l -> (forall z, In z l -> f z = 0) -> zeros f a l.
Proof. revert a. induction l as [| z l IH]; intros a H Z; simpl in *; [trivial |]. destruct H. intuition. Qed.

(* The polynomials of Lagrange: each place with all others. *)
Fixpoint picks {A : Type} (before after : list A) : list (A * list A) :=
  match after with [] => [] | x :: r => (x, rev_append before r) :: picks (x :: before) r end.
Definition lagrange (t : R) (e : R * list R) : R := product (snd e) t / product (snd e) (fst e).
Fixpoint sum_over (f : R * list R -> R) (l : list (R * list R)) : R := match l with [] => 0 | e :: r => f e + sum_over f r end.

Lemma product_zero l t : In t l -> product l t = 0.
Proof. induction l as [| y l IH]; simpl; [tauto |]. intros [-> | H]; [ring |]. rewrite IH by assumption. ring. Qed.

Lemma product_nonzero l t : ~ In t l -> product l t <> 0.
Proof.
  induction l as [| y l IH]; simpl; intros H; [lra |]. apply Rmult_integral_contrapositive_currified; [| tauto].
  assert (y <> t) by tauto. lra.
Qed.

Lemma at_places g z after : forall before, NoDup (rev_append before after) ->
  (In z after -> sum_over (fun e => g (fst e) * lagrange z e) (picks before after) = g z) /\
  (In z before -> sum_over (fun e => g (fst e) * lagrange z e) (picks before after) = 0).
Proof.
  induction after as [| x r IH]; intros before H; simpl; [tauto |].
  assert (H' := H). rewrite rev_append_rev in H'. apply NoDup_remove_2 in H'. rewrite <- rev_append_rev in H'.
  destruct (IH (x :: before) H) as [I1 I2].
  assert (same : lagrange x (x, rev_append before r) = 1).
  { unfold lagrange. simpl. field. now apply product_nonzero. }
  assert (other : In z (rev_append before r) -> lagrange z (x, rev_append before r) = 0).
  { intros O. unfold lagrange. simpl snd. rewrite product_zero by assumption. unfold Rdiv. ring. }
  split.
  - intros [-> | O].
    + simpl fst. rewrite same, I2 by (left; reflexivity). ring.
    + simpl fst. rewrite other, I1 by (try assumption; rewrite rev_append_rev; apply in_or_app; tauto). ring.
  - intros O. simpl fst. rewrite other, I2; [ring | right; assumption |].
    rewrite rev_append_rev. apply in_or_app. left. now apply in_rev in O.
Qed.

Lemma picks_length {A : Type} (after : list A) : forall before e, In e (picks before after) ->
  S (length (snd e)) = (length before + length after)%nat.
Proof.
  induction after as [| x r IH]; intros before e; simpl; [tauto |]. intros [<- | H].
  - simpl. rewrite rev_append_rev, app_length, rev_length. lia.
  - rewrite (IH _ _ H). simpl. lia.
Qed.

Lemma smooth_sum g l : Smooth (fun t => sum_over (fun e => g (fst e) * lagrange t e) l).
Proof.
  induction l as [| e l IH]; [exact (smooth_const 0) |]. simpl.
  intros k t. apply (ex_derive_n_ext (fun t => g (fst e) / product (snd e) (fst e) * product (snd e) t
    + sum_over (fun e => g (fst e) * lagrange t e) l)).
  { intros x. unfold lagrange, Rdiv. ring. }
  revert k t. exact (smooth_plus _ _ (smooth_scal _ _ (smooth_product _)) IH).
Qed.

Lemma derive_sum g k t l : (forall e, In e l -> (length (snd e) < k)%nat) ->
  Derive_n (fun t => sum_over (fun e => g (fst e) * lagrange t e) l) k t = 0.
Proof.
  destruct k as [| k]; [destruct l as [| e l]; [reflexivity |]; intros H; specialize (H e (or_introl eq_refl)); lia |].
  induction l as [| e l IH]; intros H; [exact (derive_const k 0 t) |].
  transitivity (Derive_n (fun t => g (fst e) / product (snd e) (fst e) * product (snd e) t
    + sum_over (fun e => g (fst e) * lagrange t e) l) (S k) t).
  { apply Derive_n_ext. intros x. simpl. unfold lagrange, Rdiv. ring. }
  rewrite (derive_plus (fun t => g (fst e) / product (snd e) (fst e) * product (snd e) t)
    (fun t => sum_over (fun e => g (fst e) * lagrange t e) l) (S k) t
    (smooth_scal _ _ (smooth_product _)) (smooth_sum g l)).
  rewrite derive_scal, IH by (intros; apply H; now right). pose proof (H e (or_introl eq_refl)).
  rewrite derive_product by lia. replace (Nat.eqb (S k) (length (snd e))) with false; [ring |].
  symmetry. apply Nat.eqb_neq. lia.
Qed.

Lemma rising_above a l : rising a l -> forall z, In z l -> a < z.
Proof.
  revert a. induction l as [| y l IH]; intros a H z; simpl in *; [tauto |]. destruct H as [H R]. intros [<- | I]; [assumption |].
  specialize (IH y R z I). lra.
Qed.

Lemma rising_nodup a l : rising a l -> NoDup l.
Proof.
  revert a. induction l as [| y l IH]; intros a H; [constructor |]. simpl in H. destruct H as [_ R]. constructor; [| now apply (IH y)].
  intros I. pose proof (rising_above y l R y I). lra.
Qed.

(* A function less the polynomial through its values at some places. *)
Lemma interpolation (f : R -> R) a l K w : Smooth f -> rising a l ->
  (forall t, Rabs (Derive_n f (length l) t) <= INR (fact (length l)) * K) ->
  Rabs (f w - sum_over (fun e => f (fst e) * lagrange w e) (picks [] l)) <= K * Rabs (product l w).
Proof.
  intros F Rs D. pose proof (rising_nodup a l Rs) as ND.
  assert (A : forall z, In z l -> sum_over (fun e => f (fst e) * lagrange z e) (picks [] l) = f z)
    by (intros z; apply (at_places f z l [] ND)).
  destruct (in_dec Req_EM_T w l) as [I | I].
  { rewrite A, Rminus_diag_eq, Rabs_R0, product_zero, Rabs_R0 by auto. lra. }
  pose proof (product_nonzero l w I) as P0. set (S_ := fun t => sum_over (fun e => f (fst e) * lagrange t e) (picks [] l)).
  change (Rabs (f w - S_ w) <= K * Rabs (product l w)). change (forall z, In z l -> S_ z = f z) in A.
  set (c := (f w - S_ w) / product l w). set (h := fun t => f t + (-1 * S_ t + - c * product l t)).
  assert (SS : Smooth S_) by apply smooth_sum.
  assert (H2 : Smooth (fun t => -1 * S_ t + - c * product l t))
    by (apply (smooth_plus (fun t => -1 * S_ t)); [apply (smooth_scal _ _ SS) | apply (smooth_scal _ _ (smooth_product l))]).
  assert (H : Smooth h) by (apply (smooth_plus f); assumption).
  assert (Z : forall z, z = w \/ In z l -> h z = 0).
  { intros z [-> | J]; unfold h; [unfold c; field; assumption |]. rewrite A, product_zero by assumption. ring. }
  assert (exists x, Derive_n h (length l) x = 0) as [x X].
  { set (b := Rmin a (w - 1)). assert (R1 : rising b (insert w l)).
    { apply rising_insert; [unfold b; pose proof (Rmin_r a (w - 1)); lra | assumption |].
      destruct l as [| y l]; [simpl; trivial |]. simpl in Rs. destruct Rs. simpl. split; [unfold b; pose proof (Rmin_l a (w - 1)); lra | assumption]. }
    pose proof (length_insert w l) as E. pose proof (in_insert w l) as J.
    destruct (insert w l) as [| y r] eqn:Q; [discriminate |]. simpl in R1, E. injection E as E. destruct R1 as [_ R1].
    rewrite <- E. apply (many_zeros h y r H); [apply Z, J; now left |].
    apply zeros_of; [assumption |]. intros z Hz. apply Z, J. now right. }
  unfold h in X. rewrite (derive_plus f (fun t => -1 * S_ t + - c * product l t) _ x F H2) in X.
  rewrite (derive_plus (fun t => -1 * S_ t) (fun t => - c * product l t) _ x (smooth_scal _ _ SS) (smooth_scal _ _ (smooth_product l))) in X.
  rewrite !derive_scal in X. unfold S_ in X at 1. rewrite derive_sum in X
    by (intros e He; pose proof (picks_length _ _ _ He); simpl in *; lia).
  rewrite derive_product, Nat.eqb_refl in X by lia. specialize (D x).
  replace (Derive_n f (length l) x) with (INR (fact (length l)) * c) in D by lra.
  pose proof (INR_fact_lt_0 (length l)). rewrite Rabs_mult, (Rabs_pos_eq (INR _)) in D by lra.
  apply Rmult_le_reg_l in D; [| assumption]. replace (f w - S_ w) with (c * product l w) by (unfold c; field; assumption).
  rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos | assumption].
Qed.

Lemma sum_over_le F G l : (forall e, In e l -> F e <= G e) -> sum_over F l <= sum_over G l.
Proof.
  induction l as [| e l IH]; simpl; intros H; [lra |]. apply Rplus_le_compat; [apply H; now left | apply IH; intros; apply H; now right].
Qed.

Lemma sum_over_abs F l : Rabs (sum_over F l) <= sum_over (fun e => Rabs (F e)) l.
Proof. induction l as [| e l IH]; simpl; [rewrite Rabs_R0; lra |]. pose proof (Rabs_triang (F e) (sum_over F l)). lra. Qed.

Lemma sum_over_scal c F l : sum_over (fun e => c * F e) l = c * sum_over F l.
Proof. induction l as [| e l IH]; simpl; [ring |]. rewrite IH. ring. Qed.

Lemma in_picks {A : Type} (after : list A) : forall before e, In e (picks before after) -> In (fst e) after.
Proof. induction after as [| x r IH]; intros before e; simpl; [tauto |]. intros [<- | H]; [now left | right; exact (IH _ _ H)]. Qed.

(* The same with any polynomial that is near the values. *)
Lemma near (f : R -> R) a l K p e w : Smooth f -> rising a l -> (length p <= length l)%nat ->
  (forall t, Rabs (Derive_n f (length l) t) <= INR (fact (length l)) * K) ->
  (forall x, In x l -> Rabs (f x - poly p x) <= e) ->
  Rabs (f w - poly p w) <= e * sum_over (fun q => Rabs (lagrange w q)) (picks [] l) + K * Rabs (product l w).
Proof.
  intros F Rs Lp D V. set (g := fun t => f t + -1 * poly p t).
  assert (G : Smooth g) by (apply (smooth_plus f); [assumption | apply (smooth_scal _ _ (smooth_poly p))]).
  pose proof (interpolation g a l K w G Rs) as I.
  assert (Dg : forall t, Rabs (Derive_n g (length l) t) <= INR (fact (length l)) * K).
  { intros t. unfold g. rewrite (derive_plus f (fun t => -1 * poly p t) _ t F (smooth_scal _ _ (smooth_poly p))).
    rewrite derive_scal, derive_poly by assumption. rewrite Rmult_0_r, Rplus_0_r. apply D. }
  specialize (I Dg). replace (f w - poly p w) with (g w) by (unfold g; ring).
  replace (g w) with ((g w - sum_over (fun q => g (fst q) * lagrange w q) (picks [] l))
    + sum_over (fun q => g (fst q) * lagrange w q) (picks [] l)) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rplus_comm. apply Rplus_le_compat; [| assumption].
  apply Rle_trans with (1 := sum_over_abs _ _). rewrite <- sum_over_scal. apply sum_over_le. intros q Q.
  rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos |].
  replace (g (fst q)) with (f (fst q) - poly p (fst q)) by (unfold g; ring). apply V. exact (in_picks _ _ _ Q).
Qed.

(* Polynomials with whole coefficients, and what is true of them for |s| <= 1: found by bisection. *)
Definition zpoly (p : list Z) : R -> R := poly (map IZR p).
Fixpoint add (p q : list Z) : list Z :=
  match p, q with [], _ => q | _, [] => p | a :: p', b :: q' => (a + b)%Z :: add p' q' end.
Fixpoint scaled_by (c : Z) (p : list Z) : list Z := match p with [] => [] | a :: r => (c * a)%Z :: scaled_by c r end.
Fixpoint shift (c : Z) (p : list Z) : list Z :=
  match p with [] => [] | a :: r => let q := shift c r in add [a] (add (scaled_by c q) (0%Z :: q)) end.
(* 2^degree p(s / 2), and on either half of [-1, 1]. *)
Fixpoint halved (p : list Z) : list Z := match p with [] => [] | a :: r => (a * 2 ^ Z.of_nat (length r))%Z :: halved r end.
Definition side (c : Z) (p : list Z) : list Z := shift c (halved p).
Fixpoint size_of (p : list Z) : Z := match p with [] => 0%Z | a :: r => (Z.abs a + size_of r)%Z end.
Fixpoint positive (fuel : nat) (p : list Z) : bool :=
  match p with
  | [] => false
  | a :: r => if (size_of r <? a)%Z then true else
    match fuel with
    | O => false
    | S k => if (0 <? a)%Z then if positive k (side (-1) p) then positive k (side 1 p) else false else false
    end
  end.
Fixpoint sizes_of (ps : list (list Z)) : Z := match ps with [] => 0%Z | p :: r => (size_of p + sizes_of r)%Z end.
(* The sizes of some polynomials of `degree` are at most c in all. *)
Fixpoint bounded (fuel degree : nat) (ps : list (list Z)) (c : Z) : bool :=
  if (sizes_of ps <=? c)%Z then true else
  match fuel with
  | O => false
  | S k => let c' := (c * 2 ^ Z.of_nat degree)%Z in
    if bounded k degree (map (side (-1)) ps) c' then bounded k degree (map (side 1) ps) c' else false
  end.

Lemma zpoly_add p : forall q s, zpoly (add p q) s = zpoly p s + zpoly q s.
Proof.
  unfold zpoly. induction p as [| a p IH]; intros [| b q] s; simpl; try ring. rewrite IH, plus_IZR. ring.
Qed.

Lemma zpoly_scaled c p s : zpoly (scaled_by c p) s = IZR c * zpoly p s.
Proof. unfold zpoly. induction p as [| a p IH]; simpl; [ring |]. rewrite IH, mult_IZR. ring. Qed.

Lemma zpoly_shift c p s : zpoly (shift c p) s = zpoly p (s + IZR c).
Proof.
  induction p as [| a p IH]; [reflexivity |].
  change (shift c (a :: p)) with (add [a] (add (scaled_by c (shift c p)) (0%Z :: shift c p))).
  rewrite !zpoly_add, zpoly_scaled. change (zpoly (0%Z :: shift c p) s) with (0 + s * zpoly (shift c p) s).
  rewrite IH. unfold zpoly. simpl. ring.
Qed.

Lemma pow_Z k : IZR (2 ^ Z.of_nat k) = 2 ^ k.
Proof. rewrite <- pow_IZR. reflexivity. Qed.

Lemma zpoly_halved p s : 2 * zpoly (halved p) s = 2 ^ length p * zpoly p (s / 2).
Proof.
  induction p as [| a p IH]; [unfold zpoly; simpl; ring |].
  unfold zpoly in *. cbn [halved map poly length]. rewrite mult_IZR, pow_Z. simpl pow.
  replace (2 * (IZR a * 2 ^ length p + s * poly (map IZR (halved p)) s))
    with (2 * IZR a * 2 ^ length p + s * (2 * poly (map IZR (halved p)) s)) by ring.
  rewrite IH. field.
Qed.

Lemma zpoly_side c p s : 2 * zpoly (side c p) s = 2 ^ length p * zpoly p ((s + IZR c) / 2).
Proof. unfold side. rewrite zpoly_shift. apply zpoly_halved. Qed.

Lemma length_add p : forall q, length (add p q) = Nat.max (length p) (length q).
Proof. induction p as [| a p IH]; intros [| b q]; simpl; try reflexivity. now rewrite IH. Qed.

Lemma length_scaled c p : length (scaled_by c p) = length p.
Proof. induction p; simpl; congruence. Qed.

Lemma length_side c p : length (side c p) = length p.
Proof.
  unfold side. transitivity (length (halved p)).
  - induction (halved p) as [| a q IH]; [reflexivity |].
    change (shift c (a :: q)) with (add [a] (add (scaled_by c (shift c q)) (0%Z :: shift c q))).
    rewrite !length_add, length_scaled. cbn [length]. rewrite IH. lia.
  - induction p as [| a p IH]; simpl; congruence.
Qed.

Lemma size_le p s : -1 <= s <= 1 -> Rabs (zpoly p s) <= IZR (size_of p).
Proof.
  intros Hs. induction p as [| a p IH]; [unfold zpoly; simpl; rewrite Rabs_R0; lra |].
  unfold zpoly in *. simpl. rewrite plus_IZR, abs_IZR. apply Rle_trans with (1 := Rabs_triang _ _).
  rewrite Rabs_mult. assert (Rabs s <= 1) by (apply Rabs_le; lra). pose proof (Rabs_pos (poly (map IZR p) s)).
  pose proof (Rabs_pos s). assert (Rabs s * Rabs (poly (map IZR p) s) <= 1 * IZR (size_of p)); [| lra].
  apply Rmult_le_compat; lra.
Qed.

Lemma two_sides (P : R -> Prop) : (forall t, -1 <= t <= 1 -> P ((t + IZR (-1)) / 2)) ->
  (forall t, -1 <= t <= 1 -> P ((t + IZR 1) / 2)) -> forall s, -1 <= s <= 1 -> P s.
Proof.
  intros A B s Hs. destruct (Rle_lt_dec s 0) as [H | H].
  - replace s with ((2 * s + 1 + IZR (-1)) / 2) by field. apply A. lra.
  - replace s with ((2 * s - 1 + IZR 1) / 2) by field. apply B. lra.
Qed.

Lemma head_wins a r s : (size_of r < a)%Z -> -1 <= s <= 1 -> 0 < zpoly (a :: r) s.
Proof.
  intros C Hs. apply IZR_lt in C. pose proof (size_le r s Hs) as E. change (0 < IZR a + s * zpoly r s).
  assert (H : Rabs (s * zpoly r s) <= 1 * IZR (size_of r)).
  { rewrite Rabs_mult. apply Rmult_le_compat; [apply Rabs_pos | apply Rabs_pos | apply Rabs_le; lra | assumption]. }
  apply Rabs_le_between in H. lra.
Qed.

Lemma positive_on fuel : forall p, positive fuel p = true -> forall s, -1 <= s <= 1 -> 0 < zpoly p s.
Proof.
  induction fuel as [| k IH]; intros [| a r] H; cbn [positive] in H; try discriminate;
    destruct (Z.ltb_spec (size_of r) a) as [C | _]; try discriminate; try (intros s Hs; now apply head_wins).
  destruct (0 <? a)%Z; [| discriminate].
  destruct (positive k (side (-1) (a :: r))) eqn:Q; [| discriminate].
  assert (W : forall c, positive k (side c (a :: r)) = true -> forall t, -1 <= t <= 1 -> 0 < zpoly (a :: r) ((t + IZR c) / 2)).
  { intros c T t Ht. pose proof (IH _ T t Ht). pose proof (zpoly_side c (a :: r) t) as E.
    pose proof (pow_lt 2 (length (a :: r)) ltac:(lra)). apply Rmult_lt_reg_l with (2 ^ length (a :: r)); [assumption | lra]. }
  apply two_sides; apply W; assumption.
Qed.

Fixpoint total_abs (ps : list (list Z)) (s : R) : R := match ps with [] => 0 | p :: r => Rabs (zpoly p s) + total_abs r s end.

Lemma total_side c d ps s : (forall p, In p ps -> length p = S d) ->
  total_abs (map (side c) ps) s = 2 ^ d * total_abs ps ((s + IZR c) / 2).
Proof.
  induction ps as [| p ps IH]; intros L; simpl; [ring |]. rewrite IH by (intros; apply L; now right).
  pose proof (zpoly_side c p s) as E. rewrite (L p (or_introl eq_refl)) in E. simpl pow in E.
  replace (zpoly (side c p) s) with (2 ^ d * zpoly p ((s + IZR c) / 2)) by lra.
  rewrite Rabs_mult, (Rabs_pos_eq (2 ^ d)) by (apply pow_le; lra). ring.
Qed.

Lemma sizes_le ps s : -1 <= s <= 1 -> total_abs ps s <= IZR (sizes_of ps).
Proof. intros Hs. induction ps as [| p ps IH]; simpl; [lra |]. rewrite plus_IZR. pose proof (size_le p s Hs). lra. Qed.

Lemma bounded_by fuel d : forall ps c, (forall p, In p ps -> length p = S d) -> bounded fuel d ps c = true ->
  forall s, -1 <= s <= 1 -> total_abs ps s <= IZR c.
Proof.
  induction fuel as [| k IH]; intros ps c L H; cbn [bounded] in H;
    destruct (Z.leb_spec (sizes_of ps) c) as [C | _]; try discriminate;
    try (intros s Hs; apply IZR_le in C; pose proof (sizes_le ps s Hs); lra).
  destruct (bounded k d (map (side (-1)) ps) _) eqn:Q; [| discriminate].
  assert (W : forall e, bounded k d (map (side e) ps) (c * 2 ^ Z.of_nat d)%Z = true ->
    forall t, -1 <= t <= 1 -> total_abs ps ((t + IZR e) / 2) <= IZR c).
  { intros e T t Ht. assert (L' : forall p, In p (map (side e) ps) -> length p = S d).
    { intros p I. apply in_map_iff in I. destruct I as [q [<- I]]. rewrite length_side. now apply L. }
    pose proof (IH _ _ L' T t Ht) as E. rewrite (total_side e d ps t L), mult_IZR, pow_Z in E.
    pose proof (pow_lt 2 d ltac:(lra)). apply Rmult_le_reg_l with (2 ^ d); [assumption | lra]. }
  apply two_sides; apply W; assumption.
Qed.

(* Places n / den, and the polynomials of Lagrange in whole numbers: zero at all but one, times `gap` at that one. *)
Section Rule.
Variable den : Z.
Hypothesis den_pos : (0 < den)%Z.
Definition place (n : Z) : R := IZR n / IZR den.
Fixpoint roots (ns : list Z) : list Z :=
  match ns with [] => [1%Z] | n :: r => let q := roots r in add (scaled_by (- n) q) (0%Z :: scaled_by den q) end.
Fixpoint gap (ns : list Z) (n : Z) : Z := match ns with [] => 1%Z | y :: r => ((n - y) * gap r n)%Z end.
Fixpoint rises_from (a : Z) (ns : list Z) : bool := match ns with [] => true | n :: r => if (a <? n)%Z then rises_from n r else false end.
Definition weighted (T : Z) (e : Z * list Z) : list Z := scaled_by (T / Z.abs (gap (snd e) (fst e)) + 1) (roots (snd e)).
(* For |s| <= 1: Lagrange's polynomials are at most lam in all, and the product over all places at most 3 / 2^m. *)
Definition rule (ns : list Z) (lam : Z) : bool :=
  let m := length ns in let T := (den ^ Z.of_nat m)%Z in
  if rises_from (- den - 1) ns then
    if bounded 20 (m - 1) (map (weighted T) (picks [] ns)) (lam * T) then bounded 20 m [roots ns] (3 * T / 2 ^ Z.of_nat m) else false
  else false.

Lemma den_R : 0 < IZR den.
Proof. now apply IZR_lt. Qed.

Lemma zpoly_roots ns s : zpoly (roots ns) s = IZR den ^ length ns * product (map place ns) s.
Proof.
  induction ns as [| n r IH]; [unfold zpoly; simpl; ring |]. cbn [roots map product length pow].
  rewrite zpoly_add, zpoly_scaled. change (zpoly (0%Z :: ?q) s) with (0 + s * zpoly q s). rewrite zpoly_scaled, IH, opp_IZR.
  change (place n) with (IZR n / IZR den). set (x := product _ _). pose proof den_R. field. lra.
Qed.

Lemma length_roots ns : length (roots ns) = S (length ns).
Proof.
  induction ns as [| n r IH]; [reflexivity |]. cbn [roots length]. rewrite length_add. cbn [length].
  rewrite !length_scaled, IH. lia.
Qed.

Lemma gap_R ns n : IZR (gap ns n) = IZR den ^ length ns * product (map place ns) (place n).
Proof.
  induction ns as [| y r IH]; [simpl; ring |]. cbn [gap map product length pow]. rewrite mult_IZR, minus_IZR, IH.
  set (x := product _ _). unfold place. pose proof den_R. field. lra.
Qed.

Lemma rev_append_map {A B : Type} (f : A -> B) l : forall r, rev_append (map f l) (map f r) = map f (rev_append l r).
Proof. induction l as [| x l IH]; intros r; [reflexivity |]. simpl. apply (IH (x :: r)). Qed.

Lemma picks_map {A B : Type} (f : A -> B) after : forall before,
  picks (map f before) (map f after) = map (fun e => (f (fst e), map f (snd e))) (picks before after).
Proof. induction after as [| x r IH]; intros before; [reflexivity |]. simpl. rewrite rev_append_map. f_equal. apply (IH (x :: before)). Qed.

Lemma rising_places a ns : rises_from a ns = true -> rising (place a) (map place ns).
Proof.
  revert a. induction ns as [| n r IH]; intros a H; [exact I |]. cbn [rises_from] in H. cbn [map rising]. destruct (Z.ltb_spec a n) as [C | _]; [| discriminate].
  split; [| now apply IH]. unfold place, Rdiv. apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat, den_R | now apply IZR_lt].
Qed.

Lemma lagrange_le T e s : (0 < T)%Z -> product (map place (snd e)) (place (fst e)) <> 0 ->
  IZR T * Rabs (lagrange s (place (fst e), map place (snd e))) <= Rabs (zpoly (weighted T e) s).
Proof.
  intros HT P. unfold weighted, lagrange. destruct e as [n r]. simpl fst in *. simpl snd in *.
  rewrite zpoly_scaled, zpoly_roots. pose proof den_R as D. pose proof (pow_lt _ (length r) D) as Dm.
  assert (G : IZR (gap r n) <> 0) by (rewrite gap_R; apply Rmult_integral_contrapositive_currified; lra).
  assert (G' : (0 < Z.abs (gap r n))%Z) by (destruct (Z.eq_dec (gap r n) 0) as [E | E]; [rewrite E in G; lra | lia]).
  pose proof (Z.mul_succ_div_gt T _ G') as W. rewrite <- Z.add_1_r in W. apply IZR_lt in W. rewrite mult_IZR, abs_IZR, gap_R in W.
  set (k := IZR (T / _ + 1)) in *. set (x := product (map place r) (place n)) in *. set (y := product (map place r) s) in *.
  assert (K : 0 < k).
  { unfold k. apply IZR_lt. pose proof (Z.div_pos T (Z.abs (gap r n)) ltac:(lia) G'). lia. }
  unfold Rdiv. rewrite !Rabs_mult, (Rabs_pos_eq (_ ^ _)), (Rabs_pos_eq k) in * by lra. rewrite Rabs_inv.
  pose proof (Rabs_pos_lt x P) as X. pose proof (Rabs_pos y) as Y.
  replace (IZR T * (Rabs y * / Rabs x)) with (Rabs y * (IZR T * / Rabs x)) by ring.
  replace (k * (IZR den ^ length r * Rabs y)) with (Rabs y * (k * IZR den ^ length r)) by ring.
  apply Rmult_le_compat_l; [assumption |]. apply Rmult_le_reg_r with (Rabs x); [assumption |].
  replace (IZR T * / Rabs x * Rabs x) with (IZR T) by (field; lra). lra.
Qed.

Lemma rule_lagrange ns lam s : rule ns lam = true -> -1 <= s <= 1 ->
  sum_over (fun q => Rabs (lagrange s q)) (picks [] (map place ns)) <= IZR lam.
Proof.
  unfold rule. intros H Hs. destruct (rises_from _ ns) eqn:Rf; [| discriminate].
  set (T := (den ^ Z.of_nat (length ns))%Z) in *. destruct (bounded 20 _ (map _ _) _) eqn:Bd; [| discriminate].
  assert (HT : (0 < T)%Z) by (apply Z.pow_pos_nonneg; lia).
  pose proof (rising_nodup _ _ (rising_places _ _ Rf)) as ND.
  assert (L : forall p, In p (map (weighted T) (picks [] ns)) -> length p = S (length ns - 1)).
  { intros p I. apply in_map_iff in I. destruct I as [e [<- I]]. unfold weighted. rewrite length_scaled, length_roots.
    pose proof (picks_length ns [] e I) as PL. cbn [length] in PL. clear - PL. lia. }
  pose proof (bounded_by _ _ _ _ L Bd s Hs) as Q. rewrite mult_IZR in Q.
  change (@nil R) with (map place []). rewrite picks_map.
  assert (Z : forall e, In e (picks [] ns) -> product (map place (snd e)) (place (fst e)) <> 0).
  { intros e I. apply product_nonzero. clear - I ND. revert I. change (NoDup (map place ([] ++ ns))) in ND.
    assert (W : forall after before, NoDup (map place (rev_append before after)) -> In e (picks before after) ->
      ~ In (place (fst e)) (map place (snd e))).
    { induction after as [| x r IH]; intros before N; simpl; [tauto |]. intros [<- | I]; [| exact (IH (x :: before) N I)].
      simpl. rewrite rev_append_rev, map_app in N. simpl in N. apply NoDup_remove_2 in N.
      now rewrite rev_append_rev, map_app. }
    apply (W ns []). exact ND. }
  assert (S1 : forall l, (forall e, In e l -> product (map place (snd e)) (place (fst e)) <> 0) ->
    IZR T * sum_over (fun q => Rabs (lagrange s q)) (map (fun e => (place (fst e), map place (snd e))) l)
      <= total_abs (map (weighted T) l) s).
  { induction l as [| e l IH]; simpl; intros P; [lra |]. rewrite Rmult_plus_distr_l.
    apply Rplus_le_compat; [apply lagrange_le; [assumption | apply P; now left] | apply IH; intros; apply P; now right]. }
  pose proof (S1 _ Z) as S2. apply IZR_lt in HT. apply Rmult_le_reg_l with (IZR T); [assumption | lra].
Qed.

Lemma rule_product ns lam s : rule ns lam = true -> -1 <= s <= 1 -> Rabs (product (map place ns) s) <= 3 / 2 ^ length ns.
Proof.
  unfold rule. intros H Hs. destruct (rises_from _ ns); [| discriminate].
  destruct (bounded 20 _ (map _ _) _); [| discriminate].
  assert (L : forall p, In p [roots ns] -> length p = S (length ns)) by (intros p [<- | []]; apply length_roots).
  pose proof (bounded_by _ _ _ _ L H s Hs) as Q. simpl in Q. rewrite zpoly_roots, Rplus_0_r in Q.
  set (T := (den ^ Z.of_nat (length ns))%Z) in *.
  assert (E : IZR T = IZR den ^ length ns) by (unfold T; now rewrite <- pow_IZR).
  assert (P2 : (0 < 2 ^ Z.of_nat (length ns))%Z) by (apply Z.pow_pos_nonneg; lia).
  pose proof (Z.mul_div_le (3 * T) _ P2) as D. apply IZR_le in D. rewrite !mult_IZR, pow_Z, E in D.
  pose proof (pow_lt _ (length ns) den_R) as A. pose proof (pow_lt 2 (length ns) ltac:(lra)) as B.
  rewrite Rabs_mult, (Rabs_pos_eq (_ ^ _)) in Q by lra. set (x := Rabs _) in *. set (z := IZR (_ / _)) in *.
  apply Rmult_le_reg_l with (IZR den ^ length ns * 2 ^ length ns); [now apply Rmult_lt_0_compat |].
  replace (IZR den ^ length ns * 2 ^ length ns * (3 / 2 ^ length ns)) with (3 * IZR den ^ length ns) by (field; lra).
  apply Rle_trans with (2 ^ length ns * z); [| assumption].
  replace (IZR den ^ length ns * 2 ^ length ns * x) with (2 ^ length ns * (IZR den ^ length ns * x)) by ring.
  apply Rmult_le_compat_l; lra.
Qed.
End Rule.

(* A function that is at most M / cos(b)^q in every strip |Im w| <= b < pi/2: Cauchy's estimate of its derivatives. *)
Definition Strip (M : R) (q : nat) (f : R -> R) : Prop := Smooth f /\
  forall b k w, 0 < b < PI / 2 -> Rabs (Derive_n f k w) <= INR (fact k) * (M / cos b ^ q / b ^ k).

Lemma strip_sum M N q f g c d : Strip M q f -> Strip N q g ->
  Strip (Rabs c * M + Rabs d * N) q (fun w => c * f w + d * g w).
Proof.
  intros [F F'] [G G']. split; [apply (smooth_plus (fun w => c * f w)); apply smooth_scal; assumption |].
  intros b k w Hb. rewrite (derive_plus (fun w => c * f w) (fun w => d * g w) k w (smooth_scal c f F) (smooth_scal d g G)).
  rewrite !derive_scal. apply Rle_trans with (1 := Rabs_triang _ _). rewrite !Rabs_mult.
  pose proof (Rmult_le_compat_l _ _ _ (Rabs_pos c) (F' b k w Hb)). pose proof (Rmult_le_compat_l _ _ _ (Rabs_pos d) (G' b k w Hb)).
  unfold Rdiv in *. lra.
Qed.

(* On an interval as a function of s from -1 to 1. *)
Lemma moved_slope f c h : Smooth f -> forall k s,
  is_derive (Derive_n (fun s => f (c + h * s)) k) s (h ^ S k * Derive_n f (S k) (c + h * s)).
Proof.
  intros F. assert (D : forall k s, is_derive (fun s => Derive_n f k (c + h * s)) s (h * Derive_n f (S k) (c + h * s))).
  { intros k s. apply (is_derive_comp (Derive_n f k) (fun s => c + h * s)).
    - apply Derive_correct. exact (F (S k) (c + h * s)).
    - auto_derive; [exact I | ring]. }
  induction k as [| k IH]; intros s; [simpl pow; rewrite Rmult_1_r; exact (D O s) |].
  apply is_derive_ext with (fun s => h ^ S k * Derive_n f (S k) (c + h * s)).
  { intros x. symmetry. exact (is_derive_unique _ _ _ (IH x)). }
  replace (h ^ S (S k) * _) with (h ^ S k * (h * Derive_n f (S (S k)) (c + h * s))) by (simpl; ring).
  apply (is_derive_scal (fun s => Derive_n f (S k) (c + h * s))), D.
Qed.

Lemma smooth_moved f c h : Smooth f -> Smooth (fun s => f (c + h * s)).
Proof. intros F [| k] s; [exact I |]. eexists. exact (moved_slope f c h F k s). Qed.

Lemma derive_moved f c h k s : Smooth f -> Derive_n (fun s => f (c + h * s)) k s = h ^ k * Derive_n f k (c + h * s).
Proof.
  intros F. destruct k as [| k]; [simpl; ring |]. exact (is_derive_unique _ _ _ (moved_slope f c h F k s)).
Qed.

(* p at n / den, times den^degree. *)
Fixpoint hom (den : Z) (p : list Z) (n : Z) : Z :=
  match p with [] => 0%Z | a :: r => (a * den ^ Z.of_nat (length r) + n * hom den r n)%Z end.

Lemma hom_R den p n : (0 < den)%Z -> IZR den * IZR (hom den p n) = IZR den ^ length p * zpoly p (place den n).
Proof.
  intros D. apply IZR_lt in D. unfold zpoly. induction p as [| a p IH]; [simpl; ring |].
  cbn [hom length map poly pow]. rewrite plus_IZR, !mult_IZR, <- pow_IZR.
  replace (IZR den * (IZR a * IZR den ^ length p + IZR n * IZR (hom den p n)))
    with (IZR den * (IZR a * IZR den ^ length p) + IZR n * (IZR den * IZR (hom den p n))) by ring.
  rewrite IH. unfold place. field. lra.
Qed.

(* A polynomial nearly through some values, times `fine`; and whether it exceeds a level by the errors. *)
Section Table.
Variables (den fine lam : Z) (ns : list Z).
Hypotheses (den_pos : (0 < den)%Z) (fine_pos : (0 < fine)%Z).
Hypothesis ruled : rule den ns lam = true.
Definition through (vs : list Z) : list Z :=
  fold_right (fun ev acc => let '(e, v) := ev in
    let g := gap (snd e) (fst e) in add (map (fun a => (a * (v * fine) / g)%Z) (roots den (snd e))) acc) []
    (combine (picks [] ns) vs).
Fixpoint close (p : list Z) (l vs : list Z) : bool :=
  match l, vs with
  | [], [] => true
  | n :: l', v :: vs' => let scale := (fine * den ^ Z.of_nat (length p - 1))%Z in
    if (Z.abs (hom den p n - v * scale) <=? scale)%Z then close p l' vs' else false
  | _, _ => false
  end.
Definition exceeds (level rest : Z) (vs : list Z) : bool :=
  let p := through vs in
  if Nat.eqb (length p) (length ns) then
    if close p ns vs then positive 30 (add p [(- ((level + 2 * lam + rest) * fine))%Z]) else false
  else false.
Definition at_place (a b : R) (n : Z) : R := (a + b) / 2 + (b - a) / 2 * place den n.
(* Values in units 1 / U: each is off by one unit at most. *)
Fixpoint values (U : R) (f : R -> R) (a b : R) (l vs : list Z) : Prop :=
  match l, vs with
  | n :: l', v :: vs' => Rabs (U * f (at_place a b n) - IZR v) <= 1 /\ values U f a b l' vs'
  | _, _ => True
  end.
(* From a on to the first end, from there to the second, and so on. *)
Fixpoint tables (U : R) (f : R -> R) (a : R) (ends : list R) (t : list (list Z)) : Prop :=
  match ends, t with b :: r, vs :: t' => values U f a b ns vs /\ tables U f b r t' | _, _ => True end.
(* As many tables as intervals, each of a length of 2 r at most. *)
Fixpoint covered (r a : R) (ends : list R) (t : list (list Z)) : Prop :=
  match ends, t with [], [] => True | b :: l, _ :: t' => a < b <= a + 2 * r /\ covered r b l t' | _, _ => False end.
Fixpoint exceed (level rest : Z) (t : list (list Z)) : bool :=
  match t with [] => true | vs :: t' => if exceeds level rest vs then exceed level rest t' else false end.

Lemma hom_is p n : IZR (hom den p n) = IZR den ^ (length p - 1) * zpoly p (place den n).
Proof.
  pose proof (IZR_lt _ _ den_pos) as D. destruct p as [| a p]; [unfold zpoly; simpl; ring |].
  pose proof (hom_R den (a :: p) n den_pos) as H. cbn [length] in *. rewrite Nat.sub_1_r. cbn [Nat.pred].
  cbn [pow] in H. apply Rmult_eq_reg_l with (IZR den); [rewrite H; ring | lra].
Qed.

Lemma close_at U f a b p : forall l vs, close p l vs = true -> values U f a b l vs -> forall n, In n l ->
  Rabs (IZR fine * U * f (at_place a b n) - zpoly p (place den n)) <= 2 * IZR fine.
Proof.
  pose proof (IZR_lt _ _ fine_pos) as Fp. pose proof (IZR_lt _ _ den_pos) as Dp.
  induction l as [| n l IH]; intros vs C V k; [intros [] |]. destruct vs as [| v vs]; [discriminate |].
  cbn [close] in C. cbn [values] in V. destruct V as [V W].
  destruct (Z.leb_spec (Z.abs (hom den p n - v * (fine * den ^ Z.of_nat (length p - 1)))) (fine * den ^ Z.of_nat (length p - 1)))
    as [Q | _]; [| discriminate].
  intros [<- | I]; [| exact (IH vs C W k I)].
  apply IZR_le in Q. rewrite abs_IZR, minus_IZR, !mult_IZR, <- pow_IZR, hom_is in Q. fold (place den n).
  set (D := IZR den ^ (length p - 1)) in *. assert (DP : 0 < D) by (apply pow_lt; lra).
  replace (D * zpoly p (place den n) - IZR v * (IZR fine * D)) with (D * (zpoly p (place den n) - IZR v * IZR fine)) in Q by ring.
  rewrite Rabs_mult, (Rabs_pos_eq D), (Rmult_comm (IZR fine)) in Q by lra. apply Rmult_le_reg_l in Q; [| assumption].
  replace (IZR fine * U * f (at_place a b n) - zpoly p (place den n))
    with (IZR fine * (U * f (at_place a b n) - IZR v) - (zpoly p (place den n) - IZR v * IZR fine)) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_Ropp, Rabs_mult, (Rabs_pos_eq (IZR fine)) by lra.
  pose proof (Rmult_le_compat_l (IZR fine) _ _ ltac:(lra) V). lra.
Qed.

Section Above.
Variables (U C b r : R) (f : R -> R) (level rest : Z).
Hypotheses (U_pos : 0 < U) (C_pos : 0 <= C) (b_pos : 0 < b).
Hypothesis smooth : Smooth f.
Hypothesis steep : forall w, Rabs (Derive_n f (length ns) w) <= INR (fact (length ns)) * (C / b ^ length ns).
Hypothesis rest_ge : U * (3 * C * (r / (2 * b)) ^ length ns) <= IZR rest.

Lemma part_above a e vs w : a < e <= a + 2 * r -> values U f a e ns vs -> exceeds level rest vs = true -> a <= w <= e ->
  IZR level < U * f w.
Proof.
  intros Hr V H Hw. unfold exceeds in H. set (p := through vs) in *. clearbody p.
  destruct (Nat.eqb_spec (length p) (length ns)) as [L | _]; [| discriminate].
  destruct (close p ns vs) eqn:Cl; [| discriminate].
  pose proof (IZR_lt _ _ fine_pos) as Fp. pose proof (IZR_lt _ _ den_pos) as Dp.
  set (mid := (a + e) / 2). set (h := (e - a) / 2). assert (h_pos : 0 < h <= r) by (unfold h; lra).
  set (s := (w - mid) / h). assert (Hs : -1 <= s <= 1).
  { unfold s. split; apply Rmult_le_reg_r with h; try lra; unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra;
      unfold mid, h; lra. }
  assert (E : w = mid + h * s) by (unfold s; field; lra).
  pose proof (positive_on 30 _ H s Hs) as P. rewrite zpoly_add in P.
  change (zpoly [?c] s) with (IZR c + s * 0) in P. rewrite opp_IZR, mult_IZR, !plus_IZR, mult_IZR in P.
  set (g := fun s => IZR fine * U * f (mid + h * s)).
  assert (G : Smooth g) by (apply (smooth_scal (IZR fine * U) (fun s => f (mid + h * s))), smooth_moved, smooth).
  set (m := length ns) in *. set (K := IZR fine * U * h ^ m * (C / b ^ m)).
  assert (hm : 0 <= h ^ m) by (apply pow_le; lra). assert (FU : 0 <= IZR fine * U) by (apply Rmult_le_pos; lra).
  assert (Rs : rising (place den (- den - 1)) (map (place den) ns)).
  { apply rising_places; [assumption |]. revert ruled. unfold rule. destruct (rises_from _ ns); [reflexivity | discriminate]. }
  assert (Dg : forall t, Rabs (Derive_n g (length (map (place den) ns)) t) <= INR (fact (length (map (place den) ns))) * K).
  { intros t. rewrite map_length. fold m. unfold g. rewrite derive_scal, (derive_moved f mid h m t smooth).
    rewrite !Rabs_mult, (Rabs_pos_eq (IZR fine)), (Rabs_pos_eq U), (Rabs_pos_eq (h ^ m)) by lra.
    pose proof (steep (mid + h * t)) as B. fold m in B. unfold K.
    replace (INR (fact m) * (IZR fine * U * h ^ m * (C / b ^ m)))
      with (IZR fine * U * (h ^ m * (INR (fact m) * (C / b ^ m)))) by ring.
    apply Rmult_le_compat_l; [assumption |]. now apply Rmult_le_compat_l. }
  assert (V' : forall x, In x (map (place den) ns) -> Rabs (g x - poly (map IZR p) x) <= 2 * IZR fine).
  { intros x I. apply in_map_iff in I. destruct I as [n [<- I]]. exact (close_at U f a e p ns vs Cl V n I). }
  assert (Lp : (length (map IZR p) <= length (map (place den) ns))%nat) by (rewrite !map_length; lia).
  pose proof (near g (place den (- den - 1)) (map (place den) ns) K (map IZR p) (2 * IZR fine) s G Rs Lp Dg V') as N.
  pose proof (rule_lagrange den den_pos ns lam s ruled Hs) as R1. pose proof (rule_product den den_pos ns lam s ruled Hs) as R2.
  fold m in R2. change (poly (map IZR p) s) with (zpoly p s) in N.
  assert (K0 : 0 <= K).
  { unfold K. apply Rmult_le_pos; [now apply Rmult_le_pos |]. apply Rmult_le_pos; [assumption |].
    left. apply Rinv_0_lt_compat, pow_lt. lra. }
  pose proof (Rmult_le_compat_l _ _ _ K0 R2) as R3.
  assert (R4 : K * (3 / 2 ^ m) <= IZR fine * IZR rest).
  { apply Rle_trans with (IZR fine * (U * (3 * C * (r / (2 * b)) ^ m))); [| apply Rmult_le_compat_l; [lra | exact rest_ge]].
    replace (K * (3 / 2 ^ m)) with (IZR fine * (U * (3 * C * (h / (2 * b)) ^ m))).
    - apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat_l; [lra |]. apply Rmult_le_compat_l; [lra |].
      apply pow_incr. split; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra] |].
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra | lra].
    - unfold K, Rdiv. rewrite !Rpow_mult_distr, <- !Rinv_pow, Rpow_mult_distr by lra. field.
      split; apply pow_nonzero; lra. }
  pose proof (Rmult_le_compat_l (2 * IZR fine) _ _ ltac:(lra) R1) as R5. apply Rabs_le_between in N.
  assert (Q : IZR fine * IZR level < IZR fine * (U * f w)).
  { replace (IZR fine * (U * f w)) with (g s) by (unfold g; rewrite E; ring). lra. }
  apply Rmult_lt_reg_l in Q; lra.
Qed.

Lemma above_on ends : forall t a, tables U f a ends t -> covered r a ends t -> exceed level rest t = true ->
  forall w, a < last ends a -> a <= w <= last ends a -> IZR level < U * f w.
Proof.
  induction ends as [| e ends IH]; intros t a T Sh X w A Hw; [simpl in A; lra |].
  destruct t as [| vs t]; [destruct Sh |]. cbn [exceed] in X. destruct (exceeds level rest vs) eqn:Q; [| discriminate].
  destruct T as [V T]. destruct Sh as [S1 S2]. destruct (Rle_lt_dec w e) as [H | H]; [now apply (part_above a e vs) |].
  assert (Z : last (e :: ends) a = last ends e) by (destruct ends as [| x l]; [reflexivity | simpl; clear; revert x; induction l as [| y l IHl]; intros x; [reflexivity | apply (IHl y)]]).
  rewrite Z in Hw. apply (IH t e T S2 X w); lra.
Qed.
End Above.
End Table.

(* Where a loss is least, from its values on both sides and from the noise, which rises. *)
Section Optimum.
Variables (N B : R -> R) (L sigma at_ level stop noise_stop low high : R).
Definition risk (w : R) : R := sigma ^ 2 * N w + L ^ 2 * B w.
Hypothesis noise_rises : forall w v, 0 <= w <= v -> N w <= N v.
Hypothesis bias_nonneg : forall w, 0 <= w -> 0 <= B w.
Hypothesis continuous : forall w, continuity_pt risk w.
Hypothesis order : 0 <= at_ /\ 0 <= low < high /\ high <= stop.
Hypothesis level_at : risk at_ <= level.
Hypothesis noise_at : noise_stop <= sigma ^ 2 * N stop.
Hypothesis noise_above : level < noise_stop.

Lemma risk_beyond w : stop <= w -> level < risk w.
Proof.
  intros H. pose proof (noise_rises stop w ltac:(lra)) as R1. pose proof (bias_nonneg w ltac:(lra)).
  pose proof (pow2_ge_0 sigma). pose proof (pow2_ge_0 L). pose proof (Rmult_le_compat_l (sigma ^ 2) _ _ ltac:(assumption) R1).
  assert (0 <= L ^ 2 * B w) by (apply Rmult_le_pos; assumption). unfold risk. lra.
Qed.

Lemma at_before_stop : at_ <= stop.
Proof. destruct (Rle_lt_dec at_ stop) as [H | H]; [assumption |]. pose proof (risk_beyond at_ ltac:(lra)). lra. Qed.

(* No w > stop is best, and over w >= 0 there is a least value. *)
Lemma least_exists : exists w, 0 <= w <= stop /\ forall x, 0 <= x -> risk w <= risk x.
Proof.
  destruct (continuity_ab_min risk 0 stop) as [w [H1 H2]]; [lra | intros; apply continuous |].
  exists w. split; [assumption |]. intros x Hx. destruct (Rle_lt_dec x stop) as [H | H]; [apply H1; lra |].
  pose proof (risk_beyond x ltac:(lra)). pose proof at_before_stop. pose proof (H1 at_ ltac:(lra)). lra.
Qed.

Hypothesis left_above : forall w, 0 <= w < low -> level < risk w.
Hypothesis right_above : forall w, high < w <= stop -> level < risk w.

Lemma risk_outside w : 0 <= w -> w < low \/ high < w -> level < risk w.
Proof.
  intros Hw [H | H]; [now apply left_above |]. destruct (Rle_lt_dec w stop); [apply right_above; lra |]. apply risk_beyond. lra.
Qed.

Lemma optimum : (exists w, 0 <= w /\ forall x, 0 <= x -> risk w <= risk x) /\
  forall w, 0 <= w -> (forall x, 0 <= x -> risk w <= risk x) -> low <= w <= high.
Proof.
  split; [destruct least_exists as [w [H1 H2]]; exists w; split; [lra | assumption] |].
  intros w Hw M. specialize (M at_ ltac:(lra)).
  split; apply Rnot_lt_le; intros H; [pose proof (risk_outside w Hw (or_introl H)) | pose proof (risk_outside w Hw (or_intror H))]; lra.
Qed.

(* An even loss whose fourth derivative is too small to make up for the second at 0. *)
Lemma origin M b curvature : low = 0 -> 0 < b < PI / 2 -> Strip M 2 risk -> (forall w, risk (- w) = risk w) ->
  2 * curvature <= Derive_n risk 2 0 -> M / cos b ^ 2 / b ^ 4 * high ^ 2 < curvature ->
  forall w, w <> 0 -> risk 0 < risk w.
Proof.
  intros Low Hb [F S4] even curved small. set (K := M / cos b ^ 2 / b ^ 4) in *.
  assert (odd : forall k, Derive_n risk k 0 = (-1) ^ k * Derive_n risk k 0).
  { intros k. rewrite <- (Derive_n_ext (fun x => risk (- x)) risk k 0 even) at 1. rewrite <- Ropp_0 at 2.
    rewrite Derive_n_comp_opp; [now rewrite Ropp_0 |]. apply filter_forall. intros y j _. apply F. }
  assert (O1 : Derive_n risk 1 0 = 0) by (pose proof (odd 1%nat) as O; cbn [pow] in O; lra).
  assert (O3 : Derive_n risk 3 0 = 0) by (pose proof (odd 3%nat) as O; cbn [pow] in O; lra).
  assert (near_0 : forall w, 0 < w <= high -> risk 0 < risk w).
  { intros w Hw. destruct (Taylor_Lagrange risk 3 0 w) as [z [_ E]]; [lra | intros; apply F |].
    rewrite E. cbn [sum_f_R0]. rewrite O1, O3, Rminus_0_r. change (Derive_n risk 0 0) with (risk 0).
    pose proof (S4 b 4%nat z Hb) as D. fold K in D. apply Rabs_le_between in D.
    pose proof (pow_lt w 2 ltac:(lra)) as W2. pose proof (pow_incr w high 2 ltac:(lra)) as Wh.
    assert (K0 : 0 <= K).
    { pose proof (S4 b 4%nat 0 Hb) as H. fold K in H. pose proof (Rabs_pos (Derive_n risk 4 0)). pose proof (INR_fact_lt_0 4).
      apply Rmult_le_reg_l with (INR (fact 4)); [assumption | rewrite Rmult_0_r; lra]. }
    assert (K * w ^ 2 < curvature) by (apply Rle_lt_trans with (2 := small); apply Rmult_le_compat_l; assumption).
    assert (K * w ^ 2 * w ^ 2 < curvature * w ^ 2) by (apply Rmult_lt_compat_r; assumption).
    assert (2 * curvature * w ^ 2 <= Derive_n risk 2 0 * w ^ 2) by (apply Rmult_le_compat_r; lra).
    assert (INR (fact 4) = 24) as F4 by (simpl; ring). rewrite F4 in *.
    assert (- (24 * K) * (w ^ 2 * w ^ 2) <= Derive_n risk 4 z * (w ^ 2 * w ^ 2)).
    { apply Rmult_le_compat_r; [left; now apply Rmult_lt_0_compat | lra]. }
    replace (w ^ 4) with (w ^ 2 * w ^ 2) by ring. simpl fact. simpl INR. lra. }
  assert (at_low : at_ <= high).
  { apply Rnot_lt_le. intros H. pose proof (risk_outside at_ ltac:(lra) (or_intror H)). lra. }
  assert (level_0 : risk 0 <= level).
  { apply Rle_trans with (2 := level_at). destruct (proj1 order) as [H | <-]; [left; apply near_0; lra | lra]. }
  assert (all : forall w, 0 < w -> risk 0 < risk w).
  { intros w Hw. destruct (Rle_lt_dec w high) as [H | H]; [apply near_0; lra |].
    pose proof (risk_outside w ltac:(lra) (or_intror H)). lra. }
  intros w Hw. destruct (Rdichotomy w 0 Hw) as [H | H]; [rewrite <- (even w); apply all; lra | now apply all].
Qed.
End Optimum.

Lemma strip_risk N B L sigma M : Strip 1 2 N -> Strip M 2 B -> Strip (sigma ^ 2 + L ^ 2 * M) 2 (risk N B L sigma).
Proof.
  intros SN SB. pose proof (strip_sum 1 M 2 N B (sigma ^ 2) (L ^ 2) SN SB) as H.
  rewrite !Rabs_pos_eq, Rmult_1_r in H by apply pow2_ge_0. exact H.
Qed.

(* 24 places, nearly those of Chebyshev. *)
Definition places : list Z := [-128; -126; -121; -115; -106; -96; -84; -71; -57; -41; -25; -8; 8; 25; 41; 57; 71; 84; 96; 106; 115; 121; 126; 128]%Z.
Lemma ruled : rule 128 places 4 = true.
Proof. vm_compute. reflexivity. Qed.
(* A function above a level by its tables, one that is analytic or its slope. *)
Lemma value_above U M b r q f level rest ends t a : 0 < U -> 0 <= M -> 0 < b < PI / 2 -> Strip M q f ->
  U * (3 * (M / cos b ^ q) * (r / (2 * b)) ^ 24) <= IZR rest -> tables 128 places U f a ends t -> covered r a ends t ->
  exceed 128 65536 4 places level rest t = true -> forall w, a < last ends a -> a <= w <= last ends a -> IZR level < U * f w.
Proof.
  intros HU HM Hb [F S] rest_ge. assert (0 <= M / cos b ^ q).
  { apply Rmult_le_pos; [assumption |]. left. apply Rinv_0_lt_compat, pow_lt, cos_gt_0; lra. }
  intros T Co Ex. exact (above_on 128 65536 4 places eq_refl eq_refl ruled U _ b r f level rest HU H (proj1 Hb) F
    (fun w => S b 24%nat w Hb) rest_ge ends t a T Co Ex).
Qed.

Lemma slope_steep M q f b k w : 0 < b < PI / 2 -> Strip M q f ->
  Rabs (Derive_n (Derive f) k w) <= INR (fact k) * (INR (S k) * (M / cos b ^ q) / b / b ^ k).
Proof.
  intros Hb [F S]. rewrite derive_n_of_slope. apply Rle_trans with (1 := S b (Datatypes.S k) w Hb).
  rewrite fact_simpl, mult_INR. right. assert (cos b ^ q <> 0) by (apply pow_nonzero, Rgt_not_eq, cos_gt_0; lra).
  assert (b ^ k <> 0) by (apply pow_nonzero; lra). change (b ^ Datatypes.S k) with (b * b ^ k). field. split; [| split]; lra.
Qed.

Lemma slope_above U M b r q f level rest ends t a : 0 < U -> 0 <= M -> 0 < b < PI / 2 -> Strip M q f ->
  U * (3 * (25 * (M / cos b ^ q) / b) * (r / (2 * b)) ^ 24) <= IZR rest -> tables 128 places U (Derive f) a ends t ->
  covered r a ends t -> exceed 128 65536 4 places level rest t = true ->
  forall w, a < last ends a -> a <= w <= last ends a -> IZR level < U * Derive f w.
Proof.
  intros HU HM Hb SF rest_ge T Co Ex. replace 25 with (INR 25) in rest_ge by (rewrite INR_IZR_INZ; reflexivity).
  assert (H : 0 <= INR 25 * (M / cos b ^ q) / b).
  { assert (0 <= M / cos b ^ q). { apply Rmult_le_pos; [assumption |]. left. apply Rinv_0_lt_compat, pow_lt, cos_gt_0; lra. }
    apply Rmult_le_pos; [apply Rmult_le_pos; [apply pos_INR | assumption] | left; apply Rinv_0_lt_compat; lra]. }
  exact (above_on 128 65536 4 places eq_refl eq_refl ruled U _ b r (Derive f) level rest HU H (proj1 Hb) (smooth_slope f (proj1 SF))
    (fun w => slope_steep M q f b 24 w Hb SF) rest_ge ends t a T Co Ex).
Qed.
End Curves.
