r"""Averages over one token, by the double exponential rule in the angle theta from the query.

With s = w (1 - cos theta), lambda g = e^{u-s} and weight sin^{d-2}(theta): the rule is applied between the
ends of the sphere, the step of exp(-lambda g) at s = u, and where its tails begin and end. Every second node
is the same rule with twice the step: the difference tells the error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import beta

Floats = NDArray[np.float64]

REACH = 3.15
"""tanh(pi/2 sinh x) is 1 to rounding beyond this x."""
TAIL = 46.0
"""Terms below e^-46 = 1e-20 are left out."""


@dataclass(frozen=True)
class Nodes:
    """One rule: near = 1 - t, deficits s = w near, and weights that include the density.

    `coarse` are the weights of every second node, doubled, with zeros between.
    """

    near: Floats
    s: Floats
    weight: Floats
    coarse: Floats


def nodes(d: int, w: float, u: float) -> Nodes:
    """The rule for kernels with their step at s = u; one rule serves every u <= 1.

    Its panels end where e^{-s} s^{(d-3)/2} has fallen by e^-46 on either side.
    """
    half_m = (d - 1) / 2
    spread = TAIL + 2 * half_m + 12 * math.sqrt(half_m)
    step = max(u, 1.0)
    stops = [0.0, step - 5, step, step + 5, step + spread, 2 * w]
    edges = sorted({min(max(stop, 0.0), 2 * w) for stop in stops})
    count = 2 * (56 + int(6 * math.sqrt(half_m)))
    panels = [_panel(_angle(a, w), _angle(b, w), count) for a, b in pairwise(edges)]
    theta, weight, coarse = (np.concatenate(column) for column in zip(*panels, strict=True))
    near = 2 * np.sin(theta / 2) ** 2
    density = np.abs(np.sin(theta)) ** (d - 2) / beta(0.5, half_m)
    return Nodes(near, w * near, weight * density, coarse * density)


def _angle(s: float, w: float) -> float:
    """The angle with w (1 - cos theta) = s."""
    return 2 * math.atan2(math.sqrt(s), math.sqrt(max(2 * w - s, 0.0)))


def _panel(low: float, high: float, count: int) -> tuple[Floats, Floats, Floats]:
    """Nodes, weights and coarse weights on [low, high]: theta = middle + half tanh(pi/2 sinh x)."""
    x = np.linspace(-REACH, REACH, 2 * count + 1)
    step = x[1] - x[0]
    argument = np.pi / 2 * np.sinh(x)
    # 1 -+ tanh without cancellation: distances from either end
    from_low = (high - low) / (1 + np.exp(-2 * argument))
    from_high = (high - low) / (1 + np.exp(2 * argument))
    theta = np.where(x < 0, low + from_low, high - from_high)
    weight = (high - low) / 2 * step * (np.pi / 2) * np.cosh(x) / np.cosh(argument) ** 2
    coarse = np.where(np.arange(x.size) % 2 == 0, 2 * weight, 0.0)
    return theta, weight, coarse
