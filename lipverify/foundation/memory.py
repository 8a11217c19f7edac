"""Memory settings for a short-lived process that allocates and frees millions of arrays."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys

YOUNG = 100_000
"""Number of new objects between collections of cycles, in place of Python's 700: a command makes millions that stay,
and then ends."""
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of mallopt(3)."""
LARGEST = 1 << 28
"""Bytes of freed memory that a process keeps at most; a larger array is returned to the system at once."""


def keep_memory() -> None:
    """Keep freed arrays for reuse, and run the cycle collector seldom.

    Linux's C library returns large arrays to the system when they are freed, and the system clears every page before it
    hands it out again. Other C libraries keep their settings.
    """
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            library = ctypes.CDLL(None)
            library.mallopt(M_MMAP_THRESHOLD, LARGEST)
            library.mallopt(M_TRIM_THRESHOLD, LARGEST)
