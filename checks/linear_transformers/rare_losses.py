"""Losses on rare contexts, by decade of rareness, of models that were trained there and of others."""

from __future__ import annotations

import math
from typing import Any

from lipverify.checks.linear_transformers.independent_tables import DEPTHS
from lipverify.checks.linear_transformers.quantities import TRAININGS
from lipverify.claims import at, per_profile

HALF_WIDTH = 2.0
"""Half-width of the intervals in standard errors."""
RARE_FAMILIES = ("SAFE", "DIAG")

DEEP, RARE_DEPTHS = DEPTHS[2:], (3, 5, 7)
RAREST = 9
"""The rarest decade: one context in 10^9."""
MOST = 10.0
"""The cap on the loss of a context, in units of the mean loss of the prediction 0."""
BEYOND = 300.0
"""log10 of a bound above the range of floats."""
FREE = ("SAFEFULL", "FULL")
LESS = "SAFEFULL less FULL"
SHOWING = 6
Logarithm = tuple[float, float, float]
"""log10 of a quotient of mean losses where a context counts `MOST` at most, its error, and the same without the cap."""


def by_decade(noise: str, population: int, seed: int) -> list[dict[str, list[Logarithm]]]:
    """By decade of rareness: the loss of every training of DIAG and SAFE divided by that of the prediction 0.

    The keys are family and layers, such as "SAFE-3"; the lists go over the seeds of the trainings. Depths are `DEEP`
    where contexts are rarest, and those of the curves elsewhere.
    """
    import numpy as np

    from lipverify.linear_transformer import decades, evaluation, regression_named, trainings

    found = []
    for decade in decades(regression_named(noise), RAREST + 1, seed, f"tail-safe/{noise}", population=population):
        few = evaluation(decade.contexts)
        nothing = (few.oracle**2).sum(axis=1) / 2
        with np.errstate(over="ignore", invalid="ignore"):
            found.append(
                {
                    f"{family}-{k}": [over(few.losses(each), nothing) for each in trainings(noise, family, k).values()]
                    for family in RARE_FAMILIES
                    for k in (DEEP if decade.number == RAREST else RARE_DEPTHS)
                }
            )
    return found


def over(losses: Any, nothing: Any) -> Logarithm:
    """The logarithm of a quotient of means over the contexts of a decade, a tenth of which have separate ancestors.

    Without the cap a few contexts would dominate the mean of a model, and whether they are sampled is chance.
    """
    import numpy as np

    unit, whole = float(nothing.mean()), float(losses.mean())
    limited = np.fmin(losses / unit, MOST)
    mean = float(limited.mean())
    parts = limited / mean - nothing / unit
    error = HALF_WIDTH * math.sqrt(10 * float((parts**2).mean()) / len(parts))
    beyond = math.log10(whole / unit) if whole < 10.0**BEYOND else BEYOND
    return math.log10(mean), error / math.log(10), beyond


def at_rarest(noise: str, layers: int, found: Any, family: str = "SAFE") -> tuple[float, float, str]:
    """The worst training at one context in 10^9."""
    each = found[RAREST][f"{family}-{layers}"]
    if len(each) < len(TRAININGS):
        return 0.0, math.inf, f"{len(each)} of {len(TRAININGS)} trainings are there: see `lipverify train --help`"
    value, error, _ = max(map(tuple, each))
    return value, error, ""


def exploding(noise: str, population: int, seed: int) -> dict[str, tuple[float, float, str]]:
    """The share of contexts as rare as one in 10^`SHOWING` on which a model loses more than the prediction 0 does.

    The mean over the trainings, for SAFEFULL, for FULL, and for the first minus the second; the keys are these and the
    layers.
    """
    import numpy as np

    from lipverify.linear_transformer import decades, evaluation, regression_named, trainings

    *_, decade = decades(regression_named(noise), SHOWING + 1, seed, f"tail-safe/{noise}", population=population)
    few = evaluation(decade.contexts)
    found: dict[str, tuple[float, float, str]] = {}
    nothing = float((few.oracle**2).sum(axis=1).mean()) / 2
    for k in DEPTHS[4:]:
        with np.errstate(over="ignore", invalid="ignore"):
            bad = [[~(few.losses(each) <= nothing) for each in trainings(noise, family, k).values()] for family in FREE]
        least = min(map(len, bad))
        if least < len(TRAININGS):
            missing = (0.0, math.inf, f"{least} of {len(TRAININGS)} trainings are there")
            found |= {f"{key}-{k}": missing for key in (*FREE, LESS)}
            continue
        led, free = (np.mean(each, axis=0) for each in bad)
        found |= {
            f"{key}-{k}": (*share(of), "") for key, of in zip((*FREE, LESS), (led, free, led - free), strict=True)
        }
    return found


def share(values: Any) -> tuple[float, float]:
    """The mean over the contexts of a decade, a tenth of which have separate ancestors.

    The squared deviation of one more context is added to the sum, so that the error is positive even if all values
    agree.
    """
    mean = float(values.mean())
    return mean, HALF_WIDTH * math.sqrt(10 * (float(((values - mean) ** 2).sum()) + 1)) / len(values)


def fewer(noise: str, layers: int, found: Any, sign: int = 1) -> tuple[float, float, str]:
    """The share of SAFEFULL minus that of FULL, or the reverse."""
    value, error, why = found[f"{LESS}-{layers}"]
    return sign * value, error, why


BY_DECADE = at(by_decade, population=per_profile(1024, 4096))
EXPLODING = at(exploding, population=per_profile(2048, 8192))
"""The same with the given number of contexts a decade."""
