"""Figures: formulas are read once, and lie where matplotlib would have put them."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser

from lipverify.claims.figure import Figure, Panel, Series
from lipverify.report.figures import _drawn, _read_once, _remembered, draw

FORMULAS = (r"$w^{1/d}$", r"bias $\frac{\sigma^2}{n}$ of $\sqrt{L}$", r"$\mathdefault{10^{-28}}$")


@pytest.mark.parametrize("size", [7.0, 8.5, 40.0])
@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_lies_where_it_would_have_been_read(text: str, size: float) -> None:
    """To what fonts and matplotlib round: a 32nd of a point at each glyph, and a little of the size at a root."""
    font = FontProperties(family="cmr10", size=size, math_fontfamily="cm")
    plain = MathTextParser("path").parse(text, 72, font)
    with _remembered():
        scaled = MathTextParser("path").parse(text, 72, font)
    assert [glyph[2:-2] for glyph in scaled.glyphs] == [glyph[2:-2] for glyph in plain.glyphs]
    assert [glyph[1] for glyph in scaled.glyphs] == pytest.approx([glyph[1] for glyph in plain.glyphs], abs=1 / 64)
    assert scaled.width == pytest.approx(plain.width, abs=1 + len(plain.glyphs) / 64)
    for ours, theirs in zip(_laid(scaled), _laid(plain), strict=True):
        assert ours == pytest.approx(theirs, abs=size / 50 + len(plain.glyphs) / 32)


def _laid(read: Any) -> list[tuple[float, ...]]:
    """Where glyphs and rectangles lie, from the first glyph: the ground of a formula is rounded to a point."""
    (*_, x, y) = read.glyphs[0]
    return [(g[-2] - x, g[-1] - y) for g in read.glyphs] + [(r[0] - x, r[1] - y, r[2], r[3]) for r in read.rects]


def test_every_formula_is_read_once() -> None:
    """Whatever it is for: a check, the room that it takes, and the drawing, in this size and in that."""
    label = r"$\frac{\alpha}{\beta} \leq \gamma^{17}$"
    curve = Series(label=label, x=(1.0, 2.0), y=(1.0, 2.0))
    other = Series(label="other", x=(1.0, 2.0), y=(2.0, 1.0))
    figure = Figure(caption="", alt="", panels=(Panel(title=label, xlabel=label, ylabel=label, series=(curve, other)),))
    _read_once.cache_clear()
    draw(figure)
    first = _read_once.cache_info()
    assert first.hits > 4
    draw(figure)
    assert _read_once.cache_info().misses == first.misses


def test_a_figure_is_measured_as_it_is_drawn() -> None:
    """In points, by outlines: not in the pixels of a screen."""
    panel = Panel(title="t", xlabel="x", ylabel="y", series=(Series(label="a", x=(1.0, 2.0), y=(1.0, 2.0)),))
    with _drawn(Figure(caption="", alt="", panels=(panel,)), 3.0) as canvas:
        assert (canvas.dpi, canvas.canvas.get_default_filetype()) == (72, "svg")
