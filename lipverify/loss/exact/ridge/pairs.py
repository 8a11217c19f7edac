r"""The cross terms of the bias from the variogram of the law alone, as one integral over two tokens.

With K the covariance of f, V(theta) = 2 (K(1) - K(cos theta)), and two tokens at angles theta, theta' from the query
and beta from each other about it,

    G = E (f(x_i) - f(x)) (f(x_j) - f(x)) = (V(theta) + V(theta') - E_beta V(theta_ij)) / 2,
    sin^2(theta_ij / 2) = sin^2((theta - theta') / 2) + sin(theta) sin(theta') sin^2(beta / 2),

    n (n-1) E a_i a_j (...) = E_{s,s'} [ g g' / (g + g')^2 Q(-log(g + g')) G ],  g = e^{-s},
    Q(x) = n (n-1) int psi_2(u - x) phi(u)^{n-2} du:

all that the other tokens do is in Q, a function of one number. The part a (1 - t) of V has G = a (1-t) (1-t') / 2
without a difference; what is left is small as theta^3 or less, where the difference loses nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from lipverify.foundation.angles import sine_and_cosine, versine
from lipverify.foundation.arrays import Floats
from lipverify.foundation.gammas import half_beta
from lipverify.loss.exact.ridge.averages import Averages, Points
from lipverify.loss.exact.ridge.context import Contexts, Grading, log_power
from lipverify.loss.exact.ridge.interpolation import chebyshev_points, to_coefficients
from lipverify.loss.exact.ridge.planes import CONCENTRATION, LARGE
from lipverify.loss.exact.ridge.products import Products
from lipverify.loss.exact.ridge.supports import token_breaks
from lipverify.loss.exact.ridge.tokens import Places, split_rule

Factor = Callable[[float, Floats], Floats]
"""From n and log phi(u) to what takes the place of n (n-1) phi(u)^{n-2}."""

TABLE, PARTS, FEWER = 18, 32, 7
"""Coefficients a unit of the graded coordinate, of log(-log phi) and of Q; the same polynomial is kept in parts of a
unit, on which fewer coefficients say as much."""
PHI_ORDER = 28
STEP, ABOVE, BELOW = 0.2, 4.6, 50.0
"""Trapezoidal rule for Q: psi_2 is analytic in a strip of half-width pi/2, and nothing is left beyond its ends."""
SPAN, TOGETHER = 12.0, 36
"""Values of Q that are this near are found by one rule; so many at a time, which stays in a processor's cache."""
PANEL = 4.0
"""Of the nearer token's deficit, in the graded coordinate."""
FARTHER = (0.0, 0.04, 0.12, 0.3, 0.6, 1.0)
"""Splits of the other token's deficit, as shares of its range."""
FLAT = 400.0
"""Over the dimension: the range of deficits on which splits for the weights serve the density of tokens too."""
REACH = 50.0
"""The weights of two tokens whose deficits differ by this are negligible, but for the density's growth."""
TURN, TAIL = 5.5, 30.0
"""Step in z times the order, and the end of its range times d."""
TANH = 1 - 1e-15
JOINT = 0.55
SHORT = 0.6
"""Where rules are split at many crossings, less of the order does."""
BLOCK = 1_000_000
ALL = 1 - 1e-9
"""A range of deficits that holds this share of all of them ends where they end."""
NEGLIGIBLE = 1e-24
"""Pairs of tokens with less than this share of the largest weight are left out: G is a few thousand times larger at
those that count least than at those that count most."""
CROWDED = 1.0


