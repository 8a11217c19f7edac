"""Functions on whole intervals of w, by polynomials through balls at a few places.

A function at most M in that strip is, on an interval, within 4 M rho^{1-m} / (rho - 1) of the polynomial
through its values at m Chebyshev points, rho = b/r + (1 + b^2/r^2)^{1/2}, r half its length (the ellipse of that rho
lies in the strip; Trefethen, Approximation Theory and Approximation Practice, theorem 8.2), and values that are off by
e move that polynomial by at most (1 + (2/pi) log m) e (chapter 15). As to slopes: its coefficients of Chebyshev's
polynomials T_k are at most 2 M rho^{-k}, at the points T_k is some +-T_j with j <= k or 0, and |T_k'| <= k^2, |T_k''|
<= k^4 / 3 on the interval. No polynomial of a degree below m that is at most x there has a slope of more than (m-1)^2
x, or a second one of more than (m-1)^4 x / 3 (Markov).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache, reduce, wraps
from typing import Any, TypeVar

from flint import arb, arb_mat, arb_poly, ctx, fmpq, fmpz_poly

from .contexts import STRIP
from .form import Ball, Known

ACCURACY = 1e-9
"""Absolute accuracy of a curve's polynomial: with a larger one, less would be proved, and nothing false."""
FINEST = 2.0**-18
"""The narrowest part of an interval that is looked at by itself, as a share of it."""

Interval = tuple[Ball, Ball]
Values = Callable[[Ball], Sequence[Ball]]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Curve:
    """A function on [first, last] that differs from `polynomial`, in s from -1 to 1, by at most `error`."""

    first: Ball
    last: Ball
    polynomial: arb_poly
    error: Ball
    largest: Ball = math.inf
    """A bound in the strip."""
    off: Ball = math.inf
    """A bound of what errors of the values change in the polynomial."""

    def precise(self) -> AbstractContextManager[Any]:
        """The precision at which the polynomial is evaluated: its coefficients cancel to a few digits."""
        return ctx.workprec(64 + 2 * self.polynomial.length())

    def over(self, low: Ball, high: Ball) -> Ball:
        """A ball that contains all values on a part of the interval."""
        with self.precise():
            return taylor(self.polynomial, *self.inner([low, high])) + arb(0, self.error.abs_upper())

    def inner(self, places: Sequence[Ball]) -> list[Ball]:
        """The s of these w."""
        return [(2 * w - self.first - self.last) / (self.last - self.first) for w in places]

    def at(self, places: Sequence[Ball]) -> list[Ball]:
        """Balls that contain the values at these places."""
        with self.precise():
            off = arb(0, self.error.abs_upper())
            return [value + off for value in self.polynomial.evaluate(self.inner(places), algorithm="iter")]

    def between(self, s: Sequence[Ball]) -> list[Interval]:
        """From each of these s to the next, numbers that no value is below and above: exact, as a ball has few digits.

        Where the slope is nowhere 0 they are the values at both ends of a part. The slope differs from the line through
        its own values there by at most h^2 / 8 times its second derivative, h the length of the part.
        """
        polynomial = self.polynomial
        with self.precise():
            slope = polynomial.derivative()
            bend, off = slope.derivative().derivative(), arb(0, self.error.abs_upper())
            values, slopes = (each.evaluate(s, algorithm="iter") for each in (polynomial, slope))
            lows, highs = ([end(value + off) for value in values] for end in (arb.lower, arb.upper))

            def parts(first: int, last: int) -> list[Interval]:
                bent, within = taylor(bend, s[first], s[last]).abs_upper() / 8, range(first, last)
                moved = [bent * (s[j + 1] - s[j]) ** 2 for j in within]
                if all(slopes[j].union(slopes[j + 1]).abs_lower() > x for j, x in zip(within, moved, strict=True)):
                    return [(lows[j].min(lows[j + 1]), highs[j].max(highs[j + 1])) for j in within]
                if last - first == 1:
                    value = taylor(polynomial, s[first], s[last]) + off
                    return [(value.lower(), value.upper())]
                middle = (first + last) // 2
                return parts(first, middle) + parts(middle, last)

            return parts(0, len(s) - 1)

    def above(self, level: Ball, low: Ball, high: Ball) -> bool:
        """Whether it is above a level on all of a part of the interval."""
        if self.over(low, high) > level:
            return True
        middle = (low + high) / 2
        if not self.over(middle, middle) > level or not high - low > FINEST * (self.last - self.first):
            return False
        return self.above(level, low, middle) and self.above(level, middle, high)

    def slope(self, order: int) -> Curve:
        """Its first or second derivative; no bound of that in the strip is known."""
        half, m, power = (self.last - self.first) / 2, self.polynomial.length(), 2 * order
        with ctx.workprec(bits(m)):
            polynomial = self.polynomial
            for _ in range(order):
                polynomial = polynomial.derivative() * (1 / half)
            rho = ellipse(half)
            falls = (1 + arb(1) / m) ** power / rho
            tail = 4 * arb(self.largest) * arb(m) ** power * rho**-m / (1 - falls) if falls < 1 else arb("inf")
            error = (tail + arb(self.off) * arb(m - 1) ** power) / half**order
            return Curve(self.first, self.last, polynomial, error)

    def lowest(self) -> Ball:
        """A lower bound of all values that some value is close to."""
        parts, width = [(self.first, self.last)], self.last - self.first
        while True:
            balls = [(self.over(*part), part) for part in parts]
            somewhere = reduce(arb.min, [ball.upper() for ball, _ in balls])
            kept = [(ball, part) for ball, part in balls if not ball > somewhere]
            nowhere = reduce(arb.min, [ball.lower() for ball, _ in kept])
            if somewhere - nowhere < 4 * self.error or not width > FINEST * (self.last - self.first):
                return nowhere
            parts = [half for _, (a, c) in kept for half in ((a, (a + c) / 2), ((a + c) / 2, c))]
            width /= 2


