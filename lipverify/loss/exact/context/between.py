r"""The density of the angle between two tokens, weighted by both attention weights; it does not depend on the law.

    p(gamma) = sin^{d-2}(gamma) / B(1/2, (d-1)/2) E_x [ g g' / (g + g')^2 Q_2(-log(g + g')) ].

With the query's components cos(psi) cos(phi) along the tokens' bisector and sin(psi) along their difference, and
z = w sin(psi) sin(gamma/2),

    g g' / (g + g')^2 = 1 / (2 cosh z)^2,  -log(g + g') = w (1 - cos(gamma/2) cos(psi) cos(phi)) - log(2 cosh z).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from itertools import count, islice

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.special import ive

from lipverify.foundation.arrays import EPS, TINY, Floats
from lipverify.foundation.sphere import half_beta, versine
from lipverify.loss.exact.context.averages import SERIES_TAIL, series_terms
from lipverify.loss.exact.context.contexts import ORDERS, Context, Contexts, Factors, powers
from lipverify.loss.exact.context.others import Q_SHARE, Counted, counted, deficits, width_of
from lipverify.loss.exact.context.tokens import angle_at, kernel
from lipverify.loss.exact.quadrature import (
    CONCENTRATION,
    LARGE,
    Graded,
    Grading,
    LogGrading,
    chebyshev_points,
    chebyshev_values,
    clenshaw,
    half_power,
    integer_power,
    on_panels,
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
LONGEST, HARMONICS = 1120, 16
"""Most harmonics of a sum, and their number at a time."""
WIDE = 2.0
"""The largest length of a panel of a deficit for several w."""
NOTHING, ROUGH, ROUNDING = 3e-17, 1e-11, 5e-16
"""Shares of a sum below which terms are left out, for rough values too, and rounding relative to absolute values."""
MOST_POWERS, SMALL = 20, 20
"""Most powers of lambda of a series, and its largest dimension: then no Bessel function over- or underflows."""
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
