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

from lipverify.foundation.arrays import Floats
from lipverify.foundation.means.betting import Tally
from lipverify.foundation.means.samples import (
    FEWEST,
    MARGIN,
    ROUNDING,
    TRUSTED,
    normal_half_width,
    require_normal,
)


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
        half_width = z * np.sqrt(spread.variance / N) + (1 + 2 * z * z) / (6 * N) * np.abs(spread.lean)
        chance = -math.log(1 - level) / N
        low, high = self.ends
        if np.any(chance * np.maximum(high - spread.mean, spread.mean - low) > half_width):
            half_width = np.maximum(half_width, chance * self._distance(chance))
        return np.where(self.settled, 0.0, half_width) + ROUNDING * np.abs(spread.mean)

    def _distance(self, chance: float) -> Floats:
        """How far events of this probability, together, may be from the mean."""
        mean, (low, high) = self.spread.mean, self.tails(max(1.0, 1 - math.log(chance)))
        return np.maximum(high - mean, mean - low)


class NormalTally(Tally):
    """Samples that may have no bounds; intervals are mean +- 1.96 standard errors.

    Nothing bounds their error if a rare, large sample was not drawn. They are refused for fewer than 100 samples, a
    `TRUSTED` relative error of the variance or more, or samples that do not vary.
    """

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """(mean, half-width) of each column; out of reach if the samples contradict an assumption of the interval."""
        way_out = "draw more, or use interval='betting' where something bounds the samples."
        if not self.count:
            require_normal(0, 0.0, 0.0, f"interval='normal': {{}}; {way_out}")
        spread, sampled = self.spread, ~self.settled
        errors = np.sqrt(spread.variance / self.count)
        require_normal(self.count, errors[sampled], spread.doubt[sampled], f"interval='normal': {{}}; {way_out}")
        half_width = np.where(sampled, normal_half_width(errors, level), 0.0)
        return spread.mean, half_width + ROUNDING * np.abs(spread.mean)

    def says(self, half_width: Floats, names: Sequence[str]) -> str:
        """The kind of interval."""
        return "Intervals: normal, not checked against rare samples."

    def needed(self, rtol: float, miss: float) -> float:
        """Predict the number of samples for half-widths of rtol times the mean at the level 1 - miss."""
        return self.spread.needed(rtol, miss, ~self.settled)
