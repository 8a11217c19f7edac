"""Export the bounds on w* of ReLU in every dimension: 2, 3 and 4 by themselves, then groups that share bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from flint import arb, ctx

from lipverify.proofs.checker.chain import Ball, ball
from lipverify.proofs.checker.kink import gaussian_integrals
from lipverify.proofs.checker.sizes import centre_of, density
from lipverify.proofs.coq.text import BITS, assumed, decimal, library, written

ALONE = 4
"""The last dimension with a certificate of its own: beyond it the bounds on the bias have one form."""
SHARP = 401
"""A group begins here, because the bounds of the proof are those of its last ball, all d beyond 400."""
FACTS = (
    *("mean_d", "continuous_d", "limit_d", "opposite_d", "jensen_d", "laplace_d", "spread_d", "crossed_d"),
    *("laplace_c_d", "laplace_k_d", "kink_norm_d", "jensen_ramp", "jensen_ramp_left"),
)
"""The hypotheses, each for every dimension."""
MARGIN = Fraction(1, 10**7)
"""What is added to a bound, so that Coq's intervals, which are not the same balls, prove it too."""
NORMAL = ("psi_0", "psi_2", "psi_plane", "(ff 0)", "(ff 2)", "(ff 4)", "(fq 1)", "(fq 3)", "(qq 2)")


class Group(NamedTuple):
    """Dimensions from `first` to `last`, None for all, with 1/a in s, a/k <= r, and k0 <= peak^2 / 2a <= k1."""

    first: int
    last: int | None
    s: tuple[Fraction, Fraction]
    r: Fraction
    h: Fraction
    k0: Fraction
    k1: Fraction

    @property
    def like(self) -> int:
        """The dimension with the same formulas."""
        return min(self.first, ALONE + 1)


def every_ramp(k: Mapping[str, Fraction]) -> Iterator[str]:
    """Write what follows the constants and the kernels in a proof for ReLU."""
    with ctx.workprec(BITS):
        groups = list(groups_of(k))
        yield normal()
        yield f"Ltac generalized := generalize normal_in; generalize {' '.join(NORMAL)}."
        yield library("every_ramp")
        known = set[int]()
        for of in groups:
            for d in {of.first, of.first + (of.last != of.first)} - known:
                known.add(d)
                yield from at(d)
            yield from certified(k, of)
    yield together(groups)
    yield from theorem()


def normal_integrals() -> dict[str, Ball]:
    """The integrals of `attention.v` over the normal density and its tail, by their names there."""
    root, two = arb.pi().sqrt(), (2 * arb.pi()).sqrt()
    ff = {0: 1 / (4 * root), 2: 1 / (8 * root), 4: 3 / (16 * root)}
    fq = {1: 1 / (2 * two) - ff[0], 3: 1 / two - 5 * ff[0] / 2}
    both = gaussian_integrals(2)
    values = both["main"], both["moment"], both["plane"], *ff.values(), *fq.values(), 2 * fq[3] / 3
    return dict(zip(NORMAL, values, strict=True))


def normal() -> str:
    """Write the enclosures of these integrals."""
    says = " /\\\n  ".join(
        f"{written(outward(value, -1))} <= {name} <= {written(outward(value, +1))}"
        for name, value in normal_integrals().items()
    )
    unfolded = "unfold psi_0, psi_2, psi_plane, qq, fq, ff"
    return f"Lemma normal_in : {says}.\nProof. {unfolded}. repeat split; interval with (i_prec 150). Qed."


def outward(value: Ball, way: int) -> Fraction:
    """A decimal a little below (way = -1) or above (+1) a ball."""
    return decimal(value + way * (abs(value) + arb("1e-12")) * arb("1e-15"), way)


def ratio_of(d: int) -> Ball:
    """a/k."""
    return (arb(d) - 1) / 2 / centre_of("relu", arb(d))


def peak_of(d: int) -> Ball:
    """The square of the density of <q, x> at 0."""
    return density(2 / (arb(d) - 1)) ** 2 * (arb(d) - 1) / 2


def at(d: int) -> Iterator[str]:
    """Write the lemmas that enclose a/k and the peak in one dimension."""
    gammas = " ".join(
        f"even_gamma {i}%nat {i // 2 - 1}%nat." if i % 2 == 0 else f"odd_gamma {i}%nat {i // 2}%nat."
        for i in (2 * d - 2, d - 1)
    )
    by = (
        f"change (2 * {d} - 2)%nat with {2 * d - 2}%nat; change ({d} - 1)%nat with {d - 1}%nat. {gammas} change "
        f"(Z.of_nat {d}) with {d}%Z. split; interval with (i_prec 150). Qed."
    )
    ratio, peak = ratio_of(d), peak_of(d)
    yield (
        f"Lemma ratio_{d} : {written(outward(ratio, -1))} <= ramp_ratio {d} <= {written(outward(ratio, +1))}.\nProof. "
        "unfold ramp_ratio, ramp_scale, ramp_centre, ramp_lead, ramp_peak, a_of, size, psi_0, qq, fq, ff, Rpower; "
        f"{by}\nLemma peak_{d} : {written(outward(peak, -1))} <= ramp_peak {d} ^ 2 <= {written(outward(peak, +1))}.\n"
        f"Proof. unfold ramp_peak, size; {by}"
    )


