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
BAD_INPUT, INTERRUPTED, UNREAD = 2, 130, 141
"""Exit codes. Shells give 130 to SIGINT and 141 to SIGPIPE: a reader that closes the pipe is no verdict."""
_arrived: list[int] = []


class Interrupted(KeyboardInterrupt):
    """A signal asked the run to end, unlike a `KeyboardInterrupt` that a user's function raises."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `Interrupted` in this block of the main thread on such a signal, unless it is ignored or handled."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    unchanged = (signal.SIG_DFL, signal.default_int_handler)
    ours = [number for number in SIGNALS if signal.getsignal(number) in unchanged]
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


def keep_memory() -> None:
    """Keep freed arrays for reuse, and run the cycle collector seldom."""
    gc.set_threshold(100_000, *gc.get_threshold()[1:])  # a command makes millions of objects that stay, and then ends
    # Linux's C library returns large arrays to the system, which clears every page before it hands it out again
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            library = ctypes.CDLL(None)
            kept = 1 << 28  # bytes of freed memory, at most; a larger array is returned to the system at once
            library.mallopt(-3, kept)  # M_MMAP_THRESHOLD
            library.mallopt(-1, kept)  # M_TRIM_THRESHOLD
