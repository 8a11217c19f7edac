"""Which line of a claims file is at work, or raised an exception."""

from __future__ import annotations

import inspect
import traceback
from pathlib import Path

HOME = "__claims_file__"
"""The name under which a module that was made from a claims file holds it."""


def line_in(error: BaseException, path: str) -> int | None:
    """The line of a file that was being run, last of all of its lines, when the exception was raised."""
    lines = [
        line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == path and line
    ]
    return lines[-1] if lines else None


def place(error: BaseException) -> str:
    """The line of a claims file that led to the exception, in brackets; empty where no such file took part."""
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_globals.get(HOME) is not None and frame.f_code.co_filename == frame.f_globals[HOME].path:
            found = f" ({Path(frame.f_code.co_filename).name}:{line})"
    return found


def caller_line() -> int:
    """The line on which the function that asks was called."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = frame.f_back if frame is not None else None
    return frame.f_lineno if frame is not None else 0
