"""The distance of trained matrices from the diagonal, and their figures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from lipverify.checks.linear_transformers.quantities import is_trained, trained


def matrices(noise: str, layers: int, training: int) -> Any:
    """(layers, 2, d + 1, d + 1): P and Q of each layer, in rescaled units; of the last P only the row that is used."""
    array = trained(noise, "FULL", layers, training).array.copy()
    array[-1, 0, :-1] = 0.0
    return array


def off_diagonal(noise: str, layers: int, training: int, but: int = 0, column: str = "counted") -> dict[str, Any]:
    """The largest off-diagonal share of the squared weights, over all P and Q of a training.

    The given number of matrices is left out; the column P_xy counts, or is removed from every P.
    """
    import numpy as np

    shares: list[tuple[float, str, float]] = []
    if not is_trained(noise, "FULL", layers, training):
        return {"share": (0.0, math.inf, "this training is not there"), "ranked": shares}
    for layer, pair in enumerate(matrices(noise, layers, training), 1):
        for name, matrix in zip("PQ", pair, strict=True):
            kept = matrix.copy()
            if name == "P" and column == "left out":
                kept[:-1, -1] = 0.0
            square = kept**2 / np.sum(kept**2)
            shares.append((1 - float(np.trace(square)), f"{name}_{layer}", float(square[:-1, -1].sum())))
    ranked = sorted(shares, reverse=True)
    return {"share": (ranked[but][0], 0.0), "ranked": ranked}


def scaled(noise: str, layers: int, training: int) -> list[Any]:
    """P and Q of each layer, divided by their largest entries."""
    import numpy as np

    return [[(matrix / np.abs(matrix).max()).tolist() for matrix in pair] for pair in matrices(noise, layers, training)]


def started(noise: str, layers: int) -> dict[int, list[str]]:
    """The starts from which each training descends, back to the first."""
    from lipverify.linear_transformer import trainings

    return {training: list(origins(noise, "FULL", layers, training)) for training in trainings(noise, "FULL", layers)}


def origins(noise: str, family: str, layers: int, training: int) -> Iterator[str]:
    """The winning starts, from the model's own back to its first ancestor's.

    >>> list(origins("uniform-3", "DIAG", 1, 0))
    ['random start 2']
    """
    origin = trained(noise, family, layers, training).origin
    yield origin
    wider = next((wider for wider in ("DIAG", "FULL") if origin.startswith(wider)), "")
    if origin.startswith("layer ") and layers > 1:
        yield from origins(noise, family, layers - 1, training)
    elif wider:
        yield from origins(noise, wider, layers, training)


def shares_and_starts(noise: str, layers: int, training: int) -> list[Any]:
    """Shares and starts of a training."""
    return [off_diagonal(noise, layers, training), started(noise, layers).get(training, [])]
