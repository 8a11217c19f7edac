"""The theorems on linear transformers: recursions, closed forms and weights against what shares no code with them.

False alarms: every sampled assertion here is at six standard errors (2e-9 each) and there are fewer than a hundred.
"""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings, target
from hypothesis import strategies as st

from checks.linear_transformers import (
    expressive_limit,
    expressive_limit_labels,
    expressive_limit_twins,
    noise_adaptive,
    noise_adaptive_rate,
    noise_adaptive_twins,
    second_order,
    second_order_coefficients,
    second_order_twins,
)
from lipverify.claims.linear_transformers.expressive import transformer_alignment
from lipverify.claims.linear_transformers.noise_adaptive import alternating, sampled_square, worst_of
from lipverify.claims.linear_transformers.second_order import matrix_residual, recursion_residual
from lipverify.claims.registry import profile_named
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.linear_transformer.collapsed import readout
from lipverify.linear_transformer.gdplusplus.eigenvalues import follow
from lipverify.linear_transformer.layer import GDPlusPlus, Layer
from lipverify.linear_transformer.theory.expressive import (
    expected_alignment,
    largest_sign_averaged_square,
    mean_square_cosine,
    projected_square,
    sign_averaged_square,
    signed_cosine,
)
from lipverify.linear_transformer.theory.layer_counts import (
    chebyshev_log_condition_reached,
    chebyshev_steps,
    layers_needed,
    least_layers,
    log_condition_reached,
    log_log_accuracy_reached,
)
from lipverify.linear_transformer.theory.noise_adaptive import (
    ORDERS,
    Order,
    TwoLevels,
    difference,
    leading_mean,
    leading_square,
    worst_at,
)
from lipverify.linear_transformer.theory.second_order import (
    MINIMAX,
    UNIVERSAL,
    Method,
    chebyshev_weights,
    improved,
    residual,
)
from lipverify.loss.streams import normals
from tests.strategies import log_floats

EPS = float(np.finfo(float).eps)
QUICK = profile_named("quick")
METHODS = (MINIMAX, UNIVERSAL)
SIGMAS = 6
"""Standard errors at which sampled values must agree."""


# GD++ on eigenvalues


@given(
    eigenvalues=st.lists(log_floats(0.1, 2.0), min_size=1, max_size=4),
    weights=st.lists(st.tuples(st.floats(-0.4, 0.4), st.floats(-1.0, 1.0)), min_size=1, max_size=4),
)
def test_the_recursion_is_the_forward_pass_in_the_eigenbasis(
    eigenvalues: list[float], weights: list[tuple[float, float]]
) -> None:
    """In the relative error of a polynomial whose terms are bounded by the same recursion with absolute values."""
    d, t = len(eigenvalues), np.asarray(eigenvalues)
    layers = [GDPlusPlus(xx, yx) for xx, yx in weights]
    V = np.linalg.qr(normals(0, f"recursion/{d}", 0, (d, d)))[0]
    w = normals(1, f"recursion/{d}", 0, (d,))
    sigma = V @ np.diag(t) @ V.T
    gram = np.block([[sigma, (sigma @ w)[:, None]], [(sigma @ w)[None], np.asarray([[w @ sigma @ w + 1]])]])
    got = readout(gram, [layer.layer(d) for layer in layers]).w
    wanted = V @ (follow(t, layers).p * t * (V.T @ w))
    size = follow(t, [GDPlusPlus(abs(xx), abs(yx)) for xx, yx in weights])
    scale = float(np.max((1 + np.abs(size.r)) * np.abs(size.m) ** 2)) * float(np.linalg.norm(w))
    error = float(np.max(np.abs(got - wanted))) / (256 * len(layers) * EPS * scale)
    target(error)
    assert error <= 1


@given(t=log_floats(1e-3, 1.0), layers=st.integers(1, 6), method=st.sampled_from(METHODS))
def test_the_residual_is_one_less_the_prediction(t: float, layers: int, method: Method) -> None:
    state = follow(arb(t), method.weights(arb(10), layers))
    assert (state.r - (1 - state.t * state.p)).contains(0)
    assert (state.s - state.t * state.m**2).contains(0)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name.split()[0])
@pytest.mark.parametrize("kappa", [1.5, 10.0, 1e3])
@pytest.mark.parametrize("layers", [1, 2, 4])
def test_the_condition_number_gives_the_worst_residual_of_a_spectrum(method: Method, kappa: float, layers: int) -> None:
    """On a fine grid: the worst lies at an end, so the grid has it; the control is a weight one percent off."""
    t, weights = np.geomspace(1 / kappa, 1, 20_001), method.weights(kappa, layers)
    excess = kappa - 1
    for _ in range(layers - 1):
        excess = method.improve(excess)
    worst = float(np.max(np.abs(follow(t, weights).r)))
    # rounding of s, near 1 in its own units, enters r as it is
    allowed = 64 * layers * EPS * math.sqrt(kappa)
    assert abs(worst - residual(excess)) <= allowed
    off = (GDPlusPlus(1.01 * weights[0].xx, 1.01 * weights[0].yx), *weights[1:])
    assert float(np.max(np.abs(follow(t, off).r))) > residual(excess) + allowed


