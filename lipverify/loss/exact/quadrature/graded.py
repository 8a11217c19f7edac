r"""Tables of smooth functions of u = log(lambda), or of a deficit, on panels of a graded coordinate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.polynomial import chebyshev

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.quadrature.rules import chebyshev_points, to_coefficients

MOST_PANELS = 20_000
"""Panels of a table, of which so many take a few seconds and a hundred megabytes."""
LINEAR, LEAST_GROWTH = -1.0, 2.0


@dataclass(frozen=True)
class Grading:
    """A coordinate v(u) in which integrands over u vary on a scale of one; `w` and u broadcast.

    It is u itself up to a `knee` and logarithmic beyond, and mirrored about the middle of [0, 2w]:
    the deficit has density s^{(d-3)/2}, so below u ~ d/2 the exponential of the kernel sets the
    scale, above it the power law does.
    """

    d: int
    w: Floats

    @property
    def knee(self) -> float:
        """Where the coordinate turns from linear to logarithmic."""
        return max(4.0, self.d / 2)

    @property
    def growth(self) -> float:
        """How far beyond the knee the scale has doubled: u itself over a power that u enters with."""
        return max(LEAST_GROWTH, self.d / 2)

    def v(self, u: Floats) -> Floats:
        """The coordinate of u."""
        return np.where(u <= self.w, self._half(u), 2 * self._half(self.w) - self._half(2 * self.w - u))

    def u(self, v: Floats) -> Floats:
        """The inverse of `v`."""
        top = self._half(self.w)
        # each half within its range: far beyond it the inverse overflows
        lower, upper = np.minimum(v, top), np.minimum(2 * top - v, top)
        return np.where(v <= top, self._half_inverse(lower), 2 * self.w - self._half_inverse(upper))

    def scale(self, u: Floats) -> Floats:
        """How far u goes while the coordinate goes a unit."""
        return 1 + np.maximum(np.minimum(u, 2 * self.w - u) - self.knee, 0) / self.growth

    def panels(self, low: float, high: float, width: float, fewest: int = 1) -> Floats:
        """Edges of panels between `low` and `high`, at most `width` wide in the coordinate: (edge,), for a single w."""
        v = self.v(np.array([low, high]))
        count = max(fewest, math.ceil(float(v[1] - v[0]) / width))
        if count > MOST_PANELS:
            raise OutOfReach(
                f"w = {float(np.max(self.w)):g}, d = {self.d}: tables of what other tokens do would need {count:.0e} "
                f"panels, at most {MOST_PANELS}; use route='zonal', method='montecarlo', or w = 0."
            )
        edges = self.u(v[0] + (v[1] - v[0]) * np.arange(count + 1) / count)
        edges[0], edges[-1] = low, high
        return edges

    def _half(self, u: Floats) -> Floats:
        beyond = np.maximum(u - self.knee, 0) / self.growth
        return np.where(u <= self.knee, u, self.knee + self.growth * np.log1p(beyond))

    def _half_inverse(self, v: Floats) -> Floats:
        beyond = np.maximum(v - self.knee, 0) / self.growth
        return np.where(v <= self.knee, v, self.knee + self.growth * np.expm1(beyond))


@dataclass(frozen=True)
class LogGrading(Grading):
    """One in which logarithms of averages vary on a scale of one: they bend where integrands do, but nowhere fall.

    Beyond the knee the scale doubles in about max(2, `share` d). Below u = `LINEAR` they are linear but for e^u, and
    the coordinate is logarithmic there too.
    """

    share: float

    @property
    def growth(self) -> float:
        """How far beyond the knee the scale has doubled."""
        return max(LEAST_GROWTH, self.share * self.d)

    def v(self, u: Floats) -> Floats:
        """The coordinate of u."""
        below = LINEAR - LEAST_GROWTH * np.log1p(np.maximum(LINEAR - u, 0) / LEAST_GROWTH)
        return np.where(u < LINEAR, below, super().v(u))

    def u(self, v: Floats) -> Floats:
        """The inverse of `v`."""
        below = LINEAR - LEAST_GROWTH * np.expm1(np.maximum(LINEAR - v, 0) / LEAST_GROWTH)
        return np.where(v < LINEAR, below, super().u(np.maximum(v, LINEAR)))


TABLE, PARTS, FEWER = 18, 64, 6
"""Coefficients a unit of the graded coordinate; the same polynomial is kept in parts of a unit, on which fewer
coefficients say as much."""


@dataclass(frozen=True)
class Graded:
    """A function of u between the first and the last of `edges`, by a Chebyshev polynomial on every part of a panel.

    Panels lie between the edges and have so many `parts` of one length; a column of coefficients is that of a part.
    `tails` are the last coefficients on every panel, and what is left out is smaller; `last` are values near its end.
    """

    edges: Floats
    coefficients: Floats
    parts: int = 1
    tails: Floats = field(default_factory=lambda: np.empty(0))
    last: Floats = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, function: Callable[[Floats], Floats], grading: Grading, *ends: float) -> list[Graded]:
        """On panels of about one unit of the graded coordinate, between each of the ascending `ends` and the next.

        `function` gives rows of values at a flat array.
        """
        edges = np.append(np.concatenate([grading.panels(*some, 1.0)[:-1] for some in pairwise(ends)]), ends[-1])
        u = edges[:-1, None] + np.diff(edges)[:, None] * (chebyshev_points(TABLE) + 1) / 2
        found = []
        for values in np.atleast_2d(function(u.ravel())):
            values = values.reshape(u.shape)
            coefficients = _to_coefficients() @ values.T
            # (part, coefficient, panel), of which panels and their parts are the columns
            parts = np.reshape(np.transpose(_to_parts() @ coefficients, (1, 2, 0)), (FEWER, -1))
            found.append(cls(edges, parts, PARTS, np.max(np.abs(coefficients[-3:]), axis=0), values[:, 0]))
        return found

    def __call__(self, u: Floats) -> Floats:
        """Values at u, which is taken into the range."""
        u = np.clip(u, self.edges[0], self.edges[-1])
        # panels are few and looked for, their parts are even and counted
        panel = np.clip(np.searchsorted(self.edges, u) - 1, 0, self.edges.size - 2)
        place = (u - self.edges[panel]) * (self.parts / np.diff(self.edges))[panel]
        part = np.clip(place.astype(np.intp), 0, self.parts - 1)
        double = 4 * (place - part) - 2
        panel = self.parts * panel + part
        # Clenshaw's recurrence, with the coefficients of each panel
        after, later = np.zeros_like(u), np.zeros_like(u)
        for row in self.coefficients[:0:-1]:
            after, later = row[panel] + double * after - later, after
        return np.asarray(self.coefficients[0][panel] + double / 2 * after - later)

    def tail(self, u: Floats) -> Floats:
        """The last coefficients on the panel of every u."""
        panel = np.searchsorted(self.edges, u) - 1
        return self.tails[np.clip(panel, 0, self.tails.size - 1)]


@cache
def _to_coefficients() -> Floats:
    return to_coefficients(TABLE)


@cache
def _to_parts() -> Floats:
    """The matrices that take TABLE coefficients to FEWER on every part of an interval: (part, few, coefficient)."""
    inner = (2 * np.arange(PARTS)[:, None] + 1 + chebyshev_points(FEWER)) / PARTS - 1
    return np.asarray(to_coefficients(FEWER) @ chebyshev.chebvander(inner, TABLE - 1))
