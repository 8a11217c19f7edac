"""A disk that fails at any step: results are shown or kept, no file is half written, and the run can be resumed."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from lipverify.claims.ledger import read_ledger
from tests.cli.test_survival import ENVIRONMENT, ends, findings, start
from tests.commands import QUICK_FILE
from tests.slow.preloaded import needed, preloaded
from tests.slow.rounds import ROUNDS
from tests.slow.test_surroundings import sound

pytestmark = [pytest.mark.nightly, needed]
WRITES, NAMES, REMOVALS = 1, 2, 4
FAULTS = {
    "full": (errno.ENOSPC, WRITES | NAMES),
    "read-only": (errno.EACCES, NAMES | REMOVALS),
    "broken": (errno.EIO, WRITES | NAMES | REMOVALS),
}
"""The errors of the system, and the steps at which they occur."""
WHOLE = {"ledger.json": b"}", "report.pdf": b"%%EOF", "report.html": b"</html>"}
"""Files of a run, and their suffixes."""


class Disk:
    """The failing library, the result of a run without it, and the number of its steps."""

    def __init__(self, folder: Path) -> None:
        self.environment = {**preloaded("full_disk.c"), **ENVIRONMENT}
        self.steps: dict[str, int] = {}
        for name in FAULTS:
            at = folder / name
            at.mkdir()
            assert ends(start(at, QUICK_FILE, env=self.failing(at, name, 10**9)))[0] == 0
            self.steps[name] = int((at / "count").read_text())
            self.found = findings(at / "out" / "ledger.json")

    def failing(self, folder: Path, name: str, first: int) -> dict[str, str]:
        """The environment in which all steps from the first on fail in `out`."""
        number, kinds = FAULTS[name]
        said = {"FOLDER": f"{folder}/out/", "ERROR": number, "KINDS": kinds, "FROM": first, "COUNT": folder / "count"}
        return {**self.environment, **{f"FAULT_{key}": str(value) for key, value in said.items()}}


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Disk:
    return Disk(tmp_path_factory.mktemp("disk"))


def are_whole(out: Path) -> set[str]:
    """The final names of existing files, each of which is complete."""
    there = {name for name in WHOLE if (out / name).exists()}
    for name in there:
        assert (out / name).read_bytes().rstrip().endswith(WHOLE[name])
    if "ledger.json" in there:
        assert read_ledger(out / "ledger.json").claims
    return there


def said(code: int, stderr: str) -> list[str]:
    """The messages of a run about its failure, one per line."""
    lines = [line for line in stderr.splitlines() if line.startswith("lipverify:")]
    assert sound(stderr)
    assert bool(lines) == (code != 0)
    return lines


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("k", range(ROUNDS))  # a run takes about a hundred steps
def test_any_step(tmp_path: Path, disk: Disk, name: str, k: int) -> None:
    steps, out = disk.steps[name], tmp_path / "out"
    if k >= steps:
        pytest.skip("every step has been tried")
    first = 1 + k * steps // min(steps, ROUNDS)
    code, stdout, stderr = ends(start(tmp_path, QUICK_FILE, env=disk.failing(tmp_path, name, first)))
    assert (tmp_path / "count").exists(), "the test needs a step that failed"
    assert code in (0, 2, 3)
    assert said(code, stderr) or are_whole(out) == set(WHOLE)
    if code == 3:
        assert "supported" in stdout, "what was found is shown, whatever could not be written"
    are_whole(out)
    assert ends(start(tmp_path, QUICK_FILE, "--resume"))[0] == 0
    assert findings(out / "ledger.json") == disk.found
    assert are_whole(out) == set(WHOLE)
    if not FAULTS[name][1] & REMOVALS:
        assert {path.name for path in out.iterdir()} == set(WHOLE)
