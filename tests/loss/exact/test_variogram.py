"""Tables of variograms near theta = 0: their two errors compared with closed forms, also for noisy links."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lipverify import Problem, loss_terms
from lipverify.foundation import Floats
from lipverify.laws import RBF, Law, Matern, Ridge, Zonal
from lipverify.loss.exact import Variogram, variogram_of
from lipverify.loss.exact.ridge.parts import whole_spectrum  # internal: one method, on its own
from lipverify.loss.exact.variograms.closed import variogram_of_field, variogram_of_spectrum  # internal: closed forms
from lipverify.loss.exact.variograms.planes import Link, Planes, meetings_of  # internal: what a table interpolates
from lipverify.loss.exact.variograms.segments import segments  # internal: one method, on its own
from tests.strategies import target

ANGLES = [*np.geomspace(1e-6, 0.05, 12), *np.linspace(0.06, 3.1, 24)]
ROOT = math.sqrt(3)
EPS = float(np.finfo(float).eps)


def absolute(d: int, theta: mp.mpf) -> mp.mpf:
    return 4 * mp.sin(theta / 2) ** 2 / d - 4 / (mp.pi * d) * (mp.sin(theta) - theta * mp.cos(theta))


def cubic(d: int, theta: mp.mpf) -> mp.mpf:
    """V of z + z^3: E z z' = t / d, E z z'^3 = 3 t / (d (d+2)), E z^3 z'^3 = (9 t + 6 t^3) / (d (d+2) (d+4))."""
    one, two = 2 * mp.sin(theta / 2) ** 2, mp.mpf(d * (d + 2))
    linear = mp.mpf(1) / d + 6 / two + 9 / (two * (d + 4))
    t = 1 - one
    return 2 * one * (linear + 6 / (two * (d + 4)) * (1 + t + t * t))


def rounded_anew(link: Link, size: float, seed: int) -> Link:
    """The link times 1 + size u, u in (-1, 1) random for every double: a link with larger rounding errors."""

    def noisy(z: Floats) -> Floats:
        bits = np.ascontiguousarray(z).view(np.uint64) + np.uint64(seed)
        for odd in (6364136223846793005, 0x9E3779B97F4A7C15):
            bits = bits * np.uint64(odd)
            bits ^= bits >> np.uint64(29)
        return np.asarray(link(z) * (1 + size * (2.0 * (bits >> np.uint64(11)) / 2.0**53 - 1)))

    return noisy


def off_over_stated(table: Variogram, V: Callable[[mp.mpf], mp.mpf]) -> tuple[float, float]:
    """The largest errors of V / F and of (V / F - a) / theta divided by those that the table states."""
    with mp.workdps(60):

        def F(theta: mp.mpf) -> mp.mpf:
            return 2 * mp.sin(theta / 2) ** 2 if table.power == 2 else mp.sin(theta / 2)

        least = mp.mpf(10) ** -20
        slope = V(least) / F(least) if table.power == 2 else mp.mpf(0)
        ratio = rise = 0.0
        for at, value, rest in zip(ANGLES, table(np.array(ANGLES)), table.beyond_linear(np.array(ANGLES)), strict=True):
            theta = mp.mpf(float(at))
            true = V(theta) / F(theta)
            ratio = max(ratio, float(abs(mp.mpf(float(value)) / F(theta) - true)))
            rise = max(rise, float(abs(mp.mpf(float(rest)) / F(theta) - (true - slope)) / theta))
        return ratio / table.gap, rise / table.rise_gap if table.power == 2 else 0.0


LINKS: dict[str, tuple[Link, Callable[[int, mp.mpf], mp.mpf], tuple[float, ...]]] = {
    "|z|": (np.abs, absolute, (0.0,)),
    "one that is no kink": (lambda z: z + z**3, cubic, (0.3,)),
    "two": (lambda z: z + z**3, cubic, (-0.4, 0.3)),
    "100 beside": (lambda z: 100 + z + z**3, cubic, (0.3,)),
}


def of_a_noisy_link(name: str, d: int, noise: int, seed: int) -> tuple[float, float]:
    """Errors divided by stated errors for a link with a rounding of several units in the last place."""
    link, V, kinks = LINKS[name]
    table = variogram_of(d, rounded_anew(link, noise * EPS, seed) if noise else link, kinks, False)
    return off_over_stated(table, lambda theta: V(d, theta))


