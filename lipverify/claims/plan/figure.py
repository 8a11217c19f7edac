"""The default figure of a form, drawn from its own evidence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from lipverify.claims.language.family import Point
from lipverify.claims.language.form import Along, Exponent, Form, Identity, Limit
from lipverify.claims.ledger.figure import Figure, Panel, Scale, Series
from lipverify.claims.ledger.symbols import Scalar, named, said
from lipverify.claims.ledger.verdict import Allowed
from lipverify.claims.plan.claim import CellPlan

Plans = Sequence[tuple[Point, CellPlan]]


def figure_of(form: Form, plans: Plans, results: Mapping[str, Any]) -> tuple[Figure, ...]:
    """The growth with the claimed power, or the values with their bounds; exponents go to the evidence layer.

    An identity has no figure, and neither has a single value, which a line of text shows as well.
    """
    if isinstance(form, Identity) or (len(plans) == 1 and not isinstance(form, Along)):
        return ()
    if isinstance(form, Exponent):
        return _growth(form, plans, results), _exponents(form, plans, results)
    figure = _values(form, plans, results)
    if isinstance(form, Limit):
        caption = f"${form.quantity}$ along the ray, and its limit with the bounds of claim and control."
        title = "its limit"
        (panel,) = figure.panels
        return (replace(figure, caption=caption, panels=(_along(form, plans, results), replace(panel, title=title))),)
    return (figure,)


def side_by_side(figures: Sequence[tuple[Figure, ...]]) -> tuple[Figure, ...]:
    """Combine the figures of several forms: one figure a layer, with the panels side by side."""
    layers: dict[str, list[Figure]] = {}
    for figure in itertools.chain.from_iterable(figures):
        layers.setdefault(figure.layer, []).append(figure)
    return tuple(_joined(figures) for figures in layers.values())


def _joined(figures: Sequence[Figure]) -> Figure:
    """Combine figures into one that has all different captions."""
    first, *others = figures
    if not others:
        return first
    return replace(
        first,
        caption=" ".join(dict.fromkeys(figure.caption for figure in figures)),
        alt=" ".join(dict.fromkeys(figure.alt for figure in figures)),
        panels=tuple(panel for figure in figures for panel in figure.panels),
    )


def _along(form: Along, plans: Plans, results: Mapping[str, Any]) -> Panel:
    return Panel(
        title=f"${form.quantity}$ along the ray",
        xlabel=named(form.along),
        ylabel=f"${form.quantity}$",
        series=tuple(Series(label=label, x=growth.s, y=growth.values) for label, growth in _growths(plans, results)),
    )


def _growths(plans: Plans, results: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each growth, labelled by the coordinates that distinguish it."""
    every = [point.where for point, _ in plans]
    for point, plan in plans:
        yield _label(point.where, every, ""), results[plan.measurement.address]


def _growth(form: Exponent, plans: Plans, results: Mapping[str, Any]) -> Figure:
    """Plot the quantity along the ray, with claimed powers of s through the first point of the first and the last line.

    Readings of the same measurement give figures that differ only in the claimed powers, so a report can merge them.
    """
    panel = _along(form, plans, results)
    powers: list[Series] = []
    for _, plan in {0: plans[0], len(plans) - 1: plans[-1]}.values():
        growth = results[plan.measurement.address]
        for name, edge in form.range.edges():
            power = plan.allowed.high if name == "high" else plan.allowed.low
            if power is not None:
                relation = {"low": r"\geq", "high": r"\leq", "equals": r"\propto"}[name]
                y = tuple(growth.values[0] * (s / growth.s[0]) ** power for s in growth.s)
                label = f"claimed: ${relation} {form.power(edge)}$"
                powers.append(Series(label=label, x=growth.s, y=y, style="dashed"))
    caption = "Dashed: the claimed power through the first point."
    alt = f"{form.plain_quantity} against {form.along} on log axes, with the claimed power."
    return Figure(caption=caption, alt=alt, panels=(replace(panel, title="", series=(*panel.series, *powers)),))


