"""Attention on contexts: gradients compared with complex steps, closed forms, extreme cases, detected faults."""

from __future__ import annotations

import math
from hashlib import blake2b
from typing import Any

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms
from lipverify.covariates import Covariates, Ellipsoid, MappedNormals, ProductOfSpheres, Sphere
from lipverify.foundation import Floats, mean_interval, normals
from lipverify.laws import Affine, Cosine, Law, LowRank, Quadratic, ReLU, Ridge, Sampled, Transformed
from lipverify.loss.attention import (  # internal: attention on given contexts, before a mean is taken
    ATTENTIONS,
    Attention,
    attention_named,
    losses,
    losses_and_slopes,
    samples,
)
from lipverify.loss.montecarlo.contexts import Contexts, draw_contexts  # internal: contexts to evaluate it on
from tests.strategies import log_floats, target

EPS = float(np.finfo(float).eps)
CONTEXTS = 20


def waves(rng: np.random.Generator, contexts: int, d: int) -> Any:
    """Functions that are not ridge functions, with their own offset."""
    q, offset = rng.standard_normal((contexts, 1, d)), rng.standard_normal((contexts, 1))
    return lambda x: np.sin(np.sum(q * x, axis=-1)) * x[..., 0] + offset


def cube(z: Floats) -> Floats:
    """Covariates that are not centred, on the surface of a cube."""
    return z / np.max(np.abs(z), axis=-1, keepdims=True) + 0.3


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Every kind of law on every kind of covariates."""
    d = draw(st.integers(2, 5))
    L = draw(log_floats(0.1, 10))
    diagonal = [draw(log_floats(0.1, 10)) for _ in range(d)]
    B = np.eye(d)[:, : draw(st.integers(1, d - 1))]
    law: list[Law] = [
        *(kind(L=L) for kind in (Affine, ReLU, Cosine, Quadratic)),
        Ridge(np.tanh),
        LowRank(B, ReLU(L=L)),
        Transformed(np.diag(diagonal), Affine(L=L)),
        Sampled(waves, extent=20.0),
    ]
    covariates: list[Covariates] = [
        Sphere(),
        Ellipsoid(diagonal),
        ProductOfSpheres(B, 2.0, 0.5),
        MappedNormals(cube, 1.3 * math.sqrt(d)),
    ]
    return Problem(
        d=d,
        n=draw(st.integers(1, 12)),
        law=draw(st.sampled_from(law)),
        sigma=draw(st.one_of(st.just(0.0), log_floats(0.1, 10))),
        covariates=draw(st.sampled_from(covariates)),
    )


def contexts_of(problem: Problem, size: float) -> tuple[Contexts, Floats, Floats]:
    """Contexts, a matrix with entries of that size and a direction of norm 1, all functions of the arguments."""
    seed = int.from_bytes(blake2b(f"{problem.d}/{problem.n}/{size}".encode(), digest_size=4).digest(), "little")
    M, E = normals(seed, "matrices", 0, (2, problem.d, problem.d))
    return draw_contexts(problem, CONTEXTS, seed, "attention"), size * M, E / np.linalg.norm(E)


def constants(problem: Problem) -> tuple[float, float]:
    return problem.sigma**2, problem.law.amplitude_variance  # type: ignore[attr-defined]


def mean_loss_and_gradient(
    attention: Attention, contexts: Contexts, M: Any, noise: float, v: float, xp: Any = np
) -> tuple[Any, Any]:
    """The mean loss of the contexts, and its gradient as the mean of the outer products z x^T."""
    loss, z = losses_and_slopes(attention, contexts, M, noise, v, xp)
    return xp.mean(loss), xp.matmul(xp.matrix_transpose(z), contexts.query) / loss.shape[0]


def complex_step(name: str, problem: Problem, contexts: Contexts, M: Floats, E: Floats) -> float:
    """The derivative of the mean loss along E, without a difference."""
    h = 1e-100
    loss, _ = mean_loss_and_gradient(attention_named(name), contexts, M + 1j * h * E, *constants(problem))
    return float(loss.imag / h)


def rounding(name: str, problem: Problem, contexts: Contexts, M: Floats) -> float:
    """A bound on the rounding of a derivative along a direction of norm 1.

    Scores have the error eps d |M| r^2, weights the same relative error, sums of n terms n eps. These multiply at most
    the loss with |f_k| for its residuals, times r^2; linear weights are themselves as large as scores.
    """
    noise, v = constants(problem)
    reach = max(float(np.max(np.linalg.norm(x, axis=-1))) for x in (contexts.tokens, contexts.query)) ** 2
    scores = float(np.linalg.norm(M)) * reach
    largest = sum(
        float(max(np.max(np.abs(f)), np.max(np.abs(g)))) ** 2
        for f, g in zip(contexts.values, contexts.targets, strict=True)
    )
    weights = 1.0 if name == "softmax" else 1 + scores
    return EPS * (problem.d * (1 + scores) + float(problem.n)) * (2 * v * 4 * largest + 2 * noise) * weights * reach


@settings(max_examples=60)
@given(
    problem=problems(), size=st.one_of(st.just(0.0), log_floats(1e-3, 1e4)), name=st.sampled_from(sorted(ATTENTIONS))
)
def test_the_gradient_is_the_derivative(problem: Problem, size: float, name: str) -> None:
    contexts, M, E = contexts_of(problem, size)
    _, gradient = mean_loss_and_gradient(attention_named(name), contexts, M, *constants(problem))
    error = abs(float(np.sum(gradient * E)) - complex_step(name, problem, contexts, M, E))
    bound = rounding(name, problem, contexts, M)
    target(error / bound)
    assert error <= bound


def printed_gradient(contexts: Contexts, M: Floats, noise: float, v: float, fault: str = "") -> Floats:
    """The gradient for softmax attention by its formula, token by token; with a fault if one is requested."""
    total = np.zeros_like(M)
    for c, x in enumerate(contexts.query):
        tokens = contexts.tokens[c]
        a = np.exp(tokens @ M @ x)
        a /= a.sum()
        factors = (1.0 if fault == "factor" else 2.0) * noise * a * (a - np.sum(a * a)) * (-1 if fault == "sign" else 1)
        for f, at_query in zip(contexts.values, contexts.targets, strict=True):
            prediction = np.sum(a * f[c])
            centre = 0.0 if fault == "centre" else prediction
            factors = factors + 2 * v * (prediction - at_query[c]) * a * (f[c] - centre)
        outer = np.outer(x, factors @ tokens) if fault == "transposed" else np.outer(factors @ tokens, x)
        total += outer
    return total / len(contexts.query)


@given(problem=problems(), size=log_floats(1e-3, 1e4), name=st.sampled_from(sorted(ATTENTIONS)))
def test_losses_without_slopes_equal_those_with_slopes(problem: Problem, size: float, name: str) -> None:
    contexts, M, _ = contexts_of(problem, size)
    arguments = attention_named(name), contexts, M, *constants(problem)
    assert np.array_equal(losses(*arguments), losses_and_slopes(*arguments)[0])


@pytest.mark.parametrize("law", [Affine(L=2.0), ReLU(L=2.0), Sampled(waves, extent=20.0)])
def test_the_printed_formula_is_met_and_its_faults_are_seen(law: Law) -> None:
    """Faults of a derivation by hand: a sign, a factor, a missing centre, x x_i^T for x_i x^T."""
    problem = Problem(d=3, n=7, law=law, sigma=0.7)
    contexts, M, E = contexts_of(problem, 1.0)
    derivative, bound = complex_step("softmax", problem, contexts, M, E), rounding("softmax", problem, contexts, M)
    noise, v = constants(problem)

    def error(fault: str) -> float:
        return abs(float(np.sum(printed_gradient(contexts, M, noise, v, fault) * E)) - derivative)

    assert error("") <= bound
    assert min(error(fault) for fault in ("sign", "factor", "centre", "transposed")) > 1e6 * bound


def test_at_zero_everything_has_a_closed_form() -> None:
    """Softmax weights are 1/n; linear attention predicts 0, and its gradient is -2 v f(x) sum_i f(x_i) x_i x^T / n."""
    problem = Problem(d=3, n=5, law=Affine(L=2.0), sigma=0.5)
    contexts, M, _ = contexts_of(problem, 0.0)
    [f], [g] = contexts.values, contexts.targets
    noise, bias = samples(attention_named("softmax"), contexts, M)
    np.testing.assert_allclose(noise, 1 / 5, rtol=4 * EPS)
    np.testing.assert_allclose(bias, (f.mean(axis=1) - g) ** 2, rtol=0, atol=8 * EPS)
    noise, bias = samples(attention_named("linear"), contexts, M)
    assert not np.any(noise)
    assert np.array_equal(bias, g * g)
    _, gradient = mean_loss_and_gradient(attention_named("linear"), contexts, M, *constants(problem))
    _, v = constants(problem)
    wanted = -2 * v * np.einsum("c,cn,cni,cj->ij", g, f, contexts.tokens, contexts.query) / (5 * CONTEXTS)
    np.testing.assert_allclose(gradient, wanted, rtol=0, atol=32 * EPS)


@pytest.mark.parametrize("size", [1e8, 1e200, 1e300])
def test_a_huge_matrix_sees_one_token(size: float) -> None:
    problem = Problem(d=3, n=6, law=ReLU(L=2.0))
    contexts, M, _ = contexts_of(problem, size)
    noise, bias = samples(attention_named("softmax"), contexts, M)
    nearest = np.argmax(np.einsum("cni,ij,cj->cn", contexts.tokens, M / size, contexts.query), axis=1)[:, None]
    pairs = zip(contexts.values, contexts.targets, strict=True)
    wanted = sum((np.take_along_axis(f, nearest, axis=1)[:, 0] - g) ** 2 for f, g in pairs)
    assert np.array_equal(noise, np.ones(CONTEXTS))
    np.testing.assert_allclose(bias, wanted, rtol=0, atol=4 * EPS)
    loss, gradient = mean_loss_and_gradient(attention_named("softmax"), contexts, M, *constants(problem))
    assert np.isfinite(loss)
    assert not np.any(gradient)


@pytest.mark.parametrize(("law", "w"), [(Affine(L=2.0), 3.0), (ReLU(L=5.0), 2.0), (Quadratic(), 2.0)])
def test_the_mean_over_contexts_is_the_exact_loss(law: Law, w: float) -> None:
    """At twice the 95 % half-width the probability of a false alarm in six comparisons is below 6 * 4e-4."""
    problem = Problem(d=3, n=8, law=law)
    noise, bias = samples(attention_named("softmax"), draw_contexts(problem, 8000, 0, "exact"), w * np.eye(3))
    exact, (variance, v) = loss_terms(problem, w), constants(problem)
    for drawn, scale, truth in ((noise, variance, exact.noise), (bias, v, exact.bias)):
        mean, half_width = mean_interval(scale * drawn.reshape(32, -1).mean(axis=1))
        assert half_width < 0.1 * mean
        assert abs(mean - float(truth)) <= 2 * half_width


@given(size=log_floats(1e-2, 1e2), offset=log_floats(1.0, 1e12))
def test_a_common_offset_does_not_reach_softmax(size: float, offset: float) -> None:
    """Beyond the rounding of f + offset itself, by eps offset, in residuals that are at most 4."""
    problem = Problem(d=3, n=7, law=Affine())
    contexts, M, _ = contexts_of(problem, size)
    [f], [g] = contexts.values, contexts.targets
    moved = Contexts(query=contexts.query, tokens=contexts.tokens, values=[f + offset], targets=[g + offset])
    (_, bias), (_, other) = (samples(attention_named("softmax"), one, M) for one in (contexts, moved))
    rounded = EPS * offset
    error, bound = float(np.max(np.abs(bias - other))), 2 * 2 * rounded + rounded**2 + 16 * EPS
    target(error / bound)
    assert error <= bound


def test_linear_attention_sees_an_offset() -> None:
    problem = Problem(d=3, n=7, law=Affine())
    contexts, M, _ = contexts_of(problem, 1.0)
    [f], [g] = contexts.values, contexts.targets
    moved = Contexts(query=contexts.query, tokens=contexts.tokens, values=[f + 1.0], targets=[g + 1.0])
    (_, bias), (_, other) = (samples(attention_named("linear"), one, M) for one in (contexts, moved))
    assert np.min(np.abs(bias - other)) > 1e6 * EPS


def test_gradients_are_computed_context_by_context() -> None:
    """The mean gradient is that of the outer products of each context."""
    problem = Problem(d=4, n=9, law=ReLU(L=2.0))
    contexts, M, _ = contexts_of(problem, 1.0)
    losses, z = losses_and_slopes(attention_named("softmax"), contexts, M, *constants(problem))
    for c in (0, CONTEXTS - 1):
        one = Contexts(
            query=contexts.query[c : c + 1],
            tokens=contexts.tokens[c : c + 1],
            values=[f[c : c + 1] for f in contexts.values],
            targets=[g[c : c + 1] for g in contexts.targets],
        )
        loss, gradient = mean_loss_and_gradient(attention_named("softmax"), one, M, *constants(problem))
        bound = rounding("softmax", problem, contexts, M)
        assert abs(float(loss) - losses[c]) <= bound
        np.testing.assert_allclose(np.outer(z[c], contexts.query[c]), gradient, rtol=0, atol=bound)


@pytest.mark.parametrize("name", sorted(ATTENTIONS))
def test_every_operation_is_of_the_array_standard_and_stays_on_its_device(name: str) -> None:
    problem = Problem(d=3, n=9, law=ReLU(L=2.0))
    contexts, M, _ = contexts_of(problem, 1.0)
    device = array_api_strict.Device("device1")

    def away(array: Floats) -> Any:
        return array_api_strict.asarray(array, device=device)

    there = Contexts(
        query=away(contexts.query),
        tokens=away(contexts.tokens),
        values=[away(f) for f in contexts.values],
        targets=[away(g) for g in contexts.targets],
    )
    loss, gradient = mean_loss_and_gradient(attention_named(name), contexts, M, *constants(problem))
    other = mean_loss_and_gradient(attention_named(name), there, away(M), *constants(problem), array_api_strict)
    assert all(array.device == device for array in other)
    back = [np.asarray(array.to_device(array_api_strict.Device("CPU_DEVICE"))) for array in other]
    bound = rounding(name, problem, contexts, M)
    assert abs(float(back[0]) - float(loss)) <= bound
    np.testing.assert_allclose(back[1], gradient, rtol=0, atol=bound)
