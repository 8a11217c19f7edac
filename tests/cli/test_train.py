"""`lipverify train` trains and keeps models, compares them with the shipped ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lipverify.linear_transformer.families import NAMES
from lipverify.linear_transformer.regression import rare  # internal: the test makes its population small
from lipverify.linear_transformer.training import PLANS, Plan, Stage, names_of, read_witness
from tests.cli.test_cli import ONE_MODEL, TRAIN
from tests.commands import Commands

SHORT = Plan((Stage(1024, 8, 0, 1.0),), draws=1, random=1, chosen_on=1024, reported_on=1024)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rare, "POPULATION", 200)
    for family in NAMES:
        monkeypatch.setitem(PLANS, family, (SHORT, SHORT))


def test_models_are_made_and_kept(lipverify: Commands, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    first = lipverify(*TRAIN, *ONE_MODEL, "--out", str(out), "--json", "--backend", "numpy")
    assert first.returncode == 0, first.stderr
    [line] = json.loads(first.stdout)
    assert line["model"] == "uniform-2/OMEGA-1-0"
    [path] = out.rglob("*.json.xz")
    kept, text = read_witness(line["model"], out), path.read_bytes()
    assert (kept.trained.arithmetic, kept.layers, kept.seed) == ("array", 1, 0)
    assert kept.command == "lipverify train lt.table-1 --noise uniform-2 --family OMEGA --layers 1 --seeds 0"
    assert names_of("uniform-2", out) == ("uniform-2/DIAG-1-0", line["model"])  # the first model is the parent
    again = lipverify(*TRAIN, *ONE_MODEL, "--out", str(out))
    assert again.returncode == 0
    assert path.read_bytes() == text
    assert "uniform-2" in again.stdout


def test_help_has_an_example_and_a_cost(lipverify: Commands) -> None:
    shown = " ".join(lipverify("train", "--help").stdout.split())
    assert "lipverify train lt.table-1 --noise uniform-3" in shown
    assert "Cost" in shown
