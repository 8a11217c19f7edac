r"""The uniform measure on the sphere S^{d-1}."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtri

Array = Any


def standard_normals(rng: Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Standard normals by inversion of 53-bit uniforms, finite for every one: the same numbers on any machine."""
    # the largest uniform is 1 - 2^-53, and 2^-54 more would be rounded to 1
    return np.asarray(ndtri(np.minimum(rng.random(shape) + 2.0**-54, 1 - 2.0**-53)))


def on_sphere(normals: Array, xp: Any) -> Array:
    """Points uniform on S^{d-1} from standard normals of shape (..., d): x / |x|.

    >>> import numpy as np
    >>> on_sphere(np.array([[3.0, 4.0]]), np)
    array([[0.6, 0.8]])
    """
    return normals / xp.sqrt(xp.sum(normals * normals, axis=-1, keepdims=True))
