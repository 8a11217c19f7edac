"""The operations of a formula in balls, each beside its counterpart in SymPy."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

from flint import acb, arb


class UndecidedError(Exception):
    """A comparison has no single value: it holds on one part of an interval and fails on another."""


class Ball(NamedTuple):
    """The values on an interval and on a disk; conditions are 0 or 1. Without a disk, the values of both branches."""

    interval: Any
    disk: Any


def decided(condition: Ball) -> bool:
    """The value of a condition, for a Python `if`, for example in a function that NumPy calls for each number."""
    if (value := _holds(condition)) is None:
        raise UndecidedError
    return value


def _constant(value: float) -> Ball:
    return Ball(arb(float(value)), acb(float(value)))


def _holds(u: Ball) -> bool | None:
    """True, False, or None if the condition holds on a part of the interval only."""
    return False if u.interval.is_zero() else None if u.interval.contains(arb(0)) else True


def _truth(value: bool | None, *inputs: Ball) -> Ball:
    """A condition; one without a single value is not analytic."""
    if value is None:
        return Ball(arb(0.5, 0.5), None if _loose(*inputs) else acb(math.nan))
    return _constant(value)


def _chosen(condition: Ball, first: Ball, second: Ball) -> Ball:
    """np.where: the first argument where the condition holds, the second where it does not."""
    if _loose(condition) and _holds(condition) is None:
        return Ball(first.interval.union(second.interval), None)
    return first if decided(condition) else second


def _select(default: Ball, *pairs: Ball) -> Ball:
    backwards = zip(pairs[-2::-2], pairs[::-2], strict=True)
    return reduce(lambda rest, pair: _chosen(pair[0], pair[1], rest), backwards, default)


def _loose(*balls: Ball) -> bool:
    return any(ball.disk is None for ball in balls)


def _compared(holds: Callable[[Any, Any], bool], fails: Callable[[Any, Any], bool]) -> Callable[[Ball, Ball], Ball]:
    def compare(u: Ball, v: Ball) -> Ball:
        pair = u.interval, v.interval
        return _truth(True if holds(*pair) else False if fails(*pair) else None, u, v)

    return compare


_greater, _greater_equal = _compared(operator.gt, operator.le), _compared(operator.ge, operator.lt)
_less_equal, _equal = _compared(operator.le, operator.gt), _compared(operator.eq, operator.ne)


def _not(u: Ball) -> Ball:
    return _equal(u, _constant(0))


def _and(u: Ball, v: Ball) -> Ball:
    values = _holds(u), _holds(v)
    return _truth(False if False in values else None if None in values else True, u, v)


def _both(name: str, **options: bool) -> Callable[[Ball], Ball]:
    """The function of this name that Arb has for real and complex balls."""

    def apply(u: Ball) -> Ball:
        return Ball(getattr(u.interval, name)(), None if _loose(u) else getattr(u.disk, name)(**options))

    return apply


def _by(function: Callable[..., Any]) -> Callable[..., Ball]:
    """A function with one formula for real and complex balls."""

    def apply(*balls: Ball) -> Ball:
        real = function(*(ball.interval for ball in balls))
        return Ball(real, None if _loose(*balls) else function(*(ball.disk for ball in balls)))

    return apply


_add, _subtract, _multiply = _by(operator.add), _by(operator.sub), _by(operator.mul)
_divide, _negative = _by(operator.truediv), _by(operator.neg)
_exp, _log = _both("exp"), _both("log", analytic=True)


def _rising(real: Any, function: Callable[[Any], Any], low: float, high: float) -> Any:
    """The values on an interval of an increasing function that is defined between low and high."""
    ends = [min(max(float(end), low), high) for end in (real.lower(), real.upper())]
    return function(arb(ends[0])).union(function(arb(ends[1])))


def _whole_power(x: Any, power: int) -> Any:
    """Power by squaring: Arb's own power of an interval about 0 is not finite."""
    if power < 0:
        return 1 / _whole_power(x, -power)
    result = x * 0 + 1
    while power:
        result = result * x if power % 2 else result
        x, power = x * x, power // 2
    return result


def _power(u: Ball, v: Ball) -> Ball:
    """u^v; a whole v by products, and a root on an interval by its ends."""
    if v.interval.is_exact() and (v.disk is None or v.disk.is_exact()):
        power = float(v.interval.mid())
        if power.is_integer() and abs(power) < 1e6:
            return _by(lambda x: _whole_power(x, int(power)))(u)
    if _loose(u) and v.interval > 0:
        return Ball(_rising(u.interval, lambda x: arb(0) if x == 0 else x**v.interval, 0.0, math.inf), None)
    return Ball(u.interval**v.interval, None if _loose(u, v) else u.disk.pow(v.disk, analytic=True))


