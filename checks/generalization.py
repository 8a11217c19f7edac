r"""Theorem 3 along n: the loss of a window pretrained on Lipschitz constant L and tested on L'."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import sympy

from checks._generalization import home_factor, near, read_limit
from checks._running import run_file
from checks._slides import LAWS, READINGS, RELATION, SYMBOL, d, exponent_figure, growths_of, limits_in_words
from checks._theorem3 import (
    RATIOS,
    SIDES,
    SKETCH,
    THEOREM_3,
    TITLES,
    agreement,
    assumed,
    corrected,
    finding,
    latex,
    measurements,
    powers,
    sharp_power,
)
from lipverify.claims.claim import CellPlan, Claim, Task, exponent_at
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import Side, scaling_cell
from lipverify.laws import law_named
from lipverify.loss.asymptotic import leading
from lipverify.scaling import Growth

PRICED = 8
"""The largest d where the limit factor is known to a thousandth: corrections fall like n^{-1/(d+2)} for ReLU."""
BOUNDS = {
    ("same", "printed"): r"L^2 \Lambda^{{{power}}}",
    ("larger", "printed"): r"L'^2 \Lambda^{{{power}}}",
    ("smaller", "printed"): r"\frac{{1}}{{n}} \Lambda^{{{shifted}}}",
    ("same", "derived"): r"L^2 \Lambda^{{{power}}}",
    ("larger", "derived"): r"L'^2 \Lambda^{{{power}}}",
    ("smaller", "derived"): r"\frac{{\sigma^2}}{{n}} \Lambda^{{{shifted}}}",
}
TWINS: dict[Side, sympy.Expr] = {"upper": -4 / (d + 2), "lower": -sympy.Rational(5, 2) / (d + 2)}
"""Falsified exponents, a little beyond the sharp -3/(d+2) of ReLU and -4/(d+3) of affine on the wrong side."""
REFUTED = {
    ("larger", "printed", "relu", "ambient"),
    ("larger", "printed", "relu", "intrinsic"),
    ("larger", "printed", "affine", "ambient"),
    ("larger", "printed", "affine", "intrinsic"),
    ("smaller", "printed", "relu", "intrinsic"),
    ("smaller", "printed", "affine", "ambient"),
    ("smaller", "printed", "affine", "intrinsic"),
    ("smaller", "derived", "affine", "ambient"),
}


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Printed, derived and sharp along n for each law and reading of d."""
    along_n = [
        _along_n(profile, case, form, law, reading)
        for case in SIDES
        for form in ("printed", "derived")
        for law in LAWS
        for reading in READINGS
    ]
    sharp = [_sharp(profile, case, law) for case in SIDES for law in LAWS]
    return (*along_n, *sharp)


def _along_n(profile: Profile, case: str, form: str, law: str, reading: str) -> Claim:
    side, claimed = SIDES[case], powers(form, READINGS[reading])[case]
    tasks, pick = measurements(profile, case, law)
    growths, twin = growths_of(tasks, pick), TWINS[SIDES[case]]
    refuted = (case, form, law, reading) in REFUTED
    bound = BOUNDS[case, form].format(power=latex(claimed), shifted=latex(sympy.simplify(claimed + 1)))
    return Claim(
        id=f"softmax.generalization-{case}/{law}/{side}/{form}/{reading}",
        title=f"{TITLES[case]}, {law} law: {SYMBOL[side]} bound, {form}, {reading}",
        statement=rf"\mathcal{{L}}(w^*(L); L') = {RELATION[side]}\left({bound}\right), \quad \Lambda = nL^2/\sigma^2",
        source=THEOREM_3 if form == "printed" else SKETCH,
        assumptions=assumed(case, law),
        claimed=f"loss = {SYMBOL[side]}(n^({claimed}))",
        control=f"loss = {SYMBOL[side]}(n^({twin}))",
        expected="refuted" if refuted else "supported",
        cells=tuple(
            scaling_cell(tasks[k], pick, "limit exponent of the loss in n", side, claimed, twin, k, law=law)
            for k in tasks
        ),
        cross_checks=agreement(profile, case, law),
        figures=lambda results: exponent_figure(growths(results), claimed, side, "$n$", "the loss"),
        finding=partial(finding, case, form, law, claimed, growths),
        corrected=corrected(case, law) if form == "printed" or refuted else "",
    )


