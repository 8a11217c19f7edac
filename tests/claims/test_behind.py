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


def both(*dimensions: int, found: float = 1.0) -> Ledger:
    """A sampled claim at d = 2 and 3, n = 10, and a proof of it in some dimensions."""
    claim = toys.claim(*(cell(1.0, "sampled", d=d, n=10) for d in (2, 3)), id="toy.one")
    proof = toys.claim(*(cell(found, "proved", d=d) for d in dimensions), id="toy.one/proved", proves="toy.one")
    return run([claim, proof], jobs=0)


@pytest.mark.parametrize(
    ("ledger", "grade"),
    [(both(2, 3, 5), "proved"), (both(2, 5), "sampled"), (both(2, 3, found=1.3), "sampled")],
)
def test_a_proof_counts_if_it_covers_the_whole_claim_with_the_same_verdict(ledger: Ledger, grade: str) -> None:
    assert behind(ledger.claims[:1], ledger.claims) == grade


def refuted(*dimensions: int, found: float) -> Ledger:
    """A claim that samples refute at d = 2 and 3, and a proof in some dimensions."""
    claim = toys.claim(
        *(toys.cell(Measurement(drawn, (1.3,)), NEAR_ONE, FALSE, where={"d": d}) for d in (2, 3)), id="toy.one"
    )
    proof = toys.claim(*(cell(found, "proved", d=d) for d in dimensions), id="toy.one/proved", proves="toy.one")
    return run([claim, proof], jobs=0)


@pytest.mark.parametrize(
    ("ledger", "grade"),
    [(refuted(3, 5, found=1.3), "proved"), (refuted(5, found=1.3), "sampled"), (refuted(3, found=1.0), "sampled")],
)
def test_one_point_that_is_disproved_is_enough_if_it_is_one_of_the_claim(ledger: Ledger, grade: str) -> None:
    assert ledger.claims[0].verdict == "refuted"
    assert behind(ledger.claims[:1], ledger.claims) == grade


def test_a_claim_and_its_proof_that_contradict_each_other_are_found_by_the_audit() -> None:
    assert audit(both(2, 3)) == ()
    (found,) = audit(both(2, 3, found=1.3))
    assert (found.id, found.stated, found.follows) == ("toy.one", "supported", "refuted, by toy.one/proved")


def test_a_proof_of_an_absent_claim_is_no_fault() -> None:
    ledger = run([toys.claim(cell(1.3, "proved", d=2), proves="toy.gone")], jobs=0)
    assert audit(ledger) == ()
