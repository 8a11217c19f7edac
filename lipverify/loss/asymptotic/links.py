r"""Link functions as SymPy expressions: smooth pieces that meet at kinks.

The links of the named laws are written down here; that of a `Ridge` law is a function from arrays to arrays, and is
read by calling it with a stand-in that remembers what is done to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import sympy

from lipverify.errors import OutOfReach
from lipverify.loss.asymptotic.sphere import Expr, c

SAMPLES = 41
"""Points at which the sign inside |.| or max is looked up, and at which what was read is compared with the link."""
DERIVATIVES = 4
"""Derivatives that must exist up to the ends of a piece: two in the leading term, two more in the next."""
MISREAD = 1e-9
"""A link and what was read from it may differ by the rounding of a long formula, relative to the link's range."""


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
        """By how much the derivative of that order jumps."""
        return sympy.simplify(sympy.diff(self.right - self.left, c, order).subs(c, self.at))


@dataclass(frozen=True)
class Link:
    """The pieces of a link, from c = -1 to c = 1."""

    pieces: tuple[Piece, ...]

    @property
    def kinks(self) -> list[Kink]:
        """Where two pieces meet."""
        return [Kink(left.high, left.h, right.h) for left, right in pairwise(self.pieces)]


def link(h: Expr, kinks: Sequence[Expr] = ()) -> Link:
    """The link with the expression h(c), which may contain |.|, max and min that switch at the kinks.

    Raises
    ------
    OutOfReach
        If h is not smooth between its kinks.

    >>> [piece.h for piece in link(abs(c), kinks=[sympy.Integer(0)]).pieces]
    [-c, c]
    """
    ends = [sympy.Integer(-1), *sorted(kinks), sympy.Integer(1)]
    return Link(tuple(Piece(_smooth(h, low, high), low, high) for low, high in pairwise(ends)))


def _smooth(h: Expr, low: Expr, high: Expr) -> Expr:
    """H between two kinks, its switches resolved."""
    points = np.linspace(float(low), float(high), SAMPLES)[1:-1]

    def sign(argument: Expr) -> int:
        values = np.sign(np.real(sympy.lambdify(c, argument, "numpy")(points) + 0 * points))
        if values.min() < values.max():
            raise OutOfReach(f"the link {h} has a kink between {low} and {high}: declare it, Ridge(link, kinks=(...)).")
        return int(values[0])

    h = h.replace(sympy.Abs, lambda u: sign(u) * u)
    h = h.replace(sympy.sign, lambda u: sympy.Integer(sign(u)))
    h = h.replace(sympy.Max, lambda a, b: a if sign(a - b) > 0 else b)
    h = h.replace(sympy.Min, lambda a, b: b if sign(a - b) > 0 else a)
    for order in range(DERIVATIVES + 1):
        for end in (low, high):
            if not sympy.diff(h, c, order).subs(c, end).evalf().is_finite:
                raise OutOfReach(
                    f"the link {h} has no derivative of order {order} at {end}: its leading behaviour is not "
                    "known here; use method='exact'."
                )
    return h


def read(function: Any) -> Expr:
    """The expression h(c) that a function of arrays computes.

    Raises
    ------
    OutOfReach
        If it does more than arithmetic, `abs` and elementary functions.

    >>> read(lambda z: 1 / (2 + np.cos(3 * z)))
    1/(cos(3*c) + 2)
    """
    try:
        result = np.asarray(function(np.array([Trace(c)], dtype=object)), dtype=object).ravel()[0]
        h = sympy.sympify(result.expression if isinstance(result, Trace) else result)
        h = h.xreplace({number: decimal(float(number)) for number in h.atoms(sympy.Float)})
        points = np.linspace(-1, 1, SAMPLES)
        expected = np.asarray(function(points))
        misread = np.max(np.abs(sympy.lambdify(c, h, "numpy")(points) + 0 * points - expected))
    except Exception as error:
        raise OutOfReach(
            f"link = {function!r} cannot be read as a formula ({type(error).__name__}: {error}): asymptotics need one "
            "made of +, -, *, /, **, abs and NumPy's elementary functions; use method='exact'."
        ) from error
    if not misread <= MISREAD * (np.ptp(expected) + np.max(np.abs(expected))):
        raise OutOfReach(f"link = {function!r} is not the formula {h} that it looks like; use method='exact'.")
    return h


def decimal(number: float) -> Expr:
    """The shortest decimal that a double stands for, as a fraction.

    >>> decimal(0.1)
    1/10
    """
    return sympy.Rational(repr(float(number)))


class Trace:
    """A number that is not known yet. NumPy applies np.cos to an object by calling its method `cos`."""

    def __init__(self, expression: Expr) -> None:
        self.expression = sympy.sympify(expression)

    def __bool__(self) -> bool:
        raise TypeError("a comparison decides what it computes")

    def __getattr__(self, name: str) -> Any:
        function = _FUNCTIONS.get(name)
        if function is None:
            raise AttributeError(f"no elementary function is called {name}")
        return lambda: Trace(function(self.expression))


_FUNCTIONS = {
    name: getattr(sympy, name) for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh")
}
_FUNCTIONS |= {"arctan": sympy.atan, "arcsinh": sympy.asinh, "square": lambda u: u**2}
_OPERATORS = ("add", "sub", "mul", "truediv", "pow")


def _binary(name: str) -> Any:
    def apply(self: Trace, other: Any) -> Trace:
        known = other.expression if isinstance(other, Trace) else sympy.sympify(other)
        return Trace(getattr(self.expression, name)(known))

    return apply


for _name in (f"__{side}{operator}__" for operator in _OPERATORS for side in ("", "r")):
    setattr(Trace, _name, _binary(_name))
for _name in ("__neg__", "__pos__", "__abs__"):
    setattr(Trace, _name, lambda self, _name=_name: Trace(getattr(self.expression, _name)()))
