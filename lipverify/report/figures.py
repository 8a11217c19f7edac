"""Draw the figures of the ledger as SVG or PDF; the same figure gives the same bytes."""

from __future__ import annotations

import io
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partialmethod
from itertools import pairwise
from typing import Any, Literal

import matplotlib
from matplotlib import style
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.cbook import is_math_text
from matplotlib.figure import Figure as Canvas
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FormatStrFormatter, LogLocator, MaxNLocator, NullFormatter
from msgspec.structs import replace

from lipverify.claims.ledger.figure import CONTROL, Band, Figure, Panel, Region, Series
from lipverify.foundation.style import STYLE, bracket
from lipverify.report.heatmaps import draw_maps
from lipverify.report.looks import BandLook, Look, band_looks, entries, series_looks
from lipverify.report.text import drawable, family, printable

FLAT = 0.05
"""Values within five percent of each other are drawn as a level instead of filling the axis with their last digits."""
CLOSE = 0.002
"""The same share beside edges, whose distance is what a figure shows; ticks of four digits tell them apart."""
LEVEL = 1.6
"""Factor by which a log axis extends to either side of a level, enough to show 1, 2 or 5 times a power of ten."""
CLEAR = 0.08
"""Least distance of two ticks at measured places, as a share of their range: numbers of three digits do not overlap."""
BEYOND = 0.12
"""Share of an axis beyond the outermost edge, enough to see the shade of a range that is open there."""
_STYLE: dict[str, Any] = {
    **STYLE,
    "font.family": "cmr10",
    "mathtext.fontset": "cm",
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.titley": 1.0,
    "axes.titlepad": 5,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "axes.formatter.use_mathtext": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-3, 4),
    "axes.grid": False,
    "pdf.fonttype": 42,  # TrueType, embedded: journals refuse Type 3
    "path.simplify": False,
}
"""The style of every picture, with the fonts and sizes of the report."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.70, 0.10, 0.26, 0.44
"""Margins around the axes, in inches."""
_BESIDE = 0.46
"""Distance of the y axis' label from the axis, in inches; the tick labels lie between."""
_CLOSE = 0.38
"""The same distance for narrow panels."""
_SHORT = 1.2
"""Longest label of the y axis of two panels side by side in half the width, in inches."""
_INSIDE = 0.95
"""Largest share of the room above the axes that a label of the y axis may take."""
_LEGEND = 3.0
"""Width of one entry of the legend, in inches."""
_UNTITLED = 0.06
"""Room above axes without a title, in inches."""
_EDGE = 11.0
"""Length of the line that marks an edge, in points: three times a marker, so that it shows beside one."""
_FACTOR = 32.0
"""Width of the power of ten above a y axis, in points."""
_NARROW = 2.2
"""Panels narrower than this, in inches, get a smaller left margin."""
_READ_AT, _DPI = 100.0, 72
"""Font size in points and resolution per inch at which matplotlib parses formulas for outlines."""


def draw(figure: Figure) -> bytes:
    """Draw a figure as SVG. Text stays text, a fifth of the size of outlines, if the page has the font."""
    with _drawn(figure, 6.5 * width(figure)) as canvas:  # the width of the text in inches
        svg = _saved(canvas, "svg", "none", {})
        # outlines for fonts with several weights, which look the same, and for the Omega and two brackets that TeX's
        # fonts have at the code point of Unicode's soft hyphen, which viewers do not show
        outlined = any(sign.encode() in svg for sign in ("\u00ad", "STIX", "DejaVu"))
        return _saved(canvas, "svg", "path", {}) if outlined else svg


def draw_alone(figure: Figure, kind: Literal["svg", "pdf"], title: str) -> bytes:
    """Draw a figure as a stand-alone file: as wide as a paper's column or page, with all fonts embedded."""
    inches = 6.75  # both columns of a paper
    if len(figure.panels) == 1:
        inches = 3.25  # one column
        figure = replace(figure, panels=(replace(figure.panels[0], title=""),))  # a paper has it in the caption
    about = {"Title": printable(title), "Description" if kind == "svg" else "Subject": printable(figure.alt)}
    with _undisturbed(), _drawn(figure, inches) as canvas:
        return _saved(canvas, kind, "path", about)


