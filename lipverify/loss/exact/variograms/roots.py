r"""Whether a link has roots, such as |z - a|^s at a kink or (1 - z)^s: told by how its Chebyshev coefficients fall."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.quadrature.rules import chebyshev_points, to_coefficients
from lipverify.loss.exact.variograms.planes import Link

GRID, WIDE, APART, MOST, BESIDE = 4096, 8, 512, 3, 4.0
"""Steps over [-1, 1]; how many of them bend at a steep place at least, where at a kink one does; how many lie between
two such places, of which so many are looked at; places beside each are so many times its width away."""
SIZE, FINE, LAST = 64, 256, 6
"""Coefficients of half a piece and of a whole one, and how many of the last are looked at."""
HALF, NEAR, CLOSE = 1 / 2, 1 / 8, 1 / 64
"""Of the way from one kink to the next: where every root is seen, where little else is taken for one, and nothing."""
NOTHING, ROUNDING, TINY = 1e-13, 4 * float(np.finfo(float).eps), 1e-300
"""Of the largest value: there the coefficients of an analytic function end, and those of a root do not."""


@lru_cache(maxsize=64)
def has_roots(link: Link, kinks: tuple[float, ...], share: float = HALF) -> bool:
    """Whether beside a kink or an end the link is no polynomial of degree `SIZE` or less, to rounding.

    It is looked at over a `share` of the way to the next one. Over halves a piece that is analytic and turns often is
    taken for one with roots; over less a weak root is not seen.

    >>> has_roots(lambda z: abs(z - 0.2) + np.exp(z), (0.2,)), has_roots(lambda z: abs(z - 0.2) ** 1.5, (0.2,))
    (False, True)
    """
    ends = sorted({-1.0, *kinks, 1.0})
    beside = [
        (at, at + share * way) for low, high in pairwise(ends) for at, way in ((low, high - low), (high, low - high))
    ]
    return any(_slow(link, low, high) for low, high in beside)


@lru_cache(maxsize=64)
def is_resolved(link: Link, kinks: tuple[float, ...]) -> bool:
    """Whether between kinks the link is a polynomial of degree `FINE` or less, to rounding.

    >>> is_resolved(lambda z: np.exp(-200 * z * z) + abs(z - 0.1), (0.1,)), is_resolved(abs, ())
    (True, False)
    """
    return not any(_slow(link, low, high, FINE) for low, high in pairwise(sorted({-1.0, *kinks, 1.0})))


@lru_cache(maxsize=64)
def rough_ends(link: Link, kinks: tuple[float, ...]) -> tuple[float, ...]:
    """The ends of [-1, 1] at which a link has a root, which it does not have between there and the nearest kink.

    >>> rough_ends(np.arcsin, ()), rough_ends(lambda z: abs(z) + np.sqrt(1 - z), (0.0,)), rough_ends(np.exp, ())
    ((-1.0, 1.0), (1.0,), ())
    """
    places = [-1.0, *sorted(kinks), 1.0]
    found = []
    for end, kink in ((-1.0, places[1]), (1.0, places[-2])):
        half, quarter, close = (end + share * (kink - end) for share in (HALF, HALF / 2, CLOSE))
        if _slow(link, end, close) and _slow(link, end, quarter) and not _slow(link, quarter, half):
            found.append(end)
    return tuple(found)


def steep_places(link: Link) -> tuple[float, ...]:
    """Where to split rules for a smooth link that bends most within short pieces; () if it does so nowhere.

    That is there and on both sides, if between these places the link is analytic to rounding, and else there only: it
    is then taken for one with roots.

    >>> [round(place, 2) for place in steep_places(lambda z: np.tanh(40 * z))], steep_places(lambda z: abs(z - 0.3))
    ([-0.28, 0.0, 0.28], ())
    """
    step, pieces = 2 / GRID, []
    for piece in _bends(link, -1, 1)[: MOST + 1]:
        pieces += [piece] if piece.size >= WIDE else _bends(link, piece[0] - step, piece[-1] + step)
    if not 0 < len(pieces) <= MOST or any(piece.size < WIDE for piece in pieces):
        return ()
    middles = [float(piece[0] + piece[-1]) / 2 for piece in pieces]
    reaches = [BESIDE * float(piece[-1] - piece[0]) for piece in pieces]
    around = [(at - reach, at, at + reach) for at, reach in zip(middles, reaches, strict=True)]
    places = tuple(sorted(place for some in around for place in some if -1 < place < 1))
    if is_resolved(link, places):
        return places
    return tuple(middles) if max(reaches) < 1 else ()


def _bends(link: Link, low: float, high: float) -> list[Floats]:
    """The pieces, on a grid between two points, where the link bends more than half as much as anywhere there."""
    z = np.linspace(low, high, GRID + 1)
    bend = np.abs(np.diff(np.asarray(link(z), dtype=float), 2))
    bent = np.flatnonzero(bend > np.max(bend) / 2)
    return [z[1:-1][piece] for piece in np.split(bent, np.flatnonzero(np.diff(bent) > APART) + 1) if piece.size]


def _slow(link: Link, low: float, high: float, size: int = SIZE) -> bool:
    """Whether the coefficients of the link between two points have not fallen to nothing."""
    z: Floats = (low + high) / 2 + (high - low) / 2 * chebyshev_points(size)
    values = np.asarray(link(z), dtype=float) + np.zeros(size)
    last = np.abs(to_coefficients(size)[-LAST:] @ values)
    # the places are rounded too, by more of a short interval
    rounded = ROUNDING * float(np.ptp(values)) / abs(high - low)
    return bool(np.max(last) > NOTHING * max(TINY, float(np.max(np.abs(values)))) + rounded)
