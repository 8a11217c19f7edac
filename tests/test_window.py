from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms, optimal_window
from lipverify.errors import InvalidInput
from lipverify.laws import Affine, Law, ReLU
from lipverify.optimum.search import Search
from tests.strategies import lengths, log_floats


@pytest.mark.parametrize(
    ("law", "d", "n", "sigma"),
    [
        (Affine(), 2, 30, 1.0),
        (Affine(), 5, 1e6, 0.3),
        (ReLU(), 3, 1e9, 2.0),
        (Affine(), 8, 1e30, 1.0),
        (ReLU(), 8, 1e20, 1.0),
    ],
)
def test_no_other_window_does_better(law: Law, d: int, n: float, sigma: float) -> None:
    problem = Problem(d=d, n=n, law=law, sigma=sigma)
    optimum = optimal_window(problem)
    others = optimum.w * np.array([1e-3, 0.1, 0.5, 0.9, 0.999, 1.001, 1.1, 2.0, 10.0])
    terms = loss_terms(problem, others)
    assert np.all(terms.total > optimum.loss - optimum.loss_error - terms.total_error)
    assert optimum.where == "interior"
    assert optimum.loss == pytest.approx(optimum.bias + optimum.noise, rel=1e-14)


@settings(max_examples=8)
@given(d=st.integers(2, 12), n=lengths(low=5), sigma=log_floats(0.2, 3.0))
def test_the_claimed_error_covers_the_root_of_the_derivative(d: int, n: float, sigma: float) -> None:
    problem = Problem(d=d, n=n, law=Affine(), sigma=sigma)
    optimum = optimal_window(problem)
    assert optimum.w_error <= 1e-6 * optimum.w
    # the loss rises to both sides of w*: a central difference of the loss changes sign around it
    step = 0.02
    terms = loss_terms(problem, optimum.w * np.exp(step * np.array([-2.0, -1.0, 0.0, 1.0, 2.0])))
    low, left, middle, right, high = terms.total
    slope = (8 * (right - left) - (high - low)) / (12 * step)
    curvature = (16 * (left + right) - (low + high) - 30 * middle) / (12 * step**2)
    # the five-point difference is off by step^4 / 30 times a fifth derivative of the size of the curvature
    allowed = 30 * step**4 + 10 * float(terms.total_error.max()) / (curvature * step) + optimum.w_error / optimum.w
    assert abs(slope / curvature) <= allowed


@settings(max_examples=8)
@given(
    d=st.integers(2, 8),
    n=lengths(low=5, high=1e20),
    ratio=log_floats(0.2, 3.0),
    scale=log_floats(0.01, 100.0),
)
def test_the_window_depends_on_L_over_sigma_only(d: int, n: float, ratio: float, scale: float) -> None:
    one = optimal_window(Problem(d=d, n=n, law=Affine(L=ratio), sigma=1.0))
    other = optimal_window(Problem(d=d, n=n, law=Affine(L=ratio * scale), sigma=scale))
    assert abs(one.w - other.w) <= one.w_error + other.w_error
    assert other.loss == pytest.approx(one.loss * scale**2, rel=1e-9)


@settings(max_examples=8)
@given(
    d=st.integers(2, 8),
    n=lengths(low=5, high=1e20),
    sigma=log_floats(0.2, 3.0),
    factor=log_floats(1.1, 10.0),
)
def test_more_noise_wants_a_wider_window_and_more_tokens_a_narrower_one(
    d: int, n: float, sigma: float, factor: float
) -> None:
    problem = Problem(d=d, n=n, law=Affine(), sigma=sigma)
    here = optimal_window(problem)
    assert optimal_window(problem.replace(sigma=factor * sigma)).w < here.w
    assert optimal_window(problem.replace(n=float(round(n * factor)) + 1)).w > here.w


def test_nothing_to_learn_means_a_window_of_zero() -> None:
    optimum = optimal_window(Problem(d=4, n=50, law=Affine(L=0.0), sigma=2.0))
    assert (optimum.w, optimum.where) == (0.0, "zero")
    assert optimum.loss == pytest.approx(4 / 50, rel=1e-14)


def test_without_noise_the_optimum_is_finite_and_better_than_the_nearest_neighbour() -> None:
    problem = Problem(d=4, n=50, law=Affine(), sigma=0.0)
    optimum = optimal_window(problem)
    neighbour = float(loss_terms(problem, math.exp(Search(problem).far)).total)
    assert optimum.where == "interior"
    assert optimum.loss < 0.95 * neighbour


def test_no_loss_at_all_has_no_optimum() -> None:
    with pytest.raises(InvalidInput, match="every window"):
        optimal_window(Problem(d=4, n=50, law=Affine(L=0.0), sigma=0.0))
