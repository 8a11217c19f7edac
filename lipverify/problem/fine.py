"""Inspect a user's function: its narrow features, undeclared kinks and jumps, and features that a quadrature misses."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from msgspec.structs import replace

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import EPS, Floats
from lipverify.problem.features import SAME, Features
from lipverify.problem.law import Law, by_law
from lipverify.problem.own import Ridge

PANELS, PANEL = 4096, 8
"""Panels and nodes of Gauss rules in the angle."""
ROUNDING = 64 * EPS
"""A link with a smaller relative variation is constant to rounding, so its variance is unknown."""

GRID, APART, BENT = 4096, 8, 20.0
"""Steps over [-1, 1]. A second difference `BENT` times those `APART` steps away on both sides is a kink or a jump: of a
smooth link they are similar, and near a declared root |z|^s their ratio is (1 + 8/3)^{2-s} < 14."""
MOST_FOUND = 4
"""Largest number of undeclared places to search for: more would take minutes."""
FINER = 8
"""Factor by which the grid is refined about a place."""
RESOLVED = 1e-14
"""Width to which a bend is refined."""


@lru_cache(maxsize=256)
def features(function: Callable[[Any], Any], low: float = -1.0, high: float = 1.0) -> Features | None:
    """The features of a function on [low, high], or None if balls cannot evaluate it."""
    from lipverify.problem.tracing import traced  # Arb, which most laws do without

    try:
        return traced(function, low, high)
    except Exception:
        return None


NEARBY = np.append(0.0, 2.0 ** np.arange(-53, 2))
"""Distances 1 - t at which the rounding of a covariance is bounded."""
STEPS = np.outer([1, 1001], np.arange(9))
"""Steps between doubles whose fourth differences show a function's rounding: that of neighbours may be the same."""


@lru_cache(maxsize=64)
def cancelled(K: Callable[[Any], Any]) -> Floats:
    """Bounds on the rounding errors of K at 1 - `NEARBY`, beyond that of a function without cancellation.

    They come from the roundings of all steps if K is a formula, and otherwise from values at neighbouring doubles.

    >>> float(cancelled(np.exp).max()), bool(cancelled(lambda t: 1 / (1 - 1.998 * t + 0.998001))[0] > 1e-5)
    (0.0, True)
    """
    from lipverify.problem.tracing import rounding

    t = 1 - NEARBY
    around = np.maximum(t[:, None, None] - np.spacing(t[:, None, None]) * STEPS, -1.0)
    values = np.asarray(K(around.ravel()), dtype=float).reshape(around.shape)
    try:
        error = rounding(K, t)
    except Exception:
        # the smaller of both: near t = 1 a root varies as much as rounding, and more in longer steps
        error = 2 * np.min(np.max(np.abs(np.diff(values, 4)), axis=2), axis=1)
    return np.where(error > ROUNDING * np.max(np.abs(values)), error, 0.0)


def undeclared(h: Callable[[Floats], Floats], declared: tuple[float, ...]) -> float | None:
    """The place in (-1, 1) where a link bends or jumps most, away from declared ones; None if it is smooth."""
    point = _most_bent(h, declared)
    return None if point is None else round(point, 2) + 0.0


@by_law
def sighted(law: Law) -> Any:  # a law of the same class
    """A law of a user's link with its undeclared kinks and jumps declared if they are few; otherwise the law itself."""
    return law


@sighted.register(Ridge)
@lru_cache(maxsize=64)
def _declared(law: Ridge) -> Ridge:
    if (known := features(law.link)) is not None:
        missing = [point for point in known.places if all(abs(point - kink) > SAME for kink in law.kink_points)]
        return replace(law, kinks=law.kinks + tuple(missing)) if 0 < len(missing) <= MOST_FOUND else law
    additions: list[float] = []
    smooth: tuple[float, ...] = ()
    while (point := _most_bent(law.link, law.kink_points + tuple(additions) + smooth)) is not None:
        if len(additions) + len(smooth) == MOST_FOUND:
            return law
        position = _located(law.link, point)
        if position is None:
            smooth += (point,)
        else:
            additions.append(position)
    return replace(law, kinks=law.kinks + tuple(additions)) if additions else law


