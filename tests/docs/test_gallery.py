"""The gallery: a function makes each picture, its data are finite, and the page shows it with its code and place."""

from __future__ import annotations

import importlib.util
import re
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from lipverify.foundation.style import settings  # internal: the style that all pictures share
from tests import ROOT

FOLDER = ROOT / "docs" / "gallery"
PAGE = (ROOT / "docs" / "gallery.md").read_text()
QUICK = {"diagonal_weights", "full_weights", "prediction"}
"""Pictures that take about a second. The others take up to twenty seconds."""


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gallery_make", FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass looks up its module by name
    spec.loader.exec_module(module)
    return module


make = _loaded()


def drawn(ax: Any) -> int:
    """The number of finite values drawn as a line or an image."""
    lines = [np.asarray(line.get_ydata(), float) for line in ax.lines]
    images = [np.asarray(image.get_array(), float) for image in ax.images]
    return sum(int(np.isfinite(values).sum()) for values in [*lines, *images])


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in make.PICTURES]
)
def test_a_picture_is_made_and_every_panel_shows_data(name: str) -> None:
    figure = make.PICTURES[name]()
    axes = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    assert axes
    assert all(drawn(ax) >= 2 for ax in axes), [ax.get_title() for ax in axes if drawn(ax) < 2]
    assert any(ax.get_xlabel() for ax in axes) or figure._supxlabel or axes[0].images
    assert all(len(legend.get_texts()) <= 5 for legend in figure.legends)
    assert {label.get_rotation() for ax in axes for label in ax.get_xticklabels()} <= {0.0}


def test_pictures_have_the_style_of_the_reports() -> None:
    assert make.STYLE.items() >= {**settings(), "lines.markersize": make.STYLE["lines.markersize"]}.items()


def test_a_panel_without_finite_values_is_seen() -> None:
    axes = make.panels(1)
    axes[0, 0].plot([0, 1, 2], [np.nan, np.nan, 1.0])
    assert drawn(axes[0, 0]) == 1


@pytest.mark.parametrize("name", make.PICTURES)
def test_a_picture_is_shipped_and_small(name: str) -> None:
    file = FOLDER / f"{name}.svg"
    assert 5_000 < file.stat().st_size < 250_000
    assert "<svg" in file.read_text()[:500]


def test_the_page_has_each_picture_once_with_its_place_and_code_and_no_other() -> None:
    sections = re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]
    shown = []
    for section in sections:
        (picture,) = re.findall(r"\]\(gallery/(\w+)\.svg\)", section)
        assert f":pyobject: {picture}\n" in section
        assert "*In the paper*: " in section
        assert "*Here*: " in section
        shown.append(picture)
    assert sorted(shown) == sorted(make.PICTURES)
    assert {file.stem for file in FOLDER.glob("*.svg")} == set(make.PICTURES)


def test_figure_numbers_are_those_that_the_reviews_name() -> None:
    # reviews of both papers: Figures 3, 4, 5 and 10; Figures 2 and 3
    assert set(re.findall(r"Figures? (\d+)(?: and (\d+))?", PAGE)) == {("3", ""), ("5", ""), ("10", ""), ("2", "3")}


def test_another_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        make.main(["nothing"])
    assert "there is no picture nothing: choose of window" in capsys.readouterr().err


def test_the_command_writes_the_named_pictures(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    make.main(["full_weights", "--out", str(tmp_path)])
    assert [file.name for file in tmp_path.iterdir()] == ["full_weights.svg"]
    assert capsys.readouterr().out.strip() == str(tmp_path / "full_weights.svg")
