"""Draw figures and heat maps as SVG, for the page, the PDF, `explore` and an export, which set the words around it.

A point and a cell say their values, which the page shows. Colours, dashes and sizes are those of the page's style;
on paper the drawing carries this style with its light colours.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from html import unescape
from importlib import resources
from itertools import count, pairwise
from typing import Any

import msgspec
from msgspec.structs import replace

from lipverify.claims.ledger.figure import CONTROL, Figure, HeatMap, Panel, Region, Series
from lipverify.foundation.latex import plain
from lipverify.foundation.style import BRACKETS
from lipverify.report import digits
from lipverify.report.looks import (
    BAND_HATCHES,
    BandLook,
    Look,
    band_looks,
    colour_class,
    entries,
    series_looks,
)
from lipverify.report.model import Drawing, Plot
from lipverify.report.text import Text, printable, rich
from lipverify.report.web.markup import Child, Markup, element, join

FLAT = 0.05
"""Values within five percent of each other are drawn as a level instead of filling the axis with their last digits."""
CLOSE = 0.002
"""The same share beside edges, whose distance is what a figure shows; ticks of four digits tell them apart."""
LEVEL = 1.6
"""Factor by which a log axis extends to either side of a level, enough to show 1, 2 or 5 times a power of ten."""
CLEAR = 0.08
"""Least distance of two ticks at measured places, as a share of their range: numbers of three digits do not overlap."""
FAR = 100.0
"""The edge of a region is drawn so many axes beyond the axis: it does not bend in sight, and no number is too large."""
SHORT = 20
"""Longest label of a y axis, in letters, of two panels that share half the width of a page."""
BLANK = "#d9d9d9"
"""The colour of a cell without a value."""
LONGEST = 80
"""Longest label without a formula, in letters: a longer one is cut, because it would be larger than its figure."""


def undrawable(figure: Figure) -> int:
    """The number of points outside their axes: not finite, or not positive on a log axis."""
    return sum(
        not (has_place(x, panel.xscale == "log") and has_place(y, panel.yscale == "log"))
        for panel in figure.panels
        for series in panel.series
        for x, y in zip(series.x, series.y, strict=False)
    )


def has_place(value: float, log: bool) -> bool:
    """True if an axis has a position for a value: it is finite, and positive on a log axis."""
    return math.isfinite(value) and (value > 0 or not log)


def edges_in_sight(panel: Panel) -> list[float]:
    """The edges for which the y axis makes room: of bands, and of separate bars if near or if a value lies outside."""
    log = panel.yscale == "log"
    edges = [end for band in panel.bands for end in (band.low, band.high) if end is not None and has_place(end, log)]
    values = [point for series in panel.series[:1] for point in zip(series.x, series.y, strict=True)]
    for region in panel.regions if values else ():
        for x, low, high in zip(region.x, region.low, region.high, strict=True) if region.apart else ():
            inside = not any(at == x and (y < low or y > high) for at, y in values)
            ends = [end for end in (low, high) if has_place(end, log)]
            edges += [end for end in ends if not (inside and flattens([end], panel))]
    return edges


def flattens(values: Sequence[float], panel: Panel) -> bool:
    """True if values lie so far off that what was measured would share less than an eighth of the axis."""
    log = panel.yscale == "log"
    rest = [y for curve in panel.series if not curve.label.startswith(CONTROL) for y in curve.y if has_place(y, log)]
    own = [y for y in values if has_place(y, log)]
    if not rest or not own:
        return False
    least = 2 * (math.log(LEVEL) if log else FLAT * max(map(abs, rest)))  # the span of a level
    if log:
        rest, own = [math.log(y) for y in rest], [math.log(y) for y in own]
    span = max(max(rest) - min(rest), least)
    return max(*rest, *own) - min(*rest, *own) > 8 * span > 0


def places(panel: Panel) -> list[tuple[float, str]]:
    """The ticks of an axis of which only some places mean something: names, or the few places of separate bars."""
    if panel.names:
        return [(float(k), name) for k, name in enumerate(panel.names, 1)]
    points = sorted({x for series in panel.series for x in series.x if math.isfinite(x)})
    gaps = [b - a for a, b in pairwise(points)]
    apart = any(region.apart for region in panel.regions) and gaps and min(gaps) >= sum(gaps) * CLEAR
    return [(x, f"{x:g}") for x in points] if panel.xscale == "linear" and (apart or len(points) == 1) else []


def bars(region: Region, log: bool) -> list[tuple[float, float]]:
    """The ends of a bar around each point of a region, which take four fifths of the least distance of two points."""
    places = sorted({math.log10(x) if log else x for x in region.x if has_place(x, log)})
    half = 0.4 * min((b - a for a, b in pairwise(places)), default=1.0)
    return [(x / 10**half, x * 10**half) if log else (x - half, x + half) for x in region.x]


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """One axis: `low` and `high` are its ends (of the decimal logarithm where `log`), drawn at `start` and `end`."""

    log: bool
    low: float
    high: float
    start: float
    end: float
    places: tuple[tuple[float, str], ...] = ()

    def position(self, value: float, beyond: float = 0.0) -> float:
        """The position of a value; one that is further outside than `beyond` times the axis is moved there."""
        known = value > 0 or not self.log
        inner = (math.log10(value) if self.log else value) if known else -math.inf
        room = beyond * (self.high - self.low)
        return self.start + (min(max(inner, self.low - room), self.high + room) - self.low) * self._unit

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
        # numbers beside each other take more room than numbers above each other
        most = max(2, min(5, int(abs(self.end - self.start) / (46 if self.start < self.end else 17))))
        if self.log and span >= 3:  # else also between powers of ten
            step = max(1, math.ceil(span / most))
            decades = range(math.ceil(self.low / step) * step, math.floor(self.high) + 1, step)
            return [(self.start + (k - self.low) * self._unit, _power("", k)) for k in decades]
        ends: tuple[float, float] = (10.0**self.low, 10.0**self.high) if self.log else (self.low, self.high)
        values = within_decades(*ends, most) if self.log and span >= 1 else round_values(*ends, most)
        if len(values) < 2 and self.start > self.end:  # one number shows no scale, and there is room for two
            values = round_values(*ends, most + 2)
        return [(self.position(value), _number(value)) for value in values]


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


def round_values(low: float, high: float, most: int = 5) -> list[float]:
    """About `most` multiples of 1, 2 or 5 times a power of ten between two values."""
    rough = (high - low) / most
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


def within_decades(low: float, high: float, most: int = 5) -> list[float]:
    """1, 2 and 5 times powers of ten between two values, or 1 and 3 times, or powers alone, if these are too many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        values = [value for power in powers for k in factors if low <= (value := float(f"{k}e{power}")) <= high]
        if len(values) <= most + 1:
            break
    return values


