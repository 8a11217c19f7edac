"""One step from the derived w agrees with the search over all w, and lower bounds of the bias have closed forms."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import lipverify as lv
from lipverify.checks.softmax.lowrank_floor import floor, tilted
from lipverify.checks.softmax.nearest import nearest
from lipverify.checks.softmax.rough import best, law_of


def searched(kind: str, d: int, s: float, n: float) -> dict[str, tuple[float, float]]:
    """w* and its loss, by minimising over all w."""
    found = lv.optimal_window(lv.Problem(d=d, n=n, law=law_of(kind, s), sigma=1.0))
    return {"w": (found.w, found.w_error), "loss": (found.loss, found.loss_error)}


@pytest.mark.parametrize(("kind", "d", "s"), [("field", 2, 0.5), ("root", 2, 0.5)])
def test_one_step_ends_where_the_search_does(kind: str, d: int, s: float) -> None:
    one, other = best(kind, d, s, 1e5), searched(kind, d, s, 1e5)
    for name in ("w", "loss"):
        (value, error), (known, further) = one[name], other[name]
        assert error < 0.1 * value
        assert abs(value - known) <= error + further


@pytest.mark.slow
def test_a_step_is_not_hidden() -> None:
    """With few tokens the derived w is inaccurate, and its error covers the difference."""
    (w, error), (known, _) = (found("field", 2, 0.25, 30)["w"] for found in (best, searched))
    assert 0.01 * w < abs(w - known) <= error


def test_the_nearest_token_on_the_circle() -> None:
    """For d = 2, u = theta / pi is uniform on [0, 1]. The least of n has the density n (1 - u)^(n-1)."""
    n = 7
    with mpmath.workdps(20):
        known = mpmath.quad(lambda u: n * (1 - u) ** (n - 1) * (1 - mpmath.cos(mpmath.pi * u)) / 3, [0, 1])
    value, error = nearest("affine", 2, n)
    assert error < 1e-9
    assert abs(value - float(known)) <= error


@pytest.mark.parametrize("d", [2, 3, 9, 40])
def test_the_shift_of_the_mean_is_a_quotient_of_bessel_functions(d: int) -> None:
    for size in (0.01, 1.0, 3.0 * d):
        known = float(mpmath.besseli(mpmath.mpf(d) / 2, size) / mpmath.besseli(mpmath.mpf(d) / 2 - 1, size))
        assert tilted(d, np.array([size]))[0] == pytest.approx(known, rel=1e-14)


def test_the_floor_in_three_dimensions() -> None:
    """For d = 3 and k = 1, r is uniform on [0, 1] and A(z) = coth z - 1/z."""

    def off(c: float) -> float:
        return float(mpmath.quad(lambda r: (mpmath.coth(c * r) - 1 / (c * r) - r) ** 2, [0, 0.5, 1]))

    value, error = floor(3, 1)
    tried = [off(c) for c in np.linspace(4.0, 4.5, 51)]
    assert value - error <= min(tried) <= value + 1e-6
