"""Export proofs about one problem: from tables of values Coq derives the signs of functions on whole intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from flint import arb, ctx

from lipverify.errors import OutOfReach
from lipverify.proofs.checker import optima
from lipverify.proofs.checker.chain import BITS, Ball, Proof, ball, balls, law_and_numbers
from lipverify.proofs.checker.contexts import STRIP as ANGLE
from lipverify.proofs.checker.contexts import averages
from lipverify.proofs.checker.curves import curves
from lipverify.proofs.checker.harmonics import harmonics
from lipverify.proofs.checker.harmonics import wave as wave_of
from lipverify.proofs.coq.text import assumed, decimal, defined, library, written

STRIP = Fraction(29, 20)
"""b, which makes 1 / (cos(b)^2 b^24) nearly the least."""
GRID = 128
"""The places of `curves.v` are whole numbers over this."""
ERRORS = 10
"""Errors of a table in units: 2 times 4, the sum of Lagrange's polynomials; 1 for the strip, and 1 for the level."""
GOAL = 40.0
"""The values are off by e^-GOAL or so, before they are rounded."""
FINEST = 16
"""The most digits after the point."""
Values = Callable[[Ball], Ball]


class Table(NamedTuple):
    """Values of a function that is above a level: units per 1, ends of the parts of an interval, values in units."""

    first: Fraction
    units: int
    ends: list[Fraction]
    values: list[list[int]]


@lru_cache(maxsize=1)
def places() -> tuple[int, ...]:
    """The places of `curves.v`."""
    (found,) = re.findall(r"^Definition places : list Z := \[(.*)\]%Z\.", library("curves"), re.MULTILINE)
    return tuple(int(each) for each in found.split("; "))


def table(values: Values, steep: float, level: Fraction, first: Fraction, last: Fraction) -> Table:
    """The coarsest table of a function that is above a level from one w to another.

    Its 24th derivative is at most 24! `steep` / b^24.
    """
    with ctx.workprec(BITS):
        margin = min(float((values(ball(w)) - ball(level)).lower()) for w in (first, (first + last) / 2, last))
        for digits in range(3, FINEST + 1):
            units, m = 10**digits, len(places())
            if margin * units < ERRORS:
                continue
            # 3 steep (r / 2b)^m is one unit at most
            ends = parts(first, last, 4 * float(STRIP) / (3 * units * steep) ** (1 / m))
            rows = [
                [rounded(values, (a + b) / 2 + (b - a) / 2 * Fraction(place, GRID), units) for place in places()]
                for a, b in pairwise([first, *ends])
            ]
            if min(map(min, rows)) - level * units >= ERRORS:
                return Table(first, units, ends, rows)
    raise OutOfReach(
        f"from w = {float(first):g} to {float(last):g} the margin is {margin:.1e}: it has no export to Coq, because a "
        f"table would need more than {FINEST} digits."
    )


def parts(first: Fraction, last: Fraction, longest: float) -> list[Fraction]:
    """The ends of parts that are at most this long: short decimals, and the last one."""
    count = math.ceil(float(last - first) / longest * 1.02)
    digits = 2 - math.floor(math.log10(float(last - first) / count))
    return [*(round(first + (last - first) * Fraction(i, count), digits) for i in range(1, count)), last]


def rounded(values: Values, w: Fraction, units: int) -> int:
    """A value in whole units: with the radius of its ball it is off by one unit at most."""
    value = values(ball(w)) * units
    nearest = int((value.mid() + arb(0.5)).floor().unique_fmpz())
    if not abs(value - nearest) <= 1:
        raise OutOfReach(f"w = {float(w):g}: it has no export to Coq, because its ball is wider than 1 / {units}.")
    return nearest


