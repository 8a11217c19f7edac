r"""The effect of the other tokens on one token and on two, as functions of one number, tabulated for one w.

For m selected tokens and k weights a_i,

    Q_{m,k}(x) = n ... (n-m+1) int psi_k(u - x) phi(u)^{n-m} du,
    n E a_i^k h_i          = E_s [Q_{1,k}(s) h],
    n (n-1) E a_i a_j h_ij = E_{s,s'} [g g' / (g + g')^2 Q_{2,2}(-log(g + g')) h],  g = e^{-s}:

with h = 1 and k = 2 the first is the noise over sigma^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.sphere import half_beta, versine
from lipverify.loss.exact.context.averages import Averages, Points
from lipverify.loss.exact.context.contexts import Context, Factors, log_power, powers
from lipverify.loss.exact.context.tokens import Places, TokenNodes, angle_at, token_breaks
from lipverify.loss.exact.quadrature import CONCENTRATION, LARGE, Graded, Grading, LogGrading, integer_power, split_rule
from lipverify.loss.work import spend

STEP, ABOVE, BELOW = 0.2, 4.6, 50.0
"""Step and ends of the trapezoidal rule for Q: psi_2 is analytic for |Im| < pi/2 and negligible beyond the ends."""
TOGETHER = 36
"""Values of Q at a time, which fit in a processor's cache."""
RATE_SHARE, Q_SHARE = 1 / 5, 1 / 3
"""Shares of the gradings of log(-log phi) and of log Q, which bends where phi^n falls as fast as psi_2."""
PANEL = 1.5
"""Panel width of rules over one token in the graded coordinate."""
OTHER = 100.0
"""Nanoseconds per node behind a table."""


@dataclass(frozen=True)
class Others:
    """The tables for one w, on deficits from -log 2 to `high`; no deficit is below `low`."""

    d: int
    w: float
    low: float
    high: float
    log_q: tuple[Graded, ...]  # log Q_{1,2} and log Q_{2,2}
    ratios: tuple[Graded, ...] | None  # factors on both, for factors other than `powers`
    gap: float  # a bound on their relative error from the truncation error of the table of phi

    def edges(self, panel: float, share: float = 0.5) -> Floats:
        """Split points of a rule over one token's deficit, about `panel` from each other in a graded coordinate."""
        edges = LogGrading(self.d, self.w, share).panels(self.low, self.high, panel, fewest=3)
        return np.concatenate([edges, self.crowd.clip(self.low, self.high)])

    @property
    def crowd(self) -> Floats:
        """Split points around the equator, where tokens concentrate for large d, if w is so small that they count."""
        if self.w >= 4 * math.sqrt(self.d) or self.d <= LARGE:
            return np.empty(0)
        return np.asarray(self.w * (1 + np.outer((-1, 1), CONCENTRATION).ravel() / math.sqrt(self.d)))

    def lone(self, order: int) -> TokenNodes:
        """Nodes for E_s Q_{1,2}(s) h."""
        edges = angle_at(self.edges(PANEL), self.w)
        # next to the query h may behave like a root
        _, theta, weight = split_rule(edges[None], (np.arange(edges.size) == 0)[None], order)
        near, far = versine(theta), 2 * np.cos(theta / 2) ** 2
        s = self.w * near
        weight = weight * np.exp(self.log_q[0](s)) * integer_power(np.sin(theta), self.d - 2) / half_beta(self.d - 1)
        if self.ratios is not None:
            weight = weight * self.ratios[0](s)
        return TokenNodes(near, far, -s, weight)

    def off(self, lone: TokenNodes) -> float:
        """A bound on the relative error of sums over `lone` tokens from the truncation of both tables."""
        return self.gap + float(np.sum(lone.weight * self.log_q[0].tail(-lone.y)) / np.sum(lone.weight))


