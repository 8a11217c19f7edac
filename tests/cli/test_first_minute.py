"""The output of a run: each verdict when it is known, slow measurements by name, at its end what is false or open."""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from lipverify.claims.ledger import Ledger, Record, read_ledger

# internal: the line that every output prints, for the test's own cells
from lipverify.claims.ledger.reach import reach, summary, telling, telling_margin
from lipverify.claims.run.runner import Running  # internal: a measurement with a given duration
from lipverify.cli.verify import verdict_table  # internal: the table of a ledger that no run made
from lipverify.report.terminal.ending import (  # internal: the last lines of ledgers that no run made
    HEADING,
    claim_line,
    ending,
    exit_code,
    theorem_line,
)
from lipverify.report.terminal.screen import PlainScreen  # internal: the log of a run; the test sets its clock
from lipverify.report.terminal.tables import wrapped  # internal: wrapping, for random text
from tests import ROOT
from tests.cli.test_cli import ENVIRONMENT
from tests.commands import CLAIMS_FILE, QUICK_FILE, Commands

EXAMPLE = read_ledger(ROOT / "reports" / "example" / "ledger.json")
replace = msgspec.structs.replace


def with_claims(*records: Record) -> Ledger:
    return replace(EXAMPLE, claims=records)


def moved(record: Record, verdict: str, **changes: Any) -> Record:
    return replace(record, verdict=verdict, **changes)


@pytest.mark.parametrize("width", [80, 20])
def test_the_end_holds_its_width_and_says_the_exit_code_in_words(width: int) -> None:
    lines = ending(EXAMPLE, [Path("reports/report.pdf"), Path("reports/ledger.json")], False, width)
    assert max(map(cell_len, lines)) <= width
    assert "exit code 0: every verdict is as recorded".startswith(lines[-1].strip()) or width == 20
    assert width == 20 or lines[-4] == "nothing is open, false as printed or broken"


def test_the_end_names_each_verdict_that_moved_or_is_open_with_its_reason_and_the_next_step() -> None:
    first, second, third, *rest = EXAMPLE.claims
    strange = [
        moved(first, "refuted", expected="supported", measured="0.7 at d = 2", claimed="at most 0.5"),
        moved(second, "inconclusive", problem="0.4 is 0.4 ± 0.2, across the edge of ≤ 0.5"),
        moved(third, "error", problem="square(3): ArithmeticError: the integral does not converge"),
    ]
    ledger = with_claims(*strange, *rest)
    text = "\n".join(ending(ledger, [], False, 2000))
    for record, became in zip(strange, ("moved from supported to refuted", "moved", "broke"), strict=True):
        line = next(line for line in text.splitlines() if line[1:].startswith(f" {record.id} "))
        assert became in line
        assert "; next: " in line
        assert (record.problem or record.measured) in line
    assert text.splitlines()[-1] == "exit code 3: 1 check broke; 2 verdicts differ from the record"
    assert exit_code(ledger, False) == 3


OPEN = {
    "problem": "the integral of a sum over everything is 0.4 ± 0.2, across the edge of (x + y) / (0.1 x + rounding)"
}
FILES = [Path("reports") / name for name in ("report.pdf", "report.html", "ledger.json")]


def troubled(broken: int, moved_: int, open_: int) -> Ledger:
    """The example with these numbers of claims that broke, moved and are open."""
    records = iter(EXAMPLE.claims)
    return with_claims(
        *(moved(next(records), "inconclusive", expected="inconclusive", **OPEN) for _ in range(open_)),
        *(moved(next(records), "refuted", expected="inconclusive") for _ in range(moved_)),
        *(moved(next(records), "error", problem="square(3): no") for _ in range(broken)),
        *records,
    )


def placed(k: int | str, **fields: Any) -> Record:
    first = EXAMPLE.claims[0]
    return replace(first, id=f"lt.table-1/{k}", source=replace(first.source, place=f"Lemma {k}"), **fields)


