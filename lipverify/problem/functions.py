"""Functions of one variable as records: links h(z), and closed-form covariances E f(x) f(x') = K(<x, x'>) of laws.

Records compare equal if their functions do, and their repr states the function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lipverify.foundation.arrays import Array, Floats


@dataclass(frozen=True)
class PowerSeries:
    """c_0 + c_1 t + c_2 t^2 + ...; as a covariance it is positive definite in every dimension if all c_j >= 0."""

    coefficients: tuple[float, ...]

    def __call__(self, t: Array) -> Array:
        return sum((c * t**j for j, c in enumerate(self.coefficients)), 0 * t)


@dataclass(frozen=True)
class Wave:
    """L sin(k z) / k: its slope is at most L."""

    L: float
    frequency: float

    def __call__(self, z: Array) -> Array:
        return self.L * np.sin(self.frequency * z) / self.frequency


@dataclass(frozen=True)
class Kinked:
    """L |z - c_1| / K + ... + L |z - c_K| / K: continuous, with kinks at the places, and slope at most L."""

    L: float
    kinks: tuple[float, ...]

    def __call__(self, z: Array) -> Array:
        return sum((abs(z - c) for c in self.kinks), 0 * z) * (self.L / len(self.kinks))


@dataclass(frozen=True)
class Steps:
    """L sign(z - c_1) / K + ... + L sign(z - c_K) / K: it jumps at the places."""

    L: float
    jumps: tuple[float, ...]

    def __call__(self, z: Array) -> Array:
        return sum((np.sign(z - c) for c in self.jumps), 0 * z) * (self.L / len(self.jumps))


@dataclass(frozen=True)
class ArcCosine:
    r"""scale (sin a + (pi - a) cos a) / pi, cos a = t.

    With (z)_+ = max(z, 0), u uniform on S^{d-1} and unit vectors x, x' at the angle a, it is E (<u, x>)_+ (<u, x'>)_+
    for scale = 1 / (2 d).

    Source: Cho and Saul 2009, Kernel Methods for Deep Learning, section 2.1, their kernel of degree 1.

    >>> ArcCosine(scale=1.0)(np.array([1.0, 0.0])).round(6).tolist()
    [1.0, 0.31831]
    """

    scale: float

    def __call__(self, t: Floats) -> Floats:
        cosine = np.clip(t, -1.0, 1.0)
        angle = np.arccos(cosine)
        return np.asarray(self.scale / math.pi * (np.sin(angle) + (math.pi - angle) * cosine))


@dataclass(frozen=True)
class CosineCovariance:
    """(g(L |x + x'|) + g(L |x - x'|)) / 2 with g(r) = E cos(r <q, e>) = 0F1(; d/2; -r^2/4), q uniform on S^{d-1}."""

    L: float
    d: int

    def __call__(self, t: Floats) -> Floats:
        """K(t): |x +- x'|^2 = 2 (1 +- t)."""
        from scipy.special import hyp0f1

        sides = [hyp0f1(self.d / 2, -(self.L**2) * (1 + sign * t) / 2) for sign in (1, -1)]
        return np.asarray((sides[0] + sides[1]) / 2)


@dataclass(frozen=True)
class Risen:
    """-V(r) / 2 at r^2 = 2 (1 - t): the covariance minus K(1) of a law that is given by its variogram."""

    variogram: Callable[[Floats], Floats]

    def __call__(self, t: Floats) -> Floats:
        return np.asarray(-self.variogram(np.sqrt(np.maximum(2 * (1 - np.asarray(t)), 0.0))) / 2)


@dataclass(frozen=True)
class Harmonic:
    """k_0 + k_1 P_1(t) + k_2 P_2(t) + ..., the Gegenbauer polynomials of S^{d-1} with P_l(1) = 1."""

    spectrum: tuple[float, ...]
    d: int

    def __call__(self, t: Floats) -> Floats:
        """The sum at t, by (l + d - 2) P_{l+1} = (2 l + d - 2) t P_l - l P_{l-1}."""
        before, term, total = np.zeros_like(t), np.ones_like(t), np.zeros_like(t)
        for degree, k in enumerate(self.spectrum):
            total = total + k * term
            below = degree + self.d - 2
            following = ((2 * degree + self.d - 2) * t * term - degree * before) / below if below else t * term
            before, term = term, following
        return np.asarray(total)


@dataclass(frozen=True)
class Weighted:
    """c_1 K_1 + c_2 K_2 + ..."""

    terms: tuple[tuple[float, Callable[[Floats], Floats]], ...]

    def __call__(self, t: Floats) -> Floats:
        return np.asarray(sum((weight * K(t) for weight, K in self.terms), np.zeros_like(t)))
