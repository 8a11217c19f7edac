r"""Refine descents to the best GD++ weights to full precision: Levenberg-Marquardt with exact derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares

from lipverify.foundation.arrays import EPS, Floats
from lipverify.linear_transformer.gdplusplus.loss import ExcessLoss

SHORT, FINISHED, LONG = 40, 6, 1000
"""Steps of a descent from every start, number of ends that are followed further, and their number of steps."""
SAME = 1e-6
"""Largest relative difference of losses of two descents that ended in the same minimum."""
BARRIER = 1e100
"""Replaces a deviation that overflows, so that a descent turns back."""


class Minimum(NamedTuple):
    """The end of a descent: the excess loss and the weights."""

    value: float
    weights: Floats


def best_ends(loss: ExcessLoss, begin: Sequence[Floats]) -> list[Minimum]:
    """The ends of descents, best first: short descents from every start, long ones from the most promising ends."""
    short = sorted((_descend(loss, start, SHORT) for start in begin), key=lambda end: end.value)
    return sorted((_descend(loss, end.weights, LONG) for end in short[:FINISHED]), key=lambda end: end.value)


def _descend(loss: ExcessLoss, start: Floats, steps: int) -> Minimum:
    """Levenberg-Marquardt, at most until double precision is exhausted."""
    last: list[Any] = [None, None]

    def at(weights: Floats) -> tuple[Floats, Floats]:
        if last[0] is None or not np.array_equal(last[0], weights):
            last[:] = [weights.copy(), loss.deviations(weights)]
        return last[1]

    def deviations(weights: Floats) -> Floats:
        return np.clip(np.nan_to_num(at(weights)[0], nan=BARRIER), -BARRIER, BARRIER)

    def jacobian(weights: Floats) -> Floats:
        return np.clip(np.nan_to_num(at(weights)[1]), -BARRIER, BARRIER)

    end = 4 * EPS
    found = least_squares(
        deviations, start, jacobian, method="lm", x_scale="jac", xtol=end, ftol=end, gtol=end, max_nfev=steps
    )
    return Minimum(loss(found.x), found.x)


def different(ends: Sequence[Minimum]) -> list[Minimum]:
    """One representative of each minimum, best first."""
    kept: list[Minimum] = []
    for end in ends:
        if not kept or end.value > kept[-1].value * (1 + SAME):
            kept.append(end)
    return kept
