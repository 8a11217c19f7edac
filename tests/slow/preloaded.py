"""System calls with injected failures, by a small library that is loaded before all others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

import pytest

from lipverify.foundation.compiling import compiler, has_compiler  # internal: the compiler that builds the library

needed = pytest.mark.skipif(
    sys.platform != "linux" or not has_compiler(), reason="needs a C compiler, and Linux's way to load a library first"
)


def preloaded(source: str) -> dict[str, str]:
    """The environment in which a source file of this folder is compiled and loaded first."""
    library = Path(mkdtemp(prefix="lipverify-")) / f"{source}.so"
    command = [*(compiler() or ()), "-shared", "-fPIC", "-O1", "-w", str(Path(__file__).with_name(source))]
    subprocess.run([*command, "-o", str(library), "-ldl"], check=True)
    return {**os.environ, "LD_PRELOAD": str(library)}