def _exponents(form: Exponent, plans: Plans, results: Mapping[str, Any]) -> Figure:
    """Plot the local exponents along the ray, their limits cell by cell, and the claimed exponents."""
    axis = _axis([point.where for point, _ in plans])
    along = named(form.along)
    local = Panel(
        title="local exponents",
        xlabel=along,
        ylabel="local exponent $-$ limit",
        yscale="linear",
        series=tuple(
            Series(label=label, x=growth.slope_at, y=tuple(slope - growth.exponent for slope in growth.local_slopes))
            for label, growth in _growths(plans, results)
        ),
    )
    series: list[Series] = []
    for label, group in _lines(plans, axis).items():
        growths = [(x, results[plan.measurement.address]) for x, plan in group]
        points = [(x, growth.exponent, growth.error) for x, growth in growths]
        series += [*_errorbars(f"measured {label}".strip(), points), *_edges(form, group, label)]
    limits = Panel(
        title=f"limit exponent{f' against {named(axis)}' if axis else ''}",
        xlabel=_xlabel(axis),
        ylabel="exponent",
        xscale="linear",
        yscale="linear",
        series=tuple(series),
    )
    caption = (
        f"The local exponent of ${form.quantity}$ along {along} minus its limit, and the limit with its error and the "
        "claimed values (dashed)."
    )
    alt = f"Local exponents of {form.plain_quantity} against {form.along}; their limits and the claimed ones."
    return Figure(caption=caption, alt=alt, panels=(local, limits), layer="evidence")


def _errorbars(label: str, points: Sequence[tuple[float, float, float]]) -> Iterator[Series]:
    """The points (x, value, error) whose errors are finite, if there are any."""
    known = [point for point in points if math.isfinite(point[2])]
    if known:
        x, y, error = zip(*known, strict=True)
        yield Series(label=label, x=x, y=y, error=error, style="errorbars")


def _edges(form: Exponent, group: Sequence[tuple[float, CellPlan]], label: str) -> Iterator[Series]:
    """The claimed exponents along the axis."""
    for name, edge in form.range.edges():
        ends = [plan.allowed.high if name == "high" else plan.allowed.low for _, plan in group]
        known = [(x, end) for (x, _), end in zip(group, ends, strict=True) if end is not None]
        relation = {"low": r"\geq", "high": r"\leq", "equals": "="}[name]
        yield Series(
            label=f"claimed: ${relation} {edge.inline_latex}$ {label}".strip(),
            x=tuple(x for x, _ in known),
            y=tuple(end for _, end in known),
            style="dashed",
        )


def _values(form: Form, plans: Plans, results: Mapping[str, Any]) -> Figure:
    """Plot values with errors and bounds against one coordinate, with a line for each value of the others."""
    axis = _axis([point.where for point, _ in plans])
    lines = _lines(plans, axis)
    series: list[Series] = []
    for label, group in lines.items():
        read = [(x, plan.read(results[plan.measurement.address], plan.allowed)) for x, plan in group]
        ends = [(x, (estimate.measured or estimate.interval).ends) for x, estimate in read]
        series += _errorbars(label or "measured", [(x, (low + high) / 2, (high - low) / 2) for x, (low, high) in ends])
    if not axis:
        series = [part for curve in series for part in _apart(curve, plans)]
    series += _labelled_bounds(lines)
    panel = Panel(
        title="",
        xlabel=_xlabel(axis),
        ylabel=f"${form.quantity}$",
        xscale=_scale([x for curve in series for x in curve.x]),
        yscale=_scale([y for curve in series for y in curve.y]),
        series=tuple(series),
    )
    caption = "Measured; dashed, the bounds of claim and control."
    return Figure(
        caption=caption, alt=f"{form.plain_quantity} against {axis or 'the cell'}, with bounds.", panels=(panel,)
    )


