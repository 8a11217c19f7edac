"""The report as an appendix of a paper: readable, without repetition, and with every symbol explained."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from msgspec.structs import replace

from lipverify.claims.ledger import Figure, Ledger, Panel, Series, Source
from lipverify.claims.ledger.outcomes import controls  # internal: the sentence about controls, of any cells
from lipverify.claims.plan import profile_named, select_claims
from lipverify.claims.run import run
from lipverify.report.front import OFTEN  # internal: the count from which an assumption is part of the setting
from lipverify.report.looks import entries  # internal: the entries that a legend omits
from tests.ledgers import cell, ledger, record
from tests.report.pages import model, model_of, pages, pdf, squeezed, text_of, theorem_of, words_of

SMALLEST = 7.9
"""Smallest font size in points of text, tables and captions; indices and exponents may be smaller."""


def letters_by_size(content: bytes) -> Counter[float]:
    sizes: Counter[float] = Counter()
    for page in pages(content):
        for block in page.get_text("dict")["blocks"]:
            for span in (span for line in block.get("lines", ()) for span in line["spans"]):
                if "Math" not in span["font"] and re.search(r"[a-z]{4}", span["text"]):
                    sizes[round(span["size"], 1)] += len(span["text"])
    return sizes


def test_the_type_is_readable(book: Ledger, folder: Path) -> None:
    """Text has nine points, tables and the rules at the end eight; figures have sizes of their own."""
    plain = replace(book, claims=tuple(replace(claim, figures=()) for claim in book.claims))
    sizes = letters_by_size(pdf(plain, folder, "plain.pdf", evidence=False))
    words = sum(sizes.values())
    code = sum(count for size, count in sizes.items() if size < SMALLEST)
    assert sizes[9.0] > words / 8
    assert sizes[9.0] + sizes[8.0] + sizes[8.2] > 3 * words / 4
    assert code < words / 10, "ids and commands, in a wider letter"
    assert min(sizes) > 6


def test_the_reading_that_decides_is_the_first() -> None:
    """The second is one with the other verdict, if there is one."""

    def told(*verdicts: Any) -> list[str]:
        claims = [record(f"a.b/{k}", kind="convention", verdict=verdict) for k, verdict in enumerate(verdicts)]
        return [reading.label for reading in theorem_of(*claims).readings]

    assert told("refuted", "refuted", "refuted", "supported") == ["3", "0", "1", "2"]
    assert told("supported", "supported", "refuted") == ["0", "2", "1"]
    assert told("supported", "supported") == ["0", "1"]
    assert told("inconclusive", "refuted", "supported") == ["2", "1", "0"]


def test_the_reading_that_decides_goes_before_another_of_its_verdict() -> None:
    source = Source("P", "Lemma 7", "x")
    claims = (
        record("a.b/first", kind="printed", verdict="supported", source=source),
        record("a.b/wider", kind="stronger", verdict="refuted", source=source),
        record("a.b/other", kind="printed", verdict="refuted", source=source),
    )
    assert [reading.label for reading in theorem_of(*claims).readings][:2] == ["first", "other"]


def test_each_form_of_a_claim_has_a_panel(tmp_path: Path) -> None:
    """Bounds on two quantities, an exponent and a limit: the page shows each with a panel."""
    (tmp_path / "mine.py").write_text(
        dedent("""\
            from lipverify.claims import bound, claim, exponent

            def square(x):
                return x * x, 1e-12

            def root(x):
                return x**0.5, 1e-12

            def double(n):
                return 2.0 * n, 1e-9

            claim("mine.two", bound(square, "x^2", high="x", control="x / 20"),
                  bound(root, r"\\sqrt{x}", low="x", control="20 * x"), over={"x": (0.1, 0.2, 0.3)},
                  source=("My notes", "Lemma 1", "smaller"), kind="printed", expected="supported")
            claim("mine.grows", exponent(double, "y", along={"n": (10, 1e12)}, equals="1"),
                  bound(square, "x^2", high="x", control="x / 20", over={"x": (0.1, 0.2)}),
                  source=("My notes", "Lemma 2", "grows"), kind="printed", expected="supported")
            """)
    )
    claims = select_claims([str(tmp_path / "mine.py")], profile_named("quick"))
    two, grows = (record.figures for record in run(claims, jobs=0).claims)
    assert [[panel.ylabel for panel in figure.panels] for figure in two] == [["$x^2$", r"$\sqrt{x}$"]]
    assert [figure.layer for figure in grows] == ["theorem"]
    assert [panel.ylabel for panel in grows[0].panels] == ["local exponent of $y$", "$x^2$"]


def test_the_counts_of_cells_add_up() -> None:
    """Decided and undecided cells add up to all cells, whether controls were caught or not."""
    good = record().cells[0]
    open_cell = replace(good, verdict="inconclusive")
    powerless = replace(open_cell, control=replace(good.control, verdict="inconclusive"))
    said = controls([replace(record(), cells=(good, good, open_cell, powerless))])
    assert said == (
        "the control of each of 2 decided cells came out the other way; 2 cells are undecided, "
        "1 because its control did not come out the other way"
    )
    assert controls([replace(record(), cells=(good, open_cell))]).endswith("; 1 cell is undecided")


def test_one_word_for_a_verdict(printed: bytes) -> None:
    text = text_of(printed)
    assert "supported" in text
    assert "consistent" not in text


def test_symbols_are_defined_without_a_verb(folder: Path) -> None:
    """`x_i, y_i is` would be wrong grammar, and the reading's own letter is one of the symbols."""
    claim = record("softmax.a/ambient", statement="y_i = f(x_i)", assumptions=("$D = d$",))
    text = text_of(pdf(ledger((claim,)), folder, "symbols.pdf", evidence=False))
    assert squeezed("the tokens and their labels") in text
    assert squeezed("the dimension in a printed rate") in text
    assert not re.search(r"(?:x.?i|y.?i|E)is(?:the|a)", text)


