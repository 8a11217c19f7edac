"""CuPy without a device: its recorded names and signatures, over NumPy. See `cupy.py`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

FOLDER = str(Path(__file__).parent)
PACKAGES = ("cupy", "cupyx", "cupy_backends", "cuda")


@contextmanager
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Make `import cupy` give a new stand-in, here and in processes that start from now on."""
    from lipverify.loss.montecarlo.compiled import launch  # internal: its cache is the device's

    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [FOLDER, os.environ.get("PYTHONPATH", "")])))
    for name in _loaded():
        monkeypatch.delitem(sys.modules, name)
    cached = (launch._compiled, launch.require_gpu)
    for each in cached:
        each.cache_clear()
    try:
        yield import_module("cupy")
    finally:
        for each in cached:
            each.cache_clear()
        for name in _loaded():
            del sys.modules[name]


def _loaded() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] in PACKAGES]
