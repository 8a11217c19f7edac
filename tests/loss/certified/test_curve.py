"""A curve contains its function on the whole interval, and says no more of it than that."""

import math
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from lipverify import Problem, loss_terms
from lipverify.errors import OutOfReach
from lipverify.laws import Affine, ReLU
from lipverify.loss.block import block_terms
from lipverify.loss.certified.circle import CircleAttention, absolute
from lipverify.loss.certified.curve import STRIP, Curve, curves
from lipverify.loss.certified.enclosure import enclose, enclose_gap, enclose_moments
from lipverify.loss.scaled import scaled_loss
from lipverify.problem.named import low_rank_problem

GOAL = 9 * math.log(10)
BOUND = 1 / arb(STRIP).cos()


def reciprocal(w: float) -> list[Any]:
    """1 / (1 + w^2 / 5): in the strip |1 + w^2/5| >= 1 - b^2/5 > cos b."""
    return [1 / (1 + arb(w) ** 2 / 5)]


SMOOTH: Curve = curves(reciprocal, [BOUND], 0.0, 8.0, 1e-6)[0]


@given(st.floats(0, 8), st.floats(0, 8))
def test_a_curve_contains_its_function_at_points_and_over_parts(one: float, other: float) -> None:
    low, high = sorted((one, other))
    part = SMOOTH.over(low, high)
    for w in (low, (low + high) / 2, high):
        assert SMOOTH.at(arb(w)).overlaps(reciprocal(w)[0])
        assert part.contains(reciprocal(w)[0].mid())


def test_errors_are_of_the_size_that_was_asked_for() -> None:
    assert 0 < float(SMOOTH.error) < 1e-5


def test_the_error_of_a_curve_through_too_few_points_covers_what_they_miss() -> None:
    def peak(w: float) -> list[Any]:
        """sech(1.1 (w - 4)), with poles next to the strip."""
        return [1 / (arb(11) / 10 * (arb(w) - 4)).cosh()]

    coarse = curves(peak, [1 / (arb(11) / 10 * STRIP).cos()], 0.0, 8.0, 0.2)[0]
    missed = [abs(coarse.polynomial((w - 4.0) / 4.0).mid() - peak(w)[0].mid()) for w in np.linspace(0, 8, 200)]
    assert 1e-4 < max(map(float, missed)) < float(coarse.error) < 1


def test_radii_of_the_values_enter_the_error() -> None:
    blurred = curves(lambda w: [reciprocal(w)[0] + arb(0, 1e-3)], [BOUND], 0.0, 8.0, 1e-6)[0]
    assert float(blurred.error) > 1e-3


def test_beneath_encloses_where_the_function_is_small() -> None:
    found = SMOOTH.beneath(arb(1) / 2)
    assert found is not None
    low, high = found
    assert high == 8.0
    assert low == pytest.approx(math.sqrt(5), abs=1e-4)
    assert low < math.sqrt(5)
    assert SMOOTH.beneath(arb(1) / 100) is None


def test_a_value_beyond_the_interval_is_refused() -> None:
    with pytest.raises(OutOfReach, match="known from 0 to 8"):
        SMOOTH.at(arb("8.01"))
    with pytest.raises(OutOfReach, match="known from 0 to 3"):
        ATTENTION.loss((3.5, 1.0), (1.0, 0.0), 0.0)


def test_the_least_value_lies_in_its_ball() -> None:
    parabola = curves(lambda w: [(arb(w) - 1) ** 2 / 64], [arb(2)], 0.0, 8.0, 1e-6)[0]
    least = parabola.least()
    assert least.contains(0)
    assert float(least.rad()) < 1e-5


@given(st.sampled_from([2, 3, 5]), st.integers(2, 40), st.floats(0.1, 12))
def test_moments_of_attention_are_those_of_the_loss(d: int, n: int, w: float) -> None:
    at, exact = enclose_moments(d, n, w, GOAL), loss_terms(Problem(d=d, n=n, law=Affine(), sigma=1.0), w)
    assert abs(float(exact.noise) - float(at.noise.mid())) <= float(exact.noise_error) + float(at.noise.rad())
    bias = (1 - 2 * at.first + at.second + at.across) / (3 * d)
    assert abs(float(exact.bias) - float(bias.mid())) <= float(exact.bias_error) + float(bias.rad()) + 1e-15
    assert at.second < at.first + at.noise


@pytest.mark.parametrize("law", [Affine(), ReLU()])
@pytest.mark.parametrize(("d", "n", "w"), [(2, 30, 1.5), (3, 100, 2.5), (5, 50, 2.0)])
def test_the_gap_is_that_of_the_scaled_loss(law: Affine | ReLU, d: int, n: int, w: float) -> None:
    problem = Problem(d=d, n=n, law=law, sigma=1.0)
    ball, exact = enclose_gap(problem, w, GOAL / 2), scaled_loss(problem, [w])
    assert abs(float(ball.mid()) - exact.gap[0]) <= float(ball.rad()) + exact.gap_error[0]
    assert float(ball.rad()) < 1e-4 * exact.gap[0]


ATTENTION = CircleAttention.up_to(6, 3.0, 1e-5)


@given(st.floats(0.3, 2.9), st.floats(0.3, 2.9), st.sampled_from([0.0, 0.7]))
def test_losses_on_the_circle_are_those_of_the_reduction(c: float, c_perp: float, sigma: float) -> None:
    problem = low_rank_problem("sphere", 2, 1, 6, sigma)
    for ball, exact in (
        (ATTENTION.loss((c, c_perp), (1.0, 0.0), sigma), block_terms(problem, np.array([c]), np.array([c_perp]))),
        (ATTENTION.aligned(sigma).at(arb(c)), block_terms(problem, np.array([c]), np.array([0.0]))),
    ):
        assert abs(float(exact.total[0]) - float(ball.mid())) <= float(exact.total_error[0]) + float(ball.rad())
        assert float(ball.rad()) < 1e-4


def test_the_least_isotropic_loss_is_that_of_the_affine_law() -> None:
    w = np.linspace(0.05, 2.95, 59)
    exact = loss_terms(Problem(d=2, n=6, law=Affine(L=math.sqrt(6)), sigma=2.0), w).total.min()
    ball = ATTENTION.least_isotropic((1.0, 1.0), 2.0)
    assert ball < exact + 1e-4
    assert ball > exact - 2e-3


def test_mean_powers_of_a_coordinate() -> None:
    assert float(absolute(1).mid()) == pytest.approx(2 / math.pi)
    assert float(absolute(4).mid()) == pytest.approx(3 / 8)


def test_balls_of_a_loss_are_what_they_were_before_any_curve() -> None:
    noise, _ = enclose(Problem(d=2, n=6, law=Affine(), sigma=1.0), 2.0, GOAL)
    assert ATTENTION.noise.at(arb(2)).overlaps(noise)
