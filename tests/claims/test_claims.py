"""Claims as data, the runner, and the register: refusals, caught controls, and stored results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lipverify.claims.language.contents import contents  # internal: which files have claims
from lipverify.claims.ledger import Allowed, Interval, read_ledger, schema, write_ledger
from lipverify.claims.plan import (
    CellPlan,
    Claim,
    ControlPlan,
    CrossPlan,
    Measurement,
    all_claims,
    estimate,
    profile_named,
    select_claims,
)
from lipverify.claims.run import run
from lipverify.errors import InvalidInput
from lipverify.foundation.shipped import shipped
from lipverify.pytest_plugin import has_claims  # internal: every file that the plugin collects must be a file of claims
from lipverify.scaling import growth
from tests import ROOT
from tests.toys import cell
from tests.toys import claim as toy

QUICK = profile_named("quick")


def value(x: float) -> float:
    return x


def broken() -> object:
    raise ZeroDivisionError("a check that breaks")


def near_one(function: Callable[..., Any] = value, *arguments: Any) -> CellPlan:
    """A value claimed to be 1 within .1; the false control is 1.3, the true one the measured value."""
    return cell(
        Measurement(function, arguments),
        Allowed(0.9, 1.1),
        Allowed(1.2, 1.4),
        interval=lambda found: Interval.around(found, 0.01),
        says="= 1.3 ± 0.1",
    )


def verdict_of(claim: Claim) -> tuple[str, bool]:
    record = run([claim], jobs=0).claims[0]
    return record.verdict, record.control.caught


@pytest.mark.parametrize(
    ("measured", "verdict"), [(1.05, "supported"), (1.15, "refuted"), (1.3, "refuted"), (1.1, "inconclusive")]
)
def test_a_cell_is_judged_and_its_control_comes_out_the_other_way(measured: float, verdict: str) -> None:
    assert verdict_of(toy(near_one(value, measured))) == (verdict, True)


@pytest.mark.parametrize(
    ("control", "allowed", "problem"),
    [
        ("= 1.01 ± 0.1", Allowed(0.91, 1.11), "the control, x = 1.01 ± 0.1, holds too (1.09 ± 0.01): it is no control"),
        ("= 1.19 ± 0.1", Allowed(1.09, 1.29), "the control, x = 1.19 ± 0.1, is not decided (1.09 ± 0.01)"),
    ],
)
def test_a_control_that_is_not_refuted_leaves_the_claim_open_and_says_why(
    control: str, allowed: Allowed, problem: str
) -> None:
    cell = near_one(value, 1.09)
    near = CellPlan(**{**vars(cell), "false": ControlPlan(control, allowed)})
    record = run([toy(near)], jobs=0).claims[0]
    assert (record.verdict, record.control.caught) == ("inconclusive", False)
    assert record.problem == problem
    assert (record.cells[0].alone, record.cells[0].verdict) == ("supported", "inconclusive"), "the cell decides nothing"
    assert record.cells[0].uncontrolled == ("holds too" in problem)


def test_methods_that_disagree_leave_the_claim_open() -> None:
    def cross(second: float) -> CrossPlan:
        both = (Measurement(value, (1.0,)), Measurement(value, (second,)))
        return CrossPlan({}, "x", ("exact", "montecarlo"), both, lambda a, b: ((a, b), (0.0, 0.1)))

    assert verdict_of(toy(near_one(value, 1.0), cross_checks=(cross(1.15),)))[0] == "supported"
    assert verdict_of(toy(near_one(value, 1.0), cross_checks=(cross(1.25),)))[0] == "inconclusive"


def test_a_broken_check_is_an_error_of_its_claim_only() -> None:
    ledger = run([toy(near_one(value, 1.0)), toy(near_one(broken), id="toy.broken")], jobs=0)
    assert [record.verdict for record in ledger.claims] == ["supported", "error"]
    assert "a check that breaks" in ledger.claims[1].problem


def test_not_a_number_is_an_error() -> None:
    assert verdict_of(toy(near_one(value, float("nan"))))[0] == "error"


def test_processes_and_order_change_nothing_but_the_time() -> None:
    claims = [toy(near_one(value, 1.0), near_one(value, k / 4), id=f"toy.value-{k}") for k in range(8)]
    alone, together = run(claims, jobs=0), run(claims[::-1], jobs=2)
    found = {record.id: record for record in together.claims}
    assert {record.verdict for record in alone.claims} == {"supported", "refuted"}
    for record in alone.claims:
        assert msgspec.structs.replace(found[record.id], seconds=0.0) == msgspec.structs.replace(record, seconds=0.0)


def test_a_ledger_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    ledger = run([toy(near_one(value, 1.0), near_one(value, 2.0))], jobs=0)
    write_ledger(ledger, tmp_path / "ledger.json")
    assert read_ledger(tmp_path / "ledger.json") == ledger
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.json"]


@pytest.mark.parametrize("form", ["lipverify-ledger-1", "lipverify-ledger-3", "lipverify-ledger-6"])
def test_a_ledger_of_another_format_is_refused(tmp_path: Path, form: str) -> None:
    ledger = msgspec.to_builtins(run([toy(near_one(value, 1.0))], jobs=0))
    path = tmp_path / "old.json"
    path.write_text(json.dumps({**ledger, "format": form}))
    with pytest.raises(InvalidInput, match=rf"its format is '{form}', this version reads .*; verify again"):
        read_ledger(path)


def test_the_published_schema_is_that_of_the_ledger() -> None:
    published = json.loads((ROOT / "docs/ledger.schema.json").read_text())
    write = "Path('docs/ledger.schema.json').write_text(json.dumps(schema(), indent=1, ensure_ascii=False) + '\\n')"
    assert published == json.loads(json.dumps(schema())), write


# ---- limits


def test_at_equality_the_ratio_decides_and_far_from_the_edge_the_interval_does() -> None:
    law = growth(lambda s: 2 * s**0.5 * (1 + 1 / s), 1e2, 1e12)
    at, far = estimate(law, Allowed(low=0.5)), estimate(law, Allowed(low=0.3))
    assert at.interval == Interval(0.5, 0.5)
    assert at.ratio is not None
    assert at.ratio.power == 0.5
    assert at.ratio.value == pytest.approx(2, abs=at.ratio.error)
    assert far.ratio is None
    assert (far.interval, far.note) == (Interval.around(law.exponent, law.error), "")


# ---- the claims that come with lipverify


def test_every_file_is_in_the_contents_and_every_id_is_unique() -> None:
    ids = [claim.id for claim in all_claims(QUICK)]
    assert len(set(ids)) == len(ids)
    assert {id.partition("/")[0] for id in ids} == set(contents().headings)
    folder = shipped()
    files = {path for path in folder.rglob("*.py") if has_claims(path)}
    assert files == {path for homes in contents().files.values() for path in homes}
    shared = {path for path in folder.rglob("*.py") if path.stem[0] != "_"} - files
    assert shared  # modules shared by theorems and the mathematics of one theorem: each is imported somewhere
    sources = {path: path.read_text("utf-8") for path in folder.rglob("*.py")}
    for path in shared:
        named = re.compile(rf"\b{path.stem}\b")
        assert any(named.search(text) for other, text in sources.items() if other != path), path


def test_a_refuted_claim_has_a_correction() -> None:
    refuted = [claim for claim in all_claims(QUICK) if claim.expected == "refuted"]
    assert len(refuted) > 40
    assert [claim.id for claim in refuted if not claim.corrected] == []


def test_every_claim_that_comes_with_lipverify_has_a_recorded_verdict() -> None:
    assert [claim.id for claim in all_claims(QUICK) if claim.expected is None] == []


def test_a_proving_claim_names_an_existing_claim_with_the_same_verdict() -> None:
    claims = {claim.id: claim for claim in all_claims(QUICK)}
    proofs = [claim for claim in claims.values() if claim.proves]
    assert len(proofs) > 40
    assert [proof.id for proof in proofs if proof.expected != claims[proof.proves].expected] == []


def test_asymptotic_claims_reach_dimension_eight_and_1e24() -> None:
    window = select_claims(["softmax.window-printed/relu/lower/ambient"], QUICK)[0]
    assert {cell.where["d"] for cell in window.cells} == {2, 3, 4, 5, 6, 7, 8}
    lengths = [m.arguments[1].where.get("n", 0) for m in window.measurements.values() if len(m.arguments) == 2]
    assert max(lengths) >= 1e24


def test_claims_are_selected_by_id_stem_and_wildcard() -> None:
    one = "softmax.window-printed/affine/lower/ambient"
    assert [claim.id for claim in select_claims([one])] == [one]
    assert len(select_claims(["softmax.window-printed"])) == 16
    assert len(select_claims(["*/ambient"])) >= 8
    with pytest.raises(InvalidInput, match=r"did you mean 'softmax\.window-printed'"):
        select_claims(["softmax.window-print"])
