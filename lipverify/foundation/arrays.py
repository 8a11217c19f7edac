"""Arrays: their types, and the way between libraries and devices."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""Doubles of NumPy."""
Array: TypeAlias = Any
"""An array of any library that follows the array API standard."""


def to_host(array: Array) -> Floats:
    """A NumPy array from any library's."""
    if hasattr(array, "get"):  # CuPy
        return np.asarray(array.get())
    if hasattr(array, "to_device") and not isinstance(array, np.ndarray):
        namespace = array.__array_namespace__()
        array = array.to_device(getattr(namespace, "Device", str)("CPU_DEVICE"))
    return np.asarray(array)


def to_device(array: Floats, xp: Any, device: Any) -> Array:
    """A host array in the library `xp`, on its device."""
    return array if xp is np else xp.asarray(array, device=device)


def row_sums(array: Array, xp: Any) -> Array:
    """Sums over the last axis, as products with ones: several times quicker than `xp.sum` where that axis is short.

    >>> row_sums(np.array([[1.0, 2.0], [3.0, 4.0]]), np).tolist()
    [3.0, 7.0]
    """
    return xp.matmul(array, xp.ones_like(array[(0,) * (array.ndim - 1) + (...,)]))


def aligned(array: Floats, alignment: int) -> Floats:
    """A contiguous copy whose first byte stands at a multiple of `alignment`, as vectors of a processor want it."""
    room = np.empty(array.size + alignment // array.itemsize)
    first = -room.ctypes.data % alignment // array.itemsize
    made = room[first : first + array.size].reshape(array.shape)
    made[...] = array
    return made
