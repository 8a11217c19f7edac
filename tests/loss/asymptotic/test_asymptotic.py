"""Leading terms derived by SymPy compared with the exact method: exponents, constants, errors, range."""

from __future__ import annotations

import math
from dataclasses import astuple
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from scipy.special import erf, erfc, expit, gamma

from lipverify import Problem, loss_terms, optimal_window
from lipverify.errors import OutOfReach
from lipverify.foundation.latex import typst_math  # internal: constants can be printed
from lipverify.laws import Affine, Cosine, Law, Linear, Quadratic, ReLU, Ridge, RidgeLaw, Zonal
from lipverify.loss.asymptotic import L, Ridges, asymptotic_terms, c, d, leading, n, sigma, valid_windows, w
from lipverify.loss.asymptotic.links import meant, read  # internal: how a link is read
from lipverify.loss.asymptotic.powers import closed_numbers, known  # internal: closed forms against SymPy
from lipverify.loss.asymptotic.record import numbers_of  # internal: closed forms compared with those that SymPy derives
from lipverify.loss.asymptotic.sphere import circle_mean, density, half_moment, mean  # internal: against quadrature
from lipverify.loss.asymptotic.tasks import applied, task_of  # internal: before numbers are put in
from lipverify.scaling import growth

NAMED = (Affine(L=1.0), ReLU(L=1.0), Cosine(L=1.0), Quadratic(L=1.0), Linear(L=1.0))
AGREEMENT = 1e-6
"""The relative tolerance between measured and derived limits."""


def value(expression: Any, law: Law) -> float:
    """An expression at a dimension already filled in and the law's own L."""
    return float(expression.subs(L, sympy.Rational(getattr(law, "L", 1.0))).evalf(20))


def by_name(law: Law) -> str:
    return type(law).__name__


def richardson(values: Any, noise: float) -> tuple[float, float]:
    """The limit of a polynomial in w^{-1/2} from values on a ladder of ratio 4 in w, and its error."""
    column, previous = np.asarray(values), math.nan
    for order in range(1, column.size):
        previous = float(column[-1])
        column = (2**order * column[1:] - column[:-1]) / (2**order - 1)
    # the coefficients of the values in the limit add up to less than 10 in size
    return float(column[-1]), abs(float(column[-1]) - previous) + 10 * noise


@pytest.mark.parametrize("law", NAMED, ids=by_name)
@pytest.mark.parametrize(
    ("dimension", "largest"), [(2, 1e9), (3, 1e9), pytest.param(5, 1e7, marks=pytest.mark.slow), (8, 4e5)]
)
def test_measured_limits_are_the_derived_ones(law: Law, dimension: int, largest: float) -> None:
    """n -> infinity is reached: the difference is below 1e-8 at the largest w."""
    form = leading(law, dimension)
    windows = largest / 4.0 ** np.arange(8 if dimension < 8 else 7)[::-1]
    terms = loss_terms(Problem(d=dimension, n=1e30, law=law, sigma=1.0), w=windows)
    growth_of_noise = sympy.Rational(dimension - 1, 2)
    for values, errors, exponent, constant in (
        (terms.bias, terms.bias_error, -form.beta, form.bias_constant),
        (terms.noise * 1e30, terms.noise_error * 1e30, growth_of_noise, form.noise_constant),
    ):
        noise, expected = 1e-8 + float(np.max(errors / values)), value(constant, law)
        slope, slope_error = richardson(np.diff(np.log(values)) / math.log(4), noise)
        assert slope_error < AGREEMENT
        assert abs(slope - float(exponent)) <= slope_error
        ratio, ratio_error = richardson(values / windows ** float(exponent) / expected, noise)
        assert ratio_error < AGREEMENT
        assert abs(ratio - 1) <= ratio_error


