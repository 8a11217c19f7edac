"""The contribution of a context's loss x to the training objective; a cap c separates small losses from large ones.

bounded      x c / (c + x), which never exceeds c: a context on which the model explodes does not dominate the rest
otherwise    c log(1 + x / c), whose slope persists: a descent can repair a model that explodes
"""

from __future__ import annotations

import math

from lipverify.foundation.arrays import Array

LARGEST = 1e300
"""Largest loss that is computed without overflow; a larger one contributes the cap, or its logarithm, with slope 0."""


def counted(losses: Array, cap: float, bounded: bool) -> tuple[Array, Array]:
    """(the contribution of each loss, its derivative in the loss); an infinite cap leaves losses unchanged.

    >>> import numpy as np
    >>> counted(np.asarray([0.0, 2.0]), 2.0, bounded=True)
    (array([0., 1.]), array([1.  , 0.25]))
    >>> value, slope = counted(np.asarray([2.0, np.inf]), 2.0, bounded=False)
    >>> bool(value[0] == 2 * np.log(2)), bool(value[1] < 1400), slope
    (True, True, array([0.5, 0. ]))
    """
    xp = losses.__array_namespace__()
    lost = ~(losses < LARGEST)
    held = xp.where(lost, LARGEST, losses)
    if math.isinf(cap):
        return xp.where(lost, cap, held), xp.where(lost, 0.0, xp.ones_like(held))
    damp = 1 / (1 + held / cap)
    if bounded:
        return xp.where(lost, cap, held * damp), xp.where(lost, 0.0, damp * damp)
    return cap * xp.log1p(held / cap), xp.where(lost, 0.0, damp)
