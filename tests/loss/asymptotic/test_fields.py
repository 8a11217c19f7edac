"""Leading terms of laws given by a covariance or a variogram."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy

from lipverify import Problem, leading, loss_terms
from lipverify.errors import OutOfReach
from lipverify.laws import RBF, Affine, Law, Matern, Quadratic, ReLU, Zonal

LAWS = [
    (Matern(nu=0.5), 1 / 2),
    (Matern(nu=1.5, length=0.7), 3 / 2),
    (Matern(nu=2.5, variance=3.0), 2),
    (RBF(length=0.5), 2),
    (Zonal(np.exp), 2),
    (Zonal(lambda t: np.exp(-np.sqrt(2 - 2 * t))), 1 / 2),
    (Zonal(lambda t: 1 / (2 - t)), 2),
    (Zonal(variogram=lambda r: r**0.6), 3 / 10),
    (Zonal(variogram=lambda r: -2 * np.expm1(-r)), 1 / 2),
    (2 * Affine() + Quadratic(), 2),
    (Matern(nu=0.5) + ReLU(), 1 / 2),
    # of the angle: geodesic, exponential, and that of a network of erf
    (Zonal(lambda t: 1 - np.arccos(t) / np.pi), 1 / 2),
    (Zonal(lambda t: np.exp(-np.arccos(np.clip(t, -1, 1)))), 1 / 2),
    (Zonal(lambda t: 2 / np.pi * np.arcsin(2 * t / 3)), 2),
]


HIGHER = (1, 4, 7, 9, 11)
"""One law of each beta, one that is no field and a sum are compared in five dimensions too: d enters by beta alone."""
CASES = [
    pytest.param(law, beta, d, id=f"{law.name} {number}-{d}")
    for number, (law, beta) in enumerate(LAWS)
    for d in (2, 5)
    if d == 2 or number in HIGHER
]


@pytest.mark.parametrize(("law", "beta", "d"), CASES)
def test_the_leading_bias_is_the_limit_of_the_exact_one(law: Law, beta: float, d: int) -> None:
    """B w^beta / C -> 1 like a power of w, and the difference falls; a constant that is 5 % wrong is detected."""
    form = leading(law, d)
    assert float(form.beta) == pytest.approx(beta)
    constant = float(sympy.N(form.bias_constant))
    windows = np.array([1e4, 1e6])
    terms = loss_terms(Problem(d=d, n=1e30, law=law), windows, route="ridge")  # harmonics take seconds to give less
    off = np.abs(terms.bias * windows**beta / constant - 1)
    known = terms.bias_error / terms.bias
    assert np.all(known < 2e-2)
    assert off[1] <= 0.5 * off[0] + known[1]
    assert off[1] < 0.05
    assert float(form.window_exponent) == pytest.approx(1 / ((d - 1) / 2 + beta))


def test_a_polynomial_kernel_is_its_law() -> None:
    """E <q, x>^2 <q, x'>^2 = (1 + 2 t^2) / (d (d + 2)): the same leading bias by curvature and by harmonics."""
    d = 4
    kernel = leading(Zonal(lambda t: 2 * t**2 / 24), d).bias_constant
    assert kernel == leading(Quadratic(), d).bias_constant


def test_the_arc_cosine_kernel_is_read() -> None:
    """At the w above the exact bias has lost its digits; the next term falls like 1 / sqrt(w)."""

    def kernel(t: np.ndarray) -> np.ndarray:
        return (np.sqrt(np.maximum(1 - t * t, 0)) + (np.pi - np.arccos(np.clip(t, -1, 1))) * t) / np.pi

    law, w = Zonal(kernel), np.array([1e4, 4e4])
    one, other = loss_terms(Problem(d=4, n=1e24, law=law), w).bias * w**1.5
    assert float(leading(law, 4).beta) == 1.5
    assert abs(float(leading(law, 4).bias_constant) / (2 * other - one) - 1) < 4e-3


def test_a_variogram_may_switch_away_from_zero() -> None:
    assert leading(Zonal(variogram=lambda r: np.minimum(r, 0.5)), 3).beta == sympy.Rational(1, 2)


def test_the_asymptotic_method_has_no_error_for_it() -> None:
    with pytest.raises(OutOfReach, match="method='exact'"):
        loss_terms(Problem(d=3, n=1e12, law=Matern(nu=0.5)), 100.0, "asymptotic")
    assert math.isfinite(float(loss_terms(Problem(d=3, n=1e12, law=Matern(nu=0.5)), 100.0).bias))
