r"""The contribution of each weight of a diagonal model to the prediction, layer by layer.

The attention of a diagonal layer is an entrywise product, H = W * G with W = [[xx, xy], [yx, yy]] in blocks and G =
[[Sigma, alpha], [alpha^T, lambda]] the moments of the tokens before the layer. Only yx and yy change labels in the same
layer:

    w^{l+1} - w^l = yy lambda^l w^l - yx M^lT alpha^l,

and these sum to the prediction exactly. xx and xy change the covariates, which yx of a later layer reads. xy of layer l
changes no label after layer l, and after layer l + 1 it has changed the query's label by

    yx' { xy (y_t <beta, alpha> + mu <alpha, z_t>) + xy^2 y_t mu |alpha|^2 },

    z = (I + xx Sigma) x,  beta = (I + xx Sigma) ((1 + yy lambda) alpha + yx Sigma alpha),
    mu = (1 + yy lambda) lambda + yx |alpha|^2,

with yx' of layer l + 1 and everything else of layer l. The first term acts through the query's covariates, the second
through the context's, the third through both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
import numpy as np

from lipverify.checks.linear_transformers import layers_in_words as layers
from lipverify.checks.linear_transformers.quantities import Floats, Value, trained
from lipverify.claims import remembered
from lipverify.errors import InvalidInput
from lipverify.linear_transformer import (
    Diagonal,
    Tokens,
    draw_contexts,
    estimate,
    evaluation,
    forward,
    regression_named,
    trajectory,
)
from lipverify.sampling import generator, mean_with_half_width

if TYPE_CHECKING:
    from flint import fmpq  # imported where it is used: commands that list claims import this module

Weight = Literal["xx", "xy", "yx", "yy"]
WEIGHTS: tuple[Weight, ...] = ("xx", "xy", "yx", "yy")
ALL = "query, context, both"
"""The paths of the effect: through the query's covariates, through the context's, and through both."""
NOISE, LAYERS = "uniform-3", 4
"""The trained model in the figures: its law of the noise, and its depth."""
FEW = 512
"""Contexts that are taken through the layers together: their arrays fit into the cache of a core."""
ERRORS = 3 / NormalDist().inv_cdf(0.975)
"""Three standard errors, in half-widths of a 95 % interval."""
Array = Any


class Direct(NamedTuple):
    """The addition of each layer to w through yx and through yy: both of shape (..., layers, d), and w is the sum of all."""

    yx: Array
    yy: Array


class Contributions(msgspec.Struct, frozen=True, kw_only=True):
    """The effects of the weights of one model; root mean squares are over contexts and isotropic queries.

    `prediction`: of the prediction after 0, 1, ... layers. `removed`: of its change when a weight is set to zero, by
    layer of the weight and then by weight. `direct`: of the additions of yx and then yy of each layer.
    """

    prediction: tuple[float, ...]
    removed: tuple[tuple[tuple[float, ...], ...], ...]
    direct: tuple[tuple[float, ...], tuple[float, ...]]


class Delayed(NamedTuple):
    """The change of y_t one layer after xy acted: through the query's covariates, the context's, and both."""

    query: Any
    context: Any
    both: Any


def direct(gram: Array, model: Sequence[Diagonal]) -> Direct:
    """w^L split exactly into the additions of yx and yy of each layer, for moments of shape (..., d + 1, d + 1).

    >>> import numpy as np
    >>> model = [Diagonal(0.0, 0.0, -0.1, 0.0), Diagonal(0.0, 0.0, -0.1, 0.5)]
    >>> parts = direct(np.asarray([[1.0, 2.0], [2.0, 4.0]]), model)
    >>> parts.yx.ravel(), parts.yy.ravel()
    (array([0.2 , 0.18]), array([0.   , 0.324]))
    """
    xp, states, parts = gram.__array_namespace__(), trajectory(gram, model), []
    for state, layer in zip(states[:-1], model, strict=True):
        H = state.blocks(gram, layer.layer(gram.shape[-1] - 1).to(gram))
        moved = (xp.matrix_transpose(state.M) @ H.c[..., None])[..., 0]
        parts.append((-moved, H.delta[..., None] * state.w))
    return Direct(*(xp.stack(part, axis=-2) for part in zip(*parts, strict=True)))


def predictors(gram: Array, model: Sequence[Diagonal]) -> Array:
    """The weight vector w before the first layer and after each, of shape (..., layers + 1, d)."""
    return gram.__array_namespace__().stack([state.w for state in trajectory(gram, model)], axis=-2)


def ablated(model: Sequence[Diagonal], layer: int, weight: Weight) -> tuple[Diagonal, ...]:
    """The model with one weight of one layer (counted from 0) set to zero."""
    _require(model, layer, weight)
    return (*model[:layer], replace(model[layer], **{weight: 0 * getattr(model[layer], weight)}), *model[layer + 1 :])


def root_mean_square(w: Array) -> tuple[float, float]:
    """sqrt(E |w|^2) of w of shape (contexts, d), and its 95 % half-width: E <w, x>^2 = |w|^2 for isotropic queries."""
    if not w.any():  # the same model twice, or a weight that nothing reads: 0 in each context, and no sample to judge
        return 0.0, 0.0
    mean, half_width = mean_with_half_width((w * w).sum(axis=-1))
    root = float(mean) ** 0.5
    return root, half_width / (2 * root) if root else 0.0


def contributions(model: Sequence[Diagonal], contexts: Any) -> Contributions:
    """The effects of setting every weight of every layer to zero in turn, on the same contexts."""
    gram = contexts.gram
    whole, added = predictors(gram, model), direct(gram, model)
    without = [[predictors(gram, ablated(model, k, name)) for name in WEIGHTS] for k in range(len(model))]

    def by_layer(w: Array) -> tuple[float, ...]:
        return tuple(float((w[:, k] ** 2).sum(axis=-1).mean()) ** 0.5 for k in range(w.shape[1]))

    return Contributions(
        prediction=by_layer(whole),
        removed=tuple(tuple(by_layer(whole - less) for less in each) for each in without),
        direct=(by_layer(added.yx), by_layer(added.yy)),
    )


def delayed(moments: Any, query: Any, before: Diagonal, yx: Any) -> Delayed:
    """The change of the query's label by xy of the layer `before`, one layer later, where `yx` reads the covariates."""
    Sigma, alpha, energy = moments[:-1, :-1], moments[:-1, -1], moments[-1, -1]
    x, y = query[:-1], query[-1]
    labelled = (1 + before.yy * energy) * alpha + before.yx * (Sigma @ alpha)
    beta, z = labelled + before.xx * (Sigma @ labelled), x + before.xx * (Sigma @ x)
    square = np.sum(alpha * alpha)
    mu = (1 + before.yy * energy) * energy + before.yx * square
    return Delayed(
        query=yx * before.xy * y * np.sum(beta * alpha),
        context=yx * before.xy * mu * np.sum(alpha * z),
        both=yx * before.xy * before.xy * y * mu * square,
    )


