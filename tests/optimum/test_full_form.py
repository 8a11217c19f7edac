"""Training with key and query matrices: gradients, entries without effect, symmetry, sampled labels, refusals."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem
from lipverify.checks.softmax.full_form import (
    LabelledContexts,
    curvature_in_row,
    draw_labelled,
    full_loss_and_gradient,
    mirrored,
    train_full,
)
from lipverify.checks.softmax.trained_blocks import slope_in_row, trained
from lipverify.covariates import Ellipsoid, axes
from lipverify.foundation import Floats, mean_interval, normals
from lipverify.laws import Affine, Cosine, Law, LowRank, ReLU, Sampled
from lipverify.loss.attention import attention_named, losses  # internal: the loss at any matrices
from lipverify.loss.montecarlo.contexts import draw_contexts  # internal: contexts that the training has not used
from tests.strategies import log_floats, target

EPS = float(np.finfo(float).eps)


def rising(rng: np.random.Generator, contexts: int, d: int) -> Callable[[Any], Any]:
    """<q, x> with q uniform on the half of the sphere where q_1 > 0: neither f(-x) nor -f has the law of f."""
    q = rng.standard_normal((contexts, 1, d))
    q *= np.sign(q[..., :1]) / np.linalg.norm(q, axis=-1, keepdims=True)
    return lambda x: np.sum(q * x, axis=-1)


CONTEXTS = 20
SMALL = Problem(d=2, n=6, law=ReLU(L=2.0), sigma=0.5)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Laws with amplitudes, without, composed and sampled."""
    d = draw(st.integers(2, 4))
    L = draw(log_floats(0.1, 10))
    laws: list[Law] = [
        Affine(L=L),
        ReLU(L=L),
        Cosine(L=L),
        LowRank(axes(d, 1), ReLU(L=L)),
        Sampled(rising, extent=2.0),
    ]
    return Problem(
        d=d,
        n=draw(st.integers(1, 9)),
        law=draw(st.sampled_from(laws)),
        sigma=draw(st.one_of(st.just(0.0), log_floats(0.1, 10))),
        covariates=Ellipsoid(np.geomspace(2.0, 0.5, d).tolist()),
    )


def drawn(problem: Problem, size: float) -> tuple[LabelledContexts, Floats, Floats]:
    """Contexts, a matrix with entries of that size and a direction of norm 1, all functions of the arguments."""
    seed = int.from_bytes(blake2b(f"{problem.d}/{problem.n}/{size}".encode(), digest_size=4).digest(), "little")
    A, E = normals(seed, "matrices", 0, (2, problem.d + 1, problem.d + 1))
    return draw_labelled(problem, CONTEXTS, seed, "full"), size * A, E / np.linalg.norm(E)


def rounding(contexts: LabelledContexts, A: Floats) -> float:
    """A bound on the rounding of the loss, and of a derivative along a direction of norm 1.

    Scores have the error eps (d + 1) |A| |z| |x|, weights the same relative error, sums of n terms n eps; these
    multiply at most the square of twice the largest label, times |z| |x| for a derivative.
    """
    _, n, width = contexts.tokens.shape
    reach = float(np.max(np.linalg.norm(contexts.tokens, axis=-1)) * np.max(np.linalg.norm(contexts.query, axis=-1)))
    labels = float(max(np.max(np.abs(contexts.tokens[:, :, -1])), np.max(np.abs(contexts.targets))))
    return float(EPS * (width * (1 + float(np.linalg.norm(A)) * reach) + n) * 4 * (2 * labels) ** 2 * max(1.0, reach))


@settings(max_examples=60)
@given(problem=problems(), size=st.one_of(st.just(0.0), log_floats(1e-3, 1e3)))
def test_the_gradient_is_the_derivative(problem: Problem, size: float) -> None:
    contexts, A, E = drawn(problem, size)
    _, gradient = full_loss_and_gradient(contexts, A)
    along, _ = full_loss_and_gradient(contexts, A + 1e-100j * E)
    error, bound = abs(float(np.sum(gradient * E)) - float(along.imag) / 1e-100), rounding(contexts, A)
    target(error / bound)
    assert error <= bound


