"""Trained models at one noise level at a time, inside and outside the levels that they were trained on."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from lipverify.claims.linear_transformers.comparison import Model
from lipverify.linear_transformer.regression.adjusted import (
    Estimator,
    Evaluation,
    SampledMean,
    evaluation,
    sampled_mean,
)
from lipverify.linear_transformer.regression.contexts import Regression, draw_contexts
from lipverify.linear_transformer.regression.noise import CategoricalNoise, NoiseLaw
from lipverify.linear_transformer.regression.ridge import tuned_ridge
from lipverify.linear_transformer.training.record import Trained


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The loss of one model at each level: adjusted, that of a context counting as at most d/2."""

    model: str
    layers: int
    losses: tuple[SampledMean, ...]


class Profiles(msgspec.Struct, frozen=True, kw_only=True):
    """Profiles of several models and of TunedRR, tuned on the law that they were trained on.

    `covariances` holds, level by level, the covariance of the sampled mean losses of each two models, in the order of
    `profiles`: they were measured on the same contexts.
    """

    levels: tuple[float, ...]
    profiles: tuple[Profile, ...]
    covariances: tuple[tuple[tuple[float, ...], ...], ...]

    def log_ratio(self, one: tuple[str, int], other: tuple[str, int], level: float) -> tuple[float, float]:
        """Log of the loss of one over the other's, each as (model, layers), and its standard error (delta method)."""
        k = self.levels.index(level)
        order = [(profile.model, profile.layers) for profile in self.profiles]
        i, j = order.index(one), order.index(other)
        a, b = (self.profiles[place].losses[k] for place in (i, j))
        cov = self.covariances[k]
        spread = cov[i][i] / a.value**2 + cov[j][j] / b.value**2 - 2 * cov[i][j] / (a.value * b.value)
        error = math.sqrt(max(spread, 0.0)) if a.trusted and b.trusted else math.inf
        return math.log(a.value / b.value), error


def profiles(
    noise: NoiseLaw, d: int, n: int, levels: tuple[float, ...], contexts: int, seed: int, *models: Trained
) -> Profiles:
    """The loss of each model at each level, on `contexts` contexts of that level.

    Beyond the levels of training a few contexts would rule the mean; one counts as at most d/2, what predicting 0 loses
    on average without noise.
    """
    cell = f"profiles/{noise.label}"
    tuned = tuned_ridge(evaluation(draw_contexts(Regression(d, n, noise), contexts, seed, f"{cell}/tuning")))
    names = [*((each.family, each.layers) for each in models), ("TunedRR", 0)]
    estimators: list[Estimator] = [*(Model(each.model) for each in models), tuned]
    rows = []
    for level in levels:
        held_out = _at(Regression(d, n, CategoricalNoise((level,))), contexts, seed, f"{cell}/{level}")
        rows.append(
            np.stack([np.minimum(np.nan_to_num(held_out.losses(each), nan=np.inf), d / 2) for each in estimators])
        )
    return Profiles(
        levels=levels,
        profiles=tuple(
            Profile(model=name, layers=layers, losses=tuple(sampled_mean(row[place]) for row in rows))
            for place, (name, layers) in enumerate(names)
        ),
        covariances=tuple(_nested(np.cov(row) / contexts) for row in rows),
    )


def _at(regression: Regression, contexts: int, seed: int, cell: str) -> Evaluation:
    return evaluation(draw_contexts(regression, contexts, seed, cell))


def _nested(matrix: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, row)) for row in np.atleast_2d(matrix))
