r"""Theorem 5.1: GD++ is within epsilon |x_t| |w*| of least squares after O(log kappa + log log 1/epsilon) layers."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from checks._running import run_file
from checks.linear_transformers._second_order import ACCURACIES, ASSUMED, CHOSEN, CONDITIONS, THEOREM, order_cell
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.ledger import Table
from lipverify.claims.linear_transformers.second_order import (
    DECADES,
    METHODS,
    count_offsets,
    counts,
    layers_against_accuracy,
    layers_against_condition,
    matrix_residual,
    recursion_residual,
)
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval

COUNTED = (2.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e12, 1e30)
MATRICES = ((2.0, 4), (2.0, 9), (10.0, 6), (100.0, 8), (1e4, 12), (1e6, 15), (1e6, 17))
LOW, HIGH = -1.0, 2.0
"""L lies between these, counted from log(kappa)/log(gain) + log_2 log(1/epsilon)."""
_DERIVATION = (
    "Along an eigenvector of $\\Sigma$ with eigenvalue $t$ the tokens' second moment obeys $s' = s(1 + \\omega_{xx} s)^2$ and the residual "
    "$r' = r(1 + \\omega_{yx} s)$, with $s = t$ and $r = 1$ at first; the prediction misses least squares by $x_t^\\top r(\\Sigma) w^*$. With $k^2$ the condition number of "
    "the tokens' moment, the best $\\omega_{xx}$ is $-1/(\\mathrm{low}\\,(k^2 + k + 1))$, it leaves "
    "$k'^2 - 1 = \\frac{1}{27} ((k-1)(k+2)(2k+1))^2 / (k(k+1))^2$, and a last $\\omega_{yx}$ leaves $\\max|r| = (k^2-1)/(k^2+1)$. A large $k^2$ falls by the "
    "factor $27/4$ a layer; near 1, $k'^2 - 1 \\approx \\frac{3}{16}(k^2-1)^2$."
)


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Both terms as printed, one by one and together."""
    return (
        _condition(),
        _accuracy(),
        _together(profile),
    )


def _condition() -> Claim:
    tasks = {epsilon: Task(layers_against_condition, ("minimax", epsilon)) for epsilon in ACCURACIES}
    return Claim(
        id="lt.second-order/kappa",
        title="GD++ needs O(log κ) layers at a fixed accuracy",
        statement=r"L(\kappa, \epsilon) = O(\log \kappa) \quad (\kappa \to \infty,\ \epsilon \text{ fixed})",
        source=THEOREM,
        assumptions=(*ASSUMED, CHOSEN),
        claimed="L = O(log κ)",
        control="L = O((log κ)^(1/2))",
        expected="supported",
        cells=tuple(
            order_cell({"epsilon": epsilon}, task, "limit exponent of L in log κ") for epsilon, task in tasks.items()
        ),
        cross_checks=_matrices(),
        figures=partial(_figure, tasks),
        finding=(
            f"{_DERIVATION} The second method forms matrices $\\Sigma$ with that spectrum and runs the forward pass itself, in balls of 8192 bits: the "
            "residuals, down to $10^{-356}$, are the recursion's."
        ),
    )


def _accuracy() -> Claim:
    tasks = {kappa: Task(layers_against_accuracy, ("minimax", kappa)) for kappa in CONDITIONS}
    return Claim(
        id="lt.second-order/epsilon",
        title="GD++ needs O(log log 1/ε) layers at a fixed condition number",
        statement=r"L(\kappa, \epsilon) = O(\log \log 1/\epsilon) \quad (\epsilon \to 0,\ \kappa \text{ fixed})",
        source=THEOREM,
        assumptions=(*ASSUMED, CHOSEN),
        claimed="L = O(log log 1/ε)",
        control="L = O((log log 1/ε)^(1/2))",
        expected="supported",
        cells=tuple(
            order_cell({"kappa": kappa}, task, "limit exponent of L in log log 1/ε") for kappa, task in tasks.items()
        ),
        figures=partial(_accuracy_figure, tasks),
        finding="The ladder ends after $10^9$ layers: a double logarithm needs them. Each layer squares the residual, up to a constant.",
    )


