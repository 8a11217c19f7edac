"""Baselines of ridge regression, the adjusted loss, the Bayes estimator, and the printed table.

Statistical assertions use fixed addresses. Those at four standard errors are fewer than thirty numbers: a false alarm
in any of them occurs about twice in a thousand seeds.
"""

from __future__ import annotations

import math
from importlib.resources import files
from typing import Any

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import multivariate_normal

from lipverify.errors import InvalidInput
from lipverify.foundation import Floats
from lipverify.foundation.means.samples import sampled_mean  # internal: means with errors of the test's own samples
from lipverify.linear_transformer import (
    AdaRR,
    Bayes,
    CategoricalNoise,
    ConstRR,
    UniformNoise,
    best_constant,
    draw_contexts,
    evaluation,
    tuned_ridge,
)
from lipverify.linear_transformer.published import BASELINES, LAYERS, MODELS, NOISES, printed, table
from lipverify.linear_transformer.regression import SEQUENCES, Contexts, NoiseLaw, TunedRR, noise_named

# internal: losses of one protocol, context by context
from lipverify.linear_transformer.regression.adjusted import protocol_losses, protocol_queries
from lipverify.linear_transformer.regression.eigenbasis import Eigenbasis, eigenbasis  # internal: the basis itself
from lipverify.prompts import Prompts
from tests.strategies import log_floats, target

EPS = float(np.finfo(float).eps)
TWO = CategoricalNoise((1.0, 3.0))


def from_tokens(x: Floats, w: Floats, sigma: float, noise: Floats) -> Contexts:
    """One context written out: x (n, d)."""
    y = x @ w + sigma * noise
    e = np.column_stack([x, y])
    return Contexts((e.T @ e)[None], w[None], np.asarray([sigma]), len(x))


def drawn(d: int, n: int, sigma: float, seed: int) -> tuple[Floats, Contexts]:
    random = np.random.default_rng(seed)
    x = random.standard_normal((n, d))
    return x, from_tokens(x, random.standard_normal(d), sigma, random.standard_normal(n))


# ---- ridge regression


@given(d=st.integers(1, 8), n=st.integers(1, 20), penalty=log_floats(1e-6, 1e3), seed=st.integers(0, 100))
def test_ridge_solves_its_equation(d: int, n: int, penalty: float, seed: int) -> None:
    """(Sigma + lambda I) w = alpha to the rounding of its terms, for n < d too."""
    _, contexts = drawn(d, n, 1.0, seed)
    [w], [sigma], [alpha] = ConstRR(penalty)(contexts), contexts.covariance, contexts.alpha
    size = np.linalg.norm(sigma, 2)
    left = np.linalg.norm(sigma @ w + penalty * w - alpha)
    allowed = 32 * d * EPS * ((size + penalty) * np.linalg.norm(w) + np.linalg.norm(alpha))
    target(float(left / allowed))
    assert left <= allowed


@given(d=st.integers(2, 8), n=st.integers(1, 7), seed=st.integers(0, 100))
def test_without_penalty_it_is_the_least_squares_solution_of_least_norm(d: int, n: int, seed: int) -> None:
    x, contexts = drawn(d, n, 1.0, seed)
    y = x @ contexts.task[0]  # consistent labels: the context without its noise
    contexts = from_tokens(x, contexts.task[0], 0.0, np.zeros(n))
    wanted, _, _, singular = np.linalg.lstsq(x, y, rcond=None)
    condition = float((singular[0] / singular[min(n, d) - 1]) ** 2)
    error = np.linalg.norm(ConstRR(0.0)(contexts)[0] - wanted)
    allowed = 64 * d * EPS * condition * (1 + np.linalg.norm(contexts.task))
    target(float(error / allowed))
    assert error <= allowed


@given(d=st.integers(1, 6), more=st.integers(1, 10), sigma=log_floats(0.01, 10.0), seed=st.integers(0, 100))
def test_the_estimate_is_that_of_least_squares_on_the_tokens(d: int, more: int, sigma: float, seed: int) -> None:
    """And AdaRR is ridge regression with it; with the wrong degrees of freedom it is not."""
    random = np.random.default_rng(seed)
    x, w, noise = random.standard_normal((d + more, d)), random.standard_normal(d), random.standard_normal(d + more)
    contexts = from_tokens(x, w, sigma, noise)
    y = x @ w + sigma * noise
    fitted, *_ = np.linalg.lstsq(x, y, rcond=None)
    left = float(np.sum((y - x @ fitted) ** 2))
    condition = np.linalg.cond(x) ** 2
    allowed = 64 * d * EPS * condition * float(y @ y)
    error = abs(float(eigenbasis(contexts).residual[0]) - left)
    target(error / allowed)
    assert error <= allowed
    basis = eigenbasis(contexts)
    ridge = ConstRR(float(basis.residual[0]) / more)(contexts)
    np.testing.assert_allclose(AdaRR()(contexts), ridge, rtol=0, atol=16 * EPS * np.abs(ridge).max())
    wrong = ConstRR(float(basis.residual[0]) / (d + more))(contexts)
    assert np.linalg.norm(wrong) > np.linalg.norm(ridge) * (1 + 4 * EPS)  # it shrinks less


