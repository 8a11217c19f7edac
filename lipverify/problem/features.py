r"""Find where a function of one variable is steep or not analytic, by ball arithmetic instead of sample points.

A function of arrays is read as a formula, and the formula evaluated at a `Ball`. The ball contains all values of the
argument on an interval and all values of its analytic continuation on a disk about it. Where both results are finite,
the function is analytic on that disk and its variation there is bounded. Where they are not, or a comparison has no
single answer, the interval is halved. Kinks, jumps and roots remain at the smallest width.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lipverify.foundation.arrays import Floats

SMALLEST = 2.0**-51
"""Intervals are halved down to this width, two roundings of a number below 1."""
SEEN, UNSEEN = 1 / 128, 1 / 4096
"""Relative widths of a feature, in units of its piece: at the first every rule has nodes inside it; below the second a
rule may have none. Between them the rules notice the feature, and their difference estimates the error."""
SAME = 1e-12
"""Two places closer than this count as one: typically one was declared and the other found."""
ROOT = 2.0**-40
"""Intervals that shrink to this width next to a place indicate a root there, not a narrow feature."""


@dataclass(frozen=True)
class Features:
    """Intervals on each of which a function is analytic, and the places between them where it is not."""

    edges: Floats
    """Ends of the intervals, ascending, the ends of the domain among them."""
    places: tuple[float, ...]
    """The points inside the domain where the function is not analytic: kinks, jumps and roots."""
    unbounded: tuple[float, ...] = ()
    """The points near which its values are not bounded by its size elsewhere."""

    def narrowest(self, places: Iterable[float] = (), graded: bool = False) -> tuple[float, float]:
        """The smallest ratio of an interval's width to that of its piece between `places`, and its position.

        Rules split the domain at `places` alone. If the function is not analytic at another place, the intervals on
        either side are measured against the whole piece that the rules know. Near a root at the end of a piece
        intervals shrink with their distance from it, so the width is divided by that distance; with `graded` also at
        the low end of the domain, where rules are graded in any case.
        """
        low, high = self.edges[0], self.edges[-1]
        known = np.unique([low, high, *(z for z in places if low < z < high)])
        missing = [z for z in self.places if np.min(np.abs(known - z)) > SAME]
        share, where = math.inf, 0.0
        for low_end, high_end in pairwise(np.unique([*known, *missing])):
            some = self.edges[(self.edges > low_end + 4 * SMALLEST) & (self.edges < high_end - 4 * SMALLEST)]
            edges = np.array([low_end, *some, high_end])
            widths, middles = np.diff(edges), (edges[1:] + edges[:-1]) / 2
            scale = np.full(widths.shape, high_end - low_end)
            if widths[0] < ROOT or (graded and low_end == low):
                scale = np.minimum(scale, edges[1:] - low_end)
            if widths[-1] < ROOT:
                scale = np.minimum(scale, high_end - edges[:-1])
            start, stop = np.max(known[known <= low_end]), np.min(known[known >= high_end])
            whole = min(stop - start, high_end - low) if graded and start == low else stop - start
            shares = widths / scale * ((high_end - low_end) / whole)
            if np.min(shares) < share:
                share, where = float(np.min(shares)), float(middles[np.argmin(shares)])
        return share, where
