r"""The loss of one attention unit with a matrix M on given contexts, and its gradient with respect to M.

The score of token i is s_i = x_i^T M x, token on the left and query on the right, and the prediction is
sum_i a_i y_i with

    softmax attention   a_i = e^{s_i} / sum_j e^{s_j},
    linear attention    a_i = s_i / n   (a scale in front of it is absorbed by M).

With e_k = sum_i a_i f_k(x_i) - f_k(x), labels of noise variance sigma^2 and amplitudes of variance v, both averaged
in closed form, a context contributes

    v sum_k e_k^2 + sigma^2 sum_i a_i^2.

Its derivative in a_i is g_i = 2 v sum_k e_k f_k(x_i) + 2 sigma^2 a_i, in the scores a_i (g_i - sum_j a_j g_j) for
softmax and g_i / n for linear attention, and ds_i / dM = x_i x^T.

Everything is holomorphic in M (softmax subtracts the largest real part, which cancels), so Im L(M + i h E) / h is the
derivative along E to rounding. The code works with any library of the array API standard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array, row_maxima, row_sums
from lipverify.foundation.validation import chosen
from lipverify.problem.law import Law, Sum

if TYPE_CHECKING:  # sampling imports this module
    from lipverify.loss.montecarlo.contexts import Contexts


@dataclass(frozen=True)
class Attention:
    """A kind of attention: the map from scores (C, n) to weights, and its pullback of gradients to the scores.

    If the weights sum to one, the loss depends on the values of f only through their differences from f(x).
    """

    name: str
    weights: Callable[[Array, Any], Array]
    pullback: Callable[[Array, Array, Any], Array]
    sum_to_one: bool


def softmax_weights(scores: Array, xp: Any) -> Array:
    """e^{s_i} / sum_j e^{s_j}."""
    level = xp.real(scores) if "complex" in str(scores.dtype) else scores
    g = xp.exp(scores - row_maxima(level, xp)[..., None])
    return g / row_sums(g, xp)[..., None]


def softmax_pullback(weights: Array, slopes: Array, xp: Any) -> Array:
    """a_i (g_i - sum_j a_j g_j)."""
    return weights * (slopes - row_sums(weights * slopes, xp)[..., None])


def linear_weights(scores: Array, xp: Any) -> Array:
    """s_i / n."""
    return scores / scores.shape[-1]


def linear_pullback(weights: Array, slopes: Array, xp: Any) -> Array:
    """g_i / n."""
    return slopes / slopes.shape[-1]


ATTENTIONS = {
    attention.name: attention
    for attention in (
        Attention("softmax", softmax_weights, softmax_pullback, sum_to_one=True),
        Attention("linear", linear_weights, linear_pullback, sum_to_one=False),
    )
}


def attention_named(name: str) -> Attention:
    """The attention called "softmax" or "linear"."""
    return ATTENTIONS[chosen("attention", name, ATTENTIONS)]


def attention_for(name: str, law: Law) -> Attention:
    """The attention of that name for a law; refuse a sum of laws if the weights do not sum to one.

    With such weights the loss depends on the means of the parts, so the biases of the parts do not add.
    """
    attention = attention_named(name)
    if not attention.sum_to_one and isinstance(law, Sum):
        raise InvalidInput(f"law = {law!r} with attention = {name!r}: a sum needs softmax; write one law of the sum.")
    return attention


def scores(contexts: Contexts, M: Array, xp: Any) -> Array:
    """s_i = x_i^T M x, (C, n); leading axes of M and of the contexts correspond."""
    images = xp.matmul(contexts.query, xp.matrix_transpose(M))
    return xp.matmul(contexts.tokens, images[..., None])[..., 0]


def samples(attention: Attention, contexts: Contexts, M: Array, xp: Any = np) -> tuple[Array, Array]:
    """Noise sum_i a_i^2 and bias sum_k e_k^2 of each context (C,), over sigma^2 and over the amplitude variance."""
    a = attention.weights(scores(contexts, M, xp), xp)
    _, residuals = _residuals(attention, contexts, a, xp)
    return row_sums(a * a, xp), sum(e * e for e in residuals)


def losses(
    attention: Attention, contexts: Contexts, M: Array, variance: float, amplitude_variance: float, xp: Any = np
) -> Array:
    """The loss of each context (C,), as in `losses_and_slopes` but without the gradient."""
    a = attention.weights(scores(contexts, M, xp), xp)
    _, residuals = _residuals(attention, contexts, a, xp)
    return _losses(a, residuals, variance, amplitude_variance, xp)


def losses_and_slopes(
    attention: Attention, contexts: Contexts, M: Array, variance: float, amplitude_variance: float, xp: Any = np
) -> tuple[Array, Array]:
    """The loss of each context (C,), and z (C, d) such that its gradient with respect to M is the outer product z x^T.

    Contexts (R, C, ...) and matrices (R, d, d) of R trainings may be given together: losses are (R, C), z (R, C, d).

    `variance` is sigma^2 and `amplitude_variance` is v, in the units of the loss. Gradients are returned as factors, so
    that their mean is a matrix product and no array grows with n d^2.
    """
    a = attention.weights(scores(contexts, M, xp), xp)
    values, residuals = _residuals(attention, contexts, a, xp)
    loss = _losses(a, residuals, variance, amplitude_variance, xp)
    slopes = 2 * variance * a
    for f, e in zip(values, residuals, strict=True):
        slopes = slopes + 2 * amplitude_variance * e[..., None] * f
    along = attention.pullback(a, slopes, xp)
    return loss, xp.matmul(along[..., None, :], contexts.tokens)[..., 0, :]


def _losses(a: Array, residuals: list[Array], variance: float, amplitude_variance: float, xp: Any) -> Array:
    return amplitude_variance * sum(e * e for e in residuals) + variance * row_sums(a * a, xp)


def _residuals(attention: Attention, contexts: Contexts, a: Array, xp: Any) -> tuple[list[Array], list[Array]]:
    """The values that enter the loss, and e_k = sum_i a_i f_k(x_i) - f_k(x) without cancellation of a common offset."""
    pairs = list(zip(contexts.values, contexts.targets, strict=True))
    if attention.sum_to_one:
        differences = [f - target[..., None] for f, target in pairs]
        return differences, [row_sums(a * f, xp) for f in differences]
    return contexts.values, [row_sums(a * f, xp) - target for f, target in pairs]
