"""Make foreign text safe to display: invisible characters are named, and control sequences have no effect.

The text of a ledger comes from anybody, and a page that is one long word takes minutes to typeset: `require_printable`
limits its lengths.
"""

from __future__ import annotations

import re
import unicodedata

import msgspec

from lipverify.claims.ledger.record import Ledger
from lipverify.errors import InvalidInput
from lipverify.foundation.quoting import shown


def invisible(character: str) -> bool:
    """True if a character is invisible or changes the display of others: control characters, marks that reorder."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def named(character: str) -> str:
    """The code point of a character, in brackets."""
    return f"⟨U+{ord(character):04X}⟩"


def visible(text: str) -> str:
    """The text on one line, with every invisible character, which may reorder it, replaced by its code point."""
    return "".join(map(_shown, text))


def called(address: str) -> str:
    """The address of a measurement as a call, with functions by name alone; text after it is kept.

    >>> called("value_at(split.py@75a0:noise_share, d=5, law='relu'): <function link at 0x7f4fed1fc5e0>")
    "noise_share(d=5, law='relu'): link"
    """
    function = r"<(?:bound method|function) (?:\S*\.)?(\w+|<lambda>)(?: at 0x\w+| of <[^<>]*>)?>"
    bare = re.sub(function, r"\1", visible(address))
    return re.sub(r"^\w+\((?:\S*[:.])?(\w+), ", r"\1(", bare)


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    if character in "\t\n\r" or unicodedata.category(character) == "Zs":
        return " "
    return named(character)


LONGEST_TEXT, LONGEST_WORD, LONGEST_FORMULA = 20_000, 4_000, 4_000
"""Longest text, word and formula in characters, many times ours: the time to break lines grows faster than they do."""
NAMED = 8
"""Characters that replace a character without a glyph by its code point."""


def require_printable(ledger: Ledger) -> None:
    """Refuse a ledger with a text, a word, a formula or a whole that is too long to typeset."""
    total, waiting = 0, [msgspec.to_builtins(ledger)]
    while waiting:
        text = waiting.pop()
        if isinstance(text, dict):
            waiting += [*text, *text.values()]
        elif isinstance(text, list | tuple):
            waiting += text
        if not isinstance(text, str):
            continue
        total += len(text)
        if len(text) * (1 + NAMED) <= LONGEST_WORD:
            continue
        words = max(map(len, text.split()), default=0)
        formula = max(map(len, text.split("$")[1::2]), default=0)
        letters = len(text) + NAMED * (0 if text.isascii() else sum(not letter.isascii() for letter in text))
        for what, length, most in (
            ("text", letters, LONGEST_TEXT),
            ("word", words, LONGEST_WORD),
            ("formula", formula, LONGEST_FORMULA),
        ):
            if length > most:
                raise InvalidInput(
                    f"ledger: the {what} {shown(text)} has {length} letters, and at most {most} can be typeset."
                )
    if total > 10_000_000:
        raise InvalidInput(f"ledger: its texts have {total} letters, and at most 10000000 can be typeset.")