@contextmanager
def _parsed_once() -> Iterator[None]:
    """Parse every formula once, at one size, in place of a private method of matplotlib: parsing dominates drawing."""
    before: Any = getattr(MathTextParser, "_parse_cached", None)
    if not hasattr(before, "__wrapped__"):
        yield
        return
    MathTextParser._parse_cached = partialmethod(_read, before.__wrapped__)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        MathTextParser._parse_cached = before  # type: ignore[attr-defined]


def _read(parser: Any, parse: Callable[..., Any], text: str, dpi: float, font: Any, *how: Any) -> Any:
    """A formula at a given size, scaled from its parse at the size of outlines."""
    if parser._output_type != "vector":
        return parse(parser, text, dpi, font, *how)
    font = FontProperties() if font is None else font.copy()
    unit = font.get_size_in_points() / _READ_AT * dpi / _DPI
    font.set_size(_READ_AT)
    read = _read_once(parse, text, font, *how)
    return type(read)(
        *(unit * length for length in read[:3]),
        [(face, unit * size, *code, unit * x, unit * y) for face, size, *code, x, y in read.glyphs],
        [tuple(unit * length for length in rectangle) for rectangle in read.rects],
    )


@lru_cache(4096)
def _read_once(parse: Callable[..., Any], text: str, font: Any, *how: Any) -> Any:
    return parse(MathTextParser("path"), text, _DPI, font, *how)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Silence the warnings of fontTools about dates in TeX's fonts."""
    logger = logging.getLogger("fontTools")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextmanager
def _drawn(figure: Figure, inches: float) -> Iterator[Any]:
    """Draw the figure at a width in inches, with the settings for saving it."""
    settings = style.context(["default", _STYLE], after_reset=True)
    with matplotlib.rc_context(), settings, _parsed_once():
        # lay out on the canvas that is saved: the default one rounds to pixels
        canvas = FigureCanvasSVG(Canvas(dpi=_DPI)).figure
        if figure.maps:
            draw_maps(canvas, figure, inches)
        else:
            _draw_panels(canvas, figure, inches)
        yield canvas


def _saved(canvas: Any, kind: str, text: str, about: dict[str, str]) -> bytes:
    """Save a drawing to bytes; the text of SVG is text ("none") or outlines ("path")."""
    undated = {"svg": ("Date", "Creator"), "pdf": ("CreationDate", "Creator", "Producer")}[kind]
    out = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": text}):
        canvas.savefig(out, format=kind, metadata={**dict.fromkeys(undated), **about})
    return out.getvalue()


def _draw_panels(canvas: Any, figure: Figure, inches: float) -> None:
    """Draw panels above their legend, which has as many columns as fit."""
    looks, bands, labels = series_looks(figure), band_looks(figure), entries(figure)
    axes = _lay_out(canvas, figure, inches)
    for panel, ax in zip(figure.panels, axes, strict=True):
        _draw_panel(ax, panel, looks, bands)
    for columns in range(len(labels), 0, -1):
        legend = _draw_legend(canvas, axes, columns, [drawable(label, _LEGEND) for label in labels])
        if legend.get_window_extent().width <= canvas.bbox.width or columns == 1:
            return _raise(canvas, axes, legend.get_window_extent().height / _DPI)
        legend.remove()


def width(figure: Figure) -> float:
    """The share of the text width that the figure takes: half of it for a panel or two with short labels."""
    wide = any(_extent(panel.ylabel, _LEGEND)[0] > _SHORT for panel in figure.panels[1:])
    return 1.0 if len(figure.panels) > 2 or len(figure.maps) > 2 or wide else 0.49


