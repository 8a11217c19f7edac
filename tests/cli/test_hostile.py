"""A ledger is data: its content is shown literally or refused in one line, and never executed."""

from __future__ import annotations

import ast
import base64
import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace
from rich.console import Console

from lipverify.claims.ledger import Figure, Panel, Series, read_ledger, write_ledger
from lipverify.cli.verify import verdict_table  # internal: the table of a hostile ledger, without a run
from lipverify.export import export_ledger
from tests import ROOT, tree_of
from tests.commands import Commands
from tests.hostile import FIGURES, HOSTILE, hostile_ledger, hostile_record
from tests.ledgers import ledger, record


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a hostile ledger and a smaller one."""
    place = tmp_path_factory.mktemp("hostile")
    write_ledger(hostile_ledger(), place / "ledger.json")
    write_ledger(ledger((hostile_record("terminal", HOSTILE["terminal"]),)), place / "other.json")
    return place


def squeezed(text: str) -> str:
    return re.sub(r"[\s\u00ad]+", "", text)


# ---- the terminal ----

OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("colour", [False, True])
def test_no_table_prints_terminal_control_sequences(colour: bool) -> None:
    out = io.StringIO()
    Console(file=out, force_terminal=colour, color_system="standard" if colour else None, width=80).print(
        verdict_table(hostile_ledger())
    )
    text = out.getvalue()
    assert not OBEYED.search(COLOURS.sub("", text))
    assert ("\x1b[" in text) == colour
    flat = squeezed(COLOURS.sub("", text))
    assert "[red]markup[/red]" in flat
    assert ":smile:" in flat
    assert "⟨U+001B⟩[31mred" in flat
    assert "\x1b]" not in text


def test_diff_and_its_errors_are_text(lipverify: Commands, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    done = lipverify("diff", "ledger.json", "other.json")
    assert done.returncode == 1
    assert not OBEYED.search(done.stdout)
    assert "U+001B" in done.stdout
    content = json.loads((folder / "other.json").read_text())
    content["claims"][0]["verdict"] = "\x1b[31mproved\x07\n\nsecond line"
    (folder / "bad.json").write_text(json.dumps(content))
    done = lipverify("diff", "ledger.json", "bad.json")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert not OBEYED.search(done.stderr)
    assert "$.claims[0].verdict" in done.stderr


# ---- exports ----


@pytest.fixture(scope="module")
def exported(folder: Path) -> Path:
    place = folder / "out" / "export"
    place.mkdir(parents=True)
    export_ledger(hostile_ledger(), place)
    return place


def test_no_file_is_written_elsewhere(exported: Path, folder: Path) -> None:
    assert not Path("/tmp/lipverify-escaped").exists()
    assert [path.name for path in (folder / "out").iterdir()] == ["export"]
    names = [path for path in exported.rglob("*") if path.is_file()]
    assert len(names) > 2 * len(FIGURES) + 5
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,140}", path.name) for path in names)


def test_no_text_of_a_table_is_a_formula_or_hides(exported: Path) -> None:
    seen = ""
    for path in exported.glob("*.csv"):
        for row in csv.reader(io.StringIO(path.read_bytes().decode(), newline="")):
            for field in row:
                seen += field
                numeric = re.fullmatch(r"-?\d[\d.e+-]*|-?inf|nan", field)
                assert numeric or not field.startswith(("=", "+", "-", "@", "\t", "\r")), field
                assert not OBEYED.search(field)
    assert "'=cmd|" in seen
    assert "⟨U+202E⟩gnp.exe" in seen


def test_a_figure_holds_no_element_of_its_text(exported: Path) -> None:
    figures = list((exported / "figures").glob("*.svg"))
    assert len(figures) == len(FIGURES)
    assert {name for names in FIGURES.values() for name in names} == set(HOSTILE)
    for path in figures:
        contents = drawn_in(path.read_bytes())
        assert len(contents) > 1  # the words, and the drawings that they stand around
        for content in contents:
            tags = {node.tag.rpartition("}")[2] for node in ElementTree.fromstring(content).iter()}
            assert not tags & {"script", "foreignObject", "a", "iframe"}
            assert b"<script" not in content
            assert b"<!ENTITY" not in content


def drawn_in(content: bytes) -> list[bytes]:
    """An SVG and those in it; an image of another kind, or one that is loaded from elsewhere, is an error."""
    found = [content]
    for node in ElementTree.fromstring(content).iter():
        if node.tag.rpartition("}")[2] == "image":
            [target] = (value for name, value in node.attrib.items() if name.rpartition("}")[2] == "href")
            kind, _, inner = target.partition(",")
            assert kind == "data:image/svg+xml;base64"
            found += drawn_in(base64.b64decode(inner))
    return found


def test_the_latex_holds_no_command_of_the_ledger(exported: Path) -> None:
    source = (exported / "theorems.tex").read_text()
    for command in ("input", "write", "def", "csname", "catcode", "include"):
        assert not re.search(rf"(?<!\\textbackslash{{}})\\{command}(?![A-Za-z])", source.replace("\\input this", ""))
    assert r"\textbackslash{}input\{/" in source.replace(r"\allowbreak{}", "")


def test_the_arrays_open(exported: Path) -> None:
    xarray = pytest.importorskip("xarray")
    with xarray.open_datatree(exported / "cells.nc", engine="h5netcdf") as tree:
        assert len(tree.children) == len({claim.id.split("/")[0] for claim in hostile_ledger().claims})


# ---- files that are not ledgers ----


def edited(change: Callable[[dict[str, Any]], None]) -> bytes:
    import msgspec

    content = json.loads(msgspec.json.encode(ledger((record(),))))
    change(content)
    return json.dumps(content).encode()


GOOD = edited(lambda content: None)
BAD: dict[str, tuple[bytes | None, str]] = {
    "missing": (None, "cannot be read (No such file or directory)"),
    "empty": (b"", "truncated"),
    "nothing": (b"{}", "`profile`"),
    "another record": (b'{"a": 1}', "`profile`"),
    "a number of claims": (b'{"claims": 3}', "not a lipverify ledger"),
    "not JSON": (b"not JSON", "malformed"),
    "a byte order mark": ("\ufeff".encode(), "malformed"),
    "cut": (GOOD[: len(GOOD) // 2], "truncated"),
    "binary": (bytes(range(256)), "byte 0"),
    "not text": (GOOD.replace(b"softmax", b"soft\xff\xfe"), "utf-8"),
    "a list": (b"[1, 2]", "`object`"),
    "foreign": (b'{"name": "package", "version": "1.0"}', "`profile`"),
    "deep": (b'{"claims": ' + b"[" * 100_000, "recursion"),
    "deep and unknown": (GOOD[:-1] + b', "extra": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "recursion"),
    "newer": (edited(lambda c: c.update(format="lipverify-ledger-9", claims="otherwise")), "'lipverify-ledger-9'"),
    "format of another type": (edited(lambda c: c.update(format=1)), "$.format"),
    "a number beyond all": (GOOD.replace(b'"seconds": 3.21', b'"seconds": 1e999'), "$.claims[0].seconds"),
    "NaN": (GOOD.replace(b'"seconds": 3.21', b'"seconds": NaN'), "malformed"),
    "text for a number": (edited(lambda c: c["claims"][0]["cells"][2].update(measured="0.5")), "cells[2].measured"),
    "a verdict of its own": (edited(lambda c: c["claims"][0].update(verdict="proved")), "$.claims[0].verdict"),
    "a claim without a source": (edited(lambda c: c["claims"][0].pop("source")), "`source`"),
    "a huge name": (edited(lambda c: c["claims"][0].update(verdict="v" * 10**6)), "not a lipverify ledger"),
    "a huge format": (edited(lambda c: c.update(format="f" * 10**6)), "this version reads"),
    "a pickle": (b"\x80\x04\x95\x1e\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x8c\x06system\x93.", "byte 0"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_ledger_is_refused_in_one_line_with_the_way_out(
    name: str, lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, named = BAD[name]
    if content is not None:
        (tmp_path / "bad.json").write_bytes(content)
    (tmp_path / "good.json").write_bytes(GOOD)
    before = sorted(tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    for command in (["report"], ["export"], ["audit"], ["diff", "good.json"]):
        done = lipverify(*command, "bad.json")
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), command
        assert len(done.stderr) < 500
        assert "bad.json" in done.stderr
        assert named in done.stderr
        assert done.stderr.endswith(
            ("; `lipverify verify --out FOLDER` writes FOLDER/ledger.json.\n", "verify again.\n")
        )
    assert sorted(tmp_path.iterdir()) == before


def test_nan_survives_the_ledger(lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON has no nan or inf; a run that produces one must still leave a readable ledger."""
    infinite, nothing = float("inf"), float("nan")
    series = Series(label="s", x=(1.0, 2.0, 3.0), y=(1.0, nothing, infinite))
    panel = Panel(title="t", xlabel="x", ylabel="y", series=(series,))
    check = replace(record().cross_checks[0], values=(nothing, 1.0), agrees=False)
    claim = record(figures=(Figure(caption="c", alt="a", panels=(panel,)),), cross_checks=(check,))
    write_ledger(ledger((claim,)), tmp_path / "ledger.json")
    (found,) = read_ledger(tmp_path / "ledger.json").claims
    assert repr(found.figures[0].panels[0].series[0].y) == "(1.0, nan, nan)"
    assert repr(found.cross_checks[0].values) == "(nan, 1.0)"
    monkeypatch.chdir(tmp_path)
    for command in ("report", "export"):
        assert lipverify(command, "ledger.json").returncode == 0
    assert lipverify("diff", "ledger.json", "ledger.json").returncode == 0


