"""Tables of claims: a line a claim under the stem that its id shares with others; readable at 80 columns."""

from __future__ import annotations

from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table


def grouped(columns: tuple[str, ...], rows: Iterable[tuple[str, tuple[str, ...]]]) -> Table:
    """A table of (id, cells); cells are markup, and the last column does not wrap."""
    table = Table(box=None, pad_edge=False)
    table.add_column("claim", overflow="fold")
    for name in columns[:-1]:
        table.add_column(name, overflow="fold")
    table.add_column(columns[-1], no_wrap=True)
    before = ""
    for id, cells in rows:
        stem, _, rest = id.partition("/")
        if rest and stem != before:
            table.add_row(f"[bold]{escape(stem)}[/bold]")
        before = stem
        table.add_row(f"  {escape(rest)}" if rest else f"[bold]{escape(stem)}[/bold]", *cells)
    return table
