r"""The nodes of the trapezoidal rule over u = log(lambda), with their ends and step.

The proof uses only the `Nodes` themselves. Their ends and number are chosen with doubles: a poor choice makes the balls
wide, never wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb

from lipverify.loss.certified.harmonics import Ball, exponential_averages

GRAIN = 64
"""Ends and steps are multiples of 1/64: exact as doubles, exact as balls."""
LOOK_POINTS = 4001
"""Points at which the integrand is evaluated in doubles to find the range that matters; nothing certified depends on
them."""


@dataclass(frozen=True)
class Nodes:
    """u_j = low + j step, j = 0..count-1; `low` and `step` are exact in binary."""

    low: float
    step: float
    count: int

    @property
    def high(self) -> float:
        """low + (count - 1) step, the last node."""
        return self.low + (self.count - 1) * self.step

    def u(self) -> list[Ball]:
        """The nodes as exact balls."""
        return [arb(self.low) + arb(self.step) * j for j in range(self.count)]

    @classmethod
    def place(cls, d: int, n: int, w: float, goal: float) -> Nodes:
        """Nodes for a relative error of about e^{-goal}."""
        step = _step(goal)
        low = step * math.floor(_low(d, n, w, goal) / step)
        high = _high(d, n, w, goal + 2 * math.log(n) + 2 * math.log1p(w))
        return cls(low, step, math.ceil((high - low) / step) + 1)


def _step(goal: float) -> float:
    """The largest step for which `discretisation` is below e^{-goal}, from -log of it = pi^2/h - 2 log(pi/h) - 2.7."""
    step = 1.0
    for _ in range(20):
        step = math.pi**2 / (goal + 2.7 + 2 * math.log(math.pi / step))
    return max(1, math.floor(GRAIN * step)) / GRAIN


def _low(d: int, n: int, w: float, goal: float) -> float:
    """Where n e^{2u} E g^2 has fallen to e^{-goal} / n."""
    mean_square = exponential_averages(d, arb(2 * w), 1)[0].log() - 2 * arb(w)
    return -goal / 2 - math.log(n) - float(mean_square) / 2


def _high(d: int, n: int, w: float, fall: float) -> float:
    """Where phi^{n-2} e^{-e^{u-2w}} has fallen to e^{-fall}, by bisection.

    With s = 2w / (1 + e^{-v}) the density of a deficit is proportional to cosh(v/2)^{1-d} dv.
    """
    v = np.linspace(-1, 1, LOOK_POINTS) * (3 + 300 / (d - 1))
    weight = np.exp((1 - d) * (np.logaddexp(v / 2, -v / 2) - math.log(2)))
    s, weight = 2 * w / (1 + np.exp(-v)), weight / weight.sum()

    def fallen(u: float) -> bool:
        missing = float(weight @ -np.expm1(-np.exp(np.minimum(u - s, 50.0))))
        present = float(weight @ np.exp(-np.exp(np.minimum(u - s, 50.0))))
        log_phi = math.log1p(-missing) if missing < 0.5 else math.log(max(present, 1e-300))
        return -(n - 2) * log_phi + math.exp(min(u - 2 * w, 50.0)) >= fall

    low, high = -math.log(n) - 1, 2 * w + math.log(fall) + 1
    while high - low > 0.05:
        middle = (low + high) / 2
        low, high = (low, middle) if fallen(middle) else (middle, high)
    return high
