"""Tables of claims: a line a claim, under the stem that its id shares with others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lipverify.cli.wrapping import Whole
from lipverify.report.visible import visible

WIDEST = 27
"""Columns for what follows the stem of an id: more would leave too little for the rest of 80."""
VERDICT = 20
LOOKS = {
    "supported": ("✓", "green"),
    "refuted": ("✗", "red"),
    "inconclusive": ("?", "yellow"),
    "error": ("!", "bold red"),
}
"""The sign and the colour of a verdict: either alone tells them apart."""

Row = tuple[str, tuple[str, ...]]


def grouped(columns: tuple[str, ...], rows: Sequence[Row]) -> Group:
    """Rows of (id, cells) as one table for each stem, all with columns of the same widths; the last cell is markup."""
    widest = min(WIDEST, max((len(_rest(id)) + 2 for id, _ in rows), default=0))
    widest = max(widest, len("claim"))
    parts: list[RenderableType] = []
    heading = _table(columns, widest)
    heading.add_row("[dim]claim[/dim]", *(f"[dim]{name}[/dim]" for name in columns))
    parts.append(heading)
    for stem, group in groupby(rows, key=lambda row: row[0].partition("/")[0]):
        parts.append(Text(visible(stem), "bold"))
        table = _table(columns, widest)
        for id, cells in group:
            *said, verdict = cells
            name, *others = (Whole(visible(each)) for each in (_rest(id), *said))
            table.add_row(Padding(name, (0, 0, 0, 2)), *others, _marked(verdict))
        parts.append(table)
    return Group(*parts)


def _marked(cell: str) -> Text:
    """Markup as it looks; what a terminal would obey is named instead, and nothing becomes an emoji."""
    return Text.from_markup(visible(cell), emoji=False)


def _rest(id: str) -> str:
    return id.partition("/")[2]


def _table(columns: tuple[str, ...], widest: int) -> Table:
    """A table of fixed proportions, so that one after the other looks like one."""
    table = Table(box=None, pad_edge=False, show_header=False, expand=True)
    table.add_column(width=widest, overflow="fold")
    for _ in columns[:-1]:
        table.add_column(ratio=1, overflow="fold")
    table.add_column(width=VERDICT, overflow="fold")
    return table
