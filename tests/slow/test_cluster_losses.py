"""A cluster that loses workers or its scheduler, or gets one of another version: the run goes on, or says why not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from lipverify.claims.run.kept import NAME  # internal: the file of unfinished work must be gone
from tests.cli.test_survival import ENVIRONMENT, LOGGED, ends, findings, start
from tests.commands import kept_in
from tests.slow.rounds import ROUNDS, dice
from tests.slow.test_surroundings import sound

pytest.importorskip("distributed")
pytestmark = pytest.mark.nightly
OTHER_NUMPY = """\
import importlib.metadata as metadata
right = metadata.version
metadata.version = lambda name: "1.0" if name == "numpy" else right(name)
"""
"""As `sitecustomize`: an installation with another version of NumPy."""
HELD = LOGGED.replace(
    "    return x", '    while x == 0.8 and __import__("os").path.exists("hold"):\n        sleep(0.05)\n    return x'
)
"""The same measurements, the last of which does not end as long as a file `hold` exists."""


@contextmanager
def process(folder: Path, module: str, *arguments: str, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Dask process, which is killed at the end."""
    running = subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{module}", *arguments],
        env={**ENVIRONMENT, **more}, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield running
    finally:
        running.kill()
        running.wait()


class Cluster:
    """A scheduler and workers, each a process that can be killed."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.file, self.stack = folder / "scheduler.json", stack
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._begin("dask_scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1")

    def _begin(self, module: str, *arguments: str, **more: str) -> subprocess.Popen[bytes]:
        where = ("--scheduler-file", str(self.file))
        return self.stack.enter_context(process(self.file.parent, module, *where, *arguments, **more))

    def ready(self) -> str:
        """The address of the scheduler, once all live workers have connected."""
        from distributed import Client

        with Client(scheduler_file=str(self.file), timeout="60s") as client:
            client.wait_for_workers(sum(worker.poll() is None for worker in self.workers), timeout=60)
            return str(client.scheduler.address)

    def add(self, **environment: str) -> None:
        """Start one more worker, with its own environment."""
        arguments = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        self.workers.append(self._begin("dask_worker", *arguments, **environment))

    def measures(self, folder: Path, *options: str) -> subprocess.Popen[str]:
        return start(folder, HELD, *options, workers=("--cluster", self.ready()))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Two workers and their scheduler."""
    with ExitStack() as stack:
        made = Cluster(tmp_path, stack)
        until = time.monotonic() + 60
        while not made.file.exists() and time.monotonic() < until:
            time.sleep(0.05)
        for _ in range(2):
            made.add()
        yield made


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("whole")
    assert ends(start(folder, HELD))[0] == 0
    return findings(folder / "out" / "ledger.json")


def wait_for(folder: Path, kept: int, running: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 120
    while kept_in(folder / "out") < kept and running.poll() is None and time.monotonic() < until:
        time.sleep(0.02)


def ours(stderr: str) -> list[str]:
    """The output of a run about a failure."""
    return [line for line in stderr.splitlines() if line.startswith("lipverify:")]


@pytest.mark.parametrize("k", range(max(1, ROUNDS // 20)))
def test_a_worker_that_dies(tmp_path: Path, cluster: Cluster, whole: list[dict[str, Any]], k: int) -> None:
    running = cluster.measures(tmp_path)
    wait_for(tmp_path, dice("worker", k).randrange(7), running)
    cluster.workers[0].kill()
    code, _, stderr = ends(running)
    assert code == 0
    assert sound(stderr)
    assert findings(tmp_path / "out" / "ledger.json") == whole


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("k", range(max(1, ROUNDS // 20)))
def test_a_scheduler_that_dies(
    tmp_path: Path, cluster: Cluster, whole: list[dict[str, Any]], number: signal.Signals, k: int
) -> None:
    (tmp_path / "hold").touch()
    running = cluster.measures(tmp_path)
    wait_for(tmp_path, 1 + dice("scheduler", k).randrange(5), running)
    os.kill(cluster.scheduler.pid, number)
    code, stdout, stderr = ends(running)
    assert sound(stderr)
    assert code == 3
    assert "scheduler" in stdout, "the reason stands with what could not be measured"
    assert len(ours(stderr)) == 1
    assert "--resume" in ours(stderr)[0]
    assert kept_in(tmp_path / "out") >= 1
    (tmp_path / "hold").unlink()
    assert ends(start(tmp_path, HELD, "--resume"))[0] == 0
    assert findings(tmp_path / "out" / "ledger.json") == whole


def test_workers_that_all_die_are_waited_for(tmp_path: Path, cluster: Cluster, whole: list[dict[str, Any]]) -> None:
    (tmp_path / "hold").touch()
    running = cluster.measures(tmp_path)
    wait_for(tmp_path, 2, running)
    for worker in cluster.workers:
        worker.kill()
    (tmp_path / "hold").unlink()
    cluster.add()
    code, _, stderr = ends(running)
    assert code == 0
    assert sound(stderr)
    assert findings(tmp_path / "out" / "ledger.json") == whole


def other_versions(folder: Path) -> Mapping[str, str]:
    """An environment with another version of NumPy."""
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(OTHER_NUMPY)
    return {"PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}


def other_settings(folder: Path) -> Mapping[str, str]:
    """An environment in which NumPy sums in another order."""
    return {"NPY_DISABLE_CPU_FEATURES": "AVX2"}


@pytest.mark.parametrize("other", [other_versions, other_settings])
def test_a_worker_with_other_versions_is_refused(tmp_path: Path, cluster: Cluster, other: Any) -> None:
    cluster.add(**other(tmp_path))
    code, stdout, stderr = ends(cluster.measures(tmp_path))
    assert (code, stdout) == (2, "")
    assert len(stderr.splitlines()) == 1
    assert "has another version" in stderr
    assert not (tmp_path / "out" / NAME).exists()


def test_a_late_worker_with_other_versions_measures_nothing(
    tmp_path: Path, cluster: Cluster, whole: list[dict[str, Any]]
) -> None:
    (tmp_path / "hold").touch()
    running = cluster.measures(tmp_path)
    wait_for(tmp_path, 1, running)
    for worker in cluster.workers:
        worker.kill()
    cluster.add(**other_versions(tmp_path))
    code, stdout, stderr = ends(running)
    assert sound(stderr)
    assert code == 3
    assert "another version" in " ".join(stdout.split())
    (tmp_path / "hold").unlink()
    assert ends(start(tmp_path, HELD, "--resume"))[0] == 0
    assert findings(tmp_path / "out" / "ledger.json") == whole
