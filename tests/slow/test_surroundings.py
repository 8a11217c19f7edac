"""A disk that fills at any write, vanished folders, something missing: one line, and no half file."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lipverify.claims.ledger import read_ledger
from tests.cli.test_survival import ENVIRONMENT, LOGGED, ends, start
from tests.commands import QUICK_FILE
from tests.slow.rounds import ROUNDS, dice

pytestmark = pytest.mark.nightly


def sound(stderr: str) -> bool:
    """True if the output consists only of this program's own lines."""
    return "Traceback" not in stderr and all(len(line) < 2000 for line in stderr.splitlines())


@pytest.mark.parametrize("k", range(max(1, ROUNDS // 5)))
def test_a_file_that_can_grow_no_further(tmp_path: Path, k: int) -> None:
    size = int(2 ** dice("disk", k).uniform(0, 20))

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    code, _, stderr = ends(start(tmp_path, QUICK_FILE, preexec_fn=full))
    assert code in (0, 2, 3)
    assert sound(stderr)
    for ledger in tmp_path.glob("out/ledger.json"):
        assert read_ledger(ledger).claims
    for report in tmp_path.glob("out/report.pdf"):
        assert report.read_bytes().rstrip().endswith(b"%%EOF")


@pytest.mark.parametrize("k", range(max(1, ROUNDS // 10)))
def test_a_folder_that_is_deleted(tmp_path: Path, k: int) -> None:
    running = start(tmp_path, LOGGED)
    time.sleep(dice("folder", k).uniform(0, 12))
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
    code, _, stderr = ends(running)
    assert code in (0, 2, 3)
    assert sound(stderr)


ENVIRONMENTS = {
    "no home": {"HOME": "", "XDG_CACHE_HOME": ""},
    "a home that is not there": {"HOME": "/nonexistent"},
    "C locale": {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"},
    "narrow": {"COLUMNS": "20"},
    "narrower": {"COLUMNS": "1"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "no path": {"PATH": ""},
    "another zone": {"TZ": "Pacific/Apia"},
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("command", ["list", "explain softmax.split", "verify my_claims.py --out out"])
def test_any_environment(tmp_path: Path, name: str, command: str) -> None:
    (tmp_path / "my_claims.py").write_text(QUICK_FILE, encoding="utf-8")
    environment = {**ENVIRONMENT, **ENVIRONMENTS[name]}
    done = subprocess.run(
        [sys.executable, "-m", "lipverify", *command.split()],
        env=environment, capture_output=True, cwd=tmp_path, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0
    assert sound(done.stderr.decode(errors="replace"))


@pytest.mark.parametrize("command", ["list", "list --json", "explain softmax.split"])
def test_a_reader_that_closes_early(command: str) -> None:
    shell = f"{sys.executable} -m lipverify {command} | head -1"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert done.stdout.count("\n") <= 1
    assert sound(done.stderr)


@pytest.mark.parametrize("command", ["list", "verify my_claims.py --jobs 2 --out out"])
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)], ids=str)
def test_descriptors_that_are_closed(tmp_path: Path, command: str, closed: tuple[int, ...]) -> None:
    def close() -> None:
        for descriptor in closed:
            os.close(descriptor)

    (tmp_path / "my_claims.py").write_text(QUICK_FILE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "lipverify", *command.split()],
        preexec_fn=close, env=ENVIRONMENT, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0
    assert sound(done.stderr)
    if command != "list":
        assert read_ledger(tmp_path / "out" / "ledger.json").claims
