"""A statement covered by a proof has its grade; one covered in part or with another verdict keeps its own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from msgspec.structs import replace

from lipverify.claims.evidence.returned import returned  # internal: what a function returned, as a run reads it
from lipverify.claims.ledger import Allowed, Grade, Ledger, behind
from lipverify.claims.plan import CellPlan, Measurement
from lipverify.claims.run import run
from lipverify.claims.run.audit import audit
from lipverify.foundation.noted import makes, tell  # internal: toy methods leave notes as those of the library
from tests import toys

NEAR_ONE, FALSE = Allowed(0.9, 1.1), Allowed(1.2, 1.4)


@makes("sampled", "montecarlo")
def drawn(x: float) -> tuple[float, float]:
    return x, 0.01


def exact(x: float) -> Any:
    plain, known = returned(Fraction(str(x)))
    tell(known)
    return plain


def cell(x: float, grade: Grade, **where: Any) -> CellPlan:
    """A cell with this grade, as its method implies."""
    function = {"sampled": drawn, "exact": exact}[grade]
    return toys.cell(Measurement(function, (x,)), NEAR_ONE, FALSE, where=where)


def both(*dimensions: int, found: float = 1.0, drawn: float = 1.0) -> Ledger:
    """A sampled claim at d = 2 and 3, n = 10, and a proof of it in some dimensions; the claim allows 1 and not 1.3."""
    claim = toys.claim(*(cell(drawn, "sampled", d=d, n=10) for d in (2, 3)), id="toy.one")
    proof = toys.claim(*(cell(found, "exact", d=d) for d in dimensions), id="toy.one/proved", proves="toy.one")
    return run([claim, proof], jobs=0)


@pytest.mark.parametrize(
    ("ledger", "verdict", "grade"),
    [
        # a proof counts if it covers the whole claim with the same verdict
        (both(2, 3, 5), "supported", "exact"),
        (both(2, 5), "supported", "sampled"),
        (both(2, 3, found=1.3), "supported", "sampled"),
        # one point that is disproved is enough if it is one of the claim
        (both(3, 5, found=1.3, drawn=1.3), "refuted", "exact"),
        (both(5, found=1.3, drawn=1.3), "refuted", "sampled"),
        (both(3, found=1.0, drawn=1.3), "refuted", "sampled"),
    ],
)
def test_the_grade_behind_a_claim_is_that_of_a_proof_which_decides_it(ledger: Ledger, verdict: str, grade: str) -> None:
    assert ledger.claims[0].verdict == verdict
    assert behind(ledger.claims[:1], ledger.claims) == grade


@pytest.mark.parametrize(
    "changed",
    [
        {"quantity": "22/7"},
        {"allowed": Allowed(0.9, 3.2)},
        {"allowed": Allowed(0.9, 1.1, open=True)},
        {"where": {"d": 7}},
    ],
)
def test_a_proof_of_another_quantity_range_or_point_lifts_nothing(changed: dict[str, Any]) -> None:
    claim, proof = both(2, 3).claims
    cells = tuple(replace(cell, **changed) for cell in proof.cells)
    assert behind([claim], [claim, proof]) == "exact"
    assert behind([claim], [claim, replace(proof, cells=cells)]) == "sampled"


def test_a_claim_and_its_proof_that_contradict_each_other_are_found_by_the_audit() -> None:
    assert audit(both(2, 3)) == ()
    (found,) = audit(both(2, 3, found=1.3))
    assert (found.id, found.stated, found.follows) == ("toy.one", "supported", "refuted, by toy.one/proved")


def test_a_proof_of_an_absent_claim_is_no_fault() -> None:
    ledger = run([toys.claim(cell(1.3, "exact", d=2), proves="toy.gone")], jobs=0)
    assert audit(ledger) == ()
