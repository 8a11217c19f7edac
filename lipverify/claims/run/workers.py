"""The workers that run calls: this process, processes of this machine, an executor of the caller, or a cluster."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import logging
import math
import multiprocessing
import os
import pickle
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    InvalidStateError,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import connection
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from lipverify.errors import InvalidInput
from lipverify.foundation.noted import watching
from lipverify.foundation.process import SIGNALS, keep_memory
from lipverify.foundation.provenance import fingerprint
from lipverify.foundation.quoting import shown
from lipverify.foundation.store import remember_in

if TYPE_CHECKING:
    from pebble import ProcessPool

ANSWER = "10s"
"""Time limit for an answer of the scheduler."""
LOOKS = 1.0
"""Seconds between counts of the threads of a cluster: as often as an adaptive cluster decides on its size."""
SOON = 0.02
"""Seconds between checks whether a process has taken a call, which starts the call's time."""
MARK = "LIPVERIFY_RUN"
"""The environment variable by which a run finds the programs that its measurements left behind."""
SLOTS = 64
"""Calls after which a slot is used again, in addition to those that run; a process that is ended no longer writes."""


class Lost(Exception):
    """The worker of a call is gone, and the others are not; where all are, it is a `BrokenExecutor`."""


class Workers:
    """Workers that run at most `count` calls at a time, each of at most `batch` measurements."""

    count = 1
    batch = 1

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Submit a call."""
        raise NotImplementedError

    def begun(self, future: Future[Any]) -> bool:
        """True if the time of a call has begun; by default it begins on submission."""
        return True

    def slot(self, taken: Collection[int]) -> int:
        """A number for a new call, with which it notes the measurement that it has reached; none of the taken ones."""
        return 0

    def reached(self, slot: int) -> int:
        """The position in its call of the measurement that runs; a call that was lost keeps its last one."""
        return 0

    def result(self, future: Future[Any]) -> Any:
        """The value of a call that is done; raises what the call raised, or `Lost`."""
        return future.result()

    def wait(self, futures: Iterable[Future[Any]], seconds: float) -> set[Future[Any]]:
        """Wait until one of the given calls is done, and return those that are."""
        return wait(futures, timeout=seconds, return_when=FIRST_COMPLETED).done

    def restart(self) -> bool:
        """Stop all calls and start again; False if that is impossible."""
        return False

    def lost(self) -> bool:
        """True if no running call will ever end."""
        return False


class ThisProcess(Workers):
    """Run each call in this process on submission; nothing can stop it."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run the call and return its value in a finished future."""
        future: Future[Any] = Future()
        future.set_result(function(*arguments))
        return future


