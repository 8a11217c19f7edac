r"""Link functions as SymPy expressions: smooth pieces that meet at kinks.

The links of the named laws are written down here. The link of a `Ridge` law is a function from arrays to arrays; it is
read by calling it with a symbolic array that records the operations.
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

SAMPLES = 41
"""Number of points that decide the sign inside |.| or max, and at which the expression is compared with the link."""
DERIVATIVES = 4
"""Number of derivatives that must exist up to the ends of a piece: two for the leading term, two more for the next."""
OFFSET = 0.0123456789
"""Shift of the points that are compared: an arbitrary number, so that none falls on a kink, which lie at round numbers.
"""
MISREAD = 1e-9
"""Largest difference between a link and its expression relative to the link's range: the rounding of a long formula."""
LONG, SIMPLE, FEW_ROUNDINGS = 10**12, 100, 8 * EPS
"""A decimal with more digits than the first number is tested for a square of the form q pi^k, with q a fraction of
numbers below the second, to the third. A double is that close to one by chance once in 10^10."""
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

        s = 0 at a jump, 1 at a jump of the slope, between and above at roots such as |x|^{1/2} and |x|^{6/5}; the
        linear term a x of a smooth link does not count. 2 stands for any smoother behaviour.
        """
        sides = [_power_at(side, self.at, sign) for side, sign in ((self.right, 1), (self.left, -1))]
        change = sympy.simplify(sides[0][0] - sides[1][0])
        if change != 0:
            return sympy.Integer(0), sympy.Integer(0), change / 2
        s = min(power for _, _, power in sides)
        right, left = (factor if power == s else sympy.Integer(0) for _, factor, power in sides)
        e, o = (sympy.simplify((right + sign * left) / 2) for sign in (1, -1))
        if s == 1 and e == 0:
            straight = o * (c - self.at)
            return Kink(self.at, self.left - straight, self.right - straight).root
        return min(s, sympy.Integer(2)), e, sympy.Integer(0) if s == 1 else o


def _power_at(h: Expr, point: Expr, sign: int) -> tuple[Expr, Expr, Expr]:
    """(h_0, A, s) with h = h_0 + A x^s + ... at a distance x on one side of `at`.

    Raises
    ------
    OutOfReach
        If h is not finite there, or the next term is not a power.
    """
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
    """The link with the expression h(c), which may contain |.|, max and min that switch at the kinks.

    Raises
    ------
    OutOfReach
        If h is not smooth between its kinks.

    >>> [piece.h for piece in link(abs(c), kinks=[sympy.Integer(0)]).pieces]
    [-c, c]
    """
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
    """H with every switch (|.|, max, np.where, ...) replaced by its branch between low and high.

    Raises
    ------
    OutOfReach
        If a switch has more than one branch there.

    >>> unswitched(sympy.Max(-1, sympy.Min(1, 2 * c)), sympy.Integer(0), sympy.Rational(1, 2))
    2*c
    """
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
            if condition == True or sign(_truth(condition) - sympy.Rational(1, 2)) > 0:  # noqa: E712
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


def _truth(condition: Expr) -> Expr:
    """1 if a condition holds, 0 otherwise."""
    return sympy.Piecewise((sympy.Integer(1), condition), (sympy.Integer(0), True))


def read(function: Any, domain: tuple[float, float] = (-1.0, 1.0), of: Expr = c) -> Expr:
    """The expression h(c) that a function of arrays computes, in the symbol `of`.

    Raises
    ------
    OutOfReach
        If it does more than arithmetic, `abs` and elementary functions.

    >>> read(lambda z: 1 / (2 + np.cos(3 * z)))
    1/(cos(3*c) + 2)
    """
    try:
        result = function(Trace(of))
        result = result if isinstance(result, Trace) else np.asarray(result, dtype=object).ravel()[0]
        h = sympy.sympify(result.expression if isinstance(result, Trace) else result)
        h = h.xreplace({number: meant(float(number)) for number in h.atoms(sympy.Float)})
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
    """The name of the function that has the symbol as its argument."""
    return "the link" if symbol == c else "the kernel or variogram"


def meant(number: float) -> Expr:
    """The exact number meant by a double: its shortest decimal as a fraction, or, if long, a root or multiple of pi.

    >>> meant(0.1), meant(2 * np.pi), meant(1 / np.sqrt(2)), meant(-1 / np.sqrt(2 * np.pi))
    (1/10, 2*pi, sqrt(2)/2, -sqrt(2)/(2*sqrt(pi)))
    """
    fraction = sympy.Rational(repr(float(number)))
    if fraction.q < LONG:
        return fraction
    for power in (0, 2, 1, -1, -2):
        square = float(number) ** 2 / math.pi**power
        simple = Fraction(square).limit_denominator(SIMPLE)
        if simple.numerator < SIMPLE and abs(square - simple) <= FEW_ROUNDINGS * square:
            return sympy.sign(fraction) * sympy.sqrt(sympy.Rational(simple) * sympy.pi**power)
    return fraction


class Trace:
    """A symbolic number. NumPy applies np.cos to an object by calling its method `cos`."""

    def __init__(self, expression: Expr) -> None:
        self.expression = sympy.sympify(expression)

    def __bool__(self) -> bool:
        raise TypeError("a comparison decides what it computes: write np.where(condition, one, other)")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's and SciPy's functions of arrays, by their names."""
        function = _FUNCTIONS.get(ufunc.__name__)
        if function is None or method != "__call__" or options:
            raise TypeError(f"{ufunc.__name__} is not known here")
        return Trace(function(*(_expression(argument) for argument in inputs)))

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        """np.where, np.select, np.piecewise, np.clip, np.round, np.interp and np.polyval."""
        known: Any = _ROUTINES.get(function.__name__)
        if known is None:
            raise TypeError(f"np.{function.__name__} is not known here")
        return known(*arguments, **options)

    def clip(self, low: Any, high: Any) -> Trace:
        """As np.clip."""
        return _clip(self, low, high)

    def round(self, decimals: int = 0) -> Trace:
        """As np.round."""
        return _round(self, decimals)

    def __invert__(self) -> Trace:
        return Trace(sympy.Not(_condition(self)))

    def astype(self, dtype: Any, **options: Any) -> Trace:
        """Itself as a real number: 1 where a condition holds; whole numbers are not real ones."""
        if np.dtype(dtype).kind != "f":
            raise TypeError(f"numbers of the type {np.dtype(dtype)} are not known here")
        return Trace(_expression(self))


