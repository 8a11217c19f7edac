r"""The mean product of two increments of f, given both tokens' angles from the query.

    G(theta, theta') = E (f(x_i) - f(x)) (f(x_j) - f(x)) = (V(theta) + V(theta') - M(theta, theta')) / 2,
    M = E_beta V(theta_ij),  sin^2(theta_ij / 2) = sin^2(A / 2) + (sin^2(B / 2) - sin^2(A / 2)) sin^2(beta / 2),

where A = theta' - theta and B = min(theta + theta', 2 pi - theta - theta') are the smallest and largest angle between
two tokens, and the turn beta is the difference of their azimuths around the query. M does not depend on n or w. It is
tabulated once for a law and a dimension, cell by cell, each on first use.

M(A, B) is analytic except where A or B is at a place: 0, pi, or an angle at which V is not smooth. There it behaves
like a power of the distance from the place; if both A and B are at the same place, it is a homogeneous function of both
distances. So each interval between places is halved, each half with its place:

    A = place +- width y^flat, B = place' +- width' x^flat     where the places differ,
    the larger share = x^flat, their quotient = y^flat         of width and width', where it is the same place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Floats
from lipverify.foundation.sphere import half_beta, versine
from lipverify.loss.exact.quadrature import chebyshev_points, chebyshev_values, split_rule, to_coefficients
from lipverify.loss.exact.variograms.pieces import ROUNDING, SAFETY, scale
from lipverify.loss.exact.variograms.table import CHECKS, Variogram
from lipverify.loss.work import spend

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


SHARPNESS, TAIL = 1.8, 30.0
"""Error exponent of the rule in z divided by its order, and error exponent of the truncation at its end."""
PANEL, DENSE = 0.9, 3.0
"""Panel width of a rule in z that is split at crossings: at most PANEL, and at most DENSE / sqrt(d), because the
density has singularities of order d - 2. An edge within half a panel of a crossing is moved to it, so that the
crossing is not just outside a panel."""
TANH = 1 - 1e-15
"""The largest hyperbolic tangent that is inverted: a crossing beyond z = 17.6 is outside every rule."""
FEW_PAIRS = 64
"""Number of pairs at a time, so that arrays fit in a processor's cache."""
TURN = 120.0
"""Nanoseconds per node over a turn."""


def mean_over_turns(variogram: Variogram, nearest: Floats, farthest: Floats, order: int) -> Floats:
    """M for tokens at angles between `nearest` and `farthest` <= pi from each other, flat, by a rule over beta."""
    blocks = (slice(i, i + FEW_PAIRS) for i in range(0, nearest.size, FEW_PAIRS))
    means = [_means(variogram, nearest[block], farthest[block], order) for block in blocks]
    return np.concatenate([np.empty(0), *means])


def _means(variogram: Variogram, nearest: Floats, farthest: Floats, order: int) -> Floats:
    """M for a few pairs."""
    d, rest = variogram.d, variogram.beyond_linear
    squares = versine(nearest) / 2
    lever = np.sin((farthest - nearest) / 2) * np.sin((farthest + nearest) / 2)
    ends = rest(nearest), rest(farthest)
    inside = [m for m in variogram.meetings if np.any((nearest < m) & (m < farthest))]
    crossings = [
        np.arctanh(np.clip(2 * (math.sin(m / 2) ** 2 - squares) / np.maximum(lever, 1e-300) - 1, -TANH, TANH))
        for m in inside
    ]
    if crossings:
        row, z, weight = crossed_rule(d, order, np.stack(crossings, axis=1), variogram.power)
        first, last, low, reach = ends[0][row], ends[1][row], squares[row], lever[row]
        far_square = np.cos(farthest / 2)[row] ** 2
    else:
        z, weight = plain_turns(d, order, variogram.power)
        first, last, low, reach = (part[:, None] for part in (*ends, squares, lever))
        far_square = np.cos(farthest / 2)[:, None] ** 2
    spend(z.size * (1 if crossings else nearest.size), TURN, "means over pairs of tokens")
    ratio = np.exp(-2 * z)
    share = 1 / (1 + ratio)  # sin^2(beta/2)
    rest_share = ratio * share  # cos^2(beta/2)
    angle = 2 * np.arctan2(np.sqrt(low + reach * share), np.sqrt(far_square + reach * rest_share))
    # minus an interpolation of both ends, whose mean is half of their sum
    between = rest(angle) - first * rest_share - last * share
    weight = (4 * share * rest_share) ** ((d - 2) / 2) / half_beta(d - 2) * weight
    total = np.bincount(row, between * weight, minlength=nearest.size) if crossings else between @ weight
    return np.asarray((ends[0] + ends[1]) / 2 + total)


