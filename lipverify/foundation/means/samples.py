"""Means of many independent samples: standard errors, and half-widths of 95 % intervals by the normal law."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import EPS, Array, Floats, to_host
from lipverify.foundation.noted import makes

FEWEST = 100
"""Fewest samples for a normal interval."""
MARGIN = 1.15
"""Factor on the predicted number of samples, because the variance behind the prediction is an estimate."""
ROUNDING = 64 * EPS
"""Relative rounding error of a sample: a bound for a pairwise sum over up to 1e8 tokens, with a margin."""
TRUSTED = 0.25
"""The largest relative standard error of a sampled variance at which the standard error of the mean is trusted."""
LEAF = 256
"""Most samples in one leaf. Sums of leaves are added in the order of the leaves."""

TOGETHER = 2**15
"""Samples whose moments are taken together, by columns: their arrays fit in a processor's cache."""

Reduce = Callable[[Array, Sequence[int], Floats, Floats], Floats]
"""(samples (N, columns), cuts (leaves + 1), centre, unit) -> moments (leaves, 6, columns), see `leaf_moments`."""


def leaf_moments(samples: Array, cuts: Sequence[int], centre: Floats, unit: Floats) -> Floats:
    """Moments of each leaf (the samples from one cut to the next), (leaves, 6, columns), bit for bit from its own
    samples: the least, the largest, and the sums of the first four powers of (sample - centre) / unit.
    """
    rows, starts = to_host(samples)[: cuts[-1]], cuts[:-1]
    made = np.empty((len(starts), 6, rows.shape[1]))
    few = max(1, TOGETHER // len(rows))
    with np.errstate(over="ignore", invalid="ignore"):  # the caller refuses samples that are not finite
        for some in (slice(first, first + few) for first in range(0, rows.shape[1], few)):
            columns = np.ascontiguousarray(rows[:, some].T)
            deviation = (columns - centre[some, None]) / unit[some, None]
            square = deviation * deviation
            made[:, 0, some] = np.minimum.reduceat(columns, starts, axis=1).T
            made[:, 1, some] = np.maximum.reduceat(columns, starts, axis=1).T
            for k, power in enumerate((deviation, square, square * deviation, square * square), start=2):
                made[:, k, some] = np.add.reduceat(power, starts, axis=1).T
    return made


def joined(leaves: Floats) -> Floats:
    """Join the moments of leaves, (leaves, 6, columns) -> (6, columns); sums are added in the leaves' order."""
    sums = np.add.accumulate(leaves[:, 2:], axis=0)[-1]
    return np.concatenate([leaves[:, :1].min(axis=0), leaves[:, 1:2].max(axis=0), sums])


class Leaves:
    """Reduce samples leaf by leaf on their own device. How samples are split into calls does not change a bit."""

    def __init__(self, lengths: Iterator[int], unit: Floats, xp: Any = np, moments: Reduce = leaf_moments) -> None:
        self.centre, self.count = unit * math.nan, 0
        self._lengths, self._unit, self._xp, self._moments = lengths, unit, xp, moments
        self._open: list[Array] = []
        """The samples of the leaf that is not full."""
        self._held, self._ahead = 0, [next(lengths)]
        """Samples of the open leaf, and the known lengths of it and of later leaves."""
        self._rest: tuple[Floats, Floats] | None = None
        """The cached result of `rest`, until samples are added."""

    def add(self, samples: Array) -> Floats:
        """Add samples; return the moments of the leaves they fill, (leaves, 6, columns), about the first leaf's mean.

        If memory runs out, no sample has been added, and the same samples can be added in smaller pieces.
        """
        held, cuts = self._held + samples.shape[0], [0]
        while held - cuts[-1] >= self._ahead[len(cuts) - 1]:
            cuts.append(cuts[-1] + self._ahead[len(cuts) - 1])
            if len(cuts) > len(self._ahead):
                self._ahead.append(next(self._lengths))
        moments, centre, rest = np.empty((0, 6, self._unit.size)), self.centre, [*self._open, samples]
        if len(cuts) > 1:
            rows = self._together(rest)
            centre = _mean(rows[: cuts[1], ...]) if self.count == self._held else centre
            moments, rest = self._moments(rows, cuts, centre, self._unit), [rows[cuts[-1] :, ...]]
        self.count += samples.shape[0]
        self._rest = None
        self.centre, self._open, self._held, self._ahead = centre, rest, held - cuts[-1], self._ahead[len(cuts) - 1 :]
        return moments

    def rest(self) -> tuple[Floats, Floats]:
        """(moments, centre) of the last samples, which do not fill a leaf, (1 or 0, 6, columns)."""
        if not self._held:
            return np.empty((0, 6, self._unit.size)), self.centre
        if self._rest is None:
            self._open = [self._together(self._open)]
            centre = _mean(self._open[0]) if self.count == self._held else self.centre
            self._rest = self._moments(self._open[0], [0, self._held], centre, self._unit), centre
        return self._rest

    def _together(self, parts: list[Array]) -> Array:
        return self._xp.concat(parts, axis=0) if len(parts) > 1 else parts[0]


def _mean(rows: Array) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.nan_to_num(np.add.accumulate(to_host(rows), axis=0)[-1] / rows.shape[0], posinf=0.0, neginf=0.0)


class SampledMean(msgspec.Struct, frozen=True, kw_only=True):
    """A mean over sampled contexts, and its standard error (not a half-width)."""

    value: float
    standard_error: float
    doubt: float
    """The relative standard error of the sampled variance, from the fourth moment. At `TRUSTED` and above, a few
    contexts carry most of the variance and rarer, worse ones have probably not been drawn: then value and error
    mislead."""

    @property
    def trusted(self) -> bool:
        """True if the standard error can be trusted; False if it is NaN."""
        return self.doubt < TRUSTED


@makes("sampled", "montecarlo")
def sampled_mean(values: Array) -> SampledMean:
    """The mean of independent values, (contexts,), its standard error, and the doubt in that error."""
    xp = values.__array_namespace__()
    count = int(values.shape[0])
    if count < 2:
        raise InvalidInput(f"contexts = {count}: a standard error needs at least 2.")
    mean = xp.mean(values)
    centred, size = in_units(values - mean)
    square = centred**2
    second, fourth = float(xp.sum(square)), float(xp.sum(square * square))
    # the sampled variance is itself a mean, of the squares
    spread = fourth / second**2 - 1 / count if second != 0 else 0.0
    doubt = math.inf if count < 4 else 0.0 if spread < 0 else math.sqrt(spread)
    return SampledMean(value=float(mean), standard_error=size * math.sqrt(second / (count - 1) / count), doubt=doubt)


def in_units(differences: Array) -> tuple[Array, float]:
    """Scale differences so that their fourth powers neither overflow nor underflow; returns them and their unit."""
    xp = differences.__array_namespace__()
    largest = float(xp.max(xp.abs(differences)))
    if 0 < largest < math.inf and not 1e-70 < largest < 1e70:
        return differences / largest, largest
    return differences, 1.0


def normal_half_width(standard_error: Any, level: float = 0.95) -> Any:
    """The half-width of a normal interval: 1.96 standard errors at 95 %."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2)) * standard_error


def require_normal(count: int, standard_error: Any, doubt: Any, message: str) -> None:
    """Refuse means whose samples contradict a normal interval; `message` has a place for the reason."""
    if count < FEWEST:
        reason = f"{count} samples are too few, it takes {FEWEST}"
    elif np.any(np.equal(standard_error, 0)):
        reason = f"{count} samples did not vary, and rarer ones may"
    elif not np.all(np.less(doubt, TRUSTED)):
        reason = (
            f"the standard error of the sampled variance is {np.max(doubt):.2g} of it, and it must be below {TRUSTED}: "
            "a few samples carry most of it"
        )
    else:
        return
    raise OutOfReach(message.format(reason))


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """The shape of samples, column by column, in their own units.

    `variance` is unbiased, `lean` is the third central moment over the variance, and `doubt` the relative standard
    error of the variance, from the fourth moment.
    """

    count: int
    mean: Floats
    variance: Floats
    lean: Floats
    doubt: Floats

    def needed(self, rtol: float, miss: float, sampled: NDArray[np.bool_]) -> float:
        """Predict the number of samples for normal half-widths of rtol times the mean at the level 1 - miss."""
        wanted = rtol * np.abs(self.mean[sampled])
        if np.any(wanted == 0):
            return 4.0 * self.count
        errors = normal_half_width(np.sqrt(self.variance[sampled]), 1 - miss) / wanted
        trusted = self.count * (2 * float(np.max(self.doubt[sampled], initial=0.0)) / TRUSTED) ** 2
        return max(float(FEWEST), trusted, MARGIN * float(np.max(errors, initial=0.0)) ** 2)


def spread_of(sums: Floats, count: int, centre: Floats, unit: Floats) -> Spread:
    """The spread of samples from the sums of the first four powers of (sample - centre) / unit, (4, columns)."""
    N = max(count, 1)
    shift, second, third, fourth = sums / N
    variance = np.maximum(second - shift**2, 0.0)
    divisor = np.where(variance > 0, variance, 1.0)
    central = fourth - 4 * shift * third + 6 * shift**2 * second - 3 * shift**4
    kurtosis = np.maximum(central, 0.0) / divisor**2
    return Spread(
        count=count,
        mean=centre + unit * shift,
        variance=unit**2 * variance * N / max(N - 1, 1),
        lean=unit * (third - 3 * shift * second + 2 * shift**3) / divisor,
        doubt=np.where(variance > 0, np.sqrt(np.maximum(kurtosis - 1, 0.0) / N), 0.0),
    )
