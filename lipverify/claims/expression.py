"""Expressions in declared symbols: exponents and bounds, read from text without evaluating it as code."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import sympy

from lipverify.errors import InvalidInput

FUNCTIONS: dict[str, Callable[..., sympy.Expr]] = {
    "sqrt": sympy.sqrt,
    "log": sympy.log,
    "exp": sympy.exp,
    "min": sympy.Min,
    "max": sympy.Max,
}
CONSTANTS = {"pi": sympy.pi}
OPERATORS: dict[type[ast.AST], Callable[..., sympy.Expr]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


def expression(text: str, symbols: Sequence[str], name: str = "expression", *, positive: bool = False) -> sympy.Expr:
    """A formula of numbers, the symbols, `+ - * / **`, pi, and sqrt, log, exp, min and max.

    Parameters
    ----------
    text
        The formula as one writes it in Python.
    symbols
        The letters that it may hold.
    name
        What the formula is, for messages.
    positive
        Whether the symbols stand for positive numbers, as dimensions do.

    Raises
    ------
    InvalidInput
        If it is not such a formula, or holds another symbol, which is named.

    >>> expression("2/(d + 3)", ["d"])
    2/(d + 3)
    """
    kind = {"positive": True} if positive else {"real": True}
    known = {symbol: sympy.Symbol(symbol, **kind) for symbol in symbols}
    declared = ", ".join(symbols) or "numbers alone"
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        foreign = [each for each in _names(tree) if each not in known | CONSTANTS | FUNCTIONS]
        if foreign:
            raise InvalidInput(f"{name} = {text!r}: {foreign[0]} is not one of {declared}.")
        return _read(tree, known)
    except (SyntaxError, ValueError, TypeError, KeyError, RecursionError, MemoryError) as error:
        if isinstance(error, InvalidInput):
            raise
        hint = "; a power is written **" if "^" in text else ""
        raise InvalidInput(f"{name} = {text!r}: not an expression in {declared}{hint}.") from None


def number_at(formula: sympy.Expr, where: Mapping[str, Any], name: str = "expression") -> float:
    """The value of a formula where its symbols have the given values.

    Raises
    ------
    InvalidInput
        If that is not a finite real number.

    >>> number_at(expression("2/(d + 3)", ["d"]), {"d": 2})
    0.4
    """
    values = {symbol: where[symbol.name] for symbol in formula.free_symbols}
    try:
        value = float(formula.subs(values))
    except (TypeError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        point = ", ".join(f"{symbol.name} = {where[symbol.name]}" for symbol in values)
        raise InvalidInput(f"{name} = '{formula}': it is not a finite number at {point or 'any point'}.")
    return value


def _names(tree: ast.AST) -> Iterator[str]:
    """Every name, in the order in which it is read."""
    if isinstance(tree, ast.Name):
        yield tree.id
    for child in ast.iter_child_nodes(tree):
        yield from _names(child)


def _read(tree: ast.AST, symbols: dict[str, sympy.Symbol]) -> sympy.Expr:
    """The formula of a tree; a TypeError or KeyError where it holds anything else."""
    if isinstance(tree, ast.Constant) and type(tree.value) in (int, float):
        return sympy.sympify(tree.value)
    if isinstance(tree, ast.Name):
        return (symbols | CONSTANTS)[tree.id]
    if isinstance(tree, ast.BinOp):
        return OPERATORS[type(tree.op)](_read(tree.left, symbols), _read(tree.right, symbols))
    if isinstance(tree, ast.UnaryOp):
        return OPERATORS[type(tree.op)](_read(tree.operand, symbols))
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.keywords:
        return FUNCTIONS[tree.func.id](*(_read(argument, symbols) for argument in tree.args))
    raise TypeError(f"{type(tree).__name__} has no place in a formula")
