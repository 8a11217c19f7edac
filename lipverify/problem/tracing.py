r"""Balls that NumPy's functions accept, and the halving of a domain until a function is analytic on every interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from flint import acb, arb, ctx
from numpy.lib.mixins import NDArrayOperatorsMixin

from lipverify.foundation.arrays import EPS
from lipverify.problem.features import ROOT, SMALLEST, Features

REACH = 2.5
"""Radius of the disk, in half-widths of the interval: the error of a rule of 24 Gauss nodes is then less than 1e-21 of
the bound on the disk. This holds in the angle too, where the interval at either end of [-1, 1] is mapped by a
square."""
GROWN = 1e3
"""Largest variation of a function on the disk, in units of its variation over the whole interval."""
WIDER = 1e-8
"""Share of its width by which an interval overlaps the next; the radii of balls are rounded up by less."""
MOST = 20_000
"""Largest number of intervals, two or three seconds' work: a function with more features is not traced."""
SIDE_BY_SIDE = 1_000
"""Largest number of intervals of the smallest width. A place alone takes a hundred steps, so more of them are
neighbours: rounding hides the function there, as where two functions in a maximum touch or are the same."""
TALL = 10.0
"""Bound on values within 1e-15 of a place, in units of the mean on a grid: they then add less than rounding."""
BESIDE, STEEP = 32 * SMALLEST, 1.01
"""Larger values are bounded if this factor bounds them relative to those at this distance from the place, as at the tip
of a feature wider than 3e-12. A box too narrow for rounded numbers to place its sides to 1 % does not reach so far."""
SAMPLES, OFFSET = 41, 0.0123456789
"""Number of points of a piece at which a formula is compared with the function, and their shift, so that none falls on
a round number."""
MISREAD = 1e-9
"""Largest difference between a function's values and its balls, relative to its variation: larger ones are not
rounding."""


class UndecidedError(Exception):
    """A comparison holds on one part of an interval and fails on another."""


def traced(function: Callable[[Any], Any], low: float, high: float) -> Features:
    """The uncached part of `features`; raises if the function is not a formula of known operations."""
    # # set the precision here, whatever it is elsewhere
    with ctx.workprec(64):
        return _Search(function, low, high).features()


