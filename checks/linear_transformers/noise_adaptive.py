r"""Theorem 5.2: one layer with only omega_yx and one with only omega_yy reach ridge regression at two noise levels."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import msgspec

from checks._running import run_file
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task, side_by_side
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.ledger import Source
from lipverify.claims.linear_transformers.noise_adaptive import (
    DifferenceGrowth,
    alternating,
    derived_weights,
    difference_growth,
    exact_square,
    fitted_weights,
    limit_ratios,
    limit_square,
    sampled_square,
    stale_growth,
    swapped_distance,
    worst_of,
)
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval
from lipverify.linear_transformer.theory.noise_adaptive import ORDERS, Order, TwoLevels

THEOREM = Source(
    paper="V",
    place="Theorem 5.2",
    printed=r"for two noise levels $\sigma_1, \sigma_2$ and $x \sim N(0, I/n)$, one layer with only $\omega_{yx}$ and one with only $\omega_{yy}$ reach ridge regression at both as $n \to \infty$",
)
TWIN = msgspec.structs.replace(THEOREM, place="Theorem 5.2, a twin that is not printed")
READING = msgspec.structs.replace(THEOREM, place="Theorem 5.2, another reading")
ASSUMED = (
    r"$x_i \sim N(0, \mathbf{I}/n)$, $w^* \sim N(0, \mathbf{I})$, $y_i = \langle w^*, x_i \rangle + \sigma \varepsilon_i$, $d$ fixed",
    r"ridge has the constant $\sigma^2$; weight vectors are compared, $w$ with $w_{\mathrm{ridge}}$",
    r"$\omega_{yy} = v/n$: it may depend on the length of the context",
)
PAIRS = ((0.5, 1.0), (1.0, 3.0), (0.0, 1.0), (0.0, 5.0), (1.0, 1.0))
PAIR = (0.5, 1.0)
EXACT_D, SAMPLED_N, SAMPLED_D, LONG = (1, 2), 200, 5, 10**8
LEVELS = ((0.0, 1.0, 2.0), (0.5, 1.0, 2.0), (1.0, 3.0, 5.0))
WORDS = {"yx-yy": "omega_yx first", "yy-yx": "omega_yy first"}
RATE = 1e-4
"""An exponent is called equal to -1/2 or -1 if it is known to this much and agrees."""


def claims(profile: Profile) -> tuple[Claim, ...]:
    """The weights, the limit and its rate in either order; readings and twins that fail."""
    return (
        _weights(profile),
        *(_limit(profile, order) for order in ORDERS),
        *(_rate(profile, order) for order in ORDERS),
        _stale(profile),
        _levels(LEVELS, adapting=True),
        _levels((PAIR, (1.0, 3.0)), adapting=False),
        _swapped(),
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
    tasks = _growths(profile, order)
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


def _rate(profile: Profile, order: Order) -> Claim:
    tasks = _growths(profile, order)
    cells = []
    for (d, level), task in tasks.items():
        where = {"d": d, "at": level, "order": order}
        cells += [
            _exponent_cell(where, task, "fluctuation", -0.5, -1.0),
            _exponent_cell(where, task, "mean", -1.0, -0.5),
            _constant_cell(where, task, "fluctuation", 2),
            _constant_cell(where, task, "mean", 1),
        ]
    constant = r"(1 + s)\left(2 (cvs)^2 + \frac{d + 1}{(1 + s)^4}\right), \quad s = \sigma_i^2"
    return Claim(
        id=f"lt.noise-adaptive/rate/{order}",
        title=f"How fast the two layers, {WORDS[order]}, approach ridge",
        statement=rf"\tfrac{{n}}{{d}} \mathbb{{E}} \|w - w_{{\mathrm{{ridge}}}}\|^2 \to {constant}, \qquad \mathbb{{E}} \langle w - w_{{\mathrm{{ridge}}}}, w^* \rangle = O(1/n)",
        source=THEOREM,
        assumptions=(*ASSUMED, f"$\\sigma_1 = {PAIR[0]:g}$, $\\sigma_2 = {PAIR[1]:g}$", WORDS[order]),
        claimed="n^(-1/2) fluctuation, 1/n mean, and both constants",
        control="1/n fluctuation, n^(-1/2) mean, constants 1 % larger",
        expected="supported",
        cells=tuple(cells),
        finding=(
            "The theorem states no rate. What is left is mostly chance: $\\lambda/n$ fluctuates by $\\sigma^2 \\sqrt{2/n}$ and $\\Sigma$ by $n^{-1/2}$ around $\\mathbf{I}$, which two scalar weights cannot follow. The mean difference is a power smaller; with "
            "$b = (1-c)^2$ or, if $\\omega_{yy}$ acts first, $b = 1$, its limit is $\\frac{n}{d} \\mathbb{E}\\langle w - w_{\\mathrm{ridge}}, w^* \\rangle \\to cv(b(d+2)(1+s) - ds) + (d+1)s/(1+s)^3$."
        ),
    )


def _growths(profile: Profile, order: Order) -> dict[tuple[int, str], Task]:
    points = 17 if profile.name == "quick" else 25
    return {
        (d, f"sigma_{1 + second}"): Task(difference_growth, (d, *PAIR, bool(second), order, points))
        for d in EXACT_D
        for second in (0, 1)
    }


def _exponent_cell(where: dict[str, Any], task: Task, which: str, exponent: float, twin: float) -> CellPlan:
    def read(found: DifferenceGrowth, _: Allowed) -> Reading:
        growth = getattr(found, which)
        return Reading(Interval.around(growth.exponent, growth.error))

    return CellPlan(
        where=where,
        task=task,
        quantity=f"limit exponent in n of the {which}",
        read=read,
        claimed=f"= {exponent:g}",
        allowed=Allowed.near(exponent, RATE),
        control=Allowed.near(twin, RATE),
    )


def _constant_cell(where: dict[str, Any], task: Task, which: str, power: int) -> CellPlan:
    """The limit of n times the square, or n times the mean, over what is derived for it."""

    def read(found: DifferenceGrowth, _: Allowed) -> Reading:
        growth = getattr(found, which)
        derived = found.leading_square if which == "fluctuation" else abs(found.leading_mean)
        limit, error = growth.limit_of_ratio(-1 / power)
        return Reading(Interval((limit - error) ** power / derived, (limit + error) ** power / derived))

    return CellPlan(
        where=where,
        task=task,
        quantity=f"limit of n times the {'mean square' if power == 2 else 'mean'} over the derived one",
        read=read,
        claimed="= 1",
        allowed=Allowed.near(1.0, 10 * RATE),
        control=Allowed.near(1.01, 10 * RATE),
    )


def _stale(profile: Profile) -> Claim:
    return Claim(
        id="lt.noise-adaptive/fixed-weights",
        title="The same two weights for every length of the context",
        statement=r"\exists\, \omega_{yx}, \omega_{yy} \text{ independent of } n: \quad \mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 \to 0",
        source=READING,
        assumptions=(
            *ASSUMED[:2],
            "$\\omega_{yy} = v/100$, right at $n = 100$, is kept for every $n$",
            f"$\\sigma_1 = {PAIR[0]:g}$, $\\sigma_2 = {PAIR[1]:g}$, $d = 1$",
        ),
        claimed="distance from ridge falls as a power of n",
        control="it falls like 1/n or faster",
        expected="refuted",
        cells=(
            CellPlan(
                where={"d": 1, "at": "sigma_2"},
                task=Task(stale_growth, (*PAIR, 17 if profile.name == "quick" else 25)),
                quantity="limit exponent of the root mean square distance in n",
                read=lambda found, _: Reading(Interval.around(found.exponent, found.error)),
                claimed="< 0",
                allowed=Allowed(high=0.0, open=True),
                control=Allowed(high=-1.0),
            ),
        ),
        corrected=r"$\omega_{yy} = -1/(n(1 + \sigma_1^2 + \sigma_2^2))$: the weight of the sum of squares must fall like $1/n$",
        finding=(
            "The sum of squared labels is not normalised by $\\mathbf{I}/n$: $\\lambda \\approx n\\sigma^2$. With any fixed $\\omega_{yy} \\neq 0$ the factor $1 + \\omega_{yy}\\lambda$ grows like $n$; with $\\omega_{yy} = 0$ there is one number for two levels. "
            "The theorem is about a model for each length."
        ),
    )


def _levels(cases: tuple[tuple[float, ...], ...], adapting: bool) -> Claim:
    name = "three-levels" if adapting else "one-layer"
    task = {case: Task(worst_of, (case, adapting)) for case in cases}
    return Claim(
        id=f"lt.noise-adaptive/{name}",
        title="Two layers serve three noise levels"
        if adapting
        else "One layer with both weights serves two noise levels",
        statement=r"\min_{c, v} \max_i |c (1 + v \sigma_i^2)(1 + \sigma_i^2) - 1| = 0, \quad i = 1, 2, 3"
        if adapting
        else r"\min_{c} \max_i |c (1 + \sigma_i^2) - 1| = 0, \quad i = 1, 2",
        source=TWIN,
        assumptions=ASSUMED,
        claimed="relative distance from ridge = 0 in the limit",
        control="at least 1",
        expected="refuted",
        cells=tuple(
            CellPlan(
                where={"levels": ", ".join(f"{sigma:g}" for sigma in case)},
                task=each,
                quantity="least worst relative distance",
                read=lambda found, _: Reading(Interval.around(*found)),
                claimed="= 0",
                allowed=Allowed(low=0.0, high=1e-9),
                control=Allowed(low=1.0),
                method="exact",
            )
            for case, each in task.items()
        ),
        cross_checks=tuple(
            CrossPlan(
                where={"levels": ", ".join(f"{sigma:g}" for sigma in case)},
                quantity="least worst relative distance",
                methods=("linear programming", "alternation"),
                tasks=(each, Task(alternating, (case, adapting))),
                read=side_by_side,
            )
            for case, each in task.items()
        ),
        corrected="two layers serve two levels and no three: $1/(1 + s)$ is strictly convex and a line in $s = \\sigma^2$ meets it at most twice"
        if adapting
        else r"two layers are needed: in one, $\omega_{yy}$ multiplies a prediction that is still 0, so that $w = -\omega_{yx} \alpha$",
        finding="The worst relative error alternates in sign over the levels, with the same size at each: more layers with $\\omega_{yy}$ raise the degree in $\\sigma^2$ and serve more levels."
        if adapting
        else "The least worst error is $|\\sigma_2^2 - \\sigma_1^2| / (2 + \\sigma_1^2 + \\sigma_2^2)$. Neither claim is printed: they say that the theorem's two layers are needed, and what they are enough for.",
    )


def _swapped() -> Claim:
    return Claim(
        id="lt.noise-adaptive/swapped",
        title="The same two numbers with their roles exchanged",
        statement=r"\mathbb{E} \|w - w_{\mathrm{ridge}}\|^2 \to 0 \text{ with } \omega_{yx} = v/n, \ \omega_{yy} = -c",
        source=TWIN,
        assumptions=(*ASSUMED[:2], f"$\\sigma_1 = {PAIR[0]:g}$, $\\sigma_2 = {PAIR[1]:g}$, $d = 1$, $n = 10^8$"),
        claimed="root mean square distance ≤ 0.1 at n = 1e8",
        control="≤ 0.01",
        expected="refuted",
        cells=(
            CellPlan(
                where={"d": 1, "n": 1e8},
                task=Task(swapped_distance, (*PAIR, 1e8)),
                quantity="root mean square distance from ridge",
                read=lambda found, _: Reading(Interval.around(*found)),
                claimed="≤ 0.1",
                allowed=Allowed(high=0.1),
                control=Allowed(high=0.01),
            ),
        ),
        corrected=r"$\omega_{yx} = -c$ and $\omega_{yy} = v/n$; exchanged, $w \to cv\sigma^2 \alpha$, which even has the wrong sign",
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