class Processes(Workers):
    """Processes of this machine in pebble's pool: a process that dies loses only its own call and is replaced.

    They share intermediate results in the folder `shared`. Each sees one of the GPUs `devices`, and imports `modules`
    before its first call.
    """

    batch = 64

    def __init__(
        self, count: int, shared: Path | None = None, devices: Sequence[str] = (), modules: Sequence[str] = ()
    ) -> None:
        # a forked child cannot use CUDA if its parent has used it, even only to count the GPUs
        context = multiprocessing.get_context("spawn" if devices else None)
        self._reached, self._calls = context.RawArray("i", SLOTS + count), itertools.count()
        self._mark = f"{os.getpid()}-{secrets.token_hex(8)}"
        self.count, self._begins = count, (shared, tuple(modules), self._reached, self._mark)
        self._context = Start(context, devices)
        self._pool = self._begin()

    def _begin(self) -> ProcessPool:
        from pebble import ProcessPool  # who only imports `verify` does not need it

        return ProcessPool(self.count, initializer=begin_worker, initargs=self._begins, context=self._context)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Submit a call to the pool.

        The call and its value are sent as bytes: pebble would lose a call that cannot be unpickled, together with the
        worker, and on a value that cannot be it would lose the whole pool.
        """
        call = pickle.dumps((function, arguments))
        try:
            return self._pool.schedule(_called, (call,))
        except RuntimeError as error:  # no process could be started, or an idle one was killed
            raise BrokenExecutor(str(error)) from error

    def result(self, future: Future[Any]) -> Any:
        """The value of a call that is done; raises what the call or unpickling the value raised, or `Lost`."""
        from pebble import ProcessExpired

        try:
            return pickle.loads(future.result())
        except ProcessExpired as error:
            raise Lost from error

    def begun(self, future: Future[Any]) -> bool:
        """True if a process has taken the call."""
        return future.running() or future.done()

    def slot(self, taken: Collection[int]) -> int:
        """A place in memory that all processes share."""
        slot = next(slot for call in self._calls if (slot := call % len(self._reached)) not in taken)
        self._reached[slot] = 0
        return slot

    def reached(self, slot: int) -> int:
        """The number that the call wrote there last."""
        return self._reached[slot]

    def wait(self, futures: Iterable[Future[Any]], seconds: float) -> set[Future[Any]]:
        """Wait until one of the given calls is done, and return those that are; replace lost processes meanwhile."""
        futures = list(futures)
        with self._context.may_start():
            super().wait(futures, seconds)
            if not self._pool.active:  # the pool no longer answers: all processes were killed at once
                for future in futures:
                    with contextlib.suppress(InvalidStateError):
                        future.set_exception(BrokenExecutor("its processes were killed"))
        return {future for future in futures if future.done()}

    def value(self, function: Callable[..., Any], *arguments: Any, seconds: float) -> Any:
        """The value of one call, which is stopped with a `TimeoutError` if it takes longer than the limit."""
        future, until = self.submit(function, *arguments), None
        while not self.wait([future], SOON if until is None else max(until - time.monotonic(), 0.0)):
            if until is None and self.begun(future):
                until = time.monotonic() + seconds
            elif until is not None and time.monotonic() >= until:
                future.cancel()
                raise TimeoutError(f"it did not end within {seconds:.2g} s")
        return self.result(future)

    def restart(self) -> bool:
        """Replace the pool by a new one."""
        self.close()
        self._pool = self._begin()
        return True

    def close(self) -> None:
        """Stop the processes at once, whatever they are doing, including processes that measurements left running."""
        with self._context.may_start():
            self._pool.stop()  # type: ignore[no-untyped-call]
            self._pool.join()
        _end_marked(self._mark)


class Start:
    """Control how pebble starts a process: the part of a `multiprocessing` context that pebble uses.

    pebble replaces a process from a separate thread. A fork there would copy the locks that the main thread holds, for
    example that of a module being imported, and the child would wait for them forever. So processes start only while
    the main thread is in `may_start`, where it holds no locks.
    """

    def __init__(self, context: BaseContext, devices: Sequence[str] = ()) -> None:
        self.Pipe, self.RLock, self.get_start_method = context.Pipe, context.RLock, context.get_start_method
        self._new: Callable[..., Any] = context.Process  # type: ignore[attr-defined]
        self._devices, self._started = devices, list[Worker]()
        self._busy = threading.RLock()
        self._busy.acquire()

    def Process(self, target: Callable[..., Any], args: tuple[Any, ...], **how: Any) -> Worker:
        """A process, ready to start, that sees the GPU which the fewest other processes see."""
        self._started = [worker for worker in self._started if worker.is_alive()]
        if self._devices:
            device = min(self._devices, key=[worker.device for worker in self._started].count)
            worker = Worker(self._new(target=_seeing, args=(device, target, *args), **how), self._busy, device)
        else:
            worker = Worker(self._new(target=target, args=args, **how), self._busy)
        self._started.append(worker)
        return worker

    @contextmanager
    def may_start(self) -> Iterator[None]:
        """Allow other threads to start processes in this block."""
        with contextlib.suppress(RuntimeError):  # it is not held: an interruption came while it was waited for
            self._busy.release()
        try:
            yield
        finally:
            self._busy.acquire()


class Worker:
    """A process with the interface that pebble expects; its own child processes end with it."""

    def __init__(self, process: Any, busy: Any, device: str = "") -> None:
        self._process, self._busy, self.device = process, busy, device
        self._group_ended = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._process, name)

    def start(self) -> None:
        """Start the process, from any thread."""
        with self._busy:
            self._process.start()

    @property
    def exitcode(self) -> int | None:
        """The exit code, never 0, because a worker does not end by itself before it is asked to."""
        code = self._process.exitcode
        return 1 if code == 0 else code  # pebble takes 0 for a requested end and keeps waiting

    def is_alive(self) -> bool:
        """True if the process runs. If it does not, its remaining child processes are stopped."""
        alive = bool(self._process.is_alive())
        if not alive:
            self._end_group()
        return alive

    def terminate(self) -> None:
        """Stop the process, even inside compiled code."""
        self._end_group()
        self._process.kill()

    def _end_group(self) -> None:
        """Kill the process group, only once, because its number may be reused by another process."""
        if self._process.pid is not None and not self._group_ended:
            self._group_ended = True
            with contextlib.suppress(OSError, AttributeError):
                os.killpg(self._process.pid, signal.SIGKILL)


def _seeing(device: str, target: Callable[..., Any], *args: Any) -> None:
    os.environ["CUDA_VISIBLE_DEVICES"] = device
    target(*args)


def _called(call: bytes) -> bytes:
    function, arguments = pickle.loads(call)
    return pickle.dumps(function(*arguments))


class Given(Workers):
    """An executor of any library, supplied by the caller."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.count = int(getattr(executor, "_max_workers", None) or os.cpu_count() or 1)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Submit a call to the executor."""
        return self._executor.submit(function, *arguments)


