r"""Softmax sums at many values of w with few exponentials and many multiplications.

With g_i(w) = exp(w (s_i - max_j s_j)) for scores s_i, a softmax average at w needs only

    S(w) = sum_i g_i(w),   T_k(w) = sum_i g_i(w) v_{k,i},   sum_i g_i(w)^2 = S(2w),

and g_i(2w) = g_i(w)^2. So values of w are arranged in ladders w_0, 2 w_0, 4 w_0, ...: one exponential per ladder, one
multiplication per rung, and the squares for the noise are the next rung.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import EPS, Array, Floats, row_maxima, to_device

LOST_BITS = 8
"""Bits that squarings may lose, one each. More are lost only if w exceeds 2^8, since exp(w s) has a rounding error of w
units anyway."""
FLOOR, FLOOR_EVERY = 1e-30, 3
"""Values of g below FLOOR, negligible beside the largest, are raised to it at every FLOOR_EVERY-th rung: processors are
slow on subnormal numbers."""
LOG_FLOOR = math.log(FLOOR)


@dataclass(frozen=True)
class Grid:
    """Values of w arranged in ladders.

    `levels` are the w at which sums are computed, ladder after ladder, each with one level above its last w for the
    squares; `rungs` counts from the foot of each ladder; `at` is the index of the level of each w of the grid.
    """

    levels: Floats
    rungs: tuple[int, ...]
    at: NDArray[np.intp]

    @property
    def windows(self) -> Floats:
        """The values of w of the grid, to rounding."""
        return self.levels[self.at]


def grid_of(w: Floats, largest_score: float = 1.0) -> Grid:
    """Arrange values of w in ladders, from the smallest up.

    >>> grid = grid_of(np.array([1.0, 3.0, 2.0]))
    >>> grid.levels.tolist(), grid.at.tolist()
    ([1.0, 2.0, 4.0, 3.0, 6.0], [0, 3, 1])
    """
    # above this only the token with the largest score counts, and its powers are still doubles
    w = np.minimum(w, 2.0**60 / largest_score)
    waiting = [int(i) for i in np.argsort(w, kind="stable")]
    levels: list[float] = []
    rungs: list[int] = []
    indices = np.zeros(len(w), dtype=np.intp)
    while waiting:
        index: int | None = waiting[0]
        foot, rung = float(w[waiting[0]]), 0
        while index is not None:
            waiting.remove(index)
            indices[index] = len(levels)
            levels.append(foot * 2.0**rung)
            rungs.append(rung)
            rung += 1
            index, window = None, 2 * levels[-1]
            if window > 0 and (rung < LOST_BITS or foot >= 1):
                # a grid of ratio 2 has rounding errors
                index = next((i for i in waiting if abs(float(w[i]) - window) <= 8 * EPS * window), None)
        levels.append(foot * 2.0**rung)
        rungs.append(rung)
    return Grid(np.array(levels), tuple(rungs), indices)


FEW = 2**12
"""Tokens of a part of so many levels that a call of NumPy for each would take longer than its arithmetic."""


class Workspace(threading.local):
    """Arrays that a thread reuses, because allocation would cost as much as the arithmetic."""

    def __init__(self) -> None:
        self._kept: dict[str, Floats] = {}

    def array(self, name: str, shape: tuple[int, ...]) -> Floats:
        """The array of this name with this shape; its content is undefined."""
        size = math.prod(shape)
        if name not in self._kept or self._kept[name].size < size:
            self._kept[name] = np.empty(size)
        return self._kept[name][:size].reshape(shape)


@dataclass(frozen=True)
class Sums:
    """For C contexts: the largest score (C,), and S, T_1, ..., T_K as (C, levels, columns); NumPy may add zeros."""

    largest: Array
    at_levels: Array


def softmax_sums(scores: Array, values: list[Array], grid: Grid, xp: Any, workspace: Workspace) -> Sums:
    """Sums over the tokens of C contexts; scores and values[k] have the shape (C, tokens)."""
    largest = row_maxima(scores, xp)
    below = scores - largest[:, None]
    if xp is not np:
        columns = xp.stack([xp.ones_like(below), *(xp.broadcast_to(value, below.shape) for value in values)], axis=-1)
        return Sums(largest, _by_rungs(below, columns, grid, xp))
    floored = float(grid.levels.max()) * -row_maxima(-below, np) < -700.0  # e^-708 is the least normal double
    shape = ((len(values) + 2) // 2 * 2, *below.shape)  # even, because matrix products are then faster
    filled = workspace.array("columns", shape)
    filled[0, :, :] = 1.0
    for k, value in enumerate(values):
        filled[k + 1, :, :] = value
    filled[len(values) + 1 :, :, :] = 0.0
    columns = filled.transpose(1, 2, 0)
    at_levels = np.empty((len(below), len(grid.levels), shape[0]))
    some = max(1, 2**19 // (len(grid.levels) * below.shape[1]))  # powers of four megabytes, a processor's cache
    for first in range(0, len(below), some):
        part = slice(first, first + some)
        if some * below.shape[1] < FEW:
            at_levels[part] = _by_rungs(below[part], columns[part], grid, np)
            continue
        np.matmul(_in_place(below[part], grid, floored[part, None], workspace), columns[part], out=at_levels[part])
    return Sums(largest, at_levels)


def merged(first: Sums, second: Sums, grid: Grid, xp: Any) -> Sums:
    """The sums over both blocks of tokens, relative to the larger of the two largest scores."""
    largest = xp.maximum(first.largest, second.largest)
    levels = to_device(grid.levels, xp, getattr(largest, "device", None))

    def rescaled(part: Sums) -> Array:
        return xp.exp((part.largest - largest)[:, None] * levels)[:, :, None] * part.at_levels

    return Sums(largest, rescaled(first) + rescaled(second))


def joined(blocks: Iterable[Sums], grid: Grid, xp: Any) -> Sums:
    """The sums over all blocks of tokens."""
    return reduce(lambda total, more: merged(total, more, grid, xp), blocks)


def _by_rungs(below: Array, columns: Array, grid: Grid, xp: Any) -> Array:
    """The sums of every level, with one operation for a rung of all ladders, because each operation is a launch."""
    rungs, device = np.array(grid.rungs), getattr(below, "device", None)
    feet, sums = to_device(grid.levels[rungs == 0][:, None], xp, device), []
    g = xp.exp(xp.clip(feet * below[:, None, :], LOG_FLOOR, 0.0))
    for rung in range(1, int(rungs.max()) + 1):
        sums.append(g @ columns)
        g = g * g if rung % FLOOR_EVERY else xp.clip(g * g, FLOOR, 1.0)
    sums.append(g @ columns)
    places = to_device(rungs * feet.shape[0] + np.cumsum(rungs == 0) - 1, xp, device)
    return xp.take(xp.concat(sums, axis=1), places, axis=1)


def _in_place(below: Floats, grid: Grid, floored: NDArray[np.bool_], workspace: Workspace) -> Floats:
    """The g of every level with NumPy's `out`, which the standard lacks; `floored`, (C, 1): contexts with a floor."""
    powers = workspace.array("powers", (len(grid.levels), *below.shape))
    floor, log_floor, some = np.where(floored, FLOOR, 0.0), np.where(floored, LOG_FLOOR, -np.inf), bool(floored.any())
    for j, rung in enumerate(grid.rungs):
        if rung:
            np.multiply(powers[j - 1], powers[j - 1], out=powers[j])
            if some and rung % FLOOR_EVERY == 0:
                np.maximum(powers[j], floor, out=powers[j])
        else:
            np.multiply(below, grid.levels[j], out=powers[j])
            np.exp(np.maximum(powers[j], log_floor, out=powers[j]) if some else powers[j], out=powers[j])
    return powers.transpose(1, 0, 2)