@pytest.mark.parametrize("law", NAMED[:2], ids=by_name)
def test_the_optimal_window_grows_as_derived(law: Law) -> None:
    form = leading(law, 2)
    exact = Problem(d=2, n=100, law=law, sigma=1.0)
    measured = growth(lambda tokens: optimal_window(exact.replace(n=tokens)).w, start=1e16, stop=1e30, points=14)
    ratio, error = measured.limit_of_ratio(float(form.window_exponent))
    # the error of a growth covers a whole class of functions and is 3e-6 here; the test needs 1e-13
    assert abs(measured.exponent - float(form.window_exponent)) <= min(measured.error, AGREEMENT)
    assert measured.error < 10 * AGREEMENT
    assert abs(ratio - value(form.window_constant, law)) <= error < AGREEMENT * ratio


@pytest.mark.parametrize("law", NAMED, ids=by_name)
def test_window_and_loss_balance_the_two_terms(law: Law) -> None:
    """In numbers, at every d: the derivative vanishes, and the loss is the sum of its terms."""
    for dimension in (2, 3, 7, 20):
        form = leading(law, dimension)
        at = {n: 1e20, sigma: 0.3, L: 1.7}
        window = float(form.window.subs(at).evalf())
        noise, bias = (float(term.subs(at).subs(w, window).evalf()) for term in (form.noise, form.bias))
        rounding = 1e3 * np.finfo(float).eps
        assert (dimension - 1) / 2 * noise == pytest.approx(float(form.beta) * bias, rel=rounding)
        assert float(form.loss.subs(at).evalf()) == pytest.approx(noise + bias, rel=rounding)
        Lambda = at[n] * at[L] ** 2 / at[sigma] ** 2
        constants = (form.window_constant, form.loss_constant * L**2)
        for constant, exponent, whole in zip(
            constants, (form.window_exponent, form.loss_exponent), (window, noise + bias), strict=True
        ):
            power = float(constant.subs(at).evalf()) * Lambda ** float(exponent)
            assert power == pytest.approx(whole, rel=rounding)


@pytest.mark.parametrize("law", NAMED, ids=by_name)
@pytest.mark.parametrize(("dimension", "tokens"), [(2, 10**9), (5, 10**15), (12, 10**30)])
def test_the_error_covers_the_omitted_terms_and_is_not_four_times_as_large(
    law: Law, dimension: int, tokens: int
) -> None:
    """The error is twice the next term, so the ratio to it tends to 1/2 as long as one term is the next."""
    problem = Problem(d=dimension, n=tokens, law=law, sigma=1.0)
    low, high = valid_windows(problem) or (math.nan, math.nan)
    windows = np.geomspace(1.001 * low, min(high, 1e6) / 1.001, 5)
    value, exact = asymptotic_terms(problem, windows), loss_terms(problem, w=windows)
    for name in ("noise", "bias"):
        off = np.abs(getattr(value, name) - getattr(exact, name))
        ratio = off / (getattr(value, name + "_error") + getattr(exact, name + "_error"))
        assert 0.25 < np.max(ratio) <= 1, name


def test_few_tokens_in_a_high_dimension_have_no_valid_window() -> None:
    problem = Problem(d=20, n=10**4, law=ReLU(L=1.0), sigma=1.0)
    assert valid_windows(problem) is None
    with pytest.raises(OutOfReach, match=r"no w does|at most w from"):
        asymptotic_terms(problem, 10.0)


def test_arrays_keep_their_shape_and_rays_their_scale() -> None:
    problem = Problem(d=4, n=10**12, law=Affine(L=1.0), sigma=1.0)
    windows = np.array([[20.0, 40.0], [80.0, 160.0]])
    terms = asymptotic_terms(problem, windows)
    assert terms.bias.shape == terms.noise_error.shape == (2, 2)
    assert terms.method == "asymptotic"
    one = asymptotic_terms(problem, 80.0)
    assert (one.noise.shape, float(one.noise)) == ((), terms.noise[1, 0])
    other = asymptotic_terms(problem.replace(law=Affine(L=3.0), sigma=2.0), windows)
    np.testing.assert_allclose(other.bias / terms.bias, 9.0, rtol=1e-12)
    np.testing.assert_allclose(other.noise / terms.noise, 4.0, rtol=1e-12)


