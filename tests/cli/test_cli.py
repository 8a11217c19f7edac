"""The command line, run as a user runs it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from lipverify.claims.ledger import write_ledger
from lipverify.claims.run.kept import NAME  # internal: the only file that an interrupted run may leave
from lipverify.cli import commands
from tests import ROOT
from tests.commands import CLAIMS_FILE, QUICK_FILE, Commands, Done, kept_in
from tests.ledgers import realistic

ENVIRONMENT = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}


def process(*arguments: str, cwd: Path | None = None, **environment: str) -> Done:
    """A command in a separate process, as a user starts it."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True, text=True, env={**ENVIRONMENT, **environment}, cwd=cwd, timeout=240, check=False,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)


LOSS = ("loss", "--d", "5", "--n", "100", "--law", "relu", "--L", "1", "--sigma", "1")
TRAIN = ("train", "lt.table-1")
ONE_MODEL = ("--noise", "uniform-2", "--family", "OMEGA", "--layers", "1", "--seeds", "0")
WINDOW = ("window", "--d", "5", "--n", "100", "--law", "affine")


def parameters(app: Any) -> Iterator[tuple[str, Any]]:
    """The name and the parameters of each command, also of those inside others."""
    if app.default_command:
        for parameter in app.assemble_argument_collection():
            yield f"{app.name[0]} {parameter.name}", parameter
    for name in app:
        if not name.startswith("-"):
            yield from parameters(app[name])


def test_no_command_rounds_an_integer() -> None:
    """Without a converter the parser of options takes 2.5 for 2."""
    whole = {name: each for name, each in parameters(commands()) if re.search(r"\bint\b", str(each.hint))}
    assert {"loss --d", "prove --d", "train --layers", "verify --jobs"} <= set(whole)
    assert [name for name, each in whole.items() if each.parameter.converter is None] == []


def test_a_list_without_a_value_is_refused() -> None:
    lists = {name: each for name, each in parameters(commands()) if " --" in name and "list[" in str(each.hint)}
    assert {"loss --w", "prove --d", "train --noise", "export --format"} <= set(lists)
    assert [name for name, each in lists.items() if each.parameter.consume_multiple != (1, None)] == []


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("loss", "--d", "5", "--n", "0", "--w", "1"), "n = 0"),
        (("loss", "--d", "5", "--n", "2.5", "--w", "1"), "n = 2.5"),
        (("loss", "--d", "1", "--n", "10", "--w", "1"), "d = 1"),
        (("prove", "--law", "relu", "--d", "2.5"), "2.5"),
        (("train", "lt.table-1", "--layers", "2", "1.5"), "1.5"),
        (("loss", "--d", "five", "--n", "10", "--w", "1"), "five"),
        ((*LOSS, "--w", "-1"), "w = -1"),
        ((*LOSS, "--w", "nan"), "w = nan"),
        ((*LOSS, "--w", "inf"), "w = inf"),
        ((*LOSS,), "--w"),
        ((*LOSS, "--w"), "--w"),
        ((*LOSS, "--w", "1", "--method", "magic"), "magic"),
        ((*LOSS, "--w", "1", "--contexts", "10"), "contexts"),
        ((*LOSS, "--w", "1", "--method", "montecarlo", "--contexts", "1"), "contexts = 1"),
        ((*LOSS, "--w", "1", "--method", "montecarlo", "--backend", "cupy"), "GPU"),
        ((*LOSS, "--w", "1", "--method", "montecarlo", "--jobs", "0"), "--jobs"),
        ((*WINDOW, "--sigma", "-1"), "sigma = -1"),
        ((*WINDOW, "--sigma", "nan"), "sigma = nan"),
        ((*WINDOW, "--L", "-2"), "L = -2"),
        ((*WINDOW, "--L", "inf"), "L = inf"),
        ((*WINDOW, "--L", "0", "--sigma", "0"), "L = 0"),
        (("window", "--d", "5", "--n", "1e31"), "1e+31"),
        (("window", "--d", "5", "--n", "10", "--law", "cubic"), "cubic"),
        (("verify", "softmax.windw-printed"), "softmax.window-printed"),
        (("verify", "--profile", "slow"), "slow"),
        (("verify", "--backend", "tpu"), "tpu"),
        (("verify", "--backend", "cupy"), "GPU"),
        (("verify", "--jobs", "-1"), "--jobs"),
        (("verify", "--jobs", "2", "--cluster", "tcp://127.0.0.1:1"), "give one of them"),
        (("verify", "--limit", "0"), "limit = 0"),
        (("verify", "--limit", "9", "--jobs", "0"), "jobs = 0 and limit = 9: nothing ends a measurement"),
        (("verify", "--frobnicate"), "--frobnicate"),
        (("verify", "--out", "/dev/null/reports"), "/dev/null/reports"),
        (("explain", "nothing"), "nothing"),
        (("explain", "mine.window"), "yours need their file"),
        (("report", "no-such-ledger.json"), "no-such-ledger.json"),
        (("report", "/dev/null"), "/dev/null"),
        (("frobnicate",), "frobnicate"),
        (("loss", "--d", "8", "--n", "100", "--w", "2", "--method", "asymptotic"), "method='exact'"),
        (("train", "lt.table-2"), "lt.table-1"),
        ((*TRAIN, "--noise", "uniform-9"), "uniform-9"),
        ((*TRAIN, "--noise", "uniform-3@5x10"), "uniform-3@5x10"),
        ((*TRAIN, "--family", "GD++"), "DIAG, SAFE, OMEGA, LOWRANK, FULL, SAFEFULL"),
        ((*TRAIN, "--layers", "0"), "layers = 0"),
        ((*TRAIN, "--layers", "8"), "layers = 8"),
        ((*TRAIN, "--seeds", "-1"), "'-1' is not an integer >= 0"),
        ((*TRAIN, *ONE_MODEL, "--backend", "cupy"), "native, numpy"),
        ((*TRAIN, *ONE_MODEL, "--out", "/dev/null/x"), "/dev/null/x"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], named: str, lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if arguments[-1] == "cupy":
        try:
            import cupy

            if cupy.cuda.is_available():
                pytest.skip("there is a GPU")
        except ImportError:
            pass
    monkeypatch.chdir(tmp_path)
    is_refused(lipverify(*arguments), named)
    assert list(tmp_path.iterdir()) == []


