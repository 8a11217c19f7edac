"""Exact losses for normal covariates: compared with references that share the definition alone, and with sampling."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from lipverify import Problem, loss_terms, optimal_window
from lipverify.covariates import Ellipsoid, Gaussian
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.laws import Affine, Cosine, Law, Linear, LowRank, Quadratic, ReLU, Transformed
from tests.reference import normal as reference

LAWS: dict[str, Law] = {"affine": Affine(), "quadratic": Quadratic(), "relu": ReLU()}
ROWS = json.loads(reference.VALUES.read_text())


def normal(d: int, n: int, law: Law, variance: float = 1.0, sigma: float = 1.0) -> Problem:
    return Problem(d=d, n=n, law=law, sigma=sigma, covariates=Gaussian([variance] * d))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "{term}-{d}-{n:.0e}-{w}".format(**row))
def test_values_of_the_references(row: dict[str, Any]) -> None:
    assert row["off"] < 1e-9
    law = LAWS.get(row["term"], Affine())
    terms = loss_terms(normal(row["d"], row["n"], law), row["w"])
    name = "noise" if row["term"] == "noise" else "bias"
    value, error = float(getattr(terms, name)), float(getattr(terms, f"{name}_error"))
    assert 0 < error < 1e-8 * value
    assert abs(value - row["value"]) <= error + row["off"] * value
    assert abs(1.001 * value - row["value"]) > error + row["off"] * value  # the test can fail


@pytest.mark.parametrize(("d", "n"), [(1, 2), (5, 10**12), (50, 1000)])
def test_the_largest_score_alone(d: int, n: int) -> None:
    with mp.workdps(30):
        limit = float(reference.one_token(d, n))
    terms = loss_terms(normal(d, n, Affine()), 1e14)
    assert abs(float(terms.bias) - limit) <= float(terms.bias_error) < 1e-8 * limit
    assert abs(float(terms.noise) - 1) <= float(terms.noise_error) < 1e-8


@pytest.mark.parametrize(
    ("law", "variance"), [(Affine(), 1 / 3), (Linear(), 1.0), (Quadratic(), 2.0), (ReLU(), (1 - 1 / np.pi) / 3)]
)
@pytest.mark.parametrize(("n", "w"), [(1, 7.0), (1, 0.0), (9, 0.0), (9, 1e-300)])
def test_equal_weights(law: Law, variance: float, n: int, w: float) -> None:
    """B = (1 + 1/n) Var f(x) and N = sigma^2 / n."""
    terms = loss_terms(normal(2, n, law, sigma=0.5), w)
    assert float(terms.bias) == pytest.approx((1 + 1 / n) * variance, rel=1e-10)
    assert float(terms.noise) == pytest.approx(0.25 / n, rel=1e-10)
    assert float(loss_terms(normal(2, n, law, sigma=0.0), w).noise) == 0


@pytest.mark.parametrize(("d", "n", "law"), [(1, 2, ReLU()), (2, 200, Affine()), (5, 20, Quadratic())])
def test_sampling_agrees(d: int, n: int, law: Law) -> None:
    """At a fixed seed; five half-widths of 95 % intervals."""
    problem, w = normal(d, n, law, 2.0), [0.2, 0.5, 2.0]
    exact = loss_terms(problem, w)
    sampled = loss_terms(problem, w, "montecarlo", contexts=20_000, interval="normal")
    for name in ("bias", "noise"):
        value, error = getattr(sampled, name), getattr(sampled, f"{name}_error")
        assert np.all(error < 0.1 * value)
        assert np.all(np.abs(value - getattr(exact, name)) <= 2.5 * error)


@pytest.mark.parametrize(
    ("law", "unit"), [(Affine(2.0), Affine(6.0)), (Quadratic(2.0), Quadratic(18.0)), (ReLU(), ReLU(3.0))]
)
def test_scales(law: Law, unit: Law) -> None:
    """f(x) at N(0, 9 I) and w is f(3 x) at N(0, I) and 9 w; the same holds for a sphere of radius 3."""
    wide, one = loss_terms(normal(3, 30, law, 9.0), 0.1), loss_terms(normal(3, 30, unit), 0.9)
    assert float(wide.total) == pytest.approx(float(one.total), rel=1e-10)
    round_, sphere = Problem(d=3, n=30, law=law, covariates=Ellipsoid([9.0] * 3)), Problem(d=3, n=30, law=unit)
    assert float(loss_terms(round_, 0.1).total) == pytest.approx(float(loss_terms(sphere, 0.9).total), rel=1e-10)


def test_whitening_gives_standard_normals() -> None:
    Sigma = np.array([[3.0, 1.0], [1.0, 2.0]])
    values, vectors = np.linalg.eigh(Sigma)
    law = Transformed(vectors @ np.diag(values**-0.5) @ vectors.T, Affine())
    problem = Problem(d=2, n=20, law=law, covariates=Gaussian(Sigma))
    white = loss_terms(problem, 0.7, M=np.linalg.inv(Sigma))
    assert abs(float(white.total) - float(loss_terms(normal(2, 20, Affine()), 0.7).total)) <= float(white.total_error)


@pytest.mark.parametrize(
    ("problem", "options", "said"),
    [
        (normal(3, 9, Cosine(2.0)), {}, "use method='montecarlo'"),
        (normal(3, 9, ReLU()), {"route": "zonal"}, "leave it out"),
        (normal(3, 9, LowRank(np.eye(3)[:, :1], ReLU())), {}, "use method='montecarlo'"),
        (Problem(d=2, n=9, law=ReLU(), covariates=Gaussian([1.0, 2.0])), {}, "use method='montecarlo'"),
        (normal(1001, 9, Affine()), {}, "use method='montecarlo'"),
    ],
)
def test_refusals(problem: Problem, options: dict[str, Any], said: str) -> None:
    with pytest.raises((InvalidInput, OutOfReach), match=said) as refusal:
        loss_terms(problem, 1.0, **options)
    assert "\n" not in str(refusal.value)


def test_one_dimension_is_for_normal_covariates() -> None:
    with pytest.raises(InvalidInput, match="from 2"):
        Problem(d=1, n=9, law=Affine())


@pytest.mark.parametrize(("law", "limit"), [(Affine(), 1.0), (Quadratic(), np.sqrt(2 / 3))])
def test_the_best_w_tends_to_a_constant(law: Law, limit: float) -> None:
    """The loss at w* is below that beside it, and 1e12 tokens are near the limit of infinitely many."""
    problem = normal(2, 10**12, law)
    best = optimal_window(problem)
    assert best.w_error < 1e-5 < abs(best.w - limit) + 1e-5 < 1e-4
    assert np.all(loss_terms(problem, best.w + np.array([-0.01, 0.01])).total > best.loss + best.loss_error)


def test_the_best_w_of_a_noisy_problem() -> None:
    best = optimal_window(normal(2, 3, Quadratic(), sigma=100.0))
    assert best.where == "zero"
    assert 0 < best.w_error < 1e-3
