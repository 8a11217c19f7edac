"""Measurements that are handed the results of others, and their addresses."""

from __future__ import annotations

from pathlib import Path

from lipverify.claims.plan.profile import profile_named
from lipverify.claims.plan.registry import claims_of
from lipverify.claims.run.runner import run

FILE = """
from lipverify.claims import Figure, at, bound, claim, draw, needs, per_profile

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
    "mine.total", bound(total, "T", equals="(d*(d - 1)/2)**power", within=0.25, given={"effort": per_profile(1, 2)}),
    over={"power": 2, "d": (2, 3, 4)}, source=("Notes", "1", "T"), kind="derived",
    figures=draw(drawn, shown=at(total, effort=per_profile(1, 2), power=2, d=4)),
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
