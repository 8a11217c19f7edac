"""The interval for bounded means: coverage with power, the edges compared with bisection, and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipverify import Problem
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation import Floats, uniforms

# internal: the interval on samples of the test's own
from lipverify.foundation.means.betting import LARGEST_LOSS, Tally, _bets, betting_interval
from lipverify.foundation.means.checked import NormalTally  # internal: the normal interval on the same samples
from lipverify.foundation.means.samples import FEWEST  # internal: one sample fewer is refused
from lipverify.laws import Affine, Law, ReLU
from lipverify.loss.montecarlo.terms import sampler  # internal: samples one by one, which the mean does not show
from tests.strategies import target

REPETITIONS = 2000
SKEWED: dict[str, tuple[int, float, Callable[[Floats], Floats]]] = {
    "one in a hundred": (300, 0.01, lambda u: np.where(u < 0.01, 1.0, 0.0)),
    "power": (200, 1 / 31, lambda u: u**30),
    "mirrored power": (200, 30 / 31, lambda u: 1 - u**30),
}


def tally_of(samples: Floats, low: float = 0.0, high: float = 1.0) -> Tally:
    columns = samples.shape[1]
    tally = Tally(np.full(columns, low), np.full(columns, high))
    tally.add(samples)
    return tally


def by_bisection(samples: Floats) -> tuple[Floats, Floats]:
    """The edges of the same bets again, slowly: every sample kept, its logarithm taken, brackets halved."""
    tally, threshold, mean = tally_of(samples), math.log(40), samples.mean(axis=0)
    edges = []
    for sign, start in ((1.0, 0.0), (-1.0, 1.0)):
        bets = np.repeat(_bets(tally.stages, sign, threshold), [stage.count for stage in tally.stages], axis=0)
        outside, inside = np.full_like(mean, start), mean
        for _ in range(60):
            m = (outside + inside) / 2
            bet = np.minimum(bets, LARGEST_LOSS / np.maximum(m if sign > 0 else 1 - m, 1e-300))
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
    mean = x.mean(axis=0)
    half = (mean - (mean - low) / 2 > truth) | (mean + (high - mean) / 2 < truth)
    assert np.mean(half) > 0.05, "half of the interval misses too often: the test can fail"
    # power: the normal interval misses twice as often as it states, by far more than chance (0.5 % of 2000)
    normal = 1.96 * x.std(axis=0) / math.sqrt(size)
    assert np.mean(np.abs(mean - truth) > normal) > 0.08


@given(
    size=st.integers(1, 400),
    power=st.floats(0.1, 40.0),
    scale=st.floats(-7.0, 0.0).map(lambda e: 10.0**e),
    address=st.integers(0, 10**6),
)
def test_running_sums_give_an_interval_that_contains_the_one_of_kept_samples(
    size: int, power: float, scale: float, address: int
) -> None:
    """Deterministic, so Hypothesis may choose the draws. The capital is bounded from below, never from above."""
    x = scale * uniforms(0, "edges", address, (size, 3)) ** power
    # N terms of rounding, over a slope of the logarithm that is the sum of N bets of at least 1 / sqrt(N)
    rounding = 64 * np.finfo(float).eps * math.sqrt(size)
    shares = []
    for samples in (x, 1 - x):
        (low, high), (slow_low, slow_high) = betting_interval(samples), by_bisection(samples)
        assert np.all(low <= slow_low + rounding)
        assert np.all(high >= slow_high - rounding)
        shares.append(np.max((slow_high - slow_low) / (high - low)))
    target(float(np.max(shares)))


LONG, MEANS = 10_000, 200
SIZES = (2_500, LONG)
MANY_SAMPLES: dict[str, tuple[float, float, Callable[[Floats], Floats]]] = {
    "uniform": (0.5, 0.5, lambda u: u),
    "power": (0.5, 1 / 31, lambda u: u**30),
    "mirrored power": (0.5, 30 / 31, lambda u: 1 - u**30),
    "one in a thousand": (0.2, 0.001, lambda u: np.where(u < 0.001, 1.0, 0.0)),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", MANY_SAMPLES)
def test_intervals_of_many_samples_cover(case: str, size: int) -> None:
    """A share of the interval, half of it or for rare events a fifth, misses too often: the count can fail."""
    share, truth, transform = MANY_SAMPLES[case]
    x = transform(uniforms(0, f"many/{case}", 0, (size, MEANS)))
    low, high = betting_interval(x)
    mean = x.mean(axis=0)
    assert np.all((low <= mean) & (mean <= high))
    allowed = 0.05 * MEANS + 4 * math.sqrt(0.05 * 0.95 * MEANS)
    assert np.sum((low > truth) | (high < truth)) <= allowed
    assert np.sum((mean - share * (mean - low) > truth) | (mean + share * (high - mean) < truth)) > allowed


def test_mirrored_samples_have_the_mirrored_interval() -> None:
    x = uniforms(0, "mirrored", 0, (LONG, 5)) ** np.array([0.2, 1.0, 3.0, 10.0, 30.0])
    (low, high), (mirrored_low, mirrored_high) = betting_interval(x), betting_interval(1 - x)
    np.testing.assert_allclose(low, 1 - mirrored_high, atol=1e-9)
    np.testing.assert_allclose(high, 1 - mirrored_low, atol=1e-9)


@pytest.mark.parametrize(("size", "factor"), [(2_500, 1.7), (20_000, 1.6), (200_000, 1.5)])
def test_with_many_samples_the_width_is_that_of_the_normal_interval_and_half_more(size: int, factor: float) -> None:
    """One bet for all samples, the best, gives sqrt(2 log 40) / 1.96 = 1.39; on average over 20 means."""
    for power in (1.0, 8.0):
        x = uniforms(0, "factor", int(power), (size, 20)) ** power
        _, half_width = tally_of(x).interval()
        assert np.mean(half_width / (1.96 * x.std(axis=0) / math.sqrt(size))) <= factor


def test_memory_does_not_grow_with_the_number_of_samples() -> None:
    tally = Tally(np.zeros(1), np.ones(1))
    for chunk in range(64):
        tally.add(uniforms(0, "memory", chunk, (1024, 1)))
    assert len(tally.stages) <= 16 + 1 + math.log(64 * 1024 / 256) / math.log(17 / 16) + 1
    mean, half_width = tally.interval()
    assert abs(mean[0] - 0.5) <= half_width[0] < 2 * 1.96 * math.sqrt(1 / 12 / tally.count)


@pytest.mark.parametrize("law", [Affine(), ReLU()])
def test_the_width_is_the_normal_one_plus_a_term_for_the_range(law: Law) -> None:
    """d = 5, n = 100, w = 10, 20000 contexts: a bias sample is a hundredth of its bound there."""
    problem, w, contexts = Problem(d=5, n=100, law=law), np.array([10.0]), 20_000
    drawn = sampler(problem, w, stream="width")
    samples = np.concatenate([drawn.chunk(k) for k in range(-(-contexts // drawn.size))])[:contexts]
    low, high = drawn.bounds()
    tally = Tally(low, high)
    tally.add(samples)
    _, half_width = tally.interval()
    normal = 1.96 * samples.std(axis=0) / math.sqrt(contexts)
    forced = math.log(40) / (LARGEST_LOSS * contexts) * (high - low)  # one sample in N may be as large as the bound
    factor = 1.7
    assert np.all(half_width <= factor * normal + forced)
    assert half_width[0] <= factor * normal[0]


def test_constant_samples_do_not_give_an_exact_mean() -> None:
    """None of 1000 draws shows an event of probability 1/2000: the probability of that is 60 %."""
    mean, half_width = tally_of(np.ones((1000, 1))).interval()
    assert mean[0] == 1.0
    assert half_width[0] > 1 / 2000


def test_a_sample_beyond_its_bound_is_refused() -> None:
    """A law that understates the range of its links must not be clipped silently."""
    with pytest.raises(InvalidInput, match="extents"):
        tally_of(np.array([[0.5], [1.1]]))


def normal_tally(samples: Floats, low: float = -math.inf, high: float = math.inf) -> NormalTally:
    columns = samples.shape[1]
    tally = NormalTally(np.full(columns, low), np.full(columns, high))
    for piece in np.array_split(samples, 7):
        tally.add(piece)
    return tally


def test_normal_intervals_are_1_96_standard_errors_and_miss_one_time_in_twenty() -> None:
    """Uniform samples, 2000 means: misses are binomial with p = 0.05 to within 0.001, and four standard deviations."""
    x = uniforms(0, "normal", 0, (400, REPETITIONS))
    mean, half_width = normal_tally(x).interval()
    np.testing.assert_allclose(mean, x.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(half_width, 1.96 * x.std(axis=0, ddof=1) / 20, rtol=1e-4)
    misses = int(np.sum(np.abs(mean - 0.5) > half_width))
    assert abs(misses - 0.05 * REPETITIONS) < 4 * math.sqrt(0.05 * 0.95 * REPETITIONS)


@pytest.mark.parametrize(
    ("name", "samples", "said"),
    [
        ("few", uniforms(0, "few", 0, (FEWEST - 1, 1)), "too few"),
        ("constant", np.ones((1000, 1)), "did not vary"),
        ("one large sample", np.eye(1, 1000).T, "carry most"),
        ("none", np.empty((0, 1)), "too few"),
    ],
)
def test_samples_that_contradict_the_normal_law_are_refused(name: str, samples: Floats, said: str) -> None:
    """The samples of a rare event miss its mean much more often than one time in twenty: they must be refused."""
    with pytest.raises(OutOfReach, match=f"{said}.*'betting' where something bounds the samples"):
        normal_tally(samples).interval()


def test_constant_samples_have_width_zero_and_nan_is_refused() -> None:
    _, half_width = normal_tally(np.full((200, 1), 0.5), 0.5, 0.5).interval()
    assert 0 < half_width[0] < 1e-13
    with pytest.raises(InvalidInput, match="finite"):
        normal_tally(np.array([[math.nan], [1.0]]))


@pytest.mark.parametrize("kind", [Tally, NormalTally])
@pytest.mark.parametrize("columns", [1, 3])
def test_where_one_call_ends_changes_no_bit(kind: type[Tally], columns: int) -> None:
    samples = uniforms(0, "calls", 0, (5003, columns))
    answers = set()
    for size in (1, 7, 256, 1000, 5003):
        tally = kind(np.zeros(columns), np.ones(columns))
        tally.add(samples[:0])
        for first in range(0, len(samples), size):
            tally.add(samples[first : first + size])
        assert tally.count == len(samples)
        answers.add(b"".join(part.tobytes() for part in tally.interval()))
    assert len(answers) == 1
