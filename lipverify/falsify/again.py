"""Test a counterexample by other methods: its losses by both exact routes, by ball arithmetic, and by sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lipverify.claims.ledger.verdict import Verdict
from lipverify.claims.plan.declaration import Sought
from lipverify.claims.plan.profile import Profile
from lipverify.falsify.trial import NotReached, Trial, a_process, in_time, tried
from lipverify.loss.methods import instead_of_exact, repeats

SECONDS = 20.0
"""Time limit of each other method, in seconds."""


@dataclass(frozen=True)
class Again:
    """The result of another method for the counterexample; no verdict if the method cannot compute it."""

    by: str
    verdict: Verdict | None
    measured: str


def again(trial: Trial, sought: Sought, profile: Profile) -> list[Again]:
    """Repeat the trial by each other method that can; one without bounds is used only if fewer than two others can."""
    found: list[Again] = []
    with a_process() as workers:
        for by, (method, _) in repeats().items():
            if not method.bounds and len([each for each in found if each.verdict is not None]) > 1:
                continue
            try:
                other = in_time(workers, SECONDS, _tried_by, sought, profile, by, trial.form, trial.place, profile)
            except NotReached as reason:
                other = Again(by, None, str(reason))
            found += [other] if other is not None else []
    return found


def _tried_by(sought: Sought, by: str, *again: Any) -> Again | None:
    """Make the trial by this method; None if the function requests no exact loss."""
    with instead_of_exact(by) as other:
        try:
            trial = tried(sought, *again)
            said = Again(by, trial.verdict, trial.measured)
        except NotReached as reason:
            said = Again(by, None, str(reason))
    return said if other.used else None