def _together(profile: Profile) -> Claim:
    tasks = {
        (method, kappa): Task(count_offsets, (method, kappa))
        for method in METHODS
        for kappa in (COUNTED if profile.name == "full" else COUNTED[::2])
    }
    conditions = tuple(10.0**power for power in range(1, 7))
    table = {
        (method, decades): Task(counts, (method, conditions, decades))
        for method in METHODS
        for decades in (1, 12, 1000)
    }
    return Claim(
        id="lt.second-order/both",
        title="Both terms together: the count to within three layers, for every κ and ε",
        statement=r"L = \frac{\log \kappa}{\log g} + \frac{\log \log 1/\epsilon}{\log 2} + C, \quad -1 \leq C \leq 2, \qquad "
        r"g = \tfrac{27}{4} \text{ or, for weights that do not know } \kappa,\ \tfrac{9}{4}",
        source=THEOREM,
        assumptions=(
            *ASSUMED,
            CHOSEN,
            f"$\\kappa$ from 2 to $10^{{30}}$, $\\epsilon$ from $10^{{-1}}$ to $10^{{-{DECADES[-1]}}}$",
        ),
        claimed=f"{LOW:g} ≤ C ≤ {HIGH:g}",
        control="two layers fewer",
        expected="supported",
        cells=tuple(
            CellPlan(
                where={"weights": method, "kappa": kappa},
                task=task,
                quantity="C over all ε: least to largest",
                read=lambda found, _: Reading(Interval(*found)),
                claimed=f"in [{LOW:g}, {HIGH:g}]",
                allowed=Allowed(low=LOW, high=HIGH),
                control=Allowed(low=LOW - 2, high=-0.5),
                method="certified",
            )
            for (method, kappa), task in tasks.items()
        ),
        extra_tasks=tuple(table.values()),
        tables=partial(_table, conditions, table),
        finding="Every count is decided with balls of Arb, so none is a matter of rounding. The two terms add up with a bounded remainder; neither multiplies the other.",
    )


def _matrices() -> tuple[CrossPlan, ...]:
    """The recursion against the forward pass on matrices."""
    return tuple(
        CrossPlan(
            where={"kappa": kappa, "layers": layers, "d": 4},
            quantity="log10 of the largest relative error",
            methods=("recursion", "matrices"),
            tasks=(Task(recursion_residual, (kappa, layers)), Task(matrix_residual, (kappa, layers, 4, 0))),
            read=lambda one, other: ((one.log10, other.log10), (one.error, other.error)),
        )
        for kappa, layers in MATRICES
    )


def _table(
    conditions: tuple[float, ...], tasks: dict[tuple[str, int], Task], results: dict[str, Any]
) -> tuple[Table, ...]:
    """Whole layers by condition number and accuracy."""
    names = {"minimax": "best for $\\kappa$", "universal": "for every $\\kappa$"}
    return (
        Table(
            caption="Layers that GD++ needs, by condition number and accuracy.",
            header=(
                "weights",
                "$\\epsilon$",
                *(f"$\\kappa = 10^{{{round(math.log10(kappa))}}}$" for kappa in conditions),
            ),
            rows=tuple(
                (names[method], f"$10^{{-{decades}}}$", *map(str, results[task.address]))
                for (method, decades), task in tasks.items()
            ),
        ),
    )


def _figure(tasks: dict[float, Task], results: dict[str, Any]) -> tuple[Figure, ...]:
    """Layers against the condition number, for three accuracies."""
    series = []
    for epsilon, task in tasks.items():
        growth = results[task.address].layers
        kept = [(math.exp(s), layers) for s, layers in zip(growth.s, growth.values, strict=True) if s < 30]
        x, y = zip(*kept, strict=True)
        series.append(Series(label=f"$\\epsilon = {epsilon:g}$", x=x, y=y))
    panel = Panel(title="layers of GD++", xlabel="$\\kappa$", ylabel="layers", yscale="linear", series=tuple(series))
    caption = "Layers against the largest condition number that they manage at a given accuracy: straight lines of slope $1/\\log(27/4)$."
    return (Figure(caption=caption, alt="Layers against the condition number, three accuracies.", panels=(panel,)),)


def _accuracy_figure(tasks: dict[float, Task], results: dict[str, Any]) -> tuple[Figure, ...]:
    """Layers against log(1/epsilon)."""
    series = []
    for kappa, task in tasks.items():
        growth = results[task.address].layers
        kept = [(math.exp(s), layers) for s, layers in zip(growth.s, growth.values, strict=True) if s < 60]
        x, y = zip(*kept, strict=True)
        series.append(Series(label=f"$\\kappa = {kappa:g}$", x=x, y=y))
    panel = Panel(
        title="layers of GD++", xlabel="$\\log 1/\\epsilon$", ylabel="layers", yscale="linear", series=tuple(series)
    )
    caption = "Layers against $\\log 1/\\epsilon$ on a logarithmic axis: straight lines of slope $1/\\log 2$, moved apart by $\\log \\kappa / \\log(27/4)$."
    return (Figure(caption=caption, alt="Layers against the logarithm of the accuracy.", panels=(panel,)),)


if __name__ == "__main__":
    run_file(__file__)
