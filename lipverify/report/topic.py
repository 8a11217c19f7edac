"""All readings of one statement: what they share is said once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lipverify.claims.figure import Figure
from lipverify.claims.ledger import CrossCheck, Record
from lipverify.claims.ledger import Table as LedgerTable
from lipverify.report import coordinates, digits, readings, sources
from lipverify.report.agreement import agreements
from lipverify.report.drawings import joined
from lipverify.report.evidence import evidence
from lipverify.report.model import Drawing, Reading, Table, Topic
from lipverify.report.readings import Remark
from lipverify.report.text import formula, printable, rich

Draw = Callable[[Figure], Drawing]


@dataclass
class Printed:
    """What earlier topics have shown, so that it is referred to and not repeated."""

    figures: set[str] = field(default_factory=set)
    checks: dict[str, str] = field(default_factory=dict)
    """{cross-check: anchor of the topic that shows it}"""
    remarks: set[Remark] = field(default_factory=set)


def topic(records: Sequence[Record], draw: Draw, *, anchor: str, finding: str, printed: Printed) -> Topic:
    """The section on one statement; `finding` is the anchor of its finding, if there is one."""
    new, before = _drawings(records, draw, printed)
    fresh, checked_before = _checks(records, anchor, printed)
    return Topic(
        anchor=anchor,
        stem=printable(readings.stem(records[0])),
        title=rich(readings.title(records)),
        finding=finding,
        sources=origins(records),
        assumptions=readings.remarks(records, lambda record: record.assumptions),
        readings=tuple(map(_reading, records)),
        remarks=readings.remarks(records, lambda r: () if readings.differs(r) else (r.finding,)),
        drawings=new,
        drawn_before=before,
        evidence=evidence(records),
        agreements=agreements(fresh),
        agreed_before=checked_before,
        tables=() if finding else tables(records),
        controls=readings.remarks(records, lambda record: (record.control.statement,)),
        judged=_judged(records),
        reproduce=_reproduce(records),
        seconds=digits.seconds(max(record.seconds for record in records)),
    )


def origins(records: Sequence[Record]) -> tuple[Remark, ...]:
    """Where the readings come from and what is printed there."""
    return readings.remarks(records, lambda record: (sources.quotation(record.source),))


def tables(records: Sequence[Record]) -> tuple[Table, ...]:
    """The tables that the claims bring with them, each once."""
    distinct = dict.fromkeys(table for record in records for table in record.tables)
    return tuple(map(_table, distinct))


def _table(table: LedgerTable) -> Table:
    """Rows are filled or cut to the length of the header."""
    wide = len(table.header)
    return Table(
        caption=rich(table.caption),
        header=tuple(map(rich, table.header)),
        rows=tuple(tuple(map(rich, (*row, *("",) * wide)[:wide])) for row in table.rows),
    )


def _reading(record: Record) -> Reading:
    known = coordinates.shared([cell.where for cell in record.cells])
    refuted = [coordinates.without(cell.where, known) for cell in record.cells if cell.verdict == "refuted"]
    return Reading(
        id=printable(record.id),
        label=printable(readings.label(record) or record.id),
        title=rich(record.title),
        statement=(formula(record.statement),) if record.statement.strip() else (),
        verdict=record.verdict,
        where=rich(coordinates.at(refuted)) if record.verdict == "refuted" else (),
        measured=rich(record.measured),
        margin=digits.signed(record.margin),
        marks=readings.marks(record),
        problem=printable(record.problem),
    )


def _drawings(records: Sequence[Record], draw: Draw, printed: Printed) -> tuple[tuple[Drawing, ...], tuple[str, ...]]:
    """New figures, and the anchors of those that an earlier topic shows."""
    drawn = dict.fromkeys(map(draw, joined(figure for record in records for figure in record.figures)))
    new = tuple(each for each in drawn if each.file not in printed.figures)
    printed.figures |= {each.file for each in new if each.file}
    return new, tuple(each.anchor for each in drawn if each not in new)


def _checks(records: Sequence[Record], anchor: str, printed: Printed) -> tuple[list[CrossCheck], tuple[str, ...]]:
    """New cross-checks, and the anchors of the topics that show the others."""
    distinct = {repr(check): check for record in records for check in record.cross_checks}
    new = [check for key, check in distinct.items() if key not in printed.checks]
    before = dict.fromkeys(printed.checks[key] for key in distinct if key in printed.checks)
    printed.checks |= {key: anchor for key in distinct if key not in printed.checks}
    return new, tuple(before)


def _judged(records: Sequence[Record]) -> str:
    """How the controls came out, for all readings together."""
    judged = [record for record in records if record.cells]
    if not judged:
        return "not judged"
    if any(readings.missed(record) for record in judged):
        return "not caught where marked ‡"
    return "caught at every point"


def _reproduce(records: Sequence[Record]) -> tuple[str, ...]:
    """The command that repeats all readings, where their commands differ by nothing but the id."""
    said = [record for record in records if record.reproduce.strip()]
    together = {record.reproduce.replace(record.id, readings.stem(record)) for record in said}
    apart = dict.fromkeys(record.reproduce for record in said)
    return tuple(map(printable, together if len(together) == 1 else apart))
