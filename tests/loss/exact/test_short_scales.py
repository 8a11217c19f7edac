r"""Covariances on a scale a: with n a^{d-1} and w a^2 fixed, the loss does not depend on a as a -> 0.

The corrections are of relative order a^2, from the curvature of the sphere, and 1/n.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lipverify import Problem, loss_terms
from lipverify.errors import OutOfReach
from lipverify.laws import RBF, Law, Matern, Zonal
from lipverify.loss import LossTerms

FAMILIES: dict[str, Callable[[float], Law]] = {
    "rbf": lambda a: RBF(length=a),
    "matern 1/2": lambda a: Matern(nu=0.5, length=a),
    "matern 3/2": lambda a: Matern(nu=1.5, length=a),
    "matern 5/2": lambda a: Matern(nu=2.5, length=a),
    "rational": lambda a: Zonal(variogram=lambda r: r**2 / (r**2 + a**2)),
    "hyperbola": lambda a: Zonal(variogram=lambda r: r / (a + r)),
    "power 1.4": lambda a: Zonal(variogram=lambda r: -np.expm1(-((r / a) ** 1.4))),
    "power 0.6": lambda a: Zonal(variogram=lambda r: -np.expm1(-((r / a) ** 0.6))),
    "logarithm": lambda a: Zonal(variogram=lambda r: np.log1p((r / a) ** 2)),
    "two scales": lambda a: Zonal(variogram=lambda r: -np.expm1(-(r**2) / (2 * a**2)) - 3 * np.expm1(-r / (50 * a))),
}
REFERENCE = {2: 1e-7, 3: 1e-5, 5: 1e-4}
"""The scale with whose loss the others are compared, in each dimension."""


def loss(name: str, a: float, d: int, tokens: float, width: float) -> LossTerms:
    return loss_terms(Problem(d=d, n=float(round(tokens * a ** (1 - d))), law=FAMILIES[name](a)), width / a**2)


def assert_invariant(name: str, a: float, d: int, tokens: float, width: float) -> None:
    one, other = loss(name, a, d, tokens, width), loss(name, REFERENCE[d], d, tokens, width)
    bent = 30 * (a**2 + REFERENCE[d] ** 2) * (1 + 1 / width)
    few = 3 * (a ** (d - 1) + REFERENCE[d] ** (d - 1)) / tokens
    assert abs(one.bias - other.bias) <= one.bias_error + other.bias_error + (bent + few) * other.bias
    assert one.bias_error <= 1e-6 * one.bias
    assert one.error_kind == "bounded"


@pytest.mark.parametrize(
    ("name", "d", "a", "tokens", "width"),
    [*((name, 2, 1e-9, 1e3, 3.0) for name in FAMILIES), *((name, 3, 2e-7, 30.0, 0.2) for name in list(FAMILIES)[:4])],
)
def test_the_scale_does_not_matter(name: str, d: int, a: float, tokens: float, width: float) -> None:
    assert_invariant(name, a, d, tokens, width)


@pytest.mark.nightly
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize("width", [1e-3, 0.1, 3.0, 100.0])
def test_the_scale_does_not_matter_anywhere(name: str, d: int, width: float) -> None:
    least = {2: 1e-9, 3: 1e-9, 5: 1e-6}[d]
    for a in np.geomspace(least, 0.05, 7).tolist():
        assert_invariant(name, a, d, 300.0, width)


def test_a_wide_window_sees_a_short_scale_as_white() -> None:
    """V = 2 but in a negligible part of the sphere: the value is that of independent values at all tokens."""
    problem = Problem(d=2, n=100, law=RBF(length=1e-9), sigma=1.0)
    terms = loss_terms(problem, 20.0)
    assert abs(terms.bias - (1 + terms.noise)) <= terms.bias_error + terms.noise_error + 1e-7
    assert terms.bias_error <= 1e-5


def test_a_variogram_that_falls_below_every_angle_is_refused() -> None:
    with pytest.raises(OutOfReach, match="falls on a scale that its values do not show"):
        loss_terms(Problem(d=2, n=1e9, law=RBF(length=1e-80)), 1e15, route="ridge")
