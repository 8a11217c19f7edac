"""What increments at two tokens have in common: the table against the rule behind it, and ReLU by two methods."""

from __future__ import annotations

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st

from lipverify.laws import RBF, Matern, ReLU
from lipverify.loss.exact.ridge.absolute import Angles, absolute_variogram
from lipverify.loss.exact.ridge.fields import variogram_of_field
from lipverify.loss.exact.ridge.laws import parts_of
from lipverify.loss.exact.ridge.products import Products
from lipverify.loss.exact.ridge.terms import averaged_terms
from lipverify.loss.exact.ridge.variogram import Variogram, tabulated, variogram_of
from tests.strategies import log_floats

MAKERS = {
    "|z|": lambda d: tabulated(Angles(d), 2, [0.0, math.pi]),
    "sign": lambda d: variogram_of(d, np.sign, (0.0,), True),
    "exp(-r)": lambda d: variogram_of_field(Matern(nu=0.5), d),
    "Matern 3/2": lambda d: variogram_of_field(Matern(nu=1.5, length=0.5), d),
    "RBF": lambda d: variogram_of_field(RBF(), d),
}


@pytest.mark.parametrize("d", [3, 4, 10, 60])
@pytest.mark.parametrize("name", MAKERS)
def test_the_table_is_the_mean_over_the_turn(name: str, d: int) -> None:
    """At random pairs, at pairs that all but coincide or are all but antipodes, and at tokens close to the query."""
    variogram: Variogram = MAKERS[name](d)
    rng = np.random.default_rng([3, d])
    far = math.pi * np.maximum(rng.random(1500) ** rng.choice([1, 4], 1500), 1e-7)
    apart = np.where(rng.random(1500) < 0.5, 10 ** rng.uniform(-9, 0, 1500), rng.random(1500))
    both = np.stack([far * (1 - apart), far])
    sine = np.sin(far * apart / 2)
    mirrored = rng.random(1500) < 0.3
    both[:, mirrored] = math.pi - both[::-1, mirrored]
    products = Products(variogram)
    value, off = products.mean(both, sine, 0)
    truth = products.turned(both, sine, 40)
    assert np.max(off) < 1e-9 * variogram.largest
    # the table of V is itself known to its gap only
    known = off + variogram.gap * np.sin(np.minimum(np.sum(both, axis=0), math.pi) / 2) ** variogram.power
    assert np.max(np.abs(value - truth) / known) <= 1


@settings(max_examples=12, deadline=None)
@given(d=st.sampled_from([2, 3, 4, 7, 15]), n=log_floats(2.0, 1e4), w=log_floats(0.1, 200.0))
def test_two_tokens_say_what_the_averages_of_relu_say(d: int, n: float, w: float) -> None:
    """Where windows hold few tokens; the two methods share the noise and the single sums alone."""
    parts = parts_of(ReLU(L=1.0), d)
    own = tuple((share, replace(part, cross=None) if part.pair else part) for share, part in parts)
    paired = tuple((share, replace(part, pair=None) if part.cross else part) for share, part in parts)
    (one, off), (other, other_off) = (averaged_terms(p, d, round(n), np.array([w])) for p in (own, paired))
    ratio = float(abs(one.bias[0] - other.bias[0]) / (off.bias[0] + other_off.bias[0]))
    target(ratio)
    assert ratio <= 1
    assert other_off.bias[0] <= 1e-10 * other.bias[0]


def test_the_closed_form_has_its_digits_at_both_ends() -> None:
    theta = np.concatenate([np.geomspace(1e-9, 3.14, 60), np.linspace(0.9, 1.1, 20)])
    with mpmath.workdps(50):
        turns = [mpmath.mpf(float(t)) for t in theta]
        rows = [2 * mpmath.sin(t / 2) ** 2 - 2 / mpmath.pi * (mpmath.sin(t) - t * mpmath.cos(t)) for t in turns]
        truth = np.array([float(2 * row / 3) for row in rows])
    assert np.max(np.abs(absolute_variogram(3, theta) - truth) / theta**2) < 1e-15
