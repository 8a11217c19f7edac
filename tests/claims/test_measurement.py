"""Measurements and their failures: needs, exceptions, hanging measurements, killed workers."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lipverify.claims.plan import Measurement
from lipverify.claims.run import Given, Outcome, ThisProcess, Workers, measure, processes

# internal: fewer slots, so that they are used again soon
from lipverify.claims.run import workers as workers_of_runs


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


def dies_with_the_lock(folder: str) -> float:
    """A call that is killed, once, while its process has the lock that all processes of the pool share."""
    mark = Path(folder) / "killed"
    if not mark.exists():
        mark.touch()
        channels = [each for each in gc.get_objects() if type(each).__name__ == "WorkerChannel"]
        [channel] = [each for each in channels if each.mutex.reader_mutex]  # others are of ended pools
        assert channel.mutex.acquire()
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0


def sleeps(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def hangs(seconds: float) -> float:
    """A call that hangs like compiled code that does not return."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    time.sleep(seconds)
    return seconds


def outcomes(measurements: list[Measurement], workers: Workers, **settings: Any) -> dict[str, Outcome]:
    every = {measurement.address: measurement for wanted in measurements for measurement in wanted.with_needs()}
    return measure([every], workers, **settings)


def on(count: int, measurements: list[Measurement], **settings: Any) -> dict[str, Outcome]:
    """The outcomes on so many processes."""
    with processes(count) as workers:
        return outcomes(measurements, workers, **settings)


@contextmanager
def this_process() -> Iterator[Workers]:
    yield ThisProcess()


@contextmanager
def threads() -> Iterator[Workers]:
    with ThreadPoolExecutor(3) as pool:
        yield Given(pool)


WORKERS = {"this process": this_process, "processes": lambda: processes(2), "threads": threads}


@pytest.mark.parametrize("kind", WORKERS)
def test_results_of_needed_measurements_follow_the_arguments(kind: str) -> None:
    leaves = tuple(Measurement(number, (k,)) for k in range(5))
    pairs = [Measurement(named, (f"{i}", i), needs=(leaves[i], leaves[i + 1])) for i in range(4)]
    root = Measurement(total, (100,), needs=(*pairs, leaves[4]))
    with WORKERS[kind]() as workers:
        found = outcomes([root], workers)
    assert found[root.address].result == 100 + sum(i + i + i + 1 for i in range(4)) + 4
    assert all(not outcome.problem for outcome in found.values())


def test_an_exception_affects_only_dependent_measurements() -> None:
    bad, good = Measurement(raises, (3,)), Measurement(number, (1,))
    needing = Measurement(named, ("needing",), needs=(bad,))
    further = Measurement(named, ("further",), needs=(needing, good))
    found = outcomes([further, good], ThisProcess())
    for spoilt in (bad, needing, further):
        assert found[spoilt.address].problem == "raises(3): ValueError: no 3"
    assert found[good.address].result == 1.0


class Two(ThisProcess):
    """A pool of two: each call runs when it is submitted, and two are submitted before either is collected."""

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
    # two run at once, so each ends at most one position from its turn
    assert all(abs(leading.index(each.address) - turn) <= 1 for turn, each in enumerate(leaves))
    assert order.index("named(2)") < order.index("number(8)"), "the chain is not left for the end"
    order.clear()
    measure(plan, ThisProcess(), progress=lambda done, of, address: order.append(address))
    assert order == ["", *(each.address for wanted in [*leaves, chain] for each in wanted.with_needs())]


def test_one_worker_begins_at_either_end_of_the_plan() -> None:
    """Neighbours in the plan, which often share needs, go to one worker; the first two are planned before the end."""
    done: list[str] = []
    leaves = [Measurement(number, (k,)) for k in range(12)]
    plan = [{each.address: each for each in leaves}]
    measure(plan, Two(), progress=lambda of, total, address: done.append(address))
    assert set(done[1:7]) == {f"number({k})" for k in (0, 1, 2, 3, 11, 10)}


def test_measuring_starts_before_all_is_planned() -> None:
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
    found = on(2, [killer, *others])
    assert [found[measurement.address].result for measurement in (killer, *others)] == [1.0, *map(float, range(20))]


