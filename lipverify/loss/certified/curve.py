r"""A function of w on a whole interval, from balls at finitely many w.

A sum of e^{w t_j} with |t_j| <= 1 has no zero for |Im w| < pi/2. In the strip |Im w| <= b < pi/2, where it is at least
cos b times the sum at Re w, every average of weights is analytic in w and

    |a_i(w)| <= a_i(Re w) / cos b,  |N| <= sigma^2 / cos(b)^2,  |B| <= 4 Var f / cos(b)^2,  |G| <= 2 Var f / cos b.

The Chebyshev coefficients of such a function f on an interval of half-width r are at most 2 M rho^{-k}, where M bounds
|f| in the strip and rho = b/r + (1 + b^2/r^2)^{1/2}: the ellipse of that rho lies inside. Interpolation at m Chebyshev
points folds each coefficient beyond the m-th onto one below it, and is off by at most 4 M rho^{1-m} / (rho - 1)
(Trefethen, Approximation Theory and Approximation Practice, chapters 4 and 8). Values that are off by e move the
polynomial by at most (1 + (2/pi) log m) e (chapter 15), and |f'| <= M / b moves them where a point is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from flint import arb, arb_poly, ctx, fmpq

from lipverify.errors import OutOfReach
from lipverify.loss.certified.harmonics import Ball

STRIP = 1.375
"""b."""
BITS = 400
"""Enough for the coefficients of Chebyshev's polynomials up to degree 200."""
FINEST = 2.0**-20
"""The narrowest part of an interval that is looked at by itself, as a share of it."""


@dataclass(frozen=True)
class Curve:
    """A function that differs from `polynomial`, in s = (w - middle) / half, by at most `error` on [low, high]."""

    low: float
    high: float
    polynomial: arb_poly
    error: Ball

    @property
    def middle(self) -> Ball:
        """Of the interval."""
        return (arb(self.low) + arb(self.high)) / 2

    @property
    def half(self) -> Ball:
        """Half of its length."""
        return (arb(self.high) - arb(self.low)) / 2

    def __add__(self, other: Curve) -> Curve:
        """The sum of two functions on the same interval."""
        return Curve(self.low, self.high, self.polynomial + other.polynomial, self.error + other.error)

    def __rmul__(self, factor: Ball | int) -> Curve:
        """A multiple."""
        return Curve(self.low, self.high, arb_poly([factor]) * self.polynomial, abs(arb(factor)) * self.error)

    def at(self, w: Ball) -> Ball:
        """The value at a w of the interval.

        Raises
        ------
        OutOfReach
            If w is not certain to lie in it.
        """
        if not (w >= self.low and w <= self.high):
            raise OutOfReach(f"w = {w}: the curve is known from {self.low:g} to {self.high:g}; make a longer one.")
        with ctx.workprec(BITS):
            return self.polynomial((w - self.middle) / self.half) + _within(self.error)

    def over(self, low: float, high: float) -> Ball:
        """A ball that contains all values on a part of the interval, low <= high."""
        with ctx.workprec(BITS):
            centre = (arb(low) + arb(high)) / 2
            shifted = self.polynomial(arb_poly([(centre - self.middle) / self.half, 1]))
            y = _within((arb(high) - arb(low)) / 2 / self.half)
            square = arb(0).union((y * y).abs_upper())
            even, odd = (_horner(shifted.coeffs()[parity::2], square) for parity in (0, 1))
            return even + y * odd + _within(self.error)

    def powers(self) -> list[Ball]:
        """The coefficients of the polynomial in w itself."""
        with ctx.workprec(BITS):
            return list(self.polynomial(arb_poly([-self.middle / self.half, 1 / self.half])).coeffs())

    def beneath(self, level: Ball) -> tuple[float, float] | None:
        """An interval outside of which the function is above `level`; None if it is everywhere."""
        first, last = (self._end(level, self.low, self.high, side) for side in (1, -1))
        return None if first is None or last is None else (first[0], last[1])

    def _end(self, level: Ball, low: float, high: float, side: int) -> tuple[float, float] | None:
        """The first part from the left (side = 1), or from the right, that is not above `level`."""
        if self.over(low, high) > level:
            return None
        if high - low <= FINEST * (self.high - self.low):
            return low, high
        middle = (low + high) / 2
        one, other = ((low, middle), (middle, high))[::side]
        return self._end(level, *one, side) or self._end(level, *other, side)

    def least(self) -> Ball:
        """A ball that contains the least value, with a radius of twice the error or so."""
        parts, width = [(self.low, self.high)], self.high - self.low
        while True:
            found = [(self.over(*part), part) for part in parts]
            upper = _extreme(arb.min, [ball.upper() for ball, _ in found])
            kept = [(ball, part) for ball, part in found if not ball > upper]
            lower = _extreme(arb.min, [ball.lower() for ball, _ in kept])
            if upper - lower < 4 * self.error or width <= FINEST * (self.high - self.low):
                return arb(lower).union(upper)
            parts = [half for _, (a, b) in kept for half in ((a, (a + b) / 2), ((a + b) / 2, b))]
            width /= 2


