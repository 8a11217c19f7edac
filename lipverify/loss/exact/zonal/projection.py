r"""Coefficients by quadrature, for a general link or covariance, by two rules of which the second estimates the error.

The rounding error of k_l is relative to the largest value of the function and grows with N_l, so in high dimensions few
coefficients can be distinguished from zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np

from lipverify.errors import InvalidInput, OutOfReach
from lipverify.foundation.arrays import EPS, Floats
from lipverify.foundation.harmonics import Spectrum, deficits, dimension
from lipverify.loss.work import spend
from lipverify.problem.features import SEEN, SMALLEST, Features
from lipverify.problem.fine import NEARBY, cancelled, features, unseen
from lipverify.problem.law import RidgeLaw

ROUNDING = 32 * EPS
"""Rounding of an average over the sphere, relative to the average size of the averaged function."""
INSIDE = math.nextafter(1.0, 0.0)
"""The largest |z| of a node: at +-1 and at a kink, sets of measure zero, a link may jump, as floor(z) does."""

Coefficient = Callable[[int, Floats], tuple[float, float, bool]]
"""A function from a degree and averages (function, rule) with P_l to k_l, its error, and if it is below rounding."""
COEFFICIENT = 2.0
"""Nanoseconds per coefficient and node."""


def _rules(d: int, splits: tuple[float, ...], most: int, known: Features | None = None) -> tuple[Floats, Floats]:
    """Nodes 1 - t of both rules, and weights (rule, node) for averages over a coordinate times P_l, l <= most."""
    if known is not None:
        # truncation errors below 1e-19 and 1e-12 of the link's range (`features`)
        rules = [_rule_of(d, known, splits, most / 6, order) for order in (24, 17)]
    else:
        rules = [_rule(d, splits, most * nodes / 48, nodes / 8) for nodes in (8, 5)]  # per wave of P_l
    angles, weights = zip(*rules, strict=True)
    zeros_first, zeros_second = (np.zeros_like(weight) for weight in weights)
    weight = np.stack([np.concatenate([weights[0], zeros_second]), np.concatenate([zeros_first, weights[1]])])
    return 2 * np.sin(np.concatenate(angles) / 2) ** 2, weight


def _rule(d: int, splits: tuple[float, ...], waves: float, share: float) -> tuple[Floats, Floats]:
    """Angles and weights: `waves` Gauss panels over the sphere, and in every piece a `share` of 8 + sqrt(d) more."""
    x, gauss = np.polynomial.legendre.leggauss(24)
    angles, weights = [], []
    for low, high in pairwise([0.0, *sorted(splits), math.pi]):
        panels = int(share * (8 + math.sqrt(d))) + int((high - low) / math.pi * waves)
        # panels shrink geometrically towards both ends, where a covariance may be singular
        inner = np.linspace(low, high, panels + 1)
        graded = (inner[1] - inner[0]) * 4.0 ** -np.arange(1, 12)
        inner = np.unique(np.concatenate([inner, low + graded, high - graded]))
        half = np.diff(inner)[:, None] / 2
        angles.append((inner[:-1, None] + half * (1 + x)).ravel())
        weights.append((half * gauss).ravel())
    angle = np.concatenate(angles)
    weight = np.concatenate(weights) * np.abs(np.sin(angle)) ** (d - 2)
    return angle, weight / np.sum(weight)


def _rule_of(d: int, known: Features, splits: tuple[float, ...], waves: float, order: int) -> tuple[Floats, Floats]:
    """Angles and weights of Gauss rules on the intervals of `known`, several if P_l or the density varies on them."""
    x, gauss = np.polynomial.legendre.leggauss(order)
    edges = np.unique([0.0, math.pi, *splits, *np.arccos(known.edges)])
    panels = 1 + (np.diff(edges) / math.pi * (waves + 8 + 2 * math.sqrt(d))).astype(int)
    width = np.repeat(np.diff(edges) / panels, panels)
    start = np.concatenate([[0], np.cumsum(panels)[:-1]])
    low = np.repeat(edges[:-1], panels) + width * (np.arange(width.size) - np.repeat(start, panels))
    angle = (low[:, None] + width[:, None] * (1 + x) / 2).ravel()
    weight = (width[:, None] * gauss).ravel() * np.abs(np.sin(angle)) ** (d - 2)
    return angle, weight / np.sum(weight)


def of_links(law: RidgeLaw, d: int, most: int, known: Features | None = None) -> Spectrum:
    """k_l = v N_l sum_h (E[h(z) P_l(z)])^2 for l <= most, by rules made for the features of the link if `known`."""
    near, weight = _rules(d, tuple(math.acos(kink) for kink in law.kink_points), most, known)
    # rounding carries no node across a kink
    ends = np.array([-1.0, *law.kink_points, 1.0])
    piece = len(ends) - 2 - np.searchsorted(1 - ends[-2:0:-1], near)
    inside = np.clip(1 - near, np.nextafter(ends, 2)[piece], np.nextafter(ends, -2)[piece + 1])
    values = np.stack([np.asarray(h, dtype=float) for h in law.links(inside, np)])
    centred = values - (values @ weight[0])[:, None]

    def at(z: Floats, i: int) -> Floats:
        return np.asarray(law.links(z, np)[i], dtype=float)

    link_variances = centred**2 @ weight[0]
    missed = 0.0
    if known is None or known.narrowest(law.kink_points)[0] >= SEEN:
        split = tuple({*law.kink_points, *(() if known is None else known.places)})
        missed = max(unseen(d, partial(at, i=i), float(variance), split) for i, variance in enumerate(link_variances))
    variances = law.amplitude_variance * np.sum(centred**2 @ weight.T, axis=0)
    # subtracting the mean leaves a rounding error of eps times the size of the values, not their spread
    sizes = (np.abs(centred) + np.abs(values) / 8) @ weight[0]  # |P_l| <= 1, and narrow features weigh little
    noise = ROUNDING * float(np.max(sizes))
    noise += _shaken(inside, values, weight[0])

    # to the last bit at all nodes: then odd coefficients are zero
    even = np.array_equal(values, np.stack(law.links(-inside, np)))

    def coefficient(degree: int, projections: Floats) -> tuple[float, float, bool]:
        if even and degree % 2:
            return 0.0, 0.0, True
        factor = law.amplitude_variance * dimension(d, degree)
        k = factor * np.sum(projections**2, axis=0)
        size = np.abs(projections[:, 0])
        error = factor * float(np.sum(2 * size * noise + noise**2)) + abs(k[0] - k[1])
        return float(k[0]), error, bool(np.all(size <= noise))

    scale = law.amplitude_variance * len(values)
    slack = scale * noise * (2 * float(np.max(np.abs(centred))) + noise) + abs(variances[0] - variances[1])
    slack += missed * variances[0] + (0.0 if known is None else _left_out(law, d, known))
    return _listed(d, (near, weight, centred), coefficient, (float(variances[0]), float(slack)), most)


def _shaken(z: Floats, values: Floats, weight: Floats) -> float:
    """The effect on an average of rounding z at the nodes of the first rule, larger where links are steep."""
    used = np.flatnonzero(weight > 0)
    order = used[np.argsort(z[used])]
    steps, heights = np.diff(z[order]), np.abs(np.diff(values[:, order], axis=1))
    slopes = np.divide(heights, steps, out=np.zeros_like(heights), where=steps > 0)
    return float(np.max(np.minimum(slopes * EPS, heights) @ weight[order][1:]))


def _left_out(law: RidgeLaw, d: int, known: Features) -> float:
    """The mean square of a link next to the points where it may be infinite, which estimates the part left out."""
    total = 0.0
    for point in known.unbounded:
        neighbours = np.clip(point + 4 * SMALLEST * np.array([-1, 1]), -INSIDE, INSIDE)
        squares = np.asarray(law.links(neighbours, np)[0], dtype=float) ** 2
        total += 64 * SMALLEST * float(np.max(squares)) * math.sqrt(d) * (1 - point * point + SMALLEST) ** ((d - 3) / 2)
    return total


def of_covariance(K: Callable[[Floats], Floats], d: int, most: int, given: bool = False) -> Spectrum:
    """k_l = N_l E[K(z) P_l(z)] for l <= most, and for some more, which may reveal that K is not a covariance.

    A K that is `given` by a user may lose digits near t = 1.
    """
    most = max(most, 128)
    near, weight = _rules(d, (), most)
    values = np.asarray(K(1 - near), dtype=float)
    means = weight @ values
    lost = cancelled(K) if given else np.zeros_like(NEARBY)
    noise = ROUNDING * float(np.max(np.abs(values))) + float(weight[0] @ np.interp(near, NEARBY, lost))
    noise += _shaken(1 - near, values[None], weight[0]) if given else 0.0

    def coefficient(degree: int, projections: Floats) -> tuple[float, float, bool]:
        ways = dimension(d, degree)
        k, coarse = ways * projections[0]
        error = ways * noise + 2 * abs(k - coarse)
        if k < -4 * error:
            raise _no_covariance(K, f"its coefficient k_{degree} = {k:.3g} is negative in d = {d}")
        return max(float(k), 0.0), float(error), bool(abs(k) <= error)

    total = float(np.asarray(K(np.ones(1)))[0]) - float(means[0])
    slack = 4 * noise + float(lost[0]) + abs(float(means[0] - means[1]))
    spectrum = _listed(d, (near, weight, (values - means[0])[None, :]), coefficient, (total, slack), most)
    listed = float(np.sum(spectrum.k))
    if total - listed < -4 * (slack + spectrum.tail_error):
        excess = f"its coefficients up to degree {spectrum.k.size} sum to {listed:.4g} in d = {d}, more than "
        raise _no_covariance(K, f"{excess}K(1) - E K = {total:.4g}, so others are negative")
    return spectrum


def _no_covariance(K: Callable[[Floats], Floats], evidence: str) -> InvalidInput | OutOfReach:
    """The refusal for a negative coefficient: K is not a covariance, provided that the rules resolve it."""
    known = features(lambda s: K(1 - s), 0.0, 2.0)
    if known is None or known.narrowest(graded=True)[0] < SEEN:
        return OutOfReach(
            f"K: {evidence}, by rules that may not see all of it: it is no covariance of any law there, or varies "
            "faster than they can tell; give Zonal(spectrum=...)."
        )
    return InvalidInput(
        f"K: {evidence}, so it is not the covariance of any law there; a covariance is positive definite."
    )


def _listed(
    d: int, rule: tuple[Floats, Floats, Floats], coefficient: Coefficient, total: tuple[float, float], most: int
) -> Spectrum:
    """The coefficients up to rounding, or until they would add more error than the rest of the total; then the tail."""
    near, weight, centred = rule
    (rest, slack), k, errors, quiet = total, [], [], 0
    for degree, deficit in enumerate(deficits(d, near), 1):
        spend(near.size, COEFFICIENT * len(centred), "the spectrum of the law")
        value, error, silent = coefficient(degree, (centred * (1 - deficit)) @ weight.T)
        if error > max(rest, total[1]) and degree > 1:
            break
        k.append(value)
        errors.append(error)
        rest, slack = rest - value, slack + error
        quiet = quiet + 1 if silent else 0
        if degree >= most or (quiet >= 6 and rest <= slack):  # every other one may vanish by parity
            break
    return Spectrum(d, np.array(k), np.array(errors), max(rest, 0.0), slack)
