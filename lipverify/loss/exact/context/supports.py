r"""Where the integrand of an average over one token lives, and where to split it.

In the variable x = logit(s / 2w) the integrand is, up to a constant,

    log I_k(x) = ((d-1)/2) log(s (2w - s)) + log psi_k(u - s):

it falls to -inf at both ends and has a single mode in every dimension, d = 2 included. A Gauss rule
between the points where it has fallen by `LOG_DROP` is exact to rounding, once it is split at the mode
and where the kernels bend, which is at s = u. Only those ends need care: a split may be anywhere near.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, wrightomega

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.context.tokens import LARGEST_EXPONENT, Places

KERNELS = np.array([[1.0], [2.0]])
"""The k of which supports are looked for: a column."""
LOG_DROP = 42.0
"""Integrands are dropped below e^-42 = 6e-19 of their maximum."""

BENDS = (3.6, 0.0)
"""The kernels turn from one exponential into another about these values of y = u - s; beyond the first psi_0 is 0."""
LEFT, RIGHT = (0.4,), (0.06, 0.2, 0.5)
"""Splits between the mode and the ends, as shares of the distance: the exponential on the right needs more."""

AROUND_THE_BEND = np.array([-2.0, -1.0, 0.0, 1.0, 2.5, 5.0, 10.0])
"""Candidates for s - u at the mode, where the kernel decides."""

NEAREST, FARTHEST = np.log(1e-16), np.log(250.0)
"""Distances in x between which an end is looked for, on the scale of their logarithms."""
SAME, CLOSE = 1e-13, 1e-2
"""Breaks that are nearer to each other than this, relative to them, are one; those that may be moved, sooner."""
BISECTIONS = 9
"""Enough to know a distance to a tenth."""


def token_breaks(places: Places) -> Floats:
    """Where to split the integrals over s of psi_1 and psi_2: shape (place, break), ascending.

    Beyond either end psi_0 is 0 or 1, or the density negligible: see `Averages.log_phi`.
    """
    low, mode, high = _supports(places)
    low, first, last, high = low.min(axis=0), mode.min(axis=0), mode.max(axis=0), high.max(axis=0)
    left = [first + share * (low - first) for share in LEFT]
    right = [last + share * (high - last) for share in RIGHT]
    inner = [first, *left, *right, *(np.minimum(np.maximum(places.u - bend, low), high) for bend in BENDS)]
    return np.sort(np.stack([low, *inner, high], axis=-1), axis=-1)


def distinct(breaks: Floats, apart: float = SAME) -> Floats:
    """Breaks, shape (..., break), without those that are next to their left neighbours everywhere, relative to them."""
    wide = np.diff(breaks, axis=-1) > apart * breaks[..., 1:]
    return np.compress(np.append(True, wide.any(axis=tuple(range(breaks.ndim - 1)))), breaks, axis=-1)


def _supports(places: Places) -> tuple[Floats, Floats, Floats]:
    """(low, mode, high) in s for each of the kernels, of shape (kernel, place)."""
    x = _mode(places)
    floor = _log_integrand(places, x) - LOG_DROP
    sides = np.array([[[-1.0]], [[1.0]]])
    inside, outside = np.full((2, 2, *x.shape), [[[[NEAREST]]], [[[FARTHEST]]]])
    for _ in range(BISECTIONS):
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
    """A point x near the mode, within a unit or so of the maximum of log I_k: the best of a few candidates.

    Far from the bend the mode is that of e^{-k s} (s (2w - s))^{(d-1)/2}, a root of a quadratic; where
    the bend decides, s is near u, or next to 2w if u is beyond it.
    """
    w, u, half_m = places.w, places.u, (places.d - 1) / 2
    exponential = 2 * w * half_m / (KERNELS * w + half_m + np.hypot(KERNELS * w, half_m))
    # near 2w what is left of it solves half_m / rest = e^{u - s}; it may be too small to be a difference
    rest = np.minimum(wrightomega(np.log(half_m) + 2 * w - u), w)
    bend = np.minimum(np.maximum(u + AROUND_THE_BEND[:, None, None], exponential), 2 * w)
    deficits = np.concatenate([exponential[None], np.broadcast_to(2 * w - rest, (1, *exponential.shape)), bend])
    x = np.log(deficits) - np.log(np.maximum(2 * w - deficits, 0.1 * rest))
    best = np.argmax(_log_integrand(places, x), axis=0)
    return np.take_along_axis(x, best[None], axis=0)[0]
