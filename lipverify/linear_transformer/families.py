r"""Families of models as vectors of weights, in units in which the tokens of a context have moments of order 1.

With D = diag(1/sqrt(n), ..., 1/sqrt(n (d + E sigma^2))) the rescaled tokens D e have moments G~ = D G D, and P G Q
moves them as P~ G~ Q~ with P~ = D P D^{-1}, Q~ = D^{-1} Q D^{-1}. In these units all weights are of one order, so that
a descent on free matrices converges; in the units of the data the curvatures differ by the fourth power of the labels'
size.

Source of the families: Vladymyrov, von Oswald, Sandler, Ge, NeurIPS 2024, section 6 (DIAG and FULL have one head).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lipverify.foundation.arrays import Array, Floats, to_device
from lipverify.foundation.validation import chosen
from lipverify.linear_transformer.attention import Attention, Entrywise, Heads
from lipverify.linear_transformer.layer import Diagonal, Layer, Parametrisation, SingleHead
from lipverify.linear_transformer.regression.contexts import Regression

__all__ = ["NAMES", "Diag", "Family", "Full", "LowRank", "Omega", "Safe", "SafeFull", "family_named"]

NAMES = ("DIAG", "SAFE", "OMEGA", "LOWRANK", "FULL", "SAFEFULL")
START = 0.2
"""Standard deviation of the weights of random layers, in rescaled units."""

TURNS = 200
"""Iterations that alternate between the diagonal and the rank-one part of an approximation; then it has converged."""


@dataclass(frozen=True)
class Family(ABC):
    """Models of one form for one problem; a model is an array (layers, *shape) in rescaled units."""

    regression: Regression

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of the weights of one layer."""

    @abstractmethod
    def model(self, weights: Floats) -> tuple[Parametrisation, ...]:
        """The layers, in the units of the data."""

    @abstractmethod
    def attentions(self, weights: Floats, like: Array) -> tuple[Attention, ...]:
        """The layers as functions of moments, in the library and on the device of `like`."""

    @abstractmethod
    def pull(self, weights: Floats, gradients: Sequence[Floats]) -> Floats:
        """The gradient in the weights from the gradients in the parameters of `attentions`."""

    @property
    def rare(self) -> int:
        """The training sample includes contexts as rare as one in 10^rare; 0 for a plain sample."""
        return 0

    @property
    def bounded(self) -> bool:
        """True if training caps the loss of a context; False if the loss grows as a logarithm beyond the cap."""
        return True

    def at_random(self, normals: Floats, size: float = START) -> Floats:
        """Weights, (layers, *shape), from standard normals, such that P Q or the four weights have about this size."""
        return size * normals

    @property
    def scale(self) -> tuple[float, float]:
        """Root mean square of a coordinate of x and of y, both times sqrt(n)."""
        d, n = self.regression.d, self.regression.n
        return math.sqrt(n), math.sqrt(n * (d + self.regression.noise.second_moment))


@dataclass(frozen=True)
class Omega(Family):
    """The four weights (xx, xy, yx, yy) of a layer, all free: two diagonal heads."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the weights of a layer, (4,)."""
        return (4,)

    @property
    def units(self) -> Floats:
        """The factors of the weights: 1/n, or 1/(n (d + E sigma^2)) for the weights with query y."""
        x, y = self.scale
        return np.asarray([x**-2, y**-2, x**-2, y**-2])

    def four(self, weights: Floats) -> Floats:
        """The weights in the units of the data, (layers, 4)."""
        return weights * self.units

    def numbers(self, weights: Floats) -> Floats:
        """The parameters of the compiled code: the four numbers of each layer."""
        return self.four(weights)

    def model(self, weights: Floats) -> tuple[Parametrisation, ...]:
        """Two diagonal heads a layer."""
        return tuple(Diagonal(*map(float, layer)) for layer in self.four(weights))

    def attentions(self, weights: Floats, like: Array) -> tuple[Attention, ...]:
        """Entrywise factors, constant on the four blocks."""
        xp = like.__array_namespace__()
        return tuple(
            Entrywise(to_device(in_blocks(four, self.regression.d), xp, like.device)) for four in self.four(weights)
        )

    def pull(self, weights: Floats, gradients: Sequence[Floats]) -> Floats:
        """The chain rule: the gradient in the four numbers of a layer is the sum over each block."""
        return self.pull_four(weights, np.stack([block_sums(gradient) for gradient in gradients]))

    def pull_four(self, weights: Floats, gradient: Floats) -> Floats:
        """The gradient in the weights from that in the four numbers of each layer."""
        return gradient * self.units

    def of_diag(self, weights: Floats) -> Floats:
        """The model of `Diag` in this form: its four products."""
        return Diag(self.regression).four(weights) / self.units