def _absolute(u: Ball) -> Ball:
    if _loose(u):
        return Ball(abs(u.interval), None)
    return _chosen(_greater_equal(u, _constant(0)), u, _negative(u))


def _sign(u: Ball) -> Ball:
    if u.interval.is_zero():
        return _constant(0)
    return _chosen(_greater(u, _constant(0)), _constant(1), _constant(-1))


def _floor(u: Ball) -> Ball:
    whole = u.interval.floor()
    if whole.is_exact() or whole.unique_fmpz() is not None:
        return _constant(float(whole.unique_fmpz()))
    if not _loose(u):
        raise UndecidedError
    return Ball(whole, None)


def _cut(name: str) -> Callable[[Ball], Ball]:
    """The function of this name in Arb, with branch cuts that run outwards from i and -i."""

    def apply(u: Ball) -> Ball:
        value = _both(name)(u)
        across = not _loose(u) and not abs(u.disk.imag) < 1 and u.disk.real.contains(arb(0))
        return Ball(value.interval, acb(math.nan)) if across else value

    return apply


_arctangent = _cut("atan")


def _arcsine(u: Ball) -> Ball:
    """arcsin u = arctan(u / sqrt(1 - u^2)), where the square root is analytic; without a disk by its values."""
    if _loose(u):
        return Ball(_rising(u.interval, lambda x: x.asin(), -1.0, 1.0), None)
    unit, half = _constant(1), _constant(0.5)
    root = _multiply(_power(_subtract(unit, u), half), _power(_add(unit, u), half))
    return Ball(u.interval.asin(), _arctangent(_divide(u, root)).disk)


def _arccosine(u: Ball) -> Ball:
    return _subtract(Ball(arb.pi() / 2, acb.pi() / 2), _arcsine(u))


def _logaddexp(u: Ball, v: Ball) -> Ball:
    """v + log(1 + e^{u - v}) with v the larger one; for a wide difference either form overflows."""
    difference = _subtract(u, v)
    if difference.interval > 0:
        v, difference = u, _negative(difference)
    return _add(v, _log(_add(_constant(1), _exp(difference))))


def _limited(line: Ball, first: Ball, last: Ball) -> Ball:
    """A line between its ends, whose values are closer than those on an interval wider than their distance."""
    between = first.interval.union(last.interval)
    if _loose(line) and line.interval.overlaps(between):
        return Ball(line.interval.intersection(between), None)
    return line


OPERATIONS: dict[str, tuple[Any, Any]] = {
    **{name: (_both(name), name) for name in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "erf")},
    "constant": (_constant, None),
    "add": (_add, "Add"),
    "subtract": (_subtract, lambda _, u, v: u - v),
    "multiply": (_multiply, "Mul"),
    "divide": (_divide, lambda _, u, v: u / v),
    "negative": (_negative, lambda _, u: -u),
    "positive": (lambda u: u, lambda _, u: u),
    "power": (_power, "Pow"),
    "log": (_log, "log"),
    "expm1": (_both("expm1"), lambda sympy, u: sympy.exp(u) - 1),
    "erfc": (_both("erfc"), lambda sympy, u: 1 - sympy.erf(u)),
    "logaddexp": (_logaddexp, lambda sympy, u, v: sympy.log(sympy.exp(u) + sympy.exp(v))),
    "arctan": (_arctangent, "atan"),
    "arcsinh": (_cut("asinh"), "asinh"),
    "arcsin": (_arcsine, "asin"),
    "arccos": (_arccosine, lambda sympy, u: 2 * sympy.asin(sympy.sqrt((1 - u) / 2))),
    "greater": (_greater, "Gt"),
    "greater_equal": (_greater_equal, "Ge"),
    "less": (_compared(operator.lt, operator.ge), "Lt"),
    "less_equal": (_less_equal, "Le"),
    "equal": (_equal, lambda sympy, u, v: sympy.false),  # a single point adds nothing to an average
    "logical_and": (_and, "And"),
    "logical_or": (lambda u, v: _not(_and(_not(u), _not(v))), "Or"),
    "logical_not": (_not, "Not"),
    "select": (
        _select,
        lambda sympy, default, *pairs: sympy.Piecewise(*zip(pairs[1::2], pairs[::2], strict=True), (default, True)),
    ),
    "maximum": (lambda u, v: _chosen(_greater_equal(u, v), u, v), "Max"),
    "minimum": (lambda u, v: _chosen(_less_equal(u, v), u, v), "Min"),
    "absolute": (_absolute, "Abs"),
    "sign": (_sign, "sign"),
    "floor": (_floor, "floor"),
    "limited": (_limited, lambda _, line, first, last: line),
    "sinc": (_both("sinc_pi"), None),
}
"""The operations by NumPy's names, in balls and in SymPy: a name there, or a formula whose first argument is the
module, which takes long to import. None: not known there."""