@pytest.mark.parametrize("fault", ["no labels in the scores", "no centre", "transposed"])
def test_faults_of_the_gradient_are_seen(fault: str) -> None:
    """Terms that a derivation by hand could omit, on the same contexts and with the same bound."""
    contexts, A, E = drawn(SMALL, 1.0)
    d, total = SMALL.d, np.zeros_like(A)
    for z, x, f in zip(contexts.tokens, contexts.query, contexts.targets, strict=True):
        query = np.append(x, 0.0)
        a = np.exp(z @ A @ query)
        a /= a.sum()
        y, prediction = z[:, d], float(np.sum(a * z[:, d]))
        slopes = 2 * (prediction - f) * a * (y - (0.0 if fault == "no centre" else prediction))
        seen = z * np.append(np.ones(d), 0.0) if fault == "no labels in the scores" else z
        outer = np.outer(slopes @ seen, query)
        total += (outer.T if fault == "transposed" else outer) / CONTEXTS
    along, _ = full_loss_and_gradient(contexts, A + 1e-100j * E)
    assert abs(float(np.sum(total * E)) - float(along.imag) / 1e-100) > 1e6 * rounding(contexts, A)


@given(problem=problems(), size=log_floats(1e-2, 1e2))
def test_no_loss_depends_on_the_last_column(problem: Problem, size: float) -> None:
    contexts, A, E = drawn(problem, size)
    other = A.copy()
    other[:, -1] += E[:, -1]
    (loss, gradient), (same, _) = full_loss_and_gradient(contexts, A), full_loss_and_gradient(contexts, other)
    assert loss == same
    assert not np.any(gradient[:, -1])


@given(problem=problems(), size=log_floats(1e-2, 1e1))
def test_mirror_images_turn_the_row_around(problem: Problem, size: float) -> None:
    contexts, A, _ = drawn(problem, size)
    turned = A.copy()
    turned[-1, :-1] *= -1
    one, other = full_loss_and_gradient(mirrored(contexts), A)[0], full_loss_and_gradient(contexts, turned)[0]
    error, bound = abs(float(one - other)), rounding(contexts, A)
    target(error / bound)
    assert error <= bound


@pytest.mark.parametrize("law", ["relu", "affine", "cosine"])
def test_block_matrices_are_stationary_with_mirror_images_only(law: str) -> None:
    together, rounding = slope_in_row(law, 3, seed=1)
    assert together <= rounding
    assert slope_in_row(law, 3, seed=1, twice=True)[0] == 2


@pytest.mark.parametrize("law", [ReLU(L=2.0), Affine(L=2.0), LowRank(axes(3, 2), ReLU(L=2.0)), Cosine(L=2.0)])
def test_drawn_labels_have_the_loss_that_is_averaged_in_closed_form(law: Law) -> None:
    """Four comparisons at twice the half-width: false alarms below 1.6e-3. Without noise, or amplitudes, it differs."""
    problem, M = Problem(d=3, n=6, law=law, sigma=0.5), 2 * np.eye(3)
    A = np.zeros((4, 4))
    A[:3, :3] = M
    drawn = [float(full_loss_and_gradient(draw_labelled(problem, 1000, 0, f"labels/{k}"), A)[0]) for k in range(32)]
    mean, half_width = mean_interval(np.array(drawn))
    contexts, softmax = draw_contexts(problem, 40_000, 0, "closed"), attention_named("softmax")
    v: float = law.amplitude_variance  # type: ignore[attr-defined]
    averaged, noiseless = (float(np.mean(losses(softmax, contexts, M, variance, v))) for variance in (0.25, 0.0))
    assert abs(mean - averaged) <= 2 * half_width
    assert abs(mean - noiseless) > 4 * half_width


