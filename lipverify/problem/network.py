"""A random network of two layers: ReLU units with biases."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from lipverify.foundation.arrays import Array
from lipverify.foundation.sphere import on_sphere
from lipverify.foundation.streams import standard_normals
from lipverify.foundation.validation import number
from lipverify.problem.functions import ArcCosine
from lipverify.problem.law import Bound, FunctionLaw, proportional


class ReLUNetwork(FunctionLaw, frozen=True, tag="relu-network"):
    r"""f(x) = m^{-1/2} sum_{j <= m} a_j (<q_j, x> + bias b_j)_+, a_j ~ Unif[-L, L], (q_j, b_j) uniform on S^d.

    All a_j and (q_j, b_j) are independent. The loss depends on the covariance alone, which does not depend on the
    number m of hidden units. So m is not a parameter: the loss is that of every width, and sampling draws one unit.

        E f(x) f(x') = L^2/3 (1 + bias^2) / (d + 1) (sin a + (pi - a) cos a) / (2 pi),
        cos a = (<x, x'> + bias^2) / (1 + bias^2).

    Parameters
    ----------
    L
        Bound on the weights of the second layer; finite, >= 0.
    bias
        Scale of the biases of the first layer relative to its weights; finite, >= 0.

    Raises
    ------
    InvalidInput
        If `L` or `bias` is negative or not finite.

    Source: the covariance is the kernel of Cho and Saul 2009, at the points (x, bias).

    Examples
    --------
    >>> law = ReLUNetwork(L=1.0, bias=0.5)
    >>> round(float(law.covariance(3)(np.array(1.0))), 9)  # L^2/3 (1 + bias^2) / (2 (d + 1))
    0.052083333
    """

    L: float = 1.0
    bias: float = 1.0

    name: ClassVar[str] = "relu-network"

    def __post_init__(self) -> None:
        number("L", self.L, "the bound on the outer weights", least=0)
        number("bias", self.bias, "the size of the biases", least=0)

    @property
    def constant(self) -> bool:
        """True if L = 0."""
        return self.L == 0

    @property
    def isotropic(self) -> bool:
        """True: the (q_j, b_j) are uniform."""
        return True

    def covariance(self, d: int) -> ArcCosine:
        """The closed form above."""
        return ArcCosine(self.amplitude_variance / (2 * (d + 1)), self.bias)

    @property
    def amplitude_variance(self) -> float:
        """E a_j^2 = L^2 / 3."""
        return self.L**2 / 3

    def draw(self, rng: Generator, contexts: int, d: int) -> Array:
        """(q, b) of one hidden unit, (contexts, d + 1)."""
        return on_sphere(standard_normals(rng, (contexts, d + 1)), np)

    def values(self, tasks: Array, points: Array, xp: Any) -> list[Array]:
        """(<q, x> + bias b)_+."""
        z = xp.matmul(points, tasks[:, :-1, None])[..., 0] + self.bias * tasks[:, -1:]
        return [xp.maximum(z, xp.zeros_like(z))]

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        """From 0 to |(x, bias)| at the radius, by Cauchy and Schwarz."""
        size = math.hypot(radius, self.bias)
        return (Bound(size, size),)


proportional.register(ReLUNetwork)(lambda law: True)
