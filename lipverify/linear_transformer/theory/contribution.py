r"""What each weight of a diagonal model contributes to the prediction, layer by layer.

The attention of a diagonal layer is entry by entry a product, H = W * G with W = [[xx, xy], [yx, yy]] in blocks and
G = [[Sigma, alpha], [alpha^T, lambda]] the moments of the tokens as they are; only yx and yy move labels at once:

    w^{l+1} - w^l = yy lambda^l w^l - yx M^lT alpha^l,

and these sum to the prediction exactly. xx and xy move the covariates, which yx of a later layer reads: xy of layer l
changes no label after layer l, and after layer l + 1 it has changed that of the query by

    yx' { xy (y_t <beta, alpha> + mu <alpha, z_t>) + xy^2 y_t mu |alpha|^2 },

    z = (I + xx Sigma) x,  beta = (I + xx Sigma) ((1 + yy lambda) alpha + yx Sigma alpha),
    mu = (1 + yy lambda) lambda + yx |alpha|^2,

with yx' of layer l + 1 and everything else of layer l. The first term went through the query's covariates, the second
through the context's, the third through both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import msgspec

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array, Floats
from lipverify.foundation.means.samples import mean_with_half_width
from lipverify.linear_transformer.implicit import advance, blocks, start
from lipverify.linear_transformer.layer import Diagonal, written_out
from lipverify.linear_transformer.regression.contexts import Contexts

Weight = Literal["xx", "xy", "yx", "yy"]
WEIGHTS: tuple[Weight, ...] = ("xx", "xy", "yx", "yy")


class Direct(NamedTuple):
    """What each layer adds to w through yx and through yy: both of shape (..., layers, d), and w is the sum of all."""

    yx: Array
    yy: Array


class Contributions(msgspec.Struct, frozen=True, kw_only=True):
    """What the weights of one model do; root mean squares are over contexts and isotropic queries.

    Attributes
    ----------
    prediction
        Of the prediction after 0, 1, ... layers.
    removed
        Of its change after 0, 1, ... layers when a weight is set to zero, by layer of the weight and then by weight.
    direct
        Of what yx and then yy of each layer add to the prediction.
    loss
        1/2 E |w - w*|^2, with its 95 % half-width.
    cost
        By how much the loss grows when a weight is set to zero, with the 95 % half-width of the paired difference.
    """

    prediction: tuple[float, ...]
    removed: tuple[tuple[tuple[float, ...], ...], ...]
    direct: tuple[tuple[float, ...], tuple[float, ...]]
    loss: tuple[float, float]
    cost: tuple[tuple[tuple[float, float], ...], ...]


class Delayed(NamedTuple):
    """The change of y_t two layers after xy acted: through the query's covariates, the context's, and both."""

    query: Array
    context: Array
    both: Array

    @property
    def total(self) -> Array:
        """All three."""
        return self.query + self.context + self.both


def direct(gram: Array, model: Sequence[Diagonal]) -> Direct:
    """w^L split exactly into what yx and yy of each layer added, for moments of shape (..., d + 1, d + 1).

    >>> import numpy as np
    >>> model = [Diagonal(0.0, 0.0, -0.1, 0.0), Diagonal(0.0, 0.0, -0.1, 0.5)]
    >>> parts = direct(np.asarray([[1.0, 2.0], [2.0, 4.0]]), model)
    >>> parts.yx.ravel(), parts.yy.ravel()
    (array([0.2 , 0.18]), array([0.   , 0.324]))
    """
    xp, state, parts = gram.__array_namespace__(), start(gram), []
    for layer in written_out(model, gram):
        H = blocks(state, gram, layer)
        moved = (xp.matrix_transpose(state.M) @ H.c[..., None])[..., 0]
        parts.append((-moved, H.delta[..., None] * state.w))
        state = advance(state, gram, layer)
    return Direct(*(xp.stack(part, axis=-2) for part in zip(*parts, strict=True)))


def predictors(gram: Array, model: Sequence[Diagonal]) -> Array:
    """The weight vector w before the first layer and after each, of shape (..., layers + 1, d)."""
    states = [start(gram)]
    for layer in written_out(model, gram):
        states.append(advance(states[-1], gram, layer))
    return gram.__array_namespace__().stack([state.w for state in states], axis=-2)


def ablated(model: Sequence[Diagonal], layer: int, weight: Weight) -> tuple[Diagonal, ...]:
    """The model with one weight of one layer (counted from 0) set to zero."""
    _require(model, layer, weight)
    return (*model[:layer], replace(model[layer], **{weight: 0.0}), *model[layer + 1 :])


def effect(gram: Array, model: Sequence[Diagonal], layer: int, weight: Weight) -> Array:
    """By how much w differs from that without this weight, after 0, 1, ... layers: (..., layers + 1, d)."""
    return predictors(gram, model) - predictors(gram, ablated(model, layer, weight))


def sensitivity(gram: Array, model: Sequence[Diagonal], layer: int, weight: Weight) -> Array:
    r"""The derivative of w by a weight after 0, 1, ... layers, (..., layers + 1, d): the tangent of T' = (I + H) T.

    dT' = dT + H dT + dH T, with dH = W * d(T G T^T) and, at `layer` itself, the moments under the weight's own entries.
    """
    _require(model, layer, weight)
    xp = gram.__array_namespace__()
    one = Diagonal(**{name: float(name == weight) for name in WEIGHTS})
    T, dT = start(gram).map, xp.zeros_like(gram)
    rows = [dT[..., -1, :-1]]
    for index, (mine, unit) in enumerate(
        zip(written_out(model, gram), written_out([one] * len(model), gram), strict=True)
    ):
        now, half = T @ gram @ xp.matrix_transpose(T), dT @ gram @ xp.matrix_transpose(T)
        H, dH = mine.attention(now), mine.attention(half + xp.matrix_transpose(half))
        if index == layer:
            dH = dH + unit.attention(now)
        T, dT = T + H @ T, dT + H @ dT + dH @ T
        rows.append(-dT[..., -1, :-1])
    return xp.stack(rows, axis=-2)


def root_mean_square(w: Array) -> tuple[float, float]:
    """sqrt(E |w|^2) of w of shape (contexts, d), and its 95 % half-width: E <w, x>^2 = |w|^2 for isotropic queries.

    >>> import numpy as np
    >>> root_mean_square(np.asarray([[3.0, 4.0], [5.0, 0.0]]))
    (5.0, 0.0)
    """
    mean, half_width = mean_with_half_width((w * w).sum(axis=-1))
    root = float(mean) ** 0.5
    return root, half_width / (2 * root) if root else 0.0


def contributions(model: Sequence[Diagonal], contexts: Contexts) -> Contributions:
    """Every weight of every layer set to zero in turn, on the same contexts."""
    gram = contexts.gram
    whole, added = predictors(gram, model), direct(gram, model)
    without = [[predictors(gram, ablated(model, k, name)) for name in WEIGHTS] for k in range(len(model))]

    def losses(w: Array) -> Floats:
        return ((w[:, -1] - contexts.task) ** 2).sum(axis=-1) / 2

    def by_layer(w: Array) -> tuple[float, ...]:
        return tuple(root_mean_square(w[:, k])[0] for k in range(w.shape[1]))

    return Contributions(
        prediction=by_layer(whole),
        removed=tuple(tuple(by_layer(whole - less) for less in each) for each in without),
        direct=(by_layer(added.yx), by_layer(added.yy)),
        loss=mean_with_half_width(losses(whole)),
        cost=tuple(tuple(mean_with_half_width(losses(less) - losses(whole)) for less in each) for each in without),
    )


def delayed(moments: Array, query: Array, before: Diagonal, yx: Any) -> Delayed:
    """How far xy of a layer has moved the query's label one layer later, where `yx` reads the covariates.

    Parameters
    ----------
    moments
        Of the tokens as the layer `before` sees them, (..., d + 1, d + 1).
    query
        (x_t, y_t) as that layer sees it, (..., d + 1).
    before, yx
        The layer whose xy is meant, and the weight yx of the next.
    """
    xp = moments.__array_namespace__()
    Sigma, alpha, energy = moments[..., :-1, :-1], moments[..., :-1, -1], moments[..., -1, -1]
    x, y = query[..., :-1], query[..., -1]
    grown = 1 + before.yy * energy
    labelled = grown[..., None] * alpha + before.yx * _apply(Sigma, alpha)
    beta = labelled + before.xx * _apply(Sigma, labelled)
    z = x + before.xx * _apply(Sigma, x)
    square = xp.sum(alpha * alpha, axis=-1)
    mu = grown * energy + before.yx * square
    return Delayed(
        query=yx * before.xy * y * xp.sum(beta * alpha, axis=-1),
        context=yx * before.xy * mu * xp.sum(alpha * z, axis=-1),
        both=yx * before.xy * before.xy * y * mu * square,
    )


def _apply(matrix: Array, vector: Array) -> Array:
    """A v for stacks of matrices and vectors."""
    return (matrix @ vector[..., None])[..., 0]


def _require(model: Sequence[Diagonal], layer: int, weight: str) -> None:
    if weight not in WEIGHTS:
        raise InvalidInput(f"weight = {weight!r}: choose one of {', '.join(WEIGHTS)}.")
    if not 0 <= layer < len(model):
        raise InvalidInput(f"layer = {layer!r}: the model has layers 0 to {len(model) - 1}.")
