"""Sheets of heat maps: matrices as coloured cells with a common colour scale."""

from __future__ import annotations

import math
from typing import Any

from lipverify.claims.ledger.figure import Figure, HeatMap
from lipverify.report.text import drawable, family

_LEFT, _TOP, _RIGHT, _BOTTOM, _GAP = 0.12, 0.24, 0.75, 0.10, 0.16
"""Margins around the maps (the colour scale is on the right) and between them, in inches."""
_TALLEST = 1.9
"""Largest height of a map, in inches."""
BLANK = "#d9d9d9"


def draw_maps(canvas: Any, figure: Figure, width: float) -> None:
    """Draw all maps of a figure, row by row, and their common scale."""
    across = max(1, min(figure.across, len(figure.maps)))
    down = math.ceil(len(figure.maps) / across)
    names = 0.34 if any(part.rows for part in figure.maps) else 0.0
    below = 0.20 if any(part.columns for part in figure.maps) else 0.0
    cell = (width - _LEFT - _RIGHT) / across
    shape = max(len(part.values) / len(part.values[0]) for part in figure.maps)
    # square cells, unless a map with few rows would become a stripe
    wide = min(cell - names - _GAP, max(_TALLEST / shape, 1.2))
    high = min(_TALLEST, wide * shape)
    cell = wide + names + _GAP
    step = _TOP + high + below + _BOTTOM
    total = down * step
    canvas.set_size_inches(width, total)
    shared = scale(figure.maps)
    for index, part in enumerate(figure.maps):
        row, column = divmod(index, across)
        left, bottom = _LEFT + column * cell + names, total - row * step - _TOP - high
        mesh = _draw_map(canvas.add_axes((left / width, bottom / total, wide / width, high / total)), part, shared)
    right = _LEFT + across * cell
    bar = canvas.add_axes((right / width, (total - _TOP - high) / total, 0.1 / width, high / total))
    canvas.colorbar(mesh, cax=bar).outline.set_linewidth(0.4)


def scale(maps: tuple[HeatMap, ...]) -> dict[str, Any]:
    """The colour map and its ends: white is 0 if values have both signs."""
    values = [value for part in maps for row in part.values for value in row if math.isfinite(value)]
    largest = max((abs(value) for value in values), default=1.0) or 1.0
    if min(values, default=0.0) < 0:
        return {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest}
    return {"cmap": "viridis", "vmin": 0.0, "vmax": largest}


def _draw_map(ax: Any, part: HeatMap, shared: dict[str, Any]) -> Any:
    values = [[value if math.isfinite(value) else math.nan for value in row] for row in part.values]
    ax.set_facecolor(BLANK)
    # draw the edges of cells in their own colour, because viewers show hairlines between adjacent cells
    mesh = ax.pcolormesh(values, edgecolors="face", linewidth=0.2, **shared)
    ax.invert_yaxis()
    title = drawable(part.title, 1.4 * ax.get_window_extent().width / ax.figure.dpi)
    ax.set_title(title, fontfamily=family(title), fontsize=8.5)
    for axis, names in ((ax.xaxis, part.columns), (ax.yaxis, part.rows)):
        labels = [drawable(name, 1.0) for name in names]
        axis.set_ticks([index + 0.5 for index in range(len(labels))], labels, fontsize=7)
        axis.set_tick_params(length=0, pad=2)
        for label in axis.get_ticklabels():
            label.set_fontfamily(family(label.get_text()))
    for side in ("top", "right", "left", "bottom"):
        ax.spines[side].set_visible(True)
        ax.spines[side].set_linewidth(0.4)
    return mesh
