"""Export the theorems on the optimal w of one law in one dimension: constants, inequalities, theorems."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from flint import acb, arb, ctx

from lipverify.proofs.checker import chain, laws
from lipverify.proofs.checker.chain import Proof, ball
from lipverify.proofs.checker.variogram import distances
from lipverify.proofs.coq.text import BITS, HYPOTHESES, assumed, decimal, defined, stated, written
from lipverify.proofs.coq.variograms import DECAYED, enclosed, names_of, on_law, on_stage, variogram

FARTHEST = 120
"""Integrals over lambda end here: the remainder is below e^-60."""
TAIL = 75
"""Integrals over the angle between token and query end here: the remainder is below e^-75."""
SHARE = 8
"""The error of an integral, as a share of the slack of the inequality in which it occurs."""
RENAMED = {"end": "stop", "at": "middle", "H_3/2": "H_3_2"}
"""New names for constants whose own names are reserved or invalid in Coq."""
SETTING = r"""
a_pos: 0 < a
c_pos: 0 < c
d_a: (2 <= d)%nat /\ a = (INR d - 1) / 2
power_is: a + excess BETA = POWER
T_least_ge: 6 <= T_least
m_in: 0 <= m <= T_least
"""
"""Inequalities for the constants that belong to no stage, by their names in the library."""
STAGE = r"""
u_pos: 0 < u
D_low_le: D_low <= a + Rmin g_low 0 / u
D_high_ge: a + Rmax g_high 0 / u <= D_high
D_low_pos: 0 < D_low
Z_in: Z_low <= z1 u g_low /\ z2 u g_high <= Z_high
R_in: R_low <= R1 /\ R2 <= R_high
R2_pos: 0 < R2
y_pos: 0 < y
y_le: y <= T_least * R1 * (c * z1 u g_low)
H_1_pos: 0 < H_1
H_2_pos: 0 < H_2
x2_pos: 0 < X2
H_1_ge: SHIFT 1 * (D_high * J0 + Rpower (2 * u) 1) <= H_1 * (1 - 2 * cut T_least * SHIFT 1)
H_3_2_ge: SHIFT (3 / 2) * (Rpower X2 (3 / 4) * J0 + Rpower (2 * u) (3 / 2))
  <= H_3_2 * (1 - 2 * cut T_least * SHIFT (3 / 2))
H_2_ge: SHIFT 2 * (X2 * J0 + Rpower (2 * u) 2) <= H_2 * (1 - 2 * cut T_least * SHIFT 2)
M_ge: D_high * J0 + 2 * cut T_least * (SHIFT 1 * (D_high * J0 + Rpower (2 * u) 1)
  / (1 - 2 * cut T_least * SHIFT 1)) <= M
c_low_le: c_low <= R1 / (1 + 1 / y) ^ 2
c_high_ge: R2 * (J1 + 2 * T_least * cut T_least) <= c_high
c_low_pos: 0 < c_low
b_low_pos: 0 < b_low
s_nonneg: 0 <= s
"""
"""Those for the averages and the noise from some u on, whatever the law."""
SMOOTH = r"""
S0_nonneg: 0 <= S0
S1_nonneg: 0 <= S1
S2_nonneg: 0 <= S2x
S_in: S0 <= S0_high /\ S1_low <= S1 <= S1_high /\ S2x <= S2
b_low_le: b_low <= (S1 * D_low ^ 2 - S2x * D_high * X2 / u) / (1 + 1 / y) ^ 2
b_high_ge: S1 * (D_high ^ 2 * J2 + 5 * cut T_least * H_2) <= b_high
s_ge: S0 * R2 * (D_high * J1 + 4 * T_least * cut T_least * H_1) <= s
"""
KINKED = r"""
S1_nonneg: 0 <= S1
S2_nonneg: 0 <= S2x
linear_nonneg: 0 <= linear
kinked_nonneg: 0 <= kinked
H_3_2_pos: 0 < H_3_2
u_from: 2 * a + 3 <= u
G_low_pos: 0 < G_low
G_low_le: G_low * z2 u g_high <= norm_low d a c (/ u)
G_high_ge: norm_high d a c u <= G_high * z1 u g_low
G_mean_ge: mean_high d a c u <= G_mean * z1 u g_low
b_low_le: b_low <= kinked * (G_low ^ 2 / (1 + 1 / y) ^ 2 - 2 * M * (J0 * G_mean / u
  + 2 * cut T_least * sqrt (beyond a H_3_2 / (2 * a + 1)) / Rpower u (1 / 4)))
b_plus_le: b_plus <= (linear + kinked) * D_low ^ 2 / ((2 * a + 1) * (1 + 1 / y) ^ 2)
b_high_ge: kinked * (G_high ^ 2 * J2 + 5 * cut T_least * beyond a H_3_2) <= b_high
b_next_ge: (linear + kinked) / (2 * a + 1) * (D_high ^ 2 * J2 + 5 * cut T_least * H_2) <= b_next
s_ge: (linear + kinked) / (2 * a + 1) * R2 * (D_high * J1 + 4 * T_least * cut T_least * H_1) <= s
b_plus_nonneg: 0 <= b_plus
b_next_nonneg: 0 <= b_next
"""
BY_VARIOGRAM = r"""
v_in: 2 * (2 * a + 3) <= decayed <= u
distances: forall t, List.In t law -> gamma_facts d a c u T_least g_low g_high decayed one_1 one_2 two_1 two_2 (fst t)
b_low_le: b_low * (1 + 1 / y) ^ 2 <= (if Nat.eqb LEAST 4 then square1 D_low D_high A_low else 0)
  + summed (to_main u LEAST Rmin (law_low k1 k2 one_1 one_2 two_1 two_2)) law
b_plus_le: b_plus * (1 + 1 / y) ^ 2 <= (if Nat.eqb LEAST 4 then 0 else square1 D_low D_high A_low)
  + summed (to_next LEAST (law_low k1 k2 one_1 one_2 two_1 two_2)) law
