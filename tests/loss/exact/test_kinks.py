"""Links with kinks, jumps and roots: both routes agree within their errors, for every link; limits are derived."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ive, j0

from lipverify import Problem, leading, loss_terms, optimal_window
from lipverify.errors import OutOfReach
from lipverify.laws import Quadratic, Ridge
from lipverify.loss.asymptotic import sigma, w
from lipverify.loss.exact import averaged_terms, variogram_of
from lipverify.loss.exact.ridge.parts import kinked_averages  # internal: a kink declared where there is none
from lipverify.loss.exact.ridge.terms import remaining  # internal: the stopping rule on given gaps
from lipverify.loss.exact.variograms.roots import has_roots  # internal: no value shows which rule a link gets
from lipverify.problem.fine import sighted, undeclared  # internal: no value shows which features of a link are found
from tests.strategies import log_floats, target


@dataclass(frozen=True)
class Piecewise:
    """A different polynomial between any two neighbouring points."""

    places: tuple[float, ...]
    rows: tuple[tuple[float, ...], ...]

    def __call__(self, z: np.ndarray) -> np.ndarray:
        piece = np.searchsorted(self.places, z)
        return sum(np.array([row[j] for row in self.rows])[piece] * z**j for j in range(3))


@st.composite
def piecewise(draw: st.DrawFn, most: int) -> Ridge:
    """With up to `most` jumps anywhere."""
    places = draw(st.lists(st.floats(-0.95, 0.95), min_size=1, max_size=most, unique_by=lambda x: round(x, 2)))
    row = st.tuples(*[st.floats(-1, 1)] * 2, st.floats(0.5, 1))
    return Ridge(
        Piecewise(tuple(sorted(places)), tuple(draw(row) for _ in range(len(places) + 1))), jumps=tuple(places)
    )


def agree(law: Ridge, d: int, n: float, at: float) -> float:
    one, other = (loss_terms(Problem(d=d, n=n, law=law), at, route=route) for route in ("ridge", "zonal"))
    return float(abs(one.bias - other.bias) / (one.bias_error + other.bias_error))


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(law=piecewise(2), n=log_floats(1e4, 1e12), at=log_floats(0.03, 10.0))
def test_both_routes_agree_on_the_circle(law: Ridge, n: float, at: float) -> None:
    ratio = agree(law, 2, round(n), at)
    target(ratio)
    assert ratio <= 1


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(law=piecewise(1), d=st.sampled_from([3, 4, 7, 30]), n=log_floats(1e3, 1e12), at=log_floats(0.1, 20.0))
def test_both_routes_agree_in_more_dimensions(law: Ridge, d: int, n: float, at: float) -> None:
    ratio = agree(law, d, round(n), at)
    target(ratio)
    assert ratio <= 1


EVEN = {
    "|z|": Ridge(np.abs, kinks=(0.0,)),
    "max(|z|, .3)": Ridge(lambda z: np.maximum(np.abs(z), 0.3), kinks=(-0.3, 0.3)),
    "z^2": Ridge(lambda z: z**2, kinks=(0.2,)),
    "sign": Ridge(np.sign, jumps=(0.0,)),
}


@pytest.mark.parametrize("name", EVEN)
@pytest.mark.parametrize(("d", "n", "at"), [(2, 100, 1.0), (2, 1e12, 1e5), (3, 1000, 2.0)])
def test_links_that_vanish_at_the_antipode_keep_their_digits(name: str, d: int, n: float, at: float) -> None:
    terms = loss_terms(Problem(d=d, n=n, law=EVEN[name]), at)
    # at w = 1e5 what z^2 loses is of the order theta^4, and its rounding of the order theta^3
    assert 0 < terms.bias_error <= (1e-10 if name != "z^2" or at < 100 else 1e-8) * terms.bias


@pytest.mark.parametrize("d", [2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("theta", [0.02, 0.4, 2.5])
def test_the_variogram_is_the_mean_over_the_sphere(d: int, theta: float) -> None:
    """Compared with mpmath, coordinate by coordinate, in the plane of both points."""

    def h(z: mpmath.mpf) -> mpmath.mpf:
        return abs(z - mpmath.mpf("0.5")) if z < 0.7 else 1 + z

    def circle(rho: mpmath.mpf) -> mpmath.mpf:
        half, places = mpmath.mpf(theta) / 2, [mpmath.mpf(0), mpmath.pi]
        for kink in ("0.5", "0.7"):
            if rho > mpmath.mpf(kink):
                alpha = mpmath.acos(mpmath.mpf(kink) / rho)
                places += [abs(alpha - half), min(alpha + half, 2 * mpmath.pi - alpha - half)]
        values = mpmath.quad(lambda phi: (h(rho * mpmath.cos(phi - half)) - h(rho * mpmath.cos(phi + half))) ** 2,
                             sorted(places))  # fmt: skip
        return values / mpmath.pi

    with mpmath.workdps(15):
        if d == 2:
            truth = circle(mpmath.mpf(1))
        else:
            crossing = mpmath.sqrt(0.25 + 0.49 - 0.7 * mpmath.cos(theta)) / mpmath.sin(theta)
            single = [mpmath.mpf(kink) / mpmath.cos(theta / 2) for kink in ("0.5", "0.7")]
            rhos = sorted({mpmath.mpf(0), mpmath.mpf("0.5"), mpmath.mpf("0.7"), mpmath.mpf(1)}
                          | {rho for rho in (crossing, *single) if rho < 1})  # fmt: skip
            turns = [mpmath.asin(rho) for rho in rhos]
            truth = mpmath.quad(lambda o: mpmath.sin(o) * circle(mpmath.sin(o)), turns, maxdegree=4)
    law = Ridge(lambda z: np.where(z < 0.7, np.abs(z - 0.5), 1 + z), kinks=(0.5,), jumps=(0.7,))
    table = variogram_of(d, law.link, law.kink_points, jumps=True)
    off = abs(float(table(np.array([theta]))[0]) - float(truth))
    assert off <= table.gap * math.sin(theta / 2) + 1e-9 * float(truth)


@pytest.mark.parametrize(
    ("law", "beta"),
    [
        (Ridge(np.sign, jumps=(0.0,)), 0.5),
        pytest.param(Ridge(lambda z: np.heaviside(z - 0.2, 0.5), jumps=(0.2,)), 0.5, marks=pytest.mark.slow),
        (Ridge(lambda z: np.sqrt(np.abs(z)), kinks=(0.0,)), 1.0),
        (Ridge(lambda z: np.clip(z, -0.5, 0.5), kinks=(-0.5, 0.5)), 1.5),
        pytest.param(Ridge(lambda z: np.where(z > 0.3, z - 0.3, 0), kinks=(0.3,)), 1.5, marks=pytest.mark.slow),
        (Ridge(lambda z: np.abs(z - 0.99) + np.abs(z + 0.1), kinks=(-0.1, 0.99)), 1.5),
        pytest.param(Ridge(lambda z: np.abs(z) ** 1.2, kinks=(0.0,)), 1.7, marks=pytest.mark.slow),
        pytest.param(
            Ridge(lambda z: 5 * np.sign(z) * np.maximum(np.abs(z) - 0.5, 0) ** 1.1 - z, kinks=(-0.5, 0.5)),
            1.6,
            marks=pytest.mark.slow,
        ),
        pytest.param(Ridge(lambda z: np.abs(z) ** 1.8, kinks=(0.0,)), 2.0, marks=pytest.mark.slow),
        pytest.param(
            Ridge(lambda z: np.sign(z) * np.maximum(np.abs(z) - 0.2, 0), kinks=(-0.2, 0.2)), 1.5, marks=pytest.mark.slow
        ),
        pytest.param(Ridge(lambda z: np.sign(z) * np.abs(z) ** 0.25, kinks=(0.0,)), 0.75, marks=pytest.mark.slow),
        (Ridge(lambda z: np.abs(z - 0.5) + (z**2 + z**4) ** 0.25, kinks=(0.0, 0.5)), 1.0),
    ],
)
def test_the_leading_bias_is_the_limit_of_the_exact_one(law: Ridge, beta: float) -> None:
    form = leading(law, d=2)
    assert float(form.beta) == beta
    ratios = []
    for at in (1e6, 1e8):
        terms = loss_terms(Problem(d=2, n=1e28, law=law), at)
        ratios.append(float(terms.bias) / float(form.bias.subs({w: at, sigma: 1}).evalf()))
    assert abs(ratios[1] - 1) < 0.02
    assert abs(ratios[1] - 1) <= max(abs(ratios[0] - 1), 1e-5)


def test_a_route_may_be_asked_for_the_window_too() -> None:
    problem = Problem(d=2, n=1000, law=EVEN["|z|"])
    one, other = (optimal_window(problem, route=route) for route in ("ridge", "zonal"))
    assert 0 < abs(one.w - other.w) <= one.w_error + other.w_error


def teeth(z: Any) -> Any:
    """Sixteen kinks, more than the search looks for, and none at an end."""
    return np.abs(4 * z + 0.2 - np.round(4 * z + 0.2))


def test_the_reason_names_the_inaccurate_route() -> None:
    many = loss_terms(Problem(d=2, n=1e3, law=Ridge(teeth)), 20.0)
    assert many.reason.startswith("ridge: at w = 20 an error of")
    assert loss_terms(Problem(d=3, n=1e6, law=Ridge(np.cos)), 20.0).reason == ""


def test_the_reason_says_that_no_route_is_more_accurate() -> None:
    """The link varies in a cap of 1e-23 of the sphere: there rules lose digits, and harmonics all of them."""
    law = Ridge(lambda z: np.maximum(z - 0.8, 0), kinks=(0.8,))
    terms = loss_terms(Problem(d=100, n=100, law=law), 10.0)
    assert 1e-8 * terms.bias < terms.bias_error < 1e-6 * terms.bias
    assert terms.reason.startswith("ridge: at w = 10 an error of")
    assert "zonal: " in terms.reason


@pytest.mark.parametrize(
    ("d", "link", "places"),
    [
        (3, np.sign, (0.0,)),
        (3, lambda z: np.clip(z, -0.7, 0.3), (-0.7, 0.3)),
        (2, lambda z: np.cos(9 * z) * np.abs(z - 1 / 3) + np.where(z > 0.77, 1.0, 0.0), (1 / 3, 0.77)),
        (2, lambda z: np.sqrt(np.abs(z - 0.2)), (0.2,)),
    ],
)
def test_a_few_places_that_are_not_declared_are_found(
    d: int, link: Callable[[Any], Any], places: tuple[float, ...]
) -> None:
    law = Ridge(link)
    assert np.allclose(sighted(law).kink_points, places, rtol=0, atol=1e-14)
    assert sighted(sighted(law)) == sighted(law)
    problem = Problem(d=d, n=1e5, law=law, sigma=0.1)
    for route in (None, "ridge"):
        found, declared = (
            loss_terms(each, 3.0, route=route) for each in (problem, problem.replace(law=Ridge(link, kinks=places)))
        )
        assert abs(found.bias - declared.bias) <= declared.bias_error
        assert found.bias_error < 1e-6 * found.bias
        assert f"{places[0]:g}" in found.reason
        assert declared.reason == ""
        assert found.problem == problem
    optimum = optimal_window(problem)
    assert optimum.w_error < 1e-3 * optimum.w


@pytest.mark.parametrize("link", [teeth, lambda z: np.tanh(3000 * z), lambda z: np.exp(-((z / 1e-3) ** 2))])
def test_invalid_or_too_many_places_are_not_declared(link: Callable[[Any], Any]) -> None:
    law = Ridge(link)
    assert sighted(law) == law
    assert undeclared(link, ()) is not None


def silent(done: int, expected: int) -> None:
    """A progress function: long work without one warns."""


def test_an_undeclared_kink_is_named() -> None:
    problem = Problem(d=2, n=1e4, law=Ridge(teeth), sigma=0.3)
    assert "undeclared: Ridge" in loss_terms(problem, 3.0, route="ridge").reason


UNREAD = Ridge(lambda z: teeth(np.asarray(z, dtype=float)))
"""The same link, not read as a formula."""


def test_harmonics_of_a_formula_are_integrated_on_both_sides_of_every_kink() -> None:
    """For other functions the kinks are unknown."""
    problem = Problem(d=2, n=1e4, law=Ridge(teeth))
    sharp, blunt = (loss_terms(problem.replace(law=law), 3.0) for law in (problem.law, UNREAD))
    assert sharp.bias_error < 1e-9 * sharp.bias
    assert blunt.bias_error > 0.1 * blunt.bias
    assert "undeclared: Ridge" in blunt.reason


@pytest.mark.slow
def test_an_undeclared_kink_is_named_by_an_optimum() -> None:
    """The test above at many w; it takes many seconds."""
    problem = Problem(d=2, n=1e4, law=Ridge(teeth), sigma=0.3)
    optimum = optimal_window(problem, progress=silent)
    assert 0 < optimum.w_error < 1e-6 * optimum.w
    with pytest.raises(OutOfReach, match="undeclared: Ridge"):
        optimal_window(problem.replace(law=UNREAD), progress=silent)


@pytest.mark.parametrize("s", [0.1, 0.5, 0.9])
def test_a_declared_root_is_not_reported_as_undeclared(s: float) -> None:
    for at in (0.0, 0.3, -0.7):
        assert undeclared(lambda z, at=at: np.abs(z - at) ** s, (at,)) is None  # type: ignore[misc]
    assert undeclared(lambda z: np.exp(-20000 * z**2) + np.sqrt(1 - z * z), ()) is None


@pytest.mark.parametrize("w", [2.0, 1e3, 1e5])
def test_roots_at_the_ends_are_known(w: float) -> None:
    """By series: |alpha| over cos(l alpha), sqrt(1 - z) over Legendre's polynomials; many tokens damp each degree."""
    last = 20_000
    degree = np.arange(1, last + 1)
    triangle = np.where(degree % 2, 8 / (math.pi**2 * degree.astype(float) ** 4), 0.0)
    root = 8 / ((2 * degree - 1.0) ** 2 * (2 * degree + 3.0) ** 2 * (2 * degree + 1.0))
    tails = (4 / (3 * math.pi**2 * last**3), 1 / (2.0 * last + 2) ** 4)
    cases = ((2, np.arcsin, triangle, tails[0], 1e-8), (3, lambda z: np.sqrt(1 - z), root, tails[1], 2e-3))
    for d, link, k, tail, sharp in cases:
        order = d / 2 - 1
        damped = ive(degree + order, w) / ive(order, w)
        known = float(np.sum(k * (1 - damped) ** 2)) + tail
        terms = loss_terms(Problem(d=d, n=1e30, law=Ridge(link)), w)
        assert terms.bias_error < sharp * terms.bias
        assert abs(float(terms.bias) - known) <= terms.bias_error


