r"""Variograms that need no averages: of (z)_+ in closed form, and of fields from their covariance.

From a covariance in double precision, V near theta = 0 has a relative error of rounding over theta^2; there it is
replaced by a polynomial through many values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import EPS, Floats
from lipverify.foundation.sphere import versine
from lipverify.loss.exact.variograms.pieces import OFFSET, TINY, scale
from lipverify.loss.exact.variograms.table import (
    ANALYTIC,
    MOST_PIECES,
    MOST_STRAIGHT,
    SMALLEST,
    Variogram,
    root_edges,
    tabulated,
)
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
    """The table of a law given by its covariance.

    Raises
    ------
    InvalidInput
        If the law is given by its spectrum only.
    """
    known = variation_of(law)
    if known is None:
        raise InvalidInput(f"law = {law!r}: the ridge route needs links, a kernel or a variogram; use route='zonal'.")
    return _table(known, d)


SCALES, GRADED = math.pi * 4.0 ** -np.arange(125), 1e-3
"""Angles at which a variogram is compared with a power, and the scale below which pieces grow from there."""
CLEAR, BENT, POWER, FLAT = (1e-2, 1e-9), 0.2, 1e-9, 1e-3
"""Relative rounding of V up to which its exponent is looked at, for its scale and as a power; the change of the
exponent at a scale of V; its change where V is a power to rounding; and the exponent of a V that does not fall."""


def _table(known: Variation, d: int) -> Variogram:
    """The best table: smooth at 0, with a cusp, or a power at 0; from values taken as exact or as noisy."""
    noises = (known.rounding,) if known.rounding else (0.0, EPS * known.size)
    tables = []
    source = Increments(d, known.of_distance, noises[0])
    exponents = _exponents(source, CLEAR[0])
    if exponents.size and exponents[-1] < FLAT:
        raise OutOfReach(
            f"the variogram is {float(source.at(SCALES[exponents.size :][:1], 0)[0]):.3g} still at the angle "
            f"{SCALES[exponents.size]:.0e}: it falls on a scale that its values do not show; give it as "
            "Zonal(variogram=...), on a larger scale, or use route='zonal'."
        )
    bends = np.flatnonzero(np.abs(exponents - exponents[-1:]) > BENT)
    width = float(SCALES[bends[-1] + 1]) if bends.size else math.pi
    edges = [0.0, math.pi] if width > GRADED else [0.0, *SCALES[bends[-1] + 1 :: -1].tolist()]
    splits, most = tuple(edges[1:-1]), MOST_PIECES if width > GRADED else MOST_STRAIGHT
    for noise in noises:
        source = Increments(d, known.of_distance, noise)
        for power in (2, 1):
            tables.append(tabulated(source, power, edges, most=most, splits=splits))
            if _share(tables[-1]) <= SHARP:
                return tables[-1]
    best = min(tables, key=_share)
    if _share(best) <= ANALYTIC or known.rounding:
        return best
    source = replace(source, noise=0.0)
    exponents = _exponents(source, CLEAR[1])
    drifts = np.flatnonzero(np.abs(np.diff(exponents)) > POWER)
    smallest = min(SMALLEST, float(SCALES[drifts[-1] + 2]) if drifts.size else SMALLEST)
    rooted = tabulated(replace(source, roots=True), 2, root_edges(smallest=smallest), splits=splits)
    return min(rooted, best, key=_share)


def _exponents(source: Increments, clear: float) -> Floats:
    """The exponents of V between `SCALES`, down to the angle at which rounding hides V."""
    theta = SCALES[:, None] * (1 + OFFSET * np.array([-1, 0, 1]))
    with np.errstate(all="ignore"):
        values = np.reshape(source.at(theta.ravel(), 0), theta.shape)
    V, rough = values[:, 1], np.abs(values @ [1.0, -2.0, 1.0]) + source.noise
    if source.noise:
        rough += 2 * EPS * V / scale(2, SCALES)
    hidden = np.flatnonzero(~(rough < clear * V))
    V = V[: hidden[0]] if hidden.size else V
    return np.asarray(np.log(V[:-1] / V[1:]) / math.log(4))


def _share(table: Variogram) -> float:
    """The error of V / F relative to its largest value; for a table of powers, relative to V."""
    return table.gap / (1.0 if table.roots else max(table.largest, TINY))
