"""Trainings as data: a file gives the result of the training, applies only to its own settings, and is verified."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from lipverify import Problem
from lipverify.claims.plan import select_claims
from lipverify.cli.train import CLAIMS  # internal: the statements with stored trainings
from lipverify.errors import InvalidInput
from lipverify.foundation import Floats
from lipverify.foundation.shipped import shipped

# internal: a file is forged with a valid digest
from lipverify.foundation.store import read_record, sealed, write_record
from lipverify.laws import ReLU
from lipverify.optimum.pretraining import Recipe
from lipverify.optimum.pretraining import kept as module  # internal: its folder is replaced by one of the test

# internal: the format of a kept training, to forge and to age it
from lipverify.optimum.pretraining.kept import ALIKE, FOLDER, FORMAT, Doubles, Kept, making

PROBLEM = Problem(d=2, n=4, law=ReLU(L=2.0), sigma=0.5)
RECIPE = Recipe(optimiser="adam", learning_rate=0.05, steps=12, batch=4, start=0.5)
FILES = sorted((shipped() / FOLDER).rglob("*.json"))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of the shipped one, with one training in it."""
    monkeypatch.setattr(module, "shipped", lambda: tmp_path)
    with making(tmp_path / FOLDER):
        asked()
    return tmp_path / FOLDER / "mine" / "run.json"


def asked(recipe: Recipe = RECIPE, seed: int = 0, runs: int = 3) -> Floats:
    return recipe.kept("mine/run", PROBLEM, [f"mine/{k}" for k in range(runs)], every=4, seed=seed)


def trained_steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The list of trainings from now on: (runs, steps)."""
    seen, runs = [], Recipe.runs

    def watched(self: Recipe, problem: Problem, streams: Any, **options: Any) -> Any:
        seen.append((len(streams), self.steps))
        return runs(self, problem, streams, **options)

    monkeypatch.setattr(Recipe, "runs", watched)
    return seen


def test_a_stored_training_is_checked_by_the_first_steps_of_one_run(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = trained_steps(monkeypatch)
    found = asked()
    assert seen == [(1, 4)]
    files.unlink()
    again = asked()
    assert seen[1:] == [(3, 12)]
    assert found.shape == (3, 4, 2, 2)
    assert np.array_equal(found, again)


@pytest.mark.parametrize(
    "other", [{"seed": 1}, {"runs": 2}, {"recipe": msgspec.structs.replace(RECIPE, learning_rate=0.06)}]
)
def test_another_question_is_trained(files: Path, monkeypatch: pytest.MonkeyPatch, other: dict[str, Any]) -> None:
    seen = trained_steps(monkeypatch)
    found = asked(**other)
    assert seen == [(other.get("runs", 3), 12)]
    files.unlink()
    assert np.array_equal(found, asked(**other))


def _cut(content: dict[str, Any]) -> None:
    content["arrays"]["M"]["shape"][0] = 2


def _of_another_form(content: dict[str, Any]) -> None:
    content["format"] = FORMAT + 1


def _of_another_seed(content: dict[str, Any]) -> None:
    content["asked"]["seed"] = 1


@pytest.mark.parametrize("change", [_cut, _of_another_form, _of_another_seed])
def test_a_file_that_was_edited_is_refused(files: Path, change: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(files.read_text())
    change(content)
    files.write_text(json.dumps(content))
    with pytest.raises(InvalidInput, match=r"training mine/run.*(digest|format)") as refused:
        asked()
    assert "lipverify train mine" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("share", [1e-4, float("nan")])
def test_a_file_with_other_first_steps_is_refused_despite_a_valid_digest(files: Path, share: float) -> None:
    kept = read_record(files, Kept, FORMAT, "it", "")
    M = kept.arrays["M"].values
    M[0, 1] += share * np.max(np.abs(M))
    assert not share <= ALIKE
    forged = msgspec.structs.replace(kept, arrays={**kept.arrays, "M": Doubles.of(M)})
    write_record(sealed(forged), files)
    with pytest.raises(InvalidInput, match="does not begin as it does here in M"):
        asked()


def test_every_file_is_one_that_a_claim_asks_for() -> None:
    wanted = {id: sum(len(claim.cells) > 0 for claim in select_claims([id])) for id in CLAIMS}
    assert all(wanted.values())
    assert {path.relative_to(shipped() / FOLDER).parts[0] for path in FILES} == set(CLAIMS)
    for path in FILES:
        kept = read_record(path, Kept, FORMAT, path.name, "")
        assert path == shipped() / FOLDER / f"{kept.name}.json"
        assert {doubles.shape[0] for doubles in kept.arrays.values()} == {len(kept.asked["streams"])}


@pytest.mark.slow
@pytest.mark.parametrize("id", CLAIMS)
def test_training_again_gives_the_stored_values(id: str, tmp_path: Path) -> None:
    from lipverify.cli.app import ModelOptions  # internal: the options of the command, whose models are compared
    from lipverify.cli.train import train_models  # internal: the command, whose models are compared

    assert train_models(id, ModelOptions(), None, tmp_path, False) == 0
    made = sorted(tmp_path.rglob("*.json"))
    assert [path.relative_to(tmp_path) for path in made] == [
        path.relative_to(shipped() / FOLDER) for path in FILES if path.is_relative_to(shipped() / FOLDER / id)
    ]
    for path in made:
        fresh = read_record(path, Kept, FORMAT, path.name, "")
        old = read_record(shipped() / FOLDER / path.relative_to(tmp_path), Kept, FORMAT, path.name, "")
        assert fresh.asked == old.asked
        for name, doubles in old.arrays.items():
            scale = np.max(np.abs(doubles.values))
            # another processor sums in another order, and training amplifies the difference
            bound = 0.0 if fresh.machine == old.machine else 1e-6 * scale
            assert np.max(np.abs(fresh.arrays[name].values - doubles.values)) <= bound