def is_refused(done: Done, named: str) -> None:
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert named in done.stderr


def test_bad_input_to_a_separate_process(tmp_path: Path) -> None:
    is_refused(process("-m", "lipverify", "loss", "--d", "5", "--n", "0", "--w", "1", cwd=tmp_path), "n = 0")
    assert list(tmp_path.iterdir()) == []


def test_help_needs_no_numerical_library(lipverify: Commands) -> None:
    heavy = ("numpy", "scipy", "sympy", "matplotlib", "lipverify.foundation.latex.reader")
    script = f"import sys, lipverify.cli; lipverify.cli.commands(); print([m for m in {heavy} if m in sys.modules])"
    assert process("-c", script).stdout.strip() == "[]"
    done = process("-m", "lipverify", "--help")
    assert done.returncode == 0
    for command in ("verify", "list", "explain", "loss", "window", "report"):
        assert command in done.stdout
        assert lipverify(command, "--help").returncode == 0


def test_loss_as_a_table_and_as_json(lipverify: Commands) -> None:
    table = lipverify(*LOSS, "--w", "0.5", "5", "50")
    assert table.returncode == 0
    assert "0.05684417" in table.stdout
    content = json.loads(lipverify(*LOSS, "--w", "0.5", "5", "50", "--json").stdout)
    assert content["problem"] == {"d": 5, "n": 100, "law": "relu", "L": 1.0, "sigma": 1.0}
    assert content["w"] == [0.5, 5.0, 50.0]
    assert content["total"] == [b + n for b, n in zip(content["bias"], content["noise"], strict=True)]
    assert all(error < 1e-9 * value for error, value in zip(content["bias_error"], content["bias"], strict=True))


def test_loss_by_monte_carlo_is_repeatable_and_near(lipverify: Commands) -> None:
    sampled = (*LOSS, "--w", "5", "--method", "montecarlo", "--contexts", "2000", "--seed", "3", "--json")
    first, second = lipverify(*sampled), lipverify(*sampled)
    assert first.stdout == second.stdout
    content = json.loads(first.stdout)
    exact = json.loads(lipverify(*LOSS, "--w", "5", "--json").stdout)
    assert abs(content["bias"][0] - exact["bias"][0]) <= 2 * content["bias_error"][0]


@pytest.mark.parametrize("extra", [("--method", "certified"), ("--law", "cosine")])
def test_loss_by_other_methods_and_laws(extra: tuple[str, ...], lipverify: Commands) -> None:
    law = () if "--law" in extra else ("--law", "quadratic")
    run = lipverify("loss", "--d", "3", "--n", "1000", *law, "--w", "2", "5", *extra, "--json")
    assert run.returncode == 0, run.stderr
    content = json.loads(run.stdout)
    assert len(content["bias"]) == 2
    assert ("bias_ball" in content) == ("certified" in extra)


def test_window_as_json_is_the_optimum(lipverify: Commands) -> None:
    content = json.loads(lipverify(*WINDOW, "--json").stdout)
    from lipverify import Problem, optimal_window
    from lipverify.laws import Affine

    optimum = optimal_window(Problem(d=5, n=100, law=Affine()))
    assert abs(content["w"] - optimum.w) <= content["w_error"] + optimum.w_error
    assert content["where"] == "interior"
    assert "2.4755896" in lipverify(*WINDOW).stdout