def above(name: str, t: Table, level: str, least: Fraction, bound: str, slope: bool = False) -> Iterator[str]:
    """Write a table, and the lemma that a function with these values is above a level on its interval."""
    ends = ", ".join(f"{name}_{each}" for each in ("from", "to", "half", "ends", "units"))
    half = max(b - a for a, b in pairwise([t.first, *t.ends])) / 2
    rows = ";\n  ".join(f"[{'; '.join(map(str, row))}]" for row in t.values)
    steep = f"(({bound}) / cos b ^ 2)"
    steep = f"(25 * {steep} / b)" if slope else steep
    yield from defined(
        {f"{name}_from": t.first, f"{name}_to": t.ends[-1], f"{name}_half": half, f"{name}_units": Fraction(t.units)}
    )
    yield f"Definition {name}_ends : list R := [{'; '.join(map(written, t.ends))}]."
    yield f"Definition {name}_values : list (list Z) := [\n  {rows}]%Z."
    yield (
        f"Lemma {name}_rest : {name}_units * (3 * {steep} * ({name}_half / (2 * b)) ^ 24) <= 1.\n"
        f"Proof. unfold {name}_units, {name}_half. values. interval with (i_prec 90). Qed."
    )
    yield (
        f"Lemma {name}_exceed : exceed 128 65536 4 places {math.ceil(least * t.units)} 1 {name}_values = true.\n"
        "Proof. vm_compute. reflexivity. Qed."
    )
    f = "(Derive f)" if slope else "f"
    yield f"""Lemma {name}_above f : Strip ({bound}) 2 f ->
  tables 128 places {name}_units {f} {name}_from {name}_ends {name}_values ->
  forall w, {name}_from <= w <= {name}_to -> {level} < {f} w.
Proof.
  intros strip known w Hw. apply Rmult_lt_reg_l with {name}_units; [unfold {name}_units; lra |].
  apply Rle_lt_trans with (IZR {math.ceil(least * t.units)}); [unfold {name}_units, {level}; values; lra |].
  apply ({"slope_above" if slope else "value_above"} {name}_units ({bound}) b {name}_half 2 f _ 1
    {name}_ends {name}_values {name}_from).
  - unfold {name}_units. lra.
  - values. lra.
  - exact b_in.
  - exact strip.
  - exact {name}_rest.
  - exact known.
  - unfold {ends}, {name}_values. cbn [covered]. repeat split; lra.
  - exact {name}_exceed.
  - unfold {ends}. cbn [last]. lra.
  - unfold {ends} in *. cbn [last]. lra.
Qed."""


def terms(k: Mapping[str, Ball], w: Ball) -> tuple[Ball, Ball, Ball]:
    """sigma^2 N, B and G at one w, the last two of the degrees that are listed."""
    weights, _ = optima.spectrum(k)
    means = averages(k["d"], k["n"], w, sorted(weights), GOAL)
    bias = sum((value * (2 * means.alone[j] + means.pairs[j]) for j, value in weights.items()), arb(0))
    return k["sigma"] ** 2 * means.noise, bias, sum((x * means.mean[j] for j, x in weights.items()), arb(0))


def variance(law: str, d: int) -> Fraction:
    """A bound on the variance of f in units of L."""
    name, after = law_and_numbers(law)
    if name == "zonal":
        return sum(after[1:], Fraction(0))
    known = {"affine": Fraction(1, 3 * d), "relu": Fraction(1, 3 * d), "cosine": Fraction(1)}
    return known.get(name, Fraction(2 * (d - 1), d**2 * (d + 2)))


def problem(proof: Proof) -> Iterator[str]:
    """Write a theorem on one problem: its numbers, its tables, and what follows from them."""
    about = proof.about
    k = {name: value for lemma in proof.lemmas for name, value in lemma.constants.items()}
    own = {name: about[name] for name in ("L", "sigma")} | {"V": variance(about["law"], about["d"])}
    constants = own | {{"at": "at_"}.get(name, name): value for name, value in k.items()}
    yield "Import Curves.\nImport ListNotations."
    yield f"Definition n : nat := Z.to_nat {about['n']}.\nDefinition b : R := {written(STRIP)}."
    yield from defined(constants)
    yield f"Ltac values := unfold b, {', '.join(constants)} in *."
    yield "Lemma n_pos : (1 <= n)%nat.\nProof. unfold n. lia. Qed."
    yield "Lemma b_in : 0 < b < PI / 2.\nProof. values. split; interval with (i_prec 90). Qed."
    yield from WRITTEN[proof.theorem](balls(about) | {name: ball(x) for name, x in k.items()}, own | k)


BOUND = "sigma ^ 2 + L ^ 2 * (4 * V)"
"""On the loss in the strip, up to 1 / cos(b)^2."""


def steepness(k: Mapping[str, Fraction]) -> float:
    """`BOUND` over cos(b)^2."""
    return float(k["sigma"] ** 2 + 4 * k["L"] ** 2 * k["V"]) / math.cos(STRIP) ** 2


