r"""The mean product of two increments of f, given both tokens' angles from the query.

    G(theta, theta') = E (f(x_i) - f(x)) (f(x_j) - f(x)) = (V(theta) + V(theta') - M(theta, theta')) / 2,
    M = E_beta V(theta_ij),  sin^2(theta_ij / 2) = sin^2((theta - theta') / 2) + sin(theta) sin(theta') sin^2(beta / 2).

M knows nothing of windows and contexts. Where V is smooth inside (0, pi) it is tabulated once for a law and a
dimension, in theta' >= theta and r = tan(theta/2) / tan(theta'/2): analytic for r < 1, a power or a logarithm at r = 1.
As both tokens may be replaced by their antipodes, theta + theta' <= pi; beyond theta' = pi/2 the ratio is that to
pi - theta'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.polynomial import chebyshev

from lipverify.foundation.arrays import Floats
from lipverify.foundation.gammas import half_beta
from lipverify.loss.exact.ridge.tokens import gauss_rule, plain_rule
from lipverify.loss.exact.ridge.variogram import CHECKS, ROUNDING, SAFETY, TINY, Variogram, scale

SHARPNESS, TAIL = 1.8, 30.0
"""Error exponent of the rule in z over its order, and that of what is beyond its end."""
PANEL = 3.0
"""Of a rule in z that is split at crossings."""
TANH = 1 - 1e-15
ORDER, FINER = 22, 30
"""Of the rules over beta behind a table, and behind the values that it is compared with."""
ACROSS, ALONG = 28, 40
"""Coefficients of a cell of the table, in theta' and in the ratio."""
SETTLED, KNOWN = 1e-14, 1e-11
"""A cell whose last coefficients are larger than the first is split; a table not known to the second is none."""
MOST_SPLITS = 4
ENDS, DIAGONAL = np.array([0.003, 0.03, 0.2, 0.45, 0.7, 0.93, 0.98]), np.array([0.997, 0.9999])
"""Where in a cell it is compared with values too, beside `CHECKS`; the last in y alone."""


