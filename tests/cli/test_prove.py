"""`prove` and `check-proof`, as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lipverify import proofs

# internal: the folder of proofs, and its caches
from lipverify.claims.evidence.theorems import FOLDER, certified, proved_rates, proved_window
from lipverify.claims.plan import all_claims, profile_named
from lipverify.cli import commands
from lipverify.cli.prove import provable  # internal: the cells that ask for a proof
from lipverify.errors import InvalidInput
from lipverify.foundation.shipped import shipped
from lipverify.laws import Law, ReLU
from lipverify.proofs import Proof, checker, load, prove_layers, prove_transfer, prove_window
from tests.commands import Commands

SLOW = pytest.mark.slow
COMMITTED = sorted((shipped() / FOLDER).glob("*.json"))
BLOCKS = {f"lowrank-blocks-{case}" for case in ("3", "3-noise", "5")}
BEST = {f"lowrank-best-{case}" for case in ("2-1-2", "2-1-2-noise", "2-1-12", "3-1-3", "3-2-20")}
EVERY = {f"every-{law}-{d}" for law in ("affine", "relu") for d in (2, 3, 5)}
FALLING = {f"falling-relu-{d}-1000" for d in (2, 3, 5, 8)}
LONG = EVERY | FALLING | BEST | BLOCKS
"""Marked slow because each takes seconds; tests/proofs/test_checker.py checks one of each kind, the longest in part.
"""


def run(*arguments: str) -> int:
    return int(commands()(arguments, result_action="return_value"))


def test_prove_prints_statement_lemmas_constants_and_time(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run("prove", "softmax.window-derived/relu", "--d", "3", "--out", str(tmp_path)) == 0
    printed = capsys.readouterr().out
    proof = load(tmp_path / "relu-3.json")
    assert proof.failures() == []
    assert proof.statement in printed
    for lemma in proof.lemmas:
        assert lemma.says in printed
        assert lemma.because in printed
        assert all(f"{name} = {value:.8g}" in printed for name, value in lemma.constants.items())
    assert "proved and checked in" in printed


def test_prove_as_json_for_every_law_and_dimension_that_a_claim_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("prove", "softmax.noise-rate", "--d", "2", "3", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [(proof["law"], proof["d"]) for proof in found] == [("affine", 2), ("affine", 3)]
    assert all(checker.failures(proof) == [] for proof in found)


def test_a_theorem_out_of_reach_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("prove", "--law", "cosine(300)", "--d", "3", "--json") == 1
    assert "ask for a smaller d" in capsys.readouterr().err


def test_a_law_invalid_in_every_dimension_is_refused_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "laws.py"
    file.write_text(
        "from lipverify.covariates import axes\n"
        "from lipverify.laws import Cosine, LowRank\n"
        "LOW = LowRank(axes(3, 1), Cosine(4.0))\n"
    )
    assert run("prove", "--law", f"{file}:LOW") == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(
    ("id", "files"),
    [
        ("softmax.tradeoff/relu/noise", {f"tradeoff-relu-{d}" for d in (2, 3, 5)}),
        ("softmax.tradeoff/affine/bias/every-window/proved", {f"rising-affine-{d}-3" for d in (2, 3, 5)}),
        ("softmax.hoelder/window", {"rough-0.25-2", "rough-0.5-2"}),
        ("softmax.lipschitz-notion/breaks/clip/window/proved", {f"clip-{d}" for d in (2, 3, 5)}),
        ("softmax.covariance-inversion", {"covariance-space"}),
        pytest.param("lowrank.boundary", {"lowrank-radius", "lowrank-tiny-ball"}, marks=SLOW),
        # tests/proofs/test_blocks.py proves one of these
        pytest.param("lowrank.recovery/sphere/blocks/explicit/proved", BLOCKS, marks=SLOW),
        ("lt.second-order", {"lt-layers"}),
        ("softmax.window-every-dimension/affine", {"dimensions-affine"}),
        ("lt.expressive-limit", {"lt-cosine"}),
        ("lt.noise-adaptive/rate/yx-yy/proved", {f"lt-ridge-{d}-{level}-yx" for d in (1, 2, 5) for level in (1, 2)}),
        # both readings are measured together
        pytest.param(
            "softmax.values-ignore-covariates/relu/c/offset/proved",
            {"scale-relu-3-100-offset", "scale-relu-3-100-no-offset"},
            marks=SLOW,
        ),
        pytest.param("lowrank.recovery/sphere/every-matrix/proved", BEST, marks=SLOW),
        *(
            pytest.param(f"softmax.window-every-dimension/{law}", {f"dimensions-{law}"}, marks=SLOW)
            for law in ("quadratic", "relu")
        ),
        pytest.param(
            "softmax.window-directions",
            {f"optimum-cosine-{L}-2-1000-13" for L in (3, 4)}
            | {f"{law}-{d}" for law in ("affine", "relu") for d in (2, 3, 5, 8)},  # w* grows like a power of Lambda
            marks=SLOW,
        ),
    ],
)
def test_every_kind_of_theorem_is_proved_again_as_committed(
    id: str, files: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("prove", id, "--out", str(tmp_path)) == 0
    printed = capsys.readouterr().out
    assert {path.stem for path in tmp_path.iterdir()} == files
    for name in files:
        proof = load(tmp_path / f"{name}.json")
        assert proof.failures() == []
        assert proof.statement in printed
        recorded = load(shipped() / FOLDER / f"{name}.json").data
        assert {**proof.data, "lemmas": ()} == {**recorded, "lemmas": ()}  # late digits of a search vary


def test_a_theorem_of_many_cells_is_proved_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[Law] = []
    whole = proofs.prove_every_dimension

    def counted(law: Law) -> Proof:
        calls.append(law)
        return whole(law)

    monkeypatch.setattr(proofs, "prove_every_dimension", counted)
    assert run("prove", "softmax.window-every-dimension/affine", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) == len(calls) == 1


@pytest.mark.parametrize(
    "id", ["softmax.hoelder/largest-order", "softmax.split", "softmax.tradeoff/relu/bias/relevant"]
)
def test_a_claim_without_a_proof_file_says_so(id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("prove", id) == 1
    assert f"{id}: no proof file is behind it" in capsys.readouterr().err
    assert run("prove", "softmax.tradeoff/relu/noise", "--d", "11") == 1
    assert "d=11" in capsys.readouterr().err


def test_a_claim_that_another_one_proves_has_the_proof_of_that(tmp_path: Path) -> None:
    """The proof is that of the claim alone, not of its whole statement; if both are requested it appears once."""
    assert run("prove", "softmax.hoelder/loss", "softmax.hoelder/loss/proved", "--d", "3", "--out", str(tmp_path)) == 0
    assert {path.stem for path in tmp_path.iterdir()} == {"rough-0.25-3", "rough-0.5-3"}


def test_one_dimension_of_a_claim(tmp_path: Path) -> None:
    assert run("prove", "softmax.tradeoff/relu/noise", "--d", "8", "--out", str(tmp_path)) == 0
    assert [path.stem for path in tmp_path.iterdir()] == ["tradeoff-relu-8"]


def test_without_a_claim_it_lists_the_provable_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("prove", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["softmax.window-derived/affine/sharp/proved"] == " ".join(f"d={d}" for d in range(2, 9))
    assert listed["softmax.tradeoff/affine/noise/proved"] == "d=2 d=3 d=5"
    assert run("prove") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in listed)


@pytest.mark.slow
def test_all_that_is_listed_has_a_proof(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("prove", "--json") == 0
    for name in json.loads(capsys.readouterr().out):
        assert run("prove", name, "--json") == 0
        assert json.loads(capsys.readouterr().out), name


def test_a_law_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my.py").write_text(
        "from lipverify.laws import Ridge\nfrom lipverify.proofs import Pieces\n"
        "CLIP = Ridge(Pieces((-0.5, 0.5), ((-0.5,), (0.0, 1.0), (0.5,))), kinks=(-0.5, 0.5))\n"
    )
    assert run("prove", "--law", f"{tmp_path}/my.py:CLIP", "--d", "3", "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["law"] == "kinks:-0.5,0.5|-0.5|0.0,1.0|0.5"
    assert checker.failures(found) == []


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "write .*my.py:NAME"),
        (":", "write .*my.py:NAME"),
        (":points", "points must be a law, such as .*, or a function of L"),
        (":made", "made must be a law, such as .*, or a function of L"),
        (":nothing", "there is no nothing in the file"),
    ],
)
def test_a_name_that_is_no_law_is_refused_with_the_way_out(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "my.py").write_text(
        "from lipverify.laws import ReLU\ndef points(z): return z\ndef made(): return ReLU()\n"
    )
    with pytest.raises(InvalidInput, match=says):
        run("prove", "--law", f"{tmp_path}/my.py{name}")


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow) if path.stem in LONG else path for path in COMMITTED],
    ids=lambda path: path.stem,
)
def test_a_committed_proof_is_one(path: Path) -> None:
    assert load(path).failures() == []


@pytest.fixture
def uncertified(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The checker believes every proof file, and no answer of it is kept after the test."""
    monkeypatch.setattr(checker, "failures", lambda data: [])
    proved_window.cache_clear()
    yield
    proved_window.cache_clear()
    certified.cache_clear()


