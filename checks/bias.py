r"""Proof sketch: Omega(L^2 / w^2) < B(w) < Theta(L^2 / w + L^2 / n)."""

from __future__ import annotations

from operator import attrgetter

import sympy

from checks._running import run_file
from checks._slides import (
    ASSUMED,
    LAWS,
    RELATION,
    SYMBOL,
    curve_agreement,
    d,
    exponent_figure,
    growths_of,
    limits_in_words,
    sharp_bias_power,
    slides,
)
from lipverify.claims.claim import Claim, Task
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import Side, scaling_cell
from lipverify.claims.softmax.rays import relevant_growth, saturated_growth

SKETCH = slides(
    "Proof Sketch",
    r"$\Omega(L^2/w_{KQ}^2) < \mathcal{L}_{bias}(w_{KQ}) < \Theta(L^2/w_{KQ} + L^2/n)$",
)
PRINTED: dict[Side, int] = {"lower": -2, "upper": -1}
TWINS: dict[Side, sympy.Expr] = {
    "lower": sympy.Integer(-1) + 0 * d,
    "upper": -sympy.Rational(5, 2) + 0 * d,
}
ROW = {"lower": "softmax.bias-lower", "upper": "softmax.bias-upper"}
BOUND = {"lower": "L^2 / w^2", "upper": "L^2 / w + L^2 / n"}


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Each side and law in the relevant range; the upper bound for every window; the sharp powers."""
    relevant = [_relevant(profile, law, side) for side in ("lower", "upper") for law in LAWS]
    sharp = [_relevant(profile, law, "theta") for law in LAWS]
    return (*relevant, *sharp, _every_window(profile))


def _relevant(profile: Profile, law: str, side: Side) -> Claim:
    sharp = sharp_bias_power(law)
    claimed = (sharp if side == "theta" else sympy.Integer(PRINTED[side])) + 0 * d
    twin = TWINS["upper"] if side == "theta" else TWINS[side]
    tasks = {k: Task(relevant_growth, (law, k, profile.points)) for k in profile.dimensions}
    pick = attrgetter("bias")
    growths = growths_of(tasks, pick)
    bound = f"L^2 w^{{{sharp}}}" if side == "theta" else BOUND[side]
    return Claim(
        id=f"{ROW.get(side, ROW['lower'])}/{law}/{'sharp' if side == 'theta' else 'relevant'}",
        title=f"The bias term, {law} law: {SYMBOL[side]} bound in the relevant range",
        statement=rf"B(w) = {RELATION[side]}\left({bound}\right)",
        source=SKETCH,
        assumptions=(
            *ASSUMED,
            f"{law} law",
            "$w \\to \\infty$ with $n = w^{d/2+1}$, so that every window holds many tokens",
        ),
        claimed=f"B/L² = {SYMBOL[side]}(w^({claimed}))",
        control=f"B/L² = {SYMBOL[side]}(w^({twin}))",
        expected="supported",
        cells=tuple(
            scaling_cell(task, pick, "limit exponent of B in w", side, claimed, twin, k, law=law)
            for k, task in tasks.items()
        ),
        cross_checks=curve_agreement("bias", law, profile),
        figures=lambda results: exponent_figure(growths(results), claimed, side, "$w$", "$B$"),
        finding=lambda results: (
            f"The sharp power for the {law} law is $B = \\Theta(L^2 w^{{{sharp}}})$: "
            + (
                "a kink adds an error of the size of the window on the share $w^{-1/2}$ of queries that see it. "
                if law == "relu"
                else "a smooth law is off by its curvature alone. "
            )
            + limits_in_words(growths(results), (2, 5, 8))
        ),
        corrected=""
        if side == "theta" or PRINTED[side] == sharp
        else f"$B(w) = \\Theta(L^2 w^{{{sharp}}})$ for the {law} law",
    )


def _every_window(profile: Profile) -> Claim:
    claimed = -sympy.Min(1, 3 / (d - 1))
    twin, pick = -2 / (d - 1) - 1, attrgetter("bias")
    tasks = {k: Task(saturated_growth, ("affine", k, profile.points)) for k in profile.dimensions}
    growths = growths_of(tasks, pick)
    return Claim(
        id="softmax.bias-upper/affine/every-window",
        title="The bias term, affine law: O bound for every window, along w = n^(3/(d-1))",
        statement=r"B(w) = \mathcal{O}\left(\frac{L^2}{w} + \frac{L^2}{n}\right) \quad \text{for every } w",
        source=SKETCH,
        assumptions=(
            *ASSUMED,
            "affine law",
            "$n \\to \\infty$ with $w = n^{3/(d-1)}$, beyond $n^{2/(d-1)}$",
        ),
        claimed="B/L² = O(n^(-min(1, 3/(d-1)))) there",
        control="B/L² = O(n^(-2/(d-1)-1)) there",
        expected="refuted",
        cells=tuple(
            scaling_cell(task, pick, "limit exponent of B in n", "upper", claimed, twin, k, law="affine")
            for k, task in tasks.items()
        ),
        figures=lambda results: exponent_figure(growths(results), claimed, "upper", "$n$", "$B$"),
        finding=(
            "Printed without a range, the bound fails for $d \\geq 4$: once $w \\gg n^{2/(d-1)}$ attention picks the nearest "
            "token, whose squared distance is of order $n^{-2/(d-1)}$, and more window does not bring it closer. Corrected: "
            "$B = O(L^2/w + L^2 n^{-2/(d-1)})$ for every $w$, or the printed bound for $w = O(n^{2/(d-1)})$."
        ),
        corrected="$B(w) = O(L^2/w + L^2 n^{-2/(d-1)})$ for every $w$",
    )


if __name__ == "__main__":
    run_file(__file__)
