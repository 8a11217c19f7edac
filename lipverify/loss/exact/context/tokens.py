r"""One token: averages of Gumbel kernels over its deficit S = w (1 - <x_i, x>).

Conditional on the query, a token enters the softmax through its deficit S in [0, 2w], whose density
is zonal,

    p(s) = (s (2w - s) / w^2)^{(d-3)/2} / (w B(1/2, (d-1)/2)).

With u = log(lambda) the Laplace representation (see `context`) asks only for averages
E[psi_k(u - S) h(S)] of

    psi_k(y) = exp(k y - e^y),  k = 0, 1, 2,

which are bounded however large w is: nothing here can overflow. (Where 1 - E psi_0 is the small
number, psi_0's complement 1 - psi_0 is averaged in its place.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lipverify.foundation.arrays import Floats
from lipverify.foundation.gammas import half_beta

Kernel = Literal[0, 1, 2, "complement"]
Rule = Callable[[int], tuple[Floats, Floats]]
"""From an order to nodes and weights on [0, 1]."""

LARGEST_EXPONENT = 700.0
LARGEST_SQUARING = 32


@dataclass(frozen=True)
class Places:
    """Where averages over one token are wanted: the windows `w` > 0 and the points `u`, shape (place,)."""

    d: int
    w: Floats
    u: Floats

    def __getitem__(self, which: slice | NDArray[np.bool_]) -> Places:
        return Places(self.d, self.w[which], self.u[which])

    def __len__(self) -> int:
        return len(self.u)

    def join(self, other: Places) -> Places:
        """These places and then the `other` ones."""
        return Places(self.d, np.concatenate([self.w, other.w]), np.concatenate([self.u, other.u]))


@dataclass(frozen=True)
class TokenNodes:
    """Quadrature nodes for the average over one token, arrays of shape (place, ..., node).

    `y` is u - s, `near` is 1 - t = s/w and `far` is 1 + t = 2 - s/w, each without cancellation; `weight`
    includes the density.
    """

    near: Floats
    far: Floats
    y: Floats
    weight: Floats

    @property
    def angle(self) -> Floats:
        """theta from the query."""
        return np.asarray(2 * np.arctan2(np.sqrt(self.near), np.sqrt(self.far)))


def kernel(k: Kernel, y: Floats) -> Floats:
    """psi_k(y), or 1 - psi_0(y) for "complement"."""
    growth = np.exp(np.minimum(y, LARGEST_EXPONENT))
    if k == "complement":
        return -np.expm1(-growth)
    decay = np.exp(-growth)
    return decay if k == 0 else np.exp(np.clip(k * y, -LARGEST_EXPONENT, LARGEST_EXPONENT)) * decay


def angle_at(s: Floats | float, w: float) -> Floats:
    """The angle at a deficit s."""
    return np.asarray(2 * np.arctan2(np.sqrt(s), np.sqrt(2 * w - s)))


legendre_rule = cache(np.polynomial.legendre.leggauss)
"""Nodes and weights on [-1, 1], remembered for both rules that are made of them."""


@cache
def gauss_rule(order: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre on [0, 1] after x -> sin^2(pi x / 2): exact for half-integer powers at the ends.

    Averages over a kink behave as a half-integer power where the kink is first met; the map turns
    that into an analytic function, so that no dimension is a special case.
    """
    x, weight = legendre_rule(order)
    angle = np.pi * (x + 1) / 4
    return np.sin(angle) ** 2, weight * np.pi / 4 * np.sin(2 * angle)


