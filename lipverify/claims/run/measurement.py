"""The measurements of a run: each measurement once, after what it needs, whatever becomes of the workers.

A measurement that raises, hangs, or takes its worker with it spoils what depends on it and nothing else. At most as
many measurements are submitted as there are workers, so that a measurement which is submitted is one that runs. What is
to be measured is planned while the workers are busy: the first results need not wait for the last of the plan.
"""

from __future__ import annotations

import _weakrefset
import gc
import os
import signal
import sys
import textwrap
import threading
import time
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from lipverify.claims.language.fault import place
from lipverify.claims.plan.claim import Measurement
from lipverify.claims.run.kept import Finished
from lipverify.claims.run.ran import Ran, watched
from lipverify.claims.run.workers import Workers
from lipverify.errors import DeviceLost
from lipverify.foundation.interruption import Interrupted, interruptible, require_uninterrupted
from lipverify.foundation.output import diverted
from lipverify.foundation.quoting import told

Progress = Callable[[int, int, str], None]
Beat = Callable[[Sequence[tuple[str, float]]], None]
Plan = Iterable[Mapping[str, "Measurement"]]
NeededBy = Callable[[str], Collection[str]]

GRACE = 5.0
"""Seconds that a worker has beyond a measurement's limit to stop by itself, before it is ended."""
GIVEN_UP_AFTER = 3
"""A claim of which so many measurements have run out of time has an error, whatever the others would say."""
LONGEST_WARNING = 400
CANCELLED = "the executor gave it up (a cluster does that when its scheduler is lost)"
AGAIN = 0.5
"""Seconds after which the alarm of a measurement that goes on rings again."""
WEAK = (weakref.__file__, _weakrefset.__file__)
"""Callbacks at the end of an object are functions of these modules, mostly."""
BEAT = 0.5
"""Seconds between looks at the clock."""


class Outcome(NamedTuple):
    """What a measurement gave, or what went wrong, and the seconds it took."""

    result: Any
    problem: str
    seconds: float
    warned: tuple[str, ...] = ()
    """What it warned of, each once."""
    ran: Ran | None = None
    """What ran, where the result is known to come from it."""
    spent: bool = False
    """Whether what measured it can measure no more: its GPU is lost to it."""


class TimeLimit(BaseException):
    """A measurement ran longer than it may; no `except Exception` of its own keeps it going."""


def measure(
    plan: Plan,
    workers: Workers,
    *,
    limit: float | None = None,
    finished: Finished | None = None,
    progress: Progress | None = None,
    beat: Beat | None = None,
    outcomes: dict[str, Outcome] | None = None,
    needed_by: NeededBy | None = None,
) -> dict[str, Outcome]:
    """The outcome of every measurement, by address.

    One worker measures in the order of the plan, so that what was planned first is decided first; the others begin
    with the longest chains, which nothing can shorten, and at the end of the plan: what stands near each other there
    often needs the same, which a process finds once.

    Parameters
    ----------
    plan
        Measurements by address, some at a time, each after what it needs; what is known already may come again.
    workers
        Who measures.
    limit
        Seconds that one measurement may take; None is no limit.
    finished
        What it holds is not measured again, and what is measured is put there at once.
    progress
        Called with (how many are done, of as many as are planned so far, which is done now).
    beat
        Called about twice a second with what is running: (address, seconds so far).
    outcomes
        Where the outcomes are put as they come, to be seen by `progress`.
    needed_by
        The ids of the claims that need a measurement, of its address: warnings name them, and a claim of which
        `GIVEN_UP_AFTER` measurements have run out of time is given up.
    """
    kept = {} if outcomes is None else outcomes
    run = _Run(plan, workers, limit, finished, progress, beat, kept, needed_by or _nobody)
    with interruptible():
        return run.outcomes()


def _nobody(address: str) -> Collection[str]:
    """No claim is known to need it."""
    return ()


