r"""One token: averages of Gumbel kernels over its deficit S = w (1 - <x_i, x>).

Conditional on the query, a token enters the softmax through its deficit S in [0, 2w], with the density

    p(s) = (s (2w - s) / w^2)^{(d-3)/2} / (w B(1/2, (d-1)/2)).

With u = log(lambda) the Laplace representation (see `contexts`) asks only for averages E[psi_k(u - S) h(S)] of

    psi_k(y) = exp(k y - e^y),  k = 0, 1, 2,

which are bounded for all w; where 1 - E psi_0 is the small number, its complement is averaged instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, wrightomega

from lipverify.foundation.arrays import Floats
from lipverify.foundation.sphere import half_beta
from lipverify.loss.exact.quadrature import gauss_rule, integer_power

Kernel = Literal[0, 1, 2, "complement"]
Rule = Callable[[int], tuple[Floats, Floats]]
"""A function from an order to nodes and weights on [0, 1]."""

LARGEST_EXPONENT = 700.0
"""Range of exponents: e^709 is the largest double."""


@dataclass(frozen=True)
class Places:
    """Pairs (w, u) at which averages over one token are computed: `w` > 0 and `u`, shape (place,)."""

    d: int
    w: Floats
    u: Floats

    def __getitem__(self, which: slice | NDArray[np.bool_]) -> Places:
        return Places(self.d, self.w[which], self.u[which])

    def __len__(self) -> int:
        return len(self.u)


@dataclass(frozen=True)
class TokenNodes:
    """Quadrature nodes for the average over one token, arrays of shape (place, ..., node), without cancellation."""

    near: Floats  # 1 - t = s/w
    far: Floats  # 1 + t = 2 - s/w
    y: Floats  # u - s
    weight: Floats  # with the density

    @property
    def angle(self) -> Floats:
        """theta from the query."""
        return angle_of(self.near, self.far)


def kernel(k: Kernel, y: Floats) -> Floats:
    """psi_k(y), or 1 - psi_0(y) for "complement"."""
    growth = np.exp(np.minimum(y, LARGEST_EXPONENT))
    if k == "complement":
        return -np.expm1(-growth)
    decay = np.exp(-growth)
    return decay if k == 0 else np.exp(np.clip(k * y, -LARGEST_EXPONENT, LARGEST_EXPONENT)) * decay


def angle_of(near: Floats | float, far: Floats | float) -> Floats:
    """theta from 1 - cos theta and 1 + cos theta, or from a multiple of both."""
    return np.asarray(2 * np.arctan2(np.sqrt(near), np.sqrt(far)))


def angle_at(s: Floats | float, w: float) -> Floats:
    """The angle at a deficit s."""
    return angle_of(s, 2 * w - s)


def token_nodes(places: Places, breaks: Floats, order: int, rule: Rule = gauss_rule) -> TokenNodes:
    """A rule of the given order between neighbouring `breaks` in s, shape (place, ..., break), in theta.

    There the density is sin^{d-2}(theta) / B(1/2, (d-1)/2), smooth at both ends in every dimension.
    """
    x, gauss = rule(order)
    column = (slice(None), *[None] * (breaks.ndim - 1))
    w, y = places.w[column], places.u[column] - breaks
    theta = angle_of(breaks, 2 * w - breaks)
    # A width is a difference of neighbours; it is taken in whichever of s and y is the smaller
    # number, because the other one, and theta, have lost the digits.
    small_s = breaks[..., 1:] <= np.abs(y[..., :-1])
    width = np.where(small_s, np.diff(breaks, axis=-1), -np.diff(y, axis=-1))
    sine = np.sin((theta[..., 1:] + theta[..., :-1]) / 2)
    half = np.arcsin(np.minimum(width / np.maximum(2 * w * sine, np.finfo(float).tiny), 1.0))[..., None]
    # by addition theorems, divided by the cosine of turn = half x: tangents take a tenth of the time of sines
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


KERNELS = np.array([[1.0], [2.0]])
"""The k whose supports are computed, as a column."""
LOG_DROP = 42.0
"""Integrands are dropped below e^-42 = 6e-19 of their maximum."""


def token_breaks(places: Places) -> Floats:
    """Split points of the integrals over s of psi_1 and psi_2: shape (place, break), ascending.

    Beyond either end psi_0 is 0 or 1, or the density is negligible: see `Averages.log_phi`.
    """
    low, mode, high = _supports(places)
    low, first, last, high = low.min(axis=0), mode.min(axis=0), mode.max(axis=0), high.max(axis=0)
    # the exponential on the right needs more splits
    right = [last + share * (high - last) for share in (0.06, 0.2, 0.5)]
    # u - s at which the kernels change from one exponential to another; above the first, psi_0 is 0
    bends = [np.minimum(np.maximum(places.u - bend, low), high) for bend in (3.6, 0.0)]
    return np.sort(np.stack([low, first, first + 0.4 * (low - first), *right, *bends, high], axis=-1), axis=-1)


def distinct(breaks: Floats, apart: float = 1e-13) -> Floats:
    """Breaks, shape (..., break), without those that nearly coincide with their left neighbours in every row."""
    # in high dimensions all breaks are close to s = w: there the share is one of their range
    wide = np.diff(breaks, axis=-1) > apart * np.minimum(breaks[..., 1:], breaks[..., -1:] - breaks[..., :1])
    return np.compress(np.append(True, wide.any(axis=tuple(range(breaks.ndim - 1)))), breaks, axis=-1)


def _supports(places: Places) -> tuple[Floats, Floats, Floats]:
    """(low, mode, high) in s for each of the kernels, of shape (kernel, place)."""
    x = _mode(places)
    floor = _log_integrand(places, x) - LOG_DROP
    sides = np.array([[[-1.0]], [[1.0]]])
    inside, outside = np.full((2, 2, *x.shape), np.log([[[[1e-16]]], [[[250.0]]]]))
    for _ in range(9):  # to 10 % of the distance
        middle = 0.5 * (inside + outside)
        above = _log_integrand(places, x + sides * np.exp(middle)) > floor
        inside, outside = np.where(above, middle, inside), np.where(above, outside, middle)
    low, high = 2 * places.w * expit(x + sides * np.exp(outside))
    return low, 2 * places.w * expit(x), high


def _log_integrand(places: Places, x: Floats) -> Floats:
    """log I_k(x) up to a constant, x of shape (..., kernel, place)."""
    softplus = np.logaddexp(0.0, x)
    y = places.u - 2 * places.w * expit(x)
    growth = np.exp(np.clip(y, -LARGEST_EXPONENT, LARGEST_EXPONENT))
    return np.asarray(KERNELS * y - growth - (places.d - 1) / 2 * (2 * softplus - x))


def _mode(places: Places) -> Floats:
    """A point x within about a unit of the maximum of log I_k: the best of a few candidates."""
    w, u, half_m = places.w, places.u, (places.d - 1) / 2
    # far from the bend the mode is that of e^{-k s} (s (2w - s))^{(d-1)/2}, a root of a quadratic
    exponential = 2 * w * half_m / (KERNELS * w + half_m + np.hypot(KERNELS * w, half_m))
    # near 2w, rest = 2w - s solves half_m / rest = e^{u - s}; it may be too small to compute as a difference
    rest = np.minimum(wrightomega(np.log(half_m) + 2 * w - u), w)
    around = np.array([-2.0, -1.0, 0.0, 1.0, 2.5, 5.0, 10.0])[:, None, None]
    bend = np.minimum(np.maximum(u + around, exponential), 2 * w)
    deficits = np.concatenate([exponential[None], np.broadcast_to(2 * w - rest, (1, *exponential.shape)), bend])
    x = np.log(deficits) - np.log(np.maximum(2 * w - deficits, 0.1 * rest))
    best = np.argmax(_log_integrand(places, x), axis=0)
    return np.take_along_axis(x, best[None], axis=0)[0]
