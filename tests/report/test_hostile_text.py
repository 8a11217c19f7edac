"""A ledger with hostile text, or with content that cannot be drawn or set, still gives a report and runs nothing."""

from __future__ import annotations

import math
import re
from itertools import starmap
from pathlib import Path

import pytest
import typst
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lipverify.claims.ledger import Ledger, Provenance, Series
from lipverify.report.text import USUAL, Run, _glyphs, printable  # internal: one character through the text
from lipverify.report.typeset import _pdf, typeset  # internal: a model, or a text, that no ledger gives
from tests.hostile import HOSTILE, TYPESET, hostile_ledger, hostile_record
from tests.ledgers import ledger, record
from tests.report.pages import figure_of, model_of, pages, pdf, pymupdf, squeezed, text_of, words_on

SECRET = "the-content-of-a-file-outside"


@pytest.fixture(scope="module")
def hostile(folder: Path) -> bytes:
    (folder / "secret").write_text(SECRET)
    return pdf(hostile_ledger(), folder, "h.pdf")


@pytest.fixture(scope="module")
def odd(folder: Path) -> bytes:
    """The report of texts for the typesetter, among them half a letter, which no JSON holds."""
    half, text = hostile_record("half", "a\u202eb \u0000 \ud800"), TYPESET["word"]
    half = replace(half, cells=(half.cells[0], replace(half.cells[1], where={text: text}, measured=None)))
    made = Provenance(versions={text: text, "lipverify": TYPESET["code"]}, machine=text, started=text, seconds=math.nan)
    claims = (*starmap(hostile_record, TYPESET.items()), half)
    return pdf(Ledger(profile=text, seed=0, backend=text, provenance=made, claims=claims), folder, "odd.pdf")


def test_hostile_text_is_printed_as_it_is_and_nothing_runs(hostile: bytes, odd: bytes) -> None:
    text = (text_of(hostile) + text_of(odd)).replace("\u00ad", "")
    assert text.count(squeezed('#read("/etc/passwd")')) > 20
    for written in (
        '#import "@preview/x:0.1.0"', '#eval("1+1")', "#panic()", "<script>alert(1)</script>", "[red]markup[/red]",
        "// gone /* gone */", "= heading", "⟨U+001B⟩", "⟨U+0000⟩", "⟨U+202E⟩", "⟨U+200B⟩",
    ):  # fmt: skip
        assert squeezed(written) in text, written
    assert SECRET not in text
    assert "root:" not in text
    document = pymupdf.open(stream=hostile, filetype="pdf")
    objects = "".join(document.xref_object(k) for k in range(1, document.xref_length()))
    assert not re.search(r"/(?:JavaScript|JS|EmbeddedFile|Launch|SubmitForm)\b", objects)


def test_a_link_does_not_lead_out_of_a_report(hostile: bytes) -> None:
    links = [link for page in pages(hostile) for link in page.get_links()]
    assert links
    assert all(link["kind"] in (pymupdf.LINK_GOTO, pymupdf.LINK_NAMED) for link in links)


@pytest.mark.parametrize(
    "source",
    ['#read("/etc/passwd")', '#read("../secret")', '#read("/../secret")', '#include "../secret"',
     '#image("/etc/passwd")', '#import "@preview/cetz:0.3.0"', '#json("/proc/self/environ")', '#plugin("../secret")'],
)  # fmt: skip
def test_the_compiler_reads_nothing_outside_its_folder(source: str, tmp_path: Path) -> None:
    """Even code that ran would find nothing: its root folder contains only the report's own files."""
    (root := tmp_path / "root").mkdir()
    for path, text in ((tmp_path / "secret", SECRET), (root / "own", "own")):
        path.write_text(text)
    assert _pdf(root, b'#set document(title: "t")\n#read("own")').startswith(b"%PDF"), "it reads its own folder"
    with pytest.raises(typst.TypstError):
        _pdf(root, f'#set document(title: "t")\n{source}'.encode())


@pytest.mark.parametrize("name", ["printed", "odd", "hostile"])
def test_nothing_leaves_the_page(name: str, request: pytest.FixtureRequest) -> None:
    content: bytes = request.getfixturevalue(name)
    seen = 0
    for page, words in zip(pages(content), words_on(content), strict=True):
        # Punctuation may hang into the margin by up to half a letter.
        frame = pymupdf.Rect(43, 31, page.rect.x1 - 43, page.rect.y1 - 23)  # margins of 1.6, 1.2 and 1.3 cm
        for x0, y0, x1, y1, word, *_ in words:
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


def test_the_font_has_the_characters_for_which_it_is_not_read() -> None:
    has = _glyphs("DejaVuSans")
    assert {character for character in USUAL if ord(character) not in has} == set()
    assert ord("中") not in has  # power


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
    text = text_of(typeset(replace(report, front=replace(report.front, summary=(formulas,)))))
    assert squeezed("the source") in text
    assert squeezed("refused") in text
    assert squeezed("a square") not in text


@pytest.mark.parametrize(
    "changes", [{"title": r"$\,$"}, {"title": "\n"}, {"title": "", "id": ""}, {"title": HOSTILE["long"]}]
)
def test_a_heading_that_shows_nothing_or_too_much_does_not_lose_the_report(
    changes: dict[str, str], folder: Path
) -> None:
    claim = replace(record(figures=(), finding="kept finding"), **changes)
    assert squeezed("kept finding") in text_of(pdf(ledger((claim,)), folder))