def test_list_and_explain_name_every_claim(lipverify: Commands) -> None:
    claims = json.loads(lipverify("list", "--json").stdout)
    assert len(claims) >= 40
    listed = lipverify("list").stdout
    assert "recorded" in listed
    one = next(claim for claim in claims if claim["id"] == "softmax.window-printed/affine/lower/ambient")
    explained = lipverify("explain", one["id"])
    assert explained.returncode == 0
    said = " ".join(explained.stdout.split())
    for text in (
        one["id"],
        one["claimed"],
        "must come out refuted",
        "Collins et al. (2024), slides, Theorem 2",
        "refuted",
    ):
        assert text in said


@pytest.mark.parametrize(
    ("columns", "patterns"), [(40, ("softmax.*", "lt.*")), (80, ("softmax.window-printed/*", "lt.second-order*"))]
)
def test_explanations_are_readable_in_a_terminal(
    lipverify: Commands, columns: int, patterns: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The explanation of a claim of a paper has no LaTeX, no key of a source and no line that is too long.

    That of every claim in the narrow terminal, where lines are hardest to keep, and of some in the usual one.
    """
    monkeypatch.setenv("COLUMNS", str(columns))
    ids = {claim["id"] for claim in json.loads(lipverify("list", "--json").stdout)}
    for command in ("explain", "list"):
        done = lipverify(command, *patterns)
        assert done.returncode == 0
        assert max(cell_len(line) for line in done.stdout.splitlines() if line not in ids) <= columns
        assert not re.search(r"\\[a-zA-Z]|\$|^  source\s+[SRAV],", done.stdout, re.MULTILINE)


@pytest.fixture
def claims_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("my_claims.py").write_text(QUICK_FILE, encoding="utf-8")
    return "my_claims.py"


def test_verify_writes_a_ledger_and_a_report(lipverify: Commands, claims_file: str) -> None:
    folder = Path("new") / "folder"
    done = lipverify("verify", claims_file, "--out", str(folder), "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert "supported" in done.stdout
    assert done.stdout.splitlines()[-1] == "exit code 0: every verdict is as recorded"
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert sorted(path.name for path in folder.iterdir()) == ["ledger.json", "report.html", "report.pdf"]
    ledger = json.loads((folder / "ledger.json").read_text())
    for name in ("id", "verdict", "measured", "claimed", "margin", "control", "seconds", "cells"):
        assert name in ledger["claims"][0]
    for name, command in (("report.pdf", ["report"]), ("report.html", ["report", "--html"])):
        first = (folder / name).read_bytes()
        (folder / name).unlink()
        done = lipverify(*command, str(folder / "ledger.json"))
        assert (done.returncode, done.stderr.split()) == (0, [str(folder / name)])
        assert (folder / name).read_bytes() == first, "same ledger, same bytes"


def test_a_web_page_is_written_where_it_is_asked_for(lipverify: Commands, tmp_path: Path) -> None:
    write_ledger(realistic(), tmp_path / "ledger.json")
    for command in (["--out", str(tmp_path / "new" / "a.html")], ["--html", "--out", str(tmp_path / "b.HTM")]):
        assert lipverify("report", str(tmp_path / "ledger.json"), *command).returncode == 0
        assert Path(command[-1]).read_bytes().startswith(b"<!DOCTYPE html>")
    done = lipverify("report", str(tmp_path / "ledger.json"), "--html", "--out", str(tmp_path / "c.pdf"))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "a web page is a file whose name ends in .html" in done.stderr
    assert not (tmp_path / "c.pdf").exists()


def test_open_shows_the_page_or_says_where_it_lies(
    lipverify: Commands, claims_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []

    def browser(address: str) -> bool:
        shown.append(address)
        return True

    monkeypatch.setattr("webbrowser.open", browser)
    monkeypatch.setenv("BROWSER", "some-browser")
    assert lipverify("verify", claims_file, "--out", "out", "--jobs", "1", "--open").returncode == 0
    page = (tmp_path / "out" / "report.html").resolve()
    assert shown == [page.as_uri()]
    assert page.read_bytes().startswith(b"<!DOCTYPE html>")
    page.unlink()
    assert lipverify("report", "out/ledger.json", "--open").returncode == 0
    assert shown == [page.as_uri()] * 2
    assert page.exists()
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    done = lipverify("report", "out/ledger.json", "--open")
    assert (done.returncode, len(shown)) == (0, 2), "nothing is started without a screen"
    assert done.stderr.splitlines()[-1] == f"lipverify: no browser to show it in; the page is {page}"


def test_an_interruption_prints_one_line_and_keeps_finished_measurements(tmp_path: Path) -> None:
    (tmp_path / "my_claims.py").write_text(CLAIMS_FILE.replace("0.25", "1.0 if x < 0.3 else 60.0"), encoding="utf-8")
    running = subprocess.Popen(
        [sys.executable, "-m", "lipverify", "verify", "my_claims.py", "--out", "out", "--jobs", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, start_new_session=True,
        cwd=tmp_path,
    )  # fmt: skip
    waited = time.monotonic() + 60
    while kept_in(tmp_path / "out") < 2 and time.monotonic() < waited:
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGINT)
    stdout, stderr = running.communicate(timeout=30)
    assert running.returncode == 130
    assert stdout == ""
    assert stderr.splitlines()[-1].startswith("lipverify: interrupted; finished measurements are in ")
    assert stderr.splitlines()[-1].endswith("by the same command with --resume.")
    assert "Traceback" not in stderr
    assert {path.name.split("-")[0] for path in (tmp_path / "out").iterdir()} == {NAME}
    assert kept_in(tmp_path / "out") == 2


@pytest.mark.usefixtures("no_reports")
def test_strict_and_json(lipverify: Commands, tmp_path: Path) -> None:
    done = lipverify(
        "verify", "softmax.gaussian-window/proof", "--out", str(tmp_path), "--jobs", "1", "--strict", "--json"
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["claims"][0]["verdict"] == "refuted"


@pytest.mark.slow
@pytest.mark.parametrize("command", [("-m", "checks", "softmax.gaussian-window"), ("checks/softmax/kernel.py",)])
def test_the_checks_run_from_the_folder_and_from_the_file(command: tuple[str, ...], tmp_path: Path) -> None:
    done = process(*command, "--out", str(tmp_path), "--jobs", "1", cwd=ROOT, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    assert "softmax.gaussian-window" in done.stdout
    ledger = json.loads((tmp_path / "ledger.json").read_text())
    assert "softmax.gaussian-window/intuition" in {claim["id"] for claim in ledger["claims"]}


@pytest.mark.parametrize("failing", ["report.pdf", "report.html"])
def test_a_failed_report_affects_no_other_output(
    failing: str, claims_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lipverify.claims.ledger import read_ledger
    from lipverify.cli import reports, verify  # internal: one of the writers is made to fail
    from lipverify.cli.app import How, Output, ReportOptions  # internal: the options of a run in this process

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    shown: list[Path] = []
    monkeypatch.setitem(reports.WRITERS, failing, full)
    monkeypatch.setattr(verify, "show", shown.append)
    code = verify.verify_claims([claims_file], How(jobs=1), ReportOptions(open=True), tmp_path, Output())
    assert code == 3
    assert len(read_ledger(tmp_path / "ledger.json").claims) == 1
    assert not (tmp_path / failing).exists()
    (other,) = {"report.pdf", "report.html"} - {failing}
    assert (tmp_path / other).stat().st_size > 1000
    assert shown == ([tmp_path / "report.html"] if failing == "report.pdf" else [])
    last = capsys.readouterr().err.splitlines()[-1]
    assert "No space left on device" in last
    assert str(tmp_path / failing) in last


@pytest.mark.parametrize(
    ("verdict", "expected", "caught", "strict", "code"),
    [
        ("supported", "supported", True, False, 0), ("refuted", "refuted", True, False, 0),
        ("refuted", "refuted", True, True, 1), ("supported", "refuted", True, False, 1),
        ("inconclusive", "supported", False, False, 1), ("inconclusive", "inconclusive", False, False, 1),
        ("error", "supported", False, False, 3),
    ],
)  # fmt: skip
def test_exit_codes(verdict: str, expected: str, caught: bool, strict: bool, code: int) -> None:
    import msgspec

    from lipverify.claims.ledger import Control, Ledger, Provenance, Record, Source
    from lipverify.report.terminal.ending import exit_code  # internal: the exit code of a ledger that no run made

    record = Record(
        id="a.b", title="t", statement="s", source=Source("S", "p", "q"), kind="printed", grade=None, assumptions=(),
        verdict=verdict, expected=expected, measured="", claimed="c", margin=None,  # type: ignore[arg-type]
        control=Control(statement="x", caught=caught), finding="", seconds=0.0, cells=(),
    )  # fmt: skip
    made = Provenance(versions={}, machine="", started="", seconds=0.0)
    ledger = Ledger(profile="quick", seed=0, backend="numpy", provenance=made, claims=(record,))
    assert exit_code(ledger, strict) == code
    assert msgspec.json.decode(msgspec.json.encode(ledger), type=Ledger) == ledger
