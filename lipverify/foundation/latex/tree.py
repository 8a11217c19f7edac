r"""The tree of a formula, which the reader makes and each writer walks.

| kind | name | parts |
|---|---|---|
| sign | a letter, a number, or one other character | |
| space | its command; none if LaTeX does not print it | |
| function | `log` of the command `\log` | |
| operator, limits | the words of `\operatorname` and of `\operatorname*` | |
| upright, text | the words of `\mathrm`, and of `\text` and its kin | |
| row | | a formula, or the content of braces |
| scripts | the primes | base, subscript, superscript; None for an absent one |
| command | `frac` of `\frac{a}{b}`; `root` of `\sqrt[k]{x}` | the arguments, which are rows |
| fence | a bracket; none if it is absent | |
| fenced | | brackets that grow, with a row between two of them |
| sized | `bigl` of `\bigl(` | its bracket |
| grid | the environment | its lines: rows, whose parts are the cells |
"""

from __future__ import annotations

from typing import cast

import msgspec


class UnreadableError(ValueError):
    """A formula with an unreadable part; the message says which part, and where it is."""


class Part(msgspec.Struct, frozen=True):
    """A part of a formula; the table above has the kinds."""

    kind: str
    name: str = ""
    parts: tuple[Part | None, ...] = ()


SPACE = Part("space")
"""A space that LaTeX does not print."""


def row(*parts: Part) -> Part:
    """Parts in a row."""
    return Part("row", "", parts)


class Writer:
    """A writer has a method for each kind of part, which is called with its name and its parts."""

    def part(self, part: Part | None) -> str:
        """A part as the writer writes its kind; nothing for an absent one."""
        return cast(str, getattr(self, part.kind)(part.name, *part.parts)) if part else ""
