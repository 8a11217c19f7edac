r"""A layer of linear attention, e <- e + sum_k P_k (sum_j e_j e_j^T) Q_k e, and its narrower parametrisations.

Tokens are e_i = (x_i, y_i) in R^{d+1} and the query is (x_t, 0), which is never a key. Every parametrisation is a
frozen record of arrays with a method `layer(d)`, the same layer with its matrices written out.

Source: Vladymyrov, von Oswald, Sandler, Ge, NeurIPS 2024, sections 2 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import EPS, Array, to_device
from lipverify.foundation.quoting import shown
from lipverify.foundation.validation import instance, whole


class Parametrisation(Protocol):
    """Weights of one layer, in any form."""

    def layer(self, d: int) -> Layer:
        """The layer for covariates in R^d."""
        ...


def written_out(layers: Sequence[Parametrisation], like: Array) -> tuple[Layer, ...]:
    """The layers with their matrices written out: for the d, the library and the device of `like`, (..., d + 1)."""
    instance("layers", layers, Sequence, "give a list of layers, such as [GDPlusPlus(xx=0.1, yx=0.2)]")  # type: ignore[type-abstract]
    for k, weights in enumerate(layers):
        if not callable(getattr(weights, "layer", None)):
            raise InvalidInput(f"layers[{k}] = {weights!r}: give layers, such as GDPlusPlus(xx=0.1, yx=0.2).")
    written = tuple(weights.layer(like.shape[-1] - 1) for weights in layers)
    for k, (layer, weights) in enumerate(zip(written, layers, strict=True)):
        if not (_all_finite(layer.P) and _all_finite(layer.Q)):
            raise InvalidInput(f"layers[{k}] = {shown(weights)}: its weights must be finite numbers.")
    return tuple(layer.to(like) for layer in written)


def _all_finite(matrix: Array) -> bool:
    """True if all entries are finite; symbols and exact integers, which are objects, count as finite."""
    kind = getattr(matrix.dtype, "kind", "f")
    xp = matrix.__array_namespace__()
    return kind == "O" or (kind not in "US" and bool(xp.all(xp.isfinite(matrix))))


def require_moments(gram: Array) -> None:
    """Refuse an array that is not the second moments of tokens (x, y)."""
    shape = tuple(getattr(gram, "shape", ()))
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] < 2:
        raise InvalidInput(f"gram has shape {shape}: moments of tokens (x, y) have shape (..., d + 1, d + 1), d >= 1.")


@dataclass(frozen=True)
class Layer:
    """A layer with any number of heads: P and Q of shape (heads, d + 1, d + 1).

    Parameters
    ----------
    P, Q
        The matrices of each head, (heads, d + 1, d + 1).

    Raises
    ------
    InvalidInput
        If P or Q is not of that shape, or there is no head.

    Examples
    --------
    >>> Layer(np.zeros((2, 4, 4)), np.zeros((2, 4, 4))).d
    3
    """

    P: Array
    Q: Array

    def __post_init__(self) -> None:
        for name in ("P", "Q"):
            shape = tuple(getattr(getattr(self, name), "shape", ()))
            if len(shape) != 3 or shape[0] < 1 or shape[1] != shape[2] or shape[1] < 2:
                raise InvalidInput(f"{name} has shape {shape}: a layer has matrices of shape (heads, d + 1, d + 1).")
        if self.P.shape != self.Q.shape:
            raise InvalidInput(f"P has shape {self.P.shape} and Q {self.Q.shape}: they must be the same.")

    @property
    def heads(self) -> int:
        """Pairs (P, Q) whose outputs are added."""
        return int(self.P.shape[0])

    @property
    def d(self) -> int:
        """Dimension of the covariates."""
        return int(self.P.shape[1]) - 1

    def layer(self, d: int) -> Layer:
        """The layer itself; refused for another dimension."""
        if d != self.d:
            raise InvalidInput(f"d = {d}: this layer was made for d = {self.d}.")
        return self

    def to(self, array: Array) -> Layer:
        """The same layer with its matrices in the library and on the device of `array`."""
        xp = array.__array_namespace__()
        if self.P.__array_namespace__() is xp:
            return self
        return Layer(to_device(self.P, xp, array.device), to_device(self.Q, xp, array.device))

    def attention(self, gram: Array) -> Array:
        """H = sum_k P_k G Q_k for moments G of shape (..., d + 1, d + 1): the layer maps e to (I + H) e."""
        if self._factors is not None:
            return gram * self._factors  # ten times faster than products of matrices
        return sum(self.P[k, :, :] @ gram @ self.Q[k, :, :] for k in range(self.heads))

    @cached_property
    def _factors(self) -> Array | None:
        """The factors of the entries of G if all matrices are diagonal; known once, as a device must be asked."""
        xp = self.P.__array_namespace__()
        p, q = xp.linalg.diagonal(self.P), xp.linalg.diagonal(self.Q)
        entrywise = all(xp.count_nonzero(some) == xp.count_nonzero(of) for some, of in ((p, self.P), (q, self.Q)))
        return xp.matrix_transpose(p) @ q if entrywise else None


@dataclass(frozen=True)
class Diagonal:
    r"""Two diagonal heads: the four weights are free.

    x' = x + xx Sigma x + xy y alpha,    y' = y + yx <alpha, x> + yy lambda y,

    with Sigma = sum x x^T, alpha = sum y x, lambda = sum y^2 over the context as the layer sees it.

    Parameters
    ----------
    xx, xy, yx, yy
        The four weights; finite.

    Examples
    --------
    >>> Diagonal(xx=0.1, xy=0.0, yx=-0.2, yy=0.0).layer(3).P.shape  # two heads for d = 3
    (2, 4, 4)
    """

    xx: float
    xy: float
    yx: float
    yy: float

    def layer(self, d: int) -> Layer:
        """One head for the two weights with query x, one for the two with query y."""
        P = np.stack([_diagonal(self.xx, self.yx, d), _diagonal(self.xy, self.yy, d)])
        Q = np.stack([_diagonal(1, 0, d), _diagonal(0, 1, d)])
        return Layer(P, Q.astype(P.dtype))

    @property
    def determinant(self) -> float:
        """The determinant xx yy - xy yx, which is zero if and only if a single head can have these weights."""
        return self.xx * self.yy - self.xy * self.yx


@dataclass(frozen=True)
class SingleHead:
    """One diagonal head, P = diag(p_x I, p_y) and Q = diag(q_x I, q_y): its four weights obey xx yy = xy yx.

    Parameters
    ----------
    p_x, p_y, q_x, q_y
        Diagonal entries of P and Q; finite.

    Examples
    --------
    >>> SingleHead(1.0, 2.0, 3.0, 4.0).layer(1).P.tolist()
    [[[1.0, 0.0], [0.0, 2.0]]]
    """

    p_x: float
    p_y: float
    q_x: float
    q_y: float

    @classmethod
    def of(cls, weights: Diagonal) -> SingleHead:
        r"""One head with these four weights: [[xx, xy], [yx, yy]] = (p_x, p_y) (q_x, q_y)^T, read off the largest.

        Raises
        ------
        InvalidInput
            If xx yy differs from xy yx by more than the rounding of the two products.

        >>> SingleHead.of(Diagonal(0.0, 0.0, 0.0, 3.0))
        SingleHead(p_x=0.0, p_y=3.0, q_x=0.0, q_y=1.0)
        """
        rows = ((weights.xx, weights.xy), (weights.yx, weights.yy))
        allowed = EPS * (abs(weights.xx * weights.yy) + abs(weights.xy * weights.yx))
        if not abs(weights.determinant) <= allowed:
            raise InvalidInput(
                f"xx yy - xy yx = {weights.determinant:g}: one diagonal head reaches 0 only; Diagonal has two heads."
            )
        i, j = max(((i, j) for i in (0, 1) for j in (0, 1)), key=lambda entry: abs(rows[entry[0]][entry[1]]))
        largest = rows[i][j]
        q_x, q_y = (entry / largest for entry in rows[i]) if largest else (0.0, 0.0)
        return cls(rows[0][j], rows[1][j], q_x, q_y)

    @property
    def weights(self) -> Diagonal:
        """The four numbers of a diagonal layer, w_ab = p_a q_b, for which w_xx w_yy = w_xy w_yx."""
        return Diagonal(self.p_x * self.q_x, self.p_x * self.q_y, self.p_y * self.q_x, self.p_y * self.q_y)

    def layer(self, d: int) -> Layer:
        """The head as matrices P and Q of one head, (1, d + 1, d + 1)."""
        return Layer(_diagonal(self.p_x, self.p_y, d)[None], _diagonal(self.q_x, self.q_y, d)[None])


@dataclass(frozen=True)
class GDPlusPlus:
    """GD++: only xx and yx, so that the prediction stays linear in the labels.

    Parameters
    ----------
    xx, yx
        The two weights; finite.

    Examples
    --------
    >>> GDPlusPlus(xx=0.0, yx=-0.1).layer(3).heads
    1
    """

    xx: float
    yx: float

    def layer(self, d: int) -> Layer:
        """One head with q_y = 0."""
        return SingleHead(self.xx, self.yx, 1.0, 0.0).layer(d)


def _diagonal(x: Any, y: Any, d: int) -> Array:
    """diag(x, ..., x, y) with d entries x."""
    return np.diag([x] * whole("d", d, least=1) + [y])
