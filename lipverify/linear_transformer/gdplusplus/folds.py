r"""Starts of searches for the best GD++ weights: zeros of the layers, at positions like those of good models.

A layer sees tau_l, a polynomial in the eigenvalue t of degree 3^{l-1}, and puts zeros of the residual at tau_l =
-1/w_yx and double zeros of the next tau at tau_l = -1/w_xx. With -1/w_xx at three quarters of the largest tau the map
tau (1 + w_xx tau)^2 folds the range of tau three times onto a ninth of it, as the Chebyshev polynomial of degree 3
does: the best models fold again and again, and differ by where the zeros -1/w_yx lie. So a model is written by its
places,

    place_l = -1 / (w_l max_{t <= R} tau_l(t)),

2 L - 1 numbers of order one, and the range R in which it means to be small; starts are random places.
"""

from __future__ import annotations

import math

import numpy as np

from lipverify.foundation.arrays import Floats

GRID = 400
"""Eigenvalues in (0, R] among which the largest tau is found."""
FOLD = (0.4, 0.95)
"""Range of the uniform law of the places of double zeros; 3/4 is Chebyshev's."""
ZERO = (0.03, 1.2)
"""Range of the log-uniform law of the places of the residual's zeros."""
STRETCH, GROWTH = 0.15, (0.7, 3.5)
"""Logarithmic spread of R in a move, and the range of factors of R for a model with one more layer."""
MOVED = 2
"""Number of places that a move draws again."""


def folded(rng: np.random.Generator, count: int, layers: int, nearest: float, farthest: float) -> Floats:
    """Random models, (count, 2 L - 1): R log-uniform between two eigenvalues, all places drawn.

    >>> folded(np.random.default_rng(0), 5, 3, 40.0, 300.0).shape
    (5, 5)
    """
    R = _log_uniform(rng, (nearest, farthest), count)
    return weights_at(np.stack([_drawn(rng, index, count) for index in range(2 * layers - 1)], axis=1), R)


def moved(rng: np.random.Generator, count: int, models: Floats) -> Floats:
    """Models (count, 2 L - 1), each with a few places drawn again."""
    chosen = models[rng.integers(len(models), size=count)]
    R = ranges(chosen)
    places, rows = places_of(chosen, R), np.arange(count)
    for _ in range(MOVED):
        index = rng.integers(places.shape[1], size=count)
        places[rows, index] = np.where(index % 2 == 0, _drawn(rng, 0, count), _drawn(rng, 1, count))
    return weights_at(places, R * np.exp(rng.normal(0, STRETCH, count)))


def deepened(rng: np.random.Generator, count: int, models: Floats) -> Floats:
    """Models with one more layer, (count, 2 L + 1), inserted at random among the places of shorter ones."""
    chosen = models[rng.integers(len(models), size=count)]
    R = ranges(chosen)
    places, layers = places_of(chosen, R), (models.shape[1] + 1) // 2
    zero, fold, position = _drawn(rng, 0, count), _drawn(rng, 1, count), rng.integers(layers + 1, size=count)
    # the last layer has no fold: a layer after it inserts fold and zero, one elsewhere zero and fold
    grown = [
        np.insert(row, [2 * k] * 2, (z, f)) if k < layers else np.append(row, (f, z))
        for row, z, f, k in zip(places, zero, fold, position, strict=True)
    ]
    return weights_at(np.stack(grown), R * _log_uniform(rng, GROWTH, count))


def ranges(models: Floats) -> Floats:
    """The range R of each model: 4/3 of its first double zero, if it has one.

    >>> ranges(np.asarray([[-0.1, -0.01, -0.2], [-0.1, 0.01, -0.2]])).tolist()
    [133.33333333333331, 10.0]
    """
    first = models[:, 1] if models.shape[1] > 1 else models[:, 0]
    zero = 1 / np.maximum(np.abs(models[:, 0]), np.finfo(float).tiny)
    return np.where(first < 0, -4 / 3 / np.where(first < 0, first, -1.0), zero)


def weights_at(places: Floats, R: Floats) -> Floats:
    """The weights whose zeros lie at these places of (0, R]."""
    tau, weights = R[:, None] * np.arange(1, GRID + 1) / GRID, np.empty_like(places)
    for index in range(places.shape[1]):
        weights[:, index] = -1 / (places[:, index] * tau.max(axis=1))
        if index % 2:
            tau = tau * (1 + weights[:, index, None] * tau) ** 2
    return weights


@np.errstate(divide="ignore")
def places_of(models: Floats, R: Floats) -> Floats:
    """The places of the zeros of these models: the inverse of `weights_at`.

    >>> places = np.asarray([[0.5, 0.75, 0.1]])
    >>> bool(np.allclose(places_of(weights_at(places, np.ones(1)), np.ones(1)), places, rtol=1e-12))
    True
    """
    tau, places = R[:, None] * np.arange(1, GRID + 1) / GRID, np.empty_like(models)
    for index in range(models.shape[1]):
        places[:, index] = -1 / (models[:, index] * tau.max(axis=1))
        if index % 2:
            tau = tau * (1 + models[:, index, None] * tau) ** 2
    return places


def _drawn(rng: np.random.Generator, index: int, count: int) -> Floats:
    """Random places of zeros (even index) or of double zeros (odd index)."""
    if index % 2:
        return rng.uniform(*FOLD, count)
    return _log_uniform(rng, ZERO, count)


def _log_uniform(rng: np.random.Generator, ends: tuple[float, float], count: int) -> Floats:
    """Numbers between two positive bounds, uniform in their logarithm."""
    return np.asarray(np.exp(rng.uniform(math.log(ends[0]), math.log(ends[1]), count)))
