r"""The zonal covariance of a law, harmonic by harmonic: K(t) = sum_l k_l P_l(t), P_l(1) = 1.

With N_l the dimension of the harmonics of degree l, z a coordinate of a uniform point of S^{d-1}, and links h
with amplitudes of variance v, the Funk-Hecke formula says

    k_l = N_l E[K(z) P_l(z)],        and for a ridge law  k_l = v N_l sum_h (E[h(z) P_l(z)])^2.

If the last average has a closed form, that is used.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import EPS, Floats
from lipverify.foundation.harmonics import Spectrum, dimension
from lipverify.foundation.sphere import half_beta
from lipverify.loss.exact.zonal.projection import of_covariance, of_links
from lipverify.problem.fields import Field
from lipverify.problem.fine import features
from lipverify.problem.law import Law, RidgeLaw, Sum, by_law
from lipverify.problem.laws import Affine, Cosine, Quadratic, ReLU, WithOffset
from lipverify.problem.own import Ridge, Zonal

CLOSED_FORMS: tuple[type[Law], ...] = (Affine, Quadratic, Cosine, ReLU)
"""The laws with closed forms for all coefficients."""
MOST_TURNS = 1e5
"""Largest L of a cosine, which has about L harmonics in every dimension; ten times as many take ten seconds."""


@lru_cache(maxsize=32)
def spectrum_of(law: Law, d: int, most: int) -> Spectrum:
    """The spectrum of an isotropic law on the sphere of R^d: the power of f in the harmonics of each degree.

    Parameters
    ----------
    law
        An isotropic law that the exact method knows.
    d
        The dimension.
    most
        How many coefficients are needed: at least the first `most` are given, or all above rounding.

    Returns
    -------
    Spectrum
        `k`, the coefficients from degree 1 on, and `total`, the sum of all of them.

    Raises
    ------
    InvalidInput
        If K is not positive definite in dimension d.

    Examples
    --------
    >>> from lipverify.laws import Linear
    >>> spectrum_of(Linear(), 3, 2).k.round(12).tolist()[:2]
    [0.333333333333, 0.0]
    """
    return spectrum(law, d, most)


@by_law
def spectrum(law: Law, d: int, most: int) -> Spectrum:
    """The spectrum of a law, registered by its class: in closed form if there is one."""
    raise InvalidInput(f"law = {law!r} has neither links nor a covariance.")


spectrum.register(RidgeLaw)(of_links)
spectrum.register(Ridge)(lambda law, d, most: of_links(law, d, most, features(law.link)))
spectrum.register(WithOffset)(lambda law, d, most: spectrum(law.ridge, d, most))  # an offset is in k_0 alone


@spectrum.register(Field)
def _of_covariance(law: Law, d: int, most: int) -> Spectrum:
    return of_covariance(law.covariance(d), d, most)


@spectrum.register(Zonal)
def _of_zonal(law: Zonal, d: int, most: int) -> Spectrum:
    if law.spectrum is None:
        return of_covariance(law.covariance(d), d, most, given=law.K is not None)
    k = np.array(law.spectrum[1:] or (0.0,))
    return Spectrum(d, k, np.zeros_like(k), 0.0, 0.0)


@spectrum.register(Sum)
def _of_sum(law: Sum, d: int, most: int) -> Spectrum:
    """The weighted sum of spectra; a coefficient that one of them does not list is in its tail or is rounding."""
    parts = [(weight, spectrum_of(part, d, most)) for weight, part in law.parts]
    added = np.zeros((2, max((part.k.size for _, part in parts), default=1)))
    for weight, part in parts:
        added[:, : part.k.size] += weight * np.stack([part.k, part.error])
    tail = sum(weight * part.tail for weight, part in parts)
    tail_error = sum(weight * part.tail_error for weight, part in parts)
    return Spectrum(d, added[0], added[1] + EPS * added[0], tail, tail_error)


@spectrum.register(Affine)
def _affine(law: Affine, d: int, most: int) -> Spectrum:
    """E <q, x><q, x'> = t / d."""
    return Spectrum.finite(d, [law.amplitude_variance / d])


