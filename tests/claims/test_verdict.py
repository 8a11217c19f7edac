"""The function that decides verdicts, covered completely."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipverify.claims.ledger import VERDICTS, Allowed, Interval, Verdict, combine, conclude, decide, margin, settled

ends = st.integers(-8, 8).map(float) | st.floats(-10, 10)  # integers occur exactly at edges
maybe = st.one_of(st.none(), ends)


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    return Interval(*sorted((draw(ends), draw(ends))))


@st.composite
def ranges(draw: st.DrawFn) -> Allowed:
    low, high = draw(maybe), draw(maybe)
    if low is not None and high is not None and low > high:
        low, high = high, low
    return Allowed(low=low, high=high, open=draw(st.booleans()))


@given(measured=intervals(), allowed=ranges())
def test_verdicts_agree_with_the_truth_of_the_statement(measured: Interval, allowed: Allowed) -> None:
    """The claim allows all values of the interval, none of them, or some."""
    (low, high), (floor, ceiling) = measured.ends, allowed.ends
    if allowed.open:  # the least and the largest double inside
        floor, ceiling = math.nextafter(floor, math.inf), math.nextafter(ceiling, -math.inf)
    every, some = floor <= low and high <= ceiling, max(low, floor) <= min(high, ceiling)
    assert decide(measured, allowed) == ("supported" if every else "inconclusive" if some else "refuted")


@given(measured=intervals(), allowed=ranges())
def test_the_margin_is_how_much_wider_the_interval_could_be(measured: Interval, allowed: Allowed) -> None:
    verdict, distance = decide(measured, allowed), margin(measured, allowed)
    assert (distance is None) == (allowed.low is allowed.high is None)
    if distance:
        assert verdict == ("supported" if distance > 0 else "refuted")
        low, high = measured.ends
        # a quarter and four times the distance: rounding of the ends cannot cross the edge
        narrow, wide = (Interval(low - share * abs(distance), high + share * abs(distance)) for share in (0.25, 4))
        assert decide(narrow, allowed) == verdict
        assert decide(wide, allowed) != verdict


EDGE, INF = Interval(1.0, 1.0), math.inf
DECIDED: list[tuple[Interval, Allowed, Verdict]] = [
    *((Interval(*ends), Allowed(low=0.0), "error") for ends in ((math.nan, 1.0), (0.0, math.nan), (2.0, 1.0))),
    *((Interval(0.0, 1.0), allowed, "error") for allowed in (Allowed(low=math.nan), Allowed(low=2.0, high=1.0))),
    (Interval(None, None), Allowed(low=0.0), "inconclusive"),
    (Interval(1.0, None), Allowed(low=0.0), "supported"),
    (Interval(-INF, INF), Allowed(low=0.0, high=1.0), "inconclusive"),
    (EDGE, Allowed(low=1.0), "supported"),
    (EDGE, Allowed(low=1.0, open=True), "refuted"),
    (EDGE, Allowed(low=1.0, high=1.0), "supported"),
]
"""No number, no range, ends that are not bounded, and edges, which belong to closed ranges only."""


@pytest.mark.parametrize(("measured", "allowed", "verdict"), DECIDED)
def test_the_ends_decide(measured: Interval, allowed: Allowed, verdict: Verdict) -> None:
    assert decide(measured, allowed) == verdict


WORSE: tuple[Verdict, ...] = ("supported", "inconclusive", "refuted", "error")


@pytest.mark.parametrize("one", WORSE)
@pytest.mark.parametrize("other", WORSE)
def test_two_cells_are_as_good_as_the_worse(one: Verdict, other: Verdict) -> None:
    assert combine([one, other]) == max(one, other, key=WORSE.index)


@given(cells=st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=9), split=st.integers(1, 8))
def test_many_cells_are_combined_two_by_two(cells: list[Verdict], split: int) -> None:
    assert combine(cells[:1]) == cells[0]
    assert combine(cells) == combine([combine(part) for part in (cells[:split], cells[split:]) if part])


@pytest.mark.parametrize("cell", VERDICTS)
@pytest.mark.parametrize("control", VERDICTS)
def test_a_cell_with_a_failed_control_decides_nothing(cell: Verdict, control: Verdict) -> None:
    other_way = {"supported": "refuted", "refuted": "supported"}.get(cell)
    decided = cell if cell == "error" or control == other_way else "inconclusive"
    assert settled(cell, control) == decided
    assert conclude([settled(cell, control)], []) == decided
    assert conclude([settled(cell, control)], [True, True]) == decided
    assert conclude([settled(cell, control)], [True, False]) == ("error" if cell == "error" else "inconclusive")


def test_one_cell_refutes_and_all_cells_support() -> None:
    assert conclude([settled("refuted", "supported"), settled("refuted", "refuted")], []) == "refuted"
    assert conclude([settled("supported", "refuted"), settled("supported", "inconclusive")], []) == "inconclusive"


def test_no_evidence_supports_nothing() -> None:
    assert combine([]) == "inconclusive"
    assert conclude([], []) == "inconclusive"
    assert conclude([], [True]) == "inconclusive"
