"""Measurements that are handed the results of others, and their addresses."""

from __future__ import annotations

from pathlib import Path

from lipverify.claims.plan import claims_of, profile_named
from lipverify.claims.run import run

FILE = """
from lipverify.claims import Figure, at, bound, claim, needs, per_profile

def part(k, seed):
    return {"k": k + 0 * seed}

def parts(d):
    return [at(part, k=k) for k in range(d)]

@needs(found=parts)
def total(d, power, found, effort):
    return sum(each["k"] for each in found) ** power, 0.0

def drawn(shown):
    return Figure(caption=str(shown[0]), alt="")

claim(
    "mine.total", bound(at(total, effort=per_profile(1, 2)), "T", equals="(d*(d - 1)/2)**power", within=0.25),
    over={"power": 2, "d": (2, 3, 4)}, source=("Notes", "1", "T"), kind="derived",
    shows=at(drawn, shown=at(total, effort=per_profile(1, 2), power=2, d=4)),
)
"""


def test_needed_results_are_measured_once_and_handed_over(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    claims = claims_of(str(path), profile_named("quick"))
    every = [address for claim in claims for address in claim.measurements]
    assert len(every) == 3 + 4, "a figure that shows what a cell was read from shares its measurement"
    for jobs in (1, 2):
        (record,) = run(claims, jobs=jobs).claims
        assert (record.verdict, record.problem) == ("supported", "")
        assert [cell.measured for cell in record.cells] == [1, 9, 36]
        assert record.figures[0].caption == "36"


def test_addresses_are_the_same_in_every_process(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    addresses = list(claims_of(str(path), profile_named("quick"))[0].measurements)
    assert not any(" at 0x" in address for address in addresses)


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
    over={"k": (1, 2)}, source=("Notes", "1", "T"), kind="derived",
    finding=at(said, total=at(total, part=at(part, contexts=4))),
    agrees=agree(at(total, part=at(part, contexts=5), power=2), at(total, part=at(part, contexts=25), power=1), "T"),
)
"""


def test_a_coordinate_may_be_what_another_function_returns_at_the_same_point(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(NESTED)
    one, two = run(claims_of(str(path), profile_named("quick")), jobs=1).claims
    assert (one.problem, two.problem) == ("", "exact and montecarlo disagree on T at k = 2: 100, 50")
    assert [[cell.measured for cell in record.cells] for record in (one, two)] == [[2.0], [4.0]]
    assert (one.finding, two.finding) == ("4 at 1", "8 at 2")
    assert one.cross_checks[0].values == (25.0, 25.0)
    assert two.cross_checks[0].values == (100.0, 50.0)
