"""Export cells as labelled arrays: a NetCDF file, one group for each statement, one dimension for each coordinate."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from lipverify.claims.ledger.reach import condition, reach_of_record
from lipverify.claims.ledger.record import Cell, Ledger, Record
from lipverify.claims.ledger.symbols import Scalar
from lipverify.errors import InvalidInput
from lipverify.export.rows import coordinates, file_name, statements
from lipverify.report import readings, sources
from lipverify.report.visible import visible

OF_CLAIM = ("title", "statement", "source", "claim_verdict", "range", "condition", "expected", "problem")
"""Variables with one value for each claim, along the dimension `claim`."""
TAKEN = (
    "claim", "quantity", "method", "cell", "measured", "error", "low", "high", "margin", "verdict", "grade", "control",
    "control_verdict", "claimed", "note", *OF_CLAIM,
)  # fmt: skip
"""Names that a coordinate cannot have, because the file uses them otherwise."""


def _alike(values: Sequence[Scalar | None]) -> Any:
    """Values of one type: integers, else doubles (NaN for None), else text (empty for None)."""
    try:
        # with larger integers, all labels of the coordinate are doubles
        if all(isinstance(v, int) and -(2**63) <= v < 2**63 for v in values):
            return np.array(values)
        if all(v is None or isinstance(v, int | float) for v in values):
            return np.array([math.nan if v is None else float(v) for v in values])
    except OverflowError:  # an integer larger than all doubles is kept as text
        pass
    return np.array(["" if v is None else visible(str(v)) for v in values], dtype=object)


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


NUMBERS = {
    "measured": "middle of the interval that contains the quantity",
    "error": "half-width of that interval: a bound, or that of the 95 % interval if the method is montecarlo",
    "low": "lower end of the allowed range; NaN if unbounded",
    "high": "upper end of the allowed range; NaN if unbounded",
    "margin": "distance of the interval from the edge of the allowed range, positive inside",
}
WORDS = {
    "verdict": "verdict on this cell; empty if there is no cell",
    "grade": "kind of evidence for the number",
    "control": "the control: a near statement that must come out the other way",
    "control_verdict": "verdict on the control: refuted if the cell supports the claim, else supported",
    "claimed": "the claim at this place",
    "note": "further reasons for the verdict",
}
SPARSEST, ROOM = 64, 4096
"""A block may have SPARSEST places a cell, or ROOM in all; larger ones are written as a list of cells."""


def netcdf(ledger: Ledger) -> bytes:
    """The content of the NetCDF file; refused without the extra `data`."""
    require_libraries()
    import xarray

    about = _provenance(ledger)
    with tempfile.TemporaryDirectory(prefix="lipverify-") as folder:
        path = Path(folder, "cells.nc")
        xarray.Dataset(attrs=about).to_netcdf(path, mode="w", engine="h5netcdf")
        for stem, records in statements(ledger).items():
            group = dataset(records).assign_attrs(about)
            group.to_netcdf(path, mode="a", engine="h5netcdf", group=file_name(stem))
        return path.read_bytes()


def require_libraries() -> None:
    """Refuse, before any work is done, if xarray or its engine is missing."""
    for name in ("xarray", "h5netcdf", "h5py"):
        if find_spec(name) is None:
            raise InvalidInput(f"netcdf needs {name}, which is not installed: pip install 'lipverify[data]'.")


def dataset(records: Sequence[Record]) -> Any:
    """The cells of claims on one statement as an `xarray.Dataset`: its dimensions are `claim`, the coordinates of the
    cells, `quantity` and `method`, or `cell` alone where that block would be nearly empty or two cells share a place.
    """
    import xarray

    cells = [(record.id, cell) for record in records for cell in record.cells]
    attrs = {
        "title": visible(readings.title(records)),
        "statement": "; ".join(dict.fromkeys(visible(record.statement) for record in records)),
        "source": "; ".join(dict.fromkeys(visible(sources.quotation(record.source)) for record in records)),
    }
    ids = [visible(record.id) for record in records]
    if not cells:
        of_claims = {name: ("claim", words) for name, words in _of_claims(records, None).items()}
        return xarray.Dataset(of_claims, {"claim": ids}, attrs)
    values, long = _coordinates(cells)
    block = _block(values, ids, _positions(cells, records))
    variables: dict[str, Any] = {}
    for name, (column, about) in _variables(cells).items():
        variables[name] = (*block.placed(name, column), about)
    for name, words in _of_claims(records, None if block.dense else [id for id, _ in cells]).items():
        variables[name] = ("claim" if block.dense else "cell", words)
    result = xarray.Dataset(variables, block.axes(values, long), attrs)
    single = [name for name in ("quantity", "method") if block.dense and result.sizes[name] == 1]
    return result.isel(dict.fromkeys(single, 0))


def _coordinates(cells: Sequence[tuple[str, Cell]]) -> tuple[dict[str, Any], dict[str, str]]:
    """The values of each coordinate in the order of the cells, by its name in the file, and its name in the ledger."""
    keys = coordinates(cell.where for _, cell in cells)
    values = {name: _alike([cell.where.get(key) for _, cell in cells]) for key, name in _names(keys).items()}
    values |= {name: _alike([getattr(cell, name) for _, cell in cells]) for name in ("quantity", "method")}
    values = {"claim": _alike([id for id, _ in cells]), **values}
    return values, dict(zip(values, map(visible, ("claim", *keys, "quantity", "method")), strict=True))


@dataclass(frozen=True)
class _Block:
    """The places of cells in a block with an axis for each name; or a list of cells, where it would be nearly empty."""

    labels: dict[str, Any]
    places: tuple[Any, ...]
    dense: bool

    def axes(self, values: dict[str, Any], long: dict[str, str]) -> dict[str, Any]:
        """The coordinates: of each axis, or of each cell."""
        along = self.labels if self.dense else values
        return {name: (name if self.dense else "cell", along[name], {"long_name": long[name]}) for name in values}

    def placed(self, name: str, column: Any) -> tuple[Any, Any]:
        """Dimensions and values of a column that has an entry for each cell."""
        if not self.dense:
            return "cell", column
        shape = tuple(map(len, self.labels.values()))
        values = np.full(shape, math.nan if name in NUMBERS else "", dtype=column.dtype)
        values[self.places] = column
        return list(self.labels), values


def _block(values: dict[str, Any], ids: Sequence[str], positions: Any) -> _Block:
    """The block of cells with these values by name; the first name is the claim, whose axis has all `ids`."""
    labels, places = zip(*(np.unique(column, return_inverse=True) for column in values.values()), strict=True)
    labels, places = (np.array(ids, dtype=object), *labels[1:]), (positions, *places[1:])
    count, size = len(positions), math.prod(map(len, labels))
    dense = len({*zip(*places, strict=True)}) == count and size <= max(ROOM, SPARSEST * count)
    return _Block(dict(zip(values, labels, strict=True)), places, dense)


def _positions(cells: Sequence[tuple[str, Cell]], records: Sequence[Record]) -> Any:
    """The position of each cell's claim among all claims, with or without cells."""
    order = {record.id: position for position, record in enumerate(records)}
    return np.array([order[id] for id, _ in cells])