@given(kappa=log_floats(1.1, 1e8), factor=st.floats(0.5, 1.5))
def test_no_other_weight_brings_the_ends_closer(kappa: float, factor: float) -> None:
    """The quotient of largest and least s (1 + xx s)^2 on [1/kappa, 1]; the interior maximum is at s = -1 / (3 xx)."""
    xx = factor * MINIMAX.step(1 / kappa, 1.0)
    inside = -1 / (3 * xx)
    places = [1 / kappa, 1.0] + ([inside] if 1 / kappa < inside < 1 else [])
    images = [s * (1 + xx * s) ** 2 for s in places]
    # where 1 + xx s changes sign an eigenvalue is lost
    quotient = max(images) / min(images) if -1 / xx > 1 else math.inf
    ratio = (1 + improved(kappa - 1)) / quotient
    target(ratio)
    assert ratio <= 1 + 64 * EPS * kappa


def test_extended_precision_agrees_with_matrices() -> None:
    """Balls that were drawn apart: they overlap, and tell one layer more from none."""
    for kappa, layers in ((2.0, 8), (100.0, 8)):
        one, other = recursion_residual(kappa, layers), matrix_residual(kappa, layers, 3, 0)
        assert abs(one.log10 - other.log10) <= one.error + other.error < 1e-9
        assert abs(recursion_residual(kappa, layers + 1).log10 - other.log10) > 1


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name.split()[0])
def test_the_reach_in_accuracy_is_that_of_balls(method: Method) -> None:
    for kappa, layers in ((2.0, 3), (2.0, 12), (1e3, 16)):
        with ctx.workprec(512):
            excess = arb(kappa) - 1
            for _ in range(layers - 1):
                excess = method.improve(excess)
            wanted = float((-residual(excess).log()).log())
        assert abs(log_log_accuracy_reached(method, kappa, layers) - wanted) <= 1e-12 * max(1.0, abs(wanted))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name.split()[0])
@given(decades=st.integers(1, 8), layers=st.integers(3, 40))
@settings(max_examples=25)
def test_the_reach_in_kappa_is_where_the_count_changes(method: Method, decades: int, layers: int) -> None:
    kappa = math.exp(log_condition_reached(method, 10.0**-decades, layers))
    if kappa > 1 + 1e-6:
        assert layers_needed(method, 1 + (kappa - 1) * (1 - 1e-9), decades) == layers
        assert layers_needed(method, 1 + (kappa - 1) * (1 + 1e-9), decades) == layers + 1


@given(layers=st.integers(1, 5), epsilon=st.floats(0.35, 0.9))
def test_chebyshev_weights_reach_what_they_say(layers: int, epsilon: float) -> None:
    log_kappa = chebyshev_log_condition_reached(epsilon, layers)
    t = np.geomspace(math.exp(-log_kappa), 1, 4001)
    r = np.abs(follow(t, chebyshev_weights(layers)).r)
    theta, n = np.arcsin(np.sqrt(t)), 3**layers
    np.testing.assert_allclose(r, np.abs(np.sin(n * theta) / (n * np.sin(theta))), rtol=0, atol=1e3 * n * EPS)
    assert abs(float(r.max()) - epsilon) <= 1e3 * n * EPS
    assert least_layers(log_kappa, epsilon) <= layers


@given(
    kappa=log_floats(2, 1e4), weights=st.lists(st.tuples(st.floats(-1, 0), st.floats(-3, 0)), min_size=1, max_size=3)
)
def test_no_weights_beat_the_lower_bound(kappa: float, weights: list[tuple[float, float]]) -> None:
    t = np.geomspace(1 / kappa, 1, 2001)
    left = float(np.max(np.abs(follow(t, [GDPlusPlus(*each) for each in weights]).r)))
    if 0 < left < 1:
        bound = least_layers(math.log(kappa), left)
        target(bound - len(weights))
        # the grid may miss the maximum by its curvature
        assert bound <= len(weights) + 1e-2


