r"""What the other tokens do to one token, and to two: functions of one number, tabulated for a window.

    Q_1(x) = n       int psi_2(u - x) phi(u)^{n-1} du,
    Q_2(x) = n (n-1) int psi_2(u - x) phi(u)^{n-2} du:

with g = e^{-s} for deficits s the loss is one integral over one token and one over two,

    N(w) = sigma^2 E_s Q_1(s),    B(w) = E_s [Q_1(s) V] + E_{s,s'} [g g' / (g + g')^2 Q_2(-log(g + g')) G].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

import numpy as np
from scipy.special import betainc

from lipverify.foundation.angles import versine
from lipverify.foundation.arrays import Floats
from lipverify.foundation.gammas import half_beta
from lipverify.loss.exact.context.averages import Averages, Points
from lipverify.loss.exact.context.contexts import Contexts, Factors, log_power, powers
from lipverify.loss.exact.context.tokens import Places, TokenNodes, angle_at, kernel, token_breaks
from lipverify.loss.exact.quadrature.graded import Graded, LogGrading
from lipverify.loss.exact.quadrature.rules import integer_power, split_rule
from lipverify.loss.exact.variograms.planes import CONCENTRATION, LARGE
from lipverify.loss.work import spend

PHI_ORDER = 28
STEP, ABOVE, BELOW = 0.2, 4.6, 50.0
"""Trapezoidal rule for Q: psi_2 is analytic in a strip of half-width pi/2, and nothing is left beyond its ends."""
SPAN, TOGETHER = 12.0, 36
"""Values of Q that are this near are found by one rule; so many at a time, which stays in a processor's cache."""
FLAT, FLATTER, FLAT_ORDER = 10.0, 30.0, 16
"""Where phi, or phi^n, varies on a larger scale than these, a Gauss rule of that order for psi_1 or psi_2 serves."""
SLOPE = 0.4
"""phi^n does already on a scale of `FLAT` where n |log phi| is below this share of the scale."""
CROWDED = 1.0
RATE_SHARE, Q_SHARE = 1 / 5, 1 / 3
"""Of the gradings of log(-log phi) and of log Q, which bends where phi^n falls as fast as psi_2."""
PANEL, FEWEST_PANELS = 1.5, 3
"""Of rules over one token, in the graded coordinate."""
SAFETY = 4.0
OTHER = 100.0
"""Nanoseconds of a node behind a table."""


@dataclass(frozen=True)
class Others:
    """The tables for one window, on deficits from -log 2 to `high`; none is below `low`.

    Attributes
    ----------
    log_q
        log Q_1 and log Q_2.
    ratios
        What each is to be multiplied by where other factors than `powers` are asked for.
    gap
        A bound on their relative error from what the table of phi leaves out.
    """

    d: int
    w: float
    low: float
    high: float
    log_q: tuple[Graded, Graded]
    ratios: tuple[Graded, Graded] | None
    gap: float

    @classmethod
    def at(cls, contexts: Contexts, i: int, factors: Factors) -> Others:
        """For window number i of the contexts; remembered, for rules of every order need the same."""
        return others_of(
            contexts.d, contexts.n, *(float(each[i]) for each in (contexts.w, contexts.low, contexts.high)), factors
        )

    def edges(self, panel: float, share: float = 0.5) -> Floats:
        """Deficits at which a rule over one token is split, about a `panel` apart in a graded coordinate."""
        grading = LogGrading(self.d, np.array(self.w), share)
        edges = grading.panels(self.low, self.high, panel, FEWEST_PANELS)
        return np.concatenate([edges, self.crowd.clip(self.low, self.high)])

    @property
    def crowd(self) -> Floats:
        """Where d is large tokens crowd at the equator, and rules are split about it."""
        if self.w >= CROWDED * math.sqrt(self.d) or self.d <= LARGE:
            return np.empty(0)
        return np.asarray(self.w * (1 + np.outer((-1, 1), CONCENTRATION).ravel() / math.sqrt(self.d)))

    def lone(self, meetings: tuple[float, ...], order: int) -> TokenNodes:
        """Nodes for E_s Q_1(s) h, split at the angles `meetings` beside which h may be no more than a root."""
        corners = np.clip(meetings, *angle_at(np.array([self.low, self.high]), self.w))
        edges = np.concatenate([angle_at(self.edges(PANEL), self.w), corners])
        singular = np.arange(edges.size) >= edges.size - corners.size
        singular[0] = True
        _, theta, weight = split_rule(edges[None], singular[None], order)
        near, far = versine(theta), 2 * np.cos(theta / 2) ** 2
        s = self.w * near
        weight = weight * np.exp(self.log_q[0](s)) * integer_power(np.sin(theta), self.d - 2) / half_beta(self.d - 1)
        if self.ratios is not None:
            weight = weight * self.ratios[0](s)
        return TokenNodes(near, far, -s, weight)

    def off(self, lone: TokenNodes) -> float:
        """A bound on the relative error of sums over `lone` tokens from what both tables leave out."""
        return self.gap + float(np.sum(lone.weight * self.log_q[0].tail(-lone.y)) / np.sum(lone.weight))


@cache
def gumbel_rule(k: Literal[1, 2]) -> tuple[Floats, Floats]:
    """The Gauss rule for int psi_k(y) h(y) dy, from the trapezoidal one by the recurrence of its polynomials.

    >>> y, weight = gumbel_rule(2)
    >>> abs(weight @ np.exp(0.5 * y) - math.gamma(2.5)) < 1e-14
    np.True_
    """
    y = np.linspace(-BELOW / k, ABOVE, 600)
    weight = kernel(k, y)
    before, now, root = np.zeros_like(y), np.sqrt(weight / np.sum(weight)), 0.0
    diagonal, roots = [], []
    for _ in range(FLAT_ORDER):
        diagonal.append(np.sum(y * now**2))
        following = (y - diagonal[-1]) * now - root * before
        root = float(np.sqrt(np.sum(following**2)))
        before, now = now, following / root
        roots.append(root)
    beside = np.diag(roots[:-1], 1)
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + beside + beside.T)
    return nodes, vectors[0] ** 2


