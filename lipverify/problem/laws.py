"""The named laws of the sources."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array, Floats
from lipverify.foundation.quoting import shown
from lipverify.foundation.validation import number
from lipverify.problem.functions import ArcCosine, CosineCovariance, PowerSeries
from lipverify.problem.law import Bound, RidgeLaw, proportional


class Scaled(RidgeLaw, frozen=True):
    """A ridge law with a constant `L` >= 0, by default its amplitude."""

    L: float = 1.0

    def __post_init__(self) -> None:
        number("L", self.L, "the Lipschitz constant", least=0)

    @property
    def constant(self) -> bool:
        return self.L == 0

    @property
    def amplitude_variance(self) -> float:
        """L^2: the amplitude is L."""
        return self.L * self.L  # a power beyond double precision raises OverflowError, a product gives inf

    def amplitudes(self, uniforms: Array) -> Array:
        return self.L + 0 * uniforms


class RandomAmplitude(Scaled, frozen=True):
    """Amplitudes l_k ~ Unif[-L, L]."""

    @property
    def amplitude_variance(self) -> float:
        """E l_k^2 = L^2 / 3."""
        return self.L * self.L / 3

    def amplitudes(self, uniforms: Array) -> Array:
        return self.L * (2 * uniforms - 1)


class Straight(Scaled, frozen=True):
    """A law whose link is the identity."""

    def covariance(self, d: int) -> Callable[[Floats], Floats]:
        """E l^2 t / d."""
        return PowerSeries((0.0, self.amplitude_variance / d))

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        return (Bound(2.0 * radius, radius, 1.0),)

    def links(self, z: Array, xp: Any) -> list[Array]:
        return [z]


class Affine(RandomAmplitude, Straight, frozen=True, tag="affine"):
    r"""f(x) = l <q, x> + b, with l ~ Unif[-L, L] and q uniform on the sphere.

    Parameters
    ----------
    L
        The amplitudes are uniform on [-L, L], so that every function is L-Lipschitz; units of y per unit of
        length; finite, >= 0.

    Raises
    ------
    InvalidInput
        If `L` is negative, not finite or not a number.

    Source: Collins et al., arXiv 2402.11639, the affine class of section 3.

    Examples
    --------
    >>> Affine(L=3.0).amplitude_variance
    3.0
    """

    name: ClassVar[str] = "affine"


class Linear(Straight, frozen=True, tag="linear"):
    r"""f(x) = L <q, x>, q uniform on the sphere; no random amplitude.

    Parameters
    ----------
    L
        Lipschitz constant of every function of the law, in units of y per unit of length; finite, >= 0.

    Raises
    ------
    InvalidInput
        If `L` is negative, not finite or not a number.

    Source: Collins et al., slides, Theorem 4, where q = B a lies in the columns of B; see `LowRank`.

    Examples
    --------
    >>> Linear(L=3.0).amplitude_variance
    9.0
    """

    name: ClassVar[str] = "linear"


class ReLU(RandomAmplitude, frozen=True, tag="relu"):
    r"""f(x) = l_1 (<q, x>)_+ + l_2 (-<q, x>)_+ + b, with l_1, l_2 ~ Unif[-L, L].

    Parameters
    ----------
    L
        The amplitudes are uniform on [-L, L], so that every function is L-Lipschitz; units of y per unit of
        length; finite, >= 0.

    Raises
    ------
    InvalidInput
        If `L` is negative, not finite or not a number.

    Source: Collins et al., slides, "To formally capture these intuitions", class F_L^+.

    Examples
    --------
    >>> ReLU(L=1.0).kink_points
    (0.0,)
    """

    name: ClassVar[str] = "relu"

    @property
    def kink_points(self) -> tuple[float, ...]:
        """The kink at 0."""
        return (0.0,)

    def covariance(self, d: int) -> Callable[[Floats], Floats]:
        """Two half-lines, each with the covariance of degree 1."""
        return ArcCosine(self.amplitude_variance / d)

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        """From 0 to the radius, for each half-line."""
        return 2 * (Bound(radius, radius, 1.0),)

    def links(self, z: Array, xp: Any) -> list[Array]:
        """The two half-lines."""
        zero = xp.zeros_like(z)
        return [xp.maximum(z, zero), xp.maximum(-z, zero)]


class Cosine(Scaled, frozen=True, tag="cosine"):
    r"""f(x) = cos(L <q, x>), q uniform on the sphere; no random amplitude.

    Parameters
    ----------
    L
        Lipschitz constant of every function of the law, in units of y per unit of length; finite, >= 0.

    Raises
    ------
    InvalidInput
        If `L` is negative, not finite or not a number.

    Source: Collins et al., slides, "Empirical generalization", the cosine class.

    Examples
    --------
    >>> Cosine(L=2.0).amplitude_variance
    1.0
    """

    name: ClassVar[str] = "cosine"

    @property
    def amplitude_variance(self) -> float:
        """1: there is no random amplitude."""
        return 1.0

    def covariance(self, d: int) -> Callable[[Floats], Floats]:
        """The closed form, by the mean of cos over a coordinate of the sphere."""
        return CosineCovariance(self.L, d)

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        """From cos(L radius), or from -1 if L radius > pi, to 1."""
        return (Bound(2 * math.sin(min(self.L * radius, math.pi) / 2) ** 2, 1.0, self.L),)

    def links(self, z: Array, xp: Any) -> list[Array]:
        """cos(L z)."""
        return [xp.cos(self.L * z)]

    def amplitudes(self, uniforms: Array) -> Array:
        """1."""
        return 1 + 0 * uniforms


class Quadratic(Scaled, frozen=True, tag="quadratic"):
    r"""f(x) = L <q, x>^2, q uniform on the sphere; no random amplitude. On the sphere it is L-Lipschitz.

    Parameters
    ----------
    L
        Lipschitz constant of every function of the law, in units of y per unit of length; finite, >= 0.

    Raises
    ------
    InvalidInput
        If `L` is negative, not finite or not a number.

    Source: Collins et al., slides, last slide, the class (w^T x)^2.

    Examples
    --------
    >>> Quadratic().bounds(radius=2.0)[0].extent
    4.0
    """

    name: ClassVar[str] = "quadratic"

    def covariance(self, d: int) -> Callable[[Floats], Floats]:
        """L^2 (1 + 2 t^2) / (d (d + 2))."""
        return PowerSeries((0.0, 0.0, 2 * self.amplitude_variance / (d * (d + 2))))

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        """From 0 to the square of the radius."""
        return (Bound(radius**2, radius**2, 2.0),)

    def links(self, z: Array, xp: Any) -> list[Array]:
        """z^2."""
        return [z * z]


proportional.register(RandomAmplitude, Linear, Quadratic)(lambda law: True)


class WithOffset(RidgeLaw, frozen=True, tag="with-offset"):
    r"""f + b with b ~ Unif[-L, L] independent of f: the whole class F_L^+ of the slides.

    b has no effect on attention whose weights sum to one, but on linear attention it has. The offset is one more
    component, the constant 1, with an amplitude like those of `ridge`.

    Parameters
    ----------
    ridge
        A law with amplitudes uniform on [-L, L], such as `ReLU`; b has the same range.

    Raises
    ------
    InvalidInput
        If the law has no such amplitudes.

    Source: Collins et al., slides, the classes of Theorem 2.

    Examples
    --------
    >>> from lipverify.laws import ReLU
    >>> [bound.magnitude for bound in WithOffset(ReLU()).bounds()]
    [1.0, 1.0, 1.0]
    """

    ridge: RandomAmplitude
    name: ClassVar[str] = "with-offset"

    def __post_init__(self) -> None:
        if not isinstance(self.ridge, RandomAmplitude):
            raise InvalidInput(
                f"ridge = {shown(self.ridge)}: the offset is uniform on [-L, L], as amplitudes of Affine and ReLU are; "
                "attention whose weights sum to one never sees an offset, so leave it out."
            )

    @property
    def constant(self) -> bool:
        """True if the ridge law is constant."""
        return self.ridge.constant

    @property
    def amplitude_variance(self) -> float:
        """L^2 / 3, which is also the variance of b."""
        return self.ridge.amplitude_variance

    @property
    def kink_points(self) -> tuple[float, ...]:
        """Those of the ridge law."""
        return self.ridge.kink_points

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        """Those of the ridge law, and those of the constant 1."""
        return (*self.ridge.bounds(radius), Bound(0.0, 1.0, 0.0))

    def links(self, z: Array, xp: Any) -> list[Array]:
        """The links of the ridge law, and the constant 1."""
        return [*self.ridge.links(z, xp), xp.ones_like(z)]

    def amplitudes(self, uniforms: Array) -> Array:
        """The amplitudes of the ridge law, and b."""
        return self.ridge.amplitudes(uniforms)
