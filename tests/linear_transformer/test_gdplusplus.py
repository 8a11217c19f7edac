"""GD++ as a filter: the eigenvalue density, the recursion, the exact loss and its minimum."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.foundation import Floats
from lipverify.linear_transformer import (
    CategoricalNoise,
    ConstRR,
    GDPlusPlus,
    UniformNoise,
    draw_contexts,
    evaluation,
    grown_gdplusplus,
    readout,
)
from lipverify.linear_transformer.gdplusplus import (
    POINTS,
    ExcessLoss,
    constant_ridge_loss,
    excess_loss,
    flat_weights,
    known_optimum,
    residual,
    spectral_rule,
)
from lipverify.linear_transformer.gdplusplus.loss import layers_of  # internal: flat weights and layers
from lipverify.linear_transformer.gdplusplus.spectrum import largest_seen  # internal: what so many contexts show
from lipverify.prompts import Prompts
from tests.strategies import log_floats, target

EPS = float(np.finfo(float).eps)
TABLE = Prompts(d=10, n=20, sigma=UniformNoise(3.0))


def weights(depth: int) -> st.SearchStrategy[Floats]:
    """Weights of both signs around the inverse of an eigenvalue."""
    one = st.builds(lambda sign, size: sign * size, st.sampled_from([-1, 1]), log_floats(1e-3, 1.0))
    return st.lists(one, min_size=2 * depth - 1, max_size=2 * depth - 1).map(np.asarray)


# ---- the density


@given(d=st.integers(1, 12), more=st.integers(4, 20))
def test_inverse_moments_of_the_density(d: int, more: int) -> None:
    """E tr Sigma^-1 and E tr Sigma^-2, which no rule is built from; the error is that of sums of positive terms."""
    n = d + more
    rule = spectral_rule(n, d)
    gap = n - d
    exact = (d / (gap - 1), d * (n - 1) / (gap * (gap - 1) * (gap - 3)))
    errors = [abs(rule.mean(np.exp(-k * np.log(rule.t))) / value - 1) for k, value in enumerate(exact, 1)]
    allowed = 64 * (n + d) * EPS + rule.error
    target(max(errors) / allowed)
    assert max(errors) <= allowed


def test_a_rule_reaches_as_far_as_its_degree() -> None:
    """E tr Sigma^k grows with k as the recursion of chi-square moments does at d = 1, far beyond a short rule."""
    n, k = 20, 200
    exact = k * math.log(2) + math.lgamma(n / 2 + k) - math.lgamma(n / 2)
    far, short = spectral_rule(n, 1, degree=k), spectral_rule(n, 1)
    logs = [np.logaddexp.reduce(rule.log_weights + k * np.log(rule.t)) for rule in (far, short)]
    assert abs(logs[0] - exact) <= 4 * EPS * exact * k
    assert logs[1] < exact - 1


# ---- the recursion


@given(flat=st.integers(1, 4).flatmap(weights), seed=st.integers(0, 5))
def test_the_filter_equals_the_action_of_the_layers(flat: Floats, seed: int) -> None:
    """g(t) z in the eigenbasis compared with the collapsed forward pass on matrices."""
    contexts = draw_contexts(Prompts(d=3, n=6, sigma=UniformNoise(2.0)), 4, seed, "filter")
    layers = layers_of(flat)
    found = readout(contexts.gram, [layer.layer(3) for layer in layers]).w
    t, V = np.linalg.eigh(contexts.covariance)
    z = np.einsum("cji,cj->ci", V, contexts.alpha)
    e = residual(flat, t.ravel())
    g = (1 - (e.sign * np.exp(e.log)).reshape(t.shape)) / t
    wanted = np.einsum("cij,cj->ci", V, g * z)
    # the same recursion without cancellation bounds the intermediate products
    largest = np.exp(residual(np.abs(flat), t.ravel()).log).reshape(t.shape)
    allowed = 512 * len(layers) * EPS * np.max(largest / t * np.abs(t).max() / t.min() * np.abs(z).max())
    error = float(np.max(np.abs(found - wanted)))
    target(error / allowed)
    assert error <= allowed


def plain(flat: Floats, t: complex) -> complex:
    tau, e = t, 1.0 + 0j
    for yx, xx in np.append(flat, 0.0).reshape(-1, 2):
        e, tau = e * (1 + yx * tau), tau * (1 + xx * tau) ** 2
    return e


@given(flat=st.integers(1, 4).flatmap(weights), t=log_floats(0.01, 30.0))
def test_the_derivatives_by_a_complex_step(flat: Floats, t: float) -> None:
    found = residual(flat, np.asarray([t]))
    e = complex(plain(flat, t)).real
    step = 1e-30
    oracle = [plain(flat + 1j * step * unit, t).imag / step for unit in np.eye(len(flat))]
    ours = (found.sign * np.exp(found.log) * found.gradient)[:, 0]
    # near a root of a factor e is small and its derivative is not: errors are set by the largest product
    scale = abs(plain(np.abs(flat), t).real)
    slopes = [abs(plain(np.abs(flat) + 1j * step * unit, t).imag / step) for unit in np.eye(len(flat))]
    assert abs(found.sign[0] * math.exp(found.log[0]) - e) <= 64 * len(flat) * EPS * scale
    for mine, theirs, slope in zip(ours, oracle, slopes, strict=True):
        assert abs(mine - theirs) <= 256 * len(flat) * EPS * slope


@pytest.mark.parametrize("silent", [[], [10], [10, 11]])
def test_the_tail_beyond_doubles(silent: list[int]) -> None:
    """e of seven layers at t = 5000 is near 10^3000, less if weights are 0; mpmath computes its logarithm."""
    flat = np.asarray([-0.03, -0.01] * 6 + [-0.5])
    flat[silent] = 0.0
    with mpmath.workdps(60):
        tau, e = mpmath.mpf(5000), mpmath.mpf(1)
        for yx, xx in np.append(flat, 0.0).reshape(-1, 2):
            e, tau = e * (1 + mpmath.mpf(yx) * tau), tau * (1 + mpmath.mpf(xx) * tau) ** 2
        size, sign = float(mpmath.log(abs(e))), float(mpmath.sign(e))
    found = residual(flat, np.asarray([5000.0]))
    assert size > 1000
    assert found.sign[0] == sign
    assert abs(found.log[0] - size) <= 3**7 * 16 * EPS * 10


# ---- the loss and its minimum


def test_one_layer_in_closed_form() -> None:
    """Without noise w_yx = -1/(n + d + 1) and the loss is d (d + 1) / (2 (n + d + 1))."""
    for n, d in ((20, 10), (7, 3), (5, 5)):
        [one] = grown_gdplusplus(Prompts(d=d, n=n, sigma=UniformNoise(0.0)), 1)
        assert one.layers[0][1] == pytest.approx(-1 / (n + d + 1), rel=1e-12)
        assert abs(one.loss.value - d * (d + 1) / (2 * (n + d + 1))) <= one.loss.error


@pytest.mark.parametrize("noise", [0.0, pytest.param(1.0, marks=pytest.mark.slow), 5.0])
def test_the_loss_in_extended_precision(noise: float) -> None:
    """The same sum over the same nodes with 50 digits, at the optimum over the eigenvalues of 10^5 contexts."""
    optimum = grown_gdplusplus(Prompts(d=4, n=12, sigma=UniformNoise(noise)), 4, seen_in=1e5)[-1]
    flat, s = flat_weights(optimum.model), UniformNoise(noise).second_moment
    loss = ExcessLoss(spectral_rule(12, 4, 81, reach=largest_seen(12, 4, 1e5)), s)
    with mpmath.workdps(50):
        total = mpmath.mpf(0)
        for t, log_weight in zip(loss.rule.t, loss.rule.log_weights, strict=True):
            tau, e, t = mpmath.mpf(t), mpmath.mpf(1), mpmath.mpf(t)
            for yx, xx in np.append(flat, 0.0).reshape(-1, 2):
                e, tau = e * (1 + mpmath.mpf(yx) * tau), tau * (1 + mpmath.mpf(xx) * tau) ** 2
            total += mpmath.exp(mpmath.mpf(log_weight)) * (t + s) / t * (e - s / (t + s)) ** 2 / 2
        error = abs(float(total - mpmath.mpf(loss(flat))))
    assert error <= loss.rounding(flat)
    assert loss.rounding(flat) < 1e-3 * float(total)


def test_the_exact_losses_against_sampled_contexts() -> None:
    """GD++ with two layers, and ridge regression with two constants, at four standard errors of trusted means."""
    held_out = evaluation(draw_contexts(TABLE, 40_000, 3, "exact"))
    two = grown_gdplusplus(TABLE, 2)[-1]
    sampled = held_out.loss(lambda contexts: readout(contexts.gram, [layer.layer(10) for layer in two.model]).w)
    assert sampled.trusted
    assert abs(sampled.value - two.loss.value) <= 4 * sampled.standard_error
    for penalty in (1.0, 3.0):
        found, ridge = constant_ridge_loss(TABLE, penalty), held_out.loss(ConstRR(penalty))
        assert abs(found.value - ridge.value) <= 4 * ridge.standard_error + found.error


@settings(max_examples=30)
@given(factor=log_floats(0.1, 10.0), sigma_max=log_floats(0.1, 10.0))
def test_the_best_constant_is_the_mean_square(factor: float, sigma_max: float) -> None:
    regression = Prompts(d=5, n=12, sigma=UniformNoise(sigma_max))
    best, other = (constant_ridge_loss(regression, k * sigma_max**2 / 3) for k in (1.0, factor))
    assert other.value >= best.value - best.error - other.error
    assert constant_ridge_loss(regression).value == pytest.approx(best.value, rel=64 * EPS)


@settings(max_examples=50)
@given(flat=st.integers(1, 3).flatmap(weights), size=log_floats(1e-6, 0.3), seed=st.integers(0, 10**6))
def test_no_weights_are_better_than_the_optimum(flat: Floats, size: float, seed: int) -> None:
    """Neither random weights nor the optimum's own weights, perturbed."""
    depth = (len(flat) + 1) // 2
    best = OPTIMA[depth - 1]
    loss = ExcessLoss(spectral_rule(20, 10, 3**depth), TABLE.noise.second_moment)
    moved = flat_weights(best.model) * (1 + size * np.random.default_rng(seed).standard_normal(len(flat)))
    for tried in (flat, moved):
        assert loss(tried) >= best.excess.value - best.excess.error


