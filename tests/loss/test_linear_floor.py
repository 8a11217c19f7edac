"""Linear attention in closed form: against sampling at any M, its own definition, and false statements."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from lipverify import Problem, loss_terms
from lipverify.checks.softmax import linear_floor
from lipverify.laws import Affine, Cosine, Quadratic, ReLU, Ridge, WithOffset, Zonal
from lipverify.loss.asymptotic import d, sigma, w
from lipverify.loss.asymptotic import n as length
from lipverify.loss.linear import linear_attention  # internal: the closed form, before it is minimised

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


def test_the_crossing_is_a_crossing() -> None:
    middle, error = linear_floor.crossing("affine", "offset", 3, 0.3)
    assert error < 0.05 * middle
    behind, ahead = (round((middle + sign * error) / 0.3**2) for sign in (-1, 1))
    for n, wins in ((behind, False), (ahead, True)):
        assert (
            linear_floor.softmax("affine", 3, n, 0.3)[0] < linear_floor.linear("affine", "offset", 3, n, 0.3)[0]
        ) == wins
    assert linear_floor.crossing("affine", "no-offset", 3, 0.3)[1] == np.inf
