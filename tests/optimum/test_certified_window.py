"""Intervals that contain every minimiser: against the exact method, and where they must refuse."""

import pytest

from lipverify import Problem, optimal_window
from lipverify.errors import InvalidInput
from lipverify.laws import Affine, Cosine, Quadratic, ReLU
from lipverify.loss.scaled import scaled_loss
from lipverify.optimum.window import certified_scale, certified_window


@pytest.mark.parametrize(
    "problem",
    [
        Problem(d=3, n=10, law=Affine(), sigma=1.0),
        Problem(d=5, n=200, law=Affine(L=2.0), sigma=3.0),
        Problem(d=3, n=100, law=ReLU(), sigma=1.0),
        Problem(d=2, n=1000, law=Cosine(L=3.0), sigma=13.0),
        Problem(d=3, n=2000, law=Quadratic(), sigma=1.0),
    ],
    ids=str,
)
def test_the_exact_minimiser_is_inside(problem: Problem) -> None:
    found, exact = certified_window(problem), optimal_window(problem)
    assert found.low <= exact.w + exact.w_error
    assert found.high >= exact.w - exact.w_error
    assert found.high - found.low < 0.02 * max(exact.w, 1)


@pytest.mark.parametrize("L", [1.0, 4.0])
def test_a_minimum_at_zero_is_known_to_be_exactly_there(L: float) -> None:
    found = certified_window(Problem(d=2, n=1000, law=Cosine(L=L), sigma=13.0))
    assert (found.low, found.high) == (0.0, 0.0)


def test_no_minimum_at_zero_is_claimed_next_to_a_law_that_leaves_it() -> None:
    # the second harmonic outweighs the noise by little: w* is small and positive
    problem = Problem(d=2, n=1000, law=Cosine(L=3.0), sigma=15.2)
    assert 0 < optimal_window(problem).w < 1
    assert certified_window(problem).high > 0


@pytest.mark.parametrize("law", [Affine(), ReLU()])
def test_the_best_scale_is_that_of_the_exact_method(law: Affine | ReLU) -> None:
    problem = Problem(d=3, n=100, law=law, sigma=1.0)
    exact = scaled_loss(problem, [optimal_window(problem).w], 1 / 3)
    value, error = certified_scale(problem, 1 / 3)[0]
    assert abs(value - exact.excess[0]) <= error + exact.excess_error[0]
    assert error < 0.02 * abs(value)


def test_without_noise_nothing_bounds_the_window() -> None:
    with pytest.raises(InvalidInput, match="the noise bounds w"):
        certified_window(Problem(d=3, n=10, law=Affine(), sigma=0.0))


def test_a_law_without_its_second_moment_is_refused() -> None:
    with pytest.raises(InvalidInput, match="second moment"):
        certified_scale(Problem(d=3, n=100, law=Quadratic(), sigma=1.0), 0.0)
