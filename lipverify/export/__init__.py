"""Export a ledger as tables (CSV), labelled arrays (NetCDF), figures (SVG and PDF) and LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec.structs import replace

from lipverify.claims.ledger.figure import Figure
from lipverify.claims.ledger.record import Ledger
from lipverify.errors import InvalidInput
from lipverify.export import rows
from lipverify.export.arrays import netcdf, require_libraries
from lipverify.export.rows import comma_separated, file_name, statements
from lipverify.export.theorems import theorems
from lipverify.foundation.files import require_targets, write_whole
from lipverify.foundation.lazy import directory
from lipverify.report.drawing import draw
from lipverify.report.drawings import joined
from lipverify.report.text import printable
from lipverify.report.typeset import typeset_alone

__all__ = ["FORMATS", "export_ledger"]
__dir__ = directory(__name__)

FORMATS = ("csv", "netcdf", "svg", "pdf", "tex")


def export_ledger(ledger: Ledger, folder: Path, formats: Sequence[str] = FORMATS) -> tuple[Path, ...]:
    """Write a ledger in other formats: contents are made and all targets checked before the first file is written."""
    for name in formats:
        if name not in FORMATS:
            raise InvalidInput(f"format = {name!r}: not one of {', '.join(FORMATS)}.")
    if "netcdf" in formats:
        require_libraries()
    made = {folder / name: content for name, content in files(ledger, [name for name in FORMATS if name in formats])}
    require_targets("out", made)
    for path in made:
        path.parent.mkdir(exist_ok=True)
    for path, content in made.items():
        write_whole(path, content)
    return tuple(made)


Kind = Literal["svg", "pdf"]


def files(ledger: Ledger, formats: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The name and content of every file."""
    if "csv" in formats:
        for name, table in rows.tables(ledger).items():
            yield f"{name}.csv", comma_separated(table)
    if "netcdf" in formats:
        yield "cells.nc", netcdf(ledger)
    if "tex" in formats:
        yield "theorems.tex", theorems(ledger)
    kinds: list[Kind] = [kind for kind in get_args(Kind) if kind in formats]
    if kinds:
        yield from _figures(ledger, kinds)


def _figures(ledger: Ledger, kinds: Sequence[Kind]) -> Iterator[tuple[str, bytes]]:
    """Every figure in each format, and the table of figures, which gives the reason for one that cannot be drawn."""
    listed = []
    for exhibit in exhibits(ledger):
        contents, problem = drawn(exhibit, kinds)
        for kind, content in contents.items():
            yield f"figures/{exhibit.name}.{kind}", content
        figure = exhibit.figure
        titles = "; ".join(panel.title for panel in figure.panels)
        listed.append((exhibit.name, ", ".join(exhibit.claims), titles, figure.caption, figure.alt, problem))
    header = ("file", "claims", "panels", "caption", "description", "problem")
    yield "figures.csv", comma_separated(rows.Table(header=header, rows=tuple(listed)))


class Exhibit(msgspec.Struct, frozen=True, kw_only=True):
    """A figure, the base name of its files, and the ids of the claims that it shows."""

    name: str
    claims: tuple[str, ...]
    figure: Figure


def exhibits(ledger: Ledger) -> Iterator[Exhibit]:
    """The figures of each statement, joined as in the report, named by the common part of their claims' ids and a
    number.
    """
    counts: Counter[str] = Counter()
    for records in statements(ledger).values():
        for figure in joined(figure for record in records for figure in record.figures):
            # a figure that is part of another one adds nothing
            ids = [r.id for r in records if any(joined((figure, own)) == (figure,) for own in r.figures)]
            name = file_name(_common(ids))
            counts[name] += 1
            yield Exhibit(name=f"{name}-{counts[name]}", claims=tuple(ids), figure=figure)


def drawn(exhibit: Exhibit, kinds: Sequence[Kind]) -> tuple[dict[Kind, bytes], str]:
    """Draw the figure in each format; if that fails, no files and the reason."""
    try:
        figure = exhibit.figure
        if len(figure.panels) == 1:  # a paper has its title in the caption
            figure = replace(figure, panels=(replace(figure.panels[0], title=""),))
        drawing = draw(figure, paper=True)
        return {kind: typeset_alone(drawing, kind, printable(exhibit.name)) for kind in kinds}, ""
    except Exception as error:  # an exception of the plotting library must not lose the other figures
        return {}, f"{type(error).__name__}: {error}"


def _common(ids: Sequence[str]) -> str:
    """The leading parts that all ids share.

    >>> _common(["a.b/relu/upper", "a.b/relu/lower"])
    'a.b/relu'
    """
    columns = zip(*(id.split("/") for id in ids), strict=False)
    return "/".join(parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, columns))
