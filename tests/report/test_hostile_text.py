"""A ledger with hostile text, or with content that cannot be drawn or set, still gives a report and runs nothing."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lipverify.claims.ledger import Allowed, Band, Figure, Ledger, Panel, Provenance, Record, Series, Source

# internal: the test follows one character through the text, and makes a formula that cannot be set
from lipverify.report.text import Run, printable
from lipverify.report.typeset import typeset  # internal: a model with a broken formula, which no ledger gives
from tests.ledgers import cell, ledger, record
from tests.report.pages import figure_of, model_of, pages, pdf, pymupdf, squeezed, text_of

HOSTILE = (
    '#import "x"',
    '#read("/etc/passwd")',
    '$#read("/etc/passwd")$',
    "#panic()",
    "$",
    "$$",
    "\\",
    "\\$ \\( \\u{41}",
    "*_@<>`~",
    "] } ) [ { (",
    "// gone /* gone */",
    "= heading",
    "a\u202eb \u0000 \ud800",
    "中 😀 é σ²",
    "x" * 300,
    "ab-/" * 100,
)


def hostile_record(text: str) -> Record:
    panel = Panel(
        title=text,
        xlabel=text,
        ylabel=text,
        series=(Series(label=text, x=(1.0, 2.0), y=(-1.0, math.nan)),),
        bands=(Band(label=text, low=-1.0),),
    )
    first = cell(2, text, Allowed(), text, quantity=text, method=text, note=text)
    check = replace(record().cross_checks[0], where={text: text}, quantity=text, agrees=False)
    return record(
        text,
        title=text,
        statement=text,
        source=Source(paper=text, place=text, printed=text),
        assumptions=(text, text),
        measured=text,
        claimed=text,
        finding=text,
        reproduce=text,
        problem=text,
        cells=(first, replace(first, where={text: text}, claimed=text + "x", measured=None)),
        cross_checks=(replace(check, methods=(text, text)),),
        figures=(Figure(caption=text, alt=text, panels=(panel,)),),
    )


@pytest.fixture(scope="module")
def hostile(folder: Path) -> bytes:
    text = HOSTILE[-1]
    made = Provenance(versions={text: text, "lipverify": HOSTILE[1]}, machine=text, started=text, seconds=math.nan)
    claims = tuple(hostile_record(text) for text in HOSTILE)
    return pdf(Ledger(profile=text, seed=0, backend=text, provenance=made, claims=claims), folder, "h.pdf")


def test_hostile_text_is_printed_as_it_is(hostile: bytes) -> None:
    text = text_of(hostile)
    assert text.count(squeezed('#read("/etc/passwd")')) > 20
    assert squeezed('#import "x"') in text
    assert "//gone/*gone*/" in text
    assert "=heading" in text
    assert "root:" not in text
    assert "U+202E" in text
    assert "U+0000" in text


@pytest.mark.parametrize("name", ["printed", "hostile"])
def test_nothing_leaves_the_page(name: str, request: pytest.FixtureRequest) -> None:
    content = pages(request.getfixturevalue(name))
    seen = 0
    for page in content:
        # Punctuation may hang into the margin by up to half a letter.
        frame = pymupdf.Rect(43, 31, page.rect.x1 - 43, page.rect.y1 - 23)  # margins of 1.6, 1.2 and 1.3 cm
        for x0, y0, x1, y1, word, *_ in page.get_text("words"):
            seen += 1
            assert frame.x0 <= x0, (page.number, word)
            assert x1 <= frame.x1, (page.number, word)
            assert frame.y0 <= y0, (page.number, word)
            assert y1 <= frame.y1, (page.number, word)
    assert seen > 500


@given(st.text(max_size=20))
def test_no_invisible_character_reaches_the_page(text: str) -> None:
    shown = printable(text)
    hidden = [c for c in shown if not c.isprintable() and c != "\n"]
    assert hidden == []


def test_a_figure_that_cannot_be_drawn_leaves_its_caption_and_the_reason(folder: Path) -> None:
    broken = Series(label="s", x=(1.0, 2.0), y=(1.0,))
    claim = record(figures=(replace(figure_of(broken), caption="kept caption"),))
    text = text_of(pdf(ledger((claim,)), folder))
    assert squeezed("This figure could not be drawn") in text
    assert squeezed("kept caption") in text


def test_a_formula_that_the_typesetter_refuses_is_shown_as_its_source() -> None:
    """Each of several, and the formulas between them are typeset."""
    report = model_of(record(figures=()))
    formulas = (
        Run("math", "the source", "nonsense(x)"),
        Run("math", "a square", "x^2"),
        Run("math", "refused", "of(y)"),
    )
    text = text_of(typeset(replace(report, front=replace(report.front, summary=(formulas,))), {}))
    assert squeezed("the source") in text
    assert squeezed("refused") in text
    assert squeezed("a square") not in text


@pytest.mark.parametrize("changes", [{"title": r"$\,$"}, {"title": "\n"}, {"title": "", "id": ""}])
def test_a_heading_that_shows_nothing_does_not_lose_the_report(changes: dict[str, str], folder: Path) -> None:
    claim = replace(record(figures=(), finding="kept finding"), **changes)
    assert squeezed("kept finding") in text_of(pdf(ledger((claim,)), folder))
