"""What became of the statements that the sources print: the counts that a run, the README and the findings lead with.

Only what is printed counts for or against a paper; a reading that its source leaves open, or a stronger statement that
nobody printed, is worth knowing and is counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from lipverify.claims.claim import Claim
from lipverify.claims.ledger import Kind, Record
from lipverify.claims.verdict import Verdict

Outcome = Literal["holds", "holds with slack", "holds once corrected", "fails", "open"]
OUTCOMES: dict[Outcome, str] = {
    "holds": "consistent with the evidence, and nothing sharper is known",
    "holds with slack": "consistent with the evidence, and a sharper statement is too",
    "holds once corrected": "refuted as printed; with a symbol corrected or a range added it is consistent",
    "fails": "refuted, and nothing near it holds",
    "open": "not decided, or a check broke",
}
PLURAL = {"holds": "hold", "holds with slack": "hold with slack", "holds once corrected": "hold once corrected",
          "fails": "fail", "open": "open"}  # fmt: skip


class Judged(msgspec.Struct, frozen=True):
    """A claim and its verdict, as far as the counts go."""

    id: str
    kind: Kind | None
    verdict: Verdict | None
    corrected: bool
    """Whether the claim says what holds in its place: its true control, or a sharper statement."""

    @property
    def outcome(self) -> Outcome:
        """What became of it."""
        if self.verdict == "supported":
            return "holds with slack" if self.corrected else "holds"
        if self.verdict == "refuted":
            return "holds once corrected" if self.corrected else "fails"
        return "open"


def measured(records: Iterable[Record]) -> list[Judged]:
    """The claims of a ledger, with their verdicts."""
    return [Judged(each.id, each.kind, each.verdict, bool(each.corrected.strip())) for each in records]


def recorded(claims: Iterable[Claim]) -> list[Judged]:
    """Claims that are not measured, with the verdicts that are recorded."""
    return [Judged(each.id, each.kind, each.expected, bool(each.corrected.strip())) for each in claims]


def printed(claims: Sequence[Judged]) -> dict[Outcome, list[Judged]]:
    """The printed statements by what became of them; every outcome is there, if only with none."""
    found: dict[Outcome, list[Judged]] = {name: [] for name in OUTCOMES}
    for claim in claims:
        if claim.kind == "printed":
            found[claim.outcome].append(claim)
    return found


def counts(claims: Sequence[Judged]) -> str:
    """The counts in a sentence: printed statements first, then all other readings.

    >>> counts([Judged("a.b", "printed", "refuted", True), Judged("a.b/c", "stronger", "refuted", False)])
    '1 printed statement: 0 hold, 0 hold with slack, 1 holds once corrected, 0 fail; 1 other reading: 1 refuted'
    """
    statements = {name: len(held) for name, held in printed(claims).items()}
    rest = Counter(claim.verdict or "new" for claim in claims if claim.kind != "printed")
    told = []
    if total := sum(statements.values()):
        each = [
            f"{number} {name if number == 1 else PLURAL[name]}"
            for name, number in statements.items()
            if number or name != "open"
        ]
        told.append(f"{total} printed {'statement' if total == 1 else 'statements'}: {', '.join(each)}")
    if others := sum(rest.values()):
        each = [f"{number} {verdict}" for verdict, number in rest.most_common()]
        of = " other" if total else ""
        told.append(f"{others}{of} {'reading' if others == 1 else 'readings'}: {', '.join(each)}")
    return "; ".join(told) or "no claims"
