"""The default interval: normal, as wide as what the samples may have missed, and betting where they contradict it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from lipverify import Problem, loss_terms
from lipverify.foundation import Floats, uniforms
from lipverify.foundation.means.betting import Tails, Tally  # internal: the interval on samples of the test's own
from lipverify.foundation.means.checked import CheckedTally  # internal: samples of the test's own
from lipverify.foundation.means.samples import FEWEST  # internal: one sample fewer is refused
from lipverify.laws import Quadratic, ReLU

SEEDS = 2000
SIZE = 200
"""Samples of a mean: few, so that an event with probability 1/SIZE matters."""


def covered(samples: Floats, truth: float, high: float, kind: type[Tally] = CheckedTally) -> float:
    """The share of the columns of samples in [0, high] whose interval holds the truth."""
    tally = kind(np.zeros(samples.shape[1]), np.full(samples.shape[1], high))
    tally.add(samples)
    mean, half_width = tally.interval()
    return float(np.mean(np.abs(mean - truth) <= half_width))


def mixed(rate: float, size: float) -> tuple[Floats, float, float]:
    """Uniform samples, of which `rate` in SIZE, on average, have an event that is `size` sqrt(SIZE) standard deviations
    away; their mean, and their bound.
    """
    u, v = (uniforms(0, f"rare/{rate}/{size}/{k}", 0, (SIZE, SEEDS)) for k in range(2))
    event = size * math.sqrt(SIZE / 12)
    return u + event * (v < rate / SIZE), 0.5 + event * rate / SIZE, 1 + event


@pytest.mark.parametrize("size", [0.3, 0.6, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("rate", [0.5, 1.0, 2.0, 3.0, 6.0])
def test_it_covers_rare_events_of_every_size(rate: float, size: float) -> None:
    """A true 5 % of misses exceeds this by chance once in 10^4."""
    assert covered(*mixed(rate, size)) >= 0.95 - 3.7 * math.sqrt(0.05 * 0.95 / SEEDS)


def test_without_the_bound_of_the_samples_rare_events_would_be_missed() -> None:
    """The control: told that samples are within the bulk, plus the events that it drew, it covers far too seldom."""
    samples, truth, _ = mixed(2.0, 3.0)
    few = samples[:, samples.max(axis=0) <= 1]  # nothing rare was drawn
    assert few.shape[1] > 0.05 * SEEDS
    assert covered(few, truth, 1.0) == 0.0
    assert covered(few, truth, mixed(2.0, 3.0)[2]) == 1.0


SKEWED: dict[str, tuple[int, float, Callable[[Floats], Floats]]] = {
    "u^8": (3, 1 / 9, lambda u: u**8),
    "1 - u^8": (3, 8 / 9, lambda u: 1 - u**8),
    "exponential": (30, 1 / 40, lambda u: np.minimum(1.0, -np.log1p(-u) / 40)),
    "two values": (3, 0.1, lambda u: np.where(u < 0.1, 1.0, 0.0)),
}


@pytest.mark.parametrize("size", [100, 400])
@pytest.mark.parametrize("case", SKEWED)
def test_it_covers_skewed_samples(case: str, size: int) -> None:
    divisor, truth, transform = SKEWED[case]
    x = transform(uniforms(0, f"skewed/{case}/{size}", 0, (size, SEEDS)))
    assert covered(x, truth, 1.0) >= 0.95 - 3.7 * math.sqrt(0.05 * 0.95 / SEEDS)
    # power: a part of the interval misses too often
    tally = CheckedTally(np.zeros(SEEDS), np.ones(SEEDS))
    tally.add(x)
    mean, half_width = tally.interval()
    assert np.mean(np.abs(mean - truth) <= half_width / divisor) < 0.9


@pytest.mark.parametrize(
    ("name", "samples"),
    [
        ("few", uniforms(0, "few", 0, (FEWEST - 1, 2))),
        ("constant", np.full((1000, 2), 0.5)),
        ("one large sample", np.eye(2, 1000).T),
    ],
)
def test_where_the_samples_contradict_it_the_interval_is_the_betting_one(name: str, samples: Floats) -> None:
    checked, bets = (kind(np.zeros(2), np.ones(2)) for kind in (CheckedTally, Tally))
    for tally in (checked, bets):
        tally.add(samples)
    for one, other in zip(checked.interval(), bets.interval(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert "Betting for the noise and 1 more" in checked.says(checked.interval()[1], ["noise", "bias"])
    assert "etting for" not in bets.says(bets.interval()[1], ["noise", "bias"])


def test_each_value_has_the_interval_that_its_samples_allow() -> None:
    samples = np.concatenate([uniforms(0, "values", 0, (1000, 1)), np.full((1000, 1), 0.5)], axis=1)
    checked, bets = (kind(np.zeros(2), np.ones(2)) for kind in (CheckedTally, Tally))
    for tally in (checked, bets):
        tally.add(samples)
    (_, half_width), (_, wide) = checked.interval(), bets.interval()
    normal = 1.96 * samples[:, 0].std(ddof=1) / math.sqrt(1000)
    assert normal < half_width[0] < 1.01 * normal
    assert half_width[1] == wide[1]
    assert checked.says(half_width, ["noise", "bias"]).endswith(
        "Betting for the bias: the samples contradict a normal interval."
    )


def test_the_tails_decide_the_width_where_the_range_would_make_it_wide() -> None:
    """Samples within 1 of a range of 1000, which an event of probability e^-8 or more does not leave."""

    def tails(chance: float) -> Tails:
        def of(log_chance: float) -> tuple[Floats, Floats]:
            return np.zeros(1), np.full(1, 1.0 if log_chance <= chance else 1000.0)

        return of

    x, widths = uniforms(0, "tails", 0, (1000, 1)), {}
    for chance in (0.0, 8.0):
        tally = CheckedTally(np.zeros(1), np.full(1, 1000.0), tails=tails(chance))
        tally.add(x)
        widths[chance] = float(tally.interval()[1][0])
    assert widths[0.0] == pytest.approx(math.log(20) / 1000 * (1000 - float(x.mean())), rel=1e-6)
    assert widths[8.0] < 1.01 * 1.96 * float(x.std(ddof=1)) / math.sqrt(1000)


@pytest.mark.parametrize(("d", "n", "w"), [(3, 100, 5.0), (5, 1000, 10.0)])
def test_the_default_is_nearly_as_narrow_as_a_normal_interval(d: int, n: int, w: float) -> None:
    """The betting interval was 4 to 24 times wider with 20,000 contexts."""
    problem = Problem(d=d, n=n, law=ReLU())
    checked, normal = (
        loss_terms(problem, w, "montecarlo", contexts=20_000, interval=kind) for kind in ("checked", "normal")
    )
    exact = loss_terms(problem, w)
    assert checked.reason == "Intervals: normal, checked against rare samples."
    assert normal.noise_error <= checked.noise_error <= 1.02 * normal.noise_error
    assert normal.bias_error <= checked.bias_error <= 1.15 * normal.bias_error
    assert abs(checked.noise - exact.noise) <= 2 * checked.noise_error
    assert abs(checked.bias - exact.bias) <= 2 * checked.bias_error


def test_a_pilot_foresees_what_rare_samples_need() -> None:
    """The skewed bias of few tokens: the accuracy is reached, and the value is right."""
    problem = Problem(d=10, n=5, law=Quadratic())
    found, exact = loss_terms(problem, 20.0, "montecarlo", rtol=0.05), loss_terms(problem, 20.0)
    assert found.bias_error <= 0.05 * found.bias
    assert abs(found.bias - exact.bias) <= found.bias_error
