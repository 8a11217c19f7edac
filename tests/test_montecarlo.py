"""Sampling: closed forms, addresses, other array libraries, and agreement with the exact method."""

from __future__ import annotations

import math
from hashlib import blake2b

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st

from lipverify import Problem, loss_terms
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.laws import Affine, Law, ReLU
from lipverify.loss.interval import ROUNDING, betting_interval
from lipverify.loss.montecarlo.terms import CHUNK_COORDINATES, MOST_SAMPLES, context_samples, sample_bounds
from lipverify.loss.streams import normals, uniforms
from lipverify.optimum.empirical import empirical_window
from tests.strategies import few_tokens_a_window, laws, log_floats

EXAMPLES = 12


@settings(max_examples=EXAMPLES)
@given(d=st.integers(2, 8), n=st.integers(2, 60), law=laws(), w=log_floats(0.05, 10.0))
def test_sampled_and_exact_terms_agree(d: int, n: int, law: Law, w: float) -> None:
    """The seed comes from the parameters; at twice the 95 % half-width, near four standard errors, the chance
    of a false alarm in all examples together is below 2 * 12 * 1e-4."""
    problem = Problem(d=d, n=n, law=law)
    seed = int.from_bytes(blake2b(f"{d}/{n}/{law}/{w}".encode(), digest_size=4).digest(), "little")
    sampled = loss_terms(problem, w, "montecarlo", contexts=4000, seed=seed)
    exact = loss_terms(problem, w if not few_tokens_a_window(d, n, w) else np.asarray(w))
    for term in ("noise", "bias"):
        value, half_width = float(getattr(sampled, term)), float(getattr(sampled, f"{term}_error"))
        truth = float(getattr(exact, term))
        assert half_width < 0.6 * value, "too blunt to see anything"
        assert abs(value - truth) <= 2 * half_width


@pytest.mark.parametrize("law", [Affine(), ReLU()])
def test_uniform_weights_have_closed_forms(law: Law) -> None:
    d, n = 4, 10
    terms = loss_terms(Problem(d=d, n=n, law=law, sigma=2.0), 0.0, "montecarlo", contexts=20_000)
    variance = {"affine": 1 / 4, "relu": 0.5 * (2 / 4 - (4 / (3 * math.pi)) ** 2)}[law.name]
    assert float(terms.noise) == pytest.approx(4.0 / n, rel=1e-13)
    assert abs(float(terms.bias) - (1 + 1 / n) * variance / 3) <= float(terms.bias_error)


def test_a_huge_window_is_the_nearest_neighbour() -> None:
    problem = Problem(d=3, n=30, law=Affine())
    near, far = (loss_terms(problem, w, "montecarlo", contexts=500) for w in (1e7, 1e9))
    assert float(far.noise) == pytest.approx(1.0, abs=1e-3)
    assert float(far.bias) == pytest.approx(float(near.bias), rel=1e-2)


@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_tokens_have_closed_forms(n: int) -> None:
    """One token: noise sigma^2, bias the variance of f(x_1) - f(x). Two at w = 0: halves and (1 + 1/2) L^2 / 3d."""
    d, L, sigma = 3, 2.0, 0.5
    terms = loss_terms(Problem(d=d, n=n, law=Affine(L=L), sigma=sigma), [0.0], "montecarlo", contexts=20_000)
    assert terms.noise[0] == pytest.approx(sigma**2 / n, rel=1e-14)
    assert terms.noise_error[0] < 1e-13 * sigma**2
    truth = L**2 / (3 * d) * (1 + 1 / n)
    assert terms.bias_error[0] < 0.05 * truth
    assert abs(terms.bias[0] - truth) <= terms.bias_error[0]


