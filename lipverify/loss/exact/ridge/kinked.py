r"""The averages of a link with kinks, by quadrature over every angle.

Let chi be the angle between q and the query, <q, x> = cos chi, and beta that of the token about it:

    <q, x_i> = cos chi cos theta + sin chi sin theta cos beta,    density of beta: sin^{d-3}.

A kink at <q, .> = cos(chi_k) is a circle on the sphere. The circle of angle theta about the query first meets
it at theta = |chi - chi_k|, and last at chi + chi_k or 2 pi - chi - chi_k, whichever is within [0, pi]; where
it crosses it, at one beta. Every rule is split at these places, and between them everything is analytic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats
from lipverify.foundation.gammas import half_beta
from lipverify.loss.exact.ridge.averages import Averages, moments
from lipverify.loss.exact.ridge.task import TaskAverages
from lipverify.loss.exact.ridge.tokens import TokenNodes, gauss_rule, kernel, token_nodes

Link = Callable[[Floats], Floats]

SCALES = (1, 3, 5, 7, 8)
"""Which of the breaks in s set the scale of the integral over chi."""
CONCENTRATION = (-9.0, -4.5, -2.0, 2.0, 4.5, 9.0)
"""A coordinate of a point of S^{d-1} is within 9 / sqrt(d) but for e^-40; rules are split there if d is large."""
LARGE = 4
TABLE, TABLE_ORDER = (32, 48), (24, 32)
"""Degrees in theta of the variogram on each piece, with the orders of the rules behind them."""
MOST_NODES = 10**8
"""Evaluations of the link in one pass: ten seconds or so; the other route does without."""
GRADES = (0.01, 0.05, 0.3)
"""Distances of the edges from a meeting of kinks, as shares of its distance to the nearer pole."""
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Kinks:
    """A link with the angles of its kinks, in dimension d."""

    d: int
    link: Link
    angles: tuple[float, ...]

    def meetings(self, chi: Floats) -> Floats:
        """The theta at which circles about the query meet the kinks, first and last: shape (*chi.shape, 2 kinks)."""
        kinks = np.array(self.angles)
        together = chi[..., None] + kinks
        return np.concatenate([np.abs(chi[..., None] - kinks), np.minimum(together, 2 * np.pi - together)], axis=-1)

    def increments(self, theta: Floats, chi: Floats, order: int, power: int = 1) -> Floats:
        """E_beta (h(<q, x_i>) - h(<q, x>))^power; theta and chi broadcast."""
        c, t = np.cos(chi), np.cos(theta)
        sines = np.sin(chi) * np.sin(theta)
        if self.d == 2:
            cosines, weight = np.array([-1.0, 1.0]), np.array(0.5)
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                crossings = [np.arccos(np.clip((np.cos(k) - c * t) / sines, -1, 1)) for k in self.angles]
            beta, weight = spherical_rule(self.d - 1, np.nan_to_num(np.stack(crossings, axis=-1)), order)
            cosines = np.cos(beta)
        # the other form loses digits where theta is small: c - 2 c sin^2(theta/2) + ...
        z = (c - 2 * c * np.sin(theta / 2) ** 2)[..., None] + sines[..., None] * cosines
        rise = self.link(np.clip(z, -1, 1)) - self.link(np.clip(c, -1, 1))[..., None]
        return np.sum(weight * rise**power, axis=-1)


def spherical_rule(d: int, splits: Floats, order: int) -> tuple[Floats, Floats]:
    """Nodes and weights for the angle to a pole of S^{d-1}, d >= 2, split at `splits` in [0, pi]: (..., node)."""
    scale = 1 / np.sqrt(d)
    concentrated = [max(0.0, min(np.pi / 2 + z * scale, np.pi)) for z in CONCENTRATION] if d > LARGE else []
    fixed = np.array([0.0, *concentrated, np.pi])
    edges = np.concatenate([np.broadcast_to(fixed, (*splits.shape[:-1], fixed.size)), splits], axis=-1)
    edges = np.sort(edges, axis=-1)
    x, gauss = gauss_rule(order)
    width = np.diff(edges, axis=-1)[..., None]
    shape = (*splits.shape[:-1], -1)
    angle = np.reshape(edges[..., :-1, None] + width * x, shape)
    density = np.sin(angle) ** (d - 2) / half_beta(d - 1)
    return angle, np.reshape(width * gauss, shape) * density


def kinked_averages(d: int, link: Link, kinks: tuple[float, ...]) -> TaskAverages:
    """The averages of a link that is analytic between its kinks."""
    of_link = Kinks(d, link, tuple(float(angle) for angle in np.arccos(kinks)))
    variogram, gap = _variogram(of_link)
    chi, weight = spherical_rule(d, np.array(of_link.angles), TABLE_ORDER[1])
    values = link(np.cos(chi))
    mean = float(values @ weight)
    return TaskAverages(
        variance=float((values - mean) ** 2 @ weight),
        variogram=lambda nodes: nodes.near * variogram(nodes),
        pair=lambda of: _pair(of_link, of),
        meetings=_meetings(of_link),
        tolerance=5e-10,
        relative_error=gap,
        link_rounding=4 * EPS * float(np.max(np.abs(values))),
    )


def _variogram(of: Kinks) -> tuple[Callable[[TokenNodes], Floats], float]:
    """E_f (f(x_i) - f(x))^2 / (1 - t), by interpolation in theta between the places where kinks meet; its error."""
    edges = _graded(of)
    coarse, fine = (
        [_piece(of, low, high, size, order) for low, high in pairwise(edges)]
        for size, order in zip(TABLE, TABLE_ORDER, strict=True)
    )
    between = np.linspace(-1, 1, 37)
    gap = max(float(np.max(np.abs(a(between) / b(between) - 1))) for a, b in zip(coarse, fine, strict=True))

    def value(nodes: TokenNodes) -> Floats:
        theta = 2 * np.arctan2(np.sqrt(nodes.near), np.sqrt(nodes.far))
        piece = np.clip(np.searchsorted(edges, theta) - 1, 0, edges.size - 2)
        result = np.empty_like(theta)
        for i in range(edges.size - 1):
            here = piece == i
            result[here] = fine[i](2 * (theta[here] - edges[i]) / (edges[i + 1] - edges[i]) - 1)
        return result

    return value, gap


def _meetings(of: Kinks) -> tuple[float, ...]:
    """The angles theta in (0, pi) by which two kinks differ, as circles on the sphere: no average is smooth there."""
    kinks = np.array(of.angles)
    together = np.add.outer(kinks, kinks).ravel()
    meetings = np.concatenate([np.abs(np.subtract.outer(kinks, kinks)).ravel(), together, 2 * np.pi - together])
    return tuple(np.unique(meetings[(meetings > 1e-9) & (meetings < np.pi - 1e-9)].round(12)).tolist())


def _graded(of: Kinks) -> Floats:
    """Edges of the pieces: ever shorter towards the theta where kinks meet."""
    edges = [0.0, np.pi]
    for meeting in _meetings(of):
        room = min(meeting, np.pi - meeting)
        edges += [meeting, *(meeting + side * share * room for share in GRADES for side in (-1, 1))]
        edges += [scale for scale in room * 2.0 ** np.arange(1, 40) if scale < np.pi]
        edges += [np.pi - scale for scale in room * 2.0 ** np.arange(1, 40) if scale < np.pi]
    return np.unique(np.array(edges).round(13))


def _piece(of: Kinks, low: float, high: float, size: int, order: int) -> np.polynomial.Chebyshev:
    """The interpolant on [low, high], as a function on [-1, 1]."""
    x = np.cos(np.pi * (np.arange(size) + 0.5) / size)
    theta = low + (high - low) * (x + 1) / 2
    values = []
    for angle in theta:
        kinks = np.array(of.angles)
        touches = [kinks, np.abs(kinks - angle), kinks + angle]
        folded = np.concatenate(touches)
        chi, weight = spherical_rule(of.d, np.where(folded > np.pi, 2 * np.pi - folded, folded), order)
        squares = of.increments(np.full_like(chi, angle), chi, order, power=2)
        values.append(float(squares @ weight) / (2 * np.sin(angle / 2) ** 2))
    return np.polynomial.Chebyshev.fit(x, values, size - 1, domain=[-1, 1])


def _pair(kinks: Kinks, of: Averages) -> Floats:
    """E_chi (E[psi_1 (h(<q, x_i>) - h(<q, x>))])^2."""
    anchors, places = of.anchors, len(of.places)
    _require_affordable(kinks, of)
    row = of.points.row[~of.direct]
    series, direct = np.empty(row.size), np.empty(places - anchors)
    for place in range(places):
        chi, weight = _chi_nodes(kinks, of, place)
        y, weighted = _at_kinks(kinks, of, place, chi)
        if place >= anchors:
            direct[place - anchors] = np.sum(kernel(1, y) * weighted, axis=-1) ** 2 @ weight
        elif (row == place).any():
            terms = np.zeros((of.terms, anchors, chi.size))
            terms[:, place] = moments(1, y, weighted, of.terms)
            series[row == place] = of.expand(1, terms)[row == place] ** 2 @ weight
    return of.gather(series, direct)


def _require_affordable(kinks: Kinks, of: Averages) -> None:
    """Refuse what would take long: every place needs its own integral over three angles."""
    chi, _ = _chi_nodes(kinks, of, 0)
    intervals = of.breaks.shape[1] + 2 * len(kinks.angles)
    nodes = chi.size * intervals * of.order * (len(kinks.angles) + 1) * of.order * 3 // 4
    if nodes * len(of.places) > MOST_NODES:
        raise OutOfReach(
            f"w = {float(of.points.w[0]):g}: windows hold few tokens, and the average over the kinks would take "
            f"{nodes * len(of.places):.0e} evaluations of the link (at most {MOST_NODES:.0e}); use route='zonal', "
            "method='montecarlo', or a smaller w."
        )


def _chi_nodes(kinks: Kinks, of: Averages, place: int) -> tuple[Floats, Floats]:
    """Nodes and weights in chi, split where the circles of a token's likely angles touch a kink."""
    share = of.breaks[place, SCALES] / (2 * of.places.w[place])
    theta = 2 * np.arctan2(np.sqrt(share), np.sqrt(1 - share))
    angles = np.array(kinks.angles)
    touches = np.concatenate([angles, np.subtract.outer(angles, theta).ravel(), np.add.outer(angles, theta).ravel()])
    folded = np.where(touches > np.pi, 2 * np.pi - touches, np.abs(touches))
    return spherical_rule(kinks.d, folded, of.order * 3 // 4)


def _at_kinks(kinks: Kinks, of: Averages, place: int, chi: Floats) -> tuple[Floats, Floats]:
    """(y, weight h) at one place for every chi: shape (chi, node)."""
    where, breaks = of.places[slice(place, place + 1)], of.breaks[place]
    meets = 2 * where.w * np.sin(kinks.meetings(chi) / 2) ** 2
    split = np.concatenate([np.broadcast_to(breaks, (chi.size, breaks.size)), np.clip(meets, breaks[0], breaks[-1])], 1)
    nodes = token_nodes(where, np.sort(split, axis=-1)[None], of.order)
    theta = 2 * np.arctan2(np.sqrt(nodes.near[0]), np.sqrt(nodes.far[0]))
    rise = kinks.increments(theta, np.broadcast_to(chi[:, None], theta.shape), of.order * 3 // 4)
    return nodes.y[0], nodes.weight[0] * rise
