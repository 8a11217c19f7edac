r"""Elementary functions of the sphere S^{d-1}: uniform points, sines by tangents, and the constant of a zonal density.

NumPy vectorises the tangent, and its sine and cosine take ten times as long. With t = tan(x/2): sin x = 2 t / (1 + t^2)
and cos x = (1 - t) (1 + t) / (1 + t^2), 1 - cos x = 2 t^2 / (1 + t^2).

The constant is a ratio of gamma functions. lgamma(d/2) is about (d/2) log d, so its rounding error would become a
relative error of the ratio: 10^3 units in the last place at d = 1000. Binomial coefficients are exact integers.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from lipverify.foundation.arrays import Array, Floats, row_sums


def sine_and_cosine(x: Floats) -> tuple[Floats, Floats]:
    """Sine and cosine of angles in [-pi, pi], to 3 eps; for |x| <= pi/2 to 2 eps, the sine relative to itself."""
    t = np.tan(x / 2)
    share = 1 / (1 + t * t)
    return 2 * t * share, (1 - t) * (1 + t) * share


def versine(x: Floats) -> Floats:
    """1 - cos(x) = 2 sin^2(x/2) for angles in [-pi, pi], with a relative error of 4 eps."""
    square = np.tan(x / 2) ** 2
    return 2 * square / (1 + square)


LARGEST_EXACT = 20_000
"""Largest m with exact binomial coefficients (a few thousand digits); for larger m the series is as accurate."""


@cache
def half_beta(m: int) -> float:
    r"""B(1/2, m/2) = int_0^pi sin^{m-1}, the constant of every zonal density, for an integer m >= 1, to 4 roundings.

        B(1/2, k) = 4^k / (k C(2k, k)),        B(1/2, k + 1/2) = pi C(2k, k) / 4^k.

    >>> half_beta(1) / math.pi, half_beta(2), half_beta(4)
    (1.0, 2.0, 1.3333333333333333)
    """
    k, odd = divmod(m, 2)
    if m > LARGEST_EXACT:
        x = m / 2
        # Gamma(x + 1/2) / (x^{1/2} Gamma(x)) in powers of 1/x; the next term is below 10^-22 (DLMF 5.11.13)
        series = (1.0, -1 / 8, 1 / 128, 5 / 1024, -21 / 32768)
        ratio = math.sqrt(x) * math.fsum(coefficient * x**-j for j, coefficient in enumerate(series))
        return math.sqrt(math.pi) / ratio
    # Python rounds the quotient of two integers once, however large they are
    return math.pi * (math.comb(2 * k, k) / 4**k) if odd else 4**k / (k * math.comb(2 * k, k))


def on_sphere(normals: Array, xp: Any) -> Array:
    """Points uniform on S^{d-1} from standard normals of shape (..., d): x / |x|."""
    return normals / xp.sqrt(row_sums(normals * normals, xp))[..., None]
