r"""Polynomials in log w through exact values of the loss near a given w, to locate a minimum.

Values near a flat minimum locate it to only half of their digits. The derivative of a polynomial through values on an
interval locates it to nearly all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Chebyshev

from lipverify.foundation.arrays import Floats
from lipverify.loss import loss_terms
from lipverify.loss.terms import ErrorKind
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
    def at(cls, problem: Problem, centre: float, route: str | None = None) -> LocalLoss:
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