def _where(condition: Any, then: Any, otherwise: Any) -> Trace:
    return _select([condition], [then], otherwise)


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Trace:
    """The first choice whose condition holds."""
    branches = [
        (_expression(choice), _condition(condition)) for condition, choice in zip(condlist, choicelist, strict=True)
    ]
    return Trace(sympy.Piecewise(*branches, (_expression(default), True)))


def _piecewise(x: Any, condlist: Any, funclist: Any) -> Trace:
    """The last function whose condition holds, as NumPy overwrites earlier ones."""
    conditions = list(condlist) if isinstance(condlist, list | tuple) else [condlist]
    choices = [branch(x) if callable(branch) else branch for branch in funclist]
    default = choices[len(conditions)] if len(choices) == len(conditions) + 1 else 0
    return _select(conditions[::-1], choices[: len(conditions)][::-1], default)


def _condition(value: Any) -> Expr:
    return value.expression if isinstance(value, Trace) else sympy.sympify(bool(value))


def _clip(value: Any, low: Any, high: Any) -> Trace:
    return Trace(sympy.Min(sympy.Max(_expression(value), _expression(low)), _expression(high)))


def _polyval(coefficients: Any, x: Any) -> Trace:
    """By Horner's rule, as NumPy does."""
    value: Any = 0
    for coefficient in coefficients:
        value = value * x + coefficient
    return value


def _round(x: Any, decimals: int = 0) -> Trace:
    """As np.round, except for the value halfway, where it jumps."""
    size = sympy.Integer(10) ** int(decimals)
    return Trace(sympy.floor(_expression(x) * size + sympy.Rational(1, 2)) / size)


def _interp(x: Any, xp: Any, fp: Any) -> Trace:
    """As np.interp: linear between the points and constant beyond."""
    places, values = ([_expression(float(number)) for number in numbers] for numbers in (xp, fp))
    z, ends = _expression(x), list(zip(places, values, strict=True))
    lines = [(v + (u - v) * (z - a) / (b - a), z < b) for (a, v), (b, u) in pairwise(ends)]
    return Trace(sympy.Piecewise((values[0], z < places[0]), *lines, (values[-1], True)))


def _trunc(x: Any) -> Trace:
    z = _expression(x)
    return Trace(sympy.sign(z) * sympy.floor(abs(z)))


_ROUTINES = {
    "round": _round,
    "around": _round,
    "fix": _trunc,
    "interp": _interp,
    "where": _where,
    "select": _select,
    "piecewise": _piecewise,
    "clip": _clip,
    "polyval": _polyval,
}


def _expression(value: Any) -> Expr:
    """A value as an expression: conditions become 1 or 0, doubles become exact numbers."""
    if isinstance(value, Trace):
        raw = value.expression
        return _truth(raw) if raw.is_Boolean or raw.is_Relational else raw
    if np.ndim(value):
        value = np.asarray(value).ravel()[0] if np.size(value) == 1 else value
    if isinstance(value, bool | np.bool_):
        return sympy.Integer(int(value))
    return meant(float(value)) if isinstance(value, float | np.floating) else sympy.sympify(value)


