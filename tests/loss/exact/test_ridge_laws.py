"""The exact method for every ridge law: special cases with closed forms, and routes that must agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy.special import hyp0f1

from lipverify import Problem, loss_terms
from lipverify.errors import InvalidInput, OutOfReach
from lipverify.laws import Affine, Bound, Cosine, Law, Quadratic, ReLU, Ridge, RidgeLaw
from lipverify.loss.exact import parts_of
from tests.strategies import lengths, log_floats, target

Bias = tuple[float, float]
EPS = float(np.finfo(float).eps)


def half_line(z: np.ndarray) -> np.ndarray:
    return np.maximum(z, 0)


def bias(law: Law, d: int, n: float, w: float) -> Bias:
    terms = loss_terms(Problem(d=d, n=n, law=law), w)
    return float(terms.bias), float(terms.bias_error)


@settings(max_examples=10)
@given(d=st.integers(2, 40), n=lengths(), w=log_floats(1e-3, 1e4), L=log_floats(0.05, 20.0))
def test_the_increment_of_the_cosine_and_differences_of_it_agree(d: int, n: float, w: float, L: float) -> None:
    assume(w ** ((d - 1) / 2) < 1e-2 * n)
    exact, exact_error = bias(Cosine(L=L), d, n, w)
    plain, plain_error = bias(Ridge(lambda z: np.cos(L * z)), d, n, w)
    # differences of cosines lose digits as L -> 0: 1 - cos ~ L^2
    rounding = 64 * EPS * exact / min(L, 1.0) ** 2
    ratio = abs(exact - plain) / (exact_error + plain_error + rounding)
    target(ratio)
    assert ratio <= 1


@pytest.mark.parametrize("law", [Cosine(L=0.5), Cosine(L=8.0), Quadratic(), Ridge(np.exp), Ridge(half_line, (0.0,))])
@pytest.mark.parametrize("d", [2, 3, 8])
def test_uniform_weights_leave_the_variance(law: RidgeLaw, d: int) -> None:
    ours, error = bias(law, d, 10, 0.0)

    def variance(points: int) -> float:
        """By a rule of another kind: the angle is uniform after sin^{d-2}, midpoints on either side of the equator."""
        theta = (np.arange(points) + 0.5) * math.pi / points
        weight = np.sin(theta) ** (d - 2) / np.sum(np.sin(theta) ** (d - 2))
        values = law.links(np.cos(theta), np)[0]
        return float(weight @ values**2 - (weight @ values) ** 2) * law.amplitude_variance

    coarse, fine = variance(4000), variance(8000)
    # a kink leaves a remainder of second order, a third of what doubling the points changes
    assert abs(ours / 1.1 - fine) <= error + abs(fine - coarse) + 16 * EPS * fine
    assert abs(fine - coarse) <= 1e-6 * fine
    assert error <= 1e-9 * ours


def test_the_variance_of_the_cosine_is_a_bessel_function() -> None:
    for d, L in ((2, 1.0), (3, 5.0), (7, 0.3)):
        square, mean = (1 + hyp0f1(d / 2, -(L**2))) / 2, hyp0f1(d / 2, -(L**2) / 4)
        ours, error = bias(Cosine(L=L), d, 10, 0.0)
        assert abs(ours / 1.1 - (square - mean**2)) <= error + 8 * EPS


CORNERS: dict[str, tuple[Callable[[], Law], int, float, float]] = {
    "two dimensions": (lambda: Cosine(L=2.0), 2, 50, 7.0),
    "two tokens, w = 1e6, affine": (Affine, 2, 2, 1e6),
    "two tokens, w = 1e6, quadratic": (Quadratic, 5, 2, 1e6),
    "1e30 tokens, w = 1e-3": (lambda: Cosine(L=1.0), 4, 1e30, 1e-3),
    "1e30 tokens, w = 1e-3, relu": (ReLU, 4, 1e30, 1e-3),
    "a kink next to the pole": (lambda: Ridge(lambda z: np.maximum(z - 0.999, 0), kinks=(0.999,)), 3, 1e6, 1e3),
    "a kink at the pole": (lambda: Ridge(lambda z: np.abs(z - 1), kinks=(1.0,)), 3, 1e6, 1e3),
    "a thousand dimensions": (ReLU, 1000, 1e6, 20.0),
    "a thousand dimensions, cosine": (lambda: Cosine(L=10.0), 1000, 1e6, 50.0),
    "w = 1e6": (lambda: Cosine(L=1.0), 3, 1e30, 1e6),
    "two kinks": (lambda: Ridge(lambda z: np.abs(z - 0.5) - np.abs(z + 0.2), kinks=(0.5, -0.2)), 3, 1e6, 20.0),
}


DEAR = ("a thousand dimensions",)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in DEAR)) for name in CORNERS])
def test_hard_corners_reach_the_accuracy_promised(name: str) -> None:
    law, d, n, w = CORNERS[name]
    ours, error = bias(law(), d, n, w)
    assert 0 < error <= 1e-8 * ours


def test_a_kink_next_to_the_pole_agrees_with_sampling() -> None:
    problem = Problem(d=3, n=200, law=Ridge(lambda z: np.maximum(z - 0.9, 0), kinks=(0.9,)))
    exact = loss_terms(problem, 3.0)
    sampled = loss_terms(problem, 3.0, "montecarlo", contexts=20_000)
    assert sampled.bias_error <= 0.3 * sampled.bias
    assert abs(exact.bias - sampled.bias) <= exact.bias_error + sampled.bias_error


def test_the_nearest_of_two_tokens_is_all_that_narrow_windows_see() -> None:
    """As w -> infinity the bias of two tokens tends to that of the nearer one, with corrections of order 1/w."""
    law = Ridge(lambda z: np.abs(z - 0.1), kinks=(0.1,))
    near, nearer = (loss_terms(Problem(d=3, n=2, law=law), w, route="ridge") for w in (1e5, 1e7))
    assert near.bias_error <= 1e-9 * near.bias
    assert nearer.bias_error <= 1e-8 * near.bias  # rounding of a difference of the order 1/w
    assert near.noise < nearer.noise < 1
    assert abs(near.bias - nearer.bias) <= 1e-3 * near.bias


def test_one_route_replaces_the_other_out_of_its_reach() -> None:
    fast = Problem(d=2, n=1e4, law=Cosine(L=300.0))
    with pytest.raises(OutOfReach, match="L = 300"):
        loss_terms(fast, 20.0, route="ridge")
    terms = loss_terms(fast, 20.0)
    assert terms.bias_error <= 1e-9 * terms.bias
    assert 0.4 < float(terms.bias) < 0.6, "a window that sees nothing of the law leaves its variance, 1/2"


def a_turning_link_agrees(k: float, d: int, n: float, w: float) -> float:
    """The difference of the routes in units of their errors, at a link that turns k / pi times."""
    problem = Problem(d=d, n=n, law=Ridge(lambda z: np.sin(k * z)))
    ridge, zonal = (loss_terms(problem, w, route=route) for route in ("ridge", "zonal"))
    return float(abs(ridge.bias - zonal.bias) / (ridge.bias_error + zonal.bias_error))


@pytest.mark.parametrize(("k", "n", "w"), [(150.0, 10, 3.71011439), (150.0, 10_000, 3.71011439), (170.0, 100, 5.0)])
def test_rules_that_follow_no_turn_do_not_agree_by_chance(k: float, n: float, w: float) -> None:
    """Differences of rules once fell like those of rules that converge: an error of 2.5 times the stated one."""
    assert a_turning_link_agrees(k, 2, n, w) <= 1


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(k=st.floats(60, 220), d=st.integers(2, 6), n=lengths(10, 1e6), w=log_floats(0.3, 300))
def test_rules_follow_every_turn_or_say_so(k: float, d: int, n: float, w: float) -> None:
    ratio = a_turning_link_agrees(k, d, n, w)
    target(ratio, label="difference / error")
    assert ratio <= 1


def bump_on_a_slope(z: np.ndarray) -> np.ndarray:
    """A narrow bump, which no trace sees because the values come from a list."""
    z = np.array(z.tolist())
    return 0.42 * z + np.exp(-(((z + 0.754) / 1.08e-3) ** 2))


@pytest.mark.parametrize("route", [None, "ridge", "zonal"])
def test_a_feature_that_a_table_misses_is_in_the_error(route: Any) -> None:
    """The bump is nearly all of the bias in a narrow window; as a share of the bias, its error was 1e-10 of it."""
    known = loss_terms(
        Problem(d=2, n=10**6, law=Ridge(lambda z: 0.42 * z + np.exp(-(((z + 0.754) / 1.08e-3) ** 2)))), 300.0
    )
    terms = loss_terms(Problem(d=2, n=10**6, law=Ridge(bump_on_a_slope)), 300.0, route=route)
    assert known.error_kind == "bounded"
    assert known.bias > 1000 * known.bias_error
    assert abs(terms.bias - known.bias) <= terms.bias_error + known.bias_error


class Bump(RidgeLaw, frozen=True):
    """A bump a ten-thousandth wide on a slope, of a user's class."""

    name: ClassVar[str] = "bump"

    def links(self, z: Any, xp: Any) -> list[Any]:
        return [z + xp.exp(-(((z - 0.303) / 1e-4) ** 2))]

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        return (Bound(4.0 * radius, 2.0 * radius),)