def require_usable(executor: Executor) -> None:
    """Refuse an executor whose workers cannot use a GPU: forked processes, or several threads."""
    context = getattr(executor, "_mp_context", None)
    if context is not None and context.get_start_method() == "fork":
        rule = "CUDA cannot be used in forked processes"
        raise InvalidInput(f"executor: {rule}; give it mp_context=multiprocessing.get_context('spawn').")
    if isinstance(executor, ThreadPoolExecutor) and executor._max_workers > 1:
        raise InvalidInput(f"executor: {executor._max_workers} threads; one thread keeps a GPU busy, so use processes.")


class OfACluster(Given):
    """The workers of a Dask scheduler, which may join and leave; a call runs only on a worker with the same code.

    Twice as many calls are submitted as there are threads, because an adaptive cluster grows only while calls wait.
    """

    def __init__(self, client: Any, code: str, backend: str, limit: float | None) -> None:
        super().__init__(client.get_executor(pure=False))
        self._client, self._needs, self._limit = client, (code, backend), limit
        self.count, self._looked, self._empty = 1, -math.inf, False
        self._moved = time.monotonic()
        """When a call was submitted or begun last, or there was no worker."""
        self._numbers: WeakKeyDictionary[Future[Any], int] = WeakKeyDictionary()
        self._topic, self._counter, self._begun = f"lipverify-{client.id}", itertools.count(), set[int]()
        client.subscribe_topic(self._topic, self._begin)

    def _begin(self, event: tuple[float, int]) -> None:
        """Take note that a worker has begun the call with this number."""
        self._begun.add(event[1])
        self._moved = time.monotonic()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Submit a call to a worker that has the same code; raises ConnectionError if the scheduler is lost."""
        until = time.monotonic() + 30.0  # then a lost scheduler is given up, if Dask has not done so already
        while self._client.status == "connecting" and time.monotonic() < until:
            time.sleep(0.1)
        if self.lost():
            raise ConnectionError("the scheduler of the cluster is lost")
        self._moved, number = time.monotonic(), next(self._counter)
        future = super().submit(_on_a_worker, self._needs, self._topic, number, function, *arguments)
        self._numbers[future] = number
        return future

    def begun(self, future: Future[Any]) -> bool:
        """True if a worker has begun the call, or if none begins any because all are stuck in calls given up."""
        stuck = self._limit is not None and time.monotonic() - self._moved > self._limit
        return stuck or self._numbers[future] in self._begun

    def result(self, future: Future[Any]) -> Any:
        """The value of a call that is done; raises `Lost` if Dask gave it up because its workers died."""
        from distributed import KilledWorker

        try:
            return super().result(future)
        except KilledWorker as error:
            raise Lost from error

    def wait(self, futures: Iterable[Future[Any]], seconds: float) -> set[Future[Any]]:
        """Wait until one of the given calls is done, and return those that are; count the threads once a second."""
        now = time.monotonic()
        if now - self._looked >= LOOKS and not self.lost():
            with contextlib.suppress(OSError):  # the scheduler is lost, as `lost` will tell
                threads = sum(self._client.nthreads().values())
                if not threads and not self._empty:
                    print("lipverify: the cluster has no worker; waiting for one.", file=sys.stderr, flush=True)
                self.count, self._empty = max(1, 2 * threads), not threads
                self._moved = self._moved if threads else now
            self._looked = now
        return super().wait(futures, seconds)

    def lost(self) -> bool:
        """True if the scheduler is lost: Dask then cancels most submitted calls, and the rest wait forever."""
        return str(self._client.status) != "running"


def _on_a_worker(needs: tuple[str, str], topic: str, number: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Check a worker of a cluster, which may have joined after the others were checked; report the call and run it."""
    from distributed import get_worker

    worker = get_worker()
    if refusal := _refusal(*needs, worker):
        raise InvalidInput(f"a worker that joined the cluster {refusal}")
    worker.log_event(topic, number)
    return function(*arguments)


