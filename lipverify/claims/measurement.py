"""The measurements of a run: each task once, after what it needs, whatever becomes of the workers.

A task that raises, hangs, or takes its worker with it spoils what depends on it and nothing else. At most as many
tasks are submitted as there are workers, so that a task which is submitted is one that runs.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import contextmanager
from typing import Any, NamedTuple

from lipverify.claims.claim import Task
from lipverify.claims.finished import Finished
from lipverify.claims.place import place
from lipverify.claims.workers import Workers

Progress = Callable[[int, int, str], None]

GRACE = 5.0
"""Seconds that a worker has beyond a task's limit to stop by itself, before it is ended."""
BEAT = 0.5
"""Seconds between looks at the clock."""


class Outcome(NamedTuple):
    """What a task gave, or what went wrong, and the seconds it took."""

    result: Any
    problem: str
    seconds: float


class TimeLimit(Exception):
    """A task ran longer than it may."""


def measure(
    tasks: Mapping[str, Task],
    workers: Workers,
    *,
    limit: float | None = None,
    finished: Finished | None = None,
    progress: Progress | None = None,
) -> dict[str, Outcome]:
    """The outcome of every task, by address.

    Parameters
    ----------
    tasks
        By address; what a task needs is among them.
    workers
        Who measures.
    limit
        Seconds that one task may take; None is no limit.
    finished
        What it holds is not measured again, and what is measured is put there at once.
    progress
        Called with (how many are done, of how many, which is done now).
    """
    return _Run(tasks, workers, limit, finished, progress).outcomes()


class _Run:
    """Which tasks are open, running and done."""

    def __init__(
        self,
        tasks: Mapping[str, Task],
        workers: Workers,
        limit: float | None,
        finished: Finished | None,
        progress: Progress | None,
    ) -> None:
        heights = _heights(tasks)
        self.tasks, self.workers, self.limit = tasks, workers, limit
        self.finished, self.progress = finished, progress
        self.done: dict[str, Outcome] = {}
        self.open = sorted(tasks, key=lambda address: -heights[address])
        self.running: dict[Future[Any], tuple[str, float]] = {}
        self.suspects: list[str] = []
        """Tasks that ran when a worker was lost: each runs by itself next, so that it is known which of them did it."""

    def outcomes(self) -> dict[str, Outcome]:
        """Run everything."""
        self._take_what_is_finished()
        self._report("")
        while len(self.done) < len(self.tasks):
            self._spoil()
            self._submit()
            for future in wait(self.running, timeout=BEAT, return_when=FIRST_COMPLETED).done:
                self._collect(future)
            self._end_what_hangs()
        return self.done

    def _take_what_is_finished(self) -> None:
        for address, task in self.tasks.items():
            kept = self.finished.get(task) if self.finished is not None else None
            if kept is not None:
                self.done[address] = Outcome(kept[0], "", kept[1])
                self.open.remove(address)

    def _spoil(self) -> None:
        """A task is spoilt with what it needs, which stands before it: one pass finds all."""
        for address in list(self.open):
            lost = (self.done[need.address] for need in self.tasks[address].needs if need.address in self.done)
            problem = next((outcome.problem for outcome in lost if outcome.problem), "")
            if problem:
                self.open.remove(address)
                self._finish(address, Outcome(None, problem, 0.0))

    def _submit(self) -> None:
        """Begin as many tasks as there are workers for; a suspect runs alone."""
        while len(self.running) < (1 if self.suspects else self.workers.count):
            address = self._next()
            if address is None:
                return
            task = self.tasks[address]
            needed = [self.done[need.address].result for need in task.needs]
            try:
                future = self.workers.submit(_timed, task, needed, self.limit)
            except BrokenExecutor as broken:
                future = Future()
                future.set_exception(broken)
            self.running[future] = (address, time.monotonic())
            if address in self.suspects:
                return

    def _next(self) -> str | None:
        """The next task whose needs are there."""
        for address in self.suspects or self.open:
            if address in self.open and all(need.address in self.done for need in self.tasks[address].needs):
                self.open.remove(address)
                return address
        return None

    def _collect(self, future: Future[Any]) -> None:
        """Take the outcome of one call."""
        if future not in self.running:
            return  # it was lost with the others
        address, _ = self.running.pop(future)
        error = future.exception()
        if isinstance(error, BrokenExecutor):
            self._lose(address)
        elif error is not None:
            self._finish(address, Outcome(None, f"{address}: {type(error).__name__}: {error}", 0.0))
        else:
            self._finish(address, future.result())

    def _lose(self, address: str) -> None:
        """A worker was lost under this task, and with it, in a pool, all that ran."""
        others = [other for other, _ in self.running.values()]
        self.running.clear()
        alone = address in self.suspects
        if alone or not self.workers.restart():
            if alone:
                self.workers.restart()
            twice = " twice, the second time alone" if alone else ""
            problem = f"{address}: the process that measured it was killed{twice} (too little memory?)"
            self._finish(address, Outcome(None, problem, 0.0))
            self.open[:0] = others
        else:
            self.open[:0] = self.suspects = [address, *others]

    def _end_what_hangs(self) -> None:
        """End the workers of tasks that did not stop at their limit; the others' tasks begin again."""
        if self.limit is None:
            return
        latest = time.monotonic() - self.limit - GRACE
        hanging = [future for future, (_, begun) in self.running.items() if begun < latest]
        if not hanging:
            return
        for future in hanging:
            address, begun = self.running.pop(future)
            future.cancel()
            self._finish(address, Outcome(None, _too_long(address, self.limit), time.monotonic() - begun))
        if self.workers.restart():
            self.open[:0] = [address for address, _ in self.running.values()]
            self.running.clear()

    def _finish(self, address: str, outcome: Outcome) -> None:
        self.done[address] = outcome
        if address in self.suspects:
            self.suspects.remove(address)
        if self.finished is not None and not outcome.problem:
            self.finished.put(self.tasks[address], outcome.result, outcome.seconds)
        self._report(address)

    def _report(self, address: str) -> None:
        if self.progress is not None:
            self.progress(len(self.done), len(self.tasks), address)


def _heights(tasks: Mapping[str, Task]) -> dict[str, int]:
    """How long a chain of tasks stands on each: the longest chains begin first, for nothing can shorten them."""
    heights = dict.fromkeys(tasks, 0)
    for address in reversed(list(tasks)):
        for need in tasks[address].needs:
            heights[need.address] = max(heights[need.address], heights[address] + 1)
    return heights


def _timed(task: Task, needed: list[Any], limit: float | None) -> Outcome:
    """The outcome of a task: an exception is one too, so that it travels between processes."""
    clock = time.perf_counter()
    try:
        with _alarm(limit):
            result = task.run(*needed)
        return Outcome(result, "", time.perf_counter() - clock)
    except TimeLimit:
        problem = _too_long(task.address, limit)
    except Exception as error:  # a broken check must not cost the other claims their evidence
        problem = f"{task.address}: {type(error).__name__}: {error}{place(error)}"
    return Outcome(None, problem, time.perf_counter() - clock)


def _too_long(address: str, limit: float | None) -> str:
    return f"{address}: it did not end within {limit:g} s; --limit SECONDS allows more"


@contextmanager
def _alarm(limit: float | None) -> Iterator[None]:
    """Raise `TimeLimit` after so many seconds, where this thread can be reached by a signal."""
    if limit is None or not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _ring(*_: Any) -> None:
    raise TimeLimit
