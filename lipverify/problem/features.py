r"""Where a function of one variable is steep, and where it is not analytic: by ball arithmetic, not by points.

A function of arrays is called with a `Ball` in place of an array: the ball holds all values that the argument takes on
an interval, and all that its analytic continuation takes on a disk about it, and NumPy's functions pass it on. Where
both are finite the function is analytic on that disk, and what it varies by is bounded there; where they are not, or a
comparison has no single answer, the interval is halved. What is left at the smallest width are kinks, jumps and roots.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lipverify.foundation.arrays import Floats

SMALLEST = 2.0**-51
"""Intervals are halved down to this, two roundings of a number below 1."""
SEEN, UNSEEN = 1 / 128, 1 / 4096
"""Widths over that of a piece, down to which every rule has nodes inside of a feature, and up to which one may have
none: between them rules notice a feature, and their difference is an estimate."""
SAME = 1e-12
"""Places that differ by less are one: one is declared, and the other found."""
ROOT = 2.0**-40
"""Intervals that shrink down to this beside a place show a root there, and not a narrow feature."""


@dataclass(frozen=True)
class Features:
    """Intervals on each of which a function is analytic, and what lies between them.

    Attributes
    ----------
    edges
        Ends of the intervals, ascending, the ends of the domain among them.
    places
        Where inside the domain it is not analytic: kinks, jumps and roots.
    unbounded
        Places at which it is not known to be finite, or no larger than elsewhere.
    """

    edges: Floats
    places: tuple[float, ...]
    unbounded: tuple[float, ...] = ()

    def narrowest(self, places: Iterable[float] = (), graded: bool = False) -> tuple[float, float]:
        """The smallest width of an interval over that of its piece between `places`, and where that is.

        Where the function is not analytic at a place that is not among `places` rules do not split: what lies between
        two such places counts by its share of the piece that they do know. Beside a root at the end of a piece
        intervals shrink with their distance from it, and what counts is the width over that; `graded`: at the low end
        of the domain too, where rules are graded in any case.
        """
        low, high = self.edges[0], self.edges[-1]
        known = np.unique([low, high, *(at for at in places if low < at < high)])
        missing = [at for at in self.places if np.min(np.abs(known - at)) > SAME]
        share, where = math.inf, 0.0
        for left, right in pairwise(np.unique([*known, *missing])):
            some = self.edges[(self.edges > left + 4 * SMALLEST) & (self.edges < right - 4 * SMALLEST)]
            edges = np.array([left, *some, right])
            widths, middles = np.diff(edges), (edges[1:] + edges[:-1]) / 2
            scale = np.full(widths.shape, right - left)
            if widths[0] < ROOT or (graded and left == low):
                scale = np.minimum(scale, edges[1:] - left)
            if widths[-1] < ROOT:
                scale = np.minimum(scale, right - edges[:-1])
            start, stop = np.max(known[known <= left]), np.min(known[known >= right])
            whole = min(stop - start, right - low) if graded and start == low else stop - start
            shares = widths / scale * ((right - left) / whole)
            if np.min(shares) < share:
                share, where = float(np.min(shares)), float(middles[np.argmin(shares)])
        return share, where
