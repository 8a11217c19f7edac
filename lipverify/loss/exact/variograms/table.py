r"""The variogram V(theta) = E_f (f(x) - f(x'))^2 of a law as a table; the loss depends on the law only through it.

V is analytic between the angles at which the circles of two kinks meet, so a few polynomial pieces represent it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.polynomial import Chebyshev

from lipverify.foundation.arrays import EPS, Floats
from lipverify.loss.exact.quadrature import CONCENTRATION, clenshaw, gauss_rule, on_panels, root_rule
from lipverify.loss.exact.variograms.pieces import (
    ROUNDING,
    SAFETY,
    SETTLED,
    SIZE,
    TINY,
    Piece,
    Ratio,
    Source,
    coordinate,
    rise_of,
    scale,
)
from lipverify.loss.exact.variograms.planes import Link, Planes, meetings_of
from lipverify.loss.exact.variograms.roots import NEAR, has_roots, is_resolved
from lipverify.loss.exact.variograms.segments import segments
from lipverify.loss.exact.variograms.slopes import derivative, is_calm, mean_square

ORDERS, STEEP_ORDERS = (8, 12, 16, 22, 30, 44, 64), (80, 100, 128, 160, 200)
"""Orders of the rules for values; the smallest that settles is used. The second are for links that need many nodes."""
STRAIGHT_ORDERS = (22, 30, 44, 64)
"""Orders for closed forms, whose nodes are cheap."""
CHECKS = np.array([0.11, 0.37, 0.52, 0.83])
"""Points of [0, 1] at which a piece is compared with values by another rule."""
SETTLED_ROOT = 5e-9
"""Tolerance for a link with roots: relative difference of values by two rules, and size of last coefficients."""
ANALYTIC = 1e-8
"""If pieces do not settle to this, the link is treated as one with roots."""
LOST = 1e-6
"""If the rest of V beyond its linear part is known to this by the derivative of the link, nothing else is tried."""
MOST_SPLITS = 8
"""Largest number of halvings of a piece."""
SMALLEST, RATIO, SHORT, WIDE = 1e-7, 66.0, 8.0, 1.8
"""For a link with roots: below the angle SMALLEST the variogram is a power, pieces grow by at most the factor RATIO, of
which no more than SHORT need not settle, and one ends at WIDE: beyond, V is no power, and turns at pi."""


@dataclass(frozen=True)
class Variogram:
    """V as a table, with bounds on its errors."""

    d: int
    slope: float  # a = lim V / (1 - t) as t -> 1, or 0 where that limit is not finite or not known
    power: int  # exponent of F at 0: 1 for links with jumps, 2 for others
    gap: float  # of V / F; for a link with roots, the relative error of R = V - a (1 - t)
    rise_gap: float  # of (V / F - a) / theta; for a link with roots, of a
    roots: bool
    pieces: tuple[Piece, ...]  # of V / F; for a link with roots, of R / F
    meetings: tuple[float, ...]
    splits: tuple[float, ...] = ()  # angles between which V varies on different scales: every rule is split there

    @property
    def largest(self) -> float:
        """The largest value of V / F."""
        return max(piece.largest for piece in self.pieces)

    def __call__(self, theta: Floats) -> Floats:
        """V."""
        return np.asarray(scale(self.power, theta) * (self._ratio(theta) + self.roots * self.slope))

    def beyond_linear(self, theta: Floats) -> Floats:
        """R = V - a (1 - t)."""
        rise = self.pieces[0].rise is not None
        ratio = self._ratio(theta, rise)
        if self.roots:
            return np.asarray(scale(self.power, theta) * ratio)
        rest = np.where(theta <= self.pieces[0].high, theta * ratio, ratio - self.slope) if rise else ratio - self.slope
        return np.asarray(scale(self.power, theta) * rest)

    @cached_property
    def peak(self) -> float:
        """The largest value of V on a grid; at the antipode, V of an even link is 0."""
        return float(np.max(self(np.asarray(np.linspace(0, math.pi, 41), dtype=np.float64))))

    @property
    def slope_gap(self) -> float:
        """A bound on the error of the slope."""
        return self.rise_gap if self.roots else 0.0 if self.power == 1 else self.gap

    def rest_off(self, theta: Floats) -> Floats:
        """A bound on the error of R."""
        if self.roots:
            return self._drifted(theta)
        if self.power == 1:
            return self.off(theta)
        return np.asarray(np.minimum(self.rise_gap * theta, self._gap(theta) + self.gap) * scale(2, theta))

    def off(self, theta: Floats) -> Floats:
        """A bound on the error of V."""
        if not self.roots:
            return np.asarray(self._gap(theta) * scale(self.power, theta))
        return np.asarray(self.rise_gap * scale(self.power, theta) + self._drifted(theta))

    def _drifted(self, theta: Floats) -> Floats:
        """A bound on the error of R; a power of the angle drifts below the first piece as it does on that."""
        first = self.pieces[0]
        logs = np.log(np.maximum(np.abs(self.beyond_linear(first.low * np.array([1.0, 2.0, 4.0]))), TINY))
        drift = abs(logs[2] - 2 * logs[1] + logs[0]) / math.log(2) ** 2
        # the exponent used is that between `low` and 2 `low`
        below = np.log(first.low / np.clip(theta, TINY, first.low))
        return np.asarray(
            np.minimum(self.gap + drift / 2 * below * (below + math.log(2)), 1.0) * np.abs(self.beyond_linear(theta))
        )

    @property
    def variance(self) -> float:
        """Var f(x): half of the mean of V over pairs of independent points."""
        return self._over_the_sphere(self) / 2

    @property
    def relative_gap(self) -> float:
        """A bound on the error of V relative to itself, where V / F is largest and on average over the sphere."""
        if self.roots:
            return self.gap
        mean = self._over_the_sphere(lambda theta: self._own_gap(theta) * scale(self.power, theta))
        return max(self.gap / self.largest, mean / self._over_the_sphere(self))

    def _over_the_sphere(self, values: Callable[[Floats], Floats]) -> float:
        """The mean of a function of the angle between two independent points."""
        near = [math.pi / 2 + sign * z / math.sqrt(self.d) for z in CONCENTRATION for sign in (-1, 1)]
        inner = [piece.low for piece in self.pieces] + [edge for edge in near if 0 < edge < math.pi]
        edges = np.unique([0.0, *inner, math.pi])
        theta, weight = on_panels(edges, gauss_rule(40))
        weight = weight * np.sin(theta) ** (self.d - 2)
        return float(np.sum(weight * values(theta)) / np.sum(weight))

    def _gap(self, theta: Floats) -> Floats:
        """A bound on the error of V / F at every angle."""
        return self._own_gap(theta) if self.splits else np.full_like(theta, self.gap)

    def _own_gap(self, theta: Floats) -> Floats:
        """A bound on the error of V / F on the piece of every angle."""
        highs = self._columns[1]
        return np.array([piece.gap for piece in self.pieces])[np.searchsorted(highs[:-1], theta)]

    def _ratio(self, theta: Floats, rise: bool = False) -> Floats:
        """V / F, or on the first piece (V / F - a) / theta; below that of a link with roots, a power of theta."""
        first = self.pieces[0]
        lows, highs, columns = self._columns
        piece = np.searchsorted(highs[:-1], theta)
        y = coordinate(theta, lows[piece], highs[piece], first.first & (piece == 0), self.roots)
        values = clenshaw(columns, np.where(piece == 0, -1, piece) if rise else piece, 2 * y - 1)
        if not self.roots:
            return values
        ends = first.values(np.array([-1.0, 2 * float(first.y(np.array(2 * first.low))) - 1]))
        start, double = np.maximum(np.abs(ends), TINY)  # where all of V is rounding, it may be negative
        # V is bounded, so that V / theta^2 rises no faster than this
        exponent = max(math.log2(double / start), -2.0)
        return np.asarray(values * np.minimum(np.maximum(theta, TINY) / first.low, 1.0) ** exponent)

    @cached_property
    def _columns(self) -> tuple[Floats, Floats, Floats]:
        """The ends of the pieces, and a column of coefficients for each piece and for the rise of the first."""
        rise = self.pieces[0].rise
        fits = [piece.values.coef for piece in self.pieces] + ([] if rise is None else [rise.coef])
        columns = np.zeros((max(fit.size for fit in fits), len(fits)))
        for column, fit in zip(columns.T, fits, strict=True):
            column[: fit.size] = fit
        lows, highs = (np.array([getattr(piece, end) for piece in self.pieces]) for end in ("low", "high"))
        return lows, highs, columns


def variogram_of(d: int, link: Link, kinks: tuple[float, ...], jumps: bool) -> Variogram:
    """The table of a link with kinks, and perhaps `jumps`: in closed form if the link is linear between them.

    Otherwise by means over planes, with rules for roots if there are roots or if other rules do not settle.
    """
    planes, meetings = Planes(d, link, kinks), meetings_of(kinks)
    if (straight := segments(d, link, kinks, meetings)) is not None:
        source = Source(d, straight.at, loses=0)
        return tabulated(source, straight.power, [0.0, *meetings, math.pi], meetings, STRAIGHT_ORDERS, 1000)
    if not jumps:  # V bends less there, and pieces with round ends have less noise
        meetings = tuple(np.round(meetings, 12).tolist())

    def plain() -> Variogram:
        source, edges = Source(d, planes.at, loses=1), [0.0, *meetings, math.pi]
        return tabulated(source, 1 if jumps else 2, edges, meetings, orders_of(link, kinks, False))

    def rooted() -> Variogram:
        source = Source(d, replace(planes, roots=True).at, roots=True, loses=1)
        return tabulated(source, 2, root_edges(meetings), meetings, orders_of(link, kinks, True))

    first, second = (rooted, plain) if has_roots(link, kinks, NEAR) else (plain, rooted)
    if first is rooted and not jumps and is_calm(link, kinks):
        bent = by_derivative(d, link, kinks, meetings)
        if share_of(bent) <= LOST:
            return bent
    table = first()
    # on the circle a root at z = 1 is a kink of the angle, or none
    if share_of(table) <= ANALYTIC and not (d == 2 and {abs(kink) for kink in kinks} == {1.0}):
        return table
    return min(table, second(), key=share_of)


def by_derivative(d: int, link: Link, kinks: tuple[float, ...], meetings: tuple[float, ...]) -> Variogram:
    """The table of a link with roots and a finite derivative, from the variogram of that (see `slopes`)."""

    def slope_of(order: int) -> Link:
        return derivative(link, kinks, 14 + order // 8)

    def of_derivative(theta: Floats, order: int) -> Floats:
        return Planes(d + 2, slope_of(order), kinks, roots=True).at(theta, order)

    smallest = SMALLEST / 5 if kinks == (0.0,) else SMALLEST  # next to a kink at 0 points are not rounded
    edges, orders = root_edges(meetings, smallest), ORDERS[2:6]  # beyond, rounding of h' at these angles remains
    inner = tabulated(Source(d + 2, of_derivative, roots=True, loses=1), 2, edges, meetings, orders)
    panels = np.array([0.0, *(piece.low for piece in inner.pieces), math.pi])

    def bend(theta: Floats, order: int, of: Callable[[Floats], Floats] = inner) -> Floats:
        angle, weight = on_panels(np.minimum(panels, theta[:, None]), root_rule(order))
        return np.asarray(np.sum(weight * of(angle) * np.sin(angle), axis=(1, 2)) / d)

    # from here on the part of the integral below the first piece of `inner`, where that drifts, is small
    first = np.array([36 * smallest])
    table = tabulated(Source(d, bend, roots=True), 2, root_edges(meetings, float(first[0])), meetings, ORDERS[2:])
    below = float((bend(first, ORDERS[-1], inner.off) / bend(first, ORDERS[-1]))[0])
    squares = [mean_square(d + 2, slope_of(order), kinks, order) for order in (64, 90)]
    slope, off = 2 / d * squares[1], 8 / d * abs(squares[1] - squares[0])
    pieces = tuple(replace(piece, values=-piece.values) for piece in table.pieces)
    table = replace(
        table, slope=slope, gap=table.gap + inner.gap + below, rise_gap=off + SETTLED * slope, pieces=pieces
    )
    # the identity holds only between declared kinks: compare with means over planes
    theta = math.pi * CHECKS
    apart = np.abs(table(theta) - Planes(d, link, kinks, roots=True).at(theta, orders[-1]))
    return replace(table, gap=max(table.gap, float(np.max(apart / np.abs(table.beyond_linear(theta))))))


def orders_of(link: Link, kinks: tuple[float, ...], roots: bool) -> tuple[int, ...]:
    """The orders of the rules to try for a link with kinks."""
    return (*ORDERS[1:], 90) if roots else ORDERS + STEEP_ORDERS * is_resolved(link, kinks)


def share_of(table: Variogram) -> float:
    """The error of V / F relative to its largest value; for a table of powers, relative to V."""
    return table.gap if table.roots else table.gap / max(table.largest, TINY)


def root_edges(meetings: tuple[float, ...] = (), smallest: float = SMALLEST, ratio: float = RATIO) -> list[float]:
    """Edges of pieces that resolve powers of the angle, down to the smallest one."""
    first, *ends = sorted((smallest, *meetings, WIDE, math.pi))
    edges = [first]
    for end in ends:
        count = math.ceil(math.log(end / edges[-1]) / math.log(ratio))
        edges += np.geomspace(edges[-1], end, count + 1)[1:].tolist()
    return edges


def tabulated(
    source: Source,
    power: int,
    edges: list[float],
    meetings: tuple[float, ...] = (),
    orders: tuple[int, ...] = ORDERS,
    most: int = 60,  # pieces of means over planes take seconds per hundred
    splits: tuple[float, ...] = (),
    depth: int = MOST_SPLITS,
) -> Variogram:
    """Pieces between the edges, split if they do not settle and are few; by the rule of smallest order that settles.

    With `splits` V varies on scales that are far apart, and every piece has its own error.
    """
    ratio = Ratio(source, power, _order(source, power, edges, orders))
    pieces: list[Piece] = []
    unsettled = list(pairwise(edges))
    for halved in range(depth + 1):
        fits = ratio.pieces(unsettled)
        unsettled = []
        for piece in fits:
            if halved == depth or _settled(piece, source):
                pieces.append(piece)
            else:
                middle = piece.high / 4 if 4 * piece.low < piece.high else (piece.low + piece.high) / 2
                if source.roots:
                    middle = math.sqrt(piece.low * piece.high)
                unsettled += [(piece.low, middle), (middle, piece.high)]
        if not unsettled or len(unsettled) > most:
            pieces += [piece for piece in fits if (piece.low, piece.high) not in unsettled and piece not in pieces]
            break
    pieces.sort(key=lambda piece: piece.low)
    return _checked(ratio, pieces, meetings, splits)


def _settled(piece: Piece, source: Source) -> bool:
    """True if splitting cannot improve a piece; short pieces of a link with roots are powers, alike at any scale."""
    short = piece.low < 0.1 and piece.high <= SHORT * piece.low
    return piece.settled or (source.roots and (short or piece.tail <= SETTLED_ROOT * piece.largest))


def _order(source: Source, power: int, edges: list[float], orders: tuple[int, ...]) -> tuple[int, int]:
    """The smallest order that agrees with the next one at a few angles of every interval, and the next one."""
    pieces = [Piece(low, high, low == 0, powers=source.roots) for low, high in pairwise(edges)]
    theta = np.concatenate([piece.places(CHECKS[:: 1 if source.roots else 2]) for piece in pieces])
    values = source.at(theta, orders[0])
    for order, finer in pairwise(orders):  # noqa: B007
        former, values = values, source.at(theta, finer)
        off = np.abs(values - former)
        if source.roots and np.max(off / np.maximum(values, TINY)) <= SETTLED_ROOT:
            break
        if not source.roots and np.max(off / scale(power, theta)) <= SETTLED * np.max(values / scale(power, theta)):
            break
    return order, finer


def _checked(ratio: Ratio, pieces: list[Piece], meetings: tuple[float, ...], splits: tuple[float, ...]) -> Variogram:
    """The table with its errors: truncation of pieces, and differences to a rule of the next order between nodes."""
    source, power = ratio.source, ratio.power
    if not source.roots and source.noise == 0 and pieces[0].shaken == 0:
        pieces[0] = ratio.rounded(pieces[0])
    values = ratio.at(np.stack([piece.places(CHECKS) for piece in pieces]), finer=True)
    fits = np.stack([piece.values(2 * CHECKS - 1) for piece in pieces])
    gaps = SAFETY * np.max(np.abs(values - fits), axis=1) + SAFETY * np.array([piece.tail for piece in pieces])
    largest = np.array([piece.largest for piece in pieces])
    gaps += ROUNDING * largest + np.array([piece.shaken for piece in pieces])
    pieces = [
        replace(piece, values=_trimmed(piece.values), gap=float(gap)) for piece, gap in zip(pieces, gaps, strict=True)
    ]
    if source.roots:
        gap = float(np.max(gaps / np.maximum(largest, TINY)))
        return Variogram(source.d, 0.0, power, gap, 0.0, True, tuple(pieces), meetings, splits)
    slope, rise_gap = 0.0, 0.0
    if power == 2:
        rise = rise_of(pieces[0])
        first = replace(pieces[0], rise=_trimmed(rise))
        slope = float(first.values(-1.0))
        off = np.abs((values[0] - slope) / first.places(CHECKS) - rise(2 * CHECKS - 1))
        rests = [(gaps[0] + gap) / piece.low for gap, piece in zip(gaps[1:], pieces[1:], strict=True)]
        tail = float(np.max(np.abs(rise.coef[SIZE - 4 : SIZE - 1])))
        rise_gap = max([SAFETY * (float(np.max(off)) + tail) + ROUNDING * float(np.abs(rise.coef).sum()), *rests])
        rise_gap += first.rise_shaken
        pieces[0] = first
    return Variogram(source.d, slope, power, float(np.max(gaps)), rise_gap, False, tuple(pieces), meetings, splits)


def _trimmed(fit: Chebyshev) -> Chebyshev:
    """The piece without its last coefficients, which are rounding errors."""
    return fit.trim(EPS / 2 * float(np.max(np.abs(fit.coef), initial=0.0)))
