r"""Laws of the task: the distribution from which a function f is drawn.

Most laws are *ridge laws*,

    f(x) = l_1 h_1(<q, x>) + ... + l_K h_K(<q, x>) + b,

with q uniform on the sphere S^{d-1} and amplitudes l_k independent of q. Either there are random
amplitudes, independent of each other with mean zero, or there is one link with amplitude l. Softmax
weights sum to one, so the offset b does not enter the loss and is not stored. A `Zonal` law is given
by its covariance alone, and a `Sampled` law by a sampler of its functions alone.

A law holds only its definition. Further knowledge that a method needs, such as an average in closed form, is registered
with that method by the class of the law (`by_law`), so that two methods share only the definition.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import singledispatch, update_wrapper
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
import numpy as np
from numpy.random import Generator

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array, Floats
from lipverify.foundation.quoting import shown
from lipverify.foundation.sphere import on_sphere
from lipverify.foundation.streams import standard_normals
from lipverify.foundation.validation import number, zero_or_more
from lipverify.problem.functions import Weighted

Result = TypeVar("Result")


class ByLaw(Generic[Result]):
    """A function whose first argument is a law, with an implementation for each class of laws; see `by_law`."""

    def __init__(self, function: Callable[..., Result]) -> None:
        self.dispatcher = singledispatch(function)
        update_wrapper(self, function)

    def register(self, *classes: type[Law]) -> Callable[[Callable[..., Result]], Callable[..., Result]]:

        def registered(function: Callable[..., Result]) -> Callable[..., Result]:
            for law_class in classes:
                self.dispatcher.register(law_class, function)
            return function

        return registered

    @property
    def classes(self) -> list[type[Law]]:
        """The classes that have an implementation of their own."""
        return [law_class for law_class in self.dispatcher.registry if law_class is not object]

    def has(self, law: Law) -> bool:
        return type(law) in self.dispatcher.registry

    def __call__(self, law: Law, *more: Any) -> Result:
        """Call the implementation for the class of the law, or for its nearest registered base class."""
        registry = self.dispatcher.registry
        for base in type(law).__mro__:
            if base in registry and (base is type(law) or "name" not in vars(base)):
                return registry[base](law, *more)
        return self.default(law, *more)

    def default(self, law: Law, *more: Any) -> Result:
        """The implementation for laws without a registered class."""
        return self.dispatcher.registry[object](law, *more)


def by_law(function: Callable[..., Result]) -> ByLaw[Result]:
    """`functools.singledispatch` for laws: the decorated function serves every law whose class is not registered.

    An implementation registered for a law with a name serves that class alone, because a subclass of `ReLU` may have
    another link. One registered for a class without a name, such as `RidgeLaw`, also serves its subclasses.
    """
    return ByLaw(function)


class Law(msgspec.Struct, frozen=True, tag_field="law"):
    """A law of the task; see the subclasses.

    Examples
    --------
    >>> from lipverify.laws import Affine, RBF
    >>> Affine().name, RBF().isotropic
    ('affine', True)
    """

    name: ClassVar[str] = "law"

    @property
    def constant(self) -> bool:
        """True if every function of the law is constant, so that there is no bias."""
        raise NotImplementedError

    @property
    def isotropic(self) -> bool:
        """True if f(Rx) has the law of f(x) for every rotation R."""
        return False

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
        known = "affine, linear, relu, cosine, quadratic, Matern, RBF, Zonal and their sums"
        raise InvalidInput(f"law = {self!r}: its covariance has no closed form here; these have one: {known}.")

    def __add__(self, other: Law) -> Law:
        """The law of f + g, f and g independent; both must be isotropic."""
        return Sum(((1.0, self), (1.0, other))) if isinstance(other, Law) else NotImplemented

    def __mul__(self, factor: float) -> Law:
        """The law of factor times f."""
        return times(self, factor) if isinstance(factor, int | float) else NotImplemented

    __rmul__ = __mul__


class Bound(msgspec.Struct, frozen=True):
    """Bounds on a component f_k of a law.

    Attributes
    ----------
    extent
        Of max f_k - min f_k over the points, the most that one context can contribute.
    magnitude
        Of max |f_k| over the points; infinite if not known. Only attention whose weights do not sum to one needs it.
    slope
        A Lipschitz constant of f_k on the unit sphere; infinite if not known.

    Examples
    --------
    >>> from lipverify.laws import Quadratic
    >>> Quadratic().bounds(radius=2.0)
    (Bound(extent=4.0, magnitude=4.0, slope=2.0),)
    """

    extent: float
    magnitude: float = math.inf
    slope: float = math.inf


class FunctionLaw(Law, frozen=True):
    """A law whose functions can be drawn and evaluated: f = l_1 f_1 + ... + l_K f_K.

    The amplitudes l_k have mean zero and are independent of each other and of the components f_k; or K = 1
    and the amplitude is fixed. So the mean squared error is amplitude_variance times the sum of the components' mean
    squared errors, and no amplitude needs to be drawn.

    Examples
    --------
    >>> from lipverify.laws import ReLU
    >>> len(ReLU().bounds())  # two components
    2
    """

    @property
    def amplitude_variance(self) -> float:
        """E l_k^2; 1 without random amplitudes."""
        return 1.0

    @property
    def constant(self) -> bool:
        """True if no component varies, by its extent, or the amplitude is 0."""
        return self.amplitude_variance == 0 or not any(bound.extent for bound in self.bounds())

    def draw(self, rng: Generator, contexts: int, d: int) -> Any:
        """Draw one task for each context: an array (contexts, numbers), or another form that `values` takes."""
        raise NotImplementedError

    def values(self, tasks: Any, points: Array, xp: Any) -> list[Array]:
        """The components f_1, ..., f_K of each context's task at its points, (contexts, m, d) -> K of (contexts, m)."""
        raise NotImplementedError

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        """The bounds of each component over |x| <= radius."""
        raise NotImplementedError


