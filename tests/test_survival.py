"""A run that survives: whatever ends it, one clear line, nothing half written, and the finished work is kept."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lipverify.claims.claim import CellPlan, Claim, Reading, Task
from lipverify.claims.finished import NAME
from lipverify.claims.ledger import Source, read_ledger
from lipverify.claims.verdict import Allowed, Interval
from lipverify.cli import verify

ENVIRONMENT = {**os.environ, "COLUMNS": "80", "PYTHONWARNINGS": "ignore"}
CLAIMS = ("softmax.gaussian-window", "softmax.window-directions")


def start(folder: Path, *options: str, **settings: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lipverify", "verify", *CLAIMS, "--out", str(folder), "--jobs", "2", *options]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, start_new_session=True,
        **settings,
    )  # fmt: skip


def ends(running: subprocess.Popen[str]) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of a run."""
    stdout, stderr = running.communicate(timeout=300)
    return running.returncode, stdout, stderr


def findings(path: Path) -> list[dict[str, Any]]:
    """Everything that a ledger found; not what it took."""
    return [{**record, "seconds": 0} for record in json.loads(path.read_text())["claims"]]


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The findings of a run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("straight")
    assert ends(start(folder))[0] == 0
    return findings(folder / "ledger.json")


def rows(folder: Path) -> int:
    """How many measurements are kept in a folder."""
    import sqlite3

    if not (folder / NAME).exists():
        return 0
    with sqlite3.connect(folder / NAME) as kept:
        try:
            return int(kept.execute("SELECT count(*) FROM finished").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


@pytest.mark.parametrize("after", [0, 4])
def test_a_run_that_is_killed_resumes_to_the_same_ledger(
    tmp_path: Path, straight: list[dict[str, Any]], after: int
) -> None:
    running, until = start(tmp_path), time.monotonic() + 120
    while rows(tmp_path) < after and running.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate(timeout=60)
    kept = rows(tmp_path)
    assert kept >= after or running.returncode == 0
    assert not (tmp_path / "ledger.json").exists() or running.returncode == 0
    assert ends(start(tmp_path, "--resume"))[0] == 0
    assert findings(tmp_path / "ledger.json") == straight
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger.json", "report.pdf"]


def full_disk() -> None:
    """No file may grow beyond a few pages, as on a disk that is nearly full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))


def test_a_full_disk_is_one_line_and_no_half_file(tmp_path: Path) -> None:
    code, stdout, stderr = ends(start(tmp_path, preexec_fn=full_disk))
    assert code == 3
    assert "supported" in stdout, "what was found is shown, for it could not be written"
    last = stderr.splitlines()[-1]
    assert last.startswith("lipverify: the ledger could not be written (File too large);")
    assert "Traceback" not in stderr
    assert {path.name.split("-")[0] for path in tmp_path.iterdir()} <= {NAME}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_refused_before_any_work(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    code, _, stderr = ends(start(tmp_path / "below"))
    tmp_path.chmod(0o700)
    assert code == 2
    assert "the folder cannot be written" in stderr


def test_a_folder_that_is_a_file_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("notes")
    code, _, stderr = ends(start(tmp_path / "file" / "below"))
    assert code == 2
    assert "the folder cannot be written" in stderr
    assert (tmp_path / "file").read_text() == "notes"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a folder that nobody may write")
def test_a_folder_that_nobody_may_write_is_refused_before_any_work() -> None:
    code, _, stderr = ends(start(Path("/proc/lipverify")))
    assert code == 2
    assert "the folder cannot be written" in stderr


def good(k: int) -> tuple[float, float]:
    return float(k), 1e-9


def fragile(k: int) -> tuple[float, float]:
    raise ArithmeticError("the integral does not converge")


def endless(k: int) -> tuple[float, float]:
    time.sleep(600)
    return float(k), 1e-9


def claim(name: str, function: Any) -> Claim:
    cell = CellPlan(
        where={"k": 1},
        task=Task(function, (1,)),
        quantity="k",
        read=lambda result, _: Reading(Interval.around(*result)),
        claimed="< 10",
        allowed=Allowed(low=0.0, high=10.0),
        control=Allowed(low=20.0, high=30.0),
    )
    return Claim(
        id=f"test.{name}", title="t", statement="k < 10", source=Source(paper="p", place="1", printed="k"),
        claimed="< 10", control="> 20", expected="supported", cells=(cell,),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("function", "said"), [(fragile, "the integral does not converge"), (endless, "it did not end within 1 s")]
)
def test_a_check_that_raises_or_hangs_is_named_and_the_others_have_their_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], function: Any, said: str
) -> None:
    monkeypatch.setattr(verify, "select_claims", lambda *_: (claim("broken", function), claim("whole", good)))
    assert verify.verify_claims([], verify.How(jobs=2, limit=1.0), tmp_path, json=False, strict=False) == 3
    broken, whole = read_ledger(tmp_path / "ledger.json").claims
    assert (broken.verdict, whole.verdict) == ("error", "supported")
    assert said in broken.problem
    assert "not everything could be measured" in capsys.readouterr().err
    assert rows(tmp_path) == 1, "what was measured is kept for --resume"
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
