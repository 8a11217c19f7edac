"""Stored models: edited or foreign files are refused, making is resumed and loses one model at most, bits are kept."""

from __future__ import annotations

import json
import lzma
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from lipverify.errors import InvalidInput
from lipverify.foundation.compiling import has_compiler  # internal: whether the kernel can be used here
from lipverify.foundation.provenance import machine_here  # internal: bits are of one machine
from lipverify.linear_transformer.families import NAMES
from lipverify.linear_transformer.published import NOISES
from lipverify.linear_transformer.regression import rare  # internal: its population is made small
from lipverify.linear_transformer.training import (  # internal: the making of models is interrupted
    PLANS,
    Plan,
    Stage,
    Trained,
    lineage,
    name_of,
    names_of,
    read_witness,
    write_witness,
)

# internal: the model from which another one was grown, and models made at sizes for a test
from lipverify.linear_transformer.training.lineage import Model, in_order, make, parents, trained
from lipverify.linear_transformer.training.witness import (  # internal: a file is forged with another weight
    Witness,
    models_folder,
    models_path,
    rounded,
    witness,
    witness_of,
)

SHORT = Plan((Stage(1024, 8, 0, 1.0),), draws=1, random=1, chosen_on=1024, reported_on=1024)
"""The smallest training budget."""
LAW = "uniform-2"


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "slow" not in request.keywords:
        monkeypatch.setattr(rare, "POPULATION", 200)
        for family in NAMES:
            monkeypatch.setitem(PLANS, family, (SHORT, SHORT))


def _lines(path: Path) -> dict[str, Any]:
    lines: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    return lines


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(lzma.compress(text.encode()))


def _edited(folder: Path, name: str, change: Callable[[dict[str, Any]], None]) -> None:
    noise, model = name.split("/")
    path = models_path(folder, noise)
    content = _lines(path)
    change(content[model])
    _write(path, json.dumps(content))


def _weights(content: dict[str, Any]) -> None:
    content["trained"]["weights"][0] = np.nextafter(content["trained"]["weights"][0], 1.0)


EDITS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a weight by one rounding": (_weights, "the file was edited"),
    "the loss": (lambda content: content["trained"]["loss"].update(value=0.0), "the file was edited"),
    "the seed": (lambda content: content.update(seed=1), "the file was edited"),
    "the digest": (lambda content: content.update(digest="0" * 32), "the file was edited"),
    "an older format": (lambda content: content.update(format=0), "format 0"),
    "another field": (lambda content: content.update(note="mine"), "note"),
    "a field less": (lambda content: content.pop("plan"), "plan"),
    "a weight that is no number": (lambda content: content["trained"].update(weights=["a"]), "cannot be read"),
}


@pytest.mark.parametrize("what", EDITS)
def test_a_file_that_was_edited_is_refused(what: str, tmp_path: Path) -> None:
    [made] = make([Model(LAW, "DIAG", 1, 0)], tmp_path)
    assert read_witness(made.name, tmp_path) == made
    change, said = EDITS[what]
    _edited(tmp_path, made.name, change)
    with pytest.raises(InvalidInput, match=said) as refused:
        read_witness(made.name, tmp_path)
    assert "uniform-2/DIAG-1-0" in str(refused.value)
    assert "lipverify train lt.table-1 --noise uniform-2 --family DIAG --layers 1 --seeds 0" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ('{"format": 1, "seed": NaN}', "cannot be read"),
        ("[]", "cannot be read"),
        ("null", "cannot be read"),
        ("{}", "has format None"),
        ('{"format": 1}', "cannot be read"),
        ('{"format": "1"}', "has format '1'"),
    ],
)
def test_an_invalid_witness_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = models_path(tmp_path, LAW)
    _write(path, f'{{"DIAG-1-0": {text}}}')
    with pytest.raises(InvalidInput, match=rf"DIAG-1-0 {said}"):
        read_witness(f"{LAW}/DIAG-1-0", tmp_path)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_witness(f"{LAW}/DIAG-2-0", tmp_path)
    path.unlink()
    with pytest.raises(InvalidInput, match=r"cannot be read \(No such file"):
        read_witness(f"{LAW}/DIAG-1-0", tmp_path)


