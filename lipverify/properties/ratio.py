"""The one assertion: an error against what is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np

EPS = float(np.finfo(float).eps)
ROUNDING = 8 * EPS
"""What a handful of operations on a value may leave, as a share of it."""


def require(rule: str, error: Any, allowed: Any, /, **values: Any) -> float:
    """The largest error / allowed over all entries, refused above 1.

    Parameters
    ----------
    rule
        What must hold, in words.
    error
        By how much it is missed; negative where it holds with room. Any shape.
    allowed
        What may be missed, >= 0; it broadcasts against `error`.
    **values
        What is shown when it fails: those that have the shape of `error` at the worst entry, the others whole.

    Raises
    ------
    AssertionError
        If an entry is missed by more than is allowed, or is not a number.

    >>> require("x <= 1", 0.25, 0.5)
    0.5
    """
    missed, may = np.broadcast_arrays(np.asarray(error, dtype=float), np.asarray(allowed, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(missed <= 0, 0.0, missed / may)
    # what is not a number is worse than anything, and a bound that is not a number allows nothing
    ratios = np.where(np.isnan(missed) | ~(may >= 0), np.inf, ratios)
    if ratios.size == 0:
        raise AssertionError(f"{rule}: there is nothing to look at.")
    worst = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    ratio = float(ratios[worst])
    if ratio > 1:
        shown = "; ".join(f"{name} = {_at(value, worst, ratios.shape)}" for name, value in values.items())
        excess = f"missed by {missed[worst]:.6g} where {may[worst]:.3g} is allowed, {ratio:.4g} times as much"
        raise AssertionError(f"{rule}: {excess}; {shown}")
    return ratio


def _at(value: Any, place: tuple[Any, ...], shape: tuple[int, ...]) -> str:
    """A value as it is shown."""
    if isinstance(value, int | float | np.ndarray | np.generic):
        array = np.asarray(value)
        return f"{array[place] if array.shape == shape else array!s:.200}"
    return f"{value!r:.200}"
