"""The environment that numbers depend on: this code, numerical libraries, processor and compiler."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lipverify.foundation.compiling import compiler
from lipverify.foundation.shipped import shipped
from lipverify.foundation.version import __version__

NUMERICAL = ("numpy", "scipy", "sympy", "mpmath", "python-flint")
"""Libraries that compute numbers."""
PASSING = ("msgspec", "matplotlib", "typst", "distributed")
"""Libraries that pass numbers on."""
ON_REQUEST = ("cupy-cuda12x", "cupy-cuda13x")
"""Libraries that compute numbers only on request."""
SOURCES = (".py", ".c", ".h", ".cu", ".cuh", ".json", ".xz")
SETTINGS = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES", "MKL_CBWR", "CFLAGS")
"""Environment variables that choose the order in which a library sums."""


@cache
def fingerprint() -> str:
    """A short hash of the code and of everything else that numbers depend on."""
    parts = [*(f"{name} {number}" for name, number in versions(NUMERICAL).items()), platform.python_version()]
    parts += [cpu(), compiler_version(), *(f"{name}={os.environ.get(name, '')}" for name in SETTINGS)]
    digest = blake2b("\0".join(parts).encode(), digest_size=8)
    for folder in (Path(__file__).parents[1], shipped()):
        for path in sorted(path for path in folder.rglob("*") if path.suffix in SOURCES):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def provenance() -> dict[str, str]:
    """The entries of a ledger about code, libraries, processor and compiler, by name."""
    used = {"lipverify": __version__, **versions(NUMERICAL)}
    used |= {name: number for name, number in versions((*PASSING, *ON_REQUEST)).items() if number != "not installed"}
    return {**used, "compiler": compiler_version(), "CPU": cpu()}


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    """The versions of those packages that are installed."""
    installed = {}
    for package in packages:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            installed[package] = "not installed"
    return installed


def cpu() -> str:
    """The vector instructions that NumPy uses here, because the last digits of sums depend on them."""
    # only this says which instructions are found and not turned off
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    features = getattr(_multiarray_umath, "__cpu_features__", {})
    return " ".join(sorted(name for name, there in features.items() if there)) or platform.machine()


def machine_here() -> str:
    """Processor, libraries and compiler, on which the bits of a training depend."""
    numbers = versions(("numpy", "scipy"))
    return f"{_processor()}; NumPy {numbers['numpy']}; SciPy {numbers['scipy']}; {compiler_version()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    values = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    numbers = [values[key] for key in ("cpu family", "model", "stepping") if key in values]
    return " ".join([values.get("model name") or platform.processor() or platform.machine(), *numbers])


def compiler_version() -> str:
    """The first line of the C compiler's `--version`, or that there is no compiler."""
    command = compiler()
    if command is None:
        return "none"
    try:
        output = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return command[0]
    return next((line.strip() for line in output.splitlines() if line.strip()), command[0])
