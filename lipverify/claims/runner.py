"""From claims to a ledger: every distinct measurement once, then every claim's verdict."""

from __future__ import annotations

import datetime
import multiprocessing
import os
import platform
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from lipverify import __version__
from lipverify.claims.claim import CellPlan, Claim, CrossPlan, Task
from lipverify.claims.finished import Finished
from lipverify.claims.ledger import Cell, Control, CrossCheck, Ledger, Provenance, Record
from lipverify.claims.verdict import Interval, conclude, decide, margin
from lipverify.loss.montecarlo.backend import backend_named

Progress = Callable[[int, int, str], None]
PACKAGES = ("numpy", "scipy", "sympy", "matplotlib", "typst")
ALARM_FACTOR = 2.0


def run(
    claims: Sequence[Claim],
    *,
    profile: str = "quick",
    seed: int = 0,
    backend: str = "numpy",
    jobs: int | None = None,
    executor: Executor | None = None,
    finished: Finished | None = None,
    progress: Progress | None = None,
) -> Ledger:
    """Verify claims and return the ledger.

    Measurements run in `jobs` processes (one a processor by default), or in any
    `concurrent.futures.Executor`; random numbers are addressed by measurement, so the ledger's findings do
    not depend on which. A measurement that raises spoils the claims that need it, and no other. What `finished`
    holds is not measured again, and what is measured is put there at once.

    Raises
    ------
    InvalidInput
        If `backend` is not known or not available.
    """
    backend_named(backend)
    started, clock = datetime.datetime.now(datetime.UTC), time.perf_counter()
    tasks = {address: task for claim in claims for address, task in claim.tasks.items()}
    if executor is not None:
        results, seconds = _measure(tasks, executor, finished, progress)
    elif jobs == 1:
        results, seconds = _measure(tasks, _Inline(), finished, progress)
    else:
        with _processes(jobs or os.cpu_count()) as pool:
            results, seconds = _measure(tasks, pool, finished, progress)
    records = tuple(_record(claim, results, seconds) for claim in claims)
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
        claims=records,
    )


@contextmanager
def _processes(count: int | None) -> Iterator[Executor]:
    """A pool of processes that an interruption ends at once, whatever they are at."""
    pool = ProcessPoolExecutor(count, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))
    try:
        yield pool
    except BaseException:
        for child in multiprocessing.active_children():
            child.terminate()
        # waiting is short now, and without it the pool's own thread would complain at exit
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()