def test_a_constant_law_has_noise_only() -> None:
    terms = asymptotic_terms(Problem(d=3, n=10**9, law=ReLU(L=0.0), sigma=1.0), [10.0, 100.0])
    assert not np.any(terms.bias)
    assert not np.any(terms.bias_error)
    assert np.all(terms.noise > 0)


@pytest.mark.parametrize("law", [Affine(L=0.7), ReLU(L=3.0), Quadratic(L=2.0), Cosine(L=1.5), ReLU(L=0.0)])
@pytest.mark.parametrize("dimension", [2, 3, 4, 5, 8, 11, 40])
def test_the_closed_forms_equal_the_derived_ones(law: Law, dimension: int) -> None:
    closed, derived = closed_numbers(law, dimension), numbers_of(law, dimension)
    for name in ("noise", "noise_next", "tokens_next", "bias", "bias_next", "spread"):
        one, other = getattr(closed, name), getattr(derived, name)
        if one is None:
            assert other is None or not known(law)
        else:  # logarithms of gamma functions, to a few roundings of their size
            assert astuple(one) == pytest.approx(astuple(other), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("tokens", [10**12, 1e30])
def test_the_range_ends_where_it_says(tokens: float) -> None:
    problem = Problem(d=5, n=tokens, law=ReLU(L=1.0))
    valid = valid_windows(problem)
    assert valid is not None
    asymptotic_terms(problem, [valid[0] * 1.0001, valid[1] * 0.9999])
    for outside in (valid[0] * 0.9999, valid[1] * 1.0001):
        with pytest.raises(OutOfReach):
            asymptotic_terms(problem, [outside])


def test_the_links_are_those_of_the_laws() -> None:
    points = np.linspace(-0.99, 0.99, 34)
    for law in NAMED:
        law = type(law)(L=1.7)
        task = task_of(law)
        assert isinstance(task, Ridges)
        assert float(task.variance.subs(L, 1.7)) == pytest.approx(law.amplitude_variance, rel=1e-15)
        for link, expected in zip(task.links, law.links(points, np), strict=True):
            for piece in link.pieces:
                inside = (points > float(piece.low)) & (points < float(piece.high))
                values = sympy.lambdify(c, piece.h.subs(L, 1.7), "numpy")(points) + 0 * points
                np.testing.assert_allclose(values[inside], expected[inside], atol=1e-15)


def test_harmonics_and_links_give_the_same() -> None:
    """L <q, x> is degree 1 and L (<q, x>^2 - 1/d) degree 2: their covariances by the addition theorem."""
    pairs = (
        (Affine(), 3, 3.0, Zonal(spectrum=(0.0, 1.0))),
        (Quadratic(), 2, 1.0, Zonal(spectrum=(0.0, 0.0, 0.125))),
    )
    for law, dimension, constant, zonal in pairs:
        one, other = leading(law, dimension), leading(zonal, dimension)
        for name in ("bias", "bias_next", "spread", "beta"):
            difference = getattr(one, name).subs(L, sympy.Rational(constant)) - getattr(other, name)
            assert sympy.simplify(difference) == 0, name


def test_a_traced_link_agrees_with_the_named_law() -> None:
    windows = np.array([500.0, 5000.0])
    pairs: tuple[tuple[RidgeLaw, RidgeLaw], ...] = (
        (Ridge(lambda z: np.cos(2 * z)), Cosine(L=2.0)),
        (Ridge(lambda z: 3 * z**2), Quadratic(L=3.0)),
    )
    for own, named in pairs:
        one, other = (asymptotic_terms(Problem(d=4, n=1e20, law=law), windows) for law in (own, named))
        np.testing.assert_allclose(one.bias, other.bias, rtol=1e-12)
        np.testing.assert_allclose(one.bias_error, other.bias_error, rtol=1e-8)


@pytest.mark.parametrize(
    "law",
    [
        Ridge(lambda z: np.sin(z) + abs(z - 0.5), kinks=(0.5,)),
        Ridge(lambda z: 1 / (2 + z)),
        Ridge(lambda z: np.exp(z)),
    ],
    ids=["kink off the equator", "pole outside", "exponential"],
)
@pytest.mark.parametrize("dimension", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_ones_own_links_agree_with_the_exact_method(law: Ridge, dimension: int) -> None:
    problem = Problem(d=dimension, n=1e30, law=law)
    windows = np.geomspace(1e4, 1e8, 4) if dimension == 2 else np.array([2e3, 2e4])
    value, exact = asymptotic_terms(problem, windows), loss_terms(problem, w=windows)
    assert np.all(np.abs(value.bias - exact.bias) <= value.bias_error + exact.bias_error)
    assert np.all(value.bias_error < 0.5 * value.bias)


@pytest.mark.parametrize(
    "law",
    [
        Ridge(lambda z: abs(z) * z, kinks=(0.0,)),
        Ridge(lambda z: np.where(z > 0, z, 0 * z), kinks=(0.0,)),
        Ridge(erf),
        Ridge(expit),
        Ridge(lambda z: erfc(abs(z)), kinks=(0.0,)),
        Ridge(lambda z: np.mod(z, 0.5), jumps=(-0.5, 0.0, 0.5)),
        Ridge(lambda z: (z - 0.2) % -0.7, jumps=(-0.5, 0.2, 0.9)),
        Ridge(lambda z: z // 0.5, jumps=(-0.5, 0.0, 0.5)),
        Ridge(lambda z: z - np.rint(z), jumps=(-0.5, 0.5)),
        Ridge(lambda z: np.floor(z) * np.ceil(z + 1), jumps=(0.0,)),
        Ridge(lambda z: np.piecewise(z, [z < 0, z > 0.5], [lambda t: -t, 0.5, lambda t: t]), kinks=(0.0, 0.5)),
        Ridge(lambda z: np.piecewise(z, [z < 0.5, z < 0], [1.0, 2.0]), jumps=(0.0, 0.5)),
        Ridge(lambda z: np.select([z < 0, z < 0.5], [-z, z], 0.5), kinks=(0.0, 0.5)),
        Ridge(lambda z: np.select([z < 0, z < 0.5], [z, 1.0]), jumps=(0.0, 0.5)),
        Ridge(lambda z: (z > 0).astype(float) - (z > 0.5).astype(np.float32), jumps=(0.0, 0.5)),
        Ridge(lambda z: np.polyval([1.0, 0.0, 2.0], abs(z)), kinks=(0.0,)),
        Ridge(lambda z: np.hypot(z, 1)),
        Ridge(lambda z: np.arccos(z / 2) - np.arcsin(z / 2)),
    ],
    ids="bend where erf expit erfc mod % // rint floor parts last select first astype polyval hypot inverse".split(),  # noqa: SIM905
)
def test_links_as_people_write_them_are_derived(law: Ridge) -> None:
    """|z| z has a slope everywhere, and its bias the order of a smooth link; ReLU by `np.where` is ReLU."""
    found = leading(law, d=3)
    exact = loss_terms(Problem(d=3, n=1e25, law=law), 1e8)
    assert float(found.bias_constant) == pytest.approx(float(exact.bias) * 1e8 ** float(found.beta), rel=1e-3)


def test_a_declared_kink_where_the_link_is_smooth_keeps_the_closed_form() -> None:
    """A root with one formula on both sides is not a kink."""
    declared, plain = (leading(Ridge(np.cos, kinks=kinks)) for kinks in ((0.3,), ()))
    assert declared.bias == plain.bias
    root = leading(Ridge(lambda z: np.cos(z) + np.sqrt(z**2 + z**4), kinks=(0.0, 0.3)))
    assert root.bias == leading(Ridge(np.abs, kinks=(0.0,))).bias


@pytest.mark.parametrize("d", [2, 5])
def test_integrals_evaluate_to_the_digits_that_are_asked_for(d: int) -> None:
    """The bias is E (f'' + ...)^2 / 4 at every digit, by an integral over the angle, which has no singularity."""
    found = leading(Ridge(lambda z: 1 / (1 + np.exp(-4 * z))), d=d).bias_constant
    with mpmath.workdps(40):

        def density(angle: Any) -> Any:
            return mpmath.sin(angle) ** (d - 2)

        def square(angle: Any) -> Any:
            z, rise = mpmath.cos(angle), 1 / (1 + mpmath.exp(-4 * mpmath.cos(angle)))
            slope, bend = 4 * rise * (1 - rise), 16 * rise * (1 - rise) * (1 - 2 * rise)
            return ((1 - z * z) * bend - (d - 1) * z * slope) ** 2 / 4 * density(angle)

        known = mpmath.quad(square, [0, 1, 2, mpmath.pi]) / mpmath.quad(density, [0, 1, 2, mpmath.pi])
        assert abs(mpmath.mpf(str(found.evalf(30))) - known) < 1e-28 * known
    assert float(found) == pytest.approx(float(known), rel=1e-15)


def test_doubles_of_roots_and_of_pi_are_read_as_such() -> None:
    half_a_turn = leading(Ridge(lambda z: np.cos(np.pi * z)), d=3).bias_constant
    assert half_a_turn == leading(Ridge(lambda z: np.sin(np.pi * z + np.pi / 2)), d=3).bias_constant
    assert leading(Ridge(lambda z: z / np.sqrt(2)), d=3).bias_constant == leading(Affine(), d=3).bias_constant * 3 / 2
    assert meant(0.123456789012345) == sympy.Rational(123456789012345, 10**15)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (Ridge(lambda z: (4 * z).astype(int)), "numbers of the type int64 are not known here"),
        (Ridge(np.rint), r"jump between -1 and 1: declare it, Ridge\(link, jumps"),
        (Ridge(lambda z: np.mod(z, 1.0)), r"declare it, Ridge\(link, jumps"),
        (Ridge(lambda z: np.piecewise(z, [z < 0], [lambda t: -t, lambda t: t])), r"declare it, Ridge\(link, kinks"),
        (Ridge(lambda z: np.digitize(z, [0.0])), "np.digitize is not known here"),
        (Ridge(lambda z: abs(z)), "declare it"),
        (Ridge(lambda z: np.sqrt(1 - z), kinks=(1.0,)), "no derivative"),
        (Ridge(lambda z: z + abs(z) ** 1.5, kinks=(0.0,)), r"log\(w\)/w\^2; use method='exact'"),
        (Zonal(K=lambda t: np.digitize(t, [0.0]) * 1.0), "cannot be read"),
    ],
    ids=["whole", "rint", "mod", "piecewise", "digitize", "undeclared kink", "pole", "power of log", "kernel"],
)
def test_laws_that_cannot_be_derived_are_refused(law: Law, message: str) -> None:
    with pytest.raises(OutOfReach, match=message) as refused:
        leading(law)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("written", "plain", "kinks"),
    [
        (lambda z: np.interp(z, [-0.5, 0.5], [-1, 1]), lambda z: np.clip(2 * z, -1, 1), (-0.5, 0.5)),
        (lambda z: np.round(2 * z), lambda z: np.rint(2 * z), (-0.75, -0.25, 0.25, 0.75)),
        (lambda z: (20 * z).round(-1) / 10, lambda z: np.rint(2 * z), (-0.75, -0.25, 0.25, 0.75)),
        (lambda z: np.trunc(2 * z), lambda z: 1.0 * (z > 0.5) - (z < -0.5), (-0.5, 0.0, 0.5)),
        (lambda z: np.fix(2 * z), lambda z: 1.0 * (z > 0.5) - (z < -0.5), (-0.5, 0.0, 0.5)),
        (lambda z: np.copysign(1.0, z), np.sign, (0.0,)),
        (
            lambda z: np.where(np.logical_and(z > -0.2, z < 0.4), z, 0),
            lambda z: z * ((z > -0.2) & (z < 0.4)),
            (-0.2, 0.4),
        ),
        (lambda z: np.where(~(z < 0.1), z, 0), lambda z: np.where(z < 0.1, 0, z), (0.1,)),
        (lambda z: np.where(np.logical_not(z < 0.1) | (z == 3), z, 0.0), lambda z: np.where(z < 0.1, 0, z), (0.1,)),
    ],
    ids=["interp", "round", "round to tens", "trunc", "fix", "copysign", "and", "invert", "not"],
)
def test_one_link_written_in_two_ways(written: Any, plain: Any, kinks: tuple[float, ...]) -> None:
    one, other = (leading(Ridge(link, kinks=kinks), d=3) for link in (written, plain))
    assert sympy.simplify(one.bias_constant - other.bias_constant) == 0
    assert one.beta == other.beta


