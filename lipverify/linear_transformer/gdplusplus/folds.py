"""Starts of searches for the best GD++ weights: zeros of the layers, at places like those of good models.

A layer puts zeros of the residual at tau = -1/w_yx and double zeros of the next tau at -1/w_xx. With -1/w_xx at three
quarters of the largest tau, tau (1 + w_xx tau)^2 folds the range three times onto a ninth of it, as the Chebyshev
polynomial of degree 3 does; the best models fold again and again. So a model is its places, numbers of order one,

    place_l = -1 / (w_l max_{t <= R} tau_l(t)),    and the range R in which it means to be small.
"""

from __future__ import annotations

import math

import numpy as np

from lipverify.foundation.arrays import Floats


def folded(rng: np.random.Generator, count: int, layers: int, nearest: float, farthest: float) -> Floats:
    """Random models, (count, 2 L - 1): R log-uniform between two eigenvalues, all places drawn."""
    R = _log_uniform(rng, (nearest, farthest), count)
    return weights_at(np.stack([_drawn(rng, index, count) for index in range(2 * layers - 1)], axis=1), R)


def moved(rng: np.random.Generator, count: int, models: Floats) -> Floats:
    """Models (count, 2 L - 1), each with two places drawn again and R moved by some 15 percent."""
    chosen = models[rng.integers(len(models), size=count)]
    R = ranges(chosen)
    places, rows = places_of(chosen, R), np.arange(count)
    for _ in range(2):
        index = rng.integers(places.shape[1], size=count)
        places[rows, index] = np.where(index % 2 == 0, _drawn(rng, 0, count), _drawn(rng, 1, count))
    return weights_at(places, R * np.exp(rng.normal(0, 0.15, count)))


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
    return weights_at(np.stack(grown), R * _log_uniform(rng, (0.7, 3.5), count))


def ranges(models: Floats) -> Floats:
    """The range R of each model: 4/3 of its first double zero, if it has one."""
    first = models[:, 1] if models.shape[1] > 1 else models[:, 0]
    zero = 1 / np.maximum(np.abs(models[:, 0]), np.finfo(float).tiny)
    return np.where(first < 0, -4 / 3 / np.where(first < 0, first, -1.0), zero)


def weights_at(places: Floats, R: Floats) -> Floats:
    """The weights whose zeros lie at these places of (0, R]."""
    return _exchanged(places, R, of_weights=False)


def places_of(models: Floats, R: Floats) -> Floats:
    """The places of the zeros of these models, the inverse of `weights_at`."""
    return _exchanged(models, R, of_weights=True)


@np.errstate(divide="ignore")
def _exchanged(given: Floats, R: Floats, of_weights: bool) -> Floats:
    """-1 / (given max tau), which takes places to weights and back; the largest tau is that of 400 eigenvalues."""
    tau, found = R[:, None] * np.arange(1, 401) / 400, np.empty_like(given)
    for index in range(given.shape[1]):
        found[:, index] = -1 / (given[:, index] * tau.max(axis=1))
        if index % 2:
            tau = tau * (1 + (given if of_weights else found)[:, index, None] * tau) ** 2
    return found


def _drawn(rng: np.random.Generator, index: int, count: int) -> Floats:
    """Random places of zeros (even index) or of double zeros (odd index)."""
    # Chebyshev's double zero is at 3/4
    return rng.uniform(0.4, 0.95, count) if index % 2 else _log_uniform(rng, (0.03, 1.2), count)


def _log_uniform(rng: np.random.Generator, ends: tuple[float, float], count: int) -> Floats:
    """Numbers between two positive bounds, uniform in their logarithm."""
    return np.asarray(np.exp(rng.uniform(math.log(ends[0]), math.log(ends[1]), count)))
