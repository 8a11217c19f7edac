"""The kernel collapsed.c, compiled at run time: five to six times faster than NumPy's batched products."""

from __future__ import annotations

import ctypes
import functools
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.loss.montecarlo.kernels.compiler import library

Floats = NDArray[np.float64]

LANES = 8
"""Contexts side by side."""
ALIGNMENT = 64
"""Bytes of a vector of the kernel."""
PART = 512
"""Blocks of `LANES` contexts whose gradients are summed together: sums do not depend on how parts are shared out."""
DEEPEST = 16
"""Layers for which the kernel has room."""


class Packed:
    """Moments (contexts, d + 1, d + 1), goals (contexts, d) and shares (contexts,) in the order of the kernel."""

    def __init__(self, gram: Floats, goal: Floats, share: Floats) -> None:
        count, size, _ = gram.shape
        self.size, self.blocks = size, count // LANES
        self.gram = _aligned(gram.reshape(-1, LANES, size, size).transpose(0, 2, 3, 1))
        self.goal = _aligned(goal.reshape(-1, LANES, size - 1).transpose(0, 2, 1))
        self.share = _aligned(share.reshape(-1, LANES))

    def losses(self, weights: Floats, cap: float) -> tuple[Floats, Floats]:
        """(Capped) losses of each context, (contexts,), and the gradient of their sum weighted by shares.

        `weights` are four numbers a layer, (layers, 4), or P and Q, (layers, 2, d + 1, d + 1), in the units of the
        data.
        """
        weights = np.ascontiguousarray(weights, dtype=float)
        losses, gradient = _aligned(np.zeros((self.blocks, LANES))), np.zeros(weights.shape)
        for first in range(0, self.blocks, PART):
            part, rows = np.zeros(weights.shape), slice(first, min(first + PART, self.blocks))
            _kernel(self.size)(
                int(weights.ndim == 2), len(weights), rows.stop - first, *map(_address, (weights, self.gram[rows],
                self.goal[rows], self.share[rows])), cap, 1, *map(_address, (losses[rows], part)),
            )  # fmt: skip
            gradient += part
        return losses.reshape(-1), gradient


@functools.cache
def _kernel(size: int) -> Any:
    """The kernel for moments of that size; it was checked against NumPy before it is used."""
    source = (files(__package__) / "collapsed.c").read_text(encoding="utf-8")
    return _function(library(f"#define SIZE {size}\n{source}", lambda made: hasattr(made, "collapsed")))


def _function(made: ctypes.CDLL) -> Any:
    function = made.collapsed
    pointer, whole = ctypes.c_void_p, ctypes.c_int
    function.argtypes = (
        whole,
        whole,
        ctypes.c_long,
        pointer,
        pointer,
        pointer,
        pointer,
        ctypes.c_double,
        whole,
        pointer,
        pointer,
    )
    function.restype = None
    return function


def _address(array: Floats) -> int:
    return int(array.ctypes.data)


def _aligned(array: Floats) -> Floats:
    """A contiguous copy that begins where the kernel's vectors may begin."""
    room = np.empty(array.size + ALIGNMENT // 8)
    first = -room.ctypes.data % ALIGNMENT // 8
    made = room[first : first + array.size].reshape(array.shape)
    made[...] = array
    return made
