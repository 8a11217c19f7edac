r"""Ratios of gamma functions with half-integer arguments, without the logarithms that cost digits in high dimensions.

lgamma(d/2) is about (d/2) log d, so its rounding error becomes a relative error of the ratio: 10^3 units in the last
place at d = 1000. Binomial coefficients are exact integers.
"""

from __future__ import annotations

import math
from functools import cache

LARGEST_EXACT = 20_000
"""Largest m with exact binomial coefficients (a few thousand digits); for larger m the series is as accurate."""
SERIES = (1.0, -1 / 8, 1 / 128, 5 / 1024, -21 / 32768)
"""Gamma(x + 1/2) / (x^{1/2} Gamma(x)) in powers of 1/x; beyond x = 10^4 the next is below 10^-22 (DLMF 5.11.13)."""


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
        ratio = math.sqrt(x) * math.fsum(coefficient * x**-j for j, coefficient in enumerate(SERIES))
        return math.sqrt(math.pi) / ratio
    # Python rounds the quotient of two integers once, however large they are
    return math.pi * (math.comb(2 * k, k) / 4**k) if odd else 4**k / (k * math.comb(2 * k, k))
