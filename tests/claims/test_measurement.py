"""Measurements, whatever becomes of them: needs, exceptions, measurements that hang, workers that are killed."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lipverify.claims.plan import Measurement

# internal: its seconds are shortened; its alarm alone
from lipverify.claims.run import Given, Outcome, ThisProcess, Workers, measure, measurement, processes


def number(k: int) -> float:
    return float(k)


def raises(k: int) -> float:
    raise ValueError(f"no {k}")


def total(*values: float) -> float:
    return sum(values)


def named(name: str, *values: float) -> float:
    return sum(values)


def kills_its_process(folder: str, times: int) -> float:
    marks = len(list(Path(folder).glob("killed-*")))
    if marks < times:
        (Path(folder) / f"killed-{marks}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0


def sleeps(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def hangs(seconds: float) -> float:
    """As compiled code that does not return would."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    time.sleep(seconds)
    return seconds


def outcomes(measurements: list[Measurement], workers: Workers, **settings: Any) -> dict[str, Outcome]:
    every = {measurement.address: measurement for wanted in measurements for measurement in wanted.with_needs()}
    return measure([every], workers, **settings)


@contextmanager
def this_process() -> Iterator[Workers]:
    yield ThisProcess()


@contextmanager
def threads() -> Iterator[Workers]:
    with ThreadPoolExecutor(3) as pool:
        yield Given(pool)


WORKERS = {"this process": this_process, "processes": lambda: processes(2), "threads": threads}


@pytest.mark.parametrize("kind", WORKERS)
def test_results_of_what_is_needed_follow_the_arguments(kind: str) -> None:
    leaves = tuple(Measurement(number, (k,)) for k in range(5))
    pairs = [Measurement(named, (f"{i}", i), needs=(leaves[i], leaves[i + 1])) for i in range(4)]
    root = Measurement(total, (100,), needs=(*pairs, leaves[4]))
    with WORKERS[kind]() as workers:
        found = outcomes([root], workers)
    assert found[root.address].result == 100 + sum(i + i + i + 1 for i in range(4)) + 4
    assert all(not outcome.problem for outcome in found.values())


def test_an_exception_spoils_what_needs_it_and_nothing_else() -> None:
    bad, good = Measurement(raises, (3,)), Measurement(number, (1,))
    needing = Measurement(named, ("needing",), needs=(bad,))
    further = Measurement(named, ("further",), needs=(needing, good))
    found = outcomes([further, good], ThisProcess())
    for spoilt in (bad, needing, further):
        assert found[spoilt.address].problem == "raises(3): ValueError: no 3"
    assert found[good.address].result == 1.0


class Two(ThisProcess):
    """Each call is run when it is submitted, two before either is collected."""

    count = 2


def test_one_worker_keeps_to_the_plan_and_the_others_begin_with_the_longest_chain() -> None:
    order: list[str] = []
    leaves = [Measurement(number, (k,)) for k in range(1, 9)]
    chain = Measurement(number, (0,))
    for step in range(1, 4):
        chain = Measurement(named, (f"{step}",), needs=(chain,))
    plan = [{each.address: each for wanted in [*leaves, chain] for each in wanted.with_needs()}]
    found = measure(plan, Two(), progress=lambda done, of, address: order.append(address))
    assert len(found) == 12
    leading = [address for address in order if address in {each.address for each in leaves}]
    # two run at once, so that each ends at most one place from its turn
    assert all(abs(leading.index(each.address) - turn) <= 1 for turn, each in enumerate(leaves))
    assert order.index("named(2)") < order.index("number(8)"), "the chain is not left for the end"
    order.clear()
    measure(plan, ThisProcess(), progress=lambda done, of, address: order.append(address))
    assert order == ["", *(each.address for wanted in [*leaves, chain] for each in wanted.with_needs())]


def test_one_worker_begins_at_either_end_of_the_plan() -> None:
    """So that neighbours, which often need the same, are measured by one; the first two were planned before the end."""
    done: list[str] = []
    leaves = [Measurement(number, (k,)) for k in range(12)]
    plan = [{each.address: each for each in leaves}]
    measure(plan, Two(), progress=lambda of, total, address: done.append(address))
    assert set(done[1:7]) == {f"number({k})" for k in (0, 1, 2, 3, 11, 10)}


def test_what_is_planned_first_is_measured_before_the_rest_is_planned() -> None:
    done: list[str] = []
    known = []

    def plan() -> Iterator[dict[str, Measurement]]:
        for k in range(3):
            known.append(list(done))
            yield {each.address: each for each in [Measurement(number, (k,))]}

    measure(plan(), ThisProcess(), progress=lambda of, total, address: done.append(address))
    assert known[2] == ["", "number(0)"]