def _number(value: float) -> Markup:
    mantissa, _, power = digits.number(value, digits=6).partition("e")
    return _power(f"{mantissa}×", int(power.replace(digits.MINUS, "-"))) if power else join(mantissa)


def _power(mantissa: str, exponent: int) -> Markup:
    """A power of ten as text; 1 and 10 are plain."""
    if exponent in (0, 1):
        return join(str(10**exponent))
    return join((f"{mantissa}10", element("tspan", digits.number(float(exponent)), dy="-0.45em", font_size="0.75em")))


_CELL = 26.0
"""Width of a cell of a map, in units of about a pixel."""
_NAME = 13.0
"""Height of a line of text, in the same units."""


def colour_scale(maps: tuple[HeatMap, ...]) -> dict[str, Any]:
    """The colour map and its ends: white is 0 if values have both signs."""
    values = [value for part in maps for row in part.values for value in row if math.isfinite(value)]
    largest = max((abs(value) for value in values), default=1.0) or 1.0
    if min(values, default=0.0) < 0:
        return {"cmap": "RdBu_r", "low": -largest, "high": largest}
    return {"cmap": "viridis", "low": 0.0, "high": largest}


def _maps(figure: Figure) -> tuple[tuple[Plot, ...], tuple[str, str, str]]:
    """All maps of a figure, and their common scale between its ends."""
    import matplotlib  # a report without a map does not wait for it

    look = colour_scale(figure.maps)
    low, high = look["low"], look["high"]
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
    return tuple(_map(part, colour) for part in figure.maps), (digits.number(low), bar, digits.number(high))


def _map(part: HeatMap, colour: Callable[[float], str]) -> Plot:
    """One matrix between the names of its rows and columns, with which a cell says its value."""
    down, across = len(part.values), max(map(len, part.values), default=0)
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
    rows = [element("text", spoken(name), x=-4, y=_CELL * (k + 0.65), class_="y") for k, name in enumerate(part.rows)]
    columns = [
        element("text", spoken(name), x=_CELL * (k + 0.5), y=_CELL * down + _NAME, class_="x")
        for k, name in enumerate(part.columns)
    ]
    left = 8 + 6 * max((len(spoken(name)) for name in part.rows), default=-1)
    box = (-left, 0, _CELL * max(across, 1) + left, _CELL * max(down, 1) + (_NAME + 3 if columns else 0))
    name = spoken(part.title)
    content = (element("g", cells, aria_label=name), rows, columns)
    said = f"{name}: {down} by {across} values. Arrow keys step through them."
    return Plot(title=_label(part.title), svg=_plot(content, box, "row, column", "value", said))


