"""The page of a theorem: its readings, the statement that holds instead, the deciding case, a table and a figure."""

from __future__ import annotations

from itertools import permutations

import pytest
from msgspec.structs import replace

from lipverify.claims.ledger import Allowed, Figure, Ledger, Scalar, Series
from lipverify.claims.ledger.figure import Layer  # internal: the literal type of a layer, for an annotation
from lipverify.claims.ledger.reach import at  # internal: the place of a cell as a terminal shows it
from lipverify.report import digits  # internal: how numbers and grades are printed, to compare
from lipverify.report.build import build  # internal: the model, with names of layers in place of drawings
from lipverify.report.model import Drawing  # internal: a drawing that only has a name
from lipverify.report.theorem import telling_figure  # internal: the choice of one figure among many
from tests.ledgers import RATES, cell, ledger, record, slopes_figure
from tests.report.pages import figure_of, model, squeezed, text_of, theorem_of, theorems, words_of


def test_a_refuted_claim_says_where_and_no_claim_is_called_proved(printed: bytes) -> None:
    text = text_of(printed)
    assert squeezed("refuted at d = 2") in text
    assert "proved" not in text, "no claim of this ledger has that grade"


def test_the_range_of_a_refuted_claim_lists_the_refuting_points_only() -> None:
    points = [{"d": 2, "law": "relu"}, {"d": 3, "law": "affine"}]
    bad = [cell(2, "relu", Allowed(low=k), "", where=where, verdict="refuted") for k, where in enumerate(points)]
    good = cell(2, "relu", Allowed(low=9), "", where={"d": 9, "law": "cosine"}, verdict="supported")
    (reading,) = theorem_of(record(cells=(*bad, good), verdict="refuted")).readings
    assert words_of(reading.range) == "at (d, law) = (2, relu), (3, affine)"


def test_a_correction_is_printed_only_for_a_claim_that_needs_one() -> None:
    claims = (
        record("a.b/1", verdict="refuted", corrected="one"),
        record("a.b/2", verdict="supported", corrected="two"),
        record("a.b/3", verdict="supported", corrected=""),
    )
    theorem = theorem_of(*claims)
    assert [words_of(reading.instead) for reading in theorem.readings] == ["one", "two", ""]
    assert words_of(theorem.instead) == "one"


def test_a_reason_is_two_sentences_and_conditions_stand_with_their_reading() -> None:
    claims = (
        record("a.b/1", assumptions=("shared", "of one"), finding="It is $1.5$. So is 0.5. Not this."),
        record("a.b/2", assumptions=("shared", "of two"), finding="Another."),
    )
    theorem = theorem_of(*claims)
    assert words_of(theorem.reason) == "It is 1.5. So is 0.5."
    assert [words_of(text) for text in theorem.assumptions] == ["shared"]
    assert [[words_of(text) for text in each.assumptions] for each in theorem.readings] == [["of one"], ["of two"]]


def test_the_reason_for_an_open_claim_has_formulas() -> None:
    """Quantity and point are typeset as on the rest of the page, not as on a terminal."""
    where: dict[str, Scalar] = {"sigma_1": 0.5, "noise": "uniform-3", "law": "relu"}
    one = replace(record().cells[0], quantity="L_a / L_b", quantity_latex=r"$L_a / L_b$", where=where)
    place = at(where)
    for first, last in (("", " is 1 ± 2, across"), ("the control, ", ""), ("a and b disagree on ", ": 1, 2")):
        said = f"{first}L_a / L_b{' > 1 is not told apart' if not last else ''} at {place}{last}"
        broken = record(cells=(one,), verdict="inconclusive", problem=said)
        (reading,) = theorem_of(broken).readings
        assert [run.text for run in reading.problem if run.kind == "math"] == [
            "L_a / L_b", r"\sigma_{1} = 0.5", r"\sigma_{\max} = 3",
        ]  # fmt: skip
        assert "ReLU law" in words_of(reading.problem)
    (reading,) = theorem_of(record(verdict="error", problem="KeyError: $x$")).readings
    assert [run.kind for run in reading.problem] == ["code"]


def test_a_check_that_broke_says_why(printed: bytes) -> None:
    assert squeezed("OutOfReach: w = 1e9: the recursion overflows") in text_of(printed)


def test_the_deciding_case_is_the_smallest_refuting_one_at_any_position(book: Ledger) -> None:
    (reading, *_) = theorems(model(book))[0].readings
    assert words_of(reading.telling[0].case) == "d = 2"
    first = book.claims[0].cells[0]
    assert reading.telling[0].measured == digits.with_error(first.measured, first.error)
    assert reading.telling[0].margin == digits.signed(first.margin) != digits.signed(book.claims[0].cells[-1].margin)
    cells = tuple(cell(d, "relu", Allowed(low=9.0), "") for d in (5, 3, 10, 4))
    theorem = theorem_of(record(cells=cells, verdict="refuted"))
    assert words_of(theorem.readings[0].telling[0].case) == "d = 3"


