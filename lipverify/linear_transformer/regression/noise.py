r"""Laws of the label noise: how sigma differs from one context to the next."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from lipverify.errors import InvalidInput

Floats = NDArray[np.float64]


class NoiseLaw(msgspec.Struct, frozen=True, tag_field="noise"):
    """The law of the standard deviation sigma >= 0 of the label noise, drawn once for a context."""

    def draw(self, u: Floats) -> Floats:
        """Draws of sigma from uniforms on [0, 1), by inversion."""
        raise NotImplementedError

    def nodes(self, count: int) -> tuple[Floats, Floats]:
        """(sigma, weights) of a rule for averages over sigma: exact for a law on finitely many levels."""
        raise NotImplementedError

    @property
    def second_moment(self) -> float:
        """E sigma^2."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """The law as a column of a table."""
        raise NotImplementedError


class UniformNoise(NoiseLaw, frozen=True, tag="uniform"):
    """sigma ~ Unif[0, sigma_max]; sigma_max = 0 is no noise.

    >>> UniformNoise(3.0).second_moment
    3.0
    """

    sigma_max: float

    def __post_init__(self) -> None:
        require_level("sigma_max", self.sigma_max)

    def draw(self, u: Floats) -> Floats:
        """sigma_max u."""
        return self.sigma_max * u

    def nodes(self, count: int) -> tuple[Floats, Floats]:
        """Gauss-Legendre on [0, sigma_max]."""
        if self.sigma_max == 0:
            return np.zeros(1), np.ones(1)
        x, weights = np.polynomial.legendre.leggauss(count)
        return self.sigma_max * (1 + x) / 2, weights / 2

    @property
    def second_moment(self) -> float:
        """sigma_max^2 / 3."""
        return self.sigma_max**2 / 3

    @property
    def label(self) -> str:
        """The largest level."""
        return f"{self.sigma_max:g}"


class CategoricalNoise(NoiseLaw, frozen=True, tag="categorical"):
    """sigma is one of finitely many levels, each as likely as the others.

    >>> CategoricalNoise((1.0, 3.0)).second_moment
    5.0
    """

    levels: tuple[float, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.levels, tuple) or not self.levels:
            raise InvalidInput(f"levels = {self.levels!r}: give a tuple of at least one standard deviation.")
        for level in self.levels:
            require_level("levels", level)

    def draw(self, u: Floats) -> Floats:
        """The level number floor(u times the number of levels)."""
        return np.asarray(self.levels, dtype=float)[(u * len(self.levels)).astype(int)]

    def nodes(self, count: int) -> tuple[Floats, Floats]:
        """The levels themselves, whatever `count` is."""
        return np.asarray(self.levels, dtype=float), np.full(len(self.levels), 1 / len(self.levels))

    @property
    def second_moment(self) -> float:
        """The mean of the squared levels."""
        return math.fsum(level**2 for level in self.levels) / len(self.levels)

    @property
    def label(self) -> str:
        """The levels in braces."""
        return "{" + ",".join(f"{level:g}" for level in self.levels) + "}"


def require_level(name: str, value: Any) -> None:
    """Refuse a level that is not a finite number >= 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise InvalidInput(f"{name} = {value!r}: a standard deviation is a finite number >= 0.")
