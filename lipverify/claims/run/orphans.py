"""A worker ends when the process that it works for does, whatever ended that."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing.connection import wait
from multiprocessing.queues import SimpleQueue
from pathlib import Path

from lipverify.foundation.interruption import SIGNALS
from lipverify.foundation.memory import keep_memory
from lipverify.foundation.remembered import remember_in

PR_SET_PDEATHSIG = 1
"""prctl(2)."""


def begin_worker(shared: Path | None, devices: SimpleQueue[str] | None = None) -> None:
    """What a process does before its first measurement: it remembers what it finds where the others do.

    Where there are GPUs it takes the next of `devices`, and sees no other.

    Ctrl-C reaches every process of a terminal: the main process decides what becomes of the others. On Linux the kernel
    ends this one with its parent, even inside of compiled code; elsewhere, and where the parent is not the main process
    itself, a thread waits for the pipe that only the main process holds open.
    """
    if devices is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = devices.get()
    remember_in(shared)
    keep_memory()
    with contextlib.suppress(OSError, AttributeError):
        os.setpgid(0, 0)  # what a measure forks belongs to the worker, and ends with it
    for each in SIGNALS:
        signal.signal(each, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None:
        # it may have ended before the kernel was told
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def end_all_of(worker: int) -> None:
    """End a worker's process group: a child that a measure left would hold the worker's pipes open for ever."""
    with contextlib.suppress(OSError, AttributeError):
        os.killpg(worker, signal.SIGKILL)


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
