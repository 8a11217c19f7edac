"""The standing of a statement: the outcomes of its passages, and the verdicts of its other claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lipverify.claims.ledger.outcomes import OUTCOMES, behind
from lipverify.claims.ledger.record import KINDS, Passage, Record
from lipverify.foundation.ladder import BRIEFLY
from lipverify.report.model import Standing
from lipverify.report.readings import WORST_FIRST, holds_at, ranges_of
from lipverify.report.text import rich

WITH_TEXT = 100
"""Longest range in a line with other text, in characters with formulas as source."""


def judged_by(records: Sequence[Record]) -> list[Record]:
    """The readings by which a statement is judged."""
    kind = next((kind for kind in KINDS if any(record.kind == kind for record in records)), None)
    return [record for record in records if record.kind == kind]


def nearest_first(records: Sequence[Record]) -> list[Record]:
    """All readings, those nearest to print first."""
    order = {kind: rank for rank, kind in enumerate(KINDS)}
    return sorted(records, key=lambda record: order.get(record.kind, len(order)) if record.kind else len(order))


def _short(where: str) -> str:
    """The range, or a reference to the table of statements if it is too long; the grade says what was extrapolated."""
    where = where.removesuffix(BRIEFLY).removesuffix(", ")
    return where if len(where) <= WITH_TEXT else "at the points in the table"


def standing(records: Sequence[Record], passages: Sequence[Passage]) -> Standing:
    """The standing of one heading: its passages by outcome, and the verdicts of its other claims."""
    ids = {record.id for record in records}
    own = [passage for passage in passages if ids & set(passage.claims)]
    outcomes = Counter[str](passage.outcome for passage in own)
    counted = {id for passage in own for id in passage.claims}
    judged = [record for record in records if record.id in counted] or judged_by(records)
    rest = Counter[str](record.verdict for record in records if record.id not in counted)
    ranges = {name: _short(where) for name, where in ranges_of(judged, own, records).items()}
    return Standing(
        outcomes=tuple((name, str(outcomes[name])) for name in reversed(OUTCOMES) if outcomes[name]),
        ranges=tuple(rich(ranges[name]) for name in reversed(OUTCOMES) if outcomes[name])
        or (rich(_short(holds_at(judged, records))),),
        others=tuple((name, str(rest[name])) for name in WORST_FIRST if rest[name]),
        grade=behind(judged, records) or "",
    )
