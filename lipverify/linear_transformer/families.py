"""Families of models as vectors of weights, in units in which the tokens of a context have moments of order 1.

With D = diag(1/sqrt(n), ..., 1/sqrt(n (d + E sigma^2))) the rescaled tokens D e have moments G~ = D G D, and P G Q
moves them as P~ G~ Q~ with P~ = D P D^{-1}, Q~ = D^{-1} Q D^{-1}. In these units all weights are of one order; in the
units of the data the curvatures differ by the fourth power of the labels' size, and descents do not converge.

Source of the families: Vladymyrov, von Oswald, Sandler, Ge, NeurIPS 2024, section 6 (DIAG and FULL have one head).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lipverify.foundation.arrays import Array, Floats, to_device
from lipverify.foundation.validation import chosen
from lipverify.linear_transformer.collapsed import Attention, Entrywise, Heads
from lipverify.linear_transformer.layer import Diagonal, Layer, Parametrisation, SingleHead
from lipverify.linear_transformer.regression.contexts import require_regression
from lipverify.problem.prompts import Prompts

__all__ = ["NAMES", "Diag", "Family", "Full", "LowRank", "Omega", "Safe", "SafeFull", "family_named"]

NAMES = ("DIAG", "SAFE", "OMEGA", "LOWRANK", "FULL", "SAFEFULL")
START = 0.2
"""Standard deviation of the weights of random layers, in rescaled units."""


@dataclass(frozen=True)
class Family(ABC):
    """Models of one form for one problem; a model is an array (layers, *shape) in rescaled units.

    The training sample has contexts as rare as one in 10^rare. If `bounded`, the loss of a context is capped, else it
    grows as a logarithm beyond the cap.
    """

    regression: Prompts
    rare: ClassVar[int] = 0
    bounded: ClassVar[bool] = True

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of the weights of one layer."""

    @property
    @abstractmethod
    def units(self) -> Floats:
        """The numbers of a layer over its weights in rescaled units."""

    def numbers(self, weights: Floats) -> Floats:
        """The layers in units of the data: four numbers each, (layers, 4), or P and Q, (layers, 2, d + 1, d + 1)."""
        return weights * self.units

    def pull_numbers(self, weights: Floats, gradient: Floats) -> Floats:
        """The gradient in the weights from that in the numbers."""
        return gradient * self.units

    def model(self, weights: Floats) -> tuple[Parametrisation, ...]:
        """The layers, in the units of the data."""
        return model_of(self.numbers(weights))

    def attentions(self, weights: Floats, like: Array) -> tuple[Attention, ...]:
        """The layers as functions of moments, in the library and on the device of `like`."""
        return attentions_of(self.numbers(weights), like)

    def pull(self, weights: Floats, gradients: Sequence[Floats]) -> Floats:
        """The gradient in the weights from the gradients in the parameters of `attentions`."""
        return self.pull_numbers(weights, in_numbers(gradients))

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
        return (4,)

    @property
    def units(self) -> Floats:
        """The factors of the weights: 1/n, or 1/(n (d + E sigma^2)) for the weights with query y."""
        x, y = self.scale
        return np.asarray([x**-2, y**-2, x**-2, y**-2])

    def of_diag(self, weights: Floats) -> Floats:
        return Diag(self.regression).numbers(weights) / self.units


@dataclass(frozen=True)
class Diag(Omega):
    """One diagonal head: (p_x, p_y, q_x, q_y), with xx = p_x q_x, xy = p_x q_y, yx = p_y q_x, yy = p_y q_y."""

    def numbers(self, weights: Floats) -> Floats:
        return products(weights) * self.units

    def pull_numbers(self, weights: Floats, gradient: Floats) -> Floats:
        return pull_products(weights, gradient * self.units)

    def model(self, weights: Floats) -> tuple[Parametrisation, ...]:
        x, y = self.scale
        return tuple(SingleHead(*map(float, layer)) for layer in weights * np.asarray([1, 1, x**-2, y**-2]))

    def of_diag(self, weights: Floats) -> Floats:
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

    rare = 12  # the trained weights are then safe down to one in 10^9


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

    def column(self, layer: Floats) -> Floats:
        """The column P_xy of a layer, (d,): the multiple of the label that the layer adds to the covariates."""
        return np.asarray(layer[0, :-1, -1])

    def with_column(self, layer: Floats, column: Floats) -> Floats:
        """The layer with this vector, (d,), added to its column P_xy."""
        stored = layer.copy()
        stored[0, :-1, -1] += column
        return stored

    def of_diag(self, weights: Floats) -> Floats:
        d = self.regression.d
        return np.stack([[np.diag([p_x] * d + [p_y]), np.diag([q_x] * d + [q_y])] for p_x, p_y, q_x, q_y in weights])


@dataclass(frozen=True)
class SafeFull(Full):
    """The form of `Full`, trained further on contexts of every decade of rareness where its loss explodes."""

    rare = 8  # free matrices explode in pockets of contexts, most of which are less rare than that
    bounded = False  # the descent may start at an arbitrarily large loss, where a bounded one has no slope