def test_a_worker_that_is_killed_costs_its_task_a_retry(tmp_path: Path) -> None:
    killer = Measurement(kills_its_process, (str(tmp_path), 1))
    others = [Measurement(number, (k,)) for k in range(20)]
    with processes(2) as workers:
        found = outcomes([killer, *others], workers)
    assert [found[measurement.address].result for measurement in (killer, *others)] == [1.0, *map(float, range(20))]


def test_a_task_that_kills_its_worker_again_is_named_and_the_others_are_measured(tmp_path: Path) -> None:
    killer = Measurement(kills_its_process, (str(tmp_path), 99))
    needing = Measurement(named, ("needing",), needs=(killer,))
    others = [Measurement(number, (k,)) for k in range(20)]
    with processes(3) as workers:
        found = outcomes([needing, *others], workers)
    assert "killed twice, the second time alone" in found[killer.address].problem
    assert found[needing.address].problem == found[killer.address].problem
    assert [found[measurement.address].result for measurement in others] == list(map(float, range(20)))
    assert len(list(tmp_path.glob("killed-*"))) == 2


@pytest.mark.parametrize("kind", ["this process", "processes"])
def test_a_task_past_its_limit_is_ended_and_says_so(kind: str) -> None:
    slow, quick = Measurement(sleeps, (60.0,)), Measurement(number, (1,))
    clock = time.monotonic()
    with WORKERS[kind]() as workers:
        found = outcomes([slow, quick], workers, limit=0.3)
    assert found[slow.address].problem == "sleeps(60.0): it did not end within 0.3 s; --limit SECONDS allows more"
    assert found[quick.address].result == 1.0
    assert time.monotonic() - clock < 60.0


def test_a_task_that_no_signal_reaches_is_ended_with_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "GRACE", 0.2)
    stuck, others = Measurement(hangs, (60.0,)), [Measurement(sleeps, (k / 100,)) for k in range(5)]
    clock = time.monotonic()
    with processes(2) as workers:
        found = outcomes([stuck, *others], workers, limit=0.5)
    assert "did not end within 0.5 s" in found[stuck.address].problem
    assert [found[measurement.address].result for measurement in others] == [k / 100 for k in range(5)]
    assert time.monotonic() - clock < 60.0


def test_an_executor_of_the_callers_is_never_ended() -> None:
    with ThreadPoolExecutor(2) as pool:
        found = outcomes([Measurement(number, (1,)), Measurement(sleeps, (0.2,))], Given(pool), limit=30.0)
        assert found["number(1)"].result == 1.0
        assert pool.submit(number, 2).result() == 2.0


class Cancels(ThisProcess):
    """Gives up what it was handed, as a cluster does that loses its scheduler."""

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


class Loses(ThisProcess):
    """Has lost what was to make the calls."""

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        return Future()

    def lost(self) -> bool:
        return True


class Refuses(ThisProcess):
    """Takes nothing more."""

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        raise RuntimeError("cannot schedule new futures after shutdown")


GIVEN_UP = "the executor gave it up"


@pytest.mark.parametrize(
    ("workers", "said"), [(Cancels(), GIVEN_UP), (Loses(), GIVEN_UP), (Refuses(), "RuntimeError: cannot schedule")]
)
def test_an_executor_that_gives_up_is_the_problem_of_each_measurement(workers: Workers, said: str) -> None:
    found = outcomes([Measurement(number, (k,)) for k in range(3)], workers)
    assert [outcome.problem.partition(": ")[2].startswith(said) for outcome in found.values()] == [True] * 3


class Slow:
    """An object of which the end takes longer than the limit."""

    def __del__(self) -> None:
        busy(0.3)


def busy(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def collected(phase: str, info: dict[str, int]) -> None:
    busy(0.15)


class Key:
    """Something that a weak dictionary may hold by."""


class Slowly(dict[Any, Any]):
    """A dictionary that takes longer than the limit to give something up."""

    def __delitem__(self, key: Any) -> None:
        busy(0.3)


def forgotten() -> None:
    """A weak dictionary forgets what it holds."""
    held, key = weakref.WeakKeyDictionary[Any, Any](), Key()
    held.data = Slowly()  # type: ignore[attr-defined]
    held[key] = None
    del key


@pytest.mark.parametrize("kind", ["a callback of the collector", "the end of an object", "the end of a key"])
def test_an_alarm_within_a_callback_of_the_interpreter_rings_again(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is raised there is printed as "Exception ignored" and lost; Hypothesis has such a callback."""
    lost: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    monkeypatch.setattr(measurement, "AGAIN", 0.05)

    def long() -> None:
        if kind == "the end of an object":
            Slow()
        elif kind == "the end of a key":
            forgotten()
        else:
            gc.collect()
        busy(10.0)

    if kind == "a callback of the collector":
        gc.callbacks.append(collected)
    try:
        begun = time.monotonic()
        with pytest.raises(measurement.TimeLimit), measurement.alarm(0.1):
            long()
    finally:
        if collected in gc.callbacks:
            gc.callbacks.remove(collected)
    assert time.monotonic() - begun < 5
    assert not lost
