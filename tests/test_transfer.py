"""Losses of tuned windows elsewhere: against homogeneity, another quadrature, closed forms, and with a wrong window."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st
from scipy.special import ive

from lipverify import loss_terms, optimal_window
from lipverify.claims.softmax.rays import problem
from lipverify.claims.softmax.transfer import (
    Family,
    along_tested,
    along_units,
    compared,
    factor_table,
    fixed_window,
    rough_waves,
    transferred_at,
    transferred_loss,
    transfers,
)
from lipverify.scaling import growth_of

FAMILIES: tuple[Family, ...] = (("affine", 1.0), ("relu", 1.0), ("cosine", 1.0), ("cosine", 10.0))


@pytest.mark.parametrize("family", FAMILIES)
def test_at_home_the_loss_is_that_of_the_optimum(family: Family) -> None:
    home = problem(family[0], 3, 1e6, family[1])
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
    tuned = optimal_window(problem(law, d, n))
    loss, error = transferred_loss(tuned, problem(law, d, n, ratio))
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
    table = factor_table((("affine", 1.0), ("affine", L)), (("affine", L),), d, n, 1.0)
    (mistuned, slack), (tuned, error) = table.factors[0][0], table.factors[1][0]
    assert mistuned >= 1 - slack
    assert abs(tuned - 1) <= error


@pytest.mark.parametrize(("trained", "tested"), [(FAMILIES[1], FAMILIES[2]), (FAMILIES[3], FAMILIES[0])])
def test_the_zonal_quadrature_finds_the_same(trained: Family, tested: Family) -> None:
    tuned, away = optimal_window(problem(trained[0], 4, 1e5, trained[1])), problem(tested[0], 4, 1e5, tested[1])
    loss, error = transferred_loss(tuned, away)
    other = loss_terms(away, tuned.w, route="zonal")
    assert abs(loss - float(other.total)) <= error + float(other.total_error)
    assert error + float(other.total_error) <= 1e-6 * loss


def test_an_error_of_the_window_shows_in_the_loss() -> None:
    tuned = optimal_window(problem("affine", 4, 1e6))
    away = problem("affine", 4, 1e6, 3.0)
    uncertain = msgspec.structs.replace(tuned, w_error=1e-2 * tuned.w)
    loss, error = transferred_loss(uncertain, away)
    moved = float(loss_terms(away, tuned.w * (1 + 1e-2)).total)
    assert error == pytest.approx(abs(moved - loss), rel=0.1)
    assert transferred_loss(tuned, away)[1] < 1e-4 * error


@pytest.mark.parametrize("method", ["montecarlo", "asymptotic"])
def test_methods_agree_on_a_transferred_loss(method: str) -> None:
    n = 100.0 if method == "montecarlo" else 1e30
    where = (("affine", 1.0), ("relu", 2.0), 3, n)
    exact, exact_error = transferred_at(*where, "exact", 0, 0)
    other, error = transferred_at(*where, method, 40_000, 0)
    assert abs(exact - other) <= 2 * (error + exact_error)
    assert error <= 0.1 * other


def test_tables_and_ladders_hold_the_same_numbers() -> None:
    families = FAMILIES[0], FAMILIES[2]
    ladder = transfers(families, families, 3, 8, home=False, start=1e6)
    table = factor_table(families, families, 3, ladder.n[0], 1.0)
    for i in range(2):
        for j in range(2):
            value, error = table.factors[i][j]
            growth = ladder.factors[i][j]
            assert abs(growth.values[0] - value) <= error + value * growth.value_errors[0]


def test_home_factors_are_over_the_loss_at_home() -> None:
    ladder = transfers((("affine", 1.0),), (("affine", 1.0), ("affine", 3.0)), 3, 8, home=True)
    ratio = compared(ladder.losses[0][1], ladder.losses[0][0])
    np.testing.assert_allclose(ratio.values, ladder.factors[0][1].values, rtol=1e-9)
    assert min(ratio.values) > 2


def test_compared_is_the_growth_of_the_ratio() -> None:
    s = np.geomspace(1, 1e6, 9)
    ratio = compared(growth_of(s, 3 * s**0.7), growth_of(s, 2 * s**0.2))
    assert abs(ratio.exponent - 0.5) <= ratio.error < 1e-9
    assert ratio.constant == pytest.approx(1.5, rel=1e-6)
    assert ratio.value_errors == pytest.approx(tuple(2e-12 for _ in s))


def test_the_unit_of_y_changes_nothing_but_the_unit() -> None:
    growth = along_units("affine", 3, 1e4, 8)
    assert abs(growth.exponent + 2) <= growth.error < 1e-9


@pytest.mark.parametrize(("larger", "power"), [(True, 2.0), (False, 0.0)])
def test_along_the_tested_constant(larger: bool, power: float) -> None:
    growth = along_tested("affine", 3, 1e4, 9, larger)
    tuned = optimal_window(problem("affine", 3, 1e4))
    limit, error = growth.limit_of_ratio(power)
    assert abs(limit - (tuned.bias if larger else tuned.noise)) <= error
    assert error <= 1e-3 * limit


def test_a_fixed_window_ends_at_its_bias() -> None:
    w = optimal_window(problem("affine", 3, 100)).w
    growth = fixed_window(("affine", 1.0), ("affine", 1.0), 3, 100.0, 12)
    limit, error = growth.limit_of_ratio(0.0)
    assert abs(limit - (1 - ive(1.5, w) / ive(0.5, w)) ** 2 / 9) <= error < 1e-6 * limit


def test_waves_are_one_lipschitz_and_cost_more_and_more() -> None:
    waves = rough_waves(2, 8, 1e8)
    assert all(factor > 1 for factor in waves.factor.values)
    assert np.all(np.diff(waves.factor.values) > 0)
    n = waves.loss.s[0]
    k = math.sqrt(optimal_window(problem("affine", 2, n)).w)
    # the noise of cos(k z) / k is that of any law: it does not see the amplitude
    noise = optimal_window(problem("affine", 2, n)).noise
    assert noise < waves.loss.values[0] < noise + 1 / k**2