@pytest.mark.parametrize(("d", "n"), [(1, 3), (3, 2), (10, 20), (32, 40)])
def test_many_contexts_have_the_eigenbasis_of_each(d: int, n: int) -> None:
    contexts = draw_contexts(Prompts(d=d, n=n, sigma=UniformNoise(3.0)), 99, 0, "eigenbasis")
    basis, scale = eigenbasis(contexts), np.abs(contexts.covariance).max()
    restored = basis.vectors * basis.values[:, None, :] @ basis.vectors.swapaxes(1, 2)
    np.testing.assert_allclose(restored, contexts.covariance, rtol=0, atol=64 * d * EPS * scale)
    moved = (basis.vectors @ basis.moment[..., None])[..., 0]
    np.testing.assert_allclose(moved, contexts.alpha, rtol=0, atol=64 * d * EPS * np.abs(contexts.gram).max())
    assert np.all(np.diff(basis.values) >= 0)
    assert np.all(basis.values[:, : d - min(n, d)] == 0)


def test_tuned_ridge_is_capped_and_scaled() -> None:
    contexts = draw_contexts(Prompts(d=4, n=12, sigma=UniformNoise(3.0)), 64, 0, "capped")
    basis = eigenbasis(contexts)
    estimate = basis.residual / 8
    wanted = basis.ridge_regression(np.minimum(1.5 * estimate, 4.0))
    np.testing.assert_allclose(
        TunedRR(cap=4.0, factor=1.5)(contexts), wanted, rtol=0, atol=64 * EPS * np.abs(wanted).max()
    )
    assert np.any(1.5 * estimate > 4.0)
    assert np.any(1.5 * estimate < 4.0)


@pytest.mark.parametrize("n", [3, 5])
def test_no_noise_estimate_without_degrees_of_freedom(n: int) -> None:
    contexts = draw_contexts(Prompts(d=5, n=n, sigma=TWO), 8, 0, "few")
    for estimator in (AdaRR(), TunedRR(1.0, 1.0)):
        with pytest.raises(InvalidInput, match=f"n = {n} <= d = 5"):
            estimator(contexts)
    assert np.all(np.isfinite(ConstRR(0.0)(contexts)))


def test_tuned_constants() -> None:
    """The best constant is nearly a minimum among constants on fresh contexts; tuning helps, paired."""
    regression = Prompts(d=10, n=20, sigma=UniformNoise(3.0))
    fitted, fresh = (evaluation(draw_contexts(regression, 20_000, 0, stream)) for stream in ("fit", "fresh"))
    constant, ridge = best_constant(regression), tuned_ridge(fitted)
    for share in (0.9, 1.1):
        beyond = fresh.difference(ConstRR(share * constant.penalty), constant)
        assert beyond.value >= -4 * beyond.standard_error
    biased = fresh.basis.ridge_regression(fresh.basis.residual / regression.n)
    for better, worse in ((ridge, AdaRR()), (AdaRR(), constant), (AdaRR(), lambda contexts: biased)):
        gain = fresh.difference(better, worse)
        assert gain.trusted
        assert gain.value < -4 * gain.standard_error, (better, worse)


# ---- the adjusted loss


ESTIMATORS: list[Any] = [ConstRR(0.5), ConstRR(20.0), AdaRR()]


@pytest.fixture(
    scope="module",
    params=[Prompts(d=10, n=20, sigma=UniformNoise(3.0)), Prompts(d=3, n=6, sigma=TWO)],
    ids=["10-20", "3-6"],
)
def identity(request: pytest.FixtureRequest) -> Any:
    return evaluation(draw_contexts(request.param, 60_000, 1, "identity"))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_the_adjusted_loss_is_the_difference_of_two_losses(identity: Any, estimator: Any) -> None:
    """Paired with the paper's protocol at four standard errors; another ridge regression as the oracle differs."""
    held_out, (n, d) = identity, (identity.contexts.n, identity.contexts.task.shape[1])
    query = protocol_queries(held_out, 1, "identity")
    pairs = sampled_mean(protocol_losses(held_out, estimator, query) - held_out.losses(estimator))
    assert pairs.trusted
    assert abs(pairs.value) <= 4 * pairs.standard_error
    wrong = held_out.basis.ridge_regression(n - d + 0 * held_out.contexts.sigma)
    control = type(held_out)(held_out.contexts, held_out.basis, wrong)
    pairs = sampled_mean(protocol_losses(control, estimator, query) - control.losses(estimator))
    assert abs(pairs.value) > 4 * pairs.standard_error