@pytest.mark.usefixtures("uncertified")
def test_every_committed_proof_is_asked_for_by_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """All claims are measured that rest on proofs; a file whose proof is of something else than its name is refused."""
    proofs, asked = {path.stem: load(path) for path in COMMITTED}, set()

    def named(name: str, prove: Callable[[], Proof]) -> Proof:
        asked.add(name)
        return proofs.get(name) or prove()  # the full profile has dimensions without a file

    monkeypatch.setattr("lipverify.claims.evidence.theorems.committed", named)
    results: dict[str, Any] = {}
    for plan in (plan for claim in all_claims(profile_named("full")) for plan in provable(claim)):
        for needed in plan.measurement.with_needs():
            if needed.address not in results:
                results[needed.address] = needed.run(*(results[need.address] for need in needed.needs))
    assert asked >= set(proofs)


def test_check_proof_accepts_and_rejects(lipverify: Commands, tmp_path: Path) -> None:
    false, broken = tmp_path / "false.json", tmp_path / "broken.json"
    text = COMMITTED[0].read_text()
    low = load(COMMITTED[0]).data["lemmas"][-2]["constants"]["low"]
    false.write_text(text.replace(low, "0.5"))
    broken.write_text("{")
    paths = (COMMITTED[0], false, broken, tmp_path / "none.json")
    assert [lipverify("check-proof", str(path)).returncode for path in paths] == [0, 1, 2, 2]