def test_words_that_were_quoted_are_not_quoted_again(folder: Path) -> None:
    source = Source("P", "Theorem 7", "every wombat digs a burrow")
    book = ledger(tuple(record(f"a.b{k}", source=replace(source, place=f"Theorem 7, part {k}")) for k in range(3)))
    text = text_of(pdf(book, folder, "quoted.pdf", evidence=False))
    assert text.count(squeezed(source.printed)) == 1
    assert text.count(squeezed("as quoted on page")) == 2
    assert all(squeezed(f"Theorem 7, part {k}") in text for k in range(3))


def test_shared_assumptions_are_printed_once(folder: Path) -> None:
    """This holds only for assumptions of enough theorems. A few repeated words are easier to read than a reference."""
    usual, own = "tokens and query uniform on a sphere of any radius", "wombats in their burrows, one in each of them"

    def book(many: int) -> Ledger:
        claims = [record(f"a.b{k}", assumptions=(usual, "ReLU law", *([own] if k == 0 else []))) for k in range(many)]
        return ledger(tuple(claims))

    assert [words_of(text) for text in model(book(OFTEN)).front.setting] == [usual]
    assert model(book(OFTEN - 1)).front.setting == ()
    text = text_of(pdf(book(OFTEN), folder, "setting.pdf", evidence=False))
    assert text.count(squeezed(usual)) == 1
    assert text.count(squeezed("Read as. (a) of page 1; ReLU law")) == OFTEN
    assert text.count(squeezed(own)) == 1


@pytest.mark.parametrize("style", ["line", "errorbars"])
def test_a_legend_names_the_ends_of_a_colour_scale(style: Any) -> None:
    """Curves that differ by a number share a colour scale, which its ends explain; the legend is never long."""
    numbered = tuple(Series(label=f"$d = {d}$", x=(1.0, 2.0), y=(1.0, 2.0), style=style) for d in range(2, 9))
    other = Series(label="claimed", x=(1.0, 2.0), y=(1.0, 2.0), style="dashed")
    panel = Panel(title="", xlabel="x", ylabel="y", series=(*numbered, other))
    assert entries(Figure(caption="c", alt="a", panels=(panel,))) == ["$d = 2$", "$d = 8$", "claimed"]


def test_a_number_without_an_error_is_rounded() -> None:
    exact = cell(2, "relu", record().cells[0].allowed, "1", measured=0.863351782282805, error=0.0)
    (reading,) = theorem_of(record(cells=(exact,))).readings
    assert [told.measured for told in reading.telling] == ["0.863352"]
    assert model_of(record()).words["supported"] == "supported"
