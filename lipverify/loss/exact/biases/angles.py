r"""The bias from the law's variogram alone: an integral over the angle of a token and one over the angle of two tokens.

    B = E (sum_i a_i (f(x_i) - f(x)))^2 = E sum_i a_i V(theta_i) - E sum_{i,j} a_i a_j V(theta_ij) / 2,

so that B = int V (p_1 - p_2 / 2). Here p_1 is the density of the angle of a token, weighted by a_i, and p_2 the density
of the angle between two tokens, weighted by a_i a_j; neither depends on the law. The part a (1 - t) of V would mostly
cancel, so it is computed as the bias of a linear link, a (E sum_i a_i^2 (1 - t_i) + E sum_{i != j} a_i a_j (1 - t_i)
(1 - t_j) / 2). The rest of V is of order theta^3 or smaller, and little of it cancels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Floats
from lipverify.foundation.sphere import half_beta, versine
from lipverify.loss.exact.biases.task import Rules
from lipverify.loss.exact.context.between import FINE, pair_density
from lipverify.loss.exact.context.others import counted
from lipverify.loss.exact.context.tokens import TokenNodes, angle_at
from lipverify.loss.exact.quadrature import CONCENTRATION, LARGE, integer_power, split_rule
from lipverify.loss.exact.variograms.table import Variogram

ALMOST = 6e-5
"""A range that ends at most this far from pi is extended to pi."""
MORE = 6
"""Additional nodes of the rules over a single angle, which cost almost nothing."""
LOST = 2e-11
"""Share of the bias above which the rounding of a sum over harmonics calls for another way, if it also exceeds the
effect of the variogram's error."""
KNOWN = 4e-14
"""Relative error of both densities that no rule reduces: twice the largest observed error of their sums."""
WIDE = 8.0
"""Where the part a (1 - t) exceeds the largest V by this factor, windows are wide on the scale of V: it is left in V,
because the rest would cancel it."""


def bias_by_angles(variogram: Variogram, rules: Rules) -> tuple[Floats, Floats]:
    """The bias at every w and a bound on the effect of the variogram's errors: shape (w,) each."""
    value, error, wide, left = bias_by_short_sums(variogram, rules)
    for i in left:
        by_tables, its_error = _by_tables(variogram, rules, i, bool(wide[i]))
        value[i] += by_tables
        error[i] += its_error
    return value, error


def bias_by_short_sums(variogram: Variogram, rules: Rules) -> tuple[Floats, Floats, NDArray[np.bool_], list[int]]:
    """The same where a short series or sum over harmonics gives p_2; and where none does, the linear part alone.

    The last are the indices of these w. Where windows are wide, the third, there is no linear part.
    """
    of = rules.of

    def near(nodes: TokenNodes) -> Floats:
        return nodes.near

    linear = rules.single(of.mean(2, near)) + rules.double(of.mean(1, near) ** 2) / 2
    wide = variogram.slope * linear > WIDE * variogram.peak
    value, error = (np.where(wide, 0.0, part * linear) for part in (variogram.slope, variogram.slope_gap))
    done = np.zeros(linear.shape, dtype=bool)
    for short in rules.densities:
        some = wide[short.which]
        cross, cross_off, cross_lost = _mean(variogram, rules, short.edges, short, some)
        alone, off, lost = _mean(variogram, rules, short.panels, short.alone, some)
        rest, lost = alone - cross / 2, lost + cross_lost / 2
        kept = lost <= np.maximum(LOST * np.abs(value[short.which] + rest), off + cross_off / 2)
        value[short.which[kept]] += rest[kept]
        error[short.which[kept]] += (off + cross_off / 2 + lost)[kept]
        done[short.which[kept]] = True
    return value, error, wide, np.flatnonzero(~done).tolist()


def _by_tables(variogram: Variogram, rules: Rules, i: int, wide: bool) -> tuple[float, float]:
    """int R (p_1 - p_2 / 2) at the i-th w, R = V - a (1 - t) or V, by tables of both densities, and its error."""
    row = rules.contexts.row(i)
    table, tables, w = (
        pair_density(*row, min(rules.order, FINE), rules.factors),
        counted(1, *row, rules.factors),
        row[2],
    )
    panels = angle_at(np.append(0.0, tables.panels[1:]), w)
    (alone, *off), (cross, *cross_off) = (
        _mean(variogram, rules, edges, density, wide)
        for edges, density in ((panels, lambda theta: (tables(w * versine(theta))[-1], 0.0)), (table.edges, table))
    )
    return float(alone - cross / 2), float(sum(off) + sum(cross_off) / 2)


Density = Callable[[Floats], tuple[Floats, Floats | float]]


def _mean(
    variogram: Variogram, rules: Rules, edges: Floats, density: Density, wide: Any
) -> tuple[Floats, Floats, Floats]:
    """int R of densities over sin^{d-2} / B, and bounds on the effect of R's error and of theirs: (w,) each.

    Where windows are `wide` R is V.
    """
    last = math.pi if edges[-1] > math.pi - ALMOST else edges[-1]
    edges = np.concatenate([edges[:-1], [angle for angle in variogram.splits if angle < edges[1]], [last]])
    angle, weight = _nodes(rules.contexts.d, edges, variogram.meetings, rules.order + MORE)
    p, slack = density(angle)
    p = weight * p
    means = []
    for rest, off in (variogram.beyond_linear, variogram.rest_off), (variogram, variogram.off):
        means.append(
            (p @ rest(angle), np.abs(p) @ off(angle), np.sum(np.abs(p * rest(angle)) * (KNOWN + slack), axis=-1))
        )
        if not np.any(wide):
            return means[0]
    narrow, full = means
    return tuple(np.where(wide, *parts) for parts in zip(full, narrow, strict=True))


def _nodes(d: int, edges: Floats, meetings: tuple[float, ...], order: int) -> tuple[Floats, Floats]:
    """Nodes between the first and the last edge, and weights for an angle on the sphere."""
    # V(2 pi - theta) = V(theta) need not be smooth at pi, nor V at 0
    singular = np.array([0.0, *meetings, math.pi]).clip(edges[0], edges[-1])
    # for large d angles concentrate at pi/2
    crowd = math.pi / 2 + np.outer((-1, 1), CONCENTRATION).ravel() / math.sqrt(d) if d > LARGE else np.empty(0)
    splits = np.concatenate([edges, crowd.clip(edges[0], edges[-1]), singular])
    _, angle, weight = split_rule(splits[None], np.arange(splits.size)[None] >= splits.size - singular.size, order)
    return angle, weight * integer_power(np.sin(angle), d - 2) / half_beta(d - 1)
