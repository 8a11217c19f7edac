r"""Theorem 4.2: labels that stay linear in the covariates are nearly orthogonal to the target x(1)^2."""

from __future__ import annotations

from functools import partial
from typing import Any

from checks._running import run_file
from checks.linear_transformers._expressive import ASSUMED, BEST, THEOREM, constant_cell, ladder_points, random_models
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task, side_by_side
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.linear_transformers.expressive import (
    exact_best,
    first_length_below,
    growth_in_dimension,
    growth_in_length,
)
from lipverify.claims.registry import Profile
from lipverify.claims.scaling import read_exponent
from lipverify.claims.verdict import Allowed, Interval

DIMENSIONS = (1, 2, 3, 5, 10, 30)


def claims(profile: Profile) -> tuple[Claim, ...]:
    """The order in n and in d, the constant, the tenth: for the best linear readout."""
    return (
        _length(profile),
        _dimension(profile),
        _tenth(),
    )


def _length(profile: Profile) -> Claim:
    tasks = {d: Task(growth_in_length, (d, ladder_points(profile))) for d in DIMENSIONS}
    models = random_models(profile)
    crosses = tuple(
        CrossPlan(
            where={"d": d, "n": n},
            quantity="n E cos² for the best v",
            methods=("exact", "montecarlo"),
            tasks=(Task(exact_best, (d, n)), task),
            read=lambda exact, found: side_by_side(exact, found.best),
        )
        for (d, n, _, _, aligned), task in models.items()
        if not aligned
    )
    return Claim(
        id="lt.expressive-limit/length",
        title="The best linear readout of a quadratic target is O((d/n)^(1/2)): order in n, and constant",
        statement=r"\sqrt{\mathbb{E} \cos^2} = O(n^{-1/2}), \qquad \sqrt{n\, \mathbb{E} \cos^2} \to \sqrt{d + 4}",
        source=THEOREM,
        assumptions=(*ASSUMED, BEST),
        claimed="O(n^(-1/2)), limit of n E cos² = d + 4",
        control="O(n^(-1)); limit d",
        expected="supported",
        cells=(
            *(
                _exponent_cell({"d": d}, task, "limit exponent of the cosine in n", "≤ -1/2", -0.5, -1.0)
                for d, task in tasks.items()
            ),
            *(constant_cell(d, task) for d, task in tasks.items()),
        ),
        cross_checks=crosses,
        extra_tasks=tuple(models.values()),
        figures=partial(_figure, tasks, models),
        finding=(
            "With $g = \\mathbf{X} e_1$ the columns span $g$ and a uniformly random $(d-1)$-dimensional subspace of its complement, so $\\cos^2 = q + (1-q) B$ with "
            "$q = (\\sum g^3)^2/(\\sum g^2 \\sum g^4)$ and an independent $B \\sim \\mathrm{Beta}(\\frac{d-1}{2}, \\frac{n-d}{2})$. $\\mathbb{E} q$ is a one-dimensional integral at every $n$; $n\\, \\mathbb{E} q$ rises to $15/3 = 5$, so that "
            "$\\mathbb{E} \\cos^2 \\leq (d+4)/n$. The constant of $\\sqrt{d/n}$ is $\\sqrt{5}$ at $d = 1$ and tends to 1."
        ),
        corrected=r"$\mathbb{E} \cos^2 \leq (d + 4)/n$ for the best linear readout, an equality in the limit",
    )


def _exponent_cell(
    where: dict[str, Any], task: Task, quantity: str, claimed: str, high: float, twin: float
) -> CellPlan:
    return CellPlan(
        where=where,
        task=task,
        quantity=quantity,
        read=lambda found, allowed: read_exponent(found, allowed),
        claimed=claimed,
        allowed=Allowed(high=high),
        control=Allowed(high=twin),
    )