def group(k: Mapping[str, Fraction], d: int, last: int | None) -> Group:
    """The group from d on: all falls in d but peak^2 / 2a, which rises by steps of two."""
    parities, step = ((d,), 1) if last == d else ((d, d + 1), 2)
    r = max(outward(ratio_of(i), +1) for i in parities)
    k0 = min(outward(peak_of(i), -1) / (i - 1) for i in parities)
    k1 = max(outward(peak_of(i), +1) / (i - step) for i in parities)
    p = 1 / k["W_least"]
    h = 1 / (2 * k["W_per_d"]) if last is None else min(Fraction(last - 1, 2) * p, 1 / (2 * k["W_per_d"]))
    s = Fraction(0) if last is None else Fraction(2, last - 1)
    return Group(d, last, (s, Fraction(2, d - 1)), r, h, k0, k1)


def groups_of(k: Mapping[str, Fraction]) -> Iterator[Group]:
    """The groups of dimensions, each as large as one bound on (mu_3 / mu_2) / (n mu_1) allows."""
    for d in range(2, ALONE + 1):
        yield group(k, d, d)
    d = ALONE + 1
    while d < SHARP:
        last = d
        while last + 1 < SHARP and third(k, group(k, d, last + 1)) < Fraction(999, 1000) * k["tau_3"]:
            last += 1
        yield group(k, d, last)
        d = last + 1
    yield group(k, SHARP, None)


def third(k: Mapping[str, Fraction], of: Group) -> float:
    """A bound on (mu_3 / mu_2) / (n mu_1) in a group."""
    far = 0.76 * float(of.r * of.h / k["first"]) * 1.01
    lead = 4 / 3 * float(normal_integrals()["psi_0"]) * math.sqrt(2 * of.k1) * float(of.r) ** 1.5 * float(of.s[1])
    return (1 + 1.5 * float(of.s[1])) * lead * (1 + float(k["room"])) * math.exp(far) * least_third(k, of)[0]


def least_third(k: Mapping[str, Fraction], of: Group) -> tuple[float, str]:
    """The smaller bound on (4/3)^a W^a / n, and the constant that gives it."""
    by_W = math.inf if of.last is None else (4 / 3) ** ((of.last - 1) / 2) / float(k["K"]) / math.sqrt(k["W_least"])
    return (by_W, "K") if by_W * float(k["M"]) < 1 else (1 / float(k["M"]), "M")