def _variables(cells: Sequence[tuple[str, Cell]]) -> dict[str, tuple[Any, dict[str, str]]]:
    """Values and attributes by name, in the order of the cells."""
    variables: dict[str, tuple[Any, dict[str, str]]] = {}
    for name, meaning in NUMBERS.items():
        held = [getattr(cell.allowed if name in ("low", "high") else cell, name) for _, cell in cells]
        values = [math.nan if value is None else value for value in held]
        variables[name] = np.array(values), {"long_name": meaning, "units": "those of the coordinate quantity"}
    for name, meaning in WORDS.items():
        words = np.array([visible(_words(cell)[name]) for _, cell in cells], dtype=object)
        variables[name] = words, {"long_name": meaning}
    return variables


def _words(cell: Cell) -> dict[str, str]:
    control = {"control": cell.control.says, "control_verdict": cell.control.verdict}
    return {"verdict": cell.verdict, "grade": cell.grade, "claimed": cell.claimed, "note": cell.note, **control}


def _of_claims(records: Sequence[Record], ids: Sequence[str] | None) -> dict[str, Any]:
    """The variables of each claim, or of the claim of each id in `ids`."""
    by_id = {record.id: record for record in records}
    wanted = list(records) if ids is None else [by_id[id] for id in ids]

    def texts(record: Record) -> tuple[str, ...]:
        quoted = sources.quotation(record.source)
        where = (reach_of_record(record), condition(record.cells, record.verdict))
        return record.title, record.statement, quoted, record.verdict, *where, record.expected or "", record.problem

    columns = zip(*([visible(text) for text in texts(record)] for record in wanted), strict=True)
    return {name: np.array(column, dtype=object) for name, column in zip(OF_CLAIM, columns, strict=True)}


def _provenance(ledger: Ledger) -> dict[str, str]:
    """Software, machine and settings of the run, as attributes of the file and of every group."""
    made = ledger.provenance
    versions = "; ".join(f"{name} {version}" for name, version in made.versions.items())
    told = {"profile": ledger.profile, "seed": str(ledger.seed), "backend": ledger.backend, "versions": versions}
    told |= {"version": made.versions.get("lipverify", ""), "machine": made.machine, "started": made.started}
    return {name: visible(text) for name, text in told.items()}
