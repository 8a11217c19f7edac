r"""The implicit model: every token is a linear map of itself, and all tokens share the map.

After any number of layers, whatever the weights and however many heads,

    x_i^l = M x_i + u y_i,    y_i^l = a y_i - <w, x_i>,    x_t^l = M x_t,    y_t^l = -<w, x_t>,

with a state (M, u, a, w) that the context alone determines. With the blocks [[A, b], [c^T, delta]] of a layer's
attention on the moments of the tokens as they are, from M = I, u = 0, a = 1, w = 0,

    M' = (I + A) M - b w^T,    u' = (I + A) u + a b,    a' = (1 + delta) a + <c, u>,    w' = (1 + delta) w - M^T c.

Source: Vladymyrov, von Oswald, Sandler, Ge, NeurIPS 2024, Theorem 4.1 and Lemma 4.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lipverify.foundation.arrays import Array
from lipverify.linear_transformer.layer import Layer, Parametrisation, require_moments, written_out


class State(NamedTuple):
    """(M, u, a, w) of shapes (..., d, d), (..., d), (...), (..., d).

    The prediction for a query x_t is -y_t = <w, x_t>: w is the weight vector of the implicit linear model.
    """

    M: Array
    u: Array
    a: Array
    w: Array

    @property
    def map(self) -> Array:
        """T = [[M, u], [-w^T, a]] of shape (..., d + 1, d + 1): a token (x, y) has become T (x, y)."""
        xp = self.M.__array_namespace__()
        above = xp.concat([self.M, self.u[..., None]], axis=-1)
        below = xp.concat([-self.w, self.a[..., None]], axis=-1)
        return xp.concat([above, below[..., None, :]], axis=-2)

    def moments(self, gram: Array) -> Array:
        """T G T^T: the second moments of the tokens in this state, from those before any layer."""
        T = self.map
        return T @ gram @ T.__array_namespace__().matrix_transpose(T)

    def blocks(self, gram: Array, layer: Layer) -> Blocks:
        """The blocks of a layer for tokens in this state; `gram` contains their moments before any layer."""
        H = layer.attention(self.moments(gram))
        return Blocks(H[..., :-1, :-1], H[..., :-1, -1], H[..., -1, :-1], H[..., -1, -1])

    def after(self, gram: Array, layer: Layer) -> State:
        """The state after one more layer, of any number of heads; `gram` contains the moments before any layer."""
        (M, u, a, w), (A, b, c, delta) = self, self.blocks(gram, layer)
        xp = M.__array_namespace__()
        a_, delta_ = a[..., None], delta[..., None]
        return State(
            M=M + A @ M - b[..., :, None] * w[..., None, :],
            u=u + _apply(A, u) + a_ * b,
            a=a + delta * a + xp.sum(c * u, axis=-1),
            w=w + delta_ * w - _apply(xp.matrix_transpose(M), c),
        )


class Blocks(NamedTuple):
    """The blocks of a layer's attention [[A, b], [c^T, delta]]: a token moves by (A x + b y, <c, x> + delta y)."""

    A: Array
    b: Array
    c: Array
    delta: Array


def start(gram: Array) -> State:
    """The state before the first layer, M = I, u = 0, a = 1, w = 0, for moments of shape (..., d + 1, d + 1)."""
    require_moments(gram)
    xp = gram.__array_namespace__()
    # made of ones like the moments, so that shape, type and device agree
    identity = xp.tril(xp.triu(xp.ones_like(gram)))
    return State(identity[..., :-1, :-1], identity[..., :-1, -1], identity[..., -1, -1], identity[..., -1, :-1])


def trajectory(gram: Array, layers: Sequence[Parametrisation]) -> tuple[State, ...]:
    """The state before the first layer and after each.

    Parameters
    ----------
    gram
        Second moments of the contexts, (..., d + 1, d + 1).
    layers
        The layers, of any form.

    Returns
    -------
    tuple[State, ...]
        layers + 1 states (M, u, a, w); `state.after(gram, layer)` is the next one, from any state.

    Raises
    ------
    InvalidInput
        If `gram` is no array of square matrices, or a layer was made for another d.

    Examples
    --------
    >>> import numpy as np
    >>> from lipverify.linear_transformer.layer import Diagonal
    >>> tokens = np.asarray([[1.0, 2.0], [0.0, -1.0]])  # x = 1, y = 2 and x = 0, y = -1
    >>> states = trajectory(tokens.T @ tokens, [Diagonal(0.0, 0.0, -0.5, 0.0)])
    >>> states[-1].w  # one step of gradient descent from 0: 0.5 sum y x
    array([1.])
    """
    states = [start(gram)]
    for layer in written_out(layers, gram):
        states.append(states[-1].after(gram, layer))
    return tuple(states)


def _apply(matrix: Array, vector: Array) -> Array:
    """A v for stacks of matrices and vectors."""
    return (matrix @ vector[..., None])[..., 0]
