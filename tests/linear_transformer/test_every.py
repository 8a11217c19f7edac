"""Bounds for every kappa, epsilon, n and d: against the exact numbers over their ranges; false twins are refused."""

import math

import numpy as np
import pytest
from flint import fmpq, fmpq_poly
from hypothesis import given, target
from hypothesis import strategies as st

from lipverify.foundation.means.samples import mean_with_half_width
from lipverify.linear_transformer.collapsed import readout
from lipverify.linear_transformer.regression.adjusted import evaluation
from lipverify.linear_transformer.regression.contexts import unit_contexts
from lipverify.linear_transformer.theory.every import (
    FAR,
    SLOPE,
    cosine_constant,
    layers_offset,
    mixed_moment,
    never_negative,
    radius_moment,
    ridge_constant,
)
from lipverify.linear_transformer.theory.expressive import mean_square_cosine
from lipverify.linear_transformer.theory.layer_counts import layers_needed
from lipverify.linear_transformer.theory.noise_adaptive import Order, TwoLevels, difference
from lipverify.linear_transformer.theory.second_order import METHODS

OFFSET = float(layers_offset())
PERCENT = fmpq(99, 100)


@given(st.floats(0, 70), st.integers(1, 400))
def test_whole_layers_are_never_more_than_is_proved(log_kappa: float, k: int) -> None:
    kappa = math.exp(log_kappa) if log_kappa > 1e-3 else 1.001
    needed = layers_needed(METHODS["minimax"], kappa, k)
    proved = math.log(kappa) / math.log(27 / 4) + math.log2(k * math.log(10)) + OFFSET
    target(needed / proved)
    assert needed <= proved


@pytest.mark.parametrize(("slope", "far"), [(SLOPE * PERCENT, FAR), (SLOPE, FAR * fmpq(9, 10))])
def test_a_steeper_or_earlier_inequality_is_refused(slope: fmpq, far: fmpq) -> None:
    with pytest.raises(ArithmeticError, match="more than is said"):
        layers_offset(slope, far)


def test_a_start_so_far_that_squaring_does_not_begin_is_refused() -> None:
    with pytest.raises(ArithmeticError, match="may be negative"):
        layers_offset(SLOPE, fmpq(9))


@given(st.integers(1, 30), st.integers(1, 10**6))
def test_the_best_cosine_is_within_its_bound_at_every_length(d: int, beyond: int) -> None:
    n = d + beyond
    found = mean_square_cosine(d, n)
    target(n * found.value / (d + 4))
    assert n * (found.value - found.error) <= d + 4


@pytest.mark.parametrize("claimed", [fmpq(495, 100), fmpq(4)])
def test_a_smaller_constant_of_the_cosine_is_refused(claimed: fmpq) -> None:
    with pytest.raises(ArithmeticError, match="does not follow"):
        cosine_constant(claimed)


def test_the_constant_of_the_cosine_is_its_limit() -> None:
    low, high = cosine_constant()
    assert low == high == 5


@pytest.mark.parametrize("j", [0, 1, 2])
def test_mixed_moments_are_those_of_normal_numbers(j: int) -> None:
    n, drawn = 5, np.random.default_rng(0).standard_normal((400_000, 5))
    values = np.sum(drawn**6, axis=1) * np.sum(drawn**4, axis=1) ** j
    exact = mixed_moment(j)(fmpq(n))
    error = values.std() / math.sqrt(len(values))
    assert error < 0.2 * values.mean()
    assert abs(values.mean() - int(exact.p) / int(exact.q)) < 5 * error


def test_moments_of_the_radius_are_those_of_chi_squared() -> None:
    assert radius_moment(6)(fmpq(3)) == 3 * 5 * 7


def test_a_polynomial_that_dips_below_zero_is_not_passed() -> None:
    dips = fmpq_poly([fmpq(99, 100), -2, 1])
    assert not never_negative(dips, 0)
    assert never_negative(dips, 2)


@given(
    st.sampled_from([1, 2]),
    st.sampled_from([(0.5, 1.0), (0.0, 1.0), (1.0, 3.0)]),
    st.sampled_from([1, 2]),
    st.sampled_from([("yx-yy", False), ("yy-yx", True)]),
    st.integers(3, 10**6),
    st.floats(1, 100),
)
def test_two_layers_are_as_near_to_ridge_as_is_proved(
    d: int, pair: tuple[float, float], level: int, order: tuple[Order, bool], n: int, farther: float
) -> None:
    proved = float(ridge_constant(*pair, level, d, n, yy_first=order[1]))
    at, model = math.floor(n * farther), TwoLevels(*pair)
    exact = difference(d, at, pair[level - 1], -model.c, model.v / at, order[0])
    target(at * exact.square / proved)
    assert at * (exact.square - exact.square_error) <= proved


@pytest.mark.parametrize(("order", "yy_first"), [("yx-yy", False), ("yy-yx", True)])
def test_in_five_dimensions_sampled_contexts_are_within_the_bound(order: Order, yy_first: bool) -> None:
    d, n, sigma, model = 5, 2000, 1.0, TwoLevels(0.5, 1.0)
    drawn = unit_contexts(d, n, sigma, 4000, 0, f"every/{order}")
    layers = [layer.layer(d) for layer in model.layers(n, order)]
    missed = n * np.mean((readout(drawn.gram, layers).w - evaluation(drawn).oracle) ** 2, axis=1)
    value, error = mean_with_half_width(missed)
    assert error < 0.2 * value
    assert value - error < float(ridge_constant(0.5, 1.0, 2, d, n, yy_first=yy_first))
