"""The first page: what was checked, in three sentences, and the verdict on each statement."""

from __future__ import annotations

from collections.abc import Sequence

from lipverify.claims.ledger import Ledger, Record
from lipverify.claims.verdict import VERDICTS
from lipverify.report import coordinates, digits, readings, sources
from lipverify.report.finding import telling_cell
from lipverify.report.model import Part, Row
from lipverify.report.text import Text, printable, rich

Group = tuple[Record, ...]
"""All readings of one statement."""
_LISTED = 2
"""How many readings a line of the first table quotes before it only counts them."""


def groups(ledger: Ledger) -> tuple[tuple[str, tuple[Group, ...]], ...]:
    """(section, its statements), in the order in which the ledger first names them."""
    stems: dict[str, list[Record]] = {}
    for record in ledger.claims:
        stems.setdefault(readings.stem(record), []).append(record)
    sections: dict[str, list[Group]] = {}
    for records in stems.values():
        sections.setdefault(section_of(records[0]), []).append(tuple(records))
    return tuple((title, tuple(held)) for title, held in sections.items())


def section_of(record: Record) -> str:
    """The title of a claim's section; empty where the ledger names none."""
    return record.heading.section if record.heading is not None else ""


def counts(records: Sequence[Record]) -> tuple[tuple[str, int], ...]:
    """How many claims have each verdict."""
    verdicts = [record.verdict for record in records]
    return tuple((verdict, verdicts.count(verdict)) for verdict in VERDICTS)


def part(title: str, statements: Sequence[Group], anchors: dict[str, str]) -> Part:
    """The lines of one section; `anchors` says where each statement is treated."""
    return Part(title=rich(title), rows=tuple(_row(group, anchors[readings.stem(group[0])]) for group in statements))


def _row(records: Group, anchor: str) -> Row:
    tally = dict(counts(records))
    return Row(
        anchor=anchor,
        stem=printable(readings.stem(records[0])),
        title=rich(readings.title(records)),
        claims=str(len(records)),
        verdicts=tuple((verdict, str(tally[verdict])) for verdict in readings.WORST_FIRST if tally[verdict]),
        note=rich(_note(records)),
        marks=_marks(records),
    )


def _marks(records: Group) -> tuple[str, ...]:
    """The marks of all readings, each once, with how many have it where it is not the only reading."""
    found = [mark for record in records for mark in readings.marks(record)]
    many = len(records) > 1
    return tuple(f"{mark} ({found.count(mark)})" if many else mark for mark in dict.fromkeys(found))


def _note(records: Group) -> str:
    """The smallest case of the first refuted reading; else what the only reading found, or what the readings claim."""
    refuted = next((record for record in records if record.verdict == "refuted"), None)
    if refuted is not None and (cell := telling_cell(refuted)) is not None:
        where = coordinates.words(cell.where)
        return f"{where}: {digits.with_error(cell.measured, cell.error)}, claimed {cell.claimed}"
    if len(records) == 1:
        return records[0].measured
    claimed = list(dict.fromkeys(record.claimed for record in records))
    more = len(claimed) - _LISTED
    return "; ".join(claimed[:_LISTED]) + (f"; and {more} more" if more > 0 else "")


def summary(ledger: Ledger) -> tuple[Text, ...]:
    """What was checked, how it came out, and whether the evidence can be believed: a sentence for each."""
    if not ledger.claims:
        return (rich("The ledger holds no claims: nothing was checked."),)
    return tuple(map(rich, (_checked(ledger), _outcome(ledger), _trust(ledger))))


def _checked(ledger: Ledger) -> str:
    statements = len({readings.stem(record) for record in ledger.claims})
    papers = list(dict.fromkeys(sources.short(record.source.paper) for record in ledger.claims))
    cells = sum(len(record.cells) for record in ledger.claims)
    return (
        f"{_count(statements, 'statement')} ({'; '.join(papers)}) in every reading that their wording leaves open: "
        f"{_count(len(ledger.claims), 'claim')}, judged on {_count(cells, 'measurement')}."
    )


def _outcome(ledger: Ledger) -> str:
    surprises = sum(record.moved for record in ledger.claims)
    differing = len({readings.stem(record) for record in ledger.claims if readings.differs(record)})
    found = (
        f"{_count(differing, 'statement')} with a reading that fails as printed or can be sharpened (Findings, below); "
        if differing
        else "No statement differs from what is printed; "
    )
    return found + _compared(surprises, sum(record.expected is None for record in ledger.claims), len(ledger.claims))


def _compared(surprises: int, new: int, claims: int) -> str:
    """How the verdicts stand to those that were recorded; a new claim has none."""
    if new == claims:
        return "no verdict was recorded before the run."
    rest = "every other verdict" if new else "every verdict"
    first = f"{_count(new, 'claim')} without a recorded verdict; " if new else ""
    return first + (
        f"{rest} is as recorded before the run."
        if not surprises
        else f"{_count(surprises, 'verdict')} not as recorded before the run (marked ≠)."
    )


def _trust(ledger: Ledger) -> str:
    uncaught = sum(readings.missed(record) for record in ledger.claims)
    checks = {repr(check): check.agrees for record in ledger.claims for check in record.cross_checks}
    apart = sum(not agrees for agrees in checks.values())
    controls = (
        "Every control, a false twin judged on the same evidence, was caught"
        if not uncaught
        else f"{_count(uncaught, 'control')} not caught (marked ‡)"
    )
    if not checks:
        return f"{controls}."
    methods = f"{_count(len(checks), 'number')} computed by two methods that share no code"
    return f"{controls}, and {methods} " + (f"differ in {apart} cases." if apart else "agree within their errors.")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
