"""Training: samples without bias, starts, known optima, the same bits again, records that survive JSON."""

from __future__ import annotations

import itertools
import math

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from lipverify.foundation import Floats
from lipverify.linear_transformer import (
    CategoricalNoise,
    GDPlusPlus,
    UniformNoise,
    draw_contexts,
    estimate,
    evaluation,
    grown_gdplusplus,
)
from lipverify.linear_transformer.families import Diag, Full, Omega, SafeFull, family_named
from lipverify.linear_transformer.regression import Contexts

# internal: the rarest decade, where a trained model may fail
from lipverify.linear_transformer.regression.rare import FALL, FIRST, decades, with_rare  # internal: decades alone

# internal: thinned samples alone, whose errors are tested
from lipverify.linear_transformer.regression.thinned import (  # internal: errors of thinned samples
    sizes,
    thinned,
    thinned_mean,
)
from lipverify.linear_transformer.training import Objective, Plan, Stage, Trained, draw_sample

# internal: each way to start a model from a smaller one
from lipverify.linear_transformer.training.lineage import inserted, of_gdplusplus, random_starts, widened
from lipverify.linear_transformer.training.stages import Start, descend, fit  # internal: one descent alone
from lipverify.linear_transformer.training.tables import Filter  # internal: GD++ as a filter, compared with its layers
from lipverify.prompts import Prompts

EPS = float(np.finfo(float).eps)
SMALL = Prompts(d=3, n=8, sigma=UniformNoise(2.0))
PLAN = Plan((Stage(1024, 60, 1, 1.0), Stage(4096, 60, 0, 1e5)), draws=1, random=2, chosen_on=2048, reported_on=4096)
ERRORS = 5.0
"""The tolerance of a sampled mean in standard errors; a false alarm in two million."""


def _trained(family: Omega | Full, starts: list[Start], seed: int = 0) -> Trained:
    return fit(family, starts, PLAN, seed, "test/training", "array")


def test_a_sample_that_contains_all_rare_contexts_has_no_bias() -> None:
    """E lambda^2 = n (n + 2) (E (|w|^2 + sigma^2)^2), which is n (n + 2) d (d + 2) at sigma = 0."""
    regression = Prompts(d=3, n=8, sigma=UniformNoise(0.0))
    sample = draw_sample(regression, 32_768, 0, "test/bias")
    energy = sample.gram[:, -1, -1]
    for values, exact in ((energy, 8 * 3), (energy**2, 8 * 10 * 3 * 5)):
        plain = draw_contexts(regression, 32_768, 0, "test/plain").energy ** (1 if exact == 24 else 2)
        error = float(plain.std()) / math.sqrt(len(plain))
        assert error < exact / 20
        assert abs(float(values @ sample.share) - exact) <= ERRORS * error
    assert abs(float(sample.share.sum()) - 1) <= 1e3 * EPS


def test_one_layer_reaches_the_exact_optimum_of_gdplusplus() -> None:
    """With one layer the other weights have no effect on w: DIAG is GD++, whose optimum is known exactly."""
    family = Diag(SMALL)
    found = _trained(family, random_starts(family, 1, 2, 0, "test"))
    exact = grown_gdplusplus(SMALL, 1)[0]
    sample_error = found.loss.standard_error
    assert sample_error < exact.loss.value / 10
    assert abs(found.loss.value - exact.loss.value) <= ERRORS * sample_error
    assert abs(family.numbers(found.array)[0, 2] / exact.layers[0][1] - 1) < 0.05


def test_never_worse_than_its_starts() -> None:
    """GD++ and its loss, then DIAG from it, OMEGA from DIAG, FULL from DIAG, on the sample of the last stage."""
    optimum = grown_gdplusplus(SMALL, 2)[-1]
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


