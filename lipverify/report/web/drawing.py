"""Figures and heat maps as SVG that shows the values of points and cells; the page sets colours and labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import count

import matplotlib
import msgspec
from msgspec.structs import replace

from lipverify.claims.ledger.figure import Band, Figure, HeatMap, Panel, Region, Series
from lipverify.foundation.latex import plain
from lipverify.foundation.style import BRACKETS
from lipverify.report import digits
from lipverify.report.figures import CLOSE, FLAT, LEVEL, bars, edges_in_sight, has_place, places
from lipverify.report.heatmaps import BLANK, scale
from lipverify.report.looks import (
    BAND_HATCHES,
    BandLook,
    Look,
    band_looks,
    colour_class,
    entries,
    series_looks,
)
from lipverify.report.text import printable
from lipverify.report.web.markup import Markup, element, join


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """One axis: `low` and `high` are its ends (of the decimal logarithm where `log`), drawn at `start` and `end`."""

    log: bool
    low: float
    high: float
    start: float
    end: float
    places: tuple[tuple[float, str], ...] = ()

    def position(self, value: float) -> float:
        """The position of a value on screen; a value beyond the axis is moved to its end."""
        known = value > 0 or not self.log
        inner = (math.log10(value) if self.log else value) if known else -math.inf
        return self.start + (min(max(inner, self.low), self.high) - self.low) * self._unit

    def holds(self, value: float) -> bool:
        """True if a value has a position within the axis."""
        return has_place(value, self.log) and self.low <= (math.log10(value) if self.log else value) <= self.high

    @property
    def _unit(self) -> float:
        return (self.end - self.start) / (self.high - self.low)

    @property
    def ticks(self) -> list[tuple[float, Markup]]:
        if self.places:
            return [(self.position(place), join(name)) for place, name in self.places]
        span = self.high - self.low
        if self.log and span >= 3:  # else also between powers of ten
            step = max(1, math.ceil(span / 5))
            decades = range(math.ceil(self.low / step) * step, math.floor(self.high) + 1, step)
            return [(self.start + (k - self.low) * self._unit, _power(k)) for k in decades]
        ends = (10.0**self.low, 10.0**self.high) if self.log else (self.low, self.high)
        values = within_decades(*ends) if self.log and span >= 1 else round_values(*ends)
        return [(self.position(value), join(digits.number(value, digits=6))) for value in values]


def axis(values: Iterable[float], *, log: bool, start: float, end: float, share: float = FLAT) -> Axis:
    """An axis for given values. A level does not fill it, and values without a position on it are skipped."""
    known = [value for value in values if has_place(value, log)]
    inner = [math.log10(value) for value in known] if log else known
    low, high = min(inner, default=0.0), max(inner, default=1.0)
    least = 2 * math.log10(LEVEL) if log else 2 * share * max(abs(low), abs(high))
    flat = high - low < (math.log10(1 + 4 * share) if log else least)
    middle, half = (low + high) / 2, (least if flat else high - low) / 2 or 1.0
    free = half * 1.1  # a twentieth of the axis stays free beyond either end
    return Axis(log=log, low=middle - free, high=middle + free, start=start, end=end)


def round_values(low: float, high: float) -> list[float]:
    """About five multiples of 1, 2 or 5 times a power of ten between two values."""
    rough = (high - low) / 5
    power = math.floor(math.log10(rough))
    factor = next(multiple for multiple in (1, 2, 5, 10) if multiple * 10.0**power >= rough * (1 - 1e-9))
    first = math.ceil(low / (factor * 10.0**power) - 1e-9)
    values: list[float] = []
    for k in count(first):
        value = float(f"{k * factor}e{power}")
        if value > high or len(values) > 20:
            return values
        values.append(value)
    raise AssertionError("numbers do not end")


def within_decades(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten between two values, or 1 and 3 times if these are too many."""
    factors = (1, 2, 5) if high < 50 * low else (1, 3)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [value for power in powers for k in factors if low <= (value := float(f"{k}e{power}")) <= high]