OPTIMA = grown_gdplusplus(TABLE, 3)


def stationarity(loss: ExcessLoss, weights: Floats) -> tuple[float, float]:
    """The share of the loss that a Newton step would gain, and the least eigenvalue of the Hessian, of diagonal 1."""

    def gradient(weights: Floats) -> Floats:
        deviations, jacobian = loss.deviations(weights)
        return np.asarray(deviations @ jacobian)

    steps = np.diag(1e-5 * np.abs(weights))  # the cube root of epsilon, because the gradient is exact
    columns = [(gradient(weights + h) - gradient(weights - h)) / (2 * np.sum(h)) for h in steps]
    hessian = (np.asarray(columns) + np.asarray(columns).T) / 2
    scale = np.sqrt(np.abs(np.diag(hessian)))
    scaled, slope = hessian / np.outer(scale, scale), gradient(weights) / scale
    gain = float(slope @ np.linalg.solve(scaled, slope)) / 2
    return abs(gain) / float(loss(weights)), float(np.linalg.eigvalsh(scaled)[0])


def test_evidence_of_a_minimum() -> None:
    for shallower, deeper in pairwise(OPTIMA):
        assert deeper.excess.value < shallower.excess.value
    for layers, optimum in enumerate(OPTIMA, 1):
        unfinished, curvature = stationarity(excess_loss(TABLE, layers, POINTS, None), flat_weights(optimum.model))
        assert unfinished < 1e-9
        assert curvature > 0
        assert 0 < optimum.excess.error < 1e-9 * optimum.excess.value