def _end(d: int, power: int) -> float:
    """The z beyond which the integrand, with density cosh^{2-d}(z) and a factor e^{-power |z|}, is negligible."""
    return math.acosh(math.exp(TAIL / (d - 2 + power)))


@cache
def plain_turns(d: int, order: int, power: int) -> tuple[Floats, Floats]:
    """Nodes and weights in z, tan(beta/2) = e^z, where all singularities of a mean over beta are at |Im z| = pi/2."""
    end = _end(d, power)
    # the error is e^{-2 pi a / step} cos^{2-d}(a), as on the lines |Im z| = a, at the best a
    a = np.linspace(0.01, 0.99, 99) * math.pi / 2
    step = float(np.max(2 * math.pi * a / (SHARPNESS * order - (d - 2) * np.log(np.cos(a)))))
    z = step * (np.arange(2 * math.ceil(end / step)) + 0.5 - math.ceil(end / step))
    return np.asarray(z), np.full(z.size, float(step))


def crossed_rule(d: int, order: int, crossings: Floats, power: int) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Rows, nodes and weights in z, split at the crossings, (row, crossing)."""
    end = _end(d, power)
    panels = 2 * math.ceil(end / min(PANEL, DENSE / math.sqrt(d)))
    fixed = np.linspace(-end, end, panels + 1)
    crossings = np.clip(crossings, -end, end)
    edges = np.broadcast_to(fixed, (len(crossings), fixed.size))
    for crossing in crossings.T[..., None]:
        edges = np.where((np.abs(fixed - crossing) < end / panels) & (np.abs(fixed) < end), crossing, edges)
    singular = np.concatenate([edges != fixed, np.ones(crossings.shape, dtype=bool)], axis=1)
    return split_rule(np.concatenate([edges, crossings], axis=1), singular, order)


ORDER, FINER = 22, 30
"""Orders of the rules over beta for the values of a table, and for the values that test it."""
SIZES = (20, 18), (28, 40)
"""Numbers of coefficients of a cell in x and y, tried in order until they settle."""
SETTLED, KNOWN = 4e-14, 1e-11
"""A cell whose last coefficients exceed the share SETTLED of its largest is split; a table with a relative error above
KNOWN is not used."""
MOST_SPLITS = 4
"""Most halvings of a cell; one that has not settled then is used with its error, or not at all."""
BETWEEN = np.array([0.003, 0.03, *CHECKS, 0.93, 0.997])
"""Points of a cell at which it is compared with values by another rule."""


@dataclass(frozen=True)
class Products:
    """The mean products of two increments of a law, computed from its variogram."""

    variogram: Variogram

    def __call__(
        self, near: Floats, which: NDArray[np.intp], both: Floats, sine: Floats, order: int
    ) -> tuple[Floats, Floats]:
        """G for tokens at angles (2, pair), near <= far, from the query, and a bound on its error.

        The nearer angle of a pair is `near[which]`, and `sine` is the sine of half of the difference. The part
        a (1 - t) of V has G = a (1 - t) (1 - t') / 2, without a difference; the rest, R, is of order theta^3 or
        smaller, and its difference loses no digits.
        """
        variogram = self.variogram
        rest, nears = (
            (function(near)[which], function(both[1])) for function in (variogram.beyond_linear, partial(scale, 2))
        )
        mean, off = self.mean(both, sine, order)
        value = variogram.slope / 2 * nears[0] * nears[1] + (rest[0] + rest[1] - mean) / 2
        if variogram.roots:
            slack = variogram.gap * (rest[0] + rest[1] + mean) / 2
        elif variogram.power == 1:
            slack = variogram.gap * np.sum(scale(1, both), axis=0)
        else:
            slack = variogram.gap / 2 * nears[0] * nears[1]
            slack = slack + variogram.rest_gap(np.sum(both, axis=0)) * (nears[0] + nears[1])
        return value, np.asarray(slack + off / 2)

    def turns(self, order: int) -> int:
        """Approximate number of values for a mean over beta."""
        return 4 * order if self._cells is None and self.variogram.d > 2 else 1

    def mean(self, both: Floats, sine: Floats, order: int) -> tuple[Floats, Floats | float]:
        """E_beta R(theta_ij), and the truncation error of its table."""
        apart, together = 2 * np.arcsin(sine), np.sum(both, axis=0)
        together = np.minimum(together, 2 * math.pi - together)
        if self.variogram.d == 2:
            return (self.variogram.beyond_linear(apart) + self.variogram.beyond_linear(together)) / 2, 0.0
        if self._cells is None:
            return mean_over_turns(self.variogram, apart, together, order), 0.0
        value, gap = np.empty_like(apart), np.empty_like(apart)
        which = self._cells.which(apart, together)
        for number in np.unique(which).tolist():
            pairs = np.flatnonzero(which == number)
            value[pairs], gap[pairs] = self._in_cell(number, apart[pairs], together[pairs], order)
        size = self._size(together)
        # angles near pi have an absolute error of eps
        return value * size, gap * size + ROUNDING * self.variogram.largest * self._size(both[1])

    def _in_cell(self, number: int, apart: Floats, together: Floats, order: int) -> tuple[Floats, Floats]:
        """The mean divided by its size in one cell, and the truncation error; by the rule if there is no table."""
        assert self._cells is not None
        x, y = self._cells[number].places(apart, together)
        value, gap = np.empty_like(x), np.empty_like(x)
        fits = self._fits(number)
        which = np.searchsorted([fit.cell.high for fit in fits[:-1]], x)
        for i, fit in enumerate(fits):
            points = np.flatnonzero(which == i)
            if not points.size:
                continue
            if fit.gap <= self._enough(fit, KNOWN):
                value[points], gap[points] = fit(x[points], y[points]), fit.gap
            else:
                mean = mean_over_turns(self.variogram, apart[points], together[points], order)
                value[points], gap[points] = mean / self._size(together[points]), 0.0
        return value, gap

    @cached_property
    def _cells(self) -> Cells | None:
        """The cells on which the mean over beta is tabulated; none for a law with roots."""
        if self.variogram.roots:
            return None
        inner = [m for m in self.variogram.meetings if m < math.pi]
        return Cells((0.0, *inner, math.pi), 2 if self.variogram.power == 2 else 4)

    @cached_property
    def _found(self) -> dict[int, list[Fit]]:
        return {}

    def _fits(self, number: int) -> list[Fit]:
        """The polynomials on the parts of a cell, computed on first use."""
        if number not in self._found:
            assert self._cells is not None
            waiting, fits = [self._cells[number]], []
            for depth in range(MOST_SPLITS + 1):
                polynomials = [self._fit(cell) for cell in waiting]
                settled = [fit.tail <= self._enough(fit, SETTLED) or depth == MOST_SPLITS for fit in polynomials]
                fits += [self._checked(fit) for fit, fine in zip(polynomials, settled, strict=True) if fine]
                rough = [fit.cell for fit, fine in zip(polynomials, settled, strict=True) if not fine]
                waiting = [
                    replace(cell, low=low, high=high)
                    for cell in rough
                    for low, high in pairwise((cell.low, (cell.low + cell.high) / 2, cell.high))
                ]
            self._found[number] = sorted(fits, key=lambda fit: fit.cell.low)
        return self._found[number]

    def _fit(self, cell: Cell) -> Fit:
        """The polynomial through values at Chebyshev points."""
        for sizes in SIZES:
            x, y = ((1 + chebyshev_points(size)) / 2 for size in sizes)
            values = np.reshape(self._values(cell, x, y, ORDER)[0], sizes)
            fit = Fit(cell, to_coefficients(sizes[0]) @ values @ to_coefficients(sizes[1]).T)
            if fit.tail <= self._enough(fit, SETTLED):
                break
        return fit

    def _enough(self, fit: Fit, share: float) -> float:
        """The tolerance: a share of the largest value, or the error of R over its size, which is counted anyway."""
        corners = np.repeat([fit.cell.low, fit.cell.high], 2), np.tile([0.0, 1.0], 2)
        farthest = np.asarray(np.max(fit.cell.angles(*corners)))
        known = self.variogram.rest_gap(farthest) * scale(self.variogram.power, farthest) / self._size(farthest)
        return max(share * fit.largest, float(known))

    def _checked(self, fit: Fit) -> Fit:
        """The polynomial with its gap: the largest difference from another rule's values, plus last coefficients."""
        values, (x, y) = self._values(fit.cell, BETWEEN, BETWEEN, FINER)
        trimmed = fit.trimmed()
        off = float(np.max(np.abs(trimmed(x, y) - values)))
        return replace(trimmed, gap=SAFETY * (off + fit.tail) + ROUNDING * fit.largest)

    def _values(self, cell: Cell, x: Floats, y: Floats, order: int) -> tuple[Floats, tuple[Floats, Floats]]:
        """E_beta R(theta_ij) over its size on the grid of x, as shares of the cell, and y, flat; the coordinates."""
        x, y = np.repeat(cell.low + (cell.high - cell.low) * x, y.size), np.tile(y, x.size)
        apart, together = cell.angles(x, y)
        return mean_over_turns(self.variogram, apart, together, order) / self._size(together), (x, y)

    def _size(self, together: Floats) -> Floats:
        """The scale of E_beta R: a function of which E_beta R is a bounded multiple."""
        return scale(self.variogram.power, together) * (together if self.variogram.power == 2 else 1.0)
