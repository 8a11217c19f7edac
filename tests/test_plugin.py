"""Claims as tests: what passes, fails, is skipped or breaks, and that nothing is measured twice or imported in vain."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lipverify.pytest_plugin import has_claims, items

pytest_plugins = ["pytester"]

LOADED = items  # numerical libraries can be loaded once in a process, and pytester forgets what is loaded within

ROOT = Path(__file__).parents[1]
HEAD = """
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Reading, Task, side_by_side
from lipverify.claims.ledger import Source
from lipverify.claims.verdict import Allowed, Interval

SOURCE = Source(paper="Notes", place="Lemma 1", printed="$x$ is at most one")

def value(x: float) -> tuple[float, float]:
    with open("calls.txt", "a") as calls:
        print(x, file=calls)
    return x, 0.25

def broken(x: float) -> tuple[float, float]:
    raise ArithmeticError("the integral does not converge")

def claim(name, x, expected, control=5.0, measure=value, cross=None):
    task = Task(measure, (x,))
    cell = CellPlan({"d": 3}, task, "x", lambda found, _: Reading(Interval.around(*found)), "<= 1",
                    Allowed(high=1.0), Allowed(low=control))
    tasks = (task, Task(value, (cross,)))
    crossed = () if cross is None else (CrossPlan({}, "x", ("exact", "sampled"), tasks, side_by_side),)
    return Claim(id=f"mine.{name}", title="t", statement="x leq 1", source=SOURCE, claimed="x <= 1",
                 control="x >= 5", expected=expected, cells=(cell,), cross_checks=crossed)
