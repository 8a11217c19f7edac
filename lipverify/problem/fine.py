"""Whether a rule sees a link: its variance beside that by a fine rule that shares no nodes with it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lipverify.errors import OutOfReach
from lipverify.foundation.arrays import Floats

PANELS, PANEL = 4096, 8
"""Gauss rules in the angle: features show that are a ten-thousandth wide."""
BLURRED, NOTICED = 0.1, 1e-3
"""A variance that is off by the first share is that of another function; below the second it is the fine rule's own
error, at jumps."""
ROUNDING = 64 * float(np.finfo(float).eps)
"""A link that varies by less, relatively, is constant to rounding, and nothing is known of its variance."""


def unseen(d: int, h: Callable[[Floats], Floats], variance: float) -> float:
    """The share of Var h(<q, x>) in dimension d that `variance`, by another rule, is off by; 0 if below 1e-3.

    Raises
    ------
    OutOfReach
        If it is more than a tenth: h has features that the other rule does not see.

    >>> unseen(3, np.cos, (1 + np.sin(2) / 2) / 2 - np.sin(1) ** 2)
    0.0
    """
    x, gauss = np.polynomial.legendre.leggauss(PANEL)
    angle = np.pi * (np.arange(PANELS)[:, None] + (1 + x) / 2).ravel() / PANELS
    weight = np.tile(gauss, PANELS) * np.sin(angle) ** (d - 2)
    values = h(np.cos(angle))
    fine = float(np.average((values - np.average(values, weights=weight)) ** 2, weights=weight))
    rounding = (ROUNDING * float(np.max(np.abs(values)))) ** 2
    share = abs(variance - fine) / fine if fine > rounding else 0.0
    if share > BLURRED:
        raise OutOfReach(
            f"the link varies by {fine:.2g} on average, and by {variance:.2g} at the nodes: what it has is too narrow "
            "for them; declare kinks and jumps, or use method='montecarlo'."
        )
    return share if share > NOTICED else 0.0