def _require(model: Sequence[Diagonal], layer: int, weight: str) -> None:
    if weight not in WEIGHTS:
        raise InvalidInput(f"weight = {weight!r}: choose one of {', '.join(WEIGHTS)}.")
    if not 0 <= layer < len(model):
        raise InvalidInput(f"layer = {layer!r}: the model has layers 0 to {len(model) - 1}.")


def after_one(weight: str = "xy") -> Any:
    """The query's label after a layer minus the same without one of its weights, as words that remain; for every d and n."""
    return layers.delayed(1, weight=weight)


def after_two(ways: str) -> Any:
    """The same for xy one layer later minus the stated terms, as words that remain."""
    return layers.delayed(2, tuple(ways.split(", ")))


def tokens_after_one(d: int, n: int, layer: int, seed: int, weight: Any = "xy") -> fmpq:
    """The change of y_t after the layer, token by token, over y_t, in fractions."""
    label, change, _ = changed(d, n, layer, seed, weight, after=1)
    return change / label


def tokens_after_two(d: int, n: int, layer: int, seed: int, ways: str) -> fmpq:
    """The change of y_t one layer later minus the stated terms, over the change, in fractions."""
    from flint import fmpq

    _, change, parts = changed(d, n, layer, seed, "xy", after=2)
    return 1 - sum((getattr(parts, way) for way in ways.split(", ")), fmpq(0)) / change


def changed(d: int, n: int, layer: int, seed: int, weight: Weight, after: int) -> tuple[fmpq, fmpq, Delayed]:
    """y_t the given number of layers after one, its change by the weight, and the stated terms: integers as tokens."""
    from flint import fmpq

    random, place = generator(seed, f"effects/arrival/{d}/{n}/{layer - 1}", 0), layer - 1
    context = random.integers(-9, 10, (n, d + 1)).astype(object)
    query = np.append(random.integers(1, 10, d).astype(object), np.asarray([0], dtype=object))
    weights: Any = [[fmpq(int(k), 1000) for k in random.integers(1, 10, 4)] for _ in range(layer + 1)]
    model = [Diagonal(*four) for four in weights]
    passed, without = (forward(Tokens(context, query), chosen) for chosen in (model, ablated(model, place, weight)))
    label, other = (each[place + after].query[-1] for each in (passed, without))
    before = passed[place]
    parts = delayed(before.context.T @ before.context, before.query, model[place], model[place + 1].yx)
    return label, label - other, parts