@dataclass(frozen=True)
class Graded:
    """A function of u between the first and the last of `edges`, by a Chebyshev polynomial on every panel."""

    edges: Floats
    coefficients: Floats

    @classmethod
    def of(cls, function: Callable[[Floats], Floats], grading: Grading, low: float, high: float) -> Graded:
        """On panels of about one unit of the graded coordinate; `function` takes a flat array."""
        ends = grading.v(np.array([low, high]))
        panels = max(1, math.ceil(float(ends[1] - ends[0])))
        edges = grading.u(ends[0] + (ends[1] - ends[0]) * np.arange(panels + 1) / panels)
        edges[0], edges[-1] = low, high
        x = chebyshev_points(TABLE)
        u = edges[:-1, None] + np.diff(edges)[:, None] * (x + 1) / 2
        coefficients = to_coefficients(TABLE) @ function(u.ravel()).reshape(u.shape).T
        # (part, coefficient, panel), of which panels and their parts are the columns
        parts = np.reshape(np.transpose(_to_parts() @ coefficients, (1, 2, 0)), (FEWER, -1))
        finer = (edges[:-1, None] + np.diff(edges)[:, None] * np.arange(PARTS) / PARTS).ravel()
        return cls(np.append(finer, edges[-1]), parts)

    def __call__(self, u: Floats) -> Floats:
        """Values at u, which is taken into the range."""
        u = np.clip(u, self.edges[0], self.edges[-1])
        panel = np.clip(np.searchsorted(self.edges, u) - 1, 0, self.edges.size - 2)
        double = 4 * (u - self.edges[panel]) / np.diff(self.edges)[panel] - 2
        # Clenshaw's recurrence, with the coefficients of each panel
        after, later = np.zeros_like(u), np.zeros_like(u)
        for row in self.coefficients[:0:-1]:
            after, later = row[panel] + double * after - later, after
        return np.asarray(self.coefficients[0][panel] + double / 2 * after - later)


@cache
def _to_parts() -> Floats:
    """The matrices that take TABLE coefficients to FEWER on every part of an interval: (part, few, coefficient)."""
    inner = (2 * np.arange(PARTS)[:, None] + 1 + chebyshev_points(FEWER)) / PARTS - 1
    return np.asarray(to_coefficients(FEWER) @ chebyshev.chebvander(inner, TABLE - 1))


@lru_cache(maxsize=32)
def log_others(
    d: int, n: float, w: float, low: float, high: float, top: float, factor: Factor | None
) -> tuple[Graded, Graded | None]:
    """Log Q for the factor n (n-1) phi^{n-2}, and the ratio for another in its place, on x from -log 2 to `top`.

    Remembered: rules of every order need the same.
    """
    grading = Grading(d, np.array(w))
    # beyond 2 w + 5 the farthest token counts for e^148: phi is no double
    high = min(high + ABOVE, 2 * w + 5)

    def log_rate(u: Floats) -> Floats:
        of = Averages(Points(d, np.array([w]), np.zeros(u.size, dtype=np.intp), u), PHI_ORDER, smooth=True)
        return np.asarray(np.log(-of.log_phi()))

    rate = Graded.of(log_rate, grading, low, high)

    def integrals(x: Floats) -> tuple[Floats, Floats]:
        """log phi at the u of a rule for every x, or of one for all where they are near, and logs of integrands."""
        ends = np.minimum(x + ABOVE, high)
        spread = float(np.ptp(ends))
        ends, spread = (np.max(ends, keepdims=True), spread) if spread <= SPAN else (ends, 0.0)
        u = ends[:, None] - STEP * np.arange(math.ceil((spread + ABOVE + BELOW) / STEP), dtype=np.float64)
        log_phi = -np.exp(rate(u))  # below the range it is that at its end, where phi^n is 1
        y = u - x[:, None]
        return log_phi, 2 * y - np.exp(y) + log_power(log_phi, n - 2)

    def log_q(x: Floats) -> Floats:
        logs = integrals(x)[1]
        largest = np.max(logs, axis=1)
        total = np.log(np.sum(np.exp(logs - largest[:, None]), axis=1))
        return np.asarray(largest + total + math.log(STEP) + math.log(n) + math.log(n - 1))

    def ratio(x: Floats) -> Floats:
        log_phi, logs = integrals(x)
        weight = np.exp(logs - np.max(logs, axis=1, keepdims=True))
        with np.errstate(under="ignore"):
            usual = n * (n - 1) * np.exp(log_power(log_phi, n - 2))
            assert factor is not None
            share = np.where(usual > 0, factor(n, log_phi) / np.maximum(usual, 1e-300), 0.0)
        return np.asarray(np.sum(weight * share, axis=1) / np.sum(weight, axis=1))

    def table(function: Callable[[Floats], Floats]) -> Graded:
        def in_blocks(x: Floats) -> Floats:
            return np.concatenate([function(x[i : i + TOGETHER]) for i in range(0, x.size, TOGETHER)])

        return Graded.of(in_blocks, grading, start, top)

    start = -math.log(2) - 1e-9
    return table(log_q), table(ratio) if factor else None