def _power(exponent: int) -> Markup:
    """A power of ten as text; 1 and 10 are plain."""
    if exponent in (0, 1):
        return join(str(10**exponent))
    return join(("10", element("tspan", digits.number(float(exponent)), dy="-0.45em", font_size="0.75em")))


_CELL = 26.0
"""Width of a cell of a map, in units of about a pixel."""


def maps(figure: Figure, label: Callable[[str], Markup]) -> Markup:
    """All maps of a figure and their common scale."""
    look = scale(figure.maps)
    low, high = look["vmin"], look["vmax"]
    palette = matplotlib.colormaps[look["cmap"]]

    def colour(value: float) -> str:
        if not math.isfinite(value):
            return BLANK
        return "#" + "".join(f"{round(255 * part):02x}" for part in palette((value - low) / (high - low))[:3])

    steps = [low + (high - low) * k / 23 for k in range(24)]
    bar = element(
        "svg",
        [element("rect", x=8 * k, y=0, width=8.5, height=10, fill=colour(value)) for k, value in enumerate(steps)],
        viewBox="0 0 192 10", aria_hidden="true",
    )  # fmt: skip
    ends = [element("span", digits.number(value)) for value in (low, high)]
    sheets = element("div", [_map(heat_map, colour, label) for heat_map in figure.maps], class_="panels maps")
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


def _named(names: Sequence[str], position: int) -> str:
    return plain(printable(names[position])) if position < len(names) else str(position + 1)


Label = Callable[[str], Markup]
"""A function that turns text with `$LaTeX$` into HTML."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 10.0, 8.0, 24.0
"""Margins of a panel for its labels, in the same units."""
_MARKERS = {
    "o": "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",
    "s": "m-2.7 -2.7h5.4v5.4h-5.4z",
    "D": "m0 -3.8l3.8 3.8l-3.8 3.8l-3.8 -3.8z",
    "^": "m0 -3.6l3.5 6.2h-7z",
    "v": "m0 3.6l3.5 -6.2h-7z",
    "P": "m-1.2 -3.6h2.4v2.4h2.4v2.4h-2.4v2.4h-2.4v-2.4h-2.4v-2.4h2.4z",
    "*": "m0 -4.4l1.1 3h3.1l-2.5 2l0.9 3.1l-2.6 -1.8l-2.6 1.8l0.9 -3.1l-2.5 -2h3.1z",
    "X": "m-3.6 -2.2l1.4 -1.4l2.2 2.2l2.2 -2.2l1.4 1.4l-2.2 2.2l2.2 2.2l-1.4 1.4l-2.2 -2.2l-2.2 2.2l-1.4 -1.4"
    "l2.2 -2.2z",
    "<": "m-3.6 0l6.2 3.5v-7z",
    ">": "m3.6 0l-6.2 3.5v-7z",
}
"""Outlines of markers, by matplotlib's names."""


def drawing(figure: Figure, label: Label) -> Markup:
    """Draw the panels or maps of a figure above their legend; `label` turns text with formulas into HTML."""
    if figure.maps:
        return maps(figure, label)
    looks, bands = series_looks(figure), band_looks(figure)
    size = (430.0, 270.0) if len(figure.panels) == 1 else (330.0, 230.0)  # about pixels
    panels = [_panel(panel, looks, bands, size, label) for panel in figure.panels]
    samples = {text: _series_sample(figure, text, look) for text, look in looks.items()}
    samples |= {text: _sample(_area(look, 1, 2, 24, 12)) for text, look in bands.items()}
    items = [element("li", samples[text], element("span", label(text))) for text in entries(figure)]
    return join((element("div", panels, class_="panels"), element("ul", items, class_="legend") if items else None))


