r"""The uniform measure on the sphere S^{d-1}."""

from __future__ import annotations

from typing import Any

from lipverify.foundation.arrays import Array, row_sums


def on_sphere(normals: Array, xp: Any) -> Array:
    """Points uniform on S^{d-1} from standard normals of shape (..., d): x / |x|.

    >>> import numpy as np
    >>> on_sphere(np.array([[3.0, 4.0]]), np)
    array([[0.6, 0.8]])
    """
    return normals / xp.sqrt(row_sums(normals * normals, xp))[..., None]
