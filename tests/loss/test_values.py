"""The scaled prediction: compared with sampling and with its definition, and at the joint optimum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ive

from lipverify import Problem, loss_terms
from lipverify.checks.softmax import value_matrix
from lipverify.laws import Affine, Law, ReLU
from lipverify.loss.exact import weighted_mean
from lipverify.loss.scaled import scaled_loss  # internal: the loss at a scale that is not the best one
from lipverify.optimum import optimal_scale
from tests.strategies import lengths


@pytest.mark.parametrize("d", [2, 3, 8])
def test_the_mean_of_t_in_the_limit_of_many_tokens_is_a_ratio_of_bessel_functions(d: int) -> None:
    w = np.array([0.5, 5.0, 50.0])
    mean, error = weighted_mean(d, 1e14, w, lambda token: (token.far - token.near) / 2, size=1.0)
    limit = ive(d / 2, w) / ive(d / 2 - 1, w)
    # the difference is of the order of one divided by the number of tokens in the window
    assert np.all(np.abs(mean - limit) <= error + 1e-14 * w ** ((d - 1) / 2) * 10)


@pytest.mark.parametrize("n", [2, 10, 1000])
def test_weights_sum_to_one(n: int) -> None:
    mean, error = weighted_mean(4, n, np.array([0.3, 3.0, 30.0]), lambda token: np.ones_like(token.near))
    assert np.all(np.abs(mean - 1) <= error)
    assert np.all(error < 1e-10)


@pytest.mark.parametrize("law", ["affine", "relu"])
@pytest.mark.parametrize("reading", ["offset", "no-offset"])
def test_the_best_scale_agrees_with_sampling(law: str, reading: str) -> None:
    excess, _ = value_matrix.best_scale(law, reading, 3, 20)["excess"]
    sampled, error = value_matrix.sampled_scale(law, 3, 20, 32_000, 1)[reading]
    assert error < 0.1 * abs(excess), "too wide to tell c* from 1"
    assert abs(sampled - 1 - excess) <= 2 * error


def test_no_scale_does_better_than_the_best_one() -> None:
    problem, beta = Problem(d=3, n=300, law=ReLU()), 1 / 3
    found = scaled_loss(problem, [2.0, 8.0], beta)
    signal = 1 / 9 + beta  # E f^2
    for c in (0.5, 0.9, 1.0, 1.1, 2.0):
        loss = c**2 * found.power - 2 * c * (signal - found.gap) + signal
        assert np.all(loss >= found.least - found.least_error)
    at_best = found.c**2 * found.power - 2 * found.c * (signal - found.gap) + signal
    assert np.allclose(at_best, found.least, rtol=1e-12)
    assert np.allclose(found.unscaled, loss_terms(problem, [2.0, 8.0]).total, rtol=1e-15)


def test_the_joint_optimum_is_one() -> None:
    problem = Problem(d=3, n=1e6, law=Affine())
    found = optimal_scale(problem, 1 / 3)
    around = scaled_loss(problem, found.w * np.array([0.98, 1.02]), 1 / 3)
    assert found.w_error < 1e-6 * found.w
    assert np.all(around.least > found.loss + found.loss_error)


@settings(max_examples=6)
@given(
    law=st.sampled_from([Affine(), ReLU()]),
    d=st.integers(2, 8),
    n=lengths(30, 1e6),
    offset=st.sampled_from([0.0, 1 / 3]),
)
def test_the_joint_optimum_states_c_and_the_loss_correctly(law: Law, d: int, n: float, offset: float) -> None:
    """Compared with values at w itself; without an offset, longer contexts of the affine law lose digits."""
    problem = Problem(d=d, n=n, law=law)
    found = optimal_scale(problem, offset)
    at = scaled_loss(problem, [found.w], offset)
    assert found.excess_error < 1e-5 > found.loss_error / found.loss, "too wide to see anything"
    assert abs(found.excess - at.excess[0]) <= found.excess_error + at.excess_error[0]
    assert abs(found.loss - at.least[0]) <= found.loss_error + at.least_error[0]
    assert found.c == 1 + found.excess


def test_the_joint_optimum_of_linear_functions_is_a_window_of_fixed_width() -> None:
    early, late = (optimal_scale(Problem(d=3, n=n, law=Affine())) for n in (1e5, 1e7))
    assert abs(early.w / late.w - 1) < 0.01
    limit = float(ive(0.5, late.w) / ive(1.5, late.w))
    # the rest of c* - 1/r is of the order of 1/n, as the loss is
    assert abs(late.c - limit) < 1e-4 < abs(late.c - 1)
    assert abs(early.loss / late.loss / 100 - 1) < 0.01


def test_the_first_rows_are_ignored_and_the_last_is_not() -> None:
    assert value_matrix.change().terms == 0
    assert value_matrix.change(last=1).terms > 0