def below_of(n: float) -> float:
    """The lower end of the rule for Q: n^2 psi_2 is not negligible where psi_2 is, if all of n tokens count."""
    return max(BELOW, math.log(n) + 20)


def log_rate(d: int, w: float, low: float, top: float) -> Graded:
    """The table of log(-log phi(u)) between `low` and `top`; it does not depend on n."""

    def at(u: Floats) -> Floats:
        return np.asarray(np.log(-Averages(Points.grid(d, np.array([w]), u[None]), 28, smooth=True).log_phi()))

    [rate] = Graded.of(at, LogGrading(d, w, RATE_SHARE), low, top)
    return rate


@dataclass(frozen=True)
class Integrals:
    """log Q_{m,k} for m = 1, .., k as functions of x, and their ratios for other factors: sums over nodes u."""

    k: Literal[1, 2]
    n: float
    rate: Graded  # log(-log phi)
    top: float  # the end of that table
    factors: Factors

    def __call__(self, x: Floats) -> Floats:
        """Rows of log Q_{m,k}, followed by the ratios."""
        return np.concatenate([self.rows(x[i : i + TOGETHER]) for i in range(0, x.size, TOGETHER)], axis=1)

    def trapezoidal(self, x: Floats) -> tuple[Floats, Floats]:
        """Nodes and logarithms of weights for every x, (x, node); nearby x share their nodes."""
        ends = np.minimum(x + ABOVE, self.top)
        spread = float(np.ptp(ends))
        ends, spread = (np.max(ends, keepdims=True), spread) if spread <= 12 else (ends, 0.0)
        count = math.ceil((spread + ABOVE + below_of(self.n)) / STEP)
        u = ends[:, None] - STEP * np.arange(count, dtype=np.float64)
        y = u - x[:, None]
        return u, self.k * y - np.exp(y) + math.log(STEP)

    def rows(self, x: Floats) -> Floats:
        """The rows at a few x."""
        u, log_weight = self.trapezoidal(x)
        spend(x.size * u.shape[1], OTHER, "tables of what other tokens do")
        log_phi = -np.exp(self.rate(u))  # below the range use the value at its end, where phi^n is 1
        logs = log_weight + log_power(log_phi, self.n - self.k)
        largest = np.max(logs, axis=1)
        last = np.exp(logs - largest[:, None])
        weights = [last * np.exp((self.k - m) * log_phi) if m < self.k else last for m in range(1, self.k + 1)]
        totals = [np.sum(weight, axis=1) for weight in weights]
        counts = [math.prod(self.n - j for j in range(m)) for m in range(1, self.k + 1)]
        log_q = [largest + np.log(total) + math.log(count) for total, count in zip(totals, counts, strict=True)]
        if self.factors is powers:
            return np.stack(log_q)
        ratios = []
        with np.errstate(under="ignore"):
            pairs = zip(powers(self.n, log_phi), self.factors(self.n, log_phi), weights, totals, strict=False)
            for standard, variant, weight, total in pairs:
                share = np.where(standard > 0, variant / np.maximum(standard, 1e-300), 0.0)
                ratios.append(np.sum(weight * share, axis=1) / total)
        return np.stack([*log_q, *ratios])


def tables(
    k: Literal[1, 2], context: Context, reach: float, farthest: float, factors: Factors
) -> tuple[tuple[Graded, ...], tuple[Graded, ...] | None, float]:
    """Tables of log Q_{m,k} for m = 1, .., k, their ratios for other factors, and a bound on their relative error.

    They extend from -log k to `farthest`, and need phi up to `reach`.
    """
    d, n, w, low, _ = context
    # beyond 2 w + 5 even the farthest token has lambda g > 148, and phi is negligible
    top = min(reach + ABOVE, 2 * w + 5)
    rate = log_rate(d, w, low, top)
    # beyond `inner` the end of phi's table matters, where little of the integral is left
    first, inner = -math.log(k) - 1e-9, top - ABOVE
    ends = (first, *([inner] if first < inner < farthest else []), farthest)
    graded = Graded.of(Integrals(k, n, rate, top, factors), LogGrading(d, w, Q_SHARE), *ends)
    # the power multiplies the error of log(-log phi) by -n log phi, which is one or two under the integral
    gap = 4 * float(np.max(rate.tails * np.minimum(n * np.exp(rate.last), 1.0)))
    return tuple(graded[:k]), tuple(graded[k:]) or None, gap


