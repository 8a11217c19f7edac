"""The largest bias of Lipschitz functions: sampled cones, functions with smaller bias, limits, and refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.polynomial import Legendre
from scipy.optimize import minimize_scalar

from lipverify import Problem, loss_terms
from lipverify.errors import OutOfReach
from lipverify.foundation import Floats, normals
from lipverify.foundation.means.checked import mean_with_half_width  # internal: means of its own samples
from lipverify.foundation.sphere import on_sphere  # internal: points on the sphere, as samplers draw them
from lipverify.laws import Linear, Matern, ReLU, Zonal
from lipverify.loss.worst import WorstBias, worst_bias, zigzag
from lipverify.loss.worst.weights import softmax_weights  # internal: weights by hand
from lipverify.loss.worst.zigzag import single_bias  # internal: the bias of given weights
from tests.strategies import lengths, log_floats, target

CONTEXTS = 20_000


def angles(d: int, n: int, stream: str) -> Floats:
    """Angles between n tokens and a query, (contexts, n), from points in the space."""
    x = on_sphere(normals(0, f"worst/{stream}", 0, (CONTEXTS, n, d)), np)
    return np.asarray(np.arccos(np.clip(x[..., 0], -1, 1)))


def distance(theta: Floats) -> Floats:
    return 2 * np.sin(theta / 2)


def softmax(theta: Floats, w: float) -> Floats:
    g = np.exp(w * (np.cos(theta) - np.cos(theta).max(axis=1, keepdims=True)))
    return np.asarray(g / g.sum(axis=1, keepdims=True))


def check(weights: Floats, theta: Floats, worst: WorstBias) -> None:
    """Five standard errors; where no token has most of the weight, the mean of the squares in its place is outside."""
    rho = distance(theta)
    value, half_width = mean_with_half_width(np.sum(weights * rho, axis=1) ** 2)
    gap = abs(value - float(worst.value))
    target(gap / half_width)
    assert half_width < 0.03 * value
    assert gap <= 2.5 * half_width + float(worst.error)
    assert float(worst.error) < 1e-8 * value
    if np.mean(weights.max(axis=1)) < 0.4:
        control, _ = mean_with_half_width(np.sum(weights * rho**2, axis=1))
        assert control - float(worst.value) > 2.5 * half_width


@settings(max_examples=12)
@given(d=st.integers(2, 8), n=st.integers(1, 30), w=log_floats(0.1, 10.0))
def test_the_cone_at_the_query_attains_it(d: int, n: int, w: float) -> None:
    theta = angles(d, n, f"softmax/{d}/{n}/{w}")
    check(softmax(theta, w), theta, worst_bias(d, n, w))


def field_bias(weights: Floats, x: Floats, degree: int) -> tuple[float, float]:
    """The bias of a field on S^2 with covariance P_degree, sampled: the query is the first axis."""
    tokens = Legendre.basis(degree)(np.einsum("cid,cjd->cij", x, x))
    query = Legendre.basis(degree)(x[..., 0])
    both = np.einsum("ci,cj,cij->c", weights, weights, tokens)
    return mean_with_half_width(both - 2 * np.sum(weights * query, axis=1) + 1)


@pytest.mark.parametrize("n", [2, 12])
def test_harmonics_have_the_bias_that_is_sampled(n: int) -> None:
    """The best degree, and its neighbour, whose share is smaller."""
    x = on_sphere(normals(0, f"worst/harmonics/{n}", 0, (CONTEXTS, n, 3)), np)
    weights = softmax(np.arccos(np.clip(x[..., 0], -1, 1)), 8.0)
    bracket = single_bias(softmax_weights(3, n, 8.0))
    shares = []
    for degree in range(1, 7):
        value, half_width = field_bias(weights, x, degree)
        share = value / (degree * (degree + 1))
        shares.append(share)
        assert half_width < 0.05 * value
        assert share <= bracket.high + 2.5 * half_width / (degree * (degree + 1))
    best = int(np.argmax(shares)) + 1
    _, half_width = field_bias(weights, x, best)
    assert abs(max(shares) - bracket.high) <= 2.5 * half_width / (best * (best + 1))


@settings(max_examples=12)
@given(d=st.integers(2, 12), n=lengths(2, 1e9), w=log_floats(0.05, 20.0))
def test_a_harmonic_attains_the_upper_bound_by_the_other_route(d: int, n: float, w: float) -> None:
    """The zonal route knows a law by its spectrum: with E |grad f|^2 = 1 the best degree has the bias `high`."""
    worst = worst_bias(d, n, w)
    biases = []
    for degree in range(1, 2 * int(math.sqrt(2 * w)) + 4):
        law = Zonal(spectrum=(0.0,) * degree + (1.0,))
        biases.append(
            float(loss_terms(Problem(d=d, n=n, law=law), w, route="zonal").bias) / (degree * (degree + d - 2))
        )
    gap = abs(max(biases) - float(worst.high))
    target(gap / float(worst.high_error))
    assert gap <= 1e-9 * float(worst.high)


@settings(max_examples=12)
@given(
    d=st.integers(2, 12),
    n=lengths(2, 1e9),
    w=log_floats(0.1, 100.0),
    lengthscale=log_floats(0.1, 3.0),
    nu=st.sampled_from([1.5, 2.5]),
)
def test_no_field_exceeds_the_bound_for_its_slope(d: int, n: float, w: float, lengthscale: float, nu: Any) -> None:
    """For a field with covariance K(t) E |grad f|^2 = (d - 1) K'(1): 3 / l^2 and 5 / (3 l^2) with K(1) = 1."""
    slope = (d - 1) * {1.5: 3.0, 2.5: 5 / 3}[nu] / lengthscale**2
    terms = loss_terms(Problem(d=d, n=n, law=Matern(nu=nu, length=lengthscale)), w)
    worst = worst_bias(d, n, w)
    target(float(terms.bias / (slope * worst.high)))
    assert terms.bias - terms.bias_error <= slope * (worst.high + worst.high_error)


