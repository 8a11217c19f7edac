"""The front: the outcome of each passage and its range."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from lipverify.claims.ledger import VERDICTS, Ledger, Source, Verdict
from lipverify.report import digits, statements, words  # internal: prints one number, for random values
from lipverify.report.model import Symbol  # internal: a symbol in the model of a page, for an annotation
from lipverify.report.notation import symbols_in  # internal: finds the symbols of a page a second time
from lipverify.report.text import rich  # internal: an entry of that table as text
from lipverify.report.web.page import web_page  # internal: the page without a file
from tests.ledgers import ledger, placed, record, slopes_figure
from tests.report.pages import (
    model,
    model_of,
    on_page,
    pages,
    pdf,
    rows_of,
    squeezed,
    text_of,
    theorems,
    topic_of,
    words_of,
)
from tests.strategies import target


def test_the_front_holds_the_result(book: Ledger, printed: bytes) -> None:
    shown = text_of(printed)
    first = shown[: shown.index("Thenumberisthatofthedecidingpoint")]  # the end of the table of statements
    for entry in statements.entries(book):
        assert squeezed(entry.heading) in first
        for row in entry.rows:
            assert all(on_page(number.measured) in first for number in row.numbers[:2])
    for shown in ("6claims", "Theorem2.Thewindowasprinted", "falseasprinted", "extrapolated"):
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
    found = model_of(*claims).sections[0].theorems[0].standing
    became = {"supported": "holds as printed", "refuted": "false as printed"}.get(verdict, "open")
    assert found.outcomes == ((became, "1"),)
    assert (found.grade, found.others) == ("sampled", (("refuted", "1"),))
    lone = model_of(claims[0]).sections[0].theorems[0].standing
    assert (lone.outcomes, lone.others) == ((), (("refuted", "1"),))


def test_the_list_of_passages_is_that_of_the_ledger(folder: Path) -> None:
    claims = (
        record("a.b/1", kind="printed", verdict="refuted", corrected="two thirds", source=Source("P", "Lemma 7", "x")),
        record("a.b/2", kind="convention", verdict="supported", reading="wide", source=Source("P", "Figure 8", "x")),
        record("a.b/3", kind="stronger", verdict="refuted", source=Source("P", "Lemma 9", "x")),
    )
    shown = text_of(pdf(ledger(claims), folder))
    table = shown[: shown.index("Thenumberisthat")]
    for place, outcome in (("Lemma 7", "✗ false as printed"), ("Figure 8", "≈ holds in one of its readings")):
        assert squeezed(outcome) in table.partition(squeezed(place))[2]
    assert squeezed("What holds: two thirds") in shown
    assert "refuted" in table.partition("Lemma9")[2], "no passage, and still in the table"


def test_an_empty_ledger_says_so(folder: Path) -> None:
    assert squeezed("The ledger holds no claims") in text_of(pdf(ledger(()), folder))


# Symbols are defined at their first use, and the letters of a user's file have the user's meanings.


def test_every_symbol_is_defined_once_on_the_page_of_its_first_use() -> None:
    claims = (
        record("softmax.one/a", statement=r"w^* = \Omega(\Lambda^{1/d})"),
        record("softmax.two/a", statement=r"\Lambda \to \infty, \quad \mathbf{B} = 1"),
        record("lt.three/a", statement=r"\omega_{xx} + d = 0"),
    )
    report = model_of(*claims)
    defined = [{words_of(each.symbol) for each in theorem.symbols} for theorem in theorems(report)]
    before = {words_of(each.symbol) for each in report.front.symbols}
    assert r"\Lambda" in before | defined[0]
    assert r"\Lambda" not in defined[1]
    assert r"\mathbf{B}" in before, "the table of statements has its formula"
    # linear transformers have their own letters: d is another dimension there
    assert {"d", r"\omega_{xx}, \omega_{xy}, \omega_{yx}, \omega_{yy}"} <= defined[2]
    known: set[int] = set()
    pages: list[tuple[Any, str]] = [(report.front, ""), *((t, t.stem) for t in theorems(report))]
    for page, stem in pages:
        known |= {k for k, entry in enumerate(words.notation()) if entry in entries(page.symbols)}
        used = set(symbols_in(page))
        for k, entry in enumerate(words.notation()):
            assert k in known or not (entry.holds_for(stem, True) and entry.names & used), (stem, entry.symbol)


def test_a_claims_file_may_give_letters_other_meanings() -> None:
    """This holds for any name of the user's statements, even one that begins like lipverify's."""
    for id in ("mine.one/a", "softmax.one/a", "lt.one", "softmaxes.one"):
        claim = record(id, statement=r"\Lambda = \Omega(\sigma^2)", file="hers.py")
        book = ledger((claim,))
        report = model(book)
        symbols = [*report.front.symbols, *(each for page in theorems(report) for each in page.symbols)]
        assert [words_of(each.symbol) for each in symbols] == [r"\Omega, \mathcal{O}, \Theta"]
        assert b"standard deviation of the label noise" not in web_page(book)
    ours = model_of(record("softmax.one/a", statement=r"\sigma^2 = 1"))
    assert any("standard deviation" in words_of(each.meaning) for each in ours.notation)


def test_symbols_of_a_claims_file_are_explained_once_where_they_are_used() -> None:
    """A symbol with a subscript is that symbol alone, whatever its superscript; lipverify's own letters stay."""
    symbols = {"R_k": "the risk", "R_j": "unused", r"\sigma": "mine", "Q": "a quantity"}
    mine = record("mine.one", statement=r"R_{k}^* + \sigma \leq 1", file="a.py")
    ours = record("softmax.two", statement=r"\sigma \leq 1")
    book = replace(ledger((mine,)), symbols=symbols)
    assert [words_of(each.meaning) for each in model(book).notation if "order" not in words_of(each.meaning)] == [
        "the risk",
        "mine",
    ]
    report = model(replace(book, claims=(ours,)))
    assert "mine" not in [words_of(each.meaning) for each in theorems(report)[0].symbols]