def named(lines: list[str]) -> list[str]:
    """The signs of the lines of claims and passages, in order."""
    return [line[0] for line in lines if re.match(r"[!≠‡?✗] ", line)]


def left_out(lines: list[str]) -> Counter[str]:
    """The numbers of those that the end counts without a name, by their signs."""
    line = next((line for line in lines if line.startswith("also, ")), "")
    found = re.findall(r"(\d+) (?:is |are )?(broke|moved|open|false)", line)
    signs = {"broke": "!", "moved": "≠", "open": "?", "false": "✗"}
    return Counter({signs[became]: int(count) for count, became in found})


@pytest.mark.parametrize(("broken", "moved_", "open_"), [(0, 0, 1), (0, 5, 0), (2, 3, 4)])
def test_with_few_theorems_all_that_needs_attention_is_named_in_full(broken: int, moved_: int, open_: int) -> None:
    lines = ending(troubled(broken, moved_, open_), FILES, False, 80)
    assert max(map(cell_len, lines)) <= 80
    assert "report.pdf, report.html, ledger.json in reports" in lines[-3]
    assert "".join(named(lines)) == "!" * broken + "≠" * moved_ + "?" * open_
    text = " ".join(" ".join(lines).split())
    assert text.count("next:") == broken + moved_ + open_
    assert text.count(OPEN["problem"]) == open_
    assert text.count("square(3): no") == broken
    assert "..." not in text


@pytest.mark.parametrize(
    ("broken", "moved_", "open_", "false"),
    [(0, 0, 0, 0), (0, 0, 1, 0), (1, 0, 0, 0), (0, 0, 1, 7), (2, 3, 4, 7), (9, 9, 9, 9), (40, 0, 0, 0), (0, 0, 0, 59)],
)
def test_a_whole_run_has_eighty_lines_at_most_and_none_of_its_troubles_is_lost(
    broken: int, moved_: int, open_: int, false: int
) -> None:
    """Fifty-nine theorems, each with a line, and below them whatever is broken, moved, open or false."""
    first = replace(EXAMPLE.claims[0], kind="printed", verdict="supported", expected="supported")
    wrong = {"verdict": "refuted", "expected": "refuted", "corrected": "a longer statement holds for every n and d"}
    kinds: list[dict[str, Any]] = [{"verdict": "error", "problem": "square(3): no"}] * broken
    kinds += [{"verdict": "refuted"}] * moved_
    kinds += [{"verdict": "inconclusive", "expected": "inconclusive", **OPEN}] * open_
    kinds += [wrong] * false
    kinds += [{}] * (59 - len(kinds))
    records = [
        replace(first, id=f"a.theorem-{k}", source=replace(first.source, place=f"Lemma {k}"), **fields)
        for k, fields in enumerate(kinds)
    ]
    lines = ending(with_claims(*records), FILES, False, 80)
    above = [*HEADING.splitlines(), *(theorem_line(r.id, [r], ranges=False) for r in records), ""]
    assert len(above) + len(lines) <= 80
    assert max(map(cell_len, [*above, *lines])) <= 80
    assert Counter(named(lines)) + left_out(lines) == Counter({"!": broken, "≠": moved_, "?": open_, "✗": false})
    assert "".join(named(lines)) == "".join(sorted(named(lines), key="!≠?✗".index)), "the most urgent first"
    assert len(named(lines)) >= min(broken + moved_ + open_ + false, 7)


@pytest.mark.parametrize("width", [1, 3, 10, 40])
def test_lines_that_are_cut_hold_a_narrow_width(width: int) -> None:
    assert max(map(cell_len, ending(troubled(8, 8, 8), FILES, False, width))) <= width


