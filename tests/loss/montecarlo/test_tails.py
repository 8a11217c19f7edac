"""Bounds of sums over many tokens: compared with sampled contexts at observable probabilities, and their use."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms
from lipverify.covariates import Ellipsoid
from lipverify.foundation import Floats, normals
from lipverify.foundation.arrays import EPS  # internal: bounds that differ by rounding alone
from lipverify.foundation.means.betting import NEGLIGIBLE  # internal: the probability that bets allow
from lipverify.foundation.sphere import on_sphere  # internal: points on the sphere, as samplers draw them
from lipverify.laws import RBF, Affine, Cosine, Law, Linear, Quadratic, ReLU, Ridge, Sum

# internal: each bound at observable probabilities, and the rounding that a bounded sample may have
from lipverify.loss.montecarlo.samples import (
    ROUNDED,
    largest_distance,
    largest_noise,
    largest_spread,
    smallest_noise,
)
from lipverify.loss.montecarlo.terms import sampler  # internal: samples one by one, which the mean does not show
from tests.strategies import log_floats, target

CONTEXTS = 4000
BOUNDS = largest_noise, largest_spread, largest_distance


def drawn(d: int, n: int, w: float) -> tuple[Floats, Floats, Floats]:
    """sum a_i^2, sum a_i (1 - t_i) and sum a_i r_i of contexts."""
    x = on_sphere(normals(0, f"tails/{d}/{n}/{w}", 0, (CONTEXTS, n, d)), np)
    t, s = x[..., 0], x[..., 1]
    g = np.exp(w * (t - 1))
    a = g / g.sum(axis=1, keepdims=True)
    return np.sum(a * a, axis=1), np.sum(a * (1 - t), axis=1), np.sum(a * np.hypot(1 - t, s), axis=1)


@settings(max_examples=8, deadline=None)
@given(
    d=st.integers(2, 12), n=st.integers(2, 200), w=log_floats(0.1, 100.0), log_chance=st.sampled_from([1.0, 3.0, 5.0])
)
def test_the_share_beyond_a_level_is_at_most_the_stated_one(d: int, n: int, w: float, log_chance: float) -> None:
    """Four standard errors of a share; the bound is Chernoff's, so that there are fewer."""
    chance = math.exp(-log_chance)
    most = chance + 4 * math.sqrt(chance / CONTEXTS)
    bounds = [bound(d, n, w, log_chance) for bound in BOUNDS]
    shares = [float(np.mean(samples > bound)) for samples, bound in zip(drawn(d, n, w), bounds, strict=True)]
    shares.append(float(np.mean(drawn(d, n, w)[0] < (1 - ROUNDED) * smallest_noise(d, n, w, log_chance))))
    target(max(shares) / chance)
    assert max(shares) <= most


@pytest.mark.parametrize(("d", "n", "w"), [(2, 100, 2.0), (3, 200, 20.0), (10, 200, 5.0)])
def test_the_bounds_are_those_of_the_tail_and_not_far_beyond(d: int, n: int, w: float) -> None:
    """The quantile at one in a hundred: the bound is less than twice as far from the mean."""
    for samples, largest in zip(drawn(d, n, w), BOUNDS, strict=True):
        mean, quantile = float(np.mean(samples)), float(np.quantile(samples, 0.99))
        bound = largest(d, n, w, math.log(100))
        assert quantile < bound < mean + 2.2 * (quantile - mean)
    noise = drawn(d, n, w)[0]
    mean, quantile = float(np.mean(noise)), float(np.quantile(noise, 0.01))
    assert mean - 2.2 * (mean - quantile) < smallest_noise(d, n, w, math.log(100)) < quantile


@pytest.mark.parametrize("law", [Affine(), ReLU(), Cosine(L=2.0)])
def test_bounds_at_many_w_hold_and_are_those_of_near_ones(law: Law) -> None:
    """They are taken at fewer w, where they hold all the more; for a ridge law by |x_i - x| and not by <q, x_i - x>."""
    w = np.array([0.0, *np.geomspace(0.02, 40.0, 150)])
    many = sampler(Problem(d=4, n=200, law=law), w)
    (low, high), few = many.bounds(9.0), range(0, w.size, 10)
    for k in few:
        at_one = sampler(many.problem, w[k : k + 1]).bounds(9.0)
        columns = np.array([k, k + w.size])
        assert np.all(low[columns] <= at_one[0] * (1 + EPS))
        assert np.all(high[columns] >= at_one[1] * (1 - EPS))
        assert np.all(high[columns] <= at_one[1] * [1.2, 3.0])
    samples = many.chunk(0)
    assert np.all((samples >= low) & (samples <= high))


