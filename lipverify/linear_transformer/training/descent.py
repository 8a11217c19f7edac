"""Descent by limited-memory quasi-Newton steps (L-BFGS)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from lipverify.foundation.arrays import Floats

MEMORY = 30
"""Number of pairs of steps and gradient changes that are kept."""
STALLED = 1e-8
"""Least relative gain of a step. The objectives are logarithms, so this is about one part in 10^8 of the loss."""
TRIALS = 4
"""Largest average number of evaluations per iteration before the descent is stopped."""


class Descent(NamedTuple):
    """The end of a descent.

    Attributes
    ----------
    weights, value
        The best point, and the objective there.
    slope
        Euclidean norm of the gradient there.
    iterations, evaluations
        Steps, and gradients that they took.
    """

    weights: Floats
    value: float
    slope: float
    iterations: int
    evaluations: int


def descend(objective: Callable[[Floats], tuple[float, Floats]], start: Floats, iterations: int) -> Descent:
    """Descend at most a number of steps from a start; stop earlier if a step gains less than `STALLED` of the value.

    >>> end = descend(lambda x: (float((x**2).sum()), 2 * x), np.asarray([[3.0, -1.0]]), 20)
    >>> bool(end.value < 1e-12), end.weights.shape
    (True, (1, 2))
    """

    def flat(point: Floats) -> tuple[float, Floats]:
        value, gradient = objective(point.reshape(start.shape))
        return value, gradient.reshape(-1)

    options = {"maxiter": iterations, "maxfun": TRIALS * iterations, "maxcor": MEMORY, "ftol": STALLED, "gtol": 0.0}
    found = minimize(flat, start.reshape(-1), jac=True, method="L-BFGS-B", options=options)
    slope = float(np.linalg.norm(found.jac))
    return Descent(found.x.reshape(start.shape), float(found.fun), slope, int(found.nit), int(found.nfev))
