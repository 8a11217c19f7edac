"""Claims as tests: which pass, fail, are skipped or break, and that nothing is measured twice or imported in vain."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from xml.etree import ElementTree

import pytest

from lipverify.pytest_plugin import has_claims, items  # internal: loaded here once
from tests import ROOT

pytest_plugins = ["pytester"]

LOADED = items  # numerical libraries can be loaded once in a process, and pytester forgets what is loaded within

HEAD = """
from lipverify.claims import agree, bound, claim

def value(x: float, d: int) -> tuple[float, float]:
    with open("calls.txt", "a") as calls:
        print(x, file=calls)
    return x, 0.25

def broken(x: float, d: int) -> tuple[float, float]:
    raise ArithmeticError("the integral does not converge")

def far(x: float, d: int) -> tuple[float, float]:
    return x + 9.0, 0.25

"""


def stated(
    name: str, x: float, expected: str | None, control: float = 0.0, measure: str = "value", agrees: str = ""
) -> str:
    """The text of a claim that x <= 1, where x has an error of a quarter."""
    return (
        f'claim("mine.{name}", bound({measure}, "x", high=1, control={control}), {agrees}\n'
        f'      over={{"d": 3, "x": {x}}},\n'
        f'      source=("Notes", "Lemma 1", "$x$ is at most one"), kind="printed", expected={expected!r})\n'
    )


def own(*claims: str) -> str:
    return "\n".join([HEAD, *claims])


FOUR = own(
    stated("holds", 0.5, "supported"),
    stated("known", 2.0, "refuted"),
    stated("moved", 2.0, "supported"),
    stated("open", 1.0, "supported"),
)


def run(pytester: pytest.Pytester, text: str, *options: str) -> pytest.RunResult:
    """Run pytest on a file of claims, with every warning an error."""
    pytester.makepyfile(my_claims=text)
    return pytester.runpytest("my_claims.py", "-W", "error", "-p", "no:cacheprovider", "-rA", *options)


def test_verdicts_are_compared_with_the_recorded_ones(pytester: pytest.Pytester) -> None:
    result = run(pytester, FOUR)
    result.assert_outcomes(passed=2, failed=1, skipped=1)
    result.stdout.fnmatch_lines_random(
        [
            "PASSED my_claims.py::mine.holds",
            "PASSED my_claims.py::mine.known",
            "FAILED my_claims.py::mine.moved - Failed: refuted at d = 3; x = 2*",
            "SKIPPED [[]1] my_claims.py: mine.open: inconclusive at d = 3; x = *, recorded as *across the edge of ≤ 1*",
        ]
    )


@pytest.mark.parametrize("option", ["--lipverify-strict", "--strict"])
def test_strictly_a_refuted_claim_fails_whatever_is_recorded(pytester: pytest.Pytester, option: str) -> None:
    result = run(pytester, FOUR, option)
    result.assert_outcomes(passed=1, failed=2, skipped=1)
    result.stdout.fnmatch_lines(["FAILED my_claims.py::mine.known - Failed: refuted at d = 3; x = 2*"])


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="older versions do not know the option")
def test_strictness_of_pytest_in_a_file_is_about_pytest(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nstrict = true")
    run(pytester, FOUR).assert_outcomes(passed=2, failed=1, skipped=1)


@pytest.mark.parametrize(("x", "outcome"), [(0.5, {"passed": 1}), (2.0, {"failed": 1}), (1.0, {"skipped": 1})])
def test_a_claim_without_a_recorded_verdict_must_hold(
    pytester: pytest.Pytester, x: float, outcome: dict[str, int]
) -> None:
    run(pytester, own(stated("new", x, None))).assert_outcomes(**outcome)


def test_a_supported_claim_that_is_recorded_as_refuted_has_moved(pytester: pytest.Pytester) -> None:
    run(pytester, own(stated("better", 0.5, "refuted"))).assert_outcomes(failed=1)


def test_a_failure_says_all_that_a_reader_needs(pytester: pytest.Pytester) -> None:
    result = run(pytester, own(stated("moved", 2.0, "supported")))
    result.stdout.fnmatch_lines(
        [
            "refuted at d = 3; x = 2, recorded as supported: 2 ± 0.25",
            "statement: *x *leq 1",
            "source: * Notes, Lemma 1: $x$ is at most one",
            "claimed: * x ≤ 1",
            "margin: * -0.75",
            "control: * none declared",
            "again with: *lipverify verify my_claims.py mine.moved",
            "evidence:",
            "  d = 3, x = 2.0: x = 2 ± 0.25 (own function), allowed ≤ 1: refuted, margin -0.75",
        ]
    )
    assert "Traceback" not in result.stdout.str()


def test_a_control_that_escapes_fails(pytester: pytest.Pytester) -> None:
    result = run(pytester, own(stated("idle", 0.5, "supported", control=0.6)))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["FAILED*control not caught: x ≤ 0.6"])


def test_methods_that_disagree_are_the_reason_of_a_skip(pytester: pytest.Pytester) -> None:
    result = run(
        pytester, own(stated("split", 0.5, "supported", agrees='agree(value, far, "x", over={"x": 0.5, "d": 3}),'))
    )
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*the methods disagree on x: value 0.5 ± 0.25, far 9.5 ± 0.25*"])


def test_a_broken_check_does_not_affect_other_claims(pytester: pytest.Pytester) -> None:
    text = own(stated("broken", 0.5, "supported", measure="broken"), stated("holds", 0.5, "supported"))
    result = run(pytester, text)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*ArithmeticError: the integral does not converge*", "*in broken*"])


def test_a_claim_that_is_an_error_already_is_not_measured_further(pytester: pytest.Pytester) -> None:
    """At x = -1 the check breaks; x = 0.5 would be next, which the second claim needs, and 0.6, which none does."""
    breaks = stated("breaks", 0.5, "supported").replace('"x": 0.5', '"x": (-1.0, 0.5, 0.6)')
    law = own(breaks, stated("holds", 0.5, "supported")).replace("return x, 0.25", "return x / (x + 1), 0.1")
    run(pytester, law).assert_outcomes(passed=1, errors=1)
    assert (pytester.path / "calls.txt").read_text().split() == ["-1.0", "0.5"]


SHARED = own(
    *(stated(f"one-{k}", k, "refuted") for k in range(2, 8)),
    *(stated(f"two-{k}", k, "refuted", control=-1.0) for k in range(2, 8)),
)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param((), id="one process"),
        pytest.param(("-n", "2", "--dist", "loadfile"), id="two", marks=pytest.mark.slow),
    ],
)
def test_shared_measurements_run_once(pytester: pytest.Pytester, options: tuple[str, ...]) -> None:
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
    text = own("def seeded(x: float, d: int, seed: int, contexts: int):\n    return seed / 10 + contexts / 1e9, 0.1\n")
    text += stated("holds", 0.5, "supported", measure="seeded")
    result = run(pytester, text, "--lipverify-profile", "full", "--lipverify-seed", "3")
    result.stdout.fnmatch_lines(["PASSED my_claims.py::mine.holds"])
    moved = run(pytester, text, "--lipverify-profile", "full", "--lipverify-seed", "12")
    moved.stdout.fnmatch_lines(["*x = 1.2004 ± 0.1*"])
    assert run(pytester, text, "--lipverify-profile", "vast").ret == pytest.ExitCode.USAGE_ERROR


def test_a_faulty_claim_is_named_with_its_line(pytester: pytest.Pytester) -> None:
    faulty = run(pytester, own(stated("holds", 0.5, "supported").replace("high=1", 'high="y"')))
    faulty.assert_outcomes(errors=1)
    faulty.stdout.fnmatch_lines(["my_claims.py:15: *y*"])


def test_a_test_module_may_have_claims_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_both=own(stated("holds", 0.5, "supported")) + "\n\ndef test_more():\n    assert 1\n")
    pytester.runpytest("-W", "error").assert_outcomes(passed=2)


def test_only_files_that_declare_claims_are_touched(pytester: pytest.Pytester) -> None:
    raises = 'import lipverify\nraise RuntimeError("imported")\n'
    pytester.makepyfile(
        other=raises,
        quoted=f'{raises}TEXT = """\ndef {"claims"}(profile):\n    return []\n"""\n',
        unrelated=f"raise RuntimeError\ndef {'claims'}(profile):\n    pass\n",
    )
    assert pytester.runpytest().ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.slow
def test_a_file_of_checks_is_a_file_of_claims() -> None:
    options = ("-q", "-rA", "-p", "no:cacheprovider", "-k", "gaussian")
    command = [sys.executable, "-m", "pytest", *options, "checks/softmax/kernel.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout
    assert "PASSED checks/softmax/kernel.py::softmax.gaussian-window/" in done.stdout


def test_the_suite_itself_verifies_no_claims(pytestconfig: pytest.Config) -> None:
    """The README's test command stays short, because claims are verified only where a run requests them."""
    places = [path for pattern in pytestconfig.getini("testpaths") for path in ROOT.glob(pattern)]
    files = [path for place in places for path in (place.rglob("*.py") if place.is_dir() else [place])]
    assert len(files) > 100
    assert not [path for path in files if has_claims(path)]
    assert [path for path in (ROOT / "checks").rglob("*.py") if has_claims(path)]
