"""CuPy without a device, over NumPy: with the names, the signatures and the rules of CuPy itself.

Names that CuPy lacks are missing here, and arguments that CuPy refuses raise TypeError: `signatures.json` holds the
output of `record.py` for the real package. Arrays live on a device: NumPy arrays are refused among them, and only `get`
returns them to the host. After a fork, a child process may not use a device that its parent used, as in CUDA.

Kernels are run by `run_kernel(name, grid, block, arguments)`, which a test may replace. Settings are environment
variables, so that worker processes inherit them: CUPY_STAND_IN_DEVICES (the number of devices), CUPY_STAND_IN_LOG (a
file that gets a line with the process and the visible devices at the first use), CUPY_STAND_IN_BYTES (the largest array
that fits), CUPY_STAND_IN_NVRTC ("missing"), CUPY_STAND_IN_DRIVER ("old"), CUPY_STAND_IN_FAULT ("FAULT at WHEN", one of
`FAULTS` at a moment of `fail_at`).
"""

from __future__ import annotations

import inspect
import json
import math
import os
import sys
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

RECORD = json.loads(Path(__file__).with_name("signatures.json").read_text(encoding="utf-8"))
SIGNATURES: dict[str, str] = RECORD["signatures"]
__version__: str = RECORD["version"]
HOST = (np.ndarray,)


class CUDARuntimeError(RuntimeError):
    """An error of the runtime."""


class NVRTCError(RuntimeError):
    """An error of the compiler's library."""


class OutOfMemoryError(MemoryError):
    """Out of memory on the device."""


class CUBLASError(RuntimeError):
    """An error of the linear algebra library."""


class DynamicLibNotFoundError(RuntimeError):
    """A library that is not installed, as NVIDIA's package that searches for it reports it."""


class CompileException(Exception):
    """A source that does not compile."""


class CUDADriverError(RuntimeError):
    """An error of the driver."""


for kind, module in (
    (CUDARuntimeError, "cupy_backends.cuda.api.runtime"),
    (CUDADriverError, "cupy_backends.cuda.api.driver"),
    (NVRTCError, "cupy_backends.cuda.libs.nvrtc"),
    (CUBLASError, "cupy_backends.cuda.libs.cublas"),
    (DynamicLibNotFoundError, "cuda.pathfinder._dynamic_libs.load_dl_common"),
    (OutOfMemoryError, "cupy.cuda.memory"),
    (CompileException, "cupy.cuda.compiler"),
):
    kind.__module__ = module
    # Errors are pickled by the name of their module. Only `import cupy` registers it: pytest, which searches for
    # doctests, imports this file by its own name, and would leave an empty module "cupy".
    if __name__ == "cupy":
        for each in accumulate(module.split("."), "{}.{}".format):
            sys.modules.setdefault(each, ModuleType(each))
        setattr(sys.modules[module], kind.__name__, kind)

FAULTS: dict[str, Exception] = {
    "memory": OutOfMemoryError("Out of memory allocating 8,192 bytes (allocated so far: 1,024 bytes)."),
    "no memory for the context": CUDARuntimeError("cudaErrorMemoryAllocation: out of memory"),
    "no memory for a kernel": CUDADriverError("CUDA_ERROR_OUT_OF_MEMORY: out of memory"),
    "no memory for a product": CUBLASError("CUBLAS_STATUS_ALLOC_FAILED"),
    "no cuBLAS": ImportError("libcublas.so.12: cannot open shared object file: No such file or directory"),
    "no NVRTC": DynamicLibNotFoundError('Failure finding "libnvrtc.so": No such file: libnvrtc.so*'),
    "source": CompileException('/tmp/tmpq/x.cubin.cu(12): error: identifier "h" is undefined\n\n1 error detected.'),
    "compiler": NVRTCError("NVRTC_ERROR_INVALID_OPTION (5)"),
    "old driver": CUDADriverError(
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the provided PTX was compiled with an unsupported"
    ),
    "time-out": CUDARuntimeError("cudaErrorLaunchTimeout: the launch timed out and was terminated"),
    "time-out of the driver": CUDADriverError("CUDA_ERROR_LAUNCH_TIMEOUT: the launch timed out and was terminated"),
    "illegal address": CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered"),
}
STICKY = ("time-out", "time-out of the driver", "illegal address")
"""Faults after which the process cannot use the device any more."""


