"""The same density by short sums, at several similar w at once: where windows hold many tokens, or are wide.

A `Series` is in powers of lambda, and a sum over `Harmonics` follows from averages over one token. Everywhere else the
rules of `between` serve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count, islice

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.special import ive

from lipverify.foundation.arrays import EPS, TINY, Floats
from lipverify.foundation.sphere import half_beta, versine
from lipverify.loss.exact.context.averages import SERIES_TAIL, series_terms
from lipverify.loss.exact.context.between import FINE, MORE, PAIR, edges_of
from lipverify.loss.exact.context.contexts import Contexts
from lipverify.loss.exact.context.others import deficits, width_of
from lipverify.loss.exact.context.tokens import angle_at, kernel
from lipverify.loss.exact.quadrature import (
    Grading,
    chebyshev_points,
    half_power,
    integer_power,
    on_panels,
    plain_rule,
    to_coefficients,
)
from lipverify.loss.work import spend

LONGEST, HARMONICS = 1120, 16
"""Most harmonics of a sum, and their number at a time."""
WIDE = 2.0
"""The largest length of a panel of a deficit for several w."""
NOTHING, ROUGH, ROUNDING = 3e-17, 1e-11, 5e-16
"""Shares of a sum below which terms are left out, for rough values too, and rounding relative to absolute values."""
MOST_POWERS, SMALL = 20, 20
"""Most powers of lambda of a series, and its largest dimension: then no Bessel function over- or underflows."""


@dataclass(frozen=True)
class Short:
    """Both densities of angles, by a short sum, at a few similar w that share nodes."""

    d: int
    which: NDArray[np.intp]  # the indices of these w
    w: Floats
    edges: Floats  # of panels of the angle between two tokens
    panels: Floats  # edges of panels of the angle of a token from the query

    def __call__(self, gamma: Floats) -> tuple[Floats, Floats]:
        """The density between two tokens over sin^{d-2} / B, (w, gamma), and a bound on its relative error."""
        raise NotImplementedError

    def alone(self, theta: Floats) -> tuple[Floats, float]:
        """The density of a token's angle over sin^{d-2} / B, weighted by its attention weight: Q_{1,1}, (w, theta)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Series(Short):
    """By powers of lambda, which is of order 1/(n E g): windows hold many tokens.

    The weights of one and of two tokens are power series in lambda, and the mean over the query is a Bessel function:

        E_x g^a g'^b = e^{w (r - a - b)} Lambda(w r),  r^2 = a^2 + b^2 + 2 a b cos(gamma),
        Lambda(z) = Gamma(d/2) (2/z)^{d/2-1} e^{-z} I_{d/2-1}(z).
    """

    single: Floats  # (-1)^m / m! times the integrals over u of lambda^{m+1}, (w, m)
    double: Floats  # the same of lambda^{m+2}
    weights: Callable[[Floats], Floats]  # Lambda

    def __call__(self, gamma: Floats) -> tuple[Floats, Floats]:
        """See `Short`; the bound is the rounding of an alternating sum."""
        p, sizes = np.zeros((2, self.w.size, gamma.size))
        for m, coefficient in enumerate(self.double.T):
            for a in range(m // 2 + 1):
                pairs = math.comb(m, a) * (1 + (2 * a < m))  # a and m - a
                term = pairs * coefficient[:, None] * self._mean(gamma, a + 1, m - a + 1)
                p += term
                sizes += np.abs(term)
        return p, ROUNDING * sizes / np.maximum(np.abs(p), TINY)

    def _mean(self, gamma: Floats, a: int, b: int) -> Floats:
        """E_x g^a g'^b for two tokens at an angle gamma from each other: (w, gamma)."""
        r = np.hypot(a - b, 2 * math.sqrt(a * b) * np.cos(gamma / 2))
        fall = 4 * a * b * np.sin(gamma / 2) ** 2 / (r + a + b)
        return np.exp(-self.w[:, None] * fall) * self.weights(self.w[:, None] * r)

    def alone(self, theta: Floats) -> tuple[Floats, float]:
        """See `Short`."""
        g, p = np.exp(-self.w[:, None] * versine(theta)), np.zeros((self.w.size, theta.size))
        for coefficient in self.single.T[::-1]:
            p = (p + coefficient[:, None]) * g
        return p, 0.0


def mean_weight(d: int, z: Floats) -> Floats:
    """Lambda(z), the mean of e^{-z (1 - t)} over a token, z > 0; d is at most `SMALL`, so that nothing underflows."""
    if d == 3:
        return np.asarray(-np.expm1(-2 * z) / (2 * z))
    x = np.minimum(z, 1e9)  # beyond, SciPy's function fails, and two terms of its expansion are exact to rounding
    near = math.gamma(d / 2) * half_power(2 / x, d - 2) * ive(d / 2 - 1, x)
    return np.asarray(near * half_power(x / z, d - 1) * (1 + (d - 1) * (d - 3) / 8 * (1 / x - 1 / z)))


def mean_weights(d: int, least: float) -> Callable[[Floats], Floats]:
    """Lambda(z) for z >= `least`, several times faster than `mean_weight`.

    It is a polynomial in y = d / (d + z), times (1 + 2 z / (d - 1))^{-(d-1)/2}.
    """
    if d == 3:
        return partial(mean_weight, d)

    def power(z: Floats) -> Floats:
        return half_power(1 / (1 + 2 * z / (d - 1)), d - 1)

    end, size = d / (d + least), 64
    y = end * (1 + chebyshev_points(size)) / 2
    z = d * (1 - y) / y
    fit = to_coefficients(size) @ (mean_weight(d, z) / power(z))
    above = np.flatnonzero(np.abs(fit) > 16 * EPS * np.max(np.abs(fit)))
    return lambda z: chebyshev.chebval(2 * d / end / (d + z) - 1, fit[: above[-1] + 1]) * power(z)


@dataclass(frozen=True)
class Harmonics(Short):
    """From the integral over u itself, where windows are wide enough.

    The density of the angle between two tokens is a sum of c_l N_l P_l(cos gamma), where N_l is the number of harmonics
    of degree l and c_l the integral over u of E[psi_1(u - S) P_l]^2.
    """

    coefficients: Floats  # c_l N_l, (w, l)
    slack: Floats  # bounds on their errors by rounding
    at: Callable[[Floats], Floats]  # from deficits (w, s) to rows of functions of one token, (w, row, s)
    weight: Floats  # of these rows, (w, row)
    start: Floats  # the integral of e^u from -infinity to the first node, times n: (w,)

    def __call__(self, gamma: Floats) -> tuple[Floats, Floats]:
        """See `Short`."""
        polynomials = np.stack(list(islice(gegenbauer(self.d, versine(gamma)), self.slack.shape[1])))
        p = self.coefficients @ polynomials
        return p, self.slack @ np.abs(polynomials) / np.maximum(np.abs(p), TINY)

    def alone(self, theta: Floats) -> tuple[Floats, float]:
        """See `Short`."""
        s = self.w[:, None] * versine(theta)
        return np.einsum("wr,wrs->ws", self.weight, self.at(s)) + self.start[:, None] * np.exp(-s), 0.0


def gegenbauer(d: int, near: Floats) -> Iterator[Floats]:
    """P_0, P_1, ... with P_l(1) = 1 at 1 - near, by the recurrence of their differences, which keeps digits near 1."""
    value, step = np.ones_like(near), -near
    double = 2 * near
    for degree in count(1):
        yield value
        value = value + step
        step = (degree * step - (degree + d / 2 - 1) * double * value) / (degree + d - 2)


def dimensions(d: int) -> Floats:
    """N_l, the number of harmonics of degree l, for l < LONGEST."""
    degree = np.arange(1.0, LONGEST - 1)
    ratios = (2 * degree + d) * (degree + d - 2) / ((2 * degree + d - 2) * (degree + 1))
    return np.cumprod(np.concatenate([[1.0, d], ratios]))


def separated(u: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    """psi_1(u - s) as the product of a matrix, (w, u, row), and rows of functions of s, (w, row, s).

    For u <= 0 the rows are the powers of e^{-s} in a short series; beyond, there is a row for every u.
    """
    direct = np.any(u > 0, axis=0)
    power = np.arange(1.0, series_terms(float(np.max(u[:, ~direct], initial=-np.inf))) + 1)
    signs = np.cumprod(np.append(1.0, -1 / power[:-1]))
    matrix = np.zeros((*u.shape, power.size + np.count_nonzero(direct)))
    matrix[:, ~direct, : power.size] = signs * np.exp(power * u[:, ~direct, None])
    matrix[:, direct, power.size :] = np.identity(int(np.count_nonzero(direct)))

    def at(s: Floats) -> Floats:
        s = s[:, None]
        return np.concatenate([np.exp(-power[:, None] * s), kernel(1, u[:, direct, None] - s)], axis=1)

    return matrix, at


def is_short(contexts: Contexts, jumps: bool) -> NDArray[np.bool_]:
    """True at every w at which a sum over harmonics is tried; `jumps` if variograms go as theta, for a larger bias."""
    d, w, most = contexts.d, contexts.w, np.clip(contexts.high, 0, contexts.w)
    # averages of a harmonic turn as fast as psi_1, whatever u is
    slow = Grading(d, w).scale(most) <= (4.0 if jumps else 2.0)
    # w sin(theta) at the end of the range of u, less in high dimensions, where more digits cancel
    sharp = w * np.sqrt(most / w * (2 - most / w)) > (120.0 if jumps else 60.0) / (1 + d / 10)
    return np.asarray(slow & ~sharp & (w <= 3e4))  # they need sqrt(37 w) harmonics


def densities_of(
    contexts: Contexts, u: Floats, weights: tuple[Floats, Floats], order: int, tried: NDArray[np.bool_]
) -> list[Short]:
    """The densities at every w at which a series is short, or a sum over harmonics, where that is tried.

    They follow from nodes u and weights of both integrals over u, (w, node).
    """
    single, double, count = _powers(contexts, u, weights, NOTHING if order >= FINE else ROUGH)
    shorts = list[Short]()
    for which in _alike(contexts.w, count > 0):
        similar, terms = _similar(contexts, which), int(np.max(count[which]))
        _, _, w, edges, _ = similar
        lambdas = mean_weights(contexts.d, 2 * float(np.min(w)) * math.cos(edges[-1] / 2))
        shorts.append(Series(*similar, single[which, :terms], double[which, :terms], lambdas))
    for which in _alike(contexts.w, tried & (count == 0)):
        if (harmonics := _harmonics(contexts, which, u, weights, order)) is not None:
            shorts.append(harmonics)
    return shorts


def _alike(w: Floats, chosen: NDArray[np.bool_]) -> Iterator[NDArray[np.intp]]:
    """The indices of the chosen w, in groups that share nodes."""
    remaining = np.flatnonzero(chosen)
    while remaining.size:
        near = w[remaining] <= 1.4 * np.min(w[remaining])
        yield remaining[near]
        remaining = remaining[~near]


def _powers(
    contexts: Contexts, u: Floats, weights: tuple[Floats, Floats], nothing: float
) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """The integrals of powers of lambda of a `Series`, and the number of terms that it needs at every w, or 0.

    A series stops before the first term whose share is below `nothing`: what is left out of e^{-lambda (g + g')} is at
    most the next term, which is largest next to gamma = 0, where it is 2^m times the mean of g^{m+2}.
    """
    w, d = contexts.w, contexts.d
    many = (contexts.high <= SERIES_TAIL) & (w >= 1) & (w <= 1e12) & (d <= SMALL)
    (single, double), count = np.zeros((2, w.size, MOST_POWERS)), np.zeros(w.size, dtype=np.intp)
    if many.any():
        growth = np.exp(u[many])
        terms = np.stack([growth * weights[0][many], growth**2 * weights[1][many]])
        power = np.arange(MOST_POWERS + 1)
        sums, sizes = list[Floats](), list[Floats]()
        for m in power.tolist():
            sums.append(np.sum(terms, axis=-1))
            sizes.append(np.sum(np.abs(terms), axis=-1))
            terms = terms * (-growth / (m + 1))
        single[many], double[many] = np.moveaxis(np.array(sums[:-1]), 0, -1)
        shares = np.moveaxis(np.array(sizes), 0, -1)
        shares[1] *= 2.0**power * mean_weight(d, w[many, None] * (power + 2))
        enough = np.all(shares <= nothing * shares[..., :1], axis=0)
        count[many] = np.where(enough.any(axis=1), np.argmax(enough, axis=1), 0)
        single[:, 0] += contexts.n * np.exp(contexts.low)  # below the first node
    return single, double, count


def _similar(contexts: Contexts, which: NDArray[np.intp]) -> tuple[int, NDArray[np.intp], Floats, Floats, Floats]:
    """The fields of a `Short` at similar w; panels of a token have length WIDE up to the range of u."""
    d, w, high = contexts.d, contexts.w[which], np.maximum(contexts.high[which], 0)
    reach = zip(w.tolist(), contexts.high[which].tolist(), strict=True)
    near, most = np.array([deficits(d, *row)[1] for row in reach]) / w, float(np.max(w))
    bend, end = (most * float(np.max(share)) for share in (np.minimum((high + WIDE) / w, near), near))
    wide = min(WIDE, width_of(d, most), end / 4)
    ends = np.linspace(0, bend, math.ceil(bend / wide) + 1)
    ends = np.append(ends, np.linspace(bend, end, math.ceil((end - bend) / (2 * wide)) + 1)[1:])
    return d, which, w, edges_of(d, most, float(np.max(high)), end), angle_at(ends, most)


def _harmonics(
    contexts: Contexts, which: NDArray[np.intp], u: Floats, weights: tuple[Floats, Floats], order: int
) -> Harmonics | None:
    """The sums at similar w; tokens of every w and u share nodes."""
    similar = d, _, w, _, panels = _similar(contexts, which)
    theta, weight = (part.ravel() for part in on_panels(panels, plain_rule(max(order, FINE) + MORE)))
    density = weight * integer_power(np.sin(theta), d - 2) / half_beta(d - 1)
    spend(w.size * u.shape[1] * theta.size * 2, PAIR, "the angle between two tokens")
    matrix, functions = separated(u[which])
    rows = functions(w[:, None] * versine(theta)) * density
    polynomials, (alone, double) = gegenbauer(d, versine(theta)), (part[which] for part in weights)
    nothing, blocks, count = NOTHING if order >= FINE else ROUGH, [], 0
    while count < LONGEST:
        block = np.stack(list(islice(polynomials, HARMONICS)))
        averages, sizes = matrix @ (rows @ block.T), np.abs(matrix) @ (rows @ np.abs(block).T)
        numbers, terms = dimensions(d)[count : count + HARMONICS], (averages**2, averages**2, sizes**2)
        weighted = zip((double, np.abs(double), np.abs(double)), terms, strict=True)
        blocks.append(np.stack([numbers * np.einsum("wu,wul->wl", factor, squares) for factor, squares in weighted]))
        count += HARMONICS
        if np.all(np.max(blocks[-1][1], axis=1) <= nothing * sum(np.sum(part[1], axis=1) for part in blocks)):
            coefficients, sums, sizes = np.concatenate(blocks, axis=2)
            start = contexts.n * np.exp(contexts.low[which])
            weight = np.einsum("wu,wur->wr", alone, matrix)
            slack = ROUNDING * np.sqrt(sums * sizes)
            return Harmonics(*similar, coefficients, slack, functions, weight, start)
    return None
