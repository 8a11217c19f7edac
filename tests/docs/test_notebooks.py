"""The notebooks of the documents: each runs from its first cell to its last and gives its recorded output."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests import ROOT

FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_three_and_none_keeps_its_outputs() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["a-first-look", "a-linear-transformer", "your-own-theorem"]
    for path in NOTEBOOKS:
        text = path.read_text(encoding="utf-8")
        assert '"output_type"' not in text, "what a notebook shows is made when the documents are"


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # the kernel's own libraries give warnings
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_every_record_shows_itself(path: Path, tmp_path: Path) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    book: Any = nbformat.read(path, as_version=4)
    with mock.patch.dict(os.environ, {"PYTHONPATH": str(ROOT)}):
        client = nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
        client.execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert "text/plain" in kinds
    assert "image/png" in kinds or path.stem == "your-own-theorem"
    assert not [output for output in outputs if "np.float64" in str(output)]
    if path.stem == "a-first-look":
        assert {"text/html", "text/latex", "image/png"} <= kinds