@pytest.mark.parametrize("w", [1e-9, 1.0, 30.0, 1e3])
@pytest.mark.parametrize("d", [100, 1000, 10**4])
def test_high_dimensions_have_bounds(d: int, w: float) -> None:
    """Near the poles the share of the sphere underflows; it was once the logarithm of 0."""
    largest, smallest = largest_noise(d, 1000, w), smallest_noise(d, 1000, w)
    assert 1 / 1000 <= smallest <= largest <= 1
    assert 0 < largest_spread(d, 1000, w) <= 2


def test_with_many_tokens_nothing_is_left_to_chance() -> None:
    for d, w in ((2, 5.0), (5, 20.0)):
        noise = [largest_noise(d, n, w) * n for n in (10**3, 10**5, 10**7)]
        assert noise[0] > noise[1] > noise[2]
        exact = loss_terms(Problem(d=d, n=10**7, law=ReLU()), w)
        assert 1 < noise[2] / 10**7 / float(exact.noise) < 1.2
    assert largest_noise(3, 2, 50.0) == pytest.approx(1.0)
    assert largest_spread(3, 1, 1.0) == pytest.approx(2.0, rel=1e-3)


@pytest.mark.parametrize(
    ("law", "least"), [(Affine(), 3.0), (ReLU(), 3.0), (Cosine(L=2.0), 3.0), (ReLU() + Cosine(), 3.0)]
)
def test_intervals_of_many_tokens_are_narrower_by_it(law: Law, least: float) -> None:
    """n = 5000, w = 30: gains of at least 50 for the noise, as given for the bias; all samples are within."""
    problem, w = Problem(d=3, n=5000, law=law), np.array([30.0])
    drawn = sampler(problem, w, sampling="full" if isinstance(law, Sum) else "reduced")
    low, high = drawn.bounds(NEGLIGIBLE)
    samples = drawn.chunk(0)
    assert np.all(samples >= low)
    assert np.all(samples <= high)
    assert high[0] < 0.02
    assert low[0] > 10 / problem.n
    most = 2.0 if law == Affine() else sum(bound.extent**2 for bound in law.bounds())  # type: ignore[attr-defined]
    assert high[1] < most / least
    found, exact = loss_terms(problem, 30.0, "montecarlo", contexts=2000), loss_terms(problem, 30.0)
    assert abs(found.noise - exact.noise) <= found.noise_error < 0.05 * exact.noise


@pytest.mark.parametrize("w", [0.5, 2.0, 8.0])
@pytest.mark.parametrize("law", [Cosine(L=3.0), RBF()])
def test_the_noise_of_whole_contexts_on_an_ellipsoid_is_that_of_the_sphere_stretched(law: Law, w: float) -> None:
    """The interval was once 27 times the normal one at w = 2; all samples are within."""
    problem = Problem(d=3, n=3000, law=law, covariates=Ellipsoid([4.0, 1.0, 4.0]))
    drawn = sampler(problem, np.array([w]))
    low, high = drawn.bounds(NEGLIGIBLE)
    samples = np.concatenate([drawn.chunk(index) for index in range(4)])
    assert np.all(samples >= low)
    assert np.all(samples <= high)
    assert high[0] < 5 * samples[:, 0].max()


@pytest.mark.parametrize("law", [Affine(), Linear(), ReLU(), Cosine(L=3.0), Quadratic(), ReLU() + 2 * Cosine(L=3.0)])
def test_slopes_are_those_of_the_components(law: Any) -> None:
    links: Any = [(1.0, law)] if not isinstance(law, Sum) else law.parts
    z = np.linspace(-1, 1, 20_001)
    steepest = [
        math.sqrt(weight * (part.amplitude_variance if isinstance(law, Sum) else 1.0))
        * float(np.max(np.abs(np.diff(h) / np.diff(z))))
        for weight, part in links
        for h in part.links(z, np)
    ]
    assert [bound.slope for bound in law.bounds()] == pytest.approx(steepest, rel=1e-3)
    assert Ridge(np.tanh).bounds()[0].slope == math.inf
