"""Make foreign text safe to display: invisible characters are named, and control sequences have no effect."""

from __future__ import annotations

import unicodedata

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def invisible(character: str) -> bool:
    """True if a character is invisible or changes the display of others: control characters, marks that reorder."""
    return unicodedata.category(character) in _INVISIBLE


def named(character: str) -> str:
    """The code point of a character, in brackets."""
    return f"⟨U+{ord(character):04X}⟩"


def visible(text: str) -> str:
    r"""The text on one line, with every invisible character replaced by its code point.

    With an escape sequence, a null byte or a mark that reorders text, a terminal or a table would show something other
    than the text.

    >>> visible("a\nb\x1b[31m"), visible("1\u202e2"), visible("σ² ≤ 1")
    ('a b⟨U+001B⟩[31m', '1⟨U+202E⟩2', 'σ² ≤ 1')
    """
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    if character in "\t\n\r" or unicodedata.category(character) == "Zs":
        return " "
    return named(character)
