"""Backends that evaluate contexts: an array library, with compiled code for reduced sampling if available."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array
from lipverify.foundation.means.samples import Reduce, leaf_moments
from lipverify.foundation.quoting import shown
from lipverify.foundation.streams import inverted, uniforms
from lipverify.foundation.validation import chosen

UNKNOWN = 2**30
"""Bytes for the arrays of a call by other libraries than CuPy: those of a small GPU, as the array standard has none."""


def _uniforms(seed: int, stream: str, chunks: range, shape: tuple[int, ...], first: int = 0) -> Array:
    drawn = [uniforms(seed, stream, chunk, shape, first) for chunk in chunks]
    return drawn[0] if len(drawn) == 1 else np.concatenate(drawn)


@dataclass(frozen=True)
class Backend:
    """An array library with a device, and the functions that depend on them.

    Attributes
    ----------
    xp, device
        An array namespace and one of its devices; None for the current one.
    compiled, tokens
        Compiled code for reduced sampling, as `compiled.launch.samples`, and the approximate number of tokens per call.
    room
        Bytes for the arrays of a call; 0: they fit in a processor's cache.
    uniforms
        (seed, stream, chunks, shape, first) -> `foundation.streams.uniforms` of each chunk of a range, joined along the
        first axis, drawn on the device of `xp` or on the host.
    inverted
        Maps uniforms to standard normals on their device.
    moments
        Reduces samples on their device, see `foundation.means.samples.leaf_moments`.
    at_work
        A context in which the device is current and its errors are reported in one line.
    short_of_memory, release
        True for an error caused by lack of memory; a function that frees memory kept by the library.
    threads
        True if several threads are faster than one.
    devices
        The names of the GPUs; their processes must not be forked.
    """

    xp: Any = np
    device: Any = None
    compiled: Callable[..., tuple[Any, Any]] | None = None
    tokens: int = 0
    room: int = 0
    uniforms: Callable[[int, str, range, tuple[int, ...], int], Array] = _uniforms
    inverted: Callable[[Array], Array] = inverted
    moments: Reduce = leaf_moments
    at_work: Callable[[], AbstractContextManager[object]] = nullcontext
    short_of_memory: Callable[[Exception], bool] = lambda error: isinstance(error, MemoryError)
    release: Callable[[], object] = bool
    threads: bool = True
    devices: Callable[[], Sequence[str]] = tuple

    def tokens_at_once(self, cached: int, doubles: int) -> int:
        """Tokens of a call with so many doubles a token; at least those whose arrays a processor's cache holds."""
        return max(1, cached, self.room // (8 * doubles))


NUMPY = Backend()


def _native() -> Backend:
    from lipverify.loss.montecarlo.compiled import native

    native.require_compiler()
    return Backend(compiled=native.samples, tokens=2**20)


def _cupy(device: Any = None) -> Backend:
    """CuPy with the CUDA code; a call has enough tokens to fill any device but takes less than a second."""
    from lipverify.loss.montecarlo.compiled import launch

    launch.require_gpu()
    import cupy

    return Backend(
        xp=cupy,
        device=device,
        compiled=launch.samples,
        tokens=launch.TOKENS,
        room=launch.room(device),
        uniforms=launch.uniforms,
        inverted=launch.inverted,
        moments=launch.leaf_moments,
        at_work=lambda: launch.at_work(device),
        short_of_memory=launch.short_of_memory,
        release=launch.release,
        threads=False,
        devices=launch.devices,
    )


BACKENDS: dict[str, Callable[[], Backend]] = {"numpy": lambda: NUMPY, "native": _native, "cupy": _cupy}


def backend_named(name: str) -> Backend:
    """The backend called `name`; refuse an unknown one, and one whose compiler or device is missing.

    >>> backend_named("numpy").xp.__name__
    'numpy'
    """
    return BACKENDS[chosen("backend", name, BACKENDS)]()


def backend_of(name: str | None, xp: Any, device: Any, workers: int = 1, kernels: bool = True) -> Backend:
    """A backend by its name, or by a namespace with its device; NumPy by default."""
    if name is not None and (xp is not None or device is not None):
        raise InvalidInput(f"backend = {shown(name)} with xp or device: give one of them; they say where to compute.")
    if xp is None and device is not None:
        raise InvalidInput(f"device = {shown(device)}: it is a device of xp; give its namespace too.")
    if xp is not None and not hasattr(xp, "asarray"):
        raise InvalidInput(f"xp = {shown(xp)} is not a namespace of the array API standard, such as numpy.")
    if xp is None:
        backend = backend_named("numpy" if name is None else name)
    else:
        backend = _cupy(device) if getattr(xp, "__name__", "") == "cupy" else Backend(xp, device, room=UNKNOWN)
    if workers > 1 and not backend.threads:
        raise InvalidInput(f"workers = {workers}: one thread gives a GPU all its work; leave workers out.")
    return backend if kernels else replace(backend, compiled=None)
