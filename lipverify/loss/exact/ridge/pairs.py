r"""The bias of ReLU where windows hold few tokens: integrals over one token and over two.

    n (n-1) E a_i a_j (f(x_i) - f(x)) (f(x_j) - f(x)) = E_{s,s'} [ g g' / (g + g')^2 Q_2(-log(g + g')) G ],  g = e^{-s},

with G as in `turns`: the other tokens enter only through Q_2, a function of one number (see `others`). Other laws use
the density of the angle between two tokens (see `angles`). Its table is made for every n and w and takes three to seven
times as long; that of G serves all n and w, but for a law with kinks it takes as long as tens of densities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.sphere import half_beta, sine_and_cosine, versine
from lipverify.loss.exact.context.others import Others, others_of
from lipverify.loss.exact.context.tokens import angle_at
from lipverify.loss.exact.quadrature import LARGE, gauss_rule, plain_rule, split_rule
from lipverify.loss.exact.ridge.task import ROUNDING, Rules
from lipverify.loss.exact.variograms.closed import relu_variogram
from lipverify.loss.exact.variograms.turns import mean_product
from lipverify.loss.work import spend

SPLITS = (0.03, 0.1, 0.3, 0.6, 1.0)
"""Splits of the other token's deficit as shares of its range."""
REACH = 50.0
"""Difference of two deficits at which the weights are negligible, apart from the growth of the density."""
NEGLIGIBLE, ROUGH = 1e-21, 6
"""Pairs below this share of the largest weight, which a rule of order ROUGH finds, are left out."""
OPPOSITE = math.pi / 2
"""The largest angle of the nearer token at which the other can be opposite; the integrand is not smooth there."""
PAIR = 200.0
"""Nanoseconds per pair of tokens."""