def _log_phi_where_flat(d: int, w: float, u: Floats) -> Floats:
    """log phi(u) as 1 - phi = int psi_1(y) P(S < u - y) dy, where the probability hardly changes over a kernel."""
    y, weight = gumbel_rule(1)
    near, half_m = u <= w, (d - 1) / 2
    s = u[:, None] - y
    share = betainc(half_m, half_m, np.where(near[:, None], s, 2 * w - s) / (2 * w)) @ weight
    return np.where(near, np.log1p(-share), np.log(share))


@lru_cache(maxsize=64)
def log_rate(d: int, w: float, low: float, top: float) -> Graded:
    """log(-log phi(u)) between `low` and `top`; n is not in it."""
    grading = LogGrading(d, np.array(w), RATE_SHARE)

    def at(u: Floats) -> Floats:
        flat = (grading.scale(u) > FLAT) & (2 * w - u > BELOW)
        result = np.empty_like(u)
        result[flat] = _log_phi_where_flat(d, w, u[flat])
        if not flat.all():
            points = Points(d, np.array([w]), np.zeros(np.count_nonzero(~flat), dtype=np.intp), u[~flat])
            result[~flat] = Averages(points, PHI_ORDER, smooth=True).log_phi()
        return np.asarray(np.log(-result))

    [rate] = Graded.of(at, grading, low, top)
    return rate


@lru_cache(maxsize=32)
def others_of(d: int, n: float, w: float, low: float, high: float, factors: Factors) -> Others:
    """For contexts with this range of u; `Others.at` takes it from them."""
    ends = np.array([min(high, 1.0), max(high, 1.0)])
    breaks = token_breaks(Places(d, np.array([w, w]), ends))
    nearest, farthest = float(np.min(breaks)), min(float(np.max(breaks)), 2 * w)
    # beyond 2 w + 5 the farthest token counts for e^148: phi is no double
    top = min(high + ABOVE, 2 * w + 5)

    rate, grading = log_rate(d, w, low, top), LogGrading(d, np.array(w), Q_SHARE)
    inner = top - ABOVE  # beyond it the end of phi is seen, where little is left

    def rule(x: Floats) -> tuple[Floats, Floats]:
        """Nodes and logarithms of weights for every x, or the same nodes for all where they are near: (x, node)."""
        ends = np.minimum(x + ABOVE, top)
        spread = float(np.ptp(ends))
        ends, spread = (np.max(ends, keepdims=True), spread) if spread <= SPAN else (ends, 0.0)
        u = ends[:, None] - STEP * np.arange(math.ceil((spread + ABOVE + BELOW) / STEP), dtype=np.float64)
        y = u - x[:, None]
        return u, 2 * y - np.exp(y) + math.log(STEP)

    def flat_rule(x: Floats) -> tuple[Floats, Floats]:
        """The same where phi^n hardly changes over a kernel: by the Gauss rule of the kernel."""
        y, weight = gumbel_rule(2)
        return x[:, None] + y, np.log(weight)

    def rows(x: Floats, of: Callable[[Floats], tuple[Floats, Floats]]) -> Floats:
        """log Q_1 and log Q_2, and ratios after them."""
        u, log_weight = of(x)
        spend(x.size * u.shape[1], OTHER, "tables of what other tokens do")
        log_phi = -np.exp(rate(u))  # below the range it is that at its end, where phi^n is 1
        logs = log_weight + log_power(log_phi, n - 2)
        largest = np.max(logs, axis=1)
        double = np.exp(logs - largest[:, None])
        weights = double * np.exp(log_phi) / (n - 1), double
        totals = [np.sum(weight, axis=1) for weight in weights]
        found = [largest + np.log(total) + math.log(n * (n - 1)) for total in totals]
        if factors is not powers:
            with np.errstate(under="ignore"):
                usual, other = powers(n, log_phi), factors(n, log_phi)
                for k in range(2):
                    share = np.where(usual[k] > 0, other[k] / np.maximum(usual[k], 1e-300), 0.0)
                    found.append(np.sum(weights[k] * share, axis=1) / totals[k])
        return np.stack(found)

    def values(x: Floats) -> Floats:
        scale = grading.scale(x)
        flat = (x <= inner) & (scale > FLAT) & (n * np.exp(rate(x)) < np.where(scale > FLATTER, np.inf, SLOPE * scale))
        near = x[~flat]
        parts = [rows(near[i : i + TOGETHER], rule) for i in range(0, near.size, TOGETHER)]
        if flat.any():
            parts.append(rows(x[flat], flat_rule))
        result = np.concatenate(parts, axis=1)
        return result[:, np.argsort(np.argsort(flat, kind="stable"), kind="stable")]

    first = -math.log(2) - 1e-9
    parts = [first, *([inner] if first < inner < farthest else []), farthest]
    single, double, *ratios = Graded.of(values, grading, *parts)
    # the power takes what log(-log phi) is off by -n log phi times, which under it is one or two
    gap = SAFETY * float(np.max(rate.tails * np.minimum(n * np.exp(rate.last), 1.0)))
    return Others(d, w, nearest, farthest, (single, double), (ratios[0], ratios[1]) if ratios else None, gap)
