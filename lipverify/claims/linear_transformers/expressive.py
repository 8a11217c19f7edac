"""Measurements on how well linear readouts and linear transformers align with a quadratic target."""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.typing import NDArray

from lipverify.claims.linear_transformers.means import mean_with_half_width
from lipverify.linear_transformer.collapsed import readout
from lipverify.linear_transformer.layer import Layer
from lipverify.linear_transformer.theory.expressive import (
    expected_alignment,
    largest_sign_averaged_square,
    mean_square_cosine,
    projected_square,
    sign_averaged_square,
    signed_cosine,
)
from lipverify.loss.streams import normals
from lipverify.scaling import Growth, growth_of

Floats = NDArray[np.float64]

BATCH = 2**20
"""Sampled numbers that are held at a time."""
FIXED_N = 1e30


class Alignment(msgspec.Struct, frozen=True, kw_only=True):
    """Means over sampled contexts and random weights, each times n, with the half-widths of their 95 % intervals.

    Attributes
    ----------
    square
        n cos^2 of the labels after the last layer and x(1)^2.
    averaged
        The same averaged over the signs of tokens in closed form: the same mean with less variance.
    signed
        The cosine with its sign, times sqrt(n).
    best
        n cos^2 of the best v for each context.
    ceiling
        The largest `averaged` over all v, for each context.
    """

    square: tuple[float, float]
    averaged: tuple[float, float]
    signed: tuple[float, float]
    best: tuple[float, float]
    ceiling: tuple[float, float]


def growth_in_length(d: int, points: int) -> Growth:
    """The root mean square of the best cosine against n, from 100 d to 1e30."""
    ladder = [float(round(n)) for n in np.geomspace(100 * d, FIXED_N, points)]
    found = [mean_square_cosine(d, n) for n in ladder]
    return growth_of(ladder, [math.sqrt(each.value) for each in found], [each.error / each.value / 2 for each in found])


def growth_in_dimension(points: int) -> Growth:
    """The root mean square of the best cosine against d, from 1 to 1e20 at n = 1e30."""
    ladder = [round(d) for d in np.geomspace(1, 1e20, points)]
    found = [mean_square_cosine(d, FIXED_N) for d in ladder]
    return growth_of(
        [float(d) for d in ladder],
        [math.sqrt(each.value) for each in found],
        [each.error / each.value / 2 for each in found],
    )


def attained_growth(points: int) -> Growth:
    """The root mean square cosine of y itself when w = e_1, against n: no layer is needed, and d does not enter."""
    ladder = [float(round(n)) for n in np.geomspace(100, FIXED_N, points)]
    found = [expected_alignment(n) for n in ladder]
    return growth_of(ladder, [math.sqrt(each.value) for each in found], [each.error / each.value / 2 for each in found])


def exact_best(d: int, n: int) -> tuple[float, float]:
    """(n E cos^2 of the best v, its error)."""
    found = mean_square_cosine(d, n)
    return n * found.value, n * found.error


def first_length_below(d: int, cosine: float) -> int:
    """The least n from which the root mean square of the best cosine is at most `cosine`."""
    low, high = d, 2 * d
    while mean_square_cosine(d, high).value > cosine**2:
        low, high = high, 2 * high
    while high > low + 1:
        middle = (low + high) // 2
        low, high = (low, middle) if mean_square_cosine(d, middle).value <= cosine**2 else (middle, high)
    return high


def transformer_alignment(
    d: int, n: int, layers: int, heads: int, aligned: bool, contexts: int, seed: int
) -> Alignment:
    """Alignment of linear transformers with random full matrices, fresh for each context.

    The labels have w = e_1 if `aligned`, else w ~ N(0, I).

    Entries of P and Q have standard deviation (heads n d)^{-1/4} n^{-1/4}, so that a layer moves tokens by about their
    own size.
    """
    address = f"expressive/{d}/{n}/{layers}/{heads}/{aligned}"
    rows = [
        _aligned_batch(d, n, layers, heads, aligned, size, seed, f"{address}/{chunk}")
        for chunk, size in enumerate(_batches(contexts, n * d))
    ]
    columns = np.concatenate(rows, axis=1) * np.asarray([n, n, math.sqrt(n), n, n])[:, None]
    return Alignment(**dict(zip(Alignment.__struct_fields__, map(mean_with_half_width, columns), strict=True)))


def odd_target(d: int, n: int, contexts: int, seed: int) -> tuple[float, float]:
    """(mean cos^2 of the best v with the target x(1)^3, half-width of its 95 % interval)."""
    squares = []
    for chunk, size in enumerate(_batches(contexts, n * d)):
        X = normals(seed, f"expressive/odd/{d}/{n}", chunk, (size, n, d))
        squares.append(projected_square(X, X[..., 0] ** 3))
    return mean_with_half_width(np.concatenate(squares))


def odd_target_limit() -> tuple[float, float]:
    """(lim cos^2 with the target x(1)^3, rounding): (E g^4)^2 / (E g^2 E g^6) = 9 / 15."""
    return 9 / 15, float(np.finfo(float).eps)


def constant_coordinate(d: int, n: int, seed: int) -> float:
    """The cosine of y and x(1)^2 before any layer, for w = e_1 and tokens with x(1) = 1 that are otherwise normal."""
    X = normals(seed, f"expressive/constant/{d}/{n}", 0, (n, d))
    X[:, 0] = 1.0
    return float(signed_cosine(X[:, 0], X[:, 0] ** 2))


def quadratic_network(d: int, n: int, seed: int) -> float:
    """The cosine of y^2 and x(1)^2 for w = e_1: one network y -> y^2 on each token, and no attention."""
    X = normals(seed, f"expressive/network/{d}/{n}", 0, (n, d))
    return float(signed_cosine((X @ np.eye(d)[0]) ** 2, X[:, 0] ** 2))


def _aligned_batch(
    d: int, n: int, layers: int, heads: int, aligned: bool, size: int, seed: int, address: str
) -> Floats:
    """The five quantities for each context of a batch, (5, size)."""
    X = normals(seed, address, 0, (size, n, d))
    w = np.broadcast_to(np.eye(d)[0], (size, d)) if aligned else normals(seed, address, 1, (size, d))
    y, target = (X @ w[..., None])[..., 0], X[..., 0] ** 2
    tokens = np.concatenate([X, y[..., None]], axis=-1)
    moments = tokens.swapaxes(1, 2) @ tokens
    scale = (heads * n * d) ** -0.25 * n**-0.25
    drawn = scale * normals(seed, address, 2, (2, layers, size, heads, d + 1, d + 1))
    labels = np.empty_like(y)
    for k in range(size):
        w_last, a_last = readout(moments[k], [Layer(drawn[0, depth, k], drawn[1, depth, k]) for depth in range(layers)])
        labels[k] = a_last * y[k] - X[k] @ w_last
    return np.stack(
        [
            signed_cosine(labels, target) ** 2,
            sign_averaged_square(labels, target),
            signed_cosine(labels, target),
            projected_square(X, target),
            largest_sign_averaged_square(X, target),
        ]
    )


def _batches(contexts: int, numbers: int) -> list[int]:
    """Sizes of batches that hold at most `BATCH` numbers."""
    size = max(1, BATCH // numbers)
    return [min(size, contexts - begun) for begun in range(0, contexts, size)]
