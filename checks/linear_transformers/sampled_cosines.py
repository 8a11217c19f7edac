r"""Sampled cosines of labels with the target x(1)^2: for linear transformers, and for the best linear labels.

The square of the cosine comes with its average over the signs of the tokens, in closed form: the same mean with less
variance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from lipverify.checks.linear_transformers.cosines import both
from lipverify.checks.linear_transformers.independent_tables import share
from lipverify.checks.linear_transformers.quantities import Floats, Value
from lipverify.claims import makes
from lipverify.sampling import generator, mean_with_half_width, normals

BATCH = 2**20
"""Number of sampled numbers in memory at a time."""


def projected_square(X: Any, target: Any) -> Any:
    """cos^2 of the angle between a target (..., n) and the columns of X (..., n, d), by a QR factorisation.

    >>> round(float(projected_square(np.asarray([[1.0], [1.0]]), np.asarray([1.0, 0.0]))), 12)
    0.5
    """
    Q, _ = np.linalg.qr(X)
    inside = np.matrix_transpose(Q) @ target[..., None]
    return np.sum(inside[..., 0] ** 2, axis=-1) / np.sum(target**2, axis=-1)


def signed_cosine(labels: Any, target: Any) -> Any:
    """The cosine of two vectors (..., n), with its sign."""
    along = np.sum(labels * target, axis=-1)
    return along / np.sqrt(np.sum(labels**2, axis=-1) * np.sum(target**2, axis=-1))


def sign_averaged_square(labels: Any, target: Any) -> Any:
    """The mean of cos^2 over independent signs of the labels: sum y_i^2 h_i^2 / (sum y_i^2 sum h_i^2)."""
    squares = np.sum((labels * target) ** 2, axis=-1)
    return squares / (np.sum(labels**2, axis=-1) * np.sum(target**2, axis=-1))


def largest_sign_averaged_square(X: Any, target: Any) -> Any:
    """The largest `sign_averaged_square` over all labels X v: lambda_max(Sigma^{-1} K) / |h|^2.

    Here h is the target and K = sum h_i^2 x_i x_i^T.

    >>> float(largest_sign_averaged_square(np.eye(2), np.asarray([3.0, 4.0])))  # all the weight on the second token
    0.64
    """
    weighted, transposed = target[..., None] ** 2 * X, np.matrix_transpose(X)
    # Sigma = C C^T: the eigenvalues of Sigma^{-1} K are those of the symmetric C^{-1} K C^{-T}
    C = np.linalg.cholesky(transposed @ X)
    half = np.linalg.solve(C, transposed @ weighted)
    whitened = np.linalg.solve(C, np.matrix_transpose(half))
    largest = np.linalg.eigvalsh((whitened + np.matrix_transpose(whitened)) / 2)[..., -1]
    return largest / np.sum(target**2, axis=-1)


class Alignment(NamedTuple):
    """Means over contexts and weights: n cos^2, the same averaged over signs, sqrt(n) cos, the largest over all v."""

    square: Value
    averaged: Value
    signed: Value
    ceiling: Value


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
        Sizes of the context and of the transformer; no layer leaves the labels unchanged.
    aligned
        Whether the labels have w = e_1, else w ~ N(0, I).
    contexts, seed
        The number of contexts, and the seed of their streams.

    >>> found = transformer_alignment(2, 50, 1, 1, True, 4000, seed=0)
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
def best_alignment(d: int, n: int, power: int, contexts: int, seed: int) -> Value:
    """E cos^2 of the best linear readout of each context and the target x(1)^power.

    >>> best_alignment(3, 100, 3, 500, seed=0)[0] > 0.5  # for an odd target the cosine tends to a constant
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
    matrices = (heads * n * d) ** -0.25 * n**-0.25 * normals(seed, address, 2, (2, layers, size, heads, d + 1, d + 1))
    # a token of a context with layers of its own has become T e, and the moments T G T^T
    T = np.broadcast_to(np.eye(d + 1), moments.shape)
    for P, Q in zip(*matrices, strict=True):
        T = T + (P @ (T @ moments @ T.swapaxes(1, 2))[:, None] @ Q).sum(axis=1) @ T
    labels = (tokens @ T[:, -1, :, None])[..., 0]
    signed, averaged = signed_cosine(labels, target), sign_averaged_square(labels, target)
    return np.stack([signed**2, averaged, signed, largest_sign_averaged_square(X, target)])


def _batches(contexts: int, numbers: int) -> Iterator[tuple[int, int]]:
    """Index and size of batches of at most `BATCH` sampled numbers."""
    size = max(1, BATCH // numbers)
    return enumerate(min(size, contexts - begun) for begun in range(0, contexts, size))


def sampled_best(d: int, n: int, contexts: int, seed: int, power: int = 2) -> dict[str, Value]:
    """The best v for each sampled context and the target x(1)^power."""
    return both(n, *best_alignment(d, n, power, contexts, seed))


def above_tenth(d: int, times: int, contexts: int, seed: int) -> Value:
    """The share of contexts of n = times (d + 4) tokens whose best cosine is above 0.1, at 95 % (Clopper and Pearson).

    cos^2 = q + (1 - q) B with q of the first coordinates and an independent B ~ Beta((d - 1)/2, (n - d)/2).
    """
    n, above = times * (d + 4), 0
    random = generator(seed, f"expressive/tenth/{d}/{n}", 0)
    for _ in range(contexts):
        g = random.standard_normal(n)
        square = g * g
        q = (square @ g) ** 2 / (np.sum(square) * (square @ square))
        rest = random.beta((d - 1) / 2, (n - d) / 2) if d > 1 else 0.0
        above += bool(q + (1 - q) * rest > 0.01)
    return share(above, contexts)


def transformer(d: int, n: int, layers: int, heads: int, w: str, contexts: int, seed: int) -> dict[str, Value]:
    """Alignment of random full matrices, fresh for each context; w = e_1 or normal."""
    return transformer_alignment(d, n, layers, heads, w == "e_1", contexts, seed)._asdict()


def one_context(d: int, n: int, seed: int, fixed: str = "no", power: int = 1) -> Value:
    """The cosine of y^power and x(1)^2 for w = e_1, on one context; `fixed` sets x(1) = 1 for every token."""
    x = np.ones(n) if fixed == "x(1) = 1" else normals(seed, f"expressive/network/{d}/{n}", 0, (n, d))[:, 0]
    # each of three sums of n positive terms is off by at most n roundings
    return float(signed_cosine(x**power, x**2)), 2 * n * float(np.finfo(float).eps)


def moment(power: int) -> int:
    """E g^power of a standard normal g."""
    return 0 if power % 2 else math.prod(range(1, power, 2))


def spread_of_norm(of: str, c: str) -> Any:
    """Var |a|^2 / (E |a|^2)^2 - c / n in symbols, for the target a_i = x_i(1)^2 or the labels a_i = <w, x_i>."""
    import sympy

    power = 2 if of == "target" else 1
    n = sympy.Symbol("n", positive=True)
    mean = moment(2 * power)
    return (sympy.Rational(moment(4 * power) - mean**2, mean**2) - sympy.Rational(c)) / n


def mean_square_of_v(power: int) -> Any:
    """E |v|^2 - 3 n (d + 4) in symbols, v = sum x_i(1)^power x_i."""
    import sympy

    n, d = sympy.symbols("n d", positive=True)
    alone = moment(2 * power + 2) + (d - 1) * moment(2 * power)
    across = moment(power + 1) ** 2  # of two tokens, along the first coordinate
    return sympy.expand(n * alone + n * (n - 1) * across - 3 * n * (d + 4))
