"""The display of records: short, escaped, and with the numbers of the record."""

from __future__ import annotations

import html
import math
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from lipverify import Problem, growth, leading, loss_terms, optimal_matrix, optimal_window, sensitivity
from lipverify.claims.ledger import Allowed, read_ledger
from lipverify.errors import InvalidInput
from lipverify.foundation.showing import table  # internal: a table with hostile cells, which no record has
from lipverify.foundation.style import COLOURS  # internal: the colours that pictures share
from lipverify.laws import Affine, ReLU
from lipverify.loss.asymptotic import sphere  # internal: the symbols of a formula, in which numbers are substituted
from tests import ROOT

PROBLEM = Problem(d=5, n=100, law=Affine(L=1.0))
WINDOWS = np.geomspace(0.1, 100, 50)
LEDGER = read_ledger(ROOT / "reports" / "example" / "ledger.json")
EXAMPLE = LEDGER.claims


@pytest.fixture(scope="module")
def records() -> dict[str, Any]:
    return {
        "LossTerms": loss_terms(PROBLEM, WINDOWS),
        "one value": loss_terms(PROBLEM, 5.0),
        "Optimum": optimal_window(PROBLEM),
        "Growth": growth(lambda s: 3 * s**0.4 * (1 + 1 / s), start=1e4, stop=1e20),
        "Leading": leading(ReLU()),
        "MatrixOptimum": optimal_matrix(Problem(d=2, n=4, law=Affine(L=3.0)), contexts=640, starts=2),
        "Problem": PROBLEM,
        "Sensitivity": sensitivity(optimal_window(PROBLEM)),
        "verdict": EXAMPLE[1],
        "Ledger": LEDGER,
    }


def test_a_record_is_short_and_shows_itself(records: dict[str, Any]) -> None:
    for name, record in records.items():
        assert len(repr(record)) < 400, name
        assert "np." not in repr(record), name
        assert "array(" not in repr(record), name
        shown = [method for method in ("_repr_html_", "_repr_latex_") if hasattr(record, method)]
        assert shown, name
        for method in shown:
            text = getattr(record, method)()
            assert text.startswith("<table>" if method == "_repr_html_" else "$"), name
            assert "np.float64" not in text


def test_tables_are_escaped() -> None:
    hostile = "<script>alert(1)</script>"
    text = table(hostile, {hostile: [hostile]})
    assert "<script>" not in text
    assert text.count(html.escape(hostile)) == 3


def test_the_data_frame_holds_the_numbers_of_the_record(records: dict[str, Any]) -> None:
    pytest.importorskip("pandas")
    terms = records["LossTerms"]
    frame = terms.to_dataframe()
    assert list(frame["w"]) == WINDOWS.tolist()
    assert list(frame["bias"]) == terms.bias.tolist()
    assert len(records["one value"].to_dataframe()) == len(records["Optimum"].to_dataframe()) == 1
    with pytest.raises(InvalidInput, match="more than one dimension"):
        records["MatrixOptimum"].to_dataframe()


def test_the_dataset_is_along_w(records: dict[str, Any]) -> None:
    pytest.importorskip("xarray")
    terms = records["LossTerms"]
    data = terms.to_xarray()
    assert dict(data.sizes) == {"w": 50}
    assert float(data["noise"].sel(w=WINDOWS[7])) == terms.noise[7]
    assert records["MatrixOptimum"].to_xarray()["M"].shape == (2, 2)


@pytest.mark.parametrize(("library", "method"), [("pandas", "to_dataframe"), ("xarray", "to_xarray")])
def test_without_the_extra_the_refusal_names_it(
    monkeypatch: pytest.MonkeyPatch, library: str, method: str, records: dict[str, Any]
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InvalidInput, match=rf"{library}, which is not installed: pip install 'lipverify\[data\]'"):
        getattr(records["LossTerms"], method)()


def test_pictures_show_the_numbers(records: dict[str, Any]) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.use("Agg")
    ax = records["LossTerms"].plot(Figure().subplots())
    assert {line.get_label() for line in ax.get_lines()} == {"loss", "bias", "noise"}
    assert ax.get_lines()[1].get_ydata().tolist() == records["LossTerms"].bias.tolist()
    growing = records["Growth"].plot(Figure().subplots())
    assert tuple(growing.get_lines()[0].get_ydata()) == records["Growth"].local_slopes
    marked = records["Optimum"].plot(Figure().subplots())
    assert [records["Optimum"].w] in [list(line.get_xdata()) for line in marked.get_lines()]
    derived = records["Leading"].plot(Figure().subplots()).get_lines()
    assert [line.get_label() for line in derived] == [f"d = {d}: power {2 / (d + 2):.4g}" for d in (2, 3, 5)]
    for line, d in zip(derived, (2, 3, 5), strict=True):
        (x0, x1), (y0, y1) = line.get_data()
        assert math.log(y1 / y0) / math.log(x1 / x0) == pytest.approx(2 / (d + 2))
        at_one = {sphere.n: x0, sphere.L: 1, sphere.sigma: 1}
        assert y0 == pytest.approx(float(leading(ReLU(), d).window.subs(at_one)), rel=1e-9)


