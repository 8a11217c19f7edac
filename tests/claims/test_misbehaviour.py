"""Side effects of a claims file neither end the run nor reach standard output, and the message names its claim."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from lipverify.claims.run.measurement import GIVEN_UP_AFTER  # internal: how many limits a measurement gets
from lipverify.foundation.output import diverted  # internal: file descriptors must come back
from lipverify.foundation.process import Interrupted, interruptible  # internal: a signal apart from any command
from tests.commands import Commands

FILE = dedent("""\
    import os, subprocess, sys, time, warnings
    from lipverify.claims import bound, claim

    print("at import")
    os.write(1, b"descriptor at import\\n")

    def good(x):
        print("print")
        os.write(1, b"descriptor\\n")
        subprocess.run(["echo", "subprocess"], check=True)
        sys.__stdout__.write("original\\n")
        return x * x, 1e-12

    def warns(x):
        warnings.warn("something is odd")
        return x * x, 1e-12

    def raises(x):
        raise {error}

    for name, function in (("good", good), ("warns", warns), ("raises", raises)):
        claim("mine." + name, bound(function, "x^2", high="x", control="x / 20"), over={{"x": (0.1, 0.2)}},
              source=("My notes", "Lemma 1", "smaller"), kind="printed", expected="supported")
""")
ERRORS = ("KeyboardInterrupt", "GeneratorExit", "BaseException('mine')", "SystemExit(0)", "asyncio.CancelledError()")


@pytest.mark.filterwarnings("default")
@pytest.mark.usefixtures("no_reports")
@pytest.mark.parametrize("error", ERRORS)
def test_an_exception_is_an_error_of_its_cell_only(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], error: str
) -> None:
    path = tmp_path / "my_claims.py"
    path.write_text("import asyncio\n" + FILE.format(error=error), encoding="utf-8")
    done = Commands(capfd)("verify", str(path), "--out", str(tmp_path / "out"), "--json", "--jobs", "1")
    assert done.returncode == 3
    verdicts = {record["id"]: record for record in json.loads(done.stdout)["claims"]}
    assert verdicts["mine.good"]["verdict"] == verdicts["mine.warns"]["verdict"] == "supported"
    assert verdicts["mine.raises"]["verdict"] == "error"
    assert "Traceback" not in done.stderr
    for text in ("at import", "descriptor at import", "print", "descriptor", "subprocess", "original"):
        assert text in done.stderr.splitlines()
    named = [line for line in done.stderr.splitlines() if "something is odd" in line]
    assert named
    assert all("mine.warns" in line for line in named)


SLOW = dedent("""\
    import time
    from lipverify.claims import bound, claim

    def endless(x):
        try:
            time.sleep(60)
        except Exception:
            time.sleep(60)
        return x * x, 1e-12

    claim("mine.endless", bound(endless, "x^2", high="x", control="x / 20"),
          over={"x": tuple(k / 40 for k in range(1, 29))}, source=("My notes", "Lemma 1", "smaller"), kind="printed",
          expected="supported")
""")


@pytest.mark.usefixtures("no_reports")
def test_a_claim_that_runs_out_of_time_is_given_up_after_a_few(
    lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "my_claims.py"
    path.write_text(SLOW, encoding="utf-8")
    done = lipverify("verify", str(path), "--out", str(tmp_path / "out"), "--json", "--jobs", "1", "--limit", "0.3")
    (record,) = json.loads(done.stdout)["claims"]
    assert record["verdict"] == "error"
    assert "did not end within 0.3 s" in record["problem"]
    # each attempt took its 0.3 s; one second in all is enough for a busy machine
    assert record["seconds"] < 0.3 * GIVEN_UP_AFTER + 1


def test_output_is_diverted_and_given_back(capfd: pytest.CaptureFixture[str]) -> None:
    with diverted(), diverted():
        print("one")
        subprocess.run([sys.executable, "-c", "print('two')"], check=True)
        os.write(1, b"three\n")
    print("four", flush=True)
    out, err = capfd.readouterr()
    assert out == "four\n"
    assert err.split() == ["one", "two", "three"]


def test_a_keyboard_interrupt_of_ones_own_is_no_signal() -> None:
    import signal

    with pytest.raises(Interrupted), interruptible():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


HOSTILE = dedent("""\
    import os, threading, time
    from lipverify.claims import bound, claim

    def hostile(x):
        {does}
        return x * x, 1e-12

    def good(x):
        return x * x, 1e-12

    for function in (hostile, good):
        claim("mine." + function.__name__, bound(function, "x^2", high="x", control="x / 20"), over={{"x": (0.1,)}},
              source=("My notes", "Lemma 1", "smaller"), kind="printed", expected="supported")
""")
HOSTILITIES = {
    "ends its process": ("os._exit(0)", "was killed"),
    "runs in compiled code": ("sum(range(10**12))", "did not end within 1 s"),
    "recurses": ("hostile(x)", "RecursionError"),
    "forks": ("os.fork() or os._exit(0)", ""),
    "forks, and both go on": ("os.fork()", ""),
    "leaves a child and runs on": (
        "if os.fork(): sum(range(10**12))\n    else: os.execlp('sleep', 'sleep', '1000')",
        "did not end",
    ),
    "raises what UTF-8 cannot write": ("raise ValueError(chr(0xD800))", "ValueError: \\ud800"),
    "leaves a thread that does not end": ("threading.Thread(target=time.sleep, args=(1000,)).start()", ""),
    "changes the folder": ("os.chdir('/')", ""),
    "raises a long text": ("raise ValueError('x' * 100_000)", "100000 letters"),
    "raises a long name": ("raise type('E' * 100_000, (Exception,), {})('no')", "100000 letters"),
}


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("what", HOSTILITIES)
def test_one_job_is_a_process_too(
    lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, request: pytest.FixtureRequest
) -> None:
    """A report is written on what an exception says; the ledgers of the others are alike."""
    if not what.startswith("raises"):
        request.getfixturevalue("no_reports")
    does, problem = HOSTILITIES[what]
    monkeypatch.chdir(tmp_path)
    Path("my_claims.py").write_text(HOSTILE.format(does=does), encoding="utf-8")
    done = lipverify("verify", "my_claims.py", "--out", "out", "--json", "--jobs", "1", "--limit", "1")
    records = {record["id"]: record for record in json.loads(done.stdout)["claims"]}
    assert records["mine.good"]["verdict"] == "supported"
    assert records["mine.hostile"]["verdict"] == ("error" if problem else "supported")
    assert problem in records["mine.hostile"].get("problem", "")
    assert len(done.stdout) < 20_000
    assert Path("out/ledger.json").stat().st_size < 20_000
    assert Path("out/report.html").exists()
