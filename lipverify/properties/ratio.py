"""The single assertion behind all properties: an error must not exceed its tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np

from lipverify.foundation.arrays import EPS

ROUNDING = 8 * EPS
"""Relative rounding error of a handful of operations."""


def require(rule: str, error: Any, allowed: Any, /, **values: Any) -> float:
    """The largest error / allowed; raises, with the values at the worst entry, if it exceeds 1 or is NaN."""
    missed, may = np.broadcast_arrays(np.asarray(error, dtype=float), np.asarray(allowed, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(missed <= 0, 0.0, missed / may)
    # a NaN error counts as infinite, and a NaN bound allows nothing
    ratios = np.where(np.isnan(missed) | ~(may >= 0), np.inf, ratios)
    if ratios.size == 0:
        raise AssertionError(f"{rule}: there are no values.")
    worst = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    ratio = float(ratios[worst])
    if ratio > 1:
        text = "; ".join(f"{name} = {_at(value, worst, ratios.shape)}" for name, value in values.items())
        excess = f"missed by {missed[worst]:.6g} where {may[worst]:.3g} is allowed, {ratio:.4g} times as much"
        raise AssertionError(f"{rule}: {excess}; {text}")
    return ratio


def _at(value: Any, index: tuple[Any, ...], shape: tuple[int, ...]) -> str:
    """A value for the message, at the worst entry."""
    if isinstance(value, int | float | np.ndarray | np.generic):
        array = np.asarray(value)
        return f"{array[index] if array.shape == shape else array!s:.200}"
    return f"{value!r:.200}"
