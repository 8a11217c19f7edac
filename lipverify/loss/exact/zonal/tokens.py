r"""Averages over one token, by the double exponential rule in the angle theta from the query.

With s = w (1 - cos theta), lambda g = e^{u-s} and weight sin^{d-2}(theta), the rule is applied on panels that end at
the ends of the sphere, at the step of exp(-lambda g) at s = u, and at the ends of its tails. The even nodes are a rule
with twice the step, and so are the odd nodes; the difference of these halves estimates the error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.sphere import half_beta

REACH = 3.15
"""The x beyond which tanh(pi/2 sinh x) is 1 to rounding."""
TAIL = 46.0
"""Terms below e^-46 = 1e-20 are left out."""
SHOULDER = 5.0
"""Below s = u - 5 the factor exp(-e^{u-s}) is at most exp(-e^5) = 1e-64: such tokens contribute only to 1 - phi."""
PANELS = 6
"""Number of panels over a token's deficit."""
WAVE = 3.0
"""Nodes of each half per radian of phase l theta over a panel: at least 3.8 per wave, 7.6 in both halves."""


@dataclass(frozen=True)
class Nodes:
    """Rules, one for each step: arrays (half, rule, node), where each half of the nodes is itself a rule.

    near = 1 - t, deficits s = w near, weights that include the density; `live` are the nodes at which the factor
    g e^{-lambda g} is not negligible.
    """

    near: Floats
    s: Floats
    weight: Floats
    live: slice


def nodes(d: int, w: float, steps: Floats, degrees: int = 0) -> Nodes:
    """The rules for kernels with their step at s = u, u in `steps`; one rule is used for every u <= 1.

    Panels end where e^{-s} s^{(d-3)/2} has fallen by e^-46 on either side. All except the outermost, where e^{-s} is
    below e^-16, resolve harmonics up to `degrees`.
    """
    edges, size = panels_of(d, w, steps, degrees)
    theta, weight = _panels(edges, size)
    near = 2 * np.sin(theta / 2) ** 2
    density = np.abs(np.sin(theta)) ** (d - 2) / half_beta(d - 1)
    return Nodes(near, w * near, weight * density, slice(size, (PANELS - 1) * size))


def panels_of(d: int, w: float, steps: Floats, degrees: float) -> tuple[Floats, int]:
    """The edges of panels for each step, as angles, and the number of nodes of a panel."""
    half_m = (d - 1) / 2
    spread = TAIL + 2 * half_m + 12 * math.sqrt(half_m)
    stops = steps[:, None] + np.array([-SHOULDER, 0.0, SHOULDER, 16.0, spread])
    ends = np.ones((steps.size, 1)) * [[0.0, 2 * w]]
    s = np.clip(np.hstack([ends[:, :1], stops, ends[:, 1:]]), 0.0, 2 * w)
    edges = 2 * np.arctan2(np.sqrt(s), np.sqrt(2 * w - s))
    widest = float(np.max(np.diff(edges)[:, 1:4]))
    return edges, 112 + int(30 * math.sqrt(half_m) + WAVE * degrees * widest)


def _panels(edges: Floats, size: int) -> tuple[Floats, Floats]:
    """Nodes and weights (half, rule, node) between the edges (rule, edge): middle + half tanh(pi/2 sinh x)."""
    step = REACH / size
    # even and odd nodes of one fine rule: each half is a rule with twice the step
    x = (-REACH + step * (np.arange(2 * size) + 0.5)).reshape(size, 2).T[:, None, None, :]
    argument = np.pi / 2 * np.sinh(x)
    low, width = edges[:, :-1, None], np.diff(edges)[..., None]
    # 1 -+ tanh without cancellation: distances from both ends
    theta = np.where(x < 0, low + width / (1 + np.exp(-2 * argument)), low + width - width / (1 + np.exp(2 * argument)))
    weight = width * step * (np.pi / 2) * np.cosh(x) / np.cosh(argument) ** 2
    flat = (2, edges.shape[0], PANELS * size)
    return theta.reshape(flat), weight.reshape(flat)


def both(halves: Floats) -> Floats:
    """The fine value, the mean of the averages by both halves of the nodes, and the coarse value of one half."""
    return np.stack([halves.mean(axis=0), halves[0]])
