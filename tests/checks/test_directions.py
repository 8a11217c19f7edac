"""The direction in which w* moves: derivatives equal differences, an identity holds, and a threshold is located."""

from __future__ import annotations

import numpy as np
import pytest

from lipverify import Problem, loss_terms
from lipverify.checks.softmax import slopes, window_moves
from lipverify.claims.evidence.returned import returned  # internal: what a function returned, as a run reads it
from lipverify.laws import Cosine


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


def test_a_loss_is_flat_at_its_threshold() -> None:
    """At 0.9 times the threshold the loss falls from w = 0. At 1.1 times it rises, and at twice no w > 0 is better."""
    d, n, law = 3, 1000, Cosine(L=1.0)
    assert window_moves.about_threshold("cosine", 1.0, d, n, 2.0) == (0.0, 0.0)
    w, error = window_moves.about_threshold("cosine", 1.0, d, n, 0.9)
    assert w > 100 * error > 0
    from lipverify.loss.exact import spectrum_of

    spectrum = spectrum_of(law, d, 64)
    threshold = 2 * n * (1 - 2 / n) * spectrum.k[1] / (d + 2) - spectrum.total
    for share, sign in ((0.9, -1), (1.1, +1)):
        terms = loss_terms(Problem(d=d, n=n, law=law, sigma=float(share * threshold) ** 0.5), np.array([0.0, 0.01]))
        assert sign * np.diff(terms.total)[0] > np.sum(terms.total_error)


def test_the_best_window_of_two_tokens_holds_between_one_and_two() -> None:
    held, error = window_moves.tokens("affine", 3, 2)
    assert 1 < held - error < held + error < 2
