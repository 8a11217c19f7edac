r"""Tables of smooth functions of u = log(lambda), or of a deficit, on panels of a graded coordinate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.polynomial import chebyshev

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.context.contexts import Grading
from lipverify.loss.exact.quadrature.chebyshev import chebyshev_points, to_coefficients

TABLE, PARTS, FEWER = 18, 64, 6
"""Coefficients a unit of the graded coordinate; the same polynomial is kept in parts of a unit, on which fewer
coefficients say as much."""


@dataclass(frozen=True)
class Graded:
    """A function of u between the first and the last of `edges`, by a Chebyshev polynomial on every panel.

    `tails` are the last coefficients on every panel, and what is left out is smaller; `last` are values near its end.
    """

    edges: Floats
    coefficients: Floats
    tails: Floats = field(default_factory=lambda: np.empty(0))
    last: Floats = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, function: Callable[[Floats], Floats], grading: Grading, *ends: float) -> list[Graded]:
        """On panels of about one unit of the graded coordinate, between each of the ascending `ends` and the next.

        `function` gives rows of values at a flat array.
        """
        edges = np.append(np.concatenate([grading.panels(*some, 1.0)[:-1] for some in pairwise(ends)]), ends[-1])
        u = edges[:-1, None] + np.diff(edges)[:, None] * (chebyshev_points(TABLE) + 1) / 2
        finer = (edges[:-1, None] + np.diff(edges)[:, None] * np.arange(PARTS) / PARTS).ravel()
        found = []
        for values in np.atleast_2d(function(u.ravel())):
            values = values.reshape(u.shape)
            coefficients = _to_coefficients() @ values.T
            # (part, coefficient, panel), of which panels and their parts are the columns
            parts = np.reshape(np.transpose(_to_parts() @ coefficients, (1, 2, 0)), (FEWER, -1))
            found.append(
                cls(np.append(finer, edges[-1]), parts, np.max(np.abs(coefficients[-3:]), axis=0), values[:, 0])
            )
        return found

    def __call__(self, u: Floats) -> Floats:
        """Values at u, which is taken into the range."""
        u = np.clip(u, self.edges[0], self.edges[-1])
        panel = np.clip(np.searchsorted(self.edges, u) - 1, 0, self.edges.size - 2)
        double = 4 * (u - self.edges[panel]) / np.diff(self.edges)[panel] - 2
        # Clenshaw's recurrence, with the coefficients of each panel
        after, later = np.zeros_like(u), np.zeros_like(u)
        for row in self.coefficients[:0:-1]:
            after, later = row[panel] + double * after - later, after
        return np.asarray(self.coefficients[0][panel] + double / 2 * after - later)

    def tail(self, u: Floats) -> Floats:
        """The last coefficients on the panel of every u."""
        panel = (np.searchsorted(self.edges, u) - 1) // PARTS
        return self.tails[np.clip(panel, 0, self.tails.size - 1)]


@cache
def _to_coefficients() -> Floats:
    return to_coefficients(TABLE)


@cache
def _to_parts() -> Floats:
    """The matrices that take TABLE coefficients to FEWER on every part of an interval: (part, few, coefficient)."""
    inner = (2 * np.arange(PARTS)[:, None] + 1 + chebyshev_points(FEWER)) / PARTS - 1
    return np.asarray(to_coefficients(FEWER) @ chebyshev.chebvander(inner, TABLE - 1))
