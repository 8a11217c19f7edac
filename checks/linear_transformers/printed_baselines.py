r"""The printed ridge baselines, reproduced, and the floor of not knowing sigma."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from scipy.special import ndtri

from checks._running import run_file
from checks.linear_transformers._columns import ASSUMED, LEVEL, NOISY, laws, name_of, where
from checks.linear_transformers._table import BASELINES, SOURCE, D, N, Printed, printed_at
from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.linear_transformers.baselines import (
    Baselines,
    baselines,
)
from lipverify.claims.registry import Profile
from lipverify.claims.verdict import Allowed, Interval
from lipverify.linear_transformer.regression.noise import NoiseLaw

Z_BOTH = float(-ndtri(LEVEL / 2 / len(NOISY) / len(BASELINES)))
"""The same for each baseline in each column, both sides."""


def claims(profile: Profile) -> tuple[Claim, ...]:
    """ConstRR, AdaRR and TunedRR."""
    return (_baselines(profile),)


def _baselines(profile: Profile) -> Claim:
    contexts = 16_384 if profile.name == "quick" else 50_000
    tasks = {noise: Task(baselines, (noise, D, N, contexts, profile.seed)) for noise in laws(profile)}
    return Claim(
        id="lt.constant-ridge-bound/baselines",
        title="The printed ridge baselines",
        statement=r"\mathcal{L}_{\text{printed}} = \mathcal{L} \text{ for ConstRR, AdaRR, TunedRR}",
        source=SOURCE,
        assumptions=(
            *ASSUMED,
            "constants tuned on one sample of contexts, losses from another",
            "each printed number is a mean over 100,000 sequences, ridge with the true variance on the same",
        ),
        claimed=f"printed and reproduced agree within {Z_BOTH:.2f} standard errors",
        control="AdaRR that divides by n in place of n - d; for the others, the loss of ridge with the true variance not subtracted",
        expected="supported",
        cells=tuple(
            CellPlan(
                where={**where(noise), "model": name},
                task=task,
                quantity="(printed - reproduced) beyond rounding, in standard errors",
                read=partial(_read_baseline, printed_at(0, name, noise)),
                claimed=f"|.| ≤ {Z_BOTH:.2f}",
                allowed=Allowed(low=-Z_BOTH, high=Z_BOTH),
                control=WRONG,
                method="montecarlo",
            )
            for noise, task in tasks.items()
            for name in BASELINES
        ),
        finding=partial(_baseline_finding, tasks),
    )


WRONG = Allowed(low=-Z_BOTH, high=Z_BOTH, open=True)
"""The range of the falsified twin, which is read off another estimate."""


def _read_baseline(entry: Printed, found: Baselines, allowed: Allowed) -> Reading:
    twin = allowed == WRONG
    row = {"ConstRR": found.constant, "TunedRR": found.tuned}.get(
        entry.model, found.wrong_degrees if twin else found.adaptive
    )
    error = math.hypot(row.printed_error, row.loss.standard_error)
    own = found.oracle if twin and entry.model != "AdaRR" else 0.0
    difference = entry.value - row.loss.value - own
    distance = math.copysign(max(abs(difference) - entry.rounding, 0.0), difference) / error
    note = f"printed {entry.value:g}, reproduced {row.loss.value:.5f}, standard errors {row.printed_error:.5f} and {row.loss.standard_error:.5f}"
    return Reading(Interval(distance, distance), note)


def _baseline_finding(tasks: dict[NoiseLaw, Task], results: dict[str, Any]) -> str:
    """The tuned constants and the floor."""
    found = {noise: results[task.address] for noise, task in tasks.items()}
    constants = "; ".join(
        f"{name_of(noise)}: $\\lambda = {noise.second_moment:.4g}$, cap {b.cap:.3g} and factor {b.factor:.3g}, Bayes {b.floor.value:.4f} ({b.floor.standard_error:.1g})"
        for noise, b in found.items()
    )
    return f"The best constant is $\\mathbb{{E}} \\sigma^2$ exactly. Constants, and the loss of the estimator that knows the law of $\\sigma$ and nothing else, which is the floor for every model: {constants}."


if __name__ == "__main__":
    run_file(__file__)
