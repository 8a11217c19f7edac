"""Figures as data: the content of a figure, independent of how it is drawn.

A figure is one or more panels side by side, or a sheet of heat maps; a panel is axes, series, shaded bands and regions.
Nothing here imports a plotting library: the report draws from the ledger alone. Text may hold `$LaTeX$`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    Number = float
else:
    Number = float | None  # only while a ledger is read: `read_back` leaves floats


def read_back(record: msgspec.Struct, *fields: str) -> None:
    """Replace null, as read from a ledger, by "not a number" in fields of a record that hold tuples of numbers."""
    for field in fields:
        values = getattr(record, field)
        if None in values:
            numbers = tuple(math.nan if value is None else value for value in values)
            msgspec.structs.force_setattr(record, field, numbers)


Scale = Literal["linear", "log"]
Style = Literal["line", "dashed", "points", "errorbars", "lower", "upper", "value"]
MEASURED, CLAIMED, CONTROL = "measured", "claimed", "control"
"""Labels of the parts of a claim's figure; a formula may follow the second."""
Layer = Literal["front", "theorem", "evidence"]
"""The place of a figure in a report: the first page, the page of its theorem, or with the evidence."""


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """One curve or set of points; `error` holds half-widths for the style "errorbars".

    Attributes
    ----------
    label
        Its text in the legend.
    x, y, error
        Points, and half-widths for error bars.
    style
        "line", "points", "dashed" or "errorbars"; "lower" or "upper", a bracket at each point that opens to what such a
        bound allows; "value", a short line.

    Examples
    --------
    >>> Series(label="B", x=(1.0, 2.0), y=(0.1, 0.05)).style
    'line'
    """

    label: str
    x: tuple[Number, ...]
    y: tuple[Number, ...]
    error: tuple[Number, ...] = ()
    style: Style = "line"

    def __post_init__(self) -> None:
        read_back(self, "x", "y", "error")


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """A shaded horizontal range of y, such as the exponents that a claim allows.

    `None` means unbounded on that side.

    Attributes
    ----------
    label
        Its text in the legend.
    low, high
        Ends in units of y; None is unbounded.

    Examples
    --------
    >>> Band(label="claimed", low=0.5).high is None
    True
    """

    label: str
    low: float | None = None
    high: float | None = None


class Region(msgspec.Struct, frozen=True, kw_only=True):
    """A shaded region between two curves over the same x, such as the gap between two power laws.

    Attributes
    ----------
    label
        Its text in the legend.
    x, low, high
        The points, and both edges at each; one that is not a number leaves it open.
    apart
        True if nothing lies between the points: a bar is drawn at each instead of a joined area.

    Examples
    --------
    >>> Region(label="printed", x=(1.0, 10.0), low=(1.0, 2.0), high=(1.0, 5.0)).high
    (1.0, 5.0)
    """

    label: str
    x: tuple[Number, ...]
    low: tuple[Number, ...]
    high: tuple[Number, ...]
    apart: bool = False

    def __post_init__(self) -> None:
        read_back(self, "x", "low", "high")


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """One pair of axes.

    Attributes
    ----------
    title, xlabel, ylabel
        Text that may hold `$LaTeX$`.
    xscale, yscale
        "log" or "linear".
    series, bands, regions
        Curves, horizontal ranges, shaded regions.
    names
        Names of the positions 1, 2, ... of the x axis, if they are not numbers.

    Examples
    --------
    >>> Panel(title="", xlabel="$n$", ylabel="$w^*$").xscale
    'log'
    """

    title: str
    xlabel: str
    ylabel: str
    xscale: Scale = "log"
    yscale: Scale = "log"
    series: tuple[Series, ...] = ()
    bands: tuple[Band, ...] = ()
    regions: tuple[Region, ...] = ()
    names: tuple[str, ...] = ()


class HeatMap(msgspec.Struct, frozen=True, kw_only=True):
    """A matrix drawn as coloured cells, first row on top; all maps of a figure share one colour scale.

    `rows` and `columns` are their names and may be empty; values that are not finite are left blank.

    Attributes
    ----------
    title
        Text above it.
    values
        Rows of numbers.
    rows, columns
        Names of the rows and columns.

    Examples
    --------
    >>> HeatMap(title="M", values=((1.0, 0.0), (0.0, 1.0))).values[0]
    (1.0, 0.0)
    """

    title: str
    values: tuple[tuple[Number, ...], ...]
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        filled = tuple(tuple(math.nan if value is None else value for value in row) for row in self.values)
        msgspec.structs.force_setattr(self, "values", filled)


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a claim: panels or heat maps, a caption, and a description for those who cannot see it.

    Attributes
    ----------
    caption, alt
        Caption, which may hold `$LaTeX$`, and a description for those who cannot see the figure.
    panels, maps
        The content of the figure.
    across
        The number of maps in a row.
    layer
        The first layer of a report that shows the figure; a theorem's page has room for one.

    Examples
    --------
    >>> curve = Series(label="w*", x=(1.0, 10.0), y=(1.0, 3.0))
    >>> panel = Panel(title="$d = 3$", xlabel="$n$", ylabel="$w^*$", series=(curve,))
    >>> len(Figure(caption="The optimal $w^*$.", alt="w* rises with n.", panels=(panel,)).panels)
    1
    """

    caption: str
    alt: str
    panels: tuple[Panel, ...] = ()
    maps: tuple[HeatMap, ...] = ()
    across: int = 4
    layer: Layer = "theorem"
