"""Maps of critical points: branch and bound against resultants, nodes in balls against moments, and refusals."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.errors import InvalidInput, OutOfReach

# internal: whether the compiled search can run here
from lipverify.foundation.compiling import has_compiler
from lipverify.linear_transformer import Regression, UniformNoise
from lipverify.linear_transformer.gdplusplus import (
    all_below,
    excess_loss,
    known_optimum,
    landscape,
    landscapes,
    second_moment,
    two_layers,
)

# internal: the variables of the search and its nodes, which the critical points do not show
from lipverify.linear_transformer.gdplusplus.complete import _variables, _weights, gauss_nodes

# internal: exact derivatives in balls, and the moments and the precision that they need
from lipverify.linear_transformer.gdplusplus.critical import PRECISION, _moments, on_gauss_nodes

# internal: the exact derivatives, to compare with those in doubles
from lipverify.linear_transformer.gdplusplus.critical import derivatives as exact_derivatives

# internal: batches of derivatives, the search and the factors of training, which only the maker of the file uses
from lipverify.linear_transformer.gdplusplus.maps import _factored, derivatives, followed, unseen
from lipverify.linear_transformer.published import regression_named

needs_compiler = pytest.mark.skipif(not has_compiler(), reason="needs a C compiler")


def losses(noise: str, points: object) -> list[float]:
    """The excess loss of critical points of two layers over all eigenvalues."""
    loss = excess_loss(regression_named(noise), 2, 24, None)
    return [loss(np.asarray(point.weights)) for point in points]  # type: ignore[attr-defined]


@needs_compiler
@pytest.mark.parametrize("noise", ["uniform-0", "uniform-2", "levels-1-3"])
def test_branch_and_bound_agrees_with_resultants(noise: str) -> None:
    """Two methods that share the moments alone: no point is missed, and none is invented."""
    known = two_layers(regression_named(noise))
    ridge = known_optimum(noise, 2).loss.value - known_optimum(noise, 2).excess.value
    bound = ridge + 1.1 * sorted(losses(noise, known))[-2]
    expected = [point for point, loss in zip(known, losses(noise, known), strict=True) if ridge + loss < bound]
    found = [
        point
        for point in all_below(regression_named(noise), 2, bound).points
        if ridge + losses(noise, [point])[0] < bound
    ]
    assert len(expected) >= 3
    assert {(point.index, *np.round(point.weights, 12)) for point in found} == {
        (point.index, *np.round(point.weights, 12)) for point in expected
    }


@needs_compiler
def test_branch_and_bound_keeps_the_best_point_only_above_its_loss() -> None:
    """The bound counts, and it counts to a part in a million of the excess."""
    regression, best = regression_named("uniform-1"), known_optimum("uniform-1", 2)
    assert all_below(regression, 2, best.loss.value - 1e-6 * best.excess.value).points == ()
    (point,) = all_below(regression, 2, best.loss.value + 1e-6 * best.excess.value).points
    assert point.index == 0


def test_a_bound_below_the_floor_needs_no_search() -> None:
    assert all_below(regression_named("uniform-1"), 2, 0.01) == ((), 0)


def test_balls_of_the_nodes_contain_the_rule_that_integrates_all_moments_exactly() -> None:
    """sum w_i t_i^k is the k-th moment of t rho(t) for all k below twice the nodes; the balls are narrow, too."""
    regression = Regression(4, 9, UniformNoise(2.0))
    nodes, s, moments = gauss_nodes(regression, 4), second_moment(regression.noise), _moments(9, 4, 2)
    with ctx.workprec(192):
        for k in range(8):
            ball = sum((W / (1 + arb(s) / t) * t ** (k + 1) for t, W in zip(nodes.t, nodes.W, strict=True)), arb(0))
            assert ball.contains(moments[k + 1])
            assert ball.rel_accuracy_bits() > 70


@needs_compiler
def test_an_impossible_search_is_refused() -> None:
    regression = regression_named("uniform-3")
    with pytest.raises(InvalidInput, match="within reach for 2 and 3"):
        all_below(regression, 4, 0.2)
    with pytest.raises(InvalidInput, match="loss = -1"):
        all_below(regression, 2, -1.0)
    with pytest.raises(OutOfReach, match="boxes wait"):
        all_below(regression, 3, 0.16, limit=100)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 3), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_the_variables_of_the_search_are_those_of_the_model(layers: int, choice: int, seed: int) -> None:
    """Both give the same polynomial e, near folds and far ones, and each is the inverse of the other."""
    far = list(product((False, True), repeat=layers - 1))[choice % 2 ** (layers - 1)]
    places = np.random.default_rng(seed).uniform(0.1, 1, 2 * layers - 1)
    weights, t = _weights(places, far), np.linspace(0.1, 3, 7)
    assert np.allclose(_variables(weights, far), places, rtol=1e-12)

    def polynomial(numbers: np.ndarray, ratios: tuple[float, ...], folds: tuple[bool, ...]) -> np.ndarray:
        e, tau = np.ones_like(t), t
        for k, number in enumerate(numbers):
            if k % 2 == 0:
                e = e * (1 + number * tau)
            else:
                fold = number + ratios[k // 2] * tau if folds[k // 2] else 1 + number * ratios[k // 2] * tau
                tau = tau * fold**2
        return e

    in_weights = polynomial(weights, (1.0, 1.0), (False, False))
    assert np.allclose(polynomial(places, (1 / 40, 1 / 8), far), in_weights, rtol=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_batches_of_derivatives_are_the_exact_ones(layers: int, seed: int) -> None:
    """Sums over Gauss's nodes in doubles against sums over moments in balls."""
    regression = regression_named("uniform-3")
    weights = -0.02 * np.random.default_rng(seed).random((2, 2 * layers - 1))
    found = derivatives(on_gauss_nodes(regression, layers), weights)
    for row, gradient, hessian in zip(weights, found.gradient, found.hessian, strict=True):
        with ctx.workprec(PRECISION):
            exact = exact_derivatives([arb(x) for x in row], second_moment(regression.noise), _moments(20, 10, layers))
        slope, curvature = (np.asarray(part, dtype=float) for part in exact)
        assert np.abs(gradient - slope).max() < 1e-9 * np.abs(slope).max()
        assert np.abs(hessian - curvature).max() < 1e-8 * np.abs(curvature).max()


