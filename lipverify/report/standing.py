"""What became of a statement: the outcomes of its printed readings, and the verdicts of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from lipverify.claims.behind import behind
from lipverify.claims.ledger import KINDS, Kind, Record
from lipverify.claims.outcomes import Outcome, measured
from lipverify.report.model import Standing
from lipverify.report.readings import WORST_FIRST

WORST_OUTCOME_FIRST = ("open", "fails", "holds once corrected", "holds with slack", "holds")
assert set(WORST_OUTCOME_FIRST) == set(get_args(Outcome))


def nearest_to_print(records: Sequence[Record]) -> Kind | None:
    """The kind of the readings that a statement is judged by: what is printed, else what is nearest to it."""
    present = {record.kind for record in records}
    return next((kind for kind in KINDS if kind in present), None)


def judged_by(records: Sequence[Record]) -> list[Record]:
    """The readings that a statement is judged by."""
    kind = nearest_to_print(records)
    return [record for record in records if record.kind == kind]


def nearest_first(records: Sequence[Record]) -> list[Record]:
    """All readings, those nearest to print first."""
    order = {kind: place for place, kind in enumerate(KINDS)}
    return sorted(records, key=lambda record: order.get(record.kind, len(order)) if record.kind else len(order))


def standing(records: Sequence[Record]) -> Standing:
    """The standing of one statement, from all its readings."""
    kind, judged = nearest_to_print(records), judged_by(records)
    found = Counter[str](each.outcome for each in measured(judged))
    rest = Counter[str](record.verdict for record in records if record.kind != kind)
    return Standing(
        kind=kind or "",
        outcomes=tuple((name, str(found[name])) for name in WORST_OUTCOME_FIRST if found[name]),
        others=tuple((name, str(rest[name])) for name in WORST_FIRST if rest[name]),
        grade=behind(judged, records) or "",
    )
