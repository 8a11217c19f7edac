"""Starts for a deeper model: the shorter one with a layer put in, narrower models, weights from nowhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.streams import generator
from lipverify.linear_transformer.families import START, Diag, Full, Omega


class Start(NamedTuple):
    """Weights to descend from, where they come from, and whether from nowhere but chance (`alone`)."""

    origin: str
    weights: Floats
    alone: bool = False


def inserted(family: Omega | Full, shorter: Floats, draws: int, seed: int, stream: str) -> list[Start]:
    """A layer near the identity, drawn at random, before and after each layer of the shorter model."""
    return [
        Start(f"layer {place + 1} put in", np.concatenate([shorter[:place], layer, shorter[place:]]))
        for place in range(len(shorter) + 1)
        for draw in range(draws)
        for layer in [family.at_random(_normals(family, 1, seed, f"{stream}/insert/{place}/{draw}"))]
    ]


def random_starts(family: Omega | Full, layers: int, draws: int, seed: int, stream: str) -> list[Start]:
    """All layers drawn at random."""
    return [
        Start(
            f"random start {draw + 1}",
            family.at_random(_normals(family, layers, seed, f"{stream}/random/{draw}")),
            alone=True,
        )
        for draw in range(draws)
    ]


def widened(family: Omega | Full, origin: str, diagonal: Floats, seed: int, stream: str) -> list[Start]:
    """One diagonal head a layer, weights as in `Diag`, as a model of the family.

    On the diagonal the loss of free matrices is stationary in every other direction, so these get a small random
    part as well; and, in each layer but the first and the last, a column P_xy, which no diagonal head has: it adds
    a multiple of the label to one direction of the covariates, where the layers that follow find it.
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
"""The random part that a diagonal model gets."""
COLUMN = 3.0
"""Length of the column P_xy that a layer of a diagonal model gets, in rescaled units."""


def of_gdplusplus(family: Diag, layers: tuple[tuple[float, float], ...]) -> Floats:
    """GD++ weights (xx, yx) layer by layer as those of one diagonal head; a last xx, which does nothing, is 0."""
    return family.of_four(np.asarray([[xx, 0.0, yx, 0.0] for xx, yx in layers]))


def _normals(family: Omega | Full, layers: int, seed: int, stream: str) -> Floats:
    return generator(seed, stream, 0).standard_normal((layers, *family.shape))
