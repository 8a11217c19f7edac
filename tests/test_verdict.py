"""The one function that decides, covered completely."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipverify.claims.verdict import VERDICTS, Allowed, Interval, combine, conclude, decide, margin
from lipverify.properties import narrowing_never_overturns

ends = st.floats(-10, 10)
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


@given(measured=intervals(), allowed=ranges(), left=st.floats(0, 1), right=st.floats(0, 1))
def test_a_narrower_interval_never_overturns_a_decision(
    measured: Interval, allowed: Allowed, left: float, right: float
) -> None:
    low, high = measured.ends
    inner_low = low + (high - low) * min(left, right)
    inner = Interval(inner_low, max(inner_low, low + (high - low) * max(left, right)))
    if inner.ends[1] <= high:
        narrowing_never_overturns(measured, inner, allowed)


@given(measured=intervals(), allowed=ranges())
def test_supported_and_refuted_are_what_they_say(measured: Interval, allowed: Allowed) -> None:
    (low, high), (floor, ceiling) = measured.ends, allowed.ends
    middle = (low + high) / 2
    inside = floor < middle < ceiling if allowed.open else floor <= middle <= ceiling
    verdict = decide(measured, allowed)
    if verdict == "supported":
        assert inside
        assert (distance := margin(measured, allowed)) is None or distance >= 0
    if verdict == "refuted":
        assert not inside
        assert (distance := margin(measured, allowed)) is None or distance <= 0
    if verdict == "inconclusive":
        assert margin(measured, allowed) in (0.0, None)


@pytest.mark.parametrize(
    "measured",
    [
        Interval(math.nan, 1.0),
        Interval(0.0, math.nan),
        Interval(math.nan, math.nan),
        Interval(2.0, 1.0),
    ],
)
def test_not_a_number_and_a_reversed_interval_are_errors(measured: Interval) -> None:
    assert decide(measured, Allowed(low=0.0)) == "error"


def test_a_range_that_is_not_a_range_is_an_error() -> None:
    assert decide(Interval(0.0, 1.0), Allowed(low=math.nan)) == "error"
    assert decide(Interval(0.0, 1.0), Allowed(low=2.0, high=1.0)) == "error"


def test_an_unbounded_interval_decides_nothing_bounded() -> None:
    assert decide(Interval(None, None), Allowed(low=0.0)) == "inconclusive"
    assert decide(Interval(1.0, None), Allowed(low=0.0)) == "supported"
    assert decide(Interval(-math.inf, math.inf), Allowed(low=0.0, high=1.0)) == "inconclusive"


def test_edges_belong_to_closed_ranges_only() -> None:
    edge = Interval(1.0, 1.0)
    assert decide(edge, Allowed(low=1.0)) == "supported"
    assert decide(edge, Allowed(low=1.0, open=True)) == "refuted"
    assert decide(edge, Allowed(low=1.0, high=1.0)) == "supported"


@pytest.mark.parametrize("verdicts", list(itertools.product(VERDICTS, repeat=3)))
def test_a_claim_is_as_good_as_its_worst_cell(verdicts: tuple[str, ...]) -> None:
    worst = next(v for v in ("error", "refuted", "inconclusive", "supported") if v in verdicts)
    assert combine(verdicts) == worst  # type: ignore[arg-type]


@pytest.mark.parametrize("cell", VERDICTS)
@pytest.mark.parametrize("control", VERDICTS)
@pytest.mark.parametrize("agreed", [True, False])
def test_a_claim_is_decided_only_if_its_control_is_caught_and_its_methods_agree(
    cell: str, control: str, agreed: bool
) -> None:
    verdict = conclude([cell], [control], [agreed])  # type: ignore[list-item]
    if cell == "error":
        assert verdict == "error"
    elif control == "refuted" and agreed:
        assert verdict == cell
    else:
        assert verdict == "inconclusive"


def test_no_evidence_supports_nothing() -> None:
    assert combine([]) == "inconclusive"
    assert conclude([], [], []) == "inconclusive"
    assert conclude(["supported"], [], []) == "inconclusive"
