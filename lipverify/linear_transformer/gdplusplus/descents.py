"""Descents to a minimum of the loss of GD++: Levenberg-Marquardt on the deviations from ridge regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

from lipverify.foundation.arrays import EPS, Floats
from lipverify.linear_transformer.gdplusplus.loss import ExcessLoss

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
    short = sorted((_refined(loss, start, 40) for start in begin), key=lambda end: end.value)
    return sorted((_refined(loss, end.weights, 1000) for end in short[:6]), key=lambda end: end.value)


def _refined(loss: ExcessLoss, start: Floats, steps: int) -> Minimum:
    """Levenberg-Marquardt, at most until double precision is exhausted."""
    last: dict[bytes, tuple[Floats, Floats]] = {}

    def at(weights: Floats) -> tuple[Floats, Floats]:
        """The deviations and their Jacobian, which the solver asks for one after the other."""
        if weights.tobytes() not in last:
            last.clear()
            last[weights.tobytes()] = loss.deviations(weights)
        return last[weights.tobytes()]

    def deviations(weights: Floats) -> Floats:
        return np.clip(np.nan_to_num(at(weights)[0], nan=BARRIER), -BARRIER, BARRIER)

    def jacobian(weights: Floats) -> Floats:
        return np.clip(np.nan_to_num(at(weights)[1]), -BARRIER, BARRIER)

    end = 4 * EPS
    fit = least_squares(
        deviations, start, jacobian, method="lm", x_scale="jac", xtol=end, ftol=end, gtol=end, max_nfev=steps
    )
    return Minimum(loss(fit.x), fit.x)


def distinct(values: Sequence[float] | Floats) -> list[int]:
    """One position for each minimum among the losses at the ends of descents, best first."""
    kept: list[int] = []
    for index in np.argsort(values, kind="stable"):
        if not kept or values[index] > values[kept[-1]] * (1 + SAME):
            kept.append(int(index))
    return kept
