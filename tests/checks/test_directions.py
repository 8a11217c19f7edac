"""The direction in which w* moves: derivatives equal differences, and an identity holds."""

from __future__ import annotations

import numpy as np
import pytest

from lipverify.checks.softmax import slopes, window_moves
from lipverify.claims.evidence.returned import returned  # internal: what a function returned, as a run reads it


def test_exact_derivatives_are_limits_of_differences() -> None:
    exact, differences = (
        of("affine", 3, 1000, 1.0) for of in (window_moves.local_elasticities, window_moves.elasticities)
    )
    for name, (slope, error) in exact.items():
        # the difference is over a factor of two, within which the slope changes by a few percent
        assert differences[name][0] == pytest.approx(slope, rel=0.1)
        assert error < 1e-4


@pytest.mark.parametrize("n", [2, 5])
def test_the_slope_of_the_noise_is_that_of_drawn_tokens(n: int) -> None:
    t, w, step = np.random.default_rng(n).uniform(-1, 1, n), 3.0, 1e-6

    def attention(at: float) -> np.ndarray:
        g = np.exp(at * t)
        return g / g.sum()

    a = attention(w)
    stated = float(np.sum(np.outer(a, a) * np.subtract.outer(a, a) * np.subtract.outer(t, t)))
    slope = (np.sum(attention(w + step) ** 2) - np.sum(attention(w - step) ** 2)) / (2 * step)
    assert slope == pytest.approx(stated, rel=1e-7)
    assert stated > 0
    assert returned(slopes.squares())[0] == [0.0, 0.0]
    assert returned(slopes.squares(kept="101/100"))[0][0] != 0


def test_the_best_window_of_two_tokens_holds_between_one_and_two() -> None:
    held, error = window_moves.tokens("affine", 3, 2)
    assert 1 < held - error < held + error < 2
