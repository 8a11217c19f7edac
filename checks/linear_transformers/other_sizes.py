"""Trained models of other sizes compared with ridge regressions on the same contexts, and their table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from lipverify.claims import at, bound, per_profile

HALF_WIDTH = 2.0
"""Half-width in standard errors from the contexts; the spread over trainings is added separately."""
CAP = 0.1
"""The cap on the loss of a context, in units of d/2, the loss of the prediction 0; otherwise rare contexts would
dominate some means."""
LEAST = 3
"""The smallest number of trainings for a claim."""
CAPPED = "a context counts as at most a tenth of $d/2$, the loss of the prediction 0"
Logarithm = tuple[float, float, str]
"""A quotient of losses: (value, error, the reason if the error is infinite)."""
SMALL, LONG, LARGE = ("uniform-3@5x20", "levels-1-3@5x20", "uniform-7@5x20"), "uniform-3@10x40", "uniform-3@20x40"
EVERY = (*SMALL, LONG, LARGE)
FAMILIES, RIDGES = ("DIAG", "OMEGA", "FULL"), ("ConstRR", "AdaRR", "TunedRR")
DEPTHS = (1, 2, 3, 4, 5)
DEEPEST = 7
"""The largest depth of a trained model."""
DRAWN: dict[str, Any] = {"coordinates": per_profile(131_072, 262_144)}
"""Number of coordinates of all fresh tasks, d for each: the work is about the same at every size."""
TUNED_ON = 2048
"""Number of contexts for fitting the cap and factor of TunedRR."""
CLOSE, FAR = "log(11/10)", "log(3/2)"
"""Tolerances: losses match within a tenth; they are close within a half."""


def log_quotient(pairs: Sequence[tuple[Any, Any]], mean: Callable[[Any], Any]) -> Logarithm:
    """The mean over trainings of the logarithm of a quotient of means, (value, error, the reason if the error is infinite).

    A pair is the losses of a training and of the estimator it is compared with, on the same contexts. The interval
    covers the spread of the trainings (Student's t) and that of the contexts (the delta method).
    """
    import numpy as np

    from lipverify.sampling import mean_interval

    if len(pairs) < LEAST:
        return 0.0, math.inf, f"{len(pairs)} of {LEAST} trainings are there"
    means = [(mean(one), mean(other)) for one, other in pairs]
    if not all(0 < each.value < math.inf and each.trusted for pair in means for each in pair):
        return 0.0, math.inf, "rare contexts rule the mean, and its error is not to be believed"
    value, spread = mean_interval(np.asarray([math.log(one.value / other.value) for one, other in means]))
    parts = [a / one.value - b / other.value for (a, b), (one, other) in zip(pairs, means, strict=True)]
    return value, spread + HALF_WIDTH * mean(np.mean(parts, axis=0)).standard_error, ""


def quotients(noise: str, coordinates: int, seed: int) -> dict[str, Logarithm]:
    """Logs of quotients of losses: of each model to every ridge regression, to one layer less, and to FULL, as "DIAG 5
    over TunedRR".

    Trainings are paired by seed if the other is trained too, all on the same contexts; `noise` names law and size.
    """
    import numpy as np

    from lipverify.linear_transformer import (
        AdaRR,
        best_constant,
        draw_contexts,
        evaluation,
        regression_named,
        trainings,
        tuned_ridge,
    )

    here, stream = regression_named(noise), f"sizes/{noise}"
    held_out = evaluation(draw_contexts(here, coordinates // here.d, seed, f"{stream}/report"))
    tuned = tuned_ridge(evaluation(draw_contexts(here, TUNED_ON, seed, f"{stream}/tuning")))

    def losses(estimator: Any) -> Any:
        return np.minimum(held_out.losses(estimator), CAP * here.d / 2)

    ridges = dict(zip(RIDGES, map(losses, (best_constant(here), AdaRR(), tuned)), strict=True))
    trained = {(one, k): trainings(noise, one, k).values() for one in FAMILIES for k in range(1, DEEPEST + 1)}
    models = {name: list(map(losses, some)) for name, some in trained.items() if some}
    found = {}
    for (family, k), mine in models.items():
        others = {name: [loss] * len(mine) for name, loss in ridges.items()}
        others["a layer less"] = models.get((family, k - 1), [])
        others["FULL"] = models.get(("FULL", k), []) if family != "FULL" else []
        for name, other in others.items():
            if other:
                found[f"{family} {k} over {name}"] = log_quotient(list(zip(mine, other, strict=True)), held_out.mean)
    return found


def over(noise: str, family: str, layers: int, against: str, found: Any, sign: float = 1.0) -> Logarithm:
    """One of these quotients; `sign` = -1 inverts it."""
    value, error, why = found[f"{family} {layers} over {against}"]
    return sign * value, error, why


def compared(against: str, noise: Any, layers: Any, family: str = "DIAG", **bounds: Any) -> Any:
    """The claim of a bound on the log of a family's loss divided by another's, at these laws, sizes and depths."""
    loss = {"a layer less": r"\mathcal{L}_{L - 1}", "FULL": r"\mathcal{L}_{\mathrm{FULL}}"}
    quotient = loss.get(against, rf"\mathcal{{L}}(\mathrm{{{against}}})")
    return bound(
        at(over, found=at(quotients, **DRAWN)),
        rf"\log(\mathcal{{L}}_{{\mathrm{{{family}}}}} / {quotient})",
        method=("montecarlo", "observed"),
        over={"family": family, "against": against, "noise": noise, "layers": layers},
        **bounds,
    )
