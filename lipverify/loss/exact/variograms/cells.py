r"""Cells in (A, B), the smallest and largest angle between two tokens, on which the mean of V over a turn is analytic.

M(A, B), the mean of R over the angles from A to B, is analytic except where A or B is at a place: 0, pi, or an angle
at which V is not smooth. There it behaves like a power of the distance from the place; if both A and B are at the same
place, it is a homogeneous function of both distances. So each interval between places is halved, each half with its
place:

    A = place +- width y^flat, B = place' +- width' x^flat     where the places differ,
    the larger share = x^flat, their quotient = y^flat         of width and width', where it is the same place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.quadrature.rules import chebyshev_values

Larger = Literal["A", "B", "neither"]
LARGER: tuple[Larger, ...] = ("A", "B", "neither")
NOISE = 4e-15
"""Share of the largest coefficient below which coefficients are rounding errors of the values."""
BLOCK, FEW = 2048, 192
"""Number of points at a time, so that arrays fit in a processor's cache and matrix products are too small for BLAS to
use several threads, which would cost more than it saves."""


@dataclass(frozen=True)
class Side:
    """The angles from a place to the middle of an interval that ends there: place + width share."""

    place: float
    width: float

    def share(self, angle: Floats) -> Floats:
        """The distance of an angle from the place, as a share of the width."""
        return np.clip((angle - self.place) / self.width, 0, 1)

    def angle(self, share: Floats) -> Floats:
        """The angle at a share of the width, the inverse of `share`."""
        return self.place + self.width * share


@dataclass(frozen=True)
class Cell:
    """One side of a place for A and one for B; coordinates (x, y) in [0, 1]^2 with x in [low, high]."""

    sides: tuple[Side, Side]
    larger: Larger
    flat: int
    low: float = 0.0
    high: float = 1.0

    def angles(self, x: Floats, y: Floats) -> Floats:
        """A and B, (2, point), at the coordinates; points of a cell with A > B are exchanged."""
        first, second = x**self.flat, y**self.flat
        first_share, second_share = {
            "neither": (second, first),
            "A": (first, first * second),
            "B": (first * second, first),
        }[self.larger]
        return np.sort(np.stack([self.sides[0].angle(first_share), self.sides[1].angle(second_share)]), axis=0)

    def places(self, apart: Floats, together: Floats) -> tuple[Floats, Floats]:
        """The coordinates of A and B."""
        first, second = self.sides[0].share(apart), self.sides[1].share(together)
        if self.larger != "neither":
            least, most = np.minimum(first, second), np.maximum(first, second)
            first, second = np.divide(least, most, out=np.ones_like(most), where=most > 0), most
        return _root(second, self.flat), _root(first, self.flat)


@dataclass(frozen=True)
class Fit:
    """A polynomial in x and y on a cell, with error bound `gap`."""

    cell: Cell
    coefficients: Floats
    gap: float = np.inf

    def __call__(self, x: Floats, y: Floats) -> Floats:
        """The polynomial at coordinates of the cell."""
        low, high = self.cell.low, self.cell.high
        value = np.empty_like(x)
        rows, columns = self.coefficients.shape
        for i in range(0, x.size, BLOCK):
            some = slice(i, i + BLOCK)
            across = chebyshev_values((2 * x[some] - low - high) / (high - low), rows)
            along = chebyshev_values(2 * y[some] - 1, columns)
            for j in range(0, across.shape[1], FEW):
                few = slice(j, j + FEW)
                value[some][few] = np.einsum("kp,kp->p", self.coefficients.T @ across[:, few], along[:, few])
        return value

    def trimmed(self) -> Fit:
        """The polynomial without its highest coefficients in x and y that are rounding noise."""
        counts = np.abs(self.coefficients) > min(self.tail, NOISE * self.largest)
        rows, columns = (int(np.flatnonzero(counts.any(axis=axis)).max(initial=0)) + 1 for axis in (1, 0))
        return replace(self, coefficients=self.coefficients[:rows, :columns])

    @property
    def largest(self) -> float:
        """max |c_j|, which scales the rounding of the sum."""
        return float(np.max(np.abs(self.coefficients)))

    @property
    def tail(self) -> float:
        """The size of the last coefficients, which estimates the truncation error."""
        return float(max(np.max(np.abs(self.coefficients[-3:])), np.max(np.abs(self.coefficients[:, -3:]))))


@dataclass(frozen=True)
class Cells:
    """All cells between the ascending `places`, of which the first is 0 and the last is pi."""

    places: tuple[float, ...]
    flat: int

    @cached_property
    def sides(self) -> list[Side]:
        """Both halves of every interval, in ascending order."""
        halves = [(low, high, (high - low) / 2) for low, high in pairwise(self.places)]
        return [side for low, high, half in halves for side in (Side(low, half), Side(high, -half))]

    def which(self, apart: Floats, together: Floats) -> NDArray[np.intp]:
        """The index of the cell of every pair A <= B."""
        middles = np.array([side.angle(np.array(1.0)) for side in self.sides[::2]])
        ends = np.sort(np.concatenate([self.places[1:-1], middles]))
        rows = np.searchsorted(ends, apart), np.searchsorted(ends, together)
        place, width = (np.array([getattr(side, name) for side in self.sides]) for name in ("place", "width"))
        first, second = ((angle - place[row]) / width[row] for angle, row in zip((apart, together), rows, strict=True))
        larger = np.where(place[rows[0]] == place[rows[1]], second > first, LARGER.index("neither"))
        return np.asarray((rows[0] * len(self.sides) + rows[1]) * len(LARGER) + larger)

    def __getitem__(self, number: int) -> Cell:
        sides, larger = divmod(number, len(LARGER))
        first, second = divmod(sides, len(self.sides))
        return Cell((self.sides[first], self.sides[second]), LARGER[larger], self.flat)


def _root(share: Floats, flat: int) -> Floats:
    """The root of order 2 or 4."""
    return np.sqrt(share) if flat == 2 else np.sqrt(np.sqrt(share))