def _plot(content: Child, box: Iterable[float], x: str, y: str, said: str) -> Markup:
    """A picture whose values a reader steps through, named `x` and `y`."""
    return element(
        "svg", content, viewBox=_box(box), role="application", tabindex="0", class_="plot", data_x=x, data_y=y,
        aria_label=said,
    )  # fmt: skip


def _box(lengths: Iterable[float]) -> str:
    return " ".join(f"{length:g}" for length in lengths)


def _named(names: Sequence[str], position: int) -> str:
    return spoken(names[position]) if position < len(names) else str(position + 1)


_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 10.0, 8.0, 24.0
"""Margins of a panel for its numbers, in the same units."""
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


def draw(figure: Figure, *, paper: bool) -> Drawing:
    """Draw the panels or maps of a figure, for paper or for a page, without its name."""
    looks, bands = series_looks(figure), band_looks(figure)
    samples = {text: _series_sample(figure, text, look) for text, look in looks.items()}
    samples |= {text: _sample(_area(look, 1, 2, 24, 12)) for text, look in bands.items()}
    plots, scale = _maps(figure) if figure.maps else ((), None)
    across, sizes = _layout(figure, paper)
    plots += tuple(_panel(panel, looks, bands, sizes) for panel in figure.panels)
    finish = _on_paper if paper else str
    return Drawing(
        width=width(figure),
        across=across,
        plots=tuple(replace(plot, svg=finish(plot.svg)) for plot in plots),
        legend=tuple((finish(samples[text]), _label(text)) for text in entries(figure)),
        scale=scale and (scale[0], finish(scale[1]), scale[2]),
        caption=rich(figure.caption),
        alt=printable(figure.alt).strip() or "No description was given.",
    )


def width(figure: Figure) -> float:
    """The share of the text width that the figure takes: half of it for a panel or two with short labels."""
    wide = any(len(plain(panel.ylabel)) > SHORT for panel in figure.panels[1:])
    return 1.0 if len(figure.panels) > 2 or len(figure.maps) > 2 or wide else 0.49


def _layout(figure: Figure, paper: bool) -> tuple[int, tuple[float, float]]:
    """How many panels or maps stand beside each other, and the width and height of a panel."""
    many = len(figure.panels)
    if figure.maps:
        return max(1, min(figure.across, len(figure.maps))), (0.0, 0.0)
    across = 2 if many == 4 else min(max(many, 1), 3)
    if not paper:
        return across, (430.0, 270.0) if many == 1 else (330.0, 230.0)
    total = 672 if width(figure) == 1 else 330  # in units of three quarters of a point
    return across, ((total - 18 * (across - 1)) / across - 14, (90 if across == 3 else 82) + _TOP + _BOTTOM)


