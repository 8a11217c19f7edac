"""Claims of one's own: the files that work, those that are refused with their line, and where they are measured."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
import pytest

import lipverify
from lipverify.claims.claim import Claim
from lipverify.claims.expression import expression, number_at
from lipverify.claims.finished import NAME, Finished
from lipverify.claims.ledger import Ledger, Record
from lipverify.claims.own.loading import claims_of
from lipverify.claims.own.start import text_of
from lipverify.claims.registry import all_claims, headings, profile_named, select_claims
from lipverify.claims.runner import run
from lipverify.cli import main
from lipverify.cli.verify import exit_code
from lipverify.errors import InvalidInput

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}
QUICK = profile_named("quick")

POWER = dedent("""\
    from lipverify import scaling_claim

    @scaling_claim(
        id="mine.power/test",
        title="A power",
        statement=r"q = \\Theta(n^{1/d})",
        source=("My notes", "Theorem 1", "$q$ grows"),
        quantity="q",
        side="theta",
        claimed="1/d",
        control="1/(d + 1)",
        d=(2, 3),
        expected="supported",
    )
    def power(d, n):
        return 2 * n ** (1 / d) * (1 + 1 / n)
""")
SQUARE = dedent("""\
    from lipverify import bound_claim

    @bound_claim(
        id="mine.square",
        title="A square",
        statement=r"x^2 \\leq x",
        source=("My notes", "Lemma 1", "smaller"),
        quantity="x²",
        cells=[
            dict(x=0.5),
            dict(x=0.25),
        ],
        high="x",
        control="x / 10",
    )
    def square(x):
        return x * x, 1e-12
