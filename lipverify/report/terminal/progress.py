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
PLAIN_STEPS = 10
"""Progress lines in a log, where a bar cannot be drawn: enough to see that the run moves, few enough to skip."""


@contextmanager
def progress_of(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A function of (done, total, label) that shows the progress of `what`."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        waiting = threading.Timer(
            QUIET, print, [f"{what} 0 so far ({QUIET:.0f} s)"], {"file": sys.stderr, "flush": True}
        )
        waiting.daemon = True
        waiting.start()  # a first step may take minutes
        try:
            yield _plain(what, waiting.cancel)
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


def _plain(what: str, begun: Callable[[], None]) -> Callable[[int, int, str], None]:
    """Print about ten lines for each total, none for a task that ends within a second."""
    clock = time.perf_counter()
    printed = {"total": 0, "step": 0}

    def show(done: int, total: int, label: str) -> None:
        step = done * PLAIN_STEPS // max(total, 1)
        seconds = time.perf_counter() - clock
        if total != printed["total"]:  # the plan has changed
            printed.update(total=total, step=0)
        if step > printed["step"] and (seconds > 1 or done == total):
            printed["step"] = step
            begun()
            print(f"{what} {done} of {total} ({seconds:.0f} s)", file=sys.stderr, flush=True)

    return show
