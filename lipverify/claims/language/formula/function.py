"""A bound that is a Python function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lipverify.claims.language.formula.bound import Bound
from lipverify.claims.language.formula.declared import formula, is_sympy
from lipverify.claims.language.formula.notation import ONE_LINE
from lipverify.errors import InvalidInput

_NOT_WORDS = str.maketrans(dict.fromkeys("\\{}#%&", " "))
"""What has a meaning for LaTeX even among words."""


@dataclass(frozen=True)
class FunctionBound(Bound):
    """A bound that is a Python function of coordinates, which is called with them by name.

    It is printed as the first line of its docstring, which may hold `$LaTeX$` and begins as within a sentence; without
    one, by its name.
    """

    function: Callable[..., Any]

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The coordinates that it takes."""
        return tuple(inspect.signature(self.function).parameters)

    @property
    def latex(self) -> str:
        """The text as mathematics, its words upright."""
        if not self._documented:
            name = self._name.translate(_NOT_WORDS).replace("_", " ")
            return rf"\operatorname{{{name}}}({', '.join(map(ONE_LINE.symbol, self.symbols))})"
        parts = enumerate(self._documented.split("$"))
        return "".join(part if k % 2 else rf"\text{{{part.translate(_NOT_WORDS)}}}" for k, part in parts if part)

    @property
    def inline_latex(self) -> str:
        """The same: only its author knows another form."""
        return self.latex

    def value(self, where: Mapping[str, Any]) -> Any:
        """What the function returns."""
        return self.function(**where)

    def __str__(self) -> str:
        """The first line of the docstring, or else the name and what it takes."""
        return self._documented.replace("$", "") or f"{self._name}({', '.join(self.symbols)})"

    @property
    def _documented(self) -> str:
        said = (inspect.getdoc(self.function) or "").partition("\n")[0].strip().rstrip(".")
        # in the middle of a sentence; a word in capitals or a letter that is a symbol stays
        return said[:1].lower() + said[1:] if said[1:2].islower() or said.startswith("A ") else said

    @property
    def _name(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))


def bound(given: Any, symbols: Sequence[str] | None = None, name: str = "bound") -> Bound:
    """A bound from a formula, as `formula` reads it, or from a Python function of some of the symbols.

    Raises
    ------
    InvalidInput
        If it is neither, or holds or takes another symbol, which is named.

    >>> print(bound(lambda d, w: d / w**2, ["d", "n", "w"], "high").symbols)
    ('d', 'w')
    """
    if isinstance(given, FunctionBound) or not callable(given) or is_sympy(given):
        return given if isinstance(given, FunctionBound) else formula(given, symbols, name)
    found = FunctionBound(given)
    try:
        foreign = [each for each in found.symbols if symbols is not None and each not in symbols]
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"{name} = {given!r}: its arguments have no names; wrap it in a function of yours."
        ) from None
    if foreign:
        raise InvalidInput(f"{name} = {found}: {foreign[0]} is not one of {', '.join(symbols or ())}.")
    return found
