r"""One token: averages of Gumbel kernels over its deficit S = w (1 - <x_i, x>).

Conditional on the query, a token enters the softmax through its deficit S in [0, 2w], whose density
is zonal,

    p(s) = (s (2w - s) / w^2)^{(d-3)/2} / (w B(1/2, (d-1)/2)).

With u = log(lambda) the Laplace representation (see `context`) asks only for averages
E[psi_k(u - S) h(S)] of

    psi_k(y) = exp(k y - e^y),  k = 0, 1, 2,

which are bounded however large w is: nothing here can overflow. (Where 1 - E psi_0 is the small
number, psi_0's complement 1 - psi_0 is averaged in its place.) Each integrand is unimodal, so a
Gauss rule between the points where it has fallen by `LOG_DROP` is exact to rounding, once it is split
at the modes and where the kernels bend, which is at S = u.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import beta, expit

Floats = NDArray[np.float64]
Kernel = Literal[0, 1, 2, "complement"]

LOG_DROP = 42.0
"""Integrands are dropped below e^-42 = 6e-19 of their maximum."""

BENDS = (4.0, -1.0)
"""The kernels turn from one exponential into another for y = u - s between these values."""

BISECTIONS = 40
LOGIT_RANGE = 250.0
LARGEST_EXPONENT = 700.0


@dataclass(frozen=True)
class Token:
    """The zonal law of one token at window `w` > 0 in ambient dimension `d`."""

    d: int
    w: float

    def density(self, s: Floats, reflected: Floats) -> Floats:
        """p(s); `reflected` is 2w - s, passed because subtracting here would lose digits."""
        sine_squared = (s / self.w) * (reflected / self.w)
        return sine_squared ** ((self.d - 3) / 2) / (self.w * beta(0.5, (self.d - 1) / 2))


@dataclass(frozen=True)
class TokenNodes:
    """Quadrature nodes in s, arrays of shape (place, ..., node), one place for each value of u.

    `y` is u - s and `reflected` is 2w - s, each computed without cancellation; `weight` includes
    the density.
    """

    s: Floats
    reflected: Floats
    y: Floats
    weight: Floats


def kernel(k: Kernel, y: Floats) -> Floats:
    """psi_k(y), or 1 - psi_0(y) for "complement"."""
    growth = np.exp(np.minimum(y, LARGEST_EXPONENT))
    return -np.expm1(-growth) if k == "complement" else np.exp(k * y - growth)


def _log_kernel(k: Kernel, y: Floats) -> Floats:
    """Log psi_k(y)."""
    growth = np.exp(np.clip(y, -LARGEST_EXPONENT, LARGEST_EXPONENT))
    return np.log(-np.expm1(-growth)) if k == "complement" else k * y - growth


def _log_kernel_slope(k: Kernel, y: Floats) -> Floats:
    """D log psi_k / dy."""
    growth = np.exp(np.clip(y, -LARGEST_EXPONENT, LARGEST_EXPONENT))
    if k == "complement":
        growth = np.minimum(growth, LARGEST_EXPONENT)
        return growth / np.expm1(growth)
    return k - growth


class _Integrand:
    """log of psi_k(u - s) p(s) ds/dx, for several k and u at once, in the variable x = logit(s / 2w).

    It is ((d-1)/2) log(s (2w - s)) + log psi_k(u - s) up to a constant: it falls to -inf at both ends
    and has a single mode in every dimension, d = 2 included.
    """

    def __init__(self, token: Token, u: Floats, kernels: tuple[Kernel, ...]) -> None:
        self.power, self.w, self.u, self.kernels = (token.d - 1) / 2, token.w, u, kernels

    def deficit(self, x: Floats) -> Floats:
        return 2 * self.w * expit(x)

    def log(self, x: Floats) -> Floats:
        y = self.u - self.deficit(x)
        kernels = np.stack([_log_kernel(k, y[i]) for i, k in enumerate(self.kernels)])
        return kernels - self.power * (np.logaddexp(0.0, x) + np.logaddexp(0.0, -x))

    def rising(self, x: Floats) -> NDArray[np.bool_]:
        s = self.deficit(x)
        slope = np.stack([_log_kernel_slope(k, self.u - s[i]) for i, k in enumerate(self.kernels)])
        # ds/dx = s (1 - s/2w); logs are compared because a growth of e^700 times s can overflow
        with np.errstate(over="ignore"):
            return self.power * (1 - s / self.w) > s * expit(-x) * slope


def _supports(token: Token, u: Floats, kernels: tuple[Kernel, ...]) -> tuple[Floats, Floats, Floats]:
    """(low, mode, high) in s, each of shape (kernel, *u.shape), of psi_k(u - s) p(s)."""
    integrand = _Integrand(token, u, kernels)
    shape = (len(kernels), *u.shape)
    low, high = np.full(shape, -LOGIT_RANGE), np.full(shape, LOGIT_RANGE)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        rising = integrand.rising(middle)
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    mode = 0.5 * (low + high)
    floor = integrand.log(mode) - LOG_DROP
    outside_left, inside_left = np.full(shape, -LOGIT_RANGE), mode
    inside_right, outside_right = mode, np.full(shape, LOGIT_RANGE)
    for _ in range(BISECTIONS):
        left, right = 0.5 * (outside_left + inside_left), 0.5 * (inside_right + outside_right)
        above_left, above_right = integrand.log(left) > floor, integrand.log(right) > floor
        inside_left = np.where(above_left, left, inside_left)
        outside_left = np.where(above_left, outside_left, left)
        inside_right = np.where(above_right, right, inside_right)
        outside_right = np.where(above_right, outside_right, right)
    return (
        integrand.deficit(outside_left),
        integrand.deficit(mode),
        integrand.deficit(outside_right),
    )


@cache
def gauss_rule(order: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre on [0, 1] after x -> sin^2(pi x / 2): exact for half-integer powers at the ends.

    A density behaves as s^{(d-3)/2} at the ends and an average over a kink as a half-integer power
    there; the map turns both into analytic functions, so that no dimension is a special case.
    """
    x, weight = np.polynomial.legendre.leggauss(order)
    angle = np.pi * (x + 1) / 4
    return np.sin(angle) ** 2, weight * np.pi / 4 * np.sin(2 * angle)


