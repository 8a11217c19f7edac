"""How cost grows: `python benchmarks/cost.py [loss | window | context]`, one table a question.

Processor seconds in one thread, the least of three with new values of w each time, beside what a user would write: an
affine loss by nested `scipy.integrate.quad`, its minimum by `scipy.optimize.minimize_scalar`, sampled contexts by plain
NumPy. Under a column is the exponent of its growth over the last two rows. "off" is the relative error of what the user
would write, by the exact method.
"""

from __future__ import annotations

import math
import os

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import sys
import time
import warnings
from collections.abc import Callable, Iterable
from itertools import count

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from lipverify import Problem, loss_terms, optimal_window
from lipverify.foundation.compiling import has_compiler
from lipverify.laws import Affine, Law, ReLU

REPEATED = 3
TOO_LONG = 20.0
"""Seconds after which a program of a user is no longer tried for larger values."""
LENGTHS = (1e2, 1e4, 1e6, 1e12, 1e30)
DIMENSIONS = (2, 5, 20, 200)
GRIDS = (1, 10, 100, 1000)
AT = 5, 100
"""d and n where another grows."""


_turns = count()


def windows(many: int) -> np.ndarray:
    """Other values of w at each call, so that nothing computed before is asked again."""
    return np.geomspace(0.5, 50.0, many + 2)[1:-1] * (1 + 1e-5 * next(_turns))


def nested(d: int, n: float, w: float, sigma: float = 1.0) -> float:
    """The affine loss by the integral over lambda, with an integral over the density of t inside of each value."""
    mass = quad(lambda t: (1 - t * t) ** ((d - 3) / 2), -1, 1)[0]

    def mean(f: Callable[[float], float], at: float) -> float:
        """E f(t) e^{-at e^{w (t - 1)}}."""
        inner = quad(lambda t: f(t) * math.exp(-at * math.exp(w * (t - 1))) * (1 - t * t) ** ((d - 3) / 2), -1, 1)
        return float(inner[0]) / mass

    def g(t: float) -> float:
        return math.exp(w * (t - 1))

    def integrand(at: float) -> float:
        others = mean(lambda t: 1.0, at)
        own = mean(lambda t: g(t) ** 2 * (sigma**2 + (1 - t * t + (1 - t) ** 2) / (3 * d)), at)
        pair = mean(lambda t: g(t) * (1 - t), at) ** 2 / (3 * d)
        return n * at * (own * others ** (n - 1) + (n - 1) * pair * others ** (n - 2))

    return float(quad(integrand, 0, math.inf)[0])


def plain(d: int, n: int, w: np.ndarray, contexts: int, random: np.random.Generator) -> np.ndarray:
    """Noise and ReLU bias of contexts, as anyone would sample them: (contexts, 2, number of w)."""
    found = np.empty((contexts, 2, len(w)))
    for context in found:
        x = random.standard_normal((n + 1, d))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        q = random.standard_normal(d)
        q /= np.linalg.norm(q)
        scores = np.outer(w, x[1:] @ x[0])
        a = np.exp(scores - scores.max(axis=1, keepdims=True))
        a /= a.sum(axis=1, keepdims=True)
        links = np.maximum(x @ q, 0)
        context[0], context[1] = (a**2).sum(axis=1), (a @ links[1:] - links[0]) ** 2
    return found


def seconds(work: Callable[[], object]) -> float:
    """The least processor time of a few calls; of one if it takes long."""
    work()
    least = math.inf
    for _ in range(REPEATED):
        start = time.process_time()
        work()
        least = min(least, time.process_time() - start)
        if least > 1:
            break
    return least


class Table:
    """Rows of one question, of which `theirs` is left out from where it has taken too long."""

    def __init__(self, title: str, grows: str, columns: Iterable[str]) -> None:
        self.grows, self.columns, self.rows = grows, list(columns), list[list[float]]()
        self.sizes = list[float]()
        print(f"\n{title}\n{grows:>10}" + "".join(f"{column:>18}" for column in self.columns), flush=True)

    def row(self, size: float, *cells: Callable[[], float]) -> None:
        values = []
        for k, cell in enumerate(cells):
            late = "quad" in self.columns[k] and bool(self.rows) and not self.rows[-1][k] <= TOO_LONG
            values.append(math.nan if late else cell())
        self.rows.append(values)
        self.sizes.append(size)
        print(f"{size:>10g}" + "".join(f"{value:>18.3g}" for value in values), flush=True)

    def close(self) -> None:
        if len(self.rows) > 1:
            (a, b), (s, t) = self.rows[-2:], self.sizes[-2:]
            powers = [
                "" if name == "off" else f"{math.log(y / x) / math.log(t / s):.2f}"
                for name, x, y in zip(self.columns, a, b, strict=True)
            ]
            print(f"{'exponent':>10}" + "".join(f"{power:>18}" for power in powers))


