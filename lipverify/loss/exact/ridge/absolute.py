r"""The averages of |<q, x>|, the even half of the ReLU law.

With c = <q, x> = sin a and m = d - 1,

    E[|<q, x_i>| - |c|] = |sin a| (|cos theta| - 1) + 2 cos a sin theta K(rho),  rho = |tan a / tan theta|,
    K(rho) = E (r - rho)_+ for r zonal on S^{d-2}, and 0 for rho >= 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import betainc, betaincc

from lipverify.foundation.arrays import Floats
from lipverify.foundation.sphere import half_beta
from lipverify.loss.exact.context.averages import Averages, moments
from lipverify.loss.exact.context.tokens import TokenNodes, angle_of, distinct, kernel, token_nodes
from lipverify.loss.exact.quadrature import CONCENTRATION, on_panels, smooth_rule
from lipverify.loss.exact.ridge.angles import bias_by_short_sums
from lipverify.loss.exact.ridge.pairs import bias_by_pairs
from lipverify.loss.exact.ridge.task import (
    ROUNDING,
    Rules,
    TaskAverages,
    bias_by_averages,
    linear_averages,
    linear_pair,
)
from lipverify.loss.exact.variograms.closed import relu_source, relu_variogram
from lipverify.loss.exact.variograms.table import tabulated

BLOCK = 4
"""Number of places averaged at a time, so that the arrays of the kink's double integral fit in a processor's cache."""


def relu_averages(d: int) -> TaskAverages:
    """The averages for (z)_+ = (z + |z|) / 2 with two amplitudes: half of the sum of the averages for z and for |z|."""
    table, linear = tabulated(relu_source(d), 2, [0.0, np.pi]), linear_averages(d)
    known = ROUNDING + table.gap / table.largest

    def variogram(nodes: TokenNodes) -> Floats:
        return relu_variogram(d, nodes.angle)

    def pair(of: Averages) -> Floats:
        return (linear_pair(d, of) + absolute_pair(of)) / 2

    def bias(rules: Rules) -> tuple[Floats, Floats]:
        if not rules.of.direct.any():
            return bias_by_averages(variogram, pair, rules)
        # if windows hold few tokens, short sums for the densities of angles, or integrals over two tokens, are cheaper
        value, error, _, left = bias_by_short_sums(table, rules)
        error += known * value
        for i in left:
            value[i], error[i] = bias_by_pairs(rules, i)
        return value, error

    return TaskAverages((linear.variance + absolute_variance(d)) / 2, variogram, bias, pair)


def absolute_variance(d: int) -> float:
    """1/d - (E |<q, x>|)^2, with E |<q, x>| = 2 / ((d-1) B(1/2, (d-1)/2))."""
    return 1 / d - (2 / ((d - 1) * half_beta(d - 1))) ** 2


def absolute_pair(of: Averages) -> Floats:
    """E_c (E[psi_1 (|<q, x_i>| - |c|)])^2, the integral over c = sin a split at each scale of theta."""
    anchors, places = of.anchors, len(of.places)
    a, weight = kink_nodes(of)
    at_anchors = [moments(1, *_at_kinks(of, block, a[block]), of.terms) for block in _blocks(0, anchors)]
    means = of.expand(1, np.concatenate(at_anchors, axis=1))
    series = np.einsum("qa,qa->q", means**2, weight[:anchors][of.points.row[~of.direct]])
    direct = np.empty(places - anchors)
    for block in _blocks(anchors, places):
        y, weighted = _at_kinks(of, block, a[block])
        mean = np.einsum("pai,pai->pa", kernel(1, y), weighted)
        direct[block.start - anchors : block.stop - anchors] = np.einsum("pa,pa->p", mean**2, weight[block])
    return of.gather(series, direct) + _beyond_the_kink(of)


def _blocks(start: int, stop: int) -> Iterator[slice]:
    """Slices of the places from start to stop, of `BLOCK` places each."""
    return (slice(first, min(first + BLOCK, stop)) for first in range(start, stop, BLOCK))


def _at_kinks(of: Averages, block: slice, a: Floats) -> tuple[Floats, Floats]:
    """(y, weight h) at the places of the block, for every a: shape (place, a, node)."""
    places, breaks = of.places[block], distinct(of.breaks[block], 1e-2)[:, None, :]
    # split at theta = a and pi - a, between which the circle around the query meets the great circle <q, .> = 0
    double_w = 2 * places.w[:, None]
    near = double_w * np.sin(a / 2) ** 2
    meets = np.clip(np.stack([near, double_w - near], axis=-1), breaks[..., :1], breaks[..., -1:])
    split = np.concatenate([np.broadcast_to(breaks, (*a.shape, breaks.shape[-1])), meets], axis=-1)
    nodes = token_nodes(places, distinct(np.sort(split, axis=-1)), of.order)
    return nodes.y, nodes.weight * absolute_increment(places.d, nodes, a[..., None])


def absolute_increment(d: int, nodes: TokenNodes, a: Floats) -> Floats:
    """E_r |<q, x_i>| - |<q, x>| at <q, x> = sin a, a in (0, pi/2)."""
    sine, cosine = np.sqrt(nodes.near * nodes.far), np.abs(1 - nodes.near)
    rho = np.tan(a) * cosine / sine
    reached = rho < 1
    excess = np.zeros_like(rho)
    excess[reached] = mean_excess(d, rho[reached])
    return 2 * np.cos(a) * sine * excess - np.sin(a) * np.minimum(nodes.near, nodes.far)


def mean_excess(d: int, rho: Floats) -> Floats:
    """K(rho) = E (r - rho)_+ for r zonal on S^{d-2}, rho in [0, 1); r = +-1 when d = 2.

    With p = (d-4)/2 and J_p = int_rho^1 (1-r^2)^p dr it is ((1-rho^2)^{p+1} / (2p+2) - rho J_p) / B(1/2, p+1).
    """
    if d == 2:
        return (1 - rho) / 2
    p = (d - 4) / 2
    rest = (1 - rho) * (1 + rho)
    return (rest ** (p + 1) / (2 * p + 2) - rho * _tail_integral(p, rho, rest)) / half_beta(d - 2)


def _tail_integral(p: float, rho: Floats, rest: Floats) -> Floats:
    """J_p, rest = 1 - rho^2: by J_q = (2q J_{q-1} - rho rest^q) / (2q + 1) from J_{-1/2} = arccos rho or
    J_0 = 1 - rho, ten times cheaper than the incomplete beta function that serves high dimensions.
    """
    if p > 30:
        return half_beta(int(2 * p) + 2) / 2 * betainc(p + 1, 0.5, rest)
    even = p == int(p)
    q, power, tail = (0.0, np.ones_like(rest), 1 - rho) if even else (-0.5, rest**-0.5, np.arccos(rho))
    while q < p:
        q, power = q + 1, power * rest
        tail = (2 * q * tail - rho * power) / (2 * q + 1)
    return tail


def kink_nodes(of: Averages) -> tuple[Floats, Floats]:
    """Nodes a (place, node) and weights for E_c over |a| < the largest angle at which a token can lie.

    The density of c = <q, x> = sin a is cos^{d-2} a / B(1/2, (d-1)/2) in a; both signs are counted.
    """
    d, top = of.places.d, _largest_fold(of)[:, None]
    share = of.breaks[:, (1, 3, 5, 7, 8)] / (2 * of.places.w[:, None])
    folded = np.sort(angle_of(2 * np.minimum(share, 1 - share), 2 * np.maximum(share, 1 - share)), axis=-1)
    # for large d the density falls at a ~ 1/sqrt(d), and the excess K(rho) at rho ~ 1/sqrt(d)
    scales = [np.ones_like(top), np.tan(folded[:, 2:3])] if d > 20 else []
    concentrated = [np.minimum(np.arctan(scale * z / np.sqrt(d)), top) for scale in scales for z in CONCENTRATION]
    edges = np.sort(np.concatenate([np.zeros_like(top), folded[:, :-1], *concentrated, top], axis=-1), axis=-1)
    # the density cos^{d-2} is steeper in higher dimensions: a few more nodes here avoid a higher order everywhere
    rule = smooth_rule(of.order // 2 + 4 + min(max(d - 3, 0), 4))
    a, weight = (part.reshape(len(edges), -1) for part in on_panels(edges, rule))
    return a, 2 * weight * np.cos(a) ** (d - 2) / half_beta(d - 1)


def _largest_fold(of: Averages) -> Floats:
    """The largest min(theta, pi - theta) on [low, high]: pi/2 if the interval contains the equator."""
    share = of.breaks[:, [0, -1]] / (2 * of.places.w[:, None])
    nearer = np.minimum(share, 1 - share)
    ends = np.max(angle_of(2 * nearer, 2 * (1 - nearer)), axis=1)
    return np.where((share[:, 0] < 0.5) & (share[:, 1] > 0.5), np.pi / 2, ends)


def _beyond_the_kink(of: Averages) -> Floats:
    """The part of E_c in which no token can reach the kink, so that |<q, x_i>| - |c| = |c| (|t| - 1)."""
    d = of.places.d
    slope = of.mean(1, lambda nodes: np.minimum(nodes.near, nodes.far))
    tail = betaincc(1.5, (d - 1) / 2, np.sin(_largest_fold(of)) ** 2) / d
    anchor = tail[: of.anchors][of.points.row[~of.direct]]
    return slope**2 * of.gather(anchor, tail[of.anchors :])
