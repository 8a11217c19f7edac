"""Covariance inversion and the sign of w, compared with sampling, quadrature and brute force."""

from __future__ import annotations

import numpy as np
import pytest

from lipverify import Problem, loss_terms, optimal_window
from lipverify.checks.softmax import sign, whitening
from lipverify.checks.softmax.whitening import leading_tilt
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.laws import Affine, Ridge, law_named
from lipverify.loss import negative_excess


def displacement(variances: np.ndarray, tilt: np.ndarray) -> float:
    """The leading bias, which `leading_tilt` minimises, by sampling the sphere."""
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
    whitened = whitening.optimal_matrix("affine", "whitened", 100.0, 20, 0.2, 1024, 5)
    space = whitening.optimal_matrix("affine", "space", 10.0, 20, 0.2, 2048, 5)
    assert abs(whitened["ratio"][0] - 1) <= 2 * whitened["ratio"][1] < 0.5
    window, _ = whitening.isotropic_window("affine", 20, 0.2)
    assert abs(whitened["scale"][0] - window) <= 2 * whitened["scale"][1]
    assert space["ratio"][0] - 2 * space["ratio"][1] > 1
    assert space["ratio"][0] + 2 * space["ratio"][1] < 10
    assert space["plain"][0] == pytest.approx(space["ratio"][0] / 10, rel=1e-12)


@pytest.mark.parametrize("law", ["affine", "relu", "quadratic"])
def test_the_loss_of_a_negative_window_is_that_of_the_formula(law: str) -> None:
    problem = Problem(d=3, n=20, law=law_named(law))
    w = optimal_window(problem).w
    positive = loss_terms(problem, [w])
    negative = loss_terms(problem, [w], "montecarlo", M=-np.eye(3), contexts=30_000, seed=2, stream=law)
    [excess], _ = negative_excess(problem, w)
    assert negative.total_error[0] < 0.05 * positive.total[0], "too wide to tell"
    assert abs(negative.total[0] - positive.total[0] - excess) <= 2 * negative.total_error[0]


def test_a_negative_window_can_be_the_best() -> None:
    value, error = sign.advantage(3, 8, 5, 0.3, 3.85)
    assert value > 50 * error
    exact, _ = sign.odd_gap(3, 8, 5, 0.3, 3.97)
    for sampled in (sign.sampled_gap, sign.averaged_gap):
        value, error = sampled(3, 8, 5, 0.3, 3.97, 64_000, 0)
        assert abs(value - exact) <= 2 * error
    assert sign.odd_gap(3, 1000, 5, 0.3, 3.97)[0] > 0, "with many tokens the sign is settled"


def test_a_law_with_an_unknown_odd_part_is_refused() -> None:
    with pytest.raises(OutOfReach, match="odd part"):
        negative_excess(Problem(d=3, n=8, law=Ridge(np.tanh)), 1.0)
    with pytest.raises(InvalidInput, match="w = -1"):
        negative_excess(Problem(d=3, n=8, law=Affine()), -1.0)
    excess, error = negative_excess(Problem(d=3, n=8, law=Affine()), 0.0)
    assert (excess.item(), error.item()) == (0.0, 0.0)
