"""Text that comes from elsewhere, made fit to be looked at: what would not show is named, nothing is obeyed."""

from __future__ import annotations

import unicodedata

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def invisible(character: str) -> bool:
    """Whether a character would not show, or would change how others do: control characters, marks that reorder."""
    return unicodedata.category(character) in _INVISIBLE


def named(character: str) -> str:
    """The code point of a character, in brackets."""
    return f"⟨U+{ord(character):04X}⟩"


def visible(text: str) -> str:
    r"""The text on one line, with every character that would not show replaced by its code point.

    An escape sequence, a null byte or a mark that reorders text would let a terminal or a table say
    something else than the text does.

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