@dataclass(frozen=True)
class Cell:
    """M / scale for theta' in [low, high]: a polynomial in x and y, shape (ACROSS, ALONG).

    theta' = low + (high - low) sin^2(pi x / 2) and r = 1 - (1 - y)^flat, which turns what happens at their ends into
    high powers.
    """

    low: float
    high: float
    flat: int
    coefficients: Floats

    def angles(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Both angles, (2, point), and the sine of half their difference, at every (x, y)."""
        far = self.low + (self.high - self.low) * np.sin(math.pi * x / 2) ** 2
        folded = np.minimum(far, math.pi - far)
        apart = (1 - y) ** self.flat
        near = 2 * np.arctan((1 - apart) * np.tan(folded / 2))
        # sin(a - b) = (1 - r) sin(a) cos(b)
        sine = np.where(far == folded, apart * np.sin(folded / 2) * np.cos(near / 2), np.sin((far - near) / 2))
        return np.stack([near, far]), np.asarray(sine)

    def __call__(self, far: Floats, apart: Floats) -> Floats:
        """M / scale at theta' and 1 - r."""
        y = 1 - apart ** (1 / self.flat)
        x = 2 / math.pi * np.arcsin(np.sqrt(np.clip((far - self.low) / (self.high - self.low), 0, 1)))
        across = chebyshev.chebvander(2 * x - 1, self.coefficients.shape[0] - 1)
        along = chebyshev.chebvander(2 * y - 1, self.coefficients.shape[1] - 1)
        return np.asarray(np.einsum("pk,pk->p", across @ self.coefficients, along))

    @property
    def tail(self) -> float:
        """Its last coefficients, relative to the largest value: what is left out is about as large."""
        last = np.max(np.abs(self.coefficients[-3:])), np.max(np.abs(self.coefficients[:, -3:]))
        return float(max(last) / max(np.max(np.abs(self.coefficients)), TINY))

    @property
    def split(self) -> float:
        """Where to split it: near pi/2, where two tokens may be the same or antipodes, the closer to it."""
        share = {self.high: 7 / 8, self.low: 1 / 8}.get(math.pi / 2, 1 / 2)
        return self.low + (self.high - self.low) * share


@dataclass(frozen=True)
class Products:
    """The mean products of two increments of a law, from its variogram."""

    variogram: Variogram

    def __call__(self, both: Floats, sine: Floats, order: int) -> tuple[Floats, Floats]:
        """G for tokens at angles (2, pair), near <= far, from the query, and a bound on its error.

        `sine` is that of half their difference. The part a (1 - t) of V has G = a (1 - t) (1 - t') / 2 without a
        difference; what is left, R, is small as theta^3 or less, where the difference loses nothing.
        """
        variogram = self.variogram
        rest = variogram.beyond_linear(both)
        mean, off = self.mean(both, sine, order)
        nears = scale(2, both)
        value = variogram.slope / 2 * nears[0] * nears[1] + (rest[0] + rest[1] - mean) / 2
        if variogram.roots:
            slack = variogram.gap * (rest[0] + rest[1] + mean) / 2
        elif variogram.power == 1:
            slack = variogram.gap * np.sum(scale(1, both), axis=0)
        else:
            slack = variogram.gap / 2 * nears[0] * nears[1]
            slack = slack + variogram.rise_gap * np.sum(both, axis=0) * np.sum(nears, axis=0)
        return value, np.asarray(slack + off / 2)

    def turns(self, order: int) -> int:
        """About how many values a mean over beta takes."""
        return 1 if self.variogram.d == 2 or self._table is not None else 4 * order

    def mean(self, both: Floats, sine: Floats, order: int) -> tuple[Floats, Floats | float]:
        """E_beta R(theta_ij), and what a table leaves out of it."""
        d = self.variogram.d
        if d == 2:
            apart, together = 2 * np.arcsin(sine), np.sum(both, axis=0)
            ends = (apart, np.minimum(together, 2 * np.pi - together))
            return (self.variogram.beyond_linear(ends[0]) + self.variogram.beyond_linear(ends[1])) / 2, 0.0
        if self._table is None:
            return self.turned(both, sine, order), 0.0
        cells, gap = self._table
        far, apart = folded(both, sine)
        which = np.searchsorted([cell.high for cell in cells[:-1]], far)
        values = np.empty_like(far)
        for i in range(len(cells)):
            here = np.flatnonzero(which == i)
            if here.size:
                values[here] = cells[i](far[here], apart[here])
        size = self._size(far)
        # angles near pi are known to an eps, whatever is left of them
        return values * size, gap * size + ROUNDING * self._size(both[1])

    def turned(self, both: Floats, sine: Floats, order: int) -> Floats:
        """E_beta R(theta_ij) by a rule over beta."""
        d, rest = self.variogram.d, self.variogram.beyond_linear
        lever = np.prod(np.sin(both), axis=0)
        ends = np.stack([2 * np.arcsin(sine), np.pi - np.abs(np.pi - np.sum(both, axis=0))])
        ends = rest(np.minimum(ends, np.pi))
        crossings = [
            np.arctanh(np.clip(2 * (math.sin(m / 2) ** 2 - sine**2) / np.maximum(lever, 1e-300) - 1, -TANH, TANH))
            for m in self.variogram.meetings
            if m < math.pi
        ]
        z, weight = turns(d, order, crossings, self.variogram.power)
        share, other = 1 / (1 + np.exp(-2 * z)), 1 / (1 + np.exp(2 * z))  # sin^2(beta/2), cos^2(beta/2)
        squared = sine[..., None] ** 2 + lever[..., None] * share
        left = np.cos(np.sum(both, axis=0) / 2)[..., None] ** 2 + lever[..., None] * other
        angle = 2 * np.arctan2(np.sqrt(squared), np.sqrt(left))
        # less what is known at both ends, of which the mean is half of the sum
        between = rest(angle) - ends[0][..., None] * other - ends[1][..., None] * share
        density = np.cosh(z) ** (2 - d) / half_beta(d - 2)
        return np.asarray((ends[0] + ends[1]) / 2 + np.sum(between * (density * weight), axis=-1))

    @cached_property
    def _table(self) -> tuple[list[Cell], float] | None:
        """Cells in ascending order, and what E_beta R over `_size` is known to; None where they do not settle."""
        variogram = self.variogram
        if variogram.roots or any(m < math.pi for m in variogram.meetings):
            return None
        edges = sorted({0.0, math.pi / 2, math.pi, *(piece.low for piece in variogram.pieces)})
        waiting, cells = list(pairwise(edges)), []
        for depth in range(MOST_SPLITS + 1):
            found = [self._cell(low, high) for low, high in waiting]
            settled = [cell.tail <= SETTLED or depth == MOST_SPLITS for cell in found]
            cells += [cell for cell, fine in zip(found, settled, strict=True) if fine]
            rough = [cell for cell, fine in zip(found, settled, strict=True) if not fine]
            waiting = [part for cell in rough for part in pairwise((cell.low, cell.split, cell.high))]
        cells.sort(key=lambda cell: cell.low)
        largest = max(float(np.max(np.abs(cell.coefficients))) for cell in cells)
        gap = SAFETY * max(self._off(cell) for cell in cells) + ROUNDING * largest
        return (cells, gap) if gap <= KNOWN * largest else None

    def _cell(self, low: float, high: float) -> Cell:
        """Through the values at Chebyshev points."""
        x, y = ((1 + np.cos(np.pi * (np.arange(size) + 0.5) / size)) / 2 for size in (ACROSS, ALONG))
        empty = Cell(low, high, 2 if self.variogram.power == 2 else 4, np.zeros((1, 1)))
        values = np.reshape(self._values(empty, x, y, ORDER), (ACROSS, ALONG))
        return replace(empty, coefficients=_transform(x) @ values @ _transform(y).T)

    def _off(self, cell: Cell) -> float:
        """The largest difference from values by another rule between the nodes, and the last coefficients."""
        x, y = np.concatenate([CHECKS, ENDS]), np.concatenate([CHECKS, ENDS, DIAGONAL])
        values = self._values(cell, x, y, FINER)
        both, _ = cell.angles(np.repeat(x, y.size), np.tile(y, x.size))
        tail = cell.tail * float(np.max(np.abs(cell.coefficients)))
        return float(np.max(np.abs(cell(both[1], np.tile((1 - y) ** cell.flat, x.size)) - values))) + tail

    def _values(self, cell: Cell, x: Floats, y: Floats, order: int) -> Floats:
        """E_beta R(theta_ij) over its size on the grid of x and y, flat."""
        both, sine = cell.angles(np.repeat(x, y.size), np.tile(y, x.size))
        return self.turned(both, sine, order) / self._size(both[1])

    def _size(self, far: Floats) -> Floats:
        """What E_beta R is a bounded multiple of."""
        return scale(2, far) * far if self.variogram.power == 2 else scale(1, far)


def folded(both: Floats, sine: Floats) -> tuple[Floats, Floats]:
    """theta' and 1 - r for angles (2, pair), or those of their antipodes, such that theta <= theta' <= pi - theta."""
    together = np.sum(both, axis=0)
    near, far = (np.where(together > math.pi, math.pi - both[1 - i], both[i]) for i in range(2))
    # without cancellation
    apart = np.where(far < math.pi / 2, sine / np.sin(far / 2), np.abs(np.cos(together / 2)) / np.cos(far / 2))
    return far, np.clip(apart / np.cos(near / 2), 0, 1)


def turns(d: int, order: int, crossings: list[Floats], power: int) -> tuple[Floats, Floats]:
    """Nodes and weights in z, tan(beta/2) = e^z, of density cosh^{2-d}(z) and at least e^{-power |z|} beside it.

    All singularities of a mean over beta are at |Im z| = pi/2, but for the crossings, where a rule is split.
    """
    end = math.acosh(math.exp(TAIL / (d - 2 + power)))
    if not crossings:
        # the error is e^{-2 pi a / step} cos^{2-d}(a), as on the lines |Im z| = a, at the best a
        a = np.linspace(0.01, 0.99, 99) * math.pi / 2
        step = float(np.max(2 * math.pi * a / (SHARPNESS * order - (d - 2) * np.log(np.cos(a)))))
        z = step * (np.arange(2 * math.ceil(end / step)) + 0.5 - math.ceil(end / step))
        return np.asarray(z), np.full(z.size, float(step))
    panels = 2 * math.ceil(end / PANEL)
    fixed = np.linspace(-end, end, panels + 1)
    stacked = np.stack([np.clip(crossing, -end, end) for crossing in crossings], axis=-1)
    edges = np.concatenate([np.broadcast_to(fixed, (*stacked.shape[:-1], fixed.size)), stacked], axis=-1)
    place = np.argsort(edges, axis=-1)
    edges, beside = np.take_along_axis(edges, place, axis=-1), place > panels
    beside = (beside[..., 1:] | beside[..., :-1])[..., None]
    x, gauss = (np.where(beside, *each) for each in zip(gauss_rule(order), plain_rule(order), strict=True))
    width = np.diff(edges, axis=-1)[..., None]
    shape = (*stacked.shape[:-1], -1)
    return np.reshape(edges[..., :-1, None] + width * x, shape), np.reshape(width * gauss, shape)


def _transform(share: Floats) -> Floats:
    """From values at Chebyshev points, given on [0, 1], to coefficients."""
    transform = 2 / share.size * chebyshev.chebvander(2 * share - 1, share.size - 1).T
    transform[0] /= 2
    return np.asarray(transform)
