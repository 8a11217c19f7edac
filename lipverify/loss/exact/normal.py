r"""Exact terms for covariates N(0, I): given the length r of the query x, all scores are normal.

A token is x_i = z_i x / r + v_i with z_i ~ N(0, 1), so its score w <x_i, x> is kappa z_i, kappa = w r. A task has the
direction q = c x / r + s u, s^2 = 1 - c^2, and <q, x_i> = c z_i + s zeta_i with zeta_i ~ N(0, 1) independent of all
scores. Let m(z) and v(z) be mean and variance of h(c z + s zeta). Then, as on the sphere with u = log(lambda),

    A   = E sum_i a_i^2                  = n int E[psi_2] phi^{n-1} du,
    M   = E sum_i a_i m(z_i)             = n int E[psi_2 m] phi^{n-1} + (n - 1) E[psi_1] E[psi_1 m] phi^{n-2} du,
    V   = Var sum_i a_i h(<q, x_i>)      = n int E[psi_2 ((m - M)^2 + v)] phi^{n-1} + (n - 1) E[psi_1 (m - M)]^2
          phi^{n-2} du,

averages over z with psi_k = psi_k(u + kappa z), and phi = E psi_0. The loss is an integral of them over r and c:

    N(w) = sigma^2 E_r A(w r),    B(w) = E_r E_c [V(w r, c) + (M(w r, c) - h(c r))^2].

A, M and V do not depend on w, which only selects kappa = w r. So they are computed on one grid of log kappa.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import erf, erfcx, gammainccinv, gammaincinv, log_ndtr, ndtr, ndtri_exp, wrightomega

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import TINY, Floats
from lipverify.loss.exact.context.contexts import powers
from lipverify.loss.exact.context.tokens import LARGEST_EXPONENT, LOG_DROP
from lipverify.loss.exact.quadrature import on_panels, plain_rule
from lipverify.loss.exact.sight import sight_of
from lipverify.loss.work import spend
from lipverify.problem import Problem
from lipverify.problem.law import Law, by_law
from lipverify.problem.laws import Affine, Linear, Quadratic, ReLU

LARGEST_D = 1000
"""Largest d: the density of |x| there has as many nodes as in small d, and larger d is untested."""
FLAT = 1e-6
"""The kappa below which A and V equal those at 0, and M is linear: A and V are even in kappa."""
REACH = 9.3
"""Standard deviations beyond which a normal average is below e^-42."""
PANEL = 2.5
"""Width of a panel of the rule over z, in the narrower of the scales 1 of the density and 1 / kappa of psi_k."""
AROUND_KINK = 3.0 ** np.arange(-5, 1)
"""|z| at which panels end around a kink: E |c z + s zeta| bends over a width s / c, whatever that is."""
ROUNDING = 2.0**-36
"""Relative rounding: that of u, up to 1e3 in size, times the exponent LOG_DROP; the ends of r leave out 1e-13."""


class Rule(NamedTuple):
    """A resolution."""

    order: int  # nodes of a panel over z
    step: float  # of the trapezoidal rules over u and z, in the scale of the integrand
    kappa_step: float  # over log kappa, in standard deviations of its narrowest factor
    directions: int  # nodes over c, for ReLU
    far: int  # nodes of the polynomials in 1 / kappa


ROUGH, FINE = Rule(12, 0.33, 0.95, 20, 8), Rule(16, 0.27, 0.8, 28, 10)
"""The coarse one is within 1e-9 of the terms, and the fine one within 1e-11, for kappa from 0 to 3e4 and n to 1e12."""
FAR = 60.0
"""The kappa from which polynomials serve: of degree 9 they are within 1e-12 of A, M and V for n = 2 to 1e12."""
FEW = 128
"""The n from which phi(0)^n, about 2^-n, hides the bend at z = 0."""


class Link(NamedTuple):
    """A link h with E h(x + s zeta) and Var h(x + s zeta), zeta ~ N(0, 1)."""

    value: Callable[[Floats], Floats]
    mean: Callable[[Floats, float], Floats]
    variance: Callable[[Floats, float], Floats]


def _folded_mean(x: Floats, s: float) -> Floats:
    """E |x + s zeta|."""
    ratio = x / max(s, TINY) / math.sqrt(2)
    with np.errstate(over="ignore"):
        return math.sqrt(2 / math.pi) * s * np.exp(-ratio * ratio) + x * erf(ratio)


LINEAR = Link(lambda x: x, lambda x, s: x, lambda x, s: np.full_like(x, s * s))
SQUARE = Link(np.square, lambda x, s: x * x + s * s, lambda x, s: 4 * s * s * x * x + 2 * s**4)
ABSOLUTE = Link(np.abs, _folded_mean, lambda x, s: np.maximum(x * x + s * s - _folded_mean(x, s) ** 2, 0.0))


class Direction(NamedTuple):
    """A node of the average over the link and over c = cos of the angle between task and query, s = sin of it."""

    weight: float
    link: Link
    c: float
    s: float


@by_law
def directions(law: Law, d: int, count: int) -> tuple[Direction, ...]:
    """Directions whose average is that of a law of unit amplitude variance."""
    raise InvalidInput(
        f"law = {law!r} with covariates gaussian: the exact method has Affine, Linear, Quadratic and ReLU; "
        "use method='montecarlo', interval='normal'."
    )


@directions.register(Affine, Linear)
def _of_linear(law: Law, d: int, count: int) -> tuple[Direction, ...]:
    """E c^2 = 1/d, and no other power enters."""
    return (Direction(1.0, LINEAR, math.sqrt(1 / d), math.sqrt(1 - 1 / d)),)


@directions.register(Quadratic)
def _of_square(law: Law, d: int, count: int) -> tuple[Direction, ...]:
    """Two nodes for c^2 with E c^2 = 1/d and E c^4 = 3/(d (d + 2)); no other power enters."""
    weight, square = (d + 2) / (3 * d), 3 / (d + 2)
    node = Direction(weight, SQUARE, math.sqrt(square), math.sqrt(1 - square))
    return (node, Direction(1 - weight, SQUARE, 0.0, 1.0))


@directions.register(ReLU)
def _of_relu(law: Law, d: int, count: int) -> tuple[Direction, ...]:
    """l_1 z_+ + l_2 z_- = (l_1 - l_2) z / 2 + (l_1 + l_2) |z| / 2, two uncorrelated amplitudes of half the variance.

    |z| is even in c = sin a, whose density is cos^{d-2} a.
    """
    linear = _of_linear(law, d, count)[0]._replace(weight=0.5)
    if d == 1:
        return linear, Direction(0.5, ABSOLUTE, 1.0, 0.0)
    x, gauss = plain_rule(count)
    if d < 10:
        x, gauss = 1 - x * x, gauss * x  # denser near c = 1, where the label bends at z = 0
    a = min(math.pi / 2, REACH / math.sqrt(d)) * x
    weight = gauss * np.cos(a) ** (d - 2)
    shares = (weight / (2 * weight.sum())).tolist()
    return linear, *map(Direction, shares, [ABSOLUTE] * count, np.sin(a).tolist(), np.cos(a).tolist())


def normal_terms(problem: Problem, w: Floats) -> tuple[Floats, ...]:
    """Bias, noise, and the errors of both at every w >= 0, shape (w,), for covariates N(0, I).

    The error is the difference of rules of two resolutions, plus a bound on rounding and on what all ends leave out.
    """
    if problem.d > LARGEST_D:
        raise OutOfReach(f"d = {problem.d} with covariates gaussian: at most {LARGEST_D}; use method='montecarlo'.")
    d, n, sight = problem.d, float(problem.n), sight_of(problem.law)
    law = sight.unit or problem.law
    fine, rough = (np.array([_at(law, d, n, each, rule) for each in w.tolist()]) for rule in (FINE, ROUGH))
    scale = np.array([sight.amplitude, problem.sigma**2])
    value, error = scale * fine, scale * (np.abs(fine - rough) + ROUNDING * fine)
    return value[:, 0], value[:, 1], error[:, 0], error[:, 1]


def _at(law: Law, d: int, n: float, w: float, rule: Rule) -> tuple[float, float]:
    """(bias over the amplitude variance, noise over sigma^2) at one w, by one rule."""
    task = directions(law, d, rule.directions)
    if n == 1 or w == 0:
        return _uniform(n, task)
    kappa, weight = _lengths(d, n, w, rule)
    near = kappa < FAR
    moments = np.empty((kappa.size, len(task) + 2))
    moments[near] = [_moments(law, d, n, each, rule) for each in kappa[near].tolist()] or np.empty((0, len(task) + 2))
    if not near.all():
        moments[~near] = _far(law, d, n, rule)(FAR / kappa[~near])
    noise, variance, mean = moments[:, 0], moments[:, 1], moments[:, 2:]
    bias = variance + sum(
        node.weight * (mean[:, k] - node.link.value(node.c * kappa / w)) ** 2 for k, node in enumerate(task)
    )
    return float(weight @ bias), float(weight @ noise)


@lru_cache(maxsize=256)
def _far(law: Law, d: int, n: float, rule: Rule) -> Callable[[Floats], Floats]:
    """A, V and M for kappa >= FAR as polynomials in FAR / kappa: there the largest score has nearly all weight."""
    from scipy.interpolate import BarycentricInterpolator  # with optimisers, which tokens on the sphere do not need

    x = (1 + np.cos(np.pi * (np.arange(rule.far) + 0.5) / rule.far)) / 2
    values = np.array([_moments(law, d, n, each, rule) for each in (FAR / x).tolist()])
    return BarycentricInterpolator(x, values)


def _uniform(n: float, task: tuple[Direction, ...]) -> tuple[float, float]:
    """Equal weights: B = (1 + 1/n) Var h(zeta), N = 1/n."""
    spread = sum(node.weight * float(node.link.variance(np.zeros(1), 1.0)[0]) for node in task)
    return (1 + 1 / n) * spread, 1 / n


def _lengths(d: int, n: float, w: float, rule: Rule) -> tuple[Floats, Floats]:
    """Points kappa, whose logarithms are multiples of a step, and weights: r = kappa / w has the density of |x|."""
    # the density, and the rise of the noise from e^{kappa^2} / n to 1, vary as normal densities of this variance
    step = rule.kappa_step / math.sqrt(24 + 2 * d + 4.5 * math.log(n))
    # terms vary by a factor of at most n and a power of r
    ends = np.sqrt(
        2 * np.array([gammaincinv(d / 2, math.exp(-LOG_DROP / 1.4)), gammainccinv(d / 2, math.exp(-LOG_DROP) / n)])
    )
    low, high = np.log(w * ends) / step
    x = step * np.arange(math.floor(low), math.ceil(high) + 1)
    r = np.exp(x) / w
    weight = np.exp(d * (np.log(r) - math.log(d) / 2) - (r * r - d) / 2)
    return np.exp(x), weight / weight.sum()


@lru_cache(maxsize=20_000)
def _moments(law: Law, d: int, n: float, kappa: float, rule: Rule) -> Floats:
    """A, V averaged over the directions, and M for each of them, at one kappa; cached for all w and sigma."""
    task = directions(law, d, rule.directions)
    if kappa < FLAT:
        bias, noise = _uniform(n, task)
        # the mean score of the weights is kappa (1 - 1/n) + O(kappa^3)
        means = (node.link.mean(np.array([node.c * kappa * (1 - 1 / n)]), 1.0)[0] for node in task)
        return np.array([noise, bias / (n + 1), *means])
    kinked = any(node.link is ABSOLUTE for node in task)
    u, du = _log_lambda(n, kappa, rule.step, kinked)
    z, y, step = _scores(u, kappa, rule, kinked)
    growth = np.exp(np.minimum(y, LARGEST_EXPONENT))
    none = np.exp(-growth)
    density = step * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    one = density * growth * none
    two = one * growth
    if kappa < 1:
        falling, phi = np.sum(density * -np.expm1(-growth), axis=1), np.sum(density * none, axis=1)
    else:  # by parts: then only scores around -u matter
        falling, phi = (kappa * np.sum(step * growth * none * ndtr(sign * z), axis=1) for sign in (-1, 1))
    with np.errstate(divide="ignore"):
        log_phi = np.where(falling < 0.5, np.log1p(-np.minimum(falling, 1)), np.log(phi))
    single, double = (factor * du for factor in powers(n, log_phi))
    spend(z.size * len(task), 20.0 if kinked else 3.0, "averages over a token")
    m = np.stack([node.link.mean(node.c * z, node.s) for node in task], axis=-1)
    first = one.sum(axis=1)
    mean = single @ _averages(two, m) + (double * first) @ _averages(one, m)
    m -= mean
    square = m * m + np.stack([node.link.variance(node.c * z, node.s) for node in task], axis=-1)
    variance = single @ _averages(two, square) + double @ _averages(one, m) ** 2
    weight = np.array([node.weight for node in task])
    return np.array([single @ two.sum(axis=1), variance @ weight, *mean])


def _averages(weight: Floats, h: Floats) -> Floats:
    """Sums over the nodes z of a weight (u, z) times h (u, z, direction), or h (1, z, direction)."""
    return weight @ h[0] if len(h) == 1 else np.einsum("uz,uzk->uk", weight, h)


def _log_lambda(n: float, kappa: float, step: float, kinked: bool) -> tuple[Floats, Floats]:
    """Points u and weights: the integrands are analytic in |Im u| < pi/2, so equidistant points are exponentially good.

    To the left the integrands are at most n E min(1, e^{2 y}), and noise and variance exceed 1/n. To the right they
    fall like phi^{n-2}, where 1 - phi exceeds (1 - 1/e) E min(1, e^y), and phi is at most P(y < 4).
    """
    drop = LOG_DROP + 2 * math.log(n)
    low = _root(lambda u: _log_mean(2, u, kappa) + drop, n, kappa)
    high = 4 - kappa * float(ndtri_exp(-drop / n))
    share = drop / (1 - math.exp(-1)) / n
    if share < 1:
        high = min(high, _root(lambda u: _log_mean(1, u, kappa) - math.log(share), n, kappa))
    # for large kappa they vary over kappa / sqrt(2 log n), which is kappa times the distance of the two largest z
    scale = max(1.0, 1.4 * kappa / (1 + math.sqrt(2 * math.log(n))))
    if not (kinked and n < FEW and scale > 1):
        count = math.ceil((high - low) / (step * scale)) + 1
        return np.asarray(low + step * scale * np.arange(count)), np.full(count, step * scale, dtype=np.float64)
    # but around u = 0, where the token is at the kink, over 1: points are equidistant in u / scale + 2 asinh(u / 2)
    first, last = (end / scale + 2 * math.asinh(end / 2) for end in (low, high))
    v = np.arange(first, last + step, step)
    u = np.clip(np.sinh(np.clip(v, -700, 700) / 2) * 2, low, high)
    for _ in range(30):
        u -= (u / scale + 2 * np.arcsinh(u / 2) - v) / (1 / scale + 1 / np.hypot(1, u / 2))
    return np.asarray(u, dtype=float), np.asarray(step / (1 / scale + 1 / np.hypot(1, u / 2)), dtype=float)


def _log_mean(k: int, u: float, kappa: float) -> float:
    """log E min(1, e^{k (u + kappa z)})."""
    beyond = u / kappa + k * kappa
    if beyond > 0:
        tail = -((u / kappa) ** 2) / 2 + math.log(erfcx(beyond / math.sqrt(2)) / 2)
    else:
        tail = k * u + (k * kappa) ** 2 / 2 + float(log_ndtr(-beyond))
    return float(np.logaddexp(log_ndtr(u / kappa), tail))


def _root(rising: Callable[[float], float], n: float, kappa: float) -> float:
    """The zero of a rising function of u, to a hundredth of its scale."""
    drop = LOG_DROP + 2 * math.log(n) + 1
    low, high = -kappa * math.sqrt(2 * drop) - drop, 50 + 10 * kappa
    while high - low > 0.01 * max(1.0, kappa):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return low


def _scores(u: Floats, kappa: float, rule: Rule, kinked: bool) -> tuple[Floats, Floats, Floats]:
    """z, y = u + kappa z, and weights: (u, node), or (1, node) if z is the same for all u.

    The trapezoidal rule serves where all is analytic, and panels that end around z = 0 where labels bend there.
    """
    low, high = _support(u, kappa)
    if kinked and kappa < FAR:
        low, high = np.min(low, keepdims=True), np.max(high, keepdims=True)
    scale = 1 / max(1.0, kappa)
    count = math.ceil(float(np.max(high - low)) / scale / (PANEL if kinked else rule.step))
    z = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, count + 1)
    weight = (high - low)[:, None] / count
    if kinked:
        kinks = PANEL * scale * np.concatenate([-AROUND_KINK, [0.0], AROUND_KINK])
        edges = np.concatenate([z, np.clip(np.tile(kinks, (low.size, 1)), low[:, None], high[:, None])], axis=1)
        rule_of_panel = on_panels(np.sort(edges, axis=1), plain_rule(rule.order))
        z, weight = (np.reshape(part, (low.size, -1)) for part in rule_of_panel)
    spend(u.size * z.shape[1], 6.0, "averages over a token")
    return z, u[:, None] + kappa * z, weight


def _support(u: Floats, kappa: float) -> tuple[Floats, Floats]:
    """Ends in z beyond which averages of psi_1 and psi_2, 1 - psi_0 by parts, are below e^-42 of themselves.

    The logarithm of psi_k(u + kappa z) times the density is concave. With a = e^y at its maximum it falls, at a
    distance t to the left and right of it, by a (e^{-+ kappa t} - 1 +- kappa t) + t^2 / 2.
    """
    if kappa < 1:
        return np.array([-REACH]), np.array([REACH + 2 * kappa])
    lows, highs = list[Floats](), list[Floats]()
    for k in (1, 2):
        a = wrightomega(u + k * kappa**2 + 2 * math.log(kappa)).real / kappa**2
        mode, slope = (np.log(a) - u) / kappa, a * kappa
        lows.append(mode - 2 * (LOG_DROP + a) / (np.sqrt(slope**2 + 2 * (LOG_DROP + a)) + slope))
        highs.append(mode + np.minimum(REACH, np.log(np.maximum(2 * LOG_DROP / np.maximum(a, TINY), 5.4)) / kappa))
    low = np.min(lows, axis=0)
    # 1 - psi_0 by parts is an average with P(z' > z) in place of the density, which does not fall to the left of 0
    return np.where(low < 0, np.minimum(low, -(LOG_DROP + np.maximum(u, 0)) / kappa), low), np.max(highs, axis=0)
