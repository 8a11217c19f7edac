r"""What a law of the task is: the distribution from which a function f is drawn.

Most laws are *ridge laws*,

    f(x) = l_1 h_1(<q, x>) + ... + l_K h_K(<q, x>) + b,

with q uniform on the sphere S^{d-1} and amplitudes l_k independent of q. Either there are random
amplitudes, independent of each other with mean zero, or there is one link with amplitude l. Softmax
weights sum to one, so the offset b never reaches the loss and is not stored. A `Zonal` law is given
by its covariance alone, and a law of one's own may be a sampler of functions and nothing else.

A law holds its definition and nothing else: how a method averages over it is that method's own
business, so that two methods share no more than these lines.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.random import Generator

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array, Floats
from lipverify.foundation.showing import axes
from lipverify.foundation.streams import standard_normals
from lipverify.problem.sphere import on_sphere


class Law(msgspec.Struct, frozen=True, tag_field="law"):
    """A law of the task; see the subclasses."""

    name: ClassVar[str] = "law"

    @property
    def constant(self) -> bool:
        """Whether every function of the law is constant, so that there is no bias."""
        raise NotImplementedError

    def require_dimension(self, d: int) -> None:
        """Refuse a dimension in which the law is not defined; most are defined in all."""

    @property
    def isotropic(self) -> bool:
        """Whether f(Rx) is drawn like f(x) for every rotation R."""
        return False

    def shape(self, d: int) -> Any:
        """A matrix S such that f(Rx) is drawn like f(x) for every orthogonal R with R S R^T = S; None if unknown."""
        return np.eye(d) if self.isotropic else None

    def covariance(self, d: int) -> Callable[[Floats], Floats]:
        """K with E f(x) f(x') = K(<x, x'>) in dimension d, up to a constant that no loss depends on.

        Raises
        ------
        InvalidInput
            If no closed form is known.

        >>> from lipverify.laws import Affine
        >>> Affine(L=3.0).covariance(d=4)(np.array([1.0, 0.0])).tolist()
        [0.75, 0.0]
        """
        known = "affine, linear, relu, cosine, quadratic, relu-network, Matern, RBF, Zonal and their sums"
        raise InvalidInput(f"law = {self!r}: its covariance has no closed form here; these have one: {known}.")

    def __add__(self, other: Law) -> Law:
        """The law of f + g, f and g independent; both must be isotropic."""
        from lipverify.problem.sums import Sum

        return Sum(((1.0, self), (1.0, other))) if isinstance(other, Law) else NotImplemented

    def __mul__(self, factor: float) -> Law:
        """The law of factor times f."""
        from lipverify.problem.sums import times

        return times(self, factor) if isinstance(factor, int | float) else NotImplemented

    __rmul__ = __mul__


class FunctionLaw(Law, frozen=True):
    """A law whose functions can be drawn and evaluated: f = l_1 f_1 + ... + l_K f_K.

    The amplitudes l_k have mean zero and are independent of each other and of the components f_k; or K = 1
    and the amplitude is fixed. So a squared error averages to amplitude_variance times the sum of those of
    the components, and no amplitude needs to be drawn.
    """

    @property
    def amplitude_variance(self) -> float:
        """E l_k^2."""
        raise NotImplementedError

    @property
    def constant(self) -> bool:
        """Whether no component varies, by its extent, or the amplitude is 0."""
        return self.amplitude_variance == 0 or not any(self.extents())

    def draw(self, rng: Generator, contexts: int, d: int) -> Any:
        """As many tasks as contexts: what `values` needs to evaluate them."""
        raise NotImplementedError

    def numbers_a_task(self, d: int) -> int:
        """How many numbers `draw` draws for a task, where it is an array (contexts, numbers)."""
        return d

    def values(self, tasks: Any, points: Array, xp: Any) -> list[Array]:
        """The components f_1, ..., f_K of each context's task at its points, (contexts, m, d) -> K of (contexts, m)."""
        raise NotImplementedError

    def extents(self, radius: float = 1.0) -> tuple[float, ...]:
        """Bounds on max f_k - min f_k over |x| <= radius: they bound what one context can contribute."""
        raise NotImplementedError

    def slopes(self) -> tuple[float, ...]:
        """Lipschitz constants of f_k on the unit sphere, infinite where none is known."""
        return tuple(math.inf for _ in self.extents())

    def kernel(self, d: int) -> Callable[[Floats], Floats]:
        """K of `covariance`, under the name by which fields and `Zonal`, the laws that are given by K, have it.

        >>> from lipverify.laws import Affine
        >>> (2 * Affine(L=3.0) + Affine(L=3.0)).kernel(d=5)(np.array([1.0, 0.5])).tolist()
        [3.0, 1.5]
        """
        return self.covariance(d)

    def magnitudes(self, radius: float = 1.0) -> tuple[float, ...]:
        """Bounds on max |f_k| over |x| <= radius; only linear attention needs them, whose weights do not sum to one."""
        raise NotImplementedError


class RidgeLaw(FunctionLaw, frozen=True):
    """f(x) = l_1 h_1(<q, x>) + ... + l_K h_K(<q, x>), q uniform on the sphere."""

    @property
    def kink_points(self) -> tuple[float, ...]:
        """Where in (-1, 1) a link is not smooth, jumps among them."""
        return ()

    @property
    def jump_points(self) -> tuple[float, ...]:
        """Where in (-1, 1) a link is not continuous."""
        return ()

    def links(self, z: Array, xp: Any) -> list[Array]:
        """The link functions h_1(z), ..., h_K(z); `xp` is the array namespace of `z`."""
        raise NotImplementedError

    def amplitudes(self, uniforms: Array) -> Array:
        """Amplitudes l_k made of numbers uniform on [0, 1)."""
        raise NotImplementedError

    @property
    def isotropic(self) -> bool:
        """Yes: q is uniform."""
        return True

    def plot(self, ax: Any = None) -> Any:
        """The links h_k(z), z = <q, x> from -1 to 1, before their amplitudes; the axes."""
        ax, z = axes(ax), np.linspace(-1, 1, 401)
        for k, values in enumerate(self.links(z, np), 1):
            ax.plot(z, values, label=f"link {k}")
        ax.set(xlabel="<q, x>", ylabel="link", title=repr(self))
        return ax

    def draw(self, rng: Generator, contexts: int, d: int) -> Array:
        """Directions q, (contexts, d)."""
        return on_sphere(standard_normals(rng, (contexts, d)), np)

    def values(self, tasks: Array, points: Array, xp: Any) -> list[Array]:
        """h_k(<q, x>)."""
        return self.links(xp.matmul(points, tasks[:, :, None])[..., 0], xp)


def as_ridge(law: Law, method: str) -> RidgeLaw:
    """The law, refused by `method` unless it has links."""
    if not isinstance(law, RidgeLaw):
        raise InvalidInput(
            f"law = {law!r}: {method} needs links, f(x) = h(<q, x>) with q uniform on the sphere; this law has none. "
            "A law that is known by its covariance only has method='exact', one that can be drawn 'montecarlo'."
        )
    return law


def as_functions(law: Law, method: str) -> FunctionLaw:
    """The law, refused by `method` unless its functions can be drawn."""
    if not isinstance(law, FunctionLaw):
        raise InvalidInput(
            f"law = {law!r}: {method} needs the functions, and this law is known by its covariance only; "
            "use method='exact', or a law that can be drawn."
        )
    return law