class _Search:
    """The halving of one function's domain."""

    def __init__(self, function: Callable[[Any], Any], low: float, high: float) -> None:
        self.function, self.low, self.high = function, low, high
        values = np.asarray(function(np.linspace(low, high, 4097)), dtype=float)
        if not np.all(np.isfinite(values)):
            raise ValueError("not finite")
        self.middle = float(values[0])
        distances = np.abs(values - self.middle)
        # of a constant with features between the points, what rounding hides
        rounding = EPS * float(np.max(np.abs(values)))
        self.size, self.mean = max(float(np.max(distances)), rounding, 1e-300), float(np.mean(distances))
        self.looked = 0
        self._require_same()

    def features(self) -> Features:
        """Search twice: first for the points where the function is not analytic, then on the intervals between them."""
        _, slivers = self._halved(self.low, self.high, ends=False)
        joined: list[list[float]] = []
        for start, stop in slivers:
            if joined and start <= joined[-1][1]:
                joined[-1][1] = stop
            else:
                joined.append([start, stop])
        bounds = [self.low, *(end for sliver in joined for end in sliver), self.high]
        leaves: list[tuple[float, float]] = []
        unresolved: list[tuple[float, float]] = [(start, stop) for start, stop in joined]
        for start, stop in zip(bounds[::2], bounds[1::2], strict=True):
            if start < stop:
                analytic, halves = self._halved(start, stop, ends=True)
                leaves += analytic
                unresolved += halves
        places = [
            _round_place(start, stop)
            for start, stop in joined
            if start > self.low and stop < self.high and not self._removable(leaves, start, stop)
        ]
        unbounded = [(start + stop) / 2 for start, stop in unresolved if not self._tame(start, stop)]
        # the gap between two intervals is rounding: add it to the left one
        edges = np.unique([self.low, self.high, *(start for start, _ in leaves if start > self.low + 4 * SMALLEST)])
        return Features(edges, tuple(places), tuple(sorted(set(unbounded))))

    def _halved(self, low: float, high: float, ends: bool) -> tuple[list[Any], list[Any]]:
        """The intervals where the function is analytic, and those where it is not; `ends`: low and high are kinks."""
        leaves, slivers, stack = [], [], [(low, high)]
        while stack:
            start, stop = stack.pop()
            middle = (start + stop) / 2
            if self._analytic(start, stop, ends and start == low, ends and stop == high):
                leaves.append((start, stop))
            elif stop - start <= SMALLEST or not start < middle < stop:
                slivers.append((start, stop))
                if len(slivers) > SIDE_BY_SIDE:
                    raise OverflowError("no width resolves it")
            else:
                stack += [(middle, stop), (start, middle)]
        return leaves, slivers

    def _analytic(self, start: float, stop: float, first: bool, last: bool) -> bool:
        """True if the function is analytic on the disk about an interval, and varies by at most GROWN there."""
        self.looked += 1
        if self.looked > MOST:
            raise OverflowError("too many features")
        half, middle = (stop - start) / 2, (start + stop) / 2
        inner = start + WIDER * half * (1 if first or start == self.low else -1)
        outer = stop - WIDER * half * (1 if last or stop == self.high else -1)
        real = arb((inner + outer) / 2, (outer - inner) / 2)
        disk = acb(arb(middle, REACH * half), arb(0, REACH * half))
        try:
            value = self._value(Ball(real, disk))
        except UndecidedError:
            return False
        if not value.disk.is_finite():
            return False
        varies = float((value.disk - value.disk.mid()).abs_upper())
        if varies > GROWN * self.size:
            self.size = max(self.size, self._distance(middle))
        return varies <= GROWN * self.size

    def _distance(self, *points: float) -> float:
        """The largest finite distance of the function's values at some points from its first value."""
        values = np.asarray(self.function(np.array(points)), dtype=float)
        return float(np.max(np.abs(values - self.middle), where=np.isfinite(values), initial=0.0))

    def _value(self, ball: Ball) -> Ball:
        result = self.function(ball)
        return _ball(result.item() if isinstance(result, np.ndarray) else result)

    def _tame(self, start: float, stop: float) -> bool:
        """True if a sliver's values add less than rounding to an average, or are about as large as those beside it."""
        try:
            value = self._value(Ball(arb(start).union(arb(stop)), None)).interval
        except UndecidedError:
            return False
        beside = self._distance(max(start - BESIDE, self.low), min(stop + BESIDE, self.high))
        allowed = max(TALL * self.mean, STEEP * beside)
        return bool(value.is_finite()) and float((value - self.middle).abs_upper()) <= allowed

    def _removable(self, leaves: list[tuple[float, float]], start: float, stop: float) -> bool:
        """True if the formula on the left of a place continues on its right."""
        before = [leaf for leaf in leaves if leaf[1] == start]
        after = [leaf for leaf in leaves if leaf[0] == stop]
        if not before or not after:
            return False
        (low, high), width = before[0], min(before[0][1] - before[0][0], after[0][1] - after[0][0])
        if width < ROOT:
            return False
        inside = arb((low + high) / 2, (high - low) / 4)
        places = stop + width * np.array([0.1, 0.4, 0.8, 1.0])
        expected = np.asarray(self.function(places), dtype=float)
        for point, value in zip(places.tolist(), expected.tolist(), strict=True):
            further = self._value(Ball(inside, acb(point))).disk.real
            if not abs(float(further.mid()) - value) <= 1e-13 * (self.size + abs(value)):
                return False
        return True

    def _require_same(self) -> None:
        """Refuse a function whose values on arrays differ from those on balls."""
        points = np.linspace(self.low, self.high, SAMPLES)[:-1] + OFFSET * (self.high - self.low) / 2
        expected = np.asarray(self.function(points), dtype=float)
        allowed = MISREAD * (self.size + float(np.max(np.abs(expected))))
        for point, value in zip(points.tolist(), expected.tolist(), strict=True):
            interval = self._value(Ball(arb(point, 4e-16 * (1 + abs(point))), None)).interval
            if interval.is_finite() and not (interval + arb(0, allowed)).contains(arb(value)):
                raise ValueError("not the same function")


