"""The PDF file meets the requirements of PDF/A-2a and PDF/UA-1 that a test can check, and is small.

No validator installs with pip, so these tests check the rules one by one. The typesetter claims the standards, and
compression must not break them.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import pairwise

import pikepdf
import pytest

from lipverify.claims.ledger import Ledger
from tests.report.pages import pymupdf

STREAM, NAME = pikepdf.Stream, pikepdf.Name
FORBIDDEN = ("/JavaScript", "/JS", "/Launch", "/EmbeddedFile", "/Movie", "/Sound", "/XFA", "/LZWDecode", "/Encrypt")


@pytest.fixture(scope="module")
def document(printed: bytes) -> Iterator[pikepdf.Pdf]:
    with pikepdf.open(io.BytesIO(printed)) as opened:
        yield opened


def elements(node: pikepdf.Object) -> Iterator[pikepdf.Dictionary]:
    """All structure elements below a node, in reading order."""
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
