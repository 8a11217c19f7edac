"""Recipes of training: their starts, their common draws, and the exact descent that they follow."""

from __future__ import annotations

import numpy as np

from lipverify import Problem, loss_terms, optimal_window
from lipverify.checks.softmax.norms import descended_window
from lipverify.foundation import normals
from lipverify.laws import law_named
from lipverify.optimum.pretraining import Recipe

EPS = float(np.finfo(float).eps)


def test_a_recipe_starts_where_it_says_and_is_a_function_of_its_address() -> None:
    recipe = Recipe(optimiser="adam", learning_rate=0.1, steps=4, batch=4, start=2.0)
    problem = Problem(d=3, n=5, law=law_named("relu", L=1.0))
    one, again, other = (recipe.runs(problem, [stream], every=2, seed=1)[0] for stream in ("a", "a", "b"))
    start = 2.0 * (np.eye(3) + 0.1 * normals(1, "a/perturbation", 0, (3, 3)))
    np.testing.assert_allclose(one.M[0], start, rtol=4 * EPS)
    assert np.array_equal(one.M, again.M)
    assert not np.any(one.M == other.M)
    for words in ("Adam", "0.1", "4 steps", "w_0 = 2"):
        assert words in str(recipe)


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