def pair_term(products: Products, contexts: Contexts, order: int, factor: Factor | None) -> tuple[Floats, Floats]:
    """The cross terms at every window, and what the errors of the variogram may add to them: shape (w,) each."""
    # by rules of half of the order that the averages over one token need
    found = [_at(products, contexts[i : i + 1], order // 2 + 5, factor) for i in range(contexts.w.size)]
    value, error = np.array(found).T
    return value, error


def _at(products: Products, contexts: Contexts, order: int, factor: Factor | None) -> tuple[float, float]:
    """At a single window."""
    d, w = contexts.d, float(contexts.w[0])
    ends = np.array([min(float(contexts.high[0]), 1.0), max(float(contexts.high[0]), 1.0)])
    breaks = token_breaks(Places(d, np.array([w, w]), ends))
    low, high = float(np.min(breaks)), min(float(np.max(breaks)), 2 * w)
    log_q, ratio = log_others(d, contexts.n, w, float(contexts.low[0]), float(contexts.high[0]), high, factor)
    grading = Grading(d, np.array(w))
    v = grading.v(np.array([low, high]))
    panels = max(1, math.ceil(float(v[1] - v[0]) / PANEL))
    # where windows hold many tokens two of them may be as far as one of them alone, and no farther
    far = 2 * float(_angle(high if contexts.high[0] > 1 else JOINT * high, w))
    # V(2 pi - theta) = V(theta) need not be smooth at pi, where two tokens are opposite
    meetings = np.array([m for m in (*products.variogram.meetings, math.pi) if m <= far])
    edges = grading.u(v[0] + (v[1] - v[0]) * np.arange(panels + 1) / panels)
    edges[0], edges[-1] = low, high
    # where d is large tokens crowd at the equator, and both rules are split about it
    shares = np.outer((-1, 1), CONCENTRATION).ravel() / math.sqrt(d)
    crowd = w * (1 + shares) if w < CROWDED * math.sqrt(d) and d > LARGE else np.empty(0)
    order = round(SHORT * order) if meetings.size > 1 else order
    # where nothing but the weights sets a scale
    flat = min(REACH, FLAT / d) if meetings.size < 2 and products.variogram.power == 2 else 0.0
    # in the angle, in which the density has no singularity
    corners = np.clip(_corners(meetings), *_angle(np.array([low, high]), w))
    edges = np.concatenate([_angle(np.concatenate([edges, crowd.clip(low, high)]), w), corners])
    singular = np.concatenate([np.zeros(edges.size - corners.size, dtype=bool), np.ones(corners.size, dtype=bool)])
    _, near, near_weight = split_rule(edges[None], singular[None], order)
    pair = Pairs(d, w, high, meetings, crowd, flat, order, log_q, ratio)
    few = slice(order // 2, None, order)
    which, _, _, weight = pair.nodes(near[few])
    peak = float(np.max(near_weight[few][which] * weight))
    total, slack = 0.0, 0.0
    wide = order * (len(FARTHER) + 3 * meetings.size) * products.turns(order)
    for i in range(0, near.size, max(1, BLOCK // wide)):
        some = slice(i, i + max(1, BLOCK // wide))
        which, both, sine, weight = pair.nodes(near[some])
        weight = near_weight[some][which] * weight
        keep = weight > NEGLIGIBLE * peak
        if not keep.any():
            continue
        value, off = products(near[some], which[keep], both[:, keep], sine[keep], order)
        total += float(weight[keep] @ value)
        slack += float(weight[keep] @ off)
    return total, slack


def _angle(s: Floats | float, w: float) -> Floats:
    """The angle at a deficit s."""
    return np.asarray(2 * np.arctan2(np.sqrt(s), np.sqrt(2 * w - s)))


def _deficits(angles: Floats, w: float) -> Floats:
    return w * versine(np.minimum(angles, np.pi))


def _corners(meetings: Floats) -> Floats:
    """Angles of the nearer token at which two of the lines meet where the integrand is not smooth.

    These are theta_far = m, theta_far - theta_near = m, theta_far + theta_near = m or 2 pi - m, and the ends of the
    range, theta_far = theta_near and theta_far = pi.
    """
    lines = [(near, 1.0, m) for m in meetings for near in (0.0, -1.0, 1.0)]
    lines += [(1.0, 1.0, 2 * np.pi - m) for m in meetings] + [(-1.0, 1.0, 0.0), (0.0, 1.0, np.pi)]
    found = [(c - f) / (a - b) for (a, _, c), (b, _, f) in combinations(lines, 2) if a != b]
    inside = np.array([theta for theta in found if 0 < theta < np.pi])
    return np.unique(inside.round(12))


@dataclass(frozen=True)
class Pairs:
    """Rules over the farther token, given the nearer.

    Attributes
    ----------
    high
        The largest deficit.
    meetings, crowd
        Angles at which the variogram is not smooth, and deficits at which tokens crowd: rules are split there.
    flat
        No rule need be split as if the farther token's range were shorter than this.
    log_q, ratio
        See `log_others`.
    """

    d: int
    w: float
    high: float
    meetings: Floats
    crowd: Floats
    flat: float
    order: int
    log_q: Graded
    ratio: Graded | None

    def nodes(self, theta_near: Floats) -> tuple[NDArray[np.intp], Floats, Floats, Floats]:
        """Of every pair: which near token, both angles (2, pair), the sine of half their difference, the weight."""
        w, here, meetings = self.w, theta_near[:, None], self.meetings
        near = _deficits(here, w)
        stretch = np.minimum(self.high - near, REACH + 2 * self.d)
        # as an angle the other end of the sphere is exact, as a deficit it is known to the root of an eps
        end = np.where(near + stretch > ALL * 2 * w, np.pi, _angle(np.minimum(near + stretch, 2 * w), w)) - here
        scale = np.maximum(stretch, self.flat)
        apart = np.concatenate(
            [np.minimum(scale * np.array(FARTHER[1:]), stretch), np.clip(self.crowd - near, 0, stretch)], axis=1
        )
        middle = (here + _angle(np.minimum(near + apart, 2 * w), w)) / 2
        smooth = [2 * np.arcsin(np.minimum(apart / (2 * w * np.sin(middle)), 1.0)), end]
        # the farther token, the angle between both, and their sum, each where the variogram is not smooth
        singular = [0 * here, meetings - here, meetings - 2 * here, meetings + 0 * here, 2 * (np.pi - here) - meetings]
        edges = np.concatenate([np.clip(turn, 0, end) for turn in (*smooth, *singular)], axis=1)
        beside = np.broadcast_to(np.arange(edges.shape[1]) > apart.shape[1], edges.shape)
        row, turn, weight = split_rule(edges, beside, self.order)
        both = np.stack([theta_near[row], np.minimum(theta_near[row] + turn, np.pi)])
        # 2: either token may be the nearer one
        return row, both, np.sin(turn / 2), 2 * weight * self._density(both, turn)

    def _density(self, both: Floats, turn: Floats) -> Floats:
        """g g' / (g + g')^2 Q for two tokens, times their densities in the angle."""
        apart = 2 * self.w * np.sin(both[0] + turn / 2) * np.sin(turn / 2)
        softest = _deficits(both[0], self.w) - np.log1p(np.exp(-apart))
        logs = self.log_q(softest) - apart - 2 * np.log1p(np.exp(-apart))
        if self.d > 2:
            with np.errstate(divide="ignore"):
                logs += (self.d - 2) * np.log(np.abs(np.prod(sine_and_cosine(both)[0], axis=0)))
        density = np.exp(logs - 2 * math.log(half_beta(self.d - 1)))
        return density if self.ratio is None else density * self.ratio(softest)