def test_the_bound_is_attained_by_one_gradient_step() -> None:
    assert abs(chebyshev_steps(7.0, 0.75) - 1) <= 8 * EPS
    assert abs(least_layers(math.log(7.0), 0.75) - 1) <= 8 * EPS


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: MINIMAX.weights(0.5, 2), InvalidInput),
        (lambda: MINIMAX.weights(2.0, 0), InvalidInput),
        (lambda: layers_needed(MINIMAX, 1.0, 3), InvalidInput),
        (lambda: log_condition_reached(MINIMAX, 1.0, 3), InvalidInput),
        (lambda: chebyshev_log_condition_reached(0.1, 3), InvalidInput),
        (lambda: difference(3, 10, 1.0, -0.5, -0.1), OutOfReach),
        (lambda: difference(2, 2, 1.0, -0.5, -0.1), InvalidInput),
        (lambda: TwoLevels(-1.0, 1.0), InvalidInput),
        (lambda: TwoLevels(0.0, 1.0).layers(10, "both"), InvalidInput),  # type: ignore[arg-type]
        (lambda: expected_alignment(0), InvalidInput),
        (lambda: mean_square_cosine(3, 2), InvalidInput),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error) as refusal:
        call()
    assert "\n" not in str(refusal.value)


# two noise levels


@given(sigma_1=st.floats(0, 10), sigma_2=st.floats(0, 10))
def test_two_layers_meet_ridge_at_both_levels_and_nowhere_else(sigma_1: float, sigma_2: float) -> None:
    model = TwoLevels(sigma_1, sigma_2)
    for level, sigma in enumerate((sigma_1, sigma_2)):
        error = abs(model.shrinkage(sigma) * (1 + sigma**2) - 1) / (16 * EPS * (1 + sigma**2))
        target(error, label=f"level {level}")
        assert error <= 1
    other = max(sigma_1, sigma_2) + 1
    assert model.shrinkage(other) * (1 + other**2) < 1 - 1e-6


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("d", "n"), [(1, 60), (2, 60)])
def test_the_distance_from_ridge_is_that_of_sampled_contexts(order: Order, d: int, n: int) -> None:
    """The half-width is 1.96 standard errors; the control is the other order."""
    value, half_width = sampled_square(d, n, 0.5, 3.0, order, 200_000, seed=11)
    found = {o: n * difference(d, n, 3.0, -TwoLevels(0.5, 3.0).c, TwoLevels(0.5, 3.0).v / n, o).square for o in ORDERS}
    allowed = SIGMAS * half_width / 1.96
    assert abs(value - found[order]) <= allowed
    (other,) = set(ORDERS) - {order}
    assert abs(value - found[other]) > allowed


@pytest.mark.parametrize("order", ORDERS)
@given(d=st.integers(1, 2), sigma_1=st.floats(0, 3), sigma_2=st.floats(0, 3))
@settings(max_examples=20)
def test_n_times_the_distance_tends_to_the_derived_limits(order: Order, d: int, sigma_1: float, sigma_2: float) -> None:
    """The remainder is O(1/n): it halves as n doubles, and is small beside the limit."""
    model, n = TwoLevels(sigma_1, sigma_2), 2.0**14
    gaps = []
    for length in (n, 2 * n):
        found = difference(d, length, sigma_1, -model.c, model.v / length, order)
        gaps.append(
            (
                length * found.square - leading_square(model, d, sigma_1),
                length * found.mean - leading_mean(model, d, sigma_1, order),
            )
        )
    for one, half in zip(*gaps, strict=True):
        assert abs(one - 2 * half) <= 0.01 * abs(one) + 1e-6
        assert abs(one) < 0.1


def test_more_levels_than_weights_leave_an_error() -> None:
    for case in ((0.0, 1.0, 2.0), (1.0, 3.0, 5.0)):
        (one, _), (other, error) = worst_of(case, True), alternating(case, True)
        assert abs(one - other) <= error < other
    assert worst_at((0.3, 2.0)) <= 1e3 * EPS


# the quadratic target


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_the_alignment_is_that_of_sampled_normals(n: int) -> None:
    g = normals(3, f"alignment/{n}", 0, (100_000, n))
    q = np.sum(g**3, axis=1) ** 2 / (np.sum(g**2, axis=1) * np.sum(g**4, axis=1))
    exact = expected_alignment(n)
    assert abs(float(q.mean()) - exact.value) <= SIGMAS * float(q.std()) / math.sqrt(len(q)) + exact.error + 64 * EPS
    assert exact.error <= 1e-11


def test_the_alignment_of_two_normals_in_closed_form() -> None:
    """n = 2: with c = cos 2t uniform in angle, E (1 + 3 c^2) / (2 (1 + c^2)) = 3/2 - 1/sqrt(2)."""
    exact = expected_alignment(2)
    assert abs(exact.value - (1.5 - math.sqrt(0.5))) <= exact.error + 16 * EPS