def test_reading_keeps_decimals() -> None:
    assert read(lambda z: 0.1 + (-z) ** 3 / 2) == sympy.Rational(1, 10) - c**3 / 2
    assert read(lambda z: np.tanh(2 - z) * np.abs(z)) == sympy.tanh(2 - c) * abs(c)


@pytest.mark.parametrize("dimension", [2, 3, 5, 9])
def test_means_over_the_sphere(dimension: int) -> None:
    for h in (c**2, c**4, sympy.cos(3 * c), c * sympy.sin(c) ** 2 * sympy.cos(c), sympy.exp(c)):
        closed = complex(mean(h).subs(d, dimension).evalf(20))
        angle = sympy.Symbol("angle")
        integrand = (h * density(c) * (1 - c**2) ** sympy.Rational(1, 2)).subs(d, dimension)
        over_angles = sympy.lambdify(angle, sympy.simplify(integrand.subs(c, sympy.cos(angle))), "numpy")
        nodes = (np.arange(400) + 0.5) * np.pi / 400
        # midpoints in the angle, for functions that continue evenly beyond both poles
        expected = np.mean(over_angles(nodes)) * np.pi if dimension % 2 == 0 else _gauss(h, dimension)
        assert closed == pytest.approx(expected, abs=1e-13)
    half = float(half_moment(1).subs(d, dimension))
    assert half == pytest.approx(
        gamma(dimension / 2) / (2 * math.sqrt(math.pi) * gamma((dimension + 1) / 2)), rel=1e-14
    )