class RidgeLaw(FunctionLaw, frozen=True):
    """f(x) = l_1 h_1(<q, x>) + ... + l_K h_K(<q, x>), q uniform on the sphere.

    Examples
    --------
    >>> from lipverify.laws import ReLU
    >>> [link.tolist() for link in ReLU().links(np.array([-0.5, 1.0]), np)]
    [[0.0, 1.0], [0.5, 0.0]]
    """

    @property
    def kink_points(self) -> tuple[float, ...]:
        """The points of (-1, 1) where a link is not smooth, jumps included."""
        return ()

    def links(self, z: Array, xp: Any) -> list[Array]:
        """The link functions h_1(z), ..., h_K(z); `xp` is the array namespace of `z`."""
        raise NotImplementedError

    def amplitudes(self, uniforms: Array) -> Array:
        """Amplitudes l_k from uniform numbers on [0, 1); 1 if they are not random."""
        return 1 + 0 * uniforms

    @property
    def isotropic(self) -> bool:
        """True: q is uniform."""
        return True

    def draw(self, rng: Generator, contexts: int, d: int) -> Array:
        """Directions q, (contexts, d)."""
        return on_sphere(standard_normals(rng, (contexts, d)), np)

    def values(self, tasks: Array, points: Array, xp: Any) -> list[Array]:
        """h_k(<q, x>)."""
        return self.links(xp.matmul(points, tasks[:, :, None])[..., 0], xp)


def as_ridge(law: Law, method: str) -> RidgeLaw:
    """The law; refused by `method` if it has no links."""
    if not isinstance(law, RidgeLaw):
        raise InvalidInput(
            f"law = {law!r}: {method} needs links, f(x) = h(<q, x>) with q uniform on the sphere; this law has none. "
            "A law that is known by its covariance only has method='exact', one that can be drawn 'montecarlo'."
        )
    return law


def as_functions(law: Law, method: str) -> FunctionLaw:
    """The law; refused by `method` if its functions cannot be drawn."""
    if not isinstance(law, FunctionLaw):
        raise InvalidInput(
            f"law = {law!r}: {method} needs the functions, and this law is known by its covariance only; "
            "use method='exact', or a law that can be drawn."
        )
    return law


