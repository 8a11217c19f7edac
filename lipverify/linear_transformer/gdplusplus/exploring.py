"""A search for the best GD++ weights by independent routes, repeated until none finds a better minimum.

The routes start from random places of the zeros; from the best models with one layer less, with a layer inserted; from
large noise s = E sigma^2, where one basin dominates, down to the given s, and from s = 0 up to it; and, in rounds, from
the best minima with some zeros placed again. The evidence for a minimum is the routes that ended in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.linear_transformer.gdplusplus.descents import SAME, Ends, descended, distinct, raced
from lipverify.linear_transformer.gdplusplus.folds import deepened, folded, moved
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
    """Search by all routes for minima of the loss on coarse nodes; if not `thorough`, from shorter models alone.

    `shorter` are the best models with one layer less, (count, 2 L - 3), or none; `n` is the mean eigenvalue.
    """
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
