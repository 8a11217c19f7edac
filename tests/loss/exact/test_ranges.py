"""Integrals over u = log(lambda): their ranges, the bound of the noise, and sums over one token in their place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from lipverify import Problem, loss_terms
from lipverify.foundation.arrays import EPS  # internal: what one operation loses
from lipverify.laws import Affine, Cosine, Law, Quadratic
from lipverify.loss.exact import (  # internal: meshes made coarser
    Contexts,
    averaged_terms,
    least_noise,
    parts_of,
    quadrature,
)
from lipverify.loss.exact.context import others  # internal: its tables are made coarser
from lipverify.loss.exact.context.averages import Averages, Points  # internal: the integrand beyond its range

# internal: the rounding that is permitted
from lipverify.loss.exact.context.contexts import (  # internal: its rounding
    DENSITY_ROUNDING,
    ORDERS,
    ROUNDING,
    Factors,
    powers,
    rounding_of,
)
from lipverify.loss.exact.ridge.task import linear_averages  # internal: closed forms

# internal: over wider ranges than a loss takes
from lipverify.loss.exact.ridge.terms import (  # internal: the integrals over u, and wider ones
    TOLERANCE,
    _quadrature,
    power_slopes,
)
from lipverify.strategies import constants
from tests.strategies import log_floats, target

LAWS: tuple[Law, ...] = (Affine(), Quadratic(), Cosine(L=3.0))
MORE = 6.0
"""The extension of the range of u on either side."""
ORDER = 56
"""The rules of the test, whose errors are below rounding."""


def beyond(law: Law, d: int, n: float, w: float, low: float = 0.0, high: float = 0.0) -> float:
    """The change of both terms, relative to rounding, when the range is extended by low and high."""
    contexts = Contexts.at(d, n, np.array([w]))
    contexts = replace(contexts, low=contexts.low + low, high=contexts.high - high)
    wider = replace(contexts, low=contexts.low - MORE, high=contexts.high + MORE)
    here, there = (_quadrature(parts_of(law, d), each, ORDER)[:2, 0] for each in (contexts, wider))
    off = np.max(np.abs(here / there - 1))
    return float(off / rounding_of(wider)[0])


@settings(max_examples=60)
@given(law=st.sampled_from(LAWS), d=st.integers(2, 40), n=constants(2.0, 1e30), w=constants(1e-3, 1e5))
def test_nothing_beyond_a_range_counts(law: Law, d: int, n: float, w: float) -> None:
    off = beyond(law, d, n, w)
    target(off, label="what is beyond over rounding")
    assert off <= 1


@pytest.mark.parametrize(("d", "n", "w", "high"), [(2, 1e4, 10.0, 2.0), (3, 50.0, 100.0, 40.0), (8, 1e12, 30.0, 2.0)])
def test_a_range_that_ends_sooner_is_seen(d: int, n: float, w: float, high: float) -> None:
    assert beyond(Affine(), d, n, w, low=12.0) > 1
    assert beyond(Affine(), d, n, w, high=high) > 1


@settings(max_examples=60)
@given(d=st.integers(2, 60), n=constants(2.0, 1e30), w=constants(1e-6, 1e6))
def test_the_noise_is_no_less_than_its_bound(d: int, n: float, w: float) -> None:
    noise = float(loss_terms(Problem(d=d, n=round(n), law=Affine(), sigma=1.0), w).noise)
    share = float(least_noise(d, float(round(n)), np.array([w]))[0]) / noise
    target(share, label="bound / noise")
    assert share <= 1 + TOLERANCE


@pytest.mark.parametrize("w", [1e-3, 3.0, 1e3])
def test_for_many_tokens_the_bound_is_nearly_sharp(w: float) -> None:
    noise = float(loss_terms(Problem(d=3, n=10**12, law=Affine(), sigma=1.0), w).noise)
    assert least_noise(3, 1e12, np.array([w]))[0] >= (1 - 1e-6) * noise


@pytest.mark.parametrize("d", [2, 3, 10, 50])
def test_phi_counts_tokens_beyond_the_nodes(d: int) -> None:
    """Tokens nearer than all nodes are counted with certainty, and tokens beyond all of them never."""
    w, u = 30.0, np.array([2.0, 10.0, 29.0, 31.0, 45.0, 58.0])
    of = Averages(Points(d, np.array([w]), np.zeros(u.size, dtype=np.intp), u), 28, smooth=True)
    nodes = of.nodes.weight[of.anchors :].sum(axis=1)
    assert np.any(nodes < 1 - 1e-3), "some places have nodes on a part of the sphere alone"
    with mp.workdps(30):
        norm = mp.beta(mp.mpf(1) / 2, mp.mpf(d - 1) / 2)
        for value, at in zip(of.log_phi(), u.tolist(), strict=True):
            bend = mp.acos(1 - min(at, 2 * w - 1) / mp.mpf(w))
            splits = sorted({mp.mpf(0), mp.pi, *(bend * k / 6 for k in range(1, 7)), bend + (mp.pi - bend) / 4})

            def met(theta: mpf, at: float = at) -> mpf:
                return mp.sin(theta) ** (d - 2) * mp.exp(-mp.exp(at - w * (1 - mp.cos(theta)))) / norm

            exact = mp.log(mp.quad(met, splits))
            known = ROUNDING + DENSITY_ROUNDING * (d - 2) + EPS * at
            assert abs(value / exact - 1) <= known * (1 if at <= w else 1 + 1 / abs(float(exact)))


# Windows with few tokens: sums over one token by tables, compared with integrals over u, which share no table.


def by_tokens(contexts: Contexts, factors: Factors = powers) -> tuple[float, float]:
    """The sum over one token, weighted by its squared attention weight, and its error."""
    tables = others.others_of(contexts.row(0), factors)
    rough, fine = (tables.lone(order) for order in ORDERS[:2])
    value, gap = float(np.sum(fine.weight)), float(np.sum(fine.weight) - np.sum(rough.weight))
    return value, abs(gap) + (tables.off(fine) + float(rounding_of(contexts)[0])) * abs(value)


def noise_off_by(d: int, n: float, w: float) -> tuple[float, float]:
    """The difference of both methods over the sum of their errors, and the relative error of the sums over tokens."""
    value, error = by_tokens(Contexts.at(d, n, np.array([w])))
    theirs = averaged_terms((linear_averages(d),), d, n, np.array([w]))
    other, off = (float(each.noise[0]) for each in theirs)
    return abs(value - other) / (error + off), error / value


@settings(max_examples=25, deadline=None)
@given(d=st.integers(2, 60), n=log_floats(2.0, 1e30), w=log_floats(0.3, 1e6))
def test_the_noise_is_that_of_integrals_over_u(d: int, n: float, w: float) -> None:
    ratio, error = noise_off_by(d, n, w)
    target(ratio, label="difference over errors")
    assert ratio <= 1
    assert error <= 1e-10 + 2 * rounding_of(Contexts.at(d, n, np.array([w])))[0]


@pytest.mark.parametrize(("d", "n", "w"), [(3, 30.0, 1e4), (10, 1e9, 1e3), (40, 3e3, 1e3)])
def test_tables_that_are_too_coarse_say_so(d: int, n: float, w: float, monkeypatch: pytest.MonkeyPatch) -> None:
    fine = noise_off_by(d, n, w)[1]
    others.others_of.cache_clear()
    monkeypatch.setattr(quadrature, "LEAST_GROWTH", 0.4)
    monkeypatch.setattr(others, "RATE_SHARE", 0.04)
    monkeypatch.setattr(others, "Q_SHARE", 0.04)
    ratio, error = noise_off_by(d, n, w)
    others.others_of.cache_clear()
    assert error > 100 * fine
    assert ratio <= 1


@settings(max_examples=15, deadline=None)
@given(d=st.integers(2, 40), n=log_floats(3.0, 1e12), w=log_floats(1.0, 1e5))
def test_slopes_in_the_length_are_those_of_integrals_over_u(d: int, n: float, w: float) -> None:
    contexts = Contexts.at(d, n, np.array([w]))
    linear = (linear_averages(d),)
    slope, noise = (_quadrature(linear, contexts, ORDERS[1], factors)[0] for factors in (power_slopes, powers))
    assert abs(by_tokens(contexts, power_slopes)[0] - slope) <= 10 * (TOLERANCE + rounding_of(contexts)) * noise
