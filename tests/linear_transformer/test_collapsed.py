"""The collapsed pass and its adjoint against tokens, the complex step, the compiled kernel and another library."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation import Floats
from lipverify.foundation.compiling import compiled, has_compiler  # internal: a deliberately wrong library
from lipverify.linear_transformer import (
    Diagonal,
    GDPlusPlus,
    Layer,
    Tokens,
    UniformNoise,
    draw_contexts,
    readout,
)
from lipverify.linear_transformer import forward as by_tokens

# internal: the pass and its adjoint, compared with tokens; the complex step moves each factor of a layer
from lipverify.linear_transformer.collapsed import Entrywise, Heads, forward, last_row, pullback
from lipverify.linear_transformer.families import NAMES, family_named
from lipverify.linear_transformer.training import Objective, draw_sample, native  # internal: the kernel is replaced
from lipverify.linear_transformer.training.native import (  # internal: the condition under which the kernel is used
    LARGEST,  # internal: the cap of a loss that overflows
    equals_numpy,
    packed,
)
from lipverify.linear_transformer.training.objective import Sample  # internal: the type of a sample, for annotations

# internal: a model of a family, as a training evaluates it
from lipverify.linear_transformer.training.record import OfFamily
from lipverify.prompts import Prompts
from tests.reference.rounding import rounding_bound
from tests.strategies import target

EPS = float(np.finfo(float).eps)
STEP = 1e-30
"""The step of the complex-step derivative: far below rounding, because there is no difference."""


def roundings(layers: int, size: int, heads: int = 1) -> int:
    """A bound on the number of roundings, of EPS / 2 each, in one monomial of two passes and their adjoints.

    P G Q has sums over 2 size + heads numbers, the identity one more, S G S^T 2 size and two S: with k roundings on G
    there are 3 k + 2 (3 size + heads + 1) on the next G, or less than A 3^layers / 2 with A = 3 size + heads + 1 on the
    rows, which multiply one S after the other. A gradient takes a factor out of a monomial and is two such passes.
    """
    return (3 * size + heads + 1) * 3**layers


depths, dimensions, seeds = st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1)


@given(dimensions, depths, st.integers(1, 3), seeds)
def test_the_collapsed_pass_equals_the_pass_over_tokens(d: int, layers: int, heads: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    model = [Layer(P, Q) for P, Q in random.normal(size=(layers, 2, heads, d + 1, d + 1)) * 0.4 / np.sqrt(d + 1)]
    context, x = random.normal(size=(d + 3, d + 1)) / np.sqrt(d + 3), random.normal(size=d)
    *_, end = by_tokens(Tokens(context, np.append(x, 0.0)), model)
    gram = (context.T @ context)[None]
    w = forward(gram, [Heads(layer) for layer in model]).w[0]
    error = abs(float(end.prediction) - float(w @ x))
    allowed = rounding_bound(np.append(x, 0.0), context, model)[-1]
    target(error / allowed)
    assert error <= allowed
    # a head, and the product with the last moments, may be multiplied out in another order there
    read = -last_row(gram, [Heads(layer) for layer in model])[0, 0, :-1]
    assert abs(float((readout(gram, model).w[0] - w) @ x)) <= allowed
    assert abs(float((read - w) @ x)) <= allowed


def _positive(d: int, shape: tuple[int, ...], seed: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Moments, a covector, weights and a direction in them, all positive: without cancellation rounding is relative."""
    random = np.random.default_rng(seed)
    root = random.uniform(size=(3, d + 1, d + 3)) / np.sqrt((d + 1) * (d + 3))
    weights, directions = random.uniform(size=(2, *shape))
    return root @ root.swapaxes(1, 2), random.uniform(size=(3, d)), weights / np.sqrt(d + 1), directions