def test_maps_rise_from_the_best_model_known() -> None:
    """By rising loss, each point once; the first is the best minimum of another search, and no point is better."""
    for noise, layers in landscapes():
        stored, best = landscape(noise, layers), known_optimum(noise, layers).loss
        losses = np.asarray(stored.losses)
        assert np.all(np.diff(losses) >= 0)
        assert losses[0] == pytest.approx(best.value, abs=best.error + 1e-6)
        assert stored.indices[0] == 0
        assert len(set(stored.points)) == len(stored.points) == len(stored.hits) == len(stored.indices)
        assert all(len(counts) == len(stored.points) + 1 for counts in stored.ends.values())
        assert 0 <= stored.late <= sum(hit > 0 for hit in stored.hits)


def test_the_search_converges_to_critical_points_of_the_given_index_alone() -> None:
    """Near a point it converges if it is told the number of falling directions, and leaves it otherwise."""
    regression = regression_named("uniform-0")
    points, loss = two_layers(regression), on_gauss_nodes(regression, 2)
    weights, indices = np.asarray([point.weights for point in points]), np.asarray([point.index for point in points])
    assert set(indices) == {0, 1}
    ends = followed(loss, weights * (1 + 1e-4), indices)
    assert np.abs(ends / weights - 1).max() < 1e-9
    others = followed(loss, weights * (1 + 1e-4), 1 - indices)
    assert not np.isclose(others, weights, rtol=1e-3).all(axis=1).any()


def test_the_jacobian_of_factors_is_that_of_differences() -> None:
    factors = np.random.default_rng(0).standard_normal((2, 9))
    _, jacobian = _factored(factors)
    for k in range(9):
        move = 1e-6 * np.eye(9)[k]
        column = (_factored(factors + move)[0] - _factored(factors - move)[0]) / 2e-6
        assert np.abs(jacobian[:, :, k] - column).max() < 1e-8


def test_estimates_of_the_number_of_missed_points() -> None:
    assert unseen((9, 7, 8)) == (0.0, 3)
    share, number = unseen((1, 1, 1, 1))
    assert share == 1.0
    assert number == 10.0


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("noise", ["uniform-0", "uniform-3"])
def test_branch_and_bound_of_three_layers_finds_the_stored_points_again(noise: str) -> None:
    stored = landscape(noise, 3)
    assert stored.below > 0
    below = [point for point, loss in zip(stored.points, stored.losses, strict=True) if loss < stored.below]
    found = all_below(regression_named(noise), 3, stored.below).points
    assert len(found) == len(below)
    for point in found:
        assert np.abs(np.asarray(below) / point.weights - 1).max(axis=1).min() < 1e-9
