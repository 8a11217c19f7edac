"""Records that show themselves: short, escaped, and as numbers that are those of the record."""

from __future__ import annotations

import html
import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import lipverify
from lipverify import Problem, growth, leading, loss_terms, optimal_matrix, optimal_window
from lipverify.claims.ledger import read_ledger
from lipverify.errors import InvalidInput
from lipverify.foundation.showing import table
from lipverify.laws import Affine, ReLU
from tests import ROOT

PROBLEM = Problem(d=5, n=100, law=Affine(L=1.0))
WINDOWS = np.geomspace(0.1, 100, 50)


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
        "verdict": read_ledger(ROOT / "reports" / "example" / "ledger.json").claims[1],
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
    image = records["MatrixOptimum"].plot(Figure().subplots()).get_images()[0]
    assert image.get_array().tolist() == records["MatrixOptimum"].M.tolist()
    assert len(ReLU().plot(Figure().subplots()).get_lines()) == 2


@pytest.mark.parametrize(
    "package", ["", ".loss", ".optimum", ".problem", ".claims", ".linear_transformer", ".loss.asymptotic", ".export"]
)
def test_dir_shows_the_public_names(package: str) -> None:
    module = import_module(lipverify.__name__ + package)
    assert set(module.__all__) <= set(dir(module))
    assert all(getattr(module, name) is not None for name in module.__all__)
