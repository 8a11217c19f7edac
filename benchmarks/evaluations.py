"""The cost of an exact evaluation, as ratios within one run: `python benchmarks/evaluations.py`.

The unit is NumPy's time for 10^6 float64 exponentials on the same machine in the same minute.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from lipverify import Problem, growth, loss_terms, optimal_window
from lipverify.laws import Affine, Cosine, Quadratic, ReLU
from lipverify.problem.law import Law

ROUNDS = 9


def seconds(work: Callable[[int], object], rounds: int = ROUNDS) -> float:
    """Median CPU time of one call; each call has a different argument, so that no cached result is used."""
    work(0)
    times = []
    for k in range(1, rounds + 1):
        clock = time.process_time()
        work(k)
        times.append(time.process_time() - clock)
    return statistics.median(times)


def evaluation(law: Law, n: float, w: float, **options: str) -> float:
    """CPU time of one evaluation at d = 5, at a new w."""
    problem = Problem(d=5, n=n, law=law)
    return seconds(lambda k: loss_terms(problem, w * (1 + 1e-3 * k), **options))


def print_evaluations(law: Law, unit: float) -> None:
    """Print one line for each regime of a law."""
    name, many = law.name, evaluation(law, 1e12, 100.0)
    print(f"{name}: many tokens in a window (n = 1e12, w = 100): {many / unit:.2f} units")
    print(f"{name}: at the optimum of n = 1e4 (w = 20): {evaluation(law, 1e4, 20.0) / unit:.2f} units")
    print(f"{name}: few tokens in a window (n = 1e3, w = 100): {evaluation(law, 1e3, 100.0) / unit:.1f} units")
    long, short = evaluation(law, 1e30, 3.0), evaluation(law, 1e3, 3.0005)
    print(f"{name}: n = 1e30 over n = 1e3 at w = 3: {long / short:.2f}")
    windows = np.geomspace(50.0, 200.0, 9)
    together = seconds(lambda k: loss_terms(Problem(d=5, n=1e12, law=law), windows * (1 + 1e-3 * k)))
    print(f"{name}: nine windows together: {together / many:.1f} evaluations' worth")
    print(
        f"{name}: the zonal route (n = 1e12, w = 100): {evaluation(law, 1e12, 100.0, route='zonal') / unit:.1f} units"
    )
    problem = Problem(d=5, n=1e12, law=law)
    found = seconds(lambda k: optimal_window(problem.replace(n=float(10**12 + k))))
    print(f"{name}: optimal window at n = 1e12: {found / many:.1f} evaluations' worth")
    ladder = seconds(lambda k: growth(lambda n: optimal_window(problem.replace(n=n)).w, 1e4 + k, 1e30), rounds=3)
    print(f"{name}: growth of the optimal window, n = 1e4 to 1e30: {ladder / many:.0f} evaluations' worth")


def main() -> None:
    """Print one line for each ratio."""
    block = np.linspace(-30.0, 0.0, 10**6)
    unit = seconds(lambda k: np.exp(block - k))
    print(f"unit: 1e6 exponentials, np.exp on an array of that size, in {unit * 1e3:.2f} ms")
    for law in (Affine(), ReLU(), Cosine(L=3.0), Quadratic()):
        print_evaluations(law, unit)

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
        f"10^{math.log10(needed / exact):.0f} times the CPU time of one evaluation"
    )


if __name__ == "__main__":
    main()
