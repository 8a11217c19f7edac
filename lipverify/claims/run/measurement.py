"""The measurements of a run: each measurement once, after what it needs, whatever becomes of the workers.

A measurement that raises, hangs, or takes its worker with it spoils what depends on it and nothing else. At most as
many measurements are submitted as there are workers, so that a measurement which is submitted is one that runs. What is
to be measured is planned while the workers are busy: the first results need not wait for the last of the plan.
"""

from __future__ import annotations

import os
import sys
import textwrap
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from lipverify.claims.language.file import place
from lipverify.claims.plan.claim import Measurement
from lipverify.claims.run.kept import Finished
from lipverify.claims.run.ran import Ran, watched
from lipverify.claims.run.workers import LOST, SOON, Workers
from lipverify.errors import DeviceLost
from lipverify.foundation.interruption import Interrupted, interruptible, require_uninterrupted
from lipverify.foundation.output import diverted
from lipverify.foundation.quoting import told

Progress = Callable[[int, int, str], None]
Beat = Callable[[Sequence[tuple[str, float]]], None]
Plan = Iterable[Mapping[str, "Measurement"]]
NeededBy = Callable[[str], Collection[str]]

GIVEN_UP_AFTER = 3
"""A claim of which so many measurements have run out of time has an error, whatever the others would say."""
LONGEST_WARNING = 400
"""Letters of a warning that are printed: five lines of a terminal."""
CANCELLED = "the executor gave it up (a cluster does that when its scheduler is lost)"
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
    done = {} if outcomes is None else outcomes
    watch = (progress or _nothing, beat or _nothing, needed_by or _nobody)
    run = _Run(_Order(plan), workers, limit, finished, done, *watch)
    with interruptible():
        return run.outcomes()


def _nothing(*_: Any) -> None:
    """Nobody wants to be told."""


def _nobody(address: str) -> Collection[str]:
    """No claim is known to need it."""
    return ()


class _Order:
    """Which measurement is the next: of the plan if none of it runs, else of the longest chain."""

    def __init__(self, plan: Plan) -> None:
        self.measurements: dict[str, Measurement] = {}
        self.planning = True
        self._plan = iter(plan)
        self._open: dict[str, None] = {}
        """What is not begun, in the order of the plan."""
        self._tallest: dict[str, None] = {}
        """The same by the height of what stands on it, and from the end of the plan, as soon as all is planned."""
        self._leading = ""
        """What runs because it is the next of the plan."""

    def plan_more(self) -> Collection[str] | None:
        """Learn what else is to be measured; None when all of it is known."""
        more = next(self._plan, None) if self.planning else None
        if more is None:
            if self.planning:
                heights, from_the_end = _heights(self.measurements), list(self._open)[::-1]
                self._tallest = dict.fromkeys(sorted(from_the_end, key=lambda address: -heights[address]))
            self.planning = False
            return None
        new = {address: measurement for address, measurement in more.items() if address not in self.measurements}
        self.measurements.update(new)
        self._open.update(dict.fromkeys(new))
        return new

    def take(self, done: Collection[str], first: Sequence[str]) -> str | None:
        """The next measurement whose needs are done, of `first` if there are any; None if there is none now."""
        leads = not self._leading
        for address in first or (self._open if leads else self._tallest or self._open):
            if address in self._open and all(need.address in done for need in self.measurements[address].needs):
                self.close(address)
                self._leading = address if leads else self._leading
                return address
        return None

    def close(self, address: str) -> None:
        """Take a measurement from those that are to be begun."""
        del self._open[address]
        self._tallest.pop(address, None)

    def again(self, addresses: Sequence[str]) -> None:
        """Measurements that were lost with their worker begin again, before all others."""
        self._open = dict.fromkeys([*addresses, *self._open])
        self._tallest = dict.fromkeys([*addresses, *self._tallest])
        self.leave(addresses)

    def leave(self, addresses: Collection[str]) -> None:
        """These run no longer."""
        if self._leading in addresses:
            self._leading = ""


