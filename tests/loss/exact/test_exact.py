"""The exact method compared with high-precision references, closed forms and the laws that every problem obeys."""

from __future__ import annotations

import json
import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from lipverify import LossTerms, Problem, loss_terms
from lipverify.errors import OutOfReach
from lipverify.laws import Affine, Cosine, Law, Quadratic, ReLU, law_named
from lipverify.loss.exact import LARGEST
from lipverify.loss.exact.quadrature import Grading  # internal: a coordinate against its inverse
from lipverify.loss.exact.ridge import absolute  # internal: one term, whose digits a loss would hide
from lipverify.properties import noise_is_between
from tests import ROOT
from tests.strategies import few_tokens_a_window, laws, lengths, log_floats, problems, target

EPS = float(np.finfo(float).eps)
PROMISED = 1e-9
"""Relative accuracy for d in 2..20, n in 2..1e30, w in 0..1e4."""
VALUES = json.loads((ROOT / "tests/reference/values.json").read_text())


def term(terms: LossTerms, quantity: str) -> tuple[float, float]:
    return float(getattr(terms, quantity)), float(getattr(terms, f"{quantity}_error"))


def label(row: dict[str, Any]) -> str:
    return f"{row['law']}-{row['quantity']}-d{row['d']}-n{row['n']}-w{row['w']:g}"


DEAR = ("relu-bias-d8-n2-w20", "relu-bias-d4-n2-w1000", "relu-bias-d2-n2-w1000", "relu-bias-d3-n2-w5")
"""Two seconds each; other cases with two tokens remain."""


def marked(row: dict[str, Any]) -> Any:
    return pytest.param(row, id=label(row), marks=[pytest.mark.slow] * (label(row) in DEAR))


@pytest.mark.parametrize("row", [marked(row) for row in VALUES])
def test_agrees_with_the_high_precision_reference(row: dict[str, Any]) -> None:
    law = law_named(row["law"], L=math.sqrt(1.0))
    value, error = term(loss_terms(Problem(d=row["d"], n=int(row["n"]), law=law), row["w"]), row["quantity"])
    truth = float(row["value"])
    known = 10.0 ** -row["digits"] * truth
    assert row["digits"] >= 9, "the reference is too blunt to test anything"
    assert abs(value - truth) <= error + known
    assert error <= PROMISED * truth


@pytest.mark.parametrize("law", [Affine(), ReLU()])
@pytest.mark.parametrize("d", [2, 3, 8, 20])
@pytest.mark.parametrize("n", [2, 100, 1e30])
def test_the_window_zero_limit_is_the_closed_form(law: Law, d: int, n: float) -> None:
    problem = Problem(d=d, n=n, law=law, sigma=1.3)
    at, near = loss_terms(problem, 0.0), loss_terms(problem, 1e-11)
    assert abs(float(at.noise) - 1.3**2 / n) <= float(at.noise_error)
    for quantity in ("noise", "bias"):
        (value, error), (close, close_error) = term(at, quantity), term(near, quantity)
        # both terms are smooth in w with slopes of order one
        assert abs(value - close) <= error + close_error + 4e-11 * value


@pytest.mark.parametrize("law", [Affine(), ReLU()])
@pytest.mark.parametrize("w", [0.0, 0.3, 40.0, 1e4])
def test_one_token_gets_all_the_weight(law: Law, w: float) -> None:
    terms = loss_terms(Problem(d=4, n=1, law=law), w)
    assert float(terms.noise) == 1.0
    variance = {"affine": 1 / 4, "relu": 0.5 * (2 / 4 - (4 / (3 * math.pi)) ** 2)}[law.name]
    assert abs(float(terms.bias) - 2 * variance / 3) <= float(terms.bias_error) + 4 * EPS * variance


@example(d=2, n=2, w=1e4)
@example(d=2, n=1e30, w=1e-3)
@example(d=20, n=2, w=1e4)
@example(d=20, n=1e30, w=1e4)
@given(d=st.integers(2, 20), n=lengths(), w=log_floats(1e-6, 1e4))
def test_affine_reaches_its_accuracy_and_its_bounds_everywhere(d: int, n: float, w: float) -> None:
    terms = loss_terms(Problem(d=d, n=n, law=Affine()), w)
    for quantity in ("noise", "bias"):
        value, error = term(terms, quantity)
        target(math.log10(error / value), label=f"relative {quantity} error")
        assert value > 0
        assert error <= PROMISED * value
    target(noise_is_between(terms), label="noise beyond its bounds")


@given(d=st.integers(2, 20), n=lengths(), w=log_floats(1e-3, 1e4))
def test_relu_reaches_its_accuracy(d: int, n: float, w: float) -> None:
    assume(not few_tokens_a_window(d, n, w))
    value, error = term(loss_terms(Problem(d=d, n=n, law=ReLU()), w), "bias")
    target(math.log10(error / value), label="relative bias error")
    assert 0 < error <= PROMISED * value


@pytest.mark.parametrize(("d", "n", "w"), [(2, 2, 1e4), (3, 2, 100.0), (5, 100, 5.0), (2, 3, 1.0)])
def test_relu_reaches_its_accuracy_where_windows_hold_few_tokens(d: int, n: int, w: float) -> None:
    value, error = term(loss_terms(Problem(d=d, n=n, law=ReLU()), w), "bias")
    assert 0 < error <= PROMISED * value


