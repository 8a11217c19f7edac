"""The columns of Table 1, for claims that rest on trained models: a law of the noise, with every witness of it.

The models of a column and its baselines are evaluated on the same fresh contexts, once for all claims that ask for it
with the same settings; so a claim about trained models takes these.

    @needs(found=column)
    def over_ridge(noise, layers, contexts, samples, seed, found):
        return compared(found[0]).of("DIAG", layers).loss.value / ...
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lipverify.claims.language.claim import at
from lipverify.claims.plan.profile import per_profile
from lipverify.foundation.calls import Call, needs

if TYPE_CHECKING:
    from lipverify.foundation.means.samples import SampledMean
    from lipverify.linear_transformer.training.comparison import Comparison, LogQuotient

NOISE_LAWS = (*(f"uniform-{sigma_max}" for sigma_max in range(8)), "levels-1-3", "levels-1-3-5")
"""The columns: sigma uniform on [0, sigma_max], or one of a few levels."""
DEPTHS = tuple(range(1, 8))
SAMPLES: dict[str, Any] = {"contexts": per_profile(4096, 6144), "samples": per_profile(1, 8)}
"""Contexts to each sample of a column, and independent samples."""
CAPPED = "a context counts as at most a tenth of $d/2$, which the prediction 0 loses"
"""What claims assume that compare trainings seed by seed."""
HALF_WIDTH = 2.0
"""Standard errors of a measured loss, or of a difference of two, to either side; the spread over trainings is apart."""


def column(noise: str, contexts: int, samples: int, seed: int) -> list[Call]:
    """The measurement that a function needs of a column: to be given to `needs`."""
    from lipverify.linear_transformer.training.comparison import comparison

    return [at(comparison, noise=noise, contexts=contexts, samples=samples, seed=seed)]


@needs(found=column)
def whole(noise: str, contexts: int, samples: int, seed: int, found: list[Any]) -> Any:
    """The column itself, to be shown."""
    return found[0]


def compared(found: Any) -> Comparison:
    """The comparison that was measured, as what it is."""
    from msgspec import convert

    from lipverify.linear_transformer.training.comparison import Comparison

    return convert(found, Comparison)


def log_quotient(pairs: Sequence[tuple[Any, Any]], mean: Callable[[Any], SampledMean]) -> tuple[float, float, str]:
    """The mean over trainings of the logarithm of a quotient of means, (value, error, why that is infinite).

    A pair is the losses of a training and of what it is compared with, on the same contexts. The interval covers the
    spread of the trainings (Student's t) and that of the contexts (the delta method).
    """
    from lipverify.linear_transformer.training import comparison

    return _interval(comparison.log_quotient(pairs, mean))


def seed_by_seed(found: Any, one: str, other: str, layers: int, times: float = 1.0) -> tuple[float, float, str]:
    """The loss of a family over that of another in a column, times a number: the geometric mean over pairs of one seed.

    Its error covers the spread of the pairs (Student's t) and the contexts. Losses are as `CAPPED` says.
    """
    value, error, why = _interval(compared(found).quotient(one, other, layers))
    return times * math.exp(value), times * math.exp(value) * math.expm1(error), why


def _interval(found: LogQuotient) -> tuple[float, float, str]:
    return found.value, found.half_width(HALF_WIDTH), found.doubtful


def named(noise: str) -> str:
    """A law of the noise in a sentence."""
    from lipverify.linear_transformer.regression.noise import noise_named

    return f"${noise_named(noise).latex}$"
