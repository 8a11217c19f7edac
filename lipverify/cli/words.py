"""Words of the command line as numbers: a word that is not the number it must be is refused, and never rounded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lipverify.foundation.quoting import shown

WHOLE = re.compile(r"[+-]?[0-9]+")
MOST_DIGITS = 400
"""More than the largest double has."""


def natural(_: Any, tokens: Sequence[Any]) -> int:
    """An integer >= 0."""
    return _integer(tokens[0].value, 0)


def positive(_: Any, tokens: Sequence[Any]) -> int:
    """An integer >= 1."""
    return _integer(tokens[0].value, 1)


def length(_: Any, tokens: Sequence[Any]) -> int | float:
    """A context length: an integer keeps every digit; anything else, such as 1e30, is a double."""
    word = tokens[0].value
    if WHOLE.fullmatch(word) and len(word) <= MOST_DIGITS:
        return int(word)
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"{shown(word)} is not a number, such as 100 or 1e30.") from None


def _integer(word: str, least: int) -> int:
    if not WHOLE.fullmatch(word) or len(word) > MOST_DIGITS or int(word) < least:
        raise ValueError(f"{shown(word)} is not an integer >= {least}.")
    return int(word)
