"""Class probabilities and their optimal w: identities, closed forms, edge cases and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import xlogy

from lipverify import loss_terms, optimal_window
from lipverify.checks.softmax.class_probabilities import LINKS, ClassLaw
from lipverify.checks.softmax.ladder import (
    WINDOWS,
    brier,
    cross_entropy,
    exact_ladder,
    log_minimiser,
    losses_of_batches,
    sampled_ladder,
)
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation import mean_interval
from tests.strategies import log_floats

EPS = float(np.finfo(float).eps)


@st.composite
def laws(draw: st.DrawFn) -> ClassLaw:
    """Laws with every link and with flips. Linear laws also have any base."""
    link, flip = draw(st.sampled_from(sorted(LINKS))), draw(st.floats(0, 0.49))
    if link != "linear":
        return ClassLaw(link=link, L=draw(log_floats(1.0, 5.0)), flip=flip)
    base = draw(st.floats(0.05, 0.95))
    return ClassLaw(link=link, L=draw(st.floats(0.01, 1.0)) * min(base, 1 - base), base=base, flip=flip)


@given(law=laws())
def test_probabilities_stay_in_range_with_the_stated_lipschitz_constant(law: ClassLaw) -> None:
    """The largest slope on a grid differs from L by the curvature between points, at most (4L)^2 times a step."""
    z = np.linspace(-1, 1, 20_001)
    p = law(z)
    assert np.min(p) >= 0
    assert np.max(p) <= 1
    slope = float(np.max(np.abs(np.diff(p))) / (z[1] - z[0]))
    assert abs(slope - law.lipschitz) <= 1e-4 * (4 * law.L) ** 2 + 1e5 * EPS


@given(law=laws(), d=st.integers(2, 8))
def test_the_variance_of_a_label_is_its_mean_over_the_sphere(law: ClassLaw, d: int) -> None:
    """The integral is over the angle, where the integrands are smooth and even, so the midpoint rule is accurate."""
    theta = (np.arange(4000) + 0.5) * math.pi / 4000
    p = law(np.cos(theta))
    weights = np.sin(theta) ** (d - 2)
    assert law.variance(d) == pytest.approx(float(np.sum(weights * p * (1 - p)) / np.sum(weights)), rel=1e-6)


def test_the_base_moves_the_noise_and_not_the_lipschitz_constant() -> None:
    """v = b (1 - b) - L^2 / d."""
    for base in (0.2, 0.3, 0.5):
        law = ClassLaw(link="linear", L=0.2, base=base)
        assert law.lipschitz == 0.2
        assert law.variance(3) == pytest.approx(base * (1 - base) - 0.04 / 3, rel=1e-12)


@pytest.mark.parametrize(
    "law",
    [
        ClassLaw(link="linear", L=0.3, base=0.4),
        ClassLaw(link="logistic", L=1.0, flip=0.1),
        ClassLaw(link="cosine", L=1.0),
    ],
)
def test_the_brier_loss_of_drawn_labels_is_bias_and_noise_of_regression(law: ClassLaw) -> None:
    """The tolerance is twice the 95 % half-width. For nine comparisons, a false alarm has a chance below 9 * 4e-4.

    The control is the bias without noise: it differs from the sampled loss by more than four half-widths.
    """
    ((batches,),) = losses_of_batches([law], 3, 16, [brier], 16_384, seed=0)
    for at in (6, 20, 30):
        mean, half_width = mean_interval(batches[:, at])
        terms = loss_terms(law.regression(3, 16), float(WINDOWS[at]))
        assert half_width < 0.05 * mean
        assert abs(mean - float(terms.total)) <= 2 * half_width
        assert abs(mean - float(terms.bias)) > 4 * half_width


def test_the_minimiser_of_a_curve_is_found_between_the_points_of_the_grid() -> None:
    """A cubic spline represents a parabola in log w exactly, so its minimiser is exact to rounding."""
    for centre in (-1.0, 0.123, 3.0):
        found = log_minimiser((np.log(WINDOWS) - centre) ** 2 + 1)
        assert abs(found - centre) <= 1e6 * EPS


@pytest.mark.parametrize("sign", [1, -1])
def test_a_minimum_at_the_end_of_the_grid_is_refused(sign: int) -> None:
    with pytest.raises(OutOfReach, match="an end of the grid"):
        log_minimiser(sign * np.log(WINDOWS))


@given(p=st.floats(0, 1), predicted=st.floats(0, 1), eps=st.sampled_from([0.02, 0.1, 0.3]))
def test_cross_entropy_is_finite_and_least_at_the_truth(p: float, predicted: float, eps: float) -> None:
    """Cross-entropy is the entropy plus the divergence of the smoothed prediction, which is not negative."""
    loss = float(cross_entropy(eps)(np.array(predicted), np.array(p)))
    entropy = -float(xlogy(p, p) + xlogy(1 - p, 1 - p))
    assert math.isfinite(loss)
    assert loss >= entropy - 4 * EPS
    q = (1 - eps) * predicted + eps / 2
    assert loss - entropy >= 2 * (p - q) ** 2 - 8 * EPS  # Pinsker's inequality


def test_near_the_truth_cross_entropy_is_a_weighted_brier_loss() -> None:
    """The divergence divided by (q - p)^2 / (2 p (1 - p)) tends to 1, with an error of order q - p."""
    p, step = np.array([0.2, 0.5, 0.7]), 1e-4
    loss = cross_entropy(0.0)
    excess = loss(p + step, p) - loss(p, p)
    np.testing.assert_allclose(excess * 2 * p * (1 - p) / step**2, 1, rtol=0, atol=10 * step)


def test_sampled_and_exact_windows_agree_and_flips_widen() -> None:
    ladder = tuple(ClassLaw(link="logistic", L=1.0, flip=flip) for flip in (0.0, 0.2))
    exact, sampled = exact_ladder(ladder, 3, 32), sampled_ladder(ladder, 3, 32, brier, contexts=8192, seed=1)
    for (w, _), (found, error) in zip(exact.windows, sampled.windows, strict=True):
        assert abs(w - found) <= 2 * error
        assert error < 0.2 * w
    assert abs(exact.changes[0][0] - sampled.changes[0][0]) <= 2 * sampled.changes[0][1]
    assert exact.changes[0][0] < 0


def test_common_draws_give_a_change_a_smaller_error_than_its_ends() -> None:
    ladder = tuple(ClassLaw(link="linear", L=0.5, flip=flip) for flip in (0.0, 0.1))
    found = sampled_ladder(ladder, 3, 32, cross_entropy(0.1), contexts=4096, seed=1)
    apart = math.hypot(*(error / w for w, error in found.windows))
    assert found.changes[0][1] < 0.7 * apart
    assert found == sampled_ladder(ladder, 3, 32, cross_entropy(0.1), contexts=4096, seed=1)
    assert found != sampled_ladder(ladder, 3, 32, cross_entropy(0.1), contexts=4096, seed=2)


def test_oscillating_probabilities_are_not_resolved_by_few_tokens() -> None:
    """The refuted claim: by the loss, the average of all tokens (w = 0) is better than every larger w."""
    p = ClassLaw(link="cosine", L=2.5).regression(2, 8)
    losses = loss_terms(p, [0.0, 1.0, 3.0, 10.0, 100.0]).total
    assert np.argmin(losses) == 0
    assert optimal_window(ClassLaw(link="cosine", L=1.5).regression(2, 8)).w > 3


def test_a_w_of_zero_is_on_the_ladder() -> None:
    found = exact_ladder([ClassLaw(link="cosine", L=L) for L in (1.5, 2.5)], 2, 8)
    assert found.windows[1][0] == 0 < found.windows[0][0]
    assert found.changes == ((-math.inf, math.inf),)


@pytest.mark.parametrize(("L", "base"), [(0.6, 0.5), (0.5, 0.1)])
def test_a_law_that_is_none_is_refused(L: float, base: float) -> None:
    with pytest.raises(InvalidInput, match="base"):
        ClassLaw(link="linear", L=L, base=base)
