"""A wall clock that jumps back and forth: no run waits for it, ends early by it, or shows a negative time."""

from __future__ import annotations

import datetime
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lipverify.claims.ledger import read_ledger
from tests.cli.test_survival import ENVIRONMENT, LOGGED, ends, findings, start
from tests.slow.preloaded import needed, preloaded
from tests.slow.test_surroundings import sound

pytestmark = [pytest.mark.nightly, needed]
NEGATIVE = re.compile(r"-\d+(\.\d+)? ?s\b|-\d+:\d\d|-\d+ day")


@pytest.fixture(scope="module")
def stepping() -> dict[str, str]:
    return {**preloaded("stepping_clock.c"), **ENVIRONMENT}


def test_the_clock_steps(stepping: dict[str, str]) -> None:
    code = "import time; print(any(time.time() > time.time() for _ in range(9)))"
    done = subprocess.run([sys.executable, "-c", code], env=stepping, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@pytest.mark.parametrize("options", [(), ("--limit", "60"), ("--json",)], ids=" ".join)
def test_a_run(tmp_path: Path, stepping: dict[str, str], options: tuple[str, ...]) -> None:
    steady, jumping = tmp_path / "steady", tmp_path / "jumping"
    for folder, environment in ((steady, ENVIRONMENT), (jumping, stepping)):
        folder.mkdir()
        code, stdout, stderr = ends(start(folder, LOGGED, *options, env=environment))
        assert code == 0
        assert sound(stderr)
        assert not NEGATIVE.search(stdout + stderr)
    assert findings(jumping / "out" / "ledger.json") == findings(steady / "out" / "ledger.json")
    ledger = read_ledger(jumping / "out" / "ledger.json")
    assert ledger.provenance.seconds >= 0
    assert all(record.seconds >= 0 for record in ledger.claims)
    assert datetime.datetime.fromisoformat(ledger.provenance.started)


def test_a_run_on_a_terminal(tmp_path: Path, stepping: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    (tmp_path / "my_claims.py").write_text(LOGGED)
    command = [sys.executable, "-m", "lipverify", "verify", "my_claims.py", "--jobs", "2", "--out", "out"]
    running = subprocess.Popen(command, stdout=theirs, stderr=theirs, env={**stepping, "TERM": "xterm"}, cwd=tmp_path)
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    assert running.wait(timeout=60) == 0
    assert "8/8" in seen.decode(), "the test needs the bar"
    assert not NEGATIVE.search(seen.decode())


def test_a_negative_time_would_be_seen() -> None:
    assert all(NEGATIVE.search(text) for text in ("measured 3 of 8 (-30 s)", "-1 day, 23:59:30", "-1:00:00", "-2.5s"))
    assert not NEGATIVE.search("bias-2 1e-12 3-4 settings")
