"""The best block matrix, the radius up to which it is aligned with B, and the claims on Theorem 4."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, optimal_window
from lipverify.checks.softmax import lowrank_floor, lowrank_radius
from lipverify.checks.softmax.lowrank_blocks import problem as low_rank_problem
from lipverify.checks.softmax.lowrank_radius import gain_on_common_draws, limit_radius
from lipverify.covariates import axes
from lipverify.laws import Linear, LowRank
from lipverify.loss.block import block_terms
from lipverify.optimum.block import (
    BlockOptimum,
    SampledBlock,
    critical_radius,
    optimal_block,
    sampled_block,
)
from tests.strategies import log_floats

FAR = 2.0
"""The allowed distance of sampled numbers from the exact ones in half-widths; seeds are fixed, and a dozen are
compared."""


def test_two_tokens_of_signs_have_a_closed_form() -> None:
    """Product, k = 1, n = 2: the loss is h^2 (4 + 2 sigma^2) - 4 h + const with h = tanh(c) / 2, and 0 <= c <= C."""
    for sigma in (0.3, 1.0, 3.0):
        best = optimal_block(low_rank_problem("product", 2, 1, 2, sigma), 10.0)
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
    assert found.c_perp == 0  # c' has no effect there, so none is reported


@pytest.mark.parametrize("grid", [(2, 2), pytest.param((13, 9), marks=pytest.mark.slow)])
@settings(max_examples=6)
@given(
    covariates=st.sampled_from(["sphere", "product"]),
    d=st.integers(2, 5),
    data=st.data(),
    n=st.integers(2, 300),
    sigma=log_floats(0.1, 2.0),
)
def test_no_pair_of_the_ball_does_better(
    grid: tuple[int, int], covariates: str, d: int, data: st.DataObject, n: int, sigma: float
) -> None:
    """The ends of the ball and the neighbours of the best pair; a fine grid costs half a minute: it is slow."""
    k = data.draw(st.integers(1, d - 1))
    problem, C = low_rank_problem(covariates, d, k, n, sigma), 3.0 * d
    best = optimal_block(problem, C)
    near = np.array([0.8, 1.1])
    along = np.union1d(np.linspace(-C, C, grid[0]), np.minimum(near * best.c, C))
    c, c_perp = np.meshgrid(along, np.union1d(np.linspace(0, 2 * C, grid[1]), near * best.c_perp))
    terms = block_terms(problem, c, c_perp)
    assert np.all(terms.total + terms.total_error >= best.loss - best.loss_error)
    assert 0 < best.c <= C
    assert best.gain >= 0
    # the sign of its derivative in c'^2 decides whether c' = 0 can be best
    assert best.slope >= -best.slope_error or best.c_perp > 0


def test_the_smallest_counterexample_and_the_largest_context_before_it() -> None:
    at_8, at_9 = (optimal_block(low_rank_problem("sphere", 2, 1, n, 0.0), 16.0) for n in (8, 9))
    assert at_8.c_perp == 0
    assert at_8.slope > at_8.slope_error
    assert at_9.gain > 1e9 * at_9.loss_error


@pytest.mark.slow
def test_in_a_tiny_ball_on_the_circle_the_best_c_perp_is_beyond_a_barrier() -> None:
    problem = low_rank_problem("sphere", 2, 1, 20, 0.0)
    best, far = optimal_block(problem, 1e-3), block_terms(problem, 1e-3, np.array([2.0, 8.0]))
    assert far.total[0] > best.aligned_loss > far.total[1]  # up, and then down
    assert best.loss <= far.total[1] + far.total_error[1]
    assert optimal_block(low_rank_problem("sphere", 3, 1, 20, 0.0), 1e-3).c_perp == 0


def test_the_counterexample_is_seen_on_common_draws() -> None:
    problem = low_rank_problem("sphere", 2, 1, 12, 0.0)
    best, P = optimal_block(problem, 16.0), np.diag([1.0, 0.0])
    both = best.aligned_c * P, best.c * P + best.c_perp * (np.eye(2) - P)
    gain, half_width = gain_on_common_draws(problem, *both, contexts=24 * 8192, seed=0, stream="gain")
    assert abs(gain - best.gain) <= FAR * half_width
    assert gain > 8 * half_width


def test_the_radius_falls_with_n_to_its_limit() -> None:
    found = [critical_radius(low_rank_problem("sphere", 3, 2, n, 0.0), 12.0) for n in (20, 100, 10**4)]
    limit, error = limit_radius(3, 2)
    assert limit > 3 + error
    brackets = [(each.low, each.high) for each in found]
    for (low, high), (lower, higher) in zip(brackets, [*brackets[1:], (limit, limit)], strict=True):
        assert high > lower
        assert low > higher
    far = critical_radius(low_rank_problem("sphere", 3, 2, 1e12, 0.5), 12.0)
    assert far.low - 1e-3 <= limit <= far.high + 1e-3


def test_in_short_contexts_no_ball_fails() -> None:
    assert lowrank_radius.radius("sphere", 2, 1, 8, 0.0) == (4.0, 0.0)
    (C, error), (_, also) = (lowrank_radius.radius("sphere", 2, 1, n, 0.0) for n in (9, 10))
    assert error > 0
    assert also > 0
    # a minimiser in a slightly larger ball has a spurious part, in a slightly smaller one it has none
    problem = low_rank_problem("sphere", 2, 1, 9, 0.0)
    assert optimal_block(problem, 2 * C + 0.01).c_perp > 0
    assert optimal_block(problem, 2 * C - 0.01).c_perp == 0


def test_sampling_over_all_symmetric_matrices_finds_the_block_optimum() -> None:
    for setting, C in ((("product", 3, 2, 2, 0.5), 3.0), (("sphere", 2, 1, 20, 0.0), 5.0)):
        problem = low_rank_problem(*setting)
        best, found = (
            optimal_block(problem, C),
            sampled_block(problem, setting[2], C, contexts=4096, seed=0, stream="t"),
        )
        assert abs(found.c - best.c) <= FAR * (found.c_error + best.c_error)
        assert abs(abs(found.c_perp) - best.c_perp) <= FAR * (found.c_perp_error + best.c_perp_error)
        assert abs(found.loss - best.loss) <= FAR * found.loss_error


def test_the_ratio_carries_both_errors_and_no_sign() -> None:
    numbers = {"c": 2.0, "c_error": 0.2, "c_perp": -1.0, "c_perp_error": 0.1}
    rest: dict[str, Any] = dict.fromkeys({*SampledBlock.__struct_fields__} - {*numbers}, 1.0)
    assert SampledBlock(**(rest | numbers)).ratio == pytest.approx((0.5, 0.1))
    # a minimiser of another form gives no conclusion
    assert SampledBlock(**(rest | numbers | {"chance": 1e-9})).ratio[1] == math.inf
    exact: dict[str, Any] = dict.fromkeys({*BlockOptimum.__struct_fields__} - {*numbers}, 0.0)
    assert BlockOptimum(**(exact | numbers | {"c_perp": 1.0})).ratio == pytest.approx((0.5, 0.1))


def of_weights(b: np.ndarray, p: float, sigma: float) -> float:
    """E (m - 1)^2 + sigma^2 E sum a_i^2 for a_i ~ b_i e^{p z_i}, over all z_i = 1 or -1: k = 1, z = 1."""
    z = np.array(list(itertools.product((-1.0, 1.0), repeat=len(b))))
    a = b * np.exp(p * z)
    a /= a.sum(axis=1, keepdims=True)
    return float(np.mean((np.sum(a * z, axis=1) - 1) ** 2 + sigma**2 * np.sum(a**2, axis=1)))


@given(st.integers(2, 5), st.floats(-0.125, 0.125), st.floats(0, 2), st.integers(0, 2**32))
@settings(max_examples=60)
def test_the_loss_is_convex_in_the_weights_along_the_spurious_directions(
    n: int, p: float, sigma: float, seed: int
) -> None:
    """From this Theorem 4 follows at every n on a product of spheres."""
    one, other = np.random.default_rng(seed).dirichlet(np.full(n, 0.5), size=2)
    ends = of_weights(one, p, sigma) + of_weights(other, p, sigma)
    assert of_weights((one + other) / 2, p, sigma) <= ends / 2 + 1e-14
    assert of_weights(np.full(n, 1 / n), p, sigma) <= of_weights(one, p, sigma) + 1e-14


def test_with_long_scores_it_is_not_convex() -> None:
    """Opposite to the query's direction, a single token is better than the average of many."""
    single, even = np.eye(5)[0], np.full(5, 0.2)
    assert of_weights(single, -3.0, 0.0) < of_weights(even, -3.0, 0.0)


def test_the_floor_on_the_sphere_is_bounded_from_below() -> None:
    for d, k in ((3, 1), (5, 2), (20, 2)):
        value, error = lowrank_floor.floor(d, k)
        bound = lowrank_floor.floor_below(d, k)
        assert 0.8 * value < float(bound.lower()) < value - error


def test_without_the_columns_bias_and_noise_are_bounded_from_below_on_the_product() -> None:
    """By the exact method: at the given w the bounds hold, and they are close where a window holds many tokens."""
    from flint import arb

    for d, k, n, w, share in ((5, 3, 10.0, 2.0, 0.3), (6, 2, 1e3, 4.0, 0.8), (6, 2, 1e6, 30.0, 0.95)):
        terms = block_terms(low_rank_problem("product", d, k, n, 1.0), w, w)
        for bound, value in zip(lowrank_floor.unlearned(d, k, n, arb(w)), (terms.bias, terms.noise), strict=True):
            assert share * float(value) < float(bound.lower()) < float(value)
