"""First-order optimisers as pure functions: (moments, gradient) to (moments, change of the parameters)."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.foundation.validation import number

OptimiserName = Literal["adam", "gd"]


class Moments(msgspec.Struct, frozen=True):
    """Running means of the gradient and of its square, entry by entry, after some number of steps."""

    first: Floats
    second: Floats
    steps: int

    @classmethod
    def none(cls, *shape: int) -> Moments:
        """The moments before the first step, for parameters of a shape."""
        return cls(np.zeros(shape), np.zeros(shape), 0)


class Optimiser(msgspec.Struct, frozen=True, tag_field="optimiser"):
    """A rule for the change of parameters from a gradient; see the subclasses."""

    learning_rate: float
    name: ClassVar[str] = "optimiser"

    def __post_init__(self) -> None:
        number("learning_rate", self.learning_rate, above=0)

    def step(self, moments: Moments, gradient: Floats) -> tuple[Moments, Floats]:
        """The moments after one more step, and the change of the parameters."""
        raise NotImplementedError


class GradientDescent(Optimiser, frozen=True, tag="gd"):
    """x <- x - learning_rate g."""

    name: ClassVar[str] = "gd"

    def step(self, moments: Moments, gradient: Floats) -> tuple[Moments, Floats]:
        return moments, -self.learning_rate * gradient


class Adam(Optimiser, frozen=True, tag="adam"):
    """x <- x - learning_rate m / (sqrt(v) + eps), m and v running means over 1 - beta^t (Kingma and Ba, 2015)."""

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    name: ClassVar[str] = "adam"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("beta1", "beta2"):
            number(name, getattr(self, name), least=0, below=1)
        number("eps", self.eps, above=0)

    def step(self, moments: Moments, gradient: Floats) -> tuple[Moments, Floats]:
        t = moments.steps + 1
        first = self.beta1 * moments.first + (1 - self.beta1) * gradient
        second = self.beta2 * moments.second + (1 - self.beta2) * gradient**2
        m, v = first / (1 - self.beta1**t), second / (1 - self.beta2**t)
        return Moments(first, second, t), -self.learning_rate * m / (np.sqrt(v) + self.eps)


OPTIMISERS: dict[OptimiserName, type[Optimiser]] = {"adam": Adam, "gd": GradientDescent}
