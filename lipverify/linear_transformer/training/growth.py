"""Starts for a deeper model: a shorter one with a layer inserted, a narrower one, or random weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.streams import generator
from lipverify.linear_transformer.families import START, Diag, Full, Omega


class Start(NamedTuple):
    """Initial weights and their origin; `alone` is True for random weights that stem from no other model."""

    origin: str
    weights: Floats
    alone: bool = False


def inserted(family: Omega | Full, shorter: Floats, draws: int, seed: int, stream: str) -> list[Start]:
    """A random layer near the identity, inserted before and after each layer of the shorter model."""
    return [
        Start(f"layer {position + 1} put in", np.concatenate([shorter[:position], layer, shorter[position:]]))
        for position in range(len(shorter) + 1)
        for draw in range(draws)
        for layer in [family.at_random(_normals(family, 1, seed, f"{stream}/insert/{position}/{draw}"))]
    ]


def random_starts(family: Omega | Full, layers: int, draws: int, seed: int, stream: str) -> list[Start]:
    """Models with all layers random."""
    return [
        Start(
            f"random start {draw + 1}",
            family.at_random(_normals(family, layers, seed, f"{stream}/random/{draw}")),
            alone=True,
        )
        for draw in range(draws)
    ]


def widened(family: Omega | Full, origin: str, diagonal: Floats, seed: int, stream: str) -> list[Start]:
    """Convert one diagonal head a layer, weights as in `Diag`, to a start for the family.

    At a diagonal model the loss of free matrices is stationary in every off-diagonal direction, so a small random part
    is added. Each layer except the first and the last also gets a column P_xy, which no diagonal head has: it adds a
    multiple of the label to one direction of the covariates, where later layers can use it.
    """
    if not isinstance(family, Full):
        return [Start(origin, family.of_diag(diagonal))]
    narrow = Diag(family.regression)
    written = family.of_diag(narrow.of_four(narrow.four(diagonal)))
    noisy = written + family.at_random(_normals(family, len(diagonal), seed, f"{stream}/widened"), SMALL)
    starts = [Start(origin, written), Start(f"{origin}, off the diagonal too", noisy)]
    for layer in range(1, len(diagonal) - 1):
        direction = family.column(_normals(family, 1, seed, f"{stream}/column/{layer}")[0])
        stored = noisy.copy()
        stored[layer] = family.with_column(noisy[layer], COLUMN * direction / np.linalg.norm(direction))
        starts.append(Start(f"{origin}, a column in layer {layer + 1}", stored))
    return starts


SMALL = START / 10
"""Size of the random part that is added to a diagonal model."""
COLUMN = 3.0
"""Length of the column P_xy that is added to a layer of a diagonal model, in rescaled units."""


def of_gdplusplus(family: Diag, layers: tuple[tuple[float, float], ...]) -> Floats:
    """Convert GD++ weights (xx, yx) layer by layer to one diagonal head; the last xx, which does nothing, is 0."""
    return family.of_four(np.asarray([[xx, 0.0, yx, 0.0] for xx, yx in layers]))


def _normals(family: Omega | Full, layers: int, seed: int, stream: str) -> Floats:
    return generator(seed, stream, 0).standard_normal((layers, *family.shape))
