"""The best block matrix, the radius up to which it is aligned with B, and what the claims on Theorem 4 measure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks._lowrank import near, read_ratio, read_scale
from lipverify import Problem, optimal_window
from lipverify.claims.softmax.lowrank import Best, Found, Setting, best_block, best_matrix
from lipverify.claims.softmax.lowrank_boundary import (
    counterexamples,
    first_failure,
    gain_on_common_draws,
    limit_radius,
    radii,
    radius,
)
from lipverify.claims.verdict import decide
from lipverify.covariates import axes
from lipverify.errors import InvalidInput
from lipverify.laws import Linear, LowRank
from lipverify.loss.block import block_terms
from lipverify.optimum.block import optimal_block
from lipverify.optimum.block.radius import critical_radius
from tests.strategies import log_floats

FAR = 2.0
"""Sampled numbers may be so many half-widths from the exact ones; seeds are fixed, and a dozen are compared."""


def test_two_tokens_of_signs_have_a_closed_form() -> None:
    """Product, k = 1, n = 2: the loss is h^2 (4 + 2 sigma^2) - 4 h + const with h = tanh(c) / 2, and 0 <= c <= C."""
    for sigma in (0.3, 1.0, 3.0):
        best = best_block(Setting("product", 2, 1, 2, sigma, 10.0))
        exact = math.atanh(4 / (4 + 2 * sigma**2))
        assert abs(best.c - exact) <= best.c_error
        assert best.c_error < 1e-3 * exact
        assert best.c_perp == 0


@pytest.mark.parametrize("n", [3, 50, 1000])
def test_with_all_directions_relevant_it_is_the_optimal_window(n: int) -> None:
    found = optimal_block(Problem(d=3, n=n, law=LowRank(axes(3, 3)), sigma=1.0), C=30.0)
    window = optimal_window(Problem(d=3, n=n, law=Linear(), sigma=1.0))
    assert abs(found.c - window.w) <= found.c_error + window.w_error
    assert abs(found.loss - window.loss) <= found.loss_error + window.loss_error
    assert found.c_perp == 0  # it plays no part, so none is reported


@settings(max_examples=15)
@given(
    covariates=st.sampled_from(["sphere", "product"]),
    d=st.integers(2, 5),
    data=st.data(),
    n=st.integers(2, 300),
    sigma=log_floats(0.1, 2.0),
)
def test_no_pair_of_the_ball_does_better(covariates: str, d: int, data: st.DataObject, n: int, sigma: float) -> None:
    k = data.draw(st.integers(1, d - 1))
    setting = Setting(covariates, d, k, n, sigma, 3.0 * d)
    best = best_block(setting)
    c, c_perp = np.meshgrid(np.linspace(-setting.C, setting.C, 13), np.linspace(0, 2 * setting.C, 9))
    terms = block_terms(setting.problem, c, c_perp)
    assert np.all(terms.total + terms.total_error >= best.loss - best.loss_error)
    assert 0 < best.c <= setting.C
    assert best.gain >= 0
    # its slope along c'^2 says whether c' = 0 can be best
    assert best.slope >= -best.slope_error or best.c_perp > 0


def test_the_smallest_counterexample_and_the_largest_context_before_it() -> None:
    at_8, at_9 = (best_block(Setting("sphere", 2, 1, n, 0.0, 16.0)) for n in (8, 9))
    assert at_8.c_perp == 0
    assert at_8.slope > at_8.slope_error
    assert at_9.gain > 1e9 * at_9.loss_error
    assert first_failure(2, 1, 0.0, 8.0, 100) == 9
    assert first_failure(2, 1, 1.0, 8.0, 20) is None


def test_the_counterexample_is_seen_on_common_draws() -> None:
    setting = Setting("sphere", 2, 1, 12, 0.0, 16.0)
    best = best_block(setting)
    gain, half_width = gain_on_common_draws(setting, batches=24, seed=0)
    assert abs(gain - best.gain) <= FAR * half_width
    assert gain > 8 * half_width


def test_the_radius_falls_with_n_to_its_limit() -> None:
    found = [radius(Setting("sphere", 3, 2, n, 0.0, 12.0)) for n in (20, 100, 10**4)]
    limit, error = limit_radius(3, 2)
    assert limit > 3 + error
    for (low, high), (lower, higher) in zip(found, [*found[1:], (limit, limit)], strict=True):
        assert high is not None
        assert higher is not None
        assert high > lower
        assert low > higher
    far = radius(Setting("sphere", 3, 2, 1e12, 0.5, 12.0))
    assert far[1] is not None
    assert far[0] - 1e-3 <= limit <= far[1] + 1e-3


def test_in_short_contexts_no_ball_fails() -> None:
    assert radius(Setting("sphere", 2, 1, 8, 0.0, 8.0)) == (8.0, None)
    found = radii("sphere", 2, 1, 0.0, 8.0, (8, 9, 10))
    assert found.n == (9.0, 10.0)
    # a minimiser in a slightly larger ball has a spurious part, in a slightly smaller one it has none
    low, high = found.low[0], found.high[0]
    assert best_block(Setting("sphere", 2, 1, 9, 0.0, high + 0.01)).c_perp > 0
    assert best_block(Setting("sphere", 2, 1, 9, 0.0, low - 0.01)).c_perp == 0


def test_random_problems_fail_on_the_sphere_and_not_on_the_product() -> None:
    failed, searched = counterexamples("sphere", 6, seed=0)
    assert 0 < failed < searched
    assert counterexamples("product", 3, seed=0) == (0, 3)


def test_sampling_over_all_symmetric_matrices_finds_the_block_optimum() -> None:
    for setting in (Setting("product", 3, 2, 2, 0.5, 3.0), Setting("sphere", 2, 1, 20, 0.0, 5.0)):
        best, found = best_block(setting), best_matrix(setting, 4096, seed=0)
        assert abs(found.c - best.c) <= FAR * (found.c_error + best.c_error)
        assert abs(abs(found.c_perp) - best.c_perp) <= FAR * (found.c_perp_error + best.c_perp_error)
        assert abs(found.loss - best.loss) <= FAR * found.loss_error


def found(c_perp: float, chance: float = 1.0) -> Found:
    ratio = dict.fromkeys(("relevant", "spurious", "loss"), 1.0)
    errors = dict.fromkeys(("c_error", "relevant_error", "spurious_error", "loss_error"), 0.0)
    return Found(
        c=2.0, c_perp=c_perp, c_perp_error=0.02, deviation=1.0, chance=chance, contexts=1000, **ratio, **errors
    )


def test_cells_tell_an_aligned_matrix_from_the_identity() -> None:
    aligned, identity = near(0.0, "montecarlo"), near(1.0, "montecarlo")
    assert decide(read_ratio(found(0.0), aligned).interval, aligned) == "supported"
    assert decide(read_ratio(found(0.0), identity).interval, identity) == "refuted"
    # the sign of c' has no meaning
    assert decide(read_ratio(found(-2.0), aligned).interval, aligned) == "refuted"
    assert decide(read_ratio(found(-2.0), identity).interval, identity) == "supported"
    # nothing is concluded from a minimiser that is not of the form
    assert decide(read_ratio(found(0.0, chance=1e-9), aligned).interval, aligned) == "inconclusive"


def test_a_scale_at_the_edge_of_the_ball_is_within_it() -> None:
    setting = Setting("sphere", 2, 1, 5, 0.0, 2.0)
    assert read_scale(found(0.0), setting).interval.high == setting.C


def test_the_ratio_carries_both_errors() -> None:
    numbers = dict.fromkeys(Best.__struct_fields__, 0.0)
    best = Best(**{**numbers, "c": 2.0, "c_error": 0.2, "c_perp": 1.0, "c_perp_error": 0.1})
    assert best.ratio == pytest.approx((0.5, 0.1))


@pytest.mark.parametrize("C", [0.0, -1.0, math.inf, math.nan, True, "wide"])
def test_a_ball_needs_a_radius(C: float) -> None:
    problem = Setting("sphere", 2, 1, 5, 0.0, 1.0).problem
    with pytest.raises(InvalidInput, match="radius"):
        optimal_block(problem, C)
    with pytest.raises(InvalidInput, match="radius"):
        critical_radius(problem, C)


def test_one_token_has_no_optimum() -> None:
    with pytest.raises(InvalidInput, match="n = 1"):
        optimal_block(Setting("sphere", 2, 1, 1, 0.0, 1.0).problem, 1.0)