def undrawable(figure: Figure) -> int:
    """The number of points outside their axes: not finite, or not positive on a log axis."""
    return sum(
        not _has_place(panel, x, y)
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


def _has_place(panel: Panel, x: float, y: float) -> bool:
    return has_place(x, panel.xscale == "log") and has_place(y, panel.yscale == "log")


def _lay_out(canvas: Any, figure: Figure, total: float) -> list[Any]:
    """Axes on a grid of fixed sizes, which aligns figures between pages."""
    count = len(figure.panels)
    across = count if count <= 3 else 2 if count == 4 else 3
    down = math.ceil(count / across) if count else 1
    across = max(across, 1)
    tall = (1.0 if across == 3 else 0.86) * (1 if down == 1 else 0.75)
    wide = total / across - _LEFT - _RIGHT
    start = _LEFT if total / across > _NARROW else _LEFT - _BESIDE + _CLOSE
    top = max((_room_above(panel, wide, tall) for panel in figure.panels), default=_UNTITLED)
    cell_height = top + tall + _BOTTOM
    height = down * cell_height
    canvas.set_size_inches(total, height)
    axes = []
    for k in range(count):
        row, column = divmod(k, across)
        left = column * total / across + start
        bottom = height - (row + 1) * cell_height + _BOTTOM
        wide = total / across - start - _RIGHT
        axes.append(canvas.add_axes((left / total, bottom / height, wide / total, tall / height)))
    return axes


def _raise(canvas: Any, axes: Sequence[Any], inches: float) -> None:
    """Make the canvas taller by some inches below the axes, which keep their sizes."""
    wide, tall = canvas.get_size_inches()
    canvas.set_size_inches(wide, tall + inches)
    for ax in axes:
        x, y, width, height = ax.get_position().bounds
        ax.set_position((x, (y * tall + inches) / (tall + inches), width, height * tall / (tall + inches)))


def _room_above(panel: Panel, wide: float, tall: float) -> float:
    """Room in inches for the text above axes: a title, a y label, or the power of ten of the y axis."""
    label = _extent(panel.ylabel, wide)[1] + 0.12 if _is_raised(panel, tall) else _UNTITLED
    return max(label, _TOP if panel.title.strip() or _is_scaled(panel) else _UNTITLED)


def _is_scaled(panel: Panel) -> bool:
    """True if matplotlib writes a power of ten above the y axis."""
    ends = [end for band in panel.bands for end in (band.low, band.high) if end is not None]
    size = max((abs(y) for y in (*ends, *(y for s in panel.series for y in s.y)) if math.isfinite(y)), default=1.0)
    low, high = _STYLE["axes.formatter.limits"]
    # the largest tick has at most the exponent `low`, or at least the exponent `high`; ticks may exceed the values
    return panel.yscale == "linear" and not 10.0 ** (low + 1) <= size < 10.0**high / (1 + FLAT)


def _is_raised(panel: Panel, tall: float) -> bool:
    """True if the y label is above the axes: it does not fit along the axis, and the panel has no title."""
    length, height = _extent(panel.ylabel, _LEGEND)
    fits = length <= tall + 2 * _UNTITLED * _INSIDE and height <= _LEFT - _BESIDE
    return not panel.title.strip() and not fits


@lru_cache(4096)
def _extent(label: str, width: float) -> tuple[float, float]:
    """Length and height of a label in inches, at the size of labels."""
    text = drawable(label, width)
    if not text.strip():
        return 0.0, 0.0
    font = FontProperties(family=family(text), size=_STYLE["axes.labelsize"])
    length, height, _ = text_to_path.get_text_width_height_descent(text, font, is_math_text(text))
    return length / _DPI, height / _DPI


def _draw_panel(ax: Any, panel: Panel, looks: dict[str, Look], bands: dict[str, BandLook]) -> None:
    ax.set_xscale(panel.xscale)
    ax.set_yscale(panel.yscale)
    _draw_labels(ax, panel)
    ax.grid(True, which="major")
    for series in panel.series:
        _draw_series(ax, panel, series, looks[series.label])
    _make_room(ax, panel)
    for region in panel.regions:
        _draw_region(ax, panel, region, bands[region.label])
    for band in panel.bands:
        _draw_band(ax, panel, band, bands[band.label])
    _set_ticks(ax, panel)


def _set_ticks(ax: Any, panel: Panel) -> None:
    """Integer ticks for integer values; on a log axis of one or two decades plain numbers, 0.2 instead of 2 x 10^-1."""
    points = [x for series in panel.series for x in series.x if math.isfinite(x)]
    if panel.xscale == "linear" and points and all(x == round(x) for x in points):
        ax.xaxis.set_major_locator(MaxNLocator(nbins="auto", integer=True, steps=[1, 2, 5, 10]))
    if ticks := places(panel):
        ax.set_xticks([x for x, _ in ticks], [drawable(name, _LEGEND) for _, name in ticks])
        for name in ax.get_xticklabels():
            name.set_fontfamily(family(name.get_text()))
    if panel.xscale == "linear" and len(set(points)) == 1:
        ax.set_xlim(points[0] - 0.5, points[0] + 0.5)
    for axis, scale, (low, high) in ((ax.xaxis, panel.xscale, ax.get_xlim()), (ax.yaxis, panel.yscale, ax.get_ylim())):
        if scale == "log":
            axis.set_minor_formatter(NullFormatter())
            if high < 100 * low:  # one or two decades
                axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
                axis.set_major_formatter(FormatStrFormatter("%g"))


def _draw_labels(ax: Any, panel: Panel) -> None:
    """Draw labels at fixed distances, which aligns panels and avoids a second layout of the ticks."""
    inches = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    wide, high = inches.width + _LEFT, inches.height + _TOP
    # a longer label gets a smaller font, down to 1 / 1.4, then is cut
    for name, width in (("title", wide), ("xlabel", wide), ("ylabel", 1.4 * (high + _TOP))):
        text = drawable(getattr(panel, name), width)
        if name == "ylabel" and _is_raised(panel, inches.height):
            text = drawable(panel.ylabel, _LEGEND)
            shift = _FACTOR / _DPI / inches.width * _is_scaled(panel)
            size = min(1.0, inches.width * (1 - shift) / max(_extent(panel.ylabel, _LEGEND)[0], 1e-9))
            above = {"x": shift, "va": "bottom", "fontsize": size * _STYLE["axes.labelsize"]}
            ax.set_title(text, loc="left", fontfamily=family(text), **above)
            continue
        label = getattr(ax, f"set_{name}")(text, fontfamily=family(text))
        if name == "ylabel":
            top = _TOP if panel.title.strip() else _UNTITLED
            _fit(label, inches.height + 2 * top * _INSIDE, _LEFT - _BESIDE)
    ax.xaxis.set_label_coords(0.5, -0.27 / inches.height)
    ax.yaxis.set_label_coords(-(_BESIDE if wide > _NARROW else _CLOSE) / inches.width, 0.5)


def _fit(label: Any, long: float, high: float) -> None:
    """Fit a label into a length in inches: by a smaller font if it is longer, or by cutting a fraction."""
    extent = label.get_window_extent()
    across, along = extent.width / _DPI, extent.height / _DPI  # the label is vertical
    label.set_fontsize(label.get_fontsize() * min(1.0, long / max(along, 1e-9), high / max(across, 1e-9)))


def _draw_series(ax: Any, panel: Panel, series: Series, look: Look) -> None:
    errors = series.error or (0.0,) * len(series.x)
    points = [p for p in zip(series.x, series.y, errors, strict=True) if _has_place(panel, *p[:2])]
    x, y, error = ([p[i] for p in points] for i in range(3))
    over = 3 if series.style in {"line", "dashed"} else 4
    common = {"color": look.color, "label": drawable(series.label, _LEGEND), "zorder": over}
    common["clip_on"] = over == 3 or bool(series.error)  # a marker at the end of an axis stays whole
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.4}
    match series.style:
        case "line":
            ax.plot(x, y, linestyle=look.dashes, **common)
        case "dashed":
            ax.plot(x, y, linestyle=(0, (4, 2)), linewidth=0.9, **common)
        case "points":
            # hollow, so that points below remain visible
            ax.plot(x, y, linestyle="none", marker=look.marker, markerfacecolor="none",
                    markersize=_STYLE["lines.markersize"] * look.size, **common)  # fmt: skip
        case "lower" | "upper" | "value":
            outline = {"marker": bracket(series.style), "markersize": _EDGE, "markerfacecolor": "none"}
            ax.plot(x, y, linestyle="none", markeredgewidth=1.2, **outline, **common)
        case "errorbars":
            ax.errorbar(
                x, y, error, linestyle="none", marker=look.marker, capsize=2, elinewidth=0.8,
                **edge, **common,
            )  # fmt: skip


