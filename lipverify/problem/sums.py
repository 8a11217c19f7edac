"""Laws made of others: f + g, 2 f, and tasks of which some are of one law and some of another."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.random import Generator

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array, Floats
from lipverify.foundation.quoting import shown
from lipverify.foundation.validation import number
from lipverify.problem.fields import Field
from lipverify.problem.kernels import Weighted
from lipverify.problem.law import FunctionLaw, Law, as_functions
from lipverify.problem.laws import Linear, Quadratic, RandomAmplitude
from lipverify.problem.network import ReLUNetwork


class Sum(FunctionLaw, frozen=True, tag="sum"):
    r"""f = c_1 f_1 + c_2 f_2 + ..., the f_k independent of each other, each isotropic; `parts`: (c_k^2, law of f_k).

    Of an isotropic law E f(x) is the same everywhere, so that products of different parts leave the bias:

        B(w) = c_1^2 B_1(w) + c_2^2 B_2(w) + ...

    exactly, and every method has the sum that it has of the parts. A mixture, where a task is of law k with probability
    p_k, has the same loss with p_k in place of c_k^2. Write `law + other`, `2 * law`, `mixture({law: p, ...})`.

    Raises
    ------
    InvalidInput
        If a part is not isotropic, or a weight is negative or not finite.

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
                way_out = "write one sampler of the sum: Sampled(sampler, extent=...)"
                raise InvalidInput(f"law = {law!r} is not isotropic, and no part of a sum; {way_out}.")
        flat = [(weight * share, part) for weight, law in self.parts for share, part in summands(law)]
        msgspec.structs.force_setattr(self, "parts", tuple((float(weight), law) for weight, law in flat if weight > 0))

    @property
    def constant(self) -> bool:
        """Whether every part is, or none is left."""
        return all(law.constant for _, law in self.parts)

    @property
    def isotropic(self) -> bool:
        """Yes: each part is."""
        return True

    def require_dimension(self, d: int) -> None:
        """Each part must be defined there."""
        for _, law in self.parts:
            law.require_dimension(d)

    def covariance(self, d: int) -> Callable[[Floats], Floats]:
        """The sum of those of the parts."""
        return Weighted(tuple((weight, law.covariance(d)) for weight, law in self.parts))

    @property
    def amplitude_variance(self) -> float:
        """1: what the parts have is in their values."""
        return 1.0

    def draw(self, rng: Generator, contexts: int, d: int) -> Array:
        """What each part draws, side by side."""
        drawn = [np.empty((contexts, 0)), *(law.draw(rng, contexts, d) for _, law in self._functions())]
        return np.concatenate(drawn, axis=1)

    def values(self, tasks: Array, points: Array, xp: Any) -> list[Array]:
        """The components of every part, each times the root of its weight and of its amplitude's variance."""
        found: list[Array] = []
        start = 0
        for weight, law in self._functions():
            stop = start + law.numbers_a_task(points.shape[-1])
            factor = math.sqrt(weight * law.amplitude_variance)
            found += [factor * each for each in law.values(tasks[:, start:stop], points, xp)]
            start = stop
        return found

    def extents(self, radius: float = 1.0) -> tuple[float, ...]:
        """Those of the parts, times the same factors."""
        return self._bounds(lambda law: law.extents(radius))

    def slopes(self) -> tuple[float, ...]:
        """Those of the parts, times the same factors."""
        return self._bounds(lambda law: law.slopes())

    def magnitudes(self, radius: float = 1.0) -> tuple[float, ...]:
        """Those of the parts, times the same factors."""
        return self._bounds(lambda law: law.magnitudes(radius))

    def _bounds(self, of: Callable[[FunctionLaw], tuple[float, ...]]) -> tuple[float, ...]:
        return tuple(
            math.sqrt(weight * law.amplitude_variance) * bound for weight, law in self._functions() for bound in of(law)
        )

    def _functions(self) -> Sequence[tuple[float, FunctionLaw]]:
        """The parts, refused unless all can be drawn."""
        return [(weight, as_functions(law, "sampling")) for weight, law in self.parts]


def summands(law: Law) -> tuple[tuple[float, Law], ...]:
    """The parts of a sum with their weights, or the law itself."""
    return law.parts if isinstance(law, Sum) else ((1.0, law),)


def times(law: Law, factor: Any) -> Law:
    """The law of factor times f: of its own kind where that has an amplitude L, or a variance.

    >>> from lipverify.laws import ReLU
    >>> times(ReLU(L=1.5), -2)
    ReLU(L=3.0)
    """
    size = abs(number("factor", factor, "what a law is multiplied by"))
    if isinstance(law, RandomAmplitude | Linear | Quadratic | ReLUNetwork):
        return msgspec.structs.replace(law, L=size * law.L)
    if isinstance(law, Field):
        return msgspec.structs.replace(law, variance=size**2 * law.variance)
    return Sum(((size**2, law),))


def mixture(parts: dict[Law, float]) -> Sum:
    """The law of tasks that are of each law with its probability; these must sum to one.

    >>> from lipverify.laws import ReLU, Affine
    >>> mixture({ReLU(): 0.25, Affine(): 0.75}).parts[0]
    (0.25, ReLU(L=1.0))
    """
    if not isinstance(parts, dict) or not abs(math.fsum(parts.values()) - 1) <= 1e-12:
        raise InvalidInput(
            f"mixture({shown(parts)}): give laws with probabilities that sum to 1, {{ReLU(): 0.5, ...}}."
        )
    return Sum(tuple((probability, law) for law, probability in parts.items()))
