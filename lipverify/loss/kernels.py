r"""Attention with a kernel other than the exponential: weights a_i = K(u_i) / sum_j K(u_j), normalised as in softmax.

    u_i = w (1 - <x_i, x>) = w |x_i - x|^2 / 2,        softmax: K(u) = e^{-u}.

If K = 0 at all tokens, the prediction is 0, the mean of every law of the sources.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Array
from lipverify.foundation.quoting import shown
from lipverify.foundation.validation import number
from lipverify.problem import Problem
from lipverify.problem.covariates import Sphere


class Kernel(ABC):
    """Base class of kernels K(u). Your own kernel defines `weight`, and `support` if K has a bounded support.

    Attributes
    ----------
    support
        End of the support: K(u) = 0 for u >= support; infinite by default.

    Examples
    --------
    >>> class Triangle(Kernel):
    ...     support = 1.0
    ...     def weight(self, u, w):
    ...         return np.maximum(1 - np.sqrt(u), 0.0)
    >>> Triangle().weight(np.array([0.0, 0.25, 4.0]), 5.0).tolist()
    [1.0, 0.5, 0.0]
    """

    support: float = math.inf

    @abstractmethod
    def weight(self, u: Array, w: float) -> Array:
        """K at an array of u from 0 to 2 w: >= 0, positive at 0, smooth on [0, support)."""

    def require(self, w: float) -> None:  # noqa: B027 (a kernel need not refuse any)
        """Refuse a w at which the weights are not those of an average."""


@dataclass(frozen=True)
class Rational(Kernel):
    """K = (1 + u / power)^{-power}: a polynomial decay, softmax in the limit of a large power.

    Parameters
    ----------
    power
        The power of the decay; finite, > 0.

    Raises
    ------
    InvalidInput
        If `power` breaks its rule.

    Examples
    --------
    >>> Rational(1.0).weight(np.array([0.0, 1.0, 3.0]), 5.0).tolist()
    [1.0, 0.5, 0.25]
    """

    power: float

    def __post_init__(self) -> None:
        number("power", self.power, "the power of the kernel's decay", above=0)

    def weight(self, u: Array, w: float) -> Array:
        """(1 + u / power)^{-power}."""
        return (1 + u / self.power) ** -self.power


@dataclass(frozen=True)
class Epanechnikov(Kernel):
    """K = 1 - u up to u = 1, that is |x_i - x|^2 <= 2 / w, and 0 beyond.

    Attributes
    ----------
    support
        1: where K ends.

    Examples
    --------
    >>> Epanechnikov().weight(np.array([0.0, 0.25, 3.0]), 5.0).tolist()
    [1.0, 0.75, 0.0]
    """

    support = 1.0

    def weight(self, u: Array, w: float) -> Array:
        """1 - u, or 0."""
        return (1 - u) * (u < 1) + 0.0


@dataclass(frozen=True)
class Box(Kernel):
    """K = 1 up to u = 1 and 0 beyond: the plain average of the tokens with |x_i - x|^2 < 2 / w.

    Attributes
    ----------
    support
        1: where K ends.

    Examples
    --------
    >>> Box().weight(np.array([0.0, 0.25, 3.0]), 5.0).tolist()
    [1.0, 1.0, 0.0]
    """

    support = 1.0

    def weight(self, u: Array, w: float) -> Array:
        """1 or 0."""
        return 1.0 * (u < 1)


@dataclass(frozen=True)
class NormalisedLinear(Kernel):
    r"""Weights (shift + s_i) / sum_j (shift + s_j) with scores s_i = w <x_i, x>: linear attention, normalised.

    With shift = 1 it equals softmax to first order in w. It is a kernel as above only for w < shift. For larger w
    the weights have both signs, the density of their sum is positive at 0, and so E sum_i a_i^2 is infinite. For
    shift = 0, linear attention divided by the sum of its scores, it is infinite at every w.

    Parameters
    ----------
    shift
        Constant added to each score; finite, >= 0.

    Raises
    ------
    InvalidInput
        If `shift` breaks its rule.

    Examples
    --------
    >>> NormalisedLinear().weight(np.array([0.0, 0.25]), 0.5).tolist()
    [1.5, 1.25]
    """

    shift: float = 1.0

    def __post_init__(self) -> None:
        number("shift", self.shift, "the shift of the scores", least=0)

    def weight(self, u: Array, w: float) -> Array:
        """shift + w - u."""
        return self.shift + w - u

    def require(self, w: float) -> None:
        """Refuse w >= shift."""
        if w >= self.shift:
            raise InvalidInput(
                f"attention = {self!r}, w = {w:g}: scores reach -w and the sum of the weights comes near 0, so that "
                f"the loss is infinite; use w < shift, or attention='linear', which divides by n."
            )


def kernel_for(attention: Any, problem: Problem, w: Any, M: Any = None) -> Kernel:
    """The kernel; refuse problems where u is not w |x_i - x|^2 / 2, and w at which its weights are not an average."""
    if not isinstance(attention, Kernel):
        raise InvalidInput(f"attention = {shown(attention)}: it is 'softmax', 'linear' or one of lipverify.attention.")
    if M is not None or not isinstance(problem.covariates, Sphere):
        raise InvalidInput(
            f"attention = {attention!r}: a kernel of |x_i - x| is for tokens on the sphere and M = w I; use 'softmax'."
        )
    for value in np.ravel(w):
        attention.require(float(value))
    return attention
