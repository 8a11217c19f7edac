"""Windows with few tokens: sums over one token by tables, compared with integrals over u, which share no table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# internal: the meshes of `quadrature` are made coarser
from lipverify.loss.exact import Contexts, averaged_terms, quadrature
from lipverify.loss.exact.context import others  # internal: its tables are made coarser

# internal: the arguments of both methods
from lipverify.loss.exact.context.contexts import ORDERS, Factors, powers, rounding_of
from lipverify.loss.exact.ridge.task import linear_averages  # internal: closed forms

# internal: the integrals over u
from lipverify.loss.exact.ridge.terms import TOLERANCE, _quadrature, power_slopes
from tests.strategies import log_floats, target


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
