"""Run the measurements of a plan, each once and after its needs, even if workers are lost.

A measurement that raises, hangs or kills its worker affects only the measurements that depend on it. At most one call
is submitted for each worker, so a submitted call is one that runs. A call measures for a tenth of a second, or a single
measurement for as long as it takes. Planning continues while the workers are busy, so the first results do not wait for
the whole plan.
"""

from __future__ import annotations

import os
import sys
import textwrap
import time
import warnings
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from lipverify.claims.evidence.returned import Ran, watched
from lipverify.claims.language.file import location_of
from lipverify.claims.plan.claim import Measurement
from lipverify.claims.run.kept import Finished
from lipverify.claims.run.workers import SOON, Lost, Workers, reach
from lipverify.errors import DeviceLost
from lipverify.foundation.output import diverted
from lipverify.foundation.process import Interrupted, interruptible, require_uninterrupted
from lipverify.foundation.quoting import told

Progress = Callable[[int, int, str], None]
"""Called with the numbers done and planned so far, and the address of the one just done."""
Beat = Callable[[Sequence[tuple[str, float]]], None]
"""Called about twice a second with the running measurements as (address, seconds so far)."""
Plan = Iterable[Mapping[str, "Measurement"]]
NeededBy = Callable[[str], Collection[str]]

GIVEN_UP_AFTER = 3
"""A claim with this many timeouts is given up. A smaller number gives up claims with a few slow measurements."""
NEEDLESS = "not measured: another measurement of each of its claims raised an exception"
CANCELLED = "the executor gave it up (a cluster does that when its scheduler is lost)"
SHORT = 0.1
"""Seconds after which a call begins no further measurement: a hundred times what a call costs."""
BEAT = 0.5
"""Seconds between checks of the time limit and between progress reports."""


class Outcome(NamedTuple):
    """The result of a measurement, or the problem with it, and its duration."""

    result: Any
    problem: str
    seconds: float
    warned: tuple[str, ...] = ()
    """Its warnings, each once."""
    ran: Ran | None = None
    """The code that ran, if the result is known to come from it."""
    spent: bool = False
    """True if the worker can measure no more because it has lost its GPU."""


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
    """Run all measurements and return their outcomes by address.

    One worker follows the order of the plan, so that the first claims are decided first. The others begin with the
    longest chains of dependent measurements, which limit the duration of the run, and otherwise at the end of the plan:
    neighbours there often need the same intermediate results, which a process computes once.

    In `plan` each measurement comes after its needs, and may occur again. `finished` holds stored results, and gets new
    ones at once. `outcomes` receives the outcomes as they arrive, for use by `progress`. Warnings name the claims that
    `needed_by` gives for an address. A claim with `GIVEN_UP_AFTER` timeouts or an exception is given up.
    """
    done = {} if outcomes is None else outcomes
    watch = (progress or (lambda *_: None), beat or (lambda *_: None), needed_by or (lambda _: ()))
    run = _Run(_Order(plan), workers, limit, finished, done, *watch)
    with interruptible():
        return run.outcomes()


