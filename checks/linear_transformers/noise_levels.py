"""Losses at single noise levels, inside and outside the levels of training, and their curves."""

from __future__ import annotations

import math
from typing import Any

from lipverify.checks.linear_transformers.quantities import TRAININGS
from lipverify.claims import at, bound, per_profile

LEVELS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0)
FEWEST, LAYERS = 2, 4
"""The depths in the curves, from the first to the last; the deepest models are compared."""
CONTEXTS: dict[str, Any] = {"levels-1-3": per_profile(8192, 65_536), "uniform-5": per_profile(1024, 65_536)}
"""Fresh contexts of each level, by the law of training."""
TUNED_ON = 8192
"""The least number of contexts for fitting TunedRR: no interval covers the error of the fit, which moves the quotients."""
HALF_WIDTH = 2.0
"""Half-width of the intervals in standard errors."""


def fresh_at(noise: str, level: float, contexts: int, seed: int) -> Any:
    """Fresh contexts of one noise level."""
    from lipverify.linear_transformer import draw_contexts, evaluation, regression_named

    own = regression_named(noise)
    stream = f"profiles/{own.noise.label}/{level}"
    return evaluation(draw_contexts(own.replace(sigma=level), contexts, seed, stream))


def tuned_on(noise: str, contexts: int, seed: int) -> Any:
    """TunedRR, tuned on the law of training."""
    from lipverify.linear_transformer import draw_contexts, evaluation, regression_named, tuned_ridge

    stream = f"profiles/{regression_named(noise).noise.label}/tuning"
    return tuned_ridge(evaluation(draw_contexts(regression_named(noise), contexts, seed, stream)))


def limited(held_out: Any, estimator: Any) -> Any:
    """Losses, where a context counts as at most d/2, the loss of predicting 0 without noise.

    Outside the levels of training a few contexts would otherwise dominate the mean.
    """
    import numpy as np

    return np.minimum(np.nan_to_num(held_out.losses(estimator), nan=np.inf), held_out.contexts.task.shape[1] / 2)


def at_levels(noise: str, contexts: int, seed: int) -> dict[str, Any]:
    """At each level and for each training the log of one loss divided by another, both on the same contexts.

    Keys are such as "FULL over DIAG, training 0, at 1.5". The mean losses of the first trainings, with TunedRR's, are
    included for the figure.
    """
    from lipverify.linear_transformer import trainings

    families = {family: trainings(noise, family, LAYERS).values() for family in ("DIAG", "FULL")}
    shorter = [trainings(noise, family, k)[0] for k in range(FEWEST, LAYERS) for family in families]
    tuned = tuned_on(noise, max(contexts, TUNED_ON), seed)
    names = [
        *(f"{each.family} {each.layers}" for each in shorter),
        *(f"{family} {LAYERS}" for family in families),
        "TunedRR",
    ]
    found: dict[str, Any] = {name: [] for name in names}
    for level in LEVELS:
        held_out = fresh_at(noise, level, contexts, seed)
        ridge = limited(held_out, tuned)
        losses = {family: [limited(held_out, each) for each in models] for family, models in families.items()}
        for training, (diag, full) in enumerate(zip(losses["DIAG"], losses["FULL"], strict=True)):
            found[f"FULL over DIAG, training {training}, at {level:g}"] = log_ratio(full, diag)
        drawn = [*(limited(held_out, each) for each in shorter), *(each[0] for each in losses.values()), ridge]
        for name, each in zip(names, drawn, strict=True):
            found[name].append(float(each.mean()))
    return found


def log_ratio(losses: Any, others: Any) -> tuple[float, float]:
    """The logarithm of a quotient of mean losses on the same contexts, and its error (delta method)."""
    one, other = float(losses.mean()), float(others.mean())
    spread = float((losses / one - others / other).std()) / math.sqrt(len(losses))
    return math.log(one / other), HALF_WIDTH * spread


def gain(noise: str, sigma: float, training: int, found: Any) -> tuple[float, float]:
    """The logarithm of the loss of a training of FULL divided by that of DIAG at a level."""
    value, error = found[f"FULL over DIAG, training {training}, at {sigma:g}"]
    return value, error


def better(*levels: float, noise: str = "levels-1-3", **control: Any) -> Any:
    """The bound of the claim that DIAG loses less than FULL at these levels, in every training."""
    return bound(
        at(gain, found=at(at_levels, contexts=CONTEXTS[noise])),
        r"\log \frac{\mathcal{L}_{\mathrm{FULL}}}{\mathcal{L}_{\mathrm{DIAG}}}",
        low=0,
        strict=True,
        method=("montecarlo", "observed"),
        over={"noise": noise, "sigma": levels, "training": TRAININGS},
        **control,
    )