def bounds(k: Mapping[str, Fraction], of: Group) -> dict[str, Fraction]:
    """Bounds of the forms of `ramp.v` in a group, by the names that `window_bounded` gives them."""
    known = {name: ball(value) for name, value in k.items()}
    x = normal_integrals()
    psi_0, psi_2, psi_plane, ff_0, ff_2, ff_4, fq_1, fq_3, qq_2 = x.values()
    s = ball(of.s[0]).union(ball(of.s[1]))
    r, p, h = (arb(0).union(ball(most)) for most in (of.r, 1 / k["W_least"], of.h))
    plane = of.first == 2
    t, v = r * p, r * p * s
    q1 = (1 - s) / 2 * r * h
    q2 = q1 * v + known["gamma"] * v**2
    one = arb(1)
    if of.first <= 3:
        vb, vd = arb(0), (2 + s) * t
    else:
        vb, vd = (2 * t, 10 * t / 3) if of.first == 4 else (2 * r * (h - p), 3 * t)
    below = vb**2 * psi_0 + 2 * vb * (vd * (ff_0 - fq_1) + v * (ff_2 - fq_3))
    below += vd**2 * ff_0 + 2 * vd * v * ff_2 + v**2 * ff_4
    further = (2 * (4 * qq_2 + 4 * s * fq_3 + s**2 * ff_4) / psi_0).sqrt()
    if plane:
        further += s * (psi_plane / (18 * psi_0)).sqrt()

    def falls(x: Ball) -> Ball:
        return arb(0) if plane else q1 / x + q2 / (2 * x**2)

    def rises(x: Ball) -> Ball:
        return v / x / 8 + known["over"] * (v / x) ** 2 / 2 if plane else arb(0)

    def up(x: Ball) -> Ball:
        return 1 + v / x / 4 + 2 * known["over"] * (v / x) ** 2 if plane else one

    def bias(x: Ball) -> Ball:
        low = (1 - (1 + 3 * s / 2) * (psi_2 / psi_0) * (t / x)).sqrt()
        low -= (below.nonnegative_part() / (16 * psi_0)).sqrt() / x
        root = (t / x / (2 * ball(of.k0) * (2 + s) ** 2)).nonnegative_part().sqrt().sqrt()
        mean = 4 / (3 * (2 * arb.pi()).sqrt()) + (8 * psi_0).sqrt() * further * root + known["tiny"]
        cross = (known["J0"] * (up(x) * (t / x)) + known["tiny"]) * (
            known["J0"] * (mean * falls(x).exp()) + known["tiny"]
        )
        return (low / (rises(x).exp() * (1 + known["tau"] * (1 + 3 * known["tiny"])))) ** 2 - cross / (4 * psi_0)

    def slope(x: Ball) -> Ball:
        return (1 - ((arb(0) if plane else (1 - s) / 2 * t / x) + s * q2 / x**2)) / (1 + known["tau"])

    def noise(x: Ball) -> Ball:
        return (1 - (3 * (v / x) / 16 + 7 * known["over"] * (v / x) ** 2 / 8 if plane else arb(0))) / (
            1 + known["tau_3"]
        ) ** 2

    q = (3 * q1 / 2 + 7 * q2 / 8).exp()
    most = 3 * s / 2 * (q * (known["J1"] + 2 * known["tiny"]) - 1)
    most += known["J2"] * ((1 + t * further + known["tiny"]) * falls(one).exp()) ** 2 - 1
    most += s / (2 + s) / 2 * known["J1"] * up(one) * q * (r * s) / known["K"] + known["rest"]
    flat = (t / (2 * ball(of.k0))).nonnegative_part().sqrt() / (4 * (2 + s) * psi_0)
    ends = {"0": known["first"], "1": known["split"], "2": one}
    least_bias = {f"b{i}": least(bias(x)) for i, x in ends.items()}
    others = {f"v{i}": least(slope(x)) for i, x in ends.items()} | {f"c{i}": least(noise(x)) for i, x in ends.items()}
    most_loss = {"e": most_of(most), "u": most_of(known["J2"] * up(one) ** 2)}
    return least_bias | most_loss | others | {"flat": most_of(flat, arb("1e-12"))}


def least(value: Ball) -> Fraction:
    """A decimal below a ball by the margin."""
    return decimal(value - ball(MARGIN), -1)


def most_of(value: Ball, margin: Ball | None = None) -> Fraction:
    """A decimal above a ball by the margin."""
    return decimal(value + (ball(MARGIN) if margin is None else margin), +1)


def certified(k: Mapping[str, Fraction], of: Group) -> Iterator[str]:
    """Write the lemmas of a group, the last of which is that its dimensions are ready."""
    d, last, (s_low, s_high), r, h, k0, k1 = of
    alone, top = last == d, "0" if last is None else written(1 / s_low)
    group = " ".join(f"({written(value)})" for value in (s_low, s_high, r, h))
    at_k = f"({written(k0)}) ({written(k1)})"
    numbers = "\n  ".join(f"({written(value)})" for value in bounds(k, of).values())
    decide = "decide_group s" if last is not None else f"decide_last ({written(s_high)})"
    by = f"third_by_K s ({written(s_low)}) ({top})" if least_third(k, of)[1] == "K" else "third_by_M"
    where = f"e = {d}%nat" if alone else f"({d} <= e{'' if last is None else f' <= {last}'})%nat"
    yield f"""Lemma bounded_{d} s r p h : in_group {group} s r p h -> bounded {of.like} s r p h {at_k}
  {numbers}.
Proof. narrow. Qed.
Lemma decided_{d} s : {written(s_low)} <= s <= {written(s_high)} -> 0 < s -> decided s {numbers}.
Proof. {decide}. Qed.
Lemma third_{d} s r p h : in_group {group} s r p h -> third_at {of.like} s r p h ({written(k1)}).
Proof. {by}. Qed.
Lemma ready_{d} e : {where} -> ready e.
Proof.
  intros He. apply (group_ready {of.like} {group} {at_k} {numbers});
    [lra | apply bounded_{d} | apply decided_{d} | apply third_{d} | lia | lia | | | |]."""
    if alone:
        size = f"unfold a_of, size. change (Z.of_nat {d}) with {d}%Z."
        yield f"""  all: subst e.
  - pose proof ratio_{d}. lra.
  - pose proof peak_{d}. {size} lra.
  - {size} split; right; field.
  - intros p. values. {size} intros Hp _. lra.
Qed."""
        return
    upper = (
        f" pose proof (size_le e {last} ltac:(lia)) as S'. change (IZR (Z.of_nat {last})) with {last} in S'."
        if last
        else ""
    )
    yield (
        f"""  all: pose proof (size_ge e {d} ltac:(lia)) as S; change (IZR (Z.of_nat {d})) with {d} in S.
  - apply (ramp_ratio_stays {d}); [lia | lra | pose proof ratio_{d}; lra | pose proof ratio_{d + 1}; lra | | lia].
    unfold ramp_rise, a_of, size. change (Z.of_nat {d}) with {d}%Z. intros s Hs. apply Rminus_le.
    interval with (i_prec 64, i_bisect s).
  - pose proof peak_{d}. pose proof peak_{d + 1}. split; [apply (peak_ge {d}) | apply (peak_le {d})]; try lia; try lra;
    unfold size; change (Z.of_nat {d}) with {d}%Z; change (Z.of_nat {d + 1}) with {d + 1}%Z; lra.
  -{upper} assert (A : {written(1 / s_high)} <= a_of e{f" <= {top}" if last else ""}) by (unfold a_of; lra). split.
    + {f"replace ({written(s_low)}) with (/ ({top})) by lra" if last else "left"}; """
        + ("apply Rinv_le_contravar; lra.\n" if last else "apply Rinv_0_lt_compat; lra.\n")
        + f"""    + replace ({written(s_high)}) with (/ ({written(1 / s_high)})) by lra. apply Rinv_le_contravar; lra.
  -{upper} intros p. values. unfold a_of. intros Hp Hs. nra.
Qed."""
    )