def _round_place(start: float, stop: float) -> float:
    """The place between two ends: a number with few digits if one lies close enough."""
    middle = (start + stop) / 2
    nice = round(middle, 10)
    return (nice if start - SMALLEST <= nice <= stop + SMALLEST else middle) + 0.0


class Ball(NDArrayOperatorsMixin):
    """The values of a real function on an interval, and those of its continuation on a disk.

    Without a disk comparisons that have no single answer give the values of both branches.
    """

    __slots__ = ("disk", "interval")
    shape: tuple[int, ...] = ()
    ndim, size = 0, 1
    dtype = np.dtype(float)

    def __init__(self, interval: Any, disk: Any) -> None:
        self.interval, self.disk = interval, disk

    def __bool__(self) -> bool:
        raise TypeError("a comparison decides what it computes")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Evaluate NumPy's and SciPy's functions of arrays, by their names."""
        function = _FUNCTIONS[ufunc.__name__]
        if method != "__call__" or options:
            raise TypeError(f"{ufunc.__name__} is not known here")
        return function(*(argument if isinstance(argument, Truth) else _ball(argument) for argument in inputs))

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        """Evaluate np.where and similar functions."""
        return _ROUTINES[function.__name__](*arguments, **options)

    def clip(self, low: Any, high: Any) -> Ball:
        """The ball limited to [low, high], as np.clip limits an array."""
        return _clip(self, low, high)

    def astype(self, dtype: Any, **options: Any) -> Ball:
        """The ball itself: a real number of full precision."""
        if np.dtype(dtype) != np.dtype(float):
            raise TypeError("numbers of this type are not known here")
        return self

    def reshape(self, *shape: Any) -> Ball:
        """The ball itself, because it stands for one number."""
        return self

    ravel = copy = reshape


@dataclass(frozen=True, eq=False)
class Truth(NDArrayOperatorsMixin):
    """The value of a comparison on an interval: True, False, or None if it holds on a part only."""

    value: bool | None
    loose: bool

    def __bool__(self) -> bool:
        """The value, for a Python `if`, for example in a function that NumPy calls for each number."""
        if self.value is None:
            raise UndecidedError
        return self.value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """And, or, not; arithmetic uses 1 for True and 0 for False."""
        name = ufunc.__name__
        if name in _LOGICAL:
            values = (argument.value if isinstance(argument, Truth) else bool(argument) for argument in inputs)
            return Truth(_LOGICAL[name](*values), self.loose)
        return Ball.__array_ufunc__(_ball(self), ufunc, method, *(_ball(argument) for argument in inputs), **options)

    __array_function__ = Ball.__array_function__

    def astype(self, dtype: Any, **options: Any) -> Ball:
        """1 where it holds."""
        return _ball(self).astype(dtype)


def _ball(value: Any) -> Ball:
    """A number as a ball. An object of another type, which a function may make of a ball, is refused."""
    if isinstance(value, Ball):
        return value
    if isinstance(value, Truth):
        unit, zero = _constant(1.0), _constant(0.0)
        return _chosen(value, unit, zero)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return _ball(value.item())
    number = np.asarray(value)
    if number.dtype.kind not in "biuf":
        raise TypeError(f"a {type(value).__name__} is not known here")
    return _constant(float(number.item()))


def _constant(value: float) -> Ball:
    return Ball(arb(value), acb(value))


def _chosen(truth: Truth, first: Ball, second: Ball) -> Ball:
    """np.where: the first argument where the condition holds, the second where it does not."""
    if truth.value is None:
        if not truth.loose:
            raise UndecidedError
        return Ball(first.interval.union(second.interval), None)
    return first if truth.value else second


def _loose(*balls: Ball) -> bool:
    return any(ball.disk is None for ball in balls)


def _compared(kind: str) -> Callable[[Ball, Ball], Truth]:
    def compare(first: Ball, second: Ball) -> Truth:
        loose = _loose(first, second)
        a, b = (first, second) if kind in ("less", "less_equal") else (second, first)
        holds, fails = (
            (a.interval < b.interval, a.interval >= b.interval)
            if "equal" not in kind
            else (a.interval <= b.interval, a.interval > b.interval)
        )
        return Truth(True if holds else False if fails else None, loose)

    return compare


def _same(first: Ball, second: Ball) -> Truth:
    if first.interval.is_exact() and second.interval.is_exact():
        return Truth(bool(first.interval == second.interval), False)
    return Truth(False if not first.interval.overlaps(second.interval) else None, _loose(first, second))


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _and(first: bool | None, second: bool | None) -> bool | None:
    return False if first is False or second is False else None if first is None or second is None else True


_LOGICAL: dict[str, Any] = {
    "logical_and": _and,
    "bitwise_and": _and,
    "logical_or": lambda a, b: _not(_and(_not(a), _not(b))),
    "bitwise_or": lambda a, b: _not(_and(_not(a), _not(b))),
    "logical_not": _not,
    "invert": _not,
}


def _both(name: str, analytic: bool = False) -> Callable[..., Ball]:
    """The function of this name that Arb has for real and complex balls."""
    options = {"analytic": True} if analytic else {}

    def apply(u: Ball) -> Ball:
        return Ball(getattr(u.interval, name)(), None if _loose(u) else getattr(u.disk, name)(**options))

    return apply


def _by(function: Callable[..., Any]) -> Callable[..., Ball]:
    """A function with one formula for real and complex balls."""

    def apply(*balls: Ball) -> Ball:
        real = function(*(ball.interval for ball in balls))
        return Ball(real, None if _loose(*balls) else function(*(ball.disk for ball in balls)))

    return apply


_log, _sqrt_both = _both("log", True), _both("sqrt", True)


def _power_both(u: Ball, v: Ball) -> Ball:
    return Ball(u.interval**v.interval, None if _loose(u, v) else u.disk.pow(v.disk, analytic=True))


def _rising(real: Any, function: Callable[[Any], Any], low: float, high: float) -> Any:
    """The values on an interval of an increasing function that is defined between low and high."""
    ends = [min(max(float(end), low), high) for end in (real.lower(), real.upper())]
    return function(arb(ends[0])).union(function(arb(ends[1])))


def _root_of(real: Any, power: Any) -> Any:
    return _rising(real, lambda x: arb(0) if x == 0 else x**power, 0.0, math.inf)


def _sqrt(u: Ball) -> Ball:
    if _loose(u):
        return Ball(_root_of(u.interval, arb(0.5)), None)
    return _sqrt_both(u)


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
    """u^v; a whole v by products."""
    if v.interval.is_exact() and (v.disk is None or v.disk.is_exact()):
        power = float(v.interval.mid())
        if power.is_integer() and abs(power) < 1e6:
            return _by(lambda x: _whole_power(x, int(power)))(u)
        if power == 0.5:
            return _sqrt(u)
        if _loose(u) and power > 0:
            return Ball(_root_of(u.interval, v.interval), None)
    return _power_both(u, v)


def _absolute(u: Ball) -> Ball:
    if _loose(u):
        return Ball(abs(u.interval), None)
    return _chosen(_compared("greater_equal")(u, _constant(0.0)), u, _negative(u))


def _sign(u: Ball) -> Ball:
    zero = _constant(0.0)
    if u.interval.is_zero():
        return zero
    return _chosen(_compared("greater")(u, zero), _constant(1.0), _constant(-1.0))


def _floor(u: Ball) -> Ball:
    whole = u.interval.floor()
    if whole.is_exact() or whole.unique_fmpz() is not None:
        return _constant(float(whole.unique_fmpz()))
    if not _loose(u):
        raise UndecidedError
    return Ball(whole, None)


def _extreme(kind: str) -> Callable[[Ball, Ball], Ball]:
    return lambda u, v: _chosen(_compared(kind)(u, v), u, v)


_negative = _by(lambda u: -u)
_add, _subtract, _multiply = _by(lambda u, v: u + v), _by(lambda u, v: u - v), _by(lambda u, v: u * v)
_divide = _by(lambda u, v: u / v)
_maximum, _minimum = _extreme("greater_equal"), _extreme("less_equal")
_exp, _erf, _tanh = _both("exp"), _both("erf"), _both("tanh")
_half = _constant(0.5)


def _arcsine(u: Ball) -> Ball:
    """arcsin u = arctan(u / sqrt(1 - u^2)), where the square root is analytic; without a disk by its values."""
    if _loose(u):
        return Ball(_rising(u.interval, lambda x: x.asin(), -1.0, 1.0), None)
    unit = _constant(1.0)
    root = _multiply(_sqrt(_subtract(unit, u)), _sqrt(_add(unit, u)))
    return Ball(u.interval.asin(), _arctangent(_divide(u, root)).disk)


def _arctangent(u: Ball) -> Ball:
    if _loose(u):
        return Ball(u.interval.atan(), None)
    # the branch cut runs outwards from +-i
    imaginary = u.disk.imag
    cut = not abs(imaginary) < 1 and u.disk.real.contains(arb(0))
    return Ball(u.interval.atan(), acb(math.nan) if cut else u.disk.atan())


def _arccosine(u: Ball) -> Ball:
    return _subtract(Ball(arb.pi() / 2, acb.pi() / 2), _arcsine(u))


def _arcsinh(u: Ball) -> Ball:
    if _loose(u):
        return Ball(u.interval.asinh(), None)
    cut = not abs(u.disk.imag) < 1 and u.disk.real.contains(arb(0))
    return Ball(u.interval.asinh(), acb(math.nan) if cut else u.disk.asinh())


def _logaddexp(u: Ball, v: Ball) -> Ball:
    """v + log(1 + e^{u - v}) with v the larger one; for a wide difference either form overflows."""
    difference = _subtract(u, v)
    if difference.interval > 0:
        u, v, difference = v, u, _negative(difference)
    return _add(v, _log(_add(_constant(1.0), _exp(difference))))


def _expit(u: Ball) -> Ball:
    return _multiply(_half, _add(_constant(1.0), _tanh(_multiply(_half, u))))


def _cube_root(u: Ball) -> Ball:
    third = Ball(arb(1) / 3, acb(1) / 3)
    if _loose(u):
        whole = _root_of(abs(u.interval), third.interval)
        return Ball(whole if u.interval > 0 else whole.union(-whole), None)
    return _multiply(_sign(u), _power_both(_absolute(u), third))


def _modulo(u: Ball, v: Ball) -> Ball:
    return _subtract(u, _multiply(v, _floor(_divide(u, v))))


def _where(condition: Any, then: Any, otherwise: Any) -> Ball:
    truth = condition if isinstance(condition, Truth) else Truth(bool(condition), False)
    return _chosen(truth, _ball(then), _ball(otherwise))


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Ball:
    result = _ball(default)
    for condition, choice in zip(condlist[::-1], choicelist[::-1], strict=True):
        result = _where(condition, choice, result)
    return result


def _piecewise(x: Any, condlist: Any, funclist: Any) -> Ball:
    conditions = list(condlist) if isinstance(condlist, list | tuple) else [condlist]
    choices = [branch(x) if callable(branch) else branch for branch in funclist]
    result = _ball(choices[len(conditions)] if len(choices) == len(conditions) + 1 else 0)
    for condition, choice in zip(conditions, choices[: len(conditions)], strict=True):
        result = _where(condition, choice, result)
    return result


def _clip(value: Any, low: Any = None, high: Any = None, **ends: Any) -> Ball:
    result = _ball(value)
    low, high = ends.get("a_min", ends.get("min", low)), ends.get("a_max", ends.get("max", high))
    if low is not None:
        result = _maximum(result, _ball(low))
    return result if high is None else _minimum(result, _ball(high))


def _round(x: Any, decimals: int = 0) -> Ball:
    size = _constant(10.0**decimals)
    return _divide(_floor(_add(_multiply(_ball(x), size), _half)), size)


def _interp(x: Any, xp: Any, fp: Any) -> Ball:
    z, places, values = _ball(x), [float(number) for number in xp], [float(number) for number in fp]
    result: Any = values[-1]
    for (a, v), (b, u) in reversed(list(pairwise(zip(places, values, strict=True)))):
        line, between = _ball(v + (u - v) * (z - a) / (b - a)), arb(v).union(arb(u))
        if _loose(z) and line.interval.overlaps(between):  # wider if the points are closer than the ends of z
            line = Ball(line.interval.intersection(between), None)
        result = _where(z < b, line, result)
    return _where(z < places[0], values[0], result)


def _searchsorted(a: Any, v: Any, side: str = "left") -> Ball:
    """The number of the sorted numbers that are below v, from the comparison with each."""
    holds = _compared("greater_equal" if side == "right" else "greater")
    count = _constant(0.0)
    for number in a:
        count = _add(count, _ball(holds(_ball(v), _constant(float(number)))))
    return count


def _choose(a: Any, choices: Any) -> Ball:
    index = _ball(a).interval
    if index.is_exact():
        return _ball(choices[int(float(index.mid()))])
    whole = _ball(choices[0]).interval
    for branch in choices[1:]:
        whole = whole.union(_ball(branch).interval)
    return Ball(whole, None)


def _polyval(p: Any, x: Any) -> Any:
    value: Any = 0.0
    for coefficient in p:
        value = value * x + coefficient
    return value


_ROUTINES: dict[str, Any] = {
    "where": _where,
    "select": _select,
    "piecewise": _piecewise,
    "clip": _clip,
    "round": _round,
    "around": _round,
    "interp": _interp,
    "polyval": _polyval,
    "searchsorted": _searchsorted,
    "choose": _choose,
    "zeros_like": lambda z, **_: _constant(0.0),
    "ones_like": lambda z, **_: _constant(1.0),
    "full_like": lambda z, value, **_: _ball(value),
    "shape": lambda z: (),
    "ndim": lambda z: 0,
    "size": lambda z: 1,
    "sinc": lambda z: _both("sinc_pi")(_ball(z)),
}


_FUNCTIONS: dict[str, Any] = {
    name: _both(name) for name in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "expm1", "erf", "erfc")
}
_FUNCTIONS |= {name: _compared(name) for name in ("greater", "greater_equal", "less", "less_equal")}
_FUNCTIONS |= {
    "equal": _same,
    "not_equal": lambda u, v: Truth(_not(_same(u, v).value), _loose(u, v)),
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "true_divide": _divide,
    "negative": _negative,
    "positive": lambda u: u,
    "power": _power,
    "float_power": _power,
    "square": lambda u: _multiply(u, u),
    "reciprocal": lambda u: _divide(_constant(1.0), u),
    "log": _log,
    "log1p": lambda u: _log(_add(_constant(1.0), u)),
    "log2": lambda u: _divide(_log(u), _log(_constant(2.0))),
    "log10": lambda u: _divide(_log(u), _log(_constant(10.0))),
    "exp2": lambda u: _exp(_multiply(_log(_constant(2.0)), u)),
    "sqrt": _sqrt,
    "cbrt": _cube_root,
    "arctan": _arctangent,
    "arcsin": _arcsine,
    "arccos": _arccosine,
    "arcsinh": _arcsinh,
    "arctanh": lambda u: _multiply(_half, _subtract(_log(_add(_constant(1.0), u)), _log(_subtract(_constant(1.0), u)))),
    "hypot": lambda u, v: _sqrt(_add(_multiply(u, u), _multiply(v, v))),
    "logaddexp": _logaddexp,
    "expit": _expit,
    "ndtr": lambda u: _multiply(_half, _add(_constant(1.0), _erf(_multiply(u, _constant(math.sqrt(0.5)))))),
    "absolute": _absolute,
    "fabs": _absolute,
    "sign": _sign,
    "maximum": _maximum,
    "fmax": _maximum,
    "minimum": _minimum,
    "fmin": _minimum,
    "heaviside": lambda u, at: _chosen(_compared("greater")(u, _constant(0.0)), _constant(1.0), _constant(0.0)),
    "copysign": lambda u, v: _multiply(_absolute(u), _sign(v)),
    "floor": _floor,
    "ceil": lambda u: _negative(_floor(_negative(u))),
    "rint": lambda u: _floor(_add(u, _half)),
    "trunc": lambda u: _multiply(_sign(u), _floor(_absolute(u))),
    "floor_divide": lambda u, v: _floor(_divide(u, v)),
    "remainder": _modulo,
    "logical_and": lambda u, v: Truth(_and(_holds(u), _holds(v)), _loose(u, v)),
}


def _holds(u: Any) -> bool | None:
    if isinstance(u, Truth):
        return u.value
    return False if u.interval.is_zero() else None if u.interval.contains(arb(0)) else True
