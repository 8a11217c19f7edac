r"""Polynomials for V / F over an interval of angles, where V behaves like F = 1 - cos(theta) or sin(theta / 2) at 0.

Near 0 the error of V / F is rounding divided by a power of theta; that of its slope from 0 has one more power.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, chebyshev

from lipverify.foundation.arrays import EPS, Floats
from lipverify.loss.exact.quadrature import chebyshev_points, polynomials, to_coefficients

SIZE, TWO, MANY = 28, 2, 8
"""Coefficients per piece, and values per coefficient: TWO on the first piece, MANY if all values are noisy."""
NEAR_0 = np.array([0.002, 0.005, 0.015, 0.05, 0.15, 0.5])
"""Points of the first piece at which rounding is measured and the piece is compared with values by another rule."""
SIGMAS = 6.0
"""Number of standard deviations that bound a sum of rounding errors."""
SAFETY = 4.0
"""Factor from observed differences, and from last coefficients, to the error of a piece."""
SETTLED = 1e-13
"""Last coefficients above this share of the largest value are not rounding errors."""
TINY = 1e-150
"""The least divisor: its square is a double."""
ROUNDING = 16 * EPS
"""Relative rounding of a ratio V / F: of a few operations on either."""


@dataclass(frozen=True)
class Source:
    """A source of values of a variogram in dimension d.

    With `noise` > 0 values have the error noise + 2 eps V / (1 - cos(theta)), as differences of a covariance whose
    argument is rounded too. Otherwise the error of V / F is proportional to theta^-loses near 0, and is measured.
    """

    d: int
    at: Callable[[Floats, int], Floats]  # V at every angle of a flat array, by rules of one order, if there are rules
    roots: bool = False  # V may be a power of the angle at 0
    noise: float = 0.0
    loses: int = 2  # 0 for closed forms, 1 for means of squares, 2 for covariances


@dataclass(frozen=True)
class Piece:
    """V / F on [low, high], F = 1 - cos(theta) or sin(theta/2): a polynomial in y, theta = low + width s(y).

    V / F may behave like a square root at both ends, s(y) = sin^2(pi y / 2); on the first piece only at the right end,
    s(y) = y (2 - y). If V may be a power of the angle, it is log(theta) that is low + width s(y).
    """

    low: float
    high: float
    first: bool
    values: Chebyshev = field(default_factory=lambda: Chebyshev([0.0]))
    rise: Chebyshev | None = None  # (V/F - its value at 0) / theta, on the first piece
    shaken: float = 0.0  # the largest change of the piece by the noise of the values
    rise_shaken: float = 0.0
    lever: float = 1.0  # a factor on the truncation error, where values have little weight
    gap: float = 0.0  # a bound on the error of V / F
    powers: bool = False

    @property
    def tail(self) -> float:
        """The size of the last coefficients, which estimates the truncation error."""
        return self.lever * float(np.max(np.abs(self.values.coef[-3:])))

    @property
    def largest(self) -> float:
        """The largest value of V / F."""
        return float(np.max(np.abs(self.values(np.linspace(-1, 1, 41)))))

    @property
    def settled(self) -> bool:
        """True if the last coefficients are rounding errors."""
        return self.tail <= max(SETTLED * self.largest, self.shaken)

    def places(self, y: Floats) -> Floats:
        """The angles at y."""
        share = y * (2 - y) if self.first else np.sin(math.pi * y / 2) ** 2
        if self.powers:
            return np.asarray(self.low * (self.high / self.low) ** share)
        return np.asarray(self.low + (self.high - self.low) * share)

    def y(self, theta: Floats) -> Floats:
        """The inverse of `places`."""
        return coordinate(theta, self.low, self.high, self.first, self.powers)


def coordinate(theta: Floats, low: Any, high: Any, first: Any, powers: bool) -> Floats:
    """The y in [0, 1] of an angle on a piece between `low` and `high`, which may be the first one of a variogram."""
    if powers:
        theta, low, high = (np.log(np.maximum(part, TINY)) for part in (theta, low, high))
    share = np.clip((theta - low) / (high - low), 0, 1)
    y = 2 / math.pi * np.arcsin(np.sqrt(share))
    return np.where(first, share / (1 + np.sqrt(1 - share)), y) if np.any(first) else y


def scale(power: int, theta: Floats) -> Floats:
    """F: 1 - cos(theta) for power 2, sin(theta/2) for power 1."""
    sine = np.sin(theta / 2)
    return np.asarray(2 * sine**2 if power == 2 else sine)


@dataclass(frozen=True)
class Ratio:
    """V / F of a source by rules of two orders, the second to estimate the error of the first, and its pieces."""

    source: Source
    power: int
    orders: tuple[int, int]

    def pieces(self, intervals: list[tuple[float, float]]) -> list[Piece]:
        """A piece on every interval, in ascending order."""
        pieces = [Piece(low, high, low == 0, powers=self.source.roots) for low, high in intervals]
        if self.source.noise > 0:
            return [self._smoothed(piece) for piece in pieces]
        x, solve = chebyshev_points(SIZE), to_coefficients(SIZE)
        theta = np.concatenate([piece.places((x + 1) / 2) for piece in pieces])
        values = np.reshape(self.at(theta), (len(pieces), SIZE))
        pieces = [replace(piece, values=Chebyshev(solve @ row)) for piece, row in zip(pieces, values, strict=True)]
        if pieces[0].first and not pieces[0].settled and not self.source.roots:
            pieces[0] = self.rounded(pieces[0])
        return pieces

    def at(self, theta: Floats, finer: bool = False) -> Floats:
        """V / F at angles of any shape."""
        values = self.source.at(np.ravel(theta), self.orders[1 if finer else 0])
        return np.reshape(values, theta.shape) / scale(self.power, theta)

    def rounded(self, piece: Piece) -> Piece:
        """The first piece, with its random rounding errors measured."""
        theta = piece.places((chebyshev_points(TWO * SIZE) + 1) / 2)
        values = self.at(theta)
        if not np.any(values):  # so short that V has underflowed or lost all its digits: it shows nothing of V / F
            return replace(piece, shaken=math.inf, rise_shaken=math.inf)
        near = piece.places(NEAR_0)
        # so near that second differences of V / F are below rounding, so far that rounding errors are independent
        neighbours = self.at(near[:, None] * (1 + 3e-8 * np.array([-1, 0, 1])), finer=True)
        least, growth = 2 * EPS * np.max(np.abs(values)), float(self.source.loses)
        over = np.maximum(np.abs(neighbours @ [1.0, -2.0, 1.0]) / 2 - 2 * least, 0.0)
        most = np.max(near**growth * over)
        noise = least + most / theta**growth
        fit = _least_squares(piece, values, noise, sigmas=SIGMAS)
        if not fit.settled:
            return fit
        # fewer coefficients: the error of the rise grows with the cube of the degree
        fits = [fit, *(_least_squares(piece, values, noise, size, SIGMAS) for size in (8, 12, 16, 20, 24))]
        fit = min(
            fits,
            key=lambda candidate: candidate.rise_shaken + (candidate.shaken + SAFETY * candidate.tail) / piece.high,
        )
        off = np.abs(neighbours[:, 1] - fit.values(2 * NEAR_0 - 1)) / (least + most / near**growth)
        more = max(1.0, float(np.max(off)) / 2)
        return replace(fit, shaken=more * fit.shaken, rise_shaken=more * fit.rise_shaken)

    def _smoothed(self, piece: Piece) -> Piece:
        """The piece fitted to many values with known noise."""
        theta = piece.places((chebyshev_points(MANY * SIZE) + 1) / 2)
        ratio = self.at(theta)
        F = scale(self.power, theta)
        noise = (self.source.noise + 2 * EPS * ratio * F / np.maximum(scale(2, theta), TINY)) / F
        return _least_squares(piece, ratio, ROUNDING * np.abs(ratio) + noise)


def _least_squares(piece: Piece, values: Floats, noise: Floats, size: int = SIZE, sigmas: float | None = None) -> Piece:
    """The least-squares piece through values at Chebyshev points, with bounds on the effect of noise and truncation.

    Errors add linearly, or, if they are random, to `sigmas` standard deviations.
    """
    solve = np.linalg.pinv(polynomials(size, noise.size) / noise[:, None]) / noise
    nodes = -np.cos(np.linspace(0, math.pi, 8 * SIZE))
    reach = chebyshev.chebvander(nodes, size - 1) @ solve
    risen = (reach[1:] - reach[0]) / piece.places((nodes[1:, None] + 1) / 2) if piece.first else 0 * reach
    shaken, rise_shaken = (
        float(np.max(np.abs(rows) @ noise) if sigmas is None else sigmas * np.sqrt(np.max(rows**2 @ noise**2)))
        for rows in (reach, risen)
    )
    lever, rise_lever = (float(np.max(np.sum(np.abs(rows), axis=1))) for rows in (reach, risen))
    fit = Chebyshev(solve @ values)
    rise_shaken += SAFETY * rise_lever * float(np.max(np.abs(fit.coef[-3:])))
    return replace(piece, values=fit, shaken=shaken, rise_shaken=rise_shaken, lever=lever)


def rise_of(piece: Piece) -> Chebyshev:
    """(V/F - its value at 0) / theta: the polynomial minus that value, over theta = high (x + 1) (3 - x) / 4."""
    coefficients = piece.values.coef.copy()
    coefficients[0] -= piece.values(-1.0)
    quotient, _ = chebyshev.chebdiv(coefficients, [1.0, 1.0])
    x = chebyshev_points(64)
    return Chebyshev.fit(x, 4 * chebyshev.chebval(x, quotient) / (piece.high * (3 - x)), 40, domain=[-1, 1])
