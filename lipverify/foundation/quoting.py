"""Messages: how they quote values, and where a warning points. Imports no library, so that an error appears at once."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

LONGEST = 80
"""Longest value, in letters, that a message shows whole."""
LONGEST_PROBLEM = 2000
"""Longest text of an exception, in letters, that a ledger keeps."""


def shown(value: Any) -> str:
    """A value as a message quotes it: on one line, cut in the middle if it is long.

    >>> shown(10**400)
    '1000000000000000000000000000000000000...000000000000000000000000000000000000000'
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an integer of more digits than Python prints, or an object that cannot be shown
        text = f"<{type(value).__name__}>"
    half = (LONGEST - 3) // 2
    return text if len(text) <= LONGEST else f"{text[: half - 1]}...{text[-half - 1 :]}"


def counted(number: int, noun: str) -> str:
    """A count with its noun, in the plural where needed.

    >>> counted(1, "claim"), counted(0, "claim")
    ('1 claim', '0 claims')
    """
    return f"{number} {noun}" + "s" * (number != 1)


def told(error: BaseException) -> str:
    """The type and the text of an exception, shortened for a ledger.

    What UTF-8 cannot encode is escaped. If the exception's text itself raises, only the type is given.

    >>> told(ValueError("w = -1"))
    'ValueError: w = -1'
    >>> told(type(100_000 * "E", (Exception,), {})("no")).endswith("EEE... (100000 letters): no")
    True
    """
    try:
        message = str(error)
    except Exception:
        message = "it cannot say why"
    return f"{_cut(type(error).__name__)}: {_cut(message)}"


def _cut(text: str) -> str:
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST_PROBLEM else f"{text[:LONGEST_PROBLEM]}... ({len(text)} letters)"


LIBRARY = f"{Path(__file__).parents[1]}{os.sep}"


def warn_caller(message: str) -> None:
    """Raise a `UserWarning` at the innermost line outside this library, or at the outermost line in a command."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(LIBRARY):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