def test_numbers_beyond_all_bounds_are_read_or_refused(
    lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for digits in (400, 5000):
        written = GOOD.replace(b'"where": {"d": 2,', b'"where": {"d": 1' + b"0" * digits + b",", 1)
        (tmp_path / "ledger.json").write_bytes(written)
        for command in (["report"], ["export", "--format", "csv", "netcdf", "tex"], ["diff", "ledger.json"]):
            done = lipverify(*command, *(["--out", "out"] if command[0] == "export" else []), "ledger.json")
            assert "Traceback" not in done.stderr
            assert done.returncode == (0 if digits <= 400 else 2), (digits, command, done.stderr[-300:])


# ---- no code from data ----

FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml", "joblib", "code", "imp"}
CLAIMS_FILES = "claims/language/file.py"
"""A claims file is code and is documented as such: only its loader may run what it read."""


def violations(path: Path) -> list[str]:
    """The expressions in a source file that could execute data."""
    found = []
    for node in ast.walk(tree_of(path)):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in FORBIDDEN_CALLS:
                found.append(name)
            case ast.Import(names=names):
                found += [each.name for each in names if each.name.partition(".")[0] in FORBIDDEN_MODULES]
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in FORBIDDEN_MODULES:
                found.append(module)
            case ast.keyword(arg="allow_pickle" | "shell", value=ast.Constant(value=True)):
                found.append(str(node.arg))
            case ast.Attribute(value=ast.Name(id="os"), attr="system" | "popen"):
                found.append(node.attr)
    return found


SOURCES = [path for path in (ROOT / "lipverify").rglob("*.py") if CLAIMS_FILES not in path.as_posix()]


def test_nothing_in_the_package_runs_data() -> None:
    assert len(SOURCES) > 150
    found = {path.relative_to(ROOT).as_posix(): each for path in SOURCES if (each := violations(path))}
    # a run sends calls to its own processes, as multiprocessing does; it reads no file in this way
    assert found == {"lipverify/claims/run/workers.py": ["pickle"]}


def test_the_search_for_dangerous_calls_finds_them(tmp_path: Path) -> None:
    bad = "import pickle\nfrom yaml import load\neval('1')\nexec('')\nos.system('ls')\nnp.load(f, allow_pickle=True)\n"
    (tmp_path / "bad.py").write_text(bad)
    assert sorted(violations(tmp_path / "bad.py")) == ["allow_pickle", "eval", "exec", "pickle", "system", "yaml"]


def test_reading_a_ledger_needs_no_algebra_and_no_claims(folder: Path) -> None:
    """SymPy evaluates text, so the commands that read ledgers must not import it or the checks."""
    script = (
        "import sys; from pathlib import Path; from lipverify.cli.compare import diff_ledgers; "
        "from lipverify.cli.reports import export; "
        "diff_ledgers(Path('other.json'), Path('other.json'), True); "
        "export(Path('other.json'), ('csv', 'tex', 'svg'), Path('out2')); "
        "print([m for m in sys.modules if m.partition('.')[0] in ('sympy', 'checks', 'pickle5')], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == "[]"
