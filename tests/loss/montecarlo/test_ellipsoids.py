"""Sampling beyond the sphere, by whole contexts: compared with closed forms, and with quadrature over queries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from lipverify import Problem, loss_terms, optimal_matrix
from lipverify.covariates import Covariates, Ellipsoid, Gaussian
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.laws import Affine, Cosine, Linear, ReLU, Ridge, Transformed
from lipverify.loss.montecarlo.accuracy import tally_of  # internal: samples are added until a count, not an error
from lipverify.loss.montecarlo.terms import INTERVALS, sampler  # internal: sample by sample


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
        mean, half_width = tally_of(sampler(problem, np.array([w]), stream=stream), 100).interval()
        assert half_width[0] < truth
        misses += bool(abs(mean[0] - truth) > half_width[0])
    assert misses <= 25
    many = loss_terms(problem, w, "montecarlo", contexts=40_000)
    assert many.noise_error < 0.01 * truth
    assert abs(float(many.noise) - truth) <= float(many.noise_error)


@pytest.mark.parametrize(
    "law", [ReLU(), *(pytest.param(law, marks=pytest.mark.slow) for law in (Affine(), Cosine(3.0)))]
)
def test_the_bias_on_an_ellipsoid_is_covered(law: Any) -> None:
    """Whitened, it is that of the sphere. At 95 % 100 repetitions miss 5 times: more than 15 is a 4 in 10^5 event."""
    Sigma = np.array([4.0, 1.0, 0.25])
    whitened = Transformed(np.diag(Sigma**-0.5), law)
    problem, M = Problem(d=3, n=12, law=whitened, covariates=Ellipsoid(Sigma)), np.diag(1 / Sigma)
    truth, misses = float(loss_terms(Problem(d=3, n=12, law=law), 4.0).bias), dict.fromkeys(INTERVALS, 0)
    for repetition in range(100):
        drawn = sampler(problem, np.array([4.0]), M, stream=f"bias/{repetition}")
        samples = drawn.rows(0, 1000)
        for name, kind in INTERVALS.items():
            tally = kind(*drawn.bounds())
            tally.add(samples)
            mean, half_width = tally.interval()
            misses[name] += bool(abs(drawn.unit * mean[1] - truth) > drawn.unit * half_width[1])
            assert drawn.unit * half_width[1] < truth
    assert len(misses) == 3
    assert max(misses.values()) <= 15


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


def test_covariates_without_a_bound_have_normal_intervals_only() -> None:
    """A cosine is bounded everywhere; a user's ridge law or ReLU is not known to be."""
    at = Problem(d=2, n=5, law=ReLU(), covariates=Gaussian([1.0, 2.0]))
    for law in (ReLU(), Ridge(np.tanh), Affine()):
        with pytest.raises(InvalidInput, match="interval='normal'"):
            loss_terms(at.replace(law=law), 1.0, "montecarlo", contexts=200)
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
