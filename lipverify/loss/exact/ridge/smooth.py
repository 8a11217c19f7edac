r"""The averages of a smooth link, tabulated once for a law and a dimension.

With <q, x> = c and <q, x_i> = c t + sqrt((1 - c^2)(1 - t^2)) r, r zonal on S^{d-2}, the increment

    H(t, c) = E_r[h(<q, x_i>)] - h(c) = (1 - t) sum_j b_j(c) T_j(t)

is an analytic function of t that vanishes at t = 1. So w, n and u enter only through the moments
m_j = E[psi_1 (1 - t) T_j(t)], and the average over c is a matrix:

    pair = sum_{jk} m_j m_k E_c[b_j b_k],    variogram(t) = (1 - t) sum_j v_j T_j(t).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import roots_gegenbauer

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import EPS, Floats
from lipverify.loss.exact.context.averages import Averages
from lipverify.loss.exact.context.tokens import TokenNodes
from lipverify.loss.exact.quadrature import chebyshev_points, to_coefficients
from lipverify.loss.exact.ridge.task import TaskAverages
from lipverify.loss.work import spend
from lipverify.problem.fine import fine_rule, unseen

Increment = Callable[[Floats, Floats], Floats]
"""(c, delta) -> h(c + delta) - h(c)."""

SIZES = (16, 32, 64, 128, 256)
"""Numbers of coefficients in t, tried in order; the averages over c and r use the same number of nodes."""
ENTRY = 7.0
"""Nanoseconds per entry of a table, without the link."""


def difference(link: Callable[[Floats], Floats]) -> Increment:
    """The increment of a general link, as a difference of two values."""
    return lambda c, delta: link(np.clip(c + delta, -1.0, 1.0)) - link(c + 0 * delta)


def cosine_increment(L: float) -> Increment:
    """cos(L (c + delta)) - cos(L c) = -2 sin(L (c + delta/2)) sin(L delta / 2), without cancellation."""
    return lambda c, delta: -2 * np.sin(L * (c + delta / 2)) * np.sin(L * delta / 2)


def zonal_rule(d: int, order: int) -> tuple[Floats, Floats]:
    """Nodes and weights of the Gauss rule for a coordinate of a uniform point of S^{d-1}; +-1 for d = 1."""
    if d == 1:
        return np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    with np.errstate(all="ignore"):
        nodes, weights = roots_gegenbauer(order, (d - 2) / 2)
    if not np.all(np.isfinite([nodes, weights])):  # hundreds of nodes in thousands of dimensions
        raise OutOfReach(
            f"d = {d}: the rule of {order} nodes is not finite in doubles; use route='zonal' or a smaller d."
        )
    return nodes, weights / np.sum(weights)


@dataclass(frozen=True)
class Table:
    """Coefficients of the increment (by degree and c) and of the variogram (by degree)."""

    variance: float
    increment: Floats
    variogram: Floats
    c_weight: Floats

    @classmethod
    def of(cls, d: int, increment: Increment, size: int, price: float) -> Table:
        """Interpolation at `size` Chebyshev points in t."""
        spend(size**3, ENTRY + price, "the table of a smooth link")
        c, c_weight = zonal_rule(d, size)
        r, r_weight = zonal_rule(d - 1, size)
        t = chebyshev_points(size)[:, None, None]
        near = 2 * np.sin(np.pi * (np.arange(size) + 0.5) / (2 * size))[:, None, None] ** 2
        c_column = c[:, None]
        delta = np.sqrt((1 - c_column**2) * near * (1 + t)) * r - c_column * near
        rise = increment(c_column, delta)
        slopes, squares = rise @ r_weight / near[..., 0], (rise**2 @ r_weight / near[..., 0]) @ c_weight
        values = increment(np.zeros_like(c), c)
        variance = float(values**2 @ c_weight - (values @ c_weight) ** 2)
        return cls(variance, to_coefficients(size) @ slopes, to_coefficients(size) @ squares, c_weight)

    def distance(self, other: Table) -> float:
        """The largest relative difference of the variogram and of E_c[(H / (1 - t))^2] between two tables."""
        angle = np.linspace(0, np.pi, 41)
        near = 2 * np.sin(angle / 2) ** 2
        ours, theirs = self.at(1 - near), other.at(1 - near)
        far = np.maximum(near, near[1]) ** np.array([[1], [2], [0]])
        steepest, largest = (np.max(rows, axis=1, keepdims=True) for rows in (ours, ours * far))
        # relative to the local value, as both can be larger at t = 1 by L^2 and more; but that of an even link is 0 at
        # t = -1, where there are few tokens
        least = np.minimum(1e-3 * steepest, 0.1 * largest / far)
        return float(np.max(np.abs(ours - theirs) / np.maximum(np.abs(ours), 1e-30 + least)))

    @property
    def steepness(self) -> float:
        """The largest variogram / (1 - t), in units of the largest variogram."""
        near = 2 * np.sin(np.linspace(0, np.pi, 41) / 2) ** 2
        slope = np.abs(chebyshev.chebval(1 - near, self.variogram))
        return float(np.max(slope) / max(float(np.max(near * slope)), 1e-300))

    @property
    def rounding(self) -> float:
        """The relative effect of the moments' rounding on `pair`, for wide windows; narrower ones lose less.

        H = sum_j m_j b_j has the error 2 eps m_0 sum_j (1 + j) |b_j(c)|, as m_j is a sum after j steps to T_j. If all
        tokens have equal weights, its mean square is m_0^2 Var f(x).
        """
        steps = np.abs(self.increment) * (1 + np.arange(len(self.increment))[:, None])
        off = 2 * EPS * np.sqrt(self.c_weight @ steps.sum(axis=0) ** 2)
        return float(2 * off / max(np.sqrt(max(self.variance, 0.0)), 1e-300))

    def at(self, t: Floats) -> Floats:
        """Rows at every t: variogram / (1 - t), the mean square slope, and the variance."""
        slope = chebyshev.chebval(t, self.increment)
        squares = self.c_weight @ slope**2
        return np.stack([chebyshev.chebval(t, self.variogram), squares, np.full_like(t, self.variance)])


def smooth_averages(d: int, increment: Increment, price: float, sizes: tuple[int, ...] = SIZES) -> TaskAverages:
    """The averages of a smooth link, from the smallest sufficient table; the error is large if no table suffices."""
    table = Table.of(d, increment, sizes[0], price)
    for size in sizes[1:]:
        larger = Table.of(d, increment, size, price)
        gap, table = larger.distance(table), larger
        if gap <= 3e-12:  # four times this is the error, about what a loss tolerates
            break
    link = partial(increment, np.zeros(1))
    unlike = unseen(d, link, table.variance)
    products = (table.increment * table.c_weight) @ table.increment.T
    scale = np.sqrt(np.diag(products))
    count = int(np.flatnonzero(scale > 1e-17 * max(scale.max(), 1e-300))[-1]) + 1 if scale.any() else 1
    products = products[:count, :count]

    def pair(of: Averages) -> Floats:
        moments = of.means(1, _basis(of.nodes, count))
        return np.einsum("ju,ju->u", moments, products @ moments)

    return TaskAverages.known(
        variance=table.variance,
        variogram=lambda nodes: nodes.near * chebyshev.chebval(1 - nodes.near, table.variogram),
        pair=pair,
        # in a narrow window, a narrow feature may be nearly all of the bias
        missed=4 * _beyond(d, link, len(table.increment)) if unlike else 0.0,
        # two tables may by chance differ by less than their rounding at t = 1
        relative_error=4 * max(gap, unlike, 4 * EPS * table.steepness) + table.rounding,
        followed=gap <= 2.5e-11,  # or no table is large enough: the link is steep somewhere
        degree=count,
    )


def _beyond(d: int, link: Callable[[Floats], Floats], size: int) -> float:
    """The mean square of a link beyond its polynomial through `size` points; its bias is at most four times that."""
    z, weight = fine_rule(d)
    rest = link(z) - chebyshev.chebval(z, to_coefficients(size) @ link(chebyshev_points(size)))
    return float(np.average(rest**2, weights=weight))


def _basis(nodes: TokenNodes, count: int) -> Iterator[Floats]:
    """(1 - t) T_j(t) for j < count, by the recurrence in j."""
    t, term, following = 1 - nodes.near, nodes.near, nodes.near * (1 - nodes.near)
    for _ in range(count):
        yield term
        term, following = following, 2 * t * following - term
