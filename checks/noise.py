r"""Proof sketch: N(w) = Theta(sigma^2 (w^{d/2} + 1) / n), for the relevant range of w."""

from __future__ import annotations

from operator import attrgetter

import sympy

from checks._running import run_file
from checks._slides import (
    ASSUMED,
    READINGS,
    RELATION,
    SYMBOL,
    curve_agreement,
    d,
    exponent_figure,
    growths_of,
    limits_in_words,
    slides,
)
from lipverify.claims.claim import Claim, Task
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import Side, scaling_cell
from lipverify.claims.softmax.rays import relevant_growth, saturated_growth
from lipverify.claims.verdict import Verdict

SKETCH = slides(
    "Proof Sketch",
    r"for the relevant range of $w_{KQ}$, $\mathcal{L}_{noise}(w_{KQ}) = \Theta(\sigma^2 (w_{KQ}^{d/2} + 1)/n)$",
)
TWINS: dict[Side, sympy.Expr] = {"lower": (d + 1) / 2, "upper": (d - 2) / 2}
"""Half a power of w beyond the sharp (d-1)/2 on the wrong side."""

CORRECTED = "$N(w) = \\Theta(\\sigma^2 (w^{(d-1)/2} + 1)/n)$ for $w = o(n^{2/(d-1)})$"

RELEVANT_VERDICTS: dict[tuple[str, str], Verdict] = {
    ("lower", "ambient"): "refuted",
    ("upper", "ambient"): "supported",
    ("lower", "intrinsic"): "supported",
    ("upper", "intrinsic"): "supported",
}

HIGHEST = 10
"""The highest dimension in which the limit beyond the relevant range is known well enough."""


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Both readings of d, both sides, in the relevant range; and what happens beyond it."""
    relevant = [_relevant(profile, side, reading) for reading in READINGS for side in ("lower", "upper")]
    return (*relevant, _every_window(profile))


def _relevant(profile: Profile, side: Side, reading: str) -> Claim:
    claimed, pick = READINGS[reading] / 2, attrgetter("noise")
    tasks = {k: Task(relevant_growth, ("affine", k, profile.points)) for k in profile.dimensions}
    growths = growths_of(tasks, pick)
    power = sympy.latex(claimed, fold_short_frac=True)
    return Claim(
        id=f"softmax.noise-rate/{side}/{reading}",
        title=f"The noise term: {SYMBOL[side]} bound, {reading} dimension",
        statement=rf"N(w) = {RELATION[side]}\left(\sigma^2\, \frac{{w^{{{power}}} + 1}}{{n}}\right)",
        source=SKETCH,
        assumptions=(
            *ASSUMED,
            "$w \\to \\infty$ with $n = w^{d/2+1}$, so that every window holds many tokens",
        ),
        claimed=f"n N/σ² = {SYMBOL[side]}(w^({claimed}))",
        control=f"n N/σ² = {SYMBOL[side]}(w^({TWINS[side]}))",
        expected=RELEVANT_VERDICTS[side, reading],
        cells=tuple(
            scaling_cell(task, pick, "limit exponent of n N/σ² in w", side, claimed, TWINS[side], k)
            for k, task in tasks.items()
        ),
        cross_checks=curve_agreement("noise", "affine", profile),
        figures=lambda results: exponent_figure(growths(results), claimed, side, "$w$", "$nN/\\sigma^2$"),
        finding=lambda results: (
            "The sharp exponent is $(d-1)/2$, half the dimension of the sphere: a window of angle $w^{-1/2}$ holds "
            "$n w^{-(d-1)/2}$ tokens. With $d$ read as the ambient dimension the rate is an upper bound and no more. "
            + limits_in_words(growths(results), (2, 5, 8))
        ),
        corrected=CORRECTED if reading == "ambient" else "",
    )


def _every_window(profile: Profile) -> Claim:
    claimed, twin, pick = (
        sympy.Rational(1, 2) + 0 * d,
        sympy.Integer(1) + 0 * d,
        attrgetter("noise"),
    )
    # in higher dimensions the limit is approached too slowly (in powers of n^{1/(d-1)}) for 26 decades to decide it
    dimensions = [k for k in profile.dimensions if k <= HIGHEST]
    tasks = {k: Task(saturated_growth, ("affine", k, profile.points)) for k in dimensions}
    growths = growths_of(tasks, pick)
    return Claim(
        id="softmax.noise-rate/lower/every-window",
        title="The noise term beyond the relevant range: Ω bound along w = n^(3/(d-1))",
        statement=r"N(w) = \Omega\left(\sigma^2\, \frac{w^{(d-1)/2} + 1}{n}\right) \quad \text{for every } w",
        source=SKETCH,
        assumptions=(*ASSUMED, "$n \\to \\infty$ with $w = n^{3/(d-1)}$, beyond $n^{2/(d-1)}$"),
        claimed="N/σ² = Ω(n^(1/2)) there",
        control="N/σ² = Ω(n) there",
        expected="refuted",
        cells=tuple(
            scaling_cell(task, pick, "limit exponent of N/σ² in n", "lower", claimed, twin, k)
            for k, task in tasks.items()
        ),
        figures=lambda results: exponent_figure(growths(results), claimed, "lower", "$n$", "$N/\\sigma^2$"),
        finding=(
            "The relevant range is $1 \\ll w \\ll n^{2/(d-1)}$. Beyond it the nearest token takes all the attention and "
            "$N \\to \\sigma^2$, which no power of $w$ can follow: $N \\leq \\sigma^2$ always."
        ),
        corrected=CORRECTED,
    )


if __name__ == "__main__":
    run_file(__file__)
