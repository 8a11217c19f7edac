"""Warnings that point at the line of whoever called this library, however many of its functions lie between."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

LIBRARY = f"{Path(__file__).parents[1]}{os.sep}"


def warn_caller(message: str) -> None:
    """A `UserWarning` at the innermost line outside of this library; on the command line at the outermost there is."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(LIBRARY):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