""")


def lipverify_(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lipverify", *arguments],
        capture_output=True, text=True, env=ENVIRONMENT, cwd=cwd, timeout=240, check=False,
    )  # fmt: skip


def write(folder: Path, text: str, name: str = "my_claims.py") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def verified(folder: Path, text: str, **how: Any) -> dict[str, Record]:
    claims = claims_of(write(folder, text), how.pop("profile", QUICK))
    return {record.id: record for record in run(claims, **{"jobs": 1, **how}).claims}


def findings(ledger: Ledger) -> bytes:
    """Everything that a ledger found; not what it took."""
    return msgspec.json.encode(tuple(msgspec.structs.replace(record, seconds=0.0) for record in ledger.claims))


def code_lines(text: str) -> int:
    """Lines that are neither empty nor comments nor the docstring at the top."""
    body = re.sub(r'^""".*?"""', "", text, count=1, flags=re.DOTALL)
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in body.splitlines())


# ---- what works


@pytest.mark.parametrize("options", [(), ("--bound",)])
def test_the_start_verifies_as_it_stands(options: tuple[str, ...], tmp_path: Path) -> None:
    assert lipverify_("new", "claim", *options, cwd=tmp_path).returncode == 0
    text = (tmp_path / "my_claims.py").read_text()
    assert code_lines(text) <= 30
    done = lipverify_("verify", "my_claims.py", "--jobs", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "supported" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert (tmp_path / "reports" / "report.pdf").read_bytes().startswith(b"%PDF")
    record = json.loads((tmp_path / "reports" / "ledger.json").read_text())["claims"][0]
    assert record["verdict"] == "supported"
    assert record["control"]["caught"]
    assert record["expected"] is None
    assert record["figures"]
    assert record["finding"]
    assert record["reproduce"] == f"lipverify verify my_claims.py {record['id']}"


@pytest.mark.parametrize("kind", ["scaling", "bound"])
def test_the_start_passes_ruff(kind: Any, tmp_path: Path) -> None:
    pytest.importorskip("ruff")
    path = write(tmp_path, text_of(kind))
    for command in (("check",), ("format", "--check")):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--line-length", "120", "--isolated", path],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout


def test_nothing_is_overwritten_and_a_start_ends_in_py(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "kept")
    for arguments in ((), ("claims.txt",), ("no/such/folder/claims.py",), (str(tmp_path),)):
        with pytest.raises(SystemExit) as ended:
            main(["new", "claim", *arguments])
        printed = capsys.readouterr()
        assert (ended.value.code, printed.out, len(printed.err.splitlines())) == (2, "", 1)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["kept"]


def test_the_files_of_the_document_verify(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/your-own-claims.md").read_text(), re.M | re.S)
    assert len(blocks) == 2
    assert all(code_lines(block) <= 30 for block in blocks)
    found = verified(tmp_path, blocks[0].replace("d=(2, 3, 5)", "d=(2,), points=14") + blocks[1])
    assert {id: record.verdict for id, record in found.items()} == {
        "mine.window/kink": "supported",
        "mine.bias/waves": "supported",
    }


def test_sides_near_misses_and_a_record_that_does_not_hold(tmp_path: Path) -> None:
    def verdict(side: str, claimed: str, control: str) -> str:
        text = POWER.replace('"theta"', f'"{side}"').replace('"1/d"', f'"{claimed}"')
        found = verified(tmp_path, text.replace('"1/(d + 1)"', f'"{control}"'))["mine.power/test"]
        assert found.control.caught
        return found.verdict

    assert verdict("lower", "1/d - 1/50", "2/d") == "supported"
    assert verdict("lower", "1/d + 1/50", "2/d") == "refuted"
    assert verdict("upper", "1/d + 1/50", "1/(2*d)") == "supported"
    assert verdict("upper", "1/d - 1/50", "1/(2*d)") == "refuted"
    assert verdict("theta", "1/d + 1/1000", "2/d") == "refuted"


def test_a_new_claim_is_compared_with_nothing_and_a_recorded_one_is(tmp_path: Path) -> None:
    def code(text: str, strict: bool = False) -> int:
        return exit_code(run(claims_of(write(tmp_path, text), QUICK), jobs=1), strict)

    refuted = POWER.replace('"1/d"', '"2/d"')
    assert code(POWER) == 0
    assert code(refuted) == 1
    assert code(refuted.replace('    expected="supported",\n', "")) == 0
    assert code(refuted.replace('    expected="supported",\n', ""), strict=True) == 1
    escaped = POWER.replace('    expected="supported",\n', "").replace('"1/(d + 1)"', '"1/d + 1/10**12"')
    assert code(escaped) == 1


def test_two_claims_on_one_function_share_its_measurements(tmp_path: Path) -> None:
    before, decorator, function = re.split(r"(?=@scaling_claim)|(?=def power)", POWER)
    second = decorator.replace("mine.power/test", "mine.power/two").replace("2, 3", "3, 5")
    claims = claims_of(write(tmp_path, before + decorator + second + function), QUICK)
    assert sorted(claim.id for claim in claims) == ["mine.power/test", "mine.power/two"]
    one, two = ({address for address in claim.tasks if "d=3, n" in address} for claim in claims)
    assert one == two
    assert len(one) > 20


def test_a_second_method_is_asked_and_heard(tmp_path: Path) -> None:
    def with_second(value: str) -> Record:
        second = f"def second(d, n):\n    return {value}, 1e-6\n\n"
        text = POWER.replace("@scaling_claim(", second + "@scaling_claim(").replace(
            "d=(2, 3)", "cross_check=second, d=(2, 3)"
        )
        return verified(tmp_path, text)["mine.power/test"]

    agreeing = with_second("2 * n ** (1 / d) * (1 + 1 / n)")
    assert agreeing.verdict == "supported"
    assert [check.methods for check in agreeing.cross_checks] == 2 * [("own", "second")]
    assert with_second("2.1 * n ** (1 / d)").verdict == "inconclusive"


def test_a_bound_on_both_sides_and_text_in_a_cell(tmp_path: Path) -> None:
    text = SQUARE.replace('high="x",', 'low="x**2 - 1/100", high="x",').replace("x=", 'kind="a", x=')
    text = text.replace('"x / 10"', 'dict(low="x / 2 + 1/2")').replace("square(x)", "square(kind, x)")
    record = verified(tmp_path, text)["mine.square"]
    assert (record.verdict, record.control.caught, record.expected) == ("supported", True, None)
    assert [(cell.allowed.low, cell.allowed.high) for cell in record.cells] == [(0.24, 0.5), (0.0525, 0.25)]


def test_sampling_follows_the_seed_and_the_profile_of_the_command_line(tmp_path: Path) -> None:
    text = SQUARE.replace("def square(x):", "def square(x, *, seed, contexts):").replace(
        "x * x, 1e-12", "x * x + seed / 1e6 + contexts / 1e9, 1e-12"
    )
    claims = {k: claims_of(write(tmp_path, text), profile_named("quick", seed=k)) for k in (0, 3)}
    assert set(claims[0][0].tasks).isdisjoint(claims[3][0].tasks)
    found = run(claims[3], jobs=1).claims[0].cells[0].measured
    assert found == pytest.approx(0.25 + 3e-6 + QUICK.contexts / 1e9, abs=1e-12)


def test_plain_claims_and_a_function_that_returns_them(tmp_path: Path) -> None:
    text = dedent("""
        from dataclasses import dataclass
        from lipverify.claims.claim import CellPlan, Claim, Reading, Task
        from lipverify.claims.figure import Figure
        from lipverify.claims.ledger import Source
        from lipverify.claims.verdict import Allowed, Interval

        @dataclass
        class Shift:
            by: float

        def one(x: float) -> float:
            return x + Shift(1.0).by

        def read(result, allowed):
            return Reading(Interval(result, result))

        def make(id, x):
            task = Task(one, (x,))
            return Claim(
                id=id, title="t", statement="s", source=Source(paper="P", place="p", printed="q"), claimed="= 3",
                control="= 4", expected="supported",
                cells=(CellPlan({"d": 2}, task, "x", read, "= 3", Allowed(3, 3), Allowed(4, 4)),),
                finding=lambda results: f"it is {results[task.address]}",
            )

        PLAIN = [make("mine.plain", 2.0)]

        def claims(profile):
            return [make(f"mine.made/{profile.name}", 2.0)]
    """)
    claims = claims_of(write(tmp_path, text), QUICK)
    for how in ({"jobs": 1}, {"executor": spawned()}):
        records = run(claims, **how).claims
        assert [(r.id, r.verdict, r.finding) for r in records] == [
            ("mine.plain", "supported", "it is 3.0"),
            ("mine.made/quick", "supported", "it is 3.0"),
        ]


def test_a_value_and_its_error_may_come_as_an_array_and_the_function_decorated(tmp_path: Path) -> None:
    text = SQUARE.replace("return x * x, 1e-12", "return np.array([x * x, 1e-12])")
    cached = "import functools\nimport numpy as np\n" + text.replace("def square", "@functools.cache\ndef square")
    assert verified(tmp_path, cached)["mine.square"].verdict == "supported"


# ---- where it is measured


def spawned() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def test_the_same_ledger_on_one_process_two_and_spawned_ones(tmp_path: Path) -> None:
    claims = claims_of(write(tmp_path, POWER + SQUARE), QUICK)
    alone = findings(run(claims, jobs=1))
    assert b"supported" in alone
    assert findings(run(claims, jobs=2)) == alone
    with spawned() as executor:
        assert findings(run(claims, executor=executor)) == alone


@pytest.mark.filterwarnings("ignore")  # of Dask, about its own sockets
def test_the_same_ledger_on_a_cluster_that_cannot_see_the_file(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    path = write(tmp_path, POWER + SQUARE)
    claims = claims_of(path, QUICK)
    alone = findings(run(claims, jobs=1))
    Path(path).unlink()
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, silence_logs=50
    ) as local:
        assert findings(run(claims, cluster=local.scheduler_address)) == alone


def test_addresses_are_short_and_change_with_the_content_and_nothing_else(tmp_path: Path) -> None:
    def addresses(text: str, name: str = "my_claims.py") -> set[str]:
        return set(claims_of(write(tmp_path, text, name), QUICK)[0].tasks)

    first = addresses(POWER)
    assert max(map(len, first)) < 150
    assert addresses(POWER) == first
    assert addresses(POWER + "# another version\n").isdisjoint(first)
    (tmp_path / "elsewhere").mkdir()
    assert addresses(POWER, "elsewhere/my_claims.py") == first


def test_resuming_believes_nothing_of_another_version(tmp_path: Path) -> None:
    finished = Finished(tmp_path / NAME, "settings")
    before = claims_of(write(tmp_path, SQUARE), QUICK)
    run(before, jobs=1, finished=finished)
    tasks = before[0].tasks.values()
    assert all(finished.get(task) is not None for task in tasks)
    after = claims_of(write(tmp_path, SQUARE.replace("x * x", "2 * x")), QUICK)
    assert all(finished.get(task) is None for task in after[0].tasks.values())
    assert run(after, jobs=1, finished=finished).claims[0].verdict == "refuted"


def test_a_plain_function_of_the_file_is_kept_by_its_declared_type(tmp_path: Path) -> None:
    claims = claims_of(
        write(
            tmp_path,
            "from lipverify.claims.claim import Task\n\ndef one(x: float) -> float:\n    return x + 1\n\n"
            "TASK = Task(one, (2.0,))\n" + SQUARE,
        ),
        QUICK,
    )
    home = next(iter(claims[0].tasks.values())).arguments[0].file
    task = pickle.loads(pickle.dumps(home.module().TASK))
    finished = Finished(tmp_path / NAME, "settings")
    finished.put(task, task.run(), 0.1)
    assert finished.get(task) == (3.0, 0.1)


# ---- what goes wrong while it is measured


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("return 1 / 0", 16, "ZeroDivisionError"),
        ("return helper(n)", 16, "NameError"),
        ('return float("nan")', 15, "finite"),
        ("return 1.0, -1.0", 15, "error >= 0"),
        ("return 1.0, None", 15, "finite"),
        ("return -1.0", 15, "positive"),
        ("return 1j", 15, "finite"),
        ("return True", 15, "finite"),
        ("return None", 15, "finite"),
        ('return "3"', 15, "finite"),
        ("raise SystemExit", 15, "ended the program"),
        ("return [1.0, 2.0, 3.0]", 15, "finite"),
    ],
)
def test_what_her_function_does_wrong_is_an_error_with_its_line(
    body: str, line: int, said: str, tmp_path: Path
) -> None:
    broken = POWER.replace("mine.power/test", "mine.broken").replace("return 2 * n ** (1 / d) * (1 + 1 / n)", body)
    placed = broken.splitlines()
    assert placed[line - 1].startswith("    return" if line == 16 else "def power")
    found = verified(tmp_path, broken + SQUARE)
    assert found["mine.square"].verdict == "supported"
    assert found["mine.broken"].verdict == "error"
    where = line if line == 16 else 3  # a decorated function begins with its decorator
    assert f"my_claims.py:{where}" in found["mine.broken"].problem
    assert said in found["mine.broken"].problem


def test_a_bare_value_needs_a_declared_error(tmp_path: Path) -> None:
    bare = SQUARE.replace("x * x, 1e-12", "x * x")
    record = verified(tmp_path, bare)["mine.square"]
    assert record.verdict == "error"
    assert "a value without an error" in record.problem
    assert "my_claims.py:" in record.problem
    assert verified(tmp_path, bare.replace('high="x"', 'error=1e-15, high="x"'))["mine.square"].verdict == "supported"
    assert (
        verified(tmp_path, bare.replace('high="x"', 'error=0.9, high="x/1.5"'))["mine.square"].verdict == "inconclusive"
    )


def test_growth_that_does_not_settle_is_not_decided_and_is_drawn(tmp_path: Path) -> None:
    restless = "import math\n" + POWER.replace("(1 + 1 / n)", "n ** (0.3 * math.sin(math.log(n)))")
    done = lipverify_("verify", write(tmp_path, restless), "--jobs", "1", cwd=tmp_path)
    assert "inconclusive" in done.stdout
    assert done.returncode == 1, done.stderr
    assert (tmp_path / "reports" / "report.pdf").exists()


# ---- what is refused


def without(text: str, keyword: str) -> str:
    return re.sub(rf"^    {keyword}=.*\n", "", text, flags=re.MULTILINE)


def changed(text: str, keyword: str, value: str) -> str:
    found = re.sub(rf"^    {keyword}=.*$", lambda _: f"    {keyword}={value},", text, flags=re.MULTILINE)
    assert found != text
    return found


def plus(text: str, keyword: str) -> str:
    """With one more keyword, on line 13."""
    return text.replace("d=(2, 3),", f"d=(2, 3),\n    {keyword},")


REFUSED: dict[str, tuple[str, int | None, str]] = {
    "no control": (without(POWER, "control"), 3, "no control"),
    "no source": (without(POWER, "source"), 3, "no source"),
    "no statement": (without(POWER, "statement"), 3, "no statement"),
    "no title": (without(POWER, "title"), 3, "no title"),
    "no id": (without(POWER, "id"), 3, "no id"),
    "no side": (without(POWER, "side"), 3, "no side"),
    "no claimed": (without(POWER, "claimed"), 3, "no claimed"),
    "no quantity": (without(POWER, "quantity"), 3, "no quantity"),
    "empty control": (changed(POWER, "control", '""'), 11, "no control"),
    "empty statement": (changed(POWER, "statement", '" "'), 6, "no statement"),
    "source of two": (changed(POWER, "source", '("My notes", "Theorem 1")'), 7, "source = "),
    "source without place": (changed(POWER, "source", '("My notes", " ", "x")'), 7, "source = "),
    "bad id": (changed(POWER, "id", '"Mine Power"'), 4, "id = 'Mine Power'"),
    "id of lipverify": (changed(POWER, "id", '"softmax.split"'), 4, "lipverify's own"),
    "id under one of lipverify": (changed(POWER, "id", '"softmax.window-printed/mine"'), 4, "lipverify's own"),
    "foreign symbol": (changed(POWER, "claimed", '"1/(d + m)"'), 10, "m is not one of d"),
    "foreign symbol that SymPy knows": (changed(POWER, "claimed", '"N/d"'), 10, "N is not one of d"),
    "foreign function": (changed(POWER, "control", '"gamma(d)"'), 11, "gamma is not one of d"),
    "not an expression": (changed(POWER, "claimed", '"1/(d"'), 10, "not an expression in d"),
    "a power as in LaTeX": (changed(POWER, "claimed", '"d^2"'), 10, "**"),
    "code for an exponent": (changed(POWER, "claimed", "\"__import__('os').getcwd()\""), 10, "__import__ is not one"),
    "infinite exponent": (changed(POWER, "claimed", '"1/(d - 2)"'), 10, "not a finite number at d = 2"),
    "control equal": (changed(POWER, "control", '"2/(2*d)"'), 11, "cannot be refuted"),
    "control equal at one d": (changed(POWER, "control", '"1/2"'), 11, "at d = 2"),
    "control weaker": (POWER.replace('"theta"', '"lower"'), 11, "larger exponent"),
    "no dimension": (changed(POWER, "d", "()"), 12, "no dimension"),
    "dimension one": (changed(POWER, "d", "(1, 2)"), 12, "integers >= 2"),
    "dimension by itself": (changed(POWER, "d", "3"), 12, "d = 3"),
    "dimension twice": (changed(POWER, "d", "(3, 3)"), 12, "different"),
    "unknown side": (changed(POWER, "side", '"middle"'), 9, "side = 'middle'"),
    "short ladder": (plus(POWER, "points=5"), 13, "points = 5"),
    "less than two decades": (plus(POWER, "stop=2e4"), 13, "2 decades"),
    "ladder downwards": (plus(POWER, "stop=2.0"), 13, "start < stop"),
    "unknown verdict": (changed(POWER, "expected", '"true"'), 13, "expected = 'true'"),
    "error for a verdict": (changed(POWER, "expected", '"error"'), 13, "expected = 'error'"),
    "bad error": (plus(POWER, "error=-1.0"), 13, "error = -1.0"),
    "unknown keyword": (plus(POWER, "clamied=1"), 13, "clamied"),
    "function without n": (POWER.replace("power(d, n)", "power(d, m)"), 15, "does not take n"),
    "function of too much": (POWER.replace("power(d, n)", "power(d, n, k)"), 15, "nothing gives it k"),
    "function of a name that is taken": (POWER + "\ndef power(d, n):\n    return n\n", 15, "name of its own"),
    "function that is not at the margin": (
        "def inside():\n" + re.sub("^(?=.)", "    ", POWER, flags=re.M) + "inside()\n", 16, "by its name",
    ),
    "a second method that is no function": (plus(POWER, "cross_check=3"), 13, "not a function"),
    "a second method without a name": (plus(POWER, "cross_check=lambda d, n: n"), 13, "by its name"),
    "ids twice": (POWER + "\n\n" + POWER.replace("def power", "def other"), 22, "two claims have it"),
    "a cell twice": (SQUARE.replace("0.25", "0.5"), 11, "twice"),
    "no cell": (re.sub(r"cells=\[.*?\]", "cells=[]", SQUARE, flags=re.S), 9, "no cell"),
    "a cell of other coordinates": (SQUARE.replace("x=0.25", "y=0.25"), 11, "not those of the first"),
    "a cell that is not finite": (SQUARE.replace("x=0.25", 'x=float("nan")'), 11, "finite number"),
    "a foreign symbol in a bound": (changed(SQUARE, "high", '"y"'), 13, "y is not one of x"),
    "a foreign symbol in its control": (changed(SQUARE, "control", '"y"'), 14, "y is not one of x"),
    "no bound": (without(SQUARE, "high"), 3, "no bound"),
    "a bound that is infinite": (changed(SQUARE, "high", '"1/(x - 1/2)"'), 13, "not a finite number at x = 0.5"),
    "a bound without control": (without(SQUARE, "control"), 3, "no control"),
    "a control that allows more": (changed(SQUARE, "control", '"2*x"'), 14, "cannot be refuted"),
    "a control of an unknown side": (changed(SQUARE, "control", 'dict(middle="x")'), 14, "control = "),
    "a control of which of two": (SQUARE.replace("high=", "low=0, high="), 14, "which bound"),
    "bounds that cross": (
        changed(SQUARE, "control", 'dict(high="x/10"),\n    low="2*x"'), 15, "low < high",
    ),
    "a bound on a function of other arguments": (SQUARE.replace("square(x)", "square(y)"), 16, "does not take x"),
    "a claim object without control": (
        "from lipverify.claims.claim import Claim\n\nCLAIM = Claim(\n    id='mine.x',\n)\n", 3, "control",
    ),
    "a task without a name": (
        "from lipverify.claims.claim import Task\n\nTASK = Task(\n    lambda: 1.0,\n)\n", 3, "by its name",
    ),
    "a syntax error": (POWER + "def (:\n", 17, "SyntaxError"),
    "an exception": (POWER + "\n1 / 0\n", 18, "ZeroDivisionError"),
    "an exception in claims": (POWER + "\ndef claims(profile):\n    return [missing]\n", 19, "NameError"),
    "claims that are none": (POWER + "\ndef claims(profile):\n    return [1]\n", None, "Claim objects"),
    "an exit": ("import sys\nsys.exit(0)\n", 2, "ended the program"),
    "a module that is not there": ("import no_such_module_here\n" + POWER, 1, "stands by itself"),
    "a file without claims": ("x = 1\n", None, "no claims in this file"),
    "an empty file": ("", None, "no claims in this file"),
    "a null byte": ("x = 1\n\0", None, "null"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_malformed_claim_is_refused_with_file_line_and_rule(case: str, tmp_path: Path) -> None:
    text, line, said = REFUSED[case]
    path = write(tmp_path, text)
    with pytest.raises(InvalidInput) as refusal:
        select_claims([path], QUICK)
    message = str(refusal.value)
    assert "\n" not in message
    assert said in message
    assert message.startswith(f"{path}:{line}: " if line else f"{path}: ")


def test_a_refusal_is_one_line_and_exit_code_2_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, without(POWER, "control"))
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "latin.py").write_bytes("x = 1\ny = 'é'\n".encode("latin-1"))
    write(tmp_path, POWER, "one.py")
    write(tmp_path, POWER, "two.py")
    cases = {
        ("my_claims.py",): "my_claims.py:3: no control",
        ("missing.py",): "missing.py: the claims file cannot be read (No such file or directory)",
        ("folder.py",): "folder.py: the claims file cannot be read (Is a directory)",
        ("./folder.py",): "Is a directory",
        ("latin.py",): "latin.py:2: not UTF-8",
        ("one.py", "two.py"): "two.py: id = 'mine.power/test': one.py has a claim of this id too",
        ("one.py", "mine.powr"): "did you mean 'mine.power'",
    }
    for arguments, said in cases.items():
        for command in ("verify", "list", "explain"):
            with pytest.raises(SystemExit) as ended:
                main([command, *arguments])
            printed = capsys.readouterr()
            assert (ended.value.code, printed.out) == (2, ""), arguments
            assert said in printed.err
            assert len(printed.err.splitlines()) == 1
    assert not (tmp_path / "reports").exists()


# ---- which claims are chosen


def test_files_and_patterns_choose_together(tmp_path: Path) -> None:
    path = write(tmp_path, POWER + SQUARE)

    def chosen(*patterns: str) -> list[str]:
        return [claim.id for claim in select_claims([path, *patterns], QUICK)]

    assert chosen() == ["mine.power/test", "mine.square"]
    assert chosen("mine.power/test") == ["mine.power/test"]
    assert chosen("mine.power") == ["mine.power/test"]
    assert chosen("*/test") == ["mine.power/test"]
    split = [claim.id for claim in select_claims(["softmax.split"], QUICK)]
    assert split
    assert chosen("softmax.split") == ["mine.power/test", "mine.square", *split]
    assert chosen("mine.square", "softmax.split") == ["mine.square", *split]
    assert select_claims((), QUICK) == all_claims(QUICK)


def test_every_name_that_lipverify_uses_is_refused_to_others() -> None:
    assert {claim.id.split("/")[0] for claim in all_claims(QUICK)} <= set(headings())


def test_list_explain_and_options_work_with_a_file(tmp_path: Path) -> None:
    write(
        tmp_path, 'print("loaded")\n' + without(POWER, "expected") + SQUARE.replace("return", 'print("!")\n    return')
    )
    listed = lipverify_("list", "my_claims.py", cwd=tmp_path)
    assert "new" in listed.stdout
    assert "2 claims" in listed.stdout
    explained = lipverify_("explain", "my_claims.py", "mine.power", "--json", cwd=tmp_path)
    assert [claim["expected"] for claim in json.loads(explained.stdout)] == [None]
    options = ("--json", "--strict", "--jobs", "2", "--resume", "--out", "there")
    done = lipverify_("verify", "my_claims.py", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [claim["verdict"] for claim in json.loads(done.stdout)["claims"]] == ["supported", "supported"]
    table = lipverify_("verify", "my_claims.py", "mine.power", "--jobs", "1", cwd=tmp_path).stdout
    assert 'expected="supported"' in " ".join(table.split())


# ---- expressions


@pytest.mark.parametrize(
    ("text", "value"),
    [("2/(d + 3)", 0.4), ("-d**2", -4.0), ("sqrt(d) * sqrt(d)", 2.0), ("min(d, 1) + max(d, 3)", 4.0), ("1e-3", 1e-3)],
)
def test_an_expression_has_the_value_that_python_gives(text: str, value: float) -> None:
    assert number_at(expression(text, ["d"]), {"d": 2}) == pytest.approx(value, rel=1e-15)


def test_a_bound_with_negative_coordinates_is_not_simplified_as_if_they_were_positive() -> None:
    assert number_at(expression("sqrt(x**2)", ["x"]), {"x": -2.0}) == 2.0


@pytest.mark.parametrize(
    "bad", ["d.real", "d if d else 1", "lambda: d", "[d]", "d and 1", "True", "'d'", "d := 1", "", "d(2)"]
)
def test_nothing_else_is_an_expression(bad: str) -> None:
    with pytest.raises(InvalidInput):
        expression(bad, ["d"])


def test_the_decorators_are_public_and_leave_the_function_as_it_is() -> None:
    names: dict[str, Any] = {}
    exec(POWER, names)
    assert names["power"](d=2, n=4.0) == 5.0
    assert lipverify.scaling_claim is not None
    assert lipverify.bound_claim is not None
    assert Claim is not None