@pytest.mark.parametrize("place", range(4))
def test_a_verdict_is_drawn_cell_by_cell_over_the_allowed_range(place: int) -> None:
    from matplotlib.figure import Figure

    record = EXAMPLE[place]
    ax = record.plot(Figure().subplots())
    middles = [float(container[0].get_xdata()[0]) for container in ax.containers]
    assert middles == [cell.measured for cell in record.cells]
    for cell, shaded in zip(record.cells, (c for c in ax.collections if c.get_alpha() == 0.45), strict=True):
        low, high = shaded.get_paths()[0].vertices[:, 0].min(), shaded.get_paths()[0].vertices[:, 0].max()
        assert (low == cell.allowed.low) == (cell.allowed.low is not None)
        assert (high == cell.allowed.high) == (cell.allowed.high is not None)
        assert ax.get_xlim()[0] <= low <= high <= ax.get_xlim()[1]
    edges = [float(line.get_xdata()[0]) for line in ax.get_lines() if line.get_color() == COLOURS[1]]
    assert edges == [end for cell in record.cells for _, end in cell.control_edges]


def test_the_value_of_an_equality_is_drawn_as_a_line() -> None:
    from matplotlib.figure import Figure

    cells = tuple(replace(cell, allowed=Allowed(low=0.5, high=0.5)) for cell in EXAMPLE[1].cells)
    ax = replace(EXAMPLE[1], cells=cells).plot(Figure().subplots())
    lines = [path.vertices[:, 0].tolist() for part in ax.collections for path in part.get_paths()]
    assert lines.count([0.5, 0.5]) >= len(cells)


@pytest.mark.parametrize("count", [1, 7, 80])
def test_names_of_cells_are_level_and_do_not_overlap(count: int) -> None:
    from matplotlib.figure import Figure

    cells = tuple(replace(EXAMPLE[1].cells[0], where={"d": d, "law": "affine"}) for d in range(2, 2 + count))
    figure = Figure(layout="constrained")
    ax = replace(EXAMPLE[1], cells=cells).plot(figure.subplots())
    figure.draw_without_rendering()
    names = [label for label in ax.get_yticklabels() if label.get_text()]
    assert bool(names) is (count > 1)
    assert {label.get_rotation() for label in [*names, *ax.get_xticklabels()]} == {0.0}
    heights = sorted((label.get_window_extent().y0, label.get_window_extent().y1) for label in names)
    assert all(below[1] <= above[0] for below, above in pairwise(heights))


def test_axes_without_a_point_say_why() -> None:
    from matplotlib.figure import Figure

    cells = EXAMPLE[1].cells
    lost = replace(EXAMPLE[1], cells=(replace(cells[0], measured=None), replace(cells[1], error=math.inf), *cells[2:]))
    assert len(lost.plot(Figure().subplots()).containers) == len(cells) - 2
    (text,) = replace(EXAMPLE[1], cells=()).plot(Figure().subplots()).texts
    assert text.get_text().replace("\n", " ") == "Nothing to draw: no cell was measured"
    endless = tuple(replace(cell, error=math.inf, note="no tail is known") for cell in cells)
    (text,) = replace(EXAMPLE[1], cells=endless).plot(Figure().subplots()).texts
    assert text.get_text().replace("\n", " ") == "Nothing to draw: no tail is known"


def test_pictures_leave_the_settings_of_the_caller_as_they_are(records: dict[str, Any]) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    before = dict(matplotlib.rcParams)
    ax = records["LossTerms"].plot(Figure().subplots())
    assert [line.get_color() for line in ax.get_lines()] == list(COLOURS[:3])
    assert len({str(line._dash_pattern) for line in ax.get_lines()}) == 3
    assert dict(matplotlib.rcParams) == before


def test_a_constant_that_is_not_known_is_not_shown() -> None:
    wide = replace(growth(lambda s: 3 * s**0.4 * (1 + 1 / s), start=1e4, stop=1e20), constant_error=math.inf)
    assert "constant=not known" in repr(wide)
    assert wide._repr_latex_() == r"$Q(s) = s^{0.4}\, s^{o(1)}$"