@pytest.mark.slow
def test_weights_that_explode_are_led_back() -> None:
    """A cap has no slope where the start loses more than 10^100; a logarithm leads from there to a nearly safe model.

    That is: it loses less than the prediction 0 on most contexts as rare as one in 10^6 that it was not trained on. By
    rounding alone their mean is 1.3 or 10^27, and is not tested; the share is .88 or more, and .40 after the cap.
    """
    free, led = Full(SMALL), SafeFull(SMALL)
    start = 3 * free.at_random(np.random.default_rng(0).standard_normal((5, *free.shape)))
    *_, rarest = decades(SMALL, 7, 0, "test/led/fresh", population=1000)
    fresh = evaluation(rarest.contexts)

    def lost(weights: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            return fresh.losses(lambda contexts: estimate(free.model(weights), contexts))

    sample, nothing = draw_sample(SMALL, 1024, 0, "test/led", led.rare), float((fresh.oracle**2).sum(axis=1).mean()) / 2
    assert not float(lost(start).max()) < 1e100
    capped = descend(Objective(free, sample, 50.0), start, 60)
    assert not float(lost(capped.weights).mean()) < 1e10 * nothing
    assert float((lost(capped.weights) < nothing).mean()) < 0.6
    plan = Plan(
        (Stage(1024, 60, 0, 10.0), Stage(1024, 30, 0, 1e3)), draws=0, random=0, chosen_on=1024, reported_on=1024
    )
    found = fit(led, [Start("FULL", start)], plan, 0, "test/led")
    assert (found.family, found.origin) == ("SAFEFULL", "FULL")
    assert float((lost(found.array) < nothing).mean()) > 0.7


def test_records_survive_json_and_are_estimators() -> None:
    family = Omega(Prompts(d=3, n=8, sigma=CategoricalNoise((1.0, 3.0))))
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
    four = diag.numbers(weights)
    back = diag.of_four(four)
    assert np.abs(diag.numbers(back) - four).max() <= 100 * EPS * np.abs(four).max()
    assert np.abs(np.linalg.norm(back[:, :2], axis=1) - np.linalg.norm(back[:, 2:], axis=1)).max() <= 100 * EPS * 3


def test_thinned_means_are_those_of_the_pool_and_their_errors_are_right() -> None:
    """E lambda^2, which the worst contexts dominate, from 60 thinned samples: their spread is the stated error."""
    regression = Prompts(d=3, n=8, sigma=UniformNoise(0.0))
    found = []
    for k in range(60):
        few, share = thinned(regression, 1024, 0, f"test/thinned/{k}")
        found.append(thinned_mean(few.energy**2, share))
    values = np.asarray([each.value for each in found])
    stated = float(np.mean([each.standard_error for each in found]))
    assert stated < 8 * 10 * 3 * 5 / 10
    assert abs(values.mean() - 8 * 10 * 3 * 5) <= ERRORS * stated / math.sqrt(60)
    # the spread of 60 normal values is within 4 standard errors, 9 % each, of theirs; doubts are of such a kind
    assert 0.64 < values.std(ddof=1) / stated < 1.36
    assert np.mean([each.trusted for each in found]) > 0.5


@pytest.mark.parametrize("power", [0, 60, 77, 100, 150, 155, 200, 300])
def test_losses_that_explode_have_means_and_errors_in_their_own_unit(power: int) -> None:
    """More contexts include rarer ones: the square of a variance of 1e155 overflows, and once raised OverflowError."""
    few, share = thinned(Prompts(d=3, n=20, sigma=UniformNoise(1.0)), 2048, seed=0, stream="explode")
    values, unit = np.random.default_rng(0).random(2048), 10.0**power
    plain, scaled = thinned_mean(values, share), thinned_mean(values * unit, share)
    assert scaled.value / unit == pytest.approx(plain.value, rel=1e-9)
    assert scaled.standard_error / unit == pytest.approx(plain.standard_error, rel=1e-9)
    assert scaled.doubt == pytest.approx(plain.doubt, rel=1e-9)
    values[-1] = unit
    lonely = thinned_mean(values, share)
    assert lonely.trusted == (power == 0)
    assert lonely.standard_error < math.inf
    held_out = evaluation(few, share)
    w = held_out.oracle + np.random.default_rng(1).standard_normal(held_out.oracle.shape)
    w[-1] *= 10.0 ** (power / 2)
    for paired, printed in itertools.product((True, False), (None, 0.1)):
        error = held_out.printed_error(lambda contexts: w, printed, paired)
        assert error.value > 0, "nothing that explodes makes a printed number exact"
        assert not math.isnan(error.standard_error)
        assert error.trusted == (power == 0)


@pytest.mark.parametrize("count", [10**3, 10**6, 10**9, 10**12])
def test_a_few_contexts_may_represent_any_number(count: int) -> None:
    """The shares of a pool of that size: errors fall with it, and nothing overflows or divides by 0."""
    worst, rest = 400, 600
    each = (count - worst) / rest
    share = np.concatenate([np.ones(worst), np.full(rest, each)]) / count
    values = np.concatenate([np.full(worst, 1e90), np.random.default_rng(0).random(rest)])
    found = thinned_mean(values, share)
    assert found.value == pytest.approx(1e90 * worst / count, rel=1e-9)
    assert 0 < found.standard_error < 1e90
    assert found.doubt >= 0
    plain = thinned_mean(np.random.default_rng(0).random(worst + rest), share)
    assert plain.standard_error == pytest.approx(math.sqrt(1 / 12 / rest), rel=0.1) or count == 10**3


def test_means_that_are_beyond_doubles_are_not_believed() -> None:
    share = np.full(1000, 1e-3)
    for bad in (math.inf, math.nan):
        values = np.ones(1000)
        values[0] = bad
        found = thinned_mean(values, share)
        assert found.standard_error == math.inf
        assert not found.trusted


def test_a_filter_equals_the_action_of_gdplusplus_layers() -> None:
    """Also with fewer tokens than dimensions; without its first layer it is another model."""
    layers = (GDPlusPlus(-0.02, -0.03), GDPlusPlus(0.01, -0.04), GDPlusPlus(-0.01, -0.05))
    for d, n in ((4, 9), (4, 2)):
        contexts = draw_contexts(Prompts(d=d, n=n, sigma=UniformNoise(2.0)), 64, 0, "test/filter")
        read = estimate(layers, contexts)
        assert np.abs(Filter(layers)(contexts) - read).max() < 1e-12 * np.abs(read).max()
        assert np.abs(Filter(layers[1:])(contexts) - read).max() > 1e-3 * np.abs(read).max()


# Multilevel splitting: its probabilities compared with known tails and plain samples, and the models trained on it.


FEW = 2048


def _trace(contexts: Contexts) -> Floats:
    return np.trace(contexts.covariance, axis1=1, axis2=2)


def _task(contexts: Contexts) -> Floats:
    return (contexts.task**2).sum(axis=1)


@pytest.mark.parametrize(("size", "freedom"), [(_trace, 3 * 8), (_task, 3)])
def test_levels_have_the_probabilities_of_a_known_law(size: object, freedom: int) -> None:
    """Squared lengths of Gaussian vectors are chi-squared: ten decades, within four stated errors."""
    found = decades(Prompts(d=3, n=8, sigma=UniformNoise(1.0)), 11, 0, "known", size, population=FEW)  # type: ignore[arg-type]
    for each in list(found)[1:]:
        off = math.log(chi2.sf(each.level, freedom) * 10**each.number)
        assert abs(off) < 4 * 3 * math.sqrt(each.number / FEW)


@pytest.mark.parametrize(
    "noise",
    [*(pytest.param(UniformNoise(size), marks=pytest.mark.slow) for size in (0.0, 3.0)), CategoricalNoise((1.0, 3.0))],
)
def test_decades_are_those_of_a_plain_sample(noise: UniformNoise | CategoricalNoise) -> None:
    """Level, sigma and the largest eigenvalue beyond it, where 200,000 contexts still contain some: decades 1 to 3."""
    regression = Prompts(d=4, n=10, sigma=noise)
    plain = draw_contexts(regression, 200_000, 0, "plain")
    size, largest = sizes(plain, regression), np.linalg.eigvalsh(plain.covariance)[:, -1]
    for each in list(decades(regression, 4, 0, "rare", population=FEW))[1:]:
        beyond = size > each.level
        assert np.mean(beyond) * 10**each.number == pytest.approx(1, abs=12 * math.sqrt(each.number / FEW))
        eigenvalue = np.linalg.eigvalsh(each.contexts.covariance)[:, -1]
        for ours, theirs in ((each.contexts.sigma, plain.sigma[beyond]), (eigenvalue, largest[beyond])):
            error = math.sqrt(10 * ours.var() / len(ours) + theirs.var() / len(theirs))
            assert abs(ours.mean() - theirs.mean()) <= 4 * error


def test_contexts_of_a_decade_are_beyond_its_level_and_reproducible() -> None:
    regression = Prompts(d=2, n=4, sigma=UniformNoise(1.0))
    one, again, other = (list(decades(regression, 4, seed, "a", population=200)) for seed in (0, 0, 1))
    assert all(np.all(each.size > each.level) for each in one[1:])
    assert all(np.array_equal(a.contexts.gram, b.contexts.gram) for a, b in zip(one, again, strict=True))
    assert one[1].level != other[1].level


def test_the_share_of_each_decade_in_training() -> None:
    """Each decade has a share `FALL` times smaller than the one before; the plain contexts have the rest."""
    few = with_rare(Prompts(d=3, n=20, sigma=UniformNoise(1.0)), 1024, rare=6, seed=0, stream="a")
    of_decade = few.share[-4 * 64 :].reshape(4, 64).sum(axis=1)
    expected = [1 - 1 / FALL, (1 - 1 / FALL) / FALL, (1 - 1 / FALL) / FALL**2, 1 / FALL**3]
    assert of_decade == pytest.approx(10.0**-FIRST * np.asarray(expected))
    assert few.share[: -4 * 64].sum() == pytest.approx(1 - 10.0**-FIRST)
    assert len(few.share) == len(few.contexts)