@given(n=st.integers(1, 40), d=st.integers(2, 6), w=log_floats(1e-9, 1e4), law=laws(), chunk=st.integers(0, 100))
def test_samples_lie_within_their_bounds(n: int, d: int, w: float, law: Law, chunk: int) -> None:
    problem, windows = Problem(d=d, n=n, law=law), np.array([w])
    samples = np.concatenate([np.concatenate(s, axis=1) for s in context_samples(problem, windows, 50, 0, str(chunk))])
    low, high = sample_bounds(problem, windows)
    target(float(np.max(samples[:, 0] / high[0])))
    assert np.all(samples >= low - ROUNDING * high)
    assert np.all(samples <= high + ROUNDING * high)


def test_the_bound_of_the_noise_is_reached_by_half_the_tokens_on_either_side() -> None:
    """Tokens at t = 1 and t = -1 with n / (1 + e^{2w}) of the former: the case of equality."""
    n, w = 4, math.log(3) / 2
    a = np.array([3.0, 1.0, 1.0, 1.0]) / 6
    _, high = sample_bounds(Problem(d=2, n=n, law=Affine()), np.array([w]))
    assert high[0] == pytest.approx(float(np.sum(a * a)), rel=1e-15)


@pytest.mark.parametrize(("n", "w"), [(2, 1e6), (10, 1e7)])
def test_an_event_that_no_context_showed_is_within_the_error(n: int, w: float) -> None:
    """Every draw has a single nearest token, to rounding, but the mean is less than one."""
    problem = Problem(d=3, n=n, law=Affine())
    sampled = loss_terms(problem, w, "montecarlo", contexts=1000)
    assert float(sampled.noise) == 1.0
    exact = loss_terms(problem, w)
    assert float(exact.noise) < 1 - 100 * np.finfo(float).eps
    assert abs(float(sampled.noise) - float(exact.noise)) <= float(sampled.noise_error)