class _Order:
    """The order of measurements: one follows the plan, and the others begin with the longest chain."""

    def __init__(self, plan: Plan) -> None:
        self.measurements: dict[str, Measurement] = {}
        self.planning = True
        self._plan = iter(plan)
        self._open: OrderedDict[str, None] = OrderedDict()
        """Measurements that have not begun, in the order of the plan."""
        self._tallest: OrderedDict[str, None] = OrderedDict()
        """The same by decreasing chain length, then from the end of the plan; filled when planning is complete."""
        self._leading = ""
        """The running measurement that follows the order of the plan."""

    def plan_more(self) -> Collection[str] | None:
        """Plan the next batch and return its new measurements; None when planning is complete."""
        more = next(self._plan, None) if self.planning else None
        if more is None:
            if self.planning:
                heights, from_the_end = _heights(self.measurements), list(self._open)[::-1]
                self._tallest = OrderedDict.fromkeys(sorted(from_the_end, key=lambda address: -heights[address]))
            self.planning = False
            return None
        new = {address: measurement for address, measurement in more.items() if address not in self.measurements}
        self.measurements.update(new)
        self._open.update(dict.fromkeys(new))
        return new

    def take(self, done: Collection[str], first: Sequence[str], most: int) -> list[str]:
        """The next measurements whose needs are done, at most `most`, among `first` if given; empty if none is now."""
        leads = not self._leading
        candidates = first or (self._open if leads else self._tallest or self._open)
        ready = (
            address
            for address in candidates
            if address in self._open and all(need.address in done for need in self.measurements[address].needs)
        )
        taken = list(islice(ready, most))
        for address in taken:
            self.close(address)
        if taken and leads:
            self._leading = taken[0]
        return taken

    def close(self, address: str) -> None:
        del self._open[address]
        self._tallest.pop(address, None)

    def again(self, addresses: Sequence[str]) -> None:
        """Requeue measurements that were lost with their worker, before all others."""
        for address in reversed(addresses):
            for queue in (self._open, self._tallest):
                queue[address] = None
                queue.move_to_end(address, last=False)
        self.leave(addresses)

    def leave(self, addresses: Collection[str]) -> None:
        if self._leading in addresses:
            self._leading = ""


def _heights(measurements: Mapping[str, Measurement]) -> dict[str, int]:
    """The length of the longest chain that depends on each measurement; on the far end of a ray, one more."""
    heights = dict.fromkeys(measurements, 0)
    for address in reversed(list(measurements)):
        for need in measurements[address].needs:
            far = need in measurements[address].far_end
            heights[need.address] = max(heights[need.address], heights[address] + 1 + far)
    return heights


@dataclass
class _Call:
    """Submitted measurements with their start time, which is None until a worker takes them."""

    addresses: list[str]
    slot: int
    begun: float | None = None


