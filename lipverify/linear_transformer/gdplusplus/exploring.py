r"""A search for the best GD++ weights by independent routes, repeated until none finds a better minimum.

The routes start from random places of the zeros; from the best models with one layer less, with a layer inserted; from
large noise s = E sigma^2, where one basin dominates, down to the given s, and from s = 0 up to it; and, in rounds, from
the best minima with some zeros placed again. The evidence for a minimum is the routes that ended in it.

A layer puts zeros of the residual at tau = -1/w_yx and double zeros of the next tau at -1/w_xx. With -1/w_xx at three
quarters of the largest tau, tau (1 + w_xx tau)^2 folds the range three times onto a ninth of it, as the Chebyshev
polynomial of degree 3 does; the best models fold again and again. So a start is its places, numbers of order one,

    place_l = -1 / (w_l max_{t <= R} tau_l(t)),    and the range R in which it means to be small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.linear_transformer.gdplusplus.descents import SAME, Ends, descended, distinct, raced
from lipverify.linear_transformer.gdplusplus.loss import ExcessLoss

RANDOM = (1, 30, 80, 200, 240, 240, 160)
"""Random starts by number of layers: more for harder problems, as long as the search takes about a minute."""
POOL = 8
"""Number of distinct minima passed on to the next round, level of noise and depth."""


class Explored(NamedTuple):
    """Distinct minima, best first (count, 2 L - 1); the number of descents, and of those to the best; its routes."""

    minima: Floats
    descents: int
    agreeing: int
    routes: tuple[str, ...]


def explored(
    loss: ExcessLoss, layers: int, shorter: Floats, n: int, rng: np.random.Generator, thorough: bool = True
) -> Explored:
    """Search by all routes for minima on coarse nodes; if not `thorough`, from the best shorter models alone."""
    if layers == 1:
        return Explored(descended(loss, np.asarray([[-1.0 / n]]), 30).weights, 1, 1, ("random",))
    if not thorough:
        best = raced(loss, deepened(rng, 40, shorter))
        agreeing = int(np.sum(best.values <= best.values[0] * (1 + SAME)))
        return Explored(_different(best).weights, 40, agreeing, ("deepened",))
    ends: dict[str, Ends] = {}
    descents = 0
    for route, begin, follow in _routes(loss, layers, shorter, n, rng):
        descents += len(begin)
        ends[route] = follow(begin)
    for _ in range(2):
        begin = moved(rng, RANDOM[layers - 1], _different(*ends.values()).weights)
        descents += len(begin)
        ends["moved"] = _different(raced(loss, begin), *([ends["moved"]] if "moved" in ends else []))
    least = min(float(end.values[0]) for end in ends.values())
    counts = {route: int(np.sum(routes.values <= least * (1 + SAME))) for route, routes in ends.items()}
    routes = tuple(route for route, count in counts.items() if count)
    return Explored(_different(*ends.values()).weights, descents, sum(counts.values()), routes)


def _routes(
    loss: ExcessLoss, layers: int, shorter: Floats, n: int, rng: np.random.Generator
) -> Iterator[tuple[str, Floats, Callable[[Floats], Ends]]]:
    """The routes by name, each with its starts and the way to follow them."""
    count, near = RANDOM[layers - 1], 3.0 * n
    far = max(1.2 * float(loss.rule.t[-1]), near)

    def down(ladder: list[float]) -> Callable[[Floats], Ends]:
        return lambda begin: _followed(loss, begin, ladder)

    yield "random", folded(rng, count, layers, near, far), lambda begin: raced(loss, begin)
    yield "deepened", deepened(rng, count, shorter), lambda begin: raced(loss, begin)
    levels = [n * 4.0**-k for k in range(6)]
    begin = folded(rng, count // 2, layers, near, far)
    yield "less noise", begin, down([*(level for level in levels if level > loss.noise), loss.noise])
    if loss.noise:
        yield "more noise", begin, down([0.0, *(loss.noise * 4.0**-k for k in (3, 2, 1)), loss.noise])


def _followed(loss: ExcessLoss, begin: Floats, ladder: list[float]) -> Ends:
    """The best minima at the first level of noise, followed to the last level."""
    ends = raced(replace(loss, noise=ladder[0]), begin)
    for level in ladder[1:]:
        ends = descended(replace(loss, noise=level), _different(ends).weights, 60)
    return ends


def _different(*ends: Ends) -> Ends:
    """One representative of each minimum, best first, at most `POOL`."""
    values, weights = np.concatenate([e.values for e in ends]), np.concatenate([e.weights for e in ends])
    kept = distinct(values)[:POOL]
    return Ends(values[kept], weights[kept])


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