@pytest.mark.parametrize("kind", ["heads", "entrywise"])
@given(dimensions, depths, st.integers(1, 3), seeds)
def test_pullback_is_the_adjoint_of_the_derivative(kind: str, d: int, layers: int, heads: int, seed: int) -> None:
    """<covector, dw> by the complex step compared with <gradient, dweights>, in a random direction."""
    shape = (layers, 2, heads, d + 1, d + 1) if kind == "heads" else (layers, d + 1, d + 1)
    gram, covector, weights, directions = _positive(d, shape, seed)

    def model(weights: Any) -> list[Any]:
        return [Heads(Layer(*each)) if kind == "heads" else Entrywise(each) for each in weights]

    moved = model(weights + 1j * STEP * directions)
    found = float((forward(gram + 0j, moved).w.imag / STEP * covector).sum())
    attentions = model(weights)
    gradient = np.stack(pullback(forward(gram, attentions), attentions, covector))
    allowed = roundings(layers, d + 1, heads if kind == "heads" else 1) * EPS
    error = abs(found / float((gradient * directions).sum()) - 1)
    target(error / allowed)
    assert error <= allowed


@pytest.fixture(scope="module")
def sample() -> Sample:
    return draw_sample(Prompts(d=4, n=9, sigma=UniformNoise(2.0)), 1024, 0, "test/collapsed")


def _objective(name: str, sample: Sample, layers: int, cap: float = 1.0, **options: Any) -> tuple[Objective, Floats]:
    family = family_named(name, Prompts(d=4, n=9, sigma=UniformNoise(2.0)))
    noise = np.random.default_rng(layers).normal(size=(layers, *family.shape))
    return Objective(family, sample, cap, **options), family.at_random(noise)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layers", [1, 2, 4])
def test_gradient_of_the_capped_logarithm(name: str, layers: int, sample: Sample) -> None:
    """Central differences along the gradient: two steps show that the remainder falls with their square."""
    objective, weights = _objective(name, sample, layers)
    value, gradient = objective(weights)
    direction = gradient / np.linalg.norm(gradient)
    slopes = [
        (objective(weights + h * direction)[0] - objective(weights - h * direction)[0]) / (2 * h) for h in (2e-4, 1e-4)
    ]
    remainder = abs(slopes[0] - slopes[1]) / 3
    extrapolated = slopes[1] + (slopes[1] - slopes[0]) / 3
    assert remainder < 1e-3 * np.linalg.norm(gradient)  # the test has power
    # a mean over a thousand contexts rounds like a few numbers: twice 4 units of it, over twice the smaller step
    assert abs(extrapolated - np.linalg.norm(gradient)) <= remainder + 4 * EPS * max(1.0, abs(value)) / 1e-4


@pytest.mark.skipif(not has_compiler(), reason="needs a C compiler")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layers", [1, 3, 6])
def test_kernel_agrees_with_numpy(name: str, layers: int, sample: Sample) -> None:
    one, weights = _objective(name, sample, layers)
    other, _ = _objective(name, sample, layers, arithmetic="native")
    (value, gradient), (native, pulled) = one(weights), other(weights)
    allowed = roundings(layers, 5) * EPS
    assert abs(value - native) <= allowed
    moved, turned = other(weights * (1 + 1e-8))
    assert abs(moved - value) > allowed, "weights that differ in the eighth digit are told apart"
    # contexts that explode cancel most and a bound gives them little weight; a logarithm does not
    amplified = 0.0 if one.family.bounded else np.linalg.norm(turned - pulled) / 1e-8
    assert np.linalg.norm(gradient - pulled) <= allowed * max(np.linalg.norm(gradient), amplified)
    assert np.array_equal(other(weights)[1], pulled)


