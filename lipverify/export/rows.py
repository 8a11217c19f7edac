"""The ledger as tables, and as CSV (RFC 4180, UTF-8): numbers read back exactly, and spreadsheets run no text.

An id is arbitrary text, and is used as a path only if it has the usual form.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b

import msgspec

from lipverify.claims.ledger import reach
from lipverify.claims.ledger.record import Cell, Ledger, Record
from lipverify.claims.ledger.symbols import Scalar
from lipverify.report.readings import stem
from lipverify.report.statements import numbers
from lipverify.report.visible import visible

Value = str | int | float | bool | None


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Columns by name, and rows of their values; a missing value is None."""

    header: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


def tables(ledger: Ledger) -> dict[str, Table]:
    """The tables of an export by the stem of their files."""
    return {
        "cells": cells(ledger.claims),
        "claims": claims(ledger.claims),
        "cross_checks": cross_checks(ledger.claims),
        "curves": curves(ledger.claims),
        "heat_maps": heat_maps(ledger.claims),
    }


def cells(records: Iterable[Record]) -> Table:
    """One row for each cell, with a column for each coordinate."""
    first = ("id", "kind", "claim_verdict", "expected", "verdict")
    last = (
        "quantity", "method", "grade", "measured", "error", "claimed", "low", "high", "open", "margin",
        "control", "control_low", "control_high", "control_verdict", "control_expects", "note",
    )  # fmt: skip
    pairs = [(record, cell) for record in records for cell in record.cells]
    keys = coordinates(cell.where for _, cell in pairs)
    names = column_names(keys, (*first, *last))
    return Table(
        header=(*first, *names, *last),
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
            for record, cell in pairs
        ),
    )


def _evidence(cell: Cell) -> tuple[Value, ...]:
    allowed, control = cell.allowed, cell.control
    return (
        cell.quantity, cell.method, cell.grade, cell.measured, cell.error, _value(cell.claimed), allowed.low,
        allowed.high, allowed.open, cell.margin, _value(control.says), control.low, control.high, control.verdict,
        control.expects, cell.note,
    )  # fmt: skip


def _value(text: str) -> str:
    """The value that a control states, without an equality sign, which a spreadsheet would evaluate."""
    return text.removeprefix("=").lstrip()


def claims(records: Iterable[Record]) -> Table:
    """One row for each claim: the statement, the number that decides it, its range and its verdict."""
    header = (
        "id", "title", "section", "statement", "paper", "place", "printed", "kind", "grade", "claimed", "measured",
        "value", "error", "low", "high", "verdict", "range", "condition", "expected", "margin", "control",
        "control_caught", "problem", "corrected", "seconds",
    )  # fmt: skip
    return Table(header=header, rows=tuple(map(_claim, records)))


def _claim(record: Record) -> tuple[Value, ...]:
    source, control, first = record.source, record.control, next(iter(numbers(record)), None)
    number = (None,) * 4 if first is None else (first.value, first.error, first.low, first.high)
    section = record.heading.section if record.heading is not None else ""
    return (
        record.id, record.title, section, record.statement, source.paper, source.place, source.printed, record.kind,
        record.grade, record.claimed, record.measured, *number, record.verdict, record.range,
        reach.condition(record.cells, record.verdict), record.expected, record.margin,
        control.statement, control.caught, record.problem, record.corrected, record.seconds,
    )  # fmt: skip


def cross_checks(records: Iterable[Record]) -> Table:
    """One row for each cross-check: the values and errors of both methods."""
    last = ("quantity", "method_a", "method_b", "value_a", "value_b", "error_a", "error_b", "agrees")
    pairs = [(record, check) for record in records for check in record.cross_checks]
    keys = coordinates(check.where for _, check in pairs)
    names = column_names(keys, ("id", *last))
    rows = tuple(
        (record.id, *map(c.where.get, keys), c.quantity, *c.methods, *c.values, *c.errors, c.agrees)
        for record, c in pairs
    )
    return Table(header=("id", *names, *last), rows=rows)


