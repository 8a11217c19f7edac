"""A normal interval, checked against what the samples may have missed; a betting interval where they contradict it.

N independent samples show an event of probability log(1 / miss) / N with probability 1 - miss. A rarer one may be
missing, and moves the mean by log(1 / miss) / N times its distance from the mean, at most: this is the least
half-width. The distance is that of the bounds of the samples, or of the level that an e-th of such events exceed: it is
above the mean of all of them if quantiles are concave in the logarithm of their probability, as in exponential tails.

The half-width also has the first correction for a skewed distribution (Johnson, JASA 73 (1978)). A betting interval
takes its place for fewer than 100 samples, for samples that do not vary and for a few that carry the variance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.betting import Tally
from lipverify.foundation.means.samples import (
    FEWEST,
    MARGIN,
    ROUNDING,
    TRUSTED,
    Spread,
    normal_half_width,
    require_normal,
)
from lipverify.foundation.noted import makes
from lipverify.foundation.quoting import shown
from lipverify.foundation.validation import numbers

MISSING, LARGEST_TAIL, LARGEST_SHARE = 2.0, 0.65, 0.75
"""Samples beyond the quantile of probability 2/N count as missing; the largest exponent of a tail, and the largest part
that the missing may add to a normal half-width. Chosen by `benchmarks/coverage.py --predictors` of commit e9c97803,
when no prompts were drawn more often: with 3, 0.6 and 0.5 more settings are refused than need be, with 1, 0.75 and 1
some are covered by 90 % only."""
NORMAL = "interval='normal': {}; draw more, or use interval='betting' where something bounds the samples."
WAYS_OUT = "draw more, compare two on the same samples, or take a quantity that is bounded, such as min(value, cap)."


class CheckedTally(Tally):
    """Samples of bounded quantities, as `Tally`; intervals are normal ones in the columns whose samples bear it out."""

    kind = "normal, checked against rare samples"

    @property
    def trusted(self) -> NDArray[np.bool_]:
        """True for the columns that have normal intervals."""
        spread = self.spread
        varied = (spread.variance > 0) & (spread.doubt < TRUSTED) & (self.count >= FEWEST)
        return np.asarray(self.settled | varied)

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """(mean, half-width) of each column."""
        trusted = self.trusted
        if not np.all(trusted):
            mean, half_width = super().interval(level)
            if not np.any(trusted):
                return mean, half_width
            return mean, np.where(trusted, self._normal(level), half_width)
        return self.spread.mean, self._normal(level)

    def says(self, half_width: Floats, names: Sequence[str]) -> str:
        """The kinds of interval, and what a wide range of the samples costs."""
        bets = [name for name, trusted in zip(names, self.trusted, strict=True) if not trusted]
        said = super().says(half_width, names)
        if not bets:
            return said
        others = f" and {len(bets) - 1} more" if len(bets) > 1 else ""
        return f"{said} Betting for the {bets[0]}{others}: the samples contradict a normal interval."

    def needed(self, rtol: float, miss: float) -> float:
        """Predict the number of samples for half-widths of rtol times the mean at the level 1 - miss."""
        spread, sampled = self.spread, ~self.settled
        normal, bets = spread.needed(rtol, miss, sampled), super().needed(rtol, miss)
        if not np.all(spread.mean[sampled] > 0):
            return bets
        missed = -math.log(miss) * self._distance(-math.log(miss) / normal)[sampled] / (rtol * spread.mean[sampled])
        return min(bets, max(normal, MARGIN * float(np.max(missed, initial=0.0))))

    def _normal(self, level: float) -> Floats:
        spread, N, z = self.spread, self.count, normal_half_width(1.0, level)
        half_width = z * np.sqrt(spread.variance / N) + _skewed(spread, z)
        chance = -math.log(1 - level) / N
        low, high = self.ends
        if np.any(chance * np.maximum(high - spread.mean, spread.mean - low) > half_width):
            half_width = np.maximum(half_width, chance * self._distance(chance))
        return np.where(self.settled, 0.0, half_width) + ROUNDING * np.abs(spread.mean)

    def _distance(self, chance: float) -> Floats:
        """How far events of this probability, together, may be from the mean."""
        mean, (low, high) = self.spread.mean, self.tails(max(1.0, 1 - math.log(chance)))
        return np.maximum(high - mean, mean - low)


def _skewed(spread: Spread, z: float) -> Floats:
    """What skewed samples add to the half-width of z standard errors, to first order."""
    return np.asarray((1 + 2 * z * z) / (6 * spread.count) * np.abs(spread.lean))


class NormalTally(Tally):
    """Samples that may have no bounds; intervals are mean +- 1.96 standard errors.

    Nothing bounds their error if a rare, large sample was not drawn. They are refused for fewer than 100 samples, a
    `TRUSTED` relative error of the variance or more, or samples that do not vary.
    """

    def interval(self, level: float = 0.95, message: str = NORMAL) -> tuple[Floats, Floats]:
        """(mean, half-width) of each column; out of reach if the samples contradict an assumption of the interval."""
        if not self.count:
            require_normal(0, 0.0, 0.0, message)
        spread, sampled = self.spread, ~self.settled
        errors = np.sqrt(spread.variance / self.count)
        require_normal(self.count, errors[sampled], spread.doubt[sampled], message)
        half_width = np.where(sampled, normal_half_width(errors, level), 0.0)
        return spread.mean, half_width + ROUNDING * np.abs(spread.mean)

    def says(self, half_width: Floats, names: Sequence[str]) -> str:
        """The kind of interval."""
        return "Intervals: normal, not checked against rare samples."

    def needed(self, rtol: float, miss: float) -> float:
        """Predict the number of samples for half-widths of rtol times the mean at the level 1 - miss."""
        return self.spread.needed(rtol, miss, ~self.settled)


@makes("sampled", "montecarlo")
def mean_with_half_width(values: Floats, bounds: tuple[float, float] | None = None) -> tuple[float, float]:
    """The mean of independent values and the half-width of its 95 % interval, for many values.

    Without bounds it is the normal interval with Johnson's correction for skewed values, plus what their tail may still
    hide: the tail is fitted above its largest 2 sqrt(N) values, and extrapolated to those that N draws do not show.

    Parameters
    ----------
    values
        The values, (N,), N >= 100.
    bounds
        What they lie between, if that is known: then the interval of `loss_terms`, valid for any N and any values.

    Returns
    -------
    mean, half_width
        Two numbers.

    Raises
    ------
    InvalidInput
        If the values are not finite numbers (N,), or lie outside of the bounds.
    OutOfReach
        If the values contradict the interval: too few, all equal, a few that carry most of the variance, or a tail that
        is too heavy or hides too much.

    Source: Johnson, JASA 73 (1978); Hosking and Wallis, Technometrics 29 (1987), for the fit.

    Examples
    --------
    >>> mean, error = mean_with_half_width(np.linspace(-1, 1, 1001))
    >>> abs(mean) < 1e-12, round(error, 4)
    (True, 0.0358)
    """
    values = numbers("values", values, finite=False)
    if values.ndim != 1 or not np.all(np.isfinite(values)):
        raise InvalidInput(f"values = {shown(values)}: they must be finite numbers in one dimension.")
    if bounds is not None:
        low, high = numbers("bounds", bounds, "a bound", least=-1e150)  # their squares are doubles
        bounded = CheckedTally(np.array([low]), np.array([high]))
        bounded.add(values[:, None])
        mean, half_width = bounded.interval()
        return float(mean[0]), float(half_width[0])
    # a power of two, so that scaling rounds nothing and fourth powers are numbers
    unit = 2.0 ** math.frexp(float(np.max(np.abs(values), initial=0.0)) or 1.0)[1]
    tally = NormalTally(np.array([-math.inf]), np.array([math.inf]))
    tally.add(values[:, None] / unit)
    mean, normal = tally.interval(message=f"{{}}; {WAYS_OUT}")
    hidden, exponent = _hidden(np.abs(values / unit - mean[0]))
    if exponent > LARGEST_TAIL or hidden > LARGEST_SHARE * normal[0]:
        raise OutOfReach(
            f"the tail of {len(values)} samples falls like a power with exponent -1/{exponent:.2g}, and may hide "
            f"{hidden / normal[0]:.2g} of a normal half-width: rare samples rule the mean; {WAYS_OUT}"
        )
    half_width = normal[0] + _skewed(tally.spread, normal_half_width(1.0))[0] + hidden
    return float(unit * mean[0]), float(unit * half_width)


def _hidden(distances: Floats) -> tuple[float, float]:
    """What samples that N draws do not show add to the mean, beyond an exponential tail, and the exponent of the tail.

    A generalised Pareto tail P(D > t + e) = (k / N) (1 + xi e / s)^(-1/xi) is fitted by probability-weighted moments to
    the k largest distances. xi counts one standard error more, (1 + xi) / sqrt(k): one too small would hide the tail.
    """
    N = len(distances)
    k = 2 * math.isqrt(N)
    threshold, *excesses = np.sort(distances)[-k - 1 :] if k < N else np.sort(distances)
    above = np.array(excesses) - threshold
    first, weighted = above.mean(), np.mean(np.arange(len(above))[::-1] / (len(above) - 1) * above)
    if not first > 2 * weighted:  # the largest are all equal
        return 0.0, 0.0
    xi, scale = 2 - first / (first - 2 * weighted), 2 * first * weighted / (first - 2 * weighted)
    exponent = min(xi + (1 + max(xi, 0.0)) / math.sqrt(k), 0.95)
    ratio = math.log(k / MISSING)
    beyond = scale * (math.expm1(exponent * ratio) / exponent if exponent else ratio)
    pareto = threshold + beyond + (scale + exponent * beyond) / (1 - exponent)
    return max(0.0, MISSING / N * (pareto - threshold - scale * (ratio + 1))), exponent
