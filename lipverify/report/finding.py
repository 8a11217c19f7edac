"""What differs from what is printed: one finding for all readings of a statement."""

from __future__ import annotations

from collections.abc import Sequence

from lipverify.claims.ledger import Cell, Record
from lipverify.report import coordinates, digits, readings
from lipverify.report.model import Case, Finding
from lipverify.report.text import printable, rich
from lipverify.report.topic import origins, tables


def finding(records: Sequence[Record], *, anchor: str, topic: str) -> Finding:
    """The finding on one statement, from the readings that are refuted or replaced by something sharper."""
    differing = [record for record in records if readings.differs(record)]
    return Finding(
        anchor=anchor,
        topic=topic,
        stem=printable(readings.stem(records[0])),
        title=rich(readings.title(records)),
        refuted=any(record.verdict == "refuted" for record in differing),
        sources=origins(differing),
        corrected=readings.remarks(differing, lambda record: (record.corrected,)),
        cases=tuple(case(record) for record in differing),
        why=readings.remarks(differing, lambda record: (record.finding or record.measured,)),
        tables=tables(records),
    )


def case(record: Record) -> Case:
    """The smallest case that refutes a claim, or the one that comes closest to refuting it."""
    cell = telling_cell(record)
    checked = dict.fromkeys(m for check in record.cross_checks for m in check.methods)
    methods = list(dict.fromkeys([*(c.method for c in record.cells), *checked]))
    return Case(
        reading=printable(readings.label(record) or "–"),
        claimed=rich(record.claimed),
        verdict=record.verdict,
        where=rich(coordinates.words(cell.where) if cell else "–"),
        measured=digits.with_error(cell.measured, cell.error) if cell else digits.MISSING,
        margin=digits.signed(cell.margin if cell else record.margin),
        methods=rich(", ".join(methods)),
    )


def telling_cell(record: Record) -> Cell | None:
    """The smallest cell that refutes a claim; else the one with the least margin; `None` without evidence."""
    refuting = [cell for cell in record.cells if cell.verdict == "refuted"]
    if refuting:
        return refuting[coordinates.smallest(cell.where for cell in refuting)]
    bounded = [cell for cell in record.cells if cell.margin is not None]
    return min(bounded, key=lambda cell: cell.margin or 0.0, default=None)
