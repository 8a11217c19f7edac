"""A claim as a picture: what was measured, cell by cell, inside or outside of what it allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lipverify.claims.ledger.notation import said
from lipverify.foundation.showing import axes

if TYPE_CHECKING:
    from lipverify.claims.ledger.record import Cell, Record

COLORS = {"supported": "#00664a", "refuted": "#b03a00", "inconclusive": "#4f555c", "error": "#7a2f82"}
WIDE = 0.4
"""Half the room of a cell: what it allows is shaded there."""
BEYOND = 0.15
"""Share of what is seen that is shaded beyond an edge with nothing behind it."""


def draw_cells(record: Record, ax: Any = None) -> Any:
    """The interval of each cell, in the colour of its verdict, over the shaded range that the claim allows; the axes.

    A cell without a finite interval has no place in it, and is named all the same.
    """
    ax = axes(ax)
    finite = [cell for cell in record.cells if cell.measured is not None and math.isfinite(cell.error or 0.0)]
    seen = [end for cell in finite for end in (*_ends(cell), cell.allowed.low, cell.allowed.high) if end is not None]
    room = BEYOND * (max(seen, default=1.0) - min(seen, default=0.0)) or BEYOND
    floor, ceiling = min(seen, default=0.0) - room, max(seen, default=1.0) + room
    for k, cell in enumerate(record.cells):
        low = floor if cell.allowed.low is None else cell.allowed.low
        high = ceiling if cell.allowed.high is None else cell.allowed.high
        ax.fill_between([k - WIDE, k + WIDE], low, high, color="#9fb8cc", alpha=0.45, linewidth=0)
        if cell in finite:
            color = COLORS[cell.verdict]
            ax.errorbar([k], [cell.measured], [cell.error or 0.0], fmt="o", capsize=3, color=color)
    ax.set_xticks(range(len(record.cells)), _names(record.cells), rotation=30, ha="right")
    quantities = list(dict.fromkeys(cell.quantity.replace("$", r"\$") for cell in record.cells))
    ax.set(ylim=(floor, ceiling), ylabel="; ".join(quantities), title=f"{record.id}: {record.verdict}")
    return ax


def _ends(cell: Cell) -> tuple[float, float]:
    assert cell.measured is not None
    return cell.measured - (cell.error or 0.0), cell.measured + (cell.error or 0.0)


def _names(cells: Sequence[Cell]) -> list[str]:
    """Where each cell is, by the coordinates in which they differ."""
    keys = dict.fromkeys(key for cell in cells for key in cell.where)
    varying = [key for key in keys if len({cell.where.get(key) for cell in cells}) > 1]
    return [", ".join(said(key, cell.where[key]) for key in varying if key in cell.where) for cell in cells]