def test_a_passage_that_is_false_is_named_with_its_place_its_measurement_and_what_holds_instead() -> None:
    lower = placed(1, kind="printed", verdict="refuted", expected="refuted", measured="0.36 at x = 0.6",
                   claimed="x² ≤ x/2", corrected="$x^2 \\leq x$")  # fmt: skip
    upper = replace(lower, id="lt.table-1/upper")
    other = replace(lower, id="lt.table-1/other", kind="stronger")
    said = [line for line in ending(with_claims(lower, upper, other), [], False, 2000) if line.startswith("✗")]
    assert said == [
        "✗ lt.table-1/1 is false as printed (Lemma 1): 0.36 at x = 0.6, where x² ≤ x/2 is claimed; instead: x² ≤ x"
    ]


def test_a_passage_none_of_whose_readings_holds_is_open() -> None:
    fails = {"kind": "convention", "verdict": "refuted", "expected": "refuted"}
    readings = [replace(placed(1, **fails), id=f"a.b/{name}") for name in ("one", "two")]
    lines = ending(with_claims(*readings), [], False, 200)
    assert [line for line in lines if line.startswith("?")] == [
        "? a.b/one is open (Lemma 1): no reading that was tried holds (2 fail); next: try another reading"
    ]


def test_a_refuted_claim_of_no_passage_is_named_until_its_verdict_is_recorded() -> None:
    new = placed(1, kind="stronger", verdict="refuted", expected=None)
    recorded = replace(new, expected="refuted")
    (line,) = [line for line in ending(with_claims(new), [], False, 200) if line.startswith("✗")]
    assert line.startswith("✗ lt.table-1/1 is refuted: ")
    assert named(ending(with_claims(recorded), [], False, 200)) == []


@pytest.mark.usefixtures("no_reports")
def test_the_command_that_explains_is_one_that_works(lipverify: Commands, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my claims.py").write_text(QUICK_FILE)
    lipverify("verify", "my claims.py", "--jobs", "1")
    record, *_ = read_ledger(Path("reports", "ledger.json")).claims
    (line,) = [line for line in ending(with_claims(record), [], False, 200) if line.startswith("more: ")]
    command = shlex.split(line.removeprefix("more: ").partition(";")[0])
    assert command[:2] == ["lipverify", "explain"]
    assert record.id in lipverify(*command[1:]).stdout


def test_a_check_that_broke_has_not_moved() -> None:
    broken = replace(EXAMPLE.claims[0], verdict="error", problem="no", expected="supported")
    assert "MOVED" not in theorem_line("a.b", [broken])


def test_strict_and_missed_controls_are_exit_code_1_in_words() -> None:
    refuted = [record for record in EXAMPLE.claims if record.verdict == "refuted"]
    assert ending(with_claims(*refuted), [], True, 200)[-1] == (
        f"exit code 1: {len(refuted)} claims are refuted, and --strict was given"
    )
    missed = replace(refuted[0], control=replace(refuted[0].control, caught=False))
    assert ending(with_claims(missed), [], False, 200)[-1] == "exit code 1: 1 control was not caught"


@pytest.mark.parametrize("columns", [80, 20])
def test_the_long_table_holds_its_width(columns: int) -> None:
    console = Console(file=io.StringIO(), width=columns, force_terminal=False)
    console.print(verdict_table(EXAMPLE))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(cell_len, text.splitlines())) <= columns


def test_no_formula_breaks_inside_brackets_where_a_line_can_hold_it() -> None:
    lines = wrapped("the window w* is of order Λ^(2 / (d + 3)) up to (log n)^(1 / 2) and no more than that", 30)
    assert lines == ["the window w* is of order", "Λ^(2 / (d + 3)) up to", "(log n)^(1 / 2) and no more", "than that"]
    assert max(map(cell_len, wrapped("Λ^(2 / (d + 3))", 6))) <= 6


