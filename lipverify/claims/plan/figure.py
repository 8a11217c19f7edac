"""The default figures of a claim: its cells over what is claimed, beside their controls; and how its limits settle."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from lipverify.claims.language.family import Point
from lipverify.claims.language.form import Along, Exponent, Form
from lipverify.claims.language.formula import formula
from lipverify.claims.ledger.figure import CLAIMED, CONTROL, MEASURED, Band, Figure, Panel, Region, Scale, Series, Style
from lipverify.claims.ledger.record import Cell
from lipverify.claims.ledger.symbols import Scalar, named, said
from lipverify.claims.plan.claim import CellPlan
from lipverify.foundation.latex import plain
from lipverify.foundation.style import LEGEND

Plans = Sequence[tuple[Point, CellPlan]]
PANELS = 6
"""Most panels of a figure: two rows of three, each wide enough for its labels."""
CURVES = 3
"""Most curves whose labels name several coordinates: longer lists would be taller than the plot."""
LETTERS = 40
"""Most letters below an axis in half the width of a page: longer names are numbered instead."""
SPREAD = 30.0
"""Positive values that differ by this factor have a logarithmic axis."""


CAPTION = "Measured over what is claimed; the control, open to what it allows, must come out the other way."


class Line(NamedTuple):
    """Cells of one quantity along one coordinate; if that is text, its positions are 1, 2, ... with `names`."""

    title: str
    axis: str
    names: tuple[str, ...]
    cells: tuple[tuple[float, Cell], ...]


def figures_of(
    planned: Sequence[tuple[Form, Plans]], results: Mapping[str, Any], cells: Sequence[Cell]
) -> tuple[Figure, ...]:
    """The figure of the claim's page, with the ray of a limit that has one cell; the rays of others as evidence."""
    alone, evidence, rest = [], [], list(cells)
    for form, plans in planned:
        own, rest = rest[: len(plans)], rest[len(plans) :]
        if isinstance(form, Along):
            grown = [(cell, results[plan.measurement.address]) for cell, (_, plan) in zip(own, plans, strict=True)]
            grown = [(cell, growth) for cell, growth in grown if _grown(form, growth)[1]]  # two values have no slopes
            if len(grown) == 1:
                alone.append(_ray(form, *grown[0]))
            elif grown:
                evidence.append(_rays(form, grown))
    return (*chart(cells, alone), *evidence)


