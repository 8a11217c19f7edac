r"""GD++ on one eigenvalue of Sigma = sum x x^T: the exact recursion.

With only xx and yx every matrix in a layer is a polynomial in Sigma, and along an eigenvector with eigenvalue t a
token has become m x and the weight vector is w = p(Sigma) alpha, alpha = sum y x. One layer takes

    m' = m (1 + xx s),    p' = p - yx m^2 r,    r' = r (1 + yx s),    s = t m^2,    r = 1 - t p,

from m = 1, p = 0, r = 1. Here s is the eigenvalue of the second moment of the layer's input, and r is the residual
factor of least squares: w = (I - r(Sigma)) w_OLS. So s' = s (1 + xx s)^2 is a cubic, r is a polynomial in t with r(0) =
1, and its degree after L layers is at most 1 + 3 + ... + 3^{L-1} = (3^L - 1) / 2.

Only +, - and * are used: t may be a float, an array of any library, a ball of Arb or a symbol.

Source: Vladymyrov, von Oswald, Sandler, Ge, NeurIPS 2024, section 4, with omega_xy = omega_yy = 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

Number = Any
"""A float, an array, a ball of Arb, a symbol."""


class Weights(Protocol):
    """The two weights of a layer, such as `GDPlusPlus`; of any type that t can be multiplied with."""

    @property
    def xx(self) -> Any:
        """The coefficient of Sigma x in the layer's update of x."""
        ...

    @property
    def yx(self) -> Any:
        """The coefficient of <alpha, x> in the layer's update of y."""
        ...


class Eigenstate(NamedTuple):
    """Token scale m, prediction coefficient p and residual r = 1 - t p, each like t."""

    t: Number
    m: Number
    p: Number
    r: Number

    @property
    def s(self) -> Number:
        """The eigenvalue t m^2 of the second moment of the current tokens."""
        return self.t * self.m * self.m

    def after(self, layer: Weights) -> Eigenstate:
        """The state after one more layer; r is multiplied, never subtracted, so that it keeps its relative accuracy."""
        s = self.s
        return Eigenstate(
            t=self.t,
            m=self.m * (1 + layer.xx * s),
            p=self.p - layer.yx * self.m * self.m * self.r,
            r=self.r * (1 + layer.yx * s),
        )


def start(t: Number) -> Eigenstate:
    """The state before the first layer: m = 1, p = 0, r = 1."""
    return Eigenstate(t=t, m=1 + 0 * t, p=0 * t, r=1 + 0 * t)


def follow(t: Number, layers: Iterable[Weights]) -> Eigenstate:
    """The state after all layers.

    >>> from lipverify.linear_transformer.layer import GDPlusPlus
    >>> follow(2.0, [GDPlusPlus(-0.25, 0.0), GDPlusPlus(0.0, -2.0)])
    Eigenstate(t=2.0, m=0.5, p=0.5, r=0.0)
    """
    state = start(t)
    for layer in layers:
        state = state.after(layer)
    return state
