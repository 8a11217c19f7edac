"""A verdict in one line: of a claim, or of a theorem with all its readings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lipverify.claims.ledger.outcomes import behind, by_outcome, measured, passages
from lipverify.claims.ledger.reach import in_line
from lipverify.claims.ledger.record import Outcome, Record
from lipverify.claims.run.deciding import wants
from lipverify.cli.tables import LOOKS
from lipverify.report.readings import holds_at, ranges_of
from lipverify.report.visible import visible

SIGNS: dict[Outcome, str] = {
    "holds as printed": "✓", "holds in one of its readings": "≈", "false as printed": "✗", "open": "?",
}  # fmt: skip
SHORT: dict[Outcome, str] = {
    "holds as printed": "holds", "holds in one of its readings": "in one reading", "false as printed": "false",
    "open": "open",
}  # fmt: skip
STEM, OUTCOME, GRADE, WIDTH = 33, 21, 13, 80
"""Columns, of eighty together with the verdicts that follow."""
HEADING = f"  {'theorem':<{STEM}}{'what is printed':<{OUTCOME}}{'grade':<{GRADE}}claims"


def stem_of(id: str) -> str:
    """What all readings of one theorem share."""
    return id.partition("/")[0]


def theorem_line(stem: str, records: Sequence[Record]) -> str:
    """What became of the passages that its claims are from, what stands behind it, and the verdicts on all claims."""
    found = passages(measured(records))
    outcomes = {name: len(held) for name, held in by_outcome(found).items() if held}
    own = [record for record in records if any(record.id in each.claims for each in found)] or records
    sign = SIGNS[list(outcomes)[-1]] if outcomes else "·"
    told = ", ".join(f"{count} {SHORT[name]}" for name, count in outcomes.items()) or "nothing printed"
    if len(outcomes) == 1:
        told = SHORT[next(iter(outcomes))]
    if told == "holds" and any(each.instead for each in found):
        told = "holds with slack"
    ranges = {name: words for name, words in ranges_of(own, found, latex=False).items() if words}
    where = "; ".join(f"{SHORT[name]} {words}" if len(outcomes) > 1 else words for name, words in ranges.items())
    where = where if found else holds_at(records, latex=False)
    below = ""
    if len(f"{told} {where}") < OUTCOME:
        told = f"{told} {where}".strip()
    elif where:
        below = f"\n    {visible(where)}"
    grade = behind(own, records) or "no evidence"
    counts = Counter[str](record.verdict for record in records)
    tally = " ".join(f"{counts[verdict]}{look}" for verdict, (look, _) in LOOKS.items() if counts[verdict])
    behind_it = f"{told + ' ':<{OUTCOME}}{grade + ' ':<{GRADE}}{tally}{_notes(records)}"
    # what is longer begins further to the left, under no column but whole
    return f"{sign} {visible(stem) + ' ':<{min(STEM, WIDTH - 2 - len(behind_it))}}{behind_it}{below}"


def claim_line(record: Record) -> str:
    """The verdict, the id, and what was measured."""
    sign, _ = LOOKS[record.verdict]
    found = "; ".join(filter(None, [record.problem or record.measured, wants(record)]))
    where = in_line(record)
    found = visible(f"{where}: {found}" if where and not record.problem else found)
    return f"{sign} {record.verdict:<13}{visible(record.id)}  {found}{_notes([record])}"


def _notes(records: Sequence[Record]) -> str:
    """What a reader must not miss."""
    moved = sum(record.moved and record.verdict != "error" for record in records)
    missed = sum(not record.control.caught and not record.problem for record in records)
    notes = [f"{moved} MOVED"] * bool(moved) + [f"{missed} CONTROL NOT CAUGHT"] * bool(missed)
    return "".join(f"  {note}" for note in notes)
