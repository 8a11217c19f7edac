r"""Looking for the window of least loss, in x = log w, on rough values."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ive

from lipverify.errors import OutOfReach
from lipverify.loss import loss_terms
from lipverify.loss.exact.terms import rough_terms
from lipverify.problem import Problem
from lipverify.problem.law import RidgeLaw

Floats = NDArray[np.float64]

STEP = math.log(4.0)
"""Step in log w while a minimum is being looked for."""
STRIDE = 3 * STEP
"""Step in log w towards small windows, where the loss is smooth on the scale of log w."""
SMALL = math.log(1e-3)
FINE = 7
"""Points of the last rough grid, two steps wide; three of them are known."""
ROUGH = 1e-3
"""Rough values differ from exact ones by less than this, relative."""


class Search:
    """Looks for the global minimum of the loss in x = log w; rough values are remembered."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.known = problem, dict[float, tuple[float, float]]()
        # a nearest token is at 1 - t ~ n^{-2/(d-1)}: w beyond its inverse by 1e6 attends to it alone
        self.far = 2 / (problem.d - 1) * math.log(float(problem.n)) + math.log(1e6)

    def terms(self, *xs: float) -> list[tuple[float, float]]:
        """Rough (noise, bias) at every e^x; the unknown ones are computed together."""
        new = [x for x in dict.fromkeys(xs) if x not in self.known]
        if new:
            noise, bias = _rough(self.problem, np.exp(np.array(new)))
            self.known.update(zip(new, zip(noise.tolist(), bias.tolist(), strict=True), strict=True))
        return [self.known[x] for x in xs]

    def losses(self, *xs: float) -> list[float]:
        """The rough loss at every e^x."""
        return [noise + bias for noise, bias in self.terms(*xs)]

    def descend(self, x: float) -> float:
        """Walk downhill from x in steps of STEP to a point whose neighbours are both higher."""
        while x < self.far:
            below, here, above = self.losses(x - STEP, x, x + STEP)
            if above < here:
                x += STEP
            elif below < here:
                x -= STEP
            else:
                break
        return x

    def global_minimum(self, x: float) -> float:
        """The local minimum near x unless a rival is lower; infinite if no finite window is."""
        x = self.descend(x)
        above = self.above(x)
        rivals = [x, *np.arange(x - STRIDE, SMALL, -STRIDE).tolist(), *above]
        losses = self.losses(*rivals)
        best = int(np.argmin(losses))
        if losses[best] < losses[0] * (1 - ROUGH):
            return self.global_minimum(rivals[best])
        neighbour_competes = (bool(above) and above[-1] > self.far) or x > self.far
        if neighbour_competes:
            far, here = loss_terms(self.problem, np.exp([self.far, x])).total
            if far <= here:
                return math.inf
        return x

    def closer(self, x: float) -> float:
        """The lowest point, between the neighbours of x, of a polynomial through rough values of log loss."""
        offsets = np.linspace(-1, 1, FINE)
        grid = [x - STEP, *(x + STEP * offsets[1:-1]).tolist(), x + STEP]
        fit = np.polynomial.Polynomial.fit(offsets, np.log(self.losses(*grid)), FINE - 1)
        fine = np.linspace(-1, 1, 401)
        return x + STEP * float(fine[np.argmin(fit(fine))])

    def above(self, x: float) -> list[float]:
        """Windows above x, up to the first whose noise alone excludes all beyond: noise only grows."""
        rivals, rival = [], x + 2 * STEP
        while rival < self.far + STEP and self.terms(rival)[0][0] <= self.losses(x)[0] * (1 + ROUGH):
            rivals.append(rival)
            rival += STEP
        return rivals


def _rough(problem: Problem, w: Floats) -> tuple[Floats, Floats]:
    """(noise, bias) to a few digits, by whatever is cheapest for the law."""
    if isinstance(problem.law, RidgeLaw):
        with suppress(OutOfReach):
            return rough_terms(problem, w)
    terms = loss_terms(problem, w)
    return terms.noise, terms.bias


def first_guess(problem: Problem) -> float:
    """Log w of the minimum of the loss for n -> infinity at fixed w, capped where tokens run out.

    There N = (sigma^2/n) E g^2 / (E g)^2 and the affine bias is v (E[g (1-t)] / E g)^2 / d, closed forms
    in Bessel functions.
    """
    scale = problem.law.amplitude_variance if isinstance(problem.law, RidgeLaw) else 1.0
    x = np.linspace(math.log(1e-12), math.log(1e18), 600)
    w, nu = np.exp(x), problem.d / 2 - 1
    with np.errstate(all="ignore"):
        log_g, log_g2 = (np.log(ive(nu, k * w)) - nu * np.log(k * w / 2) for k in (1, 2))
        ratio = np.exp(log_g2 - 2 * log_g - gammaln(nu + 1))
        noise = np.minimum(problem.sigma**2 * ratio / float(problem.n), problem.sigma**2)
        bias = scale * (1 - ive(nu + 1, w) / ive(nu, w)) ** 2 / problem.d
    total = np.where(np.isfinite(noise + bias), noise + bias, np.inf)
    return float(x[np.argmin(total)])
