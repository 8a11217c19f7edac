r"""The slow, obvious, high-precision reference for the two terms of the loss, in mpmath.

For L = 1 and sigma = 1 (MATH.md sections 1-4)

    noise = E sum_i a_i^2                        a_i = e^{w t_i} / sum_j e^{w t_j}
    bias  = E (sum_i a_i f(x_i) - f(x))^2        f affine or relu

by its definition: `direct` integrates it for n = 2, and `window_zero` is its closed form at w = 0. Other n are in
`balls`, by an integral of which nothing is used here. It knows nothing of the library under test: a problem is the
numbers d, n, w.

Every function works in the current mpmath precision and refuses fewer than 30 digits. `order` is
the number of Gauss-Legendre nodes of a panel; a value is known to the digits to which two calls
with different order, precision and panels agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from mpmath import mp, mpf

from tests.reference.splits import angle, from_both_ends, inside

LEAST_DIGITS = 30
Number = Any


def require_precision() -> None:
    """Refuse to compute a reference value in fewer than 30 digits."""
    if mp.dps < LEAST_DIGITS:
        raise ValueError(
            f"mp.dps = {mp.dps}: a reference value needs at least {LEAST_DIGITS} digits; "
            f"call it inside `with mpmath.workdps({LEAST_DIGITS}):` or more."
        )


@cache
def _legendre(order: int, precision: int) -> tuple[tuple[Number, Number], ...]:
    """Nodes and weights of the Gauss-Legendre rule on [0, 1] at `precision` bits."""
    with mp.workprec(precision + 20):
        rule = []
        for k in range(order):
            x = mp.cos(mp.pi * (k + mpf(3) / 4) / (order + mpf(1) / 2))
            for _ in range(precision.bit_length()):
                p, slope = _legendre_and_slope(order, x)
                x -= p / slope
            slope = _legendre_and_slope(order, x)[1]
            rule.append(((1 + x) / 2, 1 / ((1 - x**2) * slope**2)))
    return tuple(rule)


def _legendre_and_slope(order: int, x: Number) -> tuple[Number, Number]:
    """P_order(x) and its derivative, by the three-term recurrence."""
    before, now = mpf(1), x
    for k in range(1, order):
        before, now = now, ((2 * k + 1) * x * now - k * before) / (k + 1)
    return now, order * (x * now - before) / (x**2 - 1)


def nodes(panels: Sequence[Number], order: int) -> list[tuple[Number, Number]]:
    """Nodes and weights of the composite rule: `order` nodes between neighbouring `panels`."""
    rule = _legendre(order, mp.prec)
    ends = [mpf(p) for p in panels]
    return [(a + (b - a) * x, (b - a) * weight) for a, b in pairwise(ends) for x, weight in rule]


def zonal_constant(d: int) -> Number:
    """C such that C sin^{d-2}(theta) is the density of the angle between two points of S^{d-1}."""
    return mp.gamma(mpf(d) / 2) / (mp.sqrt(mp.pi) * mp.gamma(mpf(d - 1) / 2))


# The definition for n = 2.


def abs_kernel(d: int, gamma: Number) -> Number:
    """E |<q,x>| |<q,x'>| for q uniform on S^{d-1} and points at angle gamma in [0, pi]."""
    return 2 / (mp.pi * d) * (mp.sin(gamma) + (mp.pi / 2 - gamma) * mp.cos(gamma))


def _fold(gamma: Number) -> Number:
    """The angle in [0, pi] with the cosine of gamma in [0, 2 pi]."""
    return gamma if gamma <= mp.pi else 2 * mp.pi - gamma


def _abs_integral(gamma: Number) -> Number:
    """The antiderivative in t = cos gamma of sqrt(1 - t^2) + t asin(t)."""
    t, s, arc = mp.cos(gamma), mp.sin(gamma), mp.pi / 2 - gamma
    return 3 * t * s / 4 + arc / 4 + t * t * arc / 2


def mean_abs_kernel(d: int, theta_1: Number, theta_2: Number, order: int) -> Number:
    """E_r abs_kernel at cosine t_1 t_2 + s_1 s_2 r, r the cosine of two points of S^{d-2}; closed for d = 2 and 4."""
    near, far = _fold(abs(theta_1 - theta_2)), _fold(theta_1 + theta_2)
    if d == 2:
        return (abs_kernel(2, near) + abs_kernel(2, far)) / 2
    if d == 4:
        width = 2 * mp.sin(theta_1) * mp.sin(theta_2)
        return 2 / (mp.pi * 4) * (_abs_integral(near) - _abs_integral(far)) / width
    total, s, t = mpf(0), mp.sin(theta_1) * mp.sin(theta_2), mp.cos(theta_1) * mp.cos(theta_2)
    for alpha, weight in nodes([0, mp.pi / 16, mp.pi / 4, mp.pi], order):
        density = zonal_constant(d - 1) * mp.sin(alpha) ** (d - 3)
        total += weight * density * abs_kernel(d, mp.acos(t + s * mp.cos(alpha)))
    return total


