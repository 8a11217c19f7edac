"""Only a regular file is replaced: every kind of target with every writer."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from lipverify.claims.ledger import Ledger, Provenance, read_ledger, write_ledger
from lipverify.claims.run.kept import NAMES  # internal: the names of the files of unfinished work
from lipverify.cli import main
from lipverify.errors import InvalidInput
from lipverify.export import export_ledger
from lipverify.foundation.files import require_target, write_whole  # internal: the shared rule and one writer
from lipverify.foundation.store import write_record  # internal: each writer by itself
from lipverify.laws import Affine
from lipverify.proofs import prove_window
from lipverify.report import write_report, write_web_page

EMPTY = Ledger(
    profile="quick",
    seed=0,
    backend="numpy",
    provenance=Provenance(versions={}, machine="", started="2025-01-01T00:00:00Z", seconds=0.0),
    claims=(),
)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(path))


def _device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 7))
    except PermissionError:
        path.symlink_to("/dev/full")


KINDS: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "socket": _socket,
    "device": _device,
    "link to a device": lambda path: path.symlink_to("/dev/null"),
    "link to nothing": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "folder": lambda path: path.mkdir(),
}
WRITERS: dict[str, Callable[[Path], object]] = {
    "ledger.json": lambda path: write_ledger(EMPTY, path),
    "report.pdf": lambda path: write_report(EMPTY, path),
    "report.html": lambda path: write_web_page(EMPTY, path),
    "theorems.tex": lambda path: export_ledger(EMPTY, path.parent, ["tex"]),
    "proof.json": lambda path: prove_window(Affine(), d=3).save(path),
    "witness.json": lambda path: write_record(EMPTY, path),
    "bytes": lambda path: write_whole(path, b"made"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    return tmp_path


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_special_file_is_refused_and_unchanged(kind: str, writer: str, place: Path) -> None:
    target = place / writer
    KINDS[kind](target)
    before = os.lstat(target)
    with pytest.raises(InvalidInput, match="out = "):
        WRITERS[writer](target)
    after = os.lstat(target)
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert [path for path in place.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("writer", WRITERS)
def test_through_a_link_its_target_is_written(writer: str, place: Path) -> None:
    (place / "elsewhere").mkdir()
    real, link = place / "elsewhere" / "real", place / writer
    real.write_bytes(b"old")
    link.symlink_to(real)
    WRITERS[writer](link)
    assert link.is_symlink()
    assert real.read_bytes() != b"old"


@pytest.mark.parametrize("name", ["ledger.json", "report.pdf", "report.html", *NAMES])
@pytest.mark.parametrize("kind", KINDS)
def test_verify_refuses_before_it_measures(
    kind: str, name: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "out").mkdir()
    KINDS[kind](place / "out" / name)
    with pytest.raises(SystemExit) as ended:
        main(["verify", "softmax.noise-rate/upper/ambient", "--out", "out", "--jobs", "1"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert name in said
    assert len(said.splitlines()) <= 3
    assert stat.S_IFMT(os.lstat(place / "out" / name).st_mode) != stat.S_IFREG


def test_a_regular_file_is_replaced_whole(place: Path) -> None:
    (place / "ledger.json").write_text("old")
    write_ledger(EMPTY, place / "ledger.json")
    assert read_ledger(place / "ledger.json") == EMPTY
    require_target("out", place / "ledger.json")


@pytest.mark.parametrize("blocked", ["theorems.tex", "figures.csv"])
def test_export_asks_all_targets_before_it_writes_the_first(blocked: str, place: Path) -> None:
    (place / blocked).mkdir()
    with pytest.raises(InvalidInput, match=blocked):
        export_ledger(EMPTY, place, ["csv", "svg", "tex"])
    assert [path.name for path in place.iterdir()] == [blocked]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_name_that_is_too_long_is_refused_in_a_line(writer: str, place: Path) -> None:
    folder, asked = place / "there", "n" * 250 + Path(writer).suffix
    folder.mkdir()
    if writer == "theorems.tex":  # the file name is ours, its folder is the user's
        folder = folder / ("n" * 300)
    with pytest.raises((InvalidInput, OSError), match="too long") as refused:
        WRITERS[writer](folder / (writer if writer == "theorems.tex" else asked))
    assert isinstance(refused.value, InvalidInput)
    assert len(str(refused.value).splitlines()) == 1
    assert list((place / "there").iterdir()) == []


def _closed(place: Path) -> Path:
    """A folder in which no file can be created, not even by root if the system allows that."""
    if os.geteuid() != 0:
        (place / "closed").mkdir(mode=0o500)
        return place / "closed"
    if not Path("/proc/self/fdinfo").is_dir():
        pytest.skip("root may write anywhere")
    return Path("/proc/self/fdinfo")


@pytest.mark.parametrize("writer", WRITERS)
def test_a_folder_that_takes_no_file_is_an_error_of_the_system(writer: str, place: Path) -> None:
    with pytest.raises(OSError, match=r"\[Errno") as refused:
        WRITERS[writer](_closed(place) / writer)
    assert "Traceback" not in str(refused.value)


COMMANDS = {
    "verify": ("verify", "softmax.noise-rate/upper/ambient", "--jobs", "1", "--out"),
    "prove": ("prove", "--law", "affine", "--d", "3", "--out"),
    "export": ("export", "ledger.json", "--out"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_refuses_a_folder_that_takes_no_file(
    command: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_ledger(EMPTY, place / "ledger.json")
    target = _closed(place) / ("proof.json" if command == "prove" else "")
    with pytest.raises(SystemExit) as ended:
        main([*COMMANDS[command], str(target)])
    said = [line for line in capsys.readouterr().err.splitlines() if "left out" not in line]
    assert (ended.value.code, len(said)) == (2, 1)
    assert "written" in said[0]