@dataclass
class _Run:
    """The state of a run; the arguments are those of `measure`."""

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
    """Measurements lost with a worker. Each is run again alone, with all the memory."""
    apart: list[str] = field(default_factory=list)
    """Measurements of a call that failed as a whole. Each is run again in its own call."""
    batch: int = 1
    """Number of measurements in the next call: twice as many as the last one measured."""
    too_long: Counter[str] = field(default_factory=Counter)
    """The number of timeouts of each claim."""
    refused: set[str] = field(default_factory=set)
    """The claims of which a measurement raised an exception: they are errors, whatever the others give."""

    def outcomes(self) -> dict[str, Outcome]:
        self.progress(0, 0, "")
        beaten = time.monotonic()
        while self.order.planning or len(self.done) < len(self.order.measurements):
            require_uninterrupted()
            self._submit()
            for future in self.workers.wait(self.running, self._until_something()):
                self._collect(future)
            self._end_what_is_late()
            if self.running and self.workers.lost():
                self._fail(self._leave(), CANCELLED)
            if (now := time.monotonic()) - beaten >= BEAT:
                beaten, calls = now, self.running.values()
                self.beat(
                    sorted(((self._runs(call), now - (call.begun or now)) for call in calls), key=lambda x: -x[1])
                )
        return self.done

    def _submit(self) -> None:
        """Submit measurements until every worker has one, and plan further; a suspect runs alone."""
        while len(self.running) < (1 if self.suspects else self.workers.count):
            first = self.suspects or self.apart
            taken = self.order.take(self.done, first, 1 if first else self.batch)
            if not taken and not self._plan_more():
                return
            for address in list(taken):
                if problem := self._spoilt(address):
                    taken.remove(address)
                    self._finish(address, Outcome(None, problem, 0.0))
            alone = bool(taken) and taken[0] in self.suspects
            if alone:
                self.workers.restart()  # the killed process may have held a lock that all processes share
            if taken:
                self._begin(taken)
            if alone:
                return
        self._plan_more()

    def _plan_more(self) -> bool:
        """Plan further and take stored results, if there are any; False when planning is complete."""
        new = self.order.plan_more()
        for address in new or ():
            kept = self.finished.get(self.order.measurements[address]) if self.finished is not None else None
            if kept is not None:
                self.order.close(address)
                self._finish(address, Outcome(kept.result, "", kept.seconds, ran=kept.ran))
        return new is not None

    def _spoilt(self, address: str) -> str:
        """The reason not to run a measurement: a need failed, or all its claims are given up. Otherwise empty."""
        problems = [self.done[need.address].problem for need in self.order.measurements[address].needs]
        claims = () if self.order.planning else self.needed_by(address)  # a claim yet to be planned may need it
        if claims and self.refused.issuperset(claims):
            problems.append(NEEDLESS)
        if claims and all(self.too_long[claim] >= GIVEN_UP_AFTER for claim in claims):
            others = f"{GIVEN_UP_AFTER} other measurements of the claim did not end within {self.limit:g} s each"
            problems.append(f"{address}: given up, after {others}; --limit SECONDS allows more")
        return next(filter(None, problems), "")

    def _begin(self, addresses: list[str]) -> None:
        calls, slot = [], self.workers.slot({call.slot for call in self.running.values()})
        for address in addresses:
            measurement = self.order.measurements[address]
            needed = [self.done[need.address].result for need in measurement.needs]
            calls.append((replace(measurement, needs=()), needed))
        try:
            future = self.workers.submit(timed_in_turn, calls, slot)
        except Exception as error:  # the executor is broken, shut down or disconnected
            future = Future()
            future.set_exception(error)
        self.running[future] = _Call(addresses, slot)

    def _runs(self, call: _Call) -> str:
        """The measurement of a call that runs now, or ran when the call was lost."""
        return call.addresses[self.workers.reached(call.slot)]

    def _until_something(self) -> float:
        """Seconds to wait for a call: until the next check of the clock, or the next time limit."""
        if self.order.planning:
            return 0.0
        if self.limit is None:
            return BEAT
        now = time.monotonic()
        ends = [
            SOON if call.begun is None else call.begun + self.limit + self._earlier(call) - now
            for call in self.running.values()
        ]
        return max(0.0, min([BEAT, *ends]))

    def _collect(self, future: Future[Any]) -> None:
        if future not in self.running:
            return  # it was lost with a broken pool
        call = self.running.pop(future)
        if future.cancelled():
            self._fail([call], CANCELLED)
            return
        try:
            outcomes = self.workers.result(future)
        except Interrupted:
            raise
        except (Lost, BrokenExecutor) as error:
            self._lose(call, broken=isinstance(error, BrokenExecutor))
        except BaseException as error:  # a value may raise anything when it is unpickled
            if len(call.addresses) > 1:
                self.apart += call.addresses
                self.order.again(call.addresses)
            else:
                self._fail([call], told(error))
        else:
            self._take_in(call, outcomes)

    def _take_in(self, call: _Call, outcomes: Sequence[Outcome]) -> None:
        """Keep the outcomes of a call, and requeue the measurements that it did not begin."""
        self.batch = min(2 * len(outcomes), self.workers.batch)
        if len(outcomes) < len(call.addresses):
            self.order.again(call.addresses[len(outcomes) :])
        with self.finished.together() if self.finished is not None else nullcontext():
            for address, outcome in zip(call.addresses, outcomes, strict=False):
                if self.finished is not None and not outcome.problem:
                    self.finished.put(self.order.measurements[address], outcome.result, outcome.seconds, outcome.ran)
        for address, outcome in zip(call.addresses, outcomes, strict=False):
            if outcome.problem and not outcome.spent:
                self.refused.update(self.needed_by(address))
            self._finish(address, outcome)
        if outcomes[-1].spent and self.workers.restart():
            self._repeat(self._leave())

    def _lose(self, call: _Call, *, broken: bool) -> None:
        """Handle a lost worker: repeat its call, and all others too if the pool is broken."""
        address, calls = self._runs(call), [call, *(self._leave() if broken else ())]
        twice, anew = address in self.suspects, not broken or self.workers.restart()
        if twice or not anew:
            often = " twice, the second time alone" if twice else ""
            problem = f"{address}: the process that measured it was killed{often} (too little memory?)"
            self._finish(address, Outcome(None, problem, 0.0))
        else:
            self.suspects += [self._runs(lost) for lost in calls]
        self._repeat(calls)

    def _fail(self, calls: Iterable[_Call], problem: str) -> None:
        for address in (address for call in calls for address in call.addresses):
            self._finish(address, Outcome(None, f"{address}: {problem}", 0.0))

    def _repeat(self, calls: Iterable[_Call]) -> None:
        """Requeue the measurements of these calls that have no outcome."""
        self.order.again([address for call in calls for address in call.addresses if address not in self.done])

    def _leave(self) -> list[_Call]:
        """Forget the running calls, and return them."""
        calls = list(self.running.values())
        self.running.clear()
        return calls

    def _end_what_is_late(self) -> None:
        """Stop calls that exceed the time limit, together with their processes."""
        now = time.monotonic()
        for future, call in list(self.running.items()):
            if call.begun is None:
                call.begun = now if self.workers.begun(future) else None
            elif self.limit is not None and now - call.begun >= self.limit + self._earlier(call):
                del self.running[future]
                address = self._runs(call)
                future.cancel()
                self.too_long.update(self.needed_by(address))
                problem = f"{address}: it did not end within {self.limit:.3g} s; --limit SECONDS allows more"
                self._finish(address, Outcome(None, problem, now - call.begun))
                self._repeat([call])

    def _earlier(self, call: _Call) -> float:
        """Most seconds between the start of a call and that of the measurement that runs."""
        return SHORT if len(call.addresses) > 1 else 0.0

    def _finish(self, address: str, outcome: Outcome) -> None:
        self.done[address] = outcome
        claims = self.needed_by(address)
        for warning in outcome.warned:
            print(f"lipverify: {', '.join(claims) or 'warning'}: {warning}", file=sys.stderr)
        for repeated in (self.suspects, self.apart):
            if address in repeated:
                repeated.remove(address)
        self.order.leave([address])
        self.progress(len(self.done), len(self.order.measurements), address)