class _Run:
    """Which measurements are open, running and done."""

    def __init__(
        self,
        plan: Plan,
        workers: Workers,
        limit: float | None,
        finished: Finished | None,
        progress: Progress | None,
        beat: Beat | None,
        done: dict[str, Outcome],
        needed_by: NeededBy,
    ) -> None:
        self.plan: Iterator[Mapping[str, Measurement]] | None = iter(plan)
        self.workers, self.limit = workers, limit
        self.finished, self.progress, self.beat, self.needed_by = finished, progress, beat, needed_by
        self.too_long: Counter[str] = Counter()
        """How many measurements of each claim ran out of time."""
        self.measurements: dict[str, Measurement] = {}
        self.done = done
        self.open: dict[str, None] = {}
        """What is not begun, in the order of the plan."""
        self.tallest: dict[str, None] = {}
        """The same by the height of what stands on it, and from the end of the plan, as soon as all is planned."""
        self.running: dict[Future[Any], tuple[str, float]] = {}
        self.leading = ""
        """What runs because it is the next of the plan."""
        self.beaten = time.monotonic()
        self.lost_something = False
        self.suspects: list[str] = []
        """What ran when a worker was lost: each runs by itself next, so that it is known which of them did it."""

    def outcomes(self) -> dict[str, Outcome]:
        """Run everything."""
        self._report("")
        while self.plan is not None or len(self.done) < len(self.measurements):
            require_uninterrupted()
            self._spoil()
            self._give_up()
            self._submit()
            waiting = 0.0 if self.plan is not None else BEAT
            for future in wait(self.running, timeout=waiting, return_when=FIRST_COMPLETED).done:
                self._collect(future)
            self._leave_what_is_lost()
            self._end_what_hangs()
            self._beat()
        return self.done

    def _plan_more(self) -> bool:
        """Learn what else is to be measured; False when all of it is known."""
        if self.plan is None:
            return False
        some = next(self.plan, None)
        if some is None:
            heights = _heights(self.measurements)
            self.plan, from_the_end = None, list(self.open)[::-1]
            self.tallest = dict.fromkeys(sorted(from_the_end, key=lambda address: -heights[address]))
            return False
        for address, measurement in some.items():
            if address not in self.measurements:
                self.measurements[address] = measurement
                self._open(address)
        return True

    def _open(self, address: str) -> None:
        """Put a measurement among those that are to be made, unless it is finished already."""
        measurement = self.measurements[address]
        kept = self.finished.get(measurement) if self.finished is not None else None
        if kept is None:
            self.open[address] = None
        else:
            self.done[address] = Outcome(kept.result, "", kept.seconds, ran=kept.ran)
            self._report(address)

    def _close(self, address: str) -> None:
        """Take a measurement from those that are to be made."""
        del self.open[address]
        self.tallest.pop(address, None)

    def _spoil(self) -> None:
        """A measurement is spoilt with what it needs, which stands before it: one pass after a loss finds all."""
        if not self.lost_something:
            return
        self.lost_something = False
        for address in list(self.open):
            lost = (self.done[need.address] for need in self.measurements[address].needs if need.address in self.done)
            problem = next((outcome.problem for outcome in lost if outcome.problem), "")
            if problem:
                self._close(address)
                self._finish(address, Outcome(None, problem, 0.0))

    def _give_up(self) -> None:
        """Leave out what is only of use to claims that time has run out for."""
        if self.limit is None or not any(count >= GIVEN_UP_AFTER for count in self.too_long.values()):
            return
        for address in list(self.open):
            claims = self.needed_by(address)
            if claims and all(self.too_long[claim] >= GIVEN_UP_AFTER for claim in claims):
                self._close(address)
                problem = (
                    f"{address}: given up, after {GIVEN_UP_AFTER} other measurements of the claim did not end within "
                    f"{self.limit:g} s each; --limit SECONDS allows more"
                )
                self._finish(address, Outcome(None, problem, 0.0))

    def _submit(self) -> None:
        """Begin as many measurements as there are workers for; a suspect runs alone. Plan on while there is nothing."""
        while len(self.running) < (1 if self.suspects else self.workers.count):
            address = self._next()
            if address is None:
                if not self._plan_more():
                    return
                continue
            self._begin(address)
            if address in self.suspects:
                return
        self._plan_more()

    def _begin(self, address: str) -> None:
        """Hand a measurement to a worker, with what it needs."""
        measurement = self.measurements[address]
        needed = [self.done[need.address].result for need in measurement.needs]
        try:
            future = self.workers.submit(timed, measurement, needed, self.limit)
        except Exception as error:  # an executor that is broken, shut down or disconnected
            future = Future()
            future.set_exception(error)
        self.running[future] = (address, time.monotonic())

    def _next(self) -> str | None:
        """The next measurement whose needs are there: of the plan if none of it runs, else of the longest chain."""
        leads = not self.leading
        for address in self.suspects or (self.open if leads else self.tallest or self.open):
            if address in self.open and all(need.address in self.done for need in self.measurements[address].needs):
                self._close(address)
                self.leading = address if leads else self.leading
                return address
        return None

    def _again(self, addresses: Sequence[str]) -> None:
        """Measurements that were lost with their worker begin again, before all others."""
        self.open = dict.fromkeys([*addresses, *self.open])
        self.tallest = dict.fromkeys([*addresses, *self.tallest])
        if self.leading in addresses:
            self.leading = ""

    def _collect(self, future: Future[Any]) -> None:
        """Take the outcome of one call."""
        if future not in self.running:
            return  # it was lost with the others
        address, _ = self.running.pop(future)
        error = None if future.cancelled() else future.exception()
        if future.cancelled():
            self._finish(address, Outcome(None, f"{address}: {CANCELLED}", 0.0))
        elif isinstance(error, BrokenExecutor):
            self._lose(address)
        elif error is not None:
            self._finish(address, Outcome(None, f"{address}: {told(error)}", 0.0))
        else:
            outcome = future.result()
            self._finish(address, outcome)
            if outcome.spent:
                self._begin_anew()

    def _begin_anew(self) -> None:
        """New workers in place of these; what runs begins again."""
        if self.workers.restart():
            self._again([address for address, _ in self.running.values()])
            self.running.clear()

    def _lose(self, address: str) -> None:
        """A worker was lost under this measurement, and with it, in a pool, all that ran."""
        others = [other for other, _ in self.running.values()]
        self.running.clear()
        alone = address in self.suspects
        if alone or not self.workers.restart():
            if alone:
                self.workers.restart()
            twice = " twice, the second time alone" if alone else ""
            problem = f"{address}: the process that measured it was killed{twice} (too little memory?)"
            self._finish(address, Outcome(None, problem, 0.0))
            self._again(others)
        else:
            self.suspects = [address, *others]
            self._again(self.suspects)

    def _leave_what_is_lost(self) -> None:
        """Wait no longer for calls that nobody makes any more."""
        if self.running and self.workers.lost():
            lost = [address for address, _ in self.running.values()]
            self.running.clear()
            for address in lost:
                self._finish(address, Outcome(None, f"{address}: {CANCELLED}", 0.0))

    def _end_what_hangs(self) -> None:
        """End the workers of measurements that did not stop at their limit; the others' measurements begin again."""
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
        self._begin_anew()

    def _beat(self) -> None:
        """Say what runs, about twice a second."""
        now = time.monotonic()
        if self.beat is not None and now - self.beaten >= BEAT:
            self.beaten = now
            self.beat(sorted(((address, now - begun) for address, begun in self.running.values()), key=lambda x: -x[1]))

    def _finish(self, address: str, outcome: Outcome) -> None:
        self.done[address] = outcome
        self.lost_something |= bool(outcome.problem)
        claims = self.needed_by(address)
        if self.limit is not None and outcome.problem == _too_long(address, self.limit):
            self.too_long.update(claims)
        for warning in outcome.warned:
            print(f"lipverify: {', '.join(claims) or 'warning'}: {warning}", file=sys.stderr)
        if address in self.suspects:
            self.suspects.remove(address)
        if address == self.leading:
            self.leading = ""
        if self.finished is not None and not outcome.problem:
            self.finished.put(self.measurements[address], outcome.result, outcome.seconds, outcome.ran)
        self._report(address)

    def _report(self, address: str) -> None:
        if self.progress is not None:
            self.progress(len(self.done), len(self.measurements), address)


