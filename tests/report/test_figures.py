"""Figures: each formula is parsed once, and has the position that matplotlib would give it."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser
from msgspec.structs import replace

from lipverify.checks.softmax import figures as softmax
from lipverify.checks.softmax.levels import LENGTHS, LEVELS
from lipverify.checks.softmax.slopes import SEEN
from lipverify.claims.ledger import Allowed, Band, Cell, Figure, HeatMap, Record, Region, Series, read_ledger
from lipverify.claims.ledger.figure import Scale  # internal: the literal type of an axis, for an annotation
from lipverify.claims.plan import profile_named, select_claims
from lipverify.claims.plan.figure import chart  # internal: the figure of cells that no claim measured
from lipverify.claims.run import run
from lipverify.report.build import build  # internal: the drawings of a report, by name

# internal: points beyond the axes are selected before a figure is drawn
from lipverify.report.drawings import (
    Drawings,
    in_sight,
    joined,  # internal: before a figure is drawn
)

# internal: the test measures glyphs on the canvas and counts cache entries
from lipverify.report.figures import (
    _drawn,
    _parsed_once,
    _read_once,
    draw,
    width,
)

# internal: colours, markers and labels are chosen before anything is drawn
from lipverify.report.looks import entries, series_looks

# internal: the check that a label can be drawn, for hundreds of labels without a figure
from lipverify.report.text import drawable
from tests import ROOT
from tests.ledgers import record, slopes_figure, terms_figure
from tests.report.pages import figure_of

FORMULAS = (r"$w^{1/d}$", r"bias $\frac{\sigma^2}{n}$ of $\sqrt{L}$", r"$\mathdefault{10^{-28}}$")


@pytest.mark.parametrize("size", [7.0, 8.5, 40.0])
@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_lies_where_it_would_have_been_read(text: str, size: float) -> None:
    """The tolerance is the rounding of fonts and matplotlib: 1/32 point per glyph, and slightly more at a root."""
    font = FontProperties(family="cmr10", size=size, math_fontfamily="cm")
    plain = MathTextParser("path").parse(text, 72, font)
    with _parsed_once():
        scaled = MathTextParser("path").parse(text, 72, font)
    assert [glyph[2:-2] for glyph in scaled.glyphs] == [glyph[2:-2] for glyph in plain.glyphs]
    assert [glyph[1] for glyph in scaled.glyphs] == pytest.approx([glyph[1] for glyph in plain.glyphs], abs=1 / 64)
    assert scaled.width == pytest.approx(plain.width, abs=1 + len(plain.glyphs) / 64)
    for ours, theirs in zip(_laid(scaled), _laid(plain), strict=True):
        assert ours == pytest.approx(theirs, abs=size / 50 + len(plain.glyphs) / 32)


def _laid(read: Any) -> list[tuple[float, ...]]:
    """Positions of glyphs and rectangles relative to the first glyph, because the baseline is rounded to a point."""
    (*_, x, y) = read.glyphs[0]
    return [(g[-2] - x, g[-1] - y) for g in read.glyphs] + [(r[0] - x, r[1] - y, r[2], r[3]) for r in read.rects]


def test_every_formula_is_read_once() -> None:
    """The check, the layout and the drawing at all sizes share one parse."""
    label = r"$\frac{\alpha}{\beta} \leq \gamma^{17}$"
    both = (Series(label=name, x=(1.0, 2.0), y=(1.0, 2.0)) for name in (label, "other"))
    figure = figure_of(*both, title=label, xlabel=label, ylabel=label)
    _read_once.cache_clear()
    draw(figure)
    first = _read_once.cache_info()
    assert first.hits > 4
    draw(figure)
    assert _read_once.cache_info().misses == first.misses


def test_every_quantity_of_every_claim_can_be_drawn() -> None:
    """A formula that matplotlib cannot parse would appear as source on an axis."""
    written = {cell.quantity_latex for claim in select_claims([]) for cell in claim.cells}
    assert len(written) > 100
    shown = {latex: drawable(latex, 10.0) for latex in written if latex}
    assert not [latex for latex, text in shown.items() if r"\$" in text]
    assert drawable(r"$\Bigl(\tfrac{w}{2}\Bigr) \bigotimes$", 10.0) == r"$(\frac{w}{2}) \bigotimes$"


LONG = " + ".join("xyzuvw" * 3)


@pytest.mark.parametrize("label", [r"$\frac{\sum_i^{n^2} x}{\int_0^1 y}$", 40 * "long ", f"${LONG}$", "w"])
def test_a_label_stays_inside_of_its_figure(label: str) -> None:
    (panel,) = figure_of(ylabel=label).panels
    with _drawn(Figure(caption="", alt="", panels=(panel, panel)), 6.5) as canvas:
        begins = 0.0
        for ax in canvas.axes:
            extent = ax.yaxis.label.get_window_extent()
            assert begins - 1e-9 <= extent.x0 <= extent.x1 <= ax.get_window_extent().x0
            begins = ax.get_window_extent().x1
            assert (extent.y0 >= 0, extent.y1 <= canvas.bbox.y1) == (True, True)
    assert ax.yaxis.label.get_fontsize() <= 9
    assert label != "w" or ax.yaxis.label.get_fontsize() == 9


TALL = r"$\max_i |\nabla_x y| / \frac{w}{2} (\max_i y_i - \min_i y_i)$"


@pytest.mark.parametrize("size", [3e-6, 7.5e-3, 0.5, 9800.0, 4e7])
@pytest.mark.parametrize("label", ["w", TALL])
def test_text_above_the_axes_is_inside_of_the_figure_and_does_not_overlap(size: float, label: str) -> None:
    """The power of ten of the y axis was once cut off, so that values seemed to be of order 1."""
    series = Series(label="a", x=(1.0, 2.0), y=(0.0, size))
    with _drawn(figure_of(series, title="", ylabel=label, yscale="linear"), 3.2) as canvas:
        (ax,) = canvas.axes
        canvas.draw_without_rendering()
        power, above = ax.yaxis.get_offset_text(), ax._left_title
        assert bool(power.get_text()) is (not 0.01 < size < 9000)
        assert bool(above.get_text()) is (label == TALL)
        extents = [text.get_window_extent() for text in (power, above) if text.get_text()]
        assert all(extent.y1 <= canvas.bbox.y1 and extent.x1 <= canvas.bbox.x1 for extent in extents)
        assert len(extents) < 2 or extents[0].x1 <= extents[1].x0


@pytest.mark.parametrize("ends", [(2.0, 20.0), (0.5, 3.0), (1.0, 90.0)])
def test_numbers_on_a_short_log_axis_do_not_overlap(ends: tuple[float, float]) -> None:
    with _drawn(figure_of(Series(label="a", x=ends, y=ends[::-1])), 3.2) as canvas:
        (ax,) = canvas.axes
        canvas.canvas.draw_idle()
        for axis, across in ((ax.xaxis, True), (ax.yaxis, False)):
            ticks = [t for t in axis.get_ticklabels(which="both") if t.get_text() and t.get_window_extent().width]
            spans = sorted((e.x0, e.x1) if across else (e.y0, e.y1) for e in (t.get_window_extent() for t in ticks))
            inside = [span for span in spans if span[1] > 0]
            assert len(inside) >= 2
            assert all(a[1] <= b[0] for a, b in pairwise(inside))


def test_a_figure_is_measured_as_it_is_drawn() -> None:
    """The layout is in points, from the outlines of glyphs, not in pixels of a screen."""
    with _drawn(figure_of(), 3.0) as canvas:
        assert (canvas.dpi, canvas.canvas.get_default_filetype()) == (72, "svg")


def plotted(control: float, scale: Scale = "linear") -> Figure:
    """Values from 1 to 2, and a control."""
    measured = Series(label="measured", x=(1.0, 2.0), y=(1.0, 2.0), error=(0.1, 0.1), style="errorbars")
    line = Series(label=r"control $\geq$", x=(1.0, 2.0), y=(control, control), style="dashed")
    return figure_of(measured, line, title="", xscale="linear", yscale=scale)


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize(("control", "beyond"), [(2.5, False), (4.0, False), (3000.0, True)])
def test_a_control_far_off_does_not_flatten_a_figure(control: float, beyond: bool, scale: Scale) -> None:
    figure = plotted(control, scale)
    shown, left_out = in_sight(figure)
    assert left_out is beyond
    assert (shown == figure) is not beyond
    caption = "".join(run.text for run in Drawings().add(figure).caption)
    assert ("The control lies beyond the axes." in caption) is beyond


def test_points_that_lie_over_each_other_are_hollow() -> None:
    """If two series agree, both remain visible."""
    points = tuple(Series(label=name, x=(1.0, 2.0), y=(1.0, 2.0), style="points") for name in ("a", "b"))
    with _drawn(figure_of(*points, title=""), 3.0) as canvas:
        (ax,) = canvas.axes
        assert [line.get_markerfacecolor() for line in ax.lines] == ["none", "none"]
        assert ax.lines[0].get_markersize() > ax.lines[1].get_markersize()


GROWING = """
from lipverify.claims import claim, exponent