def test_rates_are_read_only_from_proofs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A proof of another law, dimension or theorem gives no rate."""
    import lipverify.claims.evidence.theorems as proved

    (tmp_path / FOLDER).mkdir()
    transfer = prove_transfer(prove_window(ReLU(), 2), 3.0)
    for name in ("affine-2", "relu-3", "tradeoff-relu-2", "lt-cosine", "a transfer"):
        text = json.dumps(transfer.data) if name == "a transfer" else (shipped() / FOLDER / f"{name}.json").read_text()
        (tmp_path / FOLDER / "relu-2.json").write_text(text)
        monkeypatch.setattr(proved, "shipped", lambda: tmp_path)
        proved_window.cache_clear()
        with pytest.raises(ValueError, match=r"relu-2.json: not a (proof of window|window theorem)"):
            proved_rates("relu", 2)
    proved_window.cache_clear()


def test_hypotheses_are_compared_as_numbers_and_by_theorem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The given values are compared as numbers, and a proof by its theorem, not by its text or file name."""
    import lipverify.claims.evidence.theorems as proved

    data = json.loads((shipped() / FOLDER / "lt-ridge-2-1-yx.json").read_text())
    needed, data["given"]["sigma_2"] = dict(data["given"]), "1"
    file = tmp_path / FOLDER / "ridge.json"
    file.parent.mkdir()
    file.write_text(json.dumps(data))
    monkeypatch.setattr(proved, "shipped", lambda: tmp_path)
    assert proved.proved("ridge", "ridge", needed, prove_layers).data == data
    for other in ("d", "level", "sigma_1", "n"):
        with pytest.raises(ValueError, match=r"ridge.json: not a proof of ridge for .*: E \|w"):
            proved.proved("ridge", "ridge", needed | {other: "2" if other != "d" else "3"}, prove_layers)
    with pytest.raises(ValueError, match="not a proof of layers"):
        proved.proved("ridge", "layers", {}, prove_layers)
