"""Prompts with a covariance: the exact risk by quadrature, rationals and samples; the best step is the best."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation import Floats
from lipverify.linear_transformer import (
    Prompts,
    Tokens,
    best_step,
    forward,
    preconditioned,
    sampled_risk,
    spectral_mean,
    step_risk,
)
from lipverify.linear_transformer.prompts import draw_prompts  # internal: what sampled_risk draws

dimensions, lengths, seeds = st.integers(1, 4), st.integers(1, 50), st.integers(0, 2**32 - 1)


def semidefinite(random: np.random.Generator, d: int) -> Floats:
    root = random.normal(size=(d, d))
    return np.asarray(root @ root.T)


def some(d: int, n: float, seed: int) -> tuple[Prompts, Floats]:
    """Prompts without diagonal matrices, and a preconditioner."""
    random = np.random.default_rng(seed)
    Lambda, S, Q = (semidefinite(random, d) for _ in range(3))
    return Prompts(n, Lambda, S, float(random.random()), Q), random.normal(size=(d, d)) / d


def rooted(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


@pytest.mark.parametrize(("d", "n"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_the_risk_is_that_of_gauss_hermite_rules_over_every_token(d: int, n: int) -> None:
    """The loss is a polynomial of degree 4 in any one normal number, so that four nodes are exact."""
    prompts, A = some(d, n, seed=7)
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    count = n * d + d + n
    z = np.array(list(itertools.product(nodes, repeat=count)))
    weight = np.prod(np.array(list(itertools.product(weights / weights.sum(), repeat=count))), axis=1)
    x = z[:, : n * d].reshape(-1, n, d) @ rooted(prompts.Lambda).T
    w = z[:, n * d : n * d + d] @ rooted(prompts.S).T
    y = np.einsum("cid,cd->ci", x, w) + prompts.sigma * z[:, n * d + d :]
    away = np.einsum("ci,cid->cd", y, x) / n @ A.T - w
    expected = float(weight @ np.einsum("ci,ij,cj->c", away, prompts.Q, away))
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
    L, S, Q, B = (rational(m) for m in (prompts.Lambda, prompts.S, prompts.Q, A))
    signal = product(L, S, L)
    power = sum(product(L, S)[i][i] for i in range(d)) + Fraction(prompts.sigma) ** 2
    C = [[(signal[i][j] + power * L[i][j]) / n for j in range(d)] for i in range(d)]
    E = [[entry - (i == j) for j, entry in enumerate(row)] for i, row in enumerate(product(B, L))]
    parts = [product(Q, F, M, list(zip(*F, strict=True))) for F, M in ((E, S), (B, C))]
    exact = sum(part[i][i] for part in parts for i in range(d))
    found = step_risk(prompts, A)
    assert abs(Fraction(found.value) - exact) <= Fraction(found.error)
    scale = sum(np.abs(m).max() for m in (prompts.Q, prompts.S)) * (1 + np.abs(A).max() * np.abs(prompts.Lambda).max())
    assert found.error < 1e-9 * scale**4


@given(dimensions, lengths, seeds)
def test_no_other_preconditioner_has_less_risk(d: int, n: int, seed: int) -> None:
    prompts, away = some(d, n, seed)
    best = best_step(prompts)
    least = step_risk(prompts, best)
    for step in (-1e-2, 1e-2):
        other = step_risk(prompts, best + step * away)
        assert other.value >= least.value - least.error - other.error


def test_samples_agree_and_detect_another_length() -> None:
    prompts, A = some(3, 12, seed=3)
    value, half_width = sampled_risk(prompts, [preconditioned(A, 12)], contexts=40_000, seed=0)
    exact = step_risk(prompts, A)
    assert half_width < 0.05 * exact.value
    assert abs(value - exact.value) < 2 * half_width
    off = step_risk(Prompts(9, prompts.covariance, prompts.tasks, prompts.sigma, prompts.query), A)
    assert abs(value - off.value) > 2 * half_width
    weights = sampled_risk(prompts, lambda gram: gram[:, :3, 3] @ A.T / 12, contexts=40_000, seed=0)
    assert weights[0] == pytest.approx(value, rel=1e-12)
    with pytest.raises(OutOfReach, match="2048 samples did not vary"):
        sampled_risk(prompts, [preconditioned(A, 12)], 2048, 0, less=[preconditioned(A, 12)])


def test_prompts_are_addressed_and_have_their_covariances() -> None:
    prompts, _ = some(3, 2, seed=5)  # fewer tokens than Bartlett's triangle has rows
    few, many = (draw_prompts(prompts, count, seed=1, stream="a") for count in (5, 60_000))
    assert np.array_equal(few.gram, many.gram[:5])
    assert np.array_equal(few.task, many.task[:5])
    covariance, tasks = many.gram[:, :3, :3].mean(axis=0) / 2, np.cov(many.task.T)
    assert np.abs(covariance - prompts.Lambda).max() < 0.05 * np.abs(prompts.Lambda).max()
    assert np.abs(tasks - prompts.S).max() < 0.05 * np.abs(prompts.S).max()


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
    prompts = Prompts(n, [1.0, small], sigma=0.3, query=[1.0, 1.0])
    scale = np.array([1.0, small])
    expected = 1 / (scale * (1 + 1 / n) + (1 + small + 0.09) / n)
    np.testing.assert_allclose(best_step(prompts), np.diag(expected), rtol=1e-12)


def test_nothing_seen_is_no_step() -> None:
    """For singular covariances the solution has the smallest norm."""
    assert not best_step(Prompts(5, [0.0, 0.0], sigma=1.0)).any()
    np.testing.assert_allclose(best_step(Prompts(1, [1.0, 0.0], sigma=1.0)), np.diag([1 / 4, 0.0]), rtol=1e-13)