def _apart(series: Series, plans: Plans) -> Iterator[Series]:
    """Split points without an axis into one series each, labelled by the coordinates that distinguish it."""
    every = [point.where for point, _ in plans]
    for x, y, error in zip(series.x, series.y, series.error, strict=True):
        label = _label(every[round(x) - 1], every, "") or series.label
        yield replace(series, label=label, x=(x,), y=(y,), error=(error,))


def _labelled_bounds(lines: Mapping[str, Sequence[tuple[float, CellPlan]]]) -> Iterator[Series]:
    """The bounds of all lines, each once, with the label of its line if it is the only one and there are few bounds."""
    bounds: dict[tuple[str, tuple[float, ...], tuple[float, ...]], list[str]] = {}
    for label, group in lines.items():
        for bound in _bounds(group):
            bounds.setdefault(bound, []).append(label)
    alone = len(bounds) <= 6  # a legend with more lines than that is longer than its figure
    for (says, x, y), labels in bounds.items():
        label = labels[0] if alone and len(labels) == 1 else ""
        yield Series(label=f"{says} {label}".strip(), x=x, y=y, style="dashed")


def _bounds(
    group: Sequence[tuple[float, CellPlan]],
) -> Iterator[tuple[str, tuple[float, ...], tuple[float, ...]]]:
    """The edges of the claim and of its false control along the axis: label, positions and values."""
    for name in ("claimed", "control"):
        ranges = [plan.allowed if name == "claimed" else plan.false.allowed for _, plan in group]
        known = [allowed for allowed in ranges if isinstance(allowed, Allowed)]
        if len(known) < len(group):
            continue
        sides = {
            r"$\geq$": tuple(allowed.low for allowed in known if allowed.low is not None),
            r"$\leq$": tuple(allowed.high for allowed in known if allowed.high is not None),
        }
        whole = {relation: ends for relation, ends in sides.items() if len(ends) == len(group)}
        if len(set(whole.values())) < len(whole):
            whole = {"=": next(iter(whole.values()))}
        for relation, ends in whole.items():
            yield f"{name} {'range' if len(whole) > 1 else relation}", tuple(x for x, _ in group), ends


def _axis(where: Sequence[Mapping[str, Scalar]]) -> str:
    """The coordinate with the most different numbers; empty if no number varies."""
    counts = {
        name: len({point[name] for point in where})
        for name in where[0]
        if all(isinstance(point.get(name), int | float) for point in where)
    }
    most = max(counts.values(), default=0)
    return next((name for name in reversed(counts) if counts[name] == most), "") if most > 1 else ""


def _xlabel(axis: str) -> str:
    return named(axis) if axis else "points of the claim, one by one"


def _lines(plans: Plans, axis: str) -> dict[str, list[tuple[float, CellPlan]]]:
    """The cells of each line of a figure, in order along its axis; without an axis the cells are numbered."""
    every = [point.where for point, _ in plans]
    lines: dict[str, list[tuple[float, CellPlan]]] = {}
    for k, (point, plan) in enumerate(plans, 1):
        x = float(point.where[axis]) if axis else float(k)
        lines.setdefault(_label(point.where, every, axis) if axis else "", []).append((x, plan))
    return {label: sorted(line, key=lambda point: point[0]) for label, line in lines.items()}


def _label(where: Mapping[str, Scalar], every: Sequence[Mapping[str, Scalar]], axis: str) -> str:
    """The coordinates that distinguish a line from the others."""
    varying = [name for name in where if name != axis and len({point.get(name) for point in every}) > 1]
    return ", ".join(said(name, where[name]) for name in varying)


def _scale(values: Sequence[float]) -> Scale:
    """The scale of an axis: "log" if the values are positive and span a decade or more, else "linear"."""
    return "log" if values and min(values) > 0 and max(values) >= 10 * min(values) else "linear"
