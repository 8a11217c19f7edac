"""Numbers and names at the boundary: a value that breaks a rule is refused, and others pass unchanged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipverify.errors import InvalidInput
from lipverify.foundation.validation import chosen, number, numbers, whole  # internal: each rule alone

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
