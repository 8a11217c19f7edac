"""Signals that end a run: Ctrl-C, a closed terminal (SIGHUP) and SIGTERM all do the same."""

from __future__ import annotations

import signal
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
    ours = [each for each in SIGNALS if signal.getsignal(each) in _DEFAULT]
    before = {number: signal.signal(number, _interrupt) for number in ours}
    if before:
        _arrived.clear()
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def require_uninterrupted() -> None:
    """Raise an interruption again if code in between has swallowed it."""
    if _arrived:
        raise Interrupted


def _interrupt(number: int, _: FrameType | None) -> Any:
    _arrived.append(number)
    raise Interrupted
