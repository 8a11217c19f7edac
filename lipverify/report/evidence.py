"""The evidence of several readings: a shared number is printed once, with the verdict of each reading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from lipverify.claims.ledger.record import Cell, CrossCheck, Record
from lipverify.report import coordinates, digits, readings
from lipverify.report.statements import ratio
from lipverify.report.text import Text, printable, rich


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement of one reading on one measurement; `note` is the number of a note below the table."""

    claimed: Text
    verdict: str
    margin: str
    caught: bool
    note: str


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """One measured number, with the judgement of each reading."""

    where: tuple[Text, ...]
    quantity: Text
    method: str
    measured: str
    judgements: tuple[Judgement, ...]


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A table of measurements shared by readings."""

    common: Text
    """The facts common to all rows, printed once above the table."""
    where: tuple[Text, ...]
    """The coordinates that distinguish the rows."""
    varying: tuple[str, ...]
    """The columns whose values differ between rows."""
    readings: tuple[str, ...]
    claimed: tuple[Text, ...]
    """The claimed value of each reading if it is the same in every row; empty otherwise."""
    rows: tuple[Measurement, ...]
    notes: tuple[tuple[str, Text], ...]


def evidence(records: Sequence[Record]) -> tuple[Evidence, ...]:
    """One table for each set of measurements, in the order of the readings."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        if record.cells:
            measured = [(tuple(c.where.items()), c.quantity, c.method, c.measured, c.error) for c in record.cells]
            groups.setdefault(repr(measured), []).append(record)
    # at most four readings in adjacent columns of a page
    parts = [group[k : k + 4] for group in groups.values() for k in range(0, len(group), 4)]
    return tuple(map(_table, parts))


def _quantity(cell: Cell) -> str:
    return cell.quantity_latex or cell.quantity


def _claimed(cell: Cell) -> str:
    return cell.claimed_latex or cell.claimed


def _table(group: Sequence[Record]) -> Evidence:
    first = group[0].cells
    wheres = [coordinates.without(cell.where, {"reading": ""}) for cell in first]  # headings of columns name readings
    known = coordinates.shared(wheres)
    same = {
        name: _quantity(first[0]) if name == "quantity" else first[0].method
        for name in ("quantity", "method")
        if len({getattr(cell, name) for cell in first}) == 1
    }
    claimed = [{_claimed(cell) for cell in record.cells} for record in group]
    notes: dict[str, str] = {}
    headings, points = coordinates.columns(wheres, known)
    rows = tuple(_row([r.cells[k] for r in group], point, notes) for k, point in enumerate(points))
    whose = readings.short_labels(group) if len(group) > 1 else (readings.label(group[0]),)
    lead = [
        same.get("quantity", ""),
        coordinates.words(known),
        f"by the method “{same['method']}”" if "method" in same else "",
    ]
    return Evidence(
        common=rich("; ".join(filter(None, lead))),
        where=tuple(map(rich, headings)),
        varying=tuple(name for name in ("quantity", "method") if name not in same),
        readings=tuple(printable(label) for label in whose),
        claimed=tuple(rich(c.pop()) if len(c) == 1 else () for c in claimed),
        rows=rows,
        notes=tuple((number, rich(note)) for note, number in notes.items()),
    )


def _row(cells: Sequence[Cell], point: tuple[str, ...], notes: dict[str, str]) -> Measurement:
    cell = cells[0]
    return Measurement(
        where=tuple(map(rich, point)),
        quantity=rich(_quantity(cell)),
        method=printable(cell.method),
        measured=digits.with_error(cell.measured, cell.error),
        judgements=tuple(_judgement(cell, notes) for cell in cells),
    )


def _judgement(cell: Cell, notes: dict[str, str]) -> Judgement:
    """The judgement of one reading; equal notes share a number."""
    text = ratio(cell) or cell.note
    note = notes.setdefault(text, _letter(len(notes))) if text.strip() else ""
    return Judgement(
        claimed=rich(_claimed(cell)),
        verdict=cell.verdict,
        margin=digits.signed(cell.margin),
        caught=cell.caught,
        note=note,
    )


def _letter(position: int) -> str:
    """Letters of notes: a, ..., z, aa, ab, ..."""
    before, last = divmod(position, 26)
    return (_letter(before - 1) if before else "") + chr(ord("a") + last)


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """One number by two methods."""

    where: tuple[Text, ...]
    values: tuple[str, str]
    agrees: bool


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """Comparisons of one quantity by the same pair of methods."""

    common: Text
    where: tuple[Text, ...]
    """The coordinates that distinguish the rows."""
    methods: tuple[str, str]
    rows: tuple[Comparison, ...]


def agreements(checks: Iterable[CrossCheck]) -> tuple[Agreement, ...]:
    """One table for each quantity and pair of methods."""
    groups: dict[tuple[str, tuple[str, str]], list[CrossCheck]] = {}
    for check in checks:
        groups.setdefault((check.quantity, check.methods), []).append(check)
    return tuple(_agreement(group) for group in groups.values())


def _agreement(checks: list[CrossCheck]) -> Agreement:
    first = checks[0]
    known = coordinates.shared([check.where for check in checks])
    headings, points = coordinates.columns([check.where for check in checks], known)
    lead = (first.quantity_latex or first.quantity, coordinates.words(known))
    return Agreement(
        common=rich("; ".join(piece for piece in lead if piece)),
        where=tuple(map(rich, headings)),
        methods=(printable(first.methods[0]), printable(first.methods[1])),
        rows=tuple(_comparison(check, point) for check, point in zip(checks, points, strict=True)),
    )


def _comparison(check: CrossCheck, point: tuple[str, ...]) -> Comparison:
    values = [digits.with_error(v, e) for v, e in zip(check.values, check.errors, strict=True)]
    return Comparison(
        where=tuple(map(rich, point)),
        values=(values[0], values[1]),
        agrees=check.agrees,
    )
