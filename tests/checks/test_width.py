"""The inner width of M = M_K^T M_Q in small examples."""

from __future__ import annotations

import pytest

from lipverify.checks.softmax import factors


@pytest.mark.parametrize("law", ["affine", "relu"])
def test_wide_factors_reach_the_minimum_and_narrow_ones_do_not(law: str) -> None:
    wide, narrow = (factors.factored(law, 2, width, 640, seed=3) for width in (4, 1))
    excess, error = wide["excess"]
    assert abs(excess) <= 2 * error < 1e-3
    assert wide["distance"][0] < 0.1
    assert wide["gradient"][0] < 1e-5 < narrow["gradient"][0]
    assert narrow["excess"][0] - narrow["excess"][1] > 0.02
