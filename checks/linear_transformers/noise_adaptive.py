r"""Theorem 5.2: one layer with only omega_yx and one with only omega_yy reach ridge regression at two noise levels."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from checks._running import run_file
from checks.linear_transformers._two_levels import ASSUMED, EXACT_D, PAIR, THEOREM, WORDS, growths
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task, side_by_side
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.linear_transformers.noise_adaptive import (
    derived_weights,
    exact_square,
    fitted_weights,
    limit_ratios,
    limit_square,
    sampled_square,
)
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval
from lipverify.linear_transformer.theory.noise_adaptive import ORDERS, Order, TwoLevels

PAIRS = ((0.5, 1.0), (1.0, 3.0), (0.0, 1.0), (0.0, 5.0), (1.0, 1.0))
SAMPLED_N, SAMPLED_D, LONG = 200, 5, 10**8


def claims(profile: Profile) -> tuple[Claim, ...]:
    """The weights, and the limit in either order."""
    return (
        _weights(profile),
        *(_limit(profile, order) for order in ORDERS),
    )


def _weights(profile: Profile) -> Claim:
    contexts = 4000 if profile.name == "quick" else 64_000
    tasks = {pair: Task(limit_ratios, pair) for pair in PAIRS}
    crosses = tuple(
        CrossPlan(
            where={"sigma_1": pair[0], "sigma_2": pair[1], "d": 3, "n": LONG},
            quantity=f"weight {name}",
            methods=("symbolic", "montecarlo"),
            tasks=(Task(derived_weights, pair), Task(fitted_weights, (*pair, 3, LONG, contexts, profile.seed))),
            read=partial(_beside, index, name),
        )
        for pair in PAIRS[:2]
        for index, name in enumerate(("c", "v"))
    )
    return Claim(
        id="lt.noise-adaptive/weights",
        title="Two weights that give ridge at two noise levels",
        statement=r"\omega_{yx} = -\frac{1 + \sigma_1^2 + \sigma_2^2}{(1 + \sigma_1^2)(1 + \sigma_2^2)}, \quad \omega_{yy} = -\frac{1}{n (1 + \sigma_1^2 + \sigma_2^2)}: "
        r"\quad -\omega_{yx} (1 + n \omega_{yy} \sigma_i^2) = \frac{1}{1 + \sigma_i^2}",
        source=THEOREM,
        assumptions=ASSUMED,
        claimed="limit of w over that of ridge = 1 at both levels",
        control="1.01",
        expected="supported",
        cells=tuple(
            CellPlan(
                where={"sigma_1": pair[0], "sigma_2": pair[1], "at": f"sigma_{level + 1}"},
                task=task,
                quantity="lim w / lim w_ridge",
                read=partial(_ratio, level),
                claimed="= 1",
                allowed=Allowed.near(1.0, 1e-14),
                control=Allowed.near(1.01, 1e-14),
                method="symbolic",
            )
            for pair, task in tasks.items()
            for level in (0, 1)
        ),
        cross_checks=crosses,
        figures=_shrinkage_figure,
        finding=(
            "As $n \\to \\infty$, $\\Sigma \\to \\mathbf{I}$, $\\alpha \\to w^* + \\sigma z$ and ridge tends to $\\alpha/(1 + \\sigma^2)$, while $\\lambda/n \\to \\sigma^2$. With $c = -\\omega_{yx}$ and $v = n \\omega_{yy}$ the two layers tend to "
            "$c(1 + v\\sigma^2)\\alpha$: a straight line in $\\sigma^2$ that must meet $1/(1 + \\sigma^2)$ twice. Two linear equations in $(c, cv)$ have one solution, so no other root exists; at $\\sigma_1 = \\sigma_2$ one equation is left and the "
            "solution shown is the tangent. If one level is 0, $c = 1$. The second method fits ridge on sampled contexts by least squares and finds the same two numbers."
        ),
    )


def _limit(profile: Profile, order: Order) -> Claim:
    tasks = growths(profile, order)
    contexts = 20_000 if profile.name == "quick" else 400_000
    crosses = tuple(
        CrossPlan(
            where={"d": d, "n": n, "order": order},
            quantity="n E|w - w_ridge|² / d",
            methods=("exact", "montecarlo") if d in EXACT_D else ("derived limit", "montecarlo"),
            tasks=(
                Task(exact_square, (d, n, *PAIR, order)) if d in EXACT_D else Task(limit_square, (d, *PAIR)),
                Task(sampled_square, (d, n, *PAIR, order, contexts, profile.seed)),
            ),
            read=side_by_side,
        )
        for d, n in (*((d, SAMPLED_N) for d in EXACT_D), (SAMPLED_D, LONG))
    )
    return Claim(
        id=f"lt.noise-adaptive/limit/{order}",
        title=f"Two layers, {WORDS[order]}, tend to ridge at both noise levels",
        statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}(\sigma_i^2)\|^2 \to 0 \quad (n \to \infty), \quad i = 1, 2",
        source=THEOREM,
        assumptions=(*ASSUMED, f"$\\sigma_1 = {PAIR[0]:g}$, $\\sigma_2 = {PAIR[1]:g}$", WORDS[order]),
        claimed="distance from ridge falls as a power of n",
        control="it does not fall",
        expected="supported",
        cells=tuple(
            CellPlan(
                where={"d": d, "at": level, "order": order},
                task=task,
                quantity="limit exponent of the root mean square distance in n",
                read=lambda found, _: Reading(Interval.around(found.fluctuation.exponent, found.fluctuation.error)),
                claimed="< 0",
                allowed=Allowed(high=0.0, open=True),
                control=Allowed(low=0.0),
            )
            for (d, level), task in tasks.items()
        ),
        cross_checks=crosses,
        figures=partial(_distance_figure, tasks, order),
        finding=(
            "Both orders work with the same weights: in the first the layer with $\\omega_{yy}$ sees $\\sum (y_i - c\\, x_i^\\top \\alpha)^2$, in the second $\\sum y_i^2$, and the two differ by $O(1)$ of $n\\sigma^2$. "
            "The paper's prediction is $\\langle w, x_t \\rangle$ with $x_t \\sim N(0, \\mathbf{I}/n)$, itself of size $n^{-1/2}$; so weight vectors are compared, which asks for more."
        ),
    )


def _ratio(level: int, found: tuple[float, float], _: Allowed) -> Reading:
    """The ratio at one of the two levels, to rounding."""
    return Reading(Interval.around(found[level], 2**-50))


def _beside(
    index: int, name: str, derived: tuple[float, float], fitted: Any
) -> tuple[tuple[float, float], tuple[float, float]]:
    """A weight as derived and as fitted; the fit at finite n is off by O(1/n) besides."""
    value, error = getattr(fitted, name)
    return (derived[index], value), (2**-50 + 10 / LONG, error)


def _shrinkage_figure(_: dict[str, Any]) -> tuple[Figure, ...]:
    """The line c (1 + v s) against the curve 1 / (1 + s), for two pairs of levels."""
    s = tuple(k / 20 for k in range(0, 221))
    series = [Series(label="ridge, $1/(1 + \\sigma^2)$", x=s, y=tuple(1 / (1 + x) for x in s))]
    for pair in PAIRS[:2]:
        model = TwoLevels(*pair)
        kept = tuple(x for x in s if model.shrinkage(math.sqrt(x)) > -0.1)
        label = f"two layers for $\\sigma = {pair[0]:g}, {pair[1]:g}$"
        series.append(Series(label=label, x=kept, y=tuple(model.shrinkage(math.sqrt(x)) for x in kept), style="dashed"))
        series.append(
            Series(label="", x=tuple(x**2 for x in pair), y=tuple(1 / (1 + x**2) for x in pair), style="points")
        )
    panel = Panel(
        title="shrinkage of $\\alpha$ in the limit",
        xlabel="$\\sigma^2$",
        ylabel="$w / \\alpha$",
        xscale="linear",
        yscale="linear",
        series=tuple(series),
    )
    caption = "What two layers make of $\\alpha$ is a line in $\\sigma^2$; ridge is a convex curve, which the line meets at the two levels."
    return (Figure(caption=caption, alt="Shrinkage against the noise variance.", panels=(panel,)),)


def _distance_figure(tasks: dict[tuple[int, str], Task], order: Order, results: dict[str, Any]) -> tuple[Figure, ...]:
    """The exact distances against n."""
    panels = []
    for which, title in (("fluctuation", "root mean square"), ("mean", "mean along $w^*$")):
        series = tuple(
            Series(
                label=f"$d = {d}$, $\\sigma = {PAIR[level == 'sigma_2']:g}$",
                x=getattr(results[task.address], which).s,
                y=getattr(results[task.address], which).values,
            )
            for (d, level), task in tasks.items()
        )
        panels.append(Panel(title=title, xlabel="$n$", ylabel="distance from ridge", series=series))
    caption = f"The exact distance of two layers ({order}) from ridge against the length of the context: slopes $-1/2$ and $-1$."
    return (Figure(caption=caption, alt="Distance from ridge against n.", panels=tuple(panels)),)


if __name__ == "__main__":
    run_file(__file__)
