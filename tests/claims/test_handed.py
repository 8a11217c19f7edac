"""Functions that take the results of other functions as arguments, and their addresses."""

from __future__ import annotations

from pathlib import Path

from lipverify.claims.run import run
from tests.toys import claims_in

FILE = """
from lipverify.claims import at, bound, claim, per_profile
from lipverify.claims.ledger import Figure

def part(k, seed):
    return {"k": k + 0 * seed}

def total(d, power, one, two, effort):
    return (d * one["k"] + two["k"]) ** power, 0.0

PARTS = {"one": at(part, k=1), "two": at(part, k=2)}

def drawn(shown):
    return Figure(caption=str(shown[0]), alt="")

claim(
    "mine.total", bound(at(total, effort=per_profile(1, 2), **PARTS), "T", equals="(d + 2)**power", within=0.25),
    over={"power": 2, "d": (2, 3, 4)}, source=("Notes", "1", "T"), kind="derived",
    shows=at(drawn, shown=at(total, effort=per_profile(1, 2), power=2, d=4, **PARTS)),
)
"""


def test_needed_results_are_measured_once_and_handed_over(tmp_path: Path) -> None:
    claims = claims_in(tmp_path, FILE)
    every = [address for claim in claims for address in claim.measurements]
    assert len(every) == 3 + 2, "a figure that shows what a cell was read from shares its measurement"
    for jobs in (1, 2):
        (record,) = run(claims, jobs=jobs).claims
        assert (record.verdict, record.problem) == ("supported", "")
        assert [cell.measured for cell in record.cells] == [16, 25, 36]
        assert record.figures[0].caption == "36"


def test_addresses_are_the_same_in_every_process(tmp_path: Path) -> None:
    assert not any(" at 0x" in address for address in claims_in(tmp_path, FILE)[0].measurements)


NESTED = """
from lipverify.claims import agree, at, bound, claim, per_profile

def part(k, seed, contexts):
    return {"k": k * contexts + 0 * seed}

def total(k, part, power=1):
    return part["k"] ** power, 0.0

def said(total, k):
    return f"{total[0]:g} at {k}"

claim(
    "mine.total/{k}", bound(at(total, part=at(part, contexts=per_profile(2, 3))), "T", equals="2*k", within=0.25),
    agree(at(total, part=at(part, contexts=5), power=2), at(total, part=at(part, contexts=25), power=1), "T"),
    over={"k": (1, 2)}, source=("Notes", "1", "T"), kind="derived",
    finding=at(said, total=at(total, part=at(part, contexts=4))),
)
"""


def test_a_coordinate_may_be_the_result_of_another_function(tmp_path: Path) -> None:
    one, two = run(claims_in(tmp_path, NESTED), jobs=1).claims
    assert (one.problem, two.problem) == ("", "montecarlo and montecarlo disagree on T at k = 2: 100, 50")
    assert [[cell.measured for cell in record.cells] for record in (one, two)] == [[2.0], [4.0]]
    assert (one.finding, two.finding) == ("4 at 1", "8 at 2")
    assert one.cross_checks[0].values == (25.0, 25.0)
    assert two.cross_checks[0].values == (100.0, 50.0)
