"""Problems that whitening makes isotropic: exact values against contexts drawn in the space of x, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms, optimal_window
from lipverify.covariates import Ellipsoid, Gaussian, ProductOfSpheres, axes
from lipverify.errors import InvalidInput
from lipverify.foundation import Floats, normals
from lipverify.laws import Affine, LowRank, ReLU, Transformed
from lipverify.loss.methods import method_named
from lipverify.loss.montecarlo.accuracy import tally_of  # internal: samples are added until a count, not an error
from lipverify.loss.montecarlo.terms import sampler  # internal: samples at a matrix that is not isotropic
from lipverify.optimum import empirical_window
from lipverify.problem.whitening import isotropic_form  # internal: the isotropic form by itself, with its rounding
from tests.strategies import log_floats, target

LEVEL = 1 - 1e-5


def whitened(d: int, address: int, law: Any = ReLU()) -> tuple[Problem, Floats]:  # noqa: B008
    """A problem on an ellipsoid with a law of Sigma^{-1/2} x, and Sigma^{-1}."""
    Q = np.linalg.qr(normals(0, "whitening", address, (d, d)))[0]
    values = np.geomspace(0.25, 4.0, d)
    Sigma, root = (Q * values) @ Q.T, (Q / np.sqrt(values)) @ Q.T
    covariates = Ellipsoid((Sigma + Sigma.T) / 2)
    return Problem(d=d, n=20, law=Transformed(root, law), covariates=covariates), (Q / values) @ Q.T


@settings(max_examples=4)
@given(d=st.integers(2, 5), w=log_floats(0.3, 8.0), factor=log_floats(0.1, 10.0), address=st.integers(0, 10**6))
def test_exact_terms_are_those_of_whole_contexts(d: int, w: float, factor: float, address: int) -> None:
    """False alarms: 1e-5 for each term of each example. The control: another factor is another loss."""
    problem, inverse = whitened(d, address)
    exact = loss_terms(problem, w / factor, "exact", M=factor * inverse)
    drawn = sampler(problem, np.array([w / factor]), factor * inverse, stream=f"{address}/{w}")
    value, half_width = tally_of(drawn, 6000).interval(LEVEL)
    units = np.array([problem.sigma**2, drawn.unit])
    truth = np.array([float(exact.noise), float(exact.bias)])
    target(float(np.max(np.abs(units * value - truth) / (units * half_width))))
    assert np.all(units * half_width < 0.5 * truth)
    assert np.all(np.abs(units * value - truth) <= units * half_width)
    other = loss_terms(problem, 2 * w / factor, "exact", M=factor * inverse)
    assert abs(units[0] * value[0] - float(other.noise)) > units[0] * half_width[0]


def test_errors_grow_by_how_far_the_matrices_are_off() -> None:
    """With M typed to eleven digits the change is within the error; otherwise the error is that of the exact method."""
    problem, inverse = whitened(3, 7)
    typed = inverse * (1 + 1e-11 * np.sign(inverse - np.mean(inverse)))
    one, other = (loss_terms(problem, 4.0, "exact", M=M) for M in (inverse, typed))
    assert isotropic_form(problem, typed).off > 1e-13
    assert float(one.bias_error) < 1e-11 * float(one.bias)
    assert float(other.bias_error) > float(one.bias_error)
    assert abs(float(other.bias) - float(one.bias)) <= float(other.bias_error) + float(one.bias_error)


def test_the_best_window_of_a_whitened_problem() -> None:
    problem, inverse = whitened(3, 3, Affine(L=2.0))
    sphere = optimal_window(Problem(d=3, n=20, law=Affine(L=2.0)))
    exact = optimal_window(problem, M=2 * inverse)
    assert exact.problem == problem
    assert exact.w == pytest.approx(sphere.w / 2, rel=1e-12)
    assert exact.loss == pytest.approx(sphere.loss, rel=1e-12)
    sampled = empirical_window(problem, M=2 * inverse, contexts=4000)
    assert sampled.w_error < 0.15 * sampled.w
    assert abs(sampled.w - exact.w) <= 2 * sampled.w_error
    assert abs(sampled.loss - exact.loss) <= 2 * sampled.loss_error


@pytest.mark.parametrize(
    ("changes", "M", "said"),
    [
        ({}, None, "A^T M A is no positive multiple"),
        ({}, -np.eye(3), "A^T M A is no positive multiple"),
        ({}, np.zeros((3, 3)), "A^T M A is no positive multiple"),
        ({"law": ReLU()}, "inverse", "f is not isotropic in u"),
        ({"law": LowRank(axes(3, 1), ReLU())}, "inverse", "f is not isotropic in u"),
        ({"covariates": Gaussian([1.0, 1.0, 1.0])}, "inverse", "no ellipsoid"),
        ({"covariates": ProductOfSpheres(axes(3, 1))}, "inverse", "no ellipsoid"),
        ({}, np.eye(2), "3 x 3"),
    ],
)
def test_a_problem_without_an_isotropic_form_is_refused(changes: dict[str, Any], M: Any, said: str) -> None:
    problem, inverse = whitened(3, 1)
    matrix = inverse if isinstance(M, str) else M
    with pytest.raises(InvalidInput) as refusal:
        loss_terms(problem.replace(**changes), 1.0, "exact", M=matrix)
    assert said in str(refusal.value)
    with pytest.raises(InvalidInput):
        optimal_window(problem.replace(**changes), M=matrix)


def test_only_the_exact_method_whitens() -> None:
    problem, inverse = whitened(3, 1)
    for method in ("asymptotic", "certified"):
        with pytest.raises(InvalidInput, match="isotropic"):
            loss_terms(problem, 1.0, method_named(method), M=inverse)
