"""Where contexts are evaluated: an array library, and a kernel for reduced sampling where there is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lipverify.foundation.validation import chosen

Kernel = Callable[..., tuple[Any, Any]]
"""samples(law, L, d, n, ladders, key, first, bundles) -> (noise, bias), see `kernels.launch.samples`."""


@dataclass(frozen=True)
class Backend:
    """An array namespace `xp`, a device of it, and a kernel that takes about `tokens` tokens in a call."""

    xp: Any = np
    device: Any = None
    kernel: Kernel | None = None
    tokens: int = 0


NUMPY = Backend()


def _native() -> Backend:
    """NumPy, and a kernel compiled by the C compiler of this machine."""
    from lipverify.loss.montecarlo.kernels import native

    native.require_compiler()
    return Backend(kernel=native.samples, tokens=2**18)


def _cupy() -> Backend:
    """CuPy and its kernels; enough tokens in a launch to fill any device, and less than a second of it."""
    from lipverify.loss.montecarlo.kernels import launch

    launch.require_gpu()
    import cupy

    return Backend(xp=cupy, kernel=launch.samples, tokens=2**26)


BACKENDS: dict[str, Callable[[], Backend]] = {"numpy": lambda: NUMPY, "native": _native, "cupy": _cupy}


def backend_named(name: str) -> Backend:
    """The backend called `name`, refused unless it is known and what it needs is there.

    >>> backend_named("numpy").xp.__name__
    'numpy'
    """
    return BACKENDS[chosen("backend", name, BACKENDS)]()
