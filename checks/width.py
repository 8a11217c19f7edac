r"""The rebuttal on infinite width: a wider inner dimension of M = M_K^T M_Q leaves the optimum as it is."""

from __future__ import annotations

from functools import partial
from typing import Any

from checks._running import run_file
from checks._slides import ASSUMED, LAWS
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.figure import Figure, Panel, Series
from lipverify.claims.ledger import Source
from lipverify.claims.registry import Profile
from lipverify.claims.softmax.width import factored_descent
from lipverify.claims.verdict import Allowed, Interval

REBUTTAL = Source(
    paper="R",
    place="Global rebuttal, point 3",
    printed=r"increasing the inner dimension of $\mathbf{M}_K^\top \mathbf{M}_Q$ will not change the optimal value of "
    r"$\mathbf{M} = \mathbf{M}_K^\top \mathbf{M}_Q$, so our results will not change",
)
N, CASES = 20, (("affine", 2), ("affine", 3), ("relu", 2))
MULTIPLES = (1, 2, 4)
SAME_LOSS, SAME_MATRIX = 1e-3, 0.5
"""How much of the loss a descent may miss; and how far its M may be from M*, in half-widths of what sampling leaves open."""
MISSED = 0.05
"""The control: what a factor that is too narrow misses at least."""


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Widths r >= d, law by law; and whether a width below d would do."""
    return (*(_wide(profile, law) for law in LAWS), _narrow(profile))


def _task(profile: Profile, law: str, d: int, width: int) -> Task:
    contexts = 1024 if profile.name == "quick" else 8192
    return Task(factored_descent, (law, d, N, width, contexts, profile.seed))


def _wide(profile: Profile, law: str) -> Claim:
    tasks = {(d, m * d): _task(profile, law, d, m * d) for name, d in CASES if name == law for m in MULTIPLES}
    losses = tuple(
        _excess(law, d, r, task, "|.| <= 0.1 %", Allowed(low=-SAME_LOSS, high=SAME_LOSS), Allowed(low=MISSED))
        for (d, r), task in tasks.items()
    )
    matrices = tuple(
        CellPlan(
            where={"d": d, "n": N, "law": law, "width": r},
            task=task,
            quantity="largest |M - M*| in half-widths of its sampling interval",
            read=lambda found, _: Reading(Interval(0.0, found.distance)),
            claimed=f"<= {SAME_MATRIX}",
            allowed=Allowed(high=SAME_MATRIX),
            control=Allowed(low=5.0),
            method="montecarlo",
        )
        for (d, r), task in tasks.items()
    )
    return Claim(
        id=f"softmax.width/{law}",
        title=f"A wider inner dimension leaves the optimum as it is, {law} law",
        statement=r"\min_{\mathbf{M}_K, \mathbf{M}_Q \in \mathbb{R}^{r \times d}} \mathcal{L}(\mathbf{M}_K^\top \mathbf{M}_Q) = \min_{\mathbf{M}} \mathcal{L}(\mathbf{M}) "
        r"\quad \text{for } r \geq d",
        source=REBUTTAL,
        assumptions=(
            ASSUMED[0],
            f"{law} law",
            f"$n = {N}$, $L = \\sigma = 1$",
            "all widths on the same sampled contexts",
        ),
        claimed="the same loss and the same M for r = d, 2d, 4d",
        control="a loss 5 % larger; M 5 half-widths away: what r = 1 gives",
        expected="supported",
        cells=(*losses, *matrices),
        figures=partial(_figure, tasks, law),
        finding=(
            "For $r \\geq d$ every $d \\times d$ matrix is a product $\\mathbf{M}_K^\\top \\mathbf{M}_Q$, so the two minima are over the same set; that is all the statement says, and it needs no "
            "infinite width. That descents on the factors also find it is seen here: from small random starts, for each width, they end at the minimiser over $\\mathbf{M}$ itself."
        ),
    )


def _narrow(profile: Profile) -> Claim:
    tasks = {(law, d): _task(profile, law, d, 1) for law, d in CASES}
    return Claim(
        id="softmax.width/narrow",
        title="The inner dimension does not matter at all",
        statement=r"\min_{\mathbf{M}_K, \mathbf{M}_Q \in \mathbb{R}^{r \times d}} \mathcal{L}(\mathbf{M}_K^\top \mathbf{M}_Q) = \min_{\mathbf{M}} \mathcal{L}(\mathbf{M}) "
        r"\quad \text{for } r = 1",
        source=REBUTTAL,
        assumptions=(ASSUMED[0], f"$n = {N}$, $L = \\sigma = 1$", "all widths on the same sampled contexts"),
        claimed="the same loss for r = 1 < d",
        control="twice the loss",
        expected="refuted",
        cells=tuple(
            _excess(law, d, 1, task, "|.| <= 0.1 %", Allowed(low=-SAME_LOSS, high=SAME_LOSS), Allowed(low=1.0))
            for (law, d), task in tasks.items()
        ),
        corrected=r"any inner dimension $r \geq d$ leaves the optimum as it is",
        finding=(
            "The rebuttal speaks of increasing the width, and its sentence is true from $r = d$ on. Below, the set is that of the matrices of rank at most $r$, and $w \\mathbf{I}$ is not in it. "
            "Corrected: the inner dimension does not matter as long as it is at least $d$."
        ),
    )


def _excess(law: str, d: int, r: int, task: Task, claimed: str, allowed: Allowed, control: Allowed) -> CellPlan:
    return CellPlan(
        where={"d": d, "n": N, "law": law, "width": r},
        task=task,
        quantity="loss reached over the minimum over all M, less 1",
        read=lambda found, _: Reading(Interval.around(*found.excess)),
        claimed=claimed,
        allowed=allowed,
        control=control,
        method="montecarlo",
    )


def _figure(tasks: dict[tuple[int, int], Task], law: str, results: dict[str, Any]) -> tuple[Figure, ...]:
    """The distance from the minimiser over M, against the width."""
    dimensions = dict.fromkeys(d for d, _ in tasks)
    series = tuple(
        Series(
            label=f"$d = {d}$",
            x=tuple(float(r) for k, r in tasks if k == d),
            y=tuple(results[task.address].distance for (k, _), task in tasks.items() if k == d),
            style="points",
        )
        for d in dimensions
    )
    panel = Panel(
        title=f"descents on the factors, {law} law",
        xlabel="inner dimension $r$",
        ylabel="$|M - M^*|$ / sampling half-width",
        xscale="linear",
        series=series,
    )
    caption = "How far the matrix reached by a descent on both factors is from the minimiser over all matrices, largest entry, in half-widths of the 95 % sampling interval."
    return (Figure(caption=caption, alt=f"Distance from M* against the inner dimension, {law} law.", panels=(panel,)),)


if __name__ == "__main__":
    run_file(__file__)