@pytest.mark.parametrize("route", [None, "ridge", "zonal"])
def test_a_feature_of_a_class_is_in_the_error(route: Any) -> None:
    """By route='zonal' the error was 6e-12 of a value that was off by 4e-4."""
    known = loss_terms(Problem(d=3, n=50, law=Ridge(lambda z: z + np.exp(-(((z - 0.303) / 1e-4) ** 2)))), 20.0)
    terms = loss_terms(Problem(d=3, n=50, law=Bump()), 20.0, route=route)
    assert known.bias_error < 1e-6 * known.bias
    assert abs(terms.bias - known.bias) <= terms.bias_error + known.bias_error


def test_a_variogram_that_is_lost_in_rounding_has_an_error() -> None:
    """A bump next to an end once gave negative values at small angles, and a logarithm that was none."""
    law = Ridge(lambda z: 0.39 * np.array(z.tolist()) + np.exp(-(((np.array(z.tolist()) + 0.976586) / 1.276e-3) ** 2)))
    ridge, zonal = (loss_terms(Problem(d=2, n=10**6, law=law), 300.0, route=route) for route in ("ridge", "zonal"))
    assert abs(ridge.bias - zonal.bias) <= ridge.bias_error + zonal.bias_error


@pytest.mark.slow
def test_few_tokens_in_many_dimensions_are_reached_by_one_route_or_the_other() -> None:
    few = Problem(d=13, n=3, law=Ridge(lambda z: np.abs(z - 0.5), kinks=(0.5,)))
    terms = loss_terms(few, 0.02)
    assert terms.bias_error <= 1e-8 * terms.bias


