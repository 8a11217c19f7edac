"""Array types, and moving arrays between libraries and devices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""Doubles of NumPy."""
Real: TypeAlias = float | np.floating[Any] | np.integer[Any]
"""A real number of Python or NumPy."""
Reals: TypeAlias = Real | Sequence[float] | Sequence[Sequence[float]] | NDArray[np.floating[Any] | np.integer[Any]]
"""One real number or several, in any shape."""
Matrix: TypeAlias = Sequence[Sequence[float]] | Sequence[Floats] | NDArray[np.floating[Any] | np.integer[Any]]
"""A matrix of real numbers, or its rows."""
if not TYPE_CHECKING:
    Matrix = Any  # of a field: msgspec reads no union of arrays
Array: TypeAlias = Any
"""An array of any library that follows the array API standard."""

EPS = float(np.finfo(float).eps)
"""2^-52, the distance from 1 to the next double: rounding of one operation is at most half of it, relative."""
TINY = 1e-300
"""The least divisor, and value under a logarithm, where a 0 has no effect but would give an infinity."""
SHORT_ROW = 32
"""Longest row whose maximum is taken column by column."""


def to_host(array: Array) -> Floats:
    """Copy an array of any library to NumPy."""
    if hasattr(array, "get"):  # CuPy
        return np.asarray(array.get())
    if hasattr(array, "to_device") and not isinstance(array, np.ndarray):
        namespace = array.__array_namespace__()
        array = array.to_device(getattr(namespace, "Device", str)("CPU_DEVICE"))
    return np.asarray(array)


def to_device(array: Array, xp: Any, device: Any) -> Array:
    """Copy a NumPy array, or one of `xp`, to the library `xp` and its device (None: the current device)."""
    if xp is np or device is None:
        return array if xp is np else xp.asarray(array)
    if hasattr(device, "__enter__"):  # CuPy has no `device=`
        with device:
            return xp.asarray(array)
    return xp.asarray(array, device=device)


def row_sums(array: Array, xp: Any) -> Array:
    """Sum over the last axis by a product with ones, which is several times faster than `xp.sum` for a short axis."""
    return xp.matmul(array, xp.ones_like(array[(0,) * (array.ndim - 1) + (...,)]))


def row_maxima(array: Array, xp: Any) -> Array:
    """Maximum over the last axis. Short NumPy rows are compared by columns, three to ten times faster than `max`."""
    if xp is not np or array.shape[-1] > SHORT_ROW:
        return xp.max(array, axis=-1)
    return reduce(np.maximum, np.moveaxis(array, -1, 0))


def aligned(array: Floats, alignment: int) -> Floats:
    """Copy to contiguous memory whose address is a multiple of `alignment`, which vector instructions need."""
    memory = np.empty(array.size + alignment // array.itemsize)
    first = -memory.ctypes.data % alignment // array.itemsize
    made = memory[first : first + array.size].reshape(array.shape)
    made[...] = array
    return made


def address(array: NDArray[Any]) -> int:
    """The address of an array's first entry, which compiled code is given."""
    return int(array.ctypes.data)