def optimum(facts: Mapping[str, Ball], k: Mapping[str, Fraction]) -> Iterator[str]:
    """Write that every w* lies between two numbers."""
    sides = {"left": (Fraction(0), k["low"]), "right": (k["high"], k["stop"])}
    sides = {name: ends for name, ends in sides.items() if ends[0] < ends[1]}
    for name, ends in sides.items():
        yield from loss_above(name, facts, k, *ends)
    yield BEGINNING
    names = ("mean", "continuous", "strip_n", "strip_listed", "listed_le", "level_at", "noise_at")
    yield from assumed([*names, *(f"{name}_known" for name in sides)])
    proofs = {name: side(name) if name in sides else "values. lra" for name in ("left", "right")}
    yield SIDES.replace("LEFT", proofs["left"]).replace("RIGHT", proofs["right"])
    yield OPTIMUM


def loss_above(
    name: str, facts: Mapping[str, Ball], k: Mapping[str, Fraction], first: Fraction, last: Fraction
) -> Iterator[str]:
    """Write the table by which the loss is above the level from one w to another."""
    t = table(loss_of(facts), steepness(k), k["level"], first, last)
    yield from above(name, t, "level", k["level"], BOUND)


def loss_of(facts: Mapping[str, Ball]) -> Values:
    """The loss of the listed degrees as a function of w."""

    def values(w: Ball) -> Ball:
        noise, bias, _ = terms(facts, w)
        return noise + bias

    return values


def side(name: str) -> str:
    """The proof that the loss is above the level on one side."""
    return (
        "apply Rlt_le_trans with (2 := listed_below w ltac:(pose proof order; lra));\n  "
        f"apply ({name}_above _ (strip_risk _ _ _ _ _ strip_n strip_listed) {name}_known w);\n  "
        f"unfold {name}_from, {name}_to; values; lra"
    )


BEGINNING = """Section Statement.
Variable E : (Tokens -> R) -> R.
Local Notation N := (noise_of E).
Local Notation B := (bias_of E).
Variable listed : R -> R."""
SIDES = """Lemma order : 0 <= at_ /\\ 0 <= low < high /\\ high <= stop.
Proof. values. lra. Qed.

Lemma listed_below w : 0 <= w -> risk (N n) listed L sigma w <= risk (N n) (B n) L sigma w.
Proof.
  intros Hw. unfold risk. apply Rplus_le_compat_l, Rmult_le_compat_l; [apply pow2_ge_0 | exact (listed_le w Hw)].
Qed.

Lemma left_of w : 0 <= w < low -> level < risk (N n) (B n) L sigma w.
Proof. intros Hw. LEFT. Qed.

Lemma right_of w : high < w <= stop -> level < risk (N n) (B n) L sigma w.
Proof. intros Hw. RIGHT. Qed.

Lemma noise_rises w v : 0 <= w <= v -> N n w <= N n v.
Proof. apply (rises E mean n w v n_pos). Qed.

Lemma bias_nonneg w : 0 <= w -> 0 <= B n w.
Proof. apply (squares_B E mean n w n_pos). Qed.

Lemma loss_continuous w : continuity_pt (risk (N n) (B n) L sigma) w.
Proof.
  destruct (continuous n w n_pos) as [C1 C2]. unfold risk.
  apply (continuity_pt_plus (fun x => sigma ^ 2 * N n x) (fun x => L ^ 2 * B n x));
    apply (continuity_pt_mult (fun _ => _)); auto; apply continuity_pt_const; intros p q; reflexivity.
Qed.

Lemma noise_above : level < noise_stop.
Proof. values. lra. Qed."""
"""What the theorems below share; LEFT is the proof for w below low, RIGHT that from high to stop."""
OPTIMUM = """Theorem optimum_theorem :
  (exists w, 0 <= w /\\ forall x, 0 <= x -> loss N B L sigma n w <= loss N B L sigma n x) /\\
  forall w, 0 <= w -> (forall x, 0 <= x -> loss N B L sigma n w <= loss N B L sigma n x) -> low <= w <= high.
Proof.
  exact (optimum (N n) (B n) L sigma at_ level stop noise_stop low high noise_rises bias_nonneg loss_continuous order
    level_at noise_at noise_above left_of right_of).
Qed.
End Statement."""


