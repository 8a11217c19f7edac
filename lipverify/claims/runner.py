"""From claims to a ledger: every distinct measurement once, then every claim's verdict."""

from __future__ import annotations

import datetime
import os
import platform
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import PackageNotFoundError, version

from lipverify import __version__
from lipverify.claims.claim import Claim, Task
from lipverify.claims.finished import Finished, fingerprint
from lipverify.claims.ledger import Ledger, Provenance
from lipverify.claims.measurement import Progress, measure
from lipverify.claims.record import record
from lipverify.claims.workers import Given, ThisProcess, Workers, processes
from lipverify.claims.workers import cluster as cluster_at
from lipverify.errors import InvalidInput
from lipverify.loss.montecarlo.backend import backend_named

PACKAGES = ("numpy", "scipy", "sympy", "matplotlib", "typst")


def run(
    claims: Sequence[Claim],
    *,
    profile: str = "quick",
    seed: int = 0,
    backend: str = "numpy",
    jobs: int | None = None,
    executor: Executor | None = None,
    cluster: str | None = None,
    limit: float | None = None,
    finished: Finished | None = None,
    progress: Progress | None = None,
) -> Ledger:
    """Verify claims and return the ledger.

    Measurements run in `jobs` processes (one a processor by default), in any `concurrent.futures.Executor`, or on the
    workers of the Dask scheduler at the address `cluster`; random numbers are addressed by measurement, so the
    ledger's findings do not depend on which. A measurement that raises, takes longer than `limit` seconds or kills its
    process twice spoils the claims that need it, and no other. What `finished` holds is not measured again, and what
    is measured is put there at once.

    Raises
    ------
    InvalidInput
        If `backend` is not known or not available, or the cluster cannot be used.
    """
    backend_named(backend)
    started, clock = datetime.datetime.now(datetime.UTC), time.perf_counter()
    tasks = _tasks(claims)
    with _workers(jobs, executor, cluster) as workers:
        outcomes = measure(tasks, workers, limit=limit, finished=finished, progress=progress)
    return Ledger(
        profile=profile,
        seed=seed,
        backend=backend,
        provenance=Provenance(
            versions=_versions(),
            machine=_machine(),
            started=started.isoformat(timespec="seconds"),
            seconds=round(time.perf_counter() - clock, 1),
        ),
        claims=tuple(record(claim, outcomes) for claim in claims),
    )


def _tasks(claims: Sequence[Claim]) -> dict[str, Task]:
    """Every measurement once, by address."""
    tasks: dict[str, Task] = {}
    for claim in claims:
        for address, task in claim.tasks.items():
            if tasks.setdefault(address, task) != task:
                raise InvalidInput(f"claim {claim.id}: another measurement is called {address}; rename its function.")
    return tasks


def _workers(jobs: int | None, executor: Executor | None, address: str | None) -> AbstractContextManager[Workers]:
    """Who measures."""
    if executor is not None:
        return nullcontext(Given(executor))
    if address is not None:
        return cluster_at(address, fingerprint())
    return nullcontext(ThisProcess()) if jobs == 1 else processes(jobs or os.cpu_count() or 1)


def _machine() -> str:
    """System, processor and Python in one line."""
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    return f"{system}, Python {platform.python_version()}"


def _versions() -> dict[str, str]:
    found = {"lipverify": __version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
