"""GD++ as a second-order method: the recursion, its weights and its counts compared with independent code."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.checks.linear_transformers.balls import matrix_residual, recursion_residual
from lipverify.checks.linear_transformers.condition_numbers import (
    MINIMAX,
    UNIVERSAL,
    Method,
    chebyshev_weights,
    improved,
    residual,
)
from lipverify.checks.linear_transformers.layer_counts import (
    chebyshev_log_condition_reached,
    chebyshev_steps,
    layers_needed,
    least_layers,
    log_condition_reached,
    log_log_accuracy_reached,
)
from lipverify.linear_transformer import GDPlusPlus
from lipverify.linear_transformer.gdplusplus.loss import follow  # internal: the recursion on one eigenvalue
from tests.strategies import log_floats, target

EPS = float(np.finfo(float).eps)
METHODS = (MINIMAX, UNIVERSAL)


@given(t=log_floats(1e-3, 1.0), layers=st.integers(1, 6), method=st.sampled_from(METHODS))
def test_the_residual_is_one_less_the_prediction(t: float, layers: int, method: Method) -> None:
    state = follow(arb(t), method.weights(arb(10), layers))
    assert (state.r - (1 - arb(t) * state.p)).contains(0)
    assert (state.s - arb(t) * state.m**2).contains(0)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name.split()[0])
@pytest.mark.parametrize("kappa", [1.5, 10.0, 1e3])
@pytest.mark.parametrize("layers", [1, 2, 4])
def test_the_condition_number_gives_the_worst_residual_of_a_spectrum(method: Method, kappa: float, layers: int) -> None:
    """On a fine grid: the worst point is an end, which the grid contains; the control is a weight one percent off."""
    t, weights = np.geomspace(1 / kappa, 1, 20_001), method.weights(kappa, layers)
    excess = kappa - 1
    for _ in range(layers - 1):
        excess = method.improve(excess)
    worst = float(np.max(np.abs(follow(t, weights).r)))
    # rounding of s, near 1 in its own units, enters r as it is
    allowed = 64 * layers * EPS * math.sqrt(kappa)
    assert abs(worst - residual(excess)) <= allowed
    off = (GDPlusPlus(1.01 * weights[0].xx, 1.01 * weights[0].yx), *weights[1:])
    assert float(np.max(np.abs(follow(t, off).r))) > residual(excess) + allowed


@given(kappa=log_floats(1.1, 1e8), factor=st.floats(0.5, 1.5))
def test_no_other_weight_brings_the_ends_closer(kappa: float, factor: float) -> None:
    """Largest over smallest s (1 + xx s)^2 on [1/kappa, 1]; the interior maximum is at s = -1 / (3 xx)."""
    xx = factor * MINIMAX.step(1 / kappa, 1.0)
    inside = -1 / (3 * xx)
    places = [1 / kappa, 1.0] + ([inside] if 1 / kappa < inside < 1 else [])
    images = [s * (1 + xx * s) ** 2 for s in places]
    # where 1 + xx s changes sign an eigenvalue is lost
    quotient = max(images) / min(images) if -1 / xx > 1 else math.inf
    ratio = (1 + improved(kappa - 1)) / quotient
    target(ratio)
    assert ratio <= 1 + 64 * EPS * kappa


def test_extended_precision_agrees_with_matrices() -> None:
    """Balls that were computed separately: they overlap, and are disjoint for one more layer."""
    for kappa, layers in ((2.0, 8), (100.0, 8)):
        (one, error), (other, other_error) = (
            recursion_residual(kappa, layers),
            matrix_residual(kappa, layers, seed=0, d=3),
        )
        assert abs(one - other) <= error + other_error < 1e-9
        assert abs(recursion_residual(kappa, layers + 1)[0] - other) > 1


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name.split()[0])
def test_the_reach_in_accuracy_is_that_of_balls(method: Method) -> None:
    for kappa, layers in ((2.0, 3), (2.0, 12), (1e3, 16)):
        with ctx.workprec(512):
            excess = arb(kappa) - 1
            for _ in range(layers - 1):
                excess = method.improve(excess)
            wanted = float((-residual(excess).log()).log())
        assert abs(log_log_accuracy_reached(method, kappa, layers) - wanted) <= 1e-12 * max(1.0, abs(wanted))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name.split()[0])
@given(decades=st.integers(1, 8), layers=st.integers(3, 40))
@settings(max_examples=25)
def test_the_reach_in_kappa_is_where_the_count_changes(method: Method, decades: int, layers: int) -> None:
    kappa = math.exp(log_condition_reached(method, 10.0**-decades, layers))
    if kappa > 1 + 1e-6:
        assert layers_needed(method, 1 + (kappa - 1) * (1 - 1e-9), decades) == layers
        assert layers_needed(method, 1 + (kappa - 1) * (1 + 1e-9), decades) == layers + 1


@given(layers=st.integers(1, 5), epsilon=st.floats(0.35, 0.9))
def test_chebyshev_weights_reach_their_stated_accuracy(layers: int, epsilon: float) -> None:
    log_kappa = chebyshev_log_condition_reached(epsilon, layers)
    t = np.geomspace(math.exp(-log_kappa), 1, 4001)
    r = np.abs(follow(t, chebyshev_weights(layers)).r)
    theta, n = np.arcsin(np.sqrt(t)), 3**layers
    np.testing.assert_allclose(r, np.abs(np.sin(n * theta) / (n * np.sin(theta))), rtol=0, atol=1e3 * n * EPS)
    assert abs(float(r.max()) - epsilon) <= 1e3 * n * EPS
    assert least_layers(log_kappa, epsilon) <= layers


@given(
    kappa=log_floats(2, 1e4), weights=st.lists(st.tuples(st.floats(-1, 0), st.floats(-3, 0)), min_size=1, max_size=3)
)
def test_no_weights_beat_the_lower_bound(kappa: float, weights: list[tuple[float, float]]) -> None:
    t = np.geomspace(1 / kappa, 1, 2001)
    left = float(np.max(np.abs(follow(t, [GDPlusPlus(*each) for each in weights]).r)))
    if 0 < left < 1:
        bound = least_layers(math.log(kappa), left)
        target(bound - len(weights))
        # the grid may miss the maximum by its curvature
        assert bound <= len(weights) + 1e-2


def test_the_bound_is_attained_by_one_gradient_step() -> None:
    assert abs(chebyshev_steps(7.0, 0.75) - 1) <= 8 * EPS
    assert abs(least_layers(math.log(7.0), 0.75) - 1) <= 8 * EPS
