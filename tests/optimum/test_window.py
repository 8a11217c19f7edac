from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms, optimal_window, sensitivity
from lipverify.errors import InvalidInput
from lipverify.laws import Affine, Cosine, Law, Quadratic, ReLU
from lipverify.properties import is_a_minimum
from lipverify.properties.terms import NEIGHBOURS  # internal: the property's own neighbours, and two that are nearer
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
    assert is_a_minimum(optimum, neighbours=(*NEIGHBOURS, 0.999, 1.001)) <= 1
    assert optimum.where == "interior"
    # each term by itself: their sum, which is all that is compared above, stays the same when they change places
    terms = loss_terms(problem, optimum.w)
    for found, value, error in (
        (optimum.bias, terms.bias, terms.bias_error),
        (optimum.noise, terms.noise, terms.noise_error),
    ):
        assert abs(found - float(value)) <= optimum.loss_error + float(error)
    assert abs(optimum.bias - optimum.noise) > 1e6 * optimum.loss_error, "the terms could be told apart"


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
    d=st.integers(2, 8), n=lengths(low=5, high=1e20), ratio=log_floats(0.2, 3.0), scale=log_floats(0.01, 100.0),
    factor=log_floats(1.1, 10.0),
)  # fmt: skip
def test_the_window_depends_on_n_and_L_over_sigma_alone_and_grows_with_both(
    d: int, n: float, ratio: float, scale: float, factor: float
) -> None:
    problem = Problem(d=d, n=n, law=Affine(L=ratio), sigma=1.0)
    one, other = optimal_window(problem), optimal_window(problem.replace(law=Affine(L=ratio * scale), sigma=scale))
    assert abs(one.w - other.w) <= one.w_error + other.w_error
    assert other.loss == pytest.approx(one.loss * scale**2, rel=1e-9)
    assert optimal_window(problem.replace(sigma=factor)).w < one.w
    assert optimal_window(problem.replace(n=float(round(n * factor)) + 1)).w > one.w


def test_a_constant_task_has_w_zero() -> None:
    optimum = optimal_window(Problem(d=4, n=50, law=Affine(L=0.0), sigma=2.0))
    assert (optimum.w, optimum.where) == (0.0, "zero")
    assert optimum.loss == pytest.approx(4 / 50, rel=1e-14)


def test_without_noise_the_optimum_is_finite_and_better_than_the_nearest_neighbour() -> None:
    problem = Problem(d=4, n=50, law=Affine(), sigma=0.0)
    optimum = optimal_window(problem)
    # the gap to the second nearest token is of size n^{-2/(d-1)}: at a thousand over it one token has all weight
    neighbour = float(loss_terms(problem, 1e3 * 50 ** (2 / 3)).total)
    assert optimum.where == "interior"
    assert optimum.loss < 0.95 * neighbour


@pytest.mark.parametrize("law", [Affine(), ReLU(), Quadratic()], ids=lambda law: law.name)
@pytest.mark.parametrize(("d", "n"), [(2, 1e6), (5, 1e12)])
def test_sensitivities_agree_with_neighbouring_optima(law: Law, d: int, n: float) -> None:
    problem = Problem(d=d, n=n, law=law, sigma=1.0)
    moves = sensitivity(optimal_window(problem))
    step = 0.05

    def elasticity(low: Problem, high: Problem) -> tuple[float, float, float]:
        """Central differences in log p, and how much the errors of both windows can change the first."""
        one, other = optimal_window(low), optimal_window(high)
        width = math.log(high.n / low.n) if high.n != low.n else 2 * step
        noise = (one.w_error / one.w + other.w_error / other.w) / width
        return math.log(other.w / one.w) / width, math.log(other.loss / one.loss) / width, noise

    by_n = elasticity(problem.replace(n=round(n * math.exp(-step))), problem.replace(n=round(n * math.exp(step))))
    by_sigma = elasticity(problem.replace(sigma=math.exp(-step)), problem.replace(sigma=math.exp(step)))
    pairs = ((moves.window_n, moves.loss_n, by_n), (moves.window_sigma, moves.loss_sigma, by_sigma))
    for window, loss, (window_difference, loss_difference, noise) in pairs:
        # a central difference of a function whose third derivative is below one is off by step^2 / 6
        slack = step**2 / 6 + noise + moves.window_error
        assert abs(window - window_difference) <= slack
        assert abs(loss - loss_difference) <= slack
        assert abs(window) > 50 * slack, "the difference could not have told a wrong sign or factor"
    # only L / sigma matters for the window, and the loss is homogeneous of degree two
    assert moves.window_L is not None
    assert moves.loss_L is not None
    assert moves.window_L == pytest.approx(-moves.window_sigma, abs=moves.window_error)
    assert moves.loss_L + moves.loss_sigma == pytest.approx(2.0, rel=1e-9)


def test_a_law_not_proportional_to_L_has_no_sensitivity_to_L() -> None:
    assert sensitivity(optimal_window(Problem(d=3, n=1e6, law=Cosine(L=2.0)))).window_L is None


def test_no_sensitivity_of_a_sum_names_the_law() -> None:
    optimum = optimal_window(Problem(d=3, n=100, law=ReLU() + Cosine(L=3.0), sigma=1.0))
    assert optimum.where == "interior"
    with pytest.raises(InvalidInput, match=r"law = Sum\(.*take optima at two n"):
        sensitivity(optimum)