def at_zero(facts: Mapping[str, Ball], k: Mapping[str, Fraction]) -> Iterator[str]:
    """Write that w* = 0 alone, for an even law."""
    yield from loss_above("right", facts, k, k["high"], k["stop"])
    d, (law, after) = facts["d"], law_and_numbers(facts["law"])
    yield from second_degree(law, d, after)
    yield (
        f"Definition bend : R := (1 - 1 / INR n) * (sigma ^ 2 / (INR n * {d}) - 2 * (1 - 2 / INR n) * L ^ 2 * k_2 / "
        f"({d} * {d + 2}))."
    )
    yield """Lemma small : (sigma ^ 2 + L ^ 2 * (4 * V)) / cos b ^ 2 / b ^ 4 * high ^ 2 < bend.
Proof.
  unfold bend, n. rewrite INR_IZR_INZ, Z2Nat.id by lia. generalize k_2_in. generalize k_2. intros. values.
  interval with (i_prec 90).
Qed."""
    yield BEGINNING.replace("Variable listed : R -> R.", "Local Notation listed := (B n).")
    yield from assumed(
        ["mean", "continuous", "strip_n", "strip_listed", "level_at", "noise_at", "right_known", "even", "bent"]
    )
    yield "Lemma listed_le w : 0 <= w -> listed w <= B n w.\nProof. intros. lra. Qed."
    yield LOW_0
    yield SIDES.replace("LEFT", "pose proof low_0. lra").replace("RIGHT", side("right"))
    yield AT_ZERO


def second_degree(law: str, d: int, after: list[Fraction]) -> Iterator[str]:
    """Write k_2 with an enclosure; that of the cosine law rests on an integral over the angle x with t = cos x."""
    if law != "cosine":
        k_2 = written(variance(law, d) if law == "quadratic" else [*after, Fraction(0), Fraction(0)][2])
        yield f"Definition k_2 : R := {k_2}.\nLemma k_2_in : 0 <= k_2 <= {k_2}.\nProof. unfold k_2. lra. Qed."
        return
    wave = f"cos ({written(after[0])} * cos x) * (({d} * cos x ^ 2 - 1) / {d - 1})"
    with ctx.workprec(BITS):
        whole = ball_of_sphere(d)
        value = -wave_of(arb(d), ball(after[0]), 2)  # i^2 is the sign of E cos(L t) P_2
        for name, text, integral in (("whole", "1", whole), ("wave", wave, value * whole)):
            low, high = (decimal(integral + way * abs(integral) * arb("1e-9"), way) for way in (-1, +1))
            yield (
                f"Definition {name} : R := RInt (fun x => {text} * sin x ^ {d - 2}) 0 PI.\nLemma {name}_in : "
                f"{written(low)} <= {name} <= {written(high)}.\nProof. unfold {name}. integral with (i_prec 90, i_fuel "
                "1000, i_degree 15). Qed."
            )
        bound = upwards(harmonics(arb(d), 2) * value**2 * (1 + arb("1e-7")), 9)
    yield f"Definition k_2 : R := {(d - 1) * (d + 2) // 2} * (wave / whole) ^ 2."
    yield (
        f"Lemma k_2_in : 0 <= k_2 <= {written(bound)}.\nProof.\n  unfold k_2. generalize whole_in wave_in. "
        "generalize whole wave. intros. split; [| interval with (i_prec 90)].\n  apply Rmult_le_pos; [lra | apply "
        "pow2_ge_0].\nQed."
    )


def ball_of_sphere(d: int) -> Ball:
    """The integral of sin(x)^{d-2} from 0 to pi."""
    return arb.pi().sqrt() * (arb(d - 1) / 2).gamma() / (arb(d) / 2).gamma()


LOW_0 = "Lemma low_0 : low = 0.\nProof. values. lra. Qed."
AT_ZERO = """Lemma loss_even w : risk (N n) (B n) L sigma (- w) = risk (N n) (B n) L sigma w.
Proof. unfold risk. destruct (even w) as [E1 E2]. now rewrite E1, E2. Qed.

Theorem at_zero_theorem : forall w, w <> 0 -> loss N B L sigma n 0 < loss N B L sigma n w.
Proof.
  exact (origin (N n) (B n) L sigma at_ level stop noise_stop low high noise_rises bias_nonneg order level_at noise_at
    noise_above left_of right_of _ b bend low_0 b_in (strip_risk _ _ _ _ _ strip_n strip_listed) loss_even bent small).
Qed.
End Statement."""


def rising(facts: Mapping[str, Ball], k: Mapping[str, Fraction]) -> Iterator[str]:
    """Write that the bias is larger at one w than at a smaller one."""
    with ctx.workprec(BITS):
        rest = arb(0).union(4 * optima.spectrum(facts)[1].upper())
        first, second = (terms(facts, facts[name])[1] + rest for name in ("w_1", "w_2"))
    scale = 10**DIGITS
    bounds = {
        "bias_1": Fraction(math.ceil(decimal(first, 1) * scale), scale),
        "bias_2": Fraction(math.floor(decimal(second, -1) * scale), scale),
    }
    yield from defined(bounds)
    yield (
        "Lemma ratio : Rpower (w_2 / w_1) slope_low * bias_1 <= bias_2.\n"
        "Proof. unfold Rpower, bias_1, bias_2. values. interval with (i_prec 120). Qed."
    )
    yield BEGINNING
    yield from assumed(["bias_at_1", "bias_at_2"])
    yield RISING


