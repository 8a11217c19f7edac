"""The scaled prediction and linear attention: compared with sampling, with their definitions, and at their optima."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ive

from lipverify import Problem, loss_terms
from lipverify.checks.softmax import linear_floor, value_matrix
from lipverify.laws import Affine, Cosine, Law, Quadratic, ReLU, Ridge, WithOffset, Zonal
from lipverify.loss.asymptotic import d, sigma, w
from lipverify.loss.asymptotic import n as length
from lipverify.loss.exact import weighted_mean
from lipverify.loss.linear import linear_attention  # internal: the closed form, before it is minimised
from lipverify.loss.scaled import scaled_loss  # internal: the loss at a scale that is not the best one
from lipverify.optimum import optimal_scale
from tests.strategies import lengths


@pytest.mark.parametrize("d", [2, 3, 8])
def test_the_mean_of_t_in_the_limit_of_many_tokens_is_a_ratio_of_bessel_functions(d: int) -> None:
    w = np.array([0.5, 5.0, 50.0])
    mean, error = weighted_mean(d, 1e14, w, lambda token: (token.far - token.near) / 2, size=1.0)
    limit = ive(d / 2, w) / ive(d / 2 - 1, w)
    # the difference is of the order of one divided by the number of tokens in the window
    assert np.all(np.abs(mean - limit) <= error + 1e-14 * w ** ((d - 1) / 2) * 10)


@pytest.mark.parametrize("n", [2, 10, 1000])
def test_weights_sum_to_one(n: int) -> None:
    mean, error = weighted_mean(4, n, np.array([0.3, 3.0, 30.0]), lambda token: np.ones_like(token.near))
    assert np.all(np.abs(mean - 1) <= error)
    assert np.all(error < 1e-10)


@pytest.mark.parametrize("law", ["affine", "relu"])
@pytest.mark.parametrize("reading", ["offset", "no-offset"])
def test_the_best_scale_agrees_with_sampling(law: str, reading: str) -> None:
    excess, _ = value_matrix.best_scale(law, reading, 3, 20)["excess"]
    sampled, error = value_matrix.sampled_scale(law, 3, 20, 32_000, 1)[reading]
    assert error < 0.1 * abs(excess), "too wide to tell c* from 1"
    assert abs(sampled - 1 - excess) <= 2 * error


def test_no_scale_does_better_than_the_best_one() -> None:
    problem, beta = Problem(d=3, n=300, law=ReLU()), 1 / 3
    found = scaled_loss(problem, [2.0, 8.0], beta)
    signal = 1 / 9 + beta  # E f^2
    for c in (0.5, 0.9, 1.0, 1.1, 2.0):
        loss = c**2 * found.power - 2 * c * (signal - found.gap) + signal
        assert np.all(loss >= found.least - found.least_error)
    at_best = found.c**2 * found.power - 2 * found.c * (signal - found.gap) + signal
    assert np.allclose(at_best, found.least, rtol=1e-12)
    assert np.allclose(found.unscaled, loss_terms(problem, [2.0, 8.0]).total, rtol=1e-15)


def test_the_joint_optimum_is_one() -> None:
    problem = Problem(d=3, n=1e6, law=Affine())
    found = optimal_scale(problem, 1 / 3)
    around = scaled_loss(problem, found.w * np.array([0.98, 1.02]), 1 / 3)
    assert found.w_error < 1e-6 * found.w
    assert np.all(around.least > found.loss + found.loss_error)


@settings(max_examples=6)
@given(
    law=st.sampled_from([Affine(), ReLU()]),
    d=st.integers(2, 8),
    n=lengths(30, 1e6),
    offset=st.sampled_from([0.0, 1 / 3]),
)
def test_the_joint_optimum_states_c_and_the_loss_correctly(law: Law, d: int, n: float, offset: float) -> None:
    """Compared with values at w itself; without an offset, longer contexts of the affine law lose digits."""
    problem = Problem(d=d, n=n, law=law)
    found = optimal_scale(problem, offset)
    at = scaled_loss(problem, [found.w], offset)
    assert found.excess_error < 1e-5 > found.loss_error / found.loss, "too wide to see anything"
    assert abs(found.excess - at.excess[0]) <= found.excess_error + at.excess_error[0]
    assert abs(found.loss - at.least[0]) <= found.loss_error + at.least_error[0]
    assert found.c == 1 + found.excess


def test_the_joint_optimum_of_linear_functions_is_a_window_of_fixed_width() -> None:
    early, late = (optimal_scale(Problem(d=3, n=n, law=Affine())) for n in (1e5, 1e7))
    assert abs(early.w / late.w - 1) < 0.01
    limit = float(ive(0.5, late.w) / ive(1.5, late.w))
    # the rest of c* - 1/r is of the order of 1/n, as the loss is
    assert abs(late.c - limit) < 1e-4 < abs(late.c - 1)
    assert abs(early.loss / late.loss / 100 - 1) < 0.01


def test_the_first_rows_are_ignored_and_the_last_is_not() -> None:
    assert value_matrix.change().terms == 0
    assert value_matrix.change(last=1).terms > 0


# Linear attention in closed form: against sampling at any M, its own definition, and false statements.


LAWS = {"affine": Affine(), "relu": ReLU()}


@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("law", LAWS)
def test_the_loss_of_every_matrix_is_the_quadratic_of_the_docstring(law: str, offset: bool) -> None:
    M, n, at = (
        np.array([[1.0, 0.7, 0.0], [-0.4, 0.2, 0.3], [0.0, 0.5, -0.6]]),
        7,
        {"d": 3, "n": 7, "L": 1.0, "sigma": 0.5},
    )
    form = linear_attention(LAWS[law], offset)
    square, slope = sympy.Poly(form.loss, w).coeff_monomial(w**2), sympy.Poly(form.loss, w).coeff_monomial(w)
    expected = (
        form.at(square, **at) * np.sum(M * M) / 3 + form.at(slope, **at) * np.trace(M) / 3 + form.at(form.power, **at)
    )
    full = Problem(d=3, n=n, law=WithOffset(LAWS[law]) if offset else LAWS[law], sigma=0.5)
    terms = loss_terms(
        full, [1.0], "montecarlo", M=M, attention="linear", contexts=60_000, seed=3, stream=f"{law}/{offset}"
    )
    error = float(terms.total_error[0])
    assert error < 0.03 * expected, "too wide to tell"
    assert abs(float(terms.total[0]) - expected) <= 2 * error


@pytest.mark.parametrize("law", [Affine(), ReLU(), Quadratic(), Cosine(), Zonal(spectrum=(0.5, 0.25, 0.25))])
def test_the_window_is_where_the_loss_is_least_and_the_least_loss_is_there(law: object) -> None:
    form = linear_attention(law)  # type: ignore[arg-type]
    assert sympy.simplify(sympy.diff(form.loss, w).subs(w, form.window)) == 0
    assert sympy.simplify(form.loss.subs(w, form.window) - form.least) == 0
    if form.linear_power != 0:
        formula = form.power - form.linear_power**2 / (
            form.linear_power + (d * (form.power + sigma**2) - form.linear_power) / length
        )
        assert sympy.simplify(form.least - formula) == 0
    assert sympy.simplify(form.floor - (form.power - form.linear_power)) == 0


def test_an_even_law_is_not_learned() -> None:
    form = linear_attention(Quadratic())
    assert form.window == 0
    assert form.floor == form.power


def test_a_link_and_the_named_law_that_it_is_agree() -> None:
    named, own = linear_attention(Quadratic()), linear_attention(Ridge(lambda z: z * z))
    at = {"d": 4, "n": 9, "sigma": 1.0, "L": 1.0}
    assert named.at(named.least, **at) == own.at(own.least, **at)


@given(
    law=st.sampled_from(sorted(LAWS)),
    offset=st.booleans(),
    dimension=st.integers(2, 30),
    n=st.integers(1, 10**9),
    L=st.floats(0.01, 100),
)
def test_the_least_loss_falls_with_n_and_stays_above_the_floor(
    law: str, offset: bool, dimension: int, n: int, L: float
) -> None:
    form = linear_attention(LAWS[law], offset)
    here, later = (form.at(form.least, d=dimension, n=many, L=L, sigma=1.0) for many in (n, 2 * n))
    assert form.at(form.floor, d=dimension, L=L) < later < here <= form.at(form.power, d=dimension, L=L)


def test_a_loss_that_is_a_tenth_larger_would_be_noticed() -> None:
    found = linear_floor.sampled("relu", "offset", 3, 30, 8192, 0)
    for value, error in (found["at w I"], found["over all M"]):
        assert abs(value - 1) <= 2 * error
        assert abs(value - 1.1) > 2 * error
