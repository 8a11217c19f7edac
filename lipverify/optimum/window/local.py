"""Polynomials through exact values of the loss, to locate a minimum: in log w near a given w, and in w near 0.

At w = 0 all weights are 1/n, and their derivatives are centred moments of t_i = <x_i, x>. With the covariance
sum_l k_l P_l(t) of the law and kappa = sum_{l > 0} k_l = Var f(x),

    B'(0)  = -2 (1 - 1/n) k_1 / d,                                    N'(0)  = 0,
    B''(0) = 2 (1 - 1/n) (kappa / (n d) + (1 - 4/n + 6/n^2) k_1 / d^2 - 2 (1 - 2/n) k_2 / (d (d + 2))),
    N''(0) = 2 (1 - 1/n) sigma^2 / (n d).

So w = 0 is not a minimum if k_1 > 0; for a law without a linear part it is a local minimum exactly if
(sigma^2 + kappa) / n > 2 (1 - 2/n) k_2 / (d + 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from lipverify.foundation.arrays import EPS, Floats
from lipverify.loss.exact import spectrum_of
from lipverify.loss.methods import loss_terms
from lipverify.loss.terms import ErrorKind, Route
from lipverify.problem import Problem

NODES, HALF_WIDTH = np.cos(np.pi * (np.arange(9) + 0.5) / 9), 0.15
"""Chebyshev nodes of polynomials of degree 8 on log w +- 0.15."""
SAFETY = 8.0
"""Factor on the last coefficient, which estimates the truncation error but may be small by chance."""
INSIDE = 0.9
"""A minimum beyond this share of the half-width is located again on an interval centred at the minimum."""


@dataclass(frozen=True)
class Minimum:
    """A minimum of the loss with its errors, of one `kind`; `w_error` is infinite if the loss is flat to rounding."""

    w: float
    w_error: float
    bias: float
    noise: float
    error: float
    kind: ErrorKind

    @property
    def loss(self) -> float:
        """B + N at w, in units of y squared."""
        return self.bias + self.noise


def through(values: Floats) -> Chebyshev:
    """The polynomial in (log w - centre) / HALF_WIDTH through values at NODES."""
    return Chebyshev.fit(NODES, values, deg=NODES.size - 1, domain=[-1, 1])


def shorter(fit: Chebyshev) -> Chebyshev:
    """The polynomial of one degree less; the difference estimates the truncation error."""
    return fit.truncate(NODES.size - 1)


def minima(fit: Chebyshev) -> list[float]:
    """The minima of the polynomial in [-1, 1]."""
    roots = (fit / fit(0.0) - 1).deriv().roots()
    real = roots[(np.abs(roots.imag) < 1e-9) & (np.abs(roots.real) <= 1)].real
    return [float(root) for root in real if fit.deriv(2)(root) > 0]


@dataclass(frozen=True)
class LocalLoss:
    """Bias and noise as polynomials in (log w - centre) / HALF_WIDTH; `error` bounds that of the loss, see `kind`."""

    centre: float
    bias: Chebyshev
    noise: Chebyshev
    error: float
    kind: ErrorKind

    @classmethod
    def at(cls, problem: Problem, centre: float, route: Route | None = None) -> LocalLoss:
        """Interpolate exact values at the nodes around w = e^centre."""
        terms = loss_terms(problem, np.exp(centre + HALF_WIDTH * NODES), route=route)
        bias, noise = through(terms.bias), through(terms.noise)
        left_out = SAFETY * (abs(bias.coef[-1]) + abs(noise.coef[-1]))
        # interpolation at nine Chebyshev nodes enlarges the errors of values by less than 3
        return cls(centre, bias, noise, float(left_out + 3 * np.max(terms.total_error)), terms.error_kind)

    @property
    def total(self) -> Chebyshev:
        """The interpolant of B + N, in units of y squared."""
        return self.bias + self.noise

    def lowest(self) -> float:
        """The point of [-1, 1] with the smallest loss: a minimum, or an end if there is none inside."""
        return min(minima(self.total) or (-1.0, 1.0), key=self.total)

    def minimum(self, root: float) -> Minimum:
        """The minimum at a root of the derivative within INSIDE.

        The derivative of the polynomial's error is at most (degree / sqrt(1 - root^2)) error (Bernstein).
        """
        w, curvature = math.exp(self.centre + HALF_WIDTH * root), float(self.total.deriv(2)(root))
        off = (NODES.size - 1) / math.sqrt(1 - root**2) * self.error / curvature
        # an error larger than the distance to the end of the interval leaves the minimum unknown
        w_error = w * HALF_WIDTH * off if off <= 1 - abs(root) else math.inf
        return Minimum(w, w_error, float(self.bias(root)), float(self.noise(root)), self.error, self.kind)


REACH = 0.5
"""The largest w of the polynomial: the loss is analytic for |Im w| < pi/2, where no sum of weights is zero."""
FROM_ZERO = REACH * (9 - 7 * np.cos(np.pi * (np.arange(12) + 0.5) / 12)) / 16
"""Twelve Chebyshev nodes on [REACH / 8, REACH]: below, values differ from the closed form only by rounding."""
DEGREES = (11, 9)
"""Degree of the loss's polynomial, and of a second one that estimates its truncation error. They differ by 2, because
a pair of poles such as w = +-i pi/2 may make every other coefficient small."""
FIRST = 3
"""The power of the first coefficient that is fitted."""
PLACES = np.concatenate([[0.0], np.geomspace(1e-60, REACH, 1200)])
"""Points at which the sign of the slope is tested; two minima do not lie within a tenth of each other."""


@dataclass(frozen=True)
class OriginLoss:
    """Bias and noise as polynomials in w on [0, REACH].

    `known_error` bounds the errors of the loss and of its first two derivatives at 0, and `value_error` those of the
    values at FROM_ZERO minus the closed form. The truncation error of the fit is at most w^3 times `left_out`.
    """

    bias: Polynomial
    noise: Polynomial
    known_error: Floats
    value_error: Floats
    left_out: float
    kind: ErrorKind

    @classmethod
    def of(cls, problem: Problem, route: Route | None = None) -> OriginLoss:
        """Fit the polynomials to the closed form and to exact values at FROM_ZERO."""
        terms = loss_terms(problem, np.concatenate([[0.0], FROM_ZERO]), route=route)
        bias, noise, known_error = derivatives(problem, float(terms.bias[0]), float(terms.noise[0]))
        known_error[0] = terms.total_error[0]
        # a difference has the rounding error of the larger number
        value_error = terms.total_error[1:] + Polynomial(known_error / [1, 1, 2])(FROM_ZERO) + EPS * terms.total[1:]
        fits = [[_fitted(known, values[1:], degree) for degree in DEGREES] for known, values in
                ((bias, terms.bias), (noise, terms.noise))]  # fmt: skip
        (bias_fit, bias_short), (noise_fit, noise_short) = fits
        # the difference of the fits over w^3 has zeros inside the interval, so use its largest value
        rest = Polynomial((bias_fit - bias_short + noise_fit - noise_short).coef[FIRST:])
        slopes = 3 * rest(PLACES) + PLACES * rest.deriv()(PLACES)
        return cls(bias_fit, noise_fit, known_error, value_error, float(np.max(np.abs(slopes))), terms.error_kind)

    @cached_property
    def slope(self) -> Polynomial:
        """The derivative of the loss."""
        return (self.bias + self.noise).deriv()

    def slope_error(self, w: Floats) -> Floats:
        """A bound on the error of the slope at every w."""
        _, first, second = self.known_error
        powers = np.arange(FIRST, DEGREES[0] + 1)
        fitted = np.abs((powers * w[:, None] ** (powers - 1)) @ _inverse(DEGREES[0])) @ self.value_error
        return first + second * w + fitted + self.left_out * w**2

    def error(self, w: float) -> float:
        """A bound on the error of the loss at w."""
        fitted = np.abs(w ** np.arange(FIRST, DEGREES[0] + 1) @ _inverse(DEGREES[0])) @ self.value_error
        return float(Polynomial(self.known_error / [1, 1, 2])(w) + fitted + self.left_out * w**3)

    def minima(self) -> Iterator[Minimum]:
        """Every minimum on [0, REACH): the points where the slope turns positive.

        The minimum of the true loss lies between the nearest points below and above at which the slope exceeds its
        error. If there is no such point below, the minimum cannot be distinguished from 0.
        """
        slope, error = self.slope(PLACES), self.slope_error(PLACES)
        rises = np.flatnonzero((slope[:-1] < 0) & (slope[1:] >= 0)).tolist()
        for i in [0] * bool(slope[0] >= 0 and slope[1] > 0) + rises:
            w = _root(self.slope, PLACES[i], PLACES[i + 1]) if slope[i] < 0 else 0.0
            falls, climbs = np.flatnonzero((slope + error)[: i + 1] < 0), np.flatnonzero((slope - error)[i + 1 :] > 0)
            low, high = 0.0, math.inf
            if falls.size:
                low = _root(self._bound(1), PLACES[falls[-1]], min(w, PLACES[falls[-1] + 1]))
            if climbs.size:
                high = _root(self._bound(-1), max(w, PLACES[i + climbs[0]]), PLACES[i + climbs[0] + 1])
            w = w if low > 0 else 0.0
            bias, noise = float(self.bias(w)), float(self.noise(w))
            yield Minimum(w, max(high - w, w - low), bias, noise, self.error(w), self.kind)

    def _bound(self, sign: int) -> Callable[[float], float]:
        return lambda w: float(self.slope(w) + sign * self.slope_error(np.array([w]))[0])


def derivatives(problem: Problem, bias: float, noise: float) -> tuple[Floats, Floats, Floats]:
    """(B, B', B''), (N, N', N'') at w = 0 given B and N there, and bounds on the errors of B + N; see the module."""
    d, n = problem.d, float(problem.n)
    spectrum = spectrum_of(problem.law, d, 64)  # the first few enter the slope, others are tested for being negative
    # if k_1 or k_2 is not listed, it is part of the tail
    hidden = (spectrum.tail + spectrum.tail_error) * (spectrum.k.size < 2)
    k_1, k_2 = np.append(spectrum.k, [0.0, 0.0])[:2]
    k_error = np.append(spectrum.error, [hidden, hidden])[:2]
    shares = np.array([(1 - 4 / n + 6 / n**2) / d**2, -2 * (1 - 2 / n) / (d * (d + 2))])
    parts = np.array([(problem.sigma**2 + bias / (1 + 1 / n)) / (n * d), *(shares * [k_1, k_2])])
    rest = 2 * (1 - 1 / n)
    noise_curvature = rest * problem.sigma**2 / (n * d)
    error = [0.0, k_error[0] / d, float(np.abs(shares) @ k_error)]
    rounding = 16 * EPS * np.array([0.0, k_1 / d, float(np.sum(np.abs(parts)))])
    return (
        np.array([bias, -rest * k_1 / d, rest * float(np.sum(parts)) - noise_curvature]),
        np.array([noise, 0.0, noise_curvature]),
        rest * (error + rounding),
    )


def _inverse(degree: int) -> Floats:
    """From values at FROM_ZERO to the coefficients, from FIRST on, of the least-squares fit."""
    return np.asarray(np.linalg.pinv(FROM_ZERO[:, None] ** np.arange(FIRST, degree + 1)))


def _fitted(known: Floats, values: Floats, degree: int) -> Polynomial:
    """The least-squares polynomial through the values with the given derivatives at 0."""
    start = Polynomial(known / [1, 1, 2])
    return Polynomial([*start.coef, *(_inverse(degree) @ (values - start(FROM_ZERO)))])


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """A zero, to rounding, of a function that is <= 0 at low and >= 0 at high."""
    from scipy.optimize import brentq  # imported here because few minima are near the origin

    return float(
        brentq(function, low, high, xtol=1e-300, rtol=4 * EPS, maxiter=3000)
    )  # 1e-300 is a thousand halvings off
