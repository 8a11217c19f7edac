"""Users' claims: files that work, files that are refused with the line, and the processes that measure them."""

from __future__ import annotations

import json
import multiprocessing
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
import pytest

from lipverify.claims.language.file import start  # internal: what `new claim` writes, without a command
from lipverify.claims.ledger import Record
from lipverify.claims.plan import all_claims, claims_of, profile_named, select_claims
from lipverify.claims.run import Finished, run
from lipverify.claims.run.kept import NAME  # internal: the file that a killed run leaves
from lipverify.cli import main
from lipverify.errors import InvalidInput

# internal: the exit code of a ledger, without a process for each
from lipverify.report.terminal.ending import exit_code
from tests import ROOT
from tests.commands import Commands
from tests.toys import QUICK, claims_in, findings, write

POWER = dedent("""\
    from lipverify.claims import claim, exponent

    def power(d, n):
        return 2 * n ** (1 / d) * (1 + 1 / n), 1e-12

    claim(
        "mine.power/test",
        exponent(
            power,
            "q",
            equals="1/d",
            control="1/(d + 1)",
            along={"n": (1e4, 1e30)},
        ),
        over={"d": (2, 3)},
        source=("My notes", "Theorem 1", "$q$ grows"),
        kind="printed",
        expected="supported",
    )
""")
SQUARE = dedent("""\
    from lipverify.claims import bound, claim

    def square(x):
        return x * x, 1e-12

    claim(
        "mine.square",
        bound(
            square,
            "x^2",
            high="x",
            control="x / 10",
        ),
        over={"x": (0.5, 0.25)},
        source=("My notes", "Lemma 1", "smaller"),
        kind="printed",
    )
""")


def verified(folder: Path, text: str, **how: Any) -> dict[str, Record]:
    return {record.id: record for record in run(claims_in(folder, text), **{"jobs": 1, **how}).claims}


def code_lines(text: str) -> int:
    """Lines that are not empty, comments or the docstring at the top."""
    body = re.sub(r'^""".*?"""', "", text, count=1, flags=re.DOTALL)
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in body.splitlines())


# ---- files that work