b_high_ge: (if Nat.eqb LEAST 4 then square2 T_least D_high J2 A_high H_2 else 0)
  + summed (to_main u LEAST Rmax (UPPER)) law <= b_high
b_next_ge: (if Nat.eqb LEAST 4 then 0 else square2 T_least D_high J2 A_high H_2)
  + summed (to_next LEAST (UPPER)) law <= b_next
s_ge: Rmax A_high 0 * R2 * (D_high * J1 + 4 * T_least * cut T_least * H_1) <= s
b_plus_nonneg: 0 <= b_plus
b_next_nonneg: 0 <= b_next
"""
OF_VARIOGRAM = r"""
beta_is: half_power LEAST = BETA
least_in: (LEAST <= 4)%nat
square_in: A_low <= fst square /\ snd square <= A_high
law_in: forall t, List.In t law ->
  (LEAST <= fst t /\ 1 <= fst t <= 6)%nat /\ k1 (fst t) <= fst (snd t) /\ snd (snd t) <= k2 (fst t)
"""
"""Those of a law by its variogram: from some u on, and of the law itself."""
BEFORE_U = r"""
far_pos: 0 < far * u ^ 2
far_le: far * u ^ 2 <= (S1 * D_low ^ 2 - S2x * D_high * X2 / u) / (1 + 1 / y) ^ 2
"""
"""Of laws with a kink: the bias before the first u."""
FIRST = """
left: loss_high < FAR * / u ^ 2 * Rpower W_least BETA
"""
NEXT_STAGE = """
until_ge: u <= until
until_le: until <= middle * W_least
T_le: T_least * R2 * Rpower middle a <= K * Rpower W_least (excess BETA)
left_next: loss_high < b_low * Rpower until (MINUS_BETA) * Rpower W_least BETA
"""
"""Before the first u, and between the u of a stage and that of the next, the bias alone is larger."""
WINDOW = """
W_least_ge: 1 <= W_least
K_pos: 0 < K
order: 0 < low < middle /\\ middle < high <= stop
u_le: u <= middle * W_least
low_0: ABOVE middle 0 < BELOW low 0
low_1: ABOVE middle (v0 BETA W_least) < BELOW low (v0 BETA W_least)
high_0: ABOVE middle 0 < BELOW high 0
high_1: ABOVE middle (v0 BETA W_least) < BELOW high (v0 BETA W_least)
beyond_stop: loss_high < c_low * Rpower stop a
loss_high_ge: ABOVE middle (v0 BETA W_least) <= loss_high
loss_low_le: loss_low <= c_low * Rpower BALANCE a + b_low * Rpower BALANCE (MINUS_BETA)
T_le: T_least * R2 * Rpower stop a <= K * Rpower W_least (excess BETA)
limit_in: limit_low <= Rpower (BETA * LEADING * c / (a * Rpower 2 (- a))) (1 / (a + BETA)) <= limit_high
"""
TRANSFER = """
rho_pos: 0 < rho
u_lo: u <= low * W_least
loss_low_pos: 0 < loss_low
c_high_pos: 0 <= c_high
b_high_pos: 0 <= b_high
worse_low_pos: 0 <= worse_low
worse_high_pos: 0 <= worse_high
worse_high_lo: ABOVE (low * MOVED) (v0 BETA W_least) <= worse_high * loss_low
worse_high_hi: ABOVE (high * MOVED) (v0 BETA W_least) <= worse_high * loss_low
"""
BALANCED = """
worse_low_le: worse_low * loss_high <= c_low * Rpower BALANCE a + b_low * Rpower BALANCE (MINUS_BETA)
"""
ENDED = """
slope: SIGN c_low * (a * Rpower AT a) + b_low * (MINUS_BETA * Rpower AT (MINUS_BETA))
worse_low_le: worse_low * loss_high <= BELOW AT 0
"""
"""Where the lower bound of the other loss is least: at its balance, or at an end."""
TRADEOFF = """
rho_gt: 1 < rho
u_ge: 1 <= u
K_pos: 0 < K
T_le: T_least * R2 <= K * Rpower (rho * u) (excess BETA)
rise_low_le: rise_low <= Rpower rho a * c_low / c_high
rise_high_ge: Rpower rho a * c_high / c_low <= rise_high
fall_low_le: fall_low <= Rpower rho (MINUS_BETA) * b_low / (b3 BETA u b_high NEXT + s / K)
fall_high_ge: Rpower rho (MINUS_BETA) * (b3 BETA u b_high NEXT + s / K) / b_low <= fall_high
"""
SHORT = {
    "R1": "r1 a c u g_low g_high",
    "R2": "r2 a c u g_low g_high",
    "X2": "(x2 a g_high D_high)",
    "SHIFT": "stretch a c u g_low g_high",
    "ABOVE": "above a BETA c_high b_high NEXT s K",
    "BELOW": "below a BETA c_low b_low PLUS",
    "MOVED": "moved a BETA rho",
    "BALANCE": "(Rpower (BETA * b_low / (a * c_low)) (1 / (a + BETA)))",
    "UPPER": "law_high a c u T_least g_low g_high y J0 J2 k1 k2 one_1 one_2 two_1 two_2",
}
"""Abbreviations in the statements above, and the terms that replace them."""
AVERAGES = {
    "N": "noise_of E",
    "B": "bias_of E",
    "V": "spread_of E",
    "paired": "paired_of E",
    "two": "two_of E d",
    "G1": "inner_of E d",
    "G2": "norm_of E d",
    "C1": "crossed_of E",
    "C2": "squared_of E",
}
"""Noise, bias and other means in the hypotheses, with their definitions in the library."""
OWN = {
    "d_a": "values. split; [lia | rewrite INR_IZR_INZ; simpl Z.of_nat; lra]",
    "power_is": "unfold excess. first [rewrite Rmax_left by lra | rewrite Rmax_right by lra]; lra",
    "beta_is": "unfold half_power. cbn [Z.of_nat Pos.of_succ_nat Pos.succ]. lra",
    "least_in": "lia",
    "square_in": "enclosed; numbers",
    "law_in": "unfold law. each_term; (split; [lia |]); numbers",
    "distances": "unfold law. each_term; numbers",
}
"""Facts that are not proved by `numbers`, and their proofs."""
ON_STAGE = (
    "d a c u T_least m N B V a_pos c_pos u_pos T_least_ge m_in g_low g_high D_low D_high crossing start signs "
    "D_low_le D_high_ge D_low_pos integral y c_low c_high y_pos y_le jensen laplace c_low_le J0 J1 J2 J0_ge J1_ge "
    "J2_ge c_high_ge"
)
LEFT = (
    "smooth_left d a c u T_least B a_pos c_pos u_pos T_least_ge g_low g_high D_low D_high crossing start signs "
    "D_low_le D_high_ge D_low_pos integral y y_pos y_le S1 S2x FAR S1_nonneg S2_nonneg d_a jensen_b "
    "(Rlt_le _ _ x2_pos) FAR_FACTS BETA n W w W_least loss_high"
)
FALLS = "(falls E mean 1 Rle_0_1) (falls E mean 2 ltac:(lra))"
ALWAYS = ("mean", "limit", "jensen", "laplace")
"""The facts that every theorem assumes; windows also assume `continuous`, and `opposite` for all real w."""


class Bias(NamedTuple):
    """The bias of a family of laws in Coq: B ~ w^-beta.

    Attributes
    ----------
    beta, plus, next
        The exponent, and the constants of further terms w^-2 of the lower and the upper bound.
    facts
        Inequalities for the constants of each stage.
    before
        Those for the bias before the first u.
    between
        The proof that noise and bias lie between explicit functions.
    far, far_facts
        u^2 times a lower bound of the bias before the first u, and the inequalities that it satisfies.
    hypotheses
        What is assumed besides the facts on the noise.
    leading
        w^beta B in the limit.
    numbers
        The tactic that proves the inequalities.
    left
        The proof that the bias before the first u is more than the least loss.
    setting, least
        Inequalities for the constants of the law, and the least power of r, of a law by its variogram.
    """

    beta: Fraction
    plus: str
    next: str
    facts: str
    before: str
    between: str
    far: str
    far_facts: str
    hypotheses: tuple[str, ...]
    leading: str
    numbers: str
    left: str = LEFT
    setting: str = ""
    least: int = 0

    def spelled(self, text: str) -> str:
        """Replace the abbreviations in a statement."""
        beta, above_one = written(self.beta), written(max(self.beta - 1, Fraction(0)))
        own = {
            "BETA": beta if self.beta.denominator == 1 else f"({beta})",
            "MINUS_BETA": f"- ({beta})",
            "POWER": "a" if above_one == "0" else f"(a + {above_one})",
            "PLUS": self.plus,
            "NEXT": self.next,
            "PLUS_NONNEG": "(Rle_refl 0)" if self.plus == "0" else "b_plus_nonneg",
            "NEXT_NONNEG": "(Rle_refl 0)" if self.next == "0" else "b_next_nonneg",
            "LEADING": self.leading,
            "FAR": self.far,
            "FAR_FACTS": self.far_facts,
            "LEAST": f"{self.least}",
        }
        return replaced(replaced(replaced(text, {"LEFT": self.left}), SHORT), own)


SMOOTH_BIAS = Bias(
    beta=Fraction(2),
    plus="0",
    next="0",
    facts=SMOOTH,
    before="",
    between=f"smooth_between {ON_STAGE} S0 S1 S2x H_1 H_2 b_low b_high s S0_nonneg S1_nonneg S2_nonneg H_1_pos "
    f"H_2_pos d_a jensen_b laplace_b spread_1 spread_2 {FALLS} (Rlt_le _ _ x2_pos) H_1_ge H_2_ge b_low_le b_low_pos "
    "b_high_ge s_ge",
    far="b_low",
    far_facts="b_low_le b_low_pos",
    hypotheses=("jensen_b", "laplace_b", "spread_1", "spread_2"),
    leading="(S1 * a ^ 2)",
    numbers="decide_numbers",
)
KINKED_BIAS = Bias(
    beta=Fraction(3, 2),
    plus="b_plus",
    next="b_next",
    facts=KINKED,
    before=BEFORE_U,
    between=f"kinked_between {ON_STAGE} linear kinked G1 G2 C1 C2 H_1 H_3_2 H_2 M G_low G_high G_mean b_low b_plus "
    "b_high b_next s linear_nonneg kinked_nonneg H_1_pos H_3_2_pos H_2_pos d_a u_from crossed jensen_kink "
    f"laplace_crossed laplace_kink kink_norm spread_1 spread_2 spread_3 {FALLS} (falls E mean (3 / 2) ltac:(lra)) "
    "x2_pos H_1_ge H_3_2_ge H_2_ge M_ge G_low_pos G_low_le G_high_ge G_mean_ge b_low_le b_plus_le b_high_ge b_next_ge "
    "s_ge",
    far="(far * u ^ 2)",
    far_facts="far_le far_pos",
    hypotheses=(
        *("jensen_b", "spread_1", "spread_2", "spread_3", "crossed", "jensen_kink"),
        *("laplace_crossed", "laplace_kink", "kink_norm"),
    ),
    leading="(8 * kinked * peak d c * psi_0)",
    numbers="decide_kink",
)


def variogram_bias(law: str, d: int) -> Bias:
    """The bias of a law by its variogram."""
    beta = Fraction(laws.LAWS[laws.family(law)].beta)
    least = int(2 * beta)
    known = variogram(law, d)
    leading = [f"{known.square[0]} * a ^ 2"] if least == 4 else []
    if least in known.terms:
        leading += [f"({known.terms[least][0]}) * gamma_at d {least} * (1 - Rpower 2 ({written(beta - 1)}))"]
    terms = "k1 k2 one_1 one_2 two_1 two_2 LEAST d_a"
    of_stage = "square_in law_in least_in v_in distances"
    bounds = "b_low_le b_plus_le b_high_ge b_next_ge"
    return Bias(
        beta=beta,
        plus="b_plus",
        next="b_next",
        facts=BY_VARIOGRAM,
        before="",
        between=f"variogram_between {ON_STAGE} paired two square law A_low A_high H_1 H_2 decayed b_low b_plus b_high "
        f"b_next s {terms} H_1_pos H_2_pos variogram jensen_v moved spread spread_low pairs_low pairs triangle "
        f"gamma_one gamma_two (falls E mean) (paired_nonneg E mean) (two_nonneg E mean d) {of_stage} "
        f"(Rlt_le _ _ x2_pos) H_1_ge H_2_ge {bounds} s_ge b_low_pos b_plus_nonneg BETA beta_is",
        far=f"(b_low * Rpower u (2 - {written(beta)}) + b_plus)",
        far_facts="",
        hypotheses=(
            *("variogram", "jensen_v", "spread", "spread_low", "moved", "pairs", "pairs_low", "triangle"),
            *("gamma_one", "gamma_two"),
        ),
        leading=f"({' + '.join(leading)})",
        numbers="decide_variogram",
        left="variogram_left d a c u T_least B a_pos c_pos u_pos T_least_ge g_low g_high D_low D_high crossing start "
        "signs D_low_le D_high_ge D_low_pos integral y y_pos y_le J0 J2 two square law A_low A_high H_2 decayed b_low "
        f"b_plus b_high b_next {terms} jensen_v gamma_one gamma_two (two_nonneg E mean d) {of_stage} {bounds} "
        "b_low_pos b_plus_nonneg BETA n W w W_least loss_high beta_is",
        setting=OF_VARIOGRAM,
        least=least,
    )


def harmonic_sums(law: str, d: int) -> tuple[Fraction, Fraction, Fraction]:
    """S0, S1 and S2 of a law, exactly: sums over l of k_l p, k_l p^2 and k_l p q.

    With K1, K2 and K3, the derivatives of K at t = 1, they are K1, K1 + K2 (d+1)/(d-1) and ((d+3) K3 + 2d K2) / (d-1).

    >>> harmonic_sums("affine", 3), harmonic_sums("link:0,1,2", 3)[0]
    ((Fraction(1, 9), Fraction(1, 9), Fraction(0, 1)), Fraction(7, 5))
    """
    name, numbers = laws.family(law), laws.named(law)[1]
    if name in ("powers", "rbf"):
        K1, K2, K3 = derivatives(name, numbers)
        sums = (K1, K1 + K2 * Fraction(d + 1, d - 1), ((d + 3) * K3 + 2 * d * K2) / (d - 1))
    else:
        weights = {
            "affine": {1: Fraction(1, 3 * d)},
            "quadratic": {2: Fraction(2 * (d - 1), d**2 * (d + 2))},
            "zonal": dict(enumerate(numbers)),
            "link": projected(numbers, d),
        }[name]
        pairs = [(k, Fraction(j * (j + d - 2), d - 1)) for j, k in weights.items()]
        sums = (
            sum((k * p for k, p in pairs), Fraction(0)),
            sum((k * p**2 for k, p in pairs), Fraction(0)),
            sum((k * p**2 * (p - 1) * Fraction(d - 1, d + 1) for k, p in pairs), Fraction(0)),
        )
    return sums


def derivatives(name: str, numbers: Sequence[Fraction]) -> list[Fraction]:
    """The first three derivatives at t = 1 of a kernel sum c_j t^j, or variance e^{(t-1)/l^2}."""
    if name == "rbf":
        length, variance = numbers[0], numbers[1] if len(numbers) > 1 else Fraction(1)
        return [variance / length ** (2 * i) for i in (1, 2, 3)]
    return [sum((math.perm(j, i) * c for j, c in enumerate(numbers)), Fraction(0)) for i in (1, 2, 3)]


def projected(link: Sequence[Fraction], d: int) -> dict[int, Fraction]:
    """k_l of a polynomial link h: (E h C_l)^2 / E C_l^2, C_l orthogonal polynomials by Gram and Schmidt."""

    def mean(p: Sequence[Fraction], q: Sequence[Fraction]) -> Fraction:
        """E p q, E z^{2i} = 1 * 3 ... (2i-1) / (d (d+2) ... (d+2i-2))."""
        return sum(
            (
                x * y * math.prod(Fraction(2 * m + 1, d + 2 * m) for m in range((i + j) // 2))
                for i, x in enumerate(p)
                for j, y in enumerate(q)
                if (i + j) % 2 == 0
            ),
            Fraction(0),
        )

    basis: list[list[Fraction]] = []
    for degree in range(len(link)):
        power = [Fraction(int(i == degree)) for i in range(len(link))]
        shares = [(mean(power, polynomial) / mean(polynomial, polynomial), polynomial) for polynomial in basis]
        basis.append([c - sum(share * polynomial[i] for share, polynomial in shares) for i, c in enumerate(power)])
    return {degree: mean(link, p) ** 2 / mean(p, p) for degree, p in enumerate(basis) if degree}


def bias_of(law: str, d: int) -> Bias:
    """The bias of a law."""
    if distances in laws.LAWS[laws.family(law)].bias:
        return variogram_bias(law, d)
    return KINKED_BIAS if laws.family(law) in ("relu", "kinked") else SMOOTH_BIAS


def sums_of(law: str, d: int) -> dict[str, str]:
    """S0, S1 and S2, in Coq's syntax; of a law with a kink its two mean squares, and the sums for degrees 1 and 2."""
    bias = bias_of(law, d)
    if bias.least:
        return {}
    if bias is SMOOTH_BIAS:
        return dict(zip(("S0", "S1", "S2x"), map(written, harmonic_sums(law, d)), strict=True))
    squares = [written(number**2) for number in laws.named(law)[1]] or ["1 / 6"] * 2
    return dict(zip(("linear", "kinked"), squares, strict=True)) | {
        "S2x": "kinked * ((2 * a + 3) / (4 * a * (a + 1) ^ 2) * peak d c ^ 2) * ((2 * a + 1) / a) ^ 2",
        "S1": "linear / (2 * a + 1) + S2x",
    }


