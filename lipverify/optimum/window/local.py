r"""The loss about a window: polynomials in log w through exact values.

Values near a flat minimum fix its place to half of their digits only; the derivative of a polynomial
through values on an interval fixes it to nearly all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.typing import NDArray

from lipverify.loss import loss_terms
from lipverify.problem import Problem

NODES, HALF_WIDTH = np.cos(np.pi * (np.arange(9) + 0.5) / 9), 0.15
"""Chebyshev nodes of polynomials of degree 8 on log w +- 0.15."""


def through(values: NDArray[np.float64]) -> Chebyshev:
    """The polynomial in (log w - centre) / HALF_WIDTH through values at NODES."""
    return Chebyshev.fit(NODES, values, deg=NODES.size - 1, domain=[-1, 1])


def shorter(fit: Chebyshev) -> Chebyshev:
    """The polynomial of one degree less: how much it differs tells how much is left out."""
    return fit.truncate(NODES.size - 1)


@dataclass(frozen=True)
class LocalLoss:
    """Bias and noise as polynomials in (log w - centre) / HALF_WIDTH; `error` bounds that of the loss."""

    bias: Chebyshev
    noise: Chebyshev
    error: float

    @classmethod
    def at(cls, problem: Problem, centre: float) -> LocalLoss:
        """Through exact values about w = e^centre."""
        terms = loss_terms(problem, np.exp(centre + HALF_WIDTH * NODES))
        bias, noise = through(terms.bias), through(terms.noise)
        left_out = abs(bias.coef[-1]) + abs(noise.coef[-1])
        # interpolation at nine Chebyshev nodes enlarges the errors of values by less than 3
        return cls(bias, noise, float(left_out + 3 * np.max(terms.total_error)))

    @property
    def total(self) -> Chebyshev:
        """The loss."""
        return self.bias + self.noise

    def minimum(self) -> float | None:
        """Where in [-1, 1] the loss is lowest, if there is a minimum."""
        return _minimum(self.total)

    def minimum_error(self, root: float) -> float:
        """The distance to the minimum for one degree less, and what the errors of values do to a derivative."""
        other = _minimum(shorter(self.total))
        gap = math.inf if other is None else abs(other - root)
        return gap + NODES.size * self.error / float(self.total.deriv(2)(root))


def _minimum(fit: Chebyshev) -> float | None:
    """The root of the derivative in [-1, 1] where the polynomial is lowest."""
    roots = (fit / fit(0.0) - 1).deriv().roots()
    real = roots[(np.abs(roots.imag) < 1e-9) & (np.abs(roots.real) <= 1)].real
    minima = [float(root) for root in real if fit.deriv(2)(root) > 0]
    return min(minima, key=fit, default=None)
