"""Theorems for every kappa, epsilon, n and d, compared with exact numbers over their ranges."""

import math

import numpy as np
import pytest
from flint import fmpq, fmpq_poly
from hypothesis import given
from hypothesis import strategies as st

from lipverify.checks.linear_transformers.condition_numbers import METHODS, improved
from lipverify.checks.linear_transformers.cosines import mean_square_cosine
from lipverify.checks.linear_transformers.layer_counts import layers_needed

# internal: contexts are sampled, which the proofs do not do
from lipverify.checks.linear_transformers.two_levels import Order, TwoLevels, difference, unit_contexts

# internal: a sampled mean is compared with the exact one
from lipverify.foundation.means.checked import mean_with_half_width
from lipverify.linear_transformer import evaluation, readout
from lipverify.proofs import Proof, prove_cosine, prove_layers, prove_ridge

# internal: moments, of which a lemma keeps only the bounds
from lipverify.proofs.checker.kernel.polynomials import never_negative

# internal: moments, of which a lemma keeps only the bounds
from lipverify.proofs.checker.layers.cosine import mixed_moment, radius_moment
from tests.proofs.controls import every_control_is_rejected
from tests.strategies import target

LAYERS = prove_layers().constants


@given(st.floats(0, 70), st.integers(1, 400))
def test_whole_layers_are_never_more_than_is_proved(log_kappa: float, k: int) -> None:
    kappa = math.exp(log_kappa) if log_kappa > 1e-3 else 1.001
    needed = layers_needed(METHODS["minimax"], kappa, k)
    proved = math.log(kappa) / math.log(27 / 4) + math.log2(k * math.log(10)) + LAYERS["C"]
    target(needed / proved)
    assert needed <= proved


@given(st.floats(0, 30))
def test_one_layer_is_within_both_inequalities(log_excess: float) -> None:
    """A layer takes k to k'^2 - 1 = improved: compared with k' <= r (k + 1) beyond F, and slope (k^2 - 1)^2
    everywhere.
    """
    excess = math.expm1(log_excess)
    left, k = improved(excess), math.sqrt(1 + excess)
    assert left <= LAYERS["slope"] * excess**2 * (1 + 1e-12)
    if k >= LAYERS["F"]:
        assert math.sqrt(1 + left) <= math.sqrt(4 / 27) * (k + 1) * (1 + 1e-12)
    else:
        assert LAYERS["slope"] * left <= LAYERS["y"] * (1 + 1e-12)


PROVED = [prove_layers(), prove_cosine(), prove_ridge(0.5, 1.0, 2, 2, 10**6), prove_ridge(1.0, 3.0, 1, 5, 50, "yy")]


@pytest.mark.parametrize("proof", PROVED, ids=lambda proof: proof.data["theorem"])
def test_every_control_of_every_lemma_is_rejected(proof: Proof) -> None:
    every_control_is_rejected(proof.data)


@given(st.integers(1, 30), st.integers(1, 10**6))
def test_the_best_cosine_is_within_its_bound_at_every_length(d: int, beyond: int) -> None:
    n = d + beyond
    found = mean_square_cosine(d, n)
    target(n * found.value / (d + 4))
    assert n * (found.value - found.error) <= d + PROVED[1].constants["offset"]


@pytest.mark.parametrize("j", [0, 1, 2])
def test_mixed_moments_are_those_of_normal_numbers(j: int) -> None:
    n, drawn = 5, np.random.default_rng(0).standard_normal((400_000, 5))
    values = np.sum(drawn**6, axis=1) * np.sum(drawn**4, axis=1) ** j
    exact = mixed_moment(j)(fmpq(n))
    error = values.std() / math.sqrt(len(values))
    assert error < 0.2 * values.mean()
    assert abs(values.mean() - int(exact.p) / int(exact.q)) < 5 * error


def test_moments_of_the_radius_are_those_of_chi_squared() -> None:
    assert radius_moment(6)(fmpq(3)) == 3 * 5 * 7


def test_a_polynomial_that_dips_below_zero_is_not_passed() -> None:
    dips = fmpq_poly([fmpq(99, 100), -2, 1])
    assert not never_negative(dips, 0)
    assert never_negative(dips, 2)


@given(
    st.sampled_from([1, 2]),
    st.sampled_from([(0.5, 1.0), (0.0, 1.0), (1.0, 3.0)]),
    st.sampled_from([1, 2]),
    st.sampled_from(["yx-yy", "yy-yx"]),
    st.integers(3, 10**6),
    st.floats(1, 100),
)
def test_two_layers_are_as_near_to_ridge_as_is_proved(
    d: int, pair: tuple[float, float], level: int, order: Order, n: int, farther: float
) -> None:
    proved = prove_ridge(*pair, level, d, n, order[:2]).constants["K"]
    at, model = math.floor(n * farther), TwoLevels(*pair)
    exact = difference(d, at, pair[level - 1], -model.c, model.v / at, order)
    target(at * exact.square / proved)
    assert at * (exact.square - exact.square_error) <= proved


@pytest.mark.parametrize("order", ["yx-yy", "yy-yx"])
def test_in_five_dimensions_sampled_contexts_are_within_the_bound(order: Order) -> None:
    d, n, sigma, model = 5, 2000, 1.0, TwoLevels(0.5, 1.0)
    drawn = unit_contexts(d, n, sigma, 4000, 0, f"every/{order}")
    layers = [layer.layer(d) for layer in model.layers(n, order)]
    missed = n * np.mean((readout(drawn.gram, layers).w - evaluation(drawn).oracle) ** 2, axis=1)
    value, error = mean_with_half_width(missed)
    assert error < 0.2 * value
    assert value - error < prove_ridge(0.5, 1.0, 2, d, n, order[:2]).constants["K"]
