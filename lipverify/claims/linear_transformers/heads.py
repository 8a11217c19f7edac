r"""Measurements of what one and two diagonal heads can do: how far four weights of norm 1 are from it."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from lipverify.linear_transformer.layer import Diagonal, SingleHead
from lipverify.loss.streams import generator

Floats = NDArray[np.float64]


class Reach(msgspec.Struct, frozen=True):
    """Distances from weights of norm 1 to what heads do: the largest that should be 0, the least that should not."""

    reached: float
    missed: float


ROUNDED = 2 * float(np.finfo(float).eps)
"""What four roundings of each entry (the tuple, a quotient, a product) can move a tuple of norm 1."""


def one_head_reach(draws: int, seed: int) -> Reach:
    """Tuples with xx yy = xy yx against the products of the head made for them; others against the nearest of any head.

    The nearest is at the distance of the smaller singular value of [[xx, xy], [yx, yy]].
    """
    on, off = _tuples(draws, seed)
    reached = [np.linalg.norm(_four(SingleHead.of(Diagonal(*four)).weights) - four) for four in on]
    return Reach(float(np.max(reached)), min(map(_off_the_cone, off)))


def two_heads_reach(draws: int, seed: int) -> Reach:
    """All tuples against the blocks of two heads made for them; those off the cone against the nearest of one head."""
    on, off = _tuples(draws, seed)
    ones = np.ones((2, 2))  # moments with every block 1
    apart = [np.linalg.norm(Diagonal(*four).layer(1).attention(ones).ravel() - four) for four in (*on, *off)]
    return Reach(float(np.max(apart)), min(map(_off_the_cone, off)))


def _tuples(draws: int, seed: int) -> tuple[list[Floats], list[Floats]]:
    """Tuples of norm 1 of every pattern of zeros, drawn: those with xx yy = xy yx, and the others."""
    random = generator(seed, "identity/heads", 0)
    on: list[Floats] = []
    off: list[Floats] = []
    for pattern in np.ndindex(2, 2, 2, 2):
        for _ in range(draws):
            xx, xy, yx, yy = np.asarray(pattern) * random.choice([-1, 1], 4) * random.uniform(0.5, 1.5, 4)
            if all(pattern):
                on.append(_unit(np.asarray([xx, xy, yx, xy * yx / xx])))
            (on if xx * yy == xy * yx else off).append(_unit(np.asarray([xx, xy, yx, yy])))
    return on, off


def _unit(four: Floats) -> Floats:
    norm = float(np.linalg.norm(four))
    return four / norm if norm else four


def _four(weights: Diagonal) -> Floats:
    return np.asarray([weights.xx, weights.xy, weights.yx, weights.yy])


def _off_the_cone(four: Floats) -> float:
    return float(np.linalg.svd(four.reshape(2, 2), compute_uv=False)[-1])