@settings(max_examples=8)
@given(problem=problems(), w=log_floats(1e-3, 1e3), factor=log_floats(0.1, 10))
def test_bias_goes_as_L_squared_and_noise_as_sigma_squared(problem: Problem, w: float, factor: float) -> None:
    assume(not few_tokens_a_window(problem.d, float(problem.n), w))
    assert isinstance(problem.law, Affine | ReLU)
    law = type(problem.law)(L=problem.law.L * factor)
    one = loss_terms(problem, w)
    rough, noisy = (
        loss_terms(problem.replace(law=law), w),
        loss_terms(problem.replace(sigma=problem.sigma * factor), w),
    )
    # (L factor)^2 and L^2 factor^2 are three roundings each
    assert float(rough.bias) == pytest.approx(float(one.bias) * factor**2, rel=4 * EPS)
    assert float(rough.noise) == float(one.noise)
    assert float(noisy.noise) == pytest.approx(float(one.noise) * factor**2, rel=4 * EPS)
    assert float(noisy.bias) == float(one.bias)


@given(d=st.integers(2, 20), n=lengths(), w=log_floats(1e-3, 1e3))
def test_noise_grows_with_w_and_falls_with_n(d: int, n: float, w: float) -> None:
    assume(n < 1e29)
    problem = Problem(d=d, n=n, law=Affine())
    wide, narrow = loss_terms(problem, w), loss_terms(problem, 1.1 * w)
    assert wide.noise - narrow.noise <= wide.noise_error + narrow.noise_error
    assert float(loss_terms(problem.replace(n=2 * n), w).noise) < float(wide.noise)


@given(law=laws(), n=lengths(high=1e12), w=st.lists(log_floats(0.01, 20), min_size=1, max_size=3))
@example(law=Affine(), n=1e8, w=np.geomspace(1e-2, 1e5, 9).tolist())
@example(law=ReLU(), n=1e8, w=np.geomspace(1e-2, 1e5, 9).tolist())
@example(law=Cosine(L=4.0), n=1e8, w=np.geomspace(1e-2, 1e5, 9).tolist())
def test_an_array_of_windows_is_each_window_by_itself(law: Law, n: float, w: list[float]) -> None:
    problem = Problem(d=3, n=n, law=law)
    assume(not any(few_tokens_a_window(3, n, one) for one in w))
    together = loss_terms(problem, np.array([w]))
    assert together.bias.shape == (1, len(w))
    for j, one in enumerate(w):
        alone = loss_terms(problem, one)
        # w that share a pass share the number of panels, so the last digits may differ
        assert abs(together.bias[0, j] - alone.bias) <= together.bias_error[0, j] + alone.bias_error
        assert abs(together.noise[0, j] - alone.noise) <= together.noise_error[0, j] + alone.noise_error
        assert together.bias_error[0, j] <= PROMISED * alone.bias


@given(d=st.integers(2, 40), rho=st.floats(0, 1, exclude_max=True))
def test_the_mean_excess_over_a_threshold_is_its_integral(d: int, rho: float) -> None:
    from scipy.integrate import quad
    from scipy.special import beta

    value = float(absolute.mean_excess(d, np.array(rho)))
    if d == 2:
        assert value == pytest.approx((1 - rho) / 2)
        return
    # r = cos(angle): the density sin^{d-3} has no singularity at either end
    top = math.acos(rho)
    integral, error = quad(lambda x: (math.cos(x) - rho) * math.sin(x) ** (d - 3), 0, top, epsabs=1e-14)
    # the value is a difference of two numbers that are at most one, from a dozen roundings and a Beta function
    assert abs(value - integral / beta(0.5, (d - 2) / 2)) <= 64 * EPS + 10 * error


@given(d=st.integers(2, 1000), w=log_floats(1e-3, 1e6), share=st.floats(0, 1), beyond=st.floats(-50, 50))
def test_the_graded_coordinate_is_invertible(d: int, w: float, share: float, beyond: float) -> None:
    grading, u = Grading(d, np.array(w)), np.array(share * 2 * w + beyond)
    # v / knee <= 1 + log(2e6 / 4) is rounded to fifteen units, and the exponential makes that relative
    assert abs(float(grading.u(grading.v(u))) - float(u)) <= 16 * EPS * max(abs(float(u)), 2 * w)


@settings(max_examples=10)
@given(
    d=st.integers(2, 50),
    n=st.sampled_from([1, 2, 10, 10**6, 10**30]),
    w=st.floats(0, LARGEST),
    law=st.sampled_from([Affine(), Cosine(L=2.0), Quadratic()]),  # the relu law takes ten seconds at w = 1e8
)
@example(d=2, n=10, w=LARGEST, law=Affine())
@example(d=3, n=10**30, w=1e4, law=Quadratic())
@example(d=50, n=1, w=0.0, law=Cosine(L=2.0))
def test_any_window_is_answered_or_refused_without_a_warning(d: int, n: int, w: float, law: Law) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            terms = loss_terms(Problem(d=d, n=n, law=law), w)
        except OutOfReach:
            return
    assert math.isfinite(terms.total)
    assert math.isfinite(terms.bias_error + terms.noise_error)
