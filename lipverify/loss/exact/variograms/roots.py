r"""Detect roots of a link, such as |z - a|^s at a kink or (1 - z)^s, from the decay of its Chebyshev coefficients."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from lipverify.foundation.arrays import EPS, Floats
from lipverify.loss.exact.quadrature import chebyshev_points, to_coefficients
from lipverify.loss.exact.variograms.planes import Link

GRID, WIDE, APART, MOST = 4096, 8, 512, 3
"""Steps over [-1, 1], the fewest in which a steep point bends, and between two; most steep points."""
SIZE, FINE = 64, 256
"""Number of coefficients for half a piece and for a whole one."""
HALF, NEAR, CLOSE = 1 / 2, 1 / 8, 1 / 64
"""Shares of the distance to the next kink: HALF detects every root, NEAR has few false detections, CLOSE none."""


@lru_cache(maxsize=64)
def has_roots(link: Link, kinks: tuple[float, ...], share: float = HALF) -> bool:
    """True if the link is no polynomial, to rounding, within a `share` of the distance from a kink or end to the next.

    With half of it an analytic piece that oscillates counts as one with roots; with less a weak root is missed.
    """
    ends = sorted({-1.0, *kinks, 1.0})
    intervals = [
        (end, end + share * way) for low, high in pairwise(ends) for end, way in ((low, high - low), (high, low - high))
    ]
    return any(_slow(link, low, high) for low, high in intervals)


@lru_cache(maxsize=64)
def is_resolved(link: Link, kinks: tuple[float, ...]) -> bool:
    """True if between kinks the link is, to rounding, a polynomial of degree at most `FINE`."""
    return not any(_slow(link, low, high, FINE) for low, high in pairwise(sorted({-1.0, *kinks, 1.0})))


@lru_cache(maxsize=64)
def rough_ends(link: Link, kinks: tuple[float, ...]) -> tuple[float, ...]:
    """The ends of [-1, 1] at which a link has a root, if it has none between the end and the nearest kink.

    >>> rough_ends(np.arcsin, ()), rough_ends(lambda z: abs(z) + np.sqrt(1 - z), (0.0,)), rough_ends(np.exp, ())
    ((-1.0, 1.0), (1.0,), ())
    """
    places = [-1.0, *sorted(kinks), 1.0]
    roots = []
    for end, kink in ((-1.0, places[1]), (1.0, places[-2])):
        half, quarter, close = (end + share * (kink - end) for share in (HALF, HALF / 2, CLOSE))
        if _slow(link, end, close) and _slow(link, end, quarter) and not _slow(link, quarter, half):
            roots.append(end)
    return tuple(roots)


def steep_places(link: Link) -> tuple[float, ...]:
    """Split points for a smooth link that bends mostly within short pieces; () if there are no such pieces.

    If the link is not analytic between these, they are the steep points alone, and it is treated as one with roots.

    >>> [round(place, 2) for place in steep_places(lambda z: np.tanh(40 * z))], steep_places(lambda z: abs(z - 0.3))
    ([-0.28, 0.0, 0.28], ())
    """
    step, pieces = 2 / GRID, []
    for piece in _bends(link, -1, 1)[: MOST + 1]:
        pieces += [piece] if piece.size >= WIDE else _bends(link, piece[0] - step, piece[-1] + step)
    if not 0 < len(pieces) <= MOST or any(piece.size < WIDE for piece in pieces):
        return ()
    middles = [float(piece[0] + piece[-1]) / 2 for piece in pieces]
    reaches = [4 * float(piece[-1] - piece[0]) for piece in pieces]
    around = [(middle - reach, middle, middle + reach) for middle, reach in zip(middles, reaches, strict=True)]
    places = tuple(sorted(point for some in around for point in some if -1 < point < 1))
    if is_resolved(link, places):
        return places
    return tuple(middles) if max(reaches) < 1 else ()


def _bends(link: Link, low: float, high: float) -> list[Floats]:
    """The pieces of a grid between two points in which the link bends more than half of its maximum there."""
    z = np.linspace(low, high, GRID + 1)
    bend = np.abs(np.diff(np.asarray(link(z), dtype=float), 2))
    bent = np.flatnonzero(bend > np.max(bend) / 2)
    return [z[1:-1][piece] for piece in np.split(bent, np.flatnonzero(np.diff(bent) > APART) + 1) if piece.size]


def _slow(link: Link, low: float, high: float, size: int = SIZE) -> bool:
    """True if the coefficients of the link between two points have not fallen to rounding."""
    z: Floats = (low + high) / 2 + (high - low) / 2 * chebyshev_points(size)
    values = np.asarray(link(z), dtype=float) + np.zeros(size)
    last = np.abs(to_coefficients(size)[-6:] @ values)
    # rounding of the points matters more on a short interval
    rounded = 4 * EPS * float(np.ptp(values)) / max(abs(high - low), 1e-300)
    return bool(np.max(last) > 1e-13 * max(1e-300, float(np.max(np.abs(values)))) + rounded)