class State:
    user: int | None = None
    """The process that used the device first."""
    uses = 0
    largest = 0
    """The size of the largest array in bytes."""
    lost: Exception | None = None
    """The error that every use raises from now on."""


def fail_at(when: str) -> None:
    """Raise the requested fault at this moment: at "use 7", when "compiling", or when contexts of "n = 20" are
    launched.
    """
    fault, _, wanted = os.environ.get("CUPY_STAND_IN_FAULT", "").partition(" at ")
    if wanted == when:
        State.lost = FAULTS[fault] if fault in STICKY else None
        raise FAULTS[fault]


def touch() -> None:
    """Use the device: refused in a child of a process that used it."""
    if State.user is None:
        State.user = os.getpid()
        if "CUPY_STAND_IN_LOG" in os.environ:
            with open(os.environ["CUPY_STAND_IN_LOG"], "a", encoding="utf-8") as log:
                log.write(f"{os.getpid()} {os.environ.get('CUDA_VISIBLE_DEVICES', '')}\n")
    if State.user != os.getpid():
        raise CUDARuntimeError("cudaErrorInitializationError: initialization error")
    if State.lost is not None:
        raise State.lost
    State.uses += 1
    fail_at(f"use {State.uses}")


def bound(name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    """Refuse a call that CuPy would refuse."""
    text = SIGNATURES[name]
    if text.startswith("ufunc"):
        text = ", ".join([*(f"x{k}" for k in range(int(text.split()[1]))), "/", "out=", "*", "casting=", "dtype="])
    made: list[inspect.Parameter] = []
    keyword = False
    for part in filter(None, (each.strip() for each in text.split(","))):
        if part == "/":
            made = [each.replace(kind=inspect.Parameter.POSITIONAL_ONLY) for each in made]
        elif part == "*":
            keyword = True
        else:
            kind: Any = inspect.Parameter.KEYWORD_ONLY if keyword else inspect.Parameter.POSITIONAL_OR_KEYWORD
            kind = inspect.Parameter.VAR_POSITIONAL if part.startswith("*") else kind
            kind = inspect.Parameter.VAR_KEYWORD if part.startswith("**") else kind
            keyword = keyword or part.startswith("*")
            default = None if part.endswith("=") else inspect.Parameter.empty
            made.append(inspect.Parameter(part.strip("*="), kind, default=default))
    try:
        inspect.Signature(made).bind(*arguments, **keywords)
    except TypeError as error:
        raise TypeError(f"cupy.{name}: {error}") from None


def unwrapped(value: Any) -> Any:
    """NumPy's view of an argument; an array of the host is refused."""
    if isinstance(value, ndarray):
        return value._a
    if isinstance(value, HOST):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, list | tuple):
        return type(value)(unwrapped(each) for each in value)
    return value


def wrapped(value: Any) -> Any:
    """A result on the device: reductions return arrays there too."""
    if isinstance(value, np.ndarray | np.generic):
        array = ndarray.__new__(ndarray)
        array._a = np.asarray(value)
        State.largest = max(State.largest, array._a.nbytes)
        if array._a.nbytes > float(os.environ.get("CUPY_STAND_IN_BYTES", "inf")):
            raise OutOfMemoryError(f"Out of memory allocating {array._a.nbytes:,} bytes")
        return array
    if isinstance(value, tuple):
        return tuple(wrapped(each) for each in value)
    return value


