"""Training: samples without bias, starts, known optima, the same bits again, records that survive JSON."""

from __future__ import annotations

import math

import array_api_strict as strict
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.claims.linear_transformers.training import grown, trained
from lipverify.claims.registry import profile_named
from lipverify.errors import InvalidInput
from lipverify.linear_transformer.families import Diag, Full, Omega, family_named
from lipverify.linear_transformer.gdplusplus.optimum import optimal_gdplusplus
from lipverify.linear_transformer.regression.contexts import Regression, draw_contexts
from lipverify.linear_transformer.regression.noise import CategoricalNoise, UniformNoise
from lipverify.linear_transformer.training.adam import AdamState, Schedule, adam
from lipverify.linear_transformer.training.growth import Start, inserted, of_gdplusplus, random_starts, widened
from lipverify.linear_transformer.training.objective import Objective, draw_sample
from lipverify.linear_transformer.training.record import Trained, estimate
from lipverify.linear_transformer.training.stages import Plan, Stage, fit

EPS = float(np.finfo(float).eps)
SMALL = Regression(3, 8, UniformNoise(2.0))
PLAN = Plan((Stage(1024, 60, 1, 1.0), Stage(4096, 60, 0, 1e5)), draws=1, random=2, chosen_on=2048, reported_on=4096)
ERRORS = 5.0
"""Standard errors that a sampled mean may be off; a false alarm in two million."""


def _trained(family: Omega | Full, starts: list[Start], seed: int = 0) -> Trained:
    return fit(family, starts, PLAN, seed, "test/training", "array")


def test_a_sample_with_all_of_the_worst_has_no_bias() -> None:
    """The average of the squared label moments, which the worst contexts rule, against its exact value.

    E lambda = n (d + E sigma^2) and E lambda^2 = n (n + 2) (E (|w|^2 + sigma^2)^2), at sigma = 0: n (n + 2) d (d + 2).
    """
    regression = Regression(3, 8, UniformNoise(0.0))
    sample = draw_sample(regression, 32_768, 0, "test/bias")
    energy = sample.gram[:, -1, -1]
    for values, exact in ((energy, 8 * 3), (energy**2, 8 * 10 * 3 * 5)):
        plain = draw_contexts(regression, 32_768, 0, "test/plain").energy ** (1 if exact == 24 else 2)
        error = float(plain.std()) / math.sqrt(len(plain))
        assert error < exact / 20
        assert abs(float(values @ sample.share) - exact) <= ERRORS * error
    assert abs(float(sample.share.sum()) - 1) <= 1e3 * EPS


@pytest.mark.parametrize("count", [0, 8, 1000, -1024])
def test_samples_are_whole_groups(count: int) -> None:
    with pytest.raises(InvalidInput, match="multiples of 1024"):
        draw_sample(SMALL, count, 0, "test")


def test_one_layer_reaches_the_exact_optimum_of_gdplusplus() -> None:
    """With one layer the other weights do nothing to w: DIAG is GD++, whose optimum is known exactly."""
    family = Diag(SMALL)
    found = _trained(family, random_starts(family, 1, 2, 0, "test"))
    exact = optimal_gdplusplus(SMALL, 1)[0]
    sample_error = found.loss.standard_error
    assert sample_error < exact.loss.value / 10
    assert abs(found.loss.value - exact.loss.value) <= ERRORS * sample_error
    assert abs(family.four(found.array)[0, 2] / exact.layers[0][1] - 1) < 0.05


def test_never_worse_than_its_starts() -> None:
    """GD++ and its loss, then DIAG from it, OMEGA from DIAG, FULL from DIAG, on the sample of the last stage."""
    optimum = optimal_gdplusplus(SMALL, 2)[-1]
    diag, omega, full = Diag(SMALL), Omega(SMALL), Full(SMALL)
    start = of_gdplusplus(diag, optimum.layers)
    first = _trained(diag, [Start("GD++", start)])
    values = [math.exp(Objective(diag, draw_sample(SMALL, 4096, 0, "test/training/train/1"), 1e5)(start)[0])]
    values.append(first.training)
    for family in (omega, full):
        values.append(_trained(family, widened(family, "DIAG", first.array, 0, "test")).training)
    gdpp, one, *wider = values
    assert one < 0.999 * gdpp
    assert all(value < one * (1 + 1e-6) for value in wider)
    assert wider[0] < 0.999 * one


def test_the_same_bits_again() -> None:
    family = Full(SMALL)
    short = Plan((Stage(1024, 15, 0, 1.0),), draws=1, random=2, chosen_on=1024, reported_on=1024)
    first, again, other = (
        fit(family, random_starts(family, 2, 2, seed, "test"), short, 0, "test/bits") for seed in (0, 0, 1)
    )
    assert first == again
    assert other.weights != first.weights


