r"""Run the compiled code on the processor; the user's C compiler compiles it at the first call.

The samples equal those of `launch.samples` to rounding; native.c describes the order of summation. A call does not hold
Python's lock and changes no state, so several threads may share the work.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lipverify.foundation.arrays import EPS, Floats
from lipverify.foundation.compiling import compiled, has_compiler, require_compiler
from lipverify.loss.montecarlo.compiled import LAWS, Ladder, assembled, require_question, split

__all__ = ["has_compiler", "require_compiler", "samples"]


def samples(
    law: str, L: float, d: int, n: int, ladders: Sequence[Ladder], key: int, first: int, bundles: int
) -> tuple[Floats, Floats]:
    """The samples of `launch.samples`, in arrays of NumPy.

    A foot w_0 above 2^50 is replaced by 2^50, because rounding of t makes larger values of w equivalent.
    """
    require_question(law, d, n, ladders, bundles)
    return _samples(_loaded(), law, L, d, n, ladders, key, first, bundles)


@functools.cache
def _loaded() -> ctypes.CDLL:
    return compiled(assembled("native.c"), _computes)


def _samples(
    loaded: ctypes.CDLL,
    law: str,
    L: float,
    d: int,
    n: int,
    ladders: Sequence[Ladder],
    key: int,
    first: int,
    bundles: int,
) -> tuple[Floats, Floats]:
    loaded.lipverify_room.restype = ctypes.c_size_t
    ladders = split(ladders, loaded.lipverify_rungs())
    starts = np.array([0, *itertools.accumulate(rungs for _, rungs in ladders)], dtype=np.intc)
    bases = np.array([base for base, _ in ladders], dtype=np.float64)
    noise, bias = np.empty((2, bundles, starts[-1]))
    alignment = 64  # bytes of the widest register and of a cache line
    workspace = np.empty(loaded.lipverify_room(len(ladders)) + alignment, dtype=np.uint8)
    workspace = workspace[-workspace.ctypes.data % alignment :]
    words = [ctypes.c_uint64(word) for word in (key, key >> 64, first, bundles)]
    problem = [LAWS[law], d, ctypes.c_uint64(n), ctypes.c_double(L)]
    arrays = [ctypes.c_void_p(array.ctypes.data) for array in (bases, starts, workspace, noise, bias)]
    loaded.lipverify_samples(*words, *problem, len(ladders), *arrays)
    return noise, bias


def _computes(loaded: ctypes.CDLL) -> bool:
    """True if the compiled code reproduces the definition for each law, each length of ladder and both layouts."""
    ladders = [(1e4, 1), *((0.75, rungs) for rungs in range(1, loaded.lipverify_rungs() + 1))]
    for law, n in itertools.product(("affine", "relu", "cosine", "quadratic"), (3, 2049)):
        key = 2**127 + 1
        computed = np.concatenate(_samples(loaded, law, 2.0, 5, n, ladders, key, 7, 1), axis=1)
        # a loose tolerance suffices, because errors of a compiler are much larger than rounding
        if not np.allclose(computed, _definition(law, 2.0, 5, n, ladders, key, 7), rtol=math.sqrt(EPS), atol=0.0):
            return False
    return True


def _definition(law: str, L: float, d: int, n: int, ladders: Sequence[Ladder], key: int, bundle: int) -> Floats:
    """Noise and bias of one bundle directly from the definition, (1, 2 * number of w), for d > 2."""
    w = np.concatenate([base * 2.0 ** np.arange(rungs) for base, rungs in ladders])
    blocks = 2 + -(-n // 2)
    u, v = np.random.Generator(np.random.Philox(key=key, counter=bundle * blocks)).random((2 * blocks, 2)).T
    points = np.sqrt(-np.expm1(2 / (d - 2) * np.log(u + 2.0**-54))) * np.exp(2j * np.pi * v)
    terms = np.zeros((2, len(w)))
    for r, c in enumerate(points[:4].real):
        rotated = points[4 : 4 + n] * (-1j) ** r
        t, z = rotated.real, c * rotated.real + math.sqrt(1 - c * c) * rotated.imag
        g = np.exp(np.outer(w, t - t.max()))
        a = g / g.sum(axis=1, keepdims=True)
        noise = (a * a).sum(axis=1)
        if law == "affine":
            bias = (a @ (1 - t)) ** 2 + (a * a) @ (1 - t * t)
        else:
            bias = sum((a @ (h(z) - h(c))) ** 2 for h in _links(law, L))
        terms += np.stack([noise, bias]) / 4
    return terms.reshape(1, -1)


def _links(law: str, L: float) -> tuple[Any, ...]:
    if law == "relu":
        return (lambda z: np.maximum(z, 0), lambda z: np.maximum(-z, 0))
    return (lambda z: np.cos(L * z),) if law == "cosine" else (np.square,)
