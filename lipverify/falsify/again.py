"""A counterexample by other methods: the losses that it rests on, by both exact routes, by balls, by sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lipverify.claims.ledger.verdict import Verdict
from lipverify.claims.plan.declaration import Sought
from lipverify.claims.plan.profile import Profile
from lipverify.falsify.trial import NotReached, Trial, tried
from lipverify.loss.methods import instead_of_exact

SECONDS = 20.0
"""What one other method may take."""
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "balls": ("certified", {}),
    "route ridge": ("exact", {"route": "ridge"}),
    "route zonal": ("exact", {"route": "zonal"}),
    "sampling": ("montecarlo", {"contexts": 20_000, "stream": "falsify"}),
}
"""Routes share no quadrature: the one that is not the usual one is another method."""
SAMPLED = ("sampling",)


@dataclass(frozen=True)
class Again:
    """What another method says of the counterexample; nothing where it does not reach it."""

    by: str
    verdict: Verdict | None
    measured: str


def again(trial: Trial, sought: Sought, profile: Profile) -> list[Again]:
    """The trial by each other method that reaches it; sampling only where no other one does."""
    found: list[Again] = []
    for by, (method, options) in METHODS.items():
        if by in SAMPLED and len([each for each in found if each.verdict is not None]) > 1:
            continue
        with instead_of_exact(method, **options) as other:
            try:
                form = sought.forms[trial.form]
                one = tried(form, trial.form, sought.family, trial.place, profile, SECONDS)
            except NotReached as reason:
                found += [Again(by, None, str(reason))] * bool(other.used)
                continue
        if other.used:
            found.append(Again(by, one.verdict, one.measured))
    return found
