r"""The mean product of two increments of f, given both tokens' angles from the query.

    G(theta, theta') = E (f(x_i) - f(x)) (f(x_j) - f(x)) = (V(theta) + V(theta') - M(theta, theta')) / 2,
    M = E_beta V(theta_ij),  sin^2(theta_ij / 2) = sin^2((theta - theta') / 2) + sin(theta) sin(theta') sin^2(beta / 2).

M does not depend on n or w. It is tabulated once for a law and a dimension, as a function of the smallest and largest
angle between two tokens, A = theta' - theta and B = min(theta + theta', 2 pi - theta - theta'); each cell is tabulated
on first use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.quadrature.rules import chebyshev_points, to_coefficients
from lipverify.loss.exact.variograms.cells import Cell, Cells, Fit
from lipverify.loss.exact.variograms.pieces import ROUNDING, SAFETY, scale
from lipverify.loss.exact.variograms.table import CHECKS, Variogram
from lipverify.loss.exact.variograms.turns import mean_over_turns

ORDER, FINER = 22, 30
"""Orders of the rules over beta for the values of a table, and for the values that test it."""
SIZES = (20, 18), (28, 40)
"""Numbers of coefficients of a cell in x and y, tried in order until they settle."""
SETTLED, KNOWN = 4e-14, 1e-11
"""A cell whose last coefficients exceed the share SETTLED of its largest is split; a table with a relative error above
KNOWN is not used."""
MOST_SPLITS = 4
"""Most halvings of a cell; one that has not settled then is used with its error, or not at all."""
BETWEEN = np.array([0.003, 0.03, *CHECKS, 0.93, 0.997])
"""Points of a cell at which it is compared with values by another rule."""


@dataclass(frozen=True)
class Products:
    """The mean products of two increments of a law, computed from its variogram."""

    variogram: Variogram

    def __call__(
        self, near: Floats, which: NDArray[np.intp], both: Floats, sine: Floats, order: int
    ) -> tuple[Floats, Floats]:
        """G for tokens at angles (2, pair), near <= far, from the query, and a bound on its error.

        The nearer angle of a pair is `near[which]`, and `sine` is the sine of half of the difference. The part
        a (1 - t) of V has G = a (1 - t) (1 - t') / 2, without a difference; the rest, R, is of order theta^3 or
        smaller, and its difference loses no digits.
        """
        variogram = self.variogram
        rest, nears = (
            (function(near)[which], function(both[1])) for function in (variogram.beyond_linear, partial(scale, 2))
        )
        mean, off = self.mean(both, sine, order)
        value = variogram.slope / 2 * nears[0] * nears[1] + (rest[0] + rest[1] - mean) / 2
        if variogram.roots:
            slack = variogram.gap * (rest[0] + rest[1] + mean) / 2
        elif variogram.power == 1:
            slack = variogram.gap * np.sum(scale(1, both), axis=0)
        else:
            slack = variogram.gap / 2 * nears[0] * nears[1]
            slack = slack + variogram.rest_gap(np.sum(both, axis=0)) * (nears[0] + nears[1])
        return value, np.asarray(slack + off / 2)

    def turns(self, order: int) -> int:
        """Approximate number of values for a mean over beta."""
        return 4 * order if self._cells is None and self.variogram.d > 2 else 1

    def mean(self, both: Floats, sine: Floats, order: int) -> tuple[Floats, Floats | float]:
        """E_beta R(theta_ij), and the truncation error of its table."""
        apart, together = 2 * np.arcsin(sine), np.sum(both, axis=0)
        together = np.minimum(together, 2 * math.pi - together)
        if self.variogram.d == 2:
            return (self.variogram.beyond_linear(apart) + self.variogram.beyond_linear(together)) / 2, 0.0
        if self._cells is None:
            return mean_over_turns(self.variogram, apart, together, order), 0.0
        value, gap = np.empty_like(apart), np.empty_like(apart)
        which = self._cells.which(apart, together)
        for number in np.unique(which).tolist():
            pairs = np.flatnonzero(which == number)
            value[pairs], gap[pairs] = self._in_cell(number, apart[pairs], together[pairs], order)
        size = self._size(together)
        # angles near pi have an absolute error of eps
        return value * size, gap * size + ROUNDING * self.variogram.largest * self._size(both[1])

    def _in_cell(self, number: int, apart: Floats, together: Floats, order: int) -> tuple[Floats, Floats]:
        """The mean divided by its size in one cell, and the truncation error; by the rule if there is no table."""
        assert self._cells is not None
        x, y = self._cells[number].places(apart, together)
        value, gap = np.empty_like(x), np.empty_like(x)
        fits = self._fits(number)
        which = np.searchsorted([fit.cell.high for fit in fits[:-1]], x)
        for i, fit in enumerate(fits):
            points = np.flatnonzero(which == i)
            if not points.size:
                continue
            if fit.gap <= self._enough(fit, KNOWN):
                value[points], gap[points] = fit(x[points], y[points]), fit.gap
            else:
                mean = mean_over_turns(self.variogram, apart[points], together[points], order)
                value[points], gap[points] = mean / self._size(together[points]), 0.0
        return value, gap

    @cached_property
    def _cells(self) -> Cells | None:
        """The cells on which the mean over beta is tabulated; none for a law with roots."""
        if self.variogram.roots:
            return None
        inner = [m for m in self.variogram.meetings if m < math.pi]
        return Cells((0.0, *inner, math.pi), 2 if self.variogram.power == 2 else 4)

    @cached_property
    def _found(self) -> dict[int, list[Fit]]:
        return {}

    def _fits(self, number: int) -> list[Fit]:
        """The polynomials on the parts of a cell, computed on first use."""
        if number not in self._found:
            assert self._cells is not None
            waiting, fits = [self._cells[number]], []
            for depth in range(MOST_SPLITS + 1):
                polynomials = [self._fit(cell) for cell in waiting]
                settled = [fit.tail <= self._enough(fit, SETTLED) or depth == MOST_SPLITS for fit in polynomials]
                fits += [self._checked(fit) for fit, fine in zip(polynomials, settled, strict=True) if fine]
                rough = [fit.cell for fit, fine in zip(polynomials, settled, strict=True) if not fine]
                waiting = [
                    replace(cell, low=low, high=high)
                    for cell in rough
                    for low, high in pairwise((cell.low, (cell.low + cell.high) / 2, cell.high))
                ]
            self._found[number] = sorted(fits, key=lambda fit: fit.cell.low)
        return self._found[number]

    def _fit(self, cell: Cell) -> Fit:
        """The polynomial through values at Chebyshev points."""
        for sizes in SIZES:
            x, y = ((1 + chebyshev_points(size)) / 2 for size in sizes)
            values = np.reshape(self._values(cell, x, y, ORDER)[0], sizes)
            fit = Fit(cell, to_coefficients(sizes[0]) @ values @ to_coefficients(sizes[1]).T)
            if fit.tail <= self._enough(fit, SETTLED):
                break
        return fit

    def _enough(self, fit: Fit, share: float) -> float:
        """The tolerance: a share of the largest value, or the error of R over its size, which is counted anyway."""
        corners = np.repeat([fit.cell.low, fit.cell.high], 2), np.tile([0.0, 1.0], 2)
        farthest = np.asarray(np.max(fit.cell.angles(*corners)))
        known = self.variogram.rest_gap(farthest) * scale(self.variogram.power, farthest) / self._size(farthest)
        return max(share * fit.largest, float(known))

    def _checked(self, fit: Fit) -> Fit:
        """The polynomial with its gap: the largest difference from another rule's values, plus last coefficients."""
        values, (x, y) = self._values(fit.cell, BETWEEN, BETWEEN, FINER)
        trimmed = fit.trimmed()
        off = float(np.max(np.abs(trimmed(x, y) - values)))
        return replace(trimmed, gap=SAFETY * (off + fit.tail) + ROUNDING * fit.largest)

    def _values(self, cell: Cell, x: Floats, y: Floats, order: int) -> tuple[Floats, tuple[Floats, Floats]]:
        """E_beta R(theta_ij) over its size on the grid of x, as shares of the cell, and y, flat; the coordinates."""
        x, y = np.repeat(cell.low + (cell.high - cell.low) * x, y.size), np.tile(y, x.size)
        apart, together = cell.angles(x, y)
        return mean_over_turns(self.variogram, apart, together, order) / self._size(together), (x, y)

    def _size(self, together: Floats) -> Floats:
        """The scale of E_beta R: a function of which E_beta R is a bounded multiple."""
        return scale(self.variogram.power, together) * (together if self.variogram.power == 2 else 1.0)
