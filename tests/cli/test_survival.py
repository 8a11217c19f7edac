"""Interrupted runs: one clear line for every cause, no partial files, and the finished work is kept."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lipverify.claims.ledger import Allowed, read_ledger
from lipverify.claims.plan import Claim, Measurement
from lipverify.claims.run.kept import NAME  # internal: the only file that an interrupted run may leave
from lipverify.cli import verify  # internal: a run in this process, with a limit of time that no command takes
from lipverify.cli.app import How, Output, ReportOptions  # internal: the options of such a run
from lipverify.foundation.quoting import counted  # internal: counts in words, as the message has them
from tests import toys
from tests.commands import CLAIMS_FILE, QUICK_FILE, Commands, kept_in

ENVIRONMENT = {**os.environ, "COLUMNS": "80", "PYTHONWARNINGS": "ignore"}
LOGGED = CLAIMS_FILE.replace("    sleep(0.25)\n", '    sleep(0.25)\n    print(x, file=open("calls.txt", "a"))\n')


def start(
    folder: Path, text: str, *options: str, workers: Sequence[str] = ("--jobs", "2"), **settings: Any
) -> subprocess.Popen[str]:
    """Start `verify` on a claims file in a folder, with the output in its folder `out`."""
    (folder / "my_claims.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "lipverify", "verify", "my_claims.py", "--out", "out", *workers, *options]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=folder,
        **{"env": ENVIRONMENT, **settings},
    )  # fmt: skip


def ends(running: subprocess.Popen[str]) -> tuple[int, str, str]:
    """The exit code, standard output and standard error of a run."""
    stdout, stderr = running.communicate(timeout=300)
    return running.returncode, stdout, stderr


def until(folder: Path, kept: int, running: subprocess.Popen[str]) -> None:
    """Wait until a run has kept so many measurements, or has ended."""
    end = time.monotonic() + 120
    while kept_in(folder) < kept and running.poll() is None and time.monotonic() < end:
        time.sleep(0.02)


def findings(path: Path) -> list[dict[str, Any]]:
    """All findings of a ledger, without durations."""
    return [{**record, "seconds": 0} for record in json.loads(path.read_text())["claims"]]


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The findings of an undisturbed run."""
    folder = tmp_path_factory.mktemp("straight")
    assert ends(start(folder, LOGGED))[0] == 0
    return findings(folder / "out" / "ledger.json")


@pytest.mark.slow
@pytest.mark.parametrize("after", [0, 4])
def test_a_run_that_is_killed_resumes_to_the_same_ledger(
    tmp_path: Path, straight: list[dict[str, Any]], after: int
) -> None:
    running, out = start(tmp_path, LOGGED), tmp_path / "out"
    until(out, after, running)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate(timeout=60)
    assert running.returncode == -signal.SIGKILL
    kept = kept_in(out)
    assert after <= kept < 8
    assert not (out / "ledger.json").exists()
    code, _, said = ends(start(tmp_path, LOGGED, "--resume"))
    assert (code, said.splitlines()[0]) == (
        0,
        f"lipverify: continuing with {counted(kept, 'measurement')} of a run that was stopped.",
    )
    assert findings(out / "ledger.json") == straight
    assert sorted(path.name for path in out.iterdir()) == ["ledger.json", "report.html", "report.pdf"]
    calls = (tmp_path / "calls.txt").read_text().split()
    assert len(set(calls)) == 8
    assert len(calls) <= 16 - kept, "what was kept is not measured again"


@pytest.mark.slow
def test_rows_of_a_killed_run_are_named_and_kept(tmp_path: Path) -> None:
    """Without --resume the same command reports the kept measurements, and keeps them if it is stopped too."""
    running, out = start(tmp_path, CLAIMS_FILE, workers=("--jobs", "1")), tmp_path / "out"
    until(out, 4, running)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate(timeout=60)
    assert (kept := kept_in(out)) >= 4
    again = start(tmp_path, CLAIMS_FILE, workers=("--jobs", "1"))
    assert again.stderr is not None
    said = again.stderr.readline()
    os.killpg(again.pid, signal.SIGINT)
    assert ends(again)[0] == 130
    assert said.startswith("lipverify: new run; ")
    assert f"still has {kept} measurements of a run that was stopped, --resume continues with them" in said
    assert kept_in(out) >= kept


def full(size: int) -> None:
    """A limit to the size of every file: under 6 kB none can grow, under 40 kB by a few pages."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.slow
def test_a_full_disk_is_reported_before_any_work(tmp_path: Path) -> None:
    code, stdout, stderr = ends(start(tmp_path, QUICK_FILE, preexec_fn=lambda: full(6_000)))
    assert (code, stdout, len(stderr.splitlines())) == (2, "", 1)
    assert "is the disk full?); make room, or choose another --out." in stderr
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.slow
def test_a_full_disk_is_one_line_and_no_half_file(tmp_path: Path) -> None:
    many = QUICK_FILE.replace("(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)", "[0.1 + k / 1000 for k in range(300)]")
    code, stdout, stderr = ends(start(tmp_path, many, preexec_fn=lambda: full(40_000)))
    assert code == 3
    assert "supported" in stdout, "what was found is shown, for it could not be written"
    last = stderr.splitlines()[-1]
    assert last.startswith("lipverify: the ledger could not be written (File too large);")
    assert "Traceback" not in stderr
    assert {path.name.split("-")[0] for path in (tmp_path / "out").iterdir()} == {NAME}


def test_a_folder_that_is_a_file_is_refused_before_any_work(lipverify: Commands, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("notes")
    done = lipverify("verify", "softmax.split", "--out", str(tmp_path / "file" / "below"))
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "the folder cannot be written" in done.stderr
    assert (tmp_path / "file").read_text() == "notes"


def good(k: int) -> tuple[float, float]:
    return float(k), 1e-9


def fragile(k: int) -> tuple[float, float]:
    raise ArithmeticError("the integral does not converge")


def endless(k: int) -> tuple[float, float]:
    time.sleep(600)
    return float(k), 1e-9


def claim(name: str, function: Any) -> Claim:
    allowed, false = Allowed(low=0.0, high=10.0), Allowed(low=20.0, high=30.0)
    return toys.claim(toys.cell(Measurement(function, (1,)), allowed, false, where={"k": 1}), id=f"test.{name}")


@pytest.mark.parametrize(
    ("function", "said"), [(fragile, "the integral does not converge"), (endless, "it did not end within 1 s")]
)
def test_a_check_that_raises_or_hangs_is_named_and_others_are_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], function: Any, said: str
) -> None:
    monkeypatch.setattr(verify, "select_claims", lambda *_: (claim("broken", function), claim("whole", good)))
    assert verify.verify_claims([], How(jobs=2, limit=1.0), ReportOptions(), tmp_path, Output()) == 3
    broken, whole = read_ledger(tmp_path / "ledger.json").claims
    assert (broken.verdict, whole.verdict) == ("error", "supported")
    assert said in broken.problem
    assert "not everything could be measured" in capsys.readouterr().err
    assert kept_in(tmp_path) == 1, "what was measured is kept for --resume"
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