"""


def own(body: str) -> str:
    """The text of a claims file whose `claims(profile)` returns the list in `body`."""
    # built here, so that no line of this file looks like one of a claims file
    return f"{HEAD}\n\ndef {'claims'}(profile):\n    return [{body}]\n"


FOUR = own(
    'claim("holds", 0.5, "supported"), claim("known", 2.0, "refuted"), claim("moved", 2.0, "supported"), '
    'claim("open", 1.0, "supported")'
)


def run(pytester: pytest.Pytester, text: str, *options: str) -> pytest.RunResult:
    """pytest on a file of claims, with every warning an error."""
    pytester.makepyfile(my_claims=text)
    return pytester.runpytest("my_claims.py", "-W", "error", "-p", "no:cacheprovider", "-rA", *options)


def test_verdicts_are_compared_with_what_is_recorded(pytester: pytest.Pytester) -> None:
    result = run(pytester, FOUR)
    result.assert_outcomes(passed=2, failed=1, skipped=1)
    result.stdout.fnmatch_lines_random(
        [
            "PASSED my_claims.py::mine.holds",
            "PASSED my_claims.py::mine.known",
            "FAILED my_claims.py::mine.moved - Failed: refuted, recorded as supported*",
            "SKIPPED [[]1] my_claims.py: mine.open: inconclusive, recorded as supported*does not decide*",
        ]
    )


@pytest.mark.parametrize("option", ["--lipverify-strict", "--strict"])
def test_strictly_a_refuted_claim_fails_whatever_is_recorded(pytester: pytest.Pytester, option: str) -> None:
    result = run(pytester, FOUR, option)
    result.assert_outcomes(passed=1, failed=2, skipped=1)
    result.stdout.fnmatch_lines(["FAILED my_claims.py::mine.known - Failed: refuted, recorded as refuted*"])


def test_strictness_of_pytest_in_a_file_is_about_pytest(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nstrict = true")
    run(pytester, FOUR).assert_outcomes(passed=2, failed=1, skipped=1)


@pytest.mark.parametrize(("x", "outcome"), [(0.5, {"passed": 1}), (2.0, {"failed": 1}), (1.0, {"skipped": 1})])
def test_a_claim_of_which_nothing_is_recorded_is_asked_to_hold(
    pytester: pytest.Pytester, x: float, outcome: dict[str, int]
) -> None:
    run(pytester, own(f'claim("new", {x}, None)')).assert_outcomes(**outcome)


def test_a_supported_claim_that_is_recorded_as_refuted_has_moved(pytester: pytest.Pytester) -> None:
    run(pytester, own('claim("better", 0.5, "refuted")')).assert_outcomes(failed=1)


def test_a_failure_says_all_that_a_reader_needs(pytester: pytest.Pytester) -> None:
    result = run(pytester, own('claim("moved", 2.0, "supported")'))
    result.stdout.fnmatch_lines(
        [
            "refuted, recorded as supported: 2: refuted at d=3",
            "statement: *x leq 1",
            "source: * Notes, Lemma 1: $x$ is at most one",
            "claimed: * x <= 1",
            "margin: * -0.75",
            "control: * x >= 5 (caught)",
            "again with: *lipverify verify my_claims.py mine.moved",
            "evidence:",
            "  d = 3: x = 2 ± 0.25 (exact), allowed <= 1: refuted, margin -0.75",
        ]
    )
    assert "Traceback" not in result.stdout.str()


def test_a_control_that_escapes_fails(pytester: pytest.Pytester) -> None:
    result = run(pytester, own('claim("idle", 0.5, "supported", control=0.0)'))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["FAILED*control not caught: x >= 5"])


def test_methods_that_disagree_are_the_reason_of_a_skip(pytester: pytest.Pytester) -> None:
    result = run(pytester, own('claim("split", 0.5, "supported", cross=9.5)'))
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*the methods disagree on x: exact 0.5 ± 0.25, sampled 9.5 ± 0.25*"])


def test_a_check_that_breaks_is_an_error_and_costs_the_others_nothing(pytester: pytest.Pytester) -> None:
    text = own('claim("broken", 0.5, "supported", measure=broken), claim("holds", 0.5, "supported")')
    result = run(pytester, text)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*ArithmeticError: the integral does not converge*", "*in broken*"])


SHARED = own(
    ", ".join(
        f'claim("one-{k}", {k}, "refuted", control=50.0), claim("two-{k}", {k}, "refuted", control=60.0)'
        for k in range(2, 8)
    )
)


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two"])
def test_what_claims_share_is_measured_once(pytester: pytest.Pytester, options: tuple[str, ...]) -> None:
    run(pytester, SHARED, *options).assert_outcomes(passed=12)
    calls = Counter((pytester.path / "calls.txt").read_text().split())
    assert calls == dict.fromkeys(map(str, range(2, 8)), 1)


def test_claims_are_selected_like_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(my_claims=FOUR)
    selections: tuple[tuple[tuple[str, ...], int], ...] = (
        (("my_claims.py::mine.known",), 1),
        ((".", "-k", "holds"), 1),
        ((".", "-m", "claim and not slow", "--deselect", "my_claims.py::mine.moved"), 2),
    )
    for options, passed in selections:
        assert pytester.runpytest(*options, "-p", "no:cacheprovider").parseoutcomes()["passed"] == passed
    for without in (("-m", "not claim"), ("-p", "no:lipverify")):
        assert pytester.runpytest(*without).ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_report_for_machines_has_verdicts_and_values(pytester: pytest.Pytester) -> None:
    run(pytester, FOUR, "--junitxml=out.xml")
    cases = {case.attrib["name"]: case for case in ElementTree.parse(pytester.path / "out.xml").iter("testcase")}
    assert set(cases) == {"mine.holds", "mine.known", "mine.moved", "mine.open"}
    found = {each.attrib["name"]: each.attrib["value"] for each in cases["mine.moved"].iter("property")}
    assert found["verdict"] == "refuted"
    assert found["expected"] == "supported"
    assert float(found["margin"]) == -0.75
    assert cases["mine.moved"].find("failure") is not None
    assert cases["mine.open"].find("skipped") is not None


def test_profile_and_seed_reach_the_claims(pytester: pytest.Pytester) -> None:
    text = own('claim(f"{profile.name}-{profile.seed}", 0.5, "supported")')
    result = run(pytester, text, "--lipverify-profile", "full", "--lipverify-seed", "7")
    result.stdout.fnmatch_lines(["PASSED my_claims.py::mine.full-7"])
    assert run(pytester, text, "--lipverify-profile", "vast").ret == pytest.ExitCode.USAGE_ERROR


def test_declared_claims_are_collected_and_a_faulty_one_is_named_with_its_line(pytester: pytest.Pytester) -> None:
    declared = (
        "from lipverify import bound_claim\n\n\n"
        '@bound_claim(id="mine.square", title="t", statement="x^2 < x", source=("Notes", "p. 1", "smaller"),\n'
        '    quantity="x", cells=[dict(x=0.5)], high="x", control="x / 10", error=1e-15)\n'
        "def square(x):\n    return x * x\n"
    )
    result = run(pytester, declared)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["PASSED my_claims.py::mine.square"])
    faulty = run(pytester, declared.replace('high="x"', 'high="y"'))
    faulty.assert_outcomes(errors=1)
    faulty.stdout.fnmatch_lines(["my_claims.py:5: *y*"])


def test_a_test_module_may_have_claims_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_both=own('claim("holds", 0.5, "supported")') + "\n\ndef test_more():\n    assert 1\n")
    pytester.runpytest("-W", "error").assert_outcomes(passed=2)


def test_only_files_that_declare_claims_are_touched(pytester: pytest.Pytester) -> None:
    raises = 'import lipverify\nraise RuntimeError("imported")\n'
    pytester.makepyfile(
        other=raises,
        quoted=f'{raises}TEXT = """\ndef {"claims"}(profile):\n    return []\n"""\n',
        unrelated=f"raise RuntimeError\ndef {'claims'}(profile):\n    pass\n",
    )
    assert pytester.runpytest().ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_where_there_are_no_claims_nothing_is_loaded() -> None:
    code = "import sys, pytest, lipverify.pytest_plugin; print([m for m in sys.modules if m.startswith('lipverify')])"
    code += "; print({'numpy', 'sympy', 'scipy', 'msgspec'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.splitlines() == ["['lipverify', 'lipverify.pytest_plugin']", "set()"]


def test_a_file_of_checks_is_a_file_of_claims() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rA",
        "-p",
        "no:cacheprovider",
        "checks/kernel.py",
        "-k",
        "gaussian",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout
    assert "PASSED checks/kernel.py::softmax.gaussian-window/" in done.stdout


def test_the_suite_itself_verifies_no_claims(pytestconfig: pytest.Config) -> None:
    """The README's command stays short: claims are verified where they are asked for."""
    places = [path for pattern in pytestconfig.getini("testpaths") for path in ROOT.glob(pattern)]
    files = [path for place in places for path in (place.rglob("*.py") if place.is_dir() else [place])]
    assert len(files) > 100
    assert not [path for path in files if has_claims(path)]
    assert [path for path in (ROOT / "checks").glob("*.py") if has_claims(path)]
