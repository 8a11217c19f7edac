"""Losses on rare contexts, by decade of rareness, of models that were trained there and of others."""

from __future__ import annotations

import math
from typing import Any

from lipverify.checks.linear_transformers.quantities import DEPTHS
from lipverify.claims import at, per_profile

HALF_WIDTH = 2.0
"""Half-width of the intervals in standard errors."""
SHOWING = 6


def exploding(noise: str, population: int, seed: int) -> dict[str, tuple[float, float]]:
    """By layers: the share of contexts as rare as one in 10^`SHOWING` on which SAFEFULL loses more than the prediction 0,
    minus that of FULL; means over the trainings.
    """
    import numpy as np

    from lipverify.linear_transformer import decades, evaluation, regression_named, trainings

    *_, decade = decades(regression_named(noise), SHOWING + 1, seed, f"tail-safe/{noise}", population=population)
    few = evaluation(decade.contexts)
    nothing, found = float((few.oracle**2).sum(axis=1).mean()) / 2, {}
    for k in DEPTHS[5:]:
        with np.errstate(over="ignore", invalid="ignore"):
            led, free = (
                np.mean([~(few.losses(each) <= nothing) for each in trainings(noise, family, k).values()], axis=0)
                for family in ("SAFEFULL", "FULL")
            )
        found[str(k)] = share(led - free)
    return found


def share(values: Any) -> tuple[float, float]:
    """The mean over the contexts of a decade, a tenth of which have separate ancestors.

    The squared deviation of one more context is added to the sum, so that the error is positive even if all values
    agree.
    """
    mean = float(values.mean())
    return mean, HALF_WIDTH * math.sqrt(10 * (float(((values - mean) ** 2).sum()) + 1)) / len(values)


def fewer(noise: str, layers: int, found: Any, sign: int = 1) -> tuple[float, float]:
    """The share of SAFEFULL minus that of FULL, or the reverse."""
    value, error = found[str(layers)]
    return sign * value, error


EXPLODING = at(exploding, population=per_profile(2048, 8192))