def test_the_law_of_the_noise_enters_through_its_second_moment() -> None:
    """The same weights for sigma in {1, 3} and for a uniform law with the same E sigma^2; the losses differ."""
    one, other = (
        grown_gdplusplus(Prompts(d=10, n=20, sigma=noise), 2)[-1]
        for noise in (CategoricalNoise((1.0, 3.0)), UniformNoise(math.sqrt(15.0)))
    )
    assert flat_weights(one.model) == pytest.approx(flat_weights(other.model), rel=1e-6)
    assert one.excess.value == pytest.approx(other.excess.value, rel=1e-9)
    assert abs(one.loss.value - other.loss.value) > 1e-3


def test_eigenvalues_that_no_sample_shows_rule_the_expectation() -> None:
    """The best weights for 10^5 contexts' eigenvalues are worthless in expectation; for one layer they are the same."""
    seen, everything = ([known_optimum("uniform-0", k, contexts) for k in (1, 4)] for contexts in (1e5, None))
    assert seen[1].loss.value < 0.5 * everything[1].loss.value
    assert abs(seen[0].loss.value - everything[0].loss.value) < 1e-4
    whole = ExcessLoss(spectral_rule(20, 10, 81), 0.0)
    assert whole(flat_weights(seen[1].model)) > 1e30


def test_layers_and_flat_weights_are_inverse() -> None:
    layers = (GDPlusPlus(-0.1, -0.2), GDPlusPlus(0.0, -0.3))
    assert layers_of(flat_weights(layers)) == layers