DIGITS = 16
"""Digits after the point of the two values of a bias that rises."""
RISING = """Theorem rising_theorem : w_1 < w_2 /\\ L ^ 2 * B n w_2 >= Rpower (w_2 / w_1) slope_low * (L ^ 2 * B n w_1).
Proof.
  split; [values; lra |]. pose proof ratio. pose proof (power_pos (w_2 / w_1) slope_low).
  pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ H0) bias_at_1). pose proof bias_at_2. lra.
Qed.
End Statement."""


def falling(facts: Mapping[str, Ball], k: Mapping[str, Fraction]) -> Iterator[str]:
    """Write that the bias falls up to beyond every w*, from the slopes of the listed degrees and of the rest."""
    edge = round(k["stop"] * LATE, 2)
    with ctx.workprec(BITS):
        square = k["L"] ** 2
        rest = optima.spectrum(facts)[1] / ball(square) if square else arb(0)
        mean = averages(facts["d"], facts["n"], ball(edge), [1], GOAL).mean[1]
        bounds = {"edge": edge, "omitted": upwards(rest, 10), "edge_mean": upwards(mean, 6)}
        slope = slopes(facts, k["stop"])
    for name, below in {"early": Fraction(2), "late": bounds["edge_mean"]}.items():
        steep = upwards(ball(square) * 4 * ball(bounds["omitted"]) * (2 * ball(below)).sqrt(), 10)
        bounds[f"{name}_level"] = k["fall"] + steep
    yield from defined(bounds)
    yield f"Ltac bounds := unfold {', '.join(bounds)}; values."
    reach = {"early": (Fraction(0), edge), "late": (edge, k["stop"])}
    steepest = 25 / float(STRIP) * float(4 * square * k["V"]) / math.cos(STRIP) ** 2
    for name, ends in reach.items():
        level = bounds[f"{name}_level"]
        t = table(slope, steepest, level, *ends)
        yield from above(name, t, f"{name}_level", level, "L ^ 2 * (4 * V)", slope=True)
    yield BEGINNING + "\nLocal Notation V_1 := (spread_of E 1)."
    yield from assumed(
        ["mean", "strip_listed", "omitted_slope", "level_at", "noise_at", "distance_at", "early_known", "late_known"]
    )
    yield FALLING


def slopes(facts: Mapping[str, Ball], stop: Fraction) -> Values:
    """Minus the slope of the bias of the listed degrees, from curves that are tighter than the checker's."""
    count = math.ceil(float(stop) / optima.LONGEST)
    ends = [ball(stop * i / count) for i in range(count + 1)]
    bound = 4 * sum(optima.spectrum(facts)[0].values(), arb(0)) / arb(ANGLE).cos() ** 2
    pieces = [
        curves(lambda w: (-terms(facts, w)[1],), [bound], first, last, accuracy=math.exp(-GOAL))[0].slope(1)
        for first, last in pairwise(ends)
    ]
    return lambda w: next(piece for piece in pieces if not w > piece.last).over(w, w)


