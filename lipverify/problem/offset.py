"""The random offset in the slides' function classes, as one more component of a law."""

from __future__ import annotations

from typing import Any, ClassVar

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array
from lipverify.foundation.quoting import shown
from lipverify.problem.law import Bound, RidgeLaw
from lipverify.problem.laws import RandomAmplitude


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
