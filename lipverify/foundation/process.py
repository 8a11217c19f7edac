"""How a process ends, and how it keeps memory.

Ctrl-C, a closed terminal (SIGHUP) and SIGTERM all do the same. A short-lived process that allocates and frees millions
of arrays reuses them.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_DEFAULT = (signal.SIG_DFL, signal.default_int_handler)
"""Handlers that a program has not changed; only these are replaced."""
_arrived: list[int] = []


class Interrupted(KeyboardInterrupt):
    """A signal asked the run to end, unlike a `KeyboardInterrupt` that a user's function raises."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `Interrupted` in this block on such a signal, unless the signal is ignored or already handled.

    Signals reach only the main thread; in other threads nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in SIGNALS if signal.getsignal(number) in _DEFAULT]
    before = {number: signal.signal(number, _interrupt) for number in ours}
    if before:
        _arrived.clear()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def require_uninterrupted() -> None:
    """Raise an interruption again if code in between has swallowed it."""
    if _arrived:
        raise Interrupted


def _interrupt(number: int, _: FrameType | None) -> Any:
    _arrived.append(number)
    raise Interrupted


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