def called(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function as a CuPy function."""

    def call(*arguments: Any, **keywords: Any) -> Any:
        bound(name, arguments, keywords)
        touch()
        return wrapped(function(*unwrapped(arguments), **{key: unwrapped(each) for key, each in keywords.items()}))

    return call


class ndarray:  # noqa: N801
    _a: np.ndarray[Any, Any]
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, *arguments: Any) -> None:
        raise TypeError("made by the functions of the module")

    def __array__(self, *arguments: Any, **keywords: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        if method != "__call__":
            return NotImplemented
        return called(ufunc.__name__, ufunc)(*inputs, **keywords)

    def __array_function__(self, function: Any, types: Any, arguments: Any, keywords: Any) -> Any:
        return __getattr__(function.__name__)(*arguments, **keywords)

    def __getattr__(self, name: str) -> Any:
        if f"ndarray.{name}" not in SIGNATURES:
            raise AttributeError(f"'cupy.ndarray' object has no attribute {name!r}")
        return called(f"ndarray.{name}", getattr(self._a, name))

    def get(self, *arguments: Any, **keywords: Any) -> Any:
        bound("ndarray.get", arguments, keywords)
        touch()
        return self._a.copy()

    def tolist(self) -> Any:
        return self.get().tolist()

    def item(self) -> Any:
        return self.get().item()

    @property
    def shape(self) -> tuple[int, ...]:
        return self._a.shape

    @property
    def dtype(self) -> Any:
        return self._a.dtype

    @property
    def ndim(self) -> int:
        return self._a.ndim

    @property
    def size(self) -> int:
        return self._a.size

    @property
    def T(self) -> Any:
        return wrapped(self._a.T)

    @property
    def device(self) -> Any:
        return Device(0)

    def __len__(self) -> int:
        return len(self._a)

    def __bool__(self) -> bool:
        return bool(self.get())

    def __float__(self) -> float:
        return float(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __getitem__(self, key: Any) -> Any:
        touch()
        return wrapped(np.asarray(self._a[unwrapped(key)]))

    def __setitem__(self, key: Any, value: Any) -> None:
        touch()
        self._a[unwrapped(key)] = unwrapped(value)


def operator(name: str) -> Callable[..., Any]:
    def apply(self: ndarray, *others: Any) -> Any:
        touch()
        return wrapped(getattr(self._a, name)(*unwrapped(others)))

    return apply


for each in ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"]:
    for form in (f"__{each}__", f"__r{each}__"):
        setattr(ndarray, form, operator(form))
for each in ["neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne"]:
    setattr(ndarray, f"__{each}__", operator(f"__{each}__"))


class Device:
    """A device as a context."""

    def __init__(self, device: int | None = None) -> None:
        self.id = 0 if device is None else device

    def __enter__(self) -> Device:
        touch()
        if self.id >= count_of_devices():
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        return self

    def __exit__(self, *error: object) -> None:
        pass


def count_of_devices() -> int:
    count = int(os.environ.get("CUPY_STAND_IN_DEVICES", "1"))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return count if visible is None else min(count, len([each for each in visible.split(",") if each.strip()]))


def device_count() -> int:
    touch()
    if os.environ.get("CUPY_STAND_IN_DRIVER") == "old":
        raise CUDARuntimeError(
            "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version"
        )
    if not count_of_devices():
        raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
    return count_of_devices()


def compiler_version() -> tuple[int, int]:
    if os.environ.get("CUPY_STAND_IN_NVRTC") == "missing":
        raise RuntimeError(
            "CuPy failed to load libnvrtc.so.12: OSError: libnvrtc.so.12: cannot open shared object file"
        )
    return (12, 9)


def memory_info(*arguments: Any, **keywords: Any) -> tuple[int, int]:
    """(free, total) bytes."""
    bound("cuda.runtime.memGetInfo", arguments, keywords)
    touch()
    return 2**34, 2**34


def free_all_blocks(*arguments: Any, **keywords: Any) -> None:
    bound("cuda.MemoryPool.free_all_blocks", arguments, keywords)


def host(value: Any) -> Any:
    return value._a if isinstance(value, ndarray) else value


def asarray(*arguments: Any, **keywords: Any) -> Any:
    bound("asarray", arguments, keywords)
    touch()
    return wrapped(np.array(host(arguments[0]), dtype=keywords.get("dtype")))


def empty(*arguments: Any, **keywords: Any) -> Any:
    """Fill new memory, so that unwritten values cannot pass for the result of an earlier launch."""
    bound("empty", arguments, keywords)
    touch()
    return wrapped(np.full(arguments[0], math.nan))


class RawModule:
    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        bound("RawModule", arguments, keywords)
        self.names = keywords.get("name_expressions") or ()

    def get_function(self, *arguments: Any, **keywords: Any) -> Callable[..., None]:
        bound("RawModule.get_function", arguments, keywords)
        name = arguments[0]
        assert not self.names or name in self.names
        fail_at("compiling")

        def launch(*arguments: Any, **keywords: Any) -> None:
            bound("RawKernel.__call__", arguments, keywords)
            touch()
            grid, block, given = arguments
            assert all(isinstance(each, int) for each in (*grid, *block)), "a grid is of plain integers"
            assert math.prod(block) <= 1024
            assert grid[0] < 2**31
            assert all(each <= 65535 for each in grid[1:])
            assert all(isinstance(each, ndarray | np.generic) for each in given), "of the device"
            if name.startswith("samples"):
                fail_at(f"n = {given[5]}")
            run_kernel(name, grid, block, tuple(host(each) for each in given))

        return launch


def run_kernel(name: str, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
    """The kernels by their definitions, in NumPy; a context has one part."""
    if name == "uniforms":
        key_low, key_high, low, high, count, out = arguments
        for chunk, words in enumerate(np.split(out, grid[1])):
            place = {"key": int(key_high) << 64 | int(key_low), "counter": (int(high) + chunk) << 64 | int(low)}
            words[...] = np.random.Generator(np.random.Philox(**place)).random(int(count))
    elif name == "moments":
        from lipverify.foundation.means.samples import leaf_moments  # internal: the CPU's moments replace the kernel's

        samples, columns, cuts, centre, unit, out = arguments
        assert samples.flags.c_contiguous
        assert samples.shape[1] == columns
        out[...] = leaf_moments(samples, [int(cut) for cut in cuts], centre, unit)
    else:
        run_samples(name, arguments)


def run_samples(name: str, arguments: tuple[Any, ...]) -> None:
    from lipverify.loss.montecarlo.compiled.native import _definition  # internal: in place of the kernel

    key_low, key_high, first, bundles, d, n, L = arguments[:7]
    stretch, bases, starts, columns, noise, bias = (arguments[k] for k in (9, 12, 13, 14, 16, 17))
    assert name.startswith("samples<")
    assert n <= stretch
    law = ("affine", "relu", "cosine", "quadratic")[int(name[8])]
    ladders = [(float(base), int(rungs)) for base, rungs in zip(bases, np.diff(starts), strict=True)]
    for row in range(int(bundles)):
        key = int(key_high) << 64 | int(key_low)
        made = _definition(law, float(L), int(d), int(n), ladders, key, int(first) + row)[0]
        windows = slice(int(starts[0]), int(starts[-1]))
        noise[row, windows], bias[row, windows] = np.split(made, 2)
        assert noise.shape[1] == columns


PLAIN = ("float64", "int32", "uint64", "int64", "bool_", "pi", "inf", "nan", "newaxis", "e")

memory_pool = SimpleNamespace(free_all_blocks=free_all_blocks, used_bytes=lambda: 0, total_bytes=lambda: 0)
cuda = SimpleNamespace(
    Device=Device,
    runtime=SimpleNamespace(getDeviceCount=device_count, memGetInfo=memory_info, CUDARuntimeError=CUDARuntimeError),
    nvrtc=SimpleNamespace(getVersion=compiler_version, NVRTCError=NVRTCError),
    memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
    compiler=SimpleNamespace(CompileException=CompileException),
)


def get_default_memory_pool() -> Any:
    return memory_pool


class LinearAlgebra:
    def __getattr__(self, name: str) -> Any:
        if f"linalg.{name}" not in SIGNATURES:
            raise AttributeError(f"module 'cupy.linalg' has no attribute {name!r}")
        return called(f"linalg.{name}", getattr(np.linalg, name))


linalg = LinearAlgebra()


def __getattr__(name: str) -> Any:
    if name in PLAIN:
        return getattr(np, name)
    if name.startswith("__") or name not in SIGNATURES:
        raise AttributeError(f"module 'cupy' has no attribute {name!r}")
    return called(name, getattr(np, name))


def ndtri(x: Any) -> Any:
    from scipy.special import ndtri as of_host

    touch()
    return wrapped(of_host(unwrapped(x)))


if __name__ == "cupy":
    special = ModuleType("cupyx.scipy.special")
    special.ndtri = ndtri  # type: ignore[attr-defined]
    for place in ("cupyx", "cupyx.scipy"):
        sys.modules[place] = ModuleType(place)
        sys.modules[place].__path__ = []
    sys.modules["cupyx.scipy.special"] = special
