"""Sums and maxima along rows."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest

from lipverify.foundation.arrays import SHORT_ROW, row_maxima  # internal: no loss shows a single array


@pytest.mark.parametrize("length", [1, 2, 7, SHORT_ROW, SHORT_ROW + 1])
@pytest.mark.parametrize("before", [(), (5,), (3, 4)])
def test_the_largest_of_each_row(length: int, before: tuple[int, ...]) -> None:
    rows = np.random.default_rng(length).standard_normal((*before, length))
    largest = np.max(rows, axis=-1)
    assert np.array_equal(row_maxima(rows, np), largest)
    assert np.array_equal(np.asarray(row_maxima(array_api_strict.asarray(rows), array_api_strict)), largest)
    rows[..., length // 2] = np.nan
    assert np.all(np.isnan(row_maxima(rows, np)))