def curves(
    values: Callable[[float], Sequence[Ball]], bounds: Sequence[Ball], low: float, high: float, accuracy: float
) -> list[Curve]:
    """Functions of w on [low, high] from their values at Chebyshev points.

    Parameters
    ----------
    values
        The functions at one w, as balls.
    bounds
        For each, a bound on it in the strip |Im w| <= `STRIP`.
    accuracy
        The errors of interpolation at most, beside those of the values.
    """
    with ctx.workprec(BITS):
        half, largest = (arb(high) - arb(low)) / 2, _extreme(arb.max, list(map(arb, bounds)))
        beta = STRIP / half
        rho = beta + (1 + beta**2).sqrt()
        points = 2 + math.ceil(float((4 * largest / (rho - 1) / accuracy).log() / rho.log()))
        places = [arb.cos_pi_fmpq(fmpq(2 * j + 1, 2 * points)) for j in range(points)]
        exact = [(arb(low) + arb(high)) / 2 + half * place for place in places]
        nodes = [min(max(float(place), low), high) for place in exact]
    measured = [values(node) for node in nodes]
    with ctx.workprec(BITS):
        moved = _extreme(arb.max, [abs(node - place) for node, place in zip(nodes, exact, strict=True)])
        beyond = 4 * rho ** (1 - points) / (rho - 1) + moved / STRIP * _lebesgue(points)
        found = []
        for bound, column in zip(bounds, zip(*measured, strict=True), strict=True):
            error = bound * beyond + _lebesgue(points) * _extreme(arb.max, [arb(value.rad()) for value in column])
            found.append(Curve(low, high, _polynomial([value.mid() for value in column]), error))
        return found


def _polynomial(values: list[Ball]) -> arb_poly:
    """The polynomial in s with these values at the Chebyshev points."""
    m, s = len(values), arb_poly([0, 1])
    total, before, now = arb_poly([sum(values) / m]), arb_poly([1]), s
    for k in range(1, m):
        cosines = (arb.cos_pi_fmpq(fmpq(k * (2 * j + 1), 2 * m)) for j in range(m))
        coefficient = 2 * sum((v * c for v, c in zip(values, cosines, strict=True)), arb(0)) / m
        total += arb_poly([coefficient]) * now
        before, now = now, 2 * s * now - before
    return total


def _horner(coefficients: Sequence[Ball], at: Ball) -> Ball:
    """A polynomial at a ball."""
    return reduce(lambda total, each: total * at + each, reversed(coefficients), arb(0))


def _lebesgue(points: int) -> Ball:
    """How much a change of the values can move the polynomial."""
    return 1 + 2 / arb.pi() * arb(points).log()


def _extreme(which: Callable[[Ball, Ball], Ball], balls: Sequence[Ball]) -> Ball:
    """The least or the largest of some balls."""
    return reduce(which, balls)


def _within(bound: Ball) -> Ball:
    """[-bound, bound]."""
    return arb(0, arb(bound).abs_upper())
