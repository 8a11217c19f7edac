"""A formula in declared symbols, read from text without running it as code, and printed as it was written."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from numbers import Rational
from typing import Any

from lipverify.claims.language.formula.arithmetic import CONSTANTS, Number, is_real, value_of
from lipverify.claims.language.formula.bound import Bound
from lipverify.claims.language.formula.grammar import REMEMBERED, Unreadable, names_of, tree_of
from lipverify.claims.language.formula.notation import BUILT, ONE_LINE, PLAIN, Notation
from lipverify.claims.language.formula.substitution import substituted
from lipverify.errors import InvalidInput

LONGEST_SHOWN = 80
"""Characters of a refused text that a message repeats."""
SYMPY = {"Max": "max", "Min": "min", "Abs": "abs", "ceiling": "ceil"}
"""Functions that SymPy prints by other names."""


@dataclass(frozen=True)
class Formula(Bound):
    """A formula in declared symbols, as `formula` reads it: never run as code, never simplified; equal by text.

    `text` is what was written, in Python's notation. Fractions are exact until the end:

    >>> Formula("1/3 + 1/6").at({})
    0.5
    """

    text: str

    def __post_init__(self) -> None:
        try:
            tree_of(self.text)
        except Unreadable as why:
            raise InvalidInput(f"expression = {self.text[:LONGEST_SHOWN]!r}: not an expression: {why}.") from None

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that it holds, in the order in which they are read."""
        return tuple(name for name in names_of(self.text) if name not in CONSTANTS)

    def with_symbols(self, meaning: Mapping[str, Any]) -> Formula:
        """The formula with a formula (or what `formula` reads) in place of each symbol that has a meaning.

        >>> Formula("1/D").with_symbols({"D": "d - 1"}).text
        '1/(d - 1)'
        """
        given = {symbol: formula(meaning[symbol], name=symbol).text for symbol in self.symbols if symbol in meaning}
        return formula(substituted(self.text, tuple(given.items()))) if given else self

    @property
    def latex(self) -> str:
        r"""Typeset as it was written; in an exponent, and within one another, fractions stand on one line.

        >>> print(Formula("kappa**(1/2) * 2/(d + 3)").latex)
        \frac{\kappa^{1/2} \cdot 2}{d + 3}
        """
        return _printed(BUILT, self.text)

    @property
    def inline_latex(self) -> str:
        """The same on one line, for an exponent or a sentence."""
        return _printed(ONE_LINE, self.text)

    def value(self, where: Mapping[str, Any]) -> Number:
        """Exact as long as can be."""
        return value_of(tree_of(self.text), where)

    @property
    def _written(self) -> str:
        return self.text

    def __str__(self) -> str:
        """Plain text with Greek letters.

        >>> print(Formula("sqrt(kappa)/n**(1/2)"))
        √(κ)/n^(1/2)
        """
        return _printed(PLAIN, self.text)


def formula(given: Any, symbols: Sequence[str] | None = None, name: str = "expression") -> Formula:
    """A formula of numbers, the symbols, `+ - * / **`, pi, e, and a few functions.

    The functions are sqrt, log, exp, gamma, abs, floor and ceil of one argument, min and max of several.

    Parameters
    ----------
    given
        The formula as one writes it in Python; a number; a SymPy expression, which is read as it prints itself.
    symbols
        The letters that it may hold; any, if they are not given.
    name
        What the formula is, for messages.

    Raises
    ------
    InvalidInput
        If it is not such a formula, or holds another symbol, which is named.

    >>> formula("2/(d + 3)", ["d"]).at({"d": 2})
    0.4
    """
    text = _written(given, name)
    declared = "its symbols" if symbols is None else ", ".join(symbols) or "numbers alone"
    try:
        read = names_of(text)
    except Unreadable as why:
        shown = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
        raise InvalidInput(f"{name} = {shown!r}: not an expression in {declared}: {why}.") from None
    for each in read:
        if each in CONSTANTS and each in (symbols or ()):
            raise InvalidInput(f"{name} = {text!r}: {each} is a number; give that coordinate another name.")
        if symbols is not None and each not in (*CONSTANTS, *symbols):
            raise InvalidInput(f"{name} = {text!r}: {each} is not one of {declared}.")
    return Formula(text)


@lru_cache(maxsize=REMEMBERED)
def _printed(notation: Notation, text: str) -> str:
    """A whole formula as a notation prints it."""
    return notation.printed(tree_of(text), text).text


def is_sympy(given: Any) -> bool:
    """Whether it is an expression of SymPy, which need not have been imported."""
    basic = getattr(sys.modules.get("sympy"), "Basic", None)
    return basic is not None and isinstance(given, basic)


def _written(given: Any, name: str) -> str:
    """What was given, as text on one line."""
    if isinstance(given, Formula):
        return given.text
    if isinstance(given, str):
        return " ".join(given.split())
    if is_real(given):
        return str(Fraction(given)) if isinstance(given, Rational) else repr(float(given))
    if is_sympy(given):
        sympy = sys.modules["sympy"]
        known = given.xreplace({sympy.E: sympy.Symbol("e")})
        return re.sub(r"\b(\w+)(?=\()", lambda call: SYMPY.get(call[1], call[1]), str(known))
    raise InvalidInput(f"{name} = {given!r}: an expression is text such as '2/(d + 3)', or a number.")
