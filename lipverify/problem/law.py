r"""What a law of the task is: the distribution from which a function f is drawn.

Most laws are *ridge laws*,

    f(x) = l_1 h_1(<q, x>) + ... + l_K h_K(<q, x>) + b,

with q uniform on the sphere S^{d-1} and amplitudes l_k independent of q. Either there are random
amplitudes, independent of each other with mean zero, or there is one link with amplitude l. Softmax
weights sum to one, so the offset b never reaches the loss and is not stored. A `Zonal` law is given
by its covariance alone.

A law holds its definition and nothing else: how a method averages over it is that method's own
business, so that two methods share no more than these lines.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from lipverify.errors import InvalidInput

Array = Any
"""An array of any library that follows the array API standard."""


class Law(msgspec.Struct, frozen=True, tag_field="law"):
    """A law of the task that is invariant under rotations; see the subclasses."""

    name: ClassVar[str] = "law"

    @property
    def constant(self) -> bool:
        """Whether every function of the law is constant, so that there is no bias."""
        raise NotImplementedError


class RidgeLaw(Law, frozen=True):
    """f(x) = l_1 h_1(<q, x>) + ... + l_K h_K(<q, x>)."""

    @property
    def amplitude_variance(self) -> float:
        """E l_k^2."""
        raise NotImplementedError

    @property
    def kink_points(self) -> tuple[float, ...]:
        """Where in (-1, 1) a link is not smooth."""
        return ()

    @property
    def link_ranges(self) -> tuple[float, ...]:
        """Bounds on max h_k - min h_k over [-1, 1]: they bound what one context can contribute."""
        raise NotImplementedError

    def links(self, z: Array, xp: Any) -> list[Array]:
        """The link functions h_1(z), ..., h_K(z); `xp` is the array namespace of `z`."""
        raise NotImplementedError

    def amplitudes(self, uniforms: Array) -> Array:
        """Amplitudes l_k made of numbers uniform on [0, 1)."""
        raise NotImplementedError


def as_ridge(law: Law, method: str) -> RidgeLaw:
    """The law, refused by `method` unless it has links."""
    if not isinstance(law, RidgeLaw):
        raise InvalidInput(
            f"law = {law!r}: {method} needs the functions, and this law is known by its covariance only; "
            "use method='exact', or a ridge law."
        )
    return law