@pytest.mark.parametrize("options", [(), ("--bound",)])
def test_the_template_verifies_unchanged(
    options: tuple[str, ...], lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert lipverify("new", "claim", *options).returncode == 0
    text = (tmp_path / "my_claims.py").read_text()
    assert code_lines(text) <= 30
    done = lipverify("verify", "my_claims.py", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert "supported" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert (tmp_path / "reports" / "report.pdf").read_bytes().startswith(b"%PDF")
    record = json.loads((tmp_path / "reports" / "ledger.json").read_text())["claims"][0]
    assert record["verdict"] == "supported"
    assert record["control"]["caught"]
    assert record["expected"] is None
    assert record["figures"]
    assert record["reproduce"] == f"lipverify verify my_claims.py {record['id']}"


@pytest.mark.parametrize("kind", ["exponent", "bound"])
def test_the_start_passes_ruff(kind: Any, tmp_path: Path) -> None:
    pytest.importorskip("ruff")
    path = write(tmp_path, start(kind))
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


@pytest.mark.slow
def test_the_files_of_the_document_verify(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/your-own-claims.md").read_text(), re.M | re.S)
    blocks = [block for block in blocks if "\nclaim(" in block]
    assert len(blocks) == 8
    assert all(code_lines(block) <= 30 for block in blocks)
    found = verified(tmp_path, "".join([blocks[0].replace("(2, 3, 5)", "(2,)"), *blocks[1:]]))
    assert {id: (record.verdict, record.grade) for id, record in found.items()} == {
        "mine.window/kink": ("supported", "extrapolated"),
        "mine.bias/waves": ("supported", "sampled"),
        "mine.trace": ("supported", "estimated"),
        "mine.ratio": ("supported", "exact"),
        "mine.share": ("supported", "bounded"),
        "mine.noise/lower": ("supported", "bounded"),
        "mine.noise/upper": ("supported", "bounded"),
        "mine.near": ("supported", "sampled"),
        "mine.worst": ("supported", "estimated"),
    }
    assert found["mine.ratio"].range == "for every d, n, at shift = 0"
    text = (tmp_path / "my_claims.py").read_text()
    assert verified(tmp_path, text.replace(', method="exact"', ""))["mine.share"].grade == "estimated"


@pytest.mark.parametrize(
    ("edge", "claimed", "control", "verdict"),
    [
        ("low", "1/d - 1/50", "2/d", "supported"),
        ("low", "1/d + 1/50", "2/d", "refuted"),
        ("high", "1/d + 1/50", "1/(2*d)", "supported"),
        ("high", "1/d - 1/50", "1/(2*d)", "refuted"),
        ("equals", "1/d", "2/d", "supported"),
        ("equals", "1/d + 1/1000", "2/d", "refuted"),
    ],
)
def test_identities_near_misses_and_a_wrong_record_are_judged(
    edge: str, claimed: str, control: str, verdict: str, tmp_path: Path
) -> None:
    text = POWER.replace('equals="1/d"', f'{edge}="{claimed}"').replace('"1/(d + 1)"', f'"{control}"')
    found = verified(tmp_path, text)["mine.power/test"]
    assert found.control.caught
    assert found.verdict == verdict


def test_a_new_claim_is_compared_with_nothing_and_a_recorded_one_is(tmp_path: Path) -> None:
    def code(text: str, strict: bool = False) -> int:
        return exit_code(run(claims_in(tmp_path, text), jobs=0), strict)

    refuted = POWER.replace('equals="1/d"', 'equals="2/d"')
    assert code(POWER) == 0
    assert code(refuted) == 1  # the verdict differs from the record
    assert code(refuted.replace('    expected="supported",\n', "")) == 0
    assert code(refuted.replace('    expected="supported",\n', ""), strict=True) == 1
    escaped = POWER.replace('    expected="supported",\n', "").replace('"1/(d + 1)"', '"1/d + 1/10**15"')
    assert code(escaped) == 1


def test_two_claims_on_one_function_share_its_measurements(tmp_path: Path) -> None:
    second = POWER[POWER.index("claim(\n") :].replace("mine.power/test", "mine.power/two").replace("2, 3", "3, 5")
    claims = claims_in(tmp_path, POWER + second)
    assert sorted(claim.id for claim in claims) == ["mine.power/test", "mine.power/two"]
    one, two = ({address for address in claim.measurements if "d=3, n" in address} for claim in claims)
    assert one == two
    assert len(one) == QUICK.points


def test_a_function_without_a_signature_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not say what it takes"):
        claims_in(tmp_path, SQUARE.replace("square,", "max,"))


def test_a_second_method_is_used_and_its_value_counts(tmp_path: Path) -> None:
    def with_second(value: str) -> Record:
        second = f"def second(d, n):\n    return {value}, 1e-6\n\ndef first(d, n):\n    return power(d, n)[0], 1e-9\n\n"
        asked = 'agree(first, second, "q", over={"d": (2, 3), "n": 1e4}),\n    over'
        text = POWER.replace("import claim", "import agree, claim").replace("claim(\n", second + "claim(\n")
        return verified(tmp_path, text.replace("over", asked, 1))["mine.power/test"]

    agreeing = with_second("2 * n ** (1 / d) * (1 + 1 / n)")
    assert agreeing.verdict == "supported"
    assert [check.methods for check in agreeing.cross_checks] == 2 * [("first", "second")]
    apart = with_second("2.1 * n ** (1 / d)")
    assert apart.verdict == "inconclusive"
    assert "first and second disagree on q" in apart.problem


def test_a_bound_on_both_sides_and_text_in_a_cell(tmp_path: Path) -> None:
    text = SQUARE.replace('high="x",', 'low="x**2 - 1/100", high="x",').replace("over={", 'over={"kind": "a", ')
    text = text.replace('"x / 10"', 'dict(low="x / 2 + 1/2")').replace("square(x)", "square(kind, x)")
    record = verified(tmp_path, text)["mine.square"]
    assert (record.verdict, record.control.caught, record.expected) == ("supported", True, None)
    assert [(cell.allowed.low, cell.allowed.high) for cell in record.cells] == [(0.24, 0.5), (0.0525, 0.25)]


def test_sampling_follows_the_seed_and_the_profile_of_the_command_line(tmp_path: Path) -> None:
    text = SQUARE.replace("def square(x):", "def square(x, *, seed, contexts):").replace(
        "x * x, 1e-12", "x * x + seed / 1e6 + contexts / 1e9, 1e-12"
    )
    claims = {k: claims_of(write(tmp_path, text), profile_named("quick", seed=k)) for k in (0, 3)}
    assert set(claims[0][0].measurements).isdisjoint(claims[3][0].measurements)
    found = run(claims[3], jobs=0).claims[0].cells[0].measured
    assert found == pytest.approx(0.25 + 3e-6 + QUICK.contexts / 1e9, abs=1e-12)


def test_the_recorded_verdict_may_be_one_for_each_profile(tmp_path: Path) -> None:
    """A profile with more evidence may decide a claim that the other leaves open."""
    path = tmp_path / "mine.py"
    path.write_text("""
from lipverify.claims import bound, claim, per_profile

def width(*, contexts):
    return 0.9, 2e4 / contexts

claim(
    "mine.width", bound(width, "w", high=1, control={"high": "1/2"}), source=("Notes", "1", "w"), kind="derived",
    expected=per_profile("inconclusive", "supported"),
)
""")
    for name, verdict in (("quick", "inconclusive"), ("full", "supported")):
        (record,) = run(claims_of(str(path), profile_named(name)), jobs=0).claims
        assert (record.verdict, record.expected) == (verdict, verdict)


def test_a_text_over_several_lines_is_printed_as_one(tmp_path: Path) -> None:
    text = dedent("""
        from lipverify.claims import at, bound, claim

        def half(d):
            return 1 / d, 1e-12

        def words(found):
            return f'''what is
                found: {found[0]}'''

        claim(
            "mine.half", bound(half, "h", high=1, control=0.1), over={"d": 2}, kind="derived",
            source=("N", "p", '''a quotation
                of two lines'''),
            title='''a title
                of two''',
            assumes='''what
                is assumed''',
            finding=at(words, found=at(half, d=2)),
        )
    """)
    record = verified(tmp_path, text)["mine.half"]
    assert (record.source.printed, record.title) == ("a quotation of two lines", "a title of two")
    assert (record.assumptions, record.finding) == (("what is assumed",), "what is found: 0.5")


def test_readings_of_one_statement_and_named_quantities(tmp_path: Path) -> None:
    text = dedent("""
        from lipverify.claims import at, bound, claim
        from lipverify.claims.ledger import Table

        def terms(law, d):
            return {"bias": (1 / d, 1e-9), "noise": (2 / d, 1e-9), "curve": [1.0, 2.0]}

        def words(law, found):
            return f"the {law} law: {found['curve'][1]}"

        def rows(**found):
            return Table(caption="", header=("law", "value"), rows=tuple((law, str(x)) for law, x in found.items()))

        def of_law(law, d):
            return {"affine": 1, "relu": 2}[law] / d

        LAWS = {"affine": {"b": "1"}, "relu": {"b": "1/2"}}
        claim(
            "mine.terms/{law}/{side}",
            bound(terms, "B", of="bias", low="b/d", high="2/d", truth="1/d"),
            over={"law": LAWS, "d": (2, 3)}, source=("N", "p", "q"),
            kind={"affine/*": "printed", "*": "stronger"},
            expected={"affine/lower": "inconclusive", "*": "supported"},
            finding=at(words, found=at(terms, d=2)),
            shows=at(rows, affine=at(of_law, law="affine", d=2), relu=at(of_law, law="relu", d=2)),
        )
    """)
    records = verified(tmp_path, text)
    # the measurement of a figure has its own coordinates, whatever the reading
    assert {r.tables[0].rows for r in records.values()} == {(("affine", "0.5"), ("relu", "1.0"))}
    assert list(records) == [f"mine.terms/{law}/{side}" for law in ("affine", "relu") for side in ("lower", "upper")]
    assert {id: (r.verdict, r.kind) for id, r in records.items()} == {
        "mine.terms/affine/lower": ("inconclusive", "printed"),  # at the edge to 1e-9
        "mine.terms/affine/upper": ("supported", "printed"),
        "mine.terms/relu/lower": ("supported", "stronger"),
        "mine.terms/relu/upper": ("supported", "stronger"),
    }
    assert records["mine.terms/relu/upper"].finding == "the relu law: 2.0"
    assert records["mine.terms/relu/lower"].claimed == "B ≥ (1/2)/d"


def test_controls_come_out_the_other_way_and_are_judged_from_the_same_data(tmp_path: Path) -> None:
    found = verified(tmp_path, SQUARE.replace('high="x"', 'high="x / 10"').replace('control="x / 10"', 'truth="x**2"'))
    record = found["mine.square"]
    assert (record.verdict, record.control.caught) == ("refuted", True)
    assert {(cell.control.expects, cell.control.verdict) for cell in record.cells} == {("supported", "supported")}
    assert record.control.statement == "x² ≤ 1.1 x^2"
    blunt = SQUARE.replace('control="x / 10"', 'truth="x**2"').replace("1e-12", "x * x")
    assert verified(tmp_path, blunt)["mine.square"].verdict == "inconclusive"


def test_an_infinite_error_is_not_decided_with_its_reason_and_nothing_is_no_number(tmp_path: Path) -> None:
    record = verified(tmp_path, SQUARE.replace("1e-12", 'float("inf")'))["mine.square"]
    assert record.verdict == "inconclusive"
    assert "infinite error" in record.problem
    assert b"NaN" not in msgspec.json.encode(record)
    assert record.cells[0].measured is None


def test_a_function_is_a_bound_and_an_identity_has_a_falsified_object(tmp_path: Path) -> None:
    text = dedent("""
        from lipverify.claims import bound, claim, identity

        def difference(x, a=2):
            return (x + 1) ** 2 - (x * x + a * x + 1), 1e-15

        def square(x):
            return x * x, 1e-15

        def ceiling(x):
            "$x^{3/2}$ for x below one"
            return x**1.5

        claim("mine.binomial", identity(difference, "(x + 1)^2 - (x^2 + a x + 1)", control={"a": 2.001}),
              over={"x": (0.5, 0.25)}, source=("N", "p", "q"), kind="derived")
        claim("mine.function", bound(square, "x^2", high=ceiling, truth="x**2"), over={"x": (0.5, 0.25)},
              source=("N", "p", "q"), kind="derived")
    """)
    records = verified(tmp_path, text)
    assert {record.verdict for record in records.values()} == {"supported"}
    assert records["mine.binomial"].grade == "estimated", "floats at two points"
    assert records["mine.function"].claimed == "x² ≤ x^{3/2} for x below one"
    assert [cell.control.interval.low for cell in records["mine.binomial"].cells] != [0.0, 0.0]


def test_a_value_and_its_error_may_come_as_an_array_and_the_function_decorated(tmp_path: Path) -> None:
    text = SQUARE.replace("return x * x, 1e-12", "return np.array([x * x, 1e-12])")
    cached = "import functools\nimport numpy as np\n" + text.replace("def square", "@functools.cache\ndef square")
    assert verified(tmp_path, cached)["mine.square"].verdict == "supported"


# ---- the processes that measure


def spawned() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def test_the_same_ledger_on_one_process_two_and_spawned_ones(tmp_path: Path) -> None:
    claims = claims_in(tmp_path, POWER + SQUARE)
    alone = findings(run(claims, jobs=0))
    assert b"supported" in alone
    assert findings(run(claims, jobs=2)) == alone
    with spawned() as executor:
        assert findings(run(claims, executor=executor)) == alone


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own warnings about sockets
def test_the_same_ledger_on_a_cluster_that_cannot_see_the_file(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    path = write(tmp_path, POWER + SQUARE)
    claims = claims_of(path, QUICK)
    alone = findings(run(claims, jobs=0))
    Path(path).unlink()
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, silence_logs=50
    ) as local:
        assert findings(run(claims, cluster=local.scheduler_address)) == alone


def test_addresses_are_short_and_depend_only_on_the_content(tmp_path: Path) -> None:
    def addresses(text: str, name: str = "my_claims.py") -> set[str]:
        return set(claims_of(write(tmp_path, text, name), QUICK)[0].measurements)

    first = addresses(POWER)
    assert max(map(len, first)) < 150
    assert addresses(POWER) == first
    assert addresses(POWER + "# another version\n").isdisjoint(first)
    (tmp_path / "elsewhere").mkdir()
    assert addresses(POWER, "elsewhere/my_claims.py") == first


def test_resuming_believes_nothing_of_another_version(tmp_path: Path) -> None:
    finished = Finished(tmp_path / NAME, "settings")
    before = claims_in(tmp_path, SQUARE)
    run(before, jobs=0, finished=finished)
    tasks = before[0].measurements.values()
    assert all(finished.get(task) is not None for task in tasks)
    after = claims_in(tmp_path, SQUARE.replace("x * x", "2 * x"))
    assert all(finished.get(task) is None for task in after[0].measurements.values())
    assert run(after, jobs=0, finished=finished).claims[0].verdict == "refuted"


# ---- failures of measurements


HUGE = "returned more than 1,000,000 numbers and letters; return (value, error)"
"""240 MB were once written to disk, read back, and printed in an error message: half a minute each."""
FAILING: tuple[tuple[str, int, str], ...] = (
    ("return 1 / 0", 4, "ZeroDivisionError"),
    ("return helper(n)", 4, "NameError"),
    ('return float("nan"), 0.0', 3, "finite"),
    ("return 1.0, -1.0", 3, "error >= 0"),
    ("return 1.0, None", 3, "finite"),
    ("return -1.0, 0.0", 3, "positive"),
    ("return 1j, 0.0", 3, "finite"),
    ("return True, 0.0", 3, "finite"),
    ("return None", 3, "a value without an error"),
    ("return 2 * n ** (1 / d)", 3, "a value without an error"),
    ('return "3", 0.0', 3, "finite"),
    ("raise SystemExit", 3, "ended the program"),
    ("return [1.0, 2.0, 3.0]", 3, "a value without an error"),
)
FAILING_TOO: tuple[tuple[str, int, str], ...] = (
    ("return x * x", 3, "a value without an error"),
    ("import numpy as np; return np.zeros(2 * 10**6), 0", 3, HUGE),
    ("return [0.0] * 2 * 10**6", 3, HUGE),
    ("return {'q': ('x' * 10**7, 0)}", 3, HUGE),
    ("return 1 << 10**7, 0", 3, HUGE),
)
"""Bodies of the functions of POWER and of SQUARE, the line that a message names, and words of it."""


@pytest.mark.parametrize(
    ("form", "body", "line", "said"),
    [*(("exponent", *case) for case in FAILING), *(("bound", *case) for case in FAILING_TOO)],
)
def test_a_failure_in_a_users_function_is_reported_with_its_line_and_spares_other_claims(
    form: str, body: str, line: int, said: str, tmp_path: Path
) -> None:
    text, other = (POWER, SQUARE) if form == "exponent" else (SQUARE, POWER)
    broken = re.sub(r"return .*, 1e-12", lambda _: body, re.sub(r"mine\.[a-z/]+", "mine.broken", text))
    assert broken.splitlines()[line - 1].startswith("    return" if line == 4 else "def ")
    found = verified(tmp_path, broken + other)
    failed = found.pop("mine.broken")
    assert [record.verdict for record in found.values()] == ["supported"]
    assert failed.verdict == "error"
    assert f"my_claims.py:{line}" in failed.problem
    assert said in failed.problem


def test_shows_accepts_only_figures_and_tables(tmp_path: Path) -> None:
    shows = "shows=at(words, found=at(power, d=2, n=100)),"
    text = POWER.replace("import claim", "import at, claim").replace(
        "claim(\n", "def words(found):\n    return 'q'\n\nclaim(\n", 1
    )
    record = verified(tmp_path, text.replace('kind="printed",', f'kind="printed", {shows}'))["mine.power/test"]
    assert record.verdict == "error"
    assert "words returned 'q'; what a claim shows is a Figure or a Table" in record.problem


def test_a_figure_may_hold_numbers_of_numpy(tmp_path: Path) -> None:
    drawn = """
import numpy as np
from lipverify.claims import Figure, Panel, Series


def drawn(found):
    x = np.array([1.0, 2.0])
    panel = Panel(title="t", xlabel="n", ylabel="y", series=(Series(label="s", x=x, y=[*x]),))
    return Figure(caption="c", alt="a", panels=(panel,))


claim(
"""
    text = POWER.replace("import claim", "import at, claim").replace("claim(\n", drawn, 1)
    shows = 'kind="printed", shows=at(drawn, found=at(power, d=2, n=100)),'
    record = verified(tmp_path, text.replace('kind="printed",', shows))["mine.power/test"]
    assert record.verdict == "supported", record.problem
    assert record.figures[0].panels[0].series[0].x == (1.0, 2.0)


def test_growth_that_does_not_settle_is_not_decided_and_is_drawn(
    lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    restless = "import math\n" + POWER.replace("(1 + 1 / n)", "n ** (0.3 * math.sin(math.log(n)))")
    done = lipverify("verify", write(tmp_path, restless), "--jobs", "1")
    assert "inconclusive" in done.stdout
    assert done.returncode == 1, done.stderr
    assert (tmp_path / "reports" / "report.pdf").exists()


def test_the_symbols_of_a_file_stand_in_the_ledger_each_with_one_meaning(tmp_path: Path) -> None:
    first = write(tmp_path, 'SYMBOLS = {"R_k": "the risk of $k$ layers"}\n' + POWER, "one.py")
    second = write(tmp_path, 'SYMBOLS = {"R_k": "a\\n rank"}\n' + SQUARE, "two.py")
    assert run(select_claims([first, "softmax.split"], QUICK), jobs=0).symbols == {"R_k": "the risk of $k$ layers"}
    assert run(select_claims([second], QUICK), jobs=0).symbols == {"R_k": "a rank"}
    with pytest.raises(InvalidInput, match=r"two.py: SYMBOLS: R_k has another meaning in another file"):
        select_claims([first, second], QUICK)


# ---- refusals


def without(text: str, keyword: str) -> str:
    return re.sub(rf"^ +{keyword}=.*\n", "", text, flags=re.MULTILINE)


def changed(text: str, keyword: str, value: str) -> str:
    found = re.sub(rf"^( +){keyword}=.*$", lambda m: f"{m[1]}{keyword}={value},", text, flags=re.MULTILINE)
    assert found != text
    return found


def plus(text: str, keyword: str) -> str:
    """The file with one more keyword in the form: on line 14 of POWER, on line 13 of SQUARE."""
    return text.replace("    ),\n    over", f"        {keyword},\n    ),\n    over")


AGREE = "__import__('lipverify').claims.agree"
REFUSED: dict[str, tuple[str, int | None, str]] = {
    "no control": (SQUARE.replace('        control="x / 10",\n', ""), 8, "no control"),
    "no source": (changed(POWER, "source", "None"), 16, "a claim without it is refused"),
    "no kind": (changed(POWER, "kind", '""'), 17, "choose one of printed"),
    "an unknown kind": (changed(POWER, "kind", '"proved"'), 17, "kind = 'proved'"),
    "no id": (POWER.replace('"mine.power/test"', '""'), 6, "no id"),
    "no exponent": (without(POWER, "equals"), 8, "no bound"),
    "no quantity": (POWER.replace('"q",', '"",'), 8, "no quantity"),
    "an empty exponent": (changed(POWER, "equals", '""'), 11, "equals = ''"),
    "source of two": (changed(POWER, "source", '("My notes", "Theorem 1")'), 16, "source = "),
    "source without place": (changed(POWER, "source", '("My notes", " ", "x")'), 16, "source = "),
    "bad id": (POWER.replace("mine.power/test", "Mine Power"), 6, "id = 'Mine Power'"),
    "id of lipverify": (POWER.replace("mine.power/test", "softmax.split"), 6, "lipverify's own"),
    "id under one of lipverify": (POWER.replace("mine.power/", "softmax.window-printed/"), 6, "lipverify's own"),
    "an id of no coordinate": (POWER.replace("power/test", "power/{law}"), 6, "{law} is no coordinate"),
    "foreign symbol": (changed(POWER, "equals", '"1/(d + m)"'), 11, "m has no value"),
    "foreign function": (changed(POWER, "control", '"tan(d)"'), 12, "tan"),
    "not an expression": (changed(POWER, "equals", '"1/(d"'), 11, "not an expression"),
    "a power as in LaTeX": (changed(POWER, "equals", '"d^2"'), 11, "**"),
    "code for an exponent": (changed(POWER, "equals", "\"__import__('os').getcwd()\""), 11, "not an expression"),
    "infinite exponent": (changed(POWER, "equals", '"1/(d - 2)"'), 11, "not a finite number at d = 2"),
    "control equal": (changed(POWER, "control", '"2/(2*d)"'), 12, "allows whatever the claim allows"),
    "control equal at one d": (changed(POWER, "control", '"1/2"'), 12, "at d = 2"),
    "control weaker": (POWER.replace("equals=", "low="), 12, "allows whatever the claim allows"),
    "no dimension": (changed(POWER, "over", '{"d": ()}'), 15, "there is no value"),
    "dimension that is not finite": (changed(POWER, "over", '{"d": (2, float("inf"))}'), 15, "finite number"),
    "over that is no mapping": (changed(POWER, "over", "[2, 3]"), 15, "over = [2, 3]"),
    "short ladder": (POWER.replace("1e30)", "1e30, 5)"), 13, "points = 5"),
    "less than two decades": (POWER.replace("1e30)", "2e4)"), 13, "2 decades"),
    "ladder downwards": (POWER.replace("1e30)", "2.0)"), 13, "start < stop"),
    "a ray of one": (POWER.replace("(1e4, 1e30)", "(1e4,)"), 13, "start, stop"),
    "unknown verdict": (changed(POWER, "expected", '"true"'), 18, "expected = 'true'"),
    "error for a verdict": (changed(POWER, "expected", '"error"'), 18, "expected = 'error'"),
    "an unknown grade": (plus(POWER, 'method=("exact", "sure")'), 14, "its grade is one of"),
    "three controls": (changed(POWER, "control", "(1, 2, 3)"), 12, "(false, true)"),
    "along that is a name": (changed(POWER, "along", '"n"'), 13, "start, stop"),
    "along of two": (changed(POWER, "along", '{"n": (1, 1e9), "d": (1, 1e9)}'), 13, "start, stop"),
    "unknown keyword": (plus(POWER, "eqauls=1"), 14, "eqauls"),
    "function without n": (POWER.replace("power(d, n)", "power(d, m)"), 3, "does not take n"),
    "function of too much": (POWER.replace("power(d, n)", "power(d, n, k)"), 3, "nothing supplies k"),
    "function of a name that is taken": (POWER + "\ndef power(d, n):\n    return n\n", 3, "another name"),
    "a function without a name": (POWER.replace("        power,", "        lambda d, n: n,"), 8, "by its name"),
    "a second method that is no function": (
        POWER.replace("over=", f"{AGREE}(power, 3, 'q', over=dict(d=2, n=9)),\n    over=", 1), 15,
        "not a function",
    ),
    "ids twice": (POWER + POWER[POWER.index("claim(\n") :], 20, "two claims have it"),
    "no bound": (without(SQUARE, "high"), 8, "no bound"),
    "a foreign symbol in a bound": (changed(SQUARE, "high", '"y"'), 11, "y has no value"),
    "a foreign symbol in its control": (changed(SQUARE, "control", '"y"'), 12, "y has no value"),
    "a bound that is infinite": (changed(SQUARE, "high", '"1/(x - 1/2)"'), 11, "not a finite number at x = 0.5"),
    "a control that allows more": (changed(SQUARE, "control", '"2*x"'), 12, "allows whatever the claim allows"),
    "a control of which of two": (SQUARE.replace("high=", "low=0, high="), 12, "which bound"),
    "a control of a coordinate that is not taken": (changed(SQUARE, "control", '{"y": 1.0}'), 12, "does not take y"),
    "bounds that cross": (changed(plus(SQUARE, 'low="2*x"'), "control", 'dict(high="x/10")'), 13, "low must be less"),
    "bounds that meet": (changed(plus(SQUARE, 'low="x"'), "control", 'dict(high="x/10")'), 13, "give equals="),
    "equals beside a bound": (plus(SQUARE, 'equals="x"'), 13, "equals"),
    "within without equals": (plus(SQUARE, 'within="x"'), 13, "within"),
    "a bound on a function of other arguments": (SQUARE.replace("square(x)", "square(y)"), 3, "does not take x"),
    "a pattern that nothing matches": (changed(POWER, "kind", '{"other/*": "printed"}'), 17, "no pattern matches"),
    "a claim that nothing decides": (
        'from lipverify.claims import claim\n\nclaim("mine.x", source=("a", "b", "c"), kind="printed")\n', 3,
        "nothing would decide it",
    ),
    "a syntax error": (POWER + "def (:\n", 20, "SyntaxError"),
    "an exception": (POWER + "\n1 / 0\n", 21, "ZeroDivisionError"),
    "an exit": ("import sys\nsys.exit(0)\n", 2, "ended the program"),
    "a module that is not there": ("import no_such_module_here\n" + POWER, 1, "must be self-contained"),
    "a file without claims": ("x = 1\n", None, "no claims in this file"),
    "symbols that are no mapping": ("SYMBOLS = ['R_k']\n" + POWER, None, "SYMBOLS = ['R_k']: it is a mapping"),
    "a symbol without a meaning": ("SYMBOLS = {'R_k': ' '}\n" + POWER, None, "SYMBOLS: 'R_k' = ' '"),
    "a symbol that is no LaTeX": ("SYMBOLS = {'$R_k$': 'risk'}\n" + POWER, None, "LaTeX without dollar signs"),
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
    write(tmp_path, changed(POWER, "control", '"1/d"'))
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "latin.py").write_bytes("x = 1\ny = 'é'\n".encode("latin-1"))
    write(tmp_path, POWER, "one.py")
    write(tmp_path, POWER, "two.py")
    cases = {
        ("my_claims.py",): "my_claims.py:12: control at d = 2 allows",
        ("missing.py",): "claims file = 'missing.py': cannot be read (No such file or directory)",
        ("folder.py",): "claims file = 'folder.py': cannot be read (it is a folder)",
        ("./folder.py",): "it is a folder",
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


# ---- selection of claims


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


@pytest.mark.usefixtures("no_reports")
def test_list_explain_and_options_work_with_a_file(
    lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path, 'print("loaded")\n' + without(POWER, "expected") + SQUARE.replace("return", 'print("!")\n    return')
    )
    listed = lipverify("list", "my_claims.py")
    assert "new" in listed.stdout
    assert "2 claims" in listed.stdout
    explained = lipverify("explain", "my_claims.py", "mine.power", "--json")
    assert [claim["expected"] for claim in json.loads(explained.stdout)] == [None]
    options = ("--json", "--strict", "--jobs", "2", "--resume", "--out", "there")
    done = lipverify("verify", "my_claims.py", *options)
    assert done.returncode == 0, done.stderr
    assert [claim["verdict"] for claim in json.loads(done.stdout)["claims"]] == ["supported", "supported"]
    table = lipverify("verify", "my_claims.py", "mine.power", "--jobs", "1").stdout
    assert 'expected="supported"' in " ".join(table.split())


CONTROLLED = """
from lipverify.claims import bound, claim

def line(x, a, kappa=1.0, law="affine"):
    return kappa * x if law == "affine" else -x, 1e-12

claim("mine.line", bound(line, "y", low="x/2", control={control}), over={{"x": (1.0, 2.0), "a": 0.25}},
      source=("N", "p", "q"), kind="derived")
"""


@pytest.mark.parametrize(
    ("control", "says", "measured"),
    [
        ('{"kappa": 0.125}', "≥ x/2 with kappa = 0.125", 0.25),
        ('{"kappa": "a"}', "≥ x/2 with kappa = a = 0.25", 0.5),  # the value of another coordinate, not the text "a"
        ('{"kappa": "a/2"}', "≥ x/2 with kappa = a/2 = 0.125", 0.25),
        ('{"x": "-x"}', "≥ x/2 with x = -x = -2", -2.0),
        ('{"law": "relu"}', "≥ x/2 with law = relu", -2.0),
    ],
)
def test_a_control_keeps_the_type_of_a_coordinate(tmp_path: Path, control: str, says: str, measured: float) -> None:
    record = verified(tmp_path, CONTROLLED.format(control=control))["mine.line"]
    cell = record.cells[1].control
    assert (record.verdict, cell.says) == ("supported", says)
    assert cell.interval.low == pytest.approx(measured)


@pytest.mark.parametrize(
    ("control", "rule"),
    [
        ('{"kappa": "b"}', "kappa = 'b': kappa is a number such as 1; give a number, or a formula such as 'kappa + 1'"),
        ('{"kappa": "no number"}', "kappa = 'no number': kappa is a number such as 1"),
        ('{"kappa": True}', "kappa is a number such as 1"),
        ('{"kappa": float("nan")}', "kappa is a number such as 1"),
        ('{"kappa": None}', "kappa is a number such as 1"),
        ('{"law": 2}', "law = 2: its values are texts such as 'affine'; give a text"),
    ],
)
def test_a_control_that_is_no_value_of_the_coordinate_is_refused(tmp_path: Path, control: str, rule: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(rule)) as refused:
        verified(tmp_path, CONTROLLED.format(control=control))
    assert "\n" not in str(refused.value)
