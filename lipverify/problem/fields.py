r"""Random fields: isotropic laws given by their variogram, the mean squared difference of two values.

    V(r) = E (f(x) - f(x'))^2 at |x - x'| = r,    K(<x, x'>) = E f(x) f(x') = K(1) - V(r) / 2,    r^2 = 2 (1 - <x, x'>).

A constant in f does not enter the loss, so the loss depends on V alone. At a large w the loss depends on V near r = 0,
where a covariance in double precision has lost the digits of V: 1 - e^{-r} is 0 there unless written as -expm1(-r).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import msgspec
import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import EPS, Array
from lipverify.foundation.validation import number, zero_or_more
from lipverify.problem.fine import cancelled
from lipverify.problem.functions import Risen
from lipverify.problem.law import Law, by_law, factor_of, times
from lipverify.problem.own import Zonal

Distances = Callable[[Array], Array]


class Field(Law, frozen=True, kw_only=True):
    """A Gaussian field that is the restriction to the sphere of one on R^d, so it is a law in every dimension."""

    length: float = 1.0
    variance: float = 1.0

    def __post_init__(self) -> None:
        number("length", self.length, "the length scale of the field", above=0)
        zero_or_more("variance", self.variance, "the variance of the field", smallest=1e-280)

    @property
    def isotropic(self) -> bool:
        """True: the covariance depends only on the distance."""
        return True

    @property
    def constant(self) -> bool:
        return self.variance == 0

    def variogram(self, r: Array) -> Array:
        """V(r), accurate to rounding relative to itself."""
        raise NotImplementedError

    def covariance(self, d: int) -> Distances:
        return self.K

    def K(self, t: Array) -> Array:
        """K(t) = variance - V / 2, t = <x, x'>."""
        return self.variance + Risen(self.variogram)(t)


@times.register(Field)
def _times(field: Field, factor: float) -> Field:
    """The law with its variance multiplied by the square of the factor."""
    return msgspec.structs.replace(field, variance=factor_of(factor) ** 2 * field.variance)


class Matern(Field, frozen=True, kw_only=True, tag="matern"):
    r"""The Matérn field of smoothness nu = 1/2, 3/2 or 5/2.

        K = variance e^{-z} (1, 1 + z, 1 + z + z^2 / 3),    z = sqrt(2 nu) r / length.

    nu = 1/2 is exp(-r / length), whose functions are Hölder of every exponent below 1/2.

    Parameters
    ----------
    length
        Length scale, in units of |x|; > 0.
    variance
        Variance of f(x), in units of y squared; >= 0.
    nu
        Smoothness: 0.5, 1.5 or 2.5.

    Raises
    ------
    InvalidInput
        If nu is another one, the length is not positive or the variance negative.

    Source: Stein, Interpolation of Spatial Data, 1999, section 2.7.

    Examples
    --------
    >>> Matern(nu=0.5).variogram(np.array([1e-20, 1.0])).round(22)
    array([2.00000000e-20, 1.26424112e+00])
    """

    nu: float = 1.5

    name: ClassVar[str] = "matern"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nu not in (0.5, 1.5, 2.5):  # the covariance is an exponential times a polynomial
            raise InvalidInput(
                f"nu = {self.nu!r}: a Matérn field has nu = 0.5, 1.5 or 2.5 here; RBF is the limit of large nu, and "
                "Zonal(variogram=...) takes any other."
            )

    def variogram(self, r: Array) -> Array:
        """P(a, z) = 1 - e^{-z} sum_{j < a} z^j / j!, an incomplete gamma function, at a = nu + 1/2: nothing cancels."""
        z = math.sqrt(2 * self.nu) * np.asarray(r, dtype=float) / self.length
        rest = np.exp(-z) * z**2 / 6 if self.nu == 2.5 else 0.0
        from scipy.special import gammainc  # `lipverify list` reads laws, and needs no special function

        return 2 * self.variance * (gammainc(self.nu + 0.5, z) + rest)


class RBF(Field, frozen=True, kw_only=True, tag="rbf"):
    r"""The field of the squared exponential: K = variance exp(-r^2 / (2 length^2)).

    Parameters
    ----------
    length
        Length scale, in units of |x|; > 0.
    variance
        Variance of f(x), in units of y squared; >= 0.

    Raises
    ------
    InvalidInput
        If the length is not positive or the variance negative.

    Examples
    --------
    >>> RBF(length=0.5).K(np.array([1.0, 0.0])).round(6)
    array([1.      , 0.018316])
    """

    name: ClassVar[str] = "rbf"

    def variogram(self, r: Array) -> Array:
        """-2 expm1(-r^2 / (2 length^2))."""
        return -2 * self.variance * np.expm1(-((np.asarray(r, dtype=float) / self.length) ** 2) / 2)


@dataclass(frozen=True)
class Variation:
    """The variogram V(r), 0 <= r <= 2, with a bound on its size and its rounding error."""

    of_distance: Distances
    size: float
    rounding: float
    """The absolute error of V near r = 0: 0 if V was given directly, eps K(1) if it is a difference of values of K."""
    everywhere: bool = False
    """True if the law is defined on R^d, not only on the unit sphere."""


@by_law
def variation_of(law: Law, d: int | None = None) -> Variation | None:
    """The variogram of a law that is given by it or by K; given d, by a spectrum as well. None for others."""
    return None


@variation_of.register(Field)
def _of_field(law: Field, d: int | None = None) -> Variation:
    return Variation(law.variogram, 2 * law.variance, 0.0, everywhere=True)


@variation_of.register(Zonal)
def _of_zonal(law: Zonal, d: int | None = None) -> Variation | None:
    if law.spectrum is not None and d is None:
        return None
    return _of_differences(law, d if law.spectrum is not None else None)


@lru_cache(maxsize=64)
def _of_differences(law: Zonal, d: int | None) -> Variation:
    """The variation of a `Zonal` law: of the user's function, whose size is computed once, or of harmonics."""
    grid = np.linspace(0, 2, 4097)
    if law.variogram is not None:
        return Variation(law.variogram, float(np.max(law.variogram(grid))), 0.0)
    K = law.covariance(d or 0)
    top = float(np.asarray(K(np.ones(1)))[0])

    def differences(r: Array) -> Array:
        return 2 * (top - np.asarray(K(np.maximum(1 - np.asarray(r) ** 2 / 2, -1.0)), dtype=float))

    largest = float(np.max(np.abs(K(1 - grid**2 / 2))))
    # both values of a difference 2 (K(1) - K(t)) have such an error
    lost = 0.0 if law.K is None else 4 * float(np.max(cancelled(K)))
    return Variation(differences, 4 * largest, 4 * EPS * largest + lost)
