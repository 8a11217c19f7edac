r"""Polynomials for the variogram of a law over an interval of angles, and what the rounding of values does to them.

V goes as F = 1 - cos(theta) or sin(theta / 2) at 0, and what is tabulated is V / F: its values near 0 are known to
rounding over a power of theta, and the rise of V / F from 0 is that once more over theta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.polynomial import Chebyshev, chebyshev

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.quadrature.rules import chebyshev_points, polynomials, to_coefficients

SIZE, TWO, MANY = 28, 2, 8
"""Coefficients on a piece, and values for each of them on the first piece, and where all values are noisy."""
NEAR_0 = np.array([0.002, 0.005, 0.015, 0.05, 0.15, 0.5])
"""Where on the first piece values are looked at for their rounding, and it is compared with values by another rule."""
BESIDE = 3e-8
"""How far from there, relative: so near that second differences of V / F are below its rounding, and so far that all
arguments behind a value are rounded anew."""
FEWER = (8, 12, 16, 20, 24)
"""Coefficients of the first piece that are tried instead: the rise of a polynomial goes with the cube of its degree."""
SIGMAS = 6.0
"""So many standard deviations of a sum of roundings bound it."""
SAFETY = 4.0
SETTLED = 1e-13
"""Last coefficients that are a larger share of the largest value are not rounding."""
TINY = 1e-150
EPS = float(np.finfo(float).eps)
ROUNDING = 16 * EPS
NOTHING = Chebyshev([0.0])


class Source(Protocol):
    """Where values of a variogram in dimension d come from.

    `roots` asks for pieces that resolve powers of the angle. With `noise` > 0 values are known to that times
    1 + V / (1 - cos(theta)) only: as differences of a covariance, whose argument is rounded too. Otherwise V / F is
    rounded to something over theta^loses near 0, and how much is looked for.
    """

    @property
    def d(self) -> int:
        """The ambient dimension, >= 2."""

    @property
    def roots(self) -> bool:
        """Whether V may be a power of the angle at 0."""

    @property
    def noise(self) -> float:
        """What values are known to."""

    @property
    def loses(self) -> int:
        """How rounding grows near 0: 0 for closed forms, 1 for means of squares, 2 for differences of a covariance."""

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

    @property
    def settled(self) -> bool:
        """Whether its last coefficients are rounding."""
        return self.tail <= max(SETTLED * self.largest, self.shaken)

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


def scale(power: int, theta: Floats) -> Floats:
    """F: 1 - cos(theta) for power 2, sin(theta/2) for power 1."""
    sine = np.sin(theta / 2)
    return np.asarray(2 * sine**2 if power == 2 else sine)


@dataclass(frozen=True)
class Ratio:
    """V / F of a source by rules of two orders, the second to tell the error of the first, and its pieces."""

    source: Source
    power: int
    orders: tuple[int, int]

    def pieces(self, intervals: list[tuple[float, float]]) -> list[Piece]:
        """A piece on every interval, in ascending order."""
        pieces = [Piece(low, high, low == 0, NOTHING) for low, high in intervals]
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
        """The first piece through values of which the rounding, which is random, is looked for."""
        theta = piece.places((chebyshev_points(TWO * SIZE) + 1) / 2)
        values = self.at(theta)
        near = piece.places(NEAR_0)
        beside = self.at(near[:, None] * (1 + BESIDE * np.array([-1, 0, 1])), finer=True)
        least, growth = 2 * EPS * np.max(np.abs(values)), float(self.source.loses)
        over = np.maximum(np.abs(beside @ [1.0, -2.0, 1.0]) / 2 - 2 * least, 0.0)
        most = np.max(near**growth * over)
        noise = least + most / theta**growth
        fit = _least_squares(piece, values, noise, sigmas=SIGMAS)
        if not fit.settled:
            return fit
        fits = [fit, *(_least_squares(piece, values, noise, size, SIGMAS) for size in FEWER)]
        fit = min(fits, key=lambda each: each.rise_shaken + (each.shaken + SAFETY * each.tail) / piece.high)
        off = np.abs(beside[:, 1] - fit.values(2 * NEAR_0 - 1)) / (least + most / near**growth)
        more = max(1.0, float(np.max(off)) / 2)
        return replace(fit, shaken=more * fit.shaken, rise_shaken=more * fit.rise_shaken)

    def _smoothed(self, piece: Piece) -> Piece:
        """The piece through many values that are known to their noise."""
        theta = piece.places((chebyshev_points(MANY * SIZE) + 1) / 2)
        ratio = self.at(theta)
        F = scale(self.power, theta)
        noise = self.source.noise * (1 + ratio * F / np.maximum(scale(2, theta), TINY)) / F
        return _least_squares(piece, ratio, ROUNDING * np.abs(ratio) + noise)


def _least_squares(piece: Piece, values: Floats, noise: Floats, size: int = SIZE, sigmas: float | None = None) -> Piece:
    """The piece by least squares through values at Chebyshev points, and what their noise and its degree may do to it.

    Errors add up to their sum, or where they are random to so many `sigmas`.
    """
    solve = np.linalg.pinv(polynomials(size, noise.size) / noise[:, None]) / noise
    at = -np.cos(np.linspace(0, math.pi, 8 * SIZE))
    reach = chebyshev.chebvander(at, size - 1) @ solve
    risen = (reach[1:] - reach[0]) / piece.places((at[1:, None] + 1) / 2) if piece.first else 0 * reach
    shaken, rise_shaken = (
        float(np.max(np.abs(rows) @ noise) if sigmas is None else sigmas * np.sqrt(np.max(rows**2 @ noise**2)))
        for rows in (reach, risen)
    )
    lever, rise_lever = (float(np.max(np.sum(np.abs(rows), axis=1))) for rows in (reach, risen))
    fit = Chebyshev(solve @ values)
    rise_shaken += SAFETY * rise_lever * float(np.max(np.abs(fit.coef[-3:])))
    return replace(piece, values=fit, shaken=shaken, rise_shaken=rise_shaken, lever=lever)


def rise_of(piece: Piece) -> Chebyshev:
    """(V/F - its value at 0) / theta: the polynomial less that, over theta = high (x + 1) (3 - x) / 4."""
    coefficients = piece.values.coef.copy()
    coefficients[0] -= piece.values(-1.0)
    quotient, _ = chebyshev.chebdiv(coefficients, [1.0, 1.0])
    x = chebyshev_points(64)
    return Chebyshev.fit(x, 4 * chebyshev.chebval(x, quotient) / (piece.high * (3 - x)), 40, domain=[-1, 1])
