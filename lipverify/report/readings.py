"""Readings of one statement: claims with the same stem, and the labels that distinguish them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lipverify.claims.ledger.outcomes import by_outcome, resting_on
from lipverify.claims.ledger.reach import briefly, reach_of_record
from lipverify.claims.ledger.record import Outcome, Passage, Record
from lipverify.claims.ledger.verdict import Verdict
from lipverify.report import words

WORST_FIRST: tuple[Verdict, ...] = ("error", "refuted", "inconclusive", "supported")


def stem(record: Record) -> str:
    """The part of an id that all readings of one statement share."""
    return record.id.split("/")[0]


def own(records: Iterable[Record]) -> bool:
    """True if all of these claims come with lipverify."""
    return not any(record.file for record in records)


def label(record: Record) -> str:
    """The part of an id that distinguishes a reading from the others; empty if the id is the stem."""
    return record.id.partition("/")[2]


def holds_at(records: Sequence[Record], among: Sequence[Record] = (), *, latex: bool = True) -> str:
    """The range of some readings' verdicts, or both of two; then the assumption of a limit.

    A reading that another claim proves, of those `among` which it is, has the range of that claim.
    """
    resting = [resting_on(record, among) for record in records]
    ranges = list(filter(None, dict.fromkeys(reach_of_record(record, latex=latex) for record in resting)))
    where = "; other claims ".join(ranges) if len(ranges) <= 2 else "each reading in its own range"
    return ", ".join(filter(None, [where, briefly(resting)]))


def ranges_of(
    records: Sequence[Record], passages: Sequence[Passage], among: Sequence[Record] = (), *, latex: bool = True
) -> dict[Outcome, str]:
    """The range of each outcome of some passages, from the claims that decide it; `among` as for `holds_at`."""
    telling = {
        name: {id for passage in held for id in passage.telling} for name, held in by_outcome(passages).items() if held
    }
    some = {name: [record for record in records if record.id in ids] for name, ids in telling.items()}
    return {name: holds_at(chosen, among, latex=latex) if chosen else "" for name, chosen in some.items()}


def title(records: Sequence[Record]) -> str:
    """The title of all readings: that of the heading, or of a single claim, or the stem."""
    first = records[0]
    if first.heading is not None and first.heading.title.strip():
        return first.heading.title
    return first.title if len(records) == 1 and first.title.strip() else stem(first)


def short_labels(records: Sequence[Record]) -> tuple[str, ...]:
    """The labels without their common parts."""
    parts = [label(record).split("/") for record in records]
    common = set.intersection(*map(set, parts)) if len(parts) > 1 else set()
    return tuple("/".join(p for p in own if p not in common) or "/".join(own) for own in parts)


def marks(record: Record) -> tuple[str, ...]:
    """Marks for the reader: a verdict that differs from the record, a control that was not caught."""
    notes = []
    if record.moved and record.expected is not None:
        notes.append(f"≠ recorded: {words.VERDICTS[record.expected]}")
    if missed(record):
        notes.append("‡ control not caught")
    return tuple(notes)


def missed(record: Record) -> bool:
    """True if a control was judged and not caught. A check that broke has judged no control."""
    return bool(record.cells) and not record.control.caught


def compared(records: Iterable[Record]) -> tuple[int, int]:
    """How many numbers two methods computed, and for how many they differ."""
    checks = {repr(check): check.agrees for record in records for check in record.cross_checks}
    return len(checks), sum(not agrees for agrees in checks.values())


def differs(record: Record) -> bool:
    """True if a claim is a finding: it is refuted, or something else holds instead."""
    return record.verdict == "refuted" or bool(record.corrected.strip())
