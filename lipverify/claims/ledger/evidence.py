"""The evidence of one claim in two ledgers: which cells and cross-checks are not what they were."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeVar

import msgspec

from lipverify.claims.ledger.record import Cell, CrossCheck, Record, Scalar

Change = Literal["new", "gone", "verdict", "control", "measured", "allowed", "agrees"]


class CellChange(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of evidence that is not what it was."""

    where: dict[str, Scalar]
    quantity: str
    method: str
    changed: tuple[Change, ...]
    """"new" or "gone"; else which of verdict, control, measured (beyond both errors together) and allowed."""
    before: Cell | None
    after: Cell | None


class CrossCheckChange(msgspec.Struct, frozen=True, kw_only=True):
    """A cross-check that came or went, or whose methods came apart or together."""

    where: dict[str, Scalar]
    quantity: str
    methods: tuple[str, str]
    changed: tuple[Change, ...]
    before: CrossCheck | None
    after: CrossCheck | None


def cell_changes(before: Record, after: Record) -> Iterator[CellChange]:
    """Cells that came, went, or differ in verdict, control, allowed range, or by more than their errors."""
    for one, other, shown in _paired(before.cells, after.cells, lambda cell: cell.method):
        changed = _changes(one, other)
        if changed:
            yield CellChange(
                where=shown.where,
                quantity=shown.quantity,
                method=shown.method,
                changed=changed,
                before=one,
                after=other,
            )


def _changes(before: Cell | None, after: Cell | None) -> tuple[Change, ...]:
    if before is None or after is None:
        return ("new",) if before is None else ("gone",)
    changes: dict[Change, bool] = {
        "verdict": before.verdict != after.verdict,
        "control": before.caught != after.caught,
        "measured": _moved(before, after),
        "allowed": before.allowed != after.allowed,
    }
    return tuple(name for name, happened in changes.items() if happened)


def _moved(before: Cell, after: Cell) -> bool:
    """Whether the intervals do not meet; middle and half-width are rounded, and so may be an exact value."""
    one, other = before.measured, after.measured
    if one is None or other is None:
        return one is not other
    rounding = sys.float_info.epsilon * (abs(one) + abs(other))
    return abs(one - other) > (before.error or 0.0) + (after.error or 0.0) + rounding


def within_errors(before: Record, after: Record) -> int:
    """How many measured values differ, and by no more than their errors together."""
    pairs = _paired(before.cells, after.cells, lambda cell: cell.method)
    both = ((one, other) for one, other, _ in pairs if one is not None and other is not None)
    return sum(one.measured != other.measured and not _moved(one, other) for one, other in both)


def cross_check_changes(before: Record, after: Record) -> Iterator[CrossCheckChange]:
    """Cross-checks that came, went, or whose methods came apart or together."""
    for one, other, shown in _paired(before.cross_checks, after.cross_checks, lambda check: check.methods):
        changed: tuple[Change, ...] = ("new",) if one is None else ("gone",) if other is None else ()
        if one is not None and other is not None and one.agrees != other.agrees:
            changed = ("agrees",)
        if changed:
            yield CrossCheckChange(
                where=shown.where,
                quantity=shown.quantity,
                methods=shown.methods,
                changed=changed,
                before=one,
                after=other,
            )


Evidence = TypeVar("Evidence", Cell, CrossCheck)


def _paired(
    before: Iterable[Evidence], after: Iterable[Evidence], method: Callable[[Evidence], object]
) -> Iterator[tuple[Evidence | None, Evidence | None, Evidence]]:
    """The same evidence of both, told apart by where, what and how it was measured; and the newest of the two."""

    def by_key(pieces: Iterable[Evidence]) -> dict[object, Evidence]:
        found: dict[object, Evidence] = {}
        seen: Counter[object] = Counter()
        for piece in pieces:
            key = (frozenset(piece.where.items()), piece.quantity, method(piece))
            seen[key] += 1
            found[key, seen[key]] = piece
        return found

    first: dict[object, Evidence] = by_key(before)
    second: dict[object, Evidence] = by_key(after)
    for key in dict.fromkeys([*first, *second]):
        yield first.get(key), second.get(key), second[key] if key in second else first[key]
