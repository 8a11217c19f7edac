r"""How many samples: a number that is given, or as many as an accuracy needs."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.betting import Tally
from lipverify.foundation.means.samples import NormalTally

Tallies = type[Tally] | type[NormalTally]
"""How samples become an interval: `Tally` bets, `NormalTally` trusts the central limit theorem."""

Progress = Callable[[int, int], None]

MISS = 0.05
MOST_LOOKS = 8


class Sampler(Protocol):
    """Independent samples of bounded quantities, column by column, a chunk at a time."""

    @property
    def size(self) -> int:
        """Samples in a chunk."""

    def bounds(self) -> tuple[Floats, Floats]:
        """(low, high) of each column."""

    def chunk(self, index: int) -> Floats:
        """The samples of one chunk, (size, columns): a function of its number and of nothing else."""


def tally_of(
    sampler: Sampler, count: int, progress: Progress | None = None, workers: int = 1, kind: Tallies = Tally
) -> Tally | NormalTally:
    """The first `count` samples. A chunk is always drawn whole, so that more samples begin with the same ones.

    Threads change nothing but the time: chunks are taken in their order, whoever made them.
    """
    tally = kind(*sampler.bounds())
    for chunk in _chunks(sampler, -(-count // sampler.size), workers):
        tally.add(chunk[: count - tally.count])
        if progress is not None:
            progress(tally.count, count)
    return tally


def _chunks(sampler: Sampler, number: int, workers: int) -> Iterator[Floats]:
    """The first chunks in their order, made by threads, which are a few chunks ahead and no more."""
    if workers == 1:
        yield from map(sampler.chunk, range(number))
        return
    with ThreadPoolExecutor(workers) as pool:
        ahead: deque[Future[Floats]] = deque()
        try:
            for index in range(number):
                ahead.append(pool.submit(sampler.chunk, index))
                if len(ahead) > 2 * workers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
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
    kind: Tallies = Tally,
) -> tuple[Floats, Floats]:
    """(mean, half-width) of 95 % intervals that are narrower than rtol times the mean, in every column.

    `at` gives a sampler for an address. A pilot of `first` samples says how many are needed; these are drawn
    afresh, so that their number does not depend on what they show. Should they not do, look k spends
    0.05 / 2^k, and all looks together miss with probability 0.05 at most.

    Raises
    ------
    OutOfReach
        If more than `most` samples are needed.
    """
    tally, miss = tally_of(at("pilot"), first, progress, workers, kind), MISS
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
            return mean, half_width
    raise OutOfReach(f"rtol = {rtol:g} was not reached in {MOST_LOOKS} looks; use contexts=..., or method='exact'.")
