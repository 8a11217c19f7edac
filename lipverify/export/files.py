"""The files of each format, as relative names with contents, made one after the other.

Figures are those of the report, each named after the claims that it shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Literal

import msgspec

from lipverify.claims.ledger.figure import Figure
from lipverify.claims.ledger.record import Ledger
from lipverify.export import rows
from lipverify.export.rows import comma_separated, file_name, statements
from lipverify.report.drawings import joined
from lipverify.report.figures import draw_alone

Kind = Literal["svg", "pdf"]
KINDS: tuple[Kind, ...] = ("svg", "pdf")


def files(ledger: Ledger, formats: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The name and content of every file; each format imports the libraries that it needs."""
    if "csv" in formats:
        for name, table in rows.tables(ledger).items():
            yield f"{name}.csv", comma_separated(table)
    if "netcdf" in formats:
        from lipverify.export.arrays import netcdf

        yield "cells.nc", netcdf(ledger)
    if "tex" in formats:
        from lipverify.export.package import package, theorems, verdicts

        yield "lipverify.sty", package(ledger)
        yield "theorems.tex", theorems(ledger)
        yield "verdicts.tex", verdicts(ledger)
    kinds = [kind for kind in KINDS if kind in formats]
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
    """The figures of each statement, joined as in the report: readings of the same measurement share a figure.

    A figure's name is the common part of its claims' ids, with a number.
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
        return {kind: draw_alone(exhibit.figure, kind, exhibit.name) for kind in kinds}, ""
    except Exception as error:  # an exception of the plotting library must not lose the other figures
        return {}, f"{type(error).__name__}: {error}"


def _common(ids: Sequence[str]) -> str:
    """The leading parts that all ids share.

    >>> _common(["a.b/relu/upper", "a.b/relu/lower"])
    'a.b/relu'
    """
    columns = zip(*(id.split("/") for id in ids), strict=False)
    return "/".join(parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, columns))
