r"""Harmonics on the sphere: their number in each degree, and Gegenbauer's polynomials P_l with P_l(1) = 1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from lipverify.foundation.arrays import EPS, Floats


@dataclass(frozen=True)
class Spectrum:
    """Coefficients k_1, k_2, ... of a law in dimension d, with bounds on their errors."""

    d: int
    k: Floats
    error: Floats
    tail: float  # the sum of all further coefficients
    tail_error: float

    @classmethod
    def finite(cls, d: int, k: Sequence[float] | Floats) -> Spectrum:
        """The spectrum with these coefficients k_1, k_2, ..., each by a few operations, and no others."""
        known = np.asarray(k, dtype=float)
        return cls(d, known, 8 * EPS * known, 0.0, 0.0)

    def upto(self, count: int) -> Spectrum:
        """The same with at most `count` coefficients, the others in the tail."""
        rest, off = (float(np.sum(column[count:])) for column in (self.k, self.error))
        return Spectrum(self.d, self.k[:count], self.error[:count], self.tail + rest, self.tail_error + off)

    @property
    def total(self) -> float:
        """Var f(x) = sum of all k_l with l > 0."""
        return float(np.sum(self.k)) + self.tail


def dimension(d: int, degree: int) -> float:
    """N_l, the dimension of the harmonics of degree l on S^{d-1}; a double, rounded once, at most e^700."""
    if degree == 0:
        return 1.0
    ways = math.log(2 * degree + d - 2) + gammaln(degree + d - 2) - gammaln(degree + 1) - gammaln(d - 1)
    if ways > 700:  # e^709 is the largest double, and the coefficients of a law are negligible there
        return math.exp(700)
    return (2 * degree + d - 2) * math.comb(degree + d - 3, degree - 1) / degree


def deficits(d: int, near: Floats) -> Iterator[Floats]:
    r"""1 - P_l(t) for l = 1, 2, ... at near = 1 - t, without cancellation for t near 1.

    D_{l+1} - D_l = (l (D_l - D_{l-1}) + (2l + d - 2) near P_l) / (l + d - 2).
    """
    deficit, step = near, near.copy()
    degree = 1
    while True:
        yield deficit
        rise = 1 - deficit
        rise *= near
        rise *= (2 * degree + d - 2) / (degree + d - 2)
        step *= degree / (degree + d - 2)
        step += rise
        deficit = deficit + step
        degree += 1