@dataclass(frozen=True)
class Diag(Omega):
    """One diagonal head: (p_x, p_y, q_x, q_y), with xx = p_x q_x, xy = p_x q_y, yx = p_y q_x, yy = p_y q_y."""

    def four(self, weights: Floats) -> Floats:
        """The four products, in the units of the data."""
        p, q = weights[:, :2], weights[:, 2:]
        return (p[:, :, None] * q[:, None, :]).reshape(-1, 4) * self.units

    def pull_four(self, weights: Floats, gradient: Floats) -> Floats:
        """The product rule."""
        p, q = weights[:, :2], weights[:, 2:]
        outer = (gradient * self.units).reshape(-1, 2, 2)
        return np.concatenate([(outer @ q[:, :, None])[..., 0], (p[:, None, :] @ outer)[:, 0, :]], axis=1)

    def model(self, weights: Floats) -> tuple[Parametrisation, ...]:
        """One diagonal head a layer."""
        x, y = self.scale
        return tuple(SingleHead(*map(float, layer)) for layer in weights * np.asarray([1, 1, x**-2, y**-2]))

    def of_diag(self, weights: Floats) -> Floats:
        """The weights themselves."""
        return weights

    def of_four(self, four: Floats) -> Floats:
        """Weights of one head with |p| = |q|, for four numbers (layers, 4) of rank one in the units of the data."""
        matrices = (four / self.units).reshape(-1, 2, 2)
        left, size, right = np.linalg.svd(matrices)
        root = np.sqrt(size[:, :1])
        return np.concatenate([left[:, :, 0] * root, right[:, 0, :] * root], axis=1)

    def at_random(self, normals: Floats, size: float = START) -> Floats:
        """The square root of the size for p and q, because each of the four weights is a product of the two."""
        return math.sqrt(size) * normals


@dataclass(frozen=True)
class Safe(Diag):
    """The form of `Diag`, trained on contexts of every decade of rareness, so that it explodes on none of them."""

    @property
    def rare(self) -> int:
        """One in 10^12: the trained weights are then safe down to one in 10^9."""
        return 12


@dataclass(frozen=True)
class Full(Family):
    """One head with free P and Q: (2, d + 1, d + 1) a layer."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(2, d + 1, d + 1): P and Q."""
        size = self.regression.d + 1
        return (2, size, size)

    @property
    def units(self) -> Floats:
        """P = D^{-1} P~ D and Q = D Q~ D entry by entry, (2, d + 1, d + 1)."""
        x, y = self.scale
        D = np.asarray([1 / x] * self.regression.d + [1 / y])
        return np.stack([D[None, :] / D[:, None], D[:, None] * D[None, :]])

    def matrices(self, weights: Floats) -> Floats:
        """P and Q in the units of the data, (layers, 2, d + 1, d + 1)."""
        return weights * self.units

    def numbers(self, weights: Floats) -> Floats:
        """The parameters of the compiled code: P and Q of each layer."""
        return self.matrices(weights)

    def model(self, weights: Floats) -> tuple[Parametrisation, ...]:
        """One head a layer."""
        return tuple(Layer(P[None], Q[None]) for P, Q in self.matrices(weights))

    def attentions(self, weights: Floats, like: Array) -> tuple[Attention, ...]:
        """One head a layer."""
        xp = like.__array_namespace__()
        heads = [
            Layer(*(to_device(part[None].copy(), xp, like.device) for part in pair)) for pair in self.matrices(weights)
        ]
        return tuple(Heads(layer) for layer in heads)

    def pull(self, weights: Floats, gradients: Sequence[Floats]) -> Floats:
        """The gradients in P and Q, times the units."""
        return self.pull_matrices(weights, np.stack([gradient[:, 0] for gradient in gradients]))

    def pull_matrices(self, weights: Floats, gradient: Floats) -> Floats:
        """The gradient in the weights from that in P and Q, (layers, 2, d + 1, d + 1)."""
        return gradient * self.units

    def column(self, layer: Floats) -> Floats:
        """The column P_xy of a layer, (d,): the multiple of the label that the layer adds to the covariates."""
        entries: Floats = layer[0, :-1, -1]
        return entries

    def with_column(self, layer: Floats, column: Floats) -> Floats:
        """The layer with this vector, (d,), added to its column P_xy."""
        stored = layer.copy()
        stored[0, :-1, -1] += column
        return stored

    def of_diag(self, weights: Floats) -> Floats:
        """The model of `Diag` in this form."""
        d = self.regression.d
        return np.stack([[np.diag([p_x] * d + [p_y]), np.diag([q_x] * d + [q_y])] for p_x, p_y, q_x, q_y in weights])


