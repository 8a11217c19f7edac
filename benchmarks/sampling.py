"""The cost of sampling on a CPU: ratios of CPU times within this run.

    python benchmarks/sampling.py

Pairs: a (token, window) pair of reduced sampling, everything included (draws, values, sums, interval), divided by one
`np.exp` of a float64. Plain: a straightforward program, with tokens in R^d and a softmax for each w, compared with
`loss_terms` at equal accuracy: time multiplied by the remaining variance. Both with NumPy and, if there is a C
compiler, with the compiled kernel. Last, samples that the host adds to an interval: all of the work, and the rest if a
GPU has reduced them.
"""

from __future__ import annotations

import os

from lipverify.foundation.arrays import Floats

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import itertools
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from lipverify import Problem
from lipverify.foundation.compiling import has_compiler
from lipverify.foundation.means.betting import Tally
from lipverify.foundation.means.samples import leaf_moments
from lipverify.laws import Affine, ReLU, RidgeLaw
from lipverify.loss.montecarlo.accuracy import Tallies, tally_of
from lipverify.loss.montecarlo.backend import backend_named
from lipverify.loss.montecarlo.terms import INTERVALS, sampler

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


def plain(law: RidgeLaw, d: int, n: int, w: Floats, contexts: int, rng: np.random.Generator) -> Floats:
    """Noise and bias samples by the straightforward program, (contexts, 2 windows)."""
    x = rng.standard_normal((contexts, n, d))
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    query, direction = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in rng.standard_normal((2, contexts, d)))
    t = np.einsum("cid,cd->ci", x, query)
    links = law.links(np.einsum("cid,cd->ci", x, direction), np)
    targets = law.links(np.sum(query * direction, axis=-1), np)
    noise, bias = [], []
    for window in w:
        a = np.exp(window * (t - t.max(axis=1, keepdims=True)))
        a /= a.sum(axis=1, keepdims=True)
        noise.append((a**2).sum(axis=1))
        bias.append(sum(((a * h).sum(axis=1) - y) ** 2 for h, y in zip(links, targets, strict=True)))
    return np.stack(noise + bias, axis=1)


def against_plain(law: RidgeLaw, d: int, n: int, w: Floats, backend: str) -> tuple[float, Floats]:
    """The speed-up per context, and the speed-up at equal accuracy, term by term."""
    rng, contexts = np.random.default_rng(0), 32
    drawn = sampler(Problem(d=d, n=n, law=law), w, sampling="reduced", backend=backend_named(backend))
    count = 4 * drawn.size
    ours = seconds(lambda: tally_of(drawn, count).interval(), 5) / count
    theirs = seconds(lambda: plain(law, d, n, w, contexts, rng), 3) / contexts
    samples = np.concatenate([plain(law, d, n, w, contexts, rng) for _ in range(60)])
    tally: Tally = tally_of(drawn, len(samples))
    units = np.repeat([1.0, drawn.unit / law.amplitude_variance], w.size)
    variance = tally.moments.second - tally.moments.first**2 / tally.count
    variance = variance / tally.count * (tally.extent * units) ** 2
    return theirs / ours * drawn.contexts_a_sample, theirs / ours * samples.var(axis=0) / variance


def taken_in(kind: Tallies, columns: int = 64, count: int = 2**16) -> tuple[float, float]:
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
    print("\nplain NumPy over loss_terms, d = 8, n = 1000, 32 windows: a context; equal accuracy, least and median")
    for name in ("32 windows, ratio 2^(1/4)", "32 windows, any"):
        for law, backend in itertools.product((Affine(), ReLU()), BACKENDS):
            faster, equal = against_plain(law, 8, 1000, grids[name], backend)
            noise, bias = equal[:32], equal[32:]
            print(
                f"  {name:26s} {law.name:7s} {backend:7s} {faster:5.1f}; noise {noise.min():6.1f} "
                f"{np.median(noise):6.1f}, bias {bias.min():6.1f} {np.median(bias):6.1f}"
            )
    print("\nsamples a second into an interval, 32 windows: reduced by NumPy; by a GPU, what is left to the host")
    for interval, kind in INTERVALS.items():
        here, rest = taken_in(kind)
        print(f"  {interval:8s} {here:8.2g} {rest:8.2g}")


if __name__ == "__main__":
    main()