def test_without_a_refutation_the_case_is_the_closest() -> None:
    cells = tuple(cell(d, "relu", Allowed(high=1.0), "") for d in (2, 3, 4))
    theorem = theorem_of(record(cells=cells, verdict="supported"))
    assert words_of(theorem.readings[0].telling[0].case) == "d = 2"


def test_readings_nearest_to_print_come_first() -> None:
    claims = (record("a.b/1", kind="sharp"), record("a.b/2", kind="printed"), record("a.b/3", kind="convention"))
    theorem = theorem_of(*claims)
    assert [reading.label for reading in theorem.readings] == ["2", "3", "1"]


def test_formulas_of_one_statement_stand_each_for_itself() -> None:
    theorem = theorem_of(record(statement=r"a = 1, \quad b = 2"))
    assert [run.text for run in theorem.readings[0].statement] == ["a = 1", ", ", "b = 2"]
    torn = r"x = \begin{cases} a, \quad b \end{cases}"
    theorem = theorem_of(record(statement=torn))
    assert [run.text for run in theorem.readings[0].statement] == [torn]


@pytest.mark.parametrize(
    ("latex", "runs"),
    [
        (r"a \leq b \quad \text{for every } w", ["a \\leq b", " for every ", "w"]),
        (
            r"|r| \leq \tfrac{1}{2} \text{, what one step leaves, after } w > 0",
            [None, ", what one step leaves, after ", "w > 0"],
        ),
        (r"\frac{\text{made for it}}{b} = 1", [r"\frac{\text{made for it}}{b} = 1"]),
        (r"a \text{ at } b > 2 \text{, six with } c", ["a", " at ", "b > 2", ", six with ", "c"]),
        (r"a = O(b), \quad \text{and so } c", ["a = O(b)", ", and so ", "c"]),
        (r"a = \text{rounding}", [r"a = \text{rounding}"]),
        (r"a = 1, \qquad b = 2", [r"a = 1, \qquad b = 2"]),
    ],
)
def test_words_of_a_statement_stand_outside_of_its_formulas(latex: str, runs: list[str | None]) -> None:
    """A formula has no line breaks, so long words in it would overlap. Words inside a formula remain there."""
    theorem = theorem_of(record(statement=latex))
    found = [run.text for run in theorem.readings[0].statement]
    assert len(found) == len(runs)
    assert all(text in (None, seen) for text, seen in zip(runs, found, strict=True))


def test_a_table_of_a_claim_is_shown_once(printed: bytes, book: Ledger) -> None:
    tables = [table for theorem in theorems(model(book)) for table in theorem.tables]
    assert [[len(row) for row in table.rows] for table in tables] == [[2, 2]]
    assert text_of(printed).count(squeezed("Sharp rates; d is free.")) == 1


def test_a_table_without_a_finding_is_shown_too() -> None:
    theorem = theorem_of(record(verdict="supported", tables=(RATES,)))
    assert len(theorem.tables) == 1


@pytest.mark.parametrize("layers", list(permutations(("theorem", "front", "evidence"))))
def test_a_theorem_shows_the_figure_of_its_layer(layers: tuple[Layer, ...]) -> None:
    def draw(figure: Figure) -> Drawing:
        return Drawing(anchor=figure.layer, alt="a")

    figures = tuple(replace(slopes_figure(None, None), layer=layer, caption=layer) for layer in layers)
    report = build(ledger((record(figures=figures),)), draw, evidence=True)
    (theorem,) = theorems(report)
    assert theorem.picture is not None
    assert theorem.picture.anchor == "theorem"
    assert [picture.anchor for picture in report.front.pictures] == ["front"]
    assert {drawing.anchor for drawing in report.topics[0].drawings} == {"front", "evidence"}
    (bare,) = theorems(build(ledger((record(figures=()),)), draw))
    assert bare.picture is None


def test_a_theorem_shows_the_figure_of_the_readings_nearest_to_print() -> None:
    """Of several figures of one layer, the page shows that of the readings nearest to print with most points."""

    def drawn(label: str, count: int) -> Figure:
        x = tuple(map(float, range(count)))
        series = Series(label=label, x=x, y=x, error=x, style="errorbars")
        return replace(figure_of(series), caption=label)

    readings = (
        record("a.b/other", kind="stronger", figures=(drawn("stronger", 9),)),
        record("a.b/one", kind="printed", figures=(drawn("one point", 1),)),
        record("a.b/more", kind="printed", figures=(drawn("printed", 5),)),
    )
    shown = telling_figure(readings)
    assert shown is not None
    assert shown.caption == "printed"
