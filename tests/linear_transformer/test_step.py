"""One layer: the exact risk by quadrature, rationals and samples, for many covariates; the best step is the best."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipverify.covariates import Coordinates, Covariates, Ellipsoid, Gaussian, Mixture, Pool, Sparse, Sphere
from lipverify.errors import InvalidInput
from lipverify.foundation import Floats
from lipverify.laws import ReLU
from lipverify.linear_transformer import Tokens, best_step, forward, preconditioned, spectral_mean, step_risk
from lipverify.prompts import Prompts, predictors, risk

dimensions, lengths, seeds = st.integers(1, 4), st.integers(1, 50), st.integers(0, 2**32 - 1)


def semidefinite(random: np.random.Generator, d: int) -> Floats:
    root = random.normal(size=(d, d))
    return np.asarray(root @ root.T)


def some(d: int, n: float, seed: int) -> tuple[Prompts, Floats]:
    """Prompts without diagonal matrices, and a preconditioner."""
    random = np.random.default_rng(seed)
    Lambda, S, Q = (semidefinite(random, d) for _ in range(3))
    laws = {"covariates": Gaussian(Lambda), "tasks": Gaussian(S), "query": Gaussian(Q)}
    return Prompts(d=d, n=n, sigma=float(random.random()), **laws), random.normal(size=(d, d)) / d


def matrices(prompts: Prompts) -> list[Floats]:
    """Lambda, S and Q."""
    return [law.moments(prompts.d).second for law in (prompts.covariates, prompts.tasks, prompts.query or Sphere())]


def rooted(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


@pytest.mark.parametrize(("d", "n"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_the_risk_is_that_of_gauss_hermite_rules_over_every_token(d: int, n: int) -> None:
    """The loss is a polynomial of degree 4 in any one normal number, so that four nodes are exact."""
    prompts, A = some(d, n, seed=7)
    Lambda, S, Q = matrices(prompts)
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    count = n * d + d + n
    z = np.array(list(itertools.product(nodes, repeat=count)))
    weight = np.prod(np.array(list(itertools.product(weights / weights.sum(), repeat=count))), axis=1)
    x = z[:, : n * d].reshape(-1, n, d) @ rooted(Lambda).T
    w = z[:, n * d : n * d + d] @ rooted(S).T
    y = np.einsum("cid,cd->ci", x, w) + prompts.sigma * z[:, n * d + d :]
    away = np.einsum("ci,cid->cd", y, x) / n @ A.T - w
    expected = float(weight @ np.einsum("ci,ij,cj->c", away, Q, away))
    assert step_risk(prompts, A).value == pytest.approx(expected, rel=1e-11)


def rational(matrix: Floats) -> list[list[Fraction]]:
    return [[Fraction(float(entry)) for entry in row] for row in matrix]


def product(*factors: Any) -> Any:
    found = factors[0]
    for factor in factors[1:]:
        columns = list(zip(*factor, strict=True))
        found = [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in found]
    return found


@given(dimensions, st.sampled_from([1, 7, 10**3, 10**9, 10**15]), seeds)
def test_the_error_covers_the_rounding_and_is_small(d: int, n: int, seed: int) -> None:
    prompts, _ = some(d, n, seed)
    A = best_step(prompts)  # here the bias is a difference of nearly equal numbers
    laws: list[Any] = [prompts.covariates, prompts.tasks, prompts.query]
    Lambda, tasks, query = (np.array(law.Sigma) for law in laws)
    L, S, Q, B = (rational(m) for m in (Lambda, tasks, query, A))
    signal = product(L, S, L)
    power = sum(product(L, S)[i][i] for i in range(d)) + Fraction(prompts.noise.second_moment)
    C = [[(signal[i][j] + power * L[i][j]) / n for j in range(d)] for i in range(d)]
    E = [[entry - (i == j) for j, entry in enumerate(row)] for i, row in enumerate(product(B, L))]
    parts = [product(Q, F, M, list(zip(*F, strict=True))) for F, M in ((E, S), (B, C))]
    exact = sum(part[i][i] for part in parts for i in range(d))
    found = step_risk(prompts, A)
    assert abs(Fraction(found.value) - exact) <= Fraction(found.error)
    size = np.abs(query).max() * np.abs(tasks).max() * (1 + np.abs(A).max() * np.abs(Lambda).max()) ** 2
    assert found.error < 1e-9 * (size + found.value)


@given(dimensions, lengths, seeds)
def test_no_other_preconditioner_has_less_risk(d: int, n: int, seed: int) -> None:
    prompts, away = some(d, n, seed)
    best = best_step(prompts)
    least = step_risk(prompts, best)
    for step in (-1e-2, 1e-2):
        other = step_risk(prompts, best + step * away)
        assert other.value >= least.value - least.error - other.error


LAWS: dict[str, Covariates] = {
    "normal": Gaussian([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.0]]),
    "cube": Coordinates("uniform"),
    "gamma": Coordinates("gamma", 2.0, scale=0.5, shift=-0.25),
    "student": Coordinates("student", 12.0),
    "signs": Coordinates("sign", shift=0.5),
    "sphere": Sphere(),
    "ellipsoid": Ellipsoid([1.0, 2.0, 3.0]),
    "points": Pool([[1.0, 0.0, 2.0], [0.0, -1.0, 1.0], [1.0, 1.0, 1.0]]),
    "mixture": Mixture([(0.25, Sphere()), (0.75, Coordinates(shift=0.5))]),
}


by_day = [pytest.param(name, marks=[pytest.mark.slow] * (name == "gamma")) for name in LAWS]


@pytest.mark.parametrize("name", by_day)
def test_samples_agree_for_any_covariates_and_detect_another_length(name: str) -> None:
    A = np.random.default_rng(3).normal(size=(3, 3)) / 2
    prompts = Prompts(d=3, n=6, covariates=LAWS[name], tasks=Sparse(2), sigma=0.5, query=Sphere())
    value, half_width = risk(prompts, predictors.transformer([preconditioned(A, 6)]), contexts=40_000)
    exact = step_risk(prompts, A)
    assert half_width < 0.05 * exact.value
    assert abs(value - exact.value) < 2 * half_width
    assert abs(value - step_risk(prompts.replace(n=4), A).value) > 2 * half_width
    assert step_risk(prompts, best_step(prompts)).value < exact.value


@pytest.mark.parametrize("name", by_day)
def test_moments_are_those_of_draws(name: str) -> None:
    law, S = LAWS[name], np.array([[1.0, 0.5, 0.0], [0.5, 2.0, -0.25], [0.0, -0.25, 0.5]])
    x = law.draw(np.random.default_rng(0), (400_000, 3))
    for measured, exact in (
        (x[:, :, None] * x[:, None, :], law.moments(3).second),
        (np.einsum("ci,ij,cj->c", x, S, x)[:, None, None] * x[:, :, None] * x[:, None, :], law.moments(3).fourth(S)),
    ):
        error = measured.std(axis=0) / len(x) ** 0.5
        assert np.all(np.abs(measured.mean(axis=0) - exact) <= 5 * error + 1e-12)
        assert np.any(np.abs(measured.mean(axis=0) - 1.05 * exact) > 5 * error + 1e-12)


def test_the_numbers_of_others() -> None:
    """Uniform on [-1, 1]^10 with ten tokens: the best multiple of I, and the normal law's, in a loop over digits."""
    cube = Prompts(d=10, n=10, covariates=Coordinates("uniform"))
    np.testing.assert_allclose(best_step(cube), 50 / 33 * np.eye(10), atol=1e-13)
    assert round(step_risk(cube, best_step(cube)).value, 6) == 1.649832
    normal = best_step(cube.replace(covariates=Gaussian(np.full(10, 1 / 3))))
    assert round(step_risk(cube, normal).value, 6) == 1.655329