@given(n=log_floats(2, 1e30))
def test_n_times_the_alignment_stays_below_five(n: float) -> None:
    exact = expected_alignment(n)
    target(n * exact.value)
    assert n * (exact.value - exact.error) <= 5 * (1 + 8 * EPS)


@given(d=st.integers(1, 40), share=st.floats(1, 1e4))
def test_the_mean_square_cosine_stays_below_its_limit(d: int, share: float) -> None:
    n = max(5, round(share * d))
    exact = mean_square_cosine(d, n)
    assert exact.value - exact.error <= min(1.0, (d + 4) / n) * (1 + 8 * EPS)


def test_the_best_readout_is_that_of_sampled_contexts() -> None:
    found = transformer_alignment(3, 100, 1, 1, False, 1000, 5)
    exact = mean_square_cosine(3, 100)
    assert abs(found.best[0] - 100 * exact.value) <= SIGMAS / 1.96 * found.best[1]
    assert abs(found.best[0] - 3) > SIGMAS / 1.96 * found.best[1]


@given(d=st.integers(1, 3), n=st.integers(4, 12), layers=st.integers(1, 3), flipped=st.integers(0, 2**12 - 1))
def test_changing_the_sign_of_tokens_changes_the_sign_of_their_labels(
    d: int, n: int, layers: int, flipped: int
) -> None:
    """The moments do not change by a bit, so that nothing does but the signs: the mean cosine is exactly 0."""
    X, w = normals(0, f"signs/{d}/{n}", 0, (n, d)), normals(0, f"signs/{d}/{n}", 1, (d,))
    P = 0.1 * normals(0, f"signs/{d}/{n}/{layers}", 2, (2, layers, 1, d + 1, d + 1))
    signs = np.asarray([-1.0 if flipped >> i & 1 else 1.0 for i in range(n)])
    labels = []
    for turned in (np.ones(n), signs, -signs):
        tokens = turned[:, None] * np.column_stack([X, X @ w])
        moments = sum(np.outer(token, token) for token in tokens)
        last = readout(np.asarray(moments), [Layer(P[0, k], P[1, k]) for k in range(layers)])
        labels.append(last.a * tokens[:, -1] - np.sum(tokens[:, :-1] * last.w, axis=1))
    assert np.array_equal(labels[1], signs * labels[0])
    h = X[:, 0] ** 2
    assert float(signed_cosine(labels[1], h)) == -float(signed_cosine(labels[2], h))


@given(d=st.integers(1, 4), n=st.integers(5, 30))
def test_no_labels_beat_the_two_bounds(d: int, n: int) -> None:
    X, v = normals(1, f"bounds/{d}/{n}", 0, (n, d)), normals(1, f"bounds/{d}/{n}", 1, (d,))
    h, labels = X[:, 0] ** 2, X @ v
    best = float(projected_square(X, h))
    assert float(signed_cosine(labels, h)) ** 2 <= best * (1 + 64 * EPS)
    average = float(sign_averaged_square(labels, h) / largest_sign_averaged_square(X, h))
    target(average)
    assert average <= 1 + 1e-10
    fitted = X @ np.linalg.lstsq(X, h)[0]
    assert abs(float(signed_cosine(fitted, h)) ** 2 - best) <= 1e-12


def test_the_cosines_run_on_another_array_library() -> None:
    xp: Any = array_api_strict
    X, h = normals(2, "strict", 0, (3, 9, 2)), normals(2, "strict", 1, (3, 9))
    for function in (projected_square, largest_sign_averaged_square):
        there = function(xp.asarray(X), xp.asarray(h))
        np.testing.assert_allclose(np.asarray(there), function(X, h), rtol=1e-12)
    for pair in (signed_cosine, sign_averaged_square):
        np.testing.assert_allclose(np.asarray(pair(xp.asarray(h), xp.asarray(h**2))), pair(h, h**2), rtol=64 * EPS)


# the claims


@pytest.mark.parametrize(
    "module",
    [
        second_order,
        second_order_coefficients,
        second_order_twins,
        noise_adaptive,
        noise_adaptive_rate,
        noise_adaptive_twins,
        expressive_limit,
        expressive_limit_labels,
        expressive_limit_twins,
    ],
    ids=lambda m: m.__name__[26:],
)
def test_every_claim_is_as_recorded_and_every_control_is_caught(module: Any) -> None:
    from lipverify.claims.runner import run

    ledger = run(module.claims(QUICK), jobs=1)
    for record in ledger.claims:
        assert (record.problem, record.verdict) == ("", record.expected), record.id
        assert record.control.caught, record.id
        assert all(cross.agrees for cross in record.cross_checks), record.id
        assert record.corrected or record.verdict == "supported", record.id