@pytest.fixture(scope="module")
def spread() -> tuple[Any, Any]:
    """Two samples of contexts, the same for every estimator."""
    regression = Prompts(d=10, n=20, sigma=UniformNoise(5.0))
    held_out, alone = (evaluation(draw_contexts(regression, 40_000, 2, name)) for name in ("spread", "alone"))
    return held_out, alone


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_the_printed_error_is_the_spread_of_the_protocol(spread: tuple[Any, Any], estimator: Any) -> None:
    """Both readings, compared with the standard deviation of sampled sequences, which has its own error."""
    held_out, alone = spread
    own = protocol_losses(held_out, estimator, protocol_queries(held_out, 2, "one"))
    paired = sampled_mean(own)
    model = own + oracle_losses(held_out, "one")
    unpaired = sampled_mean(model - oracle_losses(alone, "other"))
    for sampled, wanted in (
        (paired, held_out.printed_error(estimator)),
        (unpaired, held_out.printed_error(estimator, paired=False)),
    ):
        found = sampled.standard_error * math.sqrt(len(held_out.contexts) / SEQUENCES)
        assert sampled.trusted
        error = math.hypot(found * sampled.doubt / 2, wanted.standard_error)
        assert abs(found - wanted.value) <= 4 * error
    assert held_out.printed_error(estimator, paired=False).value > 1.1 * held_out.printed_error(estimator).value


def oracle_losses(held_out: Any, stream: str) -> Floats:
    """1/2 <w_ridge - w*, x>^2 at the sampled query."""
    query = protocol_queries(held_out, 2, stream)
    return np.asarray(-protocol_losses(held_out, lambda contexts: contexts.task, query))


def test_a_printed_error_at_another_loss() -> None:
    """Scaled to its own loss it is unchanged; for small losses it falls with the root."""
    held_out = evaluation(draw_contexts(Prompts(d=5, n=12, sigma=TWO), 4096, 0, "scaled"))
    own, loss = held_out.printed_error(AdaRR()).value, held_out.loss(AdaRR()).value
    assert held_out.printed_error(AdaRR(), printed=loss).value == pytest.approx(own, rel=64 * EPS)
    small, smaller = (held_out.printed_error(AdaRR(), printed=loss * share).value for share in (1e-4, 1e-6))
    assert small / smaller == pytest.approx(10, rel=1e-2)
    assert held_out.printed_error(AdaRR(), printed=0.0).value == 0


def test_heavy_tails_are_not_trusted() -> None:
    random = np.random.default_rng(0)
    assert sampled_mean(random.standard_normal(2000)).trusted
    assert not sampled_mean(np.exp(3 * random.standard_normal(2000))).trusted
    assert not sampled_mean(np.asarray([0.0, math.nan, 1.0, 2.0, 3.0])).trusted
    with pytest.raises(InvalidInput, match="contexts = 1"):
        sampled_mean(np.ones(1))


def test_any_array_library() -> None:
    """The same numbers from array-api-strict, on a device that NumPy cannot reach."""
    contexts = draw_contexts(Prompts(d=3, n=8, sigma=UniformNoise(2.0)), 16, 0, "strict")
    device = array_api_strict.Device("device1")
    parts: list[Any] = [
        array_api_strict.asarray(part, device=device) for part in (contexts.gram, contexts.task, contexts.sigma)
    ]
    moved = Contexts(parts[0], parts[1], parts[2], n=8)
    for estimator in (ConstRR(1.0), AdaRR(), TunedRR(2.0, 1.1)):
        found = estimator(moved)
        assert found.device == device
        plain = np.asarray(array_api_strict.asarray(found, device=array_api_strict.Device("CPU_DEVICE")))
        wanted = estimator(contexts)
        np.testing.assert_allclose(plain, wanted, rtol=0, atol=256 * EPS * np.abs(wanted).max())


# ---- Bayes


