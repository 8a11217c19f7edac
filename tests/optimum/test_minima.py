"""The minimum of the loss: at 0, near 0, inside, and at the switch of two minima; rounding never decides."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import flint
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lipverify import LossTerms, Problem, loss_terms, optimal_window, strategies
from lipverify.checks.softmax.class_probabilities import ClassLaw
from lipverify.laws import RBF, Affine, Cosine, Law, Matern, Quadratic, ReLU, Ridge, Zonal, mixture
from lipverify.loss.exact import rough_terms
from lipverify.optimum import Optimum
from lipverify.optimum.window import local, minimiser  # internal: its loss is moved
from lipverify.problem.functions import PowerSeries  # internal: a link that is a power series by name
from lipverify.properties.ratio import require  # internal: an inequality with its distance as a target of the search
from lipverify.strategies import constants, named_laws, ridge_laws
from tests.strategies import target

DIGITS = 40
SEEN = 1e-7
"""Step of a difference of certified losses, as a share of w: its square is below every claimed error but near 0."""


def problems() -> st.SearchStrategy[Problem]:
    """Laws with and without a linear part, with noise that puts w* at 0, near it and far from it."""
    quick = st.one_of(named_laws("affine", "quadratic"), st.builds(Cosine, L=constants(0.3, 4.0)), ridge_laws("power"))
    return strategies.problems(d=(2, 6), n=(2, 1e5), sigma=(0.1, 100.0), law=quick)


def others(problem: Problem) -> np.ndarray:
    """w from 0 to where the nearest token has nearly all the weight."""
    single = float(problem.n) ** (2 / (problem.d - 1))
    return np.concatenate([[0.0], np.geomspace(1e-3, 10 * single, 24)])


@settings(max_examples=12)
@given(problem=problems())
def test_errors_are_finite_and_no_window_on_a_fine_grid_does_better(problem: Problem) -> None:
    found = optimal_window(problem)
    assert math.isfinite(found.w_error)
    assert math.isfinite(found.loss_error)
    assert (found.where == "zero") == (found.w == 0)
    terms = loss_terms(problem, others(problem))
    allowed = found.loss_error + terms.total_error
    shown = {"w": terms.w, "loss": terms.total, "best": found.w, "least": found.loss}
    target(require("no other window does better", found.loss - terms.total, allowed, **shown), label="better / allowed")


@contextmanager
def another_machine(seed: int) -> Iterator[None]:
    """Exact values are moved within their stated errors, rough ones by a tenth of their tolerance."""
    rng = np.random.default_rng(seed)

    def exact(problem: Problem, w: Any, **options: Any) -> LossTerms:
        terms = loss_terms(problem, w, **options)
        moved = {
            term: getattr(terms, term) + rng.uniform(-1, 1, np.shape(w)) * getattr(terms, f"{term}_error")
            for term in ("bias", "noise")
        }
        return msgspec.structs.replace(terms, **moved)

    def rough(problem: Problem, w: Any, count: int, route: Any) -> Any:
        return tuple(part * rng.uniform(1 - 1e-4, 1 + 1e-4, count) for part in rough_terms(problem, w, count, route))

    with pytest.MonkeyPatch.context() as patch:
        for module in (local, minimiser):
            patch.setattr(module, "loss_terms", exact)
        patch.setattr(minimiser, "rough_terms", rough)
        yield


def apart(one: Optimum, other: Optimum) -> float:
    """The distance of two optima divided by the allowed one; 0 if both have no uncertainty."""
    gap, allowed = abs(one.w - other.w), one.w_error + other.w_error
    return gap / allowed if gap > 0 else 0.0


@settings(max_examples=12)
@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
def test_values_moved_within_their_errors_have_the_same_minimum(problem: Problem, seed: int) -> None:
    """A bound on the change of a value by other vector instructions, another BLAS or another libm."""
    here = optimal_window(problem)
    with another_machine(seed):
        there = optimal_window(problem)
    assert here.where == there.where
    ratio = apart(here, there)
    target(ratio, label="apart / allowed")
    assert ratio <= 1
    assert abs(here.loss - there.loss) <= here.loss_error + there.loss_error


def distance(problem: Problem, w: float, step: float, digits: int = DIGITS) -> float:
    """|L'(w) / L''(w)|, the distance of w from the minimum, by differences of losses that are proved to enough digits.

    The error of a difference is the square of the step, relative to a third derivative of the size of L'' / w or less.
    """
    windows = np.array([w - step, w, w + step])
    with flint.ctx.workprec(400):
        below, here, above = certified(problem, windows, digits)
        left, right = flint.arb(w) - flint.arb(float(windows[0])), flint.arb(float(windows[2])) - flint.arb(w)
        slopes = (here - below) / left, (above - here) / right
        newton = (slopes[0] + slopes[1]) / 2 / ((slopes[1] - slopes[0]) / ((left + right) / 2))
        return max(0.0, abs(float(newton.mid())) - 10 * step**2 / w)


def certified(problem: Problem, w: Any, digits: int = DIGITS) -> list[flint.arb]:
    terms: Any = loss_terms(problem, w, "certified", digits=digits)
    return [flint.arb(a) + flint.arb(b) for a, b in zip(terms.bias_ball, terms.noise_ball, strict=True)]


@settings(max_examples=4)
@given(d=st.integers(2, 8), n=st.integers(2, 100), sigma=constants(0.1, 3e3))
def test_the_claimed_error_covers_the_minimum_of_certified_losses(d: int, n: int, sigma: float) -> None:
    """From w* of order 10 down to 1e-7, where the loss changes by less than rounding."""
    found = optimal_window(Problem(d=d, n=n, law=Affine(), sigma=sigma))
    ratio = distance(found.problem, found.w, SEEN * found.w) / found.w_error
    target(ratio, label="true error / claimed error")
    assert ratio <= 1
    assert found.w_error <= 1e-6 * found.w


@pytest.mark.parametrize(
    ("law", "d", "n", "sigma"),
    [
        pytest.param(Quadratic(), 5, 10, 0.1, marks=pytest.mark.slow),
        pytest.param(Cosine(L=2.0), 3, 30, 0.5, marks=pytest.mark.slow),
        (ReLU(L=2.0), 3, 4, 3.0),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_the_claimed_error_covers_the_minimum_for_other_laws(law: Law, d: int, n: int, sigma: float) -> None:
    found = optimal_window(Problem(d=d, n=n, law=law, sigma=sigma))
    assert found.where == "interior"
    assert distance(found.problem, found.w, 1e-5 * found.w, digits=24) <= found.w_error <= 1e-7 * found.w


def flip(d: int, n: float) -> float:
    """The noise beyond which w = 0 is a minimum of the quadratic law: (sigma^2 + k) / n = 2 (1 - 2/n) k / (d + 2)."""
    k = 2 * (d - 1) / (d**2 * (d + 2))
    return math.sqrt(2 * n * (1 - 2 / n) * k / (d + 2) - k)


@pytest.mark.parametrize(("d", "n"), [(5, 10.0), (2, 50.0), (3, 1e6)])
@pytest.mark.parametrize("share", [1e-2, 1e-5, 1e-8])
def test_the_minimum_leaves_zero_where_the_second_derivative_changes_sign(d: int, n: float, share: float) -> None:
    """w* leaves 0 like the root of the distance: a factor of 1000 in the distance is one of 32 in w."""
    at = flip(d, n)
    above, below, nearer = (
        optimal_window(Problem(d=d, n=n, law=Quadratic(), sigma=at * (1 + side * share))) for side in (1.0, -1.0, -1e-3)
    )
    assert (above.where, above.w, above.w_error) == ("zero", 0.0, 0.0)
    assert below.where == "interior"
    assert below.w_error <= 0.01 * below.w
    assert below.w == pytest.approx(math.sqrt(1e3) * nearer.w, rel=0.1, abs=40 * nearer.w_error)


@pytest.mark.parametrize(
    "problem",
    [
        Problem(d=5, n=10, law=Quadratic(), sigma=0.5),
        Problem(d=2, n=29, law=Ridge(PowerSeries((0.0, 0.0, 1.0))), sigma=2.4),
        Problem(d=5, n=15, law=Cosine(L=10.8), sigma=0.01),
        Problem(d=3, n=10, law=Cosine(L=12.0), sigma=0.0),
        Problem(d=3, n=20, law=Zonal(spectrum=(0.0, 0.0, 0.3, 0.0, 1.0)), sigma=3.0),
        ClassLaw(link="cosine", L=2.5).regression(2, 8),
    ],
    ids=lambda problem: f"{problem.law.name}-{problem.d}-{problem.n}",
)
def test_even_laws_that_are_not_resolved_have_their_minimum_at_zero(problem: Problem) -> None:
    """Values near 0 cannot show it: they differ by less than rounding below w = 1e-6."""
    found, there = optimal_window(problem), loss_terms(problem, 0.0)
    assert (found.w, found.where) == (0.0, "zero")
    assert found.w_error <= 1e-20
    assert [found.bias, found.noise, found.loss_error] == [there.bias, there.noise, there.total_error]
    terms = loss_terms(problem, [0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 50.0])
    assert np.all(terms.total > found.loss - found.loss_error - terms.total_error)
    assert np.max(terms.total) > 1.01 * found.loss


def test_with_a_linear_part_the_minimum_is_never_at_zero() -> None:
    """w* = n k_1 / sigma^2 for small k_1 / sigma^2, even where the values of the loss cannot show it."""
    for sigma in (1e4, 1e8, 1e12):
        found = optimal_window(Problem(d=3, n=30, law=Affine(), sigma=sigma))
        assert found.where == "interior"
        assert found.w == pytest.approx(30 / 9 / sigma**2, rel=1e-6)
        assert found.w_error <= 1e-6 * found.w


@pytest.mark.parametrize(
    ("law", "d", "n", "sigma"),
    [
        (Affine(L=2.0), 3, 7, 0.5),
        (Quadratic(), 4, 2, 0.3),
        (Cosine(L=3.0), 2, 11, 0.0),
        (Zonal(spectrum=(0.0, 0.3, 0.7, 0.2, 0.5)), 5, 3, 1.0),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_the_derivatives_at_zero_are_those_of_certified_losses(law: Law, d: int, n: int, sigma: float) -> None:
    """One-sided differences of third order at two steps: their errors are of order h^3 and h^2."""
    problem, h = Problem(d=d, n=n, law=law, sigma=sigma), 2.0**-10
    with flint.ctx.workprec(400):
        L = certified(problem, h * np.arange(4), digits=24)
        slope = float(((-11 * L[0] + 18 * L[1] - 9 * L[2] + 2 * L[3]) / (6 * flint.arb(h))).mid())
        curvature = float(((2 * L[0] - 5 * L[1] + 4 * L[2] - L[3]) / flint.arb(h) ** 2).mid())
    at = loss_terms(problem, 0.0)
    bias, noise, error = local.derivatives(problem, float(at.bias), float(at.noise))
    # the fourth derivative is below a hundred times the loss
    assert abs(bias[1] + noise[1] - slope) <= error[1] + 100 * at.total * h**3
    assert abs(bias[2] + noise[2] - curvature) <= error[2] + 100 * at.total * h**2
    assert 1e-3 * at.total < abs(bias[2] + noise[2])


def test_at_the_switch_of_two_minima_the_error_reaches_from_one_to_the_other() -> None:
    """Where w* jumps from 8 to 0, B(w) + s N(w) = B(0) + s N(0), s = sigma^2, and the other minimum hardly moves."""
    problem, x = Problem(d=3, n=60, law=Cosine(L=6.0), sigma=0.8), math.log(12.0)
    for _ in range(8):
        inside: Any = minimiser._polished(problem, x, None)
        at_zero = loss_terms(problem, 0.0)
        assert inside is not None
        unit = (inside.noise - float(at_zero.noise)) / problem.sigma**2
        problem = problem.replace(sigma=math.sqrt((float(at_zero.bias) - inside.bias) / unit))
        x = math.log(inside.w)
    assert inside.w > 1
    at_switch = optimal_window(problem)
    assert at_switch.w_error == pytest.approx(inside.w, rel=1e-3)
    below, above = (optimal_window(problem.replace(sigma=problem.sigma * factor)) for factor in (1 - 1e-6, 1 + 1e-6))
    assert (below.where, above.where, above.w_error) == ("interior", "zero", 0.0)
    assert below.w == pytest.approx(inside.w, rel=1e-3)
    assert below.w_error < 1e-4 * below.w


@pytest.mark.parametrize("law", [Affine(), Quadratic()], ids=lambda law: law.name)
@pytest.mark.parametrize(("d", "n"), [(2, 50), (3, 1000), (8, 3)])
def test_no_minimum_is_at_infinity(law: Law, d: int, n: int) -> None:
    """The loss rises to its limit like -C / w: at tenfold w it is ten times closer."""
    w = float(n) ** (2 / (d - 1)) * np.array([1e2, 1e3, 1e4, 1e7])
    loss = loss_terms(Problem(d=d, n=n, law=law, sigma=0.0), w).total
    below = loss[-1] - loss[:-1]
    assert np.all(below > 0)
    assert np.all(np.abs(below[:-1] / below[1:] - 10) < 2)


MADE_OF_OTHERS: tuple[Law, ...] = (
    ReLU() + Cosine(L=3.0),
    2 * Cosine(L=2.0) + Quadratic(),
    mixture({ReLU(): 0.25, Quadratic(): 0.75}),
    RBF() + Affine(),
    RBF(length=0.5),
    Matern(nu=2.5) + Cosine(L=1.0),
)


@pytest.mark.parametrize("law", MADE_OF_OTHERS, ids=repr)
def test_every_law_with_an_exact_loss_has_its_derivatives_at_zero(law: Law) -> None:
    """Sums were once refused as having neither links nor a covariance, where w* is below 1/2."""
    problem, h = Problem(d=10, n=9, law=law), 1e-3
    terms = loss_terms(problem, [0.0, h])
    bias, _, error = local.derivatives(problem, float(terms.bias[0]), float(terms.noise[0]))
    rest = abs(float(terms.bias[1]) - float(np.polynomial.Polynomial(bias / [1, 1, 2])(h)))
    assert rest <= h**3 * terms.bias[0] + terms.bias_error[1] + float(np.sum(error))
    assert abs(bias[1]) * h + abs(bias[2]) * h**2 / 2 > h**3 * terms.bias[0]  # power: without them the test would fail


def test_a_sum_has_an_optimum_below_one_half() -> None:
    for law in (ReLU() + Cosine(L=3.0), Quadratic() + Affine()):
        problem = Problem(d=10, n=9, law=law)
        found = optimal_window(problem)
        assert 0 < found.w < local.REACH
        assert found.w_error < 1e-6 * found.w
        around = loss_terms(problem, [0.97 * found.w, found.w, 1.03 * found.w]).total
        assert around[1] < min(around[0], around[2])


@pytest.mark.parametrize("law", [Matern(nu=0.5), Ridge(np.sign, jumps=(0.0,)), Affine()])
@pytest.mark.parametrize("d", [3, 10])
def test_the_scan_ends_where_the_noise_exceeds_the_least_loss(d: int, law: Law) -> None:
    """One further w at most: up to five were evaluated, of few tokens, the dearest of all, as they came in sixes."""
    problem = Problem(d=d, n=10**9, law=law)
    x, loss = minimiser._scan(problem, None)
    noise, _ = rough_terms(problem, np.exp(x[-3:]))
    assert noise[0] <= loss.min() <= noise[2]


@pytest.mark.parametrize(("L", "sigma"), [(1e139, 1e-20), (1.0, 1e-158), (1.0, 1e-160), (1.0, 0.0)])
@pytest.mark.parametrize("law", [Affine, ReLU])
def test_noise_so_small_that_its_share_of_the_loss_underflows_moves_no_minimum(
    law: Callable[..., Law], L: float, sigma: float
) -> None:
    """A scan that divided the loss by the noise of its last w overflowed."""
    without = optimal_window(Problem(d=3, n=1000, law=law(L=1.0), sigma=0.0))
    found = optimal_window(Problem(d=3, n=1000, law=law(L=L), sigma=sigma))
    assert abs(found.w - without.w) <= found.w_error + without.w_error
    assert found.loss / L**2 == pytest.approx(without.loss, rel=1e-11)


@given(noise=st.lists(st.floats(0.0), min_size=2, max_size=8), least=st.floats())
def test_the_scan_evaluates_between_one_and_six_w_at_a_time(noise: list[float], least: float) -> None:
    assert 1 <= minimiser._until(np.array(noise), least) <= minimiser.BLOCK
