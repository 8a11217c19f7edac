r"""The update H(G) e of the tokens by a layer, as a function of their moments G, with its adjoint by hand.

A layer maps e to (I + H(G)) e. Heads with free matrices have H = sum_k P_k G Q_k; diagonal heads multiply G entry
by entry, H = Omega o G, where Omega has one number for each of the four blocks, and need no matrix product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from lipverify.foundation.arrays import Array
from lipverify.linear_transformer.layer import Layer


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
        r"""With K the covector: dP_k = sum K (G Q_k)^T, dQ_k = sum (P_k G)^T K and dG = sum_k P_k^T K Q_k^T.

        The weights' part has shape (2, heads, d + 1, d + 1).
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
        """H."""
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