@pytest.mark.parametrize(
    ("noise", "n"), [(UniformNoise(2.0), 5), (TWO, 5), (UniformNoise(2.0), 3), (UniformNoise(2.0), 2)]
)
def test_the_posterior_from_the_tokens(noise: NoiseLaw, n: int) -> None:
    """The Gaussian density of the labels, integrated by an adaptive rule; for n = d = 2 no residual remains."""
    x, contexts = drawn(2, n, 1.0, 7)
    random = np.random.default_rng(7)
    random.standard_normal((n, 2))
    y = x @ random.standard_normal(2) + random.standard_normal(n)

    def weight(sigma: float) -> float:
        return float(multivariate_normal(np.zeros(n), x @ x.T + sigma**2 * np.eye(n)).pdf(y))

    def ridge(sigma: float) -> Floats:
        return np.asarray(np.linalg.solve(x.T @ x + sigma**2 * np.eye(2), x.T @ y), dtype=np.float64)

    if isinstance(noise, UniformNoise):
        low = 1e-2 if n > 2 else 1e-9
        integrals = [
            quad(
                lambda sigma, k=k: weight(sigma) * (ridge(sigma)[k] if k >= 0 else 1.0),
                low,
                2.0,
                epsrel=1e-11,
                limit=200,
            )
            for k in (-1, 0, 1)
        ]
        mass, *parts = (value for value, _ in integrals)
        wanted, error = np.asarray(parts) / mass, 8 * max(e for _, e in integrals) / mass + 1e-8
    else:
        masses = [weight(level) for level in (1.0, 3.0)]
        wanted = sum(m * ridge(level) for m, level in zip(masses, (1.0, 3.0), strict=True)) / sum(masses)
        error = 1e3 * EPS * float(np.abs(wanted).max())
    found = Bayes(noise)(contexts)[0]
    assert np.max(np.abs(found - wanted)) <= error


class MoreDegrees(Bayes):
    """The likelihood of three tokens more than there are."""

    def _log_likelihood(self, basis: Eigenbasis, sigma: Floats) -> Floats:
        return super()._log_likelihood(basis, sigma) - 3 * np.log(sigma)


@pytest.mark.parametrize(
    "regression",
    [
        Prompts(d=10, n=20, sigma=TWO),
        pytest.param(Prompts(d=10, n=20, sigma=UniformNoise(3.0)), marks=pytest.mark.slow),
        Prompts(d=4, n=5, sigma=UniformNoise(2.0)),
        Prompts(d=4, n=3, sigma=TWO),
    ],
    ids=["levels", "uniform", "one-degree", "none"],
)
def test_the_floor_by_two_means(regression: Prompts) -> None:
    """At four standard errors; the wrong degrees of freedom are detected, and no baseline is below the floor."""
    held_out = evaluation(draw_contexts(regression, 20_000, 4, "floor"))
    gap = Bayes(regression.noise).gap(held_out)
    assert abs(gap.difference.value) <= 4 * gap.difference.standard_error
    assert gap.rule_error <= 1e-3 * gap.averaged.standard_error
    wrong = MoreDegrees(regression.noise).gap(held_out)
    assert abs(wrong.difference.value) > 4 * wrong.difference.standard_error
    others: list[Any] = [best_constant(regression)] + ([AdaRR()] if regression.n > regression.d else [])
    for other in others:
        above = held_out.difference(other, Bayes(regression.noise))
        assert above.value > -4 * above.standard_error


@pytest.mark.parametrize("noise", [UniformNoise(0.0), CategoricalNoise((2.0,)), CategoricalNoise((0.0, 2.0))])
def test_no_gap_where_sigma_is_known(noise: NoiseLaw) -> None:
    """One level, or levels that a context tells apart: w_Bayes is ridge regression with the true variance."""
    held_out = evaluation(draw_contexts(Prompts(d=3, n=12, sigma=noise), 2048, 0, "known"))
    gap = Bayes(noise).gap(held_out)
    assert gap.sampled.value <= 1e-20
    assert gap.averaged.value <= 1e-20


# ---- the printed table


def test_the_table_has_the_header_that_the_code_expects() -> None:
    header = (files("lipverify.linear_transformer") / "table1.csv").read_text().splitlines()[0]
    assert header == "layers,model," + ",".join(f'"{n.label}"' if "," in n.label else n.label for n in NOISES)
    assert len(table()) == len(NOISES) * (len(LAYERS) * len(MODELS) + len(BASELINES))
    assert all(entry.rounding > 0 or entry.value == 0 for entry in table().values())
    assert printed("uniform-0", "DIAG", 7).value == 2.50e-12
    assert printed("levels-1-3-5", "FULL", 7).value == 0.035
    with pytest.raises(InvalidInput, match="8 layers of 'FULL'"):
        printed("uniform-0", "FULL", 8)


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
def test_a_law_is_found_by_its_name(noise: NoiseLaw) -> None:
    assert noise_named(noise.name) == noise


@pytest.mark.parametrize("size", [1e-100, 1.0, 1e80, 1e200, 1e305])
def test_a_mean_of_losses_of_any_size_has_its_error_and_its_doubt(size: float) -> None:
    """A model of seven layers may lose 1e160 on one context: its square overflows, and training once ended there."""
    values = np.asarray([1.0, 2.0, 3.0, 5.0, 8.0])
    plain, large = sampled_mean(values), sampled_mean(size * values)
    assert large.value == pytest.approx(size * plain.value, rel=1e-12)
    assert large.standard_error == pytest.approx(size * plain.standard_error, rel=1e-12)
    assert large.doubt == pytest.approx(plain.doubt, rel=1e-12)
