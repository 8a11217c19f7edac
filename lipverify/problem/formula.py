"""A user's function as a formula: it is called once, with a symbol that records what NumPy computes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from lipverify.problem.balls import OPERATIONS, UndecidedError

SAMPLES, OFFSET = 41, 0.0123456789
"""Number of points at which a formula is compared with the function, and their shift, so that none falls on a round
number, where kinks are."""
MISREAD = 1e-9
"""Largest difference between a function's values and its formula's, relative to its variation: larger ones are not
rounding."""
COMPOSED: dict[str, Callable[..., Any]] = {
    "square": lambda u: u * u,
    "reciprocal": lambda u: 1 / u,
    "log1p": lambda u: np.log(1 + u),
    "log2": lambda u: np.log(u) / np.log(u.constant(2)),
    "log10": lambda u: np.log(u) / np.log(u.constant(10)),
    "exp2": lambda u: 2**u,
    "sqrt": lambda u: u**0.5,
    "cbrt": lambda u: np.sign(u) * abs(u) ** (u.constant(1) / 3),
    "expit": lambda u: 0.5 * (1 + np.tanh(0.5 * u)),
    "arctanh": lambda u: 0.5 * (np.log(1 + u) - np.log(1 - u)),
    "hypot": lambda u, v: np.sqrt(u * u + v * v),
    "ndtr": lambda u: 0.5 * (1 + record("erf", u * math.sqrt(0.5))),
    "heaviside": lambda u, at: np.where(u > 0, 1, 0),
    "copysign": lambda u, v: abs(u) * np.sign(v),
    "ceil": lambda u: -np.floor(-u),
    "rint": lambda u: np.floor(u + 0.5),
    "trunc": lambda u: np.sign(u) * np.floor(abs(u)),
    "floor_divide": lambda u, v: np.floor(u / v),
    "remainder": lambda u, v: u - v * np.floor(u / v),
    "not_equal": lambda u, v: ~(u == v),
}
"""NumPy's functions that are formulas of other ones."""
SAME = {"true_divide": "divide", "float_power": "power", "fabs": "absolute", "fmax": "maximum", "fmin": "minimum"}
SAME |= {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "invert": "logical_not"}


def _clip(value: Any, low: Any = None, high: Any = None, **ends: Any) -> Any:
    low, high = ends.get("a_min", ends.get("min", low)), ends.get("a_max", ends.get("max", high))
    value = value if low is None else np.maximum(value, low)
    return value if high is None else np.minimum(value, high)


def _round(x: Any, decimals: int = 0) -> Symbol:
    """As np.round, except for the value halfway, where it jumps."""
    size = 10.0 ** int(decimals)
    return np.floor(x * size + 0.5) / size


