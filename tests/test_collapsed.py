"""The collapsed forward pass and its adjoint: tokens, the complex step, the compiled kernel, another array library."""

from __future__ import annotations

from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st
from numpy.typing import NDArray

from lipverify.linear_transformer.attention import Entrywise, Heads
from lipverify.linear_transformer.collapsed import forward, pullback, readout
from lipverify.linear_transformer.families import NAMES, family_named
from lipverify.linear_transformer.layer import Layer
from lipverify.linear_transformer.regression.contexts import Regression, draw_contexts
from lipverify.linear_transformer.regression.noise import UniformNoise
from lipverify.linear_transformer.tokens import Tokens
from lipverify.linear_transformer.tokens import forward as by_tokens
from lipverify.linear_transformer.training.objective import Objective, Sample, draw_sample
from lipverify.loss.montecarlo.kernels.compiler import has_compiler

Floats = NDArray[np.float64]
EPS = float(np.finfo(float).eps)
STEP = 1e-30
"""Of the complex step: far below rounding, as it takes no difference."""
depths, dimensions, seeds = st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1)


def _drawn(d: int, layers: int, heads: int, seed: int) -> tuple[Floats, list[Layer], np.random.Generator]:
    random = np.random.default_rng(seed)
    root = random.normal(size=(3, d + 1, d + 3)) / np.sqrt(d + 3)
    weights = random.normal(size=(layers, 2, heads, d + 1, d + 1)) * 0.4 / np.sqrt(d + 1)
    return root @ root.swapaxes(1, 2), [Layer(P, Q) for P, Q in weights], random


@given(dimensions, depths, st.integers(1, 3), seeds)
def test_reads_what_the_tokens_predict(d: int, layers: int, heads: int, seed: int) -> None:
    _, model, random = _drawn(d, layers, heads, seed)
    context, x = random.normal(size=(d + 3, d + 1)) / np.sqrt(d + 3), random.normal(size=d)
    *_, end = by_tokens(Tokens(context, np.append(x, 0.0)), model)
    gram = (context.T @ context)[None]
    w = forward(gram, [Heads(layer) for layer in model]).w[0]
    scale = 1 + float(np.abs(w) @ np.abs(x))
    error = abs(float(end.prediction) - float(w @ x)) / scale
    # a layer is cubic in what it is given: roundings grow with three to the depth
    allowed = 100 * EPS * 3**layers * (d + 3)
    target(error / allowed)
    assert error <= allowed
    assert np.array_equal(readout(gram, model).w[0], w)


@given(dimensions, depths, st.integers(1, 3), seeds)
def test_pullback_is_the_adjoint_of_the_derivative(d: int, layers: int, heads: int, seed: int) -> None:
    """<covector, dw> by the complex step against <gradient, dweights>, in a random direction."""
    gram, model, random = _drawn(d, layers, heads, seed)
    covector = random.normal(size=(3, d))
    directions = random.normal(size=(layers, 2, heads, d + 1, d + 1))
    moved = [
        Layer(layer.P + 1j * STEP * p, layer.Q + 1j * STEP * q) for layer, (p, q) in zip(model, directions, strict=True)
    ]
    found = float((forward(gram + 0j, [Heads(layer) for layer in moved]).w.imag / STEP * covector).sum())
    attentions = [Heads(layer) for layer in model]
    terms = np.stack(pullback(forward(gram, attentions), attentions, covector)) * directions
    scale = 1 + float(np.abs(terms).sum())
    error, allowed = abs(found - float(terms.sum())) / scale, 1000 * EPS * 3**layers
    target(error / allowed)
    assert error <= allowed


@given(dimensions, depths, seeds)
def test_pullback_of_entrywise_factors(d: int, layers: int, seed: int) -> None:
    gram, _, random = _drawn(d, 1, 1, seed)
    factors, directions = random.normal(size=(2, layers, d + 1, d + 1)) * 0.4
    covector = random.normal(size=(3, d))
    moved = [Entrywise(a + 1j * STEP * b) for a, b in zip(factors, directions, strict=True)]
    found = float((forward(gram + 0j, moved).w.imag / STEP * covector).sum())
    attentions = [Entrywise(a) for a in factors]
    terms = np.stack(pullback(forward(gram, attentions), attentions, covector)) * directions
    scale = 1 + float(np.abs(terms).sum())
    error, allowed = abs(found - float(terms.sum())) / scale, 1000 * EPS * 3**layers
    target(error / allowed)
    assert error <= allowed