def remembered(*names: str, most: int = 16) -> Callable[[Callable[[Known], Result]], Callable[[Known], Result]]:
    """Keep the last results of a function of these facts alone. Balls have no hash, so all their bits are the key."""

    def decorated(function: Callable[[Known], Result]) -> Callable[[Known], Result]:
        results: dict[tuple[Any, ...], Result] = {}

        @wraps(function)
        def result(k: Known) -> Result:
            facts = {name: k[name] for name in names}  # the function sees no other, so the key lacks none
            key = tuple(fact.repr() if isinstance(fact, arb) else fact for fact in facts.values())
            if key not in results:
                if len(results) >= most:
                    del results[next(iter(results))]
                results[key] = function(facts)
            return results[key]

        result.cache_clear = results.clear  # type: ignore[attr-defined]
        return result

    return decorated


def combined(summands: Sequence[tuple[Ball, Curve]], constant: Ball | int = 0) -> Curve:
    """A sum of multiples of curves on the same interval, and a constant."""
    polynomial = sum((arb_poly([factor]) * curve.polynomial for factor, curve in summands), arb_poly([constant]))
    error, largest, off = (
        sum((abs(factor) * bound for (factor, _), bound in zip(summands, bounds, strict=True)), arb(0))
        for bounds in zip(*((curve.error, curve.largest, curve.off) for _, curve in summands), strict=True)
    )
    return Curve(summands[0][1].first, summands[0][1].last, polynomial, error, largest + abs(constant), off)


def taylor(polynomial: arb_poly, low: Ball, high: Ball) -> Ball:
    """A ball that contains all values from low to high."""
    # an exact centre: coefficients are so large that the least error of it would be too much
    centre = ((low + high) / 2).mid()
    return polynomial(arb_poly([centre, 1]))(arb(0, (high - centre).abs_upper().max((low - centre).abs_upper())))


def curves(values: Values, bounds: Sequence[Ball], first: Ball, last: Ball, accuracy: float = ACCURACY) -> list[Curve]:
    """Functions on [first, last] from their values at one w, and bounds on them in the strip."""
    m = places((last - first) / 2, bounds, accuracy)
    with ctx.workprec(bits(m)):
        return through([values(first + (cosine(j, m) + 1) * (last - first) / 2) for j in range(m)], bounds, first, last)


def even_curves(values: Values, bounds: Sequence[Ball], last: Ball, accuracy: float) -> list[Curve]:
    """Even functions on [-last, last] from their values at one w > 0, and bounds on them in the strip."""
    m = places(last, bounds, accuracy)
    m += m % 2
    with ctx.workprec(bits(m)):
        measured = [values(cosine(j, m) * last) for j in range(m // 2)]
        return through(measured + measured[::-1], bounds, -last, last)


def places(half: Ball, bounds: Sequence[Ball], accuracy: float) -> int:
    """How many Chebyshev points are enough for functions with these bounds in the strip."""
    rho = ellipse(half)
    return 2 + math.ceil(float((4 * reduce(arb.max, bounds) / (rho - 1) / accuracy).log() / rho.log()))


def cosine(j: int, m: int, degree: int = 1) -> Ball:
    """T_degree at the j-th of m Chebyshev points."""
    return arb.cos_pi_fmpq(fmpq(degree * (2 * j + 1), 2 * m))


@lru_cache(maxsize=64)
def single(m: int) -> arb_mat:
    """Coefficients of the polynomials sum T_k(s_j) T_k / c_k, 1 at one s_j of m Chebyshev points and 0 at the others.

    The T_k are orthogonal over these points, and c_k is the sum of T_k^2 over them: m/2, and m for k = 0.
    """
    weights = arb_mat([[cosine(j, m, k) * (2 if k else 1) / m for k in range(m)] for j in range(m)])
    T = (fmpz_poly.chebyshev_t(k).coeffs() for k in range(m))
    return weights * arb_mat([[*map(arb, row), *[arb(0)] * (m - len(row))] for row in T])


def through(measured: Sequence[Sequence[Ball]], bounds: Sequence[Ball], first: Ball, last: Ball) -> list[Curve]:
    """Curves through values at all Chebyshev points of [-1, 1]."""
    m, rho = len(measured), ellipse((last - first) / 2)
    moved, curves = 1 + 2 / arb.pi() * arb(m).log(), []
    exact = arb_mat([[arb(value.mid()) for value in values] for values in measured]).transpose()
    summed = (exact * single(m)).tolist()
    for bound, column, coefficients in zip(bounds, zip(*measured, strict=True), summed, strict=True):
        off = moved * reduce(arb.max, [arb(value.rad()) for value in column])
        error = 4 * bound * rho ** (1 - m) / (rho - 1) + off
        curves.append(Curve(first, last, arb_poly(coefficients), error, bound, off))
    return curves


def ellipse(half: Ball) -> Ball:
    """rho of the ellipse in the strip, for half the length of an interval."""
    ratio = arb(STRIP) / half
    return ratio + (1 + ratio**2).sqrt()


def bits(points: int) -> int:
    """The precision for a polynomial through so many points, whose coefficients grow like (1 + 2^{1/2})^points."""
    return 100 + 3 * points
