"""Mean products of increments of ReLU at two tokens: the table against its rule, and the bias by other methods."""

from __future__ import annotations

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify.laws import ReLU
from lipverify.loss.exact import averaged_terms, parts_of
from lipverify.loss.exact.ridge.angles import bias_by_angles  # internal: one method of several, on its own
from lipverify.loss.exact.ridge.pairs import bias_by_pairs  # internal: another method, on its own

# internal: a third method, and what all of them take and give
from lipverify.loss.exact.ridge.task import ROUNDING, Rules, TaskAverages, bias_by_averages

# internal: closed forms
from lipverify.loss.exact.variograms.closed import absolute_variogram, relu_source
from lipverify.loss.exact.variograms.table import tabulated  # internal: a variogram without a law
from lipverify.loss.exact.variograms.turns import mean_over_turns, turns  # internal: the table, and the rule behind it
from tests.strategies import log_floats, target


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


@pytest.mark.parametrize("d", [2, 3, 4, 60, 1000])
def test_the_table_is_the_mean_over_the_turn(d: int) -> None:
    both, sine = pairs((3, d))
    apart, together = 2 * np.arcsin(sine), np.sum(both, axis=0)
    together = np.minimum(together, 2 * math.pi - together)
    value, off = turns(d)(apart, together)
    if d == 2:
        ends = np.stack([apart, together])
        plain = np.mean(np.sin(ends) - ends * np.cos(ends), axis=0)
    else:
        assert np.max(np.abs(value - mean_over_turns(d, apart, together, 44)) / off) <= 1
        x, gauss = np.polynomial.legendre.leggauss(600)
        turn, lever = math.pi / 2 * (1 + x), np.sin((together - apart) / 2) * np.sin((together + apart) / 2)
        square = np.sin(apart / 2)[:, None] ** 2 + lever[:, None] * np.sin(turn / 2) ** 2
        angle = 2 * np.arcsin(np.sqrt(np.minimum(square, 1.0)))
        weight = gauss * np.sin(turn) ** (d - 3)
        plain = (np.sin(angle) - angle * np.cos(angle)) @ weight / np.sum(weight)
    assert np.max(off) < 1e-12
    assert np.max(np.abs(value - plain)) < 1e-9


def alone(d: int, way: str) -> TaskAverages:
    """The averages of ReLU by one method at every window."""
    averages, table = parts_of(ReLU(L=1.0), d)[0], tabulated(relu_source(d), 2, [0.0, math.pi])
    pair = averages.pair
    assert pair is not None
    known = ROUNDING + table.gap / table.largest

    def bias(rules: Rules) -> tuple[np.ndarray, np.ndarray]:
        if way == "averages":
            return bias_by_averages(averages.variogram, pair, rules)
        if way == "angles":
            value, off = bias_by_angles(table, rules)
            return value, off + known * value
        value, off = np.array([bias_by_pairs(rules, i) for i in range(rules.contexts.w.size)]).T
        return value, off

    return replace(averages, bias=bias)


@settings(max_examples=25, deadline=None)
@given(
    d=st.sampled_from([2, 3, 4, 7, 15]),
    place=st.one_of(
        st.tuples(st.just("averages"), log_floats(1e4, 1e9), log_floats(0.1, 5.0)),
        st.tuples(st.just("angles"), log_floats(2, 1e12), log_floats(1e-2, 1e5)),
    ),
)
def test_two_tokens_agree_with_other_methods(d: int, place: tuple[str, float, float]) -> None:
    """They share no table of a law, and not with averages, which at n = 3, w = 100 err by more than their two rules."""
    way, n, w = place
    (one, off), (other, other_off) = (
        averaged_terms((alone(d, each),), d, float(round(n)), np.array([w])) for each in (way, "pairs")
    )
    ratio = float(abs(one.bias[0] - other.bias[0]) / (off.bias[0] + other_off.bias[0]))
    target(ratio)
    assert ratio <= 1
    assert other_off.bias[0] <= 1e-10 * other.bias[0] or w > 1e4


def test_the_closed_form_has_its_digits_at_both_ends() -> None:
    theta = np.concatenate([np.geomspace(1e-9, 3.14, 60), np.linspace(0.9, 1.1, 20)])
    with mpmath.workdps(50):
        turns = [mpmath.mpf(float(t)) for t in theta]
        rows = [2 * mpmath.sin(t / 2) ** 2 - 2 / mpmath.pi * (mpmath.sin(t) - t * mpmath.cos(t)) for t in turns]
        truth = np.array([float(2 * row / 3) for row in rows])
    assert np.max(np.abs(absolute_variogram(3, theta) - truth) / theta**2) < 1e-15
