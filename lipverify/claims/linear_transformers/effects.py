r"""Measurements of what each weight of a diagonal model changes, and after how many layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from lipverify.claims.linear_transformers.identities import Identity, compared
from lipverify.claims.linear_transformers.means import half_widths, mean_with_half_width
from lipverify.linear_transformer.layer import Diagonal, Parametrisation, SingleHead
from lipverify.linear_transformer.regression.contexts import Contexts, Regression, draw_contexts
from lipverify.linear_transformer.regression.noise import NoiseLaw
from lipverify.linear_transformer.theory import symbolic
from lipverify.linear_transformer.theory.contribution import (
    WEIGHTS,
    ablated,
    delayed,
    direct,
    effect,
    predictors,
    sensitivity,
)
from lipverify.linear_transformer.theory.rounding import rounding_bound
from lipverify.linear_transformer.tokens import Tokens, forward
from lipverify.linear_transformer.training.record import Trained
from lipverify.loss.streams import normals

Floats = NDArray[np.float64]
Model = tuple[tuple[float, float, float, float], ...]
"""(xx, xy, yx, yy) of each layer."""


def next_layer_symbols(d: int) -> Identity:
    """The query's label right after a layer, with its xy less without; the twin has yx in its place."""
    other = symbolic.delayed_effect(d, 1, weight="yx")
    return compared(symbolic.delayed_effect(d, 1), **{"yx in place of xy": other})


def second_layer_symbols(d: int) -> Identity:
    """The query's label one layer later against the formula; twins leave one of its three terms out."""
    every = ("query", "context", "both")
    twins = {
        f"without {part}": symbolic.delayed_effect(d, 2, tuple(each for each in every if each != part))
        for part in every
    }
    return compared(symbolic.delayed_effect(d, 2), **twins)


def through_query_symbols(d: int) -> Identity:
    """The same against the part that went through the query's own covariates; the twin has the other two parts."""
    other = symbolic.delayed_effect(d, 2, ("context", "both"))
    return compared(symbolic.delayed_effect(d, 2, ("query",)), **{"context and both": other})


class Arrival(msgspec.Struct, frozen=True):
    """The change of y_t when xy of one layer is set to zero, token by token; `formula` is what is stated two layers on.

    `query` is the share of the change two layers on that went through the query's own covariates.
    """

    next: float
    second: float
    formula: float
    error: float
    query: float


def arrival(d: int, n: int, layer: int, seed: int) -> Arrival:
    """A drawn model of layer + 2 layers (layers counted from 0), drawn tokens."""
    cell = f"effects/arrival/{d}/{n}/{layer}"
    context, query = normals(seed, cell, 0, (n, d + 1)), np.append(normals(seed, cell, 1, (d,)), 0.0)
    drawn = normals(seed, cell, 2, (layer + 2, 4))
    # no weight near 0, so that the change is far above rounding; and all small enough that nothing explodes
    model = [Diagonal(*map(float, row)) for row in 0.1 * (drawn + np.sign(drawn)) / np.sum(context**2)]
    tokens, without = (forward(Tokens(context, query), chosen) for chosen in (model, ablated(model, layer, "xy")))
    change = [float(one.query[-1] - other.query[-1]) for one, other in zip(tokens, without, strict=True)]
    before = tokens[layer]
    parts = delayed(before.context.T @ before.context, before.query, model[layer], model[layer + 1].yx)
    bound = rounding_bound(query, context, [weights.layer(d) for weights in model])
    # two passes are subtracted, and the formula is a third
    return Arrival(
        change[layer + 1], change[layer + 2], float(parts.total), 2 * float(bound[-1]), float(parts.query / parts.total)
    )


class Contributions(msgspec.Struct, frozen=True):
    """What the weights of one model do, on fresh contexts; root mean squares are over contexts and isotropic queries.

    Attributes
    ----------
    model
        Its weights, (xx, xy, yx, yy) of each layer.
    prediction
        Root mean square of the prediction after 0, 1, ... layers.
    removed
        Root mean square of the change of the prediction after 0, 1, ... layers when a weight is set to zero, by layer
        of the weight and then by weight; with the 95 % half-widths in `removed_error`.
    first_order
        The same for weight times derivative.
    direct
        Root mean square of what yx and yy of each layer add to the prediction.
    loss
        1/2 E |w - w*|^2 of the model, with its 95 % half-width.
    cost
        By how much the loss grows when a weight is set to zero, with the 95 % half-width of the paired difference.
    """

    model: Model
    prediction: tuple[float, ...]
    removed: tuple[tuple[tuple[float, ...], ...], ...]
    removed_error: tuple[tuple[tuple[float, ...], ...], ...]
    first_order: tuple[tuple[tuple[float, ...], ...], ...]
    direct: tuple[tuple[float, float], ...]
    loss: tuple[float, float]
    cost: tuple[tuple[tuple[float, float], ...], ...]


def contributions(model: Sequence[Diagonal], contexts: Contexts) -> Contributions:
    """Every weight of every layer set to zero in turn."""
    gram, layers = contexts.gram, range(len(model))
    paths = predictors(gram, model)
    losses = _losses(paths[:, -1], contexts)
    removed = [[_root_mean_square(effect(gram, model, k, name)) for name in WEIGHTS] for k in layers]
    slopes = [[sensitivity(gram, model, k, name) * getattr(model[k], name) for name in WEIGHTS] for k in layers]
    costs = [
        [_losses(predictors(gram, ablated(model, k, name))[:, -1], contexts) - losses for name in WEIGHTS]
        for k in layers
    ]
    added = direct(gram, model)
    return Contributions(
        model=tuple(map(_weights, model)),
        prediction=_root_mean_square(paths)[0],
        removed=tuple(tuple(values for values, _ in row) for row in removed),
        removed_error=tuple(tuple(errors for _, errors in row) for row in removed),
        first_order=tuple(tuple(_root_mean_square(slope)[0] for slope in row) for row in slopes),
        direct=tuple(zip(_root_mean_square(added.yx)[0], _root_mean_square(added.yy)[0], strict=True)),
        loss=mean_with_half_width(losses),
        cost=tuple(tuple(mean_with_half_width(cost) for cost in row) for row in costs),
    )


def contributions_of(
    family: str, noise: NoiseLaw, layers: int, contexts: int, seed: int, trained: Trained
) -> Contributions:
    """The contributions in a trained diagonal model, on contexts that it was not made for."""
    regression = Regression(trained.d, trained.n, trained.noise)
    fresh = draw_contexts(regression, contexts, seed, f"effects/{family}/{noise.label}/{layers}/fresh")
    return contributions([_four(layer) for layer in trained.model], fresh)


def _four(layer: Parametrisation) -> Diagonal:
    """The four weights of a diagonal layer, of one head or two."""
    return layer.weights if isinstance(layer, SingleHead) else cast("Diagonal", layer)


def _weights(one: Diagonal) -> tuple[float, float, float, float]:
    return one.xx, one.xy, one.yx, one.yy


def _losses(w: Floats, contexts: Contexts) -> Floats:
    return np.asarray(np.sum((w - contexts.task) ** 2, axis=-1) / 2)


def _root_mean_square(w: Floats) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """sqrt(E |w|^2) along the layers of w of shape (contexts, layers, d), with 95 % half-widths: E <w, x>^2 = |w|^2."""
    squares = np.sum(w**2, axis=-1)
    means = squares.mean(axis=0)
    errors = half_widths(squares)
    roots = np.sqrt(means)
    halves = np.divide(errors, 2 * roots, out=np.zeros_like(roots), where=roots > 0)
    return tuple(map(float, roots)), tuple(map(float, halves))
