r"""Bets against a mean m that aim at a wealth by a number of samples that is fixed beforehand.

One bet size for all samples is what large deviations ask for, and its interval is sqrt(2 log 40) / 1.96 = 1.39 times
the normal one however many samples there are. A bettor who knows how many are left, r, need not be content with that:
the wealth e^W wanted to be e^T is worth p = e^{W - T}, the chance to get there, and for normal increments of variance v
the bets that make it so are those that replicate a bet on one outcome,

    lambda = phi(z) / (p (v r)^{1/2}),    p = 1 - Phi(z).

They depend on other samples only than those they are made on, so that the capital is a martingale for whatever samples
there are: v, estimated, and the normal increments decide how narrow the interval is, never whether it covers.

The capital against m is not monotone in m. A bet upwards on any m >= mean is a supermartingale, though. So a grid of m
is fixed by a pilot, on which nothing is bet. Other bets, which may miss with a hundredth of the chance, say where to
begin, and the edge is the last point of the grid from there on up to which all are excluded. Where the beginning does
not miss, an edge beyond the mean must have excluded the first point of the grid beyond the mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from scipy.special import ndtri

from lipverify.foundation.arrays import Floats

UNSEEN = 50
"""After k samples one at either end of the range may cost or gain the share k / (k + UNSEEN) of the capital at most:
what k samples did not show may come once in k."""
PILOT = 64
"""The pilot is at most this part of the samples."""
STEP = 0.03
"""The step of the grid in units of the half-width that the pilot foresees."""
POINTS = 48
"""Points of the grid that are looked at at a time."""
FAR = 0.01
"""The share of the chance to miss that is spent on where to begin."""
TINY = 1e-100
SURE = 1 - 1e-12


@dataclass(frozen=True)
class Moments:
    """Sums over samples in [0, 1] about a centre, one number a column: of deviations and squares, and the largest."""

    centre: Floats
    count: int
    first: Floats
    second: Floats
    largest: Floats

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.centre,
            self.count + other.count,
            self.first + other.first,
            self.second + other.second,
            np.maximum(self.largest, other.largest),
        )

    def and_mirrored(self) -> Moments:
        """The moments of x in the first half of the columns, and of 1 - x in the second."""
        return Moments(
            np.concatenate([self.centre, 1 - self.centre]),
            self.count,
            np.concatenate([self.first, -self.first]),
            np.tile(self.second, 2),
            np.tile(self.largest, 2),
        )

    @property
    def mean(self) -> Floats:
        """The means; 1/2 if there are no samples."""
        return np.clip(self.centre + self.first / self.count, 0.0, 1.0) if self.count else 0 * self.centre + 0.5

    @property
    def variance(self) -> Floats:
        """The variances as if one more sample as far off as the farthest had been seen: few events tell little.

        1/4, the largest that there is, if there are no samples.
        """
        if not self.count:
            return 0 * self.centre + 0.25
        return (self.second - self.first**2 / self.count + self.largest) / self.count


def edges(stages: Sequence[Moments], threshold: float, outer: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """(low, high) for the means of samples in [0, 1] from the moments of stages, whose sizes depend on no sample.

    Parameters
    ----------
    stages
        In the order in which they were drawn, the pilot first. Of the others every second is bet on as it came, so that
        rare samples cost little before they are known, and the rest backwards: the last ones are small, and little is
        left to chance when the time is nearly over.
    threshold
        T, the logarithm of the capital that excludes a mean: the interval misses with probability 2 e^{-T} at most.
    outer
        (low, high) that miss with probability 2 `FAR` e^{-T} at most, from any bets: where the search begins.
    """
    total, seen = sum(stage.count for stage in stages), 0
    first = next(k for k, stage in enumerate(stages) if (seen := seen + stage.count) > total / PILOT)
    both = [stage.and_mirrored() for stage in stages]
    pilot, rest = reduce(add, both[:first]), both[first:]
    later = [*rest[::2], *rest[1::2][::-1]]
    start, ends = np.concatenate([outer[0], 1 - outer[1]]), reduce(add, both).mean
    low, mirrored = np.split(_last(pilot, later, threshold - math.log1p(-FAR), start, ends), 2)
    return low, 1 - mirrored


def _last(pilot: Moments, later: Sequence[Moments], threshold: float, start: Floats, ends: Floats) -> Floats:
    """The last point of the grid from `start` on, towards the means `ends`, up to which all are excluded."""
    left = sum(stage.count for stage in later)
    step = STEP * (-ndtri(math.exp(-threshold)) * np.sqrt(pilot.variance / left) + threshold / left)
    at, edge, going = np.ceil((start - pilot.mean) / step), start, np.full(start.shape, True)
    while np.any(going):
        grid = np.clip(pilot.mean + (at + np.arange(POINTS)[:, None]) * step, 0.0, 1.0)
        count = np.cumprod(_wealth(pilot, later, grid, threshold) >= threshold, axis=0).sum(axis=0)
        reached = np.take_along_axis(grid, np.maximum(count - 1, 0)[None], axis=0)[0]
        edge = np.where(going & (count > 0), reached, edge)
        going &= (count == POINTS) & (reached < ends)
        at += POINTS
    return edge


def _wealth(pilot: Moments, later: Sequence[Moments], m: Floats, threshold: float) -> Floats:
    """A lower bound on the logarithm of the capital of the bets upwards against each m, (points, columns)."""
    reach = np.maximum(m, 1 - m)
    offset, wealth, before = m - pilot.centre, np.zeros_like(m), pilot
    left = sum(stage.count for stage in later)
    for stage in later:
        most = before.count / (before.count + UNSEEN) / reach
        bet = np.minimum(_aimed(wealth - threshold, before.variance * left), most)
        bet = np.minimum(bet / (2 * kappa(bet * _loss(before, offset, m))), most)
        squares = stage.second - 2 * offset * stage.first + stage.count * offset**2
        cost = kappa(bet * _loss(stage, offset, m)) * bet**2 * squares
        wealth = wealth + bet * (stage.first - stage.count * offset) - cost
        left, before = left - stage.count, before + stage
    return wealth


def _aimed(missing: Floats, variance: Floats) -> Floats:
    """lambda, from log p and v r; nothing is bet once p is 1, or is too small to be told from 0."""
    p = np.exp(np.clip(missing, math.log(TINY), math.log(SURE)))
    density = np.exp(-(ndtri(p) ** 2) / 2) / math.sqrt(2 * math.pi)
    wanted = (math.log(TINY) < missing) & (missing < 0)
    return np.where(wanted, density / p, 0.0) / np.sqrt(np.maximum(variance, TINY))


def _loss(stage: Moments, offset: Floats, worst: Floats) -> Floats:
    """A bound on how far a sample of a stage lies on the wrong side of m, which is `offset` beyond the centre."""
    return np.clip(offset + np.sqrt(stage.largest), 0.0, worst)


def kappa(a: Floats) -> Floats:
    """(-a - log(1 - a)) / a^2, by its series where it would cancel."""
    small = a < 1e-3
    safe = np.where(small, 0.5, a)
    return np.where(small, 0.5 + a * (1 / 3 + a * (1 / 4 + a / 5 + a * a)), (-safe - np.log1p(-safe)) / safe**2)
