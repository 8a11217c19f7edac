"""Means of many independent samples: standard errors, and half-widths of 95 % intervals by the normal law."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array, Floats

NORMAL_95 = 1.96
TRUSTED = 0.25
"""The largest relative standard error of a sampled variance at which a standard error made of it is believed."""


class SampledMean(msgspec.Struct, frozen=True, kw_only=True):
    """A mean over sampled contexts.

    Attributes
    ----------
    value, standard_error
        The mean and its standard error (not a half-width), in the units of what was sampled.
    doubt
        The relative standard error of the sampled variance, from the fourth moment: at `TRUSTED` and above, a few
        contexts carry most of the variance, rarer and worse ones are likely not to have been drawn, and neither the
        value nor its error is to be believed.
    """

    value: float
    standard_error: float
    doubt: float

    @property
    def trusted(self) -> bool:
        """Whether the standard error is to be believed; never if it is not a number."""
        return self.doubt < TRUSTED


def sampled_mean(values: Array) -> SampledMean:
    """Mean of independent values, (contexts,), with its standard error and the doubt in that.

    Raises
    ------
    InvalidInput
        If there are fewer than two values.

    >>> import numpy as np
    >>> mean = sampled_mean(np.asarray([1.0, 2.0, 3.0]))
    >>> mean.value, round(mean.standard_error, 3), mean.trusted
    (2.0, 0.577, False)
    """
    xp = values.__array_namespace__()
    count = int(values.shape[0])
    if count < 2:
        raise InvalidInput(f"contexts = {count}: a standard error needs at least 2.")
    mean = xp.mean(values)
    square = (values - mean) ** 2
    second, fourth = float(xp.sum(square)), float(xp.sum(square * square))
    # the sampled variance is itself a mean, of the squares
    spread = fourth / second**2 - 1 / count if second != 0 else 0.0
    doubt = math.inf if count < 4 else 0.0 if spread < 0 else math.sqrt(spread)
    return SampledMean(value=float(mean), standard_error=math.sqrt(second / (count - 1) / count), doubt=doubt)


def half_widths(values: Floats) -> Floats:
    """Half-widths for means along the first axis.

    >>> round(float(half_widths(np.array([1.0, 2.0, 3.0]))), 3)
    1.132
    """
    return np.asarray(NORMAL_95 * values.std(axis=0, ddof=1) / math.sqrt(len(values)))


def mean_with_half_width(values: Floats) -> tuple[float, float]:
    """The mean of independent values, and its half-width."""
    return float(values.mean()), float(half_widths(values))