def test_what_has_no_moments_is_refused() -> None:
    for changes, words in (
        ({"covariates": Coordinates("student", 4.0)}, "parameter = 4.0.*no fourth moment"),
        ({"covariates": Sparse(1)}, "no closed form"),
        ({"tasks": ReLU()}, "linear tasks"),
    ):
        with pytest.raises(InvalidInput, match=words):
            best_step(Prompts(d=3, n=5, **changes))


def test_layers_with_preconditioners_are_steps() -> None:
    random = np.random.default_rng(2)
    x, y, query = random.normal(size=(7, 3)), random.normal(size=7), random.normal(size=3)
    A = random.normal(size=(2, 3, 3)) / 4
    end = forward(Tokens(np.column_stack([x, y]), np.append(query, 0.0)), [preconditioned(a, 7) for a in A])[-1]
    w = np.zeros(3)
    for a in A:
        w = w - a @ (x.T @ (x @ w - y)) / 7
    assert float(end.prediction) == pytest.approx(float(w @ query), rel=1e-12)


@pytest.mark.parametrize(("n", "d"), [(1, 5), (3, 5), (5, 3), (7, 5), (40, 20), (9, 20)])
def test_means_over_eigenvalues_are_wisharts_moments(n: int, d: int) -> None:
    fewer, apart = min(n, d), abs(n - d)
    exact: dict[str, tuple[Any, float]] = {
        "t": (lambda t: t, float(n)),
        "t^2": (np.square, float(n * (n + d + 1))),
        "1/t": (np.reciprocal, fewer / d / (apart - 1)),
    }
    for name, (f, moment) in exact.items():
        value, error = spectral_mean(f, n, d)
        assert abs(value - moment) <= error < 1e-9 * moment, name
    assert spectral_mean(np.zeros_like, n, d, at_zero=1.0)[0] == pytest.approx(max(0.0, 1 - n / d), abs=1e-15)


@pytest.mark.parametrize(("n", "d"), [(5, 5), (5, 6), (6, 5)])
def test_a_mean_that_is_infinite_is_refused(n: int, d: int) -> None:
    with pytest.raises(InvalidInput, match="no mean"):
        spectral_mean(np.reciprocal, n, d)
    value, error = spectral_mean(lambda t: 1 / (1 + t), n, d, at_zero=1.0)
    assert error < 1e-9 * value


@pytest.mark.parametrize("small", [1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize("n", [100, 1e12, 1e30])
def test_a_small_eigenvalue_is_no_zero(small: float, n: float) -> None:
    """A query in the direction of the smallest variance: the best entry there is 1 / (Lambda (1 + 1/n) + trace / n)."""
    prompts = Prompts(d=2, n=n, covariates=Gaussian([1.0, small]), sigma=0.3, query=Coordinates())
    scale = np.array([1.0, small])
    expected = 1 / (scale * (1 + 1 / n) + (1 + small + 0.09) / n)
    np.testing.assert_allclose(best_step(prompts), np.diag(expected), rtol=1e-12)


def test_nothing_seen_is_no_step() -> None:
    """For singular covariances the solution has the smallest norm."""
    assert not best_step(Prompts(d=2, n=5, covariates=Gaussian([0.0, 0.0]), sigma=1.0)).any()
    np.testing.assert_allclose(
        best_step(Prompts(d=2, n=1, covariates=Gaussian([1.0, 0.0]), sigma=1.0)), np.diag([1 / 4, 0.0]), rtol=1e-13
    )