def _heights(measurements: Mapping[str, Measurement]) -> dict[str, int]:
    """How long a chain of measurements stands on each: the longest chains begin first, for nothing can shorten them."""
    heights = dict.fromkeys(measurements, 0)
    for address in reversed(list(measurements)):
        for need in measurements[address].needs:
            heights[need.address] = max(heights[need.address], heights[address] + 1)
    return heights


def timed(measurement: Measurement, needed: list[Any], limit: float | None) -> Outcome:
    """The outcome of a measurement: an exception is one too, so that it travels between processes."""
    clock, measuring = time.perf_counter(), os.getpid()
    result, ran, problem, warned, spent = None, None, "", dict[str, None](), False
    try:
        with warnings.catch_warnings(), diverted(), alarm(limit):
            warnings.showwarning = lambda text, kind, file, line, *_: warned.setdefault(
                _on_one_line(f"{measurement.address}: {kind.__name__}: {text} ({Path(file).name}:{line})")
            )
            result, ran = watched(measurement, needed)
    except TimeLimit:
        problem = _too_long(measurement.address, limit)
    except Interrupted:
        raise
    # a broken check must not cost the other claims their evidence, whatever it raises
    except BaseException as error:
        problem = f"{measurement.address}: {told(error)}{place(error)}"
        spent = isinstance(error, DeviceLost)
    if os.getpid() != measuring:
        os._exit(
            0
        )  # a measure forked, and this is its child: it must not answer, and take the next call, as the worker does
    return Outcome(None if problem else result, problem, time.perf_counter() - clock, tuple(warned), ran, spent)


def _on_one_line(text: str) -> str:
    """A warning as a terminal may show it."""
    line = "".join(letter if letter.isprintable() else " " for letter in " ".join(text.split()))
    return textwrap.shorten(line, LONGEST_WARNING)


def _too_long(address: str, limit: float | None) -> str:
    return f"{address}: it did not end within {limit:.3g} s; --limit SECONDS allows more"


@contextmanager
def alarm(limit: float | None) -> Iterator[None]:
    """Raise `TimeLimit` after so many seconds, where this thread can be reached by a signal."""
    if limit is None or not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _ring)
    # it rings again: within a callback of the interpreter it must not raise
    signal.setitimer(signal.ITIMER_REAL, limit, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _ring(_: int, frame: FrameType | None) -> None:
    """The alarm. Where what is raised would be printed and lost it stays silent: it rings again."""
    collectors = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        code = frame.f_code
        if code in collectors or code.co_name == "__del__" or code.co_filename in WEAK:
            return
        frame = frame.f_back
    raise TimeLimit
