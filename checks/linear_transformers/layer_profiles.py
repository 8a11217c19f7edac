"""Losses after each layer of trained models, and of shallow models by noise level."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lipverify.checks.linear_transformers.noise_levels import HALF_WIDTH, fresh_at, log_ratio
from lipverify.checks.linear_transformers.quantities import Value, held_out, trained
from lipverify.claims import at, bound, per_profile, remembered
from lipverify.linear_transformer import regression_named, trajectory

FEW, MANY = per_profile(2048, 8192), per_profile(8192, 65_536)
"""Fresh contexts; losses that are close need many."""
MIXED = -1.0
"""In place of a noise level: the law of training itself."""


@remembered(maxsize=16)
def fresh(noise: str, sigma: float, contexts: int, seed: int) -> Any:
    """Fresh contexts of a noise level, the same for all models."""
    if sigma == MIXED:
        return held_out(regression_named(noise), contexts, seed, f"layers/{noise}")
    return fresh_at(noise, sigma, contexts, seed)


def model_of(noise: str, family: str, layers: int, training: int) -> Any:
    """The layers of a trained model; "GD++": of the best minimum known; "plain DIAG": of the best plain training."""
    from lipverify.linear_transformer import known_optimum, runs

    if family == "GD++":
        return known_optimum(noise, layers, 1e5).model
    if family.startswith("plain "):
        return runs(noise).best(family.removeprefix("plain "), layers).model
    return trained(noise, family, layers, training).model


@remembered(maxsize=64)
def after_each(
    noise: str, family: str, layers: int, training: int, sigma: float, contexts: int, seed: int
) -> tuple[Any, ...]:
    """The adjusted losses of the predictor before the first layer and after each, which count as at most d/2."""
    here = fresh(noise, sigma, contexts, seed)
    with np.errstate(over="ignore", invalid="ignore"):
        states = trajectory(here.contexts.gram, model_of(noise, family, layers, training))
        found = [np.sum((state.w - here.oracle) ** 2, axis=-1) / 2 for state in states]
    return tuple(np.minimum(np.nan_to_num(each, nan=np.inf), here.contexts.task.shape[1] / 2) for each in found)


def losses(
    noise: str, family: str, layers: int, training: int, sigma: float, after: int, contexts: int, seed: int
) -> Any:
    """The adjusted losses after a layer, one for each context."""
    return after_each(noise, family, layers, training, sigma, contexts, seed)[after]


def step(
    noise: str, family: str, layers: int, training: int, layer: int, contexts: int, seed: int, sigma: float = MIXED
) -> Value:
    """The logarithm of the mean loss after a layer divided by that before it, on the same contexts."""
    return log_ratio(*(losses(noise, family, layers, training, sigma, k, contexts, seed) for k in (layer, layer - 1)))


def deeper(
    noise: str, family: str, layers: int, training: int, sigma: float, contexts: int, seed: int, than: int = 2
) -> Value:
    """The logarithm of the loss of a model at a noise level divided by that of a shallower one of the family."""
    return log_ratio(*(losses(noise, family, k, training, sigma, k, contexts, seed) for k in (layers, than)))


def level(
    noise: str, family: str, layers: int, training: int, sigma: float, than: float, after: int, contexts: int, seed: int
) -> Value:
    """The logarithm of the loss at a noise level divided by that at another, after a layer."""
    means = [losses(noise, family, layers, training, each, after, contexts, seed) for each in (sigma, than)]
    spread = math.hypot(*(float(np.std(each)) / float(each.mean()) for each in means)) / math.sqrt(contexts)
    return math.log(means[0].mean() / means[1].mean()), HALF_WIDTH * spread


def compared(function: Any, quantity: str, over: dict[Any, Any], contexts: Any = FEW, **bounds: Any) -> Any:
    """A bound on one of these logarithms."""
    return bound(at(function, contexts=contexts), quantity, over=over, method=("montecarlo", "observed"), **bounds)
