r"""The cross terms of the bias from the law's variogram alone, as one integral over two tokens.

With K the covariance of f, V(theta) = 2 (K(1) - K(cos theta)), and two tokens at angles theta, theta' from the query
and azimuths that differ by beta,

    G = E (f(x_i) - f(x)) (f(x_j) - f(x)) = (V(theta) + V(theta') - E_beta V(theta_ij)) / 2,
    sin^2(theta_ij / 2) = sin^2((theta - theta') / 2) + sin(theta) sin(theta') sin^2(beta / 2),

    n (n-1) E a_i a_j (...) = E_{s,s'} [ g g' / (g + g')^2 Q_2(-log(g + g')) G ],  g = e^{-s}:

the other tokens enter only through Q_2, a function of one number (see `others`). The part a (1 - t) of V has
G = a (1-t) (1-t') / 2, without a difference; the rest is of order theta^3 or smaller, and its difference loses no
digits. If V is smooth on short pieces only, use the densities of `angles` instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Floats
from lipverify.foundation.sphere import half_beta, sine_and_cosine, versine
from lipverify.loss.exact.context.between import JOINT
from lipverify.loss.exact.context.contexts import Contexts, Factors
from lipverify.loss.exact.context.others import Others
from lipverify.loss.exact.context.tokens import angle_at
from lipverify.loss.exact.quadrature import LARGE, gauss_rule, plain_rule, split_rule
from lipverify.loss.exact.variograms.products import Products
from lipverify.loss.work import spend

PANEL, GROWTH = 4.0, 4.0
"""Panel width of the nearer token's deficit in the graded coordinate, and least distance in which its scale doubles."""
SPLITS, FEWER = (0.03, 0.1, 0.3, 0.6, 1.0), 0.75
"""Splits of the other token's deficit as shares of its range, and the share of nodes that is enough beyond the first
split, where e^{-s} has fallen. In high dimensions all nodes are needed, because the density rises as fast."""
FALLEN = 0.3
"""No split is needed beyond this share if e^{-s} ends the range and not the sphere."""
FLAT = 400.0
"""Divided by the dimension: the range of deficits on which the splits for the weights also resolve the density."""
REACH = 50.0
"""Difference of two deficits at which the weights are negligible, apart from the growth of the density."""
SHORT = 0.6
"""Share of the order that is enough for rules that are split at many crossings."""
BLOCK = 1_000_000
"""Most pairs at a time: arrays of eight megabytes."""
ALL = 1 - 1e-9
"""Integrate to the largest deficit if the range already holds this share of [0, 2w]."""
FADED, LEAST = 45.0, 4
"""Where the weight of pairs is e^-x of its maximum, a share 1 - x / FADED of the order is enough, with at least LEAST
nodes."""
NEGLIGIBLE, ROUGH = 1e-21, 6
"""Pairs of tokens whose weight is below this share of the largest are left out; their G is at most a few thousand times
that of the heaviest pairs. A rule of order ROUGH finds the largest weight."""
PAIR = 200.0
"""Nanoseconds per pair of tokens."""


