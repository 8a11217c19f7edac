"""The best GD++ weights for any depth and law of the noise, by least squares in 2 L - 1 numbers, without training.

The loss has many minima, see `exploring`. From three layers on, the best weights for the expectation over all contexts
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
from lipverify.foundation.streams import generator
from lipverify.linear_transformer.gdplusplus.descents import SAME, Minimum, best_ends, distinct
from lipverify.linear_transformer.gdplusplus.exploring import explored
from lipverify.linear_transformer.gdplusplus.filters import ExactLoss, constant_ridge_loss
from lipverify.linear_transformer.gdplusplus.floor import LARGEST_DEPTH, degree, depth_within
from lipverify.linear_transformer.gdplusplus.loss import ExcessLoss, flat_weights, layers_of
from lipverify.linear_transformer.gdplusplus.orthogonal import gauss_rule
from lipverify.linear_transformer.gdplusplus.spectrum import POINTS, largest_seen, spectral_rule
from lipverify.linear_transformer.layer import GDPlusPlus
from lipverify.linear_transformer.regression.contexts import Regression, require_regression


class GDPlusPlusOptimum(msgspec.Struct, frozen=True, kw_only=True):
    """The best GD++ weights found, and the evidence for them.

    Attributes
    ----------
    layers
        (w_xx, w_yx) of each layer; the last w_xx, which does nothing, is 0.
    loss
        The exact adjusted loss; its error covers quadrature and rounding, not a better minimum that was missed.
    excess
        The loss minus that of the best constant ridge regression, exactly; >= 0.
    unfinished
        The share of the excess that a Newton step would still gain, a measure of the distance to gradient 0.
    curvature
        Least eigenvalue of the Hessian, scaled to have 1 on its diagonal: positive at a minimum.
    starts, agreeing
        Number of descents, and of those that ended in this minimum.
    routes
        The routes of the search that ended in it, see `exploring`.
    reach
        The largest eigenvalue in the loss.
    """

    layers: tuple[tuple[float, float], ...]
    loss: ExactLoss
    excess: ExactLoss
    unfinished: float
    curvature: float
    starts: int
    agreeing: int
    routes: tuple[str, ...]
    reach: float

    @property
    def model(self) -> tuple[GDPlusPlus, ...]:
        """The minimum as layers that can be applied, the first one first."""
        return tuple(GDPlusPlus(xx, yx) for xx, yx in self.layers)


def optimal_gdplusplus(
    regression: Regression, depth: int, seen_in: float | None = None, seed: int = 0
) -> tuple[GDPlusPlusOptimum, ...]:
    """The believed optima with 1, ..., depth layers.

    Parameters
    ----------
    regression
        n >= d tokens in R^d, and the law of the noise, of which E sigma^2 is all that matters for the weights.
    depth
        Layers, at most `LARGEST_DEPTH`. Three take a second or two, five ten, six half a minute.
    seen_in
        None for the expectation over all contexts. Otherwise a number of contexts: eigenvalues above the size that is
        exceeded less than once, in expectation, in that number of contexts are left out.
    seed
        Seed of the starts.

    Returns
    -------
    tuple[GDPlusPlusOptimum, ...]
        One for each depth, with its loss, the error, and how the searches ended.

    Raises
    ------
    InvalidInput
        If `regression` is not a `Regression`, n < d, or the depth is out of range.

    Examples
    --------
    >>> from lipverify.problem.noise import UniformNoise
    >>> one, two = optimal_gdplusplus(Regression(10, 20, UniformNoise(0.0)), 2)
    >>> round(one.layers[0][1], 9) == round(-1 / 31, 9), round(two.loss.value, 6)
    (True, 0.267942)
    """
    require_regression(regression)
    optima: list[GDPlusPlusOptimum] = []
    minima: Floats = np.empty((0, 0))
    for layers in range(1, depth_within("depth", depth) + 1):
        stream = f"gd++/{regression.n}/{regression.d}/{regression.noise.second_moment:.6g}/{seen_in}/{layers}"
        # an excess over ridge regression that no table shows is sought from the shorter minima alone
        little = bool(optima) and optima[-1].excess.value < 1e-6 * optima[-1].loss.value
        coarse, rng = _coarse(regression, layers, seen_in), generator(seed, stream, 0)
        search = explored(coarse, layers, minima, regression.n, rng, thorough=not little)
        minima = search.minima
        same = [np.append(flat_weights(shorter.model), [0.0, 0.0]) for shorter in optima[-1:]]
        ends = best_ends(excess_loss(regression, layers, POINTS, seen_in), [*minima[:3], *same])
        optima.append(finished(regression, seen_in, ends, search.descents, search.routes, search.agreeing))
    return tuple(optima)


@makes("bounded", "exact")
def excess_loss(regression: Regression, layers: int, points: int, seen_in: float | None) -> ExcessLoss:
    """The excess loss on a rule for its degree, cut at the largest eigenvalue that `seen_in` contexts show."""
    n, d = regression.n, regression.d
    reach = None if seen_in is None else largest_seen(n, d, seen_in)
    return ExcessLoss(spectral_rule(n, d, 3**layers, points, reach), regression.noise.second_moment)


def _coarse(regression: Regression, layers: int, seen_in: float | None) -> ExcessLoss:
    """The rule of the search: Gauss's, on which only the floor is missing from the loss; for a reach, a thin rule."""
    if seen_in is not None or layers == LARGEST_DEPTH:
        return excess_loss(regression, layers, 8, seen_in)
    rule = gauss_rule(regression.n, regression.d, degree(layers))
    return ExcessLoss(rule, regression.noise.second_moment)


