"""Figures: numbers on axes, what of a claim is shown, the looks of series, and figures that readings share."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
from lipverify.report.drawing import axis, draw  # internal: the numbers of one axis; one drawing alone

# internal: points beyond the axes are selected before a figure is drawn
from lipverify.report.drawings import (
    Drawings,
    in_sight,
    joined,  # internal: before a figure is drawn
)

# internal: colours, markers and labels are chosen before anything is drawn
from lipverify.report.looks import entries, series_looks
from tests import ROOT
from tests.ledgers import record, slopes_figure, terms_figure
from tests.report.pages import figure_of


def svg_of(figure: Figure) -> str:
    """All panels of a figure, for paper."""
    return "".join(plot.svg for plot in draw(figure, paper=True).plots)


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
    looks = series_looks(figure_of(*points, title=""))
    assert looks["a"].size > looks["b"].size
    assert svg_of(figure_of(*points)).count('class="marks points"') == 2


@pytest.mark.parametrize("wide", [60.0, 120.0, 300.0])
@pytest.mark.parametrize("ends", [(2.0, 20.0), (0.5, 3.0), (1.0, 90.0), (1e-7, 1e12), (3e-6, 9e-6)])
@pytest.mark.parametrize("log", [False, True])
def test_numbers_on_an_axis_do_not_overlap(ends: tuple[float, float], log: bool, wide: float) -> None:
    """A letter is at most two thirds as wide as it is high, and a raised one smaller."""
    letter = 11 * 2 / 3
    along = axis(ends, log=log, start=0.0, end=wide).ticks
    texts = [ElementTree.fromstring(f"<text>{text}</text>") for _, text in along]
    widths = [letter * (len(text.text or "") + 0.75 * len(text.findtext("tspan") or "")) for text in texts]
    for (left, before), (right, after) in pairwise(zip([place for place, _ in along], widths, strict=True)):
        assert left + before / 2 <= right - after / 2
    upwards = [place for place, _ in axis(ends, log=log, start=wide, end=0.0).ticks]
    assert len(upwards) >= 2
    assert all(lower - upper >= 11 for lower, upper in pairwise(sorted(upwards, reverse=True)))


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
        assert draw(in_sight(figure)[0], paper=True).plots


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


def test_the_legend_of_a_theorem_has_at_most_five_entries() -> None:
    for name, figure in figures_of_theorems().items():
        assert 2 <= len(draw(figure, paper=True).legend) <= 5, name


def test_no_two_pictures_of_a_report_are_the_same() -> None:
    """On paper and on the page: each drawing of the example differs from the others."""
    ledger = read_ledger(ROOT / "reports" / "example" / "ledger.json")
    for paper in (True, False):
        report = build(ledger, Drawings(paper=paper).add, evidence=True)
        pictures = [theorem.picture for section in report.sections for theorem in section.theorems]
        drawn = [*report.front.pictures, *pictures, *(drawing for topic in report.topics for drawing in topic.drawings)]
        by_name = {drawing.anchor: drawing.plots for drawing in drawn if drawing is not None}
        assert len(by_name) > 3
        assert len(set(by_name.values())) == len(by_name)


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
    assert svg_of(replace(plain, panels=(panel,))) != svg_of(replace(plain, panels=(bare,)))


def test_a_region_between_two_curves_is_drawn_and_widens_nothing() -> None:
    plain = slopes_figure(None, None)
    (x, y) = (plain.panels[0].series[0].x, plain.panels[0].series[0].y)
    region = Region(label="r", x=x, low=tuple(v / 2 for v in y), high=tuple(9e9 * v for v in y))
    panel = replace(plain.panels[0], regions=(region,), bands=())
    drawn = svg_of(replace(plain, panels=(panel,)))
    assert drawn != svg_of(replace(plain, panels=(replace(panel, regions=()),)))
    other = replace(panel, regions=(replace(region, high=tuple(2e9 * v for v in y)),))
    # both extend far beyond the axes, whose ticks depend on the series alone
    texts = [re.findall("<text.*?</text>", svg) for svg in (drawn, svg_of(replace(plain, panels=(other,))))]
    assert texts[0] == texts[1]


def test_points_that_have_no_place_are_counted_in_the_caption() -> None:
    series = Series(label="s", x=(1.0, 2.0, 0.0), y=(1.0, -1.0, 1.0))
    drawing = Drawings().add(replace(figure_of(series), caption="c.", alt=""))
    assert "2 points" in "".join(run.text for run in drawing.caption)
    assert drawing.alt


def sheet(*values: float) -> Figure:
    rows = tuple(values[k : k + 2] for k in range(0, len(values), 2))
    return Figure(caption="c", alt="a", maps=(HeatMap(title="$P$", values=rows, rows=("a", "b"), columns=("c", "d")),))


def test_a_heat_map_is_reproducible_and_shows_every_value() -> None:
    flat, other = svg_of(sheet(0.0, 1.0, 2.0, 3.0)), svg_of(sheet(0.0, 1.0, 2.0, 2.9))
    assert svg_of(sheet(0.0, 1.0, 2.0, 3.0)) == flat != other


def test_a_heat_map_with_both_signs_has_white_at_nothing() -> None:
    signed = svg_of(sheet(-1.0, 0.0, 0.5, 2.0))
    assert "#f7f6f6" in signed or "#f6f7f7" in signed, "the middle of the scale"
    assert svg_of(sheet(-1.0, 0.0, 0.5, 2.0)) != svg_of(sheet(1.0, 0.0, 0.5, 2.0))


def test_a_value_that_is_not_finite_leaves_its_cell_blank() -> None:
    assert "#d9d9d9" in svg_of(sheet(1.0, math.nan, 0.5, math.inf))


def test_a_figure_that_two_readings_share_is_drawn_once() -> None:
    drawings = Drawings()
    first, again = (drawings.add(slopes_figure(None, None)) for _ in range(2))
    other = drawings.add(slopes_figure(float, None))
    assert first == again
    assert (first.anchor, other.anchor) == ("figure-1", "figure-2")


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