def change(layer: int, after: int, contexts: int, training: int, seed: int) -> Any:
    """Root mean square of the change of the prediction without xy of a layer, divided by that of the prediction."""
    model, gram = trained(NOISE, "OMEGA", LAYERS, training).model, fresh(contexts, seed).gram
    read = layer + after - 1
    w, less = (predictors(gram, each[:read])[:, -1] for each in (model, ablated(model, layer - 1, "xy")))
    (moved, error), (prediction, _) = root_mean_square(w - less), root_mean_square(w)
    return moved / prediction, error / prediction


def every_weight(contexts: int, training: int, seed: int) -> Contributions:
    """The effects of every weight of the model."""
    return contributions(trained(NOISE, "OMEGA", LAYERS, training).model, fresh(contexts, seed))


def without(term: str, contexts: int, training: int, seed: int) -> Any:
    """Log of the loss with one of the four terms set to zero in all layers, divided by the loss; without retraining.

    The adjusted loss. A context counts as at most d/2, the loss of predicting 0 without noise.
    """
    model, here = trained(NOISE, "OMEGA", LAYERS, training).model, evaluation(fresh(contexts, seed))
    fewer = tuple(replace(layer, **dict.fromkeys(term.split(), 0.0)) for layer in model)
    # one method for both, so that no term is exactly no change
    whole, less = (here.losses(partial(estimate, each)) for each in (model, fewer))
    return _log_quotient(less, whole, here.contexts.task.shape[1])


def with_momentum(gram: Array, model: Sequence[Diagonal], share: float) -> Array:
    """w after the last layer, (..., d), if only a share of u reaches each layer; 1 is the model itself.

    >>> import numpy as np
    >>> model = [Diagonal(0.0, 0.1, -0.1, 0.0), Diagonal(0.0, 0.0, -0.1, 0.0)]
    >>> [with_momentum(np.asarray([[1.0, 2.0], [2.0, 4.0]]), model, share).round(3).tolist() for share in (0.0, 1.0)]
    [[0.38], [0.452]]
    """
    (state,) = trajectory(gram, [])
    for layer in model:
        state = state._replace(u=share * state.u).after(gram, layer.layer(gram.shape[-1] - 1).to(gram))
    return state.w


def momentum_cost(noise: str, model: str, layers: int, contexts: int, training: int, seed: int) -> Value:
    """Log of the adjusted loss with u = 0 before every layer, divided by the adjusted loss; without retraining.

    u carries the labels' noise into the covariates, which is the momentum of Lemma 4.4. A context counts as at most
    d/2, the loss of predicting 0 without noise.
    """
    here, record = shared_by_models(noise, contexts, seed), trained(noise, model.upper(), layers, training)
    grams = np.split(here.contexts.gram, range(FEW, contexts, FEW))
    with np.errstate(over="ignore", invalid="ignore"):
        without_u = np.concatenate([with_momentum(gram, record.model, 0.0) for gram in grams])
        reset, whole = (here.losses(each) for each in (lambda _: without_u, record))
    return _log_quotient(reset, whole, here.contexts.task.shape[1])


def _log_quotient(losses: Floats, whole: Floats, d: int) -> Value:
    """Log of a quotient of mean losses, with three standard errors; contexts are paired and count as at most d/2."""
    losses, whole = (np.minimum(np.nan_to_num(each, nan=np.inf), d / 2) for each in (losses, whole))
    if np.array_equal(losses, whole):  # one layer has no earlier xy: the same model twice
        return 0.0, 0.0
    (a, b) = float(losses.mean()), float(whole.mean())
    if np.allclose(losses, whole, rtol=1e-9, atol=0):  # the same model twice, to rounding
        return math.log(a / b), 2e-9
    return math.log(a / b), ERRORS * mean_with_half_width(losses / a - whole / b)[1]


@remembered(maxsize=1)
def shared_by_models(noise: str, contexts: int, seed: int) -> Any:
    """Contexts of a law, the same for all its models."""
    return evaluation(draw_contexts(regression_named(noise), contexts, seed, f"effects/momentum/{noise}"))


def fresh(contexts: int, seed: int) -> Any:
    """Fresh contexts, on which the model was not trained."""
    return draw_contexts(regression_named(NOISE), contexts, seed, f"effects/OMEGA/{NOISE}/{LAYERS}/fresh")