@lru_cache(maxsize=64)
def deficits(d: int, w: float, high: float) -> tuple[float, float]:
    """The least and the largest relevant deficit of a token, for u up to `high`."""
    breaks = token_breaks(Places(d, np.array([w, w]), np.array([min(high, 1.0), max(high, 1.0)])))
    return float(np.min(breaks)), min(float(np.max(breaks)), 2 * w)


@lru_cache(maxsize=32)
def others_of(context: Context, factors: Factors) -> Others:
    """The tables for one w; cached, because rules of every order use them."""
    nearest, farthest = deficits(context.d, context.w, context.high)
    log_q, ratios, gap = tables(2, context, context.high, farthest, factors)
    return Others(context.d, context.w, nearest, farthest, log_q, ratios, gap)


@dataclass(frozen=True)
class Counted:
    """Q_{k,k} of contexts of n tokens at one w, and its variant with other factors."""

    d: int
    w: float
    log_q: Graded
    ratio: Graded | None  # for factors other than `powers`
    panels: Floats  # edges of panels on the relevant range of x
    mode: float  # the approximate x of largest weight
    farthest: float  # the largest deficit of one token

    def __call__(self, x: Floats) -> Floats:
        """Q_{k,k}, and its variant if there are other factors, along a new first axis; zero beyond the range."""
        q = np.where(x <= self.panels[-1], np.exp(self.log_q(x)), 0.0)
        return q[None] if self.ratio is None else np.stack([q, q * self.ratio(x)])


@lru_cache(maxsize=64)
def counted(k: Literal[1, 2], context: Context, factors: Factors) -> Counted:
    """The tables for k = 1 or 2 weights; cached, because rules of every order and all laws use them."""
    d, _, w, _, high = context
    effect, grading = others_of(context, factors), Grading(d, w)
    nearest, farthest = effect.low, effect.high
    log_q, ratios = effect.log_q, effect.ratios
    if k == 1:
        # extend by a unit of the graded coordinate, because Q is cut off at the end and not smooth there
        past = float(grading.u(grading.v(np.array(min(high, 2 * w))) + 1))
        log_q, ratios, _ = tables(1, context, max(past, high), farthest, factors)
    v = grading.v(np.array([nearest, farthest]))
    x = grading.u(v[0] + (v[1] - v[0]) * np.linspace(0, 1, 256))
    x[0], x[-1] = nearest, farthest
    # Q times the density of a token in log s, or of two equally near tokens
    tokens = np.arange(1, k + 1)[:, None]
    logs = log_q[-1](x) + tokens * (d - 1) / 2 * np.log(np.maximum(x * (2 - x / w), 1e-300))
    relevant = np.flatnonzero((logs >= np.max(logs, axis=1, keepdims=True) - 46).any(axis=0))
    # two equally near tokens weigh as much as one whose deficit is smaller by log 2
    first, last = float(x[max(relevant[0] - 1, 0)]) - math.log(k), float(x[min(relevant[-1] + 1, x.size - 1)])
    panels = grading.panels(first, last, width_of(d, w))
    mode = float(x[np.argmax(logs[-1])])
    return Counted(d, w, log_q[-1], ratios[-1] if ratios else None, panels, mode, farthest)


def width_of(d: int, w: float) -> float:
    """The width in the graded coordinate of a panel of a deficit on which a rule attains its order."""
    return min(PANEL, 1.5 * w / math.sqrt(d)) if d > LARGE else 2.0