@pytest.mark.parametrize(
    "link",
    [
        lambda z: np.logaddexp(0, 30 * (z - 0.2)),
        # its table takes seconds too, and is made in the same way
        pytest.param(lambda z: np.tanh(20 * z), marks=pytest.mark.slow),
    ],
)
def test_steep_smooth_links_keep_their_digits(link: Callable[[Any], Any]) -> None:
    """By Legendre's polynomials up to where nothing is left of the link; many tokens damp each degree."""
    nodes, weight = np.polynomial.legendre.leggauss(1500)
    degree = np.arange(1200)
    k = (2 * degree + 1) / 4 * (np.polynomial.legendre.legvander(nodes, 1199).T @ (weight * link(nodes))) ** 2
    assert np.max(k[-2:]) < 1e-20 * k[1]
    w = np.array([20.0, 1e4])
    damped = ive(degree + 0.5, w[:, None]) / ive(0.5, w)[:, None]
    terms = loss_terms(Problem(d=3, n=1e30, law=Ridge(link)), w, route="ridge")
    assert np.all(terms.bias_error < 1e-6 * terms.bias)
    assert np.all(np.abs(terms.bias - (1 - damped) ** 2 @ k) <= terms.bias_error)


def test_the_message_for_steep_links_names_a_remedy() -> None:
    """Four steep points are more than the search looks for."""
    steps = (-0.7, -0.3, 0.1, 0.5)
    blunt, sharp = (
        loss_terms(
            Problem(d=2, n=30, law=Ridge(lambda z: sum(np.tanh(300 * (z - at)) for at in steps), kinks=k)), 300.0
        )
        for k in ((), steps)
    )
    assert "next to it to kinks=(...)" in blunt.reason
    assert sharp.bias_error < 1e-6 * sharp.bias < blunt.bias_error
    assert abs(float(sharp.bias - blunt.bias)) <= sharp.bias_error + blunt.bias_error
    assert "No rule resolves" not in sharp.reason


