r"""Classification: labels are 0 or 1, and a law gives the probability of a 1.

P(y = 1 | x) = p(x). The Lipschitz constant is sup |p(x) - p(x')| / |x - x'|, a probability per unit of length.
Attention predicts p(x) by the weighted average of the labels. If the law is the same in every direction, the mean of
p(x)(1 - p(x)) over tasks is one number v for all x. Up to a constant, the Brier loss E (hat p - y)^2 is then the loss
of regression on f = p with noise of variance v:

    E (hat p - p(x))^2 = B(w) + v E sum_i a_i^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from lipverify import Problem
from lipverify.checks.softmax.quantities import Floats
from lipverify.errors import InvalidInput
from lipverify.laws import Linear, Ridge

NODES = 64
"""Nodes of the quadrature over the sphere."""


def _logistic(law: ClassLaw, z: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(4 * law.L * z))


LINKS: dict[str, Callable[[ClassLaw, Floats], Floats]] = {
    "linear": lambda law, z: law.base + law.L * z,
    "logistic": _logistic,
    "cosine": lambda law, z: (1 + np.cos(2 * law.L * z)) / 2,
}


class ClassLaw(msgspec.Struct, frozen=True, kw_only=True):
    r"""Class probabilities p(x) = flip + (1 - 2 flip) pi(<q, x>), q uniform on the sphere.

    "linear": pi(z) = base + L z; "logistic": pi(z) = 1 / (1 + exp(-4 L z)); "cosine": pi(z) = (1 + cos(2 L z)) / 2. All
    have Lipschitz constant L (the cosine only for L >= pi/4; below, it does not reach its largest slope). Labels are
    flipped with probability `flip`.
    """

    link: str
    L: float
    base: float = 0.5
    flip: float = 0.0

    def __post_init__(self) -> None:
        if self.link == "linear" and min(self.base, 1 - self.base) < self.L:
            raise InvalidInput(f"L = {self.L!r}, base = {self.base!r}: base - L and base + L must lie in [0, 1].")

    @property
    def lipschitz(self) -> float:
        """The Lipschitz constant of p."""
        return (1 - 2 * self.flip) * self.L

    def __call__(self, z: Floats) -> Floats:
        """p(x) where <q, x> = z."""
        return np.asarray(self.flip + (1 - 2 * self.flip) * LINKS[self.link](self, z))

    def variance(self, d: int) -> float:
        """The mean variance of a label, E p (1 - p)."""
        from scipy.special import roots_jacobi

        z, weights = roots_jacobi(NODES, (d - 3) / 2, (d - 3) / 2)
        p = self(z)
        return float(np.sum(weights * p * (1 - p)) / np.sum(weights))

    def regression(self, d: int, n: int) -> Problem:
        """The regression problem with the same loss up to a constant. Constants in p do not matter and are dropped."""
        law = Linear(self.lipschitz) if self.link == "linear" else Ridge(self)
        return Problem(d=d, n=n, law=law, sigma=math.sqrt(self.variance(d)))


def brier_splits(kept: str = "1") -> Any:
    """E (sum a_i y_i - p)^2 minus `kept` times [(sum a_i p_i - p)^2 + sum a_i^2 p_i (1 - p_i)], for labels y_i in {0, 1}.

    The mean over all labels of three tokens with probabilities p_i, in free symbols.
    """
    import itertools

    import sympy

    a, p = sympy.symbols("a1:4"), sympy.symbols("p1:4")
    q = sympy.symbols("p")
    mean = sum(
        sympy.prod([x if label else 1 - x for x, label in zip(p, labels, strict=True)])
        * (sum(x * label for x, label in zip(a, labels, strict=True)) - q) ** 2
        for labels in itertools.product((0, 1), repeat=3)
    )
    bias = (sum(x * y for x, y in zip(a, p, strict=True)) - q) ** 2
    noise = sum(x**2 * y * (1 - y) for x, y in zip(a, p, strict=True))
    return sympy.expand(mean - sympy.Rational(kept) * (bias + noise))
