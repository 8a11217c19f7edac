r"""The density of the angle between two tokens, weighted by both attention weights; it does not depend on the law.

    p(gamma) = sin^{d-2}(gamma) / B(1/2, (d-1)/2) E_x [ g g' / (g + g')^2 Q_2(-log(g + g')) ].

With the query's components cos(psi) cos(phi) along the tokens' bisector and sin(psi) along their difference, and
z = w sin(psi) sin(gamma/2),

    g g' / (g + g')^2 = 1 / (2 cosh z)^2,  -log(g + g') = w (1 - cos(gamma/2) cos(psi) cos(phi)) - log(2 cosh z).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial

import numpy as np
from numpy.polynomial import chebyshev

from lipverify.foundation.arrays import TINY, Floats
from lipverify.foundation.sphere import half_beta, versine
from lipverify.loss.exact.context.contexts import ORDERS, Context, Factors, powers
from lipverify.loss.exact.context.others import Q_SHARE, Counted, counted
from lipverify.loss.exact.context.tokens import angle_at
from lipverify.loss.exact.quadrature import (
    CONCENTRATION,
    LARGE,
    Graded,
    LogGrading,
    chebyshev_points,
    chebyshev_values,
    clenshaw,
    half_power,
    integer_power,
    plain_rule,
    split_rule,
    to_coefficients,
)
from lipverify.loss.work import spend

DROP = 20.0
"""Where both z and w cos(gamma/2) (1 - cos psi) exceed this, less than e^{-2 DROP} of the integral remains."""
TOGETHER, ROWS = 48, 1200
"""Number of angles gamma, and of pairs (gamma, psi), at a time, so that arrays fit in a processor's cache."""
MORE = 6
"""Additional nodes next to an end of the range of phi, where an interval may be two panels long, and for harmonics."""
FINE = ORDERS[0]
"""From this order on, losses share one table."""
CHECK, FINER = 0.31, 4
"""The point of a panel, in [-1, 1], at which the table is checked, and the additional nodes of the rules for that."""
SETTLED, SAFETY = 5e-13, 4.0
"""Tolerance for the error of a panel times its share of the integral, and the factor from differences to errors."""
EXACT, MOST_COLUMNS = 1e-13, 220
"""The error of a polynomial in fold, and most panels times nodes in fold of a table of means over phi: with more, rules
for every pair are as fast."""
PAIR = 12.0
"""Nanoseconds per pair of tokens."""


@dataclass(frozen=True)
class Density:
    """p over sin^{d-2} / B as a table on panels; `ratio` is for factors other than `powers`."""

    log: Graded
    ratio: Graded | None

    @property
    def edges(self) -> Floats:
        """Edges of panels on which a rule attains its order."""
        return self.log.edges

    def __call__(self, gamma: Floats) -> tuple[Floats, Floats]:
        """The density, and a bound on its relative error."""
        p = np.exp(self.log(gamma))
        return p if self.ratio is None else p * self.ratio(gamma), self.log.tail(gamma)