def test_a_task_that_kills_its_worker_again_is_named_and_the_others_are_measured(tmp_path: Path) -> None:
    killer = Measurement(kills_its_process, (str(tmp_path), 99))
    needing = Measurement(named, ("needing",), needs=(killer,))
    others = [Measurement(number, (k,)) for k in range(20)]
    found = on(3, [needing, *others])
    assert "killed twice, the second time alone" in found[killer.address].problem
    assert found[needing.address].problem == found[killer.address].problem
    assert [found[measurement.address].result for measurement in others] == list(map(float, range(20)))
    assert len(list(tmp_path.glob("killed-*"))) == 2


def test_a_task_past_its_limit_is_ended_and_says_so() -> None:
    slow, quick = Measurement(sleeps, (60.0,)), Measurement(number, (1,))
    clock = time.monotonic()
    found = on(2, [slow, quick], limit=0.3)
    assert found[slow.address].problem == "sleeps(60.0): it did not end within 0.3 s; --limit SECONDS allows more"
    assert found[quick.address].result == 1.0
    assert 0.3 <= found[slow.address].seconds < 5.0
    assert time.monotonic() - clock < 60.0


@pytest.mark.parametrize("limit", [None, 60.0])
def test_running_measurements_are_reported_with_their_seconds(limit: float | None) -> None:
    seen: list[tuple[str, float]] = []
    with processes(1) as workers:
        outcomes([Measurement(sleeps, (1.3,))], workers, limit=limit, beat=lambda now: seen.extend(now))
    assert [address for address, _ in seen] == ["sleeps(1.3)"] * len(seen)
    assert 0.5 < seen[-1][1] < 60.0


def leaves_a_mark(folder: str, name: str, seconds: float) -> float:
    with (Path(folder) / name).open("a") as file:
        file.write("begun\n")
    time.sleep(seconds)
    return seconds


@pytest.mark.parametrize("ends", ["hangs", "is killed"])
def test_a_task_that_is_ended_with_its_process_costs_the_others_nothing(tmp_path: Path, ends: str) -> None:
    stuck = Measurement(hangs, (60.0,)) if ends == "hangs" else Measurement(kills_its_process, (str(tmp_path), 99))
    others = [Measurement(leaves_a_mark, (str(tmp_path), f"{k}", 0.2)) for k in range(5)]
    clock = time.monotonic()
    found = on(2, [stuck, *others], limit=0.5)
    assert ("did not end within 0.5 s" if ends == "hangs" else "was killed twice") in found[stuck.address].problem
    assert [found[other.address].result for other in others] == [0.2] * 5
    assert [(tmp_path / f"{k}").read_text() for k in range(5)] == ["begun\n"] * 5, "none began a second time"
    assert time.monotonic() - clock < 60.0