def _heights(measurements: Mapping[str, Measurement]) -> dict[str, int]:
    """How long a chain of measurements stands on each: the longest chains begin first, for nothing can shorten them."""
    heights = dict.fromkeys(measurements, 0)
    for address in reversed(list(measurements)):
        for need in measurements[address].needs:
            heights[need.address] = max(heights[need.address], heights[address] + 1)
    return heights


@dataclass
class _Call:
    """A measurement that was handed to the workers, and when its time began; None while no worker has taken it."""

    address: str
    begun: float | None = None


@dataclass
class _Run:
    """What is measured and what is done; the arguments are those of `measure`."""

    order: _Order
    workers: Workers
    limit: float | None
    finished: Finished | None
    done: dict[str, Outcome]
    progress: Progress
    beat: Beat
    needed_by: NeededBy
    running: dict[Future[Any], _Call] = field(default_factory=dict)
    suspects: list[str] = field(default_factory=list)
    """What was lost with a worker: each runs by itself next, with all the memory there is."""
    too_long: Counter[str] = field(default_factory=Counter)
    """How many measurements of each claim ran out of time."""

    def outcomes(self) -> dict[str, Outcome]:
        """Run everything."""
        self.progress(0, 0, "")
        beaten = time.monotonic()
        while self.order.planning or len(self.done) < len(self.order.measurements):
            require_uninterrupted()
            self._submit()
            for future in self.workers.wait(self.running, self._until_something()):
                self._collect(future)
            self._end_what_is_late()
            if self.running and self.workers.lost():
                for address in self._leave():
                    self._finish(address, Outcome(None, f"{address}: {CANCELLED}", 0.0))
            if (now := time.monotonic()) - beaten >= BEAT:
                beaten, calls = now, self.running.values()
                self.beat(sorted(((call.address, now - (call.begun or now)) for call in calls), key=lambda x: -x[1]))
        return self.done

    def _submit(self) -> None:
        """Begin as many measurements as there are workers for; a suspect runs alone. Plan on while there is nothing."""
        while len(self.running) < (1 if self.suspects else self.workers.count):
            address = self.order.take(self.done, self.suspects)
            if address is None:
                if not self._plan_more():
                    return
            elif problem := self._spoilt(address):
                self._finish(address, Outcome(None, problem, 0.0))
            elif address in self.suspects:
                self.workers.restart()  # for who is killed may have held a lock that all processes share
                self._begin(address)
                return
            else:
                self._begin(address)
        self._plan_more()

    def _plan_more(self) -> bool:
        """Learn what else is to be measured, some of which may be finished already; False when all of it is known."""
        new = self.order.plan_more()
        for address in new or ():
            kept = self.finished.get(self.order.measurements[address]) if self.finished is not None else None
            if kept is not None:
                self.order.close(address)
                self._finish(address, Outcome(kept.result, "", kept.seconds, ran=kept.ran))
        return new is not None

    def _spoilt(self, address: str) -> str:
        """Why a measurement is of no use: what it needs is spoilt, or time has run out for all its claims."""
        problems = [self.done[need.address].problem for need in self.order.measurements[address].needs]
        claims = self.needed_by(address)
        if claims and all(self.too_long[claim] >= GIVEN_UP_AFTER for claim in claims):
            others = f"{GIVEN_UP_AFTER} other measurements of the claim did not end within {self.limit:g} s each"
            problems.append(f"{address}: given up, after {others}; --limit SECONDS allows more")
        return next(filter(None, problems), "")

    def _begin(self, address: str) -> None:
        """Hand a measurement to a worker, with what it needs."""
        measurement = self.order.measurements[address]
        needed = [self.done[need.address].result for need in measurement.needs]
        try:
            future = self.workers.submit(timed, measurement, needed)
        except Exception as error:  # an executor that is broken, shut down or disconnected
            future = Future()
            future.set_exception(error)
        self.running[future] = _Call(address)

    def _until_something(self) -> float:
        """Seconds to wait for a call at most: until the next look at the clock, or until a limit is reached."""
        if self.order.planning:
            return 0.0
        if self.limit is None:
            return BEAT
        now = time.monotonic()
        ends = [SOON if call.begun is None else call.begun + self.limit - now for call in self.running.values()]
        return max(0.0, min([BEAT, *ends]))

    def _collect(self, future: Future[Any]) -> None:
        """Take the outcome of one call."""
        if future not in self.running:
            return  # it was lost with the others
        address = self.running.pop(future).address
        error = None if future.cancelled() else future.exception()
        if future.cancelled():
            self._finish(address, Outcome(None, f"{address}: {CANCELLED}", 0.0))
        elif isinstance(error, LOST):
            self._lose(address, broken=isinstance(error, BrokenExecutor))
        elif error is not None:
            self._finish(address, Outcome(None, f"{address}: {told(error)}", 0.0))
        else:
            outcome = future.result()
            if self.finished is not None and not outcome.problem:
                self.finished.put(self.order.measurements[address], outcome.result, outcome.seconds, outcome.ran)
            self._finish(address, outcome)
            if outcome.spent and self.workers.restart():
                self.order.again(self._leave())

    def _lose(self, address: str, *, broken: bool) -> None:
        """A worker was lost under a measurement, which begins again once; in a broken pool so does all that ran."""
        others = self._leave() if broken else []
        twice, anew = address in self.suspects, not broken or self.workers.restart()
        if twice or not anew:
            often = " twice, the second time alone" if twice else ""
            problem = f"{address}: the process that measured it was killed{often} (too little memory?)"
            self._finish(address, Outcome(None, problem, 0.0))
            self.order.again(others)
        else:
            self.suspects += [address, *others]
            self.order.again([address, *others])

    def _leave(self) -> list[str]:
        """Forget the calls that run, and say of what they were."""
        addresses = [call.address for call in self.running.values()]
        self.running.clear()
        return addresses

    def _end_what_is_late(self) -> None:
        """End the calls that have run for longer than they may, and with each the process that makes it."""
        now = time.monotonic()
        for future, call in list(self.running.items()):
            if call.begun is None:
                call.begun = now if self.workers.begun(future) else None
            elif self.limit is not None and now - call.begun >= self.limit:
                del self.running[future]
                future.cancel()
                self.too_long.update(self.needed_by(call.address))
                problem = f"{call.address}: it did not end within {self.limit:.3g} s; --limit SECONDS allows more"
                self._finish(call.address, Outcome(None, problem, now - call.begun))

    def _finish(self, address: str, outcome: Outcome) -> None:
        self.done[address] = outcome
        claims = self.needed_by(address)
        for warning in outcome.warned:
            print(f"lipverify: {', '.join(claims) or 'warning'}: {warning}", file=sys.stderr)
        if address in self.suspects:
            self.suspects.remove(address)
        self.order.leave([address])
        self.progress(len(self.done), len(self.order.measurements), address)


