"""What an exact evaluation costs, as ratios taken in one run: `python benchmarks/evaluations.py`.

The unit is what NumPy needs for 10^6 float64 exponentials on the same machine in the same minute.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from lipverify import Problem, loss_terms, optimal_window
from lipverify.laws import Affine, ReLU

ROUNDS = 7


def seconds(work: Callable[[int], object]) -> float:
    """Median time of one call; each call gets another number, so that nothing is remembered."""
    work(0)
    times = []
    for k in range(1, ROUNDS + 1):
        clock = time.perf_counter()
        work(k)
        times.append(time.perf_counter() - clock)
    return statistics.median(times)


def main() -> None:
    """Print one line for each ratio."""
    block = np.linspace(-30.0, 0.0, 10**6)
    unit = seconds(lambda k: np.exp(block - k))
    print(f"unit: 1e6 exponentials in {unit * 1e3:.2f} ms")

    def evaluation(law: Affine | ReLU, n: float, w: float) -> float:
        problem = Problem(d=5, n=n, law=law)
        return seconds(lambda k: loss_terms(problem, w * (1 + 1e-3 * k)))

    for law in (Affine(), ReLU()):
        many = evaluation(law, 1e12, 100.0)
        print(f"{law.name}: many tokens in a window (n = 1e12, w = 100): {many / unit:.1f} units")
        few = evaluation(law, 1e3, 100.0)
        print(f"{law.name}: few tokens in a window (n = 1e3, w = 100): {few / unit:.1f} units")
        long, short = evaluation(law, 1e30, 3.0), evaluation(law, 1e3, 3.0)
        print(f"{law.name}: n = 1e30 over n = 1e3 at w = 3: {long / short:.2f}")
        found = seconds(lambda k, law=law: optimal_window(Problem(d=5, n=float(round(1e12 * (1 + k))), law=law)))
        print(f"{law.name}: optimal window at n = 1e12: {found / many:.0f} evaluations' worth")

    problem, w = Problem(d=5, n=10**4, law=Affine()), 30.0
    exact = seconds(lambda k: loss_terms(problem, w * (1 + 1e-3 * k)))
    contexts = 100
    plain = seconds(lambda k: loss_terms(problem, w, "montecarlo", contexts=contexts, seed=k))
    terms = loss_terms(problem, w)
    sampled = loss_terms(problem, w, "montecarlo", contexts=contexts)
    relative = float(sampled.noise_error / sampled.noise)
    reached = float(terms.noise_error / terms.noise)
    needed = plain * (relative / reached) ** 2
    print(
        f"Monte Carlo brought to the exact method's relative error ({reached:.0e}) at n = 1e4, d = 5, by its own rate: "
        f"10^{math.log10(needed / exact):.0f} times the time of one evaluation"
    )


if __name__ == "__main__":
    main()