def _make_room(ax: Any, panel: Panel) -> None:
    """Extend the y axis to every finite edge of a band, and keep noise from filling the axis."""
    edges = edges_in_sight(panel)
    share = CLOSE if edges else FLAT
    if panel.yscale == "linear":
        low, high = ax.get_ylim()
        middle, least = (low + high) / 2, share * max(abs(low), abs(high))
        if high - low < least:
            ax.set_ylim(middle - least, middle + least)
    elif (low := ax.get_ylim()[0]) * (1 + 4 * share) > (high := ax.get_ylim()[1]):
        middle = math.sqrt(low * high)
        ax.set_ylim(middle / LEVEL, middle * LEVEL)
    if not edges:
        return
    low, high = ax.get_ylim()
    log = panel.yscale == "log"
    ends = (min(low, *edges), max(high, *edges))
    span = ends[1] / ends[0] if log else ends[1] - ends[0]
    for edge in {min(edges), max(edges)}:
        if edge <= low:
            low = edge / span**BEYOND if log else edge - BEYOND * span
        if edge >= high:
            high = edge * span**BEYOND if log else edge + BEYOND * span
    ax.set_ylim(low, high)


def _draw_band(ax: Any, panel: Panel, band: Band, look: BandLook) -> None:
    low, high = ax.get_ylim()
    ends = [
        end if end is not None and _has_place(panel, 1.0, end) else limit
        for end, limit in ((band.low, low), (band.high, high))
    ]
    ax.axhspan(
        *ends, facecolor=look.color, alpha=0.45, edgecolor="#666666" if look.hatch else "none",
        hatch=look.hatch or None, linewidth=0, label=drawable(band.label, _LEGEND), zorder=0.5,
    )  # fmt: skip
    for end in (band.low, band.high):
        if end is not None and _has_place(panel, 1.0, end):
            ax.axhline(end, color="#555555", linewidth=0.7, linestyle=(0, (2, 1.5)), zorder=0.9)
    ax.set_ylim(low, high)


