"""The largest bias of Lipschitz functions: sampled cones, functions that stay below, limits, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st

from lipverify import Problem, loss_terms
from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.samples import mean_with_half_width
from lipverify.foundation.streams import normals
from lipverify.laws import Linear, ReLU
from lipverify.loss.worst import METRICS, WorstBias, worst_bias, worst_box_bias, zigzag
from lipverify.problem.sphere import on_sphere
from tests.strategies import log_floats

CONTEXTS = 20_000


def angles(d: int, n: int, stream: str) -> Floats:
    """Angles between n tokens and a query, (contexts, n), from points in the space."""
    x = on_sphere(normals(0, f"worst/{stream}", 0, (CONTEXTS, n, d)), np)
    return np.asarray(np.arccos(np.clip(x[..., 0], -1, 1)))


def distance(theta: Floats, metric: str) -> Floats:
    return theta if metric == "arc" else 2 * np.sin(theta / 2)


def softmax(theta: Floats, w: float) -> Floats:
    g = np.exp(w * (np.cos(theta) - np.cos(theta).max(axis=1, keepdims=True)))
    return np.asarray(g / g.sum(axis=1, keepdims=True))


def box(theta: Floats, radius: float, metric: str) -> Floats:
    inside = (distance(theta, metric) <= radius).astype(float)
    nearest = np.eye(theta.shape[1])[np.argmin(theta, axis=1)]
    a = np.where(inside.any(axis=1, keepdims=True), inside, nearest)
    return np.asarray(a / a.sum(axis=1, keepdims=True))


def check(weights: Floats, theta: Floats, metric: str, worst: WorstBias) -> None:
    """Five standard errors; where no token has most of the weight, the mean of the squares in its place is outside."""
    rho = distance(theta, metric)
    value, half_width = mean_with_half_width(np.sum(weights * rho, axis=1) ** 2)
    gap = abs(value - float(worst.value))
    target(gap / half_width)
    assert half_width < 0.03 * value
    assert gap <= 2.5 * half_width + float(worst.error)
    assert float(worst.error) < 1e-8 * value
    if np.mean(weights.max(axis=1)) < 0.4:
        twin, _ = mean_with_half_width(np.sum(weights * rho**2, axis=1))
        assert twin - float(worst.value) > 2.5 * half_width


@settings(max_examples=12)
@given(d=st.integers(2, 8), n=st.integers(1, 30), w=log_floats(0.1, 10.0), metric=st.sampled_from(METRICS))
def test_the_cone_at_the_query_attains_it_with_softmax(d: int, n: int, w: float, metric: Any) -> None:
    theta = angles(d, n, f"softmax/{d}/{n}/{w}")
    check(softmax(theta, w), theta, metric, worst_bias(d, n, w, metric=metric, teeth=(0,)))


@settings(max_examples=12)
@given(d=st.integers(2, 8), n=st.integers(1, 30), share=st.floats(0.2, 0.9), metric=st.sampled_from(METRICS))
def test_the_cone_at_the_query_attains_it_with_a_box(d: int, n: int, share: float, metric: Any) -> None:
    """Boxes with many tokens and boxes that are often empty."""
    radius = share * (2.0 if metric == "chord" else math.pi)
    theta = angles(d, n, f"box/{d}/{n}/{share}")
    worst = worst_box_bias(d, n, radius, metric=metric)
    check(box(theta, radius, metric), theta, metric, worst)


def test_linear_functions_in_a_box_have_the_bias_that_is_sampled() -> None:
    d, n, radius = 3, 5, 0.8
    x = on_sphere(normals(0, "worst/linear", 0, (CONTEXTS, n, d)), np)
    theta = np.arccos(np.clip(x[..., 0], -1, 1))
    mean = np.einsum("cn,cnd->cd", box(theta, radius, "chord"), x) - np.eye(d)[0]
    value, half_width = mean_with_half_width(np.sum(mean**2, axis=1) / d)
    worst = worst_box_bias(d, n, radius, L=2.0)
    assert half_width < 0.05 * value
    assert abs(float(worst.low) / 4 - value) <= 2.5 * half_width


def test_no_function_is_above_it_and_some_are_far_below() -> None:
    """Linear functions and ReLU are 1-Lipschitz; their bias is that of one law of amplitude 1."""
    w = np.array([1.0, 10.0])
    worst = worst_bias(3, 50, w)
    for law in (Linear(), zigzag(1)):
        terms = loss_terms(Problem(d=3, n=50, law=law), w)
        assert np.all(terms.bias <= worst.low + terms.bias_error + worst.low_error)
    relu = loss_terms(Problem(d=3, n=50, law=ReLU()), w)
    assert np.all(relu.bias < worst.value)
    assert np.all(worst.low + worst.low_error < worst.value - worst.error)
    assert np.all(worst.low > worst.value / 20)
    assert set(np.ravel(worst.witness)) <= {0, 1}


def test_limits() -> None:
    """Many tokens at a large window are normal about the query, with E |g| = (pi/2)^{1/2}; one token: E rho^2."""
    assert float(worst_bias(3, 1e30, 1e6).value) * 1e6 == pytest.approx(math.pi / 2, rel=1e-5)
    assert float(worst_bias(4, 1, 7.0).value) == pytest.approx(2.0, rel=1e-12)
    # (1 + 1/n) and so on at w = 0: on the circle E rho = 4/pi in the chord and pi/2 along it
    assert float(worst_bias(2, 5, 0.0, L=3.0).value) == pytest.approx(
        9 * (2 / 5 + 4 / 5 * (4 / math.pi) ** 2), rel=1e-9
    )
    arc = worst_bias(2, 5, 0.0, metric="arc")
    assert float(arc.value) == pytest.approx(math.pi**2 / 15 + 4 / 5 * (math.pi / 2) ** 2, rel=1e-9)
    # a box of many tokens on the circle: the mean of the arc in it is r/2
    assert float(worst_box_bias(2, 1e30, 0.1, metric="arc").value) == pytest.approx(0.0025, rel=1e-12)
    # a box that is empty: the nearest of n tokens on the circle, E rho_(1)^2 = 2 pi^2 / ((n + 1)(n + 2))
    nearest = worst_box_bias(2, 100, 1e-9, metric="arc")
    assert float(nearest.value) == pytest.approx(2 * math.pi**2 / (101 * 102), rel=1e-6)
    # d = 10^5: all tokens are at a right angle
    assert float(worst_box_bias(10**5, 10, 1.5).value) == pytest.approx(2.0, rel=2e-2)


def test_a_small_window_is_that_at_zero() -> None:
    at_zero, small = worst_bias(4, 20, [0.0, 1e-4], teeth=(0,)).value
    assert small == pytest.approx(at_zero, rel=1e-4)
    assert small < at_zero


@pytest.mark.parametrize(
    ("function", "options", "said"),
    [
        (worst_bias, {"w": -1.0}, "w = "),
        (worst_bias, {"w": 1.0, "L": -1.0}, "L = "),
        (worst_bias, {"w": 1.0, "metric": "euclid"}, "chord, arc"),
        (worst_bias, {"w": 1.0, "teeth": ()}, "at least one"),
        (worst_bias, {"w": 1.0, "teeth": (-1,)}, "teeth"),
        (worst_box_bias, {"radius": 0.0}, "radius"),
        (worst_box_bias, {"radius": 2.1}, "at most 2"),
        (worst_box_bias, {"radius": 3.2, "metric": "arc"}, "at most 3.142"),
    ],
)
def test_what_breaks_a_rule_is_refused(function: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        function(3, 10, **options)
