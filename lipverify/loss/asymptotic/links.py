"""Link functions as SymPy expressions: smooth pieces that meet at kinks.

The links of the named laws are written down here. The link of a `Ridge` law is a function from arrays to arrays, which
`lipverify.problem.formula` reads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import sympy

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import EPS
from lipverify.loss.asymptotic.sphere import Expr, c
from lipverify.problem.balls import OPERATIONS
from lipverify.problem.formula import MISREAD, OFFSET, SAMPLES, formula_of

DERIVATIVES = 4
"""Number of derivatives that must exist up to the ends of a piece: two for the leading term, two more for the next."""
NUMERIC = ["scipy", "numpy"]
"""Modules for the array functions of formulas: NumPy alone has no erf."""


@dataclass(frozen=True)
class Piece:
    """h(c) where low < c < high, smooth up to the ends."""

    h: Expr
    low: Expr
    high: Expr


@dataclass(frozen=True)
class Kink:
    """Two pieces that meet at c = at with different slopes or curvatures."""

    at: Expr
    left: Expr
    right: Expr

    def jump(self, order: int) -> Expr:
        """The jump of the derivative of that order."""
        return sympy.simplify(sympy.diff(self.right - self.left, c, order).subs(c, self.at))

    @cached_property
    def root(self) -> tuple[Expr, Expr, Expr]:
        """(s, e, o): near c = at the link is e |x|^s + o sign(x) |x|^s, x = c - at, plus smoother terms.

        s = 0 at a jump, 1 at a jump of the slope, between and above at roots such as |x|^{1/2} and |x|^{6/5}, 2 at
        anything smoother.
        """
        sides = [_power_at(side, self.at, sign) for side, sign in ((self.right, 1), (self.left, -1))]
        change = sympy.simplify(sides[0][0] - sides[1][0])
        if change != 0:
            return sympy.Integer(0), sympy.Integer(0), change / 2
        s = min(power for _, _, power in sides)
        right, left = (factor if power == s else sympy.Integer(0) for _, factor, power in sides)
        e, o = (sympy.simplify((right + sign * left) / 2) for sign in (1, -1))
        if s == 1 and e == 0:  # the linear term of a smooth link does not count
            straight = o * (c - self.at)
            return Kink(self.at, self.left - straight, self.right - straight).root
        return min(s, sympy.Integer(2)), e, sympy.Integer(0) if s == 1 else o


def _power_at(h: Expr, point: Expr, sign: int) -> tuple[Expr, Expr, Expr]:
    """(h_0, A, s) with h = h_0 + A x^s + ... at a distance x on one side of `at`."""
    if _rough(h, point) is None:
        taylor = [sympy.simplify(sympy.diff(h, c, k).subs(c, point)) for k in range(DERIVATIVES + 1)]
        first = next((k for k in range(1, DERIVATIVES + 1) if taylor[k] != 0), DERIVATIVES)
        return taylor[0], sign**first * taylor[first] / sympy.factorial(first), sympy.Integer(first)
    x = sympy.Symbol("x", positive=True)
    shifted = sympy.simplify(h.subs(c, point + sign * x))
    value = sympy.limit(shifted, x, 0, "+")
    try:
        factor, power = sympy.sympify(shifted - value).simplify().leadterm(x) if shifted != value else (0, 2)
    except (ValueError, NotImplementedError, TypeError):
        factor, power = sympy.nan, sympy.nan
    if not (value.is_finite and sympy.sympify(factor).is_finite and sympy.sympify(power).is_positive):
        raise OutOfReach(f"the behaviour of the link {h} at {point} is no power that is known; use method='exact'.")
    return value, sympy.sympify(factor), sympy.sympify(power)


@dataclass(frozen=True)
class Link:
    """The pieces of a link, from c = -1 to c = 1."""

    pieces: tuple[Piece, ...]

    @property
    def kinks(self) -> list[Kink]:
        """Where two pieces meet."""
        return [Kink(left.high, left.h, right.h) for left, right in pairwise(self.pieces)]


def link(h: Expr, kinks: Sequence[Expr] = ()) -> Link:
    """The link with the expression h(c), which may contain |.|, max and min that switch at the kinks."""
    ends = [sympy.Integer(-1), *sorted(kinks), sympy.Integer(1)]
    pieces: list[Piece] = []
    for low, high in pairwise(ends):
        piece = _smooth(h, low, high)
        # drop a declared kink that is smooth: an integral over one piece is more likely to have a closed form
        if pieces and pieces[-1].h == piece and _rough(piece, low) is None:
            low = pieces.pop().low
        pieces.append(Piece(piece, low, high))
    return Link(tuple(pieces))


def _smooth(h: Expr, low: Expr, high: Expr) -> Expr:
    """H between two kinks with its switches resolved; it may behave like a root at kinks, and is smooth elsewhere."""
    h = unswitched(h, low, high)
    for end in (low, high):
        if abs(end) == 1:
            if (order := _rough(h, end)) is not None:
                raise OutOfReach(
                    f"the link {h} has no derivative of order {order} at {end}: its leading behaviour is not known "
                    "here; use method='exact'."
                )
        elif not sympy.sympify(h).subs(c, end).evalf().is_finite:
            raise OutOfReach(
                f"the link {h} is not finite at {end}: its leading behaviour is not known here; use method='exact'."
            )
    return h


def _rough(h: Expr, point: Expr) -> int | None:
    """The smallest order up to `DERIVATIVES` of a derivative that h lacks at a point; None if it has them all."""
    orders = range(DERIVATIVES + 1)
    return next((k for k in orders if not sympy.diff(h, c, k).subs(c, point).evalf().is_finite), None)


def unswitched(h: Expr, low: Expr, high: Expr, of: Expr = c) -> Expr:
    """H with every switch (|.|, max, np.where, ...) replaced by its branch between low and high."""
    points = np.linspace(float(low), float(high), SAMPLES)[1:-1]

    def sign(argument: Expr) -> int:
        return constant(sympy.sign(argument), "kink")

    def constant(step: Expr, what: str) -> int:
        values = np.real(sympy.lambdify(of, step, NUMERIC)(points) + 0 * points)
        if values.min() < values.max():
            way = f"declare it, Ridge(link, {what}s=(...))" if of == c else "use method='exact'"
            raise OutOfReach(f"{_name_of(of)} {h} has a {what} between {low} and {high}: {way}.")
        return int(values[0])

    def chosen(*branches: tuple[Expr, Expr]) -> Expr:
        for value, condition in branches:
            if condition == True or sign(_number(condition) - sympy.Rational(1, 2)) > 0:  # noqa: E712
                return value
        raise OutOfReach(f"{_name_of(of)} {h} is not defined between {low} and {high}.")

    # the innermost first, also inside conditions
    h = h.replace(sympy.Piecewise, lambda *branches: chosen(*branches))
    # an unused branch may still switch: sign(c) max(|c| - 1/2, 0) is 0 up to 1/2
    h = h.replace(sympy.Max, lambda *u: _extreme(u, sign, 1))
    h = h.replace(sympy.Min, lambda *u: _extreme(u, sign, -1))
    h = h.replace(sympy.Abs, lambda u: sign(u) * u)
    h = h.replace(sympy.sign, lambda u: sympy.Integer(sign(u)))
    h = h.replace(sympy.Heaviside, lambda u, *_: sympy.Rational(1 + sign(u), 2))
    return h.replace(sympy.floor, lambda u: sympy.Integer(constant(sympy.floor(u), "jump")))


def _extreme(values: Sequence[Expr], sign: Any, which: int) -> Expr:
    """The largest or the smallest of several expressions whose order does not change."""
    best = values[0]
    for value in values[1:]:
        best = value if which * sign(value - best) > 0 else best
    return best


def _number(value: Expr) -> Expr:
    """An expression in arithmetic: a condition is 1 where it holds, and 0 elsewhere."""
    condition = value.is_Boolean or value.is_Relational
    return sympy.Piecewise((sympy.Integer(1), value), (sympy.Integer(0), True)) if condition else value


def read(function: Any, domain: tuple[float, float] = (-1.0, 1.0), of: Expr = c) -> Expr:
    """The expression h(c) that a function of arrays computes, in the symbol `of`."""
    try:
        h = _number(formula_of(function).evaluate(of, _in_sympy))
        # avoid round numbers, where kinks are; the value at a jump does not matter
        points = np.linspace(*domain, SAMPLES)[:-1] + OFFSET
        expected = np.asarray(function(points))
        misread = np.max(np.abs(sympy.lambdify(of, h, NUMERIC)(points) + 0 * points - expected))
    except Exception as error:
        raise OutOfReach(
            f"{_name_of(of)} {function!r} cannot be read as a formula ({type(error).__name__}: {error}): asymptotics "
            "need one made of arithmetic, comparisons, np.where, np.select, np.piecewise, np.clip and NumPy's "
            "elementary functions; use method='exact'."
        ) from error
    if not misread <= MISREAD * (np.ptp(expected) + np.max(np.abs(expected))):
        raise OutOfReach(f"{_name_of(of)} {function!r} is not the formula {h} that it looks like; use method='exact'.")
    return h


def _name_of(symbol: Expr) -> str:
    return "the link" if symbol == c else "the kernel or variogram"


def meant(number: float) -> Expr:
    """The exact number meant by a double: its shortest decimal as a fraction, or, if long, a root or multiple of pi.

    >>> meant(0.1), meant(2 * np.pi), meant(1 / np.sqrt(2)), meant(-1 / np.sqrt(2 * np.pi))
    (1/10, 2*pi, sqrt(2)/2, -sqrt(2)/(2*sqrt(pi)))
    """
    fraction = sympy.Rational(repr(float(number)))
    if fraction.q < 10**12:
        return fraction
    # is the square q pi^k, q a fraction of numbers below 100? By chance a double is that close once in 10^10
    for power in (0, 2, 1, -1, -2):
        square = float(number) ** 2 / math.pi**power
        simple = Fraction(square).limit_denominator(100)
        if simple.numerator < 100 and abs(square - simple) <= 8 * EPS * square:
            return sympy.sign(fraction) * sympy.sqrt(sympy.Rational(simple) * sympy.pi**power)
    return fraction


def _in_sympy(name: str, *inputs: Any) -> Expr:
    """Evaluate an operation of a formula in SymPy; doubles become exact numbers."""
    if name == "constant":
        return meant(*inputs) if isinstance(inputs[0], float) else sympy.sympify(*inputs)
    function = OPERATIONS[name][1]
    if function is None:
        raise TypeError(f"{name} is not known here")
    if name not in ("logical_and", "logical_or", "logical_not", "select"):
        inputs = tuple(map(_number, inputs))
    return getattr(sympy, function)(*inputs) if isinstance(function, str) else function(sympy, *inputs)
