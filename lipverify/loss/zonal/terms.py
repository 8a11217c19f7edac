r"""Noise and bias as sums over harmonics and over a grid in u = log(lambda).

    N = sigma^2 n int A_2[1] phi^{n-1} du,
    B = n int A_2[V] phi^{n-1} du + n (n-1) int sum_l k_l A_1[D_l]^2 phi^{n-2} du,

with A_k[h] = E[lambda^k g^k h e^{-lambda g}], D_l = 1 - P_l(t), V = 2 sum_l k_l D_l. The integrands are
analytic in a strip about the real line, of half-width pi/2 since |e^{-lambda g}| <= 1 for Re lambda > 0, so
the trapezoidal rule converges like e^{-pi^2 / step}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import OutOfReach
from lipverify.loss.terms import LossTerms
from lipverify.loss.zonal.harmonics import Spectrum, deficits
from lipverify.loss.zonal.spectrum import spectrum_of
from lipverify.loss.zonal.tokens import Nodes, nodes
from lipverify.problem import Problem

Floats = NDArray[np.float64]

STEP = 1 / 8
"""Step in u: e^{-pi^2 / step} is far below rounding, and also for the double step."""
SHARED_BELOW = 1.0
MOST_DEGREES, MOST_POINTS = 20_000, 60_000
EPS = float(np.finfo(float).eps)
ROUNDING = 200 * EPS
LARGE = 700.0
SILENT = 1e-17
"""Harmonics whose averages are below this share no longer tell from zero."""


@dataclass(frozen=True)
class Sums:
    """Integrands at some u, by the whole rule or by every second node."""

    log_phi: Floats
    square: Floats  # A_2[1]
    mean: Floats  # A_1[1]
    variogram: Floats  # A_2[V]
    pairs: Floats  # sum_l k_l A_1[D_l]^2
    left_out: Floats  # a bound on what harmonics beyond the last change in `pairs`
    variogram_error: Floats  # A_2[V] and the pairs with the errors of the coefficients in their place
    pairs_error: Floats


def zonal_terms(problem: Problem, w: Floats) -> LossTerms:
    """Loss terms at every window in `w` (finite, >= 0) for a law of which the covariance is known.

    Errors are bounds: rules with twice the step, the uncertainty of the spectrum, what harmonics beyond the
    last can change, and rounding. Validity: every d, 1 <= n <= 1e30; finite spectra for w up to several
    thousand where windows hold few tokens, and without limit where they hold many; spectra that fall like
    a power, as that of ReLU, need about 30 sqrt(w) harmonics, and 24 w where windows hold few tokens.

    Raises
    ------
    OutOfReach
        If more than 20,000 harmonics or 60,000 points in u would be needed.

    Source: the product formula for Gegenbauer polynomials; docs/method.md.
    """
    values = np.array([_one_window(problem, float(window)) for window in np.ravel(w)])
    noise, bias, noise_error, bias_error = np.moveaxis(values.reshape((*np.shape(w), 4)), -1, 0)
    return LossTerms(
        problem=problem,
        method="exact",
        w=w,
        noise=noise,
        bias=bias,
        noise_error=noise_error,
        bias_error=bias_error,
    )


def _one_window(problem: Problem, w: float) -> tuple[float, float, float, float]:
    """(noise, bias, noise error, bias error) at one window."""
    n, variance = float(problem.n), problem.sigma**2
    if w == 0 or n == 1:
        spectrum = spectrum_of(problem.law, problem.d, 64)
        bias = (1 + 1 / n) * spectrum.total
        error = ROUNDING * bias + 2 * (spectrum.tail_error + float(np.sum(spectrum.error)))
        return variance / n, bias, 4 * EPS * variance / n, error
    u = _grid(problem.d, n, w)
    spectrum = spectrum_of(problem.law, problem.d, _degrees(w, float(u[-1])))
    fine, coarse_rule = _sums(spectrum, w, u, "weight"), _sums(spectrum, w, u, "coarse")
    noise, bias = _integrals(fine, n, slice(None))
    gaps = [
        abs(np.subtract((noise, bias), other))
        for other in (_integrals(fine, n, slice(None, None, 2)), _integrals(coarse_rule, n, slice(None)))
    ]
    rounding = ROUNDING + EPS * (problem.d + 4 * float(np.max(np.abs(u))))
    noise_error, bias_error = gaps[0] + gaps[1] + rounding * np.array([noise, bias])
    bias_error += float(_pair_weights(fine.log_phi, n, STEP) @ fine.left_out) + _spectral_error(spectrum, fine, n)
    return variance * noise, bias, variance * noise_error, bias_error


def _spectral_error(spectrum: Spectrum, sums: Sums, n: float) -> float:
    """What the errors of the coefficients do to the bias, in which it is linear; none counts more than 4 k_l."""
    double, single = _pair_weights(sums.log_phi, n, STEP), STEP * n * np.exp((n - 1) * sums.log_phi)
    listed = float(double @ sums.pairs_error + single @ sums.variogram_error)
    return listed + 4 * spectrum.tail_error * float(double @ sums.mean**2 + single @ sums.square)


def _grid(d: int, n: float, w: float) -> Floats:
    """Points in u between which all integrands have their weight."""
    shared = nodes(d, w, SHARED_BELOW)
    mean_g = float(np.exp(-shared.s) @ shared.weight)
    low = -math.log(n) - math.log(max(mean_g, 1e-300)) - 25 if mean_g > 0 else -math.log(n) - 25
    low = min(low, 0.0)
    ceiling = 2 * w + 6.0

    def survives(u: float) -> bool:
        rule = nodes(d, w, u)
        falling = float(-np.expm1(-np.exp(np.minimum(u - rule.s, LARGE))) @ rule.weight)
        return n * falling < 48 if falling < 0.9 else u < ceiling and n < 100

    high, stride = low, 1.0
    while high < ceiling and survives(high + stride):
        high, stride = high + stride, 2 * stride
    while stride > 0.5:
        stride /= 2
        if high + stride < ceiling and survives(high + stride):
            high += stride
    count = int((high + 1 - low) / STEP)
    if count > MOST_POINTS:
        raise OutOfReach(
            f"w = {w:g}, n = {n:g}: windows hold few tokens and the zonal route would need {count} points in u, "
            f"at most {MOST_POINTS}; use a smaller w, or route='ridge' for a ridge law."
        )
    return np.asarray(low + STEP * np.arange(count + 2), dtype=np.float64)


def _degrees(w: float, high: float) -> int:
    """How many harmonics averages with windows w can tell from zero."""
    many = 28 * math.sqrt(w) + 40
    share = min(max(high, 0.0), w) / (2 * w)
    few = 24 * w * 2 * math.sqrt(share * (1 - share)) if high > 2 else 0.0
    return int(min(max(many, few), MOST_DEGREES))


def _sums(spectrum: Spectrum, w: float, u: Floats, which: str) -> Sums:
    """The integrands at every u: those up to 1 share a rule."""
    shared = u <= SHARED_BELOW
    parts = []
    if shared.any():
        parts.append(_block(spectrum, nodes(spectrum.d, w, SHARED_BELOW), u[shared], which))
    parts += [_block(spectrum, nodes(spectrum.d, w, float(one)), np.array([one]), which) for one in u[~shared]]
    columns = ([getattr(part, name) for part in parts] for name in Sums.__annotations__)
    return Sums(*(np.concatenate(column) for column in columns))


def _block(spectrum: Spectrum, rule: Nodes, u: Floats, which: str) -> Sums:
    """The integrands at points that share a rule: harmonic after harmonic."""
    weight = getattr(rule, which)
    y = u[:, None] - rule.s
    growth = np.exp(np.minimum(y, LARGE))
    survival = np.exp(-growth)
    first = np.exp(np.minimum(y, LARGE)) * survival * weight
    second = np.exp(np.minimum(2 * y, LARGE)) * survival * weight
    falling, rest = -np.expm1(-growth) @ weight, survival @ weight
    with np.errstate(divide="ignore"):
        log_phi = np.where(falling < 0.9, np.log1p(-np.minimum(falling, 1.0)), np.log(rest))
    square, mean = second.sum(axis=1), first.sum(axis=1)
    # both terms for the coefficients, and for their errors
    pairs, variogram = np.zeros((2, u.size)), np.zeros((2, u.size))
    tail, remains = spectrum.tail, mean
    for degree, deficit in enumerate(deficits(spectrum.d, rule.near)):
        average = first @ deficit
        both = np.array([[spectrum.k[degree]], [spectrum.error[degree]]])
        pairs += both * average**2
        variogram += 2 * both * (second @ deficit)
        previous, remains = remains, np.abs(mean - average)
        silent = np.all(np.maximum(remains, previous) <= SILENT * mean)
        if silent or degree + 1 == spectrum.k.size:
            tail += float(np.sum(spectrum.k[degree + 1 :]))
            break
    # beyond the last harmonic P_l averages to at most what it does there: A_1[D_l] -> A_1[1]
    pairs[0] += tail * mean**2
    variogram[0] += 2 * tail * square
    left_out = tail * (2 * mean * remains + remains**2)
    return Sums(log_phi, square, mean, variogram[0], pairs[0], left_out, variogram[1], pairs[1])


def _pair_weights(log_phi: Floats, n: float, step: float) -> Floats:
    """The factor n (n-1) phi^{n-2} du, with 0^0 = 1."""
    return step * n * (n - 1) * (np.exp((n - 2) * log_phi) if n > 2 else np.ones_like(log_phi))


def _integrals(sums: Sums, n: float, every: slice) -> tuple[float, float]:
    """(N / sigma^2, B) by the trapezoidal rule on every point or every second one."""
    step = STEP * (every.step or 1)
    log_phi = sums.log_phi[every]
    single = step * n * np.exp((n - 1) * log_phi)
    double = _pair_weights(log_phi, n, step)
    return float(single @ sums.square[every]), float(single @ sums.variogram[every] + double @ sums.pairs[every])
