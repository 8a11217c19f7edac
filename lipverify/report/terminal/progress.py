"""Progress of a long command on standard error: a bar on a terminal, occasional lines in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

QUIET = 2.0
"""Seconds after which a log has a first line."""


@contextmanager
def progress_of(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A function of (done, total, label) that shows the progress of `what`."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        waiting = threading.Timer(
            QUIET, print, [f"{what} 0 so far ({QUIET:.0f} s)"], {"file": sys.stderr, "flush": True}
        )

        def begun(line: str) -> None:
            waiting.cancel()
            print(line, file=sys.stderr, flush=True)

        waiting.daemon = True
        waiting.start()  # a first step may take minutes
        try:
            yield tenths(what, begun)
        finally:
            waiting.cancel()
        return
    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task("", total=None)

    def show(done: int, total: int, label: str) -> None:
        bar.start()  # created at the first call, so that a task without work shows nothing
        bar.update(task, completed=done, total=total, description=label)

    try:
        yield show
    finally:
        bar.stop()


def tenths(what: str, show: Callable[[str], None]) -> Callable[..., None]:
    """Write about ten lines for each total, none for a task that ends within a second."""
    clock, seen = time.perf_counter(), {"total": 0, "step": 0}

    def measured(done: int, total: int, label: str = "") -> None:
        step, seconds = done * 10 // max(total, 1), time.perf_counter() - clock
        if total != seen["total"]:  # the plan has changed, and its next tenth is told
            seen.update(total=total, step=step if seen["total"] else 0)
        if step > seen["step"] and (seconds > 1 or done == total):
            seen["step"] = step
            show(f"{what} {done} of {total} ({seconds:.0f} s)")

    return measured
