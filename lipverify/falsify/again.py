"""Test a counterexample by other methods: its losses by both exact routes, by ball arithmetic, and by sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lipverify.claims.ledger.verdict import Verdict
from lipverify.claims.plan.declaration import Sought
from lipverify.claims.plan.profile import Profile
from lipverify.falsify.trial import NotReached, Trial, a_process, in_time, tried
from lipverify.loss.methods import instead_of_exact

SECONDS = 20.0
"""Time limit of each other method, in seconds."""
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "balls": ("certified", {}),
    "route ridge": ("exact", {"route": "ridge"}),
    "route zonal": ("exact", {"route": "zonal"}),
    "sampling": ("montecarlo", {"contexts": 20_000, "stream": "falsify"}),
}
"""The other methods. The two routes share no quadrature, so the one that the claim did not use is independent."""
SAMPLED = ("sampling",)


@dataclass(frozen=True)
class Again:
    """The result of another method for the counterexample; no verdict if the method cannot compute it."""

    by: str
    verdict: Verdict | None
    measured: str


def again(trial: Trial, sought: Sought, profile: Profile) -> list[Again]:
    """Repeat the trial by each other method that can; sampling is used only if no other method can."""
    found: list[Again] = []
    with a_process() as workers:
        for by, method in METHODS.items():
            if by in SAMPLED and len([each for each in found if each.verdict is not None]) > 1:
                continue
            again = (trial.form, trial.place, profile)
            try:
                other = in_time(workers, SECONDS, _tried_by, sought, profile, by, *method, *again)
            except NotReached as reason:
                other = Again(by, None, str(reason))
            found += [other] if other is not None else []
    return found


def _tried_by(sought: Sought, by: str, method: str, options: dict[str, Any], *again: Any) -> Again | None:
    """Make the trial by this method; None if the function requests no exact loss."""
    with instead_of_exact(method, **options) as other:
        try:
            trial = tried(sought, *again)
            said = Again(by, trial.verdict, trial.measured)
        except NotReached as reason:
            said = Again(by, None, str(reason))
    return said if other.used else None