class DirectTerms(NamedTuple):
    """Noise, and the bias of both laws, for L = sigma = 1 and n = 2."""

    noise: Number
    affine: Number
    relu: Number


def direct(d: int, w: Number, order: int, ratio: float = 3.0, relu: bool = True) -> DirectTerms:
    r"""Both terms for n = 2 from the definition: a double integral over the two angles.

        bias = E sum_ij a_i a_j [K(x_i, x_j) - K(x_i, x) - K(x_j, x) + K(x, x)]

    over theta_1 < theta_2 (twice, by symmetry), with a_1 = 1/(1 + e^{w (t_2 - t_1)}). The relu
    kernel is not smooth where theta_2 = theta_1 and theta_2 = pi - theta_1: both are panel edges.
    """
    require_precision()
    w = mpf(w)
    sums = [mpf(0)] * 3
    cuts = [angle(tau, float(w)) for tau in from_both_ends(float(w), ratio)[1:-1]]
    outer = [*inside((*cuts, *(k * 0.3926990816987242 for k in range(1, 8))), 0, 3.14159), mp.pi]
    for theta_1, weight_1 in nodes(outer, order):
        for theta_2, weight_2 in nodes(_second_angle(theta_1, w, ratio), order):
            weight = weight_1 * weight_2 * (mp.sin(theta_1) * mp.sin(theta_2)) ** (d - 2)
            terms = _pair_terms(d, w, theta_1, theta_2, order, relu)
            sums = [s + weight * term for s, term in zip(sums, terms, strict=True)]
    return DirectTerms(*(2 * zonal_constant(d) ** 2 * s for s in sums))


def _second_angle(theta_1: Number, w: Number, ratio: float) -> list[Number]:
    """Panels of theta_2 in [theta_1, pi]: logistic steps of width 1 in w t, and the mirror angle."""
    start = float(w * 2 * mp.sin(theta_1 / 2) ** 2)
    taus = [start + 1.5 * ratio**k for k in range(5)]
    steps = [angle(tau, float(w)) for tau in taus if tau < 2 * w]
    low, mirror = float(theta_1), mp.pi - theta_1
    panels = inside((*steps, *(k * 0.5235987755982989 for k in range(1, 6))), low, float(mp.pi))
    exact = [theta_1, *(mpf(p) for p in panels[1:-1]), mp.pi]
    return sorted([*exact, mirror]) if mirror > theta_1 else exact


def _pair_terms(
    d: int, w: Number, theta_1: Number, theta_2: Number, order: int, relu: bool
) -> tuple[Number, Number, Number]:
    """sum a_i^2 and, for each law, sum_ij a_i a_j [...] at one pair of angles, averaged over r."""
    gap = 2 * w * mp.sin((theta_2 - theta_1) / 2) * mp.sin((theta_2 + theta_1) / 2)  # w (t_1 - t_2)
    small = mp.exp(-gap)
    a_1, a_2 = 1 / (1 + small), small / (1 + small)
    h_1, h_2 = 2 * mp.sin(theta_1 / 2) ** 2, 2 * mp.sin(theta_2 / 2) ** 2
    affine = 2 * a_1**2 * h_1 + 2 * a_2**2 * h_2 + 2 * a_1 * a_2 * h_1 * h_2
    absolute = mpf(0)
    if relu:
        at_1, at_2 = abs_kernel(d, theta_1), abs_kernel(d, theta_2)
        both = mean_abs_kernel(d, theta_1, theta_2, order)
        one = mpf(1) / d
        absolute = 2 * a_1**2 * (one - at_1) + 2 * a_2**2 * (one - at_2)
        absolute += 2 * a_1 * a_2 * (both - at_1 - at_2 + one)
    return a_1**2 + a_2**2, affine / (3 * d), affine / (6 * d) + absolute / 6


# The closed form at w = 0.


def window_zero(d: int, n: int) -> DirectTerms:
    """w = 0: every weight is 1/n, so noise = 1/n and bias = (1 + 1/n)(K(1) - mean K)."""
    require_precision()
    n = mpf(n)
    absolute = (mpf(1) / d - mean_abs(d) ** 2) / 6
    return DirectTerms(1 / n, (1 + 1 / n) / (3 * d), (1 + 1 / n) * (mpf(1) / (6 * d) + absolute))


def mean_abs(d: int) -> Number:
    """E |<q, x>| on S^{d-1}; its square is the mean of abs_kernel."""
    return mp.gamma(mpf(d) / 2) / (mp.sqrt(mp.pi) * mp.gamma(mpf(d + 1) / 2))
