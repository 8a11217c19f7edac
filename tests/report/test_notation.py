"""Symbols are defined at their first use, and the letters of a user's file have the user's meanings."""

from __future__ import annotations

from typing import Any

from lipverify.report import words  # internal: the table of symbols, each of which needs a definition
from lipverify.report.model import Symbol  # internal: a symbol in the model of a page, for an annotation
from lipverify.report.notation import symbols_in  # internal: finds the symbols of a page a second time
from lipverify.report.text import rich  # internal: an entry of that table as text
from lipverify.report.web.page import web_page  # internal: the page without a file
from tests.ledgers import ledger, record
from tests.report.pages import model, model_of, theorems, words_of


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
    assert r"\mathbf{B}" in defined[1]
    # linear transformers have their own letters: d is another dimension there
    assert {"d", r"\omega_{xx}, \omega_{xy}, \omega_{yx}, \omega_{yy}"} <= defined[2]
    known: set[int] = set()
    pages: list[tuple[Any, str]] = [(report.front, ""), *((t, t.stem) for t in theorems(report))]
    for page, stem in pages:
        known |= {k for k, entry in enumerate(words.NOTATION) if entry in entries(page.symbols)}
        used = set(symbols_in(page))
        for k, entry in enumerate(words.NOTATION):
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


def entries(symbols_: tuple[Symbol, ...]) -> list[words.Entry]:
    said = {(words_of(each.symbol), words_of(each.meaning)) for each in symbols_}
    return [e for e in words.NOTATION if (words_of(rich(e.symbol)), words_of(rich(e.meaning))) in said]