def curves(records: Iterable[Record]) -> Table:
    """One row for each point of a curve, with the names of the axes; the figures of a claim are counted from 1."""
    header = ("id", "figure", "panel", "xlabel", "ylabel", "curve", "style", "x", "y", "error")
    rows = tuple(
        (record.id, number, panel.title, panel.xlabel, panel.ylabel, curve.label, curve.style, *point)
        for record in records
        for number, figure in enumerate(record.figures, 1)
        for panel in figure.panels
        for curve in panel.series
        for point in zip(curve.x, curve.y, (*curve.error, *(None,) * len(curve.x)), strict=False)
    )
    return Table(header=header, rows=rows)


def heat_maps(records: Iterable[Record]) -> Table:
    """One row for each entry of a matrix in a figure; rows and columns are counted from 1."""
    header = ("id", "figure", "map", "row", "column", "value")
    rows = tuple(
        (record.id, number, heat_map.title, i, j, value)
        for record in records
        for number, figure in enumerate(record.figures, 1)
        for heat_map in figure.maps
        for i, row in enumerate(heat_map.values, 1)
        for j, value in enumerate(row, 1)
    )
    return Table(header=header, rows=rows)


def statements(ledger: Ledger) -> dict[str, list[Record]]:
    """The claims, grouped by the stem that all readings of a statement share."""
    groups: dict[str, list[Record]] = {}
    for record in ledger.claims:
        groups.setdefault(stem(record), []).append(record)
    return groups


def coordinates(points: Iterable[dict[str, Scalar]]) -> tuple[str, ...]:
    """All coordinates of several points: the usual ones first, the others in order of appearance."""
    keys = dict.fromkeys(key for point in points for key in point)
    usual = ("d", "n", "law", "w", "L", "sigma")
    return (*(key for key in usual if key in keys), *(key for key in keys if key not in usual))


def column_names(keys: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """The coordinates as columns; one with the name of another column is marked as `where.name`.

    >>> column_names(("d", "method"), ("id", "method"))
    ('d', 'where.method')
    """
    return tuple(f"where.{key}" if key in taken else key for key in keys)


_NUMBER = re.compile(r"[-+]\d+(?:\.\d*)?(?:e[-+]?\d+)?(?![^\s,;:±°%])(?!\s*[-+*/^&=<>|!(])|[-+]+\s*$|[-+]\s+[^\W\d]")
"""Text that looks like a formula and is none: a signed number without an operator, a sign, a dash before words."""


def comma_separated(table: Table) -> bytes:
    r"""The table as CSV; text that a spreadsheet would evaluate gets an apostrophe, unless it is a number before words.

    >>> comma_separated(Table(header=("id", "x"), rows=(("a, b", 0.1), ("=1+1", None))))
    b'id,x\r\n"a, b",0.1\r\n\'=1+1,\r\n'
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(map(_written, table.header))
    writer.writerows(map(_written, row) for row in table.rows)
    return out.getvalue().encode()


def _written(value: Value) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value)
        case int():
            return str(value)
    text = visible(value)
    bare = text.lstrip()
    formula = bare.startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))
    return f"'{text}" if formula and not _NUMBER.match(bare) else text


_LONGEST = 120
"""Letters of an id in a file name; file systems take 255 bytes, and an ending and a number follow."""


def file_name(id: str) -> str:
    """The file name of an id: the id with "_" for "/"; of any other text its letters, and a digest.

    Different ids have different names. No name leaves the folder or is hidden.

    >>> file_name("softmax.window-printed/affine/lower")
    'softmax.window-printed_affine_lower'
    >>> file_name("../../etc/passwd")
    'etc-passwd-3fe5b8a45dc8'
    """
    if re.fullmatch(r"[a-z][a-z0-9-]*\.[a-z0-9-]+(/[a-z0-9-]+)*", id) and len(id) <= _LONGEST:
        return id.replace("/", "_")
    letters = "-".join(re.findall(r"[A-Za-z0-9]+", id))[: _LONGEST // 2].strip("-")
    digest = blake2b(id.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f"{letters}-{digest}" if letters else f"claim-{digest}"
