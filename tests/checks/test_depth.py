"""Layers that consist of attention alone: two antipodes in closed form, and the odds of two labels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lipverify.checks.softmax import gaussian, layers


@pytest.mark.parametrize("w", [0.3, 1.0, 4.0])
def test_antipodes_contract_by_a_hyperbolic_tangent(w: float) -> None:
    poles = np.array([[1.0, 0.0], [-1.0, 0.0]])
    ratio = layers.diameter(layers.attended(poles, w)) / layers.diameter(poles)
    assert ratio == pytest.approx(math.tanh(w), rel=1e-14)
    assert ratio < 1 - math.exp(-2 * w)


def test_no_context_contracts_less_than_the_bound_and_a_residual_spreads() -> None:
    largest, error = layers.contraction(0.8, 3, 8, seed=5)
    assert math.tanh(0.8) - error <= largest <= 1 - math.exp(-1.6) + error
    assert layers.contraction(0.8, 3, 8, seed=5, residual="yes")[0] > 1


def test_odds_move_from_the_second_layer_on() -> None:
    assert layers.odds_moved(2.0, 1) < 1e-12
    assert layers.odds_moved(2.0, 2) > 1e-3


def test_the_steepest_prediction_is_that_of_antipodes() -> None:
    assert gaussian.steepest(3.0, 4, 6, seed=1)[0] == pytest.approx(1, rel=1e-13)