def test_even_links_have_their_minimum_at_zero_exactly() -> None:
    for law in (Quadratic(), EVEN["|z|"]):
        optimum = optimal_window(Problem(d=5, n=10, law=law, sigma=0.5))
        assert (optimum.w, optimum.w_error, optimum.where) == (0.0, 0.0, "zero")


@pytest.mark.parametrize(
    ("link", "kinks", "expected"),
    [
        (lambda z: abs(z + 0.5) + abs(z - 0.1), (-0.5, 0.1), False),
        (lambda z: np.sign(z - 0.3) * np.cos(15 * z), (0.3,), False),
        (lambda z: np.where(z > 0, np.exp(z), np.sin(3 * z)), (0.0,), False),
        (lambda z: abs(z - 0.1) ** 0.5 + abs(z + 0.6), (-0.6, 0.1), True),
        (lambda z: abs(z - 0.1) ** 2.9 + abs(z + 0.6), (-0.6, 0.1), True),
        (lambda z: np.where(z > 0.5, np.sqrt(abs(z - 0.5)), 0.0), (0.5,), True),
        (lambda z: np.maximum(z - 0.999, 0), (0.999,), False),
        (lambda z: np.exp(z) + np.maximum(z - (1 - 1e-9), 0), (1 - 1e-9,), False),
    ],
)
def test_roots_are_distinguished_from_kinks(link: Any, kinks: tuple[float, ...], expected: bool) -> None:
    assert has_roots(link, kinks) is expected


