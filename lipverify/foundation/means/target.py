r"""Bets against a mean m that aim at a wealth by a number of samples that is fixed beforehand.

One bet size for all samples is what large deviations ask for, and its interval is sqrt(2 log 40) / 1.96 = 1.39 times
the normal one however many samples there are. A bettor who knows how many are left, r, need not be content with that:
the wealth e^W wanted to be e^T is worth p = e^{W - T}, the chance to get there, and for normal increments of variance v
the bets that make it so are those that replicate a bet on one outcome,

    lambda = phi(z) / (p (v r)^{1/2}),    p = 1 - Phi(z).

They depend on other samples only than those they are made on, so that the capital is a martingale for whatever samples
there are: v, estimated, and the normal increments decide how narrow the interval is, never whether it covers.

The capital against m is not monotone in m. A bet upwards on any m >= mean is a supermartingale, though. So a grid of m
is fixed by a pilot, on which nothing is bet, and an edge is the last of the grid up to which all are excluded: to pass
the mean it must exclude the first point of the grid beyond the mean, which happens with probability (1 - level) / 2 at
most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from lipverify.foundation.arrays import Floats

if TYPE_CHECKING:
    from lipverify.foundation.means.betting import Moments

MOST = 0.9
"""Share of the capital that a sample at either end of the range may cost or gain: kappa makes little of large gains."""
PILOT = 32
"""The pilot is at most this part of the samples; its mean is off by 4.6 sqrt(PILOT) / 1.96 half-widths once in 10^5."""
STEP, REACH, FURTHER = 0.06, 14.0, 1.2
"""The grid in units of the half-width that the pilot foresees: steps up to a reach, and from there the ratio."""
TINY = 1e-100
SURE = 1 - 1e-12


def edges(stages: Sequence[Moments], threshold: float) -> tuple[Floats, Floats]:
    """(low, high) for the means of samples in [0, 1] from the moments of stages, whose sizes depend on no sample.

    Parameters
    ----------
    stages
        In the order in which they were drawn, the pilot first. Of the others every second is bet on as it came, so that
        rare samples cost little before they are known, and the rest backwards: the last ones are small, and little is
        left to chance when the time is nearly over.
    threshold
        T, the logarithm of the capital that excludes a mean: the interval misses with probability 2 e^{-T} at most.
    """
    total, seen = sum(stage.count for stage in stages), 0
    first = next(k for k, stage in enumerate(stages) if (seen := seen + stage.count) > total / PILOT)
    pilot, rest = reduce(add, stages[:first]), stages[first:]
    later = [*rest[::2], *rest[1::2][::-1]]
    grid = _grid(pilot, total - pilot.count, threshold)
    low, high = (_last(_wealth(pilot, later, grid, sign, threshold) >= threshold, grid, sign) for sign in (1.0, -1.0))
    return low, high


def _grid(pilot: Moments, left: int, threshold: float) -> Floats:
    """Candidates for the means, (points, columns), increasing: they depend on the pilot alone."""
    width = -ndtri(math.exp(-threshold)) * np.sqrt(pilot.variance / left) + threshold / left
    reaches = math.log(max(float(np.max(1 / width)) / REACH, FURTHER), FURTHER)
    away = np.concatenate([np.arange(0.0, REACH, STEP), REACH * FURTHER ** np.arange(math.ceil(reaches) + 1)])
    points: Floats = pilot.mean + np.concatenate([-away[:0:-1], away])[:, None] * width
    return np.clip(points, 0.0, 1.0)


def _wealth(pilot: Moments, later: Sequence[Moments], m: Floats, sign: float, threshold: float) -> Floats:
    """A lower bound on the logarithm of the capital of the bets against each m of the grid."""
    worst, most = m if sign > 0 else 1 - m, MOST / np.maximum(m, 1 - m)
    offset, wealth, before = m - pilot.centre, np.zeros_like(m), pilot
    left = sum(stage.count for stage in later)
    for stage in later:
        bet = np.minimum(_aimed(wealth - threshold, before.variance * left), most)
        bet = np.minimum(bet / (2 * kappa(bet * _loss(before, sign * offset, worst))), most)
        squares = stage.second - 2 * offset * stage.first + stage.count * offset**2
        cost = kappa(bet * _loss(stage, sign * offset, worst)) * bet**2 * squares
        wealth = wealth + sign * bet * (stage.first - stage.count * offset) - cost
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


def _last(excluded: NDArray[np.bool_], grid: Floats, sign: float) -> Floats:
    """The innermost point of the grid up to which all are excluded, from the left or from the right."""
    outwards = slice(None, None, int(sign))
    count = np.cumprod(excluded[outwards], axis=0).sum(axis=0)
    end = np.full(grid.shape[1], 0.0 if sign > 0 else 1.0)
    return np.where(count > 0, np.take_along_axis(grid[outwards], np.maximum(count - 1, 0)[None], axis=0)[0], end)


def kappa(a: Floats) -> Floats:
    """(-a - log(1 - a)) / a^2, by its series where it would cancel."""
    small = a < 1e-3
    safe = np.where(small, 0.5, a)
    return np.where(small, 0.5 + a * (1 / 3 + a * (1 / 4 + a / 5 + a * a)), (-safe - np.log1p(-safe)) / safe**2)
