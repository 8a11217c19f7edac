"""The residual of GD++ relative to least squares, in balls of Arb: by the recursion, and by the forward pass on matrices.

Residuals reach 1e-1000 and below, beyond the range of floats; a ball contains the value and bounds its rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lipverify.checks.linear_transformers.condition_numbers import MINIMAX, residual
from lipverify.claims import makes
from lipverify.linear_transformer import Layer, readout
from lipverify.sampling import normals

if TYPE_CHECKING:
    from flint import arb

Balls = NDArray[np.object_]
BITS = 8192
"""Bits of precision: enough for residuals down to 1e-1000 and for the rounding of all layers."""


@makes("bounded", "exact")
def recursion_residual(kappa: float, layers: int) -> tuple[float, float]:
    """log10 of the worst residual of the best weights, from the recursion of the condition number, and its error.

    >>> round(recursion_residual(4.0, 1)[0], 6)  # one gradient step leaves (kappa - 1) / (kappa + 1)
    -0.221849
    """
    from flint import arb, ctx

    with ctx.workprec(BITS):
        excess = arb(kappa) - 1
        for _ in range(layers - 1):
            excess = MINIMAX.improve(excess)
        return _log10(residual(excess))


@makes("bounded", "exact")
def matrix_residual(kappa: float, layers: int, seed: int, d: int = 4) -> tuple[float, float]:
    """log10 of the largest relative error of the forward pass on Sigma = V diag(t) V^T, and its error.

    w* = x_t is an eigenvector; V is a product of two reflections. The rest of the spectrum is log-uniform in [1/kappa,
    1], drawn at (seed, kappa, d). Every operation is on balls.

    >>> one, other = matrix_residual(4.0, 2, seed=0, d=3)[0], recursion_residual(4.0, 2)[0]
    >>> abs(one - other) < 1e-12
    True
    """
    from flint import arb, ctx

    stream = f"second-order/{kappa}/{d}"
    with ctx.workprec(BITS):
        V = _reflection(normals(seed, stream, 0, (d,))) @ _reflection(normals(seed, stream, 1, (d,)))
        inside = np.exp(-math.log(kappa) * np.abs(np.sin(normals(seed, stream, 2, (d - 2,)))))
        t = np.asarray([1 / arb(kappa), arb(1), *map(arb, inside.tolist())], dtype=object)
        weights = [each.layer(d) for each in MINIMAX.weights(arb(kappa), layers)]
        worst, *others = (_missed(V, t, j, weights) for j in range(d))
        for other in others:
            worst = worst.max(other)
        return _log10(worst)


def _missed(V: Balls, t: Balls, j: int, weights: Sequence[Layer]) -> arb:
    """|w - w*| for w* = v_j, whose moments are alpha = t_j v_j and lambda = t_j."""
    from flint import arb

    d = len(t)
    gram = np.empty((d + 1, d + 1), dtype=object)
    gram[:d, :d] = V @ np.diag(t) @ V.T
    gram[d, :d] = gram[:d, d] = t[j] * V[:, j]
    gram[d, d] = t[j]
    difference = readout(gram, weights).w - V[:, j]
    return sum((x * x for x in difference), arb(0)).sqrt()


def _reflection(v: NDArray[np.float64]) -> Balls:
    """I - 2 v v^T / |v|^2 in balls."""
    from flint import arb

    exact = np.asarray([arb(x) for x in v.tolist()], dtype=object)
    identity: Balls = np.eye(len(v), dtype=int).astype(object)
    reflected: Balls = identity - np.outer(exact, exact) * (2 / sum((x * x for x in exact), arb(0)))
    return reflected


def _log10(value: arb) -> tuple[float, float]:
    """The logarithm, with the ball's radius and the rounding to a float."""
    from flint import arb

    log10 = value.log() / arb(10).log()
    middle = float(log10.mid())
    return middle, float(log10.rad()) + 2 * float(np.finfo(float).eps) * abs(middle)
