"""The PDF file meets the requirements of PDF/A-2a and PDF/UA-1 that a test can check, and is small.

No validator installs with pip, so these tests check the rules one by one. The typesetter claims the standards, and
compression must not break them.
"""

from __future__ import annotations

import io
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec
import pikepdf
import pytest
from msgspec.structs import replace

from lipverify.claims.ledger import Figure, HeatMap, Ledger, Record, read_ledger, write_ledger
from lipverify.report.web.page import web_page  # internal: the page without a file
from tests import ROOT
from tests.ledgers import control, ledger, record
from tests.report.pages import figure_of, pdf, pymupdf, squeezed, text_of

STREAM, NAME = pikepdf.Stream, pikepdf.Name
FORBIDDEN = ("/JavaScript", "/JS", "/Launch", "/EmbeddedFile", "/Movie", "/Sound", "/XFA", "/LZWDecode", "/Encrypt")


@pytest.fixture(scope="module")
def document(printed: bytes) -> Iterator[pikepdf.Pdf]:
    with pikepdf.open(io.BytesIO(printed)) as opened:
        yield opened


def elements(node: pikepdf.Object) -> Iterator[pikepdf.Dictionary]:
    if not isinstance(node, pikepdf.Dictionary):
        return
    if "/S" in node:
        yield node
    children = node.get("/K", pikepdf.Array())
    for child in children if isinstance(children, pikepdf.Array) else [children]:
        if isinstance(child, pikepdf.Dictionary) and child.get("/Type") not in (NAME.MCR, NAME.OBJR):
            yield from elements(child)


def kind(element: pikepdf.Dictionary) -> str:
    return str(element.S).removeprefix("/")


def test_it_claims_both_standards_and_has_a_language_a_title_and_an_output_intent(document: pikepdf.Pdf) -> None:
    with document.open_metadata() as metadata:
        assert (metadata["pdfaid:part"], metadata["pdfaid:conformance"]) == ("2", "A")
        assert metadata["{http://www.aiim.org/pdfua/ns/id/}part"] == "1"
        assert metadata["dc:title"]
    root = document.Root
    assert str(root.Lang) == "en-GB"
    assert bool(root.MarkInfo.Marked)
    assert bool(root.ViewerPreferences.DisplayDocTitle)
    assert root.OutputIntents[0].S == NAME.GTS_PDFA1
    assert len(root.OutputIntents[0].DestOutputProfile.read_bytes()) > 100


def test_the_file_is_tagged_archivable_and_described(book: Ledger, printed: bytes) -> None:
    document = pymupdf.open(stream=printed, filetype="pdf")
    catalog = document.xref_object(document.pdf_catalog())
    assert "/MarkInfo" in catalog
    assert "/Lang (en-GB)" in catalog
    assert "pdfaid:part" in document.get_xml_metadata()
    assert document.metadata["title"].startswith("Numerical verification")
    assert document.metadata["author"] == "lipverify 0.1.0"
    alt = next(figure.alt for claim in book.claims for figure in claim.figures)
    objects = "".join(document.xref_object(k) for k in range(1, document.xref_length()))
    assert alt in objects


def test_every_picture_and_every_formula_has_words_in_its_place(document: pikepdf.Pdf) -> None:
    shown = [element for element in elements(document.Root.StructTreeRoot) if kind(element) in ("Figure", "Formula")]
    assert {kind(element) for element in shown} == {"Figure", "Formula"}
    assert all(str(element.get("/Alt", "")).strip() for element in shown)


def test_headings_do_not_skip_a_level_and_tables_have_heads(document: pikepdf.Pdf) -> None:
    order = [kind(element) for element in elements(document.Root.StructTreeRoot)]
    levels = [int(name[1]) for name in order if len(name) == 2 and name[0] == "H" and name[1].isdigit()]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert order.count("Table") == order.count("THead") > 0
    assert order.count("TH") >= order.count("Table")


def test_every_font_is_in_the_file(document: pikepdf.Pdf) -> None:
    fonts = [o for o in document.objects if isinstance(o, pikepdf.Dictionary) and o.get("/Type") == NAME.FontDescriptor]
    assert fonts
    assert all(any(f"/FontFile{suffix}" in font for suffix in ("", "2", "3")) for font in fonts)


def test_nothing_in_the_page_runs_or_loads_from_outside(document: pikepdf.Pdf) -> None:
    assert not document.is_encrypted
    assert "/AA" not in document.Root
    assert "/OpenAction" not in document.Root
    for item in document.objects:
        if isinstance(item, pikepdf.Dictionary | STREAM):
            names = set(map(str, item)) | {str(item.get(key, "")) for key in ("/S", "/Type", "/Filter")}
            assert not names.intersection(FORBIDDEN)


def test_pages_are_in_the_order_of_the_tags(document: pikepdf.Pdf) -> None:
    assert all(page.get("/Tabs") == NAME.S or "/Annots" not in page for page in document.pages)
    assert all("/StructParents" in page for page in document.pages)


# The same ledger gives the same bytes, and a different ledger different bytes.


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
