"""What stands behind a verdict: the evidence of its own cells, or a proof of the same statement beside it."""

from __future__ import annotations

from collections.abc import Iterable

from lipverify.claims.ledger.record import Grade, Record, Scalar, weakest


def behind(judged: Iterable[Record], records: Iterable[Record]) -> Grade | None:
    """The weakest grade of what stands behind some verdicts, `records` being all readings of the statement.

    A claim that another one proves, with the same verdict and wherever it was measured, has the grade of its proof. A
    claim is refuted at one point: there a proof at one of its points is enough.
    """
    proofs = {record.proves: record for record in records if record.proves}
    grades = (proofs[each.id].grade if _covered(each, proofs.get(each.id)) else each.grade for each in judged)
    return weakest(grade for grade in grades if grade is not None)


def contradicted(records: Iterable[Record]) -> list[tuple[Record, Record]]:
    """Claims that are decided one way, each with the claim that proves it the other way."""
    every = {record.id: record for record in records}
    pairs = ((every.get(record.proves), record) for record in every.values())
    return [(claim, proof) for claim, proof in pairs if claim and {claim.verdict, proof.verdict} == _OPPOSITE]


_OPPOSITE = {"supported", "refuted"}


def _covered(claim: Record, proof: Record | None) -> bool:
    """Whether a proof supports a claim at all its points, or refutes it at one, by the coordinates that all have."""
    if proof is None or proof.verdict != claim.verdict or not proof.control.caught:
        return False
    every = [cell.where.keys() for cell in (*claim.cells, *proof.cells)]
    shared = set.intersection(*map(set, every)) if every else set()

    def points(record: Record) -> set[tuple[Scalar, ...]]:
        refuted = record.verdict == "refuted"
        cells = [cell for cell in record.cells if cell.verdict == "refuted"] if refuted else record.cells
        return {tuple(cell.where[name] for name in sorted(shared)) for cell in cells}

    if claim.verdict == "refuted":
        return bool(points(claim) & points(proof))
    return points(claim) <= points(proof)
