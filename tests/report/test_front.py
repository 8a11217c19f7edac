"""The front: the outcome of each passage and its range."""

from __future__ import annotations

from pathlib import Path

import pytest

from lipverify.claims.ledger import VERDICTS, Ledger, Source, Verdict
from lipverify.report import words  # internal: the words of the verdicts, to compare with the verdicts
from tests.ledgers import ledger, placed, record
from tests.report.pages import model, model_of, pages, pdf, squeezed, text_of, theorems, words_of


def test_the_front_holds_the_result(book: Ledger, printed: bytes) -> None:
    shown = squeezed("".join(page.get_text() for page in pages(printed)))
    first = shown[: shown.index("statement,conditions")]  # the first theorem has the first table of readings
    for each in {claim.heading for claim in book.claims if claim.heading is not None}:
        assert squeezed(each.title) in first
    for shown in ("6claims", "TheoptimalwindowThewindowasprinted", "falseasprinted", "extrapolated"):
        assert shown in first
    assert first.count(squeezed("≠ recorded:")) == 2
    assert first.count(squeezed("‡ control not caught")) == 1


def test_every_verdict_has_its_word() -> None:
    assert set(words.VERDICTS) == set(VERDICTS)


def test_every_claim_is_read_once_and_in_the_order_of_the_ledger(book: Ledger) -> None:
    report = model(book)
    assert [words_of(section.title) for section in report.sections] == [
        "The optimal window",
        "The terms of the loss",
        "",
    ]
    assert sorted(r.id for t in theorems(report) for r in t.readings) == sorted(claim.id for claim in book.claims)
    assert [t.stem for t in theorems(report)] == list(dict.fromkeys(claim.id.split("/")[0] for claim in book.claims))
    anchors = [t.anchor for t in theorems(report)]
    assert [row.anchor for part in report.front.parts for row in part.rows] == anchors
    assert [topic.theorem for topic in report.topics] == anchors
    assert [t.topic for t in theorems(report)] == [topic.anchor for topic in report.topics]


def test_a_section_that_returns_later_in_the_ledger_is_one_section() -> None:
    stems = ("softmax.bias-lower", "softmax.window-printed", "softmax.values-ignore-covariates")
    report = model(ledger(placed(tuple(record(stem) for stem in stems))))
    assert [[t.stem for t in s.theorems] for s in report.sections] == [[stems[0], stems[2]], [stems[1]]]


@pytest.mark.parametrize("verdict", VERDICTS)
@pytest.mark.parametrize("corrected", ["", "$w^* = 1$"])
def test_the_standing_is_that_of_the_passages(verdict: Verdict, corrected: str) -> None:
    """The verdict of a claim that is not printed does not affect the outcome of a passage."""
    claims = (
        record("a.b/1", kind="stronger", verdict="refuted", grade="observed"),
        record("a.b/2", kind="printed", verdict=verdict, corrected=corrected, grade="sampled"),
        record("a.b/3", kind="printed", verdict="supported", corrected="", grade="bounded"),
    )
    found = model_of(*claims).front.parts[0].rows[0].standing
    became = {"supported": "holds as printed", "refuted": "false as printed"}.get(verdict, "open")
    assert found.outcomes == ((became, "1"),)
    assert (found.kind, found.grade, found.others) == ("printed", "sampled", (("refuted", "1"),))
    lone = model_of(claims[0]).front.parts[0].rows[0].standing
    assert (lone.kind, lone.outcomes, lone.others) == ("stronger", (), (("refuted", "1"),))


def test_the_list_of_passages_is_that_of_the_ledger(folder: Path) -> None:
    claims = (
        record("a.b/1", kind="printed", verdict="refuted", corrected="two thirds", source=Source("P", "Lemma 7", "x")),
        record("a.b/2", kind="convention", verdict="supported", reading="wide", source=Source("P", "Figure 8", "x")),
        record("a.b/3", kind="stronger", verdict="refuted", source=Source("P", "Lemma 9", "x")),
    )
    report = model_of(*claims)
    assert [(row.outcome, row.grade != "") for row in report.passages] == [
        ("false as printed", True),
        ("holds in one of its readings", True),
    ]
    shown = squeezed("".join(page.get_text() for page in pages(pdf(ledger(claims), folder))))
    _, _, table = shown.rpartition("Passages")
    for text in ("false as printed: P: Lemma 7", "holds in one of its readings: P: Figure 8"):
        assert squeezed(text) in table
    assert [(words_of(row.instead), words_of(row.holds)) for row in report.passages] == [
        ("two thirds", ""),
        ("", "wide"),
    ]
    assert squeezed("What holds: two thirds") in shown
    assert "Lemma9" not in table.partition("Evidence")[0]


def test_an_empty_ledger_says_so(folder: Path) -> None:
    assert squeezed("The ledger holds no claims") in text_of(pdf(ledger(()), folder))
