r"""GD++ without noise: what a sample of contexts shows and what is expected over all."""

from __future__ import annotations

from functools import partial
from typing import Any

from checks._running import run_file
from checks.linear_transformers._columns import ASSUMED, GDPP, where
from checks.linear_transformers._table import NOISES, D, N, Printed, printed_at
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.ledger import Table
from lipverify.claims.linear_transformers.baselines import (
    Unseen,
    unseen_eigenvalues,
)
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval
from lipverify.linear_transformer.regression.adjusted import SEQUENCES


def claims(profile: Profile) -> tuple[Claim, ...]:
    """The printed entries against the least expected loss."""
    return (_expectation(profile),)


def _expectation(profile: Profile) -> Claim:
    depth = 4 if profile.name == "quick" else 6
    task, silent = Task(unseen_eigenvalues, (D, N, depth, float(SEQUENCES))), NOISES[0]
    entries = [printed_at(layers, "GD++", silent) for layers in range(2, depth + 1)]
    return Claim(
        id="lt.table-1/gd-plus-plus/expectation",
        title="The printed losses of GD++ without noise are expected losses",
        statement=r"\mathcal{L}_{\text{printed}}(\mathrm{GD}^{++}) \geq \min_\omega \mathbb{E}\, \mathcal{L}(\mathrm{GD}^{++}_\omega), \qquad \sigma = 0",
        source=GDPP,
        assumptions=(
            *ASSUMED,
            "the least expected loss is the best minimum found from several starts, not a proven bound",
        ),
        claimed="no printed entry is below the least expected loss",
        control="every printed entry is at least twice the least expected loss",
        expected="refuted",
        cells=tuple(
            CellPlan(
                where=where(silent, entry.layers),
                task=task,
                quantity="printed loss over the least expected loss found",
                read=partial(_read_expectation, entry),
                claimed="≥ 1",
                allowed=Allowed(low=1.0),
                control=Allowed(low=2.0),
            )
            for entry in entries
        ),
        finding=partial(_expectation_finding, task),
        corrected="the printed entries of four and more layers are means over the eigenvalues that a sample shows; the expected loss of such weights is larger by tens of orders of magnitude",
        tables=partial(_expectation_table, task),
    )


def _read_expectation(entry: Printed, found: Unseen, _: Allowed) -> Reading:
    expected, seen = found.expected[entry.layers - 1].loss, found.seen[entry.layers - 1].loss.value
    note = f"printed {entry.value:.3g}; least expected {expected.value:.3g}; least over what {SEQUENCES:,} contexts show {seen:.3g}"
    share = (entry.rounding + entry.value * expected.error / expected.value) / expected.value
    return Reading(Interval.around(entry.value / expected.value, share), note)


def _expectation_finding(task: Task, results: dict[str, Any]) -> str:
    found: Unseen = results[task.address]
    reach = found.seen[-1].reach
    return (
        f"The error polynomial $e$ has degree $(3^L - 1)/2$ in the eigenvalues of $\\Sigma$, whose density falls like $e^{{-t/2}}$. In {SEQUENCES:,} contexts one eigenvalue above {reach:.0f} is expected, and the weights that are best below it "
        f"lose {found.seen[3].loss.value:.3g} there with four layers, as printed; but their expected loss over all contexts is $10^{{{found.log10_expected[3]:.0f}}}$, all of it in contexts with eigenvalues above 200, of which there is less than one in $10^{{20}}$. "
        f"The least expected loss that was found is {found.expected[3].loss.value:.3g}, ten times what is printed. Neither number is wrong as the answer to its own question: a mean over any sample that can be drawn shows the first, and no standard error tells of the second."
    )


def _expectation_table(task: Task, results: dict[str, Any]) -> tuple[Table, ...]:
    found: Unseen = results[task.address]
    body = tuple(
        (
            str(layers),
            f"{printed_at(layers, 'GD++', NOISES[0]).value:.3g}",
            f"{seen.loss.value:.3g}",
            f"$10^{{{power:.1f}}}$",
            f"{expected.loss.value:.3g}",
        )
        for layers, (seen, power, expected) in enumerate(
            zip(found.seen, found.log10_expected, found.expected, strict=True), 1
        )
    )
    header = ("layers", "printed", "least on what is seen", "expected, same weights", "least expected")
    caption = f"GD++ without noise: the printed loss, the least loss over the eigenvalues that {SEQUENCES:,} contexts show, the exact expected loss of those weights, and the least expected loss found."
    return (Table(caption=caption, header=header, rows=body),)


if __name__ == "__main__":
    run_file(__file__)
