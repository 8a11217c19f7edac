r"""A bound on the difference that rounding causes between two forward passes, derived from the operations.

A forward pass adds and multiplies, so its result is a sum of monomials of weights and tokens, each times a
factor (1 + delta) with |delta| <= u = eps / 2 for each operation that it went through. The error is at most the sum
over monomials of |monomial| ((1 + u)^k - 1), k the operations of each. The same pass on absolute values, where
nothing cancels, with a factor 1 + t after each operation and without, gives that sum for any t; ((1 + t)^k - 1) / t
grows with t, so a t that is large enough not to drown in rounding itself gives a bound for u.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lipverify.errors import OutOfReach
from lipverify.linear_transformer import Layer

Floats = NDArray[np.float64]

UNIT = float(np.finfo(float).eps) / 2
"""Unit roundoff: the largest relative rounding error of one operation."""
COARSE = 2.0**-20
"""The t of the bound: 2^32 units of rounding, and small against one over the operations of eight layers."""


def magnitude(tokens: Any, context: Any, layers: Sequence[Layer], t: float = 0.0) -> Floats:
    """The forward pass on absolute values for tokens (..., d + 1), with a factor 1 + t after each operation.

    The operation counts cover the passes token by token, by states and by moments, with sums over n tokens, d + 1
    entries and heads.
    """
    E = np.abs(np.asarray(context))
    n, size = E.shape
    gram, T = E.T @ E * (1 + t) ** n, np.eye(size)
    for layer in layers:
        moments = T @ gram @ T.T * (1 + t) ** (2 * size)
        H = Layer(np.abs(layer.P), np.abs(layer.Q)).attention(moments) * (1 + t) ** (2 * size + layer.heads)
        T = (T + H @ T * (1 + t) ** size) * (1 + t) ** 3
    return np.asarray(np.abs(np.asarray(tokens)) @ T.T * (1 + t) ** (size + 1))


def rounding_bound(tokens: Any, context: Any, layers: Sequence[Layer]) -> Floats:
    """A bound on the difference of two passes, entry by entry, for tokens (..., d + 1); `context` contains the keys.

    Raises
    ------
    OutOfReach
        If the magnitudes overflow.

    >>> from lipverify.linear_transformer import Diagonal
    >>> context = np.ones((2, 3))
    >>> bool(np.all(rounding_bound(context, context, [Diagonal(0.1, 0.1, 0.1, 0.1).layer(2)]) < 1e-13))
    True
    """
    with np.errstate(over="ignore", invalid="ignore"):
        least, most = (magnitude(tokens, context, layers, t) for t in (0.0, COARSE))
        bound = 2 * (most - least) * (UNIT / COARSE)
    if not np.all(np.isfinite(bound)):
        raise OutOfReach(f"{len(layers)} layers of these weights overflow; take smaller weights, or exact integers.")
    return np.asarray(bound)
