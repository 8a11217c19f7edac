"""Launch the GPU code through CuPy, which is imported on first use.

One call draws bundles of contexts, scores their tokens and accumulates the sums for every w of a grid; no array of
tokens is stored. The samples are those of `montecarlo.reduced` (see contexts.cuh).
"""

from __future__ import annotations

import functools
import itertools
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from lipverify.errors import DeviceLost, InvalidInput, OutOfReach
from lipverify.foundation.arrays import Array, Floats
from lipverify.foundation.streams import BLOCKS_PER_CHUNK, key_of
from lipverify.loss.montecarlo.compiled import (
    LANES,
    MOST_WARPS,
    QUERIES,
    Ladder,
    assembled,
    instantiation,
    launch_of,
    parts_of_launch,
    require_question,
    size_of_sums,
    slices_of,
    split,
    stretch_of,
)

OPTIONS = ("--std=c++17",)
THREADS = 256
"""Threads of a block: eight warps, which share a multiprocessor with other blocks."""
TOKENS = 2**26
"""Tokens a call, enough to fill any device."""
OLDEST = 14
"""The first major version of CuPy with `concat` and `matrix_transpose`."""
INSTEAD = "use --backend numpy."
NO_MEMORY = ("cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY", "CUBLAS_STATUS_ALLOC_FAILED")
NOT_COMPILED = ("PTX", "Ptx", "NO_BINARY_FOR_GPU", "NoKernelImageForDevice")
"""CUDA's names for failed compilations, for which CuPy has no exception class."""
MIXED = ("Unsupported type <class 'numpy.", "Implicit conversion to a NumPy array is not allowed")
"""CuPy's messages if arrays of the host and of a device are mixed."""
MISSING = ("CuPy failed to load", "Failure finding", "cannot open shared object file", "DLL load failed")
"""Messages for a missing library, of CuPy, of the package that finds its libraries, of Linux and of Windows."""


def why_no_gpu() -> str:
    """The reason why no GPU can be used, or an empty text; `import cupy` alone succeeds without a driver."""
    try:
        import cupy
    except Exception as error:  # some versions of NumPy and CuPy do not fit together, with any kind of error
        if isinstance(error, ModuleNotFoundError) and error.name == "cupy":
            return "CuPy is not installed, the extra cuda12 or cuda13 brings it"
        return f"CuPy is installed but fails to import: {_line(error.__cause__ or error)}"
    version = str(cupy.__version__)
    if int(version.partition(".")[0]) < OLDEST:
        return f"CuPy {version} is too old, {OLDEST} is needed, the extra cuda12 or cuda13 brings it"
    try:
        count = cupy.cuda.runtime.getDeviceCount()  # cupy.cuda.is_available() hides the reason
    except RuntimeError as error:
        return f"CuPy sees no device: {_line(error)}"
    if not count:
        return "CuPy sees no device"
    try:
        cupy.cuda.nvrtc.getVersion()
    except (ImportError, RuntimeError) as error:
        return f"CuPy finds no NVRTC, the extra cuda12 or cuda13 brings it: {_line(error)}"
    return ""


@functools.cache
def require_gpu() -> None:
    """Refuse to continue without a GPU; a GPU that was found is not searched again."""
    why = why_no_gpu()
    if why:
        raise InvalidInput(f"backend = 'cupy': no usable GPU was found ({why}); {INSTEAD}")


@contextmanager
def at_work(device: Any = None) -> Iterator[None]:
    """Make a CuPy device current; its errors are raised again as one line."""
    try:
        with nullcontext() if device is None else device:
            yield
    except Exception as error:
        refusal = _refusal(error)
        if refusal is None:
            raise
        raise refusal from error


def _refusal(error: Exception) -> Exception | None:
    """An error of CuPy as one line with a way out; None if the error is not from CuPy."""
    kind, line = type(error), _line(error)
    if isinstance(error, TypeError) and any(mark in line for mark in MIXED):
        few = "a function of a law or of covariates mixes arrays of NumPy with those of the GPU"
        return InvalidInput(f"backend = 'cupy': {few} ({line}); take arrays from its argument's library, or {INSTEAD}")
    missing = isinstance(error, ImportError | RuntimeError) and any(mark in line for mark in MISSING)
    if not (kind.__module__.startswith("cupy") or missing):
        return None
    if short_of_memory(error):
        few = "the memory of the GPU does not suffice for the smallest chunk"
        way = "end what else uses it, ask for fewer values of w"
        return OutOfReach(f"backend = 'cupy': {few} ({line}); {way}, or {INSTEAD}")
    compiling = kind.__name__ in ("CompileException", "NVRTCError") or any(mark in line for mark in NOT_COMPILED)
    if compiling or missing:
        way = "install the extra cuda12 or cuda13 that fits the driver"
        return InvalidInput(f"backend = 'cupy': the code does not compile or run here ({line}); {way}, or {INSTEAD}")
    if isinstance(error, RuntimeError):
        late = "LaunchTimeout" in line or "LAUNCH_TIMEOUT" in line
        way = "use a GPU that drives no display" if late else "start again"
        return DeviceLost(f"backend = 'cupy': the GPU failed ({line}); {way}, or {INSTEAD}")
    return None


def short_of_memory(error: Exception) -> bool:
    """True if an error is due to lack of memory, so that smaller chunks may help; not all such are MemoryErrors."""
    return isinstance(error, MemoryError) or any(mark in _line(error) for mark in NO_MEMORY)


