"""Windows with few tokens: sums over one token and over two, compared with integrals over u, which share no table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.laws import ReLU

# internal: the meshes of `quadrature` are made coarser
from lipverify.loss.exact import Contexts, averaged_terms, parts_of, quadrature
from lipverify.loss.exact.biases.task import linear_averages  # internal: closed forms

# internal: two methods, one by one
from lipverify.loss.exact.biases.terms import TOLERANCE, _over_tokens, _over_u, power_slopes
from lipverify.loss.exact.context import others  # internal: its tables are made coarser
from lipverify.loss.exact.context.contexts import ORDERS, powers, rounding_of  # internal: the arguments of both methods
from tests.strategies import log_floats, target


def noise_off_by(d: int, n: float, w: float) -> tuple[float, float]:
    """The difference of both methods divided by the sum of their errors, and the relative error of the sums over
    tokens.
    """
    tokens = tuple((share, replace(part, pair=None)) for share, part in parts_of(ReLU(L=1.0), d))
    ours, theirs = (averaged_terms(parts, d, n, np.array([w])) for parts in (tokens, ((1.0, linear_averages(d)),)))
    value, error = (float(each.noise[0]) for each in ours)
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
    parts = parts_of(ReLU(L=1.0), d), ((1.0, linear_averages(d)),)
    one, other = (
        way(p, contexts, ORDERS[1], power_slopes) for way, p in zip((_over_tokens, _over_u), parts, strict=True)
    )
    noise = _over_u(parts[1], contexts, ORDERS[1], powers).noise
    assert abs(one.noise - other.noise) <= 10 * (TOLERANCE + rounding_of(contexts)) * noise
