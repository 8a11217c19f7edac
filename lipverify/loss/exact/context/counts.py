r"""What the other tokens do to what is counted by one weight a_i, or by two, a_i a_j: functions of a number.

n E a_i h_i            = E_s [ Q_1(s) h ],
n (n-1) E a_i a_j h_ij = E_{s,s'} [ g g' / (g + g')^2 Q_2(-log(g + g')) h ],  g = e^{-s},
Q_k(x) = n ... (n-k+1) int psi_k(u - x) phi(u)^{n-k} du.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.context.contexts import Factors, log_power, powers
from lipverify.loss.exact.context.others import ABOVE, BELOW, OTHER, SPAN, STEP, TOGETHER, log_rate, others_of
from lipverify.loss.exact.quadrature.graded import Graded, Grading
from lipverify.loss.exact.variograms.planes import LARGE
from lipverify.loss.work import spend

FALLEN, SAMPLES = 46.0, 256
"""Where x ends: the logarithm of what is averaged has fallen by this, looked for at so many places."""
PANEL, NARROWER = 4.0, 1.5
"""Of a deficit, in the graded coordinate; where d is large at most w / sqrt(d) times the second."""
TINY = 1e-300


@dataclass(frozen=True)
class Counted:
    """Q_k of contexts of n tokens at one window, and what it is with other factors.

    Attributes
    ----------
    log_q, ratio
        Log Q_k, and the ratio for other factors than `powers`, as tables.
    panels
        Edges on the range of x that matters.
    mode
        About the x that counts most.
    farthest
        The largest deficit of one token.
    """

    d: int
    w: float
    log_q: Graded
    ratio: Graded | None
    panels: Floats
    mode: float
    farthest: float

    def __call__(self, x: Floats) -> Floats:
        """Q_k, and Q_k for other factors if there are any, along a new first axis; none beyond the range."""
        q = np.where(x <= self.panels[-1], np.exp(self.log_q(x)), 0.0)
        return q[None] if self.ratio is None else np.stack([q, q * self.ratio(x)])


@lru_cache(maxsize=64)
def counted(k: int, d: int, n: float, w: float, low: float, high: float, factors: Factors) -> Counted:
    """By k = 1 or 2 weights; `low` and `high` are the range of u that matters.

    Remembered: rules of every order, and all laws, need the same.
    """
    others = others_of(d, n, w, low, high, factors)
    nearest, farthest = others.low, others.high
    if k == 2:
        log_q, ratio = others.log_q[1], others.ratios and others.ratios[1]
    else:
        log_q, ratio = _once(d, n, w, low, high, farthest, factors)
    grading = Grading(d, np.array(w))
    v = grading.v(np.array([nearest, farthest]))
    x = grading.u(v[0] + (v[1] - v[0]) * np.linspace(0, 1, SAMPLES))
    x[0], x[-1] = nearest, farthest
    # Q times the density of a token in log s, and of two where both are as near
    tokens = np.arange(1, k + 1)[:, None]
    logs = log_q(x) + tokens * (d - 1) / 2 * np.log(np.maximum(x * (2 - x / w), TINY))
    there = np.flatnonzero((logs >= np.max(logs, axis=1, keepdims=True) - FALLEN).any(axis=0))
    # two tokens that are alike weigh as much as one that is nearer by log 2
    first, last = float(x[max(there[0] - 1, 0)]) - math.log(k), float(x[min(there[-1] + 1, SAMPLES - 1)])
    return Counted(d, w, log_q, ratio, panels_of(d, w, first, last), float(x[np.argmax(logs[-1])]), farthest)


def panels_of(d: int, w: float, low: float, high: float) -> Floats:
    """Edges of panels of a deficit on which a rule is worth its order."""
    return Grading(d, np.array(w)).panels(low, high, width_of(d, w))


def width_of(d: int, w: float) -> float:
    """The width of a panel of a deficit, in the graded coordinate."""
    return min(PANEL, NARROWER * w / math.sqrt(d)) if d > LARGE else PANEL


def _once(
    d: int, n: float, w: float, low: float, high: float, top: float, factors: Factors
) -> tuple[Graded, Graded | None]:
    """Log Q_1 and the ratio, on x up to `top`."""
    grading = Grading(d, np.array(w))
    # a unit of the graded coordinate past what matters, for Q is cut there and not smooth; beyond 2 w + 5 the farthest
    # token counts for e^148, and phi is no double
    past = float(grading.u(grading.v(np.array(min(high, 2 * w))) + 1))
    last = min(max(past, high) + ABOVE, 2 * w + 5)
    rate = log_rate(d, w, low, last)

    def rows(x: Floats) -> Floats:
        """log Q_1 and its ratio, by a rule for every x, or by one for all where they are near."""
        ends = np.minimum(x + ABOVE, last)
        spread = float(np.ptp(ends))
        ends, spread = (np.max(ends, keepdims=True), spread) if spread <= SPAN else (ends, 0.0)
        u = ends[:, None] - STEP * np.arange(math.ceil((spread + ABOVE + BELOW) / STEP), dtype=np.float64)
        spend(x.size * u.shape[1], OTHER, "tables of what other tokens do")
        log_phi = -np.exp(rate(u))  # below the range it is that at its end, where phi^n is 1
        y = u - x[:, None]
        logs = y - np.exp(y) + log_power(log_phi, n - 1)
        largest = np.max(logs, axis=1)
        weight = np.exp(logs - largest[:, None])
        total = np.sum(weight, axis=1)
        found = [largest + np.log(total) + math.log(STEP * n)]
        if factors is not powers:
            with np.errstate(under="ignore"):
                usual, other = powers(n, log_phi)[0], factors(n, log_phi)[0]
                share = np.where(usual > 0, other / np.maximum(usual, TINY), 0.0)
                found.append(np.sum(weight * share, axis=1) / total)
        return np.stack(found)

    def in_blocks(x: Floats) -> Floats:
        return np.concatenate([rows(x[i : i + TOGETHER]) for i in range(0, x.size, TOGETHER)], axis=1)

    log_q, *ratios = Graded.of(in_blocks, grading, -1e-9, top)
    return log_q, ratios[0] if ratios else None
