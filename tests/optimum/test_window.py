"""The optimal window, its sensitivities, its loss on other problems, and recipes for it."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms, optimal_window, sensitivity
from lipverify.checks.softmax.norms import descended_window
from lipverify.errors import InvalidInput
from lipverify.foundation import normals
from lipverify.laws import Affine, Cosine, Law, Quadratic, ReLU, law_named
from lipverify.optimum.pretraining import Recipe
from lipverify.optimum.transfer import quotient, transferred_loss, transfers  # internal: before it is a ratio
from lipverify.properties import is_a_minimum
from lipverify.properties.terms import NEIGHBOURS  # internal: the property's own neighbours, and two that are nearer
from tests.strategies import lengths, log_floats, target


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


@pytest.mark.parametrize("L", [1e-139, 1e-60, 1e-20])
def test_a_task_without_a_signal_has_its_window_near_zero(L: float) -> None:
    """For small Lambda w* solves B'(0) + w N''(0) = 0: proportional to L^2."""
    best = optimal_window(Problem(d=5, n=100, law=Affine(L=L)))
    assert best.w / L**2 == pytest.approx(optimal_window(Problem(d=5, n=100, law=Affine(L=1e-10))).w / 1e-20)


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

    def elasticity(low: Problem, high: Problem) -> tuple[float, float]:
        """A central difference in log p, and how much the errors of both windows can change it."""
        one, other = optimal_window(low), optimal_window(high)
        width = math.log(high.n / low.n) if high.n != low.n else 2 * step
        noise = (one.w_error / one.w + other.w_error / other.w) / width
        return math.log(other.w / one.w) / width, noise

    by_n = elasticity(problem.replace(n=round(n * math.exp(-step))), problem.replace(n=round(n * math.exp(step))))
    by_sigma = elasticity(problem.replace(sigma=math.exp(-step)), problem.replace(sigma=math.exp(step)))
    for window, (difference, noise) in ((moves.window_n, by_n), (moves.window_sigma, by_sigma)):
        # a central difference of a function whose third derivative is below one is off by step^2 / 6
        slack = step**2 / 6 + noise + moves.window_error
        assert abs(window - difference) <= slack
        assert abs(window) > 50 * slack, "the difference could not have told a wrong sign or factor"
    assert moves.window_L is not None  # only L / sigma matters
    assert moves.window_L == pytest.approx(-moves.window_sigma, abs=moves.window_error)


def test_a_law_not_proportional_to_L_has_no_sensitivity_to_L() -> None:
    assert sensitivity(optimal_window(Problem(d=3, n=1e6, law=Cosine(L=2.0)))).window_L is None


def test_no_sensitivity_of_a_sum_names_the_law() -> None:
    optimum = optimal_window(Problem(d=3, n=100, law=ReLU() + Cosine(L=3.0), sigma=1.0))
    assert optimum.where == "interior"
    with pytest.raises(InvalidInput, match=r"law = Sum\(.*take optima at two n"):
        sensitivity(optimum)


# Losses of tuned windows elsewhere: against homogeneity, another quadrature, and with a wrong window.


Family = tuple[str, float]
FAMILIES: tuple[Family, ...] = (("affine", 1.0), ("relu", 1.0), ("cosine", 1.0), ("cosine", 10.0))


def problem_of(family: Family, d: int, n: float) -> Problem:
    """A problem_of with sigma = 1."""
    return Problem(d=d, n=n, law=law_named(family[0], L=family[1]), sigma=1.0)


@pytest.mark.parametrize("family", FAMILIES)
def test_on_its_own_problem_the_transferred_loss_is_the_optimum(family: Family) -> None:
    home = problem_of(family, 3, 1e6)
    tuned = optimal_window(home)
    loss, error = transferred_loss(tuned, home)
    assert abs(loss - tuned.loss) <= error + tuned.loss_error
    assert error <= 1e-8 * loss


@given(
    law=st.sampled_from(["affine", "quadratic"]),
    d=st.integers(2, 9),
    log_n=st.floats(3, 20),
    ratio=st.floats(0.1, 100),
)
@settings(max_examples=15, deadline=None)
def test_bias_goes_with_the_square_of_the_tested_constant(law: str, d: int, log_n: float, ratio: float) -> None:
    n = float(round(10**log_n))
    tuned = optimal_window(problem_of((law, 1.0), d, n))
    loss, error = transferred_loss(tuned, problem_of((law, ratio), d, n))
    expected = tuned.noise + ratio**2 * tuned.bias
    # at w* itself each term is known as well as the loss, to first order in the error of w*
    slack = (1 + ratio**2) * tuned.loss_error + (d / 2 + 4) * expected * tuned.w_error / tuned.w
    target(abs(loss - expected) / (error + slack), label="difference over claimed error")
    assert abs(loss - expected) <= error + slack
    # sharp enough to see a thousandth of the bias, so that no other power of L' would pass
    assert error + slack <= 1e-3 * ratio**2 * tuned.bias