def timed_in_turn(calls: Sequence[tuple[Measurement, list[Any]]], slot: int) -> list[Outcome]:
    """Run measurements one after another, for `SHORT` seconds; the outcomes of those that have begun."""
    outcomes, until = list[Outcome](), time.monotonic() + SHORT
    for position, (measurement, needed) in enumerate(calls):
        reach(slot, position)
        outcomes.append(timed(measurement, needed))
        if outcomes[-1].problem or time.monotonic() >= until:  # after an exception the others may be needless
            break
    return outcomes


def timed(measurement: Measurement, needed: list[Any]) -> Outcome:
    """Run a measurement. An exception becomes an outcome too, so that it can travel between processes."""
    clock, measuring = time.perf_counter(), os.getpid()
    result, ran, problem, warned, spent = None, None, "", dict[str, None](), False
    try:
        with warnings.catch_warnings(), diverted():
            warnings.showwarning = lambda text, kind, file, line, *_: warned.setdefault(
                _on_one_line(f"{measurement.address}: {kind.__name__}: {text} ({Path(file).name}:{line})")
            )
            result, ran = watched(lambda: measurement.run(*needed))
    except Interrupted:
        raise
    # one failing check must not cost other claims their evidence, whatever it raises
    except BaseException as error:
        problem = f"{measurement.address}: {told(error)}{location_of(error)}"
        spent = isinstance(error, DeviceLost)
    if os.getpid() != measuring:
        # a child that the measuring function forked must not answer or take calls in the worker's place
        os._exit(0)
    return Outcome(None if problem else result, problem, time.perf_counter() - clock, tuple(warned), ran, spent)


def _on_one_line(text: str) -> str:
    """A warning on one line, safe for a terminal."""
    line = "".join(letter if letter.isprintable() else " " for letter in " ".join(text.split()))
    return textwrap.shorten(line, 400)  # five lines of a terminal
