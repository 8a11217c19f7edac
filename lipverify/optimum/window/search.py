r"""Find the minima of the loss that may be the global one, from rough values."""

from __future__ import annotations

import math

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.loss import loss_terms
from lipverify.loss.exact import least_noise, rough_from, rough_terms
from lipverify.optimum.window.origin import REACH
from lipverify.problem import Problem

STEP = math.log(2.0)
"""Step in log w between the windows of the scan."""
START = math.log(REACH) - 2 * STEP
BLOCK = 6
"""Number of w evaluated in one call of the scan; the scan may end after each."""
NEAR = 3
"""Number of scanned w on either side of a minimum that are interpolated to locate it."""
ROUGH = 1e-3
"""Bound on the relative error of rough values."""
MARGIN = 0.05
"""Minima whose rough values are within this share of the smallest are compared by exact values."""
SINGLE = math.log(100.0)
"""Beyond 100 times the scale of the nearest token, in log w, the loss rises to its limit like -1/w."""


def competing(problem: Problem, route: str | None = None) -> tuple[bool, list[float]]:
    """True if the best w may lie in [0, REACH], and log w of the other minima that may be the global one.

    The scan goes upwards in w and ends when the noise alone exceeds the smallest loss, since the noise grows with w.

    Raises
    ------
    OutOfReach
        If the loss is smallest at a w so large that the nearest token has nearly all the weight, if the loss is
        somewhere smaller than its error, or if the method does not reach such w.
    """
    x, loss = _scan(problem, route)
    if loss.min() <= 0:
        w = math.exp(x[np.argmin(loss)])
        reason = loss_terms(problem, w, route=route).reason
        raise OutOfReach(f"the loss at w = {w:.6g} is less than its error, for {problem!r}. {reason}".strip())
    if np.argmin(loss) == loss.size - 1:
        raise OutOfReach(f"the loss still falls at w = {math.exp(x[-1]):.3g}, for {problem!r}: it is flat to rounding.")
    # the first two w are below REACH
    inside = 2 + np.flatnonzero((loss[2:-1] <= loss[1:-2]) & (loss[2:-1] <= loss[3:]))
    minima = [_refined(x, loss, i) for i in inside.tolist()]
    enough = (1 + MARGIN) * min([float(loss.min()), *(value for _, value in minima)])
    near_zero = bool(loss[x <= math.log(REACH)].min() <= enough)
    return near_zero, [at for at, value in minima if value <= enough and at > math.log(REACH) - STEP / 2]


def _scan(problem: Problem, route: str | None) -> tuple[Floats, Floats]:
    """log w of the scan, from w = 0 on, and the rough losses."""
    far = 2 / (problem.d - 1) * math.log(float(problem.n)) + SINGLE
    x, loss, too_noisy = np.array([-math.inf]), np.atleast_1d(loss_terms(problem, 0.0, route=route).total), False
    while not too_noisy and x[-1] < far:
        block = START + STEP * (x.size - 1 + np.arange(BLOCK))
        block = block[block < far + STEP]
        beyond = problem.sigma**2 * least_noise(problem.d, float(problem.n), np.exp(block)) > (1 + ROUGH) * loss.min()
        block = block[: np.argmax(beyond) + 1] if beyond.any() else block
        noise, bias = _rough(problem, np.exp(block), route)
        x, loss = np.append(x, block), np.append(loss, noise + bias)
        too_noisy = bool(beyond.any() or noise[-1] > (1 + ROUGH) * loss.min())
    return x, loss


def _refined(x: Floats, loss: Floats, i: int) -> tuple[float, float]:
    """(log w, loss) at the minimum, within a step of point i, of a polynomial through the log losses near point i."""
    near = slice(max(i - NEAR, 1), i + NEAR + 1)
    steps = (x[near] - x[i]) / STEP
    fit = np.polynomial.Polynomial.fit(steps, np.log(loss[near]), steps.size - 1)
    fine = np.linspace(-1, 1, 401)
    best = float(fine[np.argmin(fit(fine))])
    return float(x[i]) + STEP * best, math.exp(fit(best))


def _rough(problem: Problem, w: Floats, route: str | None) -> tuple[Floats, Floats]:
    """(noise, bias) to a few digits at every w, by the cheapest method for the law and w."""
    fine = w <= (math.inf if route == "zonal" else rough_from(problem))
    noise, bias = np.empty_like(w), np.empty_like(w)
    if not fine.all():
        try:
            noise[~fine], bias[~fine] = rough_terms(problem, w[~fine])
        except OutOfReach:
            fine[:] = True
    if fine.any():
        terms = loss_terms(problem, w[fine], route=route)
        noise[fine], bias[fine] = terms.noise, terms.bias
    return noise, bias
