"""Quadrature and tables that know no law: rules on [0, 1], and polynomials on graded panels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats

CONCENTRATION, LARGE = (1.5, 3.5, 9.0), 8
"""A coordinate of a point of S^{d-1} exceeds 9 / sqrt(d) with probability e^-40: for d > 8 rules split there."""

legendre_rule = cache(np.polynomial.legendre.leggauss)
"""Nodes and weights on [-1, 1], cached for both rules that use them."""


@cache
def gauss_rule(order: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre on [0, 1] after x -> sin^2(pi x / 2): exact for half-integer powers at the ends.

    Averages over a kink behave like such a power where a token first reaches the kink, in odd dimensions.
    """
    x, weight = legendre_rule(order)
    angle = np.pi * (x + 1) / 4
    return np.sin(angle) ** 2, weight * np.pi / 4 * np.sin(2 * angle)


def plain_rule(order: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre on [0, 1] for integrands that are analytic at the ends: half of the nodes suffice."""
    x, weight = legendre_rule(order)
    return (x + 1) / 2, weight / 2


def smooth_rule(order: int) -> tuple[Floats, Floats]:
    """A rule for integrands that are analytic at the ends, with the density of `gauss_rule` in the middle."""
    return plain_rule(math.ceil(2 / math.pi * order))


def on_panels(edges: Floats, rule: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Nodes and weights of a rule on [0, 1] between neighbouring edges, (..., edge): (..., panel, node)."""
    x, gauss = rule
    width = np.diff(edges, axis=-1)[..., None]
    return edges[..., :-1, None] + width * x, width * gauss


def split_rule(
    edges: Floats, singular: NDArray[np.bool_], order: int, share: float = 1.0
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Rows, nodes and weights on every interval between edges, shape (row, edge): `gauss_rule` next to singular edges.

    On other intervals `plain_rule` with the same number of nodes, or that `share` of it, is more accurate.
    """
    ascending = np.argsort(edges, axis=1)
    edges, singular = np.take_along_axis(edges, ascending, axis=1), np.take_along_axis(singular, ascending, axis=1)
    wide = np.diff(edges, axis=1) > 0
    adjacent = singular[:, 1:] | singular[:, :-1]
    parts = []
    for chosen, (x, gauss) in (
        (wide & adjacent, gauss_rule(order)),
        (wide & ~adjacent, plain_rule(math.ceil(share * order))),
    ):
        row, interval = np.nonzero(chosen)
        low, width = edges[row, interval, None], np.diff(edges, axis=1)[row, interval, None]
        parts.append((np.repeat(row, x.size), (low + width * x).ravel(), (width * gauss).ravel()))
    (rows, nodes, weights), plain = parts
    return np.append(rows, plain[0]), np.append(nodes, plain[1]), np.append(weights, plain[2])


def integer_power(x: Floats, k: int) -> Floats:
    """x^k for an integer k >= 0 by squaring, which is several times faster than the general power for small k."""
    if k > 32:
        return x**k
    if k < 2:
        return x if k else np.ones_like(x)
    half = integer_power(x, k // 2)
    return half * half * x if k % 2 else half * half


def half_power(x: Floats, twice: int) -> Floats:
    """x^(twice / 2) for x > 0 and twice >= -1."""
    if twice < 0:
        return np.asarray(1 / np.sqrt(x))
    whole = integer_power(x, twice // 2)
    return whole * np.sqrt(x) if twice % 2 else whole


@cache
def root_rule(order: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre on [0, 1] under a polynomial map flat at both ends, where a root |x|^s becomes x^{6 s + 5}."""
    x, weight = legendre_rule(order)
    slope = np.polynomial.Polynomial([0.5, -0.5]) ** 5 * np.polynomial.Polynomial([0.5, 0.5]) ** 5
    primitive = slope.integ(lbnd=-1)
    return primitive(x) / primitive(1.0), weight * slope(x) / primitive(1.0)


def chebyshev_points(size: int) -> Floats:
    """The zeros of T_size, descending, in (-1, 1)."""
    return np.cos(_angles(size))


def polynomials(size: int, points: int) -> Floats:
    """T_k at the zeros of T_points, (point, k < size).

    Computed as cos(k angle); with the rounded cosine of the angle near 1, T_k would have k^2 times its rounding error.
    """
    return np.cos(np.outer(_angles(points), np.arange(size)))


def chebyshev_values(x: Floats, size: int) -> Floats:
    """T_k at flat x, (k < size, point), by the recurrence in k."""
    values = np.empty((size, x.size))
    values[0] = 1
    if size > 1:
        values[1] = x
    double = 2 * x
    for k in range(2, size):
        np.multiply(double, values[k - 1], out=values[k])
        values[k] -= values[k - 2]
    return values


def clenshaw(coefficients: Floats, column: NDArray[np.intp], x: Floats) -> Floats:
    """sum_k c_k T_k(x), by Clenshaw's recurrence; every x has the column of coefficients (k, column) with its index."""
    double = 2 * x
    after, later = np.zeros((2, *x.shape))
    for row in coefficients[:0:-1]:
        after, later = row[column] + double * after - later, after
    return np.asarray(coefficients[0][column] + x * after - later)


@cache
def to_coefficients(size: int) -> Floats:
    """The matrix from values at `size` Chebyshev points to the coefficients of the polynomial through them."""
    matrix = np.asarray(2 / size * polynomials(size, size).T)
    matrix[0] /= 2
    matrix.setflags(write=False)
    return matrix


def _angles(size: int) -> Floats:
    return np.pi * (np.arange(size) + 0.5) / size


MOST_PANELS = 20_000
"""Largest number of panels of a table, which takes a few seconds and a hundred megabytes."""
LINEAR, LEAST_GROWTH = -1.0, 2.0
"""The u below which a coordinate is logarithmic again, and the least growth of the scale of a coordinate in u."""


@dataclass(frozen=True)
class Grading:
    """A coordinate v(u) in which integrands over u vary on a scale of one; `w` and u broadcast.

    It equals u up to a `knee` and is logarithmic beyond, and is mirrored at the middle of [0, 2w]. The deficit has the
    density s^{(d-3)/2}, so the kernel's exponential sets the scale below u ~ d/2, and the power law above.
    """

    d: int
    w: Floats | float

    @property
    def knee(self) -> float:
        """The u at which the coordinate changes from linear to logarithmic."""
        return max(4.0, self.d / 2)

    @property
    def growth(self) -> float:
        """The distance beyond the knee in which the scale doubles: u divided by the exponent of its power law."""
        return max(LEAST_GROWTH, self.d / 2)

    def v(self, u: Floats) -> Floats:
        """The coordinate of u."""
        return np.where(u <= self.w, self._half(u), 2 * self._half(self.w) - self._half(2 * self.w - u))

    def u(self, v: Floats) -> Floats:
        """The inverse of `v`."""
        top = self._half(self.w)
        # clip each half to its range, because the inverse overflows far outside
        lower, upper = np.minimum(v, top), np.minimum(2 * top - v, top)
        return np.where(v <= top, self._half_inverse(lower), 2 * self.w - self._half_inverse(upper))

    def scale(self, u: Floats) -> Floats:
        """The change of u per unit of the coordinate."""
        return 1 + np.maximum(np.minimum(u, 2 * self.w - u) - self.knee, 0) / self.growth

    def panels(self, low: float, high: float, width: float, fewest: int = 1) -> Floats:
        """Edges of panels between `low` and `high` of at most `width` in the coordinate: (edge,), for a single w."""
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

    def _half(self, u: Floats | float) -> Floats:
        beyond = np.maximum(u - self.knee, 0) / self.growth
        return np.where(u <= self.knee, u, self.knee + self.growth * np.log1p(beyond))

    def _half_inverse(self, v: Floats) -> Floats:
        beyond = np.maximum(v - self.knee, 0) / self.growth
        return np.where(v <= self.knee, v, self.knee + self.growth * np.expm1(beyond))


@dataclass(frozen=True)
class LogGrading(Grading):
    """A coordinate in which logarithms of averages vary on a scale of one.

    They bend where integrands do, but do not fall off exponentially. Beyond the knee the scale doubles in about
    max(2, `share` d). Below u = `LINEAR` they are linear up to a term e^u, and the coordinate is logarithmic there too.
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
"""Coefficients per unit of the graded coordinate; for evaluation it has PARTS parts with FEWER coefficients each."""


@dataclass(frozen=True)
class Graded:
    """A function of u between the first and the last of `edges`, as a Chebyshev polynomial on every part of a panel."""

    edges: Floats
    coefficients: Floats  # a column for every part of every panel
    tails: Floats  # the last coefficients on every panel, which bound the truncation error
    parts: int = 1  # of equal length, of every panel
    last: Floats = field(default_factory=lambda: np.empty(0))  # values near the end of every panel

    @classmethod
    def of(cls, function: Callable[[Floats], Floats], grading: Grading, *ends: float) -> list[Graded]:
        """Tabulate on panels of about one unit of the graded coordinate between successive ascending `ends`.

        `function` returns rows of values at a flat array.
        """
        edges = np.append(np.concatenate([grading.panels(*some, 1.0)[:-1] for some in pairwise(ends)]), ends[-1])
        u = edges[:-1, None] + np.diff(edges)[:, None] * (chebyshev_points(TABLE) + 1) / 2
        tables = []
        for values in np.atleast_2d(function(u.ravel())):
            values = values.reshape(u.shape)
            coefficients = to_coefficients(TABLE) @ values.T
            # (part, coefficient, panel); panels and their parts become the columns
            parts = np.reshape(np.transpose(_to_parts() @ coefficients, (1, 2, 0)), (FEWER, -1))
            tables.append(cls(edges, parts, np.max(np.abs(coefficients[-3:]), axis=0), PARTS, values[:, 0]))
        return tables

    def __call__(self, u: Floats) -> Floats:
        """Values at u, which is clipped to the range."""
        return clenshaw(self.coefficients, *self.place(u))

    def place(self, u: Floats) -> tuple[NDArray[np.intp], Floats]:
        """The part of a panel that holds each u, as a column of the coefficients, and the place in it, in [-1, 1]."""
        u = np.minimum(np.maximum(u, self.edges[0]), self.edges[-1])
        # find the panel by search, and its part, of equal length, by division
        panel = np.searchsorted(self.edges[1:-1], u)
        position = (u - self.edges[panel]) * (self.parts / np.diff(self.edges))[panel]
        part = np.minimum(position.astype(np.intp), self.parts - 1)
        return self.parts * panel + part, 2 * (position - part) - 1

    def tail(self, u: Floats) -> Floats:
        """The last coefficients on the panel of every u."""
        return self.tails[np.searchsorted(self.edges[1:-1], u)]


@cache
def _to_parts() -> Floats:
    """The matrices that take TABLE coefficients to FEWER on every part of an interval: (part, few, coefficient)."""
    inner = (2 * np.arange(PARTS)[:, None] + 1 + chebyshev_points(FEWER)) / PARTS - 1
    return np.asarray(to_coefficients(FEWER) @ chebyshev.chebvander(inner, TABLE - 1))