class Sum(FunctionLaw, frozen=True, tag="sum"):
    r"""f = c_1 f_1 + c_2 f_2 + ..., the f_k independent of each other, each isotropic; `parts`: (c_k^2, law of f_k).

    E f(x) of an isotropic law does not depend on x, so products of different parts cancel in the bias:

        B(w) = c_1^2 B_1(w) + c_2^2 B_2(w) + ...

    exactly, and a method applies to the sum if it applies to each part. A mixture, which draws the task from law k with
    probability p_k, has the same loss with p_k in place of c_k^2. Write `law + other`, `2 * law`,
    `mixture({law: p, ...})`.

    Parameters
    ----------
    parts
        Pairs (c_k^2, law of f_k).

    Raises
    ------
    InvalidInput
        If a part is not isotropic, or a weight is negative or not finite.

    Examples
    --------
    >>> from lipverify.laws import Affine, Cosine
    >>> 2 * Cosine(L=3.0) + Affine()
    Sum(parts=((4.0, Cosine(L=3.0)), (1.0, Affine(L=1.0))))
    """

    parts: tuple[tuple[float, Law], ...]

    name: ClassVar[str] = "sum"

    def __post_init__(self) -> None:
        for weight, law in self.parts:
            number("weight", weight, "the square of a factor, or a probability", least=0)
            if not isinstance(law, Law):
                raise InvalidInput(f"{shown(law)} is not a law; a sum is made of laws, such as ReLU() + Cosine(L=3.0).")
            if not law.isotropic:
                way_out = "write one sampler of the sum: lipverify.laws.Sampled(sampler, extent=...)"
                raise InvalidInput(f"law = {law!r} is not isotropic, and no part of a sum; {way_out}.")
        flat = [(weight * share, part) for weight, law in self.parts for share, part in summands(law)]
        msgspec.structs.force_setattr(self, "parts", tuple((float(weight), law) for weight, law in flat if weight > 0))

    @property
    def constant(self) -> bool:
        """True if every part is constant, or there is no part."""
        return all(law.constant for _, law in self.parts)

    @property
    def isotropic(self) -> bool:
        """True: each part is isotropic."""
        return True

    def covariance(self, d: int) -> Callable[[Floats], Floats]:
        """The sum of the parts' covariances."""
        return Weighted(tuple((weight, law.covariance(d)) for weight, law in self.parts))

    def draw(self, rng: Generator, contexts: int, d: int) -> Array:
        """The draws of each part."""
        drawn = [np.empty((contexts, 0)), *(law.draw(rng, contexts, d) for _, law in self._functions())]
        return np.concatenate(drawn, axis=1)

    def values(self, tasks: Array, points: Array, xp: Any) -> list[Array]:
        """The components of every part, each times the root of its weight and of its amplitude's variance."""
        components: list[Array] = []
        start = 0
        for factor, law in self._functions():
            row = law.draw(np.random.default_rng(0), 1, points.shape[-1])  # any task has as many numbers
            stop = start + row.shape[1]
            components += [factor * component for component in law.values(tasks[:, start:stop], points, xp)]
            start = stop
        return components

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        """The bounds of the parts' components, times the same factors."""
        parts = [(factor, bound) for factor, law in self._functions() for bound in law.bounds(radius)]
        return tuple(Bound(factor * of.extent, factor * of.magnitude, factor * of.slope) for factor, of in parts)

    def _functions(self) -> list[tuple[float, FunctionLaw]]:
        """The parts with their factors; refused unless all can be drawn."""
        parts = [(weight, as_functions(law, "sampling")) for weight, law in self.parts]
        return [(math.sqrt(weight * law.amplitude_variance), law) for weight, law in parts]


def summands(law: Law) -> tuple[tuple[float, Law], ...]:
    """The parts of a sum with their weights, or the law itself."""
    return law.parts if isinstance(law, Sum) else ((1.0, law),)


@by_law
def require_dimension(law: Law, d: int) -> None:
    """Refuse a dimension in which the law is not defined; most laws are defined in all."""


@require_dimension.register(Sum)
def _require_parts(law: Sum, d: int) -> None:
    for _, part in law.parts:
        require_dimension(part, d)


@by_law
def proportional(law: Law) -> bool:
    """True if the functions are proportional to the law's constant `L`, registered by its class."""
    return False


@by_law
def times(law: Any, factor: float) -> Law:
    """The law of factor times f. A class that is not `proportional` may register how it is multiplied."""
    factor = factor_of(factor)
    return msgspec.structs.replace(law, L=factor * law.L) if proportional(law) else Sum(((factor**2, law),))


def factor_of(factor: Any) -> float:
    """The absolute value of a law's factor; refused unless it is a finite number, 0 or large enough to be squared."""
    what = "what a law is multiplied by"
    return zero_or_more("factor", abs(number("factor", factor, what)), what)


def mixture(parts: dict[Law, float]) -> Sum:
    """The mixture of laws with given probabilities, which must sum to one.

    Parameters
    ----------
    parts
        Laws and their probabilities, >= 0.

    Returns
    -------
    Sum
        The law with the same loss: weights p_k in place of c_k^2.

    Raises
    ------
    InvalidInput
        If `parts` are not laws with probabilities that sum to one.

    Examples
    --------
    >>> from lipverify.laws import ReLU, Affine
    >>> mixture({ReLU(): 0.25, Affine(): 0.75}).parts[0]
    (0.25, ReLU(L=1.0))
    """
    if not isinstance(parts, dict) or not abs(math.fsum(parts.values()) - 1) <= 1e-12:
        raise InvalidInput(
            f"mixture({shown(parts)}): give laws with probabilities that sum to 1, {{ReLU(): 0.5, ...}}."
        )
    return Sum(tuple((probability, law) for law, probability in parts.items()))
