"""What a formula may hold and what it is worth: a part of Python's grammar, read as a tree, never run as code.

The tree is that of Python's own parser and not SymPy's. SymPy takes longer to import than all claims take to be read,
and a formula must be printed as it was written: unevaluated, SymPy still reads d - 1 as d - 1*1, 1e-3 as 0.001, and
prints 1/3 + 1/6 as 1/6 + 1/3.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from numbers import Rational, Real
from typing import Any

from lipverify.claims.ledger.symbols import LETTERS

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
LONGEST = 2000
LONGEST_WORD = 30
"""Characters of a name or a number; the report breaks no line within one."""
LONGEST_CHAIN = 100
DEEPEST = 12
"""How often brackets, powers and fractions may stand in one another; the report can set this much."""
_LETTER = f"A-Za-z{''.join(LETTERS).replace('π', '')}"  # the number is written pi
SYMBOL = re.compile(rf"[{_LETTER}][{_LETTER}0-9]*(_[{_LETTER}0-9]+)*_?")
LITERAL = re.compile(r"\d*\.?\d*([eE][+-]?\d+)?")
REMEMBERED = 8192
"""Formulas that are read once; the claims of a run have some thousands of them, each at many points."""


class Unreadable(Exception):
    """Why a text is no formula."""


@lru_cache(maxsize=REMEMBERED)
def tree_of(text: str) -> ast.expr:
    """The tree of a formula.

    Raises
    ------
    Unreadable
        With the part that has no place in one, and the way out.
    """
    if len(text) > LONGEST:
        raise Unreadable(f"it has {len(text)} characters, and a formula {LONGEST} at most")
    if "^" in text:
        raise Unreadable("a power is written **")
    if "#" in text or not text:
        raise Unreadable("a comment is no part of it" if text else "it is empty")
    if re.search(r"\blambda\b", text):
        raise Unreadable("lambda is a word of Python: write lamda or λ")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unreadable("it cannot be read; a product is written *, as in 2*d") from None
    _check(tree, text, 0, 0)
    return tree


@lru_cache(maxsize=REMEMBERED)
def names_of(text: str) -> tuple[str, ...]:
    """Every symbol and constant of a formula, each once, in the order in which it is read; raises as `tree_of`."""
    return tuple(dict.fromkeys(name.id for name in _names_in(tree_of(text))))


def _names_in(tree: ast.AST) -> Iterator[ast.Name]:
    """Every symbol and constant; not the names of functions."""
    if isinstance(tree, ast.Name):
        yield tree
    for child in tree.args if isinstance(tree, ast.Call) else ast.iter_child_nodes(tree):
        yield from _names_in(child)


def source(text: str, tree: ast.expr) -> str:
    """The part of the text that a tree was read from."""
    return text.encode()[tree.col_offset : tree.end_col_offset].decode()


def literal_parts(literal: str) -> tuple[str, str]:
    """The digits of a number, with a point between them or none, and the exponent of ten.

    >>> literal_parts(".5e-3")
    ('0.5', '-3')
    """
    digits, _, exponent = literal.lower().partition("e")
    whole, _, behind = digits.partition(".")
    return f"{whole or 0}.{behind}" if behind else whole, exponent


def _check(tree: ast.AST, text: str, depth: int, chain: int) -> None:
    """Refuse whatever has no place in a formula; `a + b + c` is one chain, however long."""
    if chain > LONGEST_CHAIN or depth > DEEPEST:
        raise Unreadable(f"it is nested more than {DEEPEST} deep, or chains more than {LONGEST_CHAIN} terms")
    match tree:
        case ast.Constant(value=(int() | float()) as number) if not isinstance(number, bool):
            literal = source(text, tree)
            if not LITERAL.fullmatch(literal) or len(literal) > LONGEST_WORD or not math.isfinite(number):
                raise Unreadable(f"{literal[:LONGEST_WORD]} is no decimal number, too long or too large")
        case ast.Name(id=name):
            if not SYMBOL.fullmatch(name) or len(name) > LONGEST_WORD:
                raise Unreadable(f"{name} is no name of a symbol: letters, digits and single _ between")
            if name in FUNCTIONS and name != "gamma":
                raise Unreadable(f"{name} is a function: write {name}(...)")
        case ast.BinOp() if type(tree.op) in OPERATORS:
            chained = not isinstance(tree.op, ast.Pow)
            _check(tree.left, text, depth if chained else depth + 1, chain + 1)
            _check(tree.right, text, depth + 1, chain)
        case ast.UnaryOp() if type(tree.op) in OPERATORS:
            _check(tree.operand, text, depth + 1, chain)
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in FUNCTIONS:
            several = name in ("min", "max")
            if (len(tree.args) < 2) if several else (len(tree.args) != 1):
                raise Unreadable(f"{name} takes {'two arguments or more' if several else 'one argument'}")
            for argument in tree.args:
                _check(argument, text, depth + 1, chain)
        case ast.Call(func=ast.Name(id=name)):
            raise Unreadable(f"{name}(...) is none of {', '.join(FUNCTIONS)}; a product is written *")
        case _:
            part = source(text, tree) if isinstance(tree, ast.expr) else type(tree).__name__
            raise Unreadable(f"{part[:LONGEST_WORD]!r} has no place in it")


ANYTHING, SUM, PRODUCT, POWER, ATOM = range(5)
"""How tightly a part holds together in Python's notation."""
_HELD: dict[type[ast.AST], int] = {ast.Add: SUM, ast.Sub: SUM, ast.Mult: PRODUCT, ast.Div: PRODUCT, ast.Pow: POWER}


@lru_cache(maxsize=REMEMBERED)
def substituted(text: str, meanings: tuple[tuple[str, str], ...]) -> str:
    """The text with others in place of symbols, in brackets where the tree would come out another.

    >>> substituted("1/D + D", (("D", "d - 1"),))
    '1/(d - 1) + (d - 1)'
    """
    meaning = dict(meanings)
    written = text.encode()
    for symbol, needed in sorted(_places(tree_of(text)), key=lambda place: place[0].col_offset, reverse=True):
        if symbol.id in meaning:
            before, after = written[: symbol.col_offset], written[symbol.end_col_offset :]
            enclosed = before.rstrip().endswith(b"(") and after.lstrip().startswith(b")")
            new = meaning[symbol.id]
            loose = not enclosed and _held(tree_of(new)) < needed
            written = before + (f"({new})" if loose else new).encode() + after
    return written.decode()


def _places(tree: ast.expr) -> Iterator[tuple[ast.Name, int]]:
    """Where symbols stand, and how tightly what is put there must hold together."""
    if isinstance(tree, ast.Name):
        yield tree, ANYTHING
    for parent in ast.walk(tree):
        children = parent.args if isinstance(parent, ast.Call) else ast.iter_child_nodes(parent)
        yield from ((child, _needed(parent, child)) for child in children if isinstance(child, ast.Name))


def _held(tree: ast.AST) -> int:
    """A sign holds no better than a sum: `2 * -d` is written 2 * (-d)."""
    if isinstance(tree, ast.BinOp):
        return _HELD[type(tree.op)]
    return SUM if isinstance(tree, ast.UnaryOp) else ATOM


def _needed(parent: ast.AST, child: ast.AST) -> int:
    if isinstance(parent, ast.Call):
        return ANYTHING
    if isinstance(parent, ast.BinOp) and not isinstance(parent.op, ast.Pow):
        return _held(parent) + (child is parent.right)
    return POWER if isinstance(parent, ast.UnaryOp) else ATOM