def test_tables_are_made_once_for_a_law_and_a_dimension() -> None:
    points = 0

    def link(z: np.ndarray) -> np.ndarray:
        nonlocal points
        points += np.size(z)
        return np.sin(z)

    law = Ridge(link)
    parts_of(law, 3)
    made = points
    loss_terms(Problem(d=3, n=100, law=law), [1.0, 2.0])
    assert made <= points < 1.1 * made, "an estimate looks at a few points"
    made = points
    loss_terms(Problem(d=3, n=1e6, law=law), 3.0)
    assert points == made


class Pair(RidgeLaw, frozen=True):
    """f(x) = l_1 z^2 + l_2 sin(z), amplitudes independent of unit variance: a law with user-defined links."""

    name: ClassVar[str] = "pair"

    @property
    def amplitude_variance(self) -> float:
        return 1.0

    def links(self, z: Any, xp: Any) -> list[Any]:
        return [z * z, xp.sin(z)]

    def amplitudes(self, uniforms: Any) -> Any:
        return np.sqrt(12.0) * (uniforms - 0.5)

    def bounds(self, radius: float = 1.0) -> tuple[Bound, ...]:
        return Bound(radius**2, radius**2), Bound(2 * radius, radius)


@pytest.mark.parametrize(("d", "n", "w"), [(3, 10, 2.0), (5, 100, 8.0), (2, 2, 1.0)])
def test_every_link_of_a_law_counts(d: int, n: int, w: float) -> None:
    p = Problem(d=d, n=n, law=Pair(), sigma=1.0)
    ridge, zonal = (loss_terms(p, w, route=route) for route in ("ridge", "zonal"))
    assert abs(ridge.bias - zonal.bias) <= ridge.bias_error + zonal.bias_error
    first = loss_terms(p.replace(law=Quadratic()), w)
    assert ridge.bias > first.bias + ridge.bias_error + first.bias_error


@pytest.mark.parametrize("law", [Affine(L=3.0), ReLU(L=3.0), Quadratic(L=3.0), Cosine(L=3.0)])
def test_terms_of_one_amplitude_do_not_depend_on_those_of_another(law: RidgeLaw) -> None:
    """Values are cached for a law of unit amplitude: the order of the problems changes nothing."""
    problem, w = Problem(d=3, n=1000, law=law, sigma=0.5), [0.0, 2.0]
    first = loss_terms(problem, w)
    other = loss_terms(problem.replace(law=replace(law, L=1.0)), w)
    again = loss_terms(problem, w)
    assert first.bias.tolist() == again.bias.tolist()
    if isinstance(law, Cosine):
        assert not np.any(np.isclose(first.bias, other.bias, rtol=1e-3)), "L is no amplitude"
    else:
        np.testing.assert_allclose(first.bias, 9 * other.bias, rtol=1e-14)
    np.testing.assert_array_equal(first.noise, other.noise)


class Bent(ReLU, frozen=True, tag="bent"):
    """A subclass of a named law with other links."""

    name: ClassVar[str] = "bent"

    def links(self, z: Any, xp: Any) -> list[Any]:
        return [link * link for link in super().links(z, xp)]


def test_a_subclass_is_served_by_its_links_and_not_by_the_closed_forms_of_its_parent() -> None:
    problem = Problem(d=3, n=50, law=Bent())
    ridge, zonal = (loss_terms(problem, 4.0, route=route) for route in ("ridge", "zonal"))
    assert abs(ridge.bias - zonal.bias) <= ridge.bias_error + zonal.bias_error
    parent = loss_terms(problem.replace(law=ReLU()), 4.0)
    assert abs(ridge.bias - parent.bias) > 1e6 * (ridge.bias_error + parent.bias_error), "the test sees nothing"
    with pytest.raises(InvalidInput, match="closed form"):
        loss_terms(problem, 4.0, "certified")
