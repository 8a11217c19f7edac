r"""Sampled cosines of labels with the target x(1)^2: those that linear transformers make, and the best linear ones.

Beside the square of the cosine stands its average over the signs of the tokens, in closed form (`expressive`): the same
mean with less variance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.samples import mean_with_half_width
from lipverify.foundation.noted import makes
from lipverify.foundation.streams import normals
from lipverify.linear_transformer.collapsed import readout
from lipverify.linear_transformer.layer import Layer
from lipverify.linear_transformer.theory.expressive import (
    largest_sign_averaged_square,
    projected_square,
    sign_averaged_square,
    signed_cosine,
)

BATCH = 2**20
"""Sampled numbers that are held at a time."""
Sampled = tuple[float, float]
"""A mean and the half-width of its 95 % interval."""


class Alignment(NamedTuple):
    """Means over contexts and weights: n cos^2, the same averaged over signs, sqrt(n) cos, the largest over all v."""

    square: Sampled
    averaged: Sampled
    signed: Sampled
    ceiling: Sampled


@makes("sampled", "montecarlo")
def transformer_alignment(
    d: int, n: int, layers: int, heads: int, aligned: bool, contexts: int, seed: int
) -> Alignment:
    """Alignment of linear transformers with random full matrices, fresh for each context.

    Entries of P and Q have standard deviation (heads n d)^{-1/4} n^{-1/4}, so that a layer moves tokens by about their
    own size.

    Parameters
    ----------
    d, n, layers, heads
        Sizes of the context and of the transformer; no layer leaves the labels as they are.
    aligned
        Whether the labels have w = e_1, else w ~ N(0, I).
    contexts, seed
        How many contexts, and the seed of their streams.

    >>> found = transformer_alignment(2, 50, 1, 1, True, 200, seed=0)
    >>> abs(found.square[0] - found.averaged[0]) < found.square[1] + found.averaged[1]
    True
    """
    address = f"expressive/{d}/{n}/{layers}/{heads}/{aligned}"
    rows = [
        _batch(d, n, layers, heads, aligned, size, seed, f"{address}/{chunk}")
        for chunk, size in _batches(contexts, n * d)
    ]
    columns = np.concatenate(rows, axis=1) * np.asarray([n, n, math.sqrt(n), n])[:, None]
    return Alignment(*map(mean_with_half_width, columns))


@makes("sampled", "montecarlo")
def best_alignment(d: int, n: int, power: int, contexts: int, seed: int) -> Sampled:
    """E cos^2 of the best linear readout of each context and the target x(1)^power.

    >>> best_alignment(3, 100, 3, 50, seed=0)[0] > 0.5  # for an odd target the cosine tends to a constant
    True
    """
    squares = []
    for chunk, size in _batches(contexts, n * d):
        X = normals(seed, f"expressive/best/{d}/{n}", chunk, (size, n, d))
        squares.append(projected_square(X, X[..., 0] ** power))
    return mean_with_half_width(np.concatenate(squares))


def _batch(d: int, n: int, layers: int, heads: int, aligned: bool, size: int, seed: int, address: str) -> Floats:
    """The four quantities for each context of a batch, (4, size)."""
    X = normals(seed, address, 0, (size, n, d))
    w = np.broadcast_to(np.eye(d)[0], (size, d)) if aligned else normals(seed, address, 1, (size, d))
    y, target = (X @ w[..., None])[..., 0], X[..., 0] ** 2
    tokens = np.concatenate([X, y[..., None]], axis=-1)
    moments = tokens.swapaxes(1, 2) @ tokens
    P, Q = (heads * n * d) ** -0.25 * n**-0.25 * normals(seed, address, 2, (2, layers, size, heads, d + 1, d + 1))
    labels = np.empty_like(y)
    for k in range(size):
        last = readout(moments[k], [Layer(P[depth, k], Q[depth, k]) for depth in range(layers)])
        labels[k] = last.a * y[k] - X[k] @ last.w
    signed, averaged = signed_cosine(labels, target), sign_averaged_square(labels, target)
    return np.stack([signed**2, averaged, signed, largest_sign_averaged_square(X, target)])


def _batches(contexts: int, numbers: int) -> Iterator[tuple[int, int]]:
    """Numbers and sizes of batches that hold at most `BATCH` sampled numbers."""
    size = max(1, BATCH // numbers)
    return enumerate(min(size, contexts - begun) for begun in range(0, contexts, size))
