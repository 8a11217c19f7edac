"""The definitions in exact fractions, and the mean square on which w* depends."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from lipverify.checks.softmax.lipschitz_constants import along_direction, between_slopes, ratio_of_windows

FRACTIONS = st.fractions(-5, 5)


def test_the_slope_between_two_points_is_an_identity_and_a_changed_one_is_not() -> None:
    assert sympy.simplify(between_slopes()) == sympy.zeros(4, 1)
    assert all(sympy.simplify(each) != 0 for each in between_slopes("101/100"))


@given(slopes=st.tuples(FRACTIONS, FRACTIONS), z=FRACTIONS, other=FRACTIONS)
def test_no_pair_of_points_has_a_larger_slope_than_the_constant(
    slopes: tuple[Fraction, Fraction], z: Fraction, other: Fraction
) -> None:
    def f(at: Fraction) -> Fraction:
        return slopes[0] * max(at, Fraction(0)) + slopes[1] * max(-at, Fraction(0))

    assert abs(f(z) - f(other)) <= max(map(abs, slopes)) * abs(z - other)
    assert max(abs(f(Fraction(1))), abs(f(Fraction(-1)))) == max(map(abs, slopes))


@pytest.mark.parametrize("s", range(5))
def test_directions_off_the_columns_have_no_slope(s: int) -> None:
    assert along_direction(0, s) == Fraction(0)
    assert along_direction(1, s) == Fraction(1)


def test_the_w_of_two_laws_agree_exactly_if_their_mean_squares_do() -> None:
    same, error = ratio_of_windows(3, 1000, 3**0.5)
    assert same == pytest.approx(1, abs=2 * error + 1e-12)
    smaller, error = ratio_of_windows(3, 1000, 1.0)
    assert smaller < 1 - 10 * error