def _dimension(profile: Profile) -> Claim:
    task = Task(growth_in_dimension, (21 if profile.name == "quick" else 41,))
    return Claim(
        id="lt.expressive-limit/dimension",
        title="The best linear readout of a quadratic target is O((d/n)^(1/2)): order in d",
        statement=r"\sqrt{\mathbb{E} \cos^2} = O(d^{1/2}) \quad (d \to \infty,\ d \ll n = 10^{30})",
        source=THEOREM,
        assumptions=(*ASSUMED, BEST),
        claimed="O(d^(1/2))",
        control="O(d^(1/4))",
        expected="supported",
        cells=(_exponent_cell({"n": 1e30}, task, "limit exponent of the cosine in d", "≤ 1/2", 0.5, 0.25),),
        finding="Tight for readouts that may know the target: each further column catches one more random direction. What transformers do is another claim.",
    )


def _tenth() -> Claim:
    return Claim(
        id="lt.expressive-limit/tenth",
        title="At most 0.1 for n much larger than d: where that begins",
        statement=r"\sqrt{\mathbb{E} \cos^2} \leq 0.1 \text{ for } n \geq 100 (d + 4)",
        source=THEOREM,
        assumptions=(*ASSUMED, BEST),
        claimed="the least such n is at most 100 (d + 4)",
        control="at most 90 (d + 4)",
        expected="supported",
        cells=tuple(
            CellPlan(
                where={"d": d},
                task=Task(first_length_below, (d, 0.1)),
                quantity="least n with root mean square cosine <= 0.1, over d + 4",
                read=partial(_over, d + 4),
                claimed="≤ 100",
                allowed=Allowed(high=100.0),
                control=Allowed(high=90.0),
            )
            for d in DIMENSIONS
        ),
        finding=(
            "For $n \\gg d$ stands for $n \\geq 100(d+4)$, in root mean square: the least $n$ is $100(d+4) - O(1)$. It is no bound for each context: $n \\cos^2$ tends in law to $5\\chi^2_1 + \\chi^2_{d-1}$, so that a "
            "share of contexts at this $n$, 32 % for $d = 1$ and 44 % for $d = 30$, lies above 0.1; all but 1 % lie below it from about $n = 3300$ on for $d = 1$, $6600$ for $d = 30$."
        ),
    )


def _over(divisor: int, found: int, _: Allowed) -> Reading:
    return Reading(Interval.around(found / divisor, 0.0))


def _figure(tasks: dict[int, Task], models: dict[tuple[Any, ...], Task], results: dict[str, Any]) -> tuple[Figure, ...]:
    """The cosine of the best readout against n, and that of transformers beside it."""
    best = Panel(
        title="the best linear readout",
        xlabel="$n$",
        ylabel="root mean square cosine",
        series=tuple(
            Series(label=f"$d = {d}$", x=results[task.address].s, y=results[task.address].values)
            for d, task in tasks.items()
        ),
    )
    d = tuple(float(model[0]) for model in models)
    found = [results[task.address] for task in models.values()]
    own = Panel(
        title="linear transformers",
        xlabel="$d$",
        ylabel="$n\\, E \\cos^2$",
        xscale="linear",
        yscale="linear",
        series=(
            Series(
                label="transformers, random weights",
                x=d,
                y=tuple(each.averaged[0] for each in found),
                error=tuple(each.averaged[1] for each in found),
                style="errorbars",
            ),
            Series(
                label="best readout",
                x=d,
                y=tuple(each.best[0] for each in found),
                error=tuple(each.best[1] for each in found),
                style="errorbars",
            ),
            Series(label="$d + 4$", x=(1.0, 10.0), y=(5.0, 14.0)),
            Series(label="5", x=(1.0, 10.0), y=(5.0, 5.0), style="dashed"),
        ),
    )
    caption = "Left: the exact root mean square cosine of the best linear readout of $x(1)^2$. Right: what transformers with random weights do, against that readout: the dimension does not enter."
    return (Figure(caption=caption, alt="Cosine with a quadratic target.", panels=(best, own)),)


if __name__ == "__main__":
    run_file(__file__)
