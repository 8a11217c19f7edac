"""Tables of claims, and text wrapped to a width: lines break between words, and inside brackets only if necessary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lipverify.claims.ledger.record import Outcome
from lipverify.report.visible import visible

LOOKS = {
    "supported": ("✓", "green"),
    "refuted": ("✗", "red"),
    "inconclusive": ("?", "yellow"),
    "error": ("!", "bold red"),
}
"""The sign and the colour of each verdict; either suffices to distinguish them."""
SIGNS: dict[Outcome, str] = {
    "holds as printed": "✓", "holds in one of its readings": "≈", "false as printed": "✗", "open": "?",
}  # fmt: skip
"""The sign of each outcome."""

Row = tuple[str, tuple[str, ...]]


def grouped(columns: tuple[str, ...], rows: Sequence[Row]) -> Group:
    """Rows of (id, cells) as one table for each stem, all with the same column widths; the last cell is markup."""
    # more would leave too little of 80 columns for the rest
    widest = min(27, max((len(_rest(id)) + 2 for id, _ in rows), default=0))
    widest = max(widest, len("claim"))
    parts: list[RenderableType] = []
    heading = _table(columns, widest)
    heading.add_row("[dim]claim[/dim]", *(f"[dim]{name}[/dim]" for name in columns))
    parts.append(heading)
    for stem, group in groupby(rows, key=lambda row: row[0].partition("/")[0]):
        parts.append(Text(visible(stem), "bold"))
        table = _table(columns, widest)
        for id, cells in group:
            *middle, verdict = cells
            name, *others = (Whole(visible(cell)) for cell in (_rest(id), *middle))
            table.add_row(Padding(name, (0, 0, 0, 2)), *others, Text.from_markup(visible(verdict), emoji=False))
        parts.append(table)
    return Group(*parts)


def _rest(id: str) -> str:
    return id.partition("/")[2]


def _table(columns: tuple[str, ...], widest: int) -> Table:
    """A table with fixed proportions, so that successive tables align."""
    table = Table(box=None, pad_edge=False, show_header=False, expand=True)
    table.add_column(width=widest, overflow="fold")
    for _ in columns[:-1]:
        table.add_column(ratio=1, overflow="fold")
    table.add_column(width=20, overflow="fold")  # a verdict, its sign and the shortest range
    return table


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """The text in lines of at most `width` columns, all after the first indented, brackets on one line if they fit.

    >>> wrapped("w* is of order Λ^(2 / (d + 3)) here", 24)
    ['w* is of order', 'Λ^(2 / (d + 3)) here']
    """
    width = max(width, 1)  # a terminal may be narrower than the prefix of the text
    indent = indent if cell_len(indent) < width - 1 else ""
    lines = [""]
    for piece in _fitting(text, width - cell_len(indent)):
        joined = f"{lines[-1]} {piece}" if lines[-1].strip() else lines[-1] + piece
        if cell_len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(indent + piece)
    return lines


def _fitting(text: str, width: int) -> Iterator[str]:
    """The pieces between which a line may break, none wider than `width`."""
    for piece in _pieces(text):
        if cell_len(piece) <= width:
            yield piece
            continue
        for word in piece.split():
            while cell_len(word) > width:
                joint = max(word.rfind(sign, 0, width) for sign in "/.-_") + 1
                end = joint if 2 * joint > width else width
                yield word[:end]
                word = word[end:]
            yield word


def _pieces(text: str) -> Iterator[str]:
    """The words; text in brackets is one piece."""
    depth, piece = 0, ""
    for word in text.split():
        piece = f"{piece} {word}" if piece else word
        depth = max(depth + sum(map(word.count, "([{⟨")) - sum(map(word.count, ")]}⟩")), 0)
        if depth == 0:
            yield piece
            piece = ""
    yield from piece.split()  # an unclosed bracket does not join words


class Whole:
    """Text of a table cell, wrapped to the width of the cell."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in wrapped(self.text, options.max_width):
            yield Text(line)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, max(1, cell_len(self.text)))
