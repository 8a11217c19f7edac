"""The cost of sampling on a CPU: ratios of CPU times within this run.

    python benchmarks/sampling.py

Pairs: a (token, window) pair of reduced sampling, everything included (draws, values, sums, interval), divided by one
`np.exp` of a float64. Plain: a straightforward program, with tokens in R^d, a softmax and a normal interval, compared
with `loss_terms` at the same stated half-width, for each kind of interval. Both with NumPy and, if there is a C
compiler, with the compiled kernel. Last, samples that the host adds to an interval: all of the work, and the rest if a
GPU has reduced them.
"""

from __future__ import annotations

import os

from lipverify.foundation.arrays import Floats

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import itertools
import math
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from lipverify import Problem, loss_terms
from lipverify.foundation.compiling import has_compiler
from lipverify.foundation.means.betting import Tally
from lipverify.foundation.means.samples import leaf_moments
from lipverify.laws import Affine, ReLU, RidgeLaw
from lipverify.loss.montecarlo.accuracy import tally_of
from lipverify.loss.montecarlo.backend import backend_named
from lipverify.loss.montecarlo.samples import largest_distance, largest_noise, largest_spread, smallest_noise
from lipverify.loss.montecarlo.terms import INTERVALS, sampler
from lipverify.loss.terms import IntervalName

REPEATS = 9
BACKENDS = ("numpy", "native") if has_compiler() else ("numpy",)


def seconds(run: Callable[[], object], repeats: int = REPEATS) -> float:
    """The smallest CPU time of several runs, because others share the machine."""
    run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def exponential() -> tuple[float, float]:
    """Seconds of one np.exp: on an array in the cache, into an existing array; and for all pairs at once, as it is
    called.
    """
    small, large = np.linspace(-30, 0, 2**14), np.linspace(-30, 0, 2**20)
    out = np.empty_like(small)
    return seconds(lambda: np.exp(small, out=out), 400) / small.size, seconds(lambda: np.exp(large), 30) / large.size


def pairs(law: RidgeLaw, d: int, n: int, w: Floats, backend: str) -> float:
    """Seconds per (token, window) pair."""
    drawn = sampler(Problem(d=d, n=n, law=law), w, sampling="reduced", backend=backend_named(backend))
    count = max(8, 4 * drawn.size)
    return seconds(lambda: tally_of(drawn, count).interval()) / (count * drawn.contexts_a_sample * n * w.size)


def plain(d: int, n: int, w: float, contexts: int, seed: int = 0) -> tuple[float, float]:
    """Half-widths of normal 95 % intervals of bias and noise of ReLU, L = sigma = 1, by a straightforward program."""
    rng = np.random.default_rng(seed)
    noise, bias = [], []
    for _ in range(contexts // (some := max(1, 10**6 // (n * d)))):
        x, query, q = (rng.standard_normal((some, k, d)) for k in (n, 1, 1))
        x, query, q = (v / np.linalg.norm(v, axis=2, keepdims=True) for v in (x, query, q))
        a, b = rng.uniform(-1, 1, (2, some, 1))
        weights = np.exp(w * np.einsum("cid,cjd->ci", x, query))
        weights /= weights.sum(axis=1, keepdims=True)
        z, target = np.einsum("cid,cjd->ci", x, q), np.sum(query * q, axis=2)
        f, at_query = (a * np.maximum(v, 0) + b * np.maximum(-v, 0) for v in (z, target))
        noise.append((weights**2).sum(axis=1))
        bias.append((np.sum(weights * f, axis=1) - at_query[:, 0]) ** 2)
    bias_width, noise_width = (1.96 * np.concatenate(v).std(ddof=1) / math.sqrt(some * len(v)) for v in (bias, noise))
    return float(bias_width), float(noise_width)


def against_plain(d: int, n: int, w: float, contexts: int, backend: str, interval: IntervalName) -> str:
    """How many times as fast as `plain` for the same stated half-widths of bias and noise, whose cost falls with their
    squares. The bounds from tails are computed anew, as in a user's first call.
    """
    problem, few = Problem(d=d, n=n, law=ReLU()), min(contexts, 2 * 10**6 // n)
    options = {"contexts": contexts, "backend": backend, "interval": interval}
    terms = loss_terms(problem, w, "montecarlo", **options)

    def ours() -> None:
        for bound in (largest_noise, largest_spread, largest_distance, smallest_noise):
            bound.cache_clear()
        loss_terms(problem, w, "montecarlo", **options)

    cost, widths = seconds(ours, 3), plain(d, n, w, few)
    squares = np.square(widths) / np.square([terms.bias_error, terms.noise_error])
    bias, noise = seconds(lambda: plain(d, n, w, few), 3) / cost * squares
    return f"{interval} {bias:6.1f} {noise:6.1f}"


def taken_in(kind: type[Tally], columns: int = 64, count: int = 2**16) -> tuple[float, float]:
    """Samples per second that an interval adds: reduced by NumPy chunk by chunk, and reduced elsewhere."""
    x, ends = np.random.default_rng(0).uniform(0.2, 0.4, (count, columns)), np.repeat([[0.0], [1.0]], columns, axis=1)
    made: list[Floats] = []

    def elsewhere(*leaves: Any) -> Floats:
        made.extend([] if made else [leaf_moments(*leaves)])
        return made[0]

    def by_chunks() -> None:
        tally = kind(*ends)
        for chunk in np.array_split(x, 16):
            tally.add(chunk)

    return count / seconds(by_chunks), count / seconds(lambda: kind(*ends, moments=elsewhere).add(x))


def main() -> None:
    cached, called = exponential()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"one np.exp: {cached * 1e9:.2f} ns in a cache, {called * 1e9:.2f} ns called on 2^20 numbers")
    print("\n(token, window) pairs per second over np.exp per second: in a cache, as it is called")
    grids = {
        "32 windows, ratio 2": 2.0 ** np.arange(-8, 24),
        "32 windows, ratio 2^(1/4)": 2.0 ** (np.arange(32) / 4 - 1),
        "32 windows, any": np.geomspace(0.5, 500.0, 32),
        "12 windows, ratio 2": 2.0 ** np.arange(-1, 11),
    }
    for name, w in grids.items():
        for law in (Affine(), ReLU()):
            for n in (10, 100, 1000, 100_000):
                taken = [(backend, pairs(law, 8, n, w, backend)) for backend in BACKENDS]
                columns = [f"{b} {s * 1e9:5.2f} ns {cached / s:5.2f} {called / s:6.2f}" for b, s in taken]
                print(f"  {name:26s} {law.name:7s} d = 8, n = {n:<7d} {'   '.join(columns)}")
    print("\nplain NumPy over loss_terms, ReLU: CPU time at the same stated half-width of the bias, of the noise")
    for (d, n, w), contexts in itertools.product(((3, 100, 5.0), (5, 1000, 10.0), (8, 1000, 3.0)), (20_000, 200_000)):
        for backend in BACKENDS:
            columns = [against_plain(d, n, w, contexts, backend, interval) for interval in INTERVALS]
            print(
                f"  d = {d}, n = {n:4d}, w = {w:<3g} {contexts:6d} contexts {backend:7s} {'   '.join(columns)}",
                flush=True,
            )
    print("\nsamples a second into an interval, 32 windows: reduced by NumPy; by a GPU, what is left to the host")
    for interval, kind in INTERVALS.items():
        here, rest = taken_in(kind)
        print(f"  {interval:8s} {here:8.2g} {rest:8.2g}")


if __name__ == "__main__":
    main()
