"""Constraint sets: their projections are exact, and the descent that uses them finds constrained minima."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lipverify.foundation import Floats

# internal: the units in which both descend
from lipverify.optimum.matrix import SpectralBall, Symmetric, Unconstrained
from lipverify.optimum.matrix.constraints import Constraint  # internal: for annotations
from lipverify.optimum.matrix.descent import (  # internal: on known minima
    projected_gradient,
    stationarity,
)
from tests.strategies import log_floats, target

EPS = float(np.finfo(float).eps)
ROUNDING = 100 * EPS
"""An SVD, four products and a difference of matrices with d <= 5: of the order of d^2 rounding errors of their norm."""


@st.composite
def constraints(draw: st.DrawFn, d: int) -> Constraint:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0][:, : draw(st.integers(1, d))]
    ball = SpectralBall(draw(st.sampled_from([None, basis])), C=draw(log_floats(0.01, 100)))
    return draw(st.sampled_from([Unconstrained(), Symmetric(), ball, ball, ball]))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Constraint, Floats, Floats]:
    d = draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    one, other = rng.standard_normal((2, d, d)) * draw(log_floats(0.01, 100))
    return draw(constraints(d)), one, other


def size(*matrices: Floats) -> float:
    return float(sum(np.linalg.norm(matrix) for matrix in matrices))


@given(cases())
def test_a_projection_lies_in_the_set_and_stays_where_it_is(case: tuple[Constraint, Floats, Floats]) -> None:
    constraint, M, _ = case
    there = constraint.project(M)
    again = float(np.linalg.norm(constraint.project(there) - there))
    target(again / size(M))
    assert again <= ROUNDING * size(M)
    if isinstance(constraint, Symmetric | SpectralBall):
        assert np.max(np.abs(there - there.T)) <= ROUNDING * size(M)
    if isinstance(constraint, SpectralBall):
        B = np.eye(len(M)) if constraint.B is None else np.array(constraint.B)
        assert np.linalg.norm(B.T @ there @ B, 2) <= constraint.C + ROUNDING * size(M)


@given(cases())
def test_projections_do_not_increase_distances(case: tuple[Constraint, Floats, Floats]) -> None:
    constraint, one, other = case
    apart, before = size(constraint.project(one) - constraint.project(other)), size(one - other)
    target(apart / before)
    assert apart <= before + ROUNDING * size(one, other)


@given(cases())
def test_no_point_of_the_set_is_nearer(case: tuple[Constraint, Floats, Floats]) -> None:
    """<M - P, Y - P> <= 0 for each Y of the set, which characterises P as the nearest point of a convex set."""
    constraint, M, other = case
    there, member = constraint.project(M), constraint.project(other)
    product = float(np.sum((M - there) * (member - there)))
    target(product)
    assert product <= ROUNDING * size(M, other) ** 2


def test_a_projection_that_scales_instead_of_clipping_is_seen() -> None:
    """The control of the test above: a feasible point that is not the nearest one."""
    ball, M = SpectralBall(C=1.0), np.diag([3.0, 0.5])
    scaled, nearest = M / 3.0, ball.project(M)
    assert np.array_equal(nearest, np.diag([1.0, 0.5]))
    assert np.sum((M - scaled) * (nearest - scaled)) > 1e6 * ROUNDING


@given(d=st.integers(2, 4), C=log_floats(0.1, 10), spread=log_floats(1.0, 100.0), seed=st.integers(0, 2**32))
def test_projected_gradients_end_at_a_constrained_minimum(d: int, C: float, spread: float, seed: int) -> None:
    """A convex quadratic, condition up to 100: the end is stationary, and other members have larger values."""
    rng, ball = np.random.default_rng(seed), SpectralBall(C=C)
    centre, weight = rng.standard_normal((d, d)) * 3, np.geomspace(1.0, spread, d * d).reshape(d, d)

    def bowl(M: Floats) -> tuple[float, Floats]:
        return float(np.sum(weight * (M - centre) ** 2)), 2 * weight * (M - centre)

    end = projected_gradient(bowl, ball.project, rng.standard_normal((d, d)), 1e-9, 5000)
    value, gradient = bowl(end)
    reached = stationarity(end, gradient, ball.project)
    target(reached)
    # values near the minimum are flat to rounding, which hides gradients below the square root of it
    assert reached <= 1e-9 + math.sqrt(EPS * value * spread)
    for other in rng.standard_normal((20, d, d)):
        member = ball.project(end + 0.1 * other)
        assert bowl(member)[0] >= value - reached * size(gradient) - ROUNDING * value


def test_a_wrong_gradient_ends_at_another_point() -> None:
    def tilted(M: Floats) -> tuple[float, Floats]:
        return float(np.sum((M - 3) ** 2)), 2 * (M - 3) + np.array([[0.0, 0.5], [0.5, 0.0]])

    ball = SpectralBall(C=1.0)
    end = projected_gradient(tilted, ball.project, np.zeros((2, 2)), 1e-9, 1000)
    right = ball.project(np.full((2, 2), 3.0))  # the quadratic is round
    assert np.max(np.abs(end - right)) > 1e-3
