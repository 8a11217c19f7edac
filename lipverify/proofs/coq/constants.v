(* What theorems on every dimension ask of the constants of a proof, which they follow. *)

Lemma gamma_ge : 1 <= gamma <= 6.
Proof. numbers. Qed.
Lemma T_least_ge : 12 <= T_least.
Proof. numbers. Qed.
Lemma m_in : 0 <= m <= T_least.
Proof. numbers. Qed.
Lemma order : 0 < first /\ 2 * first <= 1 /\ first < split /\ split < low /\ low < 1 /\ 1 < high.
Proof. numbers. Qed.
Lemma room_pos : 0 < room.
Proof. numbers. Qed.
Lemma K_pos : 0 < K.
Proof. numbers. Qed.
Lemma M_pos : 0 < M.
Proof. numbers. Qed.
Lemma W_least_ge : 1 <= W_least.
Proof. numbers. Qed.
Lemma T_le : tau * T_least <= 1.
Proof. numbers. Qed.
Lemma loss_low_pos : 0 <= loss_low.
Proof. numbers. Qed.
Lemma over_ge : 1 <= 1 / 2 + 1 / 16 + over / 4 /\
  0 < 2 * over - 1 / 4 - (1 / 64 + 3 * over) / 2 - over / 16 - over ^ 2 / 8.
Proof. numbers. Qed.

(* The curve of `dimensions.v` is below D: one dimension after another up to 8, then by signs. *)
Ltac cubic := unfold cubic, al, a_of, size; cbn [Z.of_nat Pos.of_succ_nat Pos.succ]; values; intros z Hz;
  destruct (Rle_lt_dec z 3); [interval with (i_prec 64, i_bisect z, i_depth 30) | nra].
Lemma cubic_2 : cubic gamma 2.
Proof. cubic. Qed.
Lemma cubic_3 : cubic gamma 3.
Proof. cubic. Qed.
Lemma cubic_4 : cubic gamma 4.
Proof. cubic. Qed.
Lemma cubic_5 : cubic gamma 5.
Proof. cubic. Qed.
Lemma cubic_6 : cubic gamma 6.
Proof. cubic. Qed.
Lemma cubic_7 : cubic gamma 7.
Proof. cubic. Qed.
Lemma cubic_8 : cubic gamma 8.
Proof. cubic. Qed.
Lemma cubic_every d : (2 <= d)%nat -> cubic gamma d.
Proof.
  intros Hd. destruct (le_lt_dec 9 d) as [H | H].
  { refine (cubic_high gamma d _ _); [pose proof gamma_ge; lra | assumption]. }
  assert (C : d = 2%nat \/ d = 3%nat \/ d = 4%nat \/ d = 5%nat \/ d = 6%nat \/ d = 7%nat \/ d = 8%nat) by lia.
  destruct C as [-> | [-> | [-> | [-> | [-> | [-> | ->]]]]]];
    [exact cubic_2 | exact cubic_3 | exact cubic_4 | exact cubic_5 | exact cubic_6 | exact cubic_7 | exact cubic_8].
Qed.
