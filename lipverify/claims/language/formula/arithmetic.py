"""The value of a formula: exact fractions as long as can be, floats after a root, a logarithm or the like."""

from __future__ import annotations

import ast
import math
import operator
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

Number = Fraction | float

EXACT_BITS = 4096
"""Powers that take more than this are floats."""
NEAR_ONE = Fraction(1, 8)
"""There the logarithm of a fraction is taken of its distance from 1, which a float of it would have lost."""
ROUNDINGS = 16 * sys.float_info.epsilon
"""A float this near to a whole number, relatively, is taken for it by floor and ceil."""


def value_of(tree: ast.AST, where: Mapping[str, Any]) -> Number:
    """The value of a tree where its symbols have values; an ArithmeticError or ValueError where it has none."""
    value: Number
    match tree:
        case ast.Constant(value=literal):
            return exact(literal)
        case ast.Name(id=name):
            return CONSTANTS[name] if name in CONSTANTS else exact(where[name])
        case ast.BinOp():
            value = OPERATORS[type(tree.op)](value_of(tree.left, where), value_of(tree.right, where))
        case ast.UnaryOp():
            value = OPERATORS[type(tree.op)](value_of(tree.operand, where))
        case ast.Call(func=ast.Name(id=name)):
            value = FUNCTIONS[name](*(value_of(argument, where) for argument in tree.args))
        case _:
            raise ValueError(f"{tree} has no value")
    if not math.isfinite(value):
        raise OverflowError(f"{value} on the way")
    return value


def exact(number: Any) -> Fraction:
    """A number as a fraction; a float stands for its shortest decimal, so that 0.1 is 1/10."""
    if not is_real(number):
        raise ValueError(f"{number!r} is not a number")
    return Fraction(number) if isinstance(number, Rational) else Fraction(repr(float(number)))


def is_real(number: Any) -> bool:
    """Whether it is a real number of any type; True and False are not."""
    return isinstance(number, Real) and not isinstance(number, bool)


def _root(x: Number) -> Number:
    if isinstance(x, Fraction) and x >= 0:
        root = Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
        if root**2 == x:
            return root
    return math.sqrt(x)


def _log(x: Number) -> float:
    return math.log1p(x - 1) if isinstance(x, Fraction) and abs(x - 1) < NEAR_ONE else math.log(x)


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        bits = base.numerator.bit_length() + base.denominator.bit_length()
        if bits * abs(exponent) <= EXACT_BITS:
            return base**exponent.numerator
    if isinstance(base, Fraction) and abs(base - 1) < NEAR_ONE:
        return math.exp(exponent * _log(base))
    return math.pow(base, exponent)


def _whole(rounded: Callable[[Number], int]) -> Callable[[Number], Fraction]:
    """Floor or ceil: in floats log(1000)/log(10) is a hair below 3, and stands for 3."""

    def whole(x: Number) -> Fraction:
        near = isinstance(x, float) and abs(x - round(x)) <= ROUNDINGS * max(1.0, abs(x))
        return Fraction(round(x) if near else rounded(x))

    return whole


FUNCTIONS: dict[str, Callable[..., Number]] = {
    "sqrt": _root,
    "log": _log,
    "exp": math.exp,
    "min": min,
    "max": max,
    "gamma": math.gamma,
    "abs": abs,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
}
CONSTANTS = {"pi": math.pi, "e": math.e}
OPERATORS: dict[type[ast.AST], Callable[..., Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