@pytest.mark.parametrize(("d", "n", "w"), [(2, 10**9, 30.0), (3, 100, 5.0), (5, 10**6, 60.0)])
def test_the_witness_has_the_stated_bias(d: int, n: int, w: float) -> None:
    """The zonal route computes the spectrum of the link itself, to higher degrees than those used here."""
    worst = worst_bias(d, n, w)
    terms = loss_terms(Problem(d=d, n=n, law=zigzag(d, int(worst.witness))), w, route="zonal")
    below = float(terms.bias - worst.low)
    assert -float(worst.low_error) - float(terms.bias_error) <= below <= 0.01 * worst.low


@settings(max_examples=30)
@example(d=15, degree=3)  # two rises, separated by a short fall
@given(d=st.integers(2, 30), degree=st.integers(0, 12))
def test_zigzags_have_their_lipschitz_constant_and_no_less(d: int, degree: int) -> None:
    """Pairs on a great circle through the poles: the largest slope is 1, and is attained."""
    theta = np.linspace(0, math.pi, 601)
    f = zigzag(d, degree).link(np.cos(theta))
    gap = distance(np.abs(theta[:, None] - theta))
    slopes = np.abs(f[:, None] - f)[gap > 0] / gap[gap > 0]
    assert np.max(slopes) <= 1 + 1e-9
    assert np.max(slopes) >= 0.98


@settings(max_examples=40)
@given(d=st.integers(2, 100), n=lengths(1, 1e12), w=log_floats(1e-3, 1e5))
def test_the_bracket_is_narrow(d: int, n: float, w: float) -> None:
    """At most 4/3 wide, times d / (d - 1), as linear functions are best in few dimensions."""
    try:
        worst = worst_bias(d, n, w)
    except OutOfReach:  # a window with few tokens at a large w: no bound
        return
    low, high = float(worst.low), float(worst.high)
    assert low - float(worst.low_error) <= high + float(worst.high_error)
    assert high - float(worst.high_error) <= float(worst.value + worst.error)
    assert low >= 0.75 * (d - 1) / d * high


def test_no_function_exceeds_the_bound_and_some_are_far_below() -> None:
    """Linear functions and ReLU are 1-Lipschitz; their bias is that of one law of amplitude 1."""
    w = np.array([1.0, 10.0])
    worst = worst_bias(3, 50, w)
    linear = loss_terms(Problem(d=3, n=50, law=Linear()), w)
    assert np.all(linear.bias <= worst.low + linear.bias_error + worst.low_error)
    relu = loss_terms(Problem(d=3, n=50, law=ReLU()), w)
    assert np.all(relu.bias < worst.low)
    assert np.all(worst.low + worst.low_error < worst.high - worst.high_error)
    assert np.all(worst.high + worst.high_error < worst.value - worst.error)


def test_many_tokens_in_a_narrow_window() -> None:
    """w high -> max (1 - e^-x)^2 / 2x in every dimension, where the supremum at one query grows like d - 1."""
    limit = -minimize_scalar(lambda x: -(math.expm1(-x) ** 2) / (2 * x), bounds=(0.1, 10), method="bounded").fun
    assert limit == pytest.approx(0.2036, abs=5e-5)
    for d in (2, 3, 7):
        worst = worst_bias(d, 1e30, 1e5)
        assert float(worst.high) * 1e5 == pytest.approx(limit, rel=1e-3)
        assert float(worst.low) * 1e5 == pytest.approx(8 / math.pi**2 * limit, rel=0.03)
    wide = worst_bias(3, 1e30, 1e9)  # more harmonics would be needed than are tried
    assert float(wide.high) == float(wide.value)
    assert 0 < float(wide.low) < float(wide.high)
    assert float(worst_bias(7, 1e30, 1e5).value) > 5 * float(worst_bias(2, 1e30, 1e5).value)


def test_limits() -> None:
    """Many tokens at a large window are normal about the query, with E |g| = (pi/2)^{1/2}; one token: E rho^2."""
    assert float(worst_bias(3, 1e30, 1e6).value) * 1e6 == pytest.approx(math.pi / 2, rel=1e-5)
    assert float(worst_bias(4, 1, 7.0).value) == pytest.approx(2.0, rel=1e-12)
    # (1 + 1/n) and so on at w = 0: on the circle E rho = 4/pi
    assert float(worst_bias(2, 5, 0.0).value) == pytest.approx(2 / 5 + 4 / 5 * (4 / math.pi) ** 2, rel=1e-9)
    # d = 10^5: all tokens are at a right angle
    assert float(worst_bias(10**5, 10, 0.0).value) == pytest.approx(2.0, rel=2e-2)


def test_a_small_window_is_that_at_zero() -> None:
    at_zero, small = worst_bias(4, 20, [0.0, 1e-4]).value
    assert small == pytest.approx(at_zero, rel=1e-4)
    assert small < at_zero
