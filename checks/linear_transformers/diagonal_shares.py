"""The distance of trained matrices from the diagonal, and from a diagonal matrix plus one of small rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from lipverify.checks.linear_transformers.quantities import TRAININGS, Floats, trained

SWEEPS = 300
"""Alternating projections: any number of them gives an upper bound of what is left, and more change it in the fourth digit."""


def matrices(noise: str, layers: int, training: int) -> Any:
    """(layers, 2, d + 1, d + 1): P and Q of each layer, in rescaled units; of the last P only the row that is used."""
    array = trained(noise, "FULL", layers, training).array.copy()
    array[-1, 0, :-1] = 0.0
    return array


def off_diagonal(noise: str, layers: int, training: int, but: int = 0) -> tuple[float, float]:
    """The largest off-diagonal share of the squared weights, over all P and Q of a training but the given number of them."""
    shares = [left(matrix, 0) for pair in matrices(noise, layers, training) for matrix in pair]
    return sorted(shares, reverse=True)[but], 0.0


def beyond_rank(noise: str, layers: int, rank: int) -> tuple[float, float]:
    """The largest share that is in no diagonal matrix plus one of this rank, over all P and Q of all trainings."""
    each = (matrices(noise, layers, training) for training in TRAININGS)
    return max(left(matrix, rank) for model in each for pair in model for matrix in pair), 0.0


def left(matrix: Floats, rank: int) -> float:
    """The share of the squared weights beyond a diagonal matrix plus one of this rank: alternating projections."""
    diagonal, low = np.diag(np.diag(matrix)), np.zeros_like(matrix)
    for _ in range(SWEEPS if rank else 0):
        U, s, V = np.linalg.svd(matrix - diagonal)
        low = (U[:, :rank] * s[:rank]) @ V[:rank]
        diagonal = np.diag(np.diag(matrix - low))
    return float(np.sum((matrix - diagonal - low) ** 2) / np.sum(matrix**2))


def scaled(noise: str, layers: int, training: int) -> list[Any]:
    """P and Q of each layer, divided by their largest entries."""
    return [[(matrix / np.abs(matrix).max()).tolist() for matrix in pair] for pair in matrices(noise, layers, training)]