def _draw_region(ax: Any, panel: Panel, region: Region, look: BandLook) -> None:
    limits = ax.get_xlim(), ax.get_ylim()
    fill = {"facecolor": look.color, "alpha": 0.45, "linewidth": 0, "hatch": look.hatch or None, "zorder": 0.5}
    fill["label"] = drawable(region.label, _LEGEND)
    ends = zip(region.x, region.low, region.high, strict=True)
    if region.apart:
        places = bars(region, panel.xscale == "log")
        for (left, right), (_, low, high) in zip(places, ends, strict=True):
            known = [_has_place(panel, 1.0, end) for end in (low, high)]
            ax.fill_between(
                [left, right], low if known[0] else limits[1][0], high if known[1] else limits[1][1], **fill
            )
            for end in {end for end, here in zip((low, high), known, strict=True) if here}:
                ax.plot([left, right], [end, end], color="#555555", linewidth=0.7, zorder=0.9)
        beyond = [end for bar in places for end in bar]
        limits = (min(limits[0][0], *beyond), max(limits[0][1], *beyond)), limits[1]
    else:
        points = [(x, low, high) for x, low, high in ends if _has_place(panel, x, low) and _has_place(panel, x, high)]
        ax.fill_between(*zip(*points, strict=True) if points else ([], [], []), **fill)
    ax.set(xlim=limits[0], ylim=limits[1])


def _draw_legend(canvas: Any, axes: list[Any], columns: int, labels: Sequence[str]) -> Any:
    handles: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    legend = canvas.legend(
        [handles[label] for label in labels], labels, loc="lower center", ncols=columns, borderaxespad=0.1,
        borderpad=0.2, handlelength=2.0, columnspacing=1.0, labelspacing=0.35, handletextpad=0.5,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_fontfamily(family(text.get_text()))
    return legend