def finished(
    regression: Regression,
    seen_in: float | None,
    ends: Sequence[Minimum],
    tried: int,
    routes: tuple[str, ...],
    agreeing: int | None = None,
) -> GDPlusPlusOptimum:
    """The refined best end with its error and evidence; agreeing descents are counted unless their number is given."""
    best, ridge_regression = ends[0], constant_ridge_loss(regression)
    layers = (len(best.weights) + 1) // 2
    loss, finer = (excess_loss(regression, layers, points, seen_in) for points in (POINTS, POINTS + 4))
    error = abs(finer(best.weights) - best.value) + loss.rounding(best.weights)
    unfinished, curvature = _stationarity(loss, best)
    return GDPlusPlusOptimum(
        layers=tuple((layer.xx, layer.yx) for layer in layers_of(best.weights)),
        loss=ExactLoss(value=ridge_regression.value + best.value, error=ridge_regression.error + error),
        excess=ExactLoss(value=best.value, error=error),
        unfinished=unfinished,
        curvature=curvature,
        starts=tried,
        agreeing=sum(end.value <= best.value * (1 + SAME) for end in ends) if agreeing is None else agreeing,
        routes=routes,
        reach=loss.rule.reach,
    )


def _stationarity(loss: ExcessLoss, best: Minimum) -> tuple[float, float]:
    """The relative gain of a Newton step, and the least eigenvalue of the Hessian scaled to a unit diagonal."""

    def gradient(weights: Floats) -> Floats:
        deviations, jacobian = loss.deviations(weights)
        return np.asarray(deviations @ jacobian)

    steps = np.diag(1e-5 * np.abs(best.weights))  # the cube root of epsilon, because the gradient is exact
    columns = [(gradient(best.weights + h) - gradient(best.weights - h)) / (2 * np.sum(h)) for h in steps]
    hessian = (np.asarray(columns) + np.asarray(columns).T) / 2
    scale = np.sqrt(np.abs(np.diag(hessian)))
    scaled, slope = hessian / np.outer(scale, scale), gradient(best.weights) / scale
    gain = float(slope @ np.linalg.solve(scaled, slope)) / 2
    return abs(gain) / best.value, float(np.linalg.eigvalsh(scaled)[0])


INSERTED = ((0.02, 0.02), (0.2, 0.1), (1.0, 0.4), (4.0, 0.05))
"""Layers to insert: (w_yx, w_xx) in units of -1/n, the inverse of a mean eigenvalue."""


def grown_gdplusplus(regression: Regression, depth: int, seen_in: float | None = None) -> tuple[GDPlusPlusOptimum, ...]:
    """Minima grown layer by layer, by a search of a second: layers of a few sizes are inserted at every position of the
    best models with one layer less. Trained models begin here, and their records name these bits.
    """
    grown: list[Minimum] = []
    optima = []
    for layers in range(1, depth_within("depth", depth) + 1):
        begin = starts(grown, layers, regression.n)
        ends = best_ends(excess_loss(regression, layers, POINTS, seen_in), begin)
        grown = [ends[k] for k in distinct([end.value for end in ends])[:3]]
        optima.append(finished(regression, seen_in, ends, len(begin), ("grown",)))
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