def _panel(
    panel: Panel, looks: dict[str, Look], bands: dict[str, BandLook], size: tuple[float, float], label: Label
) -> Markup:
    """One pair of axes with title and labels in the font of the page."""
    wide, high = size
    x = axis(_abscissae(panel), log=panel.xscale == "log", start=_LEFT, end=wide - _RIGHT)
    x = replace(x, places=tuple((place, spoken(name)) for place, name in places(panel)))
    share = CLOSE if edges_in_sight(panel) else FLAT
    y = axis(_ordinates(panel), log=panel.yscale == "log", start=high - _BOTTOM, end=_TOP, share=share)
    title, upwards, along = (spoken(text) for text in (panel.title, panel.ylabel, panel.xlabel))
    picture = element(
        "svg",
        _grid(x, y),
        [_band(band, bands[band.label], x, y) for band in panel.bands],
        [_region(region, bands[region.label], x, y) for region in panel.regions],
        [_series(series, looks[series.label], x, y) for series in panel.series],
        viewBox=f"0 0 {wide:g} {high:g}", role="application", tabindex="0", class_="plot", data_x=along or "x",
        data_y=upwards or "y", aria_label=f"{title}: {upwards} against {along}. Arrow keys step through the points.",
    )  # fmt: skip
    return element(
        "div",
        element("p", label(panel.title), class_="title") if panel.title.strip() else None,
        element("p", label(panel.ylabel), class_="y-label"),
        picture,
        element("p", label(panel.xlabel), class_="x-label"),
        class_="panel",
    )


def _abscissae(panel: Panel) -> Iterable[float]:
    for series in panel.series:
        yield from series.x
    for region in panel.regions:
        yield from region.x
        if region.apart:
            yield from (end for bar in bars(region, panel.xscale == "log") for end in bar)


def _ordinates(panel: Panel) -> Iterable[float]:
    """All ordinates that must be visible: values, ends of errors, and edges of bands."""
    for series in panel.series:
        yield from series.y
        for y, error in zip(series.y, series.error, strict=False):
            yield from (y - error, y + error)
    for region in panel.regions:
        if not region.apart:
            yield from (*region.low, *region.high)
    yield from edges_in_sight(panel)


def _grid(x: Axis, y: Axis) -> Markup:
    lines = "".join(f"M{_n(position)} {_n(y.start)}V{_n(y.end)}" for position, _ in x.ticks)
    lines += "".join(f"M{_n(x.start)} {_n(position)}H{_n(x.end)}" for position, _ in y.ticks)
    return join((
        element("path", d=lines, class_="grid"),
        element("path", d=f"M{_n(x.start)} {_n(y.end)}V{_n(y.start)}H{_n(x.end)}", class_="frame"),
        [element("text", text, x=_n(position), y=_n(y.start + 16), class_="x") for position, text in x.ticks],
        [element("text", text, x=_n(x.start - 6), y=_n(position + 4), class_="y") for position, text in y.ticks],
    ))  # fmt: skip


def _series(series: Series, look: Look, x: Axis, y: Axis) -> Markup:
    """A curve or markers, with an invisible target over each point that shows its values."""
    errors = series.error or (0.0,) * len(series.x)
    points = [
        (x.position(u), y.position(v), u, v, error)
        for u, v, error in zip(series.x, series.y, errors, strict=True)
        if has_place(u, x.log) and has_place(v, y.log)
    ]
    bars = (
        [(px, y.position(v - e), y.position(v + e)) for px, _, _, v, e in points] if series.style == "errorbars" else []
    )
    return element(
        "g",
        element("path", d="".join(f"M{_n(px)} {_n(a)}V{_n(b)}" for px, a, b in bars), class_="bars") if bars else None,
        _shape(series, look, [(px, py) for px, py, *_ in points]),
        [
            element("circle", element("title", _values(u, v, e if series.error else None)), cx=_n(px), cy=_n(py), r=6)
            for px, py, u, v, e in points
        ],
        class_=colour_class(look.color), aria_label=spoken(series.label),
    )  # fmt: skip


def _shape(series: Series, look: Look, points: list[tuple[float, float]]) -> Markup:
    if series.style in BRACKETS:
        stub = -4 * BRACKETS[series.style]
        shape = "".join(f"M{_n(px - 8)} {_n(py + stub)}v{_n(-stub)}h16v{_n(stub)}" for px, py in points)
        return element("path", d=shape, class_="line")
    if series.style in ("points", "errorbars"):
        outline = _MARKERS[look.marker]
        return element(
            "path", d="".join(f"M{_n(px)} {_n(py)}{outline}" for px, py in points), class_=f"marks {series.style}"
        )
    path = "".join(f"{'L' if k else 'M'}{_n(px)} {_n(py)}" for k, (px, py) in enumerate(points))
    return element("path", d=path, class_="line", stroke_dasharray=_dashes(series, look))


