"""Messages: how they quote values, and where a warning points. Imports no library, so that an error appears at once."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any


def shown(value: Any) -> str:
    """A value as a message quotes it: on one line, cut in the middle if it is long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an integer of more digits than Python prints, or an object that cannot be shown
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 80 else f"{text[:37]}...{text[-39:]}"


def counted(number: int, noun: str) -> str:
    """A count with its noun, in the plural where needed."""
    return f"{number} {noun}" + "s" * (number != 1)


def told(error: BaseException) -> str:
    """The type and the text of an exception, shortened for a ledger; only the type if its text itself raises."""
    try:
        message = str(error)
    except Exception:
        message = "it cannot say why"
    return f"{_cut(type(error).__name__)}: {_cut(message)}"


def _cut(text: str) -> str:
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 2000 else f"{text[:2000]}... ({len(text)} letters)"


def warn_caller(message: str) -> None:
    """Raise a `UserWarning` at the innermost line outside this library, or at the outermost line in a command."""
    library, frame, level = f"{Path(__file__).parents[1]}{os.sep}", sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(library):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
