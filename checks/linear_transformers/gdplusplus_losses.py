"""Measurements of GD++: floors of every depth, the best models known, and critical points."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from lipverify.checks.linear_transformers.quantities import Value, printed
from lipverify.linear_transformer import (
    gdplusplus,  # imported by name later: they load FLINT and SciPy on first use
    regression_named,
)


def entry(noise: str, layers: int) -> Any:
    """The printed loss of GD++, with half a unit of its last digit."""
    return printed(noise, "GD++", layers)


def expected(noise: str, layers: int, weights: Any) -> Value:
    """The expected loss of weights (yx_1, xx_1, yx_2, ...), by quadrature over all eigenvalues."""
    weights, ridge = np.asarray(weights), gdplusplus.constant_ridge_loss(regression_named(noise))
    rough, fine = (
        gdplusplus.excess_loss(regression_named(noise), layers, points, None)
        for points in (gdplusplus.POINTS, gdplusplus.POINTS + 4)
    )
    value = fine(weights)
    return ridge.value + value, ridge.error + abs(rough(weights) - value) + fine.rounding(weights)


def critical_points(noise: str) -> Fraction:
    """The number of strict local minima among all critical points of two layers."""
    return Fraction(sum(point.index == 0 for point in gdplusplus.two_layers(regression_named(noise))))


def printed_quotients(noise: str, layers: int) -> dict[str, Value]:
    """Relative to the printed loss: the smallest expected loss known, and the loss at the end of gradient flow from weights 0."""
    from lipverify.optimum import quotient  # with SciPy, which `lipverify list` does not need

    best, end = (
        gdplusplus.known_optimum(noise, layers, None).loss,
        expected(noise, layers, gdplusplus.small_start(regression_named(noise), layers).weights),
    )
    entries = {"best": (best.value, best.error), "small start": end}
    return {name: quotient(loss, tuple(entry(noise, layers))) for name, loss in entries.items()}


def plain_training(noise: str, layers: int, training: int) -> Value:
    """The expected loss at the end of a training by Adam, divided by that at the end of gradient flow from weights 0."""
    from lipverify.linear_transformer import runs
    from lipverify.optimum import quotient  # with SciPy, which `lipverify list` does not need

    run = runs(noise).of("GD++", layers)[training]
    ends = (flat(run), gdplusplus.small_start(regression_named(noise), layers).weights)
    return quotient(*(expected(noise, layers, end) for end in ends))


def flat(run: Any) -> Any:
    """The weights (yx_1, xx_1, yx_2, ...) at the end of a plain training of GD++."""
    from lipverify.linear_transformer import GDPlusPlus

    return gdplusplus.flat_weights([GDPlusPlus(xx=xx, yx=yx) for xx, _, yx, _ in run.numbers])


def floor(noise: str, layers: int) -> dict[str, Any]:
    """The proved floor for the given depth; for depth 0 the loss of the filter g = 0, which is d/2 minus that of ridge regression."""
    found = gdplusplus.gdplusplus_floor(regression_named(noise), layers)
    return {"low": found.value - found.error, "high": found.value + found.error}


def ratio(value: float, error: float, least: dict[str, Any]) -> tuple[float, float]:
    """(value ± error) divided by a floor, as (middle, half width)."""
    low, high = (value - error) / least["high"], (value + error) / least["low"]
    return (low + high) / 2, (high - low) / 2


def over_floor(noise: str, layers: int, other: int = 0) -> tuple[float, float]:
    """A printed loss divided by the floor of its depth plus `other`."""
    value, rounding = entry(noise, layers)
    return ratio(value, rounding, floor(noise, layers + other))


def best_over_floor(noise: str, layers: int, other: int = 0) -> tuple[float, float]:
    """The smallest loss that a search found, integrated again, divided by the floor of its depth plus `other`."""
    best = gdplusplus.known_optimum(noise, layers, None).loss
    return ratio(best.value, best.error, floor(noise, layers + other))
