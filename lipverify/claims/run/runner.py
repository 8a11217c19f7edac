"""Verify claims and return a ledger: each distinct measurement runs once, then each claim gets its verdict."""

from __future__ import annotations

import datetime
import os
import platform
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from lipverify.claims.ledger.record import Ledger, Provenance, Record
from lipverify.claims.plan.claim import Claim, Measurement
from lipverify.claims.run.audit import sealed
from lipverify.claims.run.judgment import record
from lipverify.claims.run.kept import Finished
from lipverify.claims.run.measurement import Outcome, measure
from lipverify.claims.run.workers import Given, ThisProcess, Workers, processes, require_usable
from lipverify.claims.run.workers import cluster as cluster_at
from lipverify.errors import InvalidInput
from lipverify.foundation.provenance import fingerprint, provenance
from lipverify.foundation.store import remembering
from lipverify.foundation.validation import chosen
from lipverify.loss.methods import draws
from lipverify.loss.montecarlo.backend import BACKENDS, backend_named


class Running(NamedTuple):
    """A running measurement: its address, the first claim that needs it, and the seconds so far."""

    address: str
    claim: str
    seconds: float


class Watch:
    """Callbacks for every step of a run, called in the main process; the base class ignores them."""

    def measured(self, done: int, total: int) -> None:
        """The number of finished measurements, of those known so far."""

    def running(self, now: Sequence[Running]) -> None:
        """The running measurements, the longest first; called a few times a second."""

    def decided(self, record: Record) -> None:
        """A claim has its verdict."""


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
    title: str = "",
    author: str = "",
    watch: Watch | None = None,
) -> Ledger:
    """Verify claims and return the ledger.

    Measurements run in `jobs` processes (by default one a processor, or one a GPU), in any
    `concurrent.futures.Executor`, or on the workers of the Dask scheduler at the address `cluster`. `jobs=0` runs them
    in this process, for a debugger: there is no time limit then, and a function can end, stop or fork the process.
    Random numbers are derived from the measurement's address, so the ledger's findings do not depend on this choice. A
    measurement that raises, takes longer than `limit` seconds or kills its process twice affects only the claims that
    need it. Results stored in `finished` are not measured again, and new results are stored there at once. `title` and
    `author` are those of the report. `watch` receives every verdict as soon as it is made.

    Raises
    ------
    InvalidInput
        If `backend` is not known or not available, or the executor or the cluster cannot be used.
    """
    started, clock = datetime.datetime.now(datetime.UTC), time.perf_counter()
    deciding = _Deciding(watch or Watch())
    if any(cell.method == "exact" for claim in claims for cell in claim.cells):
        import_module("lipverify.optimum.window")  # it loads SciPy: once, before the processes are forked
    with remembering() as shared, _workers(jobs, executor, cluster, shared, backend, limit) as workers:
        measure(
            deciding.plan(claims),
            workers,
            limit=limit,
            finished=finished,
            progress=deciding.measured,
            beat=deciding.running,
            outcomes=deciding.outcomes,
            needed_by=deciding.needed_by,
        )
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    ledger = Ledger(
        profile=profile,
        seed=seed,
        backend=backend,
        provenance=Provenance(
            versions=provenance(),
            machine=f"{system}, Python {platform.python_version()}",
            started=started.isoformat(timespec="seconds"),
            seconds=round(time.perf_counter() - clock, 1),
        ),
        claims=tuple(deciding.records[index] for index in range(len(claims))),
        title=title,
        author=author,
        symbols={symbol: meaning for claim in claims for symbol, meaning in claim.symbols.items()},
    )
    return sealed(ledger, {claim.id: (len(claim.cells), len(claim.evidence.cross_checks)) for claim in claims})


class _Deciding:
    """The claims of a run and their outstanding measurements: a claim gets its verdict after its last measurement."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.outcomes: dict[str, Outcome] = {}
        self.records: dict[int, Record] = {}
        """By the index of the claim."""
        self._claims: Sequence[Claim] = ()
        self._planned: dict[str, Measurement] = {}
        self._asked: dict[str, list[int]] = {}
        """The indices of the claims that need a measurement."""
        self._waits: dict[int, set[str]] = {}
        """The outstanding measurements of a claim."""

    def plan(self, claims: Sequence[Claim]) -> Iterator[dict[str, Measurement]]:
        """Plan the measurements claim by claim. Two different measurements with the same address are refused."""
        self._claims = claims
        for index in _in_order(claims):
            claim = claims[index]
            for address, measurement in claim.measurements.items():
                if self._planned.setdefault(address, measurement) != measurement:
                    way_out = "rename its function"
                    raise InvalidInput(f"claim {claim.id}: another measurement is called {address}; {way_out}.")
                self._asked.setdefault(address, []).append(index)
            self._waits[index] = {address for address in claim.measurements if address not in self.outcomes}
            yield claim.measurements
            self._decide(index)

    def needed_by(self, address: str) -> list[str]:
        """The ids of the claims, of those planned so far, that need a measurement."""
        return [self._claims[index].id for index in self._asked.get(address, ())]

    def measured(self, done: int, total: int, address: str) -> None:
        """Take note of a finished measurement, and decide the claims that waited only for it."""
        self.watch.measured(done, total)
        for index in self._asked.get(address, ()):
            if index in self._waits:
                self._waits[index].discard(address)
                self._decide(index)

    def running(self, now: Sequence[tuple[str, float]]) -> None:
        """Report each running measurement with the first claim that needs it."""
        first = {address: self._claims[self._asked[address][0]].id for address, _ in now}
        self.watch.running([Running(address, first[address], seconds) for address, seconds in now])

    def _decide(self, index: int) -> None:
        """Decide a claim if it has no outstanding measurements."""
        if not self._waits[index] and index not in self.records:
            self.records[index] = record(self._claims[index], self.outcomes)
            self.watch.decided(self.records[index])


def _in_order(claims: Sequence[Claim]) -> Iterator[int]:
    """The indices of claims, statement by statement; the first few statements by apparent cost.

    The first verdict then comes soon, because the others are planned while it is measured.
    """
    statements: dict[str, list[int]] = {}
    for index, claim in enumerate(claims):
        statements.setdefault(claim.id.partition("/")[0], []).append(index)
    first, rest = list(statements.values())[:3], list(statements.values())[3:]
    for indices in [*sorted(first, key=lambda indices: max(_seems(claims[index]) for index in indices)), *rest]:
        yield from indices


def _seems(claim: Claim) -> tuple[bool, int]:
    """The apparent cost of a claim: sampling and training are slow, and more measurements cost more."""
    slow = any(draws(cell.method) for cell in claim.cells)
    return slow, len(claim.measurements)


def _workers(
    jobs: int | None, executor: Executor | None, address: str | None, shared: Path, backend: str, limit: float | None
) -> AbstractContextManager[Workers]:
    """The workers of a run; processes of this machine share a folder."""
    if address is not None and executor is None:
        return cluster_at(address, fingerprint(), chosen("backend", backend, BACKENDS), limit)
    devices = backend_named(backend).devices()
    if executor is not None:
        if devices:
            require_usable(executor)
        return nullcontext(Given(executor))
    if jobs == 0:
        return nullcontext(ThisProcess())
    return processes(jobs or len(devices) or os.cpu_count() or 1, shared, devices)
