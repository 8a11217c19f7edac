"""The four weights (xx, xy, yx, yy) of a diagonal layer as products of the diagonals of its heads."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from lipverify.checks.linear_transformers.layers_in_words import diagonal_step
from lipverify.checks.linear_transformers.polynomials import Symbols, leftover, total
from lipverify.linear_transformer import Diagonal, SingleHead
from lipverify.sampling import generator

SWAPPED = "xy and yx exchanged"


def update(omega: str = "as stated") -> Any:
    """Words that remain of the update after one layer of diagonal heads, for every d, n and number of heads."""
    return diagonal_step(omega == SWAPPED)


def product(heads: int) -> Any:
    """Terms that remain of xx yy - xy yx for diagonal heads with free weights."""
    s = Symbols(p=(heads, 2), q=(heads, 2))
    xx, xy, yx, yy = (total(s.p[k, i] * s.q[k, j] for k in range(heads)) for i in (0, 1) for j in (0, 1))
    return leftover([[xx * yy]], [[xy * yx]])


def distance(heads: int, weights: str, draws: int, seed: int) -> dict[str, Any]:
    """The distance of weights (xx, xy, yx, yy) of norm about 1 from those of diagonal heads: the smallest and the largest.

    For two heads, and for one head if xx yy = xy yx, heads are constructed and compared in fractions. Otherwise the
    distance to one head is the smaller singular value.
    """
    distances = [_distance(heads, four) for four in drawn(weights, draws, seed)]
    return {"least": min(distances), "largest": max(distances)}


def _distance(heads: int, four: list[Fraction]) -> tuple[Any, float]:
    xx, xy, yx, yy = four
    if heads == 1 and xx * yy != xy * yx:
        matrix = np.asarray(four, dtype=float).reshape(2, 2)
        # LAPACK's singular values are exact for a matrix that differs by a few roundings
        return float(np.linalg.svd(matrix, compute_uv=False)[-1]), 8 * float(np.finfo(float).eps)
    layer = SingleHead.of(Diagonal(*four)) if heads == 1 else Diagonal(*four)  # type: ignore[arg-type]
    done = layer.layer(1).attention(np.ones((2, 2), dtype=int).astype(object)).ravel()  # moments with every block 1
    return Fraction(max(abs(done - np.asarray(four, dtype=object)))), 0.0


def drawn(weights: str, draws: int, seed: int) -> Iterator[list[Fraction]]:
    """Weights of every pattern of zeros: "on the cone" xx yy = xy yx, "off the cone", or "any"."""
    random = generator(seed, "identity/heads", 0)
    for pattern in np.ndindex(2, 2, 2, 2):
        for _ in range(draws):
            four = np.asarray(pattern) * random.choice([-1, 1], 4) * random.integers(32, 97, 4)
            xx, xy, yx, yy = (Fraction(int(weight), 128) for weight in four)
            if weights != "off the cone" and all(pattern):
                yield [xx, xy, yx, xy * yx / xx]
            if weights == "any" or (weights == "on the cone") == (xx * yy == xy * yx):
                yield [xx, xy, yx, yy]