def rooted(s: float) -> Problem:
    """|z - .1|^s + |z + .6| in three dimensions."""
    return Problem(d=3, n=1000, law=Ridge(lambda z: abs(z - 0.1) ** s + abs(z + 0.6), kinks=(-0.6, 0.1)))


def test_roots_among_several_kinks_go_the_quick_way() -> None:
    """Three dimensions, a small window: the variogram takes seconds; with kinks alone it is taken."""
    for s, terms in (
        (0.5, loss_terms(rooted(0.5), 3.0, route="zonal")),
        (1.0, loss_terms(rooted(1.0), 3.0, route="ridge")),
    ):
        assert float(loss_terms(rooted(s), 3.0).bias) == float(terms.bias)


@pytest.mark.parametrize("frequency", [81.89473577504464, 250.0])
@pytest.mark.parametrize("n", [4.0, 1000.0])
def test_rules_that_do_not_converge_state_the_possible_error(frequency: float, n: float) -> None:
    """With few points no rule resolves a fast wave: their last difference was once a third of the true error."""
    averages = kinked_averages(2, lambda z: np.sin(frequency * z), (0.0,))
    value, error = averaged_terms((averages,), 2, n, np.array([1e-9]))
    # at w = 0 it is (1 + 1/n) Var sin(k z), and w moves it by less than 1e-8 of that
    truth = (1 + 1 / n) * (1 - j0(2 * frequency)) / 2
    assert abs(value.bias[0] - truth) <= error.bias[0] + 1e-8 * truth
    assert error.bias[0] < 0.1 * truth


