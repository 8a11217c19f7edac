"""Features of a link between the nodes of every rule: they enlarge the error, or the link is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms
from lipverify.errors import OutOfReach
from lipverify.foundation import Floats
from lipverify.laws import Ridge
from lipverify.problem.fine import unseen  # internal: features between the nodes of a rule, link by link
from lipverify.strategies import constants

N = 50


def spike(at: float, width: float, slope: float) -> Ridge:
    """A line and a narrow hill on it."""
    return Ridge(lambda z: slope * z + np.exp(-(((z - at) / width) ** 2)))


def variance(law: Ridge, d: int, at: float, width: float) -> float:
    """Var h(<q, x>) by Gauss rules in the angle on panels that are narrow about the hill."""
    near = np.arccos(np.clip(at + width * np.linspace(-8, 8, 321), -1, 1))
    ends = np.unique(np.concatenate([np.linspace(0, math.pi, 201), near]))
    x, gauss = np.polynomial.legendre.leggauss(8)
    half = np.diff(ends)[:, None] / 2
    angle, weight = (ends[:-1, None] + half * (1 + x)).ravel(), (half * gauss).ravel()
    weight = weight * np.sin(angle) ** (d - 2)
    values: Floats = law.link(np.cos(angle))
    mean = np.average(values, weights=weight)
    return float(np.average((values - mean) ** 2, weights=weight))


@pytest.mark.parametrize("route", [pytest.param("ridge", marks=pytest.mark.slow), "zonal"])
@settings(max_examples=25)
@given(at=st.floats(-0.9, 0.9), width=constants(1e-4, 1.0), slope=st.sampled_from([0.0, 1.0]), d=st.integers(2, 8))
def test_a_narrow_hill_is_seen_or_refused(route: Any, at: float, width: float, slope: float, d: int) -> None:
    """At w = 0 the bias is (1 + 1/n) Var f. Both routes once returned nearly 0 for exp(-(1000 (z - 0.3))^2)."""
    law = spike(at, width, slope)
    try:
        terms = loss_terms(Problem(d=d, n=N, law=law), 0.0, route=route)
    except OutOfReach:
        assert width < 0.05
        return
    expected = (1 + 1 / N) * variance(law, d, at, width)
    assert abs(terms.bias - expected) <= terms.bias_error + 1e-12 * expected


def opaque(z: Floats) -> Floats:
    """A hill that is not a formula: it takes numbers only."""
    return np.exp(-(((np.asarray(z, dtype=float) - 0.3) / 1e-3) ** 2))


@pytest.mark.slow
def test_a_bump_that_no_route_resolves_is_refused_by_both() -> None:
    with pytest.raises(OutOfReach, match=r"ridge: .* too narrow .* zonal: .* too narrow"):
        loss_terms(Problem(d=3, n=N, law=Ridge(opaque)), 2.0)


def test_the_missed_share_of_the_variance_is_stated_and_refused_beyond_a_tenth() -> None:
    exact = variance(spike(0.0, 1.0, 0.0), 3, 0.0, 1.0)
    h = spike(0.0, 1.0, 0.0).link
    assert unseen(3, h, exact) == 0
    assert unseen(3, h, 1.05 * exact) == pytest.approx(0.05, rel=1e-9)
    with pytest.raises(OutOfReach, match="too narrow"):
        unseen(3, h, 1.2 * exact)


@pytest.mark.parametrize("link", [lambda z: 0 * z + 0.1, lambda z: 1 / 3 + 1e-16 * z])
def test_a_link_that_is_constant_to_rounding_is_not_refused(link: Any) -> None:
    for route in ("ridge", "zonal"):
        assert abs(loss_terms(Problem(d=3, n=N, law=Ridge(link)), 2.0, route=route).bias) < 1e-20
