"""A confidence interval for the mean of bounded samples, valid at every number of samples, from running sums.

Bet against each candidate mean m: the capital prod_i (1 + lambda_i (x_i - m)), with lambda_i chosen from earlier
samples only, is a nonnegative martingale when m is the mean, so it exceeds 2 / (1 - level) with probability at most (1
- level) / 2 (Ville). The interval keeps the m against which neither upward nor downward bets have reached it.

Samples are taken in stages of 16 and then of a sixteenth of all before, with one bet each, chosen from other stages.
The sums of a stage bound the logarithm of the capital from below: (y - log(1 + y)) / y^2 decreases, so that

    log(1 + y) >= y - kappa(a) y^2   for y >= -a,    kappa(a) = (-a - log(1 - a)) / a^2.

A capital that is too small makes the interval wider, never wrong. For many samples the half-width is about
sqrt(2 log 40) / 1.96 = 1.39 times the normal one, or more; for samples far smaller than the range it is about log(2 /
(1 - level)) / N ranges.

Source: Waudby-Smith and Ramdas, JRSS B 86 (2024), section 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array, Floats
from lipverify.foundation.means.samples import (
    LEAF,
    MARGIN,
    ROUNDING,
    Leaves,
    Reduce,
    Spread,
    joined,
    leaf_moments,
    normal_half_width,
    spread_of,
)

Tails = Callable[[float], tuple[Floats, Floats]]
"""log_chance -> (low, high) of each column, which a sample leaves with probability e^-log_chance at most."""
NEGLIGIBLE = 60.0
"""Samples that leave the bounds with probability e^-60 change a mean of losses by less than its rounding."""
WIDE = 2.5
"""A half-width of this many normal ones, or more, is explained."""
LARGEST_LOSS = 0.75
"""The largest share of the capital that one sample may cost."""
BETS = LARGEST_LOSS * 2.0 ** (-np.arange(60) / 2)
"""Losses on the worst sample; the best bet is chosen among them."""


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


def stage_lengths() -> Iterator[int]:
    """The number of samples of each stage."""
    count = 0
    while True:
        length = max(16, count // 16)
        yield length
        count += length


def leaf_lengths() -> Iterator[int]:
    """The number of samples of each leaf; a stage consists of whole leaves."""
    for length in stage_lengths():
        yield from [LEAF] * (length // LEAF)
        if length % LEAF:
            yield length % LEAF


class Tally:
    """Samples of one or more bounded quantities, column by column: only their sums are kept.

    If low = high the samples cannot vary, and the half-width is the rounding error; samples that merely did not vary do
    not give a width of zero. Bets use narrower bounds, which samples leave with negligible probability, if `tails` has
    some.
    """

    def __init__(
        self, low: Floats, high: Floats, xp: Any = np, moments: Reduce = leaf_moments, tails: Tails | None = None
    ) -> None:
        self.ends, self.tails = (low, high), tails or (lambda log_chance: (low, high))
        self._unit = np.where((high > low) & np.isfinite(high - low), high - low, 1.0)
        self._leaves = Leaves(leaf_lengths(), self._unit, xp, moments)
        self._lengths = stage_lengths()
        self._stages: list[tuple[int, Floats]] = []
        """Samples and moments of each stage, (6, columns)."""
        self._room = 0
        """The number of samples that the last stage still needs."""
        self._known: list[Moments] | None = None
        """The cached moments of the stages, until samples are added."""

    @cached_property
    def range(self) -> tuple[Floats, Floats]:
        """(low, high - low) for the bets."""
        low, high = self.tails(NEGLIGIBLE)
        return low, high - low

    @property
    def count(self) -> int:
        """N, the samples added so far to each column."""
        return self._leaves.count

    def add(self, samples: Array) -> None:
        """Add samples, (N, columns), of the library `xp`; how samples are split into calls does not matter."""
        self._known, leaves = None, _within(self._leaves.add(samples), *self.ends)
        while len(leaves):
            if not self._room:
                self._room = next(self._lengths)
                self._stages.append((0, np.empty((0, *leaves.shape[1:]))))
            count, before = self._stages[-1]
            some = min(-(-self._room // LEAF), len(leaves))
            taken = min(some * LEAF, self._room)
            self._stages[-1] = count + taken, joined(np.concatenate([before, leaves[:some]]))[None]
            self._room -= taken
            leaves = leaves[some:]
        if isinstance(samples, np.ndarray):
            _within(self._leaves.rest()[0], *self.ends)

    @property
    def stages(self) -> list[Moments]:
        """The moments of the stages, scaled to [0, 1] between low and high; the last stage may be incomplete."""
        if self._known is None:
            centre, bounds = self._leaves.rest()[1], self.tails(NEGLIGIBLE)
            self._known = [self._moments_of(count, _within(stage, *bounds)[0], centre) for count, stage in self._read()]
        return self._known

    def _read(self) -> list[tuple[int, Floats]]:
        """Samples and moments of each stage, (1, 6, columns), in units of the extent about the leaves' centre."""
        rest, stages = self._leaves.rest()[0], list(self._stages)
        if len(rest):
            count, before = stages.pop() if self._room else (0, rest[:0])
            together = joined(np.concatenate([before, _within(rest, *self.ends)]))[None]
            stages.append((count + self.count - sum(size for size, _ in self._stages), together))
        return stages

    def _moments_of(self, count: int, stage: Floats, centre: Floats) -> Moments:
        low, extent = self.range
        unit = np.where(extent > 0, extent, 1.0)
        farthest, scale = np.maximum(np.abs(stage[0] - centre), np.abs(stage[1] - centre)) / unit, self._unit / unit
        return Moments((centre - low) / unit, count, scale * stage[2], scale**2 * stage[3], farthest**2)

    @property
    def spread(self) -> Spread:
        """The mean of all samples and the shape of their distribution."""
        sums = joined(np.concatenate([stage for _, stage in self._read()]))[2:]
        return spread_of(sums, self.count, self._leaves.rest()[1], self._unit)

    @property
    def moments(self) -> Moments:
        """The moments of all samples, scaled to [0, 1] between low and high."""
        stages = self.stages
        return sum(stages[1:], stages[0])

    kind = "betting"
    """The kind of interval, in words."""

    def says(self, half_width: Floats, names: Sequence[str]) -> str:
        """The kind of interval, and what a wide range of the samples costs if half-widths are far from normal ones."""
        spread = np.sqrt(self.spread.variance)
        normal = normal_half_width(spread / math.sqrt(self.count))
        times = np.divide(half_width, normal, out=np.zeros_like(normal), where=(normal > 0) & ~self.settled)
        i = int(np.argmax(times))
        if times[i] < WIDE:
            return f"Intervals: {self.kind}."
        return (
            f"Intervals: {self.kind}. That of the {names[i]} is {times[i]:.3g} times as wide as a normal one, for "
            f"which {times[i] ** 2:.2g} times fewer contexts are enough: by the bounds of the law contexts lie in a "
            f"range of {self.range[1][i]:.3g}, and contexts differ by {spread[i]:.2g}; a law with smaller bounds, or "
            "interval='normal', is cheaper."
        )

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """(mean, half-width) of each column: mean +- half-width covers the betting interval.

        Validity: independent samples with one mean and any distribution within the bounds; their number
        fixed beforehand, or decided on samples that are not among these.
        """
        if not 0 < level < 1:
            raise InvalidInput(f"level = {level!r}: the level of confidence must lie between 0 and 1.")
        if not self.count:
            raise InvalidInput("samples: an interval needs at least one sample.")
        unit, (low, extent) = self.moments.mean, self.range
        left, right = self._edges(level)
        return low + extent * unit, extent * np.maximum(right - unit, unit - left) + _allowance(low, low + extent)

    @property
    def settled(self) -> NDArray[np.bool_]:
        """True for the columns that cannot vary."""
        return np.asarray(self.ends[0] == self.ends[1])

    def needed(self, rtol: float, miss: float) -> float:
        """Predict the number of samples for half-widths of rtol times the mean at the level 1 - miss: in units of the
        range these are about sqrt(2 T v / N) + T / (LARGEST_LOSS N), T = log(2 / miss).
        """
        sampled = ~self.settled
        if not np.any(sampled):
            return 2.0
        T = math.log(2 / miss)
        low, extent = (part[sampled] for part in self.range)
        wanted = rtol * (low / extent + self.moments.mean[sampled])
        if np.any(wanted <= 0):  # all samples so far are zero: take more
            return 4.0 * self.count

        spreads = 2 * T * self.moments.variance[sampled]
        root = (np.sqrt(spreads) + np.sqrt(spreads + 4 * wanted * T / LARGEST_LOSS)) / (2 * wanted)
        return MARGIN * float(np.max(root)) ** 2

    def _edges(self, level: float) -> tuple[Floats, Floats]:
        """The interval, with one bet a stage for all m."""
        threshold, mean, edges = math.log(2 / (1 - level)), self.moments.mean, []
        for sign, end in ((1.0, 0.0), (-1.0, 1.0)):
            bets = _bets(self.stages, sign, threshold)

            def excess(m: Floats, sign: float = sign, bets: Floats = bets) -> Floats:
                return _log_capital(self.stages, bets, sign, m) - threshold

            edges.append(_edge(excess, np.full_like(mean, end), mean))
        return edges[0], edges[1]


