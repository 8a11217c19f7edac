r"""Variograms that need no averages: of (z)_+ in closed form, and of fields from their covariance."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import EPS, Floats
from lipverify.foundation.harmonics import Spectrum, deficits
from lipverify.foundation.sphere import versine
from lipverify.loss.exact.quadrature import on_panels, plain_rule
from lipverify.loss.exact.variograms.pieces import TINY, Source, scale
from lipverify.loss.exact.variograms.planes import Link
from lipverify.loss.exact.variograms.table import ANALYTIC, SHORT, SMALLEST, Variogram, root_edges, share_of, tabulated
from lipverify.problem.fields import Variation, variation_of
from lipverify.problem.law import Law

QUIET = 32
"""Harmonics one after the other that are rounding, after which no more are computed; what is missed is in the tail."""
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


def harmonics_of(link: Link, pieces: Floats, d: int, amplitude: float, most: int) -> Spectrum | None:
    """The harmonics of a smooth link above rounding, with errors by a second rule; None if there are more than `most`.

    Between the ends of the `pieces` the link is resolved by few nodes, so that no feature falls between those.
    k_l = N_l (E h(z) P_l(z))^2 times the variance of the amplitude. The zonal route has its own, with which this is
    compared.
    """
    rules = []
    edges = np.unique([*np.linspace(0, math.pi, most // 4 + 16), *np.arccos(pieces.clip(-1, 1))])
    for order in (24, 17):
        angle, weight = on_panels(edges, plain_rule(order))
        weight = weight * np.sin(angle) ** (d - 2)
        values = np.asarray(link(np.cos(angle)), dtype=float)
        mass = weight / np.sum(weight)
        mean = float(np.sum(mass * values))
        noise = 32 * EPS * float(np.sum(mass * (np.abs(values) + abs(mean))))
        rules.append((versine(angle), mass * (values - mean), noise, float(np.sum(mass * (values - mean) ** 2))))
    (_, first, noise, variance), (_, second, _, again) = rules
    k, errors, ways, quiet = [], [], float(d), 0
    for degree, near in enumerate(zip(*(deficits(d, rule[0]) for rule in rules), strict=True), 1):
        # the mean is taken off, so that 1 - P_l serves as well as P_l
        average, other = (float(np.sum(part * D)) for part, D in zip((first, second), near, strict=True))
        off = abs(average - other) + noise
        k.append(ways * average**2)
        errors.append(ways * off * (2 * abs(average) + off))
        quiet = quiet + 1 if abs(average) <= off else 0
        if quiet == QUIET:
            break
        if degree == most:
            return None
        ways *= (2 * degree + d) / (2 * degree + d - 2) * (degree + d - 2) / (degree + 1)
    known, error = (amplitude * np.array(column[:-QUIET] or column[:1]) for column in (k, errors))
    off = amplitude * (abs(variance - again) + 64 * EPS * variance) + float(np.sum(error))
    return Spectrum(d, known, error, max(amplitude * variance - float(np.sum(known)), 0.0), off)


def variogram_of_spectrum(spectrum: Spectrum) -> Variogram:
    """The table of V = 2 sum_l k_l (1 - P_l) where all harmonics above rounding are known, with the errors of k_l."""
    d, degree = spectrum.d, np.arange(1.0, spectrum.k.size + 1)

    def at(theta: Floats, order: int) -> Floats:
        rows = zip(spectrum.k.tolist(), deficits(d, versine(theta)), strict=False)
        return sum((2 * k * row for k, row in rows), np.zeros_like(theta))

    table = tabulated(Source(d, at, loses=0), 2, [0.0, math.pi], most=1000, depth=16)
    # 1 - P_l = slope (1 - t) - at most half of bend (1 - t)^2, and at most 2
    slope = degree * (degree + d - 2) / (d - 1)
    bend = slope * (degree - 1) * (degree + d - 1) / (d + 1)
    off = np.append(2 * spectrum.error, 4 * spectrum.tail_error + 2 * spectrum.tail)
    slope, bend = np.append(slope, slope[-1]), np.append(bend, bend[-1])
    gap, edges = float(off @ slope), tuple(piece.low for piece in table.pieces[1:])
    gaps = np.minimum(gap, 2 * np.sum(off) / np.maximum(versine(np.array([0.0, *edges])), TINY))
    pieces = tuple(
        replace(piece, gap=piece.gap + more) for piece, more in zip(table.pieces, gaps.tolist(), strict=True)
    )
    rise_gap = table.rise_gap + float(off @ np.sqrt(slope * bend))
    return replace(table, gap=table.gap + gap, rise_gap=rise_gap, pieces=pieces, splits=edges)


def variogram_of_field(law: Law, d: int) -> Variogram:
    """The table of a law given by its covariance; a law given by its spectrum alone is refused."""
    known = variation_of(law)
    if known is None:
        raise InvalidInput(f"law = {law!r}: the ridge route needs links, a kernel or a variogram; use route='zonal'.")
    return _table(known, d)


SCALES = np.asarray(math.pi * 4.0 ** -np.arange(125), dtype=np.float64)
"""Angles at which a variogram is compared with a power."""


def _table(known: Variation, d: int) -> Variogram:
    """The best table: smooth at 0, with a cusp, or a power at 0; from values taken as exact or as noisy."""

    def at(theta: Floats, order: int) -> Floats:
        return np.asarray(known.of_distance(2 * np.sin(theta / 2)), dtype=float)

    tables = []
    noises = (known.rounding,) if known.rounding else (0.0, EPS * known.size)
    source = Source(d, at, noise=noises[0])
    exponents = _exponents(source, 1e-2)
    if exponents.size and exponents[-1] < 1e-3:
        raise OutOfReach(
            f"the variogram is {float(source.at(SCALES[exponents.size :][:1], 0)[0]):.3g} still at the angle "
            f"{SCALES[exponents.size]:.0e}: it falls on a scale that its values do not show; give it as "
            "Zonal(variogram=...), on a larger scale, or use route='zonal'."
        )
    # the exponent changes at a scale of V; below 1e-3 pieces grow from there
    bends = np.flatnonzero(np.abs(exponents - exponents[-1:]) > 0.2)
    small = bends.size > 0 and SCALES[bends[-1] + 1] <= 1e-3
    edges = [0.0, *SCALES[bends[-1] + 1 :: -1].tolist()] if small else [0.0, math.pi]
    splits, most = tuple(edges[1:-1]), 1000 if small else 60
    for noise in noises:
        source = Source(d, at, noise=noise)
        for power in (2, 1):
            tables.append(tabulated(source, power, edges, most=most, splits=splits))
            if share_of(tables[-1]) <= 1e-12:
                return tables[-1]
    best = min(tables, key=share_of)
    if share_of(best) <= ANALYTIC or known.rounding:
        return best
    source = replace(source, noise=0.0)
    exponents = _exponents(source, 1e-9)
    drifts = np.flatnonzero(np.abs(np.diff(exponents)) > 1e-9)  # where V is no power to rounding
    smallest = min(SMALLEST, float(SCALES[drifts[-1] + 2]) if drifts.size else SMALLEST)
    rooted = tabulated(replace(source, roots=True), 2, root_edges((), smallest, SHORT), splits=splits)
    return min(rooted, best, key=share_of)


def _exponents(source: Source, clear: float) -> Floats:
    """The exponents of V between `SCALES`, down to the angle at which V has a relative rounding above `clear`."""
    theta = SCALES[:, None] * (1 + 3e-8 * np.array([-1, 0, 1]))
    with np.errstate(all="ignore"):
        values = np.reshape(source.at(theta.ravel(), 0), theta.shape)
    V, rough = values[:, 1], np.abs(values @ [1.0, -2.0, 1.0]) + source.noise
    if source.noise:
        rough += 2 * EPS * V / scale(2, SCALES)
    hidden = np.flatnonzero(~(rough < clear * V))
    V = V[: hidden[0]] if hidden.size else V
    return np.asarray(np.log(V[:-1] / V[1:]) / math.log(4))
