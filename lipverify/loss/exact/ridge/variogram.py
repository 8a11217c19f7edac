r"""The variogram V(theta) = E_f (f(x) - f(x'))^2 of a law, as a table; it holds all of it that the loss depends on.

V is analytic between the angles at which two kinks of a link meet as circles on the sphere, and so is a polynomial on
each of a few pieces; values are those of a `Source`: averages over planes, a closed form, or a covariance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.polynomial import Chebyshev, chebyshev

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.ridge.planes import CONCENTRATION, RATIO, Link, Planes, meetings_of
from lipverify.loss.exact.ridge.tokens import gauss_rule

SIZE, MANY = 28, 8
"""Coefficients on a piece, and values for each of them where values are noisy."""
ORDERS, ROOT_ORDERS = (8, 12, 16, 22, 30, 44, 64), (12, 16, 22, 30, 44)
"""Of the rules behind them; the least that settles is used."""
CHECKS = np.array([0.11, 0.37, 0.52, 0.83])
"""Where in [0, 1] a piece is compared with values by another rule."""
SAFETY = 4.0
SETTLED, SETTLED_ROOT = 1e-13, 1e-9
"""A piece whose last coefficients are larger than this share of its largest value is split in two."""
ANALYTIC = 1e-8
"""Where pieces do not settle to this, the link has roots."""
MOST_SPLITS, MOST_PIECES = 5, 60
SMALLEST = 1e-7
"""Of the angles of a link with roots: below it the variogram is a power."""
VARIANCE_ORDER = 40
TINY = 1e-150
EPS = float(np.finfo(float).eps)
ROUNDING = 16 * EPS
NOTHING = Chebyshev([0.0])


class Source(Protocol):
    """Where values of a variogram in dimension d come from.

    `roots` asks for pieces that resolve powers of the angle. With `noise` > 0 values are known to that times
    1 + V / (1 - cos(theta)) only: as differences of a covariance, whose argument is rounded too.
    """

    @property
    def d(self) -> int:
        """Ambient dimension."""

    @property
    def roots(self) -> bool:
        """Whether V may be a power of the angle at 0."""

    @property
    def noise(self) -> float:
        """What values are known to."""

    def at(self, theta: Floats, order: int) -> Floats:
        """V at every angle of a flat array, by rules of one order."""


@dataclass(frozen=True)
class Piece:
    """V / F on [low, high], F = 1 - cos(theta) or sin(theta/2): a polynomial in y, theta = low + width s(y).

    Both ends may be square roots of an analytic function, s(y) = sin^2(pi y / 2), the first piece's alone at the
    right, s(y) = y (2 - y). `rise` is (V/F - its value at 0) / theta there. The noise of the values behind it moves it
    by `shaken` at most, and the rise by `rise_shaken`; what a polynomial leaves out counts `lever` times where values
    have little weight.
    """

    low: float
    high: float
    first: bool
    values: Chebyshev
    rise: Chebyshev | None = None
    shaken: float = 0.0
    rise_shaken: float = 0.0
    lever: float = 1.0

    @property
    def tail(self) -> float:
        """Its last coefficients: what is left out is about as large."""
        return self.lever * float(np.max(np.abs(self.values.coef[-3:])))

    @property
    def largest(self) -> float:
        """The largest value of V / F."""
        return float(np.max(np.abs(self.values(np.linspace(-1, 1, 41)))))

    def places(self, y: Floats) -> Floats:
        """The angles at y."""
        share = y * (2 - y) if self.first else np.sin(math.pi * y / 2) ** 2
        return np.asarray(self.low + (self.high - self.low) * share)

    def y(self, theta: Floats) -> Floats:
        """The inverse of `places`."""
        share = np.clip((theta - self.low) / (self.high - self.low), 0, 1)
        if self.first:
            return np.asarray(share / (1 + np.sqrt(1 - share)))
        return np.asarray(2 / math.pi * np.arcsin(np.sqrt(share)))


@dataclass(frozen=True)
class Variogram:
    """V as a table.

    Attributes
    ----------
    slope
        a = lim V / (1 - t) as t -> 1, or 0 where that limit is not finite.
    power
        F behaves like theta^power: 1 for links with jumps, 2 for others.
    gap, rise_gap
        Bounds on the errors of V / F, and of (V / F - a) / theta. For a link with roots that of V, relative, and 0.
    """

    d: int
    slope: float
    power: int
    gap: float
    rise_gap: float
    roots: bool
    pieces: tuple[Piece, ...]
    meetings: tuple[float, ...]

    @property
    def largest(self) -> float:
        """The largest value of V / F."""
        return max(piece.largest for piece in self.pieces)

    def __call__(self, theta: Floats) -> Floats:
        """V."""
        return self._by_piece(theta, lambda piece, x: scale(self.power, x) * self._ratio(piece, x))

    def beyond_linear(self, theta: Floats) -> Floats:
        """R = V - a (1 - t)."""

        def rest(piece: Piece, x: Floats) -> Floats:
            if piece.rise is not None:
                return np.asarray(scale(self.power, x) * x * piece.rise(2 * piece.y(x) - 1))
            return scale(self.power, x) * (self._ratio(piece, x) - self.slope)

        return self._by_piece(theta, rest)

    @property
    def variance(self) -> float:
        """Var f(x): half of the mean of V over independent points."""
        near = [math.pi / 2 + sign * z / math.sqrt(self.d) for z in CONCENTRATION for sign in (-1, 1)]
        inner = [piece.low for piece in self.pieces] + [edge for edge in near if 0 < edge < math.pi]
        edges = np.unique([0.0, *inner, math.pi])
        x, gauss = gauss_rule(VARIANCE_ORDER)
        theta = edges[:-1, None] + np.diff(edges)[:, None] * x
        weight = np.diff(edges)[:, None] * gauss * np.sin(theta) ** (self.d - 2)
        return float(np.sum(weight * self(theta)) / np.sum(weight)) / 2

    def _ratio(self, piece: Piece, x: Floats) -> Floats:
        """V / F; below the first piece of a link with roots a power of theta."""
        values = piece.values(2 * piece.y(x) - 1)
        if not self.roots or piece is not self.pieces[0]:
            return np.asarray(values)
        ends = piece.values(np.array([-1.0, 2 * float(piece.y(np.array(2 * piece.low))) - 1]))
        below = np.minimum(np.maximum(x, TINY) / piece.low, 1.0) ** math.log2(ends[1] / ends[0])
        return np.asarray(values * below)

    def _by_piece(self, theta: Floats, value: Callable[[Piece, Floats], Floats]) -> Floats:
        which = np.searchsorted([piece.high for piece in self.pieces[:-1]], theta)
        counts = np.bincount(which.ravel(), minlength=len(self.pieces))
        result = np.empty_like(theta)
        for i in np.flatnonzero(counts):
            if counts[i] == theta.size:
                return value(self.pieces[i], theta)
            here = which == i
            result[here] = value(self.pieces[i], theta[here])
        return result


def scale(power: int, theta: Floats) -> Floats:
    """F: 1 - cos(theta) for power 2, sin(theta/2) for power 1."""
    sine = np.sin(theta / 2)
    return np.asarray(2 * sine**2 if power == 2 else sine)


def variogram_of(d: int, link: Link, kinks: tuple[float, ...], jumps: bool) -> Variogram:
    """The table of a link with kinks, or with `jumps` too; where pieces do not settle, by rules for roots."""
    planes, meetings = Planes(d, link, kinks), meetings_of(kinks)
    table = tabulated(planes, 1 if jumps else 2, [0.0, *meetings, math.pi], meetings)
    share = table.gap / max(table.largest, TINY)
    if share <= ANALYTIC:
        return table
    rooted = tabulated(replace(planes, roots=True), 2, root_edges(meetings), meetings)
    return rooted if rooted.gap < share else table


def root_edges(meetings: tuple[float, ...] = ()) -> list[float]:
    """Edges of pieces that resolve powers of the angle, down to `SMALLEST`."""
    steps = [SMALLEST * RATIO**j for j in range(math.ceil(math.log(math.pi / SMALLEST, RATIO)))]
    return sorted({*steps, *meetings, math.pi})


def tabulated(planes: Source, power: int, edges: list[float], meetings: tuple[float, ...] = ()) -> Variogram:
    """Pieces between the edges, split where they do not settle; values by a rule of the least order that does."""
    order, next_order = _order(planes, power, edges)
    pieces: list[Piece] = []
    unsettled = list(pairwise(edges))
    for depth in range(MOST_SPLITS + 1):
        fits = _fitted(planes, power, unsettled, order)
        unsettled = []
        for piece in fits:
            if piece.tail <= max(SETTLED * piece.largest, piece.shaken) or depth == MOST_SPLITS or planes.roots:
                pieces.append(piece)
            else:
                middle = piece.high / 4 if 4 * piece.low < piece.high else (piece.low + piece.high) / 2
                unsettled += [(piece.low, middle), (middle, piece.high)]
        if not unsettled or len(unsettled) > MOST_PIECES:
            pieces += [piece for piece in fits if (piece.low, piece.high) not in unsettled and piece not in pieces]
            break
    pieces.sort(key=lambda piece: piece.low)
    return _checked(planes, power, pieces, meetings, next_order)


def _order(planes: Source, power: int, edges: list[float]) -> tuple[int, int]:
    """The least order of which the next one gives the same values at a few angles of every interval, and that one."""
    theta = np.concatenate([Piece(low, high, low == 0, NOTHING).places(CHECKS) for low, high in pairwise(edges)])
    ladder = ROOT_ORDERS if planes.roots else ORDERS
    values = planes.at(theta, ladder[0])
    for order, finer in pairwise(ladder):  # noqa: B007
        former, values = values, planes.at(theta, finer)
        off = np.abs(values - former)
        if planes.roots and np.max(off / np.maximum(values, TINY)) <= SETTLED_ROOT:
            break
        if not planes.roots and np.max(off / scale(power, theta)) <= SETTLED * np.max(values / scale(power, theta)):
            break
    return order, finer


def _checked(planes: Source, power: int, pieces: list[Piece], meetings: tuple[float, ...], order: int) -> Variogram:
    """The table with its errors: what pieces leave out, and values between their nodes by a rule of the next order."""
    theta = np.concatenate([piece.places(CHECKS) for piece in pieces])
    values = np.reshape(planes.at(theta, order) / scale(power, theta), (len(pieces), -1))
    fits = np.stack([piece.values(2 * CHECKS - 1) for piece in pieces])
    gaps = SAFETY * np.max(np.abs(values - fits), axis=1) + SAFETY * np.array([piece.tail for piece in pieces])
    largest = np.array([piece.largest for piece in pieces])
    gaps += ROUNDING * largest + np.array([piece.shaken for piece in pieces])
    pieces = [replace(piece, values=_trimmed(piece.values)) for piece in pieces]
    if planes.roots:
        gap = float(np.max(gaps / np.maximum(largest, TINY)))
        return Variogram(planes.d, 0.0, power, gap, 0.0, True, tuple(pieces), meetings)
    slope, rise_gap = 0.0, 0.0
    if power == 2:
        rise = _rise(pieces[0])
        first = replace(pieces[0], rise=_trimmed(rise))
        slope = float(first.values(-1.0))
        # the rise is known to the rounding of the ratio at the first nodes, over their angle
        off = np.abs((values[0] - slope) / first.places(CHECKS) - rise(2 * CHECKS - 1))
        rests = [2 * gap / piece.low for gap, piece in zip(gaps[1:], pieces[1:], strict=True)]
        tail = float(np.max(np.abs(rise.coef[SIZE - 4 : SIZE - 1])))
        rise_gap = max([SAFETY * (float(np.max(off)) + tail) + ROUNDING * float(np.abs(rise.coef).sum()), *rests])
        rise_gap += first.rise_shaken
        pieces[0] = first
    return Variogram(planes.d, slope, power, float(np.max(gaps)), rise_gap, False, tuple(pieces), meetings)


def _fitted(planes: Source, power: int, intervals: list[tuple[float, float]], order: int) -> list[Piece]:
    """A piece on every interval, through SIZE values."""
    x = np.cos(np.pi * (np.arange(SIZE) + 0.5) / SIZE)
    pieces = [Piece(low, high, low == 0, NOTHING) for low, high in intervals]
    if planes.noise > 0:
        return [_smoothed(planes, power, piece) for piece in pieces]
    theta = np.concatenate([piece.places((x + 1) / 2) for piece in pieces])
    values = np.reshape(planes.at(theta, order) / scale(power, theta), (len(pieces), SIZE))
    fits = [Chebyshev.fit(x, row, SIZE - 1, domain=[-1, 1]) for row in values]
    return [replace(piece, values=fit) for piece, fit in zip(pieces, fits, strict=True)]


def _smoothed(planes: Source, power: int, piece: Piece) -> Piece:
    """The piece through many noisy values, by least squares with weights; what the noise may do to it."""
    x = np.cos(np.pi * (np.arange(MANY * SIZE) + 0.5) / (MANY * SIZE))
    theta = piece.places((x + 1) / 2)
    V, F = planes.at(theta, 0), scale(power, theta)
    noise = planes.noise * (1 + V / np.maximum(scale(2, theta), TINY)) / F
    weight = 1 / (ROUNDING * np.abs(V / F) + noise)
    solve = np.linalg.pinv(weight[:, None] * chebyshev.chebvander(x, SIZE - 1)) * weight
    fit = Chebyshev(solve @ (V / F))
    at = np.linspace(-1, 1, 8 * SIZE)
    reach = chebyshev.chebvander(at, SIZE - 1) @ solve
    risen = (reach[1:] - reach[0]) / piece.places((at[1:, None] + 1) / 2) if piece.first else np.zeros((1, x.size))
    shaken, rise_shaken = (float(np.max(np.abs(rows) @ noise)) for rows in (reach, risen))
    lever, rise_lever = (float(np.max(np.sum(np.abs(rows), axis=1))) for rows in (reach, risen))
    left_out = SAFETY * float(np.max(np.abs(fit.coef[-3:])))
    return replace(piece, values=fit, shaken=shaken, rise_shaken=rise_shaken + rise_lever * left_out, lever=lever)


def _trimmed(fit: Chebyshev) -> Chebyshev:
    """Without the coefficients at the end that are rounding."""
    return fit.trim(EPS / 2 * float(np.max(np.abs(fit.coef), initial=0.0)))


def _rise(piece: Piece) -> Chebyshev:
    """(V/F - its value at 0) / theta: the polynomial less that, over theta = high (x + 1) (3 - x) / 4."""
    coefficients = piece.values.coef.copy()
    coefficients[0] -= piece.values(-1.0)
    quotient, _ = chebyshev.chebdiv(coefficients, [1.0, 1.0])
    x = np.cos(np.pi * (np.arange(64) + 0.5) / 64)
    return Chebyshev.fit(x, 4 * chebyshev.chebval(x, quotient) / (piece.high * (3 - x)), 40, domain=[-1, 1])
