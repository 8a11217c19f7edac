"""Tokens, states and moments are one forward pass; they differ by rounding, for which a bound is derived."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.checks.linear_transformers.implicit_step import in_integers, missed
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation import Floats, normals
from lipverify.linear_transformer import Diagonal, GDPlusPlus, Layer, SingleHead, Tokens, forward, readout, trajectory

# internal: the type of any layer, and the check that refuses layers of another size
from lipverify.linear_transformer.layer import Parametrisation
from tests.reference.rounding import UNIT, magnitude, rounding_bound
from tests.strategies import log_floats, target

EPS = float(np.finfo(float).eps)
CONTROLS = (
    "u' = (I + A) u - a b", "a' = (1 + δ) a", "M' = (I + A) M + b w^T", "w' = (1 + δ) w + M^T c",
    "a = 0 at the start", "the query is a key",
)  # fmt: skip
"""The recursion with one sign or one term wrong, a wrong start, and a wrong layer."""
WEIGHTS = st.floats(-2.0, 2.0).filter(lambda w: w == 0 or abs(w) > 1e-3)


def drawn(d: int, n: int, heads: int, depth: int, size: float, draw: int) -> tuple[Floats, Floats, list[Layer]]:
    """Tokens, a query, and layers that change a token by `size`, relative, if nothing cancels."""
    stream = f"test/{d}/{n}/{heads}/{depth}/{draw}"
    context, query = normals(1, stream, 0, (n, d + 1)), np.append(normals(1, stream, 1, (d,)), 0.0)
    P, Q = normals(1, stream, 2, (2, depth, heads, d + 1, d + 1))
    sizes = np.sum(np.linalg.norm(P, axis=(2, 3)) * np.linalg.norm(Q, axis=(2, 3)), axis=1) * np.sum(context**2)
    return context, query, [Layer(P[k] * (size / sizes[k]), Q[k]) for k in range(depth)]


@given(
    d=st.integers(1, 5), n=st.integers(1, 10), heads=st.integers(1, 4), depth=st.integers(1, 8),
    size=log_floats(1e-3, 0.3), draw=st.integers(0, 99),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_tokens_states_and_moments_agree_to_rounding(
    d: int, n: int, heads: int, depth: int, size: float, draw: int
) -> None:
    context, query, layers = drawn(d, n, heads, depth, size, draw)
    gram, every = context.T @ context, np.vstack([context, query])
    last, state, read = forward(Tokens(context, query), layers)[-1], trajectory(gram, layers)[-1], readout(gram, layers)
    bound = rounding_bound(every, context, layers)
    by_states = np.abs(np.vstack([last.context, last.query]) - every @ state.map.T)
    by_moments = np.abs(
        np.append(last.context[:, -1], last.query[-1]) - (every[:, -1] * read.a - every[:, :-1] @ read.w)
    )
    target(float(max(np.max(by_states / bound), np.max(by_moments / bound[:, -1]))))
    assert np.all(by_states <= bound)
    assert np.all(by_moments <= bound[:, -1])
    np.testing.assert_allclose(last.prediction, state.w @ query[:-1], rtol=0, atol=bound[-1, -1])


@pytest.mark.parametrize(("d", "n", "heads", "depth"), [(1, 2, 1, 8), (3, 6, 4, 4), (5, 10, 4, 8)])
def test_every_control_is_millions_of_bounds_away(d: int, n: int, heads: int, depth: int) -> None:
    """A sign, a term, the start, and the query as a key: the bound on rounding could not hide any of them."""
    context, query, layers = drawn(d, n, heads, depth, 0.1, 3)
    bound = rounding_bound(np.vstack([context, query]), context, layers)
    assert np.all(np.abs(missed(context, query, layers, "of the theorem")) <= bound)
    for control in CONTROLS:
        assert np.max(np.abs(missed(context, query, layers, control)) / bound) > 1e4, control


@given(d=st.integers(1, 3), n=st.integers(1, 4), heads=st.integers(1, 4), depth=st.integers(2, 3))
@settings(max_examples=20, deadline=None)
def test_in_exact_integers_no_entry_differs(d: int, n: int, heads: int, depth: int) -> None:
    assert in_integers(d, n, heads, depth, seed=0) == 0
    for control in CONTROLS:
        assert in_integers(d, n, heads, depth, seed=0, model=control) > 0, control


@given(d=st.integers(1, 2), depth=st.integers(1, 2), size=log_floats(1e-2, 10.0), draw=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_the_bound_holds_against_fractions(d: int, depth: int, size: float, draw: int) -> None:
    """Each pass alone stays within half of the bound on their difference."""
    context, query, layers = drawn(d, 3, 2, depth, size, draw)
    exact = np.vectorize(Fraction, otypes=[object])
    truth = forward(Tokens(exact(context), exact(query)), [Layer(exact(one.P), exact(one.Q)) for one in layers])[-1]
    bound = rounding_bound(query, context, layers)
    by_tokens = forward(Tokens(context, query), layers)[-1].query
    by_states = trajectory(context.T @ context, layers)[-1].map @ query
    for name, found in (("tokens", by_tokens), ("states", by_states)):
        error = np.abs((exact(found) - truth.query).astype(float))
        target(float(np.max(2 * error / bound)), label=name)
        assert np.all(error <= bound / 2)


def test_the_bound_is_a_few_hundred_units_of_the_accumulated_rounding() -> None:
    """The bound is useful: of the order of the operations of one layer, and not of all monomials."""
    context, query, layers = drawn(3, 6, 4, 8, 0.1, 0)
    share = rounding_bound(query, context, layers) / magnitude(query, context, layers)
    assert np.all(share < 400 * UNIT)
    assert np.all(share > 20 * UNIT)


def test_weights_that_overflow_are_refused() -> None:
    context, query, layers = drawn(2, 3, 1, 8, 1e3, 0)
    with pytest.raises(OutOfReach, match="overflow"):
        rounding_bound(query, context, layers)


def test_a_stack_of_contexts_is_each_of_them() -> None:
    contexts = normals(0, "stack", 0, (4, 6, 4))
    grams = contexts.swapaxes(1, 2) @ contexts
    model: list[Parametrisation] = [Diagonal(-0.01, 0.02, -0.03, 0.01), GDPlusPlus(-0.02, -0.05)]
    together = trajectory(grams, model)[-1]
    for k, gram in enumerate(grams):
        for one, all_ in zip(trajectory(gram, model)[-1], together, strict=True):
            np.testing.assert_allclose(all_[k], one, rtol=0, atol=64 * EPS * max(1.0, float(np.max(np.abs(one)))))


def test_arrays_of_another_library_on_another_device() -> None:
    """The same numbers, and no array leaves its device."""
    xp, device = array_api_strict, array_api_strict.Device("device1")
    context, query, layers = drawn(3, 5, 2, 3, 0.1, 0)
    there: Any = Tokens(xp.asarray(context, device=device), xp.asarray(query, device=device))
    moved = forward(there, layers)[-1]
    gram = xp.matrix_transpose(there.context) @ there.context
    state = trajectory(gram, [*layers, Diagonal(0.0, 0.0, 0.0, 0.0)])[-1]
    assert moved.query.device == state.w.device == device
    back = forward(Tokens(context, query), layers)[-1]
    bound = rounding_bound(query, context, layers)
    here = xp.Device("CPU_DEVICE")
    np.testing.assert_allclose(np.asarray(moved.query.to_device(here)), back.query, rtol=0, atol=float(np.max(bound)))
    w = np.asarray(state.w.to_device(here))
    assert abs(w @ query[:-1] - back.prediction) <= bound[-1]


def test_the_query_is_never_a_key() -> None:
    context, query, layers = drawn(3, 5, 2, 3, 0.3, 1)
    one, other = (forward(Tokens(context, q), layers)[-1] for q in (query, 5 * query))
    assert np.array_equal(one.context, other.context)
    np.testing.assert_allclose(
        other.query, 5 * one.query, rtol=0, atol=float(np.max(rounding_bound(5 * query, context, layers)))
    )


@given(xx=WEIGHTS, xy=WEIGHTS, yx=WEIGHTS, yy=WEIGHTS)
def test_one_head_exists_exactly_for_weights_on_the_cone(xx: float, xy: float, yx: float, yy: float) -> None:
    four = Diagonal(xx, xy, yx, yy)
    scale = abs(xx * yy) + abs(xy * yx)
    if abs(four.determinant) <= EPS * scale:
        made = SingleHead.of(four).weights
        largest = max(map(abs, (xx, xy, yx, yy)))
        for name in ("xx", "xy", "yx", "yy"):
            assert abs(getattr(made, name) - getattr(four, name)) <= 4 * EPS * largest
    else:
        with pytest.raises(InvalidInput, match="one diagonal head"):
            SingleHead.of(four)


@given(p_x=WEIGHTS, p_y=WEIGHTS, q_x=WEIGHTS, q_y=WEIGHTS)
def test_the_weights_of_one_head_are_on_the_cone(p_x: float, p_y: float, q_x: float, q_y: float) -> None:
    head = SingleHead(p_x, p_y, q_x, q_y)
    four, gram = head.weights, np.asarray([[2.0, 0.5], [0.5, 3.0]])
    assert abs(four.determinant) <= 4 * EPS * abs(four.xx * four.yy)
    np.testing.assert_allclose(
        head.layer(1).attention(gram), four.layer(1).attention(gram), rtol=4 * EPS, atol=0
    )  # each entry is one product
