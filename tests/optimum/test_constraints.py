"""Constraint sets: their projections are exact, and the descent that uses them finds constrained minima."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipverify.foundation import Floats, normals
from lipverify.laws import Affine, ReLU

# internal: the units in which both descend
from lipverify.optimum.matrix import SpectralBall, Symmetric, Unconstrained, natural_units
from lipverify.optimum.matrix.constraints import Constraint  # internal: for annotations
from lipverify.optimum.matrix.descent import (  # internal: on known minima
    ACCEPTED,
    End,
    Units,
    descend,
    projected_gradient,
    stationarity,
)
from lipverify.optimum.matrix.replication import Nearby, updated  # internal: steps between minimisers
from lipverify.optimum.matrix.sampled import BATCHES, SampledLoss, draw_loss  # internal: batch by batch
from lipverify.problem import Problem
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


# Minimisers without one batch, by Newton steps from the minimiser of all: the same as descents find, or none.


AXIS = [[1.0], [0.0], [0.0]]
CASES: dict[str, tuple[Problem, Constraint]] = {
    "free": (Problem(d=3, n=40, law=Affine(), sigma=0.3), Unconstrained()),
    "symmetric": (Problem(d=3, n=40, law=ReLU(), sigma=0.3), Symmetric()),
    "inside": (Problem(d=3, n=40, law=Affine(), sigma=0.3), SpectralBall(C=50.0)),
    "at the bound": (Problem(d=3, n=40, law=Affine(), sigma=0.3), SpectralBall(C=0.5)),
    "one direction at the bound": (Problem(d=3, n=40, law=ReLU(), sigma=0.3), SpectralBall(B=AXIS, C=0.5)),
}


def settled(name: str) -> tuple[SampledLoss, Constraint, Units, End]:
    """A loss on few contexts, and the end of its descent."""
    problem, constraint = CASES[name]
    loss = draw_loss(problem, "softmax", 1024, 0, "test/nearby")
    units = natural_units(problem, loss, constraint)
    return loss, constraint, units, descend(loss, constraint, units.matrix * np.eye(3), units)


@pytest.mark.parametrize("name", CASES)
def test_the_nearby_minimum_equals_that_of_a_descent(name: str) -> None:
    loss, constraint, units, whole = settled(name)
    nearby = Nearby.of(loss, constraint, whole.M, units)
    assert nearby is not None
    found = 0
    for batch, first in enumerate(loss.without_each(whole.M)):
        objective = partial(loss, without=batch)
        assert first[0] == pytest.approx(objective(whole.M)[0], rel=1e-12)
        end, slow = nearby.end(objective, first), descend(objective, constraint, whole.M, units)
        if end is not None:
            found += 1
            assert np.abs(end.M - slow.M).max() <= 1e-5 * np.abs(whole.M).max()
            assert end.loss == pytest.approx(slow.loss, rel=1e-9)
            assert end.stationarity <= ACCEPTED
            assert np.abs(constraint.project(end.M) - end.M).max() <= 1e-5 * np.abs(whole.M).max()
    assert found == BATCHES


def test_no_nearby_minimum_is_tried_at_a_curved_bound_or_without_a_minimum() -> None:
    """One of two singular values at the bound; a valley; a maximum."""
    ball = SpectralBall(C=2.0)
    units = Units(matrix=1.0, whitening=np.eye(2), loss=1.0)

    def bowl(M: Floats, curvature: float = 1.0) -> tuple[float, Floats]:
        return curvature * float(np.sum(M * M)) / 2, curvature * M

    assert Nearby.of(bowl, ball, np.diag([2.0, 1.0]), units) is None
    assert Nearby.of(partial(bowl, curvature=0.0), Unconstrained(), np.zeros((2, 2)), units) is None
    assert Nearby.of(partial(bowl, curvature=-1.0), Unconstrained(), np.zeros((2, 2)), units) is None
    assert Nearby.of(bowl, Unconstrained(), np.zeros((2, 2)), units) is not None


def test_a_loss_with_another_shape_is_minimised_by_descent() -> None:
    """Steps of the first loss's Hessian increase the gradient of this one; and a bound may become inactive."""
    units = Units(matrix=1.0, whitening=np.eye(2), loss=1.0)

    def bowl(M: Floats, curvature: float, centre: Floats) -> tuple[float, Floats]:
        return curvature * float(np.sum((M - centre) ** 2)) / 2, curvature * (M - centre)

    zero = np.zeros((2, 2))
    near = Nearby.of(partial(bowl, curvature=1.0, centre=zero), Unconstrained(), zero, units)
    assert near is not None
    steep = partial(bowl, curvature=5.0, centre=np.eye(2))
    assert near.end(steep, steep(zero)) is None
    held = Nearby.of(partial(bowl, curvature=1.0, centre=3 * np.eye(2)), SpectralBall(C=1.0), np.eye(2), units)
    assert held is not None
    still, free = (partial(bowl, curvature=1.0, centre=far * np.eye(2)) for far in (2.0, 0.5))
    end = held.end(still, still(np.eye(2)))
    assert end is not None
    assert np.array_equal(end.M, np.eye(2))
    assert held.end(free, free(np.eye(2))) is None


@pytest.mark.parametrize("d", [2, 3])
def test_updates_satisfy_the_secant_equations(d: int) -> None:
    """The step for the change of the gradient, symmetry, a positive definite form; a backward change is not used."""
    H = np.eye(d)
    for k in range(6):
        s, y = normals(0, "test/updated", k, (2, d))
        y = y if s @ y > 0 else -y
        H = updated(H, s, y)
        assert np.allclose(H @ y, s, rtol=1e-9)
        assert np.allclose(H, H.T, rtol=1e-9)
        assert np.linalg.eigvalsh(H)[0] > 0
    assert updated(H, s, -y) is H


def test_a_set_is_flat_inside_and_along_inactive_bounds() -> None:
    ball, E = SpectralBall(B=AXIS, C=2.0), np.ones((3, 3))
    inside, along = (ball.flat(np.diag([first, 5.0, 5.0]), E) for first in (1.0, 2.0))
    assert inside is not None
    assert along is not None
    assert np.array_equal(inside, E)
    assert along[0, 0] == 0
    assert np.count_nonzero(along) == 8
