"""Losses of tuned windows elsewhere: against homogeneity, another quadrature, and with a wrong window."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms, optimal_window
from lipverify.laws import law_named
from lipverify.optimum.transfer import quotient, transferred_loss, transfers  # internal: before it is a ratio
from tests.strategies import target

Family = tuple[str, float]
FAMILIES: tuple[Family, ...] = (("affine", 1.0), ("relu", 1.0), ("cosine", 1.0), ("cosine", 10.0))


def problem(family: Family, d: int, n: float) -> Problem:
    """A problem with sigma = 1."""
    return Problem(d=d, n=n, law=law_named(family[0], L=family[1]), sigma=1.0)


@pytest.mark.parametrize("family", FAMILIES)
def test_on_its_own_problem_the_transferred_loss_is_the_optimum(family: Family) -> None:
    home = problem(family, 3, 1e6)
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
    tuned = optimal_window(problem((law, 1.0), d, n))
    loss, error = transferred_loss(tuned, problem((law, ratio), d, n))
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
    found = transfers({"one": problem(("affine", 1.0), d, n), "other": problem(("affine", L), d, n)}, tested=["other"])
    (mistuned, slack), (tuned, error) = found["one on other"], found["other on other"]
    assert mistuned >= 1 - slack
    assert abs(tuned - 1) <= error
    assert "one on one" not in found


@pytest.mark.parametrize(("trained", "tested"), [(FAMILIES[1], FAMILIES[2]), (FAMILIES[3], FAMILIES[0])])
def test_the_zonal_quadrature_finds_the_same(trained: Family, tested: Family) -> None:
    tuned, away = optimal_window(problem(trained, 4, 1e5)), problem(tested, 4, 1e5)
    loss, error = transferred_loss(tuned, away)
    other = loss_terms(away, tuned.w, route="zonal")
    assert abs(loss - float(other.total)) <= error + float(other.total_error)
    assert error + float(other.total_error) <= 1e-6 * loss


def test_an_error_of_the_window_shows_in_the_loss() -> None:
    tuned = optimal_window(problem(("affine", 1.0), 4, 1e6))
    away = problem(("affine", 3.0), 4, 1e6)
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