_FUNCTIONS = {
    name: getattr(sympy, name) for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh")
}
_FUNCTIONS |= {"arctan": sympy.atan, "arcsinh": sympy.asinh, "square": lambda u: u**2, "erf": sympy.erf}
_FUNCTIONS |= {
    "arccos": lambda u: 2 * sympy.asin(sympy.sqrt((1 - u) / 2)),
    "arcsin": sympy.asin,
}
_FUNCTIONS |= {"hypot": lambda u, v: sympy.sqrt(u**2 + v**2)}
_FUNCTIONS |= {"logaddexp": lambda u, v: sympy.log(sympy.exp(u) + sympy.exp(v))}
_FUNCTIONS |= {"absolute": sympy.Abs, "fabs": sympy.Abs, "sign": sympy.sign, "maximum": sympy.Max, "minimum": sympy.Min}
_FUNCTIONS |= {"fmax": sympy.Max, "fmin": sympy.Min, "heaviside": lambda u, at: sympy.Heaviside(u, at)}
_FUNCTIONS |= {"cbrt": lambda u: sympy.sign(u) * sympy.Abs(u) ** sympy.Rational(1, 3), "reciprocal": lambda u: 1 / u}
_FUNCTIONS |= {"expm1": lambda u: sympy.exp(u) - 1, "log1p": lambda u: sympy.log(1 + u), "negative": lambda u: -u}
_FUNCTIONS |= {"erfc": lambda u: 1 - sympy.erf(u), "expit": lambda u: 1 / (1 + sympy.exp(-u))}
_FUNCTIONS |= {"trunc": lambda u: _trunc(u).expression, "copysign": lambda u, v: sympy.Abs(u) * sympy.sign(v)}
_FUNCTIONS |= {"exp2": lambda u: 2**u, "log2": lambda u: sympy.log(u, 2), "log10": lambda u: sympy.log(u, 10)}
_FUNCTIONS |= {"arctanh": sympy.atanh, "ndtr": lambda u: (1 + sympy.erf(u / sympy.sqrt(2))) / 2}
# conditions arrive as 1 or 0
_FUNCTIONS |= {"logical_and": lambda a, b: sympy.Gt(a * b, 0), "logical_or": lambda a, b: sympy.Gt(a + b, 0)}
_FUNCTIONS |= {"logical_not": lambda a: sympy.Lt(a, 1)}
# the value of rint at a jump does not matter
_FUNCTIONS |= {"floor": sympy.floor, "ceil": lambda u: -sympy.floor(-u)}
_FUNCTIONS |= {"rint": lambda u: sympy.floor(u + sympy.Rational(1, 2))}
_OPERATORS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
    "floordiv": lambda a, b: sympy.floor(a / b),
    "mod": lambda a, b: a - b * sympy.floor(a / b),
}
_FUNCTIONS |= {"subtract": _OPERATORS["sub"], "multiply": _OPERATORS["mul"], "true_divide": _OPERATORS["truediv"]}
_FUNCTIONS |= {"add": _OPERATORS["add"], "divide": _OPERATORS["truediv"], "power": _OPERATORS["pow"]}
_FUNCTIONS |= {"floor_divide": _OPERATORS["floordiv"], "remainder": _OPERATORS["mod"]}
_FUNCTIONS |= {"float_power": _OPERATORS["pow"], "positive": lambda u: u}
_COMPARISONS = {"gt": sympy.Gt, "ge": sympy.Ge, "lt": sympy.Lt, "le": sympy.Le}
_FUNCTIONS |= {"greater": sympy.Gt, "greater_equal": sympy.Ge, "less": sympy.Lt, "less_equal": sympy.Le}


def _binary(function: Any, reflected: bool = False) -> Any:
    def apply(self: Trace, operand: Any) -> Trace:
        first, second = _expression(self), _expression(operand)
        return Trace(function(second, first) if reflected else function(first, second))

    return apply


def _logical(function: Any) -> Any:
    def apply(self: Trace, operand: Any) -> Trace:
        return Trace(function(self.expression, operand.expression if isinstance(operand, Trace) else bool(operand)))

    return apply


for _name, _function in _OPERATORS.items():
    setattr(Trace, f"__{_name}__", _binary(_function))
    setattr(Trace, f"__r{_name}__", _binary(_function, reflected=True))
for _name, _function in _COMPARISONS.items():
    setattr(Trace, f"__{_name}__", _binary(_function))
for _name, _function in {"and": sympy.And, "or": sympy.Or}.items():
    setattr(Trace, f"__{_name}__", _logical(_function))
for _name in ("__neg__", "__pos__", "__abs__"):
    setattr(Trace, _name, lambda self, _name=_name: Trace(getattr(_expression(self), _name)()))
