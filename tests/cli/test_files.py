"""Paths that are not files, folders in use, output that cannot be written: one line each, and no file remains."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lipverify.claims.ledger import Ledger, Provenance, write_ledger
from lipverify.claims.run.kept import NAME  # internal: the file of unfinished work must be gone
from lipverify.foundation.files import alone_in  # internal: another process holds the folder
from tests.commands import QUICK_FILE, Commands

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    made = Provenance(versions={}, machine="", started="2025-01-01T00:00:00Z", seconds=0.0)
    path = tmp_path / "ledger.json"
    write_ledger(Ledger(profile="quick", seed=0, backend="numpy", provenance=made, claims=()), path)
    return path


def refused(done: object) -> str:
    assert done.returncode == 2  # type: ignore[attr-defined]
    (line,) = done.stderr.splitlines()  # type: ignore[attr-defined]
    assert len(line) <= 1200
    return str(line)


@pytest.mark.parametrize("out", [".", "", "x" * 300, "/dev/full", "/dev/null", "missing/" + "y" * 300, "nul\0byte"])
def test_a_report_that_cannot_be_a_file_is_refused(
    lipverify: Commands, ledger: Path, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ledger.parent)
    assert "out" in refused(lipverify("report", str(ledger), "--out", out))
    assert [path.name for path in ledger.parent.iterdir() if path.is_file()] == ["ledger.json"]


@pytest.mark.parametrize("out", ["report.txt", "report", "report.pdf.bak"])
def test_a_report_has_the_name_of_one(lipverify: Commands, ledger: Path, out: str) -> None:
    assert "ends in .pdf or .html" in refused(lipverify("report", str(ledger), "--out", str(ledger.parent / out)))


@pytest.mark.parametrize(
    "words", [["loss"], ["loss", "--d", "3", "--whatever"], ["frobnicate"], ["window", "--d", "x"]]
)
def test_a_parser_error_names_the_help(lipverify: Commands, words: list[str]) -> None:
    named = [] if words == ["frobnicate"] else words[:1]
    assert refused(lipverify(*words)).endswith(f"See `{' '.join(['lipverify', *named, '--help'])}`.")


@pytest.mark.parametrize("command", ["report", "audit", "export", "list", "verify"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_a_special_file_is_not_read(lipverify: Commands, tmp_path: Path, command: str, kind: str) -> None:
    path = tmp_path / "it.py"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    refused(lipverify(command, str(path)))


def test_a_message_quotes_no_more_than_can_be_read(lipverify: Commands) -> None:
    refused(lipverify("explain", "x" * 100_000))


def test_a_second_run_into_a_folder_says_so(lipverify: Commands, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(QUICK_FILE, encoding="utf-8")
    out = tmp_path / "out"
    out.mkdir()
    holder = "from pathlib import Path; from lipverify.foundation.files import alone_in; import sys\n"
    holder += "with alone_in(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", holder, str(out)], text=True, **pipes) as other:  # type: ignore[call-overload]
        assert other.stdout.readline() == "held\n"
        assert "another run" in refused(lipverify("verify", str(tmp_path / "mine.py"), "--out", str(out)))
        other.kill()
    assert list(out.iterdir()) == []
    with alone_in(out):  # the holder was killed, so its lock is released
        pass


def test_a_cluster_that_is_not_there_leaves_nothing(
    lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("lipverify.claims.run.workers.ANSWER", "1s")
    (tmp_path / "mine.py").write_text(QUICK_FILE, encoding="utf-8")
    out = tmp_path / "out"
    message = refused(
        lipverify("verify", str(tmp_path / "mine.py"), "--out", str(out), "--cluster", "tcp://127.0.0.1:1")
    )
    assert "no Dask scheduler" in message
    assert not (out / NAME).exists()


def test_a_closed_output_changes_no_verdict() -> None:
    command = [sys.executable, "-m", "lipverify", "list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stdout is not None
        assert done.stderr is not None
        assert done.stdout.readline()
        done.stdout.close()
        said = done.stderr.read()
    assert (done.returncode, said) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_no_success() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "lipverify", "list", "softmax.split"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["lipverify: standard output cannot be written (No space left on device)."]
