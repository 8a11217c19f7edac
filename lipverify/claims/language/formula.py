"""Formulas of claims: exponents and bounds, as data or as functions, printed as they were written."""

from __future__ import annotations

import inspect
import math
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any

from lipverify.claims.language.grammar import (
    BUILT,
    CONSTANTS,
    ONE_LINE,
    PLAIN,
    REMEMBERED,
    Notation,
    Number,
    Unreadable,
    is_real,
    names_of,
    substituted,
    tree_of,
    value_of,
)
from lipverify.errors import InvalidInput

__all__ = ["Bound", "Formula", "FunctionBound", "bound", "formula"]


class Bound(ABC):
    """A number at every point, with its printed form."""

    @abstractmethod
    def __str__(self) -> str:
        """The bound in plain text."""

    @property
    @abstractmethod
    def symbols(self) -> tuple[str, ...]:
        """The coordinates that the bound depends on, in reading order."""

    @property
    @abstractmethod
    def latex(self) -> str:
        """The bound in LaTeX, for a displayed formula."""

    @property
    @abstractmethod
    def inline_latex(self) -> str:
        """The bound in one-line LaTeX, for an exponent or a sentence."""

    @abstractmethod
    def value(self, where: Mapping[str, Any]) -> Any:
        """The value at a point; raises ArithmeticError or ValueError if the formula has no value there."""

    def at(self, where: Mapping[str, Any], name: str = "expression") -> float:
        """The value at a point; messages call it `name`.

        Raises
        ------
        InvalidInput
            If the value is not a finite real number (the message shows the formula and the point), or a coordinate is
            missing.
        """
        missing = [symbol for symbol in self.symbols if symbol not in where]
        if missing:
            raise InvalidInput(
                f"{name} = '{self._written}': {missing[0]} has no value; there are {', '.join(where) or 'none'}."
            )
        taken = {symbol: where[symbol] for symbol in self.symbols}
        number, why = math.nan, None
        try:
            value = self.value(taken)
            number = float(value) if is_real(value) else math.nan
        except (ArithmeticError, ValueError) as error:
            why = error
        if not math.isfinite(number):
            point = ", ".join(f"{symbol} = {value}" for symbol, value in taken.items()) or "any point"
            raise InvalidInput(f"{name} = '{self._written}': it is not a finite number at {point}.") from why
        return number

    @property
    def _written(self) -> str:
        """The text that messages quote."""
        return str(self)


LONGEST_SHOWN = 80
"""Longest refused text, in characters, that a message quotes in full."""


