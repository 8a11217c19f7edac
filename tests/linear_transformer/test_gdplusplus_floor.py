"""The proved floor of GD++: exact moments, Gauss's rule, the bound itself, and its sharpness for polynomials."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.errors import OutOfReach
from lipverify.foundation import Floats
from lipverify.linear_transformer import CategoricalNoise, UniformNoise, gdplusplus_floor
from lipverify.linear_transformer.gdplusplus import (  # internal: the number of tries of the recurrence is set to one
    POINTS,
    ExcessLoss,
    constant_ridge_loss,
    excess_loss,
    orthogonal,
    second_moment,
    spectral_rule,
)
from lipverify.linear_transformer.gdplusplus.floor import degree  # internal: the degree of its polynomials

# internal: exact moments compared with those of the traces
# internal: Gauss's rule alone, at its degree and beyond
from lipverify.linear_transformer.gdplusplus.orthogonal import density_moments, gauss_mean, gauss_rule, recurrence
from lipverify.linear_transformer.gdplusplus.spectrum import trace_moments  # internal: moments by traces
from lipverify.linear_transformer.regression import NoiseLaw
from lipverify.prompts import Prompts
from tests.linear_transformer.test_gdplusplus import weights
from tests.strategies import log_floats, target

EPS = float(np.finfo(float).eps)
LAWS = st.one_of(
    st.just(UniformNoise(0.0)),
    st.builds(UniformNoise, log_floats(0.1, 10.0)),
    st.builds(lambda one, other: CategoricalNoise((one, other)), log_floats(0.1, 10.0), log_floats(0.1, 10.0)),
)
SIZES = st.tuples(st.integers(1, 6), st.integers(0, 8)).map(lambda pair: (pair[0] + pair[1], pair[0]))


# ---- moments


@given(size=SIZES)
def test_moments_are_those_of_the_trace(size: tuple[int, int]) -> None:
    """Integers, equal to the closed forms up to the third; those of another n are not."""
    found = density_moments(*size, 4)
    assert [fmpq(m) for m in trace_moments(*size)] == found
    assert [fmpq(m) for m in trace_moments(size[0] + 1, size[1])] != found
    assert all(m.q == 1 for m in density_moments(*size, 12))


# ---- Gauss's rule


@given(size=SIZES, nodes=st.integers(1, 12))
def test_gauss_rule_is_exact_for_twice_its_nodes(size: tuple[int, int], nodes: int) -> None:
    """Moments up to 2 nodes are exact, the next is not; eigenvalues are accurate relative to the norm of the matrix."""
    rule, exact = gauss_rule(*size, nodes), density_moments(*size, 2 * nodes + 2)
    errors = [abs(rule.mean(rule.t**k) / float(exact[k]) - 1) for k in range(1, 2 * nodes + 1)]
    allowed = 64 * nodes * EPS * (2 * nodes + 1) * rule.t[-1] / rule.t[0]
    target(max(errors) / allowed)
    assert max(errors) <= allowed
    assert rule.mean(rule.t ** (2 * nodes + 1)) < float(exact[2 * nodes + 1])


def test_the_continued_fraction_is_the_rule() -> None:
    found, rule = recurrence(20, 10, 13), gauss_rule(20, 10, 13)
    for s in (0.0, 0.5, 8.0):
        assert rule.mean(rule.t / (rule.t + s)) == pytest.approx(float(gauss_mean(found, 13, s)), rel=1e-12)


def test_insufficient_precision_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orthogonal, "TRIES", 1)
    monkeypatch.setattr(orthogonal, "MOMENT_BITS", 0)
    with pytest.raises(OutOfReach, match="bits do not suffice"):
        recurrence.__wrapped__(20, 10, 200)


# ---- the floor


def least_squares(n: int, d: int, s: fmpq, terms: int) -> fmpq:
    """b^T H^-1 b: the gain of polynomials g with a number of terms over g = 0, twice, in rational numbers."""
    m = density_moments(n, d, 2 * terms + 2)
    H = fmpq_mat(terms, terms, [m[j + k + 2] + s * m[j + k + 1] for j in range(terms) for k in range(terms)])
    b = fmpq_mat(terms, 1, [m[j + 1] for j in range(terms)])
    return (b.transpose() * H.solve(b))[0, 0]


@given(size=SIZES, s=st.fractions(0, 20), terms=st.integers(1, 8))
def test_the_continued_fraction_is_least_squares(size: tuple[int, int], s: object, terms: int) -> None:
    """The same rational number by a Hankel system, to the precision of the balls; with one more term it differs."""
    exact = fmpq(s.numerator, s.denominator)  # type: ignore[attr-defined]
    with ctx.workprec(orthogonal.WANTED):
        found = gauss_mean(recurrence(*size, terms + 1), terms, exact)
        assert found.overlaps(arb(least_squares(*size, exact, terms)))
        assert found.rel_accuracy_bits() > 100
        assert not found.overlaps(arb(least_squares(*size, exact, terms + 1)))


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("noise", [UniformNoise(0.0), UniformNoise(2.0), CategoricalNoise((0.5, 3.0))])
def test_the_floor_is_the_least_loss_of_a_polynomial(noise: NoiseLaw, layers: int) -> None:
    """Weighted least squares on the nodes of a rule, in Chebyshev polynomials, reaches it and is not below it."""
    regression = Prompts(d=3, n=9, sigma=noise)
    floor, ridge = gdplusplus_floor(regression, layers), constant_ridge_loss(regression)
    rule, s = spectral_rule(9, 3, 3**layers), noise.second_moment
    root = np.exp((rule.log_weights + np.log1p(s / rule.t)) / 2)
    basis = np.polynomial.chebyshev.chebvander(2 * rule.t / 120 - 1, degree(layers) - 1)
    matrix = root[:, None] * rule.t[:, None] * basis
    scale = np.linalg.norm(matrix, axis=0)
    wanted = root * rule.t / (rule.t + s)
    gained, *_ = np.linalg.lstsq(matrix / scale, wanted, rcond=None)
    least = ridge.value + float(np.sum((matrix / scale @ gained - wanted) ** 2)) / 2
    assert abs(least - floor.value) <= floor.error + ridge.error + 1e-9 * least  # the basis is ill-conditioned
    higher = gdplusplus_floor(regression, layers + 1)
    assert higher.value < floor.value
    assert least > higher.value + higher.error  # the test can fail: one more layer is not reached


@settings(max_examples=25)
@given(size=SIZES, noise=LAWS, flat=st.integers(1, 3).flatmap(weights))
def test_no_model_is_below_the_floor(size: tuple[int, int], noise: NoiseLaw, flat: Floats) -> None:
    regression, layers = Prompts(d=size[1], n=size[0], sigma=noise), (len(flat) + 1) // 2
    floor, ridge, loss = (
        gdplusplus_floor(regression, layers),
        constant_ridge_loss(regression),
        excess_loss(regression, layers, POINTS, None),
    )
    value = ridge.value + loss(flat)
    rounding = ridge.error + loss.rounding(flat) + 1e-9 * value
    target(math.log10(floor.value / value))
    assert value + rounding >= floor.value - floor.error


@settings(max_examples=30)
@given(size=SIZES, s=log_floats(0.01, 10.0), flat=st.integers(1, 3).flatmap(weights))
def test_the_loss_above_the_floor_is_a_sum_over_gauss_nodes(size: tuple[int, int], s: float, flat: Floats) -> None:
    """Differences between two models by D nodes and by hundreds: the floor, which both omit, cancels."""
    layers = (len(flat) + 1) // 2
    few, many = (ExcessLoss(rule, s) for rule in (gauss_rule(*size, degree(layers)), spectral_rule(*size, 3**layers)))
    one, other = flat, flat * 0.9
    difference, exact = few(one) - few(other), many(one) - many(other)
    allowed = sum(loss.rounding(w) for loss in (few, many) for w in (one, other)) + 1e-7 * max(many(one), many(other))
    target(abs(difference - exact) / allowed)
    assert abs(difference - exact) <= allowed


@settings(max_examples=15)
@given(size=SIZES, noise=LAWS)
def test_floors_fall_with_depth_to_ridge(size: tuple[int, int], noise: NoiseLaw) -> None:
    regression = Prompts(d=size[1], n=size[0], sigma=noise)
    floors = [gdplusplus_floor(regression, layers) for layers in (1, 2, 3, 4)]
    for shallow, deep in pairwise(floors):
        assert deep.value - deep.error <= shallow.value + shallow.error
    ridge = constant_ridge_loss(regression)
    assert floors[-1].value + floors[-1].error >= ridge.value - ridge.error


def test_deep_models_under_noise_are_bounded_by_ridge() -> None:
    """Beyond the degree of the reference the bound is that of all filters, minus the truncation of the reference."""
    regression = Prompts(d=10, n=20, sigma=UniformNoise(3.0))
    floor, ridge = gdplusplus_floor(regression, 7), constant_ridge_loss(regression)
    assert ridge.value - 4e-7 < floor.value - floor.error <= ridge.value
    assert floor.value + floor.error >= ridge.value


def test_one_layer_is_any_filter_of_degree_one() -> None:
    floor = gdplusplus_floor(Prompts(d=10, n=20, sigma=UniformNoise(0.0)), 1)
    assert abs(floor.value - 110 / 62) <= floor.error + EPS


def test_printed_entries_without_noise_are_below_the_floor() -> None:
    """Five layers, 1.14e-7; with four the floor gives no conclusion."""
    silent = Prompts(d=10, n=20, sigma=UniformNoise(0.0))
    five, four = gdplusplus_floor(silent, 5), gdplusplus_floor(silent, 4)
    assert five.value - five.error > 1.145e-7 * 2
    assert four.value + four.error < 9.905e-5


def test_second_moments_are_exact() -> None:
    assert second_moment(UniformNoise(0.5)) == fmpq(1, 12)
    assert second_moment(CategoricalNoise((1.0, 3.0, 5.0))) == fmpq(35, 3)
