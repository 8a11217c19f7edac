"""Measurements on two layers that know two noise levels: their distance from ridge, exactly and on sampled contexts."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from lipverify.claims.linear_transformers.means import mean_with_half_width
from lipverify.claims.softmax.training import paired_interval
from lipverify.linear_transformer.collapsed import readout
from lipverify.linear_transformer.regression.contexts import Contexts, Regression, draw_contexts
from lipverify.linear_transformer.regression.noise import CategoricalNoise
from lipverify.linear_transformer.theory.noise_adaptive import (
    Difference,
    Order,
    TwoLevels,
    difference,
    leading_mean,
    leading_square,
    worst_at,
)
from lipverify.scaling import Growth, growth_of

FAR, NEAR = (1e2, 1e10), (1e3, 1e7)
"""Ladders in n of the root mean square and of the mean, which rounding hides sooner."""
BATCHES = 16
STALE_N = 100.0
"""The length for which weights were made that are then kept."""


class DifferenceGrowth(msgspec.Struct, frozen=True, kw_only=True):
    """How far two layers are from ridge, as n grows.

    Attributes
    ----------
    fluctuation, mean
        Growth of the root of E |w - w_ridge|^2 / d, and of |E <w - w_ridge, w*>| / d.
    leading_square, leading_mean
        The derived limits of n E |w - w_ridge|^2 / d and of n E <w - w_ridge, w*> / d.
    """

    fluctuation: Growth
    mean: Growth
    leading_square: float
    leading_mean: float


class Fitted(msgspec.Struct, frozen=True, kw_only=True):
    """The weights that fit ridge best on sampled contexts, (value, half-width of the 95 % interval)."""

    c: tuple[float, float]
    v: tuple[float, float]


def limit_ratios(sigma_1: float, sigma_2: float) -> tuple[float, float]:
    """The limit of w over that of ridge, c (1 + v sigma^2) (1 + sigma^2), at both levels."""
    model = TwoLevels(sigma_1, sigma_2)
    return tuple(model.shrinkage(sigma) * (1 + sigma**2) for sigma in (sigma_1, sigma_2))  # type: ignore[return-value]


def derived_weights(sigma_1: float, sigma_2: float) -> tuple[float, float]:
    """(c, v) of the closed form."""
    model = TwoLevels(sigma_1, sigma_2)
    return model.c, model.v


def fitted_weights(sigma_1: float, sigma_2: float, d: int, n: int, contexts: int, seed: int) -> Fitted:
    """Least squares of ridge on alpha and (lambda / n) alpha over contexts of both levels: no derivation is used."""
    address = f"noise-adaptive/fit/{sigma_1}/{sigma_2}/{d}/{n}"
    drawn = [_contexts(d, n, sigma, contexts, seed, f"{address}/{sigma}") for sigma in (sigma_1, sigma_2)]
    fits = []
    for batch in range(BATCHES):
        features, targets = [], []
        for context, sigma in zip(drawn, (sigma_1, sigma_2), strict=True):
            part = slice(batch, None, BATCHES)
            alpha, energy = context.alpha[part], context.energy[part, None] / n
            features.append(np.stack([alpha.ravel(), (energy * alpha).ravel()], axis=1))
            targets.append(_ridge(context, sigma)[part].ravel())
        c, product = np.linalg.lstsq(np.concatenate(features), np.concatenate(targets))[0]
        fits.append((c, product / c))
    (c, c_error), (v, v_error) = (paired_interval([float(x) for x in column]) for column in zip(*fits, strict=True))
    return Fitted(c=(c, c_error), v=(v, v_error))


def difference_growth(
    d: int, sigma_1: float, sigma_2: float, second: bool, order: Order, points: int
) -> DifferenceGrowth:
    """The exact distance from ridge at one of the two levels, d = 1 or 2."""
    model, sigma = TwoLevels(sigma_1, sigma_2), sigma_2 if second else sigma_1

    def found(ends: tuple[float, float]) -> tuple[list[float], list[Difference]]:
        ladder = [float(round(n)) for n in np.geomspace(*ends, points)]
        return ladder, [difference(d, n, sigma, -model.c, model.v / n, order) for n in ladder]

    far, distant = found(FAR)
    near, close = found(NEAR)
    return DifferenceGrowth(
        fluctuation=growth_of(
            far, [math.sqrt(each.square) for each in distant], [each.square_error / each.square / 2 for each in distant]
        ),
        mean=growth_of(near, [abs(each.mean) for each in close], [each.mean_error / abs(each.mean) for each in close]),
        leading_square=leading_square(model, d, sigma),
        leading_mean=leading_mean(model, d, sigma, order),
    )


def exact_square(d: int, n: int, sigma_1: float, sigma_2: float, order: Order) -> tuple[float, float]:
    """(n E |w - w_ridge|^2 / d, its error) at sigma_2, from the closed form."""
    model = TwoLevels(sigma_1, sigma_2)
    found = difference(d, n, sigma_2, -model.c, model.v / n, order)
    return n * found.square, n * found.square_error


def limit_square(d: int, sigma_1: float, sigma_2: float) -> tuple[float, float]:
    """(lim n E |w - w_ridge|^2 / d, rounding) at sigma_2, as derived."""
    value = leading_square(TwoLevels(sigma_1, sigma_2), d, sigma_2)
    return value, 8 * float(np.finfo(float).eps) * value


def sampled_square(
    d: int, n: int, sigma_1: float, sigma_2: float, order: Order, contexts: int, seed: int
) -> tuple[float, float]:
    """(n E |w - w_ridge|^2 / d, half-width of its 95 % interval) at sigma_2, through the layers on sampled contexts."""
    drawn = _contexts(d, n, sigma_2, contexts, seed, f"noise-adaptive/{d}/{n}/{sigma_1}/{sigma_2}")
    layers = [layer.layer(d) for layer in TwoLevels(sigma_1, sigma_2).layers(n, order)]
    missed = n * np.mean((readout(drawn.gram, layers).w - _ridge(drawn, sigma_2)) ** 2, axis=1)
    return mean_with_half_width(missed)


def stale_growth(sigma_1: float, sigma_2: float, points: int) -> Growth:
    """The root mean square distance from ridge at sigma_2, d = 1, with the weights for n = 100 at every length."""
    model = TwoLevels(sigma_1, sigma_2)
    ladder = [float(round(n)) for n in np.geomspace(1e3, 1e12, points)]
    found = [difference(1, n, sigma_2, -model.c, model.v / STALE_N) for n in ladder]
    return growth_of(ladder, [math.sqrt(each.square) for each in found])


def swapped_distance(sigma_1: float, sigma_2: float, n: float) -> tuple[float, float]:
    """(root mean square distance from ridge at sigma_2, its error), d = 1, with the two weights exchanged."""
    model = TwoLevels(sigma_1, sigma_2)
    found = difference(1, n, sigma_2, model.v / n, -model.c)
    return math.sqrt(found.square), found.square_error / math.sqrt(found.square) / 2


def worst_of(levels: tuple[float, ...], adapting: bool) -> tuple[float, float]:
    """(the least worst relative distance from ridge at noise levels sigma, its error) by linear programming."""
    return worst_at(tuple(sigma**2 for sigma in levels), adapting), 1e3 * float(np.finfo(float).eps)


def alternating(levels: tuple[float, ...], adapting: bool) -> tuple[float, float]:
    """The same from Chebyshev's alternation: the errors at one level more than there are weights are +E, -E, +E."""
    s = np.asarray(levels) ** 2
    signs = (-1.0) ** np.arange(len(s))
    columns = [1 + s, s * (1 + s), signs] if adapting else [1 + s, signs]
    error = abs(np.linalg.solve(np.stack(columns, axis=1), np.ones(len(s)))[-1])
    return float(error), 1e3 * float(np.finfo(float).eps)


def _contexts(d: int, n: int, sigma: float, contexts: int, seed: int, cell: str) -> Contexts:
    """Contexts with x ~ N(0, I/n): those with x ~ N(0, I) and noise sqrt(n) sigma, tokens divided by sqrt(n)."""
    drawn = draw_contexts(Regression(d, n, CategoricalNoise((sigma * math.sqrt(n),))), contexts, seed, cell)
    return Contexts(drawn.gram / n, drawn.task, drawn.sigma / math.sqrt(n), n)


def _ridge(contexts: Contexts, sigma: float) -> np.ndarray:
    """w_ridge with constant sigma^2."""
    shifted = contexts.covariance + sigma**2 * np.eye(contexts.covariance.shape[-1])
    return np.asarray(np.linalg.solve(shifted, contexts.alpha[..., None])[..., 0])