def together(groups: Sequence[Group]) -> str:
    """Write the lemma for all dimensions, by cases."""
    ends = {g.first: "" if g.last is None else f" <= {g.last}" for g in groups}
    cases = [f"d = {g.first}%nat" if g.last == g.first else f"({g.first} <= d{ends[g.first]})%nat" for g in groups]
    uses, either = "\n".join(f"  - now apply ready_{g.first}." for g in groups), " \\/ ".join(cases)
    return (
        f"Lemma ready_every d : (2 <= d)%nat -> ready d.\nProof.\n  intros Hd. assert (C : {either}) by lia.\n"
        f"  destruct C as [{' | ['.join('C' for _ in cases[1:])} | C{']' * (len(cases) - 1)}.\n{uses}\nQed."
    )


def theorem() -> Iterator[str]:
    """Write the theorem with its hypotheses."""
    yield "Section Statement.\nVariable E : nat -> (Tokens -> R) -> R."
    yield "Definition N (d : nat) := noise_of (E d).\nDefinition B (d : nat) := bias_of (E d)."
    yield "Definition V (d : nat) := spread_of (E d).\nDefinition C1 (d : nat) := crossed_of (E d)."
    yield "Definition C2 (d : nat) := squared_of (E d).\nDefinition G1 (d : nat) := inner_of (E d) d."
    yield "Definition G2 (d : nat) := norm_of (E d) d."
    yield from assumed(FACTS)
    least = "forall x, loss (N d) (B d) L sigma n w <= loss (N d) (B d) L sigma n x"
    uses = " | ".join(f"now apply {name}" for name in FACTS)
    yield f"""Theorem every_dimension_theorem : forall d n L sigma, (2 <= d)%nat -> 0 < L -> 0 < sigma -> (1 <=
  n)%nat ->
  let a := (INR d - 1) / 2 in let W := Rpower (INR n * L ^ 2 / sigma ^ 2) (1 / (a + 3 / 2)) in let k := ramp_scale d in
  W_least <= W -> W_per_d * INR d <= W -> K * Rpower W (a + 1 / 2) <= INR n ->
  M * (Rpower (4 / 3) a * Rpower W a) <= INR n ->
  (exists w, {least}) /\\
  (forall w, ({least}) ->
    low * (k * W) < w < high * (k * W) /\\
    loss_low * ramp_loss d <= loss (N d) (B d) L sigma n w * Rpower W (3 / 2) / L ^ 2 <= loss_high * ramp_loss d).
Proof.
  intros d n L sigma Hd HL Hs Hn a W k HW Hd2 HK HM.
  assert (a_is : a = a_of d) by (unfold a, a_of, size; now rewrite INR_IZR_INZ).
  replace (INR d) with (size d) in Hd2 by (unfold size; now rewrite INR_IZR_INZ). unfold k. unfold W in *. clear W k.
  rewrite a_is in *. change (Rpower (INR n * L ^ 2 / sigma ^ 2) (1 / (a_of d + 3 / 2))) with (ramp_W d n L sigma) in *.
  apply over_all_reals; [now apply opposite_d | assumption | assumption |].
  apply (ramp_in_dimension d n (N d) (B d) (V d) (G1 d) (G2 d) (C1 d) (C2 d)); try assumption;
    first [now apply ready_every | {uses} | apply falls; [now apply mean_d | lra]
      | apply rises; now apply mean_d | apply squares_N; now apply mean_d | apply squares_B; now apply mean_d].
Qed."""
    yield "End Statement."
