"""The definitions in exact fractions, and the mean square on which w* depends."""

from __future__ import annotations

from fractions import Fraction

import pytest

from lipverify.checks.softmax.lipschitz_constants import along_direction, constant_of, ratio_of_windows


@pytest.mark.parametrize(("l_1", "l_2"), [(2, -3), (-4, 1), (3, 3)])
def test_the_constant_is_the_larger_slope_and_no_other(l_1: int, l_2: int) -> None:
    assert constant_of(l_1, l_2) == Fraction(0)
    assert (constant_of(l_1, l_2, smaller="yes") == 0) == (abs(l_1) == abs(l_2))


@pytest.mark.parametrize("s", range(5))
def test_directions_off_the_columns_have_no_slope(s: int) -> None:
    assert along_direction(0, s) == Fraction(0)
    assert along_direction(1, s) == Fraction(1)


def test_the_w_of_two_laws_agree_exactly_if_their_mean_squares_do() -> None:
    same, error = ratio_of_windows(3, 1000, 3**0.5)
    assert same == pytest.approx(1, abs=2 * error + 1e-12)
    smaller, error = ratio_of_windows(3, 1000, 1.0)
    assert smaller < 1 - 10 * error
