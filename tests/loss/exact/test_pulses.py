"""Pulses 1[a < z < b]: with equal weights the loss is (1 + 1/n) p (1 - p), p the share of the sphere."""

from __future__ import annotations

import random
from typing import Any

import mpmath
import numpy as np
import pytest

from lipverify import Problem, loss_terms
from lipverify.laws import Ridge


def share(d: int, a: float, b: float) -> Any:
    """P(a < <q, x> < b) to 40 digits."""
    with mpmath.workdps(40):
        if d == 2:
            return (mpmath.acos(a) - mpmath.acos(b)) / mpmath.pi
        half = mpmath.mpf(d - 1) / 2
        return mpmath.betainc(half, half, (1 + mpmath.mpf(a)) / 2, (1 + mpmath.mpf(b)) / 2, regularized=True)


def slope(d: int, n: float, a: float, b: float) -> Any:
    """dB/dw at w = 0: -2 (1 - 1/n) (E h(z) z)^2."""
    with mpmath.workdps(40):
        half = mpmath.mpf(d - 1) / 2
        constant = mpmath.gamma(mpmath.mpf(d) / 2) / (mpmath.sqrt(mpmath.pi) * mpmath.gamma(half))
        moment = constant / (d - 1) * ((1 - mpmath.mpf(a) ** 2) ** half - (1 - mpmath.mpf(b) ** 2) ** half)
        return -2 * (1 - 1 / mpmath.mpf(n)) * moment**2


def off_over_error(d: int, a: float, b: float, n: float, w: float = 0.0, route: Any = None) -> float:
    jumps = tuple(place for place in (a, b) if abs(place) < 1)
    law = Ridge(lambda z: np.where((z > a) & (z < b), 1.0, 0.0), jumps=jumps)
    terms = loss_terms(Problem(d=d, n=n, law=law), w, route=route)
    with mpmath.workdps(40):
        p = share(d, a, b)
        truth = (1 + 1 / mpmath.mpf(n)) * p * (1 - p) + slope(d, n, a, b) * w
        return float(abs(mpmath.mpf(float(terms.bias)) - truth) / (float(terms.bias_error) + 4 * w**2 * float(p)))


@pytest.mark.parametrize(
    ("d", "a", "b", "n"),
    [(2, 0.25, 0.26, 10), (2, -0.07, 0.03, 1), (3, 0.25, 0.26, 10), (8, -0.5, 0.3, 2), (2, 0.6, 0.6001, 1000)],
)
@pytest.mark.parametrize("w", [0.0, 1e-8])
def test_a_pulse_has_its_share_of_the_sphere(d: int, a: float, b: float, n: float, w: float) -> None:
    assert off_over_error(d, a, b, n, w) <= 1


def test_meetings_of_kinks_are_not_moved() -> None:
    """The variogram bends where two jumps meet; in d = 2 by the square of the jump, so 1e-12 there is 1e-12 in V."""
    generator = random.Random(5)
    for _ in range(40):
        a = generator.uniform(-0.95, 0.9)
        b = a + generator.uniform(0.0101, 0.09)
        assert off_over_error(2, a, b, 10, route="ridge") <= 1, (a, b)


@pytest.mark.nightly
def test_pulses_anywhere_have_their_share() -> None:
    generator = random.Random(6)
    for _ in range(300):
        d, n = generator.choice([2, 2, 3, 4, 5, 8, 12, 20, 30]), generator.choice([1, 2, 10, 1e6])
        a = generator.choice([generator.uniform(-1, 0.99), 1 - 10 ** generator.uniform(-8, 0)])
        b = min(1.0, a + 10 ** generator.uniform(-8, 0.3) * (1 - a))
        if b > a:
            assert off_over_error(d, a, b, n, generator.choice([0.0, 1e-8])) <= 1, (d, a, b, n)
