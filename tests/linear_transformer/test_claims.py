"""The claims on what layers can and cannot do: verdicts as recorded, and controls with the opposite verdict."""

from __future__ import annotations

import pytest

from lipverify.claims.plan import library_claims, profile_named
from lipverify.claims.run import run
from lipverify.foundation.shipped import shipped

QUICK = profile_named("quick")


LONG = ("implicit_model", "expressive_limit")


@pytest.mark.parametrize(
    "name", ["diagonal", "momentum", "adaptive_step", *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)]
)
def test_verdicts_are_as_recorded_and_every_control_is_caught(name: str) -> None:
    ledger = run(library_claims(shipped() / "linear_transformers" / f"{name}.py", QUICK), jobs=0)
    for record in ledger.claims:
        assert (record.id, record.problem, record.verdict) == (record.id, "", record.expected)
        assert all(cell.caught for cell in record.cells), record.id
        assert all(cross.agrees for cross in record.cross_checks), record.id
        assert record.corrected or record.verdict == "supported", record.id
