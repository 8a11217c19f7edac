r"""The zonal covariance of a law, harmonic by harmonic: K(t) = sum_l k_l P_l(t), P_l(1) = 1.

With N_l the dimension of the harmonics of degree l, z a coordinate of a uniform point of S^{d-1}, and links h
with amplitudes of variance v, the Funk-Hecke formula says

    k_l = N_l E[K(z) P_l(z)],        and for a ridge law  k_l = v N_l sum_h (E[h(z) P_l(z)])^2.

Where the last average has a closed form it is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import gammaln, jv

from lipverify.errors import InvalidInput
from lipverify.loss.zonal.harmonics import Spectrum, dimension
from lipverify.loss.zonal.projection import of_kernel, of_links
from lipverify.problem.law import Law, RidgeLaw
from lipverify.problem.laws import Affine, Cosine, Quadratic, ReLU
from lipverify.problem.own import Zonal

SERIES = 30
"""Terms of 0F1(a; -x) for x < a, each at most a j-th of the one before."""
EPS = float(np.finfo(float).eps)
NEGLIGIBLE = 1e-18
"""What is left out of the bias, relative."""
BEYOND = 400_000
"""Even degrees of the ReLU law that are summed before the rest is an integral."""


@lru_cache(maxsize=32)
def spectrum_of(law: Law, d: int, most: int) -> Spectrum:
    """At least the first `most` coefficients of a law, or all that differ from rounding.

    Raises
    ------
    InvalidInput
        If a kernel is not positive definite in dimension d.
    """
    if isinstance(law, Zonal) and law.spectrum is not None:
        k = np.array(law.spectrum[1:] or (0.0,))
        return Spectrum(d, k, np.zeros_like(k), 0.0, 0.0)
    if isinstance(law, Zonal):
        assert law.kernel is not None
        return of_kernel(law.kernel, d, most)
    if type(law) in CLOSED_FORMS:
        return CLOSED_FORMS[type(law)](law, d, most)
    if isinstance(law, RidgeLaw):
        return of_links(law, d, most)
    raise InvalidInput(f"law = {law!r} has neither links nor a covariance.")


def _affine(law: Affine, d: int, most: int) -> Spectrum:
    """E <q, x><q, x'> = t / d."""
    return _exact(d, np.array([law.amplitude_variance / d]))


def _quadratic(law: Quadratic, d: int, most: int) -> Spectrum:
    """E <q, x>^2 <q, x'>^2 = (1 + 2 t^2) / (d (d + 2)), and P_2 = (d t^2 - 1) / (d - 1)."""
    return _exact(d, np.array([0.0, 2 * law.amplitude_variance * (d - 1) / (d**2 * (d + 2))]))


def _cosine(law: Cosine, d: int, most: int) -> Spectrum:
    """E cos(L z) P_l(z) = +-Gamma(d/2) (2/L)^{d/2-1} J_{l+d/2-1}(L) for even l: the plane wave expansion."""
    k = np.zeros(2 * int(law.L + 40))
    for degree in range(2, k.size + 1, 2):
        k[degree - 1] = dimension(d, degree) * _wave(law.L, d, degree) ** 2
    # D_l <= l (l + d - 2) / (d - 1) D_1: the bias counts k_l by the square of that at most
    degrees = np.arange(1.0, k.size + 1)
    counts = k * (degrees * (degrees + d - 2)) ** 2
    left = np.cumsum(counts[::-1])[::-1]
    keep = max(2, int(np.count_nonzero(left > NEGLIGIBLE * left[0])))
    return _exact(d, k[:keep], 16 * (d + k.size) * EPS)


def _wave(L: float, d: int, degree: int) -> float:
    """Gamma(d/2) (2/L)^{d/2-1} J_{l+d/2-1}(L), or by its power series (L/2)^l Gamma(d/2) / Gamma(l+d/2) 0F1(l+d/2)."""
    order = degree + d / 2
    if order > L**2 / 4:
        power = degree * math.log(L / 2) if L > 0 else -math.inf
        terms = np.cumprod([1.0, *(-(L**2) / 4 / (j * (order + j - 1)) for j in range(1, SERIES))])
        return math.exp(power + gammaln(d / 2) - gammaln(order)) * float(np.sum(terms))
    return math.exp(gammaln(d / 2) + (d / 2 - 1) * math.log(2 / L)) * float(jv(order - 1, L))


def _relu(law: ReLU, d: int, most: int) -> Spectrum:
    """E |z| P_l(z) = +-Gamma(d/2) Gamma((l-1)/2) / (2 pi Gamma((l+d+1)/2)) for even l, by ratios from l = 2.

    (z)_+ = (z + |z|) / 2, for two links: k_1 = v / 2d and k_l = v N_l (E |z| P_l)^2 / 2.
    """
    degree = np.arange(2.0, 2.0 * BEYOND, 2.0)
    ways = (degree + d - 1) * (degree + d - 2) / ((degree + 2) * (degree + 1)) * (2 * degree + d + 2)
    ratio = ways / (2 * degree + d - 2) * ((degree - 1) / (degree + d + 1)) ** 2
    first = math.exp(gammaln(d / 2) + gammaln(0.5) - gammaln((d + 3) / 2)) / (2 * math.pi)
    even = law.amplitude_variance / 2 * dimension(d, 2) * first**2 * np.cumprod(np.concatenate([[1.0], ratio]))
    k = np.zeros(2 * even.size)
    k[0], k[1::2] = law.amplitude_variance / (2 * d), even
    # beyond the last, k_l falls like l^-4 with corrections of relative order d / l and d^3 / l^2
    last = 2.0 * even.size
    rest = even[-1] * last / 6
    keep = min(most, k.size)
    error = 4 * np.sqrt(np.arange(1.0, keep + 1)) * EPS * k[:keep]
    tail = float(np.sum(k[keep:])) + rest
    return Spectrum(d, k[:keep], error, tail, 1e-12 * tail + rest * (4 * d / last + d**3 / last**2))


def _exact(d: int, k: np.ndarray, relative: float = 8 * EPS) -> Spectrum:
    """A spectrum that ends, known to rounding."""
    return Spectrum(d, k, relative * k, 0.0, 0.0)


CLOSED_FORMS: dict[type[Law], Callable[..., Spectrum]] = {
    Affine: _affine,
    Quadratic: _quadratic,
    Cosine: _cosine,
    ReLU: _relu,
}
