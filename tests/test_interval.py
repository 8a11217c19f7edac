"""The interval for bounded means: coverage with power, the edges against bisection, and what it must refuse."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, target
from hypothesis import strategies as st
from numpy.typing import NDArray

from lipverify import Problem
from lipverify.errors import InvalidInput
from lipverify.laws import Affine, Law, ReLU
from lipverify.loss.interval import LARGEST_BET, SLACK, _bets, betting_interval, block_means, bounded_mean
from lipverify.loss.montecarlo.terms import context_samples, sample_bounds
from lipverify.loss.streams import uniforms

Floats = NDArray[np.float64]

REPETITIONS = 2000
SKEWED: dict[str, tuple[int, float, Callable[[Floats], Floats]]] = {
    "one in a hundred": (300, 0.01, lambda u: np.where(u < 0.01, 1.0, 0.0)),
    "power": (200, 1 / 31, lambda u: u**30),
    "mirrored power": (200, 30 / 31, lambda u: 1 - u**30),
}


def by_bisection(samples: Floats) -> tuple[Floats, Floats]:
    """The edges again, slowly: halve the bracket until doubles are used up."""
    bets, threshold, mean = _bets(samples, 0.95), math.log(40), samples.mean(axis=0)
    edges = []
    for sign, start in ((1.0, 0.0), (-1.0, 1.0)):
        outside, inside = np.full_like(mean, start), mean
        for _ in range(60):
            m = (outside + inside) / 2
            bet = np.minimum(bets, LARGEST_BET / np.maximum(m if sign > 0 else 1 - m, 1e-300))
            rich = np.sum(np.log1p(sign * bet * (samples - m)), axis=0) > threshold
            outside, inside = np.where(rich, m, outside), np.where(rich, inside, m)
        edges.append(outside)
    return edges[0], edges[1]


@pytest.mark.parametrize("case", SKEWED)
def test_it_covers_where_the_normal_interval_does_not(case: str) -> None:
    size, truth, transform = SKEWED[case]
    x = transform(uniforms(0, f"coverage/{case}", 0, (size, REPETITIONS)))
    low, high = betting_interval(x)
    assert np.mean((low > truth) | (high < truth)) <= 0.05
    # power: the normal interval misses twice as often as it says, by far more than chance (0.5 % of 2000)
    normal = 1.96 * x.std(axis=0) / math.sqrt(size)
    assert np.mean(np.abs(x.mean(axis=0) - truth) > normal) > 0.08


def test_an_interval_of_half_the_width_would_be_noticed() -> None:
    """The coverage test can fail: half of the interval misses far more often than it may."""
    size, truth, transform = SKEWED["one in a hundred"]
    x = transform(uniforms(0, "coverage/control", 0, (size, REPETITIONS)))
    low, high = betting_interval(x)
    centre = x.mean(axis=0)
    misses = (centre - (centre - low) / 2 > truth) | (centre + (high - centre) / 2 < truth)
    assert np.mean(misses) > 0.05


@given(
    size=st.integers(1, 400),
    power=st.floats(0.1, 40.0),
    scale=st.floats(-7.0, 0.0).map(lambda e: 10.0**e),
    address=st.integers(0, 10**6),
)
def test_the_edges_are_where_bisection_finds_them(size: int, power: float, scale: float, address: int) -> None:
    """Deterministic, so Hypothesis may choose the draws."""
    x = scale * uniforms(0, "edges", address, (size, 3)) ** power
    # N terms of rounding, over a slope of the logarithm that is the sum of N bets of at least 1 / sqrt(N)
    rounding = 64 * np.finfo(float).eps * math.sqrt(size)
    shares = []
    for samples in (x, 1 - x):
        (low, high), (slow_low, slow_high), mean = (
            betting_interval(samples),
            by_bisection(samples),
            samples.mean(axis=0),
        )
        assert np.all(low <= slow_low + rounding)
        assert np.all(high >= slow_high - rounding)
        shares.append((slow_low - low) / (SLACK * (mean - slow_low) + rounding))
        shares.append((high - slow_high) / (SLACK * (slow_high - mean) + rounding))
    target(float(np.max(shares)))
    assert np.max(shares) <= 1


@pytest.mark.parametrize("law", [Affine(), ReLU()])
def test_the_width_is_that_of_the_normal_interval_and_what_the_range_forces(law: Law) -> None:
    """d = 5, n = 100, w = 10, 20000 contexts: a bias sample is a hundredth of its bound there."""
    problem, w, contexts = Problem(d=5, n=100, law=law), np.array([10.0]), 20_000
    chunks = [np.concatenate(pair, axis=1) for pair in context_samples(problem, w, contexts, 0, "width")]
    samples, (low, high) = np.concatenate(chunks), sample_bounds(problem, w)
    _, half_width = bounded_mean(samples, low, high)
    normal = 1.96 * samples.std(axis=0) / math.sqrt(contexts)
    forced = math.log(40) / (LARGEST_BET * contexts) * (high - low)  # one sample in N may be as large as the bound
    assert np.all(half_width <= 1.5 * normal + forced)
    assert half_width[0] <= 1.5 * normal[0]


@given(sizes=st.lists(st.integers(0, 9), min_size=1, max_size=12), size=st.integers(1, 5))
def test_block_means_do_not_see_where_chunks_end(sizes: list[int], size: int) -> None:
    samples = uniforms(0, "blocks", 0, (sum(sizes), 2))
    chunks = np.split(samples, np.cumsum(sizes)[:-1])
    whole = len(samples) // size
    expected = [samples[size * k : size * (k + 1)].mean(axis=0) for k in range(whole)]
    assert np.array_equal(block_means(chunks, size), np.reshape(expected, (whole, 2)))


def test_samples_that_did_not_vary_are_not_known_exactly() -> None:
    """None of 1000 draws says that nothing happens once in 2000: the chance to see that is 60 %."""
    mean, half_width = bounded_mean(np.ones((1000, 1)), np.array([0.0]), np.array([1.0]))
    assert mean[0] == 1.0
    assert half_width[0] > 1 / 2000


def test_a_sample_beyond_its_bound_is_refused() -> None:
    """A law that understates the range of its links must not be clipped in silence."""
    with pytest.raises(InvalidInput, match="extents"):
        bounded_mean(np.array([[0.5], [1.1]]), np.array([0.0]), np.array([1.0]))


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.1, 1.1])
def test_samples_outside_of_the_unit_interval_are_refused(value: float) -> None:
    with pytest.raises(InvalidInput, match="samples"):
        betting_interval(np.array([[0.5], [value]]))


@pytest.mark.parametrize("level", [0.0, 1.0, math.nan])
def test_a_level_outside_of_the_unit_interval_is_refused(level: float) -> None:
    with pytest.raises(InvalidInput, match="level"):
        betting_interval(np.array([[0.5], [0.6]]), level)


def test_no_samples_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one"):
        betting_interval(np.empty((0, 2)))
