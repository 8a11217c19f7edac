"""Measurements on GD++ as a second-order method: layers against condition number and accuracy, and real matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

import msgspec
import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from lipverify.linear_transformer.collapsed import readout
from lipverify.linear_transformer.gdplusplus.eigenvalues import follow, start
from lipverify.linear_transformer.layer import GDPlusPlus, Layer
from lipverify.linear_transformer.theory.layer_counts import (
    chebyshev_log_condition_reached,
    chebyshev_steps,
    fixed_steps,
    layers_needed,
    least_layers,
    log_condition_reached,
    log_log_accuracy_reached,
)
from lipverify.linear_transformer.theory.second_order import MINIMAX, UNIVERSAL, Method, residual
from lipverify.loss.streams import normals
from lipverify.scaling import Growth, growth_of

Balls = NDArray[np.object_]

METHODS: dict[str, Method] = {"minimax": MINIMAX, "universal": UNIVERSAL}
FIRST_LOG = 1.0
"""Ladders begin with the first number of layers that reaches this logarithm, ..."""
MORE_LAYERS = tuple(dict.fromkeys((*range(0, 8), *(round(10 ** (k / 4)) for k in range(4, 37)))))
"""... and have so many more: up to 1e9, so that even a double logarithm goes through nine decades."""
STEEPEST = 330.0
"""The ladder of e^s ends here: it is squared on the way."""
DECADES = (1, 2, 3, 4, 6, 9, 12, 30, 100, 300, 1000, 3000, 10_000)
"""Accuracies 10^-1 to 10^-10000 at which whole layers are counted."""
BITS = 8192
"""Precision of the balls: residuals down to 1e-1000, and what the layers cost."""


class LayerGrowth(msgspec.Struct, frozen=True, kw_only=True):
    """Layers against a logarithm s.

    Attributes
    ----------
    layers
        Growth of L with s: the exponent a of L = O(s^a).
    slope
        Growth of e^L with e^s: its exponent is the limit of dL / ds.
    """

    layers: Growth
    slope: Growth


class Residual(msgspec.Struct, frozen=True, kw_only=True):
    """log10 of a relative error, and the error of that logarithm."""

    log10: float
    error: float


def layers_against_condition(method: str, epsilon: float) -> LayerGrowth:
    """Layers against log(kappa), at a fixed relative error."""
    return _layer_growth(partial(log_condition_reached, METHODS[method], epsilon))


def chebyshev_against_condition(epsilon: float) -> LayerGrowth:
    """Layers of the weights xx = yx against log(kappa), at a fixed relative error."""
    return _layer_growth(partial(chebyshev_log_condition_reached, epsilon))


def layers_against_accuracy(method: str, kappa: float) -> LayerGrowth:
    """Layers against log log(1 / epsilon), at a fixed condition number."""
    return _layer_growth(partial(log_log_accuracy_reached, METHODS[method], kappa))


def _layer_growth(reached: Callable[[int], float]) -> LayerGrowth:
    """Layers against the logarithm that they reach; e^L as far as e^s can be written as a number and squared."""
    first = next(layers for layers in count(1) if reached(layers) >= FIRST_LOG)
    ladder = [(first + more, reached(first + more)) for more in MORE_LAYERS]
    short = [(layers, s) for layers, s in ladder if s < STEEPEST]
    return LayerGrowth(
        layers=growth_of([s for _, s in ladder], [layers for layers, _ in ladder]),
        slope=growth_of([math.exp(s) for _, s in short], [math.exp(layers) for layers, _ in short]),
    )


def count_offsets(method: str, kappa: float) -> tuple[float, float]:
    """The least and the largest L - log(kappa) / log(gain) - log_2 log(1 / epsilon) over `DECADES`.

    L is the whole number of layers, decided by balls.
    """
    chosen = METHODS[method]
    offsets = [
        layers_needed(chosen, kappa, decades)
        - math.log(kappa) / math.log(chosen.gain)
        - math.log2(decades * math.log(10))
        for decades in DECADES
    ]
    return min(offsets), max(offsets)


def counts(method: str, kappas: tuple[float, ...], decades: int) -> tuple[int, ...]:
    """Whole numbers of layers at one accuracy."""
    return tuple(layers_needed(METHODS[method], kappa, decades) for kappa in kappas)


def descent_against_condition(steps: str, epsilon: float) -> Growth:
    """Layers without xx against kappa: one step for all layers, or the best step for each."""
    needed = fixed_steps if steps == "fixed" else chebyshev_steps
    ladder = [float(kappa) for kappa in np.geomspace(1e2, 1e12, 21)]
    return growth_of(ladder, [needed(kappa, epsilon) for kappa in ladder])


def chebyshev_surplus(layers: int, epsilon: float) -> float:
    """Layers less the least that any weights need, at the largest kappa that the weights xx = yx reach."""
    return layers - least_layers(chebyshev_log_condition_reached(epsilon, layers), epsilon)


def reversed_residual(kappa: float, layers: int) -> float:
    """The worst residual on [1/kappa, 1] with xx of the best size and the wrong sign, and the best last step."""
    low, high = 1 / kappa, 1.0
    for _ in range(layers - 1):
        layer = GDPlusPlus(-MINIMAX.step(low, high), 0.0)
        low, high = (float(start(s).after(layer).s) for s in (low, high))
    return float(residual(high / low - 1))


def true_weights_ratio(kappa: float, sigma: float, layers: int) -> float:
    """The largest |prediction - least squares| / (epsilon |x_t| |w|), with w the weights that made the labels.

    Two tokens, (1, 0) and (0, kappa^{-1/2}), made with w = (1, 0); only the second has noise, sigma.
    """
    X, noise, truth = np.diag([1.0, kappa**-0.5]), np.asarray([0.0, sigma]), np.asarray([1.0, 0.0])
    tokens = np.column_stack([X, X @ truth + noise])
    fitted = np.linalg.solve(X, tokens[:, -1])
    weights = MINIMAX.weights(kappa, layers)
    missed = np.linalg.norm(readout(tokens.T @ tokens, [each.layer(2) for each in weights]).w - fitted)
    return float(missed / follow(1 / kappa, weights).r / np.linalg.norm(truth))


def recursion_residual(kappa: float, layers: int) -> Residual:
    """The worst residual of the best weights, from the recursion of the condition number in balls."""
    with ctx.workprec(BITS):
        excess = arb(kappa) - 1
        for _ in range(layers - 1):
            excess = MINIMAX.improve(excess)
        return _residual(residual(excess))


def matrix_residual(kappa: float, layers: int, d: int, seed: int) -> Residual:
    """The largest relative error of the forward pass on matrices Sigma = V diag(t) V^T, w* = x_t an eigenvector.

    V is a product of two reflections and the rest of the spectrum log-uniform in [1/kappa, 1], drawn at (seed,
    address); every operation is on balls of Arb.
    """
    address = f"second-order/{kappa}/{d}"
    with ctx.workprec(BITS):
        V = _reflection(normals(seed, address, 0, (d,))) @ _reflection(normals(seed, address, 1, (d,)))
        inside = np.exp(-math.log(kappa) * np.abs(np.sin(normals(seed, address, 2, (d - 2,)))))
        t = np.asarray([1 / arb(kappa), arb(1), *map(arb, inside.tolist())], dtype=object)
        weights = [each.layer(d) for each in MINIMAX.weights(arb(kappa), layers)]
        missed = [_missed(V, t, j, weights) for j in range(d)]
        worst = missed[0]
        for other in missed[1:]:
            worst = worst.max(other)
        return _residual(worst)


def _missed(V: Balls, t: Balls, j: int, weights: Sequence[Layer]) -> arb:
    """|w - w*| for w* = v_j, whose moments are alpha = t_j v_j and lambda = t_j."""
    d = len(t)
    gram = np.empty((d + 1, d + 1), dtype=object)
    gram[:d, :d] = V @ np.diag(t) @ V.T
    gram[d, :d] = gram[:d, d] = t[j] * V[:, j]
    gram[d, d] = t[j]
    difference = readout(gram, weights).w - V[:, j]
    return sum((x * x for x in difference), arb(0)).sqrt()


def _reflection(v: NDArray[np.float64]) -> Balls:
    """I - 2 v v^T / |v|^2 in balls."""
    exact = np.asarray([arb(x) for x in v.tolist()], dtype=object)
    outer = np.asarray([[x * y for x in exact] for y in exact], dtype=object)
    identity: Balls = np.eye(len(v), dtype=int).astype(object)
    reflected: Balls = identity - outer * (2 / sum((x * x for x in exact), arb(0)))
    return reflected


def _residual(value: arb) -> Residual:
    """Its logarithm, with the ball's radius and the rounding to a float."""
    log10 = value.log() / arb(10).log()
    middle = float(log10.mid())
    return Residual(log10=middle, error=float(log10.rad()) + 2 * float(np.finfo(float).eps) * abs(middle))
