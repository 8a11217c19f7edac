"""The cost of a first look: `python benchmarks/first_look.py`.

Seconds of processor time of whole commands, the least of three after one that warms the caches, beside what importing
NumPy and SciPy alone costs.

Bytecode must be kept for this to say anything: unset PYTHONDONTWRITEBYTECODE.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from tempfile import TemporaryDirectory

LOSS = (
    "from lipverify import Problem, loss_terms; from lipverify.laws import ReLU; "
    "print(loss_terms(Problem(d=5, n=100, law=ReLU(L=1.0), sigma=1.0), w=1.0))"
)
LIPVERIFY = ("-m", "lipverify")
LOOKS = (
    ("import numpy, scipy", ("-c", "import numpy, scipy")),
    ("lipverify --help", (*LIPVERIFY, "--help")),
    ("lipverify list", (*LIPVERIFY, "list")),
    ("from lipverify import verify", ("-c", "from lipverify import verify")),
    ("the first loss", ("-c", LOSS)),
    ("verify softmax.split", (*LIPVERIFY, "verify", "softmax.split", "--out", "{folder}")),
    (
        "README's three theorems",
        (*LIPVERIFY, "verify", "softmax.split", "softmax.window-printed", "softmax.tradeoff", "--out", "{folder}"),
    ),
)
REPEATED = 3


def main() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    print(f"{'':<30}{'CPU s':>8}{'/ NumPy and SciPy':>20}")
    unit = 0.0
    with TemporaryDirectory() as folder:
        for name, words in LOOKS:
            command = [sys.executable, *(word.format(folder=folder) if "{folder}" in word else word for word in words)]
            seconds = min([used(command, environment) for _ in range(1 + REPEATED)][1:])
            unit = unit or seconds
            print(f"{name:<30}{seconds:>8.2f}{seconds / unit:>20.1f}", flush=True)


def used(command: list[str], environment: dict[str, str]) -> float:
    """Processor time of a command and of its own processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
