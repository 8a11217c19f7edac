"""Covariances given by a K that loses digits near t = 1: the error says so."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from lipverify import Problem, loss_terms
from lipverify.laws import Zonal
from lipverify.problem.fine import cancelled  # internal: the bounds of roundings are compared one by one


def poisson(rho: float) -> tuple[Any, Any, float]:
    """Poisson's kernel on the circle as K and as a variogram without cancellation, and its variance."""
    near = 1 - rho

    def variogram(r: Any) -> Any:
        return 2 * (1 + rho) / near * (rho * r**2 / (near**2 + rho * r**2))

    return lambda t: (1 - rho**2) / (1 - 2 * rho * t + rho**2), variogram, 2 * rho / near


@pytest.mark.parametrize("power", [2, 4, 6, 7])
@pytest.mark.parametrize("route", [None, "zonal", "ridge"])
def test_the_variance_of_a_kernel_that_cancels(power: int, route: Any) -> None:
    K, _, variance = poisson(1 - 10.0**-power)
    terms = loss_terms(Problem(d=2, n=10, law=Zonal(K=K)), 0.0, route=route)
    assert abs(terms.bias - 1.1 * variance) <= terms.bias_error


@pytest.mark.parametrize(("power", "w", "n"), [(2, 1e4, 1e4), (4, 1e8, 1e6), (3, 10.0, 100.0), (5, 1e9, 1e3)])
def test_narrow_windows_on_a_kernel_that_cancels(power: int, w: float, n: float) -> None:
    K, variogram, _ = poisson(1 - 10.0**-power)
    given, kept = (loss_terms(Problem(d=2, n=n, law=law), w) for law in (Zonal(K=K), Zonal(variogram=variogram)))
    assert abs(given.bias - kept.bias) <= given.bias_error + kept.bias_error
    assert kept.bias_error <= 1e-8 * kept.bias


def test_a_function_that_is_no_formula_shows_its_rounding_at_neighbours() -> None:
    rho = 1 - 1e-4
    K = np.vectorize(lambda t: (1 - rho**2) / (math.pow(t - rho, 2) + (1 - t * t)))
    terms = loss_terms(Problem(d=2, n=10, law=Zonal(K=K)), 0.0)
    assert abs(terms.bias - 1.1 * 2 * rho / (1 - rho)) <= terms.bias_error


def root(t: Any) -> Any:
    return 1 - np.arccos(np.clip(t, -1, 1)) / np.pi


@pytest.mark.parametrize(
    "K", [root, np.exp, np.cosh, lambda t: t + t**2, lambda t: np.exp(20 * (t - 1)), lambda t: 1e6 * t]
)
def test_kernels_without_cancellation_lose_nothing(K: Any) -> None:
    assert not cancelled(K).any()


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_error_has_the_unit_of_the_kernel(unit: float) -> None:
    """The rounding of t changes V by its slope, whatever the unit of f."""
    one, scaled = (
        loss_terms(Problem(d=3, n=1000, law=Zonal(K=K)), 200.0, route="ridge")
        for K in (lambda t: np.exp(5 * t), lambda t: unit * np.exp(5 * t))
    )
    assert abs(scaled.bias - unit * one.bias) <= scaled.bias_error + unit * one.bias_error
    assert 0.1 <= scaled.bias_error / (unit * one.bias_error) <= 10