@spectrum.register(Quadratic)
def _quadratic(law: Quadratic, d: int, most: int) -> Spectrum:
    """E <q, x>^2 <q, x'>^2 = (1 + 2 t^2) / (d (d + 2)), and P_2 = (d t^2 - 1) / (d - 1)."""
    return Spectrum.finite(d, [0.0, 2 * law.amplitude_variance * (d - 1) / (d**2 * (d + 2))])


@spectrum.register(Cosine)
def _cosine(law: Cosine, d: int, most: int) -> Spectrum:
    """k_l = N_l (E cos(L z) P_l(z))^2 for even l; odd coefficients vanish."""
    if law.L > MOST_TURNS:
        raise OutOfReach(f"L = {law.L:g}: of a cosine at most {MOST_TURNS:g}; use method='montecarlo'.")
    size = 2 * int(law.L + 40)
    wave = _wave(law.L, d, size)
    even = np.arange(size + 1) % 2 == 0
    k = np.where(even, wave**2, 0.0)[1:]
    # a ratio of neighbours has an error of a few eps; near a zero of the wave, an error of eps times its neighbour
    near = np.abs(wave) * np.maximum(np.abs(wave), np.append(np.abs(wave[1:]), 0.0))
    error = 8 * EPS * np.where(even, near * (np.arange(size + 1) + law.L), 0.0)[1:]
    # D_l <= l (l + d - 2) / (d - 1) D_1: the factor of k_l in the bias is at most the square of that
    degrees = np.arange(1.0, k.size + 1)
    counts = k * (degrees * (degrees + d - 2)) ** 2
    tails = np.cumsum(counts[::-1])[::-1]
    keep = max(2, int(np.count_nonzero(tails > 1e-18 * tails[0])))
    return Spectrum(d, k[:keep], error[:keep], 0.0, 0.0)


def _wave(L: float, d: int, top: int) -> Floats:
    r"""s_l = N_l^{1/2} E e^{iLz} P_l(z) without its factor i^l, l = 0..top, by Miller's backward recurrence.

    s_l is proportional to N_l^{1/2} J_{l+d/2-1}(L), the plane wave expansion, so that with g_l = (N_l / N_{l-1})^{1/2}

        g_l s_{l-1} + s_{l+1} / g_{l+1} = (2l + d - 2) / L s_l,

    and sum_l s_l^2 = E |e^{iLz}|^2 = 1 sets the scale, without gamma functions, overflow or underflow.
    """
    wave = np.zeros(top + 2)
    if L < 1e-100:  # constant to rounding
        wave[0] = 1.0
        return wave[:-1]
    degree = np.arange(2.0, top + 2)
    steps = (2 * degree + d - 2) / (2 * degree + d - 4) * (degree + d - 3) / degree
    growth = np.sqrt(np.concatenate([[1.0, d], steps]))
    wave[top] = 1.0
    for i in range(top, 0, -1):
        wave[i - 1] = ((2 * i + d - 2) / L * wave[i] - wave[i + 1] / growth[i + 1]) / growth[i]
        if abs(wave[i - 1]) > 1e100:
            wave[i - 1 :] /= 1e100
    wave /= np.max(np.abs(wave))
    return np.asarray(wave[:-1] / np.sqrt(np.sum(wave**2)))


@spectrum.register(ReLU)
def _relu(law: ReLU, d: int, most: int) -> Spectrum:
    """E |z| P_l(z) = +-Gamma(d/2) Gamma((l-1)/2) / (2 pi Gamma((l+d+1)/2)) for even l, by ratios from l = 2.

    (z)_+ = (z + |z|) / 2, for two links: k_1 = v / 2d and k_l = v N_l (E |z| P_l)^2 / 2.
    """
    degree = np.arange(2.0, 800_000.0, 2.0)  # the rest is replaced by an integral
    ways = (degree + d - 1) * (degree + d - 2) / ((degree + 2) * (degree + 1)) * (2 * degree + d + 2)
    ratio = ways / (2 * degree + d - 2) * ((degree - 1) / (degree + d + 1)) ** 2
    first = half_beta(d) / (math.pi * (d + 1))  # Gamma(1/2) Gamma(d/2) / (2 pi Gamma((d+3)/2))
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
