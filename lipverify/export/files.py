"""The files of each format, as relative names with contents, made one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from lipverify.claims.ledger.record import Ledger
from lipverify.export import rows
from lipverify.export.rows import comma_separated

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
    from lipverify.export.figures import drawn, exhibits

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