class _Inline(Executor):
    """Runs each task when it is submitted, in this process."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future


def _timed(task: Task) -> tuple[Any, str, float]:
    """(result, what went wrong, seconds): an exception is a result, so that it travels between processes."""
    clock = time.perf_counter()
    try:
        return task.run(), "", time.perf_counter() - clock
    except Exception as error:  # a broken check must not cost the other claims their evidence
        return None, f"{task.address}: {type(error).__name__}: {error}", time.perf_counter() - clock


def _measure(
    tasks: dict[str, Task], executor: Executor, finished: Finished | None, progress: Progress | None
) -> tuple[dict[str, Any], dict[str, float]]:
    """Results (or `_Broken`) and seconds by address."""
    results: dict[str, Any] = {}
    seconds: dict[str, float] = {}
    for address, task in tasks.items():
        kept = finished.get(task) if finished is not None else None
        if kept is not None:
            results[address], seconds[address] = kept
    if progress is not None:
        progress(len(results), len(tasks), "")
    futures = {executor.submit(_timed, task): address for address, task in tasks.items() if address not in results}
    for future in as_completed(futures):
        address = futures[future]
        result, problem, seconds[address] = future.result()
        results[address] = _Broken(problem) if problem else result
        if finished is not None and not problem:
            finished.put(tasks[address], result, seconds[address])
        if progress is not None:
            progress(len(results), len(tasks), address)
    return results, seconds


class _Broken(str):
    """What went wrong with a measurement, in place of its result."""


def _record(claim: Claim, results: dict[str, Any], seconds: dict[str, float]) -> Record:
    """The verdict on one claim, with everything that led to it."""
    mine = {address: results[address] for address in claim.tasks}
    cost = sum(seconds[address] for address in mine)
    problem = next((str(result) for result in mine.values() if isinstance(result, _Broken)), "")
    if problem:
        return _describe(claim, cost, verdict="error", problem=problem, caught=False)
    try:
        cells = tuple(_cell(plan, mine[plan.task.address]) for plan in claim.cells)
        crossed = tuple(_cross_check(plan, mine) for plan in claim.cross_checks)
        caught = all(cell.control == "refuted" for cell in cells)
        verdict = conclude((c.verdict for c in cells), (c.control for c in cells), (c.agrees for c in crossed))
        return _describe(
            claim,
            cost,
            verdict=verdict,
            caught=caught,
            measured=claim.summary(mine) if claim.summary else _summary(cells),
            margin=min((c.margin for c in cells if c.margin is not None), default=None),
            cells=cells,
            cross_checks=crossed,
            figures=claim.figures(mine) if claim.figures else (),
            tables=claim.tables(mine) if claim.tables else (),
            finding=_said(claim.finding, mine),
            corrected=_said(claim.corrected, mine),
        )
    except Exception as error:  # as above: one broken claim is one broken record
        return _describe(claim, cost, verdict="error", problem=f"{type(error).__name__}: {error}", caught=False)


def _said(text: Callable[[dict[str, Any]], str] | str, results: dict[str, Any]) -> str:
    """A text of a claim, which may be made from its results."""
    return text if isinstance(text, str) else text(results)


def _describe(claim: Claim, cost: float, *, caught: bool, **outcome: Any) -> Record:
    """A record: the claim's own words and the outcome."""
    fields: dict[str, Any] = {"measured": "", "margin": None, "cells": (), "finding": "", **outcome}
    return Record(
        id=claim.id,
        title=claim.title,
        statement=claim.statement,
        source=claim.source,
        assumptions=claim.assumptions,
        expected=claim.expected,
        claimed=claim.claimed,
        control=Control(statement=claim.control, caught=caught),
        seconds=round(cost, 2),
        reproduce=f"lipverify verify {claim.id}",
        heading=claim.heading,
        **fields,
    )


def _cell(plan: CellPlan, result: Any) -> Cell:
    """One cell's verdict and its control's."""
    reading, twin = plan.read(result, plan.allowed), plan.read(result, plan.control)
    measured, error = _middle(reading.shown or reading.interval)
    return Cell(
        where=plan.where,
        quantity=plan.quantity,
        method=plan.method,
        measured=measured,
        error=error,
        claimed=plan.claimed,
        allowed=plan.allowed,
        verdict=decide(reading.interval, plan.allowed),
        margin=margin(reading.interval, plan.allowed),
        control=decide(twin.interval, plan.control),
        note=reading.note,
    )


def _middle(interval: Interval) -> tuple[float | None, float | None]:
    low, high = interval.low, interval.high
    return (None, None) if low is None or high is None else (float(low + high) / 2, float(high - low) / 2)


def _cross_check(plan: CrossPlan, results: dict[str, Any]) -> CrossCheck:
    """Two methods agree if their values differ by no more than twice their errors together.

    A 95 % half-width is about two standard errors; a run has a dozen such checks, and at four standard
    errors the chance of a false alarm in any of them is below one in a thousand.
    """
    values, errors = plan.read(*(results[task.address] for task in plan.tasks))
    return CrossCheck(
        where=plan.where,
        quantity=plan.quantity,
        methods=plan.methods,
        values=values,
        errors=errors,
        agrees=abs(values[0] - values[1]) <= ALARM_FACTOR * sum(errors),
    )


def _summary(cells: Sequence[Cell]) -> str:
    """What the cells found, in a few words: the range of what was measured, and where that refutes."""
    values = [cell.measured for cell in cells if cell.measured is not None]
    ends = [f"{value:.3g}" for value in (values[0], values[-1])] if values else []
    found = " to ".join(dict.fromkeys(ends))
    refuted = [cell for cell in cells if cell.verdict == "refuted"]
    if refuted:
        dimensions = dict.fromkeys(str(cell.where["d"]) for cell in refuted if "d" in cell.where)
        return f"{found}: refuted at {'d=' + ', '.join(dimensions) if dimensions else 'what was measured'}"
    supported = sum(cell.verdict == "supported" for cell in cells)
    return f"{found}: consistent in {supported} of {len(cells)}"


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
