r"""Laws of the label noise: the distribution of sigma over contexts."""

from __future__ import annotations

import math
from functools import cache

import msgspec
import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.validation import number


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
        """The label of the law's column in a table."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The law in one word, such as "uniform-3", which `noise_named` parses."""
        kind, levels = str(self.__struct_config__.tag), self.label.strip("{}").replace(",", "-")
        return f"{'levels' if kind == 'categorical' else kind}-{levels}"

    @property
    def latex(self) -> str:
        """The law as a formula."""
        raise NotImplementedError


class UniformNoise(NoiseLaw, frozen=True, tag="uniform"):
    """sigma ~ Unif[0, sigma_max]; sigma_max = 0 is no noise.

    Parameters
    ----------
    sigma_max
        Largest standard deviation, in units of y; >= 0.

    Raises
    ------
    InvalidInput
        If `sigma_max` breaks its rule.

    Examples
    --------
    >>> UniformNoise(3.0).second_moment
    3.0
    """

    sigma_max: float

    def __post_init__(self) -> None:
        number("sigma_max", self.sigma_max, "a standard deviation", least=0, below=1e150)

    def draw(self, u: Floats) -> Floats:
        """sigma_max u."""
        return self.sigma_max * u

    def nodes(self, count: int) -> tuple[Floats, Floats]:
        """Gauss-Legendre on [0, sigma_max]."""
        if self.sigma_max == 0:
            return np.zeros(1), np.ones(1)
        x, weights = gauss_legendre(count)
        return self.sigma_max * (1 + x) / 2, weights / 2

    @property
    def second_moment(self) -> float:
        """sigma_max^2 / 3."""
        return self.sigma_max**2 / 3

    @property
    def label(self) -> str:
        """sigma_max in decimals, as names and tables write it."""
        return f"{self.sigma_max:g}"

    @property
    def latex(self) -> str:
        r"""sigma_max = ..."""
        return rf"\sigma_{{\max}} = {self.label}"


class CategoricalNoise(NoiseLaw, frozen=True, tag="categorical"):
    """sigma is one of finitely many levels, each as likely as the others.

    Parameters
    ----------
    levels
        Standard deviations, in units of y; at least one, each >= 0.

    Raises
    ------
    InvalidInput
        If there is no level, or one breaks its rule.

    Examples
    --------
    >>> CategoricalNoise((1.0, 3.0)).second_moment
    5.0
    """

    levels: tuple[float, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.levels, tuple) or not self.levels:
            raise InvalidInput(f"levels = {self.levels!r}: give a tuple of at least one standard deviation.")
        for level in self.levels:
            number("levels", level, "a standard deviation", least=0, below=1e150)

    def draw(self, u: Floats) -> Floats:
        """The level with the index floor(u times the number of levels)."""
        return np.asarray(self.levels, dtype=float)[(u * len(self.levels)).astype(int)]

    def nodes(self, count: int) -> tuple[Floats, Floats]:
        """The levels themselves, for any `count`."""
        return np.asarray(self.levels, dtype=float), np.full(len(self.levels), 1 / len(self.levels))

    @property
    def second_moment(self) -> float:
        """The mean of the squared levels."""
        return math.fsum(level**2 for level in self.levels) / len(self.levels)

    @property
    def label(self) -> str:
        """The levels as a set, such as {1,3}."""
        return "{" + ",".join(f"{level:g}" for level in self.levels) + "}"

    @property
    def latex(self) -> str:
        r"""sigma in {...}."""
        return rf"\sigma \in \{{{self.label.strip('{}')}\}}"


@cache
def gauss_legendre(count: int) -> tuple[Floats, Floats]:
    """Cached nodes and weights on [-1, 1]: a rule over sigma takes milliseconds to compute."""
    x, weights = np.polynomial.legendre.leggauss(count)
    x.flags.writeable = weights.flags.writeable = False
    return x, weights


def noise_named(name: str) -> NoiseLaw:
    """The law with a given name: "uniform-3" is sigma ~ Unif[0, 3], "levels-1-3" is 1 or 3."""
    kind, *parts = name.split("-")
    try:
        levels = tuple(float(part) for part in parts)
    except ValueError:
        levels = ()
    if kind == "uniform" and len(levels) == 1:
        return UniformNoise(*levels)
    if kind == "levels" and levels:
        return CategoricalNoise(levels)
    rule = "write uniform-3 for Unif[0, 3], or levels-1-3 for one of 1 and 3"
    raise InvalidInput(f"noise = {name!r} is not known; {rule}.")
