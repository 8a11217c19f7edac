r"""Bets against a mean m that aim at a wealth by a number of samples that is fixed beforehand.

With one bet size for all samples the interval is sqrt(2 log 40) / 1.96 = 1.39 times the normal one, however many
samples there are. If the number r of remaining samples is known, a better strategy exists. With wealth e^W and target
e^T, the probability to reach the target is p = e^{W - T}. For normal increments of variance v, the bets that reach it
replicate a bet on one outcome,

    lambda = phi(z) / (p (v r)^{1/2}),    p = 1 - Phi(z).

Each bet depends only on samples other than the one it is placed on, so the capital is a martingale for samples of any
distribution. The estimate of v and the normal increments decide how narrow the interval is, never whether it covers.

The capital against m is not monotone in m, but an upward bet on any m >= mean is a supermartingale. So a pilot, on
which nothing is bet, fixes a grid of m. A second set of bets, which may miss with a hundredth of the probability, says
where to begin. The edge is the last point of the grid, from there on, up to which every point is excluded. If the
beginning is right, an edge beyond the mean must have excluded the first grid point beyond the mean.
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

PILOT = 64
"""The pilot is at most 1/64 of the samples."""
STEP = 0.03
"""The step of the grid in units of the half-width that the pilot foresees."""
FAR = 0.01
"""The share of the miss probability that is spent on the beginning of the search."""


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
        """Sample variances with the most distant sample counted twice, because rare events are easily missed."""
        if not self.count:
            return 0 * self.centre + 0.25
        return (self.second - self.first**2 / self.count + self.largest) / self.count


def edges(stages: Sequence[Moments], threshold: float, outer: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """(low, high) for the means of samples in [0, 1], from the moments of stages whose sizes do not depend on samples.

    `threshold` is T, the logarithm of the capital that excludes a mean: the interval misses with probability 2 e^{-T}
    at most. The search begins at `outer`, (low, high) that miss with probability 2 `FAR` e^{-T} at most, from any bets.
    """
    total, seen = sum(stage.count for stage in stages), 0
    first = next(k for k, stage in enumerate(stages) if (seen := seen + stage.count) > total / PILOT)
    both = [stage.and_mirrored() for stage in stages]
    pilot, rest = reduce(add, both[:first]), both[first:]
    # every second stage in the order of drawing, so that rare samples cost little before they are known, then the
    # others in reverse: the last ones are small, which leaves little to chance near the end
    later = [*rest[::2], *rest[1::2][::-1]]
    start, ends = np.concatenate([outer[0], 1 - outer[1]]), reduce(add, both).mean
    low, mirrored = np.split(_last(pilot, later, threshold - math.log1p(-FAR), start, ends), 2)
    return low, 1 - mirrored


def _last(pilot: Moments, later: Sequence[Moments], threshold: float, start: Floats, ends: Floats) -> Floats:
    """The last point of the grid from `start` on, towards the means `ends`, up to which all are excluded."""
    points, remaining = 48, sum(stage.count for stage in later)  # grid points that are evaluated together
    step = STEP * (-ndtri(math.exp(-threshold)) * np.sqrt(pilot.variance / remaining) + threshold / remaining)
    point, edge, going = np.ceil((start - pilot.mean) / step), start, np.full(start.shape, True)
    while np.any(going):
        grid = np.clip(pilot.mean + (point + np.arange(points)[:, None]) * step, 0.0, 1.0)
        count = np.cumprod(_wealth(pilot, later, grid, threshold) >= threshold, axis=0).sum(axis=0)
        reached = np.take_along_axis(grid, np.maximum(count - 1, 0)[None], axis=0)[0]
        edge = np.where(going & (count > 0), reached, edge)
        going &= (count == points) & (reached < ends)
        point += points
    return edge


def _wealth(pilot: Moments, later: Sequence[Moments], m: Floats, threshold: float) -> Floats:
    """A lower bound on the logarithm of the capital of the bets upwards against each m, (points, columns)."""
    reach = np.maximum(m, 1 - m)
    offset, wealth, before = m - pilot.centre, np.zeros_like(m), pilot
    remaining = sum(stage.count for stage in later)
    for stage in later:
        # an event that k samples did not show may still have probability 1/k: a sample at an end of the range costs or
        # gains at most the share k / (k + 50) of the capital
        most = before.count / (before.count + 50) / reach
        bet = np.minimum(_aimed(wealth - threshold, before.variance * remaining), most)
        bet = np.minimum(bet / (2 * kappa(bet * _loss(before, offset, m))), most)
        squares = stage.second - 2 * offset * stage.first + stage.count * offset**2
        cost = kappa(bet * _loss(stage, offset, m)) * bet**2 * squares
        wealth = wealth + bet * (stage.first - stage.count * offset) - cost
        remaining, before = remaining - stage.count, before + stage
    return wealth


def _aimed(missing: Floats, variance: Floats) -> Floats:
    """lambda from log p and v r; no bet once p is 1 or underflows to 0."""
    tiny, sure = 1e-100, 1 - 1e-12  # between these, logarithms and quotients of densities are doubles
    p = np.exp(np.clip(missing, math.log(tiny), math.log(sure)))
    density = np.exp(-(ndtri(p) ** 2) / 2) / math.sqrt(2 * math.pi)
    wanted = (math.log(tiny) < missing) & (missing < 0)
    return np.where(wanted, density / p, 0.0) / np.sqrt(np.maximum(variance, tiny))


def _loss(stage: Moments, offset: Floats, worst: Floats) -> Floats:
    """A bound on the distance of a stage's samples from m on the losing side; m is the centre plus `offset`."""
    return np.clip(offset + np.sqrt(stage.largest), 0.0, worst)


def kappa(a: Floats) -> Floats:
    """(-a - log(1 - a)) / a^2, by its series where the difference cancels."""
    small = a < 1e-3
    safe = np.where(small, 0.5, a)
    return np.where(small, 0.5 + a * (1 / 3 + a * (1 / 4 + a / 5 + a * a)), (-safe - np.log1p(-safe)) / safe**2)
