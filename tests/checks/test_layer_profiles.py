"""Losses by layer and level, descent towards AdaRR, and shares beyond a diagonal matrix plus one of small rank."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lipverify.checks.linear_transformers import diagonal_shares, layer_profiles, ridge_baselines
from lipverify.checks.linear_transformers.condition_numbers import improved_universally, least_coefficient
from lipverify.checks.linear_transformers.sampled_cosines import mean_square_of_v, moment, spread_of_norm
from lipverify.linear_transformer import draw_contexts, evaluation, regression_named, trainings

HERE = {"noise": "uniform-5", "family": "DIAG", "training": 0, "contexts": 512, "seed": 0}


def test_the_steps_of_a_model_sum_to_its_loss_over_that_of_the_prediction_0() -> None:
    steps = [layer_profiles.step(**HERE, layers=3, layer=k)[0] for k in (1, 2, 3)]
    drawn = evaluation(draw_contexts(regression_named("uniform-5"), 512, 0, "layers/uniform-5"))
    model = trainings("uniform-5", "DIAG", 3)[0]
    loss, nothing = (
        np.minimum(each, 5.0).mean() for each in (drawn.losses(model), np.sum(drawn.oracle**2, axis=1) / 2)
    )
    assert sum(steps) == pytest.approx(math.log(loss / nothing), rel=1e-9)


def test_a_model_is_as_good_as_itself_and_a_level_as_another_with_the_opposite_sign() -> None:
    assert layer_profiles.deeper(**HERE, layers=2, sigma=1.0) == (0.0, 0.0)
    one, other = (layer_profiles.level(**HERE, layers=2, after=2, sigma=a, than=b) for a, b in ((0.0, 3.0), (3.0, 0.0)))
    assert one[0] == pytest.approx(-other[0])
    assert one[1] == pytest.approx(other[1])


def test_descent_ends_at_adaptive_ridge_regression_and_starts_at_the_prediction_0() -> None:
    assert ridge_baselines.descended("uniform-3", 20_000, 256, seed=0)[0] == pytest.approx(1.0, abs=1e-9)
    assert ridge_baselines.descended("uniform-3", 0, 256, seed=0)[0] > 20


def test_a_diagonal_matrix_plus_one_of_rank_one_has_nothing_beyond_its_form() -> None:
    random = np.random.default_rng(0)
    diagonal, u, v = np.diag(random.normal(size=6)), random.normal(size=6), random.normal(size=6)
    matrix = diagonal + 0.3 * np.outer(u, v)
    shares = [diagonal_shares.left(matrix, rank) for rank in (0, 1, 2)]
    assert shares[0] == pytest.approx(1 - np.sum(np.diag(matrix) ** 2) / np.sum(matrix**2))
    assert max(shares[1:]) < 1e-20


def test_the_condition_number_of_lemma_3_is_that_of_a_layer() -> None:
    """4 kappa^3 / (3 kappa - 1)^2, at its bounds: at kappa = 11/10 the factor is 484/529."""
    for kappa in (1.001, 1.1, 7.0):
        assert improved_universally(kappa - 1) + 1 == pytest.approx(4 * kappa**3 / (3 * kappa - 1) ** 2)
    assert least_coefficient("wide", "484/529") == 0 > least_coefficient("wide", "483/529")
    assert least_coefficient("near", "3/4") == 0 > least_coefficient("near", "74/100")


def test_moments_of_normals_and_of_the_correlation() -> None:
    assert [moment(k) for k in range(7)] == [1, 0, 1, 0, 3, 0, 15]
    assert mean_square_of_v(2) == spread_of_norm("target", "32/3") == 0 != spread_of_norm("target", "10")
    x = np.random.default_rng(0).normal(size=(20_000, 8, 3))
    v = np.sum(x[..., :1] ** 2 * x, axis=1)
    square = np.sum(v**2, axis=1)
    assert abs(square.mean() - 3 * 8 * (3 + 4)) < 4 * square.std() / 20_000**0.5
    assert mean_square_of_v(3) != 0
