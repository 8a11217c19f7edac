"""Readings of one statement: claims that share the stem of their ids, and what sets them apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import msgspec

from lipverify.claims.ledger.outcomes import by_outcome
from lipverify.claims.ledger.reach import briefly, reach
from lipverify.claims.ledger.record import Outcome, Passage, Record
from lipverify.claims.ledger.verdict import Verdict
from lipverify.foundation.latex import plain
from lipverify.report import words
from lipverify.report.text import Text, printable, rich

WORST_FIRST: tuple[Verdict, ...] = ("error", "refuted", "inconclusive", "supported")

FEW = 2
"""Ranges of readings that a line names; of more it says how many there are."""


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """A text that several readings share; `readings` names them, and is empty where it is all of them."""

    readings: str
    text: Text


def stem(record: Record) -> str:
    """What all readings of one statement share."""
    return record.id.split("/")[0]


def own(records: Iterable[Record]) -> bool:
    """Whether all of these claims come with lipverify, and none is from a file of its own."""
    return not any(record.file for record in records)


def label(record: Record) -> str:
    """What sets a reading apart from the others; empty where its id is its stem."""
    return record.id.partition("/")[2]


def holds_at(records: Sequence[Record], *, latex: bool = True) -> str:
    """Where the verdicts of some readings hold: once where it is the same; of each where it is not, if they are few.

    Where one of them rests on a limit, what that assumes follows.
    """
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(reach(record.cells, record.verdict, record.id, latex=latex), []).append(record)
    if len(found) == 1:
        where = next(iter(found))
    elif len(found) > FEW:
        where = f"in {len(found)} ranges, each with its reading"
    else:
        where = "; ".join(f"{words} ({names(some, records)})" for words, some in found.items() if words)
    return ", ".join(filter(None, [where, briefly(records)]))


def ranges_of(records: Sequence[Record], passages: Sequence[Passage], *, latex: bool = True) -> dict[Outcome, str]:
    """Where each outcome of some passages holds, by the claims among these that make it."""
    telling = {
        name: {id for each in held for id in each.telling} for name, held in by_outcome(passages).items() if held
    }
    some = {name: [record for record in records if record.id in ids] for name, ids in telling.items()}
    return {name: holds_at(found, latex=latex) if found else "" for name, found in some.items()}


def title(records: Sequence[Record]) -> str:
    """The title of all readings: the heading's, or that of a single claim, or the stem."""
    first = records[0]
    if first.heading is not None and first.heading.title.strip():
        return first.heading.title
    return first.title if len(records) == 1 and first.title.strip() else stem(first)


def heading(records: Sequence[Record]) -> Text:
    """The title as it is set: a claim without words for one has its statement, which is a formula."""
    words, statement = title(records), records[0].statement
    return rich(f"${statement}$" if words == plain(statement) else words)


def remarks(records: Sequence[Record], texts: Callable[[Record], Iterable[str]]) -> tuple[Remark, ...]:
    """Each distinct text once, with the readings that say it."""
    sayers: dict[str, list[Record]] = {}
    for record in records:
        for text in texts(record):
            if text.strip() and record not in sayers.setdefault(text, []):
                sayers[text].append(record)
    return tuple(
        Remark(readings=printable(names(found, records)), text=rich(text)) for text, found in sayers.items() if found
    )


def names(some: Sequence[Record], records: Sequence[Record]) -> str:
    """What to call some of the readings: by the parts that set them apart from the rest.

    Empty where it is all of them; the others are named where that is shorter.
    """
    chosen = {record.id for record in some}
    rest = [record for record in records if record.id not in chosen]
    if not rest:
        return ""
    direct, others = _covered(some, records), f"all but {_covered(rest, records)}"
    return others if len(others) < len(direct) else direct


def _covered(some: Sequence[Record], records: Sequence[Record]) -> str:
    """The fewest sets of readings that share parts of their labels, and that are these readings together."""
    parts = {record.id: tuple(filter(None, label(record).split("/"))) for record in records}
    having: dict[str, set[str]] = {}
    for id, theirs in parts.items():
        for part in theirs:
            having.setdefault(part, set()).add(id)
    wanted = {record.id for record in some}
    kinds: dict[frozenset[str], str] = {}
    for record in some:
        for kind in (k for size in (1, 2, 3) for k in combinations(parts[record.id], size)):
            members = frozenset(set.intersection(*(having[part] for part in kind)))
            if members <= wanted:
                kinds.setdefault(members, "/".join(kind))
        kinds.setdefault(frozenset({record.id}), label(record) or record.id)
    found: list[str] = []
    while wanted:
        best = max(kinds, key=lambda members: len(members & wanted))
        found.append(kinds[best])
        wanted = wanted - best
    return ", ".join(found)


def short_labels(records: Sequence[Record]) -> tuple[str, ...]:
    """Labels without the parts that all of several readings have."""
    parts = [label(record).split("/") for record in records]
    common = set.intersection(*map(set, parts)) if len(parts) > 1 else set()
    return tuple("/".join(p for p in own if p not in common) or "/".join(own) for own in parts)


def marks(record: Record) -> tuple[str, ...]:
    """What a reader must notice: a verdict that is not the recorded one, a control not caught."""
    found = []
    if record.moved and record.expected is not None:
        found.append(f"≠ recorded: {words.VERDICTS[record.expected]}")
    if missed(record):
        found.append("‡ control not caught")
    return tuple(found)


def missed(record: Record) -> bool:
    """Whether a control that was judged was not caught; a check that broke off judged none."""
    return bool(record.cells) and not record.control.caught


def differs(record: Record) -> bool:
    """Whether a claim belongs to the findings: it is refuted, or something else holds in its place."""
    return record.verdict == "refuted" or bool(record.corrected.strip())
