"""Verification on GPUs, tested without one: processes that are not forked, one device each, and failing devices."""

from __future__ import annotations

import json
import multiprocessing
import re
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from lipverify import Problem, loss_terms
from lipverify.claims.run import run
from lipverify.errors import DeviceLost, InvalidInput
from lipverify.laws import ReLU
from tests.commands import Commands, kept_in

pytestmark = pytest.mark.usefixtures("no_reports")
TEXT = dedent("""\
    from lipverify import Problem, loss_terms
    from lipverify.claims import bound, claim
    from lipverify.laws import ReLU

    def noise(n, seed, contexts, backend):
        drawn = {"contexts": contexts // 50, "seed": seed, "backend": backend}
        terms = loss_terms(Problem(d=3, n=n, law=ReLU()), 2.0, "montecarlo", **drawn)
        return terms.noise, terms.noise_error

    claim("mine.noise", bound(noise, "noise", high="1", control="1 / n"), over={"n": (5, 10, 20, 40)},
          source=("My notes", "Lemma 1", "smaller"), kind="printed", expected="supported")
    """)
LOSS = ("loss", "--d", "3", "--n", "20", "--w", "2", "--method", "montecarlo", "--contexts", "600", "--json")


def sampled() -> float:
    return float(loss_terms(Problem(d=3, n=5, law=ReLU()), 2.0, "montecarlo", contexts=60, backend="cupy").noise)


def cells(folder: Path) -> Any:
    return json.loads((folder / "ledger.json").read_text())["claims"][0]["cells"]


def test_a_forked_child_of_a_process_that_used_its_device_cannot_use_it(cupy: Any) -> None:
    """The stand-in enforces CUDA's rule; its error can be pickled with its causes, as Dask does."""
    pytest.importorskip("distributed.utils")
    assert sampled() > 0
    with (
        ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as forked,
        pytest.raises(DeviceLost, match=r"initialization error.*use --backend numpy\.$"),
    ):
        forked.submit(sampled).result()


def forked() -> Executor:
    return ProcessPoolExecutor(1, multiprocessing.get_context("fork"))


@pytest.mark.parametrize(
    ("make", "message"), [(forked, "forked.*'spawn'"), (lambda: ThreadPoolExecutor(2), "2 threads.*processes")]
)
def test_executors_that_cannot_use_a_gpu_are_refused(cupy: Any, make: Any, message: str) -> None:
    with make() as executor, pytest.raises(InvalidInput, match=message):
        run((), backend="cupy", executor=executor)


@pytest.mark.slow
def test_each_process_has_one_gpu_and_their_number_changes_no_bit(
    cupy: Any, lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(TEXT)
    monkeypatch.setenv("CUPY_STAND_IN_DEVICES", "2")
    log = tmp_path / "log"
    monkeypatch.setenv("CUPY_STAND_IN_LOG", str(log))
    answers = []
    for visible, jobs in ((None, ()), ("GPU-b,GPU-a", ("--jobs", "3")), ("1", ("--jobs", "1"))):
        log.unlink(missing_ok=True)
        if visible:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        out = tmp_path / str(visible)
        done = lipverify("verify", str(tmp_path / "mine.py"), "--backend", "cupy", "--out", str(out), *jobs)
        assert done.returncode == 0, done.stderr
        answers.append(cells(out))
        used = [line.split(" ")[1] for line in log.read_text().splitlines() if "," not in line.split(" ")[1]]
        assert set(filter(None, used)) <= set((visible or "0,1").split(","))
        assert len(set(filter(None, used))) > (visible != "1")
    assert answers[0] == answers[1] == answers[2]


@contextmanager
def cluster_of_gpus(count: int) -> Iterator[str]:
    """The address of a scheduler with one worker per GPU, started as Dask-CUDA does it.

    A worker is a process with one thread. It sees a list of all GPUs that begins with its own.
    """
    distributed = pytest.importorskip("distributed")
    gpus = [f"GPU-{name}" for name in "abc"[:count]]
    visible = [",".join(gpus[place:] + gpus[:place]) for place in range(count)]
    options = [{"nthreads": 1, "env": {"CUDA_VISIBLE_DEVICES": each}, "dashboard_address": None} for each in visible]
    workers = {place: {"cls": distributed.Nanny, "options": each} for place, each in enumerate(options)}
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": None, "dashboard": False, "port": 0}}
    with distributed.SpecCluster(workers, scheduler, silence_logs=50) as local:
        yield local.scheduler_address


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own warnings about sockets
def test_workers_of_a_cluster_have_one_gpu_each_and_their_number_changes_no_bit(
    cupy: Any, lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(TEXT)
    monkeypatch.setenv("CUPY_STAND_IN_DEVICES", "3")
    answers = []
    for count in (1, 2, 3):
        log, out = tmp_path / f"log {count}", tmp_path / str(count)
        monkeypatch.setenv("CUPY_STAND_IN_LOG", str(log))
        with cluster_of_gpus(count) as address:
            asked = ("verify", str(tmp_path / "mine.py"), "--backend", "cupy", "--cluster", address)
            done = lipverify(*asked, "--out", str(out))
        assert done.returncode == 0, done.stderr
        answers.append(cells(out))
        used = [line.split(" ")[1].split(",")[0] for line in log.read_text().splitlines()]
        assert sorted(used) == ["GPU-a", "GPU-b", "GPU-c"][:count], "a process a GPU, and none but workers"
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"BYTES": "8"}, "memory of the GPU does not suffice.*ask for fewer values of w"),
        ({"FAULT": "source at compiling"}, "does not compile or run.*install the extra cuda12 or cuda13"),
        ({"FAULT": "old driver at compiling"}, "does not compile or run.*that fits the driver"),
        ({"FAULT": "time-out at n = 20"}, "LaunchTimeout.*use a GPU that drives no display"),
        ({"FAULT": "illegal address at n = 20"}, "illegal memory access.*start again"),
        ({"FAULT": "no memory for the context at n = 20"}, "memory of the GPU.*end what else uses it"),
        ({"FAULT": "no memory for a product at n = 20"}, "memory of the GPU.*CUBLAS_STATUS_ALLOC_FAILED"),
        ({"FAULT": "no cuBLAS at n = 20"}, "does not compile or run here .libcublas.*install the extra"),
        ({"FAULT": "no NVRTC at compiling"}, "does not compile or run here .Failure finding.*install the extra"),
        ({"NVRTC": "missing"}, "finds no NVRTC.*cuda12 or cuda13"),
        ({"DEVICES": "0"}, r"sees no device: cudaErrorNoDevice: no CUDA-capable device is detected\)"),
        ({"DRIVER": "old"}, "sees no device: cudaErrorInsufficientDriver: CUDA driver version is insufficient"),
    ],
)
def test_a_failure_on_a_device_is_reported_in_one_line(
    cupy: Any, lipverify: Commands, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], message: str
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"CUPY_STAND_IN_{name}", value)
    done = lipverify(*LOSS, "--backend", "cupy")
    assert done.returncode == 2
    [line] = [each for each in done.stderr.splitlines() if each.startswith("lipverify")]
    assert re.search(message, line), line
    assert line.endswith("use --backend numpy.")
    assert "Traceback" not in done.stderr


