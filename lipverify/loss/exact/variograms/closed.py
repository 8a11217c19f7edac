r"""Variograms that need no averages: of (z)_+ in closed form, and of fields from their covariance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import EPS, Floats
from lipverify.foundation.sphere import versine
from lipverify.loss.exact.variograms.pieces import TINY
from lipverify.loss.exact.variograms.table import ANALYTIC, Variogram, root_edges, tabulated
from lipverify.problem.fields import Distances, Variation, variation_of
from lipverify.problem.law import Law

SMALL = 1.0
"""Up to this angle the series is used; beyond it, the difference loses less than a digit."""
CUBIC = [(-1) ** k * 2 * (k + 1) / math.factorial(2 * k + 3) for k in range(9)]
"""sin x - x cos x = x^3 sum_k CUBIC_k x^{2k}, to rounding up to x = SMALL."""


@dataclass(frozen=True)
class Angles:
    """The variogram of (z)_+ by its closed form, for a `tabulated` one."""

    d: int
    roots: ClassVar[bool] = False
    noise: ClassVar[float] = 0.0
    loses: ClassVar[int] = 2

    def at(self, theta: Floats, order: int) -> Floats:
        """V at every angle; the order is ignored, because there is no rule."""
        return relu_variogram(self.d, theta)


def relu_variogram(d: int, theta: Floats) -> Floats:
    """E (f(x_i) - f(x))^2 of (z)_+ with two amplitudes: half of the sum of those of z and of |z|."""
    return versine(theta) / d + absolute_variogram(d, theta) / 2


def absolute_variogram(d: int, theta: Floats) -> Floats:
    """E (|<q, x_i>| - |<q, x>|)^2 = (2/d) (1 - cos th - (2/pi) (sin th - th cos th))."""
    return np.asarray(2 / d * (2 * np.sin(theta / 2) ** 2 - 2 / np.pi * sine_less_cosine(theta)))


def sine_less_cosine(theta: Floats) -> Floats:
    """sin th - th cos th, which is about th^3 / 3 near 0, by its series where the difference cancels."""
    small = np.minimum(theta, SMALL)
    series = small**3 * np.polynomial.polynomial.polyval(small**2, CUBIC)
    return np.where(theta <= SMALL, series, np.sin(theta) - theta * np.cos(theta))


SHARP = 1e-12
"""Error relative to the largest value below which a table is accepted without trying another form."""


@dataclass(frozen=True)
class Increments:
    """V as a function of the distance 2 sin(theta / 2), for a `tabulated` variogram."""

    d: int
    variation: Distances
    noise: float
    roots: bool = False
    loses: ClassVar[int] = 2

    def at(self, theta: Floats, order: int) -> Floats:
        """V at every angle; the order is ignored, because there is no rule."""
        return np.asarray(self.variation(2 * np.sin(theta / 2)), dtype=float)


def variogram_of_field(law: Law, d: int) -> Variogram:
    """The table of a law given by its covariance; a law given by its spectrum alone is refused."""
    known = variation_of(law)
    if known is None:
        raise InvalidInput(f"law = {law!r}: the ridge route needs links, a kernel or a variogram; use route='zonal'.")
    return _table(known, d)


def _table(known: Variation, d: int) -> Variogram:
    """The best table: smooth at 0, with a cusp, or a power at 0; from values taken as exact or as noisy."""
    noises = (known.rounding,) if known.rounding else (0.0, EPS * known.size)
    tables = []
    for noise in noises:
        source = Increments(d, known.of_distance, noise)
        for power in (2, 1):
            tables.append(tabulated(source, power, [0.0, np.pi]))
            if _share(tables[-1]) <= SHARP:
                return tables[-1]
    best = min(tables, key=_share)
    if _share(best) <= ANALYTIC or known.rounding:
        return best
    rooted = tabulated(replace(source, noise=0.0, roots=True), 2, root_edges())
    return min(rooted, best, key=_share)


def _share(table: Variogram) -> float:
    """The error of V / F relative to its largest value; for a table of powers, relative to V."""
    return table.gap / (1.0 if table.roots else max(table.largest, TINY))