def timed(measurement: Measurement, needed: list[Any]) -> Outcome:
    """The outcome of a measurement: an exception is one too, so that it travels between processes."""
    clock, measuring = time.perf_counter(), os.getpid()
    result, ran, problem, warned, spent = None, None, "", dict[str, None](), False
    try:
        with warnings.catch_warnings(), diverted():
            warnings.showwarning = lambda text, kind, file, line, *_: warned.setdefault(
                _on_one_line(f"{measurement.address}: {kind.__name__}: {text} ({Path(file).name}:{line})")
            )
            result, ran = watched(measurement, needed)
    except Interrupted:
        raise
    # a broken check must not cost the other claims their evidence, whatever it raises
    except BaseException as error:
        problem = f"{measurement.address}: {told(error)}{place(error)}"
        spent = isinstance(error, DeviceLost)
    if os.getpid() != measuring:
        os._exit(0)  # the child of a measure that forked must not answer, and take the next call, as the worker does
    return Outcome(None if problem else result, problem, time.perf_counter() - clock, tuple(warned), ran, spent)


def _on_one_line(text: str) -> str:
    """A warning as a terminal may show it."""
    line = "".join(letter if letter.isprintable() else " " for letter in " ".join(text.split()))
    return textwrap.shorten(line, LONGEST_WARNING)