@dataclass(frozen=True)
class SafeFull(Full):
    """The form of `Full`, trained further on contexts of every decade of rareness where its loss explodes."""

    @property
    def rare(self) -> int:
        """One in 10^8: free matrices explode in pockets of contexts, most of which are less rare than that."""
        return 8

    @property
    def bounded(self) -> bool:
        """False: the descent may start at weights with an arbitrarily large loss, where a bounded loss has no slope."""
        return False


@dataclass(frozen=True)
class LowRank(Full):
    """One head whose P and Q are diagonal plus rank one: diag(a) + b c^T each."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(2, 3, d + 1): the vectors a, b and c of P and of Q."""
        return (2, 3, self.regression.d + 1)

    def written(self, weights: Floats) -> Floats:
        """P and Q as matrices in rescaled units, (layers, 2, d + 1, d + 1)."""
        a, b, c = np.moveaxis(weights, 2, 0)
        return a[..., :, None] * np.eye(a.shape[-1]) + b[..., :, None] * c[..., None, :]

    def matrices(self, weights: Floats) -> Floats:
        """P and Q in the units of the data, (layers, 2, d + 1, d + 1)."""
        return super().matrices(self.written(weights))

    def pull_matrices(self, weights: Floats, gradient: Floats) -> Floats:
        """The product rule."""
        full = super().pull_matrices(weights, gradient)
        _, b, c = np.moveaxis(weights, 2, 0)
        of_a = np.diagonal(full, axis1=-2, axis2=-1)
        return np.stack([of_a, np.einsum("...ij,...j->...i", full, c), np.einsum("...ij,...i->...j", full, b)], axis=2)

    def at_random(self, normals: Floats, size: float = START) -> Floats:
        """The square root of the size for b and c, because their product has the size of a."""
        return normals * np.asarray([size, math.sqrt(size), math.sqrt(size)])[:, None]

    def of_diag(self, weights: Floats) -> Floats:
        """The model of `Diag` in this form, with a rank-one part of zero."""
        a = np.diagonal(super().of_diag(weights), axis1=-2, axis2=-1)
        return np.stack([a, np.zeros_like(a), np.zeros_like(a)], axis=2)

    def of_full(self, weights: Floats) -> Floats:
        """Approximate a model of `Full`, alternating between the diagonal a and the best rank-one part of the rest."""
        diagonal = np.eye(weights.shape[-1], dtype=bool)
        low = np.zeros_like(weights)
        for _ in range(TURNS):
            left, size, right = np.linalg.svd(weights - np.where(diagonal, weights - low, 0.0))
            root = np.sqrt(size[..., :1])
            b, c = left[..., :, 0] * root, right[..., 0, :] * root
            low = b[..., :, None] * c[..., None, :]
        return np.stack([np.diagonal(weights - low, axis1=-2, axis2=-1), b, c], axis=2)

    def column(self, layer: Floats) -> Floats:
        """The column P_xy of the rank-one part of P."""
        entries: Floats = layer[0, 1, :-1] * layer[0, 2, -1]
        return entries

    def with_column(self, layer: Floats, column: Floats) -> Floats:
        """The layer with the rank-one part of P replaced by the column P_xy."""
        stored = layer.copy()
        stored[0, 1:] = [[*column, 0.0], [*np.zeros_like(column), 1.0]]
        return stored


def family_named(name: str, regression: Regression) -> Omega | Full:
    """The family with one of the names in `NAMES`.

    Raises
    ------
    InvalidInput
        If there is no such family.
    """
    families: tuple[type[Omega] | type[Full], ...] = (Diag, Safe, Omega, LowRank, Full, SafeFull)
    return families[NAMES.index(chosen("family", name, NAMES))](regression)


def in_blocks(four: Floats, d: int) -> Floats:
    """(xx, xy, yx, yy) on the blocks of a matrix (d + 1, d + 1)."""
    factors = np.full((d + 1, d + 1), four[0])
    factors[:-1, -1], factors[-1, :-1], factors[-1, -1] = four[1:]
    return factors


def block_sums(matrix: Floats) -> Floats:
    """The sums over the four blocks of (d + 1) x (d + 1): the adjoint of `in_blocks`."""
    return np.asarray([matrix[:-1, :-1].sum(), matrix[:-1, -1].sum(), matrix[-1, :-1].sum(), matrix[-1, -1]])