def test_the_remainder_is_at_least_the_part_that_did_not_converge() -> None:
    gaps = np.array([[1.0, 1.0, 1.0, 1.0], [0.9, 0.1, 0.3, 0.9], [0.01, 0.01, 0.1, 1e-9]])
    # erratic; at a steady rate; at a rate that falls; resolved at once
    assert remaining(gaps).round(12).tolist() == [3.6, 0.04, 0.4, 4e-9]
    assert remaining(gaps[:2]).tolist() == [4.0] * 4


def test_a_variogram_with_a_logarithm_is_followed_to_the_narrowest_windows() -> None:
    """Of |z|^1.5 on the circle it is a (1 - cos theta) plus theta^4 (b + c log theta), so w^2 B is linear in log w."""
    problem = Problem(d=2, n=1e30, law=Ridge(lambda z: np.abs(z) ** 1.5, kinks=(0.0,)))
    w = np.array([1e8, 1e10, 1e12])
    terms = loss_terms(problem, w)
    scaled, error = w**2 * terms.bias, w**2 * terms.bias_error
    assert np.all(error <= 1e-5 * scaled)
    assert abs(scaled[0] - 2 * scaled[1] + scaled[2]) <= error[0] + 2 * error[1] + error[2]
    assert abs(scaled[2] - scaled[0]) > 0.1 * scaled[0], "the power to see it"
    optimum = optimal_window(problem)
    assert optimum.w_error < 1e-3 * optimum.w
