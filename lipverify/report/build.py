"""From the ledger to the model: nothing is computed here, only chosen, ordered and rounded."""

from __future__ import annotations

from itertools import groupby

from lipverify.claims.ledger import Ledger, Record
from lipverify.claims.verdict import VERDICTS
from lipverify.report import digits, words
from lipverify.report.entry import Draw, entry, marks, missed, origin
from lipverify.report.model import Report, Row, Section
from lipverify.report.text import Text, printable, rich

TITLE = "Numerical verification of claims about in-context learning"


def build(ledger: Ledger, draw: Draw) -> Report:
    """The report on a ledger; `draw` places a figure and returns how the page refers to it."""
    return Report(
        title=TITLE,
        words=words.VERDICTS,
        author=printable(f"lipverify {ledger.provenance.versions.get('lipverify', '')}").strip(),
        counts=_counts(ledger),
        summary=_summary(ledger),
        methods=_methods(ledger),
        rows=tuple(_row(record) for record in ledger.claims),
        differs=tuple(
            (printable(record.id), rich(record.finding or record.measured))
            for record in ledger.claims
            if record.verdict == "refuted"
        ),
        sections=_sections(ledger, draw),
        notation=tuple((rich(symbol), rich(meaning)) for symbol, meaning in words.NOTATION),
        rules=tuple(rich(rule) for rule in words.HOW_VERDICTS_ARE_MADE),
        provenance=_provenance(ledger),
    )


def _counts(ledger: Ledger) -> tuple[tuple[str, int], ...]:
    verdicts = [record.verdict for record in ledger.claims]
    return tuple((verdict, verdicts.count(verdict)) for verdict in VERDICTS)


def _summary(ledger: Ledger) -> tuple[Text, ...]:
    """Whether the reader has to look for surprises, in two sentences."""
    if not ledger.claims:
        return (rich("The ledger holds no claims: nothing was checked."),)
    surprises = sum(record.verdict != record.expected for record in ledger.claims)
    uncaught = sum(missed(record) for record in ledger.claims)
    cells = sum(len(record.cells) for record in ledger.claims)
    return (
        rich(f"{_count(len(ledger.claims), 'claim')} on {_count(cells, 'measurement')}."),
        rich(
            "Every verdict is as recorded before the run."
            if not surprises
            else f"{_count(surprises, 'verdict')} not as recorded before the run (marked ≠)."
        ),
        rich(
            "Every control, a false twin judged on the same evidence, was caught."
            if not uncaught
            else f"{_count(uncaught, 'control')} not caught (marked ‡)."
        ),
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _methods(ledger: Ledger) -> tuple[tuple[str, Text], ...]:
    """The methods that the evidence rests on, in the order of the table of methods."""
    cells = {cell.method for record in ledger.claims for cell in record.cells}
    checks = {m for r in ledger.claims for check in r.cross_checks for m in check.methods}
    used = cells | checks
    known = [name for name in words.METHODS if name in used]
    return tuple(
        (printable(name), rich(words.METHODS.get(name, "as the claim describes")))
        for name in [*known, *sorted(used - set(known))]
    )


def _row(record: Record) -> Row:
    return Row(
        id=printable(record.id),
        claimed=rich(record.claimed),
        measured=rich(record.measured),
        verdict=record.verdict,
        margin=digits.signed(record.margin),
        marks=marks(record),
    )


def _sections(ledger: Ledger, draw: Draw) -> tuple[Section, ...]:
    """Claims by the stem of their id, in the order in which the stems first appear."""
    stems = list(dict.fromkeys(_stem(record) for record in ledger.claims))
    ordered = sorted(ledger.claims, key=lambda record: stems.index(_stem(record)))
    return tuple(_section(stem, list(group), draw) for stem, group in groupby(ordered, _stem))


def _section(stem: str, records: list[Record], draw: Draw) -> Section:
    """One section; a source and assumptions that all its claims share are said once."""
    origins = {origin(record) for record in records}
    shared = origins.pop() if len(records) > 1 and len(origins) == 1 else None
    return Section(
        stem=printable(stem),
        origin=shared,
        entries=tuple(entry(record, draw, with_origin=shared is None) for record in records),
    )


def _stem(record: Record) -> str:
    return record.id.split("/")[0]


def _provenance(ledger: Ledger) -> tuple[tuple[str, str], ...]:
    provenance = ledger.provenance
    lines = [
        ("started", provenance.started),
        ("took", digits.seconds(provenance.seconds)),
        ("machine", provenance.machine),
        ("profile", ledger.profile),
        ("backend", ledger.backend),
        ("seed", str(ledger.seed)),
        *sorted(provenance.versions.items()),
        ("ledger format", ledger.format),
    ]
    return tuple((printable(name), printable(value)) for name, value in lines)
