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
from lipverify.loss.exact.context.between import FINE, pair_density
from lipverify.loss.exact.context.others import counted
from lipverify.loss.exact.context.tokens import angle_at
from lipverify.loss.exact.quadrature import CONCENTRATION, LARGE, integer_power, split_rule
from lipverify.loss.exact.ridge.task import NEAR, Rules
from lipverify.loss.exact.variograms.table import Variogram

KNOWN = 4e-14
"""Relative error of both densities that no rule reduces: twice the largest observed error of their sums."""


def bias_by_angles(variogram: Variogram, rules: Rules) -> tuple[Floats, Floats]:
    """The bias at every w and a bound on the effect of the variogram's errors: shape (w,) each."""
    value, error, wide, left = bias_by_short_sums(variogram, rules)
    for i in left:
        by_tables, its_error = _by_tables(variogram, rules, i, bool(wide[i]))
        value[i] += by_tables
        error[i] += its_error
    return value, error


def bias_by_short_sums(variogram: Variogram, rules: Rules) -> tuple[Floats, Floats, NDArray[np.bool_], list[int]]:
    """The same where a short series or sum over harmonics gives p_2; where windows are wide; and where no sum is short.

    There the value is the linear part alone, or 0 where windows are wide.
    """
    of = rules.of
    linear = rules.single(of.mean(2, NEAR)) + rules.double(of.mean(1, NEAR) ** 2) / 2
    # wide on the scale of V: the part a (1 - t) is left in V, because the rest would cancel it
    wide = variogram.slope * linear > 8 * variogram.peak
    value, error = (np.where(wide, 0.0, part * linear) for part in (variogram.slope, variogram.slope_gap))
    done = np.zeros(linear.shape, dtype=bool)
    for short in rules.densities:
        cross, cross_off, cross_lost = _mean(variogram, rules, short.edges, short, wide[short.which])
        alone, off, lost = _mean(variogram, rules, short.panels, short.alone, wide[short.which])
        rest, off, lost = alone - cross / 2, off + cross_off / 2, lost + cross_lost / 2
        # the rounding of a sum over harmonics calls for another way if it matters beside the variogram's error
        kept = lost <= np.maximum(2e-11 * np.abs(value[short.which] + rest), off)
        which = short.which[kept]
        value[which] += rest[kept]
        error[which] += (off + lost)[kept]
        done[which] = True
    return value, error, wide, np.flatnonzero(~done).tolist()


def _by_tables(variogram: Variogram, rules: Rules, i: int, wide: bool) -> tuple[float, float]:
    """int R (p_1 - p_2 / 2) at the i-th w, R = V - a (1 - t) or V, by tables of both densities, and its error."""
    context = rules.contexts.row(i)
    double, single = pair_density(context, min(rules.order, FINE), rules.factors), counted(1, context, rules.factors)
    panels = angle_at(np.append(0.0, single.panels[1:]), single.w)
    alone, *off = _mean(variogram, rules, panels, lambda theta: (single(single.w * versine(theta))[-1], 0.0), wide)
    cross, *cross_off = _mean(variogram, rules, double.edges, double, wide)
    return float(alone - cross / 2), float(sum(off) + sum(cross_off) / 2)


Density = Callable[[Floats], tuple[Floats, Floats | float]]


def _mean(variogram: Variogram, rules: Rules, edges: Floats, density: Density, wide: Any) -> tuple[Floats, ...]:
    """int R of densities over sin^{d-2} / B, and bounds on the effect of R's error and of theirs: (w,) each.

    Where windows are `wide` R is V.
    """
    last = math.pi if edges[-1] > math.pi - 6e-5 else edges[-1]
    splits = [angle for angle in variogram.splits if edges[0] < angle < last]
    edges = np.sort(np.concatenate([edges[:-1], splits, [last]]))
    # more nodes for a single angle cost almost nothing
    angle, weight = _nodes(rules.contexts.d, edges, variogram.meetings, rules.order + 6)
    p, slack = density(angle)
    p = weight * p

    def mean(R: Callable[[Floats], Floats], off: Callable[[Floats], Floats]) -> tuple[Floats, ...]:
        values = R(angle)
        return p @ values, np.abs(p) @ off(angle), np.sum(np.abs(p * values) * (KNOWN + slack), axis=-1)

    narrow = mean(variogram.beyond_linear, variogram.rest_off)
    if not np.any(wide):
        return narrow
    return tuple(np.where(wide, *parts) for parts in zip(mean(variogram, variogram.off), narrow, strict=True))


def _nodes(d: int, edges: Floats, meetings: tuple[float, ...], order: int) -> tuple[Floats, Floats]:
    """Nodes between the first and the last edge, and weights for an angle on the sphere."""
    # V(2 pi - theta) = V(theta) need not be smooth at pi, nor V at 0
    singular = np.array([0.0, *meetings, math.pi]).clip(edges[0], edges[-1])
    # for large d angles concentrate at pi/2
    crowd = math.pi / 2 + np.outer((-1, 1), CONCENTRATION).ravel() / math.sqrt(d) if d > LARGE else np.empty(0)
    splits = np.concatenate([edges, crowd.clip(edges[0], edges[-1]), singular])
    _, angle, weight = split_rule(splits[None], np.arange(splits.size)[None] >= splits.size - singular.size, order)
    return angle, weight * integer_power(np.sin(angle), d - 2) / half_beta(d - 1)
