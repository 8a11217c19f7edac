"""Measurements of GD++: floors of every depth, the best models known, critical points, and losses over what tables show."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from lipverify.checks.linear_transformers.quantities import Value, printed
from lipverify.linear_transformer import (
    gdplusplus,  # imported by name later: they load FLINT and SciPy on first use
    regression_named,
)

VIEWS = {"1e5": 1e5, "1e9": 1e9, "all": None}
"""The views: the eigenvalues that a number of contexts shows, or all."""
ROUNDING = 1e-9
"""Error of a log10: logarithms up to 5000 of a residual, rounded some hundred times at 2e-16 of their size."""


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


def critical_points(noise: str) -> dict[str, Any]:
    """All critical points of two layers: the number of strict local minima, and the loss and index of each."""
    points = gdplusplus.two_layers(regression_named(noise))
    found = sorted((*expected(noise, 2, point.weights), point.index) for point in points)
    return {"minima": Fraction(sum(point.index == 0 for point in points)), "points": found}


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


def over_ridge(d: int, n: int, layers: int) -> tuple[float, float]:
    """The proved floor divided by the loss of ridge regression with the best constant, at another size; sigma_max = 3."""
    here = replace(regression_named("uniform-3"), d=d, n=n)
    least, ridge = gdplusplus.gdplusplus_floor(here, layers), gdplusplus.constant_ridge_loss(here)
    value = least.value / ridge.value
    return value, value * (least.error / least.value + ridge.error / ridge.value)


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
    value, error = known(noise, layers)["loss"]
    return ratio(value, error, floor(noise, layers + other))


def known(noise: str, layers: int, view: str = "all") -> dict[str, Any]:
    """The best GD++ known over the eigenvalues of a view: its loss and the evidence for it."""
    found = gdplusplus.known_optimum(noise, layers, VIEWS[view])
    return {
        "loss": (found.loss.value, found.loss.error), "starts": found.starts, "agreeing": found.agreeing,
        "routes": list(found.routes), "reach": found.reach,
    }  # fmt: skip


def log_loss(noise: str, layers: int, made_for: str, view: str) -> tuple[float, float]:
    """log10 of the exact loss, in one view, of the weights that are optimal for another; with its error."""
    weights, found = gdplusplus.flat_weights(gdplusplus.known_optimum(noise, layers, VIEWS[made_for]).model), []
    for points in (gdplusplus.POINTS, gdplusplus.POINTS + 4):
        loss = gdplusplus.excess_loss(regression_named(noise), layers, points, VIEWS[view])
        t, s, e = loss.rule.t, loss.noise, gdplusplus.residual(weights, loss.rule.t)
        # log (e - s/(t + s))^2, in logarithms because e^2 and its weight exceed the range of floats in the tail
        ideal = s / (t + s)
        with np.errstate(divide="ignore", over="ignore"):
            small = np.log(np.abs(e.sign * np.exp(np.minimum(e.log, 30.0)) - ideal))
        terms = loss.rule.log_weights + np.log1p(s / t) + 2 * np.where(e.log > 30.0, e.log, small)
        excess = float(np.logaddexp.reduce(terms)) - math.log(2)
        ridge = gdplusplus.constant_ridge_loss(regression_named(noise)).value
        found.append((np.logaddexp(excess, math.log(ridge)) if ridge else excess) / math.log(10))
    return float(found[1]), abs(float(found[0] - found[1])) + ROUNDING


def tails(noise: str, layers: int) -> dict[str, tuple[float, float]]:
    """log10 losses of the weights that are optimal for each view, in each view."""
    return {f"{made_for} on {view}": log_loss(noise, layers, made_for, view) for made_for in VIEWS for view in VIEWS}


def price(noise: str, layers: int, safe: str = "1e9") -> tuple[float, float]:
    """The mean loss over 1e5 contexts of the weights optimal for `safe` contexts, divided by the minimal one there."""
    (one, error), (best, other) = (log_loss(noise, layers, made_for, "1e5") for made_for in (safe, "1e5"))
    value = 10 ** (one - best)
    return value, value * math.log(10) * (error + other)


def explosion(noise: str, layers: int, made_for: str = "1e9") -> tuple[float, float]:
    """log10 of the loss, on what 1e9 contexts show, of weights optimal for `made_for` contexts, minus that of the minimum on 1e5."""
    (wide, error), (best, other) = log_loss(noise, layers, made_for, "1e9"), log_loss(noise, layers, "1e5", "1e5")
    return wide - best, error + other
