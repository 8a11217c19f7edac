r"""Laws of the task: the distributions from which a function f is drawn.

Every law here is a *ridge law*,

    f(x) = l_1 h_1(<q, x>) + ... + l_K h_K(<q, x>) + b,

with q uniform on the sphere S^{d-1}, amplitudes l_k independent of q and of each other with mean
zero and variance `amplitude_variance`, and an offset b. Softmax weights sum to one, so b never
reaches the loss and is not stored.

A law holds its definition and nothing else: how a method averages over it is that method's own
business, so that two methods share no more than these lines.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import msgspec

from lipverify.errors import InvalidInput

Array = Any
"""An array of any library that follows the array API standard."""


class Law(msgspec.Struct, frozen=True, tag_field="law"):
    r"""A ridge law with Lipschitz constant `L`: amplitudes l_k ~ Unif[-L, L].

    Parameters
    ----------
    L
        Bound on the amplitudes, and so the largest Lipschitz constant of f; finite, >= 0.

    Raises
    ------
    InvalidInput
        If `L` is negative, not finite or not a number.
    """

    L: float = 1.0

    name: ClassVar[str] = "law"
    kinks: ClassVar[tuple[float, ...]] = ()
    link_ranges: ClassVar[tuple[float, ...]] = ()
    """max h_k - min h_k on [-1, 1], one for each link: bounds what one context can contribute."""

    def __post_init__(self) -> None:
        if isinstance(self.L, bool) or not isinstance(self.L, int | float):
            raise InvalidInput(f"L = {self.L!r}: the Lipschitz constant must be a real number.")
        if not (math.isfinite(self.L) and self.L >= 0):
            raise InvalidInput(f"L = {self.L!r}: the Lipschitz constant must be finite and >= 0.")

    @property
    def amplitude_variance(self) -> float:
        """Var l_k = L^2 / 3, the variance of Unif[-L, L]."""
        return self.L**2 / 3

    def links(self, z: Array, xp: Any) -> list[Array]:
        """The link functions h_1(z), ..., h_K(z); `xp` is the array namespace of `z`."""
        raise NotImplementedError


class Affine(Law, frozen=True, tag="affine"):
    r"""f(x) = l <q, x> + b, with l ~ Unif[-L, L] and q uniform on the sphere.

    Source: Collins et al., arXiv 2402.11639, the affine class of section 3.

    >>> Affine(L=3.0).amplitude_variance
    3.0
    """

    name: ClassVar[str] = "affine"
    link_ranges: ClassVar[tuple[float, ...]] = (2.0,)

    def links(self, z: Array, xp: Any) -> list[Array]:
        """The identity."""
        return [z]


class ReLU(Law, frozen=True, tag="relu"):
    r"""f(x) = l_1 (<q, x>)_+ + l_2 (-<q, x>)_+ + b, with l_1, l_2 ~ Unif[-L, L].

    Source: Collins et al., slides, "To formally capture these intuitions", class F_L^+.

    >>> ReLU(L=1.0).kinks
    (0.0,)
    """

    name: ClassVar[str] = "relu"
    kinks: ClassVar[tuple[float, ...]] = (0.0,)
    link_ranges: ClassVar[tuple[float, ...]] = (1.0, 1.0)

    def links(self, z: Array, xp: Any) -> list[Array]:
        """The two half-lines."""
        zero = xp.zeros_like(z)
        return [xp.maximum(z, zero), xp.maximum(-z, zero)]


LAWS: dict[str, type[Law]] = {law.name: law for law in (Affine, ReLU)}


def law_named(name: str, L: float = 1.0) -> Law:
    """The law called `name` (as on the command line) with Lipschitz constant `L`.

    >>> law_named("relu", L=2.0)
    ReLU(L=2.0)
    """
    try:
        return LAWS[name](L=L)
    except KeyError:
        known = ", ".join(sorted(LAWS))
        raise InvalidInput(f"law = {name!r} is not known; choose one of: {known}.") from None