FALLING = """Lemma listed_strip : Strip (L ^ 2 * (4 * V)) 2 (fun w => - L ^ 2 * listed w).
Proof.
  pose proof (strip_sum _ _ 2 _ _ (- L ^ 2) 0 strip_listed strip_listed) as [F S]. split.
  - intros j w. apply (ex_derive_n_ext (fun w => - L ^ 2 * listed w + 0 * listed w)); [intros; ring | apply F].
  - intros c j w Hc. rewrite (Derive_n_ext _ (fun w => - L ^ 2 * listed w + 0 * listed w)) by (intros; ring).
    pose proof (S c j w Hc) as H. rewrite Rabs_Ropp, Rabs_R0, Rmult_0_l, Rplus_0_r in H.
    rewrite (Rabs_pos_eq (L ^ 2)) in H by apply pow2_ge_0. exact H.
Qed.

Lemma steep_early : fall + L ^ 2 * (4 * omitted * sqrt (2 * 2)) <= early_level.
Proof. bounds. interval with (i_prec 90). Qed.

Lemma steep_late : fall + L ^ 2 * (4 * omitted * sqrt (2 * edge_mean)) <= late_level.
Proof. bounds. interval with (i_prec 90). Qed.

(* The omitted degrees at most reduce the slope by so much as their variance allows. *)
Lemma falls_enough w m level_ : 0 <= w -> 0 <= V_1 n w <= m -> level_ < Derive (fun x => - L ^ 2 * listed x) w ->
  fall + L ^ 2 * (4 * omitted * sqrt (2 * m)) <= level_ -> ex_derive (B n) w /\\ L ^ 2 * Derive (B n) w <= - fall.
Proof.
  intros Hw Hm Hl Hf. rewrite Derive_scal in Hl. destruct (omitted_slope w Hw) as [D1 D2].
  assert (D3 : ex_derive listed w) by exact (proj1 strip_listed 1%nat w).
  assert (E1 : Derive (B n) w = Derive listed w + Derive (fun x => B n x - listed x) w).
  { rewrite <- Derive_plus by assumption. apply Derive_ext. intros; ring. }
  split.
  { apply (ex_derive_ext (fun x => listed x + (B n x - listed x))); [| now apply (ex_derive_plus listed)].
    intros x. change (listed x + (B n x - listed x) = B n x). ring. }
  rewrite E1. apply Rabs_le_between in D2.
  assert (sqrt (2 * V_1 n w) <= sqrt (2 * m)) by (apply sqrt_le_1_alt; lra).
  assert (P : 0 <= 4 * omitted) by (bounds; lra). pose proof (Rmult_le_compat_l _ _ _ P H).
  pose proof (pow2_ge_0 L) as L2.
  assert (L ^ 2 * Derive (fun x => B n x - listed x) w <= L ^ 2 * (4 * omitted * sqrt (2 * m)))
    by (apply Rmult_le_compat_l; lra). lra.
Qed.

Theorem falling_theorem : (forall w, 0 <= w <= stop -> ex_derive (B n) w /\\ L ^ 2 * Derive (B n) w <= - fall) /\\
  forall w, 0 <= w -> (forall x, 0 <= x -> loss N B L sigma n w <= loss N B L sigma n x) -> w < stop.
Proof.
  assert (V1 : forall w v, 0 <= w <= v -> V_1 n v <= V_1 n w /\\ 0 <= V_1 n w <= 2).
  { intros w v H. pose proof (falls E mean 1 ltac:(lra) n w v n_pos H) as F. rewrite Rpower_1 in F by lra. exact F. }
  split.
  - intros w Hw. destruct (Rle_lt_dec w edge) as [H | H].
    + apply (falls_enough w 2 early_level); [lra | apply (V1 w w); lra | | exact steep_early].
      apply (early_above _ listed_strip early_known). unfold early_from, early_to. unfold edge in H. lra.
    + assert (0 <= edge) by (unfold edge; lra).
      apply (falls_enough w edge_mean late_level); [lra | | | exact steep_late].
      * pose proof (V1 edge w ltac:(lra)). pose proof (V1 w w ltac:(lra)). pose proof distance_at. lra.
      * apply (late_above _ listed_strip late_known). unfold late_from, late_to. unfold edge, stop in *. lra.
  - intros w Hw M. apply Rnot_le_lt. intros H. pose proof (M at_ ltac:(values; lra)) as Ma.
    assert (level < risk (N n) (B n) L sigma w).
    { apply (risk_beyond (N n) (B n) L sigma at_ level stop noise_stop 0 stop); try exact noise_at; try assumption.
      - intros x v Hx. exact (rises E mean n x v n_pos Hx).
      - intros x Hx. exact (squares_B E mean n x n_pos Hx).
      - values. lra.
      - values. lra. }
    pose proof level_at as La. unfold loss in Ma. unfold risk in *. lra.
Qed.
End Statement."""
LATE = Fraction(3, 4)
"""Where in [0, stop] a better bound on the omitted degrees begins."""


def upwards(value: Ball, digits: int) -> Fraction:
    """A decimal that is no less than a ball."""
    return Fraction(math.ceil(Fraction(str(value.upper().str(30, radius=False))) * 10**digits) + 1, 10**digits)


WRITTEN: dict[str, Callable[[Mapping[str, Ball], Mapping[str, Fraction]], Iterator[str]]] = {
    "optimum": optimum,
    "optimum at zero": at_zero,
    "bias rises": rising,
    "bias falls": falling,
}
"""The theorems that have an export."""
