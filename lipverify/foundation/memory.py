"""How a process of a run keeps its memory: it makes arrays and leaves them, millions of times, and then it ends."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys

YOUNG = 100_000
"""Objects after which cycles are looked for, in place of Python's 700: a command makes millions that stay, and ends."""
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""mallopt(3)."""
LARGEST = 1 << 28
"""Bytes that a process keeps at most of what was left; a larger array is given back to the system at once."""


def keep_memory() -> None:
    """Use what arrays have left again, and look for cycles seldom.

    The C library of Linux gives large arrays back to the system as they are left, and the system clears every page that
    it hands out anew. Other C libraries are left as they are.
    """
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            library = ctypes.CDLL(None)
            library.mallopt(M_MMAP_THRESHOLD, LARGEST)
            library.mallopt(M_TRIM_THRESHOLD, LARGEST)
