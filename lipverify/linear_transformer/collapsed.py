r"""The forward pass on second moments: its cost does not grow with n.

With G_0 = sum e e^T the layers are linear maps of the tokens, S_l = I + sum_k P_k G_l Q_k and G_{l+1} = S_l G_l
S_l^T, and the last row of S_{L-1} ... S_0 is (-w^T, a): after L layers y_i = a y_i(0) - <w, x_i(0)>, and the
query's prediction is <w, x_t>.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from lipverify.foundation.arrays import Array
from lipverify.linear_transformer.attention import Attention
from lipverify.linear_transformer.layer import Parametrisation, require_moments, written_out


class Readout(NamedTuple):
    """The weights of the prediction after the last layer: w of shape (..., d) and a of shape (...)."""

    w: Array
    a: Array


def readout(gram: Array, layers: Sequence[Parametrisation]) -> Readout:
    """(w, a) after all layers, for moments of shape (..., d + 1, d + 1).

    Parameters
    ----------
    gram
        Second moments of the contexts, (..., d + 1, d + 1).
    layers
        The layers, of any form.

    Returns
    -------
    Readout
        w, (..., d), in units of y per unit of x, and a, (...).

    Raises
    ------
    InvalidInput
        If the moments are not such an array, or a layer is not a layer or was made for another d.

    Examples
    --------
    >>> import numpy as np
    >>> from lipverify.linear_transformer.layer import GDPlusPlus
    >>> tokens = np.asarray([[1.0, 2.0], [0.0, -1.0]])
    >>> readout(tokens.T @ tokens, [GDPlusPlus(xx=0.0, yx=-0.5)]).w.tolist()  # one step of gradient descent
    [1.0]
    """
    require_moments(gram)
    row = forward(gram, [layer.attention for layer in written_out(layers, gram)]).rows[0]
    return Readout(-row[..., 0, :-1], row[..., 0, -1])


class Pass(NamedTuple):
    """A forward pass: G_0, ..., G_{L-1}, S_0, ..., S_{L-1}, and the last rows of S_{L-1} ... S_l for l = 0, ..., L."""

    moments: tuple[Array, ...]
    maps: tuple[Array, ...]
    rows: tuple[Array, ...]

    @property
    def w(self) -> Array:
        """The weight vector w of the prediction, (contexts, d)."""
        return -self.rows[0][:, 0, :-1]


def forward(gram: Array, layers: Sequence[Callable[[Array], Array]]) -> Pass:
    """The forward pass for moments of shape (..., d + 1, d + 1), with layers as the functions H of the moments."""
    xp = gram.__array_namespace__()
    size = gram.shape[-1]
    identity = xp.eye(size, dtype=gram.dtype, device=gram.device)
    moments, maps = [gram], []
    for layer in layers:
        S = identity + layer(moments[-1])
        maps.append(S)
        if len(maps) < len(layers):
            moments.append(S @ moments[-1] @ xp.matrix_transpose(S))
    rows = [xp.broadcast_to(identity[-1:, :], (*gram.shape[:-2], 1, size))]
    for S in reversed(maps):
        rows.append(rows[-1] @ S)
    return Pass(tuple(moments), tuple(maps), tuple(reversed(rows)))


def last_row(gram: Array, layers: Sequence[Attention]) -> Array:
    """(-w^T, a), (..., 1, d + 1), after one layer or more: `forward` without the values for the adjoint.

    Maps are stored as S^T, for which S G S^T is two products with a fast layout; the last layer needs one row.
    """
    xp = gram.__array_namespace__()
    turned = xp.matrix_transpose
    *before, last = layers
    maps: list[Array] = []
    for layer in before:
        if maps:
            gram = turned(maps[-1]) @ (gram @ maps[-1])
        maps.append(_and_identity(layer.transposed(gram)))

    def times(row: Array) -> Array:
        return row @ turned(maps[-1]) @ gram @ maps[-1] if maps else row @ gram

    row = xp.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)[-1:, :] + last.last_row(times)
    for transposed in reversed(maps):
        row = row @ turned(transposed)
    return row


def _and_identity(maps: Array) -> Array:
    """The sum of the identity and each of these maps, (..., d + 1, d + 1), computed in place."""
    xp, size = maps.__array_namespace__(), maps.shape[-1]
    entries = xp.reshape(maps, (-1, size * size))
    entries[:, :: size + 1] += 1
    return xp.reshape(entries, maps.shape)


def pullback(done: Pass, layers: Sequence[Attention], covector: Array) -> tuple[Array, ...]:
    r"""The gradient in each layer's weights of sum <covector, w>, for a covector of shape (contexts, d), by hand.

    The rows r_l = r_{l+1} S_l give dS_l its first part r_{l+1}^T dr_l, with dr_{l+1} = dr_l S_l^T from the front.
    Backwards, with Gamma the symmetric covector on G_{l+1} = S G S^T, the rest of dS_l is 2 Gamma S G, and G_l gets
    S^T Gamma S and what H passes on.

    Source: own derivation, checked against the complex step.
    """
    moments, maps, rows = done
    xp = covector.__array_namespace__()
    turned = xp.matrix_transpose
    ends = [xp.concat([-covector, xp.zeros_like(covector[:, :1])], axis=1)[:, None, :]]
    for S in maps[:-1]:
        ends.append(ends[-1] @ turned(S))
    gamma, gradients = None, []
    for layer, G, S, row, end in reversed(list(zip(layers, moments, maps, rows[1:], ends, strict=True))):
        dS = turned(row) @ end
        if gamma is not None:
            dS = dS + 2 * (gamma @ S @ G)
        pulled = layer.pull(G, dS)
        gradients.append(pulled.weights)
        passed = (pulled.gram + turned(pulled.gram)) / 2
        gamma = passed if gamma is None else turned(S) @ gamma @ S + passed
    return tuple(reversed(gradients))