def _gauss(h: Any, dimension: int) -> float:
    """Gauss-Legendre: for odd d the density is a polynomial."""
    x, weight = np.polynomial.legendre.leggauss(60)
    return float(np.sum(weight * sympy.lambdify(c, (h * density(c)).subs(d, dimension), "numpy")(x)))


def test_the_mean_over_a_circle_has_the_series_that_was_derived() -> None:
    """For e^c at c = 0.3, d = 3, where the circle is sampled evenly: the neglected terms are of third order."""
    at, series = 0.3, [applied(a, sympy.exp(c)).subs(d, 3).subs(c, 0.3) for a in circle_mean()]

    def left_out(s: float) -> float:
        r = np.cos(2 * np.pi * np.arange(64) / 64)
        circle = np.exp(at * (1 - s) + math.sqrt((1 - at**2) * (2 * s - s**2)) * r)
        return float(np.mean(circle)) - float(sum(a * s**j for j, a in enumerate(series)))

    ratios = [left_out(s) / left_out(s / 2) for s in (0.02, 0.01)]
    assert abs(ratios[1] - 8) < abs(ratios[0] - 8) < 0.1


@pytest.mark.parametrize("law", NAMED, ids=by_name)
def test_everything_prints_as_latex_that_the_report_sets(law: Law) -> None:
    for name, formula in leading(law).latex().items():
        assert typst_math(formula), name