def bias(w, d):
    return d * w**-2 * (1 + 1 / w), 1e-12 * w**-2

claim("mine.bias", exponent(bias, "B", low="-2", control="-1", along={"w": (1e2, 1e12)}), over={"d": (2, 3)},
      source=("Notes", "1", "B"), kind="printed")
"""


def figures_in(text: str, folder: Path) -> tuple[Record, ...]:
    """The records of a claims file; its folder is new."""
    path = folder / "mine.py"
    path.write_text(text)
    return run(select_claims([str(path)], profile_named("quick")), jobs=0).claims


def test_a_figure_of_an_exponent_shows_the_limits_over_what_is_claimed(tmp_path: Path) -> None:
    """A point for each d with its bar and the bracket of its control, on a linear axis; the rays are evidence."""
    (record,) = figures_in(GROWING, tmp_path)
    limits, rays = record.figures
    (panel,) = limits.panels
    measured, control = panel.series
    (bars,) = panel.regions
    assert (panel.yscale, bars.apart, bars.label) == ("linear", True, "claimed: $\\geq -2$")
    assert measured.x == control.x == bars.x == (2.0, 3.0)
    assert measured.y == pytest.approx((-2, -2), abs=1e-6)
    assert (control.style, control.y) == ("lower", (-1.0, -1.0))
    assert (limits.layer, rays.layer) == ("theorem", "evidence")


def test_a_single_limit_is_shown_along_its_ray(tmp_path: Path) -> None:
    (record,) = figures_in(GROWING.replace("(2, 3)", "(2,)"), tmp_path)
    (figure,) = record.figures
    (panel,) = figure.panels
    assert [series.label for series in panel.series] == ["along the ray", "control", "its limit"]
    assert panel.series[2].y == (record.cells[0].measured,)
    assert [(band.low, band.high) for band in panel.bands] == [(-2.0, None)]


EDGES = st.floats(-3, 3) | st.none()
VALUES = st.tuples(st.floats(-2, 2), st.sampled_from([0.0, 0.01, 0.5, math.inf]))


@st.composite
def cells_of_claims(draw: st.DrawFn) -> tuple[Cell, ...]:
    """Cells of one or two quantities at a few places, with any allowed range and control."""
    example = record().cells[0]
    laws = draw(st.lists(st.sampled_from(["relu", "affine", "cosine"]), min_size=1, unique=True))
    dimensions = draw(st.lists(st.integers(2, 30), min_size=1, max_size=9, unique=True))
    made: list[Cell] = []
    for quantity in draw(st.sampled_from([("$B$",), ("$B$", r"$\frac{N}{2}$")])):
        for law in laws:
            for d in dimensions:
                (value, error), low, high = draw(VALUES), draw(EDGES), draw(EDGES)
                allowed = Allowed(low=low, high=None if low is not None and high is not None and high < low else high)
                control = replace(example.control, low=draw(EDGES), high=None, edges={})
                edges = {"low": f"1/(d + {len(made) % draw(st.integers(1, 9))})"} if low is not None else {}
                at = {"where": {"law": law, "d": d}, "quantity": quantity, "quantity_latex": quantity}
                made.append(
                    replace(example, measured=value, error=error, allowed=allowed, control=control, edges=edges, **at)
                )
    return tuple(made)


@settings(max_examples=40)
@given(cells_of_claims())
def test_what_is_claimed_is_drawn_where_something_was_measured_and_the_legend_is_short(cells: tuple[Cell, ...]) -> None:
    known = [cell for cell in cells if cell.error != math.inf]
    for figure in chart(cells):
        assert len(figure.panels) <= 6
        assert len(entries(figure)) <= 5
        for panel in figure.panels:
            measured, *controls = panel.series
            (region,) = panel.regions
            assert measured.label == "measured"
            assert region.apart
            assert measured.x == region.x
            assert set(measured.y) <= {cell.measured for cell in known}
            assert all(set(control.x) <= set(measured.x) and control.label == "control" for control in controls)
        assert draw(in_sight(figure)[0])


def training(**values: float) -> dict[str, Any]:
    """Curves of a training with two steps: a mean and its error for each name."""
    return {
        "shares": [0.0, 1.0],
        "nothing": 1.0,
        "curves": {name: [(1.0, 0.1), (y, 0.1)] for name, y in values.items()},
    }


def figures_of_theorems() -> dict[str, Figure]:
    """Figures that functions of theorems make, with few numbers."""
    runs = {
        f"{tokens}_{how}": training(rho=0.5, error=0.7) for tokens in ("product", "sphere") for how in ("gd", "adam")
    }
    sampled = {f"{letter}({w:g})": (1.0, 0.1) for letter in "BN" for w in SEEN}
    losses = {f"loss of {L:g} on 3": (1 / L, 0.0) for L in LEVELS} | {f"w* of {L:g}": (L, 0.0) for L in LEVELS}
    return {
        "tradeoff": softmax.tradeoff("relu", softmax.terms_by_w("relu", 3, 1000), sampled),
        "learned": softmax.learned("affine", "linear", **runs),
        "three levels": softmax.three_levels([losses] * len(LENGTHS)),
        "window": softmax.against_lambda("relu", [[(1e2, 3.0), (1e4, 30.0)]] * 3),
    }


def test_the_legend_of_a_theorem_has_at_most_five_entries_below_the_plot() -> None:
    for name, figure in figures_of_theorems().items():
        assert 2 <= len(entries(figure)) <= 5, name
        with _drawn(figure, 6.5 * width(figure)) as canvas:
            (legend,) = canvas.legends
            tallest = max(ax.get_window_extent().height for ax in canvas.axes)
            assert legend.get_window_extent().height < tallest, name
            assert {label.get_rotation() for ax in canvas.axes for label in ax.get_xticklabels()} == {0.0}


def test_a_legend_is_smaller_than_its_plot(tmp_path: Path) -> None:
    (one,) = figures_in(GROWING, tmp_path)
    for figure in one.figures:
        with _drawn(figure, 6.5 * width(figure)) as canvas:
            (legend,), (ax, *_) = canvas.legends, canvas.axes
            assert legend.get_window_extent().height < ax.get_window_extent().height / 2
            assert legend.get_window_extent().y1 <= ax.xaxis.label.get_window_extent().y0


def test_no_two_pictures_of_a_report_are_the_same() -> None:
    """On paper and on the page: each file of the example differs from the others, and has at most five labels."""
    ledger = read_ledger(ROOT / "reports" / "example" / "ledger.json")
    drawings = Drawings()
    build(ledger, drawings.add, evidence=True)
    assert len(drawings.files) > 3
    assert len(set(drawings.files.values())) == len(drawings.files)


def test_the_lower_and_the_upper_bound_of_a_claim_are_one_range(tmp_path: Path) -> None:
    text = GROWING.replace("mine.bias", "mine.bias/{side}").replace('control="-1"', 'high="-1/2", truth="-2"')
    figures = joined(figure for record in figures_in(text, tmp_path) for figure in record.figures)
    (limits, _) = figures
    (panel,) = limits.panels
    (bars,) = panel.regions
    assert (bars.low, bars.high) == ((-2.0, -2.0), (-0.5, -0.5))
    assert bars.label == "claimed: $\\geq -2$, $\\leq -1/2$"
    assert [series.style for series in panel.series] == ["errorbars", "lower", "upper"]
    assert entries(limits) == ["measured", "control", bars.label]


# The content of figures: appearance of series, bands, regions and heat maps, and figures shared by readings.


def test_a_family_of_series_gets_colours_that_differ_in_grey() -> None:
    looks = series_looks(terms_figure())
    family = [looks[f"$d = {d}$"].color for d in range(2, 9)]
    lightness = [0.299 * r + 0.587 * g + 0.114 * b for r, g, b, _ in family]
    steps = [b - a for a, b in pairwise(lightness)]
    # Seven shades between dark and light: a step of at least half the even one.
    assert min(steps) > (lightness[-1] - lightness[0]) / 6 / 2
    assert lightness[-1] - lightness[0] > 0.4


def test_labels_have_the_same_look_in_all_panels_and_distinct_ones_differ() -> None:
    looks = series_looks(terms_figure())
    assert len({(str(k.color), k.marker, str(k.dashes)) for k in looks.values()}) == len(looks)


@pytest.mark.parametrize("low", [None, 0.1, -3.0])
@pytest.mark.parametrize("high", [None, 0.9, 40.0])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_band_is_drawn_whatever_bounds_it(low: float | None, high: float | None, scale: str) -> None:
    plain = slopes_figure(None, None)
    panel = replace(plain.panels[0], yscale=scale, bands=(Band(label="b", low=low, high=high),))
    bare = replace(panel, bands=())
    assert draw(replace(plain, panels=(panel,))) != draw(replace(plain, panels=(bare,)))


def test_a_region_between_two_curves_is_drawn_and_widens_nothing() -> None:
    plain = slopes_figure(None, None)
    (x, y) = (plain.panels[0].series[0].x, plain.panels[0].series[0].y)
    region = Region(label="r", x=x, low=tuple(v / 2 for v in y), high=tuple(9e9 * v for v in y))
    panel = replace(plain.panels[0], regions=(region,), bands=())
    drawn = draw(replace(plain, panels=(panel,)))
    assert drawn != draw(replace(plain, panels=(replace(panel, regions=()),)))
    other = replace(panel, regions=(replace(region, high=tuple(2e9 * v for v in y)),))
    # both extend far beyond the axes, whose ticks depend on the series alone
    assert b"10^{9}" not in drawn
    assert re.findall(rb"<text.*?</text>", drawn) == re.findall(
        rb"<text.*?</text>", draw(replace(plain, panels=(other,)))
    )


def test_points_that_have_no_place_are_counted_in_the_caption() -> None:
    series = Series(label="s", x=(1.0, 2.0, 0.0), y=(1.0, -1.0, 1.0))
    drawing = Drawings().add(replace(figure_of(series), caption="c.", alt=""))
    assert "2 points" in "".join(run.text for run in drawing.caption)
    assert drawing.alt


@pytest.mark.parametrize("label", [r"$\Omega$", r"$\langle x \rangle$", "σ²", "ⅷ"])
def test_a_letter_that_the_page_would_not_show_is_drawn_as_an_outline(label: str) -> None:
    assert b"<text" not in draw(figure_of(title=label))
    assert b"<text" in draw(figure_of(title=r"$\Lambda^{1/d}$"))


def sheet(*values: float) -> Figure:
    rows = tuple(values[k : k + 2] for k in range(0, len(values), 2))
    return Figure(caption="c", alt="a", maps=(HeatMap(title="$P$", values=rows, rows=("a", "b"), columns=("c", "d")),))


def test_a_heat_map_is_reproducible_and_shows_every_value() -> None:
    flat, other = draw(sheet(0.0, 1.0, 2.0, 3.0)), draw(sheet(0.0, 1.0, 2.0, 2.9))
    assert draw(sheet(0.0, 1.0, 2.0, 3.0)) == flat != other


def test_a_heat_map_with_both_signs_has_white_at_nothing() -> None:
    signed = draw(sheet(-1.0, 0.0, 0.5, 2.0)).decode()
    assert "#f7f6f6" in signed or "#f6f7f7" in signed, "the middle of the scale"
    assert draw(sheet(-1.0, 0.0, 0.5, 2.0)) != draw(sheet(1.0, 0.0, 0.5, 2.0))


def test_a_value_that_is_not_finite_leaves_its_cell_blank() -> None:
    assert b"#d9d9d9" in draw(sheet(1.0, math.nan, 0.5, math.inf))


def test_a_figure_that_two_readings_share_is_drawn_once() -> None:
    drawings = Drawings()
    first, again = (drawings.add(slopes_figure(None, None)) for _ in range(2))
    other = drawings.add(slopes_figure(float, None))
    assert first == again
    assert other.file != first.file
    assert len(drawings.files) == 2


def test_figures_of_one_measurement_become_one_unless_a_label_would_lie() -> None:
    def figure(label: str, y: float) -> Figure:
        measured = Series(label="measured", x=(1.0,), y=(1.0,))
        claimed = Series(label=label, x=(1.0,), y=(y,))
        return figure_of(measured, claimed)

    (both,) = joined((figure("lower", 1.0), figure("upper", 2.0), figure("lower", 1.0)))
    assert [series.label for series in both.panels[0].series] == ["measured", "lower", "upper"]
    assert len(joined((figure("claimed", 1.0), figure("claimed", 2.0)))) == 2
    other = replace(figure("lower", 1.0), caption="of something else")
    assert len(joined((figure("upper", 1.0), other))) == 2
