"""Critical points of GD++: derivatives compared with differences, completeness with a search, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpq_mpoly_ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import root

from lipverify.errors import OutOfReach
from lipverify.linear_transformer import UniformNoise
from lipverify.linear_transformer.gdplusplus import (
    excess_loss,
    flat_weights,
    known_optimum,
    small_start,
    two_layers,
)

# internal: derivatives as polynomials and their roots, which a critical point does not show
from lipverify.linear_transformer.gdplusplus.critical import (
    PRECISION,
    _real_roots,
    at,
    certified,
    on_gauss_nodes,
    slopes,
)
from lipverify.linear_transformer.published import regression_named
from lipverify.prompts import Prompts

EPS = float(np.finfo(float).eps)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 3), st.floats(0, 5), st.integers(0, 2**32 - 1))
def test_exact_derivatives_are_those_of_the_quadrature(layers: int, sigma_max: float, seed: int) -> None:
    """The gradient of the loss on spectral nodes is exact too; the Hessian is compared with differences of it."""
    regression = Prompts(d=10, n=20, sigma=UniformNoise(sigma_max))
    weights = -0.02 * np.random.default_rng(seed).random(2 * layers - 1)
    loss = excess_loss(regression, layers, 20, None)

    def gradient(at: np.ndarray) -> np.ndarray:
        deviations, jacobian = loss.deviations(at)
        return np.asarray(deviations @ jacobian)

    found, place = slopes(regression, layers), [arb(x) for x in weights]
    size = np.abs(gradient(0 * weights)).max()
    with ctx.workprec(PRECISION):
        exact_gradient = np.asarray([float(at(slope, place)) for slope in found])
        hessian = np.asarray([[float(at(slope.derivative(k), place)) for k in range(len(found))] for slope in found])
    assert np.abs(exact_gradient - gradient(weights)).max() < 1e-9 * size
    step = 1e-6  # second differences: the square of it, and rounding over it
    for k in range(len(weights)):
        move = step * np.eye(len(weights))[k]
        column = (gradient(weights + move) - gradient(weights - move)) / (2 * step)
        assert np.abs(hessian[k] - column).max() < 1e-5 * (np.abs(column).max() + size)


@pytest.mark.parametrize(
    ("noise", "count"),
    [
        ("uniform-0", 3),
        pytest.param("uniform-3", 2, marks=pytest.mark.slow),
        pytest.param("uniform-5", 1, marks=pytest.mark.slow),
        pytest.param("levels-1-3", 2, marks=pytest.mark.slow),
    ],
)
def test_a_search_finds_no_point_of_two_layers_that_is_not_listed(noise: str, count: int) -> None:
    """A solver of equations on sums in doubles, from random zeros, ends in listed points alone."""
    regression = regression_named(noise)
    points = np.asarray([point.weights for point in two_layers(regression)])
    assert sum(point.index == 0 for point in two_layers(regression)) == count
    loss, found = on_gauss_nodes(regression, 2), set[int]()

    def slope(logarithms: np.ndarray) -> np.ndarray:
        """The gradient in the logarithms of minus the weights; at all points listed they are negative."""
        weights = -np.exp(logarithms)
        deviations, jacobian = loss.deviations(weights)
        return np.asarray(deviations @ jacobian * weights)

    for start in -np.exp(np.random.default_rng(0).uniform(-6.0, -1.0, (100, 3))):
        with np.errstate(all="ignore"):
            end = root(slope, np.log(-start), tol=1e-12)
        # the slope in a logarithm also vanishes as its weight tends to 0, where there is one layer less
        if end.success and np.abs(end.fun).max() < 1e-9 and end.x.min() > -12:
            (place,) = np.flatnonzero(np.isclose(points, -np.exp(end.x), rtol=1e-6, atol=0).all(axis=1))
            found.add(int(place))
    assert len(found) >= count


def test_two_layers_have_the_best_minimum_known_and_the_gradient_vanishes_at_all_points() -> None:
    for noise in ("uniform-1", "levels-1-3-5"):
        loss = excess_loss(regression_named(noise), 2, 20, None)
        best = flat_weights(known_optimum(noise, 2).model)
        points = [np.asarray(point.weights) for point in two_layers(regression_named(noise))]
        assert min(np.abs(point / best - 1).max() for point in points) < 1e-6
        for point in points:
            deviations, jacobian = loss.deviations(point)
            slope, size = deviations @ jacobian, np.abs(deviations) @ np.abs(jacobian)
            assert np.abs(slope / size).max() < 1e4 * EPS


def test_a_point_that_is_not_critical_is_not_certified() -> None:
    """Newton's method from far away has not reached a point, and the test in balls detects it."""
    with pytest.raises((OutOfReach, ZeroDivisionError)):
        certified(slopes(regression_named("uniform-3"), 2), [5.0, 5.0, 5.0])


def test_small_weights_end_in_a_minimum_that_is_listed_and_is_not_the_best() -> None:
    noise = "uniform-1"
    loss, end = excess_loss(regression_named(noise), 2, 20, None), small_start(regression_named(noise), 2)
    values = sorted(
        loss(np.asarray(point.weights)) for point in two_layers(regression_named(noise)) if point.index == 0
    )
    assert end.index == 0
    assert loss(np.asarray(end.weights)) == pytest.approx(values[1], rel=1e-9)
    assert values[1] > 1.2 * values[0]


def test_the_moments_depend_on_the_size() -> None:
    """One layer without noise: -M[t] / M[t^2], -1/(n + d + 1)."""
    for d, n in ((1, 5), (3, 7), (5, 30)):
        point = certified(slopes(Prompts(d=d, n=n, sigma=UniformNoise(0.0)), 1), [-1 / (n + d)])
        assert point.weights[0] == pytest.approx(-1 / (n + d + 1), rel=4 * EPS)


@pytest.mark.parametrize("digits", [6, 40, 90])
def test_no_rounding_decides_whether_a_root_is_real(digits: int) -> None:
    """Two real roots a hair apart and two complex ones a hair from the axis, and a root of order two."""
    ring = fmpq_mpoly_ctx.get(("a", "b"), "lex")
    a, hair = ring.gens()[0], fmpq(1, 10 ** (2 * digits))
    for square, count in ((a**2 - hair, 2), (a**2 + hair, 0), ((a - 1) ** 2, 1)):
        with ctx.workprec(PRECISION):
            assert len(_real_roots(square * (a - 3), 0)) == count + 1
