"""Arrays: their types, and the way between libraries and devices."""

from __future__ import annotations

from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""Doubles of NumPy."""
Array: TypeAlias = Any
"""An array of any library that follows the array API standard."""

SHORT_ROW = 32
"""Up to this length, rows are compared column by column."""


def to_host(array: Array) -> Floats:
    """A NumPy array from any library's."""
    if hasattr(array, "get"):  # CuPy
        return np.asarray(array.get())
    if hasattr(array, "to_device") and not isinstance(array, np.ndarray):
        namespace = array.__array_namespace__()
        array = array.to_device(getattr(namespace, "Device", str)("CPU_DEVICE"))
    return np.asarray(array)


def to_device(array: Array, xp: Any, device: Any) -> Array:
    """An array of the host, or of `xp` itself, in the library `xp` and on its device; None is the current one.

    A device of CuPy is entered: CuPy has no `device=`. The array standard passes it on.
    """
    if xp is np or device is None:
        return array if xp is np else xp.asarray(array)
    if hasattr(device, "__enter__"):
        with device:
            return xp.asarray(array)
    return xp.asarray(array, device=device)


def row_sums(array: Array, xp: Any) -> Array:
    """Sums over the last axis, as products with ones: several times quicker than `xp.sum` where that axis is short.

    >>> row_sums(np.array([[1.0, 2.0], [3.0, 4.0]]), np).tolist()
    [3.0, 7.0]
    """
    return xp.matmul(array, xp.ones_like(array[(0,) * (array.ndim - 1) + (...,)]))


def row_maxima(array: Array, xp: Any) -> Array:
    """The largest along the last axis; where NumPy's rows are short, by columns: three to ten times quicker than `max`.

    >>> row_maxima(np.array([[1.0, 2.0], [4.0, 3.0]]), np).tolist()
    [2.0, 4.0]
    """
    if xp is not np or array.shape[-1] > SHORT_ROW:
        return xp.max(array, axis=-1)
    return reduce(np.maximum, np.moveaxis(array, -1, 0))


def aligned(array: Floats, alignment: int) -> Floats:
    """A contiguous copy whose first byte stands at a multiple of `alignment`, as vectors of a processor want it."""
    room = np.empty(array.size + alignment // array.itemsize)
    first = -room.ctypes.data % alignment // array.itemsize
    made = room[first : first + array.size].reshape(array.shape)
    made[...] = array
    return made