@dataclass(frozen=True)
class LowRank(Full):
    """One head whose P and Q are diagonal plus rank one: diag(a) + b c^T each."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(2, 3, d + 1): the vectors a, b and c of P and of Q."""
        return (2, 3, self.regression.d + 1)

    def written(self, weights: Floats) -> Floats:
        a, b, c = np.moveaxis(weights, 2, 0)
        return a[..., :, None] * np.eye(a.shape[-1]) + b[..., :, None] * c[..., None, :]

    def numbers(self, weights: Floats) -> Floats:
        return super().numbers(self.written(weights))

    def pull_numbers(self, weights: Floats, gradient: Floats) -> Floats:
        full = super().pull_numbers(weights, gradient)
        _, b, c = np.moveaxis(weights, 2, 0)
        of_a = np.diagonal(full, axis1=-2, axis2=-1)
        return np.stack([of_a, np.einsum("...ij,...j->...i", full, c), np.einsum("...ij,...i->...j", full, b)], axis=2)

    def at_random(self, normals: Floats, size: float = START) -> Floats:
        """The square root of the size for b and c, because their product has the size of a."""
        return normals * np.asarray([size, math.sqrt(size), math.sqrt(size)])[:, None]

    def of_diag(self, weights: Floats) -> Floats:
        a = np.diagonal(super().of_diag(weights), axis1=-2, axis2=-1)
        return np.stack([a, np.zeros_like(a), np.zeros_like(a)], axis=2)

    def of_full(self, weights: Floats) -> Floats:
        """A model near one of `Full`, by turns: the diagonal a, and the best rank-one part of the rest."""
        diagonal = np.eye(weights.shape[-1], dtype=bool)
        low = np.zeros_like(weights)
        for _ in range(200):  # then it has converged
            left, size, right = np.linalg.svd(weights - np.where(diagonal, weights - low, 0.0))
            root = np.sqrt(size[..., :1])
            b, c = left[..., :, 0] * root, right[..., 0, :] * root
            low = b[..., :, None] * c[..., None, :]
        return np.stack([np.diagonal(weights - low, axis1=-2, axis2=-1), b, c], axis=2)

    def column(self, layer: Floats) -> Floats:
        return np.asarray(layer[0, 1, :-1] * layer[0, 2, -1])

    def with_column(self, layer: Floats, column: Floats) -> Floats:
        """The layer with the rank-one part of P replaced by the column P_xy."""
        stored = layer.copy()
        stored[0, 1:] = [[*column, 0.0], [*np.zeros_like(column), 1.0]]
        return stored


def family_named(name: str, regression: Prompts) -> Omega | Full:
    """The family with one of the names in `NAMES`."""
    require_regression(regression)
    families: tuple[type[Omega] | type[Full], ...] = (Diag, Safe, Omega, LowRank, Full, SafeFull)
    return families[NAMES.index(chosen("family", name, NAMES))](regression)


def products(weights: Floats) -> Floats:
    """The four products of (p_x, p_y) and (q_x, q_y) of each layer, (layers, 4)."""
    return (weights[:, :2, None] * weights[:, None, 2:]).reshape(-1, 4)


def pull_products(weights: Floats, gradient: Floats) -> Floats:
    """The gradient in the weights from that in their products."""
    p, q, outer = weights[:, :2], weights[:, 2:], gradient.reshape(-1, 2, 2)
    return np.concatenate([(outer @ q[:, :, None])[..., 0], (p[:, None, :] @ outer)[:, 0, :]], axis=1)


def model_of(numbers: Floats) -> tuple[Parametrisation, ...]:
    """Layers by their numbers, as `Family.numbers` gives them."""
    if numbers.ndim == 2:
        return tuple(Diagonal(*map(float, four)) for four in numbers)
    return tuple(Layer(P[None], Q[None]) for P, Q in numbers)


def attentions_of(numbers: Floats, like: Array) -> tuple[Attention, ...]:
    """The same as functions of moments, in the library and on the device of `like`."""
    xp = like.__array_namespace__()
    if numbers.ndim == 2:
        blocks = (in_blocks(four, like.shape[-1] - 1) for four in numbers)
        return tuple(Entrywise(to_device(factors, xp, like.device)) for factors in blocks)
    heads = ([to_device(part[None].copy(), xp, like.device) for part in pair] for pair in numbers)
    return tuple(Heads(Layer(P, Q)) for P, Q in heads)


def in_numbers(gradients: Sequence[Floats]) -> Floats:
    """The gradient in the numbers from the gradients in the parameters of `attentions_of`."""
    return np.stack([block_sums(part) if part.ndim == 2 else part[:, 0] for part in gradients])


def in_blocks(four: Floats, d: int) -> Floats:
    """(xx, xy, yx, yy) on the blocks of a matrix (d + 1, d + 1)."""
    factors = np.full((d + 1, d + 1), four[0])
    factors[:-1, -1], factors[-1, :-1], factors[-1, -1] = four[1:]
    return factors


def block_sums(matrix: Floats) -> Floats:
    """The sums over the four blocks of (d + 1) x (d + 1): the adjoint of `in_blocks`."""
    return np.asarray([matrix[:-1, :-1].sum(), matrix[:-1, -1].sum(), matrix[-1, :-1].sum(), matrix[-1, -1]])
