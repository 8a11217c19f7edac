"""Minimise over a convex set given by its projection, by spectral projected gradients."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat

import numpy as np

from lipverify.foundation.arrays import Floats

Objective = Callable[[Floats], tuple[float, Floats]]
Projection = Callable[[Floats], Floats]

MEMORY, SUFFICIENT, SHORTEST_STEP = 10, 1e-4, 1e-12
"""A step is accepted if it improves on the worst of the last MEMORY values by SUFFICIENT times the predicted change."""
LEAST_LENGTH, MOST_LENGTH = 1e-10, 1e10
SMALLEST_CUT, LARGEST_CUT = 0.1, 0.5
"""A rejected step is shortened by a factor in this range."""


def stationarity(x: Floats, gradient: Floats, project: Projection) -> float:
    """The largest entry of P(x - gradient) - x: zero exactly where x is stationary on the set."""
    return float(np.max(np.abs(project(x - gradient) - x)))


def projected_gradient(
    objective: Objective, project: Projection, start: Floats, tolerance: float, most_steps: int
) -> Floats:
    """A stationary point of a smooth function on a convex set.

    Each step goes towards P(x - lambda g), with lambda = <s, s> / <s, y> from the last change s of x and y of the
    gradient, and is shortened until a non-monotone sufficient decrease holds.

    Parameters
    ----------
    objective
        x -> (value, gradient).
    project
        The Euclidean projection on the set.
    start
        Any point; its projection is the first iterate.
    tolerance
        Stop where `stationarity` is at most this.
    most_steps
        The largest number of steps; the caller has to test the stationarity of the result.

    Source: Birgin, Martinez and Raydan, SIAM J. Optim. 10 (2000) 1196-1211, algorithm SPG2.

    >>> bowl = lambda x: (float(np.sum((x - 3) ** 2)), 2 * (x - 3))
    >>> projected_gradient(bowl, lambda x: np.minimum(x, [1.0, 5.0]), np.zeros(2), 1e-12, 100).tolist()
    [1.0, 3.0]
    """
    x = project(start)
    value, gradient = objective(x)
    history, length = [value], 1 / max(stationarity(x, gradient, project), LEAST_LENGTH)
    for _ in repeat(None, most_steps):
        if stationarity(x, gradient, project) <= tolerance:
            break
        found = _decrease(objective, x, project(x - length * gradient) - x, gradient, history)
        if found is None:
            break  # the values are flat to rounding
        s, y = found[0] - x, found[2] - gradient
        x, value, gradient = found
        history = [*history, value][-MEMORY:]
        curvature = float(np.sum(s * y))
        spectral = float(np.sum(s * s)) / curvature if curvature > 0 else MOST_LENGTH
        length = min(max(spectral, LEAST_LENGTH), MOST_LENGTH)
    return x


def _decrease(
    objective: Objective, x: Floats, direction: Floats, gradient: Floats, history: list[float]
) -> tuple[Floats, float, Floats] | None:
    """The first point on the direction with a sufficient decrease, its value and gradient; None if there is none."""
    slope, step, highest, last = float(np.sum(gradient * direction)), 1.0, max(history), history[-1]
    while step > SHORTEST_STEP:
        candidate = x + step * direction
        value, there = objective(candidate)
        if value <= highest + SUFFICIENT * step * slope:
            return candidate, value, there
        # the minimum of the parabola through both values and the slope
        excess = value - last - step * slope
        parabola = -slope * step / (2 * excess) if excess > 0 else SMALLEST_CUT
        step *= min(max(parabola, SMALLEST_CUT), LARGEST_CUT)
    return None
