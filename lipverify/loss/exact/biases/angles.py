r"""The bias from the law's variogram alone: an integral over the angle of a token and one over the angle of two tokens.

    B = E (sum_i a_i (f(x_i) - f(x)))^2 = E sum_i a_i V(theta_i) - E sum_{i,j} a_i a_j V(theta_ij) / 2,

so that B = int V (p_1 - p_2 / 2). Here p_1 is the density of the angle of a token, weighted by a_i, and p_2 the density
of the angle between two tokens, weighted by a_i a_j; neither depends on the law. The part a (1 - t) of V would mostly
cancel, so it is computed as the bias of a linear link, a (E sum_i a_i^2 (1 - t_i) + E sum_{i != j} a_i a_j (1 - t_i)
(1 - t_j) / 2). The rest of V is of order theta^3 or smaller, and little of it cancels.
"""

from __future__ import annotations

import math

import numpy as np

from lipverify.foundation.angles import versine
from lipverify.foundation.arrays import Floats
from lipverify.foundation.gammas import half_beta
from lipverify.loss.exact.biases.pairs import pair_term
from lipverify.loss.exact.biases.task import Rules
from lipverify.loss.exact.context.between import FINE, Density, Harmonics, pair_density
from lipverify.loss.exact.context.others import Others, counted
from lipverify.loss.exact.context.tokens import TokenNodes, angle_at
from lipverify.loss.exact.quadrature.rules import CONCENTRATION, LARGE, integer_power, split_rule
from lipverify.loss.exact.variograms.products import Products
from lipverify.loss.exact.variograms.table import Variogram

ALL = 1 - 1e-9
"""Integrate to the largest deficit if the range already holds this share of [0, 2w]."""
MORE = 6
"""Additional nodes of the rules over a single angle, which cost almost nothing."""
LOST = 1e-11
"""Share of the cross terms above which the rounding of a sum over harmonics calls for the table instead."""
KNOWN = 4e-14
"""Relative error of both densities that no rule reduces: twice the largest observed error of their sums."""


def bias_by_angles(variogram: Variogram, rules: Rules, products: Products | None = None) -> tuple[Floats, Floats]:
    """The bias at every w and a bound on the effect of the variogram's errors: shape (w,) each.

    Where no short sum over harmonics gives p_2, it comes from a table, or the cross terms from `products`, if given.
    """
    of = rules.of

    def near(nodes: TokenNodes) -> Floats:
        return nodes.near

    linear = rules.single(of.mean(2, near)) + rules.double(of.mean(1, near) ** 2) / 2
    known = zip(variogram.slope * linear, variogram.slope_gap * linear, strict=True)
    rows = [_at(variogram, rules, i, products, *terms) for i, terms in enumerate(known)]
    value, error = np.array(rows).T
    return value, error


def _at(
    variogram: Variogram, rules: Rules, i: int, products: Products | None, linear: float, linear_off: float
) -> tuple[float, float]:
    """The linear part plus int R (p_1 - p_2 / 2) at the i-th w, R = V - a (1 - t), and a bound on its error."""
    contexts, density = rules.contexts, rules.harmonics[i]
    cross, cross_off = (0.0, math.inf) if density is None else _pairs(variogram, rules, density)
    if cross_off > LOST * abs(cross) and products is not None:
        return _by_products(products, rules, i)
    if cross_off > LOST * abs(cross):
        density = pair_density(*contexts.row(i), min(rules.order, FINE), rules.factors)
        cross, cross_off = _pairs(variogram, rules, density)
    others, w = counted(1, *contexts.row(i), rules.factors), float(contexts.w[i])
    edges = angle_at(others.panels, w)
    edges[0], edges[-1] = 0.0, math.pi if others.panels[-1] > ALL * 2 * w else edges[-1]
    theta, weight = _nodes(contexts.d, edges, variogram.meetings, rules.order + MORE)
    alone, off = _integral(variogram, theta, weight * others(w * versine(theta))[-1], KNOWN)
    return linear + alone - cross / 2, linear_off + off + cross_off / 2


def _pairs(variogram: Variogram, rules: Rules, density: Density | Harmonics) -> tuple[float, float]:
    """int R p_2, and a bound on the effect of both errors."""
    gamma, weight = _nodes(rules.contexts.d, density.edges, variogram.meetings, rules.order + MORE)
    p, slack = density(gamma)
    return _integral(variogram, gamma, weight * p, KNOWN + slack)


def _by_products(products: Products, rules: Rules, i: int) -> tuple[float, float]:
    """The whole bias at the i-th w from one token and from pairs of tokens, and the same bound."""
    variogram, contexts = products.variogram, rules.contexts[slice(i, i + 1)]
    nodes = Others.at(contexts, 0, rules.factors).lone(variogram.meetings, rules.order)
    cross, off = pair_term(products, contexts, rules.order, rules.factors)
    theta = nodes.angle
    return float(nodes.weight @ variogram(theta) + cross[0]), float(nodes.weight @ variogram.off(theta) + off[0])


def _integral(variogram: Variogram, angle: Floats, weight: Floats, share: Floats | float) -> tuple[float, float]:
    """int R of a weight with a relative error, and a bound on the effect of both errors."""
    rest = variogram.beyond_linear(angle)
    return float(weight @ rest), float(np.abs(weight) @ (variogram.rest_off(angle) + share * np.abs(rest)))


def _nodes(d: int, edges: Floats, meetings: tuple[float, ...], order: int) -> tuple[Floats, Floats]:
    """Nodes between the first and the last edge, and weights for an angle on the sphere."""
    # V(2 pi - theta) = V(theta) need not be smooth at pi, nor V at 0
    singular = np.array([0.0, *meetings, math.pi]).clip(edges[0], edges[-1])
    # for large d angles concentrate at pi/2
    crowd = math.pi / 2 + np.outer((-1, 1), CONCENTRATION).ravel() / math.sqrt(d) if d > LARGE else np.empty(0)
    splits = np.concatenate([edges, crowd.clip(edges[0], edges[-1]), singular])
    _, angle, weight = split_rule(splits[None], np.arange(splits.size)[None] >= splits.size - singular.size, order)
    return angle, weight * integer_power(np.sin(angle), d - 2) / half_beta(d - 1)
