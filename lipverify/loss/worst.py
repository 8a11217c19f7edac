r"""The largest bias that a task of Lipschitz constant L can have: at one query, and on average over the queries.

Let rho(x, x') be the distance of two tokens, and f a function with |f(x) - f(x')| <= L rho(x, x'). At a given query x

    sup_f E (sum_i a_i f(x_i) - f(x))^2 = L^2 E (sum_i a_i rho(x_i, x))^2,

for the error is at most L sum_i a_i rho(x_i, x), with equality for the cone f(y) = L rho(y, x). It is the same at every
x of the sphere. If f may depend on the query this is the largest bias; a single f has one query at its tip only, so for

    sup_f E_x E (sum_i a_i f(x_i) - f(x))^2

it is an upper bound, and any f is a lower one: linear functions and zigzags of <q, x>, of which the exact method knows
the bias.

Softmax attention: as in the exact method, with rho^2 for the variogram. A box takes the mean over the tokens within a
radius r, and the nearest one where there is none. Their number K is binomial, so with m_k the mean of rho^k in the box

    E (sum_i a_i rho_i)^2 = m_1^2 P(K >= 1) + (m_2 - m_1^2) E[1/K; K >= 1] + E[rho_(1)^2; K = 0].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal

import msgspec
import numpy as np
from scipy.integrate import quad
from scipy.special import betainc, betaincinv

from lipverify.errors import InvalidInput
from lipverify.foundation.arrays import Floats
from lipverify.foundation.validation import chosen, number, numbers, whole
from lipverify.loss.exact import SMALLEST, exact_terms
from lipverify.loss.exact.ridge.task import TaskAverages
from lipverify.loss.exact.ridge.terms import averaged_terms
from lipverify.loss.exact.ridge.tokens import TokenNodes
from lipverify.loss.weighted import ROUNDING, weighted_mean
from lipverify.problem import Problem
from lipverify.problem.own import Ridge
from lipverify.problem.problem import LARGEST_D, context_length

Metric = Literal["chord", "arc"]
METRICS: tuple[Metric, ...] = ("chord", "arc")
ORDERS = (120, 168)
"""Gauss rules for means over a cap: integrands are analytic, times the power d - 2 of a sine."""
TEETH = (0, 1)
"""Turning points of the zigzags that are tried: 0 is a linear function, 1 is |z|."""
EXPECTED = (1e-3, 0.1, 1.0, 5.0, 40.0)
"""Expected numbers of tokens in a cap between which the chance that it is empty falls from one to nothing."""


class WorstBias(msgspec.Struct, frozen=True, kw_only=True):
    """The largest bias of functions with Lipschitz constant L; arrays of the shape of w or of the radius.

    Attributes
    ----------
    value, error
        The supremum over f at one query, and over all f that may depend on the query; and a bound on its error.
    low, low_error, witness
        The largest bias of a single f, averaged over the query, among those that were tried; a bound on its error, and
        how many turning points that zigzag has. The supremum over a single f is between `low` and `value`.
    """

    value: Any
    error: Any
    low: Any
    low_error: Any
    witness: Any


def worst_bias(
    d: int, n: float, w: Any, *, L: float = 1.0, metric: Metric = "chord", teeth: tuple[int, ...] = TEETH
) -> WorstBias:
    """The largest bias of softmax attention with scores w <x_i, x>, tokens uniform on the sphere.

    Parameters
    ----------
    d, n
        Ambient dimension and context length, as in `Problem`.
    w
        Windows, finite and >= 0.
    L
        The Lipschitz constant, finite and >= 0, in the metric.
    metric
        "chord": the distance in R^d; "arc": that along the sphere.
    teeth
        Turning points of the zigzags that are tried for `low`, at least one number; each costs seconds where it is > 0.

    Raises
    ------
    InvalidInput
        If an argument breaks its rule.
    OutOfReach
        If the exact method does not reach it.

    Source: own derivation; Collins et al. bound the bias of the class of L-Lipschitz functions from above.

    >>> worst = worst_bias(3, 100, 5.0, teeth=(0,))
    >>> worst.value.round(6).item(), worst.low.round(6).item()
    (0.327551, 0.017562)
    """
    d, n, slope = _validated(d, n, L, metric)
    shape, windows = np.shape(w), np.ravel(numbers("w", w, "w", least=0))
    if not teeth:
        raise InvalidInput("teeth = (): at least one zigzag must be tried; 0 is a linear function.")
    value, error = np.empty_like(windows), np.empty_like(windows)
    narrowed = (windows >= SMALLEST) & (n > 1)
    cone = TaskAverages(
        variance=math.nan,
        variogram=lambda nodes: _distance(nodes, metric) ** 2,
        pair=lambda of: of.mean(1, lambda nodes: _distance(nodes, metric)) ** 2,
    )
    if np.any(narrowed):
        found, off = averaged_terms(((1.0, cone),), d, float(n), windows[narrowed])
        value[narrowed], error[narrowed] = found.bias, off.bias
    if not np.all(narrowed):
        mean, mean_error = weighted_mean(d, 2, np.zeros(1), lambda nodes: _distance(nodes, metric))
        square, square_error = weighted_mean(d, 2, np.zeros(1), lambda nodes: _distance(nodes, metric) ** 2)
        value[~narrowed] = square / n + (1 - 1 / n) * mean**2
        error[~narrowed] = square_error + 2 * mean * mean_error
    lows = [exact_terms(Problem(d=d, n=n, law=zigzag(count)), windows) for count in teeth]
    low, low_error = (
        np.array([np.broadcast_to(getattr(each, name), windows.shape) for each in lows]) for name in FIELDS
    )
    return _record(shape, slope, (value, error), low, low_error, teeth)


FIELDS = ("bias", "bias_error")


def worst_box_bias(d: int, n: float, radius: Any, *, L: float = 1.0, metric: Metric = "chord") -> WorstBias:
    """The largest bias of the mean over the tokens within a radius of the query, or the nearest one if there is none.

    Parameters
    ----------
    d, n, L, metric
        As in `worst_bias`; of single functions only the linear ones are tried.
    radius
        Radii in the metric, > 0 and at most the largest distance on the sphere: 2 in the chord, pi along it.

    Raises
    ------
    InvalidInput
        If an argument breaks its rule.

    >>> worst_box_bias(2, 1, 2.0).value.round(12).item()  # one token, wherever: E |x_1 - x|^2
    2.0
    """
    d, n, slope = _validated(d, n, L, metric)
    shape, radii = np.shape(radius), np.ravel(numbers("radius", radius, "radius", least=0))
    largest = 2.0 if metric == "chord" else math.pi
    if np.any((radii <= 0) | (radii > largest)):
        raise InvalidInput(f"radius = {radius!r}: a radius is > 0 and at most {largest:.4g}, in this metric.")
    cones, lines = zip(*(_box(d, float(n), float(r), metric) for r in radii), strict=True) if radii.size else ((), ())
    value, error = np.reshape(cones, (-1, 2)).T
    low, low_error = np.reshape(lines, (-1, 2)).T
    return _record(shape, slope, (value, error), low[None], low_error[None], (0,))


def zigzag(teeth: int) -> Ridge:
    """f(x) = h(<q, x>), h of slope 1 and -1 in turns, with so many turning points spread evenly over [-1, 1].

    >>> zigzag(1).link(np.array([-1.0, -0.5, 0.0, 1.0])).tolist()
    [0.0, 0.5, 1.0, 0.0]
    """
    count = whole("teeth", teeth, least=0, most=64)
    width = 2 / (count + 1)

    def link(z: Floats) -> Floats:
        steps = (z + 1) / width
        return width * abs(steps - 2 * np.round(steps / 2))

    kinks = tuple(float(kink) for kink in np.linspace(-1, 1, count + 2)[1:-1])
    return Ridge(link if count else lambda z: z, kinks=kinks)


def _validated(d: Any, n: Any, L: Any, metric: Any) -> tuple[int, int | float, float]:
    chosen("metric", metric, METRICS)
    return whole("d", d, 2, "the ambient dimension", LARGEST_D), context_length(n), number("L", L, "L", least=0)


def _distance(nodes: TokenNodes, metric: Metric) -> Floats:
    """The distance of a token with 1 - t = `near` from the query."""
    half = np.sqrt(np.clip(nodes.near / 2, 0.0, 1.0))
    return np.asarray(
        2 * half if metric == "chord" else 2 * np.arctan2(half, np.sqrt(np.clip(nodes.far / 2, 0.0, 1.0)))
    )


def _record(
    shape: tuple[int, ...],
    L: float,
    cone: tuple[Floats, Floats],
    low: Floats,
    low_error: Floats,
    teeth: tuple[int, ...],
) -> WorstBias:
    """In units of L^2, with the best of the functions that were tried, (function, w), at each w."""
    best = np.argmax(low - low_error, axis=0)[None]
    parts = (*cone, *(np.take_along_axis(each, best, axis=0)[0] for each in (low, low_error)))
    value, error, lowest, lowest_error = (np.reshape(L**2 * part, shape) for part in parts)
    witness = np.reshape(np.array(teeth)[best[0]], shape)
    return WorstBias(value=value, error=error, low=lowest, low_error=lowest_error, witness=witness)


Pair = tuple[float, float]
Angle = Callable[[float], float]


def _box(d: int, n: float, radius: float, metric: Metric) -> tuple[Pair, Pair]:
    """(value, error) for the cone and for linear functions, in units of L^2."""
    angle = radius if metric == "arc" else 2 * math.asin(radius / 2)
    share = float(betainc((d - 1) / 2, (d - 1) / 2, math.sin(angle / 2) ** 2))
    empty = math.exp(n * math.log1p(-share)) if share < 1 else 0.0
    inverse, inverse_error = _inverse_count(n, share, empty)

    def far(theta: Floats) -> Floats:
        return theta if metric == "arc" else 2 * np.sin(theta / 2)

    def near(theta: Floats) -> Floats:
        return 2 * np.sin(theta / 2) ** 2

    chord = _nearest(d, n, angle, empty, lambda theta: 4 * math.sin(theta / 2) ** 2, lambda theta: 2 * math.sin(theta))
    arc = _nearest(d, n, angle, empty, lambda theta: theta**2, lambda theta: 2 * theta)
    (touched, touched_error), (nearest, nearest_error) = chord, arc if metric == "arc" else chord
    results = []
    for order in ORDERS:
        # E (sum_i a_i <q, x_i - x>)^2 = ((mean of 1 - t)^2 + (1 - t^2 and the variance of t) / K) / d
        m1, m2, l1, l2 = (
            _cap_mean(d, angle, order, h) for h in (far, lambda x: far(x) ** 2, near, lambda x: 2 * near(x))
        )
        cone = m1**2 * (1 - empty) + (m2 - m1**2) * inverse + nearest
        line = (l1**2 * (1 - empty) + (l2 - l1**2) * inverse) / d + touched / d
        results.append(np.array([cone, line]))
    rough, value = results
    off = np.abs(value - rough) + inverse_error * np.array([m2, l2 / d]) + np.array([nearest_error, touched_error / d])
    error = off + ROUNDING * np.array([m2 + value[0], l2 / d + value[1]])
    return (float(value[0]), float(error[0])), (float(value[1]), float(error[1]))


def _cap_mean(d: int, angle: float, order: int, h: Callable[[Floats], Floats]) -> float:
    """The mean of h over a cap of the sphere, by a Gauss rule in the angle where its density is not negligible."""
    x, weight = np.polynomial.legendre.leggauss(order)
    peak = min(angle, math.pi / 2)
    reach = 12 / math.sqrt(d) if d > 60 else math.pi
    slope = (d - 2) / math.tan(peak) if peak < math.pi / 2 else 0.0
    width = min(reach, 50 / slope) if slope > 0 else reach
    low, high = max(0.0, peak - width), min(angle, peak + reach)
    theta = low + (high - low) * (x + 1) / 2
    log_density = (d - 2) * (np.log(np.sin(theta)) - math.log(math.sin(peak)))
    density = weight * np.exp(log_density)
    return float(np.sum(density * h(theta)) / np.sum(density))


def _inverse_count(n: float, share: float, empty: float) -> Pair:
    """E[1/K; K >= 1] for K binomial: the integral of ((1 - p v)^n - (1 - p)^n) / (1 - v) over v from 0 to 1."""
    if share >= 1:
        return 1 / n, 0.0

    def integrand(v: float) -> float:
        above = n * math.log1p(-share * v)
        if v >= 1:
            return n * share / (1 - share) * empty
        # the difference of two powers, without cancellation near v = 1
        gap = n * math.log1p(share * (1 - v) / (1 - share))
        return -math.exp(above) * math.expm1(-gap) / (1 - v)

    return _panels(integrand, [min(1.0, size / (n * share)) for size in (0.1, 1.0, 10.0, 60.0)], 0.0, 1.0)


def _nearest(d: int, n: float, angle: float, empty: float, h: Angle, slope: Angle) -> Pair:
    """E[h(theta of the nearest token); K = 0]: h at the edge of the box, and what it grows by beyond."""
    half = (d - 1) / 2

    def integrand(theta: float) -> float:
        share = float(betainc(half, half, math.sin(theta / 2) ** 2))
        return slope(theta) * math.exp(n * math.log1p(-share)) if share < 1 else 0.0

    if empty == 0:
        return 0.0, 0.0
    places = [2 * math.asin(math.sqrt(float(betaincinv(half, half, min(1.0, c / n))))) for c in EXPECTED]
    beyond, error = _panels(integrand, places, angle, math.pi)
    return h(angle) * empty + beyond, error


def _panels(integrand: Callable[[float], float], breaks: list[float], low: float, high: float) -> Pair:
    """An integral over [low, high] with breaks, and what SciPy says of its error."""
    inside = sorted({low, high, *(each for each in breaks if low < each < high)})
    parts = [quad(integrand, a, b, epsabs=0, epsrel=1e-11, limit=200) for a, b in pairwise(inside)]
    return sum(part[0] for part in parts), sum(part[1] for part in parts)
