"""The same ledger gives the same bytes, and a different ledger different bytes."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from lipverify.claims.ledger import Figure, HeatMap, Ledger, Record, read_ledger, write_ledger
from lipverify.report.web.page import web_page  # internal: the page without a file
from tests import ROOT
from tests.ledgers import control, ledger, record
from tests.report.pages import figure_of, pdf, squeezed, text_of

PRINT = """
import sys
from pathlib import Path
from lipverify.claims.ledger.record import read_ledger  # internal: it must not load numpy
import lipverify.report
heavy = {"matplotlib", "typst", "numpy", "sympy"} & set(sys.modules)
assert not heavy, heavy
lipverify.report.write_web_page(read_ledger(Path("web.json")), Path("elsewhere.html"))
lipverify.report.write_report(read_ledger(Path("ledger.json")), Path("elsewhere.pdf"), evidence=True)
assert "matplotlib.pyplot" not in sys.modules
"""


def test_the_same_ledger_gives_the_same_bytes_in_any_process(book: Ledger, printed: bytes, folder: Path) -> None:
    assert pdf(book, folder, "again.pdf") == printed
    first, *rest = book.claims
    sheet = Figure(caption="", alt="", maps=(HeatMap(title="$M$", values=((1.0, -0.5), (math.nan, 2.0))),))
    web = replace(book, claims=(replace(first, figures=(*first.figures, sheet)), *rest))
    write_ledger(book, folder / "ledger.json")
    write_ledger(web, folder / "web.json")
    environment = {"PYTHONHASHSEED": "12345", "SOURCE_DATE_EPOCH": "1", "TZ": "Asia/Tokyo", "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", PRINT], check=True, cwd=folder, env={**os.environ, **environment})
    assert (folder / "elsewhere.pdf").read_bytes() == printed
    assert (folder / "elsewhere.html").read_bytes() == web_page(web)


def small() -> Record:
    return record(figures=(figure_of(),))


def with_cell(claim: Record, **changes: object) -> Record:
    first, *rest = claim.cells
    return replace(claim, cells=(replace(first, **changes), *rest))


def with_point(claim: Record) -> Record:
    (figure,) = claim.figures
    (panel,) = figure.panels
    (series,) = panel.series
    series = replace(series, y=(1.0, 2.02))
    return replace(claim, figures=(replace(figure, panels=(replace(panel, series=(series,)),)),))


TAMPERED = {
    "measured": lambda claim: with_cell(claim, measured=0.4000013),
    "error": lambda claim: with_cell(claim, error=3e-6),
    "margin": lambda claim: with_cell(claim, margin=-0.11),
    "where": lambda claim: with_cell(claim, where={"d": 9, "law": "affine"}),
    "verdict": lambda claim: with_cell(claim, verdict="supported"),
    "control": lambda claim: with_cell(claim, control=control(claim.cells[0].interval, true=True, caught=False)),
    "seconds": lambda claim: replace(claim, seconds=9.0),
    "cross-check": lambda claim: replace(
        claim, cross_checks=(replace(claim.cross_checks[0], values=(0.0123457, 0.012349)),)
    ),
    "point": with_point,
}


@pytest.fixture(scope="module")
def untouched(folder: Path) -> bytes:
    return pdf(ledger((small(),)), folder)


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_ledger_changes_the_report(name: str, untouched: bytes, folder: Path) -> None:
    assert pdf(ledger((TAMPERED[name](small()),)), folder) != untouched


def test_a_ledger_from_before_headings_is_read_and_printed(book: Ledger, folder: Path) -> None:
    old = msgspec.json.decode(msgspec.json.encode(book))
    for claim in old["claims"]:
        for field in ("heading", "corrected", "tables"):
            del claim[field]
    path = folder / "old.json"
    path.write_bytes(msgspec.json.encode(old))
    again = read_ledger(path)
    assert all(claim.heading is None for claim in again.claims)
    assert squeezed("softmax.bias-lower") in text_of(pdf(again, folder, "old.pdf"))
