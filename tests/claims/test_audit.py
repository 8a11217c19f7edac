"""A ledger that was changed anywhere is found out, and a sound one is not accused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipverify.claims.audit import audit
from lipverify.claims.claim import CrossPlan, Measurement
from lipverify.claims.ledger import Ledger
from lipverify.claims.runner import run
from lipverify.claims.verdict import Allowed
from lipverify.cli import main
from lipverify.errors import InvalidInput
from tests import toys

NEAR_ONE, FALSE = Allowed(0.9, 1.1), Allowed(1.2, 1.4)


def value(x: float, error: float = 0.01) -> tuple[float, float]:
    return x, error


def judged(*values: float, **claim: Any) -> Ledger:
    """A ledger of one claim: that these values are 1 within .1."""
    cells = [toys.cell(Measurement(value, (x,)), NEAR_ONE, FALSE, where={"k": k}) for k, x in enumerate(values)]
    return run([toys.claim(*cells, **claim)], jobs=0)


def crossed(second: float) -> CrossPlan:
    both = (Measurement(value, (1.0,)), Measurement(value, (second,)))
    return CrossPlan({}, "x", ("exact", "montecarlo"), both, lambda a, b: ((a[0], b[0]), (a[1], b[1])))


SOUND = {
    "supported": judged(1.0, 1.02),
    "refuted": judged(1.0, 1.3),
    "open": judged(1.1),
    "apart": judged(1.0, cross_checks=(crossed(1.2),)),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_ledger_is_not_accused(name: str, tmp_path: Path) -> None:
    assert audit(SOUND[name]) == ()
    assert audit(msgspec.json.decode(msgspec.json.encode(SOUND[name]), type=Ledger)) == ()


def cell_of(ledger: dict[str, Any]) -> dict[str, Any]:
    return ledger["claims"][0]["cells"][-1]


TAMPERED: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "the verdict of a claim": ("verdict", lambda all: all["claims"][0].update(verdict="refuted")),
    "the verdict of a cell": ("verdict", lambda all: cell_of(all).update(verdict="inconclusive")),
    "the range of a verdict": ("range", lambda all: all["claims"][0].update(range="for every d")),
    "the margin of another cell": ("margin", lambda all: all["claims"][0].update(margin=-0.7)),
    "what a claim says was measured": ("measured", lambda all: all["claims"][0].update(measured="0.1")),
    "what a limit assumes": ("condition", lambda all: all["claims"][0].update(condition="nothing")),
    "the margin of a cell": ("margin", lambda all: cell_of(all).update(margin=0.5)),
    "what is allowed": ("verdict", lambda all: cell_of(all)["allowed"].update(high=1.0)),
    "the interval": ("interval", lambda all: cell_of(all)["interval"].update(high=1.05)),
    "what was measured": ("interval", lambda all: cell_of(all).update(measured=1.0)),
    "the control's verdict": ("control's verdict", lambda all: cell_of(all)["control"].update(verdict="supported")),
    "the control's range": ("control's verdict", lambda all: cell_of(all)["control"].update(low=1.0)),
    "a control that could not fail": ("control", lambda all: cell_of(all)["control"].update(low=0.5, high=2.0)),
    "what the control must be": ("control must be", lambda all: cell_of(all)["control"].update(expects="supported")),
    "whether the controls were caught": ("control", lambda all: all["claims"][0]["control"].update(caught=False)),
    "the grade of a claim": ("grade", lambda all: all["claims"][0].update(grade="proved")),
    "the grade of a cell": ("grade", lambda all: cell_of(all).update(grade="observed")),
    "a claim that stands there twice": ("id", lambda all: all.update(claims=2 * all["claims"])),
    "an error without a reason": (
        "problem",
        lambda all: all["claims"][0].update(verdict="error", cells=[], problem=""),
    ),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_ledger_that_was_changed_is_found_out(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen, change = TAMPERED[what]
    changed = json.loads(msgspec.json.encode(SOUND["supported"]))
    change(changed)
    found = audit(msgspec.convert(changed, Ledger))
    assert seen in {difference.what for difference in found}
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(changed))
    with pytest.raises(SystemExit) as ended:
        main(["audit", str(path)])
    assert ended.value.code == 1
    assert "toy.value" in capsys.readouterr().out


def test_methods_said_to_agree_that_do_not_are_found_out() -> None:
    changed = msgspec.to_builtins(SOUND["apart"])
    changed["claims"][0]["cross_checks"][0]["agrees"] = True
    assert "agrees" in {difference.what for difference in audit(msgspec.convert(changed, Ledger))}


@given(st.floats(0.5, 1.6), st.floats(1e-6, 0.3))
def test_whatever_was_measured_the_ledger_follows_from_its_data(x: float, error: float) -> None:
    cell = toys.cell(Measurement(value, (x, error)), NEAR_ONE, FALSE)
    assert audit(run([toys.claim(cell)], jobs=0)) == ()


def test_a_sound_ledger_gives_exit_code_0_and_an_old_one_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ledger.json"
    path.write_bytes(msgspec.json.encode(SOUND["refuted"]))
    with pytest.raises(SystemExit) as ended:
        main(["audit", str(path)])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("1 claim, 2 cells with their controls: all of it follows")
    with pytest.raises(InvalidInput, match="does not hold the proofs"):
        audit(msgspec.structs.replace(SOUND["refuted"], format="lipverify-ledger-2"))


def test_where_nothing_is_known_a_control_at_other_coordinates_may_have_the_range_of_the_claim() -> None:
    """An infinite error leaves both without an interval; as soon as something is known, such a control is none."""
    ledger = msgspec.to_builtins(judged(1.1))
    record, cell = ledger["claims"][0], cell_of(ledger)
    unknown = {"low": None, "high": None}
    cell.update(interval=unknown, measured=None, error=None, margin=0.0, note="an infinite error")
    cell["control"].update(low=0.9, high=1.1, interval=unknown, margin=0.0, verdict="inconclusive")
    record.update(margin=0.0, measured="unknown")
    assert audit(msgspec.convert(ledger, Ledger)) == ()
    half = {"low": 1.0, "high": None}
    cell.update(interval=half)
    cell["control"].update(interval=half)
    assert "not implied" in str(audit(msgspec.convert(ledger, Ledger)))
