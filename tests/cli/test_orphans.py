"""Workers end with their run, and a run that is asked to end keeps its finished measurements."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.cli.test_survival import LOGGED, ends, start, until
from tests.commands import kept_in

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
LONG = LOGGED.replace("sleep(0.25)", "sleep(0.25 if x < 0.35 else 600)")
"""Three quick measurements, then workers that sleep."""


def children(pid: int) -> list[int]:
    """The child processes of a process; none if it has ended."""
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def gone(workers: list[int]) -> bool:
    """True if none of these processes lives after ten seconds at most."""
    end = time.monotonic() + 10
    while any(map(lives, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(lives, workers))


@pytest.mark.parametrize(
    "number",
    [signal.SIGKILL, signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.slow), signal.SIGINT],
    ids=lambda number: number.name,
)
def test_no_worker_outlives_its_run(tmp_path: Path, number: signal.Signals) -> None:
    running = start(tmp_path, LONG, "--profile", "quick")
    until(tmp_path / "out", 3, running)
    workers = children(running.pid)
    assert running.poll() is None, f"it ended by itself: {ends(running)}"
    assert len(workers) >= 2, "the test needs workers that run"
    os.kill(running.pid, number)
    code, stdout, stderr = ends(running)
    assert gone(workers)
    assert kept_in(tmp_path / "out") == 3
    assert not (tmp_path / "out" / "ledger.json").exists()
    if number == signal.SIGKILL:
        assert code == -signal.SIGKILL
        return
    (line,) = [line for line in stderr.splitlines() if line.startswith("lipverify:")]
    assert (code, stdout) == (130, "")
    assert "interrupted" in line
    assert "--resume" in line
    assert "Traceback" not in stderr


@pytest.mark.parametrize("hangs", ["sum(range(10**12))", "hang(x)", "sleep(600)"])
def test_one_job_that_hangs_ends_when_the_run_is_asked_to(tmp_path: Path, hangs: str) -> None:
    """A job may hang in compiled code, in a recursion that swallows exceptions, or in a system call."""
    hang = "def hang(x):\n    try:\n        hang(x)\n    except BaseException:\n        hang(x)\n\ndef square"
    text = LOGGED.replace("sleep(0.25)", f"{hangs} if x > 0.35 else None").replace("def square", hang)
    running = start(tmp_path, text, workers=("--jobs", "1"))
    until(tmp_path / "out", 3, running)
    workers = children(running.pid)
    assert running.poll() is None, f"it ended by itself: {ends(running)}"
    assert workers, "the test needs a worker that hangs"
    os.kill(running.pid, signal.SIGTERM)
    code, stdout, stderr = ends(running)
    assert gone(workers)
    assert (code, stdout) == (130, "")
    assert "--resume" in stderr
    assert kept_in(tmp_path / "out") == 3
