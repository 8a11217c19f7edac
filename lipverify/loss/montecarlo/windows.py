r"""Softmax sums at a whole set of values of w: few exponentials, many multiplications.

With g_i(w) = exp(w (s_i - max_j s_j)) for scores s_i, everything that a softmax average needs at w is made of

    S(w) = sum_i g_i(w),   T_k(w) = sum_i g_i(w) v_{k,i},   sum_i g_i(w)^2 = S(2w),

and g_i(2w) = g_i(w)^2. Values of w are therefore taken in ladders w_0, 2 w_0, 4 w_0, ...: one exponential for a
ladder, one multiplication for a rung, and the squares that the noise needs are the next rung.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Array, Floats, row_maxima, to_device

LOST_BITS = 8
"""Each squaring doubles the relative rounding error of g. Eight bits may be lost so; more only where w itself is
larger than 2^8, since exp(w s) is known to w units of rounding at best."""
SAME = 8 * float(np.finfo(float).eps)
"""Values of w this close, relatively, are one: a grid of ratio 2 is rounded when it is made."""
LARGEST = 2.0**60
FLOOR, FLOOR_EVERY = 1e-30, 3
"""Where g would pass through the subnormal numbers, on which processors are slow, smaller ones are raised to this
at every third rung: against the largest, which is 1, they are nothing."""
LOG_FLOOR, LEAST_EXPONENT = math.log(FLOOR), -700.0
AT_ONCE = 2**19
"""Powers that are kept at a time: four megabytes, which stay near the processor until they are summed."""


@dataclass(frozen=True)
class Grid:
    """Windows arranged in ladders.

    `levels` are the windows at which sums are taken, ladder after ladder, each with one level above its last
    window for the squares of that; `rungs` counts from the foot of each ladder; `at` has the level of each
    window of the grid.
    """

    levels: Floats
    rungs: tuple[int, ...]
    at: NDArray[np.intp]

    @property
    def windows(self) -> Floats:
        """The grid as it was given, to rounding."""
        return self.levels[self.at]


def grid_of(w: Floats, largest_score: float = 1.0) -> Grid:
    """The values of w as ladders, from the smallest up.

    Scores are known to rounding of the largest, so that beyond 2^60 over it all windows are one.

    >>> grid = grid_of(np.array([1.0, 3.0, 2.0]))
    >>> grid.levels.tolist(), grid.at.tolist()
    ([1.0, 2.0, 4.0, 3.0, 6.0], [0, 3, 1])
    """
    w = np.minimum(w, LARGEST / largest_score)
    left = [int(i) for i in np.argsort(w, kind="stable")]
    levels: list[float] = []
    rungs: list[int] = []
    at = np.zeros(len(w), dtype=np.intp)
    while left:
        place: int | None = left[0]
        foot, rung = float(w[left[0]]), 0
        while place is not None:
            left.remove(place)
            at[place] = len(levels)
            levels.append(foot * 2.0**rung)
            rungs.append(rung)
            rung += 1
            place = _place_of(2 * levels[-1], w, left) if rung < LOST_BITS or foot >= 1 else None
        levels.append(foot * 2.0**rung)
        rungs.append(rung)
    return Grid(np.array(levels), tuple(rungs), at)


def _place_of(window: float, w: Floats, among: list[int]) -> int | None:
    """Where in the grid a window stands, not counting w = 0."""
    return next((i for i in among if abs(float(w[i]) - window) <= SAME * window and window > 0), None)


class Workspace(threading.local):
    """Arrays of a thread that are used again and again: allocation would cost as much as the arithmetic."""

    def __init__(self) -> None:
        self._kept: dict[str, Floats] = {}

    def array(self, name: str, shape: tuple[int, ...]) -> Floats:
        """The array of this name, in this shape and with any content; what it held is lost."""
        size = math.prod(shape)
        if name not in self._kept or self._kept[name].size < size:
            self._kept[name] = np.empty(size)
        return self._kept[name][:size].reshape(shape)


@dataclass(frozen=True)
class Sums:
    """For C contexts: the largest score (C,), and (C, levels, columns): S, T_1, ..., T_K, with NumPy perhaps zeros."""

    largest: Array
    at_levels: Array


def softmax_sums(scores: Array, values: list[Array], grid: Grid, xp: Any, workspace: Workspace) -> Sums:
    """Sums over the tokens of C contexts; scores and values[k] have the shape (C, tokens)."""
    largest = row_maxima(scores, xp)
    below = scores - largest[:, None]
    if xp is not np:
        columns = xp.stack([xp.ones_like(below), *(xp.broadcast_to(value, below.shape) for value in values)], axis=-1)
        return Sums(largest, _powers(below, grid, xp) @ columns)
    floored = float(grid.levels.max()) * -row_maxima(-below, np) < LEAST_EXPONENT
    shape = ((len(values) + 2) // 2 * 2, *below.shape)  # an even number of columns: matrix products are faster
    columns = workspace.array("columns", shape)
    _fill(columns, values)
    columns = columns.transpose(1, 2, 0)
    at_levels = np.empty((len(below), len(grid.levels), shape[0]))
    some = max(1, AT_ONCE // (len(grid.levels) * below.shape[1]))
    for first in range(0, len(below), some):
        part = slice(first, first + some)
        np.matmul(_in_place(below[part], grid, floored[part, None], workspace), columns[part], out=at_levels[part])
    return Sums(largest, at_levels)


def merged(one: Sums, other: Sums, grid: Grid, xp: Any) -> Sums:
    """The sums over both stretches of tokens, relative to the larger of the two largest scores."""
    largest = xp.maximum(one.largest, other.largest)
    levels = to_device(grid.levels, xp, getattr(largest, "device", None))

    def rescaled(part: Sums) -> Array:
        return xp.exp((part.largest - largest)[:, None] * levels)[:, :, None] * part.at_levels

    return Sums(largest, rescaled(one) + rescaled(other))


def _fill(columns: Array, values: list[Array]) -> None:
    """1, the values, and zeros: (columns, C, tokens)."""
    columns[0, :, :] = 1.0
    for k, value in enumerate(values):
        columns[k + 1, :, :] = value
    columns[len(values) + 1 :, :, :] = 0.0


def _powers(below: Array, grid: Grid, xp: Any) -> Array:
    """The g of every level, (C, levels, tokens)."""
    powers: list[Array] = []
    for level, rung in zip(grid.levels, grid.rungs, strict=True):
        g = powers[-1] * powers[-1] if rung else xp.exp(xp.clip(float(level) * below, LOG_FLOOR, 0.0))
        powers.append(xp.clip(g, FLOOR, 1.0) if rung and rung % FLOOR_EVERY == 0 else g)
    return xp.stack(powers, axis=1)


def _in_place(below: Floats, grid: Grid, floored: NDArray[np.bool_], workspace: Workspace) -> Floats:
    """The same with NumPy's `out`, which the array standard does not have; `floored` says of which contexts, (C, 1)."""
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
