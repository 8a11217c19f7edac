"""Ridge regression under two levels of noise, and what transformers cannot express: distances and alignments."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.checks.linear_transformers.cosines import expected_alignment, mean_square_cosine
from lipverify.checks.linear_transformers.sampled_cosines import (
    best_alignment,
    largest_sign_averaged_square,
    projected_square,
    sign_averaged_square,
    signed_cosine,
    transformer_alignment,
)
from lipverify.checks.linear_transformers.two_levels import (
    ORDERS,
    Order,
    TwoLevels,
    alternating,
    difference,
    leading_mean,
    leading_square,
    sampled_square,
    worst_at,
)
from lipverify.claims.plan import library_claims, profile_named
from lipverify.claims.run import run
from lipverify.foundation import normals
from lipverify.foundation.shipped import shipped
from lipverify.linear_transformer import Layer, readout
from tests.strategies import log_floats, target

EPS = float(np.finfo(float).eps)
SIGMAS = 6
"""The tolerance of sampled values in standard errors."""


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
    value, half_width = sampled_square(d, n, order, 200_000, seed=11, pair=(0.5, 3.0))
    found = {o: n * difference(d, n, 3.0, -TwoLevels(0.5, 3.0).c, TwoLevels(0.5, 3.0).v / n, o).square for o in ORDERS}
    allowed = SIGMAS * half_width / 1.96
    assert abs(value - found[order]) <= allowed
    (other,) = set(ORDERS) - {order}
    assert abs(value - found[other]) > allowed


@pytest.mark.parametrize("order", ORDERS)
@given(d=st.integers(1, 2), sigma_1=st.floats(0, 3), sigma_2=st.floats(0, 3))
@settings(max_examples=20)
def test_n_times_the_distance_tends_to_the_derived_limits(order: Order, d: int, sigma_1: float, sigma_2: float) -> None:
    """The remainder is O(1/n): it halves as n doubles, and is small relative to the limit."""
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
        other, allowed = alternating(*case), 1e3 * EPS
        assert abs(worst_at(tuple(sigma**2 for sigma in case)) - other) <= allowed < other
    assert worst_at((0.3, 2.0)) <= 1e3 * EPS


# The claims on what layers can and cannot do: verdicts as recorded, and controls with the opposite verdict.


QUICK = profile_named("quick")


LONG = ("implicit_model", "expressive_limit")


@pytest.mark.parametrize(
    "name", ["diagonal", "momentum", "adaptive_step", *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)]
)
def test_verdicts_are_as_recorded_and_every_control_is_caught(name: str) -> None:
    ledger = run(library_claims(shipped() / "linear_transformers" / f"{name}.py", QUICK), jobs=0)
    for record in ledger.claims:
        assert (record.id, record.problem, record.verdict) == (record.id, "", record.expected)
        assert all(cell.caught for cell in record.cells), record.id
        assert all(cross.agrees for cross in record.cross_checks), record.id
        assert record.corrected or record.verdict == "supported", record.id


# Labels linear in the covariates aligned with x(1)^2: closed forms against other code, at six standard errors.


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
    value, half_width = best_alignment(3, 100, 2, 1000, seed=5)
    exact = mean_square_cosine(3, 100)
    assert abs(value - exact.value) <= SIGMAS / 1.96 * half_width
    assert abs(value - 3 / 100) > SIGMAS / 1.96 * half_width


def test_a_transformer_has_the_mean_of_the_directions_that_nothing_distinguishes() -> None:
    """(1 + 4/d)/n for normal w, up to the remainder of order 1/n, which a tenth covers at n = 300."""
    square, averaged, signed, ceiling = transformer_alignment(3, 300, 2, 1, False, 1000, seed=5)
    for value, half_width in (square, averaged):
        assert abs(value - (1 + 4 / 3)) <= SIGMAS / 1.96 * half_width + 0.1
    assert abs(averaged[0] - 5) > SIGMAS / 1.96 * averaged[1] + 0.1
    assert averaged[1] < square[1]
    assert abs(signed[0]) <= SIGMAS / 1.96 * signed[1]
    assert abs(ceiling[0] - 5) <= SIGMAS / 1.96 * ceiling[1] + 0.1


@given(d=st.integers(1, 3), n=st.integers(4, 12), layers=st.integers(1, 3), flipped=st.integers(0, 2**12 - 1))
def test_changing_the_sign_of_tokens_changes_the_sign_of_their_labels(
    d: int, n: int, layers: int, flipped: int
) -> None:
    """The moments do not change by a bit, so only the signs change: the mean cosine is exactly 0."""
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
