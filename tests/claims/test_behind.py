"""A statement covered by a proof has its grade; one covered in part or with another verdict keeps its own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from lipverify.claims.ledger import Allowed, Grade, Ledger, behind
from lipverify.claims.plan import CellPlan, Measurement, seen
from lipverify.claims.run import run
from lipverify.claims.run.audit import audit
from lipverify.foundation.noted import makes, tell  # internal: toy methods leave notes as those of the library
from tests import toys

NEAR_ONE, FALSE = Allowed(0.9, 1.1), Allowed(1.2, 1.4)


@makes("sampled", "montecarlo")
def drawn(x: float) -> tuple[float, float]:
    return x, 0.01


def exact(x: float) -> Any:
    plain, proofs = seen(Fraction(str(x)))
    tell(proofs)
    return plain


def cell(x: float, grade: Grade, **where: Any) -> CellPlan:
    """A cell with this grade, as its method implies."""
    function = {"sampled": drawn, "proved": exact}[grade]
    return toys.cell(Measurement(function, (x,)), NEAR_ONE, FALSE, where=where)


def both(*dimensions: int, found: float = 1.0, drawn: float = 1.0) -> Ledger:
    """A sampled claim at d = 2 and 3, n = 10, and a proof of it in some dimensions; the claim allows 1 and not 1.3."""
    claim = toys.claim(*(cell(drawn, "sampled", d=d, n=10) for d in (2, 3)), id="toy.one")
    proof = toys.claim(*(cell(found, "proved", d=d) for d in dimensions), id="toy.one/proved", proves="toy.one")
    return run([claim, proof], jobs=0)


@pytest.mark.parametrize(
    ("ledger", "verdict", "grade"),
    [
        # a proof counts if it covers the whole claim with the same verdict
        (both(2, 3, 5), "supported", "proved"),
        (both(2, 5), "supported", "sampled"),
        (both(2, 3, found=1.3), "supported", "sampled"),
        # one point that is disproved is enough if it is one of the claim
        (both(3, 5, found=1.3, drawn=1.3), "refuted", "proved"),
        (both(5, found=1.3, drawn=1.3), "refuted", "sampled"),
        (both(3, found=1.0, drawn=1.3), "refuted", "sampled"),
    ],
)
def test_the_grade_behind_a_claim_is_that_of_a_proof_which_decides_it(ledger: Ledger, verdict: str, grade: str) -> None:
    assert ledger.claims[0].verdict == verdict
    assert behind(ledger.claims[:1], ledger.claims) == grade


def test_a_claim_and_its_proof_that_contradict_each_other_are_found_by_the_audit() -> None:
    assert audit(both(2, 3)) == ()
    (found,) = audit(both(2, 3, found=1.3))
    assert (found.id, found.stated, found.follows) == ("toy.one", "supported", "refuted, by toy.one/proved")


def test_a_proof_of_an_absent_claim_is_no_fault() -> None:
    ledger = run([toys.claim(cell(1.3, "proved", d=2), proves="toy.gone")], jobs=0)
    assert audit(ledger) == ()