def token_breaks(token: Token, u: Floats, kernels: tuple[Kernel, ...]) -> Floats:
    """Where to split the integrals over s for every u: shape (*u.shape, break), ascending."""
    lows, modes, highs = _supports(token, u, kernels)
    low, high = lows.min(axis=0), highs.max(axis=0)
    first, last = modes.min(axis=0), modes.max(axis=0)
    shoulders = [first + 0.25 * (low - first), last + 0.25 * (high - last)]
    inner = [*modes, *shoulders, *(np.clip(u - bend, low, high) for bend in BENDS)]
    return np.sort(np.stack([low, *inner, high], axis=-1), axis=-1)


def token_nodes(token: Token, u: Floats, breaks: Floats, order: int) -> TokenNodes:
    """The Gauss rule of `order` between every two neighbours of `breaks`."""
    x, gauss = gauss_rule(order)
    y_breaks = u[..., None] - breaks
    # A width is a difference of neighbours; it is taken in whichever of s and y is the smaller
    # number, because the other one has lost the digits.
    small_s = breaks[..., 1:] <= np.abs(y_breaks[..., :-1])
    width = np.where(small_s, np.diff(breaks, axis=-1), -np.diff(y_breaks, axis=-1))[..., None]
    s = breaks[..., :-1, None] + width * x
    y = y_breaks[..., :-1, None] - width * x
    reflected = (2 * token.w - breaks[..., :-1, None]) - width * x
    reflected = np.maximum(reflected, np.finfo(float).tiny)
    weight = width * gauss * token.density(s, reflected)
    shape = (*breaks.shape[:-1], -1)
    return TokenNodes(*(np.reshape(part, shape) for part in (s, reflected, y, weight)))