def test_blocks_keep_the_mean_and_cover(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, w = Problem(d=3, n=10, law=ReLU()), np.array([0.5, 4.0])
    plain = loss_terms(problem, w, "montecarlo", contexts=8000)
    monkeypatch.setattr("lipverify.loss.montecarlo.terms.MOST_SAMPLES", 1000)
    blocks = loss_terms(problem, w, "montecarlo", contexts=8000)
    np.testing.assert_allclose(blocks.bias, plain.bias, rtol=1e-13)
    np.testing.assert_allclose(blocks.noise, plain.noise, rtol=1e-13)
    assert np.all(blocks.bias_error >= plain.bias_error)  # the variance must be learned from fewer


def test_accuracy_out_of_reach_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lipverify.loss.montecarlo.terms.MOST_CONTEXTS", 8000)
    with pytest.raises(OutOfReach, match=r"with 8000 contexts the half-width is 0\.\d+ of the value"):
        loss_terms(Problem(d=3, n=10, law=Affine()), 2.0, "montecarlo", rtol=1e-3)


def test_the_default_number_of_contexts_is_bounded() -> None:
    seen: list[int] = []
    loss_terms(Problem(d=2, n=1, law=Affine()), 1.0, "montecarlo", progress=lambda done, wanted: seen.append(wanted))
    assert set(seen) == {MOST_SAMPLES}


def test_a_chunk_is_a_function_of_its_address() -> None:
    assert np.array_equal(uniforms(1, "a", 2, (5,)), uniforms(1, "a", 2, (5,)))
    assert np.array_equal(uniforms(1, "a", 2, (5,))[:3], uniforms(1, "a", 2, (3,)))
    for other in (uniforms(2, "a", 2, (5,)), uniforms(1, "b", 2, (5,)), uniforms(1, "a", 3, (5,))):
        assert not np.any(uniforms(1, "a", 2, (5,)) == other)


def test_normals_are_normal() -> None:
    x = np.sort(normals(0, "normality", 0, (20_000,)))
    from scipy.special import ndtr

    distance = np.max(np.abs(ndtr(x) - (np.arange(x.size) + 0.5) / x.size))
    assert distance < 1.95 / math.sqrt(x.size)  # Kolmogorov: exceeded with probability 1e-3, once and for all


def test_more_contexts_begin_with_the_same_ones() -> None:
    problem = Problem(d=5, n=1000, law=ReLU())
    at_once = CHUNK_COORDINATES // (1002 * 5)
    few = np.concatenate([bias for _, bias in context_samples(problem, np.array([3.0]), at_once + 3, 0, "x")])
    many = np.concatenate([bias for _, bias in context_samples(problem, np.array([3.0]), 2 * at_once, 0, "x")])
    assert np.array_equal(few, many[: len(few)])


def test_every_operation_is_of_the_array_standard_and_stays_on_its_device() -> None:
    problem, w = Problem(d=3, n=20, law=ReLU()), np.array([0.5, 5.0])
    device = array_api_strict.Device("device1")
    plain = loss_terms(problem, w, "montecarlo", contexts=200)
    other = loss_terms(problem, w, "montecarlo", contexts=200, xp=array_api_strict, device=device)
    np.testing.assert_allclose(other.bias, plain.bias, rtol=1e-12)
    np.testing.assert_allclose(other.noise, plain.noise, rtol=1e-12)


def test_accuracy_on_request_is_reached() -> None:
    terms = loss_terms(Problem(d=3, n=10, law=Affine()), 2.0, "montecarlo", rtol=0.05)
    assert float(terms.bias_error) <= 0.05 * float(terms.bias)
    assert float(terms.noise_error) <= 0.05 * float(terms.noise)


@pytest.mark.parametrize(
    "options",
    [
        {"contexts": 1},
        {"contexts": 2.5},
        {"rtol": 0.0},
        {"rtol": 2.0},
        {"contexts": 10, "rtol": 0.1},
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=r"contexts|rtol"):
        loss_terms(Problem(d=3, n=10, law=Affine()), 2.0, "montecarlo", **options)


def test_a_context_that_does_not_fit_is_out_of_reach() -> None:
    with pytest.raises(OutOfReach, match="exact"):
        loss_terms(Problem(d=3, n=1e12, law=Affine()), 2.0, "montecarlo")


def misses(level_of_skew: float, repetitions: int, size: int) -> tuple[float, float]:
    """How often the betting interval and the normal one miss the mean of a skewed variable on [0, 1]."""
    # x = 1 with probability p, else 0: one sample in a hundred carries the mean
    u = uniforms(0, f"coverage/{level_of_skew}", 0, (size, repetitions))
    x = (u < level_of_skew).astype(float)
    low, high = betting_interval(x)
    betting = np.mean((low > level_of_skew) | (high < level_of_skew))
    mean, error = x.mean(axis=0), 1.96 * x.std(axis=0) / math.sqrt(size)
    return float(betting), float(np.mean(np.abs(mean - level_of_skew) > error))


def test_the_betting_interval_covers_where_the_normal_one_does_not() -> None:
    betting, normal = misses(0.01, 2000, 300)
    assert betting <= 0.05
    assert normal > 0.08


def test_the_betting_interval_is_not_idle() -> None:
    u = uniforms(0, "width", 0, (5000, 50))
    low, high = betting_interval(u)
    assert np.mean(high - low) < 2 * 2 * 1.96 * math.sqrt(1 / 12 / 5000)


@pytest.mark.parametrize(("law", "d"), [(Affine(), 3), (ReLU(), 2)])
def test_the_empirical_optimum_covers_the_exact_one(law: Law, d: int) -> None:
    from lipverify import optimal_window

    problem = Problem(d=d, n=30, law=law)
    found, exact = empirical_window(problem, contexts=20_000), optimal_window(problem)
    assert found.w_error < 0.05 * found.w
    assert abs(found.w - exact.w) <= 2 * found.w_error


def test_the_empirical_optimum_needs_contexts_and_a_minimum() -> None:
    with pytest.raises(InvalidInput, match="contexts"):
        empirical_window(Problem(d=3, n=30, law=Affine()), contexts=10)
    with pytest.raises(OutOfReach, match="end of the grid"):
        empirical_window(Problem(d=3, n=30, law=Affine(), sigma=1e4), contexts=1000)
