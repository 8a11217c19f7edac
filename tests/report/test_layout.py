"""The layout of the PDF: short theorems stay on one page, long tables repeat their header."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from lipverify.claims.ledger import Ledger
from lipverify.errors import InvalidInput
from lipverify.report import write_report

# internal: the limits of texts; the tests try longer texts and those of the library
from lipverify.report.visible import LONGEST_FORMULA, LONGEST_TEXT, LONGEST_WORD, require_printable
from tests.ledgers import ledger, realistic, record, slopes_figure
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
    assert len(set(ends)) > 2, "several pages, and theorems that share one"
    assert len(set(ends)) < len(ends)


def test_a_long_table_of_statements_repeats_its_header(folder: Path) -> None:
    claims = tuple(record(f"stem.s{k}/a", figures=(), cells=(), cross_checks=()) for k in range(100))
    content = pages(pdf(ledger(claims), folder, evidence=False))
    header = [squeezed("printed measured to match verdict, range, grade") in squeezed(p.get_text())
              for p in content[:3]]  # fmt: skip
    assert header == [True, True, True]


def filled(page: Any) -> float:
    """Where the words of a page end, its footer aside, as a share of its height."""
    return max((y for _, _, _, y, *_ in page.get_text("words") if y < page.rect.y1 - 40), default=0.0) / page.rect.y1


@pytest.mark.parametrize("count", [1, 3, 4, 5, 7, 9])
def test_no_page_of_a_short_report_is_almost_empty(folder: Path, count: int) -> None:
    claims = tuple(record(f"a.b{k}", assumptions=(), cross_checks=()) for k in range(count))
    content = pages(pdf(ledger(claims), folder, evidence=False))
    assert min(map(filled, content)) > 0.15
    assert count != 3 or len(content) <= 2, "a report of three claims has two pages"


# Texts that would stop the typesetting are refused in one line, and huge numbers are drawn without warnings.


LONG = {
    "text": "word " * LONGEST_TEXT,
    "word": "x" * (LONGEST_WORD + 1),
    "formula": "$" + "x + " * LONGEST_FORMULA + "x$",
    "emoji": "\N{GRINNING FACE}" * (LONGEST_WORD + 1),
    "faces": "\N{GRINNING FACE} " * (LONGEST_TEXT // 8),
}


@pytest.mark.parametrize("long", LONG.values(), ids=LONG.keys())
def test_work_of_minutes_is_refused_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: str
) -> None:
    monkeypatch.setattr("lipverify.report.build.build", None)
    with pytest.raises(InvalidInput, match="can be typeset") as refusal:
        write_report(ledger((record(finding=long),)), tmp_path / "report.pdf")
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300
    assert list(tmp_path.iterdir()) == []


def test_our_own_texts_are_far_from_the_limits() -> None:
    require_printable(realistic())


def test_huge_numbers_are_drawn_without_a_warning(tmp_path: Path) -> None:
    figure = slopes_figure(lambda d: 1e308 * d / 8, lambda d: -1e308 * d / 8)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        write_report(ledger((record(figures=(figure,)),)), tmp_path / "report.pdf")
    assert [str(each.message) for each in warned if issubclass(each.category, RuntimeWarning)] == []
