"""Warnings that point at the user's line that called this library."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

LIBRARY = f"{Path(__file__).parents[1]}{os.sep}"


def warn_caller(message: str) -> None:
    """Raise a `UserWarning` at the innermost line outside this library, or at the outermost line in a command."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(LIBRARY):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
