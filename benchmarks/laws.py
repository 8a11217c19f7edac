"""The cost of the exact method for each kind of law: `python benchmarks/laws.py [LAW ...]`.

Processor time of one loss, one optimal w and one ladder (sixteen w from 1 to 1e5). The unit is NumPy's time to write
10^6 exponentials into an existing array, measured next to each. "few" means 30 tokens, "many" 10^9; "first" contains
the tables that are computed once for a law and a dimension; later columns those of two tokens, which all laws of a
process share, so that a law is alone in its process in `benchmarks/results/laws.txt`. A dash is a refusal.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads that wait for each other count as processor time

import sys
import time
from collections.abc import Callable

import numpy as np

from lipverify import Problem, loss_terms, optimal_window
from lipverify.errors import OutOfReach
from lipverify.laws import RBF, Affine, Cosine, Law, Matern, Quadratic, ReLU, Ridge, Zonal

EXPONENTIALS = 10**6
DIMENSIONS = (2, 3, 10)
LADDER = np.geomspace(1.0, 1e5, 16)
STEPS = tuple((np.arange(-3, 4) / 4).tolist())
LAWS: dict[str, Callable[[], Law]] = {
    "affine": Affine,
    "relu": ReLU,
    "cosine": lambda: Cosine(L=3.0),
    "quadratic": Quadratic,
    "smooth link": lambda: Ridge(lambda z: np.tanh(2 * z)),
    "one kink": lambda: Ridge(lambda z: abs(z - 0.2), kinks=(0.2,)),
    "three kinks": lambda: Ridge(lambda z: abs(z + 0.5) + abs(z - 0.1) + abs(z - 0.6), kinks=(-0.5, 0.1, 0.6)),
    "no kinks told": lambda: Ridge(lambda z: abs(z + 0.5) + abs(z - 0.1) + abs(z - 0.6)),
    "jump": lambda: Ridge(np.sign, jumps=(0.0,)),
    "seven jumps": lambda: Ridge(lambda z: np.floor(4 * z), jumps=STEPS),
    "bump of .05": lambda: Ridge(lambda z: np.exp(-(((z - 0.3) / 0.05) ** 2) / 2)),
    "bump of .01": lambda: Ridge(lambda z: np.exp(-(((z - 0.3) / 0.01) ** 2) / 2)),
    "softplus": lambda: Ridge(lambda z: np.logaddexp(0, 1e4 * z) / 1e4),
    "power 1.2": lambda: Ridge(lambda z: np.abs(z) ** 1.2, kinks=(0.0,)),
    "root": lambda: Ridge(lambda z: np.sqrt(abs(z)), kinks=(0.0,)),
    "exp(-r)": lambda: Matern(nu=0.5),
    "matern 5/2": lambda: Matern(nu=2.5),
    "rbf": RBF,
    "kernel": lambda: Zonal(lambda t: 1 / (2 - t)),
    "polynomial": lambda: Zonal(lambda t: (t + t**3) / 2),
    "spectrum": lambda: Zonal(spectrum=(0.0, 1.0, 0.5, 0.25)),
    "sum": lambda: ReLU() + Cosine(L=3.0),
}


def unit() -> float:
    """Processor seconds to write 10^6 exponentials."""
    x = np.linspace(-1, 1, EXPONENTIALS)
    out = np.empty_like(x)
    best = np.inf
    for _ in range(20):
        start = time.process_time()
        np.exp(x, out=out)
        best = min(best, time.process_time() - start)
    return float(best)


def cost(work: Callable[[], object]) -> str:
    """The units that a piece of work takes, or a dash."""
    one = unit()
    start = time.process_time()
    try:
        work()
    except OutOfReach:
        return "-"
    return f"{(time.process_time() - start) / one:.3g}"


def works(law: Law, d: int) -> list[Callable[[], object]]:
    """The timed pieces of work for a law."""
    few, many = (Problem(d=d, n=n, law=law) for n in (30, 10**9))
    return [
        lambda: (loss_terms(many, 10.0), loss_terms(few, 4.0)),
        lambda: loss_terms(few, 5.0),
        lambda: loss_terms(few.replace(n=31), 4.0),
        lambda: loss_terms(many, 300.0),
        lambda: optimal_window(many),
        lambda: loss_terms(many, LADDER),
        lambda: loss_terms(few, 1e4),
    ]


def main(names: list[str]) -> None:
    print(f"one unit: {1e3 * unit():.2f} ms of processor time")
    columns = ("first", "few", "next n", "many", "w*", "ladder", "w = 1e4, few")
    print(f"{'law':12} {'d':>3}" + "".join(f"{column:>14}" for column in columns))
    for name in names or LAWS:
        for d in DIMENSIONS:
            numbers = [cost(work) for work in works(LAWS[name](), d)]
            print(f"{name:12} {d:>3}" + "".join(f"{number:>14}" for number in numbers), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