@pytest.mark.skipif(not has_compiler(), reason="needs a C compiler")
@pytest.mark.parametrize("count", [1, 7, 1003])
def test_kernel_takes_any_number_of_contexts(count: int, sample: Sample) -> None:
    """Padding in its last vector does not contribute."""
    few = Sample(sample.gram[:count], sample.goal[:count], sample.share[:count])
    (one, weights), (other, _) = (_objective("OMEGA", few, 3, arithmetic=each) for each in ("array", "native"))
    (losses, gradient), (native, pulled) = one.capped(weights), other.capped(weights)
    assert native.shape == losses.shape == (count,)
    assert native == pytest.approx(losses, rel=1e-9)
    assert pulled == pytest.approx(gradient, rel=1e-9)


@pytest.mark.skipif(not has_compiler(), reason="needs a C compiler")
def test_losses_beyond_doubles_count_as_the_cap(sample: Sample) -> None:
    """Or, with a logarithm, as the largest double; the derivative is 0 in both."""
    for arithmetic in ("array", "native"):
        objective, weights = _objective("SAFEFULL", sample, 6, arithmetic=arithmetic)
        losses, gradient = objective.capped(1e60 * weights)
        assert not gradient.any()
        assert losses == pytest.approx(np.log(LARGEST))
        objective, weights = _objective("FULL", sample, 6, arithmetic=arithmetic)
        losses, gradient = objective.capped(1e4 * weights)
        assert np.isfinite(gradient).all()
        assert float(losses.max()) == 1.0
        assert float(losses.min()) >= 0


@pytest.mark.skipif(not has_compiler(), reason="needs a C compiler")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layers", [1, 3, 6])
def test_models_are_evaluated_alike_by_compiled_and_numpy(name: str, layers: int) -> None:
    """Many contexts, one of which overflows doubles: there NumPy decides, as it does without a compiler."""
    regression = Prompts(d=4, n=9, sigma=UniformNoise(2.0))
    drawn, family = draw_contexts(regression, 600, 0, "test/evaluated"), family_named(name, regression)
    weights = family.at_random(np.random.default_rng(layers).normal(size=(layers, *family.shape)))
    gram = drawn.gram.copy()
    gram[17] *= 1e200
    contexts, model = replace(drawn, gram=gram), OfFamily(family, weights)
    by_compiled, by_array = model(contexts), model.by_array(gram)
    assert packed(contexts) is not None
    assert np.array_equal(by_compiled[17], by_array[17], equal_nan=True)
    others = np.arange(600) != 17
    monomials = model_of_absolute_values(family, weights, drawn.gram[others])
    allowed = roundings(layers, 5, heads=2) * EPS * monomials
    assert np.all(np.abs(by_compiled - by_array)[others] <= allowed)