GOOD = models_path(models_folder(), LAW).read_bytes()
DAMAGED = {
    "notes": b"notes",
    "nothing": b"",
    "cut": GOOD[:-9],
    "a bit": GOOD[:999] + bytes([GOOD[999] ^ 1]) + GOOD[1000:],
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_file_is_refused_before_training_and_unchanged(what: str, tmp_path: Path) -> None:
    path = models_path(tmp_path, LAW)
    path.parent.mkdir()
    path.write_bytes(DAMAGED[what])
    begun = time.process_time()
    with pytest.raises(InvalidInput, match=r"cannot be read \(models.json.xz is damaged: .*; remove it.$"):
        make([Model(LAW, "DIAG", 1, 0)], tmp_path)
    assert time.process_time() - begun < 1.0
    with pytest.raises(InvalidInput, match=r"^witness .* is damaged: .*`lipverify train .*` makes it again.$"):
        read_witness(f"{LAW}/DIAG-1-0", tmp_path)
    assert path.read_bytes() == DAMAGED[what]


def test_a_file_that_holds_no_records_is_refused(tmp_path: Path) -> None:
    path = models_path(tmp_path, LAW)
    _write(path, "notes")
    with pytest.raises(InvalidInput, match="holds no records"):
        names_of(LAW, tmp_path)


def added(folder: Path, seed: int) -> None:
    write_witness(msgspec.structs.replace(witness(LAW, "DIAG", 1, 0), seed=seed), folder)


def test_processes_that_add_to_one_file_lose_nothing(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(added, [tmp_path] * 24, range(24)))
    assert set(names_of(LAW, tmp_path)) == {f"{LAW}/DIAG-1-{seed}" for seed in range(24)}
    assert [path.name for path in tmp_path.rglob("*.json*")] == ["models.json.xz"]


def _copied(folder: Path, name: str, to: str) -> None:
    """Put a line of one file into another, or under another name."""
    (noise, model), (other, there) = name.split("/"), to.split("/")
    line = _lines(models_path(folder, noise))[model]
    path = models_path(folder, other)
    lines = _lines(path) if path.exists() else {}
    _write(path, json.dumps({**lines, there: line}))


def test_a_witness_of_another_name_is_refused(tmp_path: Path) -> None:
    [made] = make([Model(LAW, "DIAG", 1, 0)], tmp_path)
    other = name_of(LAW, "DIAG", 1, 7)
    _copied(tmp_path, made.name, other)
    with pytest.raises(InvalidInput, match="named after its model"):
        read_witness(other, tmp_path)


def test_models_come_after_their_starting_points() -> None:
    every = in_order([Model(LAW, "FULL", 3, 0), Model(LAW, "OMEGA", 1, 0)])
    assert len(every) == len(set(every)) == 7
    for place, model in enumerate(every):
        for family, layers in parents(model.family, model.layers):
            assert model._replace(family=family, layers=layers) in every[:place]


def test_training_continues_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed in the third model: two are kept and not made again; the third has the bits of an undisturbed run."""
    wanted = [Model(LAW, "OMEGA", 2, 0)]
    made: list[tuple[str, int]] = []

    def counted(noise: str, family: str, layers: int, *rest: Any) -> Trained:
        if len(made) == 2 and killed:
            raise KeyboardInterrupt
        made.append((family, layers))
        return trained(noise, family, layers, *rest)

    monkeypatch.setattr(lineage, "trained", counted)
    killed = True
    with pytest.raises(KeyboardInterrupt):
        make(wanted, tmp_path / "stopped")
    assert names_of(LAW, tmp_path / "stopped") == (f"{LAW}/DIAG-1-0", f"{LAW}/OMEGA-1-0")
    assert sorted(path.name for path in (tmp_path / "stopped").rglob("*")) == ["models.json.xz", LAW]
    killed = False
    [found] = make(wanted, tmp_path / "stopped")
    assert made == [("DIAG", 1), ("OMEGA", 1), ("DIAG", 2), ("OMEGA", 2)]
    [whole] = make(wanted, tmp_path / "whole")
    assert found.trained == whole.trained
    make(wanted, tmp_path / "whole")
    assert len(made) == 8


def test_other_settings_other_parents_and_edits_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, parent = Model(LAW, "OMEGA", 1, 0), Model(LAW, "DIAG", 1, 0)
    fresh: list[Model] = []

    def again() -> list[Model]:
        fresh.clear()
        make([model], tmp_path, made=lambda done, total, each, witness, new: fresh.append(each) if new else None)
        return list(fresh)

    assert again() == [parent, model]
    assert again() == []
    _edited(tmp_path, name_of(*model), _weights)
    assert again() == [model]
    older = read_witness(name_of(*parent), tmp_path)
    write_witness(_with_another_weight(older), tmp_path)
    assert again() == [model]  # it was grown from another model
    monkeypatch.setitem(PLANS, "DIAG", (Plan(SHORT.stages, 1, 2, 1024, 1024), SHORT))
    assert again() == [parent, model]


def _with_another_weight(witness: Witness) -> Witness:
    weights = (witness.trained.weights[0] * 1.01, *witness.trained.weights[1:])
    from msgspec.structs import replace

    changed = replace(witness.trained, weights=weights)
    return witness_of(changed, witness.seed, witness.plan, witness.grown_from, witness.seconds)


def test_every_witness_that_comes_with_lipverify_is_good_and_of_one_line() -> None:
    """Digests, names, plans and parents of all; and the laws are those of the table."""
    laws, folder = {law.name for law in NOISES}, models_folder()
    assert {path.name for path in folder.glob("*/*")} == {"models.json.xz", "tables.json.xz", "protocol.json.xz"}
    names = [name for path in folder.glob("*/models.json.xz") for name in names_of(path.parent.name)]
    found = {name: read_witness(name, folder) for name in names}
    assert len(found) > 770
    for name, there in found.items():
        assert there.trained == rounded(there.trained)
        assert there.noise in laws
        for (family, layers), digest in zip(parents(there.family, there.layers), there.grown_from, strict=True):
            assert found[name_of(there.noise, family, layers, there.seed)].digest == digest, name


@pytest.mark.slow
@pytest.mark.parametrize("family", NAMES)
def test_training_again_gives_the_stored_witness(family: str, tmp_path: Path) -> None:
    """Bit for bit on the machine that the file names, before the weights are rounded; elsewhere the same loss.

    Other roundings may end in another of the starts' valleys, which changes the loss by a few percent, like the seed.
    SAFEFULL, whose ancestors take minutes, only has the same loss.
    """
    law, layers = ("uniform-1", 5) if family == "SAFEFULL" else ("uniform-3", 2)
    there = witness(law, family, layers)
    arithmetic: Any = there.trained.arithmetic
    if arithmetic == "native" and not has_compiler():
        arithmetic = "array"
    if family == "SAFEFULL":
        older = [witness(law, *each).trained for each in parents(family, layers)]
        again = trained(law, family, layers, 0, older, arithmetic)
    else:
        again = make([Model(law, family, layers, 0)], tmp_path, arithmetic)[0].trained
        if there.machine == machine_here():
            assert rounded(again) == there.trained
    assert again.loss.value == pytest.approx(there.trained.loss.value, rel=0.05)
