"""Draw a given number of samples, or as many as a given accuracy needs."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Array, Floats
from lipverify.foundation.means.betting import Tally
from lipverify.foundation.means.checked import CheckedTally
from lipverify.loss.montecarlo.backend import NUMPY, Backend
from lipverify.loss.montecarlo.samples import Divisible
from lipverify.loss.work import Progress

MOST_LOOKS = 8
"""Most looks at the samples."""


class Sampler(Protocol):
    """Independent samples of bounded quantities, column by column, a chunk at a time; see also `Divisible`."""

    @property
    def size(self) -> int:
        """Samples in a chunk."""

    def bounds(self, log_chance: float = math.inf) -> tuple[Floats, Floats]:
        """(low, high) of each column, which a sample leaves with probability e^-log_chance at most."""

    def chunk(self, index: int) -> Array:
        """The samples of one chunk, (size, columns): a function of its number and of nothing else."""


def tally_of(
    sampler: Sampler, count: int, progress: Progress | None = None, workers: int = 1, kind: type[Tally] = CheckedTally
) -> Tally:
    """The tally of the first `count` samples; a larger count starts with the same samples.

    Threads and chunk sizes change only the time: a tally sums samples in blocks that do not depend on the chunks.
    """
    backend: Backend = getattr(sampler, "backend", NUMPY)
    tally = kind(*sampler.bounds(), xp=backend.xp, moments=backend.moments, tails=sampler.bounds)
    added = _by_threads(tally, sampler, count, workers) if workers > 1 else _in_memory(tally, sampler, count, backend)
    if progress is not None:
        progress(0, count)  # a context of 1e9 tokens takes a minute
    for _ in added:
        if progress is not None:
            progress(tally.count, count)
    return tally


def _in_memory(tally: Tally, sampler: Sampler, count: int, backend: Backend) -> Iterator[None]:
    """Add samples in this thread; if memory is short, halve the chunks, down to a single sample."""
    size, short = sampler.at_once if isinstance(sampler, Divisible) else sampler.size, False
    while tally.count < count:
        first, divisible = tally.count, isinstance(sampler, Divisible) and size > 1
        # a part of a chunk draws no more than it needs
        some = min(size, count - first, sampler.size - first % sampler.size if size < sampler.size else count)
        try:
            tally.add(_chunk(sampler, first, some)[:some, ...])
        except Exception as error:
            if not backend.short_of_memory(error) or tally.count > first or (short and not divisible):
                raise
            short = True
        else:
            short = False
            yield
        if short:  # the memory of the failed call is free by now
            size = -(-size // 2) if divisible else size
            backend.release()


def _chunk(sampler: Sampler, first: int, count: int) -> Array:
    """The `count` samples from `first` on; a sampler that cannot divide chunks draws the chunk that starts there."""
    return sampler.rows(first, count) if isinstance(sampler, Divisible) else sampler.chunk(first // sampler.size)


def _by_threads(tally: Tally, sampler: Sampler, count: int, workers: int) -> Iterator[None]:
    """Add chunks in order, made by threads that run at most a few chunks ahead."""
    with ThreadPoolExecutor(workers) as pool:
        ahead: deque[Future[Array]] = deque()
        try:
            for first in range(0, count, sampler.size):
                ahead.append(pool.submit(_chunk, sampler, first, min(sampler.size, count - first)))
                if len(ahead) > 2 * workers:
                    tally.add(ahead.popleft().result()[: count - tally.count, ...])
                    yield
            while ahead:
                tally.add(ahead.popleft().result()[: count - tally.count, ...])
                yield
        finally:
            for future in ahead:
                future.cancel()


def until(
    at: Callable[[str], Sampler],
    rtol: float,
    first: int,
    most: int,
    progress: Progress | None = None,
    workers: int = 1,
    kind: type[Tally] = CheckedTally,
) -> tuple[Floats, Floats, Tally]:
    """(mean, half-width) of 95 % intervals narrower than rtol times the mean, and their tally.

    A pilot of `first` samples estimates the necessary number, and new samples are drawn, so that their number does not
    depend on their values. If they are not enough, the draw is repeated with more: look k spends the probability
    0.05 / 2^k, so that all looks together miss with probability 0.05 at most.
    """
    tally, miss = tally_of(at("pilot"), first, progress, workers, kind), 0.05
    for look in range(MOST_LOOKS):
        miss /= 2
        needed = tally.needed(rtol, miss)
        if needed > most:
            mean, half_width = tally.interval(1 - miss)
            worst = float(np.max(half_width / np.where(mean > 0, mean, math.inf)))
            raise OutOfReach(
                f"rtol = {rtol:g}: about {needed:.1e} samples are needed, and {most:.1e} are the most; after "
                f"{tally.count} the half-width is {worst:.2g} of the value; ask for a larger rtol."
            )
        tally = tally_of(at(f"look {look}"), math.ceil(needed), progress, workers, kind)
        mean, half_width = tally.interval(1 - miss)
        if np.all((half_width <= rtol * mean) | tally.settled):
            return mean, half_width, tally
    raise OutOfReach(f"rtol = {rtol:g} was not reached in {MOST_LOOKS} looks; use contexts=..., or method='exact'.")