@pytest.mark.parametrize("there", [False, True])
def test_without_compiled_code_numpy_evaluates(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """No compiler, and a compiler without output."""
    monkeypatch.setattr(native, "has_compiler", lambda: there)
    monkeypatch.setattr(native, "_compiled_if_any", native._compiled_if_any.__wrapped__)
    monkeypatch.setattr(native, "_compiled", refused)
    regression = Prompts(d=3, n=8, sigma=UniformNoise(1.0))
    contexts, family = draw_contexts(regression, 600, 0, "test/none"), family_named("FULL", regression)
    model = OfFamily(family, family.at_random(np.random.default_rng(0).normal(size=(2, *family.shape))))
    native.packed.cache_clear()
    assert native.packed(contexts) is None
    assert np.array_equal(model(contexts), model.by_array(contexts.gram))


def refused(size: int) -> Any:
    raise InvalidInput("backend = 'native': false does not compile the kernel")


def model_of_absolute_values(family: Any, weights: Floats, gram: Floats) -> Floats:
    """The sum of the absolute values of all monomials of w."""
    model = [layer.layer(gram.shape[-1] - 1) for layer in family.model(weights)]
    return np.asarray(-readout(np.abs(gram), [Layer(np.abs(layer.P), np.abs(layer.Q)) for layer in model]).w)


@pytest.mark.parametrize("name", NAMES)
def test_another_library_and_device(name: str, sample: Sample) -> None:
    objective, weights = _objective(name, sample, 2)
    device = strict.Device("device1")
    gram, goal = (strict.asarray(part, device=device) for part in (sample.gram, sample.goal))
    there = Sample(gram, goal, sample.share)
    (value, gradient), (moved, pulled) = objective(weights), Objective(objective.family, there, 1.0)(weights)
    assert abs(value - moved) <= roundings(2, 5) * EPS
    assert np.linalg.norm(gradient - pulled) <= roundings(2, 5) * EPS * np.linalg.norm(gradient)


@settings(max_examples=20)
@given(st.sampled_from(NAMES), st.integers(1, 3), seeds)
def test_models_are_the_attentions_in_the_units_of_the_data(name: str, layers: int, seed: int) -> None:
    """Up to roundings of all monomials; their sum is the pass on absolute values."""
    regression = Prompts(d=3, n=8, sigma=UniformNoise(2.0))
    family = family_named(name, regression)
    weights = family.at_random(np.random.default_rng(seed).normal(size=(layers, *family.shape)))
    gram = draw_contexts(regression, 4, 0, "test/units").gram
    w = forward(gram, family.attentions(weights, gram)).w
    model = [layer.layer(3) for layer in family.model(weights)]
    v = readout(gram, model).w
    monomials = model_of_absolute_values(family, weights, gram)
    allowed = roundings(layers, 4, heads=2) * EPS * monomials
    target(float(np.max(np.abs(w - v) / allowed)))
    assert np.all(np.abs(w - v) <= allowed)
    assert np.median(allowed / np.abs(v)) < 1e-9, "wrong units would show"


WRONG = {
    "a factor of the gradient": ("dS[i][j] = bc(2) * dS[i][j]", "dS[i][j] = bc(1) * dS[i][j]"),
    "a sign of the loss": ("v e = -R[0][j] - goal[j];", "v e = R[0][j] - goal[j];"),
    "a block of a diagonal layer": ("t->S[i][DIM] = om[l][1]", "t->S[i][DIM] = om[l][2]"),
    "the damping by the cap": ("share *= damp * damp;", "share *= damp;"),
    "what is lost": ("lost[k] = again = 1;", "lost[k] = 0;"),
    "a sign of what is read": ("w[j] = -R[0][j];", "w[j] = R[0][j];"),
}


BY_NIGHT = ("a sign of the loss", "the damping by the cap", "a block of a diagonal layer", "what is lost")
"""Compiled by night alone: a mistake in the loss, and one in its gradient, of which others remain by day."""
SOURCE = (files("lipverify.linear_transformer.training") / "collapsed.c").read_text(encoding="utf-8")


@pytest.mark.skipif(not has_compiler(), reason="needs a C compiler")
def test_the_right_kernel_is_accepted() -> None:
    assert equals_numpy(compiled(f"#define SIZE 4\n{SOURCE}", lambda made: equals_numpy(made, 4)), 4)


@pytest.mark.skipif(not has_compiler(), reason="needs a C compiler")
@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=pytest.mark.slow if what in BY_NIGHT else ()) for what in WRONG]
)
def test_a_kernel_that_computes_something_else_is_refused(what: str) -> None:
    """As after a compiler error; it is loaded as the right one is above."""
    right, wrong = WRONG[what]
    assert SOURCE.count(right) == 1
    with pytest.raises(OutOfReach, match="computes wrongly"):
        compiled(f"#define SIZE 4\n{SOURCE.replace(right, wrong)}", lambda made: equals_numpy(made, 4))


def test_layers_of_every_form_are_read() -> None:
    gram = draw_contexts(Prompts(d=3, n=8, sigma=UniformNoise(1.0)), 5, 0, "test/forms").gram
    layers = (GDPlusPlus(0.01, -0.02), Diagonal(0.01, 0.0, -0.02, 0.003))
    assert np.array_equal(readout(gram, layers).w, readout(gram, [each.layer(3) for each in layers]).w)
