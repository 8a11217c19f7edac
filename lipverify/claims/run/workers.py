"""Who measures: this process, processes of this machine, an executor of the caller's, or a cluster."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle, islice
from multiprocessing.connection import wait
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any, Protocol

from lipverify.errors import InvalidInput
from lipverify.foundation.interruption import SIGNALS
from lipverify.foundation.memory import keep_memory
from lipverify.foundation.provenance import fingerprint
from lipverify.foundation.quoting import shown
from lipverify.foundation.remembered import remember_in

ANSWER = "10s"
"""How long a scheduler has to answer."""
RECONNECTS = 30.0
"""Seconds after which a scheduler that was lost is given up, if Dask has not done so: the same for each call."""
ENDS = 5.0
"""Seconds that processes with nothing left to do have to end: enough for a busy machine."""


class Workers(Protocol):
    """Where calls are run, at most `count` of them at a time."""

    count: int

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run a call; the future fails with a `BrokenExecutor` if what ran it is gone."""
        ...

    def restart(self) -> bool:
        """End whatever runs and begin anew; False where that cannot be done."""
        ...

    def lost(self) -> bool:
        """Whether nothing of what runs will ever end."""
        ...


class ThisProcess:
    """Each call is run when it is submitted."""

    count = 1

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """The call's value, at once."""
        future: Future[Any] = Future()
        future.set_result(function(*arguments))
        return future

    def restart(self) -> bool:
        """Nothing runs when this is asked."""
        return True

    def lost(self) -> bool:
        """Nothing runs when this is asked."""
        return False


class Processes:
    """A pool of processes, which can be ended whatever they are at; what they remember is in the folder `shared`.

    Where there are GPUs, `devices`, each process sees one of them, in turn. It is not forked then: a child of a process
    that has used CUDA, if only to count the GPUs, cannot use it.
    """

    def __init__(self, count: int, shared: Path | None = None, devices: Sequence[str] = ()) -> None:
        self.count, self._shared, self._devices = count, shared, devices
        self._pool = self._begin()

    def _begin(self) -> ProcessPoolExecutor:
        if not self._devices:
            return ProcessPoolExecutor(self.count, initializer=begin_worker, initargs=(self._shared,))
        context = multiprocessing.get_context("spawn")
        dealt = context.SimpleQueue()
        for device in islice(cycle(self._devices), self.count):
            dealt.put(device)
        return ProcessPoolExecutor(self.count, context, initializer=begin_worker, initargs=(self._shared, dealt))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run a call in a process."""
        return self._pool.submit(function, *arguments)

    def restart(self) -> bool:
        """A new pool in place of this one."""
        self.kill()
        self._pool = self._begin()
        return True

    def lost(self) -> bool:
        """The pool tells by itself, future by future."""
        return False

    def kill(self) -> None:
        """End the processes at once."""
        for process in self._processes():
            end_all_of(process.pid)
            process.kill()
        # waiting is short now, and without it the pool's own thread would complain at exit
        self._pool.shutdown(wait=True, cancel_futures=True)

    def close(self) -> None:
        """End the processes, which have nothing left to do, and what a measure left running.

        A thread of a measure's own can hold its process for ever, which is then killed.
        """
        processes, until = self._processes(), time.monotonic() + ENDS
        self._pool.shutdown(wait=False)
        for process in processes:
            process.join(max(0.0, until - time.monotonic()))
            end_all_of(process.pid)
            process.kill()
        self._pool.shutdown()

    def _processes(self) -> list[Any]:
        return list(dict(getattr(self._pool, "_processes", None) or {}).values())


class Given:
    """An executor of the caller's, of any library."""

    def __init__(self, executor: Executor, count: int | None = None) -> None:
        self._executor = executor
        self.count = count or int(getattr(executor, "_max_workers", None) or os.cpu_count() or 1)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run a call wherever the executor runs it."""
        return self._executor.submit(function, *arguments)

    def restart(self) -> bool:
        """It is not ours to end."""
        return False

    def lost(self) -> bool:
        """It is not ours to judge."""
        return False


def require_usable(executor: Executor) -> None:
    """Refuse an executor whose workers cannot use a GPU: forked processes, or several threads.

    Raises
    ------
    InvalidInput
        If it is one of `concurrent.futures` and of that kind.
    """
    context = getattr(executor, "_mp_context", None)
    if context is not None and context.get_start_method() == "fork":
        rule = "CUDA cannot be used in forked processes"
        raise InvalidInput(f"executor: {rule}; give it mp_context=multiprocessing.get_context('spawn').")
    if isinstance(executor, ThreadPoolExecutor) and executor._max_workers > 1:
        raise InvalidInput(f"executor: {executor._max_workers} threads; one gives a GPU all its work, use processes.")


class OfACluster(Given):
    """The workers of a Dask scheduler, which may come and go: a call is made by this process's code or not at all."""

    def __init__(self, client: Any, code: str) -> None:
        super().__init__(client.get_executor(pure=False), sum(client.nthreads().values()))
        self._client, self._code = client, code

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run a call on a worker that has the same code; a ConnectionError if the scheduler is lost."""
        until = time.monotonic() + RECONNECTS
        while self._client.status == "connecting" and time.monotonic() < until:
            time.sleep(0.1)
        if self.lost():
            raise ConnectionError("the scheduler of the cluster is lost")
        return self._executor.submit(_by_the_same_code, self._code, function, *arguments)

    def lost(self) -> bool:
        """Whether the scheduler is: Dask cancels most of what was submitted then, and some of it waits for ever."""
        return str(self._client.status) != "running"


def _by_the_same_code(code: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """A call's value, on a worker that may have joined after the others were asked."""
    if fingerprint() != code:
        raise InvalidInput(f"a worker that joined the cluster {_other(fingerprint(), code)}")
    return function(*arguments)


