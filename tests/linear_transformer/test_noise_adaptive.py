"""Two layers for two noise levels: closed forms against samples at six standard errors, limits, linear programming."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.checks.linear_transformers.two_levels import (
    ORDERS,
    Order,
    TwoLevels,
    alternating,
    difference,
    leading_mean,
    leading_square,
    sampled_square,
    worst_at,
)
from lipverify.errors import OutOfReach
from tests.strategies import target

EPS = float(np.finfo(float).eps)
SIGMAS = 6
"""The tolerance of sampled values in standard errors."""


@given(sigma_1=st.floats(0, 10), sigma_2=st.floats(0, 10))
def test_two_layers_meet_ridge_at_both_levels_and_nowhere_else(sigma_1: float, sigma_2: float) -> None:
    model = TwoLevels(sigma_1, sigma_2)
    for level, sigma in enumerate((sigma_1, sigma_2)):
        error = abs(model.shrinkage(sigma) * (1 + sigma**2) - 1) / (16 * EPS * (1 + sigma**2))
        target(error, label=f"level {level}")
        assert error <= 1
    other = max(sigma_1, sigma_2) + 1
    assert model.shrinkage(other) * (1 + other**2) < 1 - 1e-6


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("d", "n"), [(1, 60), (2, 60)])
def test_the_distance_from_ridge_is_that_of_sampled_contexts(order: Order, d: int, n: int) -> None:
    """The half-width is 1.96 standard errors; the control is the other order."""
    value, half_width = sampled_square(d, n, order, 200_000, seed=11, pair=(0.5, 3.0))
    found = {o: n * difference(d, n, 3.0, -TwoLevels(0.5, 3.0).c, TwoLevels(0.5, 3.0).v / n, o).square for o in ORDERS}
    allowed = SIGMAS * half_width / 1.96
    assert abs(value - found[order]) <= allowed
    (other,) = set(ORDERS) - {order}
    assert abs(value - found[other]) > allowed


@pytest.mark.parametrize("order", ORDERS)
@given(d=st.integers(1, 2), sigma_1=st.floats(0, 3), sigma_2=st.floats(0, 3))
@settings(max_examples=20)
def test_n_times_the_distance_tends_to_the_derived_limits(order: Order, d: int, sigma_1: float, sigma_2: float) -> None:
    """The remainder is O(1/n): it halves as n doubles, and is small relative to the limit."""
    model, n = TwoLevels(sigma_1, sigma_2), 2.0**14
    gaps = []
    for length in (n, 2 * n):
        found = difference(d, length, sigma_1, -model.c, model.v / length, order)
        gaps.append(
            (
                length * found.square - leading_square(model, d, sigma_1),
                length * found.mean - leading_mean(model, d, sigma_1, order),
            )
        )
    for one, half in zip(*gaps, strict=True):
        assert abs(one - 2 * half) <= 0.01 * abs(one) + 1e-6
        assert abs(one) < 0.1


def test_more_levels_than_weights_leave_an_error() -> None:
    for case in ((0.0, 1.0, 2.0), (1.0, 3.0, 5.0)):
        other, allowed = alternating(*case), 1e3 * EPS
        assert abs(worst_at(tuple(sigma**2 for sigma in case)) - other) <= allowed < other
    assert worst_at((0.3, 2.0)) <= 1e3 * EPS


def test_a_difference_without_exact_moments_is_out_of_reach() -> None:
    with pytest.raises(OutOfReach) as refusal:
        difference(3, 10, 1.0, -0.5, -0.1)
    assert "\n" not in str(refusal.value)
