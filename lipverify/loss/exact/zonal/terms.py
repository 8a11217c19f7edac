r"""Noise and bias as sums over harmonics and over a grid in u = log(lambda).

    N = sigma^2 n int A_2[1] phi^{n-1} du,
    B = n int A_2[V] phi^{n-1} du + n (n-1) int sum_l k_l A_1[D_l]^2 phi^{n-2} du,

with A_k[h] = E[lambda^k g^k h e^{-lambda g}], D_l = 1 - P_l(t), V = 2 sum_l k_l D_l. The integrands are
analytic in a strip about the real line, of half-width pi/2 since |e^{-lambda g}| <= 1 for Re lambda > 0, so
the trapezoidal rule converges like e^{-pi^2 / step}.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import EPS, Floats
from lipverify.foundation.harmonics import Spectrum
from lipverify.loss.exact.zonal.spectrum import spectrum_of
from lipverify.loss.exact.zonal.sums import SHARED_BELOW, Sums, count_of, log_phi, nodes, sums
from lipverify.problem import Problem
from lipverify.problem.law import Law

STEP = 1 / 8
"""Step in u: e^{-pi^2 / step} is far below rounding, even for twice the step."""
ROUGH_STRIDE = 4
"""Multiple of the step for rough values: with it, e^{-pi^2 / step} is 3e-9."""
MOST_DEGREES, MOST_POINTS = 20_000, 60_000
"""Most harmonics, and most nodes, of one sum."""
SHORT = 1024
"""A spectrum of fewer harmonics takes some milliseconds."""
MOST_WORK = 10_000_000
"""Largest number of harmonics times points in u with their own rule: about two minutes."""
OTHERWISE = "method='montecarlo', or route='ridge' for a law with links, a covariance or a variogram"
ROUNDING = 200 * EPS
"""Relative rounding of a bias: a sum over thousands of harmonics, each from a recurrence."""
FLAT = 1e-17
"""A w up to this value changes the weights and both terms by less than rounding."""


def zonal_terms(problem: Problem, w: Floats) -> Floats:
    """Bias, noise, and the errors of both at every value in `w` (finite, >= 0) for a law with a known covariance.

    Errors are bounds: the difference to rules with twice the step, the error of the spectrum, harmonics left out, and
    rounding. Validity: every d and n; w up to about 3,700 if windows hold few tokens. Spectra that fall like a power,
    as that of ReLU, need about 28 sqrt(w) harmonics, and 10 w if windows hold few tokens.
    Source: the product formula for Gegenbauer polynomials; docs/method.md.
    """
    return np.array([_at(problem, window) for window in w.tolist()]).T


def rough_zonal_terms(problem: Problem, w: Floats, count: int) -> tuple[Floats, Floats]:
    """(noise, bias) at the first `count` of w > 0, n >= 2, to about six digits, with `ROUGH_STRIDE` times the step."""
    values = []
    for window in w[:count].tolist():
        u = _grid(problem.d, float(problem.n), window)[::ROUGH_STRIDE]
        integrands = sums(_spectrum(problem.law, problem.d, window, u), window, u)
        values.append(ROUGH_STRIDE * _integrals(integrands, float(problem.n), 0, 1))
    noise, bias = np.reshape(values, (-1, 2)).T
    return problem.sigma**2 * noise, bias


def work_of(problem: Problem, w: float) -> float:
    """Upper bound on the cost of one w, in harmonics times points in u: a million takes about fifteen seconds.

    Points that share a rule count as a quarter, and the spectrum counts by the lengths of its rules.
    """
    if w <= FLAT:
        return 0.0
    try:
        u = _grid(problem.d, float(problem.n), w)
    except OutOfReach:
        return math.inf
    shared, harmonics = np.count_nonzero(u <= SHARED_BELOW), _wanted(w, u)
    return harmonics * (u.size - shared + shared / 4 + harmonics / 750)


def counts_of(problem: Problem, w: float) -> tuple[float, float, float]:
    """Largest number of harmonics for one w, nodes for each, and size of the largest array."""
    u = _grid(problem.d, float(problem.n), w)
    harmonics = int(min(_wanted(w, u), MOST_DEGREES))
    for most in (64, 512):  # a smooth law has no more harmonics
        if most < harmonics and (size := spectrum_of(problem.law, problem.d, most).k.size) < most:
            harmonics = size
    if _own(u) * harmonics > MOST_WORK:
        harmonics = _spectrum(problem.law, problem.d, w, u).k.size
    return harmonics, *count_of(problem.d, w, u, harmonics)


def _at(problem: Problem, w: float) -> tuple[float, float, float, float]:
    n, variance = float(problem.n), problem.sigma**2
    if w <= FLAT or n == 1:
        spectrum = spectrum_of(problem.law, problem.d, 64)
        bias = (1 + 1 / n) * spectrum.total
        error = ROUNDING * bias + 2 * (spectrum.tail_error + float(np.sum(spectrum.error)))
        return bias, variance / n, error, 4 * EPS * variance / n
    u = _grid(problem.d, n, w)
    integrands = sums(_spectrum(problem.law, problem.d, w, u), w, u)
    values = _integrals(integrands, n, 0, 1)
    gaps = sum(np.abs(values - coarse) for coarse in (_integrals(integrands, n, 0, 2), _integrals(integrands, n, 1, 1)))
    # the weights contain sin^{d-2}(theta): 1 eps for the sine, 2 for the edges of theta, 1 for the place between them
    rounding = ROUNDING + 4 * EPS * (problem.d - 2) + EPS * 4 * float(np.max(np.abs(u)))
    noise_error, bias_error = gaps + rounding * values
    single, double = _factors(integrands.log_phi[0], n, STEP)
    bias_error += float(single @ integrands.variogram_error[0] + double @ integrands.pairs_error[0])
    return float(values[1]), variance * float(values[0]), float(bias_error), variance * float(noise_error)


def _integrals(integrands: Sums, n: float, which: int, stride: int) -> Floats:
    """(N / sigma^2, B) by the whole rule over tokens or half of it, at every point in u or every second one."""
    every = (which, slice(None, None, stride))
    single, double = _factors(integrands.log_phi[every], n, STEP * stride)
    bias = single @ integrands.variogram[every] + double @ integrands.pairs[every]
    return np.array([single @ integrands.square[every], bias])


def _factors(logarithm: Floats, n: float, step: float) -> tuple[Floats, Floats]:
    """The factors n phi^{n-1} du and n (n-1) phi^{n-2} du, with 0^0 = 1."""
    rest = np.exp((n - 2) * logarithm) if n > 2 else np.ones_like(logarithm)
    return step * n * np.exp((n - 1) * logarithm), step * n * (n - 1) * rest


def _spectrum(law: Law, d: int, w: float, u: Floats) -> Spectrum:
    """The relevant coefficients: those of harmonics whose averages over a window are above rounding."""
    count, most = _wanted(w, u), MOST_WORK // max(_own(u), 1)
    # a spectrum of so many harmonics is known soon, a whole one takes up to fifteen seconds
    if most < min(count, MOST_DEGREES) and spectrum_of(law, d, most + 1).k.size > most:
        raise OutOfReach(
            f"w = {w:g}: windows hold few tokens and the zonal route would need more than {most} harmonics at each of "
            f"{u.size} points, minutes of work; use a smaller w, {OTHERWISE}."
        )
    # if long a power of two, so that a search over w has few spectra to compute
    listed = int(min(count if count < SHORT else 2 ** math.ceil(math.log2(count)), MOST_DEGREES))
    spectrum = spectrum_of(law, d, listed).upto(int(min(count, listed)))
    if count > MOST_DEGREES and spectrum.tail > spectrum.tail_error:
        raise OutOfReach(
            f"w = {w:g}: the spectrum of this law falls slowly, and the zonal route would need {count:.0f} harmonics, "
            f"at most {MOST_DEGREES}; use a smaller w, {OTHERWISE}."
        )
    return spectrum


def _own(u: Floats) -> int:
    """Number of points with their own rule."""
    return int(np.count_nonzero(u > SHARED_BELOW))


def _wanted(w: float, u: Floats) -> float:
    """Upper bound on the number of harmonics whose averages over a window are above rounding."""
    many = 28 * math.sqrt(w) + 40
    high = float(u[-1])
    share = min(max(high, 0.0), w) / (2 * w)
    # harmonics l in e^{y - e^y}, y = (theta - theta_u) / width, fall like e^{-pi/2 l width}
    few = 10 * w * 2 * math.sqrt(share * (1 - share)) if high > 2 else 0.0
    return max(many, few)


@lru_cache(maxsize=64)
def _grid(d: int, n: float, w: float) -> Floats:
    """Points in u that cover the range of all integrands; cached, because the cost of a loss is asked before it."""
    shared = nodes(d, w, np.array([SHARED_BELOW]))

    def over(u: float) -> bool:
        """True if the weight of the integrand beyond u is below e^-48; never for n = 2."""
        rule = shared if u <= SHARED_BELOW else nodes(d, w, np.array([u]))
        return (n - 2) * -float(log_phi(rule, np.array([[u]]))[0, 0, 0]) > 48

    mean_g = float(np.sum(np.exp(-shared.s) * shared.weight)) / 2
    low = min(-math.log(n) - math.log(max(mean_g, 1e-300)) - 25, 0.0)
    ceiling = 2 * w + 6.0
    high, stride = low, 1.0
    while high < ceiling and not over(high + stride):
        high, stride = high + stride, 2 * stride
    while stride > 0.5:
        stride /= 2
        if high + stride < ceiling and not over(high + stride):
            high += stride
    count = int((min(high, ceiling) + 1 - low) / STEP)
    if count > MOST_POINTS:
        raise OutOfReach(
            f"w = {w:g}, n = {n:g}: windows hold few tokens and the zonal route would need {count:.0e} points in u, "
            f"at most {MOST_POINTS}; use a smaller w, {OTHERWISE}."
        )
    return np.asarray(low + STEP * np.arange(count + 2), dtype=np.float64)
