r"""Variograms that need no averages: of (z)_+ in closed form, and of fields from their covariance."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import EPS, Floats
from lipverify.foundation.sphere import versine
from lipverify.loss.exact.variograms.pieces import Source
from lipverify.loss.exact.variograms.table import ANALYTIC, Variogram, root_edges, share_of, tabulated
from lipverify.problem.fields import Variation, variation_of
from lipverify.problem.law import Law

SMALL = 1.0
"""Up to this angle the series is used; beyond it, the difference loses less than a digit."""
CUBIC = [(-1) ** k * 2 * (k + 1) / math.factorial(2 * k + 3) for k in range(9)]
"""sin x - x cos x = x^3 sum_k CUBIC_k x^{2k}, to rounding up to x = SMALL."""


def relu_source(d: int) -> Source:
    """The variogram of (z)_+ for a `tabulated` one."""
    return Source(d, lambda theta, order: relu_variogram(d, theta))


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


def variogram_of_field(law: Law, d: int) -> Variogram:
    """The table of a law given by its covariance; a law given by its spectrum alone is refused."""
    known = variation_of(law)
    if known is None:
        raise InvalidInput(f"law = {law!r}: the ridge route needs links, a kernel or a variogram; use route='zonal'.")
    return _table(known, d)


def _table(known: Variation, d: int) -> Variogram:
    """The best table: smooth at 0, with a cusp, or a power at 0; from values taken as exact or as noisy."""

    def at(theta: Floats, order: int) -> Floats:
        return np.asarray(known.of_distance(2 * np.sin(theta / 2)), dtype=float)

    tables = []
    for noise in (known.rounding,) if known.rounding else (0.0, EPS * known.size):
        source = Source(d, at, noise=noise)
        for power in (2, 1):
            tables.append(tabulated(source, power, [0.0, np.pi]))
            if share_of(tables[-1]) <= 1e-12:
                return tables[-1]
    best = min(tables, key=share_of)
    if share_of(best) <= ANALYTIC or known.rounding:
        return best
    rooted = tabulated(replace(source, noise=0.0, roots=True), 2, root_edges())
    return min(rooted, best, key=share_of)
