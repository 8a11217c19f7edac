"""Measurements on the ridge baselines, the floor of not knowing sigma, and GD++ at its exact optimum."""

from __future__ import annotations

import math
from functools import partial

import msgspec
import numpy as np

from lipverify.linear_transformer.gdplusplus.filters import ExactLoss, constant_ridge_loss
from lipverify.linear_transformer.gdplusplus.loss import flat_weights, residual
from lipverify.linear_transformer.gdplusplus.optimum import GDPlusPlusOptimum, optimal_gdplusplus
from lipverify.linear_transformer.gdplusplus.spectrum import spectral_rule
from lipverify.linear_transformer.regression.adjusted import (
    SEQUENCES,
    Estimator,
    Evaluation,
    SampledMean,
    evaluation,
    printed_error,
    sampled_mean,
)
from lipverify.linear_transformer.regression.bayes import Bayes, bayes_gap
from lipverify.linear_transformer.regression.contexts import Regression, draw_contexts
from lipverify.linear_transformer.regression.noise import NoiseLaw, UniformNoise
from lipverify.linear_transformer.regression.ridge import AdaRR, best_constant, tuned_ridge
from lipverify.linear_transformer.training.record import estimate


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One baseline under one law: its adjusted loss on fresh contexts and the errors that its printed number carries.

    `printed_error` is the standard error of 100,000 sequences with one query each on which ridge with the true
    variance was measured too, `unpaired_error` that with sequences of its own for ridge.
    """

    loss: SampledMean
    printed_error: float
    unpaired_error: float


class Baselines(msgspec.Struct, frozen=True, kw_only=True):
    """All baselines under one law; constants were fitted to other contexts than those reported on."""

    exact_constant: ExactLoss
    constant: Row
    adaptive: Row
    wrong_degrees: Row
    """AdaRR with n in place of n - d."""
    tuned: Row
    oracle: float
    """The loss of ridge with the true variance, which adjusted losses are less."""
    cap: float
    factor: float
    floor: SampledMean
    """The Bayes gap: no estimator that is not told sigma has a smaller adjusted loss."""


class Bound(msgspec.Struct, frozen=True, kw_only=True):
    """GD++ with 1, 2, ... layers at its optimum against constant ridge under one law.

    `paired` is the sampled loss of each optimum less that of the best constant ridge, on the same contexts.
    """

    constant: ExactLoss
    doubled: ExactLoss
    """Ridge with twice the best constant."""
    optima: tuple[GDPlusPlusOptimum, ...]
    paired: tuple[SampledMean, ...]


def baselines(noise: NoiseLaw, d: int, n: int, contexts: int, seed: int) -> Baselines:
    """The baselines on `contexts` fresh contexts, after tuning on as many others."""
    regression = Regression(d, n, noise)
    tuned = tuned_ridge(_drawn(regression, contexts, seed, "tuning"))
    held_out = _drawn(regression, contexts, seed, "report")
    return Baselines(
        exact_constant=constant_ridge_loss(regression),
        constant=_row(held_out, best_constant(regression)),
        adaptive=_row(held_out, AdaRR()),
        wrong_degrees=_row(held_out, AdaRR(degrees=n)),
        tuned=_row(held_out, tuned),
        oracle=float(held_out.basis.posterior_variances(held_out.contexts.sigma).sum(axis=-1).mean()) / 2,
        cap=tuned.cap,
        factor=tuned.factor,
        floor=bayes_gap(held_out, Bayes(noise)).averaged,
    )


def constant_row(noise: NoiseLaw, d: int, n: int, contexts: int, seed: int) -> Row:
    """The best constant ridge alone."""
    regression = Regression(d, n, noise)
    return _row(_drawn(regression, contexts, seed, "constant"), best_constant(regression))


def exact_constant(noise: NoiseLaw, d: int, n: int) -> ExactLoss:
    """The loss of the best constant ridge, integrated."""
    return constant_ridge_loss(Regression(d, n, noise))


def gdplusplus_bound(noise: NoiseLaw, d: int, n: int, depth: int, contexts: int, seed: int) -> Bound:
    """The optima with 1, ..., depth layers, exactly, and on sampled contexts through the layers themselves."""
    regression = Regression(d, n, noise)
    held_out = _drawn(regression, contexts, seed, "bound")
    ridge, optima = best_constant(regression), optimal_gdplusplus(regression, depth)
    return Bound(
        constant=constant_ridge_loss(regression),
        doubled=constant_ridge_loss(regression, 2 * ridge.penalty),
        optima=optima,
        paired=tuple(held_out.difference(partial(estimate, optimum.model), ridge) for optimum in optima),
    )


class Unseen(msgspec.Struct, frozen=True, kw_only=True):
    """GD++ without noise, with 1, 2, ... layers: what a sample shows and what is expected.

    `log10_expected` is the exact expected loss of the weights that are best on what is `seen`, by its logarithm.
    """

    seen: tuple[GDPlusPlusOptimum, ...]
    expected: tuple[GDPlusPlusOptimum, ...]
    log10_expected: tuple[float, ...]


def unseen_eigenvalues(d: int, n: int, depth: int, seen_in: float) -> Unseen:
    """Optima over the eigenvalues that so many contexts show, and over all."""
    silent = Regression(d, n, UniformNoise(0.0))
    seen = optimal_gdplusplus(silent, depth, seen_in)
    return Unseen(
        seen=seen,
        expected=optimal_gdplusplus(silent, depth),
        log10_expected=tuple(_log10_loss(optimum, n, d) for optimum in seen),
    )


def _log10_loss(optimum: GDPlusPlusOptimum, n: int, d: int) -> float:
    """The logarithm of 1/2 int rho e^2, which may be no double."""
    rule = spectral_rule(n, d, 3 ** len(optimum.layers))
    terms = rule.log_weights + 2 * residual(flat_weights(optimum.model), rule.t).log
    return float(np.logaddexp.reduce(terms) - math.log(2)) / math.log(10)


def gdplusplus_optima(noise: NoiseLaw, d: int, n: int, depth: int, seen_in: float) -> tuple[GDPlusPlusOptimum, ...]:
    """The optima over the eigenvalues that are seen in so many contexts."""
    return optimal_gdplusplus(Regression(d, n, noise), depth, seen_in)


def same_sequences_error(noise: NoiseLaw, d: int, n: int, depth: int, contexts: int, seed: int) -> float:
    """The standard error of (printed GD++ less printed ConstRR) were both measured on the same sequences.

    GD++ is at its optimum over what is seen. With one query a sequence the difference is 1/2 (<w - w*, x>^2 - <w' -
    w*, x>^2); its mean square over queries is 1/4 (2 tr A^2 + (tr A)^2) with A the difference of the two outer
    products.
    """
    held_out = _drawn(Regression(d, n, noise), contexts, seed, "same-sequences")
    optimum = gdplusplus_optima(noise, d, n, depth, float(SEQUENCES))[-1]
    model, ridge = (
        held_out.weights(estimator) - held_out.contexts.task
        for estimator in (partial(estimate, optimum.model), best_constant(Regression(d, n, noise)))
    )
    one, other, mixed = ((a * b).sum(axis=-1) for a, b in ((model, model), (ridge, ridge), (model, ridge)))
    square = (2 * (one**2 + other**2 - 2 * mixed**2) + (one - other) ** 2) / 4
    return math.sqrt(sampled_mean(square).value / SEQUENCES)


def _drawn(regression: Regression, contexts: int, seed: int, cell: str) -> Evaluation:
    address = f"baselines/{regression.noise.label}/{regression.d}/{regression.n}/{cell}"
    return evaluation(draw_contexts(regression, contexts, seed, address))


def _row(held_out: Evaluation, estimator: Estimator) -> Row:
    return Row(
        loss=held_out.loss(estimator),
        printed_error=printed_error(held_out, estimator).value,
        unpaired_error=printed_error(held_out, estimator, paired=False).value,
    )
