"""Sums and maxima along rows."""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import SHORT_ROW, row_maxima  # internal: no loss shows a single array
from lipverify.foundation.sphere import sine_and_cosine, versine  # internal: no loss shows single numbers
from lipverify.foundation.validation import chosen, number, numbers, whole  # internal: each rule alone
from tests.strategies import target


@pytest.mark.parametrize("length", [1, 2, 7, SHORT_ROW, SHORT_ROW + 1])
@pytest.mark.parametrize("before", [(), (5,), (3, 4)])
def test_the_largest_of_each_row(length: int, before: tuple[int, ...]) -> None:
    rows = np.random.default_rng(length).standard_normal((*before, length))
    largest = np.max(rows, axis=-1)
    assert np.array_equal(row_maxima(rows, np), largest)
    assert np.array_equal(np.asarray(row_maxima(array_api_strict.asarray(rows), array_api_strict)), largest)
    rows[..., length // 2] = np.nan
    assert np.all(np.isnan(row_maxima(rows, np)))


# Sines and cosines by tangents, compared with balls.


EPS = float(np.finfo(float).eps)
ANGLES = st.one_of(
    st.floats(1e-150, float(np.pi)), st.floats(-100, 1).map(np.exp), st.floats(1e-16, 1).map(lambda x: np.pi - x)
)


def off(value: float, exact: arb, unit: float) -> float:
    return abs(float((arb(value) - exact) / arb(unit))) / EPS


@given(ANGLES, st.sampled_from([-1, 1]))
def test_errors_of_sine_cosine_and_versine_are_as_stated(size: float, sign: int) -> None:
    # vector instructions process full registers, another function the rest: both are tested
    x = np.full(9, sign * size)
    before, ctx.prec = ctx.prec, 300
    try:
        ball = arb(float(x[0]))
        sines, cosines, versines = *sine_and_cosine(x), versine(x)
        exact = float(ball.sin())
        for at in (0, 8):
            sine = off(sines[at], ball.sin(), abs(exact) if size <= np.pi / 2 else 1.5)
            cosine = off(cosines[at], ball.cos(), 1.0 if size <= np.pi / 2 else 1.5)
            one = off(versines[at], 2 * (ball / 2).sin() ** 2, float(versines[at]))
            worst = max(sine / 2, cosine / 2, one / 4)
            target(worst, label=str(at))
            assert worst <= 1, (x[0], sine, cosine, one)
    finally:
        ctx.prec = before


# Numbers and names at the boundary: a value that breaks a rule is refused, and others pass unchanged.


NO_NUMBERS = [True, "1", None, 1j, [1.0], math.nan, math.inf, -math.inf, 10**400]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: str(value)[:9])
def test_a_value_that_is_not_finite_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^x = .*: it must be a finite number\.$"):
        number("x", value)


@given(value=st.floats(allow_nan=False, allow_infinity=False), bound=st.floats(-1e3, 1e3))
def test_bounds_are_met_to_the_last_bit(value: float, bound: float) -> None:
    for rule, holds in (("least", value >= bound), ("above", value > bound), ("below", value < bound)):
        if holds:
            assert number("x", value, **{rule: bound}) == value  # type: ignore[arg-type]
        else:
            with pytest.raises(InvalidInput, match=f"{bound:g}".replace("+", r"\+")):
                number("x", value, **{rule: bound})  # type: ignore[arg-type]
    for edge in (bound, math.nextafter(bound, math.inf)):
        assert number("x", edge, least=bound) == edge


@pytest.mark.parametrize("value", [math.nan, math.inf, "word", [1.0, -1e-300], [1j], [[1.0], [2.0, 3.0]]], ids=str)
def test_arrays_are_finite_and_not_below_their_bound(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^w = "):
        numbers("w", value, least=0)
    assert numbers("w", np.float32(0.5), least=0).dtype == np.float64


@pytest.mark.parametrize("value", [True, 2.0, "3", None, 0])
def test_a_count_is_an_integer_that_is_large_enough(value: Any) -> None:
    with pytest.raises(InvalidInput, match="an integer >= 1"):
        whole("steps", value, least=1)
    assert whole("steps", np.int8(1), least=1) == 1


@pytest.mark.parametrize("value", ["", "Adam", None, ["adam"]], ids=str)
def test_a_name_is_one_of_those_that_are_known(value: Any) -> None:
    with pytest.raises(InvalidInput, match="choose one of: adam, gd"):
        chosen("optimiser", value, ("adam", "gd"))
