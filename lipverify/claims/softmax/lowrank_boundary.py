r"""Beyond Theorem 4: up to which radius of the ball M* = c BB^T, and what a spurious part of M saves where not."""

from __future__ import annotations

import math

import msgspec
import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ive

from lipverify.claims.softmax.lowrank import Best, Setting, best_block
from lipverify.errors import OutOfReach
from lipverify.loss.attention import attention_named, samples
from lipverify.loss.montecarlo.contexts import draw_contexts
from lipverify.loss.streams import generator
from lipverify.optimum.block.radius import critical_radius
from lipverify.optimum.jackknife import mean_interval

CHUNK = 8192
"""Contexts of one batch of a comparison on common draws."""
LOCATED = 1e-6
"""How closely the limit of the radius is found, in units of d."""


class RadiusCurve(msgspec.Struct, frozen=True, kw_only=True):
    """Brackets of the largest radius along n, where it is finite."""

    n: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def radius(setting: Setting) -> tuple[float, float | None]:
    """The bracket of the largest radius up to C for which c' = 0 is best; no upper end if there is none up to C."""
    found = critical_radius(setting.problem, setting.C)
    return found.low, found.high if found.finite else None


def radii(covariates: str, d: int, k: int, sigma: float, C: float, lengths: tuple[int, ...]) -> RadiusCurve:
    """The brackets of `radius` along n; where there is no radius up to C, n is left out."""
    brackets = {n: radius(Setting(covariates, d, k, n, sigma, C)) for n in lengths}
    found = {n: (low, high) for n, (low, high) in brackets.items() if high is not None}
    return RadiusCurve(
        n=tuple(map(float, found)),
        low=tuple(low for low, _ in found.values()),
        high=tuple(high for _, high in found.values()),
    )


def losses_along_n(d: int, k: int, sigma: float, C: float, lengths: tuple[int, ...]) -> tuple[Best, ...]:
    """The best matrices on the sphere along n."""
    return tuple(best_block(Setting("sphere", d, k, n, sigma, C)) for n in lengths)


def limit_radius(d: int, k: int) -> tuple[float, float]:
    r"""(C_infinity, its error): the radius on the sphere as n -> infinity at any sigma.

    There B = E s (1 - c h(omega))^2 / k with h(omega) = A(omega) / omega, A = I_{d/2} / I_{d/2-1} and
    omega^2 = c^2 s + c'^2 (1 - s), and the slope of B along c'^2 at c' = 0 has the sign of

        E s^{1/2} (1 - s) (1 - c h(c s^{1/2})) (-h'(c s^{1/2})),

    whose zero in c is C_infinity. h' = (1 - d h - A^2) / omega, from Bessel's equation for A.

    >>> round(limit_radius(2, 1)[0], 4)
    2.5481
    """

    def slope(c: float) -> float:
        # s = sin^2 theta has the density sin^{k-1} cos^{d-k-1} in theta, up to a factor
        return float(quad(lambda theta: _slope_density(d, k, c, theta), 0, math.pi / 2, epsabs=1e-11, epsrel=1e-10)[0])

    return float(brentq(slope, d / 2, 4 * d, xtol=LOCATED * d)), 2 * LOCATED * d


def _slope_density(d: int, k: int, c: float, theta: float) -> float:
    sine, cosine = math.sin(theta), math.cos(theta)
    omega = c * sine
    A = float(ive(d / 2, omega) / ive(d / 2 - 1, omega))
    h = A / omega
    falling = (d * h + A**2 - 1) / omega
    return sine**k * cosine ** (d - k + 1) * (1 - c * h) * falling


def gain_on_common_draws(setting: Setting, batches: int, seed: int) -> tuple[float, float]:
    """(loss of the best c BB^T less that of the best c BB^T + c' (I - BB^T), half-width), both on the same contexts."""
    best, softmax, problem = best_block(setting), attention_named("softmax"), setting.problem
    P = np.diag([1.0] * setting.k + [0.0] * (setting.d - setting.k))
    spurious = best.c * P + best.c_perp * (np.eye(setting.d) - P)
    gains = []
    for batch in range(batches):
        contexts = draw_contexts(problem, CHUNK, seed, f"gain/{setting}", batch)
        (noise, bias), (noise_too, bias_too) = (samples(softmax, contexts, M) for M in (best.aligned_c * P, spurious))
        gains.append(float(np.mean(bias - bias_too + setting.sigma**2 * (noise - noise_too))))
    return mean_interval(np.array(gains))


def first_failure(d: int, k: int, sigma: float, C: float, most: int) -> int | None:
    """The smallest n up to `most` at which some c' > 0 is best on the sphere in the ball of radius C.

    Bisection: that failure at n means failure at every larger n is what the lists of n in the claims show.
    """

    def fails(n: int) -> bool:
        return best_block(Setting("sphere", d, k, n, sigma, C)).c_perp > 0

    low, high = 2, most
    if not fails(high):
        return None
    while high - low > 1:
        middle = math.isqrt(low * high) if high > 4 * low else (low + high) // 2
        low, high = (low, middle) if fails(middle) else (middle, high)
    return high


def counterexamples(covariates: str, problems: int, seed: int) -> tuple[int, int]:
    """(How many random problems have a ball in which c' = 0 is not best, how many were searched).

    d from 2 to 6, k < d, n from 3 to 1e6 evenly over its logarithm, sigma from 0.05 to 2 likewise, balls
    up to C = 4 d on the sphere and 3 k on the product. Addressed by the seed.
    """
    rng = generator(seed, f"counterexamples/{covariates}", 0)
    failed = searched = 0
    for _ in range(problems):
        d = 2 + int(5 * rng.random())
        k = 1 + int((d - 1) * rng.random())
        n = float(round(3 * (1e6 / 3) ** rng.random()))
        sigma = 0.05 * 40 ** rng.random()
        C = 4.0 * d if covariates == "sphere" else 3.0 * k
        try:
            high = radius(Setting(covariates, d, k, n, sigma, C))[1]
        except OutOfReach:
            continue
        failed, searched = failed + (high is not None), searched + 1
    return failed, searched