def test_records_survive_json_and_are_estimators() -> None:
    family = Omega(Regression(3, 8, CategoricalNoise((1.0, 3.0))))
    short = Plan((Stage(1024, 15, 0, 1.0),), draws=1, random=1, chosen_on=1024, reported_on=1024)
    found = fit(family, random_starts(family, 1, 1, 0, "test"), short, 0, "test/json", "array")
    again = msgspec.json.decode(msgspec.json.encode(found), type=Trained)
    assert again == found
    contexts = draw_contexts(family.regression, 16, 0, "test/json")
    assert np.array_equal(again(contexts), estimate(found.model, contexts))


@settings(max_examples=20)
@given(st.sampled_from(["DIAG", "OMEGA", "FULL"]), st.integers(0, 3))
def test_a_layer_put_in_is_at_each_place(name: str, layers: int) -> None:
    family = family_named(name, SMALL)
    shorter = np.arange(layers * math.prod(family.shape), dtype=float).reshape(layers, *family.shape) + 100
    starts = inserted(family, shorter, 2, 0, "test")
    assert len(starts) == 2 * (layers + 1)
    for number, start in enumerate(starts):
        assert np.array_equal(np.delete(start.weights, number // 2, axis=0), shorter)
        assert np.abs(start.weights[number // 2]).max() < 10


@settings(max_examples=20)
@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_a_diagonal_model_written_out_is_the_same(layers: int, seed: int) -> None:
    diag, weights = Diag(SMALL), 0.3 * np.random.default_rng(seed).normal(size=(layers, 4))
    contexts = draw_contexts(SMALL, 8, 0, "test/written")
    first = estimate(diag.model(weights), contexts)
    for family in (Omega(SMALL), Full(SMALL)):
        other = estimate(family.model(family.of_diag(weights)), contexts)
        scale = np.abs(first).max() + 1
        assert np.abs(other - first).max() <= 1e3 * EPS * 9**layers * scale


def test_four_numbers_of_rank_one_are_one_head() -> None:
    diag = Diag(SMALL)
    weights = np.random.default_rng(0).normal(size=(3, 4))
    four = diag.four(weights)
    back = diag.of_four(four)
    assert np.abs(diag.four(back) - four).max() <= 100 * EPS * np.abs(four).max()
    assert np.abs(np.linalg.norm(back[:, :2], axis=1) - np.linalg.norm(back[:, 2:], axis=1)).max() <= 100 * EPS * 3


def test_adam_taken_up_again_makes_the_same_steps_and_descends() -> None:
    family, schedule = Diag(SMALL), Schedule(peak=0.05, warmup=5, steps=60)
    begin = AdamState.begin(random_starts(family, 1, 1, 0, "test")[0].weights)
    options = {"batch": 64, "cap": 10.0, "seed": 0, "cell": "test/adam"}
    kept: list[AdamState] = []
    straight = adam(family, begin, schedule, keep=kept.append, every=25, **options)  # type: ignore[arg-type]
    assert [state.step for state in kept] == [25, 50, 60]
    half = adam(family, begin, schedule, steps=30, **options)  # type: ignore[arg-type]
    again = msgspec.json.decode(msgspec.json.encode(half), type=AdamState)
    assert adam(family, again, schedule, **options) == straight  # type: ignore[arg-type]
    objective = Objective(family, draw_sample(SMALL, 2048, 0, "test/adam/held"), 10.0)
    losses = [objective.average(np.asarray(state.weights).reshape(1, 4)) for state in (begin, straight)]
    best = optimal_gdplusplus(SMALL, 1)[0].loss.value
    assert losses[1] - best < 0.2 * (losses[0] - best)


def test_adam_on_another_library_and_device() -> None:
    family, schedule = Full(SMALL), Schedule(peak=0.01, warmup=0, steps=3)
    begin = AdamState.begin(random_starts(family, 2, 1, 0, "test")[0].weights)
    options = {"batch": 32, "cap": 10.0, "seed": 0, "cell": "test/adam"}
    here = adam(family, begin, schedule, **options)  # type: ignore[arg-type]
    there = adam(family, begin, schedule, xp=strict, device=strict.Device("device1"), **options)  # type: ignore[arg-type]
    assert np.abs(np.asarray(here.weights) - np.asarray(there.weights)).max() <= 1e6 * EPS


@pytest.mark.parametrize(("peak", "warmup", "steps"), [(0.0, 0, 5), (math.nan, 0, 5), (0.1, 5, 5), (0.1, -1, 5)])
def test_a_schedule_that_is_none(peak: float, warmup: int, steps: int) -> None:
    with pytest.raises(InvalidInput):
        Schedule(peak, warmup, steps)


def test_training_needs_a_start() -> None:
    with pytest.raises(InvalidInput, match="at least one"):
        fit(Diag(SMALL), [], PLAN, 0, "test")


def test_tasks_grow_from_shorter_and_narrower_ones() -> None:
    task = trained(profile_named("quick"), UniformNoise(3.0), "FULL", 3)
    names = [(need.arguments[0], need.arguments[2]) for need in task.needs]
    assert names == [("FULL", 2), ("DIAG", 3)]
    assert task.function is grown
    assert len({each.address for each in task.with_needs()}) == 6
