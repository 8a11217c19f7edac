"""The comparison of two ledgers: every change is reported with its reason, and nothing else."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lipverify.claims.ledger import (
    Allowed,
    Cell,
    ClaimChange,
    Comparison,
    Control,
    Ledger,
    Record,
    compare,
    write_ledger,
)
from lipverify.errors import InvalidInput
from tests import ROOT
from tests.commands import Commands, Done
from tests.ledgers import ledger, realistic, record

CLAIM = record()


def with_cell(place: int, **changes: Any) -> Record:
    """The claim with one cell changed."""
    cells = list(CLAIM.cells)
    cells[place] = replace(cells[place], **changes)
    return replace(CLAIM, cells=tuple(cells))


def only(before: Record, after: Record) -> ClaimChange:
    (change,) = compare(ledger((before,)), ledger((after,))).claims
    return change


def test_a_verdict_that_moved_names_the_cell_that_moved_it() -> None:
    moved = replace(with_cell(3, measured=0.1, verdict="refuted"), verdict="supported")
    change = only(CLAIM, moved)
    assert (change.kind, change.before, change.after) == ("verdict", "refuted", "supported")
    (cell,) = change.cells
    assert cell.where == CLAIM.cells[3].where
    assert cell.changed == ("verdict", "measured")
    assert cell.before == CLAIM.cells[3]
    assert cell.after == moved.cells[3]


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        (replace(CLAIM, verdict="error", problem="TimeLimit"), "verdict"),
        (replace(CLAIM, control=Control(statement=CLAIM.control.statement, caught=False)), "control"),
        (with_cell(0, measured=7.0), "values"),
        (with_cell(0, measured=None, error=None), "values"),
        (with_cell(0, allowed=Allowed(low=0.1)), "evidence"),
        (with_cell(0, where={"d": 99}), "evidence"),
        (replace(CLAIM, cells=CLAIM.cells[1:]), "evidence"),
        (replace(CLAIM, cross_checks=()), "evidence"),
        (replace(CLAIM, statement="w > 0"), "evidence"),
        (replace(CLAIM, problem="a problem"), "evidence"),
        (replace(CLAIM, seconds=99.0, finding="in other words", figures=()), "same"),
        (with_cell(0, note="another note"), "same"),
    ],
)
def test_a_claim_has_the_most_serious_of_its_changes(after: Record, kind: str) -> None:
    there, back = only(CLAIM, after), only(after, CLAIM)
    assert there.kind == back.kind == kind


def test_claims_of_one_ledger_only() -> None:
    other = record("softmax.other")
    found = compare(ledger((CLAIM,)), ledger((other,)))
    assert [(change.id, change.kind) for change in found.claims] == [(CLAIM.id, "only in A"), (other.id, "only in B")]
    assert [(change.before, change.after) for change in found.claims] == [("refuted", None), (None, "refuted")]
    assert found.moved


def test_a_failed_cross_check_is_given_as_the_reason() -> None:
    first, *others = CLAIM.cross_checks
    apart = replace(CLAIM, verdict="inconclusive", cross_checks=(replace(first, agrees=False), *others))
    (check,) = only(CLAIM, apart).cross_checks
    assert check.changed == ("agrees",)
    assert check.before == first


def measured(value: float, error: float | None) -> Record:
    return with_cell(0, measured=value, error=error)


@given(
    st.floats(-1e6, 1e6), st.floats(1e-9, 1e3), st.floats(1e-9, 1e3), st.floats(-0.99, 0.99), st.floats(1.01, 1e3)
)  # fmt: skip
def test_only_disjoint_intervals_count_as_moved(
    value: float, one: float, other: float, near: float, far: float
) -> None:
    both = one + other
    close = only(measured(value, one), measured(value + near * both, other))
    assert close.kind == "same"
    assert close.within == (value != value + near * both)
    apart = value + far * both
    # the rounding of both midpoints may hide a smaller difference
    if abs(apart - value) - both > 4 * sys.float_info.epsilon * (abs(value) + abs(apart)):
        assert only(measured(value, one), measured(apart, other)).kind == "values"


@pytest.mark.parametrize("error", [0.0, None])
def test_an_exact_value_moves_by_more_than_its_rounding(error: float | None) -> None:
    assert only(measured(0.1, error), measured(math.nextafter(0.1, 1), error)).kind == "same"
    assert only(measured(0.1, error), measured(0.1 + 1e-15, error)).kind == "values"


def test_cells_with_equal_coordinates_are_compared_in_order() -> None:
    twice = (replace(CLAIM.cells[0], measured=1.0), replace(CLAIM.cells[0], measured=2.0))
    claim = replace(CLAIM, cells=twice)
    assert only(claim, claim).kind == "same"
    assert len(only(claim, replace(claim, cells=twice[::-1])).cells) == 2


def test_the_comparison_names_the_versions_of_both_runs() -> None:
    one = realistic()
    made = replace(one.provenance, versions={**one.provenance.versions, "numpy": "2.9.9", "jax": "1.0"})
    other = replace(one, seed=8, profile="full", backend="cupy", provenance=made)
    found = {setting.name: (setting.before, setting.after) for setting in compare(one, other).settings}
    assert found == {
        "seed": ("7", "8"), "profile": ("quick", "full"), "backend": ("numpy", "cupy"),
        "numpy": ("2.4.6", "2.9.9"), "jax": ("", "1.0"),
    }  # fmt: skip
    assert not compare(one, other).moved


def test_two_claims_of_one_id_are_refused() -> None:
    with pytest.raises(InvalidInput, match="ledger B holds 2 claims"):
        compare(ledger((CLAIM,)), ledger((CLAIM, CLAIM)))


# ---- the command ----


Diff = Callable[..., Done]


@pytest.fixture
def diff(lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Diff:
    """The command on two ledgers."""

    def diff(one: Ledger, other: Ledger, *options: str) -> Done:
        monkeypatch.chdir(tmp_path)
        write_ledger(one, tmp_path / "a.json")
        write_ledger(other, tmp_path / "b.json")
        return lipverify("diff", "a.json", "b.json", *options)

    return diff


def after(one: Ledger) -> Ledger:
    """A ledger with a change of every kind."""
    first, second, third, *others = one.claims
    cell: Cell = replace(first.cells[0], measured=0.9, verdict="supported", allowed=Allowed(low=0.2, open=True))
    moved = replace(first, verdict="supported", cells=(cell, *first.cells[2:]))
    cured = replace(third, control=Control(statement=third.control.statement, caught=True))
    value = replace(second, cells=(replace(second.cells[0], measured=0.2), *second.cells[1:]))
    return replace(one, seed=9, claims=(moved, value, cured, *others[1:], record("own.new/claim")))


def test_the_command_lists_changes_with_reasons_and_colour_adds_nothing_but_colour(diff: Diff, tmp_path: Path) -> None:
    done = diff(realistic(), after(realistic()))
    assert done.returncode == 1
    assert done.stderr == ""
    text = re.sub(r"\s+", " ", done.stdout)
    for said in (
        "seed 7 → 9",
        "Verdicts that moved: 1",
        "affine/lower/ambient ✗ refuted → ✓ supported",
        "d = 2, law = affine: ✗ refuted → ✓ supported",
        "0.40000030 ± 6.7e−7 → 0.9 ± 6.7e−7, beyond the errors; allowed [0.5, ∞) → (0.2, ∞)",
        "gone cell d = 3, law = affine",
        "the control is caught again",
        "Only in A: 1",
        "Only in B: 1",
        "values that moved beyond their errors: 1",
        "2 of 7 claims are the same",
    ):
        assert said in text, said
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "\x1b" not in done.stdout
    coloured = subprocess.run(
        [sys.executable, "-m", "lipverify", "diff", "a.json", "b.json"], capture_output=True, text=True, cwd=tmp_path,
        env={"COLUMNS": "80", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "FORCE_COLOR": "1", "TERM": "xterm-256color"},
        check=False,
    )  # fmt: skip
    assert "\x1b[" in coloured.stdout
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured.stdout) == done.stdout


def test_nothing_moved_is_exit_code_0(diff: Diff) -> None:
    done = diff(realistic(), replace(realistic(), seed=8))
    assert done.returncode == 0
    assert "6 of 6 claims are the same" in done.stdout


def test_json_holds_the_whole_comparison(diff: Diff) -> None:
    done = diff(realistic(), after(realistic()), "--json")
    assert done.returncode == 1
    content = json.loads(done.stdout)
    assert content.pop("moved") is True
    assert msgspec.convert(content, Comparison) == compare(realistic(), after(realistic()))


def test_a_long_list_is_cut_and_counted(diff: Diff) -> None:
    cells = tuple(replace(CLAIM.cells[0], where={"d": d}) for d in range(40))
    one = ledger((replace(CLAIM, cells=cells),))
    other = ledger((replace(CLAIM, verdict="supported", cells=tuple(replace(c, verdict="error") for c in cells)),))
    assert "and 32 more cells" in diff(one, other).stdout
