"""What a formula may hold: a part of Python's grammar, read as a tree and never run as code."""

# ruff: noqa: SIM905 - the long list is read as words

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from lipverify.claims.language.formula.arithmetic import FUNCTIONS, OPERATORS

LONGEST = 2000
LONGEST_WORD = 30
"""Characters of a name or a number; the report breaks no line within one."""
LONGEST_CHAIN = 100
DEEPEST = 12
"""How often brackets, powers and fractions may stand in one another; the report can set this much."""
GREEK: Final = dict(
    zip(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda lamda mu nu xi pi rho sigma tau upsilon "
        "phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega varepsilon varphi".split(),
        "αβγδεζηθικλλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩεφ",
        strict=True,
    )
)
LETTERS: Final = {letter: name for name, letter in GREEK.items() if name != "lamda"}
"""The name of each letter; epsilon and phi look like their other forms, which Python takes for the same letter."""
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
