"""Where the squared weights of trained matrices are: on the diagonal, in the blocks of x and y, or elsewhere."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from lipverify.linear_transformer.training.record import Trained

Floats = NDArray[np.float64]

PART_NAMES = ("xx off the diagonal", "xy", "yx")


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """One matrix of one layer.

    Attributes
    ----------
    matrix, layer
        "P" or "Q", and the layer from 1.
    off
        Share of the squared weights off the diagonal, in rescaled units.
    parts
        Its parts: within the block of x, in the column xy, in the row yx.
    """

    matrix: str
    layer: int
    off: float
    parts: tuple[float, float, float]


def shares(found: Trained) -> list[Share]:
    """Shares of every P and Q of a model with free matrices; of the last P, only of the row that is read."""
    listed = []
    for layer, (P, Q) in enumerate(found.array, 1):
        if layer == found.layers:
            P = np.where(np.arange(len(P))[:, None] == len(P) - 1, P, 0.0)
        listed += [_share(name, layer, matrix) for name, matrix in (("P", P), ("Q", Q))]
    return listed


def _share(name: str, layer: int, matrix: Floats) -> Share:
    square = matrix**2 / np.sum(matrix**2)
    within = float(square[:-1, :-1].sum() - np.trace(square[:-1, :-1]))
    xy, yx = float(square[:-1, -1].sum()), float(square[-1, :-1].sum())
    return Share(matrix=name, layer=layer, off=within + xy + yx, parts=(within, xy, yx))
