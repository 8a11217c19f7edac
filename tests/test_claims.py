"""Claims as data, the runner, and the register: what is refused, what is caught, what is kept."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest
import sympy

import checks
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task, exponent
from lipverify.claims.ledger import Source, read_ledger, write_ledger
from lipverify.claims.registry import all_claims, profile_named, select_claims
from lipverify.claims.runner import run
from lipverify.claims.scaling import Side, read_exponent, scaling_cell
from lipverify.claims.verdict import Allowed, Interval
from lipverify.errors import InvalidInput
from lipverify.scaling import growth

QUICK = profile_named("quick")
SOURCE = Source(paper="S", place="a slide", printed="$x$ grows")


def square_root(d: int) -> Any:
    return growth(lambda s: 2 * s ** (1 / d) * (1 + 1 / s), 1e2, 1e12)


def broken() -> object:
    raise ZeroDivisionError("a check that breaks")


def value(x: float) -> float:
    return x


def toy(claimed: str, twin: str, side: Side = "lower", **changes: Any) -> Claim:
    d = ("d",)
    claim = Claim(
        id="toy.power",
        title="A power of s",
        statement=r"Q = \Omega(s^{1/d})",
        source=SOURCE,
        claimed="Q = Ω(s^(1/d))",
        control="a twin",
        expected="supported",
        cells=tuple(
            scaling_cell(
                Task(square_root, (k,)),
                lambda g: g,
                "limit exponent",
                side,
                exponent(claimed, d),
                exponent(twin, d),
                k,
            )
            for k in (2, 3)
        ),
    )
    return replace(claim, **changes)


def verdict_of(claim: Claim) -> tuple[str, bool]:
    record = run([claim], jobs=1).claims[0]
    return record.verdict, record.control.caught


def test_a_true_claim_is_supported_at_equality_by_its_ratio() -> None:
    record = run([toy("1/d", "1/d + 1/10")], jobs=1).claims[0]
    assert record.verdict == "supported"
    assert all("ratio" in cell.note for cell in record.cells)
    assert all(abs((cell.measured or 0) - 1 / cell.where["d"]) < 1e-6 for cell in record.cells)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("claimed", "twin", "side", "verdict"),
    [
        ("1/d - 1/20", "2/d", "lower", "supported"),
        ("1/d + 1/20", "2/d", "lower", "refuted"),
        ("1/d + 1/20", "1/(2*d)", "upper", "supported"),
        ("1/d - 1/20", "1/(2*d)", "upper", "refuted"),
        ("1/d", "2/d", "theta", "supported"),
        ("1/d + 1/100", "2/d", "theta", "refuted"),
    ],
)
def test_sides_and_near_misses(claimed: str, twin: str, side: Side, verdict: str) -> None:
    assert verdict_of(toy(claimed, twin, side)) == (verdict, True)


def test_a_control_that_is_not_caught_leaves_the_claim_open() -> None:
    assert verdict_of(toy("1/d - 1/20", "1/d - 1/10")) == ("inconclusive", False)


def test_methods_that_disagree_leave_the_claim_open() -> None:
    def cross(second: float) -> CrossPlan:
        tasks = (Task(value, (1.0,)), Task(value, (second,)))
        return CrossPlan(
            where={},
            quantity="x",
            methods=("exact", "montecarlo"),
            tasks=tasks,
            read=lambda a, b: ((a, b), (0.0, 0.1)),
        )

    assert verdict_of(toy("1/d", "2/d", cross_checks=(cross(1.15),)))[0] == "supported"
    assert verdict_of(toy("1/d", "2/d", cross_checks=(cross(1.25),)))[0] == "inconclusive"


def test_a_check_that_breaks_is_an_error_and_costs_no_other_claim_its_verdict() -> None:
    cell = CellPlan(
        {},
        Task(broken),
        "x",
        lambda r, a: Reading(Interval(0, 0)),
        "= 0",
        Allowed(0, 0),
        Allowed(1, 1),
    )
    ledger = run([toy("1/d", "2/d"), toy("1/d", "2/d", id="toy.broken", cells=(cell,))], jobs=1)
    assert [record.verdict for record in ledger.claims] == ["supported", "error"]
    assert "a check that breaks" in ledger.claims[1].problem


def test_not_a_number_is_an_error() -> None:
    cell = CellPlan(
        {},
        Task(value, (float("nan"),)),
        "x",
        lambda r, a: Reading(Interval(r, r)),
        "= 0",
        Allowed(0, 0),
        Allowed(1, 1),
    )
    assert verdict_of(toy("1/d", "2/d", cells=(cell,)))[0] == "error"


def test_processes_and_order_change_nothing_but_the_time() -> None:
    claims = select_claims(["softmax.gaussian-window", "softmax.split"])
    alone, together = run(claims, jobs=1), run(claims[::-1], jobs=2)
    found = {record.id: record for record in together.claims}
    for record in alone.claims:
        assert msgspec.structs.replace(found[record.id], seconds=0.0) == msgspec.structs.replace(record, seconds=0.0)


def test_a_ledger_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    ledger = run([toy("1/d", "2/d")], jobs=1)
    write_ledger(ledger, tmp_path / "ledger.json")
    assert read_ledger(tmp_path / "ledger.json") == ledger
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.json"]


@pytest.mark.parametrize("content", ["", "{}", "[1, 2]", '{"format": "other"}', "\x00\x01", '{"claims": 3}'])
def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(content)
    with pytest.raises(InvalidInput, match="ledger"):
        read_ledger(path)


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("id", "No Such Id"), ("id", "toy"), ("title", " "), ("statement", ""), ("claimed", ""), ("control", ""),
        ("source", Source(paper="S", place="", printed="x")), ("cells", ()),
    ],
)  # fmt: skip
def test_a_claim_that_could_not_be_believed_is_refused(field: str, bad: Any) -> None:
    with pytest.raises(InvalidInput, match=r"id|title|statement|claimed|control|source|cell"):
        replace(toy("1/d", "2/d"), **{field: bad})


@pytest.mark.parametrize("bad", ["1/q", "import os", "__import__('os')", "1/", "d; d", "[d]"])
def test_an_exponent_is_an_expression_in_the_declared_symbols(bad: str) -> None:
    with pytest.raises(InvalidInput, match="exponent"):
        exponent(bad)


def test_a_growth_far_from_the_edge_is_read_as_its_interval() -> None:
    law = growth(lambda s: s**0.5, 1e2, 1e12)
    reading = read_exponent(law, Allowed(low=0.3))
    assert reading.interval == Interval.around(law.exponent, law.error)
    assert reading.note == ""


def test_every_file_of_checks_is_registered_and_every_id_is_its_own() -> None:
    claims = all_claims(QUICK)
    ids = [claim.id for claim in claims]
    assert len(set(ids)) == len(ids)
    folder = Path(next(iter(checks.__path__)))
    files = {path.relative_to(folder).with_suffix("") for path in folder.rglob("*.py") if path.stem[0] != "_"}
    for file in files:
        mine = import_module(".".join(("checks", *file.parts))).claims(QUICK)
        assert mine, file
        assert {claim.id for claim in mine} <= set(ids)
    softmax = (
        "split", "gaussian-window", "values-ignore-covariates", "covariance-inversion", "noise-rate", "bias-lower",
        "bias-upper", "window-printed", "window-derived", "window-directions", "tradeoff", "generalization-same",
        "generalization-larger", "generalization-smaller", "lipschitz-sufficient", "lipschitz-necessary",
        "context-length", "norm-growth", "trained-form", "width",
    )  # fmt: skip
    lowrank = ("recovery", "boundary", "directions", "nonlinear")
    rows = [*(f"softmax.{row}" for row in softmax), *(f"lowrank.{row}" for row in lowrank)]
    for row in (*rows, "linear-attention.floor", "extension.classification"):
        assert any(id.split("/")[0] == row for id in ids), row


def test_a_refuted_claim_says_what_is_true_instead() -> None:
    refuted = [claim for claim in all_claims(QUICK) if claim.expected == "refuted"]
    assert len(refuted) > 40
    assert [claim.id for claim in refuted if not claim.corrected] == []


def test_dimensions_reach_eight_and_ladders_reach_1e24() -> None:
    from lipverify.claims.softmax.rays import LADDER

    assert {2, 3, 4, 5, 6, 7, 8} <= set(QUICK.dimensions) <= set(profile_named("full").dimensions)
    assert LADDER[1] >= 1e24


def test_claims_are_selected_by_id_stem_and_wildcard() -> None:
    one = "softmax.window-printed/affine/lower/ambient"
    assert [claim.id for claim in select_claims([one])] == [one]
    assert len(select_claims(["softmax.window-printed"])) == 8
    assert len(select_claims(["*/ambient"])) >= 8
    with pytest.raises(InvalidInput, match=r"did you mean 'softmax\.window-printed'"):
        select_claims(["softmax.window-print"])


def test_the_derived_exponents_come_out_of_the_bounds() -> None:
    from checks._slides import d
    from checks.window import implied

    assert implied(d / 2, -1, -2) == {"upper": 2 / (d + 2), "lower": 1 / (d + 2)}
    # of sharp bounds both sides are the balance itself
    sharp = implied((d - 1) / 2, sympy.Integer(-2), sympy.Integer(-2))
    assert sympy.simplify(sharp["upper"] - 2 / (d + 3)) == 0
    assert sympy.simplify(sharp["lower"] - sharp["upper"]) == 0
