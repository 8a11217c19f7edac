"""Measurements, whatever becomes of them: needs, exceptions, tasks that hang, workers that are killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lipverify.claims import measurement
from lipverify.claims.claim import Task
from lipverify.claims.measurement import Outcome, measure
from lipverify.claims.workers import Given, ThisProcess, Workers, processes


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


def outcomes(tasks: list[Task], workers: Workers, **settings: Any) -> dict[str, Outcome]:
    every = {task.address: task for wanted in tasks for task in wanted.with_needs()}
    return measure(every, workers, **settings)


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
    leaves = tuple(Task(number, (k,)) for k in range(5))
    pairs = [Task(named, (f"{i}", i), needs=(leaves[i], leaves[i + 1])) for i in range(4)]
    root = Task(total, (100,), needs=(*pairs, leaves[4]))
    with WORKERS[kind]() as workers:
        found = outcomes([root], workers)
    assert found[root.address].result == 100 + sum(i + i + i + 1 for i in range(4)) + 4
    assert all(not outcome.problem for outcome in found.values())


def test_an_exception_spoils_what_needs_it_and_nothing_else() -> None:
    bad, good = Task(raises, (3,)), Task(number, (1,))
    needing = Task(named, ("needing",), needs=(bad,))
    further = Task(named, ("further",), needs=(needing, good))
    found = outcomes([further, good], ThisProcess())
    for task in (bad, needing, further):
        assert found[task.address].problem == "raises(3): ValueError: no 3"
    assert found[good.address].result == 1.0


def test_the_longest_chain_begins_first() -> None:
    order: list[str] = []
    chain = Task(number, (0,))
    for step in range(1, 4):
        chain = Task(named, (f"{step}",), needs=(chain,))
    outcomes([Task(number, (7,)), chain], ThisProcess(), progress=lambda done, of, address: order.append(address))
    assert order == ["", "number(0)", "named(1)", "named(2)", "number(7)", "named(3)"]


def test_a_worker_that_is_killed_costs_its_task_a_retry(tmp_path: Path) -> None:
    killer = Task(kills_its_process, (str(tmp_path), 1))
    others = [Task(number, (k,)) for k in range(20)]
    with processes(2) as workers:
        found = outcomes([killer, *others], workers)
    assert [found[task.address].result for task in (killer, *others)] == [1.0, *map(float, range(20))]


def test_a_task_that_kills_its_worker_again_is_named_and_the_others_are_measured(tmp_path: Path) -> None:
    killer = Task(kills_its_process, (str(tmp_path), 99))
    needing = Task(named, ("needing",), needs=(killer,))
    others = [Task(number, (k,)) for k in range(20)]
    with processes(3) as workers:
        found = outcomes([needing, *others], workers)
    assert "killed twice, the second time alone" in found[killer.address].problem
    assert found[needing.address].problem == found[killer.address].problem
    assert [found[task.address].result for task in others] == list(map(float, range(20)))
    assert len(list(tmp_path.glob("killed-*"))) == 2


@pytest.mark.parametrize("kind", ["this process", "processes"])
def test_a_task_past_its_limit_is_ended_and_says_so(kind: str) -> None:
    slow, quick = Task(sleeps, (60.0,)), Task(number, (1,))
    clock = time.monotonic()
    with WORKERS[kind]() as workers:
        found = outcomes([slow, quick], workers, limit=0.3)
    assert found[slow.address].problem == "sleeps(60.0): it did not end within 0.3 s; --limit SECONDS allows more"
    assert found[quick.address].result == 1.0
    assert time.monotonic() - clock < 60.0


def test_a_task_that_no_signal_reaches_is_ended_with_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "GRACE", 0.2)
    stuck, others = Task(hangs, (60.0,)), [Task(sleeps, (k / 100,)) for k in range(5)]
    clock = time.monotonic()
    with processes(2) as workers:
        found = outcomes([stuck, *others], workers, limit=0.5)
    assert "did not end within 0.5 s" in found[stuck.address].problem
    assert [found[task.address].result for task in others] == [k / 100 for k in range(5)]
    assert time.monotonic() - clock < 60.0


def test_an_executor_of_the_callers_is_never_ended() -> None:
    with ThreadPoolExecutor(2) as pool:
        found = outcomes([Task(number, (1,)), Task(sleeps, (0.2,))], Given(pool), limit=30.0)
        assert found["number(1)"].result == 1.0
        assert pool.submit(number, 2).result() == 2.0
