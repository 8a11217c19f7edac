r"""The forward pass by its definition, token by token: the reference for the faster implementations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array
from lipverify.linear_transformer.layer import Layer, Parametrisation, written_out


class Tokens(NamedTuple):
    """Tokens e = (x, y) between two layers: the context (n, d + 1) and the query (d + 1,), which begins as (x_t, 0).

    Attributes
    ----------
    context
        The tokens (x_i, y_i), (n, d + 1).
    query
        (x_t, 0) at first, (d + 1,).

    Examples
    --------
    >>> import numpy as np
    >>> Tokens(np.asarray([[1.0, 2.0]]), np.asarray([3.0, 0.0])).context.shape  # n = 1, d = 1
    (1, 2)
    """

    context: Array
    query: Array

    @property
    def prediction(self) -> Array:
        """The prediction, -y of the query."""
        return -self.query[-1]


def forward(tokens: Tokens, layers: Sequence[Parametrisation]) -> tuple[Tokens, ...]:
    """The tokens before the first layer and after each layer.

    Every token of the context, and the query, moves by sum_k P_k (sum_j e_j e_j^T) Q_k e; the sum over j is over the
    context alone, the query is never a key.

    Parameters
    ----------
    tokens
        The context, (n, d + 1), and the query, (d + 1,).
    layers
        The layers, of any form.

    Returns
    -------
    tuple[Tokens, ...]
        layers + 1 of them; the last one's `prediction` is that of the model.

    Raises
    ------
    InvalidInput
        If the context has no token, or the shapes do not belong to one d.

    Examples
    --------
    >>> import numpy as np
    >>> from lipverify.linear_transformer.layer import Diagonal
    >>> begin = Tokens(np.asarray([[1.0, 2.0], [0.0, -1.0]]), np.asarray([3.0, 0.0]))
    >>> float(forward(begin, [Diagonal(0.0, 0.0, -0.5, 0.0)])[-1].prediction)
    3.0
    """
    _require_shapes(tokens)
    trajectory = [tokens]
    for layer in written_out(layers, tokens.context):
        context, query = trajectory[-1]
        keys = [context[j, :] for j in range(context.shape[0])]
        moved = [e + _attention(layer, keys, e) for e in (*keys, query)]
        trajectory.append(Tokens(context.__array_namespace__().stack(moved[:-1]), moved[-1]))
    return tuple(trajectory)


def _attention(layer: Layer, keys: Sequence[Array], e: Array) -> Array:
    """sum_k P_k sum_j e_j <e_j, Q_k e>."""
    queried = [layer.Q[k, :, :] @ e for k in range(layer.heads)]
    return sum(layer.P[k, :, :] @ sum(key * (key @ queried[k]) for key in keys) for k in range(layer.heads))


def _require_shapes(tokens: Tokens) -> None:
    context, query = (tuple(getattr(part, "shape", ())) for part in tokens)
    if len(context) != 2 or context[0] < 1 or context[1] < 2 or query != context[1:]:
        raise InvalidInput(
            f"context has shape {context} and query {query}: they are (n, d + 1) and (d + 1,) with n, d >= 1."
        )
