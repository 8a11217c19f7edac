"""Covariance inversion, the sign of the window, and widths: against sampling, quadrature and brute force."""

from __future__ import annotations

import numpy as np
import pytest

from lipverify import Problem, loss_terms
from lipverify.claims.softmax.covariance import (
    averaged_odd_gap,
    exact_odd_gap,
    harmonic,
    harmonic_signs,
    leading_tilt,
    sampled_odd_gap,
    sign_gap,
    whitened_optimum,
)
from lipverify.claims.softmax.width import factored_descent
from lipverify.laws import Affine
from lipverify.optimum import optimal_window


def displacement(variances: np.ndarray, tilt: np.ndarray) -> float:
    """The leading bias that `leading_tilt` minimises, by sampling the sphere."""
    d = len(variances)
    u = np.random.default_rng(0).normal(size=(200_000, d))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    pulled = u * tilt
    delta = pulled - u * np.sum(u * pulled, axis=1, keepdims=True) - (d - 1) / 2 * u
    return float(np.mean(np.sum(variances * delta**2, axis=1)))


@pytest.mark.parametrize("variances", [[4.0, 1.0], [10.0, 3.0, 1.0], [100.0, 10.0, 5.0, 1.0]])
def test_the_tilt_is_where_the_leading_bias_is_least(variances: list[float]) -> None:
    S = np.array(variances)
    best = leading_tilt(S)
    assert abs(best.sum()) < 1e-9
    assert np.all(np.diff(best) < 0), "the longer the axis, the narrower"
    least = displacement(S, best)
    for axis in np.eye(len(S)):
        for step in (-0.3, 0.3):
            assert displacement(S, best + step * axis) >= least * (1 - 1e-3)
    assert displacement(S, 0 * best) > least * 1.01


def test_the_tilt_vanishes_for_round_covariates_only() -> None:
    assert np.max(np.abs(leading_tilt(np.full(4, 7.0)))) < 1e-9
    assert np.max(np.abs(leading_tilt(np.array([2.0, 1.0, 1.0])))) > 0.05


def test_lemma_1_holds_after_whitening_and_fails_in_the_space_of_x() -> None:
    whitened = whitened_optimum("affine", "whitened", 100.0, 20, 0.2, 1024, 5)
    space = whitened_optimum("affine", "space", 10.0, 20, 0.2, 2048, 5)
    assert abs(whitened.ratio[0] - 1) <= 2 * whitened.ratio[1] < 0.5
    assert abs(whitened.scale[0] - whitened.window) <= 2 * whitened.scale[1]
    assert space.ratio[0] - 2 * space.ratio[1] > 1
    assert space.ratio[0] + 2 * space.ratio[1] < 10


@pytest.mark.parametrize("law", ["affine", "relu", "quadratic"])
def test_the_loss_of_a_negative_window_is_that_of_the_formula(law: str) -> None:
    from lipverify.laws import law_named

    problem = Problem(d=3, n=20, law=law_named(law))
    w = optimal_window(problem).w
    positive = loss_terms(problem, [w])
    negative = loss_terms(problem, [w], "montecarlo", M=-np.eye(3), contexts=30_000, seed=2, cell=law)
    gap, _ = sign_gap(law, 3, 20)
    assert negative.total_error[0] < 0.05 * positive.total[0], "too wide to tell"
    assert abs(negative.total[0] - positive.total[0] - gap) <= 2 * negative.total_error[0]


def test_a_negative_window_can_be_the_best() -> None:
    found = harmonic_signs(3, 8, 5, 0.3)
    assert found.margin[0] > 100 * found.margin[1]
    assert found.negative < 0 < found.positive
    exact, _ = exact_odd_gap(5, 0.3, 8, 3.97)
    for value, error in (sampled_odd_gap(5, 0.3, 8, 3.97, 64_000, 0), averaged_odd_gap(5, 0.3, 8, 3.97, 64_000, 0)):
        assert abs(value - exact) <= 2 * error
    assert exact_odd_gap(5, 0.3, 1000, 3.97)[0] > 0, "with many tokens the sign is settled"


def test_harmonics_are_those_of_the_sphere() -> None:
    t = np.linspace(-1, 1, 9)
    assert np.allclose(harmonic(2, 3, t), np.cos(3 * np.arccos(t)), atol=1e-12)
    assert np.allclose(harmonic(3, 2, t), (3 * t**2 - 1) / 2, atol=1e-12)
    assert np.allclose(harmonic(7, 1, t), t, atol=1e-12)


@pytest.mark.parametrize("name", ["affine", "relu"])
def test_wide_factors_reach_the_minimum_and_narrow_ones_do_not(name: str) -> None:
    wide, narrow = factored_descent(name, 2, 10, 4, 640, 3), factored_descent(name, 2, 10, 1, 640, 3)
    assert abs(wide.excess[0]) <= 1e-3
    assert wide.distance < 0.5
    assert wide.gradient < 1e-5 < narrow.gradient
    assert narrow.excess[0] - narrow.excess[1] > 0.02


def test_the_covariance_claim_is_about_the_matrix_and_not_its_scale() -> None:
    window = optimal_window(Problem(d=3, n=20, law=Affine(), sigma=0.2)).w
    found = whitened_optimum("affine", "whitened", 4.0, 20, 0.2, 1024, 5)
    assert found.window == window
    assert found.plain[0] == pytest.approx(found.ratio[0] / 4, rel=1e-12)
