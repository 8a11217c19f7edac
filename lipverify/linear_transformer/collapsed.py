r"""The forward pass on second moments: its cost does not grow with n.

With G_0 = sum e e^T the layers are linear maps of the tokens, S_l = I + sum_k P_k G_l Q_k and G_{l+1} = S_l G_l S_l^T,
and the last row of S_{L-1} ... S_0 is (-w^T, a): after L layers y_i = a y_i(0) - <w, x_i(0)>, and the query's
prediction is <w, x_t>. A layer maps e to (I + H(G)) e: heads with free matrices have H = sum_k P_k G Q_k; diagonal
heads multiply G entry by entry, H = Omega o G, where Omega has one number for each of the four blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lipverify.foundation.arrays import Array
from lipverify.linear_transformer.layer import Layer, Parametrisation, require_moments, written_out


class Pulled(NamedTuple):
    """The adjoint at a covector on H: the part on the weights, summed over contexts, and the parts on the moments."""

    weights: Array
    gram: Array


@dataclass(frozen=True)
class Heads:
    """H = sum_k P_k G Q_k."""

    layer: Layer

    def __call__(self, gram: Array) -> Array:
        """H; the right factors are shared, so each is one product with the stacked moments of all contexts."""
        xp, size = gram.__array_namespace__(), gram.shape[-1]
        stacked = xp.reshape(gram, (-1, size))
        queried = [xp.reshape(stacked @ self.layer.Q[k, :, :], gram.shape) for k in range(self.layer.heads)]
        return sum(self.layer.P[k, :, :] @ factor for k, factor in enumerate(queried))

    def pull(self, gram: Array, covector: Array) -> Pulled:
        """With K the covector, dP_k = sum K (G Q_k)^T and dQ_k = sum (P_k G)^T K, stacked, and dG = sum_k P_k^T K
        Q_k^T.
        """
        xp = gram.__array_namespace__()
        turned = xp.matrix_transpose
        dP, dQ, dG = [], [], xp.zeros_like(gram)
        for k in range(self.layer.heads):
            P, Q = self.layer.P[k, :, :], self.layer.Q[k, :, :]
            queried = turned(P) @ covector
            dP.append(xp.sum(covector @ turned(gram @ Q), axis=0))
            dQ.append(xp.sum(turned(gram) @ queried, axis=0))
            dG = dG + queried @ turned(Q)
        return Pulled(xp.stack([xp.stack(dP), xp.stack(dQ)]), dG)

    @property
    def transposed(self) -> Heads:
        """H^T = sum_k Q_k^T G P_k^T, of moments that are symmetric."""
        return Heads(Layer(_transposed(self.layer.Q), _transposed(self.layer.P)))

    def last_row(self, times: Callable[[Array], Array]) -> Array:
        """The last row of H, (contexts, 1, d + 1); `times` multiplies rows, (..., 1, d + 1), by the moments."""
        return sum(times(self.layer.P[k, -1:, :]) @ self.layer.Q[k, :, :] for k in range(self.layer.heads))


@dataclass(frozen=True)
class Entrywise:
    """H = Omega o G, Omega of shape (d + 1, d + 1): the form of diagonal heads."""

    factors: Array

    def __call__(self, gram: Array) -> Array:
        return self.factors * gram

    def pull(self, gram: Array, covector: Array) -> Pulled:
        """With K the covector: dOmega = sum K o G, dG = Omega o K."""
        xp = gram.__array_namespace__()
        return Pulled(xp.sum(covector * gram, axis=0), self.factors * covector)

    @property
    def transposed(self) -> Entrywise:
        """H^T = Omega^T o G."""
        return Entrywise(_transposed(self.factors))

    def last_row(self, times: Callable[[Array], Array]) -> Array:
        """The last row of Omega times that of G, entry by entry."""
        xp = self.factors.__array_namespace__()
        unit = xp.eye(self.factors.shape[-1], dtype=self.factors.dtype, device=self.factors.device)[-1:, :]
        return self.factors[-1:, :] * times(unit)


Attention = Heads | Entrywise
"""H as a function of the moments."""


def _transposed(matrices: Array) -> Array:
    """Transposed copies, contiguous by rows, which makes products with many contexts faster."""
    xp = matrices.__array_namespace__()
    turned = xp.matrix_transpose(matrices)
    made = xp.empty(turned.shape, dtype=turned.dtype, device=turned.device)
    made[...] = turned
    return made


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