BANNER = "raise ImportError('=' * 64 + '\\nFailed to import CuPy.\\n') from ImportError('libcuda.so.1: cannot open')"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "CuPy is not installed, the extra cuda12 or cuda13 brings it"),
        (BANNER, "CuPy is installed but fails to import: libcuda.so.1: cannot open"),
        ("import no_such_library", "CuPy is installed but fails to import: No module named 'no_such_library'"),
        ("import math; math.NAN", "CuPy is installed but fails to import: module 'math' has no attribute 'NAN'"),
        ("from cupy import core", "CuPy is installed but fails to import: cannot import name 'core'"),
    ],
)
def test_a_missing_cupy_is_told_from_one_that_fails_to_import(
    lipverify: Commands, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str | None, message: str
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "cupy"]:
        monkeypatch.delitem(sys.modules, name)
    if source is None:
        monkeypatch.setitem(sys.modules, "cupy", None)
    else:
        (tmp_path / "cupy.py").write_text(source)
        monkeypatch.syspath_prepend(str(tmp_path))
    done = lipverify(*LOSS, "--backend", "cupy")
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert f"no usable GPU was found ({message}" in line


def test_little_memory_gives_smaller_chunks_and_the_same_bits(
    cupy: Any, lipverify: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = lipverify(*LOSS, "--backend", "cupy")
    monkeypatch.setenv("CUPY_STAND_IN_BYTES", "640")  # 600 contexts are 150 bundles, of 1200 bytes per term
    few = lipverify(*LOSS, "--backend", "cupy")
    assert whole.returncode == few.returncode == 0
    assert json.loads(whole.stdout) == json.loads(few.stdout)


@pytest.mark.parametrize("fault", ["memory", "no memory for the context", "no memory for a kernel"])
def test_a_failed_allocation_frees_the_pool_and_is_repeated(cupy: Any, fault: str) -> None:
    """CUDA has several names for the error. The library's memory pool can leave too little for a kernel's code."""
    whole, before = sampled(), cupy.State.uses
    for late in range(2, 12):
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("CUPY_STAND_IN_FAULT", f"{fault} at use {cupy.State.uses + late}")
            assert sampled() == whole
    assert cupy.State.uses > before


@pytest.mark.parametrize("jobs", ["0", "1"])
def test_a_lost_device_costs_one_measurement_if_another_process_continues(
    cupy: Any, lipverify: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    (tmp_path / "mine.py").write_text(TEXT)
    monkeypatch.setenv("CUPY_STAND_IN_FAULT", "illegal address at n = 10")
    out = str(tmp_path / "out")
    done = lipverify("verify", str(tmp_path / "mine.py"), "--backend", "cupy", "--jobs", jobs, "--out", out)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    problem = json.loads((tmp_path / "out" / "ledger.json").read_text())["claims"][0]["problem"]
    assert "DeviceLost: backend = 'cupy': the GPU failed (cudaErrorIllegalAddress" in problem
    assert kept_in(tmp_path / "out") == (3 if jobs == "1" else 1), "all but one, or what was measured before it"
    monkeypatch.delenv("CUPY_STAND_IN_FAULT")
    again = ("verify", str(tmp_path / "mine.py"), "--backend", "numpy", "--jobs", jobs, "--out", out)
    assert lipverify(*again).returncode == 0
