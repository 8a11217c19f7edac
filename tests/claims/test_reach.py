"""The range of a verdict in words: parsed back, the words contain no point without a cell."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lipverify.claims.evidence import Basis, Returned  # internal: what a number rests on
from lipverify.claims.ledger import GRADES, Allowed, Cell, Ray, Scalar

# internal: where a list of points becomes a range
from lipverify.claims.ledger.reach import LISTED, at_points, condition, number, reach, reach_of, wants
from lipverify.claims.run import run
from lipverify.foundation.ladder import ASSUMPTION
from tests import ROOT
from tests.ledgers import cell
from tests.toys import claims_in

NAMES = ("d", "n", "law", "w")
VALUES = st.one_of(
    st.integers(-3, 12),
    st.integers(1, 30).map(lambda k: 10**k),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(("relu", "affine", "few waves", "a, b")),
)


@dataclass(frozen=True)
class Spot:
    """A point, without evidence."""

    where: dict[str, Scalar]
    quantity: str = "Q"
    ray: Ray | None = None
    given: dict[str, Scalar] = field(default_factory=dict)
    quantity_latex: str = ""


@given(value=st.one_of(st.integers(-(10**40), 10**40), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_number_is_read_back(value: int | float) -> None:
    said = number(value)
    assert (float(said) if isinstance(value, float) else Fraction(said)) == value


def read_back(words: str) -> dict[str, set[str]]:
    """The values that the words list for each coordinate, with ranges expanded."""
    found: dict[str, set[str]] = {}
    for part in words.split("; "):
        name, _, values = part.partition(" = ")
        low, dots, high = values.partition(", …, ")
        if dots:
            before, _, low = low.rpartition(", ")
            high, *after = high.split(", ")
            rest = {*(before.split(", ") if before else ()), *after}
            found[name] = {str(k) for k in range(int(low), int(high) + 1)} | rest
        else:
            found[name] = set(values.split(", "))
    return found


@given(
    first=st.sets(st.integers(-3, 30), min_size=1, max_size=12),
    second=st.sets(st.sampled_from((0.5, 1.0, 2.5, 10.0)), min_size=1),
)
def test_a_grid_is_described_by_its_coordinates_without_extra_values(first: set[int], second: set[float]) -> None:
    words = at_points([{"d": d, "w": w} for d, w in product(sorted(first), sorted(second))])
    if "values)" in words:  # the ends and the number of points
        low, high, count = re.findall(r"d = (-?\d+) to (-?\d+) \((\d+) values\)", words)[0]
        assert (int(low), int(high), int(count)) == (min(first), max(first), len(first))
        return
    said = read_back(words.replace(", …, ", ", …, ", 1)) if words.count("…") < 2 else None
    if said is not None:
        assert said == {"d": set(map(str, first)), "w": set(map(number, second))}


@given(points=st.lists(st.tuples(*[VALUES] * 3), min_size=1, max_size=9, unique=True))
def test_points_that_fill_no_grid_are_not_described_as_one(points: list[tuple[Scalar, ...]]) -> None:
    where = [dict(zip(NAMES, point, strict=False)) for point in points]
    words = at_points(where)
    sizes = [len({point[k] for point in points}) for k in range(3)]
    if len(points) < sizes[0] * sizes[1] * sizes[2]:
        joint = re.search(r"\((\w+(?:, \w+)+)\)(?: at (\d+) points| = )", words)
        assert joint is not None, words
        together = {tuple(place[name] for name in joint[1].split(", ")) for place in where}
        assert joint[2] is None or int(joint[2]) == len(together)


def test_whole_numbers_in_a_row_are_short_only_if_none_is_missing() -> None:
    assert at_points([{"d": d} for d in range(2, 11)]) == "d = 2, …, 10"
    assert at_points([{"d": d} for d in range(2, 11) if d != 6]) == "d = 2, …, 5, 7, …, 10"
    assert at_points([{"d": float(d)} for d in range(2, 11)]) == "d = 2 to 10 (9 values)"
    assert at_points([{"n": 10.0**k} for k in range(1, 8)]) == "n = 10 to 1e7 (7 values)"
    assert at_points([{"law": str(k)} for k in range(LISTED + 2)]) == f"law = 0 and {LISTED + 1} more"
    assert at_points([{"recipe": "small, fast"}, {"recipe": "small"}]) == "recipe = “small, fast”, small"


def refuting(d: int, verdict: Any) -> Cell:
    return cell(d, "relu", Allowed(high=1.0), "", where={"law": "relu", "d": d}, verdict=verdict)


def test_a_verdict_speaks_of_the_cells_that_make_it() -> None:
    cells = [refuting(2, "refuted"), refuting(3, "supported"), refuting(4, "inconclusive")]
    assert reach(cells, "refuted", "a.b/relu") == "at d = 2"
    assert reach(cells, "inconclusive", "a.b/relu") == "at d = 4"
    assert reach(cells[1:2], "supported", "a.b/relu") == "at d = 3"
    assert reach(cells[1:2], "supported", "a.b") == "at law = relu; d = 3"
    assert reach(cells, "error") == reach([], "supported") == ""


def test_a_limit_is_described_with_its_assumption() -> None:
    far = Ray("n", 1e4, 1e30, 12)
    cells = [replace(refuting(d, "supported"), ray=far) for d in (2, 3)]
    assert reach(cells, "supported", "a.b/relu") == "at d = 2, 3 as n → ∞"
    assert reach(cells, "supported", "a.b/relu", latex=True) == r"at $d$ = 2, 3 as $n \to \infty$"
    assert condition(cells, "supported") == f"n → ∞ is extrapolated from n = 10000 to 1e30; this holds {ASSUMPTION}"
    assert GRADES["extrapolated"].endswith(ASSUMPTION)
    assert ASSUMPTION in " ".join((ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8").split())
    assert condition([refuting(2, "supported")], "supported") == ""
    mixed = [cells[0], replace(cells[1], ray=Ray("n", 1e2, 1e8, 9))]
    assert "from 6 to 26 decades" in condition(mixed, "supported")


def test_quantities_measured_elsewhere_have_ranges_of_their_own() -> None:
    spots: Any = [Spot({"d": 2}), Spot({"d": 3}), Spot({"d": 2}, "R")]
    assert reach_of(spots) == "at d = 2, 3 (Q) and at d = 2 (R)"
    assert reach_of(spots, general=False) == "at d = 2, 3", "what fails fails at its points, whatever is measured"
    bare: Any = [Spot({"d": 2}), Spot({}, "R")]
    assert reach_of(bare) == "at d = 2"
    assert reach_of(bare[1:]) == "in the one case measured"


def test_fixed_arguments_are_named_if_they_are_symbols() -> None:
    spots: Any = [Spot({"d": 2}, given={"n": 1000, "samples": 7, "law": "relu"})]
    assert reach_of(spots) == "at d = 2; n = 1000"


@pytest.mark.parametrize("general", [True, False])
def test_for_every_value_is_used_only_for_symbols_of_a_proof(general: bool) -> None:
    """If the claim fails, the words name only the points that were tried."""
    of_m = Basis(returned=Returned(form="symbolic", symbols=("m",)))
    cells = [replace(cell(2, "relu", Allowed(low=0.0), "≥ 0"), where={"m": m, "d": 2}, basis=of_m) for m in (0, 1)]
    assert reach_of(cells, general=general) == ("for every m, at d = 2" if general else "at m = 0, 1; d = 2")
    assert "for every" not in reach_of([replace(cell(2, "relu", Allowed(low=0.0), "≥ 0"), where={"m": 2, "d": 3})])


def test_a_declared_range_takes_the_place_of_its_coordinates() -> None:
    cells = [replace(cell(2, "relu", Allowed(low=0.0), "≥ 0"), where={"m": m, "d": 2}) for m in (0, 1)]
    assert reach_of(cells, declared=("m >= 0",)) == "for every m ≥ 0, at d = 2"
    assert reach_of(cells, declared=("m", "d")) == "for every m, d"


WIDE = """
from lipverify.claims import at, bound, claim

def sampled(contexts):
    return 1.0, contexts**-0.5

def settled():
    return 1.0, 0.01

claim("mine.wide", bound(MEASURED, "q", high="1.005", control="1/2"), source=("Notes", "1", "q"), kind="derived")
"""


def opened(folder: Path, measured: str) -> str:
    """What would decide the claim; empty if it is decided, or nothing is known to."""
    return wants(run(claims_in(folder, WIDE.replace("MEASURED", measured)), jobs=0).claims[0])


def test_the_named_factor_on_the_contexts_decides_and_less_does_not(tmp_path: Path) -> None:
    told = opened(tmp_path, "at(sampled, contexts=10_000)")
    assert told == "an error of 0.005 would decide it: 4 times the contexts"
    assert opened(tmp_path, "at(sampled, contexts=39_000)")
    assert not opened(tmp_path, "at(sampled, contexts=40_001)")
    assert not opened(tmp_path, "settled"), "an error that is not sampled has no contexts"