@contextmanager
def processes(count: int, shared: Path | None = None, devices: Sequence[str] = ()) -> Iterator[Processes]:
    """Processes that are ended at once when this one is interrupted."""
    workers = Processes(count, shared, devices)
    try:
        yield workers
    except BaseException:
        workers.kill()
        raise
    workers.close()


@contextmanager
def cluster(address: str, code: str, backend: str = "numpy") -> Iterator[Given]:
    """The workers of a running Dask scheduler.

    Raises
    ------
    InvalidInput
        If Dask is not installed, nothing answers at the address, there is no worker, the fingerprint of one of them
        is not `code` (its numbers would not be this version's), or one of them cannot use the backend.
    """
    try:
        from dask.distributed import Client
    except ImportError:
        raise InvalidInput("cluster: Dask is not installed; `pip install 'lipverify[dask]'` brings it.") from None
    try:
        client: Any = Client(address, timeout=ANSWER)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidInput(f"cluster = {address!r}: no Dask scheduler answers there ({reason}).") from None
    with _silent("distributed", "tornado"), client:
        if not client.nthreads():
            raise InvalidInput(f"cluster = {address!r}: the scheduler has no worker; start one with `dask worker`.")
        _require_same_code(client, code)
        _require_backend(client, backend)
        yield OfACluster(client, code)


@contextmanager
def _silent(*libraries: str) -> Iterator[None]:
    """Keep what libraries log off the terminal: what was lost is said, on one line, by whoever needed it."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in libraries]
    logs = [logging.getLogger(name) for name in names]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


def _require_same_code(client: Any, code: str) -> None:
    """Refuse workers whose code is not this process's."""
    for worker, theirs in client.run(fingerprint, on_error="return").items():
        if isinstance(theirs, BaseException):
            raise InvalidInput(f"cluster: the worker at {worker} does not say what code it has ({shown(theirs)}).")
        if theirs != code:
            raise InvalidInput(f"cluster: the worker at {worker} {_other(theirs, code)}")


def _require_backend(client: Any, backend: str) -> None:
    """Refuse workers that do not have a backend, or that give a GPU more than one thread."""
    for worker, refusal in client.run(_refusal_of, backend).items():
        threads = client.nthreads()[worker]
        if not refusal and backend == "cupy" and threads > 1:
            refusal = f"{threads} threads; one gives a GPU all its work, begin workers with `dask cuda worker`."
        if refusal:
            raise InvalidInput(f"cluster: the worker at {worker}: {refusal}")


def _refusal_of(backend: str) -> str:
    """Why a backend cannot be used here, or nothing."""
    from lipverify.loss.montecarlo.backend import backend_named  # SciPy comes with it: `lipverify list` needs none

    try:
        backend_named(backend)
    except InvalidInput as error:
        return str(error)
    return ""


def _other(theirs: str, code: str) -> str:
    """What is wrong with a worker of another fingerprint."""
    return (
        "has another version of lipverify or of a library that makes numbers, another processor or another compiler "
        f"({theirs}, here {code}); have the same there as here."
    )


PR_SET_PDEATHSIG = 1
"""prctl(2)."""


def begin_worker(shared: Path | None, devices: SimpleQueue[str] | None = None) -> None:
    """What a process does before its first measurement: it remembers what it finds where the others do.

    Where there are GPUs it takes the next of `devices`, and sees no other.

    Ctrl-C reaches every process of a terminal: the main process decides what becomes of the others. On Linux the kernel
    ends this one with its parent, even inside of compiled code; elsewhere, and where the parent is not the main process
    itself, a thread waits for the pipe that only the main process holds open.
    """
    if devices is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = devices.get()
    remember_in(shared)
    keep_memory()
    with contextlib.suppress(OSError, AttributeError):
        os.setpgid(0, 0)  # what a measure forks belongs to the worker, and ends with it
    for each in SIGNALS:
        signal.signal(each, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None:
        # it may have ended before the kernel was told
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def end_all_of(worker: int) -> None:
    """End a worker's process group: a child that a measure left would hold the worker's pipes open for ever."""
    with contextlib.suppress(OSError, AttributeError):
        os.killpg(worker, signal.SIGKILL)


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
