"""Mean products of increments at two tokens: the table compared with the rule behind it, and ReLU by two methods."""

from __future__ import annotations

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms
from lipverify.laws import RBF, Matern, ReLU
from lipverify.loss.exact import Variogram, averaged_terms, parts_of, variogram_of

# internal: closed forms
from lipverify.loss.exact.variograms.closed import Angles, absolute_variogram, variogram_of_field

# internal: the table itself, and the rule behind it
from lipverify.loss.exact.variograms.products import Products, mean_over_turns
from lipverify.loss.exact.variograms.table import tabulated  # internal: a variogram without a law
from tests.strategies import log_floats, target

MAKERS = {
    "|z|": lambda d: tabulated(Angles(d), 2, [0.0, math.pi]),
    "sign": lambda d: variogram_of(d, np.sign, (0.0,), True),
    "exp(-r)": lambda d: variogram_of_field(Matern(nu=0.5), d),
    "Matern 3/2": lambda d: variogram_of_field(Matern(nu=1.5, length=0.5), d),
    "RBF": lambda d: variogram_of_field(RBF(), d),
    "|z - .2|": lambda d: variogram_of(d, lambda z: np.abs(z - 0.2), (0.2,), False),
    "step at .3": lambda d: variogram_of(d, lambda z: np.sign(z - 0.3), (0.3,), True),
}


def pairs(seed: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Random pairs, some nearly equal or nearly antipodal, and some of tokens close to the query."""
    rng = np.random.default_rng(seed)
    far = math.pi * np.maximum(rng.random(1500) ** rng.choice([1, 4], 1500), 1e-7)
    apart = np.where(rng.random(1500) < 0.5, 10 ** rng.uniform(-9, 0, 1500), rng.random(1500))
    both = np.stack([far * (1 - apart), far])
    sine = np.sin(far * apart / 2)
    mirrored = rng.random(1500) < 0.3
    both[:, mirrored] = math.pi - both[::-1, mirrored]
    return both, sine


def off_by(variogram: Variogram, both: np.ndarray, sine: np.ndarray) -> float:
    """The largest difference of the table and the rule of a high order, divided by the error of the table."""
    value, off = Products(variogram).mean(both, sine, 30)
    together = np.sum(both, axis=0)
    truth = mean_over_turns(variogram, 2 * np.arcsin(sine), np.minimum(together, 2 * math.pi - together), 44)
    assert np.max(off) < 1e-9 * variogram.largest
    # the table of V is itself known to its gap only
    known = off + variogram.gap * np.sin(np.minimum(together, math.pi) / 2) ** variogram.power
    return float(np.max(np.abs(value - truth) / known))


# the variograms of the last two links take longer than the tables of products, which four dimensions make as sixty do
@pytest.mark.parametrize(
    ("name", "d"),
    [(name, d) for name in MAKERS for d in (3, 4, 60) if d != 4 or name not in ("|z - .2|", "step at .3")],
)
def test_the_table_is_the_mean_over_the_turn(name: str, d: int) -> None:
    assert off_by(MAKERS[name](d), *pairs((3, d))) <= 1


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(
    d=st.sampled_from([3, 4, 5, 10]),
    places=st.lists(st.floats(-0.95, 0.95), min_size=1, max_size=2, unique_by=lambda x: round(x, 1)),
    jumps=st.booleans(),
)
def test_tables_of_kinked_links_are_within_their_errors(d: int, places: list[float], jumps: bool) -> None:
    at = tuple(sorted(places))
    bend = np.sign if jumps else np.abs
    ratio = off_by(variogram_of(d, lambda z: np.sum([bend(z - c) for c in at], axis=0), at, jumps), *pairs((4, d)))
    target(ratio)
    assert ratio <= 1


@settings(max_examples=12, deadline=None)
@given(d=st.sampled_from([2, 3, 4, 7, 15]), n=log_floats(1e4, 1e9), w=log_floats(0.1, 5.0))
def test_two_tokens_agree_with_the_averages_of_relu(d: int, n: float, w: float) -> None:
    """For windows with many tokens, where the averages are used: both share only the variogram of a law.

    With three tokens at w = 100 the averages are wrong by 1e-8, more than the difference of their two rules.
    """
    parts = parts_of(ReLU(L=1.0), d)
    own = tuple((share, replace(part, cross=None) if part.pair else part) for share, part in parts)
    paired = tuple((share, replace(part, pair=None) if part.cross else part) for share, part in parts)
    (one, off), (other, other_off) = (averaged_terms(p, d, round(n), np.array([w])) for p in (own, paired))
    ratio = float(abs(one.bias[0] - other.bias[0]) / (off.bias[0] + other_off.bias[0]))
    target(ratio)
    assert ratio <= 1
    assert other_off.bias[0] <= 1e-10 * other.bias[0]


@pytest.mark.parametrize(("d", "n", "w"), [(2, 2, 10.0), (3, 3, 10.0), (3, 4, 5.0), (4, 5, 20.0)])
def test_two_tokens_agree_with_the_harmonics_of_relu(d: int, n: int, w: float) -> None:
    """For windows with few tokens."""
    one, other = (loss_terms(Problem(d=d, n=n, law=ReLU(L=1.0)), w, route=route) for route in ("ridge", "zonal"))
    assert abs(one.bias - other.bias) <= one.bias_error + other.bias_error <= 1e-10 * one.bias


def test_the_closed_form_has_its_digits_at_both_ends() -> None:
    theta = np.concatenate([np.geomspace(1e-9, 3.14, 60), np.linspace(0.9, 1.1, 20)])
    with mpmath.workdps(50):
        turns = [mpmath.mpf(float(t)) for t in theta]
        rows = [2 * mpmath.sin(t / 2) ** 2 - 2 / mpmath.pi * (mpmath.sin(t) - t * mpmath.cos(t)) for t in turns]
        truth = np.array([float(2 * row / 3) for row in rows])
    assert np.max(np.abs(absolute_variogram(3, theta) - truth) / theta**2) < 1e-15