@pytest.fixture(scope="module")
def sample() -> Sample:
    return draw_sample(Regression(4, 9, UniformNoise(2.0)), 1024, 0, "test/collapsed")


def _objective(name: str, sample: Sample, layers: int, cap: float = 1.0, **options: Any) -> tuple[Objective, Floats]:
    family = family_named(name, Regression(4, 9, UniformNoise(2.0)))
    noise = np.random.default_rng(layers).normal(size=(layers, *family.shape))
    return Objective(family, sample, cap, **options), family.identity_like(noise)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layers", [1, 2, 4])
def test_gradient_of_the_capped_logarithm(name: str, layers: int, sample: Sample) -> None:
    """Central differences along the gradient: two steps show a remainder that falls with their square."""
    objective, weights = _objective(name, sample, layers)
    _, gradient = objective(weights)
    direction = gradient / np.linalg.norm(gradient)
    slopes = [
        (objective(weights + h * direction)[0] - objective(weights - h * direction)[0]) / (2 * h) for h in (2e-4, 1e-4)
    ]
    remainder = abs(slopes[0] - slopes[1]) / 3
    extrapolated = slopes[1] + (slopes[1] - slopes[0]) / 3
    assert remainder < 1e-3 * np.linalg.norm(gradient)  # the test has power
    assert abs(extrapolated - np.linalg.norm(gradient)) <= remainder + 100 * EPS / 1e-4


@pytest.mark.skipif(not has_compiler(), reason="needs a C compiler")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layers", [1, 3, 6])
def test_kernel_agrees_with_numpy(name: str, layers: int, sample: Sample) -> None:
    one, weights = _objective(name, sample, layers)
    other, _ = _objective(name, sample, layers, arithmetic="native")
    (value, gradient), (native, pulled) = one(weights), other(weights)
    assert abs(value - native) <= 1e4 * EPS * 3**layers
    assert np.linalg.norm(gradient - pulled) <= 1e4 * EPS * 3**layers * np.linalg.norm(gradient)
    assert np.array_equal(other(weights)[1], pulled)


@pytest.mark.skipif(not has_compiler(), reason="needs a C compiler")
def test_losses_beyond_doubles_count_as_the_cap(sample: Sample) -> None:
    for arithmetic in ("array", "native"):
        objective, weights = _objective("FULL", sample, 6, arithmetic=arithmetic)
        losses, gradient = objective.capped(1e4 * weights)
        assert np.isfinite(gradient).all()
        assert float(losses.max()) == 1.0
        assert float(losses.min()) >= 0


@pytest.mark.parametrize("name", NAMES)
def test_another_library_and_device(name: str, sample: Sample) -> None:
    objective, weights = _objective(name, sample, 2)
    device = strict.Device("device1")
    gram, goal = (strict.asarray(part, device=device) for part in (sample.gram, sample.goal))
    there = Sample(gram, goal, sample.share)
    (value, gradient), (moved, pulled) = objective(weights), Objective(objective.family, there, 1.0)(weights)
    assert abs(value - moved) <= 1e3 * EPS
    assert np.linalg.norm(gradient - pulled) <= 1e3 * EPS * np.linalg.norm(gradient)


@settings(max_examples=20)
@given(st.sampled_from(NAMES), depths, seeds)
def test_models_are_the_attentions_in_the_units_of_the_data(name: str, layers: int, seed: int) -> None:
    regression = Regression(3, 8, UniformNoise(2.0))
    family = family_named(name, regression)
    weights = family.identity_like(np.random.default_rng(seed).normal(size=(layers, *family.shape)))
    gram = draw_contexts(regression, 4, 0, "test/units").gram
    w = forward(gram, family.attentions(weights, gram)).w
    v = readout(gram, [layer.layer(3) for layer in family.model(weights)]).w
    finite = np.abs(v) < 1e3
    assert (np.abs(w - v)[finite] <= 1e5 * EPS * 3**layers * 1e3).all()
