"""Compare two ledgers: which verdicts changed, and which evidence changed them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Literal, TypeVar

import msgspec

from lipverify.claims.ledger.record import COPIED, Cell, CrossCheck, Ledger, Record
from lipverify.claims.ledger.symbols import Scalar
from lipverify.claims.ledger.verdict import Verdict
from lipverify.errors import InvalidInput

Change = Literal["new", "gone", "verdict", "control", "measured", "allowed", "agrees"]


Piece = TypeVar("Piece", Cell, CrossCheck)


class EvidenceChange(msgspec.Struct, Generic[Piece], frozen=True):
    """A cell or a cross-check that differs between two ledgers.

    Attributes
    ----------
    where
        Its coordinates.
    quantity
        The measured quantity, in plain text.
    methods
        The method of the cell, or the names that distinguish the two methods of the cross-check.
    changed
        "new" or "gone"; otherwise, of a cell, those of verdict, control, measured (by more than the sum of both errors)
        and allowed that differ; of a cross-check "agrees".
    before, after
        The cell or cross-check in each ledger; None if the ledger does not contain it.
    """

    where: dict[str, Scalar]
    quantity: str
    methods: tuple[str, ...]
    changed: tuple[Change, ...]
    before: Piece | None
    after: Piece | None


def cell_changes(before: Record, after: Record) -> Iterator[EvidenceChange[Cell]]:
    """Cells that are new or gone, or whose verdict, control, allowed range or value (beyond its error) changed."""
    for old, new, either in _paired(before.cells, after.cells, lambda cell: cell.method):
        if changed := _changes(old, new):
            yield EvidenceChange(either.where, either.quantity, (either.method,), changed, old, new)


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
    """True if the intervals are disjoint, up to the rounding of the middle and the half-width."""
    first, second = before.measured, after.measured
    if first is None or second is None:
        return first is not second
    rounding = sys.float_info.epsilon * (abs(first) + abs(second))
    return abs(first - second) > (before.error or 0.0) + (after.error or 0.0) + rounding


def within_errors(before: Record, after: Record) -> int:
    """The number of measured values that differ by no more than the sum of their errors."""
    pairs = _paired(before.cells, after.cells, lambda cell: cell.method)
    both = ((old, new) for old, new, _ in pairs if old is not None and new is not None)
    return sum(old.measured != new.measured and not _moved(old, new) for old, new in both)


def cross_check_changes(before: Record, after: Record) -> Iterator[EvidenceChange[CrossCheck]]:
    """Cross-checks that were added or removed, or whose agreement changed."""
    for old, new, either in _paired(before.cross_checks, after.cross_checks, lambda check: check.methods):
        changed: Change | None = "new" if old is None else "gone" if new is None else None
        if old is not None and new is not None and old.agrees != new.agrees:
            changed = "agrees"
        if changed is not None:
            yield EvidenceChange(either.where, either.quantity, either.methods, (changed,), old, new)


def _paired(
    before: Iterable[Piece], after: Iterable[Piece], method: Callable[[Piece], object]
) -> Iterator[tuple[Piece | None, Piece | None, Piece]]:
    """Pair the evidence of both ledgers by place, quantity and method; the third entry is the newer of the two."""

    def by_key(pieces: Iterable[Piece]) -> dict[object, Piece]:
        pieces_by_key: dict[object, Piece] = {}
        seen: Counter[object] = Counter()
        for piece in pieces:
            key = (frozenset(piece.where.items()), piece.quantity, method(piece))
            seen[key] += 1
            pieces_by_key[key, seen[key]] = piece
        return pieces_by_key

    first: dict[object, Piece] = by_key(before)
    second: dict[object, Piece] = by_key(after)
    for key in dict.fromkeys([*first, *second]):
        yield first.get(key), second.get(key), second[key] if key in second else first[key]


Kind = Literal["verdict", "control", "only in A", "only in B", "values", "evidence", "same"]
"""Kinds of change, the gravest first; a claim gets the first one that applies."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting that differs between the two runs.

    Attributes
    ----------
    name
        Its name: profile, seed, a version, ...
    before, after
        Its value in each run; empty if the run does not record it.
    """

    name: str
    before: str
    after: str


class ClaimChange(msgspec.Struct, frozen=True, kw_only=True):
    """One claim in both ledgers; a field that a ledger does not contain is None.

    Attributes
    ----------
    id
        The claim.
    kind
        The kind of change.
    before, after
        Its verdict in each ledger; None if the ledger does not contain it.
    caught_before, caught_after
        True if its control came out the other way; None if the ledger does not contain the claim.
    problem_before, problem_after
        The reason why it is open, or why its verdict is `error`.
    restated
        The fields of the claim's own statement that changed.
    cells, cross_checks
        The evidence that changed.
    within
        The number of measured values that differ by no more than their errors, which is no change.
    """

    id: str
    kind: Kind
    before: Verdict | None
    after: Verdict | None
    caught_before: bool | None = None
    caught_after: bool | None = None
    problem_before: str = ""
    problem_after: str = ""
    restated: tuple[str, ...] = ()
    cells: tuple[EvidenceChange[Cell], ...] = ()
    cross_checks: tuple[EvidenceChange[CrossCheck], ...] = ()
    within: int = 0


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """All differences between two ledgers.

    Attributes
    ----------
    settings
        The settings that differ between the two runs.
    claims
        Every claim of both ledgers, in the order of the first and then of the second.
    """

    settings: tuple[Setting, ...]
    claims: tuple[ClaimChange, ...]

    @property
    def moved(self) -> bool:
        """True if any claim changed."""
        return any(claim.kind != "same" for claim in self.claims)

    @property
    def within(self) -> int:
        """The number of measured values, of all claims, that differ within their errors."""
        return sum(claim.within for claim in self.claims)


def compare(before: Ledger, after: Ledger) -> Comparison:
    """Compare two ledgers, claim by claim.

    A measured value has moved if the intervals value ± error of the two ledgers are disjoint. Runs with different seeds
    draw independent samples, so about one in 200 sampled values (95 % intervals) moves by chance; with the same seed
    none does.

    Raises
    ------
    InvalidInput
        If a ledger contains two claims with the same id.

    >>> from lipverify.claims.ledger.record import Provenance
    >>> made = Provenance(versions={}, machine="", started="", seconds=0.0)
    >>> run = Ledger(profile="quick", seed=0, backend="numpy", provenance=made, claims=())
    >>> found = compare(run, msgspec.structs.replace(run, seed=1))
    >>> found.moved, found.settings
    (False, (Setting(name='seed', before='0', after='1'),))
    """
    first, second = _by_id(before, "A"), _by_id(after, "B")
    claims = [_claim(id, first.get(id), second.get(id)) for id in dict.fromkeys([*first, *second])]
    return Comparison(settings=tuple(_settings(before, after)), claims=tuple(claims))


def _by_id(ledger: Ledger, name: str) -> dict[str, Record]:
    counts = Counter(record.id for record in ledger.claims)
    for id, count in counts.items():
        if count > 1:
            raise InvalidInput(f"ledger {name} holds {count} claims with the id {id!r}; an id stands for one claim.")
    return {record.id: record for record in ledger.claims}


def _settings(before: Ledger, after: Ledger) -> Iterator[Setting]:
    def named(ledger: Ledger) -> dict[str, str]:
        plain = {"profile": ledger.profile, "seed": str(ledger.seed), "backend": ledger.backend}
        return {**plain, "machine": ledger.provenance.machine, **ledger.provenance.versions}

    first, second = named(before), named(after)
    for name in dict.fromkeys([*first, *second]):
        if first.get(name) != second.get(name):
            yield Setting(name=name, before=first.get(name, ""), after=second.get(name, ""))


def _claim(id: str, before: Record | None, after: Record | None) -> ClaimChange:
    if before is None or after is None:
        kind: Kind = "only in A" if before is not None else "only in B"
        verdicts = [record.verdict if record is not None else None for record in (before, after)]
        return ClaimChange(id=id, kind=kind, before=verdicts[0], after=verdicts[1])
    restated = tuple(name for name in COPIED if getattr(before, name) != getattr(after, name))
    if before.control.statement != after.control.statement:
        restated += ("control",)
    cells = tuple(cell_changes(before, after))
    crossed = tuple(cross_check_changes(before, after))
    return ClaimChange(
        id=id,
        kind=_kind(before, after, cells, bool(restated or crossed)),
        before=before.verdict,
        after=after.verdict,
        caught_before=before.control.caught,
        caught_after=after.control.caught,
        problem_before=before.problem,
        problem_after=after.problem,
        restated=restated,
        cells=cells,
        cross_checks=crossed,
        within=within_errors(before, after),
    )


def _kind(before: Record, after: Record, cells: tuple[EvidenceChange[Cell], ...], otherwise: bool) -> Kind:
    if before.verdict != after.verdict:
        return "verdict"
    if before.control.caught != after.control.caught:
        return "control"
    if any("measured" in cell.changed for cell in cells):
        return "values"
    return "evidence" if cells or otherwise or before.problem != after.problem else "same"
