r"""Empirical generalization: the families, what is measured on them, and what "does well" means.

Attention "does well" on a family if its loss is within a factor of two of that of the attention tuned to the family
(at the sizes of an experiment), or within any constant factor as n grows (the same rate).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import sympy

from checks._generalization import curves_figure, mistuning_at, name_of, transfer_agreement, transferred_power
from checks._slides import ASSUMED, slides
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.figure import Figure
from lipverify.claims.registry import Profile
from lipverify.claims.softmax.transfer import Table, Transfers, factor_table, transfers
from lipverify.claims.verdict import Allowed, Interval
from lipverify.laws import Affine, ReLU
from lipverify.loss.asymptotic import leading
from lipverify.scaling import Growth

SUFFICIENT = slides(
    "Empirical Generalization",
    "3 attention units, pretrained on Affine, ReLU, and Cosine tasks with $L=1$; tested on Affine, ReLU, Cosine, with $L=1$; "
    "all three generalize to all test distributions since $L$ is the same",
)
NECESSARY = slides(
    "Empirical Generalization",
    "3 attention units, pretrained on Affine tasks with $L=1$, Cosine with $L=0.1$, Cosine with $L=10$; tested on Cosine tasks with "
    "$L=1$; only pretraining on the same Lipschitzness generalizes",
)
AFFINE, RELU, COSINE = ("affine", 1.0), ("relu", 1.0), ("cosine", 1.0)
SMOOTH, ROUGH = ("cosine", 0.1), ("cosine", 10.0)
SAME = (AFFINE, RELU, COSINE)
EVERY = (*SAME, SMOOTH, ROUGH)
PAIRS = tuple((i, j) for i in range(3) for j in range(3) if i != j)
SMOOTHNESS = {"affine": Affine(), "relu": ReLU(), "cosine": Affine()}
"""A law with the same power of w in its bias: that of the cosine takes long to derive, and is that of any smooth law."""
START = 1e9
"""Below this n the best window for the smooth cosine is w = 0 at sigma = 1: its values differ by less than the noise."""
SHORT = {AFFINE: 100.0, SMOOTH: 100.0, ROUGH: 1000.0}
"""Contexts that are sampled: at n = 100 the rough cosine's best window is 0 and known to rounding only."""
EXPERIMENT_D, SIGMA = 3, 0.3
SETTLED = 8
"""The largest d where the factors of pairs with a kink settle before n = 1e30: their corrections fall like n^{-1/(d+2)}."""
WELL = 2.0
"""The factor over the tuned attention up to which an experiment's curves read as the same."""


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """Measured factors of every family on those with L = 1, and the derived limits for the smooth ones on the cosine."""

    table: Transfers
    derived: tuple[float | None, ...]


def prices(d: int, points: int) -> Prices:
    """The table of factors along n, and what the leading terms say of its last column."""
    limits = [mistuning_at(family, COSINE, d) if family != RELU else None for family in EVERY]
    return Prices(table=transfers(EVERY, SAME, d, points, False, START), derived=tuple(limits))


def tasks_of(profile: Profile) -> dict[int, Task]:
    """The table of factors in each dimension; all claims of both rows read it."""
    if profile.name == "full":
        return {k: Task(prices, (k, profile.points)) for k in profile.dimensions if k <= SETTLED}
    return {k: Task(prices, (k, 8)) for k in (2, 5)}


def factor(i: int, j: int, result: Prices) -> Growth:
    """The loss of window i on family j over that of the window tuned to j, along n."""
    return result.table.factors[i][j]


def factor_power(i: int, j: int) -> sympy.Expr:
    """The derived power of n in the factor of window i on family j."""
    trained, tested = (SMOOTHNESS[EVERY[k][0]] for k in (i, j))
    return sympy.factor(transferred_power(trained, tested) - leading(tested).loss_exponent)


def factor_figure(profile: Profile, pairs: tuple[tuple[int, int], ...], results: dict[str, Any]) -> tuple[Figure, ...]:
    """Factors against n, one curve a pair."""
    table = results[tasks_of(profile)[5].address].table
    return curves_figure(
        {f"{name_of(EVERY[i])} on {name_of(EVERY[j])}": table.factors[i][j] for i, j in pairs},
        "$n$",
        "loss over that of the tuned window",
        "price of another training family, $d = 5$",
        "The loss of a window trained on one family and tested on another, over that of the window tuned to the tested family.",
    )


def experiment(profile: Profile, row: str) -> Claim:
    """Factors at the sizes that an experiment has."""
    enough = row == "sufficient"
    lengths = (10000.0,) if profile.name == "quick" else (100.0, 1000.0, 10000.0)
    pairs = PAIRS if enough else ((0, 2), (3, 2), (4, 2))
    within, beyond = Allowed(high=WELL), Allowed(low=WELL, open=True)

    def cell(i: int, j: int, n: float) -> CellPlan:
        good = enough or i == 0
        return CellPlan(
            where={"d": EXPERIMENT_D, "n": int(n), "law": f"{name_of(EVERY[i])} to {name_of(EVERY[j])}"},
            task=Task(factor_table, (EVERY, SAME, EXPERIMENT_D, n, SIGMA)),
            quantity="loss over that of the tuned window",
            read=partial(_read_table, i, j),
            claimed=f"≤ {WELL:g}" if good else f"> {WELL:g}",
            allowed=within if good else beyond,
            control=beyond if good else within,
        )

    return Claim(
        id=f"softmax.lipschitz-{row}/experiment",
        title="Trained on three classes with L = 1, tested on each: at the sizes of an experiment"
        if enough
        else "Trained on affine L = 1, cosine L = 0.1 and L = 10, tested on cosine L = 1: at the sizes of an experiment",
        statement=rf"\frac{{\mathcal{{L}}(w^*_{{\text{{trained}}}})}}{{\mathcal{{L}}(w^*_{{\text{{tested}}}})}} \leq {WELL:g}"
        + ("" if enough else r" \quad \text{for affine } L = 1 \text{ alone}"),
        source=SUFFICIENT if enough else NECESSARY,
        assumptions=(*ASSUMED, f"$d = {EXPERIMENT_D}$, $\\sigma = {SIGMA}$: the slides do not give theirs"),
        claimed=f"factor ≤ {WELL:g}" if enough else f"factor ≤ {WELL:g} for affine L=1, > {WELL:g} for the cosines",
        control=f"factor > {WELL:g}" if enough else "the reverse",
        expected="supported",
        cells=tuple(cell(i, j, n) for n in lengths for i, j in pairs),
        cross_checks=transfer_agreement([(AFFINE, COSINE)], profile),
        finding=partial(_experiment_finding, Task(factor_table, (EVERY, SAME, EXPERIMENT_D, lengths[-1], SIGMA))),
    )


def _read_table(i: int, j: int, table: Table, _: Allowed) -> Reading:
    return Reading(Interval.around(*table.factors[i][j]))


def _experiment_finding(task: Task, results: dict[str, Any]) -> str:
    table: Table = results[task.address]
    windows = ", ".join(
        f"{name_of(family)} $w^* = {w if w > error else 0:.3g}$"
        for family, (w, error) in zip(EVERY, table.windows, strict=True)
    )
    return (
        f"At $n = {task.arguments[3]:g}$ the windows are: {windows}. Windows of the classes with $L = 1$ are within a third of each other, "
        "and the loss is flat at its minimum. The cosine with $L = 0.1$ moves by less than the noise, so the attention trained on it "
        "averages all tokens ($w^* = 0$)."
    )
