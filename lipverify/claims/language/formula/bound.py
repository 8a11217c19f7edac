"""What a claim compares a measurement with: a formula, or a Python function."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from lipverify.claims.language.formula.arithmetic import is_real
from lipverify.errors import InvalidInput


class Bound(ABC):
    """A number at every point, and how it is printed."""

    @abstractmethod
    def __str__(self) -> str:
        """Plain text."""

    @property
    @abstractmethod
    def symbols(self) -> tuple[str, ...]:
        """The coordinates that it depends on, in the order in which they are read."""

    @property
    @abstractmethod
    def latex(self) -> str:
        """Typeset, for a formula on a line of its own."""

    @property
    @abstractmethod
    def inline_latex(self) -> str:
        """Typeset on one line, for an exponent or a sentence."""

    @abstractmethod
    def value(self, where: Mapping[str, Any]) -> Any:
        """The value at a point; an ArithmeticError or ValueError where there is none."""

    def at(self, where: Mapping[str, Any], name: str = "expression") -> float:
        """The value at a point; `name` is what it is the value of, for messages.

        Raises
        ------
        InvalidInput
            If that is not a finite real number, with the formula and the point, or if a coordinate is missing.
        """
        missing = [symbol for symbol in self.symbols if symbol not in where]
        if missing:
            raise InvalidInput(
                f"{name} = '{self._written}': {missing[0]} has no value; there are {', '.join(where) or 'none'}."
            )
        taken = {symbol: where[symbol] for symbol in self.symbols}
        try:
            value = self.value(taken)
            number = float(value) if is_real(value) else math.nan
        except (ArithmeticError, ValueError) as error:
            raise self._no_number(taken, name) from error
        if not math.isfinite(number):
            raise self._no_number(taken, name)
        return number

    @property
    def _written(self) -> str:
        """What messages quote."""
        return str(self)

    def _no_number(self, taken: Mapping[str, Any], name: str) -> InvalidInput:
        point = ", ".join(f"{symbol} = {value}" for symbol, value in taken.items())
        return InvalidInput(f"{name} = '{self._written}': it is not a finite number at {point or 'any point'}.")