def test_a_limit_begins_when_a_process_has_the_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "takes_long_to_import.py").write_text("import time\ntime.sleep(1.0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    with processes(1, modules=["takes_long_to_import"]) as workers:
        found = outcomes([Measurement(number, (1,))], workers, limit=0.5)
    assert found["number(1)"].result == 1.0


def test_a_process_that_is_killed_with_a_lock_of_the_pool_costs_its_task_a_retry(tmp_path: Path) -> None:
    killer, others = Measurement(dies_with_the_lock, (str(tmp_path),)), [Measurement(number, (k,)) for k in range(5)]
    clock = time.monotonic()
    found = on(1, [killer, *others])
    assert [found[each.address].result for each in (killer, *others)] == [1.0, *map(float, range(5))]
    assert time.monotonic() - clock < 30.0, "half of what a process waits for the lock"


@pytest.mark.parametrize("code", [0, 1])
def test_a_task_that_ends_its_process_is_noticed_without_any_limit(code: int) -> None:
    found = on(1, [Measurement(os._exit, (code,)), Measurement(number, (1,))])
    assert "was killed twice" in found[f"_exit({code})"].problem
    assert found["number(1)"].result == 1.0


def starts_a_child(folder: str, then: float) -> float:
    child = subprocess.Popen(["sleep", "1000"])
    (Path(folder) / "child").write_text(str(child.pid))
    if then < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(then)
    return then


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for a process there")
@pytest.mark.parametrize("then", [0.0, 60.0, -1.0], ids=["it is done", "it takes too long", "it is killed"])
def test_child_processes_end_with_their_worker(tmp_path: Path, then: float) -> None:
    with processes(1) as workers:
        outcomes([Measurement(starts_a_child, (str(tmp_path), then))], workers, limit=0.5)
    child, until = int((tmp_path / "child").read_text()), time.monotonic() + 10
    while runs(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not runs(child)


def test_a_process_that_is_killed_between_tasks_costs_nothing() -> None:
    def plan() -> Iterator[dict[str, Measurement]]:
        yield {"number(1)": Measurement(number, (1,))}
        for _ in range(2):  # the first is planned while that one is measured
            yield {}
        time.sleep(0.2)
        for process in multiprocessing.active_children():
            os.kill(process.pid or 0, signal.SIGKILL)
        time.sleep(0.5)
        yield {f"number({k})": Measurement(number, (k,)) for k in range(2, 6)}

    with processes(2) as workers:
        found = measure(plan(), workers, limit=30.0)
    assert [found[f"number({k})"].result for k in range(1, 6)] == [1.0, 2.0, 3.0, 4.0, 5.0]


def notes(folder: str, k: int, then: str = "", seconds: float = 0.0) -> float:
    """A call that notes that it has begun, and then ends its process for as long as it may, or takes some time."""
    with (Path(folder) / f"begun-{k}").open("a") as file:
        file.write("begun\n")
    if then == "is killed":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(seconds)
    return float(k)


def test_a_long_call_is_named_while_others_come_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps its slot, although there are no more slots than workers; once its place was that of another call."""
    monkeypatch.setattr(workers_of_runs, "SLOTS", 0)
    long = Measurement(waits, (1.5,))
    names: set[str] = set()
    with processes(2) as workers:
        many = {f"number({k})": Measurement(number, (k,)) for k in range(200)}
        brief = {f"waits(0.06, {k})": Measurement(waits, (0.06, k)) for k in range(12)}
        plan = iter([{long.address: long}, many | brief])
        found = measure(plan, workers, limit=30.0, beat=lambda now: names.update(address for address, _ in now))
    assert not [outcome.problem for outcome in found.values() if outcome.problem]
    assert long.address in names


def waits(seconds: float, k: int = 0) -> float:
    """A measurement that takes some time."""
    time.sleep(seconds)
    return float(k)


def test_a_call_takes_many_short_measurements_and_ends_after_a_tenth_of_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted: list[int] = []
    with processes(1) as workers:
        submit = workers.submit

        def counted(function: Any, calls: list[Any], slot: int) -> Future[Any]:
            submitted.append(len(calls))
            return submit(function, calls, slot)

        monkeypatch.setattr(workers, "submit", counted)
        found = outcomes([Measurement(number, (k,)) for k in range(500)], workers)
        assert [found[f"number({k})"].result for k in range(500)] == list(map(float, range(500)))
        assert len(submitted) < 30
        submitted.clear()
        slow = [Measurement(notes, (str(tmp_path), k, "", 0.11)) for k in range(6)]
        outcomes(slow, workers)
        assert max(submitted) <= 2, "a call is at most twice as long as the one before"
    assert [(tmp_path / f"begun-{k}").read_text() for k in range(6)] == ["begun\n"] * 6


@pytest.mark.parametrize("then", ["is killed", "takes too long"])
def test_among_many_in_one_call_the_measurement_that_ran_is_named(tmp_path: Path, then: str) -> None:
    """Forty in one call: those after it are measured once, and those before it, whose results are lost, once more."""
    before = [Measurement(number, (k,)) for k in range(63)]  # after them a call takes up to 64
    many = [Measurement(notes, (str(tmp_path), k)) for k in range(40)]
    stuck = many[20] = Measurement(notes, (str(tmp_path), 20, then, 60.0))
    needing = Measurement(named, ("needing",), needs=(stuck,))
    clock = time.monotonic()
    found = on(1, [*before, *many, needing], limit=1.0)
    problem = "was killed twice, the second time alone" if then == "is killed" else "did not end within 1 s"
    assert problem in found[stuck.address].problem
    assert found[stuck.address].problem.startswith(stuck.address)
    assert found[needing.address].problem == found[stuck.address].problem
    assert [found[each.address].result for each in many if each != stuck] == [float(k) for k in range(40) if k != 20]
    begun = [(tmp_path / f"begun-{k}").read_text().count("begun") for k in range(40)]
    assert begun[19] == 2, "it was in the same call"
    assert begun[20] == (2 if then == "is killed" else 1)
    assert begun[21:] == [1] * 19
    assert time.monotonic() - clock < 60.0


class Unreadable:
    """An object that can be pickled but not unpickled."""

    def __reduce__(self) -> Any:
        return raises, (7,)


def test_an_unreadable_task_affects_only_its_measurement() -> None:
    with pytest.raises(ValueError, match="no 7"):
        pickle.loads(pickle.dumps(Unreadable()))
    measurements = [Measurement(number, (k,)) for k in range(30)]
    measurements[20] = Measurement(named, ("it", Unreadable()))
    found = on(1, measurements)
    problems = [found[each.address].problem for each in measurements]
    assert [k for k, problem in enumerate(problems) if problem] == [20]
    assert problems[20].endswith("ValueError: no 7")


class Unsendable(Exception):
    """What pebble does not expect of pickling."""


class NeverPickled:
    def __reduce__(self) -> Any:
        raise Unsendable("no 8")


def returns_a_lambda(k: int) -> Any:
    return lambda: k


def returns_a_local_object(k: int) -> Any:
    class Local:
        value = k

    return Local()


def returns_an_object_never_pickled(k: int) -> Any:
    return NeverPickled()


def returns_an_unreadable_object(k: int) -> Any:
    return Unreadable()


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (returns_a_lambda, "returns_a_lambda"),
        (returns_a_local_object, "Local"),
        (returns_an_object_never_pickled, "Unsendable: no 8"),
        (returns_an_unreadable_object, "ValueError: no 7"),
    ],
)
def test_a_result_that_cannot_be_sent_affects_only_its_measurement(function: Any, problem: str) -> None:
    measurements = [Measurement(number, (k,)) for k in range(30)]
    measurements[20] = Measurement(function, (20,))
    found = on(1, measurements)
    problems = [found[each.address].problem for each in measurements]
    assert [k for k, problem in enumerate(problems) if problem] == [20]
    assert problem in problems[20]
    assert "killed" not in problems[20]


def test_a_lost_process_is_replaced_while_the_main_thread_waits_and_never_while_it_works() -> None:
    """A fork from another thread copies the locks of this thread, and the child would wait for them forever."""
    with processes(1) as workers:
        assert workers.value(number, 1, seconds=30.0) == 1.0
        [before] = multiprocessing.active_children()
        lost = workers.submit(os._exit, 3)
        until = time.monotonic() + 10
        while before.is_alive() and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.5)  # five times as long as the pool needs to notice
        assert multiprocessing.active_children() == []
        assert workers.wait([lost], 30.0) == {lost}
        assert workers.value(number, 2, seconds=30.0) == 2.0


def test_an_executor_of_the_callers_is_never_ended() -> None:
    with ThreadPoolExecutor(2) as pool:
        found = outcomes([Measurement(number, (1,)), Measurement(sleeps, (0.2,))], Given(pool), limit=30.0)
        assert found["number(1)"].result == 1.0
        assert pool.submit(number, 2).result() == 2.0


class Cancels(ThisProcess):
    """A pool that cancels its calls, like a cluster that loses its scheduler."""

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


class Loses(ThisProcess):
    """A pool that has lost its workers."""

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        return Future()

    def lost(self) -> bool:
        return True


class Refuses(ThisProcess):
    """A pool that accepts no more calls."""

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        raise RuntimeError("cannot schedule new futures after shutdown")


GIVEN_UP = "the executor gave it up"


@pytest.mark.parametrize(
    ("workers", "said"), [(Cancels(), GIVEN_UP), (Loses(), GIVEN_UP), (Refuses(), "RuntimeError: cannot schedule")]
)
def test_an_executor_that_gives_up_is_the_problem_of_each_measurement(workers: Workers, said: str) -> None:
    found = outcomes([Measurement(number, (k,)) for k in range(3)], workers)
    assert [outcome.problem.partition(": ")[2].startswith(said) for outcome in found.values()] == [True] * 3