def _located(h: Callable[[Floats], Floats], point: float) -> float | None:
    """Locate the kink or jump near a place to rounding; None if the link is smooth at a finer grid."""
    reach, bent = 4 / GRID, np.inf
    while reach > RESOLVED:
        z = point + reach * np.linspace(-1, 1, 4 * FINER + 1)
        values = np.asarray(h(z), dtype=float)
        bend = np.abs(np.diff(values, 2))
        most = float(np.max(bend))
        if most <= ROUNDING * float(np.max(np.abs(values))):
            break
        # a kink's second difference falls like the step, by 8; a smooth link's like its square, by 64
        if most * 24 < bent < np.inf:
            return None
        point, reach, bent = float(z[1 + np.argmax(bend)]), reach / FINER, most
    if reach > 1e-9:  # lost in rounding
        return None
    nice = round(point, 10)
    return (nice if abs(nice - point) <= reach + RESOLVED else point) + 0.0


def _most_bent(h: Callable[[Floats], Floats], declared: tuple[float, ...]) -> float | None:
    """The grid point where a link bends or jumps most, away from the declared places."""
    z = np.linspace(-1, 1, GRID + 1)
    values = np.asarray(h(z), dtype=float)
    bend = np.abs(np.diff(values, 2))
    places = z[1:-1]
    neighbours = np.stack([bend[: -2 * APART], bend[2 * APART :]]).max(axis=0)
    middle, points = bend[APART:-APART], places[APART:-APART]
    # three steps about a declared place, and at an end of the domain, are not searched
    far = np.all(np.abs(points[:, None] - np.array([-1.0, 1.0, *declared])) > 3 * 2 / GRID, axis=1)
    rounding = ROUNDING * float(np.max(np.abs(values)))
    candidates = far & (middle > BENT * (neighbours + rounding))
    return float(points[np.argmax(np.where(candidates, middle, -1.0))]) if candidates.any() else None


class UnseenError(OutOfReach):
    """A rule misses features of a function."""


def unseen(d: int, h: Callable[[Floats], Floats], variance: float, kinks: tuple[float, ...] = ()) -> float:
    """The relative error of `variance`, Var h(<q, x>) by another rule; 0 if small, out of reach above a tenth."""
    z, weight = fine_rule(d, kinks)
    values = h(z)
    fine = float(np.average((values - np.average(values, weights=weight)) ** 2, weights=weight))
    rounding = (ROUNDING * float(np.max(np.abs(values)))) ** 2
    share = abs(variance - fine) / fine if fine > rounding else 0.0
    if share > 0.1:  # the rule missed a feature
        raise UnseenError(
            f"the link varies by {fine:.2g} on average, and by {variance:.2g} at the nodes: it has features too narrow "
            "for them; declare kinks and jumps, or use method='montecarlo'."
        )
    return share if share > 1e-9 else 0.0  # a smaller difference is the fine rule's own error


def fine_rule(d: int, kinks: tuple[float, ...] = ()) -> tuple[Floats, Floats]:
    """Nodes z and weights, whose sum is not 1, of a rule that resolves features as narrow as a ten-thousandth."""
    x, gauss = np.polynomial.legendre.leggauss(PANEL)
    # panels shrink towards places where a link may have roots
    graded = np.pi / PANELS * np.outer([1, -1], 4.0 ** -np.arange(20)).ravel()
    near = np.array([0.0, np.pi, *np.arccos(kinks)])[:, None] + graded
    edges = np.unique(
        np.concatenate([np.linspace(0, np.pi, PANELS + 1), np.arccos(kinks), near.clip(0, np.pi).ravel()])
    )
    width = np.diff(edges)[:, None]
    angle = (edges[:-1, None] + width * (1 + x) / 2).ravel()
    return np.cos(angle), (width * gauss).ravel() * np.sin(angle) ** (d - 2)
