r"""The variogram V(theta) = E_f (f(x) - f(x'))^2 of a link that is analytic between its kinks and jumps.

It holds all of a law that the loss depends on. With x, x' at angle theta, q has two coordinates in their plane, at
distance rho from its origin and angle phi from the middle between x and x', so that

    V(theta) = E_rho 1/pi int_0^pi (h(rho cos(phi - theta/2)) - h(rho cos(phi + theta/2)))^2 dphi,

where rho^2 is a beta variable of parameters 1, (d-2)/2, and rho = 1 for d = 2. Either coordinate passes a kink c
at phi = |alpha +- theta/2|, cos(alpha) = c / rho; both pass kinks c and c' at once where
rho^2 sin^2(theta) = c^2 + c'^2 - 2 c c' cos(theta). Between these places everything is analytic, and V itself is
between the angles at which two kinks meet as circles on the sphere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations_with_replacement, pairwise
from typing import ClassVar, Protocol

import numpy as np
from numpy.polynomial import Chebyshev, chebyshev

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.ridge.tokens import gauss_rule

Link = Callable[[Floats], Floats]

SIZE, MANY = 28, 8
"""Coefficients on a piece, and values for each of them where values are noisy."""
ORDERS, ROOT_ORDERS = (8, 12, 16, 22, 30, 44, 64), (12, 16, 22, 30, 44)
"""Of the rules behind them; the least that settles is used."""
CHECKS = np.array([0.11, 0.37, 0.52, 0.83])
"""Where in [0, 1] a piece is compared with values by another rule."""
SAFETY = 4.0
CONCENTRATION, LARGE = (1.5, 3.5, 9.0), 8
"""rho is within 9 / sqrt(d) but for e^-40; rules are split there if d is large."""
SETTLED, SETTLED_ROOT = 1e-13, 1e-9
"""A piece whose last coefficients are larger than this share of its largest value is split in two."""
ANALYTIC = 1e-8
"""Where pieces do not settle to this, the link has roots."""
MOST_SPLITS, MOST_PIECES = 5, 60
SMALLEST, RATIO = 1e-7, 4.0
"""Of the angles of a link with roots: below the first the variogram is a power, and pieces grow by the second."""
STRENGTH = 6
"""A root |x|^s at the end of an interval becomes x^{6 s + 5} under the rule for roots."""
VARIANCE_ORDER = 40
NEAREST = 1e-9
"""Kinks that meet at less than this are taken for one."""
TINY = 1e-150
SLIVER = 1e-15
"""Intervals shorter than this hold nothing."""
NEGLIGIBLE = 1e-19
"""Nodes with less than this share of the largest weight are left out."""
BATCH = 2_000_000
"""Values of the link that are worked on at a time."""
EPS = float(np.finfo(float).eps)
ROUNDING = 16 * EPS
NOTHING = Chebyshev([0.0])


@cache
def root_rule(order: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre on [0, 1] under a polynomial that is flat to order STRENGTH at both ends: for roots there."""
    x, weight = np.polynomial.legendre.leggauss(order)
    slope = np.polynomial.Polynomial([0.5, -0.5]) ** (STRENGTH - 1) * np.polynomial.Polynomial([0.5, 0.5]) ** (
        STRENGTH - 1
    )
    place = slope.integ(lbnd=-1)
    return place(x) / place(1.0), weight * slope(x) / place(1.0)


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
class Planes:
    """The link of a law in dimension d, with its kinks and jumps in ascending order, as averages over planes.

    `roots` asks for rules that resolve |z - c|^s at a kink c.
    """

    d: int
    link: Link
    kinks: tuple[float, ...]
    roots: bool = False
    noise: ClassVar[float] = 0.0

    def at(self, theta: Floats, order: int) -> Floats:
        """V at every angle of a flat array, by rules of one order."""
        rule = root_rule(order) if self.roots else gauss_rule(order)
        if self.d == 2:
            return self._circle(theta, np.ones_like(theta), None, rule)
        total = np.zeros_like(theta)
        bases = sorted({0.0, *(abs(c) for c in self.kinks if abs(c) < 1)})
        for base, end in pairwise([*bases, 1.0]):
            total += self._shell(theta, base, end, rule)
        return total

    def _shell(self, theta: Floats, base: float, end: float, rule: tuple[Floats, Floats]) -> Floats:
        """The part with base < rho < end, over tau = (rho^2 - base^2)^{1/2}: in it all is analytic at the base."""
        top, last = math.sqrt((1 - base) * (1 + base)), math.sqrt((end - base) * (end + base))
        splits = [np.full((theta.size, 2), [0.0, last]), np.clip(self._crossings(theta, base), 0, last)]
        if self.d > LARGE:
            near = np.array(CONCENTRATION)[:, None] / math.sqrt(self.d)
            scale = np.sqrt(np.maximum(near**2 - base**2, 0.0)) if base == 0 else near**2 / 2
            splits.append(np.broadcast_to(np.minimum(scale.T, last), (theta.size, near.size)))
        if self.roots:
            grades = base * np.tan(theta / 2)[:, None] * RATIO ** np.arange(1, 12)
            splits.append(np.clip(np.where(theta[:, None] < 1, grades, last), 0, last))
        # tau = top sin(omega): so there is no singularity at rho = 1, near which a split may be
        edges = np.arcsin(np.minimum(np.sort(np.concatenate(splits, axis=1), axis=1) / top, 1.0))
        row, piece = np.nonzero(np.diff(edges, axis=1) > SLIVER)
        low, width = edges[row, piece, None], np.diff(edges, axis=1)[row, piece, None]
        x, gauss = rule
        omega = low + width * x
        weight = width * gauss * np.sin(omega) * (top * np.cos(omega)) ** (self.d - 3)
        wanted = weight > NEGLIGIBLE * np.max(weight, initial=0.0)
        row, tau, weight = np.repeat(row, len(x))[wanted.ravel()], top * np.sin(omega[wanted]), weight[wanted]
        rho = np.hypot(tau, base)
        inner = np.empty_like(tau)
        step = max(1, BATCH // len(x))
        for i in range(0, tau.size, step):
            some = slice(i, i + step)
            inner[some] = self._circle(theta[row[some]], rho[some], (base, tau[some]), rule)
        return np.asarray((self.d - 2) * top * np.bincount(row, weight * inner, minlength=theta.size))

    def _crossings(self, theta: Floats, base: float) -> Floats:
        """The tau at which both coordinates are at kinks, (theta, pairs of kinks)."""
        columns = [np.empty((theta.size, 0))]
        for one, other in combinations_with_replacement(self.kinks, 2):
            if one == other and abs(one) == base:
                columns.append(base * np.tan(theta / 2)[:, None])
                continue
            squares = (one - other) ** 2 + 4 * one * other * np.sin(theta / 2) ** 2
            rho = np.sqrt(squares) / np.sin(theta)
            columns.append(np.sqrt(np.maximum((rho - base) * (rho + base), 0.0))[:, None])
        return np.concatenate(columns, axis=1)

    def _circle(
        self, theta: Floats, rho: Floats, base: tuple[float, Floats] | None, rule: tuple[Floats, Floats]
    ) -> Floats:
        """The mean over phi at every (theta, rho), given the tau of one base."""
        half = theta / 2
        splits = [np.zeros_like(rho), np.full_like(rho, math.pi)]
        for c in self.kinks:
            # sin(alpha) from tau, where rho is near |c|
            square = (rho - abs(c)) * (rho + abs(c)) if base is None or abs(c) != base[0] else base[1] ** 2
            alpha = np.arctan2(np.sqrt(np.maximum(square, 0.0)), c)
            for place in (np.abs(alpha - half), alpha + half):
                grades = [0.0]
                if self.roots:
                    far = theta.max() * RATIO ** np.arange(-2, 2 + math.log(math.pi / theta.min(), RATIO))
                    grades = [0.0, *far, *-far]
                for grade in grades:
                    near = np.abs(place + grade * theta / theta.max())
                    splits.append(np.clip(np.minimum(near, 2 * math.pi - near), 0, math.pi))
        phi = np.sort(np.stack(splits), axis=0)
        x, gauss = rule
        ends = np.array([-1.0, *self.kinks, 1.0])
        floors, ceilings = np.nextafter(ends[:-1], 2), np.nextafter(ends[1:], -2)
        floors[0], ceilings[-1] = -1.0, 1.0
        total = np.zeros_like(rho)
        for low, high in pairwise(phi):
            here = np.flatnonzero(high - low > SLIVER)
            if not here.size:
                continue
            width, r, h = (high - low)[here], rho[here], half[here]
            nodes, middle = low[here, None] + width[:, None] * x, (low + high)[here] / 2
            # rho cos(phi -+ half), by the piece of the link that the middle of the interval is in
            level = (r * np.cos(h))[:, None] * np.cos(nodes)
            turned = (r * np.sin(h))[:, None] * np.sin(nodes)
            values = []
            for sign in (1, -1):
                inside = np.searchsorted(self.kinks, r * np.cos(middle - sign * h))
                z = np.clip(level + sign * turned, floors[inside, None], ceilings[inside, None])
                values.append(self.link(z))
            total[here] += width * ((values[0] - values[1]) ** 2 @ gauss)
        return total / math.pi


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


def meetings_of(kinks: tuple[float, ...]) -> tuple[float, ...]:
    """The angles theta in (0, pi) by which two kinks differ, as circles on the sphere: V is not smooth there."""
    angles = np.arccos(kinks)
    together = np.add.outer(angles, angles).ravel()
    meetings = np.concatenate([np.abs(np.subtract.outer(angles, angles)).ravel(), together, 2 * np.pi - together])
    return tuple(np.unique(meetings[(meetings > NEAREST) & (meetings < np.pi - NEAREST)].round(12)).tolist())


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
