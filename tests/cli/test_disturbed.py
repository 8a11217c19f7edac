"""Runs that are disturbed from outside: a stopped worker, a detached child, a full or locked disk, a deleted folder."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from lipverify.errors import InvalidInput
from lipverify.foundation.store import Rows  # internal: the file of finished measurements

VERIFY = [sys.executable, "-c", "from lipverify.cli import main; main()", "verify"]
CLAIMS = """
import os, pathlib, shutil, signal, subprocess

from lipverify.claims import bound, claim

def measured(d):
    {body}
    return 1.0, 0.1

claim("mine.x", bound(measured, "x", low="0.5", control="1.5"), over={{"d": (2, 3)}},
      source=("N", "p", "q"), kind="derived")
"""
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def verified(folder: Path, body: str, *options: str, stdout: str = os.devnull) -> subprocess.CompletedProcess[str]:
    """A run of one claim whose function does as the body says."""
    (folder / "mine.py").write_text(CLAIMS.format(body=body), encoding="utf-8")
    with Path(stdout).open("w") as out:
        command = [*VERIFY, "mine.py", "--out", "out", "--jobs", "2", *options]
        return subprocess.run(command, cwd=folder, stdout=out, stderr=subprocess.PIPE, text=True, check=False)


@LINUX
def test_a_worker_that_a_signal_stopped_ends_at_the_limit(tmp_path: Path) -> None:
    done = verified(tmp_path, "os.kill(os.getpid(), signal.SIGSTOP) if d == 3 else None", "--limit", "5")
    assert done.returncode == 3


@LINUX
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_child_left_behind_a_cut_store_and_a_full_output_lose_nothing(tmp_path: Path) -> None:
    body = """child = subprocess.Popen(['sleep', '600'], start_new_session=True)
    pathlib.Path(f'child-{d}').write_text(str(child.pid))
    [os.truncate(path, 0) for path in pathlib.Path('out').glob('finished*')]"""
    done = verified(tmp_path, body, stdout="/dev/full")
    assert (done.returncode, done.stderr.count("standard output cannot be written")) == (1, 1)
    assert {"ledger.json", "report.pdf", "report.html"} <= {path.name for path in (tmp_path / "out").iterdir()}
    children = [int(path.read_text()) for path in tmp_path.glob("child-*")]
    states = [Path(f"/proc/{child}/stat") for child in children]
    running = [state for state in states if state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"]
    assert (len(children), running) == (2, [])


def test_a_deleted_folder_is_not_named_as_the_place_of_finished_work(tmp_path: Path) -> None:
    done = verified(tmp_path, "shutil.rmtree('out', ignore_errors=True) if d == 3 else None")
    assert "was deleted during the run" in done.stderr
    assert "continue by the same command" not in done.stderr


def test_a_locked_store_is_not_said_to_hold_something_else(tmp_path: Path) -> None:
    path = tmp_path / "finished.sqlite"
    Rows(path, "settings", "measurements").write("a", 1.0, float)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(InvalidInput, match=r"is open in another program .*; close it there") as error:
        Rows(path, "settings", "measurements")
    assert "remove it" not in str(error.value)
    other.close()


def test_optimised_python_without_docstrings_works() -> None:
    done = subprocess.run(
        [VERIFY[0], "-OO", *VERIFY[1:-1], "list", "softmax.split"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