class Symbol(NDArrayOperatorsMixin):
    """A number in a formula: the steps of the formula, and the index of the step with the number."""

    shape: tuple[int, ...] = ()
    ndim, size = 0, 1
    dtype = np.dtype(float)

    def __init__(self, steps: list[tuple[str, tuple[Any, ...]]], decide: Any, name: str, *inputs: Any) -> None:
        self.steps, self.decide, self.index = steps, decide, len(steps)
        steps.append((name, inputs))

    def evaluate(self, argument: Any, apply: Callable[..., Any] = lambda name, *u: OPERATIONS[name][0](*u)) -> Any:
        """The number for an argument, by `apply` for one operation; without recursion, and each repeated step once."""
        values = [argument]
        for name, inputs in self.steps[1 : self.index + 1]:
            values.append(apply(name, *(inputs if name == "constant" else [values[index] for index in inputs])))
        return values[-1]

    def constant(self, value: Any) -> Symbol:
        """A number of Python's or NumPy's in this formula; objects that a function may make of it are refused."""
        plain = value.item() if isinstance(value, np.ndarray | np.generic) else value
        if isinstance(plain, Symbol):
            return plain
        if not isinstance(plain, bool | int | float):
            raise TypeError(f"a {type(value).__name__} is not known here")
        return Symbol(self.steps, self.decide, "constant", plain)

    def __bool__(self) -> bool:
        if self.decide is None:
            raise UndecidedError("a comparison decides what it computes: write np.where(condition, one, other)")
        return self.decide(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Record NumPy's and SciPy's functions of arrays, by their names."""
        if method != "__call__" or options:
            raise TypeError(f"{ufunc.__name__} is not known here")
        return record(ufunc.__name__, *inputs)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        """Record np.where and similar functions."""
        if function.__name__ not in _ROUTINES:
            raise TypeError(f"np.{function.__name__} is not known here")
        return _ROUTINES[function.__name__](*arguments, **options)

    def astype(self, dtype: Any, **options: Any) -> Symbol:
        """Itself as a real number: 1 where a condition holds; whole numbers are not real ones."""
        if np.dtype(dtype).kind != "f":
            raise TypeError(f"numbers of the type {np.dtype(dtype)} are not known here")
        return +self

    def reshape(self, *shape: Any) -> Symbol:
        """Itself, because it stands for one number."""
        return self

    ravel = copy = reshape
    clip, round = _clip, _round


def formula_of(function: Callable[[Any], Any], decide: Callable[[Symbol], bool] | None = None) -> Symbol:
    """What a function of arrays computes; `decide` gives the value of a comparison to a Python `if`.

    >>> formula_of(lambda z: np.cos(3 * z)).steps
    [('argument', ()), ('constant', (3,)), ('multiply', (1, 0)), ('cos', (2,))]
    """
    argument = Symbol([], decide, "argument")
    return argument.constant(function(argument))


def record(name: str, *inputs: Any) -> Symbol:
    """The next step of a formula."""
    some = next(value for value in inputs if isinstance(value, Symbol))
    symbols, name = [some.constant(value) for value in inputs], SAME.get(name, name)
    if name in COMPOSED:
        return COMPOSED[name](*symbols)
    if name not in OPERATIONS:
        raise TypeError(f"{name} is not known here")
    return Symbol(some.steps, some.decide, name, *(symbol.index for symbol in symbols))


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Symbol:
    """The first choice whose condition holds; + makes a number of a comparison."""
    return record("select", +default, *chain(*zip(condlist, (+choice for choice in choicelist), strict=True)))


def _piecewise(x: Any, condlist: Any, funclist: Any) -> Symbol:
    """The last function whose condition holds, as NumPy overwrites earlier ones."""
    conditions = list(condlist) if isinstance(condlist, list | tuple) else [condlist]
    choices = [branch(x) if callable(branch) else branch for branch in funclist]
    default = choices[len(conditions)] if len(choices) == len(conditions) + 1 else 0
    return _select(conditions[::-1], choices[: len(conditions)][::-1], default)


def _interp(x: Any, xp: Any, fp: Any) -> Symbol:
    """As np.interp: linear between the points and constant beyond."""
    places, values = ([x.constant(float(number)) for number in numbers] for numbers in (xp, fp))
    lines = [
        record("limited", v + (u - v) * (x - a) / (b - a), v, u)
        for (a, v), (b, u) in pairwise(zip(places, values, strict=True))
    ]
    return _select([x < place for place in places], [values[0], *lines], values[-1])


def _searchsorted(a: Any, v: Any, side: str = "left") -> Symbol:
    """The number of the sorted numbers that are below v, from the comparison with each."""
    return sum((v >= each if side == "right" else v > each for each in a), v.constant(0))


_ROUTINES: dict[str, Callable[..., Any]] = {
    "where": lambda condition, then, otherwise: _select([condition], [then], otherwise),
    "select": _select,
    "piecewise": _piecewise,
    "clip": _clip,
    "round": _round,
    "around": _round,
    "fix": lambda x: np.trunc(x),
    "interp": _interp,
    "polyval": lambda p, x: reduce(lambda value, coefficient: value * x + coefficient, p, 0),
    "searchsorted": _searchsorted,
    "choose": lambda a, choices: _select([a < k + 1 for k in range(len(choices) - 1)], choices[:-1], choices[-1]),
    "zeros_like": lambda z, **_: z.constant(0),
    "ones_like": lambda z, **_: z.constant(1),
    "full_like": lambda z, value, **_: z.constant(value),
    "shape": lambda z: (),
    "ndim": lambda z: 0,
    "size": lambda z: 1,
    "sinc": lambda z: record("sinc", z),
}