@cache
def _style() -> str:
    """The part of the page's style that figures need, in its light colours."""
    page = resources.files("lipverify.report.web").joinpath("page.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"--(\w+): light-dark\((#\w+)", page))
    style = page.partition("/* figures */")[2].partition("/* end of figures */")[0]
    return re.sub(r"var\(--(\w+)\)", lambda match: light[match[1]], style)


def _on_paper(svg: str) -> str:
    """The drawing by itself, without the targets of a pointer."""
    bare = re.sub(r"<circle[^>]*><title>.*?</title></circle>", "", svg)
    shades = sorted(set(re.findall(r"\bs-([0-9a-f]{6})\b", bare)))
    style = _style() + "".join(f".s-{shade}{{color:#{shade}}}" for shade in shades)
    held = element("style", Markup(style)) + (hatches() if "url(#hatch" in bare else "")
    return bare.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).replace(">", f">{held}", 1)


def outlined(svg: str) -> str:
    """The drawing with the outlines of its letters, for a file that is shown where the font of the text is missing."""
    return re.sub(r'<text x="([^"]+)" y="([^"]+)" class="([xy])">(.*?)</text>', _outline, svg)


def _outline(label: re.Match[str]) -> str:
    from matplotlib.textpath import TextPath

    x, y, anchor, text = label.groups()
    text = re.sub(r"<tspan[^>]*>(.*?)</tspan>", r"$^{\1}$", unescape(text))
    path = TextPath((0, 0), text, size=11, prop={"family": "STIXGeneral", "math_fontfamily": "stix"})  # type: ignore[arg-type]
    left = float(x) - path.get_extents().x1 / (2 if anchor == "x" else 1)
    signs = {path.MOVETO: "M", path.LINETO: "L", path.CURVE3: "Q", path.CURVE4: "C", path.CLOSEPOLY: "Z"}
    pieces = (
        signs[code]
        + " ".join(f"{left + u:.2f} {float(y) - v:.2f}" for u, v in ends.reshape(-1, 2) if signs[code] != "Z")
        for ends, code in path.iter_segments()
    )
    return element("path", d="".join(pieces), fill="#333333")


def hatches() -> Markup:
    """The hatch patterns that distinguish bands without colour."""
    lines = ("M0 6L6 0", "M0 0L6 6", "M3 3h.6")
    patterns = [
        element("pattern", element("path", d=line), id=f"hatch-{k}", width=6, height=6, patternUnits="userSpaceOnUse")
        for k, line in enumerate(lines, 1)
    ]
    return element("defs", patterns)


def _panel(panel: Panel, looks: dict[str, Look], bands: dict[str, BandLook], size: tuple[float, float]) -> Plot:
    """One pair of axes with the words around it."""
    wide, high = size
    left = _LEFT if wide > 200 else 0.8 * _LEFT
    x = axis(_abscissae(panel), log=panel.xscale == "log", start=left, end=wide - _RIGHT)
    x = replace(x, places=tuple((place, spoken(name)) for place, name in places(panel)))
    share = CLOSE if edges_in_sight(panel) else FLAT
    y = axis(_ordinates(panel), log=panel.yscale == "log", start=high - _BOTTOM, end=_TOP, share=share)
    title, upwards, along = (spoken(text) for text in (panel.title, panel.ylabel, panel.xlabel))
    within = {"x": x.start, "y": y.end, "width": x.end - x.start, "height": y.start - y.end}
    content = (
        _grid(x, y),
        [_bar(bands[b.label], None, _open(b.low), _open(b.high), x, y) for b in panel.bands],
        element(
            "svg",
            [_region(region, bands[region.label], x, y) for region in panel.regions],
            viewBox=_box(within.values()),
            **within,
        ) if panel.regions else None,
        [_series(series, looks[series.label], x, y) for series in panel.series],
    )  # fmt: skip
    said = f"{title}: {upwards} against {along}. Arrow keys step through the points."
    picture = _plot(content, (0, 0, wide, high), along or "x", upwards or "y", said)
    return Plot(title=_label(panel.title), svg=picture, xlabel=_label(panel.xlabel), ylabel=_label(panel.ylabel))


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
    # thin, because the curve that it is compared with has its colour and may be dashed too
    kind = "line rate" if series.style == "dashed" else "line"
    return element("path", d=path, class_=kind, stroke_dasharray=_dashes(series, look))


def _dashes(series: Series, look: Look) -> str | None:
    if series.style == "dashed":
        return "7 4"
    return None if look.dashes == "solid" else " ".join(f"{1.8 * part:g}" for part in look.dashes[1])


def _values(x: float, y: float, error: float | None) -> str:
    return f"{digits.number(x, digits=6)}; {digits.with_error(y, error)}"


def _region(region: Region, look: BandLook, x: Axis, y: Axis) -> Markup:
    if region.apart:
        ends = zip(bars(region, x.log), region.low, region.high, strict=True)
        return element("g", [_bar(look, bar, low, high, x, y) for bar, low, high in ends])
    sides = [
        [
            (x.position(u, FAR), y.position(v, FAR))
            for u, v in zip(region.x, side, strict=True)
            if has_place(u, x.log) and has_place(v, y.log)
        ]
        for side in (region.low, region.high)
    ]
    outline = [*sides[0], *reversed(sides[1])]
    path = "".join(f"{'L' if k else 'M'}{_n(px)} {_n(py)}" for k, (px, py) in enumerate(outline))
    return _filled(look, "path", d=path + "Z" if path else "")


def _open(end: float | None) -> float:
    return math.nan if end is None else end


def _bar(look: BandLook, bar: tuple[float, float] | None, low: float, high: float, x: Axis, y: Axis) -> Markup:
    """The shaded range at one point, or along the axis, with its edges; an open end is the end of the axis."""
    start, stop = (x.start, x.end) if bar is None else map(x.position, bar)
    places = [y.position(end) if y.holds(end) else None for end in (low, high)]
    bottom, top = (y.position(end) if has_place(end, y.log) else edge for end, edge in ((low, y.start), (high, y.end)))
    lines = "".join(f"M{_n(start)} {_n(place)}H{_n(stop)}" for place in places if place is not None)
    edges = element("path", d=lines, class_="bound" if bar else "edge")
    return element("g", _area(look, start, top, stop - start, bottom - top), edges)


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
    bar = element("path", d="M13 1V15", class_="bars") if series.style == "errorbars" else None
    return _sample(element("g", bar, _shape(series, look, points), class_=colour_class(look.color)))


def _sample(content: Markup) -> Markup:
    return element("svg", content, viewBox="0 0 26 16", width=26, height=16, aria_hidden="true")


def _label(text: str) -> Text:
    return rich(f"{text[: LONGEST - 1]}…" if len(text) > LONGEST and "$" not in text else text)


def spoken(text: str) -> str:
    """Text with formulas in plain words, for screen readers."""
    return plain(printable(text))


def _n(position: float) -> str:
    return f"{position:.1f}".removesuffix(".0")