def chart(cells: Sequence[Cell], rays: Sequence[Panel] = ()) -> tuple[Figure, ...]:
    """The measured values with their errors beside rays, a panel for each quantity and line.

    A quantity with a single cell has none, and neither has one that is exactly zero as claimed, as in an identity.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.quantity_latex or cell.quantity, tuple(cell.where)), []).append(cell)
    several = [group for group in groups.values() if len(group) > 1 and not all(map(_vanishes, group))]
    lines = [lines_of(group) for group in several[:PANELS]]
    most = max(1, (PANELS - len(rays)) // max(len(lines), 1))
    shown = [line for found in lines for line in found[:most]]
    panels = [*rays, *(panel for panel in map(_panel, shown) if panel.series)]
    if not panels:
        return ()
    if len({label for panel in panels for label in _labels(panel)}) > LEGEND:
        panels = [_unspecified(panel) for panel in panels]
    caption = CAPTION
    if rays:
        caption = "A limit is shown with the curve along its ray. " + caption
    if len(shown) < sum(map(len, lines)):
        caption += f" Of {sum(map(len, lines))} lines those nearest to an edge are shown."
    caption += "".join(dict.fromkeys(_numbered(line) for line in shown))
    about = ", ".join(dict.fromkeys(plain(panel.ylabel) for panel in panels))
    alt = f"{about} against {plain(panels[0].xlabel)}, with what is claimed and the control."
    return (Figure(caption=caption, alt=alt, panels=tuple(panels)),)


def _labels(panel: Panel) -> list[str]:
    parts: list[Series | Band | Region] = [*panel.series, *panel.bands, *panel.regions]
    return [part.label for part in parts]


def _vanishes(cell: Cell) -> bool:
    ends = (cell.allowed.low, cell.allowed.high, cell.interval.low, cell.interval.high)
    return cell.ray is None and ends == (0, 0, 0, 0)


def lines_of(cells: Sequence[Cell]) -> list[Line]:
    """The cells by line, along the number with the most values, or else such a text; those nearest to an edge first."""
    counts = {name: len({cell.where[name] for cell in cells}) for name in cells[0].where}
    numbers = {
        name: count for name, count in counts.items() if not any(isinstance(cell.where[name], str) for cell in cells)
    }
    among = numbers if max(numbers.values(), default=0) > 1 else counts
    axis = max(reversed(among), key=among.__getitem__)
    values = list(dict.fromkeys(cell.where[axis] for cell in cells))
    names = tuple(_name(axis, value) for value in values) if among is counts else ()
    lines: dict[str, list[tuple[float, Cell]]] = {}
    for cell in cells:
        others = [name for name in cell.where if name != axis and counts[name] > 1]
        title = ", ".join(said(name, cell.where[name]) for name in others)
        x = values.index(cell.where[axis]) + 1.0 if names else float(cell.where[axis])
        lines.setdefault(title, []).append((x, cell))
    found = [Line(title, axis, names, tuple(sorted(line, key=lambda at: at[0]))) for title, line in lines.items()]
    return sorted(found, key=lambda line: min(abs(cell.margin or 0.0) for _, cell in line.cells))


def _name(axis: str, value: Scalar) -> str:
    """A value below its axis: without the name of the axis, which stands there."""
    return said(axis, value).removeprefix(f"{named(axis)} = ").removesuffix(f" {named(axis)}")


def _is_long(line: Line) -> bool:
    return sum(len(plain(name)) + 2 for name in line.names) > LETTERS


def _numbered(line: Line) -> str:
    """The names of the positions, if they are too long to stand below the axis."""
    return f" {named(line.axis)}: {'; '.join(f'{k}, {name}' for k, name in enumerate(line.names, 1))}." * _is_long(line)


def _panel(line: Line) -> Panel:
    """One line: measured values, the allowed range of each cell, and the edges of its control; empty without values."""
    cells = [(x, cell) for x, cell in line.cells if cell.measured is not None and math.isfinite(cell.error or 0.0)]
    if not cells:
        return Panel(title="", xlabel="", ylabel="")
    x, series = tuple(at for at, _ in cells), _with_controls(cells)
    low = tuple(math.nan if cell.allowed.low is None else cell.allowed.low for _, cell in cells)
    high = tuple(math.nan if cell.allowed.high is None else cell.allowed.high for _, cell in cells)
    ends = [end for end in (*low, *high) if end and not math.isnan(end)]
    is_limit = cells[0][1].ray is not None and max(series[0].y) < SPREAD  # an exponent, or a constant of order one
    return Panel(
        title=line.title,
        xlabel=named(line.axis),
        ylabel=cells[0][1].quantity_latex or cells[0][1].quantity,
        xscale=_scale(x) if not line.names else "linear",
        yscale="linear" if is_limit else _scale([*(v for curve in series for v in curve.y), *ends]),
        series=series,
        regions=(Region(label=_claimed([cell for _, cell in cells]), x=x, low=low, high=high, apart=True),),
        names=() if _is_long(line) else line.names,
    )


def _with_controls(cells: Sequence[tuple[float, Cell]]) -> tuple[Series, ...]:
    """The measured values with their errors, and the edges of the controls."""
    x, y, error = zip(*((x, cell.measured, cell.error or 0.0) for x, cell in cells), strict=True)
    controls: dict[Style, list[tuple[float, float]]] = {}
    for at, cell in cells:
        for style, end in cell.control_edges:
            controls.setdefault(style, []).append((at, end))
    edges = (
        Series(label=CONTROL, x=tuple(u for u, _ in points), y=tuple(v for _, v in points), style=style)
        for style, points in controls.items()
    )
    return (Series(label=MEASURED, x=x, y=y, error=error, style="errorbars"), *edges)


RELATIONS = {"low": (r"\geq", ">"), "high": (r"\leq", "<"), "equals": ("=", "="), "within": (r"\pm", r"\pm")}
"""The sign before an edge in LaTeX: of a closed range, and of an open one."""


def _claimed(cells: Sequence[Cell]) -> str:
    """The label of what is claimed: with its formula if all cells have the same one."""
    if len({tuple(cell.edges.items()) for cell in cells}) > 1 or not cells[0].edges:
        return CLAIMED
    signs = (
        f"{RELATIONS[name][cells[0].allowed.open]} {formula(text).inline_latex}"
        for name, text in cells[0].edges.items()
    )
    return f"{CLAIMED}: ${' '.join(signs)}$"


def _unspecified(panel: Panel) -> Panel:
    """The panel without the formulas of what is claimed, for a legend that would be too long."""
    bands, regions = (tuple(replace(part, label=CLAIMED) for part in parts) for parts in (panel.bands, panel.regions))
    return replace(panel, bands=bands, regions=regions)


def _scale(values: Sequence[float]) -> Scale:
    """The scale of an axis: "log" if the values are positive and spread, else "linear"."""
    return "log" if values and min(values) > 0 and max(values) >= SPREAD * min(values) else "linear"


def _ray(form: Along, cell: Cell, growth: Any) -> Panel:
    """The values of the only cell along its ray, or their local exponents, with the limit, claim and control."""
    what, x, y = _grown(form, growth)
    series, bands = [Series(label="along the ray", x=x, y=y, style="points")], []
    if cell.quantity_latex == form.observed:  # else a power of log s decides, which has no place on these axes
        bands = [Band(label=_claimed([cell]), low=cell.allowed.low, high=cell.allowed.high)]
        for _, end in cell.control_edges:
            series.append(Series(label=CONTROL, x=(x[0], x[-1]), y=(end, end), style="dashed"))
        if cell.measured is not None and math.isfinite(cell.error or 0.0):
            at = {"x": (x[-1],), "y": (cell.measured,), "error": (cell.error or 0.0,)}
            series.append(Series(label="its limit", style="errorbars", **at))
    scale = "linear" if isinstance(form, Exponent) else _scale(y)
    return Panel(
        title="", xlabel=named(form.along), ylabel=what, yscale=scale, series=tuple(series), bands=tuple(bands)
    )


def _rays(form: Along, grown: Sequence[tuple[Cell, Any]]) -> Figure:
    """How the limits of several cells settle: the local exponents minus their limit, or the values."""
    varying = [name for name in grown[0][0].where if len({cell.where.get(name) for cell, _ in grown}) > 1]
    most = LEGEND if len(varying) == 1 else CURVES
    slowest = sorted(grown, key=lambda at: -at[1].error)[:most]
    series = []
    for cell, growth in grown:
        if any(cell is slow for slow, _ in slowest):
            what, x, y = _grown(form, growth)
            less = growth.exponent if isinstance(form, Exponent) else 0.0
            label = ", ".join(said(name, cell.where[name]) for name in varying)
            series.append(Series(label=label, x=x, y=tuple(value - less for value in y)))
    ylabel = f"{what} $-$ limit" if isinstance(form, Exponent) else what
    scale = "linear" if isinstance(form, Exponent) else _scale([v for curve in series for v in curve.y])
    panel = Panel(title="", xlabel=named(form.along), ylabel=ylabel, yscale=scale, series=tuple(series))
    caption = f"How the limits are reached: the {what} along {named(form.along)}"
    caption += f", of the {most} cells that settle last." if len(slowest) < len(grown) else "."
    alt = f"{plain(ylabel)} against {form.along}."
    return Figure(caption=caption, alt=alt, panels=(panel,), layer="evidence")


def _grown(form: Along, growth: Any) -> tuple[str, tuple[float, ...], tuple[float, ...]]:
    """The name and the points of the curve that has the limit."""
    if isinstance(form, Exponent):
        return f"local exponent of ${form.quantity}$", growth.slope_at, growth.local_slopes
    return f"${form.quantity}$", growth.s, growth.values
