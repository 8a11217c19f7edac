"""Powers of the logarithm in addition to the exponent: the error must cover the truth, and must not be too large."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lipverify.foundation import Floats
from lipverify.scaling import Growth, growth_of
from tests.strategies import target

POWERS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
LADDERS = {26: np.geomspace(1e4, 1e30, 27), 12: np.geomspace(1e4, 1e16, 14)}
"""The lengths of the ladders, in decades."""
RATIO = 0.1
"""The relative accuracy of the limit of a ratio that a verdict at equality needs."""


def law(decades: int, a: float, b: float, correction: Callable[[Floats], Floats], noise: float = 0.0) -> Growth:
    """3 s^a (log s)^b (1 + correction(log s)), with relative noise."""
    s = LADDERS[decades]
    values = 3 * s**a * np.log(s) ** b * (1 + correction(np.log(s)))
    spread = np.random.default_rng(7).uniform(-noise, noise, s.size)
    return growth_of(s, values * (1 + spread), np.full(s.size, noise) if noise else None)


def off(found: tuple[float, float], truth: float) -> float:
    """True error divided by claimed error."""
    return abs(found[0] - truth) / found[1]


@st.composite
def corrections(draw: st.DrawFn) -> Callable[[Floats], Floats]:
    """Powers of 1 / log s, as long as the values stay positive; an offset of log s produces all of them at once."""
    coefficients = draw(st.lists(st.floats(-1.5, 1.5), min_size=1, max_size=4))

    def correction(x: Floats) -> Floats:
        return sum((c * (2 / x) ** (j + 1) / 2 for j, c in enumerate(coefficients)), start=np.zeros_like(x))

    return correction


@given(
    decades=st.sampled_from(sorted(LADDERS)), a=st.floats(-2, 2), b=st.sampled_from(POWERS), correction=corrections()
)
def test_the_errors_cover_the_exponent_the_power_and_the_constant(
    decades: int, a: float, b: float, correction: Callable[[Floats], Floats]
) -> None:
    assume(np.all(1 + correction(np.log(LADDERS[decades])) > 0.1))
    found = law(decades, a, b, correction)
    ratios = {
        "exponent": off((found.exponent, found.error), a),
        "power": off(found.log_power(a), b),
        "constant": off(found.limit_of_ratio(a, b), 3.0),
    }
    for label, ratio in ratios.items():
        target(ratio, label=f"{label}: error over claimed error")
        assert ratio <= 1, label


@pytest.mark.parametrize("b", POWERS)
@pytest.mark.parametrize(("decades", "sharp"), [(26, 0.02), (12, 0.1)])
def test_a_half_power_of_the_logarithm_is_distinguished_from_none(b: float, decades: int, sharp: float) -> None:
    found = law(decades, 0.3, b, lambda x: 1 / x - 2 / x**2)
    power, error = found.log_power(0.3)
    assert abs(power - b) <= error <= sharp
    if b:
        limit, error = found.limit_of_ratio(0.3, b)
        assert abs(limit - 3) <= error <= RATIO * limit


@pytest.mark.parametrize("decades", sorted(LADDERS))
@pytest.mark.parametrize(
    "correction",
    [
        lambda x: np.log(x) / x,
        lambda x: (1 + (np.log(x) - 2) / x) ** 0.5 - 1,
        lambda x: 1 / np.sqrt(x),
        lambda x: np.exp(-0.1 * x),
        lambda x: (1 + 1 / x) * (1 - np.exp(-0.3 * x)) - 1,
        lambda x: 0.3 * np.sin(x) * np.exp(-0.3 * x),
        lambda x: np.log(x) - 1,
        lambda x: 1 / np.log(x) - 1,
    ],
    ids=["loglog/log", "inverted", "root", "power", "both", "fading wave", "loglog", "1/loglog"],
)
@pytest.mark.parametrize("noise", [0.0, 1e-6])
def test_other_corrections_are_inside_the_error(
    decades: int, correction: Callable[[Floats], Floats], noise: float
) -> None:
    found = law(decades, -0.5, 0.5, correction, noise)
    assert off(found.log_power(-0.5), 0.5) <= 1
    if not noise:
        assert off((found.exponent, found.error), -0.5) <= 1


@pytest.mark.parametrize("decades", sorted(LADDERS))
@pytest.mark.parametrize("other", [-0.01, 0.001, 0.01, 0.1])
def test_with_another_exponent_no_log_power_and_no_ratio_is_given(decades: int, other: float) -> None:
    found = law(decades, 0.5, 1.0, lambda x: 1 / x)
    assert found.log_power(0.5 + other)[1] == math.inf
    limit, error = found.limit_of_ratio(0.5 + other, 1.0)
    assert not error < RATIO * limit


@pytest.mark.parametrize("decades", sorted(LADDERS))
@pytest.mark.parametrize("other", [-1.0, -0.1, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("correction", [lambda x: 0 * x, lambda x: 1 / x, lambda x: np.exp(-0.2 * x)])
def test_a_ratio_to_another_power_has_no_limit(
    decades: int, other: float, correction: Callable[[Floats], Floats]
) -> None:
    found = law(decades, 0.5, 0.75, correction)
    limit, error = found.limit_of_ratio(0.5, 0.75 + other)
    assert not error < RATIO * limit
    if abs(other) >= 0.5:
        power, error = found.log_power(0.5)
        assert abs(power - 0.75 - other) > error


def test_no_power_is_found_where_there_is_none_to_find() -> None:
    waves = law(26, 0.5, 0.0, lambda x: 0.1 * np.sin(x))
    assert waves.log_power(0.5)[1] == math.inf
    s = np.geomspace(1e-9, 10, 20)
    assert growth_of(s, s**0.5).log_power(0.5)[1] == math.inf
    assert growth_of(s, s**0.5).limit_of_ratio(0.5, 1.0)[1] > 1e300


def test_points_where_the_logarithm_is_no_scale_are_left_out() -> None:
    s = np.geomspace(0.01, 1e30, 33)
    found = growth_of(s, 2 * s**0.5 * np.log(2 + s))
    power, error = found.log_power(0.5)
    assert abs(power - 1) <= error <= 0.1


def test_a_ratio_without_a_logarithm_is_unchanged() -> None:
    found = law(26, 0.5, 0.0, lambda x: np.exp(-0.3 * x))
    assert found.limit_of_ratio(0.5, 0.0) == found.limit_of_ratio(0.5)
    assert off(found.limit_of_ratio(0.5), 3.0) <= 1