def bias_by_pairs(rules: Rules, i: int) -> tuple[float, float]:
    """The bias of (z)_+ at the i-th w, and a bound on its error from the tables."""
    contexts = rules.contexts
    tables, d = others_of(contexts.row(i), rules.factors), contexts.d
    alone = tables.lone(rules.order)
    # rules of half of the order of the averages over one token are enough
    cross, off = _cross(tables, rules.order // 2 + 5)
    value = float(alone.weight @ relu_variogram(d, alone.angle)) + cross
    return value, off + ROUNDING * abs(cross) + tables.off(alone) * abs(value)


def _cross(tables: Others, order: int) -> tuple[float, float]:
    """The cross terms and a bound on the effect of the error of G."""
    d, w = tables.d, tables.w
    # use the angle, in which the density has no singularity
    edges = angle_at(tables.edges(4.0, max(4 / d, 0.5)), w)
    if edges.max() > OPPOSITE:
        edges = np.append(edges, OPPOSITE)
    pair = Pairs(tables, order)
    near, near_weight, peak = _nearer(replace(pair, order=ROUGH), edges, order)
    total, slack = 0.0, 0.0
    some_near = max(1, 1_000_000 // (order * (len(SPLITS) + 2)))  # pairs at a time: arrays of eight megabytes
    for start in range(0, near.size, some_near):
        some = slice(start, start + some_near)
        which, both, sine, weight = pair.nodes(near[some])
        weight = near_weight[some][which] * weight
        # weights may be negative with factors other than powers of phi
        keep = np.abs(weight) > NEGLIGIBLE * peak * (ROUGH / order) ** 2
        if not keep.any():
            continue
        spend(weight.size, PAIR, "pairs of tokens")
        value, off = mean_product(d, near[some], which[keep], both[:, keep], sine[keep])
        total += float(weight[keep] @ value)
        slack += float(np.abs(weight[keep]) @ off)
    return total, slack


def _nearer(rough: Pairs, edges: Floats, order: int) -> tuple[Floats, Floats, float]:
    """Nodes and weights for the nearer token, fewer where pairs have less weight, and the largest weight of a pair."""
    edges = np.sort(edges)
    which, _, _, weight = rough.nodes(np.concatenate([edges, (edges[:-1] + edges[1:]) / 2]))
    largest = np.zeros(2 * edges.size - 1)
    np.maximum.at(largest, which, np.abs(weight))
    ends, middles = largest[: edges.size], largest[edges.size :]
    largest = np.maximum(middles, np.maximum(ends[:-1], ends[1:])) * np.diff(edges) / rough.order
    peak = float(np.max(largest))
    if not peak > 0:
        raise OutOfReach("the weights of all pairs of tokens underflow at this d, n and w; use method='montecarlo'.")
    with np.errstate(divide="ignore"):
        shares = 1 + np.log(largest / peak) / 45
    rules = []
    for i in np.flatnonzero(largest > NEGLIGIBLE * peak).tolist():
        rule = gauss_rule if OPPOSITE in (edges[i], edges[i + 1]) else plain_rule
        x, gauss = rule(max(4, math.ceil(order * shares[i])))
        width = edges[i + 1] - edges[i]
        rules.append((edges[i] + width * x, width * gauss))
    near, weights = (np.concatenate(parts) for parts in zip(*rules, strict=True))
    return near, weights, peak


@dataclass(frozen=True)
class Pairs:
    """Quadrature rules over the more distant of two tokens, given the nearer one."""

    others: Others
    order: int

    def nodes(self, theta_near: Floats) -> tuple[NDArray[np.intp], Floats, Floats, Floats]:
        """For every pair: index of the near token, both angles (2, pair), sine of half their difference, weight."""
        d, w, crowd = self.others.d, self.others.w, self.others.crowd
        angle = theta_near[:, None]
        near = w * versine(angle)
        stretch = np.minimum(self.others.high - near, REACH + 2 * d)
        # the antipode is exact as an angle, but as a deficit it determines the angle only to the square root of eps
        end = np.where(near + stretch > (1 - 1e-9) * 2 * w, np.pi, angle_at(np.minimum(near + stretch, 2 * w), w))
        end = end - angle
        # shorter ranges are split like this one: the splits for the weights also resolve the density
        scale = np.maximum(stretch, min(REACH, 400 / d))
        # the later splits are not needed if e^{-s} ends the range and not the sphere
        free = (stretch == REACH + 2 * d) & (np.array(SPLITS) > 0.3)
        shares = np.where(free, 1.0, SPLITS)
        apart = np.concatenate([np.minimum(scale * shares, stretch), np.clip(crowd - near, 0, stretch)], axis=1)
        middle = (angle + angle_at(np.minimum(near + apart, 2 * w), w)) / 2
        smooth = [2 * np.arcsin(np.minimum(apart / (2 * w * np.sin(middle)), 1.0)), end]
        # G is not smooth where both tokens are at one place, and where they can be opposite
        opposite = np.pi - 2 * angle
        singular = [0 * angle, np.where(opposite < end, opposite, 0.0)]
        edges = np.concatenate([np.clip(turn, 0, end) for turn in (*smooth, *singular)], axis=1)
        singular_edges = np.broadcast_to(np.arange(edges.shape[1]) > apart.shape[1], edges.shape)
        # beyond the first split e^{-s} has fallen, and needs fewer nodes, unless the density rises as fast
        row, turn, weight = split_rule(edges, singular_edges, self.order, 0.75 if d <= LARGE else 1.0)
        both = np.stack([theta_near[row], np.minimum(theta_near[row] + turn, np.pi)])
        # factor 2: either token may be the nearer one
        return row, both, np.sin(turn / 2), 2 * weight * self._density(both, turn)

    def _density(self, both: Floats, turn: Floats) -> Floats:
        """g g' / (g + g')^2 Q_2 for two tokens, times the densities of their angles."""
        d, w = self.others.d, self.others.w
        apart = 2 * w * np.sin(both[0] + turn / 2) * np.sin(turn / 2)
        softer = np.log1p(np.exp(-apart))
        softest = w * versine(both[0]) - softer
        logs = self.others.log_q[1](softest) - apart - 2 * softer
        if d > 2:
            with np.errstate(divide="ignore"):
                logs += (d - 2) * np.log(np.abs(np.prod(sine_and_cosine(both)[0], axis=0)))
        density = np.exp(logs - 2 * math.log(half_beta(d - 1)))
        return density if self.others.ratios is None else density * self.others.ratios[1](softest)
