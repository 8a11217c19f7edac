"""The empirical optimum: coverage of a known one, scaling of its error, and refusals instead of an error of zero."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from lipverify import Problem, loss_terms, optimal_window
from lipverify.covariates import Covariates, Ellipsoid, Gaussian, MappedNormals
from lipverify.errors import OutOfReach
from lipverify.laws import Affine, Law, Quadratic, ReLU
from lipverify.optimum.matrix import Unconstrained
from lipverify.optimum.matrix.descent import End  # internal: an end that no descent reaches
from lipverify.optimum.matrix.estimate import require_bounded  # internal: its decision alone
from lipverify.optimum.window import empirical_window

SEEDS = 40


@pytest.mark.parametrize(("law", "d"), [(Affine(), 3), pytest.param(ReLU(), 5, marks=pytest.mark.slow)])
def test_its_intervals_cover_the_exact_optimum(law: Law, d: int) -> None:
    """Of 40 intervals at 95 %, more than 6 miss with probability 0.3 %, once and for all: the seeds are fixed."""
    problem = Problem(d=d, n=30, law=law)
    exact = optimal_window(problem)
    found = [empirical_window(problem, contexts=1000, seed=seed, stream="coverage") for seed in range(SEEDS)]
    assert all(0 < one.w_error < 0.2 * one.w and 0 < one.loss_error < 0.2 * one.loss for one in found)
    assert sum(abs(one.w - exact.w) > one.w_error for one in found) <= 6
    assert sum(abs(one.loss - exact.loss) > one.loss_error for one in found) <= 6
    # the remaining bias of a minimiser is small compared with the reported error
    off = np.mean([(one.w - exact.w) / one.w_error for one in found])
    assert abs(off) < 0.25 + 3 * 0.5 / math.sqrt(SEEDS)  # one w_error is about two standard deviations


def test_the_window_agrees_with_that_of_a_run_sixteen_times_as_long() -> None:
    problem = Problem(d=3, n=30, law=Affine())
    short, long = (empirical_window(problem, contexts=contexts, seed=contexts) for contexts in (2000, 32_000))
    assert abs(short.w - long.w) <= 1.5 * math.hypot(short.w_error, long.w_error)  # three standard deviations
    # 16 times the contexts: a quarter of the error, each known from 31 degrees of freedom to 13 %
    assert 4 / 2 < short.w_error / long.w_error < 4 * 2


def test_the_loss_is_that_of_its_window() -> None:
    problem = Problem(d=4, n=20, law=ReLU(L=2.0), sigma=0.5)
    found = empirical_window(problem, contexts=4000)
    there = loss_terms(problem, found.w)
    assert abs(found.loss - float(there.total)) <= 2 * found.loss_error


def test_it_is_a_function_of_its_address() -> None:
    problem = Problem(d=3, n=10, law=Affine())
    first, again, other = (empirical_window(problem, contexts=640, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.w != other.w


def test_a_minimum_outside_of_the_fitted_range_is_out_of_reach() -> None:
    """Hardly any label noise: all batches have a minimum at one end, where a jackknife gives no error."""
    problem = Problem(d=2, n=2, law=Affine(), sigma=0.01)
    exact, refusals = optimal_window(problem), []
    for seed in range(8):
        try:
            found = empirical_window(problem, contexts=640, seed=seed)
        except OutOfReach as error:
            refusals.append(str(error))
        else:
            assert abs(found.w - exact.w) <= 2 * found.w_error
    assert 0 < len(refusals) < 8
    assert all("draw more" in message for message in refusals)


def test_covariates_of_one_s_own_on_the_sphere_have_its_window() -> None:
    """Sampled by a different map than the sphere's own: the angle of a normal in the plane, doubled."""

    def doubled(z: Any) -> Any:
        angle = 2 * np.arctan2(z[..., 1], z[..., 0])
        return np.stack([np.cos(angle), np.sin(angle)], axis=-1)

    problem = Problem(d=2, n=10, law=Affine(L=3.0), covariates=MappedNormals(doubled, radius=1.0))
    found, exact = empirical_window(problem, contexts=4000), optimal_window(Problem(d=2, n=10, law=Affine(L=3.0)))
    assert found.w_error < 0.2 * found.w
    assert abs(found.w - exact.w) <= 2 * found.w_error


@pytest.mark.parametrize("kind", [Ellipsoid, Gaussian])
def test_the_window_scales_with_the_covariates_and_with_the_matrix(kind: type[Covariates]) -> None:
    """Covariates twice as long with half the slope: w / 4. The same draws, to rounding."""
    law, twice = Affine(L=2.0), Affine(L=1.0)
    one = empirical_window(Problem(d=2, n=12, law=law, covariates=kind([1.0, 0.25])), contexts=1280)
    far = Problem(d=2, n=12, law=twice, covariates=kind([4.0, 1.0]))
    other = empirical_window(far, M=0.5 * np.eye(2), contexts=1280)
    assert other.w == pytest.approx(one.w / 2, rel=1e-9)
    assert other.loss == pytest.approx(one.loss, rel=1e-9)
    assert 0 < one.w_error < 0.5 * one.w


# Sampled minima at the ends are refused, whatever noise does to a loss that is flat there.


FALSE_ALARMS = (14, 28, 33, 35, 38, 91)


def test_a_minimum_at_zero_is_never_reported_inside() -> None:
    """Sampling gives half of these losses a slope at 0 and so a minimum inside, sometimes with an error bar."""
    problem = Problem(d=2, n=3, law=Quadratic(), sigma=0.3)
    assert optimal_window(problem).where == "zero"
    messages = []
    for seed in (*FALSE_ALARMS, *range(8)):
        with pytest.raises(OutOfReach) as refusal:
            empirical_window(problem, contexts=640, seed=seed)
        messages.append(str(refusal.value))
    assert sum("is below that at w = 0" in message for message in messages) >= len(FALSE_ALARMS)


@pytest.mark.parametrize("farther", [1 - 1e-15, 1.0, 1 + 1e-15])
def test_a_matrix_on_flat_ground_is_refused_on_either_side_of_rounding(farther: float) -> None:
    """Scores so large that one token has all the weight: at larger M the loss is the same up to its last digit."""
    problem, end = Problem(d=2, n=5, law=Quadratic()), End(M=50 * np.eye(2), loss=1.0, stationarity=0.0)
    with pytest.raises(OutOfReach, match="does not rise"):
        require_bounded(lambda M: (farther, M), Unconstrained(), end, problem)
    require_bounded(lambda M: (1.001, M), Unconstrained(), end, problem)
