"""The ledger as tables: plain values in named columns, in the order of the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from lipverify.claims.ledger.reach import condition, reach
from lipverify.claims.ledger.record import Cell, CrossCheck, Ledger, Record
from lipverify.claims.ledger.symbols import Scalar
from lipverify.report.readings import stem

Value = str | int | float | bool | None

CELL_FIRST = ("id", "kind", "claim_verdict", "expected", "verdict")
CELL_LAST = (
    "quantity", "method", "grade", "measured", "error", "claimed", "low", "high", "open", "margin",
    "control", "control_low", "control_high", "control_verdict", "control_expects", "note",
)  # fmt: skip
CROSS_LAST = ("quantity", "method_a", "method_b", "value_a", "value_b", "error_a", "error_b", "agrees")
USUAL = ("d", "n", "law", "w", "L", "sigma")
"""Coordinates that come first, in this order."""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Columns by name, and rows of their values; a missing value is None."""

    header: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


def tables(ledger: Ledger) -> dict[str, Table]:
    """All tables by name."""
    return {
        "cells": cells(ledger.claims),
        "claims": claims(ledger.claims),
        "cross_checks": cross_checks(ledger.claims),
        "curves": curves(ledger.claims),
        "heat_maps": heat_maps(ledger.claims),
    }


def cells(records: Iterable[Record]) -> Table:
    """One row for each cell, with a column for each coordinate."""
    found = [(record, cell) for record in records for cell in record.cells]
    keys = coordinates(cell.where for _, cell in found)
    names = column_names(keys, (*CELL_FIRST, *CELL_LAST))
    return Table(
        header=(*CELL_FIRST, *names, *CELL_LAST),
        rows=tuple(
            (
                record.id,
                record.kind,
                record.verdict,
                record.expected,
                cell.verdict,
                *map(cell.where.get, keys),
                *_evidence(cell),
            )
            for record, cell in found
        ),
    )


def _evidence(cell: Cell) -> tuple[Value, ...]:
    allowed, control = cell.allowed, cell.control
    return (
        cell.quantity, cell.method, cell.grade, cell.measured, cell.error, _value(cell.claimed), allowed.low,
        allowed.high, allowed.open, cell.margin, _value(control.says), control.low, control.high, control.verdict,
        control.expects, cell.note,
    )  # fmt: skip


def _value(said: str) -> str:
    """The value that a control states, without an equality sign, which a spreadsheet would evaluate."""
    return said.removeprefix("=").lstrip()


def claims(records: Iterable[Record]) -> Table:
    """One row for each claim: the statement, its range and its verdict."""
    header = (
        "id", "title", "section", "statement", "paper", "place", "printed", "kind", "grade", "claimed", "measured",
        "verdict", "range", "condition", "expected", "margin", "control", "control_caught", "problem", "corrected",
        "seconds",
    )  # fmt: skip
    return Table(header=header, rows=tuple(map(_claim, records)))


def _claim(record: Record) -> tuple[Value, ...]:
    source, control = record.source, record.control
    section = record.heading.section if record.heading is not None else ""
    return (
        record.id, record.title, section, record.statement, source.paper, source.place, source.printed, record.kind,
        record.grade, record.claimed, record.measured, record.verdict, reach(record.cells, record.verdict, record.id),
        condition(record.cells, record.verdict), record.expected, record.margin,
        control.statement, control.caught, record.problem, record.corrected, record.seconds,
    )  # fmt: skip


def cross_checks(records: Iterable[Record]) -> Table:
    """One row for each cross-check: the values and errors of both methods."""
    found = [(record, check) for record in records for check in record.cross_checks]
    keys = coordinates(check.where for _, check in found)
    names = column_names(keys, ("id", *CROSS_LAST))
    rows = tuple((record.id, *map(check.where.get, keys), *_compared(check)) for record, check in found)
    return Table(header=("id", *names, *CROSS_LAST), rows=rows)


def _compared(check: CrossCheck) -> tuple[Value, ...]:
    return (check.quantity, *check.methods, *check.values, *check.errors, check.agrees)


def curves(records: Iterable[Record]) -> Table:
    """One row for each point of a curve, with the names of the axes; the figures of a claim are counted from 1."""
    header = ("id", "figure", "panel", "xlabel", "ylabel", "curve", "style", "x", "y", "error")
    return Table(header=header, rows=tuple(_points(records)))


def _points(records: Iterable[Record]) -> Iterator[tuple[Value, ...]]:
    for record in records:
        for number, figure in enumerate(record.figures, 1):
            for panel in figure.panels:
                for curve in panel.series:
                    axes = (record.id, number, panel.title, panel.xlabel, panel.ylabel, curve.label, curve.style)
                    errors = (*curve.error, *(None,) * len(curve.x))
                    yield from ((*axes, *point) for point in zip(curve.x, curve.y, errors, strict=False))


def heat_maps(records: Iterable[Record]) -> Table:
    """One row for each entry of a matrix in a figure; rows and columns are counted from 1."""
    header = ("id", "figure", "map", "row", "column", "value")
    found = tuple(
        (record.id, number, shown.title, i, j, value)
        for record in records
        for number, figure in enumerate(record.figures, 1)
        for shown in figure.maps
        for i, row in enumerate(shown.values, 1)
        for j, value in enumerate(row, 1)
    )
    return Table(header=header, rows=found)


def statements(ledger: Ledger) -> dict[str, list[Record]]:
    """The claims, grouped by the stem that all readings of a statement share."""
    found: dict[str, list[Record]] = {}
    for record in ledger.claims:
        found.setdefault(stem(record), []).append(record)
    return found


def coordinates(places: Iterable[dict[str, Scalar]]) -> tuple[str, ...]:
    """All coordinates of several places: the usual ones first, the others in order of appearance."""
    found = dict.fromkeys(key for place in places for key in place)
    return (*(key for key in USUAL if key in found), *(key for key in found if key not in USUAL))


def column_names(keys: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """The coordinates as columns; one with the name of another column is marked as `where.name`.

    >>> column_names(("d", "method"), ("id", "method"))
    ('d', 'where.method')
    """
    return tuple(f"where.{key}" if key in taken else key for key in keys)