def of_losses() -> None:
    def table(grows: str, points: Iterable[tuple[float, int, float, int]]) -> None:
        made = Table(f"Seconds of an affine and a ReLU loss by {grows}", grows, ("affine", "relu", "quad", "off"))
        off = count_off()
        for size, d, n, many in points:

            def ours(law: Law, d: int = d, n: float = n, many: int = many) -> float:
                problem = Problem(d=d, n=n, law=law)
                return seconds(lambda: loss_terms(problem, windows(many)))

            def theirs(d: int = d, n: float = n, many: int = many) -> float:
                w = float(windows(many)[0])
                start = time.process_time()
                value = nested(d, n, w)
                taken = time.process_time() - start
                off.last = abs(value / float(loss_terms(Problem(d=d, n=n, law=Affine()), w).total) - 1)
                return taken * many  # each w costs it the same

            made.row(size, lambda: ours(Affine()), lambda: ours(ReLU()), theirs, lambda: off.last)
        made.close()

    d, n = AT
    table("n", ((n, d, n, 1) for n in LENGTHS))
    table("d", ((d, d, n, 1) for d in DIMENSIONS if d > 2))
    table("windows", ((many, d, n, many) for many in GRIDS))


class count_off:  # noqa: N801
    """The error of the last value."""

    last = math.nan


def of_windows() -> None:
    def table(grows: str, points: Iterable[tuple[float, int, float]]) -> None:
        made = Table(f"Seconds of w* by {grows}", grows, ("affine", "relu", "quad and minimize", "off"))
        off, new = count_off(), count()
        for size, d, n in points:

            def ours(law: type[Law], d: int = d, n: float = n) -> float:
                return seconds(lambda: optimal_window(Problem(d=d, n=n, law=law(1 + 1e-6 * next(new)))))

            def theirs(d: int = d, n: float = n) -> float:
                start = time.process_time()
                best = minimize_scalar(lambda x: nested(d, n, math.exp(x)), bounds=(-3, 5), method="bounded")
                taken = time.process_time() - start
                off.last = abs(math.exp(best.x) / optimal_window(Problem(d=d, n=n, law=Affine())).w - 1)
                return taken

            made.row(size, lambda: ours(Affine), lambda: ours(ReLU), theirs, lambda: off.last)
        made.close()

    d, n = AT
    table("n", ((n, d, n) for n in LENGTHS))
    table("d", ((d, d, n) for d in DIMENSIONS if d > 2))


def of_contexts() -> None:
    backends = ("numpy", "native") if has_compiler() else ("numpy",)

    def table(grows: str, points: Iterable[tuple[float, int, int, int]]) -> None:
        title = f"Microseconds of a sampled context by {grows}, ReLU"
        made = Table(title, grows, (*backends, "plain NumPy"))
        for size, d, n, many in points:
            contexts = max(16, min(20_000, int(2e8 / (n * many)) // 4 * 4))

            def ours(backend: str, d: int = d, n: int = n, many: int = many, contexts: int = contexts) -> float:
                problem = Problem(d=d, n=n, law=ReLU())

                def work() -> object:
                    how = {"contexts": contexts, "seed": next(_turns), "backend": backend}
                    return loss_terms(problem, windows(many), "montecarlo", **how)  # type: ignore[arg-type]

                return 1e6 * seconds(work) / contexts

            def theirs(d: int = d, n: int = n, many: int = many, contexts: int = contexts) -> float:
                random, fewer = np.random.default_rng(0), max(4, contexts // 32)
                return 1e6 * seconds(lambda: plain(d, n, windows(many), fewer, random)) / fewer

            made.row(size, *(lambda backend=backend: ours(backend) for backend in backends), theirs)  # type: ignore[misc]
        made.close()

    d, n = AT
    table("n", ((n, d, n, 1) for n in (10, 100, 10**4, 10**6)))
    table("d", ((d, d, n, 1) for d in DIMENSIONS))
    table("windows", ((many, d, n, many) for many in GRIDS))


QUESTIONS = {"loss": of_losses, "window": of_windows, "context": of_contexts}


def main(asked: list[str]) -> None:
    warnings.simplefilter("ignore")
    for name in asked or QUESTIONS:
        QUESTIONS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
