"""Launches and memory of the array path, for two sizes of memory: `python benchmarks/launches.py`.

It needs no GPU. A launch is an array that array-api-strict makes, a view included: an upper bound of what a GPU
launches. The peak is that of NumPy's allocations, to compare with the room that the backend leaves for a call.
Nothing is fused there (`cupy.fuse`, reduction kernels): without a device no test could run the fused code.
"""

from __future__ import annotations

import tracemalloc
from typing import Any
from unittest.mock import patch

import array_api_strict
import numpy as np
from array_api_strict._array_object import Array

from lipverify import Problem
from lipverify.covariates import Ellipsoid, Gaussian
from lipverify.laws import ReLU, Ridge
from lipverify.loss.montecarlo.backend import Backend
from lipverify.loss.montecarlo.terms import sampler

CONTEXTS, N = 2_000, 1_000
WINDOWS = np.geomspace(0.5, 64.0, 8)
ROOMS = (2**30, 2**26)
"""Bytes for the arrays of a call: a fourth of 4 GiB and of 256 MiB."""
OWN = Ridge(lambda z: abs(z - 0.5) * z, kinks=(0.5,))
PATHS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "own link": ({"law": OWN}, {"sampling": "reduced"}),
    "own link, ellipsoid": ({"law": OWN, "covariates": Ellipsoid([4.0, 1.0, 0.5])}, {"sampling": "reduced"}),
    "full": ({"law": ReLU()}, {"sampling": "full"}),
    "full, matrix": ({"law": ReLU()}, {"sampling": "full", "M": np.diag([1.0, 2.0, 0.5])}),
    "full, normal covariates": ({"law": OWN, "covariates": Gaussian(np.eye(3) / 9)}, {"sampling": "full"}),
    "linear attention": ({"law": ReLU()}, {"attention": "linear"}),
}


def launches_and_peak(name: str, room: int, contexts: int = CONTEXTS) -> tuple[int, int, int, int]:
    """(launches, peak bytes, samples of a call, bytes written) for the samples of a path, without the interval."""
    problem, options = PATHS[name]
    drawn = sampler(Problem(d=3, n=N, **problem), WINDOWS, backend=Backend(array_api_strict, room=room), **options)
    samples, made, launches = contexts // drawn.contexts_a_sample, Array._new.__func__, 0
    written = 0

    def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal launches, written
        launches += 1
        array = made(*arguments, **named)
        written += array._array.nbytes if array._array.base is None else 0  # a view writes nothing
        return array

    with patch.object(Array, "_new", classmethod(counted)):
        tracemalloc.start()
        for first in range(0, samples, drawn.at_once):
            drawn.rows(first, min(drawn.at_once, samples - first))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return launches, peak, drawn.at_once, written


def main() -> None:
    print(f"{CONTEXTS} contexts of {N} tokens at {len(WINDOWS)} w, d = 3")
    print(f"{'':26}{'room, MiB':>10}{'launches':>10}{'peak, MiB':>11}{'samples a call':>16}{'MiB written':>13}")
    for name in PATHS:
        for room in ROOMS:
            launches, peak, at_once, written = launches_and_peak(name, room)
            memory = f"{launches:10}{peak / 2**20:11.0f}{at_once:16}{written / 2**20:13.0f}"
            print(f"{name:26}{room / 2**20:10.0f}{memory}")


if __name__ == "__main__":
    main()