def _sharp(profile: Profile, case: str, law: str) -> Claim:
    power, other = sharp_power(law), sharp_power("affine" if law == "relu" else "relu")
    tasks, pick = measurements(profile, case, law)
    growths = growths_of(tasks, pick)
    return Claim(
        id=f"softmax.generalization-{case}/{law}/theta/sharp",
        title=f"{TITLES[case]}, {law} law: the sharp rate" + ("" if case == "same" else " and what it costs"),
        statement=rf"\mathcal{{L}}(w^*(L); L') = \Theta\left(L^2 \Lambda^{{{latex(power)}}}\right)"
        + (
            ""
            if case == "same"
            else r", \quad \frac{\mathcal{L}(w^*(L); L')}{\mathcal{L}(w^*(L); L)} \to " + _price(law)
        ),
        source=SKETCH,
        assumptions=assumed(case, law),
        claimed=f"loss = Θ(n^({power}))",
        control=f"loss = Θ(n^({other})), the rate of the other law" + ("" if case == "same" else "; factor 1"),
        expected="supported",
        cells=(
            *(
                scaling_cell(tasks[k], pick, "limit exponent of the loss in n", "theta", power, other, k, law=law)
                for k in tasks
            ),
            *(() if case == "same" else _price_cells(case, law, tasks)),
        ),
        cross_checks=agreement(profile, case, law),
        figures=lambda results: exponent_figure(growths(results), power, "theta", "$n$", "the loss"),
        finding=partial(_sharp_finding, case, law, growths),
    )


def _price(law: str) -> str:
    beta = latex(leading(law_named(law)).beta)
    return rf"\frac{{a (L'/L)^2 + \beta}}{{a + \beta}}, \quad a = (d-1)/2, \; \beta = {beta}"


def _price_cells(case: str, law: str, tasks: dict[int, Task]) -> tuple[CellPlan, ...]:
    """The limit of the loss on L' over that on L, against the derived one."""
    at, beta = list(RATIOS).index(case), leading(law_named(law)).beta
    rho2 = sympy.Integer(9) if case == "larger" else sympy.Rational(1, 9)
    limits = {k: exponent_at(home_factor(beta, rho2), k) for k in tasks}
    return tuple(
        CellPlan(
            where={"d": k, "law": law},
            task=task,
            quantity="limit of the loss on L' over the loss on L",
            read=lambda result, _: read_limit(result.factors[0][at]),
            claimed=f"= {limits[k]:.6g}",
            allowed=near(limits[k]),
            control=near(1.0),
        )
        for k, task in tasks.items()
        if k <= PRICED
    )


def _sharp_finding(
    case: str, law: str, growths: Callable[[dict[str, Any]], dict[int, Growth]], results: dict[str, Any]
) -> str:
    derivation = (
        f"At $w^*(L)$ the slopes of both terms cancel, $a N = \\beta B$ with $a = (d-1)/2$ and $\\beta = "
        f"{latex(leading(law_named(law)).beta)}$; on $L'$ the loss is $N + (L'/L)^2 B$. "
    )
    price = (
        "Against the window that is tuned to $L'$ the factor is $\\frac{a \\rho^2 + \\beta}{(a+\\beta) \\rho^{2a/(a+\\beta)}}$, "
        "$\\rho = L'/L$: above 1 unless $\\rho = 1$, growing like $\\rho^{2\\beta/(a+\\beta)}$ for $L' > L$ and like "
        "$\\rho^{-2a/(a+\\beta)}$ for $L' < L$, and constant in $n$. A wrong $L$ costs a factor and never the rate. "
    )
    return derivation + ("" if case == "same" else price) + limits_in_words(growths(results), (2, 5, 8))


if __name__ == "__main__":
    run_file(__file__)
