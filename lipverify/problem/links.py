"""Links and covariances of one variable, as records whose repr states the function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lipverify.foundation.arrays import Array


@dataclass(frozen=True)
class PowerSeries:
    """c_0 + c_1 t + c_2 t^2 + ...; as a covariance it is positive definite in every dimension if all c_j >= 0.

    >>> PowerSeries((1.0, 0.0, 2.0))(np.array([0.5])).tolist()
    [1.5]
    """

    coefficients: tuple[float, ...]

    def __call__(self, t: Array) -> Array:
        """The series at t."""
        return sum((c * t**j for j, c in enumerate(self.coefficients)), 0 * t)


@dataclass(frozen=True)
class Wave:
    """L sin(k z) / k: its slope is at most L."""

    L: float
    frequency: float

    def __call__(self, z: Array) -> Array:
        """The wave at z."""
        return self.L * np.sin(self.frequency * z) / self.frequency


@dataclass(frozen=True)
class Kinked:
    """L |z - c_1| / K + ... + L |z - c_K| / K: continuous, with kinks at the places, and slope at most L."""

    L: float
    kinks: tuple[float, ...]

    def __call__(self, z: Array) -> Array:
        """The sum at z."""
        return sum((abs(z - c) for c in self.kinks), 0 * z) * (self.L / len(self.kinks))


@dataclass(frozen=True)
class Steps:
    """L sign(z - c_1) / K + ... + L sign(z - c_K) / K: it jumps at the places."""

    L: float
    jumps: tuple[float, ...]

    def __call__(self, z: Array) -> Array:
        """The sum at z."""
        return sum((np.sign(z - c) for c in self.jumps), 0 * z) * (self.L / len(self.jumps))
