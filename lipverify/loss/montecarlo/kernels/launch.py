r"""Launch of the GPU kernels through CuPy, which is imported when it is first needed.

One call draws bundles of contexts, scores their tokens and accumulates every window of a grid; no array of tokens
is ever stored. With a_i proportional to exp(w t_i), t_i = <x_i, x>, z_i = <q, x_i> and c = <q, x>, a context gives

    noise  sum_i a_i^2,
    bias   sum_k (sum_i a_i h_k(z_i) - h_k(c))^2                       for a ridge law with links h_k,
           (sum_i a_i (1 - t_i))^2 + sum_i a_i^2 (1 - t_i^2)           for the affine and the linear law,

the latter d times the average over the task and over the tokens given t. A bundle is four contexts on the same
tokens; its average is one sample (see contexts.cuh).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.loss.montecarlo.kernels.layout import (
    Ladder,
    grid_and_block,
    instantiation,
    require_question,
    slices_of,
    split,
)
from lipverify.loss.montecarlo.kernels.source import assembled

OPTIONS = ("--std=c++17",)
THREADS = 256
WORD = 2**64 - 1


def has_gpu() -> bool:
    """Whether CuPy is installed and sees a device; `import cupy` alone succeeds without a driver."""
    try:
        import cupy

        return bool(cupy.cuda.is_available())
    except (ImportError, RuntimeError):  # a driver that is there but broken is a RuntimeError
        return False


def require_gpu() -> None:
    """Refuse to go on without a GPU.

    Raises
    ------
    InvalidInput
        If CuPy is not installed or sees no device.
    """
    if not has_gpu():
        raise InvalidInput(
            "backend = 'cupy': no usable GPU was found (CuPy needs the extra cuda12 or cuda13 and a driver); "
            "use --backend numpy."
        )


def samples(
    law: str, L: float, d: int, n: int, ladders: Sequence[Ladder], key: int, first: int, bundles: int
) -> tuple[Any, Any]:
    """Noise and bias samples of the bundles `first`, ..., `first + bundles - 1`.

    Parameters
    ----------
    law, L
        One of `LAWS`, and its constant, on which the samples of the cosine law alone depend.
    d, n
        Dimension >= 2, and tokens a context.
    ladders
        The values of w, as ladders (w_0, m) of ratio 2: w_0 finite and >= 0, m >= 1. Every eighth rung of a
        ladder has an exponential of its own.
    key
        Key of the Philox stream: an integer of 128 bits, as `numpy.random.Philox` takes it.
    first, bundles
        Which bundles: bundle j is a function of (key, d, n, j), whatever else is asked for.

    Returns
    -------
    (noise, bias)
        CuPy arrays of doubles, (bundles, windows), with the windows of the first ladder, then of the second, ...;
        in units of sigma^2 and of the variance of the law's amplitude (affine and linear: a d-th of that).

    Raises
    ------
    InvalidInput
        If there is no GPU, or an argument breaks its rule.

    Notes
    -----
    A query is shared by 2^k lanes of a warp, with k a function of n alone: on one kind of device the samples of a
    bundle do not depend, to the last bit, on which other bundles are asked for in the same call.
    """
    require_question(law, d, n, ladders, bundles)
    require_gpu()
    import cupy

    ladders = split(ladders)
    starts = [0, *itertools.accumulate(rungs for _, rungs in ladders)]
    noise, bias = cupy.empty((bundles, starts[-1])), cupy.empty((bundles, starts[-1]))
    if bundles == 0:
        return noise, bias
    grid, block = grid_and_block(n, len(ladders), bundles)
    address = [np.uint64(word) for word in (*_halves(key), first, bundles)]
    problem = [np.int32(d), np.uint64(n), np.float64(L), np.int32(slices_of(n))]
    bases = cupy.asarray([base for base, _ in ladders], dtype=cupy.float64)
    windows = [np.int32(len(ladders)), bases, cupy.asarray(starts, dtype=cupy.int32)]
    kernel = _kernel(instantiation(law, max(rungs for _, rungs in ladders)))
    kernel(grid, block, (*address, *problem, *windows, noise, bias))
    return noise, bias


def device_uniforms(key: int, first_block: int, count: int) -> Any:
    """Uniforms on [0, 1) drawn on the device: those of NumPy's generator, bit for bit.

    Parameters
    ----------
    key
        Key of the Philox stream: an integer of 128 bits.
    first_block
        Block of four words to begin with, below 2^128: the `counter` that `numpy.random.Philox` is given.
    count
        How many.

    Returns
    -------
    cupy.ndarray
        (word >> 11) 2^-53 for `count` words, as `Generator(Philox(key=key, counter=first_block)).random(count)`.

    Raises
    ------
    InvalidInput
        If there is no GPU.
    """
    require_gpu()
    import cupy

    out = cupy.empty(count)
    if count:
        address = [np.uint64(word) for word in (*_halves(key), *_halves(first_block), count)]
        _kernel("uniforms")((-(-count // (4 * THREADS)),), (THREADS,), (*address, out))
    return out


@functools.cache
def _kernel(name: str) -> Any:
    """The kernel called `name`, compiled when it is first launched; CuPy keeps what it compiled on disk."""
    import cupy

    return cupy.RawModule(code=assembled(), options=OPTIONS, name_expressions=(name,)).get_function(name)


def _halves(number: int) -> tuple[int, int]:
    """The lower and the upper 64 bits."""
    return number & WORD, number >> 64 & WORD