@contextmanager
def processes(
    count: int, shared: Path | None = None, devices: Sequence[str] = (), modules: Sequence[str] = ()
) -> Iterator[Processes]:
    """Processes that are stopped at the end of the block, however it ends."""
    workers = Processes(count, shared, devices, modules)
    try:
        yield workers
    finally:
        workers.close()


@contextmanager
def cluster(address: str, code: str, backend: str = "numpy", limit: float | None = None) -> Iterator[OfACluster]:
    """The workers of a running Dask scheduler; `limit` is the longest time in seconds for one measurement."""
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
        for worker, refusal in client.run(_refusal, code, backend, on_error="return").items():
            if refusal:
                stated = refusal if isinstance(refusal, str) else f"does not state its code ({shown(refusal)})."
                raise InvalidInput(f"cluster: the worker at {worker} {stated}")
        yield OfACluster(client, code, backend, limit)


@contextmanager
def _silent(*libraries: str) -> Iterator[None]:
    """Keep log messages of libraries off the terminal; the caller reports losses on one line."""
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


def _refusal(code: str, backend: str, dask_worker: Any) -> str:
    """The reason why a worker of a cluster, which calls this, cannot be used; empty if it can."""
    from lipverify.loss.montecarlo.backend import backend_named  # imports SciPy, which `lipverify list` does not need

    if fingerprint() != code:
        return (
            "has another version of lipverify or of a library that makes numbers, another processor or another "
            f"compiler ({fingerprint()}, here {code}); use the same there as here."
        )
    threads = dask_worker.state.nthreads
    if backend == "cupy" and threads > 1:
        return f"has {threads} threads; one thread keeps a GPU busy, so start workers with `dask cuda worker`."
    try:
        backend_named(backend)
    except InvalidInput as error:
        return f"cannot use the backend: {error}"
    return ""


_reached: Any = None


def reach(slot: int, position: int) -> None:
    """Note, in a process of a pool, that a call has reached its measurement at this position."""
    if _reached is not None:
        _reached[slot] = position


def _end_marked(mark: str) -> None:
    """Kill the programs that measurements started in sessions of their own, which inherit the mark (Linux)."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)


def begin_worker(shared: Path | None, modules: Sequence[str] = (), reached: Any = None, mark: str = "") -> None:
    """Prepare a worker process before its first measurement: shared results, signals, and an end with the main process.

    Ctrl-C reaches every process of a terminal, so workers ignore it and the main process stops them. On Linux the
    kernel ends this process with its parent, even inside compiled code. Elsewhere, and if the parent is not the main
    process, a thread waits for the end of a pipe that only the main process holds open.
    """
    global _reached
    _reached = reached
    os.environ[MARK] = mark
    remember_in(shared)
    keep_memory()
    with contextlib.suppress(OSError, AttributeError):
        os.setpgid(0, 0)  # processes forked by a measurement belong to the worker's group and end with it
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)  # 1 is PR_SET_PDEATHSIG: when its parent ends
    if parent is not None:
        # the parent may have ended before prctl was called
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    for module in modules:
        import_module(module)
    with watching():
        pass  # import what watching needs now, so that it is not counted as part of a measurement


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
