"""What a kernel may be asked, and how windows and bundles are dealt to the blocks, warps and lanes of a GPU."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lipverify.errors import InvalidInput

LAWS = {"affine": 0, "linear": 0, "relu": 1, "cosine": 2, "quadratic": 3}
"""The laws that have a kernel, with their numbers in laws.cuh: with the task averaged, linear is affine."""
MOST_RUNGS = 8
"""Values of w that follow from one exponential: w_0, 2 w_0, ..., 2^7 w_0; the noise at the last needs 2^8 w_0."""
PLACES, LANES, MOST_WARPS = 8, 32, 8  # as in kernels.cu
TOKENS_A_LANE = 256
"""Lanes share the tokens of a query while each of them keeps so many that joining their sums is cheap."""

Ladder = tuple[float, int]
"""(w_0, m): the values w_0, 2 w_0, ..., 2^(m - 1) w_0."""


def instantiation(law: str, rungs: int) -> str:
    """The kernel's name for a law and a number of rungs.

    >>> instantiation("relu", 8)
    'samples<1, 8>'
    """
    return f"samples<{LAWS[law]}, {rungs}>"


def split(ladders: Sequence[Ladder], most: int = MOST_RUNGS) -> list[Ladder]:
    """The same windows in the same order, no ladder with more than `most`.

    >>> split([(0.5, 3), (1.0, 17)])
    [(0.5, 3), (1.0, 8), (256.0, 8), (65536.0, 1)]
    """
    parts = ((base, first, rungs) for base, rungs in ladders for first in range(0, rungs, most))
    return [(base * 2.0**first, min(most, rungs - first)) for base, first, rungs in parts]


def slices_of(n: int) -> int:
    """Lanes that share the n tokens of a query: a power of two, at most the eight of a warp.

    >>> [slices_of(n) for n in (1, 511, 512, 1000, 10**9)]
    [1, 1, 2, 2, 8]
    """
    return int(2 ** (max(1, min(PLACES, n // TOKENS_A_LANE)).bit_length() - 1))


def grid_and_block(n: int, ladders: int, bundles: int) -> tuple[tuple[int, int], tuple[int]]:
    """(grid, block): one warp for each ladder, and several rows of blocks if a block cannot hold all ladders.

    >>> grid_and_block(n=1000, ladders=9, bundles=64)
    ((16, 2), (160,))
    """
    rows = -(-ladders // MOST_WARPS)
    return (-(-bundles * slices_of(n) // PLACES), rows), (LANES * -(-ladders // rows),)


def require_question(law: str, d: int, n: int, ladders: Sequence[Ladder], bundles: int) -> None:
    """Refuse what a kernel has no meaning for.

    Raises
    ------
    InvalidInput
        If an argument breaks its rule.
    """
    if law not in LAWS:
        raise InvalidInput(f"law = {law!r} has no kernel; choose one of: {', '.join(LAWS)}.")
    if d < 2 or n < 1:
        raise InvalidInput(f"d = {d}, n = {n}: a kernel needs d >= 2 and n >= 1.")
    if bundles < 0:
        raise InvalidInput(f"bundles = {bundles}: the number of bundles must be >= 0.")
    if not ladders:
        raise InvalidInput("ladders = []: at least one w is needed.")
    for base, rungs in ladders:
        if not (math.isfinite(base) and base >= 0):
            raise InvalidInput(f"w_0 = {base}: w must be finite and >= 0.")
        if rungs < 1:
            raise InvalidInput(f"ladder ({base}, {rungs}): a ladder has at least one w.")