def betting_interval(samples: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """(low, high) for the mean of samples in [0, 1], along the first axis; other axes are separate means."""
    if samples.ndim == 0 or len(samples) == 0:
        raise InvalidInput("samples: an interval needs at least one sample.")
    columns = samples.reshape(len(samples), -1)
    tally = Tally(np.zeros(columns.shape[1]), np.ones(columns.shape[1]))
    tally.add(columns)
    tally.interval(level)  # refuses a level out of range
    low, high = tally._edges(level)
    return low.reshape(samples.shape[1:]), high.reshape(samples.shape[1:])


def _allowance(low: Floats, high: Floats) -> Floats:
    return np.asarray(ROUNDING * np.maximum(np.abs(low), np.abs(high)))


def _within(leaves: Floats, low: Floats, high: Floats) -> Floats:
    """The moments of leaves; refuse a sample outside of its bounds by more than rounding."""
    for ends in (leaves[:, 0], leaves[:, 1]):
        slack = _allowance(low, high)
        bad = ends[~(np.isfinite(ends) & (ends >= low - slack) & (ends <= high + slack))]
        if bad.size:
            rule = "is not finite, or lies outside of its bounds; check the law, its extents and the covariates"
            raise InvalidInput(f"samples: {bad[0]} {rule}.")
    return leaves


def _bets(stages: list[Moments], sign: float, threshold: float) -> Floats:
    """For each stage and column, (stages, columns), the bet that is best for the stages before it."""
    N = sum(stage.count for stage in stages)
    none = np.zeros_like(stages[0].centre)
    before = Moments(stages[0].centre, 0, none, none, none)
    bets = []
    for stage in stages:
        mean, variance = before.mean, before.variance
        choices = BETS[:, None] / np.maximum(mean, 1 - mean)
        losses = choices * (mean if sign > 0 else 1 - mean)
        widths = threshold / (choices * N) + kappa(losses) * choices * variance
        bets.append(np.take_along_axis(choices, np.argmin(widths, axis=0)[None], axis=0)[0])
        before += stage
    return np.array(bets)


def _log_capital(stages: list[Moments], bets: Floats, sign: float, m: Floats) -> Floats:
    """A lower bound on the logarithm of the capital of the bets against m."""
    count = np.array([[float(stage.count)] for stage in stages])
    first, second = (np.array([getattr(stage, name) for stage in stages]) for name in ("first", "second"))
    worst = np.maximum(m if sign > 0 else 1 - m, np.finfo(float).tiny)
    bet, offset = np.minimum(bets, LARGEST_LOSS / worst), m - stages[0].centre
    squares = second - 2 * offset * first + count * offset**2
    return np.sum(sign * bet * (first - count * offset) - kappa(bet * worst) * bet**2 * squares, axis=0)


def _edge(excess: Callable[[Floats], Floats], outside: Floats, mean: Floats) -> Floats:
    """The root of `excess`, the logarithm of capital over threshold, between `outside` and `mean`, in Illinois's form:
    stopping early makes the interval wider and never wrong.
    """
    inside = mean
    rich, poor = excess(outside), excess(mean)
    settled = rich <= 0  # the end of the range is not excluded, so it is the edge
    last = np.zeros_like(mean)
    for _ in range(100):  # bisection alone would need some fifty for all bits of a double
        # an edge may lie too far out by a hundredth of its distance to the mean
        if np.all(settled | (np.abs(outside - inside) <= 0.01 * np.abs(inside - mean))):
            break
        m = (rich * inside - poor * outside) / np.where(settled | (rich == poor), 1.0, rich - poor)
        m = np.where(settled, outside, np.clip(m, np.minimum(inside, outside), np.maximum(inside, outside)))
        value = excess(m)
        excluded = (value > 0) & ~settled
        poor = np.where(excluded, np.where(last > 0, poor / 2, poor), np.where(settled, poor, value))
        rich = np.where(excluded, value, np.where(settled, rich, np.where(last < 0, rich / 2, rich)))
        outside, inside = np.where(excluded, m, outside), np.where(excluded | settled, inside, m)
        last = np.where(excluded, 1.0, -1.0)
    return outside


def kappa(a: Floats) -> Floats:
    """(-a - log(1 - a)) / a^2, by its series where the difference cancels."""
    small = a < 1e-3
    safe = np.where(small, 0.5, a)
    return np.where(small, 0.5 + a * (1 / 3 + a * (1 / 4 + a / 5 + a * a)), (-safe - np.log1p(-safe)) / safe**2)
