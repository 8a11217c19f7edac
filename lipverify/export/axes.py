"""The coordinates of cells as axes: labels of one type, and the position of each cell."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from lipverify.claims.ledger.record import Cell
from lipverify.claims.ledger.symbols import Scalar
from lipverify.export.rows import coordinates
from lipverify.report.visible import visible

FIXED = ("claim", "quantity", "method")
TAKEN = (
    *FIXED, "cell", "measured", "error", "low", "high", "margin", "verdict", "grade", "control", "control_verdict",
    "claimed", "note",
    "title", "statement", "source", "claim_verdict", "range", "condition", "expected", "problem",
)  # fmt: skip
"""Names that a coordinate cannot have, because the file uses them otherwise."""
_INTEGERS = np.iinfo(np.int64)


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """One coordinate: its distinct labels, and the position of each cell among them."""

    name: str
    labels: tuple[Scalar, ...]
    positions: tuple[int, ...]
    key: str
    """Its name in the ledger, which NetCDF may not allow."""

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes of the axis in the file."""
        return {"long_name": self.key}

    def array(self, labels: Sequence[Scalar]) -> Any:
        """Labels in the type of the axis."""
        return np.array(labels, dtype=object if any(isinstance(label, str) for label in labels) else None)


def axes_of(cells: Sequence[tuple[str, Cell]], ids: Sequence[str]) -> tuple[Axis, ...]:
    """The axes of cells, given as pairs of claim id and cell; `ids` are all claims, with or without cells."""
    keys = coordinates(cell.where for _, cell in cells)
    names = _names(keys)
    claims = dict.fromkeys(ids)
    order = {id: place for place, id in enumerate(claims)}
    return (
        Axis(
            name="claim",
            key="claim",
            labels=tuple(map(visible, claims)),
            positions=tuple(order[id] for id, _ in cells),
        ),
        *(_axis(names[key], key, [cell.where.get(key) for _, cell in cells]) for key in keys),
        _axis("quantity", "quantity", [cell.quantity for _, cell in cells]),
        _axis("method", "method", [cell.method for _, cell in cells]),
    )


def _axis(name: str, key: str, values: Sequence[Scalar | None]) -> Axis:
    """An axis; its labels are ascending if they are numbers, and in order of appearance otherwise."""
    alike = _alike(values)
    labels = list(dict.fromkeys(alike))
    if not isinstance(labels[0], str):
        labels.sort(key=lambda label: (math.isnan(label), label) if not isinstance(label, str) else (True, 0))
    place = {label: k for k, label in enumerate(labels)}
    return Axis(name=name, key=visible(key), labels=tuple(labels), positions=tuple(place[v] for v in alike))


def _alike(values: Sequence[Scalar | None]) -> list[Scalar]:
    """Convert values to one type: integers, else doubles (NaN for None), else text (empty for None)."""
    try:
        if all(isinstance(v, int) and _INTEGERS.min <= v <= _INTEGERS.max for v in values):
            return [v for v in values if v is not None]
        if all(v is None or isinstance(v, int | float) for v in values):
            return [math.nan if v is None else float(v) for v in values]
    except OverflowError:  # an integer larger than all doubles is kept as text
        pass
    return ["" if v is None else visible(str(v)) for v in values]


def _names(keys: Sequence[str]) -> dict[str, str]:
    """Unique names that NetCDF allows, by the keys of the ledger."""
    names: dict[str, str] = {}
    for key in keys:
        name = re.sub(r"[^A-Za-z0-9_]", "_", key)[:60]
        name = name if re.match(r"[A-Za-z]", name) and name not in TAKEN else f"where_{name}"
        while name in names.values():
            name += "_"
        names[key] = name
    return names
