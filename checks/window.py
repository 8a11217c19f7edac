r"""Theorem 2 and the proof sketch: how the optimal window w* grows with Lambda = n L^2 / sigma^2."""

from __future__ import annotations

from functools import cache, partial
from operator import attrgetter
from typing import Any

import sympy

from checks._rates import sharp_rates
from checks._running import run_file
from checks._slides import (
    ASSUMED,
    LAWS,
    READINGS,
    RELATION,
    SYMBOL,
    d,
    exponent_figure,
    growths_of,
    limits_in_words,
    sharp_bias_power,
    slides,
    window_agreement,
)
from lipverify.claims.claim import Claim, Task
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import Side, scaling_cell
from lipverify.claims.softmax.rays import window_growth
from lipverify.claims.verdict import Verdict

THEOREM_2 = slides(
    "Theorem 2",
    r"for sufficiently large $n$, $\Omega((nL^2/\sigma^2)^{1/d}) < w_{KQ} < \mathcal{O}((nL^2/\sigma^2)^{2/d})$",
)
SKETCH = slides(
    "Proof Sketch",
    r"$\mathcal{L}_{noise} = \Theta(\sigma^2 (w^{d/2}+1)/n)$ and "
    r"$\Omega(L^2/w^2) < \mathcal{L}_{bias} < \Theta(L^2/w + L^2/n)$; use these to get a range for $w_{KQ}$",
)


@cache
def implied(noise: sympy.Expr, bias_upper: sympy.Expr, bias_lower: sympy.Expr) -> dict[str, sympy.Expr]:
    """What bounds N ~ w^noise / Lambda and w^bias_lower < B < w^bias_upper imply for log w* / log Lambda.

    The best loss is no larger than where noise and upper bias balance; at w* neither the noise nor the
    lower bias can exceed it.
    """
    x = sympy.Symbol("x", positive=True)
    balance = sympy.solve(sympy.Eq(noise * x - 1, bias_upper * x), x)[0]
    loss = bias_upper * balance
    return {
        "upper": sympy.simplify(sympy.solve(sympy.Eq(noise * x - 1, loss), x)[0]),
        "lower": sympy.simplify(sympy.solve(sympy.Eq(bias_lower * x, loss), x)[0]),
    }


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Printed, derived and sharp, for each law, side and reading of d."""
    printed = [
        _claim(
            profile,
            "printed",
            law,
            side,
            reading,
            expr,
            THEOREM_2,
            PRINTED_VERDICTS[law, side, reading],
        )
        for law in LAWS
        for reading, dimension in READINGS.items()
        for side, expr in _printed(dimension).items()
    ]
    derived = [
        _claim(
            profile,
            "derived",
            law,
            side,
            reading,
            implied(dimension / 2, -1, -2)[side],
            SKETCH,
            "supported",
        )
        for law in LAWS
        for reading, dimension in READINGS.items()
        for side in _printed(dimension)
    ]
    sharp = [_claim(profile, "derived", law, "theta", "sharp", _sharp(law), SKETCH, "supported") for law in LAWS]
    return (*printed, *derived, *sharp)


def _printed(dimension: sympy.Expr) -> dict[Side, sympy.Expr]:
    """The exponents of Theorem 2, with its d read as `dimension`."""
    return {"lower": 1 / dimension, "upper": 2 / dimension}


def _sharp(law: str) -> sympy.Expr:
    power = sharp_bias_power(law)
    return implied((d - 1) / 2, power, power)["upper"]


PRINTED_VERDICTS: dict[tuple[str, str, str], Verdict] = {
    ("affine", "lower", "ambient"): "refuted",
    ("affine", "upper", "ambient"): "supported",
    ("affine", "lower", "intrinsic"): "refuted",
    ("affine", "upper", "intrinsic"): "supported",
    ("relu", "lower", "ambient"): "supported",
    ("relu", "upper", "ambient"): "supported",
    ("relu", "lower", "intrinsic"): "refuted",
    ("relu", "upper", "intrinsic"): "supported",
}

TWINS: dict[Side, dict[str, sympy.Expr]] = {
    "lower": {"ambient": 2 / (d + 1), "intrinsic": 2 / d},
    "upper": {"ambient": 1 / (d + 4), "intrinsic": 1 / (d + 4)},
    "theta": {"sharp": 2 / (d + 1)},
}
"""Falsified exponents: beyond the sharp one on the wrong side, by less than the printed factor of two."""


def _claim(
    profile: Profile,
    form: str,
    law: str,
    side: Side,
    reading: str,
    claimed: sympy.Expr,
    source: Any,
    expected: Verdict,
) -> Claim:
    twin = TWINS[side][reading]
    tasks = {k: Task(window_growth, (law, k, profile.points)) for k in profile.dimensions}
    pick = attrgetter("window")
    growths = growths_of(tasks, pick)
    latex = sympy.latex(claimed, fold_short_frac=True)
    tail = f"{law}/{reading}" if reading == "sharp" else f"{law}/{side}/{reading}"
    return Claim(
        id=f"softmax.window-{form}/{tail}",
        title=f"The optimal window, {law} law: {SYMBOL[side]} bound, {form}, {reading}",
        statement=rf"w^* = {RELATION[side]}\left(\Lambda^{{{latex}}}\right), \quad \Lambda = nL^2/\sigma^2 \to \infty",
        source=source,
        assumptions=(*ASSUMED, f"{law} law", "limit along $n \\to \\infty$ at fixed $L/\\sigma$"),
        claimed=f"w* = {SYMBOL[side]}(Λ^({claimed}))",
        control=f"w* = {SYMBOL[side]}(Λ^({twin}))",
        expected=expected,
        cells=tuple(
            scaling_cell(tasks[k], pick, "limit exponent of w* in n", side, claimed, twin, k, law=law) for k in tasks
        ),
        cross_checks=window_agreement(law, profile),
        figures=lambda results: exponent_figure(growths(results), claimed, side, "$n$", "$w^*$"),
        finding=partial(_finding, tasks, law, side, claimed),
        corrected=_corrected(law) if form == "printed" else "",
        tables=(lambda _: sharp_rates()) if form == "printed" else None,
    )


def _corrected(law: str) -> str:
    sharp = sympy.latex(_sharp(law), fold_short_frac=True)
    return f"$w^* = \\Theta(\\Lambda^{{{sharp}}})$ for the {law} law, with the constants of the table"


def _finding(tasks: dict[int, Task], law: str, side: Side, claimed: sympy.Expr, results: dict[str, Any]) -> str:
    windows = {k: results[task.address].window for k, task in tasks.items()}
    losses = {k: results[task.address].loss for k, task in tasks.items()}
    sharp = sympy.latex(_sharp(law), fold_short_frac=True)
    some = [k for k in (2, 5, 8) if k in tasks]
    loss = "; ".join(f"$d={k}$: {losses[k].exponent:.5f}" for k in some)
    return (
        f"The sharp rate that the noise $w^{{(d-1)/2}}$ and the bias $w^{{{sympy.latex(sharp_bias_power(law))}}}$ of the "
        f"{law} law imply is $w^* = \\Theta(\\Lambda^{{{sharp}}})$. {limits_in_words(windows, some)} "
        f"Exponents of the loss at $w^*$: {loss}."
    )


if __name__ == "__main__":
    run_file(__file__)
