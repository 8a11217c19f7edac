"""Minima of the loss of GD++ for any depth and law of the noise, by least squares in 2 L - 1 numbers, without training.

From three layers on, the best weights for the expectation over all contexts
and for the mean over a sample differ, by eigenvalues too rare to occur in it. No noise, n = 20, d = 10, four layers:
those that are best on the eigenvalues of 10^5 contexts lose 1.1e-4 there and 10^34 in expectation; the least expected
loss known is 4.0e-4. `seen_in=k` restricts the average to the eigenvalues that occur in k contexts.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.noted import makes
from lipverify.linear_transformer.gdplusplus.descents import Minimum, best_ends, distinct
from lipverify.linear_transformer.gdplusplus.filters import ExactLoss, constant_ridge_loss
from lipverify.linear_transformer.gdplusplus.floor import depth_within
from lipverify.linear_transformer.gdplusplus.loss import ExcessLoss, layers_of
from lipverify.linear_transformer.gdplusplus.spectrum import POINTS, largest_seen, spectral_rule
from lipverify.linear_transformer.layer import GDPlusPlus
from lipverify.linear_transformer.regression.contexts import require_regression
from lipverify.problem.prompts import Prompts


class GDPlusPlusOptimum(msgspec.Struct, frozen=True, kw_only=True):
    """A minimum of the loss of GD++.

    Attributes
    ----------
    layers
        (w_xx, w_yx) of each layer; the last w_xx, which does nothing, is 0.
    loss
        The exact adjusted loss; its error covers quadrature and rounding, not a better minimum that was missed.
    excess
        The loss minus that of the best constant ridge regression, exactly; >= 0.
    reach
        The largest eigenvalue in the loss.
    """

    layers: tuple[tuple[float, float], ...]
    loss: ExactLoss
    excess: ExactLoss
    reach: float

    @property
    def model(self) -> tuple[GDPlusPlus, ...]:
        """The minimum as layers that can be applied, the first one first."""
        return tuple(GDPlusPlus(xx, yx) for xx, yx in self.layers)


@makes("bounded", "exact")
def excess_loss(regression: Prompts, layers: int, points: int, seen_in: float | None) -> ExcessLoss:
    """The excess loss on a rule for its degree, cut at the largest eigenvalue that `seen_in` contexts show."""
    n, d = int(regression.n), regression.d
    reach = None if seen_in is None else largest_seen(n, d, seen_in)
    return ExcessLoss(spectral_rule(n, d, 3**layers, points, reach), regression.noise.second_moment)


def finished(regression: Prompts, seen_in: float | None, best: Minimum) -> GDPlusPlusOptimum:
    """A minimum with the error of its loss, which a finer rule shows."""
    ridge_regression = constant_ridge_loss(regression)
    layers = (len(best.weights) + 1) // 2
    loss, finer = (excess_loss(regression, layers, points, seen_in) for points in (POINTS, POINTS + 4))
    error = abs(finer(best.weights) - best.value) + loss.rounding(best.weights)
    return GDPlusPlusOptimum(
        layers=tuple((layer.xx, layer.yx) for layer in layers_of(best.weights)),
        loss=ExactLoss(value=ridge_regression.value + best.value, error=ridge_regression.error + error),
        excess=ExactLoss(value=best.value, error=error),
        reach=loss.rule.reach,
    )


INSERTED = ((0.02, 0.02), (0.2, 0.1), (1.0, 0.4), (4.0, 0.05))
"""Layers to insert: (w_yx, w_xx) in units of -1/n, the inverse of a mean eigenvalue."""


def grown_gdplusplus(regression: Prompts, depth: int, seen_in: float | None = None) -> tuple[GDPlusPlusOptimum, ...]:
    """Minima with 1, ..., depth layers, grown layer by layer: trained models begin here.

    Layers of a few sizes are inserted at every position of the best models with one layer less. With two layers this is
    the best minimum (see `two_layers`); deeper models may have better ones, see `known_optimum`.

    Parameters
    ----------
    regression
        n >= d tokens in R^d, and the law of the noise, of which E sigma^2 is all that matters for the weights.
    depth
        Layers, at most `LARGEST_DEPTH`.
    seen_in
        None for the expectation over all contexts. Otherwise a number of contexts: eigenvalues above the size that is
        exceeded less than once, in expectation, in that number of contexts are left out.

    Returns
    -------
    tuple[GDPlusPlusOptimum, ...]
        One for each depth, with its loss and the error.

    Raises
    ------
    InvalidInput
        If the covariates or tasks have another law, n < d, or the depth is out of range.

    Examples
    --------
    >>> from lipverify.problem.noise import UniformNoise
    >>> one, two = grown_gdplusplus(Prompts(d=10, n=20, sigma=UniformNoise(0.0)), 2)
    >>> round(one.layers[0][1], 9) == round(-1 / 31, 9), round(two.loss.value, 6)
    (True, 0.267942)
    """
    require_regression(regression)
    grown: list[Minimum] = []
    optima = []
    for layers in range(1, depth_within("depth", depth) + 1):
        begin = starts(grown, layers, int(regression.n))
        ends = best_ends(excess_loss(regression, layers, POINTS, seen_in), begin)
        grown = [ends[k] for k in distinct([end.value for end in ends])[:3]]
        optima.append(finished(regression, seen_in, ends[0]))
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
