"""The content of figures: appearance of series, bands, regions and heat maps, and figures shared by readings."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from msgspec.structs import replace

from lipverify.claims.ledger import Band, Figure, HeatMap, Region, Series
from lipverify.report.drawings import Drawings, joined  # internal: figures are drawn and merged without a report
from lipverify.report.figures import draw  # internal: one figure as SVG, to compare bytes
from lipverify.report.looks import series_looks  # internal: colours and markers are chosen before anything is drawn
from tests.ledgers import slopes_figure, terms_figure
from tests.report.pages import figure_of


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