def _line(error: BaseException) -> str:
    """The first line of an exception's message, or its name."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def devices() -> list[str]:
    """The devices visible to this process, named as in CUDA_VISIBLE_DEVICES."""
    import cupy

    with at_work():
        count = int(cupy.cuda.runtime.getDeviceCount())
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = map(str, range(count)) if named is None else (name.strip() for name in named.split(","))
    return list(itertools.islice(names, count))


def room(device: Any = None) -> int:
    """Bytes for the arrays of a call: a fourth of all memory (not of what is free, which changes), 8 GiB at most."""
    import cupy

    with at_work(device):  # to move one of thirty arrays of 8 GiB takes ten times as long as to launch an operation
        return min(int(cupy.cuda.runtime.memGetInfo()[1]) // 4, 2**33)


def release() -> None:
    """Free the memory that CuPy keeps for reuse."""
    import cupy

    cupy.get_default_memory_pool().free_all_blocks()


def samples(
    law: str, L: float, d: int, n: int, ladders: Sequence[Ladder], key: int, first: int, bundles: int
) -> tuple[Any, Any]:
    """Noise and bias samples of the bundles from `first` on, (bundles, number of w), ladder after ladder.

    `key` has 128 bits, as `numpy.random.Philox` takes it. Units are sigma^2 and the variance of the law's amplitude,
    for affine and linear over d. Bundle j is a function of (key, d, n, j), to the last bit on one kind of device: how
    many lanes share a query, and blocks a context, depends on n only.
    """
    require_question(law, d, n, ladders, bundles)
    require_gpu()
    import cupy

    ladders = split(ladders)
    columns, most = sum(rungs for _, rungs in ladders), max(rungs for _, rungs in ladders)
    noise, bias = cupy.empty((bundles, columns)), cupy.empty((bundles, columns))
    if bundles == 0:
        return noise, bias
    stretch = stretch_of(n)
    parts = -(-n // stretch)
    starts = [0, *itertools.accumulate(rungs for _, rungs in ladders)]
    address = [np.uint64(word) for word in (*_halves(key), first, bundles)]
    problem = [np.int32(d), np.uint64(n), np.float64(L), np.int32(slices_of(n))]
    for begin in range(0, len(ladders), MOST_WARPS):
        row = ladders[begin : begin + MOST_WARPS]
        some = parts_of_launch(n, len(row), bundles)
        bases = cupy.asarray([base for base, _ in row], dtype=cupy.float64)
        offsets = cupy.asarray(starts[begin : begin + len(row) + 1], dtype=cupy.int32)
        size = bundles * parts * len(row) * QUERIES * size_of_sums(law, most) if parts > 1 else 1
        windows, workspace = [np.int32(len(row)), bases, offsets, np.int32(columns)], cupy.empty(size)
        for part in range(0, parts, some):
            how = launch_of(n, len(row), bundles, min(some, parts - part))
            cut = [np.int32(how.teams), np.uint64(stretch), np.uint64(part)]
            function = _function(instantiation(law, most))
            function(how.grid, how.block, (*address, *problem, *cut, *windows, workspace, noise, bias))
        if parts > 1:
            function = _function(instantiation(law, most, "joined"))
            function((bundles, len(row)), (LANES,), (np.uint64(parts), *windows, workspace, noise, bias))
    return noise, bias


def device_uniforms(key: int, first_block: int, count: int, chunks: int = 1) -> Any:
    """Uniforms on [0, 1) drawn on the device, (chunks * count,): those of NumPy's generator, bit for bit."""
    require_gpu()
    import cupy

    out = cupy.empty(chunks * count)
    if count:
        address = [np.uint64(word) for word in (*_halves(key), *_halves(first_block), count)]
        _function("uniforms")((-(-count // (4 * THREADS)), chunks), (THREADS,), (*address, out))
    return out


def uniforms(seed: int, stream: str, chunks: range, shape: tuple[int, ...], first: int = 0) -> Array:
    """`foundation.streams.uniforms` for each chunk, bit for bit, drawn on the device by one launch."""
    block, skipped = divmod(first, 4)
    address = key_of(seed, stream), chunks.start * BLOCKS_PER_CHUNK + block
    words = device_uniforms(*address, skipped + math.prod(shape), len(chunks)).reshape(len(chunks), -1)
    return words[:, skipped:].reshape(len(chunks) * shape[0], *shape[1:])


def inverted(uniforms: Array) -> Array:
    """Map uniforms to standard normals as `foundation.streams.inverted` does."""
    import cupy
    from cupyx.scipy.special import ndtri

    return ndtri(cupy.minimum(uniforms + 2.0**-54, 1 - 2.0**-53))


def leaf_moments(samples: Array, cuts: Sequence[int], centre: Floats, unit: Floats) -> Floats:
    """`foundation.means.samples.leaf_moments`, reduced on the device, each leaf in the order of its samples."""
    import cupy

    leaves, columns = len(cuts) - 1, samples.shape[1]
    out = cupy.empty((leaves, 6, columns))
    threads = min(THREADS, -(-columns // LANES) * LANES)
    on_device = [cupy.asarray(cuts, dtype=cupy.uint64), *(cupy.asarray(part) for part in (centre, unit))]
    arguments = (cupy.ascontiguousarray(samples), np.int32(columns), *on_device, out)
    _function("moments")((leaves, -(-columns // threads)), (threads,), arguments)
    return np.asarray(out.get())


def _function(name: str) -> Any:
    """The CUDA function called `name` for the current device, compiled at its first launch."""
    import cupy

    return _compiled(name, cupy.cuda.Device().id)


@functools.cache
def _compiled(name: str, device: int) -> Any:
    """The compiled code for the device of this number, which is current; CuPy keeps compiled code on disk."""
    import cupy

    return cupy.RawModule(code=assembled(), options=OPTIONS, name_expressions=(name,)).get_function(name)


def _halves(number: int) -> tuple[int, int]:
    return number % 2**64, (number >> 64) % 2**64