def window(proof: Proof) -> Iterator[str]:
    """Write the Coq text of a proof about w for one law in one dimension."""
    law, d, theorem = proof.about["law"], proof.about["d"], proof.theorem
    bias, wave, windows = bias_of(law, d), laws.own_constant(law), theorem in ("window", "transfer")
    real = windows and laws.domain(law) == "over all real w"
    first, *before, last = stages_of(proof)
    m = min(Fraction(FARTHEST), first["T_least"])
    k = {"a": Fraction(d - 1, 2), "m": m, **first, **({"wave": chain.number(wave)} if wave else {})}
    k |= chosen(bias, last)
    yield f"Definition d : nat := {d}.\nDefinition c : R := {moment_limit(d)}."
    yield from defined(k)
    sums = {} if wave else sums_of(law, d)
    yield from (f"Definition {name} : R := {text}." for name, text in sums.items())
    known = variogram(law, d) if bias.least else None
    yield from on_law(known) if known else ()
    names = (*(names_of(known) if known else ()), *reversed(sums), "d", "c", *k)
    numbers = f"Ltac numbers := values; {bias.numbers}."
    yield unfolding(names)
    yield from waves(d, k["wave"]) if wave else (numbers,)
    yield from enclosed(known) if known else ()
    before_u = bias.before + FIRST if windows else ""
    facts = {"window": WINDOW, "tradeoff": TRADEOFF, "transfer": WINDOW + TRANSFER}.get(theorem, "")
    setting = SETTING + bias.setting
    yield from stated(bias.spelled(setting + STAGE + bias.facts + ("" if before else before_u) + facts), OWN)
    if theorem == "transfer":
        yield from nearest(bias, k)
    yield from kernels(k, m)
    yield from start(last, d, k["p"])
    beginning = section(bias, {*ALWAYS, *bias.hypotheses, *["continuous"] * windows, *["opposite"] * real})
    for i, (constants, after) in enumerate(pairwise((*before, last)), 1):
        constants = {"until": after["u"], **chosen(bias, constants)}
        yield f"Module stage_{i}."
        yield from defined(constants)
        yield from on_stage(known) if known else ()
        yield f"{unfolding((*constants, *names))}\n{numbers}"
        yield from stage(d, bias, constants, beginning, before_u if i == 1 else "")
        yield f"End stage_{i}."
    yield from beginning
    if windows:
        yield bias.spelled(left_of_u(len(before)))
    if theorem == "transfer":
        yield bias.spelled(on_window(real, wave))
    theorems = {"window": on_window(real, wave), "transfer": transfer(real), "envelope": ENVELOPE, "tradeoff": TRADED}
    yield bias.spelled(theorems[theorem])
    yield "End Statement."