@cache
def plain_rule(order: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre on [0, 1], where nothing happens at the ends: half of the nodes do."""
    x, weight = legendre_rule(order)
    return (x + 1) / 2, weight / 2


@cache
def smooth_rule(order: int) -> tuple[Floats, Floats]:
    """What `gauss_rule` of an order is worth where nothing happens at the ends: by nodes as dense in the middle."""
    return plain_rule(math.ceil(2 / math.pi * order))


def split_rule(
    edges: Floats, singular: NDArray[np.bool_], order: int, share: float = 1.0
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Rows, nodes and weights on every interval between edges, shape (row, edge): of `gauss_rule` beside singular ones.

    Elsewhere nothing happens at an edge, and as many nodes of `plain_rule`, or that `share` of them, say more.
    """
    place = np.argsort(edges, axis=1)
    edges, singular = np.take_along_axis(edges, place, axis=1), np.take_along_axis(singular, place, axis=1)
    wide = np.diff(edges, axis=1) > 0
    beside = singular[:, 1:] | singular[:, :-1]
    parts = []
    for here, (x, gauss) in (wide & beside, gauss_rule(order)), (wide & ~beside, plain_rule(math.ceil(share * order))):
        row, interval = np.nonzero(here)
        low, width = edges[row, interval, None], np.diff(edges, axis=1)[row, interval, None]
        parts.append((np.repeat(row, x.size), (low + width * x).ravel(), (width * gauss).ravel()))
    (rows, nodes, weights), plain = parts
    return np.append(rows, plain[0]), np.append(nodes, plain[1]), np.append(weights, plain[2])


def integer_power(x: Floats, k: int) -> Floats:
    """x^k for an integer k >= 0: by squaring, several times cheaper than the general power while k is small.

    >>> integer_power(np.array([2.0, 3.0]), 5)
    array([ 32., 243.])
    """
    if k > LARGEST_SQUARING:
        return x**k
    if k < 2:
        return x if k else np.ones_like(x)
    half = integer_power(x, k // 2)
    return half * half * x if k % 2 else half * half


def token_nodes(places: Places, breaks: Floats, order: int, rule: Rule = gauss_rule) -> TokenNodes:
    """The rule of an order in theta between every two neighbours of `breaks`, shape (place, ..., break), in s.

    In theta the density is sin^{d-2}(theta) / B(1/2, (d-1)/2), smooth at both ends in every dimension.
    """
    x, gauss = rule(order)
    column = (slice(None), *[None] * (breaks.ndim - 1))
    w, y = places.w[column], places.u[column] - breaks
    theta = 2 * np.arctan2(np.sqrt(breaks), np.sqrt(2 * w - breaks))
    # A width is a difference of neighbours; it is taken in whichever of s and y is the smaller
    # number, because the other one, and theta, have lost the digits.
    small_s = breaks[..., 1:] <= np.abs(y[..., :-1])
    width = np.where(small_s, np.diff(breaks, axis=-1), -np.diff(y, axis=-1))
    sine = np.sin((theta[..., 1:] + theta[..., :-1]) / 2)
    half = np.arcsin(np.minimum(width / np.maximum(2 * w * sine, np.finfo(float).tiny), 1.0))[..., None]
    # by addition theorems, everything over the cosine of turn = half x: tangents are a tenth as dear as sines
    tangent = np.tan(half * x)
    share = 1 / (1 + tangent * tangent)
    start, turned = theta[..., :-1, None] / 2, theta[..., :-1, None]
    # s - s_break = w (cos theta_break - cos theta) = 2 w sin(turn) sin(theta_break + turn)
    wide = 2 * w[..., None]
    y = y[..., :-1, None] - (wide * np.sin(turned) + wide * np.cos(turned) * tangent) * tangent * share
    sine, cosine = np.sin(start), np.cos(start)
    sine, cosine = sine + cosine * tangent, cosine - sine * tangent
    share *= 2
    scaled = sine * share
    near, far = sine * scaled, cosine * cosine * share
    density = integer_power(np.abs(cosine * scaled), places.d - 2)
    weight = density * (2 * half / half_beta(places.d - 1) * gauss)
    shape = (*breaks.shape[:-1], -1)
    return TokenNodes(*(np.reshape(part, shape) for part in (near, far, y, weight)))
