r"""Whether free matrices P and Q end near diagonal ones."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from checks._running import run_file
from checks.linear_transformers._models import ASSUMED, DEEP, model, name_of
from checks.linear_transformers._table import D
from lipverify.claims.claim import CellPlan, Claim, Reading
from lipverify.claims.figure import Figure, HeatMap
from lipverify.claims.ledger import Source
from lipverify.claims.linear_transformers.shares import PART_NAMES, shares
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval, Verdict
from lipverify.linear_transformer.regression.noise import NoiseLaw, UniformNoise
from lipverify.linear_transformer.training.record import Trained

REBUTTAL = Source(
    paper="V",
    place="rebuttal, answer on the structure of the attention matrices",
    printed="full matrices converge to near-diagonal ones, with some structure",
)
NEAR = 0.1
"""The share of squared weights off the diagonal up to which a matrix is called near diagonal here."""
NOTHING = 0.999
"""What the control states; for a matrix of independent entries the share is d/(d + 1)."""


def claims(profile: Profile) -> tuple[Claim, ...]:
    """Two layers, where training ends at a diagonal model; three and more, where it does not."""
    return (_diagonal(profile, "two-layers", (2,), "supported"), _diagonal(profile, "deeper", (3, 4), "refuted"))


def _cases(layers: tuple[int, ...]) -> list[tuple[NoiseLaw, int]]:
    return [(noise, count) for noise in (UniformNoise(3.0), DEEP) for count in layers]


def _diagonal(profile: Profile, reading: str, layers: tuple[int, ...], expected: Verdict) -> Claim:
    tasks = {case: model(profile, case[0], "FULL", case[1]) for case in _cases(layers)}
    return Claim(
        id=f"lt.near-diagonal/{reading}",
        title=f"FULL ends near diagonal matrices, {' and '.join(map(str, layers))} layers",
        statement=r"\|\mathbf{P}_l - \mathrm{diag}\, \mathbf{P}_l\|_F^2 \ll \|\mathbf{P}_l\|_F^2, \quad \|\mathbf{Q}_l - \mathrm{diag}\, \mathbf{Q}_l\|_F^2 \ll \|\mathbf{Q}_l\|_F^2 \quad \text{for every layer}",
        source=REBUTTAL,
        assumptions=(
            *ASSUMED,
            "tokens rescaled to second moments of order 1; shares do not change under $\\mathbf{P} \\to c \\mathbf{P}$, $\\mathbf{Q} \\to \\mathbf{Q}/c$",
            "of the last $\\mathbf{P}$ only the row that the prediction reads",
        ),
        claimed=f"at most {NEAR:g} of the squared weights off the diagonal, in each matrix",
        control=f"at least {NOTHING:g} of them: next to nothing on the diagonal",
        expected=expected,
        cells=tuple(
            CellPlan(
                where={"noise": noise.label, "layers": count},
                task=task,
                quantity="largest share of squared weights off the diagonal, over layers and P, Q",
                read=_read,
                claimed=f"≤ {NEAR:g}",
                allowed=Allowed(high=NEAR),
                control=Allowed(low=NOTHING),
                method="training",
            )
            for (noise, count), task in tasks.items()
        ),
        figures=partial(_figures, tasks),
        finding=partial(_finding, tasks),
        corrected=CORRECTED if expected == "refuted" else "",
    )


CORRECTED = (
    "near-diagonal in all matrices but one or two: in the last layer but one most of the weight of $\\mathbf{P}$ is in its column "
    "$\\mathbf{P}_{xy} = v$. With $\\mathbf{Q} = \\mathrm{diag}(q_x \\mathbf{I}, q_y)$ that column adds "
    "$v (q_x \\langle \\alpha, x \\rangle + q_y \\lambda y)$ to every token: one direction of the covariates is given up to hold a multiple "
    "of the label, which diagonal heads cannot store there. Contexts have the same law in every rotated basis, so the direction of $v$ is chance; "
    "models that do this lose less than every diagonal model of their depth, those with four free weights included"
)


def _read(found: Trained, _: Allowed) -> Reading:
    largest = max(shares(found), key=lambda each: each.off)
    note = f"{largest.matrix} of layer {largest.layer}; " + ", ".join(
        f"{name} {part:.2g}" for name, part in zip(PART_NAMES, largest.parts, strict=True)
    )
    return Reading(Interval(largest.off, largest.off), note)


def _finding(tasks: dict[Any, Any], results: dict[str, Any]) -> str:
    said = []
    for (noise, count), task in tasks.items():
        each = shares(results[task.address])
        worst = max(each, key=lambda one: one.off)
        others = sorted(one.off for one in each)[:-1]
        said.append(
            f"{name_of(noise)}, {count} layers: off the diagonal at most {worst.off:.2g} (in ${worst.matrix}_{worst.layer}$: {worst.parts[1]:.2g} in the column $xy$), "
            f"then {others[-1]:.2g}"
        )
    return "; ".join(said) + "."


def _figures(tasks: dict[Any, Any], results: dict[str, Any]) -> tuple[Figure, ...]:
    """Heat maps of the deepest model under the last law."""
    (noise, count), task = list(tasks.items())[-1]
    found: Trained = results[task.address]
    maps = []
    for place, name in ((0, "P"), (1, "Q")):
        for layer, pair in enumerate(found.array, 1):
            matrix = pair[place] / np.abs(pair[place]).max()
            if place == 0 and layer == found.layers:
                matrix = np.where(np.arange(D + 1)[:, None] == D, pair[0] / np.abs(pair[0][-1]).max(), np.nan)
            maps.append(HeatMap(title=f"${name}_{layer}$", values=tuple(tuple(map(float, row)) for row in matrix)))
    return (
        Figure(
            maps=tuple(maps),
            across=found.layers,
            caption=f"FULL with {count} layers, {name_of(noise)}: P and Q by layer in rescaled units, each over its largest entry; the label is the last row and column. Blank: rows that nothing reads.",
            alt="Most matrices are diagonal; one P has a strong last column.",
        ),
    )


if __name__ == "__main__":
    run_file(__file__)