def stages_of(proof: Proof) -> list[dict[str, Fraction]]:
    """The constants of each stage in order, under their names in Coq; those of all w first."""
    stages: dict[int, dict[str, Fraction]] = {}
    for lemma in proof.lemmas:
        constants = {RENAMED.get(name, name): value for name, value in lemma.constants.items()}
        stages[lemma.stage] = stages.get(lemma.stage, {}) | constants
    return [stages[number] for number in sorted(stages)]


def chosen(bias: Bias, k: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """The constants of a stage, with those that the export chooses itself."""
    return {"p": angle(k["u"]), **({"decayed": min(Fraction(DECAYED), k["u"])} if bias.least else {}), **k}


def unfolding(names: Sequence[str]) -> str:
    """Write the tactic that replaces these names by their values."""
    return f"Ltac values := unfold {', '.join(names)}."


def section(bias: Bias, assumes: Collection[str]) -> list[str]:
    """Write the beginning of a section: its hypotheses, and what follows from them from the u of its stage on."""
    return [
        "Section Statement.\nVariable E : (Tokens -> R) -> R.",
        *(f"Local Notation {name} := ({of})." for name, of in AVERAGES.items() if f" {name} " in bias.between),
        *assumed([name for name in HYPOTHESES if name in assumes]),
        "Let crossing : Bessel_crossing d a := crosses_once d a (proj1 d_a) (proj2 d_a).",
        "Let integral : Moment_integral d a c := moment_integral d a c c_pos limit.",
        bias.spelled(BOUNDS.replace("BETWEEN", bias.between)),
    ]


def stage(d: int, bias: Bias, k: Mapping[str, Fraction], beginning: Sequence[str], before_u: str) -> Iterator[str]:
    """Write what holds from the u of a stage to that of the next; of the first also the facts about smaller w."""
    yield from stated(bias.spelled(STAGE + bias.facts + before_u + NEXT_STAGE), OWN)
    yield from start(k, d, k["p"])
    yield from beginning
    place = {"BEGIN": "0", "BEFORE_U": BELOW_U} if before_u else {"BEGIN": "u", "BEFORE_U": ""}
    yield bias.spelled(replaced(LEFT_OF_NEXT, place))
    yield "End Statement."


BOUNDS = """Lemma few n w : u <= w -> (1 <= n)%nat ->
  0 < tokens d n w /\\ / tokens d n w <= R2 * Rpower w a / INR n.
Proof.
  intros Hw Hn. destruct (tokens_in d a c u c_pos u_pos g_low g_high crossing start signs integral n w Hw Hn) as
    [P [_ Q]]. now split.
Qed.

Lemma between : Between d N B a BETA u T_least c_low c_high b_low PLUS b_high NEXT s.
Proof. exact (BETWEEN). Qed."""
"""What holds from the u of a stage on."""


def replaced(text: str, by: Mapping[str, str]) -> str:
    """Replace words in a text."""
    return re.sub("|".join(rf"\b{name}\b" for name in by), lambda word: by[word[0]], text)


def moment_limit(d: int) -> str:
    """Write c = Gamma(d/2) 2^{d/2-1} / sqrt(2 pi) without Gamma.

    >>> moment_limit(2), moment_limit(3), moment_limit(6)
    ('1 / sqrt (2 * PI)', '1 / 2', '8 / sqrt (2 * PI)')
    """
    if d % 2:
        return f"{math.prod(range(1, d - 1, 2))} / 2"
    return f"{math.factorial(d // 2 - 1) * 2 ** (d // 2 - 1)} / sqrt (2 * PI)"


def kernels(k: Mapping[str, Fraction], m: Fraction) -> Iterator[str]:
    """Write enclosures of J0, J1 and J2, by integrals up to m."""
    T = k["T_least"]
    for name, (power, j) in {"J0": (0, 1), "J1": (1, 1), "J2": (1, 2)}.items():
        with ctx.workprec(BITS):
            b = ball(1 - j / T)
            rest = 2 / b * (-b * ball(m) / 2).exp() * (1 if power == 0 else ball(m) + 2 / b)
            bound = decimal(ball(k[name]) - rest, -1)
        yield (
            f"Lemma {name}_integral : RInt (fun x => x ^ {power} * exp (- ((1 - {j} / T_least) * (x - x * x / (2 * "
            f"T_least))))) 0 m <= {written(bound)}.\nProof. values. enclose. Qed."
        )
        yield (
            f"Lemma {name}_ge : kernel {power} {j} T_least m <= {name}.\nProof. unfold kernel. change (INR 1) with 1. "
            f"change (INR 2) with 2. pose proof {name}_integral as I. apply Rle_trans with (1 := Rplus_le_compat_r _ _ "
            "_ I). clear I. numbers. Qed."
        )


def waves(d: int, L: Fraction) -> Iterator[str]:
    """Write enclosures of S0, S1 and S2 of the cosine law, integrals over the angle x with z = cos x."""
    texts = {
        "whole": "1",
        "first": "sin x * sin (wave * cos x)",
        "second": f"{d - 1} * cos x * sin (wave * cos x) - wave * sin x ^ 2 * cos (wave * cos x)",
        "third": f"sin x * ((wave ^ 2 * sin x ^ 2 + {d - 1}) * sin (wave * cos x) + {d + 1} * wave * cos x * "
        "cos (wave * cos x))",
    }
    with ctx.workprec(BITS):
        for (name, text), square in zip(texts.items(), wave_squares(d, ball(L)), strict=True):
            margin = abs(square) * arb("1e-16")
            low, high = decimal(square - margin, -1), decimal(square + margin, +1)
            yield (
                f"Definition {name}_square : R := RInt (fun x => ({text}) ^ 2 * sin x ^ {d - 2}) 0 PI.\n"
                f"Lemma {name}_square_in : {written(low)} <= {name}_square <= {written(high)}.\nProof. unfold "
                f"{name}_square. values. integral with (i_prec 90, i_fuel 1000, i_degree 15). Qed."
            )
    yield f"Definition S0 : R := first_square / whole_square / {d - 1}."
    yield f"Definition S1 : R := second_square / whole_square / {d - 1} ^ 2."
    yield f"Definition S2x : R := (third_square / whole_square / {d - 1} ^ 3 - S1) * {d - 1} / {d + 1}."
    squares = [f"{name}_square" for name in texts]
    yield (
        f"Ltac numbers := unfold S2x, S1, S0; generalize {' '.join(f'{name}_in' for name in squares)}; generalize "
        f"{' '.join(squares)}; intros; values; decide_numbers."
    )


def wave_squares(d: int, L: arb) -> Iterator[arb]:
    """The integrals over the sphere of 1 and of the squared first three derivatives of cos(Lz) / L, for `waves`."""
    functions: tuple[Callable[[acb], acb], ...] = (
        lambda x: acb(1),
        lambda x: x.sin() * (L * x.cos()).sin(),
        lambda x: (d - 1) * x.cos() * (L * x.cos()).sin() - L * x.sin() ** 2 * (L * x.cos()).cos(),
        lambda x: (
            x.sin()
            * ((L**2 * x.sin() ** 2 + d - 1) * (L * x.cos()).sin() + (d + 1) * L * x.cos() * (L * x.cos()).cos())
        ),
    )
    for f in functions:
        yield acb.integral(lambda x, _, f=f: f(x) ** 2 * x.sin() ** (d - 2), 0, arb.pi()).real  # type: ignore[misc]


def start(k: Mapping[str, Fraction], d: int, p: Fraction) -> Iterator[str]:
    """Write the bounds of D(u), by two integrals up to the angle p, and the signs of q on [0, 1/u]."""
    u, a = k["u"], Fraction(d - 1, 2)
    yield "Lemma p_in : 0 <= p <= PI.\nProof. numbers. Qed.\nLemma u_start : 0 <= u.\nProof. numbers. Qed."
    with ctx.workprec(BITS):
        heads = [integral(d, power, ball(u), ball(p)) for power in (0, 1)]
        D = ball(u) * heads[1] / heads[0]
        room = min(float(D - ball(a + k["g_low"] / u)), float(ball(a + k["g_high"] / u) - D))
        share = arb(room if room > 0 else 1.0) / D / SHARE  # without room no enclosure is close enough: `start` fails
        for power, head in enumerate(heads):
            low, high = decimal(head * (1 - share), -1), decimal(head * (1 + share), +1)
            above = decimal(head * (1 + 2 * share), +1)
            yield (
                f"Lemma head_{power} : {written(low)} <= head d {power} u p <= {written(high)}.\n"
                f"Proof. unfold head. change (d - 2)%nat with {d - 2}%nat. values. integral with (i_prec 90, i_fuel "
                "4000, i_degree 15). Qed."
            )
            yield (
                f"Lemma weight_{power} : {written(low)} <= weight d {power} u <= {written(above)}.\n"
                f"Proof. pose proof (weight_in d {power} u p _ _ u_start p_in head_{power}) as [I1 I2]. split; [exact "
                "I1 |]. apply Rle_trans with (1 := I2). clear I1 I2. numbers. Qed."
            )
    yield (
        "Lemma start : a + g_low / u < deficit d u < a + g_high / u.\nProof. unfold deficit. generalize weight_0 "
        "weight_1. generalize (weight d 0 u) (weight d 1 u). intros x z Hx Hz. values. split; interval "
        "with (i_prec 160). Qed."
    )
    yield (
        "Lemma signs x : 0 <= x <= 1 / u -> 0 < sign_at a g_low x /\\ sign_at a g_high x < 0.\nProof. unfold sign_at. "
        "values. intros H. split; interval with (i_prec 90, i_bisect x). Qed."
    )


def angle(u: Fraction) -> Fraction:
    """The angle at which u (1 - cos) reaches TAIL; almost pi if it never does."""
    return Fraction(math.acos(max(-1.0, 1 - TAIL / float(u))) - 1e-9).limit_denominator(10**6) - Fraction(1, 10**6)


def integral(d: int, power: int, u: arb, p: arb) -> arb:
    """The integral int_0^p (1 - cos)^power e^{-u (1 - cos)} sin^{d-2}, as a ball."""
    return acb.integral(
        lambda x, _: (1 - x.cos()) ** power * (-u * (1 - x.cos())).exp() * x.sin() ** (d - 2), 0, p
    ).real


BELOW_U = """destruct (Rle_lt_dec w u) as [Hu | Hu].
  { apply (LEFT); [lra | lra | | lra | apply left]. apply M. lra. }"""
"""Before the first of several u."""
LEFT_OF_NEXT = """Lemma left_of_next n W w : enough a BETA W_least K n W -> BEGIN <= w <= until ->
  loss_high < Rpower W BETA * B n w.
Proof.
  intros H Hw. pose proof W_least_ge. pose proof order. pose proof until_ge. pose proof until_le. pose proof u_pos.
  destruct (H) as [HW _].
  assert (U : until <= middle * W) by (apply Rle_trans with (1 := until_le); apply Rmult_le_compat; lra).
  assert (M : forall x, u <= x <= until -> T_least <= tokens d n x).
  { intros x Hx. apply (many d a BETA u T_least (R2) a_pos u_pos R2_pos few W_least K (middle / 2) (middle / 3) middle
      middle W_least_ge K_pos ltac:(lra) T_le n W H). lra. }
  BEFORE_U
  apply (between_left _ _ _ _ _ _ _ _ _ _ _ _ _ _ n w W W_least until loss_high between); try lra;
    [apply b_low_pos | apply PLUS_NONNEG | apply M; lra | apply left_next].
Qed."""
"""From the u of a stage to that of the next."""


def left_of_u(before: int) -> str:
    """Write that the bias alone exceeds the best loss below the last u, from the lemmas of the stages before it."""
    only = "apply (LEFT); [lra | lra | assumption | assumption | apply left]."
    stages = [
        f"destruct (Rle_lt_dec w stage_{i}.until); [now apply stage_{i}.left_of_next | ]." for i in range(1, before)
    ]
    last = f"apply stage_{before}.left_of_next; auto."
    return f"""Lemma left_of_u n W w : enough a BETA W_least K n W -> T_least <= tokens d n u -> 0 <= w <= u ->
  loss_high < Rpower W BETA * B n w.
Proof.
  intros H HT Hw. pose proof W_least_ge. destruct (H) as [HW _]. {" ".join((*stages, last)) if before else only}
Qed."""


def on_window(real: bool, wave: str) -> str:
    """Write the theorem on w*, over all real w or over w >= 0, for every L or for the law's own L."""
    scales = "L = wave" if wave else "0 < L"
    positive = "\n  assert (P : 0 < L) by (rewrite HL; unfold wave; lra). clear HL. rename P into HL." if wave else ""
    where = "" if real else "0 <= {} -> "
    least = f"forall x, {where.format('x')}loss N B L sigma n w <= loss N B L sigma n x"
    exists = f"exists w, {least}" if real else f"exists w, 0 <= w /\\ ({least})"
    return f"""Theorem window_theorem : forall n L sigma, {scales} -> 0 < sigma -> (1 <= n)%nat ->
  let W := Rpower (INR n * L ^ 2 / sigma ^ 2) (1 / (a + BETA)) in
  W_least <= W -> K * Rpower W POWER <= INR n ->
  ({exists}) /\\
  (forall w, {where.format("w")}({least}) ->
    low * W < w < high * W /\\ loss_low <= loss N B L sigma n w * Rpower W BETA / L ^ 2 <= loss_high).
Proof.
  intros n L sigma HL Hs Hn W HW HK.{positive}
  refine (window{"_real" if real else ""} d N B a BETA u T_least c_low c_high b_low PLUS b_high NEXT s (R2) a_pos _
    u_pos c_low_pos b_low_pos PLUS_NONNEG NEXT_NONNEG s_nonneg R2_pos between few W_least K middle low high stop
    loss_low loss_high W_least_ge K_pos order u_le low_0 low_1 high_0 high_1 beyond_stop loss_high_ge _ T_le left_of_u
    (rises E mean) continuous (squares_N E mean) (squares_B E mean) n L sigma HL Hs _{" opposite" if real else ""}).
  - lra.
  - exact (balance a BETA c_low b_low _ loss_low a_pos ltac:(lra) c_low_pos b_low_pos eq_refl loss_low_le PLUS).
  - unfold enough. rewrite power_is. repeat split; assumption.
Qed."""


def transfer(real: bool) -> str:
    """Write the theorem on the loss of the w* of L on tasks with Lipschitz constant rho L."""
    best = "(forall x, {}loss N B {} sigma n {} <= loss N B {} sigma n x)"
    where = "" if real else "0 <= x -> "
    best_w, best_w2 = best.format(where, "L", "w", "L"), best.format(where, "(rho * L)", "w'", "(rho * L)")
    given = "" if real else "0 <= w -> 0 <= w' -> "
    return f"""Theorem transfer_theorem : forall n L sigma, 0 < L -> 0 < sigma -> (1 <= n)%nat ->
  let W := Rpower (INR n * L ^ 2 / sigma ^ 2) (1 / (a + BETA)) in
  let W' := Rpower (INR n * (rho * L) ^ 2 / sigma ^ 2) (1 / (a + BETA)) in
  W_least <= W -> K * Rpower W POWER <= INR n -> W_least <= W' -> K * Rpower W' POWER <= INR n ->
  forall w w', {given}{best_w} -> {best_w2} ->
    worse_low <= loss N B (rho * L) sigma n w / loss N B (rho * L) sigma n w' <= worse_high.
Proof.
  intros n L sigma HL Hs Hn W W' HW HK HW' HK' w w' {"Hw Hw'" if real else "P P' Hw Hw'"}.
  assert (RL : 0 < rho * L) by (apply Rmult_lt_0_compat; [apply rho_pos | assumption]).
  destruct (proj2 (window_theorem n L sigma HL Hs Hn HW HK) w {"Hw" if real else "P Hw"}) as [I _].
  destruct (proj2 (window_theorem n (rho * L) sigma RL Hs Hn HW' HK') w' {"Hw'" if real else "P' Hw'"}) as [_ I'].
  refine (transferred d N B a BETA u T_least c_low c_high b_low PLUS b_high NEXT s (R2) a_pos _ u_pos PLUS_NONNEG
    NEXT_NONNEG s_nonneg R2_pos between few W_least K middle low high stop loss_low loss_high W_least_ge K_pos order
    T_le rho worse_low worse_high rho_pos u_lo loss_low_pos c_high_pos b_high_pos worse_low_pos worse_high_pos
    nearest_le worse_high_lo worse_high_hi n L sigma HL Hs _ _ w w' I I').
  - lra.
  - unfold enough. rewrite power_is. repeat split; assumption.
  - unfold enough. rewrite power_is. repeat split; assumption.
Qed."""


def nearest(bias: Bias, k: Mapping[str, Fraction]) -> Iterator[str]:
    """Write the least value of the lower bound between the ends: at its balance, or at the end nearest to it."""
    a, c, b, rho, low, high = (float(k[name]) for name in ("a", "c_low", "b_low", "rho", "low", "high"))
    beta = float(bias.beta)
    balance, moved = (beta * b / (a * c)) ** (1 / (a + beta)), rho ** (-2 / (a + beta))
    end = "low" if balance <= low * moved else "high"
    at = f"({end} * MOVED)"
    if low * moved < balance < high * moved:
        facts = BALANCED
        by = "apply (balance a BETA c_low b_low _ _ a_pos ltac:(lra) c_low_pos b_low_pos eq_refl worse_low_le PLUS)"
        by += ". lra."
    else:
        facts = ENDED.replace("SIGN", "0 <=" if end == "low" else "0 >=").replace("AT", at)
        by = f"""apply Rle_trans with (1 := worse_low_le). pose proof slope.
  pose proof c_low_pos. pose proof b_low_pos. pose proof PLUS_NONNEG. apply below_beyond; try lra.
  pose proof (ln_le {f"{at} x" if end == "low" else f"x {at}"} ltac:(lra) ltac:(lra)).
  {"" if end == "low" else "rewrite <- Rmult_opp_opp. "}apply Rmult_le_pos; lra."""
    yield from stated(bias.spelled(facts))
    yield bias.spelled(f"""Lemma nearest_le x : low * MOVED <= x <= high * MOVED -> worse_low * loss_high <= BELOW x 0.
Proof.
  intros H. pose proof order. assert (M : 0 < MOVED) by apply power_pos.
  assert (0 < low * MOVED) by (apply Rmult_lt_0_compat; lra).
  assert (0 < high * MOVED) by (apply Rmult_lt_0_compat; lra). {by}
Qed.""")


ENVELOPE = """Theorem envelope_theorem : forall n w, u <= w -> (1 <= n)%nat ->
  T_least * R_high * Rpower w a <= INR n ->
  c_low * Rpower w a / INR n <= N n w <= c_high * Rpower w a / INR n /\\
  b_low * Rpower w (MINUS_BETA) <= B n w
    <= b_high * Rpower w (MINUS_BETA) + NEXT * Rpower w (- (2)) + s * Rpower w (a - 1) / INR n.
Proof.
  intros n w Hw Hn HT. pose proof u_pos. pose proof T_least_ge. destruct R_in as [_ R].
  destruct (few n w Hw Hn) as [P Q].
  assert (M : T_least <= tokens d n w) by (apply (tokens_enough n (tokens d n w) T_least (R2) R_high
    (Rpower w a)); auto using power_pos; lra).
  pose proof (Rmult_le_pos _ _ PLUS_NONNEG (Rlt_le _ _ (power_pos w (- (2))))).
  destruct (between n w Hw M) as [A C]. split; [exact A | lra].
Qed."""
TRADED = """Theorem tradeoff_theorem : forall n w, u <= w -> (1 <= n)%nat -> K * Rpower (rho * w) POWER <= INR n ->
  rise_low <= N n (rho * w) / N n w <= rise_high /\\ fall_low <= B n (rho * w) / B n w <= fall_high.
Proof.
  intros n w Hw Hn HK. rewrite <- power_is in HK. pose proof T_least_ge.
  refine (tradeoff d N B a BETA u T_least c_low c_high b_low PLUS b_high NEXT s (R2) a_pos _ u_pos c_low_pos b_low_pos
    PLUS_NONNEG NEXT_NONNEG s_nonneg R2_pos between few rho K rise_low rise_high fall_low fall_high rho_gt u_ge K_pos
    T_le _ rise_low_le rise_high_ge fall_low_le fall_high_ge n w Hw Hn HK); lra.
Qed."""
