"""A cluster: the ledger is the same bit for bit on one process, on four, and on the workers of a Dask scheduler."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from lipverify.claims.plan import Measurement, profile_named, select_claims
from lipverify.claims.run import (  # internal: a fingerprint, a wait and a scheduler are replaced
    Outcome,
    measure,
    run,
    runner,
    workers,
)
from lipverify.errors import InvalidInput
from lipverify.foundation.provenance import fingerprint  # internal: the versions that workers must share
from tests.toys import findings

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
WAITS = {"distributed.deploy.lost-worker-timeout": "300s"}
"""By default a `LocalCluster` gives up a worker that does not return in 15 seconds, and a busy machine takes longer."""

PATIENCE = 300.0
"""Seconds after which a measurement that waits for other processes fails."""
PATTERNS = ("softmax.split", "softmax.gaussian-window")


def on_a_cluster(test: Any) -> Any:
    """Mark a test with worker processes: it is slow, and Dask warns about sockets."""
    return pytest.mark.slow(pytest.mark.filterwarnings("ignore")(test))


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a scheduler with two worker processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as local:
        yield local.scheduler_address


@on_a_cluster
def test_one_process_four_processes_and_a_cluster_give_the_same_bits(scheduler: str) -> None:
    claims = select_claims(PATTERNS, profile_named("quick"))
    alone = findings(run(claims, jobs=0))
    assert findings(run(claims, jobs=4)) == alone
    assert findings(run(claims, cluster=scheduler)) == alone


@on_a_cluster
def test_a_cluster_with_other_code_is_refused(scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "fingerprint", lambda: "this process")
    with pytest.raises(InvalidInput, match="another version"):
        run(select_claims(PATTERNS[:1], profile_named("quick")), cluster=scheduler)


@pytest.mark.filterwarnings("ignore")
def test_an_address_where_nothing_answers_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "ANSWER", "1s")
    with pytest.raises(InvalidInput, match="no Dask scheduler answers there") as refusal:
        run(select_claims(PATTERNS[:1], profile_named("quick")), cluster="tcp://127.0.0.1:1")
    assert "\n" not in str(refusal.value)


def kills_its_process(folder: str) -> float:
    """A call that kills its process, once."""
    mark = Path(folder) / "killed"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0


def number(k: int) -> float:
    return float(k)


def kills_every_process() -> float:
    os.kill(os.getpid(), signal.SIGKILL)
    return 1.0


def meets(folder: str, k: int, processes: int) -> int:
    """A call that ends once calls run in this number of processes at the same time."""
    (Path(folder) / f"{os.getpid()}").touch()
    until = time.monotonic() + PATIENCE
    while len(os.listdir(folder)) < processes:
        if time.monotonic() > until:
            raise TimeoutError(f"only {len(os.listdir(folder))} processes measure")
        time.sleep(0.05)
    return os.getpid()


def local(workers: int, **settings: Any) -> Any:
    """A cluster of processes of this machine, each with a nanny that replaces it if it dies."""
    given = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "silence_logs": 50}
    return distributed.LocalCluster(n_workers=workers, **given, **settings)


def on(
    cluster: Any, measurements: Sequence[Measurement], limit: float | None = None, workers_after_one: int = 0
) -> list[Outcome]:
    """The outcomes of measurements on a cluster, which is given this number of workers once one is measured."""

    def scale(done: int, *_: Any) -> None:
        if done == 1 and workers_after_one:
            cluster.scale(workers_after_one)

    plan = [{measurement.address: measurement for measurement in measurements}]
    with workers.cluster(cluster.scheduler_address, fingerprint(), limit=limit) as given:
        found = measure(plan, given, limit=limit, progress=scale)
    return [found[measurement.address] for measurement in measurements]


def meeting(folder: Path, processes: int) -> list[Measurement]:
    """Measurements that end only in this number of processes."""
    return [Measurement(meets, (str(folder), k, processes)) for k in range(2 * processes)]


@on_a_cluster
def test_a_worker_that_is_killed_costs_a_retry_and_its_replacement_measures(tmp_path: Path) -> None:
    (met := tmp_path / "met").mkdir()
    killing = Measurement(kills_its_process, (str(tmp_path),))
    with dask.config.set(WAITS), local(2) as cluster:
        first = {nanny.pid for nanny in cluster.workers.values()}
        results = [outcome.result for outcome in on(cluster, [killing, *meeting(met, 2)])]
    assert results[0] == 1.0
    assert len(first.intersection(map(int, os.listdir(met)))) == 1
    assert len(os.listdir(met)) == 2


@on_a_cluster
def test_a_measurement_that_kills_every_worker_fails_alone() -> None:
    """Dask blames a call that waited behind it for the death of their worker too; it is measured."""
    measurements = [Measurement(kills_every_process, ()), *(Measurement(number, (k,)) for k in range(4))]
    with dask.config.set({**WAITS, "distributed.scheduler.allowed-failures": 0}), local(1) as cluster:
        killing, *others = on(cluster, measurements)
    assert "was killed twice, the second time alone" in killing.problem
    assert [outcome.result for outcome in others] == [0.0, 1.0, 2.0, 3.0]


@on_a_cluster
def test_workers_that_join_later_measure(tmp_path: Path) -> None:
    with local(1) as cluster:
        outcomes = on(cluster, [Measurement(number, (0,)), *meeting(tmp_path, 3)], workers_after_one=3)
    assert [outcome.problem for outcome in outcomes] == [""] * len(outcomes)


@on_a_cluster
def test_an_adaptive_cluster_begins_with_no_worker_and_grows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with local(0) as cluster:
        cluster.adapt(minimum=0, maximum=2)
        outcomes = on(cluster, meeting(tmp_path, 2), limit=PATIENCE)
    assert [outcome.problem for outcome in outcomes] == [""] * len(outcomes)
    assert capsys.readouterr().err.splitlines()[0] == "lipverify: the cluster has no worker; waiting for one."


class Scheduler:
    """A client of a scheduler whose workers begin no call."""

    status, id = "running", "this"

    def __init__(self) -> None:
        self.threads: dict[str, int] = {}
        self.begin: Any = None

    def get_executor(self, pure: bool) -> Any:
        return self

    def submit(self, *call: Any) -> Future[Any]:
        return Future()

    def nthreads(self) -> dict[str, int]:
        return self.threads

    def subscribe_topic(self, topic: str, begin: Any) -> None:
        self.begin = begin


def test_the_number_of_calls_follows_the_threads_of_the_cluster(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workers, "LOOKS", 0.0)
    scheduler, counts = Scheduler(), []
    given = workers.OfACluster(scheduler, "code", "numpy", None)
    for threads in ({}, {}, {"a": 1}, {"a": 1, "b": 2}, {}):
        scheduler.threads = threads
        given.wait([], 0.0)
        counts.append(given.count)
    assert counts == [1, 1, 2, 6, 1]
    assert capsys.readouterr().err.count("waiting for one") == 2


def test_the_time_of_a_call_begins_with_the_call_unless_every_thread_is_stuck() -> None:
    scheduler = Scheduler()
    given = workers.OfACluster(scheduler, "code", "numpy", 1e9)
    first, second = given.submit(number, 0), given.submit(number, 1)
    scheduler.begin((0.0, 1))
    assert (given.begun(first), given.begun(second)) == (False, True)
    stuck = workers.OfACluster(Scheduler(), "code", "numpy", -1.0)  # nothing began since then
    assert stuck.begun(stuck.submit(number, 0))
