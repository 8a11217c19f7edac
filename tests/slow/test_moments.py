"""A run that is ended at a random moment, in each way: no worker survives, and it resumes to the same ledger."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_orphans import children, lives
from tests.cli.test_survival import LOGGED, ends, findings, start
from tests.slow.rounds import ROUNDS, dice

pytestmark = pytest.mark.nightly
WAYS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], float]:
    """The result of an undisturbed run, and its duration."""
    folder, begun = tmp_path_factory.mktemp("whole"), time.monotonic()
    assert ends(start(folder, LOGGED))[0] == 0
    return findings(folder / "out" / "ledger.json"), time.monotonic() - begun


@pytest.mark.parametrize("k", range(ROUNDS))
def test_any_moment(tmp_path: Path, whole: tuple[list[dict[str, Any]], float], k: int) -> None:
    found, seconds = whole
    drawn = dice("moments", k)
    number, pause = drawn.choice(WAYS), drawn.random() < 0.25
    running = start(tmp_path, LOGGED)
    time.sleep(drawn.uniform(0, 1.1 * seconds))
    workers = children(running.pid) if running.poll() is None else []
    if pause and running.poll() is None:
        os.kill(running.pid, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(running.pid, signal.SIGCONT)
    if running.poll() is None:
        os.kill(running.pid, number)
    code, _, stderr = ends(running)
    # before the program has installed its signal handlers, signals end it like any process
    assert code in (0, 130, -number)
    assert "Traceback" not in stderr or code == -number or number == signal.SIGINT
    until = time.monotonic() + 15
    while any(map(lives, workers)) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(map(lives, workers))
    assert ends(start(tmp_path, LOGGED, "--resume"))[0] == 0
    assert findings(tmp_path / "out" / "ledger.json") == found
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.suffix != ".html") == [
        "ledger.json",
        "report.pdf",
    ]
