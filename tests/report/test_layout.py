"""The layout of the PDF: short theorems stay on one page, long tables repeat their header."""

from __future__ import annotations

from pathlib import Path

from lipverify.claims.ledger import Ledger
from tests.ledgers import ledger, record
from tests.report.pages import model, pages, pdf, squeezed, theorems, words_of


def test_a_theorem_is_torn_at_most_once(printed: bytes, book: Ledger) -> None:
    """The command at the end of a theorem is on the page of its title or on the next one."""
    texts = [squeezed(page.get_text()) for page in pages(printed)]
    for theorem in theorems(model(book)):
        (end,) = [k for k, text in enumerate(texts) if squeezed(f"lipverify verify {theorem.stem}") in text][:1]
        assert squeezed(words_of(theorem.title)) in "".join(texts[max(end - 1, 0) : end + 1]), theorem.stem


def test_a_short_theorem_is_not_torn(folder: Path) -> None:
    """A short theorem that does not fit on the page begins on the next one."""
    names = [f"Theorem of number {k:02d}" for k in range(20)]
    claims = [
        record(
            f"a.b{k:02d}", title=name, figures=(), cells=record().cells[:1], reproduce=f"lipverify verify a.b{k:02d}"
        )
        for k, name in enumerate(names)
    ]
    texts = [
        squeezed(page.get_text()) for page in pages(pdf(ledger(tuple(claims)), folder, "short.pdf", evidence=False))
    ]
    ends = []
    for k, name in enumerate(names):
        start = max(j for j, text in enumerate(texts) if squeezed(name) in text)  # the first page lists it too
        assert squeezed(f"lipverify verify a.b{k:02d}") in texts[start], name
        ends.append(start)
    assert len(set(ends)) > 3, "several pages, and theorems that share one"
    assert len(set(ends)) < len(ends)


def test_a_long_table_of_statements_begins_a_page_and_repeats_its_header(folder: Path) -> None:
    claims = tuple(record(f"stem.s{k}/a", figures=(), cells=(), cross_checks=()) for k in range(100))
    content = pages(pdf(ledger(claims), folder))
    header = [squeezed("statement outcome of its passages kind grade page") in squeezed(p.get_text())
              for p in content[:3]]  # fmt: skip
    assert header == [False, True, True]