def test_two_steps_of_descent_by_hand() -> None:
    """Keys by Q dA^T, queries by K dA; the control is the other order of the factors."""
    (run,) = train_full(SMALL, ["hand"], optimiser="gd", steps=2, batch=16, learning_rate=0.5, size=0.4, seed=3)
    K, Q = 0.4 * normals(3, "hand/start", 0, (2, 3, 3))
    assert np.array_equal(run.keys[0], K)
    assert np.array_equal(run.queries[0], Q)
    for t in (1, 2):
        _, slope = full_loss_and_gradient(draw_labelled(SMALL, 16, 3, f"hand/training/{t}"), K.T @ Q)
        wrong = K - 0.5 * Q @ slope
        K, Q = K - 0.5 * Q @ slope.T, Q - 0.5 * K @ slope
        np.testing.assert_allclose(run.keys[t], K, rtol=0, atol=32 * EPS)
        np.testing.assert_allclose(run.queries[t], Q, rtol=0, atol=32 * EPS)
        assert np.max(np.abs(run.keys[t] - wrong)) > 1e6 * EPS
    assert np.array_equal(run.A, np.swapaxes(run.keys, 1, 2) @ run.queries)


def test_training_is_a_function_of_its_address_and_leaves_the_last_column() -> None:
    first, again, other = (
        train_full(SMALL, [stream], steps=40, batch=8, seed=1)[0] for stream in ("one", "one", "another")
    )
    assert first.steps.tolist() == list(range(0, 41, 2))
    assert np.array_equal(first.A, again.A)
    assert not np.any(first.A == other.A)
    assert np.array_equal(first.queries[-1][:, -1], first.queries[0][:, -1])
    assert not np.any(first.queries[-1][:, :-1] == first.queries[0][:, :-1])


def test_the_row_falls_for_a_symmetric_law() -> None:
    """The claim at a small size."""
    symmetric = trained("affine", 2, "adam", runs=3, fresh=500, seed=0)
    assert symmetric["row"][0] < 0.2
    assert symmetric["row fell"][0] < -1
    assert symmetric["unseen"] == (0.0, 0.0)


def test_the_curvature_is_that_of_the_loss() -> None:
    """By second differences of the loss along an axis; their error is of the order of the square of the step."""
    contexts, A, _ = drawn(SMALL, 1.0)
    M, h = A[:2, :2], 1e-3

    def loss(axis: int, r: float) -> float:
        block = np.zeros((3, 3))
        block[:2, :2] = M
        block[2, axis] = r
        return float(full_loss_and_gradient(contexts, block)[0])

    differences = np.mean([(loss(k, h) - 2 * loss(k, 0.0) + loss(k, -h)) / h**2 for k in range(2)])
    wider = np.mean([(loss(k, 2 * h) - 2 * loss(k, 0.0) + loss(k, -2 * h)) / (2 * h) ** 2 for k in range(2)])
    bound = abs(wider - differences) + 16 * EPS * loss(0, 0.0) / h**2
    assert abs(curvature_in_row(contexts, M) - differences) <= bound
    assert bound < 0.01 * abs(differences)


@pytest.mark.parametrize("law", [ReLU(L=2.0), Sampled(rising, extent=2.0)])
def test_simultaneous_trainings_equal_single_ones(law: Law) -> None:
    problem, options = SMALL.replace(law=law), {"steps": 5, "batch": 8, "seed": 3}
    together = train_full(problem, ["a", "b"], **options)
    for run in together:
        (alone,) = train_full(problem, [run.stream], **options)
        np.testing.assert_allclose(run.keys, alone.keys, rtol=1e-12)
        np.testing.assert_allclose(run.queries, alone.queries, rtol=1e-12)
    assert not np.any(together[0].A[:, :, :-1] == together[1].A[:, :, :-1])