@lru_cache(maxsize=256)
def pair_density(context: Context, order: int, factors: Factors) -> Density:
    """The table by rules for losses of a given order; of order `FINE`, with errors, for that order and all higher ones.

    Cached, because all laws share it.
    """
    d, effect, fine = context.d, counted(2, context, factors), order >= FINE
    inner, size = (12, 18) if fine else (order // 3 + 3, order + 2)
    x, rules = np.append(chebyshev_points(size), [CHECK] * fine), cache(partial(Between, effect))

    def at(gamma: Floats, order: int) -> Floats:
        between, flat = rules(order, gamma.ndim > 1), gamma.ravel()
        densities = [between(flat[i : i + TOGETHER]) for i in range(0, flat.size, TOGETHER)]
        rows = np.reshape(np.concatenate(densities, axis=1), (-1, *gamma.shape))
        rows[0] = np.maximum(rows[0], TINY)
        return rows

    edges, total = edges_of(d, context.w, context.high, effect.farthest), 0.0
    parts: list[tuple[Floats, Floats, float]] = []
    waiting = np.stack([edges[:-1], edges[1:]], axis=1)
    while waiting.size:
        width = np.diff(waiting)[:, 0]
        gamma = waiting[:, :1] + width[:, None] * (x + 1) / 2
        densities = at(gamma, inner)
        values = np.stack([np.log(densities[0]), *densities[1:] / densities[0]])[:, :, :size]
        coefficients = np.swapaxes(values @ to_coefficients(size).T, 0, 1)
        rough, unresolved = np.zeros((2, len(waiting)))
        if fine:
            # compare the table with its rule at one more point of every panel, and that with a finer rule, which makes
            # no table of means over phi
            log_density = np.log(densities[0, :, -1])
            rough = SAFETY * np.abs(np.log(at(gamma[:, -1], inner + FINER)[0]) - log_density)
            unresolved = SAFETY * np.abs(chebyshev.chebval(CHECK, coefficients[:, 0].T) - log_density)
        share = np.mean(densities[0] * np.sin(gamma) ** (d - 2) * gamma, axis=1) * width
        total = total or float(np.sum(share))
        wide = (share * (rough + unresolved) > SETTLED * total) & (width > 1e-3 * waiting[:, 1])
        parts += zip(waiting[~wide], coefficients[~wide], (rough + unresolved)[~wide], strict=True)
        if np.any(share * rough > SETTLED * total) and inner < 30:
            inner += FINER
        low, high = waiting[wide].T
        waiting = np.reshape(np.stack([low, (low + high) / 2, (low + high) / 2, high], axis=1), (-1, 2))
    parts.sort(key=lambda part: part[0][0])
    ends, rows, off = (np.array(column) for column in zip(*parts, strict=True))
    edges = np.append(ends[:, 0], ends[-1, 1])
    tables = [Graded(edges, row.T, off) for row in np.swapaxes(rows, 0, 1)]
    return Density(tables[0], None if factors is powers else tables[1])


def edges_of(d: int, w: float, high: float, farthest: float) -> Floats:
    """Edges of panels of the angle between two tokens, of which one has a deficit up to `farthest`."""
    # if windows hold many tokens, the sum of two equal deficits extends hardly beyond the range of one
    far = min(2 * float(angle_at(farthest if high > 1 else 0.55 * farthest, w)), math.pi)
    # p is singular near +-i scale; without angles near 0 that have a share below 1e-16, as it peaks beyond far / 5
    scale = 1 / (w * math.sin(min(float(angle_at(farthest, w)), math.pi / 2)))
    first = 0.2 * far * 1e-16 ** (1 / (d - 1))
    edges = [first if first > scale else 0.0]
    while edges[-1] < far:
        near = min(2.0, 8 / math.sqrt(d)) * math.hypot(scale, edges[-1])  # 8 deviations of a coordinate on the sphere
        edges.append(min(edges[-1] + min(near, far / 5), far))
    return np.array(edges)


@dataclass(frozen=True)
class Between:
    """Means over the query for two tokens at a given angle from each other, by rules of one order."""

    others: Counted
    order: int
    tabulated: bool  # use a table of the means over phi, where windows are narrow

    def __call__(self, gamma: Floats) -> Floats:
        """E_x [g g' / (g + g')^2 Q], and that with the ratio as a factor if there is one: (1 or 2, gamma)."""
        d, w = self.others.d, self.others.w
        edges = self._edges(gamma)
        row, psi, weight = split_rule(edges, np.zeros(edges.shape, dtype=bool), self.order)
        z = w * np.sin(psi) * np.sin(gamma / 2)[row]
        fold = z + np.log1p(np.exp(-2 * z))  # log(2 cosh z)
        cosine = np.cos(gamma / 2)[row]
        start = w * (versine(gamma / 2)[row] + cosine * versine(psi)) - fold
        span = w * cosine * np.cos(psi)
        inner = (self._by_table if self.tabulated else self._over_phi)(start, span)
        # factor 2: psi and -psi
        weight = 2 * weight * np.cos(psi) ** (d - 2) / half_beta(d - 1) * np.exp(-2 * fold)
        return np.stack([np.bincount(row, weight * means, minlength=gamma.size) for means in inner])

    def _edges(self, gamma: Floats) -> Floats:
        """Edges for psi in [0, pi/2], (gamma, edge): psi at which z, or Q's argument at phi = 0, is at a panel end."""
        d, w, panels = self.others.d, self.others.w, self.others.panels
        top = panels[-1]
        half = gamma[:, None] / 2
        lever, span = np.maximum(w * np.sin(half), TINY), np.maximum(w * np.cos(half), TINY)
        # cosh z changes from a parabola to an exponential, which then rises over nine digits
        turned = np.arcsin(np.minimum(np.array([1.5, 4.0, 9.0, DROP]) / lever, 1.0))
        nearest = 2 * np.arcsin(np.sqrt(np.clip((panels - w * versine(half)) / (2 * span), 0, 0.5)))
        end = np.maximum(
            np.arcsin(np.minimum((DROP + math.log(2)) / lever, 1.0)),
            2 * np.arcsin(np.sqrt(np.minimum(DROP / (2 * span), 0.5))),
        )
        # bound on the growth of Q as its argument falls
        usual = np.clip(w * versine(half), self.others.mode, top)
        growth = self.others.log_q(panels[:1]) - self.others.log_q(usual)
        end = np.minimum(end, np.arcsin(np.minimum((DROP + math.log(2) + np.maximum(growth, 0) / 2) / lever, 1.0)))
        # where the nearer token's deficit is a unit beyond the range of Q's argument
        end = np.minimum(end, half + angle_at(min(top + 1, 2 * w), w))
        edges = [0 * half, turned, nearest, end]
        if d > LARGE:
            edges.append(np.broadcast_to(np.array(CONCENTRATION) / math.sqrt(d), (gamma.size, len(CONCENTRATION))))
            end = np.minimum(end, CONCENTRATION[-1] / math.sqrt(d - 2))
        return np.minimum(np.concatenate(edges, axis=1), np.minimum(end, math.pi / 2))

    @cached_property
    def _by_table(self) -> Callable[[Floats, Floats], Floats]:
        """`_over_phi` by a table where windows are narrow, several times faster for hundreds of gamma.

        With start = w - span - fold, fold = log(2 cosh z), a mean is span^{-(d-2)/2} times a function of start that
        hardly depends on fold: a polynomial of low degree in fold gives its logarithm to rounding.
        """
        d, w, (first, before, end) = self.others.d, self.others.w, self.others.panels[[0, -2, -1]].tolist()
        growth = self.others.log_q(np.array([first])) - self.others.log_q(np.array([end]))
        half = (DROP + math.log(2) + max(float(growth[0]), 0.0) / 2) / 2  # of the range of fold, see `_edges`
        distance = (w - end - math.log(2)) / half - 1  # from its middle to span = 0, where the logarithm is singular
        if d == 2 or distance < 4 or before <= 0 or self.others.ratio is not None:
            return self._over_phi
        size, grading = math.ceil(-math.log(EXACT) / math.acosh(distance)), LogGrading(d, w, Q_SHARE)
        if size * grading.panels(-math.log(2), end, 1.0).size > MOST_COLUMNS:
            return self._over_phi
        fold = math.log(2) + half * (1 + chebyshev_points(size)[:, None])

        def rows(start: Floats) -> Floats:
            span = w - start - fold
            means = self._over_phi(np.tile(start, size), span.ravel()).reshape(span.shape)
            return to_coefficients(size) @ np.log(np.maximum(means, TINY) * half_power(span / w, d - 2))

        # at the end the logarithm is singular, so a panel there is short: in it the mean is far below rounding
        ends = (before, (before + end) / 2, (before + 3 * end) / 4, end)
        tables = Graded.of(rows, grading, -math.log(2) - 1e-9, *ends)
        columns = np.stack([table.coefficients for table in tables], axis=-1)

        def means(start: Floats, span: Floats) -> Floats:
            part, x = tables[0].place(start)
            degrees = chebyshev_values((w - start - span - math.log(2)) / half - 1, size)
            logs = np.einsum("pk,kp->p", clenshaw(columns, part, x[:, None]), degrees)
            return np.exp(logs)[None] / half_power(span / w, d - 2)

        return means

    def _over_phi(self, start: Floats, span: Floats) -> Floats:
        """The means of all pairs, `ROWS` at a time."""
        blocks = (slice(i, i + ROWS) for i in range(0, start.size, ROWS))
        return np.concatenate([self._means(start[block], span[block]) for block in blocks], axis=1)

    def _means(self, start: Floats, span: Floats) -> Floats:
        """Means of Q, and of Q times the ratio, at start + span (1 - cos(phi)): (1 or 2, pair).

        Panels far from both ends of the argument's range have the same nodes for all pairs. Next to the ends the rules
        are in phi, in which the density has no singularity.
        """
        d, panels, last = self.others.d, self.others.panels, start + 2 * span
        if d == 2:
            return np.asarray(np.mean(self.others(np.stack([start, last])), axis=1))
        # the panels from `first` to before `end` are at least half a panel from either end
        middles, count = (panels[:-1] + panels[1:]) / 2, panels.size - 1
        before = start < panels[0] - (panels[1] - panels[0]) / 2
        first = np.where(before, 0, np.minimum(1 + np.searchsorted(middles, start), count))
        end = np.where(last > panels[-1] + (panels[-1] - panels[-2]) / 2, count, np.searchsorted(middles, last) - 1)
        inside = end > first
        top = np.minimum(last, panels[-1])
        inner_start = np.minimum(np.where(inside, panels[first], start + span), top)
        inner_end = np.where(inside, panels[end], inner_start)
        within = (np.arange(count) >= first[:, None]) & (np.arange(count) < end[:, None])
        row, panel = np.nonzero(within)
        nodes, weighted = self._nodes
        x, gauss = plain_rule(self.order + MORE)
        spend(row.size * self.order + 2 * start.size * x.size, PAIR, "the angle between two tokens")
        share = (nodes[panel] - start[row, None]) / (2 * span[row, None])
        density = half_power(4 * share * (1 - share), d - 4) / span[row, None]
        means = [np.bincount(row, np.sum(density * q[panel], axis=1), minlength=start.size) for q in weighted]
        result = np.stack(means).astype(float)
        for ends in ((start, inner_start), (inner_end, top)):
            phi = [
                2 * np.arctan2(*(np.sqrt(np.maximum(part, 0)) for part in (bounds - start, last - bounds)))
                for bounds in ends
            ]
            pairs = np.flatnonzero(phi[1] - phi[0] > 1e-15)
            width = (phi[1] - phi[0])[pairs]
            tangent = np.tan((phi[0][pairs, None] + width[:, None] * x) / 2)
            part = 1 / (1 + tangent * tangent)
            values = self.others(start[pairs, None] + 2 * span[pairs, None] * (tangent * tangent * part))
            result[:, pairs] += width * ((values * integer_power(2 * tangent * part, d - 3)) @ gauss)
        return result / half_beta(d - 2)

    @cached_property
    def _nodes(self) -> tuple[Floats, Floats]:
        """Nodes on every panel, (panel, node); Q times the weights; and Q times weights and ratio."""
        x, gauss = plain_rule(self.order)
        panels = self.others.panels
        width = np.diff(panels)[:, None]
        nodes = panels[:-1, None] + width * x
        return nodes, self.others(nodes) * width * gauss
