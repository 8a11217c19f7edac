"""The checker: accepts the proofs that are found, rejects false ones, and needs nothing of the library."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lipverify.laws import Affine, Cosine, Quadratic, ReLU, Ridge, Zonal
from lipverify.problem.law import Law
from lipverify.proofs import Gaussian, Kinked, Powers, checker, load, prove_envelope, prove_window
from lipverify.proofs.controls import controls

LAWS: dict[str, Law] = {
    "affine": Affine(),
    "quadratic": Quadratic(),
    "relu": ReLU(),
    "cosine": Cosine(L=2.0),
    "zonal": Zonal(spectrum=(3.0, 1.0, 0.5, 0.0, 0.25)),
    "kinked": Ridge(Kinked(0.1, 1.0), kinks=(0.0,)),
    "link": Ridge(Powers((0.0, 1.0, 2.0, 1.0))),
    "powers": Zonal(Powers((1.0, 1.0, 0.5))),
    "rbf": Zonal(Gaussian(1.0)),
}
CASES = [(law, d) for law in LAWS for d in (2, 3, 5, 8)]


@cache
def proof(law: str, d: int) -> dict[str, Any]:
    return prove_window(LAWS[law], d).data


@pytest.mark.parametrize(("law", "d"), CASES)
def test_a_proof_is_accepted_and_every_control_of_every_lemma_rejected(law: str, d: int) -> None:
    assert checker.failures(proof(law, d)) == []
    seen = set()
    for what, control in controls(proof(law, d)):
        assert checker.failures(control), what
        seen.add(what.partition(" ")[0])
    assert seen == {lemma["name"] for lemma in proof(law, d)["lemmas"]}


def damaged(change: str) -> dict[str, Any]:
    control = copy.deepcopy(proof("affine", 3))
    lemmas, window = control["lemmas"], control["lemmas"][-2]
    match change:
        case "a lemma left out":
            del lemmas[2]
        case "two lemmas in the other order":
            lemmas[2], lemmas[3] = lemmas[3], lemmas[2]
        case "a constant that another lemma has certified":
            window["constants"]["b_low"] = "1"
        case "a constant left out":
            del window["constants"]["loss_low"]
        case "not a number":
            window["constants"]["low"] = "nan"
        case "an infinite constant":
            lemmas[2]["constants"]["D_high"] = "inf"
        case "a ball that holds anything":
            lemmas[2]["constants"]["D_low"] = "[1 +/- 1e9]"
        case "other words":
            lemmas[0]["says"] = "w* = 1"
        case "another reason":
            lemmas[0]["because"] = "Because it is."
        case "another dimension":
            control["d"] = 4
        case "no dimension":
            control["d"] = True
        case "another law":
            control["law"] = "quadratic"
        case "no law":
            control["law"] = "cubic"
        case "a law with an L that it does not have":
            control["law"] = "affine:1"
        case "cosine without its L":
            control["law"] = "cosine"
        case "another format":
            control["format"] = "lipverify proof 0"
        case "more than it proves":
            control["theorem"] = "envelope"
    return control


@pytest.mark.parametrize(
    "change",
    [
        "a lemma left out",
        "two lemmas in the other order",
        "a constant that another lemma has certified",
        "a constant left out",
        "not a number",
        "an infinite constant",
        "a ball that holds anything",
        "other words",
        "another reason",
        "another dimension",
        "no dimension",
        "another law",
        "no law",
        "a law with an L that it does not have",
        "cosine without its L",
        "another format",
        "more than it proves",
    ],
)
def test_a_damaged_proof_is_rejected(change: str) -> None:
    assert checker.failures(damaged(change))


def test_the_checker_stands_alone(tmp_path: Path) -> None:
    """In a process of its own it loads python-flint and the standard library, nothing else."""
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(proof("relu", 3)))
    bad.write_text(json.dumps(next(control for _, control in controls(proof("relu", 3)))))
    run = [sys.executable, "-X", "importtime", str(Path(checker.__file__).parent), str(good)]
    done = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path, env={"PYTHONPATH": ""}, check=False)
    assert done.returncode == 0
    assert ": proved: relu, d = 3: " in done.stdout
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "flint" in loaded
    assert not loaded & {"lipverify", "numpy", "scipy", "sympy", "msgspec"}
    assert subprocess.run([*run[:-1], str(bad)], capture_output=True, cwd=tmp_path, check=False).returncode == 1


def test_a_proof_file_is_read_back(tmp_path: Path) -> None:
    for proved in (prove_window(Affine(), 3), prove_envelope(ReLU(), 3, least_w=500)):
        proved.save(tmp_path / "proof.json")
        assert load(tmp_path / "proof.json") == proved
        assert proved.failures() == []


@pytest.mark.parametrize(
    ("of", "law"),
    [
        *(("zonal", f"zonal{text}") for text in ("", ":1", ":0,-1", ":0,nan", ":0,inf")),
        *(("powers", f"powers{text}") for text in ("", ":1", ":0,-1", ":0,0", ":0,inf")),
        *(("link", f"link{text}") for text in ("", ":1", ":0,0", ":0,nan", ":0,1,2,1.01")),
        *(("rbf", f"rbf{text}") for text in ("", ":0", ":-1", ":1,2", ":1,1,1", ":0.99")),
        *(("kinked", f"kinked{text}") for text in ("", ":1", ":1,0", ":1,1,1", ":0.55,0.46")),
        ("zonal", "affine:0,1"),
        ("relu", "relu:1"),
    ],
)
def test_numbers_after_a_name_must_be_the_law_s(of: str, law: str) -> None:
    assert checker.failures(proof(of, 3) | {"law": law})


def test_numbers_that_are_none_are_no_proof_file(tmp_path: Path) -> None:
    (tmp_path / "proof.json").write_text(json.dumps(proof("zonal", 3) | {"law": "zonal:"}))
    assert checker.main([str(tmp_path / "proof.json")]) == 2


def test_another_spectrum_needs_another_proof() -> None:
    assert checker.failures(proof("zonal", 3) | {"law": "zonal:3.0,1.0,0.5,0.0,0.26"})
