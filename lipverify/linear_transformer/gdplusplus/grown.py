r"""GD++ grown layer by layer: a search of a second whose minimum starts a training; it is not the best known one.

Near-identity layers of a few sizes are inserted at every position of the best few models with one layer less. From four
layers on `optimal_gdplusplus` finds better minima; trained models begin here, and their records name these bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.linear_transformer.gdplusplus.filters import constant_ridge_loss
from lipverify.linear_transformer.gdplusplus.optimum import GDPlusPlusOptimum, excess_loss, finished, layers_within
from lipverify.linear_transformer.gdplusplus.search import Minimum, best_ends, different
from lipverify.linear_transformer.gdplusplus.spectrum import POINTS
from lipverify.linear_transformer.regression.contexts import Regression

INSERTED = ((0.02, 0.02), (0.2, 0.1), (1.0, 0.4), (4.0, 0.05))
"""Layers to insert: (w_yx, w_xx) in units of -1/n, the inverse of a mean eigenvalue."""
KEPT = 3
"""Number of distinct minima of one depth from which the next depth grows."""


def grown_gdplusplus(regression: Regression, depth: int, seen_in: float | None = None) -> tuple[GDPlusPlusOptimum, ...]:
    """Grow minima with 1, ..., depth layers; parameters and errors as in `optimal_gdplusplus`.

    >>> from lipverify.linear_transformer.regression.noise import UniformNoise
    >>> one, two = grown_gdplusplus(Regression(10, 20, UniformNoise(0.0)), 2)
    >>> round(two.loss.value, 6)
    0.267942
    """
    ridge_regression = constant_ridge_loss(regression)
    grown: list[Minimum] = []
    optima = []
    for layers in range(1, layers_within(depth) + 1):
        loss = excess_loss(regression, layers, POINTS, seen_in)
        begin = starts(grown, layers, regression.n)
        ends = best_ends(loss, begin)
        grown = different(ends)[:KEPT]
        finer = excess_loss(regression, layers, POINTS + 4, seen_in)
        optima.append(finished(ridge_regression, loss, finer, ends, len(begin), ("grown",)))
    return tuple(optima)


def starts(grown: Sequence[Minimum], layers: int, n: int) -> list[Floats]:
    """Every inserted layer at every position of every shorter model; an idle layer after the best model."""
    if not grown:
        return [np.asarray([-1.0 / n])]
    shorter = [np.append(minimum.weights, 0.0).reshape(-1, 2) for minimum in grown]
    inserted_layers = [
        np.insert(pairs, position, -np.asarray(inserted) / n, axis=0).ravel()[:-1]
        for pairs in shorter
        for position in range(layers)
        for inserted in INSERTED
    ]
    return [np.append(grown[0].weights, [0.0, 0.0]), *inserted_layers]