@given(st.text(alphabet="ab ()[]{}+/Λ^½", max_size=80), st.integers(4, 40))
def test_whatever_the_text_lines_hold_their_width_and_nothing_is_lost(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert max(map(cell_len, lines)) <= width
    assert "".join("".join(lines).split()) == "".join(text.split())
    if not any(bracket in text for bracket in "([{)]}"):
        assert all(word in " ".join(lines).split() for word in text.split() if cell_len(word) <= width)


@pytest.mark.parametrize("width", [-3, 0, 1, 2])
def test_no_width_is_too_small(width: int) -> None:
    """One column per letter at the least; a negative width once led to an endless loop."""
    assert "".join("".join(wrapped("the window (w, L)", width, "    ")).split()) == "thewindow(w,L)"


def test_every_theorem_is_a_line_of_eighty_columns() -> None:
    stems: dict[str, list[Record]] = {}
    for record in EXAMPLE.claims:
        stems.setdefault(record.id.partition("/")[0], []).append(replace(record, kind="printed", grade="bounded"))
    for stem, records in stems.items():
        line, *where = theorem_line(stem, records).split("\n")
        assert cell_len(line) <= 80
        assert stem in line
        reached = {reach(record.cells, record.verdict) for record in records}
        assert any(words in " ".join((line, *where)) for words in reached) or len(reached) > 2


def claims_of(verdict: str, count: int, **fields: Any) -> list[Record]:
    same = {"kind": "printed", "grade": "extrapolated", "verdict": verdict, "expected": verdict, "corrected": ""}
    return [placed(f"{verdict}-{k}", **same | fields) for k in range(count)]


def test_a_theorem_of_many_claims_has_their_counts_on_its_line() -> None:
    many = [*claims_of("supported", 40), *claims_of("refuted", 40), *claims_of("inconclusive", 40)]
    line = theorem_line("lt.table-1", many).partition("\n")[0]
    assert cell_len(line) <= 80
    assert line.endswith(" 40 hold, 40 false, 40 open extrapolated 40✓ 40✗ 40?")
    assert theorem_line("a" * 70, many).startswith(f"? {'a' * 70} 40 hold"), "a name stays whole, and apart"


def test_counts_stand_under_their_heading() -> None:
    stronger = claims_of("inconclusive", 20, kind="stronger")
    line = theorem_line("lt.table-1", [*claims_of("supported", 20), *claims_of("refuted", 20), *stronger])
    assert line.index("20 hold") == HEADING.splitlines()[-1].index("outcome")


def test_a_verdict_that_moved_is_on_the_line_of_its_claim_and_of_its_theorem() -> None:
    one = replace(EXAMPLE.claims[0], expected="refuted")
    assert "1 MOVED" in theorem_line("a.b", [one])
    assert "1 MOVED" in claim_line(one)


def test_the_measured_value_is_that_of_the_deciding_case() -> None:
    refuted = next(record for record in EXAMPLE.claims if record.verdict == "refuted" and len(record.cells) > 1)
    assert summary(refuted.cells).startswith(f"{_telling(refuted):.3g} at ")
    held = next(r for r in EXAMPLE.claims if r.verdict == "supported" and r.id.startswith("softmax.window"))
    (near,) = telling(held.cells)
    assert summary(held.cells) == summary(held.cells[::-1]), "in whatever order they come"
    expected = f"{near.measured:.3g} at d = {near.where['d']} (of {len(held.cells)} the nearest to its edge)"
    assert summary(held.cells) == expected
    wide = replace(held.cells[0], verdict="inconclusive", error=0.5)
    assert "± 0.5" in summary([wide, *held.cells[1:]])
    assert f"(open in 1 of {len(held.cells)})" in summary([wide, *held.cells[1:]])


def test_number_place_and_margin_are_those_of_one_cell() -> None:
    """Every output prints the same cell, even if the claim fails by more elsewhere or has several quantities."""
    for record in EXAMPLE.claims:
        first, *others = telling(record.cells)
        assert telling_margin(record.cells) == first.margin
        text = summary(record.cells)
        number = text.partition(" = ")[2] if others else text  # each of several quantities has its name
        assert number.startswith(f"{first.measured:.3g}")
        assert 1 + len(others) == len({cell.quantity for cell in record.cells})


def test_the_deciding_case_does_not_depend_on_rounding() -> None:
    refuted = next(record for record in EXAMPLE.claims if record.verdict == "refuted" and len(record.cells) > 1)
    alike = [replace(cell, verdict="refuted", measured=0.5, margin=-0.5) for cell in refuted.cells]
    for last_bit in (1e-13, -1e-13):
        moved = [*alike[:-1], replace(alike[-1], measured=0.5 + last_bit, margin=-0.5 - last_bit)]
        assert summary(moved) == summary(alike)
    other = [replace(alike[0], measured=0.6), *alike[1:]]
    assert summary(other) != summary(alike)


def _telling(record: Record) -> float:
    smallest = next(cell for cell in record.cells if cell.verdict == "refuted")
    assert smallest.measured is not None
    return smallest.measured


def test_theorems_that_share_a_passage_are_shown_together_with_its_outcome() -> None:
    """One reading in each of two files: alone the one that fails would leave the passage open."""
    reading = {"kind": "convention", "corrected": ""}
    holds = replace(placed(1, verdict="supported", **reading), id="a.holds/reading")
    fails = replace(placed(1, verdict="refuted", **reading), id="b.fails/reading")
    other = replace(placed(2, verdict="supported", **reading), id="c.other")
    lines: list[str] = []
    claims: Any = [holds, fails, other]
    watch = PlainScreen(claims, lines.append, lambda line: None)
    watch.decided(fails)
    assert lines == []
    watch.decided(other)
    assert [line.split()[1] for line in lines[1:]] == ["c.other"]
    watch.decided(holds)
    assert [line.split()[:5] for line in lines[2:]] == [
        ["≈", stem, "holds", "in", "one"] for stem in ("a.holds", "b.fails")
    ]


def test_a_slow_measurement_is_named_once_and_again_when_twice_as_long_has_passed() -> None:
    notes: list[str] = []
    watch = PlainScreen([], lambda line: None, notes.append)
    for seconds in (1.0, 9.0, 11.0, 12.0, 21.0, 23.0, 30.0):
        watch.running([Running("value_at(split.py@75a0:noise_share, d=5)", "softmax.split", seconds)])
    assert notes == [f"still measuring for softmax.split ({s} s): noise_share(d=5)" for s in (11, 23)]


def test_verdicts_are_in_the_log_before_the_run_ends(tmp_path: Path) -> None:
    two = CLAIMS_FILE.replace('"mine.square",', '"mine.first",').replace("0.25", "0.01")
    slow = CLAIMS_FILE.split("claim(", 1)[1].replace('"mine.square",', '"mine.slow",').replace("square,", "slowly,")
    slow = slow.replace("Lemma 1", "Lemma 2")  # claims of one place are printed together
    slowly = "\ndef slowly(x):\n    sleep(1.0)\n    return x * x, 1e-12\n\n"
    (tmp_path / "my_claims.py").write_text(two + slowly + "claim(" + slow, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "lipverify", "verify", "my_claims.py", "--out", "out", "--jobs", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT, cwd=tmp_path,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        heading = "".join(running.stdout.readline() for _ in HEADING.splitlines())
        first = running.stdout.readline()
        seen = time.monotonic()
        rest = running.stdout.read()
    assert running.returncode == 0
    assert (heading.rstrip(), "mine.first" in first) == (HEADING, True)
    assert time.monotonic() - seen > 4, "eight seconds of the other claim were still to come"
    assert "mine.slow" in rest


@pytest.mark.usefixtures("no_reports")
def test_json_prints_only_the_ledger(lipverify: Commands, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my_claims.py").write_text(CLAIMS_FILE.replace("0.25", "0"), encoding="utf-8")
    done = lipverify("verify", "my_claims.py", "--out", "out", "--json")
    assert json.loads(done.stdout)["claims"][0]["id"] == "mine.square"
    assert done.stderr.splitlines()[-1] == "exit code 0: every verdict is as recorded"
    assert lipverify("verify", "my_claims.py", "--json", "--table").returncode == 2
    table = lipverify("verify", "my_claims.py", "--out", "out", "--table")
    assert "measured" in table.stdout
    assert "recorded" not in table.stdout.splitlines()[0]