@dataclass(frozen=True)
class Formula(Bound):
    """A formula as `formula` reads it: never run as code, never simplified; two are equal if their texts are.

    `text` is the formula in Python's notation, as written. Fractions stay exact until the result:

    >>> Formula("1/3 + 1/6").at({})
    0.5
    """

    text: str

    def __post_init__(self) -> None:
        try:
            tree_of(self.text)
        except Unreadable as why:
            raise InvalidInput(f"expression = {self.text[:LONGEST_SHOWN]!r}: not an expression: {why}.") from None

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols in the formula, in reading order."""
        return tuple(name for name in names_of(self.text) if name not in CONSTANTS)

    def with_symbols(self, meaning: Mapping[str, Any]) -> Formula:
        """The formula with each symbol that has a meaning replaced by that formula (or anything `formula` reads).

        >>> Formula("1/D").with_symbols({"D": "d - 1"}).text
        '1/(d - 1)'
        """
        given = {symbol: formula(meaning[symbol], name=symbol).text for symbol in self.symbols if symbol in meaning}
        return formula(substituted(self.text, tuple(given.items()))) if given else self

    @property
    def latex(self) -> str:
        r"""The formula as written, in LaTeX; fractions in an exponent or within a fraction are set on one line.

        >>> print(Formula("kappa**(1/2) * 2/(d + 3)").latex)
        \frac{\kappa^{1/2} \cdot 2}{d + 3}
        """
        return _printed(BUILT, self.text)

    @property
    def inline_latex(self) -> str:
        """The formula in one-line LaTeX, for an exponent or a sentence."""
        return _printed(ONE_LINE, self.text)

    def value(self, where: Mapping[str, Any]) -> Number:
        """The value at a point, computed exactly as far as possible."""
        return value_of(tree_of(self.text), where)

    @property
    def _written(self) -> str:
        return self.text

    def __str__(self) -> str:
        """The formula in plain text with Greek letters.

        >>> print(Formula("sqrt(kappa)/n**(1/2)"))
        √(κ)/n^(1/2)
        """
        return _printed(PLAIN, self.text)


def formula(given: Any, symbols: Sequence[str] | None = None, name: str = "expression") -> Formula:
    """Read a formula of numbers, the symbols, `+ - * / **`, pi, e, and a few functions.

    The functions are sqrt, log, exp, gamma, abs, floor and ceil of one argument, and min and max of several.

    It is text in Python's notation, a number, or a SymPy expression, which is read from its printed form. Messages call
    it `name`, also the one about a symbol that is not among `symbols`.

    >>> formula("2/(d + 3)", ["d"]).at({"d": 2})
    0.4
    """
    text = _written(given, name)
    declared = "its symbols" if symbols is None else ", ".join(symbols) or "numbers alone"
    try:
        read = names_of(text)
    except Unreadable as why:
        short = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
        raise InvalidInput(f"{name} = {short!r}: not an expression in {declared}: {why}.") from None
    for symbol in read:
        if symbol in CONSTANTS and symbol in (symbols or ()):
            raise InvalidInput(f"{name} = {text!r}: {symbol} is a number; give that coordinate another name.")
        if symbols is not None and symbol not in (*CONSTANTS, *symbols):
            raise InvalidInput(f"{name} = {text!r}: {symbol} is not one of {declared}.")
    return Formula(text)


@lru_cache(maxsize=REMEMBERED)
def _printed(notation: Notation, text: str) -> str:
    """Print a whole formula in a notation."""
    return notation.printed(tree_of(text), text).text


def is_sympy(given: Any) -> bool:
    """True if a value is a SymPy expression. SymPy need not have been imported."""
    basic = getattr(sys.modules.get("sympy"), "Basic", None)
    return basic is not None and isinstance(given, basic)


def _written(given: Any, name: str) -> str:
    """The given formula as text on one line."""
    if isinstance(given, Formula):
        return given.text
    if isinstance(given, str):
        return " ".join(given.split())
    if is_real(given):
        return str(Fraction(given)) if isinstance(given, Rational) else repr(float(given))
    if is_sympy(given):
        sympy = sys.modules["sympy"]
        known = given.xreplace({sympy.E: sympy.Symbol("e")})
        ours = {"Max": "max", "Min": "min", "Abs": "abs", "ceiling": "ceil"}
        return re.sub(r"\b(\w+)(?=\()", lambda call: ours.get(call[1], call[1]), str(known))
    raise InvalidInput(f"{name} = {given!r}: an expression is text such as '2/(d + 3)', or a number.")


_NOT_WORDS = str.maketrans(dict.fromkeys("\\{}#%&", " "))
"""Characters with a meaning in LaTeX even within words; they become spaces."""


@dataclass(frozen=True)
class FunctionBound(Bound):
    """A bound given by a Python function of coordinates, which is called with them by name.

    It is printed as the first line of its docstring, which may hold `$LaTeX$` and is put in the middle of a sentence,
    or else as its name with its parameters.
    """

    function: Callable[..., Any]

    @property
    def symbols(self) -> tuple[str, ...]:
        """The coordinates that the function takes."""
        return tuple(inspect.signature(self.function).parameters)

    @property
    def latex(self) -> str:
        """The text in LaTeX, with upright words."""
        if not self._documented:
            name = self._name.translate(_NOT_WORDS).replace("_", " ")
            return rf"\operatorname{{{name}}}({', '.join(map(ONE_LINE.symbol, self.symbols))})"
        parts = enumerate(self._documented.split("$"))
        return "".join(part if k % 2 else rf"\text{{{part.translate(_NOT_WORDS)}}}" for k, part in parts if part)

    @property
    def inline_latex(self) -> str:
        """The same as `latex`: a text has no other form."""
        return self.latex

    def value(self, where: Mapping[str, Any]) -> Any:
        """The value that the function returns."""
        return self.function(**where)

    def __str__(self) -> str:
        """The first line of the docstring, or else the name with its parameters."""
        return self._documented.replace("$", "") or f"{self._name}({', '.join(self.symbols)})"

    @property
    def _documented(self) -> str:
        sentence = (inspect.getdoc(self.function) or "").partition("\n")[0].strip().rstrip(".")
        # in the middle of a sentence the first letter becomes small, except in a capitalised word or a symbol
        return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() or sentence.startswith("A ") else sentence

    @property
    def _name(self) -> str:
        name = str(getattr(self.function, "__name__", type(self.function).__name__))
        return name if name.isidentifier() else "f"


def bound(given: Any, symbols: Sequence[str] | None = None, name: str = "bound") -> Bound:
    """Make a bound from a formula, as `formula` reads it, or from a Python function of some of the symbols.

    >>> print(bound(lambda d, w: d / w**2, ["d", "n", "w"], "high").symbols)
    ('d', 'w')
    """
    if isinstance(given, FunctionBound) or not callable(given) or is_sympy(given):
        return given if isinstance(given, FunctionBound) else formula(given, symbols, name)
    edge = FunctionBound(given)
    try:
        foreign = [symbol for symbol in edge.symbols if symbols is not None and symbol not in symbols]
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"{name} = {given!r}: its arguments have no names; wrap it in a function of yours."
        ) from None
    if foreign:
        raise InvalidInput(f"{name} = {edge}: {foreign[0]} is not one of {', '.join(symbols or ())}.")
    return edge