@given(d=st.integers(2, 8), log_n=st.floats(3, 15), log_ratio=st.floats(-1.5, 1.5))
@settings(max_examples=15, deadline=None)
def test_no_window_does_better_than_the_tuned_one(d: int, log_n: float, log_ratio: float) -> None:
    n, L = float(round(10**log_n)), 10**log_ratio
    found = transfers(
        {"one": problem_of(("affine", 1.0), d, n), "other": problem_of(("affine", L), d, n)}, tested=["other"]
    )
    (mistuned, slack), (tuned, error) = found["one on other"], found["other on other"]
    assert mistuned >= 1 - slack
    assert abs(tuned - 1) <= error
    assert "one on one" not in found


@pytest.mark.parametrize(("trained", "tested"), [(FAMILIES[1], FAMILIES[2]), (FAMILIES[3], FAMILIES[0])])
def test_the_zonal_quadrature_finds_the_same(trained: Family, tested: Family) -> None:
    tuned, away = optimal_window(problem_of(trained, 4, 1e5)), problem_of(tested, 4, 1e5)
    loss, error = transferred_loss(tuned, away)
    other = loss_terms(away, tuned.w, route="zonal")
    assert abs(loss - float(other.total)) <= error + float(other.total_error)
    assert error + float(other.total_error) <= 1e-6 * loss


def test_an_error_of_the_window_shows_in_the_loss() -> None:
    tuned = optimal_window(problem_of(("affine", 1.0), 4, 1e6))
    away = problem_of(("affine", 3.0), 4, 1e6)
    uncertain = msgspec.structs.replace(tuned, w_error=1e-2 * tuned.w)
    loss, error = transferred_loss(uncertain, away)
    moved = float(loss_terms(away, tuned.w * (1 + 1e-2)).total)
    assert error == pytest.approx(abs(moved - loss), rel=0.1)  # the second order is a tenth of the first at one percent
    assert transferred_loss(tuned, away)[1] < 1e-4 * error


@given(
    one=st.floats(0.1, 10), other=st.floats(0.1, 10), shares=st.tuples(*[st.floats(0, 1e-6)] * 2),
    signs=st.tuples(*[st.sampled_from([-1, 1])] * 2),
)  # fmt: skip
def test_the_error_of_a_quotient_covers_all_quotients_of_its_intervals(
    one: float, other: float, shares: tuple[float, float], signs: tuple[int, int]
) -> None:
    ratio, error = quotient((one, shares[0] * one), (other, shares[1] * other))
    moved = one * (1 + signs[0] * shares[0]) / (other * (1 + signs[1] * shares[1]))
    second_order = (shares[0] + shares[1]) ** 2
    assert abs(moved - ratio) <= error + ratio * (second_order + 1e-15)


# Recipes of training: their starts, their common draws, and the exact descent that they follow.


EPS = float(np.finfo(float).eps)


def test_a_recipe_starts_where_it_says_and_is_a_function_of_its_address() -> None:
    recipe = Recipe(optimiser="adam", learning_rate=0.1, steps=4, batch=4, start=2.0)
    problem = Problem(d=3, n=5, law=law_named("relu", L=1.0))
    one, again, other = (recipe.runs(problem, [stream], every=2, seed=1)[0] for stream in ("a", "a", "b"))
    start = 2.0 * (np.eye(3) + 0.1 * normals(1, "a/perturbation", 0, (3, 3)))
    np.testing.assert_allclose(one[0], start, rtol=4 * EPS)
    assert np.array_equal(one, again)
    assert not np.any(one == other)


def test_descent_on_the_exact_loss_ends_at_its_minimum() -> None:
    recipe = Recipe(optimiser="gd", learning_rate=20.0, steps=3000, batch=1, start=0.1)
    problem = Problem(d=3, n=100, law=law_named("cosine", L=1.0), sigma=0.5)
    best = optimal_window(problem)
    w, error = descended_window(problem, recipe, 2 * best.w)
    assert abs(w - best.w) <= 2 * error
    assert error < 0.01 * best.w


def test_one_step_of_that_descent_is_the_derivative_over_d() -> None:
    recipe = Recipe(optimiser="gd", learning_rate=0.5, steps=1, batch=1, start=2.0)
    problem, h = Problem(d=4, n=200, law=law_named("affine", L=2.0), sigma=0.5), 1e-3
    below, above = loss_terms(problem, [2.0 - h, 2.0 + h]).total
    w, error = descended_window(problem, recipe, 6.0)
    assert abs(w - (2.0 - 0.5 * (above - below) / (2 * h) / 4)) <= 4 * error
    assert error < 0.01 * abs(w - 2.0)
