"""Export what is known of a law by its variogram: fields, and ridge laws of polynomial pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from flint import acb, arb, ctx

from lipverify.errors import OutOfReach
from lipverify.proofs.checker import laws, roughness
from lipverify.proofs.checker.chain import ball
from lipverify.proofs.coq.text import BITS, decimal, written

DECAYED = 300
"""Exponentials in w are bounded by their values here, where they are below e^-250."""
OF_LAW = ("square", "law", "k1", "k2")
OF_STAGE = ("one_1", "one_2", "two_1", "two_2")
"""Names of the definitions that follow the constants of a proof, and of those that follow the constants of a stage."""


class Variogram(NamedTuple):
    """A variogram A r^2 + sum_j c_j r^j in Coq.

    Attributes
    ----------
    square
        Formulas that A lies between.
    terms
        The same for each c_j.
    definitions
        What the formulas rest on.
    enclosed
        Integrals on which they rest: of each the definition, and on the next line the lemma that encloses it.
    """

    square: tuple[str, str]
    terms: Mapping[int, tuple[str, str]]
    definitions: tuple[str, ...] = ()
    enclosed: tuple[str, ...] = ()


def variogram(law: str, d: int) -> Variogram:
    """The variogram of a law in one dimension."""
    name = laws.family(law)
    if name in ("kinks", "jumps"):
        return pieces(name, laws.named(law)[1], d)
    if name.startswith("matern"):
        return matern(Fraction(name.partition("-")[2]), *laws.named(law)[1])
    if name == "rough-0.5":
        return Variogram(("0", "0"), {1: ("1", "1")})
    raise OutOfReach(
        f"law {law}: it has no export to Coq, because Gamma at quarters has no closed form; rough-0.5 has one "
        "(--law my.py:LAW, where LAW = Zonal(variogram=Rough(0.5)))."
    )


def matern(nu: Fraction, length: Fraction, variance: Fraction) -> Variogram:
    """The variogram of a Matern field, 2 variance times a polynomial in rate r up to the last term."""
    square, terms = {
        Fraction(1, 2): ("- (1 / 2)", {1: ("1", "1"), 3: ("0", "1 / 6")}),
        Fraction(3, 2): ("1 / 2", {3: ("- (1 / 3)", "- (1 / 3)"), 4: ("1 / 8", "1 / 8"), 5: ("- (1 / 30)", "0")}),
        Fraction(5, 2): ("1 / 6", {4: ("- (1 / 24)",) * 2, 5: ("1 / 45",) * 2, 6: ("- (1 / 144)", "0")}),
    }[nu]
    size, rate = written(2 * variance), f"(sqrt ({written(2 * nu)}) / ({written(length)}))"

    def scaled(factor: str, power: int) -> str:
        return f"{size} * ({factor}) * {rate} ^ {power}"

    return Variogram(
        (scaled(square, 2),) * 2, {j: (scaled(low, j), scaled(high, j)) for j, (low, high) in terms.items()}
    )


def pieces(name: str, h: roughness.Pieces, d: int) -> Variogram:
    """The variogram of a link of polynomial pieces that jumps, or has kinks."""
    jumping = name == "jumps"
    breaks = "".join(
        f"({written(z)}, {written(jump if jumping else turn)}, {int(z != 0)}) :: " for z, jump, turn in h.breaks
    )
    definitions = (
        f"Definition breaks : Breaks := ({breaks}nil)%list.",
        f"Definition steepest : R := {written(h.steepest(1 if jumping else 2))}.",
    )
    if jumping:
        of = "d breaks", "d breaks steepest"
        terms = {
            1: (f"jump_1 {of[0]}",) * 2,
            2: (f"- jump_2 {of[1]}", f"jump_2 {of[1]}"),
            3: (f"jump_3_low {of[0]}", f"jump_3_high {of[0]}"),
        }
        return Variogram(("0", "0"), terms, definitions)
    terms = {
        3: ("- (kink_3 d breaks / 3)",) * 2,
        4: ("- (kink_4 d breaks steepest / 4)", "kink_4 d breaks steepest / 4"),
        5: ("kink_5_low d breaks", "kink_5_high d breaks"),
    }
    parts = tuple(slopes(h, d))
    square = f"squared_slope d ({' + '.join(f'piece_{i}' for i in range(len(parts)))})"
    return Variogram((square, square), terms, definitions, parts)


def names_of(known: Variogram) -> tuple[str, ...]:
    """All names that the definitions below give, integrals excepted."""
    return (*OF_LAW, *(("breaks", "steepest") if known.definitions else ()), *OF_STAGE)


def on_law(known: Variogram) -> Iterator[str]:
    """Write the definitions for one law, after those of its constants."""
    yield from known.definitions
    yield from (part.partition("\n")[0] for part in known.enclosed)
    yield f"Definition square : R * R := ({known.square[0]}, {known.square[1]})."
    terms = "".join(f"({j}%nat, ({low}, {high})) :: " for j, (low, high) in known.terms.items())
    yield f"Definition law : list (nat * (R * R)) := ({terms}nil)%list."
    yield by_power("k1", "c{}_low", known)
    yield by_power("k2", "c{}_high", known)
    yield from on_stage(known)


def on_stage(known: Variogram) -> Iterator[str]:
    """Write the definitions for one stage, after those of its constants."""
    for name in OF_STAGE:
        of, _, side = name.partition("_")
        yield by_power(name, of + "{}_" + ("low" if side == "1" else "high"), known)


def by_power(name: str, constant: str, known: Variogram) -> str:
    """Write the constants of the powers of r as a function of the power."""
    cases = " ".join(f"| {j}%nat => {constant.format(j)}" for j in known.terms)
    return f"Definition {name} (j : nat) : R := match j with {cases} | _ => 0 end."


def enclosed(known: Variogram) -> Iterator[str]:
    """Write the lemmas that enclose its integrals, and the tactic that uses them."""
    yield from (part.partition("\n")[2] for part in known.enclosed)
    names = [f"piece_{i}" for i in range(len(known.enclosed))]
    facts, values = " ".join(f"{name}_in" for name in names), " ".join(names)
    by = f"unfold square; generalize {facts}; generalize {values}; intros" if names else "idtac"
    yield f"Ltac enclosed := {by}."


def slopes(h: roughness.Pieces, d: int) -> Iterator[str]:
    """Write the integral of each piece's squared slope over the angle x with z = sin x, and enclose it."""
    ends = [Fraction(-1), *h.at, Fraction(1)]
    for i, (polynomial, (start, stop)) in enumerate(zip(h.polynomials, pairwise(ends), strict=True)):
        slope = roughness.derived(polynomial, 1) or (Fraction(0),)
        text = " + ".join(f"{written(c) if c >= 0 else f'({written(c)})'} * sin x ^ {j}" for j, c in enumerate(slope))
        low, high = (
            "- (PI / 2)" if z == -1 else "PI / 2" if z == 1 else f"angle_of ({written(z)})" for z in (start, stop)
        )
        with ctx.workprec(BITS):

            def weighted(x: acb, _: bool, slope: tuple[Fraction, ...] = slope) -> acb:
                value = acb(0)
                for coefficient in reversed(slope):
                    value = value * x.sin() + acb(ball(coefficient))
                return value**2 * x.cos() ** d

            value = acb.integral(weighted, ball(start).asin(), ball(stop).asin()).real
            margin = value.abs_upper() * arb("1e-16")
            below, above = (decimal(value + way * margin, way) if value != 0 else Fraction(0) for way in (-1, +1))
        yield (
            f"Definition piece_{i} : R := RInt (fun x => ({text}) ^ 2 * cos x ^ {d}) ({low}) ({high}).\n"
            f"Lemma piece_{i}_in : {written(below)} <= piece_{i} <= {written(above)}.\nProof. unfold piece_{i}, "
            "angle_of. integral with (i_prec 90, i_fuel 1000, i_degree 15). Qed."
        )