@pytest.mark.parametrize(("name", "d", "noise"), [("one that is no kink", 3, 16), ("|z|", 2, 4), ("100 beside", 10, 1)])
def test_the_table_of_a_noisy_link_states_its_error_near_0(name: str, d: int, noise: int) -> None:
    """The error of the first values is rounding over theta: the rise was once wrong by up to 1700 times its error."""
    assert max(of_a_noisy_link(name, d, noise, seed=0)) <= 1


@pytest.mark.slow
@given(
    name=st.sampled_from(sorted(LINKS)),
    d=st.sampled_from([2, 3, 10]),
    noise=st.sampled_from([0, 1, 4, 16]),
    seed=st.integers(0, 999),
)
@example(name="two", d=2, noise=1000, seed=1)
@settings(max_examples=60, deadline=None)
def test_the_tables_of_all_noisy_links_do(name: str, d: int, noise: int, seed: int) -> None:
    worst = max(of_a_noisy_link(name, d, noise, seed))
    target(worst)
    assert worst <= 1


@pytest.mark.parametrize("name", sorted(LINKS))
def test_the_stated_errors_of_a_link_that_is_well_written_are_small(name: str) -> None:
    link, _, kinks = LINKS[name]
    table = variogram_of(3, link, kinks, False)
    size = 100 if name == "100 beside" else 1
    assert table.gap <= 1e-12 * size
    assert table.rise_gap <= 1e-9 * size


@pytest.mark.parametrize(
    ("law", "V"),
    [
        (RBF(length=0.7), lambda r: 2 * (1 - mp.exp(-r * r / (2 * mp.mpf(0.7) ** 2)))),
        (Matern(nu=1.5), lambda r: 2 - 2 * (1 + mp.sqrt(3) * r) * mp.exp(-mp.sqrt(3) * r)),
        (Matern(nu=0.5), lambda r: 2 - 2 * mp.exp(-r)),
        (Zonal(variogram=lambda r: r**2 - r**3 / 12), lambda r: r**2 - r**3 / 12),
        # their digits are lost near 0
        (Zonal(variogram=lambda r: 2 - 2 * np.exp(-(r**2) / 8)), lambda r: 2 - 2 * mp.exp(-r * r / 8)),
        (
            Zonal(variogram=lambda r: 2 - 2 * (1 + ROOT * r) * np.exp(-ROOT * r)),
            lambda r: 2 - 2 * (1 + mp.sqrt(3) * r) * mp.exp(-mp.sqrt(3) * r),
        ),
    ],
)
def test_the_table_of_a_field_states_its_errors_near_0(law: Law, V: Callable[[mp.mpf], mp.mpf]) -> None:
    table = variogram_of_field(law, 3)
    assert max(off_over_stated(table, lambda theta: V(2 * mp.sin(theta / 2)))) <= 1


STRAIGHT: dict[str, tuple[Link, tuple[float, ...]]] = {
    "one kink": (lambda z: abs(z - 0.2), (0.2,)),
    "three kinks": (lambda z: abs(z + 0.5) - 3 * abs(z - 0.1) + abs(z - 0.6), (-0.5, 0.1, 0.6)),
    "one jump": (np.sign, (0.0,)),
    "stairs": (lambda z: np.floor(4 * z + 0.3), tuple((k - 0.3) / 4 for k in range(-3, 5))),
    "uneven jumps": (lambda z: 1.0 * (z > -0.7) - 2.5 * (z > 0.31) + 0.5 * (z > 0.4), (-0.7, 0.31, 0.4)),
}