def pair_term(products: Products, contexts: Contexts, order: int, factors: Factors) -> tuple[Floats, Floats]:
    """The cross terms at every w and bounds on the effect of the variogram's errors: shape (w,) each."""
    # rules of half of the order of the averages over one token are enough
    terms = [_at(products, contexts, i, order // 2 + 5, factors) for i in range(contexts.w.size)]
    value, error = np.array(terms).T
    return value, error


def _at(products: Products, contexts: Contexts, i: int, order: int, factors: Factors) -> tuple[float, float]:
    """The cross terms at the i-th w, and the bound."""
    tables = Others.at(contexts, i, factors)
    d, w, low, high = contexts.d, tables.w, tables.low, tables.high
    # if windows hold many tokens, the sum of two deficits is bounded like a single deficit
    far = 2 * float(angle_at(high if contexts.high[i] > 1 else JOINT * high, w))
    # V(2 pi - theta) = V(theta) need not be smooth at pi, where two tokens are opposite
    meetings = np.array([m for m in (*products.variogram.meetings, math.pi) if m <= far])
    order = round(SHORT * order) if meetings.size > 1 else order
    # here only the weights set a scale
    flat = min(REACH, FLAT / d) if meetings.size < 2 and products.variogram.power == 2 else 0.0
    # use the angle, in which the density has no singularity
    corners = np.clip(_corners(meetings), *angle_at(np.array([low, high]), w))
    edges = np.concatenate([angle_at(tables.edges(PANEL, max(GROWTH / d, 0.5)), w), corners])
    singular = np.concatenate([np.zeros(edges.size - corners.size, dtype=bool), np.ones(corners.size, dtype=bool)])
    pair = Pairs(tables, meetings, flat, order)
    near, near_weight, peak = _nearer(replace(pair, order=ROUGH), edges, singular, order)
    total, slack = 0.0, 0.0
    wide = order * (len(SPLITS) + 3 * meetings.size) * products.turns(order)
    for start in range(0, near.size, max(1, BLOCK // wide)):
        some = slice(start, start + max(1, BLOCK // wide))
        which, both, sine, weight = pair.nodes(near[some])
        weight = near_weight[some][which] * weight
        # weights may be negative with factors other than powers of phi
        keep = np.abs(weight) > NEGLIGIBLE * peak * (ROUGH / order) ** 2
        if not keep.any():
            continue
        spend(weight.size, PAIR, "pairs of tokens")
        value, off = products(near[some], which[keep], both[:, keep], sine[keep], order)
        total += float(weight[keep] @ value)
        slack += float(np.abs(weight[keep]) @ off)
    return total, slack


def _nearer(rough: Pairs, edges: Floats, singular: NDArray[np.bool_], order: int) -> tuple[Floats, Floats, float]:
    """Nodes and weights for the nearer token, fewer where pairs have less weight, and the largest weight of a pair."""
    ascending = np.argsort(edges)
    edges, singular = edges[ascending], singular[ascending]
    which, _, _, weight = rough.nodes(np.concatenate([edges, (edges[:-1] + edges[1:]) / 2]))
    largest = np.zeros(2 * edges.size - 1)
    np.maximum.at(largest, which, np.abs(weight))
    ends, middles = largest[: edges.size], largest[edges.size :]
    largest = np.maximum(middles, np.maximum(ends[:-1], ends[1:])) * np.diff(edges) / rough.order
    peak = float(np.max(largest))
    with np.errstate(divide="ignore"):
        shares = 1 + np.log(largest / peak) / FADED
    counted = np.flatnonzero(largest > NEGLIGIBLE * peak)
    rules = []
    for i in counted.tolist():
        x, gauss = (gauss_rule if singular[i] or singular[i + 1] else plain_rule)(
            max(LEAST, math.ceil(order * shares[i]))
        )
        width = edges[i + 1] - edges[i]
        rules.append((edges[i] + width * x, width * gauss))
    near, weights = (np.concatenate(parts) for parts in zip(*rules, strict=True))
    return near, weights, peak


def _deficits(angles: Floats, w: float) -> Floats:
    return w * versine(np.minimum(angles, np.pi))


def _corners(meetings: Floats) -> Floats:
    """Angles of the nearer token at which two of the lines meet on which the integrand is not smooth.

    These are theta_far = m, theta_far - theta_near = m, theta_far + theta_near = m or 2 pi - m, and the ends of the
    range, theta_far = theta_near and theta_far = pi.
    """
    lines = [(near, 1.0, m) for m in meetings for near in (0.0, -1.0, 1.0)]
    lines += [(1.0, 1.0, 2 * np.pi - m) for m in meetings] + [(-1.0, 1.0, 0.0), (0.0, 1.0, np.pi)]
    angles = [(c - f) / (a - b) for (a, _, c), (b, _, f) in combinations(lines, 2) if a != b]
    inside = np.array([theta for theta in angles if 0 < theta < np.pi])
    return np.unique(inside.round(12))


@dataclass(frozen=True)
class Pairs:
    """Quadrature rules over the more distant of two tokens, given the nearer one.

    Attributes
    ----------
    meetings
        Angles at which the variogram is not smooth; rules are split there.
    flat
        Shortest range of the distant token for which splits are placed; shorter ranges are split like this one.
    """

    others: Others
    meetings: Floats
    flat: float
    order: int

    def nodes(self, theta_near: Floats) -> tuple[NDArray[np.intp], Floats, Floats, Floats]:
        """For every pair: index of the near token, both angles (2, pair), sine of half their difference, weight."""
        d, w, crowd = self.others.d, self.others.w, self.others.crowd
        angle, meetings = theta_near[:, None], self.meetings
        near = _deficits(angle, w)
        stretch = np.minimum(self.others.high - near, REACH + 2 * d)
        # the antipode is exact as an angle, but as a deficit it determines the angle only to the square root of eps
        end = np.where(near + stretch > ALL * 2 * w, np.pi, angle_at(np.minimum(near + stretch, 2 * w), w)) - angle
        scale = np.maximum(stretch, self.flat)
        free = (stretch == REACH + 2 * d) & (np.array(SPLITS) > FALLEN)
        shares = np.where(free, 1.0, SPLITS)
        apart = np.concatenate([np.minimum(scale * shares, stretch), np.clip(crowd - near, 0, stretch)], axis=1)
        middle = (angle + angle_at(np.minimum(near + apart, 2 * w), w)) / 2
        smooth = [2 * np.arcsin(np.minimum(apart / (2 * w * np.sin(middle)), 1.0)), end]
        # points where the variogram is not smooth: in the distant angle, and in the difference and the sum of both
        singular = [
            0 * angle,
            meetings - angle,
            meetings - 2 * angle,
            meetings + 0 * angle,
            2 * (np.pi - angle) - meetings,
        ]
        edges = np.concatenate([np.clip(turn, 0, end) for turn in (*smooth, *singular)], axis=1)
        singular_edges = np.broadcast_to(np.arange(edges.shape[1]) > apart.shape[1], edges.shape)
        row, turn, weight = split_rule(edges, singular_edges, self.order, FEWER if d <= LARGE else 1.0)
        both = np.stack([theta_near[row], np.minimum(theta_near[row] + turn, np.pi)])
        # factor 2: either token may be the nearer one
        return row, both, np.sin(turn / 2), 2 * weight * self._density(both, turn)

    def _density(self, both: Floats, turn: Floats) -> Floats:
        """g g' / (g + g')^2 Q_2 for two tokens, times the densities of their angles."""
        d, w = self.others.d, self.others.w
        apart = 2 * w * np.sin(both[0] + turn / 2) * np.sin(turn / 2)
        softer = np.log1p(np.exp(-apart))
        softest = _deficits(both[0], w) - softer
        logs = self.others.log_q[1](softest) - apart - 2 * softer
        if d > 2:
            with np.errstate(divide="ignore"):
                logs += (d - 2) * np.log(np.abs(np.prod(sine_and_cosine(both)[0], axis=0)))
        density = np.exp(logs - 2 * math.log(half_beta(d - 1)))
        return density if self.others.ratios is None else density * self.others.ratios[1](softest)
