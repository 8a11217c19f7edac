"""Arrays of other libraries and devices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def to_host(array: Any) -> NDArray[np.float64]:
    """A NumPy array from any library's."""
    if hasattr(array, "get"):  # CuPy
        return np.asarray(array.get())
    if hasattr(array, "to_device") and not isinstance(array, np.ndarray):
        namespace = array.__array_namespace__()
        array = array.to_device(getattr(namespace, "Device", str)("CPU_DEVICE"))
    return np.asarray(array)


def to_device(array: NDArray[np.float64], xp: Any, device: Any) -> Any:
    """A host array in the library `xp`, on its device."""
    return array if xp is np else xp.asarray(array, device=device)