@pytest.mark.parametrize("name", STRAIGHT)
@pytest.mark.parametrize("d", [2, 3, 4, 7, 40])
def test_straight_links_in_closed_form_have_the_means_over_planes(name: str, d: int) -> None:
    link, kinks = STRAIGHT[name]
    meetings = meetings_of(kinks)
    closed = segments(d, link, kinks, meetings)
    assert closed is not None
    # next to the angles at which jumps meet, on both sides, and in the middle between them
    edges = np.array([0.0, *meetings, math.pi])
    theta = np.sort(np.concatenate([edges[1:] - 1e-3, edges[:-1] + 1e-3, (edges[1:] + edges[:-1]) / 2]))
    theta = theta[:: max(1, theta.size // 12)]
    size = np.max(np.abs(closed.at(theta, 30)))
    apart = np.abs(closed.at(theta, 44) - Planes(d, link, kinks).at(theta, 64))
    assert np.max(apart) <= 3e-12 * size
    # by any order that is enough, near the ends of panels too
    assert np.max(np.abs(closed.at(theta, 44) - closed.at(theta, 64))) <= 1e-12 * size


@pytest.mark.parametrize(
    ("link", "kinks"),
    [
        (lambda z: abs(z) + 1e-9 * z**2, (0.0,)),  # bent between its kinks
        (lambda z: np.sign(z) + z, (0.0,)),  # jumps and slopes
        (lambda z: abs(z - 0.1) + abs(z - 0.105), (0.1, 0.105)),  # too close for a slope
        (lambda z: abs(z - 0.3), (0.0,)),  # an undeclared kink
    ],
)
def test_other_links_have_no_closed_form(link: Link, kinks: tuple[float, ...]) -> None:
    assert segments(3, link, kinks, meetings_of(kinks)) is None


@pytest.mark.parametrize("link", [lambda z: np.maximum(z - 0.8, 0), lambda z: 1 + np.maximum(z - 0.8, 0)])
def test_a_feature_in_a_small_cap_keeps_its_digits_or_has_no_closed_form(link: Link) -> None:
    """The cap has a share of 1e-23 of the sphere: its difference of shares was once 0, and the bias negative."""
    theta = np.array([0.01, 0.3, 1.0, 1.6, 2.5])
    closed = segments(20, link, (0.8,), meetings_of((0.8,)))
    assert closed is not None
    assert np.max(np.abs(closed.at(theta, 44) / Planes(20, link, (0.8,)).at(theta, 44) - 1)) <= 1e-12
    assert segments(100, link, (0.8,), meetings_of((0.8,))) is None
    bias = loss_terms(Problem(d=100, n=100, law=Ridge(link, kinks=(0.8,))), 10.0).bias
    assert 0 < bias < 1e-20


def of_power(p: float, d: int, theta: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """V of |z|^p and its part beyond a (1 - cos theta), from Gaussian moments over those of their lengths."""
    scale = mp.gamma((p + 1) / 2) ** 2 * mp.gamma(mp.mpf(d) / 2) / (mp.pi * mp.gamma(mp.mpf(d) / 2 + p))

    def K(t: mp.mpf) -> mp.mpf:
        return scale * mp.hyp2f1(-p / 2, -p / 2, mp.mpf(1) / 2, t * t)

    rise = scale * p * p * mp.hyp2f1(1 - p / 2, 1 - p / 2, mp.mpf(3) / 2, 1)
    V = 2 * (K(mp.mpf(1)) - K(mp.cos(theta)))
    return V, V - 2 * rise * 2 * mp.sin(theta / 2) ** 2


@settings(max_examples=1)
@given(st.floats(1.02, 1.95), st.integers(2, 8), st.lists(st.floats(1e-6, 3.0), min_size=6, max_size=6))
@example(1.2, 3, [1e-7, 1e-5, 1e-3, 0.1, 1.0, 3.1])
def test_a_root_above_1_keeps_the_digits_beyond_its_linear_part(p: float, d: int, angles: list[float]) -> None:
    table = variogram_of(d, lambda z: np.abs(z) ** p, (0.0,), False)
    theta = np.array(angles)
    rest, stated = table.beyond_linear(theta), table.rest_off(theta)
    with mp.workdps(60):
        off = [
            abs(float(of_power(mp.mpf(p), d, mp.mpf(at))[1] - value)) for at, value in zip(angles, rest, strict=True)
        ]
    share = float(np.max(np.array(off) / stated))
    target(share, "error over its bound")
    assert share <= 1
    assert np.max(np.where(theta >= 1e-5, stated / np.abs(rest), 0.0)) <= 1e-7


@settings(max_examples=6)
@given(st.floats(1500.0, 2e4), st.integers(2, 6))
def test_the_harmonics_of_a_narrow_link_give_its_variogram(steep: float, d: int) -> None:
    """E e^{c <q, x + x'>} is a Bessel function of |x + x'| = 2 cos(theta / 2)."""

    def mean(r: mp.mpf) -> mp.mpf:
        half = mp.mpf(d) / 2 - 1
        return mp.gamma(half + 1) * (2 / r) ** half * mp.besseli(half, r) * mp.exp(-2 * steep)

    def V(theta: mp.mpf) -> mp.mpf:
        return 2 * (mean(mp.mpf(2 * steep)) - mean(2 * steep * mp.cos(theta / 2)))

    law = Ridge(lambda z: np.exp(steep * (z - 1)))
    spectrum = whole_spectrum(law, d)
    assert spectrum is not None
    ratio, rise = off_over_stated(variogram_of_spectrum(spectrum), V)
    target(max(ratio, rise), "error over its bound")
    assert max(ratio, rise) <= 1