def _dashes(series: Series, look: Look) -> str | None:
    if series.style == "dashed":
        return "7 4"
    return None if look.dashes == "solid" else " ".join(f"{1.8 * part:g}" for part in look.dashes[1])


def _values(x: float, y: float, error: float | None) -> str:
    return f"{digits.number(x, digits=6)}; {digits.with_error(y, error)}"


def _band(band: Band, look: BandLook, x: Axis, y: Axis) -> Markup:
    """A shaded band with its edges; an open band extends to the end of the axis."""
    edges = [edge if edge is not None and has_place(edge, y.log) else None for edge in (band.low, band.high)]
    bottom, top = (end if edge is None else y.position(edge) for edge, end in zip(edges, (y.start, y.end), strict=True))
    lines = "".join(f"M{_n(x.start)} {_n(y.position(edge))}H{_n(x.end)}" for edge in edges if edge is not None)
    return element(
        "g",
        _area(look, x.start, min(top, bottom), x.end - x.start, abs(bottom - top)),
        element("path", d=lines, class_="edge"),
    )


def _region(region: Region, look: BandLook, x: Axis, y: Axis) -> Markup:
    if region.apart:
        ends = zip(bars(region, x.log), region.low, region.high, strict=True)
        return element("g", [_bar(look, bar, low, high, x, y) for bar, low, high in ends])
    sides = [
        [
            (x.position(u), y.position(v))
            for u, v in zip(region.x, side, strict=True)
            if has_place(u, x.log) and has_place(v, y.log)
        ]
        for side in (region.low, region.high)
    ]
    outline = [*sides[0], *reversed(sides[1])]
    path = "".join(f"{'L' if k else 'M'}{_n(px)} {_n(py)}" for k, (px, py) in enumerate(outline))
    return _filled(look, "path", d=path + "Z" if path else "")


def _bar(look: BandLook, bar: tuple[float, float], low: float, high: float, x: Axis, y: Axis) -> Markup:
    """The shaded range at one point, with its edges; an open end is the end of the axis."""
    start, wide = x.position(bar[0]), x.position(bar[1]) - x.position(bar[0])
    places = [y.position(end) if y.holds(end) else None for end in (low, high)]
    bottom, top = (y.position(end) if has_place(end, y.log) else edge for end, edge in ((low, y.start), (high, y.end)))
    lines = "".join(f"M{_n(start)} {_n(place)}h{_n(wide)}" for place in places if place is not None)
    return element("g", _area(look, start, top, wide, bottom - top), element("path", d=lines, class_="bound"))


def _area(look: BandLook, left: float, top: float, wide: float, high: float) -> Markup:
    return _filled(look, "rect", x=_n(left), y=_n(top), width=_n(wide), height=_n(high))


def _filled(look: BandLook, shape: str, **position: str) -> Markup:
    """A shape with the colour and the hatch of a band; the hatch distinguishes it without colour."""
    hatch = f"url(#hatch-{BAND_HATCHES.index(look.hatch)})" if look.hatch else None
    return element(
        "g",
        element(shape, **position, class_="band"),
        element(shape, **position, class_="hatch", fill=hatch) if hatch else None,
        class_=colour_class(look.color),
    )


def _series_sample(figure: Figure, text: str, look: Look) -> Markup:
    series = next(s for panel in figure.panels for s in panel.series if s.label == text)
    points = [(13.0, 8.0)] if series.style in ("points", "errorbars", *BRACKETS) else [(1.0, 8.0), (25.0, 8.0)]
    return _sample(element("g", _shape(series, look, points), class_=colour_class(look.color)))


def _sample(content: Markup) -> Markup:
    return element("svg", content, viewBox="0 0 26 16", width=26, height=16, aria_hidden="true")


def spoken(text: str) -> str:
    """Text with formulas in plain words, for screen readers."""
    return plain(printable(text))


def _n(position: float) -> str:
    return f"{position:.1f}".removesuffix(".0")