def entries(symbols_: tuple[Symbol, ...]) -> list[words.Entry]:
    said = {(words_of(each.symbol), words_of(each.meaning)) for each in symbols_}
    return [e for e in words.notation() if (words_of(rich(e.symbol)), words_of(rich(e.meaning))) in said]


# Numbers on a page equal those of the ledger, each with its error.


printed_number = re.compile(r"([−\d.e]+) ± ([−\d.e]+)")

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e200, max_value=1e200)


def value_of(text: str) -> Decimal:
    return Decimal(text.replace("−", "-"))


@given(value=finite, error=st.floats(1e-200, 1e200))
@example(value=0.3333312, error=2e-6)
@example(value=1e-3, error=20.0)
@example(value=0.0, error=9.7)
@example(value=999.96, error=0.096)
def test_a_printed_interval_is_that_of_the_ledger(value: float, error: float) -> None:
    match = printed_number.fullmatch(digits.with_error(value, error))
    assert match is not None
    shown, half = value_of(match[1]), value_of(match[2])
    exact, true_half = Decimal(repr(value)), Decimal(repr(error))
    assert true_half <= half <= Decimal("1.1") * true_half
    # Half a unit of the last printed digit, which is the second of the error or the fifteenth of the value.
    unit = max(Decimal(1).scaleb(half.adjusted() - 1), abs(exact) * Decimal("1e-14"))
    off = abs(shown - exact)
    target(float(off / unit))
    assert off <= unit / 2


def test_missing_and_infinite_numbers_are_marked() -> None:
    assert digits.with_error(None, 1.0) == "–"
    assert digits.with_error(math.nan, 1.0) == "not a number"
    assert digits.with_error(math.inf, None) == "∞"
    assert digits.with_error(0.25, math.nan) == "0.25 ± not a number"
    assert digits.signed(-math.inf) == "−∞"


def test_every_cell_and_cross_check_is_printed_with_its_numbers(book: Ledger, printed: bytes) -> None:
    rows = [squeezed(row) for row in rows_of(printed)]
    cells = [c for claim in book.claims for c in claim.cells]
    assert len(cells) >= 20
    for claim in book.claims:
        for c in claim.cells:
            parts = [digits.with_error(c.measured, c.error), digits.signed(c.margin)]
            assert any(all(on_page(p) in row for p in parts) for row in rows), parts
        for check in claim.cross_checks:
            parts = [digits.with_error(v, e) for v, e in zip(check.values, check.errors, strict=True)]
            assert any(all(on_page(p) in row for p in parts) for row in rows), parts


def test_no_number_in_the_evidence_is_foreign_to_the_ledger(book: Ledger, printed: bytes) -> None:
    """Each printed `value ± error` corresponds to a number of the ledger."""
    expected = {on_page(digits.with_error(c.measured, c.error)) for r in book.claims for c in r.cells} | {
        on_page(digits.with_error(v, e))
        for r in book.claims
        for check in r.cross_checks
        for v, e in zip(check.values, check.errors, strict=True)
    }
    evidence = "\n".join(page.get_text() for page in pages(printed))
    found = {squeezed(m[0]) for m in re.finditer(r"^[−\d.×]+\s±\s[−\d.×]+$", evidence, re.MULTILINE)}
    assert len(found) >= 8
    assert found <= expected


