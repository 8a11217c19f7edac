"""Heat maps as SVG: each cell has a colour and shows its value."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from lipverify.claims.ledger.figure import Figure, HeatMap
from lipverify.foundation.latex import plain
from lipverify.report import digits
from lipverify.report.heatmaps import BLANK, scale
from lipverify.report.text import printable
from lipverify.report.web.markup import Markup, element, join

_CELL = 26.0
_STEPS = 24
"""Number of steps of the colour scale."""


def maps(figure: Figure, label: Callable[[str], Markup]) -> Markup:
    """All maps of a figure and their common scale."""
    import matplotlib

    look = scale(figure.maps)
    low, high = look["vmin"], look["vmax"]
    palette = matplotlib.colormaps[look["cmap"]]

    def colour(value: float) -> str:
        if not math.isfinite(value):
            return BLANK
        return "#" + "".join(f"{round(255 * part):02x}" for part in palette((value - low) / (high - low))[:3])

    steps = [low + (high - low) * k / (_STEPS - 1) for k in range(_STEPS)]
    bar = element(
        "svg",
        [element("rect", x=8 * k, y=0, width=8.5, height=10, fill=colour(value)) for k, value in enumerate(steps)],
        viewBox=f"0 0 {8 * _STEPS} 10", aria_hidden="true",
    )  # fmt: skip
    ends = [element("span", digits.number(value)) for value in (low, high)]
    sheets = element("div", [_map(each, colour, label) for each in figure.maps], class_="panels maps")
    return join((sheets, element("p", ends[0], bar, ends[1], class_="scale")))


def _map(part: HeatMap, colour: Callable[[float], str], label: Callable[[str], Markup]) -> Markup:
    """One matrix; each value is shown with the names of its row and column."""
    rows, across = len(part.values), max(map(len, part.values), default=0)
    cells = [
        element(
            "rect",
            element("title", f"{_named(part.rows, r)}, {_named(part.columns, c)}; {digits.number(value, digits=6)}"),
            x=_CELL * c,
            y=_CELL * r,
            width=_CELL,
            height=_CELL,
            fill=colour(value),
        )
        for r, row in enumerate(part.values)
        for c, value in enumerate(row)
    ]
    name = plain(printable(part.title))
    return element(
        "div",
        element("p", label(part.title), class_="title") if part.title.strip() else None,
        element(
            "svg", element("g", cells, aria_label=name), viewBox=f"0 0 {_CELL * max(across, 1)} {_CELL * max(rows, 1)}",
            role="application", tabindex="0", class_="plot", data_x="row, column", data_y="value",
            aria_label=f"{name}: {rows} by {across} values. Arrow keys step through them.",
        ),
        class_="panel",
    )  # fmt: skip


def _named(names: Sequence[str], place: int) -> str:
    return plain(printable(names[place])) if place < len(names) else str(place + 1)
