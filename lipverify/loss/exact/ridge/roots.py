r"""Whether a link has roots, such as |z - a|^s at a kink or (1 - z)^s: told by how its Chebyshev coefficients fall."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from lipverify.foundation.arrays import Floats
from lipverify.loss.exact.ridge.interpolation import chebyshev_points, to_coefficients
from lipverify.loss.exact.ridge.planes import Link

GRID, WIDE, BESIDE = 4096, 8, 2.0
"""Steps over [-1, 1], and how many of them bend at a steep place at least: at a kink one does. Places beside it are so
many times its width away."""
SIZE, LAST = 64, 6
"""Coefficients of half a piece, and how many of the last are looked at."""
NOTHING = 1e-13
"""Of the largest value: there the coefficients of an analytic function end, and those of a root do not."""


@lru_cache(maxsize=64)
def has_roots(link: Link, kinks: tuple[float, ...]) -> bool:
    """Whether one of the pieces between the kinks is no polynomial of degree `SIZE` or less, to rounding.

    A piece that is analytic and turns often is taken for one with roots.

    >>> has_roots(lambda z: abs(z - 0.2) + np.exp(z), (0.2,)), has_roots(lambda z: abs(z - 0.2) ** 1.5, (0.2,))
    (False, True)
    """
    ends = [-1.0, *sorted(kinks), 1.0]
    middles = [(low + high) / 2 for low, high in pairwise(ends)]
    return any(_slow(link, low, high) for low, high in pairwise(sorted([*ends, *middles])))


@lru_cache(maxsize=64)
def rough_ends(link: Link, kinks: tuple[float, ...]) -> tuple[float, ...]:
    """The ends of [-1, 1] at which a link has a root, which it does not have between there and the nearest kink.

    >>> rough_ends(np.arcsin, ()), rough_ends(lambda z: abs(z) + np.sqrt(1 - z), (0.0,)), rough_ends(np.exp, ())
    ((-1.0, 1.0), (1.0,), ())
    """
    places = [-1.0, *sorted(kinks), 1.0]
    found = []
    for end, kink in ((-1.0, places[1]), (1.0, places[-2])):
        half, quarter = (end + share * (kink - end) for share in (0.5, 0.25))
        if _slow(link, *sorted((end, quarter))) and not _slow(link, *sorted((quarter, half))):
            found.append(end)
    return tuple(found)


def steep_places(link: Link) -> tuple[float, ...]:
    """Where to split rules for a smooth link that bends within a short piece: there and on both sides; () if nowhere.

    Nothing is known of links that are not analytic between these places.

    >>> [round(place, 2) for place in steep_places(lambda z: np.tanh(40 * z))], steep_places(lambda z: abs(z - 0.3))
    ([-0.14, 0.0, 0.14], ())
    """
    z = np.linspace(-1, 1, GRID + 1)
    bend = np.abs(np.diff(np.asarray(link(z), dtype=float), 2))
    where = z[1:-1][bend > np.max(bend) / 2]
    if where.size < WIDE:
        return ()
    middle, reach = float(where[0] + where[-1]) / 2, BESIDE * float(where[-1] - where[0])
    places = tuple(place for place in (middle - reach, middle, middle + reach) if -1 < place < 1)
    return () if has_roots(link, places) else places


def _slow(link: Link, low: float, high: float) -> bool:
    """Whether the coefficients of the link between two points have not fallen to nothing."""
    z: Floats = (low + high) / 2 + (high - low) / 2 * chebyshev_points(SIZE)
    values = np.asarray(link(z), dtype=float) + np.zeros(SIZE)
    last = np.abs(to_coefficients(SIZE)[-LAST:] @ values)
    return bool(np.max(last) > NOTHING * max(1e-300, float(np.max(np.abs(values)))))
