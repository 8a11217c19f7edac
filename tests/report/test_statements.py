"""The table of statements: a row for each printed claim and for the deciding reading of each passage."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from lipverify.claims.ledger import Allowed, Ledger, Ratio, Record, Source
from lipverify.report.build import build  # internal: the model, without a PDF
from lipverify.report.drawings import Drawings  # internal: draws nothing here
from lipverify.report.lines import problem  # internal: the text that the PDF and the page print
from lipverify.report.statements import Row, entries, heading, rows
from tests.ledgers import cell, ledger, record


def row_of(claim: Record) -> Row:
    (row,) = rows(ledger((claim,)))
    return row


def claim(identity: str, place: str, **changes: Any) -> Record:
    """A user's claim about a place of the user's notes."""
    return record(identity, source=Source(paper="My notes", place=place, printed="$w$ grows"), heading=None, **changes)


def test_every_printed_claim_has_a_row_with_numbers_whatever_its_id(book: Ledger) -> None:
    shared = tuple(claim(f"mine.main/part-{k}", f"Theorem {k}") for k in (1, 2, 3))
    for each in (book, ledger(shared)):
        table = rows(each)
        printed = [record.id for record in each.claims if record.kind == "printed"]
        assert sorted(row.id for row in table) == sorted(printed)
        broke = {record.id for record in each.claims if record.verdict == "error"}
        assert all(row.numbers for row in table if row.id not in broke)


def test_a_passage_with_readings_has_the_rows_of_the_one_that_decides() -> None:
    kept = {"kind": "convention", "verdict": "supported"}
    readings = (
        claim("mine.rate/a/refuted", "Lemma 1", kind="convention", reading="a", verdict="refuted"),
        claim("mine.rate/b/lower", "Lemma 1", reading="b", **kept),
        claim("mine.rate/b/upper", "Lemma 1", reading="b", **kept),
        claim("mine.rate/c", "Lemma 1", reading="c", **kept),
        claim("mine.rate/d", "Lemma 1", kind="sharp", verdict="supported"),
    )
    assert [row.id for row in rows(ledger(readings))] == ["mine.rate/b/lower", "mine.rate/b/upper"]
    (entry,) = entries(ledger(readings))
    assert {each.id for each in entry.claims} == {each.id for each in readings}
    assert [each.id for each in entries(ledger(readings[-1:]))[0].claims] == ["mine.rate/d"]


def test_of_several_readings_that_hold_the_best_founded_has_the_rows() -> None:
    readings = [
        claim(f"mine.rate/{grade}", "Lemma 1", kind="convention", verdict="supported", grade=grade)
        for grade in ("sampled", "exact", "bounded")
    ]
    (entry,) = entries(ledger(tuple(readings)))
    assert entry.passage is not None
    assert [(row.id, row.grade) for row in entry.rows] == [("mine.rate/exact", entry.passage.grade)]


def test_a_heading_is_the_place_and_the_title_and_never_an_id() -> None:
    row = row_of(claim("mine.box/lower", "Theorem 6", title="the box kernel attains the bound: lower bound"))
    assert row.heading == "Theorem 6. The box kernel attains the bound"
    bare = row_of(claim("mine.box", "Theorem 6.", title="w* = 2", statement="w^* = 2"))
    assert bare.heading == heading("Theorem 6", "") == "Theorem 6"


def test_a_coordinate_that_varies_does_not_tell_claims_apart() -> None:
    def family(degree: int) -> Record:
        cells = tuple(cell(d, "relu", Allowed(low=0.0), ">= 0", where={"d": d, "l": degree}) for d in (3, 4))
        return claim(f"mine.harmonics/{degree}", "Theorem 3", cells=cells)

    table = rows(ledger((family(2), family(3))))
    assert [row.apart for row in table] == ["$l = 2$", "$l = 3$"]


def test_a_value_with_a_tolerance_is_matched_by_the_value() -> None:
    edges = {"equals": "1/d", "within": "1/10"}
    near = cell(2, "relu", Allowed(low=0.4, high=0.6), "= 1/d ± 1/10", edges=edges, measured=0.5, error=1e-4)
    assert row_of(claim("mine.near", "Theorem 4", cells=(near,))).numbers[0].claimed == "= 1/d ± 1/10 = 0.5"


def test_claims_with_one_formula_are_told_apart_by_their_coordinates() -> None:
    both = [
        claim(f"mine.box/{law}/ambient", "Theorem 6", title=f"the box: {law}, ambient", cells=(at(law),))
        for law in ("affine", "relu")
    ]
    assert [(row.title, row.apart) for row in rows(ledger(tuple(both)))] == [
        ("the box", "affine law"),
        ("the box", "ReLU law"),
    ]


def at(law: str) -> Any:
    return cell(2, law, Allowed(low=0.3), "$\\geq 3/10$")


@pytest.mark.parametrize(
    ("value", "error", "edge", "measured", "claimed"),
    [
        (0.34567, 0.00234, "1/(d + 1)", "0.3457 ± 0.0024", "$\\geq 1/(d+1)$ = 0.3333"),
        (0.34567, 0.0, "1/(d + 1)", "0.34567", "$\\geq 1/(d+1)$ = 0.333333"),
        (0.34567, 0.00234, "0.3333", "0.3457 ± 0.0024", "$\\geq 1/(d+1)$"),
    ],
)
def test_a_number_has_two_digits_of_its_error_and_the_value_to_match(
    value: float, error: float, edge: str, measured: str, claimed: str
) -> None:
    evidence = cell(2, "relu", Allowed(low=1 / 3), "$\\geq 1/(d+1)$", measured=value, error=error, edges={"low": edge})
    (number,) = row_of(claim("mine.box", "Theorem 6", cells=(evidence,))).numbers
    assert (number.measured, number.claimed, number.low) == (measured, claimed, 1 / 3)


def test_where_a_ratio_decided_it_is_shown() -> None:
    evidence = cell(
        2,
        "relu",
        Allowed(low=0.5),
        "$\\geq 1/d$",
        quantity="limit exponent of w* in Λ",
        quantity_latex=r"limit exponent of $w^*$ in $\Lambda$",
        ratio=Ratio(0.5, 0.8312, 0.0123),
    )
    (number,) = row_of(claim("mine.box", "Theorem 6", cells=(evidence,))).numbers
    assert number.ratio == r"exponent equal; $w^* / \Lambda^{1/2}$ → 0.831 ± 0.013"
    (number,) = row_of(claim("mine.box", "Theorem 6", cells=(replace(evidence, ratio=None),))).numbers
    assert number.ratio == ""


def test_a_title_that_only_repeats_the_formula_is_left_out() -> None:
    bare = claim("mine.box", "Theorem 6", title="a > 1, b < 2", statement=r"\text{both}", claimed="a > 1; b < 2")
    assert row_of(bare).title == ""
    assert row_of(replace(bare, title="both hold")).title == "both hold"


def test_a_place_that_nobody_printed_anything_about_has_one_row() -> None:
    claims = [claim(f"mine.box/{kind}", "Theorem 6", kind=kind) for kind in ("sharp", "stronger", "derived")]
    (entry,) = entries(ledger(tuple(claims)))
    assert entry.passage is None
    assert [row.id for row in entry.rows] == ["mine.box/stronger"]
    assert [row.id for row in entry.others] == ["mine.box/derived", "mine.box/sharp"]


def test_the_reason_of_a_broken_check_has_neither_its_address_nor_a_function_s() -> None:
    """The call is named as its author would write it, in the table, in the PDF and on the page."""
    told = "value_at(own.py@75a01b9c:broken, d=2): InvalidInput: law = <function link at 0x7f4fed1fc5e0> is refused"
    broken = claim("mine.main", "Theorem 1", verdict="error", problem=told)
    (entry,) = entries(ledger((broken,)))
    assert entry.rows[0].problem == "broken(d=2): InvalidInput: law = link is refused"
    assert "".join(run.text for run in problem(broken)) == entry.rows[0].problem


def test_a_claim_that_a_claim_of_another_place_proves_has_the_grade_of_the_proof() -> None:
    own = claim("mine.rate", "Lemma 1", grade="extrapolated")
    proof = claim("mine.rate/proved", "Theorem 2", grade="proved", proves="mine.rate")
    report = build(ledger((own, proof)), Drawings().add)
    (reading,) = (r for section in report.sections for t in section.theorems for r in t.readings if r.id == own.id)
    assert reading.grade == "proved"
    assert [run.text for run in reading.reasons[0]] == ["proved by mine.rate/proved"]


def test_a_formula_in_the_reason_for_a_grade_is_typeset() -> None:
    own = claim("mine.rate", "Lemma 1")
    cells = tuple(replace(cell, reasons=(r"the theorem speaks of $\frac{a}{b}$",)) for cell in own.cells)
    report = build(ledger((replace(own, cells=cells),)), Drawings().add)
    (reading,) = report.sections[0].theorems[0].readings
    assert [run.kind for reason in reading.reasons for run in reason] == ["words", "math"]