def test_numbers_in_a_text_become_powers_and_other_words_do_not() -> None:
    assert [(run.kind, run.text) for run in rich("1.774(3)e-7 of 1e+09, v1e5, 2e, uniform-3e5 `1e5` $1e5$")] == [
        ("math", r"1.774(3) \times 10^{-7}"), ("words", " of "), ("math", "10^{9}"),
        ("words", ", v1e5, 2e, uniform-3e5 "), ("code", "1e5"), ("words", " "), ("math", "1e5"),
    ]  # fmt: skip


# The evidence: every cell, cross-check and source, with shared facts printed once.


def test_the_evidence_is_left_out_unless_it_is_asked_for(book: Ledger, printed: bytes, folder: Path) -> None:
    short = model(book, evidence=False)
    assert not short.topics
    assert not any(theorem.topic for theorem in theorems(short))
    content = pdf(book, folder, "short.pdf", evidence=False)
    assert len(pages(content)) < len(pages(printed))
    assert squeezed("computed by two methods") in text_of(content), "how many numbers agree is said in any case"
    assert squeezed("Every measured number is in a ledger") in text_of(content)
    assert squeezed("Every measured number is in a ledger") not in text_of(printed)


def test_readings_of_one_measurement_share_a_table_and_no_others_do() -> None:
    same = (record("a.b/lower"), record("a.b/upper", title="other"))
    topic = topic_of(*same)
    (table,) = topic.evidence
    assert table.readings == ("lower", "upper")
    assert all(len(row.judgements) == 2 for row in table.rows)
    first = same[1].cells[0]
    for change in ({"measured": 0.123}, {"error": 0.5}, {"method": "other"}, {"quantity": "q"}, {"where": {"d": 99}}):
        moved = replace(same[1], cells=(replace(first, **change), *same[1].cells[1:]))
        topic = topic_of(same[0], moved)
        assert len(topic.evidence) == 2, change


def test_a_row_of_evidence_says_where_it_was_measured() -> None:
    (table,) = topic_of(record()).evidence
    assert [words_of(heading) for heading in table.where] == ["d"]
    assert [words_of(row.where[0]) for row in table.rows] == [str(c.where["d"]) for c in record().cells]
    assert "affine law" in words_of(table.common)
    mixed = replace(record(), cells=(record().cells[0], replace(record().cells[1], where={"n": 5})))
    (table,) = topic_of(mixed).evidence
    assert [words_of(row.where[0]) for row in table.rows] == ["d = 2, affine law", "n = 5"]


def test_shared_text_of_readings_is_printed_once_after_the_first_of_them(folder: Path) -> None:
    shared, own = (
        record("a.b/affine/lower"),
        record("a.b/relu/lower", source=replace(record("a.b").source, printed="q")),
    )
    topic = topic_of(shared, own)
    appendix = text_of(pdf(ledger((shared, own)), folder, "shared.pdf")).rpartition("Adashmeans")[2]
    assert appendix.count("Control.") == 1, "the second has the same"
    assert appendix.index("affine/lower:") < appendix.index("Control.")
    assert len(topic.agreements) == 2
    assert not topic.drawings, "the only figure stands on the theorem's page"


def test_a_figure_of_an_earlier_statement_is_referred_to(folder: Path) -> None:
    (shown, *_) = record().figures
    more = (shown, replace(slopes_figure(lambda d: 3 / d, None), layer="evidence"))
    claims = (
        record("a.b", figures=more), record("a.c", figures=more, source=Source("S", "elsewhere", "")),
    )  # fmt: skip
    first, second = model_of(*claims).topics
    assert first.evidence == second.evidence
    text = text_of(pdf(ledger(claims), folder, "figures.pdf"))
    assert text.count("Figures.") == 2, "both statements name it"
    assert text.count(squeezed("the claim allows the shaded range.")) == 2, "it is drawn once, like that of the entries"


BLANK = record()

labels = st.lists(
    st.tuples(*(st.sampled_from(words) for words in (("affine", "relu"), ("lower", "upper"), ("x", "y")))),
    min_size=1, max_size=8, unique=True,
)  # fmt: skip
