"""Two numbers a token beyond the sphere: compared with complete contexts, closed forms, and quadrature over queries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from lipverify import Problem, loss_terms, optimal_matrix
from lipverify.covariates import Covariates, Ellipsoid, Gaussian, Sphere
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation import Floats, normals
from lipverify.foundation.means.checked import NormalTally  # internal: means with errors of the test's own samples
from lipverify.laws import Affine, Cosine, FunctionLaw, Linear, ReLU, Ridge, Transformed
from lipverify.loss.methods import _sphere_noise  # internal: the noise of the sphere that helps, and none
from lipverify.loss.montecarlo.accuracy import tally_of  # internal: samples are added until a count, not an error
from lipverify.loss.montecarlo.elliptic import Elliptic, noise_of_key  # internal: which sampler was chosen, and its key
from lipverify.loss.montecarlo.terms import INTERVALS, SAMPLINGS, sampler  # internal: sample by sample
from tests.strategies import log_floats, target

EXAMPLES = 10
ROTATIONS = st.integers(0, 10**6)


def matrix(d: int, address: int, low: float, high: float) -> Floats:
    """A matrix that is not symmetric, with singular values from low to high."""
    U, V = (np.linalg.qr(normals(0, f"elliptic/{side}", address, (d, d)))[0] for side in "uv")
    return np.asarray(U @ np.diag(np.geomspace(low, high, d)) @ V.T)


def positive(d: int, address: int) -> Floats:
    """A positive definite matrix with eigenvalues from 1/4 to 4."""
    R = matrix(d, address, 0.5, 2.0)
    return np.asarray((R @ R.T + (R @ R.T).T) / 2)


@settings(max_examples=EXAMPLES)
@given(
    d=st.integers(2, 5),
    n=st.integers(1, 40),
    w=log_floats(0.1, 8.0),
    kind=st.sampled_from(["sphere", "ellipsoid", "gaussian"]),
    law=st.sampled_from([Affine(), Linear(2.0), ReLU(), Cosine(2.0), Ridge(np.tanh)]),
    mapped=st.booleans(),
    helped=st.booleans(),
    address=ROTATIONS,
)
def test_reduced_and_whole_contexts_agree(
    d: int, n: int, w: float, kind: str, law: Any, mapped: bool, helped: bool, address: int
) -> None:
    """They share no draw; normal intervals of 5.5 standard errors give false alarms of 4e-8 a term."""
    Sigma = positive(d, address)
    covariates: dict[str, Covariates] = {"sphere": Sphere(), "ellipsoid": Ellipsoid(Sigma), "gaussian": Gaussian(Sigma)}
    task: FunctionLaw = Transformed(matrix(d, address + 1, 0.5, 1.5), law) if mapped else law
    problem, M = Problem(d=d, n=n, law=task, covariates=covariates[kind]), matrix(d, address + 2, 0.5, 2.0)
    known = _sphere_noise if helped else None
    reduced, full = (
        sampler(problem, np.array([w]), M, sampling=how, stream=how, sphere_noise=known) for how in SAMPLINGS
    )
    assert isinstance(reduced, Elliptic)
    one, other = (tally_of(each, 6000, kind=NormalTally) for each in (reduced, full))
    (a, a_error), (b, b_error) = (_unchecked(tally) for tally in (one, other))
    assert reduced.unit == full.unit
    error = 5.5 / 1.96 * np.hypot(a_error, b_error)
    target(float(np.max(np.abs(a - b) / np.maximum(error, 1e-300))))
    assert np.all(np.hypot(a_error, b_error) <= 0.2 * b + 1e-12), "too blunt to see anything"
    assert np.all(np.abs(a - b) <= error + reduced.off + 1e-12)


def _unchecked(tally: Any) -> tuple[Floats, Floats]:
    """The normal interval, also for the noise of one token, which does not vary."""
    spread = tally.spread
    return spread.mean, 1.96 * np.sqrt(spread.variance / tally.count)


@settings(max_examples=6)
@given(
    d=st.integers(2, 12),
    n=st.sampled_from([2, 3, 10, 10**3, 10**6]),
    least=log_floats(1e-3, 10.0),
    ratio=log_floats(1.0, 100.0),
    share=st.floats(0, 1),
)
def test_the_noise_of_a_key_is_that_of_the_sphere(d: int, n: int, least: float, ratio: float, share: float) -> None:
    of, v = noise_of_key(_sphere_noise, d, n, least, least * ratio), least * ratio**share
    exact = loss_terms(Problem(d=d, n=n, law=Linear()), v)
    gap = abs(float(of.at(np.array(v))) / float(exact.noise) - 1)
    target(gap / of.off)
    assert of.off < 1e-3
    assert gap <= of.off + float(exact.noise_error / exact.noise)


def noise_by_quadrature(n: int, w: float, along: float, across: float) -> float:
    """Over sigma^2 at d = 3, M = I: u_3 is uniform on [-1, 1], and |k|^2 = across^2 (1 - u_3^2) + along^2 u_3^2."""

    def at(height: float) -> float:
        key = math.sqrt(across**2 * (1 - height**2) + along**2 * height**2)
        return float(loss_terms(Problem(d=3, n=n, law=Linear()), w * key).noise)

    return float(quad(at, 0, 1, epsrel=1e-6)[0])


def test_the_noise_of_an_ellipsoid_is_covered_and_sharp() -> None:
    """Two hundred repetitions of 100 contexts miss 10 times on average at 95 %: 25 would be a one in 10^5 event."""
    n, w = 50, 3.0
    problem = Problem(d=3, n=n, law=ReLU(), covariates=Ellipsoid([1.0, 1.0, 4.0]))
    truth, misses = noise_by_quadrature(n, w, along=4.0, across=1.0), 0
    for repetition in range(200):
        stream = f"coverage/{repetition}"
        drawn = sampler(problem, np.array([w]), sampling="reduced", stream=stream, sphere_noise=_sphere_noise)
        mean, half_width = tally_of(drawn, 100).interval()
        assert half_width[0] < 0.3 * truth
        misses += bool(abs(mean[0] - truth) > half_width[0])
    assert misses <= 25
    many = loss_terms(problem, w, "montecarlo", contexts=40_000)
    assert many.noise_error < 0.01 * truth
    assert abs(float(many.noise) - truth) <= float(many.noise_error)


def test_the_noise_of_an_ellipsoid_is_known_better_than_by_normal_intervals_of_whole_contexts() -> None:
    """The range of a single context, [1/n, 1], would make betting intervals a hundred times wider than normal ones."""
    problem, w = Problem(d=3, n=300, law=ReLU(), covariates=Ellipsoid([4.0, 1.0, 0.25])), [1.0, 4.0]
    reduced = loss_terms(problem, w, "montecarlo", contexts=20_000)
    whole = loss_terms(problem, w, "montecarlo", contexts=20_000, sampling="full", interval="normal")
    checked, betting = (
        loss_terms(problem, w, "montecarlo", contexts=20_000, sampling="full", interval=kind)
        for kind in ("checked", "betting")
    )
    assert np.all(reduced.noise_error <= whole.noise_error)
    assert np.all(checked.noise_error <= 1.02 * whole.noise_error)
    assert np.all(betting.noise_error <= 2.5 * whole.noise_error)


@pytest.mark.parametrize("law", [Affine(), ReLU(), Cosine(3.0)])
def test_the_bias_on_an_ellipsoid_is_covered(law: Any) -> None:
    """Whitened, it is that of the sphere. At 95 % 100 repetitions miss 5 times: more than 15 is a 4 in 10^5 event."""
    Sigma = np.array([4.0, 1.0, 0.25])
    whitened = Transformed(np.diag(Sigma**-0.5), law)
    problem, M = Problem(d=3, n=12, law=whitened, covariates=Ellipsoid(Sigma)), np.diag(1 / Sigma)
    truth, misses = float(loss_terms(Problem(d=3, n=12, law=law), 4.0).bias), dict.fromkeys(INTERVALS, 0)
    for repetition in range(100):
        drawn = sampler(problem, np.array([4.0]), M, sampling="reduced", stream=f"bias/{repetition}")
        samples = drawn.rows(0, 1000)
        for name, kind in INTERVALS.items():
            tally = kind(*drawn.bounds())
            tally.add(samples)
            mean, half_width = tally.interval()
            misses[name] += bool(abs(drawn.unit * mean[1] - truth) > drawn.unit * half_width[1])
            assert drawn.unit * half_width[1] < truth
    assert len(misses) == 3
    assert max(misses.values()) <= 15


def test_linear_tasks_are_known_better_than_by_normal_intervals_of_whole_contexts() -> None:
    """Averaged over its direction, a linear task has a d-th of the range."""
    law = Transformed(np.diag([0.5, 1.0, 2.0]), Affine())
    for task in (Affine(), law):
        problem = Problem(d=3, n=300, law=task, covariates=Ellipsoid([4.0, 1.0, 0.25]))
        reduced = loss_terms(problem, [1.0, 4.0], "montecarlo", contexts=20_000)
        whole = loss_terms(problem, [1.0, 4.0], "montecarlo", contexts=20_000, sampling="full", interval="normal")
        assert np.all(reduced.bias_error <= 1.3 * whole.bias_error)
        assert np.all(np.abs(reduced.bias - whole.bias) <= reduced.bias_error + 3 * whole.bias_error)


@pytest.mark.parametrize("covariates", [Ellipsoid([4.0, 1.0, 0.25]), Gaussian([4.0, 1.0, 0.25])])
@pytest.mark.parametrize("n", [1, 7])
def test_uniform_weights_have_closed_forms(covariates: Covariates, n: int) -> None:
    """At w = 0 the bias of an affine law is (1 + 1/n) L^2/3d E |x|^2; on an ellipsoid E |x|^2 is tr Sigma / d."""
    problem = Problem(d=3, n=n, law=Affine(), covariates=covariates, sigma=2.0)
    terms = loss_terms(problem, 0.0, "montecarlo", contexts=40_000, interval="normal")
    truth = (1 + 1 / n) / 9 * 5.25 * (1.0 if isinstance(covariates, Gaussian) else 1 / 3)
    assert float(terms.noise) == pytest.approx(4.0 / n, rel=1e-12)
    assert float(terms.noise_error) < 1e-5
    assert float(terms.bias_error) < 0.03 * truth
    assert abs(float(terms.bias) - truth) <= 2 * float(terms.bias_error)


def test_whitened_scores_leave_nothing_of_the_noise_to_sample() -> None:
    Sigma = np.array([[3.0, 1.0], [1.0, 2.0]])
    problem = Problem(d=2, n=20, law=ReLU(), covariates=Ellipsoid(Sigma), sigma=0.5)
    for interval in ("betting", "normal"):
        terms = loss_terms(problem, [0.0, 4.0], "montecarlo", M=np.linalg.inv(Sigma), contexts=200, interval=interval)
        exact = loss_terms(Problem(d=2, n=20, law=ReLU(), sigma=0.5), [0.0, 4.0])
        assert np.all(terms.noise_error < 1e-5 * exact.noise)
        assert np.all(np.abs(terms.noise - exact.noise) <= terms.noise_error + exact.noise_error)


def test_covariates_without_a_bound_have_normal_intervals_only() -> None:
    """A cosine is bounded everywhere; a user's ridge law or ReLU is not known to be."""
    at = Problem(d=2, n=5, law=ReLU(), covariates=Gaussian([1.0, 2.0]))
    for law in (ReLU(), Ridge(np.tanh), Affine()):
        for sampling in SAMPLINGS:
            with pytest.raises(InvalidInput, match="interval='normal'"):
                loss_terms(at.replace(law=law), 1.0, "montecarlo", contexts=200, sampling=sampling)
        normal = loss_terms(at.replace(law=law), 1.0, "montecarlo", rtol=0.1, interval="normal")
        assert 0 < float(normal.bias_error) <= 0.1 * float(normal.bias)
    betting = loss_terms(at.replace(law=Cosine(2.0)), 1.0, "montecarlo", contexts=4000, interval="betting")
    normal = loss_terms(at.replace(law=Cosine(2.0)), 1.0, "montecarlo", contexts=4000, interval="normal")
    assert float(normal.bias_error) < float(betting.bias_error)
    assert float(betting.bias) == pytest.approx(float(normal.bias), rel=1e-12)


def test_a_normal_interval_is_refused_where_a_few_contexts_carry_it() -> None:
    """Beyond any scale of the tokens all weight is on one: no context varied, but rare ones do."""
    problem = Problem(d=3, n=10, law=Affine())
    with pytest.raises(OutOfReach, match="did not vary"):
        loss_terms(problem, 1e7, "montecarlo", contexts=1000, interval="normal")
    with pytest.raises(InvalidInput, match="checked, betting, normal"):
        loss_terms(problem, 1.0, "montecarlo", contexts=1000, interval="exact")  # type: ignore[call-overload]


def test_the_best_matrix_of_normal_covariates() -> None:
    """The scale of M goes with the inverse of that of Sigma, to rounding where it is a power of four."""
    problem = Problem(d=2, n=6, law=Affine(L=3.0), covariates=Gaussian([1.0, 1.0]))
    wide = problem.replace(covariates=Gaussian([4.0, 4.0]), law=Affine(L=1.5))
    one, other = (optimal_matrix(each, contexts=640, starts=2) for each in (problem, wide))
    assert one.M_error[0, 0] < 0.3 * one.M[0, 0]
    np.testing.assert_allclose(4 * other.M, one.M, rtol=1e-3)
